// What the server of a fit hears of rows that others keep (rows_described, kept_collector.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "data/remote_rows.hpp"
#include "pg/input/packed_collector.hpp"

namespace bayes::pg {

/// The number of elements that rows of all parts have.
class CommonLength {
 public:
  /// Throws Error(array_shape) if the rows of this part, which `place` names, have another length
  /// than those of parts before.
  void hear(std::int64_t length, const std::string &place);
  /// 0 before any part with rows
  std::int64_t value() const { return length_.value_or(0); }
  bool known() const { return length_.has_value(); }

 private:
  std::optional<std::int64_t> length_;
};

/// Adds what a part says of its rows: counts, their length, which is at most `most`, and their
/// columns, if rows have some (`described`). Throws Error as CommonLength, for columns of another
/// kind than those of other parts, and invalid_binary for what no part says.
void hear_rows(PackedCollector &to, const PassReader &part, const std::string &place,
               bool described, int most, CommonLength &length);

}  // namespace bayes::pg
