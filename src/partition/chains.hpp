// MCMC chains of a partition sampler: warmup, draws, summaries of every draw, and the draws stored
// whole.
#pragma once

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "base/error.hpp"
#include "document/model.hpp"
#include "mcmc/chain_plan.hpp"
#include "mcmc/diagnostics.hpp"
#include "partition/partition.hpp"
#include "partition/partition_prior.hpp"
#include "partition/sampler.hpp"

namespace bayes {

/// One draw of a mixture, stored as a predictive density: sum_k weight_k p(x | rows of k) + rest
/// p(x | no rows).
template <class Q> struct MixtureDraw {
  /// of the clusters that have rows
  std::vector<double> weights;
  /// total weight of clusters without rows; with the weights it sums to 1
  double rest = 0;
  /// the clusters' posteriors given their rows
  Q components;
};

/// The results of the chains.
template <class Q> struct ChainDraws {
  explicit ChainDraws(std::int64_t rows) : partitions(rows) {}
  /// of every draw
  Draws quantities;
  /// of the draws that were stored whole
  PartitionDraws partitions;
  /// of the draws that were stored whole
  std::vector<double> log_joint;
  std::vector<MixtureDraw<Q>> kept;
  /// largest log joint of all draws
  double best = 0;
};

/// A number without the last 19 of its 53 bits. The density of a partition depends in its last bits
/// on the order in which its clusters were built; these rounding errors persist over many draws,
/// and R-hat must not take them for differences between chains.
inline double steady(double x) {
  int exponent;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 34)), exponent - 34);
}

/// The summaries of a draw, none of which depends on the numbering of clusters. log_joint: log
/// p(rows, partition) [+ log p(concentration)]; clusters: the number of occupied ones; largest:
/// share of the largest; entropy: of the shares, in nats; concentration: of the Dirichlet process.
inline std::vector<double> noted(double log_joint, const std::vector<double> &counts,
                                 const double *concentration) {
  double n = 0, largest = 0, entropy = 0;
  for (const double count : counts) {
    n += count;
    largest = std::max(largest, count);
  }
  for (const double count : counts) entropy -= count / n * std::log(count / n);
  std::vector<double> out{log_joint, double(counts.size()), largest / n, steady(entropy)};
  if (concentration) out.push_back(*concentration);
  return out;
}

/// The components of all parts, converted by `as`, joined by recursive halving: one by one would
/// take quadratic time.
template <class Q, class As> auto joined_all(const std::vector<Q> &from, As as) {
  std::vector<std::decay_t<decltype(as(from[0]))>> parts;
  for (const Q &part : from) parts.push_back(as(part));
  while (parts.size() > 1) {
    std::size_t halves = 0;
    for (std::size_t i = 0; i < parts.size(); i += 2) {
      if (i + 1 < parts.size())
        parts[halves++] = joined(parts[i], parts[i + 1]);
      else
        parts[halves++] = std::move(parts[i]);
    }
    parts.resize(halves);
  }
  return std::move(parts[0]);
}

/// The largest number of draws stored whole: more add little to the estimate of a partition or
/// density.
inline constexpr std::int64_t most_kept_draws = 500;

/// The number of draws that can be stored whole: their labels (2 bytes) within what the rows and
/// the partition estimate (28 bytes per row: labels, patterns, probabilities) leave of the memory
/// for rows, or an eighth of it; `parameters` numbers per component within the memory for
/// parameters.
inline std::int64_t keepable_draws(std::int64_t rows, int dimension, double parameters,
                                   const Control &control) {
  const double row_bytes = (8.0 * dimension + 28) * double(rows), expected_clusters = 20;
  const double labels =
      std::max(control.row_memory - row_bytes, control.row_memory / 8) / (2.0 * double(rows));
  const double components = control.memory / 4 / (8 * expected_clusters * parameters);
  return std::max<std::int64_t>(
      2, std::int64_t(std::min({double(most_kept_draws), labels, components})));
}

/// Do the chains agree? By R-hat of the summaries of every draw; a constant summary does not count.
inline bool chains_agree(const Draws &draws, Control &control) {
  constexpr double largest_rhat = 1.1;
  const std::size_t width = draws.quantities.size(), length = std::size_t(draws.draws);
  for (std::size_t q = 0; q < width; ++q) {
    std::vector<std::vector<double>> values(std::size_t(draws.chains), std::vector<double>(length));
    std::vector<Chain> chains;
    for (std::size_t c = 0; c < values.size(); ++c) {
      for (std::size_t t = 0; t < length; ++t)
        values[c][t] = draws.values[(c * length + t) * width + q];
      chains.push_back({std::int64_t(c) + 1, values[c]});
    }
    if (const auto r = rhat(chains, control); r && !(*r < largest_rhat)) return false;
  }
  return true;
}

/// Runs the chains one after another. make(chain) makes a PartitionSampler. `most_kept`: the
/// largest number of draws to store whole, evenly spaced over all. `learned`: the concentration's
/// prior if it is not fixed.
template <class Q, class Make>
ChainDraws<Q> run_chains(std::int64_t rows, const ChainPlan &plan, std::int64_t most_kept,
                         bool process, const GammaPrior *learned, const char *method,
                         Control &control, Make make) {
  ChainDraws<Q> out(rows);
  out.quantities.quantities = {"log_joint", "clusters", "largest", "entropy"};
  if (process) out.quantities.quantities.push_back("concentration");
  out.quantities.chains = plan.chains;
  out.quantities.draws = plan.kept();
  out.best = -std::numeric_limits<double>::infinity();
  const std::int64_t all = plan.all_kept(),
                     whole = std::max<std::int64_t>(1, std::min(most_kept, all));
  std::int64_t index = 0, next = 0;  // of draws; of draws to keep whole
  const auto begin = std::chrono::steady_clock::now();
  for (int chain = 0; chain < plan.chains; ++chain) {
    PartitionSampler auto sampler = make(chain);
    double before = std::numeric_limits<double>::quiet_NaN();
    for (int sweep = 0; sweep < plan.draws; ++sweep) {
      control.poll();
      sampler.sweep(sweep, control);
      const auto &counts = sampler.counts();
      const double alpha = sampler.concentration();
      double log_joint = sampler.partition().log_probability(counts) + sampler.log_marginal();
      if (learned)
        log_joint += learned->shape * std::log(learned->rate) - log_gamma(learned->shape) +
                     (learned->shape - 1) * std::log(alpha) - learned->rate * alpha;
      log_joint = steady(log_joint);
      if (!std::isfinite(log_joint))
        throw Error(Errc::numeric,
                    std::string("the density of a draw of method ") + method +
                        " overflowed in sweep " + std::to_string(sweep + 1),
                    "Values are too large for double precision.", "Rescale the columns.");
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      const double done = double(chain) * plan.draws + sweep + 1;
      control.progress({method, chain + 1, plan.chains, sweep + 1, plan.draws, log_joint,
                        log_joint - before, seconds,
                        seconds / done * (double(plan.chains) * plan.draws - done)});
      before = log_joint;
      if (sweep < plan.warmup || (sweep - plan.warmup + 1) % plan.thin != 0) continue;
      const auto values = noted(log_joint, counts, process ? &alpha : nullptr);
      out.quantities.values.insert(out.quantities.values.end(), values.begin(), values.end());
      out.best = std::max(out.best, log_joint);
      // Stored draw j of `whole` is the middle one of the j-th of `whole` equal parts.
      if (next < whole && index == (2 * next + 1) * all / (2 * whole)) {
        ++next;
        out.partitions.add(sampler.labels());
        out.log_joint.push_back(log_joint);
        MixtureDraw<Q> draw;
        double n = 0;
        for (const double count : counts) n += count;
        const double total = sampler.partition().total(n);
        draw.rest = 1;
        for (const double count : counts) {
          draw.weights.push_back(sampler.partition().weight(count) / total);
          draw.rest -= draw.weights.back();
        }
        draw.rest = std::max(0.0, draw.rest);
        draw.components = sampler.components();
        out.kept.push_back(std::move(draw));
      }
      ++index;
    }
  }
  return out;
}

}  // namespace bayes
