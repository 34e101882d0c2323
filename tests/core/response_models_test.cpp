// Linear response in models: where nobody asks for it, after every fit by vi that costs as much,
// and in the order of their states.
#include "dpmm_support.hpp"
#include "hmm_support.hpp"

using namespace bayes;
using support::Options;
using support::with;

namespace {

const Options mean_field = {{"linear_response", false}},
              response = {{"linear_response", true}, {"tol", 1e-12}};

/// Two components whose means are `apart` standard deviations apart, in their first element.
Matrix overlapping_rows(int n, int d, double apart, std::uint64_t seed) {
  Random random(seed);
  Matrix x(n, d);
  for (int i = 0; i < n; ++i) {
    const double shift = random.uniform() < 0.5 ? apart : 0;
    for (int j = 0; j < d; ++j) x(i, j) = random.normal() + (j == 0 ? shift : 0);
  }
  return x;
}

std::vector<Parameter> described(const auto &model) {
  std::vector<Parameter> out;
  model.describe_parameters({}, [&](const Parameter &p) { out.push_back(p); });
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(response_models)

// Where a fit crawls it ends far from the maximum, by its own tolerance: Newton's method goes
// there.
BOOST_AUTO_TEST_CASE(a_fit_that_crawls_is_brought_to_its_maximum) {
  int moved = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Matrix x = overlapping_rows(1000, 2, 2.5, seed);
    const auto found = support::fit(x, 2, {{"restarts", 3}}),
               plain = support::fit(x, 2, with({{"restarts", 3}}, mean_field)),
               exact = support::fit(x, 2, {{"restarts", 3}, {"tol", 1e-10}});
    const double gained = found->info.objective - plain->info.objective;
    BOOST_TEST(gained >= 0);
    moved += gained > 0;
    BOOST_TEST(found->info.objective > exact->info.objective - 5e-3);
    const auto own = described(*found), at_end = described(*exact), narrow = described(*plain);
    for (std::size_t i = 0; i < own.size(); ++i) {
      BOOST_TEST(own[i].known_by == std::string_view(Parameter::linear_response));
      BOOST_TEST(narrow[i].known_by == std::string_view(Parameter::mean_field));
      BOOST_TEST(std::abs(own[i].value - at_end[i].value) < 0.11 * at_end[i].deviation);
      BOOST_TEST(std::abs(own[i].deviation / at_end[i].deviation - 1) < 0.05);
    }
    std::size_t longest = 0;
    for (const auto &trace : found->trace) {
      longest = std::max(longest, trace.size());
      BOOST_TEST(std::is_sorted(trace.begin(), trace.end(),
                                [](double a, double b) { return a < b - 1e-9; }));
    }
    BOOST_TEST(std::any_of(found->trace.begin(), found->trace.end(), [&](const auto &trace) {
      return int(trace.size()) == found->info.iterations + 1 &&
             trace.back() == found->info.objective;
    }));
    const auto again = Model::from_document(found->to_document());
    BOOST_TEST(again->to_bytes() == found->to_bytes());
  }
  BOOST_TEST(moved > 0);
}

// Of many rows linear response is that of those on which restarts run.
BOOST_AUTO_TEST_CASE(a_sample_tells_how_many_rows_respond) {
  const Matrix x = overlapping_rows(60000, 6, 3.5, 4);
  const Options brief = {{"restarts", 2}, {"tol", 1e-5}};
  const auto sampled = described(*support::fit(x, 2, brief)),
             whole = described(*support::fit(x, 2, with(brief, {{"linear_response", true}}))),
             narrow = described(*support::fit(x, 2, with(brief, mean_field)));
  double largest = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    BOOST_TEST(sampled[i].known_by == std::string_view(Parameter::linear_response));
    BOOST_TEST(sampled[i].deviation != whole[i].deviation);
    BOOST_TEST(std::abs(sampled[i].deviation / whole[i].deviation - 1) < 0.05);
    largest = std::max(largest, whole[i].deviation / narrow[i].deviation);
  }
  BOOST_TEST(largest > 1.15);
}

// Of a Dirichlet process mixture by vi.
BOOST_AUTO_TEST_CASE(clusters_respond_too) {
  const Matrix x = overlapping_rows(600, 2, 3, 2);
  const auto found = dpmm::fit(x, {{"method", "vi"}}),
             plain = dpmm::fit(x, with({{"method", "vi"}}, mean_field));
  const auto own = described(*found.model), narrow = described(*plain.model);
  BOOST_REQUIRE(own.size() == narrow.size());
  BOOST_REQUIRE(own.size() == 10u);
  double largest = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    BOOST_TEST(own[i].known_by == std::string_view(Parameter::linear_response));
    BOOST_TEST(narrow[i].known_by == std::string_view(Parameter::given_partition));
    BOOST_TEST(own[i].deviation > 0.8 * narrow[i].deviation);
    largest = std::max(largest, own[i].deviation / narrow[i].deviation);
  }
  BOOST_TEST(largest > 1.3);
  const auto again = Model::from_document(found.model->to_document());
  BOOST_TEST(again->to_bytes() == found.model->to_bytes());
  const auto read = described(static_cast<const DirichletProcessMixture &>(*again));
  BOOST_TEST(read[1].deviation == own[1].deviation);
}

// Deviations go with their states and symbols, whatever the order in which these came.
BOOST_AUTO_TEST_CASE(deviations_follow_the_order_of_states_and_symbols) {
  const std::vector<hidden_markov::Sequence> x = {
      hidden_markov::drawn({0.3, 0.7}, {{0.8, 0.2}, {0.1, 0.9}}, 200, 4,
                           hidden_markov::letters_of({{0.7, 0.2, 0.1}, {0.1, 0.3, 0.6}}))};
  const int place[] = {2, 0, 1};
  std::vector<hidden_markov::Sequence> moved = x;
  for (double &symbol : moved[0]) symbol = place[int(symbol)];
  const auto by = [&](const std::vector<hidden_markov::Sequence> &sequences,
                      std::vector<std::string> names, int first) {
    Tensor begin{{2, 2}, {0.8, 0.2, 0.2, 0.8}};
    Document::List symbols = {Options{{"a", 0.8}, {"b", 0.1}, {"c", 0.1}},
                              Options{{"a", 0.1}, {"b", 0.1}, {"c", 0.8}}};
    if (first) std::swap(symbols[0], symbols[1]);
    hidden_markov::Data data(1, sequences);
    data.named(std::move(names));
    const auto model = hidden_markov::fitted(
        data, 2,
        with(response, {{"init", Options{{"transitions", begin}, {"probabilities", symbols}}}}));
    const auto read = Model::from_bytes(model->to_bytes());
    const auto &back = static_cast<const HiddenMarkovModel &>(*read);
    std::vector<double> out(13);
    out[12] = back.state_at(first).initial_deviation;
    back.transitions([&](const HmmTransition &t) {
      out[std::size_t(2 * (t.from ^ first) + (t.to ^ first))] = t.deviation;
    });
    back.emissions([&](const HmmEmission &e) {
      out[std::size_t(4 + 3 * (e.state ^ first) + ((*e.symbol)[0] - 'a'))] = e.deviation;
    });
    return out;
  };
  const auto expected = by(x, {"a", "b", "c"}, 0);
  BOOST_TEST(expected[0] > 0);
  BOOST_TEST(support::distance(by(moved, {"b", "c", "a"}, 1), expected) < 1e-6);
}

BOOST_AUTO_TEST_SUITE_END()
