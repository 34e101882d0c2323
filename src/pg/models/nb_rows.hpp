// The rows of a Bayes classifier while an aggregate reads them: statistics, not rows.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classification/nb.hpp"
#include "pg/bind/sums.hpp"
#include "pg/input/feature_reader.hpp"
#include "pg/input/fit_request.hpp"
#include "pg/input/row_reader.hpp"

namespace bayes::pg {

inline constexpr const char *nb_family = "nb";

inline const BayesClassifier &classifier(const Model &model) {
  return static_cast<const BayesClassifier &>(model);
}

/// What option missing of a model makes of a missing value.
Missing missing_of(std::string_view option);

/// The state of one aggregate call, or the rows of a query.
class NbRows final : public SumsWithParameters {
 public:
  /// A row of an aggregate is label and features.
  NbRows(MemoryContext context, FunctionCallInfo fcinfo);
  /// For rows of other processes alone.
  explicit NbRows(MemoryContext context);
  /// Of these types.
  NbRows(MemoryContext context, Oid label, Oid features, FitRequest request);
  ~NbRows();

  void add(FunctionCallInfo fcinfo) { take(row(fcinfo)); }
  void take(const Item &item);

  const SumsKind &kind() const override;
  void serialize(std::string &out) override;
  void combine(const char *at, const char *end) override;
  std::string model_bytes() override;
  /// The model, and its bytes unless `bytes` is nullptr; nullptr if there were no rows, or if the
  /// fit failed under on_error = null.
  std::unique_ptr<Model> fit(std::string *bytes);

 private:
  struct Classes;
  struct Words;
  void open(Oid label, Oid features);
  /// Called when the parameters are there, before the first row.
  void begin(FitRequest request);
  bool admit(const NullableDatum *weight);
  int class_of(Datum label);
  /// Does a sparse row have a value for every feature that it names?
  bool complete(Datum features);
  void take(const NamedFeature &feature);
  /// The rows so far, those of other processes included.
  NbPart part() const;
  void check_length(std::size_t length);

  FitRequest request_;
  bool null_on_error_ = false;
  Missing missing_ = Missing::keep;
  NbAccumulator rows_;
  NbPart others_;
  std::int64_t seen_ = 0, zero_weights_ = 0;
  ElementType label_type_;
  MemoryContext context_;
  std::unique_ptr<Classes> classes_;
  /// rows of columns, or sparse ones
  std::unique_ptr<RowReader> reader_;
  std::unique_ptr<Words> words_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace bayes::pg
