// Writes and reads the documents of conjugate models.
#include <cmath>

#include "base/error.hpp"
#include "conjugate/conjugate.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

constexpr const char *sum_names[3][3] = {{"successes", "failures", nullptr},
                                         {"count", "exposure", "log_factor"},
                                         {"count", "mean", "squares"}};

}  // namespace

void ConjugateModel::write(Document &document) const {
  Statistics values = stored_.value_or(sums_.sums);
  if (kind_ == ConjugateKind::normal_inverse_gamma && !stored_) {
    values[1] = mean();
    values[2] = sums_.squares();
  }
  Document statistics;
  for (std::size_t i = 0; i < 3; ++i)
    if (const char *const name = sum_names[int(kind_)][i]) {
      // + 0.0 removes the sign of a zero, which depends on the order of the rows.
      const DoubleDouble kept = values[i].rounded();
      statistics.set(name, Tensor{{2}, {kept.hi + 0.0, kept.lo + 0.0}});
    }
  document.set("statistics", std::move(statistics));
}

namespace {

std::unique_ptr<Model> read_conjugate(ConjugateKind kind, const Document &document) {
  ModelInfo info = read_model_info(document, conjugate_methods, 1, 1);
  ConjugatePrior prior;
  try {
    prior = read_conjugate_prior(kind, info.options);
  } catch (const Error &error) {
    throw Error(Errc::invalid_text, error.what(), error.detail());
  }
  const MemberReader statistics = MemberReader(document).object("statistics");
  ConjugateSums sums;
  sums.rows = info.rows;
  sums.skipped = info.skipped;
  for (std::size_t i = 0; i < 3; ++i) {
    const char *const name = sum_names[int(kind)][i];
    if (!name) continue;
    const Tensor pair = statistics.tensor(name, {2});
    const double high = pair.values[0], low = pair.values[1];
    const bool any_sign = (kind == ConjugateKind::gamma_poisson && i == 2) ||
                          (kind == ConjugateKind::normal_inverse_gamma && i == 1);
    if ((!any_sign && high < 0) || high + low != high || std::fabs(high) > max_conjugate_sum ||
        DoubleDouble::rounded_to_24_bits(low) != low)
      statistics.reject(name, "is not a number and its rounding error");
    sums.sums[i] = {high, low};
  }
  const ConjugateModel::Statistics stored = sums.sums;
  if (kind == ConjugateKind::normal_inverse_gamma) {
    // The shift is the high part of the mean; its low part remains in the sums.
    const DoubleDouble count = sums.sums[0], mean = sums.sums[1], squares = sums.sums[2];
    if (!(count.hi > 0)) statistics.reject("count", "must be positive");
    sums.shift = mean.hi;
    sums.settled = count.hi;
    const DoubleDouble rest{mean.lo};
    sums.sums[1] = count * rest;
    sums.sums[2] = squares + count * rest * rest;
    if (std::fabs(mean.hi) > max_conjugate_number) statistics.reject("mean", "is too large");
  } else if (!((sums.sums[0] + sums.sums[1]).hi > 0) ||
             (kind == ConjugateKind::gamma_poisson && !(sums.sums[1].hi > 0))) {
    statistics.reject(sum_names[int(kind)][1], "must be positive");
  }
  auto model = std::make_unique<ConjugateModel>(kind, prior, sums, stored);
  info.options = model->info.options;
  model->info = std::move(info);
  return model;
}

}  // namespace

std::unique_ptr<Model> read_beta_bernoulli(const Document &document) {
  return read_conjugate(ConjugateKind::beta_bernoulli, document);
}
std::unique_ptr<Model> read_gamma_poisson(const Document &document) {
  return read_conjugate(ConjugateKind::gamma_poisson, document);
}
std::unique_ptr<Model> read_normal_inverse_gamma(const Document &document) {
  return read_conjugate(ConjugateKind::normal_inverse_gamma, document);
}

}  // namespace bayes
