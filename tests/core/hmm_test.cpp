// Results of a fitted hidden Markov model, against all K^T paths.
//
// Method em with max_iter 0 leaves the parameters of option init as they are, so models of our
// choice can be tested; parameters that init does not determine (variances) are read back from the
// model.
#include "hmm_support.hpp"

using namespace hidden_markov;

namespace {

bayes::Control control;

void check_prediction(const HiddenMarkovModel &model, const Known &known,
                      const std::vector<Real> &states, const HiddenMarkovModel::Prediction &next) {
  const int k = model.size(), d = known.d;
  BOOST_REQUIRE(int(next.states.size()) == k);
  for (int j = 0; j < k; ++j)
    BOOST_TEST(std::abs(next.states[at(j)] - double(states[at(j)])) < 1e-12);
  if (model.symbols()) {
    BOOST_REQUIRE(next.categories.size() == model.symbol_names().size());
    for (std::size_t v = 0; v < next.categories.size(); ++v) {
      Real p = 0;
      for (int j = 0; j < k; ++j) p += states[at(j)] * known.probability(j, double(v));
      BOOST_TEST(std::abs(next.categories[v] - double(p)) < 1e-12);
    }
  } else {
    BOOST_REQUIRE(int(next.mean.size()) == d);
    BOOST_REQUIRE(int(next.variance.size()) == d);
    for (int e = 0; e < d; ++e) {
      Real m = 0, square = 0;
      for (int j = 0; j < k; ++j) {
        const auto [mean, variance] = known.moments(j, e);
        m += states[at(j)] * mean;
        square += states[at(j)] * (variance + mean * mean);
      }
      if (std::isnan(m)) {  // an element of categories
        BOOST_TEST(std::isnan(next.mean[at(e)]));
        BOOST_TEST(std::isnan(next.variance[at(e)]));
        continue;
      }
      BOOST_TEST(distance(next.mean[at(e)], double(m)) < 1e-12);
      BOOST_TEST(distance(next.variance[at(e)], double(square - m * m)) < 1e-10);
    }
  }
}

void check_answers(const HiddenMarkovModel &model, const Known &known, const Sequence &x) {
  const Enumeration slow = enumerate(known.chain(x));
  const int k = model.size(), d = known.d, steps = int(x.size()) / d;
  Data one(d, {x});
  BOOST_TEST(distance(model.log_likelihood(one.all, control), double(slow.log_likelihood)) < 1e-12);

  const auto smooth = smoothed(model, one);
  BOOST_REQUIRE(int(smooth.size()) == steps * k);
  for (int t = 0; t < steps; ++t)
    for (int i = 0; i < k; ++i)
      BOOST_TEST(std::abs(smooth[at(t * k + i)] - double(slow.smooth[at(t)][at(i)])) < 1e-12);

  // All paths, and no more; two that differ only by rounding errors may come in either order.
  const auto paths = model.decode_best(one.all, int(slow.paths.size()) + 5, control);
  BOOST_REQUIRE(paths.size() == slow.paths.size());
  std::vector<Path> seen;
  const Chain chain = known.chain(x);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const double p = double(slow.paths[i].first);
    seen.push_back(paths[i].states);
    BOOST_REQUIRE(int(paths[i].states.size()) == steps);
    BOOST_TEST(distance(paths[i].log_probability, p) < 1e-11);
    BOOST_TEST(distance(paths[i].log_probability, double(chain.log_joint(paths[i].states))) <
               1e-11);
    if (i) BOOST_TEST(paths[i].log_probability <= paths[i - 1].log_probability);
    const bool alone = (i == 0 || slow.paths[i - 1].first - p > 1e-9) &&
                       (i + 1 == paths.size() || p - slow.paths[i + 1].first > 1e-9);
    if (alone) BOOST_TEST(paths[i].states == slow.paths[i].second);
  }
  std::sort(seen.begin(), seen.end());
  BOOST_TEST((std::adjacent_find(seen.begin(), seen.end()) == seen.end()));
  const auto best = model.decode(one.all, control);
  BOOST_TEST(distance(best.log_probability, double(slow.paths[0].first)) < 1e-12);
  if (slow.paths.size() == 1 || slow.paths[0].first - slow.paths[1].first > 1e-9)
    BOOST_TEST(best.states == slow.paths[0].second);
  const auto few = model.decode_best(one.all, 2, control);
  BOOST_REQUIRE(few.size() == std::min<std::size_t>(2, paths.size()));
  for (std::size_t i = 0; i < few.size(); ++i) BOOST_TEST(few[i].states == paths[i].states);

  // The filter is exact for every prefix; a missing step has no density.
  HiddenMarkovModel::Filter filter(model);
  Real before = 0;
  Enumeration past;
  for (int t = 0; t < steps; ++t) {
    past = enumerate(known.chain(Sequence(x.begin(), x.begin() + (t + 1) * d)));
    const auto p = filter.next({x.data() + t * d, at(d)});
    BOOST_REQUIRE(int(p.size()) == k);
    for (int i = 0; i < k; ++i)
      BOOST_TEST(std::abs(p[at(i)] - double(past.smooth.back()[at(i)])) < 1e-12);
    BOOST_TEST(std::abs(filter.log_predictive() - double(past.log_likelihood - before)) < 1e-11);
    before = past.log_likelihood;
  }

  // What comes next, and after that: all paths through steps that are missing.
  std::vector<HiddenMarkovModel::Prediction> ahead;
  model.predict(one.all, 3, control, [&ahead](const auto &next) { ahead.push_back(next); });
  BOOST_REQUIRE(ahead.size() == 3);
  BOOST_TEST(model.predict_next(one.all, control).states == ahead[0].states);
  std::vector<Real> states = past.smooth.back();
  Sequence longer = x;
  for (const auto &next : ahead) {
    std::vector<Real> moved(at(k), 0);
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < k; ++j) moved[at(j)] += states[at(i)] * known.a[at(i)][at(j)];
    states = std::move(moved);
    longer.insert(longer.end(), at(d), hole);
    if (std::pow(k, double(longer.size()) / d) < 20000) {
      const std::vector<Real> summed = enumerate(known.chain(longer)).smooth.back();
      for (int j = 0; j < k; ++j)
        BOOST_TEST(std::abs(double(summed[at(j)] - states[at(j)])) < 1e-12);
    }
    check_prediction(model, known, states, next);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hmm)

BOOST_AUTO_TEST_CASE(given_parameters_are_returned_with_exact_expected_counts) {
  const Table a = random_rows(3, 3, 1), b = random_rows(3, 4, 2);
  const std::vector<Sequence> x = {{0, 1, 3, 2, 2, 0}, {3}, {1, 1, hole, 0}};
  const std::vector<double> weights = {1, 2.5, 0.5};
  const Fitted model =
      fitted_symbols(x, 4, 3, with(as_given, {{"init", init(start3, a, b, true)}}), weights);
  const Known known(*model, {"categorical"});
  Real whole = 0;
  std::vector<Real> visits(3, 0);
  Table counts(3, std::vector<Real>(3, 0));
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(std::abs(double(known.initial[at(i)] - start3[at(i)])) < 1e-15);
    for (int j = 0; j < 3; ++j)
      BOOST_TEST(std::abs(double(known.a[at(i)][at(j)] - a[at(i)][at(j)])) < 1e-15);
    for (int v = 0; v < 4; ++v)
      BOOST_TEST(std::abs(double(known.probability(i, v) - b[at(i)][at(v)])) < 1e-15);
  }
  for (std::size_t s = 0; s < x.size(); ++s) {
    const Enumeration slow = enumerate(known.chain(x[s]));
    whole += weights[s] * slow.log_likelihood;
    for (const auto &p : slow.smooth)
      for (int i = 0; i < 3; ++i) visits[at(i)] += weights[s] * p[at(i)];
    for (const auto &p : slow.pairs)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) counts[at(i)][at(j)] += weights[s] * p[at(i)][at(j)];
  }
  BOOST_REQUIRE(model->trace.size() == 1u);
  BOOST_REQUIRE(model->trace[0].size() == 1u);
  BOOST_TEST(distance(model->trace[0][0], double(whole)) < 1e-12);
  BOOST_TEST(distance(model->info.log_likelihood, double(whole)) < 1e-12);
  BOOST_TEST(distance(model->info.objective, double(whole)) < 1e-12);
  // Stationary distribution: a hundred thousand steps of the Markov chain.
  std::vector<Real> share = start3;
  for (int step = 0; step < 100000; ++step) {
    std::vector<Real> next(3, 0);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) next[at(j)] += share[at(i)] * known.a[at(i)][at(j)];
    share = next;
    for (Real &p : share) p /= next[0] + next[1] + next[2];
  }
  for (int i = 0; i < 3; ++i) {
    const auto state = model->state_at(i);
    BOOST_TEST(distance(state.visits, double(visits[at(i)])) < 1e-12);
    BOOST_TEST(std::abs(state.stationary - double(share[at(i)])) < 1e-12);
    BOOST_TEST(distance(state.dwell, double(1 / (1 - known.a[at(i)][at(i)]))) < 1e-12);
    BOOST_TEST(std::isnan(state.initial_deviation));
    BOOST_TEST(std::isnan(state.initial_alpha));
  }
  int row = 0;
  model->transitions([&](const bayes::HmmTransition &t) {
    BOOST_TEST(t.from * 3 + t.to == row++);
    BOOST_TEST(distance(t.count, double(counts[at(t.from)][at(t.to)])) < 1e-12);
    BOOST_TEST(std::isnan(t.deviation));
    BOOST_TEST(std::isnan(t.alpha));
  });
  BOOST_TEST(row == 9);
  BOOST_TEST(!model->has_posterior());
  bayes::Errc code{};
  message_of([&] { model->posterior([](const bayes::HmmPosterior &) {}); }, &code);
  BOOST_TEST((code == bayes::Errc::invalid_argument));
  BOOST_TEST(model->code("d") == 3);
  BOOST_TEST(model->code("nothing of the kind") == -1);
  BOOST_TEST(model->symbol_names() == first_letters(4));
}

BOOST_AUTO_TEST_CASE(symbols_agree_with_enumerated_paths) {
  const Table a = random_rows(3, 3, 3), b = random_rows(3, 4, 4);
  const Fitted model = symbol_model(start3, a, b);
  const Known known(*model, {"categorical"});
  for (const Sequence &x :
       {Sequence{0, 1, 2, 3, 3, 0, 1}, Sequence{2}, Sequence{hole}, Sequence{1, hole, 3},
        Sequence{hole, hole, 0, hole, 2, hole}, Sequence{0, 0}})
    check_answers(*model, known, x);
  // A missing step is summed over all symbols.
  std::vector<Real> all;
  for (int v = 0; v < 4; ++v)
    all.push_back(enumerate(known.chain({1, double(v), 3})).log_likelihood);
  Data one(1, {{1, hole, 3}});
  BOOST_TEST(distance(model->log_likelihood(one.all, control), double(log_sum(all))) < 1e-12);
  Data nothing(1, {{hole, hole, hole}});
  BOOST_TEST(std::abs(model->log_likelihood(nothing.all, control)) < 1e-14);
}

BOOST_AUTO_TEST_CASE(normals_agree_with_enumerated_paths) {
  // A few iterations from given means, so that covariances are those of states.
  const Table a = random_rows(3, 3, 5);
  Sequence training = drawn(start3, a, 200, 6, [](int z, bayes::Random &random, Sequence &out) {
    const double u = random.normal(), v = random.normal();
    out.push_back(2 * z + u);
    out.push_back(0.5 * z * u + (1 + z) * v);
  });
  training[20] = training[21] = hole;
  const Table means = {{0, 0}, {2, 0}, {4, 0}};
  for (const std::string &shape : support::shapes) {
    Data data(2, {training});
    const Fitted model = fitted(data, 3,
                                {{"method", "em"},
                                 {"max_iter", 4},
                                 {"tol", 0.0},
                                 {"covariance", shape},
                                 {"init", init(start3, a, means, false)}});
    const Known known(*model, {"multivariate"});
    if (shape == "full") BOOST_TEST(std::abs(known.covariance(2)[1]) > 0.05);
    BOOST_TEST(known.covariance(2)[1] == known.covariance(2)[2]);
    check_answers(*model, known, {0.3, 1.5, 2.2, -3, hole, hole, 5.5, 2, 1, 1, 4, 0.1});
    check_answers(*model, known, {9, -4});
  }
}

BOOST_AUTO_TEST_CASE(columns_agree_with_enumerated_paths) {
  const Table a = random_rows(3, 3, 7);
  const Fitted counts = poisson_model(start3, a, {1, 4.5, 12});
  check_answers(*counts, Known(*counts, {"poisson"}), {0, 3, 14, hole, 5, 5, 0});
  check_answers(*counts, Known(*counts, {"poisson"}), {1000});
  Data waits(1, {{0.2, 3, 1, 9}});
  const Fitted waiting = fitted(
      waits, 3,
      with(as_given,
           {{"emission", "exponential"}, {"init", init(start3, a, {{0.5}, {2}, {10}}, false)}}));
  check_answers(*waiting, Known(*waiting, {"exponential"}), {0.1, 5, 5, hole, 30, 0.7});
  Data coins(1, {{0, 1, 1, 0}});
  const Fitted coin = fitted(
      coins, 3,
      with(as_given,
           {{"emission", "bernoulli"}, {"init", init(start3, a, {{0.1}, {0.5}, {0.8}}, false)}}));
  check_answers(*coin, Known(*coin, {"bernoulli"}), {0, 1, 1, hole, 0, 1});
  BOOST_TEST(std::abs(double(Known(*coin, {"bernoulli"}).probability(2, 1)) - 0.8) < 1e-15);

  // A product with missing values, which are integrated out.
  const std::vector<std::string> kinds = {"normal", "bernoulli", "poisson", "categorical"};
  const double codes[] = {1, 2, 9};
  const Sequence training =
      drawn(start3, a, 120, 8, [&](int z, bayes::Random &random, Sequence &out) {
        out.push_back(3 * z + random.normal());
        out.push_back(random.uniform() < 0.2 + 0.3 * z);
        out.push_back(std::floor(random.gamma(2 + 4 * z)));
        out.push_back(random.uniform() < 0.1 ? hole : codes[random.below(3)]);
      });
  Data data(4, {training});
  const Fitted product =
      fitted(data, 3,
             {{"method", "em"},
              {"max_iter", 5},
              {"restarts", 2},
              {"emission", Document::List{"normal", "bernoulli", "poisson", "categorical"}}});
  check_answers(
      *product, Known(*product, kinds),
      {0.5, 1, 3, 9, 4, hole, 8, 1, 2, 0, hole, hole, hole, hole, hole, hole, 7, 1, 12, 2});
}

BOOST_AUTO_TEST_CASE(structural_zeros_agree_with_enumerated_paths) {
  const Table b = random_rows(3, 4, 9);
  const Fitted cycle = symbol_model({0.6, 0, 0.4}, {{0.7, 0.3, 0}, {0, 0.5, 0.5}, {1, 0, 0}}, b);
  const Known known(*cycle, {"categorical"});
  BOOST_TEST(double(known.initial[1]) == 0);
  BOOST_TEST(double(known.a[2][0]) == 1);
  for (const Sequence &x : {Sequence{0, 1, 2, 3, 3, 0, 1, 2}, Sequence{3}, Sequence{1, 2},
                            Sequence{hole, 2, hole, hole}})
    check_answers(*cycle, known, x);

  const std::vector<Sequence> data = {{0, 0, 1, 1, 2, 2}, {0, 1, 1, 2}, {0, 1, 2, 2, 2}};
  const Fitted forward = fitted_symbols(
      data, 3, 3,
      {{"method", "em"}, {"topology", "left-to-right"}, {"max_iter", 3}, {"restarts", 2}});
  const Known ahead(*forward, {"categorical"});
  BOOST_TEST(double(ahead.initial[0]) == 1);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j) BOOST_TEST(double(ahead.a[at(i)][at(j)]) == 0);
  BOOST_TEST(double(ahead.a[2][2]) == 1);
  BOOST_TEST(std::isinf(forward->state_at(2).dwell));
  check_answers(*forward, ahead, {0, 0, 1, hole, 2, 1, 2});

  // Two absorbing states: the stationary distribution is not unique.
  const Fitted split = symbol_model({0.5, 0.3, 0.2}, {{0.2, 0.4, 0.4}, {0, 1, 0}, {0, 0, 1}}, b);
  for (int i = 0; i < 3; ++i) BOOST_TEST(std::isnan(split->state_at(i).stationary));
  check_answers(*split, Known(*split, {"categorical"}), {0, 1, 2, 3, 3});
}

BOOST_AUTO_TEST_CASE(one_state_and_more_states_than_steps) {
  const Fitted single = symbol_model({1}, {{1}}, random_rows(1, 4, 10));
  check_answers(*single, Known(*single, {"categorical"}), {0, 1, hole, 3, 3});
  const std::vector<Real> initial = random_rows(1, 6, 11)[0];
  const Fitted many = symbol_model(initial, random_rows(6, 6, 12), random_rows(6, 4, 13));
  check_answers(*many, Known(*many, {"categorical"}), {2, hole, 1});
  check_answers(*many, Known(*many, {"categorical"}), {3});
}

BOOST_AUTO_TEST_CASE(ties_are_broken_by_the_smallest_last_state) {
  const Real third = Real(1.0 / 3);
  const Table same(3, std::vector<Real>(3, third));
  // All states are equivalent: the 81 paths are equally probable, and come in the order of the last
  // state, then of the last but one, ...
  const Fitted uniform = symbol_model({third, third, third}, same, same);
  Data one(1, {{0, 2, 1, 1}});
  BOOST_TEST(uniform->decode(one.all, control).states == Path({0, 0, 0, 0}));
  const auto slow = enumerate(Known(*uniform, {"categorical"}).chain({0, 2, 1, 1}));
  const auto all = uniform->decode_best(one.all, 100, control);
  BOOST_REQUIRE(all.size() == 81u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    BOOST_TEST(all[i].states == slow.paths[i].second);
    BOOST_TEST(all[i].log_probability == all[0].log_probability);
  }
  // Two of three states are equivalent: exchanging them in a path gives the same terms in the same
  // order.
  const Fitted twins = symbol_model({0.5, 0.25, 0.25},
                                    {{0.5, 0.25, 0.25}, {0.25, 0.375, 0.375}, {0.25, 0.375, 0.375}},
                                    {{0.75, 0.25}, {0.125, 0.875}, {0.125, 0.875}});
  for (const Sequence &x : {Sequence{0, 1, 1, 0, 1}, Sequence{1, 1, 1}, Sequence{1},
                            Sequence{1, hole, 0, 1, 1, hole}}) {
    Data given(1, {x});
    const auto paths = enumerate(Known(*twins, {"categorical"}).chain(x)).paths;
    BOOST_TEST(twins->decode(given.all, control).states == paths[0].second);
    const auto best = twins->decode_best(given.all, 4, control);
    BOOST_TEST(best[0].states == paths[0].second);
  }
}

BOOST_AUTO_TEST_CASE(identical_transition_rows_give_a_mixture) {
  const std::vector<Real> rates = {1, 5, 9};
  const Fitted model = poisson_model(start3, {start3, start3, start3}, rates);
  const Sequence x = {0, 3, 3, 11, hole, 6, 8, 2, 40};
  Data one(1, {x});
  const auto smooth = smoothed(*model, one);
  Real whole = 0;
  for (std::size_t t = 0; t < x.size(); ++t) {
    std::vector<Real> terms;
    for (std::size_t k = 0; k < 3; ++k)
      terms.push_back(std::log(start3[k]) +
                      (std::isnan(x[t])
                           ? 0
                           : x[t] * std::log(rates[k]) - rates[k] - std::lgamma(Real(x[t]) + 1)));
    whole += log_sum(terms);
    for (std::size_t k = 0; k < 3; ++k)
      BOOST_TEST(std::abs(smooth[t * 3 + k] - double(std::exp(terms[k] - log_sum(terms)))) < 1e-12);
  }
  BOOST_TEST(distance(model->log_likelihood(one.all, control), double(whole)) < 1e-12);
}

BOOST_AUTO_TEST_CASE(impossible_sequences_have_no_path) {
  // 10^200 is further from every normal state than a double can say.
  Data data(1, {{0, 1, 0, 2, 9, 8, 10, 9}});
  const Fitted normal =
      fitted(data, 2,
             {{"method", "em"},
              {"max_iter", 2},
              {"init", init({0.5, 0.5}, {{0.5, 0.5}, {0.5, 0.5}}, {{1}, {9}}, false)}});
  const Sequence x = {1, 1e200, 9};
  Data one(1, {x});
  BOOST_TEST(normal->log_likelihood(one.all, control) == -std::numeric_limits<double>::infinity());
  bayes::Errc code{};
  message_of([&] { normal->decode(one.all, control); }, &code);
  BOOST_TEST((code == bayes::Errc::numeric));
  HiddenMarkovModel::Filter filter(*normal);
  filter.next({x.data(), 1}), code = {};
  message_of([&] { filter.next({x.data() + 1, 1}); }, &code);
  BOOST_TEST((code == bayes::Errc::numeric));
}

// Symbols without probability in option init are raised to the lower bound.
BOOST_AUTO_TEST_CASE(symbols_of_probability_zero_are_raised_to_the_bound) {
  const Fitted model = symbol_model({1, 0}, {{0.5, 0.5}, {0, 1}}, {{0.5, 0.5, 0}, {0.25, 0.75, 0}});
  const Known known(*model, {"categorical"});
  for (int i = 0; i < 2; ++i) BOOST_TEST(std::abs(double(known.probability(i, 2)) - 1e-12) < 1e-20);
  check_answers(*model, known, {0, 2, 1});
}

BOOST_AUTO_TEST_CASE(documents_round_trip) {
  const Fitted model =
      symbol_model({0.6, 0, 0.4}, {{0.7, 0.3, 0}, {0, 0.5, 0.5}, {1, 0, 0}}, random_rows(3, 4, 20));
  const std::string bytes = model->to_bytes();
  for (const auto &again :
       {bayes::Model::from_bytes(bytes), bayes::Model::from_document(model->to_document())}) {
    const auto *copy = dynamic_cast<const HiddenMarkovModel *>(again.get());
    BOOST_REQUIRE(copy);
    BOOST_TEST((copy->to_bytes() == bytes));
    Data one(1, {{0, 3, hole, 2, 2}});
    BOOST_TEST(copy->log_likelihood(one.all, control) == model->log_likelihood(one.all, control));
    BOOST_TEST((smoothed(*copy, one) == smoothed(*model, one)));
    BOOST_TEST(copy->decode(one.all, control).states == model->decode(one.all, control).states);
    check_answers(*copy, Known(*copy, {"categorical"}), {0, 3, hole, 2, 2});
  }
}

BOOST_AUTO_TEST_SUITE_END()
