// Helpers for the tests of hidden Markov models: sequences, fits, and a model's parameters in the
// form of hmm_reference.hpp.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>

#include "base/error.hpp"
#include "data/sequences.hpp"
#include "hmm_reference.hpp"
#include "markov/hmm.hpp"

namespace hidden_markov {

using bayes::Document;
using bayes::Error;
using bayes::HiddenMarkovModel;
using bayes::SequenceElements;
using bayes::Sequences;
using bayes::Tensor;
using support::distance;
using support::Options;
using support::with;

using Fitted = std::unique_ptr<HiddenMarkovModel>;

inline const std::vector<Real> start3 = {0.5, 0.3, 0.2};
inline const double hole = std::numeric_limits<double>::quiet_NaN();

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

/// A model's reported parameters. `kinds`: "multivariate", or a family for each element.
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

/// A sequence drawn from a Markov chain; emit(state, random, out).
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

/// Rows that are probability distributions, without small entries.
inline Table random_rows(int rows, int columns, std::uint64_t seed) {
  bayes::Random random(seed, 78);
  Table out(at(rows), std::vector<Real>(at(columns)));
  for (auto &row : out) {
    double sum = 0;
    for (Real &v : row) sum += double(v = 0.15 + random.uniform());
    // Rounded to doubles, so that the options and the definition have the same numbers.
    for (Real &v : row) v = double(v / sum);
  }
  return out;
}

inline std::string bits(HiddenMarkovModel &model) {
  model.info.seconds = 0;
  return model.to_bytes();
}

/// All parts of an error's message, and its code; "no error" if there is none.
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

}  // namespace hidden_markov
