#include "mixture/finite_totals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "families/normal/normal_document.hpp"

namespace bayes {

double FiniteTotals::relative_entropy() const {
  if (counts.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  return 1 - std::min(1.0, entropy / (weight * std::log(double(counts.size()))));
}

void FiniteTotals::leave_out(double unobserved, const Vector &weights) {
  if (!(unobserved > 0)) return;
  double each = 0;
  for (const double w : weights)
    if (w > 0) each -= w * std::log(w);
  weight -= unobserved;
  entropy = std::max(0.0, entropy - unobserved * each);
}

double dirichlet_sum(const ModelInfo &info) {
  const Document *const prior = info.options.find("prior");
  const Document *const given = prior ? prior->find("alpha") : nullptr;
  const std::optional<double> alpha = given ? to_number(*given, false) : std::nullopt;
  return alpha && *alpha > 0 ? double(info.rows) + info.components * *alpha
                             : std::numeric_limits<double>::quiet_NaN();
}

double rows_of_draw(const ModelInfo &info) {
  const double sum = dirichlet_sum(info);
  return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
}

void read_totals(const MemberReader &in, int components, FiniteTotals &totals) {
  totals.weight = in.number("weight", 0, 1e300, true);
  totals.entropy = in.number("entropy", 0, 1e300);
  totals.counts = read_vector(in, "counts", components);
  if (!(totals.counts.minCoeff() >= 0)) in.reject("counts", "must not be negative");
}

Vector read_weights(const MemberReader &in, int components) {
  Vector weights = read_vector(in, "weights", components);
  if (!(weights.minCoeff() >= 0) || !(std::abs(weights.sum() - 1) < 1e-9))
    in.reject("weights", "must not be negative and must sum to 1");
  return weights;
}

}  // namespace bayes
