// Normal clusters with their parameters integrated out, updated row by row, for collapsed samplers
// and predictive densities.
//
// A cluster is its posterior (m, c, a, B). Its predictive density of a row is a Student t (002 L10
// eq. 22): with p the dimension of the Wishart,
//   log t = log Gamma((a + e) / 2) - log Gamma((a + e - d') / 2)
//           - d'/2 log pi - 1/2 log |B| - d'/2 log((c + 1) / c)
//           - (a + e) / 2 log(1 + c / (c + 1) (x - m)' B^-1 (x - m))
// with e = 1, d' = d in the dense shape, e = d' = d and |B| to the d-th power in the spherical one,
// and a product of d terms with e = d' = 1 in the diagonal one. B is stored as its Cholesky factor,
// updated by rank-one steps of d^2 operations; terms that depend only on the number of rows come
// from a table. Clusters lie in the lanes, so that a row is scored under all of them at once.
#pragma once

#include "base/aligned.hpp"
#include "families/normal/normal_wishart.hpp"

namespace bayes {

class NormalClusters {
 public:
  /// Without clusters. `prior`: one component.
  explicit NormalClusters(const NormalWishart &prior);

  int size() const { return size_; }
  /// size(), rounded up to whole vectors
  int padded() const;
  double count(int slot) const { return at(Row::count, slot); }

  int open();
  void close(int slot);
  void clear(int slot) { put(slot, prior_column_.data()); }

  void add(int slot, const double *x);
  /// False if precision was lost; the cluster must then be cleared and rebuilt.
  bool remove(int slot, const double *x);
  void save(int slot) { saved_.assign(column(slot), column(slot) + rows()); }
  /// Restores the state that save() stored. Other clusters may have changed since, but not moved to
  /// other slots.
  void restore(int slot) { put(slot, saved_.data()); }

  void log_predictive(const double *x, double *out) const;
  double log_predictive(int slot, const double *x) const;
  double log_prior_predictive(const double *x);

  /// log p(all rows of the cluster).
  double log_marginal(int slot) const;

  NormalWishart posterior() const;

  /// Writes or reads all clusters, of which there are at most this many.
  void exchange(StateNumbers &numbers, int most);

 private:
  // column(slot) holds the numbers of a cluster contiguously, for updates: first those named below,
  // then d means, then the scale (in the dense shape the columns of the Cholesky factor, each from
  // the diagonal down, with reciprocal diagonal; otherwise the entries of B). data_ holds the same
  // numbers transposed, for scoring: one row per number, with capacity_ clusters side by side.
  struct Row {
    enum : int { count, c, log_determinant, constant, shrink, half, size };
  };
  std::size_t scale_count() const;
  std::size_t rows() const { return Row::size + std::size_t(d_) + scales_; }
  double *column(int slot) { return columns_.data() + std::size_t(slot) * rows(); }
  const double *column(int slot) const { return columns_.data() + std::size_t(slot) * rows(); }
  double at(int row, int slot) const { return column(slot)[row]; }
  int packed(int i, int j) const { return j * d_ - j * (j - 1) / 2 + i - j; }

  void put(int slot, const double *from);
  /// Copies a changed column to data_.
  void publish(int slot);

  void reserve(int slots);

  /// The stored form of a scale: its packed Cholesky factor with reciprocal diagonal, or its
  /// entries. False if it is not positive definite.
  bool factor_of(const Matrix &scale, std::vector<double> &out) const;

  /// Sets a slot to the posterior q of one component; `scale`: q's scale in stored form.
  void fill(int slot, const NormalWishart &q, const std::vector<double> &scale);

  /// The part of the log predictive's constant that depends only on the number of rows n and on c.
  double constant_of(double n, double c) const;
  double cached_constant(double n);

  /// Computes all numbers that follow from count, c and scale.
  void refresh(int slot, double constant);

  /// Adds (sign 1) or removes (sign -1) a row: B += sign w^2 (x - m)(x - m)', m += step (x - m).
  /// False if precision was lost.
  bool change(int slot, const double *x, double w, double step, int sign);
  static bool changed(double &entry, double by);

  /// log_predictive() for the clusters in slots `first` .. first + lanes - 1.
  void lanes_predictive(const double *x, int first, double *out) const;

  NormalWishart prior_;
  CovarianceShape shape_;
  int d_;
  std::size_t scales_;
  int size_ = 0, capacity_ = 0;
  double prior_log_normaliser_ = 0;
  std::vector<double> prior_root_, prior_column_, saved_, constants_, columns_;
  Buffer data_;
  mutable Buffer y_;
  std::vector<double> v_;
};

}  // namespace bayes
