// Hidden Markov models of multivariate normals with missing elements of observations: against
// mixtures, where the chain has one state or says nothing, and integrals over what is missing.
#include "hmm_support.hpp"
#include "missing_support.hpp"

using namespace hidden_markov;
using missing::none;

namespace {

const std::vector<std::string> hmm_shapes = {"full", "diagonal", "spherical", "tied"};

/// Steps in turn near (-3, -3, ...) and (3, 3, ...), elements of which are missing.
support::Matrix steps(int n, int d, double share) {
  bayes::Random random(3);
  support::Matrix x(n, d);
  for (int i = 0; i < n; ++i) {
    const double common = random.normal();
    for (int j = 0; j < d; ++j) x(i, j) = random.normal() + common + (i / 10 % 2 ? 3 : -3);
  }
  x = missing::with_holes(x, share, 5, true);
  return x;
}
Sequence flat(const support::Matrix &x) {
  Sequence out;
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (const double v : support::row(x, i)) out.push_back(v);
  return out;
}
double log_likelihood(const HiddenMarkovModel &model, const Sequence &x) {
  Data one(model.dimension(), {x});
  bayes::Control control;
  return model.log_likelihood(one.all, control);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hmm_missing)

/// With one state the model is a mixture of one component.
BOOST_AUTO_TEST_CASE(one_state_is_one_component) {
  const support::Matrix x = steps(150, 3, 0.2);
  for (const auto &shape : hmm_shapes)
    for (const char *method : {"em", "vi", "map"}) BOOST_TEST_CONTEXT(method << ' ' << shape) {
        const Options options = {{"method", method}, {"covariance", shape}, {"tol", 1e-9}};
        Data data(3, {flat(x)});
        const Fitted model = fitted(data, 1, with(options, {{"emission", "normal"}}));
        const auto mixture = support::fit(x, 1, with(options, {{"missing", "marginalize"}}));
        BOOST_TEST(support::distance(model->info.objective, mixture->info.objective) < 1e-7);
        BOOST_TEST(support::distance(model->info.log_likelihood, mixture->info.log_likelihood) <
                   1e-7);
      }
}

BOOST_AUTO_TEST_CASE(scores_are_integrals_over_what_is_missing) {
  const support::Matrix x = steps(120, 2, 0.2);
  for (const auto &shape : hmm_shapes)
    for (const char *method : {"em", "vi", "svi", "gibbs"})
      BOOST_TEST_CONTEXT(method << ' ' << shape) {
        Options options = {{"method", method}, {"covariance", shape}, {"emission", "normal"}};
        if (std::string(method) == "gibbs")
          options = with(options, {{"chains", 1}, {"draws", 30}, {"warmup", 10}});
        Data data(2, {flat(x)});
        const Fitted model = fitted(data, 2, options);
        for (const auto &trace : model->trace)
          for (std::size_t i = 1; std::string(method) != "svi" && i < trace.size(); ++i)
            BOOST_TEST(trace[i] >= trace[i - 1] - 1e-9 * std::abs(trace[i]));
        // two steps miss something, one misses all
        const std::vector<double> some = {-3, none, 2, 3, none, -2.5, -3, -4}, centre(8, 0.0);
        const double integral = missing::log_quadrature(
            some, centre, 3,
            [&](const std::vector<double> &whole) { return log_likelihood(*model, whole); }, 0.12,
            7);
        BOOST_TEST(std::abs(log_likelihood(*model, some) - integral) < 1e-4);
        Sequence gap = some;
        gap.insert(gap.begin() + 4, {none, none});
        BOOST_TEST(std::isfinite(log_likelihood(*model, gap)));
      }
}

/// One state: the posterior of a normal distribution, which gibbs of a mixture with one component
/// samples as well. A step that counted as entirely missing, or as what is expected of it, would
/// give another one.
BOOST_AUTO_TEST_CASE(gibbs_draws_what_is_missing, *boost::unit_test::label("long")) {
  const support::Matrix x = steps(60, 3, 0.35);
  for (const auto &shape : hmm_shapes) BOOST_TEST_CONTEXT(shape) {
      Options options = {{"method", "gibbs"},
                         {"covariance", shape},
                         {"draws", support::effort(2000)},
                         {"chains", 2}};
      Data data(3, {flat(x)});
      const Fitted model = fitted(data, 1, with(options, {{"emission", "normal"}}));
      const auto mixture =
          support::fit(x, 1, with(options, {{"missing", "marginalize"}, {"seed", 5}}));
      std::vector<double> mean, covariance;
      model->emissions([&](const bayes::HmmEmission &e) {
        mean = e.mean;
        covariance = e.covariance;
      });
      const auto c = mixture->component(0);
      for (std::size_t j = 0; j < mean.size(); ++j)
        BOOST_TEST(std::abs(mean[j] - c.mean[j]) < 0.06, mean[j] << ' ' << c.mean[j]);
      for (std::size_t j = 0; j < covariance.size(); ++j)
        BOOST_TEST(std::abs(covariance[j] - c.covariance[j]) < 0.05 * covariance[0] + 0.1,
                   covariance[j] << ' ' << c.covariance[j]);
    }
}

/// Threads and pieces give every step its own stream.
BOOST_AUTO_TEST_CASE(draws_of_missing_elements_are_the_same_for_any_number_of_threads) {
  std::vector<Sequence> many;
  for (int i = 0; i < 40; ++i) many.push_back(flat(steps(700, 2, 0.2)));
  const Options options = {
      {"method", "gibbs"}, {"draws", 4}, {"warmup", 3}, {"chains", 1}, {"emission", "normal"}};
  std::vector<std::vector<double>> values;
  for (const int threads : {1, 3}) {
    Data data(2, many);
    values.push_back(fitted(data, 2, options, threads)->draws.values);
  }
  BOOST_TEST(values[0] == values[1]);
}

/// Steps that miss all do not count in n.
BOOST_AUTO_TEST_CASE(bic_counts_steps_that_are_observed) {
  support::Matrix x = steps(80, 2, 0.2);
  x.row(3).setConstant(none);
  x.row(4).setConstant(none);
  int observed = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    observed += !missing::observed(support::row(x, i)).empty();
  const std::map<std::string, int> of_covariances = {
      {"full", 6}, {"diagonal", 4}, {"spherical", 2}, {"tied", 3}};
  for (const auto &shape : hmm_shapes)
    for (const char *method : {"em", "vi", "gibbs"}) BOOST_TEST_CONTEXT(method << ' ' << shape) {
        Data data(2, {flat(x)}, {}, {});
        Options options = {{"method", method}, {"covariance", shape}, {"emission", "normal"}};
        if (std::string(method) == "gibbs") options = with(options, {{"draws", 20}});
        const Fitted fresh = fitted(data, 2, options);
        const auto again = bayes::Model::from_document(fresh->to_document());
        const auto &model = static_cast<const HiddenMarkovModel &>(*again);
        const double parameters = 1 + 2 + 4 + of_covariances.at(shape);
        BOOST_TEST(model.free_parameters() == parameters);
        if (std::string(method) == "gibbs")
          BOOST_TEST(std::isnan(model.bic()));
        else
          BOOST_TEST(distance(model.bic(), -2 * model.info.log_likelihood +
                                               parameters * std::log(observed)) < 1e-12);
      }
}

/// What is observed of a step moves its state.
BOOST_AUTO_TEST_CASE(the_rest_of_a_step_counts) {
  support::Matrix x = steps(200, 2, 0.3);
  for (const auto &shape : hmm_shapes) BOOST_TEST_CONTEXT(shape) {
      Data data(2, {flat(x)});
      const Fitted model =
          fitted(data, 2, {{"method", "em"}, {"covariance", shape}, {"emission", "normal"}});
      bayes::Control control;
      const auto path = model->decode(data.all, control);
      int wrong = 0;
      for (Eigen::Index i = 0; i < x.rows(); ++i)
        if (!missing::observed(support::row(x, i)).empty())
          wrong += (path.states[std::size_t(i)] == path.states[0]) != (i / 10 % 2 == 0);
      BOOST_TEST(wrong <= 4);
    }
}

BOOST_AUTO_TEST_CASE(an_element_that_is_missing_everywhere_is_named) {
  support::Matrix x = steps(50, 3, 0.1);
  x.col(1).setConstant(none);
  Data data(3, {flat(x)});
  BOOST_TEST(message_of([&] {
               fitted(data, 2, {{"emission", "normal"}});
             }).find("element 2 is missing in every row") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
