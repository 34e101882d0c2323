#include "partition/samplers.hpp"

#include "partition/incomplete_sampler.hpp"

namespace bayes {

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
