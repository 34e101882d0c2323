// Responses of generalized linear models: densities against their definitions, derivatives against
// differences, and predictive distributions against sums and integrals.
#include <cmath>
#include <functional>
#include <vector>

#include "base/incomplete.hpp"
#include "regression/glm_learners.hpp"
#include "regression/glm_rows.hpp"
#include "regression/response_prediction.hpp"
#include "regression/responses.hpp"
#include "support.hpp"

using namespace bayes;

namespace {

constexpr double pi = 3.14159265358979323846;

constexpr double trials = 7, degrees = 4;

/// The log density from the textbook, with k = 1 / dispersion.
double by_definition(const NumberResponse &of, double y, const ResponsePoint &at) {
  const double mean = mean_at(of.link, at.predictor), k = std::exp(-at.log_dispersion);
  const std::string name = of.name;
  if (name == "bernoulli") return std::log(y > 0 ? mean : 1 - mean);
  if (name == "binomial")
    return std::lgamma(at.trials + 1) - std::lgamma(y + 1) - std::lgamma(at.trials - y + 1) +
           y * std::log(mean) + (at.trials - y) * std::log(1 - mean);
  if (name == "poisson") return y * std::log(mean) - mean - std::lgamma(y + 1);
  if (name == "negative_binomial")
    return std::lgamma(y + k) - std::lgamma(k) - std::lgamma(y + 1) + k * std::log(k / (k + mean)) +
           y * std::log(mean / (k + mean));
  if (name == "exponential") return -std::log(mean) - y / mean;
  const double scale = std::exp(0.5 * at.log_dispersion), r = (y - mean) / scale;
  if (name == "normal") return -0.5 * r * r - std::log(scale) - 0.5 * std::log(2 * pi);
  if (name == "student_t")
    return std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2) -
           0.5 * std::log(degrees * pi) - std::log(scale) -
           (degrees + 1) / 2 * std::log(1 + r * r / degrees);
  BOOST_REQUIRE(name == "gamma");
  return k * std::log(k / mean) - std::lgamma(k) + (k - 1) * std::log(y) - k * y / mean;
}

ResponsePoint point(const NumberResponse &of, double predictor, double log_dispersion) {
  return {predictor, of.has_trials() ? trials : 1, of.dispersed() ? log_dispersion : 0, degrees};
}

bool on_the_line(const NumberResponse &of) { return of.link == Link::identity; }

/// f(response) within a context that names it.
void for_each_response(const std::function<void(const NumberResponse &)> &f) {
  for (const NumberResponse *const of : number_responses())
    BOOST_TEST_CONTEXT(of->name << ' ' << int(of->link)) { f(*of); }
}

/// The sum or the integral of f(y) density(y) over all y.
double average(const NumberResponse &of, const ResponsePoint &at,
               const std::function<double(double)> &f) {
  double out = 0;
  if (of.whole()) {
    const double last = of.binary() ? 1 : of.has_trials() ? at.trials : 4000;
    for (double y = 0; y <= last; ++y) out += f(y) * std::exp(of.log_density(y, at));
    return out;
  }
  constexpr double step = 1e-3;
  for (double a = -60; a < (on_the_line(of) ? 60 : 12); a += step) {
    const double y = on_the_line(of) ? std::sinh(a) : std::exp(a),
                 width = on_the_line(of) ? std::cosh(a) : y;
    out += f(y) * std::exp(of.log_density(y, at)) * width * step;
  }
  return out;
}

double variance_at(const NumberResponse &of, const ResponsePoint &at) {
  const double mean = at.trials * mean_at(of.link, at.predictor);
  const VarianceTerms terms = of.variance_terms(at.trials, at.degrees);
  return terms.linear * mean +
         (terms.quadratic * mean * mean + terms.constant) * std::exp(at.log_dispersion);
}

/// The average of f over the uncertain predictor and dispersion, by a fine grid within 9 and 7
/// deviations.
double over_grid(const NumberResponse &of, const UncertainPredictor &uncertain,
                 const std::function<double(const ResponsePoint &)> &f, double step = 0.02) {
  const double w = uncertain.dispersion_variance,
               shift = w > 0 ? uncertain.covariance / std::sqrt(w) : 0,
               rest = std::sqrt(uncertain.variance - shift * shift);
  double out = 0, total = 0;
  for (double s = of.dispersed() ? -7 : 0; s <= (of.dispersed() ? 7 : 0); s += 0.25)
    for (double t = -9; t <= 9; t += step) {
      const double weight = std::exp(-0.5 * (s * s + t * t));
      out += weight * f({uncertain.mean + s * shift + t * rest, uncertain.trials,
                         uncertain.log_dispersion + s * std::sqrt(w), degrees});
      total += weight;
    }
  return out / total;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(responses)

BOOST_AUTO_TEST_CASE(densities_are_those_of_the_definition) {
  for_each_response([](const NumberResponse &of) {
    for (const double predictor : {-1.7, 0.2, 1.3})
      for (const double log_dispersion : {-2.0, 0.4}) {
        const ResponsePoint at = point(of, predictor, log_dispersion);
        for (const double y : of.binary()       ? std::vector<double>{0, 1}
                              : of.whole()      ? std::vector<double>{0, 1, 5}
                              : on_the_line(of) ? std::vector<double>{-3, 0.2, 6.5}
                                                : std::vector<double>{0.01, 0.7, 6.5}) {
          BOOST_TEST(of.log_density(y, at) == by_definition(of, y, at),
                     boost::test_tools::tolerance(1e-11));
          const double h = 1e-4;
          const auto value = [&](double shift) {
            return of.log_density(y, point(of, predictor + shift, log_dispersion));
          };
          const ResponseSlope slope = of.slope(y, at);
          BOOST_TEST(std::fabs(slope.first - (value(h) - value(-h)) / (2 * h)) <
                     1e-6 * (1 + std::fabs(slope.first)));
          BOOST_TEST(std::fabs(slope.curvature + (value(h) - 2 * value(0) + value(-h)) / (h * h)) <
                     1e-5 * (1 + std::fabs(slope.curvature)));
        }
      }
  });
}

BOOST_AUTO_TEST_CASE(distributions_have_their_moments_and_tails) {
  for_each_response([](const NumberResponse &of) {
    const ResponsePoint at = point(of, 0.6, -0.5);
    const double mean = at.trials * mean_at(of.link, at.predictor);
    BOOST_TEST(average(of, at, [](double) { return 1; }) == 1, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(average(of, at, [](double y) { return y; }) == mean,
               boost::test_tools::tolerance(1e-9));
    BOOST_TEST(
        average(of, at, [&](double y) { return (y - mean) * (y - mean); }) == variance_at(of, at),
        boost::test_tools::tolerance(1e-9));
    for (const double bound : of.binary()       ? std::vector<double>{0, 1}
                              : on_the_line(of) ? std::vector<double>{-1.5, 0.6, 4}
                                                : std::vector<double>{0, 2, 6})
      BOOST_TEST(std::fabs(of.below(bound, at) - average(of, at, [bound](double y) {
                             return double(y <= bound);
                           })) < (of.whole() ? 1e-10 : 1e-3));
  });
}

BOOST_AUTO_TEST_CASE(failures_vary_as_successes_do) {
  for_each_response([](const NumberResponse &of) {
    if (of.link != Link::logit && of.link != Link::probit) return;
    for (const double a : {0.5, 3.0, 8.0}) {
      const auto variance = [&](double predictor) {
        const ResponsePoint at = point(of, predictor, 0);
        return of.variance(at.trials * mean_at(of.link, predictor), at);
      };
      BOOST_TEST(variance(a) == variance(-a), boost::test_tools::tolerance(1e-14));
      const auto predicted = [&](double mean) {
        return predictive_variance(of, {mean, 0.04, 0, 0, 0, point(of, 0, 0).trials});
      };
      BOOST_TEST(predicted(a) == predicted(-a), boost::test_tools::tolerance(1e-12));
    }
  });
}

BOOST_AUTO_TEST_CASE(distribution_functions_fall_as_they_say) {
  for_each_response([](const NumberResponse &of) {
    for (const double y : of.binary()       ? std::vector<double>{0}
                          : on_the_line(of) ? std::vector<double>{-1, 0, 2}
                                            : std::vector<double>{0, 1, 6}) {
      if (y == 0 && !of.whole() && !on_the_line(of)) continue;
      const ResponsePoint at = point(of, 0.6, -0.5);
      const auto below = [&](double shift) { return of.below(y, point(of, 0.6 + shift, -0.5)); };
      const double h = 1e-4;
      BOOST_TEST(std::exp(of.log_fall(y, at)) == (below(-h) - below(h)) / (2 * h),
                 boost::test_tools::tolerance(1e-6));
      // The fall is steepest where it says, and as wide.
      const ResponseFall fall = of.fall(y, at);
      const auto log_fall = [&](double t) {
        return of.log_fall(y, point(of, fall.peak + t * fall.deviation, -0.5));
      };
      const bool near = of.link == Link::probit;
      BOOST_TEST(std::fabs(log_fall(1e-3) - log_fall(-1e-3)) / 2e-3 < (near ? 0.25 : 1e-6));
      BOOST_TEST(std::fabs((log_fall(1e-2) - 2 * log_fall(0) + log_fall(-1e-2)) / 1e-4 + 1) <
                 (near ? 0.25 : 1e-3));
    }
  });
}

BOOST_AUTO_TEST_CASE(large_counts_keep_their_digits) {
  // log P(y) at the mean is -log(2 pi y) / 2 - 1 / (12 y).
  const NumberResponse &poisson = *find_number_response("poisson");
  for (const double y : {1e5, 1e9, 1e15})
    BOOST_TEST(poisson.log_density(y, {std::log(y), 1, 0}) ==
                   -0.5 * std::log(2 * 3.14159265358979323846 * y) - 1 / (12 * y),
               boost::test_tools::tolerance(1e-6));
  // With next to no dispersion the others are those without one.
  const NumberResponse &negative_binomial = *find_number_response("negative_binomial");
  for (const double y : {0.0, 3.0, 40.0})
    BOOST_TEST(
        negative_binomial.log_density(y, {1.3, 1, -25}) == poisson.log_density(y, {1.3, 1, 0}),
        boost::test_tools::tolerance(1e-8));
}

/// Rows of two predictors, of which the second is an exposure, and responses drawn from a model.
Matrix rows_of(const NumberResponse &of, int n, std::uint64_t seed) {
  Random random(seed);
  Matrix out(n, 3);
  for (int i = 0; i < n; ++i) {
    out(i, 1) = random.normal();
    out(i, 2) = 0.5 + random.uniform();
    const double predictor =
        0.4 + 0.5 * out(i, 1) + (of.link == Link::log ? std::log(out(i, 2)) : 0);
    const ResponsePoint at = point(of, predictor, -0.7);
    out(i, 0) = of.sample(at, random);
  }
  return out;
}

GlmColumns columns_of(const NumberResponse &of) {
  GlmColumns out;
  if (of.link == Link::log) out.exposure = 1;
  if (of.has_trials()) out.every = trials;
  return out;
}

Document options_of(const NumberResponse &of) {
  Document out = Document::object().set("response", of.name);
  if (of.link == Link::probit) out.set("link", "probit");
  if (of.link == Link::log) out.set("exposure", "x2");
  if (of.has_trials()) out.set("trials", std::int64_t(trials));
  return out;
}

BOOST_AUTO_TEST_CASE(passes_have_the_derivatives_of_the_densities) {
  for_each_response([](const NumberResponse &of) {
    const Matrix x = rows_of(of, 300, 3);
    const Vector weights = support::random_weights(300, 9);
    MemoryRows rows = support::rows_of(x, weights);
    const GlmColumns columns = columns_of(of);
    const int apart[] = {columns.exposure};
    const RegressionTerms terms({}, 2, true, {}, apart);
    Control control;
    GlmRows data(rows, terms, of, columns, control);
    Vector u = Vector::Constant(data.size(), 0.3);
    if (of.dispersed()) u(u.size() - 1) = -1.1;
    const auto value = [&](const Vector &at) {
      double out = 0;
      for (Eigen::Index i = 0; i < x.rows(); ++i) {
        double predictor = columns.exposure >= 0 ? std::log(x(i, 2)) : data.response_mean();
        for (int j = 0; j < terms.size(); ++j)
          predictor +=
              at(j) * (terms.is_intercept(j)
                           ? 1
                           : (x(i, 1 + terms[j][0].column) - data.scales().centre[std::size_t(j)]) /
                                 data.scales().scale[std::size_t(j)]);
        out += weights(i) * by_definition(of, x(i, 0), point(of, predictor, at(at.size() - 1)));
      }
      return out;
    };
    const GlmSums sums = data.likelihood(u, true);
    BOOST_TEST(sums.log_likelihood == value(u), boost::test_tools::tolerance(1e-11));
    const double h = 1e-4;
    for (Eigen::Index j = 0; j < u.size(); ++j) {
      const Vector step = h * Vector::Unit(u.size(), j);
      BOOST_TEST(std::fabs(sums.gradient(j) - (value(u + step) - value(u - step)) / (2 * h)) <
                 1e-5 * sums.gradient.norm());
      const Vector slopes =
          (data.likelihood(u + step, false).gradient - data.likelihood(u - step, false).gradient) /
          (2 * h);
      BOOST_TEST((slopes + sums.curvature.col(j)).norm() < 1e-5 * sums.curvature.norm());
    }
  });
}

BOOST_AUTO_TEST_CASE(models_outlive_their_bytes_and_predict) {
  for_each_response([](const NumberResponse &of) {
    MemoryRows rows = support::rows_of(rows_of(of, 200, 5), {});
    Control control;
    GlmWarnings warnings;
    const auto model = glm_fit(GlmFamily::glm, rows, {}, options_of(of), control, warnings);
    BOOST_TEST(model->info.converged);
    const auto again = Model::from_bytes(model->to_bytes());
    const Glm &read = dynamic_cast<const Glm &>(*again);
    const std::vector<double> row = {0.8, 1.2};
    const auto one = model->predict_response(row, 0.9), two = read.predict_response(row, 0.9);
    BOOST_TEST((one->mean.mean == two->mean.mean && one->sd == two->sd));
    BOOST_TEST((one->lower == two->lower && one->upper == two->upper));
    const auto score = model->score(row, 1);
    BOOST_TEST(score->log_density == read.score(row, 1)->log_density);
    BOOST_CHECK_THROW(
        model->score(row, on_the_line(of) ? std::numeric_limits<double>::infinity() : -1), Error);
    std::vector<double> missing = {std::numeric_limits<double>::quiet_NaN(), 1};
    BOOST_TEST(!model->predict_response(missing, 0.9));
  });
}

BOOST_AUTO_TEST_CASE(predictions_average_over_what_is_uncertain) {
  for_each_response([](const NumberResponse &of) {
    UncertainPredictor uncertain{0.4, 0.3, -0.6, 0.2, 0.08, of.has_trials() ? trials : 1, degrees};
    if (!of.dispersed())
      uncertain.log_dispersion = uncertain.dispersion_variance = uncertain.covariance = 0;
    const auto grid = [&](const std::function<double(const ResponsePoint &)> &f) {
      return over_grid(of, uncertain, f);
    };
    for (const double y : {-3.0, 0.0, 1.0, 6.0}) {
      if (!of.allows(y)) continue;
      BOOST_TEST(log_predictive(of, y, uncertain) == std::log(grid([&](const ResponsePoint &at) {
                   return std::exp(of.log_density(y, at));
                 })),
                 boost::test_tools::tolerance(1e-8));
    }
    const auto mean = [&](const ResponsePoint &at) {
      return at.trials * mean_at(of.link, at.predictor);
    };
    const double first = grid(mean), variance = grid([&](const ResponsePoint &at) {
                                       const double off = mean(at) - first;
                                       return variance_at(of, at) + off * off;
                                     });
    BOOST_TEST(predictive_variance(of, uncertain) == variance, boost::test_tools::tolerance(1e-6));
    for (const double p : {0.03, 0.5, 0.97}) {
      const double q = predictive_quantile(of, uncertain, p);
      const auto below = [&](double y) {
        return grid([&](const ResponsePoint &at) { return of.below(y, at); });
      };
      BOOST_TEST(std::fabs(predictive_below(of, q, uncertain) - below(q)) < 1e-7);
      if (of.whole())
        BOOST_TEST((below(q) >= p - 1e-7 && (q == 0 || below(q - 1) < p + 1e-7)));
      else
        BOOST_TEST(std::fabs(below(q) - p) < 1e-7);
    }
  });
}

BOOST_AUTO_TEST_CASE(large_counts_are_predicted_from_a_predictor_wider_than_they_are) {
  // The response is narrower by up to a thousand times than what is known of its mean.
  for_each_response([](const NumberResponse &of) {
    if (of.binary() || on_the_line(of)) return;
    for (const double deviation : {0.02, 1.5})
      for (const double size : {3.0, 1e5}) {
        UncertainPredictor uncertain{std::log(size), deviation * deviation, 0, 0, 0, 1};
        if (of.has_trials()) uncertain.mean = -0.7, uncertain.trials = std::floor(2 * size);
        if (of.dispersed())
          uncertain.log_dispersion = -std::log(size), uncertain.dispersion_variance = 0.04;
        for (const double p : {1e-3, 0.95}) {
          const double y = predictive_quantile(of, uncertain, p);
          // The step of the grid is a tenth of the response's width or less.
          const double steepest = std::clamp(y, 1.0, 2 * size - 1);
          const double width =
              of.fall(steepest, {0, uncertain.trials, uncertain.log_dispersion}).deviation;
          const double step = std::min(0.02, 0.1 * width / deviation);
          const auto below = [&](double at) {
            return over_grid(
                of, uncertain, [&](const ResponsePoint &point) { return of.below(at, point); },
                step);
          };
          if (of.whole())
            BOOST_TEST((below(y) >= p - 1e-6 && (y == 0 || below(y - 1) < p + 1e-6)));
          else
            BOOST_TEST(std::fabs(below(y) - p) < 1e-6);
        }
      }
  });
}

BOOST_AUTO_TEST_CASE(tails_of_predictive_densities_come_from_other_dispersions) {
  // References: sums over a grid within 60 deviations of both unknowns, with the densities of R.
  const NumberResponse &gamma = *find_number_response("gamma"),
                       &counts = *find_number_response("negative_binomial");
  const UncertainPredictor uncertain{0.4, 0.09, -0.6, 0.25, 0.03, 1, degrees};
  const auto check = [&](const NumberResponse &of, double y, double reference) {
    BOOST_TEST(log_predictive(of, y, uncertain) == reference, boost::test_tools::tolerance(1e-8));
  };
  check(gamma, 1e-300, 632.0922842025);
  check(gamma, 1e-6, 1.94224323847);
  check(gamma, 1e3, -48.8700399081);
  check(gamma, 1e6, -192.5627824047);
  check(counts, 1e3, -48.78765603246);
  check(counts, 1e6, -192.5623917208);
  const NumberResponse &normal = *find_number_response("normal"),
                       &student = *find_number_response("student_t");
  check(normal, -40, -61.08659954728);
  check(normal, 2, -2.643949658377);
  check(student, -40, -16.72205757244);
  check(student, 1e6, -67.29264384004);
}

BOOST_AUTO_TEST_CASE(rows_far_off_come_from_another_scale) {
  // Two peaks far apart; references by adaptive quadrature in R.
  const NumberResponse &normal = *find_number_response("normal"),
                       &student = *find_number_response("student_t");
  const auto check = [](const NumberResponse &of, double y, const UncertainPredictor &uncertain,
                        double reference) {
    BOOST_TEST(log_predictive(of, y, uncertain) == reference, boost::test_tools::tolerance(1e-4));
  };
  check(student, 20, {0, 1, -28, 0.01, 0, 1, degrees}, -68.44);
  check(student, 15, {0, 1, -28, 0.01, 0, 1, degrees}, -66.97);
  check(normal, -2000, {3, 1, -10, 1, 0.9, 1, degrees}, -260.03);
  // A mean that moves with the dispersion by most of what is known of it.
  const UncertainPredictor moving{0, 1, -10, 1e-4, 0.009, 1, degrees};
  for (const double p : {5e-5, 0.025, 0.975})
    BOOST_TEST(
        predictive_below(normal, std::sqrt(1 + std::exp(-10)) * normal_quantile(p), moving) == p,
        boost::test_tools::tolerance(1e-4));
  // Both tails of a distribution that is symmetric.
  const UncertainPredictor plain{5, 0.01, 0, 0.02, 0, 1, degrees};
  for (const double p : {1e-3, 1e-8})
    BOOST_TEST(predictive_quantile(student, plain, 1 - p) - 5 ==
                   5 - predictive_quantile(student, plain, p),
               boost::test_tools::tolerance(1e-6));
  // All of a million trials fail.
  const NumberResponse &probit = *find_number_response("binomial", Link::probit);
  check(probit, 0, {0, 25, 0, 0, 0, 1e6}, -1.797707);
}

BOOST_AUTO_TEST_CASE(predictions_end_for_any_uncertainty) {
  for (const double variance : {1e-300, 1.0, 1e6, 1e300})
    for (const double dispersion_variance : {1e-12, 1.0, 100.0})
      for_each_response([&](const NumberResponse &of) {
        UncertainPredictor uncertain{0, variance, 0, 0, 0, 1, degrees};
        if (of.dispersed()) uncertain.dispersion_variance = dispersion_variance;
        BOOST_TEST(std::isfinite(log_predictive(of, 1, uncertain)));
        const double below = predictive_below(of, 1, uncertain);
        BOOST_TEST((below >= 0 && below <= 1));
      });
}

BOOST_AUTO_TEST_CASE(zeros_are_counted_and_expected) {
  for (const char *const name : {"poisson", "negative_binomial"}) {
    const NumberResponse &of = *find_number_response(name);
    const int n = 3 * block_rows / 2;
    Matrix rows(n, 2);
    Vector weights(n);
    for (int i = 0; i < n; ++i) {
      rows(i, 0) = i * 7 % 5 % 3;
      rows(i, 1) = std::sin(i);
      weights(i) = 1 + i % 3;
    }
    MemoryRows packed = support::rows_of(rows, weights);
    Control control;
    const RegressionTerms terms({}, 1, true, {});
    GlmRows all(packed, terms, of, {}, control);
    Vector u(2 + of.dispersed());
    u << 0.3, -0.4, Vector::Constant(of.dispersed(), 0.2);
    const GlmSums sums = all.likelihood(u, false);
    double zeros = 0, expected = 0;
    for (int i = 0; i < n; ++i) {
      const double z = (rows(i, 1) - all.scales().centre[1]) / all.scales().scale[1];
      zeros += weights(i) * (rows(i, 0) == 0);
      expected += weights(i) * std::exp(of.log_density(0, point(of, 0.3 - 0.4 * z, 0.2)));
    }
    BOOST_TEST(sums.zeros == zeros);
    BOOST_TEST(sums.zeros_expected == expected, boost::test_tools::tolerance(1e-12));
  }
}

BOOST_AUTO_TEST_CASE(draws_have_the_distribution_function) {
  constexpr int draws = 20000;
  for_each_response([](const NumberResponse &of) {
    for (const double predictor : {-0.8, 1.3, 4.0}) {
      const ResponsePoint at = point(of, predictor, 0.3);
      const double mean = at.trials * mean_at(of.link, predictor);
      Random random(5);
      const double some[] = {of.whole() ? 0 : mean / 3, of.whole() ? std::floor(mean) : mean};
      double sum = 0, below[2] = {};
      for (int i = 0; i < draws; ++i) {
        const double y = of.sample(at, random);
        sum += y;
        for (int k = 0; k < 2; ++k) below[k] += y <= some[k];
      }
      BOOST_TEST(std::fabs(sum / draws - mean) < 4.5 * std::sqrt(variance_at(of, at) / draws));
      for (int k = 0; k < 2; ++k) {
        const double p = of.below(some[k], at);
        BOOST_TEST(std::fabs(below[k] / draws - p) < 4.5 * std::sqrt(p * (1 - p) / draws) + 1e-9);
      }
    }
    Random random(6);
    BOOST_TEST(std::isfinite(of.sample(point(of, 345, 0.3), random)));
  });
}

BOOST_AUTO_TEST_SUITE_END()
