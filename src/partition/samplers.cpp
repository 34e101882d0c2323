#include "partition/samplers.hpp"

namespace bayes {

template class CollapsedSampler<NormalWishart>;
template class CollapsedSampler<ProductPosterior>;
template class MarginalSampler<NormalWishart>;
template class MarginalSampler<ProductPosterior>;
template class FiniteSampler<NormalWishart>;
template class FiniteSampler<ProductPosterior>;
template class SliceSampler<NormalWishart>;
template class SliceSampler<ProductPosterior>;

}  // namespace bayes
