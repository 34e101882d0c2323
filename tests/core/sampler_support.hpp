// Helpers for the tests of samplers of mixtures: all partitions of a few rows, exact posteriors,
// and comparisons of runs with them.
#pragma once

#include <cstdlib>
#include <functional>
#include <map>

#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_draw.hpp"
#include "partition/samplers.hpp"
#include "product_support.hpp"

namespace samplers {

/// Clusters for which split and merge moves do nothing, so that they cannot hide faults of the rest
/// of a sampler.
template <class Clusters> struct Unmoved : Clusters { using Clusters::Clusters; };
template <class Clusters> inline constexpr bool unmoved = false;
template <class Clusters> inline constexpr bool unmoved<Unmoved<Clusters>> = true;

}  // namespace samplers

template <class Q>
requires samplers::unmoved<typename Q::Clusters>
class bayes::SplitMerge<Q> {
 public:
  SplitMerge(RowSource &, const Q &, std::int64_t) {}
  template <class... Arguments> SplitMergeMove propose(const Arguments &...) { return {}; }
  bool second(std::int64_t) const { return false; }
};

namespace samplers {

using namespace bayes;
using support::distance;
using support::doubtful_rows;
using Labels = std::vector<int>;

/// A prior with such clusters.
template <class Q> struct WithoutMoves : Q {
  using Clusters = Unmoved<typename Q::Clusters>;
  WithoutMoves() = default;
  WithoutMoves(Q q) : Q(std::move(q)) {}
};

/// Monte Carlo tests draw the lines here. A check compares a mean with its exact value by the batch
/// means of a run, in units of their standard error, which has `batches` - 1 degrees of freedom: a
/// right sampler exceeds the line once in 4e8 checks. The suite makes fewer than 10 000, so that it
/// would raise a false alarm once in 40 000 seeds; seeds are fixed besides. How small a fault is
/// found depends on the effort: see support::effort.
inline constexpr int batches = 100;
inline constexpr double largest_z = 6.5;

/// The iterations of a run, in whole batches.
inline int effort(int iterations) {
  return std::max(batches, support::effort(iterations) / batches * batches);
}

/// The same for what needs its full length in the short form too: chains that mix slowly, whose
/// batches would be too short to be independent, and faults that must be found.
inline int full_effort(int iterations) { return std::max(iterations, effort(iterations)); }

/// f(labels, clusters) for every partition of n rows, once; labels count from 0 in the order of
/// their first rows.
template <class F> void for_each_partition(int n, F f) {
  Labels labels(std::size_t(n), 0);
  const std::function<void(int, int)> go = [&](int row, int clusters) {
    if (row == n) return f(std::as_const(labels), clusters);
    for (int k = 0; k <= clusters; ++k) {
      labels[std::size_t(row)] = k;
      go(row + 1, std::max(clusters, k + 1));
    }
  };
  go(0, 0);
}

inline std::vector<double> sizes(std::span<const int> labels) {
  std::vector<double> out;
  for (const int label : labels) {
    if (label >= int(out.size())) out.resize(std::size_t(label) + 1);
    ++out[std::size_t(label)];
  }
  return out;
}

/// A number that identifies the partition: its labels, renumbered in the order of their first rows,
/// as digits.
inline std::int64_t name_of(std::span<const int> labels) {
  int names[64], next = 0;
  std::fill_n(names, 64, -1);
  std::int64_t out = 0;
  for (const int label : labels) {
    int &name = names[label];
    if (name < 0) name = next++;
    out = out * 12 + name;
  }
  return out;
}

/// The distribution of K clusters of n rows under a gamma prior of the concentration: logs of the
/// integral of alpha^K Gamma(alpha) / Gamma(alpha + n), and means of functions of alpha given K. By
/// the trapezoidal rule in log alpha, which is exact to rounding.
struct ConcentrationIntegral {
  GammaPrior prior;
  int n;
  double mean(int k, const std::function<double(double)> &f) const {
    return sum(k, f) / sum(k, [](double) { return 1.0; });
  }
  double log_integral(int k) const {
    return std::log(sum(k, [](double) { return 1.0; })) - std::lgamma(n + 1.0);
  }

 private:
  double sum(int k, const std::function<double(double)> &f) const {
    constexpr double step = 0.02;
    // the last factor avoids overflow
    const double constant =
        prior.shape * std::log(prior.rate) - std::lgamma(prior.shape) + std::lgamma(n + 1.0);
    double total = 0;
    for (double u = -50; u < 12; u += step) {
      const double alpha = std::exp(u);
      total += step * f(alpha) *
               std::exp((prior.shape + k) * u - prior.rate * alpha + std::lgamma(alpha) -
                        std::lgamma(alpha + n) + constant);
    }
    return total;
  }
};

/// The exact posterior of a mixture of a few rows, and the exact means of the quantities compared.
struct Exact {
  int n = 0;
  std::vector<Labels> labels;
  /// log p(rows | partition), log p(rows, partition), p(partition | rows)
  std::vector<double> log_marginal, log_joint, probability;
  double log_evidence = 0;
  std::map<std::int64_t, int> number;
  /// of the quantities
  std::vector<std::string> names;
  /// [partition][quantity]
  std::vector<std::vector<double>> values;
  /// of the quantities
  std::vector<double> means;
  /// means of alpha, log alpha and alpha K; empty if alpha is fixed
  std::vector<double> concentration;

  double mean(const std::function<double(int)> &f) const {
    double total = 0;
    for (std::size_t p = 0; p < labels.size(); ++p) total += probability[p] * f(int(p));
    return total;
  }
};

/// From log p(rows | partition) of every partition. `learned`: the concentration's prior, if it has
/// one.
inline Exact exact_posterior(int n, const PartitionPrior &prior, const GammaPrior *learned,
                             const std::function<double(const Labels &, int)> &log_marginal) {
  Exact out;
  out.n = n;
  std::vector<double> log_integral;
  const ConcentrationIntegral integral{learned ? *learned : GammaPrior{}, n};
  for (int k = 0; k <= n; ++k) log_integral.push_back(learned && k ? integral.log_integral(k) : 0);
  for_each_partition(n, [&](const Labels &labels, int clusters) {
    const std::vector<double> counts = sizes(labels);
    double log_p = prior.log_probability(counts);
    if (!(log_p > -1e300)) return;
    if (learned) {
      log_p = log_integral[std::size_t(clusters)];
      for (const double count : counts) log_p += std::lgamma(count);
    }
    out.number[name_of(labels)] = int(out.labels.size());
    out.labels.push_back(labels);
    out.log_marginal.push_back(log_marginal(labels, clusters));
    out.log_joint.push_back(log_p + out.log_marginal.back());
    std::vector<double> values;
    for (int k = 1; k <= n; ++k) values.push_back(clusters == k);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j)
        values.push_back(labels[std::size_t(i)] == labels[std::size_t(j)]);
    values.push_back(out.log_marginal.back());
    values.push_back(*std::max_element(counts.begin(), counts.end()));
    out.values.push_back(std::move(values));
  });
  for (int k = 1; k <= n; ++k) out.names.push_back("K = " + std::to_string(k));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      out.names.push_back(std::to_string(i) + " with " + std::to_string(j));
  out.names.insert(out.names.end(), {"log marginal", "largest"});
  out.log_evidence = log_sum_exp(out.log_joint);
  for (const double log_joint : out.log_joint)
    out.probability.push_back(std::exp(log_joint - out.log_evidence));
  for (std::size_t q = 0; q < out.names.size(); ++q)
    out.means.push_back(out.mean([&](int p) { return out.values[std::size_t(p)][q]; }));
  if (learned)
    for (const auto &f : std::vector<std::function<double(double, int)>>{
             [](double a, int) { return a; }, [](double a, int) { return std::log(a); },
             [](double a, int k) { return a * k; }}) {
      std::vector<double> given(1);
      for (int k = 1; k <= n; ++k)
        given.push_back(integral.mean(k, [&](double a) { return f(a, k); }));
      out.concentration.push_back(
          out.mean([&](int p) { return given[sizes(out.labels[std::size_t(p)]).size()]; }));
    }
  return out;
}

/// The same for rows of a family: log p(rows | partition) from the rows' statistics, not from the
/// clusters that samplers update.
template <class Q>
Exact exact_posterior(RowSource &rows, const Q &prior, const PartitionPrior &partition,
                      const GammaPrior *learned = nullptr) {
  Control control;
  return exact_posterior(int(rows.rows()), partition, learned, [&](const Labels &labels, int k) {
    return log_marginal_likelihood(statistics_of_labels(rows, prior, labels.data(), k, control),
                                   replicate(prior, k));
  });
}

struct Largest {
  double z = 0;
  std::string what = "nothing";
  void take(double other, const std::string &name) {
    if (std::abs(other) > z || std::isnan(other))
      z = std::isnan(other) ? std::numeric_limits<double>::infinity() : std::abs(other),
      what = name;
  }
};

/// (mean of the batches - exact) in standard errors; 0 for a constant with the right value.
/// `least`: a bound below the standard error, where rare events may be missing from all batches.
inline double z_score(const std::vector<double> &of_batches, double exact, double least = 0) {
  const double b = double(of_batches.size());
  double mean = 0, squares = 0;
  for (const double v : of_batches) mean += v / b;
  for (const double v : of_batches) squares += (v - mean) * (v - mean);
  const double difference = mean - exact, error = std::max(least, std::sqrt(squares / (b - 1) / b));
  if (std::abs(difference) < 1e-10 * std::max(1.0, std::abs(exact))) return 0;
  return difference / error;
}

/// Runs a sampler and compares all quantities' means; the largest difference in standard errors.
/// `sound`: the sampler's report of its partition is checked too.
template <class Sampler>
Largest compare(Sampler &sampler, const Exact &exact, int sweeps, bool sound = true) {
  Control control;
  for (int t = 0; t < 50; ++t) sampler.sweep(t, control);
  const int each = sweeps / batches;
  std::vector<std::vector<double>> visits(batches, std::vector<double>(exact.labels.size())),
      alphas(3, std::vector<double>(batches));
  for (int t = 0; t < sweeps; ++t) {
    sampler.sweep(50 + t, control);
    const auto found = exact.number.find(name_of(sampler.labels()));
    if (found == exact.number.end())
      return {std::numeric_limits<double>::infinity(), "a partition that cannot be"};
    const std::size_t p = std::size_t(found->second), batch = std::size_t(t / each);
    visits[batch][p] += 1.0 / each;
    const double alpha = sampler.concentration();
    alphas[0][batch] += alpha / each, alphas[1][batch] += std::log(alpha) / each,
        alphas[2][batch] += alpha * sampler.clusters() / each;
    if (!sound) continue;
    BOOST_TEST_REQUIRE(std::abs(sampler.log_marginal() - exact.log_marginal[p]) < 1e-8);
    BOOST_TEST_REQUIRE((std::vector<double>(sampler.counts()) == sizes(sampler.labels())));
  }
  Largest out;
  for (std::size_t q = 0; q < exact.names.size(); ++q) {
    const double mean = exact.means[q];
    // The error of a share of fewer than 100 draws is not yet normal.
    if (q + 2 < exact.names.size() && std::min(mean, 1 - mean) * sweeps < 100) continue;
    std::vector<double> of_batches;
    for (const auto &batch : visits) {
      double sum = 0;
      for (std::size_t p = 0; p < batch.size(); ++p)
        if (batch[p] > 0) sum += batch[p] * exact.values[p][q];
      of_batches.push_back(sum);
    }
    out.take(z_score(of_batches, mean), exact.names[q]);
  }
  static const char *const names[] = {"alpha", "log alpha", "alpha K"};
  for (std::size_t i = 0; i < exact.concentration.size(); ++i)
    out.take(z_score(alphas[i], exact.concentration[i]), names[i]);
  return out;
}

/// The same rows as if they were in a file, so that they cannot be read one at a time.
class RowsInFile final : public RowSource {
 public:
  explicit RowsInFile(const Matrix &x) : memory_(support::rows_of(x)) {
    shape_ = memory_.shape();
    rows_ = memory_.rows();
  }
  std::int64_t stretches() const override { return 2; }
  std::span<const Piece> stretch(std::int64_t index) override {
    return index == 0 ? memory_.stretch(0) : std::span<const Piece>();
  }
  void read_block(std::int64_t index, double *out) override { memory_.read_block(index, out); }

 private:
  MemoryRows memory_;
};

/// Split and merge moves alone. `bias`, added to the log marginal likelihood of whole clusters, is
/// a fault to be detected.
template <class Q> class SplitMergeAlone {
 public:
  SplitMergeAlone(RowSource &rows, const Q &prior, SamplerSetting setting, Labels labels,
                  double bias = 0)
      : access_(rows, "test"),
        prior_(prior),
        setting_(std::move(setting)),
        labels_(std::move(labels)),
        bias_(bias),
        moves_(rows, prior_, setting_.max_sequential),
        clusters_(prior_) {
    build();
  }
  void sweep(int index, Control &control) {
    Random random(setting_.seed, 0, std::uint64_t(index), 1);
    const auto move = moves_.propose(
        setting_.partition, labels_.data(), clusters_.size(),
        [&](int k) { return clusters_.log_marginal(k) + bias_; }, random, control);
    if (!move.accepted) return;
    ++(move.split ? splits : merges);
    const int to = move.split ? clusters_.size() : move.first;
    for (std::size_t row = 0; row < labels_.size(); ++row)
      if (labels_[row] == move.second && moves_.second(std::int64_t(row))) labels_[row] = to;
    if (!move.split)
      for (int &label : labels_) label -= label > move.second;
    build();
  }
  std::span<const int> labels() const { return labels_; }
  int clusters() const { return clusters_.size(); }
  std::vector<double> counts() const { return sizes(labels_); }
  double concentration() const { return setting_.partition.concentration(); }
  double log_marginal() const {
    double total = 0;
    for (int k = 0; k < clusters_.size(); ++k) total += clusters_.log_marginal(k);
    return total;
  }
  int splits = 0, merges = 0;

 private:
  void build() {
    while (clusters_.size()) clusters_.close(clusters_.size() - 1);
    std::vector<double> x(std::size_t(access_.dimension()));
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      while (clusters_.size() <= labels_[i]) clusters_.open();
      access_.read(std::int64_t(i), x.data());
      clusters_.add(labels_[i], x.data());
    }
  }
  RowAccess access_;
  Q prior_;
  SamplerSetting setting_;
  Labels labels_;
  double bias_;
  SplitMerge<Q> moves_;
  typename Q::Clusters clusters_;
};

/// A prior with nothing at 0 or 1, and correlated columns.
inline NormalWishart normal_prior(const CovarianceShape &shape, int d) {
  const int p = shape.wishart_dimension(d);
  Matrix scale = Matrix::Constant(shape.rows(d), shape.columns(d), shape.dense ? 0.3 : 0);
  for (Eigen::Index i = 0; i < scale.rows(); ++i)
    scale(i, shape.dense ? i : 0) = 0.8 + 0.3 * double(i);
  Vector m(d);
  for (int j = 0; j < d; ++j) m(j) = 0.4 - 0.3 * j;
  return {shape, m, Vector::Constant(1, 0.3), Vector::Constant(1, p + 1.5), {scale}};
}

inline SamplerSetting setting_of(const PartitionPrior &partition, std::uint64_t seed,
                                 const GammaPrior *learned = nullptr) {
  SamplerSetting out;
  out.seed = seed;
  out.partition = partition;
  out.learn_concentration = learned;
  if (learned) out.concentration = *learned;
  return out;
}

}  // namespace samplers
