// Local steps until nothing moves.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/aligned.hpp"

namespace bayes {

/// Improves the tokens of each topic, `all` in all, until they do not change. improve(tokens) is
/// one update, and returns the bound before it.
///
/// An update moves tokens ever less along directions in which topics hardly differ. So from two
/// updates a longer step is extrapolated (Varadhan and Roland 2008, SQUAREM), and taken if the
/// bound is not lower there.
template <class Improve> void converge_tokens(Buffer &tokens, double all, Improve improve) {
  for (int round = 0; round < 300; ++round) {
    Buffer first = tokens;
    improve(first);
    Buffer second = first;
    const double bound = improve(second);
    double moved = 0, steps = 0, bends = 0;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      const double r = first[k] - tokens[k], v = second[k] - first[k] - r;
      moved += std::abs(r);
      steps += r * r;
      bends += v * v;
    }
    if (!(moved > 1e-12 * all)) break;
    const double length = bends > 0 ? std::sqrt(steps / bends) : 1;
    Buffer far = second;
    if (length > 1) {
      double sum = 0;
      for (std::size_t k = 0; k < tokens.size(); ++k) {
        const double r = first[k] - tokens[k], v = second[k] - first[k] - r;
        sum += far[k] = std::max(0.0, tokens[k] + length * (2 * r + length * v));
      }
      for (double &n : far) n *= all / sum;
      if (!(improve(far) >= bound)) far = second;
    }
    tokens = std::move(far);
  }
}

}  // namespace bayes
