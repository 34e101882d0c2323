// The options of non-negative factorizations.
#pragma once

#include <string>

#include "factor/nmf.hpp"
#include "fit/fit_options.hpp"

namespace bayes {

/// Iterations after which the best of several restarts is chosen; it is usually among the best in
/// the end.
inline constexpr int nmf_short_iterations = 100;

/// A gamma prior of the weights of one side; absent parameters are chosen from the data.
struct WeightPrior {
  std::optional<double> shape, rate;
  bool learn_shape = false, learn_rate = false;

  bool learns() const { return learn_shape || learn_rate; }
};

/// The shape of the gamma priors, unless it is given: most weights of a document are near 0.
inline constexpr double nmf_default_shape = 0.3;

struct NmfOptions : FitOptions {
  int k = 1;
  /// "nndsvd", "random"
  std::string init = "nndsvd";
  /// absent cells are missing values, not zeros
  bool missing_cells = false;
  /// priors of rows and of columns (vi, svi)
  WeightPrior row, column;
  bool hierarchical = false;
  /// shape of the gamma distribution of each key's rate in a hierarchical prior
  double scale_shape = 3;

  bool gamma() const { return is_variational(method); }
  bool squared() const { return method == Method::squared; }
  /// Chooses the number of restarts, unless given, for a table with this number of cells.
  void settle(double cells);
  /// Each key has its own rates.
  bool own_rates() const { return missing_cells || (gamma() && hierarchical); }
  Document document() const;
};

/// Throws Error(invalid_argument) for invalid options.
NmfOptions read_nmf_options(int k, const Document &options, const NmfModel *start);

}  // namespace bayes
