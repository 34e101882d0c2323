// The Bayes classifier (002 L2): every class has a distribution of the features, with a conjugate
// prior, and a label is predicted by
//
//   p(label | x, rows) ~ p(x | rows of the class) p(label | labels),
//
// posterior predictive densities, not densities at a point estimate. Given the class features are
// independent, each with a family of its own (naive Bayes); or the normal ones have a full
// covariance matrix. (In 002 L2 the posterior of the class probabilities is printed with stray -1s;
// it is Dirichlet(alpha + counts).)
//
// A model has the statistics of its rows and the prior as it was given, so that models of different
// rows can be merged, and learn from more: all that follows from the rows of all, default priors
// too, is then computed anew.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/control.hpp"
#include "classification/nb_accumulator.hpp"
#include "document/model.hpp"
#include "document/parameter.hpp"

namespace bayes {

inline constexpr Method nb_methods[] = {Method::exact};

/// What is known of the probability of a class.
struct NbClass {
  std::int64_t rows;
  double weight;
  /// prior mean, posterior mean and standard deviation
  double prior, mean, sd;
};

class BAYES_API BayesClassifier final : public Model {
 public:
  BayesClassifier();
  ~BayesClassifier() override;

  int classes() const { return info.components; }
  /// rising in the order of their bytes
  const std::vector<std::string> &labels() const;
  /// the index of a label, -1 if the model does not know it
  int find_label(std::string_view label) const;
  NbClass class_of(int k) const;

  double free_parameters() const override;
  double observations() const override;

  /// Are rows sets of named features?
  bool sparse() const;
  /// Of sparse rows: the number of a feature, -1 if the model does not know it.
  std::int32_t find_feature(std::string_view name) const;

  /// log p(x, label | rows) of every class, in memory of the model until the next call. Elements
  /// that are NaN, or a category that no row had, are no evidence. Throws Error(invalid_argument)
  /// for other values that an element cannot have.
  std::span<const double> log_joint(std::span<const double> x) const;
  /// Of sparse rows; what they do not name counts as option absent says. `words` name each feature
  /// once.
  std::span<const double> log_joint(std::span<const NbWord> words) const;
  /// log p(x | rows), of the row that log_joint was last called with: here categories that no row
  /// had (base/unseen.hpp, or another whole number) have a probability in each class
  /// (families/product/unseen_categories.hpp).
  double log_density() const;

  const ModelWords &words() const override;
  // Of rows of columns, by log_joint(x):
  int predict(std::span<const double> x) const override;
  std::optional<RowPrediction> predict_row(std::span<const double> x, double level) const override;
  void probabilities(std::span<const double> x, std::span<double> out) const override;
  double log_density(std::span<const double> x) const override;

  /// Features (from 0) that have the label's value in every row, as far as their statistics tell:
  /// labels, booleans, categories and normal numbers. None if there is one class alone.
  std::vector<int> copies_of_label() const;

  /// The numbers of the features of all classes; the component is the class.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;

  /// Default priors are then those of all rows.
  void merge(const Model &other) override;

  struct State;
  const std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;
};

/// What a fit needs to know before its rows.
struct NbPolicy {
  /// what a row means that misses a value: marginalize, skip or error
  std::string missing;
  bool null_on_error;
};
/// `update`: the model that is updated, or null. Begins to accumulate. Throws
/// Error(invalid_argument).
BAYES_API NbPolicy nb_begin(NbAccumulator &rows, const Document &options,
                            const BayesClassifier *update);

/// A part of the rows, as another process has read them, as bytes, and back; merged with parts.
class BAYES_API NbPart {
 public:
  NbPart();
  ~NbPart();
  explicit NbPart(const NbAccumulator &rows, const std::vector<std::string> &classes,
                  const RowColumns &names);
  std::string to_bytes() const;
  static NbPart from_bytes(std::string_view bytes);
  void merge(const NbPart &other);
  bool empty() const;
  NbPart(NbPart &&) noexcept;
  NbPart &operator=(NbPart &&) noexcept;

  struct Totals;
  std::unique_ptr<Totals> totals;
};

/// The model of some rows, at least one, and of those of `update`. Throws Error.
BAYES_API std::unique_ptr<BayesClassifier> nb_fit(const NbPart &rows, const Document &options,
                                                  const BayesClassifier *update);

std::unique_ptr<Model> read_bayes_classifier(const Document &document);

}  // namespace bayes
