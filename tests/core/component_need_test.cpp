// Components that the rows do not tell apart: found by comparing fits with and without them, and
// what models then say of their parameters.
#include "bmm_support.hpp"
#include "fit/linear_response.hpp"
#include "hmm_support.hpp"
#include "models/comparison.hpp"

using namespace bayes;
using support::Options;
using support::with;

namespace {

/// Two normals in d dimensions, so far apart in the first.
Matrix two_normals(int n, int d, double apart, std::uint64_t seed) {
  Random random(seed);
  Matrix x(n, d);
  for (int i = 0; i < n; ++i) {
    const bool second = random.uniform() < 0.4;
    for (int j = 0; j < d; ++j) x(i, j) = random.normal() + (second && j == 0 ? apart : 0);
  }
  return x;
}
Matrix two_classes(int n, int d, double p, std::uint64_t seed) {
  Random random(seed);
  Matrix x(n, d);
  for (int i = 0; i < n; ++i) {
    const double own = random.uniform() < 0.4 ? p : 1 - p;
    for (int j = 0; j < d; ++j) x(i, j) = random.uniform() < own;
  }
  return x;
}
hidden_markov::Sequence two_states(int n, double apart, std::uint64_t seed) {
  Random random(seed);
  hidden_markov::Sequence out;
  for (int t = 0, state = 0; t < n; ++t) {
    if (random.uniform() < 0.1) state = 1 - state;
    out.push_back(random.normal() + state * apart);
  }
  return out;
}

/// Agreement with the gain of the log likelihood, at the points that fits of one and of two
/// components report. The bound's own log likelihood, of expected logarithms, is near that.
class Agreement {
 public:
  void add(const Model &one, const Model &two, double numbers) {
    const double beyond = two.info.log_likelihood - one.info.log_likelihood - least_fall(numbers);
    if (std::abs(beyond) < 5) return;
    BOOST_TEST(two.info.told_apart == (beyond > 0), "beyond by " << beyond);
    ++(beyond > 0 ? apart_ : doubtful_);
  }
  ~Agreement() {
    BOOST_TEST(apart_ > 1);
    BOOST_TEST(doubtful_ > 1);
  }

 private:
  int apart_ = 0, doubtful_ = 0;
};

struct Told {
  int deviations = 0, intervals = 0, parameters = 0;
  bool all_overlap = true;
};
Told told(const Model &model) {
  Told out;
  model.describe_parameters(0.9, [&](const Parameter &p) {
    ++out.parameters;
    out.deviations += !std::isnan(p.deviation);
    out.intervals += !std::isnan(p.lower) || !std::isnan(p.upper);
    out.all_overlap = out.all_overlap && p.known_by == Parameter::components_overlap;
  });
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(component_need)

BOOST_AUTO_TEST_CASE(is_the_gain_of_the_log_likelihood) {
  const std::vector<double> distances = {0.5, 1.5, 2.2, 2.6, 3, 3.5, 4.5, 6};
  for (const std::string &shape : support::shapes) BOOST_TEST_CONTEXT(shape) {
      Agreement agreement;
      for (const double apart : distances) {
        const Matrix x = two_normals(150, 2, apart, std::uint64_t(10 * apart));
        const Options options = {{"covariance", shape}};
        // the weight; m, c, and the precision with a: of each component, or of the shared one
        const double numbers = shape == "full"       ? 1 + 7
                               : shape == "diagonal" ? 1 + 8
                               : shape == "tied"     ? 1 + 3 + 4 / 2.0
                                                     : 1 + 5;
        agreement.add(*support::fit(x, 1, options), *support::fit(x, 2, options), numbers);
      }
    }
  {
    Agreement agreement;
    for (const double p : {0.52, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9}) {
      const Matrix x = two_classes(150, 5, p, std::uint64_t(100 * p));
      agreement.add(*latent::fitted(x, 1, {}), *latent::fitted(x, 2, {}), 1 + 10);
    }
  }
  Agreement agreement;
  for (const double apart : distances) {
    hidden_markov::Data data(1, {two_states(150, apart, std::uint64_t(10 * apart))});
    agreement.add(*hidden_markov::fitted(data, 1, {}), *hidden_markov::fitted(data, 2, {}),
                  1 + 2 + 4);
  }
}

BOOST_AUTO_TEST_CASE(models_tell_nothing_that_is_not_known) {
  std::vector<std::unique_ptr<Model>> models;
  const Matrix rows = two_normals(100, 2, 1.5, 4);
  models.push_back(support::fit(rows, 2, {}));
  models.push_back(latent::fitted(two_classes(100, 4, 0.6, 4), 2, {}));
  hidden_markov::Data data(1, {two_states(60, 1, 4)});
  models.push_back(hidden_markov::fitted(data, 2, {}));
  for (const auto &model : models) BOOST_TEST_CONTEXT(model->info.family) {
      BOOST_TEST(!model->info.told_apart);
      const Told of = told(*model);
      BOOST_TEST((of.parameters > 0 && of.all_overlap));
      BOOST_TEST(of.deviations == 0);
      BOOST_TEST(of.intervals == 0);
      compare_components(*model, *model,
                         [](const ComparedParameter &p) { BOOST_TEST(std::isnan(p.deviation)); });
      // It outlives the model's bytes.
      const auto again = Model::from_bytes(model->to_bytes());
      BOOST_TEST(!again->info.told_apart);
      BOOST_TEST(told(*again).deviations == 0);
    }
  // Linear response at this optimum is there for those who ask for it.
  const auto asked = support::fit(rows, 2, {{"linear_response", true}});
  BOOST_TEST(asked->info.told_apart);
  BOOST_TEST(told(*asked).deviations > 0);
}

BOOST_AUTO_TEST_CASE(every_component_counts) {
  const Matrix x = two_normals(400, 2, 6, 3);
  const auto one = support::fit(x, 1, {}), two = support::fit(x, 2, {}),
             three = support::fit(x, 3, {});
  BOOST_TEST(one->info.told_apart);
  BOOST_TEST(two->info.told_apart);
  BOOST_TEST(told(*two).deviations == told(*two).parameters);
  // One of them is nearly empty, or half of a group.
  BOOST_TEST(!three->info.told_apart);
  // Few rows beside those of the prior, which told them apart.
  const auto near = support::fit(two_normals(400, 2, 4, 3), 2, {});
  BOOST_TEST(near->info.told_apart);
  for (const int few : {4, 6, 12})
    BOOST_TEST(
        support::fit(two_normals(few, 2, 4, 5), 2, {}, {}, near.get(), true)->info.told_apart,
        few << " rows more");
}

// Without one of its states no sequence can go on.
BOOST_AUTO_TEST_CASE(states_that_sequences_need) {
  Random random(2);
  std::vector<hidden_markov::Sequence> x(30);
  for (auto &sequence : x)
    for (int t = 0; t < 12; ++t) sequence.push_back(random.normal() + (t > 5 ? 4 : 0));
  hidden_markov::Data data(1, x);
  const auto model = hidden_markov::fitted(data, 2, {{"topology", "left-to-right"}});
  BOOST_TEST(model->info.told_apart);
}

BOOST_AUTO_TEST_SUITE_END()
