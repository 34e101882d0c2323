#include "families/product/product_scorer.hpp"

#include "base/simd.hpp"
#include "data/remote_rows.hpp"
#include "families/holes.hpp"
#include "families/product/column_families.hpp"
#include "families/product/product_document.hpp"

namespace bayes {

ProductScorer::ProductScorer(SharedColumns columns, Matrix terms, Matrix constants)
    : columns_(std::move(columns)),
      k_(int(terms.cols())),
      terms_(std::move(terms)),
      constants_(std::move(constants)),
      constant_(k_) {
  for (int k = 0; k < k_; ++k) {
    double total = 0;
    for (Eigen::Index j = 0; j < constants_.rows(); ++j) total += constants_(j, k);
    constant_(k) = total;
  }
}

void ProductScorer::score(const double *x, double *out) const {
  double carrier = 0;
  std::copy(constant_.data(), constant_.data() + k_, out);
  for_each_family(*columns_, [&]<class F>(int j, const F &family, const ColumnOffsets &at) {
    if (x[j] != x[j]) {
      for (int k = 0; k < k_; ++k) out[k] -= constants_(j, k);
      return;
    }
    const double element = family.element(x[j]);
    if constexpr (F::has_carrier) carrier += family.log_carrier(element);
    for (int k = 0; k < k_; ++k) out[k] += family.term(terms_.col(k).data() + at.terms, element);
  });
  for (int k = 0; k < k_; ++k) out[k] += carrier;
}

double ProductScorer::sums_per_component(const Columns &columns) {
  return double(columns.size().sums) * simd::sum_lanes + columns.count();
}

std::size_t ProductScorer::raw_size() const {
  return std::size_t(k_) *
         (std::size_t(columns_->size().sums) + std::size_t(columns_->count()) + 1);
}

ProductStatistics ProductScorer::statistics(const std::vector<double> &counts,
                                            const std::vector<double> &raw) const {
  Statistics out{columns_, Vector(k_), Matrix(columns_->size().statistics, k_), Vector(k_)};
  const double *at = raw.data();
  for (int k = 0; k < k_; ++k) {
    out.count(k) = counts[std::size_t(k)];
    const double *const sums = at, *missing = at + columns_->size().sums;
    columns_->for_each([&](int, const Column &column, const ColumnOffsets &offsets) {
      // If nearly all weight is missing, the difference is rounding error.
      double weight = out.count(k) - *missing++;
      if (!(weight > 1e-12 * out.count(k))) weight = 0;
      column.statistics(weight, sums + offsets.sums, terms_.col(k).data() + offsets.terms,
                        out.values.col(k).data() + offsets.statistics);
    });
    at = missing;
    out.carrier(k) = *at++;
  }
  return out;
}

Document ProductScorer::message() const {
  Document out = Document::object();
  out.set("family", "product").set("dimension", columns_->count()).set("components", k_);
  write_columns(out, *columns_);
  out.set("terms", numbers_document({terms_.data(), std::size_t(terms_.size())}));
  out.set("constants", numbers_document({constants_.data(), std::size_t(constants_.size())}));
  return out;
}

ProductScorer ProductScorer::from_message(const Document &message) {
  const PassReader given(message);
  const int d = int(given.integer("dimension", 1, 1 << 24)),
            k = int(given.integer("components", 1, 1 << 24));
  const SharedColumns columns = read_product_columns(MemberReader(message), d);
  const auto matrix = [&](const char *key, int rows) {
    const auto &numbers = given.numbers(key, std::size_t(rows) * std::size_t(k));
    return Matrix(Eigen::Map<const Matrix>(numbers.data(), rows, k));
  };
  return {columns, matrix("terms", columns->size().terms), matrix("constants", d)};
}

ProductScorer::Worker::Worker(const ProductScorer &scorer)
    : scorer_(scorer),
      columns_(*scorer.columns_),
      sums_(sum_doubles() * std::size_t(scorer.k_)),
      missing_(std::size_t(columns_.count()) * std::size_t(scorer.k_)),
      carrier_(std::size_t(scorer.k_)),
      row_carrier_(block_rows),
      scratch_(block_rows) {
  for_each_group(columns_, [&](const auto &group) {
    for (const int j : group.columns) order_.push_back(j);
  });
  x_.resize(order_.size());
  hole_.assign(order_.size(), nullptr);
  with_holes_.resize(order_.size());
}

std::size_t ProductScorer::Worker::sum_doubles() const {
  return std::size_t(columns_.size().sums) * simd::sum_lanes;
}

void ProductScorer::Worker::prepare(const double *block) {
  std::size_t filled = 0;
  holes_ = false;
  find_holes(columns_.count(), block, with_holes_.data());
  for_each_group(columns_, [&](const auto &group) {
    for (std::size_t i = 0; i < group.columns.size(); ++i) {
      const std::size_t c = std::size_t(group.first) + i;
      const double *const x = block + std::size_t(group.columns[i]) * block_rows;
      x_[c] = x;
      hole_[c] = nullptr;
      const bool hole = with_holes_[std::size_t(group.columns[i])] != 0;
      holes_ |= hole;
      if (hole || !group.families[i].plain()) fill(group.families[i], c, x, filled++, hole);
    }
  });
  std::fill(row_carrier_.begin(), row_carrier_.end(), 0.0);
  for_each_group(columns_, [&]<class F>(const ColumnGroup<F> &group) {
    if constexpr (F::has_carrier)
      for (std::size_t c = 0; c < group.columns.size(); ++c)
        group.families[c].add_carriers(x_[std::size_t(group.first) + c], row_carrier_.data());
  });
}

void ProductScorer::Worker::score(const double *, int k, double *out) {
  for (int b = 0; b < block_rows; ++b) out[b] = scorer_.constant_(k) + row_carrier_[std::size_t(b)];
  const double *const terms = scorer_.terms_.col(k).data();
  for_each_run([&]<class F>(const ColumnGroup<F> &group, std::size_t first, std::size_t size,
                            const ColumnOffsets &at) {
    const std::size_t c = std::size_t(group.first) + first;
    const std::span<const F> families(group.families.data() + first, size);
    if (!hole_[c]) return F::add_terms(families, x_.data() + c, terms + at.terms, out);
    std::fill(scratch_.begin(), scratch_.end(), 0.0);
    F::add_terms(families, x_.data() + c, terms + at.terms, scratch_.data());
    const double constant = scorer_.constants_(group.columns[first], k);
    const simd::Vector without = simd::all(-constant);
    for (int b = 0; b < block_rows; b += simd::lanes) {
      const simd::Vector term = simd::load(scratch_.data() + b);
      simd::store(out + b, simd::load(out + b) +
                               (simd::load(hole_[c] + b) != simd::Vector{} ? without : term));
    }
  });
}

void ProductScorer::Worker::accumulate(const double *, int k, const double *r) {
  simd::Vector most = {}, carrier[simd::registers] = {};
  for (int b = 0; b < block_rows; b += simd::lanes) {
    most = simd::max(most, simd::load(r + b));
    carrier[b / simd::lanes % simd::registers] +=
        simd::load(r + b) * simd::load(row_carrier_.data() + b);
  }
  bool any = false;
  for (int i = 0; i < simd::lanes; ++i) any |= most[i] > 0;
  if (!any) return;
  carrier_[std::size_t(k)] += simd::sum(carrier);
  const double *const terms = scorer_.terms_.col(k).data();
  double *const sums = sums_.data() + std::size_t(k) * sum_doubles();
  for_each_run([&]<class F>(const ColumnGroup<F> &group, std::size_t first, std::size_t size,
                            const ColumnOffsets &at) {
    const std::size_t c = std::size_t(group.first) + first;
    const double *weight = r;
    if (hole_[c]) {
      simd::Vector lost[simd::registers] = {};
      for (int b = 0; b < block_rows; b += simd::lanes) {
        const simd::Vector own = simd::load(r + b), miss = simd::load(hole_[c] + b) * own;
        lost[b / simd::lanes % simd::registers] += miss;
        simd::store(scratch_.data() + b, own - miss);
      }
      missing_[std::size_t(k) * order_.size() + c] += simd::sum(lost);
      weight = scratch_.data();
    }
    F::add_sums(std::span<const F>(group.families.data() + first, size), x_.data() + c,
                terms + at.terms, weight, sums + std::size_t(at.sums) * simd::sum_lanes);
  });
}

void ProductScorer::Worker::clear() {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  std::fill(missing_.begin(), missing_.end(), 0.0);
  std::fill(carrier_.begin(), carrier_.end(), 0.0);
}

void ProductScorer::Worker::reduce(double *raw) const {
  const std::size_t size = std::size_t(columns_.size().sums);
  for (int k = 0; k < scorer_.k_; ++k) {
    const double *const from = sums_.data() + std::size_t(k) * sum_doubles();
    for (std::size_t i = 0; i < size; ++i) *raw++ += simd::sum(from + i * simd::sum_lanes);
    for (std::size_t c = 0; c < order_.size(); ++c)
      *raw++ += missing_[std::size_t(k) * order_.size() + c];
    *raw++ += carrier_[std::size_t(k)];
  }
}

template <class F>
void ProductScorer::Worker::fill(const F &family, std::size_t c, const double *x,
                                 std::size_t filled, bool holes) {
  if (filled_.size() <= filled) filled_.emplace_back(2 * block_rows);
  double *const to = filled_[filled].data();
  family.elements(x, to);
  for (int b = 0; b < block_rows; ++b) to[block_rows + b] = x[b] == x[b] ? 0 : 1;
  x_[c] = to;
  if (holes) hole_[c] = to + block_rows;
}

template <class Function> void ProductScorer::Worker::for_each_run(Function f) const {
  for_each_group(columns_, [&](const auto &group) {
    const std::size_t n = group.columns.size(), step = holes_ ? 1 : n;
    for (std::size_t c = 0; c < n; c += step) f(group, c, step, columns_.offsets(group.columns[c]));
  });
}

ProductScorer make_scorer(const ProductPoint &point) {
  Matrix terms(point.columns->size().terms, point.values.cols()),
      constants(point.columns->count(), point.values.cols());
  detail::for_each_column(
      *point.columns, point.values.cols(),
      [&](Eigen::Index k, int j, const Column &column, const ColumnOffsets &at) {
        constants(j, k) = column.point_terms(point.values.col(k).data() + at.point,
                                             terms.col(k).data() + at.terms);
      });
  return {point.columns, std::move(terms), std::move(constants)};
}

ProductScorer make_scorer(const ProductPosterior &q) {
  Matrix terms(q.columns->size().terms, q.values.cols()),
      constants(q.columns->count(), q.values.cols());
  detail::for_each_column(
      *q.columns, q.values.cols(),
      [&](Eigen::Index k, int j, const Column &column, const ColumnOffsets &at) {
        constants(j, k) = column.expected_terms(q.values.col(k).data() + at.posterior,
                                                terms.col(k).data() + at.terms);
      });
  return {q.columns, std::move(terms), std::move(constants)};
}

}  // namespace bayes
