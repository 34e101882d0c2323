// How strange rows are to several models: against chi-squared, one model, and rows drawn anew.
//
// Draws have fixed seeds; each statistical check has a false-alarm rate of 1e-5 over the choice of
// the seed, and an allowance for the draws that a probability is estimated from.
#include "questions/several_anomalies.hpp"

#include "base/unseen.hpp"
#include "questions/anomaly.hpp"
#include "questions/make.hpp"
#include "questions_support.hpp"

using namespace bayes;
using namespace questions;

namespace {

using Rows = std::unique_ptr<RowDistribution>;

/// Normals of two elements with these weights, means and variances.
Rows normals(const std::vector<double> &weights, const Matrix &means, const Matrix &variances) {
  const Eigen::Index k = Eigen::Index(weights.size());
  NormalPoint point{full_covariance, means, {}};
  for (Eigen::Index i = 0; i < k; ++i)
    point.covariance.push_back(Matrix(variances.col(i).asDiagonal()));
  auto out = std::make_unique<RowDistribution>(RowColumns(), 2, flat_components(weights, 1));
  out->add(row_part(all_elements(2), point));
  return out;
}

Rows normal(double first, double second) {
  Matrix variance(2, 1);
  variance << first, second;
  return normals({1}, Matrix::Zero(2, 1), variance);
}

template <class... Each> SeveralAnomalies several(Each... each) {
  SeveralAnomalies::Models models;
  (models.push_back(std::move(each)), ...);
  return SeveralAnomalies(std::move(models));
}

/// How far the probabilities of rows of the first model are from uniform: Kolmogorov and Smirnov's.
double gap(SeveralAnomalies &anomalies, int n, bool holes) {
  RowDistribution &rows = anomalies.model(0);
  std::vector<double> p;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x = drawn_row(rows, 77, i);
    if (holes) x.back() = hole;
    p.push_back(anomalies.probability(x));
  }
  std::sort(p.begin(), p.end());
  double away = 0;
  for (int i = 0; i < n; ++i) away = std::max(away, std::abs(p[std::size_t(i)] - (i + 0.5) / n));
  return away;
}

/// Of n rows, and as much again for the draws that tell how strange they are.
double largest(int n, int draws) {
  return support::largest_gap * (1 / std::sqrt(double(n)) + 1 / std::sqrt(double(draws)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(several_anomalies)

BOOST_AUTO_TEST_CASE(of_one_normal_it_is_chi_squared) {
  SeveralAnomalies anomalies = several(normal(1, 4));
  for (double r = 0; r < 3; r += 0.25) {
    const double p = std::exp(-r * r / 2), found = anomalies.probability(std::vector{r, 0.0});
    BOOST_TEST(std::abs(found - p) < 4.5 * std::sqrt(p * (1 - p) / 10000) + 1e-3);
  }
  // Of two elements the tail beyond the draws is exponential.
  for (double r = 5; r < 40; r += 5)
    BOOST_TEST(
        std::abs(std::log(anomalies.probability(std::vector{0.0, 2 * r})) / (r * r / 2) + 1) < 0.5);
  BOOST_TEST(anomalies.probability(std::vector{hole, hole}) == 1);
  BOOST_TEST(anomalies.of_models()[0] == 1);
}

BOOST_AUTO_TEST_CASE(one_model_twice_is_asked_once) {
  SeveralAnomalies one = several(normal(1, 4)), two = several(normal(1, 4), normal(1, 4));
  for (double r = 0; r < 20; r += 0.5)
    for (const std::vector<double> &x : {std::vector{r, 1.0}, std::vector{r, hole}}) {
      const double once = one.probability(x), twice = two.probability(x);
      BOOST_TEST(std::abs(std::log(once / twice)) < 1e-3);
      BOOST_TEST(two.of_models()[0] == two.of_models()[1]);
    }
}

BOOST_AUTO_TEST_CASE(rows_of_the_first_model_are_uniform) {
  constexpr int n = 4000;
  SeveralAnomalies all = several(normal(1, 1), normal(1, 1e8), normal(1e8, 1), normal(2, 0.5));
  BOOST_TEST(gap(all, n, false) < largest(n, 10000));
  BOOST_TEST(gap(all, n, true) < largest(n, 1000));
  // Three independent questions: the least probability is far from uniform.
  int least = 0;
  for (int i = 0; i < n; ++i) {
    Random random(78, std::uint64_t(i));
    all.probability(std::vector{random.normal(), random.normal()});
    least += std::ranges::min(all.of_models()) < 0.1;
  }
  BOOST_TEST(least > 0.15 * n);
}

BOOST_AUTO_TEST_CASE(rows_of_fitted_models_are_uniform) {
  const std::vector<Asked> &asked = all_models();
  for (const Asked &each : asked) {
    SeveralAnomalies::Models models;
    models.push_back(each.model->row_distribution());
    for (const Asked &other : asked)
      if (other.rows.rows() == each.rows.rows() && other.rows.cols() == each.rows.cols() &&
          other.rows == each.rows && models.size() < 3)
        models.push_back(other.model->row_distribution());
    SeveralAnomalies anomalies(std::move(models));
    if (!anomalies.model(0).categories(0).empty()) continue;
    constexpr int n = 600;
    BOOST_TEST(gap(anomalies, n, false) < largest(n, 10000), each.name);
    BOOST_TEST(gap(anomalies, n, true) < largest(n, 1000), each.name);
  }
}

BOOST_AUTO_TEST_CASE(a_model_finds_what_others_do_not) {
  Matrix near(2, 2), wide(2, 2);
  near << -5, 5, -5, 5;
  wide << 0.5, 0.5, 0.5, 0.5;
  Rows clusters = normals({0.5, 0.5}, near, wide);
  SeveralAnomalies anomalies = several(std::move(clusters), normal(25, 25));
  const double between = anomalies.probability(std::vector{0.0, 0.0});
  BOOST_TEST(between < 1e-4);
  BOOST_TEST(anomalies.of_models()[0] <= between * (1 + 1e-9));
  BOOST_TEST(anomalies.of_models()[0] >= between / 2 * (1 - 1e-9));
  BOOST_TEST(anomalies.of_models()[1] > 0.9);
}

BOOST_AUTO_TEST_CASE(rare_components_are_left_out) {
  Matrix means(2, 3), variances = Matrix::Ones(2, 3);
  means << 0, 6, 40, 0, 6, 40;
  const std::vector<double> strange = {40, 40};
  for (const double rare : {0.06, 0.3}) {
    Rows rows = normals({0.7 * (1 - rare), 0.3 * (1 - rare), rare}, means, variances);
    const double with = Anomalies(*rows).probability(strange);
    rows->leave_out_rare();
    BOOST_TEST(rows->components()[0].weight / rows->components()[1].weight == 7.0 / 3,
               boost::test_tools::tolerance(1e-12));
    double sum = 0;
    for (const FlatComponent &each : rows->components()) sum += each.weight;
    BOOST_TEST(sum == 1, boost::test_tools::tolerance(1e-12));
    BOOST_TEST((rows->components()[2].weight == 0) == (rare < 0.1));
    BOOST_TEST(rows->log_density(strange) < (rare < 0.1 ? -1000 : 0));
    BOOST_TEST(with > rare / 2);
    BOOST_TEST((several(std::move(rows)).probability(strange) < 1e-6) == (rare < 0.1));
  }
  // None of twenty equal ones is rare, but one of twenty-one is that has a quarter of their weight.
  Matrix many = Matrix::Zero(2, 21), ones = Matrix::Ones(2, 21);
  std::vector<double> weights(21, 4.0 / 81);
  weights[20] = 1.0 / 81;
  Rows rows = normals(weights, many, ones);
  rows->leave_out_rare();
  for (std::size_t c = 0; c < 21; ++c) BOOST_TEST((rows->components()[c].weight > 0) == (c < 20));
  // Of a sampler every draw loses its own.
  Rows draws = std::make_unique<RowDistribution>(RowColumns(), 2,
                                                 flat_components({0.85, 0.15, 0.04, 0.96}, 2));
  NormalPoint point{full_covariance, Matrix::Zero(2, 4),
                    std::vector<Matrix>(4, Matrix(Matrix::Identity(2, 2)))};
  draws->add(row_part(all_elements(2), point));
  draws->leave_out_rare();
  for (std::size_t c = 0; c < 4; ++c)
    BOOST_TEST(draws->components()[c].weight == (std::vector{0.425, 0.075, 0.0, 0.5}[c]),
               boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(something_remains_of_every_model) {
  for (Asked &asked : all_models()) {
    RowDistribution &rows = *asked.distribution;
    const auto x = support::row(asked.rows, 0);
    const double before = rows.log_density(x);
    rows.leave_out_rare();
    double sum = 0;
    for (const FlatComponent &each : rows.components()) sum += each.weight;
    BOOST_TEST(std::abs(sum - 1) < 1e-9, asked.name);
    BOOST_TEST(std::isfinite(rows.log_density(x)) == std::isfinite(before), asked.name);
  }
}

BOOST_AUTO_TEST_CASE(strange_rows_and_labels_not_known) {
  for (Asked &asked : all_models()) {
    SeveralAnomalies anomalies =
        several(asked.model->row_distribution(), asked.model->row_distribution());
    auto x = support::row(asked.rows, 0);
    std::vector<double> alone(x.size(), hole);
    for (std::size_t j = 0; j < x.size(); ++j)
      if (asked.distribution->categories(int(j)).size() > 2) alone[j] = x[j] = unseen_category;
    const double usual = anomalies.probability(x);
    if (std::ranges::any_of(alone, is_unseen)) {
      // not less than the probability of such a label
      const double unknown = std::exp(anomalies.model(0).log_density(alone));
      BOOST_TEST(usual >= unknown * (1 - 1e-9), asked.name);
      BOOST_TEST(anomalies.probability(alone) <= unknown + 2e-3, asked.name);
    }
    x = support::row(asked.rows, 0);
    const double known = anomalies.probability(x);
    for (int j = 0; j < asked.distribution->dimension(); ++j)
      if (asked.distribution->categories(j).empty()) x[std::size_t(j)] = 1e4;
    BOOST_TEST(anomalies.probability(x) < std::min(known, 2e-3), asked.name);
  }
}

BOOST_AUTO_TEST_CASE(models_of_other_columns_are_refused) {
  const auto refused = [](const Error &error) { return error.code() == Errc::invalid_argument; };
  BOOST_CHECK_EXCEPTION(SeveralAnomalies({}), Error, refused);
  const std::vector<Asked> &asked = all_models();
  const Asked &three = asked[0];
  BOOST_CHECK_EXCEPTION(several(normal(1, 1), three.model->row_distribution()), Error, refused);
}

BOOST_AUTO_TEST_SUITE_END()
