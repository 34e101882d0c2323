#include "regression/binary_gibbs.hpp"

#include <algorithm>
#include <cmath>

namespace bayes {
namespace {

/// Random numbers are named by the seed, the chain, the sweep and one of these.
enum ProbitStream : std::uint64_t { stream_of_coefficients, stream_of_rows };

class ProbitChain final : public ChainSampler {
 public:
  ProbitChain(const ProbitTask &task, int chain) : task_(task), chain_(std::uint64_t(chain)) {
    const Matrix spread = inverse_lower(task.mode.factor);
    u_ = task.mode.state + 2 * draw(spread, 0);
    augment(0);
  }

  double sweep(int index, Control &) override {
    const std::uint64_t number = std::uint64_t(index) + 1;
    // With u integrated out, y* has density exp(-(y*'y* - b'A^-1 b) / 2) where signs are right.
    const Vector image = bayes::product(task_.root, sums_.gradient);
    const double rest = std::max(sums_.squares - image.squaredNorm(), 1e-300);
    Random random(task_.seed, chain_, number, stream_of_coefficients);
    const double factor = std::sqrt(2 * random.gamma(0.5 * task_.rows.weight()) / rest);
    Vector v = factor * image;
    for (Eigen::Index j = 0; j < v.size(); ++j) v(j) += random.normal();
    u_ = transposed_times(task_.root, v);
    augment(number);
    return sums_.log_likelihood + log_prior(task_.precision, u_) + task_.log_units;
  }

  void record(std::vector<double> &values) const override {
    values.push_back(without_rounding_errors(sums_.log_likelihood));
    const std::vector<double> all = task_.record(u_);
    values.insert(values.end(), all.begin(), all.end());
  }

  void store(double) override {
    task_.draws.insert(task_.draws.end(), u_.data(), u_.data() + u_.size());
  }

 private:
  /// L'v for lower triangular L
  static Vector transposed_times(const Matrix &lower, const Vector &v) {
    Vector out(v.size());
    for (Eigen::Index j = 0; j < v.size(); ++j)
      out(j) = lower.col(j).tail(v.size() - j).dot(v.tail(v.size() - j));
    return out;
  }
  Vector draw(const Matrix &root, std::uint64_t number) const {
    Random random(task_.seed, chain_, number, stream_of_coefficients);
    Vector v(root.rows());
    for (Eigen::Index j = 0; j < v.size(); ++j) v(j) = random.normal();
    return transposed_times(root, v);
  }
  void augment(std::uint64_t number) {
    sums_ = task_.rows.augment(u_, RowRandom(task_.seed, chain_, number, stream_of_rows));
  }

  const ProbitTask &task_;
  const std::uint64_t chain_;
  Vector u_;
  /// of the latent variables drawn given u
  BinarySums sums_;
};

}  // namespace

std::unique_ptr<ChainSampler> probit_chain(const ProbitTask &task, int chain) {
  return std::make_unique<ProbitChain>(task, chain);
}

}  // namespace bayes
