#include "mcmc/stored_draws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/message.hpp"

namespace bayes {
namespace {

constexpr std::int64_t usual = 500;
constexpr double max_usual = 2e6, max_beyond = 5e5;  // numbers

std::int64_t wanted(const ChainPlan &plan) {
  return plan.stored_draws > 0 ? plan.stored_draws : std::max(usual, plan.all_stored() / 4);
}

double largest_size(const Draws &quantities, Control &control) {
  double out = 0;
  for (std::size_t q = 0; q < quantities.quantities.size(); ++q) {
    const ChainSeries series(quantities, q);
    out = std::max(out, ess_bulk(series.chains(), control).value_or(0));
  }
  return out;
}

}  // namespace

std::int64_t equal_draws(const ChainPlan &plan, double most) {
  const std::int64_t count =
      std::int64_t(std::clamp(std::floor(most), 1.0, double(plan.all_stored())));
  return count < plan.chains ? count : count - count % plan.chains;
}

std::int64_t held_for_extension(double numbers_of_draw, std::int64_t held) {
  return std::min(held, std::int64_t(max_usual / std::max(1.0, numbers_of_draw)));
}

std::int64_t collected_draws(const ChainPlan &plan, std::int64_t held) {
  return equal_draws(plan, double(std::min(wanted(plan), held)));
}

std::vector<int> draws_to_store(const ChainRun &chains, std::int64_t collected, double numbers,
                                Control &control) {
  const ChainPlan &plan = chains.made;
  const double most = double(std::min(wanted(plan), collected));
  const auto within = [&](double limit) {
    return std::min(most, double(collected) * std::min(1.0, limit / numbers));
  };
  double count = within(max_stored_numbers);
  if (plan.stored_draws == 0) {
    const double beyond = within(max_beyond);
    count = std::min(double(usual), within(max_usual));
    if (beyond > count && !chains.cut)
      count = std::max(count,
                       std::min(beyond, std::ceil(2 * largest_size(chains.quantities, control))));
  }
  const std::int64_t stored = equal_draws(plan, count);
  const EvenlySpaced spaced(collected, stored);
  std::vector<int> out;
  for (std::int64_t index = 0; index < collected; ++index)
    if (spaced.takes(index)) out.push_back(int(index));
  return out;
}

ChainSeries::ChainSeries(std::vector<double> values, int chains) : values_(std::move(values)) {
  divide(chains);
}

ChainSeries::ChainSeries(const Draws &draws, std::size_t quantity) {
  const std::size_t width = draws.quantities.size();
  values_.reserve(draws.values.size() / width);
  for (std::size_t at = quantity; at < draws.values.size(); at += width)
    values_.push_back(draws.values[at]);
  divide(draws.chains);
}

void ChainSeries::divide(int chains) {
  const std::size_t length = values_.size() / std::size_t(chains);
  for (std::size_t c = 0; c < std::size_t(chains); ++c)
    chains_.push_back({std::int64_t(c) + 1, std::span(values_).subspan(c * length, length)});
}

double mcse_of(std::vector<double> values, int chains, Control &control) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (chains < 1 || values.size() % std::size_t(chains) != 0) return none;
  const ChainSeries series(std::move(values), chains);
  return mcse_mean(series.chains(), control).value_or(none);
}

void require_posterior_draws(const Model &model, bool stored) {
  if (model.draws.quantities.empty() || (stored && model.stored_draws() == 0))
    throw Error(
        Errc::invalid_argument, "model has no posterior draws",
        message("It is of family {}, fitted by method {}.", model.info.family, model.info.method),
        "Only methods that sample store draws: fit it by one of them.");
}

PredictiveErrors predictive_errors(std::span<const double> masses, std::size_t outcomes, int chains,
                                   Control &control) {
  const std::size_t draws = masses.size() / outcomes;
  std::vector<double> density(draws, 0.0), share(outcomes, 0.0);
  double mean = 0;
  for (std::size_t s = 0; s < draws; ++s)
    for (std::size_t c = 0; c < outcomes; ++c) {
      const double mass = masses[s * outcomes + c] / double(draws);
      density[s] += masses[s * outcomes + c];
      share[c] += mass;
      mean += mass;
    }
  PredictiveErrors out{mcse_of(density, chains, control) / mean, {}};
  for (std::size_t c = 0; c < outcomes; ++c) {
    std::vector<double> part(draws);
    for (std::size_t s = 0; s < draws; ++s)
      part[s] = (masses[s * outcomes + c] - share[c] / mean * density[s]) / mean;
    out.probabilities.push_back(mcse_of(std::move(part), chains, control));
  }
  return out;
}

DrawBlocks::DrawBlocks(std::int64_t draws, int chain_count) : chains(std::max(chain_count, 1)) {
  // The diagnostics need a dozen of each chain.
  constexpr std::int64_t max_blocks = 128, min_blocks_of_chain = 24, longest = 65535;
  if (draws % chains != 0) return;
  draws_of_chain_ = draws / chains;
  const std::int64_t most = std::max(min_blocks_of_chain, max_blocks / chains);
  length = int(std::min(longest, (draws_of_chain_ + most - 1) / most));
  if (length > 0) of_chain = int(draws_of_chain_ / length);
}

}  // namespace bayes
