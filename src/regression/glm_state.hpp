// The internal state of a fitted generalized linear model.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "regression/glm.hpp"
#include "regression/glm_rows.hpp"
#include "regression/terms.hpp"

namespace bayes {

/// The posterior of the unknowns u (glm_rows.hpp): the coefficients of the standardised terms
/// z = (x - centre) / scale, and the logarithm of a dispersion, or of gaps between cuts.
struct Glm::State {
  RegressionTerms terms;
  GlmColumns columns;
  TermScales scales;
  /// the labels of a response that has some
  std::vector<std::string> levels;
  /// posterior mode, or posterior mean after vi and gibbs; a number for each unknown
  std::vector<double> mean;
  /// The lower triangular R whose R'R is the covariance, row by row, p (p + 1) / 2 numbers; empty
  /// for a point estimate and for draws.
  std::vector<double> root;
  /// of gibbs: stored draws, chain after chain, each of p numbers
  std::vector<double> draws;
  /// of gibbs: the standard deviations of u over all draws, but for u_0 that of the intercept in
  /// units of the columns; empty in models of earlier versions
  std::vector<double> deviations;
  /// sum of the rows' weights
  double observations = 0;
  /// number of terms that vary
  int parameters = 0;

  /// Of a labelled response, made when it is first asked for: points that stand for the posterior
  /// (glm_levels.cpp).
  mutable std::once_flag points_made;
  mutable std::vector<double> points;

  /// Unknowns drawn from the normal approximation; the mean of a point estimate.
  std::vector<double> draw(std::uint64_t seed, std::uint64_t number) const;
  /// `count` vectors of unknowns from the posterior, one after the other: of stored draws as many
  /// at equal distances, of a point estimate all alike.
  std::vector<double> posterior_unknowns(std::size_t count, std::uint64_t seed) const;

  /// the number of unknowns
  std::size_t size() const { return mean.size(); }
};

}  // namespace bayes
