// The stored draws of a sampled finite mixture: its posterior predictive.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "base/special.hpp"
#include "document/members.hpp"

namespace bayes {

/// K components in every draw, numbered consistently across draws. A component is represented by
/// its posterior given its rows in the draw, under which its parameters are integrated out.
template <class Q> struct FiniteDraws {
  int draws = 0;
  std::vector<double> weights;  // [draw][component]; those of a draw sum to 1
  Q components;                 // the same, as posteriors
};

/// Scores single rows. Not thread-safe.
template <class Q> class FiniteDrawsScorer {
 public:
  explicit FiniteDrawsScorer(const FiniteDraws<Q> &draws)
      : draws_(draws.draws),
        clusters_(pick(draws.components, {0}), draws.components),
        scores_(std::size_t(clusters_.padded())),
        joint_(draws.weights.size() / std::size_t(draws.draws)),
        column_(std::size_t(draws.draws)) {
    for (const double weight : draws.weights)
      log_weights_.push_back(std::log(weight / draws.draws));
  }

  /// log of the mean over the draws of weight_k x predictive density of x under component k, for
  /// every k; valid until the next call. `more` adds to the logarithms of the densities, [draw]
  /// [component].
  template <class More> std::span<const double> log_joint(const double *x, More more) {
    clusters_.log_predictive(x, scores_.data());
    more(scores_.data());
    const std::size_t k = joint_.size();
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t s = 0; s < column_.size(); ++s)
        column_[s] = scores_[s * k + j] + log_weights_[s * k + j];
      joint_[j] = log_sum_exp(column_);
    }
    return joint_;
  }

  /// [draw][component]: the terms of the means in log_joint(), divided by the largest term.
  template <class More> std::vector<double> masses(const double *x, More more) {
    clusters_.log_predictive(x, scores_.data());
    more(scores_.data());
    std::vector<double> out = log_weights_;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += scores_[i];
    const double largest = *std::max_element(out.begin(), out.end());
    for (double &mass : out) mass = std::exp(mass - largest);
    return out;
  }

  std::span<const double> log_joint(const double *x) { return log_joint(x, nothing); }
  std::vector<double> masses(const double *x) { return masses(x, nothing); }

 private:
  static void nothing(double *) {}
  int draws_;
  typename Q::Clusters clusters_;
  Buffer scores_;
  std::vector<double> joint_, column_, log_weights_;
};

/// Members draws, weights and the posteriors'.
template <class Q> Document draws_document(const FiniteDraws<Q> &draws) {
  Document out;
  out.set("draws", draws.draws)
      .set("weights",
           Tensor{{draws.draws, std::int64_t(draws.weights.size()) / draws.draws}, draws.weights});
  write_posterior(out, draws.components);
  return out;
}

/// `read(in, components)` reads the posteriors.
template <class Q, class Read> FiniteDraws<Q> read_draws(const MemberReader &in, int k, Read read) {
  FiniteDraws<Q> out;
  out.draws = int(in.integer("draws", 1, 1000000));
  out.weights = in.tensor("weights", {out.draws, k}).values;
  for (int s = 0; s < out.draws; ++s) {
    double sum = 0;
    for (int j = 0; j < k; ++j) {
      const double weight = out.weights[std::size_t(s) * std::size_t(k) + std::size_t(j)];
      if (!(weight >= 0)) in.reject("weights", "must not be negative");
      sum += weight;
    }
    if (!(std::abs(sum - 1) < 1e-9)) in.reject("weights", "of a draw must sum to 1");
  }
  out.components = read(in, out.draws * k);
  return out;
}

}  // namespace bayes
