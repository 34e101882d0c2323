// Learners of non-negative factorizations: variational inference under gamma priors (002 L12;
// Cemgil 2009), also from minibatches (002 L8; Hoffman and others 2013), maximum likelihood of
// Poisson counts by EM, whose steps are those of Lee and Seung (2001) for the divergence, and least
// squares by coordinates (Cichocki and Phan 2009).
#pragma once

#include <string>
#include <vector>

#include "counts/allocation.hpp"
#include "counts/padded_table.hpp"
#include "counts/remote_corpus.hpp"
#include "factor/factor_table.hpp"
#include "factor/nmf.hpp"
#include "fit/fit_options.hpp"
#include "fit/schedule.hpp"

namespace bayes {

// The options of non-negative factorizations.

/// Iterations after which the best of several restarts is chosen; it is usually among the best in
/// the end.
inline constexpr int nmf_short_iterations = 100;

/// A gamma prior of the weights of one side; absent parameters are chosen from the data.
struct WeightPrior {
  std::optional<double> shape, rate;
  bool learn_shape = false, learn_rate = false;

  bool learns() const { return learn_shape || learn_rate; }
};

/// The shape of the gamma priors, unless it is given: most weights of a document are near 0.
inline constexpr double nmf_default_shape = 0.3;

struct NmfOptions : FitOptions {
  int k = 1;
  /// "nndsvd", "random"
  std::string init = "nndsvd";
  /// absent cells are missing values, not zeros
  bool missing_cells = false;
  /// priors of rows and of columns (vi, svi)
  WeightPrior row, column;
  bool hierarchical = false;
  /// shape of the gamma distribution of each key's rate in a hierarchical prior
  double scale_shape = 3;

  bool gamma() const { return is_variational(method); }
  bool squared() const { return method == Method::squared; }
  /// Chooses the number of restarts, unless given, for a table with this number of cells.
  void settle(double cells);
  /// Each key has its own rates.
  bool own_rates() const { return missing_cells || (gamma() && hierarchical); }
  Document document() const;
};

/// Throws Error(invalid_argument) for invalid options.
NmfOptions read_nmf_options(int k, const Document &options, const NmfModel *start);

// Gamma priors of the weights of one side of a factorization.

/// Weights are Gamma(shape, rate), or, in a hierarchical prior (Gopalan, Hofman and Blei 2015),
/// Gamma(shape, a rate of each key), these rates being Gamma(scale_shape, scale_shape / rate).
struct WeightGamma {
  double shape = 0, rate = 0;
  /// 0: not hierarchical
  double scale_shape = 0;

  bool hierarchical() const { return scale_shape > 0; }
};

/// q of the rate of one key under a hierarchical prior: Gamma(shape, rate).
struct ScalePosterior {
  double shape, rate;
  double mean() const { return shape / rate; }

  /// Given the sum of the expected weights of K factors.
  ScalePosterior(const WeightGamma &prior, int factors, double weights)
      : shape(prior.scale_shape + factors * prior.shape),
        rate(prior.scale_shape / prior.rate + weights) {}
  /// With the mean of the prior, before the weights are known.
  ScalePosterior(const WeightGamma &prior, int factors)
      : shape(prior.scale_shape + factors * prior.shape),
        rate(shape / prior.rate) {}

  /// K shape E log rate - KL(q || p): its contribution to a bound, without the terms that are
  /// linear in the rate.
  double bound(const WeightGamma &prior, int factors) const;
};

/// Limits of learned shapes.
inline constexpr double min_learned_shape = 0.002, max_learned_shape = 1e6;

/// The shape that maximises the density of gamma variables, given the mean of their expected values
/// and of their expected logarithms; the rate is then shape / mean.
double learn_gamma_shape(double mean, double mean_log);
/// The same for a given rate.
double learn_gamma_shape_of_rate(double rate, double mean_log);

/// The current state of a run. Documents have weights w, terms weights v (factor_table.hpp). The
/// allocated counts of a document or term are the sums over its cells of the numbers allocated to
/// each factor (nmf_statistics.hpp).
///
/// Rates are common to all keys of a side, unless cells may be missing or the prior is
/// hierarchical; then each key has its own.
struct FactorState {
  /// terms x K. vi and svi: the allocated counts m, so that q(v) = Gamma(shape + m, rate). Other
  /// methods: the point estimates v
  PaddedMatrix terms;
  /// documents x K, padded. vi, svi and em: the allocated counts n, so that q(w) = Gamma(shape + n,
  /// rate), or w = n / rate; with own rates each row is followed by a row of 1 / rate. squared: the
  /// point estimates w. Empty if they are to be computed in the first pass.
  DocumentNumbers documents;
  /// K common rates for each side
  std::vector<double> document_rates, term_rates;
  /// own rates of the terms, terms x K, and the rate parameters of the q of their scales
  PaddedMatrix own_term_rates;
  std::vector<double> term_scales;
  /// of vi and svi
  WeightGamma document_prior, term_prior;
};

/// All but the weights of documents.
void exchange(StateNumbers &numbers, FactorState &state);

struct FactorRun : RunTrace {
  FactorState state;
};

/// Inputs of a run (not owned; must outlive it).
struct FactorTask {
  const FactorTable &table;
  const NmfOptions &options;
  /// with vi and svi: which parameters of the priors are learned
  bool learn_document_shape = false, learn_document_rate = false;
  bool learn_term_shape = false, learn_term_rate = false;
};

/// Memory of a run, in doubles: its state and workspace of the threads.
double factor_run_doubles(const FactorTable &table, const NmfOptions &options,
                          const Control &control);

/// Runs the method, beginning at `state`. The objective is the log-likelihood (em), the ELBO (vi,
/// svi), or minus the sum of squares (squared), with all constants.
FactorRun run_factors(const FactorTask &task, FactorState state, const Schedule &schedule,
                      Control &control);

/// Method squared (nmf_squared.cpp).
FactorRun run_squared(const FactorTask &task, FactorState state, const Schedule &schedule,
                      Control &control);

/// Method svi (nmf_stochastic.cpp).
FactorRun run_stochastic(const FactorTask &task, FactorState state, const Schedule &schedule,
                         Control &control);

/// The weights w >= 0 of a document that minimise |x - V w|^2. The cells of x refer to rows of
/// `points`; V'V is computed from `all_points`, the weights of all terms.
std::vector<double> least_squares(const DocumentTerms &cells, const PaddedMatrix &points,
                                  const PaddedMatrix &all_points);

/// The error of the table's cells, or of those that are not missing, for point estimates of the
/// weights. `document_points` are padded.
NmfError error_of(Corpus &documents, bool missing, const PaddedMatrix &terms,
                  const Buffer &document_points, Control &control);

/// The numbers of all documents on other servers, in the order of the parts, and the error, for
/// expected weights (shape + counts) / rates of documents: `inverse_rates`, K numbers, or those of
/// each if `own`. Throws Error if a session has lost the numbers since the last pass.
NmfError numbers_from_elsewhere(Corpus &documents, FactorState &state, const NmfOptions &options,
                                const PaddedMatrix &terms, const Buffer &inverse_rates,
                                Control &control);

/// The passes of run_factors(), of numbers_from_elsewhere(), and of nmf_held_out().
extern const PassOver<PartOfDocuments> factor_pass, factor_numbers_pass, held_out_rows_pass;

}  // namespace bayes
