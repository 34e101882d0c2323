// The kernels of logistic and probit regression: sums over rows against slow ones in long double,
// the tail of the normal distribution, and moments of probabilities against quadrature.
#include "binary_support.hpp"
#include "regression/glm_learners.hpp"
#include "regression/link_moments.hpp"

using namespace bayes;
using binary::Real;

namespace {

/// z of a row, with an intercept, by the definition of the scales.
std::vector<Real> slow_terms(const TermScales &scales, const Matrix &x, Eigen::Index row) {
  std::vector<Real> z{1};
  for (Eigen::Index j = 0; j < x.cols(); ++j)
    z.push_back((Real(x(row, j)) - scales.centre[std::size_t(j) + 1]) /
                scales.scale[std::size_t(j) + 1]);
  return z;
}

/// The sums of a pass, in long double.
struct SlowSums {
  Real log_likelihood = 0;
  std::vector<Real> gradient, curvature;
};
SlowSums slow_sums(const binary::Rows &rows, const TermScales &scales, Link link, const Vector &u) {
  const std::size_t p = std::size_t(u.size());
  SlowSums out{0, std::vector<Real>(p), std::vector<Real>(p * p)};
  for (Eigen::Index i = 0; i < rows.x.rows(); ++i) {
    const std::vector<Real> z = slow_terms(scales, rows.x, i);
    Real a = 0;
    for (std::size_t j = 0; j < p; ++j) a += z[j] * u(Eigen::Index(j));
    const int sign = rows.y[std::size_t(i)] ? 1 : -1;
    const auto log_density = [&](Real predictor) {
      return binary::log_link(link, sign * predictor);
    };
    const Real h = 1e-4L, w = rows.w(i), at = log_density(a);
    // Differences of fourth order.
    const Real slope = (8 * (log_density(a + h) - log_density(a - h)) -
                        (log_density(a + 2 * h) - log_density(a - 2 * h))) /
                       (12 * h),
               bend = (16 * (log_density(a + h) + log_density(a - h)) - 30 * at -
                       (log_density(a + 2 * h) + log_density(a - 2 * h))) /
                      (12 * h * h);
    out.log_likelihood += w * at;
    for (std::size_t j = 0; j < p; ++j) {
      out.gradient[j] += w * slope * z[j];
      for (std::size_t k = 0; k < p; ++k) out.curvature[j * p + k] -= w * bend * z[j] * z[k];
    }
  }
  return out;
}

Vector some_coefficients(Eigen::Index p, std::uint64_t seed, double size) {
  Random random(seed);
  Vector u(p);
  for (Eigen::Index j = 0; j < p; ++j) u(j) = size * random.normal();
  return u;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(binary_rows)

BOOST_AUTO_TEST_CASE(the_tail_of_the_normal_distribution_is_exact) {
  for (const double t : {-1e6, -300.0, -40.0, -24.7, -17.01, -17.0, -16.99, -12.0, -5.0, -1.0, -0.1,
                         0.0, 0.1, 1.0, 3.0, 8.0, 20.0}) {
    const LogNormalCdf found = log_normal_cdf(t);
    const Real value = binary::log_link(Link::probit, t);
    const Real slope =
        std::exp(-0.5L * t * t - 0.5L * std::log(2 * 3.14159265358979323846L) - value);
    BOOST_TEST(found.value == double(value), boost::test_tools::tolerance(1e-13));
    if (t < -1000) continue;  // where the slope above loses digits
    BOOST_TEST(found.slope == double(slope), boost::test_tools::tolerance(1e-12));
    // slope + t cancels, here as well
    BOOST_TEST(found.curvature == double(slope * (slope + t)),
               boost::test_tools::tolerance(t < -100 ? 1e-9 : 2e-11));
  }
  for (const double t : {-1e3, -1e8, -1e150}) {
    const LogNormalCdf found = log_normal_cdf(t);
    BOOST_TEST(found.curvature == 1 - 1 / (t * t), boost::test_tools::tolerance(1e-8));
    BOOST_TEST(std::isfinite(found.value));
  }
}

BOOST_AUTO_TEST_CASE(moments_of_probabilities_agree_with_quadrature) {
  for (const Link link : {Link::logit, Link::probit})
    for (const double m : {-30.0, -20.0, -8.0, -2.0, 0.0, 0.5, 5.0})
      for (const double s : {1e-3, 0.3, 1.08, 2.8, 3.9, 4.02, 12.0}) {
        Real mean = 0, square = 0, total = 0;
        const Real last = 14 + 2 * s - 2 * m * s / (1 + s * s);
        for (Real t = -14; t <= last; t += 0.002L) {
          const Real weight = std::exp(-0.5L * t * t), a = m + s * t,
                     p = std::exp(binary::log_link(link, a));
          total += weight;
          mean += weight * p;
        }
        mean /= total;
        for (Real t = -14; t <= last; t += 0.002L) {
          const Real d = std::exp(binary::log_link(link, m + s * t)) - mean;
          square += std::exp(-0.5L * t * t) * d * d;
        }
        const LinkMoments found = link_moments(link, m, s * s);
        BOOST_TEST_CONTEXT("link " << int(link) << " mean " << m << " sd " << s) {
          BOOST_TEST(found.mean == double(mean), boost::test_tools::tolerance(5e-13));
          BOOST_TEST(found.sd == double(std::sqrt(square / total)),
                     boost::test_tools::tolerance(5e-13));
        }
      }
  // far beyond what is ever seen, still a probability, and symmetric
  for (const double m : {-1e10, -300.0, 40.0, 1e10})
    for (const double v : {1e-300, 1e-4, 1e4, 1e20}) {
      const LinkMoments one = link_moments(Link::logit, m, v),
                        other = link_moments(Link::logit, -m, v);
      BOOST_TEST((one.mean >= 0 && one.mean <= 1));
      BOOST_TEST((one.sd >= 0 && one.sd <= 0.5));
      BOOST_TEST(one.mean + other.mean == 1, boost::test_tools::tolerance(1e-12));
    }
  // where there are so many steps to the left that they would not end
  for (const double v : {1e4, 1e20, 1e36})
    BOOST_TEST(link_moments(Link::logit, -v, v).mean <= std::exp(-0.4 * v));
}

// Logarithms of probabilities that underflow, or would. By the trapezoidal rule about the mode of
// the integrand, in logarithms.
BOOST_AUTO_TEST_CASE(logarithms_of_tiny_probabilities) {
  for (const Link link : {Link::logit, Link::probit})
    for (const auto &[m, s] :
         {std::pair(-3.0, 0.4), std::pair(-30.0, 6.0), std::pair(-100.0, 0.6),
          std::pair(-1000.0, 3.5), std::pair(-1000.0, 20.0), std::pair(-2500.0, 50.0),
          std::pair(-5000.0, 100.0), std::pair(-4000.0, 100.0), std::pair(2.0, 3.0)}) {
      const auto log_integrand = [link, m = m, s = s](Real a) {
        return binary::log_link(link, a) - (a - m) * (a - m) / (2 * s * s);
      };
      Real low = m - 100 * s, high = 100 * s;
      for (int i = 0; i < 200; ++i) {  // the integrand is log-concave
        const Real third = (high - low) / 3;
        (log_integrand(low + third) < log_integrand(high - third) ? low : high) +=
            log_integrand(low + third) < log_integrand(high - third) ? third : -third;
      }
      const Real mode = (low + high) / 2, top = log_integrand(mode);
      Real sum = 0;
      const Real step = std::min(Real(s), Real(1)) / 20;
      for (Real a = mode - 40 * (s + 1); a < mode + 40 * (s + 1); a += step)
        sum += std::exp(log_integrand(a) - top);
      const Real slow = top + std::log(sum * step / s) - std::log(2 * 3.14159265358979323846L) / 2;
      BOOST_TEST_CONTEXT("link " << int(link) << " mean " << m << " sd " << s)
      BOOST_TEST(log_link_mean(link, m, s * s) == double(slow),
                 boost::test_tools::tolerance(1e-11));
    }
  BOOST_TEST(log_link_mean(Link::logit, -1000, 0) == -1000);
  BOOST_TEST(std::isfinite(log_link_mean(Link::logit, -1e20, 1e19)));
  BOOST_TEST(std::isfinite(log_link_mean(Link::logit, -1e20, 1.05e20)));
}

BOOST_AUTO_TEST_CASE(sums_over_rows_are_those_of_the_definition) {
  for (const Link link : {Link::logit, Link::probit})
    for (const bool weighted : {false, true})
      for (const int d : {1, 6, 67}) {  // more terms than have partial sums in lanes
        const binary::Rows rows = binary::synthetic(d == 67 ? 140 : 300, d, 7 + d, weighted);
        MemoryRows packed = rows.packed();
        const RegressionTerms terms({}, d, true);
        Control control;
        GlmRows data(packed, terms, bernoulli(link), {}, control);
        const Vector u = some_coefficients(d + 1, 3, d == 67 ? 0.3 : 1.5);
        const GlmSums found = data.likelihood(u, true);
        const SlowSums expected = slow_sums(rows, data.scales(), link, u);
        BOOST_TEST(found.log_likelihood == double(expected.log_likelihood),
                   boost::test_tools::tolerance(1e-12));
        double worst = 0, size = 0;
        for (int j = 0; j <= d; ++j) {
          size = std::max(size, std::fabs(double(expected.gradient[std::size_t(j)])));
          worst = std::max(
              worst, std::fabs(found.gradient(j) - double(expected.gradient[std::size_t(j)])));
        }
        BOOST_TEST(worst <= 1e-10 * (1 + size));
        worst = 0;
        for (int j = 0; j <= d; ++j)
          for (int k = 0; k <= d; ++k)
            worst = std::max(worst,
                             std::fabs(found.curvature(j, k) -
                                       double(expected.curvature[std::size_t(j * (d + 1) + k)])));
        BOOST_TEST(worst <= 1e-7 * found.curvature.diagonal().maxCoeff());
        const Matrix gram = data.gram();
        Real corner = 0, total = 0;
        for (Eigen::Index i = 0; i < rows.x.rows(); ++i) {
          const std::vector<Real> z = slow_terms(data.scales(), rows.x, i);
          corner += rows.w(i) * z[std::size_t(d)] * z[1];
          total += rows.w(i);
        }
        BOOST_TEST(gram(d, 1) == double(corner), boost::test_tools::tolerance(1e-10));
        BOOST_TEST(gram(0, 0) == double(total), boost::test_tools::tolerance(1e-12));
        BOOST_TEST(data.weight() == double(total), boost::test_tools::tolerance(1e-12));
      }
}

BOOST_AUTO_TEST_CASE(scales_are_standard_deviations_but_of_zeros_and_ones) {
  binary::Rows rows = binary::synthetic(200, 4, 11, true);
  for (Eigen::Index i = 0; i < 200; ++i) {
    rows.x(i, 1) = i % 3 == 0;
    rows.x(i, 2) = -7.25;
    rows.x(i, 3) = 1e150 * rows.x(i, 0) + 3e149;
  }
  MemoryRows packed = rows.packed();
  Control control;
  const RegressionTerms with({}, 4, true), without({}, 4, false);
  const TermScales scales = GlmRows(packed, with, bernoulli(Link::logit), {}, control).scales();
  const Vector means = binary::means(rows);
  Real squares = 0, total = 0, plain = 0;
  for (Eigen::Index i = 0; i < 200; ++i) {
    const Real d = rows.x(i, 0) - means(0);
    squares += rows.w(i) * d * d;
    plain += rows.w(i) * Real(rows.x(i, 0)) * rows.x(i, 0);
    total += rows.w(i);
  }
  const double sd = double(std::sqrt(squares / total));
  BOOST_TEST(scales.scale[1] == sd, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(scales.centre[1] == means(0), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(scales.scale[2] == 1);
  BOOST_TEST(scales.centre[2] == means(1), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(scales.scale[3] == 1);
  BOOST_TEST(scales.centre[3] == -7.25);
  BOOST_TEST(scales.scale[4] == 1e150 * sd, boost::test_tools::tolerance(1e-12));
  const TermScales origin = GlmRows(packed, without, bernoulli(Link::logit), {}, control).scales();
  BOOST_TEST(origin.centre == std::vector<double>(4, 0.0), boost::test_tools::per_element());
  BOOST_TEST(origin.scale[0] == double(std::sqrt(plain / total)),
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(origin.scale[2] == 7.25);
}

BOOST_AUTO_TEST_CASE(threads_and_stretches_change_no_bit) {
  const binary::Rows rows = binary::synthetic(9000, 7, 5, true);
  MemoryRows packed = rows.packed();
  support::StretchedRows stretched(rows.joined(), rows.weight, 2);
  const RegressionTerms terms({}, 7, true);
  const Vector u = some_coefficients(8, 3, 1);
  Control one, four;
  four.threads = 4;
  for (const Link link : {Link::logit, Link::probit}) {
    GlmRows first(packed, terms, bernoulli(link), {}, one),
        second(stretched, terms, bernoulli(link), {}, four);
    BOOST_TEST(first.scales().scale == second.scales().scale, boost::test_tools::per_element());
    const GlmSums a = first.likelihood(u, true), b = second.likelihood(u, true);
    BOOST_TEST(a.log_likelihood == b.log_likelihood);
    BOOST_TEST((a.gradient == b.gradient && a.curvature == b.curvature));
    const RowRandom random(1, 2, 3, 4);
    const GlmSums c = first.augment(u, random), d = second.augment(u, random);
    BOOST_TEST((c.gradient == d.gradient && c.squares == d.squares));
  }
}

BOOST_AUTO_TEST_CASE(latent_variables_have_their_moments) {
  // Of y* ~ Normal(a, 1) on the side of its y: mean a + s slope, E y*^2 = 1 + a^2 + a s slope. The
  // tails are where draws are rejected: at 5.1 one in sixty, so that taking all of them shows. n
  // draws: six standard errors.
  const int n = 100000;
  for (const double a : {-9.0, -5.1, -2.0, 0.0, 1.0, 6.0}) {
    binary::Rows rows{std::vector<int>(n, 1), Matrix::Constant(n, 1, a), {}};
    MemoryRows packed = rows.packed();
    Control control;
    const RegressionTerms terms({}, 1, false);
    GlmRows data(packed, terms, bernoulli(Link::probit), {}, control);
    const Vector u = Vector::Constant(1, a == 0 ? 0 : data.scales().scale[0]);
    const GlmSums sums = data.augment(u, RowRandom(5, 0, 0, 0));
    const double slope = log_normal_cdf(a).slope;
    const double variance = 1 - log_normal_cdf(a).curvature, bound = 6 * std::sqrt(variance / n),
                 z = a == 0 ? 0 : a / data.scales().scale[0];
    if (a != 0) BOOST_TEST(std::fabs(sums.gradient(0) / z / n - (a + slope)) <= bound);
    const double square = 1 + a * a + a * slope;
    BOOST_TEST(std::fabs(sums.squares / n - square) <=
               6 * 2 * (1 + std::fabs(a + slope)) * std::sqrt(variance / n));
    BOOST_TEST(sums.log_likelihood == n * log_normal_cdf(a).value,
               boost::test_tools::tolerance(1e-10));
  }
}

BOOST_AUTO_TEST_SUITE_END()
