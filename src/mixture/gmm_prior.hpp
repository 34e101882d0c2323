// The prior of a Gaussian mixture's components.
#pragma once

#include "families/normal/normal_prior.hpp"
#include "mixture/gmm_options.hpp"
#include "mixture/gmm_state.hpp"

namespace bayes {

/// The prior of all k components: by default alpha = 1, C = B / 0.01, and the rest as in
/// families/normal/normal_prior.hpp.
struct GmmPrior {
  MixturePosterior<NormalWishart> linked;
  MixturePosterior<NormalIndependent> independent;  // used if options.independent
};

GmmPrior make_prior(const GmmOptions &options, const Survey &rows, int k) {
  const CovarianceShape &shape = rows.shape;
  const int d = int(rows.mean.size());
  const NormalWishart one = make_normal_prior(options.prior, rows, k);
  const double a = one.a(0);
  const int sharing = shape.shared ? k : 1;  // components that share a scale
  if (options.method == Method::map && !(mode_divisor(shape, a, sharing, d) > 0))
    throw Error(
        Errc::invalid_argument,
        "option \"prior.a\" is " + describe(a) + ", but method map needs a prior with a mode",
        "The covariance of an empty component would have no mode.",
        "Raise prior.a above " + describe(a - mode_divisor(shape, a, sharing, d)) + ".");
  const Vector alpha = Vector::Constant(k, options.alpha);
  GmmPrior out;
  out.linked = {alpha, replicate(one, k)};
  if (options.independent) {
    const Matrix of_mean = options.C ? given_scale(full_covariance, "prior.C", *options.C, d)
                                     : Matrix(one.B[0] / 0.01);
    const auto &q = out.linked.components;
    out.independent = {alpha, {q.m, std::vector<Matrix>(std::size_t(k), of_mean), q.a, q.B}};
  }
  return out;
}

/// The prior in force, in the form of options.
Document prior_document(const GmmOptions &options, const GmmPrior &prior) {
  GmmOptions in_force = options;
  in_force.prior = keys_of(prior.linked.components);
  if (options.independent)
    in_force.C = scale_tensor(full_covariance, prior.independent.components.C[0]);
  return in_force.prior_document();
}

}  // namespace bayes
