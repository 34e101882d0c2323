// The options of the Bayes classifier.
#pragma once

#include <string>
#include <vector>

#include "document/option_table.hpp"
#include "families/normal/normal_options.hpp"
#include "families/product/product_options.hpp"

namespace bayes {

struct NbOptions {
  /// null, or as given: a name, an array, or an object by feature
  Document likelihood;
  /// normal columns have one covariance matrix, and are not independent
  bool full_covariance = false;
  /// what a sparse row does not name: zero, or not known
  bool absent_is_zero = true;
  std::string missing = "marginalize";
  bool null_on_error = false;
  /// of the Dirichlet prior of the classes, for each
  double alpha = 1;
  ProductPriorKeys product;
  NormalPriorKeys normal;
  /// option prior as it was given; null: everything is default
  Document given_prior;

  /// All options in force, but for the likelihood and the prior of the features.
  Document document() const;
};

/// Reads and checks all that can be checked before there are rows. Throws Error(invalid_argument).
NbOptions read_nb_options(const Document &options);
/// The same of an update of a model with these options: others than missing and on_error are the
/// model's.
NbOptions read_nb_update(const Document &options, const NbOptions &model);
/// Those of a stored model. Throws Error.
NbOptions stored_nb_options(const Document &options, const Document &given_prior);

}  // namespace bayes
