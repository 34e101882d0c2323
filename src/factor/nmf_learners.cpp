#include "factor/nmf_learners.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "factor/factor_sides.hpp"
#include "factor/line_step.hpp"
#include "fit/driver.hpp"
#include "topics/document_pass.hpp"
#include "topics/topic_side.hpp"

namespace bayes {
namespace {

/// Updates of a line in a pass: later passes go on from there.
constexpr int updates_at_first = 10, updates_of_pass = 1;

/// Variational inference, or EM with points, in passes over all lines.
class PoissonFactors final : public detail::Iteration {
 public:
  PoissonFactors(const FactorTask &task, FactorState state, Control &control)
      : task_(task),
        gamma_(task.options.gamma()),
        missing_(task.options.missing_cells),
        own_(task.options.own_rates()),
        state_(std::move(state)),
        topics_(state_.others.topics()),
        stride_(std::size_t(state_.others.stride())),
        side_(task.options, state_.others.terms(), topics_),
        statistics_(0, topics_, missing_, false),
        constant_([&] {
          Buffer none;
          return -log_factorials(task.table.lines, none, control);
        }()) {
    state_.line_rates.assign(std::size_t(topics_), 1.0);
    state_.other_rates = state_.line_rates;
    const Buffer sums = sums_of_terms(state_.others, control);
    if (gamma_)
      balance_rates(state_, line_count(), sums, sums);
    else if (!missing_)
      normalise(sums);
    if (gamma_ && own_ && state_.own_other_rates.terms() == 0) begin_own_rates();
  }

  RowSums expectation(int index, Control &control) override {
    control_ = &control;
    side_.factor(state_, control);
    Buffer common(stride_, 1.0);
    for (std::size_t k = 0; k < state_.line_rates.size(); ++k) {
      state_.line_rates[k] = state_.line_prior.rate + side_.sums.means[k];
      common[k] = 1 / state_.line_rates[k];
    }
    Corpus &lines = task_.table.lines;
    const std::size_t width = own_ ? 2 * stride_ : stride_;
    const bool fresh = state_.lines.empty();
    if (fresh) grow(state_.lines, std::size_t(lines.totals().documents) * width);
    const SweepPlan plan = plan_documents(lines.totals(), topics_, control);
    struct Memory {
      LineStep step;
      Buffer ones, weights, none;
    };
    std::vector<Memory> memory(std::size_t(plan.threads),
                               {LineStep(side_.factors, state_.line_prior.shape),
                                {},
                                Buffer(stride_, 0.0),
                                Buffer(stride_, 0.0)});
    const int updates = index == 0 && fresh ? updates_at_first : updates_of_pass;
    statistics_ = document_pass(
        lines, plan, LineSums(state_.others.terms(), topics_, missing_, most_terms(lines.totals())),
        width, state_.lines, control,
        [&](int worker, const DocumentTerms &cells, std::int64_t, double *parts, LineSums &here) {
          Memory &m = memory[std::size_t(worker)];
          double *const inverse = own_ ? parts + stride_ : common.data();
          if (own_) here.totals.bounds[0] += find_rates(cells, fresh, parts, inverse);
          m.step.infer(cells, inverse, updates, fresh, parts, here.totals);
          here.cells.add(cells, m.step.divided(), 0, parts);
          if (!own_) return;
          for (std::size_t k = 0; k < std::size_t(topics_); ++k)
            here.weights[k] += m.weights[k] = (state_.line_prior.shape + parts[k]) * inverse[k];
          if (!missing_) return;
          if (m.ones.size() < cells.size()) m.ones.resize(cells.size(), 1.0);
          here.weights_of_cells->add(cells, {m.ones.data(), m.weights.data(), m.none.data()}, 0,
                                     parts);
        });
    return {statistics_.totals.bound() + log_scales(), 0};
  }

  double objective() const override {
    if (!gamma_) return constant_;
    return constant_ + side_.sums.bound + bound_of_priors(state_, line_count());
  }

  void update(int) override {
    if (gamma_ && !own_) {
      const Buffer &logs = statistics_.cells.logs();
      learn_line_prior(task_, state_, statistics_.totals.parts,
                       std::accumulate(logs.begin(), logs.begin() + topics_, 0.0));
      learn_other_prior(task_, state_, side_.sums);
    }
    take_parts();
    if (own_)
      gamma_ ? move_own_rates() : divide_by_weights();
    else if (const Buffer sums = sums_of_terms(state_.others, *control_); gamma_)
      balance_rates(state_, line_count(), sums, statistics_.cells.tokens());
    else
      normalise(sums);
  }

  FactorState take() && { return std::move(state_); }

 private:
  std::int64_t line_count() const { return task_.table.lines.totals().documents; }

  /// 1 / r of a line. Returns what the q of its rate's scale adds to the bound.
  double find_rates(const DocumentTerms &cells, bool fresh, const double *parts,
                    double *inverse) const {
    const WeightGamma &prior = state_.line_prior;
    double rate = prior.rate, bound = 0;
    if (prior.hierarchical()) {
      double weights = 0;
      for (int k = 0; !fresh && k < topics_; ++k) weights += (prior.shape + parts[k]) * inverse[k];
      const ScalePosterior scale =
          fresh ? ScalePosterior(prior, topics_) : ScalePosterior(prior, topics_, weights);
      rate = scale.mean();
      bound = scale.bound(prior, topics_);
    }
    std::fill_n(inverse, stride_, 0.0);
    if (missing_) {
      WorkPoll poll;
      for (const std::int32_t key : cells.terms) {
        const double *const mean = side_.means.of(key);
        for (std::size_t k = 0; k < stride_; ++k) inverse[k] += mean[k];
        poll(stride_);
      }
    } else {
      std::copy_n(side_.sums.means.data(), stride_, inverse);
    }
    for (std::size_t k = 0; k < stride_; ++k) {
      const double r = rate + inverse[k];
      inverse[k] = k < std::size_t(topics_) ? (r > 0 ? 1 / r : 0) : 1;
    }
    return bound;
  }

  /// What the scales of the factors add to the bound: of a key the logarithm times the sum of its
  /// cells.
  double log_scales() {
    if (other_totals_.empty()) sum_others();
    double out = 0;
    for (std::int32_t j = 0; j < state_.others.terms(); ++j)
      out += other_totals_[std::size_t(j)] * side_.factors.log_scale(j);
    return out;
  }
  void sum_others() {
    other_totals_.assign(std::size_t(state_.others.terms()), 0.0);
    WorkPoll poll;
    for (std::size_t i = 0; i < statistics_.cells.terms().size(); ++i) {
      const std::int32_t j = statistics_.cells.terms()[i];
      other_totals_[std::size_t(j)] = statistics_.of_key(i, side_.factors);
      poll(stride_);
    }
  }

  void take_parts() {
    std::fill(state_.others.values().begin(), state_.others.values().end(), 0.0);
    const TopicStatistics &cells = statistics_.cells;
    WorkPoll poll;
    for (std::size_t i = 0; i < cells.terms().size(); ++i) {
      poll(stride_);
      const std::int32_t j = cells.terms()[i];
      double *const to = state_.others.of(j);
      const double *const from = cells.of(i), *const factors = side_.factors.of(j);
      for (std::size_t k = 0; k < stride_; ++k) to[k] = from[k] * factors[k];
    }
  }

  void begin_own_rates() {
    state_.own_other_rates = TermTopics(state_.others.terms(), topics_);
    WorkPoll poll;
    for (std::int32_t j = 0; j < state_.others.terms(); ++j) {
      std::copy(state_.other_rates.begin(), state_.other_rates.end(), state_.own_other_rates.of(j));
      poll(stride_);
    }
    if (state_.other_prior.hierarchical())
      state_.other_scales.assign(std::size_t(state_.others.terms()),
                                 ScalePosterior(state_.other_prior, topics_).rate);
  }

  /// Each key's rates, and then the q of their scale.
  void move_own_rates() {
    const WeightGamma &prior = state_.other_prior;
    WorkPoll poll;
    if (missing_) {
      for (std::int32_t j = 0; j < state_.others.terms(); ++j) {
        std::fill_n(state_.own_other_rates.of(j), topics_, 0.0);
        poll(stride_);
      }
      const TopicStatistics &weights = *statistics_.weights_of_cells;
      for (std::size_t i = 0; i < weights.terms().size(); ++i) {
        std::copy_n(weights.of(i), topics_, state_.own_other_rates.of(weights.terms()[i]));
        poll(stride_);
      }
    }
    for (std::int32_t j = 0; j < state_.others.terms(); ++j) {
      double *const rates = state_.own_other_rates.of(j);
      if (!missing_) std::copy_n(statistics_.weights.data(), topics_, rates);
      ScalePosterior scale(prior, topics_);
      if (prior.hierarchical()) scale.rate = state_.other_scales[std::size_t(j)];
      const double rate = prior.hierarchical() ? scale.mean() : prior.rate;
      double weights = 0;
      for (int k = 0; k < topics_; ++k) {
        rates[k] += rate;
        weights += (prior.shape + state_.others.of(j)[k]) / rates[k];
      }
      if (prior.hierarchical())
        state_.other_scales[std::size_t(j)] = ScalePosterior(prior, topics_, weights).rate;
      poll(4 * stride_);
    }
  }

  /// Points of keys that not all lines have: their parts, by the weights of the lines that do. What
  /// no line explains stays 0.
  void divide_by_weights() {
    const TopicStatistics &weights = *statistics_.weights_of_cells;
    WorkPoll poll;
    for (std::size_t i = 0; i < weights.terms().size(); ++i) {
      double *const points = state_.others.of(weights.terms()[i]);
      for (std::size_t k = 0; k < std::size_t(topics_); ++k)
        points[k] = weights.of(i)[k] > 0 ? points[k] / weights.of(i)[k] : 0;
      poll(stride_);
    }
  }

  /// Points of a factor sum to 1: then its parts are the weights of the lines.
  void normalise(const Buffer &sums) {
    WorkPoll poll;
    for (std::int32_t j = 0; j < state_.others.terms(); ++j) {
      poll(stride_);
      for (std::size_t k = 0; k < std::size_t(topics_); ++k) {
        double &v = state_.others.of(j)[k];
        v = sums[k] > 0 ? v / sums[k] : 1.0 / state_.others.terms();
      }
    }
  }

  const FactorTask &task_;
  const bool gamma_, missing_, own_;
  FactorState state_;
  const int topics_;
  const std::size_t stride_;
  OtherSide side_;
  LineSums statistics_;
  /// the sums of the cells of the other side's keys
  std::vector<double> other_totals_;
  const double constant_;
  Control *control_ = nullptr;
};

}  // namespace

double factor_run_doubles(const FactorTable &table, const NmfOptions &options,
                          const Control &control) {
  const CorpusTotals &totals = table.lines.totals();
  const double stride = padded_topics(options.k), others = double(totals.vocabulary) * stride,
               lines = double(totals.documents) * stride;
  const double slots = double(most_slots(control)) *
                       std::min(double(totals.vocabulary),
                                double(piece_entries(totals.vocabulary) + totals.most_entries)) *
                       stride;
  const int states = options.restarts > 1 ? 2 : 1;
  double batch = 0;
  if (options.stochastic()) {
    // the cells and the weights of a minibatch, and a constant of every line
    const double n = double(totals.documents);
    batch = n + std::min(double(options.plan.batch_rows), n) *
                    (stride + 3 * double(totals.entries) / std::max(1.0, n));
  }
  // others, factors or products, statistics; own rates, and what missing cells need
  const double tables = options.missing_cells ? 2 : 1,
               own = options.own_rates() ? states * (others + lines) : 0;
  return states * (others + lines) + own + batch + (1 + 2 * tables) * others +
         tables * std::min(slots, 2e6 + 2 * double(control.threads) * others);
}

FactorRun run_factors(const FactorTask &task, FactorState state, const Schedule &schedule,
                      Control &control) {
  if (task.options.squared()) return run_squared(task, std::move(state), schedule, control);
  if (task.options.stochastic()) return run_stochastic(task, std::move(state), schedule, control);
  PoissonFactors iteration(task, std::move(state), control);
  FactorRun run;
  static_cast<RunTrace &>(run) = detail::iterate(iteration, control, schedule);
  run.state = std::move(iteration).take();
  return run;
}

}  // namespace bayes
