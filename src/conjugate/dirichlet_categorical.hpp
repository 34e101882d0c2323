// The Dirichlet-categorical model: x_i ~ Categorical(theta), theta ~ Dirichlet(alpha_1, ...,
// alpha_K) over the labels that are known: those that occurred, and those that the prior names (002
// L2).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "base/double_double.hpp"
#include "document/model.hpp"
#include "families/marginal.hpp"

namespace bayes {

/// Option prior, an object with `alpha`: a positive number for each label, 1 by default, or an
/// object of numbers by label; then labels it does not name have 1.
struct BAYES_API DirichletPrior {
  double alpha = 1;
  std::map<std::string, double, std::less<>> by_label;
  double of(std::string_view label) const;
  /// Throws Error(invalid_argument) for an invalid prior, or for another option than on_error.
  static DirichletPrior read(const Document &options);
  Document document() const;
};

/// The weight of the rows with a label.
struct LabelWeight {
  DoubleDouble sum;
  // for the removal of rows: the number of rows, and a bound of the rounding error of the sum
  std::int64_t rows = 0;
  double error = 0;
};

/// The sufficient statistics of rows: weights by label.
struct BAYES_API LabelSums {
  std::int64_t rows = 0, skipped = 0;
  std::map<std::string, LabelWeight, std::less<>> weights;
  double total = 0;
  /// length of all labels together
  std::size_t bytes = 0;

  /// Adds a row (`sign` 1) or removes it (-1): false if the removal leaves too few correct digits.
  /// Throws Error(too_large) for more labels, or longer ones, than a model may have.
  bool add(std::string_view label, double weight, int sign);
  void add(const LabelSums &other);

 private:
  LabelWeight &weight_of(std::string_view label);
};

class BAYES_API DirichletCategorical final : public Model {
 public:
  static constexpr int max_labels = 1'000'000;
  static constexpr std::size_t max_label_bytes = 10000, max_label_bytes_total = std::size_t(256)
                                                                                << 20;

  DirichletCategorical(DirichletPrior prior, LabelSums sums);

  struct Label {
    const std::string *name;
    double count, alpha;
  };
  /// The known labels, in the order of their bytes.
  std::vector<Label> labels() const;
  /// The posterior of a label's probability; nullopt for an unknown label.
  std::optional<Marginal> marginal(std::string_view label) const;
  Marginal marginal(const Label &label) const;
  /// The mode of the posterior density; NaN unless every posterior alpha is at least 1 and one is
  /// larger.
  double posterior_mode(const Label &label) const;
  double maximum_likelihood(const Label &label) const { return label.count / total_; }
  double log_evidence() const;
  /// log posterior predictive probability of a label. An unknown label has the probability of one
  /// additional label, a / (a + sum of all alphas and counts), where a is the prior's alpha for
  /// labels that it does not name.
  double log_predictive(std::string_view label) const;

  const ModelWords &words() const override;
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  ParameterDraws draw_parameters(std::uint64_t seed) const override;
  double free_parameters() const override;
  double observations() const override { return total_; }
  void merge(const Model &other) override;

 private:
  void write(Document &document) const override;
  void update();

  DirichletPrior prior_;
  LabelSums sums_;
  /// sums of the counts and of the posterior alphas, the number of labels, and whether there is a
  /// mode
  double total_ = 0, alphas_ = 0, known_ = 0;
  bool has_mode_ = false;
};

BAYES_API std::unique_ptr<Model> read_dirichlet_categorical(const Document &document);

}  // namespace bayes
