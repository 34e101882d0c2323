// How strange rows are: the probability that a row of the model is at most as probable.
#pragma once

#include <vector>

#include "families/marginal_scorers.hpp"
#include "questions/row_distribution.hpp"

namespace bayes {

/// Not thread-safe. `rows` must outlive it.
class BAYES_API Anomalies {
 public:
  explicit Anomalies(RowDistribution &rows);

  /// P(p(X) <= p(x)) for a row X of the model that is observed in the elements that x has, unseen
  /// categories among them. Exact for one normal or Student t. Otherwise by draws with a fixed
  /// seed, the same for all rows: their densities in some elements are computed once. Of n draws
  /// the result is (1 + the number of those with at most this density) / (n + 1).
  double probability(std::span<const double> x);

 private:
  /// Rows drawn from the model, and for every pattern of observed elements some of their log
  /// densities in ascending order: the middle one of every `stride`, of the lowest `kept`.
  struct Sample {
    int draws, stride, kept;
    std::vector<double> rows = {};
    MarginalScorers<std::vector<float>> scores = {};
  };
  double share(Sample &sample, std::span<const double> pattern, double log_density);

  RowDistribution &rows_;
  /// Only one component has any weight.
  bool single_ = false;
  Sample coarse_, fine_;
  std::vector<double> pattern_, row_;
};

}  // namespace bayes
