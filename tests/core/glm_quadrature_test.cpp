// Posteriors of generalized linear models against sums over a grid of all unknowns: the evidence,
// and means and deviations of the coefficients, which Laplace's approximation must come close to.
#include <algorithm>
#include <cmath>

#include "regression/glm.hpp"
#include "regression/glm_state.hpp"
#include "support.hpp"

using namespace bayes;

namespace {

/// y and, unless the response has a dispersion, an x of mean 0 and variance 1.
struct Data {
  static constexpr int n = 100;
  static constexpr double trials = 7, degrees = 4;
  const NumberResponse &of;
  Matrix rows;
  /// mean of the intercept's prior, and the unit of all priors
  double centre = 0, unit = 1;

  explicit Data(const NumberResponse &of) : of(of), rows(n, of.dispersed() ? 1 : 2) {
    Random random(17);
    Vector x(n);
    for (double &each : x) each = random.normal();
    x.array() -= x.mean();
    x /= std::sqrt(x.squaredNorm() / n);
    for (int i = 0; i < n; ++i)
      rows(i, 0) = of.sample(
          {0.4 + (of.dispersed() ? 0 : 0.3 * x(i)), of.has_trials() ? trials : 1, -0.7, degrees},
          random);
    if (!of.dispersed()) rows.col(1) = x;
    const double mean = rows.col(0).mean();
    if (of.link == Link::log) centre = std::log(mean);
    if (of.link != Link::identity) return;
    centre = mean;
    unit = std::sqrt((rows.col(0).array() - mean).square().mean());
  }

  Document options() const {
    Document out = Document::object().set("response", of.name);
    if (of.link == Link::probit) out.set("link", "probit");
    if (of.has_trials()) out.set("trials", std::int64_t(trials));
    return out;
  }

  /// The log joint density of the responses, the intercept a, and b, the logarithm of the
  /// dispersion or the coefficient of x.
  double log_joint(double a, double b) const {
    const auto normal = [](double x, double mean, double variance) {
      return -0.5 * ((x - mean) * (x - mean) / variance + std::log(variance) +
                     std::log(2 * 3.14159265358979323846));
    };
    double out = normal(a, centre, 100 * unit * unit);
    out += of.dispersed() ? normal(b, 2 * std::log(unit), 9) : normal(b, 0, 6.25);
    ResponsePoint at{a, of.has_trials() ? trials : 1, of.dispersed() ? b : 0, degrees};
    for (int i = 0; i < n; ++i) {
      if (!of.dispersed()) at.predictor = a + b * rows(i, 1);
      out += of.log_density(rows(i, 0), at);
    }
    return out;
  }
};

std::unique_ptr<Glm> fit(const Data &data, const Document &options) {
  MemoryRows packed = support::rows_of(data.rows, {});
  Control control;
  GlmWarnings warnings;
  return glm_fit(GlmFamily::glm, packed, {}, options, control, warnings);
}

/// Of the intercept, and of the slope or the logarithm of the dispersion.
struct Moments {
  double mean[2], deviation[2], evidence = 0;
};

Moments moments(const Glm &model, const Data &data) {
  Moments out;
  int at = 0;
  model.describe_parameters(0.95, [&](const Parameter &p) {
    const bool logarithm = at == 1 && data.of.dispersed();
    const double low = logarithm ? std::log(p.lower) : p.lower,
                 high = logarithm ? std::log(p.upper) : p.upper;
    out.mean[at] = (low + high) / 2;
    out.deviation[at++] = (high - low) / 2 / 1.959963984540054;
  });
  BOOST_TEST_REQUIRE(at == 2);
  return out;
}

/// The exact ones, by sums within eight deviations of a normal approximation.
Moments over_grid(const Data &data, const Moments &normal) {
  constexpr double step = 0.1;
  const double mode = data.log_joint(normal.mean[0], normal.mean[1]);
  double total = 0, sum[2] = {}, squares[2] = {};
  for (double s = -8; s <= 8; s += step)
    for (double t = -8; t <= 8; t += step) {
      const double density = std::exp(data.log_joint(normal.mean[0] + s * normal.deviation[0],
                                                     normal.mean[1] + t * normal.deviation[1]) -
                                      mode);
      const double off[] = {s, t};
      total += density;
      for (int j = 0; j < 2; ++j) {
        sum[j] += density * off[j];
        squares[j] += density * off[j] * off[j];
      }
    }
  Moments out;
  out.evidence = mode + std::log(total * step * step * normal.deviation[0] * normal.deviation[1]);
  for (int j = 0; j < 2; ++j) {
    const double shift = sum[j] / total;
    out.mean[j] = normal.mean[j] + shift * normal.deviation[j];
    out.deviation[j] = normal.deviation[j] * std::sqrt(squares[j] / total - shift * shift);
  }
  return out;
}

/// Four normal responses about a mean whose prior has variance c in units of theirs.
struct FewRows {
  static constexpr double y[] = {1, 2, 4, 9}, count = 4;
  Matrix rows = Eigen::Map<const Matrix>(y, 4, 1);
  double squares = (rows.array() - rows.mean()).square().sum(), unit = squares / count;

  /// of the log dispersion, with the mean integrated out in closed form
  double log_posterior(double t, double c) const {
    const double off = t - std::log(unit);
    return -0.5 * ((count - 1) * t + squares * std::exp(-t) +
                   std::log(std::exp(t) / count + c * unit) + off * off / 9);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(glm_quadrature)

BOOST_AUTO_TEST_CASE(approximations_come_close_to_the_posterior) {
  for (const NumberResponse *const of : number_responses())
    BOOST_TEST_CONTEXT(of->name << ' ' << int(of->link)) {
      const Data data(*of);
      const auto model = fit(data, data.options());
      const Moments own = moments(*model, data), exact = over_grid(data, own);
      BOOST_TEST(std::fabs(model->info.objective - exact.evidence) < 0.05);
      for (int j = 0; j < 2; ++j) {
        const double shift = (exact.mean[j] - own.mean[j]) / own.deviation[j];
        // The likelihood of a negative binomial dispersion is skew.
        const bool skew = j == 1 && of->dispersed() && !of->scales();
        BOOST_TEST(std::fabs(shift) < (skew ? 0.25 : 0.12));
        BOOST_TEST(std::fabs(exact.deviation[j] / own.deviation[j] - 1) < (skew ? 0.2 : 0.04));
      }
    }
}

// 8000 draws, worth 3000 independent ones of means and 1500 of deviations: the bounds are six
// standard errors.
BOOST_AUTO_TEST_CASE(draws_are_those_of_the_posterior) {
  for (const NumberResponse *const of : number_responses())
    BOOST_TEST_CONTEXT(of->name << ' ' << int(of->link)) {
      const Data data(*of);
      const auto model = fit(
          data, data.options().set("method", "slice").set("draws", 4500).set("stored_draws", 8000));
      const Moments normal = moments(*fit(data, data.options()), data),
                    exact = over_grid(data, normal);
      const std::vector<double> &draws = model->state->draws;
      for (int j = 0; j < 2; ++j) {
        double sum = 0, squares = 0;
        const double count = double(draws.size()) / 2;
        for (std::size_t at = std::size_t(j); at < draws.size(); at += 2) {
          const double off = (draws[at] - exact.mean[j]) / exact.deviation[j];
          sum += off;
          squares += off * off;
        }
        BOOST_TEST(std::fabs(sum / count) < 0.11);
        BOOST_TEST(std::fabs(std::sqrt(squares / count) - 1) < 0.11);
      }
    }
}

// Where the posterior is skew, by far: five yes, and an intercept that its prior alone bounds.
BOOST_AUTO_TEST_CASE(draws_are_those_of_a_skew_posterior) {
  MemoryRows packed = support::rows_of(Matrix::Ones(5, 1), {});
  Control control;
  GlmWarnings warnings;
  const auto model = glm_fit(GlmFamily::glm, packed, {},
                             Document::object()
                                 .set("response", "bernoulli")
                                 .set("method", "slice")
                                 .set("draws", 4500)
                                 .set("stored_draws", 8000),
                             control, warnings);
  double total = 0, mean = 0, square = 0;
  for (double a = -10; a < 60; a += 0.01) {
    const double density = std::exp(-5 * std::log1p(std::exp(-a)) - a * a / 200);
    total += density;
    mean += density * a;
    square += density * a * a;
  }
  mean /= total;
  const double deviation = std::sqrt(square / total - mean * mean);
  double sum = 0, squares = 0;
  const std::vector<double> &draws = model->state->draws;
  for (const double u : draws) {
    sum += u - mean;
    squares += (u - mean) * (u - mean);
  }
  const double count = double(draws.size());
  BOOST_TEST(std::fabs(sum / count) < 0.12 * deviation);
  BOOST_TEST(std::fabs(std::sqrt(squares / count) / deviation - 1) < 0.12);
}

// Four normal responses about a mean whose prior tells as much as they do: with the mean integrated
// out in closed form, the posterior of the log dispersion has this mode and this curvature.
BOOST_AUTO_TEST_CASE(dispersions_know_what_the_prior_has_of_the_coefficients) {
  const FewRows few;
  for (const double c : {0.01, 0.3, 100.0}) BOOST_TEST_CONTEXT("variance of the intercept: " << c) {
      const auto log_posterior = [&](double t) { return few.log_posterior(t, c); };
      const double h = 1e-4;
      double mode = std::log(few.unit), curvature = 0;
      for (int i = 0; i < 50; ++i) {
        const double above = log_posterior(mode + h), below = log_posterior(mode - h);
        curvature = (2 * log_posterior(mode) - above - below) / (h * h);
        mode += (above - below) / (2 * h) / curvature;
      }
      MemoryRows packed = support::rows_of(few.rows, {});
      Control control;
      GlmWarnings warnings;
      const auto model = glm_fit(GlmFamily::glm, packed, {},
                                 Document::object()
                                     .set("response", "normal")
                                     .set("tol", 1e-14)
                                     .set("prior", Document::object().set("c_intercept", c)),
                                 control, warnings);
      BOOST_TEST(model->info.converged);
      model->describe_parameters(0.95, [&](const Parameter &p) {
        if (std::string(p.name) != "dispersion") return;
        const double low = std::log(p.lower), high = std::log(p.upper);
        BOOST_TEST((low + high) / 2 == mode, boost::test_tools::tolerance(1e-6));
        BOOST_TEST((high - low) / 2 / 1.959963984540054 == 1 / std::sqrt(curvature),
                   boost::test_tools::tolerance(1e-4));
      });
    }
}

// Of such few rows the posterior is a funnel: the mean varies with the root of the dispersion.
BOOST_AUTO_TEST_CASE(draws_of_few_rows_are_those_of_the_posterior) {
  const FewRows few;
  const double middle = std::log(few.unit);
  double total = 0, mean = 0, square = 0;
  for (double t = middle - 12; t < middle + 20; t += 0.01) {
    const double density = std::exp(few.log_posterior(t, 100));
    total += density;
    mean += density * t;
    square += density * t * t;
  }
  mean /= total;
  const double deviation = std::sqrt(square / total - mean * mean);
  MemoryRows packed = support::rows_of(few.rows, {});
  Control control;
  GlmWarnings warnings;
  const auto model = glm_fit(GlmFamily::glm, packed, {},
                             Document::object()
                                 .set("response", "normal")
                                 .set("method", "slice")
                                 .set("draws", 4500)
                                 .set("stored_draws", 8000),
                             control, warnings);
  double sum = 0, sum_of_squares = 0;
  const std::vector<double> &draws = model->state->draws;
  for (std::size_t at = 1; at < draws.size(); at += 2) {
    sum += draws[at] - mean;
    sum_of_squares += (draws[at] - mean) * (draws[at] - mean);
  }
  BOOST_TEST(std::fabs(sum / (double(draws.size()) / 2)) < 0.15 * deviation);
  BOOST_TEST(std::fabs(std::sqrt(sum_of_squares / (double(draws.size()) / 2)) / deviation - 1) <
             0.15);
}

BOOST_AUTO_TEST_SUITE_END()
