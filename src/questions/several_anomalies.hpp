// How strange rows are to several models: each is blind to something that another one sees.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "families/marginal_scorers.hpp"
#include "questions/row_distribution.hpp"

namespace bayes {

/// The lower tail of a number of rows, by draws of rows.
class DrawnTail {
 public:
  DrawnTail() = default;
  /// `draws`: the numbers of rows drawn; `tail`: how many of the smallest make the tail, fewer than
  /// all.
  DrawnTail(std::vector<float> draws, std::size_t tail);

  /// log P(number of a row <= x). With n draws it is log((1 + the number of draws <= x) / (n + 1)).
  /// If no draw is, and the number is a log density, or the logarithm of a probability, its tail is
  /// about exponential: it is extrapolated by the mean distance of the tail from the smallest draw
  /// beside it, if that gives less.
  double log_probability(double x) const;

 private:
  /// ascending
  std::vector<float> draws_;
  std::size_t tail_ = 0;
  /// of the tail below draws_[tail_]; 0: there is no extrapolation
  double mean_distance_ = 0;
};

/// Not thread-safe.
class BAYES_API SeveralAnomalies {
 public:
  using Models = std::vector<std::unique_ptr<RowDistribution>>;

  /// Rare components are left out of all models (RowDistribution::leave_out_rare), as strange rows
  /// may have such components of their own. Throws Error(invalid_argument) if there are no models
  /// or if their rows have different columns.
  explicit SeveralAnomalies(Models models);

  std::size_t models() const { return models_.size(); }
  /// A model without its rare components.
  RowDistribution &model(std::size_t i) { return *models_[i]; }

  /// The probability that a row of the first model, observed in the elements that x has, is as
  /// strange as x to any of the models. A row is the stranger to a model, the fewer of such rows
  /// have a smaller density; to any of the models it is as strange as to the one to which it is
  /// strangest. So the result is uniform for rows of model(0) (if an element has a density),
  /// however many models there are. From draws with a fixed seed, the same for all rows
  /// (DrawnTail). Labels that the models do not know add the probability of such labels.
  ///
  /// x: as RowDistribution::checked() takes it. Throws Error(invalid_argument) for what cannot be a
  /// row of one of the models, x or rows of the first one.
  double probability(std::span<const double> x);
  /// For every model the probability that such a row is as strange to this model, for the x of
  /// probability(); 1 if x has no elements.
  std::span<const double> of_models() const { return of_models_; }

 private:
  struct Tails {
    std::vector<DrawnTail> models;
    /// the lower tail of the least log probability over the models
    DrawnTail least;
  };
  /// Rows drawn from the first model, for rows with all elements or with some.
  struct Sample {
    int draws, tail;
    std::vector<double> rows = {};
    MarginalScorers<Tails> tails = {};
  };
  void draw(Sample &sample);
  std::unique_ptr<Tails> tails_of(const Sample &sample, std::span<const int> elements);

  Models models_;
  Sample whole_, partial_;
  std::vector<double> row_, pattern_, unseen_, scores_, of_models_;
};

}  // namespace bayes
