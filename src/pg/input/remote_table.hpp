// Rows of a table of numbers that other servers keep (pg/input/kept_table.cpp).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pg/input/fit_data.hpp"
#include "pg/input/pushed_rows.hpp"
#include "pg/input/triple_collector.hpp"

namespace bayes::pg {

class PushedTable final : public PushedData {
 public:
  /// `make(columns, reason)` makes the collector in `data` and checks the request; it returns the
  /// number of columns of the query, or why they cannot be pushed down.
  using Make = std::function<int(TupleDesc columns, std::string &reason)>;
  PushedTable(std::optional<FitData<TripleCollector>> &data, const char *family, Make make)
      : data_(data),
        family_(family),
        make_(std::move(make)) {}

  std::vector<int> begin(TupleDesc columns, std::string &reason) override;
  void undo() override { data_.reset(); }
  Document keep() override;
  void hear(const PassReader &part, const std::string &place) override;
  Document settle() override;
  void settled(const PassReader &part) override;
  void take(PushedRows &rows) override;

 private:
  std::optional<FitData<TripleCollector>> &data_;
  const char *const family_;
  const Make make_;
  std::int64_t length_ = 0;
  /// those with rows
  std::vector<TripleCollector::Part> parts_;
  std::size_t settled_ = 0;
};

}  // namespace bayes::pg
