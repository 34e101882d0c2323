#include "models/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "fit/component_overlap.hpp"

namespace bayes {

std::vector<std::int32_t> places_of_labels(const LabelProfiles &before,
                                           const LabelProfiles &after) {
  std::vector<std::int32_t> out;
  WorkPoll poll;
  for (const std::string &label : before.labels) {
    poll(20);
    out.push_back(after.code(label));
  }
  return out;
}

std::vector<double> profile_overlaps(const LabelProfiles &before, const LabelProfiles &after) {
  const int k = before.size(), other_k = after.size();
  const std::vector<std::int32_t> places = places_of_labels(before, after);
  std::vector<double> out(std::size_t(k) * std::size_t(other_k), 0.0),
      roots(static_cast<std::size_t>(k)), other_roots(static_cast<std::size_t>(other_k));
  WorkPoll poll;
  for (std::size_t label = 0; label < places.size(); ++label) {
    if (places[label] < 0) continue;
    poll(out.size());
    for (int i = 0; i < k; ++i)
      roots[std::size_t(i)] = std::sqrt(before.probability(std::int32_t(label), i));
    for (int j = 0; j < other_k; ++j)
      other_roots[std::size_t(j)] = std::sqrt(after.probability(places[label], j));
    auto overlap = out.begin();
    for (const double root : roots)
      for (const double other : other_roots) *overlap++ += root * other;
  }
  for (double &x : out) x = std::min(1.0, x);
  return out;
}

namespace {

ComponentOverlaps overlaps_of(const Model &before, const Model &after) {
  const auto one = before.label_profiles();
  if (!one) return before.overlaps(after);
  const auto other = after.label_profiles();
  return {one->weights, other->weights, profile_overlaps(*one, *other)};
}

}  // namespace

std::vector<MatchedComponents> match_components(const Model &before, const Model &after) {
  if (before.info.family != after.info.family)
    throw Error(
        Errc::wrong_family,
        message("the models are of families {} and {}", before.info.family, after.info.family),
        "Components of two models of one family can be compared.");
  const auto [weights, other_weights, overlaps] = overlaps_of(before, after);
  const std::vector<int> partner = best_matching(weights, other_weights, overlaps);
  const std::size_t k = weights.size(), other_k = other_weights.size();
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<MatchedComponents> out;
  std::vector<bool> taken(other_k, false);
  for (std::size_t i = 0; i < k; ++i) {
    const std::size_t j = std::size_t(partner[i]);
    const double overlap = j < other_k ? overlaps[i * other_k + j] : 0;
    if (overlap > 0) {
      taken[j] = true;
      out.push_back({int(i), int(j), overlap});
    } else {
      out.push_back({int(i), -1, none});
    }
  }
  for (std::size_t j = 0; j < other_k; ++j)
    if (!taken[j]) out.push_back({-1, int(j), none});
  return out;
}

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// A parameter, with a key that the same parameter of a component of the other model has too.
struct Described {
  std::string key;
  int element;
  std::string column, name;
  std::optional<std::string> label;
  double value, deviation;
};

/// The parameters of all components. `by_name`: columns have names in both models. `states`: for
/// every state of this model its number in the first model, from 1, or 0 if it has no partner
/// there.
std::vector<std::vector<Described>> described(const Model &model, bool by_name,
                                              const std::vector<int> &states) {
  const RowColumns &columns = model.info.columns;
  std::vector<std::vector<Described>> out(std::size_t(model.info.components));
  model.describe_parameters({}, [&](const Parameter &p) {
    Described one{{}, p.element, {}, p.name, {}, p.value, p.deviation};
    // These standard deviations are too small: differences would seem significant that are not.
    if (p.known_by == Parameter::mean_field || p.known_by == Parameter::given_partition)
      one.deviation = none;
    if (p.element >= 0 && !columns.empty()) one.column = columns[std::size_t(p.element)].name;
    if (p.element < 0 && !std::isnan(p.category)) {  // the state that a transition leads to
      const int state = states[std::size_t(p.category) - 1];
      one.label = state > 0 ? std::to_string(state) : message("new {}", p.category);
    } else if (p.label) {
      one.label = *p.label;
    } else if (!std::isnan(p.category)) {
      const std::string *const label =
          columns.empty() ? nullptr : label_of(columns[std::size_t(p.element)], p.category);
      one.label = label ? *label : message("{}", std::int64_t(p.category));
    }
    one.key = message("{}\n{}\n{}", one.name, by_name ? one.column : std::to_string(p.element),
                      one.label.value_or(""));
    out[std::size_t(p.component)].push_back(std::move(one));
  });
  return out;
}

double distance_of(const MatchedComponents &pair) {
  // Smaller distances are rounding errors in the overlap of equal components.
  const double apart = 1 - pair.overlap;
  return apart <= 1e-12 ? 0 : std::sqrt(apart);
}

/// Weights, and the probabilities of labels, in the order of the first model's labels. They have no
/// standard deviations: those of variational topics and factors are too small for judging changes.
void compare_profiles(const LabelProfiles &before, const LabelProfiles &after,
                      const std::vector<MatchedComponents> &pairs,
                      const std::function<void(const ComparedParameter &)> &take) {
  const std::vector<std::int32_t> places = places_of_labels(before, after),
                                  back = places_of_labels(after, before);
  const auto value = [](const LabelProfiles &of, std::int32_t label, int component) {
    return label < 0 || component < 0 ? none : of.probability(label, component);
  };
  const auto weight = [](const LabelProfiles &of, int component) {
    return component < 0 ? none : of.weights[std::size_t(component)];
  };
  for (const MatchedComponents &pair : pairs) {
    ComparedParameter row{pair.before,
                          pair.after,
                          -1,
                          {},
                          "weight",
                          {},
                          weight(before, pair.before),
                          weight(after, pair.after),
                          none,
                          distance_of(pair)};
    take(row);
    row.parameter = before.parameter;
    for (std::size_t i = 0; pair.before >= 0 && i < places.size(); ++i) {
      row.label = before.labels[i];
      row.value_before = value(before, std::int32_t(i), pair.before);
      row.value_after = value(after, places[i], pair.after);
      take(row);
    }
    row.value_before = none;
    for (std::size_t i = 0; pair.after >= 0 && i < back.size(); ++i) {
      if (pair.before >= 0 && back[i] >= 0) continue;
      row.label = after.labels[i];
      row.value_after = value(after, std::int32_t(i), pair.after);
      take(row);
    }
  }
}

}  // namespace

void compare_components(const Model &before, const Model &after,
                        const std::function<void(const ComparedParameter &)> &take) {
  const std::vector<MatchedComponents> pairs = match_components(before, after);
  if (const auto profiles = before.label_profiles())
    return compare_profiles(*profiles, *after.label_profiles(), pairs, take);
  std::vector<int> own, of_partner(std::size_t(after.info.components), 0);
  for (int k = 1; k <= before.info.components; ++k) own.push_back(k);
  for (const MatchedComponents &pair : pairs)
    if (pair.before >= 0 && pair.after >= 0) of_partner[std::size_t(pair.after)] = pair.before + 1;
  const bool by_name = !before.info.columns.empty() && !after.info.columns.empty();
  const auto one = described(before, by_name, own), other = described(after, by_name, of_partner);
  for (const MatchedComponents &pair : pairs) {
    const double distance = distance_of(pair);
    std::unordered_map<std::string, const Described *> partners;
    if (pair.after >= 0)
      for (const Described &p : other[std::size_t(pair.after)]) partners.emplace(p.key, &p);
    const auto compared = [&](const Described &p) {
      return ComparedParameter{pair.before, pair.after, p.element, p.column, p.name,
                               p.label,     none,       none,      none,     distance};
    };
    if (pair.before >= 0)
      for (const Described &p : one[std::size_t(pair.before)]) {
        ComparedParameter row = compared(p);
        row.value_before = p.value;
        if (const auto at = partners.find(p.key); at != partners.end()) {
          row.value_after = at->second->value;
          row.deviation = std::hypot(p.deviation, at->second->deviation);
          partners.erase(at);
        }
        take(row);
      }
    if (pair.after >= 0)
      for (const Described &p : other[std::size_t(pair.after)]) {
        if (!partners.contains(p.key)) continue;
        ComparedParameter row = compared(p);
        row.value_after = p.value;
        take(row);
      }
  }
}

}  // namespace bayes
