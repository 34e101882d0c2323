// What a Bayes classifier learns from rows: their sufficient statistics, class by class (002 L2).
//
// Totals of different rows can be merged whatever their classes, labels and words are, as all of
// these are known by name: the sums are those of all rows, to rounding of doubles.
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

/// Statistics of all classes together: classes times what their features need.
inline constexpr double nb_max_numbers = 2e7;

/// Throws Error(too_large) if there are more.
void require_nb_numbers(double numbers, std::size_t classes, std::size_t features);

/// Is a feature of this family that a sparse row does not name a zero, or false, and not just
/// unknown?
bool zero_if_absent(const ColumnSpec &spec);

struct NbTotals {
  /// Rows are sets of named features, of which each has some.
  bool sparse = false;
  /// What a sparse row does not name counts as 0, if it can be (zero_if_absent).
  bool absent_is_zero = true;
  /// rising in the order of their bytes
  std::vector<std::string> classes;
  /// rows, and their weight, of each class
  std::vector<std::int64_t> rows;
  Vector weight;
  std::int64_t skipped = 0;

  /// of the features, with their labels; of sparse rows rising by name; none if rows are arrays
  RowColumns names;
  /// Features whose family is in `joint` are normal, and have one covariance matrix.
  std::vector<ColumnSpec> specs;
  /// the features that are independent given the class, and those that are not, both rising
  std::vector<int> naive, joint;
  /// of the first: statistics of K classes; null columns if there are none
  ProductStatistics product;
  /// of the second, of full covariance
  NormalStatistics normal;
  /// Of sparse rows, features that were null in all rows which name them, rising by name, with the
  /// weight of those rows in each class: they are no zeros if other rows turn out to have them.
  std::vector<std::pair<std::string, Vector>> nulls;

  int size() const { return int(classes.size()); }
  int features() const { return int(specs.size()); }
  double total() const { return weight.sum(); }
  /// Which features are naive and which joint, and statistics of no rows for each class.
  void lay_out(bool full_covariance);
  bool is_zero_if_absent(int feature) const {
    return sparse && absent_is_zero && zero_if_absent(specs[std::size_t(feature)]);
  }
};

/// The totals of the rows of both. Throws Error(invalid_argument) if their features are not the
/// same ones: other columns, kinds, families, or another covariance.
NbTotals merged(const NbTotals &first, const NbTotals &second);

/// Members of a model's document, or of a partial state, and back, with every number checked:
/// throws Error(invalid_text).
void write_totals(Document &document, const NbTotals &totals);
/// `names`: read from the same document; `dimension`: the number of features.
NbTotals read_totals(const MemberReader &in, RowColumns names, int dimension);

}  // namespace bayes
