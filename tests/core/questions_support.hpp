// Models of every family and method that are distributions over rows, for the tests of questions to
// them.
#pragma once

#include "bmm_support.hpp"
#include "classification/nb.hpp"
#include "dpmm_support.hpp"
#include "nb_support.hpp"
#include "questions/answers.hpp"

namespace questions {

using bayes::RowDistribution;
using support::Matrix;
using support::Options;
using support::with;

inline const double hole = std::numeric_limits<double>::quiet_NaN();

/// Row number i of those drawn from a model with a seed of their own.
inline std::vector<double> drawn_row(RowDistribution &rows, std::uint64_t seed, int i) {
  std::vector<double> x(std::size_t(rows.dimension()), hole);
  bayes::Random random(seed, std::uint64_t(i));
  rows.condition(x);
  rows.draw(random, x);
  return x;
}

struct Asked {
  std::string name;
  std::unique_ptr<bayes::Model> model;
  /// some rows of the model
  Matrix rows;
  std::unique_ptr<RowDistribution> distribution = nullptr;
};

inline std::vector<Asked> normal_models() {
  std::vector<Asked> out;
  const Matrix x = support::normal_rows(40, 3, 5, 2);
  const auto add = [&](const std::string &name, std::unique_ptr<bayes::Model> model) {
    out.push_back({name, std::move(model), x});
  };
  for (const std::string &shape : support::shapes)
    for (const char *method : {"em", "map", "vi", "gibbs", "collapsed"}) {
      if (shape == "tied" && method == std::string("collapsed")) continue;
      Options options = {{"method", method}, {"covariance", shape}};
      if (method == std::string("gibbs") || method == std::string("collapsed"))
        options = with(options, {{"chains", 2}, {"draws", 30}, {"warmup", 15}});
      add("gmm " + shape + " " + method, support::fit(x, 2, options));
    }
  add("gmm kmeans", support::fit(x, 2, {{"method", "kmeans"}}));
  add("gmm independent",
      support::fit(x, 2, {{"method", "vi"}, {"prior", Options{{"type", "independent"}}}}));
  for (const char *method : {"collapsed", "gibbs", "slice", "vi"})
    add(std::string("dpmm normal ") + method,
        std::move(dpmm::fit(x, method == std::string("vi") ? Options{{"method", "vi"}}
                                                           : dpmm::sampled(method, 30, 15))
                      .model));
  return out;
}

/// Rows of a bernoulli, a poisson, a normal and a categorical element.
inline std::vector<Asked> mixed_models() {
  std::vector<Asked> out;
  const Matrix x = latent::mixed_rows(60, 4);
  const auto add = [&](const std::string &name, std::unique_ptr<bayes::Model> model) {
    out.push_back({name, std::move(model), x});
  };
  const Options mixed = latent::mixed;
  for (const char *method : {"em", "map", "vi"})
    add(std::string("bmm ") + method, latent::fitted(x, 2, with(mixed, {{"method", method}})));
  for (const char *method : {"gibbs", "collapsed"})
    add(std::string("bmm ") + method,
        latent::fitted(
            x, 2, with(mixed, {{"method", method}, {"chains", 2}, {"draws", 30}, {"warmup", 15}})));
  for (const char *method : {"collapsed", "vi"})
    add(std::string("dpmm mixed ") + method,
        std::move(
            dpmm::fit(x, with(mixed, method == std::string("vi") ? Options{{"method", "vi"}}
                                                                 : dpmm::sampled(method, 30, 15)))
                .model));
  return out;
}

/// The same elements and two normal ones, of two classes; the last element of rows is the class,
/// from 1.
inline std::vector<Asked> classifiers() {
  const Matrix plain = latent::mixed_rows(60, 9);
  bayes::Random random(3);
  Matrix x(60, 6);
  classes::Rows rows;
  for (Eigen::Index i = 0; i < 60; ++i) {
    const double c = double(random.below(2)), shared = random.normal();
    x.row(i) << plain(i, 0), plain(i, 2), plain(i, 3), 2 * c + shared,
        c - shared + 0.5 * random.normal(), c + 1;
    rows.push_back({c > 0 ? "yes" : "no", {x(i, 0), x(i, 1), x(i, 2), x(i, 3), x(i, 4)}});
  }
  std::vector<Asked> out;
  for (const char *covariance : {"diagonal", "full"}) {
    const bayes::Document options =
        bayes::Document::object()
            .set("likelihood",
                 bayes::Document::List{"bernoulli", "normal", "categorical", "normal", "normal"})
            .set("covariance", covariance);
    out.push_back({std::string("nb ") + covariance, classes::fit(rows, options), x});
  }
  return out;
}

inline std::vector<Asked> &all_models() {
  static std::vector<Asked> all = [] {
    std::vector<Asked> out = normal_models();
    for (auto &each : mixed_models()) out.push_back(std::move(each));
    for (auto &each : classifiers()) out.push_back(std::move(each));
    for (Asked &each : out) each.distribution = each.model->row_distribution();
    return out;
  }();
  return all;
}

inline bool has_class(const Asked &asked) { return asked.model->info.family == "nb"; }

/// The elements that `pattern` has bits for are missing.
inline std::vector<double> with_holes(std::vector<double> x, unsigned pattern) {
  for (std::size_t j = 0; j < x.size(); ++j)
    if (pattern >> j & 1) x[j] = hole;
  return x;
}

/// log p(x) as the model scores rows; of a classifier log p(x, class).
inline double own_log_density(const Asked &asked, const std::vector<double> &x) {
  if (!has_class(asked)) return asked.model->log_density(x);
  const std::vector<double> features(x.begin(), x.end() - 1);
  const double density = asked.model->log_density(features), label = x.back();
  if (std::isnan(label)) return density;
  std::vector<double> p(std::size_t(asked.model->outcomes()));
  asked.model->probabilities(features, p);
  return density + std::log(p[std::size_t(label) - 1]);
}

}  // namespace questions
