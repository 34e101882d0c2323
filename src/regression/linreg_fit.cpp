// Fitting a linear regression from its sufficient statistics.

#include "regression/linreg_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/random.hpp"
#include "document/members.hpp"
#include "mcmc/draw_moments.hpp"
#include "mcmc/stored_draws.hpp"
#include "regression/linreg.hpp"
#include "regression/linreg_problem.hpp"
#include "regression/terms.hpp"

namespace bayes {
namespace {

constexpr double largest_option = 1e300;

}  // namespace

LinregOptions::LinregOptions() {
  method = Method::exact;
  missing = "skip";
  restarts = 1;
}

void LinregOptions::prior_lines(OptionTable &t) {
  // 0 is a flat prior, which is improper: there is no evidence then.
  t.number({"lambda", "precision of the coefficients", "", "by the data"}, lambda,
           exact() ? OptionRange{0, largest_option} : above(0, largest_option));
  t.number({"c", "the same, divided by that of the noise, in the place of lambda"}, c,
           {0, largest_option}, exact() && !known_noise());
  if (t.reads() && lambda && c)
    throw Error(Errc::invalid_argument, "prior.lambda and prior.c are both given",
                "Each is a precision of the coefficients: c in units of the noise's precision.",
                "Leave one out.");
  const OptionRange noise = exact() ? OptionRange{0, largest_option} : above(0, largest_option);
  t.number({"a", "shape of the gamma prior of the precision of the noise", "", "by the data"}, a,
           noise, !known_noise());
  t.number({"b", "rate of the gamma prior of the precision of the noise", "", "by the data"}, b,
           noise, !known_noise());
  const std::string of_e = describe_number(default_e);
  t.number({"e", "shape of the gamma prior of lambda", {}, of_e}, e, above(0, largest_option),
           learns_lambda());
  t.number({"f", "rate of the gamma prior of lambda", "", "by the data"}, f,
           above(0, largest_option), learns_lambda());
}

void LinregOptions::lines(OptionTable &t) {
  method_line(t, linreg_methods);
  t.number({"noise_variance", "variance of the noise, if it is known", "", "learned"},
           noise_variance, above(0, largest_option), exact());
  t.boolean(intercept_key, intercept);
  t.other(
      reference_key,
      [&](const Document &given) {
        check_reference(given);
        reference = given;
      },
      [&] {
        const auto *const members = reference.as<Document::Object>();
        return members && !members->empty() ? reference : Document();
      });
  t.flag({"ard", "whether each coefficient has a precision of its own"}, ard, !exact());
  if (exact()) {
    chains.lines(t, false);
    t.integer(max_iter_key, max_iterations, 1, 1, false);
    t.number(tol_key, tolerance, {0, 1}, false);
  } else {
    iteration_lines(t);
  }
  chains.stored_line(t, sampled());
  common_lines(t, {"skip", "error"}, false);
  prior_line(
      t,
      [&](const Document &given, bool) {
        OptionTable inner = OptionTable::reading(given, "prior.");
        prior_lines(inner);
        inner.finish(known_noise() ? "known noise" : setting());
      },
      [&] {
        OptionTable inner = OptionTable::writing();
        prior_lines(inner);
        return inner.document();
      },
      true);
  // A given prior precision refers to the coefficients in the units of the columns.
  if (t.reads()) standardize = !lambda && !c;
  t.boolean(standardize_key, standardize);
}

LinregOptions LinregOptions::read(const Document &options) {
  require_object(options, R"({"method": "vi"})");
  LinregOptions out;
  OptionTable t = OptionTable::reading(options);
  out.lines(t);
  t.finish(out.setting());
  return out;
}

Document LinregOptions::document() const {
  LinregOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  in_force.lines(t);
  return t.document();
}

namespace {

void require_room(const LinregSystem &system, const LinregOptions &options,
                  const Control &control) {
  const double p = system.size + 1, wide = 16 * p * p;
  const std::string what = message("a linear regression of {} terms", system.size);
  require_memory({what,
                  (options.exact() ? 4 : 3) * wide + (options.exact() ? 0 : 6 * 8 * p * p),
                  "statistics",
                  {},
                  "or combine rare labels."},
                 control);
  // A number takes some 20 bytes in the model's text.
  require_model_size(what, 20.0 / 8 * p * p / 2, "Combine rare labels into one.");
}

/// A single row can be fitted, by the prior alone; other weights that add up to so little are taken
/// for a mistake.
void require_weight(const LinregSystem &system) {
  const double n = system.observations();
  if (n > 0 || (n == 0 && system.rows == 1)) return;
  throw Error(
      Errc::numeric,
      message("the weights of {} row{} add up to {}, which is too little to estimate a variance",
              system.rows, system.rows == 1 ? "" : "s", system.weight),
      "A weight is the number of times that its row counts, not a share of the whole.",
      "Multiply the weights so that they add up to the number of rows.");
}

/// Throws for columns whose products, coefficients or variances are so far from 1 that they would
/// lose digits or overflow.
void require_magnitudes(const LinregSystem &system) {
  // powers of 2: of the square root of a sum of squares, and of the ratio of two such roots
  constexpr int least = -400, max_ratio_exponent = 400;
  const auto refuse = [&](int i, const std::string &how) {
    throw Error(
        Errc::numeric,
        message("{} {}",
                i == system.size ? "the response"
                                 : message("predictor {}", describe(Document(system.name(i)))),
                how),
        "Results, or their squares, would be out of the range of float8.",
        "Rescale: multiply or divide the response, or the predictor, by a power of ten.");
  };
  const int of_y = system.exponent[std::size_t(system.size)];
  const bool constant_y = system.products(system.size, system.size).hi == 0;
  for (int i = system.size; i >= 0; --i) {
    const int of_i = system.exponent[std::size_t(i)];
    if (system.underflows[std::size_t(i)] || (of_i < least && !system.constant(i)))
      refuse(i, "varies too little for its squares to be added up");
    if (!system.constant(i) && !constant_y && std::abs(of_i - of_y) > max_ratio_exponent)
      refuse(i, "is too many orders of magnitude from the response");
  }
}

}  // namespace

LinregRows linreg_check_options(const Document &options) {
  const LinregOptions read = LinregOptions::read(options);
  return {read.missing == "error"};
}

namespace {

/// Is a scale needed, for the default prior of the noise or of the coefficients, that neither a
/// constant response nor a prior has?
bool lacks_scale(const LeastSquares &least, const LinregOptions &options) {
  return least.variance == 0 && !options.known_noise() &&
         !(options.b && (options.a || options.exact()));
}

/// Predictors that equal the response in every row, recognised by their equal sums.
std::vector<int> copies_of_response(const LinregSums &sums) {
  const auto same = [](DoubleDouble a, DoubleDouble b) { return a.hi == b.hi && a.lo == b.lo; };
  const DoubleDouble square = sums.at(response_cell, response_cell),
                     sum = sums.at(one_cell, response_cell);
  std::vector<int> out;
  if (!(square.hi * sums.weight() - sum.hi * sum.hi > 1e-12 * square.hi * sums.weight()))
    return out;
  for (int j = 0; j < sums.dimension; ++j) {
    if (!sums.columns.empty() && sums.columns[std::size_t(j)].kind == ValueKind::label) continue;
    const int cell = sums.cell_of(j);
    if (same(sums.at(cell, cell), square) && same(sums.at(cell, response_cell), square) &&
        same(sums.at(one_cell, cell), sum))
      out.push_back(j);
  }
  return out;
}

}  // namespace

std::unique_ptr<LinregModel> linreg_fit(const LinregSums &sums, const Document &given,
                                        Control &control, LinregWarnings &warnings) {
  const PollScope scope(control);
  LinregOptions options = LinregOptions::read(given);
  if (sums.rows == 0) throw Error(Errc::invalid_argument, "there are no rows to fit");
  const LinregSystem system(sums, options.intercept, options.reference);
  require_room(system, options, control);
  require_weight(system);
  require_magnitudes(system);
  options.reference = system.all_terms.reference();
  auto model = std::make_unique<LinregModel>();
  FitRun run(*model, options, control);
  run.set_weight(system.weight, system.rows);

  const LeastSquares least(system);
  warnings.no_noise = lacks_scale(least, options);
  if (warnings.no_noise && !(options.exact() && system.observations() > least.rank)) return nullptr;
  set_defaults(system, least, options);
  if (options.exact()) {
    fit_exactly(system, least, options, *model);
    warnings.no_noise |= least.variance == 0 && !options.known_noise() && *options.b == 0;
  } else {
    const LinregProblem problem(system, least, options);
    if (options.sampled())
      fit_by_gibbs(problem, options, *model, run, control);
    else
      fit_by_iteration(problem, options, *model, run);
  }
  for (int k = 0; k < system.size; ++k) {
    const bool constant = system.constant(k);
    if (constant || least.dependent[std::size_t(k)])
      (constant ? warnings.constant : warnings.dependent).push_back(system.name(k));
    if (std::isnan(model->state->coefficients[std::size_t(k)]))
      (constant ? warnings.constant_left_out : warnings.dependent_left_out) = true;
  }
  warnings.response = copies_of_response(sums);
  model->info.columns = sums.columns;
  run.describe(sums.rows, sums.skipped, sums.dimension, std::max(1, system.all_terms.size()),
               options.document());
  return model;
}

// Gibbs sampling for linear regression: core models 2.0 and 3.0 of 002 L5, whose full conditionals
// are a normal and gamma distributions.

namespace {

/// The largest number of coefficients that bayes_draws shows.
constexpr int max_recorded = 50;
/// The number of draws that a model stores by default, and the largest size of these.
constexpr double default_stored = 2000, max_stored_doubles = 2e6;

class LinregChain final : public ChainSampler {
 public:
  LinregChain(const LinregProblem &problem, std::uint64_t seed, int number, bool records,
              LinregModel::State &state, DrawMoments &moments)
      : problem_(problem),
        seed_(seed),
        number_(std::uint64_t(number)),
        records_(records),
        state_(state),
        moments_(moments),
        lambda_(Vector::Constant(problem.lambdas(), problem.lambda.value_or(1))) {
    // Chains begin at dispersed points, apart by about an order of magnitude.
    Random random(seed, number_, 0, stream_of_start);
    const double noise = std::max(1e-6, problem.residual_squares / problem.observations);
    alpha_ = std::exp(random.normal()) / noise;
    if (!problem.lambda)
      for (double &each : lambda_) each *= std::exp(random.normal());
  }

  double sweep(int index, Control &control) override {
    control.poll();
    Random random(seed_, number_, std::uint64_t(index), stream_of_sweeps);
    draw_coefficients(random);
    residual_squares_ = problem_.residual_squares_at(v_);
    const double shape = problem_.noise_prior.shape + problem_.observations / 2,
                 rate = problem_.noise_prior.rate + residual_squares_ / 2;
    alpha_ = random.gamma(shape) / rate;
    expected_noise_ = shape > 1 ? rate / (shape - 1) : 1 / alpha_;
    if (!problem_.lambda)
      for (Eigen::Index k = 0; k < lambda_.size(); ++k)
        lambda_[k] = random.gamma(problem_.lambda_prior.shape + problem_.sharing() / 2) /
                     (problem_.lambda_prior.rate + squares(k) / 2);
    return log_joint();
  }

  void record(std::vector<double> &values) const override {
    values.push_back(alpha_ / (problem_.unit * problem_.unit));
    if (problem_.learns_lambda())
      values.push_back(std::exp(lambda_.array().log().mean()) / problem_.lambda_unit);
    for (Eigen::Index j = 0; records_ && j < v_.size(); ++j)
      values.push_back(problem_.scale[j] * v_[j]);
  }

  void keep(double) override {
    const auto all = [this](const Vector &v, double noise) {
      Vector out(v.size() + 2);
      out << v, intercept_offset(v), noise;
      return out;
    };
    moments_.add(all(v_, 1 / alpha_), all(expected(), expected_noise_));
  }

  /// A fit whose rows are sums is too short to be resumed.
  void exchange_state(StateNumbers &) override { refuse_checkpoint(); }

  void store(double) override {
    const std::size_t at = state_.drawn.size(), terms = std::size_t(problem_.system.size);
    state_.drawn.resize(at + terms, 0.0);
    for (int j = 0; j < problem_.size(); ++j)
      state_.drawn[at + std::size_t(problem_.used[std::size_t(j)])] = problem_.scale[j] * v_[j];
    state_.drawn_alpha.push_back(alpha_ / (problem_.unit * problem_.unit));
  }

 private:
  /// A random stream is selected by the seed, the chain, the sweep and one of these.
  static constexpr std::uint64_t stream_of_sweeps = 0, stream_of_start = 1;

  void draw_coefficients(Random &random) {
    const int p = problem_.size();
    Vector z(p);
    for (double &each : z) each = random.normal();
    if (problem_.in_basis) {
      const auto precision = (alpha_ * problem_.eigen.values.array() + lambda_[0]).eval();
      expected_ = alpha_ * problem_.moment_in_basis.array() / precision;
      const Vector in_basis = expected_.array() + z.array() / precision.sqrt();
      v_ = product(problem_.eigen.vectors, in_basis);
      return;
    }
    Matrix precision = alpha_ * problem_.gram, lower;
    for (int j = 0; j < p; ++j) precision(j, j) += lambda_[problem_.ard ? j : 0];
    if (!cholesky(precision, lower))
      throw Error(Errc::numeric, "the precision of the coefficients is not positive definite", {},
                  "Increase prior.e, or give prior.lambda.");
    const Vector right = alpha_ * forward_solved(lower, problem_.moment);
    expected_ = backward_solved(lower, right);
    v_ = backward_solved(lower, right + z);
  }

  /// The mean of the distribution that v was drawn from.
  Vector expected() const {
    return problem_.in_basis ? product(problem_.eigen.vectors, expected_) : expected_;
  }
  /// The intercept that goes with v, less the response's centre, in the problem's units.
  double intercept_offset(const Vector &v) const {
    double out = 0;
    for (int j = 0; j < problem_.size(); ++j)
      out -= v[j] * problem_.scale[j] / problem_.unit *
             problem_.system.mean[std::size_t(problem_.used[std::size_t(j)])].hi;
    return out;
  }

  /// sum of the squared coefficients that have this lambda
  double squares(Eigen::Index k) const { return problem_.ard ? v_[k] * v_[k] : v_.squaredNorm(); }

  /// log p(y, w, alpha, lambda), all in their original units
  double log_joint() const {
    double out = problem_.log_likelihood(residual_squares_, alpha_) +
                 log_gamma_density(problem_.noise_prior, alpha_) + problem_.log_unit_of_alpha() -
                 problem_.size() / 2.0 * log_two_pi + problem_.log_unit_of_coefficients();
    for (Eigen::Index k = 0; k < lambda_.size(); ++k) {
      out += problem_.sharing() / 2 * std::log(lambda_[k]) - lambda_[k] / 2 * squares(k);
      if (!problem_.lambda) out += log_gamma_density(problem_.lambda_prior, lambda_[k]);
    }
    return problem_.lambda ? out : out + problem_.log_unit_of_lambdas();
  }

  const LinregProblem &problem_;
  const std::uint64_t seed_, number_;
  const bool records_;
  LinregModel::State &state_;
  /// of v, the intercept and the variance of the noise, in the problem's units
  DrawMoments &moments_;
  /// expected_: of v, or of v in the basis
  Vector v_, expected_, lambda_;
  double alpha_ = 1, residual_squares_ = 0, expected_noise_ = 1;
};

/// Posterior means and deviations are those of all draws after warmup and thinning.
void store_moments(const LinregProblem &problem, const DrawMoments &moments,
                   LinregModel::State &state) {
  initialise_state(problem.system, state);
  const int p = problem.size();
  const Vector &mean = moments.mean(), deviation = moments.deviation();
  const double unit = problem.unit;
  state.deviations.assign(std::size_t(problem.system.size), 0.0);
  for (int j = 0; j < p; ++j) {
    const auto term = std::size_t(problem.used[std::size_t(j)]);
    state.coefficients[term] = problem.scale[j] * mean[j];
    state.deviations[term] = problem.scale[j] * deviation[j];
  }
  state.noise_mean = unit * unit * mean[p + 1];
  state.noise_deviation = unit * unit * deviation[p + 1];
  if (!problem.system.intercept) return;
  state.intercept_mean += unit * mean[p];
  state.intercept_deviation =
      unit * std::sqrt(deviation[p] * deviation[p] + mean[p + 1] / state.weight);
}

}  // namespace

void fit_by_gibbs(const LinregProblem &problem, const LinregOptions &options, LinregModel &model,
                  FitRun &run, Control &control) {
  if (!(problem.observations > 0))
    throw Error(Errc::numeric, "there are not enough rows to estimate the noise", {},
                "Give more rows, or use method exact.");
  const bool records = problem.size() <= max_recorded;
  const ChainPlan &plan = options.chains;
  const double numbers = problem.system.size + 1;
  const double most = std::min(control.memory / 4 / 8, max_stored_numbers) / numbers,
               usual = std::clamp(max_stored_doubles / numbers, 10.0, default_stored);
  ChainSettings settings{
      "gibbs",
      plan,
      {"alpha"},
      equal_draws(plan, std::min(most, plan.stored_draws > 0 ? double(plan.stored_draws) : usual))};
  settings.max_kept_draws = plan.all_stored();
  if (problem.learns_lambda()) settings.quantities.push_back("lambda");
  for (int j = 0; records && j < problem.size(); ++j)
    settings.quantities.push_back(message("w{}", problem.used[std::size_t(j)] + 1));
  DrawMoments moments(problem.size() + 2);
  settings.retain = [&state = *model.state](std::span<const int>, std::span<const int> stored) {
    retain(state.drawn, stored, state.drawn.size() / state.drawn_alpha.size());
    retain(state.drawn_alpha, stored);
  };
  run.take(run_chains(settings, control, [&](int chain) {
    return std::make_unique<LinregChain>(problem, options.seed, chain, records, *model.state,
                                         moments);
  }));
  store_moments(problem, moments, *model.state);
  const LinregModel::State &s = *model.state;
  double alpha = 0;
  for (const double each : s.drawn_alpha) alpha += each / double(s.draws());
  Vector v(problem.size());
  for (int j = 0; j < problem.size(); ++j)
    v[j] = s.coefficients[std::size_t(problem.used[std::size_t(j)])] / problem.scale[j];
  model.info.log_likelihood =
      problem.system.weight / 2 * (std::log(alpha) - log_two_pi) -
      alpha / 2 * problem.unit * problem.unit * problem.residual_squares_at(v);
}

// A fitted linear regression as a document.

namespace {

/// The results of a fit are written unchecked, so every finite number is accepted.
constexpr double largest_member = std::numeric_limits<double>::max();

Document vector_of(const std::vector<double> &values) {
  return Tensor{{std::int64_t(values.size())}, values};
}

Document write_gamma(const GammaPosterior &q) {
  return Document::object().set("shape", q.shape).set("rate", q.rate);
}

GammaPosterior read_gamma(const MemberReader &in, bool positive_rate) {
  return {in.number("shape", 0, largest_member, true),
          in.number("rate", 0, largest_member, positive_rate)};
}

std::vector<double> read_positive(const MemberReader &in, std::string_view key, std::int64_t size) {
  std::vector<double> out = in.tensor(key, {size}).values;
  // The inverse of each, a variance, must exist as well.
  if (std::any_of(out.begin(), out.end(),
                  [](double x) { return !(x > 0 && 1 / x > 0 && 1 / x <= largest_member); }))
    in.reject(key, "must be positive numbers whose inverses are positive and finite");
  return out;
}

}  // namespace

void LinregModel::write(Document &document) const {
  const State &s = *state;
  document.set("intercept", s.intercept);
  document.set("reference", s.terms.reference());
  document.set("weight", s.weight);
  document.set("center", vector_of(s.center)).set("response_center", s.response_center);
  std::vector<double> coefficients = s.coefficients, left_out;
  for (std::size_t j = 0; j < coefficients.size(); ++j)
    if (std::isnan(coefficients[j])) {
      coefficients[j] = 0;
      left_out.push_back(double(j + 1));
    }
  document.set("coefficients", vector_of(coefficients)).set("intercept_mean", s.intercept_mean);
  if (!left_out.empty()) document.set("left_out", vector_of(left_out));
  if (!s.factor.empty()) {
    document.set("factor", vector_of(s.factor)).set("noise_scaled", s.noise_scaled);
    document.set("intercept_spread", s.intercept_spread);
  }
  if (s.known_variance)
    document.set("noise_variance", *s.known_variance);
  else if (s.draws() == 0)
    document.set("noise", write_gamma(s.noise));
  if (!s.lambda.empty()) {
    std::vector<double> shapes, rates;
    for (const GammaPosterior &q : s.lambda) {
      shapes.push_back(q.shape);
      rates.push_back(q.rate);
    }
    document.set("lambda",
                 Document::object().set("shape", vector_of(shapes)).set("rate", vector_of(rates)));
  }
  if (s.draws() > 0) {
    if (s.size() > 0)
      document.set("draws_of_coefficients",
                   Tensor{{stored_draws(), std::int64_t(s.size())}, s.drawn});
    document.set("draws_of_alpha", vector_of(s.drawn_alpha));
    if (s.noise_mean > 0)
      document.set("all_draws", Document::object()
                                    .set("deviations", vector_of(s.deviations))
                                    .set("intercept_deviation", s.intercept_deviation)
                                    .set("noise_mean", s.noise_mean)
                                    .set("noise_deviation", s.noise_deviation));
  }
}

namespace {

/// The posterior of a model with draws.
void read_draws(const MemberReader &in, std::int64_t size, LinregModel::State &s) {
  if (s.known_variance || !s.factor.empty())
    in.reject("draws_of_alpha", "must not be combined with another posterior");
  s.drawn_alpha = read_positive(in, "draws_of_alpha", -1);
  if (s.drawn_alpha.empty()) in.reject("draws_of_alpha", "must not be empty");
  if (size > 0)
    s.drawn = in.tensor("draws_of_coefficients", {std::int64_t(s.drawn_alpha.size()), size}).values;
  if (in.has("all_draws")) {
    const MemberReader all = in.object("all_draws");
    s.deviations = all.tensor("deviations", {size}).values;
    if (std::any_of(s.deviations.begin(), s.deviations.end(), [](double x) { return !(x >= 0); }))
      all.reject("deviations", "must not be negative");
    s.intercept_deviation = all.number("intercept_deviation", 0, largest_member);
    s.noise_mean = all.number("noise_mean", 0, largest_member, true);
    s.noise_deviation = all.number("noise_deviation", 0, largest_member);
  }
}

}  // namespace

std::unique_ptr<Model> read_linreg_model(const Document &document) {
  auto model = std::make_unique<LinregModel>();
  const MemberReader in(document);
  model->info = read_model_info(document, linreg_methods, max_predictors, max_terms + 1, 0);
  LinregModel::State &s = *model->state;
  s.intercept = in.boolean("intercept");
  in.object("reference");
  s.terms = RegressionTerms(model->info.columns, model->info.dimension, s.intercept,
                            in.value("reference"));
  if (model->info.components != std::max(1, s.terms.size()))
    in.reject("components", "is not the number of terms");
  const std::int64_t size = s.terms.size() - (s.intercept ? 1 : 0);
  s.weight = in.number("weight", 0, largest_member, true);
  s.center = in.tensor("center", {size}).values;
  s.response_center = in.number("response_center", -largest_member, largest_member);
  s.coefficients = in.tensor("coefficients", {size}).values;
  s.intercept_mean = in.number("intercept_mean", -largest_member, largest_member);
  if (in.has("left_out")) {
    double before = 0;
    for (const double j : in.tensor("left_out", {-1}).values) {
      if (!(j > before && j <= double(size)) || j != std::floor(j))
        in.reject("left_out", "must be ascending numbers of terms");
      s.coefficients[std::size_t(j) - 1] = std::nan("");
      before = j;
    }
    if (before == 0) in.reject("left_out", "must not be empty");
  }
  if (in.has("factor")) {
    s.factor = in.tensor("factor", {size * (size + 1) / 2}).values;
    if (s.factor.empty()) in.reject("factor", "must not be empty");
    s.noise_scaled = in.boolean("noise_scaled");
    s.intercept_spread = in.number("intercept_spread", 0, largest_member);
  }
  const bool draws = in.has("draws_of_alpha");
  if (in.has("noise_variance"))
    s.known_variance = in.number("noise_variance", 0, largest_member, true);
  else if (!draws)
    s.noise = read_gamma(in.object("noise"), false);
  if (in.has("lambda")) {
    const MemberReader lambda = in.object("lambda");
    const std::vector<double> shapes = read_positive(lambda, "shape", -1);
    const std::vector<double> rates = read_positive(lambda, "rate", std::int64_t(shapes.size()));
    if (shapes.size() != 1 && shapes.size() != std::size_t(size))
      in.reject("lambda", "must have one entry, or one for each coefficient");
    for (std::size_t j = 0; j < shapes.size(); ++j) s.lambda.push_back({shapes[j], rates[j]});
  }
  if (draws) read_draws(in, size, s);
  return model;
}

}  // namespace bayes
