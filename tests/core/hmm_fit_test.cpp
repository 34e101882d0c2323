// Fits of hidden Markov models by every method: bounds and exact posteriors, structural zeros,
// threads and files, errors.
#include "hmm_bound.hpp"

using namespace hidden_markov;

BOOST_AUTO_TEST_SUITE(hmm_fit)

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
      // With one state nothing is hidden: the bound equals the evidence.
      BOOST_TEST(std::abs(one->info.objective -
                          double(exact(x, flat(1, 2, alpha, alpha, alpha)).log_evidence)) < 1e-10);
    }
}

BOOST_AUTO_TEST_CASE(structural_zeros_stay_zero_under_every_method) {
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
    // 9 - 1 of the chain less zeros, 2 of every state's symbols; handed on to a continued fit
    BOOST_TEST(forward->free_parameters() == 8 - 5 + 6);
    BOOST_TEST(
        static_cast<const HiddenMarkovModel &>(*bayes::Model::from_document(forward->to_document()))
            .free_parameters() == 8 - 5 + 6);
    if (method == "em") {
      Data again(1, x);
      again.named(first_letters(3));
      BOOST_TEST(fitted(again, 3, {{"method", "em"}}, 1, forward.get())->free_parameters() == 9);
    }
    for (const auto *each : {model.get(), forward.get()})
      if (method == "vi")
        BOOST_TEST(distance(each->info.objective, double(elbo(*each, x, 3, flat(3, 3)))) < 1e-11);
  }
}

// Pieces are divided among threads, and long sequences lie between them. Spilled rows are read back
// stretch by stretch.
BOOST_AUTO_TEST_CASE(fits_do_not_depend_on_threads_or_storage) {
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
                    data.all.long_sequences,
                    data.all.values,
                    data.all.unobserved};
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
BOOST_AUTO_TEST_CASE(gibbs_means_are_the_exact_posterior_means, *boost::unit_test::label("long")) {
  const std::vector<Sequence> x = {{0, 0, 2, 1, 1}, {2, hole, 1, 0}, {0, 1, 2}};
  // strong enough to prevent label switching
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

BOOST_AUTO_TEST_CASE(errors_name_what_is_invalid) {
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

BOOST_AUTO_TEST_CASE(stochastic_steps_get_near_the_optimum) {
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
BOOST_AUTO_TEST_CASE(normal_emissions_under_a_prior) {
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
