#include "questions/row_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/message.hpp"
#include "base/special.hpp"
#include "base/unseen.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

/// Components whose weights are smaller than e to this of the largest do not count: together they
/// are less than the rounding errors of the others.
constexpr double negligible = -46;

}  // namespace

RowDistribution::RowDistribution(RowColumns columns, int dimension,
                                 std::vector<FlatComponent> components)
    : columns_(std::move(columns)),
      dimension_(dimension),
      components_(std::move(components)),
      places_(std::size_t(dimension)),
      categories_(std::size_t(dimension)),
      row_(std::size_t(dimension)),
      joint_(components_.size()) {
  for (const FlatComponent &each : components_) log_weights_.push_back(std::log(each.weight));
}

RowDistribution::~RowDistribution() = default;

void RowDistribution::add(std::unique_ptr<RowPart> part) {
  for (int j = 0; j < part->size(); ++j) {
    const std::size_t element = std::size_t(part->elements()[std::size_t(j)]);
    places_[element] = {int(parts_.size()), j};
    categories_[element] = part->categories(j);
  }
  parts_.push_back(std::move(part));
}

std::string RowDistribution::label(int element, double category) const {
  if (!labels_.empty() && element == dimension_ - 1) return labels_[std::size_t(category) - 1];
  if (!columns_.empty()) {
    const RowColumn &column = columns_[std::size_t(element)];
    if (const std::string *const known = label_of(column, category)) return *known;
    if (column.kind == ValueKind::boolean) return category != 0 ? "true" : "false";
  }
  return message("{}", std::int64_t(category));
}

std::span<const double> RowDistribution::checked(std::span<const double> x) {
  for (std::size_t j = 0; j < row_.size(); ++j) {
    row_[j] = x[j];
    if (std::isnan(x[j])) continue;
    const RowPart &part = *parts_[std::size_t(places_[j].part)];
    const double found = part.checked(places_[j].within, x[j], [&] {
      return columns_.empty() ? message("element {}", j + 1)
                              : message("column {}", describe(Document(columns_[j].name)));
    });
    row_[j] = found;
  }
  return row_;
}

void RowDistribution::refuse_impossible() const {
  throw Error(Errc::numeric, "the density of the given columns is zero",
              "Nothing follows from what cannot be.");
}

std::span<const double> RowDistribution::log_joint(std::span<const double> x, bool count_unseen) {
  std::copy(log_weights_.begin(), log_weights_.end(), joint_.begin());
  for (const auto &part : parts_) {
    const double *own = x.data();
    if (part->size() < dimension_) {
      part_row_.clear();
      for (const int j : part->elements()) part_row_.push_back(x[std::size_t(j)]);
      own = part_row_.data();
    }
    part->condition(own, count_unseen, joint_.data());
  }
  return joint_;
}

double RowDistribution::log_density(std::span<const double> x) {
  return log_sum_exp(log_joint(x, true));
}

double RowDistribution::log_density(std::span<const double> x, std::span<const double> given) {
  merged_.assign(x.begin(), x.end());
  for (std::size_t j = 0; j < merged_.size(); ++j) {
    if (std::isnan(given[j])) continue;
    if (!std::isnan(x[j]) && x[j] != given[j]) return -std::numeric_limits<double>::infinity();
    merged_[j] = given[j];
  }
  const double both = log_sum_exp(log_joint(merged_, true));
  const double evidence = log_sum_exp(log_joint(given, false));
  if (!std::isfinite(evidence)) refuse_impossible();
  return both - evidence;
}

/// p(x) >= w_c p_c(x), so that p(X) <= p implies p_c(X) <= p / w_c for X of any component c.
double RowDistribution::tail_bound(double log_density) {
  if (parts_.size() != 1) return std::nan("");
  double out = 0;
  for (std::size_t c = 0; c < components_.size(); ++c)
    if (components_[c].weight > 0)
      out += components_[c].weight * parts_[0]->tail(int(c), log_density - log_weights_[c]);
  return std::min(1.0, out);
}

void RowDistribution::condition(std::span<const double> x) {
  const std::span<const double> joint = log_joint(x);
  const double largest = *std::max_element(joint.begin(), joint.end());
  if (!std::isfinite(largest)) refuse_impossible();
  active_.clear();
  weights_.clear();
  double total = 0;
  for (std::size_t c = 0; c < joint.size(); ++c)
    if (joint[c] - largest >= negligible) {
      active_.push_back(int(c));
      weights_.push_back(std::exp(joint[c] - largest));
      total += weights_.back();
    }
  for (double &weight : weights_) weight /= total;
}

std::span<const Predicted> RowDistribution::predicted(int element) {
  const Place place = places_[std::size_t(element)];
  predicted_.clear();
  for (const int c : active_)
    predicted_.push_back(parts_[std::size_t(place.part)]->predicted(c, place.within));
  return predicted_;
}

std::pair<double, double> RowDistribution::moments(int element) {
  const Place place = places_[std::size_t(element)];
  std::vector<std::pair<double, double>> own;
  double mean = 0, variance = 0;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    own.push_back(parts_[std::size_t(place.part)]->moments(active_[i], place.within));
    mean += weights_[i] * own.back().first;
  }
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const double away = own[i].first - mean;
    variance += weights_[i] * (own[i].second + away * away);
  }
  return {mean, variance};
}

std::vector<double> RowDistribution::probabilities(int element) {
  const Place place = places_[std::size_t(element)];
  std::vector<double> out(categories(element).size()), own(out.size());
  for (std::size_t i = 0; i < active_.size(); ++i) {
    parts_[std::size_t(place.part)]->probabilities(active_[i], place.within, own.data());
    for (std::size_t v = 0; v < out.size(); ++v) out[v] += weights_[i] * own[v];
  }
  return out;
}

void RowDistribution::box(std::span<const double> lower, std::span<const double> upper,
                          std::span<double> out) {
  std::vector<double> low, high, own(out.size());
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t i = 0; i < active_.size(); ++i) {
    std::fill(own.begin(), own.end(), weights_[i]);
    for (const auto &part : parts_) {
      low.clear();
      high.clear();
      for (const int j : part->elements()) {
        low.push_back(lower[std::size_t(j)]);
        high.push_back(upper[std::size_t(j)]);
      }
      part->box(active_[i], low.data(), high.data(), own);
    }
    for (std::size_t s = 0; s < out.size(); ++s) out[s] += own[s];
  }
}

int RowDistribution::draw(Random &random, std::span<double> x) {
  const int c = active_[std::size_t(random.categorical(weights_))];
  for (const auto &part : parts_) {
    if (part->size() == dimension_) {
      part->draw(c, random, x.data());
      continue;
    }
    part_row_.clear();
    for (const int j : part->elements()) part_row_.push_back(x[std::size_t(j)]);
    part->draw(c, random, part_row_.data());
    for (int j = 0; j < part->size(); ++j)
      x[std::size_t(part->elements()[std::size_t(j)])] = part_row_[std::size_t(j)];
  }
  return c;
}

int RowDistribution::sample(std::uint64_t seed, std::int64_t index, std::span<double> out) {
  Random random(seed, std::uint64_t(index));
  std::fill(out.begin(), out.end(), std::nan(""));
  condition(out);
  return components_[std::size_t(draw(random, out))].number;
}

}  // namespace bayes
