// Helpers for the tests of families, inference and models: data, rows, fits and comparisons.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/linalg.hpp"
#include "base/random.hpp"
#include "compare.hpp"
#include "data/rows.hpp"
#include "mixture/gmm.hpp"

#ifndef BAYES_TEST_DATA
#define BAYES_TEST_DATA "tests/data"  // tests are run in the top directory
#endif

namespace support {

using bayes::Document;
using bayes::GaussianMixture;
using bayes::Matrix;
using bayes::Tensor;
using bayes::Vector;
using Options = Document::Object;
using Model = std::unique_ptr<GaussianMixture>;

/// How much of their full length tests that draw at random run. TEST_EFFORT in the environment says
/// it: 1 is the long form (make test-all), without it they run a quarter (make test). More than 1
/// looks closer still.
///
/// A run of n draws, of which g are worth one that is independent, finds a mean that is wrong by
/// delta standard deviations of the quantity with a probability of 0.9 if delta sqrt(n / g) exceeds
/// the bound in standard errors by 1.3. With a bound of 6.5, 8000 draws and g = 4 that is a mean
/// off by 0.17 standard deviations in the long form, and by 0.35 in the short one. A term that is
/// dropped, a sign or a count that is off by one as a rule shifts some quantity by more in tables
/// of a few rows. False alarms are as rare in the short form, as the bound is the same; chains that
/// mix too slowly for that always run at full length.
inline double test_effort() {
  static const char *const asked = std::getenv("TEST_EFFORT");
  static const double factor = asked ? std::atof(asked) : 0.25;
  return factor;
}
inline int effort(int iterations) { return int(iterations * test_effort()); }

/// How often work() polls.
template <class F> int polls_of(F work) {
  struct Counting final : bayes::Control {
    int polls = 0;
    void poll() override { ++polls; }
  } counting;
  const bayes::PollScope scope(counting);
  work();
  return counting.polls;
}

inline const std::vector<std::string> shapes = {"full", "diagonal", "spherical", "tied"};
inline const std::vector<std::string> data_sets = {"faithful", "iris", "wine", "diabetes",
                                                   "quakes"};

/// A data set, a row each. Left out are the true classes, and "sex", whose two values make every
/// component that takes one of them degenerate.
inline Matrix data_set(const std::string &name) {
  std::ifstream file(BAYES_TEST_DATA "/" + name + ".csv");
  BOOST_REQUIRE(file);
  std::string line, cell;
  std::vector<bool> kept;
  std::getline(file, line);
  for (std::istringstream header(line); std::getline(header, cell, ',');)
    kept.push_back(cell != "species" && cell != "class" && cell != "sex");
  std::vector<double> values;
  Eigen::Index rows = 0;
  for (; std::getline(file, line); ++rows) {
    std::istringstream cells(line);
    for (const bool keep : kept) {
      std::getline(cells, cell, ',');
      if (keep) values.push_back(std::stod(cell));
    }
  }
  const Eigen::Index columns = Eigen::Index(values.size()) / rows;
  return Eigen::Map<const Matrix>(values.data(), columns, rows).transpose();
}

/// n rows from `clusters` normals of different sizes, shapes and means.
inline Matrix normal_rows(int n, int d, std::uint64_t seed, int clusters = 3) {
  bayes::Random random(seed);
  std::vector<Matrix> mix;
  Matrix centres(clusters, d);
  for (int c = 0; c < clusters; ++c) {
    for (int j = 0; j < d; ++j) centres(c, j) = 4 * random.normal();
    Matrix m(d, d);
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j) m(i, j) = 0.6 * random.normal() + (i == j ? 0.5 : 0);
    mix.push_back(m);
  }
  Matrix x(n, d);
  for (int i = 0; i < n; ++i) {
    const int c = int(random.below(std::uint64_t(clusters)));
    Vector z(d);
    for (int j = 0; j < d; ++j) z(j) = random.normal();
    x.row(i) = centres.row(c) + (mix[std::size_t(c)] * z).transpose();
  }
  return x;
}

/// n rows with an uncertain number of clusters.
inline Matrix doubtful_rows(int n, int d, std::uint64_t seed) {
  bayes::Random random(seed);
  Matrix x(n, d);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < d; ++j) x(i, j) = random.normal() + (i % 2 ? 1.5 : -1);
  return x;
}

inline Vector random_weights(int n, std::uint64_t seed) {
  bayes::Random random(seed);
  Vector w(n);
  for (int i = 0; i < n; ++i) w(i) = random.gamma(2);
  return w;
}

inline std::vector<double> row(const Matrix &x, Eigen::Index i) {
  const Vector v = x.row(i);
  return {v.data(), v.data() + v.size()};
}

/// Rows in memory; weighted if there are weights.
inline bayes::MemoryRows rows_of(const Matrix &x, const Vector &weights = {}) {
  bayes::MemoryRows rows({int(x.cols()), weights.size() > 0});
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    rows.append(row(x, i).data(), weights.size() > 0 ? weights(i) : 1);
  return rows;
}

/// Rows handed out as from a spilled table: stretch 0 stays in memory, later ones use two buffers
/// in turn, so that a read from an invalid stretch gets other rows.
class StretchedRows final : public bayes::RowSource {
 public:
  StretchedRows(const Matrix &x, const Vector &weights, std::size_t pieces_of_stretch)
      : memory_(rows_of(x, weights)),
        size_(pieces_of_stretch) {
    shape_ = memory_.shape();
    rows_ = memory_.rows();
  }
  std::int64_t stretches() const override {
    return std::int64_t((all().size() + size_ - 1) / size_);
  }
  std::span<const bayes::Piece> stretch(std::int64_t index) override {
    const std::size_t first = std::size_t(index) * size_,
                      last = std::min(first + size_, all().size());
    if (index == 0) return all().first(last);
    turn_ ^= 1;
    buffer_[turn_].resize(size_ * shape_.piece_doubles());
    pieces_[turn_].clear();
    for (std::size_t i = first; i < last; ++i) {
      double *const to = buffer_[turn_].data() + (i - first) * shape_.piece_doubles();
      std::copy_n(all()[i].blocks, shape_.piece_doubles(), to);
      pieces_[turn_].push_back({to, all()[i].rows});
    }
    return pieces_[turn_];
  }
  void read_block(std::int64_t index, double *out) override { memory_.read_block(index, out); }

 private:
  std::span<const bayes::Piece> all() const {
    return const_cast<bayes::MemoryRows &>(memory_).stretch(0);
  }
  bayes::MemoryRows memory_;
  std::size_t size_;
  bayes::Buffer buffer_[2];
  std::vector<bayes::Piece> pieces_[2];
  int turn_ = 0;
};

inline Model fit(bayes::RowSource &rows, int k, Options options,
                 const GaussianMixture *start = nullptr, bool update = false, int threads = 1) {
  bayes::Control control;
  control.threads = threads;
  return bayes::gmm_fit(rows, k, Document(std::move(options)), start, update, control);
}
inline Model fit(const Matrix &x, int k, Options options, const Vector &weights = {},
                 const GaussianMixture *start = nullptr, bool update = false) {
  auto rows = rows_of(x, weights);
  return fit(rows, k, std::move(options), start, update);
}
inline Options with(Options options, Options more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

inline double log_density(const GaussianMixture &model, const std::vector<double> &x) {
  return model.log_density(x);
}

inline std::vector<bayes::GmmComponent> components(const GaussianMixture &model) {
  std::vector<bayes::GmmComponent> out;
  for (int i = 0; i < model.size(); ++i) out.push_back(model.component(i));
  return out;
}
inline std::vector<bayes::GmmPosterior> posteriors(const GaussianMixture &model) {
  std::vector<bayes::GmmPosterior> out;
  for (int i = 0; i < model.size(); ++i) out.push_back(model.posterior(i));
  return out;
}

/// The largest distance of any parameter of two models, each measured in units of the largest
/// number of its kind.
inline double distance(const GaussianMixture &a, const GaussianMixture &b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (int i = 0; i < a.size(); ++i) {
    const auto p = a.component(i), q = b.component(i);
    for (const double next : {std::abs(p.weight - q.weight), distance(p.count, q.count),
                              distance(p.mean, q.mean), distance(p.covariance, q.covariance)})
      most = larger(most, next);
  }
  return most;
}

/// A model's bytes without the duration, which must be bit-identical.
inline std::string bits(GaussianMixture &model) {
  model.info.seconds = 0;
  return model.to_bytes();
}

/// A mixture with given parameters; only the shape's own numbers of the covariances count.
inline Model point_model(const std::string &shape, const std::vector<bayes::GmmComponent> &given) {
  const auto k = std::int64_t(given.size()), d = std::int64_t(given[0].mean.size());
  Matrix x(k + 1, d);
  for (Eigen::Index i = 0; i <= k; ++i) x.row(i).setConstant(double(i));
  Document document =
      fit(x, int(k), {{"method", "em"}, {"covariance", shape}, {"max_iter", 1}})->to_document();
  Tensor weights{{k}, {}}, means{{k, d}, {}}, covariances;
  if (shape != "tied") covariances.shape.push_back(k);
  if (shape != "spherical") covariances.shape.push_back(d);
  if (shape == "full" || shape == "tied") covariances.shape.push_back(d);
  for (const auto &c : given) {
    weights.values.push_back(c.weight);
    means.values.insert(means.values.end(), c.mean.begin(), c.mean.end());
    if (shape == "tied" && !covariances.values.empty()) continue;
    if (shape == "spherical")
      covariances.values.push_back(c.covariance[0]);
    else if (shape == "diagonal")
      for (std::int64_t j = 0; j < d; ++j)
        covariances.values.push_back(c.covariance[std::size_t(j * d + j)]);
    else
      covariances.values.insert(covariances.values.end(), c.covariance.begin(), c.covariance.end());
  }
  document.set("weights", weights).set("means", means).set("covariances", covariances);
  Model model(dynamic_cast<GaussianMixture *>(bayes::Model::from_document(document).release()));
  BOOST_REQUIRE(model);
  return model;
}

}  // namespace support
