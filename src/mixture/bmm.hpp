// Bernoulli mixtures, that is latent class analysis (001), and mixtures of products of columns:
// fitting, and the accessors of a fitted model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "base/error.hpp"
#include "data/rows.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "mcmc/stored_draws.hpp"
#include "questions/row_mixture.hpp"

namespace bayes {

struct ColumnSpec;

inline constexpr Method bmm_methods[] = {Method::em,    Method::map,       Method::vi,  Method::svi,
                                         Method::gibbs, Method::collapsed, Method::mcem};
/// the largest number of elements of a row
inline constexpr int bmm_max_dimension = 1600;
inline constexpr int bmm_max_components = 10000;

/// One component at the model's point estimate (for vi and svi: posterior means).
struct BmmComponent {
  /// in [0, 1]; they sum to 1
  double weight;
  /// expected number of rows (sum of responsibilities times weights)
  double count;
  /// d: the expected value of every element, for bernoulli the probability of 1; NaN for a
  /// categorical element
  std::vector<double> mean;
};

/// q of one component: weights ~ Dirichlet(alpha), and for every Bernoulli element Beta(a, b); NaN
/// for other elements.
struct BmmPosterior {
  double alpha;
  /// d
  std::vector<double> a, b;
};

struct ComponentDensities;
class UnseenCategories;

class BAYES_API BernoulliMixture final : public RowMixture {
 public:
  BernoulliMixture();
  ~BernoulliMixture() override;

  int dimension() const { return info.dimension; }
  int size() const { return info.components; }

  /// the likelihood of every element
  std::vector<ColumnSpec> likelihood() const;
  /// from 0
  BmmComponent component(int index) const;
  std::int64_t stored_draws() const override;
  /// fitted by vi or svi
  bool has_posterior() const;
  /// from 0; throws Error(invalid_argument) without posterior
  BmmPosterior posterior(int index) const;
  /// the categories of a categorical element, in ascending order; empty for other elements
  std::vector<double> categories(int element) const override;
  /// The weight and the parameters of every element of every component, with intervals of this
  /// level: as for GaussianMixture, with standard deviations by linear response if the model has
  /// them.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  ParameterDraws draw_parameters(std::uint64_t seed) const override;

  /// Mean (d) and covariance (d x d) of a row drawn from the mixture (001), as by sample(); NaN for
  /// a categorical element, infinite if it does not exist.
  void moments(std::vector<double> &mean, std::vector<double> &covariance) const;

  double free_parameters() const override;
  double observations() const override;
  double relative_entropy() const override;
  /// bic + 2 x entropy of the responsibilities
  double icl() const;

  std::unique_ptr<RowDistribution> row_distribution() const override;
  ComponentOverlaps overlaps(const Model &other) const override;

  /// The model without its draws, as the start of a fit to rows with these columns, whose labels
  /// include those of info.columns: categories are renumbered to the codes that the labels have in
  /// `columns`.
  std::unique_ptr<BernoulliMixture> with_labels_of(const RowColumns &columns) const;

  struct State;  // parameters, posterior and columns as the learners use them
  std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;
  std::span<const double> checked(std::span<const double> x) const override;

 private:
  /// at the point estimate (fit/component_overlap.hpp)
  ComponentDensities densities() const;
  template <class F> void for_each_predictive_component(F f) const;
};

/// Reads the document form; for models/registry.cpp. Throws Error(invalid_text) naming the invalid
/// member.
std::unique_ptr<Model> read_bernoulli_mixture(const Document &document);

/// Checks every option that can be checked before any row is read. Throws as bmm_fit does. `start`
/// and `update` as for bmm_fit.
BAYES_API RowOptions bmm_check_options(int k, const Document &options,
                                       const BernoulliMixture *start = nullptr,
                                       bool update = false);

/// Fits a mixture of k products of columns to the rows; a NaN in a row is a missing element.
///
/// `start`, if given, is the point where the first run begins (by default the only one). Then k is
/// its size, components keep its order, and the fit inherits options from it (FitOptions::inherit);
/// categories that only occur in the new rows are added. With `update` its posterior is also the
/// prior. Throws Error: invalid_argument for options, for a value that its likelihood does not
/// allow (naming row and element), k < 1, or k above the number of distinct rows; too_large for
/// more parameters than memory allows; numeric where no fit exists.
BAYES_API std::unique_ptr<BernoulliMixture> bmm_fit(RowSource &rows, int k, const Document &options,
                                                    const BernoulliMixture *start, bool update,
                                                    Control &control);

/// Passes a fit for every k to `emit`, or its failure to `failed`: the rows of bmm_select.
BAYES_API void bmm_select(RowSource &rows, std::span<const int> ks, const Document &options,
                          Control &control,
                          const std::function<void(std::unique_ptr<BernoulliMixture>)> &emit,
                          const std::function<void(int k, const Error &)> &failed);
BAYES_API RowOptions bmm_check_select_options(std::span<const int> ks, const Document &options);

}  // namespace bayes
