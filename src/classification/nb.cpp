#include "classification/nb.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/message.hpp"
#include "base/simd.hpp"
#include "base/special.hpp"
#include "base/unseen.hpp"
#include "classification/nb_state.hpp"
#include "families/normal/normal_parameters.hpp"
#include "families/parameter.hpp"
#include "families/product/product_parameters.hpp"
#include "questions/label_part.hpp"
#include "questions/make.hpp"

namespace bayes {
namespace {

constexpr double absent_value = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void refuse_element(const NbTotals &totals, const Column &column, int feature,
                                 double x) {
  const std::string where =
      totals.names.empty() ? message("element {}", feature + 1)
                           : message("{} {}", totals.sparse ? "feature" : "column",
                                     describe(Document(totals.names[std::size_t(feature)].name)));
  throw Error(Errc::invalid_argument,
              message("{} is {}, but must be {}", where, describe_number(x), column.requirement()),
              message("Its likelihood is {}.", column.name));
}

/// The value of naive feature i as the scorers expect it: unseen_category for a category that
/// occurred in no row. Throws Error for a value that the likelihood does not allow;
/// `allows_any_number`: it allows every number.
double checked_element(const NbTotals &totals, int i, bool allows_any_number, double x) {
  const Column &column = totals.product.columns->column(i);
  if (x != x || allows_any_number || column.allowed(x)) return x;
  if (column.by_value && x == std::floor(x)) return unseen_category;
  refuse_element(totals, column, totals.naive[std::size_t(i)], x);
}

}  // namespace

BayesClassifier::BayesClassifier() : state(std::make_unique<State>()) { info.family = "nb"; }
BayesClassifier::~BayesClassifier() = default;

const std::vector<std::string> &BayesClassifier::labels() const { return state->totals.classes; }

int BayesClassifier::find_label(std::string_view label) const {
  const auto at = std::lower_bound(labels().begin(), labels().end(), label);
  return at != labels().end() && *at == label ? int(at - labels().begin()) : -1;
}

NbClass BayesClassifier::class_of(int k) const {
  const NbTotals &totals = state->totals;
  const double a = state->options.alpha + totals.weight(k),
               whole = state->class_alpha_sum() + totals.total();
  return {totals.rows[std::size_t(k)], totals.weight(k), 1.0 / totals.size(), a / whole,
          std::sqrt(a / whole * ((whole - a) / whole) / (whole + 1))};
}

double BayesClassifier::free_parameters() const {
  const NbTotals &totals = state->totals;
  const double d = double(totals.joint.size());
  double each = d + d * (d + 1) / 2;
  for (std::size_t i = 0; i < totals.naive.size(); ++i)
    each += totals.product.columns->column(int(i)).free_parameters();
  return totals.size() * each + totals.size() - 1;
}

double BayesClassifier::observations() const { return state->totals.total(); }

bool BayesClassifier::sparse() const { return state->totals.sparse; }

std::int32_t BayesClassifier::find_feature(std::string_view name) const {
  const auto found = state->features.find(name);
  return found == state->features.end() ? -1 : found->second;
}

void BayesClassifier::State::learn() {
  if (prior) posterior = bayes::posterior(totals.product, replicate(*prior, totals.size()));
  if (normal_prior)
    normal_posterior = bayes::posterior(totals.normal, replicate(*normal_prior, totals.size()));
}

void BayesClassifier::State::prepare() {
  const int k = totals.size();
  if (prior) naive.emplace(*prior, *posterior);
  if (normal_prior) joint = row_part(all_elements(int(totals.joint.size())), *normal_posterior);
  const std::size_t padded = std::size_t(k + simd::lanes - 1) / simd::lanes * simd::lanes;
  for (Buffer *const each : {&base, &scores}) *each = Buffer(padded);
  unseen_scorer.reset();
  x.resize(totals.naive.size());
  allows_any_number.clear();
  for (const int feature : totals.naive)
    allows_any_number.push_back(totals.specs[std::size_t(feature)].name() ==
                                std::string_view(normal_family));
  y.resize(totals.joint.size());
  for (std::size_t i = 0; i < padded; ++i) base[i] = 0;
  features.clear();
  if (totals.sparse)
    for (std::size_t j = 0; j < totals.names.size(); ++j)
      features.emplace(totals.names[j].name, std::int32_t(j));
  if (totals.sparse && naive) {
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = totals.is_zero_if_absent(totals.naive[i]) ? 0 : absent_value;
    naive->log_predictive(x.data(), base.data());
  }
  for (int c = 0; c < k; ++c)
    base[std::size_t(c)] +=
        std::log((options.alpha + totals.weight(c)) / (class_alpha_sum() + totals.total()));
}

std::span<const double> BayesClassifier::log_joint(std::span<const double> row) const {
  const State &s = *state;
  const NbTotals &totals = s.totals;
  const std::size_t k = std::size_t(totals.size());
  s.unseen.clear();
  if (s.naive) {
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      s.x[i] = checked_element(totals, int(i), s.allows_any_number[i],
                               row[std::size_t(totals.naive[i])]);
      if (is_unseen(s.x[i])) s.unseen.push_back(int(i));
    }
    s.naive->log_predictive(s.x.data(), s.scores.data());
    for (std::size_t c = 0; c < k; ++c) s.scores[c] += s.base[c];
  } else {
    std::copy_n(s.base.data(), k, s.scores.data());
  }
  if (s.joint) {
    for (std::size_t i = 0; i < s.y.size(); ++i) s.y[i] = row[std::size_t(totals.joint[i])];
    s.joint->condition(s.y.data(), false, s.scores.data());
  }
  return {s.scores.data(), k};
}

std::span<const double> BayesClassifier::log_joint(std::span<const NbWord> words) const {
  const State &s = *state;
  const std::size_t k = std::size_t(s.totals.size());
  std::copy_n(s.base.data(), s.base.size(), s.scores.data());
  s.unseen.clear();
  // All features of sparse rows are naive.
  for (const NbWord &word : words) {
    const double x = checked_element(s.totals, word.feature, false, word.value);
    if (is_unseen(x)) s.unseen.push_back(word.feature);
    s.naive->replace_element(word.feature,
                             s.totals.is_zero_if_absent(word.feature) ? 0 : absent_value, x,
                             s.scores.data());
  }
  return {s.scores.data(), k};
}

double BayesClassifier::log_density() const {
  const State &s = *state;
  const std::size_t k = std::size_t(s.totals.size());
  if (!s.unseen.empty() && !s.unseen_scorer)
    s.unseen_scorer.emplace(*s.posterior, category_alphas(*s.prior));
  for (const int j : s.unseen) s.unseen_scorer->add(j, s.scores.data());
  s.unseen.clear();
  return log_sum_exp(std::span<const double>(s.scores.data(), k));
}

const ModelWords &BayesClassifier::words() const {
  static constexpr ModelWords words = {.part = "class", .parts = "classes"};
  static constexpr ModelWords sparse_words = {
      .part = "class",
      .parts = "classes",
      .takes = "objects of names",
      .functions =
          "nb_predict, nb_probabilities and bayes_log_density take a model and such an object, "
          "jsonb or tsvector."};
  return sparse() ? sparse_words : words;
}

int BayesClassifier::predict(std::span<const double> x) const {
  const std::span<const double> scores = log_joint(x);
  return int(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

std::optional<RowPrediction> BayesClassifier::predict_row(std::span<const double> x, double) const {
  RowPrediction out;
  out.component = predict(x);
  out.label = &labels()[std::size_t(out.component)];
  return out;
}

void BayesClassifier::probabilities(std::span<const double> x, std::span<double> out) const {
  softmax(log_joint(x), out);
}

double BayesClassifier::log_density(std::span<const double> x) const {
  log_joint(x);
  return log_density();
}

std::unique_ptr<RowDistribution> BayesClassifier::row_distribution() const {
  require_rows();
  const State &s = *state;
  const int d = info.dimension;
  Vector weights(classes());
  for (int k = 0; k < classes(); ++k) weights(k) = class_of(k).mean;
  RowColumns columns = info.columns;
  if (!columns.empty()) {
    std::string name = "class";
    while (find_column(columns, name) >= 0) name += "_";
    columns.push_back({name, ValueKind::label, labels()});
  }
  const bool arrays = columns.empty() && d > 0;
  auto out = std::make_unique<RowDistribution>(std::move(columns), d + 1, flat_components(weights));
  if (s.posterior) out->add(row_part(s.totals.naive, *s.posterior, category_alphas(*s.prior)));
  if (s.normal_posterior) out->add(row_part(s.totals.joint, *s.normal_posterior));
  out->add(std::make_unique<LabelPart>(d, classes(), arrays ? 1 : 0));
  if (arrays) out->set_labels(labels());
  return out;
}

void BayesClassifier::describe_parameters(std::optional<double> level,
                                          const TakeParameter &take) const {
  const State &s = *state;
  const ParameterTable table(level, take);
  std::vector<Marginal> marginals;
  std::optional<ProductPoint> point;
  std::optional<NormalPoint> normal_point;
  if (s.posterior) point = point_estimate(*s.posterior);
  if (s.normal_posterior) normal_point = point_estimate(*s.normal_posterior);
  // The index of every feature among the naive or among the joint features.
  std::vector<int> place(s.totals.specs.size()), is_joint(s.totals.specs.size());
  for (std::size_t i = 0; i < s.totals.naive.size(); ++i)
    place[std::size_t(s.totals.naive[i])] = int(i);
  for (std::size_t i = 0; i < s.totals.joint.size(); ++i) {
    place[std::size_t(s.totals.joint[i])] = int(i);
    is_joint[std::size_t(s.totals.joint[i])] = 1;
  }
  // A column of labels that is NULL in all rows has no parameters to report.
  std::vector<bool> unseen(place.size());
  for (std::size_t i = 0; i < s.totals.naive.size(); ++i) {
    const Column &column = s.totals.product.columns->column(int(i));
    unseen[std::size_t(s.totals.naive[i])] =
        column.by_value && (s.totals.product.values
                                .middleRows(s.totals.product.columns->offsets(int(i)).statistics,
                                            column.numbers_per_name())
                                .array() == 0)
                               .all();
  }
  for (int k = 0; k < classes(); ++k)
    for (std::size_t j = 0; j < place.size(); ++j) {
      if (unseen[j]) continue;
      poll_here();
      marginals.clear();
      std::vector<Parameter> numbers;
      if (is_joint[j]) {
        numbers = element_parameters(*normal_point, k, place[j]);
        add_marginals(*s.normal_posterior, k, place[j], marginals);
      } else {
        numbers = element_parameters(*point, k, place[j]);
        add_marginals(*s.posterior, k, place[j], marginals);
      }
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i].element = int(j);
        table.under(numbers[i], marginals[i]);
      }
      if (is_joint[j]) continue;
      for (Parameter &known : known_parameters(*point, k, place[j])) {
        known.element = int(j);
        table.at_point(known);
      }
    }
}

}  // namespace bayes
