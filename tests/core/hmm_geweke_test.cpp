// The joint-distribution test of the Gibbs sampler of hidden Markov models (Geweke 2004):
// parameters, paths and observations drawn from the model at once, against an MCMC chain in which
// paths are drawn by forward filtering and backward sampling, parameters given paths, and
// observations given both. Both have the same distribution if the sampler is correct.
//
// A case compares some 10 means by batches of 50; with a bound of 5 standard errors (Student t, 98
// degrees of freedom) a correct sampler fails in fewer than one of 10,000 runs, and seeds are
// fixed.
#include <numeric>

#include "markov/hmm_gibbs.hpp"
#include "markov/markov_step.hpp"
#include "sampler_support.hpp"

using namespace bayes;
using samplers::full_effort;

namespace {

constexpr int k = 3, batches_each = 50;
using Prior = MarkovPosterior<ProductPosterior>;
using Parameters = MarkovPoint<ProductPoint>;

/// One element of symbols and one count. Some transitions are structural zeros.
Prior prior_of_world() {
  const auto columns = std::make_shared<const Columns>(
      std::vector<ColumnSpec>{{kind_of<Categorical>, 3}, {kind_of<Poisson>}});
  ProductPosterior one{columns, Matrix(columns->size().posterior, 1)};
  const double symbols[] = {1.5, 0.7, 2}, count[] = {3, 1.5};
  std::copy_n(symbols, 3, one.column(0, 0));
  std::copy_n(count, 2, one.column(0, 1));
  Matrix transition(k, k);
  transition << 3, 1, 0.6, 0.8, 2, 0, 1, 1, 1.5;
  return {Vector(Eigen::Vector3d(1, 2, 0.5)), transition, replicate(one, k)};
}

struct World {
  Parameters parameters;
  std::vector<std::vector<int>> paths;
  std::vector<std::vector<double>> x;  // two numbers a step
};

void draw_paths(World &world, Random &random) {
  for (auto &path : world.paths)
    for (std::size_t t = 0; t < path.size(); ++t) {
      std::vector<double> p(k);
      for (int j = 0; j < k; ++j)
        p[std::size_t(j)] =
            t == 0 ? world.parameters.initial(j) : world.parameters.transition(path[t - 1], j);
      path[t] = random.categorical(p);
    }
}
void draw_observations(World &world, Random &random) {
  for (std::size_t s = 0; s < world.paths.size(); ++s) {
    world.x[s].resize(2 * world.paths[s].size());
    for (std::size_t t = 0; t < world.paths[s].size(); ++t)
      sample(world.parameters.emissions, world.paths[s][t], random, world.x[s].data() + 2 * t);
  }
}

World draw_world(const Prior &prior, Random &random) {
  World world{draw_parameters<ProductPoint>(prior, random),
              {std::vector<int>(6), std::vector<int>(1), std::vector<int>(9)},
              std::vector<std::vector<double>>(3)};
  draw_paths(world, random);
  draw_observations(world, random);
  return world;
}

std::vector<double> quantities(const World &world) {
  double same = 0, moves = 0, first = 0, ups = 0;
  for (std::size_t s = 0; s < world.paths.size(); ++s) {
    first += world.paths[s][0] == 1;
    for (std::size_t t = 1; t < world.paths[s].size(); ++t) {
      same += world.x[s][2 * t] == world.x[s][2 * t - 2];
      moves += world.paths[s][t] != world.paths[s][t - 1];
      ups += world.x[s][2 * t + 1] > world.x[s][2 * t - 1];
    }
  }
  const Parameters &p = world.parameters;
  return {p.initial(0),
          p.transition(0, 0),
          p.transition(2, 1) * p.transition(1, 1),
          p.emissions.column(1, 0)[2],
          std::log(p.emissions.column(0, 1)[0]),
          same,
          moves,
          first,
          ups,
          same * p.transition(0, 0),
          moves * p.emissions.column(2, 1)[0] / 10};
}

using Means = std::vector<std::vector<double>>;
void note(const World &world, int t, int all, Means &means) {
  const auto values = quantities(world);
  means.resize(values.size(), std::vector<double>(batches_each));
  for (std::size_t q = 0; q < values.size(); ++q)
    means[q][std::size_t(t / (all / batches_each))] += values[q] / (all / batches_each);
}

/// The largest difference of the means, in standard errors. `believed`: the prior that the sampler
/// uses.
double largest_difference(const Prior &prior, const Prior &believed) {
  Random random(11, 3);
  Means independent, chain;
  const int all = full_effort(20000), sweeps = full_effort(12000);
  for (int t = 0; t < all; ++t) note(draw_world(prior, random), t, all, independent);
  World world = draw_world(prior, random);
  Control control;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    MemoryRows rows({2, true});
    Sequences sequences{rows, 2};
    SequenceWriter writer(sequences, rows.shape(),
                          [&](const double *x, double weight) { rows.append(x, weight); });
    for (const auto &x : world.x) {
      writer.begin(std::int64_t(x.size() / 2), 1);
      for (std::size_t at = 0; at < x.size(); at += 2) writer.step(x.data() + at);
    }
    const auto scorer = make_scorer(world.parameters.emissions);
    std::vector<std::uint16_t> labels(std::size_t(rows.rows()));
    const PathDraws draws{RowRandom(12, 0, std::uint64_t(sweep), 7), labels.data(), nullptr};
    const MarkovSums sums =
        markov_step(sequences, control, bayes::markov::chain_of(world.parameters),
                    *emissions_of(scorer, false, 0), &draws);
    auto at = labels.begin();
    for (auto &path : world.paths)
      for (int &state : path) state = *at++;
    const Prior q = MarkovVariational<ProductPosterior>(believed, false)
                        .update(bayes::markov::statistics_of(sums, scorer), believed);
    world.parameters = draw_parameters<ProductPoint>(q, random);
    draw_observations(world, random);
    note(world, sweep, sweeps, chain);
  }
  double largest = 0;
  for (std::size_t q = 0; q < chain.size(); ++q) {
    double mean[2], error = 0;
    for (const Means *means : {&independent, &chain}) {
      const auto &batches = (*means)[q];
      const double m = std::accumulate(batches.begin(), batches.end(), 0.0) / batches_each;
      mean[means == &chain] = m;
      for (const double b : batches)
        error += (b - m) * (b - m) / (batches_each * (batches_each - 1));
    }
    largest = support::larger(largest, std::abs(mean[0] - mean[1]) / std::sqrt(error));
  }
  return largest;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hmm_geweke)

BOOST_AUTO_TEST_CASE(paths_and_parameters_have_the_joint_distribution) {
  const Prior prior = prior_of_world();
  BOOST_TEST(largest_difference(prior, prior) < 5);
}

// The test has power.
BOOST_AUTO_TEST_CASE(a_different_prior_is_detected) {
  const Prior prior = prior_of_world();
  Prior wrong = prior;
  wrong.transition(0, 1) += 0.3;
  const double difference = largest_difference(prior, wrong);
  BOOST_TEST((difference > 5 && std::isfinite(difference)), difference);
}

BOOST_AUTO_TEST_SUITE_END()
