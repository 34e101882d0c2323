#include "questions/product_part.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/message.hpp"
#include "base/simd.hpp"
#include "base/unseen.hpp"
#include "families/product/product_parameters.hpp"
#include "questions/box.hpp"

namespace bayes {
namespace {

/// Limit for numbers whose powers have to be summed; after sampling there are many components.
constexpr int max_summed_components = 1000;

SharedColumns columns_of_normals(int dimension) {
  return std::make_shared<const Columns>(
      std::vector<ColumnSpec>(std::size_t(dimension), ColumnSpec{*likelihood_named("normal")}));
}

}  // namespace

ProductPart::ProductPart(std::vector<int> elements, ProductPosterior q, Vector alphas)
    : RowPart(std::move(elements)),
      posterior_(std::move(q)),
      components_(posterior_->components()),
      alphas_(std::move(alphas)),
      drawn_(std::size_t(columns().size().point)) {
  clusters_.emplace(pick(*posterior_, {0}), *posterior_);
  scores_.resize(std::size_t(clusters_->padded()));
}

ProductPart::ProductPart(std::vector<int> elements, ProductPoint point, Vector counts,
                         Vector alphas)
    : RowPart(std::move(elements)),
      point_(std::move(point)),
      components_(point_->components()),
      counts_(std::move(counts)),
      alphas_(std::move(alphas)),
      drawn_(std::size_t(columns().size().point)) {
  scorer_.emplace(make_scorer(*point_));
  scores_.resize(std::size_t(components_ + simd::lanes - 1) / simd::lanes * simd::lanes);
}

double ProductPart::checked(int j, double x, const Where &where) const {
  const Column &column = columns().column(j);
  if (column.allowed(x)) return x;
  if (column.by_value && x == std::floor(x)) return unseen_category;
  throw Error(Errc::invalid_argument,
              message("{} is {}, but must be {}", where(), x, column.requirement()),
              message("Its likelihood is {}.", column.name));
}

std::vector<double> ProductPart::categories(int j) const {
  const Column &column = columns().column(j);
  if (column.by_value) return categories_of(column);
  if (column.probabilities) return {0, 1};
  return {};
}

void ProductPart::condition(const double *x, bool count_unseen, double *out) {
  row_.assign(x, x + size());
  counted_ = count_unseen;
  if (clusters_)
    clusters_->log_predictive(x, scores_.data());
  else
    scorer_->score(x, scores_.data());
  if (count_unseen && has_unseen({x, std::size_t(size())})) {
    if (!unseen_)
      unseen_ = posterior_ ? UnseenCategories(*posterior_, alphas_)
                           : UnseenCategories(*point_, counts_, alphas_);
    unseen_->add(x, scores_.data());
  }
  for (std::size_t c = 0; c < scores_.size(); c += simd::lanes)
    simd::store(out + c, simd::load(out + c) + simd::load(scores_.data() + c));
}

void ProductPart::add_ties(const double *x, const double *y, double *out) {
  if (!posterior_) return;
  std::vector<double> statistics;
  for (int j = 0; j < size(); ++j) {
    if (std::isnan(x[j])) continue;
    const Column &column = columns().column(j);
    const auto log_marginal = [&](int c, std::initializer_list<double> rows) {
      statistics.assign(std::size_t(column.size().statistics), 0.0);
      for (const double each : rows) column.add(column.element(each), statistics.data());
      return column.log_marginal_likelihood(statistics.data(), posterior_->column(c, j));
    };
    const auto [low, high] = std::minmax(x[j], y[j]);  // the same bits whichever comes first
    for (int c = 0; c < components_; ++c) {
      poll_here();
      out[c] += log_marginal(c, {low, high}) - (log_marginal(c, {low}) + log_marginal(c, {high}));
    }
  }
}

Predicted ProductPart::predicted(int c, int j) {
  const Column &column = columns().column(j);
  return posterior_ ? column.predictive(posterior_->column(c, j))
                    : column.predicted(point_->column(c, j));
}

std::pair<double, double> ProductPart::moments(int c, int j) {
  const Column &column = columns().column(j);
  const auto existing = [](double x) { return std::isfinite(x) ? x : std::nan(""); };
  if (point_)
    return {existing(column.mean(point_->column(c, j))),
            existing(column.variance(point_->column(c, j)))};
  return {existing(column.predictive_mean(posterior_->column(c, j))),
          existing(column.predictive_variance(posterior_->column(c, j)))};
}

void ProductPart::probabilities(int c, int j, double *out) {
  const Column &column = columns().column(j);
  const double *at = point_ ? point_->column(c, j) : nullptr;
  if (posterior_) {
    // The predictive probabilities of categories are the posterior means of their parameters.
    column.point_estimate(posterior_->column(c, j), drawn_.data());
    at = drawn_.data();
  }
  if (column.by_value) {
    std::copy_n(at, column.numbers_per_name(), out);
  } else {
    out[0] = at[1];
    out[1] = at[0];
  }
}

void ProductPart::box(int c, const double *lower, const double *upper, std::span<double> out) {
  double p = 1;
  for (int j = 0; j < size(); ++j) {
    if (!std::isnan(row_[std::size_t(j)])) continue;
    if (std::isinf(lower[j]) && std::isinf(upper[j])) continue;
    const std::vector<double> values = categories(j);
    if (values.empty()) {
      p *= interval_probability(predicted(c, j), lower[j], upper[j]);
      continue;
    }
    probabilities_.resize(values.size());
    probabilities(c, j, probabilities_.data());
    double within = 0;
    for (std::size_t v = 0; v < values.size(); ++v)
      if (lower[j] <= values[v] && values[v] <= upper[j]) within += probabilities_[v];
    p *= within;
  }
  for (double &each : out) each *= p;
}

void ProductPart::fix(const double *x) {
  for (int j = 0; j < size(); ++j) fixed_.push_back(!std::isnan(x[j]));
}

bool ProductPart::observes(int j) const {
  const double x = row_[std::size_t(j)];
  if (!fixed_.empty() && fixed_[std::size_t(j)]) return false;
  return !std::isnan(x) || (counted_ && is_unseen(x));
}

bool ProductPart::observes() const {
  for (int j = 0; j < size(); ++j)
    if (observes(j)) return true;
  return false;
}

double ProductPart::log_density_of(int c, int j, double value) {
  const Column &column = columns().column(j);
  if (!column.allowed(value)) return -std::numeric_limits<double>::infinity();
  const double x = column.element(value);
  statistics_.assign(std::size_t(column.size().statistics), 0.0);
  column.add(x, 1, statistics_.data());
  return column.log_carrier(x) +
         (posterior_ ? column.log_marginal_likelihood(statistics_.data(), posterior_->column(c, j))
                     : column.log_likelihood(point_->column(c, j), statistics_.data()));
}

/// For one number, or for normals at a point.
double ProductPart::tail(int c, double log_density) {
  EllipticalDensity all{0, 0, 0};
  for (int j = 0; j < size(); ++j) {
    if (!observes(j)) continue;
    const Predicted of = predicted(c, j);
    if (of.support != Predicted::Support::real) return std::nan("");
    const EllipticalDensity own = elliptical_density(of);
    if (all.elements > 0 && (all.degrees > 0 || own.degrees > 0)) return std::nan("");
    all = {all.elements + 1, own.degrees, all.centre + own.centre};
  }
  return density_tail(all, log_density);
}

const PowerLogs &ProductPart::powers_of(int c, int j) {
  if (powers_.empty()) powers_.resize(std::size_t(components_) * std::size_t(size()));
  std::optional<PowerLogs> &out = powers_[std::size_t(c) * std::size_t(size()) + std::size_t(j)];
  if (out) return *out;
  const std::vector<double> values = categories(j);
  const Predicted of = predicted(c, j);
  if (!values.empty()) {
    std::vector<double> logs;
    for (const double value : values) logs.push_back(log_density_of(c, j, value));
    out = power_logs(logs);
  } else if (of.support == Predicted::Support::real) {
    out = power_logs(elliptical_density(of));
  } else if (components_ <= max_summed_components) {
    out = power_logs(of, [&](double value) { return log_density_of(c, j, value); });
  } else {
    out.emplace().fill(std::numeric_limits<double>::infinity());
  }
  return *out;
}

void ProductPart::add_powers(int c, PowerLogs &out) {
  for (int j = 0; j < size(); ++j) {
    if (!observes(j)) continue;
    const bool unseen = is_unseen(row_[std::size_t(j)]);
    const PowerLogs own =
        unseen ? power_logs(std::array{unseen_->log_probability(j, c)}) : powers_of(c, j);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += own[i];
  }
}

/// Observed elements say nothing about the parameters of others.
void ProductPart::parameters(int c, int j, std::vector<Parameter> &out,
                             std::vector<Marginal> &posteriors) {
  if (posterior_ && !estimate_) estimate_ = point_estimate(*posterior_);
  const ProductPoint &point = posterior_ ? *estimate_ : *point_;
  for (auto list : {element_parameters, known_parameters})
    for (const Parameter &each : list(point, c, j)) out.push_back(each);
  if (posterior_) add_marginals(*posterior_, c, j, posteriors);
}

void ProductPart::draw(int c, Random &random, double *x) {
  for (int j = 0; j < size(); ++j) {
    if (!std::isnan(x[j])) continue;
    const Column &column = columns().column(j);
    const double *at = point_ ? point_->column(c, j) : nullptr;
    if (posterior_) {
      column.draw(posterior_->column(c, j), random, drawn_.data());
      at = drawn_.data();
    }
    x[j] = column.value(column.sample(at, random));
  }
}

ProductPosterior normal_columns(const NormalWishart &q) {
  ProductPosterior out{columns_of_normals(q.dimension()), {}};
  out.values.resize(out.columns->size().posterior, q.components());
  for (int k = 0; k < q.components(); ++k) {
    const int s = q.shape.index(k);
    for (int j = 0; j < q.dimension(); ++j) {
      double *const at = out.column(k, j);
      at[0] = q.m(j, k);
      at[1] = q.c(k);
      at[2] = q.a(s);
      at[3] = q.B[std::size_t(s)](j, 0);
    }
  }
  return out;
}

}  // namespace bayes
