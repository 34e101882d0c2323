// The transition state of linreg_stats and linreg_fit: sufficient statistics.
#pragma once

#include <memory>
#include <optional>

#include "data/row_reference.hpp"
#include "pg/bind/sums.hpp"
#include "pg/input/row_reader.hpp"
#include "regression/linreg.hpp"
#include "regression/linreg_sums.hpp"

namespace bayes::pg {

/// A reader of rows, which assigns the codes of labels. All groups of an aggregate call share one
/// for arrays and numbers; each group has its own for records.
struct LinregRowReader {
  /// `type`: the SQL type of the rows
  LinregRowReader(MemoryContext context, Oid type);
  RowReader reader;
  /// rows are arrays
  bool arrays;
};

inline constexpr const char *linreg_family = "linreg";

class LinregData : public SumsWithParameters {
 public:
  virtual ~LinregData() = default;
  /// The state of an aggregate with rows (y, x).
  LinregData(MemoryContext context, FunctionCallInfo fcinfo);
  /// A state that reads no rows, only merges statistics.
  explicit LinregData(MemoryContext context);
  /// For the rows of a query: `type` is the type of the predictors, `options` are those of the fit.
  LinregData(MemoryContext context, const Document &options, Oid type);

  using SumsWithParameters::read_rollup_options;
  void add(FunctionCallInfo fcinfo);
  bool remove(FunctionCallInfo fcinfo);
  /// Adds or removes a row: response and predictors. False if the row cannot be removed without
  /// loss of precision; the aggregate must then be recomputed.
  bool take(const Item &item, bool add);

  /// The sums over all rows; nullopt if there are no rows.
  std::optional<LinregSums> sums();
  /// A sample of the rows; closed if sums without rows are among them, or rows have been removed.
  RowSample sample() const;
  /// There were rows, but all were left out.
  bool no_row_complete() const { return empty() && skipped_ > 0; }
  /// Shows the fit to other sessions, from the first row on.
  FitProgress progress;

  void clear() override;
  bool may_remove() const override { return accumulator_.rows() > 0 && !too_many_terms_; }
  const SumsKind &kind() const override;
  void serialize(std::string &out) override;
  void combine(const char *at, const char *end) override;
  /// Adds sums of rows that are not known.
  void add(const LinregSums &more);
  std::string model_bytes() override;

 protected:
  void keep_no_sample() { sample_.close(); }

 private:
  void add_sums(const LinregSums &more);
  bool empty() const;
  /// Chooses the reader for the type of the aggregate's rows.
  void open(FunctionCallInfo fcinfo);
  /// Checks a response, or a weight: false if the row is left out, Error if it is not allowed.
  bool usable(const NullableDatum &value, const char *what, bool weight);
  std::string row_name() const;
  void check_dimension(std::size_t given) const;

  ContextMemory memory_;
  LinregRows policy_;
  LinregAccumulator accumulator_;
  RowSample sample_, sample_of_others_;
  /// the reader whose label codes the accumulator uses
  LinregRowReader *rows_ = nullptr;
  /// the reader of this group alone, for records and queries
  std::unique_ptr<LinregRowReader> own_;
  std::optional<LinregSums> merged_;
  /// The sums have more terms than they may, and take no more rows.
  bool too_many_terms_ = false;
  /// rows so far, and those of them that were left out
  std::int64_t seen_ = 0, skipped_ = 0;
};

/// The state of linreg_stats, which needs no rows.
class LinregStatsData final : public LinregData {
 public:
  LinregStatsData(MemoryContext context, FunctionCallInfo fcinfo) : LinregData(context, fcinfo) {
    keep_no_sample();
  }
};

}  // namespace bayes::pg
