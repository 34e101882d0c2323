#include "mcmc/run_chains.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "mcmc/stored_draws.hpp"

namespace bayes {
namespace {

bool chains_agree(const Draws &draws, Control &control) {
  constexpr double largest_rhat = 1.1;
  for (std::size_t q = 0; q < draws.quantities.size(); ++q) {
    const ChainSeries series(draws, q);
    if (const auto r = rhat(series.chains(), control); r && !(*r < largest_rhat)) return false;
  }
  return true;
}

}  // namespace

double without_rounding_errors(double x) {
  int exponent;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 34)), exponent - 34);
}

ChainRun run_chains(const ChainSettings &settings, Control &control,
                    const std::function<std::unique_ptr<ChainSampler>(int chain)> &make) {
  const ChainPlan &plan = settings.plan;
  ChainRun out;
  out.quantities.quantities = {"log_joint"};
  out.quantities.quantities.insert(out.quantities.quantities.end(), settings.quantities.begin(),
                                   settings.quantities.end());
  out.quantities.chains = plan.chains;
  out.quantities.draws = plan.stored();
  out.best = -std::numeric_limits<double>::infinity();
  const std::int64_t all = plan.all_stored(),
                     stored = std::max<std::int64_t>(1, std::min(settings.max_stored_draws, all)),
                     kept = std::clamp(settings.max_kept_draws, stored, all);
  std::int64_t index = 0, next = 0;  // of draws after warmup and thinning; of those kept
  EvenlySpaced keeps(all, kept), stores(kept, stored);
  const auto begin = std::chrono::steady_clock::now();
  for (int chain = 0; chain < plan.chains; ++chain) {
    const std::unique_ptr<ChainSampler> sampler = make(chain);
    double before = std::numeric_limits<double>::quiet_NaN();
    for (int sweep = 0; sweep < plan.draws; ++sweep) {
      control.poll();
      const double log_joint = without_rounding_errors(sampler->sweep(sweep, control));
      if (!std::isfinite(log_joint))
        throw Error(Errc::numeric,
                    std::string("the density of a draw of method ") + settings.method +
                        " overflowed in sweep " + std::to_string(sweep + 1),
                    "Values are too large for double precision.",
                    std::string("Rescale the ") + settings.data + ".");
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      const double done = double(chain) * plan.draws + sweep + 1;
      control.progress({settings.method, chain + 1, plan.chains, sweep + 1, plan.draws, log_joint,
                        log_joint - before, seconds,
                        seconds / done * (double(plan.chains) * plan.draws - done)});
      before = log_joint;
      if (sweep < plan.warmup || (sweep - plan.warmup + 1) % plan.thin != 0) continue;
      out.quantities.values.push_back(log_joint);
      sampler->record(out.quantities.values);
      out.best = std::max(out.best, log_joint);
      if (!keeps.takes(index++)) continue;
      sampler->keep(log_joint);
      if (stores.takes(next++)) sampler->store(log_joint);
    }
  }
  out.agree = chains_agree(out.quantities, control);
  return out;
}

}  // namespace bayes
