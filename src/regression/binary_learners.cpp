#include "regression/binary_learners.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/special.hpp"
#include "document/members.hpp"
#include "fit/schedule.hpp"
#include "regression/binary_regression.hpp"
#include "regression/link_moments.hpp"
#include "regression/terms.hpp"

namespace bayes {
namespace {

constexpr double min_prior_variance = 1e-12, max_prior_variance = 1e12;

/// A variance, given by key c of logistic regression as such, and by key lambda of probit
/// regression as a precision.
void spread_line(OptionTable &t, Link link, const OptionKey &c, const OptionKey &lambda,
                 std::optional<double> &variance, bool applies = true) {
  std::optional<double> given = variance;
  if (link == Link::probit && given) given = 1 / *given;
  t.number(link == Link::logit ? c : lambda, given, {min_prior_variance, max_prior_variance},
           applies);
  if (!t.reads() || !given) return;
  variance = link == Link::probit ? 1 / *given : *given;
}

void binary_prior_lines(OptionTable &t, BinaryOptions &o) {
  // When writing, write the values in force.
  std::optional<double> variance = o.variance, of_intercept;
  if (!t.reads()) {
    variance = o.prior_variance();
    of_intercept = o.intercept_variance;
  }
  const auto shown = [&o](double of) {
    return describe_number(o.link == Link::probit ? 1 / of : of);
  };
  const std::string standard = shown(o.prior_variance()),
                    of_intercept_standard = shown(o.intercept_variance);
  spread_line(t, o.link, {"c", "variance of the coefficients", {}, standard},
              {"lambda", "precision of the coefficients", {}, standard}, variance);
  spread_line(t, o.link, {"c_intercept", "variance of the intercept", {}, of_intercept_standard},
              {"lambda_intercept", "precision of the intercept", {}, of_intercept_standard},
              of_intercept, o.intercept);
  if (!t.reads()) return;
  o.variance = variance;
  if (of_intercept) o.intercept_variance = *of_intercept;
}

void binary_lines(OptionTable &t, BinaryOptions &o) {
  if (o.link == Link::logit)
    o.method_line(t, logreg_methods);
  else
    o.method_line(t, probit_methods);
  o.chains.lines(t, o.sampled());
  o.chains.stored_line(t, o.sampled());
  if (t.reads()) o.tolerance = o.method == Method::em ? 1e-8 : 1e-10;
  t.integer(max_iter_key, o.max_iterations, 1, 1000000, !o.sampled());
  t.number(tol_key, o.tolerance, {0, 1e6}, !o.sampled());
  o.common_lines(t, {"skip", "error"});
  t.boolean(intercept_key, o.intercept);
  t.other(
      reference_key,
      [&](const Document &given) {
        check_reference(given);
        o.reference = given;
      },
      [&] { return o.reference; });
  bool scaled = o.scaled();
  t.other(
      prior_key,
      [&](const Document &given) {
        OptionTable inner = OptionTable::reading(given, "prior.");
        binary_prior_lines(inner, o);
        inner.finish("a fit without an intercept");
        o.given_prior = given;
      },
      [&] {
        OptionTable inner = OptionTable::writing();
        binary_prior_lines(inner, o);
        return inner.document();
      });
  if (t.reads()) scaled = o.scaled();
  t.boolean(standardize_key, scaled);
  o.standardize = scaled;
}

}  // namespace

double BinaryOptions::prior_variance() const {
  return variance.value_or(link == Link::logit ? 6.25 : 2.5);
}

BinaryOptions read_binary_options(Link link, const Document &options) {
  require_object(options, R"({"prior": {"c": 1}})");
  BinaryOptions out(link);
  out.method = Method::laplace;
  out.restarts = 1;
  if (link == Link::probit) out.intercept_variance = 40;
  OptionTable t = OptionTable::reading(options);
  binary_lines(t, out);
  t.finish(out.setting());
  return out;
}

Document BinaryOptions::document() const {
  BinaryOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  binary_lines(t, in_force);
  return t.document();
}

namespace {

/// The posterior density at some u.
struct Density {
  BinarySums sums;
  /// the log joint density
  double value = -std::numeric_limits<double>::infinity();
  Vector gradient;
};

Density density_at_coefficients(BinaryRows &rows, Link link, const PriorPrecision &precision,
                                const Vector &u, bool curvature) {
  Density out;
  // Beyond this, products with z may overflow; no mode lies there.
  if (!(u.cwiseAbs().maxCoeff() < 1e100)) return out;
  out.sums = rows.likelihood(link, u, curvature);
  out.value = out.sums.log_likelihood + log_prior(precision, u);
  out.gradient = out.sums.gradient - precision.cwiseProduct(u);
  return out;
}

/// Throws Error where the density, its slope or what a step gains is no number: none leads from
/// there to the mode.
void require_numbers(const Density &at, double gain = 0) {
  if (std::isfinite(at.value) && at.gradient.allFinite() && std::isfinite(gain)) return;
  throw Error(Errc::numeric, "the log density of the coefficients overflows",
              "Values and weights are too large together, or the prior is too wide for them.",
              "Rescale the columns and the weights, or use a narrower prior.");
}

Matrix factor_of(const Matrix &sums, const PriorPrecision &precision) {
  Matrix sum = sums, lower;
  sum.diagonal() += precision;
  if (!cholesky(sum, lower))
    throw Error(
        Errc::numeric, "the precision of the coefficients is not positive definite",
        "Columns are collinear up to rounding errors, and the prior is too wide to identify "
        "their coefficients.",
        "Leave out one of the collinear columns, or use a narrower prior.");
  return lower;
}

void report_iteration(const Schedule &schedule, const RunTrace &trace, Control &control) {
  const std::size_t n = trace.trace.size();
  const double seconds = control.budget.seconds();
  const int left = schedule.max_iterations - trace.iterations;
  control.progress(
      {schedule.method, schedule.restart, schedule.restarts, trace.iterations,
       schedule.max_iterations, trace.trace[n - 1],
       n > 1 ? trace.trace[n - 1] - trace.trace[n - 2] : std::numeric_limits<double>::quiet_NaN(),
       seconds, trace.iterations ? seconds / trace.iterations * left : 0});
}

/// Does the run end here? Then it is recorded.
bool ends(const Schedule &schedule, const RunTrace &run, LoopCourse &course, Control &control) {
  const bool limited = run.iterations >= schedule.max_iterations, last = run.converged || limited;
  if (!last && (run.iterations < schedule.min_iterations || !control.time_is_over())) return false;
  course.save(run.trace, limited);
  if (!last) control.cut_short();
  return true;
}

}  // namespace

double log_prior(const PriorPrecision &precision, const Vector &u) {
  double out = 0;
  for (Eigen::Index j = 0; j < u.size(); ++j)
    out += 0.5 * (std::log(precision(j)) - precision(j) * u(j) * u(j)) - half_log_two_pi;
  return out;
}

Vector first_coefficients(const BinaryRows &rows, Link link) {
  Vector out = Vector::Zero(rows.size());
  if (!rows.intercept()) return out;
  // With large weights the share may be rounded to 0 or 1.
  const double share = std::clamp((rows.positives() + 0.5) / (rows.weight() + 1), 1e-15, 1 - 1e-15);
  out(0) = link == Link::logit ? std::log(share / (1 - share)) : normal_quantile(share);
  return out;
}

namespace {

/// Where a step ends, and whether it got too short to find a greater density.
struct LineSearch {
  Vector there;
  Density density;
  bool stuck;
};

/// Halves a step until the density grows by a share of `gain`, twice what it should grow by; takes
/// the whole step if `gain` is negative.
LineSearch search(BinaryRows &rows, Link link, const PriorPrecision &precision, const Vector &from,
                  const Density &at, const Vector &step, double gain, Control &control) {
  // A step from where the density is almost flat may be as much too long as it is wide of the
  // mode.
  const double shortest =
      1e-10 * std::min(1.0, (1 + from.cwiseAbs().maxCoeff()) / step.cwiseAbs().maxCoeff());
  LineSearch out;
  for (double length = 1;; length /= 2) {
    control.poll();
    out.there = from + length * step;
    out.density = density_at_coefficients(rows, link, precision, out.there, true);
    out.stuck = length < shortest;
    if (gain < 0 || out.stuck || out.density.value >= at.value + 1e-4 * length * gain) return out;
  }
}

}  // namespace

BinaryMode newton(BinaryRows &rows, Link link, const PriorPrecision &precision, Vector start,
                  const Schedule &schedule, Control &control) {
  BinaryMode out;
  out.state = std::move(start);
  double before = std::numeric_limits<double>::infinity();
  bool stuck = false;
  LoopCourse course(control, [&](StateNumbers &numbers) {
    numbers.dense(out.state);
    numbers.number(before);
    numbers.flag(stuck);
  });
  out.trace.assign(course.repeated().begin(), course.repeated().end());
  out.iterations = int(out.trace.size());
  Density at = density_at_coefficients(rows, link, precision, out.state, true);
  out.trace.push_back(at.value);
  course.check(at.value);
  report_iteration(schedule, out, control);
  for (;;) {
    course.prepare();
    require_numbers(at);
    out.factor = factor_of(at.sums.curvature, precision);
    const Vector step = solved(out.factor, at.gradient);
    // Twice the gain that the quadratic approximation predicts.
    const double gain = at.gradient.dot(step);
    require_numbers(at, gain);
    // A gain this small is within the rounding errors of the density; once it stops shrinking, only
    // rounding errors are left.
    const bool near = gain < 1e-10 * (1 + std::fabs(at.value));
    out.converged = gain / 2 <= schedule.tolerance || (near && gain > before / 4);
    if (ends(schedule, out, course, control)) break;
    // Further ones would not find a greater density either.
    if (stuck) {
      course.save(out.trace, false);
      break;
    }
    before = near ? gain : std::numeric_limits<double>::infinity();
    LineSearch found =
        search(rows, link, precision, out.state, at, step, near ? -1 : gain, control);
    stuck = found.stuck;
    out.state = std::move(found.there);
    at = std::move(found.density);
    ++out.iterations;
    course.go_further();
    out.trace.push_back(at.value);
    report_iteration(schedule, out, control);
  }
  out.log_likelihood = at.sums.log_likelihood;
  return out;
}

Matrix augmented_precision(BinaryRows &rows, const PriorPrecision &precision) {
  return factor_of(rows.gram(), precision);
}

BinaryMode probit_em(BinaryRows &rows, const PriorPrecision &precision, Vector start,
                     const Schedule &schedule, Control &control) {
  BinaryMode out;
  out.factor = augmented_precision(rows, precision);
  out.state = std::move(start);
  double change = 0;
  LoopCourse course(control, [&](StateNumbers &numbers) {
    numbers.dense(out.state);
    numbers.number(change);
  });
  out.trace.assign(course.repeated().begin(), course.repeated().end());
  out.iterations = int(out.trace.size());
  for (;;) {
    control.poll();
    course.prepare();
    const Density at = density_at_coefficients(rows, Link::probit, precision, out.state, false);
    require_numbers(at);
    out.log_likelihood = at.sums.log_likelihood;
    const double last = change;
    if (!out.trace.empty()) change = at.value - out.trace.back();
    out.trace.push_back(at.value);
    course.check(at.value);
    report_iteration(schedule, out, control);
    // In the end the changes shrink by a constant factor, from which the sum of those to come
    // follows.
    const double rate = last > 0 ? change / last : 1;
    const double left = rate < 1 ? change * std::max(1.0, rate / (1 - rate)) : change;
    out.converged = out.iterations > 1 && rate < 1 && left <= schedule.tolerance;
    out.converged |= out.iterations > 0 && change <= 0;
    if (ends(schedule, out, course, control)) return out;
    // With the expected latent variables E y* = z'u + slope of the log-likelihood, the mode
    // (Z'Z + Lambda)^-1 Z' E y* is u + (Z'Z + Lambda)^-1 times the gradient of the log posterior.
    out.state += solved(out.factor, at.gradient);
    ++out.iterations;
    course.go_further();
  }
}

}  // namespace bayes
