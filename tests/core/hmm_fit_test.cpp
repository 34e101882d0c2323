// Fits of hidden Markov models, against expectations over all K^T paths, objectives written out,
// and exact posteriors.
#include "hmm_support.hpp"

using namespace markov;

namespace {

/// What all sequences together expect, over all paths.
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

/// The mode of a distribution given counts; where `given` is 0 it stays 0.
std::vector<Real> mode(std::vector<Real> counts, const std::vector<Real> &given,
                       const std::vector<Real> &alpha) {
  Real whole = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    whole += counts[i] = given[i] > 0 ? counts[i] + alpha[i] - 1 : 0;
  for (Real &p : counts) p /= whole;
  return counts;
}
/// log Dirichlet(p | alpha) over the entries that are not 0.
Real log_dirichlet(const std::vector<Real> &p, const std::vector<Real> &alpha) {
  Real whole = 0, total = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (p[i] > 0)
      whole += alpha[i], total += (alpha[i] - 1) * std::log(p[i]) - std::lgamma(alpha[i]);
  return total + std::lgamma(whole);
}

Dirichlets posterior_of(const HiddenMarkovModel &model, int v) {
  Dirichlets q = flat(model.size(), v, 0, 0, 0);
  for (int i = 0; i < model.size(); ++i) q.initial[at(i)] = model.state_at(i).initial_alpha;
  model.transitions([&](const bayes::HmmTransition &t) { q.a[at(t.from)][at(t.to)] = t.alpha; });
  if (v)
    model.posterior([&](const bayes::HmmPosterior &p) {
      BOOST_TEST(std::string(p.parameter) == "category_alpha");
      q.b[at(p.state)][at(model.code(*p.symbol))] = p.value.at(0);
    });
  return q;
}

/// exp E log p of a Dirichlet; zeros of the structure are left out of it.
std::vector<Real> geometric(const std::vector<Real> &q, const std::vector<Real> &shown) {
  Real whole = 0;
  std::vector<Real> out(q.size(), 0);
  for (std::size_t i = 0; i < q.size(); ++i) whole += shown[i] > 0 ? q[i] : 0;
  for (std::size_t i = 0; i < q.size(); ++i)
    if (shown[i] > 0) out[i] = std::exp(slow::digamma(q[i]) - slow::digamma(whole));
  return out;
}
/// E_q[log p - log q].
Real gain(const std::vector<Real> &prior, const std::vector<Real> &q,
          const std::vector<Real> &shown) {
  const auto mean = geometric(q, shown);
  return log_dirichlet(mean, prior) - log_dirichlet(mean, q);  // both are linear in log p
}

/// The bound of a symbol model: the likelihood under exp E log of the parameters, less the
/// divergences.
Real elbo(const HiddenMarkovModel &model, const std::vector<Sequence> &x, int v,
          const Dirichlets &prior, const std::vector<double> &weights = {}) {
  const Known known(model, {"categorical"});
  const Dirichlets q = posterior_of(model, v);
  const std::size_t k = q.a.size();
  const std::vector<Real> all(at(v), 1);
  Table a, scores(at(v) + 1, std::vector<Real>(k, 0));  // the last for a missing step
  Real total = gain(prior.initial, q.initial, known.initial);
  for (std::size_t i = 0; i < k; ++i) {
    a.push_back(geometric(q.a[i], known.a[i]));
    total += gain(prior.a[i], q.a[i], known.a[i]) + gain(prior.b[i], q.b[i], all);
    const auto b = geometric(q.b[i], all);
    for (std::size_t u = 0; u < at(v); ++u) scores[u][i] = std::log(b[u]);
  }
  const LogSpace<Real> chain(geometric(q.initial, known.initial), a);
  for (std::size_t s = 0; s < x.size(); ++s)
    total += (weights.empty() ? 1 : weights[s]) *
             chain.run(std::int64_t(x[s].size()), [&](std::int64_t t) -> const std::vector<Real> & {
               return scores[std::isnan(x[s][at(t)]) ? at(v) : at(x[s][at(t)])];
             });
  return total;
}

const std::vector<Real> start3 = {0.5, 0.3, 0.2};
const Table cycle3 = {{0.7, 0.3, 0}, {0, 0.5, 0.5}, {0.25, 0, 0.75}};

/// Some short sequences of the first v letters, a few steps missing.
std::vector<Sequence> some_sequences(int count, int v, std::uint64_t seed, int longest = 7) {
  bayes::Random random(seed, 79);
  std::vector<Sequence> out(at(count));
  for (std::size_t s = 0; s < out.size(); ++s) {
    const auto steps = s == 0 ? at(longest) : 1 + random.below(std::uint64_t(longest));
    for (std::size_t t = 0; t < steps; ++t)
      out[s].push_back(random.uniform() < 0.1 ? hole : double(random.below(std::uint64_t(v))));
  }
  for (int u = 0; u < v; ++u) out[0][at(u)] = u;  // so that every letter is there
  return out;
}

void check_steps(const HiddenMarkovModel &model) {
  BOOST_TEST(!model.trace.empty());
  for (const auto &run : model.trace) {
    BOOST_TEST(run.size() > 1u);
    for (std::size_t i = 1; i < run.size(); ++i)
      BOOST_TEST(run[i] >= run[i - 1] - 1e-10 * std::max(1.0, std::abs(run[i])));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hmm_fit)

BOOST_AUTO_TEST_CASE(one_iteration_over_symbols) {
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
    // Both objectives: where the run begins, and where it ends.
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
  // A weight is so many sequences.
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

BOOST_AUTO_TEST_CASE(one_iteration_over_normals) {
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

BOOST_AUTO_TEST_CASE(objectives_rise_to_what_they_are) {
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
      const Fitted vi = fitted_symbols(x, 3, 3, with(common, {{"prior", prior}}), weights);
      check_steps(*vi);
      BOOST_TEST(vi->has_posterior());
      BOOST_TEST(distance(vi->info.objective,
                          double(elbo(*vi, x, 3, flat(3, 3, alpha, alpha, 2 * alpha), weights))) <
                 1e-11);
      // States come with falling visits, which are all steps, missing ones too.
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

BOOST_AUTO_TEST_CASE(the_bound_is_below_the_evidence) {
  const std::vector<std::vector<Sequence>> sets = {{{0, 1, 1, 0, 1}},
                                                   {{0, 0, 0, 1}},
                                                   {{1, 0}, {0, 0, 1}},
                                                   {{0, hole, 1, 1, 0}},
                                                   {{1}, {0}, {0, 1}}};
  for (const auto &x : sets)
    for (const double alpha : {1.0, 0.4, 3.0}) {
      const Dirichlets prior = flat(2, 2, alpha, alpha, alpha);
      const double evidence = double(exact(x, prior).log_evidence);
      const Options options = {
          {"tol", 0.0},
          {"restarts", 5},
          {"max_iter", 300},
          {"prior", Options{{"initial", alpha}, {"transition", alpha}, {"category_alpha", alpha}}}};
      const Fitted two = fitted_symbols(x, 2, 2, options), one = fitted_symbols(x, 2, 1, options);
      for (const auto &run : two->trace)
        for (const double bound : run) BOOST_TEST(bound <= evidence + 1e-10);
      BOOST_TEST(two->info.objective > evidence - 3);
      // With one state there is nothing hidden: the bound is the evidence.
      BOOST_TEST(std::abs(one->info.objective -
                          double(exact(x, flat(1, 2, alpha, alpha, alpha)).log_evidence)) < 1e-10);
    }
}

BOOST_AUTO_TEST_CASE(zeros_stay_under_every_method) {
  const Table b = random_rows(3, 3, 5);
  const auto x = some_sequences(6, 3, 6);
  for (const std::string method : {"em", "map", "vi", "svi", "gibbs"}) {
    Options options = {{"method", method}, {"init", init({0.5, 0.5, 0}, cycle3, b, true)}};
    if (method == "gibbs")
      options = with(options, {{"draws", 60}, {"warmup", 10}, {"chains", 2}});
    else
      options.push_back({"max_iter", 20});
    if (method == "svi") options.push_back({"batch_size", 2});
    Options ahead = options;
    ahead[1] = {"topology", "left-to-right"};
    const Fitted model = fitted_symbols(x, 3, 3, options), forward = fitted_symbols(x, 3, 3, ahead);
    const Known known(*model, {"categorical"}), rows(*forward, {"categorical"});
    for (std::size_t i = 0; i < 3; ++i) {
      BOOST_TEST((known.initial[i] == 0) == (i == 2));
      BOOST_TEST((rows.initial[i] == 0) == (i > 0));
      for (std::size_t j = 0; j < 3; ++j) {
        BOOST_TEST((known.a[i][j] == 0) == (cycle3[i][j] == 0));
        BOOST_TEST((rows.a[i][j] == 0) == (j < i));
      }
    }
    for (const auto *each : {model.get(), forward.get()})
      if (method == "vi")
        BOOST_TEST(distance(each->info.objective, double(elbo(*each, x, 3, flat(3, 3)))) < 1e-11);
  }
}

// Threads share out pieces; long sequences are theirs too. What is spilled comes back stretch by
// stretch, and is the same.
BOOST_AUTO_TEST_CASE(threads_and_files_change_nothing) {
  const Table a = random_rows(3, 3, 7), b = random_rows(3, 3, 8);
  std::vector<Sequence> x;
  for (std::uint64_t s = 0; s < 400; ++s)
    x.push_back(drawn(start3, a,
                      s == 10    ? 40000
                      : s == 200 ? 16384
                                 : std::int64_t(20 + s % 150),
                      s, letters_of(b)));
  x[10][17000] = x[3][0] = hole;
  for (const std::string method : {"em", "map", "vi", "svi", "gibbs"}) {
    Options options = {{"method", method}};
    if (method == "gibbs")
      options = with(options, {{"draws", 8}, {"warmup", 2}, {"chains", 2}});
    else
      options = with(options, {{"max_iter", 4}, {"restarts", 2}});
    if (method == "svi") options.push_back({"batch_size", 50});
    std::string first;
    for (const int threads : {1, 2, 3}) {
      const Fitted model = fitted_symbols(x, 3, 3, options, {}, {}, threads);
      if (threads == 1)
        first = bits(*model);
      else
        BOOST_TEST((bits(*model) == first));
    }
    Data data(1, x);
    support::Matrix all(data.rows.rows(), 1), weights = all;
    bayes::Buffer block(data.rows.shape().block_doubles());
    for (std::int64_t i = 0; i < data.rows.rows(); ++i) {
      if (i % bayes::block_rows == 0) data.rows.read_block(i / bayes::block_rows, block.data());
      all(i, 0) = block[at(i % bayes::block_rows)],
             weights(i, 0) = block[at(bayes::block_rows + i % bayes::block_rows)];
    }
    support::StretchedRows spilled(all, weights.col(0), 1);
    Sequences there{spilled,
                    1,
                    false,
                    data.all.count,
                    data.all.steps,
                    data.all.weight,
                    data.all.weights,
                    data.all.longest,
                    data.all.long_ones};
    bayes::Control control;
    control.threads = 2;
    BOOST_TEST((bits(*bayes::hmm_fit(there, first_letters(3), 3, Document(options),
                                     SequenceElements::symbols, false, nullptr, false, control)) ==
                first));
  }
}

// The sampler's means of parameters, against all paths. Draws are correlated: with no fewer than
// 2000 independent ones of 20000, and posterior standard deviations below 0.25, 5 standard errors
// are 0.028.
BOOST_AUTO_TEST_CASE(draws_have_the_exact_means) {
  const std::vector<Sequence> x = {{0, 0, 2, 1, 1}, {2, hole, 1, 0}, {0, 1, 2}};
  // strong enough for the states to keep their names
  const Dirichlets prior = {{40, 1}, {{30, 3}, {1, 20}}, flat(2, 3, 1, 1, 1.5).b};
  const auto begin =
      init({0.9, 0.1}, {{0.9, 0.1}, {0.1, 0.9}}, {{0.4, 0.3, 0.3}, {0.3, 0.4, 0.3}}, true);
  for (const auto &labels :
       {std::vector<Path>{}, std::vector<Path>{{1, 0, 0, 0, 2}, {0, 0, 2, 0}, {1, 0, 0}}}) {
    const Options options = {{"method", "gibbs"},
                             {"draws", 6000},
                             {"warmup", 1000},
                             {"chains", 4},
                             {"init", begin},
                             {"prior", Options{{"initial", tensor(prior.initial)},
                                               {"transition", tensor(prior.a)},
                                               {"category_alpha", 1.5}}}};
    const Fitted model = fitted_symbols(x, 3, 2, options, {}, labels);
    const Known known(*model, {"categorical"});
    const Exact truth = exact(x, prior, labels);
    for (std::size_t i = 0; i < 2; ++i) {
      BOOST_TEST(std::abs(double(known.initial[i] - truth.mean.initial[i])) < 0.028);
      for (std::size_t j = 0; j < 2; ++j)
        BOOST_TEST(std::abs(double(known.a[i][j] - truth.mean.a[i][j])) < 0.028);
      for (std::size_t v = 0; v < 3; ++v)
        BOOST_TEST(std::abs(double(known.probability(int(i), double(v)) - truth.mean.b[i][v])) <
                   0.028);
      BOOST_TEST(std::abs(model->state_at(int(i)).visits - double(truth.visits[i])) < 0.4);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_refused_is_named) {
  const std::vector<Sequence> x = {{0, 1, 2, 0}, {1, 2}};
  bayes::Errc code{};
  const auto refused = [&](Options options, const std::string &word,
                           const std::vector<double> &weights = {},
                           const std::vector<Path> &labels = {}) {
    code = bayes::Errc::internal;
    const std::string message =
        message_of([&] { fitted_symbols(x, 3, 3, std::move(options), weights, labels); }, &code);
    BOOST_TEST((code == bayes::Errc::invalid_argument));
    BOOST_TEST_CONTEXT(message) BOOST_TEST(message.find(word) != std::string::npos);
  };
  for (const std::string key : {"initial", "transition", "category_alpha"})
    refused({{"method", "map"}, {"prior", Options{{key, 0.5}}}}, key);
  refused({{"method", "gibbs"}}, "weight", {1, 2});
  refused({{"method", "em"}, {"topology", "left-to-right"}}, "", {}, {{0, 2, 0, 1}, {0, 0}});
  refused({{"method", "vi"}, {"init", init({0.5, 0.5, 0}, cycle3, random_rows(3, 3, 9), true)}}, "",
          {}, {{3, 0, 0, 0}, {0, 0}});
  refused({{"method", "none"}}, "method");
  refused({{"emision", "poisson"}}, "emision");
  refused({{"init", Options{{"initial", Tensor{{2}, {0.5, 0.5}}}}}}, "init");
  Data negative(1, {{3, -1}});
  negative.elements = SequenceElements::integers, code = bayes::Errc::internal;
  message_of([&] { fitted(negative, 1, {{"emission", "poisson"}}); }, &code);
  BOOST_TEST((code == bayes::Errc::invalid_argument));
}

BOOST_AUTO_TEST_CASE(stochastic_steps_come_near_the_optimum) {
  const Table a = {{0.9, 0.05, 0.05}, {0.1, 0.8, 0.1}, {0.05, 0.15, 0.8}},
              b = {{0.8, 0.1, 0.1}, {0.1, 0.8, 0.1}, {0.1, 0.1, 0.8}};
  std::vector<Sequence> x;
  for (std::uint64_t s = 0; s < 200; ++s)
    x.push_back(drawn(start3, a, 20 + std::int64_t(s % 10), 1000 + s, letters_of(b)));
  const auto begin = init(start3, random_rows(3, 3, 10),
                          {{0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}, {0.25, 0.25, 0.5}}, true);
  const Fitted vi = fitted_symbols(x, 3, 3, {{"init", begin}}),
               svi = fitted_symbols(x, 3, 3,
                                    {{"method", "svi"}, {"batch_size", 20}, {"init", begin}});
  BOOST_TEST(vi->info.converged);
  const double best = vi->info.objective, near = double(elbo(*svi, x, 3, flat(3, 3)));
  BOOST_TEST(distance(best, double(elbo(*vi, x, 3, flat(3, 3)))) < 1e-11);
  BOOST_TEST(near > best - 0.005 * std::abs(best));
}

// With a posterior, emissions are its predictive: Student t for normals. The bound and the mode's
// density of normals are those of their definitions.
BOOST_AUTO_TEST_CASE(normals_with_a_prior) {
  const Table a = random_rows(2, 2, 11);
  const std::vector<Sequence> x = {
      drawn({0.5, 0.5}, a, 30, 12, [](int z, bayes::Random &random, Sequence &out) {
        const double u = random.normal();
        out.insert(out.end(), {3 * z + u, u - 0.5 * z + 0.7 * random.normal()});
      })};
  const bayes::GmmPosterior one{1, {1, -0.5}, 0.2, {}, 4.5, {2, 0.3, 0.3, 1}};
  const std::vector<bayes::GmmPosterior> prior = {one, one};
  const Options keys = {
      {"m", Tensor{{2}, one.m}}, {"c", one.c}, {"a", one.a}, {"B", Tensor{{2, 2}, one.B}}};
  const Options options = {{"init", init({0.5, 0.5}, a, {{0, 0}, {3, 0}}, false)},
                           {"covariance", "full"},
                           {"tol", 0.0},
                           {"max_iter", 40},
                           {"prior", keys}};
  Data data(2, x);
  const Fitted vi = fitted(data, 2, options),
               map = fitted(data, 2, with(options, {{"method", "map"}}));
  const Known known(*vi, {"multivariate"}), point(*map, {"multivariate"});
  check_steps(*vi), check_steps(*map);
  std::vector<bayes::GmmPosterior> q(2, one);
  vi->posterior([&](const bayes::HmmPosterior &p) {
    auto &to = q[at(p.state)];
    const std::string name = p.parameter;
    if (name == "m" || name == "B")
      (name == "m" ? to.m : to.B) = p.value;
    else
      (name == "c" ? to.c : to.a) = p.value.at(0);
  });
  const Dirichlets chain = posterior_of(*vi, 0);
  const std::vector<Real> flat2 = {1, 1};
  const auto bound = LogSpace<Real>(geometric(chain.initial, flat2),
                                    {geometric(chain.a[0], flat2), geometric(chain.a[1], flat2)})
                         .run(30, [&](std::int64_t t) {
                           const std::vector<double> row = {x[0][at(2 * t)], x[0][at(2 * t + 1)]};
                           return std::vector<Real>{slow::mean_log_density("full", q[0], row),
                                                    slow::mean_log_density("full", q[1], row)};
                         });
  BOOST_TEST(distance(vi->info.objective,
                      double(bound + gain(flat2, chain.initial, flat2) +
                             gain(flat2, chain.a[0], flat2) + gain(flat2, chain.a[1], flat2) -
                             slow::divergence("full", prior, q))) < 1e-11);

  Chain student{known.initial, known.a, {}};
  const Sequence asked = {0, 1, 3, -2, hole, hole, 8, 8, 2, 0.5};
  for (std::size_t t = 0; t < asked.size(); t += 2) {
    student.score.emplace_back(2, 0);
    for (std::size_t k = 0; k < 2 && !std::isnan(asked[t]); ++k) {
      // d = 2: a - 1 degrees of freedom, scale (c + 1) / (c (a - 1)) B.
      const Real nu = q[k].a - 1, factor = (q[k].c + Real(1)) / (q[k].c * nu);
      slow::Square scale(2, q[k].B);
      for (Real &v : scale.v) v *= factor;
      const Real distance2 =
          slow::quadratic(slow::inverse(scale),
                          slow::minus(std::vector<double>{asked[t], asked[t + 1]}, q[k].m, 2));
      student.score.back()[k] = std::lgamma(nu / 2 + 1) - std::lgamma(nu / 2) -
                                std::log(nu * slow::pi) - 0.5L * slow::log_det(scale) -
                                (nu / 2 + 1) * std::log1p(distance2 / nu);
    }
  }
  bayes::Control control;
  Data question(2, {asked});
  const Enumeration truth = enumerate(student);
  BOOST_TEST(distance(vi->log_likelihood(question.all, control), double(truth.log_likelihood)) <
             1e-11);
  BOOST_TEST(vi->decode(question.all, control).states == truth.paths[0].second);
  const auto smooth = smoothed(*vi, question);
  for (std::size_t t = 0; t < truth.smooth.size(); ++t)
    BOOST_TEST(std::abs(smooth[2 * t] - double(truth.smooth[t][0])) < 1e-11);

  Real objective = LogSpace<Real>(point.initial, point.a).run(30, [&](std::int64_t t) {
    return point.score(&x[0][at(2 * t)]);
  });
  // weights of Dirichlet(1, 1) have density 1
  objective += slow::log_prior(
      "full", prior,
      {{0.5, 1, point.mean(0), point.covariance(0)}, {0.5, 1, point.mean(1), point.covariance(1)}});
  BOOST_TEST(distance(map->info.objective, double(objective)) < 1e-11);
}

BOOST_AUTO_TEST_SUITE_END()
