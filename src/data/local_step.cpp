#include "data/local_step.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/aligned.hpp"
#include "base/simd.hpp"
#include "data/remote_rows.hpp"
#include "data/sweep.hpp"

namespace bayes {

void SoftAllocation::allocate(int k, BlockRows block, const double *weight, double *logits,
                              double *counts, RowSums &sums) const {
  using namespace simd;
  using simd::Vector;
  Vector objective[registers] = {}, entropy[registers] = {};
  for (int b = 0; b < block.padded; b += lanes) {
    double *const at = logits + b;
    // finite, so that rows infinitely far from every component get equal responsibilities
    Vector largest = all(-std::numeric_limits<double>::max());
    for (int j = 0; j < k; ++j) largest = max(load(at + j * block_rows), largest);
    Vector total = {}, mean = {};
    for (int j = 0; j < k; ++j) {
      const Vector shifted =
          max(load(at + j * block_rows), all(-std::numeric_limits<double>::max())) - largest;
      const Vector e = exp(shifted);
      total += e;
      // Where e is 0, `shifted` may be huge: the product must not become a NaN.
      mean = madd(e, max(shifted, all(-1000.0)), mean);
      store(at + j * block_rows, e);
    }
    const Vector w = load(weight + b), share = w / total, log_total = log(total);
    for (int j = 0; j < k; ++j) {
      const Vector r = load(at + j * block_rows) * share;
      store(at + j * block_rows, r);
      double *const count = counts + j * sum_lanes + b % sum_lanes;
      store(count, load(count) + r);
    }
    const int part = b / lanes % registers;
    objective[part] = madd(w, largest + log_total, objective[part]);
    entropy[part] += w * log_total - share * mean;
  }
  sums.objective += sum(objective);
  sums.entropy += sum(entropy);
}

void HardAllocation::allocate(int k, BlockRows block, const double *weight, double *logits,
                              double *counts, RowSums &sums) const {
  for (int b = 0; b < block.padded; ++b) {
    int best = 0;
    for (int j = 1; j < k; ++j)
      if (logits[j * block_rows + b] > logits[best * block_rows + b]) best = j;
    if (labels && b < block.rows) labels[block.first + b] = best;
    // past the last row it may be -infinity
    if (weight[b] > 0) sums.objective += weight[b] * logits[best * block_rows + b];
    for (int j = 0; j < k; ++j) logits[j * block_rows + b] = j == best ? weight[b] : 0;
    counts[best * simd::sum_lanes + b % simd::sum_lanes] += weight[b];
  }
}

Document BlockScorer::message() const { refuse_remote("this step of the fit"); }

void LocalStepPass::describe(Document &request) const {
  if (way.empty()) refuse_remote("the component of each row");
  request.set("scorer", scorer->message());
  if (allocation->labels) request.set("labels", *allocation->labels);
}

LocalStepPass::Sums LocalStepPass::nothing(RowSource &) const {
  return {std::vector<double>(std::size_t(scorer->components())),
          std::vector<double>(scorer->raw_size()),
          {}};
}

void LocalStepPass::Sums::add(const Sums &part) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += part.counts[i];
  for (std::size_t i = 0; i < raw.size(); ++i) raw[i] += part.raw[i];
  sums.objective += part.sums.objective;
  sums.entropy += part.sums.entropy;
}

std::unique_ptr<const detail::AnyAllocation> allocation_named(const std::string &name,
                                                              const int *labels) {
  const auto made = [](const auto &allocation) -> std::unique_ptr<const detail::AnyAllocation> {
    return std::make_unique<detail::AllocationOf<std::decay_t<decltype(allocation)>>>(allocation);
  };
  if (labels && name == GivenAllocation::name_elsewhere) return made(GivenAllocation{labels});
  if (labels && name == ScoredGivenAllocation::name_elsewhere)
    return made(ScoredGivenAllocation{labels});
  if (!labels && name == "hard") return made(HardAllocation());
  if (!labels && name == "soft") return made(SoftAllocation());
  PassReader::refuse();
}

namespace {

/// One thread's workspace for a local step.
class LocalWorker {
 public:
  LocalWorker(const BlockScorer &scorer, const std::vector<double> &log_weights,
              const detail::AnyAllocation &allocation, bool incomplete)
      : scorer_(scorer),
        log_weights_(log_weights),
        allocation_(allocation),
        worker_(scorer.worker()),
        logits_(std::size_t(scorer.components()) * block_rows),
        partial_counts_(std::size_t(scorer.components()) * simd::sum_lanes) {
    worker_->incomplete = incomplete;
  }

  void process(const Segment &segment, const RowShape &shape, const Stop &stop,
               LocalStepPass::Sums &part) {
    const int k = scorer_.components();
    worker_->clear();
    std::fill(partial_counts_.begin(), partial_counts_.end(), 0.0);
    part.sums = {};
    // If a single block takes milliseconds, check for a stop inside it.
    const bool slow = scorer_.operations() * block_rows > 1e7;
    alignas(cache_line) double weight[block_rows];
    for (std::int64_t first = 0; first < segment.rows; first += block_rows) {
      if (stop()) return;
      const double *block =
          segment.blocks + std::size_t(first / block_rows) * shape.block_doubles();
      const int rows = int(std::min<std::int64_t>(block_rows, segment.rows - first));
      std::fill_n(weight, block_rows, 0.0);
      if (shape.weighted)
        std::copy_n(block + std::size_t(shape.dimension) * block_rows, rows, weight);
      else
        std::fill_n(weight, rows, 1.0);
      worker_->prepare(block);
      worker_->weigh(weight);
      for (int j = 0; allocation_.scored && j < k; ++j) {
        if (slow && stop()) return;
        double *const out = logits_.data() + std::size_t(j) * block_rows;
        worker_->score(block, j, out);
        const double log_weight = log_weights_[std::size_t(j)];
        for (int b = 0; b < block_rows; ++b) out[b] += log_weight;
      }
      const int full_vectors = (rows + simd::lanes - 1) / simd::lanes * simd::lanes;
      allocation_.allocate(k, {segment.first + first, rows, full_vectors}, weight, logits_.data(),
                           partial_counts_.data(), part.sums);
      for (int j = 0; j < k; ++j) {
        double *const r = logits_.data() + std::size_t(j) * block_rows;
        std::fill(r + full_vectors, r + block_rows, 0.0);
        if (slow && stop()) return;
        worker_->accumulate(block, j, r);
      }
    }
    part.counts.resize(std::size_t(k));
    for (int j = 0; j < k; ++j)
      part.counts[std::size_t(j)] =
          simd::sum(partial_counts_.data() + std::size_t(j) * simd::sum_lanes);
    part.raw.assign(scorer_.raw_size(), 0.0);
    worker_->reduce(part.raw.data());
  }

 private:
  const BlockScorer &scorer_;
  const std::vector<double> &log_weights_;
  const detail::AnyAllocation &allocation_;
  std::unique_ptr<BlockWorker> worker_;
  Buffer logits_, partial_counts_;
};

}  // namespace

LocalStepPass::Sums LocalStepPass::here(RowSource &rows, Control &control) const {
  Sweep sweep(rows, control);
  const SweepPlan plan =
      sweep.plan(scorer->operations() + 40.0 * scorer->components(), 8 * scorer->raw_size());
  std::vector<std::unique_ptr<LocalWorker>> workers;
  for (int t = 0; t < plan.threads; ++t)
    workers.push_back(
        std::make_unique<LocalWorker>(*scorer, log_weights, *allocation, rows.incomplete() > 0));
  std::vector<Sums> parts(static_cast<std::size_t>(plan.slots));
  Sums out = nothing(rows);
  const RowShape shape = rows.shape();
  sweep.run(
      plan,
      [&](int worker, int slot, const Segment &segment, const Stop &stop) {
        workers[std::size_t(worker)]->process(segment, shape, stop, parts[std::size_t(slot)]);
      },
      [&](int slot) { out.add(parts[std::size_t(slot)]); });
  return out;
}

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

namespace {

/// Smaller responsibilities are treated as 0.
constexpr double min_share = 1e-6;

/// Responsibilities of the rows of a block, as (component, share) for each row.
class Shares {
 public:
  Shares(const BlockScorer &scorer, const std::vector<double> &log_weights, bool incomplete)
      : scorer_(scorer),
        log_weights_(log_weights),
        worker_(scorer.worker()),
        logits_(std::size_t(scorer.components()) * block_rows),
        counts_(std::size_t(scorer.components()) * simd::sum_lanes),
        of_row_(block_rows) {
    worker_->incomplete = incomplete;
  }

  void look(const double *block, BlockRows at, Control &control) {
    const int k = scorer_.components();
    alignas(cache_line) double weight[block_rows];
    std::fill_n(weight, block_rows, 1.0);
    worker_->prepare(block);
    worker_->weigh(weight);
    for (int j = 0; j < k; ++j) {
      control.poll();
      double *const out = logits_.data() + std::size_t(j) * block_rows;
      worker_->score(block, j, out);
      for (int b = 0; b < block_rows; ++b) out[b] += log_weights_[std::size_t(j)];
    }
    RowSums sums;
    std::fill(counts_.begin(), counts_.end(), 0.0);
    SoftAllocation().allocate(k, at, weight, logits_.data(), counts_.data(), sums);
    for (int b = 0; b < at.rows; ++b) {
      auto &shares = of_row_[std::size_t(b)];
      shares.clear();
      for (int j = 0; j < k; ++j)
        if (const double share = logits_[std::size_t(j) * block_rows + std::size_t(b)];
            share > min_share)
          shares.emplace_back(j, share);
    }
  }
  const std::vector<std::pair<int, double>> &of(int row) const { return of_row_[std::size_t(row)]; }

 private:
  const BlockScorer &scorer_;
  const std::vector<double> &log_weights_;
  std::unique_ptr<BlockWorker> worker_;
  Buffer logits_, counts_;
  std::vector<std::vector<std::pair<int, double>>> of_row_;
};

}  // namespace

std::vector<double> shared_rows(RowSource &rows, Control &control, const BlockScorer &one,
                                const std::vector<double> &log_weights_of_one,
                                const BlockScorer &other,
                                const std::vector<double> &log_weights_of_other) {
  constexpr std::int64_t max_blocks = 80;
  const RowShape shape = rows.shape();
  const std::size_t k = std::size_t(one.components());
  Shares first(one, log_weights_of_one, rows.incomplete()),
      second(other, log_weights_of_other, rows.incomplete());
  std::vector<double> out(k * k, 0.0);
  Buffer block(shape.block_doubles());
  const std::int64_t blocks = (rows.rows() + block_rows - 1) / block_rows,
                     step = (blocks + max_blocks - 1) / max_blocks;
  for (std::int64_t index = 0; index < blocks; index += step) {
    rows.read_block(index, block.data());
    const int size = int(std::min<std::int64_t>(block_rows, rows.rows() - index * block_rows));
    const BlockRows at{index * block_rows, size, block_rows};
    first.look(block.data(), at, control);
    second.look(block.data(), at, control);
    const double *const weight = block.data() + std::size_t(shape.dimension) * block_rows;
    for (int b = 0; b < size; ++b)
      for (const auto &[i, r] : first.of(b))
        for (const auto &[j, s] : second.of(b))
          out[std::size_t(i) * k + std::size_t(j)] += (shape.weighted ? weight[b] : 1) * r * s;
  }
  return out;
}

}  // namespace bayes
