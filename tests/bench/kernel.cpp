// The mixture kernel against the machine: square matrix products in double precision, and memory
// bandwidth.
//
// Prints for each shape the time of one pass over the rows (local step of EM: densities,
// responsibilities, statistics), the arithmetic done in it, its rate, and that rate as a share of
// the measured rate of a 1024 x 1024 matrix product.
//
// Arithmetic counted for a row and component, full covariance: centring 2d (once for the density,
// once for the scatter), triangular product d (d + 1), squares 2d, weighted rows 2d, scatter d (d +
// 1). Multiply and add count 1 each; exponentials count nothing, nor does padding. Tied covariance:
// the triangular product once a row, then 3d a component for the density. Diagonal: 4d for the
// density, 5d for the statistics.
//
// With the argument "short" it measures fewer shapes. To compare two builds on a machine that does
// other things too, run the short forms in turn and take the best of each.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "data/local_step.hpp"
#include "families/normal/normal_wishart.hpp"

using namespace bayes;

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The shortest of several runs: what the machine can do when nobody else uses it.
template <class F> double best(int runs, F f) {
  double least = 1e300;
  for (int i = 0; i < runs; ++i) {
    const double begin = seconds();
    f();
    least = std::min(least, seconds() - begin);
  }
  return least;
}

double gemm_rate() {
  const int n = 1024;
  const Matrix a = Matrix::Random(n, n), b = Matrix::Random(n, n);
  Matrix c(n, n);
  return 2.0 * n * n * n / best(7, [&] { c.noalias() = a * b; });
}

double read_bandwidth() {
  Buffer memory(std::size_t(1) << 25, 1.0);  // 256 MB
  volatile double sink = 0;
  return 8.0 * double(memory.size()) / best(5, [&] {
           simd::Vector sum[8] = {};
           for (std::size_t i = 0; i < memory.size(); i += 8 * simd::lanes)
             for (int j = 0; j < 8; ++j)
               sum[j] += simd::load(memory.data() + i + std::size_t(j * simd::lanes));
           for (const auto &s : sum)
             for (int i = 0; i < simd::lanes; ++i) sink = sink + s[i];
         });
}

void measure(const CovarianceShape &shape, int d, int k, std::int64_t n, double gemm) {
  MemoryRows rows({d, false});
  Random random(1);
  std::vector<double> x(static_cast<std::size_t>(d));
  for (std::int64_t i = 0; i < n; ++i) {
    for (double &v : x) v = random.normal() + double(i % k % 4);
    rows.append(x.data());
  }
  NormalPoint point{shape, Matrix::Random(d, k), {}};
  for (int c = 0; c < shape.count(k); ++c) {
    Matrix covariance = Matrix::Identity(d, d) * (1.5 + c % 3);
    covariance.array() += 0.3;
    point.covariance.push_back(shaped(shape, covariance));
  }
  const auto scorer = make_scorer(point);
  const std::vector<double> log_weights(std::size_t(k), -std::log(double(k)));
  const double product = d * (d + 1.0);  // a triangular matrix times a row
  const double operations =
      double(n) * (shape.shared  ? product + d + k * (3.0 * d + product + 3.0 * d)
                   : shape.dense ? k * (2 * product + 6.0 * d)
                                 : k * 9.0 * d);
  for (const int threads : {1, 2}) {
    Control control;
    control.threads = threads;
    const double time =
        best(5, [&] { local_step<SoftAllocation>(rows, control, scorer, log_weights); });
    std::printf(
        "%-10s d = %3d  k = %3d  n = %8lld  threads %d: %7.1f ms a pass, %6.1f Gflop/s = %3.0f %% "
        "of %d x gemm, %5.1f GB/s of rows\n",
        shape.name, d, k, static_cast<long long>(n), threads, 1e3 * time, operations / time / 1e9,
        100 * operations / time / (gemm * threads), threads, 8e-9 * double(n) * d / time);
  }
}

}  // namespace

int main(int count, char **arguments) {
  const bool brief = count > 1 && std::string_view(arguments[1]) == "short";
  const double gemm = gemm_rate();
  std::printf(
      "%d doubles in a vector; 1024 x 1024 matrix product on one thread: %.1f Gflop/s; reading "
      "memory: %.1f GB/s\n",
      simd::lanes, gemm / 1e9, read_bandwidth() / 1e9);
  measure(full_covariance, 16, 16, 200000, gemm);
  measure(full_covariance, 64, 16, 40000, gemm);
  measure(tied_covariance, 16, 16, 200000, gemm);
  measure(diagonal_covariance, 16, 16, 400000, gemm);
  if (brief) return 0;
  measure(full_covariance, 4, 8, 500000, gemm);
  measure(full_covariance, 200, 8, 10000, gemm);
  measure(diagonal_covariance, 64, 16, 100000, gemm);
  measure(spherical_covariance, 2, 4, 1000000, gemm);
  return 0;
}
