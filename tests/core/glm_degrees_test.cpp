// Student t responses whose degrees of freedom are learned.
#include <cmath>
#include <vector>

#include "regression/glm.hpp"
#include "regression/glm_learners.hpp"
#include "regression/glm_rows.hpp"
#include "regression/glm_state.hpp"
#include "support.hpp"

using namespace bayes;

namespace {

/// Responses about 1 + 2 x with scale 0.5, and x.
Matrix student_rows(int n, double degrees, std::uint64_t seed) {
  Random random(seed);
  Matrix rows(n, 2);
  for (int i = 0; i < n; ++i) {
    rows(i, 1) = random.normal();
    rows(i, 0) = 1 + 2 * rows(i, 1) +
                 0.5 * random.normal() / std::sqrt(random.chi_square(degrees) / degrees);
  }
  return rows;
}

std::unique_ptr<Glm> fit_student(const Matrix &rows, Document options) {
  MemoryRows packed = support::rows_of(rows, {});
  Control control;
  GlmWarnings warnings;
  return glm_fit(GlmFamily::glm, packed, {}, options.set("response", "student_t"), control,
                 warnings);
}

Document learned() { return Document::object().set("df", "learned"); }

Parameter degrees_of(const Glm &model, double level) {
  Parameter out;
  model.describe_parameters(level, [&](const Parameter &p) {
    if (std::string(p.name) == "df") out = p;
  });
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(glm_degrees)

BOOST_AUTO_TEST_CASE(passes_have_the_derivatives) {
  const Matrix rows = student_rows(300, 3, 1);
  MemoryRows packed = support::rows_of(rows, {});
  const RegressionTerms terms({}, 1, true);
  Control control;
  GlmRows data(packed, terms, student_of_learned_degrees(), {}, control);
  BOOST_TEST_REQUIRE(data.size() == 4);
  for (const double log_degrees : {0.3, 2.0, 9.0, 9.4}) {
    Vector u(4);
    u << 0.2, 1.7, log_degrees, -0.9;
    const GlmSums sums = data.likelihood(u, true);
    const double known = data.likelihood(u, false).log_likelihood, n = std::exp(log_degrees);
    double value = 0;
    for (int i = 0; i < rows.rows(); ++i) {
      const double z = (rows(i, 1) - data.scales().centre[1]) / data.scales().scale[1],
                   r = (rows(i, 0) - data.response_mean() - u(0) - u(1) * z) / std::exp(u(3) / 2);
      value += std::lgamma((n + 1) / 2) - std::lgamma(n / 2) -
               0.5 * std::log(n * 3.14159265358979323846) - u(3) / 2 -
               (n + 1) / 2 * std::log1p(r * r / n);
    }
    BOOST_TEST(std::fabs(known - value) < 1e-6);
    constexpr double step = 1e-4;
    for (Eigen::Index i = 0; i < 4; ++i) {
      Vector more = u, less = u;
      more(i) += step;
      less(i) -= step;
      const GlmSums above = data.likelihood(more, false), below = data.likelihood(less, false);
      BOOST_TEST(std::fabs(sums.gradient(i) -
                           (above.log_likelihood - below.log_likelihood) / (2 * step)) < 1e-4);
      BOOST_TEST((sums.curvature.col(i) - (below.gradient - above.gradient) / (2 * step))
                     .cwiseAbs()
                     .maxCoeff() < 1e-4);
    }
  }
}

BOOST_AUTO_TEST_CASE(degrees_are_those_of_the_responses) {
  for (const double degrees : {1.5, 4.0, 12.0}) {
    const auto model = fit_student(student_rows(20000, degrees, 3), learned());
    const Parameter found = degrees_of(*model, 0.9999);
    BOOST_TEST(found.lower < degrees);
    BOOST_TEST(degrees < found.upper);
    BOOST_TEST(found.deviation / found.value < 0.15);
    // Near the mode the model is that of given degrees of freedom.
    const auto given = fit_student(student_rows(20000, degrees, 3),
                                   Document::object().set("df", std::exp(model->state->mean[2])));
    BOOST_TEST(std::fabs(given->state->mean[1] / model->state->mean[1] - 1) < 1e-5);
    const auto again = Model::from_document(model->to_document());
    BOOST_TEST(again->to_bytes() == model->to_bytes());
    const std::vector<double> x = {0.4};
    const auto own = model->predict_response(x, 0.9),
               expected = static_cast<const Glm &>(*again).predict_response(x, 0.9);
    BOOST_TEST(own->upper == expected->upper);
    BOOST_TEST(std::fabs(own->upper / given->predict_response(x, 0.9)->upper - 1) < 1e-3);
  }
}

// 90 % intervals of degrees of freedom drawn from the prior hold some nine in ten, and so do those
// of draws; the posterior of few rows is as wide as the prior.
BOOST_AUTO_TEST_CASE(intervals_hold) {
  for (const bool draws : {false, true}) {
    const int fits = 150;
    int degrees = 0, slopes = 0, responses = 0;
    for (int i = 0; i < fits; ++i) {
      Random random{std::uint64_t(i)};
      const double truth = std::exp(std::log(15.0) + 0.8 * random.normal());
      Document options = learned();
      if (draws) options.set("method", "slice").set("draws", 800).set("warmup", 100);
      const auto model = fit_student(student_rows(100, truth, std::uint64_t(i)), options);
      const Parameter found = degrees_of(*model, 0.9);
      degrees += found.lower < truth && truth < found.upper;
      model->coefficients(0.9, [&](const Coefficient &each) {
        slopes += *each.term == "x1" && each.lower < 2 && 2 < each.upper;
      });
      const std::vector<double> x = {0.3};
      const auto predicted = model->predict_response(x, 0.9);
      const double y = 1.6 + 0.5 * random.normal() / std::sqrt(random.chi_square(truth) / truth);
      responses += predicted->lower < y && y < predicted->upper;
    }
    // The standard error is 2.5 %.
    for (const int held : {degrees, slopes, responses}) {
      BOOST_TEST(held / double(fits) > 0.82);
      BOOST_TEST(held / double(fits) < 0.975);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
