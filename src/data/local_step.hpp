// The local step that all learners share: every row's responsibilities, and from them the expected
// sufficient statistics and the data term of the objective, in one pass over any number of rows, on
// any number of threads.
//
// Scorers and allocations are called through virtual functions, once per block of rows, so that the
// pass is compiled once for all families and allocations.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "base/random.hpp"
#include "data/pass.hpp"
#include "data/rows.hpp"
#include "document/document.hpp"

namespace bayes {

/// The part of a BlockScorer that each thread has of its own.
class BlockWorker {
 public:
  virtual ~BlockWorker() = default;
  /// Whether rows may have missing elements (NaN); for families of whole rows.
  bool incomplete = false;
  /// Call once per block, before scoring.
  virtual void prepare(const double *block) = 0;
  /// Weight 0 for rows of the block last prepared that miss all elements, if the family has no use
  /// for them. weight: block_rows numbers.
  virtual void weigh(double *) const {}
  /// out[b] = log density (or its expectation) of row b of the block under component k.
  virtual void score(const double *block, int k, double *out) = 0;
  /// Adds the block's rows with responsibilities r (block_rows, times the rows' weights) to
  /// component k's statistics. The block is the last one prepared.
  virtual void accumulate(const double *block, int k, const double *r) = 0;
  virtual void clear() = 0;
  /// Adds the sums accumulated since clear() to raw (raw_size() doubles).
  virtual void reduce(double *raw) const = 0;
};

/// An observation family's contribution to the local step with K components: log densities and sums
/// of sufficient statistics, by blocks of rows. A family's own scorer also has a type Statistics,
/// made from the sums over rows by statistics(counts, raw).
class BlockScorer {
 public:
  virtual ~BlockScorer() = default;
  virtual int components() const = 0;
  virtual int dimension() const = 0;
  /// Floating-point operations per row of score and accumulate together (a multiply-add counts 2),
  /// for choosing the number of threads.
  virtual double operations() const = 0;
  virtual std::size_t raw_size() const = 0;
  virtual std::unique_ptr<BlockWorker> worker() const = 0;
  /// The scorer as a message to other servers that have rows, with a member "scorer" that names the
  /// family; by default throws Error(invalid_argument).
  virtual Document message() const;
};

/// Sums over rows that a local step computes in addition to the statistics.
struct RowSums {
  /// the data term: sum of weight x log sum_k exp(log weight_k + score_k); hard: x the largest term
  double objective = 0;
  /// sum of weight x entropy of the responsibilities
  double entropy = 0;
};

/// The rows of a block.
struct BlockRows {
  /// index of its first row among all rows
  std::int64_t first;
  /// number of rows
  int rows;
  /// number of rows, rounded up to a multiple of the lanes
  int padded;
};

/// An allocation turns the logits of one block ([component][block_rows]) into responsibilities
/// times weights, in place, and adds them up into counts (K x simd::sum_lanes, row b in number b %
/// sum_lanes). weight: block_rows numbers, 0 past the last row. `scored`: whether it uses the
/// scores.
///
/// Soft: responsibilities proportional to exp(logit). Hard: responsibility 1 for the largest logit,
/// the first one if there are ties (k-means). Others are below.
struct SoftAllocation {
  static constexpr bool scored = true;
  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};
struct HardAllocation {
  static constexpr bool scored = true;
  /// if not null: receives every row's component, from 0
  int *labels = nullptr;
  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

/// The result of a pass over the rows.
template <class Statistics> struct LocalResult {
  Statistics statistics;
  RowSums sums;
};

namespace detail {

/// An allocation of any type, called through a virtual function.
class AnyAllocation {
 public:
  AnyAllocation(bool scored, const char *name, const Document *labels)
      : scored(scored),
        name(name),
        labels(labels) {}
  virtual ~AnyAllocation() = default;
  virtual void allocate(int k, BlockRows block, const double *weight, double *logits,
                        double *counts, RowSums &sums) const = 0;
  const bool scored;
  /// in messages to other servers; null if the allocation is about single rows
  const char *const name;
  /// how other servers label their rows, if labels are given; else null
  const Document *const labels;
};

template <class Allocation> class AllocationOf final : public AnyAllocation {
 public:
  explicit AllocationOf(const Allocation &allocation)
      : AnyAllocation(Allocation::scored, name_of(allocation), labels_of(allocation)),
        allocation_(allocation) {}
  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const override {
    allocation_.allocate(k, block, weight, logits, counts, sums);
  }

 private:
  static const char *name_of(const Allocation &allocation) {
    if constexpr (std::same_as<Allocation, SoftAllocation>) return "soft";
    if constexpr (std::same_as<Allocation, HardAllocation>)
      return allocation.labels ? nullptr : "hard";
    if constexpr (requires { Allocation::name_elsewhere; })
      return allocation.elsewhere ? Allocation::name_elsewhere : nullptr;
    return nullptr;
  }
  static const Document *labels_of(const Allocation &allocation) {
    if constexpr (requires { Allocation::name_elsewhere; }) return allocation.elsewhere;
    return nullptr;
  }
  const Allocation allocation_;
};

}  // namespace detail

/// The pass of local_step(). The server of a part makes the scorer, and labels, or a minibatch of
/// its rows, as the request says (models/passes.cpp).
struct LocalStepPass {
  static constexpr const char *name = "local step";
  struct Sums {
    /// sums of responsibilities, and of the family's statistics
    std::vector<double> counts, raw;
    RowSums sums;
    template <class F> void fields(F &f) {
      f.values("counts", counts);
      f.values("raw", raw);
      f.number("objective", sums.objective);
      f.number("entropy", sums.entropy);
    }
    void add(const Sums &part);
  };

  const BlockScorer *scorer = nullptr;
  const detail::AnyAllocation *allocation = nullptr;
  std::vector<double> log_weights;
  /// the allocation's name; empty if it is about single rows
  std::string way;

  template <class F> void fields(F &f, RowSource &) {
    if constexpr (!F::reading) describe(f.document());
    f.numbers("log_weights", log_weights);
    f.text("allocation", way);
  }
  Sums nothing(RowSource &) const;
  Sums here(RowSource &rows, Control &control) const;

 private:
  /// Adds the scorer, and how rows are labelled, to a request. Throws Error(invalid_argument) for
  /// an allocation that needs rows one at a time.
  void describe(Document &request) const;
};

/// The allocation with this name. `labels`: of the rows, for allocations with given labels, else
/// null. Throws Error(invalid_binary) for an unknown name.
std::unique_ptr<const detail::AnyAllocation> allocation_named(const std::string &name,
                                                              const int *labels);

/// The sums of one pass.
template <class Allocation>
LocalStepPass::Sums local_sums(RowSource &rows, Control &control, const BlockScorer &scorer,
                               const std::vector<double> &log_weights,
                               const Allocation &allocation) {
  const detail::AllocationOf<Allocation> any(allocation);
  return run(rows, LocalStepPass{&scorer, &any, log_weights, any.name ? any.name : ""}, control);
}

/// One pass: log_weights has K entries (-infinity for a component of weight 0).
template <class Allocation, class Scorer>
LocalResult<typename Scorer::Statistics> local_step(RowSource &rows, Control &control,
                                                    const Scorer &scorer,
                                                    const std::vector<double> &log_weights,
                                                    const Allocation &allocation = {}) {
  const LocalStepPass::Sums found = local_sums(rows, control, scorer, log_weights, allocation);
  return {scorer.statistics(found.counts, found.raw), found.sums};
}

// Allocations that draw a label for every row, and an allocation with given labels.

/// Allocation with given labels; only statistics are computed.
struct GivenAllocation {
  static constexpr bool scored = false;
  static constexpr const char *name_elsewhere = "given";
  /// of all rows, from 0
  const int *labels;
  /// how other servers label the rows that they have; may be null
  const Document *elsewhere = nullptr;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &) const;
};

/// Allocation with given labels; also adds up the scores of the rows under these.
struct ScoredGivenAllocation {
  static constexpr bool scored = true;
  static constexpr const char *name_elsewhere = "given, scored";
  /// as in GivenAllocation
  const int *labels;
  const Document *elsewhere = nullptr;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

/// Soft allocation, except that for marked rows component `from`, whose weight must be 0, gets the
/// responsibility of component `into`.
struct DividedAllocation {
  static constexpr bool scored = true;
  int from, into;
  /// of all rows: 1 or 0
  const int *marks;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

/// Allocates every row to all components, with random responsibilities.
struct ScatteredAllocation {
  static constexpr bool scored = false;
  RowRandom random;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &) const;
};

/// A label for every row in proportion to exp(logit): the full conditional of a finite mixture's
/// labels (000, 001), and the sampled E step of Monte Carlo EM (001). The label depends only on the
/// random stream and the index of the row.
struct SampledAllocation {
  static constexpr bool scored = true;
  RowRandom random;
  /// may be null
  int *labels;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

/// Responsibilities estimated by `samples` labels drawn for each row (001, Monte Carlo EM); the
/// entropy is that of the exact ones.
struct MonteCarloAllocation {
  static constexpr bool scored = true;
  RowRandom random;
  /// at least 1
  int samples;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

/// Slice sampling (Walker 2007): a row's slice variable u is uniform below its component's weight
/// (the first of its two uniform numbers times that weight), and the row chooses among the
/// components with weights above u, in proportion to their densities alone.
struct SliceAllocation {
  static constexpr bool scored = true;
  RowRandom random;
  /// of all components
  const double *weights;
  /// the current labels
  const int *before;
  /// the labels drawn; a separate array, as an abandoned segment is done again
  int *labels;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

// Overlap of the components of two mixtures, measured by the rows.

/// The weight of the rows that component i of `one` and j of `other` have in common, in entry i * K
/// + j, both having K components: the sum over rows of weight x r_i x s_j, r and s being the
/// responsibilities. With many rows a sample of about 10,000 is used, in blocks. Log weights are as
/// for local_step().
std::vector<double> shared_rows(RowSource &rows, Control &control, const BlockScorer &one,
                                const std::vector<double> &log_weights_of_one,
                                const BlockScorer &other,
                                const std::vector<double> &log_weights_of_other);

}  // namespace bayes
