// Fitting a logistic or probit regression: terms, prior, method, and the results that the model
// keeps.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/message.hpp"
#include "fit/fit_run.hpp"
#include "mcmc/stored_draws.hpp"
#include "regression/binary_gibbs.hpp"
#include "regression/binary_options.hpp"
#include "regression/binary_state.hpp"
#include "regression/normal_tail.hpp"

namespace bayes {
namespace {

/// The largest number of coefficients whose draws are recorded: a model has at most 64 quantities.
constexpr int max_recorded_draws = 60;
/// A term is a linear combination of others if all but this share of its squares is explained.
constexpr double max_explained = 1e-10;
/// A coefficient of a standardised term that has a larger standard deviation is hardly determined
/// by the rows: 1 would already be a change of the odds by e.
constexpr double max_determined = 10;

class BinaryFit {
 public:
  BinaryFit(RowSource &rows, const RowColumns &columns, BinaryOptions options, Control &control,
            BinaryWarnings &warnings)
      : rows_(rows),
        options_(std::move(options)),
        control_(control),
        warnings_(warnings),
        run_(*model_, options_, control) {
    model_->info.columns = columns;
    state().terms = RegressionTerms(columns, rows.shape().dimension - 1, options_.intercept,
                                    options_.reference);
    if (state().terms.size() == 0)
      throw Error(Errc::invalid_argument, "the regression has no terms",
                  "Every column has the same label in all rows, and there is no intercept.");
    options_.reference = state().terms.reference();
    if (options_.reference.as<Document::Object>()->empty()) options_.reference = {};
  }

  std::unique_ptr<BinaryRegression> run() {
    require_room();
    BinaryRows data(rows_, state().terms, control_);
    run_.set_weight(data.weight(), rows_.rows());
    state().scales = data.scales();
    state().observations = data.weight();
    state().parameters = state().terms.size() - int(data.constant().size());
    for (const int term : data.constant()) warnings_.constant.push_back(state().terms.name(term));
    const PriorPrecision precision = prior_precision();
    const auto mode = run_.best_of_restarts(
        data, [&](int) { return first_coefficients(data, options_.link); },
        [&](Vector start, BinaryRows &all) {
          const Schedule &schedule = run_.schedule();
          return options_.method == Method::em
                     ? probit_em(all, precision, std::move(start), schedule, control_)
                     : newton(all, options_.link, precision, std::move(start), schedule, control_);
        });
    state().mean = to_vector(mode.state);
    model_->info.log_likelihood = mode.log_likelihood;
    find_undetermined(data, precision, mode);
    if (options_.sampled())
      sample(data, precision, mode);
    else if (options_.method == Method::em)
      shift_objective(log_units());
    else
      approximate(options_.method == Method::vi ? augmented_precision(data, precision)
                                                : mode.factor);
    run_.describe(rows_.rows(), rows_.skipped(), rows_.shape().dimension - 1, 1,
                  options_.document());
    return std::move(model_);
  }

 private:
  BinaryRegression::State &state() { return *model_->state; }

  /// Names the terms that the rows alone do not determine, from the curvature at the mode: that of
  /// the log-likelihood, and with that of the prior.
  void find_undetermined(BinaryRows &data, const PriorPrecision &precision,
                         const BinaryMode &mode) {
    const Eigen::Index p = mode.factor.rows();
    Matrix left, factor = mode.factor;
    if (options_.method == Method::em) {  // whose factor is not that of the curvature
      left = data.likelihood(options_.link, mode.state, true).curvature;
      if (!cholesky(Matrix(left + Matrix(precision.asDiagonal())), factor)) return;
    } else {
      left = product(factor, Matrix(factor.transpose()));
      left.diagonal() -= precision;
    }
    const Vector whole = left.diagonal();
    const Matrix root = inverse_lower(factor);
    const std::vector<int> &constant = data.constant();
    WorkPoll poll;
    for (Eigen::Index k = 0; k < p; ++k) {
      poll(std::size_t(2 * (p - k) * (p - k)));
      if (std::find(constant.begin(), constant.end(), int(k)) != constant.end()) continue;
      const std::string &name = state().terms.name(int(k));
      // Terms before k have been projected out of it, but for those that depend on others.
      if (!(left(k, k) > max_explained * whole(k) + 1e-13 * precision(k))) {
        if (whole(k) > 1e-6 * precision(k)) warnings_.dependent.push_back(name);
        continue;
      }
      const Vector column = left.col(k).tail(p - k - 1);
      left.bottomRightCorner(p - k - 1, p - k - 1).noalias() -=
          column * column.transpose() / left(k, k);
      if (root.col(k).tail(p - k).norm() > max_determined) warnings_.undetermined.push_back(name);
    }
    // The intercept is that at the centre of the others.
    if (warnings_.undetermined.size() > 1 && data.intercept() &&
        warnings_.undetermined[0] == state().terms.name(0))
      warnings_.undetermined.erase(warnings_.undetermined.begin());
  }

  void require_room() {
    const double p = state().terms.size();
    const std::string what = message("a regression of {} terms", state().terms.size());
    // Matrices, partial sums, and three copies of the model: itself, a document and its bytes.
    const double draws = options_.sampled() ? double(collected_draws(options_.chains, 1 << 20)) : 0;
    require_memory({what,
                    8 * p * p * (8 + control_.threads) + 24 * p * draws,
                    "rows",
                    {},
                    "or leave out columns."},
                   control_);
    // A number takes some 20 bytes in the model's text, which must fit into a value too.
    require_model_size(what, 20.0 / 8 * p * std::max(p / 2, draws), "Leave out columns.");
  }

  /// Prior precisions of the coefficients u of z. The coefficient of a column itself is u / scale.
  PriorPrecision prior_precision() const {
    const BinaryRegression::State &s = *model_->state;
    Vector out(s.terms.size());
    const double variance = options_.prior_variance();
    for (int j = 0; j < s.terms.size(); ++j) {
      const double scale = options_.scaled() ? 1 : s.scales.scale[std::size_t(j)];
      // Divided one by one, because the product of variance and squared scale may overflow.
      out(j) =
          s.terms[j].column < 0 ? 1 / options_.intercept_variance : 1 / variance / scale / scale;
    }
    return out;
  }

  /// The log Jacobian that is added to the log density of the coefficients of z to give that of the
  /// coefficients of the columns themselves.
  double log_units() const {
    double out = 0;
    for (const double scale : model_->state->scales.scale) out += std::log(scale);
    return out;
  }

  void shift_objective(double by) {
    for (double &value : model_->trace.back()) value += by;
    model_->info.objective = model_->trace.back().back();
  }

  /// Stores the normal approximation about the mode whose precision A has this Cholesky factor, and
  /// completes the objective. The trace ends with the log joint density at the mode: by Laplace's
  /// method log p(y) is about log p(y, u) + p / 2 log(2 pi) - log |A| / 2. With the precision of
  /// q(u) that is exactly the variational bound (002 L6).
  void approximate(const Matrix &factor) {
    const double p = double(factor.rows());
    double shift = p * half_log_two_pi;
    for (Eigen::Index j = 0; j < factor.rows(); ++j) shift -= std::log(factor(j, j));
    shift_objective(shift);
    const Matrix root = inverse_lower(factor);
    std::vector<double> &packed = state().root;
    packed.reserve(std::size_t(p * (p + 1) / 2));
    for (Eigen::Index i = 0; i < root.rows(); ++i)
      for (Eigen::Index j = 0; j <= i; ++j) packed.push_back(root(i, j));
  }

  void sample(BinaryRows &data, const PriorPrecision &precision, const BinaryMode &mode) {
    model_->trace.clear();
    const std::size_t p = state().size();
    const int recorded = int(p) <= max_recorded_draws ? int(p) : 0;
    const bool logit = options_.link == Link::logit;
    const Matrix root = logit ? Matrix() : inverse_lower(augmented_precision(data, precision));
    const auto record = [this, recorded](const Vector &u) {
      std::vector<double> out;
      for (int j = 0; j < recorded; ++j) out.push_back(without_rounding_errors(of_column(u, j)));
      return out;
    };
    std::vector<double> draws;
    const DrawMoments none{Eigen::Index(p)};
    DrawMoments moments = none, of_chain = none;
    const BinaryTask task{data,        precision,
                          log_units(), root,
                          mode,        options_.seed,
                          record,      draws,
                          of_chain,    [this](const Vector &u) { return of_column(u, 0); }};
    ChainSettings settings;
    settings.method = "gibbs";
    settings.plan = options_.chains;
    settings.quantities = {"log_likelihood"};
    for (int j = 1; j <= recorded; ++j) settings.quantities.push_back(message("w{}", j));
    const auto held = std::int64_t(max_stored_numbers / double(p));
    settings.max_stored_draws = collected_draws(options_.chains, held);
    settings.max_held_draws = held_for_extension(double(p), held);
    settings.max_kept_draws = options_.chains.all_stored();
    settings.retain = [&draws, p](std::span<const int>, std::span<const int> stored) {
      retain(draws, stored, p);
    };
    settings.exchange = [&](StateNumbers &numbers, int, std::int64_t, std::int64_t stored) {
      const std::size_t count = std::size_t(stored) * p;
      numbers.require(count);
      if (numbers.reads()) draws.resize(draws.size() + count);
      numbers.numbers(std::span(draws).last(count));
      of_chain.exchange(numbers);
    };
    settings.end_chain = [&] {
      moments.merge(of_chain);
      of_chain = none;
    };
    ChainRun chains = run_chains(settings, control_, [&](int chain) {
      return logit ? logit_chain(task, chain) : probit_chain(task, chain);
    });
    keep(chains, draws, moments, data);
    run_.take(std::move(chains));
    // The largest log-likelihood of the draws is no evidence.
    model_->info.objective = std::numeric_limits<double>::quiet_NaN();
  }

  /// Coefficient j in units of the columns (as in binary_regression.cpp).
  double of_column(const Vector &u, int j) {
    const TermScales &scales = state().scales;
    if (state().terms[j].column >= 0) return u(j) / scales.scale[std::size_t(j)];
    double out = u(j);
    for (int i = 1; i < u.size(); ++i)
      out -= u(i) * scales.centre[std::size_t(i)] / scales.scale[std::size_t(i)];
    return out;
  }

  /// Stores some of the collected draws in the model; means and deviations are those of all draws.
  void keep(const ChainRun &chains, const std::vector<double> &draws, const DrawMoments &moments,
            BinaryRows &data) {
    const std::size_t p = state().size(), count = draws.size() / p;
    Vector mean = moments.mean();
    if (data.intercept()) {
      // converts the intercept in units of the columns back to u_0
      const double own = mean(0);
      mean(0) = 0;
      mean(0) = own - of_column(mean, 0);
    }
    state().mean = to_vector(mean);
    state().deviations = to_vector(moments.deviation());
    model_->info.log_likelihood = data.likelihood(options_.link, mean, false).log_likelihood;
    for (const int draw :
         draws_to_store(chains, std::int64_t(count), double(draws.size()), control_)) {
      const auto first = draws.begin() + std::ptrdiff_t(std::size_t(draw) * p);
      state().draws.insert(state().draws.end(), first, first + std::ptrdiff_t(p));
    }
  }

  RowSource &rows_;
  BinaryOptions options_;
  Control &control_;
  BinaryWarnings &warnings_;
  std::unique_ptr<BinaryRegression> model_ = std::make_unique<BinaryRegression>(options_.link);
  FitRun run_;
};

}  // namespace

RowOptions binary_check_options(Link link, const Document &options) {
  return read_binary_options(link, options).rows();
}

std::unique_ptr<BinaryRegression> binary_fit(Link link, RowSource &rows, const RowColumns &columns,
                                             const Document &options, Control &control,
                                             BinaryWarnings &warnings) {
  const PollScope scope(control);
  BinaryOptions read = read_binary_options(link, options);
  if (rows.rows() == 0) throw Error(Errc::invalid_argument, "there are no rows to fit");
  if (read.sampled() && rows.shape().weighted)
    throw Error(
        Errc::invalid_argument, "method gibbs takes no weights",
        "It draws a latent variable for every row, which has no meaning for a row that counts "
        "two and a half times.",
        "Use method laplace, or repeat rows by FROM t, generate_series(1, t.count).");
  return BinaryFit(rows, columns, std::move(read), control, warnings).run();
}

}  // namespace bayes
