// The keys of one side of a table, while its cells are collected.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factor/factor_table.hpp"
#include "pg/input/term_dictionary.hpp"
#include "pg/values/array_elements.hpp"

namespace bayes::pg {

/// Keys of one side, numbered in order of appearance: values of any type, each identified by its
/// text, or the numbers of rows or array elements, from 1.
class TableKeys {
 public:
  /// What PostgreSQL allocates is below `context`, which must outlive this.
  TableKeys(MemoryContext context, Side side);

  /// Sets the type of the keys; without this call keys are the numbers of rows or array elements.
  void use(Oid type) { type_.use(named_ = type); }
  bool named() const { return OidIsValid(named_); }

  std::int32_t size() const { return named() ? dictionary_.size() : counted_; }
  /// The memory that keys take while they are read and sorted, in bytes.
  double bytes() const;
  /// Sets what messages append to a key as its location: `, in row "a"`, or nothing.
  void set_location(std::function<std::string()> place) { place_ = std::move(place); }
  /// The number of a key of that type; -1 for a NaN. Throws Error(too_large) for a key that exceeds
  /// a limit.
  std::int32_t number(Datum key);
  /// For keys that are numbers: there are at least `keys` of them.
  void count_to(std::int32_t keys) { counted_ = std::max(counted_, keys); }

  /// `row "a"`, for messages. `number`: of the key, in order of appearance.
  std::string name(std::int32_t number) const;
  const char *side() const { return side_ == Side::row ? "row" : "column"; }

  /// Calls f(key) for the keys, unless they are numbers of rows or elements.
  void each(const std::function<void(std::string_view key)> &f) const;

  /// Returns the keys in order; `places` receives the index in that order of every key number. Only
  /// size() may be called afterwards.
  std::vector<std::string> arrange(std::vector<std::int32_t> &places);

 private:
  std::int32_t small_number(std::int64_t key);

  Side side_;
  std::function<std::string()> place_ = [] { return std::string(); };
  Oid named_ = InvalidOid;
  ElementType type_;
  TermDictionary dictionary_;
  /// number of the last key that was looked up by its text; -1 if there is none
  std::int32_t last_ = -1;
  /// numbers of small integers, -1 for those that have not occurred
  std::vector<std::int32_t> small_;
  std::int32_t counted_ = 0;
};

}  // namespace bayes::pg
