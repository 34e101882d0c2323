#include "fit/linear_response.hpp"

#include <algorithm>
#include <cmath>

#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

// in posterior standard deviations: the steps of differences, and the largest distance to the
// maximum
constexpr double step = 1e-3, farthest = 0.1;

/// A factor of q in coordinates in which its covariance is I.
struct Whitened {
  Eigen::Index first, size;
  Matrix upper, inverse;  // L' and L^-1
};

std::vector<Whitened> whiten(const std::vector<PosteriorFactor> &factors) {
  std::vector<Whitened> out;
  Eigen::Index first = 0;
  for (const PosteriorFactor &factor : factors) {
    poll_here();
    const Eigen::Index n = factor.covariance.rows();
    Whitened own{first, n, Matrix::Zero(n, n), Matrix::Zero(n, n)};
    // A quantity that cannot vary, such as the weight of the only component, has no response.
    if (n > 1 || factor.covariance(0, 0) != 0) {
      Matrix lower;
      if (!cholesky(factor.covariance, lower))
        throw Error(Errc::numeric,
                    "option \"linear_response\": a posterior is too narrow for double precision",
                    "Its covariance is not numerically positive definite.",
                    "Rescale the weights, or leave the option out.");
      own.upper = lower.transpose();
      own.inverse = inverse_lower(lower);
    }
    out.push_back(std::move(own));
    first += n;
  }
  return out;
}

/// L' x
Vector times_upper(const std::vector<Whitened> &factors, const Vector &x) {
  Vector out(x.size());
  for (const auto &[first, size, upper, inverse] : factors)
    out.segment(first, size) = product(upper, Vector(x.segment(first, size)));
  return out;
}

/// The natural parameters after a pass. Throws Error(numeric) if the pass leaves a posterior that
/// has none, as after an overflow.
Vector after(const std::function<Vector(const Vector &)> &pass, const Vector &natural) {
  Vector out = pass(natural);
  if (out.size() != natural.size() || !out.allFinite())
    throw Error(Errc::numeric,
                "option \"linear_response\": the fit has ended where sums over the rows overflow",
                "They are not finite for a posterior a thousandth of a standard deviation away.",
                "Rescale the data, or leave the option out.");
  return out;
}

/// M = L' H L
Matrix response(const Vector &natural, const std::vector<Whitened> &factors,
                const std::function<Vector(const Vector &)> &pass) {
  Matrix out = Matrix::Zero(natural.size(), natural.size());
  for (const auto &[first, size, upper, inverse] : factors)
    for (Eigen::Index j = 0; j < size; ++j) {
      const Vector move = step * inverse.row(j).transpose();
      if (move.isZero(0)) continue;
      Vector up = natural, down = natural;
      up.segment(first, size) += move;
      down.segment(first, size) -= move;
      out.col(first + j) = times_upper(factors, (after(pass, up) - after(pass, down)) / (2 * step));
    }
  // Symmetric up to rounding errors and higher orders of the step.
  return (out + out.transpose()) / 2;
}

/// The distance to the maximum in standard deviations: the length of Newton's step, (I - M)^-1 L'
/// (pass(natural) - natural). `root`: (I - M)^-1 = root' root.
double distance(const std::vector<Whitened> &factors, const Matrix &root, const Vector &change) {
  return product(Matrix(root.transpose()), lower_times(root, times_upper(factors, change))).norm();
}

Error not_converged() {
  return {
      Errc::numeric, "option \"linear_response\": the fit has not converged",
      message("The maximum of its objective is more than {} posterior standard deviations away.",
              describe_number(farthest)),
      "Lower tol, or raise max_iter or max_seconds."};
}

/// Newton's step to the maximum, in natural parameters.
Vector newton_step(const std::vector<Whitened> &factors, const Matrix &root, const Vector &change) {
  const Vector u =
      product(Matrix(root.transpose()), lower_times(root, times_upper(factors, change)));
  Vector out(u.size());
  for (const auto &[first, size, upper, inverse] : factors)
    out.segment(first, size) = product(Matrix(inverse.transpose()), Vector(u.segment(first, size)));
  return out;
}

/// The lower triangular root, (I - M)^-1 = root' root.
Matrix root_of_response(const Matrix &m) {
  Matrix lower;
  if (!cholesky(Matrix::Identity(m.rows(), m.cols()) - m, lower))
    throw Error(Errc::numeric,
                "option \"linear_response\": the fit has not ended at a maximum of its objective",
                "The matrix I - V H of linear response is not positive definite there, so no "
                "standard deviations follow from it.",
                "Lower tol, raise max_iter, use a smaller k, or use method gibbs.");
  return inverse_lower(lower);
}

/// The standard deviations, with the response added to the variances of q.
Vector corrected(const std::vector<PosteriorFactor> &factors, const std::vector<Whitened> &whitened,
                 const Matrix &root) {
  std::vector<double> out;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    poll_here();
    const auto &[first, size, upper, inverse] = whitened[i];
    const Matrix w = product(inverse, factors[i].with_quantities),
                 responding = product(Matrix(root.middleCols(first, size)), w);
    for (Eigen::Index g = 0; g < w.cols(); ++g) {
      const double deviation = factors[i].deviation(g),
                   added = responding.col(g).squaredNorm() - w.col(g).squaredNorm();
      // Without a response, `added` is only a rounding error.
      out.push_back(deviation > 0
                        ? deviation * std::sqrt(1 + std::max(0.0, added) / deviation / deviation)
                        : deviation);
    }
  }
  return Eigen::Map<const Vector>(out.data(), Eigen::Index(out.size()));
}

}  // namespace

void require_linear_response_size(double natural_parameters) {
  if (natural_parameters > max_linear_response)
    throw Error(Errc::too_large,
                message("option \"linear_response\" takes posteriors of at most {} natural "
                        "parameters, but that of this model has {}",
                        max_linear_response, std::int64_t(natural_parameters)),
                "It makes two passes over the data for each parameter.",
                "Leave the option out, use a smaller k, or use method gibbs.");
}

bool ResponseCost::pays(double natural, double over) const {
  return natural <= max_linear_response && 2 * natural * (2 * natural * over + natural * natural) <=
                                               std::max(2 * natural * visits, free_operations);
}

namespace detail {

Vector rescaled(const std::vector<PosteriorFactor> &own, const std::vector<PosteriorFactor> &there,
                const Vector &corrected) {
  Vector out = corrected;
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < own.size(); ++i)
    for (Eigen::Index g = 0; g < own[i].deviation.size(); ++g, ++next) {
      const double before = own[i].deviation(g), elsewhere = there[i].deviation(g);
      out(next) = elsewhere > 0 ? before * (corrected(next) / elsewhere) : before;
    }
  return out;
}

Vector linear_response(const Vector &natural, const std::vector<PosteriorFactor> &factors,
                       const std::function<Vector(const Vector &)> &pass) {
  const std::vector<Whitened> whitened = whiten(factors);
  const Matrix root = root_of_response(response(natural, whitened, pass));
  if (!(distance(whitened, root, after(pass, natural) - natural) <= farthest))
    throw not_converged();
  return corrected(factors, whitened, root);
}

Vector approach(Vector &natural,
                const std::function<std::vector<PosteriorFactor>(const Vector &)> &factors_at,
                const std::function<Vector(const Vector &)> &pass) {
  constexpr int max_steps = 10;
  const std::vector<PosteriorFactor> factors = factors_at(natural);
  const std::vector<Whitened> whitened = whiten(factors);
  const Matrix root = root_of_response(response(natural, whitened, pass));
  Vector change = after(pass, natural) - natural;
  double left = distance(whitened, root, change);
  if (left <= farthest) return corrected(factors, whitened, root);
  for (int step = 0; step < max_steps && !(left <= 0.1 * farthest); ++step) {
    poll_here();
    const Vector next = natural + newton_step(whitened, root, change);
    whiten(factors_at(next));  // throws for what is no posterior, before a pass
    change = after(pass, next) - next;
    const double before = left;
    left = distance(whitened, root, change);
    if (!(left < before)) throw not_converged();
    natural = next;
  }
  return {};
}

}  // namespace detail
}  // namespace bayes
