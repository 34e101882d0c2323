// The band of a density, against densities whose weights and parameters are drawn here, by the
// standard library, from the conjugate posteriors given the partitions that the model stores.
//
// Seeds are fixed. The shares of these densities below and above the band may be off by 4.5
// standard errors, so a false alarm at one value of a grid has a rate of 1 in 100,000.
#include <functional>
#include <random>

#include "bmm_support.hpp"
#include "charts/charts.hpp"
#include "dpmm_support.hpp"

using namespace bayes;
using support::Options;
using support::with;

namespace {

using Generator = std::mt19937_64;
/// P(X <= x) for a number X
using Below = std::function<double(double)>;
/// The components of one draw: a weight, relative to the others, and a distribution.
using Mixture = std::vector<std::pair<double, Below>>;
using Draw = std::function<Mixture(Generator &)>;

double gamma_of(double shape, Generator &generator) {
  return std::gamma_distribution<double>(shape, 1)(generator);
}
double sd_of(double scale, double degrees, Generator &generator) {
  return std::sqrt(scale / (2 * gamma_of(degrees / 2, generator)));
}
/// A normal with the mean drawn about m, of c rows.
Below normal_of(double m, double c, double sd, Generator &generator) {
  const double mean = m + sd / std::sqrt(c) * std::normal_distribution<double>()(generator);
  return [=](double x) { return 0.5 * std::erfc((mean - x) / (sd * std::sqrt(2.0))); };
}

std::vector<double> numbers(const Document &of, const char *key) {
  return of.find(key)->as<Tensor>()->values;
}

/// The density lies below and above the band of a column as often as the level says. Returns the
/// smallest width, relative to the density.
double check_band(const Model &model, int column, const std::vector<Draw> &draws,
                  bool whole = false) {
  Control control;
  const double level = 0.8;
  const Figure figure =
      chart(model, "band",
            Document(Options{{"columns", Document::List{column + 1}}, {"level", level}}), control);
  const auto &band = figure.panels.at(0).layers.at(0).items,
             &line = figure.panels.at(0).layers.at(1).items;
  BOOST_REQUIRE(band.size() > 5);
  const double half = whole ? 0.5 : (band[1].x - band[0].x) / 2;
  double most = 0;
  for (const ChartItem &each : line) most = std::max(most, each.y);

  const int count = 3000;
  Generator generator(5);
  std::vector<int> below(band.size()), above(band.size());
  for (int i = 0; i < count; ++i) {
    std::vector<double> densities(band.size());
    double sum = 0;
    for (const auto &[weight, of] : draws[std::size_t(i) % draws.size()](generator)) {
      sum += weight;
      for (std::size_t g = 0; g < band.size(); ++g)
        densities[g] += weight * (of(band[g].x + half) - of(band[g].x - half)) / (2 * half);
    }
    for (std::size_t g = 0; g < band.size(); ++g) {
      below[g] += densities[g] / sum < band[g].low;
      above[g] += densities[g] / sum > band[g].high;
    }
  }
  const double tail = (1 - level) / 2,
               bound = 4.5 * std::sqrt(tail * (1 - tail) * (1.0 / count + 1.0 / 1000));
  double narrowest = 1;
  for (std::size_t g = 0; g < band.size(); ++g) {
    if (line[g].y < 0.02 * most) continue;
    BOOST_TEST_CONTEXT("at " << band[g].x) {
      BOOST_TEST(std::abs(below[g] / double(count) - tail) < bound);
      BOOST_TEST(std::abs(above[g] / double(count) - tail) < bound);
    }
    narrowest = std::min(narrowest, (band[g].high - band[g].low) / line[g].y);
  }
  return narrowest;
}

/// Normal components of draws, `sizes` of them in each.
struct Normals {
  std::vector<double> alphas, m, c, a, B;
  std::vector<int> sizes;

  Normals(const Document &of, int k) : Normals(of, {}, {}) {
    sizes.assign(c.size() / std::size_t(k), k);
  }
  Normals(const Document &of, std::vector<double> weights, std::vector<int> each)
      : alphas(std::move(weights)),
        m(numbers(of, "m")),
        c(numbers(of, "c")),
        a(numbers(of, "a")),
        B(numbers(of, "B")),
        sizes(std::move(each)) {}

  /// Element j of d. `tied`: the components of a draw share one covariance.
  std::vector<Draw> draws(int j, int d, const std::string &shape) const {
    const bool dense = shape == "full" || shape == "tied";
    const std::size_t scales = B.size() / a.size(), entry = std::size_t(shape == "spherical" ? 0
                                                                        : dense ? j * d + j
                                                                                : j);
    std::vector<Draw> out;
    std::size_t first = 0;
    for (const int size : sizes) {
      out.emplace_back([=, this](Generator &generator) {
        Mixture mixture;
        double sd = 0;
        for (std::size_t k = first; k < first + std::size_t(size); ++k) {
          if (shape != "tied" || k == first)
            sd = sd_of(B[k * scales + entry], a[k] - (dense ? d - 1 : 0), generator);
          mixture.emplace_back(
              gamma_of(alphas[k], generator),
              normal_of(m[k * std::size_t(d) + std::size_t(j)], c[k], sd, generator));
        }
        return mixture;
      });
      first += std::size_t(size);
    }
    return out;
  }
};

/// The parameters of the weights given the partitions.
std::vector<double> alphas_of(const Document &draws, double sum) {
  std::vector<double> out = numbers(draws, "weights");
  for (double &each : out) each *= sum;
  return out;
}

const Options few = {{"method", "gibbs"}, {"chains", 1},         {"draws", 250},
                     {"warmup", 100},     {"stored_draws", 250}, {"on_error", "error"}};

}  // namespace

BOOST_AUTO_TEST_SUITE(density_band)

// There is a single partition, and its posterior is that of vi: what varies are the parameters.
BOOST_AUTO_TEST_CASE(of_one_normal) {
  const Matrix x = support::data_set("faithful").topRows(60);
  for (const std::string &shape : support::shapes) BOOST_TEST_CONTEXT(shape) {
      const GmmPosterior q = support::fit(x, 1, {{"covariance", shape}})->posterior(0);
      const auto model = support::fit(x, 1, with(few, {{"covariance", shape}}));
      for (const int j : {0, 1}) {
        const double degrees = shape == "full" || shape == "tied" ? q.a - 1 : q.a;
        const Draw exact = [&](Generator &generator) {
          const double sd = sd_of(q.B[std::size_t(3 * j)], degrees, generator);
          return Mixture{{1, normal_of(q.m[std::size_t(j)], q.c, sd, generator)}};
        };
        BOOST_TEST(check_band(*model, j, {exact}) > 0.1);
      }
    }
}

BOOST_AUTO_TEST_CASE(of_normal_mixtures) {
  const Matrix x = support::data_set("faithful").topRows(80);
  for (const std::string &shape : support::shapes) BOOST_TEST_CONTEXT(shape) {
      const auto model = support::fit(x, 2, with(few, {{"covariance", shape}}));
      const Document all = model->to_document();
      Normals normals(*all.find("posterior_draws"), 2);
      normals.alphas = alphas_of(*all.find("posterior_draws"), 80 + 2);
      for (const int j : {0, 1}) check_band(*model, j, normals.draws(j, 2, shape));
    }
}

BOOST_AUTO_TEST_CASE(of_mixtures_of_columns) {
  const auto model =
      latent::fitted(latent::mixed_rows(80, 3), 2, with(few, with(latent::mixed, {})));
  const Document all = model->to_document(), &stored = *all.find("posterior_draws"),
                 &poisson = *stored.find("poisson");
  const std::vector<double> alphas = alphas_of(stored, 80 + 2), shape = numbers(poisson, "shape"),
                            rate = numbers(poisson, "rate");
  std::vector<Draw> draws;
  for (std::size_t s = 0; s < alphas.size(); s += 2)
    draws.emplace_back([&, s](Generator &generator) {
      Mixture mixture;
      for (const std::size_t k : {s, s + 1}) {
        const double mean = gamma_of(shape[k], generator) / rate[k];
        mixture.emplace_back(gamma_of(alphas[k], generator), [mean](double x) {
          double sum = 0;
          for (int i = 0; i <= x; ++i)
            sum += std::exp(i * std::log(mean) - mean - std::lgamma(i + 1));
          return sum;
        });
      }
      return mixture;
    });
  check_band(*model, 1, draws, true);

  Normals normals(*stored.find("normal"), 2);
  normals.alphas = alphas;
  check_band(*model, 2, normals.draws(0, 1, "diagonal"));
}

BOOST_AUTO_TEST_CASE(of_clusters) {
  const Matrix x = support::data_set("galaxies") / 1000;
  const auto model = dpmm::fit(x, with(few, {{"concentration", 0.7}})).model;
  const Document all = model->to_document(), &stored = *all.find("components_of_draws");
  std::vector<int> sizes;
  for (const double each : numbers(stored, "sizes")) sizes.push_back(int(each));
  // Clusters to come are one in a hundred, and spread over all values: they only take their share
  // of the weight.
  const Normals normals(stored, alphas_of(stored, 82.7), sizes);
  std::vector<Draw> draws;
  for (const Draw &draw : normals.draws(0, 1, "full"))
    draws.emplace_back([draw](Generator &generator) {
      Mixture out = draw(generator);
      out.emplace_back(gamma_of(0.7, generator), [](double) { return 0.0; });
      return out;
    });
  check_band(*model, 0, draws);
}

BOOST_AUTO_TEST_SUITE_END()
