// Accessors of a fitted non-negative factorization, predictions of cells, and weights of new
// documents.

#include "factor/nmf.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/special.hpp"
#include "counts/document_parts.hpp"
#include "counts/passes.hpp"
#include "counts/remote_corpus.hpp"
#include "data/pass.hpp"
#include "factor/nmf_state.hpp"
#include "factor/nmf_statistics.hpp"
#include "families/parameter.hpp"

namespace bayes {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Mean and mean square of a weight; point estimates have no variance.
struct Moments {
  double mean, square;
};

Moments moments_of(const NmfSide &side, bool gamma, std::int32_t key, int factor) {
  if (gamma && key < 0) {
    const WeightGamma &prior = side.prior;
    const double a = prior.shape, h = prior.scale_shape,
                 b = prior.hierarchical() ? prior.rate / h : prior.rate;
    if (!prior.hierarchical()) return {a / b, a * (a + 1) / (b * b)};
    // the moments of 1 / rate, which has an inverse gamma distribution
    return {h > 1 ? a / b / (h - 1) : infinite,
            h > 2 ? a * (a + 1) / (b * b) / ((h - 1) * (h - 2)) : infinite};
  }
  if (gamma) {
    const double shape = side.numbers.row(key)[factor], rate = side.rate(key, factor);
    return {shape / rate, shape * (shape + 1) / (rate * rate)};
  }
  const double point = key < 0 ? side.totals[std::size_t(factor)] / double(side.keys.size())
                               : side.expected(key, factor);
  return {point, point * point};
}

}  // namespace

void NmfSide::sum_up() {
  totals.assign(std::size_t(numbers.columns()), 0.0);
  WorkPoll poll;
  for (std::int32_t j = 0; j < numbers.rows(); ++j) {
    for (std::size_t k = 0; k < totals.size(); ++k) totals[k] += expected(j, int(k));
    poll(totals.size());
  }
  order.clear();
  if (std::is_sorted(keys.all().begin(), keys.all().end())) return;
  order.resize(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    poll(10);
    return keys[std::size_t(a)] < keys[std::size_t(b)];
  });
}

void NmfModel::State::sum_up() {
  row.sum_up();
  column.sum_up();
  shares.resize(row.totals.size());
  double sum = 0;
  for (std::size_t k = 0; k < shares.size(); ++k)
    sum += shares[k] = row.totals[k] * column.totals[k];
  for (double &share : shares) share = sum > 0 ? share / sum : 1 / double(shares.size());
}

NmfModel::NmfModel() : state(std::make_unique<State>()) { info.family = "nmf"; }
NmfModel::~NmfModel() = default;

const std::vector<std::string> &NmfModel::keys(Side side) const {
  return state->side(side).keys.all();
}
double NmfModel::share_of_factor(Side side, std::int32_t key, int factor) const {
  const NmfSide &of = state->side(side);
  const double total = of.totals[std::size_t(factor)];
  return total > 0 ? of.expected(key, factor) / total : 0;
}
const std::vector<double> &NmfModel::shares() const { return state->shares; }
const ModelWords &NmfModel::words() const {
  static constexpr ModelWords words = {
      .part = "factor",
      .parts = "factors",
      .unit = "cell",
      .tolerance_per_unit = true,
      .takes = "cells of a table",
      .functions = "Use nmf_predict(model, row_key, column_key) to predict a cell."};
  return words;
}

void NmfModel::describe_parameters(std::optional<double> level, const TakeParameter &take) const {
  const ParameterTable table(level, take, Parameter::mean_field);
  for (int k = 0; k < size(); ++k) {
    Parameter p;
    p.component = k;
    p.name = "weight";
    p.value = shares()[std::size_t(k)];
    table.at_point(p);
    for (const Side which : {Side::row, Side::column}) {
      const NmfSide &side = state->side(which);
      p.name = which == Side::row ? "row_weight" : "column_weight";
      for (std::size_t i = 0; i < side.keys.size(); ++i) {
        const std::int32_t key = std::int32_t(i);
        p.label = &side.keys[i];
        p.value = side.expected(key, k);
        if (state->gamma)
          table.under(p, {Marginal::Kind::gamma, side.numbers.row(key)[k], side.rate(key, k)});
        else
          table.at_point(p);
      }
    }
  }
}

std::optional<LabelProfiles> NmfModel::label_profiles() const {
  return LabelProfiles{
      keys(Side::column), shares(),
      [this](std::string_view key) { return code(Side::column, key); },
      [this](std::int32_t key, int factor) { return share_of_factor(Side::column, key, factor); },
      "share"};
}

double NmfModel::State::error_variance() const {
  const double cells = double(row.keys.size()) * double(column.keys.size());
  return std::max(error.squared / cells, 1e-300);
}

const NmfError &NmfModel::error() const { return state->error; }
bool NmfModel::missing() const { return state->missing; }

std::int32_t NmfModel::code(Side which, std::string_view key) const {
  const NmfSide &side = state->side(which);
  const auto name = [&side](std::size_t place) -> const std::string & {
    return side.keys[side.order.empty() ? place : std::size_t(side.order[place])];
  };
  std::size_t low = 0, high = side.keys.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (name(middle) < key)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == side.keys.size() || name(low) != key) return -1;
  return side.order.empty() ? std::int32_t(low) : side.order[low];
}

NmfWeights NmfModel::weights(Side which, std::int32_t index) const {
  const NmfSide &side = state->side(which);
  NmfWeights out;
  for (int k = 0; k < size(); ++k) out.value.push_back(side.expected(index, k));
  if (!state->gamma) return out;
  out.shape.assign(side.numbers.row(index), side.numbers.row(index) + size());
  for (int k = 0; k < size(); ++k) out.rate.push_back(side.rate(index, k));
  return out;
}

CellPrediction NmfModel::predict(std::int32_t row, std::int32_t column) const {
  const bool gamma = state->gamma;
  double mean = 0, variance = 0;
  for (int k = 0; k < size(); ++k) {
    const Moments w = moments_of(state->row, gamma, row, k),
                  v = moments_of(state->column, gamma, column, k);
    mean += w.mean * v.mean;
    if (gamma) variance += w.square * v.square - w.mean * w.mean * v.mean * v.mean;
  }
  // Weights under a hierarchical prior may have an infinite mean or variance.
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(mean)) return {infinite, unknown};
  if (info.method == Method::squared || !std::isfinite(variance)) return {mean, unknown};
  return {mean, mean + variance};
}

std::optional<Score> NmfModel::score(std::int32_t row, std::int32_t column, double number) const {
  const double mean = predict(row, column).mean, error = number - mean;
  if (!std::isfinite(mean)) return std::nullopt;
  Score out{1, 0, error * error};
  if (info.method == Method::squared) {
    const double variance = state->error_variance();
    out.log_density = -0.5 * (out.error / variance + std::log(2 * std::numbers::pi * variance));
  } else {
    out.log_density = -mean;
    if (number > 0) out.log_density += number * std::log(mean) - log_gamma(number + 1);
  }
  return out;
}

NmfWeights NmfModel::transform(Side which, const DocumentTerms &cells) const {
  const NmfSide &terms = state->side(other(which));
  if (info.method != Method::squared) return state->infer(which, cells, terms.totals);
  NmfWeights out;
  out.value = least_squares(cells, terms.numbers, terms.numbers);
  return out;
}

NmfWeights NmfModel::State::infer(Side which, const DocumentTerms &cells,
                                  std::vector<double> sums) const {
  const NmfSide &terms = side(other(which));
  const WeightGamma &prior = side(which).prior;
  const int factors = terms.numbers.columns();
  // Only rows of the document's terms are needed.
  const std::int32_t count = std::int32_t(cells.size());
  PaddedMatrix numbers(count, factors);
  std::vector<std::int32_t> places(cells.size());
  for (std::int32_t i = 0; i < count; ++i) {
    places[std::size_t(i)] = i;
    const std::int32_t key = cells.terms[std::size_t(i)];
    for (int k = 0; k < factors; ++k)
      numbers.row(i)[k] = gamma ? terms.numbers.row(key)[k] : terms.expected(key, k);
  }
  const DocumentTerms document{places, cells.counts};
  NmfWeights out;
  TermFactors of_cells(count, factors);
  Buffer logs(std::size_t(numbers.stride()), 0.0), inverse(std::size_t(numbers.stride()), 1.0);
  std::vector<double> rates(std::size_t(factors), 0.0);
  if (missing) std::fill(sums.begin(), sums.end(), 0.0);
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t key = cells.terms[std::size_t(i)];
    for (int k = 0; k < factors; ++k) {
      logs[std::size_t(k)] = std::log(terms.rate(key, k));
      if (missing) sums[std::size_t(k)] += terms.expected(key, k);
    }
    if (gamma)
      of_cells.expect(i, {numbers, 1, 0}, logs.data());
    else
      of_cells.set_points(i, numbers);
  }
  Buffer counts;
  // With a hierarchical prior, allocated counts and rate are updated in turn.
  double rate = prior.hierarchical() ? ScalePosterior(prior, factors).mean() : prior.rate;
  for (int round = 0; round < (prior.hierarchical() ? 1000 : 1); ++round) {
    double weights = 0;
    for (std::size_t k = 0; k < rates.size(); ++k) {
      rates[k] = sums[k] + rate;
      // A factor whose weights are all 0 gets no weight.
      inverse[k] = rates[k] > 0 ? 1 / rates[k] : 0;
    }
    counts = converged_counts(document, of_cells, prior.shape, inverse);
    for (std::size_t k = 0; k < rates.size(); ++k)
      weights += (prior.shape + counts[k]) * inverse[k];
    if (!prior.hierarchical()) break;
    const double before = rate;
    rate = ScalePosterior(prior, factors, weights).mean();
    if (std::abs(rate - before) <= 1e-12 * rate) break;
  }
  for (std::size_t k = 0; k < rates.size(); ++k)
    out.value.push_back((prior.shape + counts[k]) * inverse[k]);
  if (!gamma) return out;
  for (std::size_t k = 0; k < rates.size(); ++k) out.shape.push_back(prior.shape + counts[k]);
  out.rate = rates;
  return out;
}

namespace {

/// The observed half of the terms, and sums over both halves.
struct Halves {
  std::vector<char> observed;
  PaddedMatrix observed_points;
  std::vector<double> observed_sums, scored_sums;
  double scored = 0;

  explicit Halves(const NmfSide &side)
      : observed(side.keys.size()),
        observed_points(side.numbers.rows(), side.numbers.columns()),
        observed_sums(side.totals.size(), 0.0),
        scored_sums(observed_sums) {
    const std::vector<std::uint64_t> hashes = term_hashes(side.keys.all());
    WorkPoll poll;
    for (std::int32_t j = 0; j < side.numbers.rows(); ++j) {
      const bool here = hashes[std::size_t(j)] & 1;
      observed[std::size_t(j)] = here;
      scored += !here;
      for (std::size_t k = 0; k < observed_sums.size(); ++k) {
        const double mean = side.expected(j, int(k));
        (here ? observed_sums : scored_sums)[k] += mean;
        if (here) observed_points.row(j)[k] = mean;
      }
      poll(4 * observed_sums.size());
    }
  }
};

/// Predicts the cells of documents that are held out.
struct HeldOutRowsPass {
  static constexpr const char *name = "held-out rows";
  /// For each document the number of its predicted cells, and their log-likelihood or, of method
  /// squared, the sum of their squared errors.
  struct Sums {
    std::vector<double> cells, fit;
    /// the most that a document has
    double most_cells = 0;

    template <class F> void fields(F &f) {
      f.numbers("cells", cells);
      f.numbers("fit", fit, cells.size());
      for (std::size_t i = 0; i < cells.size(); ++i) {
        // A count in a cell whose mean is 0 has the probability 0.
        const bool impossible = fit[i] == -std::numeric_limits<double>::infinity();
        f.require(cells[i] >= 0 && cells[i] <= most_cells && (impossible || std::isfinite(fit[i])));
      }
    }
    void clear() {
      cells.clear();
      fit.clear();
    }
    void add(const Sums &other) {
      cells.insert(cells.end(), other.cells.begin(), other.cells.end());
      fit.insert(fit.end(), other.fit.begin(), other.fit.end());
    }
  };
  const NmfModel *model = nullptr;
  Side which = Side::row;
  /// the model of a request
  std::unique_ptr<NmfModel> asked = {};

  static Corpus &data_of(PartOfDocuments &part) { return part.held_out_documents(); }
  template <class F> void fields(F &f, Corpus &documents) {
    if constexpr (F::reading) {
      asked = model_of_column_factors(PassReader(f.document()).member("model"));
      model = asked.get();
    } else {
      if (which != Side::row)
        refuse_remote("what is held out of a table of more columns than rows");
      f.document().set("model", column_factors_message(*model));
    }
    f.require(model->keys(Side::column).size() == std::size_t(documents.totals().vocabulary));
  }
  Sums nothing(Corpus &documents) const { return {{}, {}, double(documents.totals().vocabulary)}; }
  Sums here(Corpus &documents, Control &control) const;
};

HeldOutRowsPass::Sums HeldOutRowsPass::here(Corpus &documents, Control &control) const {
  const NmfModel::State &state = *model->state;
  const NmfSide &terms = state.side(other(which));
  const bool squared = model->info.method == Method::squared;
  const Halves halves(terms);
  const int factors = model->size();
  Buffer none;
  const SweepPlan plan =
      plan_tasks(4000.0 * factors * double(documents.totals().entries), 64, control);
  return document_pass(
      documents, plan, nothing(documents), 0, none, control,
      [&](int, const DocumentTerms &cells, std::int64_t, double *, Sums &to) {
        const FilteredDocument known(
            cells, [&](std::int32_t key) { return bool(halves.observed[std::size_t(key)]); });
        const std::vector<double> weights =
            squared ? least_squares(known.terms(), halves.observed_points, halves.observed_points)
                    : state.infer(which, known.terms(), halves.observed_sums).value;
        double predicted = 0, log_likelihood = 0, squares = 0;
        // absent cells first, if they are zeros
        double mean_of_all = 0;
        if (!state.missing) {
          predicted += halves.scored;
          for (std::size_t k = 0; k < weights.size(); ++k)
            mean_of_all += weights[k] * halves.scored_sums[k];
          log_likelihood -= mean_of_all;
        }
        WorkPoll poll;
        for (std::size_t e = 0; e < cells.size(); ++e) {
          const std::int32_t key = cells.terms[e];
          if (halves.observed[std::size_t(key)]) continue;
          const double x = cells.counts[e];
          double mean = 0;
          for (int k = 0; k < factors; ++k)
            mean += weights[std::size_t(k)] * terms.expected(key, k);
          if (state.missing) {
            ++predicted;
            log_likelihood -= mean;
          }
          if (x > 0) log_likelihood += x * std::log(mean) - log_gamma(x + 1);
          squares += (x - mean) * (x - mean) - (state.missing ? 0 : mean * mean);
          poll(4 * std::size_t(factors));
        }
        // (w'v)^2 for all scored terms
        for (std::int32_t j = 0; squared && j < terms.numbers.rows(); ++j) {
          if (halves.observed[std::size_t(j)]) continue;
          double mean = 0;
          for (int k = 0; k < factors; ++k) mean += weights[std::size_t(k)] * terms.expected(j, k);
          squares += mean * mean;
          poll(4 * std::size_t(factors));
        }
        to.cells.push_back(predicted);
        to.fit.push_back(squared ? squares : log_likelihood);
      });
}

}  // namespace

NmfHeldOut nmf_held_out(const NmfModel &model, Corpus &documents, Side which, Control &control) {
  const PollScope scope(control);
  const bool squared = model.info.method == Method::squared;
  const HeldOutRowsPass::Sums lines = run(documents, HeldOutRowsPass{&model, which}, control);
  if (std::int64_t(lines.cells.size()) != documents.totals().documents) PassReader::refuse();
  NmfHeldOut out;
  out.documents = std::int64_t(lines.cells.size());
  const double variance = squared ? model.state->error_variance() : 0;
  for (std::size_t i = 0; i < lines.cells.size(); ++i) {
    const double fit = squared ? -0.5 * (lines.cells[i] * std::log(6.283185307179586 * variance) +
                                         lines.fit[i] / variance)
                               : lines.fit[i];
    out.cells += lines.cells[i];
    out.log_likelihood += fit;
    out.scores.push_back({1, fit, 0});
  }
  out.error = double(out.documents) * sum_scores(out.scores).log_density().standard_error;
  return out;
}

const PassOver<PartOfDocuments> held_out_rows_pass = pass_over<PartOfDocuments, HeldOutRowsPass>();

}  // namespace bayes
