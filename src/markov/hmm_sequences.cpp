// One sequence under a fitted hidden Markov model: likelihood, states, paths.
//
// After method gibbs everything is computed under each stored draw of the parameters, and averaged.
// The draws are not reweighted by the likelihood of the sequence: it is a query, not data.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

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

// ---- the filter ----

/// The recursion under one point.
class HiddenMarkovModel::Filter::Part {
 public:
  explicit Part(const ScoredChain &point)
      : chain_(point.chain),
        table_(point.emissions->table()),
        worker_(table_ ? nullptr : point.emissions->worker()),
        emission_(std::size_t(chain_->padded()), minus_infinity),
        forward_(2 * std::size_t(chain_->padded())) {}

  /// Adds the probabilities of the states after the next observation, in the first row of `block`;
  /// `scores` is workspace, K x block_rows. Returns its log predictive density; -infinity if it is
  /// impossible, after which this must not be called again.
  double add(std::span<const double> x, const double *block, double *scores,
             std::vector<double> &out) {
    const std::size_t k = out.size(), padded = std::size_t(chain_->padded());
    if (table_) {
      const std::size_t value = x[0] == x[0] ? std::size_t(x[0]) : std::size_t(table_->values);
      std::copy_n(table_->logarithms.data() + value * padded, k, emission_.data());
    } else {
      worker_->score(block, 0, 1, scores);
      for (std::size_t i = 0; i < k; ++i) emission_[i] = scores[i * block_rows];
    }
    std::copy_n(forward_.data() + padded, padded, forward_.data());
    scale_[0] = scale_[1];
    const ChainSteps step{1,       emission_.data(), nullptr, forward_.data() + padded,
                          nullptr, scale_ + 1};
    const bool begins = std::exchange(begins_, false);
    double log_predictive;
    // Prefer the scaled recursion: it takes K exponentials, not K x K.
    if (chain_->safe()) {
      const double largest =
          *std::max_element(emission_.begin(), emission_.begin() + std::ptrdiff_t(k));
      for (std::size_t i = 0; i < padded; ++i)
        emission_[i] = i < k ? std::exp(emission_[i] - largest) : 0;
      scaled_recursion::forward(*chain_, step, begins);
      log_predictive = std::log(scale_[1]) + largest;
    } else {
      std::fill(emission_.begin() + std::ptrdiff_t(k), emission_.end(), minus_infinity);
      log_recursion::forward(*chain_, step, begins);
      log_predictive = scale_[1];
    }
    if (!(std::abs(log_predictive) < std::numeric_limits<double>::max())) return minus_infinity;
    for (std::size_t i = 0; i < k; ++i)
      out[i] += chain_->safe() ? step.forward[i] / scale_[1] : std::exp(step.forward[i]);
    return log_predictive;
  }

 private:
  const MarkovChain *chain_;
  const EmissionTable *table_;
  std::unique_ptr<EmissionWorker> worker_;
  Buffer emission_, forward_;
  double scale_[2] = {};  // of the previous step and of this one
  bool begins_ = true;
};

HiddenMarkovModel::Filter::Filter(const HiddenMarkovModel &model)
    : block_(std::size_t(model.dimension()) * block_rows),
      scores_(std::size_t(model.size()) * block_rows),
      out_(std::size_t(model.size())) {
  for (const ScoredChain &point : model.scorer().points()) parts_.emplace_back(point);
}
HiddenMarkovModel::Filter::~Filter() = default;

std::span<const double> HiddenMarkovModel::Filter::next(std::span<const double> x) {
  for (std::size_t j = 0; j < x.size(); ++j) block_[j * block_rows] = x[j];
  std::fill(out_.begin(), out_.end(), 0.0);
  std::vector<double> logs;
  std::size_t left = 0;
  for (Part &part : parts_) {
    if (logs.size() % 16 == 15) poll_here();
    logs.push_back(part.add(x, block_.data(), scores_.data(), out_));
    if (!(logs.back() > minus_infinity)) continue;
    if (&part != &parts_[left]) parts_[left] = std::move(part);
    ++left;
  }
  parts_.erase(parts_.begin() + std::ptrdiff_t(left), parts_.end());
  if (parts_.empty()) throw_impossible("the observation is impossible after those before it");
  if (parts_.size() > 1)
    for (double &p : out_) p /= double(parts_.size());
  log_predictive_ = logs.size() == 1 ? logs[0] : log_sum_exp(logs) - std::log(double(logs.size()));
  return out_;
}

double HiddenMarkovModel::Filter::log_predictive() const { return log_predictive_; }

}  // namespace bayes
