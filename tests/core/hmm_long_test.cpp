// Results of a fitted hidden Markov model on long sequences, against sums of logarithms.
#include "hmm_support.hpp"

using namespace hidden_markov;

namespace {

// Under AddressSanitizer, which takes ten times as long, sequences have only the lengths that
// matter for memory.
#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

bayes::Control calm;

/// All results for a long sequence; `score(t)` are the reference's log densities.
template <class Float, class Score>
void check_long(const HiddenMarkovModel &model, const Known &known, const Sequence &x, Score score,
                bool marginals = true) {
  const auto steps = std::int64_t(x.size());
  const std::size_t k = at(model.size());
  Data one(1, {x});
  const LogSpace<Float> slow(known.initial, known.a);
  std::vector<Float> gamma;
  const Real whole = slow.run(steps, score, marginals ? &gamma : nullptr);
  BOOST_REQUIRE(std::isfinite(double(whole)));
  BOOST_TEST(distance(model.log_likelihood(one.all, calm), double(whole)) < 1e-10);
  if (marginals) {
    const auto fast = smoothed(model, one);
    BOOST_REQUIRE(fast.size() == gamma.size());
    double most = 0;
    for (std::size_t i = 0; i < fast.size(); ++i)
      most = support::larger(most, std::abs(fast[i] - double(gamma[i])));
    BOOST_TEST(most < 1e-8);
  }
  // The path may be another one of equal probability: only its probability is compared, which must
  // be the best, and reported correctly.
  const auto path = model.decode(one.all, calm);
  BOOST_REQUIRE(std::int64_t(path.states.size()) == steps);
  Real joint = 0;
  for (std::int64_t t = 0; t < steps; ++t) {
    const std::size_t z = at(path.states[at(t)]);
    BOOST_REQUIRE(z < k);
    joint += std::log(t ? known.a[at(path.states[at(t - 1)])][z] : known.initial[z]) + score(t)[z];
  }
  BOOST_TEST(distance(path.log_probability, double(slow.best(steps, score))) < 1e-10);
  BOOST_TEST(distance(path.log_probability, double(joint)) < 1e-10);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hmm_long)

BOOST_AUTO_TEST_CASE(a_million_symbols_agree_with_long_double) {
  const Table a = {{0.98, 0.01, 0.01}, {0.02, 0.97, 0.01}, {0.3, 0.3, 0.4}},
              b = random_rows(3, 4, 14);
  const Fitted model = symbol_model(start3, a, b);
  const Known known(*model, {"categorical"});
  const Sequence x = drawn(start3, a, sanitized ? 320000 : 1000000, 15, letters_of(b));
  Table scores;
  for (const double v : {0.0, 1.0, 2.0, 3.0}) scores.push_back(known.score(&v));
  check_long<Real>(*model, known, x, [&](std::int64_t t) -> const std::vector<Real> & {
    return scores[at(x[at(t)])];
  });
  // The filter ends at the same probabilities, and the best paths have the probabilities reported.
  HiddenMarkovModel::Filter filter(*model);
  Real whole = 0;
  for (const double v : x) filter.next({&v, 1}), whole += filter.log_predictive();
  Data one(1, {x});
  BOOST_TEST(distance(model->log_likelihood(one.all, calm), double(whole)) < 1e-10);
  const Sequence part(x.begin(), x.begin() + 20000);
  Data some(1, {part});
  const Chain chain = known.chain(part);
  const auto best = model->decode_best(some.all, 3, calm);
  BOOST_REQUIRE(best.size() == 3u);
  BOOST_TEST(best[0].states == model->decode(some.all, calm).states);
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_TEST(distance(best[i].log_probability, double(chain.log_joint(best[i].states))) < 1e-10);
    if (i)
      BOOST_TEST((best[i].states != best[i - 1].states &&
                  best[i].log_probability <= best[i - 1].log_probability));
  }
  // Sequences of the fit, some of which cross piece boundaries.
  std::vector<Sequence> many = {
      Sequence(x.begin(), x.begin() + 7),      Sequence(x.begin(), x.begin() + 16384),
      Sequence(x.begin(), x.begin() + 300001), Sequence(x.begin(), x.begin() + 10000),
      Sequence(x.begin(), x.begin() + 9000),   {1},
      Sequence(x.begin(), x.begin() + 16383)};
  std::vector<double> weights = {1, 0.5, 2, 1, 3, 1, 1};
  const LogSpace<Real> slow(known.initial, known.a);
  Real sum = 0;
  for (std::size_t s = 0; s < many.size(); ++s)
    sum += weights[s] *
           slow.run(std::int64_t(many[s].size()), [&](std::int64_t t) -> const std::vector<Real> & {
             return scores[at(many[s][at(t)])];
           });
  const Fitted together =
      fitted_symbols(many, 4, 3, with(as_given, {{"init", init(start3, a, b, true)}}), weights);
  BOOST_TEST(distance(together->trace[0][0], double(sum)) < 1e-10);
}

BOOST_AUTO_TEST_CASE(tracing_many_paths_is_polled) {
  struct Counting final : bayes::Control {
    int polls = 0;
    void poll() override { ++polls; }
  } counting;
  const Table a = {{0.9, 0.1}, {0.2, 0.8}}, b = random_rows(2, 3, 20);
  const Fitted model = symbol_model({0.5, 0.5}, a, b);
  const int steps = 10000, paths = 500;
  Data one(1, {drawn({0.5, 0.5}, a, steps, 21, letters_of(b))});
  BOOST_TEST(model->decode_best(one.all, paths, counting).size() == at(paths));
  // a poll for 64 steps forward, and one for 4096 steps back of each path
  BOOST_TEST(counting.polls > steps / 64 + paths * (steps / 4096));
}

BOOST_AUTO_TEST_CASE(a_million_well_separated_normals_agree_with_long_double,
                     *boost::unit_test::label("long")) {
  // Fitted to data that follow the cycle, applied to data that skip states, so that a step must
  // pass a state whose density is e^-300000 or less.
  const Table cycle = {{0.99, 0.01, 0}, {0, 0.99, 0.01}, {0.01, 0, 0.99}};
  const auto emit = [](int z, bayes::Random &random, Sequence &out) {
    out.push_back(1000 * z + random.normal());
  };
  Data data(1, {drawn({1, 0, 0}, cycle, 2000, 16, emit), drawn({0, 1, 0}, cycle, 2000, 17, emit),
                drawn({0, 0, 1}, cycle, 2000, 18, emit)});
  const Fitted model = fitted(data, 3,
                              {{"method", "em"},
                               {"max_iter", 100},
                               {"init", init(start3, cycle, {{0}, {1000}, {2000}}, false)}});
  const Known known(*model, {"multivariate"});
  for (int k = 0; k < 3; ++k) BOOST_REQUIRE(known.covariance(k)[0] < 2);
  BOOST_TEST(double(known.a[0][2]) == 0);
  const Real rare = 1e-5;
  const Table skips = {
      {0.99 - rare, 0.01, rare}, {rare, 0.99 - rare, 0.01}, {0.01, rare, 0.99 - rare}};
  const Sequence x = drawn(start3, skips, 1000000, 19, emit);
  std::vector<Real> s(3), constant, mean, precision;
  for (int k = 0; k < 3; ++k) {
    mean.push_back(known.mean(k)[0]), precision.push_back(1 / Real(known.covariance(k)[0]));
    constant.push_back(0.5L * (std::log(precision.back()) - slow::log_2pi));
  }
  check_long<Real>(*model, known, x, [&](std::int64_t t) -> const std::vector<Real> & {
    for (std::size_t k = 0; k < 3; ++k)
      s[k] = constant[k] - 0.5L * precision[k] * (x[at(t)] - mean[k]) * (x[at(t)] - mean[k]);
    return s;
  });
}

BOOST_AUTO_TEST_CASE(a_million_left_to_right_steps_agree_with_long_double) {
  // 50 states in a row that can only be passed one by one. Data jump over 20 of them, so that the
  // forward probability of where they jump to is e^-1000 or less just before, and 0 in double
  // precision.
  const int k = 50;
  std::vector<Real> initial(at(k), 0), rates;
  initial[0] = 1;
  Table a(at(k), std::vector<Real>(at(k), 0));
  for (int i = 0; i < k; ++i) {
    rates.push_back(20 * (i + 1));
    a[at(i)][at(i)] = i + 1 < k ? 0.875 : 1;
    if (i + 1 < k) a[at(i)][at(i + 1)] = 0.125;
  }
  const Fitted model = poisson_model(initial, a, rates);
  const Known known(*model, {"poisson"});
  for (int i = 0; i < k; ++i) BOOST_TEST(std::abs(known.mean(i)[0] - double(rates[at(i)])) < 1e-12);
  for (const std::int64_t steps : {std::int64_t(1000000), std::int64_t(60000)}) {
    if (sanitized && steps > 60000) continue;
    bayes::Random random(18);
    Sequence x;
    for (std::int64_t t = 0; t < steps; ++t) {
      const double m = t < steps * 3 / 10   ? 20
                       : t < steps * 6 / 10 ? 420
                       : t < steps * 9 / 10 ? 440
                                            : 900;
      x.push_back(std::max(0.0, std::round(m + std::sqrt(m) * random.normal())));
    }
    std::vector<std::vector<Real>> scores;
    for (double v = 0; v < 1200; ++v) scores.push_back(known.score(&v));
    check_long<double>(
        *model, known, x,
        [&](std::int64_t t) -> const std::vector<Real> & { return scores[at(x[at(t)])]; },
        steps < 100000);
  }
}

BOOST_AUTO_TEST_SUITE_END()
