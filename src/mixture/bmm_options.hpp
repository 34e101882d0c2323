// The options of the Bernoulli mixture.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "families/product/product_options.hpp"
#include "fit/component_order.hpp"
#include "fit/fit_options.hpp"
#include "mixture/bmm.hpp"

namespace bayes {

struct BmmOptions : FitOptions {
  // one for all elements of a row, or one for each
  std::vector<ColumnSpec> likelihood = {likelihood_of(bernoulli_family)};
  Document categories;  // null, or as given
  ProductPriorKeys prior;
  std::string init = "varied";
  double minimum = 1e-6;
  ComponentOrder order;

  /// All options in force as a document; the fit adds what depends on the data.
  Document document() const;
};

/// Reads and checks the options. The fit inherits the likelihood of `start`, and other options as
/// in FitOptions::inherit. Throws Error(invalid_argument).
BmmOptions read_bmm_options(std::span<const int> ks, const Document &options,
                            const BernoulliMixture *start, bool update);

}  // namespace bayes
