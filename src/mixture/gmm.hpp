// Gaussian mixtures: fitting, and the accessors of a fitted model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/control.hpp"
#include "base/error.hpp"
#include "data/rows.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "mcmc/stored_draws.hpp"
#include "questions/row_mixture.hpp"

namespace bayes {

inline constexpr Method gmm_methods[] = {Method::em,   Method::map,   Method::vi,
                                         Method::svi,  Method::gibbs, Method::collapsed,
                                         Method::mcem, Method::kmeans};
/// the largest number of elements of a row; a d x d covariance is then 20 MB
inline constexpr int gmm_max_dimension = 1600;
inline constexpr int gmm_max_components = 10000;

/// One component at the model's point estimate (for vi and svi: weight E[pi], mean E[mu],
/// covariance E[Lambda]^-1).
struct GmmComponent {
  /// in [0, 1]; they sum to 1
  double weight;
  /// expected number of rows (sum of responsibilities times weights)
  double count;
  /// d
  std::vector<double> mean;
  /// d x d, symmetric
  std::vector<double> covariance;
};

/// q of one component: pi ~ Dirichlet(alpha), Lambda ~ Wishart(a, B), mu | Lambda ~ N(m, (c
/// Lambda)^-1); with the independent prior mu ~ N(m, S) instead. A diagonal covariance has one
/// Wishart(a, B_jj) of dimension 1 for each column, a spherical one a single Wishart(a, B_11) for
/// all columns, a tied one the same (a, B) in every component.
struct GmmPosterior {
  double alpha;
  /// d
  std::vector<double> m;
  /// NaN with the independent prior
  double c;
  /// d x d; empty with the linked prior
  std::vector<double> S;
  double a;
  /// d x d
  std::vector<double> B;
};

struct ComponentDensities;
class IndependentPredictive;

class BAYES_API GaussianMixture final : public RowMixture {
 public:
  GaussianMixture();
  ~GaussianMixture() override;

  int dimension() const { return info.dimension; }
  int size() const { return info.components; }

  /// from 0
  GmmComponent component(int index) const;
  std::int64_t stored_draws() const override;
  /// fitted by vi or svi
  bool has_posterior() const;
  /// from 0; throws Error(invalid_argument) without posterior
  GmmPosterior posterior(int index) const;

  /// The weight, means and standard deviations of every component, with intervals of this level.
  /// After vi and svi under q, after gibbs and collapsed under the average of the parameters'
  /// posteriors given the partitions of the stored draws; other methods have values only.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  ParameterDraws draw_parameters(std::uint64_t seed) const override;

  // Predictions of one row x of d numbers (questions/row_mixture.hpp). With the independent prior
  // they come from the exact integral, which the flat mixture approximates.
  int predict(std::span<const double> x) const override;
  void probabilities(std::span<const double> x, std::span<double> out) const override;
  double log_density(std::span<const double> x) const override;

  double free_parameters() const override;
  double observations() const override;
  double relative_entropy() const override;
  /// bic + 2 x entropy of the responsibilities
  double icl() const;
  /// full, diagonal, spherical or tied
  std::string covariance() const;

  std::unique_ptr<RowDistribution> row_distribution() const override;
  ComponentOverlaps overlaps(const Model &other) const override;

  struct State;  // parameters, posterior and prior as the learners use them
  std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;

 private:
  /// at the point estimate (fit/component_overlap.hpp)
  ComponentDensities densities() const;
  /// nullptr unless the prior is independent; uses a workspace of the model: not thread-safe
  IndependentPredictive *integral() const;
  mutable std::unique_ptr<IndependentPredictive> integral_;
};

/// Reads the document form; for models/registry.cpp. Throws Error(invalid_text) naming the invalid
/// member.
std::unique_ptr<Model> read_gaussian_mixture(const Document &document);

/// Checks every option before any row is read. Throws as gmm_fit does. `start` and `update` as for
/// gmm_fit.
BAYES_API RowOptions gmm_check_options(int k, const Document &options,
                                       const GaussianMixture *start = nullptr, bool update = false);

/// Fits a Gaussian mixture with k components to the rows.
///
/// `start`, if given, is the point where the first run begins (by default the only one). Then k is
/// its size, components keep its order, and the fit inherits options from it (FitOptions::inherit);
/// with `update` its posterior is also the prior. Throws Error: invalid_argument for options, k <
/// 1, or k above the number of distinct rows; numeric where no fit exists.
BAYES_API std::unique_ptr<GaussianMixture> gmm_fit(RowSource &rows, int k, const Document &options,
                                                   const GaussianMixture *start, bool update,
                                                   Control &control);

/// Passes a fit for every k and every covariance of options.covariance (here a name or an array of
/// names) to `emit`, or its failure to `failed`: the rows of gmm_select.
BAYES_API void gmm_select(RowSource &rows, std::span<const int> ks, const Document &options,
                          Control &control,
                          const std::function<void(std::unique_ptr<GaussianMixture>)> &emit,
                          const std::function<void(int k, const Error &)> &failed);
BAYES_API RowOptions gmm_check_select_options(std::span<const int> ks, const Document &options);

}  // namespace bayes
