// The objectives of mixtures: compared with enumeration and an independent slow implementation,
// monotone, flat at convergence.
//
// Each case was seen to fail on a broken copy of the headers; the breaks are named where they are
// caught.
#include "slow_mixture.hpp"

using namespace support;

namespace {

/// Every learner that has an objective, as options.
struct Case {
  std::string method, shape;
  Options options;
};
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const auto &shape : shapes) {
    for (const char *method : {"em", "map", "vi"})
      out.push_back({method, shape, {{"method", method}, {"covariance", shape}}});
    out.back().options.push_back({"prior", Options{{"alpha", 0.3}}});
  }
  out.push_back(
      {"independent", "full", {{"method", "vi"}, {"prior", Options{{"type", "independent"}}}}});
  out.push_back({"kmeans", "spherical", {{"method", "kmeans"}}});
  return out;
}

slow::Real squared_distances(const Matrix &x, const Vector &w, const GaussianMixture &model) {
  slow::Real total = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    slow::Real least = std::numeric_limits<slow::Real>::infinity();
    for (const auto &c : components(model)) {
      slow::Real s = 0;
      for (const slow::Real v : slow::minus(row(x, i), c.mean, int(x.cols()))) s += v * v;
      least = std::min(least, s);
    }
    total -= slow::weight_of(w, i) * least;
  }
  return total;
}

double slow_objective(const Case &c, const Matrix &x, const Vector &w,
                      const GaussianMixture &model) {
  if (c.method == "kmeans") return double(squared_distances(x, w, model));
  if (c.method == "vi" || c.method == "independent")
    return double(slow::elbo(c.shape, x, w, slow::prior_of(model), posteriors(model)));
  slow::Real total = slow::log_likelihood(x, w, components(model));
  if (c.method == "map")
    total += slow::log_prior(c.shape, slow::prior_of(model), components(model));
  return double(total);
}

void check(const Case &c, const Matrix &x, const Vector &w, int k, const std::string &name) {
  BOOST_TEST_CONTEXT(name << " k " << k << ' ' << c.method << ' ' << c.shape
                          << (w.size() ? " weighted" : "")) {
    const auto model = fit(x, k, with(c.options, {{"restarts", 2}, {"max_iter", 200}}), w);
    for (const auto &trace : model->trace)
      for (std::size_t i = 1; i < trace.size(); ++i)
        BOOST_TEST(trace[i] >= trace[i - 1] - 1e-9 * std::abs(trace[i - 1]),
                   "iteration " << i << ": " << trace[i - 1] << " to " << trace[i]);
    BOOST_TEST(distance(model->info.objective, slow_objective(c, x, w, *model)) < 1e-9);
    BOOST_TEST(distance(model->info.log_likelihood,
                        double(slow::log_likelihood(x, w, components(*model)))) < 1e-9);
    double count = 0, weight = 0;
    for (const auto &component : components(*model)) {
      count += component.count;
      weight += component.weight;
    }
    BOOST_TEST(distance(count, w.size() ? w.sum() : double(x.rows())) < 1e-12);
    BOOST_TEST(distance(weight, 1) < 1e-12);
  }
}

/// A step of size h in a random direction of the parameters, so that weights stay weights and
/// covariances covariances.
struct Direction {
  Matrix mean, weight;
  std::vector<Matrix> scale, of_mean;
  Direction(const std::string &shape, int k, const Vector &deviation, std::uint64_t seed)
      : mean(deviation.size(), k),
        weight(k, 3) {
    bayes::Random random(seed);
    const auto fill = [&](Matrix &m) {
      for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = random.normal();
    };
    fill(mean);
    fill(weight);
    mean = deviation.asDiagonal() * mean;
    for (int j = 0; j < k; ++j) {
      Matrix m(deviation.size(), deviation.size());
      fill(m);
      const double first = m(0, 0);
      m = deviation.asDiagonal() * m * deviation.cwiseInverse().asDiagonal();
      if (shape == "diagonal") m = Matrix(m.diagonal().asDiagonal());
      if (shape == "spherical") m = first * Matrix::Identity(m.rows(), m.cols());
      scale.push_back(shape == "tied" && j > 0 ? scale[0] : m);
      of_mean.push_back(m);
    }
    if (shape == "tied") weight.col(2).setConstant(weight(0, 2));
  }
  static void move(std::vector<double> &to, const Matrix &factor, double h) {
    if (to.empty()) return;
    const auto d = factor.rows();
    const Matrix f = Matrix::Identity(d, d) + h * factor;
    const Matrix moved = f * Eigen::Map<const Matrix>(to.data(), d, d) * f.transpose();
    to.assign(moved.data(), moved.data() + moved.size());
  }
  std::vector<bayes::GmmPosterior> from(std::vector<bayes::GmmPosterior> q, double h) const {
    for (std::size_t j = 0; j < q.size(); ++j) {
      const auto i = Eigen::Index(j);
      q[j].alpha *= std::exp(h * weight(i, 0));
      q[j].c *= std::exp(h * weight(i, 1));
      q[j].a *= std::exp(h * weight(i, 2));
      for (std::size_t l = 0; l < q[j].m.size(); ++l) q[j].m[l] += h * mean(Eigen::Index(l), i);
      move(q[j].B, scale[j], h);
      move(q[j].S, of_mean[j], h);
    }
    return q;
  }
  std::vector<bayes::GmmComponent> from(std::vector<bayes::GmmComponent> q, double h) const {
    double total = 0;
    for (std::size_t j = 0; j < q.size(); ++j) {
      const auto i = Eigen::Index(j);
      total += q[j].weight *= std::exp(h * weight(i, 0));
      for (std::size_t l = 0; l < q[j].mean.size(); ++l)
        q[j].mean[l] += h * mean(Eigen::Index(l), i);
      move(q[j].covariance, scale[j], h);
    }
    for (auto &c : q) c.weight /= total;
    return q;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(mixture)

BOOST_AUTO_TEST_CASE(slow_special_functions) {
  for (const double x : {0.1, 0.5, 1.0, 7.3, 100.0})  // digamma is the derivative of log Gamma
    BOOST_TEST(std::abs(double(slow::digamma(x) -
                               (std::lgamma(x + 1e-6L) - std::lgamma(x - 1e-6L)) / 2e-6L)) < 1e-9);
}

// Caught: every term of the ELBO, of the log posterior and of the log likelihood that is dropped or
// has a wrong factor; the updates' counts off by one; c n / (c n + 1).
BOOST_AUTO_TEST_CASE(objectives_increase_and_agree_with_their_definitions) {
  for (const auto &c : cases()) {
    for (const auto &name : data_sets) {
      Matrix x = data_set(name);
      if (x.rows() > 300) x = x.topRows(300).eval();  // the slow side is slow
      check(c, x, {}, 3, name);
    }
    const Matrix x = normal_rows(150, 3, 21);
    check(c, x, {}, 1, "random");
    check(c, x, random_weights(150, 22), 4, "random");
    check(c, normal_rows(90, 1, 23), {}, 3, "one column");
    check(c, normal_rows(60, 9, 24), random_weights(60, 25), 2, "nine columns");
  }
}

// Caught: an update that stops elsewhere than the objective's maximum, although that increases (a +
// n - 1, B without its last term).
BOOST_AUTO_TEST_CASE(at_convergence_the_objective_is_flat) {
  for (const auto &c : cases()) {
    if (c.method == "kmeans") continue;
    const Matrix x = normal_rows(120, 2, 31);
    const Vector w = random_weights(120, 32);
    const auto model =
        fit(x, 3, with(c.options, {{"restarts", 1}, {"tol", 0.0}, {"max_iter", 20000}}), w);
    const Vector deviation =
        ((x.rowwise() - x.colwise().mean()).colwise().norm() / std::sqrt(120.0)).transpose();
    const auto prior =
        c.method == "em" ? std::vector<bayes::GmmPosterior>() : slow::prior_of(*model);
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const Direction direction(c.shape, 3, deviation, seed);
      const auto value = [&](double h) {
        if (c.method == "vi" || c.method == "independent")
          return slow::elbo(c.shape, x, w, prior, direction.from(posteriors(*model), h));
        const auto moved = direction.from(components(*model), h);
        return slow::log_likelihood(x, w, moved) +
               (c.method == "map" ? slow::log_prior(c.shape, prior, moved) : 0);
      };
      const double h = 1e-4, slope = double(value(h) - value(-h)) / (2 * h),
                   bend = double(value(h) + value(-h) - 2 * value(0)) / (h * h);
      BOOST_TEST_CONTEXT(c.method << ' ' << c.shape << " direction " << seed) {
        BOOST_TEST(bend < 0);
        // the maximum is within 1e-5 of a standard step
        BOOST_TEST(std::abs(slope) < 1e-5 * std::abs(bend));
      }
    }
  }
}

// Caught: a missing constant (d log 2 as in 002 L9's t1): then ELBO > evidence or, for k = 1, not
// equal to it.
BOOST_AUTO_TEST_CASE(the_elbo_is_below_the_evidence_by_enumeration) {
  for (const auto &shape : shapes)
    for (const int d : {1, 2})
      for (const int k : {1, 2, 3}) {
        const int n = k == 3 ? 6 : 8;
        const Matrix x = normal_rows(n, d, 40 + std::uint64_t(d), 2);
        const Options options = {
            {"covariance", shape},
            {"method", "vi"},
            {"tol", 0.0},
            {"max_iter", 5000},
            {"prior", Options{{"alpha", 0.7},
                              {"c", 0.2},
                              {"a", d + 1.5},
                              {"B", 0.8},
                              {"m", Tensor{{d}, std::vector<double>(std::size_t(d), 0.5)}}}}};
        const auto model = fit(x, k, options);
        const auto prior = slow::prior_of(*model);
        std::vector<slow::Real> terms;
        slow::for_each_assignment(n, k, [&](const std::vector<int> &z) {
          terms.push_back(slow::log_assignment(z, prior) + slow::log_marginal(shape, x, z, prior));
        });
        const double evidence = double(slow::log_sum_exp(terms)), elbo = model->info.objective;
        BOOST_TEST_CONTEXT(shape << " d " << d << " k " << k << " evidence " << evidence << " ELBO "
                                 << elbo) {
          if (k == 1)
            BOOST_TEST(distance(elbo, evidence) < 1e-10);
          else
            BOOST_TEST(elbo < evidence);
          BOOST_TEST(elbo > evidence - 3.0 * k);  // the mean-field gap is smaller than that
        }
      }
}

// The independent prior has no closed evidence: in one dimension the mean is left to quadrature
// (the trapezoid rule, which converges faster than any power for a smooth integrand that vanishes
// at both ends).
BOOST_AUTO_TEST_CASE(the_elbo_of_the_independent_prior_is_below_the_evidence) {
  const int n = 6;
  const Matrix x = normal_rows(n, 1, 51, 2);
  for (const int k : {1, 2, 3}) {
    const slow::Real m = 0.5, C = 3, a = 2.5, B = 0.8;
    const auto model = fit(x, k,
                           {{"method", "vi"},
                            {"tol", 0.0},
                            {"max_iter", 5000},
                            {"prior", Options{{"type", "independent"},
                                              {"alpha", 0.7},
                                              {"m", Tensor{{1}, {0.5}}},
                                              {"C", 3.0},
                                              {"a", 2.5},
                                              {"B", 0.8}}}});
    const auto prior = slow::prior_of(*model);
    std::map<int, slow::Real> known;  // by the set of rows in the group
    const auto group_evidence = [&](int set) {
      if (const auto at = known.find(set); at != known.end()) return at->second;
      const slow::Real step = 1e-3L;
      slow::Real sum = 0;
      for (slow::Real mu = m - 20; mu <= m + 20; mu += step) {
        slow::Real rate = B / 2, shape = a / 2,
                   log_density = -(mu - m) * (mu - m) / (2 * C) - 0.5L * std::log(2 * slow::pi * C);
        log_density += shape * std::log(rate) - std::lgamma(shape);
        for (int i = 0; i < n; ++i)
          if (set >> i & 1) {
            rate += (x(i, 0) - mu) * (x(i, 0) - mu) / 2;
            shape += 0.5L;
            log_density -= 0.5L * slow::log_2pi;
          }
        sum += std::exp(log_density + std::lgamma(shape) - shape * std::log(rate)) * step;
      }
      return known[set] = std::log(sum);
    };
    BOOST_TEST(std::abs(double(group_evidence(0))) < 1e-12);
    std::vector<slow::Real> terms;
    slow::for_each_assignment(n, k, [&](const std::vector<int> &z) {
      slow::Real term = slow::log_assignment(z, prior);
      for (int j = 0; j < k; ++j) {
        int set = 0;
        for (int i = 0; i < n; ++i) set |= (z[std::size_t(i)] == j) << i;
        if (set) term += group_evidence(set);
      }
      terms.push_back(term);
    });
    const double evidence = double(slow::log_sum_exp(terms)), elbo = model->info.objective;
    BOOST_TEST_CONTEXT("k " << k << " evidence " << evidence << " ELBO " << elbo) {
      BOOST_TEST(elbo < evidence);
      BOOST_TEST(elbo > evidence - (k == 1 ? 0.2 : 3.0 * k));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
