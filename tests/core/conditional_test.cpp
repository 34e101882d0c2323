// Conditional models: against the questions to their base with the same columns given, textbook
// formulas of conditional normals, and draws of parameters.
//
// Draws have fixed seeds; each statistical check has a false-alarm rate of 1e-5 over the choice of
// the seed.
#include "base/unseen.hpp"
#include "families/normal/normal_draw.hpp"
#include "mixture/gmm_state.hpp"
#include "questions/anomaly.hpp"
#include "questions/box.hpp"
#include "questions/conditional_model.hpp"
#include "questions/dependence.hpp"
#include "questions/label_part.hpp"
#include "questions/make.hpp"
#include "questions_support.hpp"

using namespace bayes;
using namespace questions;

namespace {

std::unique_ptr<Model> copy_of(const Model &model) { return Model::from_bytes(model.to_bytes()); }

std::unique_ptr<Model> given(const Asked &asked, const std::vector<double> &row) {
  const auto checked = asked.distribution->checked(row);
  return condition(copy_of(*asked.model), std::vector<double>(checked.begin(), checked.end()));
}

/// The elements of x that `pattern` has no bits for.
std::vector<double> remaining(const std::vector<double> &x, unsigned pattern) {
  std::vector<double> out;
  for (std::size_t j = 0; j < x.size(); ++j)
    if (!(pattern >> j & 1)) out.push_back(x[j]);
  return out;
}

/// Calls use(x, pattern) for a few rows and every pattern of given elements that leaves some.
template <class Use> void each_pattern(const Asked &asked, Use use) {
  const unsigned whole = (1u << asked.rows.cols()) - 1;
  for (Eigen::Index i = 0; i < 2; ++i)
    for (unsigned pattern = 1; pattern < whole; ++pattern) use(support::row(asked.rows, i), pattern);
}

std::vector<Parameter> parameters(const Model &model, double level = 0.9) {
  std::vector<Parameter> out;
  model.describe_parameters(level, [&out](const Parameter &each) { out.push_back(each); });
  return out;
}

const Parameter &named(const std::vector<Parameter> &all, int component, int element,
                       const std::string &name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Parameter &each) {
    return each.component == component && each.element == element && each.name == name;
  });
  BOOST_REQUIRE(found != all.end());
  return *found;
}

double largest_gap(std::vector<double> uniforms) {
  std::sort(uniforms.begin(), uniforms.end());
  const double n = double(uniforms.size());
  double away = 0;
  for (std::size_t i = 0; i < uniforms.size(); ++i)
    away = std::max({away, uniforms[i] - double(i) / n, double(i + 1) / n - uniforms[i]});
  // Kolmogorov-Smirnov, with Stephens' correction; beyond 2.4705 with probability 1e-5
  return away * (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n));
}

NormalWishart some_posterior(const CovarianceShape &shape) {
  Matrix m(3, 1), scale(3, 3);
  m << 1, -2, 3;
  scale << 4, 1.5, -1, 1.5, 3, 0.5, -1, 0.5, 5;
  const bool dense = shape.dense;
  return {shape,
          m,
          Vector::Constant(1, 2.5),
          Vector::Constant(1, 9.0),
          {dense ? scale : Matrix(Matrix::Constant(1, 1, 6.0))}};
}

}  // namespace

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
      for (unsigned missing = 0; missing < 1u << x.size(); ++missing) {
        if (missing & pattern) continue;
        const auto part = with_holes(x, missing);
        const double found = rows->log_density(rows->checked(remaining(part, pattern)));
        worst = std::max(worst, std::abs(found - flat.log_density(with_holes(part, pattern),
                                                                  known)));
        away = std::max(away, std::abs(found - own_log_density(asked, part) +
                                       own_log_density(asked, known)));
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
        std::vector<double> sampled(std::size_t(model->info.dimension));
        model->sample(7, std::int64_t(i), sampled);
        drawn.resize(sampled.size());
        BOOST_TEST(sampled == drawn);
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
      if (flat.categories(places[0]).empty()) lower[std::size_t(places[0])] = x[std::size_t(places[0])];
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
        BOOST_TEST(std::abs(found[k] - (class_given ? double(k + 1 == x.back()) : expected[k])) <
                       1e-10,
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
  BOOST_CHECK_EXCEPTION(rows.fix(std::vector<double>{1, 2, hole}), Error, [](const Error &error) {
    return error.code() == Errc::numeric;
  });
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
        model->sample(4, n, drawn);
        uniforms.push_back(anomalies.probability(drawn));
      }
      BOOST_TEST(largest_gap(uniforms) < 2.4705, method << shape);
    }
}

// One class is left of a classifier, and of its elements two that are normal together.
BOOST_AUTO_TEST_CASE(strangeness_within_a_class_is_exact) {
  for (Asked &asked : all_models()) {
    if (asked.name != "nb full") continue;
    auto known = support::row(asked.rows, 0);
    const auto model = given(asked, with_holes(known, 0b011001 | 0b100));
    BOOST_TEST(model->info.dimension == 4);
    const auto two = given(asked, with_holes(known, 0b011000));
    const auto rows = two->row_distribution();
    Anomalies anomalies(*rows);
    std::vector<double> uniforms, drawn(2);
    bool beyond = false;
    for (int n = 0; n < 1000; ++n) {
      two->sample(4, n, drawn);
      uniforms.push_back(anomalies.probability(drawn));
    }
    BOOST_TEST(largest_gap(uniforms) < 2.4705);
    // Draws have no probability below 1e-4.
    beyond = anomalies.probability(std::vector<double>{1e6, -1e6}) < 1e-9;
    BOOST_TEST(beyond);
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
    if (of.first < of.second)
      BOOST_TEST(std::abs(of.nats + 0.5 * std::log(1 - rho * rho)) < 1e-10);
  });
}

// ---- parameters ----

// Draws of mean and precision, and of each the regression of two elements on the third. With one
// variance for all elements the known one tells of it, so draws are weighted by its density.
BOOST_AUTO_TEST_CASE(parameters_have_the_posterior_of_the_regression) {
  for (const CovarianceShape &shape : {full_covariance, spherical_covariance}) {
    const NormalWishart q = some_posterior(shape);
    const double x = 4;
    RowDistribution rows({}, 3, flat_components({1}, 1));
    rows.add(row_part(all_elements(3), q));
    rows.fix(std::vector<double>{x, hole, hole});
    rows.condition(std::vector<double>{hole, hole});
    for (int element = 0; element < 2; ++element) {
      std::vector<Parameter> parameters;
      std::vector<Marginal> posteriors;
      rows.parameters(0, element, parameters, posteriors);
      BOOST_REQUIRE(posteriors.size() == 2);
      constexpr int n = 20000;
      std::vector<double> uniform[2];
      double weight = 0, weights = 0, below[2][3] = {};
      const double points[] = {0.2, 0.5, 0.8};
      for (int i = 0; i < n; ++i) {
        Random random(9, std::uint64_t(i));
        const NormalPoint point = draw(q, random);
        const Matrix c = dense_form(shape, point.covariance[0], 3);
        const int j = element + 1;
        const double slope = c(j, 0) / c(0, 0), away = x - point.mean(0, 0),
                     found[] = {point.mean(j, 0) + slope * away,
                                std::sqrt(c(j, j) - slope * c(j, 0))},
                     w = shape.dense ? 1
                                     : std::exp(-0.5 * away * away / c(0, 0)) / std::sqrt(c(0, 0));
        weight += w;
        weights += w * w;
        for (int p = 0; p < 2; ++p) {
          const double u = posteriors[std::size_t(p)].probability_below(found[p]);
          uniform[p].push_back(u);
          for (int k = 0; k < 3; ++k) below[p][k] += w * (u <= points[k]);
        }
      }
      for (int p = 0; p < 2; ++p) {
        if (shape.dense) BOOST_TEST(largest_gap(uniform[p]) < 2.4705, shape.name << p);
        // 5 standard errors of the effective number of draws
        for (int k = 0; k < 3; ++k)
          BOOST_TEST(std::abs(below[p][k] / weight - points[k]) <
                         5 * 0.5 / std::sqrt(weight * weight / weights),
                     shape.name << p << " " << points[k]);
      }
    }
  }
}

// After sampling: draws weighted by what they say of the known element.
BOOST_AUTO_TEST_CASE(parameters_are_averaged_over_weighted_draws) {
  for (Asked &asked : all_models()) {
    if (asked.name != "gmm full gibbs") continue;
    auto x = support::row(asked.rows, 0);
    x[2] += 2;  // draws differ in what they say of it
    const auto model = given(asked, with_holes(x, 3));
    const auto &draws = *static_cast<const GaussianMixture &>(*asked.model).state->fitted.draws;
    const NormalWishart &q = draws.components;
    const auto found = parameters(*model);
    double whole = 0, of_component[2] = {}, mean[2] = {}, plain[2] = {};
    for (int s = 0; s < draws.draws; ++s) {
      double evidence = 0;
      for (int k = 0; k < 2; ++k) {
        // Student t of the third element
        const int i = 2 * s + k;
        const double nu = q.a(i) - 2, b = q.B[std::size_t(i)](2, 2),
                     square = b * (q.c(i) + 1) / (q.c(i) * nu), away = x[2] - q.m(2, i),
                     density = std::exp(std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2)) /
                               std::sqrt(nu * std::acos(-1.0) * square) *
                               std::pow(1 + away * away / square / nu, -(nu + 1) / 2),
                     joint = draws.weights[std::size_t(i)] / draws.draws * density;
        of_component[k] += joint;
        evidence += joint;
      }
      whole += evidence;
      for (int k = 0; k < 2; ++k) {
        const int i = 2 * s + k;
        const Matrix &b = q.B[std::size_t(i)];
        const double at = q.m(0, i) + b(0, 2) / b(2, 2) * (x[2] - q.m(2, i));
        mean[k] += evidence * at;
        plain[k] += at / draws.draws;
      }
    }
    for (int k = 0; k < 2; ++k) {
      BOOST_TEST(std::abs(named(found, k, -1, "weight").value - of_component[k] / whole) < 1e-10);
      const Parameter &of = named(found, k, 0, "mean");
      BOOST_TEST(std::abs(of.value - mean[k] / whole) < 1e-10);
      // a plain average would be noticed
      BOOST_TEST(std::abs(of.value - plain[k]) > 1e-6);
      BOOST_TEST((of.lower < of.value && of.value < of.upper && of.deviation > 0));
      BOOST_TEST(of.known_by == std::string(Parameter::draws));
    }
  }
}

// Every component and every column have parameters; columns that do not depend on the known ones
// within the component keep theirs.
BOOST_AUTO_TEST_CASE(parameters_of_every_model) {
  for (Asked &asked : all_models()) {
    const auto own = parameters(*asked.model);
    const auto model = given(asked, with_holes(support::row(asked.rows, 0), ~1u));
    const auto found = parameters(*model);
    double weight = 0;
    for (int k = 0; k < model->info.components; ++k) {
      weight += named(found, k, -1, "weight").value;
      for (int j = 0; j < model->info.dimension; ++j)
        BOOST_TEST(std::any_of(found.begin(), found.end(), [&](const Parameter &each) {
          return each.component == k && each.element == j && std::isfinite(each.value);
        }));
    }
    if (asked.model->info.family != "dpmm") BOOST_TEST(std::abs(weight - 1) < 1e-9, asked.name);
    const bool independent = asked.name.find("full") == std::string::npos &&
                             asked.name.find("tied") == std::string::npos &&
                             asked.name.find("spherical") == std::string::npos &&
                             asked.name.find("independent") == std::string::npos &&
                             asked.name.find("normal") == std::string::npos &&
                             asked.name.find("kmeans") == std::string::npos;
    // Those of draws have other weights; those of q are corrected in the base, but for the means.
    if (!independent || is_sampler(model->info.method)) continue;
    for (const Parameter &each : found) {
      if (each.element < 0) continue;
      const auto same = std::find_if(own.begin(), own.end(), [&](const Parameter &other) {
        return other.component == each.component && other.element == each.element + 1 &&
               other.name == std::string(each.name) &&
               (other.category == each.category || std::isnan(each.category));
      });
      BOOST_REQUIRE((same != own.end()));
      if (!each.root || std::isnan(each.deviation))
        BOOST_TEST(std::abs(each.value - same->value) < 1e-10 * (1 + std::abs(same->value)),
                   asked.name << " " << each.name);
      BOOST_TEST(each.likelihood == std::string(same->likelihood));
    }
  }
}

BOOST_AUTO_TEST_CASE(weighted_mixtures_are_those_of_repeated_parts) {
  const std::vector<Marginal> two = {{Marginal::Kind::student, 5, 1, 0},
                                     {Marginal::Kind::student, 7, 0.5, 3}},
                              four = {two[0], two[1], two[1], two[1]};
  const std::vector<double> weights = {0.25, 0.75};
  const MarginalMixture weighted(two, weights), plain(four);
  BOOST_TEST(std::abs(weighted.mean() - plain.mean()) < 1e-14);
  BOOST_TEST(std::abs(weighted.deviation() - plain.deviation()) < 1e-14);
  for (const double p : {0.01, 0.3, 0.9})
    BOOST_TEST(std::abs(weighted.quantile(p) - plain.quantile(p)) < 1e-9);
}

// ---- documents ----

BOOST_AUTO_TEST_CASE(forged_documents_are_refused) {
  const Asked &asked = *std::find_if(all_models().begin(), all_models().end(),
                                     [](const Asked &each) { return each.name == "bmm vi"; });
  const auto model = given(asked, with_holes(support::row(asked.rows, 0), 3));
  const Document document = model->to_document();
  BOOST_TEST(Model::from_document(document)->same_content(*model));
  const auto numbers = [](std::vector<double> values) {
    return Tensor{{std::int64_t(values.size())}, values};
  };
  const auto elements = [&](std::vector<double> of, std::vector<double> values) {
    Document out = document;
    return out.set("given", Document::object()
                                .set("elements", numbers(std::move(of)))
                                .set("values", numbers(std::move(values))));
  };
  const auto with = [&](const char *member, Document value) {
    Document out = document;
    return out.set(member, std::move(value));
  };
  const auto in_base = [&](const char *member, Document value) {
    Document base = *document.find("base");
    return with("base", base.set(member, std::move(value)));
  };
  const Matrix x = support::normal_rows(20, 2, 3, 1);
  const auto gmm = support::fit(x, 1, {{"method", "em"}});
  for (const auto &[forged, names] : std::vector<std::pair<Document, const char *>>{
           {with("base", document), "base"},
           {with("base", gmm->to_document()), "base"},
           {in_base("family", "linreg"), "member"},
           {in_base("seconds", 1.0), "base"},
           {in_base("trace", Document::List{Document::List{-1.0}}), "base"},
           {elements({3, 3}, {0, 0}), "given.elements"},
           {elements({4, 3}, {0, 0}), "given.elements"},
           {elements({3.5, 4}, {0, 0}), "given.elements"},
           {elements({0, 4}, {0, 0}), "given.elements"},
           {elements({3, 5}, {0, 0}), "given.elements"},
           {elements({3, 4}, {0}), "given.values"},
           {elements({3, 4}, {0, 17}), "given.values"},
           {elements({1, 4}, {0.5, 0}), "must be"},
           {elements({3}, {0}), "dimension"},
           {elements({1, 2, 3, 4}, {0, 1, 0, 1}), "nothing remains"},
           {with("given", Document::object()), "given"},
           {with("given", Document::object().set("unknown", numbers({2, 3}))), "given.unknown"},
           {with("given", Document::object().set("unknown", numbers({3, 4}))), "given.unknown"},
           {with("given", Document()), "given"},
           {with("dimension", 3), "dimension"},
           {with("components", 1), "components"},
           {with("method", "em"), "method"},
           {with("other", 1), "other"},
           {in_base("other", 1), "other"},
           {with("row_columns",
                 Document::List{Document::object().set("name", "a").set("kind", "number"),
                                Document::object().set("name", "b").set("kind", "number")}),
            "row_columns"},
           {with("checkpoint", Document::object()), "checkpoint"}})
    BOOST_CHECK_EXCEPTION(Model::from_document(forged), Error, [&](const Error &error) {
      BOOST_TEST(std::string(error.what()).find(names) != std::string::npos,
                 names << ": " << error.what());
      return error.code() == Errc::invalid_text;
    });
}

BOOST_AUTO_TEST_SUITE_END()
