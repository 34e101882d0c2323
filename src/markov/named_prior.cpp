#include "markov/named_prior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/control.hpp"
#include "base/special.hpp"

namespace bayes::markov {
namespace {

std::vector<int> identity(Eigen::Index k) {
  std::vector<int> out(static_cast<std::size_t>(k));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// log p(counts | prior) as far as it depends on the order of the states.
class Evidence {
 public:
  Evidence(const MarkovCounts &counts, const MarkovWeights &prior)
      : counts_(counts),
        prior_(prior),
        leaving_(counts.transitions.rowwise().sum()),
        prior_leaving_(prior.transition.rowwise().sum()) {}

  double of(const std::vector<int> &order) const {
    double total = 0;
    for (int a = 0; a < size(order); ++a) {
      total += of_state(order, a);
      for (int b = 0; b < size(order); ++b) total += move(order, a, b);
    }
    return total;
  }

  /// the gain if the states at positions i and j are exchanged
  double gain(std::vector<int> &order, int i, int j) const {
    const double before = around(order, i, j);
    std::swap(order[std::size_t(i)], order[std::size_t(j)]);
    const double after = around(order, i, j);
    std::swap(order[std::size_t(i)], order[std::size_t(j)]);
    return after > minus_infinity ? after - before : minus_infinity;
  }

 private:
  static int size(const std::vector<int> &order) { return int(order.size()); }

  /// the term of a Dirichlet's entry; -infinity if a structural zero has a count
  static double entry(double alpha, double count) {
    if (alpha > 0) return log_gamma(alpha + std::max(count, 0.0));
    return count > 1e-9 ? minus_infinity : 0;
  }
  double of_state(const std::vector<int> &order, int a) const {
    const int from = order[std::size_t(a)];
    const double all = prior_leaving_(a);
    return entry(prior_.initial(a), counts_.initial(from)) -
           (all > 0 ? log_gamma(all + std::max(leaving_(from), 0.0)) : 0);
  }
  double move(const std::vector<int> &order, int a, int b) const {
    return entry(prior_.transition(a, b),
                 counts_.transitions(order[std::size_t(a)], order[std::size_t(b)]));
  }
  /// the terms that involve positions i or j
  double around(const std::vector<int> &order, int i, int j) const {
    double total = of_state(order, i) + of_state(order, j);
    for (int b = 0; b < size(order); ++b) {
      total += move(order, i, b) + move(order, j, b);
      if (b != i && b != j) total += move(order, b, i) + move(order, b, j);
    }
    return total;
  }

  const MarkovCounts &counts_;
  const MarkovWeights &prior_;
  const Vector leaving_, prior_leaving_;
};

constexpr double min_gain = 1e-9;

std::vector<int> best_of_all(const Evidence &evidence, Eigen::Index k) {
  std::vector<int> best = identity(k), order = best;
  double most = evidence.of(order);
  while (std::next_permutation(order.begin(), order.end())) {
    const double now = evidence.of(order);
    if (!(now > most + min_gain)) continue;
    most = now;
    best = order;
  }
  return best;
}

}  // namespace

ExchangeableGroups exchangeable_states(const MarkovWeights &prior) {
  const int k = int(prior.initial.size());
  const Matrix &a = prior.transition;
  return exchangeable_groups(k, [&](int i, int j) {
    if (prior.initial(i) != prior.initial(j) || a(i, i) != a(j, j) || a(i, j) != a(j, i))
      return false;
    for (int l = 0; l < k; ++l)
      if (l != i && l != j && (a(i, l) != a(j, l) || a(l, i) != a(l, j))) return false;
    return true;
  });
}

std::vector<int> best_state_order(const MarkovCounts &counts, const MarkovWeights &prior,
                                  const ExchangeableGroups &of_prior) {
  const Evidence evidence(counts, prior);
  const Eigen::Index k = prior.initial.size();
  constexpr Eigen::Index few = 6;
  if (k <= few) return best_of_all(evidence, k);
  std::vector<int> order = identity(k);
  for (bool better = true; better;) {
    better = false;
    for (int i = 0; i < int(k); ++i) {
      for (int j = i + 1; j < int(k); ++j) {
        if (of_prior[std::size_t(i)] == of_prior[std::size_t(j)]) continue;
        poll_here();
        if (!(evidence.gain(order, i, j) > min_gain)) continue;
        std::swap(order[std::size_t(i)], order[std::size_t(j)]);
        better = true;
      }
    }
  }
  return order;
}

std::vector<int> draw_state_order(const MarkovCounts &counts, const MarkovWeights &prior,
                                  const ExchangeableGroups &of_prior, Random &random) {
  const Evidence evidence(counts, prior);
  const auto k = std::uint64_t(prior.initial.size());
  std::vector<int> order = identity(prior.initial.size());
  for (std::uint64_t n = 1; n < k; ++n) {
    const int i = int(random.below(k)), j = int(random.below(k));
    const double u = random.uniform();
    if (of_prior[std::size_t(i)] == of_prior[std::size_t(j)]) continue;
    if (std::log(u) < evidence.gain(order, i, j))
      std::swap(order[std::size_t(i)], order[std::size_t(j)]);
  }
  return order;
}

bool is_identity(const std::vector<int> &order) {
  return std::is_sorted(order.begin(), order.end());
}

}  // namespace bayes::markov
