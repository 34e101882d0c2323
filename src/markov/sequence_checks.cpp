#include "markov/sequence_checks.hpp"

#include <limits>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "families/product/product_options.hpp"
#include "markov/hmm_observations.hpp"

namespace bayes {

ObservedElements observed_elements(const Sequences &sequences, Control &control) {
  ObservedElements out;
  if (RemoteRows *const remote = sequences.rows.remote()) {
    for (const Document &answer : remote->ask(pass_request("observed elements"))) {
      const PassReader part(answer);
      out.any |= part.flag("any");
      out.incomplete |= part.flag("incomplete");
    }
    return out;
  }
  for_each_step(sequences, control, [&](const double *x, std::int64_t, std::int64_t, double) {
    int missing = 0;
    for (int j = 0; j < sequences.dimension; ++j) missing += x[j * block_rows] != x[j * block_rows];
    out.any |= missing < sequences.dimension;
    out.incomplete |= missing > 0 && missing < sequences.dimension;
  });
  return out;
}

Document answer_observed_elements(const Sequences &sequences, Control &control) {
  const ObservedElements found = observed_elements(sequences, control);
  return Document::object().set("any", found.any).set("incomplete", found.incomplete);
}

void check_emissions(const Sequences &sequences, const std::vector<ColumnSpec> &emissions,
                     bool started, Control &control) {
  if (RemoteRows *const remote = sequences.rows.remote()) {
    Document::List list;
    for (const ColumnSpec &emission : emissions) list.push_back(likelihood_document(emission));
    Document request = pass_request("check emissions");
    request.set("emissions", std::move(list)).set("started", started);
    remote->ask(request);
    return;
  }
  const Columns any(emissions);
  const bool named = sequences.rows.name_of_element(0) != "element 1";
  for_each_step(
      sequences, control, [&](const double *x, std::int64_t sequence, std::int64_t step, double) {
        any.for_each([&](int j, const Column &column, const ColumnOffsets &) {
          const double value = x[std::size_t(j) * block_rows];
          if (value == value && !column.allowed(value))
            throw Error(
                Errc::invalid_argument,
                (sequences.dimension > 1 || named ? sequences.rows.name_of_element(j) + " of "
                                                  : std::string()) +
                    "step " + std::to_string(step) + " of sequence " + std::to_string(sequence) +
                    " is " + describe(value) + ", but must be " + column.requirement(),
                std::string("Its emission is ") + column.name + "." + numbering(sequences),
                started ? "" : "Option \"emission\" sets the distribution of the observations.");
        });
      });
}

Document answer_check_emissions(const Sequences &sequences, const Document &request,
                                Control &control) {
  const PassReader given(request);
  std::vector<ColumnSpec> emissions;
  for (const Document &each : given.list("emissions")) {
    const auto emission = stored_likelihood(each);
    if (!emission) PassReader::refuse();
    emissions.push_back(*emission);
  }
  if (std::ssize(emissions) != sequences.dimension) PassReader::refuse();
  check_emissions(sequences, emissions, given.flag("started"), control);
  return Document::object();
}

bool has_symbol_below(const Sequences &sequences, std::int64_t known, Control &control) {
  bool any = false;
  if (RemoteRows *const remote = sequences.rows.remote()) {
    Document request = pass_request("symbol below");
    request.set("known", known);
    for (const Document &answer : remote->ask(request)) any |= PassReader(answer).flag("any");
    return any;
  }
  for_each_step(sequences, control, [&](const double *code, std::int64_t, std::int64_t, double) {
    any |= *code < double(known);
  });
  return any;
}

Document answer_symbol_below(const Sequences &sequences, const Document &request,
                             Control &control) {
  const std::int64_t known =
      PassReader(request).integer("known", 0, std::numeric_limits<std::int32_t>::max());
  return Document::object().set("any", has_symbol_below(sequences, known, control));
}

}  // namespace bayes
