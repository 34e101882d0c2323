// The conjugate normal-Wishart prior of normal components: from the user's options and, for what
// they leave out, from a survey of the rows.
//
// Of rows that miss elements the survey takes means and variances of what is observed, but for
// dense shapes mean and covariance of the normal that makes what is observed most probable, by EM:
// those of complete rows are the same.
#pragma once

#include <optional>
#include <string>

#include "data/rows.hpp"
#include "families/normal/normal_options.hpp"
#include "families/normal/normal_wishart.hpp"

namespace bayes {

/// The moments of all rows, needed before a fit begins.
struct Survey {
  CovarianceShape shape = full_covariance;
  double weight;      // of all rows
  Vector mean;        // d
  Vector variance;    // d, maximum likelihood
  Matrix covariance;  // d x d for dense shapes, else empty
  double observed;    // weight of all numbers: d times that of the rows if none is missing
};

/// Two passes over the rows, more if they miss elements. Throws Error: numeric if their variance
/// overflows, invalid_argument if no row has a value of some element.
Survey survey(const CovarianceShape &shape, RowSource &rows, Control &control);

/// The normal that the survey found, for what is missing of rows to begin on.
NormalPoint point_of(const Survey &survey);

/// A prior matrix in the shape's form from the user's value; a number means that multiple of the
/// identity. `option`: its name, for messages.
Matrix given_scale(const CovarianceShape &shape, const std::string &option, const Tensor &given,
                   int d);

/// The prior of one component. Where the user gave nothing: m = the mean of the rows, c = 0.01, a =
/// p + 2 with p = d for full and tied covariances and 1 otherwise, B = the covariance of the rows
/// (in the shape's form, lifted to the floor) / k^(2/d), so that the prior expectation of a
/// covariance is B (Fraley and Raftery 2007). `path`: what precedes the keys in messages.
NormalWishart make_normal_prior(const NormalPriorKeys &given, const Survey &rows, int k,
                                const std::string &path = "prior.");

/// A prior matrix as options can give it.
Tensor scale_tensor(const CovarianceShape &shape, const Matrix &scale);

/// The prior in force, as options can give it.
NormalPriorKeys keys_of(const NormalWishart &prior);
void write_normal_prior(Document &out, const NormalWishart &prior);

}  // namespace bayes
