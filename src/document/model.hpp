// Fitted models: what all have in common, how they were fitted, the trace, the functions of any
// model, and the byte and document forms.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "base/method.hpp"
#include "document/document.hpp"
#include "document/row_columns.hpp"
#include "document/sealed.hpp"

namespace bayes {

// Components that are distributions over labels: topics over terms, factors over columns.

/// A view of the components of a model.
struct LabelProfiles {
  const std::vector<std::string> &labels;
  /// the weights of the K components; sum to 1
  const std::vector<double> &weights;
  /// the index of a label, -1 if the model does not know it
  std::function<std::int32_t(std::string_view label)> code;
  /// the probability of a label in a component; those of all labels sum to 1
  std::function<double(std::int32_t label, int component)> probability;
  /// the name of the probability among the parameters
  const char *parameter;

  int size() const { return int(weights.size()); }
};

// A parameter of a fitted model, as results list it.

/// One parameter. A number that does not exist is NaN.
struct Parameter {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  // The source of a standard deviation and an interval:
  //
  // - exact: the posterior itself
  // - linear response: a mean-field posterior, corrected
  // - mean field: a mean-field posterior, not corrected and therefore too narrow
  // - draws: draws from the posterior
  // - given partition: the posterior given one partition of the rows, without the uncertainty of
  //   the partition
  // - components overlap: none, as the rows do not tell the components apart
  //   (fit/linear_response.hpp)
  // - normal approximation: the normal approximation to the posterior at its mode
  static constexpr std::string_view exact = "exact", linear_response = "linear response",
                                    mean_field = "mean field", draws = "draws",
                                    given_partition = "given partition",
                                    components_overlap = "components overlap",
                                    normal_approximation = "normal approximation";

  /// from 0; -1 if it belongs to no component, or to no element
  int component = 0, element = -1;
  /// the family of the element; nullptr if there is none
  const char *likelihood = nullptr;
  /// weight, mean, sd, probability, rate, initial, transition, coefficient, ...
  const char *name = "";
  /// the category, for a categorical element; for a transition the state that it leads to, from 1
  double category = none;
  /// the name of the category, if the model's columns do not contain it, of the term of a
  /// coefficient, or of a key of a table; valid during the call
  const std::string *label = nullptr;
  double value = none;
  /// the posterior standard deviation
  double deviation = none;
  /// the quantiles of the posterior that bound an interval of the requested level
  double lower = none, upper = none;
  /// one of the constants above; empty if the model has no posterior
  std::string_view known_by = {};

  /// its index among the numbers of a component's point estimate; -1: none
  int number = -1;
  /// Reported as the square root of the stored parameter; E[sqrt x] is not sqrt(E[x]).
  bool root = false;
};
using TakeParameter = std::function<void(const Parameter &)>;

/// the version of the byte form; newer code reads all older ones
inline constexpr int model_format = 1;
/// the version of pg_bayes that made a model
BAYES_API extern const char *const library_version;

struct RowReference;

/// One row of bayes_info().
struct ModelInfo {
  /// "gmm", ...
  std::string family;
  Method method = Method::exact;
  /// rows used
  std::int64_t rows = 0;
  /// rows left out: NULL, weight 0, missing value with missing = skip
  std::int64_t skipped = 0;
  /// rows used that have a missing element, if the family takes such rows and has counted them
  std::optional<std::int64_t> incomplete;
  int dimension = 0;
  /// the `dimension` columns of the rows; empty if the rows were arrays
  RowColumns columns;
  int components = 0;
  /// of the best restart
  int iterations = 0;
  bool converged = false;
  /// Option max_seconds has left out some of the work, so the fit has not converged.
  bool out_of_time = false;
  /// degenerate components, from 0, in ascending order: those held at a bound that keeps the
  /// likelihood finite, so that the likelihood depends on the bound
  std::vector<int> degenerate;
  /// false: the rows do not tell the components of this variational fit apart
  /// (fit/linear_response.hpp), so that the errors of its parameters are unknown
  bool told_apart = true;
  /// the objective that the method maximises, including all constants
  double objective = 0;
  /// at the point estimate that the model reports; for hmm fitted by gibbs, the logarithm of the
  /// likelihood averaged over the stored draws
  double log_likelihood = 0;
  std::int64_t seed = 0;
  /// duration of the fit; being a measurement, it does not identify a model
  double seconds = 0;
  std::string version = library_version;
  /// all options in force, including defaults
  Document options;
  /// Option prior as it was given, to this fit or to the model that it started from; inherited by
  /// fits that start from this model. Null if the whole prior is the default.
  Document given_prior;
  /// The reference that later rows are compared with; nullptr in merged models, and in families
  /// without rows.
  std::shared_ptr<const RowReference> reference;
};

/// The source of the deviations of a mixture, or of a hidden Markov model, from its q, which is
/// `corrected` or not: a constant of Parameter.
inline std::string_view source_of_variational(const ModelInfo &info, bool corrected) {
  return !info.told_apart ? Parameter::components_overlap
         : corrected      ? Parameter::linear_response
                          : Parameter::mean_field;
}

/// The reason why the iterations of the fit ended: "converged", "max_iter", "draws" (of a sampler:
/// all have been made) or "max_seconds"; nothing if it had none.
BAYES_API std::optional<std::string_view> stopped(const ModelInfo &info);

/// Option missing of the fit, "error" if it has none: how rows with a missing value are scored.
BAYES_API std::string_view missing_option(const ModelInfo &info);

/// Posterior draws of quantities that do not depend on how components are numbered: one row of
/// bayes_draws() for each value.
struct Draws {
  /// "clusters", "log_joint", ...; empty if the model has no draws
  std::vector<std::string> quantities;
  int chains = 0;
  /// draws of each chain, without warmup
  int draws = 0;
  /// [chain][draw][quantity]
  std::vector<double> values;
};

/// Draws of the parameters of a model, which must outlive it.
struct ParameterDraws {
  /// the draws that a sampled model stores, chain after chain; 0: as many as are asked for can be
  /// made, and are independent
  std::int64_t stored = 0;
  /// as describe_parameters() lists them, without numbers
  std::vector<Parameter> parameters;
  /// the labels that these parameters refer to
  std::deque<std::string> labels;
  /// draw number 0, 1, ...: a value for each parameter; NaN: none
  std::function<std::vector<double>(std::uint64_t number)> draw;
};

/// The name of a parameter among the quantities of draws: of a coefficient its term, of a label its
/// label, of others parameter[component,column,label], of these three those that it has.
BAYES_API std::string quantity_name(const Parameter &parameter, std::string_view column,
                                    std::string_view label);

/// How a family is described in messages and results, in the words of its manual.
struct ModelWords {
  const char *part = "component", *parts = "components";
  /// the unit in which the fit counts its data: row, step, token, cell
  const char *unit = "row";
  /// Option tol is per unit.
  bool tolerance_per_unit = false;
  /// A part that has too few units counts as degenerate.
  bool degenerate_if_few = true;
  /// A row consists of predictors, and the model predicts a response.
  bool response = false;
  /// The data that the model takes instead of rows of columns, in the plural; nullptr if it takes
  /// rows.
  const char *takes = nullptr;
  /// A sentence for a HINT, naming the functions of the family that take the place of those for any
  /// model.
  const char *functions = "";
};

/// The prediction of a model for a row. NaN: the number does not exist.
struct RowPrediction {
  /// the most probable component, from 0; -1: the model predicts a response
  int component = -1;
  /// its name, if it has one; valid as long as the model
  const std::string *label = nullptr;
  /// the posterior predictive mean of the response (of a binary one the probability of 1), its
  /// standard deviation, and the quantiles that bound an interval
  double mean = std::numeric_limits<double>::quiet_NaN(), sd = mean, lower = mean, upper = mean;
};

/// Monte Carlo standard errors of predictions that are averages over draws; NaN where undefined.
struct PredictiveErrors {
  double log_density;
  std::vector<double> probabilities;
};

/// How much the components of two models of one family have in common.
struct ComponentOverlaps {
  /// of the components of the first model and of the second, not negative
  std::vector<double> weights, other_weights;
  /// Entry i * K' + j: the Bhattacharyya coefficient of component i of the first and j of the
  /// second, from 0 to 1.
  std::vector<double> overlaps;
};

class Control;
class Model;
class RowDistribution;  // questions/row_distribution.hpp
struct SavedFit;

/// Reads a model of one family: its `info` (read_model_info) and the family's own members; the
/// caller has checked that this version reads the document's format.
using ModelReader = std::unique_ptr<Model> (*)(const Document &);
/// The reader of a model family, nullptr if there is no such family. models/registry.cpp lists
/// them.
BAYES_API ModelReader find_model_reader(std::string_view family);

/// Throws Error(invalid_argument): the method of this model left no posterior in closed form.
[[noreturn]] BAYES_API void refuse_posterior(const ModelInfo &info);

/// The members that every family has, checked against the methods and the sizes that the family
/// allows: throws Error(invalid_text) that names the invalid member.
BAYES_API ModelInfo read_model_info(const Document &document, std::span<const Method> methods,
                                    int max_dimension, int max_components, int min_dimension = 1);

class BAYES_API Model {
 public:
  virtual ~Model() = default;
  ModelInfo info;
  /// [restart][iteration] objective
  std::vector<std::vector<double>> trace;
  Draws draws;
  /// With it the fit can be resumed; null if it was not fitted to be (document/saved_fit.hpp).
  std::shared_ptr<const SavedFit> saved;

  /// The number of these draws that the model stores completely, for its predictions; 0 if none.
  virtual std::int64_t stored_draws() const { return 0; }

  // ---- functions of any model; they throw Error(wrong_family) if the family lacks them ----

  virtual const ModelWords &words() const;

  /// Passes every parameter of the model to `take`, with its posterior and, if a level is given,
  /// with an interval of this level. Throws Error(invalid_argument) unless 0 < level < 1.
  virtual void describe_parameters(std::optional<double> level, const TakeParameter &take) const;
  /// Draws of the parameters: those that a sampled model stores, or draws from a posterior that is
  /// known as a distribution. Throws Error(invalid_argument) for a model that has neither.
  virtual ParameterDraws draw_parameters(std::uint64_t seed) const;
  /// The values of a categorical element of rows, in ascending order; empty for other elements.
  virtual std::vector<double> categories(int element) const;

  // For one row x of info.dimension numbers that are valid for their columns; NaN is missing.
  /// Throws Error(wrong_family) for a model that takes no rows (words().takes).
  void require_rows() const;
  /// the most probable component, from 0; ties: the first
  virtual int predict(std::span<const double> x) const;
  /// The most probable component, or the predicted response with an interval of this level; nullopt
  /// if the row lacks a value that the prediction needs.
  virtual std::optional<RowPrediction> predict_row(std::span<const double> x, double level) const;
  /// the number of probabilities of a row: one for each component, possibly followed by others
  virtual int outcomes() const { return info.components; }
  /// outcomes() posterior probabilities
  virtual void probabilities(std::span<const double> x, std::span<double> out) const;
  /// log predictive density
  virtual double log_density(std::span<const double> x) const;
  /// Monte Carlo standard errors of log_density and probabilities, which are averages over the
  /// stored draws. Throws Error(invalid_argument) for a model without draws.
  virtual PredictiveErrors mcse(std::span<const double> x, Control &control) const;

  /// The posterior predictive distribution of rows as one mixture, which answers every question
  /// about them (questions/). The model must outlive it.
  virtual std::unique_ptr<RowDistribution> row_distribution() const;

  /// The overlaps of the components of this model with those of another one of the family, at the
  /// point estimates. Throws Error(invalid_argument) unless both have the same columns.
  virtual ComponentOverlaps overlaps(const Model &other) const;
  /// The components, if they are distributions over labels.
  virtual std::optional<LabelProfiles> label_profiles() const { return std::nullopt; }

  // Numbers for model selection; NaN if the family does not define them.
  /// free parameters of the point estimate
  virtual double free_parameters() const;
  /// the sample size in bic(): the total weight of the rows
  virtual double observations() const;
  /// -2 log_likelihood + free_parameters log(observations); smaller is better. NaN for a model with
  /// draws: an average over draws maximises nothing.
  virtual double bic() const;
  /// How clearly rows are assigned to components: 1 - sum of the entropies of the rows'
  /// probabilities at the point estimate / (observations log(components)), from 0 (all
  /// probabilities are equal) to 1.
  virtual double relative_entropy() const;

  /// Merges `other`, a model of the same family fitted to other rows, into this one: the result is
  /// the model of all rows, as if it had been fitted to them at once. Throws Error: wrong_family if
  /// models of this family cannot be merged; invalid_argument, naming the difference, if the two
  /// differ in prior, options or columns; numeric or too_large where a fit to all rows would throw
  /// it.
  virtual void merge(const Model &other);

  /// The whole model. The same model always gives the same document.
  Document to_document() const;
  /// Checks everything: throws Error(invalid_text) that names the invalid member. `find_reader`
  /// finds the reader of the model family.
  static std::unique_ptr<Model> from_document(
      const Document &document, ModelReader (*find_reader)(std::string_view) = find_model_reader);

  /// The byte form: magic, format, a 128-bit fingerprint of the document, the document without its
  /// seconds, and the seconds, which the fingerprint thus does not cover.
  std::string to_bytes() const;
  /// Are the two equal apart from their seconds?
  bool same_content(const Model &other) const;
  /// Checks everything: throws Error(invalid_binary).
  static std::unique_ptr<Model> from_bytes(
      std::string_view bytes, ModelReader (*find_reader)(std::string_view) = find_model_reader);

 protected:
  /// ParameterDraws with the parameters of describe_parameters(), still without draws.
  ParameterDraws undrawn_parameters() const;
  /// the model family's own members
  virtual void write(Document &document) const = 0;
  /// Throws Error(wrong_family): models of this family have no `what`.
  [[noreturn]] void lacks(const char *what) const;

 private:
  Document document_with(bool seconds) const;
};

/// Members sorted by length, then by bytes, as jsonb orders them.
BAYES_API Document in_order_of_jsonb(const Document &document);

/// Adds the counts of rows, skipped rows and incomplete rows, and drops the reference. Throws
/// Error(invalid_argument) if the two differ in method or options; the family has to check the
/// columns.
BAYES_API void merge_info(ModelInfo &info, const ModelInfo &other);

/// The number of bytes at the start of a model's byte form that identify its content: models with
/// equal headers are equal apart from their seconds. Different models have different headers unless
/// someone constructs a collision: the fingerprint is not cryptographic.
inline constexpr int model_header_bytes = sealed_header_bytes;

/// Overwrites the first model_header_bytes of `bytes` with the header for the bytes that follow: a
/// document and, if `seconds`, the seconds as a double. In bytes of early versions the document
/// contains the seconds instead.
BAYES_API void seal_model(std::string &bytes, bool seconds = true);

/// Does the header at the start of `bytes` identify the content? Headers of early versions, whose
/// documents have the seconds in them, do not.
BAYES_API bool identifies_content(std::string_view bytes);
/// The header that identifies the content, whichever version wrote the bytes. Bytes of early
/// versions have to be complete; of others the header is enough. Throws Error(invalid_binary).
BAYES_API std::string content_header(std::string_view bytes);

}  // namespace bayes
