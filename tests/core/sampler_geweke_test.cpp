// The joint-distribution test of samplers (Geweke 2004): parameters and rows drawn from the model
// at once, against a chain in which the sampler updates the parameters given the rows, and the rows
// are redrawn given the parameters. Both have the same distribution if the sampler is correct.
//
// And simulation-based calibration of whole fits (Talts et al. 2018): what rows were drawn with has
// a uniform rank among the draws given these rows.
#include <Eigen/Cholesky>

#include "mixture/dpmm.hpp"
#include "partition/chains.hpp"
#include "sampler_support.hpp"

using namespace samplers;

namespace {

const GammaPrior concentration_prior{2, 1.5};

/// All quantities of the model.
struct World {
  double alpha = 1;
  Labels labels;
  Matrix x;
};

/// One row of every label's component.
void draw_rows(const NormalPoint &point, World &world, Random &random) {
  const CovarianceShape &shape = point.shape;
  const int d = point.dimension();
  Vector z(d);
  for (std::size_t i = 0; i < world.labels.size(); ++i) {
    const int k = world.labels[i];
    const Matrix &covariance = point.covariance[std::size_t(shape.index(k))];
    for (int j = 0; j < d; ++j) z(j) = random.normal();
    if (shape.dense)
      z = (Eigen::LLT<Matrix>(covariance).matrixL() * z).eval();
    else
      for (int j = 0; j < d; ++j) z(j) *= std::sqrt(covariance(shape.isotropic ? 0 : j, 0));
    world.x.row(Eigen::Index(i)) = (point.mean.col(k) + z).transpose();
  }
}
void draw_rows(const ProductPoint &point, World &world, Random &random) {
  std::vector<double> row(std::size_t(point.dimension()));
  for (std::size_t i = 0; i < world.labels.size(); ++i) {
    sample(point, world.labels[i], random, row.data());
    for (std::size_t j = 0; j < row.size(); ++j) world.x(Eigen::Index(i), Eigen::Index(j)) = row[j];
  }
}

/// From the prior.
template <class Q> World draw_world(const Q &prior, SamplerSetting setting, int n, Random &random) {
  World world{setting.partition.concentration(), {}, Matrix(n, prior.dimension())};
  if (setting.learn_concentration)
    setting.partition.set_concentration(world.alpha = random.gamma(setting.concentration.shape) /
                                                      setting.concentration.rate);
  std::vector<double> counts, weights;
  for (int i = 0; i < n; ++i) {
    weights.clear();
    for (const double count : counts) weights.push_back(setting.partition.weight(count));
    weights.push_back(std::exp(setting.partition.log_new(int(counts.size()))));
    const int k = random.categorical(weights);
    if (k == int(counts.size())) counts.push_back(0);
    ++counts[std::size_t(k)];
    world.labels.push_back(k);
  }
  draw_rows(draw(replicate(prior, int(counts.size())), random), world, random);
  return world;
}

/// The quantities compared: of labels, rows and both, bounded if rows have heavy tails.
const char *const names[] = {"alpha",      "log alpha",   "K",    "K = 1",
                             "alpha K",    "together",    "rows", "rows together",
                             "rows apart", "log marginal"};
std::vector<double> quantities(const World &world, double log_marginal) {
  const int k = int(sizes(world.labels).size());
  const bool together = world.labels[0] == world.labels[1];
  double squares = 0;  // of what is observed
  const auto square_of = [](const auto &row) {
    return row.array().isNaN().select(0, row).matrix().squaredNorm();
  };
  for (Eigen::Index i = 0; i < world.x.rows(); ++i)
    squares += std::log1p(square_of(world.x.row(i)));
  const double near = std::exp(-square_of((world.x.row(0) - world.x.row(1)).eval()));
  return {world.alpha,      std::log(world.alpha), double(k), double(k == 1),
          world.alpha * k,  double(together),      squares,   together * near,
          !together * near, log_marginal};
}
template <class Q> double log_marginal(const World &world, const Q &prior) {
  Control control;
  auto rows = support::rows_of(world.x);
  const int k = int(sizes(world.labels).size());
  return log_marginal_likelihood(statistics_of_labels(rows, prior, world.labels.data(), k, control),
                                 replicate(prior, k));
}

/// Means of the quantities over batches.
using Means = std::vector<std::vector<double>>;
void note(const World &world, double log_marginal, int t, int all, Means &means) {
  means.resize(std::size(names), std::vector<double>(batches));
  const auto values = quantities(world, log_marginal);
  for (std::size_t q = 0; q < values.size(); ++q)
    means[q][std::size_t(t / (all / batches))] += values[q] / (all / batches);
}
/// Some rows lose an element, and one all.
void make_holes(Matrix &x) {
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index j = 0; j < x.cols(); ++j)
      if (i == 3 || (i % 4 == 1 && i / 4 % x.cols() == j)) x(i, j) = NAN;
}
template <class Q>
Means independent_means(const Q &prior, const SamplerSetting &setting, int n, bool holes = false) {
  Random random(setting.seed, 1, 2, 3);
  const int all = effort(20000);
  Means out;
  for (int t = 0; t < all; ++t) {
    World world = draw_world(prior, setting, n, random);
    // Samplers of normals complete the rows, those of products know marginals.
    if (holes && !std::is_same_v<Q, NormalWishart>) make_holes(world.x);
    const double of_rows = log_marginal(world, prior);
    if (holes) make_holes(world.x);
    note(world, of_rows, t, all, out);
  }
  return out;
}

/// The largest difference of a chain's means, in standard errors.
Largest largest_difference(Means means, const Means &independent) {
  Largest out;
  for (std::size_t q = 0; q < means.size(); ++q) {
    for (std::size_t b = 0; b < batches; ++b) means[q][b] -= independent[q][b];
    out.take(z_score(means[q], 0), names[q]);
  }
  return out;
}

/// The largest difference from the independent draws, in standard errors. `believed`,
/// `setting_believed`: what the sampler is given; a value other than the truth is a fault.
template <class Sampler, class Q, class... Components>
Largest geweke(const Means &independent, const Q &prior, const Q &believed,
               const SamplerSetting &setting, const SamplerSetting &setting_believed, int n,
               int all, Components... components) {
  Random random(setting.seed, 3, 2, 1);
  World world = draw_world(prior, setting, n, random);
  SamplerSetting now = setting_believed;
  Control control;
  Means means;
  for (int t = 0; t < all; ++t) {
    auto rows = support::rows_of(world.x);
    if (now.learn_concentration) now.partition.set_concentration(world.alpha);
    Sampler sampler(rows, believed, now, world.labels, components..., control);
    sampler.sweep(t, control);
    world.alpha = sampler.concentration();
    world.labels.assign(sampler.labels().begin(), sampler.labels().end());
    draw_rows(draw(Q(sampler.components()), random), world, random);
    note(world, log_marginal(world, prior), t, all, means);
  }
  return largest_difference(std::move(means), independent);
}

/// The same of rows that miss elements, which are missing anew after every update. A sampler of
/// normals, which draws them, begins with the prior's mean in their place: each sweep forgets most
/// of that, as few elements are missing, so after the last of some there is nothing left of it.
constexpr int sweeps_of_update = 6;
template <class Q>
Largest geweke_with_holes(const Means &independent, const Q &prior, const Q &believed,
                          const SamplerSetting &setting, const char *method, int n, int all) {
  Random random(setting.seed, 3, 2, 2);
  World world = draw_world(prior, setting, n, random);
  SamplerSetting now = setting;
  Control control;
  Means means;
  for (int t = 0; t < all; ++t) {
    make_holes(world.x);
    auto rows = support::rows_of(world.x);
    rows.set_incomplete(true);
    if (now.learn_concentration) now.partition.set_concentration(world.alpha);
    const auto sampler =
        make_sampler(*bayes::method_of(method), rows, believed, now, world.labels, control);
    for (int s = 0; s < sweeps_of_update; ++s) sampler->sweep(t * sweeps_of_update + s, control);
    world.alpha = sampler->concentration();
    world.labels.assign(sampler->labels().begin(), sampler->labels().end());
    draw_rows(draw(Q(sampler->components()), random), world, random);
    make_holes(world.x);
    note(world, sampler->log_marginal(), t, all, means);
  }
  return largest_difference(std::move(means), independent);
}

const auto learning = setting_of(PartitionPrior::dirichlet_process(1), 5, &concentration_prior);
const auto three_components = setting_of(PartitionPrior::finite(3, 0.7), 6);

template <class Sampler, class Q, class... Components>
void check(const std::string &name, const Means &independent, const Q &prior,
           const SamplerSetting &setting, int n, Components... components) {
  const Largest largest =
      geweke<Sampler>(independent, prior, prior, setting, setting, n, effort(8000), components...);
  BOOST_TEST(largest.z < largest_z,
             name << ": " << largest.what << " is " << largest.z << " standard errors off");
  BOOST_TEST_MESSAGE(name << ": " << largest.z << ' ' << largest.what);
}
template <class Q> void check_all(const std::string &name, const Q &prior, int n) {
  const Means of_process = independent_means(prior, learning, n),
              of_three = independent_means(prior, three_components, n);
  check<CollapsedSampler<Q>>(name + ", collapsed", of_process, prior, learning, n);
  check<MarginalSampler<Q>>(name + ", gibbs", of_process, prior, learning, n);
  check<SliceSampler<Q>>(name + ", slice", of_process, prior, learning, n);
  check<CollapsedSampler<Q>>(name + ", collapsed finite", of_three, prior, three_components, n);
  check<FiniteSampler<Q>>(name + ", finite", of_three, prior, three_components, n, 3);
}

template <class Q>
void check_with_holes(const std::string &name, const Q &prior, int n, const char *method,
                      const SamplerSetting &setting) {
  const Largest largest = geweke_with_holes(independent_means(prior, setting, n, true), prior,
                                            prior, setting, method, n, effort(4800));
  BOOST_TEST(largest.z < largest_z, name << ' ' << method << ": " << largest.what << " is "
                                         << largest.z << " standard errors off");
  BOOST_TEST_MESSAGE(name << ' ' << method << ": " << largest.z << ' ' << largest.what);
}

ProductPosterior a_number_and_a_category() {
  return products::some_prior({{kind_of<UnivariateNormal>}, {kind_of<Categorical>, 3}});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sampler_geweke)

BOOST_AUTO_TEST_CASE(rows_that_miss_elements) {
  const auto full = normal_prior(full_covariance, 2),
             diagonal = normal_prior(diagonal_covariance, 2);
  const ProductPosterior columns = a_number_and_a_category();
  check_with_holes("full", full, 7, "collapsed", learning);
  check_with_holes("full", full, 7, "gibbs", three_components);
  check_with_holes("diagonal", diagonal, 7, "gibbs", learning);
  check_with_holes("diagonal", diagonal, 7, "collapsed", three_components);
  check_with_holes("columns", columns, 7, "collapsed", three_components);
  check_with_holes("columns", columns, 7, "gibbs", learning);
}

BOOST_AUTO_TEST_CASE(normal_rows) {
  check_all("full", normal_prior(full_covariance, 2), 7);
  const auto tied = normal_prior(tied_covariance, 2);
  check<FiniteSampler<NormalWishart>>("tied", independent_means(tied, three_components, 7), tied,
                                      three_components, 7, 3);
}

BOOST_AUTO_TEST_CASE(columns) {
  check_all("columns", products::some_prior(products::every_family()), 6);
}

BOOST_AUTO_TEST_CASE(fits_are_calibrated) {
  const int n = 8, kept = 15, replicates = std::max(32, effort(320 * 16) / 16 / 16 * 16);
  const auto calibrate = [&](const auto &prior, Document::Object options, const char *method) {
    options.insert(options.end(),
                   {{"method", method},
                    {"chains", 1},
                    {"warmup", 40},
                    {"draws", 40 + 6 * kept},
                    {"thin", 6},
                    {"concentration", Document::Object{{"shape", concentration_prior.shape},
                                                       {"rate", concentration_prior.rate}}}});
    Random random(91);
    Control control;
    std::vector<std::string> quantities;
    std::vector<std::vector<double>> ranks;
    for (int r = 0; r < replicates; ++r) {
      const World world = draw_world(prior, learning, n, random);
      auto rows = support::rows_of(world.x);
      const auto counts = sizes(world.labels);
      const double log_marginal = log_marginal_likelihood(
          statistics_of_labels(rows, prior, world.labels.data(), int(counts.size()), control),
          replicate(prior, int(counts.size())));
      const double a = world.alpha,
                   log_prior = 2 * std::log(1.5) - std::lgamma(2) + std::log(a) - 1.5 * a;
      auto truth = partition_quantities(counts, PartitionPrior::dirichlet_process(a), random);
      truth.insert(truth.begin(), PartitionPrior::dirichlet_process(a).log_probability(counts) +
                                      log_marginal + log_prior);
      auto seeded = options;
      seeded.emplace_back("seed", r + 1);
      const Draws draws = dpmm_fit(rows, Document(seeded), control).model->draws;
      quantities = draws.quantities;
      ranks.resize(quantities.size(), std::vector<double>(kept + 1));
      for (std::size_t q = 0; q < quantities.size(); ++q) {
        int below = 0, equal = 0;
        for (int t = 0; t < kept; ++t) {
          const double value = draws.values[std::size_t(t) * quantities.size() + q];
          // the same partition, built in another order
          if (std::abs(value - truth[q]) < 1e-9)
            ++equal;
          else
            below += value < truth[q];
        }
        ++ranks[q][std::size_t(below) + std::size_t(random.below(std::uint64_t(equal) + 1))];
      }
    }
    for (std::size_t q = 0; q < quantities.size(); ++q) {
      double chi_square = 0;
      const double expected = replicates / (kept + 1.0);
      for (const double count : ranks[q])
        chi_square += (count - expected) * (count - expected) / expected;
      // 15 degrees of freedom: once in 5e7
      BOOST_TEST(chi_square < 66, method << ' ' << quantities[q] << ' ' << chi_square);
      BOOST_TEST_MESSAGE(method << ' ' << quantities[q] << ": " << chi_square);
    }
  };
  const auto normal = normal_prior(full_covariance, 1);
  const Document::Object keys = {{"m", Tensor{{1}, {normal.m(0)}}},
                                 {"c", normal.c(0)},
                                 {"a", normal.a(0)},
                                 {"B", normal.B[0](0, 0)}};
  for (const char *method : {"collapsed", "gibbs", "slice"})
    calibrate(normal, {{"prior", keys}}, method);
  ProductPosterior columns{products::columns_of({{kind_of<Bernoulli>}, {kind_of<Poisson>}}),
                           Matrix(4, 1)};
  columns.values << 0.8, 1.5, 1.7, 0.6;
  calibrate(
      columns,
      {{"likelihood", Document::List{"bernoulli", "poisson"}},
       {"prior", Document::Object{{"bernoulli", Document::Object{{"a", 0.8}, {"b", 1.5}}},
                                  {"poisson", Document::Object{{"shape", 1.7}, {"rate", 0.6}}}}}},
      "slice");
}

BOOST_AUTO_TEST_CASE(faults_are_found) {
  using Q = NormalWishart;
  const Q prior = normal_prior(full_covariance, 1);
  const Means independent = independent_means(prior, learning, 6);
  const auto find = [&]<class Sampler>(std::type_identity<Sampler>, const Q &believed,
                                       const SamplerSetting &setting) {
    const Largest largest =
        geweke<Sampler>(independent, prior, believed, learning, setting, 6, full_effort(8000));
    BOOST_TEST((largest.z > 1.5 * largest_z && std::isfinite(largest.z)),
               largest.what << ' ' << largest.z);
  };
  Q other = prior;
  other.c *= 4;
  find(std::type_identity<SliceSampler<Q>>(), other, learning);
  other = prior;
  other.a.array() += 2;
  find(std::type_identity<MarginalSampler<Q>>(), other, learning);
  SamplerSetting setting = learning;
  setting.concentration.rate = 2.5;
  find(std::type_identity<CollapsedSampler<Q>>(), prior, setting);
  const auto find_with_holes = [](const auto &truth, const auto &believed) {
    const Largest largest =
        geweke_with_holes(independent_means(truth, learning, 7, true), truth, believed, learning,
                          "collapsed", 7, full_effort(2400));
    BOOST_TEST((largest.z > 1.5 * largest_z && std::isfinite(largest.z)),
               largest.what << ' ' << largest.z);
  };
  const Q full = normal_prior(full_covariance, 2);
  other = full;
  other.B[0] *= 3;
  find_with_holes(full, other);
  ProductPosterior columns = a_number_and_a_category(), wrong = columns;
  wrong.values *= 2;
  find_with_holes(columns, wrong);
}

BOOST_AUTO_TEST_SUITE_END()
