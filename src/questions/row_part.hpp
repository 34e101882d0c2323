// Some elements of rows that are independent of the other elements given the component: their
// predictive distributions under all components of a mixture (row_distribution.hpp). The elements
// of a part are those of a row of its own, counted from 0.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/api.hpp"
#include "base/random.hpp"
#include "document/model.hpp"
#include "families/marginal.hpp"
#include "families/predicted.hpp"
#include "questions/density_tail.hpp"

namespace bayes {

/// Two numbers under one component: the ellipses of equal density are those of a Student t.
struct RowPair {
  double mean[2];
  /// squared scales of the first, of both, of the second; of a normal the covariance
  double square[3];
  /// infinite for a normal
  double degrees = std::numeric_limits<double>::infinity();
};

/// Not thread-safe.
class BAYES_API RowPart {
 public:
  using Where = std::function<std::string()>;

  /// `elements`: the places of its elements in whole rows, increasing.
  explicit RowPart(std::vector<int> elements) : elements_(std::move(elements)) {}
  virtual ~RowPart() = default;

  const std::vector<int> &elements() const { return elements_; }
  int size() const { return int(elements_.size()); }

  /// The value x of element j as the functions below expect it: unseen_category for a category that
  /// the model does not know. Throws Error, with the words of where() for its place, if the element
  /// cannot have the value. Not for a NaN.
  virtual double checked(int j, double x, const Where &where) const;
  /// The values of an element that is a category or a boolean, in ascending order; empty for a
  /// number.
  virtual std::vector<double> categories(int j) const;
  /// Are the values of an element names, so that there may be others than its categories?
  virtual bool names(int j) const;

  /// Adds to out[c] the log density of the observed elements of x under every component c; NaN is
  /// missing. `count_unseen`: whether unseen categories have a probability, or are missing. `out`
  /// is aligned, and ends with a whole vector.
  virtual void condition(const double *x, bool count_unseen, double *out) = 0;

  /// Adds to out[c] the contribution of these elements to RowDistribution::log_ties(); x and y miss
  /// the same elements. By default the components have no unknown parameters. Ends what condition()
  /// began.
  virtual void add_ties(const double *x, const double *y, double *out);

  /// From now on the observed elements of x are in every row that is given to condition().
  virtual void fix(const double *x);

  // For a missing element j under component c, given the row of the last condition().

  /// for numbers
  virtual Predicted predicted(int c, int j) = 0;
  /// Mean and variance of a number; NaN where they do not exist.
  virtual std::pair<double, double> moments(int c, int j) = 0;
  /// Two missing numbers j and l. By default they are independent, with the moments that they have.
  virtual RowPair pair(int c, int j, int l);
  /// the probability of each of categories(j)
  virtual void probabilities(int c, int j, double *out) = 0;
  /// Multiplies every out[i] by an estimate of the probability that all missing elements lie
  /// between their bounds, which may be infinite: independent estimates, or the same exact number.
  /// The numbers on entry are the weight of the component.
  virtual void box(int c, const double *lower, const double *upper, std::span<double> out) = 0;
  /// Appends its parameters, with neither component nor element, and the posteriors of the first of
  /// them; parameters that are known, and those at a point, have none. By default there are none.
  virtual void parameters(int c, int j, std::vector<Parameter> &out,
                          std::vector<Marginal> &posteriors);
  /// Is any element observed that is not fixed? An unseen category is one, if condition() counted
  /// it.
  virtual bool observes() const = 0;
  /// The probability, under component c and given the elements that are fixed, that the log density
  /// of the other observed elements is at most `log_density`; NaN if it has no closed form.
  virtual double tail(int c, double log_density);
  /// Adds the logarithms of the integrals of powers of that density (density_tail.hpp), over all
  /// values of these elements but for unseen categories, which stay what they are.
  virtual void add_powers(int c, PowerLogs &out) = 0;
  /// Draws all missing elements of x jointly.
  virtual void draw(int c, Random &random, double *x) = 0;

  /// The same elements with parameters that are drawn from their posteriors, and are known then.
  /// Component i of the result is component of[i], drawn for itself; one at a point stays there.
  /// Nothing is fixed in the result. Throws Error(wrong_family) where components have no draws.
  virtual std::unique_ptr<RowPart> drawn(std::span<const int> of, Random &random) const;

 private:
  std::vector<int> elements_;
};

}  // namespace bayes
