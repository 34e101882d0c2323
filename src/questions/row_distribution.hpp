// The posterior predictive distribution of the rows of any model that is a distribution over rows:
// one mixture, whose components are predictive densities. After a sampler they are the components
// of all stored draws together, each with its weight divided by the number of draws. Conditioning
// multiplies the weight of a component by its density of what is given, and so weights draws by
// p(given | draw), which a plain average of conditionals would not.
//
// Every question to a model is written once, over this class.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "base/api.hpp"
#include "base/random.hpp"
#include "document/model.hpp"
#include "questions/row_part.hpp"

namespace bayes {

/// A component of the flat mixture.
struct FlatComponent {
  /// over all components they sum to 1
  double weight;
  /// the stored draw that it belongs to
  int draw = 0;
  /// The component of the model, the same number in every draw; -1 if its components have no such
  /// numbers.
  int number = -1;
  /// Components of the same group, one after the other, are one component of one draw.
  int group = 0;
  /// The probability that two rows of this group come from one component of the model: less than 1
  /// for all new clusters together.
  double together = 1;
  /// The number of rows that the weight stands for: its parameter in the Dirichlet distribution of
  /// its draw's weights, given the draw's partition. So a row informs about the next row of this
  /// component, as in a cluster of few rows. Infinite: the weight is known, and rows are
  /// independent given the component.
  double mass = std::numeric_limits<double>::infinity();
};

/// Not thread-safe.
class BAYES_API RowDistribution {
 public:
  /// For rows of `dimension` elements with these columns (none: arrays).
  RowDistribution(RowColumns columns, int dimension, std::vector<FlatComponent> components);
  RowDistribution(const RowDistribution &) = delete;
  ~RowDistribution();
  /// Adds the distributions of some elements under all components.
  void add(std::unique_ptr<RowPart> part);

  int dimension() const { return dimension_; }
  /// empty if rows are arrays
  const RowColumns &columns() const { return columns_; }
  const std::vector<FlatComponent> &components() const { return components_; }
  /// The values of an element that is a category or a boolean, in ascending order; empty for a
  /// number.
  const std::vector<double> &categories(int element) const {
    return categories_[std::size_t(element)];
  }
  /// Is x a category that the model does not know, though the element might have it?
  bool unknown(int element, double x) const;
  /// The label of a category: of a column of labels its text, else true, false or the number.
  std::string label(int element, double category) const;
  /// For a classifier of rows that are arrays: the labels of the last element, whose values are
  /// their numbers from 1. Not needed otherwise.
  void set_labels(std::vector<std::string> labels) { labels_ = std::move(labels); }

  /// The indices in components() of a component of the model, in every draw; several in one draw
  /// are parts of it.
  std::vector<int> members(int component) const;
  /// For models whose components have no numbers: for every component of the model its index in
  /// components(), in every draw.
  void set_members(std::vector<std::vector<int>> members) { members_ = std::move(members); }
  /// For models whose components are spread over outcomes: the share `shares`[row_of[c] * n + i] of
  /// the rows of components()[c] belongs to outcome i < n, the rest to outcome n; all of them do if
  /// `shares` has no such row. Otherwise outcomes are the components of the model. `shares` must
  /// outlive this.
  void set_outcomes(std::span<const double> shares, std::vector<int> row_of) {
    shares_ = shares;
    share_of_ = std::move(row_of);
  }

  /// Holds the elements of `given` that are not NaN, or are unseen categories, which are no
  /// evidence: rows are those of the other elements, in their order, from now on. Every component
  /// gets the weight that it has given these elements. Call it once, after all parts and labels are
  /// set. Throws Error if the density of what is given is 0.
  void fix(std::span<const double> given);

  /// Leaves out the components of every draw that have less than a tenth of its rows, and less than
  /// half of what each would have if all had as many. The others keep the ratios of their weights,
  /// and so do draws. At least one component of each draw remains.
  void leave_out_rare();

  /// The row as the functions below take it: categories that the model does not know become
  /// unseen_category. Throws Error if an element cannot have its value. Valid until the next call.
  std::span<const double> checked(std::span<const double> x);

  /// log (weight x density of the observed elements of x) for every component; NaN is missing.
  /// `count_unseen`: whether categories that the model does not know have a probability
  /// (families/product/unseen_categories.hpp), or count as missing. Valid until the next call.
  std::span<const double> log_joint(std::span<const double> x, bool count_unseen = false);
  /// The probabilities of the outcomes (set_outcomes) given the observed elements of x, in which
  /// unseen categories count as missing; NaN if the density of x is 0.
  void outcome_probabilities(std::span<const double> x, std::span<double> out);
  /// The most probable of this many outcomes; the first of equal ones.
  int most_probable(std::span<const double> x, int outcomes);
  /// [draw][outcome]: the joint densities of x and each outcome in every draw, divided by the
  /// largest of a component; for predictive_errors (mcmc/stored_draws.hpp).
  std::vector<double> outcome_masses(std::span<const double> x, std::size_t outcomes,
                                     bool count_unseen);
  /// For every component log p(x, y) - log p(x) - log p(y) under it: how much more probable rows
  /// are together, as each informs about the parameters of the component. For the elements that
  /// both have; exact unless each has elements that the other misses. 0 for components at a point.
  /// Valid until the next call.
  std::span<const double> log_ties(std::span<const double> x, std::span<const double> y);
  /// The log density of the observed elements of x, with unseen categories.
  double log_density(std::span<const double> x);
  /// log p(observed elements of x | those of `given`). Elements that both have must be equal, or
  /// the density is 0; unseen categories that are given are no evidence.
  double log_density(std::span<const double> x, std::span<const double> given);

  /// Throws Error(numeric): what is given has density 0.
  [[noreturn]] void refuse_impossible() const;

  /// After log_joint() of a row: the probability that the log density of a row that is observed in
  /// the same elements, and has the same unseen categories, is at most `log_density`; NaN unless
  /// one component has all the weight, and it has a closed form there.
  double exact_tail(double log_density);
  /// An upper bound of the same probability, which may be 1.
  double tail_bound(double log_density);

  // ---- given the observed elements of a row ----

  /// Conditions on the observed elements of x, with unseen categories as log_joint() takes them.
  /// Throws Error if their density is 0.
  void condition(std::span<const double> x, bool count_unseen = false);
  /// The components that have any weight, and their weights, which sum to 1.
  std::span<const int> active() const { return active_; }
  std::span<const double> weights() const { return weights_; }
  /// The distributions of a missing number under the active components, in their order, valid until
  /// the next call.
  std::span<const Predicted> predicted(int element);
  /// Mean and variance of a missing number; NaN where they do not exist.
  std::pair<double, double> moments(int element);
  /// The probabilities of the categories of a missing element.
  std::vector<double> probabilities(int element);
  /// The same under the active component i, an index into active().
  std::vector<double> probabilities_under(std::size_t i, int element);
  /// Two missing numbers under the active component i; one number twice is its own pair.
  RowPair pair_under(std::size_t i, int first, int second);
  /// Independent estimates of the probability that all missing elements lie between their bounds,
  /// which may be infinite; all the same if it is exact.
  void box(std::span<const double> lower, std::span<const double> upper, std::span<double> out);
  /// Appends the parameters of a missing element under component c, an index into components(), as
  /// RowPart::parameters() does.
  void parameters(int c, int element, std::vector<Parameter> &out,
                  std::vector<Marginal> &posteriors);
  /// Draws the elements of x, the row that was given to condition(), that are missing. Returns the
  /// component, as an index into components().
  int draw(Random &random, std::span<double> x);

  /// The name of the random stream of a row, which with a seed determines its draws: different rows
  /// have different streams. The stream of a row without observed elements is 0; fixed elements are
  /// observed.
  std::uint64_t stream(std::span<const double> x);
  /// Draw `index` of the stream `seed`, of all elements: as Model::sample().
  int sample(std::uint64_t seed, std::int64_t index, std::span<double> out);

  /// The same rows with the weights and parameters of every draw drawn from their posterior given
  /// its partition: draws from the posterior of the density of rows, while the components here are
  /// its means given the partitions. All new clusters of a draw together become a finite mixture of
  /// 20 drawn from the prior.
  std::unique_ptr<RowDistribution> drawn(Random &random) const;

 private:
  struct Place {
    int part = 0, within = 0;
  };
  /// Row x with the elements that are fixed, as parts take rows. Valid until the next call.
  std::span<const double> with_fixed(std::span<const double> x);
  double compute_masses();
  template <class F> void for_each_outcome(std::size_t outcomes, F f) const;
  /// The only part with observed elements that are not fixed; nullptr unless there is one.
  RowPart *only_observed() const;
  /// The elements that a part has of such a row. Valid until the next call.
  const double *of_part(const RowPart &part, std::span<const double> whole);

  RowColumns columns_;
  int dimension_;
  std::vector<FlatComponent> components_;
  /// log weights of the components before elements were fixed, less the log density of the fixed
  /// elements
  Buffer log_weights_;
  /// If elements are fixed: the places of the others in a row of all, and that row, with NaN for
  /// them and for unseen categories.
  std::vector<int> free_;
  std::vector<double> fixed_;
  std::vector<std::vector<int>> members_;
  std::span<const double> shares_;
  std::vector<int> share_of_;
  std::vector<std::unique_ptr<RowPart>> parts_;
  std::vector<Place> places_;
  std::vector<std::vector<double>> categories_;
  std::vector<std::string> labels_;

  std::vector<double> row_, merged_, weights_, whole_, part_row_, drawn_, ties_, outcomes_;
  /// one for each component, and on to a whole vector
  Buffer joint_, masses_;
  std::vector<int> active_;
  std::vector<Predicted> predicted_;
};

}  // namespace bayes
