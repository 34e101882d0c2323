// The interface of the observation family of a single column: what a family must satisfy.
//
// A row of columns, each with its own family, has a product distribution (product.hpp): whatever
// works for products works for a new column family. Such a family is one file, a final class
// derived from Column, and an entry in the list of column_families.hpp; conjugate_column.hpp
// provides most of the members. The concept ColumnFamily (column_family.hpp) has the members that
// loops over rows need besides, without virtual calls.
//
// Every density is written as an exponential family, eta . t(x) - A + h(x) (002 L7, L8), split by
// what its parts depend on: log density of x = constant + term(x) + h(x). The constant and the
// coefficients of the term belong to one column of one component; the log carrier h(x) depends on
// the row only. In block scoring, where rows lie in the lanes, the constants of all columns are
// added up once. In collapsed clusters, where clusters lie in the lanes, the constant is the log
// predictive density of x = 0 if possible, so that zeros cost nothing.
//
// A column of a component is represented by a few numbers: a point (parameters), a posterior or
// prior, statistics. Families define how many, and their meaning.
//
// Values and elements: a value is what a row contains; its element is what the members below take,
// such as the code of a category or the logarithm of a log-normal value. Element 0 stands in blocks
// for missing values and pads the last block, so every member for blocks has to accept it.
#pragma once

#include <span>
#include <string>

#include "base/method.hpp"
#include "base/random.hpp"
#include "families/marginal.hpp"
#include "families/predicted.hpp"

namespace bayes {

/// Bounds that keep the likelihood of a point, and so the logarithms in it, finite (001 asks for
/// [MIN, 1 - MIN]). They only exclude parameters under which some allowed values would be
/// impossible; a mean may be as large as the data suggest.
struct ColumnBounds {
  /// lower bound of probabilities of values and of means of counts; of variances, as a fraction of
  /// `variance`; of means of waiting times, as a fraction of its square root
  double minimum = 1e-6;
  /// the variance of the column's elements over all rows
  double variance = 1;
  /// a component with no more weight than this keeps its previous parameters
  double least_weight = 0;
};

/// How many numbers of every kind a column has, or where they begin.
struct ColumnOffsets {
  int point = 0, posterior = 0, statistics = 0, terms = 0, sums = 0, forms = 0;
};

/// A known parameter of a column, which is given and not estimated, such as the number of trials of
/// a binomial: an option of the column's likelihood, {"family": "binomial", "trials": 10}.
struct KnownParameter {
  const char *key;
  /// its range; `low_open`: `low` itself is excluded
  double low, high;
  bool low_open;
  bool whole;
};

/// Properties common to all columns of a family.
struct ColumnTraits {
  /// its name in option likelihood
  const char *name;
  /// the condition under which the posterior has a mode, as worded in messages: "a must be above 1"
  const char *mode_requirement;
  /// Names of the parameters, and keys of the prior. A name stands for one number, or for one per
  /// category. Numbers of a prior must be positive, except that of a key called m, a location.
  std::span<const char *const> parameters, prior_keys;
  std::span<const KnownParameter> known_parameters;
  /// Methods that do not apply to the family.
  std::span<const Method> unsupported_methods;
  /// Do distances between values have a meaning? Not between categories, nor between zeros and
  /// ones.
  bool ordered;
  /// Does a parameter's name stand for one number per value (as in categorical columns)?
  bool by_value;
  /// Are the named parameters probabilities of values: of each value if by_value, else of 1?
  bool probabilities;
  /// Does the default prior, or stabilised(), need the variance of all rows?
  bool needs_variance;
};

/// A column's family. Statistics are sums over weighted rows.
class BAYES_API Column : public ColumnTraits {
 public:
  explicit Column(const ColumnTraits &traits) : ColumnTraits(traits) {}
  virtual ~Column() = default;

  // Values.

  /// Is the (finite) value x allowed?
  virtual bool allowed(double x) const = 0;
  /// The index of the first of n values that is neither allowed nor NaN; n if there is none.
  virtual int first_disallowed(const double *x, int n) const = 0;
  /// the requirement on a value, for messages: "0 or 1"
  virtual std::string requirement() const = 0;
  /// the element of a value: a category's code, a logarithm, else x itself
  virtual double element(double x) const = 0;
  /// the value of an element
  virtual double value(double x) const = 0;
  /// Variance-stabilising transform of an element, given the variance of the column, so that values
  /// of one component differ by about 1.
  virtual double stabilised(double x, double variance) const = 0;

  // Numbers per column; a family's columns are contiguous, also in terms, sums (each
  // `simd::sum_lanes` wide) and forms.

  /// how many numbers a parameter's name stands for
  virtual int numbers_per_name() const = 0;
  /// the sizes of all kinds of numbers
  virtual ColumnOffsets size() const = 0;
  virtual int free_parameters() const = 0;

  // Points.

  /// statistics, previous point -> point
  virtual void maximum_likelihood(const double *statistics, const double *previous,
                                  const ColumnBounds &bounds, double *point) const = 0;
  /// Is the point at a bound beyond which the density would grow without limit?
  virtual bool at_bound(const double *point, const ColumnBounds &bounds) const = 0;
  /// statistics, prior with a mode -> point
  virtual void maximum_posterior(const double *statistics, const double *prior,
                                 double *point) const = 0;
  /// Mean and variance of the column's elements; share: k^(-2/D) for k components and D columns of
  /// the family.
  virtual void default_prior(double mean, double variance, double share, double *prior) const = 0;
  /// Does the posterior have a mode under this prior, whatever the statistics?
  virtual bool has_mode(const double *prior) const = 0;
  virtual double log_prior(const double *point, const double *prior) const = 0;
  /// E[value] at a point; NaN if values are not quantities (here and below)
  virtual double mean(const double *point) const = 0;
  virtual double variance(const double *point) const = 0;
  /// mean and variance of the element
  virtual double element_mean(const double *point) const = 0;
  virtual double element_variance(const double *point) const = 0;
  /// Can a value have this mean?
  virtual bool allowed_mean(double x) const = 0;
  /// Sets the mean of a point; `variance`: of the column's elements over all rows. No effect if
  /// values are not quantities.
  virtual void set_mean(double mean, double variance, double *point) const = 0;
  /// a random element at a point
  virtual double sample(const double *point, Random &random) const = 0;
  /// The logarithm of the Bhattacharyya coefficient of two points: of the sum, or integral, over x
  /// of the root of the product of their densities.
  virtual double log_overlap(const double *one, const double *other) const = 0;
  /// Computes the numbers of a point that follow from the named ones.
  virtual void complete(double *point) const = 0;
  /// for points after complete()
  virtual bool valid_point(const double *point) const = 0;

  // Posteriors.

  /// statistics, prior -> posterior
  virtual void posterior(const double *statistics, const double *prior, double *q) const = 0;
  /// KL(q || prior)
  virtual double divergence(const double *q, const double *prior) const = 0;
  /// q after a natural-gradient step of size rho towards the target
  virtual void natural_gradient_step(const double *q, const double *target, double rho,
                                     double *out) const = 0;
  /// posterior -> point: posterior means of the named parameters if they exist
  virtual void point_estimate(const double *q, double *point) const = 0;
  /// Mean of a value, parameters integrated out under a posterior; infinite if it does not exist.
  virtual double predictive_mean(const double *q) const = 0;
  virtual double predictive_variance(const double *q) const = 0;
  /// the distribution of a value: at a point, and with parameters integrated out
  virtual Predicted predicted(const double *point) const = 0;
  virtual Predicted predictive(const double *q) const = 0;
  /// without the sum of h(x)
  virtual double log_marginal_likelihood(const double *statistics, const double *prior) const = 0;
  /// posterior -> random point
  virtual void draw(const double *q, Random &random, double *point) const = 0;
  /// posterior -> standard deviations of the named parameters
  virtual void deviations(const double *q, double *out) const = 0;
  /// posterior -> the marginal distributions of the named parameters; for a variance, the
  /// distribution of its root, the standard deviation, which results report
  virtual void marginals(const double *q, Marginal *out) const = 0;
  /// The posterior as an exponential family: density proportional to exp(eta . phi), with as many
  /// natural parameters eta as the posterior has numbers; rows add to them. Maps a posterior, with
  /// another posterior of the column as the origin of locations, to eta, and back.
  virtual void natural_parameters(const double *q, const double *about, double *out) const = 0;
  virtual void from_natural_parameters(const double *natural, const double *about,
                                       double *q) const = 0;
  /// posterior, itself the origin of locations -> Cov[phi], and Cov[phi, g] for each named
  /// parameter g, one after the other; undefined for a g without a variance
  virtual void covariances(const double *q, double *phi, double *named) const = 0;
  virtual bool valid_posterior(const double *q) const = 0;

  // Statistics, of elements.

  /// Are they possible: no NaN, no negative sums of weights or squares?
  virtual bool valid_statistics(const double *statistics) const = 0;
  /// multiplies all weights by a factor
  virtual void scale(double factor, double *statistics) const = 0;
  /// adds a row
  virtual void add(double x, double *statistics) const = 0;
  /// adds a row with a weight; does not update the bound of rounding errors
  virtual void add(double x, double weight, double *statistics) const = 0;
  /// Removes a row; needs the prior; false if precision was lost.
  virtual bool remove(double x, const double *prior, double *statistics) const = 0;
  /// adds the rows of other statistics
  virtual void merge(const double *other, double *statistics) const = 0;
  /// h(x); 0 if x is 0, whether or not the value of that element is allowed
  virtual double log_carrier(double x) const = 0;
  /// without the sum of h(x)
  virtual double log_likelihood(const double *point, const double *statistics) const = 0;

  // Blocks of rows.

  /// point -> terms; returns the constant
  virtual double point_terms(const double *point, double *terms) const = 0;
  /// posterior -> terms of E[log density]; returns the constant
  virtual double expected_terms(const double *q, double *terms) const = 0;
  /// the term of one element
  virtual double term(const double *terms, double x) const = 0;
  /// weight of the rows, their sums, terms -> statistics
  virtual void statistics(double weight, const double *sums, const double *terms,
                          double *out) const = 0;
};

}  // namespace bayes
