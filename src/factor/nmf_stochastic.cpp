// Stochastic variational inference of non-negative factorizations (002 L8, L12; Hoffman and others
// 2013).
//
// q(v) of the other side is global: a step of size rho goes along the natural gradient, estimated
// from the lines of a minibatch. So parts become 1 - rho times what they are plus rho times those
// of the minibatch, which are scaled to all lines. Rates are the best ones for the sums of the
// parts. A line's own parts are kept from visit to visit, as the model has them anyway.
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "factor/factor_sides.hpp"
#include "factor/line_step.hpp"
#include "fit/driver.hpp"
#include "topics/document_pass.hpp"
#include "topics/minibatches.hpp"
#include "topics/topic_side.hpp"

namespace bayes {
namespace {

/// The stream of random numbers that say where passes begin.
constexpr std::uint64_t stream_of_factor_passes = 12;

/// Updates of a line at its first visit, and later; in the pass at the end.
constexpr int first_updates = 10, later_updates = 2, last_updates = 5;

/// What a step costs depends on the keys of its lines, not on all: parts are stored up to a factor,
/// their sums kept up to date. A minibatch of all lines makes passes.
class StochasticFactors final : public detail::Iteration {
 public:
  StochasticFactors(const FactorTask &task, FactorState state, int restart, Control &control)
      : task_(task),
        totals_(task.table.lines.totals()),
        plan_(task.options.plan),
        whole_(plan_.batch_rows >= totals_.documents),
        state_(std::move(state)),
        topics_(state_.others.topics()),
        stride_(std::size_t(state_.others.stride())),
        side_(task.options, state_.others.terms(), topics_),
        sums_(state_.others.terms(), topics_, false, false),
        batches_(task.table.lines, plan_.batch_rows,
                 Random(task.options.seed, std::uint64_t(restart), 0, stream_of_factor_passes)),
        constants_(std::size_t(totals_.documents), 0.0),
        part_sums_(sums_of_terms(state_.others, control)),
        line_parts_(stride_, 0.0) {
    state_.line_rates.assign(std::size_t(topics_), 1.0);
    state_.other_rates = state_.line_rates;
    grow(state_.lines, std::size_t(totals_.documents) * stride_);
    constant_ = log_factorials(task.table.lines, constants_, control);
    balance_rates(state_, totals_.documents, part_sums_, part_sums_);
  }

  RowSums expectation(int, Control &control) override {
    control.poll();
    if (whole_) return {pass(1, control), 0};
    if (visited_ >= 2 * double(state_.others.terms())) factor(control);
    const Minibatch &batch = batches_.next();
    const SweepPlan plan =
        plan_tasks(operations_of_entry(topics_) * double(batch.entries), 1 << 20, control);
    Buffer log_rates(stride_, 0.0);
    for (std::size_t k = 0; k < state_.other_rates.size(); ++k)
      log_rates[k] = std::log(state_.other_rates[k]);
    const TopicParameters from = {state_.others, scale_, state_.other_prior.shape};
    each_term(batch, plan, control,
              [&](std::int32_t key) { side_.factors.expect(key, from, log_rates.data()); });
    while (int(slots_.size()) < plan.slots)
      slots_.emplace_back(state_.others.terms(), topics_, false, false);
    std::vector<LineStep> steps = steps_of(plan);
    const Buffer inverse = inverse_rates();
    visited_lines_.resize(batch.documents.size() * stride_);
    sums_.clear();
    minibatch_pass(batch, plan, slots_, sums_, control,
                   [&](int worker, const DocumentTerms &cells, std::int64_t index, LineSums &here) {
                     double *const parts = visited_lines_.data() + std::size_t(index) * stride_;
                     std::copy_n(line(batch.documents[std::size_t(index)]), stride_, parts);
                     visit(steps[std::size_t(worker)], cells, inverse, later_updates, parts, here);
                   });
    WorkPoll poll;
    for (std::size_t i = 0; i < batch.documents.size(); ++i) {
      std::copy_n(visited_lines_.data() + i * stride_, stride_, line(batch.documents[i]));
      poll(stride_);
    }
    visited_ += double(batch.terms.size());
    share_ = double(totals_.documents) / double(batch.documents.size());
    double bound = bound_of_lines();
    for (const std::int64_t line : batch.documents) bound -= constants_[std::size_t(line)];
    return {share_ * bound, 0};
  }

  double objective() const override {
    return side_.sums.bound + bound_of_priors(state_, totals_.documents);
  }

  void update(int index) override {
    const double rho = std::pow(plan_.t0 + index, -plan_.kappa);
    learn(index, rho);
    scale_ *= 1 - rho;
    for (double &sum : part_sums_) sum *= 1 - rho;
    if (scale_ < 1e-100) unscale();
    const double step = rho * share_;
    WorkPoll poll;
    for (std::size_t i = 0; i < sums_.cells.terms().size(); ++i) {
      poll(stride_);
      const std::int32_t j = sums_.cells.terms()[i];
      double *const to = state_.others.of(j);
      const double *const from = sums_.cells.of(i), *const factors = side_.factors.of(j);
      for (std::size_t k = 0; k < stride_; ++k) {
        const double parts = step * (from[k] * factors[k]);
        to[k] += parts / scale_;
        part_sums_[k] += parts;
      }
    }
    balance_rates(state_, totals_.documents, part_sums_, part_sums_);
  }

  /// The weights of all lines, given where the other side has come to, and the bound.
  double finish(Control &control) { return pass(last_updates, control) + objective(); }

  FactorState take() && { return std::move(state_); }

 private:
  static constexpr int steps_before_learning = 20;

  double *line(std::int64_t index) { return state_.lines.data() + std::size_t(index) * stride_; }
  std::vector<LineStep> steps_of(const SweepPlan &plan) const {
    return std::vector<LineStep>(std::size_t(plan.threads),
                                 LineStep(side_.factors, state_.line_prior.shape));
  }
  Buffer inverse_rates() const {
    Buffer out(stride_, 1.0);
    for (std::size_t k = 0; k < state_.line_rates.size(); ++k) out[k] = 1 / state_.line_rates[k];
    return out;
  }

  /// A line without parts is new, or has no cells.
  void visit(LineStep &step, const DocumentTerms &cells, const Buffer &inverse, int updates,
             double *parts, LineSums &here) const {
    const bool fresh = std::all_of(parts, parts + stride_, [](double x) { return x == 0; });
    step.infer(cells, inverse.data(), fresh ? first_updates : updates, fresh, parts, here.totals);
    here.cells.add(cells, step.divided(), 0, parts);
  }

  /// Of those that were visited, with the scales of the factors.
  double bound_of_lines() const {
    double out = sums_.totals.bound();
    WorkPoll poll;
    for (std::size_t i = 0; i < sums_.cells.terms().size(); ++i) {
      out += sums_.of_key(i, side_.factors) * side_.factors.log_scale(sums_.cells.terms()[i]);
      poll(stride_);
    }
    return out;
  }

  /// Over all lines. Returns the sum of their bounds.
  double pass(int updates, Control &control) {
    factor(control);
    const SweepPlan plan = plan_documents(totals_, topics_, control);
    std::vector<LineStep> steps = steps_of(plan);
    const Buffer inverse = inverse_rates();
    sums_ = document_pass(
        task_.table.lines, plan,
        LineSums(state_.others.terms(), topics_, false, most_terms(totals_)), stride_, state_.lines,
        control,
        [&](int worker, const DocumentTerms &cells, std::int64_t, double *parts, LineSums &here) {
          visit(steps[std::size_t(worker)], cells, inverse, updates, parts, here);
        });
    share_ = 1;
    return bound_of_lines() - constant_;
  }

  /// All keys, of which steps see some.
  void factor(Control &control) {
    unscale();
    side_.factor(state_, control);
    visited_ = 0;
    factored_ = true;
  }

  void unscale() {
    WorkPoll poll;
    for (std::int32_t j = 0; scale_ != 1 && j < state_.others.terms(); ++j) {
      double *const row = state_.others.of(j);
      for (std::size_t k = 0; k < stride_; ++k) row[k] *= scale_;
      poll(stride_);
    }
    scale_ = 1;
  }

  /// Sums over all lines are averages over steps; E log w without the rates, which have changed.
  void learn(int index, double rho) {
    const double share = index == 0 ? 1 : rho;
    double digammas = 0, of_rates = 0;
    for (std::size_t k = 0; k < state_.line_rates.size(); ++k)
      of_rates += double(totals_.documents) * std::log(state_.line_rates[k]);
    for (std::size_t k = 0; k < stride_; ++k) {
      line_parts_[k] += share * (share_ * sums_.totals.parts[k] - line_parts_[k]);
      if (k < std::size_t(topics_)) digammas += share_ * sums_.cells.logs()[k];
    }
    line_digammas_ += share * (digammas + of_rates - line_digammas_);
    if (!whole_ && index < steps_before_learning) return;
    learn_line_prior(task_, state_, line_parts_, line_digammas_ - of_rates);
    // Expected logs of all keys are known once in a while.
    if (factored_) learn_other_prior(task_, state_, side_.sums);
    factored_ = false;
  }

  const FactorTask &task_;
  const CorpusTotals totals_;
  const StochasticPlan plan_;
  const bool whole_;
  FactorState state_;
  const int topics_;
  const std::size_t stride_;
  OtherSide side_;
  LineSums sums_;
  Minibatches batches_;
  std::vector<LineSums> slots_;
  /// the lines of the minibatch
  Buffer visited_lines_;
  /// the part of each line's bound that does not depend on q
  Buffer constants_;
  double constant_ = 0;
  /// the other side's parts are scale_ * state_.others, and these their sums over its keys
  double scale_ = 1;
  Buffer part_sums_;
  /// for learning, of all lines: sums of their parts, and of the digammas of their shapes
  Buffer line_parts_;
  double line_digammas_ = 0;
  double share_ = 1;
  /// keys factored since all were
  double visited_ = std::numeric_limits<double>::infinity();
  bool factored_ = false;
};

}  // namespace

FactorRun run_stochastic(const FactorTask &task, FactorState state, const Schedule &schedule,
                         Control &control) {
  StochasticFactors iteration(task, std::move(state), schedule.restart, control);
  FactorRun run;
  static_cast<RunTrace &>(run) = detail::iterate_stochastic(iteration, control, schedule, 50);
  // The estimates on the way were noisy; what is compared and reported is exact.
  run.trace.push_back(iteration.finish(control));
  run.state = std::move(iteration).take();
  return run;
}

}  // namespace bayes
