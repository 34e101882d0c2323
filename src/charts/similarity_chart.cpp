// The chart of how probable it is that rows belong together.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/message.hpp"
#include "base/random.hpp"
#include "charts/chart_kinds.hpp"
#include "questions/answers.hpp"
#include "questions/row_distribution.hpp"

namespace bayes {
namespace {

/// Rows in an order in which those that are alike are neighbours: that of the leaves of the tree
/// that joins the two most similar clusters of rows again and again, by the average similarity of
/// their rows. Larger clusters come first. `similar`: n x n, symmetric.
std::vector<std::size_t> order_of_blocks(std::vector<double> similar, std::size_t n) {
  std::vector<std::vector<std::size_t>> clusters(n);
  for (std::size_t i = 0; i < n; ++i) clusters[i] = {i};
  for (std::size_t joined = 1; joined < n; ++joined) {
    poll_here();
    std::size_t a = n, b = n;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n && !clusters[i].empty(); ++j)
        if (!clusters[j].empty() && (a == n || similar[i * n + j] > similar[a * n + b])) {
          a = i;
          b = j;
        }
    const double in_a = double(clusters[a].size()), in_b = double(clusters[b].size());
    for (std::size_t i = 0; i < n; ++i)
      similar[i * n + a] = similar[a * n + i] =
          (in_a * similar[a * n + i] + in_b * similar[b * n + i]) / (in_a + in_b);
    if (in_b > in_a) clusters[a].swap(clusters[b]);
    clusters[a].insert(clusters[a].end(), clusters[b].begin(), clusters[b].end());
    clusters[b].clear();
  }
  return n > 0 ? clusters[0] : std::vector<std::size_t>();
}

}  // namespace

bool has_similarity(const Model &model) {
  // Steps of a sequence depend on each other, and the rows of a classifier have their labels.
  if (model.info.family == "hmm" || model.info.family == "nb") return false;
  if (model.info.components <= 1 && model.stored_draws() == 0) return false;
  return numbers_of_rows(model) >= 0;
}

ChartRows rows_of_plot(const ChartRows &rows, int width, std::uint64_t seed) {
  ChartRows out = rows;
  // Beside the cells stand the numbers of the rows, as the plot writes them.
  std::int64_t largest = 0;
  for (const std::int64_t number : rows.numbers) largest = std::max(largest, number);
  const std::size_t digits = std::min(std::to_string(largest).size(), std::size_t(width / 3));
  const std::size_t columns = std::size_t(width) - digits - 2;
  Random random(seed, 1);
  while (out.rows.size() > columns) {
    const auto which = std::ptrdiff_t(random.below(out.rows.size()));
    out.rows.erase(out.rows.begin() + which);
    out.numbers.erase(out.numbers.begin() + which);
  }
  return out;
}

void similarity_chart(const ChartRequest &request) {
  const std::unique_ptr<RowDistribution> distribution = request.model.row_distribution();
  SimilarRows rows(*distribution);
  // A sample has lost the order of the query.
  const std::vector<std::int64_t> &numbers = request.rows->numbers;
  const std::size_t n = request.rows->rows.size();
  std::vector<std::size_t> sorted(n);
  std::iota(sorted.begin(), sorted.end(), std::size_t(0));
  std::sort(sorted.begin(), sorted.end(),
            [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
  for (const std::size_t i : sorted) {
    poll_here();
    std::vector<double> x = request.rows->rows[i];
    x.resize(std::size_t(distribution->dimension()), std::nan(""));
    rows.add(distribution->checked(x));
  }
  std::vector<double> similar(n * n, 1.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      poll_here();
      similar[i * n + j] = similar[j * n + i] = rows.similarity(i, j);
    }
  const char *const part = request.model.words().part;
  request.figure.subtitle = message("probability that two rows are in one {}", part);
  Panel panel{{}, {"row"}, {"row"}, "probability"};
  // Shades mean the same in all charts.
  panel.least = 0;
  panel.most = 1;
  Layer cells{Mark::cell};
  const std::vector<std::size_t> order = order_of_blocks(similar, n);
  for (const std::size_t i : order)
    panel.x.categories.push_back(std::to_string(numbers[sorted[i]]));
  panel.y.categories = panel.x.categories;
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t x = 0; x < n; ++x) {
      ChartItem item;
      item.x = double(x);
      item.y = double(y);
      item.value = similar[order[y] * n + order[x]];
      cells.items.push_back(item);
    }
  panel.layers.push_back(std::move(cells));
  request.figure.panels.push_back(std::move(panel));
}

}  // namespace bayes
