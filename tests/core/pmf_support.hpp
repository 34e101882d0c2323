// Tables of ratings for the tests of probabilistic matrix factorization.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "factor/factor_table.hpp"
#include "factor/pmf.hpp"

namespace ratings {

using namespace bayes;

struct Cell {
  std::int32_t row, column;
  double x;
  /// 0: the table has no weights
  double weight = 0;
};

struct Cells {
  std::int32_t rows, columns;
  std::vector<Cell> cells;
};

inline void fill(MemoryCorpus &corpus, std::int32_t lines, std::vector<Cell> cells) {
  corpus.clear();
  std::sort(cells.begin(), cells.end(), [](const Cell &a, const Cell &b) {
    return std::tie(a.row, a.column) < std::tie(b.row, b.column);
  });
  std::size_t at = 0;
  for (std::int32_t line = 0; line < lines; ++line) {
    std::vector<std::int32_t> terms;
    std::vector<double> counts, weights;
    for (; at < cells.size() && cells[at].row == line; ++at) {
      terms.push_back(cells[at].column);
      counts.push_back(cells[at].x);
      if (cells[at].weight > 0) weights.push_back(cells[at].weight);
    }
    corpus.append({terms, counts, weights});
  }
}

/// With `weight(i)` for cell i, or with as many copies of it.
inline Cells weighted(Cells of, double (*weight)(std::size_t i), bool copies = false) {
  std::vector<Cell> out;
  for (std::size_t i = 0; i < of.cells.size(); ++i) {
    if (!copies) of.cells[i].weight = weight(i);
    for (int n = 0; n < (copies ? int(weight(i)) : 1); ++n) out.push_back(of.cells[i]);
  }
  of.cells = std::move(out);
  return of;
}

inline Cells transposed(Cells of) {
  std::swap(of.rows, of.columns);
  for (Cell &cell : of.cells) std::swap(cell.row, cell.column);
  return of;
}

/// A table by both sides, lines those of the side with more keys.
struct Table {
  explicit Table(const Cells &of) : lines(0), others(0) {
    table.transposed = &others;
    const bool by_row = of.rows >= of.columns;
    table.document_side = by_row ? Side::row : Side::column;
    const Cells cells = by_row ? of : ratings::transposed(of);
    lines = MemoryCorpus(cells.columns);
    others = MemoryCorpus(cells.rows);
    fill(lines, cells.rows, cells.cells);
    fill(others, cells.columns, ratings::transposed(cells).cells);
    table.document_keys = names(cells.rows, by_row ? 'r' : 'c');
    table.term_keys = names(cells.columns, by_row ? 'c' : 'r');
  }
  static std::string name(char side, std::int32_t index) {
    return side + std::to_string(100000 + index);
  }
  static std::vector<std::string> names(std::int32_t count, char side) {
    std::vector<std::string> out;
    for (std::int32_t i = 0; i < count; ++i) out.push_back(name(side, i));
    return out;
  }
  MemoryCorpus lines, others;
  FactorTable table{lines, nullptr, Side::row, {}, {}, 0};
};

/// A table from the model, with the numbers that it did not keep.
struct Synthetic {
  Cells fitted, held_out;
  double noise_sd;
  /// of the means of the cells held out
  std::vector<double> truth;
};

/// Ratings around `level`, of which a share `known` is in the table and as many are held out.
inline Synthetic synthetic(std::int32_t rows, std::int32_t columns, int rank, double known,
                           std::uint64_t seed, double size = 1, double level = 3) {
  Random random(seed, 77);
  const auto numbers = [&](std::int32_t count, double sd) {
    std::vector<double> out(static_cast<std::size_t>(count));
    for (double &x : out) x = sd * random.normal();
    return out;
  };
  const double c = size / std::sqrt(double(rank));
  const auto u = numbers(rows * rank, std::sqrt(c)), v = numbers(columns * rank, std::sqrt(c)),
             a = numbers(rows, 0.5 * size), b = numbers(columns, 0.3 * size);
  Synthetic out{{rows, columns, {}}, {rows, columns, {}}, 0.5 * size, {}};
  for (std::int32_t i = 0; i < rows; ++i)
    for (std::int32_t j = 0; j < columns; ++j) {
      const double where = random.uniform();
      if (where > 2 * known) continue;
      double mean = level + a[std::size_t(i)] + b[std::size_t(j)];
      for (int k = 0; k < rank; ++k)
        mean += u[std::size_t(i * rank + k)] * v[std::size_t(j * rank + k)];
      const Cell cell{i, j, mean + out.noise_sd * random.normal()};
      (where < known ? out.fitted : out.held_out).cells.push_back(cell);
      if (where >= known) out.truth.push_back(mean);
    }
  return out;
}

inline std::unique_ptr<PmfModel> fit(const Cells &cells, int rank, const Document &options,
                                     int threads = 2) {
  Table table(cells);
  Control control;
  control.threads = threads;
  return pmf_fit(table.table, rank, options, control);
}

}  // namespace ratings
