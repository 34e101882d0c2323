// Charts of the density of rows: over two columns, and how sure it is in each.
#include <algorithm>
#include <cmath>
#include <span>
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

std::size_t count_draws(const RowDistribution &rows) {
  return std::size_t(rows.components().back().draw) + 1;
}
/// of the active component i
std::size_t draw_of(const RowDistribution &rows, std::size_t i) {
  return std::size_t(rows.components()[std::size_t(rows.active()[i])].draw);
}

/// The density of an element on a grid, in every draw.
class DensityOfElement {
 public:
  DensityOfElement(RowDistribution &rows, int element, const ValueGrid &grid)
      : rows_(rows),
        grid_(grid),
        parts_(rows.predicted(element).begin(), rows.predicted(element).end()) {}

  /// For every draw its share of all draws, times its density at value g of the grid.
  std::vector<double> at(int g) const {
    const double x = grid_.at(g), half = grid_.half();
    std::vector<double> out(count_draws(rows_), 0.0);
    for (std::size_t i = 0; i < parts_.size(); ++i)
      out[draw_of(rows_, i)] +=
          (parts_[i].probability_below(x + half) - parts_[i].probability_below(x - half)) /
          (2 * half) * rows_.weights()[i];
    return out;
  }

 private:
  RowDistribution &rows_;
  const ValueGrid &grid_;
  const std::vector<Predicted> parts_;
};

/// A number, and for every value of its grid the densities drawn and how much each counts.
struct ElementBand {
  int element;
  ValueGrid grid;
  std::vector<std::vector<std::pair<double, double>>> drawn = {};
};

/// Draws weights and parameters, of every stored draw as often as makes some 1000 draws, at most 20
/// times. `nothing`: a row without any element.
void add_drawn_densities(const RowDistribution &rows, std::span<const double> nothing,
                         std::uint64_t seed, std::vector<ElementBand> &bands) {
  const std::size_t draws = count_draws(rows);
  const int passes = int(std::clamp<std::size_t>((999 + draws) / draws, 1, 20));
  for (int pass = 0; pass < passes; ++pass) {
    Random random(seed, std::uint64_t(pass));
    const std::unique_ptr<RowDistribution> drawn = rows.drawn(random);
    drawn->condition(nothing);
    // What is given may have made some draws more probable than others.
    std::vector<double> weights(draws, 0.0);
    for (std::size_t i = 0; i < drawn->active().size(); ++i)
      weights[draw_of(*drawn, i)] += drawn->weights()[i];
    for (ElementBand &each : bands) {
      each.drawn.resize(std::size_t(each.grid.count));
      const DensityOfElement density(*drawn, each.element, each.grid);
      for (int g = 0; g < each.grid.count; ++g) {
        poll_here();
        const std::vector<double> densities = density.at(g);
        for (std::size_t d = 0; d < draws; ++d)
          if (weights[d] > 0)
            each.drawn[std::size_t(g)].emplace_back(densities[d] / weights[d], weights[d]);
      }
    }
  }
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
  request.figure.subtitle = message("the density, and where it is with a probability of {} %",
                                    describe_number(100 * level));
  std::vector<ElementBand> bands;
  for (const int j : shown.columns()) {
    if (!shown.number(j)) continue;
    if (bands.size() == 6) {
      request.figure.subtitle += "; 6 columns";
      break;
    }
    bands.push_back({j, shown.grid(j, 0.002, 60)});
  }
  add_drawn_densities(rows, shown.nothing(), request.options.sample.seed, bands);
  for (ElementBand &each : bands) {
    Layer area{Mark::area, {}, describe_number(100 * level) + " %"}, line{Mark::line};
    const DensityOfElement density(rows, each.element, each.grid);
    for (int g = 0; g < each.grid.count; ++g) {
      poll_here();
      ChartItem item;
      item.x = each.grid.at(g);
      item.y = 0;
      for (const double of_draw : density.at(g)) item.y += of_draw;
      line.items.push_back(item);
      item.y = ChartItem::none;
      auto &drawn = each.drawn[std::size_t(g)];
      item.low = weighted_quantile(drawn, (1 - level) / 2);
      item.high = weighted_quantile(drawn, (1 + level) / 2);
      area.items.push_back(item);
    }
    const std::string name = shown.name(each.element);
    Panel panel{name, {name}, {each.grid.whole ? "probability" : "density"}};
    panel.y.zero = true;
    panel.layers = {std::move(area), std::move(line)};
    request.figure.panels.push_back(std::move(panel));
  }
}

}  // namespace bayes
