// Probabilistic matrix factorization: ratings a second by rank and number of threads, and the error
// of held-out ratings by number of draws.
//
// bench_pmf [speed]         1,000,000 ratings of 6,000 x 4,000 keys, drawn from the model with
//                           rank 16, whose noise has a standard deviation of 0.7
// bench_pmf error           the same, and 100,000 held out
// bench_pmf speed|error DIR [RANK]  a data set as .npy files: rows, cols (int32), vals (float64),
//                           and t_rows, t_cols, t_vals, held out
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

/// `part`: 0 the ratings, 1 those that are held out.
std::vector<Rating> synthetic(int part) {
  constexpr int rows = 6000, columns = 4000, rank = 16;
  Random random(1);
  std::vector<double> u(rows * rank), v(columns * rank), a(rows), b(columns);
  for (double &x : u) x = 0.35 * random.normal();
  for (double &x : v) x = 0.35 * random.normal();
  for (double &x : a) x = 0.4 * random.normal();
  for (double &x : b) x = 0.3 * random.normal();
  std::vector<Rating> out;
  for (std::int32_t row = 0; row < rows; ++row)
    for (std::int32_t column = 0; column < columns; ++column) {
      const double where = 24 * random.uniform();
      if (where > 1.1) continue;
      double x = 3.5 + a[std::size_t(row)] + b[std::size_t(column)] + 0.7 * random.normal();
      for (int k = 0; k < rank; ++k)
        x += u[std::size_t(row * rank + k)] * v[std::size_t(column * rank + k)];
      if ((where > 1) == (part == 1)) out.push_back({row, column, x});
    }
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
  const PmfSide &lines = chain.side(pmf_first), &others = chain.side(pmf_second);
  double out = lines.means.empty()
                   ? 0
                   : lines.means[std::size_t(r.row)] + others.means[std::size_t(r.column)];
  for (int k = 0; k < rank; ++k)
    out += lines.vectors.row(r.row)[k] * others.vectors.row(r.column)[k];
  return out;
}

/// The mean of draws that are evenly spaced over the second half of a chain.
struct Averaged {
  int draws;
  std::vector<double> sums;
  double count = 0;
};

void error(const std::vector<Rating> &ratings, const std::vector<Rating> &held_out, int rank) {
  constexpr int sweeps = 400;
  MemoryCorpus lines = corpus_of(ratings, false), transposed = corpus_of(ratings, true);
  for (const bool hierarchical : {false, true}) {
    PmfTask task{lines, transposed, rank, units_of(ratings), {}, 1};
    task.prior.hierarchical = hierarchical;
    PmfChain chain(task, 0);
    Control control;
    control.threads = 2;
    std::vector<Averaged> averaged;
    for (const int draws : {1, 10, 40, 200})
      averaged.push_back({draws, std::vector<double>(held_out.size()), 0});
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      chain.sweep(sweep, control);
      for (Averaged &each : averaged) {
        if (sweep < sweeps / 2 || (sweep + 1) % (sweeps / 2 / each.draws) != 0) continue;
        ++each.count;
        for (std::size_t i = 0; i < held_out.size(); ++i)
          each.sums[i] += product(chain, held_out[i], rank);
      }
    }
    std::printf("rank %d%s: noise %.4f", rank, hierarchical ? ", hierarchical" : "",
                std::sqrt(chain.parameters().noise) / task.units.inverse);
    for (const Averaged &each : averaged) {
      double squares = 0;
      for (std::size_t i = 0; i < held_out.size(); ++i) {
        const double mean = each.sums[i] / each.count / task.units.inverse + task.units.center;
        squares += (mean - held_out[i].value) * (mean - held_out[i].value);
      }
      std::printf("; rmse %.5f of %g draws", std::sqrt(squares / double(held_out.size())),
                  each.count);
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string what = argc > 1 ? argv[1] : "", directory = argc > 2 ? argv[2] : "";
  const auto ratings = directory.empty() ? synthetic(0) : read_ratings(directory, "");
  if (what == "error")
    error(ratings, directory.empty() ? synthetic(1) : read_ratings(directory, "t_"),
          argc > 3 ? std::atoi(argv[3]) : 16);
  else
    speed(ratings);
}
