// Bernoulli mixtures against their definition, written out slowly in long double.
#include "bmm_support.hpp"
#include "questions/row_distribution.hpp"

using namespace latent;

namespace {

using slow::Real;

Real log_sum(const std::vector<Real> &x) { return slow::log_sum_exp(x); }

std::vector<Real> log_joint(const Matrix &x, Eigen::Index i, const std::vector<Real> &weight,
                            const std::vector<std::vector<Real>> &p) {
  std::vector<Real> out;
  for (std::size_t k = 0; k < p.size(); ++k) {
    Real term = std::log(weight[k]);
    for (Eigen::Index j = 0; j < x.cols(); ++j)
      term += std::log(x(i, j) == 1 ? p[k][std::size_t(j)] : 1 - p[k][std::size_t(j)]);
    out.push_back(term);
  }
  return out;
}

/// EM (001) with probabilities clipped to [low, 1 - low] and pseudo-counts for the prior; returns
/// the log-likelihood before every step, and after the last.
std::vector<Real> slow_em(const Matrix &x, const Vector &w, std::vector<Real> &weight,
                          std::vector<std::vector<Real>> &p, Real low, int steps, Real alpha = 1,
                          Real a = 1, Real b = 1) {
  std::vector<Real> trace;
  const std::size_t k_end = p.size();
  for (int step = 0; step <= steps; ++step) {
    Real likelihood = 0;
    std::vector<Real> count(k_end, 0);
    std::vector<std::vector<Real>> sum(k_end, std::vector<Real>(std::size_t(x.cols()), 0));
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      const auto joint = log_joint(x, i, weight, p);
      const Real whole = log_sum(joint);
      likelihood += slow::weight_of(w, i) * whole;
      for (std::size_t k = 0; k < k_end; ++k) {
        const Real r = slow::weight_of(w, i) * std::exp(joint[k] - whole);
        count[k] += r;
        for (Eigen::Index j = 0; j < x.cols(); ++j) sum[k][std::size_t(j)] += r * x(i, j);
      }
    }
    trace.push_back(likelihood);
    if (step == steps) break;
    Real total = 0;
    for (const Real c : count) total += c + alpha - 1;
    for (std::size_t k = 0; k < k_end; ++k) {
      weight[k] = (count[k] + alpha - 1) / total;
      for (Eigen::Index j = 0; j < x.cols(); ++j)
        p[k][std::size_t(j)] =
            std::clamp((sum[k][std::size_t(j)] + a - 1) / (count[k] + a + b - 2), low, 1 - low);
    }
  }
  return trace;
}

Real log_beta(Real a, Real b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

/// log p(rows, assignment) with weights and probabilities integrated out, alpha = a = b = 1.
Real log_evidence_of(const Matrix &x, const std::vector<int> &z, int k) {
  Real total = std::lgamma(Real(k)) - std::lgamma(Real(k) + Real(x.rows()));
  for (int c = 0; c < k; ++c) {
    Real n = 0;
    std::vector<Real> ones(std::size_t(x.cols()), 0);
    for (Eigen::Index i = 0; i < x.rows(); ++i)
      if (z[std::size_t(i)] == c) {
        ++n;
        for (Eigen::Index j = 0; j < x.cols(); ++j) ones[std::size_t(j)] += x(i, j);
      }
    total += std::lgamma(n + 1);
    for (const Real s : ones) total += log_beta(1 + s, 1 + n - s);
  }
  return total;
}

/// The ELBO from its terms, alpha = a = b = 1 in the prior.
Real slow_elbo(const Matrix &x, const BernoulliMixture &model) {
  const int k_end = model.size();
  Real whole = 0, total = 0;
  std::vector<bayes::BmmPosterior> q;
  for (int k = 0; k < k_end; ++k) q.push_back(model.posterior(k)), whole += q.back().alpha;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    std::vector<Real> joint;
    for (const auto &c : q) {
      Real term = slow::digamma(c.alpha) - slow::digamma(whole);
      for (std::size_t j = 0; j < c.a.size(); ++j)
        term += slow::digamma(x(i, Eigen::Index(j)) == 1 ? c.a[j] : c.b[j]) -
                slow::digamma(Real(c.a[j]) + Real(c.b[j]));
      joint.push_back(term);
    }
    total += log_sum(joint);
  }
  total += std::lgamma(Real(k_end)) - std::lgamma(whole);
  for (const auto &c : q) {
    total += std::lgamma(Real(c.alpha)) -
             (Real(c.alpha) - 1) * (slow::digamma(c.alpha) - slow::digamma(whole));
    for (std::size_t j = 0; j < c.a.size(); ++j) {
      const Real a = c.a[j], b = c.b[j], sum = slow::digamma(a + b);
      total -=
          (a - 1) * (slow::digamma(a) - sum) + (b - 1) * (slow::digamma(b) - sum) - log_beta(a, b);
    }
  }
  return total;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bmm)

BOOST_AUTO_TEST_CASE(iterations_agree_with_the_definition) {
  const int d = 5, k = 3, n = 90;
  const Matrix x = binary_rows(n, d, 1);
  const Vector w = support::random_weights(n, 2);
  bayes::Random random(3);
  Vector weights(k);
  Matrix p(k, d);
  for (int i = 0; i < k; ++i) {
    weights(i) = 0.2 + 0.1 * i;
    for (int j = 0; j < d; ++j) p(i, j) = 0.1 + 0.8 * random.uniform();
  }
  weights /= weights.sum();
  const Fitted start = point_model(weights, p);
  for (const std::string method : {"em", "map"}) {
    const double low = 0.05, alpha = method == "map" ? 1.5 : 1, a = method == "map" ? 1.25 : 1,
                 b = method == "map" ? 2.5 : 1;
    std::vector<Real> weight(weights.data(), weights.data() + k);
    std::vector<std::vector<Real>> q(k, std::vector<Real>(d));
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < d; ++j) q[std::size_t(i)][std::size_t(j)] = p(i, j);
    const auto trace = slow_em(x, w, weight, q, method == "em" ? low : 0, 20, alpha, a, b);
    Options options = {{"method", method}, {"max_iter", 20}, {"tol", 0.0}};
    if (method == "em")
      options.push_back({"minimum", low});
    else
      options.push_back({"prior", Options{{"alpha", alpha}, {"a", a}, {"b", b}}});
    const Fitted model = fitted(x, k, options, w, start.get());
    BOOST_TEST(distance(model->info.log_likelihood, double(trace.back())) < 1e-12);
    for (int i = 0; i < k; ++i) {
      const auto c = model->component(i);
      BOOST_TEST(std::abs(c.weight - double(weight[std::size_t(i)])) < 1e-10);
      for (int j = 0; j < d; ++j) {
        BOOST_TEST(std::abs(c.mean[std::size_t(j)] - double(q[std::size_t(i)][std::size_t(j)])) <
                   1e-9);
        if (method == "em")
          BOOST_TEST((c.mean[std::size_t(j)] >= low && c.mean[std::size_t(j)] <= 1 - low));
      }
    }
    const auto &steps = model->trace[0];
    BOOST_TEST(steps.size() == 21u);
    for (std::size_t i = 1; i < steps.size(); ++i) BOOST_TEST(steps[i] >= steps[i - 1] - 1e-9);
    if (method == "map") {  // the objective has the prior's density
      Real prior = std::lgamma(alpha * k) - k * std::lgamma(Real(alpha)) - k * d * log_beta(a, b);
      for (int i = 0; i < k; ++i) {
        prior += (alpha - 1) * std::log(weight[std::size_t(i)]);
        for (int j = 0; j < d; ++j)
          prior += (a - 1) * std::log(q[std::size_t(i)][std::size_t(j)]) +
                   (b - 1) * std::log(1 - q[std::size_t(i)][std::size_t(j)]);
      }
      BOOST_TEST(distance(model->info.objective, double(trace.back() + prior)) < 1e-12);
    }
  }
  const Fitted vi = fitted(x, k, {});
  BOOST_TEST(distance(vi->info.objective, double(slow_elbo(x, *vi))) < 1e-12);
  BOOST_TEST(vi->info.converged);
}

BOOST_AUTO_TEST_CASE(the_bound_is_below_the_evidence) {
  for (const int k : {1, 2}) {
    const Matrix x = binary_rows(7, 3, 5);
    std::vector<Real> terms;
    slow::for_each_assignment(
        7, k, [&](const std::vector<int> &z) { terms.push_back(log_evidence_of(x, z, k)); });
    const Real evidence = log_sum(terms);
    const Fitted model = fitted(x, k, {{"tol", 0.0}});
    if (k == 1)
      BOOST_TEST(distance(model->info.objective, double(evidence)) < 1e-12);
    else
      BOOST_TEST(model->info.objective < double(evidence));
    BOOST_TEST(model->info.objective > double(evidence) - 3);
  }
}

BOOST_AUTO_TEST_CASE(one_component_has_a_closed_form) {
  const Matrix x = binary_rows(60, 4, 7);
  const Fitted em = fitted(x, 1, {{"method", "em"}}),
               vi =
                   fitted(x, 1, {{"prior", Options{{"a", Tensor{{4}, {1, 2, 3, 4}}}, {"b", 0.5}}}});
  for (int j = 0; j < 4; ++j) {
    const double ones = x.col(j).sum();
    BOOST_TEST(std::abs(em->component(0).mean[std::size_t(j)] -
                        std::clamp(ones / 60, 1e-6, 1 - 1e-6)) < 1e-15);
    BOOST_TEST(vi->posterior(0).a[std::size_t(j)] == 1 + j + ones);
    BOOST_TEST(vi->posterior(0).b[std::size_t(j)] == 0.5 + 60 - ones);
    BOOST_TEST(std::abs(vi->component(0).mean[std::size_t(j)] - (1 + j + ones) / (1.5 + j + 60)) <
               1e-15);
  }
  const Matrix y = mixed_rows(50, 8);
  const Fitted all = fitted(y, 1, support::with(mixed, {{"method", "em"}}));
  std::vector<double> mean, covariance;
  all->moments(mean, covariance);
  BOOST_TEST(std::abs(mean[1] - y.col(1).mean()) < 1e-12);
  BOOST_TEST(std::abs(mean[2] - y.col(2).mean()) < 1e-12);
  BOOST_TEST(std::abs(covariance[10] - (y.col(2).array() - y.col(2).mean()).square().mean()) <
             1e-12);
  BOOST_TEST(std::isnan(mean[3]));
  std::map<double, double> share;
  all->describe_parameters({}, [&](const bayes::Parameter &p) {
    if (p.element == 3) share[p.category] = p.value;
  });
  for (const auto &[category, value] : share)
    BOOST_TEST(std::abs(value - double((y.col(3).array() == category).count()) / 50) < 1e-12);
  // As one posterior learns from rows one by one, the log predictive densities add up to the
  // evidence.
  for (const Options &options : {Options{}, mixed}) {
    const Matrix &rows = options.empty() ? x : y;
    const Fitted first = fitted(rows.topRows(30), 1, options);
    const Fitted rest = fitted(rows.bottomRows(20), 1, {}, {}, first.get(), true);
    double chain = 0;
    Fitted running = fitted(rows.topRows(30), 1, options);
    for (Eigen::Index i = rows.rows() - 20; i < rows.rows(); ++i) {
      chain += running->log_density(support::row(rows, i));
      running = fitted(rows.row(i), 1, {}, {}, running.get(), true);
    }
    BOOST_TEST(distance(chain, rest->info.objective) < 1e-10);
    BOOST_TEST(distance(*running, *rest) < 1e-10);
  }
}

// Means and covariances of 100000 draws, within 5 standard errors (fixed seed).
BOOST_AUTO_TEST_CASE(moments_agree_with_draws) {
  const Matrix x = binary_rows(200, 4, 31), y = mixed_rows(200, 32).leftCols(3);
  const Options three = {{"likelihood", Document::List{"bernoulli", "poisson", "normal"}}};
  for (const auto &[rows, options] : {std::pair(x, Options{}), std::pair(y, three)}) {
    const Fitted model = fitted(rows, 3, support::with(options, {{"method", "em"}}));
    std::vector<double> mean, covariance;
    model->moments(mean, covariance);
    const int n = 100000;
    const auto d = rows.cols();
    Matrix draws(n, d);
    Vector counts = Vector::Zero(3);
    std::vector<double> row(static_cast<std::size_t>(d));
    const auto distribution = model->row_distribution();
    for (int i = 0; i < n; ++i) {
      counts(distribution->sample(9, i, row)) += 1;
      for (Eigen::Index j = 0; j < d; ++j) draws(i, j) = row[std::size_t(j)];
    }
    for (int k = 0; k < 3; ++k)
      BOOST_TEST(std::abs(counts(k) / n - model->component(k).weight) < 5 * std::sqrt(0.25 / n));
    const Matrix away = draws.rowwise() - Eigen::Map<const Eigen::RowVectorXd>(mean.data(), d);
    for (Eigen::Index i = 0; i < d; ++i) {
      BOOST_TEST(std::abs(away.col(i).mean()) <
                 5 * std::sqrt(covariance[std::size_t(i * d + i)] / n));
      for (Eigen::Index j = 0; j < d; ++j) {
        const Vector product = away.col(i).cwiseProduct(away.col(j));
        const double expected = covariance[std::size_t(i * d + j)];
        BOOST_TEST(std::abs(product.mean() - expected) <
                   5 * std::sqrt((product.array() - expected).square().mean() / n));
      }
    }
  }
  // The predictive distribution, by counting.
  const Fitted vi = fitted(x.leftCols(2), 2, {{"prior", Options{{"a", 0.2}, {"b", 0.2}}}});
  const auto predictive = vi->row_distribution();
  double sum = 0;
  for (int code = 0; code < 4; ++code) {
    const std::vector<double> row = {double(code & 1), double(code >> 1)};
    double seen = 0;
    std::vector<double> drawn(2);
    for (int i = 0; i < 40000; ++i) {
      predictive->sample(5, i, drawn);
      seen += drawn == row;
    }
    const double p = std::exp(vi->log_density(row));
    sum += p;
    BOOST_TEST(std::abs(seen / 40000 - p) < 5 * std::sqrt(0.25 / 40000));
  }
  BOOST_TEST(std::abs(sum - 1) < 1e-12);
}

// Components are averages over all draws, predictions over those stored; their errors say how far
// these are from those.
BOOST_AUTO_TEST_CASE(components_of_all_draws_and_predictions_of_some) {
  const Matrix x = binary_rows(40, 4, 3);
  const auto row = support::row(x, 0);
  bayes::Control control;
  for (const char *method : {"gibbs", "collapsed"}) {
    const Options options = {{"method", method}, {"chains", 2}, {"draws", 1000}};
    const auto sampled = [&](int stored) {
      return fitted(x, 2, support::with(options, {{"stored_draws", stored}}));
    };
    const Fitted few = sampled(60), all = sampled(1000), usual = fitted(x, 2, options);
    BOOST_TEST((few->stored_draws() == 60 && all->stored_draws() == 1000));
    BOOST_TEST(usual->stored_draws() == 500);
    BOOST_TEST(fitted(x, 2, {{"method", "vi"}})->stored_draws() == 0);
    for (int k = 0; k < 2; ++k) {
      BOOST_TEST(few->component(k).weight == all->component(k).weight);
      BOOST_TEST(few->component(k).count == all->component(k).count);
    }
    const bayes::PredictiveErrors rough = few->mcse(row, control), fine = all->mcse(row, control);
    BOOST_TEST(rough.probabilities.size() == 2u);
    BOOST_TEST(rough.log_density > fine.log_density);
    BOOST_TEST(fine.log_density > 0);
    const double apart = std::abs(few->log_density(row) - all->log_density(row));
    BOOST_TEST((apart > 0 && apart < 6.5 * (rough.log_density + fine.log_density)));
    double a[2], b[2];
    few->probabilities(row, a);
    all->probabilities(row, b);
    BOOST_TEST(std::abs(a[0] - b[0]) <
               6.5 * (rough.probabilities[0] + fine.probabilities[0]) + 1e-12);
    BOOST_TEST(distance(rough.probabilities[0], rough.probabilities[1]) < 1e-6);
  }
  // draws of quantities alone, as of another model
  const Fitted point = fitted(x, 2, {{"method", "em"}});
  BOOST_CHECK_THROW(point->mcse(row, control), bayes::Error);
  point->draws = fitted(x, 2, {{"method", "gibbs"}, {"draws", 20}})->draws;
  BOOST_CHECK_THROW(point->mcse(row, control), bayes::Error);
}

BOOST_AUTO_TEST_SUITE_END()
