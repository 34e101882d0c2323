// Choice of the draws that a model stores completely, as predictions need them; and series of draws
// by chain, for the diagnostics.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/api.hpp"
#include "document/model.hpp"
#include "mcmc/diagnostics.hpp"
#include "mcmc/run_chains.hpp"

namespace bayes {

/// Selects `count` of `all` items, each in the middle of one of `count` equal parts.
class EvenlySpaced {
 public:
  EvenlySpaced(std::int64_t all, std::int64_t count) : all_(all), count_(count) {}
  /// Whether an item, from 0, is selected.
  bool takes(std::int64_t index) const { return before(index + 1) > before(index); }
  /// The number of items before this one that are selected: item (2 i + 1) all / (2 count), rounded
  /// down, is number i of them.
  std::int64_t before(std::int64_t index) const {
    const std::int64_t twice = 2 * count_ * index - all_;
    return twice <= 0 ? 0 : std::min(count_, (twice - 1) / (2 * all_) + 1);
  }
  std::int64_t count() const { return count_; }

 private:
  std::int64_t all_, count_;
};

/// Leaves of a sequence of items, of `width` numbers each, those with these indices (ascending).
template <class T>
void retain(std::vector<T> &items, std::span<const int> indices, std::size_t width = 1) {
  auto to = items.begin();
  for (const int index : indices) {
    const auto from = items.begin() + std::ptrdiff_t(std::size_t(index) * width);
    if (to != from) std::move(from, from + std::ptrdiff_t(width), to);
    to += std::ptrdiff_t(width);
  }
  items.erase(to, items.end());
}

/// The largest number of draws, at most this many and at least one, that takes equally many from
/// each chain if it takes one from each.
BAYES_API std::int64_t equal_draws(const ChainPlan &plan, double most);

/// Maximal size of the stored draws, in numbers: in text form a number takes about 20 bytes, and
/// the text of a model at most 1 GB.
inline constexpr double max_stored_numbers = 4e7;

/// ChainSettings::max_held_draws, for draws of so many numbers, at most `held`, which memory
/// allows.
BAYES_API std::int64_t held_for_extension(double numbers_of_draw, std::int64_t held);

/// Number of complete draws to hold while the chains run, at most `held`, which memory allows:
/// option stored_draws; by default 500, or a quarter of all draws if that is more.
BAYES_API std::int64_t collected_draws(const ChainPlan &plan, std::int64_t held);

/// Indices of the draws collected by these chains that a model stores, evenly spaced over the
/// chains. `numbers`: size of all collected draws.
///
/// Their number is option stored_draws, within 40 million numbers (320 MB). The default is 500,
/// within 2 million numbers (16 MB); or more, up to a quarter of the draws, within half a million
/// numbers (4 MB) and twice the largest bulk effective sample size of the quantities: for an
/// autocorrelated chain, the variance of the mean of so many draws is about a tenth above that of
/// all draws. Of chains that were cut short the default is 500, as effective sample sizes take
/// time.
BAYES_API std::vector<int> draws_to_store(const ChainRun &chains, std::int64_t collected,
                                          double numbers, Control &control);

/// A view of draws, stored chain after chain with equal lengths, as series.
class BAYES_API ChainSeries {
 public:
  ChainSeries(std::vector<double> values, int chains);
  /// The series of one of the quantities.
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

/// `masses`, [draw][outcome], draws chain after chain: the joint density of a row and each outcome
/// in every draw, in any unit. The row's density and the probabilities of outcomes are functions of
/// their means; the errors are computed by the delta method, from the contribution of each draw.
BAYES_API PredictiveErrors predictive_errors(std::span<const double> masses, std::size_t outcomes,
                                             int chains, Control &control);

/// Blocks of consecutive draws of one chain, all of the same length: at most 128 in total, or 24
/// for each chain if that is more. Their means are a short series with the same mean, whose Monte
/// Carlo standard error is computed quickly. The last draws of a chain may belong to no block.
struct BAYES_API DrawBlocks {
  /// 0 if the chains have different numbers of draws, or none has any
  int length = 0;
  int of_chain = 0;
  int chains = 0;
  DrawBlocks(std::int64_t draws, int chains);
  int size() const { return of_chain * chains; }
  /// index of the first draw of a block, among all draws
  std::int64_t first(int block) const {
    return block / of_chain * draws_of_chain_ + std::int64_t(block % of_chain) * length;
  }

 private:
  std::int64_t draws_of_chain_ = 0;
};

}  // namespace bayes
