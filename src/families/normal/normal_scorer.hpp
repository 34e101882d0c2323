// The normal family's share of a local step: log densities of a block of rows under K components,
// and sufficient statistics.
//
// EM, MAP, variational and stochastic variational inference all score rows as constant_k - |W_k (x
// - m_k)|^2 / 2; they differ in where constant, W and m come from.
#pragma once

#include <algorithm>
#include <vector>

#include "base/aligned.hpp"
#include "families/normal/covariance.hpp"
#include "families/normal/normal_block.hpp"

namespace bayes {

/// Sufficient statistics of K weighted groups of rows: sum of weights, mean, and scatter about the
/// mean (for a tied covariance one scatter, summed over the groups), in the form of the
/// covariance's shape.
template <class S> struct NormalStatistics {
  Vector count;                 // K
  Matrix mean;                  // d x K
  std::vector<Matrix> scatter;  // scale_count(K) of scale_rows x scale_columns

  int components() const { return int(count.size()); }
  int dimension() const { return int(mean.rows()); }
  double total() const { return count.sum(); }

  /// Every weight multiplied by a number >= 0.
  void scale(double factor) {
    count *= factor;
    for (auto &s : scatter) s *= factor;
  }
};

template <class S> class NormalScorer {
 public:
  using Statistics = NormalStatistics<S>;

  /// mean: d x K; scales: scale_count(K), factored; constant: K (everything that does not depend on
  /// the row).
  NormalScorer(Matrix mean, const std::vector<FactoredScale> &scales, Vector constant)
      : d_(int(mean.rows())),
        k_(int(mean.cols())),
        mean_(std::move(mean)),
        constant_(std::move(constant)) {
    using namespace normal_block;
    if constexpr (S::dense) {
      packed_.resize(packed_triangle_size(d_) * scales.size());
      for (std::size_t s = 0; s < scales.size(); ++s)
        pack_triangle(
            d_, [&](int i, int j) { return scales[s].whiten(i, j); },
            packed_.data() + s * packed_triangle_size(d_));
    }
    if constexpr (S::shared) {
      // One W for all components: rows are whitened once, about a common centre, and compared with
      // whitened means.
      centre_ = mean_.rowwise().mean();
      whitened_ =
          scales[0].whiten.template triangularView<Eigen::Lower>() * (mean_.colwise() - centre_);
    }
    if constexpr (!S::dense) {
      whitened_.resize(d_, k_);
      for (int k = 0; k < k_; ++k) whitened_.col(k) = scales[std::size_t(k)].whiten.col(0);
    }
  }

  int components() const { return k_; }
  int dimension() const { return d_; }

  /// Arithmetic per row of score and accumulate together (multiply-adds count 2), for deciding on
  /// threads.
  double operations() const {
    return double(k_) * (S::dense ? 2.0 * d_ * (d_ + 1) + 8.0 * d_ : 8.0 * d_);
  }

  /// A worker's own memory.
  class Worker {
   public:
    explicit Worker(const NormalScorer &scorer) : scorer_(scorer) {
      using namespace normal_block;
      const std::size_t block = std::size_t(padded(scorer.d_)) * block_rows;
      if constexpr (S::dense) {
        y_.resize(block);
        ry_.resize(block);
      }
      mean_sums_.resize(std::size_t(padded(scorer.d_)) * lanes * std::size_t(scorer.k_));
      scatter_.resize(scatter_doubles() * std::size_t(scale_count<S>(scorer.k_)));
    }

    /// Call once a block, before scoring.
    void prepare(const double *block) {
      if constexpr (S::shared) {
        normal_block::centre(scorer_.d_, block, scorer_.centre_.data(), y_.data());
        normal_block::transform(scorer_.d_, scorer_.packed_.data(), y_.data(), ry_.data());
        ones_.setOnes(scorer_.d_);
      }
    }

    /// out[b] = log density (or its expectation) of row b of the block under component k.
    void score(const double *block, int k, double *out) {
      const NormalScorer &s = scorer_;
      if constexpr (S::shared) {
        normal_block::diagonal_quadratic(s.d_, ry_.data(), s.whitened_.col(k).data(), ones_.data(),
                                         s.constant_(k), out);
      } else if constexpr (S::dense) {
        normal_block::centre(s.d_, block, s.mean_.col(k).data(), y_.data());
        normal_block::quadratic(
            s.d_, s.packed_.data() + std::size_t(k) * normal_block::packed_triangle_size(s.d_),
            y_.data(), s.constant_(k), out);
      } else {
        normal_block::diagonal_quadratic(s.d_, block, s.mean_.col(k).data(),
                                         s.whitened_.col(k).data(), s.constant_(k), out);
      }
    }

    /// Adds the block's rows with responsibilities r (block_rows, times the rows' weights) to
    /// component k's statistics.
    void accumulate(const double *block, int k, const double *r) {
      const NormalScorer &s = scorer_;
      double *const sums = mean_sums_.data() + std::size_t(k) *
                                                   std::size_t(normal_block::padded(s.d_)) *
                                                   normal_block::lanes;
      double *const scatter = scatter_.data() + std::size_t(scale_index<S>(k)) * scatter_doubles();
      if constexpr (S::dense) {
        normal_block::centre(s.d_, block, s.mean_.col(k).data(), y_.data());
        normal_block::accumulate(s.d_, y_.data(), r, ry_.data(), sums, scatter);
      } else {
        normal_block::diagonal_accumulate(s.d_, block, s.mean_.col(k).data(), r, sums, scatter);
      }
    }

    void clear() {
      std::fill(mean_sums_.begin(), mean_sums_.end(), 0.0);
      std::fill(scatter_.begin(), scatter_.end(), 0.0);
    }

    /// Adds what was accumulated since clear() to raw sums about the scorer's means (raw_size()
    /// doubles).
    void reduce(double *raw) const {
      const NormalScorer &s = scorer_;
      const std::size_t stride = std::size_t(normal_block::padded(s.d_)) * normal_block::lanes;
      for (int k = 0; k < s.k_; ++k)
        normal_block::reduce_sums(s.d_, mean_sums_.data() + std::size_t(k) * stride,
                                  raw + std::size_t(k) * std::size_t(s.d_));
      raw += std::size_t(s.k_) * std::size_t(s.d_);
      for (int c = 0; c < scale_count<S>(s.k_); ++c, raw += raw_scatter(s.d_)) {
        const double *from = scatter_.data() + std::size_t(c) * scatter_doubles();
        if constexpr (S::dense)
          normal_block::reduce_scatter(s.d_, from, raw);
        else
          normal_block::reduce_sums(s.d_, from, raw);
      }
    }

   private:
    std::size_t scatter_doubles() const {
      if constexpr (S::dense)
        return normal_block::scatter_size(scorer_.d_);
      else
        return std::size_t(scorer_.d_) * normal_block::lanes;
    }
    const NormalScorer &scorer_;
    Buffer y_, ry_, mean_sums_, scatter_;
    Vector ones_;
  };

  std::size_t raw_size() const {
    return std::size_t(k_) * std::size_t(d_) + raw_scatter(d_) * std::size_t(scale_count<S>(k_));
  }

  /// The statistics from raw sums about the scorer's means. `counts`: K sums of responsibilities.
  Statistics statistics(const std::vector<double> &counts, const std::vector<double> &raw) const {
    Statistics out;
    out.count = Eigen::Map<const Vector>(counts.data(), k_);
    out.mean = mean_;
    const Matrix sums = Eigen::Map<const Matrix>(raw.data(), d_, k_);
    const double *at = raw.data() + sums.size();
    for (int c = 0; c < scale_count<S>(k_); ++c, at += raw_scatter(d_)) {
      if constexpr (S::dense) {
        Matrix scatter(d_, d_);
        for (int i = 0; i < d_; ++i)
          for (int j = 0; j <= i; ++j) scatter(i, j) = scatter(j, i) = at[i * (i + 1) / 2 + j];
        out.scatter.push_back(std::move(scatter));
      } else if constexpr (S::isotropic) {
        // A loop: Eigen's sum over foreign memory depends on where that lies, and so would the last
        // bits.
        double sum = 0;
        for (int j = 0; j < d_; ++j) sum += at[j];
        out.scatter.push_back(Matrix::Constant(1, 1, sum));
      } else {
        out.scatter.push_back(Eigen::Map<const Vector>(at, d_));
      }
    }
    // From the scorer's means to the groups' own: sum (x - mean)^2 = sum (x - m)^2 - n (mean -
    // m)^2.
    for (int k = 0; k < k_; ++k)
      if (out.count(k) > 0) {
        const Vector shift = sums.col(k) / out.count(k);
        out.mean.col(k) += shift;
        out.scatter[std::size_t(scale_index<S>(k))] -= out.count(k) * outer<S>(shift);
      }
    return out;
  }

 private:
  static std::size_t raw_scatter(int d) {
    return S::dense ? std::size_t(d) * std::size_t(d + 1) / 2 : std::size_t(d);
  }

  int d_, k_;
  Matrix mean_, whitened_;
  Vector constant_, centre_;
  Buffer packed_;
};

}  // namespace bayes
