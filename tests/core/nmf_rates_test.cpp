// Non-negative factorizations whose keys have rates of their own: missing cells, and hierarchical
// priors.
#include <limits>

#include "factor/nmf_learners.hpp"
#include "nmf_support.hpp"

using namespace factors;

BOOST_AUTO_TEST_SUITE(nmf_rates)

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// Every third cell is missing, and all of row 4.
Cells with_holes(Cells x) {
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x[i].size(); ++j)
      if ((i + 2 * j) % 3 == 0 || i == 4) x[i][j] = missing;
  return x;
}

struct Prior {
  double shape, rate, scale_shape;
};

Real gamma_divergence(Real shape, Real rate, Real a, Real b) {
  return (shape - a) * topics::psi(shape) - topics::lgam(shape) + topics::lgam(a) +
         a * (std::log(rate) - std::log(b)) + shape * (b - rate) / rate;
}

/// The bound from the definitions, where q of the scales of a hierarchical prior is the best one.
Real bound(const NmfModel &model, const Cells &x, const Prior &row, const Prior &column) {
  Real out = 0;
  const std::size_t k = std::size_t(model.size());
  struct Table {
    std::vector<std::vector<Real>> mean, log;
  };
  const auto read = [&](Side side, const Prior &prior) {
    Table to;
    for (std::size_t i = 0; i < model.keys(side).size(); ++i) {
      const NmfWeights q = model.weights(side, std::int32_t(i));
      to.mean.emplace_back();
      to.log.emplace_back();
      Real sum = 0;
      for (std::size_t f = 0; f < k; ++f) {
        to.mean.back().push_back(q.shape[f] / Real(q.rate[f]));
        to.log.back().push_back(topics::psi(q.shape[f]) - std::log(Real(q.rate[f])));
        sum += to.mean.back()[f];
      }
      Real rate = prior.rate, log_rate = std::log(Real(prior.rate));
      if (prior.scale_shape > 0) {
        const Real b = prior.scale_shape / Real(prior.rate),
                   shape = prior.scale_shape + k * prior.shape;
        out -= gamma_divergence(shape, b + sum, prior.scale_shape, b);
        rate = shape / (b + sum);
        log_rate = topics::psi(shape) - std::log(b + sum);
      }
      // E log p(w | rate) - E log q(w)
      for (std::size_t f = 0; f < k; ++f) {
        const Real s = q.shape[f], r = q.rate[f];
        out += prior.shape * log_rate - topics::lgam(prior.shape) +
               (prior.shape - 1) * to.log.back()[f] - rate * to.mean.back()[f];
        out -= s * std::log(r) - topics::lgam(s) + (s - 1) * to.log.back()[f] - s;
      }
    }
    return to;
  };
  const Table w = read(Side::row, row), v = read(Side::column, column);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x[i].size(); ++j) {
      if (std::isnan(x[i][j])) continue;
      Real sum = 0;
      for (std::size_t f = 0; f < k; ++f) {
        sum += std::exp(w.log[i][f] + v.log[j][f]);
        out -= w.mean[i][f] * v.mean[j][f];
      }
      if (x[i][j] > 0) out += x[i][j] * std::log(sum) - topics::lgam(x[i][j] + 1);
    }
  return out;
}

void check_rising(const NmfModel &model) {
  for (const auto &trace : model.trace)
    for (std::size_t i = 1; i < trace.size(); ++i)
      BOOST_TEST(trace[i] >= trace[i - 1] - 1e-10 * std::abs(trace[i]));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_bound_is_that_of_the_posterior, *boost::unit_test::label("long")) {
  const Cells whole = counts(14, 9, 2, 15, 8), holes = with_holes(whole);
  const Options letters = {{"a", 0.4}, {"b", 0.7}, {"c", 0.6}, {"d", 1.9}};
  for (const bool some_missing : {false, true})
    for (const double scale : {0.0, 0.3, 4.0}) {
      if (!some_missing && scale == 0) continue;  // nmf_test
      Options prior = letters, options = {{"max_iter", 20000}, {"tol", 1e-13}};
      if (scale > 0) {
        prior.emplace_back("h", scale);
        options.emplace_back("hierarchical", true);
      }
      options.emplace_back("prior", prior);
      if (some_missing) options.emplace_back("absent", "missing");
      const Cells &x = some_missing ? holes : whole;
      for (const bool columns : {false, true}) {
        const Model model =
            fitted(columns ? transposed(x) : x, 2, options, Control(), nullptr, columns);
        check_rising(*model);
        BOOST_TEST(model->info.converged);
        const Real recomputed = bound(*model, x, {0.4, 0.7, scale}, {0.6, 1.9, scale});
        BOOST_TEST(distance(model->info.objective, double(recomputed)) < 1e-8,
                   scale << " " << model->info.objective << " " << recomputed);
        const std::string bytes = model->to_bytes();
        BOOST_TEST((bayes::Model::from_bytes(bytes)->to_bytes() == bytes));
        BOOST_TEST((bayes::Model::from_document(model->to_document())->to_bytes() == bytes));
      }
    }
}

// Each update of Lee and Seung, of the cells that there are, changes nothing at the end.
BOOST_AUTO_TEST_CASE(em_converges_to_a_fixed_point, *boost::unit_test::label("long")) {
  const Cells x = with_holes(counts(15, 9, 2, 30, 5));
  const Model model =
      fitted(x, 2, {{"method", "em"}, {"absent", "missing"}, {"max_iter", 100000}, {"tol", 0}});
  check_rising(*model);
  const Cells w = values(*model, Side::row), v = values(*model, Side::column), mean = means(w, v);
  Real log_likelihood = 0;
  double squared = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j)
      if (!std::isnan(x[i][j])) {
        log_likelihood += log_poisson(x[i][j], mean[i][j]);
        squared += (x[i][j] - mean[i][j]) * (x[i][j] - mean[i][j]);
      }
  BOOST_TEST(distance(model->info.objective, double(log_likelihood)) < 1e-9);
  BOOST_TEST(distance(model->error().squared, squared) < 1e-9);
  const auto check = [](const Cells &cells, const Cells &of_cells, const Cells &of,
                        const Cells &by) {
    for (std::size_t i = 0; i < of.size(); ++i)
      for (std::size_t k = 0; k < 2; ++k) {
        double part = 0, sum = 0;
        for (std::size_t j = 0; j < by.size(); ++j)
          if (!std::isnan(cells[i][j])) {
            part += by[j][k] * cells[i][j] / of_cells[i][j];
            sum += by[j][k];
          }
        if (sum > 0) BOOST_TEST(std::abs(of[i][k] * (part / sum - 1)) < 1e-5 * (1 + of[i][k]));
      }
  };
  check(x, mean, w, v);
  check(transposed(x), transposed(mean), v, w);
  for (const double value : w[4]) BOOST_TEST(value == 0);
}

BOOST_AUTO_TEST_CASE(missing_cells_do_not_matter_in_a_complete_table,
                     *boost::unit_test::label("long")) {
  const Cells x = counts(12, 7, 2, 10, 31);
  for (const char *const method : {"vi", "em"}) {
    Options options = {{"method", method}, {"init", "random"}, {"max_iter", 20000}, {"tol", 1e-12}};
    const Model zero = fitted(x, 2, options);
    options.emplace_back("absent", "missing");
    const Model full = fitted(x, 2, options);
    BOOST_TEST(distance(zero->info.objective, full->info.objective) < 1e-7);
    BOOST_TEST(distance(zero->error().explained, full->error().explained) < 1e-4);
  }
}

BOOST_AUTO_TEST_CASE(fitted_rows_are_transformed_to_their_weights,
                     *boost::unit_test::label("long")) {
  const Cells x = with_holes(counts(12, 7, 2, 25, 12));
  for (const bool hierarchical : {false, true}) {
    Options options = {{"absent", "missing"}, {"max_iter", 50000}, {"tol", 1e-13}};
    if (hierarchical) options.emplace_back("hierarchical", true);
    const Model model = fitted(x, 2, options);
    for (std::size_t i = 0; i < x.size(); ++i) {
      topics::Counts line;
      for (std::size_t j = 0; j < x[i].size(); ++j)
        if (!std::isnan(x[i][j])) line[std::int32_t(j)] = x[i][j];
      const NmfWeights found = model->transform(Side::row, topics::Packed(line)),
                       fit = model->weights(Side::row, std::int32_t(i));
      for (std::size_t k = 0; k < 2; ++k)
        BOOST_TEST(std::abs(found.value[k] - fit.value[k]) < 1e-3 * (0.01 + fit.value[k]),
                   hierarchical << " " << i << " " << found.value[k] << " " << fit.value[k]);
    }
  }
}

BOOST_AUTO_TEST_CASE(unknown_keys_of_a_hierarchical_prior) {
  const Cells x = counts(8, 5, 2, 10, 1);
  const auto cell = [&](double scale) {
    return fitted(x, 2,
                  {{"hierarchical", true},
                   {"prior", Options{{"a", 0.5}, {"b", 2}, {"c", 0.5}, {"d", 2}, {"h", scale}}}})
        ->predict(-1, -1);
  };
  bayes::Random random(3);
  double sum = 0;
  const int draws = 400000;
  for (int i = 0; i < draws; ++i) {
    double row = random.gamma(5) / 2.5, column = random.gamma(5) / 2.5;
    for (int k = 0; k < 2; ++k) sum += random.gamma(0.5) / row * random.gamma(0.5) / column / draws;
  }
  BOOST_TEST(std::abs(cell(5).mean - sum) < 0.02 * sum);
  BOOST_TEST(std::isfinite(cell(5).variance));
  BOOST_TEST(std::isnan(cell(1.5).variance));
  BOOST_TEST(std::isfinite(cell(1.5).mean));
  BOOST_TEST(std::isinf(cell(0.5).mean));
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_threads) {
  const Cells x = with_holes(counts(600, 30, 3, 6, 9));
  std::string one;
  for (const int threads : {1, 2}) {
    Control control;
    control.threads = threads;
    const Model model = fitted(
        x, 4, {{"absent", "missing"}, {"hierarchical", true}, {"max_iter", 8}}, std::move(control));
    model->info.seconds = 0;
    const std::string bytes = model->to_bytes();
    if (threads == 1)
      one = bytes;
    else
      BOOST_TEST((bytes == one));
  }
}

BOOST_AUTO_TEST_SUITE_END()
