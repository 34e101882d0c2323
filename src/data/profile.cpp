#include "data/profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/message.hpp"

namespace bayes {
namespace {

constexpr double max_sums = 1e7;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Profile::Profile(int components, std::vector<std::vector<double>> categories)
    : columns_(std::move(categories)),
      rows_(std::size_t(components), 0.0) {
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    first_.push_back(units_.size());
    if (columns_[j].empty()) units_.push_back({int(j), nothing});
    for (const double category : columns_[j]) units_.push_back({int(j), category});
  }
  const double sums = double(components) * double(units_.size());
  if (sums > max_sums)
    throw Error(Errc::too_large,
                message("a profile of {} components has {} columns and categories", components,
                        units_.size()),
                message("The limit is {} of both multiplied.", std::int64_t(max_sums)));
  weights_.assign(rows_.size() * columns_.size(), 0.0);
  sums_.assign(std::size_t(sums), 0.0);
  counts_.assign(columns_.size(), 0.0);
  origin_.assign(columns_.size(), 0.0);
  totals_.assign(units_.size(), 0.0);
}

void Profile::add(std::span<const double> x, std::span<const double> probabilities) {
  const std::size_t k = rows_.size();
  for (std::size_t i = 0; i < k; ++i) rows_[i] += probabilities[i];
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (std::isnan(x[j])) continue;
    const std::vector<double> &values = columns_[j];
    std::size_t unit = first_[j];
    double value = 1;
    if (values.empty()) {
      // Sums are taken about the first value, so that no digits cancel.
      if (counts_[j] == 0) origin_[j] = x[j];
      value = x[j] - origin_[j];
    } else {
      const auto at = std::lower_bound(values.begin(), values.end(), x[j]);
      if (at == values.end() || *at != x[j]) continue;  // not a known category
      unit += std::size_t(at - values.begin());
    }
    ++counts_[j];
    totals_[unit] += value;
    if (values.empty()) {
      Unit &all = units_[unit];
      const double away = value - all.mean;
      all.mean += away / counts_[j];
      all.squares += away * (value - all.mean);
    }
    for (std::size_t i = 0; i < k; ++i) {
      weights_[i * columns_.size() + j] += probabilities[i];
      sums_[i * units_.size() + unit] += probabilities[i] * value;
    }
  }
}

std::vector<ProfileEntry> Profile::entries() const {
  std::vector<ProfileEntry> out;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::size_t begin = out.size();
    for (std::size_t u = 0; u < units_.size(); ++u) {
      const Unit &unit = units_[u];
      const std::size_t j = std::size_t(unit.element);
      const bool number = columns_[j].empty();
      const double count = counts_[j], own = weights_[i * columns_.size() + j], rest = count - own,
                   sum = sums_[i * units_.size() + u], origin = number ? origin_[j] : 0,
                   share = totals_[u] / count;
      ProfileEntry entry{int(i),  unit.element, unit.category, rows_[i], nothing,
                         nothing, nothing,      nothing,       nothing,  0};
      if (own > 0) entry.value = origin + sum / own;
      // Effects below rounding errors are 0.
      if (rest > 1e-9 * count) entry.others = origin + (totals_[u] - sum) / rest;
      entry.difference = entry.value - entry.others;
      const double variance = number ? unit.squares / count : share * (1 - share);
      if (variance > 0) entry.effect = entry.difference / std::sqrt(variance);
      if (rows_[i] > 0) entry.missing = std::clamp(1 - own / rows_[i], 0.0, 1.0);
      out.push_back(entry);
    }
    rank({out.data() + begin, out.size() - begin});
  }
  return out;
}

void Profile::rank(std::span<ProfileEntry> entries) const {
  std::vector<ProfileEntry *> order;
  for (ProfileEntry &entry : entries)
    if (!std::isnan(entry.effect)) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const auto *a, const auto *b) {
    return std::abs(a->effect) > std::abs(b->effect);
  });
  for (std::size_t i = 0; i < order.size(); ++i) order[i]->rank = int(i) + 1;
}

}  // namespace bayes
