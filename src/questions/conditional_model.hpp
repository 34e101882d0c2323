// The model of the columns that remain once others are known: its distribution of rows is the one
// of its base, given the known columns. It is a model as any other, so it answers all questions,
// and may be conditioned again.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "document/model.hpp"
#include "questions/row_distribution.hpp"
#include "questions/row_mixture.hpp"

namespace bayes {

/// The model of the columns of `model` that are NaN in `given`, given the others, among which
/// unseen categories are no evidence. `given`: a row of its row_distribution(), checked. Returns
/// the model itself if nothing is given. Throws Error: invalid_argument if nothing remains; numeric
/// if the density of what is given is 0; wrong_family for a model that is no distribution over
/// rows.
BAYES_API std::unique_ptr<Model> condition(std::unique_ptr<Model> model,
                                           std::span<const double> given);

class BAYES_API ConditionalModel final : public RowMixture {
 public:
  /// `base` is no conditional model itself. `given`: a row of its row_distribution(), of which at
  /// least one element is given. `rows`: that distribution, if it is made already. Throws as
  /// condition(), and invalid_argument for a value that an element cannot have.
  ConditionalModel(std::unique_ptr<Model> base, std::span<const double> given,
                   std::unique_ptr<RowDistribution> rows = nullptr);
  ~ConditionalModel() override;

  /// the model that it was made from, without the trace of its fit
  const Model &base() const { return *base_; }
  /// the names of the components, the classes of a classifier; empty if they have none
  const std::vector<std::string> &labels() const { return labels_; }

  std::int64_t stored_draws() const override { return base_->stored_draws(); }
  /// The words of the base, changed only for a model of rows.
  const ModelWords &words() const override { return words_; }
  /// The weight of every component given what is known, without an interval, and the parameters of
  /// the remaining columns: for a column that depends on known ones within the component, those of
  /// its conditional distribution. Posteriors are those of the base, uncorrected; after sampling
  /// draws have the weights that the evidence gives them.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  ParameterDraws draw_parameters(std::uint64_t seed) const override;
  std::vector<double> categories(int element) const override;

  /// Throw Error(numeric) if the density of x is 0.
  int predict(std::span<const double> x) const override;
  void probabilities(std::span<const double> x, std::span<double> out) const override;
  std::optional<RowPrediction> predict_row(std::span<const double> x, double level) const override;
  int outcomes() const override;
  /// There are none: the density of a row given others is a ratio of averages over draws.
  PredictiveErrors mcse(std::span<const double> x, Control &control) const override {
    return Model::mcse(x, control);
  }
  std::unique_ptr<RowDistribution> row_distribution() const override;

  friend std::unique_ptr<Model> condition(std::unique_ptr<Model> model,
                                          std::span<const double> given);

 protected:
  void write(Document &document) const override;
  /// A row that may lack its last element, the class.
  std::span<const double> checked(std::span<const double> x) const override;

 private:
  /// A row of the base's distribution, made of a row of this one, which may lack its last element,
  /// the class.
  std::vector<double> base_row(std::span<const double> x) const;

  std::unique_ptr<Model> base_;
  /// a row of the base's distribution; NaN: remains
  std::vector<double> given_;
  ModelWords words_;
  std::vector<std::string> labels_;
};

/// Reads the document form; for models/registry.cpp. Throws Error(invalid_text) naming the invalid
/// member.
std::unique_ptr<Model> read_conditional_model(const Document &document);

}  // namespace bayes
