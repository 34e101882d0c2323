// The conjugate normal-Wishart prior of normal components: from the user's options, with defaults
// from a survey of the rows.
//
// If rows miss elements, the survey has the means and variances of the observed ones. For dense
// shapes it has the maximum likelihood mean and covariance of a normal given the observed elements,
// by EM; for complete rows these are the ordinary sample moments.
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
  double observed;    // weight of all observed elements: d x weight if none is missing
};

/// Two passes over the rows, more if they miss elements. Throws Error: numeric if their variance
/// overflows, invalid_argument if an element is missing in all rows.
Survey survey(const CovarianceShape &shape, RowSource &rows, Control &control);

/// The passes of a survey that other servers make for it.
extern const PassOver<PartOfRows> first_values_pass, observed_sums_pass;

/// The normal that the survey found, for the first completion of missing elements.
NormalPoint point_of(const Survey &survey);

/// A prior matrix in the shape's form from the user's value; a number means that multiple of the
/// identity. `option`: its name, for messages.
Matrix given_scale(const CovarianceShape &shape, const std::string &option, const Tensor &given,
                   int d);

/// The prior of one component. Defaults: m = the mean of the rows, c = 0.01, a = p + 2 with p = d
/// for full and tied covariances and 1 otherwise, B = the covariance of the rows (in the shape's
/// form, lifted to the floor) / k^(2/d), so that the prior expectation of a covariance is B (Fraley
/// and Raftery 2007); if B is "precision", a times that, so that the prior expectation of a
/// precision is its inverse. `path`: the prefix of the keys in messages.
NormalWishart make_normal_prior(const NormalPriorKeys &given, const Survey &rows, int k,
                                const std::string &path = "prior.");

/// A prior matrix in the form of an option.
Tensor scale_tensor(const CovarianceShape &shape, const Matrix &scale);

/// The prior in force, in the form of options.
NormalPriorKeys keys_of(const NormalWishart &prior);
void write_normal_prior(Document &out, const NormalWishart &prior);

}  // namespace bayes
