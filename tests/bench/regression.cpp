// A Newton pass of logistic and probit regression over the rows (log-likelihood, gradient and
// Hessian) against the machine: the time to read the rows from memory, and the rate of a square
// matrix product. CPU seconds of one thread, so that others on the machine hardly matter; the best
// of several runs.
//
// Arithmetic counted for a row with p terms: standardization 2p, predictor 2p, gradient 2p,
// curvature p + p (p + 1); link functions count nothing.
#include <cstdio>
#include <ctime>

#include "base/simd.hpp"
#include "regression/binary_rows.hpp"

using namespace bayes;

namespace {

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

template <class F> double best(int runs, F f) {
  double least = 1e300;
  for (int i = 0; i < runs; ++i) {
    const double begin = cpu_seconds();
    f();
    least = std::min(least, cpu_seconds() - begin);
  }
  return least;
}

double read_all(MemoryRows &rows) {
  simd::Vector sum[4] = {};
  for (const Piece &piece : rows.stretch(0)) {
    const std::size_t numbers =
        std::size_t((piece.rows + block_rows - 1) / block_rows) * rows.shape().block_doubles();
    for (std::size_t i = 0; i < numbers; i += 4 * simd::lanes)
      for (int j = 0; j < 4; ++j)
        sum[j] += simd::load(piece.blocks + i + std::size_t(j) * simd::lanes);
  }
  double out = 0;
  for (const simd::Vector &s : sum)
    for (int i = 0; i < simd::lanes; ++i) out += s[i];
  return out;
}

double product_rate() {
  const int n = 768;
  const Matrix a = Matrix::Random(n, n), b = Matrix::Random(n, n);
  volatile double sink = 0;
  return 2.0 * n * n * n / best(5, [&] { sink = sink + product(a, b)(0, 0); });
}

}  // namespace

int main() {
  const double rate = product_rate();
  std::printf("matrix product: %.1f GFlop/s\n", rate / 1e9);
  for (const auto &[n, d] : {std::pair(1000000, 20), {1000000, 5}, {100000, 100}}) {
    MemoryRows rows({d + 1, false});
    Random random(1);
    std::vector<double> x(std::size_t(d) + 1);
    for (int i = 0; i < n; ++i) {
      for (double &v : x) v = random.uniform();
      x[0] = random.uniform() < 1 / (1 + std::exp(x[1] - x[2])) ? 1 : 0;
      rows.append(x.data());
    }
    const RegressionTerms terms({}, d, true);
    Control control;
    BinaryRows data(rows, terms, control);
    const Vector u = Vector::Constant(d + 1, 0.1);
    volatile double sink = 0;
    const double memory = best(5, [&] { sink = sink + read_all(rows); });
    std::printf("%d rows of %d: read %.4f s", n, d, memory);
    const double p = d + 1, work = n * (8 * p + p * p);
    for (const Link link : {Link::logit, Link::probit}) {
      const double pass =
          best(5, [&] { sink = sink + data.likelihood(link, u, true).log_likelihood; });
      std::printf("; %s %.4f s, %.1f GFlop/s, %.0f %% of the product",
                  link == Link::logit ? "logit" : "probit", pass, work / pass / 1e9,
                  100 * work / pass / rate);
    }
    const double scales = best(3, [&] { BinaryRows again(rows, terms, control); });
    const double em =
        best(3, [&] { sink = sink + data.likelihood(Link::logit, u, false).log_likelihood; });
    std::printf("; gradient alone %.4f s; scales %.4f s\n", em, scales);
  }
}
