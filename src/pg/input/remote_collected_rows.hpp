// Rows of numbers and labels that other servers keep (pg/input/kept_collected_rows.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pg/input/fit_data.hpp"
#include "pg/input/heard_rows.hpp"
#include "pg/input/pushed_rows.hpp"
#include "pg/input/query_layout.hpp"
#include "pg/input/row_collector.hpp"

namespace bayes::pg {

/// Rows of several parts, as the rows of a collector.
class RemoteCollectedRows final : public RemoteRows {
 public:
  /// `names`: of the columns, quoted; empty if rows are arrays
  RemoteCollectedRows(PushedRows &rows, RowShape shape, std::vector<std::string> names)
      : pushed_(rows),
        names_(std::move(names)) {
    shape_ = shape;
    rows_ = rows.rows();
    skipped_ = rows.skipped();
  }
  std::vector<Document> ask(const Document &request) override { return pushed_.ask(request); }
  const std::vector<std::int64_t> &rows_of_parts() const override {
    return pushed_.rows_of_parts();
  }
  std::string name_of_element(int element) const override;

 private:
  PushedRows &pushed_;
  const std::vector<std::string> names_;
};

class PushedCollectedRows final : public PushedData {
 public:
  /// `data` is made below `context`. Both, and the request, must outlive this.
  PushedCollectedRows(MemoryContext context, std::optional<FitData<RowCollector>> &data,
                      FitRequest &request, const QueryColumns &given,
                      const RowCollector::Check &check)
      : context_(context),
        data_(data),
        request_(request),
        given_(given),
        check_(check) {}

  void records(std::span<const RecordColumn> records) override;
  std::vector<int> begin(TupleDesc columns, std::string &reason) override;
  void undo() override;
  Document keep() override;
  void hear(const PassReader &part, const std::string &place) override;
  Document settle() override;
  void settled(const PassReader &part) override;
  void take(PushedRows &rows) override;

 private:
  /// Stochastic methods draw minibatches by content elsewhere. Returns why they cannot, if so.
  std::string choose_minibatches();

  const MemoryContext context_;
  std::optional<FitData<RowCollector>> &data_;
  FitRequest &request_;
  const QueryColumns &given_;
  const RowCollector::Check &check_;
  /// as they were: begin() makes them those of the columns
  Document options_;
  std::vector<RecordColumn> records_;
  /// a row is one array or number
  bool whole_ = false;
  RowShape shape_;
  CommonLength length_;
  std::vector<std::string> names_;
  std::optional<ColumnFacts> facts_;
  std::optional<NumberFacts> numbers_;
};

}  // namespace bayes::pg
