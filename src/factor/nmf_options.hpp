// The options of non-negative factorizations.
#pragma once

#include <string>

#include "factor/nmf.hpp"
#include "fit/fit_options.hpp"

namespace bayes {

/// Iterations of each of several restarts: after so many the best of them is mostly one of the best
/// in the end.
inline constexpr int nmf_short_iterations = 100;

/// A gamma prior of the weights of one side; absent numbers are chosen from the data.
struct WeightPrior {
  std::optional<double> shape, rate;
  bool learn_shape = false, learn_rate = false;

  bool learns() const { return learn_shape || learn_rate; }
};

struct NmfOptions : FitOptions {
  int k = 1;
  /// "nndsvd", "random"
  std::string init = "nndsvd";
  /// absent cells are missing, not 0
  bool missing_cells = false;
  /// of rows, and of columns; of methods vi and svi
  WeightPrior row, column;
  bool hierarchical = false;
  /// of a hierarchical prior: of the gamma distribution of each key's rate
  double scale_shape = 3;

  bool gamma() const { return method == "vi" || method == "svi"; }
  bool squared() const { return method == "squared"; }
  /// Sets the number of restarts if it was not given, for a table of so many cells.
  void settle(double cells);
  /// Each key has its own rates.
  bool own_rates() const { return missing_cells || (gamma() && hierarchical); }
  Document document() const;
};

/// Throws Error(invalid_argument) for options that cannot be.
NmfOptions read_nmf_options(int k, const Document &options, const NmfModel *start);

}  // namespace bayes
