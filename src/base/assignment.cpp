#include "base/assignment.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"

namespace bayes {

// Rows are assigned one at a time. Costs are -overlap. The prices (dual variables) of rows and
// columns keep every reduced cost, cost - row price - column price, non-negative and that of
// assigned pairs zero, so the rows assigned so far are assigned at least cost. A new row follows
// the shortest path, in reduced costs, to a free column (Dijkstra on a dense graph) and swaps the
// assignments along it.
std::vector<int> best_assignment(const std::vector<double> &overlap, int k) {
  if (k < 0 || overlap.size() != std::size_t(k) * std::size_t(k))
    throw Error(
        Errc::invalid_argument,
        message("the matrix of overlaps has {} entries, not {} x {}", overlap.size(), k, k));
  for (std::size_t i = 0; i < overlap.size(); ++i)
    if (!std::isfinite(overlap[i]))
      throw Error(Errc::invalid_argument, "an overlap is not finite",
                  message("It is entry {}, counted from 0.", i));
  const std::size_t n = std::size_t(k), none = n;
  std::vector<double> row_price(n), column_price(n + 1), distance(n);
  // column n is the source: it holds the row to be assigned
  std::vector<std::size_t> row_of(n + 1, none), before(n);
  std::vector<char> done(n + 1);
  for (std::size_t row = 0; row < n; ++row) {
    poll_here();
    distance.assign(n, std::numeric_limits<double>::infinity());
    done.assign(n + 1, 0);
    row_of[n] = row;
    std::size_t column = n;
    while (row_of[column] != none) {
      done[column] = 1;
      const std::size_t from = row_of[column];
      std::size_t next = none;
      double step = std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < n; ++j) {
        if (done[j]) continue;
        const double reduced = -overlap[from * n + j] - row_price[from] - column_price[j];
        if (reduced < distance[j]) {
          distance[j] = reduced;
          before[j] = column;
        }
        if (distance[j] < step || next == none) {
          step = distance[j];
          next = j;
        }
      }
      // Adjust the prices so that the nearest column has reduced cost 0; distances are measured
      // from it.
      for (std::size_t j = 0; j <= n; ++j) {
        if (done[j]) {
          row_price[row_of[j]] += step;
          column_price[j] -= step;
        } else if (j < n) {
          distance[j] -= step;
        }
      }
      column = next;
    }
    for (; column != n; column = before[column]) row_of[column] = row_of[before[column]];
  }
  std::vector<int> assignment(n);
  for (std::size_t j = 0; j < n; ++j) assignment[row_of[j]] = int(j);
  return assignment;
}

}  // namespace bayes
