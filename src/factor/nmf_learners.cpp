#include "factor/nmf_learners.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/special.hpp"
#include "factor/line_step.hpp"
#include "fit/driver.hpp"
#include "topics/document_pass.hpp"
#include "topics/token_convergence.hpp"
#include "topics/topic_side.hpp"

namespace bayes {
namespace {

constexpr double least_learned_shape = 0.002, most_learned_shape = 1e6;

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

/// Within what a learned shape may be. Newton's method (Minka 2000, Estimating a Dirichlet
/// distribution, appendix C).
double inverse_digamma(double y) {
  double x = y >= -2.22 ? std::exp(std::min(y, 15.0)) + 0.5 : -1 / (y + 0.5772156649015329);
  for (int i = 0; i < 20; ++i)
    x = std::clamp(x - (digamma(x) - y) / trigamma(x), least_learned_shape, most_learned_shape);
  return x;
}

/// What lines add up to.
struct LineSums {
  TopicStatistics cells;
  /// parts of the lines at the q of the bound
  Buffer parts;

  LineSums(std::int32_t others, int factors)
      : cells(others, factors),
        parts(std::size_t(padded_topics(factors)), 0.0) {}
  void clear() {
    cells.clear();
    std::fill(parts.begin(), parts.end(), 0.0);
  }
  void merge(LineSums &other) {
    cells.merge(other.cells);
    for (std::size_t k = 0; k < parts.size(); ++k) parts[k] += other.parts[k];
  }
};

/// Variational inference, or EM with points, in passes over all lines.
class PoissonFactors final : public detail::Iteration {
 public:
  PoissonFactors(const FactorTask &task, FactorState state, Control &control)
      : task_(task),
        gamma_(task.options.gamma()),
        state_(std::move(state)),
        factors_(state_.others.terms(), state_.others.topics()),
        statistics_(0, state_.others.topics()),
        constant_(-log_factorials(task.table.lines, control)),
        others_(std::size_t(state_.others.stride()), 0.0) {
    sum_others(control);
    state_.line_rates.assign(std::size_t(state_.others.topics()), 1.0);
    state_.other_rates = state_.line_rates;
    if (gamma_)
      balance(others_);
    else
      normalise();
  }

  RowSums expectation(int index, Control &control) override {
    const std::size_t stride = std::size_t(state_.others.stride());
    factor(control);
    inverse_rates_.assign(stride, 1.0);
    for (std::size_t k = 0; k < state_.line_rates.size(); ++k) {
      state_.line_rates[k] = gamma_ ? state_.line_prior.rate + sum_of_others(k) : others_[k];
      inverse_rates_[k] = 1 / state_.line_rates[k];
    }
    Corpus &lines = task_.table.lines;
    const bool fresh = state_.lines.empty();
    if (fresh) grow(state_.lines, std::size_t(lines.totals().documents) * stride);
    const int topics = state_.others.topics();
    const SweepPlan plan = plan_documents(lines.totals(), topics, control);
    std::vector<LineStep> steps(std::size_t(plan.threads),
                                LineStep(factors_, gamma_ ? state_.line_prior.shape : 0));
    const int updates = index == 0 && fresh ? updates_at_first : updates_of_pass;
    statistics_ = document_pass(
        lines, plan, LineSums(state_.others.terms(), topics), stride, state_.lines, control,
        [&](int worker, const DocumentTerms &cells, std::int64_t, double *parts, LineSums &here) {
          LineStep &step = steps[std::size_t(worker)];
          const double bound = step.infer(cells, inverse_rates_.data(), updates, fresh, parts);
          here.cells.add(cells, step.divided(), bound, parts);
          for (std::size_t k = 0; k < stride; ++k) here.parts[k] += step.parts()[k];
        });
    control_ = &control;
    return {statistics_.cells.bound(), 0};
  }

  double objective() const override {
    if (!gamma_) return constant_;
    const GammaPrior &w = state_.line_prior, &v = state_.other_prior;
    const double k = state_.others.topics(), cells = double(state_.others.terms()) * k;
    double out = constant_ + double(task_.table.lines.totals().documents) * k *
                                 (w.shape * std::log(w.rate) - log_gamma(w.shape));
    // minus the divergence of q(v)
    out += sums_.log_gamma - sums_.counted_logs - cells * log_gamma(v.shape);
    for (std::size_t i = 0; i < state_.other_rates.size(); ++i) {
      const double rate = state_.other_rates[i], j = state_.others.terms();
      out -= others_[i] * std::log(rate) + v.shape * j * std::log(rate / v.rate) +
             sum_of_others(i) * (v.rate - rate);
    }
    return out;
  }

  void update(int) override {
    if (gamma_) learn();
    take_parts();
    sum_others(*control_);
    if (gamma_)
      balance(statistics_.cells.tokens());
    else
      normalise();
  }

  FactorState take() && { return std::move(state_); }

 private:
  /// sum_j E v_jk
  double sum_of_others(std::size_t k) const {
    return (state_.other_prior.shape * state_.others.terms() + others_[k]) / state_.other_rates[k];
  }

  void factor(Control &control) {
    const std::size_t stride = std::size_t(state_.others.stride());
    Buffer log_rates(stride, 0.0);
    for (std::size_t k = 0; gamma_ && k < state_.other_rates.size(); ++k)
      log_rates[k] = std::log(state_.other_rates[k]);
    const TopicParameters from{state_.others, 1, state_.other_prior.shape};
    std::vector<TopicSums> slots(std::size_t(most_slots(control)));
    sums_ = {};
    each_chunk(
        state_.others.terms(), (gamma_ ? 60.0 : 4.0) * double(stride), control,
        [&](std::int32_t first, std::int32_t last, int slot) {
          TopicSums &here = slots[std::size_t(slot)] = {};
          WorkPoll poll;
          for (std::int32_t j = first; j < last; ++j) {
            if (gamma_)
              here.add(factors_.expect(j, from, log_rates.data()));
            else
              factors_.take(j, state_.others);
            poll(20 * stride);
          }
        },
        [&](int slot) { sums_.add(slots[std::size_t(slot)]); });
  }

  /// What is learned of the prior maximises the bound, given q.
  void learn() {
    const double k = state_.others.topics();
    const auto learn = [](GammaPrior &prior, bool shape, bool rate, double count, double sum,
                          double logs) {
      const double mean = sum / count;
      if (shape && rate)
        prior.shape = learn_gamma_shape(mean, logs / count);
      else if (shape)
        prior.shape = inverse_digamma(std::log(prior.rate) + logs / count);
      if (rate) prior.rate = prior.shape / mean;
    };
    double lines = 0, line_logs = 0, others = 0;
    const double n = double(task_.table.lines.totals().documents);
    for (std::size_t i = 0; i < state_.line_rates.size(); ++i) {
      lines += (n * state_.line_prior.shape + statistics_.parts[i]) / state_.line_rates[i];
      line_logs += statistics_.cells.logs()[i];
      others += sum_of_others(i);
    }
    learn(state_.line_prior, task_.learn_line_shape, task_.learn_line_rate, n * k, lines,
          line_logs);
    learn(state_.other_prior, task_.learn_other_shape, task_.learn_other_rate,
          double(state_.others.terms()) * k, others, sums_.logs);
  }

  void take_parts() {
    const int stride = state_.others.stride();
    std::fill(state_.others.values().begin(), state_.others.values().end(), 0.0);
    WorkPoll poll;
    for (std::size_t i = 0; i < statistics_.cells.terms().size(); ++i) {
      poll(std::size_t(stride));
      const std::int32_t j = statistics_.cells.terms()[i];
      double *const to = state_.others.of(j);
      const double *const from = statistics_.cells.of(i), *const factors = factors_.of(j);
      for (int k = 0; k < stride; ++k) to[k] = from[k] * factors[k];
    }
  }

  void sum_others(Control &control) { others_ = sums_of_terms(state_.others, control); }

  /// The rates of both sides depend on each other, r = h + sum E v and likewise: given all parts,
  /// of the lines these, both are best at the solution of a quadratic equation.
  void balance(const Buffer &line_parts) {
    const double n = double(task_.table.lines.totals().documents);
    const GammaPrior &w = state_.line_prior, &v = state_.other_prior;
    for (std::size_t k = 0; k < state_.line_rates.size(); ++k) {
      const double lines = n * w.shape + line_parts[k],
                   others = v.shape * state_.others.terms() + others_[k],
                   b = lines - w.rate * v.rate - others,
                   root = std::sqrt(b * b + 4 * v.rate * w.rate * lines);
      const double r = b > 0 ? 2 * w.rate * lines / (b + root) : (root - b) / (2 * v.rate);
      state_.line_rates[k] = r;
      state_.other_rates[k] = v.rate + lines / r;
    }
  }

  /// Points of a factor sum to 1: then its parts are the weights of the lines.
  void normalise() {
    const int topics = state_.others.topics();
    WorkPoll poll;
    for (std::int32_t j = 0; j < state_.others.terms(); ++j) {
      poll(std::size_t(topics));
      for (int k = 0; k < topics; ++k) {
        double &v = state_.others.of(j)[k];
        const double sum = others_[std::size_t(k)];
        v = sum > 0 ? v / sum : 1.0 / state_.others.terms();
      }
    }
    std::fill_n(others_.begin(), topics, 1.0);
  }

  const FactorTask &task_;
  const bool gamma_;
  FactorState state_;
  TopicFactors factors_;
  TopicSums sums_;
  LineSums statistics_;
  const double constant_;
  /// sums of the others' parts, or points
  Buffer others_;
  Buffer inverse_rates_;
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
  // others, factors or products, statistics
  return states * (others + lines) + 2 * others +
         std::min(slots, 2e6 + 2 * double(control.threads) * others);
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

Buffer converged_parts(const DocumentTerms &cells, const TopicFactors &factors, double shape,
                       const Buffer &inverse_rates) {
  LineStep step(factors, shape);
  Buffer parts(inverse_rates.size());
  step.infer(cells, inverse_rates.data(), 4, true, parts.data());
  converge_tokens(parts, cells.tokens(), [&](Buffer &improved) {
    return step.infer(cells, inverse_rates.data(), 0, false, improved.data());
  });
  return parts;
}

// Newton's method in 1 / shape (Minka 2002, Estimating a gamma distribution).
double learn_gamma_shape(double mean, double mean_log) {
  const double s = std::log(mean) - mean_log;
  constexpr double least = least_learned_shape, most = most_learned_shape;
  if (!(s > 0)) return most;
  double shape =
      std::clamp((3 - s + std::sqrt((s - 3) * (s - 3) + 24 * s)) / (12 * s), least, most);
  for (int i = 0; i < 50; ++i) {
    const double slope = std::log(shape) - digamma(shape) - s;
    const double next = 1 / (1 / shape + slope / (shape * shape * (1 / shape - trigamma(shape))));
    const double inside = std::clamp(next > 0 ? next : most, least, most);
    const bool there = std::abs(inside - shape) <= 1e-12 * shape;
    shape = inside;
    if (there) break;
  }
  return shape;
}

}  // namespace bayes
