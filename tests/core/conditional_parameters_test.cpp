// Conditional models: their parameters against draws of those of their base and against textbook
// formulas; their documents, and forged ones.
//
// Draws have fixed seeds; each statistical check has a false-alarm rate of 1e-5 over the choice of
// the seed.
#include "conditional_support.hpp"
#include "families/normal/normal_draw.hpp"
#include "mixture/gmm_state.hpp"
#include "questions/make.hpp"

using namespace bayes;
using namespace questions;

namespace {

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

BOOST_AUTO_TEST_SUITE(conditional_parameters)

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
        if (shape.dense)
          BOOST_TEST(support::scaled_gap(uniform[p]) < support::largest_gap, shape.name << p);
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
    // What is left is the probability of a new cluster.
    std::vector<double> p(std::size_t(model->outcomes()));
    model->probabilities(std::vector<double>(std::size_t(model->info.dimension), hole), p);
    if (asked.model->info.family == "dpmm") weight += p.back();
    BOOST_TEST(std::abs(weight - 1) < 1e-9, asked.name);
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
           {with("base", Document(document).set("trace", Document::List()).set("seconds", 0.0)),
            "base"},
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
