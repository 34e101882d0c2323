// The stored draws of a sampled finite mixture.
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
