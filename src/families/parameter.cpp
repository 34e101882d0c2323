#include "families/parameter.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"

namespace bayes {
namespace {

/// Sets the bounds of the central interval, which leaves out the same probability on both sides.
void set_interval(Parameter &parameter, double level, const Marginal &of) {
  parameter.lower = of.quantile((1 - level) / 2);
  parameter.upper = of.upper_quantile((1 - level) / 2);
}
void set_interval(Parameter &parameter, double level, const MarginalMixture &of) {
  parameter.lower = of.quantile((1 - level) / 2);
  parameter.upper = of.quantile(std::min((1 + level) / 2, std::nextafter(1.0, 0.0)));
}

/// For a parameter reported as a root, sets the value to the posterior mean of the root, or to its
/// median if there is no mean.
template <class Posterior> void set_root(Parameter &parameter, const Posterior &posterior) {
  if (!parameter.root) return;
  const double mean = posterior.mean();
  parameter.value = std::isnan(mean) ? posterior.quantile(0.5) : mean;
}

}  // namespace

void require_level(double level) {
  if (!(level > 0 && level < 1))
    throw Error(Errc::invalid_argument, message("level is {}, but must be between 0 and 1", level),
                "The level is the probability that an interval contains.", "Use 0.95 or 0.9.");
}

ParameterTable::ParameterTable(std::optional<double> level, const TakeParameter &take,
                               std::string_view under)
    : level_(level),
      take_(take),
      under_(under) {
  if (level) require_level(*level);
}

bool is_possible_deviation(double deviation, double mean) {
  return deviation * deviation < mean * (1 - mean);
}

void ParameterTable::under(Parameter parameter, Marginal q, double corrected) const {
  poll_here();
  parameter.known_by = under_;
  if (under_ == Parameter::components_overlap) {
    set_root(parameter, q);
    return take_(parameter);
  }
  if (q.kind == Marginal::Kind::beta && corrected > 0 &&
      !is_possible_deviation(corrected, q.mean())) {
    parameter.known_by = Parameter::mean_field;
    corrected = 0;
  }
  if (corrected > 0) q = q.with_deviation(corrected);
  set_root(parameter, q);
  parameter.deviation = q.deviation();
  if (level_) set_interval(parameter, *level_, q);
  take_(parameter);
}

void ParameterTable::over(Parameter parameter, std::span<const Marginal> draws,
                          std::span<const double> weights) const {
  poll_here();
  const MarginalMixture all(draws, weights);
  set_root(parameter, all);
  parameter.deviation = all.deviation();
  parameter.known_by = Parameter::draws;
  if (level_) set_interval(parameter, *level_, all);
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
