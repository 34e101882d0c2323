#include "factor/nmf_learners.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/special.hpp"
#include "factor/line_step.hpp"
#include "fit/driver.hpp"
#include "topics/document_pass.hpp"
#include "topics/topic_side.hpp"

namespace bayes {
namespace {

/// Updates of a line in a pass: later passes go on from there.
constexpr int updates_at_first = 10, updates_of_pass = 1;

/// sum of log Gamma(x + 1) over all cells: the constant of the Poisson distribution.
double log_factorials(Corpus &lines, Control &control) {
  struct Sum {
    double value = 0;
    void clear() { value = 0; }
    void merge(Sum &other) { value += other.value; }
  };
  Buffer none;
  const SweepPlan plan = plan_tasks(50 * double(lines.totals().entries), 64, control);
  return document_pass(lines, plan, Sum{}, 0, none, control,
                       [](int, const DocumentTerms &cells, std::int64_t, double *, Sum &here) {
                         WorkPoll poll;
                         for (const double x : cells.counts) {
                           if (x != 1) here.value += log_gamma(x + 1);
                           poll(20);
                         }
                       })
      .value;
}

/// What lines add up to.
struct LineSums {
  LineTotals totals;
  TopicStatistics cells;
  /// expected weights of the lines: of all, and by cells that may be missing
  Buffer weights;
  std::optional<TopicStatistics> weights_of_cells;

  /// `all`: rows for all other keys
  LineSums(std::int32_t others, int factors, bool missing, bool all)
      : totals(factors),
        cells(others, factors, all),
        weights(totals.parts) {
    if (missing) weights_of_cells.emplace(others, factors, all);
  }
  void clear() {
    totals.clear();
    cells.clear();
    std::fill(weights.begin(), weights.end(), 0.0);
    if (weights_of_cells) weights_of_cells->clear();
  }
  void merge(LineSums &other) {
    totals.add(other.totals);
    cells.merge(other.cells);
    for (std::size_t k = 0; k < weights.size(); ++k) weights[k] += other.weights[k];
    if (weights_of_cells) weights_of_cells->merge(*other.weights_of_cells);
  }
};

/// What the keys of the other side add up to.
struct OtherSums {
  /// minus the divergence of q(v), but for constants that do not depend on q
  double bound = 0;
  /// sums of E log v
  double logs = 0;
  /// sums of E v
  Buffer means;

  explicit OtherSums(std::size_t stride) : means(stride, 0.0) {}
  void clear() {
    bound = logs = 0;
    std::fill(means.begin(), means.end(), 0.0);
  }
  void add(const OtherSums &other) {
    bound += other.bound;
    logs += other.logs;
    for (std::size_t k = 0; k < means.size(); ++k) means[k] += other.means[k];
  }
};

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
        factors_(state_.others.terms(), topics_),
        statistics_(0, topics_, missing_, false),
        others_(stride_),
        constant_(-log_factorials(task.table.lines, control)) {
    state_.line_rates.assign(std::size_t(topics_), 1.0);
    state_.other_rates = state_.line_rates;
    const Buffer sums = sums_of_terms(state_.others, control);
    if (gamma_)
      balance(sums, sums);
    else if (!missing_)
      normalise(sums);
    if (gamma_ && own_) begin_own_rates();
  }

  RowSums expectation(int index, Control &control) override {
    control_ = &control;
    factor(control);
    Buffer common(stride_, 1.0);
    for (std::size_t k = 0; k < state_.line_rates.size(); ++k) {
      state_.line_rates[k] = state_.line_prior.rate + others_.means[k];
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
                               {LineStep(factors_, state_.line_prior.shape),
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
    const WeightGamma &w = state_.line_prior, &v = state_.other_prior;
    const double lines = double(task_.table.lines.totals().documents) * topics_,
                 others = double(state_.others.terms()) * topics_;
    double out =
        constant_ + others_.bound - lines * log_gamma(w.shape) - others * log_gamma(v.shape);
    if (!w.hierarchical()) out += lines * w.shape * std::log(w.rate);
    if (!v.hierarchical()) out += others * v.shape * std::log(v.rate);
    return out;
  }

  void update(int) override {
    if (gamma_ && !own_) learn();
    take_parts();
    if (own_)
      gamma_ ? move_own_rates() : divide_by_weights();
    else if (const Buffer sums = sums_of_terms(state_.others, *control_); gamma_)
      balance(sums, statistics_.cells.tokens());
    else
      normalise(sums);
  }

  FactorState take() && { return std::move(state_); }

 private:
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
        const double *const mean = means_.of(key);
        for (std::size_t k = 0; k < stride_; ++k) inverse[k] += mean[k];
        poll(stride_);
      }
    } else {
      std::copy_n(others_.means.data(), stride_, inverse);
    }
    for (std::size_t k = 0; k < stride_; ++k) {
      const double r = rate + inverse[k];
      inverse[k] = k < std::size_t(topics_) ? (r > 0 ? 1 / r : 0) : 1;
    }
    return bound;
  }

  /// The factors of all keys of the other side, what they add up to, and if cells may be missing
  /// each one's means.
  void factor(Control &control) {
    if (missing_ && means_.terms() == 0) means_ = TermTopics(state_.others.terms(), topics_);
    Buffer log_rates(stride_, 0.0), rates(stride_, 1.0);
    for (std::size_t k = 0; k < std::size_t(topics_) && gamma_; ++k) {
      rates[k] = state_.other_rates[k];
      log_rates[k] = std::log(rates[k]);
    }
    others_.clear();
    std::vector<OtherSums> slots(std::size_t(most_slots(control)), others_);
    each_chunk(
        state_.others.terms(), (gamma_ ? 80.0 : 6.0) * double(stride_), control,
        [&](std::int32_t first, std::int32_t last, int slot) {
          OtherSums &here = slots[std::size_t(slot)];
          here.clear();
          Buffer own_rates = rates, own_logs = log_rates;
          WorkPoll poll;
          for (std::int32_t j = first; j < last; ++j) {
            for (std::size_t k = 0; k < std::size_t(topics_) && gamma_ && own_; ++k) {
              own_rates[k] = state_.own_other_rates.of(j)[k];
              own_logs[k] = std::log(own_rates[k]);
            }
            factor(j, own_rates, own_logs, here);
            poll(20 * stride_);
          }
        },
        [&](int slot) { others_.add(slots[std::size_t(slot)]); });
  }

  void factor(std::int32_t j, const Buffer &rates, const Buffer &log_rates, OtherSums &here) {
    const double *const parts = state_.others.of(j);
    if (!gamma_) {
      factors_.take(j, state_.others);
      for (std::size_t k = 0; k < stride_; ++k) here.means[k] += parts[k];
      if (missing_) std::copy_n(parts, stride_, means_.of(j));
      return;
    }
    const WeightGamma &prior = state_.other_prior;
    const TopicSums sums = factors_.expect(j, {state_.others, 1, prior.shape}, log_rates.data());
    here.logs += sums.logs;
    double bound = sums.log_gamma - sums.counted_logs, rate = prior.rate;
    if (prior.hierarchical()) {
      ScalePosterior scale(prior, topics_);
      scale.rate = state_.other_scales[std::size_t(j)];
      rate = scale.mean();
      bound += scale.bound(prior, topics_);
    }
    for (std::size_t k = 0; k < std::size_t(topics_); ++k) {
      const double shape = prior.shape + parts[k], mean = shape / rates[k];
      bound -= shape * log_rates[k] + mean * (rate - rates[k]);
      here.means[k] += mean;
      if (missing_) means_.of(j)[k] = mean;
    }
    here.bound += bound;
  }

  /// What the scales of the factors add to the bound: of a key the logarithm times the sum of its
  /// cells, which all its parts, sum_i x_ij / n_ij t_ik b_jk, add up to.
  double log_scales() {
    if (other_totals_.empty()) sum_others();
    double out = 0;
    for (std::int32_t j = 0; j < state_.others.terms(); ++j)
      out += other_totals_[std::size_t(j)] * factors_.log_scale(j);
    return out;
  }
  void sum_others() {
    const TopicStatistics &cells = statistics_.cells;
    other_totals_.assign(std::size_t(state_.others.terms()), 0.0);
    WorkPoll poll;
    for (std::size_t i = 0; i < cells.terms().size(); ++i) {
      const std::int32_t j = cells.terms()[i];
      other_totals_[std::size_t(j)] =
          std::inner_product(cells.of(i), cells.of(i) + stride_, factors_.of(j), 0.0);
      poll(stride_);
    }
  }

  /// What is learned of the prior maximises the bound, given q.
  void learn() {
    const auto learn = [](WeightGamma &prior, bool shape, bool rate, double count, double sum,
                          double logs) {
      const double mean = sum / count;
      if (shape && rate)
        prior.shape = learn_gamma_shape(mean, logs / count);
      else if (shape)
        prior.shape = learn_gamma_shape_of_rate(prior.rate, logs / count);
      if (rate) prior.rate = prior.shape / mean;
    };
    double lines = 0, line_logs = 0, others = 0;
    const double n = double(task_.table.lines.totals().documents);
    for (std::size_t i = 0; i < state_.line_rates.size(); ++i) {
      lines += (n * state_.line_prior.shape + statistics_.totals.parts[i]) / state_.line_rates[i];
      line_logs += statistics_.cells.logs()[i];
      others += others_.means[i];
    }
    learn(state_.line_prior, task_.learn_line_shape, task_.learn_line_rate, n * topics_, lines,
          line_logs);
    learn(state_.other_prior, task_.learn_other_shape, task_.learn_other_rate,
          double(state_.others.terms()) * topics_, others, others_.logs);
  }

  void take_parts() {
    std::fill(state_.others.values().begin(), state_.others.values().end(), 0.0);
    const TopicStatistics &cells = statistics_.cells;
    WorkPoll poll;
    for (std::size_t i = 0; i < cells.terms().size(); ++i) {
      poll(stride_);
      const std::int32_t j = cells.terms()[i];
      double *const to = state_.others.of(j);
      const double *const from = cells.of(i), *const factors = factors_.of(j);
      for (std::size_t k = 0; k < stride_; ++k) to[k] = from[k] * factors[k];
    }
  }

  /// Common rates of both sides depend on each other, r = h + sum E v and likewise: given all
  /// parts, which add up to these, both are best at the solution of a quadratic equation.
  void balance(const Buffer &other_parts, const Buffer &line_parts) {
    const double n = double(task_.table.lines.totals().documents);
    const WeightGamma &w = state_.line_prior, &v = state_.other_prior;
    for (std::size_t k = 0; k < state_.line_rates.size(); ++k) {
      const double lines = n * w.shape + line_parts[k],
                   others = v.shape * state_.others.terms() + other_parts[k],
                   b = lines - w.rate * v.rate - others,
                   root = std::sqrt(b * b + 4 * v.rate * w.rate * lines);
      const double r = b > 0 ? 2 * w.rate * lines / (b + root) : (root - b) / (2 * v.rate);
      state_.line_rates[k] = r;
      state_.other_rates[k] = v.rate + lines / r;
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
  TopicFactors factors_;
  /// of the other side, if cells may be missing
  TermTopics means_;
  LineSums statistics_;
  OtherSums others_;
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
  // others, factors or products, statistics; own rates, and what missing cells need
  const double tables = options.missing_cells ? 2 : 1,
               own = options.own_rates() ? states * (others + lines) : 0;
  return states * (others + lines) + own + (1 + 2 * tables) * others +
         tables * std::min(slots, 2e6 + 2 * double(control.threads) * others);
}

FactorRun run_factors(const FactorTask &task, FactorState state, const Schedule &schedule,
                      Control &control) {
  if (task.options.squared()) return run_squared(task, std::move(state), schedule, control);
  PoissonFactors iteration(task, std::move(state), control);
  FactorRun run;
  static_cast<RunTrace &>(run) = detail::iterate(iteration, control, schedule);
  run.state = std::move(iteration).take();
  return run;
}

}  // namespace bayes
