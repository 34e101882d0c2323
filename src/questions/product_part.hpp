// Elements that are independent of each other given the component: columns of product families, and
// normals with diagonal covariances.
#pragma once

#include <memory>
#include <optional>

#include "base/aligned.hpp"
#include "families/normal/normal_wishart.hpp"
#include "families/product/product_clusters.hpp"
#include "families/product/product_scorer.hpp"
#include "families/product/unseen_categories.hpp"
#include "questions/row_part.hpp"

namespace bayes {

class ProductPart final : public RowPart {
 public:
  /// With the parameters integrated out. `alphas`: category_alphas of the model.
  ProductPart(std::vector<int> elements, ProductPosterior q, Vector alphas);
  /// At a point. `counts`: the expected numbers of rows of its components.
  ProductPart(std::vector<int> elements, ProductPoint point, Vector counts, Vector alphas);

  double checked(int j, double x, const Where &where) const override;
  std::vector<double> categories(int j) const override;
  void condition(const double *x, bool count_unseen, double *out) override;
  void add_ties(const double *x, const double *y, double *out) override;
  Predicted predicted(int c, int j) override;
  std::pair<double, double> moments(int c, int j) override;
  void probabilities(int c, int j, double *out) override;
  void box(int c, const double *lower, const double *upper, std::span<double> out) override;
  void parameters(int c, int j, std::vector<Parameter> &out,
                  std::vector<Marginal> &posteriors) override;
  void draw(int c, Random &random, double *x) override;
  std::unique_ptr<RowPart> drawn(std::span<const int> of, Random &random) const override;

 private:
  const Columns &columns() const { return posterior_ ? *posterior_->columns : *point_->columns; }

  /// one of the two
  std::optional<ProductPosterior> posterior_;
  std::optional<ProductPoint> point_;
  std::optional<ProductClusters> clusters_;
  std::optional<ProductScorer> scorer_;
  /// the point estimate of the posterior, made for the first list of parameters
  std::optional<ProductPoint> estimate_;
  int components_;
  Vector counts_, alphas_;
  /// made for the first row that needs it
  std::optional<UnseenCategories> unseen_;
  Buffer scores_;
  /// a point of one component, the probabilities of its categories, and the row of the last
  /// condition()
  std::vector<double> drawn_, probabilities_, row_;
};

/// The normal columns that a diagonal covariance stands for.
ProductPosterior normal_columns(const NormalWishart &q);
ProductPoint normal_columns(const NormalPoint &point);

}  // namespace bayes
