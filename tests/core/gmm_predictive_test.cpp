// Predictions of a fitted Gaussian mixture: densities against their definition and integral, draws
// against densities, probabilities.
//
// Draws have fixed seeds; each statistical check has a false-alarm rate of 1e-5 over the choice of
// the seed.
#include <Eigen/Cholesky>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <functional>

#include "questions/row_distribution.hpp"
#include "slow_mixture.hpp"

using namespace support;

namespace {

struct Predictive {
  std::string name, shape;
  Options options;
};
std::vector<Predictive> predictives() {
  std::vector<Predictive> out;
  for (const auto &shape : shapes)
    for (const char *method : {"em", "vi"})
      out.push_back(
          {std::string(method) + ' ' + shape, shape, {{"method", method}, {"covariance", shape}}});
  out.push_back(
      {"vi independent", "full", {{"method", "vi"}, {"prior", Options{{"type", "independent"}}}}});
  return out;
}

/// Few rows, so that a Student t is far from a normal.
Matrix few_rows(int d) { return normal_rows(14, d, 80 + std::uint64_t(d), 2); }

/// log of the mixture's predictive density straight from the definition: for vi the ratio of two
/// evidences.
double slow_log_density(const Predictive &c, const GaussianMixture &model,
                        const std::vector<double> &x) {
  const int d = model.dimension();
  const Matrix one = Eigen::Map<const Matrix>(x.data(), 1, d);
  if (!model.has_posterior()) return double(slow::log_likelihood(one, {}, components(model)));
  const auto q = posteriors(model);
  slow::Real whole = 0;
  for (const auto &p : q) whole += p.alpha;
  std::vector<slow::Real> terms;
  for (std::size_t k = 0; k < q.size(); ++k)
    terms.push_back(std::log(q[k].alpha / whole) + slow::log_marginal(c.shape, one, {0}, {q[k]}));
  return double(slow::log_sum_exp(terms));
}

/// The independent prior's predictive in one dimension: a Student t smeared by the normal of its
/// mean, by the trapezoid rule.
double slow_independent_log_density(const GaussianMixture &model, double x) {
  const auto q = posteriors(model);
  slow::Real whole = 0, density = 0;
  for (const auto &p : q) whole += p.alpha;
  for (const auto &p : q) {
    const slow::Real nu = p.a, deviation = std::sqrt((slow::Real)p.S[0]), step = deviation / 200;
    for (slow::Real mu = p.m[0] - 12 * deviation; mu <= p.m[0] + 12 * deviation; mu += step) {
      const slow::Real z = (mu - p.m[0]) / deviation, y = (x - mu) * (x - mu) / p.B[0];
      const slow::Real t = std::exp(std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2) -
                                    (nu + 1) / 2 * std::log(1 + y)) /
                           std::sqrt(slow::pi * p.B[0]);
      density +=
          p.alpha / whole * step * std::exp(-z * z / 2) / (deviation * std::sqrt(2 * slow::pi)) * t;
    }
  }
  return double(std::log(density));
}

bool follows(std::vector<double> x, const std::function<double(double)> &cdf) {
  return support::scaled_gap(std::move(x), cdf) < support::largest_gap;
}

/// A component's distribution: centre, scale matrix, and degrees of freedom (0: normal).
struct Law {
  Vector centre;
  Matrix scale;
  double degrees;
};
Law law(const Predictive &c, const GaussianMixture &model, int k) {
  const int d = model.dimension();
  if (!model.has_posterior()) {
    const auto p = model.component(k);
    return {Eigen::Map<const Vector>(p.mean.data(), d),
            Eigen::Map<const Matrix>(p.covariance.data(), d, d), 0};
  }
  const auto q = model.posterior(k);
  const double nu = c.shape == "full" || c.shape == "tied" ? q.a + 1 - d : q.a;
  return {Eigen::Map<const Vector>(q.m.data(), d),
          Eigen::Map<const Matrix>(q.B.data(), d, d) * (q.c + 1) / (q.c * nu), nu};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gmm_predictive)

// Caught: nu = a for a + 1 - d, (c + 1) / c for its inverse, one chi-square for all columns of a
// diagonal covariance.
BOOST_AUTO_TEST_CASE(densities_agree_with_the_definition) {
  for (const auto &c : predictives())
    for (const int d : {1, 2, 3, 9}) {
      if (c.name == "vi independent") continue;
      const Matrix x = normal_rows(30, d, 85);
      const auto model = fit(x, 3, c.options);
      BOOST_TEST_CONTEXT(c.name << " d " << d)
      for (const double stretch : {1.0, 5.0, 100.0, 1e40})
        for (Eigen::Index i = 0; i < 5; ++i) {
          // So far away the reference loses its determinants of dense matrices.
          if (stretch > 100 && (c.shape == "full" || c.shape == "tied")) continue;
          const auto at = row(stretch * x, i);
          BOOST_TEST(distance(model->log_density(at), slow_log_density(c, *model, at)) < 1e-11);
        }
    }
}

BOOST_AUTO_TEST_CASE(densities_of_the_independent_prior) {
  const auto model = fit(few_rows(1), 2, predictives().back().options);
  for (const double x : {-8.0, -3.0, 0.0, 0.7, 2.5, 9.0, 1e4, -1e7}) {
    const double exact = slow_independent_log_density(*model, x);
    BOOST_TEST(std::abs(model->log_density({&x, 1}) - exact) < 1e-6,
               "at " << x << ": " << model->log_density({&x, 1}) << ", but " << exact);
  }
}

BOOST_AUTO_TEST_CASE(densities_integrate_to_one, *boost::unit_test::label("long")) {
  for (const auto &c : predictives()) {
    BOOST_TEST_CONTEXT(c.name) {
      // x = centre + width sinh(u): the trapezoid rule in u converges fast even with tails that
      // fall like a power of x.
      const Matrix line = few_rows(1), plane = few_rows(2);
      const auto one = fit(line, 2, c.options), two = fit(plane, 2, c.options);
      const double step = 0.02;
      double total = 0;
      for (double u = -18; u <= 18; u += step) {
        const double x = line.mean() + std::sinh(u);
        total += step * std::cosh(u) * std::exp(one->log_density({&x, 1}));
      }
      BOOST_TEST(std::abs(total - 1) < 1e-6);
      const double coarse = c.name == "vi independent" ? 0.08 : 0.05, far = 9;
      total = 0;
      for (double u = -far; u <= far; u += coarse)
        for (double v = -far; v <= far; v += coarse) {
          const double x[] = {plane.col(0).mean() + std::sinh(u),
                              plane.col(1).mean() + std::sinh(v)};
          total += coarse * coarse * std::cosh(u) * std::cosh(v) * std::exp(two->log_density(x));
        }
      BOOST_TEST(std::abs(total - 1) < 1e-4);
    }
  }
}

// Caught: as for the densities; spread and divisor mixed up; a component drawn from counts instead
// of weights.
BOOST_AUTO_TEST_CASE(draws_follow_the_density, *boost::unit_test::label("long")) {
  const int n = 20000;
  for (const auto &c : predictives())
    for (const int d : {1, 3}) {
      if (c.name == "vi independent") continue;
      const auto model = fit(normal_rows(14, d, 86, 2), 2, c.options);
      const auto rows = model->row_distribution();
      std::vector<int> counts(2, 0);
      std::vector<std::vector<double>> radius(2), angle(2);
      for (int i = 0; i < n; ++i) {
        Vector x(d);
        const int k = rows->sample(7, i, {x.data(), std::size_t(d)});
        const Law l = law(c, *model, k);
        const Vector z = Eigen::LLT<Matrix>(l.scale).matrixL().solve(x - l.centre);
        ++counts[std::size_t(k)];
        // A diagonal covariance under vi: a separate Student t for every column; else one for all
        // columns.
        radius[std::size_t(k)].push_back(c.name == "vi diagonal" ? z.cwiseAbs().maxCoeff()
                                                                 : z.squaredNorm() / d);
        if (d > 1 && c.name != "vi diagonal")
          angle[std::size_t(k)].push_back(std::atan2(z(0), z(d - 1)) / (2 * M_PI) + 0.5);
        if (d == 1) angle[std::size_t(k)].push_back(z(0) > 0);
      }
      BOOST_TEST_CONTEXT(c.name << " d " << d)
      for (int k = 0; k < 2; ++k) {
        const double p = model->component(k).weight, nu = law(c, *model, k).degrees;
        BOOST_TEST(std::abs(counts[std::size_t(k)] - n * p) < 4.417 * std::sqrt(n * p * (1 - p)));
        BOOST_TEST(follows(radius[std::size_t(k)], [&](double r) {
          using namespace boost::math;
          if (nu == 0) return cdf(chi_squared(d), r * d);
          if (c.name == "vi diagonal") return std::pow(2 * cdf(students_t(nu), r) - 1, d);
          return cdf(fisher_f(d, nu), r);
        }));
        if (d > 1 && c.name != "vi diagonal")
          BOOST_TEST(follows(angle[std::size_t(k)], [](double a) { return a; }));
        double ups = 0;
        for (const double up : angle[std::size_t(k)]) ups += up - 0.5;
        if (d == 1)
          BOOST_TEST(std::abs(ups) < 4.417 * 0.5 * std::sqrt(double(counts[std::size_t(k)])));
      }
    }
}

BOOST_AUTO_TEST_CASE(draws_of_the_independent_prior, *boost::unit_test::label("long")) {
  const int n = 20000;
  const auto one = fit(few_rows(1), 2, predictives().back().options);
  std::vector<double> x(n);
  const auto of_one = one->row_distribution();
  for (int i = 0; i < n; ++i) of_one->sample(8, i, {&x[std::size_t(i)], 1});
  // Its distribution function from its density, which is compared with quadrature above.
  std::vector<double> at, mass{0};
  for (double u = -12; u <= 12; u += 0.001) {
    at.push_back(std::sinh(u));
    mass.push_back(mass.back() +
                   0.001 * std::cosh(u) * std::exp(one->log_density({&at.back(), 1})));
  }
  BOOST_TEST(follows(x, [&](double v) {
    const auto i = std::size_t(std::lower_bound(at.begin(), at.end(), v) - at.begin());
    return std::min(1.0, mass[i]);
  }));
  // In two dimensions: that the log density has the mean over draws that it has over the plane.
  const auto two = fit(few_rows(2), 2, predictives().back().options);
  const auto of_two = two->row_distribution();
  double mean = 0, square = 0, expected = 0;
  for (int i = 0; i < n; ++i) {
    double y[2];
    of_two->sample(9, i, y);
    const double value = two->log_density(y);
    mean += value / n;
    square += value * value / n;
  }
  for (double u = -9; u <= 9; u += 0.08)
    for (double v = -9; v <= 9; v += 0.08) {
      const double y[] = {std::sinh(u), std::sinh(v)}, value = two->log_density(y);
      expected += 0.08 * 0.08 * std::cosh(u) * std::cosh(v) * std::exp(value) * value;
    }
  BOOST_TEST(std::abs(mean - expected) < 4.417 * std::sqrt((square - mean * mean) / n) + 1e-3);
}

BOOST_AUTO_TEST_CASE(draws_are_determined_by_seed_and_index) {
  const auto model = fit(few_rows(2), 2, {{"method", "vi"}});
  const auto rows = model->row_distribution();
  double a[2], b[2];
  BOOST_TEST(rows->sample(3, 5, a) == rows->sample(3, 5, b));
  BOOST_TEST((a[0] == b[0] && a[1] == b[1]));
  rows->sample(3, 6, b);
  BOOST_TEST(a[0] != b[0]);
  rows->sample(4, 5, b);
  BOOST_TEST(a[0] != b[0]);
}

BOOST_AUTO_TEST_CASE(probabilities_and_predictions) {
  for (const auto &c : predictives())
    for (const int k : {1, 3, 9}) {
      const Matrix x = normal_rows(60, 2, 88);
      const auto model = fit(x, k, with(c.options, {{"restarts", 1}, {"max_iter", 20}}));
      std::vector<double> p(static_cast<std::size_t>(k));
      BOOST_TEST_CONTEXT(c.name << " k " << k)
      for (const double stretch : {1.0, 1e3, 1e100, 1e300})
        for (Eigen::Index i = 0; i < 20; ++i) {
          const auto at = row(stretch * x, i);
          model->probabilities(at, p);
          double total = 0;
          for (const double v : p) {
            BOOST_TEST(v >= 0);
            total += v;
          }
          BOOST_TEST(std::abs(total - 1) < 1e-12);
          BOOST_TEST(p[std::size_t(model->predict(at))] == *std::max_element(p.begin(), p.end()));
          BOOST_TEST(!std::isnan(model->log_density(at)));
        }
    }
}

// Found by fuzzing: steps so small relative to the degrees of freedom that their loop did not end.
BOOST_AUTO_TEST_CASE(any_number_of_degrees_of_freedom) {
  const auto model = fit(normal_rows(60, 2, 89), 2, {{"prior", Options{{"type", "independent"}}}});
  const std::vector<double> at = {0.3, 0.2};
  std::vector<double> densities;
  for (const double a : {1e8, 1e12, 1e300}) {
    bayes::Document document = model->to_document(), posterior = *document.find("posterior");
    posterior.set("a", bayes::Tensor{{2}, {a, a}})
        .set("B", bayes::Tensor{{2, 2, 2}, {a, 0, 0, a, a, 0, 0, a}});
    document.set("posterior", posterior);
    const auto changed = bayes::Model::from_document(document);
    densities.push_back(dynamic_cast<const bayes::GaussianMixture &>(*changed).log_density(at));
  }
  BOOST_TEST(std::abs(densities[0] - densities[2]) < 1e-6);
  BOOST_TEST(std::abs(densities[1] - densities[2]) < 1e-6);
}

BOOST_AUTO_TEST_SUITE_END()
