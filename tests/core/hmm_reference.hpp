// Hidden Markov models straight from their definition: every one of the K^T paths, and for long
// sequences forward and backward sums of logarithms. None of it is the library's code.
#pragma once

#include "slow_mixture.hpp"

namespace hidden_markov {

using slow::Real;

using Sequence = std::vector<double>;  // step after step, d numbers each
using Path = std::vector<int>;
using Table = std::vector<std::vector<Real>>;

inline const Real impossible = -std::numeric_limits<Real>::infinity();

inline std::size_t at(std::int64_t i) { return std::size_t(i); }

/// log sum exp, also of no terms.
inline Real log_sum(const std::vector<Real> &x) {
  return x.empty() || *std::max_element(x.begin(), x.end()) == impossible ? impossible
                                                                          : slow::log_sum_exp(x);
}

/// A Markov chain and the log emission densities of T observations, one row each.
struct Chain {
  std::vector<Real> initial;
  Table a, score;
  Path known = {};  // states from 1, 0: unknown; empty: all unknown

  int size() const { return int(initial.size()); }
  int steps() const { return int(score.size()); }

  /// log p(path, observations).
  Real log_joint(const Path &z) const {
    Real total = 0;
    for (std::size_t t = 0; t < z.size(); ++t) {
      if (!known.empty() && known[t] && known[t] != z[t] + 1) return impossible;
      total += std::log(t ? a[at(z[t - 1])][at(z[t])] : initial[at(z[t])]);
      total += score[t][at(z[t])];
    }
    return total;
  }
};

/// Whether a path comes before an equally probable one: by the last state, then the last but one.
inline bool earlier(const Path &a, const Path &b) {
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

/// Sums over all paths.
struct Enumeration {
  Real log_likelihood;
  Table smooth;                              // T x K
  std::vector<Table> pairs;                  // T - 1 times K x K
  std::vector<std::pair<Real, Path>> paths;  // possible ones, most probable first
};

inline Enumeration enumerate(const Chain &chain) {
  Enumeration out;
  const int k = chain.size(), steps = chain.steps();
  std::vector<Real> all;
  slow::for_each_assignment(steps, k, [&](const Path &z) {
    const Real p = chain.log_joint(z);
    if (p == impossible) return;
    all.push_back(p);
    out.paths.emplace_back(p, z);
  });
  out.log_likelihood = log_sum(all);
  out.smooth.assign(at(steps), std::vector<Real>(at(k), 0));
  out.pairs.assign(at(std::max(0, steps - 1)), Table(at(k), std::vector<Real>(at(k), 0)));
  for (const auto &[log_p, z] : out.paths) {
    const Real p = std::exp(log_p - out.log_likelihood);
    for (std::size_t t = 0; t < z.size(); ++t) {
      out.smooth[t][at(z[t])] += p;
      if (t) out.pairs[t - 1][at(z[t - 1])][at(z[t])] += p;
    }
  }
  std::sort(out.paths.begin(), out.paths.end(), [](const auto &p, const auto &q) {
    return p.first != q.first ? p.first > q.first : earlier(p.second, q.second);
  });
  return out;
}

/// Dirichlet parameters of a symbol model: the posterior's, or a prior.
struct Dirichlets {
  std::vector<Real> initial;
  Table a, b;
};
inline Dirichlets flat(int k, int v, Real initial = 1, Real a = 1, Real b = 1) {
  return {std::vector<Real>(at(k), initial), Table(at(k), std::vector<Real>(at(k), a)),
          Table(at(k), std::vector<Real>(at(v), b))};
}
/// The exact posterior of a symbol model: all paths of all sequences, parameters integrated out.
struct Exact {
  Real log_evidence;
  Dirichlets mean;
  std::vector<Real> visits;
};
inline Exact exact(const std::vector<Sequence> &x, const Dirichlets &prior,
                   const std::vector<Path> &labels = {}) {
  Sequence all;
  Path known;
  std::vector<bool> first;
  for (std::size_t s = 0; s < x.size(); ++s)
    for (std::size_t t = 0; t < x[s].size(); ++t)
      all.push_back(x[s][t]), first.push_back(t == 0),
          known.push_back(labels.empty() ? 0 : labels[s][t]);
  const int k = int(prior.initial.size());
  // log of the Dirichlet's normaliser: of parameters with counts less that without, the log
  // probability of the counts in their order.
  const auto normaliser = [](const std::vector<Real> &q) {
    Real whole = 0, total = 0;
    for (const Real v : q) whole += v, total += std::lgamma(v);
    return total - std::lgamma(whole);
  };
  const auto each = [&](auto f) {
    slow::for_each_assignment(int(all.size()), k, [&](const Path &z) {
      Dirichlets q = prior;
      std::vector<Real> visits(at(k), 0);
      for (std::size_t t = 0; t < z.size(); ++t) {
        if (known[t] && known[t] != z[t] + 1) return;
        ++(first[t] ? q.initial[at(z[t])] : q.a[at(z[t - 1])][at(z[t])]);
        if (!std::isnan(all[t])) ++q.b[at(z[t])][at(all[t])];
        ++visits[at(z[t])];
      }
      Real p = normaliser(q.initial) - normaliser(prior.initial);
      for (std::size_t i = 0; i < at(k); ++i)
        p += normaliser(q.a[i]) - normaliser(prior.a[i]) + normaliser(q.b[i]) -
             normaliser(prior.b[i]);
      f(p, q, visits);
    });
  };
  std::vector<Real> terms;
  each([&](Real p, const Dirichlets &, const std::vector<Real> &) { terms.push_back(p); });
  Exact out{log_sum(terms), flat(k, int(prior.b[0].size()), 0, 0, 0), std::vector<Real>(at(k), 0)};
  each([&](Real p, const Dirichlets &q, const std::vector<Real> &visits) {
    const Real share = std::exp(p - out.log_evidence);
    const auto add = [&](std::vector<Real> &to, const std::vector<Real> &from, bool mean) {
      Real whole = 0;
      for (const Real v : from) whole += v;
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += share * from[i] / (mean ? whole : 1);
    };
    add(out.mean.initial, q.initial, true);
    for (std::size_t i = 0; i < at(k); ++i)
      add(out.mean.a[i], q.a[i], true), add(out.mean.b[i], q.b[i], true);
    add(out.visits, visits, false);
  });
  return out;
}

/// Forward and backward sums of logarithms, for sequences of any length: `score(t)` gives the K log
/// densities of step t. Initial and transition numbers need not be probabilities: those of a bound
/// are not. Every step's vector is normalised, and the log norms are summed in long double.
template <class Float> struct LogSpace {
  int k;
  std::vector<Float> initial;
  // for every state: the other state and the logarithm, without zeros
  std::vector<std::vector<std::pair<int, Float>>> into, out_of;

  LogSpace(const std::vector<Real> &start, const Table &a)
      : k(int(start.size())),
        into(start.size()),
        out_of(start.size()) {
    for (const Real p : start) initial.push_back(Float(std::log(p)));
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < k; ++j)
        if (a[at(i)][at(j)] > 0) {
          into[at(j)].emplace_back(i, Float(std::log(a[at(i)][at(j)])));
          out_of[at(i)].emplace_back(j, Float(std::log(a[at(i)][at(j)])));
        }
  }

  /// log sum_i exp(from_i + link_i).
  static Float sum(const std::vector<std::pair<int, Float>> &links, const Float *from) {
    Float most = -std::numeric_limits<Float>::infinity(), total = 0;
    for (const auto &[i, l] : links) most = std::max(most, from[i] + l);
    if (most == -std::numeric_limits<Float>::infinity()) return most;
    for (const auto &[i, l] : links) {
      const Float away = from[i] + l - most;
      total += away == 0 ? 1 : away > -60 ? std::exp(away) : 0;
    }
    return total == 1 ? most : most + std::log(total);
  }
  static Float normalise(Float *v, int k) {
    std::vector<std::pair<int, Float>> one;
    for (int i = 0; i < k; ++i) one.emplace_back(i, Float(0));
    const Float whole = sum(one, v);
    for (int i = 0; i < k; ++i) v[i] -= whole;
    return whole;
  }

  /// log p(observations); with `gamma` also the smoothed probabilities, T x K.
  template <class Score>
  Real run(std::int64_t steps, Score score, std::vector<Float> *gamma = nullptr) const {
    const std::size_t n = at(k);
    std::vector<Float> now = initial, next(n), all;
    Real total = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
      const auto &s = score(t);
      for (std::size_t j = 0; j < n; ++j)
        next[j] = (t ? sum(into[j], now.data()) : initial[j]) + Float(s[j]);
      now.swap(next);
      total += normalise(now.data(), k);
      if (gamma) all.insert(all.end(), now.begin(), now.end());
    }
    if (!gamma) return total;
    std::vector<Float> after(n, 0);
    gamma->resize(all.size());
    for (std::int64_t t = steps - 1; t >= 0; --t) {
      Float *const g = gamma->data() + at(t) * n;
      for (std::size_t j = 0; j < n; ++j) g[j] = all[at(t) * n + j] + after[j];
      normalise(g, k);
      for (std::size_t j = 0; j < n; ++j) g[j] = std::exp(g[j]);
      const auto &s = score(t);
      for (std::size_t j = 0; j < n; ++j) next[j] = after[j] + Float(s[j]);
      for (std::size_t j = 0; j < n; ++j) after[j] = sum(out_of[j], next.data());
      normalise(after.data(), k);
    }
    return total;
  }

  /// The largest log p(path, observations).
  template <class Score> Real best(std::int64_t steps, Score score) const {
    std::vector<Float> now = initial, next = now;
    Real total = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
      const auto &s = score(t);
      Float most = -std::numeric_limits<Float>::infinity();
      for (std::size_t j = 0; j < now.size(); ++j) {
        Float from = t ? -std::numeric_limits<Float>::infinity() : now[j];
        if (t)
          for (const auto &[i, l] : into[j]) from = std::max(from, now[at(i)] + l);
        most = std::max(most, next[j] = from + Float(s[j]));
      }
      for (Float &v : next) v -= most;
      total += most;
      now.swap(next);
    }
    return total;
  }
};

}  // namespace hidden_markov
