// Charts of the distribution of rows: where components lie in two columns, how columns are
// distributed under each, and the density of rows.

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/message.hpp"
#include "charts/chart_kinds.hpp"
#include "document/members.hpp"
#include "questions/answers.hpp"
#include "questions/row_distribution.hpp"

namespace bayes {
namespace {

// The distribution of rows of a model, as charts show it: its components, the columns in which they
// differ most, and where the values of a column are.

/// A component of the model, as parts of the flat mixture: one, or one for every draw.
struct Shown {
  /// from 0
  int number;
  double weight = 0;
  /// indices into active()
  std::vector<std::size_t> parts = {};
};

/// Equidistant values of a number, from the first one on.
struct ValueGrid {
  double first, step;
  int count;
  /// whole numbers, of which each has a probability; else each stands for the interval around it
  bool whole;
  double half() const { return whole ? 0.5 : step / 2; }
  double at(int i) const { return first + i * step; }
};

/// The rows of a model with nothing known of them.
class RowsShown {
 public:
  explicit RowsShown(const ChartRequest &request);

  RowDistribution &rows() const { return *rows_; }
  /// those of the greatest weight, in the order of the model
  const std::vector<Shown> &components() const { return components_; }
  std::vector<double> nothing() const;
  bool number(int element) const { return rows_->categories(element).empty(); }
  std::string name(int element) const {
    return name_of_column(rows_->columns(), rows_->dimension(), element);
  }

  /// Of two numbers under a component; of several parts, mean and covariance of their mixture.
  RowPair pair(const Shown &component, int first, int second) const;
  /// The columns of option columns, or all, those in which components differ most first.
  std::vector<int> columns() const;
  /// Two numbers: those of option columns, or in which components are farthest apart.
  std::pair<int, int> two_numbers() const;
  /// At most about `most` values, which have all but twice `tail` of the probability of a number.
  ValueGrid grid(int element, double tail, int most) const;
  /// About 40 values, which have 99 % of the probability of a number, and those of all rows that
  /// are not so far away that the others would be in few cells.
  ValueGrid grid_with_rows(int element) const;
  /// The rows of the request, each in the colour of its most probable component.
  Layer points(int first, int second, bool coloured) const;

 private:
  int find(const std::string &name) const;
  double separation(int first, int second) const;

  const ChartRequest &request_;
  const std::unique_ptr<RowDistribution> rows_;
  std::vector<Shown> components_;
};

RowsShown::RowsShown(const ChartRequest &request)
    : request_(request),
      rows_(request.model.row_distribution()) {
  rows().condition(nothing());
  std::vector<std::size_t> place(rows().components().size(), rows().active().size());
  for (std::size_t i = 0; i < rows().active().size(); ++i)
    place[std::size_t(rows().active()[i])] = i;
  for (int k = 0; k < request.model.info.components; ++k) {
    Shown one{k};
    for (const int c : rows().members(k))
      if (const std::size_t i = place[std::size_t(c)]; i < rows().active().size()) {
        one.parts.push_back(i);
        one.weight += rows().weights()[i];
      }
    if (!one.parts.empty()) components_.push_back(std::move(one));
  }
  std::stable_sort(components_.begin(), components_.end(),
                   [](const Shown &a, const Shown &b) { return a.weight > b.weight; });
  if (components_.size() > max_shown) components_.resize(max_shown);
  std::sort(components_.begin(), components_.end(),
            [](const Shown &a, const Shown &b) { return a.number < b.number; });
}

std::vector<double> RowsShown::nothing() const {
  return std::vector<double>(std::size_t(rows_->dimension()), std::nan(""));
}

RowPair RowsShown::pair(const Shown &component, int first, int second) const {
  if (component.parts.size() == 1) return rows().pair_under(component.parts[0], first, second);
  RowPair out{{0, 0}, {0, 0, 0}};
  std::vector<RowPair> parts;
  for (const std::size_t i : component.parts) {
    parts.push_back(rows().pair_under(i, first, second));
    const double share = rows().weights()[i] / component.weight;
    for (int a = 0; a < 2; ++a) out.mean[a] += share * parts.back().mean[a];
  }
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const double share = rows().weights()[component.parts[p]] / component.weight;
    const RowPair &own = parts[p];
    const double away[] = {own.mean[0] - out.mean[0], own.mean[1] - out.mean[1]};
    // the covariance, where a Student t has one
    const double spread = own.degrees > 2 ? own.degrees / (own.degrees - 2) : 1;
    const double factor = std::isinf(own.degrees) ? 1 : spread;
    out.square[0] += share * (own.square[0] * factor + away[0] * away[0]);
    out.square[1] += share * (own.square[1] * factor + away[0] * away[1]);
    out.square[2] += share * (own.square[2] * factor + away[1] * away[1]);
  }
  return out;
}

std::vector<int> RowsShown::columns() const {
  std::vector<int> out;
  if (request_.options.columns.empty()) {
    out.resize(std::size_t(rows_->dimension()));
    std::iota(out.begin(), out.end(), 0);
    // The class of a classifier is the component itself.
    if (rows_->dimension() > request_.model.info.dimension) out.pop_back();
    std::vector<double> scores;
    for (const int j : out) scores.push_back(number(j) ? separation(j, j) : 0);
    std::stable_sort(out.begin(), out.end(),
                     [&](int a, int b) { return scores[std::size_t(a)] > scores[std::size_t(b)]; });
    return out;
  }
  for (const std::string &name : request_.options.columns) out.push_back(find(name));
  return out;
}

std::pair<int, int> RowsShown::two_numbers() const {
  std::vector<int> numbers;
  for (const int j : columns())
    if (number(j)) numbers.push_back(j);
  if (!request_.options.columns.empty()) {
    if (request_.options.columns.size() != 2 || numbers.size() != 2 || numbers[0] == numbers[1])
      throw Error(Errc::invalid_argument, "this chart needs two columns that are numbers", {},
                  "Name two different ones in option columns, or leave the option out.");
    return {numbers[0], numbers[1]};
  }
  if (numbers.size() > 12) numbers.resize(12);
  std::pair<int, int> best{numbers[0], numbers[1]};
  double most = -1;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    for (std::size_t j = i + 1; j < numbers.size(); ++j)
      if (const double score = separation(numbers[i], numbers[j]); score > most * (1 + 1e-9)) {
        most = score;
        best = {numbers[i], numbers[j]};
      }
  return {std::min(best.first, best.second), std::max(best.first, best.second)};
}

int RowsShown::find(const std::string &name) const {
  for (int j = 0; j < rows_->dimension(); ++j)
    if (this->name(j) == name) return j;
  for (int j = 0; j < rows_->dimension(); ++j)
    if (std::to_string(j + 1) == name) return j;
  throw Error(Errc::invalid_argument, message("the model has no column \"{}\"", name), {},
              message("Option columns has names of columns, or their numbers from 1 to {}.",
                      rows_->dimension()));
}

/// The trace of W^-1 B, covariances within and between components.
double RowsShown::separation(int first, int second) const {
  double mean[2] = {}, total = 0;
  std::vector<RowPair> pairs;
  for (const Shown &each : components_) {
    pairs.push_back(pair(each, first, second));
    for (int a = 0; a < 2; ++a) mean[a] += each.weight * pairs.back().mean[a];
    total += each.weight;
  }
  double within[3] = {}, between[3] = {};
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const double w = components_[k].weight;
    const double away[] = {pairs[k].mean[0] - mean[0] / total, pairs[k].mean[1] - mean[1] / total};
    for (int a = 0; a < 3; ++a) within[a] += w * pairs[k].square[a];
    between[0] += w * away[0] * away[0];
    between[1] += w * away[0] * away[1];
    between[2] += w * away[1] * away[1];
  }
  const double out =
      first == second
          ? between[0] / within[0]
          : (within[2] * between[0] - 2 * within[1] * between[1] + within[0] * between[2]) /
                (within[0] * within[2] - within[1] * within[1]);
  return std::isfinite(out) ? out : 0;
}

ValueGrid RowsShown::grid(int element, double tail, int most) const {
  RowDistribution &rows = *rows_;
  double low = quantile_given(rows, element, tail), high = quantile_given(rows, element, 1 - tail);
  const Predicted::Support support = rows.predicted(element)[0].support;
  if (support == Predicted::Support::whole) {
    const double step = std::max(1.0, std::ceil((high - low) / most));
    return {low, step, int((high - low) / step) + 1, true};
  }
  if (!(high > low)) {
    // All of it is nearly in one point.
    const double half = std::max(std::fabs(low) * 1e-6, 1e-6);
    low -= half;
    high += half;
  }
  const double step = (high - low) / most;
  return {low + step / 2, step, most, false};
}

ValueGrid RowsShown::grid_with_rows(int element) const {
  constexpr int most = 40;
  ValueGrid out = grid(element, 0.005, most);
  double low = out.first - out.half(), high = out.at(out.count - 1) + out.half();
  const double least = low - (high - low), largest = high + (high - low);
  if (request_.rows)
    for (const std::vector<double> &row : request_.rows->rows) {
      low = std::fmin(low, row[std::size_t(element)] - out.half());
      high = std::fmax(high, row[std::size_t(element)] + out.half());
    }
  low = std::max(low, least);
  high = std::min(high, largest);
  if (out.whole) {
    out.step = std::max(1.0, std::ceil((high - low) / most));
    out.first = std::ceil(low);
    out.count = int((high - out.first) / out.step) + 1;
  } else {
    out.step = (high - low) / most;
    out.first = low + out.step / 2;
    out.count = most;
  }
  return out;
}

Layer RowsShown::points(int first, int second, bool coloured) const {
  Layer out{Mark::point};
  if (!request_.rows) return out;
  const ChartRows &rows = *request_.rows;
  const auto k = std::size_t(request_.model.info.components);
  const auto component_of = [&](std::size_t i) {
    if (rows.states.empty()) return request_.model.predict(rows.rows[i]);
    const auto states = rows.states.begin() + std::ptrdiff_t(i * k);
    return int(std::max_element(states, states + std::ptrdiff_t(k)) - states);
  };
  std::vector<char> is_shown(k, 0);
  for (const Shown &each : components_) is_shown[std::size_t(each.number)] = 1;
  int others = -1;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    poll_here();
    ChartItem item;
    item.x = rows.rows[i][std::size_t(first)];
    item.y = rows.rows[i][std::size_t(second)];
    if (std::isnan(item.x + item.y)) continue;
    if (coloured) {
      // A process mixture may call a row the first of a new cluster.
      item.series = component_of(i);
      if (item.series < 0 || std::size_t(item.series) >= k || !is_shown[std::size_t(item.series)]) {
        if (others < 0) {
          others = int(request_.figure.series.size());
          request_.figure.series.push_back("other");
        }
        item.series = others;
      }
    }
    out.items.push_back(item);
  }
  return out;
}

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

/// Are the values of the rows whole numbers?
bool rows_are_whole(const ChartRequest &request, int element) {
  if (!request.rows) return false;
  return std::all_of(request.rows->rows.begin(), request.rows->rows.end(),
                     [element](const std::vector<double> &row) {
                       const double x = row[std::size_t(element)];
                       return std::isnan(x) || x == std::floor(x);
                     });
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
  double low = grid.first - grid.step / 2, high = low + grid.count * grid.step;
  int bars = grid.whole ? grid.count : 24;
  if (!grid.whole && rows_are_whole(request, element)) {
    const double width = std::ceil((high - low) / bars);
    low = std::floor(low) + 0.5;
    bars = std::max(1, int(std::ceil((high - low) / width)));
    high = low + bars * width;
  }
  out.layers = {histogram(request, element, low, high, bars), std::move(lines)};
  return out;
}

/// The probability of every category within each component.
Panel category_panel(const ChartRequest &request, RowsShown &shown, int element) {
  RowDistribution &rows = shown.rows();
  const std::vector<double> &categories = rows.categories(element);
  Panel out{shown.name(element),
            {shown.name(element)},
            {message("share within each {}", request.figure.series_are)}};
  out.y.zero = true;
  std::vector<std::vector<double>> sums;
  std::vector<double> all(categories.size());
  for (const Shown &component : shown.components()) {
    std::vector<double> &sum = sums.emplace_back(categories.size());
    for (const std::size_t part : component.parts) {
      const std::vector<double> own = rows.probabilities_under(part, element);
      for (std::size_t v = 0; v < own.size(); ++v) sum[v] += rows.weights()[part] * own[v];
    }
    for (std::size_t v = 0; v < all.size(); ++v) {
      all[v] += sum[v];
      sum[v] /= component.weight;
    }
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
  request.figure.subtitle =
      message("ellipses that have 50 and 90 % of a {}", request.figure.series_are);
  Panel panel{{}, {shown.name(first)}, {shown.name(second)}};
  Layer lines{Mark::line}, names{Mark::name};
  std::string weights;
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
    weights += message("{}{}", weights.empty() ? "" : ", ",
                       describe_number(std::round(100 * component.weight)));
  }
  // An ellipse does not show how many rows there are in it.
  if (const std::size_t k = shown.components().size(); k > 1 && k <= 8)
    request.figure.subtitle += message("; weights: {} %", weights);
  panel.layers = {shown.points(first, second, true), std::move(lines), std::move(names)};
  request.figure.panels.push_back(std::move(panel));
}

void columns_chart(const ChartRequest &request) {
  RowsShown shown(request);
  std::vector<int> columns = shown.columns();
  const auto some = [&](bool numbers) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](int j) { return shown.number(j) == numbers; });
  };
  const bool conditional = request.model.info.family == "conditional";
  if (some(true) && request.model.info.components > 1)
    request.figure.subtitle =
        message("{}densities add up to that of {}", some(false) ? "of numbers, " : "",
                conditional ? "all, given what is known" : "all rows");
  if (some(true) && request.rows)
    request.figure.subtitle +=
        request.figure.subtitle.empty() ? "grey: the rows" : "; grey: the rows";
  // A line has some 90 items; what the user has named is shown, if it can be.
  const std::size_t most = std::clamp<std::size_t>(
      4000 / (90 * std::max<std::size_t>(1, shown.components().size())), 1, 12);
  if (columns.size() > most && request.options.columns.empty()) {
    request.figure.subtitle += message(
        "{}{} of {} columns", request.figure.subtitle.empty() ? "" : "; ", most, columns.size());
    columns.resize(most);
  }
  for (const int j : columns) {
    poll_here();
    request.figure.panels.push_back(shown.number(j) ? number_panel(request, shown, j)
                                                    : category_panel(request, shown, j));
  }
}

// Charts of the density of rows: over two columns, and how sure it is in each.

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
  const ValueGrid across = shown.grid_with_rows(first), up = shown.grid_with_rows(second);
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
