// A Newton pass of logistic and probit regression over the rows (log-likelihood, gradient and
// Hessian) against the machine: the time to read the rows from memory, and the rate of a square
// matrix product. CPU seconds of one thread, so that others on the machine hardly matter; the best
// of several runs. Then the sums of a linear regression, compensated, against plain sums of doubles
// of the same products.
//
// Arithmetic counted for a row with p terms: standardization 2p, predictor 2p, gradient 2p,
// curvature p + p (p + 1); link functions count nothing.
#include <cstdio>
#include <ctime>

#include "base/simd.hpp"
#include "regression/glm_rows.hpp"
#include "regression/linreg_sums.hpp"

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

/// Of the products of the cells of rows, sixteen at a time as the accumulator takes them.
class PlainSums {
 public:
  explicit PlainSums(std::size_t cells)
      : stride_((cells + simd::lanes - 1) / simd::lanes * simd::lanes),
        sums_(stride_ * stride_),
        rows_(16 * stride_) {}

  void add(double y, std::span<const double> x) {
    double *const row = &rows_[waiting_ * stride_];
    row[0] = 1;
    row[1] = y;
    std::copy(x.begin(), x.end(), row + 2);
    if (++waiting_ == 16) flush();
  }
  double last() const { return sums_.back(); }

 private:
  void flush() {
    for (std::size_t i = 0; i < stride_; ++i)
      for (std::size_t j = 0; j <= i; j += simd::lanes) {
        simd::Vector sum = simd::load(&sums_[i * stride_ + j]);
        for (std::size_t r = 0; r < waiting_; ++r)
          sum = simd::madd(rows_[r * stride_ + i], simd::load(&rows_[r * stride_ + j]), sum);
        simd::store(&sums_[i * stride_ + j], sum);
      }
    waiting_ = 0;
  }

  std::size_t stride_;
  std::vector<double> sums_, rows_;
  std::size_t waiting_ = 0;
};

void time_linear_sums(int n, int d) {
  std::vector<double> x(static_cast<std::size_t>(d), 0.0);
  const auto taken = [&](auto &&add) {
    return best(5, [&] {
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < d; ++j) x[std::size_t(j)] = double(i % 97) / (j + 1.5);
        add(double(i % 89), x);
      }
    });
  };
  volatile double sink = 0;
  const double none = taken([&](double y, const auto &) { sink = y; });
  PlainSums sums(x.size() + 2);
  const double plain = taken([&](double y, const auto &row) { sums.add(y, row); });
  sink = sums.last();
  LinregAccumulator accumulator(std::pmr::get_default_resource());
  accumulator.begin(RowColumns(), d, false);
  const double compensated = taken([&](double y, const auto &row) { accumulator.add(y, row, 1); });
  std::printf("sums of %d rows of %d predictors: plain %.4f s, compensated %.4f s, x %.2f\n", n, d,
              plain - none, compensated - none, (compensated - none) / (plain - none));
}

}  // namespace

int main() {
  for (const int d : {5, 20, 100}) time_linear_sums(2000000 / d, d);
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
    GlmRows data(rows, terms, bernoulli(Link::logit), {}, control);
    const Vector u = Vector::Constant(d + 1, 0.1);
    volatile double sink = 0;
    const double memory = best(5, [&] { sink = sink + read_all(rows); });
    std::printf("%d rows of %d: read %.4f s", n, d, memory);
    const double p = d + 1, work = n * (8 * p + p * p);
    for (const NumberResponse *const response : number_responses()) {
      GlmRows of(rows, terms, *response, {}, control);
      const Vector at = Vector::Constant(of.size(), 0.1);
      const double pass = best(5, [&] { sink = sink + of.likelihood(at, true).log_likelihood; });
      std::printf("; %s %.4f s, %.1f GFlop/s, %.0f %% of the product", response->name, pass,
                  work / pass / 1e9, 100 * work / pass / rate);
    }
    const double scales =
        best(3, [&] { GlmRows again(rows, terms, data.response(), {}, control); });
    const double em = best(3, [&] { sink = sink + data.likelihood(u, false).log_likelihood; });
    std::printf("; gradient alone %.4f s; scales %.4f s\n", em, scales);
  }
}
