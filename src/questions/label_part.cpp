#include "questions/label_part.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/unseen.hpp"

namespace bayes {

double RowPart::checked(int, double x, const Where &) const { return x; }
std::vector<double> RowPart::categories(int) const { return {}; }
bool RowPart::names(int) const { return false; }

void RowPart::add_ties(const double *, const double *, double *) {}
void RowPart::fix(const double *) {}
void RowPart::parameters(int, int, std::vector<Parameter> &, std::vector<Marginal> &) {}
double RowPart::tail(int, double) { return std::nan(""); }

RowPair RowPart::pair(int c, int j, int l) {
  const auto [mean, square] = moments(c, j);
  const auto [other_mean, other_square] = moments(c, l);
  return {{mean, other_mean}, {square, j == l ? square : 0, other_square}};
}

double LabelPart::checked(int, double x, const Where &) const {
  const double c = x - first_;
  return c >= 0 && c < components_ && c == std::floor(c) ? x : unseen_category;
}

std::vector<double> LabelPart::categories(int) const {
  std::vector<double> out;
  for (int c = 0; c < components_; ++c) out.push_back(c + first_);
  return out;
}

/// No component has a label that is unknown.
void LabelPart::condition(const double *x, bool count_unseen, double *out) {
  missing_ = std::isnan(*x) && !(count_unseen && is_unseen(*x));
  if (missing_) return;
  for (int c = 0; c < components_; ++c)
    if (c + first_ != *x) out[c] = -std::numeric_limits<double>::infinity();
}

Predicted LabelPart::predicted(int, int) { return {}; }

std::pair<double, double> LabelPart::moments(int, int) { return {std::nan(""), std::nan("")}; }

void LabelPart::probabilities(int c, int, double *out) {
  std::fill_n(out, components_, 0.0);
  out[c] = 1;
}

void LabelPart::box(int c, const double *lower, const double *upper, std::span<double> out) {
  if (!missing_ || (*lower <= c + first_ && c + first_ <= *upper)) return;
  std::fill(out.begin(), out.end(), 0.0);
}

void LabelPart::draw(int c, Random &, double *x) {
  if (std::isnan(*x)) *x = c + first_;
}

}  // namespace bayes
