#include "markov/hmm_trial.hpp"

#include <vector>

#include "base/random.hpp"
#include "markov/hmm_observations.hpp"

namespace bayes {

Trial::Trial(const Sequences &from, std::uint64_t seed, Control &control)
    : rows_(from.rows.shape()),
      sequences_{rows_, from.dimension, from.labelled} {
  sequences_.values = from.values;
  SequenceWriter writer(sequences_, rows_.shape(),
                        [this](const double *x, double weight) { rows_.append(x, weight); });
  const double share = 0.5 * double(max_trial_steps) / double(from.steps);
  const std::size_t d = std::size_t(rows_.shape().dimension);
  std::vector<double> steps;
  double weight = 0;
  const auto put = [&] {
    if (steps.empty()) return;
    writer.begin(std::int64_t(steps.size() / d), weight);
    for (std::size_t at = 0; at < steps.size(); at += d) writer.step(steps.data() + at);
    steps.clear();
  };
  bool chosen = false;
  for_each_step(
      from, control, [&](const double *x, std::int64_t sequence, std::int64_t step, double w) {
        if (step == 1) {
          put();
          chosen = sequence == 1 || Random(seed, std::uint64_t(sequence), 9).uniform() < share;
          weight = w;
        }
        if (!chosen || step > max_trial_steps / 2) return;
        for (std::size_t j = 0; j < d; ++j) steps.push_back(x[j * block_rows]);
      });
  put();
}

}  // namespace bayes
