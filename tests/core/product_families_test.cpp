// Every column family of the list on its own: a new family is tested here without a line that names
// it.
#include "product_support.hpp"

using namespace products;

namespace {

/// The mean of numbers and its standard error, for comparisons within 5 of them. Seeds are fixed:
/// there is no false alarm.
struct Average {
  double n = 0, mean = 0, scatter = 0;
  void add(double x) {
    const double away = x - mean;
    mean += away / ++n;
    scatter += away * (x - mean);
  }
  double variance() const { return scatter / n; }
  bool agrees(double expected) const {
    return std::abs(mean - expected) < 5 * std::sqrt(variance() / n) + 1e-12 * std::abs(expected);
  }
};

/// The largest difference of the distribution of numbers and one whose masses are given, relative
/// to its sampling error.
class Distribution {
 public:
  explicit Distribution(Numbers x) : x_(std::move(x)) { std::sort(x_.begin(), x_.end()); }
  void pass(double value, double mass) {
    below_ += mass;
    const auto so_far = std::upper_bound(x_.begin(), x_.end(), value) - x_.begin();
    most_ = std::max(most_, std::abs(double(so_far) / double(x_.size()) - below_));
  }
  double distance() const { return most_ * std::sqrt(double(x_.size())); }

 private:
  Numbers x_;
  double below_ = 0, most_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(product_families)

BOOST_AUTO_TEST_CASE(names_are_distinct_and_families_are_described) {
  std::vector<std::string_view> names;
  for_each_column_family([&]<class F>(const F &family) {
    BOOST_TEST_CONTEXT("family " << family.name) {
      names.push_back(family.name);
      BOOST_TEST((kind_of<F> == *likelihood_named(family.name)));
      BOOST_TEST(!family.requirement().empty());
      BOOST_TEST(std::string_view(family.mode_requirement).size() > 0u);
      BOOST_TEST(F::parameters.size() > 0u);
      BOOST_TEST(F::prior_keys.size() > 0u);
      BOOST_TEST(!(F::by_value && F::ordered));
    }
  });
  auto unique = names;
  std::sort(unique.begin(), unique.end());
  BOOST_TEST((std::unique(unique.begin(), unique.end()) == unique.end()));
  BOOST_TEST((names == column_family_names()));
  for_each_family([&](const auto &family, const ColumnSpec &spec) {
    BOOST_TEST(spec.name() == std::string_view(family.name));
    int values = 0;
    bool plain = true;
    for_each_value(family, [&](double x, double) {
      ++values;
      plain &= family.element(x) == x;
      if (family.plain() || family.by_value)
        BOOST_TEST_REQUIRE(family.value(family.element(x)) == x);
      else
        BOOST_TEST_REQUIRE(distance(family.value(family.element(x)), x) < 1e-13);
    });
    BOOST_TEST(values > 1);
    BOOST_TEST(family.plain() == plain);
    // It stands for missing values, which must change nothing.
    BOOST_TEST(family.log_carrier(0) == 0);
  });
}

// Caught: a term or a constant of a density dropped, a moment of another parameterisation, samples
// of 1 / rate or counted from 1.
BOOST_AUTO_TEST_CASE(samples_have_the_stated_density_mean_and_variance) {
  Random random(11);
  for_each_family([&]<class F>(const F &family, const ColumnSpec &spec) {
    for (const double strength : {8.0, 30.0}) {
      const Numbers point = drawn(family, prior_of(family, spec, strength), random);
      BOOST_TEST(family.valid_point(point.data()));
      const Numbers x = samples(family, point, 20000, random);
      Distribution distribution(x);
      double total = 0, mean = 0, square = 0;
      for_each_value(family, [&](double v, double mass) {
        mass *= std::exp(log_density(family, point.data(), v));
        total += mass, mean += mass * v, square += mass * v * v;
        distribution.pass(v, mass);
      });
      BOOST_TEST(std::abs(total - 1) < 1e-9);
      BOOST_TEST(distribution.distance() < 2.2);
      for (const double v : x) BOOST_TEST_REQUIRE(family.allowed(v));
      if (F::by_value) {
        BOOST_TEST(std::isnan(family.mean(point.data())));
        BOOST_TEST(std::isnan(family.variance(point.data())));
      } else {
        BOOST_TEST(distance(family.mean(point.data()), mean) < 1e-8);
        BOOST_TEST(distance(family.variance(point.data()), square - mean * mean) < 1e-7);
      }
      // complete() computes a point's unnamed numbers.
      Numbers completed = point;
      std::fill(
          completed.begin() + std::ptrdiff_t(F::parameters.size()) * family.numbers_per_name(),
          completed.end(), hole);
      family.complete(completed.data());
      BOOST_TEST(support::distance(completed, point) < 1e-14);
      BOOST_TEST(!family.valid_point(Numbers(point.size(), -1.0).data()));
      BOOST_TEST(!family.valid_point(Numbers(point.size(), hole).data()));
      BOOST_TEST(!family.valid_point(Numbers(point.size(), 0.0).data()));
    }
  });
}

// Caught: a root or a factor of two dropped, a variance for a deviation.
BOOST_AUTO_TEST_CASE(overlap_is_the_sum_of_the_root_of_the_product) {
  Random random(12);
  for_each_family([&]<class F>(const F &family, const ColumnSpec &spec) {
    for (int i = 0; i < 5; ++i) {
      const Numbers one = drawn(family, prior_of(family, spec, 8), random),
                    other = drawn(family, prior_of(family, spec, 8), random);
      double total = 0;
      for_each_value(family, [&](double v, double mass) {
        total += mass * std::exp(0.5 * (log_density(family, one.data(), v) +
                                        log_density(family, other.data(), v)));
      });
      BOOST_TEST(std::abs(std::exp(family.log_overlap(one.data(), other.data())) - total) < 1e-8);
      BOOST_TEST(std::abs(family.log_overlap(one.data(), one.data())) < 1e-14);
      BOOST_TEST(family.log_overlap(one.data(), other.data()) < 0);
    }
  });
}

// Large parameters are sampled by other algorithms than small ones. Caught: m for m - 1 events
// before the last.
BOOST_AUTO_TEST_CASE(samples_of_any_size_have_the_stated_moments) {
  Random random(13);
  for_each_family([&]<class F>(const F &family, const ColumnSpec &spec) {
    for (const double mean : {-7.0, 0.04, 0.3, 12.0, 40.0, 5e4}) {
      Numbers point = drawn(family, prior_of(family, spec, 8), random);
      if (F::by_value || !family.allowed_mean(mean)) continue;
      family.set_mean(mean, 1, point.data());
      BOOST_TEST(distance(family.mean(point.data()), mean) < 1e-12);
      Average first, second;
      for (const double x : samples(family, point, 100000, random)) {
        first.add(x);
        second.add(std::pow(x - mean, 2));
      }
      BOOST_TEST(first.agrees(mean));
      BOOST_TEST(second.agrees(family.variance(point.data())));
    }
  });
}

// Caught: a moment of the point estimate for that of the predictive, a predictive without the
// contribution of the row.
BOOST_AUTO_TEST_CASE(predictive_densities_sum_to_one_and_have_the_stated_moments) {
  Random random(21);
  for_each_family([&]<class F>(const F &family, const ColumnSpec &spec) {
    for (const double strength : {12.0, 40.0}) {
      const Numbers q = prior_of(family, spec, strength);
      const ProductClusters clusters(column(spec, q), column(spec, q));
      double total = 0, mean = 0, square = 0;
      const auto predictive = [&](double x) { return std::exp(clusters.log_predictive(0, &x)); };
      for_each_value(family, [&](double v, double mass) {
        mass *= predictive(v);
        total += mass, mean += mass * v, square += mass * v * v;
      });
      BOOST_TEST(std::abs(total - 1) < 1e-9);
      if (F::by_value) {
        BOOST_TEST(std::isnan(family.predictive_mean(q.data())));
        BOOST_TEST(std::isnan(family.predictive_variance(q.data())));
      } else {
        // Where there is none, only tails that quadrature does not reach show it.
        const double of_mean = family.predictive_mean(q.data()),
                     of_variance = family.predictive_variance(q.data());
        BOOST_TEST((std::isinf(of_mean) ? !family.plain() : distance(of_mean, mean) < 1e-7));
        BOOST_TEST((std::isinf(of_variance) ? !family.plain()
                                            : distance(of_variance, square - mean * mean) < 1e-6));
      }
      // It is the mean of the densities of draws.
      for (const double v : samples(family, drawn(family, q, random), 3, random)) {
        Average density;
        for (int i = 0; i < 4000; ++i)
          density.add(std::exp(log_density(family, drawn(family, q, random).data(), v)));
        BOOST_TEST(density.agrees(predictive(v)));
      }
    }
    // Moments that do not exist are not reported as finite: with a weaker prior moments grow, to
    // infinity or to a limit.
    Numbers last;
    for (const double number : {50.0, 5.0, 2.5, 2.0, 1.5, 1.0, 0.5}) {
      const Numbers q(prior_of(family, spec, 0).size(), number);
      const Numbers moments = {family.predictive_mean(q.data()),
                               family.predictive_variance(q.data())};
      for (const double m : moments) BOOST_TEST((F::by_value || m >= 0));
      if (!F::by_value && !last.empty()) BOOST_TEST(moments[1] >= last[1]);
      last = moments;
    }
  });
}

// Caught: means and variances of draws with a count or a degree of freedom too many, deviations
// that forget a factor.
BOOST_AUTO_TEST_CASE(draws_have_the_stated_mean_and_deviation) {
  Random random(31);
  for_each_family([&]<class F>(const F &family, const ColumnSpec &spec) {
    Numbers q = prior_of(family, spec, 12);
    // Of a symmetric posterior the mode is the mean.
    for (std::size_t i = 0; i < q.size(); ++i) q[i] *= 1 + 2 * double(i);
    BOOST_TEST(family.valid_posterior(q.data()));
    for (std::size_t i = 0; i < q.size(); ++i)
      for (const double bad : {hole, std::numeric_limits<double>::infinity()}) {
        Numbers wrong = q;
        wrong[i] = bad;
        BOOST_TEST(!family.valid_posterior(wrong.data()));
      }
    const int each = family.numbers_per_name();
    Numbers mean(std::size_t(family.point_size()), 0.0), deviation = mean;
    family.point_estimate(q.data(), mean.data());
    family.deviations(q.data(), deviation.data());
    std::vector<Average> average(mean.size()), reciprocal(mean.size());
    std::vector<Numbers> values(mean.size());
    for (int i = 0; i < 20000; ++i) {
      const Numbers point = drawn(family, q, random);
      for (std::size_t v = 0; v < point.size(); ++v) {
        average[v].add(point[v]);
        reciprocal[v].add(1 / point[v]);
        values[v].push_back(point[v]);
      }
    }
    for (std::size_t v = 0; v < F::parameters.size() * std::size_t(each); ++v) {
      // The point estimate of a variance is one over the mean of the precision.
      if (F::parameters[v / std::size_t(each)] == std::string_view("variance"))
        BOOST_TEST(reciprocal[v].agrees(1 / mean[v]));
      else
        BOOST_TEST(average[v].agrees(mean[v]));
      Average square;
      for (const double x : values[v]) square.add(std::pow(x - average[v].mean, 2));
      BOOST_TEST(square.agrees(deviation[v] * deviation[v]));
    }
    BOOST_TEST(family.valid_point(mean.data()));
    BOOST_TEST(family.free_parameters() > 0);
    // As many as there are numbers that may move: probabilities of all values sum to 1.
    BOOST_TEST(family.free_parameters() == int(F::parameters.size()) * each - F::by_value);
  });
}

// Caught: a sum without the row, a sum added to the wrong prior number, a constant of the evidence.
BOOST_AUTO_TEST_CASE(rows_one_by_one_or_at_once_give_the_same_posterior_and_evidence) {
  Random random(41);
  for_each_family([&]<class F>(const F &family, const ColumnSpec &spec) {
    const Numbers prior = prior_of(family, spec, 1),
                  x = samples(family, drawn(family, prior_of(family, spec, 9), random), 50, random);
    const Numbers s = sums_of(family, x), at_once = posterior_of(family, s, prior);
    Numbers running = prior;
    double chain = 0;
    for (const double v : x) {
      const ProductClusters one(column(spec, running), column(spec, running));
      chain += one.log_predictive(0, &v);
      running = posterior_of(family, sums_of(family, {v}), running);
    }
    BOOST_TEST(support::distance(running, at_once) < 1e-12);
    double carrier = 0;
    for (const double v : x) carrier += family.log_carrier(family.element(v));
    const double evidence = family.log_marginal_likelihood(s.data(), prior.data()) + carrier;
    BOOST_TEST(distance(evidence, chain) < 1e-10);
    // Candidate's identity: log p(x) = log p(x | t) + log p(t) - log p(t | x), whatever t.
    for (int turn = 0; turn < 5; ++turn) {
      const Numbers at = drawn(family, turn % 2 ? prior : at_once, random);
      BOOST_TEST(distance(likelihood(family, at, x) + family.log_prior(at.data(), prior.data()) -
                              family.log_prior(at.data(), at_once.data()),
                          evidence) < 1e-10);
    }
    // The same by blocks, with weights; and E[log density] is the mean over draws.
    const Vector w = support::random_weights(50, 42);
    const auto all = statistics_of(column(spec, prior), Eigen::Map<const Matrix>(x.data(), 50, 1),
                                   std::vector<int>(50, 0), 1, w);
    Numbers scaled(s.size(), 0.0), weighted = prior;
    for (int i = 0; i < 50; ++i) {
      scaled = sums_of(family, {x[std::size_t(i)]});
      family.scale(w(i), scaled.data());
      weighted = posterior_of(family, scaled, weighted);
    }
    BOOST_TEST(support::distance(to_vector(posterior(all, column(spec, prior)).values.col(0)),
                                 weighted) < 1e-11);
    Numbers terms(std::size_t(family.term_size()));
    const double constant = family.expected_terms(at_once.data(), terms.data());
    std::vector<Average> density(3);
    for (int i = 0; i < 4000; ++i) {
      const Numbers at = drawn(family, at_once, random);
      for (std::size_t v = 0; v < density.size(); ++v)
        density[v].add(log_density(family, at.data(), x[v]) -
                       family.log_carrier(family.element(x[v])));
    }
    for (std::size_t v = 0; v < density.size(); ++v)
      BOOST_TEST(density[v].agrees(constant + family.term(terms.data(), family.element(x[v]))));
  });
}

// Caught: any term of a divergence dropped, E[log density] for log E[density].
BOOST_AUTO_TEST_CASE(divergences_agree_with_monte_carlo) {
  Random random(51);
  for_each_family([&](const auto &family, const ColumnSpec &spec) {
    const Numbers a = prior_of(family, spec, 2), b = prior_of(family, spec, 5);
    for (const auto &[q, p] : {std::pair(a, b), std::pair(b, a)}) {
      Average ratio;
      for (int i = 0; i < 20000; ++i) {
        const Numbers at = drawn(family, q, random);
        ratio.add(family.log_prior(at.data(), q.data()) - family.log_prior(at.data(), p.data()));
      }
      const double divergence = family.divergence(q.data(), p.data());
      BOOST_TEST(divergence > 0);
      BOOST_TEST(ratio.agrees(divergence));
      BOOST_TEST(family.divergence(q.data(), q.data()) == 0);
    }
    // Natural-gradient steps of size 0 and 1, and one of size 1/2 from the prior to the posterior,
    // which is the posterior of rows with half the weight.
    const Numbers x = samples(family, drawn(family, b, random), 20, random);
    Numbers s = sums_of(family, x), out(a.size());
    const Numbers target = posterior_of(family, s, a);
    family.natural_gradient_step(a.data(), target.data(), 0, out.data());
    BOOST_TEST(support::distance(out, a) < 1e-14);
    family.natural_gradient_step(a.data(), target.data(), 1, out.data());
    BOOST_TEST(support::distance(out, target) < 1e-13);
    family.natural_gradient_step(a.data(), target.data(), 0.25, out.data());
    family.scale(0.25, s.data());
    BOOST_TEST(support::distance(out, posterior_of(family, s, a)) < 1e-12);
  });
}

BOOST_AUTO_TEST_SUITE_END()
