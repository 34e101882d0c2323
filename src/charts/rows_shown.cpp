#include "charts/rows_shown.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/message.hpp"
#include "questions/answers.hpp"

namespace bayes {

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

}  // namespace bayes
