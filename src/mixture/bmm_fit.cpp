// Fitting a Bernoulli mixture: survey of the rows, default prior, starting points, learner, and the
// fitted model.
#include <cmath>

#include "document/members.hpp"
#include "families/product/product_prior.hpp"
#include "families/product/product_response.hpp"
#include "families/product/product_starts.hpp"
#include "mixture/bmm_options.hpp"
#include "mixture/bmm_state.hpp"
#include "mixture/finite_fit.hpp"

namespace bayes {
namespace {

class BmmFit {
 public:
  BmmFit(RowSource &rows, int k, const BmmOptions &options, const BernoulliMixture *start,
         bool update, Control &control)
      : options_(options),
        k_(k),
        update_(update),
        control_(control),
        run_(*model_, options, control),
        rows_(rows, k, options.seed, control),
        survey_(survey(start)),
        floor_{options.minimum, survey_.variance, survey_.constant},
        neutral_(make_product_prior(survey_, likelihood(), {}, k)),
        fit_(run_, rows_, k, options,
             {[this](int restart) { return starting_statistics(restart); },
              [this](const ProductStatistics &statistics) { return first_point(statistics); },
              [this](std::int64_t i, std::int64_t j) { return halves(i, j); }}) {
    check_memory();
    if (!(survey_.weight > survey_.unobserved))
      throw Error(Errc::invalid_argument, "all elements of all rows are missing",
                  "There are no observed values to fit.");
    options.order.check(rows.shape().dimension, survey_.columns.get());
    if (options.linear_response.value_or(false))
      require_linear_response_size(natural_size(neutral_) * k + k);
    if (!update) rows_.require_distinct_rows(k);
    run_.set_weight(survey_.weight, rows.rows());
    rows_.set_weight(survey_.weight);
    own_prior_ = make_product_prior(survey_, likelihood(), options.prior, k);
    if (options.method == Method::map) require_mode(own_prior_);
    fit_.prior = {Vector::Constant(k, options.alpha), replicate(own_prior_, k)};
    if (!start) return;
    const BernoulliMixture::State &from = *start->state;
    fit_.start_point = {from.point.weights,
                        widened(from.point.components, from.counts, own_prior_)};
    if (from.posterior)
      fit_.start_posterior = {from.posterior->alpha,
                              widened(from.posterior->components, own_prior_)};
    if (update) fit_.prior = *fit_.start_posterior;
  }

  std::unique_ptr<BernoulliMixture> run() {
    fit_.fit(floor_);
    BernoulliMixture::State &state = *model_->state;
    if (const Vector found = options_.corrected() ? fit_.linear_response() : Vector();
        found.size()) {
      state.deviations = named_deviations(*survey_.columns, found.tail(found.size() - k_));
      state.weight_deviations = found.head(k_);
    }
    const RowSums sums = fit_.score_point();
    const std::vector<int> order = fit_.order_by(options_.order, fit_.found.point.weights);
    if (state.deviations) {
      state.deviations = pick_columns(*state.deviations, order);
      state.weight_deviations = pick_entries(*state.weight_deviations, order);
    }
    state.point = std::move(fit_.found.point);
    state.posterior = std::move(fit_.found.posterior);
    state.draws = std::move(fit_.found.draws);
    Document options = options_.document();
    if (options_.bayesian() && !update_) {
      Document prior = Document::object();
      prior.set("alpha", options_.alpha);
      prior.set_all(product_prior_options(own_prior_, likelihood()));
      options.set("prior", std::move(prior));
    }
    fit_.finish(*model_, state, sums, std::move(options));
    state.leave_out(survey_.unobserved, state.point.weights);
    return std::move(model_);
  }

 private:
  const std::vector<ColumnSpec> &likelihood() const { return options_.likelihood; }

  /// Surveys the distinct rows if they are known. If one is invalid, surveys all rows, so that the
  /// message has its number among these.
  ProductSurvey survey(const BernoulliMixture *start) {
    const auto of = [&](RowSource &rows) {
      return start ? survey_product(
                         rows,
                         with_categories_of(rows, start->state->point.components.columns, control_),
                         control_)
                   : survey_product(rows, likelihood(), options_.categories, control_);
    };
    try {
      ProductSurvey out = of(rows_.data);
      if (rows_.all.remote()) require_allowed_sample(rows_.sample, *out.columns, control_);
      return out;
    } catch (const Error &) {
      if (&rows_.data != &rows_.all) of(rows_.all);
      throw;
    }
  }

  void check_memory() const {
    const ColumnOffsets &each = survey_.columns->size();
    const double doubles = double(k_) * (each.posterior + 2.0 * survey_.columns->count());
    require_model_size(
        std::to_string(k_) + " components of " + std::to_string(each.posterior) + " numbers",
        doubles, "Use a smaller k.");
    // Parameters before and after a step, the prior, their scores, statistics and, lane by lane, a
    // share of them for every thread.
    const double bytes =
        8 * double(k_) *
        (6.0 * each.posterior +
         (1 + control_.threads) * ProductScorer::sums_per_component(*survey_.columns));
    require_memory({.what = std::to_string(k_) + " components of " +
                            std::to_string(survey_.columns->count()) + " elements",
                    .bytes = bytes},
                   control_);
  }

  /// Every component begins with a row drawn from the sample, and gets all rows of the sample that
  /// this component explains best.
  ProductStatistics starting_statistics(int restart) {
    if (!starts_) starts_.emplace(rows_.sample, *survey_.columns, survey_.variance);
    Random random(options_.seed, std::uint64_t(restart));
    const bool anywhere =
        options_.init == "random" || (options_.init == "varied" && restart % 2 == 0);
    const ProductPosterior started =
        one_row_posteriors(starts_->rows(anywhere ? starts_->anywhere(k_, random)
                                                  : starts_->spread(k_, random, control_)),
                           neutral_);
    return local_step<HardAllocation>(rows_.sample, control_, make_scorer(started),
                                      std::vector<double>(std::size_t(k_), 0.0))
        .statistics;
  }

  std::vector<int> halves(std::int64_t i, std::int64_t j) {
    if (!starts_) starts_.emplace(rows_.sample, *survey_.columns, survey_.variance);
    std::vector<int> labels(std::size_t(rows_.sample.rows()));
    local_step<HardAllocation>(rows_.sample, control_,
                               make_scorer(one_row_posteriors(starts_->rows({i, j}), neutral_)),
                               {0.0, 0.0}, {labels.data()});
    return labels;
  }

  /// Posterior means instead of modes, so that no probability begins at 0 or 1, which EM would
  /// never leave.
  ProductPoint first_point(const ProductStatistics &statistics) const {
    return point_estimate(posterior(statistics, replicate(neutral_, k_)));
  }

  const BmmOptions &options_;
  const int k_;
  const bool update_;
  Control &control_;
  std::unique_ptr<BernoulliMixture> model_ = std::make_unique<BernoulliMixture>();
  FitRun run_;
  FiniteRows rows_;
  ProductSurvey survey_;
  ProductFloor floor_;
  ProductPosterior neutral_;    // the default prior of one component
  ProductPosterior own_prior_;  // the prior in force; in an update, that of new categories
  std::optional<ProductStarts> starts_;
  FiniteFit<ProductPoint, ProductPosterior> fit_;
};

std::unique_ptr<BernoulliMixture> fit(RowSource &rows, int k, const BmmOptions &options,
                                      const BernoulliMixture *start, bool update,
                                      Control &control) {
  const PollScope scope(control);
  require_rows(rows, "a Bernoulli mixture", bmm_max_dimension, start);
  BmmOptions settled = options;
  settled.settle_restarts(finite_effort(rows, double(k) * rows.shape().dimension, k, options),
                          min_restarts, max_restarts);
  return BmmFit(rows, k, settled, start, update, control).run();
}

}  // namespace

RowOptions bmm_check_options(int k, const Document &options, const BernoulliMixture *start,
                             bool update) {
  const int ks[] = {start ? start->size() : k};
  return read_bmm_options(ks, options, start, update).rows();
}

RowOptions bmm_check_select_options(std::span<const int> ks, const Document &options) {
  return read_bmm_options(ks, options, nullptr, false).rows();
}

std::unique_ptr<BernoulliMixture> bmm_fit(RowSource &rows, int k, const Document &options,
                                          const BernoulliMixture *start, bool update,
                                          Control &control) {
  const int ks[] = {start ? start->size() : k};
  return fit(rows, ks[0], read_bmm_options(ks, options, start, update), start, update, control);
}

void bmm_select(RowSource &rows, std::span<const int> ks, const Document &options, Control &control,
                const std::function<void(std::unique_ptr<BernoulliMixture>)> &emit,
                const std::function<void(int k, const Error &)> &failed) {
  const BmmOptions read = read_bmm_options(ks, options, nullptr, false);
  SharedTime time(options, ks.size(), control);
  for (const int k : ks)
    time.select(
        k, [&] { return fit(rows, k, read, nullptr, false, control); }, emit, failed);
}

}  // namespace bayes
