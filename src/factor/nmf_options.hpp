// The options of non-negative factorizations.
#pragma once

#include <string>

#include "factor/nmf.hpp"
#include "fit/fit_options.hpp"

namespace bayes {

/// A gamma prior of the weights of one side; absent numbers are chosen from the data.
struct WeightPrior {
  std::optional<double> shape, rate;
  bool learn_shape = false, learn_rate = false;
};

struct NmfOptions : FitOptions {
  int k = 1;
  /// "nndsvd", "random"
  std::string init = "nndsvd";
  /// of rows, and of columns; of method vi
  WeightPrior row, column;

  bool gamma() const { return method == "vi"; }
  bool squared() const { return method == "squared"; }
  Document document() const;
};

/// Throws Error(invalid_argument) for options that cannot be.
NmfOptions read_nmf_options(int k, const Document &options, const NmfModel *start);

}  // namespace bayes
