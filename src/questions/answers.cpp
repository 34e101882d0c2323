#include "questions/answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/special.hpp"
#include "base/unseen.hpp"

namespace bayes {

bool asked_for(double x) { return std::isnan(x) && !is_unseen(x); }

namespace {

/// Far from 0 a component may be narrower than the distance between two doubles: then it is a
/// point.
double quantile_of_locations(std::span<const Predicted> parts, std::span<const double> weights,
                             double p) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < parts.size(); ++i) points.push_back({parts[i].a, weights[i]});
  std::sort(points.begin(), points.end());
  double sum = 0;
  for (const auto &[location, weight] : points)
    if ((sum += weight) >= p) return location;
  return points.back().first;
}

}  // namespace

double quantile_given(RowDistribution &rows, int element, double p) {
  const std::span<const Predicted> parts = rows.predicted(element);
  // The median of one normal or Student t needs no search.
  if (parts.size() == 1 && p == 0.5 && parts[0].support == Predicted::Support::real)
    return parts[0].a;
  const double found = quantile_of_mixture(parts, rows.weights(), p);
  return std::isnan(found) && parts[0].support == Predicted::Support::real
             ? quantile_of_locations(parts, rows.weights(), p)
             : found;
}

NumberGiven number_given(RowDistribution &rows, int element, double level) {
  const auto [mean, variance] = rows.moments(element);
  return {quantile_given(rows, element, 0.5), mean, std::sqrt(variance),
          quantile_given(rows, element, (1 - level) / 2),
          quantile_given(rows, element, (1 + level) / 2)};
}

double value_given(RowDistribution &rows, int element) {
  const std::vector<double> &categories = rows.categories(element);
  if (categories.empty()) return quantile_given(rows, element, 0.5);
  const std::vector<double> p = rows.probabilities(element);
  return categories[std::size_t(std::max_element(p.begin(), p.end()) - p.begin())];
}

void SimilarRows::add(std::span<const double> x) {
  const std::vector<FlatComponent> &components = rows_.components();
  const std::span<const double> joint = rows_.log_joint(x);
  Row &out = added_.emplace_back();
  out.x.assign(x.begin(), x.end());
  groups_.clear();
  for (std::size_t at = 0; at < components.size();) {
    const std::size_t first = at;
    const FlatComponent &head = components[at];
    std::vector<double> of_group;
    for (; at < components.size() && components[at].group == head.group; ++at)
      of_group.push_back(joint[at]);
    out.groups.push_back(log_sum_exp(of_group));
    groups_.push_back({int(first), head.draw, at - first > 1, std::log(head.together)});
    tied_ |= std::isfinite(head.mass);
  }
}

/// For two rows of one draw in the same group, with the weight w: the expected square of w is w^2
/// (1 + 1 / mass), and they are in one component with the probability `together`. Different groups
/// are summed without the same group, which would be most of the sum.
double SimilarRows::similarity(std::size_t i, std::size_t j) const {
  if (added_[j].groups < added_[i].groups) std::swap(i, j);  // the same bits for (j, i)
  const std::vector<double> &one = added_[i].groups, &other = added_[j].groups;
  const std::span<const double> ties =
      tied_ ? rows_.log_ties(added_[i].x, added_[j].x) : std::span<const double>();
  // log p(both, in one component), and log p(both), term by term
  std::vector<double> together, all, before;
  for (std::size_t first = 0, end = 0; first < groups_.size(); first = end) {
    double most = one[first], most_other = other[first];
    for (end = first; end < groups_.size() && groups_[end].draw == groups_[first].draw; ++end) {
      most = std::max(most, one[end]);
      most_other = std::max(most_other, other[end]);
    }
    if (!std::isfinite(most) || !std::isfinite(most_other)) continue;
    before.assign(1, 0.0);
    for (std::size_t g = first; g < end; ++g)
      before.push_back(before.back() + std::exp(other[g] - most_other));
    double after = 0, apart = 0;
    for (std::size_t g = end; g-- > first;) {
      if (std::isinf(one[g]) && std::isinf(other[g])) continue;  // perhaps of no mass
      const Group &group = groups_[g];
      const FlatComponent &component = rows_.components()[std::size_t(group.component)];
      const double own = std::exp(one[g] - most), same = std::exp(other[g] - most_other),
                   times = 1 + 1 / component.mass;
      apart += own * (before[g - first] + after) + own * same * times * (1 - component.together);
      after += same;
      const double tie = ties.empty() || group.mixed ? 0 : ties[std::size_t(group.component)];
      together.push_back(one[g] + other[g] + std::log(times) + group.log_together + tie);
    }
    all.push_back(most + most_other + std::log(apart));
  }
  all.insert(all.end(), together.begin(), together.end());
  const double whole = all.empty() ? -std::numeric_limits<double>::infinity() : log_sum_exp(all);
  if (!std::isfinite(whole)) rows_.refuse_impossible();
  return std::min(1.0, std::exp(log_sum_exp(together) - whole));
}

double similarity(RowDistribution &rows, std::span<const double> one,
                  std::span<const double> other) {
  SimilarRows both(rows);
  both.add(one);
  both.add(other);
  return both.similarity(0, 1);
}

namespace {

/// P(X >= x) under one component.
double probability_from(const Predicted &of, double x) {
  switch (of.support) {
    // Normals and Student t are symmetric, so that small tails keep their digits.
    case Predicted::Support::real: return of.probability_below(of.a + (of.a - x));
    case Predicted::Support::whole: return 1 - of.probability_below(x - 1);
    default: return 1 - of.probability_below(x);
  }
}

}  // namespace

Surprise surprise(RowDistribution &rows, std::span<const double> x, int element, double level) {
  std::vector<double> others(x.begin(), x.end()), own(x.size(), std::nan(""));
  const double value = x[std::size_t(element)];
  others[std::size_t(element)] = std::nan("");
  own[std::size_t(element)] = value;
  Surprise out{-rows.log_density(own, others), 0, 0, std::nan(""), std::nan("")};
  rows.condition(others);
  out.expected = value_given(rows, element);
  if (const std::vector<double> &categories = rows.categories(element); !categories.empty()) {
    const std::vector<double> p = rows.probabilities(element);
    const double own = std::exp(-out.nats), bound = own * (1 + 1e-9);
    if (is_unseen(value)) out.tail = own;
    for (const double each : p)
      if (each <= bound) out.tail += each;
    out.tail = std::min(1.0, out.tail);
    return out;
  }
  out.lower = quantile_given(rows, element, (1 - level) / 2);
  out.upper = quantile_given(rows, element, (1 + level) / 2);
  double below = 0, from = 0;
  const std::span<const Predicted> parts = rows.predicted(element);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    below += rows.weights()[i] * parts[i].probability_below(value);
    from += rows.weights()[i] * probability_from(parts[i], value);
  }
  out.tail = std::min(1.0, 2 * std::min(below, from));
  return out;
}

}  // namespace bayes
