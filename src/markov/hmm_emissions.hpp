// The parts of a fit of a hidden Markov model that depend on its observation family: survey, prior,
// floors of maximum likelihood, and initialization.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "families/normal/normal_completion.hpp"
#include "families/normal/normal_prior.hpp"
#include "families/normal/normal_scorer.hpp"
#include "families/product/product_prior.hpp"
#include "families/product/product_scorer.hpp"
#include "families/product/product_starts.hpp"
#include "fit/seeding.hpp"
#include "markov/hmm_options.hpp"
#include "markov/hmm_state.hpp"
#include "markov/markov_learners.hpp"

namespace bayes {

/// A multivariate normal in every state.
class NormalEmissions {
 public:
  using Fitted = NormalHmm;
  using Point = NormalPoint;
  using Posterior = NormalWishart;
  using Statistics = NormalStatistics;
  static constexpr bool whole_steps = true;

  NormalEmissions(const Sequences &sequences, const HmmOptions &options, const Fitted *,
                  const std::vector<std::string> &, Control &control);

  int dimension() const { return int(survey_.mean.size()); }
  const CovarianceFloor &floor() const { return floor_; }
  const Posterior &prior() const { return prior_; }
  void write_prior(Document &out) const { write_normal_prior(out, prior_); }
  double numbers(int d, int k) const;
  /// Numbers in a worker's sums; with few elements each SIMD lane has sums of its own.
  double sums(int d, int k) const {
    return numbers(d, k) * NormalScorer::sums_per_number(survey_.shape, d);
  }

  /// Allocates the sample to K groups. `grouped`: groups around distinct rows, even if there are
  /// fewer of these than states, some of which then have none.
  Statistics starting_statistics(int restart, bool grouped);

  /// The first covariances are regularised by the default prior, so that a small group does not
  /// begin with a nearly singular one.
  Point first_point(const Statistics &statistics) const;

  MemoryRows &sample() { return sample_; }

 private:
  static Survey look(const CovarianceShape &shape, const Sequences &sequences, Control &control);
  Statistics allocated_to_nearest(const KMeans &kmeans, const Matrix &centres);

  const HmmOptions &options_;
  int k_;
  Control &control_;
  Survey survey_;
  MemoryRows sample_;
  CovarianceFloor floor_;
  Posterior prior_, neutral_;
  /// the sample with missing elements imputed, if it has any
  std::optional<RowCompletion> completion_;
};

/// Independent columns, or the one column of symbols.
class ProductEmissions {
 public:
  using Fitted = ProductHmm;
  using Point = ProductPoint;
  using Posterior = ProductPosterior;
  using Statistics = ProductStatistics;
  static constexpr bool whole_steps = false;

  ProductEmissions(const Sequences &sequences, const HmmOptions &options, const Fitted *start,
                   const std::vector<std::string> &symbols, Control &control);

  const Columns &columns() const { return *survey_.columns; }
  const SharedColumns &shared_columns() const { return survey_.columns; }
  int dimension() const { return columns().count(); }
  const ProductFloor &floor() const { return floor_; }
  const Posterior &prior() const { return prior_; }
  void write_prior(Document &out) const;
  double numbers(int, int k) const { return double(k) * columns().size().posterior; }
  double sums(int, int k) const { return double(k) * ProductScorer::sums_per_component(columns()); }

  /// As of NormalEmissions.
  Statistics starting_statistics(int restart, bool grouped);

  /// The probabilities of option init. Throws Error(invalid_argument) if they name other symbols,
  /// or all symbols with a sum below 1.
  Point given_probabilities(const std::vector<std::string> &symbols) const;

  /// Posterior means, not modes: no probability begins at 0 or 1, where it would stay.
  Point first_point(const Statistics &statistics) const;

  MemoryRows &sample() { return sample_; }

 private:
  static ProductSurvey look(const Sequences &sequences, const HmmOptions &options,
                            const Fitted *start, const std::vector<std::string> &symbols,
                            Control &control);

  /// Symbols are numbered in the order of appearance, on which starting points must not depend.
  void sort_sample(const std::vector<std::string> &symbols);

  void check_means() const;

  /// Sets the means to those of option init.means.
  void set_given_means(Point &point) const;

  /// Checks values before the survey does, so that errors name sequence and step, not a row of the
  /// store.
  static void check_values(const Sequences &sequences, const HmmOptions &options, bool started,
                           Control &control);

  const HmmOptions &options_;
  int k_;
  Control &control_;
  ProductSurvey survey_;
  MemoryRows sample_;
  ProductFloor floor_;
  Posterior prior_, neutral_;
  std::optional<ProductStarts> starts_;
};

}  // namespace bayes
