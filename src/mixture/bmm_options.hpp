// The options of the Bernoulli mixture, read and checked.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fit/fit_options.hpp"
#include "mixture/bmm_state.hpp"

namespace bayes {

struct BmmOptions : FitOptions {
  // one for all elements of a row, or one for each
  std::vector<std::string> likelihood = {"bernoulli"};
  // null, or the user's option (families/product/product_prior.hpp)
  Document categories;
  Document prior;  // null or the user's object
  std::string init = "varied";
  double minimum = 1e-6;

  BmmRowOptions rows() const {
    return {missing == "skip", missing == "marginalize", null_on_error};
  }

  /// All options in force as a document; the fit adds what depends on the data.
  Document document() const;
};

/// Reads and checks. `start` gives the likelihood, and the default of method. Throws
/// Error(invalid_argument).
BmmOptions read_bmm_options(std::span<const int> ks, const Document &options,
                            const BernoulliMixture *start, bool update);

}  // namespace bayes
