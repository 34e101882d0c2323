// Questions to any model that is a distribution over rows: what a call site keeps of its models and
// rows.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "pg/input/row_reader.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"
#include "questions/anomaly.hpp"
#include "questions/row_distribution.hpp"

namespace bayes::pg {

/// The state of a call site: the distribution of a model is made once for all its calls.
class Questions {
 public:
  /// `first_row`, `rows`: the place of the first argument that is a row, and their number.
  Questions(MemoryContext context, FunctionCallInfo fcinfo, int first_row, int rows);

  /// The distribution of rows of the model, by default of the model in argument 0.
  RowDistribution &distribution(FunctionCallInfo fcinfo) {
    return distribution(models_.share(PG_GETARG_DATUM(0)));
  }
  RowDistribution &distribution(const std::shared_ptr<const Model> &model);
  /// The numbers of row argument `which`, from 0, of that model: NULLs, and columns that the row
  /// lacks, are NaN. Valid until the next call for the same argument. `bounds`: the numbers need
  /// not be possible values of the columns.
  std::span<const double> row(FunctionCallInfo fcinfo, int which, bool bounds = false);
  /// The scale of strangeness of that model's rows, made once.
  Anomalies &anomalies();
  /// The reader of that argument.
  const RowReader &reader(int which) const { return *entry_->readers[std::size_t(which)]; }
  /// the type of that argument
  Oid type(int which) const { return types_[std::size_t(which)]; }

 private:
  struct Entry {
    /// keeps the model alive, so that no other model gets its address
    std::shared_ptr<const Model> model;
    std::unique_ptr<RowDistribution> distribution;
    std::unique_ptr<Anomalies> anomalies;
    std::vector<std::unique_ptr<RowReader>> readers;
    std::vector<std::vector<double>> rows;
  };
  static constexpr std::size_t max_entries = 64;

  MemoryContext context_, readers_context_;
  int first_row_;
  std::vector<Oid> types_;
  ModelCache models_;
  std::unordered_map<const Model *, Entry> entries_;
  Entry *entry_ = nullptr;
};

/// The lines of bayes_surprise for the observed elements of a row, each after the cells `before`.
void emit_surprise(ResultRows &result, std::span<const Cell> before, RowDistribution &rows,
                   std::span<const double> x);

}  // namespace bayes::pg
