// Helpers for the tests of Bernoulli mixtures: rows, fits and comparisons.
#pragma once

#include "base/error.hpp"
#include "mixture/bmm.hpp"
#include "slow_mixture.hpp"

namespace latent {

using bayes::BernoulliMixture;
using bayes::Document;
using bayes::Tensor;
using support::distance;
using support::Matrix;
using support::Options;
using support::Vector;

using Fitted = std::unique_ptr<BernoulliMixture>;
inline const double hole = std::numeric_limits<double>::quiet_NaN();

inline Fitted fitted(bayes::RowSource &rows, int k, Options options,
                     const BernoulliMixture *start = nullptr, bool update = false,
                     int threads = 1) {
  bayes::Control control;
  control.threads = threads;
  return bayes::bmm_fit(rows, k, Document(std::move(options)), start, update, control);
}
inline Fitted fitted(const Matrix &x, int k, Options options, const Vector &weights = {},
                     const BernoulliMixture *start = nullptr, bool update = false) {
  auto rows = support::rows_of(x, weights);
  return fitted(rows, k, std::move(options), start, update);
}

/// Rows of zeros and ones from three latent classes.
inline Matrix binary_rows(int n, int d, std::uint64_t seed) {
  bayes::Random random(seed);
  Matrix p(3, d), x(n, d);
  for (int c = 0; c < 3; ++c)
    for (int j = 0; j < d; ++j) p(c, j) = random.beta(0.6, 0.6);
  for (int i = 0; i < n; ++i) {
    const int c = int(random.below(3));
    for (int j = 0; j < d; ++j) x(i, j) = random.uniform() < p(c, j);
  }
  return x;
}

/// Rows of a bernoulli, a poisson, a normal and a categorical element.
inline Matrix mixed_rows(int n, std::uint64_t seed) {
  bayes::Random random(seed);
  Matrix x(n, 4);
  const double codes[] = {1, 2, 9};
  for (int i = 0; i < n; ++i) {
    const int c = int(random.below(2));
    x(i, 0) = random.uniform() < (c ? 0.2 : 0.8);
    x(i, 1) = std::floor(random.gamma(c ? 2 : 9));
    x(i, 2) = random.normal() + 3 * c;
    x(i, 3) = codes[random.below(c ? 2 : 3)];
  }
  return x;
}
inline const Options mixed = {
    {"likelihood", Document::List{"bernoulli", "poisson", "normal", "categorical"}}};

inline std::vector<double> values(const BernoulliMixture &model) {
  std::vector<double> out;
  model.describe_parameters({}, [&](const bayes::Parameter &p) { out.push_back(p.value); });
  return out;
}
inline double distance(const BernoulliMixture &a, const BernoulliMixture &b) {
  return support::distance(values(a), values(b));
}
inline std::string bits(BernoulliMixture &model) {
  model.info.seconds = 0;
  return model.to_bytes();
}

/// A mixture with given parameters, for starting from: a row for each component.
inline Fitted point_model(const Vector &weights, const Matrix &p) {
  const auto k = p.rows(), d = p.cols();
  Matrix x = Matrix::Zero(k + 1, d);
  for (Eigen::Index i = 0; i <= k; ++i)
    for (Eigen::Index j = 0; j < d; ++j) x(i, j) = double((i >> (j % 8)) & 1);
  Document document = fitted(x, int(k), {{"method", "em"}, {"max_iter", 1}})->to_document();
  Tensor all{{k, d}, {}};
  for (Eigen::Index i = 0; i < k; ++i)
    for (Eigen::Index j = 0; j < d; ++j) all.values.push_back(p(i, j));
  document.set("point", Options{{"weights", Tensor{{k}, {weights.data(), weights.data() + k}}},
                                {"bernoulli", Options{{"probability", all}}}});
  return Fitted(dynamic_cast<BernoulliMixture *>(bayes::Model::from_document(document).release()));
}

template <class F> std::string message_of(F f) {
  try {
    f();
  } catch (const bayes::Error &error) {
    return error.what();
  }
  return "no error";
}

}  // namespace latent
