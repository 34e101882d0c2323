#include "mixture/finite_sampling.hpp"

#include <algorithm>
#include <cmath>

#include "base/assignment.hpp"
#include "base/message.hpp"
#include "families/normal/normal_wishart.hpp"
#include "families/product/product_components.hpp"
#include "fit/fit_run.hpp"
#include "mcmc/stored_draws.hpp"
#include "partition/chains.hpp"

namespace bayes {
namespace {

/// Numbers the components of all draws consistently, as in the most probable draw, the reference: a
/// draw's clusters are matched with the clusters of the reference with which they share the most
/// rows (an optimal assignment: Papastamoulis and Iliopoulos 2010); components without rows take
/// the remaining numbers.
class Relabelling {
 public:
  Relabelling(const PartitionChains &chains, int k) : chains_(chains), k_(k) {
    const auto best = std::max_element(chains.log_joint.begin(), chains.log_joint.end());
    reference_ = chains.partitions.labels(int(best - chains.log_joint.begin()));
    for (const std::uint16_t name : reference_) named_ = std::max(named_, std::size_t(name) + 1);
  }

  int size() const { return chains_.partitions.size(); }

  /// A draw with its components renumbered: K weights, K numbers of rows, and for each component
  /// the index of its cluster in the draw; it is the number of occupied clusters for one without
  /// rows.
  struct Draw {
    std::vector<double> weights, counts;
    std::vector<int> order;
  };
  Draw get(int s) const {
    const DrawnWeights &draw = chains_.weights[std::size_t(s)];
    const std::size_t occupied = draw.weights.size(), k = std::size_t(k_);
    // Clusters without rows overlap with none: they take the remaining numbers.
    const std::size_t m = std::max(occupied, named_);
    std::vector<double> overlap(m * m, 0.0), rows(m, 0.0);
    const auto labels = chains_.partitions.labels(s);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      overlap[labels[i] * m + reference_[i]] += 1;
      rows[labels[i]] += 1;
    }
    const std::vector<int> name = best_assignment(overlap, int(m));
    Draw out{std::vector<double>(k, occupied < k ? draw.rest / double(k - occupied) : 0.0),
             std::vector<double>(k, 0.0), std::vector<int>(k, int(occupied))};
    for (std::size_t j = 0; j < occupied; ++j) {
      const std::size_t at = std::size_t(name[j]);
      out.order[at] = int(j);
      out.weights[at] = draw.weights[j];
      out.counts[at] = rows[j];
    }
    return out;
  }

 private:
  const PartitionChains &chains_;
  int k_;
  std::span<const std::uint16_t> reference_;
  std::size_t named_ = 0;  // the components with rows in the reference
};

}  // namespace

template <class P, class Q>
SampledMixture<P, Q> sample_mixture(RowSource &rows, int k, const Q &prior, double alpha,
                                    const ChainPlan &plan, Method method, std::uint64_t seed,
                                    Control &control,
                                    const std::function<std::vector<int>(int chain)> &begin) {
  if (rows.shape().weighted)
    throw Error(Errc::invalid_argument, message("method {} takes no weights", method),
                "It draws a label for every row.",
                "Use method vi or em, or leave the weights out.");
  // Relabelling needs a matrix of the rows that occupied components share with those of another
  // draw.
  const double occupied = std::min(double(k), double(rows.rows()));
  require_memory(
      {.what = message("{} components by method {}", k, method), .bytes = 8 * occupied * occupied},
      control);
  SamplerSetting setting;
  setting.seed = seed;
  setting.partition = PartitionPrior::finite(k, alpha);
  // All draws are needed, as all are relabelled and averaged, though the model stores only some.
  ChainDraws<Q> chains =
      sample_partitions(rows, prior, setting, method, plan, control, begin, true);

  SampledMixture<P, Q> out;
  const Relabelling relabelling(chains, k);
  const int size = relabelling.size();
  const std::vector<int> to_store =
      draws_to_store(chains, size, double(k) * (parameters_of(prior) + 1) * size, control);
  std::vector<Q> stored;
  std::vector<double> weights(std::size_t(k), 0.0), counts = weights;
  for (int s = 0; s < size; ++s) {
    control.poll();
    const auto draw = relabelling.get(s);
    Q components = pick(joined(chains.components[std::size_t(s)], prior), draw.order);
    const P point = point_estimate(components);
    if (s == 0) {
      out.point.components = point;
      accumulate(out.point.components, point, -1);
    }
    for (std::size_t j = 0; j < weights.size(); ++j) {
      weights[j] += draw.weights[j] / size;
      counts[j] += draw.counts[j] / size;
    }
    accumulate(out.point.components, point, 1.0 / size);
    if (stored.size() == to_store.size() || s != to_store[stored.size()]) continue;
    out.draws.weights.insert(out.draws.weights.end(), draw.weights.begin(), draw.weights.end());
    stored.push_back(untied(components));
  }
  out.point.weights = Eigen::Map<const Vector>(weights.data(), k);
  out.point.weights /= out.point.weights.sum();
  out.counts = Eigen::Map<const Vector>(counts.data(), k);
  out.draws.draws = int(stored.size());
  out.draws.components = concatenate_all(std::move(stored));
  out.chains = std::move(static_cast<ChainRun &>(chains));
  return out;
}

template SampledMixture<NormalPoint, NormalWishart> sample_mixture(
    RowSource &, int, const NormalWishart &, double, const ChainPlan &, Method, std::uint64_t,
    Control &, const std::function<std::vector<int>(int)> &);
template SampledMixture<ProductPoint, ProductPosterior> sample_mixture(
    RowSource &, int, const ProductPosterior &, double, const ChainPlan &, Method, std::uint64_t,
    Control &, const std::function<std::vector<int>(int)> &);

}  // namespace bayes
