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

/// Keys of one side, numbered in order of appearance: values of any type, each by its text, or the
/// numbers of rows or array elements, from 1.
class TableKeys {
 public:
  /// What PostgreSQL allocates is below `context`, which must outlive this.
  TableKeys(MemoryContext context, Side side);

  /// Keys are of this type; without this call they are numbers.
  void use(Oid type) { type_.use(named_ = type); }
  bool named() const { return OidIsValid(named_); }

  std::int32_t size() const { return named() ? dictionary_.size() : counted_; }
  /// What they take while they are read and put in order.
  double bytes() const;
  /// Says in messages where a key is: `, in row "a"`, or nothing.
  void set_location(std::function<std::string()> place) { place_ = std::move(place); }
  /// The number of a key of that type; -1 for a NaN. Throws Error(too_large) for one too long.
  std::int32_t number(Datum key);
  /// There are so many numbers.
  void count_to(std::int32_t keys) { counted_ = std::max(counted_, keys); }

  /// `row "a"`, for messages; by its number in order of appearance
  std::string name(std::int32_t number) const;
  const char *side() const { return side_ == Side::row ? "row" : "column"; }

  /// The keys in order, and for every number its place in that order. Nothing but the size can be
  /// asked for afterwards.
  std::vector<std::string> arrange(std::vector<std::int32_t> &places);

 private:
  std::int32_t small_number(std::int64_t key);

  Side side_;
  std::function<std::string()> place_ = [] { return std::string(); };
  Oid named_ = InvalidOid;
  ElementType type_;
  TermDictionary dictionary_;
  /// of the last text, -1 if there is none
  std::int32_t last_ = -1;
  /// numbers of small integers, -1 for those that have not occurred
  std::vector<std::int32_t> small_;
  std::int32_t counted_ = 0;
};

}  // namespace bayes::pg
