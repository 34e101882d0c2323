// Normal elements, which may depend on each other given the component; or Student t with the
// parameters integrated out, if they share what is unknown of their scale.
//
// For every pattern of observed elements the scale of a component, with the observed elements o
// first and the missing ones m last, has the Cholesky factor
//
//   L = (L_oo, 0; L_mo, L_mm).
//
// With z = L_oo^-1 (x_o - mean_o) the missing elements given the observed ones have the location
// mean_m + L_mo z and the scale L_mm L_mm'; of a Student t of nu degrees of freedom the scale is
// multiplied by (nu + |z|^2) / (nu + |o|), and the degrees become nu + |o|. Components lie in the
// lanes, so that a row is scored under all of them at once.
#pragma once

#include "base/aligned.hpp"
#include "families/marginal_scorers.hpp"
#include "families/normal/normal_independent.hpp"
#include "families/normal/normal_wishart.hpp"
#include "questions/row_part.hpp"

namespace bayes {

/// The components of an EllipticalPart.
struct Ellipses {
  /// dense or isotropic; any for normals
  CovarianceShape shape = full_covariance;
  /// d x C
  Matrix mean;
  /// shape.count(C), in the shape's form
  std::vector<Matrix> scale;
  /// C: factor of the squared scale of each component
  Vector factor;
  /// C degrees of freedom; empty: normal
  Vector degrees;
  /// C: the squared scale of the posterior of a mean, where that of a row given the mean is 1; for
  /// Student t
  Vector of_mean = {};

  int components() const { return int(mean.cols()); }
  int dimension() const { return int(mean.rows()); }
};

Ellipses ellipses(const NormalPoint &point);
/// Parameters integrated out: Student t.
Ellipses ellipses(const NormalWishart &q);

/// Components with independent q of mean and precision as a mixture of normals: given the weight g
/// of the precision, g ~ Gamma(nu / 2, nu / 2), x is normal with covariance C + B / (nu g), nu = a
/// + 1 - d. The integral over log g is a sum over equidistant nodes.
struct NormalNodes {
  NormalPoint point;
  /// for every node, its component and its share of the component
  std::vector<int> component;
  std::vector<double> share;
};
/// Throws Error(too_large) if the nodes need more memory than models may have.
NormalNodes normal_nodes(const NormalIndependent &q);

class EllipticalPart final : public RowPart {
 public:
  /// `sharing`: the number of consecutive components that share one unknown scale.
  EllipticalPart(std::vector<int> elements, Ellipses components, int sharing = 1);
  ~EllipticalPart() override;

  void condition(const double *x, bool count_unseen, double *out) override;
  void add_ties(const double *x, const double *y, double *out) override;
  Predicted predicted(int c, int j) override;
  std::pair<double, double> moments(int c, int j) override;
  RowPair pair(int c, int j, int l) override;
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
  struct Pattern;
  void set_constants(Pattern &p, int c, double log_determinant) const;
  std::unique_ptr<Pattern> pattern_of(std::span<const int> observed) const;
  void set_deviations(Pattern &pattern, std::vector<double> &log_determinant) const;
  void whiten_means(Pattern &pattern) const;
  /// Computes z, if `keep`, and its square, for all components.
  template <bool keep> void whiten(const Pattern &pattern, const double *x);
  template <bool keep> void whiten_dense(const Pattern &pattern, const double *x);
  template <bool keep> void whiten_shared(const Pattern &pattern, const double *x);
  template <bool keep> void whiten_independent(const Pattern &pattern, const double *x);
  /// The location and the squared scale of a missing element, and the factor of the squared scales
  /// of all missing elements.
  struct Conditional {
    double location, square, factor;
  };
  Conditional conditional(int c, int j) const;
  double factor_of(int c) const;
  /// of element j, if elements are independent
  double variance(std::size_t scale, int j) const {
    return of_.scale[scale](of_.shape.isotropic ? 0 : j, 0);
  }
  bool student() const { return of_.degrees.size() > 0; }
  /// The distribution of the observed elements that are not fixed, given these.
  EllipticalDensity density_of_others(int c) const;
  /// The amount by which a square lowers the log density of the pattern's elements.
  double falls(const Pattern &pattern, int c, double square) const;

  Ellipses of_;
  int sharing_, padded_;
  /// of rows that miss nothing; made for the first of them
  std::unique_ptr<Pattern> whole_;
  MarginalScorers<Pattern> patterns_;
  /// of the fixed elements: their number, and for every component their square and log density
  int fixed_ = 0;
  std::vector<double> fixed_square_;
  Buffer fixed_log_density_;
  // of the row of the last condition():
  const Pattern *pattern_ = nullptr;
  /// Is z needed of rows that miss nothing?
  bool keep_ = false;
  /// [observed][padded_] z, and [padded_] its square
  Buffer z_, square_, y_;
  Vector noise_;
};

}  // namespace bayes
