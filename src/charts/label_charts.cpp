// Charts of topics and factors: what they are made of, and how alike they are.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/linalg.hpp"
#include "base/message.hpp"
#include "charts/chart_kinds.hpp"

namespace bayes {
namespace {

/// The components of the greatest weight, in their order.
std::vector<int> largest_components(const LabelProfiles &profiles, int most) {
  std::vector<int> out(std::size_t(profiles.size()));
  std::iota(out.begin(), out.end(), 0);
  std::stable_sort(out.begin(), out.end(), [&](int a, int b) {
    return profiles.weights[std::size_t(a)] > profiles.weights[std::size_t(b)];
  });
  if (int(out.size()) > most) out.resize(std::size_t(most));
  std::sort(out.begin(), out.end());
  return out;
}

/// Topics of one chart: as many as there are colours that are different.
constexpr int max_topics = 8;

/// Those that have the largest part of the chart, in their order.
std::vector<int> largest_topics(const ChartRows &rows, std::size_t all, int most) {
  std::vector<double> shares(all, 0.0);
  for (const ChartRows::Group &group : rows.groups)
    for (std::size_t k = 0; k < all; ++k) shares[k] += group.shares[k];
  std::vector<int> out(all);
  std::iota(out.begin(), out.end(), 0);
  std::stable_sort(out.begin(), out.end(),
                   [&](int a, int b) { return shares[std::size_t(a)] > shares[std::size_t(b)]; });
  if (int(out.size()) > most) out.resize(std::size_t(most));
  std::sort(out.begin(), out.end());
  return out;
}

/// Its most probable labels, the first ones first.
std::vector<std::int32_t> top_labels(const LabelProfiles &profiles, int component, int most) {
  std::vector<std::int32_t> out(profiles.labels.size());
  std::iota(out.begin(), out.end(), 0);
  std::vector<double> p;
  for (const std::int32_t label : out) {
    poll_in_loop(std::size_t(label));
    p.push_back(profiles.probability(label, component));
  }
  const auto end = out.begin() + std::min<std::ptrdiff_t>(most, std::ssize(out));
  std::partial_sort(out.begin(), end, out.end(), [&](std::int32_t a, std::int32_t b) {
    return p[std::size_t(a)] != p[std::size_t(b)] ? p[std::size_t(a)] > p[std::size_t(b)] : a < b;
  });
  out.erase(end, out.end());
  return out;
}

}  // namespace

void terms_chart(const ChartRequest &request) {
  const LabelProfiles profiles = *request.model.label_profiles();
  for (const int k : largest_components(profiles, max_panels)) {
    Panel panel{title_of_series(request.figure, k), {profiles.parameter}, {""}};
    panel.x.zero = true;
    Layer bars{Mark::bar};
    for (const std::int32_t label : top_labels(profiles, k, request.options.terms)) {
      ChartItem item;
      item.x = profiles.probability(label, k);
      item.y = double(panel.y.categories.size());
      panel.y.categories.push_back(profiles.labels[std::size_t(label)]);
      bars.items.push_back(item);
    }
    panel.layers.push_back(std::move(bars));
    request.figure.panels.push_back(std::move(panel));
  }
  if (request.figure.panels.size() > 1) request.figure.subtitle = "each with a scale of its own";
}

void parts_chart(const ChartRequest &request) {
  const LabelProfiles profiles = *request.model.label_profiles();
  Panel panel{{}, {""}, {""}, profiles.parameter};
  const std::vector<int> components = largest_components(profiles, max_shown);
  // The labels that matter most to any component, in their own order.
  std::vector<std::int32_t> labels;
  const int each = std::max(1, 60 / int(std::max<std::size_t>(1, components.size())));
  for (const int k : components)
    for (const std::int32_t label : top_labels(profiles, k, each)) labels.push_back(label);
  if (profiles.labels.size() <= 64) {
    labels.resize(profiles.labels.size());
    std::iota(labels.begin(), labels.end(), 0);
  }
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  for (const int k : components)
    panel.x.categories.push_back(request.figure.series[std::size_t(k)]);
  panel.x.title = request.figure.series_are;
  for (const std::int32_t label : labels)
    panel.y.categories.push_back(profiles.labels[std::size_t(label)]);
  Layer cells{Mark::cell};
  for (std::size_t v = 0; v < labels.size(); ++v)
    for (std::size_t k = 0; k < components.size(); ++k) {
      ChartItem item;
      item.x = double(k);
      item.y = double(v);
      item.value = profiles.probability(labels[v], components[k]);
      cells.items.push_back(item);
    }
  panel.layers.push_back(std::move(cells));
  request.figure.panels.push_back(std::move(panel));
}

void shares_chart(const ChartRequest &request) {
  const ChartRows &given = *request.rows;
  const std::size_t all = std::size_t(request.model.info.components);
  const std::vector<int> components = largest_topics(given, all, max_topics);
  std::int64_t documents = 0;
  Panel panel{{}, {given.grouped_by}, {"mean proportion"}};
  panel.y.zero = true;
  panel.value = "documents";
  // Times follow each other, other groups stand beside each other.
  const bool areas = given.over_time && given.groups.size() > 1;
  for (const ChartRows::Group &group : given.groups) {
    documents += group.documents;
    panel.x.categories.push_back(group.name);
    if (areas) panel.x.times.push_back(group.time);
  }
  Layer layer{areas ? Mark::area : Mark::bar};
  layer.stacked = true;
  std::vector<double> below(given.groups.size(), 0.0);
  const auto add = [&](int series, const auto &share_in) {
    for (std::size_t g = 0; g < given.groups.size(); ++g) {
      ChartItem item;
      item.x = double(g);
      item.y = share_in(g);
      item.series = series;
      item.value = double(given.groups[g].documents);
      if (areas) item.low = below[g];
      below[g] += item.y;
      if (areas) item.high = below[g];
      layer.items.push_back(item);
    }
  };
  for (const int k : components)
    add(k, [&](std::size_t g) { return given.groups[g].shares[std::size_t(k)]; });
  request.figure.subtitle = "mean proportions of " + counted(documents, "documents");
  if (components.size() < all) {
    request.figure.others = int(request.figure.series.size());
    add(request.figure.others, [&](std::size_t g) { return std::max(0.0, 1 - below[g]); });
    request.figure.series.push_back("other");
    request.figure.subtitle += message("; the {} largest of {} topics", components.size(), all);
  }
  panel.layers.push_back(std::move(layer));
  request.figure.panels.push_back(std::move(panel));
  const std::string left_out = documents_left_out(given);
  if (!left_out.empty()) request.figure.subtitle += "; left out: " + left_out;
}

std::string documents_left_out(const ChartRows &rows) {
  std::string out;
  const auto add = [&out](std::int64_t number, std::string_view what) {
    if (number > 0) out += (out.empty() ? "" : ", ") + message("{} {}", number, what);
  };
  add(rows.unknown_documents, "without a known term");
  if (rows.unknown_groups > 0)
    out += message(" (all of {}{})", rows.unknown_groups < max_groups ? "" : "at least ",
                   counted(rows.unknown_groups, "groups"));
  add(rows.ungrouped_documents, "of no group");
  add(rows.null_documents, "NULL");
  return out;
}

void map_chart(const ChartRequest &request) {
  const LabelProfiles profiles = *request.model.label_profiles();
  const int k = profiles.size();
  // Classical scaling of the distances of Hellinger: of the centred roots of the probabilities.
  Matrix inner = Matrix::Zero(k, k);
  Vector root(k);
  for (std::size_t v = 0; v < profiles.labels.size(); ++v) {
    poll_here();
    for (int i = 0; i < k; ++i) root(i) = std::sqrt(profiles.probability(std::int32_t(v), i));
    root.array() -= root.mean();
    inner.noalias() += root * root.transpose();
  }
  const SymmetricEigen axes = symmetric_eigen(inner);
  double kept = 0, whole = 0;
  for (int i = 0; i < k; ++i) {
    whole += std::max(0.0, axes.values(i));
    if (i >= k - 2) kept += std::max(0.0, axes.values(i));
  }
  request.figure.subtitle = message(
      "the nearer, the more alike; the axes have {} % of the differences (Hellinger distances)",
      whole > 0 ? std::round(100 * kept / whole) : 100.0);
  Panel panel{{}, {"first axis"}, {"second axis"}};
  panel.equal = true;
  Layer names{Mark::name};
  for (int i = 0; i < k; ++i) {
    ChartItem item;
    const auto axis = [&](int from_last) {
      if (from_last > k) return 0.0;
      const auto column = k - from_last;
      return axes.vectors(i, column) * std::sqrt(std::max(0.0, axes.values(column)));
    };
    item.x = axis(1);
    item.y = axis(2);
    item.series = i;
    names.items.push_back(item);
  }
  panel.layers.push_back(std::move(names));
  request.figure.panels.push_back(std::move(panel));
}

}  // namespace bayes
