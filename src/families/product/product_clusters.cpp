#include "families/product/product_clusters.hpp"

#include "families/product/column_families.hpp"

namespace bayes {
namespace {

/// A family whose predictive density is a factor to a power.
template <class F>
concept PowerFamily = requires {
  F::predictive_power;
};

/// The product of eight factors up to this is finite.
constexpr double most_factor = 1e35;

}  // namespace

ProductClusters::ProductClusters(const ProductPosterior &prior)
    : prior_(pick(prior, {0})),
      empty_(std::size_t(columns().size().statistics), 0.0),
      scratch_(rows()),
      prior_column_(rows()),
      places_(std::size_t(columns().count())) {
  compile(prior_.values.data(), prior_column_.data());
  for_each_group(columns(), [&](const auto &group) {
    for (std::size_t c = 0; c < group.columns.size(); ++c)
      places_[std::size_t(group.columns[c])] = int(c);
  });
  reserve(simd::lanes);
}

ProductClusters::ProductClusters(const ProductPosterior &prior, const ProductPosterior &q)
    : ProductClusters(prior) {
  reserve(q.components());
  for (int k = 0; k < q.components(); ++k) {
    poll_here();
    const int slot = open();
    std::copy_n(q.values.col(k).data(), q.values.rows(), posterior_of(slot));
    compile(posterior_of(slot), scratch_.data());
    put(slot, scratch_.data());
  }
  equal_powers_ = powers_equal();
}

int ProductClusters::padded() const {
  return (size_ + simd::lanes - 1) / simd::lanes * simd::lanes;
}

int ProductClusters::open() {
  if (size_ == capacity_) reserve(2 * capacity_);
  clear(size_);
  return size_++;
}

void ProductClusters::close(int slot) {
  --size_;
  if (slot == size_) return;
  take(size_, scratch_.data());
  put(slot, scratch_.data());
  counts_[std::size_t(slot)] = counts_[std::size_t(size_)];
  carriers_[std::size_t(slot)] = carriers_[std::size_t(size_)];
  std::copy_n(statistics_of(size_), columns().size().statistics, statistics_of(slot));
  std::copy_n(posterior_of(size_), columns().size().posterior, posterior_of(slot));
}

void ProductClusters::clear(int slot) {
  counts_[std::size_t(slot)] = carriers_[std::size_t(slot)] = 0;
  std::copy(empty_.begin(), empty_.end(), statistics_of(slot));
  std::copy_n(prior_.values.data(), columns().size().posterior, posterior_of(slot));
  put(slot, prior_column_.data());
}

void ProductClusters::add(int slot, const double *x) {
  ++counts_[std::size_t(slot)];
  carriers_[std::size_t(slot)] += row_carrier(x);
  for_each_family(columns(), [&](int j, const auto &family, const ColumnOffsets &at) {
    if (x[j] == x[j]) family.add(family.element(x[j]), statistics_of(slot) + at.statistics);
  });
  refresh(slot);
}

bool ProductClusters::remove(int slot, const double *x) {
  --counts_[std::size_t(slot)];
  carriers_[std::size_t(slot)] -= row_carrier(x);
  bool sound = true;
  for_each_family(columns(), [&](int j, const auto &family, const ColumnOffsets &at) {
    if (x[j] == x[j])
      sound &= family.remove(family.element(x[j]), prior_.values.data() + at.posterior,
                             statistics_of(slot) + at.statistics);
  });
  refresh(slot);
  return sound;
}

void ProductClusters::save(int slot) {
  saved_.column.resize(rows());
  take(slot, saved_.column.data());
  saved_.statistics.assign(statistics_of(slot), statistics_of(slot) + columns().size().statistics);
  saved_.posterior.assign(posterior_of(slot), posterior_of(slot) + columns().size().posterior);
  saved_.count = counts_[std::size_t(slot)];
  saved_.log_carrier = carriers_[std::size_t(slot)];
}

void ProductClusters::restore(int slot) {
  put(slot, saved_.column.data());
  std::copy(saved_.statistics.begin(), saved_.statistics.end(), statistics_of(slot));
  std::copy(saved_.posterior.begin(), saved_.posterior.end(), posterior_of(slot));
  counts_[std::size_t(slot)] = saved_.count;
  carriers_[std::size_t(slot)] = saved_.log_carrier;
}

void ProductClusters::exchange(StateNumbers &numbers, int most) {
  int size = size_;
  numbers.whole(size, 0, most);
  numbers.require(std::size_t(size) * rows());
  while (size_ > size) close(size_ - 1);
  while (size_ < size) open();
  for (int slot = 0; slot < size_; ++slot) {
    save(slot);
    for (std::vector<double> *const each : {&saved_.column, &saved_.statistics, &saved_.posterior})
      numbers.numbers(*each);
    numbers.number(saved_.count);
    numbers.number(saved_.log_carrier);
    if (numbers.reads()) restore(slot);
  }
}

void ProductClusters::log_predictive(const double *x, double *out) const {
  const double carrier = row_carrier(x);
  for (int slot = 0; slot < size_; slot += simd::lanes)
    simd::store(out + slot, carrier + simd::load(row(0) + slot));
  for_each_group(columns(), [&]<class F>(const ColumnGroup<F> &group) {
    // First collect the columns that contribute, so that the loops over clusters run without
    // unpredictable branches.
    constexpr int most = 128;
    Term<F> terms[most];
    for (std::size_t first = 0; first < group.columns.size(); first += most) {
      const std::size_t end = std::min(group.columns.size(), first + most);
      int count = 0;
      for (std::size_t c = first; c < end; ++c) {
        const int j = group.columns[c];
        if (x[j] != x[j]) {
          add_constant(std::size_t(group.first) + c, -1, out);
          continue;
        }
        terms[count] = {form_row(columns().offsets(j).forms), group.families[c].element(x[j]),
                        &group.families[c]};
        count += !F::zero_is_constant || terms[count].x != 0;
      }
      int slot = 0;
      for (; slot + 4 * simd::lanes <= padded(); slot += 4 * simd::lanes)
        add_terms<F, 4>(terms, count, slot, out);
      for (; slot < padded(); slot += simd::lanes) add_terms<F, 1>(terms, count, slot, out);
    }
  });
}

double ProductClusters::log_marginal(int slot) const {
  double total = carriers_[std::size_t(slot)];
  for_each_family(columns(), [&](int, const auto &family, const ColumnOffsets &at) {
    total += family.log_marginal_likelihood(statistics_of(slot) + at.statistics,
                                            prior_.values.data() + at.posterior);
  });
  return total;
}

ProductPosterior ProductClusters::posterior() const {
  ProductPosterior out{prior_.columns, Matrix(columns().size().posterior, size_)};
  for (int k = 0; k < size_; ++k)
    std::copy_n(posterior_of(k), columns().size().posterior, out.values.col(k).data());
  return out;
}

void ProductClusters::reserve(int slots) {
  const int capacity = (std::max(slots, 1) + simd::lanes - 1) / simd::lanes * simd::lanes;
  if (capacity <= capacity_) return;
  Buffer wider(rows() * std::size_t(capacity));
  // Unused slots hold the prior, as lanes past the last cluster are computed too.
  for (std::size_t r = 0; r < rows(); ++r)
    for (int slot = 0; slot < capacity; ++slot)
      wider[r * std::size_t(capacity) + std::size_t(slot)] =
          slot < capacity_ ? row(r)[slot] : prior_column_[r];
  std::swap(data_, wider);
  capacity_ = capacity;
  const std::size_t n = std::size_t(capacity);
  counts_.resize(n);
  carriers_.resize(n);
  statistics_.resize(n * empty_.size());
  posteriors_.resize(n * std::size_t(columns().size().posterior));
}

void ProductClusters::compile(const double *posterior, double *column) {
  double total = 0;
  for_each_group(columns(), [&]<class F>(const ColumnGroup<F> &group) {
    double *const constants = column + 1 + group.first;
    F::predictive_forms(group.families, posterior + group.posterior, column + form_row(group.forms),
                        constants);
    for (std::size_t c = 0; c < group.columns.size(); ++c) total += constants[c];
  });
  column[0] = total;
}

void ProductClusters::refresh(int slot) {
  for_each_family(columns(), [&](int, const auto &family, const ColumnOffsets &at) {
    family.posterior(statistics_of(slot) + at.statistics, prior_.values.data() + at.posterior,
                     posterior_of(slot) + at.posterior);
  });
  compile(posterior_of(slot), scratch_.data());
  put(slot, scratch_.data());
}

double ProductClusters::row_carrier(const double *x) const {
  double total = 0;
  for_each_group(columns(), [&]<class F>(const ColumnGroup<F> &group) {
    if constexpr (F::has_carrier)
      for (std::size_t c = 0; c < group.columns.size(); ++c)
        if (const double value = x[group.columns[c]]; value == value)
          total += group.families[c].log_carrier(group.families[c].element(value));
  });
  return total;
}

void ProductClusters::add_constant(std::size_t column, double sign, double *out) const {
  for (int slot = 0; slot < size_; slot += simd::lanes)
    simd::store(out + slot, simd::load(out + slot) + sign * simd::load(row(1 + column) + slot));
}

void ProductClusters::replace_element(int j, double from, double to, double *out) const {
  for_each_group(columns(), [&]<class F>(const ColumnGroup<F> &group) {
    if (columns().specs()[std::size_t(j)].kind != kind_of<F>) return;
    const std::size_t c = std::size_t(places_[std::size_t(j)]),
                      constant = std::size_t(group.first) + c;
    const F &family = group.families[c];
    const std::size_t first = form_row(columns().offsets(j).forms);
    const auto change = [&](double x, double sign) {
      if (x != x) return;
      const double element = family.element(x);
      if (F::zero_is_constant && element == 0) return;
      const double carrier = F::has_carrier ? family.log_carrier(element) : 0;
      for (int slot = 0; slot < size_; slot += simd::lanes) {
        const auto form = [&](int i) { return simd::load(row(first + std::size_t(i)) + slot); };
        simd::store(out + slot, simd::load(out + slot) +
                                    sign * (carrier + family.predictive_term(form, element)));
      }
    };
    const bool had = from == from, has = to == to;
    if (had != has) add_constant(constant, has ? 1 : -1, out);
    change(from, -1);
    change(to, 1);
  });
}

bool ProductClusters::powers_equal() const {
  bool out = true;
  for_each_group(columns(), [&]<class F>(const ColumnGroup<F> &group) {
    if constexpr (PowerFamily<F>)
      for (const int j : group.columns)
        for (int slot = 0; slot < size_; ++slot) {
          const auto power = [&](int column) {
            return row(form_row(columns().offsets(column).forms) + F::predictive_power)[slot];
          };
          out &= power(j) == power(group.columns[0]) && power(j) <= heavy_from;
        }
  });
  return out;
}

template <class F, class Vector, int N>
void ProductClusters::sum_powers(const Term<F> *terms, int count, int slot, Vector (&sum)[N],
                                 Vector (&largest)[N]) const {
  Vector product[N];
  for (int v = 0; v < N; ++v) {
    sum[v] = largest[v] = simd::all(0);
    product[v] = simd::all(1);
  }
  for (int t = 0; t < count; ++t) {
    const double *const at = row(terms[t].row) + slot;
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) {
      const Vector factor = F::predictive_factor(
          [&](int i) {
            return simd::load(at + std::size_t(i) * std::size_t(capacity_) + v * simd::lanes);
          },
          terms[t].x);
      largest[v] = simd::max(largest[v], factor);
      product[v] *= factor;
    }
    if (t % 8 != 7 && t != count - 1) continue;
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) {
      sum[v] += simd::log(product[v]);
      product[v] = simd::all(1);
    }
  }
  const double *const power = row(terms[0].row + F::predictive_power) + slot;
  for (int v = 0; v < N; ++v) sum[v] *= -simd::load(power + v * simd::lanes);
}

template <class F, int N>
void ProductClusters::add_terms(const Term<F> *terms, int count, int slot, double *out) const {
  simd::Vector sum[N];
#pragma GCC unroll 4
  for (int v = 0; v < N; ++v) sum[v] = simd::load(out + slot + v * simd::lanes);
  [[maybe_unused]] simd::Vector powers[N], largest[N];
  bool by_terms = true;
  if constexpr (PowerFamily<F>)
    if (equal_powers_ && count > 1) {
      sum_powers(terms, count, slot, powers, largest);
      simd::Vector most = largest[0];
      for (int v = 1; v < N; ++v) most = simd::max(most, largest[v]);
      by_terms = false;
      for (int i = 0; i < simd::lanes; ++i) by_terms |= !(most[i] < most_factor);
#pragma GCC unroll 4
      for (int v = 0; v < N; ++v) powers[v] += sum[v];
    }
  for (int t = 0; by_terms && t < count; ++t) {
    const double *const at = row(terms[t].row) + slot;
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v)
      sum[v] += terms[t].family->predictive_term(
          [&](int i) {
            return simd::load(at + std::size_t(i) * std::size_t(capacity_) + v * simd::lanes);
          },
          terms[t].x);
  }
  if constexpr (PowerFamily<F>)
    if (equal_powers_ && count > 1)
#pragma GCC unroll 4
      for (int v = 0; v < N; ++v) sum[v] = largest[v] < simd::all(most_factor) ? powers[v] : sum[v];
#pragma GCC unroll 4
  for (int v = 0; v < N; ++v) simd::store(out + slot + v * simd::lanes, sum[v]);
}

double ProductClusters::log_predictive(const double *x, const double *column,
                                       std::size_t stride) const {
  double total = column[0] + row_carrier(x);
  for_each_group(columns(), [&]<class F>(const ColumnGroup<F> &group) {
    for (std::size_t c = 0; c < group.columns.size(); ++c) {
      const int j = group.columns[c];
      const std::size_t first = form_row(columns().offsets(j).forms);
      if (x[j] != x[j]) {
        total -= column[(1 + std::size_t(group.first) + c) * stride];
        continue;
      }
      const double element = group.families[c].element(x[j]);
      if (!F::zero_is_constant || element != 0)
        total += group.families[c].predictive_term(
            [&](int i) { return column[(first + std::size_t(i)) * stride]; }, element);
    }
  });
  return total;
}

}  // namespace bayes
