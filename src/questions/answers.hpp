// Questions about the missing elements of a row, given the observed ones.
#pragma once

#include <limits>
#include <optional>

#include "questions/row_distribution.hpp"

namespace bayes {

/// A missing number; NaN where something does not exist.
struct NumberGiven {
  double median, mean, sd, lower, upper;
};

// After RowDistribution::condition(), for an element that the row misses.

/// The interval has the probability `level`: its bounds are quantiles.
BAYES_API NumberGiven number_given(RowDistribution &rows, int element, double level);
/// The p-quantile of a number, 0 < p < 1.
BAYES_API double quantile_given(RowDistribution &rows, int element, double p);
/// The most probable category, or the median of a number.
BAYES_API double value_given(RowDistribution &rows, int element);

/// Is the element missing? An unseen category is not: it is known, though no evidence.
BAYES_API bool asked_for(double x);

/// The probability that both rows come from one component of the model, given what each has
/// observed: within a draw by the components' densities, between draws by their evidence. In a draw
/// of a sampled mixture a row also informs about the parameters and the weight of its component
/// (FlatComponent::mass); otherwise two rows of a small component would have to be like the prior.
BAYES_API double similarity(RowDistribution &rows, std::span<const double> one,
                            std::span<const double> other);

/// Rows that are compared in pairs: what a row alone says about the components is computed once.
class BAYES_API SimilarRows {
 public:
  /// `rows` must outlive it.
  explicit SimilarRows(RowDistribution &rows) : rows_(rows) {}
  void add(std::span<const double> x);
  /// The similarity() of rows i and j, in the order in which they were added. Throws Error(numeric)
  /// if the density of both is 0.
  double similarity(std::size_t i, std::size_t j) const;

 private:
  /// Components of one component of the model, and of one draw.
  struct Group {
    int component, draw;
    /// more than one component: they are a mixture
    bool mixed;
    double log_together;
  };
  struct Row {
    std::vector<double> x;
    /// the log density of the row and the group
    std::vector<double> groups;
  };
  RowDistribution &rows_;
  std::vector<Row> added_;
  std::vector<Group> groups_;
  bool tied_ = false;
};

/// How an observed element compares with its distribution given the others.
struct Surprise {
  /// -log p(element | the others)
  double nats;
  /// The probability of a value that is at least as far out: for a number twice the smaller tail,
  /// for a category its own probability and those of all known categories that are no more
  /// probable.
  double tail;
  /// the value expected: value_given()
  double expected;
  /// for numbers the bounds of the interval of probability `level`; NaN for categories
  double lower, upper;
};
/// For an element of x that is not missing; it may be an unseen category.
BAYES_API Surprise surprise(RowDistribution &rows, std::span<const double> x, int element,
                            double level);

}  // namespace bayes
