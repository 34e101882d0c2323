// Samplers of mixtures against the exact posterior of a few rows, by enumeration of all partitions:
// the checks for every observation family.
#pragma once

#include "sampler_support.hpp"

namespace samplers {

inline const auto process = PartitionPrior::dirichlet_process(1.3);
inline const auto three = PartitionPrior::finite(3, 0.7);
inline const GammaPrior gamma_prior{2, 1.5};

/// Every sampler of a family against the exact posterior: of a Dirichlet process with a fixed and
/// with a learned concentration, and of a finite mixture.
template <class Q> void check_samplers(const Q &prior, const Matrix &x, const std::string &name) {
  auto rows = support::rows_of(x);
  RowsInFile file(x);
  Control control;
  const Labels one(std::size_t(x.rows()), 0);
  const auto test = [&](const std::string &method, auto &&sampler, const Exact &exact,
                        int length = effort(6000)) {
    const Largest largest = compare(sampler, exact, length);
    BOOST_TEST(largest.z < largest_z, name << ' ' << method << ": " << largest.what << " is "
                                           << largest.z << " standard errors off");
    BOOST_TEST_MESSAGE(name << ' ' << method << ": " << largest.z << ' ' << largest.what);
  };
  const Exact exact_three = exact_posterior(rows, prior, three);
  test("finite", FiniteSampler<Q>(rows, prior, setting_of(three, 11), one, 3, control),
       exact_three);
  test("finite, rows in a file",
       FiniteSampler<Q>(file, prior, setting_of(three, 12), one, 3, control), exact_three);
  if (has_clusters(prior)) {
    test("collapsed finite", CollapsedSampler<Q>(rows, prior, setting_of(three, 13), one, control),
         exact_three);
    for (const GammaPrior *learned : {static_cast<const GammaPrior *>(nullptr), &gamma_prior}) {
      const Exact exact = exact_posterior(rows, prior, process, learned);
      const std::string with = learned ? " learning" : "";
      test("collapsed" + with,
           CollapsedSampler<Q>(rows, prior, setting_of(process, 14, learned), one, control), exact);
      test("gibbs" + with,
           MarginalSampler<Q>(rows, prior, setting_of(process, 15, learned), one, control), exact);
      test("slice" + with,
           SliceSampler<Q>(rows, prior, setting_of(process, 16, learned), one, control), exact);
      test("slice, rows in a file" + with,
           SliceSampler<Q>(file, prior, setting_of(process, 17, learned), one, control), exact);
    }
    for (const auto &partition : {process, three})
      for (const std::int64_t max_sequential : {1000, 1, 0}) {
        auto setting = setting_of(partition, 18);
        setting.max_sequential = max_sequential;
        SplitMergeAlone<Q> moves(rows, prior, setting, one);
        const int sweeps = full_effort(6000);  // alone they mix slowly
        test("split and merge, allocated sequentially " + std::to_string(max_sequential), moves,
             partition.full(3) ? exact_three : exact_posterior(rows, prior, process), sweeps);
        BOOST_TEST(moves.splits > sweeps / 100);
        BOOST_TEST(moves.merges > sweeps / 100);
      }
  }
}

/// Grosse and Duvenaud 2014: every full conditional that the collapsed sampler draws from is a
/// ratio of joint densities.
template <class Q> void check_conditionals(const Q &prior, const Matrix &x) {
  auto rows = support::rows_of(x);
  const int n = int(x.rows());
  for (const auto &partition : {process, three}) {
    const Exact exact = exact_posterior(rows, prior, partition);
    for (std::size_t p = 0; p < exact.labels.size(); ++p)
      for (int i = 0; i < n; ++i) {
        Labels labels = exact.labels[p];
        const int now = labels[std::size_t(i)];
        // the new cluster then has the old one's slot
        if (sizes(labels)[std::size_t(now)] < 2) continue;
        typename Q::Clusters clusters(prior);
        for (int row = 0; row < n; ++row) {
          while (clusters.size() <= labels[std::size_t(row)]) clusters.open();
          if (row != i) clusters.add(labels[std::size_t(row)], support::row(x, row).data());
        }
        const auto row = support::row(x, i);
        const auto conditional = [&](int k) {
          return k == clusters.size()
                     ? partition.log_new(k) + clusters.log_prior_predictive(row.data())
                     : std::log(partition.weight(clusters.count(k))) +
                           clusters.log_predictive(k, row.data());
        };
        for (int k = 0; k <= clusters.size(); ++k) {
          labels[std::size_t(i)] = k;
          const auto other = exact.number.find(name_of(labels));
          if (other == exact.number.end()) {
            BOOST_TEST(conditional(k) == -std::numeric_limits<double>::infinity());
            continue;
          }
          const double ratio = exact.log_joint[std::size_t(other->second)] - exact.log_joint[p];
          BOOST_TEST(distance(conditional(k) - conditional(now), ratio) < 1e-9);
        }
      }
  }
}

/// The samplers of the Dirichlet process without moves of whole clusters.
template <class Q> void check_without_moves(const Q &prior, const Matrix &x, const char *name) {
  auto rows = support::rows_of(x);
  Control control;
  const Labels one(std::size_t(x.rows()), 0);
  const Exact exact = exact_posterior(rows, prior, process, &gamma_prior);
  const auto test = [&](const char *method, auto &&sampler) {
    const Largest largest = compare(sampler, exact, effort(8000));
    BOOST_TEST(largest.z < largest_z, name << ' ' << method << ": " << largest.what << " is "
                                           << largest.z << " standard errors off");
  };
  test("collapsed", CollapsedSampler<WithoutMoves<Q>>(
                        rows, prior, setting_of(process, 19, &gamma_prior), one, control));
  test("gibbs", MarginalSampler<WithoutMoves<Q>>(rows, prior, setting_of(process, 20, &gamma_prior),
                                                 one, control));
}

/// f(name, sampler) for the three samplers of the Dirichlet process.
template <class Q, class F>
void for_each_sampler(RowSource &rows, const Q &prior, const SamplerSetting &setting, F f) {
  Control control;
  const Labels one(std::size_t(rows.rows()), 0);
  f("collapsed", CollapsedSampler<Q>(rows, prior, setting, one, control));
  f("gibbs", MarginalSampler<Q>(rows, prior, setting, one, control));
  f("slice", SliceSampler<Q>(rows, prior, setting, one, control));
}

}  // namespace samplers
