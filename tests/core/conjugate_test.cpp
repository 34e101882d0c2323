// Conjugate models: posteriors against quadrature of likelihood times prior in long double, the
// chain rule of predictives against the evidence, comparisons of two posteriors against finite sums
// (references/comparisons.py).
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "conjugate/dirichlet_categorical.hpp"
#include "conjugate_support.hpp"

using namespace bayes;
using namespace conjugate_models;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// By the trapezoidal rule in t, x = middle + width sinh(t).
long double integral(const std::function<long double(long double)> &f, long double middle,
                     long double width) {
  long double sum = 0;
  const long double h = 1.0L / 64;
  for (int i = -640; i <= 640; ++i)
    sum += f(middle + width * std::sinh(i * h)) * width * std::cosh(i * h) * h;
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(conjugate)

// log p(x_1, ..., x_n) = sum log p(x_i | x_1, ..., x_{i-1}), whatever the prior.
BOOST_AUTO_TEST_CASE(evidence_is_the_product_of_predictives) {
  for (const ConjugateKind kind : kinds) {
    const std::vector<Row> rows = make_rows(kind, 40, 3, kind == ConjugateKind::gamma_poisson);
    ConjugateSums sums;
    double chain = 0;
    for (const Row &row : rows) {
      const ConjugateModel before(kind, proper_prior(kind), sums);
      if (sums.rows > 0 || kind != ConjugateKind::normal_inverse_gamma) {
        chain += before.log_predictive(row.x, row.weight);
      } else {
        // the prior predictive, a Student t: no mean of no rows
        const auto [m, c, a, b] = proper_prior(kind);
        const double scale = b * (c + 1) / c, away = row.x - m;
        chain += std::lgamma(a + 0.5) - std::lgamma(a) - 0.5 * std::log(2 * M_PI * scale) -
                 (a + 0.5) * std::log1p(away * away / (2 * scale));
      }
      sums.add(kind, row.x, row.weight, 1);
    }
    const ConjugateModel all(kind, proper_prior(kind), sums);
    BOOST_TEST(near(all.log_evidence(), chain, 1e-12));
  }
}

// Evidence, mean and P(parameter < x) by quadrature of likelihood times prior.
BOOST_AUTO_TEST_CASE(posteriors_by_quadrature) {
  {
    const auto kind = ConjugateKind::beta_bernoulli;
    const std::vector<Row> rows = make_rows(kind, 25, 4, true);
    const ConjugateModel model(kind, {1.5, 2.5}, sums_of(kind, rows));
    const auto joint = [&](long double logit) -> long double {
      const long double p = 1 / (1 + std::exp(-logit)), q = 1 / (1 + std::exp(logit));
      long double log_joint = 1.5L * std::log(p) + 2.5L * std::log(q) + std::lgamma(4.0L) -
                              std::lgamma(1.5L) - std::lgamma(2.5L);
      for (const Row &row : rows) log_joint += row.weight * std::log(row.x != 0 ? p : q);
      return std::exp(log_joint);
    };
    const long double evidence = integral(joint, -1, 0.5);
    const auto mean =
        integral([&](long double u) { return joint(u) / (1 + std::exp(-u)); }, -1, 0.5);
    BOOST_TEST(near(model.log_evidence(), double(std::log(evidence)), 1e-13));
    BOOST_TEST(near(model.posterior_mean(), double(mean / evidence), 1e-13));
  }
  {
    const auto kind = ConjugateKind::gamma_poisson;
    const std::vector<Row> rows = make_rows(kind, 25, 5, true);
    const ConjugateModel model(kind, {1.5, 2.5}, sums_of(kind, rows));
    const auto joint = [&](long double u) -> long double {
      const long double rate = std::exp(u);
      long double log_joint = 1.5L * std::log(2.5L) - std::lgamma(1.5L) + 1.5L * u - 2.5L * rate;
      for (const Row &row : rows)
        log_joint += row.x * std::log(rate * row.weight) - rate * row.weight -
                     std::lgamma((long double)row.x + 1);
      return std::exp(log_joint);
    };
    const long double evidence = integral(joint, 1, 0.5);
    const auto mean = integral([&](long double u) { return joint(u) * std::exp(u); }, 1, 0.5);
    BOOST_TEST(near(model.log_evidence(), double(std::log(evidence)), 1e-13));
    BOOST_TEST(near(model.posterior_mean(), double(mean / evidence), 1e-13));
  }
  {
    const auto kind = ConjugateKind::normal_inverse_gamma;
    const std::vector<Row> rows = make_rows(kind, 12, 6, true);
    const auto prior = proper_prior(kind);
    const ConjugateModel model(kind, prior, sums_of(kind, rows));
    const auto joint = [&](long double mu, long double log_precision) -> long double {
      const long double precision = std::exp(log_precision), m = prior[0], c = prior[1],
                        a = prior[2], b = prior[3];
      const auto log_normal = [&](long double x, long double mean, long double p) {
        return 0.5L * std::log(p / (2 * M_PIl)) - p / 2 * (x - mean) * (x - mean);
      };
      long double out = log_normal(mu, m, c * precision) + a * std::log(b) - std::lgamma(a) +
                        a * log_precision - b * precision;
      for (const Row &row : rows) out += row.weight * log_normal(row.x, mu, precision);
      return std::exp(out);
    };
    const auto coarse = [](auto f, long double middle, long double width) {
      long double sum = 0;
      const long double h = 1.0L / 16;
      for (int i = -120; i <= 120; ++i)
        sum += f(middle + width * std::sinh(i * h)) * width * std::cosh(i * h) * h;
      return sum;
    };
    long double first = 0, square = 0;
    const long double evidence = coarse(
        [&](long double l) {
          return coarse([&](long double mu) { return joint(mu, l); }, 2.5L, 0.6L);
        },
        -1.5L, 0.4L);
    first = coarse(
        [&](long double l) {
          return coarse([&](long double mu) { return mu * joint(mu, l); }, 2.5L, 0.6L);
        },
        -1.5L, 0.4L);
    square = coarse(
        [&](long double l) {
          return coarse([&](long double mu) { return mu * mu * joint(mu, l); }, 2.5L, 0.6L);
        },
        -1.5L, 0.4L);
    BOOST_TEST(near(model.log_evidence(), double(std::log(evidence)), 1e-11));
    BOOST_TEST(near(model.posterior_mean(), double(first / evidence), 1e-11));
    const double deviation = model.marginal().deviation();
    BOOST_TEST(near(deviation * deviation,
                    double(square / evidence - first / evidence * (first / evidence)), 1e-10));
  }
}

BOOST_AUTO_TEST_CASE(modes_and_maximum_likelihood) {
  BOOST_TEST(beta(3, 5).posterior_mode() == 2.0 / 6);
  BOOST_TEST(beta(0.5, 5).posterior_mode() == 0);
  BOOST_TEST(beta(5, 1).posterior_mode() == 1);
  BOOST_TEST(std::isnan(beta(1, 1).posterior_mode()));
  BOOST_TEST(std::isnan(beta(0.5, 0.5).posterior_mode()));
  BOOST_TEST(gamma(3, 4).posterior_mode() == 0.5);
  BOOST_TEST(gamma(0.5, 4).posterior_mode() == 0);
  for (const ConjugateKind kind : kinds) {
    const ConjugateModel model(kind, proper_prior(kind), sums_of(kind, {{1, 1}, {0, 1}, {1, 2}}));
    if (kind == ConjugateKind::normal_inverse_gamma)
      BOOST_TEST(near(model.posterior_mode(), (0.5 * 1 + 4 * 0.75) / 4.5, 1e-15));
    BOOST_TEST(model.maximum_likelihood() == (kind == ConjugateKind::gamma_poisson ? 0.5 : 0.75));
  }
}

// At the posterior means of theta, lambda, mu and the precision.
BOOST_AUTO_TEST_CASE(likelihoods_and_observations) {
  for (const ConjugateKind kind : kinds) {
    const std::vector<Row> rows = make_rows(kind, 9, 5, true);
    const ConjugateModel model(kind, proper_prior(kind), sums_of(kind, rows));
    const auto [p0, p1, p2, p3] = model.posterior();
    long double log_likelihood = 0, weights = 0;
    for (const auto &[x, weight] : rows) {
      const long double theta = p0 / (p0 + p1), mean = weight * p0 / p1, precision = p2 / p3;
      log_likelihood +=
          kind == ConjugateKind::beta_bernoulli ? weight * std::log(x != 0 ? theta : 1 - theta)
          : kind == ConjugateKind::gamma_poisson
              ? x * std::log(mean) - mean - std::lgamma(x + 1)
              : weight / 2 * (std::log(precision / (2 * M_PIl)) - precision * (x - p0) * (x - p0));
      weights += weight;
    }
    BOOST_TEST(near(model.info.log_likelihood, double(log_likelihood), 1e-13));
    BOOST_TEST(near(model.observations(),
                    kind == ConjugateKind::gamma_poisson ? 9 : double(weights), 1e-15));
  }
}

// Far out the density is that of a power of the distance, whose square is beyond doubles.
BOOST_AUTO_TEST_CASE(predictive_of_huge_values) {
  const auto kind = ConjugateKind::normal_inverse_gamma;
  const ConjugateModel model(kind, proper_prior(kind), sums_of(kind, make_rows(kind, 5, 2)));
  const double degrees = 2 * model.posterior()[2];
  BOOST_TEST(near(model.log_predictive(1e160),
                  model.log_predictive(1e150) - (degrees + 1) * std::log(1e10), 1e-13));
}

// Student's interval of a mean: 1, 2, 3, 4 have mean 2.5 and standard error 0.6454972243679028,
// t(0.975, 3) = 3.182446305284263.
BOOST_AUTO_TEST_CASE(reference_prior_gives_students_interval) {
  const auto kind = ConjugateKind::normal_inverse_gamma;
  const ConjugatePrior prior = read_conjugate_prior(kind, Document());
  const ConjugateModel model(kind, prior, sums_of(kind, {{1, 1}, {2, 1}, {3, 1}, {4, 1}}));
  BOOST_TEST(
      near(model.marginal().quantile(0.975), 2.5 + 3.182446305284263 * 0.6454972243679028, 1e-12));
  BOOST_TEST(std::isnan(model.log_evidence()));
  const ConjugateModel one(kind, prior, sums_of(kind, {{7, 1}}));
  BOOST_TEST(!one.proper());
  BOOST_TEST(std::isnan(one.posterior_mean()));
}

BOOST_AUTO_TEST_CASE(comparisons_against_finite_sums) {
  struct {
    double a1, b1, a2, b2;
    long double greater, loss;
  } const cases[] = {
      {3, 5, 4, 4, 0.2960372960372960373L, 0.16958041958041958042L},
      {1, 1, 2, 1, 0.33333333333333333333L, 0.25L},
      {121, 881, 141, 861, 0.092127413629776614522L, 0.020606268897862759373L},
      {20, 3, 900, 150, 0.62451315112952343054L, 0.022491031605457489869L},
      {1000, 999000, 1100, 999000, 0.014559212107618993018L, 0.00010012568500405601081L},
      {2, 30000, 3, 10, 1.9527714411593032757e-10L, 0.23070256854672040602L},
      {5e8, 5e8, 500020000, 499980000, 0.18554668459591122799L, 2.2268737099499490255e-5L},
      {30, 70, 5e8, 1e9, 0.22945495454440154102L, 0.039814507022606529391L},
  };
  for (const auto &c : cases) {
    const ConjugateModel a = beta(c.a1, c.b1), b = beta(c.a2, c.b2);
    BOOST_TEST_CONTEXT(c.a1 << " " << c.b1 << " " << c.a2 << " " << c.b2) {
      const double tolerance = c.b2 > 1e5 ? 1e-11 : 1e-12;
      BOOST_TEST(double(std::fabs(probability_greater(a, b) - c.greater) / c.greater) < tolerance);
      BOOST_TEST(near(probability_greater(b, a), double(1 - c.greater), tolerance));
      BOOST_TEST(double(std::fabs(expected_loss(a, b) - c.loss)) < tolerance);
      BOOST_TEST(near(expected_loss(b, a),
                      double(c.loss - c.a2 / (c.a2 + c.b2) + c.a1 / (c.a1 + c.b1)), tolerance));
    }
  }
  // shapes below 1, whose densities are infinite at 0 or 1: equal posteriors are a toss
  for (const double shape : {0.01, 0.5, 3.0, 1e6, 1e9})
    BOOST_TEST(
        near(probability_greater(beta(shape, shape / 2), beta(shape, shape / 2)), 0.5, 1e-11));
  BOOST_TEST(near(expected_lift(beta(4, 4), beta(3, 5)), 0.5 * 7 / 2 - 1, 1e-15));
  BOOST_TEST(std::isinf(expected_lift(beta(4, 4), beta(1, 5))));
  BOOST_TEST(near(expected_lift(gamma(4, 2), gamma(3, 5)), 2 * 2.5 - 1, 1e-15));
}

// Losses that are a tiny part of the means, by quadrature of P(X < s) P(Y > s) with 40 digits.
BOOST_AUTO_TEST_CASE(losses_of_posteriors_far_apart) {
  const auto part = [](double found, double right) { return near(found / right, 1, 1e-11); };
  BOOST_TEST(part(expected_loss(beta(40, 10), beta(10, 90)), 7.408245722716788527e-21));
  BOOST_TEST(part(expected_loss(beta(300, 200), beta(100, 900)), 5.89828889089554713e-96));
  BOOST_TEST(part(expected_loss(gamma(0.5, 1e-6), gamma(7, 1000000.5)), 1.46630749401674930e-11));
  BOOST_TEST(part(expected_loss(gamma(400, 1), gamma(100, 1)), 5.45417298030765796e-44));
  BOOST_TEST(part(expected_loss(gamma(5, 1), gamma(2, 40)), 1.484177955327528148e-9));
}

// P(X > Y) of gamma variables with whole shapes is a sum over negative binomial probabilities.
BOOST_AUTO_TEST_CASE(comparisons_of_rates_and_means) {
  for (const auto &[a1, b1, a2, b2] : {std::array{3, 2, 5, 3}, {40, 25, 30, 20}, {1, 7, 2, 1}}) {
    // Y's event comes a2 times before X's a1-th: X > Y means that X waits longer
    long double greater = 0, p = (long double)b1 / (b1 + b2), choose = 1;
    for (int k = 0; k < a1; ++k) {
      greater += choose * std::pow(1 - p, (long double)a2) * std::pow(p, (long double)k);
      choose *= (long double)(a2 + k) / (k + 1);
    }
    const ConjugateModel a = gamma(a1, b1), b = gamma(a2, b2);
    BOOST_TEST(near(probability_greater(a, b), double(greater), 1e-13));
    // E[1 / lambda] is rate / (shape - 1)
    BOOST_TEST(near(expected_lift(a, b) + 1, double(a1) / b1 * b2 / (a2 - 1), 1e-14));
    BOOST_TEST(
        near(expected_loss(a, b) - expected_loss(b, a), double(a2) / b2 - double(a1) / b1, 1e-13));
    // by quadrature over the gamma of a, whole shape: P(Y > x) is a Poisson sum
    const long double loss = integral(
        [&, a1 = a1, b1 = b1, a2 = a2, b2 = b2](long double u) {
          const long double x = std::exp(u);
          long double tail = 0, more = 0, term = std::exp(-b2 * x);
          for (int k = 0; k <= a2; ++k, term *= b2 * x / k) {
            if (k < a2) tail += term;
            more += term;
          }
          const long double excess = (long double)a2 / b2 * more - x * tail;
          return excess * std::exp(a1 * std::log((long double)b1) - std::lgamma((long double)a1) +
                                   a1 * u - b1 * x);
        },
        std::log((long double)a1 / b1), 1 / std::sqrt((long double)a1));
    BOOST_TEST(near(expected_loss(a, b), double(loss), 1e-12));
  }
  // Counts of 1e15, two standard deviations of the difference apart: by the normal distribution,
  // E[max(Z, 0)] of Z ~ Normal(m, s^2) is m Phi(m / s) + s phi(m / s).
  const double count = 1e15, apart = 63245553, s = std::sqrt(2 * count + apart);
  const auto part = [s](double m) {
    return m * 0.5 * std::erfc(-m / s / std::sqrt(2.0)) +
           s * std::exp(-m * m / s / s / 2) / std::sqrt(2 * M_PI);
  };
  BOOST_TEST(near(expected_loss(gamma(1e15, 1), gamma(1e15 + apart, 1)) / part(apart), 1, 1e-8));
  BOOST_TEST(near(expected_loss(gamma(1e15 + apart, 1), gamma(1e15, 1)) / part(-apart), 1, 1e-8));
  // Two Cauchy variables: their difference is one too.
  const auto kind = ConjugateKind::normal_inverse_gamma;
  const auto student = [&](double location, double scale, double degrees) {
    ConjugateSums sums = sums_of(kind, {{location, 1}});
    const double a = (degrees - 1) / 2;  // the row adds 1 / 2
    return ConjugateModel(kind, {location, 0, a, scale * scale * (a + 0.5)}, sums);
  };
  const ConjugateModel a = student(1, 2, 1), b = student(3, 0.5, 1);
  BOOST_TEST(near(probability_greater(a, b), 0.5 - std::atan(2 / 2.5) / M_PI, 1e-12));
  BOOST_TEST(std::isinf(expected_loss(a, b)));
  student(1, 2, 12).describe_parameters(0.9, [](const Parameter &p) {
    // mean of sqrt(b / gamma of shape a) = sqrt(b) Gamma(a - 1/2) / Gamma(a), a = 6, b = 24
    if (std::string(p.name) == "sd") BOOST_TEST(near(p.value, 2.136884954867384, 1e-13));
  });
  const double far = probability_greater(student(0, 2, 1), student(1e6, 0.5, 1));
  BOOST_TEST(near(far / (std::atan(2.5e-6) / M_PI), 1, 1e-12));
  // by quadrature of 30 digits (references/comparisons.py)
  struct {
    double a, b, apart, scale, greater, loss;
  } const cases[] = {
      {0.125, 0.125, 5, 2, 0.45085009938480521575, infinite},
      {0.125, 0.375, 4, 2, 0.41868770884052519876, infinite},
      {1.25, 5, 2, 3, 0.30691234292891671544, 3.7635907562824366827},
      {3, 1.125, 40, 0.25, 0.001105821008277684496, 40.347971180452726341},
      {30, 4, 1, 1, 0.26108372213993726703, 1.2848021871290950952},
      {2000, 12, 0.5, 2, 0.41387554606993952997, 1.2161196942745814437},
  };
  for (const auto &c : cases) {
    BOOST_TEST_CONTEXT(c.a << " and " << c.b << " degrees of freedom") {
      const ConjugateModel x = student(-c.apart, 1, c.a), y = student(0, c.scale, c.b);
      BOOST_TEST(near(probability_greater(x, y) / c.greater, 1, 1e-12));
      BOOST_TEST(near(probability_greater(y, x), 1 - c.greater, 1e-12));
      if (std::isinf(c.loss)) continue;
      BOOST_TEST(near(expected_loss(x, y) / c.loss, 1, 1e-12));
      BOOST_TEST(near(expected_loss(y, x), c.loss - c.apart, 1e-11));
    }
  }
  // any scales and degrees of freedom: what must add up does
  for (const auto &[d, e, apart, scale] : {std::array{12.0, 300.0, 0.5, 0.005},
                                           {1.0078125, 1.5, 5.0, 2.0},
                                           {0.0078125, 3, 5, 2},
                                           {2, 2, 0, 0x1p-150},
                                           {1e9, 1e9, 2, 1},
                                           {3, 3, 1048576, 0x1p-10},
                                           {1e15, 4, 1e-3, 1e-9}}) {
    BOOST_TEST_CONTEXT(d << " and " << e << " degrees of freedom, " << apart << " apart") {
      const ConjugateModel x = student(-apart, 1, d), y = student(0, scale, e);
      BOOST_TEST(near(probability_greater(x, y) + probability_greater(y, x), 1, 1e-12));
      if (apart == 0) BOOST_TEST(near(probability_greater(x, y), 0.5, 1e-13));
      if (std::min(d, e) > 1)
        BOOST_TEST(
            near(expected_loss(x, y) - expected_loss(y, x), apart, 1e-12 * expected_loss(x, y)));
    }
  }
}

// Labels: the chain rule over all that are known, closed forms of the marginals, parts merged.
BOOST_AUTO_TEST_CASE(labels) {
  DirichletPrior prior;
  prior.by_label = {{"a", 0.5}, {"b", 2}, {"never", 1.5}};
  const std::vector<std::string> rows = {"b", "a", "b", "b", "a", "b"};
  LabelSums sums, first, second;
  double chain = 0, count[2] = {};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool b = rows[i] == "b";
    chain += std::log((count[b] + (b ? 2 : 0.5)) / (4 + double(i)));
    if (i > 0)
      BOOST_TEST(near(DirichletCategorical(prior, sums).log_predictive(rows[i]),
                      std::log((count[b] + (b ? 2 : 0.5)) / (4 + double(i))), 1e-14));
    ++count[b];
    sums.add(rows[i], 1, 1);
    (i % 2 ? first : second).add(rows[i], 1, 1);
  }
  DirichletCategorical model(prior, sums), part(prior, first);
  BOOST_TEST(near(model.log_evidence(), chain, 1e-13));
  part.merge(DirichletCategorical(prior, second));
  BOOST_TEST(part.to_document().to_json() == model.to_document().to_json());
  const auto all = model.labels();
  BOOST_REQUIRE(all.size() == 3u);
  BOOST_TEST((*all[0].name == "a" && *all[1].name == "b" && *all[2].name == "never"));
  BOOST_TEST(model.marginal(all[1]).a == 6.0);
  BOOST_TEST(model.marginal(all[1]).b == 4.0);
  // every posterior alpha, 2.5, 6 and 1.5, is above 1
  BOOST_TEST(near(model.posterior_mode(all[1]), 5.0 / 7, 1e-15));
  BOOST_TEST(near(model.maximum_likelihood(all[0]), 1.0 / 3, 1e-15));
  // one more label has the prior's 1 beside the 10 of the others
  BOOST_TEST(near(model.log_predictive("other"), -std::log(11.0), 1e-15));
  // a label that leaves the frame altogether is forgotten
  for (const std::string &row : rows)
    if (row == "a") BOOST_TEST(sums.add(row, 1, -1));
  BOOST_TEST((sums.weights.size() == 1 && sums.rows == 4));
  const auto read = Model::from_bytes(model.to_bytes());
  BOOST_TEST(read->to_document().to_json() == model.to_document().to_json());
  BOOST_CHECK_THROW(
      DirichletPrior::read(Document::object().set(
          "prior", Document::object().set("alpha", Document::object().set("a", 0.0)))),
      Error);
}

BOOST_AUTO_TEST_CASE(refusals) {
  const ConjugateModel a = beta(1, 2);
  ConjugateModel b = beta(1, 3);
  const auto code = [](auto f) {
    try {
      f();
    } catch (const Error &error) {
      return error.code();
    }
    return Errc::internal;
  };
  BOOST_TEST((code([&] { b.merge(a); }) == Errc::invalid_argument));
  BOOST_TEST((code([&] { probability_greater(a, gamma(1, 2)); }) == Errc::wrong_family));
  const auto options = [](const char *key, double value) {
    return Document::object().set("prior", Document::object().set(key, value));
  };
  for (const ConjugateKind kind : kinds) {
    BOOST_TEST(
        (code([&] { read_conjugate_prior(kind, options("z", 1)); }) == Errc::invalid_argument));
    BOOST_TEST(
        (code([&] { read_conjugate_prior(kind, options("b", -1)); }) == Errc::invalid_argument));
    BOOST_TEST((code([&] { read_conjugate_prior(kind, Document::object().set("pior", 1)); }) ==
                Errc::invalid_argument));
  }
}

BOOST_AUTO_TEST_SUITE_END()
