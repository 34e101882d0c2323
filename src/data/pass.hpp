// A pass over data as one value: the arguments, the sums, and how these are computed here.
//
// The data of a fit are on this server or in parts on others (data/remote_rows.hpp). A pass is a
// struct P that is described once, for both:
//
//   static constexpr const char *name;               in messages, unique among the passes over a
//                                                    kind of data
//   struct Sums                                      the result; has fields() as P, and add(Sums
//   &),
//                                                    which may move from its argument
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
// run() computes the sums wherever the data are; fields() describes what travels (data/fields.hpp).
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
#include "data/fields.hpp"

namespace bayes {

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
