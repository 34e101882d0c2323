// How often intervals of 95 percent under the default prior hold coefficients, the variance of the
// noise and new responses, over designs of few and of many residual degrees of freedom, signals of
// any strength and columns of any unit; and whether the densities of new responses are as high as
// those of the flat prior.
//
// A share passes between 0.90 - e and 0.975 + e, where e is 4 standard errors, so that shares
// within these bounds raise a false alarm once in 30,000 times a bound. The shares of intervals,
// and longer runs:
//
//   TEST_EFFORT=10 linreg_coverage_test --log_level=message
#include <cstdlib>

#include "base/message.hpp"
#include "linreg_support.hpp"

using namespace linreg;

namespace {

struct Design {
  /// rows, predictors
  int n, p;
  /// standard deviation of coefficients, where that of the noise is 1
  double signal;
  /// units of the response and of the predictors
  double unit = 1, predictor_unit = 1;
  /// the correlation of each two predictors
  double correlation = 0;
};

const std::vector<Design> designs = {
    {3, 1, 1},           {13, 10, 1},         {6, 3, 0},          {4, 1, 30, 1e-6, 1e3},
    {13, 10, 5, 1e6, 1}, {8, 2, 1},           {16, 10, 0.2},      {16, 10, 1, 1, 1, 0.9},
    {23, 12, 3},         {40, 20, 0.5, 1e-3}, {54, 3, 1, 1, 1e4}, {70, 19, 0},
};

/// Data drawn from a design, with the parameters that they were drawn with.
struct Drawn {
  Drawn(const Design &of, int set) {
    Random random(83, std::uint64_t(set), std::uint64_t(of.n), std::uint64_t(of.p));
    for (int j = 0; j < of.p; ++j)
      truth.push_back(of.signal * random.normal() * of.unit / of.predictor_unit);
    noise = of.unit * of.unit;
    intercept = 10 * of.unit * random.normal();
    for (int i = 0; i < of.n + 20; ++i) {
      Rows &to = i < of.n ? rows : fresh;
      const double shared = std::sqrt(of.correlation) * random.normal();
      double y = intercept + of.unit * random.normal();
      to.x.emplace_back();
      for (int j = 0; j < of.p; ++j) {
        const double own = std::sqrt(1 - of.correlation) * random.normal();
        to.x.back().push_back(of.predictor_unit * (shared + own));
        y += truth[std::size_t(j)] * to.x.back().back();
      }
      to.y.push_back(y);
    }
  }
  Rows rows, fresh;
  std::vector<double> truth;
  double noise, intercept;
};

/// The mean of shares, each of one data set, and its standard error.
struct Shares {
  double sum = 0, squares = 0;
  int count = 0;
  void add(double share) {
    sum += share;
    squares += share * share;
    ++count;
  }
  double mean() const { return sum / count; }
  double error() const {
    return std::sqrt(std::max(0.0, squares / count - mean() * mean()) / count);
  }
};

bool holds(const Coefficient &interval, double truth) {
  return interval.lower <= truth && truth <= interval.upper;
}

/// The mean log density of new responses.
double log_density_of_fresh(const LinregModel &model, const Drawn &drawn) {
  double sum = 0;
  for (std::size_t i = 0; i < drawn.fresh.size(); ++i)
    sum += *model.log_density(drawn.fresh.x[i], drawn.fresh.y[i]) / double(drawn.fresh.size());
  return sum;
}

void check(const char *what, const Shares &shares) {
  BOOST_TEST_MESSAGE("  " << what << ": " << 100 * shares.mean() << " % +- "
                          << 100 * shares.error());
  // a share of 1 has no spread by which to tell its error
  const double room = 4 * std::max(shares.error(), std::sqrt(0.03 / shares.count));
  BOOST_TEST_CONTEXT(what) {
    BOOST_CHECK_GT(shares.mean(), 0.90 - room);
    BOOST_CHECK_LT(shares.mean(), 0.975 + room);
  }
}

void check_coverage(const std::string &method, int sets, Options options = {}) {
  options.emplace_back("method", method);
  const char *const effort = std::getenv("TEST_EFFORT");
  sets = std::max(60, int(sets * (effort ? std::atof(effort) : 1)));
  const bool point = method == "em";
  for (const Design &design : designs) {
    Shares of_coefficients, of_noise, of_responses;
    for (int set = 0; set < sets; ++set) {
      const Drawn drawn(design, set);
      const auto model = fit(drawn.rows, options);
      of_noise.add(holds(model->noise_variance(0.95), drawn.noise));
      if (point) continue;
      const auto found = coefficients(*model);
      double held = holds(found[0], drawn.intercept);
      for (std::size_t j = 0; j < drawn.truth.size(); ++j)
        held += holds(found[j + 1], drawn.truth[j]);
      of_coefficients.add(held / double(found.size()));
      held = 0;
      // quantiles of predictions take long where they are averages over draws
      const std::size_t fresh = method == "gibbs" ? 2 : drawn.fresh.size();
      for (std::size_t i = 0; i < fresh; ++i) {
        const auto p = *model->predict(drawn.fresh.x[i], 0.95);
        held += p.lower <= drawn.fresh.y[i] && drawn.fresh.y[i] <= p.upper;
      }
      of_responses.add(held / double(fresh));
    }
    const std::string name = message("{}, {} rows, {} predictors, signal {}, unit {}", method,
                                     design.n, design.p, design.signal, design.unit);
    BOOST_TEST_MESSAGE(name);
    BOOST_TEST_CONTEXT(name) {
      check("noise", of_noise);
      if (point) continue;
      check("coefficients", of_coefficients);
      check("responses", of_responses);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(linreg_coverage)

BOOST_AUTO_TEST_CASE(exact) { check_coverage("exact", 200); }
BOOST_AUTO_TEST_CASE(em) { check_coverage("em", 200); }
BOOST_AUTO_TEST_CASE(laplace) { check_coverage("laplace", 150); }
BOOST_AUTO_TEST_CASE(vi) { check_coverage("vi", 150); }
BOOST_AUTO_TEST_CASE(gibbs) {
  check_coverage("gibbs", 60, {{"chains", 1}, {"draws", 700}, {"warmup", 100}});
}

// The mean difference of log densities of new responses, by data set, is not below 0 by more than
// 4 standard errors (a false alarm in 30,000 if it is 0).
BOOST_AUTO_TEST_CASE(densities_are_those_of_the_flat_prior_or_higher) {
  const Options flat = {{"prior", prior({{"c", 0}, {"a", 0}, {"b", 0}})}};
  for (const Design &design : designs) {
    double sum = 0, squares = 0;
    constexpr int sets = 200;
    for (int set = 0; set < sets; ++set) {
      const Drawn drawn(design, set);
      const double gain = log_density_of_fresh(*fit(drawn.rows), drawn) -
                          log_density_of_fresh(*fit(drawn.rows, flat), drawn);
      sum += gain;
      squares += gain * gain;
    }
    const double mean = sum / sets, error = std::sqrt((squares / sets - mean * mean) / sets);
    BOOST_TEST_MESSAGE(design.n << " rows, " << design.p << " predictors, signal " << design.signal
                                << ": " << mean << " +- " << error);
    BOOST_TEST_CONTEXT(design.n << " rows, " << design.p << " predictors, signal " << design.signal)
    BOOST_CHECK_GT(mean, -0.005 - 4 * error);
  }
}

BOOST_AUTO_TEST_SUITE_END()
