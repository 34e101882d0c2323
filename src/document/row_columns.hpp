// The rows of the fit, as far as a model keeps them: the names of their columns, if they had any,
// by which scoring matches rows and results are labelled; and the distribution of each column.
#pragma once

#include <limits>
#include <memory>
#include <optional>
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

// The reference: a summary of the rows of a fit that a model keeps, so that later rows can be
// compared with them.
//
// It is made from a sample of the rows (data/row_reference.hpp), compared with others by a Drift
// (data/drift.hpp), and an optional member of a model's document: models that were stored before
// there was one, and merged models, have none.

/// The distribution of one column, as weights of bins.
struct BinnedColumn {
  /// The column has categories: `points` are the codes of the frequent ones, ascending. Otherwise
  /// they are the bounds of bins, ascending: bin i has the numbers x <= points[i] that no bin
  /// before it has.
  bool categories = false;
  std::vector<double> points;
  /// The weight of every bin, and last the weight of all numbers above the bounds, or of all other
  /// categories. Where categories are rare, only a part of the rows is counted.
  std::vector<double> weights;
  /// the weight of the rows without a value
  double nulls = 0;
  /// The weight of the categories that one row has, and of the categories that two rows have. NaN
  /// if an earlier version made the reference.
  double once = std::numeric_limits<double>::quiet_NaN(), twice = once;
};

/// The log densities of the rows under the fitted model.
struct DensityReference {
  double mean = 0, variance = 0, skewness = 0;
  /// by how much the mean of other rows of the same distribution is expected to be lower, since the
  /// model was fitted to these
  double optimism = 0;
  BinnedColumn bins;
};

struct RowReference {
  /// the number of rows that the weights stand for
  double rows = 0;
  /// the weight of the rows without some value
  double incomplete = 0;
  /// nothing if the family has no density of rows
  std::optional<DensityReference> density;
  /// empty if rows have too many columns
  std::vector<BinnedColumn> columns;
};

BAYES_API Document document_of(const RowReference &reference);

/// Reads member "row_reference" of a model's document; nullptr if it has none. Throws
/// Error(invalid_text) for anything that document_of cannot have written.
BAYES_API std::shared_ptr<const RowReference> read_reference(const Document &document,
                                                             int dimension);

}  // namespace bayes
