// The options of probabilistic matrix factorizations, and the internal state of a fitted one, for
// the files of this model only.
//
// Vectors, means and variances are in standard units: a number x of the table is (x - center) /
// scale.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "factor/factor_table.hpp"
#include "factor/pmf.hpp"
#include "factor/pmf_chain.hpp"
#include "fit/fit_options.hpp"
#include "mcmc/stored_draws.hpp"

namespace bayes {

// The options of probabilistic matrix factorization.

/// Of FitOptions those of samplers.
struct PmfOptions : FitOptions {
  PmfOptions() {
    method = Method::gibbs;
    chains.chains = 4;
    chains.draws = 200;
    restarts = 1;
  }

  int rank = 1;
  /// treatment of cells that occur more than once: error, average or last
  std::string repeated = "error";
  bool means = true;
  /// the model stores which cells had numbers
  bool rated = true;
  /// prior.noise_variance and prior.c: values, or gamma priors of the precisions; in the units of
  /// the numbers
  std::optional<double> noise_variance, c;
  std::optional<PrecisionPrior> noise_prior, c_prior;
  bool hierarchical = false;

  Document document() const;
};

/// Reads and checks; a start model hands on its rank, means, rated, repeated and, unless another is
/// given, the prior. Throws Error(invalid_argument).
PmfOptions read_pmf_options(int rank, const Document &options, const PmfModel *start = nullptr);

/// The stored draws of one side, one draw after another.
struct PmfSideDraws {
  Keys keys;
  /// draws x keys x rank
  std::vector<double> vectors;
  /// draws x keys; empty if the model has no means
  std::vector<double> means;
  /// with the hierarchical prior, the distribution of the vectors: draws x rank, draws x rank x
  /// rank
  std::vector<double> center, covariance;
  /// mean and variance of the distribution of the means, for every draw
  std::vector<double> level, spread;
};

struct PmfModel::State {
  /// rows, columns
  std::array<PmfSideDraws, 2> sides;
  /// noise variance of every draw; c of every draw, unless the prior is hierarchical
  std::vector<double> noise, c;
  double center = 0, scale = 1;
  /// Whether the cells that had numbers are stored: the columns of row i are rated[begin[i]] to
  /// rated[begin[i + 1] - 1], ascending.
  bool knows_rated = false;
  std::vector<std::int64_t> begin;
  std::vector<std::int32_t> rated;

  PmfSideDraws &of(Side side) { return sides[side == Side::row ? 0 : 1]; }
  const PmfSideDraws &of(Side side) const { return sides[side == Side::row ? 0 : 1]; }
  bool hierarchical() const { return c.empty(); }
  bool has_means() const { return !sides[0].level.empty(); }
  /// Leaves the draws with these indices, ascending.
  void retain_draws(std::span<const int> draws) {
    const std::size_t all = noise.size();
    const auto leave = [&](std::vector<double> &numbers) {
      retain(numbers, draws, numbers.size() / all);
    };
    for (PmfSideDraws &side : sides)
      for (auto *const numbers :
           {&side.vectors, &side.means, &side.center, &side.covariance, &side.level, &side.spread})
        leave(*numbers);
    leave(c);
    leave(noise);
  }
  /// Writes the last draws, so many of them, of this many numbers in each of the lists; or reads
  /// and appends them.
  void exchange(StateNumbers &numbers, std::size_t draws, std::span<const std::size_t> each) {
    auto size = each.begin();
    const auto list = [&](std::vector<double> &numbers_of_draws) {
      const std::size_t count = draws * *size++;
      numbers.require(count);
      if (numbers.reads()) numbers_of_draws.resize(numbers_of_draws.size() + count);
      numbers.numbers(std::span(numbers_of_draws).last(count));
    };
    for (PmfSideDraws &side : sides)
      for (auto *const of_side :
           {&side.vectors, &side.means, &side.center, &side.covariance, &side.level, &side.spread})
        list(*of_side);
    list(c);
    list(noise);
  }
  std::span<const std::int32_t> rated_of(std::int32_t row) const {
    const std::size_t i = std::size_t(row);
    return {rated.data() + begin[i], rated.data() + begin[i + 1]};
  }
};

// Where the chains of a probabilistic matrix factorization begin that starts from a model.

/// The table of a fit: its units, and its second side, the terms.
struct PmfPlace {
  double center = 0, scale = 1;
  Side second = Side::column;
  const Keys &keys;
};

/// The state in which chain number `chain` of `chains` begins: a stored draw of the start model in
/// the units of the fit, another one for each chain. Keys that the model does not know are drawn
/// from the distribution of their side in that draw.
PmfState pmf_state_of_model(const PmfModel &start, int chain, int chains, const PmfTask &task,
                            const PmfPlace &place);

}  // namespace bayes
