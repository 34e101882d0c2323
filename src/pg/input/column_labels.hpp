// The labels of columns of records, and the codes that stand for them in rows of numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pg/input/term_dictionary.hpp"
#include "pg/values/array_elements.hpp"

namespace bayes::pg {

/// The labels of one column, and their codes.
class ColumnLabels final : public SymbolCodes {
 public:
  /// `column`: its name, for messages; `known`: labels with the codes 0, 1, ...; `closed`: there
  /// are no others
  ColumnLabels(std::string column, const std::vector<std::string> &known, bool closed);

  /// A new label gets the next code; or, if there are no others, unseen_category, a NaN.
  double code(std::string_view label) override;
  /// the last label asked for that has no code
  const std::string &unknown() const { return unknown_; }
  std::int32_t size() const { return labels_.size(); }
  /// by their codes
  std::vector<std::string> all() const;

 private:
  TermDictionary labels_;
  bool closed_;
  std::string unknown_;
};

/// Throws Error, unless `code` is that of one of so many labels of the column, or NaN; `where`:
/// "row 2".
void require_label(double code, std::int64_t labels, const std::string &column,
                   const std::string &where);

}  // namespace bayes::pg
