#include "partition/partition_table.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace bayes {

double WeightedRows::total() const { return std::accumulate(weight.begin(), weight.end(), 0.0); }

// Rows are looked up by a hash of their labels and compared label by label, so the hash affects
// only the time.
Patterns::Patterns(const PartitionDraws &draws, Control &control)
    : of_row(std::size_t(draws.rows())) {
  const std::size_t n = std::size_t(draws.rows());
  std::vector<std::uint64_t> hash(n);
  for (int m = 0; m < draws.size(); ++m) {
    const auto labels = draws.labels(m);
    for (std::size_t i = 0; i < n; ++i) {
      if (i % (1 << 20) == 0) control.poll();
      const std::uint64_t mixed = (hash[i] ^ labels[i]) * 0x9e3779b97f4a7c15u;
      hash[i] = mixed ^ (mixed >> 29);
    }
  }
  std::size_t slots = 2;
  while (slots < 2 * n) slots *= 2;
  constexpr std::uint32_t none = ~std::uint32_t(0);
  std::vector<std::uint32_t> slot(slots, none);
  for (std::size_t i = 0; i < n; ++i) {
    if (i % (1 << 14) == 0) control.poll();
    const auto same = [&](std::size_t other) {
      if (hash[i] != hash[other]) return false;
      for (int m = 0; m < draws.size(); ++m)
        if (draws.labels(m)[i] != draws.labels(m)[other]) return false;
      return true;
    };
    std::size_t at = (hash[i] * 0xd6e8feb86659fd93u >> 20) & (slots - 1);
    while (slot[at] != none && !same(rows.row[slot[at]])) at = (at + 1) & (slots - 1);
    if (slot[at] == none) {
      slot[at] = std::uint32_t(rows.size());
      rows.row.push_back(std::uint32_t(i));
      rows.weight.push_back(0);
    }
    of_row[i] = slot[at];
    ++rows.weight[slot[at]];
  }
}

int densify(std::span<const int> labels, std::vector<int> &dense) {
  std::unordered_map<int, int> number;
  dense.resize(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i)
    dense[i] = number.emplace(labels[i], int(number.size())).first->second;
  return int(number.size());
}

Comparison::Comparison(const PartitionDraws &draws, const WeightedRows &rows, Control &control)
    : draws_(draws),
      rows_(rows),
      control_(control),
      total_(rows.total()),
      draw_first_(1, 0) {
  for (int m = 0; m < draws.size(); ++m) {
    draw_first_.push_back(draw_first_.back() + std::size_t(draws.clusters(m)));
    most_ = std::max(most_, std::size_t(draws.clusters(m)));
  }
  draw_size_.assign(draw_first_.back(), 0);
  count_.assign(4 * most_, 0);
  for (int m = 0; m < draws.size(); ++m) {
    const auto labels = draws.labels(m);
    double *const sizes = draw_size_.data() + draw_first_[std::size_t(m)];
    for (std::size_t p = 0; p < rows.size(); ++p) {
      if (p % (1 << 18) == 0) control.poll();
      sizes[labels[rows.row[p]]] += rows.weight[p];
    }
  }
}

template <class Label> void Comparison::set(std::span<const Label> labels, int clusters) {
  const std::size_t rows = labels.size();
  first_.assign(std::size_t(clusters) + 1, 0);
  size_.assign(std::size_t(clusters), 0);
  for (std::size_t p = 0; p < rows; ++p) {
    if (p % (1 << 18) == 0) control_.poll();
    ++first_[std::size_t(labels[p]) + 1];
    size_[std::size_t(labels[p])] += rows_.weight[p];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  order_.resize(rows);
  row_.resize(rows);
  weight_.resize(rows);
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t p = 0; p < rows; ++p) {
    if (p % (1 << 18) == 0) control_.poll();
    const std::uint32_t at = next[std::size_t(labels[p])]++;
    order_[at] = std::uint32_t(p);
    row_[at] = rows_.row[p];
    weight_[at] = rows_.weight[p];
  }
}

template void Comparison::set(std::span<const int>, int);

void Comparison::set_draw(int draw) {
  const auto labels = draws_.labels(draw);
  std::vector<std::uint16_t> own(rows_.size());
  for (std::size_t p = 0; p < own.size(); ++p) own[p] = labels[rows_.row[p]];
  set<std::uint16_t>(own, draws_.clusters(draw));
}

// Calls visit(cluster, first, last) for every nonempty cluster of the partition: its rows are first
// .. last - 1 in the order of clusters, and count_ has their numbers in each of the draw's
// clusters.
template <class Visit> void Comparison::tables(int draw, Visit &&visit) const {
  constexpr std::size_t stretch = 1 << 18;
  const std::uint16_t *const label = draws_.labels(draw).data();
  const std::uint32_t *const row = row_.data(), *const weight = weight_.data();
  std::uint32_t *const count = count_.data();
  const std::size_t own = std::size_t(draws_.clusters(draw));
  for (std::size_t c = 0; c + 1 < first_.size(); ++c) {
    const std::size_t first = first_[c], last = first_[c + 1];
    if (first == last) continue;
    for (std::size_t begin = first; begin < last; begin += stretch) {
      if (begin > first) control_.poll();
      const std::size_t end = std::min(begin + stretch, last);
      std::size_t r = begin;
      // Four counters per cluster, used in turn: neighbouring rows often have the same label, and
      // would form a dependency chain.
      if (8 * own < end - begin) {
        std::uint32_t *const count_b = count + most_, *const count_c = count_b + most_,
                             *const count_d = count_c + most_;
        for (; r + 4 <= end; r += 4) {
          count[label[row[r]]] += weight[r];
          count_b[label[row[r + 1]]] += weight[r + 1];
          count_c[label[row[r + 2]]] += weight[r + 2];
          count_d[label[row[r + 3]]] += weight[r + 3];
        }
        for (std::size_t k = 0; k < own; ++k) {
          count[k] += count_b[k] + count_c[k] + count_d[k];
          count_b[k] = count_c[k] = count_d[k] = 0;
        }
      }
      for (; r < end; ++r) count[label[row[r]]] += weight[r];
    }
    visit(c, first, last);
    if (own < last - first)
      std::fill_n(count, own, 0);
    else
      for (std::size_t r = first; r < last; ++r) count[label[row[r]]] = 0;
  }
}

template <class Loss> double Comparison::distance(int draw) const {
  const std::uint16_t *const label = draws_.labels(draw).data();
  const double *const sizes = draw_sizes(draw);
  const std::size_t own = std::size_t(draws_.clusters(draw));
  double sum = 0;
  tables(draw, [&](std::size_t c, std::size_t first, std::size_t last) {
    if (own < last - first) {
      for (std::size_t k = 0; k < own; ++k)
        if (count_[k] > 0) sum += Loss::term(count_[k], size_[c], sizes[k]);
    } else {
      for (std::size_t r = first; r < last; ++r) {
        const std::size_t k = label[row_[r]];
        if (count_[k] > 0) sum += Loss::term(count_[k], size_[c], sizes[k]);
        count_[k] = 0;
      }
    }
  });
  return sum * Loss::scale(total_);
}

template <class Loss> double Comparison::mean(double limit) const {
  double sum = 0;
  for (int m = 0; m < draws_.size(); ++m) {
    control_.poll();
    sum += distance<Loss>(m);
    if (sum > limit * draws_.size()) return std::numeric_limits<double>::infinity();
  }
  return sum / draws_.size();
}

template double Comparison::distance<RandLoss>(int) const;
template double Comparison::distance<InformationLoss>(int) const;
template double Comparison::mean<RandLoss>(double) const;
template double Comparison::mean<InformationLoss>(double) const;

void Comparison::add_probability(int draw, std::span<double> sum) const {
  const std::uint16_t *const label = draws_.labels(draw).data();
  const double *const sizes = draw_sizes(draw);
  tables(draw, [&](std::size_t c, std::size_t first, std::size_t last) {
    for (std::size_t r = first; r < last; ++r) {
      const std::size_t k = label[row_[r]];
      sum[order_[r]] += size_[c] > 1 ? (count_[k] - 1) / (size_[c] - 1) : sizes[k] == 1 ? 1 : 0;
    }
  });
}

}  // namespace bayes
