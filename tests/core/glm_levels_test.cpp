// Responses that are labels: ordered levels and classes.
#include <algorithm>
#include <cmath>
#include <vector>

#include "regression/glm.hpp"
#include "regression/glm_learners.hpp"
#include "regression/glm_rows.hpp"
#include "regression/glm_state.hpp"
#include "regression/level_responses.hpp"
#include "support.hpp"

using namespace bayes;

namespace {

std::vector<std::string> names_of_levels(int levels) {
  std::vector<std::string> out;
  for (int k = 0; k < levels; ++k) out.push_back(std::string(1, char('a' + k)));
  return out;
}

Document options_of(const LevelResponse &of, int levels) {
  Document out = Document::object().set("response", of.name);
  if (of.link == Link::probit) out.set("link", "probit");
  const std::vector<std::string> all = names_of_levels(levels);
  return out.set("levels", Document::List(all.begin(), all.end()));
}

/// The distribution function of a link.
double below_link(Link link, double x) {
  return link == Link::logit ? 1 / (1 + std::exp(-x)) : 0.5 * std::erfc(-x / std::sqrt(2.0));
}

/// P(level) from the definition. `at`: predictors, then cuts of ordered levels.
double probability(const LevelResponse &of, int levels, int level, const std::vector<double> &at) {
  if (!of.ordered()) {
    double total = 1;
    for (int k = 1; k < levels; ++k) total += std::exp(at[std::size_t(k) - 1]);
    return (level > 0 ? std::exp(at[std::size_t(level) - 1]) : 1) / total;
  }
  const double high =
      level + 1 < levels ? below_link(of.link, at[std::size_t(level) + 1] - at[0]) : 1;
  return high - (level > 0 ? below_link(of.link, at[std::size_t(level)] - at[0]) : 0);
}

/// Predictors and cuts of a row with two numbers.
std::vector<double> definition(const LevelResponse &of, int levels, const Vector &u, double x1,
                               double x2, int anchor = 0) {
  std::vector<double> out;
  for (int k = 0; k < of.predictors(levels); ++k)
    out.push_back(u(3 * k) + u(3 * k + 1) * x1 + u(3 * k + 2) * x2);
  if (!of.ordered()) return out;
  for (const double cut : cuts_of({u.data() + 3, std::size_t(levels) - 2}, anchor))
    out.push_back(cut);
  return out;
}

void for_each_response(const std::function<void(const LevelResponse &)> &f) {
  for (const LevelResponse *const of : level_responses())
    BOOST_TEST_CONTEXT(of->name << ' ' << int(of->link)) { f(*of); }
}

/// Rows of a level and two numbers.
Matrix rows_of_levels(const LevelResponse &of, int n, int levels, const Vector &u,
                      std::uint64_t seed) {
  Random random(seed);
  Matrix rows(n, 3);
  for (int i = 0; i < n; ++i) {
    rows(i, 1) = random.normal();
    rows(i, 2) = random.normal();
    const std::vector<double> at = definition(of, levels, u, rows(i, 1), rows(i, 2));
    double left = random.uniform();
    int level = 0;
    while (level + 1 < levels && (left -= probability(of, levels, level, at)) > 0) ++level;
    rows(i, 0) = level;
  }
  return rows;
}

Vector some_unknowns(const LevelResponse &of, int levels) {
  Vector out(3 * of.predictors(levels) + of.extras(levels));
  for (Eigen::Index i = 0; i < out.size(); ++i) out(i) = 0.5 * std::sin(2.0 * double(i) + 1);
  return out;
}

std::unique_ptr<Glm> fit_levels(const Matrix &rows, const Document &options,
                                GlmWarnings *warned = nullptr, const Vector &weights = {}) {
  MemoryRows packed = support::rows_of(rows, weights);
  Control control;
  GlmWarnings warnings;
  return glm_fit(GlmFamily::glm, packed, {}, options, control, warned ? *warned : warnings);
}

std::vector<Coefficient> coefficients_of_levels(const Glm &model) {
  std::vector<Coefficient> out;
  model.coefficients(0.95, [&](const Coefficient &each) { out.push_back(each); });
  return out;
}

bool are_close(double a, double b, double tolerance) { return std::fabs(a - b) < tolerance; }

}  // namespace

BOOST_AUTO_TEST_SUITE(glm_levels)

BOOST_AUTO_TEST_CASE(passes_compute_the_likelihood_and_its_derivatives) {
  for_each_response([](const LevelResponse &of) {
    for (const int levels : {2, 3, 5, 8, 26}) {
      // Several segments of rows, too.
      const int n = levels == 26 ? 300 : levels == 3 ? 20000 : 600;
      const Vector u = some_unknowns(of, levels);
      Matrix rows = rows_of_levels(of, n, levels, u, 5);
      // Some anchors have several gaps above, others below.
      if (levels % 2 == 0) rows.col(0) = levels - 1 - rows.col(0).array();
      Vector weights(n);
      for (int i = 0; i < n; ++i) weights(i) = 0.5 + i % 3;
      MemoryRows packed = support::rows_of(rows, weights);
      const RegressionTerms terms({}, 2, true);
      GlmColumns columns;
      columns.levels = levels;
      Control control;
      GlmRows data(packed, terms, of, columns, control);
      BOOST_TEST_REQUIRE(data.size() == u.size());
      const GlmSums sums = data.likelihood(u, true);
      double value = 0;
      for (int i = 0; i < n; ++i) {
        const TermScales &s = data.scales();
        const std::vector<double> at =
            definition(of, levels, u, (rows(i, 1) - s.centre[1]) / s.scale[1],
                       (rows(i, 2) - s.centre[2]) / s.scale[2], data.anchor());
        value += weights(i) * std::log(probability(of, levels, int(rows(i, 0)), at));
      }
      BOOST_TEST(std::fabs(sums.log_likelihood - value) < 1e-9 * std::fabs(value));
      constexpr double step = 1e-5;
      for (Eigen::Index i = 0; i < u.size(); ++i) {
        Vector more = u, less = u;
        more(i) += step;
        less(i) -= step;
        const GlmSums above = data.likelihood(more, false), under = data.likelihood(less, false);
        BOOST_TEST(std::fabs(sums.gradient(i) -
                             (above.log_likelihood - under.log_likelihood) / (2 * step)) < 1e-4);
        const Vector slope = (under.gradient - above.gradient) / (2 * step);
        BOOST_TEST((sums.curvature.col(i) - slope).cwiseAbs().maxCoeff() < 1e-4);
      }
    }
  });
}

// With two levels all of them are logistic or probit regressions.
BOOST_AUTO_TEST_CASE(two_levels_are_a_yes_and_a_no) {
  for_each_response([](const LevelResponse &of) {
    const Matrix rows = rows_of_levels(of, 300, 2, some_unknowns(of, 2), 8);
    const auto model = fit_levels(rows, options_of(of, 2));
    Document options = Document::object().set("response", "bernoulli");
    if (of.link == Link::probit) options.set("link", "probit");
    const auto binary = fit_levels(rows, options);
    BOOST_TEST(are_close(model->info.objective, binary->info.objective, 1e-9));
    const auto own = coefficients_of_levels(*model), known = coefficients_of_levels(*binary);
    // The cut is minus the intercept.
    BOOST_TEST(are_close(own[0].mean, of.ordered() ? -known[0].mean : known[0].mean, 1e-9));
    for (std::size_t j = 0; j < 3; ++j) {
      if (j > 0) BOOST_TEST(are_close(own[j].mean, known[j].mean, 1e-9));
      BOOST_TEST(are_close(own[j].sd, known[j].sd, 1e-9));
    }
    for (const double x : {-2.0, 0.0, 1.5}) {
      const std::vector<double> row = {x, 0.5};
      const auto levels = model->predict_levels(row, 0.9);
      const auto mean = binary->predict(row, 0.9);
      BOOST_TEST(are_close((*levels)[1].mean, mean->mean, 1e-6));
      BOOST_TEST(are_close((*levels)[0].mean, 1 - mean->mean, 1e-6));
      BOOST_TEST(are_close((*levels)[1].sd, mean->sd, 1e-4));
      BOOST_TEST(are_close((*levels)[1].lower, mean->lower, 0.02 * mean->sd));
      BOOST_TEST(are_close((*levels)[1].upper, mean->upper, 0.02 * mean->sd));
      for (const double y : {0.0, 1.0}) {
        const auto score = model->score(row, y), expected = binary->score(row, y);
        BOOST_TEST(are_close(score->log_density, expected->log_density, 1e-4));
        BOOST_TEST(are_close(score->error, expected->error, 1e-6));
      }
    }
  });
}

// Three levels and no predictors: two unknowns, whose posterior is summed up over a grid. Rare and
// empty levels leave the others as they are, whether they come first or last.
BOOST_AUTO_TEST_CASE(approximations_come_close_to_the_posterior) {
  const std::vector<std::vector<int>> all_counts = {
      {22, 27, 11}, {3, 40, 60}, {60, 40, 3}, {0, 100, 100}, {100, 100, 0}};
  for_each_response([&](const LevelResponse &of) {
    for (const std::vector<int> &counts : all_counts) {
      const int n = counts[0] + counts[1] + counts[2];
      Matrix rows(n, 1);
      for (int k = 0, i = 0; k < 3; ++k)
        for (int c = 0; c < counts[std::size_t(k)]; ++c) rows(i++, 0) = k;
      const auto model = fit_levels(rows, options_of(of, 3));
      const bool below = model->state->columns.anchor == 0;
      const auto at = [&](double a, double b) {
        if (!of.ordered()) return std::vector<double>{a, b};
        return std::vector<double>{a, below ? 0 : -std::exp(b), below ? std::exp(b) : 0};
      };
      const auto log_joint = [&](double a, double b) {
        const auto normal = [](double x, double variance) {
          return -0.5 *
                 (x * x / variance + std::log(variance) + std::log(2 * 3.14159265358979323846));
        };
        double out = normal(a, 100) + normal(b, of.ordered() ? 4 : 100);
        for (int k = 0; k < 3; ++k)
          if (counts[std::size_t(k)] > 0)
            out += counts[std::size_t(k)] * std::log(probability(of, 3, k, at(a, b)));
        return out;
      };
      const double step = of.ordered() ? 0.04 : 0.1, reach = of.ordered() ? 8 : 30;
      double total = 0, mean[3] = {}, square[3] = {};
      const double shift = log_joint(model->state->mean[0], model->state->mean[1]);
      for (double a = -reach; a < reach; a += step)
        for (double b = -reach; b < reach; b += step) {
          const double density = std::exp(log_joint(a, b) - shift);
          if (!(density > 1e-20)) continue;
          total += density;
          for (int k = 0; k < 3; ++k) {
            const double p = probability(of, 3, k, at(a, b));
            mean[k] += density * p;
            square[k] += density * p * p;
          }
        }
      // A normal distribution does not fit the unknown of a level without rows.
      const bool empty = counts[0] == 0 || counts[2] == 0;
      const double evidence = shift + std::log(total * step * step);
      BOOST_TEST(std::fabs(model->info.objective - evidence) < (empty ? 0.55 : 0.05));
      const auto levels = *model->predict_levels({}, 0.95);
      for (int k = 0; k < 3; ++k) {
        if (counts[std::size_t(k)] < 10) continue;
        const double exact = mean[k] / total, sd = std::sqrt(square[k] / total - exact * exact);
        BOOST_TEST(are_close(levels[std::size_t(k)].mean, exact,
                             (empty          ? 0.4
                              : of.ordered() ? 0.07
                                             : 0.1) *
                                 sd));
        BOOST_TEST(are_close(levels[std::size_t(k)].sd / sd, 1, empty ? 0.7 : 0.05));
        BOOST_TEST(are_close(model->score({}, k)->log_density,
                             std::log(levels[std::size_t(k)].mean), 1e-12));
      }
    }
  });
}

// Averages over points against sums over a grid of the normal posterior.
BOOST_AUTO_TEST_CASE(probabilities_are_averages_over_the_posterior) {
  for_each_response([](const LevelResponse &of) {
    const Matrix rows = rows_of_levels(of, 40, 3, some_unknowns(of, 3), 3);
    const auto model = fit_levels(rows, options_of(of, 3));
    const std::vector<double> x = {1.2, -2};
    const auto levels = *model->predict_levels(x, 0.9);
    double sum = 0;
    for (const LevelPrediction &each : levels) {
      sum += each.mean;
      BOOST_TEST(each.lower < each.mean);
      BOOST_TEST(each.mean < each.upper);
    }
    BOOST_TEST(are_close(sum, 1, 1e-12));
    std::vector<double> own(3);
    model->probabilities(x, own);
    for (int k = 0; k < 3; ++k) BOOST_TEST(own[std::size_t(k)] == levels[std::size_t(k)].mean);
    // The predictor and the gap, or the two predictors: their means and root of their covariance.
    const Glm::State &s = *model->state;
    const std::vector<double> z = model->in_own_units(x)->terms;
    Matrix image(Eigen::Index(s.size()), 2);
    Vector mean = Vector::Zero(2);
    for (Eigen::Index i = 0; i < 2; ++i) {
      Vector a = Vector::Zero(Eigen::Index(s.size()));
      if (i == 1 && of.ordered())
        a(3) = 1;
      else
        for (Eigen::Index j = 0; j < 3; ++j) a(3 * i + j) = z[std::size_t(j)];
      for (Eigen::Index r = 0; r < a.size(); ++r) {
        mean(i) += a(r) * s.mean[std::size_t(r)];
        image(r, i) = 0;
        for (Eigen::Index j = 0; j <= r; ++j)
          image(r, i) += s.root[std::size_t(r * (r + 1) / 2 + j)] * a(j);
      }
    }
    Matrix lower;
    BOOST_TEST_REQUIRE(cholesky(Matrix(image.transpose() * image), lower));
    // The mean of a gap is at the mode of its logarithm.
    const double variance = lower.row(1).squaredNorm();
    if (of.ordered()) mean(1) -= 0.5 * variance * std::max(0.0, 1 - variance);
    double exact[3] = {}, total = 0;
    constexpr double step = 0.1;
    for (double t1 = -7; t1 <= 7; t1 += step)
      for (double t2 = -7; t2 <= 7; t2 += step) {
        const double weight = std::exp(-0.5 * (t1 * t1 + t2 * t2)), v1 = mean(0) + lower(0, 0) * t1,
                     v2 = mean(1) + lower(1, 0) * t1 + lower(1, 1) * t2;
        total += weight;
        for (int k = 0; k < 3; ++k)
          exact[k] += weight * probability(of, 3, k,
                                           !of.ordered() ? std::vector<double>{v1, v2}
                                           : s.columns.anchor == 0
                                               ? std::vector<double>{v1, 0, std::exp(v2)}
                                               : std::vector<double>{v1, -std::exp(v2), 0});
      }
    for (int k = 0; k < 3; ++k)
      for (int k = 0; k < 3; ++k)
        BOOST_TEST(are_close(levels[std::size_t(k)].mean, exact[k] / total, 1e-3));
  });
}

// With the levels in reverse the cuts are, too: those below the anchor are as well known as those
// above it.
BOOST_AUTO_TEST_CASE(cuts_are_alike_from_both_ends) {
  for (const Link link : {Link::logit, Link::probit}) {
    const LevelResponse &of = *level_responses()[link == Link::logit ? 0 : 1];
    Matrix rows = rows_of_levels(of, 500, 6, some_unknowns(of, 6), 12);
    const auto forward = coefficients_of_levels(*fit_levels(rows, options_of(of, 6)));
    rows.col(0) = 5 - rows.col(0).array();
    const auto reverse = coefficients_of_levels(*fit_levels(rows, options_of(of, 6)));
    for (std::size_t k = 0; k < 5; ++k) {
      BOOST_TEST(are_close(forward[k].mean, -reverse[4 - k].mean, 1e-6));
      BOOST_TEST(are_close(forward[k].sd, reverse[4 - k].sd, 1e-6));
    }
  }
}

BOOST_AUTO_TEST_CASE(intervals_contain_the_truth_as_often_as_they_say) {
  for_each_response([](const LevelResponse &of) {
    for (const int n : {20, 100, 1000}) BOOST_TEST_CONTEXT(n << " rows") {
        constexpr int fits = 400, levels = 4;
        int slopes = 0, chances = 0;
        double brier = 0, promised = 0;
        for (int i = 0; i < fits; ++i) {
          Random random(std::uint64_t(1000 * n + i));
          Vector u = some_unknowns(of, levels);
          for (double &each : u) each = 0.6 * random.normal();
          if (of.ordered()) u(0) += 1;
          const Matrix rows = rows_of_levels(of, n, levels, u, std::uint64_t(i));
          MemoryRows packed = support::rows_of(rows, {});
          const auto model = fit_levels(rows, options_of(of, levels));
          const auto found = model->contrast(
              [&] {
                std::vector<double> w(std::size_t(3 * model->predictors()), 0.0);
                w[1] = 1;
                return w;
              }(),
              0.9);
          slopes += found.lower < u(1) && u(1) < found.upper;
          const std::vector<double> x = {random.normal(), random.normal()};
          const auto predicted = *model->predict_levels(x, 0.9);
          const int level = i % levels;
          const double truth =
              probability(of, levels, level, definition(of, levels, u, x[0], x[1]));
          const LevelPrediction &own = predicted[std::size_t(level)];
          chances += own.lower < truth && truth < own.upper;
          brier += std::pow(own.mean - truth, 2);
          promised += own.sd * own.sd;
        }
        // The standard error is 1.5 %. Deviations of probabilities are right on average.
        BOOST_TEST(slopes / double(fits) > 0.86);
        BOOST_TEST(slopes / double(fits) < 0.965);
        BOOST_TEST(chances / double(fits) > 0.86);
        BOOST_TEST(chances / double(fits) < 0.975);
        BOOST_TEST(brier / promised > (n == 20 ? 0.5 : 0.8));
        BOOST_TEST(brier / promised < 1.2);
      }
  });
}

// Sorting needs that a before b and b before c make a before c, also where texts are the same
// double.
BOOST_AUTO_TEST_CASE(labels_have_one_order) {
  const std::vector<std::string> labels = {"9999999999999999",
                                           "1e16",
                                           "10000000000000000",
                                           "1.0e16",
                                           "10000000000000001",
                                           "-0",
                                           "0",
                                           "0.0",
                                           "-1e16",
                                           "-9999999999999999",
                                           "-10000000000000000",
                                           "1e999",
                                           std::string(400, '9'),
                                           "0." + std::string(400, '0') + "1",
                                           "inf",
                                           "nan",
                                           "",
                                           "-",
                                           ".",
                                           "1.",
                                           "A"};
  for (const std::string &a : labels)
    for (const std::string &b : labels) {
      BOOST_TEST((a == b || level_before(a, b) != level_before(b, a)));
      for (const std::string &c : labels)
        if (level_before(a, b) && level_before(b, c)) BOOST_TEST(level_before(a, c));
    }
}

BOOST_AUTO_TEST_CASE(labels_that_are_numbers_come_first_and_in_their_order) {
  const std::vector<std::string> ordered = {"-1e3", "-21", "-2.5", "0", "2", "10", "1e2", "", "A"};
  for (std::size_t i = 0; i < ordered.size(); ++i)
    for (std::size_t j = 0; j < ordered.size(); ++j)
      BOOST_TEST(level_before(ordered[i], ordered[j]) == (i < j));
}

BOOST_AUTO_TEST_SUITE_END()
