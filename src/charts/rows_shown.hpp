// The distribution of rows of a model, as charts show it: its components, the columns in which they
// differ most, and where the values of a column are.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "charts/chart_kinds.hpp"
#include "questions/row_distribution.hpp"

namespace bayes {

/// A component of the model, as parts of the flat mixture: one, or one for every draw.
struct Shown {
  /// from 0
  int number;
  double weight = 0;
  /// indices into active()
  std::vector<std::size_t> parts = {};
};

/// Equidistant values of a number, from the first one on.
struct ValueGrid {
  double first, step;
  int count;
  /// whole numbers, of which each has a probability; else each stands for the interval around it
  bool whole;
  double half() const { return whole ? 0.5 : step / 2; }
  double at(int i) const { return first + i * step; }
};

/// The rows of a model with nothing known of them.
class RowsShown {
 public:
  explicit RowsShown(const ChartRequest &request);

  RowDistribution &rows() const { return *rows_; }
  /// those of the greatest weight, in the order of the model
  const std::vector<Shown> &components() const { return components_; }
  std::vector<double> nothing() const;
  bool number(int element) const { return rows_->categories(element).empty(); }
  std::string name(int element) const {
    return name_of_column(rows_->columns(), rows_->dimension(), element);
  }

  /// Of two numbers under a component; of several parts, mean and covariance of their mixture.
  RowPair pair(const Shown &component, int first, int second) const;
  /// The columns of option columns, or all, those in which components differ most first.
  std::vector<int> columns() const;
  /// Two numbers: those of option columns, or in which components are farthest apart.
  std::pair<int, int> two_numbers() const;
  /// At most about `most` values, which have all but twice `tail` of the probability of a number.
  ValueGrid grid(int element, double tail, int most) const;
  /// The rows of the request, each in the colour of its most probable component.
  Layer points(int first, int second, bool coloured) const;

 private:
  int find(const std::string &name) const;
  double separation(int first, int second) const;

  const ChartRequest &request_;
  const std::unique_ptr<RowDistribution> rows_;
  std::vector<Shown> components_;
};

}  // namespace bayes
