// Charts of the density of rows: over two columns, and how sure it is in each.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/message.hpp"
#include "charts/rows_shown.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

/// The smallest value at which the weights of those up to it reach a share of all.
double weighted_quantile(std::vector<std::pair<double, double>> &values, double share) {
  std::sort(values.begin(), values.end());
  double all = 0, sum = 0;
  for (const auto &[value, weight] : values) all += weight;
  for (const auto &[value, weight] : values)
    if ((sum += weight) >= share * all) return value;
  return values.back().first;
}

}  // namespace

void density_chart(const ChartRequest &request) {
  RowsShown shown(request);
  const auto [first, second] = shown.two_numbers();
  Panel panel{{}, {shown.name(first)}, {shown.name(second)}, "density"};
  const ValueGrid across = shown.grid(first, 0.005, 40), up = shown.grid(second, 0.005, 40);
  panel.width = across.step;
  panel.height = up.step;
  std::vector<double> x = shown.nothing();
  Layer layer{Mark::cell};
  for (int i = 0; i < across.count; ++i)
    for (int j = 0; j < up.count; ++j) {
      poll_here();
      ChartItem item;
      item.x = x[std::size_t(first)] = across.at(i);
      item.y = x[std::size_t(second)] = up.at(j);
      item.value = std::exp(shown.rows().log_density(x));
      layer.items.push_back(item);
    }
  panel.layers = {std::move(layer), shown.points(first, second, false)};
  request.figure.panels.push_back(std::move(panel));
}

void band_chart(const ChartRequest &request) {
  RowsShown shown(request);
  RowDistribution &rows = shown.rows();
  const double level = request.options.level;
  request.figure.subtitle =
      message("the density, and where {} % of the draws have it", describe_number(100 * level));
  // What is given may have made some draws more probable than others.
  std::vector<double> weights;
  const auto draw_of = [&rows](std::size_t i) {
    return std::size_t(rows.components()[std::size_t(rows.active()[i])].draw);
  };
  for (std::size_t i = 0; i < rows.active().size(); ++i) {
    weights.resize(std::max(weights.size(), draw_of(i) + 1));
    weights[draw_of(i)] += rows.weights()[i];
  }
  for (const int j : shown.columns()) {
    if (!shown.number(j)) continue;
    if (request.figure.panels.size() == 6) {
      request.figure.subtitle += "; 6 columns";
      break;
    }
    const ValueGrid grid = shown.grid(j, 0.002, 60);
    const std::vector<Predicted> parts(rows.predicted(j).begin(), rows.predicted(j).end());
    Layer band{Mark::area, {}, describe_number(100 * level) + " %"}, line{Mark::line};
    for (int g = 0; g < grid.count; ++g) {
      poll_here();
      std::vector<double> of_draw(weights.size(), 0.0);
      ChartItem item;
      item.x = grid.at(g);
      item.y = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const double density = (parts[i].probability_below(item.x + grid.half()) -
                                parts[i].probability_below(item.x - grid.half())) /
                               (2 * grid.half()) * rows.weights()[i];
        item.y += density;
        of_draw[draw_of(i)] += density;
      }
      line.items.push_back(item);
      std::vector<std::pair<double, double>> densities;
      for (std::size_t d = 0; d < weights.size(); ++d)
        if (weights[d] > 0) densities.emplace_back(of_draw[d] / weights[d], weights[d]);
      item.y = ChartItem::none;
      item.low = weighted_quantile(densities, (1 - level) / 2);
      item.high = weighted_quantile(densities, (1 + level) / 2);
      band.items.push_back(item);
    }
    Panel panel{shown.name(j), {shown.name(j)}, {grid.whole ? "probability" : "density"}};
    panel.y.zero = true;
    panel.layers = {std::move(band), std::move(line)};
    request.figure.panels.push_back(std::move(panel));
  }
}

}  // namespace bayes
