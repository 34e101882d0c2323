// The lower bound of variational fits of hidden Markov models of symbols, from its definition, and
// other helpers for the tests of fits.
#pragma once

#include "hmm_support.hpp"

namespace hidden_markov {

/// log Dirichlet(p | alpha) over the entries that are not 0.
inline Real log_dirichlet(const std::vector<Real> &p, const std::vector<Real> &alpha) {
  Real whole = 0, total = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (p[i] > 0)
      whole += alpha[i], total += (alpha[i] - 1) * std::log(p[i]) - std::lgamma(alpha[i]);
  return total + std::lgamma(whole);
}

inline Dirichlets posterior_of(const HiddenMarkovModel &model, int v) {
  Dirichlets q = flat(model.size(), v, 0, 0, 0);
  for (int i = 0; i < model.size(); ++i) q.initial[at(i)] = model.state_at(i).initial_alpha;
  model.transitions([&](const bayes::HmmTransition &t) { q.a[at(t.from)][at(t.to)] = t.alpha; });
  if (v)
    model.posterior([&](const bayes::HmmPosterior &p) {
      BOOST_TEST(std::string(p.parameter) == "category_alpha");
      q.b[at(p.state)][at(model.code(*p.symbol))] = p.value.at(0);
    });
  return q;
}

/// exp E log p of a Dirichlet, without structural zeros.
inline std::vector<Real> geometric(const std::vector<Real> &q, const std::vector<Real> &shown) {
  Real whole = 0;
  std::vector<Real> out(q.size(), 0);
  for (std::size_t i = 0; i < q.size(); ++i) whole += shown[i] > 0 ? q[i] : 0;
  for (std::size_t i = 0; i < q.size(); ++i)
    if (shown[i] > 0) out[i] = std::exp(slow::digamma(q[i]) - slow::digamma(whole));
  return out;
}
/// E_q[log p - log q].
inline Real gain(const std::vector<Real> &prior, const std::vector<Real> &q,
                 const std::vector<Real> &shown) {
  const auto mean = geometric(q, shown);
  return log_dirichlet(mean, prior) - log_dirichlet(mean, q);  // both are linear in log p
}

/// The bound of a symbol model: the likelihood under exp E log of the parameters, less the
/// divergences.
inline Real elbo(const HiddenMarkovModel &model, const std::vector<Sequence> &x, int v,
                 const Dirichlets &prior, const std::vector<double> &weights = {}) {
  const Known known(model, {"categorical"});
  const Dirichlets q = posterior_of(model, v);
  const std::size_t k = q.a.size();
  const std::vector<Real> all(at(v), 1);
  Table a, scores(at(v) + 1, std::vector<Real>(k, 0));  // the last for a missing step
  Real total = gain(prior.initial, q.initial, known.initial);
  for (std::size_t i = 0; i < k; ++i) {
    a.push_back(geometric(q.a[i], known.a[i]));
    total += gain(prior.a[i], q.a[i], known.a[i]) + gain(prior.b[i], q.b[i], all);
    const auto b = geometric(q.b[i], all);
    for (std::size_t u = 0; u < at(v); ++u) scores[u][i] = std::log(b[u]);
  }
  const LogSpace<Real> chain(geometric(q.initial, known.initial), a);
  for (std::size_t s = 0; s < x.size(); ++s)
    total += (weights.empty() ? 1 : weights[s]) *
             chain.run(std::int64_t(x[s].size()), [&](std::int64_t t) -> const std::vector<Real> & {
               return scores[std::isnan(x[s][at(t)]) ? at(v) : at(x[s][at(t)])];
             });
  return total;
}

inline const Table cycle3 = {{0.7, 0.3, 0}, {0, 0.5, 0.5}, {0.25, 0, 0.75}};

/// Some short sequences of the first v letters, a few steps missing.
inline std::vector<Sequence> some_sequences(int count, int v, std::uint64_t seed, int longest = 7) {
  bayes::Random random(seed, 79);
  std::vector<Sequence> out(at(count));
  for (std::size_t s = 0; s < out.size(); ++s) {
    const auto steps = s == 0 ? at(longest) : 1 + random.below(std::uint64_t(longest));
    for (std::size_t t = 0; t < steps; ++t)
      out[s].push_back(random.uniform() < 0.1 ? hole : double(random.below(std::uint64_t(v))));
  }
  for (int u = 0; u < v; ++u) out[0][at(u)] = u;  // so that every letter is there
  return out;
}

inline void check_steps(const HiddenMarkovModel &model) {
  BOOST_TEST(!model.trace.empty());
  for (const auto &run : model.trace) {
    BOOST_TEST(run.size() > 1u);
    for (std::size_t i = 1; i < run.size(); ++i)
      BOOST_TEST(run[i] >= run[i - 1] - 1e-10 * std::max(1.0, std::abs(run[i])));
  }
}

}  // namespace hidden_markov
