// What the rows of each component have that others do not, column by column.
#pragma once

#include <span>
#include <vector>

#include "base/api.hpp"

namespace bayes {

/// Of a component and a column, or a category of one. NaN where there is nothing to compare.
struct ProfileEntry {
  /// from 0
  int component, element;
  /// NaN: the column is no category
  double category;
  /// expected number of the component's rows
  double rows;
  /// The mean of a number, or the share of a category, among the component's rows that have a
  /// value, and among all others; each row counts with its probability.
  double value, others;
  double difference;
  /// the difference in standard deviations of the number, or of having the category, over all rows
  double effect;
  /// the share of the component's rows that have no value
  double missing;
  /// from 1, by decreasing |effect| within the component; 0 if there is no effect
  int rank;
};

/// Sums over rows, each with its probabilities of the components.
class BAYES_API Profile {
 public:
  /// `categories`: of every column its rising values, or none if it holds numbers. Throws
  /// Error(too_large) for more sums than a profile can have.
  Profile(int components, std::vector<std::vector<double>> categories);

  /// x: a number for each column, NaN where it has none, else one of its categories;
  /// `probabilities`: of the components, and perhaps of others.
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
