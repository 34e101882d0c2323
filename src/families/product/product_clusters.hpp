// Clusters of rows of columns with their parameters integrated out, row by row: what collapsed
// samplers and predictive densities need.
//
// Of every cluster the predictive density of an element is kept ready, cut up as column.hpp says:
// one base for the whole row of zeros, and for every column what another element adds to it.
// Clusters lie in the lanes, so that a row meets all of them at once; zeros cost nothing.
// Statistics are kept as such, so whole numbers stay exact and nothing drifts.
#pragma once

#include "base/aligned.hpp"
#include "families/product/product.hpp"

namespace bayes {

class ProductClusters {
 public:
  /// No clusters yet. `prior`: one component.
  explicit ProductClusters(const ProductPosterior &prior)
      : prior_(pick(prior, {0})),
        empty_(std::size_t(columns().size().statistics), 0.0),
        scratch_(rows()),
        prior_column_(rows()) {
    compile(prior_.values.data(), prior_column_.data());
    reserve(simd::lanes);
  }

  /// Clusters whose posteriors are q's components: for scoring rows; nothing can be added to or
  /// removed from them.
  ProductClusters(const ProductPosterior &prior, const ProductPosterior &q)
      : ProductClusters(prior) {
    reserve(q.components());
    for (int k = 0; k < q.components(); ++k) {
      const int slot = open();
      std::copy_n(q.values.col(k).data(), q.values.rows(), posterior_of(slot));
      compile(posterior_of(slot), scratch_.data());
      put(slot, scratch_.data());
    }
  }

  int size() const { return size_; }
  int padded() const { return (size_ + simd::lanes - 1) / simd::lanes * simd::lanes; }
  double count(int slot) const { return counts_[std::size_t(slot)]; }

  int open() {
    if (size_ == capacity_) reserve(2 * capacity_);
    clear(size_);
    return size_++;
  }
  void close(int slot) {
    --size_;
    if (slot == size_) return;
    take(size_, scratch_.data());
    put(slot, scratch_.data());
    counts_[std::size_t(slot)] = counts_[std::size_t(size_)];
    bases_[std::size_t(slot)] = bases_[std::size_t(size_)];
    std::copy_n(statistics_of(size_), columns().size().statistics, statistics_of(slot));
    std::copy_n(posterior_of(size_), columns().size().posterior, posterior_of(slot));
  }
  void clear(int slot) {
    counts_[std::size_t(slot)] = bases_[std::size_t(slot)] = 0;
    std::copy(empty_.begin(), empty_.end(), statistics_of(slot));
    std::copy_n(prior_.values.data(), columns().size().posterior, posterior_of(slot));
    put(slot, prior_column_.data());
  }

  void add(int slot, const double *x) {
    ++counts_[std::size_t(slot)];
    bases_[std::size_t(slot)] += row_base(x);
    columns().for_each([&](int j, const auto &family, const ColumnPlaces &at) {
      if (x[j] == x[j]) family.add(family.element(x[j]), statistics_of(slot) + at.statistics);
    });
    refresh(slot);
  }
  /// False if precision is lost; the cluster is then to be cleared and put together again.
  bool remove(int slot, const double *x) {
    --counts_[std::size_t(slot)];
    bases_[std::size_t(slot)] -= row_base(x);
    bool sound = true;
    columns().for_each([&](int j, const auto &family, const ColumnPlaces &at) {
      if (x[j] == x[j])
        sound &= family.remove(family.element(x[j]), prior_.values.data() + at.posterior,
                               statistics_of(slot) + at.statistics);
    });
    refresh(slot);
    return sound;
  }
  void save(int slot) {
    saved_.column.resize(rows());
    take(slot, saved_.column.data());
    saved_.statistics.assign(statistics_of(slot),
                             statistics_of(slot) + columns().size().statistics);
    saved_.posterior.assign(posterior_of(slot), posterior_of(slot) + columns().size().posterior);
    saved_.count = counts_[std::size_t(slot)];
    saved_.base = bases_[std::size_t(slot)];
  }
  /// As it was at save(); other clusters may have changed since, but not moved.
  void restore(int slot) {
    put(slot, saved_.column.data());
    std::copy(saved_.statistics.begin(), saved_.statistics.end(), statistics_of(slot));
    std::copy(saved_.posterior.begin(), saved_.posterior.end(), posterior_of(slot));
    counts_[std::size_t(slot)] = saved_.count;
    bases_[std::size_t(slot)] = saved_.base;
  }

  /// padded() numbers: log p(x | the rows of the cluster); those past size() are finite and mean
  /// nothing.
  void log_predictive(const double *x, double *out) const {
    const double base = row_base(x);
    for (int slot = 0; slot < size_; slot += simd::lanes)
      simd::store(out + slot, base + simd::load(row(0) + slot));
    columns().for_each_group([&]<class F>(const ColumnGroup<F> &group) {
      // The columns that have something to say, first: later loops then run without a branch that
      // cannot be foreseen.
      constexpr int most = 128;
      Term terms[most];
      for (std::size_t first = 0; first < group.columns.size(); first += most) {
        const std::size_t end = std::min(group.columns.size(), first + most);
        int count = 0;
        for (std::size_t c = first; c < end; ++c) {
          const int j = group.columns[c];
          if (x[j] != x[j]) {
            subtract(std::size_t(group.first) + c, out);
            continue;
          }
          terms[count] = {form_row(columns().place(j).forms), group.families[c].element(x[j])};
          count += !F::zero_is_base || terms[count].x != 0;
        }
        int slot = 0;
        for (; slot + 4 * simd::lanes <= padded(); slot += 4 * simd::lanes)
          add_terms<F, 4>(terms, count, slot, out);
        for (; slot < padded(); slot += simd::lanes) add_terms<F, 1>(terms, count, slot, out);
      }
    });
  }
  double log_predictive(int slot, const double *x) const {
    return log_predictive(x, row(0) + slot, std::size_t(capacity_));
  }
  double log_prior_predictive(const double *x) const {
    return log_predictive(x, prior_column_.data(), 1);
  }

  /// log p(all rows of the cluster).
  double log_marginal(int slot) const {
    double total = bases_[std::size_t(slot)];
    columns().for_each([&](int, const auto &family, const ColumnPlaces &at) {
      total += family.log_marginal_likelihood(statistics_of(slot) + at.statistics,
                                              prior_.values.data() + at.posterior);
    });
    return total;
  }

  ProductPosterior posterior() const {
    ProductPosterior out{prior_.columns, Matrix(columns().size().posterior, size_)};
    for (int k = 0; k < size_; ++k)
      std::copy_n(posterior_of(k), columns().size().posterior, out.values.col(k).data());
    return out;
  }

 private:
  const Columns &columns() const { return *prior_.columns; }

  struct Term {
    std::size_t row;
    double x;
  };
  struct Saved {
    std::vector<double> column, statistics, posterior;
    double count, base;
  };

  // What scores rows: every number of a cluster has a row of its own in data_, of capacity_
  // entries: the base of the whole row, then those of the columns (group by group), then the
  // columns' forms.
  std::size_t rows() const {
    return 1 + std::size_t(columns().count()) + std::size_t(columns().size().forms);
  }
  std::size_t form_row(int form) const {
    return 1 + std::size_t(columns().count()) + std::size_t(form);
  }
  const double *row(std::size_t number) const {
    return data_.data() + number * std::size_t(capacity_);
  }
  void put(int slot, const double *column) {
    double *to = data_.data() + slot;
    for (std::size_t r = 0; r < rows(); ++r, to += capacity_) *to = column[r];
  }
  void take(int slot, double *column) const {
    const double *from = data_.data() + slot;
    for (std::size_t r = 0; r < rows(); ++r, from += capacity_) column[r] = *from;
  }

  double *statistics_of(int slot) { return statistics_.data() + std::size_t(slot) * empty_.size(); }
  const double *statistics_of(int slot) const {
    return statistics_.data() + std::size_t(slot) * empty_.size();
  }
  double *posterior_of(int slot) {
    return posteriors_.data() + std::size_t(slot) * std::size_t(columns().size().posterior);
  }
  const double *posterior_of(int slot) const {
    return posteriors_.data() + std::size_t(slot) * std::size_t(columns().size().posterior);
  }

  void reserve(int slots) {
    const int capacity = (std::max(slots, 1) + simd::lanes - 1) / simd::lanes * simd::lanes;
    if (capacity <= capacity_) return;
    Buffer wider(rows() * std::size_t(capacity));
    // Unused slots hold the prior: lanes past the last cluster are computed too.
    for (std::size_t r = 0; r < rows(); ++r)
      for (int slot = 0; slot < capacity; ++slot)
        wider[r * std::size_t(capacity) + std::size_t(slot)] =
            slot < capacity_ ? row(r)[slot] : prior_column_[r];
    std::swap(data_, wider);
    capacity_ = capacity;
    const std::size_t n = std::size_t(capacity);
    counts_.resize(n);
    bases_.resize(n);
    statistics_.resize(n * empty_.size());
    posteriors_.resize(n * std::size_t(columns().size().posterior));
  }

  /// The column of data_ that a posterior makes.
  void compile(const double *posterior, double *column) {
    double total = 0;
    columns().for_each_group([&]<class F>(const ColumnGroup<F> &group) {
      double *const bases = column + 1 + group.first;
      F::predictive_forms(group.families, posterior + group.posterior,
                          column + form_row(group.forms), bases);
      for (std::size_t c = 0; c < group.columns.size(); ++c) total += bases[c];
    });
    column[0] = total;
  }
  void refresh(int slot) {
    columns().for_each([&](int, const auto &family, const ColumnPlaces &at) {
      family.posterior(statistics_of(slot) + at.statistics, prior_.values.data() + at.posterior,
                       posterior_of(slot) + at.posterior);
    });
    compile(posterior_of(slot), scratch_.data());
    put(slot, scratch_.data());
  }

  double row_base(const double *x) const {
    double total = 0;
    columns().for_each_group([&]<class F>(const ColumnGroup<F> &group) {
      if constexpr (F::has_base)
        for (const int j : group.columns)
          if (x[j] == x[j]) total += F::log_base(x[j]);
    });
    return total;
  }
  void subtract(std::size_t column, double *out) const {
    for (int slot = 0; slot < size_; slot += simd::lanes)
      simd::store(out + slot, simd::load(out + slot) - simd::load(row(1 + column) + slot));
  }
  template <class F, int N>
  void add_terms(const Term *terms, int count, int slot, double *out) const {
    simd::Vector sum[N];
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) sum[v] = simd::load(out + slot + v * simd::lanes);
    for (int t = 0; t < count; ++t) {
      const double *const at = row(terms[t].row) + slot;
#pragma GCC unroll 4
      for (int v = 0; v < N; ++v)
        sum[v] += F::predictive_term(
            [&](int i) {
              return simd::load(at + std::size_t(i) * std::size_t(capacity_) + v * simd::lanes);
            },
            terms[t].x);
    }
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) simd::store(out + slot + v * simd::lanes, sum[v]);
  }
  /// The same for one cluster, whose numbers lie `stride` apart.
  double log_predictive(const double *x, const double *column, std::size_t stride) const {
    double total = column[0] + row_base(x);
    columns().for_each_group([&]<class F>(const ColumnGroup<F> &group) {
      for (std::size_t c = 0; c < group.columns.size(); ++c) {
        const int j = group.columns[c];
        const std::size_t first = form_row(columns().place(j).forms);
        if (x[j] != x[j]) {
          total -= column[(1 + std::size_t(group.first) + c) * stride];
          continue;
        }
        const double element = group.families[c].element(x[j]);
        if (!F::zero_is_base || element != 0)
          total += F::predictive_term(
              [&](int i) { return column[(first + std::size_t(i)) * stride]; }, element);
      }
    });
    return total;
  }

  ProductPosterior prior_;
  std::vector<double> empty_, scratch_, prior_column_;
  int size_ = 0, capacity_ = 0;
  Buffer data_;
  std::vector<double> counts_, bases_, statistics_, posteriors_;
  Saved saved_{};
};

}  // namespace bayes
