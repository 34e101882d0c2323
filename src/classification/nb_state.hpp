// What a Bayes classifier is made of.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/aligned.hpp"
#include "classification/nb.hpp"
#include "classification/nb_options.hpp"
#include "classification/nb_totals.hpp"
#include "families/marginal_scorers.hpp"
#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_wishart.hpp"
#include "families/product/product_clusters.hpp"
#include "families/product/unseen_categories.hpp"

namespace bayes {

struct NbPart::Totals {
  NbTotals of;
};

struct BayesClassifier::State {
  NbTotals totals;
  NbOptions options;
  /// of one class, and of all; of the naive and of the joint features, if there are any
  std::optional<ProductPosterior> prior, posterior;
  std::optional<NormalWishart> normal_prior, normal_posterior;

  // For scoring, made by prepare():
  std::optional<ProductClusters> naive;
  std::optional<NormalClusters> joint;
  /// log of the classes' probabilities; of a sparse row that names nothing, the whole log density
  Buffer base;
  /// of rows that miss joint features
  mutable MarginalScorers<NormalClusters> marginals;
  mutable Buffer scores, part;
  /// naive features that any number is a value of
  std::vector<char> takes_any;
  /// the naive, and the joint, features of a row
  mutable std::vector<double> x, y;
  /// naive features of the last row whose category no row had
  mutable std::vector<int> unseen;
  /// made for the first such row
  mutable std::optional<UnseenCategories> of_unseen;

  /// of sparse rows
  std::unordered_map<std::string_view, std::int32_t> features;

  double alpha_of_all() const { return options.alpha * totals.size(); }
  /// Posteriors follow from totals and priors.
  void learn();
  void prepare();
};

/// Makes the priors, posteriors and scorers, and describes the model, whose totals and options are
/// there. Throws Error.
void finish_classifier(BayesClassifier &model);

}  // namespace bayes
