// The samplers of partitions, compiled once for each family of rows.
#pragma once

#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_draw.hpp"
#include "families/product/product.hpp"
#include "partition/block_sampler.hpp"
#include "partition/collapsed_sampler.hpp"
#include "partition/marginal_sampler.hpp"

namespace bayes {

extern template class CollapsedSampler<NormalWishart>;
extern template class CollapsedSampler<ProductPosterior>;
extern template class MarginalSampler<NormalWishart>;
extern template class MarginalSampler<ProductPosterior>;
extern template class FiniteSampler<NormalWishart>;
extern template class FiniteSampler<ProductPosterior>;
extern template class SliceSampler<NormalWishart>;
extern template class SliceSampler<ProductPosterior>;

}  // namespace bayes
