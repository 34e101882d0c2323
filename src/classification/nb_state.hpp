// The state of a Bayes classifier: statistics, posteriors and scorers.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/aligned.hpp"
#include "classification/nb.hpp"
#include "classification/nb_options.hpp"
#include "classification/nb_totals.hpp"
#include "families/normal/normal_wishart.hpp"
#include "families/product/product_clusters.hpp"
#include "families/product/unseen_categories.hpp"
#include "questions/row_part.hpp"

namespace bayes {

struct NbPart::Totals {
  NbTotals of;
};

struct BayesClassifier::State {
  NbTotals totals;
  NbOptions options;
  /// prior of one class and posteriors of all classes: of the naive features, then of the joint
  /// ones; nullopt if there are no such features
  std::optional<ProductPosterior> prior, posterior;
  std::optional<NormalWishart> normal_prior, normal_posterior;

  // For scoring, created by prepare():
  std::optional<ProductClusters> naive;
  std::unique_ptr<RowPart> joint;
  /// the log probability of each class; for sparse rows plus the log density of the features of a
  /// row that names none
  Buffer base;
  mutable Buffer scores;
  /// for each naive feature: every number is allowed (it is normal)
  std::vector<char> allows_any_number;
  /// buffers for the naive and for the joint features of a row
  mutable std::vector<double> x, y;
  /// naive features of the last scored row whose category occurred in no row of the fit
  mutable std::vector<int> unseen;
  /// created for the first such row
  mutable std::optional<UnseenCategories> unseen_scorer;

  /// for sparse rows: the index of each feature by its name
  std::unordered_map<std::string_view, std::int32_t> features;

  double class_alpha_sum() const { return options.alpha * totals.size(); }
  /// Computes the posteriors from the totals and the priors.
  void learn();
  /// Creates the scorers.
  void prepare();
};

/// Computes the priors, posteriors and scorers of a model whose totals and options are set, and
/// fills in its info. Throws Error.
void finish_classifier(BayesClassifier &model);

}  // namespace bayes
