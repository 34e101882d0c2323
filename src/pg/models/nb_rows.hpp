// The transition state of a Bayes classifier: sufficient statistics of the rows, not the rows.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classification/nb.hpp"
#include "data/row_reference.hpp"
#include "pg/bind/sums.hpp"
#include "pg/input/fit_request.hpp"
#include "pg/input/response_query.hpp"
#include "pg/input/row_reader.hpp"

namespace bayes::pg {

inline constexpr const char *nb_family = "nb";

inline const BayesClassifier &classifier(const Model &model) {
  return static_cast<const BayesClassifier &>(model);
}

/// The handling of missing values for a value of option missing.
Missing missing_of(std::string_view option);

/// The state of one aggregate call, or the rows of a query.
class NbRows final : public SumsWithParameters {
 public:
  /// The state of an aggregate with rows (label, features).
  NbRows(MemoryContext context, FunctionCallInfo fcinfo);
  /// A state that reads no rows, only merges those of other processes.
  explicit NbRows(MemoryContext context);
  /// For the rows of a query, whose label and features have these types.
  NbRows(MemoryContext context, Oid label, Oid features, FitRequest request);
  ~NbRows();

  void add(FunctionCallInfo fcinfo) { take(row(fcinfo)); }
  void take(const Item &item);

  void clear() override;
  const SumsKind &kind() const override;
  void serialize(std::string &out) override;
  void combine(const char *at, const char *end) override;
  std::string model_bytes() override;
  /// Fits the model, and stores its bytes in `bytes` unless that is nullptr. nullptr if there were
  /// no rows, or if the fit failed under on_error = null.
  std::unique_ptr<Model> fit(std::string *bytes);

 private:
  struct Classes;
  struct Words;
  void open(Oid label, Oid features);
  /// Called once the parameters have been read, before the first row.
  void begin(FitRequest request);
  /// Checks a weight; false if the row is left out: the weight is NULL or 0.
  bool admit(const NullableDatum *weight);
  int class_of(Datum label);
  /// Whether a sparse row has a value for every feature that it names.
  bool complete(Datum features);
  void take(const NamedFeature &feature);
  /// The statistics of the rows so far, including those of other processes.
  NbPart part() const;
  /// A sample of these rows.
  RowSample sample() const;
  void check_length(std::size_t length);

  FitRequest request_;
  Missing missing_ = Missing::keep;
  NbAccumulator rows_;
  NbPart others_;
  /// of rows with columns, unless the model of other rows is updated
  RowSample sample_, sample_of_others_;
  std::int64_t seen_ = 0, zero_weights_ = 0;
  FitProgress progress_;
  ElementType label_type_;
  MemoryContext context_;
  std::unique_ptr<Classes> classes_;
  /// the reader for rows with columns, or the features of sparse rows; the other one is nullptr
  std::unique_ptr<RowReader> reader_;
  std::unique_ptr<Words> words_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace bayes::pg
