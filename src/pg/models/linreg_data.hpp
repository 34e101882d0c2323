// The transition state of linreg_stats and linreg_fit: sufficient statistics.
#pragma once

#include <memory>
#include <optional>

#include "pg/bind/sums.hpp"
#include "pg/input/row_reader.hpp"
#include "regression/linreg.hpp"
#include "regression/linreg_accumulator.hpp"

namespace bayes::pg {

/// The reader of rows, which gives labels their codes: of arrays and numbers one for all states of
/// a call of an aggregate, of records one for each.
struct LinregRowReader {
  /// `type`: of the rows
  LinregRowReader(MemoryContext context, Oid type);
  RowReader reader;
  /// rows are arrays
  bool arrays;
};

class LinregData final : public SumsWithParameters {
 public:
  /// A row of an aggregate is y and x.
  LinregData(MemoryContext context, FunctionCallInfo fcinfo);
  /// For the statistics of other rows alone.
  explicit LinregData(MemoryContext context);
  /// The rows of a query, of this type, for a fit with these options.
  LinregData(MemoryContext context, const Document &options, Oid type);

  void add(FunctionCallInfo fcinfo);
  bool remove(FunctionCallInfo fcinfo);
  /// Adds or removes a row, response and predictors. False if the row cannot be removed without
  /// loss of precision: then the aggregate is to be computed anew.
  bool take(const Item &item, bool add);

  /// The sums of all rows; no value if there is none.
  std::optional<LinregSums> sums();
  /// There were rows, but each was left out.
  bool nothing_complete() const { return empty() && skipped_ > 0; }
  /// Option on_error = null.
  bool null_on_error() const { return policy_.null_on_error; }

  const SumsKind &kind() const override;
  void serialize(std::string &out) override;
  void combine(const char *at, const char *end) override;
  void add(const LinregSums &more);
  std::string model_bytes() override;

 private:
  bool empty() const;
  /// Knows of what type the rows of an aggregate are.
  void open(FunctionCallInfo fcinfo);
  /// of a response or a weight
  bool usable(const NullableDatum &value, const char *what, bool weight);
  std::string row_name() const;
  void check_dimension(std::size_t given) const;

  ContextMemory memory_;
  LinregRows policy_;
  LinregAccumulator accumulator_;
  /// whose codes the accumulator has
  LinregRowReader *rows_ = nullptr;
  /// of records
  std::unique_ptr<LinregRowReader> own_;
  std::optional<LinregSums> merged_;
  /// rows so far, and those of them that were left out
  std::int64_t seen_ = 0, skipped_ = 0;
};

}  // namespace bayes::pg
