// Mutual information: against enumeration and quadrature of the models' own densities, and closed
// forms.
//
// Estimates have a fixed seed; each check has a false-alarm rate of 1e-5 over its choice.
#include "questions/dependence.hpp"

#include <numbers>

#include "families/product/product.hpp"
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
      BOOST_TEST((pair.mcse == 0) == (!asked.distribution->categories(i).empty() ||
                                      !asked.distribution->categories(j).empty()));
    }
  }
  BOOST_TEST(compared > 20);
}

/// Calls use(y, width) for the points of a sum that is the integral over a number, or the sum over
/// whole numbers; of a positive number over its logarithm, else over u in y = centre + sinh(u).
template <class F> void over_numbers(const Matrix &rows, int j, bool positive, F use) {
  const auto column = rows.col(j);
  if (column == column.array().floor().matrix()) {
    for (int n = 0; n < 4000; ++n) use(double(n), 1.0);
    return;
  }
  constexpr double step = 0.005;
  for (double u = -34; u <= 34; u += step) {
    const double y = positive ? std::exp(u) : column.mean() + std::sinh(u);
    use(y, step * (positive ? y : std::cosh(u)));
  }
}

/// The mutual information of a label and a number, from the model's own densities alone.
double of_label_and_number(const Asked &asked, int label, int number, bool positive) {
  std::vector<double> x(std::size_t(asked.rows.cols()), hole);
  const std::vector<double> labels = asked.distribution->categories(label);
  std::vector<double> alone;
  for (const double u : labels) {
    x[std::size_t(label)] = u;
    alone.push_back(own_log_density(asked, x));
  }
  double sum = 0;
  over_numbers(asked.rows, number, positive, [&](double y, double width) {
    x[std::size_t(label)] = hole;
    x[std::size_t(number)] = y;
    const double whole = own_log_density(asked, x);
    for (std::size_t u = 0; u < labels.size(); ++u) {
      x[std::size_t(label)] = labels[u];
      const double both = own_log_density(asked, x);
      if (both > -700) sum += width * std::exp(both) * (both - whole - alone[u]);
    }
  });
  return sum;
}

void check_labels_and_numbers(Asked &asked, bool positive, int &compared) {
  for (const MutualInformation &pair : pairs_of(*asked.distribution)) {
    const bool first = !asked.distribution->categories(pair.first).empty(),
               second = !asked.distribution->categories(pair.second).empty();
    if (first == second) continue;
    ++compared;
    const double expected = of_label_and_number(asked, first ? pair.first : pair.second,
                                                first ? pair.second : pair.first, positive);
    BOOST_TEST(std::abs(pair.nats - expected) < 1e-8, asked.name << " " << pair.first << " "
                                                                 << pair.second << ": " << pair.nats
                                                                 << " " << pair.nats - expected);
    BOOST_TEST(pair.mcse == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_label_and_a_number_have_an_integral) {
  int compared = 0;
  for (Asked &asked : all_models()) check_labels_and_numbers(asked, false, compared);
  BOOST_TEST(compared > 40);
}

BOOST_AUTO_TEST_CASE(a_label_and_a_positive_number_have_an_integral) {
  Random random(6);
  Matrix x(60, 2);
  for (Eigen::Index i = 0; i < 60; ++i) {
    const bool c = random.uniform() < 0.4;
    x(i, 0) = random.uniform() < (c ? 0.1 : 0.8);
    x(i, 1) = c ? 0.01 * random.gamma(0.5) + 1e-6 : 30 * random.gamma(5);
  }
  int compared = 0;
  const Document gamma = Document::object().set("family", "gamma").set("shape", 0.7);
  for (const Document &family : {Document("exponential"), gamma, Document("log_normal")})
    for (const char *method : {"em", "vi"}) {
      Asked asked{
          family.to_json() + " " + method,
          latent::fitted(x, 2,
                         {{"likelihood", Document::List{"bernoulli", family}}, {"method", method}}),
          x};
      asked.distribution = asked.model->row_distribution();
      check_labels_and_numbers(asked, true, compared);
    }
  BOOST_TEST(compared == 6);
}

// A narrow component far from a wide one, and one so wide that its tails reach far.
BOOST_AUTO_TEST_CASE(components_of_very_different_widths_are_integrated) {
  const auto columns = std::make_shared<const Columns>(std::vector<ColumnSpec>{
      ColumnSpec{*likelihood_named("bernoulli")}, ColumnSpec{*likelihood_named("normal")}});
  ProductPoint point{columns, Matrix(columns->size().point, 3)};
  // The first two have a label each.
  point.values << 1, 0, 0.5, /* false */ 0, 1, 0.5, /* mean */ 1e6, 0, 1e4, /* variance */ 1e-8,
      1e8, 1;
  RowDistribution rows({}, 2, flat_components({0.01, 0.89, 0.1}, 1));
  rows.add(row_part(all_elements(2), point, Vector::Ones(3), Vector::Zero(2)));
  const auto pairs = pairs_of(rows);
  BOOST_TEST(pairs[1].mcse == 0);
  // Nothing overlaps but the third and the second, whose density is flat beneath it.
  const double second = 0.89 * std::exp(-0.5) / std::sqrt(2 * std::numbers::pi) / 1e4;
  double sum = 0;
  const double p1 = 0.01 + 0.05, p0 = 1 - p1;
  const auto entropy = [](double p) { return p > 0 ? -p * std::log(p) : 0; };
  sum += entropy(p1) + entropy(p0);
  for (double z = -9; z <= 9; z += 0.01) {
    const double third = 0.1 * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi),
                 all = third + second * std::exp(-z * 1e-4), one = 0.5 * third / all;
    sum -= 0.01 * all * (entropy(one) + entropy(1 - one));
  }
  BOOST_TEST(std::abs(pairs[1].nats - sum) < 1e-6, pairs[1].nats - sum);
}

BOOST_AUTO_TEST_CASE(options_set_the_draws) {
  Matrix means(2, 2);
  means << 0, 2, 0, 3;
  const auto rows = normals(means, Matrix::Identity(2, 2));
  const auto estimate = [&](const Options &options) {
    double nats = 0, mcse = 0;
    mutual_information(
        *rows,
        [&](const MutualInformation &each) {
          if (each.first != each.second) nats = each.nats, mcse = each.mcse;
        },
        read_dependence_options(Document(options)));
    return std::pair(nats, mcse);
  };
  const auto usual = estimate({});
  BOOST_TEST((usual == estimate({{"draws", 10000}, {"seed", 1}})));
  const auto few = estimate({{"draws", 2500}}), other = estimate({{"seed", 2}});
  BOOST_TEST(std::abs(few.second / usual.second - 2) < 0.2);
  BOOST_TEST((other.first != usual.first));
  BOOST_TEST(std::abs(other.first - usual.first) < 4.5 * std::sqrt(2.0) * usual.second);
  const auto message = [&](const Options &options) {
    return latent::message_of([&] { read_dependence_options(Document(options)); });
  };
  BOOST_TEST(message({{"draw", 5}}).find("unknown option \"draw\"") != std::string::npos,
             message({{"draw", 5}}));
  BOOST_TEST(message({{"draws", 1}}).find("\"draws\"") != std::string::npos);
  BOOST_TEST(message({{"seed", 0.5}}).find("\"seed\"") != std::string::npos);
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
