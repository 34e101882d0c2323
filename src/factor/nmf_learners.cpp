#include "factor/nmf_learners.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "counts/passes.hpp"
#include "data/pass.hpp"
#include "factor/nmf_statistics.hpp"
#include "fit/driver.hpp"

namespace bayes {
namespace {

/// Updates of a document in the first pass and in later ones, which continue from the last state;
/// and in a pass that finds no last state of it (PartOfDocuments).
constexpr int first_pass_updates = 10, pass_updates = 1, lost_updates = 100;

/// The local step of all documents.
struct FactorPass {
  static constexpr const char *name = "factors";
  using Sums = DocumentSums;
  const TermFactors *factors = nullptr;
  WeightGamma prior = {};
  /// 1 / r, 1 in the padding, unless documents have own rates
  Buffer common = {};
  /// sums of the expected weights of all terms, and if cells may be missing those of each
  Buffer sums = {};
  const PaddedMatrix *means = nullptr;
  bool own = false, missing = false;
  int updates = 0;
  /// as FactorState::documents
  PassNumbers documents = {};
  /// those of a request
  std::optional<TermFactors> asked_factors = {};
  PaddedMatrix asked_means = {};

  template <class F> void fields(F &f, Corpus &corpus);
  void keep(PartOfDocuments &part, const PassReader &request, Control &control) {
    documents.keep(part, request, width(), control);
    if (documents.lost()) updates = lost_updates;
  }
  Sums nothing(Corpus &) const { return {factors->values().rows(), components(), missing, false}; }
  Sums here(Corpus &corpus, Control &control) const;

 private:
  int components() const { return factors->values().columns(); }
  std::size_t stride() const { return std::size_t(factors->values().stride()); }
  /// numbers of a document
  std::size_t width() const { return own ? 2 * stride() : stride(); }

  /// Computes 1 / r for a document with own rates. Returns the contribution of its scale to the
  /// bound.
  double find_rates(const DocumentTerms &cells, bool fresh, const double *counts,
                    double *inverse) const {
    const int all = components();
    double rate = prior.rate, bound = 0;
    if (prior.hierarchical()) {
      double weights = 0;
      for (int k = 0; !fresh && k < all; ++k) weights += (prior.shape + counts[k]) * inverse[k];
      const ScalePosterior scale =
          fresh ? ScalePosterior(prior, all) : ScalePosterior(prior, all, weights);
      rate = scale.mean();
      bound = scale.bound(prior, all);
    }
    std::fill_n(inverse, stride(), 0.0);
    if (missing) {
      WorkPoll poll;
      for (const std::int32_t key : cells.terms) {
        const double *const mean = means->row(key);
        for (std::size_t k = 0; k < stride(); ++k) inverse[k] += mean[k];
        poll(stride());
      }
    } else {
      std::copy_n(sums.data(), stride(), inverse);
    }
    for (std::size_t k = 0; k < stride(); ++k) {
      const double r = rate + inverse[k];
      inverse[k] = k < std::size_t(all) ? (r > 0 ? 1 / r : 0) : 1;
    }
    return bound;
  }
};

template <class F> void FactorPass::fields(F &f, Corpus &corpus) {
  const std::int32_t terms = corpus.totals().vocabulary;
  if constexpr (F::reading) {
    asked_factors.emplace(
        TermFactors::of_message(PassReader(f.document()).member("factors"), terms));
    factors = &*asked_factors;
    common.assign(stride(), 1.0);
    sums.assign(stride(), 0.0);
  } else {
    f.document().set("factors", factors->message());
    documents.name(*corpus.remote(), f.document());
  }
  std::vector<double> of_prior{prior.shape, prior.rate, prior.scale_shape};
  f.values("prior", of_prior);
  prior = {of_prior[0], of_prior[1], of_prior[2]};
  f.values("common", std::span(common).first(std::size_t(components())));
  f.values("sums", std::span(sums).first(std::size_t(components())));
  for (const std::span<const double> numbers :
       {std::span<const double>(of_prior), {common}, {sums}})
    for (const double x : numbers) f.require(x >= 0 && std::isfinite(x));
  f.flag("own", own);
  f.flag("missing", missing);
  f.require(own || !missing);
  f.integer("updates", updates, 0, 1000);
  if (!missing) return;
  if constexpr (F::reading) {
    asked_means = PaddedMatrix(terms, components());
    read_rows(PassReader(f.document()), "means", asked_means);
    means = &asked_means;
  } else {
    f.document().set("means", rows_document(*means));
  }
}

DocumentSums FactorPass::here(Corpus &corpus, Control &control) const {
  const PassNumbers::Here counts_of = documents.here(corpus, width());
  if (!counts_of.numbers) PassReader::refuse();
  const bool fresh = counts_of.fresh;
  const SweepPlan plan = plan_document_pass(corpus.totals(), components(), control);
  struct Memory {
    NmfLocalStep step;
    Buffer ones, weights, none, common;
  };
  std::vector<Memory> memory(std::size_t(plan.threads), {NmfLocalStep(*factors, prior.shape),
                                                         {},
                                                         Buffer(stride(), 0.0),
                                                         Buffer(stride(), 0.0),
                                                         common});
  return document_pass(
      corpus, plan,
      DocumentSums(factors->values().rows(), components(), missing,
                   sums_for_all_terms(corpus.totals())),
      width(), *counts_of.numbers, control,
      [&](int worker, const DocumentTerms &cells, std::int64_t, double *counts, DocumentSums &to) {
        Memory &m = memory[std::size_t(worker)];
        double *const inverse = own ? counts + stride() : m.common.data();
        if (own) to.totals.bounds[0] += find_rates(cells, fresh, counts, inverse);
        m.step.infer(cells, inverse, updates, fresh, counts, to.totals);
        to.cells.add(cells, m.step.allocation(), 0, counts);
        if (!own) return;
        for (std::size_t k = 0; k < std::size_t(components()); ++k)
          to.weights[k] += m.weights[k] = (prior.shape + counts[k]) * inverse[k];
        if (!missing) return;
        if (m.ones.size() < cells.size()) m.ones.resize(cells.size(), 1.0);
        to.weights_of_cells->add(cells, {m.ones.data(), m.weights.data(), m.none.data()}, 0,
                                 counts);
      });
}

/// Variational inference, or EM with points, in passes over all documents.
class PoissonFactors final : public detail::Iteration {
 public:
  PoissonFactors(const FactorTask &task, FactorState state, Control &control)
      : task_(task),
        gamma_(task.options.gamma()),
        missing_(task.options.missing_cells),
        own_(task.options.own_rates()),
        state_(std::move(state)),
        factors_(state_.terms.columns()),
        stride_(std::size_t(state_.terms.stride())),
        posterior_(task.options, state_.terms.rows(), factors_),
        statistics_(0, factors_, missing_, false),
        constant_([&] {
          Buffer none;
          return -log_factorials(task.table.documents, none, control);
        }()) {
    state_.document_rates.assign(std::size_t(factors_), 1.0);
    state_.term_rates = state_.document_rates;
    const Buffer sums = column_sums(state_.terms, control);
    if (gamma_)
      balance_rates(state_, document_count(), sums, sums);
    else if (!missing_)
      normalise(sums);
    if (gamma_ && own_ && state_.own_term_rates.rows() == 0) begin_own_rates();
  }

  RowSums expectation(int index, Control &control) override {
    control_ = &control;
    posterior_.update_factors(state_, control);
    Buffer common(stride_, 1.0);
    for (std::size_t k = 0; k < state_.document_rates.size(); ++k) {
      state_.document_rates[k] = state_.document_prior.rate + posterior_.sums.means[k];
      common[k] = 1 / state_.document_rates[k];
    }
    const int updates = index == 0 && state_.documents.empty() ? first_pass_updates : pass_updates;
    statistics_ = run(task_.table.documents,
                      FactorPass{&posterior_.factors, state_.document_prior, std::move(common),
                                 posterior_.sums.means, &posterior_.means, own_, missing_, updates,
                                 &state_.documents},
                      control);
    return {statistics_.totals.bound() + log_scales(), 0};
  }

  double objective() const override {
    if (!gamma_) return constant_;
    return constant_ + posterior_.sums.bound + bound_of_priors(state_, document_count());
  }

  void update(int) override {
    if (gamma_ && !own_) {
      const Buffer &logs = statistics_.cells.logs();
      learn_document_prior(task_, state_, statistics_.totals.counts,
                           std::accumulate(logs.begin(), logs.begin() + factors_, 0.0));
      learn_term_prior(task_, state_, posterior_.sums);
    }
    update_counts();
    if (own_)
      gamma_ ? update_own_rates() : divide_by_weights();
    else if (const Buffer sums = column_sums(state_.terms, *control_); gamma_)
      balance_rates(state_, document_count(), sums, statistics_.cells.counts());
    else
      normalise(sums);
  }

  void exchange_state(StateNumbers &numbers) override {
    exchange(numbers, state_);
    numbers.optional_list(state_.documents.here,
                          std::size_t(document_count()) * (own_ ? 2 : 1) * stride_);
    numbers.optional_list(term_totals_, std::size_t(state_.terms.rows()));
  }

  FactorState take() && { return std::move(state_); }

 private:
  std::int64_t document_count() const { return task_.table.documents.totals().documents; }

  /// The contribution of the scales of the factors to the bound: for each term log_scale times the
  /// sum of its cells.
  double log_scales() {
    if (term_totals_.empty()) sum_terms();
    double out = 0;
    for (std::int32_t j = 0; j < state_.terms.rows(); ++j)
      out += term_totals_[std::size_t(j)] * posterior_.factors.log_scale(j);
    return out;
  }
  void sum_terms() {
    term_totals_.assign(std::size_t(state_.terms.rows()), 0.0);
    WorkPoll poll;
    for (std::size_t i = 0; i < statistics_.cells.terms().size(); ++i) {
      const std::int32_t j = statistics_.cells.terms()[i];
      term_totals_[std::size_t(j)] = statistics_.term_total(i, posterior_.factors);
      poll(stride_);
    }
  }

  void update_counts() {
    std::fill(state_.terms.values().begin(), state_.terms.values().end(), 0.0);
    const AllocationSums &cells = statistics_.cells;
    WorkPoll poll;
    for (std::size_t i = 0; i < cells.terms().size(); ++i) {
      poll(stride_);
      const std::int32_t j = cells.terms()[i];
      double *const to = state_.terms.row(j);
      const double *const from = cells.row(i), *const factors = posterior_.factors.row(j);
      for (std::size_t k = 0; k < stride_; ++k) to[k] = from[k] * factors[k];
    }
  }

  void begin_own_rates() {
    state_.own_term_rates = PaddedMatrix(state_.terms.rows(), factors_);
    WorkPoll poll;
    for (std::int32_t j = 0; j < state_.terms.rows(); ++j) {
      std::copy(state_.term_rates.begin(), state_.term_rates.end(), state_.own_term_rates.row(j));
      poll(stride_);
    }
    if (state_.term_prior.hierarchical())
      state_.term_scales.assign(std::size_t(state_.terms.rows()),
                                ScalePosterior(state_.term_prior, factors_).rate);
  }

  /// Updates the rates of each term, and the q of its scale.
  void update_own_rates() {
    const WeightGamma &prior = state_.term_prior;
    WorkPoll poll;
    if (missing_) {
      for (std::int32_t j = 0; j < state_.terms.rows(); ++j) {
        std::fill_n(state_.own_term_rates.row(j), factors_, 0.0);
        poll(stride_);
      }
      const AllocationSums &weights = *statistics_.weights_of_cells;
      for (std::size_t i = 0; i < weights.terms().size(); ++i) {
        std::copy_n(weights.row(i), factors_, state_.own_term_rates.row(weights.terms()[i]));
        poll(stride_);
      }
    }
    for (std::int32_t j = 0; j < state_.terms.rows(); ++j) {
      double *const rates = state_.own_term_rates.row(j);
      if (!missing_) std::copy_n(statistics_.weights.data(), factors_, rates);
      ScalePosterior scale(prior, factors_);
      if (prior.hierarchical()) scale.rate = state_.term_scales[std::size_t(j)];
      const double rate = prior.hierarchical() ? scale.mean() : prior.rate;
      double weights = 0;
      for (int k = 0; k < factors_; ++k) {
        rates[k] += rate;
        weights += (prior.shape + state_.terms.row(j)[k]) / rates[k];
      }
      if (prior.hierarchical())
        state_.term_scales[std::size_t(j)] = ScalePosterior(prior, factors_, weights).rate;
      poll(4 * stride_);
    }
  }

  /// Point estimates if cells may be missing: the counts of a term divided by the weights of the
  /// documents that have it. Factors without weight stay 0.
  void divide_by_weights() {
    const AllocationSums &weights = *statistics_.weights_of_cells;
    WorkPoll poll;
    for (std::size_t i = 0; i < weights.terms().size(); ++i) {
      double *const points = state_.terms.row(weights.terms()[i]);
      for (std::size_t k = 0; k < std::size_t(factors_); ++k)
        points[k] = weights.row(i)[k] > 0 ? points[k] / weights.row(i)[k] : 0;
      poll(stride_);
    }
  }

  /// Scales the points of each factor to a sum of 1: then allocated counts of documents are their
  /// weights.
  void normalise(const Buffer &sums) {
    WorkPoll poll;
    for (std::int32_t j = 0; j < state_.terms.rows(); ++j) {
      poll(stride_);
      for (std::size_t k = 0; k < std::size_t(factors_); ++k) {
        double &v = state_.terms.row(j)[k];
        v = sums[k] > 0 ? v / sums[k] : 1.0 / state_.terms.rows();
      }
    }
  }

  const FactorTask &task_;
  const bool gamma_, missing_, own_;
  FactorState state_;
  const int factors_;
  const std::size_t stride_;
  TermPosterior posterior_;
  DocumentSums statistics_;
  /// the sum of the cells of each term
  std::vector<double> term_totals_;
  const double constant_;
  Control *control_ = nullptr;
};

}  // namespace

void exchange(StateNumbers &numbers, FactorState &state) {
  numbers.numbers(state.terms.values());
  numbers.numbers(state.own_term_rates.values());
  for (std::vector<double> *const list :
       {&state.document_rates, &state.term_rates, &state.term_scales})
    numbers.numbers(*list);
  for (WeightGamma *const prior : {&state.document_prior, &state.term_prior}) {
    numbers.number(prior->shape);
    numbers.number(prior->rate);
  }
}

double factor_run_doubles(const FactorTable &table, const NmfOptions &options,
                          const Control &control) {
  const CorpusTotals &totals = table.documents.totals();
  const double stride = padded_size(options.k), terms = double(totals.vocabulary) * stride,
               documents = double(totals.documents) * stride;
  const double slots = double(max_slots(control)) *
                       std::min(double(totals.vocabulary),
                                double(piece_entries(totals.vocabulary) + totals.most_entries)) *
                       stride;
  // A fit that can be resumed copies its state before every pass, and records it.
  const int states = (options.restarts > 1 ? 2 : 1) + (options.resumable ? 2 : 0);
  double batch = 0;
  if (options.stochastic()) {
    // the cells and the weights of a minibatch, and a constant for every document
    const double n = double(totals.documents);
    batch = n + std::min(double(options.plan.batch_rows), n) *
                    (stride + 3 * double(totals.entries) / std::max(1.0, n));
  }
  // terms, factors or products, statistics; own rates, and what missing cells need
  const double tables = options.missing_cells ? 2 : 1,
               own = options.own_rates() ? states * (terms + documents) : 0;
  return states * (terms + documents) + own + batch + (1 + 2 * tables) * terms +
         tables * std::min(slots, 2e6 + 2 * double(control.threads) * terms);
}

const PassOver<PartOfDocuments> factor_pass = pass_over<PartOfDocuments, FactorPass>();

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
