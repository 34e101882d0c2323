#include "base/assignment.hpp"

#include <cmath>
#include <limits>
#include <numeric>
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

ExchangeableGroups exchangeable_groups(int k,
                                       const std::function<bool(int i, int j)> &exchangeable) {
  // Exchangeability is transitive, as (i l) = (i j)(j l)(i j), so one comparison with the first
  // member of each group is enough.
  ExchangeableGroups out(static_cast<std::size_t>(k));
  for (int j = 0; j < k; ++j) {
    poll_here();
    int first = 0;
    while (first < j && !(out[std::size_t(first)] == first && exchangeable(first, j))) ++first;
    out[std::size_t(j)] = first;
  }
  return out;
}

ExchangeableGroups no_exchange(int k) {
  ExchangeableGroups out(static_cast<std::size_t>(k));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

bool has_several_groups(const ExchangeableGroups &groups) {
  for (const int group : groups)
    if (group != 0) return true;
  return false;
}

std::vector<int> best_assignment(const std::vector<double> &overlap, int k,
                                 const ExchangeableGroups &groups) {
  if (!has_several_groups(groups)) return best_assignment(overlap, k);
  std::vector<int> out(static_cast<std::size_t>(k));
  std::vector<std::vector<int>> members(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) members[std::size_t(groups[i])].push_back(int(i));
  for (const std::vector<int> &group : members) {
    std::vector<double> own;
    for (const int i : group)
      for (const int j : group)
        own.push_back(overlap[std::size_t(i) * out.size() + std::size_t(j)]);
    const std::vector<int> names = best_assignment(own, int(group.size()));
    for (std::size_t i = 0; i < group.size(); ++i)
      out[std::size_t(group[i])] = group[std::size_t(names[i])];
  }
  return out;
}

std::vector<int> order_within(const std::vector<int> &order, const ExchangeableGroups &groups) {
  std::vector<std::vector<int>> members(groups.size());
  for (const int i : order) members[std::size_t(groups[std::size_t(i)])].push_back(i);
  std::vector<std::size_t> next(groups.size(), 0);
  std::vector<int> out;
  for (const int group : groups)
    out.push_back(members[std::size_t(group)][next[std::size_t(group)]++]);
  return out;
}

}  // namespace bayes
