#include "counts/column_matching.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/simd.hpp"

namespace bayes {

ColumnMatcher::ColumnMatcher(const CountMatrix &reference)
    : roots_(reference.rows(), reference.columns()) {
  each_row(reference, [&](std::int32_t w) {
    for (int k = 0; k < reference.columns(); ++k)
      roots_.row(w)[k] = std::sqrt(double(reference.row(w)[k]));
  });
}

ColumnMatcher::ColumnMatcher(PaddedMatrix reference) : roots_(std::move(reference)) {
  each_row(roots_, [&](std::int32_t w) {
    for (int k = 0; k < roots_.columns(); ++k) roots_.row(w)[k] = std::sqrt(roots_.row(w)[k]);
  });
}

void ColumnMatcher::exchange(StateNumbers &numbers) {
  numbers.numbers(roots_.values());
  constexpr double most = 46341;  // the root of the largest count
  // Other numbers could overflow in the search for the best assignment, which then would not end.
  if (numbers.reads() && !std::all_of(roots_.values().begin(), roots_.values().end(),
                                      [](double root) { return root >= 0 && root <= most; }))
    refuse_checkpoint();
}

std::vector<int> ColumnMatcher::match(const CountMatrix &table, const ExchangeableGroups &groups,
                                      Control &control) const {
  return match_table(table, groups, control);
}

std::vector<int> ColumnMatcher::match(const PaddedMatrix &table, Control &control) const {
  return match_table(table, ExchangeableGroups(std::size_t(table.columns()), 0), control);
}

template <class T>
std::vector<int> ColumnMatcher::match_table(const PaddedTable<T> &table,
                                            const ExchangeableGroups &groups,
                                            Control &control) const {
  const int columns = table.columns(), stride = table.stride();
  const auto k = std::size_t(columns);
  Buffer rows(k * std::size_t(stride), 0.0);
  const PollScope scope(control);
  WorkPoll poll;
  for (std::int32_t w = 0; w < table.rows(); ++w) {
    poll(k);
    const double *const root = roots_.row(w);
    for (int i = 0; i < columns; ++i) {
      if (table.row(w)[i] == 0) continue;
      poll(k);
      const double own = std::sqrt(double(table.row(w)[i]));
      double *const to = rows.data() + std::size_t(i) * std::size_t(stride);
      for (int j = 0; j < stride; j += simd::lanes)
        simd::store(to + j, simd::madd(own, simd::load(root + j), simd::load(to + j)));
    }
  }
  // If the best matches of all columns are different, they are the answer.
  std::vector<int> best(k);
  std::vector<char> taken(k, 0);
  bool settled = true;
  for (std::size_t i = 0; i < k; ++i) {
    const double *const row = rows.data() + i * std::size_t(stride);
    best[i] = int(std::max_element(row, row + columns) - row);
    settled = settled && !taken[std::size_t(best[i])] && groups[std::size_t(best[i])] == groups[i];
    taken[std::size_t(best[i])] = 1;
  }
  if (settled) return best;
  std::vector<double> overlap(k * k);
  for (std::size_t i = 0; i < k; ++i)
    std::copy_n(rows.data() + i * std::size_t(stride), k, overlap.data() + i * k);
  return best_assignment(overlap, columns, groups);
}

}  // namespace bayes
