// Predictions of a fitted probabilistic matrix factorization: averages over its stored draws.
#include "factor/pmf.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "factor/pmf_state.hpp"
#include "mcmc/stored_draws.hpp"

namespace bayes {
namespace {

/// The stored draws of a model.
class PmfDraws {
 public:
  explicit PmfDraws(const PmfModel::State &state, std::size_t rank) : state_(state), rank_(rank) {}

  /// The vector and mean of a key in a draw; for an unknown key (-1) their distribution.
  struct Key {
    const double *vector;  // null for zeros
    double mean;
    bool known;
    /// covariance of the vector of an unknown key: rank x rank, or null for c I
    const double *covariance;
    double spread;
  };
  Key key(Side side, std::int32_t index, std::size_t draw) const {
    const PmfSideDraws &of = state_.of(side);
    Key out{nullptr, 0, index >= 0, nullptr, 0};
    if (out.known) {
      const std::size_t at = draw * of.keys.size() + std::size_t(index);
      out.vector = of.vectors.data() + at * rank_;
      if (!of.means.empty()) out.mean = of.means[at];
      return out;
    }
    if (state_.hierarchical()) {
      out.vector = of.center.data() + draw * rank_;
      out.covariance = covariance(side, draw);
    }
    if (!of.level.empty()) {
      out.mean = of.level[draw];
      out.spread = of.spread[draw];
    }
    return out;
  }

  /// Mean and variance of a new number, in standard units.
  struct Moments {
    double mean, variance;
  };
  Moments cell(const Key &row, const Key &column, std::size_t draw) const {
    double mean = row.mean + column.mean;
    if (row.vector && column.vector) mean += product(row.vector, column.vector);
    double variance = state_.noise[draw] + row.spread + column.spread;
    if (!row.known) variance += form(row.covariance, column.vector, column.vector, draw);
    if (!column.known) variance += form(column.covariance, row.vector, row.vector, draw);
    if (!row.known && !column.known)
      variance += row.covariance ? dot(row.covariance, column.covariance, rank_ * rank_)
                                 : double(rank_) * state_.c[draw] * state_.c[draw];
    return {mean, variance};
  }

  /// rank x rank, or null for c I
  const double *covariance(Side side, std::size_t draw) const {
    return state_.hierarchical() ? state_.of(side).covariance.data() + draw * rank_ * rank_
                                 : nullptr;
  }
  double c(std::size_t draw) const { return state_.c[draw]; }
  double product(const double *a, const double *b) const { return dot(a, b, rank_); }
  /// a' covariance b; 0 if a is null
  double form(const double *covariance, const double *a, const double *b, std::size_t draw) const {
    if (!a) return 0;
    if (!covariance) return state_.c[draw] * product(a, b);
    double out = 0;
    for (std::size_t i = 0; i < rank_; ++i) out += a[i] * product(covariance + i * rank_, b);
    // With a nearly singular covariance, rounding errors may make the result negative.
    return a == b ? std::max(0.0, out) : out;
  }

 private:
  static double dot(const double *a, const double *b, std::size_t n) {
    double out = 0;
    for (std::size_t i = 0; i < n; ++i) out += a[i] * b[i];
    return out;
  }
  const PmfModel::State &state_;
  const std::size_t rank_;
};

/// Running mean and variance of a series.
struct RunningMean {
  double count = 0, mean = 0, squares = 0;
  void add(double x) {
    const double change = x - mean;
    mean += change / ++count;
    squares += change * (x - mean);
  }
  /// unbiased; 0 for a single number
  double variance() const { return count > 1 ? squares / (count - 1) : 0; }
};

/// The prediction of a cell, averaged over draws.
struct CellSummary {
  RunningMean means;
  double variance = 0;
  void add(const PmfDraws::Moments &moments) {
    means.add(moments.mean);
    variance += moments.variance;
  }
  PmfPrediction prediction(const PmfModel::State &state) const {
    return {state.center + state.scale * means.mean,
            state.scale * std::sqrt(means.variance() + variance / means.count),
            std::numeric_limits<double>::quiet_NaN()};
  }
};

/// The posterior of a new key in one draw, given some of its cells: its vector and mean are jointly
/// normal. The posterior is updated cell by cell, which needs no inverse matrix.
class NewKey {
 public:
  NewKey(const PmfModel::State &state, const PmfDraws &draws, Side side, std::size_t rank,
         const DocumentTerms &cells, std::size_t draw)
      : draws_(draws),
        rank_(rank),
        size_(rank + (state.has_means() ? 1 : 0)),
        noise_(state.noise[draw]),
        draw_(draw),
        mean_(size_, 0.0),
        covariance_(size_ * size_, 0.0),
        z_(size_, 1.0),
        image_(size_) {
    const PmfDraws::Key prior = draws.key(side, -1, draw);
    if (prior.vector) std::copy_n(prior.vector, rank, mean_.begin());
    for (std::size_t i = 0; i < rank; ++i)
      if (prior.covariance)
        std::copy_n(prior.covariance + i * rank, rank, covariance_.begin() + at(i, 0));
      else
        covariance_[i * size_ + i] = state.c[draw];
    if (size_ > rank) {
      mean_[rank] = prior.mean;
      covariance_[size_ * size_ - 1] = prior.spread;
    }
    WorkPoll poll;
    for (std::size_t e = 0; e < cells.size(); ++e) {
      poll(2 * size_ * size_);
      const PmfDraws::Key of = draws.key(other(side), cells.terms[e], draw);
      update((cells.counts[e] - state.center) / state.scale - of.mean, of);
    }
  }

  /// Predicts a new number of this key with a key of the other side.
  PmfDraws::Moments cell(const PmfDraws::Key &of) {
    double variance = noise_ + of.spread + spread(of), mean = of.mean;
    for (std::size_t i = 0; i < size_; ++i) mean += mean_[i] * z_[i];
    if (of.known) return {mean, variance};
    variance += draws_.form(of.covariance, mean_.data(), mean_.data(), draw_);
    for (std::size_t i = 0; i < rank_; ++i)
      for (std::size_t j = 0; j < rank_; ++j)
        if (of.covariance || i == j)
          variance += covariance_[i * size_ + j] *
                      (of.covariance ? of.covariance[i * rank_ + j] : draws_.c(draw_));
    return {mean, variance};
  }

 private:
  std::ptrdiff_t at(std::size_t i, std::size_t j) const { return std::ptrdiff_t(i * size_ + j); }

  /// z'S z for z = (v, 1), or (v) without means; image_ = S z.
  double spread(const PmfDraws::Key &of) {
    for (std::size_t i = 0; i < rank_; ++i) z_[i] = of.vector ? of.vector[i] : 0;
    double out = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      image_[i] = 0;
      for (std::size_t j = 0; j < size_; ++j) image_[i] += covariance_[i * size_ + j] * z_[j];
      out += z_[i] * image_[i];
    }
    // rounding may make a variance of 0 negative
    return std::max(0.0, out);
  }

  /// Bayesian update for a number with the mean m'z and the noise variance.
  void update(double number, const PmfDraws::Key &of) {
    const double all = noise_ + spread(of);
    double error = number;
    for (std::size_t i = 0; i < size_; ++i) error -= mean_[i] * z_[i];
    for (std::size_t i = 0; i < size_; ++i) {
      mean_[i] += image_[i] * (error / all);
      for (std::size_t j = 0; j < size_; ++j)
        covariance_[i * size_ + j] -= image_[i] * image_[j] / all;
    }
  }

  const PmfDraws &draws_;
  const std::size_t rank_, size_;
  const double noise_;
  const std::size_t draw_;
  std::vector<double> mean_, covariance_, z_, image_;
};

/// Requires numbers whose squares, in standard units, do not overflow.
void require_proportion(const PmfModel::State &state, const DocumentTerms &cells) {
  for (const double x : cells.counts)
    if (!(std::abs(x - state.center) <= 1e100 * state.scale))
      throw Error(
          Errc::numeric, message("a number is {}, out of proportion to the fitted table", x),
          message("The numbers of the table have the mean {} and the standard deviation {}.",
                  state.center, state.scale));
}

/// Keeps the first n elements in the order of `before`.
template <class T, class Before>
void keep_first(std::vector<T> &all, std::int64_t n, Before before) {
  const auto count = std::min<std::size_t>(all.size(), std::size_t(std::max<std::int64_t>(0, n)));
  std::partial_sort(all.begin(), all.begin() + std::ptrdiff_t(count), all.end(), before);
  all.resize(count);
}

/// The n cells with the largest means, in descending order. `without`: ascending indices of cells
/// to leave out.
std::vector<PmfRecommendation> largest(const PmfModel::State &state,
                                       const std::vector<CellSummary> &cells,
                                       std::span<const std::int32_t> without, std::int64_t n) {
  std::vector<PmfRecommendation> out;
  auto skip = without.begin();
  WorkPoll poll;
  for (std::size_t j = 0; j < cells.size(); ++j) {
    poll(10);
    if (skip != without.end() && *skip == std::int32_t(j)) {
      ++skip;
      continue;
    }
    out.push_back({std::int32_t(j), cells[j].prediction(state)});
  }
  keep_first(out, n, [&poll](const PmfRecommendation &a, const PmfRecommendation &b) {
    poll(8);
    if (a.prediction.mean != b.prediction.mean) return a.prediction.mean > b.prediction.mean;
    return a.column < b.column;
  });
  return out;
}

/// Averages moments(draw) over all draws, with the Monte Carlo error of the mean.
template <class F> PmfPrediction summary(const PmfModel &model, F moments) {
  CellSummary out;
  std::vector<double> means;
  for (std::size_t s = 0; s < model.state->noise.size(); ++s) {
    const PmfDraws::Moments found = moments(s);
    out.add(found);
    means.push_back(found.mean);
  }
  PmfPrediction prediction = out.prediction(*model.state);
  // A statement may predict thousands of cells; averages of blocks make the series short, which
  // takes less time.
  const DrawBlocks blocks(std::int64_t(means.size()), model.draws.chains);
  std::vector<double> of_blocks;
  for (int b = 0; b < blocks.size(); ++b) {
    const auto first = means.begin() + blocks.first(b);
    of_blocks.push_back(std::accumulate(first, first + blocks.length, 0.0) / blocks.length);
  }
  Control control;
  prediction.mcse = model.state->scale * mcse_of(std::move(of_blocks), blocks.chains, control);
  return prediction;
}

}  // namespace

PmfModel::PmfModel() : state(std::make_unique<State>()) { info.family = "pmf"; }
PmfModel::~PmfModel() = default;

const ModelWords &PmfModel::words() const {
  // Cells are invariant under a rotation of all vectors, so single elements of vectors have no
  // meaning.
  static constexpr ModelWords words = {
      .part = "factor",
      .parts = "factors",
      .unit = "cell",
      .takes = "cells of a table",
      .functions =
          "Use pmf_predict(model, row_key, column_key) to predict a cell, and pmf_recommend for "
          "the largest cells of a row."};
  return words;
}

std::int64_t PmfModel::stored_draws() const { return std::int64_t(state->noise.size()); }

const std::vector<std::string> &PmfModel::keys(Side side) const {
  return state->of(side).keys.all();
}

std::int32_t PmfModel::code(Side side, std::string_view key) const {
  const std::vector<std::string> &all = keys(side);
  const auto at = std::lower_bound(all.begin(), all.end(), key);
  return at == all.end() || *at != key ? -1 : std::int32_t(at - all.begin());
}

PmfPrediction PmfModel::predict(std::int32_t row, std::int32_t column) const {
  const PmfDraws draws(*state, std::size_t(rank()));
  return summary(*this, [&](std::size_t s) {
    return draws.cell(draws.key(Side::row, row, s), draws.key(Side::column, column, s), s);
  });
}

Score PmfModel::score(std::int32_t row, std::int32_t column, double number) const {
  const PmfDraws draws(*state, std::size_t(rank()));
  const double x = (number - state->center) / state->scale;
  std::vector<double> logs;
  RunningMean means;
  for (std::size_t s = 0; s < state->noise.size(); ++s) {
    const auto [mean, variance] =
        draws.cell(draws.key(Side::row, row, s), draws.key(Side::column, column, s), s);
    means.add(mean);
    logs.push_back(-0.5 * ((x - mean) * (x - mean) / variance + std::log(variance)));
  }
  const double error = number - (state->center + state->scale * means.mean);
  const double density = log_sum_exp(logs) - std::log(double(logs.size()) * state->scale) -
                         0.5 * std::log(2 * std::numbers::pi);
  return {1, density, error * error};
}

PmfPrediction PmfModel::predict_new(Side side, const DocumentTerms &cells, std::int32_t key) const {
  require_proportion(*state, cells);
  const PmfDraws draws(*state, std::size_t(rank()));
  return summary(*this, [&](std::size_t s) {
    return NewKey(*state, draws, side, std::size_t(rank()), cells, s)
        .cell(draws.key(other(side), key, s));
  });
}

std::vector<PmfRecommendation> PmfModel::recommend_new(Side side, const DocumentTerms &cells,
                                                       std::int64_t n) const {
  require_proportion(*state, cells);
  const PmfDraws draws(*state, std::size_t(rank()));
  std::vector<CellSummary> all(keys(other(side)).size());
  WorkPoll poll;
  for (std::size_t s = 0; s < state->noise.size(); ++s) {
    NewKey new_key(*state, draws, side, std::size_t(rank()), cells, s);
    for (std::size_t j = 0; j < all.size(); ++j) {
      all[j].add(new_key.cell(draws.key(other(side), std::int32_t(j), s)));
      poll(10 + std::size_t(rank() * rank()));
    }
  }
  return largest(*state, all, cells.terms, n);
}

std::vector<PmfRecommendation> PmfModel::recommend(std::int32_t row, std::int64_t n,
                                                   bool all) const {
  if (!all && !state->knows_rated)
    throw Error(Errc::invalid_argument, "the model does not store which cells had numbers",
                "It was fitted with option rated = false.",
                "Ask for all columns, or fit with option rated = true.");
  const PmfDraws draws(*state, std::size_t(rank()));
  const std::size_t columns = keys(Side::column).size();
  std::vector<CellSummary> cells(columns);
  WorkPoll poll;
  for (std::size_t s = 0; s < state->noise.size(); ++s) {
    const PmfDraws::Key of_row = draws.key(Side::row, row, s);
    for (std::size_t j = 0; j < columns; ++j) {
      cells[j].add(draws.cell(of_row, draws.key(Side::column, std::int32_t(j), s), s));
      poll(10 + std::size_t(rank()) * (of_row.covariance ? std::size_t(rank()) : 1));
    }
  }
  return largest(*state, cells,
                 all || row < 0 ? std::span<const std::int32_t>() : state->rated_of(row), n);
}

std::vector<PmfSimilarity> PmfModel::similar(Side side, std::int32_t index, std::int64_t n) const {
  const PmfDraws draws(*state, std::size_t(rank()));
  const std::size_t count = keys(side).size();
  std::vector<RunningMean> all(count);
  WorkPoll poll;
  std::vector<double> image(static_cast<std::size_t>(rank()));
  for (std::size_t s = 0; s < state->noise.size(); ++s) {
    // Over u, the covariance of u'v and u'w is v' covariance w.
    const double *const covariance = draws.covariance(other(side), s);
    const double *const v = draws.key(side, index, s).vector;
    const double of_v = draws.form(covariance, v, v, s);
    std::vector<double> unit(image.size(), 0.0);
    for (std::size_t k = 0; k < image.size(); ++k) {
      unit[k] = 1;
      image[k] = draws.form(covariance, unit.data(), v, s);
      unit[k] = 0;
    }
    for (std::size_t j = 0; j < count; ++j) {
      const double *const w = draws.key(side, std::int32_t(j), s).vector;
      const double size = std::sqrt(of_v) * std::sqrt(draws.form(covariance, w, w, s));
      all[j].add(size > 0 ? std::clamp(draws.product(image.data(), w) / size, -1.0, 1.0) : 0);
      poll(10 + image.size() * (covariance ? image.size() : 3));
    }
  }
  std::vector<PmfSimilarity> out;
  for (std::size_t j = 0; j < count; ++j) {
    poll(10);
    if (std::int32_t(j) != index)
      out.push_back({std::int32_t(j), all[j].mean, std::sqrt(all[j].variance())});
  }
  keep_first(out, n, [&poll](const PmfSimilarity &a, const PmfSimilarity &b) {
    poll(8);
    return a.similarity != b.similarity ? a.similarity > b.similarity : a.key < b.key;
  });
  return out;
}

}  // namespace bayes
