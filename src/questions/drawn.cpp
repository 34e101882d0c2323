// The distribution of rows with weights and parameters drawn from their posterior.
#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/unseen.hpp"
#include "families/normal/normal_draw.hpp"
#include "questions/elliptical_part.hpp"
#include "questions/product_part.hpp"
#include "questions/row_distribution.hpp"

namespace bayes {

std::unique_ptr<RowPart> RowPart::drawn(std::span<const int>, Random &) const {
  throw Error(Errc::wrong_family, "the model has no draws",
              "Only models that were fitted by a sampler have draws of their density.");
}

std::unique_ptr<RowPart> ProductPart::drawn(std::span<const int> of, Random &random) const {
  const std::vector<int> order(of.begin(), of.end());
  if (point_)
    return std::make_unique<ProductPart>(elements(), pick(*point_, order),
                                         pick_entries(counts_, order), alphas_);
  return std::make_unique<ProductPart>(elements(), bayes::draw(pick(*posterior_, order), random),
                                       Vector::Zero(Eigen::Index(order.size())), alphas_);
}

std::unique_ptr<RowPart> EllipticalPart::drawn(std::span<const int> of, Random &random) const {
  const int d = of_.dimension(), count = int(of.size());
  NormalPoint point{of_.shape, Matrix(d, count), {}};
  for (int first = 0; first < count; first += sharing_) {
    poll_here();
    if (!student()) {
      const std::size_t c = std::size_t(of[std::size_t(first)]);
      point.mean.col(first) = of_.mean.col(Eigen::Index(c));
      point.covariance.push_back(of_.scale[std::size_t(of_.shape.index(int(c)))] *
                                 of_.factor(Eigen::Index(c)));
      continue;
    }
    // Components that share a scale, or a single one: the posterior that ellipses() was given.
    NormalWishart q{sharing_ > 1 ? tied_covariance : of_.shape,
                    Matrix(d, sharing_),
                    Vector(sharing_),
                    Vector(1),
                    {}};
    for (int i = 0; i < sharing_; ++i) {
      const int c = of[std::size_t(first + i)];
      q.m.col(i) = of_.mean.col(c);
      q.c(i) = 1 / of_.of_mean(c);
      if (i > 0) continue;
      q.a(0) = of_.degrees(c) + (of_.shape.dense ? d - 1 : 0);
      q.B.push_back(of_.scale[std::size_t(of_.shape.index(c))]);
    }
    const NormalPoint own = bayes::draw(q, random);
    point.mean.middleCols(first, sharing_) = own.mean;
    point.covariance.insert(point.covariance.end(), std::size_t(sharing_), own.covariance[0]);
  }
  return std::make_unique<EllipticalPart>(elements(), ellipses(point));
}

std::unique_ptr<RowDistribution> RowDistribution::drawn(Random &random) const {
  constexpr int of_new_clusters = 20;
  std::vector<FlatComponent> components;
  std::vector<int> of;
  std::vector<double> alphas, shares;
  std::vector<std::size_t> unknown;
  for (std::size_t c = 0; c < components_.size();) {
    const int draw = components_[c].draw;
    double whole = 0;
    alphas.clear();
    unknown.clear();
    for (; c < components_.size() && components_[c].draw == draw; ++c) {
      FlatComponent each = components_[c];
      const int parts = each.together < 1 ? of_new_clusters : 1;
      each.weight = std::exp(log_weights_[c]) / parts;  // before anything was fixed
      const double alpha = each.mass / parts;
      each.mass = std::numeric_limits<double>::infinity();
      each.together = 1;
      for (int i = 0; i < parts; ++i) {
        if (alpha > 0 && std::isfinite(alpha)) {
          unknown.push_back(components.size());
          alphas.push_back(alpha);
          whole += each.weight;
        }
        components.push_back(each);
        of.push_back(int(c));
      }
    }
    shares.resize(alphas.size());
    if (alphas.size() > 1) random.dirichlet(alphas, shares);
    for (std::size_t i = 0; alphas.size() > 1 && i < unknown.size(); ++i)
      components[unknown[i]].weight = whole * shares[i];
  }
  const int dimension = free_.empty() ? dimension_ : int(fixed_.size());
  auto out = std::make_unique<RowDistribution>(free_.empty() ? columns_ : RowColumns{}, dimension,
                                               std::move(components));
  for (const auto &part : parts_) out->add(part->drawn(of, random));
  if (!free_.empty()) {
    std::vector<double> given = fixed_;
    for (std::size_t j = 0; j < given.size(); ++j)
      if (std::isnan(given[j]) && !std::binary_search(free_.begin(), free_.end(), int(j)))
        given[j] = unseen_category;
    out->fix(given);
    out->columns_ = columns_;
  }
  out->labels_ = labels_;
  return out;
}

}  // namespace bayes
