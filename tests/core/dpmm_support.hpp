// Helpers for the tests of Dirichlet process mixtures: fits by every method, a model's predictions,
// and their consistency.
#pragma once

#include "base/error.hpp"
#include "mixture/dpmm.hpp"
#include "support.hpp"

namespace dpmm {

using bayes::Control;
using bayes::DirichletProcessMixture;
using bayes::DpmmCluster;
using bayes::DpmmFit;
using bayes::Errc;
using bayes::Error;
using bayes::Model;
using bayes::RowSource;
using support::distance;
using support::Document;
using support::doubtful_rows;
using support::Matrix;
using support::Options;
using support::Tensor;
using support::with;

inline const std::vector<std::string> methods = {"collapsed", "gibbs", "slice", "vi"};

inline DpmmFit fit(RowSource &rows, Options options, int threads = 1) {
  Control control;
  control.threads = threads;
  return dpmm_fit(rows, Document(std::move(options)), control);
}
inline DpmmFit fit(const Matrix &x, Options options) {
  auto rows = support::rows_of(x);
  return fit(rows, std::move(options));
}

inline Options sampled(const std::string &method, int draws, int warmup = 100) {
  return {{"method", method}, {"chains", 2}, {"draws", draws}, {"warmup", warmup}, {"seed", 3}};
}

/// A model's predictions for x: its density, and that times the probabilities of its clusters and
/// of a new one.
inline std::vector<double> answered(const DirichletProcessMixture &model,
                                    const std::vector<double> &x) {
  std::vector<double> p(std::size_t(model.size()) + 1), out{std::exp(model.log_density(x))};
  model.probabilities(x, p);
  double sum = 0;
  for (const double share : p) {
    BOOST_TEST((share >= 0 && share <= 1));
    sum += share;
    out.push_back(share * out[0]);
  }
  BOOST_TEST(std::abs(sum - 1) < 1e-12);
  BOOST_TEST(p[std::size_t(model.predict(x))] == *std::max_element(p.begin(), p.end()));
  return out;
}

/// A model but for its duration, and for what of its prior was given.
inline std::string bits(DirichletProcessMixture &model) {
  model.info.seconds = 0;
  model.info.given_prior = {};
  return model.to_bytes();
}

/// All results of a model are finite and consistent, and both of its forms round-trip.
inline void check_sound(DpmmFit &fitted, const Matrix &x) {
  DirichletProcessMixture &model = *fitted.model;
  BOOST_TEST(std::isfinite(model.info.objective));
  BOOST_TEST(std::isfinite(model.info.log_likelihood));
  std::int64_t count = 0;
  for (int k = 0; k < model.size(); ++k) {
    const DpmmCluster cluster = model.cluster(k);
    BOOST_TEST(cluster.count == std::count(fitted.labels.begin(), fitted.labels.end(), k));
    if (k) BOOST_TEST(cluster.count <= model.cluster(k - 1).count);
    BOOST_TEST((cluster.weight > 0 && cluster.weight < 1));
    for (const double v : cluster.mean) BOOST_TEST(std::isfinite(v));
    for (const double v : cluster.covariance) BOOST_TEST(std::isfinite(v));
    count += cluster.count;
  }
  BOOST_TEST(count == x.rows());
  for (const double p : fitted.probability) BOOST_TEST((p >= 0 && p <= 1));
  for (const double v : model.draws.values) BOOST_TEST(std::isfinite(v));
  const std::string bytes = model.to_bytes();
  const auto copy = Model::from_bytes(bytes), again = Model::from_document(model.to_document());
  BOOST_TEST(bool(copy->to_bytes() == bytes));
  BOOST_TEST(bool(again->to_bytes() == bytes));
  const auto &read = dynamic_cast<const DirichletProcessMixture &>(*copy);
  for (const Eigen::Index i : {Eigen::Index(0), x.rows() - 1}) {
    const auto row = support::row(x, i);
    BOOST_TEST((answered(model, row) == answered(read, row)));
    BOOST_TEST(std::isfinite(model.log_density(row)));
  }
}

}  // namespace dpmm
