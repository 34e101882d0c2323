// Elements that are independent of each other given the component: columns of product families, and
// normals with diagonal covariances whose variances are unknown.
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
  bool names(int j) const override { return columns().column(j).by_value; }
  void condition(const double *x, bool count_unseen, double *out) override;
  void add_ties(const double *x, const double *y, double *out) override;
  Predicted predicted(int c, int j) override;
  std::pair<double, double> moments(int c, int j) override;
  void probabilities(int c, int j, double *out) override;
  void box(int c, const double *lower, const double *upper, std::span<double> out) override;
  void fix(const double *x) override;
  void parameters(int c, int j, std::vector<Parameter> &out,
                  std::vector<Marginal> &posteriors) override;
  bool observes() const override;
  double tail(int c, double log_density) override;
  void add_powers(int c, PowerLogs &out) override;
  void draw(int c, Random &random, double *x) override;
  std::unique_ptr<RowPart> drawn(std::span<const int> of, Random &random) const override;

 private:
  const Columns &columns() const { return posterior_ ? *posterior_->columns : *point_->columns; }

  /// Is element j of the last row observed, and not fixed?
  bool observes(int j) const;
  /// of a value, which need not be one that the element can have
  double log_density_of(int c, int j, double value);
  const PowerLogs &powers_of(int c, int j);

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
  std::vector<double> drawn_, probabilities_, row_, statistics_;
  /// did it count unseen categories?
  bool counted_ = false;
  /// of each element
  std::vector<char> fixed_;
  /// [component][element]; made for the first rows that need them
  std::vector<std::optional<PowerLogs>> powers_;
};

/// The normal columns that a diagonal covariance stands for, with their parameters integrated out.
ProductPosterior normal_columns(const NormalWishart &q);

}  // namespace bayes
