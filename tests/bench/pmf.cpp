// Probabilistic matrix factorization: ratings a second by the number of threads, and the error of
// held-out ratings.
//
// bench_pmf speed                a synthetic table: 1,000,000 ratings of 6,000 x 4,000 keys
// bench_pmf error DIR            a data set as .npy files: rows, cols (int32), vals (float64), and
//                                t_rows, t_cols, t_vals, held out; with DIR also for speed
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "factor/pmf_chain.hpp"

using namespace bayes;

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Rating {
  std::int32_t row, column;
  double value;
};

template <class T> std::vector<T> read_npy(const std::string &name) {
  std::ifstream file(name, std::ios::binary);
  std::stringstream all;
  all << file.rdbuf();
  const std::string bytes = all.str();
  if (bytes.size() < 10) {
    std::fprintf(stderr, "cannot read %s\n", name.c_str());
    std::exit(1);
  }
  const std::size_t header =
      10 + std::size_t(std::uint8_t(bytes[8])) + 256 * std::size_t(std::uint8_t(bytes[9]));
  std::vector<T> out((bytes.size() - header) / sizeof(T));
  std::memcpy(out.data(), bytes.data() + header, out.size() * sizeof(T));
  return out;
}

std::vector<Rating> read_ratings(const std::string &directory, const std::string &prefix) {
  const auto rows = read_npy<std::int32_t>(directory + "/" + prefix + "rows.npy");
  const auto columns = read_npy<std::int32_t>(directory + "/" + prefix + "cols.npy");
  const auto values = read_npy<double>(directory + "/" + prefix + "vals.npy");
  std::vector<Rating> out;
  for (std::size_t i = 0; i < rows.size(); ++i) out.push_back({rows[i], columns[i], values[i]});
  return out;
}

std::vector<Rating> synthetic() {
  Random random(1);
  std::vector<Rating> out;
  for (std::int32_t row = 0; row < 6000; ++row)
    for (std::int32_t column = 0; column < 4000; ++column)
      if (random.uniform() < 1.0 / 24) out.push_back({row, column, random.normal()});
  return out;
}

/// Lines by row, or by column.
MemoryCorpus corpus_of(std::vector<Rating> ratings, bool transposed) {
  std::int32_t sizes[2] = {0, 0};
  for (Rating &r : ratings) {
    if (transposed) std::swap(r.row, r.column);
    sizes[0] = std::max(sizes[0], r.row + 1);
    sizes[1] = std::max(sizes[1], r.column + 1);
  }
  std::sort(ratings.begin(), ratings.end(), [](const Rating &a, const Rating &b) {
    return std::tie(a.row, a.column) < std::tie(b.row, b.column);
  });
  MemoryCorpus out(sizes[1]);
  std::size_t at = 0;
  for (std::int32_t row = 0; row < sizes[0]; ++row) {
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    for (; at < ratings.size() && ratings[at].row == row; ++at) {
      columns.push_back(ratings[at].column);
      values.push_back(ratings[at].value);
    }
    out.append({columns, values});
  }
  return out;
}

PmfUnits units_of(const std::vector<Rating> &ratings) {
  double mean = 0, squares = 0;
  for (const Rating &r : ratings) mean += r.value / double(ratings.size());
  for (const Rating &r : ratings) squares += (r.value - mean) * (r.value - mean);
  return {mean, std::sqrt(double(ratings.size()) / squares)};
}

void speed(const std::vector<Rating> &ratings) {
  MemoryCorpus lines = corpus_of(ratings, false), transposed = corpus_of(ratings, true);
  for (const int rank : {8, 10, 16, 32, 64})
    for (const int threads : {1, 2}) {
      PmfTask task{lines, transposed, rank, units_of(ratings), {}, 1};
      PmfChain chain(task, 0);
      Control control;
      control.threads = threads;
      chain.sweep(0, control);
      double best = 1e9;
      for (int sweep = 1; sweep < 12; ++sweep) {
        const double begin = seconds();
        chain.sweep(sweep, control);
        best = std::min(best, seconds() - begin);
      }
      std::printf("rank %2d, %d threads: %.1f ms a sweep, %.1f million ratings a second a thread\n",
                  rank, threads, 1e3 * best, double(ratings.size()) / best / 1e6 / threads);
    }
}

double product(const PmfChain &chain, const Rating &r, int rank) {
  const PmfSide &lines = chain.side(pmf_lines), &others = chain.side(pmf_others);
  double out = lines.means.empty()
                   ? 0
                   : lines.means[std::size_t(r.row)] + others.means[std::size_t(r.column)];
  for (int k = 0; k < rank; ++k) out += lines.vectors.of(r.row)[k] * others.vectors.of(r.column)[k];
  return out;
}

/// By the number of draws that are averaged, evenly spaced over the second half.
void error(const std::vector<Rating> &ratings, const std::vector<Rating> &held_out, int rank) {
  MemoryCorpus lines = corpus_of(ratings, false), transposed = corpus_of(ratings, true);
  for (const bool means : {true, false})
    for (const bool hierarchical : {false, true}) {
      PmfTask task{lines, transposed, rank, units_of(ratings), {}, 1};
      task.prior.means = means;
      task.prior.hierarchical = hierarchical;
      if (!means) task.units.center = 0;
      PmfChain chain(task, 0);
      Control control;
      control.threads = 2;
      constexpr int sweeps = 240;
      std::vector<double> sums(held_out.size()), few(held_out.size());
      double all = 0, sparse = 0;
      for (int sweep = 0; sweep < sweeps; ++sweep) {
        chain.sweep(sweep, control);
        if (sweep % 20 == 19)
          std::printf("  sweep %d: log joint %.1f, rmse %.5f, noise %.5f, c %.5f, norm %.4f\n",
                      sweep, chain.log_joint(), chain.root_mean_square() / task.units.inverse,
                      std::sqrt(chain.parameters().noise) / task.units.inverse,
                      chain.parameters().c, chain.norm());
        if (sweep < sweeps / 2) continue;
        ++all;
        const bool one = sweep % 11 == 10;
        sparse += one;
        for (std::size_t i = 0; i < held_out.size(); ++i) {
          const double x = product(chain, held_out[i], rank);
          sums[i] += x;
          if (one) few[i] += x;
        }
        const auto rmse = [&](const std::vector<double> &sum, double n) {
          double squares = 0;
          for (std::size_t i = 0; i < held_out.size(); ++i) {
            const double miss =
                sum[i] / n / task.units.inverse + task.units.center - held_out[i].value;
            squares += miss * miss;
          }
          return std::sqrt(squares / double(held_out.size()));
        };
        if (sweep == sweeps - 1)
          std::printf("means %d, hierarchical %d: rmse %.5f of %g draws, %.5f of %g\n", means,
                      hierarchical, rmse(sums, all), all, rmse(few, sparse), sparse);
      }
    }
}

}  // namespace

int main(int arguments, char **argument) {
  const std::string what = arguments > 1 ? argument[1] : "",
                    directory = arguments > 2 ? argument[2] : "";
  if (what == "speed") {
    speed(directory.empty() ? synthetic() : read_ratings(directory, ""));
  } else if (what == "error" && !directory.empty()) {
    error(read_ratings(directory, ""), read_ratings(directory, "t_"),
          arguments > 3 ? std::atoi(argument[3]) : 16);
  } else {
    std::fprintf(stderr, "bench_pmf speed [DIR] | error DIR [RANK]\n");
    return 2;
  }
}
