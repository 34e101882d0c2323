// Stochastic variational inference of non-negative factorizations.
#include "nmf_support.hpp"

using namespace factors;

BOOST_AUTO_TEST_SUITE(nmf_svi)

namespace {

Options with(Options options, const Options &more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

void check_weights(const NmfModel &a, const NmfModel &b, Side side, double tolerance) {
  for (std::size_t i = 0; i < a.keys(side).size(); ++i) {
    const NmfWeights p = a.weights(side, std::int32_t(i)), q = b.weights(side, std::int32_t(i));
    for (std::size_t k = 0; k < p.shape.size(); ++k) {
      BOOST_TEST(distance(p.shape[k], q.shape[k]) < tolerance);
      BOOST_TEST(distance(p.rate[k], q.rate[k]) < tolerance);
    }
  }
}

}  // namespace

// Steps of size 1 (kappa = 0) for a minibatch of all lines are the iterations of vi.
BOOST_AUTO_TEST_CASE(full_steps_on_all_documents_are_vi) {
  const Cells x = counts(40, 9, 3, 12, 7);
  const Options learned = {{"a", "learned"}, {"b", "learned"}, {"c", "learned"}, {"d", "learned"}};
  for (const Options &prior : {Options{}, Options{{"a", 0.5}, {"b", 2}, {"c", 0.7}, {"d", 3}},
                               learned, Options{{"a", "learned"}, {"d", "learned"}}})
    for (const char *const init : {"random", "nndsvd"}) {
      const Options options = {
          {"init", init}, {"max_iter", 15}, {"tol", 0}, {"restarts", 1}, {"prior", prior}};
      const Model vi = fitted(x, 3, options),
                  svi = fitted(
                      x, 3, with(options, {{"method", "svi"}, {"batch_size", 40}, {"kappa", 0}}));
      BOOST_REQUIRE(svi->trace[0].size() == 16u);
      for (std::size_t t = 0; t < 15; ++t)
        BOOST_TEST(distance(vi->trace[0][t], svi->trace[0][t]) < 1e-10, init << " " << t);
      // In the end the weights of the lines are closer to the best ones.
      BOOST_TEST(svi->trace[0][15] > vi->trace[0][15] - 1e-9);
      BOOST_TEST(svi->trace[0][15] < vi->trace[0][15] + 5);
      check_weights(*vi, *svi, Side::column, 1e-8);
    }
}

// All lines are alike, so that it does not matter which ones a minibatch has.
BOOST_AUTO_TEST_CASE(a_step_goes_along_the_natural_gradient) {
  const std::vector<double> line = {3, 0, 5, 1.5};
  const Cells x(6, line);
  const double a = 0.4, b = 0.7, c = 0.6, d = 1.9, kappa = 0.8, t0 = 3, n = 6;
  const Options prior = {{"a", a}, {"b", b}, {"c", c}, {"d", d}};
  const Model start = fitted(x, 2, {{"prior", prior}, {"init", "random"}, {"max_iter", 2}});
  for (const double size : {1.0, 2.0, 5.0}) {
    const Model model = fitted(x, 2,
                               {{"prior", prior},
                                {"method", "svi"},
                                {"batch_size", size},
                                {"kappa", kappa},
                                {"t0", t0},
                                {"max_iter", 1}},
                               Control(), start.get());
    // Where it begins: parts of the weights of the start, and the best rates for them.
    const Cells w = values(*start, Side::row), v = values(*start, Side::column);
    const double rho = std::pow(t0, -kappa);
    for (std::size_t k = 0; k < 2; ++k) BOOST_TEST(w[0][k] == w[5][k]);
    Real m[4][2], parts[2], s[2], r[2], sum[2];
    const auto balance = [&] {
      for (int k = 0; k < 2; ++k) {
        sum[k] = m[0][k] + m[1][k] + m[2][k] + m[3][k];
        r[k] = 1;
        for (int i = 0; i < 100000; ++i) {
          s[k] = b + (4 * c + sum[k]) / r[k];
          r[k] = d + (n * a + sum[k]) / s[k];
        }
      }
    };
    for (std::size_t k = 0; k < 2; ++k) {
      Real all = 0;
      for (std::size_t j = 0; j < 4; ++j) {
        m[j][k] = v[j][k] * n * w[0][k];
        all += v[j][k];
      }
      parts[k] = w[0][k] * all;
    }
    balance();
    // The line's parts go on, three times; the last division is that of the step.
    Real divided[4][2];
    for (int update = 0; update < 3; ++update) {
      Real next[2] = {0, 0};
      for (std::size_t j = 0; j < 4; ++j) {
        Real each[2], norm = 0;
        for (int k = 0; k < 2; ++k)
          norm += each[k] =
              std::exp(topics::psi(a + parts[k]) + topics::psi(c + m[j][k])) / (s[k] * r[k]);
        for (int k = 0; k < 2; ++k) next[k] += divided[j][k] = line[j] * each[k] / norm;
      }
      std::copy_n(next, 2, parts);
    }
    for (std::size_t j = 0; j < 4; ++j)
      for (int k = 0; k < 2; ++k) m[j][k] = (1 - rho) * m[j][k] + rho * n * divided[j][k];
    balance();
    // Factors may have changed their order.
    const std::size_t first =
        distance(model->weights(Side::column, 0).shape[0], double(c + m[0][0])) < 1e-6 ? 0 : 1;
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t here = (k + first) % 2;
      for (int j = 0; j < 4; ++j) {
        const NmfWeights found = model->weights(Side::column, j);
        BOOST_TEST(distance(found.shape[here], double(c + m[j][k])) < 1e-9);
        BOOST_TEST(distance(found.rate[here], double(r[k])) < 1e-8);
      }
      BOOST_TEST(distance(model->weights(Side::row, 2).rate[here], double(s[k])) < 1e-8);
    }
  }
}

BOOST_AUTO_TEST_CASE(minibatches_come_close_to_vi) {
  const Cells x = counts(1500, 25, 3, 12, 4);
  const double a = 0.4, b = 0.7, c = 0.6, d = 1.9;
  const Options prior = {{"a", a}, {"b", b}, {"c", c}, {"d", d}};
  const Model vi = fitted(x, 3, {{"prior", prior}, {"max_iter", 3000}, {"tol", 1e-9}});
  const Options steps = {
      {"method", "svi"}, {"batch_size", 70}, {"kappa", 0.5}, {"max_iter", 600}, {"tol", 0}};
  const Model svi = fitted(x, 3, with({{"prior", prior}}, steps));
  BOOST_TEST(svi->info.iterations == 600);
  BOOST_TEST(svi->trace[0].size() == 601u);
  BOOST_TEST(svi->info.objective == svi->trace[0].back());
  BOOST_TEST(svi->info.objective < vi->info.objective + 1e-3);
  BOOST_TEST(svi->info.objective > vi->info.objective - 0.0005 * std::abs(vi->info.objective));
  BOOST_TEST(distance(svi->info.objective, double(bound_of(*svi, x, a, b, c, d))) < 1e-5);
  // Estimates are without bias.
  double mean = 0;
  for (std::size_t t = 300; t < 600; ++t) mean += svi->trace[0][t] / 300;
  BOOST_TEST(std::abs(mean / svi->info.objective - 1) < 0.01);
  // Rates are those of the sums of all weights.
  const Cells v = values(*svi, Side::column);
  for (std::size_t k = 0; k < 3; ++k) {
    double rate = b;
    for (const auto &each : v) rate += each[k];
    BOOST_TEST(distance(svi->weights(Side::row, 7).rate[k], rate) < 1e-9);
  }
  const Options all = {{"a", "learned"}, {"b", "learned"}, {"c", "learned"}, {"d", "learned"}};
  const double best = fitted(x, 3, {{"prior", all}, {"max_iter", 3000}})->info.objective,
               found = fitted(x, 3, with({{"prior", all}}, steps))->info.objective;
  BOOST_TEST(found > svi->info.objective);
  BOOST_TEST(found > best - 0.0005 * std::abs(best));
}

// More cells than starting points are made of.
BOOST_AUTO_TEST_CASE(starting_points_of_large_tables_use_a_part, *boost::unit_test::label("long")) {
  const Cells x = counts(9000, 60, 4, 30, 11);
  double cells = 0;
  for (const auto &line : x) cells += 60 - double(std::count(line.begin(), line.end(), 0.0));
  BOOST_REQUIRE(cells > 250000);
  const Options steps = {{"method", "svi"}, {"max_iter", 1}};
  const double vi = fitted(x, 4, {{"max_iter", 1}})->trace[0][0],
               part = fitted(x, 4, steps)->trace[0][0],
               random = fitted(x, 4, with(steps, {{"init", "random"}}))->trace[0][0];
  BOOST_TEST(part > vi - 0.1 * std::abs(vi));
  BOOST_TEST(random < vi - 0.2 * std::abs(vi));
  const Model model = fitted(x, 4, {{"method", "svi"}}), all = fitted(x, 4, {});
  BOOST_TEST(model->info.converged);
  BOOST_TEST(model->info.objective > all->info.objective - 0.02 * std::abs(all->info.objective));
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_threads_or_sides) {
  const Cells x = counts(1200, 60, 4, 8, 9);
  const Options options = {{"method", "svi"}, {"max_iter", 9}, {"restarts", 2}, {"tol", 0}};
  for (const int size : {500, 1200}) check_threads(x, 9, with(options, {{"batch_size", size}}));
  const Model rows = fitted(x, 3, options),
              columns = fitted(x, 3, options, Control(), nullptr, true);
  BOOST_TEST(rows->info.objective == columns->info.objective);
  BOOST_TEST((values(*rows, Side::row) == values(*columns, Side::column)));
}

// A key belongs to its line, whatever the order of lines.
BOOST_AUTO_TEST_CASE(shuffled_documents_keep_their_keys) {
  const Cells x = counts(50, 8, 2, 12, 3);
  MemoryCorpus lines = lines_of(x);
  const std::vector<std::string> names = keys("r", 50);
  const auto fit = [&](std::vector<std::string> given, std::vector<std::int32_t> of_lines,
                       const NmfModel *start) {
    FactorTable table{lines,        nullptr, Side::row,          std::move(given),
                      keys("c", 8), 0,       std::move(of_lines)};
    Control control;
    return bayes::nmf_fit(table, 2,
                          Document(Options{{"method", "svi"}, {"batch_size", 7}, {"max_iter", 30}}),
                          start, control);
  };
  std::vector<std::int32_t> of_lines(50);
  std::vector<std::string> shuffled(50);
  for (int i = 0; i < 50; ++i) {
    of_lines[at(i)] = (i * 17 + 3) % 50;
    shuffled[at(of_lines[at(i)])] = names[at(i)];
  }
  const Model one = fit(names, {}, nullptr), two = fit(shuffled, of_lines, nullptr),
              three = fit(names, {}, one.get()), four = fit(shuffled, of_lines, two.get());
  for (const auto &[a, b] : {std::pair{&one, &two}, {&three, &four}}) {
    BOOST_TEST((*a)->info.objective == (*b)->info.objective);
    BOOST_TEST((*a)->error().squared == (*b)->error().squared);
    for (int i = 0; i < 50; ++i) {
      const std::int32_t key = (*b)->code(Side::row, names[at(i)]);
      BOOST_TEST(key == of_lines[at(i)]);
      BOOST_TEST(((*a)->weights(Side::row, i).value == (*b)->weights(Side::row, key).value));
    }
  }
}

BOOST_AUTO_TEST_CASE(edge_cases) {
  const auto check = [&](const Cells &x, int k) {
    for (const int size : {1, 2, 5}) {
      const Model model = fitted(
          x, k, {{"method", "svi"}, {"batch_size", size}, {"restarts", 2}, {"max_iter", 40}});
      check_sound(*model);
      BOOST_TEST(!model->weights(Side::row, 0).shape.empty());
    }
  };
  check({{3}}, 1);
  check({{3}}, 4);
  check({{1, 2, 0, 4}}, 6);
  check({{0, 0, 0}, {0, 5, 1}, {0, 0, 0}}, 2);
  check({{0.5, 1e-300}, {1e-300, 0}}, 2);
  check({{7, 7}, {7, 7}}, 3);
  check({{1e14, 0}, {0, 1}, {1, 1}}, 2);
  // a step of size 1 forgets all before
  const Cells x = counts(30, 5, 2, 9, 2);
  BOOST_TEST(std::isfinite(
      fitted(x, 2, {{"method", "svi"}, {"batch_size", 4}, {"kappa", 0}, {"max_iter", 50}})
          ->info.objective));
}

BOOST_AUTO_TEST_CASE(invalid_options_are_refused) {
  const auto has = [&](Options options, const char *text) {
    const std::string message = topics::message_of([&] {
      fitted({{1, 2}, {2, 1}}, 1, std::move(options));
    });
    BOOST_TEST((message.find(text) != std::string::npos), message);
  };
  has({{"method", "svi"}, {"absent", "missing"}}, "\"absent\" does not apply to method svi");
  has({{"method", "svi"}, {"hierarchical", true}}, "\"hierarchical\" does not apply to method svi");
  has({{"method", "svi"}, {"batch_size", 0}}, "batch_size");
  has({{"method", "vi"}, {"batch_size", 10}}, "\"batch_size\" does not apply to method vi");
}

BOOST_AUTO_TEST_SUITE_END()
