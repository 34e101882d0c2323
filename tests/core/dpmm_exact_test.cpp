// Fitted Dirichlet process mixtures against the exact posterior of a few rows, and the variational
// bound against its definition.
#include <random>

#include "dpmm_support.hpp"
#include "fit/driver.hpp"
#include "mixture/stick_breaking.hpp"
#include "sampler_support.hpp"

using namespace samplers;
using dpmm::answered;
using dpmm::check_sound;
using dpmm::fit;
using dpmm::methods;
using dpmm::sampled;
using support::Options;
using support::with;

namespace {

const GammaPrior gamma_prior{2, 1.5};
const Options learning = {{"concentration", Options{{"shape", 2}, {"rate", 1.5}}}},
              fixed_at = {{"concentration", 1.3}};

/// A base measure, and the equivalent options.
template <class Q> struct Base {
  std::string name;
  Q prior;
  Options options;
  Matrix x;
};
Base<NormalWishart> normal_base(const CovarianceShape &shape, const std::string &name, int n,
                                int d) {
  const auto prior = normal_prior(shape, d);
  const Matrix &scale = prior.B[0];
  const std::vector<double> values(scale.data(), scale.data() + scale.size());
  Document B = shape.isotropic ? Document(scale(0, 0))
               : shape.dense   ? Document(Tensor{{d, d}, values})
                               : Document(Tensor{{d}, values});
  const Document m = Tensor{{d}, {prior.m.data(), prior.m.data() + d}};
  return {name,
          prior,
          {{"covariance", name},
           {"prior", Options{{"m", m}, {"c", prior.c(0)}, {"a", prior.a(0)}, {"B", B}}}},
          doubtful_rows(n, d, 21)};
}
Base<ProductPosterior> columns_base(int n) {
  ProductPosterior prior{
      products::columns_of({{kind_of<Bernoulli>}, {kind_of<Poisson>}, {kind_of<UnivariateNormal>}}),
      {}};
  prior.values.resize(prior.columns->size().posterior, 1);
  const double bernoulli[] = {0.8, 1.5}, poisson[] = {1.7, 0.6}, normal[] = {0.3, 0.4, 2.5, 1.4};
  std::copy_n(bernoulli, 2, prior.column(0, 0)), std::copy_n(poisson, 2, prior.column(0, 1)),
      std::copy_n(normal, 4, prior.column(0, 2));
  const Options keys = {{"bernoulli", Options{{"a", 0.8}, {"b", 1.5}}},
                        {"poisson", Options{{"shape", 1.7}, {"rate", 0.6}}},
                        {"normal", Options{{"m", 0.3}, {"c", 0.4}, {"a", 2.5}, {"B", 1.4}}}};
  return {"columns",
          prior,
          {{"likelihood", Document::List{"bernoulli", "poisson", "normal"}}, {"prior", keys}},
          products::some_rows(prior, n, 31)};
}

/// log p(x | rows of cluster k) for every k, last for no rows.
template <class Q>
std::vector<double> log_predictives(const Q &prior, const Matrix &rows, std::span<const int> labels,
                                    const std::vector<double> &x) {
  typename Q::Clusters clusters(prior);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    while (clusters.size() <= labels[i]) clusters.open();
    clusters.add(labels[i], support::row(rows, Eigen::Index(i)).data());
  }
  std::vector<double> out;
  for (int k = 0; k < clusters.size(); ++k) out.push_back(clusters.log_predictive(k, x.data()));
  out.push_back(clusters.log_prior_predictive(x.data()));
  return out;
}

/// The contribution of one draw for x: its density, and that times the probabilities of the
/// estimate's clusters and of a new one.
template <class Q>
std::vector<double> predicted(const Q &prior, const Matrix &rows, std::span<const int> labels,
                              double alpha, std::span<const int> estimate,
                              const std::vector<double> &x) {
  const auto log_p = log_predictives(prior, rows, labels, x);
  const auto counts = sizes(labels);
  const double n = double(labels.size());
  std::vector<double> out(1 + sizes(estimate).size() + 1, 0.0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    // Every row carries its share of its cluster's weight into the estimate's cluster that it is
    // in.
    const double mass = std::exp(log_p[std::size_t(labels[i])]) / (n + alpha);
    out[0] += mass;
    out[1 + std::size_t(estimate[i])] += mass;
  }
  out.back() = alpha / (n + alpha) * std::exp(log_p.back());
  out[0] += out.back();
  return out;
}

/// f(base) for likelihoods of all kinds.
template <class F> void for_each_base(int n, F f) {
  f(normal_base(full_covariance, "full", n, 2));
  f(normal_base(diagonal_covariance, "diagonal", n, 3));
  f(normal_base(spherical_covariance, "spherical", n, 2));
  f(columns_base(n));
}

/// Mean and variance of the largest weight of clusters with so many rows, under
/// Dirichlet(counts, alpha), where alpha is that of all clusters to come.
std::pair<double, double> largest_weight(const std::vector<double> &counts, double alpha,
                                         std::mt19937 &generator, int n = 400) {
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    double most = 0, whole = std::gamma_distribution<double>(alpha)(generator);
    for (const double count : counts) {
      const double own = std::gamma_distribution<double>(count)(generator);
      most = std::max(most, own);
      whole += own;
    }
    sum += most / whole;
    squares += most / whole * (most / whole);
  }
  const double mean = sum / n;
  return {mean, squares / n - mean * mean};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dpmm_exact)

// The distribution of the draws is the exact posterior: means of the summaries, predictive density
// and probabilities.
BOOST_AUTO_TEST_CASE(fits_have_the_exact_posterior, *boost::unit_test::label("long")) {
  const int n = 5;
  for_each_base(n, [&]<class Q>(const Base<Q> &base) {
    auto rows = support::rows_of(base.x);
    for (const bool learned : {false, true}) {
      const auto process = PartitionPrior::dirichlet_process(1.3);
      const Exact exact =
          exact_posterior(rows, base.prior, process, learned ? &gamma_prior : nullptr);
      const ConcentrationIntegral integral{gamma_prior, n};
      std::mt19937 generator(8);
      for (const auto &method : methods) {
        if (method == "vi") continue;
        const int draws = effort(5000);
        const DpmmFit fitted = fit(rows, with(with(base.options, learned ? learning : fixed_at),
                                              sampled(method, 100 + draws)));
        const DirichletProcessMixture &model = *fitted.model;
        const std::string name = base.name + ' ' + method + (learned ? " learning" : "");
        BOOST_TEST(model.draws.values.size() ==
                   std::size_t(2 * draws) * model.draws.quantities.size());
        const auto check = [&](std::size_t quantity, const std::function<double(double)> &f,
                               double expected, double least = 0) {
          std::vector<double> means(batches);
          for (int t = 0; t < 2 * draws; ++t)
            means[std::size_t(t / (2 * draws / batches))] +=
                f(model.draws.values[std::size_t(t) * model.draws.quantities.size() + quantity]) *
                batches / (2 * draws);
          BOOST_TEST(std::abs(z_score(means, expected, least)) < largest_z,
                     name << ' ' << model.draws.quantities[quantity]);
        };
        for (int k = 1; k < n; ++k) {
          const double p = exact.means[std::size_t(k - 1)];
          check(
              1, [k](double v) { return v == k; }, p, std::sqrt(p * (1 - p) / (2 * draws)));
        }
        if (!learned)
          check(
              2, [](double v) { return v; }, exact.mean([&](int p) {
                return largest_weight(sizes(exact.labels[std::size_t(p)]), 1.3, generator, 10000)
                    .first;
              }));
        if (learned)
          check(
              4, [](double v) { return v; }, exact.concentration[0]);
        else
          check(
              0, [](double v) { return v; },
              exact.mean([&](int p) { return exact.log_joint[std::size_t(p)]; }));

        // Predictions use fewer draws, so far apart that they are independent: each varies about
        // the exact value like the posterior.
        const double kept = model.estimate().draws;
        for (const std::vector<double> &x :
             {support::row(base.x, 0), support::row(base.x, 3),
              std::vector<double>(std::size_t(base.x.cols()), 1.0)}) {
          // With s = alpha / (n + alpha) the prediction is a + b s, given the partition.
          std::vector<double> mean, squares;
          for (std::size_t p = 0; p < exact.labels.size(); ++p) {
            const auto now = predicted(base.prior, base.x, exact.labels[p], 1.3, fitted.labels, x),
                       none = predicted(base.prior, base.x, exact.labels[p], 0, fitted.labels, x);
            const int k = int(sizes(exact.labels[p]).size());
            const double at = 1.3 / (n + 1.3),
                         s = learned ? integral.mean(k, [n](double a) { return a / (n + a); }) : at,
                         s2 = learned ? integral.mean(
                                            k, [n](double a) { return a / (n + a) * a / (n + a); })
                                      : at * at;
            mean.resize(now.size()), squares.resize(now.size());
            for (std::size_t q = 0; q < now.size(); ++q) {
              const double a = none[q], b = (now[q] - a) / at;
              mean[q] += exact.probability[p] * (a + b * s);
              squares[q] += exact.probability[p] * (a * a + 2 * a * b * s + b * b * s2);
            }
          }
          const auto answers = answered(model, x);
          for (std::size_t q = 0; q < mean.size(); ++q) {
            const double error = std::sqrt(std::max(0.0, squares[q] - mean[q] * mean[q]) / kept);
            BOOST_TEST(std::abs(answers[q] - mean[q]) < largest_z * error + 1e-12,
                       name << " answer " << q << ": " << answers[q] << ", exactly " << mean[q]
                            << " +- " << error);
          }
        }
      }
    }
  });
}

// If there are few draws all are stored: all summaries and predictions can be recomputed from their
// labels and concentrations.
BOOST_AUTO_TEST_CASE(draw_summaries_agree_with_the_stored_draws) {
  for_each_base(12, [&]<class Q>(const Base<Q> &base) {
    for (const auto &method : methods) {
      if (method == "vi") continue;
      DpmmFit fitted = fit(
          base.x,
          with(with(base.options, learning),
               {{"method", method}, {"chains", 3}, {"draws", 80}, {"warmup", 20}, {"thin", 2}}));
      check_sound(fitted, base.x);
      const Draws &draws = fitted.model->draws;
      BOOST_TEST_REQUIRE(fitted.draws.size() == 90);
      BOOST_TEST_REQUIRE(draws.draws * draws.chains == 90);
      BOOST_TEST((draws.quantities == std::vector<std::string>{"log_joint", "clusters", "largest",
                                                               "entropy", "concentration"}));
      auto rows = support::rows_of(base.x);
      Control control;
      const std::vector<double> x(std::size_t(base.x.cols()), 1.0);
      std::vector<double> mean;
      double best = -1e300, away = 0, variances = 0;
      std::mt19937 generator(7);
      for (int s = 0; s < 90; ++s) {
        const Labels labels(fitted.draws.labels(s).begin(), fitted.draws.labels(s).end());
        const double *const reported = draws.values.data() + std::size_t(s) * 5,
                            alpha = reported[4];
        const auto counts = sizes(labels);
        const int k = int(counts.size());
        double entropy = 0;
        for (const double count : counts) entropy -= count / 12 * std::log(count / 12);
        const double log_joint =
            log_marginal_likelihood(
                statistics_of_labels(rows, base.prior, labels.data(), k, control),
                replicate(base.prior, k)) +
            PartitionPrior::dirichlet_process(alpha).log_probability(counts) + 2 * std::log(1.5) -
            std::lgamma(2) + std::log(alpha) - 1.5 * alpha;
        BOOST_TEST(distance(reported[0], log_joint) < 1e-10);
        BOOST_TEST(reported[1] == k);
        // the largest of weights that are drawn given the partition
        BOOST_TEST((reported[2] > 0 && reported[2] <= 1));
        const auto [expected, variance] = largest_weight(counts, alpha, generator);
        away += reported[2] - expected;
        variances += variance;
        BOOST_TEST(std::abs(reported[3] - entropy) < 1e-9);
        BOOST_TEST(std::isfinite(reported[0]));
        best = std::max(best, reported[0]);
        const auto one = predicted(base.prior, base.x, labels, alpha, fitted.labels, x);
        mean.resize(one.size());
        for (std::size_t q = 0; q < one.size(); ++q) mean[q] += one[q] / 90;
      }
      // A share of rows would have no variance; false alarms are rarer than one in 10,000.
      BOOST_TEST(std::abs(away) < 4 * std::sqrt(variances), method);
      BOOST_TEST(fitted.model->info.objective == best);
      BOOST_TEST(distance(answered(*fitted.model, x), mean) < 1e-10);
    }
  });
}

BOOST_AUTO_TEST_CASE(variational_bounds_increase_and_stay_below_the_evidence) {
  for (const int n : {1, 2, 6})
    for_each_base(n, [&]<class Q>(const Base<Q> &base) {
      auto rows = support::rows_of(base.x);
      for (const double alpha : {0.0, 0.1, 1.3, 40.0})  // 0: learned
        for (const int truncation : {2, 3, 20}) {
          const GammaPrior *const learned = alpha == 0 ? &gamma_prior : nullptr;
          const Exact exact = exact_posterior(
              rows, base.prior, PartitionPrior::dirichlet_process(learned ? 1 : alpha), learned);
          Options options =
              with(base.options,
                   {{"method", "vi"}, {"truncation", truncation}, {"restarts", 4}, {"tol", 1e-9}});
          DpmmFit fitted =
              fit(rows, with(options, learned ? learning : Options{{"concentration", alpha}}));
          const std::string name = base.name + " n " + std::to_string(n) + " truncation " +
                                   std::to_string(truncation) + " alpha " + std::to_string(alpha);
          // The bound is that of the truncated model, which is the Dirichlet process but for some
          // e^(-truncation / concentration) (Ishwaran and James 2001).
          if (truncation == 20 && alpha < 2)
            BOOST_TEST(fitted.model->info.objective < exact.log_evidence + 1e-4, name);
          for (const auto &trace : fitted.model->trace)
            for (std::size_t i = 1; i < trace.size(); ++i)
              BOOST_TEST(trace[i] >= trace[i - 1] - 1e-9 * std::max(1.0, std::abs(trace[i - 1])),
                         name << ": " << trace[i - 1] << " to " << trace[i]);
          check_sound(fitted, base.x);
        }
    });
}

// The sticks' part of the bound is E_q[log p(v, alpha) - log q(v, alpha)], and its weights are
// E_q[log weight]: by draws from q.
BOOST_AUTO_TEST_CASE(the_sticks_share_of_the_bound_agrees_with_monte_carlo) {
  using Q = NormalWishart;
  const Q prior = normal_prior(full_covariance, 1);
  Vector a(3), b(3);
  a << 2.5, 1.2, 3.0;
  b << 4.0, 2.2, 0.9;
  const GammaPrior q_alpha{3.5, 2.1};
  Random random(5);
  for (const bool learned : {false, true}) {
    const StickVariational<Q> learner(replicate(prior, 3), 1.3, learned ? &gamma_prior : nullptr);
    const StickPosterior<Q> state{{a, b, q_alpha}, replicate(prior, 3)};
    const int draws = effort(20000);
    std::vector<std::vector<double>> means(5, std::vector<double>(batches));
    const auto log_gamma_density = [](double x, const GammaPrior &g) {
      return g.shape * std::log(g.rate) - std::lgamma(g.shape) + (g.shape - 1) * std::log(x) -
             g.rate * x;
    };
    for (int t = 0; t < draws; ++t) {
      const std::size_t batch = std::size_t(t / (draws / batches));
      const double share = double(batches) / draws,
                   alpha = learned ? random.gamma(q_alpha.shape) / q_alpha.rate : 1.3;
      double value = learned
                         ? log_gamma_density(alpha, gamma_prior) - log_gamma_density(alpha, q_alpha)
                         : 0,
             left = 0;
      for (int i = 0; i < 3; ++i) {
        const double v = random.beta(a(i), b(i));
        value += std::log(alpha) + (alpha - 1) * std::log1p(-v) + std::lgamma(a(i)) +
                 std::lgamma(b(i)) - std::lgamma(a(i) + b(i)) - (a(i) - 1) * std::log(v) -
                 (b(i) - 1) * std::log1p(-v);
        means[std::size_t(1 + i)][batch] += share * (left + std::log(v));
        left += std::log1p(-v);
      }
      means[4][batch] += share * std::exp(left);
      means[0][batch] += share * value;
    }
    const auto log_weights = learner.log_weights(state);
    BOOST_TEST(std::abs(z_score(means[0], learner.objective(state))) < largest_z);
    for (std::size_t i = 0; i < 3; ++i)
      BOOST_TEST(std::abs(z_score(means[1 + i], log_weights[i])) < largest_z);
    const auto weights = learner.weights(state);
    BOOST_TEST(weights.size() == 4u);
    BOOST_TEST(std::abs(z_score(means[4], weights.back())) < largest_z);
  }
}

BOOST_AUTO_TEST_SUITE_END()
