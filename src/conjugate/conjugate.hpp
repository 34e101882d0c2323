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
// The sums are exact (base/double_double.hpp), so a model does not depend on the order of the rows
// or on how they were divided, and rows can be taken away again.
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
#include "document/parameter.hpp"
#include "families/marginal.hpp"

namespace bayes {

enum class ConjugateKind : char { beta_bernoulli, gamma_poisson, normal_inverse_gamma };

inline constexpr Method conjugate_methods[] = {Method::exact};

/// Bounds of the absolute values of a prior's numbers and of a mean, and of sums.
inline constexpr double largest_conjugate_number = 1e150, largest_conjugate_sum = 1e305;

/// Numbers of the prior: a, b; of normal_inverse_gamma m, c, a, b.
using ConjugatePrior = std::array<double, 4>;

/// "beta_bernoulli", ...
BAYES_API const char *conjugate_family(ConjugateKind kind);
/// Option prior, an object of numbers; what is absent is default. Throws Error(invalid_argument).
BAYES_API ConjugatePrior read_conjugate_prior(ConjugateKind kind, const Document &options);

/// What rows leave behind: plain data. The sums of beta_bernoulli are the successes and failures,
/// of gamma_poisson the counts, the exposures and log(e_i^x_i / x_i!), of normal_inverse_gamma the
/// weights and the sums of d and d^2, d = x - shift, where shift is near the mean of the rows.
struct BAYES_API ConjugateSums {
  std::int64_t rows = 0, skipped = 0;
  std::array<DoubleDouble, 3> sums = {};
  double shift = 0;
  /// of normal_inverse_gamma the weight of the rows when the shift was chosen
  double settled = 0;
  /// bounds of the rounding errors of the sums, and of beta_bernoulli the rows that are successes:
  /// for rows that are taken away
  std::array<double, 3> errors = {};
  std::int64_t successes = 0;

  /// One row, `sign` 1, or taken away, -1. x: 0 or 1; a whole number >= 0; any finite number.
  /// weight > 0: how many times the row counts, of gamma_poisson the exposure. False if taking the
  /// row away would leave too few digits: then the sums have to be made anew.
  bool add(ConjugateKind kind, double x, double weight, int sign);
  /// The sums of other rows, for as long as none is taken away.
  void add(ConjugateKind kind, const ConjugateSums &other);
  /// Of normal_inverse_gamma the sum of squares about the mean.
  DoubleDouble squares() const;

 private:
  /// Of normal_inverse_gamma, before rows of so much weight about `x` are added.
  void settle(double weight, double x);
};

/// A posterior. Numbers that do not exist are NaN.
class BAYES_API ConjugateModel final : public Model {
 public:
  /// What a model stores of its sums: of normal_inverse_gamma weight, mean and squares about it.
  using Statistics = std::array<DoubleDouble, 3>;
  /// `stored`: what the sums were read from, which is stored again as it is: where weights are near
  /// the end of doubles, computing it back would lose digits.
  ConjugateModel(ConjugateKind kind, const ConjugatePrior &prior, const ConjugateSums &sums,
                 const std::optional<Statistics> &stored = {});

  ConjugateKind kind() const { return kind_; }
  const ConjugateSums &sums() const { return sums_; }
  /// The posterior's numbers, in the order of the prior's.
  const ConjugatePrior &posterior() const { return posterior_; }
  /// of theta, lambda or mu
  Marginal marginal() const;
  /// Does the posterior exist? It may not under an improper prior.
  bool proper() const;

  // Of theta, lambda or mu:
  double posterior_mean() const;
  /// where the posterior density, of mu and alpha the joint one, is largest
  double posterior_mode() const;
  double maximum_likelihood() const;
  /// log p(rows); NaN under an improper prior
  double log_evidence() const;
  /// log posterior predictive density of a row more, with this exposure
  double log_predictive(double x, double exposure = 1) const;

  const ModelWords &words() const override;
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
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

// ---- two posteriors of one family, independent ----

/// P(a > b) of the parameters of two models. NaN if a posterior does not exist.
BAYES_API double probability_greater(const ConjugateModel &a, const ConjugateModel &b);
/// E[max(b - a, 0)]: what is lost by choosing a. Infinite where the mean is.
BAYES_API double expected_loss(const ConjugateModel &a, const ConjugateModel &b);
/// E[(a - b) / b], in closed form; infinite where E[1 / b] is. Not of normal_inverse_gamma, where
/// it never exists.
BAYES_API double expected_lift(const ConjugateModel &a, const ConjugateModel &b);

/// a - b: mean and standard deviation, NaN where they do not exist, and the quantiles that bound an
/// interval with as much beyond each; all NaN if a posterior does not exist.
struct ParameterDifference {
  double mean, sd, lower, upper;
};
BAYES_API ParameterDifference parameter_difference(const ConjugateModel &a, const ConjugateModel &b,
                                                   double level);

/// Of models of one family, independent, the probability of each that its parameter is the largest;
/// NaN if a posterior does not exist. Right to about 1e-10.
BAYES_API std::vector<double> probabilities_best(std::span<const ConjugateModel *const> models);

}  // namespace bayes
