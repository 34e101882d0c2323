// Charts of the distribution of rows: where components lie in two columns, and how columns are
// distributed under each.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.hpp"
#include "base/message.hpp"
#include "charts/chart_kinds.hpp"
#include "document/members.hpp"
#include "questions/answers.hpp"
#include "questions/row_distribution.hpp"

namespace bayes {
namespace {

/// A component of the model, as parts of the flat mixture: one, or one for every draw.
struct Shown {
  /// from 0
  int number;
  double weight = 0;
  /// indices into active()
  std::vector<std::size_t> parts = {};
};

/// The rows of a model with nothing known of them.
class RowsShown {
 public:
  explicit RowsShown(const ChartRequest &request)
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

  RowDistribution &rows() const { return *rows_; }
  /// those of the greatest weight, in the order of the model
  const std::vector<Shown> &components() const { return components_; }
  std::vector<double> nothing() const {
    return std::vector<double>(std::size_t(rows_->dimension()), std::nan(""));
  }
  bool number(int element) const { return rows_->categories(element).empty(); }
  std::string name(int element) const {
    return name_of_column(rows_->columns(), rows_->dimension(), element);
  }

  /// Of two numbers under a component; of several parts, mean and covariance of their mixture.
  RowPair pair(const Shown &component, int first, int second) const {
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

  /// The columns of option columns, or all, those in which components differ most first.
  std::vector<int> columns() const {
    std::vector<int> out;
    if (request_.options.columns.empty()) {
      out.resize(std::size_t(rows_->dimension()));
      std::iota(out.begin(), out.end(), 0);
      // The class of a classifier is the component itself.
      if (request_.model.info.family == "nb") out.pop_back();
      std::vector<double> scores;
      for (const int j : out) scores.push_back(number(j) ? separation(j, j) : 0);
      std::stable_sort(out.begin(), out.end(), [&](int a, int b) {
        return scores[std::size_t(a)] > scores[std::size_t(b)];
      });
      return out;
    }
    for (const std::string &name : request_.options.columns) out.push_back(find(name));
    return out;
  }

  /// Two numbers: those of option columns, or in which components are farthest apart.
  std::pair<int, int> two_numbers() const {
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

 private:
  int find(const std::string &name) const {
    for (int j = 0; j < rows_->dimension(); ++j)
      if (this->name(j) == name || std::to_string(j + 1) == name) return j;
    throw Error(Errc::invalid_argument, message("the model has no column \"{}\"", name), {},
                message("Option columns has names of columns, or their numbers from 1 to {}.",
                        rows_->dimension()));
  }

  /// The trace of W^-1 B, covariances within and between components.
  double separation(int first, int second) const {
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
      const double away[] = {pairs[k].mean[0] - mean[0] / total,
                             pairs[k].mean[1] - mean[1] / total};
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

  const ChartRequest &request_;
  const std::unique_ptr<RowDistribution> rows_;
  std::vector<Shown> components_;
};

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

/// An interval of the values of a number that has nearly all of its probability.
std::pair<double, double> extent(RowDistribution &rows, int element, double tail) {
  double low = quantile_given(rows, element, tail), high = quantile_given(rows, element, 1 - tail);
  if (!(high > low)) {
    const double half = std::max(std::fabs(low) * 1e-6, 1e-6);
    low -= half;
    high += half;
  }
  return {low, high};
}

/// The rows, each in the colour of its most probable component.
Layer rows_as_points(const ChartRequest &request, int first, int second, bool coloured) {
  Layer out{Mark::point};
  if (!request.rows) return out;
  for (const std::vector<double> &row : request.rows->rows) {
    poll_here();
    ChartItem item;
    item.x = row[std::size_t(first)];
    item.y = row[std::size_t(second)];
    if (std::isnan(item.x + item.y)) continue;
    if (coloured) item.series = request.model.predict(row);
    out.items.push_back(item);
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
  auto [low, high] = extent(rows, element, 0.002);
  const std::vector<Predicted> parts(rows.predicted(element).begin(),
                                     rows.predicted(element).end());
  const bool whole = !parts.empty() && parts[0].support == Predicted::Support::whole;
  int steps = 80;
  double step = (high - low) / steps, half = step / 2;
  if (whole) {
    step = std::max(1.0, std::ceil((high - low) / steps));
    steps = int((high - low) / step);
    half = 0.5;
  } else {
    low -= 4 * step;
    steps += 8;
    if (!parts.empty() && parts[0].support == Predicted::Support::positive)
      low = std::max(low, half);
  }
  Panel out{shown.name(element), {shown.name(element)}, {whole ? "probability" : "density"}};
  out.y.zero = true;
  Layer lines{Mark::line};
  for (const Shown &component : shown.components())
    for (int i = 0; i <= steps; ++i) {
      ChartItem item;
      item.x = low + i * step;
      item.y = 0;
      item.series = component.number;
      for (const std::size_t part : component.parts)
        item.y += rows.weights()[part] *
                  (parts[part].probability_below(item.x + half) -
                   parts[part].probability_below(item.x - half)) /
                  (2 * half);
      lines.items.push_back(item);
    }
  // Of whole numbers every bar has as many of them as another.
  const int bars = whole ? steps + 1 : 24;
  out.layers = {histogram(request, element, whole ? low - step / 2 : low,
                          low + (whole ? steps + 0.5 : steps) * step, bars),
                std::move(lines)};
  return out;
}

/// The probability of every category and component.
Panel category_panel(RowsShown &shown, int element) {
  RowDistribution &rows = shown.rows();
  const std::vector<double> &categories = rows.categories(element);
  Panel out{shown.name(element), {shown.name(element)}, {"probability"}};
  out.y.zero = true;
  const std::size_t n = std::min<std::size_t>(categories.size(), max_shown);
  for (std::size_t v = 0; v < n; ++v)
    out.x.categories.push_back(rows.label(element, categories[v]));
  Layer bars{Mark::bar};
  for (const Shown &component : shown.components()) {
    std::vector<double> sum(categories.size());
    for (const std::size_t part : component.parts) {
      const std::vector<double> own = rows.probabilities_under(part, element);
      for (std::size_t v = 0; v < own.size(); ++v) sum[v] += rows.weights()[part] * own[v];
    }
    for (std::size_t v = 0; v < n; ++v) {
      ChartItem item;
      item.x = double(v);
      item.y = sum[v];
      item.series = component.number;
      bars.items.push_back(item);
    }
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
  panel.layers = {rows_as_points(request, first, second, true), std::move(lines), std::move(names)};
  request.figure.panels.push_back(std::move(panel));
}

void density_chart(const ChartRequest &request) {
  RowsShown shown(request);
  const auto [first, second] = shown.two_numbers();
  constexpr int cells = 40;
  Panel panel{{}, {shown.name(first)}, {shown.name(second)}, "density"};
  const auto [left, right] = extent(shown.rows(), first, 0.005);
  const auto [bottom, top] = extent(shown.rows(), second, 0.005);
  panel.width = (right - left) / cells;
  panel.height = (top - bottom) / cells;
  std::vector<double> x = shown.nothing();
  Layer layer{Mark::cell};
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j) {
      poll_here();
      ChartItem item;
      item.x = x[std::size_t(first)] = left + (i + 0.5) * panel.width;
      item.y = x[std::size_t(second)] = bottom + (j + 0.5) * panel.height;
      item.value = std::exp(shown.rows().log_density(x));
      layer.items.push_back(item);
    }
  panel.layers = {std::move(layer), rows_as_points(request, first, second, false)};
  request.figure.panels.push_back(std::move(panel));
}

void columns_chart(const ChartRequest &request) {
  RowsShown shown(request);
  request.figure.subtitle = message("each {} by its weight", request.figure.series_are);
  std::vector<int> columns = shown.columns();
  // A line has some 90 items of 40 bytes.
  const std::size_t most =
      std::max<std::size_t>(1, 4000 / (90 * std::max<std::size_t>(1, shown.components().size())));
  if (columns.size() > std::min<std::size_t>(most, 12))
    columns.resize(std::min<std::size_t>(most, 12));
  for (const int j : columns) {
    poll_here();
    request.figure.panels.push_back(shown.number(j) ? number_panel(request, shown, j)
                                                    : category_panel(shown, j));
  }
}

void band_chart(const ChartRequest &request) {
  RowsShown shown(request);
  RowDistribution &rows = shown.rows();
  const double level = request.options.level;
  request.figure.subtitle =
      message("the density, and where {} % of the draws have it", describe_number(100 * level));
  int draws = 0;
  for (const FlatComponent &component : rows.components())
    draws = std::max(draws, component.draw + 1);
  for (const int j : shown.columns()) {
    if (!shown.number(j) || request.figure.panels.size() == 6) continue;
    const auto [low, high] = extent(rows, j, 0.002);
    const std::vector<Predicted> parts(rows.predicted(j).begin(), rows.predicted(j).end());
    const bool whole = parts[0].support == Predicted::Support::whole;
    const double step = whole ? std::max(1.0, std::ceil((high - low) / 60)) : (high - low) / 60,
                 half = whole ? 0.5 : step / 2;
    Layer band{Mark::area, {}, describe_number(100 * level) + " %"}, line{Mark::line};
    for (double x = low; x <= high + step / 2; x += step) {
      poll_here();
      std::vector<double> of_draw(std::size_t(draws), 0.0);
      ChartItem item;
      item.x = x;
      item.y = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const double density =
            (parts[i].probability_below(x + half) - parts[i].probability_below(x - half)) /
            (2 * half) * rows.weights()[i];
        item.y += density;
        of_draw[std::size_t(rows.components()[std::size_t(rows.active()[i])].draw)] +=
            density * draws;
      }
      line.items.push_back(item);
      std::sort(of_draw.begin(), of_draw.end());
      const auto quantile = [&](double p) {
        return of_draw[std::size_t(std::lround(p * double(draws - 1)))];
      };
      item.y = ChartItem::none;
      item.low = quantile((1 - level) / 2);
      item.high = quantile((1 + level) / 2);
      band.items.push_back(item);
    }
    Panel panel{shown.name(j), {shown.name(j)}, {whole ? "probability" : "density"}};
    panel.y.zero = true;
    panel.layers = {std::move(band), std::move(line)};
    request.figure.panels.push_back(std::move(panel));
  }
}

}  // namespace bayes
