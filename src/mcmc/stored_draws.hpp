// Which of the draws that count a model stores whole, with everything that predictions need of
// them; and series of draws by chain, for the diagnostics.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/api.hpp"
#include "document/model.hpp"
#include "mcmc/chain_plan.hpp"
#include "mcmc/diagnostics.hpp"

namespace bayes {

/// Picks `count` of `all`, each in the middle of one of as many equal parts.
class EvenlySpaced {
 public:
  EvenlySpaced(std::int64_t all, std::int64_t count) : all_(all), count_(count) {}
  /// Asked of 0, 1, ... in turn.
  bool takes(std::int64_t index) {
    if (next_ >= count_ || index != (2 * next_ + 1) * all_ / (2 * count_)) return false;
    ++next_;
    return true;
  }

 private:
  std::int64_t all_, count_, next_ = 0;
};

/// At most this many of the plan's draws, as many of every chain if there is one of each; at least
/// one.
BAYES_API std::int64_t equal_draws(const ChainPlan &plan, double most);

/// A model has at most so many numbers of draws, that its text stays within 1 GB: one takes some 20
/// bytes.
inline constexpr double most_stored_numbers = 4e7;

/// How many draws to hold whole while the chains run, of `held` that memory allows: as many as
/// option stored_draws says; by default 500, or a quarter of all if that is more.
BAYES_API std::int64_t collected_draws(const ChainPlan &plan, std::int64_t held);

/// Which of the collected draws, evenly spaced over the chains, a model stores; `numbers` are what
/// all of them would put into it.
///
/// As many as option stored_draws says, within 40 million numbers (320 MB). By default 500, within
/// 2 million numbers (16 MB); more than that, up to a quarter of the draws, only within half a
/// million numbers (4 MB), and not more than twice the largest bulk effective sample size of the
/// quantities: of an autocorrelated chain so many draws have a mean whose variance is about a tenth
/// above that of all.
BAYES_API std::vector<int> draws_to_store(const ChainPlan &plan, const Draws &quantities,
                                          std::int64_t collected, double numbers, Control &control);

/// Draws chain after chain, as many of each, seen as chains.
class BAYES_API ChainSeries {
 public:
  ChainSeries(std::vector<double> values, int chains);
  /// Of one of the quantities.
  ChainSeries(const Draws &draws, std::size_t quantity);
  std::span<const Chain> chains() const { return chains_; }

 private:
  void divide(int chains);
  std::vector<double> values_;
  std::vector<Chain> chains_;
};

/// The Monte Carlo standard error of the mean of draws, chain after chain; NaN where mcse_mean is
/// undefined, and if chains have different numbers of draws.
BAYES_API double mcse_of(std::vector<double> values, int chains, Control &control);

/// Throws Error(invalid_argument) for a model without draws, or without `stored` ones.
BAYES_API void require_posterior_draws(const Model &model, bool stored = false);

/// Monte Carlo standard errors of what predictions average over draws; NaN where undefined.
struct PredictiveErrors {
  double log_density;
  std::vector<double> probabilities;
};

/// `masses`, [draw][outcome], draws chain after chain: the joint density of a row and each outcome
/// in every draw, in any unit. Their means make the row's density and the outcomes' probabilities,
/// whose errors to first order are those of the mean of each draw's part in them.
BAYES_API PredictiveErrors predictive_errors(std::span<const double> masses, std::size_t outcomes,
                                             int chains, Control &control);

/// Runs of consecutive draws of one chain, all of one length, at most 128 in all, or 24 of each
/// chain if that is more: the means over them are a short series with the same mean, of which the
/// Monte Carlo standard error is found quickly. A chain's last draws may be in none.
struct BAYES_API DrawBlocks {
  /// 0 if the chains have different numbers of draws, or none has any
  int length = 0;
  int of_chain = 0;
  int chains = 0;
  DrawBlocks(std::int64_t draws, int chains);
  int size() const { return of_chain * chains; }
  /// of all draws, the first of a block
  std::int64_t first(int block) const {
    return block / of_chain * draws_of_chain_ + std::int64_t(block % of_chain) * length;
  }

 private:
  std::int64_t draws_of_chain_ = 0;
};

}  // namespace bayes
