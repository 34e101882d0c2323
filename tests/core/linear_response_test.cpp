// Standard deviations by linear response: against the derivative that defines them, by fits under a
// log density that is tilted a little, and against long chains.
#include <boost/math/quadrature/tanh_sinh.hpp>

#include "base/special.hpp"
#include "bmm_support.hpp"
#include "families/normal/normal_response.hpp"
#include "families/product/product_response.hpp"
#include "hmm_support.hpp"
#include "markov/markov_learners.hpp"
#include "product_support.hpp"

using namespace bayes;
using support::Options;
using support::with;

namespace {

const Options response = {{"linear_response", true}, {"tol", 1e-12}},
              mean_field = {{"linear_response", false}};

/// Expectations under the density Beta(p | a, b) exp(t p), made to integrate to 1.
struct TiltedBeta {
  double log_p, log_rest, p;
  TiltedBeta(double a, double b, double t) {
    boost::math::quadrature::tanh_sinh<double> quadrature;
    const double mode = (a - 1) / (a + b - 2);
    const auto integral = [&](auto f) {
      return quadrature.integrate(
          [&](double x, double end) {
            const double from_end = std::abs(end), low = x < 0.5 ? from_end : 1 - from_end,
                         p = x < 0.5 ? low : x, rest = x < 0.5 ? 1 - x : from_end;
            return std::exp((a - 1) * std::log(p / mode) + (b - 1) * std::log(rest / (1 - mode)) +
                            t * (p - mode)) *
                   f(std::log(p), std::log(rest), p);
          },
          0.0, 1.0, 1e-14);
    };
    const double whole = integral([](double, double, double) { return 1.0; });
    log_p = integral([](double l, double, double) { return l; }) / whole;
    log_rest = integral([](double, double l, double) { return l; }) / whole;
    p = integral([](double, double, double x) { return x; }) / whole;
  }
  /// The beta distribution with the same expected logarithms, found from one nearby.
  Vector beta(double a, double b) const {
    for (int i = 0; i < 20; ++i) {
      const double both = trigamma(a + b), u = trigamma(a) - both, v = trigamma(b) - both,
                   f = digamma(a) - digamma(a + b) - log_p,
                   g = digamma(b) - digamma(a + b) - log_rest, whole = u * v - both * both;
      a -= (v * f + both * g) / whole;
      b -= (both * f + u * g) / whole;
    }
    return (Vector(2) << a, b).finished();
  }
};

/// For a random direction x that is small beside q: the sum of both divergences between q and what
/// is x further on is x' Cov[phi] x.
template <class Q> void check_covariance(const Q &q, Random &random) {
  const std::vector<PosteriorFactor> factors = posterior_factors(q);
  const Vector natural = natural_parameters(q, q);
  for (int turn = 0; turn < 5; ++turn) {
    Vector x = Vector::Zero(natural.size());
    double expected = 0;
    Eigen::Index first = 0;
    for (const PosteriorFactor &factor : factors) {
      const Eigen::Index n = factor.covariance.rows();
      for (Eigen::Index i = 0; i < n; ++i)
        x(first + i) = 1e-4 * random.normal() / std::sqrt(factor.covariance(i, i));
      const Vector own = x.segment(first, n);
      expected += own.dot(factor.covariance * own);
      first += n;
    }
    BOOST_REQUIRE(first == natural.size());
    const Q up = from_natural_parameters(Vector(natural + x), q),
            down = from_natural_parameters(Vector(natural - x), q);
    BOOST_TEST(std::abs((divergence(up, down) + divergence(down, up)) / 4 / expected - 1) < 1e-4);
  }
}

/// Natural-gradient steps are straight lines, and what natural parameters are made of comes back.
template <class Q> void check_natural(const Q &q, const Q &other) {
  const Vector a = natural_parameters(q, q), b = natural_parameters(other, q),
               between = natural_parameters(natural_gradient_step(q, other, 0.3), q);
  BOOST_TEST(support::distance(to_vector(between), to_vector(0.7 * a + 0.3 * b)) < 1e-13);
  const Vector again = natural_parameters(from_natural_parameters(b, q), q);
  BOOST_TEST(support::distance(to_vector(again), to_vector(b)) < 1e-13);
  BOOST_TEST(natural_size(q) == double(a.size()));
}

NormalWishart some_normal(const CovarianceShape &shape, int d, int k, std::uint64_t seed) {
  Random random(seed);
  NormalWishart q{shape, Matrix(d, k), Vector(k), Vector(shape.count(k)), {}};
  for (int i = 0; i < k; ++i) {
    q.c(i) = 1 + random.gamma(3);
    for (int j = 0; j < d; ++j) q.m(j, i) = random.normal();
  }
  for (int s = 0; s < shape.count(k); ++s) {
    q.a(s) = d + 3 + random.gamma(5);
    Matrix b(d, d);
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j) b(i, j) = random.normal();
    q.B.push_back(
        shaped(shape, product_transposed(b, b) + Matrix(Matrix::Identity(d, d)) * (1 + s)));
  }
  return q;
}

/// Cov[phi, g] is the gradient of E[g]: of the means, and of the variances of the elements.
void check_quantities(const NormalWishart &q) {
  const Vector natural = natural_parameters(q, q);
  const int d = q.dimension();
  const auto means = [&](const Vector &at) {
    const NormalWishart moved = from_natural_parameters(at, q);
    std::vector<double> out = to_vector(moved.m.reshaped());
    for (std::size_t s = 0; s < moved.B.size(); ++s)
      for (int j = 0; j < q.shape.rows(d); ++j)
        out.push_back(moved.B[s](j, q.shape.dense ? j : 0) /
                      (moved.a(Eigen::Index(s)) - (q.shape.dense ? d + 1 : 2)));
    return out;
  };
  std::size_t quantity = 0;
  Eigen::Index first = 0;
  for (const PosteriorFactor &factor : posterior_factors(q)) {
    for (Eigen::Index g = 0; g < factor.with_quantities.cols(); ++g, ++quantity)
      for (Eigen::Index i = 0; i < natural.size(); ++i) {
        Vector up = natural, down = natural;
        up(i) += 1e-4, down(i) -= 1e-4;
        const bool own = i >= first && i < first + factor.covariance.rows();
        BOOST_TEST(support::distance(own ? factor.with_quantities(i - first, g) : 0,
                                     (means(up)[quantity] - means(down)[quantity]) / 2e-4) < 1e-6);
      }
    first += factor.covariance.rows();
  }
  BOOST_TEST(quantity == means(natural).size());
}

/// Of the elements' parameters.
std::vector<double> numbers_of(const BernoulliMixture &model, double Parameter::*number) {
  std::vector<double> out;
  model.describe_parameters({}, [&](const Parameter &p) {
    if (p.element >= 0) out.push_back(p.*number);
  });
  return out;
}
const auto deviations = [](const auto &model) { return numbers_of(model, &Parameter::deviation); };
const auto values = [](const auto &model) { return numbers_of(model, &Parameter::value); };

/// Two classes of which it is not clear who belongs to which.
Matrix vague_rows(int n, int d, std::uint64_t seed) {
  Random random(seed);
  Matrix x(n, d);
  for (int i = 0; i < n; ++i) {
    const bool first = random.uniform() < 0.6;
    for (int j = 0; j < d; ++j) x(i, j) = random.uniform() < (first ? 0.8 : 0.3);
  }
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(linear_response)

// Caught: any entry of a covariance, a location that is not about the origin.
BOOST_AUTO_TEST_CASE(factors_have_the_covariances_that_divergences_say) {
  Random random(3);
  products::for_each_family([&]<class F>(const F &family, const ColumnSpec &spec) {
    const products::Numbers q = products::prior_of(family, spec, 5),
                            other = products::prior_of(family, spec, 9);
    const ProductPosterior column = products::column(spec, q);
    check_covariance(column, random);
    check_natural(column, products::column(spec, other));
    // Cov[phi, g] is the gradient of E[g].
    const PosteriorFactor factor = posterior_factors(column)[0];
    const Vector natural = natural_parameters(column, column);
    const int each = family.numbers_per_name();
    const auto mean = [&](const Vector &at, int i) {
      const ProductPosterior moved = from_natural_parameters(at, column);
      const double *const from = moved.values.data();
      if (F::parameters[std::size_t(i / each)] == std::string_view("variance"))
        return from[3] / (from[2] - 2);
      products::Numbers point(std::size_t(family.point_size()));
      family.point_estimate(from, point.data());
      return point[std::size_t(i)];
    };
    for (int g = 0; g < int(F::parameters.size()) * each; ++g)
      for (Eigen::Index i = 0; i < natural.size(); ++i) {
        Vector up = natural, down = natural;
        up(i) += 1e-4, down(i) -= 1e-4;
        BOOST_TEST(support::distance(factor.with_quantities(i, g),
                                     (mean(up, g) - mean(down, g)) / 2e-4) < 1e-6);
      }
  });
  for (const auto *shape :
       {&full_covariance, &diagonal_covariance, &spherical_covariance, &tied_covariance})
    BOOST_TEST_CONTEXT(shape->name) {
      const NormalWishart q = some_normal(*shape, 3, 2, 8);
      check_covariance(q, random);
      check_natural(q, some_normal(*shape, 3, 2, 9));
      check_quantities(q);
    }
  const PosteriorFactor weights = dirichlet_factor((Vector(3) << 2, 0.7, 5).finished());
  const Matrix &shown = weights.with_quantities;
  BOOST_TEST(shown(0, 0) == 5.7 / 7.7 / 7.7, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(shown(1, 0) == -2 / 7.7 / 7.7, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(weights.deviation(2) == std::sqrt(5 * 2.7 / 7.7 / 7.7 / 8.7),
             boost::test_tools::tolerance(1e-12));
}

// Mean field is exact where there is nothing to be uncertain of.
BOOST_AUTO_TEST_CASE(one_component_has_the_deviations_of_its_posterior) {
  const Matrix x = latent::mixed_rows(60, 4);
  const Vector w = support::random_weights(60, 5);
  const auto plain = latent::fitted(x, 1, with(latent::mixed, mean_field), w),
             found = latent::fitted(x, 1, with(latent::mixed, response), w);
  BOOST_TEST(support::distance(deviations(*plain), deviations(*found)) < 1e-15);
  hidden_markov::Data data(1, {{1.5, 2, 0.1, -1, 0.3}, {0.2, 2}});
  const auto chain = hidden_markov::fitted(data, 1, response);
  BOOST_TEST(chain->state_at(0).initial_deviation == 0);
}

// The derivative of a mean under a log density with t p added, by fits at two values of t, whose
// E and M steps are written out here. Weights and missing values are in it.
BOOST_AUTO_TEST_CASE(bernoulli_deviations_are_the_derivative_of_the_mean) {
  const int n = 40, d = 3;
  Matrix x = vague_rows(n, d, 7);
  x(3, 1) = x(8, 0) = x(8, 2) = latent::hole;
  const Vector w = support::random_weights(n, 8);
  const auto model = latent::fitted(
      x, 2, with(response, {{"missing", "marginalize"}, {"prior", Options{{"a", 2}, {"b", 2}}}}),
      w);
  const std::vector<double> found = deviations(*model);
  const auto tilted_mean = [&](int component, int element, double t) {
    Matrix a(2, d), b(2, d);
    Vector alpha(2);
    for (int k = 0; k < 2; ++k) {
      const BmmPosterior q = model->posterior(k);
      alpha(k) = q.alpha;
      for (int j = 0; j < d; ++j) a(k, j) = q.a[std::size_t(j)], b(k, j) = q.b[std::size_t(j)];
    }
    for (double moved = 1; moved > 1e-13;) {
      Matrix one(2, d), zero(2, d);
      for (int k = 0; k < 2; ++k)
        for (int j = 0; j < d; ++j) {
          one(k, j) = digamma(a(k, j)) - digamma(a(k, j) + b(k, j));
          zero(k, j) = digamma(b(k, j)) - digamma(a(k, j) + b(k, j));
        }
      const TiltedBeta tilted(a(component, element), b(component, element), t);
      one(component, element) = tilted.log_p, zero(component, element) = tilted.log_rest;
      Matrix a1 = Matrix::Constant(2, d, 2), b1 = a1;
      Vector alpha1 = Vector::Ones(2);
      for (int i = 0; i < n; ++i) {
        double odds = digamma(alpha(0)) - digamma(alpha(1));
        for (int j = 0; j < d; ++j)
          if (!std::isnan(x(i, j)))
            odds += x(i, j) == 1 ? one(0, j) - one(1, j) : zero(0, j) - zero(1, j);
        for (int k = 0; k < 2; ++k) {
          const double r = w(i) / (1 + std::exp(k ? odds : -odds));
          alpha1(k) += r;
          for (int j = 0; j < d; ++j)
            if (!std::isnan(x(i, j))) (x(i, j) == 1 ? a1 : b1)(k, j) += r;
        }
      }
      moved = (alpha - alpha1).cwiseAbs().maxCoeff() + (a - a1).cwiseAbs().maxCoeff() +
              (b - b1).cwiseAbs().maxCoeff();
      alpha = alpha1, a = a1, b = b1;
    }
    return TiltedBeta(a(component, element), b(component, element), t).p;
  };
  const auto plain = deviations(*latent::fitted(x, 2,
                                                {{"linear_response", false},
                                                 {"tol", 1e-12},
                                                 {"missing", "marginalize"},
                                                 {"prior", Options{{"a", 2}, {"b", 2}}}},
                                                w));
  for (const auto &[component, element] : {std::pair(0, 0), std::pair(1, 2)}) {
    const std::size_t i = std::size_t(component * d + element);
    const double t = 0.01 / found[i], variance = (tilted_mean(component, element, t) -
                                                  tilted_mean(component, element, -t)) /
                                                 (2 * t);
    BOOST_TEST(std::abs(found[i] * found[i] / variance - 1) < 1e-4);
    BOOST_TEST(found[i] > 1.2 * plain[i]);
  }
}

// A rate is linear in phi, and so to add t rate is to lower the rate of its prior by t. Columns of
// all kinds are in the fit.
BOOST_AUTO_TEST_CASE(rates_respond_as_to_another_prior) {
  const auto rows = [](int n, std::uint64_t seed) {
    Matrix x = latent::mixed_rows(n, seed);
    for (double &v : x.col(2)) v -= v > 1.5 ? 2 : 0;  // the measurements are 3 apart
    return x;
  };
  const auto before = latent::fitted(rows(30, 2), 2, latent::mixed);
  const Matrix x = rows(50, 6);
  const auto updated = [&](double t, Options more) {
    Document document = before->to_document();
    Document posterior = *document.find("posterior"), poisson = *posterior.find("poisson");
    Tensor rate = *poisson.find("rate")->as<Tensor>();
    rate.values[0] -= t;
    poisson.set("rate", rate);
    posterior.set("poisson", poisson);
    document.set("posterior", posterior);
    const auto prior = Model::from_document(document);
    return latent::fitted(x, 2, with({{"tol", 1e-12}, {"max_iter", 100000}}, std::move(more)), {},
                          static_cast<const BernoulliMixture *>(prior.get()), true);
  };
  const auto rate_of = [](const BernoulliMixture &model) {
    std::pair<double, double> out;
    model.describe_parameters({}, [&](const Parameter &p) {
      // Components are ordered anew.
      if (p.name == std::string_view("rate") && p.value > out.first) out = {p.value, p.deviation};
    });
    return out;
  };
  BOOST_TEST(values(*before)[1] > values(*before)[values(*before).size() / 2 + 1]);
  const double found = rate_of(*updated(0, {{"linear_response", true}})).second,
               plain = rate_of(*updated(0, mean_field)).second, t = 0.01;
  const double variance = (rate_of(*updated(t, {})).first - rate_of(*updated(-t, {})).first) / 0.02;
  BOOST_TEST(std::abs(found * found / variance - 1) < 1e-4);
  BOOST_TEST(found > 1.01 * plain);
}

/// The derivative for p = the probability of staying in the first of two states, by VI whose row
/// of transitions is tilted; by the library's own passes.
template <class Q>
void check_chain(const MarkovPosterior<Q> &prior, bool whole_steps, hidden_markov::Data &data,
                 const MarkovPosterior<Q> &begin, double least_rise) {
  const MarkovVariational<Q> learner(prior, whole_steps);
  Control control;
  const auto pass = [&](const MarkovPosterior<Q> &q) {
    return learner.update(expected_statistics(learner, q, data.all, control).statistics, q);
  };
  const auto tilted = [&](double t) {
    MarkovPosterior<Q> q = begin, next = q;
    for (double moved = 1; moved > 1e-12; q = next) {
      MarkovPosterior<Q> seen = q;
      if (t != 0) {
        const double a = q.transition(0, 0), b = q.transition(0, 1);
        seen.transition.row(0) = TiltedBeta(a, b, t).beta(a, b);
      }
      next = pass(seen);
      moved =
          (natural_parameters(next, begin) - natural_parameters(q, begin)).cwiseAbs().maxCoeff();
    }
    return q;
  };
  const MarkovPosterior<Q> at = tilted(0);
  const Vector found = bayes::linear_response(learner, at, data.all, control);
  const double a = at.transition(0, 0), b = at.transition(0, 1),
               plain = dirichlet_deviation(a, a + b);
  const auto mean = [&](double t) {
    const auto q = tilted(t);
    return TiltedBeta(q.transition(0, 0), q.transition(0, 1), t).p;
  };
  const double t = 0.01 / found(2), variance = (mean(t) - mean(-t)) / (2 * t);
  BOOST_TEST(std::abs(found(2) * found(2) / variance - 1) < 1e-4);
  BOOST_TEST(found(2) > least_rise * plain);
}

BOOST_AUTO_TEST_CASE(transition_deviations_are_the_derivative_of_the_mean) {
  const hidden_markov::Table a = {{0.8, 0.2}, {0.3, 0.7}};
  MarkovWeights chain{Vector::Ones(2), Matrix::Constant(2, 2, 2)};
  Vector apart(4);
  apart << 0, -2, 0, -2;
  {
    std::vector<hidden_markov::Sequence> x;
    for (std::uint64_t s = 0; s < 3; ++s)
      x.push_back(hidden_markov::drawn(
          {0.5, 0.5}, a, 30, s, hidden_markov::letters_of({{0.7, 0.2, 0.1}, {0.1, 0.3, 0.6}})));
    x[1][4] = hidden_markov::hole;
    hidden_markov::Data data(1, x, {1, 2.5, 0.5});
    const auto columns = products::columns_of({{kind_of<Categorical>, 3}});
    const MarkovPosterior<ProductPosterior> prior{chain, {columns, Matrix::Constant(3, 2, 1.5)}};
    auto begin = prior;
    begin.emissions.values << 20, 4, 8, 8, 4, 20;
    check_chain(prior, false, data, begin, 1.1);
  }
  for (const auto *shape :
       {&full_covariance, &diagonal_covariance, &spherical_covariance, &tied_covariance})
    BOOST_TEST_CONTEXT(shape->name) {
      hidden_markov::Data data(
          2, {hidden_markov::drawn({0.5, 0.5}, a, 60, 5,
                                   [](int z, Random &random, hidden_markov::Sequence &out) {
                                     for (int j = 0; j < 2; ++j)
                                       out.push_back(random.normal() + 100 + 2 * z);
                                   })});
      MarkovPosterior<NormalWishart> prior{chain, some_normal(*shape, 2, 2, 8)};
      prior.emissions.m.setConstant(101);
      auto begin = prior;
      begin.emissions.m.col(1).setConstant(103);
      check_chain(prior, true, data, begin, 1.05);
    }
}

// What mean field leaves out: with it deviations are those of a long chain. The Gibbs sampler of
// two classes is this test's own.
BOOST_AUTO_TEST_CASE(bernoulli_deviations_are_those_of_a_long_chain) {
  using hidden_markov::at;
  const Matrix counted = support::data_set("role_conflict");  // docs/bmm.md
  std::vector<double> answers;
  for (Eigen::Index i = 0; i < counted.rows(); ++i)
    for (int n = 0; n < counted(i, 4); ++n)
      for (int j = 0; j < 4; ++j) answers.push_back(counted(i, j) - 1);
  const Matrix persons =
      Eigen::Map<const Matrix>(answers.data(), 4, Eigen::Index(answers.size()) / 4).transpose();
  const int d = 4, draws = 40000;
  for (const Matrix &x : {vague_rows(300, d, 1), persons}) {
    Random random(9);
    std::vector<int> z(at(x.rows()));
    for (Eigen::Index i = 0; i < x.rows(); ++i) z[at(i)] = x.row(i).sum() < d / 2;
    Vector sum = Vector::Zero(2 * d), squares = sum;
    for (int draw = -500; draw < draws; ++draw) {
      Matrix ones = Matrix::Ones(2, d), zeros = ones, odds(2, d);
      Vector count = Vector::Ones(2);
      for (Eigen::Index i = 0; i < x.rows(); ++i) {
        count(z[at(i)])++;
        for (int j = 0; j < d; ++j) (x(i, j) == 1 ? ones : zeros)(z[at(i)], j)++;
      }
      const double share = random.beta(count(0), count(1));
      Matrix p(2, d);
      for (int k = 0; k < 2; ++k)
        for (int j = 0; j < d; ++j) p(k, j) = random.beta(ones(k, j), zeros(k, j));
      for (int j = 0; j < d; ++j) {
        odds(1, j) = std::log(p(0, j) / p(1, j));
        odds(0, j) = std::log((1 - p(0, j)) / (1 - p(1, j)));
      }
      for (Eigen::Index i = 0; i < x.rows(); ++i) {
        double log_odds = std::log(share / (1 - share));
        for (int j = 0; j < d; ++j) log_odds += odds(x(i, j) == 1, j);
        z[at(i)] = random.uniform() * (1 + std::exp(-log_odds)) > 1;
      }
      if (draw < 0) continue;
      const Vector all = p.transpose().reshaped();
      sum += all;
      squares += all.cwiseAbs2();
    }
    const auto plain = deviations(*latent::fitted(x, 2, mean_field)),
               found = deviations(*latent::fitted(x, 2, {{"linear_response", true}}));
    double least = 1;
    for (int i = 0; i < 2 * d; ++i) {
      const double mean = sum(i) / draws, truth = std::sqrt(squares(i) / draws - mean * mean);
      BOOST_TEST_MESSAGE(truth << ": " << plain[at(i)] / truth << " " << found[at(i)] / truth);
      BOOST_TEST(plain[at(i)] < 0.95 * truth);
      BOOST_TEST(std::abs(found[at(i)] / truth - 1) < 0.1);
      least = std::min(least, plain[at(i)] / truth);
    }
    BOOST_TEST(least < 0.6);
  }
}

// Calm and turbulent days of the DAX (docs/hmm.md).
BOOST_AUTO_TEST_CASE(transition_deviations_are_those_of_a_long_chain) {
  const Matrix prices = support::data_set("eustockmarkets");
  hidden_markov::Sequence days = {hidden_markov::hole};
  for (Eigen::Index i = 1; i < prices.rows(); ++i)
    days.push_back(100 * std::log(prices(i, 1) / prices(i - 1, 1)));
  hidden_markov::Data data(1, {days});
  const auto by = [&](Options options) {
    std::vector<double> out;
    const auto model = hidden_markov::fitted(data, 2, std::move(options));
    model->transitions([&](const HmmTransition &t) { out.push_back(t.deviation); });
    return out;
  };
  const auto truth = by({{"method", "gibbs"}, {"draws", 4000}}), plain = by(mean_field),
             found = by({{"linear_response", true}});
  for (const std::size_t i : {0u, 2u}) {
    BOOST_TEST_MESSAGE("dax " << i << ": " << plain[i] / truth[i] << " " << found[i] / truth[i]);
    BOOST_TEST(plain[i] < 0.8 * truth[i]);
    BOOST_TEST(std::abs(found[i] / truth[i] - 1) < 0.1);
  }
}

BOOST_AUTO_TEST_CASE(what_linear_response_refuses) {
  const Matrix x = vague_rows(100, 4, 3);
  for (const char *method : {"svi", "em", "map", "gibbs", "collapsed", "mcem"}) {
    const std::string message = latent::message_of([&] {
      latent::fitted(x, 2, {{"method", method}, {"linear_response", true}});
    });
    BOOST_TEST(message.find("linear_response") != std::string::npos);
    BOOST_TEST(message.find(method) != std::string::npos);
  }
  BOOST_TEST(latent::message_of([&] {
               latent::fitted(x, 2, {{"linear_response", 1}});
             }).find("true or false") != std::string::npos);
  // 100 x (1 + 2 x 10) numbers
  BOOST_TEST(latent::message_of([&] {
               latent::fitted(vague_rows(200, 10, 3), 100, {{"linear_response", true}});
             }).find("at most 2000 natural parameters, but that of this model has 2100") !=
             std::string::npos);
  // A saddle: components that are alike stay so, and would rather part.
  const auto alike =
      latent::point_model((Vector(2) << 0.5, 0.5).finished(), Matrix::Constant(2, 4, 0.5));
  BOOST_TEST(latent::message_of([&] {
               latent::fitted(x, 2, {{"method", "vi"}, {"linear_response", true}}, {}, alike.get());
             }).find("maximum") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
