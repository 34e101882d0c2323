// Stochastic variational inference of non-negative factorizations (002 L8, L12; Hoffman and others
// 2013).
//
// q(v) of the terms is global: a step of size rho goes along the natural gradient, which is
// estimated from a minibatch of documents. So the allocated counts are multiplied by 1 - rho, and
// rho times those of the minibatch, scaled to all documents, is added. Rates maximise the bound for
// the sums of the counts. The allocated counts of every document are kept from visit to visit,
// since the model needs them anyway.
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "counts/passes.hpp"
#include "factor/nmf_statistics.hpp"
#include "fit/driver.hpp"

namespace bayes {
namespace {

/// Random stream of the documents at which passes begin.
constexpr std::uint64_t factor_pass_stream = 12;

/// Updates of a document at its first visit, at later visits, and in the final pass.
constexpr int first_updates = 10, later_updates = 2, final_updates = 5;

/// The cost of a step depends on the terms of its documents, not on all terms: counts are stored up
/// to a common factor, and their sums are kept up to date. If a minibatch has all documents, steps
/// are passes.
class StochasticFactors final : public detail::Iteration {
 public:
  StochasticFactors(const FactorTask &task, FactorState state, int restart, Control &control)
      : task_(task),
        totals_(task.table.documents.totals()),
        plan_(task.options.plan),
        whole_(plan_.batch_rows >= totals_.documents),
        state_(std::move(state)),
        factors_(state_.terms.columns()),
        stride_(std::size_t(state_.terms.stride())),
        posterior_(task.options, state_.terms.rows(), factors_),
        sums_(state_.terms.rows(), factors_, false, false),
        batches_(task.table.documents, plan_.batch_rows,
                 Random(task.options.seed, std::uint64_t(restart), 0, factor_pass_stream)),
        constants_(std::size_t(totals_.documents), 0.0),
        count_sums_(column_sums(state_.terms, control)),
        document_counts_(stride_, 0.0) {
    state_.document_rates.assign(std::size_t(factors_), 1.0);
    state_.term_rates = state_.document_rates;
    grow(state_.documents.here, std::size_t(totals_.documents) * stride_);
    constant_ = log_factorials(task.table.documents, constants_, control);
    balance_rates(state_, totals_.documents, count_sums_, count_sums_);
  }

  RowSums expectation(int, Control &control) override {
    control.poll();
    if (whole_) return {pass(1, control), 0};
    if (visited_ >= 2 * double(state_.terms.rows())) update_factors(control);
    const Minibatch &batch = batches_.next();
    const SweepPlan plan =
        plan_tasks(operations_per_entry(factors_) * double(batch.entries), 1 << 20, control);
    Buffer log_rates(stride_, 0.0);
    for (std::size_t k = 0; k < state_.term_rates.size(); ++k)
      log_rates[k] = std::log(state_.term_rates[k]);
    const TermParameters from = {state_.terms, scale_, state_.term_prior.shape};
    each_term(batch, plan, control,
              [&](std::int32_t key) { posterior_.factors.expect(key, from, log_rates.data()); });
    while (int(slots_.size()) < plan.slots)
      slots_.emplace_back(state_.terms.rows(), factors_, false, false);
    std::vector<NmfLocalStep> steps = steps_of(plan);
    const Buffer inverse = inverse_rates();
    visited_documents_.resize(batch.documents.size() * stride_);
    sums_.clear();
    minibatch_pass(
        batch, plan, slots_, sums_, control,
        [&](int worker, const DocumentTerms &cells, std::int64_t index, DocumentSums &here) {
          double *const counts = visited_documents_.data() + std::size_t(index) * stride_;
          std::copy_n(document(batch.documents[std::size_t(index)]), stride_, counts);
          visit(steps[std::size_t(worker)], cells, inverse, later_updates, counts, here);
        });
    WorkPoll poll;
    for (std::size_t i = 0; i < batch.documents.size(); ++i) {
      std::copy_n(visited_documents_.data() + i * stride_, stride_, document(batch.documents[i]));
      poll(stride_);
    }
    visited_ += double(batch.terms.size());
    share_ = double(totals_.documents) / double(batch.documents.size());
    double bound = bound_of_documents();
    for (const std::int64_t document : batch.documents) bound -= constants_[std::size_t(document)];
    return {share_ * bound, 0};
  }

  double objective() const override {
    return posterior_.sums.bound + bound_of_priors(state_, totals_.documents);
  }

  void update(int index) override {
    const double rho = std::pow(plan_.t0 + index, -plan_.kappa);
    learn(index, rho);
    scale_ *= 1 - rho;
    for (double &sum : count_sums_) sum *= 1 - rho;
    if (scale_ < 1e-100) unscale();
    const double step = rho * share_;
    WorkPoll poll;
    for (std::size_t i = 0; i < sums_.cells.terms().size(); ++i) {
      poll(stride_);
      const std::int32_t j = sums_.cells.terms()[i];
      double *const to = state_.terms.row(j);
      const double *const from = sums_.cells.row(i), *const factors = posterior_.factors.row(j);
      for (std::size_t k = 0; k < stride_; ++k) {
        const double counts = step * (from[k] * factors[k]);
        to[k] += counts / scale_;
        count_sums_[k] += counts;
      }
    }
    balance_rates(state_, totals_.documents, count_sums_, count_sums_);
  }

  void exchange_state(StateNumbers &numbers) override {
    exchange(numbers, state_);
    numbers.numbers(state_.documents.here);
    numbers.number(scale_);
    numbers.numbers(count_sums_);
    numbers.numbers(document_counts_);
    for (double *const each : {&document_digammas_, &share_, &visited_}) numbers.number(*each);
    for (double *const each : {&posterior_.sums.bound, &posterior_.sums.logs})
      numbers.number(*each);
    numbers.numbers(posterior_.sums.means);
    numbers.flag(factored_);
    batches_.exchange(numbers);
  }

  /// Computes the weights of all documents for the final q(v). Returns the bound.
  double finish(Control &control) { return pass(final_updates, control) + objective(); }

  FactorState take() && { return std::move(state_); }

 private:
  static constexpr int steps_before_learning = 20;

  double *document(std::int64_t index) {
    return state_.documents.here.data() + std::size_t(index) * stride_;
  }
  std::vector<NmfLocalStep> steps_of(const SweepPlan &plan) const {
    return std::vector<NmfLocalStep>(std::size_t(plan.threads),
                                     NmfLocalStep(posterior_.factors, state_.document_prior.shape));
  }
  Buffer inverse_rates() const {
    Buffer out(stride_, 1.0);
    for (std::size_t k = 0; k < state_.document_rates.size(); ++k)
      out[k] = 1 / state_.document_rates[k];
    return out;
  }

  /// A document without allocated counts was not visited, or has no cells.
  void visit(NmfLocalStep &step, const DocumentTerms &cells, const Buffer &inverse, int updates,
             double *counts, DocumentSums &here) const {
    const bool fresh = std::all_of(counts, counts + stride_, [](double x) { return x == 0; });
    step.infer(cells, inverse.data(), fresh ? first_updates : updates, fresh, counts, here.totals);
    here.cells.add(cells, step.allocation(), 0, counts);
  }

  /// The bound of the visited documents, with the scales of the factors.
  double bound_of_documents() const {
    double out = sums_.totals.bound();
    WorkPoll poll;
    for (std::size_t i = 0; i < sums_.cells.terms().size(); ++i) {
      out += sums_.term_total(i, posterior_.factors) *
             posterior_.factors.log_scale(sums_.cells.terms()[i]);
      poll(stride_);
    }
    return out;
  }

  /// A pass over all documents. Returns the sum of their bounds.
  double pass(int updates, Control &control) {
    update_factors(control);
    const SweepPlan plan = plan_document_pass(totals_, factors_, control);
    std::vector<NmfLocalStep> steps = steps_of(plan);
    const Buffer inverse = inverse_rates();
    sums_ = document_pass(
        task_.table.documents, plan,
        DocumentSums(state_.terms.rows(), factors_, false, sums_for_all_terms(totals_)), stride_,
        state_.documents.here, control,
        [&](int worker, const DocumentTerms &cells, std::int64_t, double *counts,
            DocumentSums &here) {
          visit(steps[std::size_t(worker)], cells, inverse, updates, counts, here);
        });
    share_ = 1;
    return bound_of_documents() - constant_;
  }

  /// Computes the factors of all terms; steps compute only those of their own.
  void update_factors(Control &control) {
    unscale();
    posterior_.update_factors(state_, control);
    visited_ = 0;
    factored_ = true;
  }

  void unscale() {
    WorkPoll poll;
    for (std::int32_t j = 0; scale_ != 1 && j < state_.terms.rows(); ++j) {
      double *const row = state_.terms.row(j);
      for (std::size_t k = 0; k < stride_; ++k) row[k] *= scale_;
      poll(stride_);
    }
    scale_ = 1;
  }

  /// Sums over all documents are estimated by averages over steps, those of E log w without the
  /// rates, which have changed since.
  void learn(int index, double rho) {
    const double share = index == 0 ? 1 : rho;
    double digammas = 0, of_rates = 0;
    for (std::size_t k = 0; k < state_.document_rates.size(); ++k)
      of_rates += double(totals_.documents) * std::log(state_.document_rates[k]);
    for (std::size_t k = 0; k < stride_; ++k) {
      document_counts_[k] += share * (share_ * sums_.totals.counts[k] - document_counts_[k]);
      if (k < std::size_t(factors_)) digammas += share_ * sums_.cells.logs()[k];
    }
    document_digammas_ += share * (digammas + of_rates - document_digammas_);
    if (!whole_ && index < steps_before_learning) return;
    learn_document_prior(task_, state_, document_counts_, document_digammas_ - of_rates);
    // The expected logs of all terms are computed only now and then.
    if (factored_) learn_term_prior(task_, state_, posterior_.sums);
    factored_ = false;
  }

  const FactorTask &task_;
  const CorpusTotals totals_;
  const StochasticPlan plan_;
  const bool whole_;
  FactorState state_;
  const int factors_;
  const std::size_t stride_;
  TermPosterior posterior_;
  DocumentSums sums_;
  Minibatches batches_;
  std::vector<DocumentSums> slots_;
  /// allocated counts of the documents of the minibatch
  Buffer visited_documents_;
  /// the part of each document's bound that does not depend on q
  Buffer constants_;
  double constant_ = 0;
  /// the allocated counts of the terms are scale_ * state_.terms; count_sums_ are their sums over
  /// terms
  double scale_ = 1;
  Buffer count_sums_;
  /// for learning: estimated sums over all documents of their counts, and of the digammas of their
  /// shapes
  Buffer document_counts_;
  double document_digammas_ = 0;
  double share_ = 1;
  /// the number of terms factored since all terms were last factored
  double visited_ = std::numeric_limits<double>::infinity();
  bool factored_ = false;
};

}  // namespace

FactorRun run_stochastic(const FactorTask &task, FactorState state, const Schedule &schedule,
                         Control &control) {
  StochasticFactors iteration(task, std::move(state), schedule.restart, control);
  FactorRun run;
  static_cast<RunTrace &>(run) = detail::iterate_stochastic(iteration, control, schedule, 50);
  // The estimates in the trace are noisy; the last one, which is compared and reported, is exact.
  run.trace.push_back(iteration.finish(control));
  run.state = std::move(iteration).take();
  return run;
}

}  // namespace bayes
