// Samplers of mixtures of normals whose rows miss elements, against the exact posterior of a few
// rows: by enumeration of all partitions, and quadrature over what is missing.
#include "missing_support.hpp"
#include "mixture/dpmm.hpp"
#include "sampler_exact.hpp"

using namespace samplers;
using missing::none;

namespace {

/// All elements, row by row.
std::vector<double> flat(const Matrix &x) {
  std::vector<double> out;
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (const double v : support::row(x, i)) out.push_back(v);
  return out;
}
MemoryRows rows_of_flat(const std::vector<double> &all, int d) {
  MemoryRows rows({d, false});
  for (std::size_t i = 0; i < all.size(); i += std::size_t(d)) rows.append(all.data() + i);
  return rows;
}

/// The integral of f(log p(complete rows | partition)) p(complete rows | partition) over what is
/// missing; its logarithm, f positive.
double log_integral(const NormalWishart &prior, const Matrix &x, const Labels &labels, int k,
                    const std::function<double(double)> &log_f, double step) {
  Control control;
  return missing::log_quadrature(
      flat(x), std::vector<double>(std::size_t(x.size()), 0.0), 1,
      [&](const std::vector<double> &all) {
        MemoryRows rows = rows_of_flat(all, prior.dimension());
        const double log_p = log_marginal_likelihood(
            statistics_of_labels(rows, prior, labels.data(), k, control), replicate(prior, k));
        return log_p + log_f(log_p);
      },
      step, 7);
}

/// What compare() asks of a sampler.
struct Sampler {
  std::unique_ptr<MixtureSampler<NormalWishart>> of;
  void sweep(int index, Control &control) { of->sweep(index, control); }
  std::span<const int> labels() const { return of->labels(); }
  double concentration() const { return of->concentration(); }
  int clusters() const { return int(of->counts().size()); }
  double log_marginal() const { return of->log_marginal(); }
  std::vector<double> counts() const { return of->counts(); }
};

/// log_marginal() is that of completed rows, which the missing elements are drawn for: the
/// logistic function of it, whose mean is finite, must have its own mean.
double bounded(double log_marginal) { return 1 / (1 + std::exp(-(log_marginal + 12) / 2)); }

/// Runs the sampler as compare() does, for the mean of bounded(log_marginal()).
double z_of_completed(Sampler &sampler, double exact, int sweeps) {
  Control control;
  std::vector<double> means(batches);
  for (int t = 0; t < sweeps; ++t) {
    sampler.sweep(t, control);
    means[std::size_t(t / (sweeps / batches))] +=
        bounded(sampler.log_marginal()) / (sweeps / batches);
  }
  return z_score(means, exact);
}

void check(const CovarianceShape &shape, const Matrix &x, std::uint64_t seed, double step) {
  const NormalWishart prior = normal_prior(shape, int(x.cols()));
  auto rows = support::rows_of(x);
  rows.set_incomplete(true);
  Control control;
  const Labels one(std::size_t(x.rows()), 0);
  const int n = int(x.rows());
  const auto test = [&](const char *method, const PartitionPrior &partition,
                        const GammaPrior *learned) {
    BOOST_TEST_CONTEXT(shape.name << ' ' << method << ' ' << partition.components()) {
      std::vector<double> moments;
      const Exact exact = exact_posterior(n, partition, learned, [&](const Labels &labels, int k) {
        const double log_p = log_integral(
            prior, x, labels, k, [](double) { return 0.0; }, step);
        moments.push_back(
            std::exp(log_integral(
                         prior, x, labels, k, [](double l) { return std::log(bounded(l)); }, step) -
                     log_p));
        return log_p;
      });
      const auto make = [&](std::uint64_t number) {
        return Sampler{make_sampler(*bayes::method_of(method), rows, prior,
                                    setting_of(partition, number, learned), one, control)};
      };
      Sampler first = make(seed), second = make(seed + 1);
      const Largest largest = compare(first, exact, effort(6000), false);
      BOOST_TEST(largest.z < largest_z, largest.what << ": " << largest.z);
      const double z = z_of_completed(
          second, exact.mean([&](int p) { return moments[std::size_t(p)]; }), effort(6000));
      BOOST_TEST(std::abs(z) < largest_z, "completed rows: " << z);
    }
  };
  test("gibbs", three, nullptr);
  if (!has_clusters(prior)) return;
  test("collapsed", three, nullptr);
  for (const char *method : {"collapsed", "gibbs", "slice"}) test(method, process, nullptr);
  test("collapsed", process, &gamma_prior);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sampler_missing)

BOOST_AUTO_TEST_CASE(an_element_of_one_row) {
  std::uint64_t seed = 31;
  for (const auto &shape :
       {full_covariance, diagonal_covariance, spherical_covariance, tied_covariance}) {
    Matrix x = doubtful_rows(5, 2, seed);
    x(2, 1) = none;
    check(shape, x, seed++, 0.15);
  }
}

BOOST_AUTO_TEST_CASE(elements_of_two_rows) {
  Matrix x = doubtful_rows(4, 2, 41);
  x(1, 0) = x(2, 1) = none;
  check(full_covariance, x, 42, 0.4);
}

/// It goes where most others are, which lie apart.
BOOST_AUTO_TEST_CASE(a_row_that_misses_everything) {
  Matrix x(5, 1);
  x << -6, -5.5, -6.5, none, 6;
  check(full_covariance, x, 52, 0.04);
}

/// Most elements are missing, of clusters far from each other: rows move between them all the same.
BOOST_AUTO_TEST_CASE(rows_with_little_evidence_mix) {
  Matrix x = doubtful_rows(40, 3, 61);
  for (int i = 0; i < 40; ++i) x.row(i).array() += i % 2 ? 30 : -30;
  x.row(7).setConstant(none);
  auto rows = support::rows_of(x);
  rows.set_incomplete(true);
  Control control;
  Labels labels(40);
  for (std::size_t i = 0; i < 40; ++i) labels[i] = int(i % 2);
  const NormalWishart prior = normal_prior(full_covariance, 3);
  for (const char *method : {"gibbs", "collapsed"}) {
    const auto sampler = make_sampler(*bayes::method_of(method), rows, prior,
                                      setting_of(PartitionPrior::finite(2, 1), 3), labels, control);
    int changes = 0;
    bool with_first = true;
    for (int t = 0; t < 200; ++t) {
      sampler->sweep(t, control);
      const bool now = sampler->labels()[7] == sampler->labels()[0];
      changes += now != with_first;
      with_first = now;
    }
    BOOST_TEST(changes > 50);
  }
}

BOOST_AUTO_TEST_CASE(rows_in_a_file_are_refused) {
  Matrix x = doubtful_rows(5, 2, 1);
  x(2, 1) = none;
  RowsInFile rows(x);
  rows.set_incomplete(true);
  Control control;
  const NormalWishart prior = normal_prior(full_covariance, 2);
  BOOST_CHECK_EXCEPTION(
      make_sampler(bayes::Method::gibbs, rows, prior, setting_of(three, 1), Labels(5, 0), control),
      Error, [](const Error &error) {
        return std::string(error.what()).find("do not fit into memory") != std::string::npos;
      });
}

BOOST_AUTO_TEST_SUITE_END()
