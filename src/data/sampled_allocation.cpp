#include "data/sampled_allocation.hpp"

#include <algorithm>
#include <limits>

#include "base/aligned.hpp"
#include "base/simd.hpp"

namespace bayes {
namespace {

/// Draws a label for each of `lanes` rows at column b, in proportion to exp(logits), and replaces
/// the logits by one-hot responsibilities times weights. `u`: a uniform number for each row.
/// Returns the labels as numbers; log_total gets log sum exp.
simd::Vector draw_labels(int k, const double *u, const double *weight, double *logits,
                         double *counts, simd::Vector &log_total) {
  using namespace simd;
  using simd::Vector;
  const Vector lowest = all(-std::numeric_limits<double>::max());
  Vector largest = lowest;
  for (int j = 0; j < k; ++j) largest = max(load(logits + j * block_rows), largest);
  Vector total = {};
  for (int j = 0; j < k; ++j) {
    const Vector e = exp(max(load(logits + j * block_rows), lowest) - largest);
    total += e;
    store(logits + j * block_rows, total);  // running sums
  }
  log_total = largest + log(total);
  const Vector target = load(u) * total, w = load(weight);
  Vector label = {}, before = {};
  for (int j = 0; j < k; ++j) {
    // 1 up to the component whose interval contains the target, then 0.
    const Vector here = load(logits + j * block_rows) > target ? all(0.0) : all(1.0);
    const Vector chosen = j == 0 ? 1.0 - here : before - here;
    before = here;
    label += here;
    const Vector r = chosen * w;
    store(logits + j * block_rows, r);
    store(counts + j * sum_lanes, load(counts + j * sum_lanes) + r);
  }
  return label;
}

}  // namespace

void GivenAllocation::allocate(int k, BlockRows block, const double *weight, double *logits,
                               double *counts, RowSums &) const {
  std::fill_n(logits, std::size_t(k) * block_rows, 0.0);
  for (int b = 0; b < block.rows; ++b) {
    const int label = labels[block.first + b];
    logits[label * block_rows + b] = weight[b];
    counts[label * simd::sum_lanes + b % simd::sum_lanes] += weight[b];
  }
}

void ScoredGivenAllocation::allocate(int k, BlockRows block, const double *weight, double *logits,
                                     double *counts, RowSums &sums) const {
  for (int b = 0; b < block.rows; ++b)
    sums.objective += weight[b] * logits[labels[block.first + b] * block_rows + b];
  GivenAllocation{labels}.allocate(k, block, weight, logits, counts, sums);
}

void SampledAllocation::allocate(int k, BlockRows block, const double *weight, double *logits,
                                 double *counts, RowSums &sums) const {
  using namespace simd;
  alignas(cache_line) double u[lanes], label[lanes];
  simd::Vector objective[registers] = {};
  for (int b = 0; b < block.padded; b += lanes) {
    for (int i = 0; i < lanes; ++i) u[i] = random.uniforms(block.first + b + i)[0];
    simd::Vector log_total;
    store(label, draw_labels(k, u, weight + b, logits + b, counts + b % sum_lanes, log_total));
    objective[b / lanes % registers] += load(weight + b) * log_total;
    for (int i = 0; labels && i < lanes && b + i < block.rows; ++i)
      labels[block.first + b + i] = int(label[i]);
  }
  sums.objective += sum(objective);
}

void MonteCarloAllocation::allocate(int k, BlockRows block, const double *weight, double *logits,
                                    double *counts, RowSums &sums) const {
  // The exact responsibilities as running sums, one column after the other; then labels by
  // inversion (004).
  std::vector<double> none(std::size_t(k) * simd::sum_lanes, 0.0), share(std::size_t(k), 0.0);
  SoftAllocation().allocate(k, block, weight, logits, none.data(), sums);
  for (int b = 0; b < block.rows; ++b) {
    if (!(weight[b] > 0)) continue;
    std::fill(share.begin(), share.end(), 0.0);
    Random stream(random.bits(block.first + b));
    for (int s = 0; s < samples; ++s) {
      double left = stream.uniform() * weight[b];
      int label = 0;
      while (label + 1 < k && (left -= logits[label * block_rows + b]) >= 0) ++label;
      share[std::size_t(label)] += weight[b] / samples;
    }
    for (int j = 0; j < k; ++j) {
      logits[j * block_rows + b] = share[std::size_t(j)];
      counts[j * simd::sum_lanes + b % simd::sum_lanes] += share[std::size_t(j)];
    }
  }
}

void DividedAllocation::allocate(int k, BlockRows block, const double *weight, double *logits,
                                 double *counts, RowSums &sums) const {
  for (int b = 0; b < block.rows; ++b)
    if (marks[block.first + b])
      std::swap(logits[from * block_rows + b], logits[into * block_rows + b]);
  SoftAllocation().allocate(k, block, weight, logits, counts, sums);
}

void ScatteredAllocation::allocate(int k, BlockRows block, const double *weight, double *logits,
                                   double *counts, RowSums &) const {
  std::fill_n(logits, std::size_t(k) * block_rows, 0.0);
  for (int b = 0; b < block.rows; ++b) {
    Random own(random.bits(block.first + b));
    double total = 0;
    for (int j = 0; j < k; ++j) {
      const double e = own.exponential();
      total += logits[j * block_rows + b] = e * e;
    }
    for (int j = 0; j < k; ++j)
      counts[j * simd::sum_lanes + b % simd::sum_lanes] += logits[j * block_rows + b] *=
          weight[b] / total;
  }
}

void SliceAllocation::allocate(int k, BlockRows block, const double *weight, double *logits,
                               double *counts, RowSums &sums) const {
  using namespace simd;
  const simd::Vector never = all(-std::numeric_limits<double>::infinity());
  alignas(cache_line) double height[lanes], u[lanes], label[lanes];
  simd::Vector objective[registers] = {};
  for (int b = 0; b < block.padded; b += lanes) {
    for (int i = 0; i < lanes; ++i) {
      const bool real = b + i < block.rows;
      const auto uniforms = random.uniforms(block.first + b + i);
      height[i] = real ? uniforms[0] * weights[before[block.first + b + i]] : 0;
      u[i] = uniforms[1];
    }
    const simd::Vector low = load(height);
    for (int j = 0; j < k; ++j) {
      double *const at = logits + j * block_rows + b;
      store(at, all(weights[j]) > low ? load(at) : never);
    }
    simd::Vector log_total;
    store(label, draw_labels(k, u, weight + b, logits + b, counts + b % sum_lanes, log_total));
    objective[b / lanes % registers] += load(weight + b) * log_total;
    for (int i = 0; i < lanes && b + i < block.rows; ++i)
      labels[block.first + b + i] = int(label[i]);
  }
  sums.objective += sum(objective);
}

}  // namespace bayes
