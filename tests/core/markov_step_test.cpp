// The pass over sequences of a hidden Markov model: results for a long sequence do not depend on
// the memory for its checkpoints. hmm_steps_test compares short sequences with definitions.
#include "markov/markov_step.hpp"

#include <memory>

#include "families/product/column_families.hpp"
#include "families/product/product.hpp"
#include "markov/markov_learners.hpp"
#include "support.hpp"

using namespace bayes;
using support::distance;

namespace {

/// Two states of counts, and one long sequence of theirs between short ones.
struct Data {
  MemoryRows rows{{1, true}};
  Sequences sequences{rows, 1};
  MarkovPoint<ProductPoint> point;

  explicit Data(const Matrix &transition) {
    const auto columns =
        std::make_shared<const Columns>(std::vector<ColumnSpec>{{kind_of<Poisson>}});
    point.initial = Eigen::Vector2d(0.75, 0.25);
    point.transition = transition;
    point.emissions = {columns, Matrix(columns->size().point, 2)};
    point.emissions.values.row(0) << 2, 7;
    Random random(3);
    SequenceWriter writer(sequences, rows.shape(),
                          [this](const double *x, double weight) { rows.append(x, weight); });
    for (const int steps : {5, 200000, 3, 170000}) {
      writer.begin(steps, 1);
      int state = 0;
      for (int t = 0; t < steps; ++t) {
        state = random.uniform() < transition(state, 1);
        const double x = std::floor(random.gamma(state ? 7.5 : 2.5));
        writer.step(&x);
      }
    }
  }

  MarkovSums sums(const PathDraws *draws, std::int64_t room) {
    Control control;
    const auto scorer = make_scorer(point.emissions);
    return markov_step(sequences, control, bayes::markov::chain_of(point),
                       *emissions_of(scorer, false, 0), draws, room);
  }
};

void check_same(const MarkovSums &a, const MarkovSums &b) {
  BOOST_TEST(distance(a.objective, b.objective) < 1e-13);
  BOOST_TEST(distance(a.initial, b.initial) < 1e-12);
  BOOST_TEST(distance(a.transitions, b.transitions) < 1e-12);
  BOOST_TEST(distance(a.visits, b.visits) < 1e-12);
  BOOST_TEST(distance(a.counts, b.counts) < 1e-12);
  BOOST_TEST(distance(a.raw, b.raw) < 1e-12);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(markov_step)

BOOST_AUTO_TEST_CASE(checkpoints_of_checkpoints_change_nothing) {
  Matrix usual(2, 2), rare(2, 2);
  usual << 0.9, 0.1, 0.2, 0.8;
  rare << 1 - 1e-160, 1e-160, 0.2, 0.8;  // too small for scaled numbers
  for (const Matrix &transition : {usual, rare}) {
    Data data(transition);
    const MarkovSums whole = data.sums(nullptr, max_checkpoint_doubles);
    BOOST_TEST(distance(whole.visits[0] + whole.visits[1], 370008) < 1e-10);
    BOOST_TEST(distance(whole.initial[0] + whole.initial[1], 4) < 1e-12);
    check_same(whole, data.sums(nullptr, 0));
    std::vector<std::uint16_t> labels(std::size_t(data.rows.rows())), others(labels.size());
    const PathDraws draws{RowRandom(5, 0, 0, 0), labels.data(), nullptr},
        again{RowRandom(5, 0, 0, 0), others.data(), nullptr};
    check_same(data.sums(&draws, max_checkpoint_doubles), data.sums(&again, 0));
    BOOST_TEST((labels == others));
  }
}

BOOST_AUTO_TEST_CASE(windows_of_many_states_are_polled) {
  const int k = 304, n = 64;
  const std::size_t padded = std::size_t(padded_states(k)), all = padded * n;
  const MarkovChain chain(Vector::Constant(k, -std::log(k)), Matrix::Constant(k, k, -std::log(k)));
  Buffer emission(all, 1.0), shift(n, 0.0), forward(all + padded, 1.0), backward(all, 1.0),
      scale(n + simd::lanes, 1.0), last(padded, 1.0), sums(padded * padded, 0.0);
  const ChainSteps steps{n,
                         emission.data(),
                         shift.data(),
                         forward.data() + padded,
                         backward.data(),
                         scale.data() + simd::lanes};
  // A poll for two million operations, of which an exponential is some.
  const int few = int(std::size_t(n * k) * padded >> 21), many = 10 * few;
  BOOST_REQUIRE(few > 0);
  using support::polls_of;
  BOOST_TEST(polls_of([&] { scaled_recursion::forward(chain, steps, true); }) >= few);
  BOOST_TEST(polls_of([&] { scaled_recursion::backward(chain, steps, last.data()); }) >= few);
  BOOST_TEST(polls_of([&] { log_recursion::forward(chain, steps, true); }) >= many);
  BOOST_TEST(polls_of([&] { log_recursion::backward(chain, steps, last.data()); }) >= many);
  BOOST_TEST(polls_of([&] { log_recursion::posterior(chain, steps, true, 1, sums.data()); }) >=
             many);
  std::vector<std::uint16_t> from(all);
  Buffer best(padded, 0.0);
  BOOST_TEST(
      polls_of([&] { viterbi(chain, n, emission.data(), true, best.data(), from.data()); }) >= few);
}

BOOST_AUTO_TEST_SUITE_END()
