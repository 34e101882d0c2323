#include "families/parameter.hpp"

#include <cmath>
#include <utility>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"

namespace bayes {
namespace {

/// The interval between the quantiles that leave out as much on both sides.
template <class Quantile> void set_interval(Parameter &parameter, double level, Quantile quantile) {
  parameter.lower = quantile((1 - level) / 2);
  parameter.upper = quantile((1 + level) / 2);
}

/// The mean of a root, or else its median.
template <class Posterior> void set_root(Parameter &parameter, const Posterior &posterior) {
  if (!parameter.root) return;
  const double mean = posterior.mean();
  parameter.value = std::isnan(mean) ? posterior.quantile(0.5) : mean;
}

}  // namespace

void require_level(double level) {
  if (!(level > 0 && level < 1))
    throw Error(Errc::invalid_argument, message("level is {}, but must be between 0 and 1", level),
                "It is the probability that an interval holds.", "Take 0.95 or 0.9.");
}

ParameterTable::ParameterTable(std::optional<double> level, const TakeParameter &take,
                               const char *under)
    : level_(level),
      take_(take),
      under_(under) {
  if (level) require_level(*level);
}

void ParameterTable::under(Parameter parameter, Marginal q, double corrected) const {
  poll_here();
  if (corrected > 0) q = q.with_deviation(corrected);
  set_root(parameter, q);
  parameter.deviation = q.deviation();
  parameter.known_by = under_;
  if (level_) set_interval(parameter, *level_, [&q](double p) { return q.quantile(p); });
  take_(parameter);
}

void ParameterTable::over(Parameter parameter, std::span<const Marginal> draws) const {
  poll_here();
  const MarginalMixture all(draws);
  set_root(parameter, all);
  parameter.deviation = all.deviation();
  parameter.known_by = Parameter::draws;
  if (level_) set_interval(parameter, *level_, [&all](double p) { return all.quantile(p); });
  take_(parameter);
}

void ParameterTable::over(Parameter parameter, std::vector<double> draws, double deviation) const {
  poll_here();
  const DrawSummary found = summary_of_draws(std::move(draws), level_);
  if (parameter.root) parameter.value = found.mean;
  parameter.deviation = std::isnan(deviation) ? found.deviation : deviation;
  parameter.known_by = Parameter::draws;
  parameter.lower = found.lower;
  parameter.upper = found.upper;
  take_(parameter);
}

}  // namespace bayes
