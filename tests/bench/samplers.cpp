// The samplers of Dirichlet process mixtures: rows moved a second, how that scales, and effective
// draws a second on real data.
//
// Run in the top directory (it reads tests/data). R's bayesm is measured by
// tests/bench/peers/bayesm.R.
//
// With the argument "short" it only moves rows, and of fewer tables. To compare two builds on a
// machine that does other things too, run the short forms in turn and take the best of each.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_draw.hpp"
#include "mcmc/diagnostics.hpp"
#include "partition/samplers.hpp"

using namespace bayes;

namespace {

using Q = NormalWishart;

struct Plain : Control {};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Data {
  MemoryRows rows;
  std::vector<int> labels;  // a partition to begin with
  Q prior;
};

/// The prior that models have by default.
Q prior_of(const Matrix &x) {
  const Eigen::Index d = x.rows();
  const Vector mean = x.rowwise().mean();
  const Matrix centred = x.colwise() - mean;
  const Matrix covariance = centred * centred.transpose() / double(x.cols());
  return {full_covariance,
          mean,
          Vector::Constant(1, 0.01),
          Vector::Constant(1, double(d) + 2),
          {Matrix(covariance / std::pow(5.0, 2.0 / double(d)))}};
}

Data data_of(const Matrix &x, std::vector<int> labels) {
  Data out{MemoryRows({int(x.rows()), false}), std::move(labels), prior_of(x)};
  for (Eigen::Index i = 0; i < x.cols(); ++i) out.rows.append(x.col(i).data());
  return out;
}

Data separated(int n, int d, int clusters) {
  Random random(7);
  Matrix centre(d, clusters), x(d, n);
  for (Eigen::Index i = 0; i < centre.size(); ++i) centre(i) = 6 * random.normal();
  std::vector<int> labels;
  for (int i = 0; i < n; ++i) {
    labels.push_back(int(random.below(std::uint64_t(clusters))));
    for (int j = 0; j < d; ++j) x(j, i) = centre(j, labels.back()) + random.normal();
  }
  return data_of(x, std::move(labels));
}

Matrix file(const std::string &name, int columns) {
  std::ifstream in("tests/data/" + name + ".csv");
  std::string line, cell;
  std::getline(in, line);
  std::vector<double> values;
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    for (int j = 0; j < columns && std::getline(cells, cell, ','); ++j)
      values.push_back(std::stod(cell));
  }
  return Eigen::Map<const Matrix>(values.data(), columns, Eigen::Index(values.size()) / columns);
}

SamplerSetting setting(int chain) {
  SamplerSetting out;
  out.chain = std::uint64_t(chain);
  out.partition = PartitionPrior::dirichlet_process(0.5);
  out.learn_concentration = true;
  out.concentration = {2, 4};
  return out;
}

/// Rows a second, the best of three.
template <class Sampler> double rate(Data &data, int threads, double work) {
  Plain control;
  control.threads = threads;
  Sampler sampler(data.rows, data.prior, setting(0), data.labels, control);
  const double n = double(data.labels.size());
  const int sweeps = std::max(2, int(work / n));
  double best = 0;
  int sweep = 0;
  for (int run = 0; run < 3; ++run) {
    const double begin = seconds();
    for (int i = 0; i < sweeps; ++i) sampler.sweep(sweep++, control);
    best = std::max(best, n * sweeps / (seconds() - begin));
  }
  return best;
}

template <class Sampler> void effective(const char *name, const char *method, const Matrix &x) {
  constexpr int chains = 4, draws = 3000, warmup = 1000;
  Data data = data_of(x, std::vector<int>(std::size_t(x.cols()), 0));
  Plain control;
  std::vector<std::vector<double>> clusters(chains), entropy(chains);
  const double begin = seconds();
  for (int c = 0; c < chains; ++c) {
    std::vector<int> labels = data.labels;
    if (c % 2)
      for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = int(i % 10);
    Sampler sampler(data.rows, data.prior, setting(c), std::move(labels), control);
    for (int i = 0; i < draws; ++i) {
      sampler.sweep(i, control);
      if (i < warmup) continue;
      double sum = 0;
      for (const double count : sampler.counts())
        sum -= count / double(x.cols()) * std::log(count / double(x.cols()));
      clusters[std::size_t(c)].push_back(sampler.clusters());
      entropy[std::size_t(c)].push_back(sum);
    }
  }
  const double time = seconds() - begin;
  std::vector<Chain> of_clusters, of_entropy;
  for (int c = 0; c < chains; ++c) {
    of_clusters.push_back({c, clusters[std::size_t(c)]});
    of_entropy.push_back({c, entropy[std::size_t(c)]});
  }
  const auto number = [](std::optional<double> x) { return x ? *x : 0.0; };
  std::printf(
      "%-9s %-9s  clusters: R-hat %.3f, %6.0f effective draws/s   entropy: R-hat %.3f, %6.0f "
      "effective draws/s\n",
      name, method, number(rhat(of_clusters, control)),
      number(ess_bulk(of_clusters, control)) / time, number(rhat(of_entropy, control)),
      number(ess_bulk(of_entropy, control)) / time);
}

}  // namespace

int main(int count, char **arguments) {
  const bool brief = count > 1 && std::string_view(arguments[1]) == "short";
  const int all = int(std::max(1u, std::thread::hardware_concurrency()));
  const double work = brief ? 5e5 : 1e6;
  std::puts("rows moved a second");
  struct Case {
    int n, d, clusters;
  };
  std::vector<Case> cases{{10000, 4, 10}, {10000, 16, 10}};
  if (!brief)
    cases.insert(cases.end(), {{100000, 4, 10},
                               {10000, 4, 20},
                               {10000, 4, 40},
                               {10000, 8, 10},
                               {10000, 32, 10},
                               {1000000, 2, 10}});
  for (const auto [n, d, clusters] : cases) {
    Data data = separated(n, d, clusters);
    std::printf(
        "n %7d, d %2d, %2d clusters: collapsed %9.0f  gibbs %9.0f  slice %9.0f, %d threads %9.0f\n",
        n, d, clusters, rate<CollapsedSampler<Q>>(data, 1, work),
        rate<MarginalSampler<Q>>(data, 1, work), rate<SliceSampler<Q>>(data, 1, 2 * work), all,
        rate<SliceSampler<Q>>(data, all, 2 * work));
  }
  if (brief) return 0;
  for (const auto &[name, columns] :
       {std::pair{"galaxies", 1}, std::pair{"faithful", 2}, std::pair{"iris", 4}}) {
    const Matrix x = file(name, columns);
    effective<CollapsedSampler<Q>>(name, "collapsed", x);
    effective<MarginalSampler<Q>>(name, "gibbs", x);
    effective<SliceSampler<Q>>(name, "slice", x);
  }
  return 0;
}
