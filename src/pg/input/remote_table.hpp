// Rows of a table of numbers that other servers keep (pg/input/kept_table.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "pg/input/heard_rows.hpp"
#include "pg/input/pushed_collector.hpp"
#include "pg/input/triple_collector.hpp"

namespace bayes::pg {

/// Make returns the number of columns of the query.
class PushedTable final : public PushedCollector<TripleCollector> {
 public:
  using PushedCollector::PushedCollector;
  std::vector<int> begin(TupleDesc columns, std::string &reason) override;
  Document keep() override;
  void hear(const PassReader &part, const std::string &place) override;
  void rows_of_parts(const std::vector<std::int64_t> &rows) override { rows_ = rows; }
  Document settle() override;
  void settled(const PassReader &part) override;
  void take(PushedRows &rows) override;

 private:
  /// of the table that the parts make
  std::int64_t columns() const { return std::max<std::int64_t>(1, length_.value()); }

  CommonLength length_;
  /// of all parts
  std::vector<std::int64_t> rows_;
  /// those with rows
  std::vector<TripleCollector::Part> parts_;
  std::size_t settled_ = 0;
};

}  // namespace bayes::pg
