// Statistics of fits of generalized linear models: p values in closed form and of true models, the
// same for any number of threads, and statistics of ranks and calibration against definitions.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/incomplete.hpp"
#include "base/special.hpp"
#include "regression/glm_fit_statistics.hpp"
#include "support.hpp"

using namespace bayes;

namespace {

std::unique_ptr<Glm> fit(const Matrix &rows, Document options) {
  MemoryRows packed = support::rows_of(rows, {});
  Control control;
  GlmWarnings warnings;
  return glm_fit(GlmFamily::glm, packed, {}, options, control, warnings);
}

std::map<std::string, FitStatistic> statistics(const Glm &model, const Matrix &rows, int draws,
                                               Control &control) {
  GlmFitStatistics out(model, 0.9, draws, control);
  std::vector<double> x(std::size_t(rows.cols() - 1));
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = rows(i, Eigen::Index(j + 1));
    out.add(x, rows(i, 0));
  }
  std::map<std::string, FitStatistic> by_name;
  for (const FitStatistic &each : out.finish()) by_name.emplace(each.name, each);
  return by_name;
}

std::map<std::string, FitStatistic> statistics(const Glm &model, const Matrix &rows, int draws) {
  Control control;
  return statistics(model, rows, draws, control);
}

ResponsePoint truth(const NumberResponse &of, double x) {
  return {0.4 + 0.5 * x, of.has_trials() ? 6.0 : 1.0, of.dispersed() ? -0.7 : 0, 8};
}

/// Rows of a response with this truth.
Matrix rows_of_model(const NumberResponse &of, int n, std::uint64_t seed) {
  Random random(seed);
  Matrix out(n, 2);
  for (int i = 0; i < n; ++i) {
    out(i, 1) = random.normal();
    out(i, 0) = of.sample(truth(of, out(i, 1)), random);
  }
  return out;
}

/// R2 of the truth.
double explained_by_truth(const NumberResponse &of, const Matrix &rows) {
  RunningMoments means, variances;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const ResponsePoint at = truth(of, rows(i, 1));
    const double mean = at.trials * mean_at(of.link, at.predictor);
    means.add(mean);
    variances.add(of.variance(mean, at));
  }
  return means.variance() / (means.variance() + variances.mean());
}

Document options_of(const NumberResponse &of) {
  Document options = Document::object().set("response", of.name);
  if (of.link == Link::probit) options.set("link", "probit");
  if (of.has_trials()) options.set("trials", std::int64_t(6));
  if (of.has_degrees()) options.set("df", 8.0);
  return options;
}

/// Yes and no with log odds of which some are the same.
using Odds = std::vector<std::pair<double, bool>>;
Odds some_odds(int n, double slope, double shift) {
  Random random(7);
  Odds out;
  for (int i = 0; i < n; ++i) {
    const double x = std::round(8 * random.normal()) / 4;
    out.emplace_back(x, random.uniform() < 1 / (1 + std::exp(-shift - slope * x)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<FitStatistic> calibration(const Odds &odds, double level) {
  MemoryRows rows({2, false});
  RankedOdds ranked;
  Odds ascending = odds;
  std::sort(ascending.begin(), ascending.end());
  for (const auto &[x, yes] : ascending) {
    const double row[] = {double(yes), x};
    rows.append(row);
    ranked.add(x, yes);
  }
  ranked.area(level);
  Control control;
  return calibration_statistics(rows, ranked, level, control);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(glm_fit_statistics)

// The prior leaves no doubt of the mean, so that zeros are binomial, and the largest count has a
// power of the distribution function.
BOOST_AUTO_TEST_CASE(checks_of_a_known_mean_have_their_exact_probabilities) {
  const double mean = 1.3;
  constexpr int n = 40, zeros = 15, largest = 5;
  Matrix rows = Matrix::Constant(n, 1, 1.0);
  rows.topRows(zeros).setZero();
  rows(n - 1, 0) = largest;
  Document prior = Document::object().set("c_intercept", 1e-5).set("intercept", std::log(mean));
  const auto model =
      fit(rows, Document::object().set("response", "poisson").set("prior", std::move(prior)));
  const auto found = statistics(*model, rows, 10000);
  const double none = std::exp(-mean);
  const auto at_most = [](double y, double m) { return gamma_above(y + 1, m); };
  const double fewer = beta_above(zeros, n - zeros + 1, none),
               up_to = beta_above(zeros + 1, n - zeros, none);
  const FitStatistic &share = found.at("zeros"), &most = found.at("maximum");
  // Four standard errors of 10,000 draws.
  BOOST_TEST(std::fabs(share.p - (1 - 0.5 * (fewer + up_to))) < 0.02);
  BOOST_TEST(std::fabs(share.expected - none) < 4 * std::sqrt(none * (1 - none) / n / 10000));
  BOOST_TEST(share.value == double(zeros) / n);
  const double below = std::pow(at_most(largest - 1, mean), n),
               with = std::pow(at_most(largest, mean), n);
  BOOST_TEST(std::fabs(most.p - (1 - 0.5 * (below + with))) < 0.02);
  // means that are all the same explain nothing
  BOOST_TEST(found.at("r2").upper < 1e-20);
}

BOOST_AUTO_TEST_CASE(true_models_pass_their_checks) {
  for (const NumberResponse *const of : number_responses())
    BOOST_TEST_CONTEXT(of->name << ' ' << int(of->link)) {
      constexpr int fits = 40;
      int extreme = 0, checks = 0, covered = 0;
      RunningMoments dispersion;
      for (int i = 0; i < fits; ++i) {
        const Matrix rows = rows_of_model(*of, 150, std::uint64_t(100 + i));
        const auto found = statistics(*fit(rows, options_of(*of)), rows, 100);
        for (const char *const name : {"dispersion", "zeros", "minimum", "maximum"})
          if (found.contains(name) && !std::isnan(found.at(name).p)) {
            ++checks;
            extreme += std::fabs(found.at(name).p - 0.5) > 0.45;
          }
        dispersion.add(found.at("dispersion").value);
        const FitStatistic &r2 = found.at("r2");
        const double wanted = explained_by_truth(*of, rows);
        covered += r2.lower < wanted && wanted < r2.upper;
      }
      // at most a tenth and three of its standard errors
      BOOST_TEST(extreme <= 0.1 * checks + 3 * std::sqrt(0.09 * checks));
      BOOST_TEST(checks == (of->binary() ? 0 : 3) * fits);
      BOOST_TEST(std::fabs(dispersion.mean() - 1) < 4 * dispersion.standard_error() + 0.02);
      BOOST_TEST(covered > 0.77 * fits);
    }
}

BOOST_AUTO_TEST_CASE(wrong_models_do_not) {
  const NumberResponse &counts = *find_number_response("negative_binomial");
  Random random(3);
  Matrix rows = rows_of_model(counts, 400, 2);
  const auto poisson =
      statistics(*fit(rows, Document::object().set("response", "poisson")), rows, 200);
  BOOST_TEST(poisson.at("dispersion").value > 1.3);
  BOOST_TEST(poisson.at("dispersion").p < 0.01);
  BOOST_TEST(poisson.at("maximum").p < 0.15);
  for (int i = 0; i < 400; i += 2) rows(i, 0) = 0;
  const auto inflated =
      statistics(*fit(rows, Document::object().set("response", "poisson")), rows, 200);
  BOOST_TEST(inflated.at("zeros").p == 0);
}

BOOST_AUTO_TEST_CASE(too_many_zeros_are_told_and_no_others) {
  for (const char *const name : {"poisson", "negative_binomial"}) {
    const NumberResponse &of = *find_number_response(name);
    const Document options = options_of(of);
    const auto warned = [&](Matrix rows, int every) {
      for (int i = 0; every > 0 && i < rows.rows(); i += every) rows(i, 0) = 0;
      MemoryRows packed = support::rows_of(rows, {});
      Control control;
      GlmWarnings warnings;
      glm_fit(GlmFamily::glm, packed, {}, options, control, warnings);
      return warnings.zeros > 0 || (every > 0 && warnings.overdispersion > 0);
    };
    for (int i = 0; i < 300; ++i)
      BOOST_TEST(!warned(rows_of_model(of, i % 2 ? 30 : 200, std::uint64_t(i)), 0));
    Random random(8);
    Matrix many(3000, 2);
    for (int i = 0; i < 3000; ++i) {
      many(i, 1) = random.normal();
      many(i, 0) = of.sample({1.8, 1, of.dispersed() ? -3.0 : 0}, random);
    }
    BOOST_TEST(!warned(many, 0));
    BOOST_TEST(warned(many, 3));
  }
}

/// Often asks for a poll, which abandons what is being computed.
class RestlessControl final : public Control {
 public:
  bool pending() const noexcept override { return asks_ || (asks_ = ++calls_ % 37 == 0); }
  void poll() override { asks_ = false; }

 private:
  mutable std::atomic<int> calls_ = 0;
  mutable std::atomic<bool> asks_ = false;
};

BOOST_AUTO_TEST_CASE(threads_and_interrupts_change_nothing) {
  for (const char *const name : {"negative_binomial", "bernoulli"}) {
    const NumberResponse &of = *find_number_response(name);
    const Matrix rows = rows_of_model(of, 700, 4);
    const auto model = fit(rows, options_of(of));
    Control alone;
    RestlessControl restless;
    restless.threads = 4;
    const auto one = statistics(*model, rows, 333, alone),
               four = statistics(*model, rows, 333, restless);
    BOOST_REQUIRE(one.size() == four.size());
    for (const auto &[key, a] : one) {
      const FitStatistic &b = four.at(key);
      for (const auto member : {&FitStatistic::value, &FitStatistic::lower, &FitStatistic::upper,
                                &FitStatistic::expected, &FitStatistic::p})
        BOOST_TEST((a.*member == b.*member || (std::isnan(a.*member) && std::isnan(b.*member))));
    }
  }
}

// Rows come in blocks; after em all draws are the point estimate, whose R2 follows from its
// definition.
BOOST_AUTO_TEST_CASE(r2_is_that_of_all_rows) {
  const NumberResponse &of = bernoulli(Link::probit);
  const Matrix rows = rows_of_model(of, 1000, 9);
  MemoryRows packed = support::rows_of(rows, {});
  Control control;
  GlmWarnings warnings;
  const auto model = bayes::glm_fit(GlmFamily::probit, packed, {},
                                    Document::object().set("method", "em"), control, warnings);
  RunningMoments means, variances;
  for (int i = 0; i < rows.rows(); ++i) {
    const std::vector<double> x = {rows(i, 1)};
    const double p = *model->probability(x);
    means.add(p);
    variances.add(p * (1 - p));
  }
  const FitStatistic r2 = statistics(*model, rows, 3).at("r2");
  BOOST_TEST(r2.value == means.variance() / (means.variance() + variances.mean()),
             boost::test_tools::tolerance(1e-10));
  BOOST_TEST(std::isnan(r2.lower));
}

// Draws of two coefficients whose sum alone is known leave R2 as it is.
BOOST_AUTO_TEST_CASE(coefficients_of_a_draw_belong_together) {
  const NumberResponse &of = *find_number_response("poisson");
  Matrix rows(400, 3);
  rows.leftCols(2) = rows_of_model(of, 400, 10);
  Random random(11);
  for (int i = 0; i < 400; ++i) rows(i, 2) = rows(i, 1) + 0.03 * random.normal();
  const auto two = statistics(*fit(rows, options_of(of)), rows, 400);
  const Matrix first = rows.leftCols(2);
  const auto one = statistics(*fit(first, options_of(of)), first, 400);
  BOOST_TEST(std::fabs(two.at("r2").value - one.at("r2").value) < 0.01);
  BOOST_TEST(std::fabs(two.at("r2").upper - one.at("r2").upper) < 0.02);
}

BOOST_AUTO_TEST_CASE(rows_that_cannot_be_are_refused) {
  const NumberResponse &of = *find_number_response("binomial");
  const Matrix rows = rows_of_model(of, 50, 5);
  const auto model = fit(rows, options_of(of));
  Control control;
  GlmFitStatistics to(*model, 0.9, 10, control);
  to.add(std::vector<double>{0.5}, 6);
  BOOST_CHECK_THROW(to.add(std::vector<double>{0.5}, 7), Error);
  BOOST_CHECK_THROW(to.add(std::vector<double>{0.5}, 0.5), Error);
  to.add(std::vector<double>{std::nan("")}, 1);
  to.leave_out();
  const auto found = to.finish();
  BOOST_TEST(found[0].value == 1);
  BOOST_TEST(found[1].value == 2);
  BOOST_CHECK_THROW(GlmFitStatistics(*model, 1, 10, control), Error);
  BOOST_CHECK_THROW(GlmFitStatistics(*model, 0.9, -1, control), Error);
  control.memory = 1000;
  BOOST_CHECK_THROW(GlmFitStatistics(*model, 0.9, 10, control), Error);
}

BOOST_AUTO_TEST_CASE(areas_are_those_of_all_pairs) {
  const Odds odds = some_odds(300, 0.6, -0.4);
  RankedOdds ranked;
  for (const auto &[x, yes] : odds) ranked.add(x, yes);
  std::vector<double> above_no, above_yes;
  for (const auto &[x, yes] : odds) {
    double below = 0, others = 0;
    for (const auto &[z, other] : odds)
      if (other != yes) {
        below += z < x ? 1 : z == x ? 0.5 : 0;
        ++others;
      }
    (yes ? above_no : above_yes).push_back(below / others);
  }
  const auto moments = [](const std::vector<double> &all) {
    double mean = 0, squares = 0;
    for (const double each : all) mean += each / double(all.size());
    for (const double each : all) squares += (each - mean) * (each - mean);
    return std::pair(mean, squares / double(all.size() - 1) / double(all.size()));
  };
  const auto [mean, variance] = moments(above_no);
  const double error = std::sqrt(variance + moments(above_yes).second);
  const FitStatistic area = ranked.area(0.9);
  BOOST_TEST(area.value == mean, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(area.upper - area.value == 1.6448536269514722 * error,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(ranked.overlap());
  RankedOdds apart;
  for (const auto &[x, yes] : Odds{{-1, false}, {0, false}, {0, true}, {2, true}})
    apart.add(x, yes);
  BOOST_TEST(!apart.overlap());
  BOOST_TEST(apart.area(0.9).value == 0.875);
}

// The slopes of the likelihood vanish at its maximum, and its curvature gives the intervals.
BOOST_AUTO_TEST_CASE(a_density_of_zero_shows_in_the_mean) {
  RunningMoments moments;
  for (const double x : {-1.0, -std::numeric_limits<double>::infinity(), -2.0}) moments.add(x);
  BOOST_TEST(moments.mean() == -std::numeric_limits<double>::infinity());
  BOOST_TEST(std::isnan(moments.standard_error()));
}

// Where all predictions are certain and wrong half of the time; by R's glm on the log odds.
BOOST_AUTO_TEST_CASE(calibration_is_found_from_afar) {
  Odds odds;
  for (int i = 1; i <= 200; ++i) odds.push_back({-66.8 + 8 * i / 200.0 * 9.5, i % 2 == 1});
  const auto found = calibration(odds, 0.95);
  BOOST_REQUIRE(found.size() == 2);
  double off = 0;
  for (const auto &[x, yes] : odds) off += yes - 1 / (1 + std::exp(-found[0].value - x));
  BOOST_TEST(std::fabs(off) < 1e-9);
  BOOST_TEST(std::fabs(found[1].value) < 0.01);
  BOOST_TEST(found[1].upper - found[1].lower < 0.1);
}

BOOST_AUTO_TEST_CASE(calibration_is_at_the_maximum_of_the_likelihood) {
  const Odds odds = some_odds(500, 0.5, 0.7);
  const auto found = calibration(odds, 0.9);
  BOOST_REQUIRE(found.size() == 2);
  double off = 0, information = 0;
  for (const auto &[x, yes] : odds) {
    const double p = 1 / (1 + std::exp(-found[0].value - x));
    off += yes - p;
    information += p * (1 - p);
  }
  BOOST_TEST(std::fabs(off) < 1e-9);
  BOOST_TEST(found[0].upper - found[0].value == 1.6448536269514722 / std::sqrt(information),
             boost::test_tools::tolerance(1e-9));
  // The log-likelihood with the best intercept falls on both sides of the slope, by half the square
  // of the distance in standard errors.
  const auto profile = [&odds](double slope) {
    double intercept = 0, log_likelihood = 0;
    for (int i = 0; i < 60; ++i) {
      double gradient = 0, curvature = 0;
      for (const auto &[x, yes] : odds) {
        const double p = 1 / (1 + std::exp(-intercept - slope * x));
        gradient += yes - p;
        curvature += p * (1 - p);
      }
      intercept += gradient / curvature;
    }
    for (const auto &[x, yes] : odds)
      log_likelihood -= log1p_exp((yes ? -1 : 1) * (intercept + slope * x));
    return log_likelihood;
  };
  const double error = (found[1].upper - found[1].value) / 1.6448536269514722, step = 0.01 * error;
  const double at = profile(found[1].value), above = profile(found[1].value + step),
               below = profile(found[1].value - step);
  BOOST_TEST(std::fabs(profile(found[1].value + step / 10) - profile(found[1].value - step / 10)) <
             1e-9);
  BOOST_TEST((above + below - 2 * at) / 1e-4 == -1, boost::test_tools::tolerance(1e-4));
  // Separated ones have no slope, and those of one kind nothing.
  BOOST_TEST(calibration({{0.3, false}, {0.4, true}}, 0.9).size() == 1);
  BOOST_TEST(calibration({{0.3, true}, {0.4, true}}, 0.9).empty());
}

BOOST_AUTO_TEST_SUITE_END()
