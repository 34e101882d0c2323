// The standardisation of a regression's terms, which makes them of comparable size.
#pragma once

#include <vector>

namespace bayes {

/// Learners see a term x of a row as z = (x - centre) / scale, so that nothing depends on units or
/// the origin, and no digits cancel. The intercept's z is 1.
///
/// Centre: with an intercept the mean, else 0. Scale: 1 for a term that is 0 or 1 in every row; for
/// others the weighted standard deviation over all rows, or without an intercept the root mean
/// square; 1 if that is 0.
struct TermScales {
  std::vector<double> centre, scale;
};

}  // namespace bayes
