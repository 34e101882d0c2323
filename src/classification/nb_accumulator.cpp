#include "classification/nb_accumulator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/control.hpp"
#include "base/message.hpp"
#include "classification/nb_options.hpp"
#include "classification/nb_totals.hpp"
#include "families/product/category_codes.hpp"

namespace bayes {

/// A feature, and the position of its statistics among those of a class.
struct NbAccumulator::Slot {
  std::string name = {};
  ValueKind kind = ValueKind::number;
  /// both null until a row has a value
  const ColumnSpec *likelihood = nullptr;
  const Column *family = nullptr;
  int element = 0;
  /// the index of a categorical feature among the categorical ones; else -1
  int categorical = -1;
  std::size_t offset = 0;
  bool joint = false, any_value = false, zero = false;
  /// for a categorical feature of numbers: the code of each value, in order of first occurrence
  std::unordered_map<double, int> codes = {};
};

/// The statistics of the rows of a class.
struct NbAccumulator::Part {
  double weight = 0, carrier = 0;
  std::int64_t rows = 0;
  std::vector<double> numbers;
  /// for sparse rows: the weight of the rows that name each feature
  std::vector<double> named;
  std::vector<std::vector<double>> categories;
  // mean of the elements with a common covariance, and the lower triangle of their scatter matrix,
  // row by row
  std::vector<double> mean, scatter;

  double weight_named(std::size_t feature) const {
    return feature < named.size() ? named[feature] : 0;
  }
};

NbAccumulator::NbAccumulator() = default;
NbAccumulator::~NbAccumulator() = default;
NbAccumulator &NbAccumulator::operator=(NbAccumulator &&) noexcept = default;

int NbAccumulator::dimension() const { return int(slots_.size()); }
bool NbAccumulator::empty() const { return parts_.empty(); }

void NbAccumulator::begin(const NbOptions &options, const NbTotals *start) {
  options_ = std::make_unique<NbOptions>(options);
  if (!start) return;
  start_ = std::make_unique<NbTotals>();
  start_->sparse = start->sparse;
  start_->names = start->names;
  start_->specs = start->specs;
}

/// The column of this likelihood, created once and shared by all features that have it.
const Columns &NbAccumulator::family_of(const ColumnSpec &likelihood) {
  for (const auto &each : families_)
    if (each->specs()[0].same_likelihood(likelihood)) return *each;
  return *families_.emplace_back(std::make_unique<Columns>(
      std::vector<ColumnSpec>{{.kind = likelihood.kind, .known = likelihood.known}}));
}

void NbAccumulator::set_likelihood(Slot &slot, const ColumnSpec &likelihood) {
  const Columns &column = family_of(likelihood);
  slot.likelihood = &column.specs()[0];
  slot.family = &column.column(0);
  slot.any_value = likelihood.is(normal_family);
  slot.joint = slot.any_value && options_->full_covariance;
  slot.zero = sparse_ && options_->absent_is_zero && zero_if_absent(likelihood);
  if (slot.joint) {
    joint_.push_back(slot.element);
  } else if (slot.family->by_value) {
    slot.categorical = int(categorical_++);
  } else {
    slot.offset = size_;
    size_ += std::size_t(slot.family->size().statistics);
  }
}

void NbAccumulator::set_columns(const RowColumns &names, int dimension) {
  if (!options_->absent_is_zero && !start_)
    throw Error(Errc::invalid_argument, "option \"absent\" does not apply: rows have columns",
                "It concerns features that an object does not name.",
                "Use option \"missing\" for NULLs.");
  std::vector<ColumnSpec> likelihood;
  const Document *const given = options_->likelihood.is_null() ? nullptr : &options_->likelihood;
  if (start_) {
    likelihood = start_->specs;
  } else if (!names.empty()) {
    const Document chosen = likelihood_of_columns(given, names);
    likelihood = read_likelihood(chosen);
  } else if (given && given->as<Document::Object>() && !is_one_likelihood(*given)) {
    throw Error(Errc::invalid_argument,
                "option \"likelihood\" is an object by column, but rows are arrays", {},
                "Give an array of names, one for each element.");
  } else {
    likelihood = given ? read_likelihood(*given) : std::vector{likelihood_of(normal_family)};
    check_likelihood_count(likelihood, dimension);
  }
  if (likelihood.size() == 1) likelihood.resize(std::size_t(dimension), ColumnSpec(likelihood[0]));
  slots_.reserve(std::size_t(dimension));
  for (int j = 0; j < dimension; ++j) {
    Slot slot;
    if (!names.empty()) {
      slot.name = names[std::size_t(j)].name;
      slot.kind = names[std::size_t(j)].kind;
    }
    slot.element = j;
    set_likelihood(slot, likelihood[std::size_t(j)]);
    slots_.push_back(std::move(slot));
  }
  // A prior that applies to no column is probably a mistake.
  for (const auto &[family, keys] : options_->product.families)
    if (std::none_of(likelihood.begin(), likelihood.end(),
                     [&](const ColumnSpec &each) { return each.is(family); }))
      throw Error(Errc::invalid_argument,
                  message("option \"prior.{}\" does not apply: no column is {}", family, family),
                  {}, "Option \"likelihood\" sets the likelihoods of the columns.");
  if (options_->full_covariance && joint_.empty())
    throw Error(Errc::invalid_argument,
                "option \"covariance\" is \"full\", but no column is normal",
                "Columns of numbers are normal unless option likelihood says otherwise.");
  difference_.resize(joint_.size());
}

void NbAccumulator::set_sparse() {
  if (options_->full_covariance && !start_)
    throw Error(Errc::invalid_argument,
                "option \"covariance\" is \"full\", but rows are objects of names",
                "Objects may leave out features, so their features have no common covariance.",
                "Give records or arrays.");
  sparse_ = true;
}

void NbAccumulator::add_feature(std::string_view name) {
  Slot slot;
  slot.name = name;
  slot.element = int(slots_.size());
  slots_.push_back(std::move(slot));
}

std::optional<ValueKind> NbAccumulator::kind_of(std::int32_t feature) const {
  const Slot &slot = slots_[std::size_t(feature)];
  return slot.family ? std::optional(slot.kind) : std::nullopt;
}

void NbAccumulator::set_kind(std::int32_t feature, ValueKind kind) {
  Slot &slot = slots_[std::size_t(feature)];
  slot.kind = kind;
  ColumnSpec likelihood = likelihood_of(kind == ValueKind::label     ? categorical_family
                                        : kind == ValueKind::boolean ? bernoulli_family
                                                                     : "poisson");
  const Document &given = options_->likelihood;
  if (given.as<Document::List>())
    throw Error(Errc::invalid_argument,
                "option \"likelihood\" is an array, but features have names", {},
                "Give an object: {\"weight\": \"normal\"}.");
  const bool one = is_one_likelihood(given, true);
  const Document *const own = one ? nullptr : given.find(slot.name);
  if (own && !own->is_null())
    likelihood = read_likelihood(*own).front();
  else if (one && kind == ValueKind::number)
    likelihood = read_likelihood(given).front();
  if (start_) {
    const auto known = std::lower_bound(
        start_->names.begin(), start_->names.end(), slot.name,
        [](const RowColumn &column, const std::string &wanted) { return column.name < wanted; });
    if (known != start_->names.end() && known->name == slot.name)
      likelihood = start_->specs[std::size_t(known - start_->names.begin())];
  }
  if (kind == ValueKind::label && !likelihood.is(categorical_family))
    throw Error(Errc::invalid_argument,
                message("feature {} is {}, but has strings", describe(Document(slot.name)),
                        likelihood.name()),
                "Strings can only be categorical.");
  set_likelihood(slot, likelihood);
}

void NbAccumulator::charge(std::size_t numbers) {
  charged_ += numbers;
  if (double(charged_) > nb_max_numbers)
    require_nb_numbers(double(charged_), parts_.size(), slots_.size());
}

NbAccumulator::Part &NbAccumulator::part_of(int k) {
  while (int(parts_.size()) <= k) {
    Part &part = parts_.emplace_back();
    if (!sparse_) {
      charge(size_ + joint_.size() * (joint_.size() + 3) / 2);
      part.numbers.resize(size_);
      part.mean.resize(joint_.size());
      part.scatter.resize(joint_.size() * (joint_.size() + 1) / 2);
    }
    make_room(part);
  }
  return parts_[std::size_t(k)];
}

void NbAccumulator::make_room(Part &part) {
  if (part.categories.size() == categorical_) return;
  // the memory of an empty vector, in numbers
  constexpr std::size_t each = sizeof(std::vector<double>) / sizeof(double);
  charge(each * (categorical_ - part.categories.size()));
  part.categories.resize(categorical_);
}

void NbAccumulator::refuse(const Slot &slot, double x, std::int64_t number) const {
  const std::string what = slot.name.empty() ? message("element {}", slot.element + 1)
                                             : message("{} {}", sparse_ ? "feature" : "column",
                                                       describe(Document(slot.name)));
  throw Error(Errc::invalid_argument,
              message("{} of row {} is {}, but must be {}", what, number, describe_number(x),
                      slot.family->requirement()),
              message("Its likelihood is {}.", slot.family->name),
              sparse_ ? "Set the likelihood of a feature by an object: {\"weight\": \"normal\"}."
                      : "Option likelihood sets the likelihood of each column.");
}

void NbAccumulator::take(Part &part, const Slot &slot, double x, double weight,
                         std::int64_t number) {
  if (slot.categorical < 0) {
    if (!slot.any_value && !slot.family->allowed(x)) refuse(slot, x, number);
    const double element = slot.any_value ? x : slot.family->element(x);
    slot.family->add(element, weight, part.numbers.data() + slot.offset);
    if (!slot.any_value && element != 0) part.carrier += weight * slot.family->log_carrier(element);
    return;
  }
  int code = int(x);
  if (slot.kind != ValueKind::label) {
    if (x != std::floor(x) || std::abs(x) > CategoryCodes::farthest) refuse(slot, x, number);
    Slot &own = slots_[std::size_t(slot.element)];
    code = own.codes.try_emplace(x + 0.0, int(own.codes.size())).first->second;
    if (code >= max_categories)
      throw Error(Errc::too_large,
                  message("{} has more than {} categories",
                          slot.name.empty() ? message("element {}", slot.element + 1)
                                            : message("column {}", describe(Document(slot.name))),
                          max_categories),
                  {}, "Use another likelihood for measurements and counts.");
  }
  std::vector<double> &of = part.categories[std::size_t(slot.categorical)];
  if (std::size_t(code) >= of.size()) {
    charge(std::size_t(code) + 1 - of.size());
    of.resize(std::size_t(code) + 1);
  }
  of[std::size_t(code)] += weight;
}

bool NbAccumulator::takes(std::span<const double> x) const {
  return std::none_of(joint_.begin(), joint_.end(),
                      [x](int j) { return std::isnan(x[std::size_t(j)]); });
}

void NbAccumulator::add(int k, std::span<const double> x, double weight, std::int64_t number) {
  Part &part = part_of(k);
  for (const Slot &slot : slots_)
    if (const double value = x[std::size_t(slot.element)]; !slot.joint && value == value)
      take(part, slot, value, weight, number);
  const double whole = part.weight + weight;
  if (!joint_.empty()) {
    // Welford's weighted update: uses the mean before and after each row.
    const double share = weight / whole, factor = part.weight * share;
    for (std::size_t i = 0; i < joint_.size(); ++i) {
      difference_[i] = x[std::size_t(joint_[i])] - part.mean[i];
      part.mean[i] += share * difference_[i];
    }
    double *to = part.scatter.data();
    for (std::size_t i = 0; i < joint_.size(); ++i) {
      const double scaled = factor * difference_[i];
      for (std::size_t j = 0; j <= i; ++j) *to++ += scaled * difference_[j];
    }
  }
  part.weight = whole;
  ++part.rows;
}

void NbAccumulator::add(int k, std::span<const NbWord> words, double weight, std::int64_t number) {
  Part &part = part_of(k);
  make_room(part);
  for (const NbWord &word : words) {
    const Slot &slot = slots_[std::size_t(word.feature)];
    const bool has_numbers = slot.family && slot.categorical < 0;
    const std::size_t end =
        has_numbers ? slot.offset + std::size_t(slot.family->size().statistics) : 0;
    if (end > part.numbers.size() || std::size_t(word.feature) >= part.named.size()) {
      // std::vector grows geometrically, so adding new words one by one takes linear time; its
      // capacity is what is charged.
      const std::size_t had = part.numbers.capacity() + part.named.capacity();
      if (end > part.numbers.size()) part.numbers.resize(end);
      if (std::size_t(word.feature) >= part.named.size())
        part.named.resize(std::size_t(word.feature) + 1);
      charge(part.numbers.capacity() + part.named.capacity() - had);
    }
    part.named[std::size_t(word.feature)] += weight;
    if (word.value == word.value) take(part, slot, word.value, weight, number);
  }
  part.weight += weight;
  ++part.rows;
}

/// Which codes occur in rows that were added; the others occurred only in rows that were left out.
std::vector<bool> NbAccumulator::counted_codes(const Slot &slot, std::size_t codes) const {
  std::vector<bool> out(codes);
  for (const Part &part : parts_) {
    if (std::size_t(slot.categorical) >= part.categories.size()) continue;
    const std::vector<double> &of = part.categories[std::size_t(slot.categorical)];
    for (std::size_t code = 0; code < of.size(); ++code)
      if (of[code] > 0) out[code] = true;
  }
  return out;
}

namespace {

/// 0 .. n - 1 in an order.
template <class Before> std::vector<std::size_t> ordered(std::size_t n, Before before) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), before);
  return order;
}

}  // namespace

/// The categories of a feature, in order. `labels`: receives the sorted labels that occur, in the
/// place of those by code; the result is the place of every code among them, or among the values.
std::vector<std::size_t> NbAccumulator::sort_categories(const Slot &slot,
                                                        std::vector<std::string> &labels,
                                                        std::vector<double> &values) const {
  std::vector<std::size_t> place;
  if (slot.kind == ValueKind::label) {
    const std::vector<std::string> by_code = std::exchange(labels, {});
    place.resize(by_code.size());
    const std::vector<bool> counted = counted_codes(slot, by_code.size());
    for (const std::size_t code : ordered(by_code.size(), [&](std::size_t a, std::size_t b) {
           return by_code[a] < by_code[b];
         })) {
      if (!counted[code]) continue;
      place[code] = labels.size();
      values.push_back(double(labels.size()));
      labels.push_back(by_code[code]);
    }
  } else {
    for (const auto &[value, code] : slot.codes) values.push_back(value);
    std::sort(values.begin(), values.end());
    if (!values.empty() && values.back() - values.front() > CategoryCodes::widest)
      throw Error(Errc::too_large,
                  message("the categories of {} reach from {} to {}, which is too far apart",
                          slot.name.empty() ? message("element {}", slot.element + 1)
                                            : message("column {}", describe(Document(slot.name))),
                          describe_number(values.front()), describe_number(values.back())));
    place.resize(values.size());
    for (const auto &[value, code] : slot.codes)
      place[std::size_t(code)] =
          std::size_t(std::lower_bound(values.begin(), values.end(), value) - values.begin());
  }
  if (values.empty()) {  // missing in every row
    values = {0};
    if (slot.kind == ValueKind::label) labels = {""};
  }
  return place;
}

/// Adds the sums of one class as class k of the totals. `features`: the slots of its features;
/// `places`: of every categorical one, the place of every code.
void NbAccumulator::add_class(const Part &part, std::size_t k,
                              const std::vector<std::size_t> &features,
                              const std::vector<std::vector<std::size_t>> &places, WorkPoll &poll,
                              NbTotals &out) const {
  const Eigen::Index at = Eigen::Index(k);
  out.rows[k] = part.rows;
  out.weight(at) = part.weight;
  if (!out.naive.empty()) {
    out.product.count(at) = part.weight;
    out.product.carrier(at) = part.carrier;
  }
  for (std::size_t i = 0; i < out.naive.size(); ++i) {
    const std::size_t j = features[std::size_t(out.naive[i])];
    const Slot &slot = slots_[j];
    const Column &column = out.product.columns->column(int(i));
    double *const to =
        out.product.values.col(at).data() + out.product.columns->offsets(int(i)).statistics;
    if (slot.categorical >= 0) {
      if (std::size_t(slot.categorical) >= part.categories.size()) continue;
      const std::vector<double> &from = part.categories[std::size_t(slot.categorical)];
      poll(from.size() + 1);
      for (std::size_t code = 0; code < from.size(); ++code)
        to[places[std::size_t(slot.categorical)][code]] += from[code];
      continue;
    }
    poll(1);
    const std::size_t size = std::size_t(column.size().statistics);
    if (slot.offset + size <= part.numbers.size())
      std::copy_n(part.numbers.data() + slot.offset, size, to);
    if (const double absent = part.weight - part.weight_named(j); slot.zero && absent > 0)
      column.add(0, absent, to);
  }
  if (joint_.empty()) return;
  out.normal.count(at) = part.weight;
  const double *from = part.scatter.data();
  for (std::size_t i = 0; i < joint_.size(); ++i) {
    out.normal.mean(Eigen::Index(i), at) = part.mean[i];
    for (std::size_t j = 0; j <= i; ++j, ++from)
      out.normal.scatter[k](Eigen::Index(i), Eigen::Index(j)) =
          out.normal.scatter[k](Eigen::Index(j), Eigen::Index(i)) = *from;
  }
}

NbTotals NbAccumulator::totals(const std::vector<std::string> &classes,
                               const RowColumns &names) const {
  NbTotals out;
  out.sparse = sparse_;
  out.absent_is_zero = options_->absent_is_zero;
  out.skipped = skipped_;
  if (parts_.empty()) return out;

  const std::vector<std::size_t> of_class =
      ordered(parts_.size(), [&](std::size_t a, std::size_t b) { return classes[a] < classes[b]; });
  for (const std::size_t k : of_class) out.classes.push_back(classes[k]);
  // The features, sorted by name if sparse.
  std::vector<std::size_t> features, unknown;
  for (std::size_t j = 0; j < slots_.size(); ++j)
    (slots_[j].family ? features : unknown).push_back(j);
  if (sparse_)
    for (std::vector<std::size_t> *const each : {&features, &unknown})
      std::sort(each->begin(), each->end(),
                [&](std::size_t a, std::size_t b) { return slots_[a].name < slots_[b].name; });
  std::vector<std::vector<std::size_t>> places(categorical_);
  for (const std::size_t j : features) {
    poll_in_loop(j);
    const Slot &slot = slots_[j];
    ColumnSpec spec = *slot.likelihood;
    RowColumn name = names.empty() ? RowColumn{} : names[j];
    if (slot.categorical >= 0) {
      std::vector<double> values;
      places[std::size_t(slot.categorical)] = sort_categories(slot, name.labels, values);
      spec.set_categories(std::move(values));
    }
    out.specs.push_back(std::move(spec));
    if (!names.empty()) out.names.push_back(std::move(name));
  }
  out.lay_out(options_->full_covariance);
  for (const std::size_t j : unknown) {
    Vector &weight = out.nulls.emplace_back(slots_[j].name, Vector(out.size())).second;
    for (std::size_t k = 0; k < parts_.size(); ++k)
      weight(Eigen::Index(k)) = parts_[of_class[k]].weight_named(j);
  }
  WorkPoll poll;
  for (std::size_t k = 0; k < parts_.size(); ++k)
    add_class(parts_[of_class[k]], k, features, places, poll, out);
  return out;
}

}  // namespace bayes
