// Edge cases of column families: modes, floors, default priors, removed rows, and initialization.
// All families of the list, none by name.
#include "product_support.hpp"

using namespace products;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The log density of a prior and of rows, possibly weighted, given by their statistics.
template <class F>
double objective(const F &family, const Numbers &point, const Numbers &x, const Numbers &w) {
  double total = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    total += w[i] * log_density(family, point.data(), x[i]);
  return total;
}

template <class F>
Numbers weighted_sums(const F &family, const ColumnSpec &spec, const Numbers &x, const Numbers &w) {
  const int n = int(x.size());
  const auto all = statistics_of(
      column(spec, prior_of(family, spec, 1)), Eigen::Map<const Matrix>(x.data(), n, 1),
      std::vector<int>(x.size(), 0), 1, Eigen::Map<const Vector>(w.data(), n));
  return to_vector(all.values.col(0));
}

template <class F>
Numbers likeliest(const F &family, const Numbers &s, const ColumnBounds &bounds) {
  Numbers point(std::size_t(family.point_size()), hole);
  family.maximum_likelihood(s.data(), point.data(), bounds, point.data());
  return point;
}
template <class F> Numbers most_probable(const F &family, const Numbers &s, const Numbers &prior) {
  Numbers point(std::size_t(family.point_size()), hole);
  family.maximum_posterior(s.data(), prior.data(), point.data());
  return point;
}

Numbers perturbed(Numbers w, Random &random, double size) {
  for (double &v : w) v = std::max(0.0, v * (1 + size * random.normal()));
  return w;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(product_edges)

// Neither what other weights of the rows would make most probable, nor points drawn nearby, are
// more probable. Caught: s + a for s + a - 1, the divisor a for a - 1, the density of the variance
// for that of the precision, a floor that does not renormalise.
BOOST_AUTO_TEST_CASE(modes_maximise_the_posterior_density) {
  Random random(31);
  for_each_family([&](const auto &family, const ColumnSpec &spec) {
    const Numbers prior = prior_of(family, spec, 1);
    BOOST_TEST(family.has_mode(prior.data()));
    const Numbers x = samples(family, drawn(family, prior_of(family, spec, 9), random), 40, random);
    Numbers w;
    for (std::size_t i = 0; i < x.size(); ++i) w.push_back(random.gamma(2));
    const Numbers s = weighted_sums(family, spec, x, w), mode = most_probable(family, s, prior);
    const double best = objective(family, mode, x, w) + family.log_prior(mode.data(), prior.data());
    // Floors that are not active, and some that are.
    const ColumnBounds far{1e-9, 2, 0}, near{0.28, 4, 0};
    const Numbers ml = likeliest(family, s, far), held = likeliest(family, s, near);
    for (int turn = 0; turn < 3000; ++turn) {
      const double size = std::pow(10, -3 * random.uniform());
      const Numbers other = weighted_sums(family, spec, x, perturbed(w, random, size));
      Numbers many = s;
      family.scale(1 / (size * size), many.data());
      const Numbers close = drawn(family, posterior_of(family, many, prior), random);
      for (const Numbers &at : {most_probable(family, other, prior), close})
        BOOST_TEST_REQUIRE(
            objective(family, at, x, w) + family.log_prior(at.data(), prior.data()) <= best + 1e-9);
      for (const Numbers &at : {likeliest(family, other, far), close})
        BOOST_TEST_REQUIRE(objective(family, at, x, w) <= objective(family, ml, x, w) + 1e-9);
      BOOST_TEST_REQUIRE(objective(family, likeliest(family, other, near), x, w) <=
                         objective(family, held, x, w) + 1e-9);
    }
    BOOST_TEST(family.valid_point(mode.data()));
    BOOST_TEST(family.valid_point(held.data()));
    // No weight, no change.
    Numbers kept = mode;
    family.maximum_likelihood(s.data(), mode.data(), {1e-9, 2, 1e6}, kept.data());
    BOOST_TEST(kept == mode, boost::test_tools::per_element());
  });
}

// A prior has a mode if some valid point has a density that no other exceeds. Caught: a bound of
// has_mode that is open or closed and should not be.
BOOST_AUTO_TEST_CASE(priors_have_the_modes_that_they_claim) {
  Random random(33);
  for_each_family([&](const auto &family, const ColumnSpec &spec) {
    const std::size_t size = prior_of(family, spec, 0).size();
    const Numbers none(std::size_t(family.statistics_size()), 0.0);
    std::vector<Numbers> points;
    for (const double number : {0.02, 0.3, 1.0, 3.0, 20.0})
      for (int i = 0; i < 300; ++i) points.push_back(drawn(family, Numbers(size, number), random));
    int with = 0, without = 0;
    for (int turn = 0; turn < 400; ++turn) {
      Numbers prior(size);
      for (double &q : prior) q = std::array{0.5, 1.0, 1.5, 3.0}[random.below(4)];
      const Numbers mode = most_probable(family, none, prior);
      const double best =
          family.valid_point(mode.data()) ? family.log_prior(mode.data(), prior.data()) : -infinity;
      const bool highest =
          std::isfinite(best) && std::all_of(points.begin(), points.end(), [&](const Numbers &at) {
            return family.log_prior(at.data(), prior.data()) <= best + 1e-9;
          });
      BOOST_TEST_REQUIRE(family.has_mode(prior.data()) == highest);
      ++(highest ? with : without);
    }
    BOOST_TEST(with > 0);
    BOOST_TEST(without > 0);
  });
}

// Caught: a default prior without a mode for a column of small mean.
BOOST_AUTO_TEST_CASE(default_priors_are_valid_have_a_mode_and_follow_the_scale) {
  for_each_family([&](const auto &family, const ColumnSpec &spec) {
    const std::size_t size = prior_of(family, spec, 0).size();
    for (const double mean : {-50.0, -1e-3, 0.0, 1e-6, 0.3, 1.0, 7.5, 1e6, 1e12})
      for (const double variance : {1e-6, 0.2, 1.0, 40.0, 1e9}) {
        if (!family.allowed_mean(mean)) continue;
        Numbers prior(size, hole);
        family.default_prior(mean, variance, 0.4, prior.data());
        BOOST_TEST(family.valid_posterior(prior.data()));
        BOOST_TEST(family.has_mode(prior.data()));
        const Numbers none(std::size_t(family.statistics_size()), 0.0),
            mode = most_probable(family, none, prior);
        BOOST_TEST(family.valid_point(mode.data()));
        // Its predictive mean is the column's, unless values are bounded.
        const double expected = family.predictive_mean(prior.data());
        if (mean >= 1 && family.allowed_mean(1e12) && family.plain())
          BOOST_TEST(distance(expected, mean) < 1e-12);
      }
  });
}

// Maximum likelihood of rows that are all alike, whatever their value, leaves every value possible;
// and no floor restricts large means. Caught: a floor dropped, a floor of 1 / mean.
BOOST_AUTO_TEST_CASE(floors_keep_every_value_possible_and_no_mean_from_being_large) {
  for_each_family([&](const auto &family, const ColumnSpec &) {
    Numbers values;
    for (const double x : {-1e6, -3.0, 0.0, 0.25, 1.0, 2.0, 7.0, 90.0, 1e6, 1e12})
      if (family.allowed(x)) values.push_back(x);
    BOOST_TEST(values.size() >= 2u);
    const ColumnBounds bounds{1e-6, 2, 0};
    for (const double all : values) {
      const Numbers point = likeliest(family, sums_of(family, Numbers(5, all)), bounds);
      BOOST_TEST(family.valid_point(point.data()));
      for (const double x : values) {
        const double density = log_density(family, point.data(), x);
        BOOST_TEST(std::isfinite(density));
        // no likelihood of a point is so large that one row is worth millions
        BOOST_TEST(density < 20);
      }
      const double element = family.element(all);
      if (family.allowed_mean(1e12) && all > 0)
        BOOST_TEST(std::abs(family.element_mean(point.data()) - element) <=
                   1e-12 * std::max(std::abs(element), std::min(1.0, all)));
    }
    // The floor is where it is documented to be.
    const Numbers s = sums_of(family, Numbers(50, values[0]));
    const double low =
                     log_density(family, likeliest(family, s, {1e-9, 2, 0}).data(), values.back()),
                 high =
                     log_density(family, likeliest(family, s, {0.2, 2, 0}).data(), values.back());
    BOOST_TEST(high > low);
  });
}

// A mean is allowed if a nondegenerate distribution of the family has it.
BOOST_AUTO_TEST_CASE(means_are_allowed_if_a_distribution_has_them) {
  for_each_family([&]<class F>(const F &family, const ColumnSpec &) {
    const ColumnBounds bounds{1e-6, 2, 0};
    const Numbers some = family.allowed(0) ? Numbers{0, 1, 1} : Numbers{1, 1, 2},
                  before = likeliest(family, sums_of(family, some), bounds);
    for (const double mean : {-50.0, -1.0, 0.0, 0.25, 1.0, 2.0, 90.0, 1e12}) {
      Numbers given = before;
      if (F::by_value) {
        if (!family.allowed_mean(mean)) continue;
        family.set_mean(mean, 2, given.data());
        BOOST_TEST(given == before, boost::test_tools::per_element());
        continue;
      }
      family.set_mean(mean, 2, given.data());
      bool possible =
          std::abs(family.mean(given.data()) - mean) <= 2e-12 + 1e-12 * std::abs(mean) &&
          family.variance(given.data()) >= 0 && std::isfinite(family.element_mean(given.data()));
      for (const double x : {0.0, 1.0}) possible &= log_density(family, given.data(), x) < 20;
      BOOST_TEST(family.allowed_mean(mean) == possible, "a mean of " << mean);
    }
  });
}

// Caught: a scatter updated with one mean twice, a sum that stays when its row goes, a silent loss
// of precision.
BOOST_AUTO_TEST_CASE(removing_a_row_undoes_adding_it_or_reports_lost_precision) {
  Random random(61);
  for_each_family([&](const auto &family, const ColumnSpec &spec) {
    const Numbers prior = prior_of(family, spec, 1),
                  x = samples(family, drawn(family, prior_of(family, spec, 9), random), 60, random);
    Numbers s = sums_of(family, x);
    for (std::size_t i = 20; i < 60; ++i)
      BOOST_TEST(family.remove(family.element(x[i]), prior.data(), s.data()));
    const Numbers fewer = sums_of(family, {x.begin(), x.begin() + 20});
    BOOST_TEST(support::distance(posterior_of(family, s, prior),
                                 posterior_of(family, fewer, prior)) < 1e-12);
    for (std::size_t i = 0; i < 20; ++i)
      BOOST_TEST(family.remove(family.element(x[i]), prior.data(), s.data()));
    BOOST_TEST(posterior_of(family, s, prior) == prior, boost::test_tools::per_element());
    // The sum is lost in that of an enormous row: removing this row reports it.
    const double enormous = family.allowed(1e12 + 0.5) ? 1e14 : exact_counts;
    if (!family.allowed(enormous) || !family.plain()) return;
    s = sums_of(family, {1, 2, enormous, enormous});
    const bool first = family.remove(enormous, prior.data(), s.data()),
               second = family.remove(enormous, prior.data(), s.data());
    BOOST_TEST(!(first && second));
    s = sums_of(family, {1, 2, 1e3});
    BOOST_TEST(family.remove(1e3, prior.data(), s.data()));
    BOOST_TEST(support::distance(posterior_of(family, s, prior),
                                 posterior_of(family, sums_of(family, {1, 2}), prior)) < 1e-6);
    // Densities far out are finite, in lanes and alone.
    const double last = family.allowed(1e308) ? 1e308 : exact_counts;
    ProductClusters c(column(spec, prior));
    c.open();
    for (const double v : {1.0, 2.0}) c.add(0, &v);
    std::vector<double> out(simd::lanes);
    c.log_predictive(&last, out.data());
    BOOST_TEST((std::isfinite(out[0]) && distance(out[0], c.log_predictive(0, &last)) < 1e-12));
  });
}

// For values with a unit, neither stabilised values nor estimates depend on it. Caught: a floor
// without unit.
BOOST_AUTO_TEST_CASE(modes_are_equivariant_under_changes_of_unit) {
  Random random(71);
  for_each_family([&](const auto &family, const ColumnSpec &spec) {
    if (!family.allowed(0.5)) return;
    const Numbers x = samples(family, drawn(family, prior_of(family, spec, 9), random), 9, random);
    const auto fitted = [&](double unit) {
      Numbers scaled = x, prior(prior_of(family, spec, 0).size());
      double mean = 0, variance = 0;
      for (double &v : scaled) v *= unit, mean += family.element(v) / 9;
      for (const double v : scaled) variance += std::pow(family.element(v) - mean, 2) / 9;
      family.default_prior(mean, variance, 0.3, prior.data());
      const Numbers s = sums_of(family, scaled), flat = sums_of(family, Numbers(9, scaled[0]));
      const ColumnBounds bounds{0.01, variance, 0};
      Numbers out;
      for (const Numbers &point : {likeliest(family, s, bounds), likeliest(family, flat, bounds),
                                   most_probable(family, s, prior)}) {
        out.push_back(family.mean(point.data()) / unit);
        out.push_back(family.variance(point.data()) / (unit * unit));
      }
      const auto stabilised = [&](double v) {
        return family.stabilised(family.element(v), variance);
      };
      for (const double v : scaled) out.push_back(stabilised(v) - stabilised(scaled[0]));
      return out;
    };
    for (const double unit : {1e-30, 1e15, 1e60})
      BOOST_TEST(support::distance(fitted(unit), fitted(1)) < (family.plain() ? 1e-12 : 1e-10));
  });
}

// Stabilised values of one component differ by about 1, whatever the parameters.
BOOST_AUTO_TEST_CASE(stabilised_values_have_unit_differences) {
  Random random(81);
  for_each_family([&]<class F>(const F &family, const ColumnSpec &spec) {
    if (!F::ordered) return;
    for (int turn = 0; turn < 5; ++turn) {
      Numbers point = drawn(family, prior_of(family, spec, 9), random);
      family.set_mean(family.allowed_mean(10) ? 10 : 2, 1, point.data());
      const double variance = family.element_variance(point.data());
      const Numbers x = samples(family, point, 4000, random);
      const auto stabilised = [&](double v) {
        return family.stabilised(family.element(v), variance);
      };
      double square = 0;
      for (std::size_t i = 1; i < x.size(); ++i)
        square += std::pow(stabilised(x[i]) - stabilised(x[i - 1]), 2);
      BOOST_TEST((square / 4000 > 0.5 && square / 4000 < 3));
    }
    double before = -infinity;
    for (const double x : {-1e9, -3.0, 0.0, 1.0, 2.0, 50.0, 1e9}) {
      if (!family.allowed(x)) continue;
      BOOST_TEST(family.stabilised(family.element(x), 1) > before);
      before = family.stabilised(family.element(x), 1);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
