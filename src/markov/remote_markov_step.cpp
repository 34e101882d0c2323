// The local step of sequences that other servers have: what goes there, and what comes back.
#include "base/error.hpp"
#include "data/remote_rows.hpp"
#include "markov/markov_step.hpp"

namespace bayes {

std::vector<MarkovSums> sums_elsewhere(RemoteRows &rows, const MarkovChain &chain,
                                       const EmissionScorer &scorer) {
  const std::size_t k = std::size_t(chain.states()), padded = std::size_t(chain.padded());
  std::vector<double> log_transition;
  for (std::size_t i = 0; i < k; ++i) {
    const double *const row = chain.log_transition() + i * padded;
    log_transition.insert(log_transition.end(), row, row + k);
  }
  Document request = pass_request("markov");
  request.set("scorer", scorer.message());
  request.set("initial", numbers_document({chain.log_initial(), k}));
  request.set("transition", numbers_document(log_transition));
  std::vector<MarkovSums> out;
  for (const Document &answer : rows.ask(request)) {
    const PassReader part(answer);
    MarkovSums &one = out.emplace_back();
    one.objective = part.number("objective");
    one.initial = part.numbers("initial", k);
    one.transitions = part.numbers("transitions", k * k);
    one.visits = part.numbers("visits", k);
    one.counts = part.numbers("counts", k);
    one.raw = part.numbers("raw", scorer.raw_size());
  }
  return out;
}

Document answer_markov_step(const Sequences &sequences, const Document &request,
                            const EmissionScorer &scorer, Control &control) {
  const PassReader given(request);
  const int k = scorer.states();
  if (k < 1 || k > max_states) PassReader::refuse();
  const std::size_t states = std::size_t(k);
  const std::vector<double> &initial = given.numbers("initial", states),
                            &transition = given.numbers("transition", states * states);
  const MarkovChain chain(
      Eigen::Map<const Vector>(initial.data(), k),
      Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
          transition.data(), k, k));
  const MarkovSums sums = markov_step(sequences, control, chain, scorer);
  Document out = Document::object();
  out.set("objective", sums.objective).set("initial", numbers_document(sums.initial));
  out.set("transitions", numbers_document(sums.transitions));
  out.set("visits", numbers_document(sums.visits)).set("counts", numbers_document(sums.counts));
  out.set("raw", numbers_document(sums.raw));
  return out;
}

}  // namespace bayes
