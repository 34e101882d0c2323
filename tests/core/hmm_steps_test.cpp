// Iterations of fits of hidden Markov models, against expectations over all K^T paths, and
// objectives written out.
#include "hmm_bound.hpp"

using namespace hidden_markov;

namespace {

/// Expectations over all paths of all sequences.
struct Expected {
  Real log_likelihood = 0;
  std::vector<Real> initial;
  Table pairs;
  std::vector<Table> smooth;  // of every sequence, weighted
};
Expected expect(const Known &known, const std::vector<Sequence> &x,
                const std::vector<double> &weights = {}, const std::vector<Path> &labels = {}) {
  const std::size_t k = known.initial.size();
  Expected out{0, std::vector<Real>(k, 0), Table(k, std::vector<Real>(k, 0)), {}};
  for (std::size_t s = 0; s < x.size(); ++s) {
    const Real w = weights.empty() ? 1 : weights[s];
    Enumeration slow = enumerate(known.chain(x[s], labels.empty() ? Path{} : labels[s]));
    out.log_likelihood += w * slow.log_likelihood;
    for (auto &row : slow.smooth)
      for (Real &p : row) p *= w;
    for (std::size_t i = 0; i < k; ++i) {
      out.initial[i] += slow.smooth[0][i];
      for (std::size_t j = 0; j < k; ++j)
        for (const auto &pair : slow.pairs) out.pairs[i][j] += w * pair[i][j];
    }
    out.smooth.push_back(slow.smooth);
  }
  return out;
}

/// The mode of a distribution given counts; entries that are 0 in `given` stay 0.
std::vector<Real> mode(std::vector<Real> counts, const std::vector<Real> &given,
                       const std::vector<Real> &alpha) {
  Real whole = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    whole += counts[i] = given[i] > 0 ? counts[i] + alpha[i] - 1 : 0;
  for (Real &p : counts) p /= whole;
  return counts;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(hmm_steps)

BOOST_AUTO_TEST_CASE(one_iteration_over_symbols_agrees_with_the_definition) {
  const Table a = random_rows(3, 3, 1), b = random_rows(3, 4, 2);
  const std::vector<Sequence> x = {{0, 1, 3, 2, 2, 0, 1}, {3}, {1, 1, hole, 0}, {2, 3}};
  const std::vector<double> heavy = {1, 2.5, 0.5, 3};
  const std::vector<Path> labels = {{0, 0, 2, 0, 3, 0, 0}, {0}, {1, 0, 0, 3}, {0, 0}};
  struct Case {
    std::string method;
    Table a;
    std::vector<Real> initial;
    std::vector<double> weights;
    std::vector<Path> labels;
  };
  const std::vector<Real> gap = {0.6, 0.4, 0};
  const Table prior_a = {{2, 1.5, 1}, {1, 3, 1.25}, {1.5, 1, 1}};
  for (const Case &c : {Case{"em", a, start3, {}, {}}, Case{"em", a, start3, heavy, {}},
                        Case{"em", a, start3, {}, labels}, Case{"em", a, start3, heavy, labels},
                        Case{"em", cycle3, gap, heavy, {}}, Case{"map", a, start3, {}, {}},
                        Case{"map", a, start3, heavy, labels}, Case{"map", cycle3, gap, {}, {}}}) {
    const bool map = c.method == "map";
    const auto given = init(c.initial, c.a, b, true);
    const Known known(*symbol_model(c.initial, c.a, b), {"categorical"});
    Options options = {{"method", c.method}, {"max_iter", 1}, {"tol", 0.0}, {"init", given}};
    Dirichlets prior = flat(3, 4);
    if (map) {
      prior = {{1.5, 2, 1}, prior_a, Table(3, std::vector<Real>(4, 1.75))};
      options.push_back({"prior", Options{{"initial", tensor(prior.initial)},
                                          {"transition", tensor(prior_a)},
                                          {"category_alpha", 1.75}}});
    }
    const Fitted model = fitted_symbols(x, 4, 3, options, c.weights, c.labels);
    const Known fit(*model, {"categorical"});
    const Expected e = expect(known, x, c.weights, c.labels);
    const auto initial = mode(e.initial, c.initial, prior.initial);
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<Real> seen(4, 0);
      for (std::size_t s = 0; s < x.size(); ++s)
        for (std::size_t t = 0; t < x[s].size(); ++t)
          if (!std::isnan(x[s][t])) seen[at(x[s][t])] += e.smooth[s][t][i];
      const auto row = mode(e.pairs[i], c.a[i], prior.a[i]),
                 emission = mode(seen, b[i], prior.b[i]);
      BOOST_TEST(std::abs(double(fit.initial[i] - initial[i])) < 1e-12);
      for (std::size_t j = 0; j < 3; ++j)
        BOOST_TEST(std::abs(double(fit.a[i][j] - row[j])) < 1e-12);
      for (std::size_t v = 0; v < 4; ++v)
        BOOST_TEST(std::abs(double(fit.probability(int(i), double(v)) - emission[v])) < 1e-12);
    }
    // The objective at the start and at the end of the run.
    const auto objective = [&](const Known &at_point) {
      Real total = expect(at_point, x, c.weights, c.labels).log_likelihood;
      if (!map) return total;
      total += log_dirichlet(at_point.initial, prior.initial);
      for (int i = 0; i < 3; ++i) {
        std::vector<Real> emission;
        for (int v = 0; v < 4; ++v) emission.push_back(at_point.probability(i, v));
        total += log_dirichlet(at_point.a[at(i)], prior.a[at(i)]) +
                 log_dirichlet(emission, prior.b[at(i)]);
      }
      return total;
    };
    BOOST_REQUIRE(model->trace[0].size() == 2u);
    BOOST_TEST(distance(model->trace[0][0], double(objective(known))) < 1e-12);
    BOOST_TEST(distance(model->trace[0][1], double(objective(fit))) < 1e-12);
    BOOST_TEST(distance(model->info.objective, double(objective(fit))) < 1e-12);
  }
  // A weight counts repetitions of a sequence.
  for (const std::string method : {"em", "map", "vi"}) {
    const Options options = {
        {"method", method}, {"max_iter", 7}, {"tol", 0.0}, {"init", init(start3, a, b, true)}};
    const Fitted once = fitted_symbols({x[0], x[2]}, 4, 3, options, {2, 3}),
                 often = fitted_symbols({x[2], x[0], x[2], x[0], x[2]}, 4, 3, options);
    BOOST_TEST(distance(once->info.objective, often->info.objective) < 1e-12);
    const Known p(*once, {"categorical"}), q(*often, {"categorical"});
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        BOOST_TEST(std::abs(double(p.a[at(i)][at(j)] - q.a[at(i)][at(j)]) +
                            double(p.probability(i, j) - q.probability(i, j))) < 1e-11);
  }
}

BOOST_AUTO_TEST_CASE(one_iteration_over_normals_agrees_with_the_definition) {
  const Table a = random_rows(3, 3, 3);
  bayes::Random random(4);
  std::vector<Sequence> x(4);
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t t = 0; t < 7 - s; ++t) {
      const double u = random.normal(), v = random.normal();
      x[s].insert(x[s].end(), {u + double(random.below(3)), 0.6 * u + v});
    }
  x[2][4] = x[2][5] = hole;
  const std::vector<double> weights = {1, 2, 0.5, 1.5};
  for (const std::string &shape : support::shapes) {
    Options options = {{"method", "em"},
                       {"tol", 0.0},
                       {"covariance", shape},
                       {"init", init(start3, a, {{0, 0}, {1, 0.5}, {2, -1}}, false)}};
    Data first(2, x, weights), second(2, x, weights);
    const Fitted before = fitted(first, 3, with(options, {{"max_iter", 0}})),
                 after = fitted(second, 3, with(options, {{"max_iter", 1}}));
    const Known fit(*after, {"multivariate"});
    const Expected e = expect(Known(*before, {"multivariate"}), x, weights);
    BOOST_TEST(distance(before->trace[0][0], double(e.log_likelihood)) < 1e-12);
    BOOST_TEST(distance(after->trace[0].at(1), double(expect(fit, x, weights).log_likelihood)) <
               1e-11);
    std::vector<Real> pooled(4, 0), counts;
    Real whole = 0;
    Table scatters;
    for (std::size_t k = 0; k < 3; ++k) {
      Real n = 0, mean[2] = {0, 0};
      std::vector<Real> scatter(4, 0);
      const auto each = [&](auto f) {
        for (std::size_t s = 0; s < x.size(); ++s)
          for (std::size_t t = 0; 2 * t < x[s].size(); ++t)
            if (!std::isnan(x[s][2 * t])) f(e.smooth[s][t][k], &x[s][2 * t]);
      };
      each([&](Real r, const double *y) { n += r, mean[0] += r * y[0], mean[1] += r * y[1]; });
      for (Real &m : mean) m /= n;
      each([&](Real r, const double *y) {
        for (int i = 0; i < 4; ++i)
          scatter[at(i)] += r * (y[i / 2] - mean[i / 2]) * (y[i % 2] - mean[i % 2]);
      });
      for (std::size_t j = 0; j < 2; ++j)
        BOOST_TEST(std::abs(fit.mean(int(k))[j] - double(mean[j])) < 1e-11);
      for (std::size_t i = 0; i < 4; ++i) pooled[i] += scatter[i];
      whole += n, counts.push_back(n), scatters.push_back(scatter);
    }
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<Real> c = shape == "tied" ? pooled : scatters[k];
      for (Real &v : c) v /= shape == "tied" ? whole : counts[k];
      if (shape == "diagonal" || shape == "spherical") c[1] = c[2] = 0;
      if (shape == "spherical") c[0] = c[3] = (c[0] + c[3]) / 2;
      for (std::size_t i = 0; i < 4; ++i)
        BOOST_TEST(std::abs(fit.covariance(int(k))[i] - double(c[i])) < 1e-11);
    }
  }
}

BOOST_AUTO_TEST_CASE(objectives_increase_to_their_definition) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto x = some_sequences(5, 3, seed);
    const std::vector<double> weights = {1, 0.5, 2, 1.25, 3};
    const Options common = {
        {"restarts", 3}, {"max_iter", 80}, {"tol", 0.0}, {"seed", std::int64_t(seed)}};
    const Fitted em = fitted_symbols(x, 3, 3, with(common, {{"method", "em"}}), weights);
    BOOST_TEST(em->trace.size() == 3u);
    check_steps(*em);
    BOOST_TEST(distance(em->info.objective,
                        double(expect(Known(*em, {"categorical"}), x, weights).log_likelihood)) <
               1e-10);

    const Options peaked = {{"initial", 1.5}, {"transition", 2.0}, {"category_alpha", 1.25}};
    const Fitted map =
        fitted_symbols(x, 3, 3, with(common, {{"method", "map"}, {"prior", peaked}}), weights);
    check_steps(*map);
    const Known point(*map, {"categorical"});
    Real objective =
        expect(point, x, weights).log_likelihood + log_dirichlet(point.initial, {1.5, 1.5, 1.5});
    for (int i = 0; i < 3; ++i)
      objective +=
          log_dirichlet(point.a[at(i)], {2, 2, 2}) +
          log_dirichlet({point.probability(i, 0), point.probability(i, 1), point.probability(i, 2)},
                        {1.25, 1.25, 1.25});
    BOOST_TEST(distance(map->info.objective, double(objective)) < 1e-10);

    for (const double alpha : {1.0, 0.3}) {
      const Options prior = {
          {"initial", alpha}, {"transition", alpha}, {"category_alpha", 2 * alpha}};
      const Fitted vi = fitted_symbols(
          x, 3, 3, with(common, {{"prior", prior}, {"linear_response", false}}), weights);
      check_steps(*vi);
      BOOST_TEST(vi->has_posterior());
      BOOST_TEST(distance(vi->info.objective,
                          double(elbo(*vi, x, 3, flat(3, 3, alpha, alpha, 2 * alpha), weights))) <
                 1e-11);
      // States are in order of decreasing occupancy, which counts missing steps too.
      double all = 0, steps = 0;
      for (int i = 0; i < 3; ++i) {
        const auto state = vi->state_at(i);
        all += state.visits;
        if (i) BOOST_TEST(state.visits <= vi->state_at(i - 1).visits + 1e-9);
        const double sum = vi->state_at(0).initial_alpha + vi->state_at(1).initial_alpha +
                           vi->state_at(2).initial_alpha;
        BOOST_TEST(std::abs(state.initial - state.initial_alpha / sum) < 1e-12);
        BOOST_TEST(std::abs(state.initial_deviation -
                            std::sqrt(state.initial * (1 - state.initial) / (sum + 1))) < 1e-12);
      }
      for (std::size_t s = 0; s < x.size(); ++s) steps += weights[s] * double(x[s].size());
      BOOST_TEST(distance(all, steps) < 1e-10);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
