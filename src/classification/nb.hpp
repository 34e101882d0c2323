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
// A model stores the statistics of its rows and the prior as it was given. Models of different rows
// can therefore be merged, and a model can learn from more rows: everything that depends on all
// rows, including default priors, is then recomputed.
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

namespace bayes {

inline constexpr Method nb_methods[] = {Method::exact};

/// A class: its rows and their weight, and its probability.
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
  /// sorted in increasing order of their bytes
  const std::vector<std::string> &labels() const;
  /// the index of a label in labels(), -1 if the model does not know it
  int find_label(std::string_view label) const;
  NbClass class_of(int k) const;

  double free_parameters() const override;
  double observations() const override;

  /// Whether rows are sparse: sets of named features.
  bool sparse() const;
  /// For sparse rows: the index of the feature with this name, -1 if the model does not know it.
  std::int32_t find_feature(std::string_view name) const;

  /// log p(x, label | rows) for every class, in a buffer of the model that is valid until the next
  /// call. An element that is NaN, or a category that occurred in no row, contributes nothing.
  /// Throws Error(invalid_argument) for other values that the likelihood of an element does not
  /// allow.
  std::span<const double> log_joint(std::span<const double> x) const;
  /// The same for a sparse row; `words` names each feature at most once. Features that it does not
  /// name are zero or missing, according to option absent.
  std::span<const double> log_joint(std::span<const NbWord> words) const;
  /// log p(x | rows) of the row of the last call of log_joint. Here categories that occurred in no
  /// row (base/unseen.hpp, or another whole number) do have a probability in each class
  /// (families/product/unseen_categories.hpp).
  double log_density() const;

  const ModelWords &words() const override;
  // For rows with columns, computed by log_joint(x):
  int predict(std::span<const double> x) const override;
  std::optional<RowPrediction> predict_row(std::span<const double> x, double level) const override;
  void probabilities(std::span<const double> x, std::span<double> out) const override;
  double log_density(std::span<const double> x) const override;
  /// Draw `index` of the stream `seed` from the predictive distribution: writes the features,
  /// returns the class, from 0.
  /// Of the features and, as the last element, the class: the index of its label. Its column is
  /// called class, followed by as many _ as distinguish it from the features.
  std::unique_ptr<RowDistribution> row_distribution() const override;

  /// The features (indices from 0) whose value equals the label in every row, as far as the
  /// sufficient statistics show it: for labels, booleans, categories and normal numbers. Empty if
  /// there is only one class.
  std::vector<int> copies_of_label() const;

  /// The features (indices from 0) whose default prior needs their variance, which is 0.
  std::vector<int> constant_features() const;

  /// The parameters of the features in all classes; Parameter::component is the class.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;

  /// Adds the rows of `other`; default priors are recomputed from all rows.
  void merge(const Model &other) override;

  struct State;
  const std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;
};

/// Reads the options, prepares `rows` for accumulation, and returns option missing: marginalize,
/// skip or error. `update`: the model to be updated, or null. Throws Error(invalid_argument).
BAYES_API std::string nb_begin(NbAccumulator &rows, const Document &options,
                               const BayesClassifier *update);

/// The statistics of a part of the rows, as read by one process: serializable, and mergeable with
/// those of other parts.
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

/// Fits a model to `rows`, at least one, and to the rows of `update` unless it is null. Throws
/// Error.
BAYES_API std::unique_ptr<BayesClassifier> nb_fit(const NbPart &rows, const Document &options,
                                                  const BayesClassifier *update);

std::unique_ptr<Model> read_bayes_classifier(const Document &document);

}  // namespace bayes
