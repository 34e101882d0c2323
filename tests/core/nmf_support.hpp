// Helpers for the tests of non-negative factorizations: tables, fits, and slow computations.
#pragma once

#include <numeric>

#include "factor/nmf.hpp"
#include "lda_support.hpp"

namespace factors {

using bayes::Control;
using bayes::Document;
using bayes::FactorTable;
using bayes::MemoryCorpus;
using bayes::NmfModel;
using bayes::NmfWeights;
using bayes::Side;
using support::distance;
using topics::at;
using topics::Real;
using Options = Document::Object;
using Cells = std::vector<std::vector<double>>;
using Model = std::unique_ptr<NmfModel>;

inline std::vector<std::string> keys(const char *letter, std::size_t count) {
  std::vector<std::string> out;
  char name[32];
  for (std::size_t i = 0; i < count; ++i) {
    std::snprintf(name, sizeof name, "%s%05zu", letter, i);
    out.push_back(name);
  }
  return out;
}

/// What is NaN is missing; zeros are cells only if `zeros`.
inline MemoryCorpus lines_of(const Cells &cells, bool zeros = false) {
  MemoryCorpus out(std::int32_t(cells[0].size()));
  for (const std::vector<double> &line : cells) {
    topics::Counts counts;
    for (std::size_t j = 0; j < line.size(); ++j)
      if (zeros ? !std::isnan(line[j]) : line[j] != 0) counts[std::int32_t(j)] = line[j];
    out.append(topics::Packed(counts));
  }
  return out;
}

inline Cells transposed(const Cells &cells) {
  Cells out(cells[0].size(), std::vector<double>(cells.size()));
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (std::size_t j = 0; j < out.size(); ++j) out[j][i] = cells[i][j];
  return out;
}

/// Lines are rows, unless `columns`: then they are the columns of the transposed table.
inline Model fitted(const Cells &cells, int k, Options options, Control &&control = Control(),
                    const NmfModel *start = nullptr, bool columns = false) {
  const bool missing = std::any_of(options.begin(), options.end(),
                                   [](const auto &each) { return each.first == "absent"; });
  MemoryCorpus lines = lines_of(cells, missing);
  FactorTable table{lines,
                    nullptr,
                    columns ? Side::column : Side::row,
                    keys(columns ? "c" : "r", cells.size()),
                    keys(columns ? "r" : "c", cells[0].size()),
                    0};
  return bayes::nmf_fit(table, k, Document(std::move(options)), start, control);
}
inline Model fitted_with(int threads, const Cells &cells, int k, Options options) {
  Control control;
  control.threads = threads;
  return fitted(cells, k, std::move(options), std::move(control));
}

/// The model is the same for one thread, two and three.
inline void check_threads(const Cells &cells, int k, const Options &options) {
  std::string one;
  for (const int threads : {1, 2, 3}) {
    const Model model = fitted_with(threads, cells, k, options);
    model->info.seconds = 0;
    const std::string bytes = model->to_bytes();
    if (threads == 1) one = bytes;
    BOOST_TEST((bytes == one), threads);
  }
}

/// [key][factor]
inline Cells values(const NmfModel &model, Side side) {
  Cells out;
  for (std::size_t i = 0; i < model.keys(side).size(); ++i)
    out.push_back(model.weights(side, std::int32_t(i)).value);
  return out;
}

/// Weights are numbers that can be, and the model comes back from bytes and document.
inline void check_sound(const NmfModel &model) {
  BOOST_TEST(std::isfinite(model.info.objective));
  for (const Side side : {Side::row, Side::column})
    for (const auto &each : values(model, side))
      for (const double value : each) BOOST_TEST((value >= 0 && std::isfinite(value)));
  const std::string bytes = model.to_bytes();
  BOOST_TEST((bayes::Model::from_bytes(bytes)->to_bytes() == bytes));
  BOOST_TEST((bayes::Model::from_document(model.to_document())->to_bytes() == bytes));
}

inline Cells means(const Cells &w, const Cells &v) {
  Cells out(w.size(), std::vector<double>(v.size(), 0.0));
  for (std::size_t i = 0; i < w.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j)
      for (std::size_t k = 0; k < w[i].size(); ++k) out[i][j] += w[i][k] * v[j][k];
  return out;
}

/// Counts from a few factors.
inline Cells counts(int rows, int columns, int k, double size, std::uint64_t seed) {
  bayes::Random random(seed);
  const auto weights = [&](int n) {
    Cells out(at(n), std::vector<double>(at(k)));
    for (auto &each : out)
      for (double &x : each) x = random.gamma(0.4);
    return out;
  };
  Cells out = means(weights(rows), weights(columns));
  for (auto &line : out)
    for (double &x : line) {
      double count = 0;
      for (double time = random.exponential(); time < size * x; time += random.exponential())
        ++count;
      x = count;
    }
  return out;
}

struct Gammas {
  Real shape, rate, prior_shape, prior_rate;
  Real mean() const { return shape / rate; }
  Real log() const { return topics::psi(shape) - std::log(rate); }
  Real divergence() const {
    return (shape - prior_shape) * topics::psi(shape) - topics::lgam(shape) +
           topics::lgam(prior_shape) + prior_shape * (std::log(rate) - std::log(prior_rate)) +
           shape * (prior_rate - rate) / rate;
  }
};

/// The bound of 002 L12 with all constants, from the posterior that a model shows.
inline Real bound_of(const NmfModel &model, const Cells &x, double a, double b, double c,
                     double d) {
  std::vector<std::vector<Gammas>> w, v;
  const auto read = [&](Side side, auto &to, double shape, double rate) {
    for (std::size_t i = 0; i < model.keys(side).size(); ++i) {
      const NmfWeights of = model.weights(side, std::int32_t(i));
      to.emplace_back();
      for (std::size_t k = 0; k < of.shape.size(); ++k)
        to.back().push_back({of.shape[k], of.rate[k], shape, rate});
    }
  };
  read(Side::row, w, a, b);
  read(Side::column, v, c, d);
  Real out = 0;
  for (const auto *const side : {&w, &v})
    for (const auto &each : *side)
      for (const Gammas &q : each) out -= q.divergence();
  for (std::size_t i = 0; i < w.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j) {
      Real sum = 0;
      for (std::size_t k = 0; k < w[i].size(); ++k) {
        sum += std::exp(w[i][k].log() + v[j][k].log());
        out -= w[i][k].mean() * v[j][k].mean();
      }
      if (x[i][j] > 0) out += x[i][j] * std::log(sum) - topics::lgam(x[i][j] + 1);
    }
  return out;
}

inline Real log_poisson(Real x, Real mean) {
  return x * std::log(mean) - mean - boost::math::lgamma(x + 1);
}

}  // namespace factors
