#include "partition/samplers.hpp"

#include <functional>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/method.hpp"
#include "data/row_access.hpp"
#include "families/normal/normal_completion.hpp"
#include "families/normal/normal_draw.hpp"
#include "partition/sampler.hpp"

namespace bayes {
namespace {

// MCMC samplers for normal rows with missing elements, by data augmentation (Tanner and Wong 1987):
// a chain over the partition and the missing elements.
//
// Given the missing elements, rows are complete, and any sampler of the partition makes a sweep
// over them. Given the partition, parameters are drawn, and then the missing elements. Imputed
// elements would keep a row in its cluster, so its label is drawn jointly with them, from p(label,
// missing elements | parameters, other labels): the label in proportion to the weight of the
// cluster times the density of the observed elements, then the missing elements given the label. A
// non-singleton row is reassigned among occupied clusters only; singletons stay. The set of
// clusters does not depend on the row, so the posterior stays invariant; sweeps create new
// clusters.

class IncompleteSampler final : public MixtureSampler<NormalWishart> {
 public:
  /// Makes the sampler of the completed rows, which must outlive it.
  using Make = std::function<std::unique_ptr<MixtureSampler<NormalWishart>>(
      RowSource &rows, const SamplerSetting &setting, std::vector<int> labels)>;

  /// Throws Error(too_large) if rows were spilled to a file.
  IncompleteSampler(RowSource &rows, const NormalWishart &prior, SamplerSetting setting,
                    std::vector<int> labels, Method method, Make make, Control &control)
      : setting_(std::move(setting)),
        labels_(std::move(labels)),
        make_(std::move(make)),
        completion_(in_memory(rows, method), control) {
    // At the start missing elements are imputed from the prior mean.
    NormalPoint begin = point_estimate(prior);
    completion_.set_point(std::move(begin));
    completion_.complete_by_means(0, control);
    sampler_ = make_(completion_.rows, setting_, labels_);
  }

  void sweep(int index, Control &control) override {
    Random random(setting_.seed, setting_.chain, std::uint64_t(index), 5);
    draw_missing(random, control);
    setting_.partition = sampler_->partition();
    sampler_ = make_(completion_.rows, setting_, labels_);
    sampler_->sweep(index, control);
    labels_.assign(sampler_->labels().begin(), sampler_->labels().end());
  }
  std::span<const int> labels() const override { return labels_; }
  std::vector<double> counts() const override { return sampler_->counts(); }
  double concentration() const override { return sampler_->concentration(); }
  const PartitionPrior &partition() const override { return sampler_->partition(); }
  /// of the rows with their current imputed elements
  double log_marginal() const override { return sampler_->log_marginal(); }
  NormalWishart components() const override { return sampler_->components(); }
  void exchange_state(StateNumbers &numbers) override {
    completion_.exchange(numbers);
    if (numbers.reads()) sampler_ = make_(completion_.rows, setting_, labels_);
    sampler_->exchange_state(numbers);
    labels_.assign(sampler_->labels().begin(), sampler_->labels().end());
  }

 private:
  static RowSource &in_memory(RowSource &rows, Method method) {
    if (RowAccess::possible(rows)) return rows;
    throw Error(Errc::too_large,
                message("rows with missing elements do not fit into memory, but method {} draws "
                        "these elements",
                        method),
                "The sampler holds the rows and a copy of them in memory.",
                "Raise maintenance_work_mem, or use method vi or option missing = skip.");
  }

  /// Draws labels and missing elements of all incomplete rows.
  void draw_missing(Random &random, Control &control) {
    std::vector<double> counts = sampler_->counts();
    const int k = int(counts.size());
    completion_.set_point(draw(sampler_->components(), random));
    const NormalScorer scorer = make_scorer(completion_.point());
    const auto worker = scorer.worker();
    worker->incomplete = true;
    MemoryRows &incomplete = completion_.incomplete;
    Buffer block(incomplete.shape().block_doubles()), logits(counts.size() * block_rows);
    std::vector<double> logs(counts.size()), share(counts.size());
    for (std::int64_t i = 0; i < incomplete.rows(); ++i) {
      const std::size_t b = std::size_t(i % block_rows);
      if (b == 0) {
        if (control.pending()) control.poll();
        incomplete.read_block(i / block_rows, block.data());
        worker->prepare(block.data());
        for (int j = 0; j < k; ++j)
          worker->score(block.data(), j, logits.data() + std::size_t(j) * block_rows);
      }
      int &label = labels_[std::size_t(completion_.numbers()[std::size_t(i)])];
      counts[std::size_t(label)] -= 1;
      if (counts[std::size_t(label)] > 0.5) {
        for (std::size_t j = 0; j < logs.size(); ++j)
          logs[j] = counts[j] > 0.5 ? std::log(setting_.partition.weight(counts[j])) +
                                          logits[j * block_rows + b]
                                    : -std::numeric_limits<double>::infinity();
        // A row infinitely far from every cluster stays where it is.
        if (std::isfinite(log_sum_exp(logs))) {
          softmax(logs, share);
          label = random.categorical(share);
        }
      }
      counts[std::size_t(label)] += 1;
      completion_.complete(std::size_t(i), label, &random);
    }
  }

  SamplerSetting setting_;
  std::vector<int> labels_;
  const Make make_;
  RowCompletion completion_;
  std::unique_ptr<MixtureSampler<NormalWishart>> sampler_;
};

}  // namespace

template class CollapsedSampler<NormalWishart>;
template class CollapsedSampler<ProductPosterior>;
template class MarginalSampler<NormalWishart>;
template class MarginalSampler<ProductPosterior>;
template class FiniteSampler<NormalWishart>;
template class FiniteSampler<ProductPosterior>;
template class SliceSampler<NormalWishart>;
template class SliceSampler<ProductPosterior>;

namespace {

template <class Q, class Sampler> class AnySampler final : public MixtureSampler<Q> {
 public:
  template <class... Arguments>
  explicit AnySampler(Arguments &&...arguments) : sampler_(std::forward<Arguments>(arguments)...) {}
  void sweep(int index, Control &control) override { sampler_.sweep(index, control); }
  std::span<const int> labels() const override { return sampler_.labels(); }
  std::vector<double> counts() const override { return sampler_.counts(); }
  double concentration() const override { return sampler_.concentration(); }
  const PartitionPrior &partition() const override { return sampler_.partition(); }
  double log_marginal() const override { return sampler_.log_marginal(); }
  Q components() const override { return sampler_.components(); }
  void exchange_state(StateNumbers &numbers) override { sampler_.exchange_state(numbers); }

 private:
  Sampler sampler_;
};

/// The sampler of rows that need no imputation.
template <class Q>
std::unique_ptr<MixtureSampler<Q>> make_complete(Method method, RowSource &rows, const Q &prior,
                                                 const SamplerSetting &setting,
                                                 std::vector<int> labels, Control &control) {
  if (method == Method::collapsed)
    return std::make_unique<AnySampler<Q, CollapsedSampler<Q>>>(rows, prior, setting,
                                                                std::move(labels), control);
  if (const int components = setting.partition.components())
    return std::make_unique<AnySampler<Q, FiniteSampler<Q>>>(
        rows, prior, setting, std::move(labels), components, control);
  if (method == Method::slice)
    return std::make_unique<AnySampler<Q, SliceSampler<Q>>>(rows, prior, setting, std::move(labels),
                                                            control);
  return std::make_unique<AnySampler<Q, MarginalSampler<Q>>>(rows, prior, setting,
                                                             std::move(labels), control);
}

}  // namespace

template <class Q>
std::unique_ptr<MixtureSampler<Q>> make_sampler(Method method, RowSource &rows, const Q &prior,
                                                const SamplerSetting &setting,
                                                std::vector<int> labels, Control &control) {
  if constexpr (std::is_same_v<Q, NormalWishart>)
    if (rows.incomplete())
      return std::make_unique<IncompleteSampler>(
          rows, prior, setting, std::move(labels), method,
          [method, &prior, &control](RowSource &completed, const SamplerSetting &now,
                                     std::vector<int> from) {
            return make_complete<Q>(method, completed, prior, now, std::move(from), control);
          },
          control);
  return make_complete<Q>(method, rows, prior, setting, std::move(labels), control);
}

template std::unique_ptr<MixtureSampler<NormalWishart>> make_sampler(Method, RowSource &,
                                                                     const NormalWishart &,
                                                                     const SamplerSetting &,
                                                                     std::vector<int>, Control &);
template std::unique_ptr<MixtureSampler<ProductPosterior>> make_sampler(Method, RowSource &,
                                                                        const ProductPosterior &,
                                                                        const SamplerSetting &,
                                                                        std::vector<int>,
                                                                        Control &);

}  // namespace bayes
