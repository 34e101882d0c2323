// Fitted Dirichlet process mixtures: what is refused, densities, edges, options, seeds and threads.
#include "dpmm_support.hpp"

using namespace dpmm;

namespace {

std::string message_of(const Options &options) {
  try {
    fit(doubtful_rows(4, 2, 1), options);
  } catch (const Error &error) {
    BOOST_TEST((error.code() == Errc::invalid_argument || error.code() == Errc::too_large),
               error.what());
    return std::string(error.what()) + ' ' + error.detail() + ' ' + error.hint();
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dpmm)

BOOST_AUTO_TEST_CASE(impossible_options_are_named) {
  const auto expect = [](const Options &options, const std::string &word) {
    const std::string message = message_of(options);
    BOOST_TEST(message.find(word) != std::string::npos, word << ": " << message);
  };
  expect({{"draws", 100}, {"warmup", 100}}, "option \"warmup\" is 100");
  expect({{"draws", 100}, {"warmup", 50}, {"thin", 51}}, "option \"thin\" is 51");
  expect({{"draws", 0}}, "draws");
  expect({{"chains", 0}}, "chains");
  expect({{"concentration", 0}}, "concentration");
  expect({{"concentration", -1}}, "concentration");
  expect({{"concentration", "much"}}, "concentration");
  expect({{"concentration", Options{{"shape", 0}}}}, "concentration.shape");
  expect({{"concentration", Options{{"scale", 1}}}}, "concentration.scale");
  expect({{"methd", "vi"}}, "methd");
  expect({{"method", "em"}}, "method");
  expect({{"method", "vi"}, {"chains", 2}}, "chains");
  for (const Options &o :
       {Options{{"method", "vi"}, {"truncation", 1}}, Options{{"truncation", 10}}})
    expect(o, "truncation");
  expect({{"covariance", "tied"}}, "covariance");
  expect({{"likelihood", "poisson"}, {"covariance", "full"}}, "covariance");
  expect({{"likelihood", "gamma"}}, "likelihood");
  expect({{"estimate", "mean"}}, "estimate");
  expect({{"level", 0}}, "level");
  expect({{"prior", Options{{"m", Tensor{{3}, {1, 2, 3}}}}}}, "prior.m");
  expect({{"prior", Options{{"a", 1}}}}, "prior.a");
  expect({{"prior", Options{{"c", 0}}}}, "prior.c");
  expect({{"prior", Options{{"x", 1}}}}, "prior.x");
  BOOST_CHECK_THROW(fit(Matrix(0, 2), {}), Error);
}

BOOST_AUTO_TEST_CASE(half_of_the_sweeps_are_warmup_unless_options_say_otherwise) {
  const DpmmFit fitted = fit(doubtful_rows(5, 2, 1), {{"draws", 40}, {"chains", 3}});
  const Document *const warmup = fitted.model->info.options.find("warmup");
  BOOST_TEST_REQUIRE(warmup);
  BOOST_TEST(*warmup->as<std::int64_t>() == 20);
  BOOST_TEST(fitted.model->draws.draws == 20);
  BOOST_TEST(fitted.model->draws.chains == 3);
}

BOOST_AUTO_TEST_CASE(densities_integrate_to_one, *boost::unit_test::label("long")) {
  for (const auto &method : methods)
    for (const auto *shape : {"full", "spherical"}) {
      Options options = with(sampled(method, 150), {{"covariance", shape}});
      if (method == "vi") options = {{"method", "vi"}, {"covariance", shape}};
      const DpmmFit fitted = fit(doubtful_rows(20, 1, 5), options);
      double integral = 0;
      for (double u = -24; u <= 24; u += 0.02)
        integral += 0.02 * std::cosh(u) *
                    std::exp(fitted.model->log_density(std::vector<double>{std::sinh(u)}));
      BOOST_TEST(std::abs(integral - 1) < 1e-8, method << ' ' << shape << ": " << integral - 1);
    }
  Matrix x(12, 2);
  bayes::Random random(31);
  for (int i = 0; i < 12; ++i)
    x(i, 0) = double(random.below(2)), x(i, 1) = std::floor(random.gamma(1 + 3 * (i % 2)));
  const DpmmFit fitted = fit(
      x, with(sampled("collapsed", 150), {{"likelihood", Document::List{"bernoulli", "poisson"}}}));
  double sum = 0;
  for (double count = 0; count < 20000; ++count)
    for (const double one : {0.0, 1.0})
      sum += std::exp(fitted.model->log_density(std::vector<double>{one, count}));
  BOOST_TEST(std::abs(sum - 1) < 1e-3);  // the rest is in the heavy tail
}

BOOST_AUTO_TEST_CASE(degenerate_data) {
  for (const auto &method : methods)
    for (const int d : {1, 2, 3})
      for (const char *shape : {"full", "diagonal", "spherical"}) {
        const Options options =
            with(method == "vi" ? Options{{"method", "vi"}, {"truncation", 60}, {"restarts", 2}}
                                : sampled(method, 40, 10),
                 {{"covariance", shape}});
        for (const Matrix &x :
             {Matrix(Matrix::Constant(1, d, 3.0)), Matrix(Matrix::Constant(2, d, -1.0)),
              Matrix(Matrix::Constant(9, d, 1e6)), doubtful_rows(3, d, 6)}) {
          DpmmFit fitted = fit(x, options);
          check_sound(fitted, x);
          BOOST_TEST(int(fitted.labels.size()) == x.rows());
        }
      }
  for (const char *estimate : {"binder", "vi", "map"}) {
    DpmmFit fitted =
        fit(doubtful_rows(1, 2, 7), with(sampled("collapsed", 20, 10), {{"estimate", estimate}}));
    check_sound(fitted, doubtful_rows(1, 2, 7));
    BOOST_TEST(fitted.model->size() == 1);
  }
  // No concentration is too small or too large, but the slice sampler may need too many sticks.
  for (const double concentration : {1e-9, 1e9})
    for (const auto &method : methods) {
      const Matrix x = doubtful_rows(6, 2, 8);
      Options options = {{"method", method}, {"concentration", concentration}};
      if (method != "vi") options = with(options, {{"chains", 2}, {"draws", 20}});
      if (method == "slice" && concentration > 1) {
        BOOST_CHECK_EXCEPTION(fit(x, options), Error,
                              [](const Error &error) { return error.code() == Errc::too_large; });
        continue;
      }
      DpmmFit fitted = fit(x, options);
      check_sound(fitted, x);
      if (method != "vi") BOOST_TEST(fitted.model->size() == (concentration < 1 ? 1 : 6), method);
    }
  // A draw that exceeds the size limit of a model is stored nevertheless.
  const Matrix many = support::normal_rows(3000, 1, 8);
  const DpmmFit fitted = fit(
      many,
      {{"chains", 1}, {"draws", 1}, {"warmup", 0}, {"concentration", 1e9}, {"estimate", "map"}});
  BOOST_TEST(fitted.model->size() > 2500);
  BOOST_TEST(std::isfinite(fitted.model->log_density(std::vector<double>{0})));
}

// The reported options give the same model again.
BOOST_AUTO_TEST_CASE(options_in_force_can_be_passed_again) {
  const Matrix x = doubtful_rows(20, 2, 12).cwiseAbs();
  for (const auto &method : methods)
    for (const Options &kind : {Options{},
                                {{"covariance", "spherical"}},
                                {{"likelihood", Document::List{"normal"}}},
                                {{"likelihood", Document::List{"exponential", "normal"}}}}) {
      const DpmmFit first =
          fit(x, with(method == "vi" ? Options{{"method", "vi"}} : sampled(method, 20, 10), kind));
      DpmmFit second = fit(x, *first.model->info.options.as<Document::Object>());
      BOOST_TEST(bool(bits(*first.model) == bits(*second.model)), method);
    }
}

BOOST_AUTO_TEST_CASE(draws_depend_on_the_seed_and_not_on_threads) {
  const Matrix x = support::normal_rows(20000, 3, 9);
  auto rows = support::rows_of(x);
  for (const char *method : {"slice", "vi"}) {
    Options options = {{"method", method}, {"seed", 4}, {"concentration", 1.0}};
    options = with(options, method == std::string("vi")
                                ? Options{{"restarts", 2}, {"max_iter", 5}}
                                : Options{{"chains", 2}, {"draws", 4}, {"estimate", "map"}});
    const std::string one = bits(*fit(rows, options).model);
    BOOST_TEST(bool(one == bits(*fit(rows, options, 2).model)), method);
    BOOST_TEST(bool(one == bits(*fit(rows, options, 3).model)), method);
  }
  const Matrix few = doubtful_rows(20, 2, 3);
  for (const char *method : {"collapsed", "gibbs", "slice"}) {
    const auto with_seed = [&](int seed) {
      return fit(few, {{"method", method}, {"seed", seed}, {"chains", 2}, {"draws", 20}})
          .model->draws.values;
    };
    BOOST_TEST((with_seed(1) == with_seed(1)));
    BOOST_TEST((with_seed(1) != with_seed(2)));
  }
}

// The estimate rests on all draws, of which the model stores some.
BOOST_AUTO_TEST_CASE(all_draws_count_and_some_are_stored) {
  const Matrix x = doubtful_rows(9, 2, 21);
  const auto fitted = [&](Options options) {
    return fit(x, with(Options{{"chains", 2}, {"draws", 1600}, {"warmup", 100}}, options));
  };
  const DpmmFit usual = fitted({}), few = fitted({{"stored_draws", 41}});
  BOOST_TEST(usual.draws.size() == 3000);
  BOOST_TEST(usual.model->estimate().draws == 3000);
  BOOST_TEST(usual.chains == 2);
  BOOST_TEST((usual.model->stored_draws() >= 500 && usual.model->stored_draws() <= 750));
  BOOST_TEST(few.model->stored_draws() == 40);
  BOOST_TEST(fitted({{"stored_draws", 100000}}).model->stored_draws() == 3000);
  BOOST_TEST((usual.labels == few.labels && usual.probability == few.probability));
  BOOST_TEST(usual.model->estimate().expected_loss == few.model->estimate().expected_loss);
  BOOST_TEST(usual.model->estimate().mcse > 0);
  const auto &options = *few.model->info.options.as<Document::Object>();
  DpmmFit again = fit(x, options);
  BOOST_TEST(bool(bits(*again.model) == bits(*few.model)));
  const auto copy = Model::from_bytes(few.model->to_bytes());
  BOOST_TEST(copy->stored_draws() == 40);
  BOOST_TEST(dynamic_cast<const DirichletProcessMixture &>(*copy).estimate().mcse ==
             few.model->estimate().mcse);
  BOOST_TEST(fit(x, {{"method", "vi"}}).model->stored_draws() == 0);
  // Labels of 10 draws fit into memory.
  auto rows = support::rows_of(support::normal_rows(1000, 1, 8));
  Control poor;
  poor.row_memory = 60000;
  const DpmmFit kept =
      dpmm_fit(rows, Document(Options{{"chains", 2}, {"draws", 30}, {"stored_draws", 20}}), poor);
  BOOST_TEST((kept.draws.size() == 10 && kept.model->stored_draws() == 10));
}

// The deviations of fits with several seeds are as large as each says.
BOOST_AUTO_TEST_CASE(standard_errors_of_predictions) {
  const Matrix x = doubtful_rows(12, 1, 21);
  const std::vector<double> row = {0.4};
  Control control;
  double sum = 0, squares = 0, said = 0, of_new = 0, squares_of_new = 0, said_of_new = 0;
  constexpr int seeds = 30;
  for (int seed = 1; seed <= seeds; ++seed) {
    const DpmmFit fitted =
        fit(x, {{"draws", 400}, {"seed", seed}, {"stored_draws", 120}, {"concentration", 1.0}});
    const bayes::PredictiveErrors errors = fitted.model->mcse(row, control);
    const auto p = answered(*fitted.model, row);
    BOOST_TEST(errors.probabilities.size() == std::size_t(fitted.model->size()) + 1);
    sum += std::log(p[0]);
    squares += std::log(p[0]) * std::log(p[0]);
    said += errors.log_density * errors.log_density;
    of_new += p.back() / p[0];
    squares_of_new += p.back() / p[0] * p.back() / p[0];
    said_of_new += errors.probabilities.back() * errors.probabilities.back();
  }
  const auto ratio = [](double sum, double squares, double said) {
    return (squares - sum * sum / seeds) / (seeds - 1) / (said / seeds);
  };
  BOOST_TEST((ratio(sum, squares, said) > 0.4 && ratio(sum, squares, said) < 2.2));
  BOOST_TEST((ratio(of_new, squares_of_new, said_of_new) > 0.4 &&
              ratio(of_new, squares_of_new, said_of_new) < 2.2));
  BOOST_CHECK_THROW(fit(x, {{"method", "vi"}}).model->mcse(row, control), Error);
  BOOST_CHECK_THROW(fit(Matrix::Ones(3, 1), {{"likelihood", "bernoulli"}, {"draws", 20}})
                        .model->mcse(row, control),
                    Error);
}

BOOST_AUTO_TEST_CASE(bounds_of_the_credible_ball) {
  const Matrix x = doubtful_rows(12, 2, 21);
  const Options options = {{"draws", 200}, {"estimate", "binder"}};
  auto rows = support::rows_of(x);
  Control control;
  const bayes::DpmmBounds bounds = dpmm_credible_bounds(rows, Document(options), control);
  const DpmmFit fitted = fit(x, options);
  const bayes::DpmmEstimate &e = fitted.model->estimate();
  const auto clusters = [](const std::vector<int> &labels) {
    return *std::max_element(labels.begin(), labels.end()) + 1;
  };
  const auto from_estimate = [&](const std::vector<int> &labels) {
    double sum = 0;
    for (std::size_t i = 0; i < 12; ++i)
      for (std::size_t j = 0; j < i; ++j)
        sum += (labels[i] == labels[j]) != (bounds.estimate[i] == bounds.estimate[j]);
    return sum / 66;
  };
  BOOST_TEST((bounds.estimate == fitted.labels));
  BOOST_TEST(clusters(bounds.upper) == e.fewest_clusters);
  BOOST_TEST(clusters(bounds.lower) == e.most_clusters);
  BOOST_TEST(e.fewest_clusters < e.most_clusters);
  BOOST_TEST(distance(from_estimate(bounds.horizontal), e.radius) < 1e-12);
  BOOST_TEST(from_estimate(bounds.upper) <= e.radius + 1e-12);
  BOOST_TEST(from_estimate(bounds.lower) <= e.radius + 1e-12);
  BOOST_CHECK_THROW(dpmm_credible_bounds(rows, Document(Options{{"method", "vi"}}), control),
                    Error);
}

BOOST_AUTO_TEST_CASE(similarities_are_shares_of_the_draws) {
  const Matrix x = doubtful_rows(7, 2, 21);
  const Options options = with(sampled("collapsed", 150, 50), {{"concentration", 1.3}});
  const DpmmFit fitted = fit(x, options);
  auto rows = support::rows_of(x);
  Control control;
  std::int64_t next = 0;
  dpmm_similarity(
      rows, Document(options), control, [&](std::int64_t row, std::span<const double> p, auto) {
        BOOST_TEST(row == next++);
        BOOST_TEST(std::int64_t(p.size()) == row);
        for (std::size_t j = 0; j < p.size(); ++j) {
          double together = 0;
          for (int s = 0; s < fitted.draws.size(); ++s)
            together += fitted.draws.labels(s)[std::size_t(row)] == fitted.draws.labels(s)[j];
          BOOST_TEST(distance(p[j], together / fitted.draws.size()) < 1e-12);
        }
      });
  BOOST_TEST(next == 7);
  BOOST_CHECK_THROW(
      dpmm_similarity(rows, Document(Options{{"method", "vi"}}), control, [](auto, auto, auto) {}),
      Error);
}

BOOST_AUTO_TEST_SUITE_END()
