// The prior of a partition: the Chinese restaurant process of a Dirichlet process, or a finite
// symmetric Dirichlet mixture, both with the weights integrated out and the clusters unlabelled.
//
// p(partition) = [births] prod_clusters exp(log_cluster(n)) / normaliser. Dirichlet process:
// alpha^K prod (n_k - 1)! / prod_{i<n} (alpha + i) (000, 003; in 002 L10 n_k! is printed). Finite
// mixture of K_max: K_max! / (K_max - K)! prod Gamma(n_k + alpha) / Gamma(alpha) / [Gamma(n + K_max
// alpha) / Gamma(K_max alpha)].
#pragma once

#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "base/special.hpp"

namespace bayes {

/// The prior of a Dirichlet process' concentration ~ Gamma(shape, rate), E = shape / rate.
struct GammaPrior {
  double shape = 1, rate = 1;
};

class PartitionPrior {
 public:
  static PartitionPrior dirichlet_process(double concentration) { return {concentration, 0}; }
  static PartitionPrior finite(int components, double alpha) { return {alpha, components}; }

  double concentration() const { return alpha_; }
  void set_concentration(double alpha) { alpha_ = alpha; }
  /// maximal number of clusters; 0: unlimited
  int components() const { return components_; }
  bool full(int clusters) const { return components_ && clusters >= components_; }

  /// The weight of a cluster with n > 0 rows for the next row.
  double weight(double n) const { return components_ ? n + alpha_ : n; }
  /// log of the weight of a new cluster for the next row, given `clusters` others; -infinity if
  /// there can be none.
  double log_new(int clusters) const {
    return log_birth(clusters) + (components_ ? std::log(alpha_) : 0);
  }
  /// The sum of all weights for a row after n others.
  double total(double n) const { return n + (components_ ? components_ * alpha_ : alpha_); }

  double log_birth(int clusters) const {
    if (!components_) return std::log(alpha_);
    return full(clusters) ? -std::numeric_limits<double>::infinity()
                          : std::log(double(components_ - clusters));
  }
  double log_cluster(double n) const {
    return components_ ? log_gamma(n + alpha_) - log_gamma(alpha_) : log_gamma(n);
  }

  /// log p(partition): `counts` are the sizes of its clusters, all positive.
  template <class Counts> double log_probability(const Counts &counts) const {
    double total_count = 0, log_p = 0;
    int clusters = 0;
    for (const double n : counts) {
      log_p += log_birth(clusters++) + log_cluster(n);
      total_count += n;
    }
    const double whole = total(0);
    return log_p - (log_gamma(whole + total_count) - log_gamma(whole));
  }

 private:
  PartitionPrior(double alpha, int components) : alpha_(alpha), components_(components) {}
  double alpha_;
  int components_;  // 0: unlimited
};

/// An update of a Dirichlet process's concentration given that n rows form K clusters, which leaves
/// its full conditional invariant (Escobar and West 1995).
inline double draw_concentration(const GammaPrior &prior, double concentration, int clusters,
                                 double n, Random &random) {
  const double log_eta = std::log(random.beta(concentration + 1, n)), rate = prior.rate - log_eta;
  const double odds = (prior.shape + clusters - 1) / (n * rate);
  const double shape = prior.shape + clusters - (random.uniform() * (1 + odds) < odds ? 0 : 1);
  return std::max(random.gamma(shape), 1e-300) / rate;
}

}  // namespace bayes
