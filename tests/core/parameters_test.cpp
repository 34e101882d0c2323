// The posterior of single parameters: marginals against quadrature and against draws of all
// parameters, averages over draws, linear response, and what models say of their parameters.
#include "bmm_support.hpp"
#include "dpmm_support.hpp"
#include "families/normal/normal_draw.hpp"
#include "families/normal/normal_parameters.hpp"
#include "families/product/product_parameters.hpp"
#include "hmm_support.hpp"
#include "product_support.hpp"

namespace {

using namespace bayes;
using Kind = Marginal::Kind;
using support::Options;
using support::with;

/// The density, from its definition.
double density(const Marginal &m, double x) {
  const double a = m.a, b = m.b;
  switch (m.kind) {
    case Kind::beta:
      return std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + (a - 1) * std::log(x) +
                      (b - 1) * std::log1p(-x));
    case Kind::gamma:
      return std::exp(a * std::log(b) - std::lgamma(a) + (a - 1) * std::log(x) - b * x);
    case Kind::student: {
      const double y = (x - m.location) / b;
      return std::exp(std::lgamma((a + 1) / 2) - std::lgamma(a / 2)) / std::sqrt(a * M_PI) / b *
             std::pow(1 + y * y / a, -(a + 1) / 2);
    }
    case Kind::normal: {
      const double y = (x - m.location) / b;
      return std::exp(-y * y / 2) / std::sqrt(2 * M_PI) / b;
    }
    case Kind::root: break;
  }
  // of the root of an inverse gamma variable with shape a / 2 and scale b / 2
  return 2 * std::exp(a / 2 * std::log(b / 2) - std::lgamma(a / 2) - (a + 1) * std::log(x) -
                      b / (2 * x * x));
}

/// The integral of f(x) density(x) up to x = `to`, by Simpson's rule on a scale without bounds.
template <class F> double integral(const Marginal &m, double to, F f) {
  const auto at = [&](double t) {
    double x, slope;
    if (m.kind == Kind::beta) {
      x = 1 / (1 + std::exp(-t));
      slope = x / (1 + std::exp(t));
    } else if (m.kind == Kind::gamma || m.kind == Kind::root) {
      x = slope = std::exp(t);
    } else {
      x = m.location + m.b * std::sinh(t);
      slope = m.b * std::cosh(t);
    }
    const double value = f(x) * density(m, x) * slope;
    return std::isfinite(value) ? value : 0;
  };
  const double high = m.kind == Kind::beta ? std::log(to / (1 - to))
                      : m.kind == Kind::gamma || m.kind == Kind::root
                          ? std::log(to)
                          : std::asinh((to - m.location) / m.b),
               low = high - 70;
  const int n = 100000;
  const double h = (high - low) / n;
  double sum = at(low) + at(high);
  for (int i = 1; i < n; ++i) sum += (i % 2 ? 4 : 2) * at(low + i * h);
  return sum * h / 3;
}

const std::vector<Marginal> some = {
    {Kind::beta, 0.7, 0.4},       {Kind::beta, 3, 40},       {Kind::beta, 200, 1.5},
    {Kind::gamma, 0.6, 3},        {Kind::gamma, 30, 0.01},   {Kind::student, 3.5, 2, -4},
    {Kind::student, 60, 0.1, 10}, {Kind::normal, 1, 0.3, 7}, {Kind::root, 5, 2},
    {Kind::root, 80, 400},        {Kind::root, 4.5, 0.01}};

bool close(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

std::vector<Parameter> described(const auto &model, std::optional<double> level = 0.95) {
  std::vector<Parameter> out;
  model.describe_parameters(level, [&](const Parameter &p) { out.push_back(p); });
  return out;
}

/// How far the share of `below` of n is from p, in standard errors.
double errors_of(double below, double n, double p) {
  return std::abs(below / n - p) / std::sqrt(p * (1 - p) / n);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(parameters)

// Caught: any wrong constant, a quantile of the wrong tail.
BOOST_AUTO_TEST_CASE(marginals_are_what_quadrature_says) {
  for (const Marginal &m : some) {
    for (const double p : {0.001, 0.025, 0.4, 0.975}) {
      const double x = m.quantile(p);
      BOOST_TEST(close(integral(m, x, [](double) { return 1; }), p, 1e-8));
      BOOST_TEST(close(m.probability_below(x), p, 1e-9));
    }
    const double far = m.kind == Kind::beta ? 1 - 1e-15 : m.quantile(1 - 1e-14),
                 mean = integral(m, far, [](double x) { return x; });
    BOOST_TEST(close(m.mean(), mean, 1e-4));
    if (m.kind == Kind::root && m.a < 5) continue;  // heavy tails
    if (m.kind == Kind::student && m.a < 5) continue;
    const double square =
        integral(m, far, [&](double x) { return (x - m.mean()) * (x - m.mean()); });
    BOOST_TEST(close(m.deviation(), std::sqrt(square), m.kind == Kind::root ? 0.01 : 1e-4));
  }
  // A root's are those of its square, which is inverse gamma.
  for (const double a : {4.5, 30.0, 9999.0, 10001.0, 1e9}) {
    const Marginal m{Kind::root, a, 3};
    BOOST_TEST(close(m.deviation() * m.deviation() + m.mean() * m.mean(), 3 / (a - 2), 1e-12));
  }
  BOOST_TEST(close((Marginal{Kind::root, 9999, 9999}).deviation(),
                   (Marginal{Kind::root, 10001, 10001}).deviation(), 1.1e-4));
  BOOST_TEST(std::isnan((Marginal{Kind::student, 2, 1}).deviation()));
  BOOST_TEST(std::isnan((Marginal{Kind::root, 2, 1}).deviation()));
  BOOST_TEST(std::isnan((Marginal{Kind::root, 1, 1}).mean()));
}

// Shapes from the smallest to the largest that a stored model can have.
BOOST_AUTO_TEST_CASE(marginals_know_every_shape) {
  for (const double p : {1e-6, 0.025, 0.5, 0.975}) {
    for (const double a : {1e-300, 1e-6, 1.0, 0.99e8, 1.01e8, 1e12, 1e15, 1e300})
      for (const double b : {1e-300, 1e-6, 1.0, 0.99e8, 1.01e8, 1e12, 1e15, 1e300}) {
        const double x = Marginal{Kind::beta, a, b}.quantile(p);
        BOOST_TEST_CONTEXT(a << " " << b << " " << p) BOOST_TEST((x >= 0 && x <= 1));
      }
    for (const double a : {1e-300, 1e-6, 1.0, 0.99e8, 1.01e8, 1e12, 1e15, 1e300})
      for (const Kind kind : {Kind::gamma, Kind::student, Kind::root})
        BOOST_TEST(!std::isnan((Marginal{kind, a, 1}).quantile(p)));
    // The approximations for large shapes begin where they agree with the distributions.
    const double before = 0.9999999e8, after = 1.0000001e8, z = normal_quantile(p);
    for (const double other : {before, 3e8, 1e11}) {
      const Marginal small{Kind::beta, before, other}, large{Kind::beta, after, other};
      const auto standard = [](const Marginal &m, double x) {
        return (x - m.mean()) / m.deviation();
      };
      BOOST_TEST(std::abs(standard(small, small.quantile(p)) - standard(large, large.quantile(p))) <
                 1e-6);
      BOOST_TEST(std::abs(large.probability_below(large.quantile(p)) / p - 1) < 1e-6);
    }
    for (const Kind kind : {Kind::gamma, Kind::root}) {
      const double factor = kind == Kind::root ? 2 : 1;
      const Marginal small{kind, factor * before, 1}, large{kind, factor * after, 1};
      BOOST_TEST(std::abs((small.quantile(p) - small.mean()) / small.deviation() -
                          (large.quantile(p) - large.mean()) / large.deviation()) < 1e-6);
      BOOST_TEST(std::abs(large.probability_below(large.quantile(p)) / p - 1) < 1e-6);
    }
    const Marginal rare{Kind::beta, 3, 1e13};
    BOOST_TEST(close(rare.quantile(p), (Marginal{Kind::gamma, 3, 1e13}).quantile(p), 1e-9));
    BOOST_TEST(std::abs((Marginal{Kind::student, 1e12, 1}).quantile(p) - z) < 1e-9);
  }
  BOOST_TEST((Marginal{Kind::beta, 3, 0}).quantile(0.1) == 1);
  BOOST_TEST((Marginal{Kind::beta, 0, 3}).quantile(0.9) == 0);
  BOOST_TEST((Marginal{Kind::beta, 0, 3}).mean() == 0);
  BOOST_TEST((Marginal{Kind::beta, 0, 3}).probability_below(0) == 1);
  BOOST_TEST((Marginal{Kind::beta, 3, 0}).probability_below(0.99) == 0);
}

BOOST_AUTO_TEST_CASE(entries_of_a_dirichlet_are_beta) {
  const std::vector<double> alpha = {1e17, 2, 0.5};
  std::vector<Marginal> out(3);
  dirichlet_marginals(alpha, 3, out.data());
  BOOST_TEST(out[0].a == 1e17);
  BOOST_TEST(out[0].b == 5.5);  // by subtraction it would be 0
  BOOST_TEST(out[2].a == 0.5);
  BOOST_TEST(out[2].b == 1e17 + 5);
}

// Caught: a deviation that is not the one asked for, a mean that moves.
BOOST_AUTO_TEST_CASE(a_corrected_marginal_has_the_deviation_asked_for) {
  for (const Marginal &m : some) {
    if (m.kind == Kind::student && m.a < 4) continue;
    const bool root = m.kind == Kind::root;
    if (root && m.a <= 4) continue;
    const double square = m.b / (m.a - 2), of_square = square * std::sqrt(2 / (m.a - 4)),
                 own = root ? of_square : m.deviation();
    const Marginal same = m.with_deviation(own), wide = m.with_deviation(1.3 * own);
    BOOST_TEST((same.a == m.a && same.b == m.b));
    if (root) {
      BOOST_TEST(close(wide.b / (wide.a - 2), square, 1e-12));
      BOOST_TEST(close(wide.b / (wide.a - 2) * std::sqrt(2 / (wide.a - 4)), 1.3 * own, 1e-12));
    } else {
      BOOST_TEST(close(wide.mean(), m.mean(), 1e-12));
      BOOST_TEST(close(wide.deviation(), 1.3 * own, 1e-12));
    }
    BOOST_TEST(wide.quantile(0.025) < m.quantile(0.025));
    BOOST_TEST(wide.quantile(0.975) > m.quantile(0.975));
    BOOST_TEST((m.with_deviation(0.5 * own).b == m.b));
  }
  // More than a probability can have.
  const Marginal vague = Marginal{Kind::beta, 30, 70}.with_deviation(0.6);
  BOOST_TEST(close(vague.mean(), 0.3, 1e-12));
  BOOST_TEST(vague.quantile(0.6) < 1e-6);
  BOOST_TEST(vague.quantile(0.8) > 1 - 1e-6);
}

BOOST_AUTO_TEST_CASE(averages_over_draws_are_mixtures) {
  for (const Marginal &m : some) {
    Marginal other = m;
    other.a *= 1.5;
    if (m.kind == Kind::normal || m.kind == Kind::student) other.location += 3;
    const std::vector<Marginal> both = {m, other, other}, alike(5, m);
    const MarginalMixture mixture(both), one(alike);
    for (const double p : {0.001, 0.025, 0.5, 0.999}) {
      const double x = mixture.quantile(p);
      BOOST_TEST(close((m.probability_below(x) + 2 * other.probability_below(x)) / 3, p, 1e-9));
      BOOST_TEST(close(one.quantile(p), m.quantile(p), 1e-9));
    }
    const double mean = (m.mean() + 2 * other.mean()) / 3;
    const auto square = [&](const Marginal &each) {
      return std::pow(each.deviation(), 2) + std::pow(each.mean() - mean, 2);
    };
    BOOST_TEST(close(mixture.mean(), mean, 1e-12));
    BOOST_TEST(close(mixture.deviation(), std::sqrt((square(m) + 2 * square(other)) / 3), 1e-12));
  }
  // Without a variance, and with draws that know the answer.
  const std::vector<Marginal> wild = {{Kind::student, 1.5, 1, 0}, {Kind::student, 2.5, 1, 9}};
  const double x = MarginalMixture(wild).quantile(0.1);
  BOOST_TEST(close((wild[0].probability_below(x) + wild[1].probability_below(x)) / 2, 0.1, 1e-9));
  // A part without weight counts nothing, whether it has quantiles or not; with and without a
  // variance.
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> shares = {0.25, 0.75, 0};
  for (const double degrees : {1.5, 8.0})
    for (const double location : {0.0, -1e6, unknown}) {
      const std::vector<Marginal> parts = {{Kind::student, degrees, 1, 0},
                                           {Kind::student, 2 * degrees, 1, 9},
                                           {Kind::student, degrees, 1, location}};
      const std::span all(parts);
      const std::span weights(shares);
      for (const double p : {0.001, 0.1, 0.7})
        BOOST_TEST(MarginalMixture(all, weights).quantile(p) ==
                   MarginalMixture(all.first(2), weights.first(2)).quantile(p));
    }
  const std::vector<Marginal> sure(3, Marginal{Kind::beta, 4, 0});
  BOOST_TEST(MarginalMixture(sure).quantile(0.3) == 1);
  // One part of 80 has quantiles beyond all doubles, but the mixture has not, and they are found by
  // few of its probabilities, which poll.
  for (const Marginal::Kind kind : {Marginal::Kind::root, Marginal::Kind::student}) {
    std::vector<Marginal> most(80, Marginal{kind, 10, 1});
    most[7] = {kind, 1e-4, 1};
    for (const double p : {0.025, 0.1, 0.5, 0.9, 0.975}) {
      double at = 0;
      const int polls = support::polls_of([&] { at = MarginalMixture(most).quantile(p); });
      double below = 0;
      for (const Marginal &part : most) below += part.probability_below(at) / 80;
      BOOST_TEST(std::abs(below - p) < 1e-9, int(kind) << ' ' << p << ": " << at);
      BOOST_TEST(polls < 5000, int(kind) << ' ' << p << ": " << polls);
    }
  }
  BOOST_TEST(MarginalMixture(sure).deviation() == 0);
}

// One more draw is below the p-quantile of n others with probability p.
BOOST_AUTO_TEST_CASE(quantiles_of_draws_are_those_of_one_more) {
  const std::vector<double> draws = {1, 2, 4, 8};
  BOOST_TEST(quantile_of_draws(draws, 0.2) == 1);
  BOOST_TEST(std::abs(quantile_of_draws(draws, 0.5) - 3) < 1e-15);
  BOOST_TEST(quantile_of_draws(draws, 0.8) == 8);
  BOOST_TEST(std::isnan(quantile_of_draws(draws, 0.81)));
  BOOST_TEST(std::isnan(quantile_of_draws(draws, 0.19)));
  BOOST_TEST(std::isnan(quantile_of_draws({}, 0.5)));
  std::vector<double> many(39);
  std::iota(many.begin(), many.end(), 1);
  BOOST_TEST(std::abs(quantile_of_draws(many, 0.025) - 1) < 1e-12);
  BOOST_TEST(std::abs(quantile_of_draws(many, 0.975) - 39) < 1e-12);
}

// At a bound of 5.5 standard errors a false alarm in some 1e5 runs; 400 draws find a quantile whose
// probability is off by 0.12, 16000 of the long form 0.02.
BOOST_AUTO_TEST_CASE(marginals_of_columns_are_those_of_their_draws) {
  const int n = std::max(400, support::effort(16000));
  Random random(11);
  for (const ColumnSpec &spec : products::every_family()) {
    const ProductPosterior q = products::some_prior({spec}, 2, 4);
    std::vector<Marginal> marginals;
    add_marginals(q, 1, 0, marginals);
    for (const double p : {0.1, 0.6}) {
      std::vector<double> below(marginals.size(), 0.0);
      for (int i = 0; i < n; ++i) {
        const auto drawn = element_parameters(draw(q, random), 1, 0);
        BOOST_REQUIRE(drawn.size() == marginals.size());
        for (std::size_t m = 0; m < drawn.size(); ++m)
          below[m] += drawn[m].value <= marginals[m].quantile(p);
      }
      for (const double count : below) BOOST_TEST(errors_of(count, n, p) < 5.5);
    }
  }
}

BOOST_AUTO_TEST_CASE(marginals_of_normals_are_those_of_their_draws) {
  const int n = std::max(400, support::effort(16000)), d = 3, k = 2;
  Random random(12);
  for (const CovarianceShape &shape :
       {full_covariance, diagonal_covariance, spherical_covariance, tied_covariance}) {
    NormalWishart q{
        shape, Matrix::Random(d, k), Vector(k), Vector::Constant(shape.count(k), 9), {}};
    q.c << 0.5, 4;
    for (int s = 0; s < shape.count(k); ++s) {
      const Matrix root = Matrix::Random(d, d) + 2 * Matrix(Matrix::Identity(d, d));
      q.B.push_back(shaped(shape, root * root.transpose()));
    }
    NormalIndependent independent{q.m, {}, Vector::Constant(k, 9), q.B};
    for (int j = 0; j < d; ++j) {
      std::vector<Marginal> marginals, others;
      add_marginals(q, 1, j, marginals);
      for (const double p : {0.1, 0.6}) {
        double below[2] = {0, 0};
        for (int i = 0; i < n; ++i) {
          const auto drawn = element_parameters(draw(q, random), 1, j);
          for (int m = 0; m < 2; ++m)
            below[m] += drawn[std::size_t(m)].value <= marginals[std::size_t(m)].quantile(p);
        }
        for (const double count : below) BOOST_TEST(errors_of(count, n, p) < 5.5);
      }
      if (!(shape == full_covariance)) continue;
      independent.C = q.B;
      add_marginals(independent, 1, j, others);
      BOOST_TEST(close(others[0].deviation(), std::sqrt(q.B[1](j, j)), 1e-14));
      BOOST_TEST(others[0].mean() == q.m(j, 1));
      BOOST_TEST((others[1].a == marginals[1].a && others[1].b == marginals[1].b));
    }
  }
}

// With one component q of vi is the posterior, and so is every draw.
BOOST_AUTO_TEST_CASE(draws_and_variational_inference_agree_where_both_are_exact) {
  const auto check = [](const std::vector<Parameter> &a, const std::vector<Parameter> &b) {
    BOOST_REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      BOOST_TEST(a[i].name == std::string_view(b[i].name));
      for (const auto of :
           {&Parameter::value, &Parameter::deviation, &Parameter::lower, &Parameter::upper})
        BOOST_TEST(std::abs(a[i].*of - b[i].*of) < 1e-8 * (1 + std::abs(b[i].*of)));
      BOOST_TEST((a[i].lower <= a[i].value && a[i].value <= a[i].upper));
    }
  };
  const Options vi = {{"tol", 1e-12}, {"max_iter", 1000}},
                few = {{"method", "gibbs"}, {"chains", 2}, {"draws", 20}, {"on_error", "error"}};
  for (const std::string &shape : support::shapes)
    for (const int k : {1, 2}) {
      // Two groups that are as far apart as can be: in every draw they are the components.
      Matrix x = support::normal_rows(60, 2, 5, 1);
      if (k == 2) x.topRows(25).array() += 1000;
      const Options covariance = {{"covariance", shape}};
      const auto exact = support::fit(x, k, with(vi, covariance)),
                 drawn = support::fit(x, k, with(few, covariance));
      check(described(*drawn), described(*exact));
    }
  const Matrix y = latent::mixed_rows(50, 8);
  check(described(*latent::fitted(y, 1, with(latent::mixed, few))),
        described(*latent::fitted(y, 1, with(latent::mixed, vi))));
  // So it is for linear response, which then finds nothing to add.
  check(described(*latent::fitted(y, 1, with(latent::mixed, {{"linear_response", true}}))),
        described(*latent::fitted(y, 1, with(latent::mixed, vi))));
}

BOOST_AUTO_TEST_CASE(a_dirichlet_process_mixture_is_described_cluster_by_cluster) {
  Matrix x = support::normal_rows(40, 2, 5, 1);
  x.topRows(15).array() += 1000;
  for (const std::string &method : dpmm::methods) {
    const auto fitted = dpmm::fit(x, {{"method", method}, {"concentration", 2}});
    const auto rows = described(*fitted.model, 0.8);
    BOOST_REQUIRE(rows.size() == 10);
    const bool sampled = method != "vi";
    for (const Parameter &row : rows)
      BOOST_TEST(row.known_by ==
                 std::string_view(sampled ? Parameter::draws : Parameter::linear_response));
    // Given the partition weights are Dirichlet(25, 15, 2). A draw may have a cluster more of a few
    // of these rows; the sticks of vi are in an order that the Dirichlet has not.
    const Marginal weight{Kind::beta, 25, 17};
    const double width = weight.deviation();
    BOOST_TEST(std::abs(rows[0].value - fitted.model->cluster(0).weight) <
               (sampled ? 1e-12 : 0.2 * width));
    BOOST_TEST(std::abs(rows[0].lower - weight.quantile(0.1)) < 0.4 * width);
    BOOST_TEST(std::abs(rows[0].upper - weight.quantile(0.9)) < 0.4 * width);
    BOOST_TEST(std::abs(rows[0].deviation - width) < 0.25 * width);
    // The prior of gmm for five components is that of dpmm.
    BOOST_TEST(close(rows[1].value, fitted.model->cluster(0).mean[0], sampled ? 1e-12 : 1e-6));
    BOOST_TEST(rows[1].lower < rows[1].value);
    BOOST_TEST(rows[9].component == 1);
    BOOST_TEST(rows[9].element == 1);
    BOOST_TEST(rows[9].name == std::string_view("sd"));
  }
}

BOOST_AUTO_TEST_CASE(points_have_values_alone) {
  const Matrix x = support::data_set("faithful");
  for (const char *method : {"em", "map", "mcem", "kmeans"}) {
    const auto model = support::fit(x, 2, {{"method", method}});
    const auto rows = described(*model);
    BOOST_REQUIRE(rows.size() == 10);
    BOOST_TEST(rows[5].value == model->component(1).weight);
    BOOST_TEST(rows[6].value == model->component(1).mean[0]);
    BOOST_TEST(rows[9].value == std::sqrt(model->component(1).covariance[3]));
    for (const Parameter &row : rows) {
      BOOST_TEST((std::isnan(row.deviation) && std::isnan(row.lower) && std::isnan(row.upper)));
      BOOST_TEST((row.element < 0) == (row.name == std::string_view("weight")));
    }
  }
  const auto model = support::fit(x, 2, {});
  for (const double level : {0.0, 1.0, -1.0, 2.0, latent::hole})
    BOOST_CHECK_EXCEPTION(described(*model, level), Error, [](const Error &error) {
      return error.code() == Errc::invalid_argument;
    });
  for (const Parameter &row : described(*model, {})) BOOST_TEST(std::isnan(row.lower));
  // A model whose options do not say what its weights are given a partition.
  Document document = support::fit(x, 2, {{"method", "gibbs"}, {"draws", 20}})->to_document();
  Document options = *document.find("options");
  options.set("prior", Document());
  document.set("options", options);
  const auto unknown = Model::from_document(document);
  const auto rows = described(static_cast<const GaussianMixture &>(*unknown));
  BOOST_TEST((std::isnan(rows[0].lower) && rows[0].value > 0));
  BOOST_TEST(rows[1].lower < rows[1].upper);
}

// Under the mean-field posterior of a chain; and of its draws their order.
BOOST_AUTO_TEST_CASE(a_hidden_markov_model_is_described_state_by_state) {
  Random random(3);
  std::vector<hidden_markov::Sequence> sequences(6);
  for (std::size_t s = 0; s < sequences.size(); ++s)
    for (int t = 0, state = int(s % 2); t < 30; ++t) {
      if (random.uniform() < 0.2) state = 1 - state;
      sequences[s].push_back(1000 * state + random.normal());
    }
  hidden_markov::Data data(1, sequences);
  const auto exact = hidden_markov::fitted(data, 2, {{"tol", 1e-10}, {"linear_response", false}});
  const auto rows = described(*exact, 0.9);
  BOOST_REQUIRE(rows.size() == 10);
  int next = 0;
  for (int i = 0; i < 2; ++i) {
    const HmmState state = exact->state_at(i);
    BOOST_TEST(rows[std::size_t(next)].name == std::string_view("initial"));
    BOOST_TEST(rows[std::size_t(next)].value == state.initial);
    BOOST_TEST(close(rows[std::size_t(next)].deviation, state.initial_deviation, 1e-12));
    next += 5;
  }
  exact->transitions([&](const HmmTransition &t) {
    const Parameter &row = rows[std::size_t(5 * t.from + 1 + t.to)];
    BOOST_TEST(row.category == t.to + 1);
    BOOST_TEST(row.value == t.probability);
    BOOST_TEST(close(row.deviation, t.deviation, 1e-12));
    double other = 0;
    exact->transitions([&](const HmmTransition &u) {
      if (u.from == t.from && u.to != t.to) other = u.alpha;
    });
    BOOST_TEST(close(row.lower, (Marginal{Kind::beta, t.alpha, other}).quantile(0.05), 1e-12));
  });
  // The paths are certain, so draws are independent draws of the same posterior.
  const auto drawn = hidden_markov::fitted(data, 2, {{"method", "gibbs"}, {"draws", 3000}});
  const auto of_draws = described(*drawn, 0.9);
  BOOST_REQUIRE(of_draws.size() == rows.size());
  const double n = double(drawn->stored_draws());
  BOOST_TEST(n >= 500);
  // A quantile of n draws has a standard error of sqrt(p (1 - p) / n) / density; 6 of them.
  const double error = 6 * std::sqrt(0.05 * 0.95 / n) / 0.103;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    BOOST_TEST(rows[i].name == std::string_view(of_draws[i].name));
    const double width = rows[i].deviation;
    BOOST_TEST(std::abs(rows[i].lower - of_draws[i].lower) < error * width);
    BOOST_TEST(std::abs(rows[i].upper - of_draws[i].upper) < 2 * error * width);
    BOOST_TEST(std::abs(rows[i].deviation - of_draws[i].deviation) < 0.3 * width);
  }
  // Too few draws say nothing of tails.
  const auto few = hidden_markov::fitted(
      data, 2,
      {{"method", "gibbs"}, {"draws", 20}, {"chains", 1}, {"stored_draws", 10}, {"warmup", 5}});
  for (const Parameter &row : described(*few, 0.9)) BOOST_TEST(std::isnan(row.lower));
  for (const Parameter &row : described(*few, 0.5)) BOOST_TEST(row.lower < row.upper);
}

BOOST_AUTO_TEST_CASE(symbols_and_structural_zeros_are_shown) {
  const auto model = hidden_markov::fitted_symbols(
      {{0, 1, 2, 2, 2}, {0, 0, 1, 2, 2}}, 3, 2,
      {{"init", hidden_markov::init({1, 0}, {{0.7, 0.3}, {0, 1}},
                                    {{0.5, 0.4, 0.1}, {0.1, 0.1, 0.8}}, true)}});
  const auto rows = described(*model);
  BOOST_REQUIRE(rows.size() == 12);
  BOOST_TEST((rows[0].value == 1 && rows[0].lower == 1 && rows[0].upper == 1));
  BOOST_TEST((rows[6].value == 0 && rows[6].upper == 0 && rows[6].deviation == 0));
  BOOST_TEST((rows[7].value == 0 && rows[7].upper == 0));
  BOOST_TEST((rows[8].value == 1 && rows[8].lower == 1));
  std::string labels;
  model->describe_parameters({}, [&](const Parameter &p) {
    if (p.element == 0) BOOST_TEST(std::isnan(p.category));
    if (p.label) labels += *p.label;
  });
  BOOST_TEST(labels == "12abc12abc");
}

BOOST_AUTO_TEST_SUITE_END()
