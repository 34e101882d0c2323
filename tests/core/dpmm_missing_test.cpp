// Dirichlet process mixtures of normals whose rows miss elements: densities against integrals over
// what is missing, bounds against quadrature.
#include "dpmm_support.hpp"
#include "missing_support.hpp"

using namespace dpmm;
using missing::none;
using missing::with_holes;
using support::Vector;

namespace {

Options options_of(const std::string &method, const std::string &covariance) {
  Options out = method == "vi" ? Options{{"method", "vi"}, {"truncation", 6}, {"restarts", 2}}
                               : sampled(method, 60, 40);
  return with(out, {{"covariance", covariance}, {"missing", "marginalize"}});
}

const std::vector<std::string> own_covariances = {"full", "diagonal", "spherical"};

}  // namespace

BOOST_AUTO_TEST_SUITE(dpmm_missing)

BOOST_AUTO_TEST_CASE(predictions_are_integrals_over_what_is_missing) {
  const Matrix x = with_holes(support::normal_rows(40, 3, 80, 2), 0.15, 3, true);
  for (const auto &method : methods)
    for (const auto &covariance : own_covariances) BOOST_TEST_CONTEXT(method << ' ' << covariance) {
        const DpmmFit fitted = fit(x, options_of(method, covariance));
        const DirichletProcessMixture &model = *fitted.model;
        BOOST_TEST(bayes::missing_option(model.info) == "marginalize");
        BOOST_TEST(int(fitted.labels.size()) == 40);
        const std::vector<double> at = {1, none, 0.5}, found = answered(model, at);
        // the density, and its part in the first cluster
        for (const std::size_t part : {0, 1}) {
          const double integral = std::exp(missing::log_quadrature(
              at, model.cluster(0).mean, 1,
              [&](const std::vector<double> &whole) {
                return std::log(std::max(1e-300, answered(model, whole)[part]));
              },
              0.05, 9));
          BOOST_TEST(std::abs(found[part] - integral) < 1e-3 * found[0]);
        }
        const std::vector<double> nothing(3, none);
        BOOST_TEST(std::abs(model.log_density(nothing)) < 1e-12);
        double sum = 0;
        for (const double share : answered(model, nothing)) sum += share;
        BOOST_TEST(std::abs(sum - 2) < 1e-12);
        if (method != "vi") {
          Control control;
          BOOST_TEST(model.mcse(at, control).log_density > 0);
        }
      }
}

/// log p(rows | partition) of the estimate is a bound.
BOOST_AUTO_TEST_CASE(the_likelihood_of_the_partition_is_a_bound) {
  Matrix x = doubtful_rows(5, 2, 3);
  x(1, 0) = x(2, 1) = none;
  for (const auto &covariance : own_covariances) BOOST_TEST_CONTEXT(covariance) {
      const DpmmFit fitted = fit(
          x,
          with(options_of("gibbs", covariance),
               {{"prior", Options{{"a", 4}, {"c", 0.5}, {"B", 1.5}, {"m", Tensor{{2}, {0, 0}}}}}}));
      const int k = fitted.model->size();
      std::vector<double> scale = {1.5, 0, 0, 1.5};
      const std::vector<bayes::GmmPosterior> prior(
          std::size_t(k), bayes::GmmPosterior{1, {0, 0}, 0.5, {}, 4, scale});
      std::vector<double> all;
      for (Eigen::Index i = 0; i < x.rows(); ++i)
        for (const double v : support::row(x, i)) all.push_back(v);
      const double evidence = missing::log_quadrature(
          all, std::vector<double>(10, 0.0), 1,
          [&](const std::vector<double> &one) {
            Matrix whole(5, 2);
            for (int i = 0; i < 10; ++i) whole(i / 2, i % 2) = one[std::size_t(i)];
            return double(slow::log_marginal(covariance, whole, fitted.labels, prior));
          },
          0.3, 6);
      BOOST_TEST(fitted.model->info.log_likelihood < evidence);
      BOOST_TEST(fitted.model->info.log_likelihood > evidence - 1.5);
    }
}

BOOST_AUTO_TEST_CASE(complete_rows_are_fitted_as_without_the_option) {
  const Matrix x = support::normal_rows(60, 3, 5, 2);
  for (const auto &method : methods) BOOST_TEST_CONTEXT(method) {
      Options options = options_of(method, "full");
      const DpmmFit a = fit(x, options);
      options.back().second = "error";
      const DpmmFit b = fit(x, options);
      BOOST_TEST(bool(a.labels == b.labels));
      BOOST_TEST(a.model->info.log_likelihood == b.model->info.log_likelihood);
      BOOST_TEST(a.model->log_density(support::row(x, 0)) ==
                 b.model->log_density(support::row(x, 0)));
    }
}

/// Two groups far from each other never share a cluster, though a third of the elements is missing:
/// the rest of a row says where it is.
BOOST_AUTO_TEST_CASE(clusters_are_found) {
  Matrix x = doubtful_rows(60, 3, 9);
  for (int i = 0; i < 60; ++i) x.row(i).array() += i % 2 ? 12 : -12;
  const Vector complete = x.col(0);
  x = with_holes(x, 0.3, 4);
  x.col(0) = complete;
  for (const auto &method : methods)
    for (const auto &covariance : own_covariances) BOOST_TEST_CONTEXT(method << ' ' << covariance) {
        const DpmmFit fitted = fit(x, options_of(method, covariance));
        BOOST_TEST(fitted.model->size() <= 4);
        std::vector<int> even(4), odd(4);
        for (std::size_t i = 0; i < 60; ++i) ++(i % 2 ? odd : even)[std::size_t(fitted.labels[i])];
        for (std::size_t k = 0; k < 4; ++k) BOOST_TEST((even[k] == 0 || odd[k] == 0));
        BOOST_TEST(std::max(even[0], odd[0]) > 25);
      }
}

BOOST_AUTO_TEST_CASE(columns_of_other_families_miss_elements_too) {
  Matrix x(60, 3);
  bayes::Random random(4);
  for (int i = 0; i < 60; ++i)
    for (int j = 0; j < 3; ++j) x(i, j) = random.uniform() < (i % 2 ? 0.9 : 0.1);
  const Matrix holes = with_holes(x, 0.2, 5, true);
  for (const auto &method : methods) BOOST_TEST_CONTEXT(method) {
      Options options = options_of(method, "full");
      options.erase(options.end() - 2);
      options.push_back({"likelihood", "bernoulli"});
      const DpmmFit fitted = fit(holes, options);
      const std::vector<double> at = {1, none, 0}, zero = {1, 0, 0}, one = {1, 1, 0};
      BOOST_TEST(distance(std::exp(fitted.model->log_density(at)),
                          std::exp(fitted.model->log_density(zero)) +
                              std::exp(fitted.model->log_density(one))) < 1e-10);
    }
}

BOOST_AUTO_TEST_SUITE_END()
