// The best partition into exactly two clusters under the Rand loss.
//
// With s_ij the posterior probability that rows i and j are together, the expected number of pairs
// on which a partition is wrong is
//   sum_{i<j} (1 - s_ij) + sum over pairs in different clusters of (2 s_ij - 1),
// so the best bipartition is a minimum cut of the complete graph with weights 2 s_ij - 1. 003 says
// that algorithms for minimum cuts find it. They do if no weight is negative, that is if no two
// rows are more probably apart than together. Otherwise they do not apply, and no polynomial
// algorithm is known: the problem includes the maximum cut, which is NP-hard. (Take any graph with
// N pairs that are not edges; one draw for each of them with this pair together and all else apart,
// and N - 2 draws with everything together. Then 2 s_ij - 1 is 0 for these pairs, and the same
// negative number for all edges.)
//
// Up to 20 patterns (rows that are together in every draw) are cut in every way. Beyond that, a
// minimum cut of the positive weights alone (Stoer and Wagner 1997), and Kernighan-Lin local search
// (1970) from it, from cuts between the clusters of draws, and from random ones. The result is
// proved optimal if it costs no more than that minimum cut plus all negative weights, a lower bound
// for every cut. The bound is attained if no weight is negative, and also by two well-separated
// clusters: there all negative weights are cut and no positive ones.
//
// Patterns are not divided, with one exception. By the argument in partition_search.hpp an optimal
// cut has all w rows of a pattern on one side, or else one side that consists of t of them only:
// that costs t (w - t) plus t times the cost of a single row, which is concave in t, so t = 1.

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"
#include "partition/partition_search.hpp"
#include "partition/partition_state.hpp"

namespace bayes {
namespace {

constexpr std::size_t exhaustive_patterns = 20, max_patterns = 1000;

double cost_of(const Graph &graph, const std::vector<char> &side) {
  double cost = 0;
  for (std::size_t i = 0; i < graph.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (side[i] != side[j]) cost += graph[i][j];
  return cost;
}

// The increase of the cut's cost if i changes sides.
double change(const Graph &graph, const std::vector<char> &side, std::size_t i) {
  double sum = 0;
  for (std::size_t j = 0; j < graph.size(); ++j)
    sum += side[i] == side[j] ? graph[i][j] : -graph[i][j];
  return sum;
}

// Tries every cut, each obtained from the previous one by moving one pattern (a Gray code). The
// last pattern never moves.
Cut every_cut(const Graph &graph, Control &control) {
  Cut best;
  std::vector<char> side(graph.size(), 0);
  double cost = 0;
  for (std::uint32_t step = 1; step < (std::uint32_t(1) << (graph.size() - 1)); ++step) {
    if (step % (1 << 14) == 0) control.poll();
    std::size_t i = 0;
    while (!(step >> i & 1)) ++i;
    cost += change(graph, side, i);
    side[i] ^= 1;
    if (cost < best.cost) best = {side, cost};
  }
  return best;
}

// Passes in which every pattern changes sides once, always the one that leaves the cheapest cut;
// the next pass begins at the best cut found, until there is no improvement.
void improve(const Graph &graph, Cut &cut, Control &control) {
  const std::size_t n = graph.size();
  for (bool better = true; better;) {
    control.poll();
    const double before = cut.cost;
    std::vector<char> side = cut.side, moved(n, 0);
    std::vector<double> rise(n);
    for (std::size_t i = 0; i < n; ++i) rise[i] = change(graph, side, i);
    std::size_t ones = std::size_t(std::count(side.begin(), side.end(), 1));
    double cost = cut.cost;
    for (std::size_t step = 0; step < n; ++step) {
      std::size_t i = n;
      for (std::size_t j = 0; j < n; ++j)
        if (!moved[j] && (i == n || rise[j] < rise[i])) i = j;
      cost += rise[i];
      moved[i] = 1;
      side[i] ^= 1;
      ones = side[i] ? ones + 1 : ones - 1;
      rise[i] = -rise[i];
      for (std::size_t j = 0; j < n; ++j)
        if (j != i) rise[j] += side[i] == side[j] ? 2 * graph[i][j] : -2 * graph[i][j];
      if (cost < cut.cost && ones > 0 && ones < n) cut = {side, cost};
    }
    cut.cost = cost_of(graph, cut.side);
    better = cut.cost < before;
  }
}

}  // namespace

// Each phase adds vertices one by one, always the one most strongly connected to those before. The
// last one against all others is the minimum cut that separates it from the last but one, so these
// two are then merged.
Cut minimum_cut(Graph graph, Control &control) {
  const std::size_t n = graph.size();
  std::vector<std::size_t> left(n);
  std::iota(left.begin(), left.end(), 0);
  std::vector<std::vector<std::size_t>> joined(n);
  for (std::size_t i = 0; i < n; ++i) joined[i] = {i};
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> best;
  std::vector<double> bound(n);
  while (left.size() > 1) {
    control.poll();
    std::vector<std::size_t> rest = left;
    std::fill(bound.begin(), bound.end(), 0.0);
    std::size_t last = 0, before = 0;
    while (!rest.empty()) {
      const auto next =
          std::max_element(rest.begin(), rest.end(),
                           [&](std::size_t a, std::size_t b) { return bound[a] < bound[b]; });
      before = last;
      last = *next;
      *next = rest.back();
      rest.pop_back();
      for (std::size_t j = 0; j < n; ++j) bound[j] += graph[last][j];
    }
    const double cost = bound[last];
    if (cost < least) {
      least = cost;
      best = joined[last];
    }
    joined[before].insert(joined[before].end(), joined[last].begin(), joined[last].end());
    for (std::size_t j = 0; j < n; ++j) graph[j][before] = graph[before][j] += graph[last][j];
    for (std::size_t j = 0; j < n; ++j) graph[j][last] = graph[last][j] = 0;
    graph[before][before] = 0;
    left.erase(std::find(left.begin(), left.end(), last));
  }
  Cut cut{std::vector<char>(n, 0), least};
  for (const std::size_t i : best) cut.side[i] = 1;
  return cut;
}

namespace {

/// The weights between patterns: M sum_ij (2 s_ij - 1) over rows i of one and j of the other, whole
/// numbers, so that sums and comparisons are exact.
struct Weights {
  Graph all, positive;
  /// the sum of the negative ones
  double negative = 0;
};

Weights weights_of(const Table &table, const std::vector<std::uint32_t> &rows, Work &work) {
  const std::size_t n = rows.size();
  Weights out{Graph(n), Graph(n)};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      work.spend(double(table.draws) / 8);
      const std::uint16_t *const a = &table.labels[i * table.draws],
                                 *const b = &table.labels[j * table.draws];
      std::uint32_t together = 0;
      for (std::size_t m = 0; m < table.draws; ++m) together += a[m] == b[m];
      out.all[i][j] = out.all[j][i] = (2.0 * together - double(table.draws)) * rows[i] * rows[j];
      out.positive[i][j] = out.positive[j][i] = std::max(0.0, out.all[i][j]);
      out.negative += std::min(0.0, out.all[i][j]);
    }
  }
  return out;
}

/// One row of a pattern of several rows against all others.
struct RowAlone {
  std::size_t pattern;
  double cost = std::numeric_limits<double>::infinity(), positive = cost;
};

RowAlone best_alone(const Weights &weights, const std::vector<std::uint32_t> &rows, double draws) {
  const std::size_t n = rows.size();
  RowAlone out{n};
  for (std::size_t i = 0; i < n; ++i) {
    const double w = rows[i];
    if (w == 1) continue;
    const double inside = draws * (w - 1);
    const double cost = inside + std::accumulate(weights.all[i], weights.all[i] + n, 0.0) / w;
    out.positive =
        std::min(out.positive,
                 inside + std::accumulate(weights.positive[i], weights.positive[i] + n, 0.0) / w);
    if (cost < out.cost) {
      out.cost = cost;
      out.pattern = i;
    }
  }
  return out;
}

/// Random cut s: by the clusters of a draw, or of any patterns.
Cut random_cut(const PartitionDraws &draws, const Patterns &patterns, std::uint64_t seed,
               std::uint64_t s) {
  constexpr std::uint64_t from_draws = 32;
  const std::size_t n = patterns.rows.size();
  Random random(seed, s, 0, 0x637574);
  Cut cut{std::vector<char>(n, 0), 0};
  const int draw = int(random.below(std::uint64_t(draws.size())));
  std::vector<char> side(s < from_draws ? std::size_t(draws.clusters(draw)) : n);
  for (char &c : side) c = char(random.below(2));
  for (std::size_t i = 0; i < n; ++i)
    cut.side[i] = side[s < from_draws ? draws.labels(draw)[patterns.rows.row[i]] : i];
  cut.side[0] = 0;
  if (std::count(cut.side.begin(), cut.side.end(), 1) == 0) cut.side[n - 1] = 1;
  return cut;
}

}  // namespace

PatternPartition search_bipartition(const PartitionDraws &draws, Patterns &patterns,
                                    std::uint64_t seed, Control &control) {
  if (draws.rows() < 2)
    throw Error(Errc::invalid_argument, "one row cannot be divided into two clusters");
  const std::size_t n = patterns.rows.size();
  if (n > max_patterns)
    throw Error(Errc::too_large,
                "a bipartition can be found for at most " + std::to_string(max_patterns) +
                    " rows that are not together in every draw",
                "There are " + std::to_string(n) + ".",
                "Divide fewer rows, or use a point estimate with any number of clusters.");
  Work work(control);
  std::vector<int> all(std::size_t(draws.size()));
  std::iota(all.begin(), all.end(), 0);
  const Table table(draws, patterns.rows, all, work);
  const Weights weights = weights_of(table, patterns.rows.weight, work);
  const RowAlone alone = best_alone(weights, patterns.rows.weight, double(table.draws));
  Cut best;
  bool optimal = true;
  if (n <= exhaustive_patterns) {
    if (n > 1) best = every_cut(weights.all, control);
  } else {
    best = minimum_cut(weights.positive, control);
    const double bound = std::min(best.cost, alone.positive) + weights.negative;
    best.cost = cost_of(weights.all, best.side);
    improve(weights.all, best, control);
    constexpr std::uint64_t starts = 64;
    for (std::uint64_t s = 0; s < starts && std::min(best.cost, alone.cost) > bound; ++s) {
      Cut cut = random_cut(draws, patterns, seed, s);
      cut.cost = cost_of(weights.all, cut.side);
      improve(weights.all, cut, control);
      if (cut.cost < best.cost) best = cut;
    }
    optimal = std::min(best.cost, alone.cost) <= bound;
  }
  PatternPartition partition{{best.side.begin(), best.side.end()}, 2, optimal};
  if (alone.cost < best.cost) {
    // The last row leaves the pattern, as the first one represents it.
    std::size_t row = patterns.of_row.size();
    while (patterns.of_row[--row] != alone.pattern) {
    }
    patterns.of_row[row] = std::uint32_t(n);
    --patterns.rows.weight[alone.pattern];
    patterns.rows.row.push_back(std::uint32_t(row));
    patterns.rows.weight.push_back(1);
    partition.labels.assign(n + 1, 0);
    partition.labels[n] = 1;
  }
  return partition;
}

// Time is dominated by patterns^2 x draws comparisons of labels, which is acceptable for 500 draws.
PatternPartition search_bipartition_of_many(const PartitionDraws &draws, Patterns &patterns,
                                            std::uint64_t seed, Control &control) {
  constexpr int max_searched = 500;
  const double n = double(patterns.rows.size());
  if (draws.size() <= max_searched || (n <= double(max_patterns) && n * n * draws.size() <= 1e8))
    return search_bipartition(draws, patterns, seed, control);
  const PartitionDraws some = draws.evenly_spaced(max_searched);
  Patterns of_some(some, control);
  const PatternPartition found = search_bipartition(some, of_some, seed, control);
  std::vector<int> labels;
  for (const std::uint32_t p : of_some.of_row) labels.push_back(found.labels[p]);
  // The rows of a pattern must be on one side, so the partition found counts as one more draw.
  PartitionDraws with_labels = draws;
  with_labels.add(labels);
  patterns = Patterns(with_labels, control);
  PatternPartition out{{}, 2, false};
  for (const std::uint32_t row : patterns.rows.row) out.labels.push_back(labels[row]);
  return out;
}

}  // namespace bayes
