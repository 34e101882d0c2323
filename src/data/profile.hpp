// Profiles of components: how their rows differ from all others, column by column.
#pragma once

#include <span>
#include <vector>

#include "base/api.hpp"

namespace bayes {

/// An entry for a component and a column, or a category of the column. NaN where there is nothing
/// to compare.
struct ProfileEntry {
  /// from 0
  int component, element;
  /// NaN if the column is not categorical
  double category;
  /// expected number of the component's rows
  double rows;
  /// The mean of a number, or the share of a category, among the component's rows that have a
  /// value, and among all others; each row counts with its probability.
  double value, others;
  double difference;
  /// the difference in standard deviations of the number, or of having the category, over all rows
  double effect;
  /// proportion of the component's rows without a value
  double missing;
  /// from 1, by decreasing |effect| within the component; 0 if there is no effect
  int rank;
};

/// Sums over rows, weighted with the probabilities of the components.
class BAYES_API Profile {
 public:
  /// `categories`: for every column its ascending values, or none for a numeric column. Throws
  /// Error(too_large) if there are too many components and categories.
  Profile(int components, std::vector<std::vector<double>> categories);

  /// x: a number for each column, NaN where it has none, else one of its categories;
  /// `probabilities`: of the components, possibly followed by others.
  void add(std::span<const double> x, std::span<const double> probabilities);
  /// component by component, column by column
  std::vector<ProfileEntry> entries() const;

 private:
  /// A number of a column, or one of its categories.
  struct Unit {
    int element;
    double category;
    // over all rows: mean and squares about it
    double mean = 0, squares = 0;
  };
  void rank(std::span<ProfileEntry> entries) const;

  std::vector<std::vector<double>> columns_;
  std::vector<Unit> units_;
  /// where the units of a column begin
  std::vector<std::size_t> first_;
  std::vector<double> rows_;                      // K
  std::vector<double> weights_;                   // K x columns, of rows that have a value
  std::vector<double> sums_;                      // K x units, of numbers less their origin
  std::vector<double> counts_, origin_, totals_;  // of columns, columns, units: over all rows
};

}  // namespace bayes
