#include "questions/row_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/control.hpp"
#include "base/message.hpp"
#include "base/simd.hpp"
#include "base/special.hpp"
#include "base/unseen.hpp"
#include "data/row_order.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

/// Components whose weights are smaller than e to this of the largest do not count: together they
/// are less than the rounding errors of the others.
constexpr double negligible = -46;

/// Rare components have less than this share of the rows, and less than this part of the share that
/// components of equal weight have.
constexpr double rare_share = 0.1, rare_of_equal = 0.5;

}  // namespace

RowDistribution::RowDistribution(RowColumns columns, int dimension,
                                 std::vector<FlatComponent> components)
    : columns_(std::move(columns)),
      dimension_(dimension),
      components_(std::move(components)),
      places_(std::size_t(dimension)),
      categories_(std::size_t(dimension)),
      row_(std::size_t(dimension)) {
  for (const FlatComponent &each : components_) log_weights_.push_back(std::log(each.weight));
  log_weights_.resize(
      (components_.size() + simd::sum_lanes - 1) / simd::sum_lanes * simd::sum_lanes,
      -std::numeric_limits<double>::infinity());
  joint_.resize(log_weights_.size());
  masses_.resize(log_weights_.size());
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
  if (!labels_.empty() && element == dimension_ - 1 && category >= 1 &&
      category <= double(labels_.size()))
    return labels_[std::size_t(category) - 1];
  if (!columns_.empty()) {
    const RowColumn &column = columns_[std::size_t(element)];
    if (const std::string *const known = label_of(column, category)) return *known;
    if (column.kind == ValueKind::boolean) return category != 0 ? "true" : "false";
  }
  return message("{}", std::int64_t(category));
}

bool RowDistribution::unknown(int element, double x) const {
  const Place place = places_[std::size_t(element)];
  const std::vector<double> &known = categories(element);
  return parts_[std::size_t(place.part)]->names(place.within) && x == std::floor(x) &&
         !std::binary_search(known.begin(), known.end(), x);
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

std::span<const double> RowDistribution::with_fixed(std::span<const double> x) {
  if (free_.empty()) return x;
  whole_ = fixed_;
  for (std::size_t j = 0; j < free_.size(); ++j) whole_[std::size_t(free_[j])] = x[j];
  return whole_;
}

const double *RowDistribution::of_part(const RowPart &part, std::span<const double> whole) {
  if (part.size() == int(whole.size())) return whole.data();
  part_row_.clear();
  for (const int j : part.elements()) part_row_.push_back(whole[std::size_t(j)]);
  return part_row_.data();
}

void RowDistribution::fix(std::span<const double> given) {
  std::vector<double> held(given.begin(), given.end());
  std::vector<int> free;
  for (std::size_t j = 0; j < held.size(); ++j) {
    if (std::isnan(held[j]) && !is_unseen(held[j])) free.push_back(int(j));
    if (is_unseen(held[j])) held[j] = std::nan("");
  }
  const std::span<const double> joint = log_joint(held);
  const double evidence = log_sum_exp(joint);
  if (!std::isfinite(evidence)) refuse_impossible();
  for (std::size_t c = 0; c < components_.size(); ++c) {
    components_[c].weight = std::exp(joint[c] - evidence);
    log_weights_[c] -= evidence;
  }
  for (const auto &part : parts_) part->fix(of_part(*part, held));

  if (free.empty() || free.back() != dimension_ - 1) labels_.clear();
  RowColumns columns;
  std::vector<Place> places;
  std::vector<std::vector<double>> categories;
  for (const int j : free) {
    if (!columns_.empty()) columns.push_back(columns_[std::size_t(j)]);
    places.push_back(places_[std::size_t(j)]);
    categories.push_back(categories_[std::size_t(j)]);
  }
  columns_ = std::move(columns);
  places_ = std::move(places);
  categories_ = std::move(categories);
  dimension_ = int(free.size());
  row_.resize(free.size());
  free_ = std::move(free);
  fixed_ = std::move(held);
}

void RowDistribution::leave_out_rare() {
  struct Draw {
    double weight = 0, remaining = 0;
    int groups = 0;
  };
  std::map<int, Draw> draws;
  std::map<int, double> groups;
  for (const FlatComponent &each : components_)
    if (each.weight > 0) {
      draws[each.draw].weight += each.weight;
      if (groups.emplace(each.group, 0).second) ++draws[each.draw].groups;
      groups[each.group] += each.weight;
    }
  const auto rare = [&](const FlatComponent &each) {
    const Draw &draw = draws[each.draw];
    return groups[each.group] < draw.weight * std::min(rare_share, rare_of_equal / draw.groups);
  };
  for (const FlatComponent &each : components_)
    if (each.weight > 0 && !rare(each)) draws[each.draw].remaining += each.weight;
  for (std::size_t c = 0; c < components_.size(); ++c) {
    FlatComponent &each = components_[c];
    if (!(each.weight > 0)) continue;
    const Draw &draw = draws[each.draw];
    const double factor = rare(each) ? 0 : draw.weight / draw.remaining;
    each.weight *= factor;
    log_weights_[c] += std::log(factor);
  }
}

std::vector<int> RowDistribution::members(int component) const {
  if (!members_.empty()) return members_[std::size_t(component)];
  std::vector<int> out;
  for (std::size_t c = 0; c < components_.size(); ++c)
    if (components_[c].number == component) out.push_back(int(c));
  return out;
}

std::span<const double> RowDistribution::log_joint(std::span<const double> x, bool count_unseen) {
  std::copy(log_weights_.begin(), log_weights_.end(), joint_.begin());
  const std::span<const double> whole = with_fixed(x);
  for (const auto &part : parts_)
    part->condition(of_part(*part, whole), count_unseen, joint_.data());
  return {joint_.data(), components_.size()};
}

/// Calls f(component, outcome, shares): its outcome's number, or -1 with its shares of all outcomes
/// but the last; null shares: all of it belongs to the last.
template <class F> void RowDistribution::for_each_outcome(std::size_t outcomes, F f) const {
  for (std::size_t c = 0; c < components_.size(); ++c) {
    if (share_of_.empty()) {
      f(c, components_[c].number, nullptr);
      continue;
    }
    const std::size_t first = std::size_t(share_of_[c]) * (outcomes - 1);
    f(c, -1, first < shares_.size() ? shares_.data() + first : nullptr);
  }
}

/// After log_joint(): exp(joint - the largest) into masses_, all NaN if there is no finite one.
/// Returns the logarithm of the sum of exp(joint).
double RowDistribution::compute_masses() {
  simd::Vector most = simd::all(-std::numeric_limits<double>::infinity());
  double partial[simd::sum_lanes] = {};
  for (std::size_t c = 0; c < joint_.size(); c += simd::lanes)
    most = simd::max(most, simd::load(joint_.data() + c));
  double largest = most[0];
  for (int i = 1; i < simd::lanes; ++i) largest = std::max(largest, most[i]);
  if (!std::isfinite(largest)) {
    std::fill(masses_.begin(), masses_.end(), std::nan(""));
    return largest;
  }
  for (std::size_t c = 0; c < joint_.size(); c += simd::sum_lanes)
    for (int i = 0; i < simd::sum_lanes; i += simd::lanes) {
      const std::size_t at = c + std::size_t(i);
      const simd::Vector mass = simd::exp(simd::load(joint_.data() + at) - largest);
      simd::store(masses_.data() + at, mass);
      simd::store(partial + i, simd::load(partial + i) + mass);
    }
  return largest + std::log(simd::sum(partial));
}

void RowDistribution::outcome_probabilities(std::span<const double> x, std::span<double> out) {
  log_joint(x);
  compute_masses();
  const std::size_t n = out.size() - 1;
  double *const to = out.data();
  std::fill(out.begin(), out.end(), 0.0);
  for_each_outcome(out.size(), [&](std::size_t c, int number, const double *shares) {
    const double mass = masses_[c];
    if (number >= 0)
      to[number] += mass;
    else if (shares && mass != 0)
      for (std::size_t i = 0; i < n; ++i) to[i] += mass * shares[i];
  });
  double whole = 0, known = 0;
  for (const double each : out) whole += each;
  if (!share_of_.empty())
    whole = std::max(whole, std::accumulate(masses_.begin(), masses_.end(), 0.0));
  for (double &each : out) known += each /= whole;
  if (!share_of_.empty()) out[n] = std::max(0.0, 1 - known);
}

int RowDistribution::most_probable(std::span<const double> x, int outcomes) {
  // Without draws nothing is summed.
  if (share_of_.empty() && int(components_.size()) == outcomes) {
    const std::span<const double> joint = log_joint(x);
    return int(std::max_element(joint.begin(), joint.end()) - joint.begin());
  }
  outcomes_.resize(std::size_t(outcomes));
  outcome_probabilities(x, outcomes_);
  return int(std::max_element(outcomes_.begin(), outcomes_.end()) - outcomes_.begin());
}

std::vector<double> RowDistribution::outcome_masses(std::span<const double> x, std::size_t outcomes,
                                                    bool count_unseen) {
  log_joint(x, count_unseen);
  compute_masses();
  std::vector<double> out(outcomes * std::size_t(components_.back().draw + 1));
  for_each_outcome(outcomes, [&](std::size_t c, int number, const double *shares) {
    const double mass = masses_[c];
    double *const to = out.data() + std::size_t(components_[c].draw) * outcomes;
    if (shares)
      for (std::size_t i = 0; i + 1 < outcomes; ++i) to[i] += mass * shares[i];
    else
      to[number >= 0 ? std::size_t(number) : outcomes - 1] += mass;
  });
  return out;
}

std::span<const double> RowDistribution::log_ties(std::span<const double> x,
                                                  std::span<const double> y) {
  ties_.assign(components_.size(), 0.0);
  std::span<const double> whole = with_fixed(x);
  std::vector<double> one(whole.begin(), whole.end());
  whole = with_fixed(y);
  std::vector<double> other(whole.begin(), whole.end());
  for (std::size_t j = 0; j < one.size(); ++j)
    if (std::isnan(one[j]) || std::isnan(other[j])) one[j] = other[j] = std::nan("");
  for (const auto &part : parts_) {
    const double *const at = of_part(*part, one);
    const std::vector<double> first(at, at + part->size());
    part->add_ties(first.data(), of_part(*part, other), ties_.data());
  }
  return ties_;
}

double RowDistribution::log_density(std::span<const double> x) {
  log_joint(x, true);
  return compute_masses();
}

double RowDistribution::log_density(std::span<const double> x, std::span<const double> given) {
  merged_.assign(x.begin(), x.end());
  for (std::size_t j = 0; j < merged_.size(); ++j) {
    if (std::isnan(given[j])) continue;
    // An unseen category differs from every given value.
    if ((!std::isnan(x[j]) || is_unseen(x[j])) && x[j] != given[j])
      return -std::numeric_limits<double>::infinity();
    merged_[j] = given[j];
  }
  const double both = log_sum_exp(log_joint(merged_, true));
  const double evidence = log_sum_exp(log_joint(given, false));
  if (!std::isfinite(evidence)) refuse_impossible();
  return both - evidence;
}

RowPart *RowDistribution::only_observed() const {
  RowPart *out = nullptr;
  for (const auto &part : parts_) {
    if (!part->observes()) continue;
    if (out) return nullptr;
    out = part.get();
  }
  return out;
}

double RowDistribution::exact_tail(double log_density) {
  int only = -1;
  for (std::size_t c = 0; c < components_.size(); ++c) {
    if (!(components_[c].weight > 0)) continue;
    if (only >= 0) return std::nan("");
    only = int(c);
  }
  RowPart *const part = only_observed();
  return part ? part->tail(only, log_density - std::log(components_[std::size_t(only)].weight))
              : std::nan("");
}

/// p(x) >= w_c p_c(x), so that p(X) <= p implies p_c(X) <= p / w_c for X of any component c.
double RowDistribution::tail_bound(double log_density) {
  RowPart *const part = only_observed();
  double out = 0;
  for (std::size_t c = 0; c < components_.size(); ++c) {
    poll_here();
    const double weight = components_[c].weight, own = log_density - std::log(weight);
    if (!(weight > 0)) continue;
    double p = part ? part->tail(int(c), own) : std::nan("");
    if (std::isnan(p)) {
      PowerLogs powers = {};
      for (const auto &each : parts_)
        if (each->observes()) each->add_powers(int(c), powers);
      p = bayes::tail_bound(powers, own);
    }
    out += weight * p;
  }
  return std::min(1.0, out);
}

void RowDistribution::parameters(int c, int element, std::vector<Parameter> &out,
                                 std::vector<Marginal> &posteriors) {
  const Place place = places_[std::size_t(element)];
  parts_[std::size_t(place.part)]->parameters(c, place.within, out, posteriors);
}

void RowDistribution::condition(std::span<const double> x, bool count_unseen) {
  const std::span<const double> joint = log_joint(x, count_unseen);
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

std::vector<double> RowDistribution::probabilities_under(std::size_t i, int element) {
  const Place place = places_[std::size_t(element)];
  std::vector<double> out(categories(element).size());
  parts_[std::size_t(place.part)]->probabilities(active_[i], place.within, out.data());
  return out;
}

RowPair RowDistribution::pair_under(std::size_t i, int first, int second) {
  const Place one = places_[std::size_t(first)], other = places_[std::size_t(second)];
  RowPart &part = *parts_[std::size_t(one.part)];
  if (one.part == other.part) return part.pair(active_[i], one.within, other.within);
  const auto [mean, square] = part.moments(active_[i], one.within);
  const auto [other_mean, other_square] =
      parts_[std::size_t(other.part)]->moments(active_[i], other.within);
  return {{mean, other_mean}, {square, 0, other_square}};
}

std::vector<double> RowDistribution::probabilities(int element) {
  std::vector<double> out(categories(element).size());
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const std::vector<double> own = probabilities_under(i, element);
    for (std::size_t v = 0; v < out.size(); ++v) out[v] += weights_[i] * own[v];
  }
  return out;
}

void RowDistribution::box(std::span<const double> lower, std::span<const double> upper,
                          std::span<double> out) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  std::vector<double> low, high, own(out.size()), whole_lower(lower.begin(), lower.end()),
      whole_upper(upper.begin(), upper.end());
  if (!free_.empty()) {
    whole_lower.assign(fixed_.size(), -infinite);
    whole_upper.assign(fixed_.size(), infinite);
    for (std::size_t j = 0; j < free_.size(); ++j) {
      whole_lower[std::size_t(free_[j])] = lower[j];
      whole_upper[std::size_t(free_[j])] = upper[j];
    }
  }
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t i = 0; i < active_.size(); ++i) {
    poll_here();
    std::fill(own.begin(), own.end(), weights_[i]);
    for (const auto &part : parts_) {
      low.clear();
      high.clear();
      for (const int j : part->elements()) {
        low.push_back(whole_lower[std::size_t(j)]);
        high.push_back(whole_upper[std::size_t(j)]);
      }
      part->box(active_[i], low.data(), high.data(), own);
    }
    for (std::size_t s = 0; s < out.size(); ++s) out[s] += own[s];
  }
}

int RowDistribution::draw(Random &random, std::span<double> x) {
  const int c = active_[std::size_t(random.categorical(weights_))];
  const std::span<const double> found = with_fixed(x);
  drawn_.assign(found.begin(), found.end());
  for (const auto &part : parts_) {
    part_row_.clear();
    for (const int j : part->elements()) part_row_.push_back(drawn_[std::size_t(j)]);
    part->draw(c, random, part_row_.data());
    for (int j = 0; j < part->size(); ++j)
      drawn_[std::size_t(part->elements()[std::size_t(j)])] = part_row_[std::size_t(j)];
  }
  for (std::size_t j = 0; j < x.size(); ++j)
    x[j] = drawn_[free_.empty() ? j : std::size_t(free_[j])];
  return c;
}

std::uint64_t RowDistribution::stream(std::span<const double> x) {
  const std::span<const double> whole = with_fixed(x);
  const bool any =
      std::any_of(whole.begin(), whole.end(), [](double each) { return !std::isnan(each); });
  return any ? hash_row(whole, 0) : 0;
}

int RowDistribution::sample(std::uint64_t seed, std::int64_t index, std::span<double> out) {
  Random random(seed, std::uint64_t(index));
  std::fill(out.begin(), out.end(), std::nan(""));
  condition(out);
  return components_[std::size_t(draw(random, out))].number;
}

}  // namespace bayes
