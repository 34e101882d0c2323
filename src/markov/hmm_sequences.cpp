// One sequence under a fitted hidden Markov model: likelihood, states, paths.
//
// After method gibbs everything is computed under each stored draw of the parameters, and averaged.
// The draws are not reweighted by the likelihood of the sequence: it is a query, not data.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/special.hpp"
#include "base/unseen.hpp"
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

// A sequence that comes observation by observation: the states given the past, and how well the
// past predicts what comes.
//
// After method gibbs there is a recursion under each stored draw. The probabilities of the states
// are averages over the draws, which the sequence does not reweight: it is a query, not data. But
// p(x | past) is p(past, x) / p(past), both averages over the draws, in which a draw that predicted
// the past well counts for more.

/// The recursion under one point.
class HiddenMarkovModel::Filter::Part {
 public:
  /// `draw`: its number
  Part(const ScoredChain &point, std::size_t draw)
      : draw(draw),
        chain_(point.chain),
        table_(point.emissions->table()),
        worker_(table_ ? nullptr : point.emissions->worker()),
        emission_(std::size_t(chain_->padded()), minus_infinity),
        forward_(2 * std::size_t(chain_->padded())) {}

  std::size_t draw;
  /// log p(observations so far | draw), less that of all draws together
  double log_weight = 0;

  /// Processes the next observation, which is also in the first row of `block`; `scores` is
  /// workspace, K x block_rows, and `unseen`, if it is not null, scores its unseen categories.
  /// Returns its log predictive density; -infinity if it is impossible, after which only skip()
  /// may be called.
  double add(std::span<const double> x, const double *block, double *scores,
             const UnseenCategories *unseen) {
    const std::size_t k = std::size_t(chain_->states()), padded = std::size_t(chain_->padded());
    if (table_) {
      const std::size_t value = x[0] == x[0] ? std::size_t(x[0]) : std::size_t(table_->values);
      std::copy_n(table_->logarithms.data() + value * padded, k, emission_.data());
    } else {
      worker_->score(block, 0, 1, scores);
      for (std::size_t i = 0; i < k; ++i) emission_[i] = scores[i * block_rows];
    }
    if (unseen) unseen->add(x.data(), emission_.data());
    std::copy_n(forward_.data() + padded, padded, forward_.data());
    scale_[0] = scale_[1];
    ++steps_;
    return recurse();
  }

  /// After an impossible observation: takes it as missing.
  void skip() {
    std::fill_n(emission_.begin(), chain_->states(), 0.0);
    recurse();
  }

  /// Adds the probabilities of the states after the last observation.
  void add_states(std::span<double> out) const {
    const double *const forward = forward_.data() + chain_->padded();
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] += chain_->safe() ? forward[i] / scale_[1] : std::exp(forward[i]);
  }

 private:
  /// Recurs from the step before to this one, whose log densities under the states are in
  /// emission_.
  double recurse() {
    const std::size_t k = std::size_t(chain_->states()), padded = std::size_t(chain_->padded());
    const ChainSteps step{1,       emission_.data(), nullptr, forward_.data() + padded,
                          nullptr, scale_ + 1};
    const bool begins = steps_ == 1;
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
    return std::abs(log_predictive) < std::numeric_limits<double>::max() ? log_predictive
                                                                         : minus_infinity;
  }

  const MarkovChain *chain_;
  const EmissionTable *table_;
  std::unique_ptr<EmissionWorker> worker_;
  Buffer emission_, forward_;
  double scale_[2] = {};  // of the previous step and of this one
  std::int64_t steps_ = 0;
};

HiddenMarkovModel::Filter::Filter(const HiddenMarkovModel &model)
    : model_(model),
      block_(std::size_t(model.dimension()) * block_rows),
      scores_(std::size_t(model.size()) * block_rows),
      out_(std::size_t(model.size())) {
  const std::vector<ScoredChain> &points = model.scorer().points();
  for (const ScoredChain &point : points) {
    parts_.emplace_back(point, parts_.size());
    parts_.back().log_weight = -std::log(double(points.size()));
  }
}
HiddenMarkovModel::Filter::~Filter() = default;

/// Processes an observation, and leaves only the parts under which it is possible; if there are
/// none, leaves all and returns false.
bool HiddenMarkovModel::Filter::add(std::span<const double> x, bool count_unseen) {
  for (std::size_t j = 0; j < x.size(); ++j) block_[j * block_rows] = x[j];
  const bool unseen = count_unseen && has_unseen(x);
  if (unseen && unseen_.empty()) unseen_ = model_.unseen_categories();
  std::vector<double> logs;
  for (Part &part : parts_) {
    if (logs.size() % 16 == 15) poll_here();
    logs.push_back(part.log_weight + part.add(x, block_.data(), scores_.data(),
                                              unseen ? &unseen_[part.draw] : nullptr));
  }
  log_predictive_ = logs.size() == 1 ? logs[0] : log_sum_exp(logs);
  if (!(log_predictive_ > minus_infinity)) return false;
  std::size_t left = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (!(logs[i] > minus_infinity)) continue;
    if (i != left) parts_[left] = std::move(parts_[i]);
    parts_[left++].log_weight = logs[i] - log_predictive_;
  }
  parts_.erase(parts_.begin() + std::ptrdiff_t(left), parts_.end());
  return true;
}

std::span<const double> HiddenMarkovModel::Filter::next(std::span<const double> x) {
  if (!add(x, false)) throw_impossible("the observation is impossible after those before it");
  std::fill(out_.begin(), out_.end(), 0.0);
  for (const Part &part : parts_) part.add_states(out_);
  if (parts_.size() > 1)
    for (double &p : out_) p /= double(parts_.size());
  return out_;
}

double HiddenMarkovModel::Filter::pass(std::span<const double> x) {
  if (!add(x, true))
    for (Part &part : parts_) part.skip();
  return log_predictive_;
}

}  // namespace bayes
