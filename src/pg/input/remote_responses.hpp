// Rows of a response and predictors that other servers keep, or whose sums they make
// (pg/input/kept_responses.*).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pg/input/column_checks.hpp"
#include "pg/input/fit_data.hpp"
#include "pg/input/heard_rows.hpp"
#include "pg/input/pushed_rows.hpp"
#include "pg/input/response_collector.hpp"
#include "pg/input/response_layout.hpp"

namespace bayes::pg {

/// What all kinds of such data have in common: which columns travel.
class PushedResponses : public PushedData {
 public:
  /// `objects`, `hint`: as for ResponseLayout.
  PushedResponses(const QueryColumns &given, bool objects, const char *hint)
      : given_(given),
        objects_(objects),
        hint_(hint) {}

  void records(std::span<const RecordColumn> records) final {
    records_.assign(records.begin(), records.end());
  }
  std::vector<int> begin(TupleDesc columns, std::string &reason) final;

 protected:
  /// Makes the data for rows of this form, as if they were to be read here.
  virtual void begin_data(const ItemForm &form) = 0;
  /// A request to keep rows, of this kind, with what ResponseArguments reads.
  Document keep_of(const char *kind) const;
  bool weighted() const { return weighted_; }
  /// Do predictors have columns?
  bool described() const { return !names_.empty(); }

 private:
  const QueryColumns &given_;
  const bool objects_;
  const char *const hint_;
  std::vector<RecordColumn> records_;
  bool weighted_ = false;
  /// of the predictors; empty if they are one row
  Document::List names_;
};

/// Rows for regressions that make passes.
class PushedCollectedResponses final : public PushedResponses {
 public:
  /// `data` is made below `context`. All must outlive this.
  PushedCollectedResponses(MemoryContext context, std::optional<FitData<ResponseCollector>> &data,
                           const FitRequest &request, ResponseCollector::Check check,
                           const QueryColumns &given, const char *hint)
      : PushedResponses(given, false, hint),
        context_(context),
        data_(data),
        request_(request),
        check_(check) {}

  void undo() override { data_.reset(); }
  Document keep() override;
  void hear(const PassReader &part, const std::string &place) override;
  Document settle() override;
  void settled(const PassReader &part) override;
  void take(PushedRows &rows) override;

 private:
  void begin_data(const ItemForm &form) override;

  const MemoryContext context_;
  std::optional<FitData<ResponseCollector>> &data_;
  const FitRequest &request_;
  const ResponseCollector::Check check_;
  RowShape shape_;
  CommonLength length_;
  std::optional<ResponseFacts> facts_;
};

}  // namespace bayes::pg
