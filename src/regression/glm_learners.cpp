#include "regression/glm_learners.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "document/members.hpp"
#include "fit/schedule.hpp"
#include "regression/glm.hpp"
#include "regression/responses.hpp"
#include "regression/terms.hpp"

namespace bayes {
namespace {

constexpr double min_prior_variance = 1e-12, max_prior_variance = 1e12;

/// A variance, given by key c of logistic regression as such, and by key lambda of probit
/// regression as a precision.
void spread_line(OptionTable &t, bool precision, const OptionKey &c, const OptionKey &lambda,
                 std::optional<double> &variance, bool applies = true) {
  std::optional<double> given = variance;
  if (precision && given) given = 1 / *given;
  t.number(precision ? lambda : c, given, {min_prior_variance, max_prior_variance}, applies);
  if (!t.reads() || !given) return;
  variance = precision ? 1 / *given : *given;
}

void prior_lines(OptionTable &t, GlmOptions &o) {
  // When writing, write the values in force.
  std::optional<double> variance = o.variance, of_intercept;
  if (!t.reads()) {
    variance = o.prior_variance();
    of_intercept = o.intercept_variance;
  }
  const auto shown = [&o](double of) {
    return describe_number(o.family == GlmFamily::probit ? 1 / of : of);
  };
  const std::string standard = shown(o.prior_variance()),
                    of_intercept_standard = shown(o.intercept_variance);
  spread_line(t, o.family == GlmFamily::probit, {"c", "variance of the coefficients", {}, standard},
              {"lambda", "precision of the coefficients", {}, standard}, variance);
  spread_line(t, o.family == GlmFamily::probit,
              {"c_intercept", "variance of the intercept", {}, of_intercept_standard},
              {"lambda_intercept", "precision of the intercept", {}, of_intercept_standard},
              of_intercept, o.intercept);
  if (o.family == GlmFamily::glm) {
    t.number(
        {"intercept", "mean of the intercept", {}, "the link of the mean of the responses"},
        o.intercept_mean,
        o.response->link == Link::identity ? OptionRange{-1e100, 1e100} : OptionRange{-1e6, 1e6},
        o.intercept && o.measured());
    t.number({"dispersion", "median of the dispersion"}, o.dispersion, above(0, 1e12),
             o.response->dispersed());
    t.number({"c_dispersion", "variance of the logarithm of the dispersion"}, o.dispersion_variance,
             {min_prior_variance, max_prior_variance}, o.response->dispersed());
    t.number({"df", "median of degrees of freedom that are learned"}, o.degrees_median,
             above(0, 1e6), o.response->learns_degrees());
    t.number({"c_df", "variance of their logarithm"}, o.degrees_variance,
             {min_prior_variance, max_prior_variance}, o.response->learns_degrees());
    t.number({"gap", "median of a gap between the cuts of two levels"}, o.gap, above(0, 1e12),
             o.response->ordered());
    t.number({"c_gap", "variance of the logarithm of a gap"}, o.gap_variance,
             {min_prior_variance, max_prior_variance}, o.response->ordered());
  }
  if (!t.reads()) return;
  o.variance = variance;
  if (of_intercept) o.intercept_variance = *of_intercept;
}

/// A column of the rows that is no predictor, by its name.
void column_line(OptionTable &t, const OptionKey &key, std::string &name, bool applies) {
  t.other(
      key,
      [&](const Document &given) {
        const auto *const text = given.as<std::string>();
        if (!text || text->empty())
          throw Error(Errc::invalid_argument,
                      message("option \"{}\" is {}, but must be the name of a column", key.key,
                              describe(given)),
                      "The columns of arrays are x1, x2, ...",
                      message("For instance {{\"{}\": \"x1\"}.", key.key));
        name = *text;
      },
      [&] { return name.empty() ? Document() : Document(name); }, applies);
}

/// Option trials: a column, or the number of trials of every row.
void trials_line(OptionTable &t, GlmOptions &o) {
  t.other(
      {"trials", "the number of trials of a row: one for all, or a column", "a number or a name",
       "1"},
      [&](const Document &given) {
        const auto *const whole = given.as<std::int64_t>();
        const auto *const text = given.as<std::string>();
        if (text && !text->empty()) {
          o.trials = *text;
        } else if (whole && *whole >= 1) {
          o.trials_of_rows = double(*whole);
        } else {
          throw Error(Errc::invalid_argument,
                      message("option \"trials\" is {}, but must be a whole number of at least 1, "
                              "or the name of a column",
                              describe(given)));
        }
      },
      [&] {
        return o.trials.empty() ? Document(std::int64_t(o.trials_of_rows)) : Document(o.trials);
      },
      o.response->has_trials());
}

/// The response of family glm, by its name and, for some, its link.
void response_lines(OptionTable &t, GlmOptions &o) {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const ResponseFamily *const each : all_responses())
      if (out.empty() || out.back() != each->name) out.push_back(each->name);
    return out;
  }();
  const OptionKey key{"response", "the distribution of the response", {}, "none: it must be given"};
  std::vector<std::string> name = {o.response ? o.response->name : ""};
  t.choices(key, name, names, false);
  if (name.front().empty())
    throw Error(
        Errc::invalid_argument, "glm_fit needs option \"response\"",
        "It names the distribution of the response: poisson or negative_binomial of counts, "
        "gamma or exponential of amounts, normal or student_t of numbers, bernoulli of a yes or "
        "no, binomial of successes among trials, ordinal of levels with an order, categorical of "
        "classes without one.",
        R"(For instance {"response": "poisson"}.)");
  if (t.reads()) o.response = find_response(name.front());
  const bool two_links = find_response(name.front(), Link::probit) != nullptr;
  bool probit = o.response->link == Link::probit;
  t.either({"link", "the link of a probability"}, probit, "logit", "probit", two_links);
  if (t.reads() && two_links)
    o.response = find_response(name.front(), probit ? Link::probit : Link::logit);
}

/// Option df: degrees of freedom, or that they are learned.
void degrees_line(OptionTable &t, GlmOptions &o) {
  t.other(
      {"df", "degrees of freedom of a student_t response", "from 1 to 1e6, or \"learned\"", "4"},
      [&](const Document &given) {
        const auto *const text = given.as<std::string>();
        const auto *const whole = given.as<std::int64_t>();
        const auto *const number = given.as<double>();
        const double degrees = whole ? double(*whole) : number ? *number : 0;
        if (text && *text == "learned")
          o.response = &student_of_learned_degrees();
        else if (degrees >= 1 && degrees <= 1e6)
          o.degrees = degrees;
        else
          throw Error(Errc::invalid_argument,
                      message("option \"df\" is {}, but must be a number from 1 to 1e6, or "
                              "\"learned\"",
                              describe(given)));
      },
      [&] { return o.response->learns_degrees() ? Document("learned") : Document(o.degrees); },
      o.response->has_degrees());
}

/// What rows of family glm have besides terms, and what their responses have.
void column_lines(OptionTable &t, GlmOptions &o) {
  const bool log_link = o.response->link == Link::log;
  column_line(t,
              {"exposure", "the column whose logarithm is added to the linear predictor",
               "the name of a column", "none"},
              o.exposure, log_link);
  column_line(t,
              {"offset", "the column that is added to the linear predictor", "the name of a column",
               "none"},
              o.offset, !o.response->classes());
  trials_line(t, o);
  t.other(
      {"levels", "the labels of the response in their order", "an array of texts",
       "those of the rows"},
      [&](const Document &given) { o.levels = listed_levels(given); },
      [&] {
        return o.levels.empty() ? Document() : Document::List(o.levels.begin(), o.levels.end());
      },
      o.response->labelled());
  degrees_line(t, o);
}

void glm_lines(OptionTable &t, GlmOptions &o) {
  if (o.family == GlmFamily::glm) response_lines(t, o);
  o.method_line(t, methods_of(*o.response));
  o.chains.lines(t, o.sampled());
  o.chains.stored_line(t, o.sampled());
  if (t.reads()) o.tolerance = o.method == Method::em ? 1e-8 : 1e-10;
  t.integer(max_iter_key, o.max_iterations, 1, 1000000, !o.sampled());
  t.number(tol_key, o.tolerance, {0, 1e6}, !o.sampled());
  o.common_lines(t, {"skip", "error"});
  if (o.family == GlmFamily::glm) column_lines(t, o);
  t.other(
      {"terms", "columns that are terms, and products of columns joined by ':'",
       "an array of texts", "all columns"},
      [&](const Document &given) { o.terms = listed_terms(given); },
      [&] {
        return o.terms.empty() ? Document() : Document::List(o.terms.begin(), o.terms.end());
      });
  t.boolean(intercept_key, o.intercept, !o.response->ordered());
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
        prior_lines(inner, o);
        inner.finish(o.family == GlmFamily::glm
                         ? message("response {}{}", o.response->name,
                                   o.intercept ? "" : " without an intercept")
                         : "a fit without an intercept");
        o.given_prior = given;
      },
      [&] {
        OptionTable inner = OptionTable::writing();
        prior_lines(inner, o);
        return inner.document();
      });
  if (t.reads()) scaled = o.scaled();
  t.boolean(standardize_key, scaled);
  o.standardize = scaled;
}

}  // namespace

std::span<const Method> methods_of(const ResponseFamily &response) {
  if (!response.binary()) return glm_methods;
  if (response.link == Link::logit) return logreg_methods;
  return probit_methods;
}

double GlmOptions::prior_variance() const {
  return variance.value_or(family == GlmFamily::probit ? 2.5 : 6.25);
}

std::vector<std::string> listed_levels(const Document &given) {
  const auto refuse = [](const std::string &what) {
    throw Error(Errc::invalid_argument, message("option \"levels\" {}", what),
                "It lists the labels of the response, each once.",
                R"(For instance {"levels": ["low", "medium", "high"]}.)");
  };
  const auto *const list = given.as<Document::List>();
  const auto *const numbers = given.as<Tensor>();
  if (!list && !(numbers && numbers->shape.size() == 1))
    refuse(message("is {}, but must be a list", describe(given)));
  std::vector<std::string> out;
  const auto add = [&](std::string label) {
    if (std::find(out.begin(), out.end(), label) != out.end())
      refuse(message("contains {} twice", describe(Document(label))));
    out.push_back(std::move(label));
    if (out.size() > std::size_t(max_levels))
      refuse(message("has more than {} labels", max_levels));
  };
  if (numbers)
    for (const double each : numbers->values) add(describe_number(each));
  for (std::size_t k = 0; list && k < list->size(); ++k) {
    if (const auto *const truth = (*list)[k].as<bool>()) {
      add(*truth ? "t" : "f");  // as PostgreSQL writes them
      continue;
    }
    const auto *const text = (*list)[k].as<std::string>();
    if (!text)
      refuse(
          message("contains {}, but must contain texts alone, or numbers", describe((*list)[k])));
    add(*text);
  }
  if (out.size() < 2) refuse("must contain at least two labels");
  return out;
}

GlmOptions read_glm_options(GlmFamily family, const Document &options) {
  require_object(options, R"({"prior": {"c": 1}})");
  GlmOptions out;
  out.family = family;
  if (family != GlmFamily::glm)
    out.response = &bernoulli(family == GlmFamily::logreg ? Link::logit : Link::probit);
  out.method = Method::laplace;
  out.restarts = 1;
  if (family == GlmFamily::probit) out.intercept_variance = 40;
  OptionTable t = OptionTable::reading(options);
  glm_lines(t, out);
  // A long-tailed likelihood may have a mode for each cluster of rows.
  const bool clusters = out.response->has_degrees() && out.intercept &&
                        (out.response->learns_degrees() || out.degrees < 3);
  if (clusters) out.restarts = student_starts;
  t.finish(family == GlmFamily::glm
               ? message("response {} and {}", out.response->name, out.setting())
               : out.setting());
  return out;
}

Document GlmOptions::document() const {
  GlmOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  glm_lines(t, in_force);
  return t.document();
}

bool within_bounds(const GlmRows &rows, const Vector &u) {
  if (!(u.cwiseAbs().maxCoeff() < 1e100)) return false;
  const double unit = 2 * std::log(rows.response_scale()),
               most = rows.response().link == Link::identity ? 300 : 60;
  if (rows.response().learns_degrees()) {
    const double log_degrees = u(u.size() - 2);
    return log_degrees > -2.3 && log_degrees < 13.8 && std::fabs(u(u.size() - 1) - unit) < most;
  }
  return rows.extras() == 0 || (u.tail(rows.extras()).array() - unit).abs().maxCoeff() < most;
}

namespace {

/// The posterior density at some u.
struct Density {
  GlmSums sums;
  /// the log joint density
  double value = -std::numeric_limits<double>::infinity();
  Vector gradient;
};

Density density_at(GlmRows &rows, const GlmPrior &prior, const Vector &u, bool curvature) {
  Density out;
  if (!within_bounds(rows, u)) return out;
  out.sums = rows.likelihood(u, curvature);
  const Eigen::Index last = u.size() - 1;
  out.value = out.sums.log_likelihood + prior.log_density(u) + prior.log_integral(u(last));
  out.gradient = out.sums.gradient - prior.precision.cwiseProduct(u - prior.mean);
  out.gradient(last) += prior.slope(u(last));
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

/// The Cholesky factor of curvature and prior precision. `extras`: the number of unknowns besides
/// coefficients, which come last, and in which the density need not be concave away from the mode;
/// there they are treated alone, with a curvature that is positive. Of responses with long tails
/// the density need not be concave in the coefficients either: then the curvature grows by
/// multiples of its diagonal, which turns steps towards the gradient and shortens them (Levenberg).
Matrix factor_of(const Matrix &sums, const GlmPrior &prior, Eigen::Index extras) {
  Matrix sum = sums, lower;
  sum.diagonal() += prior.precision;
  if (cholesky(sum, lower)) return lower;
  for (Eigen::Index at = sum.rows() - extras; at < sum.rows(); ++at) {
    const double own = std::max(std::fabs(sum(at, at)), prior.precision(at));
    sum.row(at).setZero();
    sum.col(at).setZero();
    sum(at, at) = own;
  }
  bool found = extras > 0 && cholesky(sum, lower);
  if (extras > 0 && !found) {
    const Vector diagonal = sum.diagonal().cwiseAbs();
    for (double more = 0.1; !found && more < 1e6; more *= 3) {
      sum.diagonal() += more * diagonal;
      found = cholesky(sum, lower);
    }
  }
  if (!found)
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

bool rounds(const GlmRows &rows, const Vector &u) {
  return rows.rounding() > 0 && std::exp(0.5 * u(u.size() - 1)) < 8 * rows.rounding();
}

double GlmPrior::log_density(const Vector &u) const {
  double out = 0;
  for (Eigen::Index j = 0; j < u.size(); ++j) {
    const double off = u(j) - mean(j);
    out += 0.5 * (std::log(precision(j)) - precision(j) * off * off) - half_log_two_pi;
  }
  return out;
}

// With a share f of the coefficients determined by the rows and the rest by the prior, the
// precision of each is proportional to f exp(-x) + 1 - f, x from where the shares are known.

double GlmPrior::log_integral(double at) const {
  if (coefficients == 0) return 0;
  const double f = determined / coefficients;
  return integral -
         0.5 * coefficients * std::log(f * std::exp(log_dispersion - at) + std::max(0.0, 1 - f));
}

double GlmPrior::slope(double at) const {
  if (coefficients == 0) return 0;
  const double f = determined / coefficients, rows = f * std::exp(log_dispersion - at);
  return 0.5 * coefficients * rows / (rows + std::max(0.0, 1 - f));
}

double GlmPrior::bend() const {
  if (coefficients == 0) return 0;
  return std::max(0.0, 0.5 * determined * (1 - determined / coefficients));
}

double intercept_of_data(const GlmRows &rows, int predictor) {
  const Link link = rows.response().link;
  if (link == Link::identity) return 0;  // rows are about their mean
  if (link == Link::log) {
    // Counts may all be 0: half a count of a row then is between what was seen and what could have
    // been.
    const double half = rows.response().whole() ? 0.5 * rows.weight() / double(rows.rows()) : 0;
    return std::log(std::max(rows.total(), half)) - std::log(rows.base());
  }
  // With large weights a share may be rounded to 0 or 1.
  const auto of_share = [link](double part, double whole) {
    return predictor_at(link, std::clamp((part + 0.5) / (whole + 1), 1e-15, 1 - 1e-15));
  };
  if (!rows.response().labelled()) return of_share(rows.total(), rows.base());
  const std::vector<double> &levels = rows.levels();
  if (rows.response().ordered()) {
    double below = 0;
    for (int k = 0; k <= rows.anchor(); ++k) below += levels[std::size_t(k)];
    return of_share(rows.weight() - below, rows.weight());
  }
  const double own = levels[std::size_t(predictor) + 1];
  return of_share(own, own + levels[0]);
}

Vector log_gaps_of_data(const GlmRows &rows) {
  const std::vector<double> &levels = rows.levels();
  Vector out(rows.extras());
  // Half a row more in each level, so that none is empty.
  const double all = rows.weight() + 0.5 * double(levels.size());
  double above = all - levels[0] - 0.5;
  for (Eigen::Index i = 0; i < out.size(); ++i) {
    const double next = above - levels[std::size_t(i) + 1] - 0.5;
    const auto cut = [&](double rows_above) {
      return -predictor_at(rows.response().link, std::clamp(rows_above / all, 1e-15, 1 - 1e-15));
    };
    out(i) = std::log(std::max(cut(next) - cut(above), 1e-6));
    above = next;
  }
  return out;
}

Vector first_unknowns(const GlmRows &rows, const GlmPrior &prior, int restart) {
  Vector out = prior.mean;
  for (int k = 0; rows.intercept() && k < rows.predictors(); ++k)
    out(k * (rows.coefficients() / rows.predictors())) = intercept_of_data(rows, k);
  if (rows.response().ordered()) out.tail(rows.extras()) = log_gaps_of_data(rows);
  if (rows.response().learns_degrees()) out(out.size() - 2) = std::log(4);
  if (restart == 1) return out;
  constexpr double shifts[student_starts - 1] = {-0.9, 0.9, -0.3, 0.3, -1.5, 1.5};
  out(0) += shifts[restart - 2] * rows.response_scale();
  out(out.size() - 1) = 2 * std::log(0.2 * rows.response_scale());
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
LineSearch search(GlmRows &rows, const GlmPrior &prior, const Vector &from, const Density &at,
                  const Vector &step, double gain, Control &control) {
  // A step from where the density is almost flat may be as much too long as it is wide of the
  // mode.
  const double shortest =
      1e-10 * std::min(1.0, (1 + from.cwiseAbs().maxCoeff()) / step.cwiseAbs().maxCoeff());
  LineSearch out;
  for (double length = 1;; length /= 2) {
    control.poll();
    out.there = from + length * step;
    out.density = density_at(rows, prior, out.there, true);
    out.stuck = length < shortest;
    if (gain < 0 || out.stuck || out.density.value >= at.value + 1e-4 * length * gain) return out;
  }
}

}  // namespace

namespace {

/// By how much rounding of responses on the whole line changes the log density.
double noise_of(const GlmRows &rows, const Vector &u) {
  if (rows.rounding() == 0) return 0;
  return rows.weight() * rows.rounding() * std::exp(-0.5 * u(u.size() - 1));
}

/// The number of coefficients that the rows determine rather than the prior, given the dispersion:
/// the trace of the inverse of their precision times what rows contribute to it.
double determined(const Matrix &factor, const GlmPrior &prior) {
  const Matrix root = inverse_lower(factor);
  const Eigen::Index coefficients = root.rows();
  double out = double(coefficients);
  for (Eigen::Index j = 0; j < coefficients; ++j)
    out -= prior.precision(j) * root.col(j).segment(j, coefficients - j).squaredNorm();
  return out;
}

/// Integrates the coefficients out where the precision has this factor, whose last number gains by
/// how their share bends.
void integrate(Matrix &factor, GlmPrior &prior, Eigen::Index coefficients, double log_dispersion,
               Density &at) {
  const Eigen::Index last = factor.rows() - 1;
  at.value -= prior.log_integral(log_dispersion);
  at.gradient(last) -= prior.slope(log_dispersion);
  prior.determined = determined(factor.topLeftCorner(coefficients, coefficients), prior);
  prior.log_dispersion = log_dispersion;
  prior.integral = -factor.diagonal().head(coefficients).array().log().sum();
  at.value += prior.log_integral(log_dispersion);
  at.gradient(last) += prior.slope(log_dispersion);
  factor(last, last) = std::hypot(factor(last, last), std::sqrt(prior.bend()));
}

}  // namespace

GlmMode newton(GlmRows &rows, const GlmPrior &given, Vector start, const Schedule &schedule,
               Control &control) {
  GlmPrior prior = given;
  const Eigen::Index last = start.size() - 1;
  if (rows.response().scales())
    prior.coefficients = prior.determined = rows.coefficients() - double(rows.constant().size());
  prior.log_dispersion = start(last);
  GlmMode out;
  out.state = std::move(start);
  double before = std::numeric_limits<double>::infinity();
  bool stuck = false;
  LoopCourse course(control, [&](StateNumbers &numbers) {
    numbers.dense(out.state);
    numbers.number(before);
    numbers.flag(stuck);
    for (double *const each : {&prior.determined, &prior.log_dispersion, &prior.integral})
      numbers.number(*each);
  });
  out.trace.assign(course.repeated().begin(), course.repeated().end());
  out.iterations = int(out.trace.size());
  Density at = density_at(rows, prior, out.state, true);
  out.trace.push_back(at.value);
  course.check(at.value);
  report_iteration(schedule, out, control);
  for (;;) {
    course.prepare();
    require_numbers(at);
    out.factor = factor_of(at.sums.curvature, prior, rows.extras());
    if (prior.coefficients > 0)
      integrate(out.factor, prior, rows.coefficients(), out.state(last), at);
    const Vector step = solved(out.factor, at.gradient);
    // Twice the gain that the quadratic approximation predicts.
    const double gain = at.gradient.dot(step);
    require_numbers(at, gain);
    // A gain this small is within the rounding errors of the density; once it stops shrinking, only
    // rounding errors are left.
    const bool near = gain < 1e-10 * (1 + std::fabs(at.value)) + noise_of(rows, out.state);
    out.converged = gain / 2 <= schedule.tolerance || (near && (gain > before / 4 || stuck));
    if (ends(schedule, out, course, control)) break;
    // Further ones would not find a greater density either, nor is there one without a dispersion.
    if (stuck || rounds(rows, out.state)) {
      course.save(out.trace, false);
      break;
    }
    before = near ? gain : std::numeric_limits<double>::infinity();
    LineSearch found = search(rows, prior, out.state, at, step, near ? -1 : gain, control);
    stuck = found.stuck;
    if (std::isfinite(found.density.value)) {
      out.state = std::move(found.there);
      at = std::move(found.density);
    }
    ++out.iterations;
    course.go_further();
    out.trace.push_back(at.value);
    report_iteration(schedule, out, control);
  }
  out.take(at.sums);
  out.added = prior.log_integral(out.state(last));
  return out;
}

Matrix augmented_precision(GlmRows &rows, const GlmPrior &prior) {
  return factor_of(rows.gram(), prior, 0);
}

GlmMode probit_em(GlmRows &rows, const GlmPrior &prior, Vector start, const Schedule &schedule,
                  Control &control) {
  GlmMode out;
  out.factor = augmented_precision(rows, prior);
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
    const Density at = density_at(rows, prior, out.state, false);
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
