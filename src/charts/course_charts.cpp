// Charts of how a fit went: its objective, and the draws of a sampler.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/message.hpp"
#include "charts/chart_kinds.hpp"
#include "mcmc/diagnostics.hpp"

namespace bayes {
namespace {

/// The draws of one quantity: [chain][draw].
std::vector<std::vector<double>> draws_of(const Draws &draws, std::size_t quantity) {
  std::vector<std::vector<double>> out(std::size_t(draws.chains));
  for (std::size_t c = 0; c < out.size(); ++c)
    for (std::size_t i = 0; i < std::size_t(draws.draws); ++i)
      out[c].push_back(
          draws.values[(c * std::size_t(draws.draws) + i) * draws.quantities.size() + quantity]);
  return out;
}

void name_series(Figure &figure, const char *what, std::size_t n) {
  figure.series_are = what;
  figure.series.clear();
  for (std::size_t i = 1; i <= n; ++i) figure.series.push_back(std::to_string(i));
}

/// A line for every series, with at most this many items in all.
Panel lines(const std::vector<std::vector<double>> &values, int first, Axis x, Axis y,
            std::size_t most) {
  Panel out{{}, std::move(x), std::move(y)};
  Layer layer{Mark::line};
  for (std::size_t s = 0; s < values.size(); ++s) {
    const std::size_t n = values[s].size(), shown = std::max<std::size_t>(2, most / values.size());
    const std::size_t step = (n + shown - 1) / shown;
    for (std::size_t i = 0; i < n; i += std::max<std::size_t>(1, step)) {
      if (!std::isfinite(values[s][i])) continue;
      ChartItem item;
      item.x = double(first) + double(i);
      item.y = values[s][i];
      item.series = int(s);
      layer.items.push_back(item);
    }
  }
  out.layers.push_back(std::move(layer));
  return out;
}

constexpr std::size_t items_of_chart = 3000;

}  // namespace

void trace_chart(const ChartRequest &request) {
  const Draws &draws = request.model.draws;
  if (draws.quantities.empty()) {
    // Of most restarts only the beginning is made, and not recorded.
    std::vector<std::vector<double>> runs;
    request.figure.series_are = "restart";
    request.figure.series.clear();
    const auto &trace = request.model.trace;
    for (std::size_t r = 0; r < trace.size() && runs.size() < max_shown; ++r) {
      if (trace[r].empty()) continue;
      runs.push_back(trace[r]);
      request.figure.series.push_back(std::to_string(r + 1));
    }
    request.figure.panels.push_back(lines(runs, 0, {"iteration"}, {"objective"}, items_of_chart));
    return;
  }
  name_series(request.figure, "chain", std::size_t(draws.chains));
  const std::size_t quantities = std::min<std::size_t>(draws.quantities.size(), max_panels);
  for (std::size_t q = 0; q < quantities; ++q)
    request.figure.panels.push_back(
        lines(draws_of(draws, q), 1, {"draw"}, {draws.quantities[q]}, items_of_chart / quantities));
}

void ranks_chart(const ChartRequest &request) {
  const Draws &draws = request.model.draws;
  name_series(request.figure, "chain", std::size_t(draws.chains));
  request.figure.subtitle = "ranks among the draws of all chains: flat if the chains agree";
  constexpr std::size_t bins = 20;
  for (std::size_t q = 0; q < std::min<std::size_t>(draws.quantities.size(), max_panels); ++q) {
    const std::vector<std::vector<double>> values = draws_of(draws, q);
    std::vector<double> sorted;
    for (const auto &chain : values) sorted.insert(sorted.end(), chain.begin(), chain.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::vector<double>> counts(values.size(), std::vector<double>(bins));
    for (std::size_t c = 0; c < values.size(); ++c)
      for (const double x : values[c]) {
        // Equal draws share the ranks that they have together.
        const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), x);
        const double from = double(low - sorted.begin()) * bins / double(sorted.size()),
                     to = double(high - sorted.begin()) * bins / double(sorted.size());
        for (std::size_t b = std::size_t(from); b < bins && double(b) < to; ++b)
          counts[c][b] += (std::min(to, double(b) + 1) - std::max(from, double(b))) / (to - from);
      }
    Panel panel = lines(counts, 1, {"rank, in twentieths"}, {draws.quantities[q]}, items_of_chart);
    panel.y.zero = true;
    request.figure.panels.push_back(std::move(panel));
  }
}

void ess_chart(const ChartRequest &request) {
  const Draws &draws = request.model.draws;
  name_series(request.figure, "part of the distribution", 0);
  request.figure.series = {"bulk", "tails"};
  request.figure.subtitle = "effective sample sizes of the first draws: a line if chains mix well";
  for (std::size_t q = 0; q < std::min<std::size_t>(draws.quantities.size(), max_panels); ++q) {
    const std::vector<std::vector<double>> values = draws_of(draws, q);
    Panel panel{{}, {"draws of each chain"}, {draws.quantities[q]}};
    panel.x.zero = panel.y.zero = true;
    Layer layer{Mark::line};
    constexpr int steps = 20;
    for (const int series : {0, 1})
      for (int i = 1; i <= steps; ++i) {
        poll_here();
        const std::size_t n = std::size_t(draws.draws) * std::size_t(i) / steps;
        std::vector<Chain> chains;
        for (std::size_t c = 0; c < values.size(); ++c)
          chains.push_back({std::int64_t(c) + 1, std::span(values[c]).first(n)});
        const auto found =
            series ? ess_tail(chains, request.control) : ess_bulk(chains, request.control);
        if (!found) continue;
        ChartItem item;
        item.x = double(n);
        item.y = *found;
        item.series = series;
        layer.items.push_back(item);
      }
    panel.layers.push_back(std::move(layer));
    request.figure.panels.push_back(std::move(panel));
  }
}

void clusters_chart(const ChartRequest &request) {
  const Draws &draws = request.model.draws;
  const std::size_t q =
      std::size_t(std::find(draws.quantities.begin(), draws.quantities.end(), "clusters") -
                  draws.quantities.begin());
  std::map<int, double> counts;
  for (const auto &chain : draws_of(draws, q))
    for (const double x : chain) ++counts[int(x)];
  const double all = double(draws.chains) * draws.draws;
  Panel panel{{}, {"clusters"}, {"probability"}};
  panel.y.zero = true;
  Layer bars{Mark::bar};
  for (const auto &[clusters, count] : counts) {
    ChartItem item;
    item.x = double(panel.x.categories.size());
    item.y = count / all;
    panel.x.categories.push_back(std::to_string(clusters));
    bars.items.push_back(item);
  }
  panel.layers.push_back(std::move(bars));
  request.figure.panels.push_back(std::move(panel));
}

}  // namespace bayes
