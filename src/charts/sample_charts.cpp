// Charts of rows under a model: states over time, and how predictions compare with what was
// observed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/message.hpp"
#include "charts/chart_kinds.hpp"
#include "distributions/standard.hpp"
#include "document/members.hpp"
#include "factor/pmf.hpp"
#include "markov/hmm.hpp"
#include "regression/glm.hpp"

namespace bayes {
namespace {

/// What the model predicts for the rows whose response is known.
struct PredictedRow {
  const std::vector<double> *row;
  double response;
  RowPrediction of;
};

std::optional<RowPrediction> prediction(const ChartRequest &request,
                                        const std::vector<double> &row) {
  if (request.model.info.family != "pmf")
    return request.model.predict_row(row, request.options.level);
  const PmfPrediction found =
      static_cast<const PmfModel &>(request.model).predict(int(row[0]), int(row[1]));
  RowPrediction out;
  out.mean = found.mean;
  out.sd = found.sd;
  return out;
}

std::vector<PredictedRow> predictions(const ChartRequest &request) {
  std::vector<PredictedRow> out;
  const auto *const glm = dynamic_cast<const Glm *>(&request.model);
  for (std::size_t i = 0; i < request.rows->rows.size(); ++i) {
    poll_here();
    const std::vector<double> &row = request.rows->rows[i];
    const double y = request.rows->responses[i];
    if (std::isnan(y)) continue;
    // It says why such a response cannot be.
    if (glm && !glm->response().allows(y)) glm->score(row, y);
    if (const auto found = prediction(request, row))
      out.push_back({&row, request.rows->responses[i], *found});
  }
  return out;
}

/// A line between two points, where others should be.
Layer straight(double x0, double y0, double x1, double y1) {
  Layer out{Mark::line};
  out.guide = true;
  for (const auto &[x, y] : {std::pair(x0, y0), std::pair(x1, y1)}) {
    ChartItem item;
    item.x = x;
    item.y = y;
    out.items.push_back(item);
  }
  return out;
}

std::string percent(double level) { return describe_number(100 * level) + " %"; }

}  // namespace

namespace {

/// A column of the steps from `first` on, numbered from `before` + 1.
Panel steps_panel(const ChartRequest &request, int element, std::size_t first, double before) {
  const auto &hidden = static_cast<const HiddenMarkovModel &>(request.model);
  const std::vector<double> categories = hidden.categories(element);
  Panel out{{}, {"step"}, {name_of_column(hidden.info.columns, hidden.dimension(), element)}};
  for (std::size_t v = 0; v < categories.size(); ++v)
    out.y.categories.push_back(hidden.name_of_category(element, int(v), categories[v]));
  Layer layer{categories.empty() ? Mark::line : Mark::point};
  for (std::size_t t = first; t < request.rows->rows.size(); ++t) {
    ChartItem item;
    item.x = before + double(t + 1);
    item.y = request.rows->rows[t][std::size_t(element)];
    if (!categories.empty()) {
      const auto found = std::find(categories.begin(), categories.end(), item.y);
      if (found == categories.end()) continue;
      item.y = double(found - categories.begin());
    }
    if (std::isfinite(item.y)) layer.items.push_back(item);
  }
  out.layers.push_back(std::move(layer));
  return out;
}

}  // namespace

namespace {

/// A band for each of these states, whose shade is its probability: lines of many steps would be a
/// comb. Where there are more steps than room, each shade is the mean of some that follow each
/// other.
Panel bands_of_states(const ChartRequest &request, std::vector<std::size_t> states) {
  const ChartRows &rows = *request.rows;
  const std::size_t k = std::size_t(request.model.info.components), steps = rows.rows.size();
  std::sort(states.begin(), states.end());
  const std::size_t room = request.width > 0 ? std::size_t(request.width * 2 / 3 - 2)
                                             : 2400 / states.size(),
                    each = (steps + room - 1) / room;
  Panel panel{{}, {"step"}, {request.figure.series_are}, "probability"};
  if (each > 1) panel.title = message("means of {} steps", each);
  panel.width = double(each);
  panel.least = 0;
  panel.most = 1;
  Layer cells{Mark::cell};
  for (std::size_t place = 0; place < states.size(); ++place) {
    panel.y.categories.push_back(request.figure.series[states[place]]);
    for (std::size_t first = 0; first < steps; first += each) {
      const std::size_t last = std::min(first + each, steps);
      ChartItem item;
      item.x = double(first) + double(each + 1) / 2;
      item.y = double(place);
      item.value = 0;
      for (std::size_t t = first; t < last; ++t)
        item.value += rows.states[t * k + states[place]] / double(last - first);
      cells.items.push_back(item);
    }
  }
  panel.layers.push_back(std::move(cells));
  return panel;
}

}  // namespace

void states_chart(const ChartRequest &request) {
  const ChartRows &rows = *request.rows;
  request.figure.wide = true;
  const std::size_t k = std::size_t(request.model.info.components);
  for (int j = 0; j < std::min(request.model.info.dimension, 4); ++j)
    request.figure.panels.push_back(steps_panel(request, j, 0, 0));
  // Of many states those that are most of the time.
  std::vector<double> times(k);
  for (std::size_t i = 0; i < rows.states.size(); ++i) times[i % k] += rows.states[i];
  std::vector<std::size_t> shown(k);
  std::iota(shown.begin(), shown.end(), std::size_t(0));
  std::stable_sort(shown.begin(), shown.end(),
                   [&times](std::size_t a, std::size_t b) { return times[a] > times[b]; });
  shown.resize(std::min<std::size_t>(k, 8));
  if (k > shown.size())
    request.figure.subtitle = message("the {} most frequent of {} states", shown.size(), k);
  request.figure.panels.push_back(bands_of_states(request, std::move(shown)));
}

void forecast_chart(const ChartRequest &request) {
  const ChartRows &rows = *request.rows;
  request.figure.wide = true;
  const std::string level = percent(request.options.level);
  request.figure.subtitle = "intervals of the steps that follow, " + level;
  const double before = double(rows.seen - std::ssize(rows.rows));
  // Of a long past its end.
  const std::size_t first = rows.rows.size() - std::min(rows.rows.size(), 8 * rows.forecast.size());
  for (int j = 0; j < request.model.info.dimension && request.figure.panels.size() < 4; ++j) {
    if (!request.model.categories(j).empty()) continue;
    const auto element = std::size_t(j);
    Panel panel = steps_panel(request, j, first, before);
    Layer line = std::move(panel.layers[0]), band{Mark::area, {}, level}, means{Mark::line};
    for (std::size_t t = 0; t < rows.forecast.size(); ++t) {
      ChartItem item;
      item.x = double(rows.seen) + double(t + 1);
      item.y = rows.forecast[t].mean[element];
      if (std::isnan(item.y)) continue;
      means.items.push_back(item);
      item.y = ChartItem::none;
      item.low = rows.forecast[t].lower[element];
      item.high = rows.forecast[t].upper[element];
      band.items.push_back(item);
    }
    panel.x.reference = double(rows.seen) + 0.5;
    panel.layers = {std::move(band), std::move(line), std::move(means)};
    request.figure.panels.push_back(std::move(panel));
  }
}

void predictions_chart(const ChartRequest &request) {
  std::vector<PredictedRow> found = predictions(request);
  if (found.empty()) return;
  const std::string level = percent(request.options.level);
  request.figure.subtitle = "intervals of new responses, " + level;
  Layer points{Mark::point}, band{Mark::area, {}, level}, line{Mark::line};
  if (request.model.info.dimension == 1 && request.model.info.columns.size() <= 1 &&
      request.model.categories(0).empty()) {
    // Over the only predictor.
    std::sort(found.begin(), found.end(), [](const PredictedRow &a, const PredictedRow &b) {
      return (*a.row)[0] < (*b.row)[0];
    });
    for (const PredictedRow &each : found) {
      ChartItem item;
      item.x = (*each.row)[0];
      item.y = each.response;
      points.items.push_back(item);
      item.y = each.of.mean;
      line.items.push_back(item);
      item.y = ChartItem::none;
      item.low = each.of.lower;
      item.high = each.of.upper;
      band.items.push_back(item);
    }
    Panel panel{{}, {name_of_column(request.model.info.columns, 1, 0)}, {"response"}};
    panel.layers = {std::move(band), std::move(points), std::move(line)};
    return request.figure.panels.push_back(std::move(panel));
  }
  double low = found[0].of.mean, high = low;
  for (const PredictedRow &each : found) {
    ChartItem item;
    item.x = each.of.mean;
    item.y = each.response;
    points.items.push_back(item);
    low = std::min(low, item.x);
    high = std::max(high, item.x);
  }
  std::sort(found.begin(), found.end(),
            [](const PredictedRow &a, const PredictedRow &b) { return a.of.mean < b.of.mean; });
  for (const PredictedRow &each : found) {
    ChartItem item;
    item.x = each.of.mean;
    item.low = each.of.lower;
    item.high = each.of.upper;
    band.items.push_back(item);
  }
  Panel panel{{}, {"predicted"}, {"observed"}};
  panel.layers = {std::move(band), std::move(points), straight(low, low, high, high)};
  request.figure.panels.push_back(std::move(panel));
}

void residuals_chart(const ChartRequest &request) {
  request.figure.subtitle = "observed less predicted, in standard deviations of the prediction";
  const ChartRows &rows = *request.rows;
  if (rows.new_cells > 0)
    request.figure.subtitle += message("; {} of a new key", counted(rows.new_cells, "cells"));
  if (rows.unknown_cells > 0)
    request.figure.subtitle +=
        message("; {} of two new keys left out", counted(rows.unknown_cells, "cells"));
  if (rows.unknown_cells > 0 && rows.seen == 0)
    throw Error(
        Errc::invalid_argument, "the model knows none of the keys of the cells",
        message("Its first row is \"{}\", its first column \"{}\".",
                shortened(static_cast<const PmfModel &>(request.model).keys(Side::row)[0], 40),
                shortened(static_cast<const PmfModel &>(request.model).keys(Side::column)[0], 40)),
        "The query gives cells as those of the fit: the key of the row, that of the "
        "column, and the number.");
  Panel panel{{}, {"predicted"}, {"residual (standard deviations)"}};
  panel.y.reference = 0;
  Layer points{Mark::point};
  for (const PredictedRow &each : predictions(request)) {
    if (!(each.of.sd > 0))
      throw Error(Errc::invalid_argument,
                  "a chart of residuals needs the standard deviation of responses",
                  "They are divided by it, and responses of this model have none.");
    ChartItem item;
    item.x = each.of.mean;
    item.y = (each.response - each.of.mean) / each.of.sd;
    points.items.push_back(item);
  }
  panel.layers.push_back(std::move(points));
  request.figure.panels.push_back(std::move(panel));
}

void calibration_chart(const ChartRequest &request) {
  // Tenths of equal size, so that all are as uncertain as the others.
  std::vector<PredictedRow> found = predictions(request);
  std::sort(found.begin(), found.end(),
            [](const PredictedRow &a, const PredictedRow &b) { return a.of.mean < b.of.mean; });
  const double level = request.options.level;
  request.figure.subtitle = message(
      "rows in groups of equal size by their probability; {} intervals of shares", percent(level));
  Panel panel{{}, {"predicted probability"}, {"observed share"}};
  panel.x.zero = panel.y.zero = true;
  panel.value = "rows";
  Layer points{Mark::point}, intervals{Mark::interval, {}, percent(level)};
  const std::size_t n = found.size(), groups = std::min<std::size_t>(10, n);
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t first = g * n / groups, last = (g + 1) * n / groups;
    ChartItem item;
    item.x = item.y = 0;
    for (std::size_t i = first; i < last; ++i) {
      item.x += found[i].of.mean / double(last - first);
      item.y += found[i].response / double(last - first);
    }
    const double of_group = double(last - first), yes = std::round(item.y * of_group);
    item.value = of_group;
    points.items.push_back(item);
    // Jeffreys' interval (Brown, Cai and DasGupta 2001), which includes 0 or 1 if all are.
    const BetaDistribution share{yes + 0.5, of_group - yes + 0.5};
    item.low = yes == 0 ? 0 : share.quantile((1 - level) / 2);
    item.high = yes == of_group ? 1 : share.quantile((1 + level) / 2);
    item.value = ChartItem::none;
    intervals.items.push_back(item);
  }
  if (groups > 0) panel.layers.push_back(straight(0, 0, 1, 1));
  panel.layers.push_back(std::move(intervals));
  panel.layers.push_back(std::move(points));
  request.figure.panels.push_back(std::move(panel));
}

namespace {

/// Bars of counts: 0, and then ranges of the same width, of which the last has no end.
class CountBars {
 public:
  /// `last`: the greatest count that must be in a range of its own
  explicit CountBars(double last) : width_(std::max(1.0, std::ceil(last / (max_shown - 1)))) {
    bars_ = 1 + std::size_t(std::ceil(last / width_));
  }
  std::size_t bars() const { return bars_; }
  std::size_t bar_of(double count) const {
    return std::min(bars_ - 1, std::size_t(std::ceil(count / width_)));
  }
  /// the greatest count of a bar; infinite for the last one
  double end(std::size_t bar) const {
    return bar + 1 < bars_ ? double(bar) * width_ : std::numeric_limits<double>::infinity();
  }
  std::string name(std::size_t bar) const {
    const std::string from = describe_number(bar == 0 ? 0 : double(bar - 1) * width_ + 1);
    if (bar + 1 == bars_ && bar > 0) return from + " or more";
    return width_ == 1 || bar == 0 ? from : from + " to " + describe_number(end(bar));
  }

 private:
  double width_;
  std::size_t bars_;
};

/// The distributions of the counts of all rows, at the posterior mean of coefficients and
/// dispersion.
class FittedCounts {
 public:
  explicit FittedCounts(const ChartRequest &request)
      : model_(static_cast<const Glm &>(request.model)) {
    for (std::size_t i = 0; i < request.rows->rows.size(); ++i) {
      poll_here();
      const double y = request.rows->responses[i];
      const auto own = model_.in_own_units(request.rows->rows[i]);
      if (std::isnan(y) || !own) continue;
      // It says why such a count cannot be.
      if (!model_.response().allows(y)) model_.score(request.rows->rows[i], y);
      counts.push_back(y);
      points_.push_back(own->fitted);
    }
  }
  /// the expected number of rows with at most this count
  double at_most(double count) const {
    double out = 0;
    for (const ResponsePoint &at : points_) {
      poll_here();
      out += std::isinf(count) ? 1 : model_.numbers().below(count, at);
    }
    return out;
  }
  /// Half a row is expected to have a larger count; not far beyond those that there are.
  double last() const {
    const double most = *std::max_element(counts.begin(), counts.end()), end = 2 * most + 10;
    double low = most, high = end;
    if (double(counts.size()) - at_most(low) < 0.5) return low;
    while (high - low > 1) {
      const double middle = std::floor((low + high) / 2);
      if (middle <= low || middle >= high) break;
      (double(counts.size()) - at_most(middle) < 0.5 ? high : low) = middle;
    }
    return high;
  }
  std::vector<double> counts;

 private:
  const Glm &model_;
  std::vector<ResponsePoint> points_;
};

}  // namespace

bool has_counts(const Model &model) {
  const auto *const found = dynamic_cast<const Glm *>(&model);
  return found && found->response().whole() && !found->binary() && !found->labelled();
}

void rootogram_chart(const ChartRequest &request) {
  const FittedCounts fitted(request);
  if (fitted.counts.empty()) return;
  request.figure.subtitle = "rows by response; roots, which vary alike whatever the number";
  request.figure.series_are = "rows";
  request.figure.series = {"observed", "expected"};
  request.options.name(request.figure.series, "kinds of numbers");
  const CountBars bars(fitted.last());
  std::vector<double> observed(bars.bars());
  for (const double y : fitted.counts) ++observed[bars.bar_of(y)];
  Panel panel{{}, {"root of the number of rows"}, {"response"}};
  panel.x.zero = true;
  Layer bars_of{Mark::bar}, expected{Mark::point};
  double before = 0;
  for (std::size_t bar = 0; bar < bars.bars(); ++bar) {
    const double to = fitted.at_most(bars.end(bar));
    ChartItem item;
    item.x = std::sqrt(std::max(0.0, to - before));
    before = to;
    item.y = double(bar);
    item.series = 1;
    expected.items.push_back(item);
    item.x = std::sqrt(observed[bar]);
    item.series = 0;
    bars_of.items.push_back(item);
    panel.y.categories.push_back(bars.name(bar));
  }
  panel.layers = {std::move(bars_of), std::move(expected)};
  request.figure.panels.push_back(std::move(panel));
}

void confusion_chart(const ChartRequest &request) {
  const std::vector<std::string> &classes = request.figure.series;
  const std::size_t shown = std::min<std::size_t>(classes.size(), 2 * max_shown);
  std::vector<double> counts(shown * shown);
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < request.rows->rows.size(); ++i) {
    poll_here();
    const double own = request.rows->responses[i];
    unknown += own < 0;
    if (!(own >= 0 && own < double(shown))) continue;
    const auto found = std::size_t(request.model.predict(request.rows->rows[i]));
    if (found < shown) ++counts[std::size_t(own) * shown + found];
  }
  if (unknown > 0 && unknown == request.rows->rows.size())
    throw Error(Errc::invalid_argument, "the model knows none of the labels of the rows",
                message("Its first class is \"{}\".", shortened(classes[0], 40)),
                "The first column of the query is the label, as in the fit.");
  if (unknown > 0)
    request.figure.subtitle =
        message("{} of other labels left out", counted(std::int64_t(unknown), "rows"));
  Panel panel{{}, {"predicted"}, {"observed"}, "rows"};
  panel.x.categories.assign(classes.begin(), classes.begin() + std::ptrdiff_t(shown));
  panel.y.categories = panel.x.categories;
  Layer cells{Mark::cell};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    ChartItem item;
    item.x = double(i % shown);
    item.y = double(i / shown);
    item.value = counts[i];
    cells.items.push_back(item);
  }
  panel.layers.push_back(std::move(cells));
  request.figure.panels.push_back(std::move(panel));
}

}  // namespace bayes
