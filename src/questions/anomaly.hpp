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

  /// P(p(X) <= p(x)) for a row X that is observed in the elements that x has: a row of the model,
  /// or, if x has unseen categories, one with unseen categories in the same elements. The densities
  /// give both kinds their probabilities, which sum to more than 1; at most 1 is returned.
  ///
  /// Exact where the elements are labels that have few combinations, and for one normal or Student
  /// t, or one component of independent normals at a point. Otherwise by draws with a fixed seed,
  /// the same for all rows: their densities in some elements are computed once. With n draws the
  /// result is (1 + the number of those with at most this density) / (n + 1), or beyond the draws
  /// an upper bound, if it is smaller. It never rises as the density falls.
  double probability(std::span<const double> x);

 private:
  /// Ascending log densities of rows that are observed in some elements, each with the number of
  /// draws, or the probability, up to it. For draws: the middle one of every `stride`.
  struct Scores {
    std::vector<float> scores;
    std::vector<double> sums;
    double up_to(double log_density) const;
  };
  /// Rows drawn from the model, their components, and for every pattern of observed and unseen
  /// elements some of their `kept` lowest scores.
  struct Sample {
    int draws, stride, kept;
    std::vector<double> rows = {};
    std::vector<int> components = {};
    MarginalScorers<Scores> scores = {};
  };
  double share(Sample &sample, double log_density);
  void draw(Sample &sample);
  std::unique_ptr<Scores> scores_of(const Sample &sample, std::span<const int> of);
  std::unique_ptr<Scores> scores_of_labels(std::span<const int> of);
  bool few_labels() const;
  std::vector<double> unseen_weights(std::span<const int> unseen);

  RowDistribution &rows_;
  Sample coarse_, fine_;
  MarginalScorers<Scores> of_labels_;
  /// 2 d numbers: whether elements are observed, and whether they are unseen categories; NaN: no
  std::vector<double> pattern_;
  std::vector<double> row_;
};

}  // namespace bayes
