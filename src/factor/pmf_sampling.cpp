#include "factor/pmf_sampling.hpp"

#include <algorithm>
#include <cmath>

#include "mcmc/stored_draws.hpp"

namespace bayes {
namespace {

class SampledPmf final : public ChainSampler {
 public:
  SampledPmf(const PmfTask &task, int number, double scale, Side of_lines, PmfModel::State &state)
      : chain_(task, number),
        hierarchical_(task.prior.hierarchical),
        scale_(scale),
        of_lines_(of_lines),
        state_(state),
        log_jacobian_(-double(task.lines.totals().entries) * std::log(scale)) {}

  double sweep(int index, Control &control) override {
    chain_.sweep(index, control);
    return chain_.log_joint() + log_jacobian_;
  }

  void record(std::vector<double> &values) const override {
    values.push_back(scale_ * std::sqrt(chain_.parameters().noise));
    values.push_back(scale_ * without_rounding_errors(chain_.root_mean_square()));
    values.push_back(scale_ * without_rounding_errors(chain_.norm()));
    if (!hierarchical_) values.push_back(scale_ * chain_.parameters().c);
  }

  void store(double) override {
    const PmfParameters &drawn = chain_.parameters();
    state_.noise.push_back(drawn.noise);
    if (!hierarchical_) state_.c.push_back(drawn.c);
    for (std::size_t side = 0; side < 2; ++side)
      store_side(chain_.side(side), drawn.sides[side], drawn.covariances[side],
                 state_.of(side == pmf_lines ? of_lines_ : other(of_lines_)));
  }

 private:
  void store_side(const PmfSide &from, const PmfSidePrior &prior, const PmfCovariance &covariance,
                  PmfSideDraws &to) const {
    WorkPoll poll;
    for (std::int32_t i = 0; i < from.vectors.terms(); ++i) {
      const double *const u = from.vectors.of(i);
      to.vectors.insert(to.vectors.end(), u, u + from.vectors.topics());
      poll(std::size_t(from.vectors.topics()));
    }
    to.means.insert(to.means.end(), from.means.begin(), from.means.end());
    if (!from.means.empty()) {
      to.level.push_back(prior.level);
      to.spread.push_back(prior.spread);
    }
    const auto append = [](const std::vector<double> &values, std::vector<double> &all) {
      all.insert(all.end(), values.begin(), values.end());
    };
    if (!hierarchical_) return;
    append(prior.center, to.center);
    append(covariance.values, to.covariance);
  }

  PmfChain chain_;
  const bool hierarchical_;
  const double scale_;
  const Side of_lines_;
  PmfModel::State &state_;
  const double log_jacobian_;
};

}  // namespace

double pmf_numbers_of_draw(double keys, int rank, bool means, bool hierarchical) {
  return keys * (rank + (means ? 1 : 0)) + (hierarchical ? 2.0 * rank * (rank + 1) : 0) + 6;
}

std::int64_t pmf_stored_draws(const ChainPlan &plan, double numbers, const Control &control) {
  const double most = std::min(control.memory / 4 / 8, most_stored_numbers) / numbers,
               usual = std::clamp(8e6 / numbers, 10.0, 500.0);
  return equal_draws(plan, std::min(most, plan.stored_draws > 0 ? plan.stored_draws : usual));
}

void sample_pmf(const PmfTask &task, const ChainPlan &plan, double scale, Side of_lines,
                PmfModel::State &state, FitRun &run, Control &control) {
  const double keys =
      double(task.lines.totals().documents) + double(task.transposed.totals().documents);
  const double numbers =
      pmf_numbers_of_draw(keys, task.rank, task.prior.means, task.prior.hierarchical);
  ChainSettings settings{"gibbs",
                         plan,
                         {"noise_sd", "rmse", "norm"},
                         pmf_stored_draws(plan, numbers, control),
                         "numbers"};
  if (!task.prior.hierarchical) settings.quantities.push_back("c");
  ChainRun chains = run_chains(settings, control, [&](int chain) {
    return std::make_unique<SampledPmf>(task, chain, scale, of_lines, state);
  });
  run.take(std::move(chains), plan);
}

}  // namespace bayes
