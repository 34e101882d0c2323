// The power of the comparisons with exact posteriors, tried on faulty samplers.
#include "sampler_exact.hpp"

using namespace samplers;

namespace {

/// The fault that the clusters, or their draws of parameters, have now. A variable, as the samplers
/// would take seconds to compile for each value of a template parameter.
enum class Fault { none, shrink, count, alone, degrees, spread };
Fault fault = Fault::none;

class FaultyClusters : public NormalClusters {
  using Base = NormalClusters;

 public:
  explicit FaultyClusters(const NormalWishart &prior)
      : Base(prior),
        c_(prior.c(0)),
        d_(prior.dimension()) {}
  double count(int slot) const {
    return Base::count(slot) + (fault == Fault::count && Base::count(slot) > 1.5);
  }
  void log_predictive(const double *x, double *out) const {
    Base::log_predictive(x, out);
    for (int k = 0; k < size(); ++k) out[k] += shift(Base::count(k));
  }
  double log_predictive(int slot, const double *x) const {
    return Base::log_predictive(slot, x) + shift(Base::count(slot));
  }
  double log_prior_predictive(const double *x) {
    return Base::log_prior_predictive(x) + shift(0) - (fault == Fault::alone ? std::log(1.3) : 0);
  }

 private:
  /// The Student t's constant without its ((c + 1) / c)^(-d/2).
  double shift(double n) const {
    return fault == Fault::shrink ? 0.5 * d_ * std::log((c_ + n + 1) / (c_ + n)) : 0;
  }
  double c_;
  int d_;
};

struct Faulty : NormalWishart {
  using Base = NormalWishart;
  using Clusters = Unmoved<FaultyClusters>;
  Faulty() = default;
  Faulty(Base base) : Base(std::move(base)) {}
  const Base &base() const { return *this; }
};
Faulty pick(const Faulty &q, const std::vector<int> &order) { return bayes::pick(q.base(), order); }
Faulty joined(const Faulty &a, const Faulty &b) { return bayes::joined(a.base(), b.base()); }
NormalPoint draw(const Faulty &q, Random &random) {
  auto given = q.base();
  if (fault == Fault::degrees) given.a.array() -= 1;
  auto out = bayes::draw(given, random);
  if (fault == Fault::spread)
    for (int k = 0; k < q.components(); ++k)
      out.mean.col(k) = q.m.col(k) + std::sqrt(q.c(k)) * (out.mean.col(k) - q.m.col(k));
  return out;
}

/// Is the fault detected? Without a fault nothing must be.
template <template <class> class Sampler, class... Components>
void expect_found(Fault given, const char *name, const PartitionPrior &partition,
                  Components... components) {
  fault = given;
  const Matrix x = doubtful_rows(6, 2, 21);
  auto rows = support::rows_of(x);
  Control control;
  const auto prior = normal_prior(full_covariance, 2);
  Sampler<Faulty> sampler(rows, Faulty(prior), setting_of(partition, 41), Labels(6, 0),
                          components..., control);
  const Largest largest =
      compare(sampler, exact_posterior(rows, prior, partition), full_effort(15000), false);
  if (fault == Fault::none)
    BOOST_TEST(largest.z < largest_z, name << ": " << largest.what);
  else
    // The difference is infinite if a chain never visited something probable.
    BOOST_TEST(largest.z > 1.5 * largest_z, name << ": " << largest.z << ' ' << largest.what);
  BOOST_TEST_MESSAGE(name << " with fault " << int(fault) << ": " << largest.z << ' '
                          << largest.what);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sampler_faults)

// The comparisons with exact posteriors see what they should.
BOOST_AUTO_TEST_CASE(faults_are_found) {
  expect_found<CollapsedSampler>(Fault::none, "collapsed", process);
  expect_found<CollapsedSampler>(Fault::shrink, "collapsed", process);
  expect_found<CollapsedSampler>(Fault::count, "collapsed", process);
  expect_found<CollapsedSampler>(Fault::alone, "collapsed", process);
  expect_found<MarginalSampler>(Fault::none, "gibbs", process);
  expect_found<MarginalSampler>(Fault::shrink, "gibbs", process);
  expect_found<MarginalSampler>(Fault::alone, "gibbs", process);
  expect_found<MarginalSampler>(Fault::degrees, "gibbs", process);
  expect_found<MarginalSampler>(Fault::spread, "gibbs", process);
  expect_found<SliceSampler>(Fault::none, "slice", process);
  expect_found<SliceSampler>(Fault::degrees, "slice", process);
  expect_found<SliceSampler>(Fault::spread, "slice", process);
  expect_found<FiniteSampler>(Fault::none, "finite", three, 3);
  expect_found<FiniteSampler>(Fault::degrees, "finite", three, 3);
  expect_found<FiniteSampler>(Fault::spread, "finite", three, 3);
  const auto prior = normal_prior(full_covariance, 2);
  auto rows = support::rows_of(doubtful_rows(6, 2, 21));
  const Exact exact = exact_posterior(rows, prior, process);
  for (const double bias : {0.8, -0.8}) {
    SplitMergeAlone<NormalWishart> moves(rows, prior, setting_of(process, 42), Labels(6, 0), bias);
    const double z = compare(moves, exact, full_effort(12000)).z;
    BOOST_TEST((z > 1.5 * largest_z && std::isfinite(z)), z);
  }
  // A wrong target for correct samplers: n_k! for (n_k - 1)!, as 002 L10 prints it.
  const Exact printed = exact_posterior(6, process, nullptr, [&](const Labels &labels, int) {
    double factor = 0;
    for (const double n : sizes(labels)) factor += std::log(n);
    return factor + exact.log_marginal[std::size_t(exact.number.at(name_of(labels)))];
  });
  for_each_sampler(rows, prior, setting_of(process, 43), [&](const char *name, auto &&sampler) {
    const double z = compare(sampler, printed, full_effort(8000), false).z;
    BOOST_TEST((z > 1.5 * largest_z && std::isfinite(z)), name << ' ' << z);
  });
}

BOOST_AUTO_TEST_SUITE_END()
