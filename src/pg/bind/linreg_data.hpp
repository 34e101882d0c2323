// The transition state of linreg_stats and linreg_fit: sufficient statistics.
#pragma once

#include <memory>
#include <optional>

#include "pg/bind/aggregate.hpp"
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

class LinregData final : public Collector {
 public:
  LinregData(MemoryContext context, std::span<const Role> roles, const NullableDatum *parameters);
  /// The rows of a query, of this type, for a fit with these options.
  LinregData(MemoryContext context, const Document &options, Oid type);

  /// Throws Error naming an argument that differs from the first row's.
  void check_same(const NullableDatum *parameters) { parameters_.check_same(parameters); }

  /// Adds or removes a row, response and predictors. False if the row cannot be removed without
  /// loss of precision: then the aggregate is to be computed anew.
  bool take(const Item &item, FunctionCallInfo fcinfo, bool add);
  /// The same of a row whose type is known.
  bool take(const Item &item, bool add);

  /// The sums of all rows; no value if there is none.
  std::optional<LinregSums> sums();
  /// The options of a fit.
  Document options() const { return parameters_.request("linreg").options; }
  bool empty() const override;
  /// There were rows, but each was left out.
  bool nothing_complete() const { return empty() && skipped_ > 0; }

  /// for another process
  std::string to_bytes();
  /// from one
  LinregData(MemoryContext context, const char *at, const char *end);
  void absorb(LinregData &other);
  void absorb(const LinregSums &more);

 private:
  /// of a response or a weight
  bool usable(const NullableDatum &value, const char *what, bool weight);
  std::string row_name() const;
  void check_dimension(std::size_t given) const;

  ContextMemory memory_;
  Parameters parameters_;
  LinregRows policy_;
  LinregAccumulator accumulator_;
  /// whose codes the accumulator has
  LinregRowReader *rows_ = nullptr;
  /// of records
  std::unique_ptr<LinregRowReader> own_;
  std::optional<LinregSums> merged_;
  std::int64_t skipped_ = 0;
};

}  // namespace bayes::pg
