#include "regression/binary_gibbs.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace bayes {
namespace {

/// A random stream is selected by the seed, the chain, the sweep and one of these.
enum BinaryStream : std::uint64_t { stream_of_coefficients, stream_of_rows };

/// L'v for lower triangular L
Vector transposed_times(const Matrix &lower, const Vector &v) {
  Vector out(v.size());
  for (Eigen::Index j = 0; j < v.size(); ++j)
    out(j) = lower.col(j).tail(v.size() - j).dot(v.tail(v.size() - j));
  return out;
}

/// The part that both samplers share: u given the latent variables of the rows, then these given u.
class BinaryChain : public ChainSampler {
 public:
  BinaryChain(const BinaryTask &task, int chain) : task_(task), chain_(std::uint64_t(chain)) {
    const Matrix spread = inverse_lower(task.mode.factor);
    Random random = stream(0);
    u_ = task.mode.state + 2 * transposed_times(spread, normals(random));
  }

  double sweep(int index, Control &) override {
    const std::uint64_t number = std::uint64_t(index) + 1;
    if (swept_ == 0) sums_ = augment(u_, rows_of(0));
    Random random = stream(number);
    draw(random);
    sums_ = augment(u_, rows_of(number));
    swept_ = number;
    return sums_.log_likelihood + log_prior(task_.precision, u_) + task_.log_units;
  }

  void record(std::vector<double> &values) const override {
    values.push_back(without_rounding_errors(sums_.log_likelihood));
    const std::vector<double> all = task_.record(u_);
    values.insert(values.end(), all.begin(), all.end());
  }

  void exchange_state(StateNumbers &numbers) override {
    numbers.dense(u_);
    numbers.whole(swept_, 0, std::numeric_limits<int>::max());
    if (!numbers.reads()) return;
    // Draws of the rows' variables would not end.
    if (!(u_.array().abs() < 1e100).all()) refuse_checkpoint();
    if (swept_ > 0) sums_ = augment(u_, rows_of(swept_));
  }

  void keep(double) override { task_.moments.add(reported(u_), reported(expected_)); }

  void store(double) override {
    task_.draws.insert(task_.draws.end(), u_.data(), u_.data() + u_.size());
  }

 protected:
  /// Draws the latent variables of all rows given u, and returns the sums with them.
  virtual BinarySums augment(const Vector &u, const RowRandom &random) = 0;
  /// Draws u_ given the sums, and sets expected_ to the mean of its conditional distribution.
  virtual void draw(Random &random) = 0;

  Vector normals(Random &random) const {
    Vector out(task_.precision.size());
    for (double &each : out) each = random.normal();
    return out;
  }

  const BinaryTask &task_;
  Vector u_, expected_;
  BinarySums sums_;
  /// the number of sweeps
  std::uint64_t swept_ = 0;

 private:
  Random stream(std::uint64_t number) const {
    return Random(task_.seed, chain_, number, stream_of_coefficients);
  }
  RowRandom rows_of(std::uint64_t number) const {
    return RowRandom(task_.seed, chain_, number, stream_of_rows);
  }
  Vector reported(const Vector &u) const {
    Vector out = u;
    if (task_.rows.intercept()) out(0) = task_.own_intercept(u);
    return out;
  }

  const std::uint64_t chain_;
};

class ProbitChain final : public BinaryChain {
  using BinaryChain::BinaryChain;

  BinarySums augment(const Vector &u, const RowRandom &random) override {
    return task_.rows.augment(u, random);
  }

  void draw(Random &random) override {
    // With u integrated out, y* has a density proportional to exp(-(y*'y* - b'A^-1 b) / 2) where
    // its signs agree with y.
    Vector image = bayes::product(task_.root, sums_.gradient);
    const double rest = std::max(sums_.squares - image.squaredNorm(), 1e-300);
    image *= std::sqrt(2 * random.gamma(0.5 * task_.rows.weight()) / rest);
    expected_ = transposed_times(task_.root, image);
    u_ = transposed_times(task_.root, image + normals(random));
  }
};

class LogitChain final : public BinaryChain {
  using BinaryChain::BinaryChain;

  BinarySums augment(const Vector &u, const RowRandom &random) override {
    return task_.rows.augment_logit(u, random);
  }

  void draw(Random &random) override {
    Matrix precision = std::move(sums_.curvature), lower;
    precision.diagonal() += task_.precision;
    if (!cholesky(precision, lower))
      throw Error(Errc::numeric, "the precision of the coefficients is not positive definite",
                  "Columns are nearly collinear, and the prior is wide.",
                  "Give a smaller prior.c, or leave out columns.");
    const Vector half = forward_solved(lower, sums_.gradient);
    expected_ = backward_solved(lower, half);
    u_ = backward_solved(lower, half + normals(random));
  }
};

}  // namespace

std::unique_ptr<ChainSampler> logit_chain(const BinaryTask &task, int chain) {
  return std::make_unique<LogitChain>(task, chain);
}

std::unique_ptr<ChainSampler> probit_chain(const BinaryTask &task, int chain) {
  return std::make_unique<ProbitChain>(task, chain);
}

}  // namespace bayes
