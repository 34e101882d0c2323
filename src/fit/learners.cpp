#include "fit/learners.hpp"

namespace bayes {

std::vector<double> log_weights_of(const Vector &weights) {
  return to_vector(weights.array().log().matrix());
}

std::vector<double> expected_log_weights_of(const Vector &alpha) {
  return to_vector(expected_log_weights(alpha));
}

Vector mean_weights(const Vector &alpha) { return alpha / alpha.sum(); }

Vector shares_of(const Vector &counts, double total) { return counts / total; }

Vector smoothed_shares(const Vector &counts, double total) {
  return (counts.array() + 1) / (total + double(counts.size()));
}

Vector mode_of_weights(const Vector &counts, const Vector &alpha) {
  const Vector mass = counts.array() + (alpha.array() - 1);
  return mass / mass.sum();
}

Vector step_between(const Vector &from, const Vector &to, double rho) {
  return (1 - rho) * from + rho * to;
}

}  // namespace bayes
