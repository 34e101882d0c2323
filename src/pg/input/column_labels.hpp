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
  /// `column`: its name, for messages; `known`: labels with the codes 0, 1, ...; `closed`: no other
  /// labels get a code
  ColumnLabels(std::string column, const std::vector<std::string> &known, bool closed);

  /// The code of a label. A new label gets the next code or, if the labels are closed,
  /// unseen_category (a NaN).
  double code(std::string_view label) override;
  /// the last label asked for that has no code
  const std::string &unknown() const { return unknown_; }
  std::int32_t size() const { return labels_.size(); }
  /// all labels in the order of their codes
  std::vector<std::string> all() const;

 private:
  TermDictionary labels_;
  bool closed_;
  std::string unknown_;
};

/// Throws Error unless `code` is a whole number from 0 to labels - 1, or NaN. `where`: the place
/// for messages, as "row 2".
void require_label(double code, std::int64_t labels, const std::string &column,
                   const std::string &where);

}  // namespace bayes::pg
