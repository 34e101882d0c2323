// A pass over data as one value: the arguments, the sums, and how these are computed here.
//
// The data of a fit are on this server or in parts on others (data/remote_rows.hpp). A pass is a
// struct P that is described once, for both:
//
//   static constexpr const char *name;               in messages, unique among the passes over a
//                                                    kind of data
//   struct Sums                                      the result; has fields() as P, and
//                                                    add(Sums &), which may move from its argument
//   template <class F> void fields(F &f, Data &data)        the arguments
//   Sums nothing(Data &data) const                   sums to add to, of the right sizes
//   Sums here(Data &data, Control &control) const    one pass over the data of this server
//
// and, where a part on another server has more than its data:
//
//   static Data &data_of(Part &part)                 other data than part.data()
//   void keep(Part &part, const PassReader &request, Control &control)
//                                                    takes what the part keeps between passes
//   void answered(Data &data, const Sums &sums)      remembers the sums
//
// run() computes the sums wherever the data are; fields() describes what travels.
// pass_over<Part, P>() is the same pass on the side of that server; models/passes.cpp lists them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "data/remote_rows.hpp"

namespace bayes {

// Messages between servers, described once for both sides.
//
// A struct that travels has a member function template fields(f), which calls one method of f for
// every member: its key, the member, and the sizes or limits that it has. FieldWriter makes a
// message of the members; FieldReader reads one and refuses members that are absent, of another
// type, size or range, so that the reading side checks what another server claims.

namespace detail {

template <class T, class F> void name_fields(T &of, F &f) {
  if constexpr (requires { of.fields(f); })
    of.fields(f);
  else
    of(f);
}

}  // namespace detail

/// Makes a message.
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
  /// a vector of Eigen, of the size that it has
  template <class V> void vector(const char *key, const V &values) {
    to_.set(key, numbers_document({values.data(), std::size_t(values.size())}));
  }
  void indices(const char *key, const std::vector<std::size_t> &values, std::size_t) {
    to_.set(key, numbers_document(std::vector<double>(values.begin(), values.end())));
  }
  void texts(const char *key, const std::vector<std::string> &values) {
    to_.set(key, texts_document(values));
  }
  void columns(const char *key, const RowColumns &columns) {
    to_.set(key, columns_message(columns));
  }
  void bytes(const char *key, const std::string &bytes) { to_.set(key, bytes_document(bytes)); }
  void document(const char *key, Document &document) { to_.set(key, document); }
  /// numbers whose count both sides know
  void values(const char *key, std::span<const double> values) {
    to_.set(key, numbers_document(values));
  }
  /// a member that has fields of its own, or a function that names them
  template <class T> void object(const char *key, T &&of) {
    FieldWriter inner;
    detail::name_fields(of, inner);
    to_.set(key, inner.take());
  }
  /// a list of such members
  template <class T> void objects(const char *key, std::vector<T> &values, std::size_t) {
    Document::List out;
    for (T &value : values) {
      FieldWriter inner;
      value.fields(inner);
      out.push_back(inner.take());
    }
    to_.set(key, std::move(out));
  }
  void integers(const char *key, const std::vector<int> &values, std::int64_t, std::int64_t) {
    to_.set(key, Document::List(values.begin(), values.end()));
  }
  /// Members that may be absent, of which `key` is the first: fields(*value) names them.
  template <class T, class Fields>
  void optional(const char *, std::optional<T> &value, Fields fields) {
    if (value) fields(*value);
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
  /// any doubles: `size` of them, or any number of them
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
  template <class V> void vector(const char *key, V &to) {
    values(key, {to.data(), std::size_t(to.size())});
  }
  /// whole numbers below this
  void indices(const char *key, std::vector<std::size_t> &to, std::size_t below) {
    to.clear();
    for (const double i : from_.numbers(key)) {
      require(i >= 0 && i < double(below));
      to.push_back(std::size_t(i));
    }
  }
  void texts(const char *key, std::vector<std::string> &to) { to = from_.texts(key); }
  void columns(const char *key, RowColumns &to) { to = columns_of_message(from_.member(key)); }
  void bytes(const char *key, std::string &to) { to = bytes_of_document(from_.member(key)); }
  void document(const char *key, Document &to) { to = from_.member(key); }
  void values(const char *key, std::span<double> to) {
    const std::vector<double> &from = from_.numbers(key, to.size());
    std::copy(from.begin(), from.end(), to.begin());
  }
  template <class T> void object(const char *key, T &&of) {
    FieldReader inner(from_.member(key));
    detail::name_fields(of, inner);
  }
  /// `size` members, each with fields of its own
  template <class T> void objects(const char *key, std::vector<T> &to, std::size_t size) {
    const Document::List &from = from_.list(key);
    require(from.size() == size);
    to.assign(size, {});
    for (std::size_t i = 0; i < size; ++i) {
      FieldReader inner(from[i]);
      to[i].fields(inner);
    }
  }
  void integers(const char *key, std::vector<int> &to, std::int64_t low, std::int64_t high) {
    to.clear();
    for (const Document &each : from_.list(key)) {
      const auto *const value = each.as<std::int64_t>();
      require(value && *value >= low && *value <= high);
      to.push_back(int(*value));
    }
  }
  template <class T, class Fields>
  void optional(const char *key, std::optional<T> &value, Fields fields) {
    if (document().find(key)) fields(value.emplace());
  }
  /// refuses the message unless this holds of the members read so far
  void require(bool holds) {
    if (!holds) PassReader::refuse();
  }

 private:
  PassReader from_;
};

/// The message of a value with fields(). `with`: further members.
template <class T> Document message_of(T &&value, Document with = Document::object()) {
  FieldWriter out(std::move(with));
  value.fields(out);
  return out.take();
}

/// Reads the message of a value. `to`: has the members that fields() needs in advance.
template <class T> T read_message(const Document &message, T to = {}) {
  FieldReader in(message);
  to.fields(in);
  return to;
}

/// Sums that are numbers, whose count both sides know.
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
