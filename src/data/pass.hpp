// A pass over data as one value: the arguments, the sums, and how these are computed here.
//
// The data of a fit are on this server or in parts on others (data/remote_rows.hpp). A pass is a
// struct P that is described once, for both:
//
//   static constexpr const char *name;               in messages, unique among the passes over a
//                                                    kind of data
//   struct Sums                                      the result; has fields() as P, and add(Sums
//   &), which may
//                                                    move from its argument
//   template <class F> void fields(F &f, Data &data)        the arguments
//   Sums nothing(Data &data) const                   sums to add to, of the right sizes
//   Sums here(Data &data, Control &control) const    one pass over the data of this server
//
// and, where a part of the data on another server has more to it than its data:
//
//   static Data &data_of(Part &part)                 other data than part.data()
//   void keep(Part &part, const PassReader &request, Control &control)
//                                                    takes what the part keeps between passes
//   void answered(Data &data, const Sums &sums)      remembers the sums
//
// run() computes the sums wherever the data are. fields() calls one method of f for every member:
// FieldWriter makes a message of them, FieldReader reads one and refuses members that are absent,
// of another type, size or range, so that the reading side checks what another server claims.
// pass_over<Part, P>() is the same pass on the side of that server; models/passes.cpp lists them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "base/linalg.hpp"
#include "data/remote_rows.hpp"

namespace bayes {

/// Makes a message of the members of a pass or of its sums.
class FieldWriter {
 public:
  static constexpr bool reading = false;
  explicit FieldWriter(Document to = Document::object()) : to_(std::move(to)) {}
  Document &document() { return to_; }
  Document take() { return std::move(to_); }

  void flag(const char *key, bool value) { to_.set(key, value); }
  void number(const char *key, double value) { to_.set(key, value); }
  void text(const char *key, const std::string &value) { to_.set(key, value); }
  template <class I> void integer(const char *key, I value, std::int64_t, std::int64_t) {
    to_.set(key, std::int64_t(value));
  }
  void numbers(const char *key, const std::vector<double> &values, std::size_t) {
    to_.set(key, numbers_document(values));
  }
  void numbers(const char *key, const std::vector<double> &values) {
    to_.set(key, numbers_document(values));
  }
  template <class T, class Write, class Read>
  void list(const char *key, const std::vector<T> &values, std::size_t, Write write, Read) {
    Document::List out;
    for (const T &value : values) out.emplace_back(write(value));
    to_.set(key, std::move(out));
  }
  /// a vector of the size that it has
  void vector(const char *key, const Vector &values) {
    to_.set(key, numbers_document({values.data(), std::size_t(values.size())}));
  }
  /// numbers whose count both sides know
  void values(const char *key, std::span<const double> values) {
    to_.set(key, numbers_document(values));
  }
  /// a member that has fields of its own
  template <class T> void object(const char *key, T &of) {
    FieldWriter inner;
    of.fields(inner);
    to_.set(key, inner.take());
  }
  void require(bool) {}

 private:
  Document to_;
};

/// Reads such a message. Throws Error(invalid_binary) for one that FieldWriter cannot have made.
class FieldReader {
 public:
  static constexpr bool reading = true;
  explicit FieldReader(const Document &from) : from_(from) {}
  const Document &document() const { return from_.document(); }

  void flag(const char *key, bool &to) { to = from_.flag(key); }
  /// any double
  void number(const char *key, double &to) { to = from_.number(key); }
  void text(const char *key, std::string &to) { to = from_.text(key); }
  template <class I> void integer(const char *key, I &to, std::int64_t low, std::int64_t high) {
    to = I(from_.integer(key, low, high));
  }
  /// any doubles, as many as this, or as there are
  void numbers(const char *key, std::vector<double> &to, std::size_t size) {
    to = from_.numbers(key, size);
  }
  void numbers(const char *key, std::vector<double> &to) { to = from_.numbers(key); }
  /// one Document for each of `size` elements; `read` returns the element
  template <class T, class Write, class Read>
  void list(const char *key, std::vector<T> &to, std::size_t size, Write, Read read) {
    const Document::List &from = from_.list(key);
    require(from.size() == size);
    to.clear();
    for (const Document &each : from) to.push_back(read(each));
  }
  void vector(const char *key, Vector &to) { values(key, {to.data(), std::size_t(to.size())}); }
  void values(const char *key, std::span<double> to) {
    const std::vector<double> &from = from_.numbers(key, to.size());
    std::copy(from.begin(), from.end(), to.begin());
  }
  template <class T> void object(const char *key, T &of) {
    FieldReader inner(from_.member(key));
    of.fields(inner);
  }
  /// what must hold of the members read so far
  void require(bool holds) {
    if (!holds) PassReader::refuse();
  }

 private:
  PassReader from_;
};

/// Sums that are numbers, as many as both sides know.
struct NumberSums {
  std::vector<double> numbers;
  template <class F> void fields(F &f) { f.values("sums", numbers); }
  void add(const NumberSums &other) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += other.numbers[i];
  }
};

/// A kind of pass over a kind of part, on the server that has the part.
template <class Part> struct PassOver {
  std::string_view name;
  Document (*answer)(Part &part, const Document &request, Control &control);
};

/// The sums of a pass, wherever the data are.
template <class P, class Data> typename P::Sums run(Data &data, P pass, Control &control) {
  auto *const remote = data.remote();
  if (!remote) return pass.here(data, control);
  FieldWriter request(pass_request(P::name));
  pass.fields(request, data);
  typename P::Sums out = pass.nothing(data);
  for (const Document &answer : remote->ask(request.take())) {
    typename P::Sums part = pass.nothing(data);
    FieldReader reader(answer);
    part.fields(reader);
    out.add(part);
  }
  return out;
}

namespace detail {

template <class P, class Part> auto &data_of(Part &part) {
  if constexpr (requires { P::data_of(part); })
    return P::data_of(part);
  else
    return part.data();
}

template <class Part, class P>
Document answer_of(Part &part, const Document &request, Control &control) {
  P pass;
  auto &data = data_of<P>(part);
  FieldReader reader(request);
  pass.fields(reader, data);
  if constexpr (requires { pass.keep(part, PassReader(request), control); })
    pass.keep(part, PassReader(request), control);
  typename P::Sums sums = pass.here(data, control);
  if constexpr (requires { pass.answered(data, sums); }) pass.answered(data, sums);
  FieldWriter answer;
  sums.fields(answer);
  return answer.take();
}

}  // namespace detail

template <class Part, class P> constexpr PassOver<Part> pass_over() {
  return {P::name, detail::answer_of<Part, P>};
}

}  // namespace bayes
