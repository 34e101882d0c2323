#include "mixture/finite_fit.hpp"

#include <algorithm>

namespace bayes {
namespace {

/// Size of the sample of distinct rows: enough for good starting points, in at most 32 MB.
std::size_t sketch_capacity(int dimension, int k) {
  const std::size_t affordable = std::size_t(32) * 1024 * 1024 / 8 / std::size_t(dimension);
  return std::max(
      {std::size_t(k), std::size_t(2000),
       std::min(std::max(std::size_t(10000), std::size_t(50) * std::size_t(k)), affordable)});
}

}  // namespace

FiniteRows::FiniteRows(RowSource &rows, int k, std::uint64_t seed, Control &control,
                       bool whole_rows)
    : all(rows),
      sketch_(
          Sketch::of(rows, control, seed, sketch_capacity(rows.shape().dimension, k), whole_rows)),
      sample(sketch_.sorted()),
      data(sketch_.complete() ? static_cast<RowSource &>(sample) : rows) {
  all.set_incomplete(sketch_.incomplete());
}

RunEffort finite_effort(const RowSource &rows, double each, int k, const FitOptions &options) {
  // restarts run on the sample if it does not hold all rows
  const double some = double(sketch_capacity(rows.shape().dimension, k));
  double in_step = std::min(double(rows.rows()), some), iterations = 50;
  if (options.stochastic()) {
    in_step = std::min(in_step, double(options.plan.batch_rows));
    iterations = options.max_iterations;
  }
  if (options.method == Method::mcem) each += k * options.samples;
  return {in_step * each, std::min(iterations, double(options.max_iterations))};
}

void FiniteRows::require_distinct_rows(int k) const {
  const std::int64_t distinct = std::int64_t(sketch_.size());
  if (distinct < k)
    throw Error(Errc::invalid_argument,
                "k is " + std::to_string(k) + ", but there " +
                    (distinct == 1 ? "is only 1 distinct row"
                                   : "are only " + std::to_string(distinct) + " distinct rows"),
                "Every component needs at least one row of its own.", "Use a smaller k.");
}

}  // namespace bayes
