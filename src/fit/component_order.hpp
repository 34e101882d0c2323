// Option order: the rule by which the components of mixtures, and the states of hidden Markov
// models, are numbered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/linalg.hpp"
#include "document/model.hpp"
#include "document/option_table.hpp"
#include "families/normal/normal_point.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

class ComponentOrder {
 public:
  /// Was the option given, to this fit or to the model that it starts from? If not, components are
  /// in the order of descending weights, or of the start model.
  bool given() const { return rule_ != Rule::none; }
  void inherit(const ModelInfo &start);
  void line(OptionTable &t);
  /// Throws Error(invalid_argument) unless columns of this number have the means or variances by
  /// which components are ordered.
  void check(int dimension, const Columns *columns) const;

  /// For each number from 0 the component that has it: by descending `weights`, or by ascending
  /// means or variances; components that are equal stay in the order of descending weights.
  template <class Point> std::vector<int> of(const Vector &weights, const Point &point) const {
    std::vector<int> out = descending_order(weights);
    if (!by_moment()) return out;
    Vector moments(weights.size());
    for (int k = 0; k < int(weights.size()); ++k) moments(k) = moment(point, k);
    return ascending(std::move(out), moments);
  }

 private:
  enum class Rule : char { none, weight, mean, variance };
  bool by_moment() const { return rule_ == Rule::mean || rule_ == Rule::variance; }
  double moment(const NormalPoint &point, int component) const;
  double moment(const ProductPoint &point, int component) const;
  static std::vector<int> ascending(std::vector<int> order, const Vector &moments);
  void read(const Document &given);
  Document write() const;

  Rule rule_ = Rule::none;
  /// of a mean or variance, from 0
  int element_ = 0;
};

}  // namespace bayes
