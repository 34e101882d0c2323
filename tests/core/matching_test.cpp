// Components of two models matched by the overlap of their densities.
#include <Eigen/LU>

#include "bmm_support.hpp"
#include "models/comparison.hpp"
#include "nmf_support.hpp"

using namespace latent;
using bayes::match_components;

namespace {

Matrix some_covariance(const std::string &shape, int d, std::uint64_t seed) {
  const Matrix a = support::normal_rows(2 * d, d, seed);
  Matrix out = a.transpose() * a / (2.0 * d);
  out = (out + out.transpose()).eval() / 2;
  if (shape == "diagonal") return Matrix(out.diagonal().asDiagonal());
  if (shape == "spherical") return out.diagonal().mean() * Matrix::Identity(d, d);
  return out;
}

/// The integral of the root of the product of two normal densities of three elements: a normal with
/// the precision (A^-1 + B^-1) / 2, and the rest beside it.
double overlap_of(const bayes::GmmComponent &one, const bayes::GmmComponent &other) {
  using Square = Eigen::Matrix3d;
  const Square p = Square(one.covariance.data()).inverse(),
               q = Square(other.covariance.data()).inverse(), both = 0.5 * (p + q);
  const Eigen::Vector3d m(one.mean.data()), n(other.mean.data()), h = 0.5 * (p * m + q * n);
  const double rest = 0.5 * (m.dot(p * m) + n.dot(q * n)) - h.dot(both.inverse() * h);
  return std::exp(-0.5 * rest) * std::pow(p.determinant() * q.determinant(), 0.25) /
         std::sqrt(both.determinant());
}

bayes::RowColumns named(std::vector<std::string> names) {
  bayes::RowColumns out;
  for (std::string &name : names) out.push_back({std::move(name)});
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(matching)

// Caught: a mean or a variance of another component, a factor of two.
BOOST_AUTO_TEST_CASE(overlaps_of_normals_of_all_shapes_are_integrals) {
  for (const std::string &shape : support::shapes)
    for (const std::string &other_shape : support::shapes)
      BOOST_TEST_CONTEXT(shape << ' ' << other_shape) {
        std::vector<bayes::GmmComponent> a, b;
        for (int i = 0; i < 2; ++i) {
          const double x = 4 * i;
          a.push_back({0.5, 0, {x, 1, -x}, {}});
          b.push_back({0.5, 0, {4.4 - x, 1.3, x - 3.8}, {}});
          const Matrix p = some_covariance(shape, 3, shape == "tied" ? 1 : 2 + i),
                       q = some_covariance(other_shape, 3, other_shape == "tied" ? 5 : 6 + i);
          a.back().covariance = {p.data(), p.data() + 9};
          b.back().covariance = {q.data(), q.data() + 9};
        }
        const auto one = support::point_model(shape, a),
                   other = support::point_model(other_shape, b);
        const auto pairs = match_components(*one, *other);
        BOOST_REQUIRE(pairs.size() == 2u);
        for (int i = 0; i < 2; ++i) {
          BOOST_TEST(pairs[std::size_t(i)].before == i);
          BOOST_TEST(pairs[std::size_t(i)].after == 1 - i);
          BOOST_TEST(support::distance(pairs[std::size_t(i)].overlap,
                                       overlap_of(one->component(i), other->component(1 - i))) <
                     1e-10);
        }
        // Columns in another order, found by their names.
        std::vector<bayes::GmmComponent> turned = b;
        const int order[] = {2, 0, 1};
        for (int i = 0; i < 2; ++i)
          for (int r = 0; r < 3; ++r) {
            turned[std::size_t(i)].mean[std::size_t(r)] =
                b[std::size_t(i)].mean[std::size_t(order[r])];
            for (int c = 0; c < 3; ++c)
              turned[std::size_t(i)].covariance[std::size_t(3 * r + c)] =
                  b[std::size_t(i)].covariance[std::size_t(3 * order[r] + order[c])];
          }
        const auto by_name = support::point_model(other_shape, turned);
        one->info.columns = named({"a", "b", "c"});
        by_name->info.columns = named({"c", "a", "b"});
        const auto same = match_components(*one, *by_name);
        for (int i = 0; i < 2; ++i)
          BOOST_TEST(support::distance(same[std::size_t(i)].overlap,
                                       pairs[std::size_t(i)].overlap) < 1e-12);
        by_name->info.columns = named({"c", "a", "d"});
        BOOST_TEST(message_of([&] { match_components(*one, *by_name); }) ==
                   "the second model has no column \"b\"");
      }
}

// Caught: labels by code, categories that only one model has counted in.
BOOST_AUTO_TEST_CASE(categories_are_matched_by_label) {
  Matrix x(6, 1), y(8, 1);
  x << 0, 0, 0, 1, 1, 2;
  y << 0, 1, 1, 2, 2, 2, 2, 2;
  const Options em = {{"likelihood", "categorical"}, {"method", "em"}};
  const Fitted one = fitted(x, 1, em), other = fitted(y, 1, em);
  const auto root = [](double a, double b) { return std::sqrt(a / 6 * (b / 8)); };
  BOOST_TEST(support::distance(match_components(*one, *other)[0].overlap,
                               root(3, 1) + root(2, 2) + root(1, 5)) < 1e-12);
  one->info.columns = {{"plan", bayes::ValueKind::label, {"b", "c", "d"}}};
  other->info.columns = {{"plan", bayes::ValueKind::label, {"a", "b", "d"}}};
  BOOST_TEST(support::distance(match_components(*one, *other)[0].overlap, root(3, 2) + root(1, 5)) <
             1e-12);
}

// Caught: the parameter of another column or component, a difference of the other sign, deviations
// added up.
BOOST_AUTO_TEST_CASE(parameters_of_pairs_are_compared) {
  Matrix x = support::normal_rows(60, 2, 3, 2);
  x.topRows(30).array() += 40;
  Matrix y(40, 2);
  y << x.bottomRows(30).rowwise().reverse(), x.topRows(10).rowwise().reverse();
  const auto one = support::fit(x, 2, {}), other = support::fit(y, 2, {});
  one->info.columns = named({"a", "b"});
  other->info.columns = named({"b", "a"});
  const auto pairs = match_components(*one, *other);
  int rows = 0, weights = 0;
  bayes::compare_components(*one, *other, [&](const bayes::ComparedParameter &p) {
    ++rows;
    const auto from = one->component(p.before), to = other->component(p.after);
    const auto &pair = pairs[std::size_t(p.before)];
    BOOST_TEST(pair.after == p.after);
    BOOST_TEST(distance(p.distance * p.distance, 1 - pair.overlap) < 1e-9);
    BOOST_TEST(p.difference() == p.value_after - p.value_before);
    double deviation = 0;
    const auto add = [&](const bayes::GaussianMixture &model, int component, int element) {
      model.describe_parameters({}, [&](const bayes::Parameter &q) {
        if (q.component == component && q.element == element && p.parameter == q.name)
          deviation += q.deviation * q.deviation;
      });
    };
    add(*one, p.before, p.element);
    add(*other, p.after, p.element < 0 ? -1 : 1 - p.element);
    BOOST_TEST(distance(p.deviation, std::sqrt(deviation)) < 1e-12);
    if (p.parameter == "weight") {
      ++weights;
      BOOST_TEST(p.value_before == from.weight);
      BOOST_TEST(p.value_after == to.weight);
    } else if (p.parameter == "mean") {
      BOOST_TEST(p.column == (p.element == 0 ? "a" : "b"));
      BOOST_TEST(p.value_before == from.mean[std::size_t(p.element)]);
      BOOST_TEST(p.value_after == to.mean[std::size_t(1 - p.element)]);
    }
  });
  BOOST_TEST(rows == 10);
  BOOST_TEST(weights == 2);
}

// Caught: a pairing without weights, a partner for a component that has none.
BOOST_AUTO_TEST_CASE(the_pairing_has_most_in_common) {
  const auto model = [](std::vector<std::pair<double, double>> of) {
    std::vector<bayes::GmmComponent> out;
    for (const auto &[weight, mean] : of) out.push_back({weight, 0, {mean}, {1}});
    return support::point_model("full", out);
  };
  const auto one = model({{0.2, 0}, {0.5, 30}, {0.3, -200}}),
             other = model({{0.1, 29}, {0.2, 100}, {0.5, 31}, {0.2, 1}});
  const auto pairs = match_components(*one, *other);
  BOOST_REQUIRE(pairs.size() == 5u);
  // The component at 30 is as near to one at 29 as to one at 31, which is heavier; those far from
  // all others have underflowed.
  const int expected[][2] = {{0, 3}, {1, 2}, {2, -1}, {-1, 0}, {-1, 1}};
  for (std::size_t i = 0; i < 5; ++i) {
    BOOST_TEST(pairs[i].before == expected[i][0]);
    BOOST_TEST(pairs[i].after == expected[i][1]);
    BOOST_TEST(std::isnan(pairs[i].overlap) == (i > 1));
  }
  BOOST_TEST(support::distance(pairs[0].overlap, std::exp(-1.0 / 8)) < 1e-12);
}

// Caught: terms by their numbers, factors by their rows, shares that are not of the factor's sum.
BOOST_AUTO_TEST_CASE(topics_and_factors_are_matched_by_labels) {
  topics::Corpus documents;
  factors::Cells cells;
  for (int d = 0; d < 12; ++d) {
    topics::Counts counts;
    std::vector<double> line(6, 0.0);
    for (int w = 0; w < 3; ++w) {
      const int term = d < 8 ? w : 3 + w;
      counts[term] = line[std::size_t(term)] = 1 + (d + 2 * w) % 4;
    }
    documents.push_back(counts);
    cells.push_back(line);
  }
  const auto lda = topics::fitted(documents, 6, 2, {}), other = topics::fitted(documents, 6, 1, {});
  double overlap = 0, heavier = 0;
  for (int k = 0; k < 2; ++k) {
    double sum = 0;
    for (int w = 0; w < 6; ++w) sum += std::sqrt(lda->probability(k, w) * other->probability(0, w));
    if (const double worth = std::sqrt(lda->weights()[std::size_t(k)]) * sum; worth > heavier) {
      heavier = worth;
      overlap = sum;
    }
  }
  const auto pairs = match_components(*lda, *other);
  BOOST_REQUIRE(pairs.size() == 2u);
  for (const auto &pair : pairs)
    if (pair.after == 0) BOOST_TEST(support::distance(pair.overlap, overlap) < 1e-12);

  const auto nmf = factors::fitted(cells, 2, {});
  // The columns in another order: labels are keys, so nothing changes for them.
  factors::Cells turned = cells;
  for (auto &line : turned) std::rotate(line.begin(), line.begin() + 1, line.end());
  const auto rotated = factors::fitted(turned, 2, {});
  for (const auto &pair : match_components(*nmf, *nmf)) {
    BOOST_TEST(pair.before == pair.after);
    BOOST_TEST(support::distance(pair.overlap, 1) < 1e-12);
  }
  for (const auto &pair : match_components(*nmf, *rotated)) {
    double sum = 0;
    for (int j = 0; j < 6; ++j)
      sum += std::sqrt(nmf->share_of_factor(bayes::Side::column, j, pair.before) *
                       rotated->share_of_factor(bayes::Side::column, j, pair.after));
    BOOST_TEST(support::distance(pair.overlap, sum) < 1e-12);
  }
  int rows = 0;
  double total = 0;
  bayes::compare_components(*nmf, *nmf, [&](const bayes::ComparedParameter &p) {
    ++rows;
    if (p.parameter == "share" && p.before == 1) total += p.value_before;
    BOOST_TEST(p.value_before == p.value_after);
  });
  BOOST_TEST(rows == 14);
  BOOST_TEST(support::distance(total, 1) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()
