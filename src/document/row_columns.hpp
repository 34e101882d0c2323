// The columns of the rows that a model was fitted to, if they had names: what scoring matches rows
// by, and what results are labelled with.
#pragma once

#include <string>
#include <vector>

#include "document/document.hpp"

namespace bayes {

enum class ValueKind : char { number, boolean, label };

/// "number", "boolean", "label"
BAYES_API const char *name_of(ValueKind kind);

struct RowColumn {
  /// UTF-8, not empty
  std::string name;
  ValueKind kind = ValueKind::number;
  /// Of kind label, all that a row can have, in the order of their bytes: a row has the number of
  /// its label, from 0. A boolean counts as 1 or 0.
  std::vector<std::string> labels = {};

  friend bool operator==(const RowColumn &, const RowColumn &) = default;
};

using RowColumns = std::vector<RowColumn>;

/// An array of objects with name, kind and labels.
BAYES_API Document document_of_columns(const RowColumns &columns);

/// Reads member "row_columns" of a model's document, if it has one. Throws Error(invalid_text)
/// unless it has `dimension` columns whose names differ, and labels that rise.
BAYES_API RowColumns read_columns(const Document &document, int dimension);

/// The position of a column of this name, or -1.
BAYES_API int find_column(const RowColumns &columns, std::string_view name);

/// The label of a category of this code; null if it has none, as a code that was read from an array
/// need not.
BAYES_API const std::string *label_of(const RowColumn &column, double code);

/// Names given by position alone: f1, f2, ... as those of ROW(...).
BAYES_API bool by_position(const RowColumns &columns);

}  // namespace bayes
