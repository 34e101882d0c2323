// Hidden Markov models straight from their definition: every one of the K^T paths, and for long
// sequences forward and backward sums of logarithms. None of it is the library's code. Beside that,
// what the tests share: sequences, fits, and reading a model's parameters back.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>

#include "base/error.hpp"
#include "data/sequences.hpp"
#include "markov/hmm.hpp"
#include "slow_mixture.hpp"

namespace markov {

using bayes::Document;
using bayes::Error;
using bayes::HiddenMarkovModel;
using bayes::SequenceElements;
using bayes::Sequences;
using bayes::Tensor;
using slow::Real;
using support::distance;
using support::Options;
using support::with;

using Fitted = std::unique_ptr<HiddenMarkovModel>;
using Sequence = std::vector<double>;  // step after step, d numbers each
using Path = std::vector<int>;
using Table = std::vector<std::vector<Real>>;

inline const double hole = std::numeric_limits<double>::quiet_NaN();
inline const Real impossible = -std::numeric_limits<Real>::infinity();

inline std::size_t at(std::int64_t i) { return std::size_t(i); }

/// log sum exp that knows of sums of nothing.
inline Real log_sum(const std::vector<Real> &x) {
  return x.empty() || *std::max_element(x.begin(), x.end()) == impossible ? impossible
                                                                          : slow::log_sum_exp(x);
}

/// Sequences of the fit, or of one call, in rows in memory.
class Data {
 public:
  explicit Data(int d, const std::vector<Sequence> &sequences = {},
                const std::vector<double> &weights = {}, const std::vector<Path> &labels = {})
      : rows({d + !labels.empty(), true}),
        all{rows, d, !labels.empty()},
        d_(d) {
    bayes::SequenceWriter writer(
        all, rows.shape(), [this](const double *x, double weight) { rows.append(x, weight); });
    for (std::size_t s = 0; s < sequences.size(); ++s) {
      const std::size_t steps = sequences[s].size() / at(d);
      writer.begin(std::int64_t(steps), weights.empty() ? 1 : weights[s]);
      std::vector<double> row(at(rows.shape().dimension));
      for (std::size_t t = 0; t < steps; ++t) {
        std::copy_n(sequences[s].data() + t * at(d), d, row.begin());
        if (!labels.empty()) row.back() = labels[s][t];
        writer.step(row.data());
      }
    }
  }
  Data(const Data &) = delete;

  Data &named(std::vector<std::string> symbols) {
    names = std::move(symbols);
    elements = SequenceElements::symbols;
    return *this;
  }
  int dimension() const { return d_; }

  bayes::MemoryRows rows;
  Sequences all;
  std::vector<std::string> names;
  SequenceElements elements = SequenceElements::numbers;

 private:
  int d_;
};

inline Fitted fitted(Data &data, int k, Options options, int threads = 1,
                     const HiddenMarkovModel *start = nullptr, bool update = false) {
  bayes::Control control;
  control.threads = threads;
  return bayes::hmm_fit(data.all, data.names, k, Document(std::move(options)), data.elements,
                        data.dimension() > 1, start, update, control);
}

inline const std::vector<std::string> letters = {"a", "b", "c", "d", "e"};
inline std::vector<std::string> first_letters(int v) {
  return {letters.begin(), letters.begin() + v};
}

/// A fit of sequences of the first v letters.
inline Fitted fitted_symbols(const std::vector<Sequence> &x, int v, int k, Options options,
                             const std::vector<double> &weights = {},
                             const std::vector<Path> &labels = {}, int threads = 1) {
  Data data(1, x, weights, labels);
  data.named(first_letters(v));
  return fitted(data, k, std::move(options), threads);
}

inline Tensor tensor(const Table &rows) {
  Tensor out{{std::int64_t(rows.size()), std::int64_t(rows[0].size())}, {}};
  for (const auto &row : rows) out.values.insert(out.values.end(), row.begin(), row.end());
  return out;
}
inline Tensor tensor(const std::vector<Real> &row) {
  return {{std::int64_t(row.size())}, {row.begin(), row.end()}};
}

/// Option init; `emission` is a row for each state: probabilities of the first letters, or means.
inline Options init(const std::vector<Real> &initial, const Table &a, const Table &emission,
                    bool symbols) {
  Options out = {{"initial", tensor(initial)}, {"transitions", tensor(a)}};
  Document::List states;
  for (const auto &row : emission) {
    Options state;
    for (std::size_t v = 0; v < row.size(); ++v)
      state.push_back({symbols ? letters[v] : "", double(row[v])});
    states.emplace_back(std::move(state));
  }
  if (symbols)
    out.push_back({"probabilities", std::move(states)});
  else
    out.push_back({"means", tensor(emission)});
  return out;
}

/// A chain and the logarithms of the emission densities of T observations, one row for each.
struct Chain {
  std::vector<Real> initial;
  Table a, score;
  Path known = {};  // states from 1, 0: not known; empty: none is

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

/// What all paths together say.
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
/// are not. Every step's vector is brought to the size of 1, and what it was is tallied in long
/// double.
template <class Float> struct LogSpace {
  int k;
  std::vector<Float> initial;
  // of every state: the other end and the logarithm, zeros left out
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

/// A model's parameters as it says them. `kinds`: "multivariate", or a family for each element.
class Known {
 public:
  Known(const HiddenMarkovModel &model, std::vector<std::string> kinds)
      : kinds_(std::move(kinds)),
        d(model.dimension()) {
    const int k = model.size();
    BOOST_REQUIRE((kinds_[0] == "multivariate" || int(kinds_.size()) == d));
    for (int i = 0; i < k; ++i) initial.push_back(model.state_at(i).initial);
    a.assign(at(k), std::vector<Real>(at(k), -1));
    model.transitions(
        [&](const bayes::HmmTransition &t) { a[at(t.from)][at(t.to)] = t.probability; });
    elements_.resize(at(k), std::vector<Element>(kinds_.size()));
    model.emissions([&](const bayes::HmmEmission &e) {
      Element &to = elements_[at(e.state)][at(std::max(0, e.element))];
      if (e.symbol)
        to.probability[model.symbols() ? double(model.code(*e.symbol)) : std::stod(*e.symbol)] =
            e.probability;
      else
        to.mean = e.mean, to.covariance = e.covariance;
    });
    if (kinds_[0] == "multivariate")
      for (auto &state : elements_) state[0].precision = slow::inverse({d, state[0].covariance}).v;
  }

  /// The K log densities of one observation.
  std::vector<Real> score(const double *x) const {
    std::vector<Real> out(initial.size(), 0);
    for (std::size_t k = 0; k < out.size(); ++k)
      for (std::size_t j = 0; j < kinds_.size(); ++j)
        if (!std::isnan(x[j])) out[k] += log_density(kinds_[j], elements_[k][j], x + j);
    return out;
  }
  Chain chain(const Sequence &x, Path labels = {}) const {
    Chain out{initial, a, {}, std::move(labels)};
    for (std::size_t t = 0; t < x.size(); t += at(d)) out.score.push_back(score(x.data() + t));
    return out;
  }
  Real probability(int state, double symbol, int element = 0) const {
    return elements_[at(state)][at(element)].probability.at(symbol);
  }
  const std::vector<double> &mean(int state, int element = 0) const {
    return elements_[at(state)][at(element)].mean;
  }
  const std::vector<double> &covariance(int state, int element = 0) const {
    return elements_[at(state)][at(element)].covariance;
  }
  /// Mean and variance of an element of an observation; NaN for a category.
  std::pair<Real, Real> moments(int state, int element) const {
    const bool whole = kinds_[0] == "multivariate";
    const std::string &kind = kinds_[at(whole ? 0 : element)];
    const Element &e = elements_[at(state)][at(whole ? 0 : element)];
    if (kind == "categorical") return {hole, hole};
    if (kind == "bernoulli") {
      const Real p = e.probability.at(1);
      return {p, p * (1 - p)};
    }
    const std::size_t i = at(whole ? element : 0);
    const Real m = e.mean.at(i);
    if (kind == "poisson") return {m, m};
    if (kind == "exponential") return {m, m * m};
    if (whole || kind == "normal") return {m, e.covariance.at(i * e.mean.size() + i)};
    throw std::invalid_argument("no moments are known for the kind of emission \"" + kind + '"');
  }

 private:
  struct Element {
    std::map<double, Real> probability;
    std::vector<double> mean, covariance;
    std::vector<Real> precision;
  };
  std::vector<std::string> kinds_;
  std::vector<std::vector<Element>> elements_;

  Real log_density(const std::string &kind, const Element &e, const double *x) const {
    if (kind == "multivariate")
      return slow::log_normal(slow::minus(std::vector<double>(x, x + d), e.mean, d),
                              slow::Square(d, e.precision));
    const Real v = x[0];
    if (kind == "categorical") return std::log(e.probability.at(x[0]));
    if (kind == "bernoulli")
      return v == 1 ? std::log(e.probability.at(1)) : std::log1p(-e.probability.at(1));
    const Real m = e.mean.at(0);
    if (kind == "poisson") return v * std::log(m) - m - std::lgamma(v + 1);
    if (kind == "exponential") return -std::log(m) - v / m;
    if (kind == "normal")
      return -0.5L * (slow::log_2pi + std::log(Real(e.covariance.at(0))) +
                      (v - m) * (v - m) / e.covariance.at(0));
    throw std::invalid_argument("no density is known for the kind of emission \"" + kind + '"');
  }

 public:
  int d;
  std::vector<Real> initial;
  Table a;
};

/// A sequence drawn from a chain; emit(state, random, out).
template <class Emit>
Sequence drawn(const std::vector<Real> &initial, const Table &a, std::int64_t steps,
               std::uint64_t seed, Emit emit, Path *states = nullptr) {
  bayes::Random random(seed, 77);
  Sequence out;
  int z = 0;
  for (std::int64_t t = 0; t < steps; ++t) {
    const auto &p = t ? a[at(z)] : initial;
    z = random.categorical(std::vector<double>(p.begin(), p.end()));
    emit(z, random, out);
    if (states) states->push_back(z);
  }
  return out;
}
inline auto letters_of(const Table &b) {
  return [b](int z, bayes::Random &random, Sequence &out) {
    out.push_back(random.categorical(std::vector<double>(b[at(z)].begin(), b[at(z)].end())));
  };
}

/// Rows that are probability distributions, none of their numbers near 0.
inline Table random_rows(int rows, int columns, std::uint64_t seed) {
  bayes::Random random(seed, 78);
  Table out(at(rows), std::vector<Real>(at(columns)));
  for (auto &row : out) {
    double sum = 0;
    for (Real &v : row) sum += double(v = 0.15 + random.uniform());
    // Rounded to doubles before they are handed on, so that the options and the definition hold the
    // same numbers.
    for (Real &v : row) v = double(v / sum);
  }
  return out;
}

inline std::string bits(HiddenMarkovModel &model) {
  model.info.seconds = 0;
  return model.to_bytes();
}

/// What an error says, in all its parts, and its code; "no error" if there is none.
template <class F> std::string message_of(F f, bayes::Errc *code = nullptr) {
  try {
    f();
  } catch (const Error &error) {
    if (code) *code = error.code();
    return std::string(error.what()) + " " + error.detail() + " " + error.hint();
  }
  return "no error";
}

/// Method em with max_iter 0 leaves the parameters of option init as they are.
inline const Options as_given = {{"method", "em"}, {"max_iter", 0}};

/// A model with these parameters, of symbols.
inline Fitted symbol_model(const std::vector<Real> &initial, const Table &a, const Table &b) {
  Sequence all;
  for (std::size_t v = 0; v < b[0].size(); ++v) all.push_back(double(v));
  return fitted_symbols({all, all}, int(b[0].size()), int(b.size()),
                        with(as_given, {{"init", init(initial, a, b, true)}}));
}
/// The same of counts with these rates.
inline Fitted poisson_model(const std::vector<Real> &initial, const Table &a,
                            const std::vector<Real> &rates) {
  Table means;
  Sequence counts;
  for (const Real r : rates) means.push_back({r}), counts.push_back(double(std::floor(r)));
  Data data(1, {counts});
  data.elements = SequenceElements::integers;
  return fitted(
      data, int(rates.size()),
      with(as_given, {{"emission", "poisson"}, {"init", init(initial, a, means, false)}}));
}

inline std::vector<double> smoothed(const HiddenMarkovModel &model, Data &one,
                                    bayes::Control control = {}) {
  std::vector<double> out;
  model.smooth(one.all, control, [&](std::int64_t first, int steps, const double *p) {
    // in order of time, with no gap
    BOOST_REQUIRE(first * model.size() == std::int64_t(out.size()));
    out.insert(out.end(), p, p + std::ptrdiff_t(steps) * model.size());
  });
  return out;
}

}  // namespace markov
