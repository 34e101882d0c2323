// Intervals of generalized linear models hold what they promise: coefficients and dispersions drawn
// at random, responses drawn from them, and the share of 90 % intervals that contain the truth.
#include <cmath>

#include "regression/glm.hpp"
#include "support.hpp"

using namespace bayes;

namespace {

constexpr double trials = 7, degrees = 4, level = 0.9;

struct Truth {
  double intercept, slope, log_dispersion;
};

/// How many of the intervals contain the truth, of coefficients, of the dispersion and of new
/// responses.
struct Coverage {
  int coefficients = 0, dispersions = 0, responses = 0, fits = 0;

  void add(const NumberResponse &of, int n, std::uint64_t seed) {
    Random random(seed);
    const Truth truth = {0.3 + 0.5 * random.normal(), 0.7 * random.normal(),
                         of.dispersed() ? -0.7 + 0.5 * random.normal() : 0};
    const auto response = [&](double x) {
      return of.sample({truth.intercept + truth.slope * x, of.has_trials() ? trials : 1,
                        truth.log_dispersion, degrees},
                       random);
    };
    Matrix rows(n, 2);
    for (int i = 0; i < n; ++i) {
      rows(i, 1) = random.normal();
      rows(i, 0) = response(rows(i, 1));
    }
    MemoryRows packed = support::rows_of(rows, {});
    Document options = Document::object().set("response", of.name);
    if (of.link == Link::probit) options.set("link", "probit");
    if (of.has_trials()) options.set("trials", std::int64_t(trials));
    Control control;
    GlmWarnings warnings;
    const auto model = glm_fit(GlmFamily::glm, packed, {}, options, control, warnings);
    double wanted[] = {truth.intercept, truth.slope, std::exp(truth.log_dispersion)};
    int at = 0;
    model->describe_parameters(level, [&](const Parameter &p) {
      const double value = wanted[at++];
      (at < 3 ? coefficients : dispersions) += p.lower < value && value < p.upper;
    });
    const std::vector<double> x = {random.normal()};
    const auto predicted = model->predict_response(x, level);
    const double y = response(x[0]);
    responses += predicted->lower <= y && y <= predicted->upper;
    ++fits;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(glm_coverage)

BOOST_AUTO_TEST_CASE(intervals_contain_the_truth_as_often_as_they_say) {
  for (const NumberResponse *const of : number_responses())
    for (const int n : {20, 100, 1000})
      BOOST_TEST_CONTEXT(of->name << ' ' << int(of->link) << ", " << n << " rows") {
        Coverage all;
        const int fits = n == 1000 ? 200 : 400;
        for (int i = 0; i < fits; ++i) all.add(*of, n, std::uint64_t(1000 * n + i));
        const double coefficients = all.coefficients / (2.0 * fits);
        // The standard error is 1.5 % at most. Wide intervals of few rows hold a little more.
        BOOST_TEST(coefficients > 0.86);
        BOOST_TEST(coefficients < (n == 20 ? 0.96 : 0.94));
        if (of->dispersed()) {
          BOOST_TEST(all.dispersions / double(fits) > (of->scales() && n == 20 ? 0.87 : 0.84));
          BOOST_TEST(all.dispersions / double(fits) < (n == 20 ? 0.985 : 0.95));
        }
        // Intervals of whole numbers contain more than they must.
        BOOST_TEST(all.responses / double(fits) > 0.85);
      }
}

BOOST_AUTO_TEST_SUITE_END()
