// Charts of parameters, estimates with intervals, transitions and posterior densities, and of how
// the fit that found them went.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "charts/chart_kinds.hpp"
#include "document/members.hpp"
#include "mcmc/diagnostics.hpp"
#include "regression/regression_model.hpp"

namespace bayes {
namespace {

/// A parameter whose label lives as long as it does.
struct Kept {
  Parameter of;
  std::string label;
};

std::vector<Kept> parameters_of(const Model &model, std::optional<double> level,
                                std::string_view name = {}) {
  std::vector<Kept> out;
  model.describe_parameters(level, [&](const Parameter &p) {
    poll_here();
    if (name.empty() || name == p.name) out.push_back({p, p.label ? *p.label : std::string()});
  });
  return out;
}

/// What tells the parameters of one panel apart.
std::string name_in_panel(const ChartRequest &request, const Kept &kept) {
  const Parameter &p = kept.of;
  std::string out;
  if (p.component >= 0 && request.model.info.components > 1)
    out = request.figure.series[std::size_t(p.component)];
  std::string rest = kept.label;
  if (rest.empty()) rest = name_of_category(request.model, p);
  if (out.empty()) return rest.empty() ? p.name : rest;
  if (rest.empty()) return out;
  return std::string_view(p.name) == "transition" ? out + " to " + rest : rest + " in " + out;
}

/// Estimates on the axis across, with their intervals, one below the other.
void add_estimates(const ChartRequest &request, Panel &panel, std::span<const Kept> parameters) {
  Layer intervals{Mark::interval}, points{Mark::point};
  intervals.interval = points.interval = describe_number(100 * request.options.level) + " %";
  for (const Kept &kept : parameters) {
    const Parameter &p = kept.of;
    if (!std::isfinite(p.value)) continue;
    ChartItem item;
    item.x = p.value;
    item.y = double(panel.y.categories.size());
    if (std::isfinite(p.lower) && std::isfinite(p.upper)) {
      item.low = p.lower;
      item.high = p.upper;
      intervals.items.push_back(item);
    }
    item.low = item.high = ChartItem::none;
    points.items.push_back(item);
    panel.y.categories.push_back(name_in_panel(request, kept));
  }
  panel.layers = {std::move(intervals), std::move(points)};
}

}  // namespace

std::string name_of_category(const Model &model, const Parameter &p) {
  if (std::isnan(p.category)) return {};
  if (p.element >= 0 && std::size_t(p.element) < model.info.columns.size()) {
    const RowColumn &column = model.info.columns[std::size_t(p.element)];
    if (const std::string *const label = label_of(column, p.category)) return *label;
    if (column.kind == ValueKind::boolean) return p.category == 1 ? "true" : "false";
  }
  return describe_number(p.category);
}

std::string first_parameter(const Model &model) {
  // Topics have millions of parameters.
  struct Found {
    std::string name;
  };
  try {
    model.describe_parameters({}, [](const Parameter &p) { throw Found{p.name}; });
  } catch (const Found &found) {
    return found.name;
  } catch (const Error &error) {
    if (error.code() != Errc::wrong_family) throw;
  }
  return {};
}

namespace {

/// Parts of a list of coefficients, each of numbers of about one size: beside the effect of a metre
/// that of a millimetre is not seen. In the order of the list.
std::vector<std::vector<Kept>> by_size(std::vector<Kept> all) {
  constexpr double seen = 30;
  const auto size = [](const Kept &kept) {
    const Parameter &p = kept.of;
    return std::isfinite(p.lower + p.upper) ? std::max(std::fabs(p.lower), std::fabs(p.upper))
                                            : std::fabs(p.value);
  };
  std::vector<std::vector<Kept>> out;
  while (!all.empty()) {
    double largest = 0;
    for (const Kept &kept : all) largest = std::max(largest, size(kept));
    auto rest = std::stable_partition(
        all.begin(), all.end(), [&](const Kept &kept) { return !(size(kept) * seen < largest); });
    std::vector<Kept> others(std::make_move_iterator(rest), std::make_move_iterator(all.end()));
    all.erase(rest, all.end());
    out.push_back(std::exchange(all, std::move(others)));
  }
  return out;
}

/// Coefficients of terms, without intercepts and the cuts of ordered levels, which come first:
/// these are in units of the response and would leave the others no room. Of very many those that
/// are farthest from 0.
std::vector<Kept> coefficients_of(const ChartRequest &request) {
  const auto &regression = static_cast<const RegressionModel &>(request.model);
  const RegressionTerms &terms = regression.terms();
  const std::size_t slopes = std::size_t(regression.predictors()) *
                             std::size_t(terms.size() - (terms.intercept() ? 1 : 0));
  std::vector<Kept> out = parameters_of(request.model, request.options.level, "coefficient");
  if (slopes > 0) {
    std::erase_if(out, [](const Kept &kept) { return kept.label.ends_with(intercept_name); });
    out.erase(out.begin(), out.end() - std::ptrdiff_t(std::min(slopes, out.size())));
  }
  std::erase_if(out, [](const Kept &kept) { return !std::isfinite(kept.of.value); });
  request.figure.subtitle = message("{} % intervals", describe_number(100 * request.options.level));
  if (out.size() <= 2 * max_shown) return out;
  request.figure.subtitle +=
      message("; the {} of {} that are farthest from 0", 2 * max_shown, out.size());
  std::stable_sort(out.begin(), out.end(), [](const Kept &a, const Kept &b) {
    poll_here();
    return std::fabs(a.of.value) > std::fabs(b.of.value);
  });
  out.resize(2 * max_shown);
  return out;
}

}  // namespace

void coefficients_chart(const ChartRequest &request) {
  const std::vector<std::vector<Kept>> parts = by_size(coefficients_of(request));
  for (std::size_t i = 0; i < std::min<std::size_t>(parts.size(), max_panels); ++i) {
    Panel panel{{}, {"change for one unit more"}, {""}};
    if (parts.size() > 1)
      panel.title = i == 0 ? "larger coefficients" : i == 1 ? "smaller ones" : "still smaller ones";
    panel.x.reference = 0;
    add_estimates(request, panel, parts[i]);
    request.figure.panels.push_back(std::move(panel));
  }
}

void ratios_chart(const ChartRequest &request) {
  std::vector<Kept> ratios = coefficients_of(request);
  for (Kept &kept : ratios)
    for (double *const each : {&kept.of.value, &kept.of.lower, &kept.of.upper}) {
      // One that is 0, or infinite, for a computer has no place on a logarithmic axis.
      *each = std::exp(*each);
      if (!(*each > 0)) *each = Parameter::none;
    }
  const auto &regression = static_cast<const RegressionModel &>(request.model);
  Panel panel{{}, {"ratio (logarithmic scale)"}, {""}};
  panel.x.reference = 1;
  panel.x.logarithmic = true;
  add_estimates(request, panel, ratios);
  request.figure.panels.push_back(std::move(panel));
  request.figure.title = message("What one unit more multiplies the {} by",
                                 regression.binary() || regression.labelled() ? "odds" : "mean");
}

void parameters_chart(const ChartRequest &request) {
  const Model &model = request.model;
  std::map<std::pair<int, std::string>, std::size_t> places;
  std::vector<std::vector<Kept>> panels;
  for (Kept &kept : parameters_of(model, request.options.level)) {
    poll_here();
    const std::pair<int, std::string> key{kept.of.element, kept.of.name};
    const auto [place, added] = places.emplace(key, panels.size());
    if (added) panels.emplace_back();
    panels[place->second].push_back(std::move(kept));
  }
  std::string subtitle = message("{} % intervals", describe_number(100 * request.options.level));
  if (panels.size() > max_panels)
    subtitle += message("; {} of {} panels", max_panels, panels.size());
  request.figure.subtitle = subtitle;
  for (std::size_t i = 0; i < std::min<std::size_t>(panels.size(), max_panels); ++i) {
    std::vector<Kept> &shown = panels[i];
    // Of very many, those that are farthest from 0.
    if (shown.size() > 2 * max_shown) {
      std::stable_sort(shown.begin(), shown.end(), [](const Kept &a, const Kept &b) {
        poll_here();
        return std::fabs(a.of.value) > std::fabs(b.of.value);
      });
      shown.resize(2 * max_shown);
    }
    // Of labels the components beside each other.
    if (shown.front().of.element >= 0 && !std::isnan(shown.front().of.category))
      std::stable_sort(shown.begin(), shown.end(), [](const Kept &a, const Kept &b) {
        return std::fmax(a.of.category, 0) < std::fmax(b.of.category, 0);
      });
    const Parameter &first = shown.front().of;
    Panel panel{first.name, {first.name}, {model.info.components > 1 ? model.words().part : ""}};
    if (first.element >= 0) {
      const std::string column =
          name_of_column(model.info.columns, model.info.dimension, first.element);
      panel.title = message("{} of {}", first.name, column);
      if (!std::isnan(first.category) && model.info.components > 1)
        panel.y.title = message("{} in {}", column, panel.y.title);
    }
    add_estimates(request, panel, shown);
    if (!panel.y.categories.empty()) request.figure.panels.push_back(std::move(panel));
  }
}

void weights_chart(const ChartRequest &request) {
  std::vector<Kept> shown;
  // Topics and factors have a parameter for every label, and weights without an interval.
  if (const auto profiles = request.model.label_profiles())
    for (int k = 0; k < profiles->size(); ++k)
      shown.push_back({{.component = k,
                        .name = "weight",
                        .value = profiles->weights[std::size_t(k)],
                        .known_by = {}},
                       {}});
  else
    shown = parameters_of(request.model, request.options.level, "weight");
  std::stable_sort(shown.begin(), shown.end(), [](const Kept &a, const Kept &b) {
    poll_here();
    return a.of.value > b.of.value;
  });
  if (shown.size() > 2 * max_shown) {
    request.figure.subtitle = message("the {} largest of {} {}", 2 * max_shown, shown.size(),
                                      request.model.words().parts);
    shown.resize(2 * max_shown);
  }
  Panel panel{{}, {"weight"}, {request.figure.series_are}};
  panel.x.zero = true;
  add_estimates(request, panel, shown);
  request.figure.panels.push_back(std::move(panel));
}

void transitions_chart(const ChartRequest &request) {
  Panel panel{{}, {"to"}, {"from"}, "probability"};
  const std::size_t most = std::min<std::size_t>(request.figure.series.size(), 2 * max_shown);
  panel.x.categories.assign(request.figure.series.begin(),
                            request.figure.series.begin() + std::ptrdiff_t(most));
  panel.y.categories = panel.x.categories;
  Layer cells{Mark::cell};
  for (const Kept &kept : parameters_of(request.model, {}, "transition")) {
    ChartItem item;
    item.x = kept.of.category - 1;
    item.y = kept.of.component;
    item.value = kept.of.value;
    if (item.x < double(most) && item.y < double(most)) cells.items.push_back(item);
  }
  panel.layers.push_back(std::move(cells));
  request.figure.panels.push_back(std::move(panel));
}

void posterior_chart(const ChartRequest &request) {
  // A posterior is known by its intervals: the bounds of many of them are its quantiles, between
  // which the density is the probability by the distance.
  constexpr int intervals = 80;
  std::vector<std::vector<std::pair<double, double>>> quantiles;
  std::vector<Kept> parameters;
  for (int i = 0; i < intervals; ++i) {
    // closer to each other in the tails
    const double level = 0.998 * std::cos(1.5707963 * (intervals - 1 - i) / intervals);
    parameters = parameters_of(request.model, level);
    quantiles.resize(parameters.size());
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      quantiles[p].push_back({parameters[p].of.lower, (1 - level) / 2});
      quantiles[p].push_back({parameters[p].of.upper, (1 + level) / 2});
    }
  }
  for (std::size_t p = 0; p < std::min<std::size_t>(parameters.size(), max_panels); ++p) {
    std::vector<std::pair<double, double>> &of = quantiles[p];
    std::sort(of.begin(), of.end(),
              [](const auto &a, const auto &b) { return a.second < b.second; });
    Layer line{Mark::line}, middle{Mark::area};
    for (std::size_t i = 0; i + 1 < of.size(); ++i) {
      const double width = of[i + 1].first - of[i].first;
      if (!(width > 0)) continue;
      ChartItem item;
      item.x = (of[i].first + of[i + 1].first) / 2;
      item.y = (of[i + 1].second - of[i].second) / width;
      line.items.push_back(item);
      if (of[i].second < 0.025 || of[i + 1].second > 0.975) continue;
      item.low = 0;
      item.high = std::exchange(item.y, ChartItem::none);
      middle.items.push_back(item);
    }
    if (line.items.empty()) continue;
    const std::string name = name_in_panel(request, parameters[p]);
    Panel panel{{}, {name}, {"density"}};
    panel.y.zero = true;
    panel.layers = {std::move(middle), std::move(line)};
    request.figure.panels.push_back(std::move(panel));
  }
  request.figure.subtitle = "shaded: 95 % of the probability";
  if (request.figure.panels.empty()) parameters_chart(request);
}

// Charts of how a fit went: its objective, and the draws of a sampler.

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
  out.x.zero = true;
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

/// The first n draws of every chain.
std::vector<Chain> chains_of(const std::vector<std::vector<double>> &values, std::size_t n) {
  std::vector<Chain> out;
  for (std::size_t c = 0; c < values.size(); ++c)
    out.push_back({std::int64_t(c) + 1, std::span(values[c]).first(n)});
  return out;
}

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
  for (std::size_t q = 0; q < quantities; ++q) {
    const std::vector<std::vector<double>> values = draws_of(draws, q);
    Panel panel = lines(values, 1, {"draw"}, {draws.quantities[q]}, items_of_chart / quantities);
    if (const auto found = rhat(chains_of(values, values[0].size()), request.control))
      panel.title = message("{}: R-hat {}", draws.quantities[q],
                            describe_number(std::round(100 * *found) / 100));
    request.figure.panels.push_back(std::move(panel));
  }
  request.figure.subtitle = request.model.info.converged
                                ? "chains agree: each R-hat is near 1"
                                : "chains disagree: raise draws, and with it warmup";
}

void ranks_chart(const ChartRequest &request) {
  const Draws &draws = request.model.draws;
  name_series(request.figure, "chain", std::size_t(draws.chains));
  request.figure.subtitle =
      "ranks among the draws of all chains: near the dashed line if they agree";
  // Some 20 draws of each chain in a part of the ranks, as fewer are never even.
  const std::size_t bins = std::clamp<std::size_t>(std::size_t(draws.draws) / 20, 4, 20);
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
    Panel panel =
        lines(counts, 1, {message("{} parts of the ranks", bins)}, {"draws"}, items_of_chart);
    panel.y.reference = double(draws.draws) / double(bins);
    panel.title = draws.quantities[q];
    panel.x.zero = false;
    panel.y.zero = true;
    request.figure.panels.push_back(std::move(panel));
  }
}

void ess_chart(const ChartRequest &request) {
  const Draws &draws = request.model.draws;
  name_series(request.figure, "part of the distribution", 0);
  request.figure.series = {"bulk", "tails"};
  // Vehtari and others (2021) want so many for R-hat and quantiles to be trusted.
  constexpr double wanted = 100;
  request.figure.subtitle = message(
      "of the first draws: a rising line if chains mix well, in the end above {} for each chain",
      wanted);
  for (std::size_t q = 0; q < std::min<std::size_t>(draws.quantities.size(), max_panels); ++q) {
    const std::vector<std::vector<double>> values = draws_of(draws, q);
    Panel panel{draws.quantities[q], {"draws of each chain"}, {"effective sample size"}};
    panel.x.zero = panel.y.zero = true;
    panel.y.reference = wanted * draws.chains;
    Layer layer{Mark::line};
    constexpr int steps = 20;
    for (const int series : {0, 1})
      for (int i = 1; i <= steps; ++i) {
        poll_here();
        const std::size_t n = std::size_t(draws.draws) * std::size_t(i) / steps;
        const std::vector<Chain> chains = chains_of(values, n);
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
