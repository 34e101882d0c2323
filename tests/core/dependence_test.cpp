// Mutual information: against enumeration and quadrature of the models' own densities, and closed
// forms.
//
// Estimates have a fixed seed; each check has a false-alarm rate of 1e-5 over its choice.
#include "questions/dependence.hpp"
#include "questions/make.hpp"
#include "questions_support.hpp"

using namespace bayes;
using namespace questions;

namespace {

std::vector<MutualInformation> pairs_of(RowDistribution &rows) {
  std::vector<MutualInformation> out;
  mutual_information(rows, [&](const MutualInformation &each) { out.push_back(each); });
  return out;
}

std::unique_ptr<RowDistribution> normals(const Matrix &means, const Matrix &covariance) {
  const int k = int(means.cols());
  NormalPoint point{full_covariance, means, std::vector<Matrix>(std::size_t(k), covariance)};
  auto out = std::make_unique<RowDistribution>(
      RowColumns(), int(means.rows()),
      flat_components(std::vector<double>(std::size_t(k), 1.0 / k), 1));
  out->add(row_part(all_elements(int(means.rows())), point));
  return out;
}

/// The values of an element, and their weights in an integral or a sum.
std::vector<std::pair<double, double>> grid(const Asked &asked, int j) {
  std::vector<std::pair<double, double>> out;
  for (const double v : asked.distribution->categories(j)) out.push_back({v, 1});
  if (!out.empty()) return out;
  const auto column = asked.rows.col(j);
  if (column == column.array().floor().matrix()) {
    for (int n = 0; n < 150; ++n) out.push_back({n, 1});
    return out;
  }
  // of normals: far beyond the rows
  const double width = column.maxCoeff() - column.minCoeff(), low = column.minCoeff() - 2 * width;
  constexpr int n = 400;
  for (int i = 0; i <= n; ++i) out.push_back({low + 5 * width * i / n, 5 * width / n});
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dependence)

BOOST_AUTO_TEST_CASE(of_one_normal_it_is_that_of_the_correlation) {
  Matrix covariance(2, 2);
  covariance << 4, 1.2, 1.2, 1;
  const auto pairs = pairs_of(*normals(Matrix::Zero(2, 1), covariance));
  BOOST_REQUIRE(pairs.size() == 3);
  BOOST_TEST(std::isnan(pairs[0].nats));
  BOOST_TEST(std::abs(pairs[1].nats + std::log(1 - 0.36) / 2) < 1e-12);
  BOOST_TEST(std::abs(pairs[1].dependence - 0.6) < 1e-12);
  BOOST_TEST(pairs[1].mcse == 0);
}

BOOST_AUTO_TEST_CASE(two_far_components_are_one_bit) {
  Matrix means(3, 2);
  means << 0, 1000, 0, 1000, 0, 0;
  const auto pairs = pairs_of(*normals(means, Matrix::Identity(3, 3)));
  BOOST_TEST(std::abs(pairs[1].nats - std::log(2.0)) < 1e-3);
  // the third element does not depend on the others
  BOOST_TEST(pairs[2].nats < 1e-12);
  BOOST_TEST(pairs[4].nats < 1e-12);
}

BOOST_AUTO_TEST_CASE(it_is_that_of_the_densities) {
  int compared = 0;
  for (Asked &asked : all_models()) {
    // Grids have no room for the tails of a Student t, nor time for draws.
    const std::string &name = asked.name;
    const bool quick = name == "gmm full em" || name == "gmm diagonal map" || name == "bmm em" ||
                       name == "bmm vi" || name == "nb full" || name == "bmm gibbs";
    if (!quick) continue;
    for (const MutualInformation &pair : pairs_of(*asked.distribution)) {
      const int i = pair.first, j = pair.second;
      const bool labels =
          !asked.distribution->categories(i).empty() && !asked.distribution->categories(j).empty();
      std::vector<double> x(std::size_t(asked.rows.cols()), hole);
      double sum = 0;
      const auto log_density = [&](double a, double b) {
        x[std::size_t(i)] = a;
        x[std::size_t(j)] = b;
        return own_log_density(asked, x);
      };
      if (i == j) {
        BOOST_TEST(std::isnan(pair.dependence));
        BOOST_TEST(std::isnan(pair.nats) == !labels);
        if (!labels) continue;
        for (const auto &[a, weight] : grid(asked, i)) {
          const double p = log_density(a, a);
          sum -= std::exp(p) * p;
        }
        BOOST_TEST(std::abs(pair.nats - sum) < 1e-10, name);
        continue;
      }
      std::vector<double> second;
      for (const auto &[b, weight] : grid(asked, j)) second.push_back(log_density(hole, b));
      for (const auto &[a, width] : grid(asked, i)) {
        const double first = log_density(a, hole);
        std::size_t at = 0;
        for (const auto &[b, height] : grid(asked, j)) {
          const double both = log_density(a, b);
          sum += width * height * std::exp(both) * (both - first - second[at++]);
        }
      }
      ++compared;
      BOOST_TEST((pair.nats >= 0 && pair.dependence >= 0 && pair.dependence <= 1));
      BOOST_TEST(std::abs(pair.nats - sum) < (labels ? 1e-10 : 4.5 * pair.mcse + 2e-3),
                 name << " " << i << " " << j << ": " << pair.nats << " " << sum);
      BOOST_TEST((pair.mcse == 0) == labels);
    }
  }
  BOOST_TEST(compared > 20);
}

// Given a single component the columns of a product are independent.
BOOST_AUTO_TEST_CASE(one_component_of_a_product_has_none) {
  const Matrix x = latent::mixed_rows(40, 2);
  for (const char *method : {"em", "vi"}) {
    const auto model = latent::fitted(x, 1, with(latent::mixed, {{"method", method}}));
    for (const MutualInformation &pair : pairs_of(*model->row_distribution()))
      if (pair.first != pair.second) BOOST_TEST(pair.nats < 1e-12);
  }
}

BOOST_AUTO_TEST_SUITE_END()
