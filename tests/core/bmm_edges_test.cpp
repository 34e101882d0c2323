// Bernoulli mixtures in limits that must coincide: weights, order, threads, storage, batches,
// missing elements; what is stored and what is refused.
#include "bmm_support.hpp"

using namespace latent;

BOOST_AUTO_TEST_SUITE(bmm_edges)

BOOST_AUTO_TEST_CASE(weights_order_threads_and_storage_do_not_matter) {
  const Matrix x = binary_rows(80, 6, 11), y = mixed_rows(80, 12);
  Vector w(80);
  for (int i = 0; i < 80; ++i) w(i) = 1 + i % 3;
  bayes::Random random(13);
  for (const auto &[rows, extra] : {std::pair(x, Options{}), std::pair(y, mixed)})
    for (const std::string method : {"em", "map", "vi"}) BOOST_TEST_CONTEXT(method) {
        const Options options = support::with(extra, {{"method", method}});
        Matrix repeated(Eigen::Index(w.sum()), rows.cols());
        Eigen::Index at = 0;
        for (int i = 0; i < 80; ++i)
          for (int j = 0; j < w(i); ++j) repeated.row(at++) = rows.row(i);
        for (Eigen::Index i = repeated.rows() - 1; i > 0; --i)
          repeated.row(i).swap(repeated.row(Eigen::Index(random.below(std::uint64_t(i + 1)))));
        const auto a = fitted(rows, 2, options, w), b = fitted(repeated, 2, options);
        BOOST_TEST(distance(*a, *b) < 1e-7);
        BOOST_TEST(distance(a->info.objective, b->info.objective) < 1e-11);
        BOOST_TEST(distance(a->bic(), b->bic()) < 1e-11);
        BOOST_TEST(distance(a->icl(), b->icl()) < 1e-9);
      }
  Matrix many = binary_rows(30000, 16, 14);
  for (const std::string method : {"em", "vi", "svi"}) {
    auto memory = support::rows_of(many);
    const Options options = {{"method", method}, {"restarts", 2}, {"max_iter", 4}};
    const std::string expected = bits(*fitted(memory, 4, options));
    for (const int threads : {2, 5})
      BOOST_TEST(bool(bits(*fitted(memory, 4, options, nullptr, false, threads)) == expected));
    support::StretchedRows stretched(many, {}, 2);
    BOOST_TEST(bool(bits(*fitted(stretched, 4, options, nullptr, false, 2)) == expected));
  }
}

BOOST_AUTO_TEST_CASE(stochastic_steps_of_size_one_on_all_rows_are_those_of_vi) {
  const Matrix x = mixed_rows(100, 21);
  const Options common = support::with(mixed, {{"max_iter", 12}, {"restarts", 1}, {"tol", 0.0}});
  const auto vi = fitted(x, 3, support::with(common, {{"linear_response", false}})),
             svi = fitted(
                 x, 3,
                 support::with(common, {{"method", "svi"}, {"batch_size", 200}, {"kappa", 0.0}}));
  BOOST_TEST(distance(*vi, *svi) < 1e-6);
  BOOST_TEST(distance(vi->info.objective, svi->info.objective) < 1e-10);
  const Matrix many = binary_rows(20000, 8, 22);
  const auto batch = fitted(many, 3, {{"restarts", 3}}),
             sampled = fitted(many, 3, {{"restarts", 3}, {"method", "svi"}, {"batch_size", 500}});
  BOOST_TEST(sampled->info.objective >
             batch->info.objective - 1e-3 * std::abs(batch->info.objective));
}

BOOST_AUTO_TEST_CASE(rows_in_which_nothing_is_observed_are_no_observations) {
  Matrix some = mixed_rows(120, 45);
  for (int i = 0; i < 120; i += 5) some(i, i / 5 % 4) = hole;
  Matrix more(135, 4);
  more << Matrix::Constant(15, 4, hole), some;
  Vector w(135), v(120);
  for (int i = 0; i < 135; ++i) w(i) = 1 + i % 3 * 0.5;
  v = w.tail(120);
  const Options options = support::with(
      mixed, {{"method", "em"}, {"missing", "marginalize"}, {"tol", 1e-14}, {"max_iter", 20000}});
  const Fitted without = fitted(some, 2, options, v),
               with = fitted(more, 2, options, w, without.get());
  BOOST_TEST(distance(without->observations(), v.sum()) < 1e-12);
  BOOST_TEST(distance(with->observations(), v.sum()) < 1e-12);
  BOOST_TEST(distance(with->bic(), without->bic()) < 1e-8);
  BOOST_TEST(distance(with->icl(), without->icl()) < 1e-5);
  BOOST_TEST(std::abs(with->relative_entropy() - without->relative_entropy()) < 1e-5);
  BOOST_TEST(without->relative_entropy() < 0.99);
  BOOST_TEST(with->info.rows == 135);
  BOOST_CHECK_THROW(fitted(Matrix::Constant(9, 4, hole), 1, options), bayes::Error);
}

BOOST_AUTO_TEST_CASE(missing_values_are_integrated_out) {
  const Matrix x = binary_rows(100, 5, 41), y = mixed_rows(100, 42);
  for (const auto &[rows, extra] : {std::pair(x, Options{}), std::pair(y, mixed)})
    for (const std::string method : {"em", "vi"}) {
      const Options options = support::with(
          extra,
          {{"method", method}, {"missing", "marginalize"}, {"tol", 1e-12}, {"max_iter", 20000}});
      // A column that is always missing has no effect.
      Matrix wide(100, rows.cols() + 1);
      wide << rows, Vector::Constant(100, hole);
      Options wide_options = options;
      if (!extra.empty()) {
        auto names = *extra[0].second.as<Document::List>();
        names.push_back("poisson");
        wide_options[0].second = names;
      }
      const Fitted narrow = fitted(rows, 2, options), with_hole = fitted(wide, 2, wide_options);
      BOOST_TEST(distance(narrow->info.objective, with_hole->info.objective) < 1e-9);
      for (int i = 0; i < 100; i += 7)
        BOOST_TEST(distance(narrow->log_density(support::row(rows, i)),
                            with_hole->log_density(support::row(wide, i))) < 1e-4);
      // The probability of a row with a missing value is the sum over all its values.
      if (!extra.empty()) continue;
      std::vector<double> row = support::row(rows, 3);
      row[2] = 0;
      const double zero = std::exp(narrow->log_density(row));
      row[2] = 1;
      const double one = std::exp(narrow->log_density(row));
      row[2] = hole;
      BOOST_TEST(distance(std::exp(narrow->log_density(row)), zero + one) < 1e-12);
      BOOST_TEST(std::abs(narrow->log_density(std::vector<double>(5, hole))) < 1e-12);
      std::vector<double> p(2);
      narrow->probabilities(std::vector<double>(5, hole), p);
      BOOST_TEST(std::abs(p[0] - narrow->component(0).weight) < 1e-12);
    }
}

BOOST_AUTO_TEST_CASE(stored_models_are_the_same_and_bad_ones_are_refused) {
  for (const std::string method : {"em", "vi"})
    for (const bool products : {false, true}) {
      const Matrix x = products ? mixed_rows(60, 51) : binary_rows(60, 3, 52);
      const Fitted model =
          fitted(x, 2, support::with(products ? mixed : Options{}, {{"method", method}}));
      const auto copy = bayes::Model::from_bytes(model->to_bytes());
      const auto text = bayes::Model::from_document(model->to_document());
      BOOST_TEST(bool(copy->to_bytes() == model->to_bytes()));
      BOOST_TEST(bool(text->to_bytes() == model->to_bytes()));
      const auto &read = dynamic_cast<const BernoulliMixture &>(*copy);
      for (int i = 0; i < 60; ++i)
        BOOST_TEST(read.log_density(support::row(x, i)) == model->log_density(support::row(x, i)));
      const auto refused = [&](const char *member, Document value, const char *inside = nullptr) {
        Document bad = model->to_document();
        if (inside) {
          Document part = *bad.find(inside);
          part.set(member, std::move(value));
          bad.set(inside, std::move(part));
        } else {
          bad.set(member, std::move(value));
        }
        BOOST_TEST(message_of([&] {
                     bayes::Model::from_document(bad);
                   }).find("invalid bayes_model") == 0u);
      };
      const char *const inside = method == "em" ? "point" : "posterior";
      refused("columns", Document::List{"bernoulli"});
      refused("columns", Document::List(x.cols(), "gaussian"));
      refused("counts", Tensor{{2}, {1, -1}});
      refused("bernoulli", Document::object(), inside);
      refused(method == "em" ? "weights" : "alpha", Tensor{{2}, {0.5, -0.5}}, inside);
      const std::int64_t width = products ? 1 : 3;
      for (const double p : {-0.1, 0.0, 2.0 - 3.0 * (method == "vi")}) {
        Document own = Document::object();
        for (const char *key : method == "em" ? std::vector<const char *>{"probability"}
                                              : std::vector<const char *>{"a", "b"})
          own.set(key, Tensor{{2, width}, std::vector<double>(std::size_t(2 * width), p)});
        refused("bernoulli", own, inside);
      }
      if (!products) continue;
      refused("categories", Tensor{{1}, {2}});
      refused("category_values", Tensor{{3}, {2, 1, 9}});
      refused("category_values", Tensor{{3}, {1, 2, 1e8}});
      refused("category_values", Tensor{{3}, {1, 2.5, 9}});
    }
}

BOOST_AUTO_TEST_CASE(errors_name_what_is_invalid) {
  Matrix x = binary_rows(20, 3, 61);
  x(6, 2) = 2;
  const auto message = [&](Options options, const Matrix &rows, int k = 2) {
    return message_of([&] { fitted(rows, k, std::move(options)); });
  };
  BOOST_TEST(message({}, x) == "element 3 of row 7 is 2, but must be 0 or 1");
  BOOST_TEST(message({{"likelihood", "poisson"}}, Matrix::Constant(3, 2, -1)) ==
             "element 1 of row 1 is -1, but must be a whole number from 0 to 2^53");
  BOOST_TEST(message({{"likelihood", "categorical"}}, x / 2).find("must be a whole number") !=
             std::string::npos);
  BOOST_TEST(message({{"likelihood", Document::List{"poisson", "normal"}}}, x) ==
             "option \"likelihood\" has 2 entries, but the rows have 3 elements");
  BOOST_TEST(message({{"likelihood", "normall"}}, x).find("must be one of") != std::string::npos);
  BOOST_TEST(message({{"likelihood", "poisson"}, {"prior", Options{{"a", 1.0}}}}, x) ==
             "unknown option \"prior.a\"");
  BOOST_TEST(
      message({{"likelihood", "poisson"}, {"method", "map"}, {"prior", Options{{"shape", 0.5}}}}, x)
          .find("needs a prior with a mode") != std::string::npos);
  BOOST_TEST(message({{"minimum", 0.1}}, x) == "option \"minimum\" does not apply to method vi");
  BOOST_TEST(message({{"method", "gibs"}}, x).find("must be one of") != std::string::npos);
  BOOST_TEST(message({}, Matrix::Ones(5, 2)) == "k is 2, but there is only 1 distinct row");
  BOOST_TEST(message({{"likelihood", "categorical"}, {"categories", -1.0}}, x)
                 .find("option \"categories\"") == 0u);
  // Categories: those of the rows, and those that the option adds.
  x(6, 2) = 1;
  x.array() += 1;
  const Fitted seen = fitted(x, 2, {{"likelihood", "categorical"}}),
               more = fitted(x, 2, {{"likelihood", "categorical"}, {"categories", 4}});
  BOOST_TEST(seen->free_parameters() == 1 + 2 * 3 * 1);
  BOOST_TEST(more->free_parameters() == 1 + 2 * 3 * 3);
  BOOST_TEST(message_of([&] {
               seen->predict(std::vector<double>{1, 2, 3});
             }) == "element 3 is 3, but must be one of the categories 1, 2");
  BOOST_TEST(message_of([&] { more->predict(std::vector<double>{1, 2, 3}); }) == "no error");
  BOOST_TEST(message_of([&] {
               more->predict(std::vector<double>{0, 2, 3});
             }) == "element 1 is 0, but must be one of the categories 1, 2, 3, 4");
  const Fitted start = fitted(x, 2, {{"likelihood", "categorical"}});
  x(3, 1) = 5;  // a fit from a model adds it
  const Fitted wider = fitted(x, 2, {}, {}, start.get());
  BOOST_TEST(message_of([&] {
               wider->predict(std::vector<double>{1, 3, 2});
             }) == "element 2 is 3, but must be one of the categories 1, 2, 5");
}

BOOST_AUTO_TEST_SUITE_END()
