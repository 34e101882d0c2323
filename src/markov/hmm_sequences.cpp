// One sequence under a fitted hidden Markov model: likelihood, states, paths.
//
// After method gibbs everything is computed under each stored draw of the parameters, and averaged.
// The draws are not reweighted by the likelihood of the sequence: it is a query, not data.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/message.hpp"
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
  explicit Part(const ScoredChain &point)
      : chain_(point.chain),
        table_(point.emissions->table()),
        worker_(table_ ? nullptr : point.emissions->worker()),
        emission_(std::size_t(chain_->padded()), minus_infinity),
        forward_(2 * std::size_t(chain_->padded())) {}

  /// log p(observations so far | draw), less that of all draws together; -infinity if they are
  /// impossible under this one, which then stays as it is
  double log_weight = 0;
  bool possible() const { return log_weight > minus_infinity; }

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
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += probability(i);
  }
  /// Adds those of the states of the step that comes next.
  void add_next(std::span<double> out) const {
    const double *row = chain_->transition();
    for (std::size_t i = 0; i < out.size(); ++i, row += chain_->padded())
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += probability(i) * row[j];
  }

  void begin(double log_share) {
    log_weight = log_share;
    steps_ = 0;
  }
  /// The scale and K forward variables; of logarithms, which sum to 1, the scale is not used again.
  void save(std::vector<double> &out) const {
    const double *const forward = forward_.data() + chain_->padded();
    out.push_back(chain_->safe() ? scale_[1] : 1);
    out.insert(out.end(), forward, forward + chain_->states());
  }
  /// Goes on from numbers of save(); false if these cannot be.
  bool load(const double *from) {
    double *const forward = forward_.data() + chain_->padded();
    const double scale = *from++;
    double sum = 0;
    for (int i = 0; i < chain_->states(); ++i) {
      sum += chain_->safe() ? from[i] : std::exp(from[i]);
      if (chain_->safe() && !(from[i] >= 0)) return false;
      forward[i] = from[i];
    }
    scale_[1] = scale;
    steps_ = 1;
    return (chain_->safe() ? scale > least_scale : scale == 1) &&
           std::abs(sum - scale) <= 1e-9 * scale;
  }

 private:
  /// A scaled recursion divides by no less (MarkovChain::safe).
  static constexpr double least_scale = 1e-200;

  double probability(std::size_t i) const {
    const double *const forward = forward_.data() + chain_->padded();
    return chain_->safe() ? forward[i] / scale_[1] : std::exp(forward[i]);
  }

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
  for (const ScoredChain &point : model.scorer().points()) parts_.emplace_back(point);
  load({});
}
HiddenMarkovModel::Filter::~Filter() = default;

/// Processes an observation, and leaves only the parts possible under which it is; if there are
/// none, leaves all and returns false.
bool HiddenMarkovModel::Filter::add(std::span<const double> x, bool count_unseen) {
  for (std::size_t j = 0; j < x.size(); ++j) block_[j * block_rows] = x[j];
  const bool unseen = count_unseen && has_unseen(x);
  if (unseen && unseen_.empty()) unseen_ = model_.unseen_categories();
  std::vector<double> logs;
  for (Part &part : parts_) {
    if (logs.size() % 16 == 15) poll_here();
    logs.push_back(part.possible()
                       ? part.log_weight + part.add(x, block_.data(), scores_.data(),
                                                    unseen ? &unseen_[logs.size()] : nullptr)
                       : minus_infinity);
  }
  log_predictive_ = logs.size() == 1 ? logs[0] : log_sum_exp(logs);
  if (!(log_predictive_ > minus_infinity)) return false;
  for (std::size_t i = 0; i < logs.size(); ++i) parts_[i].log_weight = logs[i] - log_predictive_;
  return true;
}

/// After an impossible observation.
void HiddenMarkovModel::Filter::skip() {
  for (Part &part : parts_)
    if (part.possible()) part.skip();
}

std::span<const double> HiddenMarkovModel::Filter::next(std::span<const double> x) {
  if (!add(x, false)) throw_impossible("the observation is impossible after those before it");
  std::fill(out_.begin(), out_.end(), 0.0);
  double possible = 0;
  for (const Part &part : parts_) {
    if (!part.possible()) continue;
    part.add_states(out_);
    ++possible;
  }
  for (double &p : out_) p /= possible;
  return out_;
}

double HiddenMarkovModel::Filter::pass(std::span<const double> x) {
  if (!add(x, true)) skip();
  return log_predictive_;
}

// ---- a sequence between two of its observations ----

void refuse_progress(const char *what) {
  throw Error(Errc::invalid_argument, message("the state of a sequence is invalid: {}", what),
              "No sequence has such a state.",
              "Take a state as hmm_advance has returned it, or begin with NULL.");
}

namespace {

/// Are both equal, but for rounding?
bool agree(std::span<const double> a, std::span<const double> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return std::abs(x - y) <= 1e-6; });
}

}  // namespace

/// Goes on from what save() returned; empty: begins.
void HiddenMarkovModel::Filter::load(std::span<const double> recursion) {
  const double all = double(parts_.size());
  for (Part &part : parts_) part.begin(recursion.empty() ? -std::log(all) : minus_infinity);
  if (recursion.empty()) return;
  const std::size_t width = 3 + std::size_t(model_.size());
  double before = 0, total = 0;
  if (recursion.size() % width != 0) refuse_progress("its length is wrong");
  for (; !recursion.empty(); recursion = recursion.subspan(width)) {
    const double draw = recursion[0], log_weight = recursion[1];
    if (!(draw > before && draw <= all && draw == std::floor(draw)))
      refuse_progress("the model has no such draw");
    Part &part = parts_[std::size_t(draw) - 1];
    if (!part.load(&recursion[2])) refuse_progress("its probabilities do not sum to 1");
    part.log_weight = log_weight;
    total += std::exp(log_weight);
    before = draw;
  }
  if (!(std::abs(total - 1) <= 1e-6)) refuse_progress("the shares of its draws do not sum to 1");
}

std::vector<double> HiddenMarkovModel::Filter::save() const {
  std::vector<double> out;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].possible()) continue;
    out.push_back(double(i + 1));
    out.push_back(parts_[i].log_weight);
    parts_[i].save(out);
  }
  return out;
}

/// The probabilities of the states after the last observation, and of those of the next step.
void HiddenMarkovModel::Filter::describe(std::vector<double> &states,
                                         std::vector<double> &next) const {
  states.assign(out_.size(), 0);
  next.assign(out_.size(), 0);
  double possible = 0;
  for (const Part &part : parts_) {
    if (!part.possible()) continue;
    part.add_states(states);
    part.add_next(next);
    ++possible;
  }
  for (std::vector<double> *const each : {&states, &next})
    for (double &p : *each) p /= possible;
}

void HiddenMarkovModel::Filter::advance(HmmProgress &at, std::span<const double> x) {
  const std::vector<double> before = at.steps > 0 ? at.recursion : std::vector<double>();
  load(before);
  if (at.steps == 0) {
    at = {};
  } else {
    std::vector<double> states, next;
    describe(states, next);
    if (before.empty() || !agree(states, at.states) || !agree(next, at.next))
      refuse_progress("its probabilities are not those of its recursion");
    if (!(at.log_likelihood < std::numeric_limits<double>::infinity()))
      refuse_progress("its log likelihood is NaN or infinite");
    if (!at.counting.empty()) load(at.counting);
  }
  at.log_likelihood += pass(x);
  const bool known = std::any_of(x.begin(), x.end(), [](double e) { return e == e; });
  at.surprise = known || has_unseen(x) ? 0 - log_predictive_  // not -0
                                       : std::numeric_limits<double>::quiet_NaN();
  if (!at.counting.empty() || has_unseen(x)) {
    at.counting = save();
    load(before);
    if (!add(x, false)) skip();
  }
  at.recursion = save();
  ++at.steps;
  describe(at.states, at.next);
}

}  // namespace bayes
