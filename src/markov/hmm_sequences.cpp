// One sequence under a fitted hidden Markov model: likelihood, states, paths.
//
// After method gibbs everything is computed under each stored draw of the parameters, and averaged.
// The draws are not reweighted by the likelihood of the sequence: it is a query, not data.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/special.hpp"
#include "families/product/product_options.hpp"
#include "families/product/unseen_categories.hpp"
#include "markov/hmm_scorer.hpp"

namespace bayes {

void throw_impossible(const char *what) {
  throw Error(Errc::numeric, what, "Every path through the states has probability 0.",
              "hmm_log_likelihood(model, sequence) is -Infinity for such sequences.");
}

HmmScorer &HiddenMarkovModel::scorer() const {
  if (!scorer_) scorer_ = std::make_unique<HmmScorer>(*state, dimension());
  return *scorer_;
}

std::vector<UnseenCategories> HiddenMarkovModel::unseen_categories() const {
  std::vector<UnseenCategories> out;
  const auto *const fitted = std::get_if<ProductHmm>(&state->fitted);
  if (!fitted) return out;
  const Vector alphas = category_alphas(*fitted->point.emissions.columns, info);
  fitted->for_each_point([&](const auto &point) {
    if (fitted->posterior)
      out.emplace_back(fitted->posterior->emissions, alphas);
    else
      out.emplace_back(point.emissions, state->visits, alphas);
  });
  return out;
}

double HiddenMarkovModel::log_likelihood(Sequences &one, Control &control) const {
  std::vector<double> logs;
  std::vector<UnseenCategories> unseen;
  if (one.unseen) unseen = unseen_categories();
  for (const ScoredChain &point : scorer().points()) {
    std::unique_ptr<EmissionScorer> counting;
    if (!unseen.empty())
      counting = emissions_with(
          *point.emissions, dimension(),
          [&of = unseen[logs.size()]](const double *x, double *out) { of.add(x, out); });
    const ScoredChain chain{point.chain, counting ? counting.get() : point.emissions};
    logs.push_back(sequence_end(one, control, chain).log_likelihood);
  }
  return logs.size() == 1 ? logs[0] : log_sum_exp(logs) - std::log(double(logs.size()));
}

HmmPath HiddenMarkovModel::decode(Sequences &one, Control &control) const {
  StatePath path = best_path(one, control, scorer().path_point());
  return {path.log_probability, std::move(path.states)};
}

std::vector<HmmPath> HiddenMarkovModel::decode_best(Sequences &one, int count,
                                                    Control &control) const {
  std::vector<HmmPath> out;
  for (StatePath &path : best_paths(one, count, control, scorer().path_point()))
    out.push_back({path.log_probability, std::move(path.states)});
  return out;
}

void HiddenMarkovModel::smooth(Sequences &one, Control &control,
                               const std::function<void(std::int64_t first, int steps,
                                                        const double *probabilities)> &take) const {
  smooth_sequence(one, control, scorer().points(), take);
}

std::vector<HiddenMarkovModel::Category> HiddenMarkovModel::categories() const {
  std::vector<Category> out;
  if (const auto *const fitted = std::get_if<ProductHmm>(&state->fitted))
    fitted->point.emissions.columns->for_each(
        [&](int j, const Column &column, const ColumnOffsets &) {
          for (int v = 0; column.by_value && v < column.numbers_per_name(); ++v)
            out.push_back({j, name_of_category(j, v, column.value(v))});
        });
  return out;
}

std::vector<double> HiddenMarkovModel::categories(int element) const {
  const auto *const fitted = std::get_if<ProductHmm>(&state->fitted);
  return fitted ? categories_of(fitted->point.emissions.columns->column(element))
                : std::vector<double>();
}

}  // namespace bayes
