// The options of the Bayes classifier.
#pragma once

#include <string>
#include <vector>

#include "document/option_table.hpp"
#include "families/normal/normal_options.hpp"
#include "families/product/product_options.hpp"

namespace bayes {

struct NbOptions {
  /// as given: a name, an array, or an object by feature; null if not given
  Document likelihood;
  /// normal columns share a full covariance matrix; otherwise they are independent
  bool full_covariance = false;
  /// features that a sparse row does not name are zero; otherwise they are missing
  bool absent_is_zero = true;
  std::string missing = "marginalize";
  bool null_on_error = false;
  /// the parameter of the symmetric Dirichlet prior of the class probabilities
  double alpha = 1;
  ProductPriorKeys product;
  NormalPriorKeys normal;
  /// option prior as given; null: all defaults
  Document given_prior;

  /// All options in force, except the likelihood and the prior of the features.
  Document document() const;
};

/// Reads the options and checks whatever does not depend on the rows. Throws
/// Error(invalid_argument).
NbOptions read_nb_options(const Document &options);
/// The same for an update of a model with options `model`: all options but on_error are those of
/// the model, and only missing may differ.
NbOptions read_nb_update(const Document &options, const NbOptions &model);
/// The options of a stored model. Throws Error.
NbOptions stored_nb_options(const Document &options, const Document &given_prior);

}  // namespace bayes
