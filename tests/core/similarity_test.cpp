// Rows of one component whose parameters are integrated out: each tells of the next. Against the
// predictive density of one row after the posterior has been updated by the other, and against
// sums over all ways in which two rows fall into clusters.
#include <cmath>

#include "bmm_support.hpp"
#include "families/product/product_options.hpp"
#include "questions/answers.hpp"
#include "questions/make.hpp"

using namespace bayes;

namespace {

constexpr double hole = std::numeric_limits<double>::quiet_NaN();

NormalWishart posteriors(const CovarianceShape &shape) {
  const int d = 3, k = 2;
  NormalWishart out{shape, Matrix(d, k), Vector(k), Vector(k), {}};
  out.m << 0, 3, 1, -2, -1, 0.5;
  out.c << 0.2, 7;
  out.a << 5.5, 40;
  for (int i = 0; i < k; ++i) {
    Matrix b = Matrix::Identity(d, d) * (2.0 + i);
    b(0, 1) = b(1, 0) = 0.7;
    b(1, 2) = b(2, 1) = -0.4;
    if (!shape.dense) b = b.diagonal().head(shape.rows(d)).eval();
    out.B.push_back(b);
  }
  return out;
}

NormalWishart updated(const NormalWishart &q, const std::vector<double> &x) {
  const int d = q.dimension(), k = q.components();
  NormalStatistics one{q.shape, Vector::Ones(k), Matrix(d, k), {}};
  for (int i = 0; i < k; ++i) {
    one.mean.col(i) = Eigen::Map<const Vector>(x.data(), d);
    one.scatter.push_back(Matrix::Zero(q.shape.rows(d), q.shape.columns(d)));
  }
  return posterior(one, q);
}

std::vector<double> log_densities(RowPart &part, const std::vector<double> &x, int k) {
  Buffer out(std::size_t(k + 7) / 8 * 8, 0.0);  // ends with a whole vector
  part.condition(x.data(), false, out.data());
  return {out.begin(), out.begin() + k};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(similarity_of_rows_of_clusters)

BOOST_AUTO_TEST_CASE(a_row_tells_of_the_next_one) {
  const std::vector<double> x = {0.5, -1, 2}, y = {4, 0.25, -3};
  for (const char *const name : {"full", "diagonal", "spherical"}) {
    const NormalWishart q = posteriors(*covariance_named(name));
    const auto part = row_part(all_elements(3), q),
               after = row_part(all_elements(3), updated(q, x));
    const std::vector<double> alone = log_densities(*part, y, 2),
                              told = log_densities(*after, y, 2);
    std::vector<double> ties(2, 0.0), back = ties;
    part->add_ties(x.data(), y.data(), ties.data());
    part->add_ties(y.data(), x.data(), back.data());
    BOOST_TEST(ties == back, name);
    for (std::size_t k = 0; k < 2; ++k)
      BOOST_TEST(std::abs(ties[k] - (told[k] - alone[k])) < 1e-10, name << ' ' << ties[k]);
    BOOST_TEST(std::abs(ties[0]) > 0.1, name);
  }
}

BOOST_AUTO_TEST_CASE(elements_that_one_row_misses_tell_nothing) {
  const NormalWishart q = posteriors(full_covariance);
  RowDistribution rows({}, 3, flat_components(Vector{{0.3, 0.7}}));
  rows.add(row_part(all_elements(3), q));
  const std::vector<double> x = {0.5, hole, 2}, y = {4, 0.25, hole}, x0 = {0.5, hole, hole},
                            y0 = {4, hole, hole}, none = {hole, 1, hole};
  const auto of = [&rows](const std::vector<double> &a, const std::vector<double> &b) {
    const auto ties = rows.log_ties(a, b);
    return std::vector<double>(ties.begin(), ties.end());
  };
  BOOST_TEST(of(x, y) == of(x0, y0));
  BOOST_TEST(of(x, none) == std::vector<double>(2, 0.0));
  // The marginal of one element is a normal-Wishart too, of fewer degrees of freedom.
  NormalWishart first{full_covariance, q.m.topRows(1), q.c, q.a.array() - 2, {}};
  for (const Matrix &b : q.B) first.B.push_back(b.topLeftCorner(1, 1));
  const auto part = row_part(all_elements(1), first),
             after = row_part(all_elements(1), updated(first, {0.5}));
  const auto alone = log_densities(*part, {4}, 2), told = log_densities(*after, {4}, 2);
  for (std::size_t k = 0; k < 2; ++k)
    BOOST_TEST(std::abs(of(x, y)[k] - (told[k] - alone[k])) < 1e-10);
}

BOOST_AUTO_TEST_CASE(columns_of_every_kind_tell_of_the_next) {
  std::vector<ColumnSpec> specs;
  for (const char *const name : {"bernoulli", "poisson", "normal", "exponential", "geometric"})
    specs.push_back(ColumnSpec{*likelihood_named(name)});
  specs.push_back(ColumnSpec{*likelihood_named("categorical"), 3});
  const auto columns = std::make_shared<const Columns>(specs);
  const int d = int(specs.size());
  ProductPosterior q{columns, Matrix(columns->size().posterior, 1)};
  columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
    column.default_prior(1.5, 2, 1, q.column(0, j));
  });
  const std::vector<double> x = {1, 3, -0.5, 0.7, 2, 1}, y = {0, 1, 2.5, 1.9, 0, 1};
  ProductPosterior after = q;
  columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
    std::vector<double> statistics(std::size_t(column.size().statistics), 0.0);
    column.add(column.element(x[std::size_t(j)]), statistics.data());
    column.posterior(statistics.data(), q.column(0, j), after.column(0, j));
  });
  const Vector alphas = Vector::Zero(d);
  const auto part = row_part(all_elements(d), q, alphas),
             told = row_part(all_elements(d), after, alphas);
  for (int j = -1; j < d; ++j) {  // all of them, and each
    auto one = x, other = y;
    for (int i = 0; i < d; ++i)
      if (j >= 0 && i != j) one[std::size_t(i)] = other[std::size_t(i)] = hole;
    std::vector<double> ties(1, 0.0);
    part->add_ties(one.data(), other.data(), ties.data());
    const double expected = log_densities(*told, other, 1)[0] - log_densities(*part, other, 1)[0];
    BOOST_TEST(std::abs(ties[0] - expected) < 1e-10, j << ' ' << ties[0] << ' ' << expected);
  }
}

// Two clusters of 3 and 1 rows, and new ones with concentration 0.5, by the rule by which a
// Dirichlet process seats one row after the other.
BOOST_AUTO_TEST_CASE(two_rows_are_seated_one_after_the_other) {
  const double alpha = 0.5, n = 4, size[] = {3, 1, alpha};
  NormalWishart q{full_covariance, Matrix(1, 3), Vector(3), Vector(3), {}};
  q.m << -1, 6, 0;
  q.c << 3.1, 1.1, 0.1;
  q.a << 5, 3, 2;
  for (const double b : {2.0, 1.0, 4.0}) q.B.push_back(Matrix::Constant(1, 1, b));
  std::vector<FlatComponent> flat;
  for (int draw = 0; draw < 2; ++draw)
    for (int g = 0; g < 3; ++g)
      flat.push_back({.weight = size[g] / (n + alpha) / 2,
                      .draw = draw,
                      .group = 3 * draw + g,
                      .together = g == 2 ? 1 / (1 + alpha) : 1,
                      .mass = size[g]});
  RowDistribution rows({}, 1, std::move(flat));
  rows.add(row_part(all_elements(1), pick(q, {0, 1, 2, 0, 1, 2})));
  const auto part = row_part(all_elements(1), q);
  for (const auto &[x, y] : {std::pair(40.0, 41.0), {40.0, -35.0}, {6.5, 5.5}, {-1.0, 6.0}}) {
    const auto one = log_densities(*part, {x}, 3), other = log_densities(*part, {y}, 3),
               next = log_densities(*row_part(all_elements(1), updated(q, {x})), {y}, 3);
    double same = 0, all = 0;
    for (int g = 0; g < 3; ++g)
      for (int h = 0; h < 3; ++h) {
        const double first = size[g] * std::exp(one[std::size_t(g)]);
        all += first * size[h] * std::exp(other[std::size_t(h)]);
        if (g != h) continue;
        // The second row finds one row more in the cluster of the first, or a cluster of one row.
        const double joined = g == 2 ? 1 : size[g] + 1;
        if (g < 2) all -= first * size[g] * std::exp(other[std::size_t(g)]);
        same += first * joined * std::exp(next[std::size_t(g)]);
      }
    all += same;
    const double found = similarity(rows, std::vector<double>{x}, std::vector<double>{y});
    BOOST_TEST(std::abs(found - same / all) < 1e-12, x << ' ' << y << ' ' << found);
  }
}

// Eight rows of zeros and ones, and two more: all ways in which the ten fall into two components.
// 8,000 draws have a standard error of about 0.005.
BOOST_AUTO_TEST_CASE(rows_of_a_sampled_mixture_tell_of_each_other) {
  Matrix x(8, 3);
  x << 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1;
  const support::Options prior = {{"alpha", 1}, {"a", 1}, {"b", 1}};
  for (const char *const method : {"gibbs", "collapsed"}) {
    const auto model = latent::fitted(x, 2,
                                      {{"method", method},
                                       {"likelihood", "bernoulli"},
                                       {"prior", prior},
                                       {"chains", 4},
                                       {"draws", 2000},
                                       {"warmup", 100}});
    const auto rows = model->row_distribution();
    for (const auto &[one, other] :
         {std::pair(std::vector<double>{0, 0, 0}, std::vector<double>{0, 0, 1}),
          std::pair(std::vector<double>{1, 1, 1}, std::vector<double>{0, 0, 0})}) {
      double all = 0, same = 0;
      for (unsigned labels = 0; labels < 1u << 10; ++labels) {
        double n[2] = {}, ones[2][3] = {};
        for (int i = 0; i < 10; ++i) {
          const unsigned k = labels >> i & 1;
          ++n[k];
          for (int j = 0; j < 3; ++j)
            ones[k][j] += i < 8 ? x(i, j) : i == 8 ? one[std::size_t(j)] : other[std::size_t(j)];
        }
        double log_p = 0;
        for (int k = 0; k < 2; ++k) {
          log_p += std::lgamma(n[k] + 1);
          for (int j = 0; j < 3; ++j)
            log_p += std::lgamma(ones[k][j] + 1) + std::lgamma(n[k] - ones[k][j] + 1) -
                     std::lgamma(n[k] + 2);
        }
        all += std::exp(log_p);
        if ((labels >> 8 & 1) == labels >> 9) same += std::exp(log_p);
      }
      const double found = similarity(*rows, one, other);
      BOOST_TEST(std::abs(found - same / all) < 0.02, method << ' ' << found << ' ' << same / all);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
