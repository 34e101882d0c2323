// The products' part of the local step: log densities of a block of rows under K components, and
// sufficient statistics.
#pragma once

#include "base/aligned.hpp"
#include "data/local_step.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

class BAYES_API ProductScorer final : public BlockScorer {
 public:
  using Statistics = ProductStatistics;

  /// terms: term size x K; constants: columns x K, in the columns' order.
  ProductScorer(SharedColumns columns, Matrix terms, Matrix constants);

  int components() const override { return k_; }
  int dimension() const override { return columns_->count(); }

  /// Floating-point operations per row of score and accumulate together.
  double operations() const override { return 4.0 * k_ * columns_->count(); }

  /// One thread's workspace.
  class BAYES_API Worker final : public BlockWorker {
   public:
    explicit Worker(const ProductScorer &scorer);

    /// Call once per block, before scoring: locates the columns, replaces missing values by 0, and
    /// computes what does not depend on the component.
    void prepare(const double *block) override;

    /// out[b] = log density (or its expectation) of row b of the block under component k.
    void score(const double *, int k, double *out) override;

    /// Adds the block's rows with responsibilities r (block_rows, times the rows' weights) to
    /// component k's statistics.
    void accumulate(const double *, int k, const double *r) override;

    void clear() override;

    /// Adds the sums accumulated since clear() to raw (raw_size() doubles): for each component the
    /// sums, the weight of the rows in which a column is missing, and the sum of h(x).
    void reduce(double *raw) const override;

   private:
    std::size_t sum_doubles() const;

    /// The elements of a column (column.hpp), 0 for missing values, and a mask of these.
    template <class F>
    void fill(const F &family, std::size_t c, const double *x, std::size_t filled, bool holes);

    /// f(group, first, size, offsets) for runs of a group's columns that can be processed at once:
    /// all of them, or one at a time if there are holes.
    template <class Function> void for_each_run(Function f) const;

    const ProductScorer &scorer_;
    const Columns &columns_;
    Buffer sums_, missing_, carrier_, row_carrier_, scratch_;
    std::vector<int> order_;  // columns group by group
    std::vector<const double *> x_, hole_;
    /// for each column: are values of the block missing?
    std::vector<char> with_holes_;
    std::vector<Buffer> filled_;
    bool holes_ = false;
  };

  /// The log densities (or expectations) of a single row x of d numbers under K components.
  void score(const double *x, double *out) const;

  std::unique_ptr<BlockWorker> worker() const override { return std::make_unique<Worker>(*this); }
  std::size_t raw_size() const override;
  Document message() const override;
  /// Throws Error unless message() has made it.
  static ProductScorer from_message(const Document &message);

  /// The numbers that a worker holds per component.
  static double sums_per_component(const Columns &columns);

  /// The statistics from raw sums. `counts`: K sums of responsibilities.
  Statistics statistics(const std::vector<double> &counts, const std::vector<double> &raw) const;

 private:
  SharedColumns columns_;
  int k_;
  Matrix terms_, constants_;
  Vector constant_;
};

/// Scores rows with their log densities.
BAYES_API ProductScorer make_scorer(const ProductPoint &point);

/// Scores rows with E_q[log density].
BAYES_API ProductScorer make_scorer(const ProductPosterior &q);

}  // namespace bayes
