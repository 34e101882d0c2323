// Clusters of product rows with their parameters integrated out, updated row by row, for collapsed
// samplers and predictive densities.
//
// Every cluster's predictive density is precomputed, split as in column.hpp: one constant for a row
// of zeros, and for every column the numbers from which the term of another value is computed.
// Clusters lie in the lanes, so that a row is scored under all of them at once; zeros cost nothing.
// Statistics are stored apart from the prior, so that whole numbers stay exact and rounding errors
// do not accumulate.
#pragma once

#include "base/aligned.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

class BAYES_API ProductClusters {
 public:
  /// Without clusters. `prior`: one component.
  explicit ProductClusters(const ProductPosterior &prior);

  /// Clusters whose posteriors are q's components, for scoring rows; rows must not be added to or
  /// removed from them.
  ProductClusters(const ProductPosterior &prior, const ProductPosterior &q);

  int size() const { return size_; }
  /// size(), rounded up to whole vectors
  int padded() const;
  double count(int slot) const { return counts_[std::size_t(slot)]; }

  int open();
  void close(int slot);
  void clear(int slot);

  void add(int slot, const double *x);
  /// False if precision was lost; the cluster must then be cleared and rebuilt.
  bool remove(int slot, const double *x);
  void save(int slot);
  /// Restores the state that save() stored. Other clusters may have changed since, but not moved to
  /// other slots.
  void restore(int slot);

  /// padded() numbers: log p(x | the rows of the cluster); those past size() are finite but
  /// meaningless.
  void log_predictive(const double *x, double *out) const;
  double log_predictive(int slot, const double *x) const {
    return log_predictive(x, row(0) + slot, std::size_t(capacity_));
  }
  /// For x that is not const: otherwise slot 0, as a null pointer, would make the call ambiguous.
  double log_predictive(int slot, double *x) const {
    return log_predictive(slot, static_cast<const double *>(x));
  }
  /// Updates the padded() results of log_predictive() for a row whose element j changes from `from`
  /// to `to`. NaN is a missing element.
  void replace_element(int j, double from, double to, double *out) const;
  double log_prior_predictive(const double *x) const {
    return log_predictive(x, prior_column_.data(), 1);
  }

  /// log p(all rows of the cluster).
  double log_marginal(int slot) const;

  ProductPosterior posterior() const;

  /// Writes or reads all clusters, of which there are at most this many.
  void exchange(StateNumbers &numbers, int most);

 private:
  const Columns &columns() const { return *prior_.columns; }

  template <class F> struct Term {
    std::size_t row;
    double x;
    const F *family;
  };
  struct Saved {
    std::vector<double> column, statistics, posterior;
    double count, log_carrier;
  };

  // For scoring, every number of a cluster has its own row in data_, of capacity_ entries: the
  // constant of the whole row, then those of the columns (group by group), then the columns' forms.
  std::size_t rows() const {
    return 1 + std::size_t(columns().count()) + std::size_t(columns().size().forms);
  }
  std::size_t form_row(int form) const {
    return 1 + std::size_t(columns().count()) + std::size_t(form);
  }
  const double *row(std::size_t number) const {
    return data_.data() + number * std::size_t(capacity_);
  }
  void put(int slot, const double *column) {
    double *to = data_.data() + slot;
    for (std::size_t r = 0; r < rows(); ++r, to += capacity_) *to = column[r];
  }
  void take(int slot, double *column) const {
    const double *from = data_.data() + slot;
    for (std::size_t r = 0; r < rows(); ++r, from += capacity_) column[r] = *from;
  }

  double *statistics_of(int slot) { return statistics_.data() + std::size_t(slot) * empty_.size(); }
  const double *statistics_of(int slot) const {
    return statistics_.data() + std::size_t(slot) * empty_.size();
  }
  double *posterior_of(int slot) {
    return posteriors_.data() + std::size_t(slot) * std::size_t(columns().size().posterior);
  }
  const double *posterior_of(int slot) const {
    return posteriors_.data() + std::size_t(slot) * std::size_t(columns().size().posterior);
  }

  void reserve(int slots);

  /// Computes a cluster's column of data_ from its posterior.
  void compile(const double *posterior, double *column);
  void refresh(int slot);

  double row_carrier(const double *x) const;
  void add_constant(std::size_t column, double sign, double *out) const;
  /// Do all columns of a family whose predictive densities are powers have the same power in every
  /// cluster, one that is not heavy? They usually do if no value is missing.
  bool powers_equal() const;
  template <class F, int N>
  void add_terms(const Term<F> *terms, int count, int slot, double *out) const;
  /// The sum of the terms of columns of one power, with a logarithm for every eight factors, and
  /// the largest factor.
  template <class F, class Vector, int N>
  void sum_powers(const Term<F> *terms, int count, int slot, Vector (&sum)[N],
                  Vector (&largest)[N]) const;
  /// The log predictive density of x under one cluster, whose numbers are `stride` apart.
  double log_predictive(const double *x, const double *column, std::size_t stride) const;

  ProductPosterior prior_;
  std::vector<double> empty_, scratch_, prior_column_;
  /// for every column, its position among those of its family
  std::vector<int> places_;
  int size_ = 0, capacity_ = 0;
  /// powers_equal(), of clusters for scoring; otherwise false
  bool equal_powers_ = false;
  Buffer data_;
  std::vector<double> counts_, carriers_, statistics_, posteriors_;
  Saved saved_{};
};

}  // namespace bayes
