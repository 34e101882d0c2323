// The columns of the rows that a model was fitted to, if they had names. Scoring matches rows to
// them, and results are labelled with them.
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
  /// For kind label, all labels of the column, in the order of bytes: a row contains the index of
  /// its label, from 0. A boolean is 1 or 0.
  std::vector<std::string> labels = {};

  friend bool operator==(const RowColumn &, const RowColumn &) = default;
};

using RowColumns = std::vector<RowColumn>;

/// An array of objects with name, kind and labels.
BAYES_API Document document_of_columns(const RowColumns &columns);

/// Reads member "row_columns" of a model's document, if it has one. Throws Error(invalid_text)
/// unless it has `dimension` columns with different names, and labels in ascending order.
BAYES_API RowColumns read_columns(const Document &document, int dimension);

/// The position of a column of this name, or -1.
BAYES_API int find_column(const RowColumns &columns, std::string_view name);

/// The label with this code; null if there is none, since codes that were read from an array may
/// have no labels.
BAYES_API const std::string *label_of(const RowColumn &column, double code);

/// Are the names f1, f2, ..., which PostgreSQL gives to the columns of ROW(...)?
BAYES_API bool by_position(const RowColumns &columns);

}  // namespace bayes
