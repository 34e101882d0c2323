// Units in which all terms of a regression are of a size.
#pragma once

#include <vector>

namespace bayes {

/// A term x of a row is z = (x - centre) / scale to the learners, so that nothing depends on units
/// or the origin, and no digits cancel. The intercept's z is 1.
///
/// Centre: with an intercept the mean, else 0. Scale: of a term that is 0 or 1 in every row 1; of
/// another the standard deviation (of all rows, by their weights), or without an intercept the root
/// of the mean square; 1 if that is 0.
struct TermScales {
  std::vector<double> centre, scale;
};

}  // namespace bayes
