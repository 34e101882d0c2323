#include "families/product/columns.hpp"

#include <algorithm>

#include "families/product/column_families.hpp"
#include "families/product/product_options.hpp"

namespace bayes {

static_assert(std::string_view(Bernoulli::name) == bernoulli_family &&
              std::string_view(Categorical::name) == categorical_family &&
              std::string_view(UnivariateNormal::name) == normal_family);

namespace {

template <ColumnFamily F> class ColumnOf final : public Column {
 public:
  explicit ColumnOf(F family)
      : Column({F::name, F::mode_requirement, F::parameters, F::prior_keys, F::ordered, F::by_value,
                F::probabilities, F::needs_variance}),
        f_(std::move(family)) {}

  bool allowed(double x) const override { return f_.allowed(x); }
  int first_refused(const double *x, int n) const override {
    for (int i = 0; i < n; ++i)
      if (!f_.allowed(x[i]) && !std::isnan(x[i])) return i;
    return n;
  }
  std::string requirement() const override { return f_.requirement(); }
  double element(double x) const override { return f_.element(x); }
  double value(double x) const override { return f_.value(x); }
  double stabilised(double x, double variance) const override { return f_.stabilised(x, variance); }

  int numbers_of_name() const override { return f_.numbers_of_name(); }
  ColumnOffsets size() const override {
    return {f_.point_size(), f_.posterior_size(), f_.statistics_size(),
            f_.term_size(),  f_.sum_size(),       f_.form_size()};
  }
  int free_parameters() const override { return f_.free_parameters(); }

  void maximum_likelihood(const double *statistics, const double *previous,
                          const ColumnBounds &bounds, double *point) const override {
    f_.maximum_likelihood(statistics, previous, bounds, point);
  }
  bool at_bound(const double *point, const ColumnBounds &bounds) const override {
    return f_.at_bound(point, bounds);
  }
  void maximum_posterior(const double *statistics, const double *prior,
                         double *point) const override {
    f_.maximum_posterior(statistics, prior, point);
  }
  void default_prior(double mean, double variance, double share, double *prior) const override {
    f_.default_prior(mean, variance, share, prior);
  }
  bool has_mode(const double *prior) const override { return f_.has_mode(prior); }
  double log_overlap(const double *one, const double *other) const override {
    return f_.log_overlap(one, other);
  }
  double log_prior(const double *point, const double *prior) const override {
    return f_.log_prior(point, prior);
  }
  double mean(const double *point) const override { return f_.mean(point); }
  double variance(const double *point) const override { return f_.variance(point); }
  bool allowed_mean(double x) const override { return f_.allowed_mean(x); }
  void set_mean(double mean, double variance, double *point) const override {
    f_.set_mean(mean, variance, point);
  }
  double sample(const double *point, Random &random) const override {
    return f_.sample(point, random);
  }
  void complete(double *point) const override { f_.complete(point); }
  bool valid_point(const double *point) const override { return f_.valid_point(point); }

  void posterior(const double *statistics, const double *prior, double *q) const override {
    f_.posterior(statistics, prior, q);
  }
  double divergence(const double *q, const double *prior) const override {
    return f_.divergence(q, prior);
  }
  void natural_gradient_step(const double *q, const double *target, double rho,
                             double *out) const override {
    f_.natural_gradient_step(q, target, rho, out);
  }
  void point_estimate(const double *q, double *point) const override {
    f_.point_estimate(q, point);
  }
  double predictive_mean(const double *q) const override { return f_.predictive_mean(q); }
  double predictive_variance(const double *q) const override { return f_.predictive_variance(q); }
  double log_marginal_likelihood(const double *statistics, const double *prior) const override {
    return f_.log_marginal_likelihood(statistics, prior);
  }
  void draw(const double *q, Random &random, double *point) const override {
    f_.draw(q, random, point);
  }
  void deviations(const double *q, double *out) const override { f_.deviations(q, out); }
  void marginals(const double *q, Marginal *out) const override { f_.marginals(q, out); }
  void natural_parameters(const double *q, const double *about, double *out) const override {
    f_.natural_parameters(q, about, out);
  }
  void from_natural_parameters(const double *natural, const double *about,
                               double *q) const override {
    f_.from_natural_parameters(natural, about, q);
  }
  void covariances(const double *q, double *phi, double *named) const override {
    f_.covariances(q, phi, named);
  }
  bool valid_posterior(const double *q) const override { return f_.valid_posterior(q); }

  void scale(double factor, double *statistics) const override { f_.scale(factor, statistics); }
  void add(double x, double *statistics) const override { f_.add(x, statistics); }
  void add(double x, double weight, double *statistics) const override {
    f_.add(x, weight, statistics);
  }
  void merge(const double *other, double *statistics) const override {
    f_.merge(other, statistics);
  }
  double log_carrier(double x) const override { return F::log_carrier(x); }
  double log_likelihood(const double *point, const double *statistics) const override {
    return f_.log_likelihood(point, statistics);
  }

  double point_terms(const double *point, double *terms) const override {
    return f_.point_terms(point, terms);
  }
  double expected_terms(const double *q, double *terms) const override {
    return f_.expected_terms(q, terms);
  }
  void statistics(double weight, const double *sums, const double *terms,
                  double *out) const override {
    f_.statistics(weight, sums, terms, out);
  }

 private:
  F f_;
};

/// sum += each
void advance(ColumnOffsets &sum, const ColumnOffsets &each) {
  sum.point += each.point;
  sum.posterior += each.posterior;
  sum.statistics += each.statistics;
  sum.terms += each.terms;
  sum.sums += each.sums;
  sum.forms += each.forms;
}

}  // namespace

std::span<const Column *const> every_column_family() {
  static const std::vector<std::unique_ptr<const Column>> owned = [] {
    std::vector<std::unique_ptr<const Column>> out;
    for_each_column_family(
        [&]<class F>(const F &family) { out.push_back(std::make_unique<ColumnOf<F>>(family)); });
    return out;
  }();
  static const std::vector<const Column *> all = [] {
    std::vector<const Column *> out;
    for (const auto &each : owned) out.push_back(each.get());
    return out;
  }();
  return all;
}

const char *ColumnSpec::name() const { return column_family(kind).name; }

bool ColumnSpec::counts() const {
  const Column &column = column_family(kind);
  return !column.by_value && column.allowed(0) && !column.allowed(0.5);
}

const std::vector<std::string_view> &column_family_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const Column *each : every_column_family()) out.emplace_back(each->name);
    return out;
  }();
  return names;
}

Columns::Columns(std::vector<ColumnSpec> specs)
    : specs_(std::move(specs)),
      columns_(specs_.size()),
      offsets_(specs_.size()) {
  auto groups = std::make_unique<ColumnGroups>();
  int columns = 0;
  const auto fill = [&]<class F>(ColumnGroup<F> &group) {
    group.first = columns;
    group.point = size_.point, group.posterior = size_.posterior,
    group.statistics = size_.statistics;
    group.terms = size_.terms, group.sums = size_.sums, group.forms = size_.forms;
    for (std::size_t j = 0; j < specs_.size(); ++j) {
      if (specs_[j].kind != kind_of<F>) continue;
      group.families.push_back(std::get<F>(family_of(specs_[j])));
      group.columns.push_back(int(j));
      columns_[j] = std::make_unique<ColumnOf<F>>(group.families.back());
      offsets_[j] = size_;
      advance(size_, columns_[j]->size());
      ++columns;
    }
    if (!group.columns.empty()) by_family_.push_back(group.columns);
  };
  std::apply([&](auto &...group) { (fill(group), ...); }, groups->all);
  groups_ = std::move(groups);
}
Columns::~Columns() = default;

std::span<const char *const> column_prior_keys(std::string_view family) {
  const auto kind = likelihood_named(family);
  return kind ? column_family(*kind).prior_keys : std::span<const char *const>();
}

std::optional<ColumnKind> likelihood_named(std::string_view name) {
  const auto &names = column_family_names();
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? std::nullopt : std::optional(ColumnKind(at - names.begin()));
}

void ColumnSpec::set_categories(std::vector<double> categorical) {
  categories = int(categorical.size());
  const bool plain =
      categorical.front() == 0 && categorical.back() == double(categorical.size()) - 1;
  values = plain ? std::vector<double>() : std::move(categorical);
}

std::vector<double> categories_of(const Column &column) {
  std::vector<double> out;
  if (column.by_value)
    for (int i = 0; i < column.numbers_of_name(); ++i) out.push_back(column.value(i));
  return out;
}

std::vector<std::string> names_of(const Columns &columns) {
  std::vector<std::string> out;
  for (const ColumnSpec &spec : columns.specs()) out.emplace_back(spec.name());
  return out;
}

}  // namespace bayes
