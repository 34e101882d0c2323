// Non-negative factorizations against slow computations from the definitions.
#include "nmf_support.hpp"

using namespace factors;

BOOST_AUTO_TEST_SUITE(nmf)

namespace {

/// One update of all lines' points: Lee and Seung's for the divergence.
void update_rows(const Cells &x, Cells &w, const Cells &v) {
  const Cells mean = means(w, v);
  for (std::size_t i = 0; i < w.size(); ++i)
    for (std::size_t k = 0; k < w[i].size(); ++k) {
      Real part = 0, sum = 0;
      for (std::size_t j = 0; j < v.size(); ++j) {
        part += v[j][k] * x[i][j] / mean[i][j];
        sum += v[j][k];
      }
      w[i][k] = double(w[i][k] * part / sum);
    }
}

Real log_likelihood(const Cells &x, const Cells &w, const Cells &v) {
  const Cells mean = means(w, v);
  Real out = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j) out += log_poisson(x[i][j], mean[i][j]);
  return out;
}

/// The points of a factor sum to 1.
void normalise(Cells &v) {
  for (std::size_t k = 0; k < v[0].size(); ++k) {
    double sum = 0;
    for (const auto &each : v) sum += each[k];
    for (auto &each : v) each[k] /= sum;
  }
}

void check_rising(const NmfModel &model) {
  for (const auto &trace : model.trace)
    for (std::size_t i = 1; i < trace.size(); ++i)
      BOOST_TEST(trace[i] >= trace[i - 1] - 1e-10 * std::abs(trace[i]));
}

}  // namespace

// Each iteration is a step of EM for the lines' weights, then one for all weights together. Rows of
// some numbers of factors are worked on differently, and sums over tables with many keys.
BOOST_AUTO_TEST_CASE(em_agrees_with_a_slow_reference) {
  for (const int k : {3, 11, 20, 30, 37})
    for (const bool wide : {false, true}) {
      Cells x = wide ? counts(3, 40, 2, 20, 3) : counts(12, 7, 2, 20, 3);
      for (auto &line : x)
        for (double &cell : line) cell += wide;  // no column is empty
      const Model start = fitted(x, k, {{"method", "em"}, {"init", "random"}, {"max_iter", 2}});
      const Model model =
          fitted(x, k, {{"method", "em"}, {"max_iter", k == 3 ? 30 : 5}, {"tol", 0}}, Control(),
                 start.get());
      check_rising(*model);
      Cells w = values(*start, Side::row), v = values(*start, Side::column);
      for (const double found : model->trace[0]) {
        update_rows(x, w, v);
        BOOST_TEST(distance(found, double(log_likelihood(x, w, v))) < 1e-11);
        Cells next = w;
        update_rows(x, next, v);
        Cells other = v;
        update_rows(transposed(x), other, w);
        w = next;
        v = other;
        normalise(v);
      }
    }
}

// Where it ends, the multiplicative updates of Lee and Seung change nothing.
BOOST_AUTO_TEST_CASE(em_converges_to_a_fixed_point_of_lee_and_seung,
                     *boost::unit_test::label("long")) {
  const Cells x = counts(15, 9, 2, 30, 5);
  for (const char *const init : {"random", "nndsvd"}) {
    const Model model =
        fitted(x, 2, {{"method", "em"}, {"init", init}, {"max_iter", 20000}, {"tol", 0}});
    const Cells w = values(*model, Side::row), v = values(*model, Side::column);
    Cells next = w, other = v;
    update_rows(x, next, v);
    update_rows(transposed(x), other, w);
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::size_t k = 0; k < 2; ++k) BOOST_TEST(std::abs(next[i][k] - w[i][k]) < 1e-6);
    for (std::size_t j = 0; j < v.size(); ++j)
      for (std::size_t k = 0; k < 2; ++k) BOOST_TEST(std::abs(other[j][k] - v[j][k]) < 1e-6);
    BOOST_TEST(distance(model->info.objective, double(log_likelihood(x, w, v))) < 1e-9);
    BOOST_TEST(model->info.log_likelihood == model->info.objective);
  }
}

BOOST_AUTO_TEST_CASE(the_bound_is_that_of_the_posterior) {
  const Cells x = counts(14, 6, 2, 15, 8);
  const double a = 0.4, b = 0.7, c = 0.6, d = 1.9;
  const Options prior = {{"a", a}, {"b", b}, {"c", c}, {"d", d}};
  for (const int k : {1, 3}) {
    const Model model = fitted(x, k, {{"prior", prior}, {"max_iter", 5000}, {"tol", 1e-12}});
    check_rising(*model);
    BOOST_TEST(model->info.converged);
    BOOST_TEST(distance(model->info.objective, double(bound_of(*model, x, a, b, c, d))) < 1e-9);
    // The rate of q(v) has the prior's d, not b, as eq. 35 of 002 L12 prints.
    const Cells w = values(*model, Side::row), v = values(*model, Side::column);
    for (std::size_t f = 0; f < at(k); ++f) {
      double of_rows = b, of_columns = d;
      for (const auto &each : v) of_rows += each[f];
      for (const auto &each : w) of_columns += each[f];
      BOOST_TEST(distance(model->weights(Side::row, 3).rate[f], of_rows) < 1e-12);
      BOOST_TEST(distance(model->weights(Side::column, 2).rate[f], of_columns) < 1e-5);
    }
  }
}

// One row of two columns: given the weights of the row, counts of a factor are independent.
BOOST_AUTO_TEST_CASE(the_bound_is_below_the_evidence) {
  const double a = 0.8, b = 0.6, c = 1.3, d = 0.9;
  const auto of_factor = [&](int x, int y) {
    // integral over w = t / (1 - t) of the prior and both negative binomial counts
    Real sum = 0;
    const int steps = 20000;
    for (int i = 0; i < steps; ++i) {
      const Real u = (i + Real(0.5)) / steps, t = u * u * (3 - 2 * u), w = t / (1 - t);
      const auto count = [&](int n) {
        return topics::lgam(n + c) - topics::lgam(c) - topics::lgam(n + Real(1)) +
               c * std::log(Real(d)) + n * std::log(w) - (n + c) * std::log(w + d);
      };
      const Real density = a * std::log(Real(b)) - topics::lgam(a) + (a - 1) * std::log(w) - b * w;
      sum += std::exp(density + count(x) + count(y)) * 6 * u * (1 - u) / ((1 - t) * (1 - t));
    }
    return sum / steps;
  };
  const Options prior = {{"a", a}, {"b", b}, {"c", c}, {"d", d}};
  for (const auto &[x, y] : {std::pair{3, 5}, {0, 2}}) {
    Real two = 0;
    for (int i = 0; i <= x; ++i)
      for (int j = 0; j <= y; ++j) two += of_factor(i, j) * of_factor(x - i, y - j);
    const Cells cells = {{double(x), double(y)}};
    for (const int k : {1, 2}) {
      const Model model = fitted(cells, k, {{"prior", prior}, {"init", "random"}, {"tol", 1e-10}});
      const double evidence = double(std::log(k == 1 ? of_factor(x, y) : two));
      BOOST_TEST(model->info.objective < evidence);
      BOOST_TEST(model->info.objective > evidence - 1.5 * k);
    }
  }
}

// The tangent of the sum of squares, and where points are 0 its sign.
BOOST_AUTO_TEST_CASE(squared_converges_to_an_optimum, *boost::unit_test::label("long")) {
  const Cells x = counts(13, 8, 3, 10, 2);
  const Model model = fitted(x, 3, {{"method", "squared"}, {"max_iter", 20000}, {"tol", 0}});
  check_rising(*model);
  const Cells w = values(*model, Side::row), v = values(*model, Side::column), m = means(w, v);
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j) squares += (x[i][j] - m[i][j]) * (x[i][j] - m[i][j]);
  BOOST_TEST(distance(-model->info.objective, squares) < 1e-6);
  BOOST_TEST(distance(model->error().squared, squares) < 1e-9);
  const auto check = [&](const Cells &cells, const Cells &mean, const Cells &of, const Cells &by) {
    for (std::size_t i = 0; i < of.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        double slope = 0, scale = 0;
        for (std::size_t j = 0; j < by.size(); ++j) {
          slope += (cells[i][j] - mean[i][j]) * by[j][k];
          scale += cells[i][j] * by[j][k];
        }
        if (of[i][k] > 0)
          BOOST_TEST(std::abs(slope) < 1e-4 * (1 + scale));
        else
          BOOST_TEST(slope < 1e-4 * (1 + scale));
      }
  };
  check(x, m, w, v);
  check(transposed(x), transposed(m), v, w);
}

BOOST_AUTO_TEST_CASE(errors_are_those_of_the_means) {
  const Cells x = counts(10, 6, 2, 12, 4);
  for (const char *const method : {"em", "vi"}) {
    const Model model = fitted(x, 2, {{"method", method}});
    const Cells mean = means(values(*model, Side::row), values(*model, Side::column));
    double squared = 0, divergence = 0, whole = 0, all = 0;
    for (const auto &line : x) all += std::accumulate(line.begin(), line.end(), 0.0) / 60;
    for (std::size_t i = 0; i < 10; ++i)
      for (std::size_t j = 0; j < 6; ++j) {
        const double c = x[i][j], log = c > 0 ? c * std::log(c) : 0;
        squared += (c - mean[i][j]) * (c - mean[i][j]);
        divergence += log - (c > 0 ? c * std::log(mean[i][j]) : 0) - c + mean[i][j];
        whole += log - c * std::log(all) - c + all;
      }
    BOOST_TEST(distance(model->error().squared, squared) < 1e-10);
    BOOST_TEST(distance(model->error().divergence, divergence) < 1e-10);
    BOOST_TEST(distance(model->error().explained, 1 - divergence / whole) < 1e-10);
  }
}

// With lines that are columns everything else changes sides too.
BOOST_AUTO_TEST_CASE(a_transposed_table_has_the_transposed_result) {
  const Cells x = counts(9, 6, 2, 12, 6);
  const Options prior = {{"a", 0.5}, {"b", 0.2}, {"c", 1.5}, {"d", "learned"}},
                other = {{"c", 0.5}, {"d", 0.2}, {"a", 1.5}, {"b", "learned"}};
  for (const char *const method : {"vi", "em", "squared"}) {
    const bool vi = method[0] == 'v';
    Options options = {{"method", method}}, swapped = options;
    if (vi) options.emplace_back("prior", prior), swapped.emplace_back("prior", other);
    const Model one = fitted(x, 2, options), two = fitted(x, 2, swapped, Control(), nullptr, true);
    BOOST_TEST(one->info.objective == two->info.objective);
    for (std::int32_t i = 0; i < 9; ++i)
      for (std::int32_t j = 0; j < 6; ++j)
        BOOST_TEST(distance(one->predict(i, j).mean, two->predict(j, i).mean) < 1e-12);
    if (vi) BOOST_TEST((values(*one, Side::row) == values(*two, Side::column)));
    if (!vi)
      for (const Model *model : {&one, &two}) {
        double sum = 0;
        for (const auto &each : values(**model, Side::column)) sum += each[1];
        BOOST_TEST(distance(sum, 1) < 1e-12);
      }
  }
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_threads) {
  const Cells x = counts(700, 40, 4, 6, 9);
  for (const char *const method : {"vi", "em", "squared"})
    check_threads(x, 5, {{"method", method}, {"max_iter", 12}, {"restarts", 2}});
}

BOOST_AUTO_TEST_SUITE_END()
