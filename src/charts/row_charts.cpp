// Charts of components: where they lie in two columns, and how columns are distributed under each.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.hpp"
#include "base/message.hpp"
#include "charts/rows_shown.hpp"

namespace bayes {
namespace {

/// The outline of the ellipse that has this probability.
std::vector<ChartItem> outline(const RowPair &of, double level, int series, int path) {
  // P(Q <= q) for a pair: 1 - exp(-q / 2), or 1 - (1 + q / nu)^(-nu / 2).
  const double rest = -std::log1p(-level);
  const double radius =
      std::sqrt(std::isinf(of.degrees) ? 2 * rest : of.degrees * std::expm1(2 * rest / of.degrees));
  const double a = std::sqrt(std::max(of.square[0], 0.0)), b = a > 0 ? of.square[1] / a : 0,
               c = std::sqrt(std::max(of.square[2] - b * b, 0.0));
  constexpr int steps = 48;
  std::vector<ChartItem> out;
  for (int i = 0; i <= steps; ++i) {
    const double angle = 2 * std::numbers::pi * (i % steps) / steps;
    const double u = radius * std::cos(angle), v = radius * std::sin(angle);
    ChartItem item;
    item.x = of.mean[0] + a * u;
    item.y = of.mean[1] + b * u + c * v;
    item.series = series;
    item.path = path;
    if (!std::isfinite(item.x + item.y)) return {};
    out.push_back(item);
  }
  return out;
}

/// How the values of the rows are distributed: bars from low to high in one layer, as densities, or
/// shares if bars have the width 1.
Layer histogram(const ChartRequest &request, int element, double low, double high, int bars) {
  Layer out{Mark::area};
  if (!request.rows) return out;
  std::vector<double> counts(std::size_t(bars), 0.0);
  double all = 0;
  for (const std::vector<double> &row : request.rows->rows) {
    const double x = row[std::size_t(element)];
    if (std::isnan(x)) continue;
    ++all;
    const double place = std::floor((x - low) / (high - low) * bars);
    if (place >= 0 && place < bars) ++counts[std::size_t(place)];
  }
  const double width = (high - low) / bars;
  for (int b = 0; b < bars && all > 0; ++b)
    for (const int side : {0, 1}) {
      ChartItem item;
      item.x = low + (b + side) * width;
      item.low = 0;
      item.high = counts[std::size_t(b)] / (all * width);
      out.items.push_back(item);
    }
  return out;
}

/// The density of a number under every component, times its weight.
Panel number_panel(const ChartRequest &request, RowsShown &shown, int element) {
  RowDistribution &rows = shown.rows();
  const ValueGrid grid = shown.grid(element, 0.001, 88);
  const std::vector<Predicted> parts(rows.predicted(element).begin(),
                                     rows.predicted(element).end());
  Panel out{shown.name(element), {shown.name(element)}, {grid.whole ? "probability" : "density"}};
  out.y.zero = true;
  Layer lines{Mark::line};
  for (const Shown &component : shown.components())
    for (int i = 0; i < grid.count; ++i) {
      ChartItem item;
      item.x = grid.at(i);
      item.y = 0;
      item.series = component.number;
      for (const std::size_t part : component.parts)
        item.y += rows.weights()[part] *
                  (parts[part].probability_below(item.x + grid.half()) -
                   parts[part].probability_below(item.x - grid.half())) /
                  (2 * grid.half());
      lines.items.push_back(item);
    }
  // Of whole numbers every bar has as many of them as another.
  const double low = grid.first - grid.step / 2;
  out.layers = {
      histogram(request, element, low, low + grid.count * grid.step, grid.whole ? grid.count : 24),
      std::move(lines)};
  return out;
}

/// The probability of every category and component.
Panel category_panel(RowsShown &shown, int element) {
  RowDistribution &rows = shown.rows();
  const std::vector<double> &categories = rows.categories(element);
  Panel out{shown.name(element), {shown.name(element)}, {"probability"}};
  out.y.zero = true;
  std::vector<std::vector<double>> sums;
  std::vector<double> all(categories.size());
  for (const Shown &component : shown.components()) {
    std::vector<double> &sum = sums.emplace_back(categories.size());
    for (const std::size_t part : component.parts) {
      const std::vector<double> own = rows.probabilities_under(part, element);
      for (std::size_t v = 0; v < own.size(); ++v) sum[v] += rows.weights()[part] * own[v];
    }
    for (std::size_t v = 0; v < all.size(); ++v) all[v] += sum[v];
  }
  // Of very many labels the most probable ones.
  std::vector<std::size_t> labels(categories.size());
  std::iota(labels.begin(), labels.end(), std::size_t(0));
  if (labels.size() > max_shown) {
    std::stable_sort(labels.begin(), labels.end(),
                     [&all](std::size_t a, std::size_t b) { return all[a] > all[b]; });
    labels.resize(max_shown);
    out.title += message(" ({} of {} labels)", max_shown, categories.size());
  }
  for (const std::size_t v : labels) out.x.categories.push_back(rows.label(element, categories[v]));
  Layer bars{Mark::bar};
  for (std::size_t c = 0; c < sums.size(); ++c)
    for (std::size_t v = 0; v < labels.size(); ++v) {
      ChartItem item;
      item.x = double(v);
      item.y = sums[c][labels[v]];
      item.series = shown.components()[c].number;
      bars.items.push_back(item);
    }
  out.layers.push_back(std::move(bars));
  return out;
}

}  // namespace

int numbers_of_rows(const Model &model) {
  if (model.words().takes && model.info.family != "hmm") return -1;
  std::unique_ptr<RowDistribution> rows;
  try {
    rows = model.row_distribution();
  } catch (const Error &error) {
    if (error.code() != Errc::wrong_family) throw;
    return -1;
  }
  // The class of a classifier is no column, and all others may be known.
  if (model.info.dimension == 0) return -1;
  int numbers = 0;
  for (int j = 0; j < rows->dimension(); ++j) numbers += rows->categories(j).empty();
  return numbers;
}

void ellipses_chart(const ChartRequest &request) {
  RowsShown shown(request);
  const auto [first, second] = shown.two_numbers();
  request.figure.subtitle = "ellipses that have 50 and 90 % of a component";
  Panel panel{{}, {shown.name(first)}, {shown.name(second)}};
  Layer lines{Mark::line}, names{Mark::name};
  for (const Shown &component : shown.components()) {
    poll_here();
    const RowPair of = shown.pair(component, first, second);
    int path = 0;
    for (const double level : {0.5, 0.9})
      for (const ChartItem &item : outline(of, level, component.number, ++path))
        lines.items.push_back(item);
    ChartItem name;
    name.x = of.mean[0];
    name.y = of.mean[1];
    name.series = component.number;
    if (std::isfinite(name.x + name.y)) names.items.push_back(name);
  }
  panel.layers = {shown.points(first, second, true), std::move(lines), std::move(names)};
  request.figure.panels.push_back(std::move(panel));
}

void columns_chart(const ChartRequest &request) {
  RowsShown shown(request);
  request.figure.subtitle = message("each {} by its weight", request.figure.series_are);
  std::vector<int> columns = shown.columns();
  // A line has some 90 items; what the user has named is shown, if it can be.
  const std::size_t most = std::clamp<std::size_t>(
      4000 / (90 * std::max<std::size_t>(1, shown.components().size())), 1, 12);
  if (columns.size() > most && request.options.columns.empty()) {
    request.figure.subtitle += message("; {} of {} columns", most, columns.size());
    columns.resize(most);
  }
  for (const int j : columns) {
    poll_here();
    request.figure.panels.push_back(shown.number(j) ? number_panel(request, shown, j)
                                                    : category_panel(shown, j));
  }
}

}  // namespace bayes
