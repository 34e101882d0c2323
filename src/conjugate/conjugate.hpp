// Conjugate models of one column: the prior, sums of the rows, and a posterior in closed form.
//
//   beta_bernoulli        x_i ~ Bernoulli(theta), theta ~ Beta(a, b)                   002 L1, 004
//   gamma_poisson         x_i ~ Poisson(e_i lambda), lambda ~ Gamma(a, rate b)         002 L2
//   normal_inverse_gamma  x_i ~ Normal(mu, 1 / alpha), mu ~ Normal(m, 1 / (c alpha)),
//                         alpha ~ Gamma(a, rate b)                                     002 L5, L10
//
// (002 L2 carries stray -1s in the normalisers of the beta posterior; 004 writes the exponents of
// its beta prior as a and b, one less than here.)
//
// The sums are exact (base/double_double.hpp), so a model depends neither on the order of the rows
// nor on how they were divided, and rows can be removed again.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "base/double_double.hpp"
#include "document/model.hpp"
#include "families/marginal.hpp"

namespace bayes {

enum class ConjugateKind : char { beta_bernoulli, gamma_poisson, normal_inverse_gamma };

inline constexpr Method conjugate_methods[] = {Method::exact};

/// Bounds of absolute values: of the numbers of a prior and of a mean, and of sums.
inline constexpr double max_conjugate_number = 1e150, max_conjugate_sum = 1e305;

/// Parameters of the prior: a, b; for normal_inverse_gamma m, c, a, b.
using ConjugatePrior = std::array<double, 4>;

/// "beta_bernoulli", ...
BAYES_API const char *conjugate_family(ConjugateKind kind);
/// Reads option prior, an object of numbers; keys that are absent have their defaults. Throws
/// Error(invalid_argument) for it, or for another option than on_error.
BAYES_API ConjugatePrior read_conjugate_prior(ConjugateKind kind, const Document &options);

/// The sufficient statistics of rows, trivially copyable. The three sums are
///
/// - for beta_bernoulli: the weights of successes and of failures;
/// - for gamma_poisson: the counts, the exposures and log(e_i^x_i / x_i!);
/// - for normal_inverse_gamma: the weights, and the weighted d and d^2, where d = x - shift and
///   shift is near the mean of the rows.
struct BAYES_API ConjugateSums {
  std::int64_t rows = 0, skipped = 0;
  std::array<DoubleDouble, 3> sums = {};
  double shift = 0;
  /// for normal_inverse_gamma: the weight of the rows when the shift was chosen
  double settled = 0;
  /// for the removal of rows: bounds of the rounding errors of the sums and, for beta_bernoulli,
  /// the number of rows that are successes
  std::array<double, 3> errors = {};
  std::int64_t successes = 0;

  /// Adds a row (`sign` 1) or removes it (-1). x: 0 or 1 for beta_bernoulli, a whole number >= 0
  /// for gamma_poisson, any finite number for normal_inverse_gamma. weight > 0: how many times the
  /// row counts; for gamma_poisson the exposure. False if the removal leaves too few correct
  /// digits: the sums must then be recomputed.
  bool add(ConjugateKind kind, double x, double weight, int sign);
  /// Adds the sums of other rows. Their error bounds are not added, so no row may be removed later.
  void add(ConjugateKind kind, const ConjugateSums &other);
  /// For normal_inverse_gamma: the sum of squares about the mean.
  DoubleDouble squares() const;

 private:
  /// For normal_inverse_gamma, before rows of this weight near `x` are added: moves the shift if
  /// needed.
  void settle(double weight, double x);
};

/// A posterior. Numbers that do not exist are NaN.
class BAYES_API ConjugateModel final : public Model {
 public:
  /// The statistics that a stored model has: the sums; for normal_inverse_gamma the weight, the
  /// mean and the sum of squares about it.
  using Statistics = std::array<DoubleDouble, 3>;
  /// `stored`: the statistics that the sums were read from, which are written again unchanged:
  /// where weights are near the limits of doubles, computing them from the sums would lose digits.
  ConjugateModel(ConjugateKind kind, const ConjugatePrior &prior, const ConjugateSums &sums,
                 const std::optional<Statistics> &stored = {});

  ConjugateKind kind() const { return kind_; }
  const ConjugateSums &sums() const { return sums_; }
  /// The posterior's numbers, in the order of the prior's.
  const ConjugatePrior &posterior() const { return posterior_; }
  /// the marginal posterior of theta, lambda or mu
  Marginal marginal() const;
  /// Whether the posterior exists; under an improper prior it may not.
  bool proper() const;

  // Of theta, lambda or mu:
  double posterior_mean() const;
  /// the mode of the posterior density; for mu that of the joint density of mu and alpha
  double posterior_mode() const;
  double maximum_likelihood() const;
  /// log p(rows); NaN under an improper prior
  double log_evidence() const;
  /// log posterior predictive density of one more row, with this exposure
  double log_predictive(double x, double exposure = 1) const;

  const ModelWords &words() const override;
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  ParameterDraws draw_parameters(std::uint64_t seed) const override;
  double free_parameters() const override;
  double observations() const override;
  void merge(const Model &other) override;

 private:
  void write(Document &document) const override;
  void update();
  double log_likelihood() const;
  /// of normal_inverse_gamma: the mean of the rows
  DoubleDouble mean() const;

  ConjugateKind kind_;
  ConjugatePrior prior_, posterior_;
  ConjugateSums sums_;
  std::optional<Statistics> stored_;
};

/// Readers of the three families (document/model.hpp).
BAYES_API std::unique_ptr<Model> read_beta_bernoulli(const Document &document);
BAYES_API std::unique_ptr<Model> read_gamma_poisson(const Document &document);
BAYES_API std::unique_ptr<Model> read_normal_inverse_gamma(const Document &document);

// ---- comparisons of independent posteriors of one family ----

/// Throws Error(wrong_family) unless both are of one family.
BAYES_API void require_same_family(const ConjugateModel &a, const ConjugateModel &b);
/// P(a > b) of the parameters of two models. NaN if a posterior does not exist.
BAYES_API double probability_greater(const ConjugateModel &a, const ConjugateModel &b);
/// E[max(b - a, 0)]: the expected loss of choosing a. Infinite where the mean is.
BAYES_API double expected_loss(const ConjugateModel &a, const ConjugateModel &b);
/// E[(a - b) / b], in closed form; infinite where E[1 / b] is. Throws Error(wrong_family) for
/// normal_inverse_gamma, for which it never exists.
BAYES_API double expected_lift(const ConjugateModel &a, const ConjugateModel &b);

/// The distribution of a - b: mean and standard deviation, NaN where they do not exist, and the
/// quantiles that bound an equal-tailed interval of probability `level`; all NaN if a posterior
/// does not exist.
struct ParameterDifference {
  double mean, sd, lower, upper;
};
BAYES_API ParameterDifference parameter_difference(const ConjugateModel &a, const ConjugateModel &b,
                                                   double level);

/// For each of several models of one family: all NaN if a posterior does not exist.
struct Contest {
  /// the probability that the parameter is the largest; accurate to about 1e-10
  std::vector<double> best;
  /// E[largest - own], accurate to about 1e-10 standard deviations; NaN if a mean does not exist,
  /// or has a Student t of less than two degrees of freedom, whose tails are too heavy for it
  std::vector<double> loss;
};
BAYES_API Contest contest(std::span<const ConjugateModel *const> models);

}  // namespace bayes
