// The label of a row where every component has one of its own: the class of a classifier.
#pragma once

#include <cmath>

#include "questions/row_part.hpp"

namespace bayes {

class LabelPart final : public RowPart {
 public:
  /// Component c has the label c + `first`.
  LabelPart(int element, int components, int first)
      : RowPart({element}),
        components_(components),
        first_(first) {}

  double checked(int j, double x, const Where &where) const override;
  std::vector<double> categories(int j) const override;
  bool names(int) const override { return true; }
  void condition(const double *x, bool count_unseen, double *out) override;
  Predicted predicted(int c, int j) override;
  std::pair<double, double> moments(int c, int j) override;
  void probabilities(int c, int j, double *out) override;
  void box(int c, const double *lower, const double *upper, std::span<double> out) override;
  void fix(const double *x) override { fixed_ = !std::isnan(*x); }
  bool observes() const override { return !missing_ && !fixed_; }
  /// The rows of a component have one label.
  void add_powers(int, PowerLogs &) override {}
  void draw(int c, Random &random, double *x) override;

 private:
  int components_, first_;
  /// whether the last condition() had no label
  bool missing_ = true;
  bool fixed_ = false;
};

}  // namespace bayes
