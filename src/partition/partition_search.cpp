#include "partition/partition_search.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <unordered_map>

#include "base/random.hpp"
#include "partition/partition_state.hpp"

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

namespace {

constexpr std::size_t enumerated_patterns = 8;  // 4140 partitions
constexpr double exhaustive_work = 3e8;         // rows x draws x partitions
// rows x draws of a sample; up to twice as many are searched without sampling
constexpr double table_entries = 1 << 18;
constexpr double min_sample = 1000;   // at least so many rows, and draws, of a sample
constexpr double large_share = 0.01;  // of the rows: a large cluster
constexpr std::size_t samples = 4, starts = 64, max_found = 2;
// Of more draws only so many are searched; the best partitions found, with different numbers of
// clusters, are compared over all draws, and improved if patterns x draws is small enough.
constexpr int max_searched = 500;
constexpr std::size_t max_candidates = 4;
constexpr double max_improved_entries = 1 << 21;

// Work budgets in table entries: for samples, for all rows, and for comparing draws. About 10^9
// take a second.
constexpr double sample_work = 2.5e8, full_work = 8e8, check_work = 2e9;

std::vector<std::uint32_t> shuffled(std::size_t n, Random &random) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

// All partitions of n patterns, as restricted growth strings.
template <class Visit>
void each_partition(std::vector<int> &labels, std::size_t next, int clusters, Visit &&visit) {
  if (next == labels.size()) return visit(clusters);
  for (int c = 0; c <= clusters; ++c) {
    labels[next] = c;
    each_partition(labels, next + 1, std::max(clusters, c + 1), visit);
  }
}

template <class Loss> class PartitionSearch {
 public:
  PartitionSearch(const PartitionDraws &draws, const Patterns &patterns, std::uint64_t seed,
                  Control &control)
      : draws_(draws),
        patterns_(patterns),
        comparison_(draws, patterns.rows, control),
        random_(seed, 0, 0, 0x70617274),
        control_(control),
        work_(control) {
    for (int m = 0; m < draws.size(); ++m)
      max_clusters_ = std::max(max_clusters_, std::size_t(draws.clusters(m)));
    few_ = std::max(few_, 2 * max_clusters_);
  }

  bool exhaustible() const {
    const std::size_t p = patterns_.rows.size();
    constexpr double partitions[enumerated_patterns + 1] = {1, 1, 2, 5, 15, 52, 203, 877, 4140};
    return p <= enumerated_patterns && partitions[p] * double(p) * draws_.size() <= exhaustive_work;
  }

  PatternPartition run() {
    if (exhaustible()) {
      std::vector<int> labels(patterns_.rows.size());
      each_partition(labels, 0, 0, [&](int clusters) { offer(labels, clusters); });
      best_.optimal = true;
      return best_;
    }
    search();
    check_draws();
    best_.optimal = min_loss_ == 0;
    return best_;
  }

  // After run(): the best partition, and the best with other numbers of clusters.
  std::vector<std::vector<int>> candidates() {
    others_.insert(others_.begin(), best_.labels);
    return std::move(others_);
  }

  // The best of these partitions of the patterns, improved.
  PatternPartition best_of(const std::vector<std::vector<int>> &candidates) {
    const bool improved = double(patterns_.rows.size()) * draws_.size() <= max_improved_entries;
    for (const std::vector<int> &labels : candidates) {
      offer(labels, *std::max_element(labels.begin(), labels.end()) + 1);
      if (improved) improve_from({labels.begin(), labels.end()}, full_work / 16);
    }
    best_.optimal = min_loss_ == 0;
    return best_;
  }

 private:
  // Accepts the partition if its exact expected loss is smaller than that of the best one so far.
  bool offer(std::span<const int> labels, int clusters) {
    comparison_.set(labels, clusters);
    const double loss = comparison_.mean<Loss>(min_loss_);
    if (!(loss < min_loss_)) return false;
    min_loss_ = loss;
    best_ = {{labels.begin(), labels.end()}, clusters, false};
    return true;
  }
  bool offer(const std::vector<std::uint32_t> &clusters) {
    control_.poll();
    std::vector<int> labels;
    const int count = number_clusters(clusters, labels);
    return offer(labels, count);
  }
  // Dense labels, with hidden patterns as clusters of their own. Returns the number of clusters.
  int number_clusters(const std::vector<std::uint32_t> &clusters, std::vector<int> &labels) const {
    // an upper bound of the cluster numbers
    std::vector<int> number(clusters.size() + max_clusters_, -1);
    int count = 0;
    for (const std::uint32_t c : clusters) {
      if (c == no_cluster) {
        labels.push_back(count++);
        continue;
      }
      if (number[c] < 0) number[c] = count++;
      labels.push_back(number[c]);
    }
    return count;
  }

  // Moves and merges until none improves, or the work budget is spent.
  template <class Order> void improve(SearchState<Loss> &state, Order &&order) {
    for (bool better = true; better && !work_.done();) {
      while (state.sweep(order(), true) > 0)
        for (int i = 0; i < 20 && state.sweep(order(), false) > 0; ++i) {
        }
      better = false;
      while (!work_.done() && state.merge()) better = true;
      if (!better) better = state.gather(order()) > 0;
    }
  }

  // Draws ordered by expected loss, estimated from a sample of rows and other draws; up to 1000 of
  // those given.
  std::vector<int> promising(const WeightedRows &rows, std::vector<int> draws) {
    WeightedRows few;
    for (const std::uint32_t i : shuffled(rows.size(), random_)) {
      if (few.size() == 500) break;
      few.row.push_back(rows.row[i]);
      few.weight.push_back(rows.weight[i]);
    }
    if (draws.size() > 1000) draws.resize(1000);
    Comparison comparison(draws_, few, control_);
    std::vector<std::pair<double, int>> ranked;
    const std::size_t step = std::max<std::size_t>(1, draws.size() / 100);
    for (const int d : draws) {
      control_.poll();
      comparison.set_draw(d);
      double sum = 0;
      for (std::size_t j = 0; j < draws.size(); j += step)
        sum += comparison.distance<Loss>(draws[j]);
      ranked.emplace_back(sum, d);
    }
    std::sort(ranked.begin(), ranked.end());
    for (std::size_t i = 0; i < draws.size(); ++i) draws[i] = ranked[i].second;
    return draws;
  }

  // Many starts in a small enough table. If that is a sample of rows or draws, several samples are
  // used, as the best partition of one need not be the best overall; their best partitions are
  // extended to all rows, and the best of these improved by moving all rows.
  void search() {
    const double entries = double(patterns_.rows.size()) * draws_.size();
    if (entries <= 2 * table_entries) {
      Sample whole{patterns_.rows, {}, shuffled_draws()};
      candidates_ = promising(whole.rows, whole.draws);
      const std::vector<Found> found = search_sample(whole, sample_work, 0, max_candidates);
      offer(found[0].clusters);
      for (std::size_t i = 1; i < found.size(); ++i)
        number_clusters(found[i].clusters, others_.emplace_back());
      return;
    }
    std::vector<std::uint32_t> best;
    for (std::size_t i = 0; i < samples; ++i) {
      const Sample sample = draw_sample();
      if (i == 0) candidates_ = promising(sample.rows, sample.draws);
      const std::vector<Found> found = search_sample(sample, sample_work / samples, i, max_found);
      work_.allow(full_work / samples);
      for (const Found &each : found) {
        std::vector<std::uint32_t> extended = extend(sample, each.clusters);
        if (offer(extended)) best = std::move(extended);
      }
    }
    improve_from(best, full_work);
  }

  struct Sample {
    WeightedRows rows;
    std::vector<std::uint32_t> pattern;  // of each row
    std::vector<int> draws;
  };

  std::vector<int> shuffled_draws() {
    const std::vector<std::uint32_t> order = shuffled(std::size_t(draws_.size()), random_);
    return {order.begin(), order.end()};
  }

  // Rows are drawn with replacement, so patterns have weights in the sample too.
  Sample draw_sample() {
    const std::size_t p = patterns_.rows.size();
    Sample sample{{}, {}, shuffled_draws()};
    std::vector<std::uint32_t> weight = patterns_.rows.weight;
    const double wanted = std::max(min_sample, table_entries / draws_.size());
    if (double(p) > wanted) {
      weight.assign(p, 0);
      for (double i = 0; i < wanted; ++i)
        ++weight[patterns_.of_row[random_.below(patterns_.of_row.size())]];
    }
    for (std::size_t q = 0; q < p; ++q) {
      if (weight[q] == 0) continue;
      sample.rows.row.push_back(patterns_.rows.row[q]);
      sample.rows.weight.push_back(weight[q]);
      sample.pattern.push_back(std::uint32_t(q));
    }
    sample.draws.resize(
        std::min(sample.draws.size(),
                 std::size_t(std::max(min_sample, table_entries / double(sample.rows.size())))));
    return sample;
  }

  struct Found {
    double loss;
    std::size_t large;  // number of large clusters
    std::vector<std::uint32_t> clusters;
  };

  // The best partitions found for a sample, each with a different number of large clusters, the
  // best first. Starts alternate between promising draws and rows that join clusters one by one in
  // random order; one puts all rows into one cluster. Later samples start later in this list.
  std::vector<Found> search_sample(const Sample &sample, double work, std::size_t first,
                                   std::size_t most) {
    const WeightedRows &rows = sample.rows;
    const Table table(draws_, rows, sample.draws, work_);
    SearchState<Loss> state(table, few_, work_);
    const auto order = [&] { return shuffled(rows.size(), random_); };
    std::vector<Found> found;
    const double large_size = large_share * rows.total();
    work_.allow(work);
    for (std::size_t s = first; s < first + starts && (s == first || !work_.done()); ++s) {
      std::vector<std::uint32_t> clusters(rows.size(), no_cluster);
      if (s == 5) {
        clusters.assign(rows.size(), 0);
      } else if (s % 2 == 0) {
        const auto labels = draws_.labels(candidates_[s / 2 % candidates_.size()]);
        for (std::size_t i = 0; i < rows.size(); ++i) clusters[i] = labels[rows.row[i]];
      }
      state.start(clusters);
      state.gather(order());
      improve(state, order);
      const double loss = state.loss();
      const std::vector<double> size = sizes(state.clusters(), rows);
      const std::size_t large = std::size_t(
          std::count_if(size.begin(), size.end(), [&](double s) { return s >= large_size; }));
      const auto same = std::find_if(found.begin(), found.end(),
                                     [&](const Found &other) { return other.large == large; });
      if (same == found.end())
        found.push_back({loss, large, state.clusters()});
      else if (loss < same->loss)
        *same = {loss, large, state.clusters()};
    }
    std::sort(found.begin(), found.end(),
              [](const Found &a, const Found &b) { return a.loss < b.loss; });
    if (found.size() > most) found.resize(most);
    return found;
  }

  // Extends a partition of a sample to all rows: every other pattern joins its best cluster,
  // cluster sizes being scaled up to all rows, which leaves the tables unchanged. The large
  // clusters are tried first. A pattern that gains more in one of them than it could with all rows
  // of a smaller one, M gain(n_c) - 2 M gain(n_c), need not be compared with the smaller ones,
  // which are more numerous.
  std::vector<std::uint32_t> extend(const Sample &sample, const std::vector<std::uint32_t> &found) {
    const WeightedRows &rows = sample.rows;
    const std::vector<std::uint32_t> &pattern = sample.pattern;
    const std::size_t p = patterns_.rows.size();
    const double factor = std::max(1.0, patterns_.rows.total() / rows.total());
    const std::vector<double> size = sizes(found, rows);
    const std::vector<char> is_large = largest(size);
    std::vector<std::uint32_t> clusters(p, no_cluster), weight(p, 0);
    const bool tiers = std::count(is_large.begin(), is_large.end(), 1) > 32;
    const double large_size = large_share * rows.total();
    const auto is_small = [&](std::uint32_t c) { return tiers && size[c] < large_size; };
    double small = 0;  // size of the largest small cluster
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (found[i] == no_cluster || !is_large[found[i]]) continue;
      clusters[pattern[i]] = found[i];
      weight[pattern[i]] = std::uint32_t(factor * rows.weight[i]);
      if (is_small(found[i])) small = std::max(small, factor * size[found[i]]);
    }
    if (rows.size() == p) return clusters;
    SearchState<Loss> &state = full_state();
    std::vector<std::uint32_t> large = clusters;
    for (std::uint32_t &c : large)
      if (c != no_cluster && is_small(c)) c = no_cluster;
    state.start(large, weight);
    std::vector<std::uint32_t> open;
    for (std::size_t q = 0; q < p && !work_.done(); ++q) {
      if (weight[q] > 0) continue;
      large[q] = state.best(q);
      if (tiers &&
          state.cost() > -double(draws_.size()) * Loss::gain(small, patterns_.rows.weight[q]))
        open.push_back(std::uint32_t(q));
    }
    if (tiers) state.start(clusters, weight);
    for (const std::uint32_t q : open)
      if (!work_.done()) large[q] = state.best(q);
    for (std::size_t q = 0; q < p; ++q)
      if (weight[q] == 0) clusters[q] = large[q];
    return clusters;
  }

  static std::vector<double> sizes(const std::vector<std::uint32_t> &clusters,
                                   const WeightedRows &rows) {
    std::vector<double> size;
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      if (clusters[i] == no_cluster) continue;
      if (size.size() <= clusters[i]) size.resize(clusters[i] + 1, 0);
      size[clusters[i]] += rows.weight[i];
    }
    return size;
  }

  // Marks the up to few_ largest clusters of more than one row.
  std::vector<char> largest(const std::vector<double> &size) const {
    std::vector<std::size_t> order(size.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return size[a] > size[b]; });
    if (order.size() > few_) order.resize(few_);
    std::vector<char> is_large(size.size(), 0);
    for (const std::size_t c : order) is_large[c] = size[c] > 1;
    return is_large;
  }

  // Ensures that no draw is better than the estimate, comparing the most promising ones first.
  void check_draws() {
    std::vector<char> queued(std::size_t(draws_.size()), 0);
    for (const int d : candidates_) queued[std::size_t(d)] = 1;
    for (int d = 0; d < draws_.size(); ++d)
      if (!queued[std::size_t(d)]) candidates_.push_back(d);
    // The distance of each pair is computed once and added to both sums. A draw is eliminated as
    // soon as its sum is too large.
    std::vector<double> sum(candidates_.size(), 0);
    const auto out = [&](std::size_t i) { return sum[i] > min_loss_ * draws_.size(); };
    double left = check_work;
    for (std::size_t a = 0; a < sum.size() && (left > 0 || best_.labels.empty()); ++a) {
      std::size_t next = a;
      while (next < sum.size() && out(next)) ++next;
      if (next == sum.size()) break;
      comparison_.set_draw(candidates_[a]);
      for (std::size_t b = a + 1; b < sum.size(); ++b) {
        if (out(a) && out(b)) continue;
        const double distance = comparison_.distance<Loss>(candidates_[b]);
        const double looked = double(patterns_.rows.size()) +
                              150.0 * draws_.clusters(candidates_[a]) +
                              5 * cells(candidates_[a], candidates_[b]);
        left -= looked;
        work_.spend(looked);
        sum[a] += distance;
        sum[b] += distance;
      }
      left -= double(sum.size());
      work_.spend(double(sum.size()));
      if (!out(a)) take_draw(candidates_[a]);
    }
  }

  // An upper bound of the nonzero cells in the contingency table of two draws.
  double cells(int a, int b) const {
    return std::min(double(patterns_.rows.size()), double(draws_.clusters(a)) * draws_.clusters(b));
  }

  // If the draw is better, the search continues from it.
  void take_draw(int draw) {
    std::vector<std::uint32_t> clusters;
    for (const std::uint32_t row : patterns_.rows.row) clusters.push_back(draws_.labels(draw)[row]);
    if (!offer(clusters)) return;
    improve_from(clusters, full_work / 4);
  }

  void improve_from(const std::vector<std::uint32_t> &clusters, double work) {
    work_.allow(work);
    full_state().start(clusters);
    const auto order = in_order();
    improve(
        full_state(), [&]() -> const auto & { return order; });
    offer(full_state().clusters());
  }

  std::vector<std::uint32_t> in_order() const {
    std::vector<std::uint32_t> order(patterns_.rows.size());
    std::iota(order.begin(), order.end(), 0u);
    return order;
  }

  // The search state of all patterns and draws, created when first needed.
  SearchState<Loss> &full_state() {
    if (!state_) {
      std::vector<int> all(std::size_t(draws_.size()));
      std::iota(all.begin(), all.end(), 0);
      table_ = std::make_unique<Table>(draws_, patterns_.rows, all, work_);
      state_ = std::make_unique<SearchState<Loss>>(*table_, few_, work_);
    }
    return *state_;
  }

  const PartitionDraws &draws_;
  const Patterns &patterns_;
  std::size_t max_clusters_ = 0;  // of a draw
  std::size_t few_ = 256;         // see SearchState
  Comparison comparison_;
  Random random_;
  Control &control_;
  Work work_;
  std::vector<int> candidates_;  // draws, the most promising first
  std::unique_ptr<Table> table_;
  std::unique_ptr<SearchState<Loss>> state_;
  PatternPartition best_;
  std::vector<std::vector<int>> others_;  // the best with other numbers of clusters
  double min_loss_ = std::numeric_limits<double>::infinity();
};

}  // namespace

template <class Loss>
PatternPartition search_partition(const PartitionDraws &draws, const Patterns &patterns,
                                  std::uint64_t seed, Control &control) {
  PartitionSearch<Loss> search(draws, patterns, seed, control);
  if (draws.size() <= max_searched || search.exhaustible()) return search.run();
  std::vector<std::vector<int>> candidates;
  {
    const PartitionDraws some = draws.evenly_spaced(max_searched);
    const Patterns of_some(some, control);
    PartitionSearch<Loss> first(some, of_some, seed, control);
    first.run();
    for (const std::vector<int> &labels : first.candidates()) {
      std::vector<int> &own = candidates.emplace_back();
      for (const std::uint32_t row : patterns.rows.row) own.push_back(labels[of_some.of_row[row]]);
    }
  }
  return search.best_of(candidates);
}

template PatternPartition search_partition<RandLoss>(const PartitionDraws &, const Patterns &,
                                                     std::uint64_t, Control &);
template PatternPartition search_partition<InformationLoss>(const PartitionDraws &,
                                                            const Patterns &, std::uint64_t,
                                                            Control &);

}  // namespace bayes
