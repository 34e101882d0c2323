// Maximum likelihood at the edge: components that only a bound holds are known as such, restarts
// without them are preferred, and what is at a bound for all components is no such thing.
#include "bmm_support.hpp"
#include "hmm_support.hpp"

using namespace support;

namespace {

using Numbers = std::vector<int>;

/// 60 rows about 0 and, last, one row far away, alone in whatever component takes it.
Matrix with_lonely_row(int d) {
  bayes::Random random(11);
  Matrix x(61, d);
  for (int i = 0; i < 60; ++i)
    for (int j = 0; j < d; ++j) x(i, j) = random.normal();
  x.row(60).setConstant(40);
  return x;
}

Options em(const std::string &covariance, Options more = {}) {
  return with({{"method", "em"}, {"covariance", covariance}, {"restarts", 5}}, std::move(more));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(degenerate)

// R's mclust finds -176.19 for four components of the lakes (model V), which is a proper maximum.
BOOST_AUTO_TEST_CASE(restarts_without_spikes_are_preferred) {
  const Matrix x = data_set("acidity");
  const auto proper = fit(x, 4, {{"method", "em"}}),
             spiked = fit(x, 4, {{"method", "em"}, {"degenerate", "allow"}});
  BOOST_TEST(proper->info.log_likelihood > -176.19);
  BOOST_TEST(proper->info.log_likelihood < -175.7);
  BOOST_TEST(proper->info.degenerate.empty());
  BOOST_TEST(spiked->info.log_likelihood > -171.4);
  BOOST_TEST((spiked->info.degenerate == Numbers{3}));
  BOOST_TEST(spiked->component(3).count < 1.01);
  // The spike's likelihood is what the floor makes it.
  const auto narrower =
      fit(x, 4, {{"method", "em"}, {"degenerate", "allow"}, {"covariance_floor", 1e-10}});
  BOOST_TEST(narrower->info.log_likelihood > spiked->info.log_likelihood + 4);
  // The fact is stored.
  for (const auto &back : {bayes::Model::from_bytes(spiked->to_bytes()),
                           bayes::Model::from_document(spiked->to_document())})
    BOOST_TEST((back->info.degenerate == Numbers{3}));
}

// Two rows have a variance, but one that says nothing. Caught: counts of weights in another unit,
// covariances that all components share.
BOOST_AUTO_TEST_CASE(a_component_of_two_rows_is_degenerate) {
  Matrix x(63, 1);
  x.topRows(61) = with_lonely_row(1);
  x(60, 0) = 40;
  x(61, 0) = 41;
  x(62, 0) = 43;
  const Matrix two = x.topRows(62);
  BOOST_TEST((fit(two, 2, em("full"))->info.degenerate == Numbers{1}));
  BOOST_TEST((fit(two, 2, em("full"), Vector::Constant(62, 1e-3))->info.degenerate == Numbers{1}));
  BOOST_TEST(fit(two, 2, em("tied"))->info.degenerate.empty());
  BOOST_TEST(fit(x, 2, em("full"))->info.degenerate.empty());
  const Options normal = {{"method", "em"}, {"restarts", 5}, {"likelihood", "normal"}};
  BOOST_TEST((latent::fitted(two, 2, normal)->info.degenerate == Numbers{1}));
  BOOST_TEST(latent::fitted(x, 2, normal)->info.degenerate.empty());
}

BOOST_AUTO_TEST_CASE(a_component_of_one_row_is_at_the_floor) {
  for (const int d : {1, 3})
    for (const char *shape : {"full", "diagonal", "spherical"})
      BOOST_TEST_CONTEXT(shape << " of dimension " << d) {
        const Matrix x = with_lonely_row(d);
        for (const char *method : {"em", "mcem"})
          BOOST_TEST((fit(x, 2, em(shape, {{"method", method}}))->info.degenerate == Numbers{1}));
        BOOST_TEST(fit(x, 1, em(shape))->info.degenerate.empty());
        for (const char *method : {"map", "vi"})
          BOOST_TEST(
              fit(x, 2, {{"method", method}, {"covariance", shape}})->info.degenerate.empty());
      }
  // Shared, the covariance describes all other rows too.
  BOOST_TEST(fit(with_lonely_row(3), 2, em("tied"))->info.degenerate.empty());
  // With as many components as rows no variance is left.
  const Matrix few = normal_rows(4, 2, 12, 1);
  BOOST_TEST((fit(few, 4, em("tied"))->info.degenerate == Numbers{0, 1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(rows_on_a_line_are_at_the_floor_of_full_covariances) {
  Matrix x = normal_rows(80, 2, 13, 1);
  x.col(0).head(50).array() += 20;
  x.col(1).head(50) = x.col(0).head(50);
  BOOST_TEST((fit(x, 2, em("full"))->info.degenerate == Numbers{0}));
  BOOST_TEST(fit(x, 2, em("diagonal"))->info.degenerate.empty());
}

// No component is more likely for what is constant in all rows.
BOOST_AUTO_TEST_CASE(columns_without_spread_do_not_count) {
  const Matrix plain = normal_rows(120, 2, 14, 2);
  Matrix x(120, 3);
  for (const double value : {0.0, 7.0, 1e9})
    for (const auto &shape : shapes) BOOST_TEST_CONTEXT(shape << " beside a constant " << value) {
        x << plain, Vector::Constant(120, value);
        BOOST_TEST(fit(x, 2, em(shape))->info.degenerate.empty());
        Matrix lonely(61, 3);
        lonely << with_lonely_row(2), Vector::Constant(61, value);
        // a spherical covariance is at the floor in all directions or in none
        if (shape == "full" || shape == "diagonal")
          BOOST_TEST((fit(lonely, 2, em(shape, {{"degenerate", "allow"}}))->info.degenerate ==
                      Numbers{1}));
      }
  x << plain, plain.col(0) + 2 * plain.col(1);
  BOOST_TEST(fit(x, 2, em("full"))->info.degenerate.empty());
  BOOST_TEST(fit(x, 2, em("tied"))->info.degenerate.empty());
  BOOST_TEST(fit(Matrix::Constant(30, 2, 5.0), 1, em("full"))->info.degenerate.empty());
}

BOOST_AUTO_TEST_CASE(components_without_rows_do_not_count) {
  std::vector<bayes::GmmComponent> start(2, {0.5, 0, {0}, {1}});
  start[1].mean = {1e6};
  start[1].covariance = {1e-9};
  const auto begin = point_model("full", start);
  const auto model = fit(normal_rows(50, 1, 15, 1), 2, {{"method", "em"}}, {}, begin.get());
  BOOST_TEST(model->component(1).weight == 0);
  BOOST_TEST(model->info.degenerate.empty());
}

BOOST_AUTO_TEST_CASE(columns_of_products_have_bounds_too) {
  const auto degenerate = [](const Matrix &x, const char *likelihood, Options more = {}) {
    return latent::fitted(x, 2,
                          with({{"method", "em"}, {"likelihood", likelihood}}, std::move(more)))
        ->info.degenerate;
  };
  Matrix x = with_lonely_row(2);
  BOOST_TEST((degenerate(x, "normal") == Numbers{1}));
  x.col(1).setConstant(3);
  BOOST_TEST((degenerate(x, "normal") == Numbers{1}));
  x.row(60).setZero();
  BOOST_TEST(degenerate(x.topRows(60), "normal", {{"restarts", 40}}).empty());
  // Waiting times of 0 have a mean of 0.
  Matrix times = with_lonely_row(1).cwiseAbs();
  times.topRows(20).setZero();
  BOOST_TEST((degenerate(times, "exponential", {{"degenerate", "allow"}}).size() == 1));
  times.setZero();
  times(0, 0) = 1;
  // Probabilities at their bounds do not make a density infinite.
  BOOST_TEST(degenerate(times, "bernoulli").empty());
  BOOST_TEST(degenerate(times, "poisson").empty());
}

BOOST_AUTO_TEST_CASE(states_of_equal_observations_are_at_the_floor) {
  bayes::Random random(16);
  hidden_markov::Sequence x;
  for (int t = 0; t < 400; ++t) x.push_back(t % 20 < 3 ? 0 : 5 + random.normal());
  hidden_markov::Data data(1, {x});
  for (const char *kind : {"multivariate", "product"}) BOOST_TEST_CONTEXT(kind) {
      Options options = {{"method", "em"}, {"restarts", 3}};
      if (kind == std::string("product")) options.push_back({"emission", Document::List{"normal"}});
      BOOST_TEST((hidden_markov::fitted(data, 2, options)->info.degenerate == Numbers{1}));
      // States that are named keep their places, and so do their numbers.
      options.push_back({"init", Options{{"means", Tensor{{2}, {0, 5}}}}});
      BOOST_TEST((hidden_markov::fitted(data, 2, options)->info.degenerate == Numbers{0}));
    }
}

BOOST_AUTO_TEST_SUITE_END()
