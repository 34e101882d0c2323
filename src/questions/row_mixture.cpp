#include "questions/row_mixture.hpp"

#include <algorithm>

#include "base/special.hpp"
#include "base/unseen.hpp"
#include "mcmc/stored_draws.hpp"
#include "questions/row_distribution.hpp"

namespace bayes {

RowMixture::RowMixture() = default;
RowMixture::~RowMixture() = default;

void RowMixture::set_rows(std::unique_ptr<RowDistribution> rows) { rows_ = std::move(rows); }

RowDistribution &RowMixture::rows() const {
  if (!rows_) rows_ = row_distribution();
  return *rows_;
}

int RowMixture::predict(std::span<const double> x) const {
  return rows().most_probable(checked(x), outcomes());
}

void RowMixture::probabilities(std::span<const double> x, std::span<double> out) const {
  rows().outcome_probabilities(checked(x), out);
}

double RowMixture::log_density(std::span<const double> x) const {
  return rows().log_density(checked(x));
}

PredictiveErrors RowMixture::mcse(std::span<const double> x, Control &control) const {
  require_posterior_draws(*this, true);
  const std::span<const double> row = checked(x);
  const std::size_t own = std::size_t(outcomes());
  const auto errors = [&](bool count_unseen) {
    return predictive_errors(rows().outcome_masses(row, own, count_unseen), own, draws.chains,
                             control);
  };
  PredictiveErrors out = errors(false);
  if (has_unseen(row)) out.log_density = errors(true).log_density;
  return out;
}

}  // namespace bayes
