// Conditional models: against the questions to their base with the same columns given, and textbook
// formulas of conditional normals.
//
// Draws have fixed seeds; each statistical check has a false-alarm rate of 1e-5 over the choice of
// the seed.
#include "base/unseen.hpp"
#include "conditional_support.hpp"
#include "questions/anomaly.hpp"
#include "questions/box.hpp"
#include "questions/dependence.hpp"
#include "questions/label_part.hpp"
#include "questions/make.hpp"

using namespace bayes;
using namespace questions;

BOOST_AUTO_TEST_SUITE(conditional)

// Whichever of the remaining elements are missing: so conditioning and marginalising commute.
BOOST_AUTO_TEST_CASE(densities_are_those_given_the_same_columns) {
  for (Asked &asked : all_models()) {
    RowDistribution &flat = *asked.distribution;
    double worst = 0, away = 0;
    each_pattern(asked, [&](const std::vector<double> &x, unsigned pattern) {
      const auto known = with_holes(x, ~pattern);
      const auto model = given(asked, known);
      const auto rows = model->row_distribution();
      BOOST_REQUIRE(rows->dimension() == int(remaining(x, pattern).size()));
      const bool class_remains = has_class(asked) && !(pattern >> (x.size() - 1) & 1);
      BOOST_TEST(model->info.dimension == rows->dimension() - class_remains);
      for (unsigned missing = 0; missing < 1u << x.size(); ++missing) {
        if (missing & pattern) continue;
        const auto part = with_holes(x, missing);
        const double found = rows->log_density(rows->checked(remaining(part, pattern)));
        worst =
            std::max(worst, std::abs(found - flat.log_density(with_holes(part, pattern), known)));
        away = std::max(
            away, std::abs(found - own_log_density(asked, part) + own_log_density(asked, known)));
      }
      // the model's own function, without a class
      auto features = remaining(x, pattern);
      features.resize(std::size_t(model->info.dimension));
      auto row = features;
      row.resize(std::size_t(rows->dimension()), hole);
      BOOST_TEST(model->log_density(features) == rows->log_density(row));
    });
    BOOST_TEST(worst < 1e-10, asked.name << ": " << worst);
    BOOST_TEST(away < 1e-9, asked.name << ": " << away);
  }
}

// The errors of the base are not those of a ratio of two averages.
BOOST_AUTO_TEST_CASE(have_no_monte_carlo_errors) {
  for (Asked &asked : all_models())
    each_pattern(asked, [&](const std::vector<double> &x, unsigned pattern) {
      const auto model = given(asked, with_holes(x, ~pattern));
      std::vector<double> rest = remaining(x, pattern);
      rest.resize(std::size_t(model->info.dimension));
      bayes::Control control;
      BOOST_CHECK_THROW(model->mcse(rest, control), bayes::Error);
    });
}

BOOST_AUTO_TEST_CASE(conditioning_twice_is_conditioning_on_both) {
  for (Asked &asked : all_models())
    each_pattern(asked, [&](const std::vector<double> &x, unsigned pattern) {
      const auto once = given(asked, with_holes(x, ~pattern));
      const unsigned first = pattern & 0x15;
      if (first == 0 || first == pattern) return;
      auto twice = given(asked, with_holes(x, ~first));
      const auto rest = remaining(with_holes(x, ~(pattern & ~first)), first);
      twice = condition(std::move(twice), rest);
      BOOST_TEST(twice->same_content(*once), asked.name);
      BOOST_TEST(dynamic_cast<const ConditionalModel &>(*twice).base().info.family ==
                 asked.model->info.family);
    });
}

BOOST_AUTO_TEST_CASE(they_are_stored_and_read) {
  for (Asked &asked : all_models())
    each_pattern(asked, [&](const std::vector<double> &x, unsigned pattern) {
      const auto model = given(asked, with_holes(x, ~pattern));
      model->info.seconds = 1.5;
      const auto read = copy_of(*model);
      BOOST_TEST(read->same_content(*model), asked.name);
      BOOST_TEST(read->info.seconds == 1.5);
      BOOST_TEST(read->trace.size() == asked.model->trace.size());
      BOOST_TEST(read->draws.values.size() == asked.model->draws.values.size());
      BOOST_TEST(model->info.family == "conditional");
      BOOST_TEST(model->info.rows == asked.model->info.rows);
      BOOST_TEST(model->stored_draws() == asked.model->stored_draws());
    });
}

BOOST_AUTO_TEST_CASE(answers_are_those_given_the_same_columns) {
  for (Asked &asked : all_models()) {
    RowDistribution &flat = *asked.distribution;
    each_pattern(asked, [&](const std::vector<double> &x, unsigned pattern) {
      const auto known = with_holes(x, ~pattern);
      const auto model = given(asked, known);
      const auto own = model->row_distribution();
      const auto nothing = std::vector<double>(std::size_t(own->dimension()), hole);
      std::vector<int> places;
      for (int j = 0; j < flat.dimension(); ++j)
        if (!(pattern >> j & 1)) places.push_back(j);
      flat.condition(known);
      own->condition(nothing);
      for (std::size_t i = 0; i < places.size(); ++i) {
        const int j = places[i];
        BOOST_TEST(own->categories(int(i)) == flat.categories(j));
        BOOST_TEST(std::abs(value_given(*own, int(i)) - value_given(flat, j)) < 1e-10, asked.name);
        if (!flat.categories(j).empty()) {
          const auto found = own->probabilities(int(i)), expected = flat.probabilities(j);
          for (std::size_t v = 0; v < found.size(); ++v)
            BOOST_TEST(std::abs(found[v] - expected[v]) < 1e-10, asked.name);
          BOOST_TEST(own->label(int(i), flat.categories(j)[0]) ==
                     flat.label(j, flat.categories(j)[0]));
          continue;
        }
        const NumberGiven found = number_given(*own, int(i), 0.8),
                          expected = number_given(flat, j, 0.8);
        BOOST_TEST(std::abs(found.lower - expected.lower) < 1e-10 * (1 + std::abs(expected.lower)));
        if (!std::isnan(expected.sd)) BOOST_TEST(std::abs(found.sd / expected.sd - 1) < 1e-10);
      }
      for (std::uint64_t i = 0; i < 3; ++i) {
        Random random(7, i), again(7, i);
        auto drawn = nothing, expected = known;
        flat.condition(known);
        own->condition(nothing);
        BOOST_TEST(own->draw(random, drawn) == flat.draw(again, expected));
        BOOST_TEST(drawn == remaining(expected, pattern), asked.name);
      }
      const auto other = support::row(asked.rows, 5);
      auto merged = other;
      for (std::size_t j = 0; j < x.size(); ++j)
        if (pattern >> j & 1) merged[j] = x[j];
      BOOST_TEST(std::abs(similarity(*own, remaining(x, pattern), remaining(other, pattern)) -
                          similarity(flat, x, merged)) < 1e-10,
                 asked.name);
      const Surprise found = surprise(*own, remaining(x, pattern), 0, 0.9),
                     expected = surprise(flat, x, places[0], 0.9);
      BOOST_TEST(std::abs(found.nats - expected.nats) < 1e-9, asked.name);
      BOOST_TEST(std::abs(found.tail - expected.tail) < 1e-9, asked.name);
      // Estimates of boxes depend on weights in rounding errors only.
      const std::vector<double> whole(x.size(), hole);
      auto lower = whole;
      if (flat.categories(places[0]).empty())
        lower[std::size_t(places[0])] = x[std::size_t(places[0])];
      BOOST_TEST(std::abs(box_probability(*own, remaining(lower, pattern), nothing, nothing).value -
                          box_probability(flat, lower, whole, known).value) < 1e-9,
                 asked.name);
    });
  }
}

BOOST_AUTO_TEST_CASE(components_have_the_probabilities_of_whole_rows) {
  for (Asked &asked : all_models())
    each_pattern(asked, [&](const std::vector<double> &x, unsigned pattern) {
      const auto model = given(asked, with_holes(x, ~pattern));
      auto features = remaining(x, pattern), whole = x;
      features.resize(std::size_t(model->info.dimension));
      whole.resize(std::size_t(asked.model->info.dimension));
      std::vector<double> found(std::size_t(model->outcomes())),
          expected(std::size_t(asked.model->outcomes()));
      model->probabilities(features, found);
      asked.model->probabilities(whole, expected);
      BOOST_REQUIRE(found.size() == expected.size());
      const bool class_given = has_class(asked) && pattern >> (x.size() - 1) & 1;
      for (std::size_t k = 0; k < found.size(); ++k)
        BOOST_TEST(
            std::abs(found[k] - (class_given ? double(k + 1 == x.back()) : expected[k])) < 1e-10,
            asked.name);
      const auto predicted = model->predict_row(features, 0.9);
      BOOST_TEST(predicted->component == model->predict(features));
      if (!class_given) BOOST_TEST(predicted->component == asked.model->predict(whole));
      BOOST_TEST((predicted->label != nullptr) == has_class(asked));
      if (predicted->label)
        BOOST_TEST(*predicted->label ==
                   asked.distribution->label(int(x.size()) - 1, predicted->component + 1));
    });
}

// Two draws of one normal each; x = 101 excludes the first, of which all would otherwise be half.
BOOST_AUTO_TEST_CASE(evidence_excludes_a_draw) {
  NormalPoint point{full_covariance, Matrix(2, 2), {Matrix::Identity(2, 2), Matrix(2, 2)}};
  point.mean << 0, 100, 0, 5;
  point.covariance[1] << 1, 0.5, 0.5, 1;
  RowDistribution rows({}, 2, flat_components({1, 1}, 2));
  rows.add(row_part(all_elements(2), point));
  rows.fix(std::vector<double>{101, hole});
  BOOST_TEST(rows.dimension() == 1);
  BOOST_TEST(rows.components()[0].weight < 1e-300);
  BOOST_TEST(rows.components()[1].weight == 1);
  const std::vector<double> nothing = {hole};
  rows.condition(nothing);
  BOOST_TEST(number_given(rows, 0, 0.9).mean == 5.5);
  std::vector<double> drawn = {hole};
  Random random(1, 1);
  double sum = 0;
  for (int i = 0; i < 400; ++i, drawn = {hole}) {
    rows.draw(random, drawn);
    sum += drawn[0] / 400;
  }
  // 4.5 standard errors
  BOOST_TEST(std::abs(sum - 5.5) < 4.5 * std::sqrt(0.75 / 400));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused) {
  RowDistribution rows({}, 3, flat_components({0.5, 0.5}, 1));
  for (int j = 0; j < 3; ++j) rows.add(std::make_unique<LabelPart>(j, 2, 1));
  BOOST_CHECK_EXCEPTION(rows.fix(std::vector<double>{1, 2, hole}), Error,
                        [](const Error &error) { return error.code() == Errc::numeric; });
}

BOOST_AUTO_TEST_CASE(nothing_given_and_everything_given) {
  for (Asked &asked : all_models()) {
    const auto x = support::row(asked.rows, 0);
    BOOST_TEST(given(asked, std::vector<double>(x.size(), hole))->same_content(*asked.model));
    BOOST_CHECK_EXCEPTION(given(asked, x), Error, [](const Error &error) {
      return error.code() == Errc::invalid_argument && !error.hint().empty();
    });
  }
}

// An unknown category: its column is gone, and nothing is known of the others.
BOOST_AUTO_TEST_CASE(unknown_labels_leave_out_their_column) {
  for (Asked &asked : all_models()) {
    RowDistribution &flat = *asked.distribution;
    for (int j = 0; j < flat.dimension(); ++j) {
      if (flat.categories(j).size() < 3 || (has_class(asked) && j == 5)) continue;
      auto x = support::row(asked.rows, 0), known = std::vector<double>(x.size(), hole);
      known[std::size_t(j)] = 17;
      const auto model = given(asked, known);
      const auto rows = model->row_distribution();
      BOOST_TEST(rows->dimension() == flat.dimension() - 1);
      x[std::size_t(j)] = hole;
      BOOST_TEST(std::abs(rows->log_density(remaining(x, 1u << j)) - flat.log_density(x)) < 1e-12);
      BOOST_TEST(copy_of(*model)->same_content(*model));
      const auto again = condition(copy_of(*model), remaining(with_holes(x, ~1u), 1u << j));
      BOOST_TEST(again->info.dimension == model->info.dimension - 1);
    }
  }
}

// ---- strangeness ----

// Of one element a Student t or a normal is strange on both sides.
BOOST_AUTO_TEST_CASE(strangeness_of_one_conditional_normal_is_exact) {
  for (const char *method : {"em", "vi"})
    for (const char *shape : {"full", "tied", "spherical"}) {
      const Matrix x = support::normal_rows(30, 3, 4, 1);
      Asked asked{"", support::fit(x, 1, {{"method", method}, {"covariance", shape}}), x};
      asked.distribution = asked.model->row_distribution();
      for (Eigen::Index i = 0; i < 8; ++i) {
        auto row = support::row(x, i);
        row[1] *= 1 + double(i);
        const auto known = with_holes(row, 2);
        const auto model = given(asked, known);
        const auto rows = model->row_distribution();
        asked.distribution->condition(known);
        const double below = asked.distribution->predicted(1)[0].probability_below(row[1]),
                     found = Anomalies(*rows).probability(std::vector<double>{row[1]});
        BOOST_TEST(std::abs(found - 2 * std::min(below, 1 - below)) < 1e-9, method << shape);
      }
      // Of two elements it is uniform.
      const auto model = given(asked, with_holes(support::row(x, 0), 6));
      const auto rows = model->row_distribution();
      Anomalies anomalies(*rows);
      std::vector<double> uniforms, drawn(2);
      for (int n = 0; n < 1000; ++n) {
        rows->sample(4, n, drawn);
        uniforms.push_back(anomalies.probability(drawn));
      }
      BOOST_TEST(support::scaled_gap(uniforms) < support::largest_gap, method << shape);
    }
}

// One class is left of a classifier, and of its elements two that are normal together.
BOOST_AUTO_TEST_CASE(strangeness_within_a_class_is_exact) {
  for (Asked &asked : all_models()) {
    if (asked.name != "nb full") continue;
    const auto x = support::row(asked.rows, 0);
    const auto two = given(asked, with_holes(x, 0b011000));
    const auto rows = two->row_distribution();
    Anomalies anomalies(*rows);
    std::vector<double> uniforms, drawn(std::size_t(rows->dimension()));
    for (int n = 0; n < 1000; ++n) {
      rows->sample(4, n, drawn);
      uniforms.push_back(anomalies.probability(std::span(drawn).first(2)));
    }
    BOOST_TEST(support::scaled_gap(uniforms) < support::largest_gap);
    // With one element left it is that of both sides.
    const auto model = given(asked, with_holes(x, 0b010000));
    const auto one = model->row_distribution();
    one->condition(std::vector<double>{hole});
    const double below = one->predicted(0)[0].probability_below(x[4]);
    BOOST_TEST(std::abs(Anomalies(*one).probability(std::vector<double>{x[4]}) -
                        2 * std::min(below, 1 - below)) < 1e-9);
  }
}

BOOST_AUTO_TEST_CASE(mutual_information_is_of_partial_correlations) {
  const Matrix x = support::normal_rows(60, 3, 4, 1);
  Asked asked{"", support::fit(x, 1, {{"method", "em"}, {"covariance", "full"}}), x};
  asked.distribution = asked.model->row_distribution();
  const auto model = given(asked, with_holes(support::row(x, 0), 3));
  const auto rows = model->row_distribution();
  const auto c = static_cast<const GaussianMixture &>(*asked.model).component(0).covariance;
  const auto correlation = [&c](std::size_t i, std::size_t j) {
    return c[3 * i + j] / std::sqrt(c[4 * i] * c[4 * j]);
  };
  const double third[] = {correlation(0, 2), correlation(1, 2)},
               rho = (correlation(0, 1) - third[0] * third[1]) /
                     std::sqrt((1 - third[0] * third[0]) * (1 - third[1] * third[1]));
  mutual_information(*rows, [&](const MutualInformation &of) {
    if (of.first < of.second) BOOST_TEST(std::abs(of.nats + 0.5 * std::log(1 - rho * rho)) < 1e-10);
  });
}

BOOST_AUTO_TEST_SUITE_END()
