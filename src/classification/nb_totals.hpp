// The sufficient statistics of the rows of a Bayes classifier, by class (002 L2).
//
// Totals of different rows can be merged even if their classes, labels and words differ, since
// these are matched by name. The result is the totals of all rows, up to rounding.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "classification/nb_accumulator.hpp"
#include "document/members.hpp"
#include "document/row_columns.hpp"
#include "families/normal/normal_scorer.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

/// Limit of the statistics of all classes: the number of classes times the statistics of one class.
inline constexpr double nb_max_numbers = 1e7;

/// Throws Error(too_large) if there are more.
void require_nb_numbers(double numbers, std::size_t classes, std::size_t features);

/// Whether a feature of this family is zero (or false), and not missing, in a sparse row that does
/// not name it.
bool zero_if_absent(const ColumnSpec &spec);

struct NbTotals {
  /// Rows are sets of named features; each row names some of them.
  bool sparse = false;
  /// Features that a sparse row does not name count as 0 where their family allows it
  /// (zero_if_absent).
  bool absent_is_zero = true;
  /// sorted in increasing order of their bytes
  std::vector<std::string> classes;
  /// the number of rows of each class, and their weight
  std::vector<std::int64_t> rows;
  Vector weight;
  std::int64_t skipped = 0;

  /// the features, with their labels; sorted by name if rows are sparse; empty if rows are arrays
  RowColumns names;
  /// The likelihood of each feature. Features in `joint` are normal and share a covariance matrix.
  std::vector<ColumnSpec> specs;
  /// the features that are independent given the class, and those that are not; both increasing
  std::vector<int> naive, joint;
  /// statistics of the naive features for K classes; null columns if there are none
  ProductStatistics product;
  /// statistics of the joint features, with full covariance
  NormalStatistics normal;
  /// For sparse rows: the features that are null in all rows which name them, sorted by name, with
  /// the weight of those rows in each class. If rows of another part have values of such a feature,
  /// these rows must not count as zeros.
  std::vector<std::pair<std::string, Vector>> nulls;

  int size() const { return int(classes.size()); }
  int features() const { return int(specs.size()); }
  double total() const { return weight.sum(); }
  /// Divides the features into naive and joint ones, and sets the statistics of all classes to
  /// zero.
  void lay_out(bool full_covariance);
  bool is_zero_if_absent(int feature) const {
    return sparse && absent_is_zero && zero_if_absent(specs[std::size_t(feature)]);
  }
};

/// The totals of the rows of both. Throws Error(invalid_argument) if their features differ: in
/// columns, kinds, families or covariance.
NbTotals merged(const NbTotals &first, const NbTotals &second);

/// Writes the members of a model's document, or of a partial state, and reads them. Reading checks
/// every number: throws Error(invalid_text).
void write_totals(Document &document, const NbTotals &totals);
/// `names`: read from the same document; `dimension`: the number of features.
NbTotals read_totals(const MemberReader &in, RowColumns names, int dimension);

}  // namespace bayes
