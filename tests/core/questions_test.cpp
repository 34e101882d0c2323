// Questions to a model: the density of the flat mixture against its definition, and of families
// that have scores beside it against these; what is said of missing elements against enumeration
// and quadrature of the density; draws against distribution functions.
//
// Draws have fixed seeds; each statistical check has a false-alarm rate of 1e-5 over the choice of
// the seed.
#include "defined_density.hpp"
#include "questions_support.hpp"

#include "questions/make.hpp"

using namespace bayes;
using namespace questions;

namespace {

/// Where the density of a number is integrated: t = centre + scale sinh(u), so that the tails of a
/// Student t are reached.
struct Line {
  double centre, scale;
  static constexpr double step = 0.005, most = 30;
};

struct Integrals {
  double mass = 0, below_lower = 0, below_median = 0, below_upper = 0, mean = 0, square = 0;
};

/// By the trapezoid rule, of the model's own density of element j, given the others of x.
Integrals integrals(const Asked &asked, std::vector<double> x, std::size_t j,
                    const NumberGiven &of) {
  x[j] = hole;
  const double evidence = own_log_density(asked, x);
  const double scale = std::max(1e-3, of.upper - of.lower) / 4;
  Integrals out;
  const auto density = [&](double t) {
    x[j] = t;
    return std::exp(own_log_density(asked, x) - evidence);
  };
  for (double u = -Line::most; u <= Line::most; u += Line::step) {
    const double t = of.median + scale * std::sinh(u);
    if (std::abs(t) > 1e100) continue;
    const double share = density(t) * scale * std::cosh(u) * Line::step;
    out.mass += share;
    out.mean += share * t;
    out.square += share * t * t;
  }
  // Below each bound t = bound - scale exp(2 sinh u), which is double exponential at both ends.
  for (const auto &[bound, to] :
       {std::pair(of.lower, &out.below_lower), std::pair(of.median, &out.below_median),
        std::pair(of.upper, &out.below_upper)})
    for (double u = -4; u <= 4; u += Line::step) {
      const double away = scale * std::exp(2 * std::sinh(u));
      *to += density(bound - away) * away * 2 * std::cosh(u) * Line::step;
    }
  return out;
}

/// The same for counts, by summation.
Integrals sums(const Asked &asked, std::vector<double> x, std::size_t j, const NumberGiven &of) {
  x[j] = hole;
  const double evidence = own_log_density(asked, x);
  Integrals out;
  for (double n = 0; n < 4000; ++n) {
    x[j] = n;
    const double p = std::exp(own_log_density(asked, x) - evidence);
    out.mass += p;
    out.mean += p * n;
    out.square += p * n * n;
    if (n <= of.lower) out.below_lower += p;
    if (n <= of.median) out.below_median += p;
    if (n <= of.upper) out.below_upper += p;
  }
  return out;
}

/// Of classifiers, and of the independent prior, whose integral has no closed form, by their own
/// scores, which share no code with the flat mixture.
double defined_log_density(const Asked &asked, const std::vector<double> &x) {
  const Model *const model = asked.model.get();
  if (asked.name == "gmm independent") return model->log_density(x);
  if (const auto *of = dynamic_cast<const GaussianMixture *>(model))
    return questions::defined_log_density(*of, x);
  if (const auto *of = dynamic_cast<const BernoulliMixture *>(model))
    return questions::defined_log_density(*of, x);
  if (const auto *of = dynamic_cast<const DirichletProcessMixture *>(model))
    return questions::defined_log_density(*of, x);
  return own_log_density(asked, x);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(questions_to_models)

BOOST_AUTO_TEST_CASE(the_flat_mixture_has_the_density_of_its_definition) {
  for (Asked &asked : all_models()) {
    RowDistribution &flat = *asked.distribution;
    const int d = int(asked.rows.cols());
    double weight = 0;
    for (const FlatComponent &each : flat.components()) weight += each.weight;
    BOOST_TEST(std::abs(weight - 1) < 1e-10);
    BOOST_TEST(flat.dimension() == d);
    double worst = 0;
    for (Eigen::Index i = 0; i < 8; ++i)
      for (unsigned pattern = 0; pattern < 1u << d; ++pattern) {
        const auto x = with_holes(support::row(asked.rows, i), pattern);
        const double own = defined_log_density(asked, x), found = flat.log_density(flat.checked(x));
        worst = std::max(worst, std::abs(found - own) / (1 + std::abs(own)));
      }
    BOOST_TEST(worst < 1e-10, asked.name << ": " << worst);
  }
}

BOOST_AUTO_TEST_CASE(densities_of_some_elements_given_others_multiply) {
  for (Asked &asked : all_models()) {
    RowDistribution &flat = *asked.distribution;
    const unsigned whole = (1u << asked.rows.cols()) - 1;
    double worst = 0;
    for (Eigen::Index i = 0; i < 4; ++i)
      for (unsigned pattern = 1; pattern < whole; ++pattern) {
        const auto x = support::row(asked.rows, i), rest = with_holes(x, ~pattern),
                   given = with_holes(x, pattern);
        const double conditional = flat.log_density(rest, given);
        worst = std::max(worst, std::abs(own_log_density(asked, given) + conditional -
                                         own_log_density(asked, x)));
        // what is given may be repeated
        BOOST_TEST(flat.log_density(x, given) == conditional);
      }
    BOOST_TEST(worst < 1e-9, asked.name << ": " << worst);
  }
}

BOOST_AUTO_TEST_CASE(missing_numbers_have_the_quantiles_and_moments_of_the_density) {
  for (Asked &asked : all_models()) {
    RowDistribution &flat = *asked.distribution;
    const int d = int(asked.rows.cols());
    for (unsigned others : {0u, 1u, 6u})
      for (int j = 0; j < d; ++j) {
        if (!flat.categories(j).empty()) continue;
        auto x = with_holes(support::row(asked.rows, 3), others | 1u << j);
        flat.condition(x);
        const NumberGiven of = number_given(flat, j, 0.8);
        const bool count = asked.rows.col(j) == asked.rows.col(j).array().floor().matrix();
        const Integrals found =
            count ? sums(asked, x, std::size_t(j), of) : integrals(asked, x, std::size_t(j), of);
        const std::string where =
            asked.name + " element " + std::to_string(j) + " pattern " + std::to_string(others);
        BOOST_TEST(std::abs(found.mass - 1) < 2e-8, where << ": " << found.mass - 1);
        if (count) {
          // the smallest numbers that have the probability
          BOOST_TEST(found.below_lower >= 0.1 - 1e-9);
          BOOST_TEST(found.below_median >= 0.5 - 1e-9);
          BOOST_TEST(found.below_upper >= 0.9 - 1e-9);
        } else {
          BOOST_TEST(std::abs(found.below_lower - 0.1) < 2e-8, where);
          BOOST_TEST(std::abs(found.below_median - 0.5) < 2e-8, where);
          BOOST_TEST(std::abs(found.below_upper - 0.9) < 2e-8, where);
        }
        // The tails of a Student t of few degrees contribute too slowly to compare more.
        if (std::isnan(of.mean) || std::isnan(of.sd)) continue;
        BOOST_TEST(std::abs(found.mean - of.mean) < 1e-4 * (1 + of.sd), where);
        BOOST_TEST(std::abs(std::sqrt(found.square - found.mean * found.mean) / of.sd - 1) < 1e-2,
                   where);
      }
  }
}

BOOST_AUTO_TEST_CASE(missing_categories_have_the_probabilities_of_enumeration) {
  int asked_for = 0;
  for (Asked &asked : all_models()) {
    RowDistribution &flat = *asked.distribution;
    for (unsigned others : {0u, 2u, 5u})
      for (int j = 0; j < int(asked.rows.cols()); ++j) {
        if (flat.categories(j).empty()) continue;
        ++asked_for;
        auto x = with_holes(support::row(asked.rows, 2), others | 1u << j);
        flat.condition(x);
        const std::vector<double> p = flat.probabilities(j);
        const double evidence = own_log_density(asked, x), best = value_given(flat, j);
        double sum = 0;
        for (std::size_t v = 0; v < p.size(); ++v) {
          x[std::size_t(j)] = flat.categories(j)[v];
          BOOST_TEST(std::abs(p[v] - std::exp(own_log_density(asked, x) - evidence)) < 1e-10,
                     asked.name);
          sum += p[v];
          if (x[std::size_t(j)] == best) BOOST_TEST(p[v] == *std::max_element(p.begin(), p.end()));
        }
        BOOST_TEST(std::abs(sum - 1) < 1e-12);
      }
  }
  BOOST_TEST(asked_for > 50);
}

// Of each draw the first missing number is compared with its distribution given the observed ones,
// the second with that given the first one too: so columns of a draw belong together.
BOOST_AUTO_TEST_CASE(draws_have_the_joint_distribution) {
  for (Asked &asked : all_models()) {
    RowDistribution &flat = *asked.distribution;
    std::vector<int> numbers;
    for (int j = 0; j < flat.dimension(); ++j)
      if (flat.categories(j).empty() &&
          asked.rows.col(j) != asked.rows.col(j).array().floor().matrix())
        numbers.push_back(j);
    const auto x = support::row(asked.rows, 1);
    std::vector<double> given = x, first, second;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, numbers.size()); ++i)
      given[std::size_t(numbers[i])] = hole;
    const auto below = [&](int j, double at) {
      double p = 0;
      const auto parts = flat.predicted(j);
      for (std::size_t i = 0; i < parts.size(); ++i)
        p += flat.weights()[i] * parts[i].probability_below(at);
      return p;
    };
    for (int i = 0; i < 1000; ++i) {
      Random random(11, std::uint64_t(i));
      flat.condition(given);
      std::vector<double> drawn = given;
      flat.draw(random, drawn);
      for (std::size_t j = 0; j < x.size(); ++j)
        if (!std::isnan(given[j])) BOOST_REQUIRE(drawn[j] == given[j]);
      first.push_back(below(numbers[0], drawn[std::size_t(numbers[0])]));
      if (numbers.size() < 2) continue;
      std::vector<double> more = given;
      more[std::size_t(numbers[0])] = drawn[std::size_t(numbers[0])];
      flat.condition(more);
      second.push_back(below(numbers[1], drawn[std::size_t(numbers[1])]));
    }
    BOOST_TEST(support::scaled_gap(first) < support::largest_gap, asked.name);
    if (!second.empty()) BOOST_TEST(support::scaled_gap(second) < support::largest_gap, asked.name);
  }
}

// Of three degrees of freedom, so that a normal would be noticed; given the first element four.
BOOST_AUTO_TEST_CASE(draws_of_a_student_have_its_tails) {
  Matrix scale(2, 2);
  scale << 2, 0.9, 0.9, 1;
  const NormalWishart q{full_covariance,
                        Matrix::Zero(2, 1),
                        Vector::Constant(1, 2.0),
                        Vector::Constant(1, 4.0),
                        {scale}};
  RowDistribution rows({}, 2, flat_components({1}, 1));
  rows.add(row_part(all_elements(2), q));
  for (const double first : {hole, 3.0}) {
    const std::vector<double> given = {first, hole};
    std::vector<double> uniform;
    rows.condition(given);
    BOOST_TEST(rows.predicted(1)[0].c == (std::isnan(first) ? 3 : 4));
    for (int i = 0; i < 4000; ++i) {
      Random random(21, std::uint64_t(i));
      auto x = given;
      rows.draw(random, x);
      uniform.push_back(rows.predicted(1)[0].probability_below(x[1]));
    }
    BOOST_TEST(support::scaled_gap(uniform) < support::largest_gap);
    // beyond the 0.1 % and the 99.9 % quantile: Poisson of mean 8, above 23 with less than 1e-5
    const auto far = std::count_if(uniform.begin(), uniform.end(),
                                   [](double u) { return u < 0.001 || u > 0.999; });
    BOOST_TEST((far >= 1 && far < 24));
  }
}

BOOST_AUTO_TEST_CASE(draws_of_categories_and_counts_have_their_frequencies) {
  for (Asked &asked : all_models()) {
    RowDistribution &flat = *asked.distribution;
    const std::vector<double> nothing(std::size_t(flat.dimension()), hole);
    flat.condition(nothing);
    constexpr int n = 4000;
    std::vector<std::vector<double>> drawn;
    for (int i = 0; i < n; ++i) {
      Random random(5, std::uint64_t(i));
      drawn.push_back(nothing);
      flat.draw(random, drawn.back());
    }
    for (int j = 0; j < flat.dimension(); ++j) {
      const auto &categories = flat.categories(j);
      if (categories.empty()) continue;
      const auto p = flat.probabilities(j);
      for (std::size_t v = 0; v < categories.size(); ++v) {
        double count = 0;
        for (const auto &row : drawn) count += row[std::size_t(j)] == categories[v];
        // 5 standard errors
        BOOST_TEST(std::abs(count / n - p[v]) < 5 * std::sqrt(p[v] * (1 - p[v]) / n) + 1e-12,
                   asked.name);
      }
    }
  }
}

// Two draws of one normal each. An average of what both say of y would be 2.5 or so; x = 100
// excludes the first draw.
BOOST_AUTO_TEST_CASE(evidence_weights_draws) {
  NormalPoint point{full_covariance, Matrix(2, 2), {Matrix::Identity(2, 2), Matrix(2, 2)}};
  point.mean << 0, 100, 0, 5;
  point.covariance[1] << 1, 0.5, 0.5, 1;
  RowDistribution rows({}, 2, flat_components({1, 1}, 2));
  rows.add(row_part(all_elements(2), point));
  rows.condition(std::vector<double>{101, hole});
  BOOST_TEST(number_given(rows, 1, 0.9).mean == 5.5);
  BOOST_TEST(value_given(rows, 1) == 5.5);
  rows.condition(std::vector<double>{hole, hole});
  BOOST_TEST(std::abs(number_given(rows, 1, 0.9).mean - 2.5) < 1e-12);
  // Halfway both draws have the same density of x.
  rows.condition(std::vector<double>{50, hole});
  BOOST_TEST(std::abs(rows.weights()[0] - 0.5) < 1e-12);
  // Densities of rows far away do not underflow to nothing, nor do their differences.
  for (const double far : {1e8, 1e10, 1e100, -1e150}) {
    rows.condition(std::vector<double>{far, hole});
    BOOST_TEST(rows.active().size() >= 1);
    const NumberGiven of = number_given(rows, 1, 0.9);
    BOOST_TEST((std::isfinite(of.sd) && of.lower <= of.median && of.median <= of.upper));
  }
}

BOOST_AUTO_TEST_CASE(two_groups_show_in_the_interval) {
  NormalPoint point{
      full_covariance, Matrix(1, 2), {Matrix::Identity(1, 1), Matrix::Identity(1, 1)}};
  point.mean << -10, 10;
  RowDistribution rows({}, 1, flat_components({0.5, 0.5}, 1));
  rows.add(row_part(all_elements(1), point));
  rows.condition(std::vector<double>{hole});
  const NumberGiven of = number_given(rows, 0, 0.9);
  BOOST_TEST(std::abs(of.lower + 11.2815515655446) < 1e-9);
  BOOST_TEST(std::abs(of.upper - 11.2815515655446) < 1e-9);
  BOOST_TEST(std::abs(of.sd - std::sqrt(101.0)) < 1e-12);
}

BOOST_AUTO_TEST_CASE(models_of_other_families_refuse) {
  class Other final : public Model {
    void write(Document &) const override {}
  } other;
  other.info.family = "linreg";
  BOOST_CHECK_EXCEPTION(other.row_distribution(), Error, [](const Error &error) {
    return error.code() == Errc::wrong_family &&
           error.detail() == "Models of gmm, bmm, dpmm and nb are, and hmm of steps.";
  });
}

BOOST_AUTO_TEST_SUITE_END()
