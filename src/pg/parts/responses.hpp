// Rows of a response and predictors of one fit in several parts: kept for passes, or summed up.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pg/input/column_checks.hpp"
#include "pg/input/response_query.hpp"
#include "pg/input/row_collector.hpp"
#include "pg/parts/rows.hpp"
#include "regression/responses.hpp"

namespace bayes::pg {

/// The arguments that hold a row: the response, the predictors, and perhaps the weight.
struct ResponseColumns {
  /// names of the predictors; empty if they are one row
  std::vector<std::string> names;
  bool weighted = false;
  template <class F> void fields(F &f) {
    f.texts("columns", names);
    f.flag("weighted", weighted);
  }
};

/// The items in such arguments.
class ResponseArguments {
 public:
  /// Lives in the current memory context. Throws Error(invalid_binary) for arguments of other
  /// types.
  ResponseArguments(const ResponseColumns &columns, std::span<const Oid> types);
  /// of two arguments
  const ItemForm &form() const { return form_; }
  /// base type of the response
  Oid response() const { return response_; }
  /// Valid until the memory context is reset.
  Item item(const NullableDatum *values);

 private:
  ItemForm form_;
  Oid response_ = InvalidOid, weight_type_ = InvalidOid;
  /// number of arguments of the predictors
  std::size_t columns_;
  std::optional<PredictorRecord> record_;
  std::vector<NullableDatum> fields_;
  NullableDatum values_[2] = {}, weight_ = {};
};

/// The columns of a query that such rows consist of.
class PushedResponse {
 public:
  /// `objects`, `hint`: as for ResponseLayout.
  PushedResponse(const QueryColumns &given, bool objects, const char *hint)
      : given_(given),
        objects_(objects),
        hint_(hint) {}
  void records(std::span<const RecordColumn> records) {
    records_.assign(records.begin(), records.end());
  }
  /// As PushedData::begin(); sets form.
  std::vector<int> begin(TupleDesc columns, std::string &reason);

  ItemForm form;
  ResponseColumns columns;

 private:
  const QueryColumns &given_;
  const bool objects_;
  const char *const hint_;
  std::vector<RecordColumn> records_;
};

struct ResponsesInParts {
  static constexpr const char *name = "responses";

  struct Keep {
    std::string family;
    ResponseColumns columns;
    ResponsePolicy policy;
    template <class F> void fields(F &f) {
      f.text("family", family);
      columns.fields(f);
      f.flag("skip_missing", policy.skip_missing);
      f.integer("max_dimension", policy.max_dimension, 0, 1 << 30);
      response_fields(f, policy.response);
      f.texts("levels", policy.levels);
    }
  };

  using Head = PackedHead;
  using Common = CommonColumns;

  struct Facts {
    ResponseFacts of;
    template <class F> void fields(F &f) { f.object("facts", of); }
  };

  class Part {
   public:
    Part(MemoryContext context, const KeptPart &which, Keep keep, std::span<const Oid> types);
    void take(const NullableDatum *values) { collector_.add(arguments_.item(values)); }
    Head head();
    Facts arrange(Common common, Control &control);
    std::uint64_t hash(Control &control);
    PartOfRows &data() { return part_; }

   private:
    ResponseArguments arguments_;
    ResponseCollector collector_;
    PartOfRows part_;
  };
};

/// Rows for regressions that make passes.
class PushedResponses final : public PushedCollector<ResponsesInParts, ResponseCollector> {
 public:
  /// `data` is made below `context`. All must outlive this.
  PushedResponses(MemoryContext context, std::optional<FitData<ResponseCollector>> &data,
                  const FitRequest &request, ResponseCollector::Check check,
                  const QueryColumns &given, const char *hint)
      : PushedCollector(data),
        context_(context),
        request_(request),
        check_(check),
        query_(given, false, hint) {}

  void records(std::span<const RecordColumn> records) override { query_.records(records); }
  std::vector<int> begin(TupleDesc columns, std::string &reason) override;
  void take(PushedRows &rows) override;

 private:
  ResponsesInParts::Keep request_to_keep() override;
  void hear_head(PackedHead head, const std::string &place) override;
  CommonColumns common() override;
  ResponsesInParts::Facts no_facts() const override;
  void hear_facts(ResponsesInParts::Facts facts) override;

  const MemoryContext context_;
  const FitRequest &request_;
  const ResponseCollector::Check check_;
  PushedResponse query_;
  RowShape shape_;
  CommonLength length_;
  std::optional<ResponseFacts> facts_;
};

}  // namespace bayes::pg
