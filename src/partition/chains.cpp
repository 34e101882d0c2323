#include "partition/chains.hpp"

#include <algorithm>
#include <cmath>

#include "base/special.hpp"

namespace bayes {
namespace {

class PartitionChain final : public ChainSampler {
 public:
  PartitionChain(std::unique_ptr<PartitionSampler> sampler, const SamplerSetting &setting,
                 std::uint64_t chain, PartitionChains &out,
                 const std::function<void(const PartitionSampler &)> &store)
      : sampler_(std::move(sampler)),
        setting_(setting),
        chain_(chain),
        out_(out),
        store_(store) {}

  double sweep(int index, Control &control) override {
    sampler_->sweep(index, control);
    index_ = index;
    counts_ = sampler_->counts();
    const double alpha = sampler_->concentration();
    double log_joint = sampler_->partition().log_probability(counts_) + sampler_->log_marginal();
    if (setting_.learn_concentration) {
      const GammaPrior &prior = setting_.concentration;
      log_joint += prior.shape * std::log(prior.rate) - log_gamma(prior.shape) +
                   (prior.shape - 1) * std::log(alpha) - prior.rate * alpha;
    }
    return log_joint;
  }

  void record(std::vector<double> &values) const override {
    Random random(setting_.seed, chain_, std::uint64_t(index_), 6);
    const auto own = partition_quantities(counts_, sampler_->partition(), random);
    values.insert(values.end(), own.begin(), own.end());
  }

  void keep(double log_joint) override {
    out_.partitions.add(sampler_->labels());
    out_.log_joint.push_back(log_joint);
  }

  void exchange_state(StateNumbers &numbers) override { sampler_->exchange_state(numbers); }

  void store(double) override {
    out_.whole.push_back(out_.partitions.size() - 1);
    double n = 0;
    for (const double count : counts_) n += count;
    const double total = sampler_->partition().total(n);
    DrawnWeights draw{{}, 1};
    for (const double count : counts_) {
      draw.weights.push_back(sampler_->partition().weight(count) / total);
      draw.rest -= draw.weights.back();
    }
    draw.rest = std::max(0.0, draw.rest);
    out_.weights.push_back(std::move(draw));
    store_(*sampler_);
  }

 private:
  const std::unique_ptr<PartitionSampler> sampler_;
  const SamplerSetting &setting_;
  const std::uint64_t chain_;
  PartitionChains &out_;
  const std::function<void(const PartitionSampler &)> &store_;
  std::vector<double> counts_;
  int index_ = 0;
};

}  // namespace

void PartitionChains::retain(std::span<const int> kept, std::span<const int> stored) {
  partitions.retain(kept);
  bayes::retain(log_joint, kept);
  bayes::retain(weights, stored);
  bayes::retain(whole, stored);
  for (int &each : whole)
    each = int(std::lower_bound(kept.begin(), kept.end(), each) - kept.begin());
}

void PartitionChains::exchange(StateNumbers &numbers, std::int64_t kept, std::int64_t stored) {
  partitions.exchange(numbers, int(kept));
  const int before = partitions.size() - int(kept);
  if (numbers.reads()) {
    log_joint.resize(log_joint.size() + std::size_t(kept));
    weights.resize(weights.size() + std::size_t(stored));
    whole.resize(whole.size() + std::size_t(stored));
  }
  numbers.numbers(std::span(log_joint).last(std::size_t(kept)));
  int low = 0;
  for (std::size_t s = weights.size() - std::size_t(stored); s < weights.size(); ++s) {
    int place = whole[s] - before;
    numbers.whole(place, low, kept - 1);
    whole[s] = place + before;
    low = place + 1;
    const int clusters = partitions.clusters(whole[s]);
    weights[s].weights.resize(std::size_t(clusters));
    numbers.numbers(weights[s].weights);
    numbers.number(weights[s].rest);
  }
}

void make_dense(std::vector<int> &labels, int k) {
  std::vector<int> names(std::size_t(k), -1);
  int next = 0;
  for (int &label : labels) {
    int &name = names[std::size_t(label)];
    if (name < 0) name = next++;
    label = name;
  }
}

std::vector<double> partition_quantities(const std::vector<double> &counts,
                                         const PartitionPrior &prior, Random &random) {
  double n = 0, entropy = 0, largest = 0, whole = 0;
  for (const double count : counts) n += count;
  for (const double count : counts) entropy -= count / n * std::log(count / n);
  // Weights given the partition have a Dirichlet distribution: shares of gamma draws.
  const auto add = [&](double alpha) {
    const double drawn = random.gamma(alpha);
    whole += drawn;
    largest = std::max(largest, drawn);
  };
  for (const double count : counts) add(prior.weight(count));
  for (int i = int(counts.size()); i < prior.components(); ++i) add(prior.concentration());
  if (!prior.components()) whole += random.gamma(prior.concentration());
  std::vector<double> out{double(counts.size()), largest / whole, without_rounding_errors(entropy)};
  if (!prior.components()) out.push_back(prior.concentration());
  return out;
}

DrawCounts draw_counts(const RowSource &rows, double components, double parameters,
                       const ChainPlan &plan, bool everything, const Control &control) {
  const double n = double(rows.rows()), row_bytes = (8.0 * rows.shape().dimension + 28) * n,
               // The record of a fit that can be resumed, and its document and bytes, take 3 bytes
               // each.
      label_bytes = control.checkpoint ? 11 : 2,
               labels = std::max(control.row_memory - row_bytes, control.row_memory / 8) /
                        (label_bytes * n + 8 * components + 200),
               whole = control.memory / 4 / (8 * (components * (parameters + 10) + 40));
  constexpr double most = 1e9;  // no limit
  // at least two
  const auto least = [&](double count) { return std::max(2.0, std::min(count, most)); };
  if (everything) {
    const std::int64_t both = equal_draws(plan, least(std::min(labels, whole)));
    return {both, both, both};
  }
  const std::int64_t kept = equal_draws(plan, least(labels)),
                     held = std::min(kept, std::int64_t(least(whole)));
  return {kept, collected_draws(plan, held),
          held_for_extension(components * (parameters + 1), held)};
}

void run_partition_chains(PartitionChains &out, const SamplerSetting &setting, Method method,
                          const ChainPlan &plan, const DrawCounts &counts, Control &control,
                          const std::function<std::unique_ptr<PartitionSampler>(int chain)> &begin,
                          const StoredParameters &parameters) {
  ChainSettings settings{
      method_name(method).data(), plan, {"clusters", "largest", "entropy"}, counts.stored};
  settings.max_kept_draws = counts.kept;
  settings.retain = [&](std::span<const int> kept, std::span<const int> stored) {
    out.retain(kept, stored);
    parameters.retain(stored);
  };
  settings.max_held_draws = counts.held;
  settings.exchange = [&](StateNumbers &numbers, int, std::int64_t kept, std::int64_t stored) {
    out.exchange(numbers, kept, stored);
    const int most = setting.partition.components(), all = out.partitions.size();
    for (int m = all - int(kept); most > 0 && m < all; ++m)
      if (out.partitions.clusters(m) > most) refuse_checkpoint();
    parameters.exchange(numbers, stored);
  };
  if (!setting.partition.components()) settings.quantities.push_back("concentration");
  static_cast<ChainRun &>(out) = run_chains(settings, control, [&](int chain) {
    return std::make_unique<PartitionChain>(begin(chain), setting, std::uint64_t(chain), out,
                                            parameters.store);
  });
}

}  // namespace bayes
