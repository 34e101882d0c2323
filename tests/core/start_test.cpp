// Fits of mixtures that start from a model: what it hands on, the numbers of the components, warm
// starts beside fresh ones, and categories that it does not know.
#include "fit/driver.hpp"

#include "bmm_support.hpp"

using namespace latent;
using support::components;
using support::with;

namespace {

/// Three groups of rows, of which the first is the largest, or with `turned` the smallest.
Matrix groups(int n, bool turned, std::uint64_t seed) {
  bayes::Random random(seed);
  Matrix x(n, 2);
  for (int i = 0; i < n; ++i) {
    const int at = i % 10 < 5 ? 0 : i % 10 < 8 ? 1 : 2, c = turned ? 2 - at : at;
    x(i, 0) = 10 * c + random.normal();
    x(i, 1) = random.normal() - 5 * c;
  }
  return x;
}

std::vector<int> nearest_groups(const bayes::GaussianMixture &model) {
  std::vector<int> out;
  for (const auto &c : components(model)) out.push_back(int(std::lround(c.mean[0] / 10)));
  return out;
}

const bayes::Document *option(const bayes::Model &model, const char *key) {
  return model.info.options.find(key);
}
std::string text(const Document *value) { return value ? value->to_json() : "none"; }

const Matrix before = groups(200, false, 1), after = groups(300, true, 2);
const std::vector<int> as_before = {0, 1, 2};

}  // namespace

BOOST_AUTO_TEST_SUITE(start)

// Caught: restarts whose beginnings depend on how many there are.
BOOST_AUTO_TEST_CASE(the_number_of_restarts_made_repeats_a_fit) {
  const Matrix x = groups(120, false, 5);
  for (const std::string method : {"vi", "em", "map"}) BOOST_TEST_CONTEXT(method) {
      const auto model = support::fit(x, 3, {{"method", method}});
      const std::int64_t made = *option(*model, "restarts")->as<std::int64_t>();
      BOOST_TEST(made >= 8);
      BOOST_TEST(made < 60);
      const auto again = support::fit(x, 3, {{"method", method}, {"restarts", made}});
      BOOST_TEST(support::bits(*model) == support::bits(*again));
    }
}

// Caught: components ordered by their weights again.
BOOST_AUTO_TEST_CASE(components_keep_the_numbers_of_the_start_model) {
  const auto start = support::fit(before, 3, {{"seed", 3}});
  BOOST_REQUIRE((nearest_groups(*start) == as_before));
  for (const std::string method :
       {"em", "map", "vi", "svi", "gibbs", "collapsed", "mcem", "kmeans"})
    BOOST_TEST_CONTEXT(method) {
      Options options = {{"method", method}};
      if (method == "gibbs" || method == "collapsed")
        options = with(options, {{"draws", 50}, {"warmup", 20}, {"chains", 2}});
      const auto refit = support::fit(after, 3, options, {}, start.get());
      BOOST_TEST((nearest_groups(*refit) == as_before));
      const auto found = components(*refit);
      if (method != "kmeans") BOOST_TEST((found[0].weight < found[2].weight));
    }
  const auto updated = support::fit(after, 3, {}, {}, start.get(), true);
  BOOST_TEST((nearest_groups(*updated) == as_before));
  // From a model with another order: its numbers, whatever they are.
  auto turned = components(*start);
  std::swap(turned[0], turned[1]);
  const auto other = support::point_model("full", turned);
  for (const int restarts : {1, 4}) {
    const auto refit =
        support::fit(after, 3, {{"method", "em"}, {"restarts", restarts}}, {}, other.get());
    BOOST_TEST((nearest_groups(*refit) == std::vector<int>{1, 0, 2}));
  }
}

// Caught: fresh restarts without the one that begins at the model, numbers of the best restart by
// size.
BOOST_AUTO_TEST_CASE(a_warm_start_beside_fresh_ones_is_at_least_as_good_as_each) {
  // Two components in one group, one for the other two: a poor optimum to begin at.
  std::vector<bayes::GmmComponent> poor = {{0.2, 0, {20, -10}, {1, 0, 0, 1}},
                                           {0.2, 0, {20.5, -10}, {1, 0, 0, 1}},
                                           {0.6, 0, {4, -2}, {30, 0, 0, 9}}};
  const auto start = support::point_model("full", poor);
  const Options em = {{"method", "em"}, {"tol", 1e-9}};
  const auto alone = support::fit(before, 3, em, {}, start.get()),
             fresh = support::fit(before, 3, with(em, {{"restarts", 5}})),
             both = support::fit(before, 3, with(em, {{"restarts", 6}}), {}, start.get());
  BOOST_TEST(alone->trace.size() == 1u);
  BOOST_TEST(both->trace.size() == 6u);
  BOOST_TEST(alone->info.objective < fresh->info.objective - 10);
  BOOST_TEST(support::distance(both->info.objective, fresh->info.objective) < 1e-9);
  BOOST_TEST(both->trace[0][0] == alone->trace[0][0]);
  // The last group is nearest to the start's first or second, the first to its third.
  const std::vector<int> found = nearest_groups(*both);
  BOOST_TEST((found[0] == 2 || found[1] == 2));
  BOOST_TEST(found[2] == 0);
  // An optimum to begin at is not lost.
  const auto best = support::fit(before, 3, with(em, {{"restarts", 3}}), {}, fresh.get());
  BOOST_TEST((best->info.objective >= fresh->info.objective - 1e-6));
  BOOST_TEST((nearest_groups(*best) == nearest_groups(*fresh)));
  for (const std::string method : {"vi", "map", "kmeans"})
    BOOST_TEST(support::fit(before, 3, {{"method", method}, {"restarts", 3}}, {}, start.get())
                   ->trace.size() == 3u);
  BOOST_TEST(message_of([&] {
               support::fit(before, 3, {{"restarts", 2}}, {}, fresh.get(), true);
             }).find("this model has no posterior") == 0u);
  const auto q = support::fit(before, 3, {});
  BOOST_TEST(message_of([&] {
               support::fit(before, 3, {{"restarts", 2}}, {}, q.get(), true);
             }) == "option \"restarts\" does not apply to an update by method vi");
}

// Caught: a setting that is forgotten, one that cannot be changed.
BOOST_AUTO_TEST_CASE(what_defines_the_model_is_handed_on) {
  const auto first = support::fit(before, 3,
                                  {{"covariance", "diagonal"},
                                   {"missing", "skip"},
                                   {"seed", 7},
                                   {"tol", 1e-3},
                                   {"prior", Options{{"alpha", 2.5}, {"c", 0.5}}}});
  BOOST_TEST(text(&first->info.given_prior) == R"({"alpha": 2.5, "c": 0.5})");
  const auto second = support::fit(after, 3, {}, {}, first.get());
  BOOST_TEST(second->covariance() == "diagonal");
  BOOST_TEST(text(option(*second, "missing")) == "\"skip\"");
  BOOST_TEST(text(option(*second, "seed")) == "1");
  BOOST_TEST(text(option(*second, "tol")) == text(option(*support::fit(after, 3, {}), "tol")));
  BOOST_TEST(text(second->info.options.find("prior")->find("alpha")) == "2.5");
  BOOST_TEST(text(second->info.options.find("prior")->find("c")) == "0.5");
  BOOST_TEST(text(&second->info.given_prior) == R"({"alpha": 2.5, "c": 0.5})");
  // What was not given follows from the rows: the mean of these.
  BOOST_TEST(text(second->info.options.find("prior")->find("m")) !=
             text(first->info.options.find("prior")->find("m")));
  // It is stored, and goes on through a fit without prior.
  const auto stored = bayes::Model::from_document(second->to_document());
  BOOST_TEST(text(&stored->info.given_prior) == R"({"alpha": 2.5, "c": 0.5})");
  const auto em =
      support::fit(after, 3, {{"method", "em"}, {"covariance_floor", 1e-3}}, {}, second.get());
  BOOST_TEST(text(option(*em, "prior")) == "none");
  const auto third = support::fit(after, 3, {{"method", "map"}}, {}, em.get());
  BOOST_TEST(text(third->info.options.find("prior")->find("alpha")) == "2.5");
  const auto floor = support::fit(after, 3, {}, {}, em.get());
  BOOST_TEST(text(option(*floor, "covariance_floor")) == "0.001");
  // What options say otherwise.
  const auto anew =
      support::fit(after, 3, {{"prior", Options{}}, {"missing", "error"}}, {}, second.get());
  BOOST_TEST(text(anew->info.options.find("prior")->find("alpha")) == "1.0");
  BOOST_TEST(anew->info.given_prior.is_null());
  BOOST_TEST(text(option(*anew, "missing")) == "\"error\"");
  const auto full = support::fit(after, 3, {{"covariance", "full"}}, {}, second.get());
  BOOST_TEST(text(full->info.options.find("prior")->find("alpha")) == "1.0");
  // A prior that cannot be that of the new fit.
  const auto low = support::fit(before, 3, {{"prior", Options{{"alpha", 0.5}}}});
  try {
    support::fit(after, 3, {{"method", "map"}}, {}, low.get());
    BOOST_TEST(false);
  } catch (const bayes::Error &error) {
    BOOST_TEST(std::string(error.what()).find("option \"prior.alpha\" is 0.5, but must be") == 0u);
    BOOST_TEST(error.hint() == "Set option prior; {\"prior\": {}} stands for the default prior.");
  }
}

// For one component all is exact: an update with a new category is the fit to all rows, and so is a
// refit. Caught: a new category without its prior, or with that of another element.
BOOST_AUTO_TEST_CASE(new_categories_are_added) {
  Matrix x = mixed_rows(120, 5), y = mixed_rows(80, 6);
  for (int i = 0; i < 9; ++i) y(i, 3) = 4;
  y(9, 3) = -7;
  Matrix all(200, 4);
  all << x, y;
  const Options given =
      with(mixed, {{"prior", Options{{"categorical", Options{{"category_alpha", 0.7}}}}}});
  const Fitted start = fitted(x, 1, given), one = fitted(y, 1, {}, {}, start.get()),
               fresh = fitted(y, 1, given);
  BOOST_TEST(distance(*one, *fresh) < 1e-12);
  BOOST_TEST(support::distance(one->info.objective, fresh->info.objective) < 1e-12);
  const Fitted updated = fitted(y, 1, {}, {}, start.get(), true);
  // Statistics of categories alone, as the default priors of the others differ.
  std::vector<double> found, counts = {0.7, 0.7, 0.7, 0.7, 0.7};
  const double codes[] = {-7, 1, 2, 4, 9};
  for (int i = 0; i < 200; ++i)
    for (int v = 0; v < 5; ++v) counts[std::size_t(v)] += all(i, 3) == codes[v];
  updated->describe_parameters({}, [&](const bayes::Parameter &p) {
    if (p.element == 3) {
      BOOST_TEST(p.category == codes[found.size()]);
      found.push_back(p.value);
    }
  });
  for (double &count : counts) count /= 203.5;
  BOOST_TEST(support::distance(found, counts) < 1e-12);
  // What the rows do not have any more stays.
  Matrix few = x;
  for (int i = 0; i < 120; ++i) few(i, 3) = 1;
  const Fitted less = fitted(few, 1, {}, {}, start.get());
  BOOST_TEST(less->predict(std::vector<double>{0, 1, 1, 9}) == 0);
  BOOST_TEST(less->free_parameters() == start->free_parameters());
  for (const std::string method : {"em", "map", "vi", "svi", "gibbs", "collapsed", "mcem"})
    BOOST_TEST_CONTEXT(method) {
      Options options = {{"method", method}};
      if (method == "gibbs" || method == "collapsed")
        options = with(options, {{"draws", 40}, {"warmup", 20}, {"chains", 2}});
      if (method == "em" || method == "mcem") options.push_back({"minimum", 1e-9});
      const Fitted two = fitted(x, 2, with(mixed, options)),
                   again = fitted(y, 2, {}, {}, two.get());
      BOOST_TEST(again->predict(std::vector<double>{0, 1, 1, 4}) >= 0);
      BOOST_TEST(std::isfinite(again->info.log_likelihood));
      BOOST_TEST(again->free_parameters() == two->free_parameters() + 4);
    }
  y(0, 3) = 1.5;
  BOOST_TEST(message_of([&] { fitted(y, 1, {}, {}, start.get()); }) ==
             "element 4 of row 1 is 1.5, but must be a whole number");
}

// Of 40 runs that all begin afresh, or of 100, none of these seeds comes to more than -3672.
// Caught: moves from the last run, not the best; components that come back where they were.
BOOST_AUTO_TEST_CASE(runs_near_the_best_find_better_optima) {
  const Matrix x = support::data_set("wine");
  for (int seed = 1; seed <= 4; ++seed)
    BOOST_TEST(support::fit(x, 5, {{"seed", seed}})->info.objective > -3665);
  bayes::Control control;
  control.threads = 2;
  auto rows = support::rows_of(x, {});
  const auto alone = support::fit(x, 5, {}),
             both = bayes::gmm_fit(rows, 5, {}, nullptr, false, control);
  BOOST_TEST(alone->info.objective == both->info.objective);
  BOOST_TEST(alone->trace.size() == 43);
}

// A minibatch is a copy of its rows. Caught: no limit, or one of all rows.
BOOST_AUTO_TEST_CASE(minibatches_fit_into_the_memory_for_rows) {
  bayes::MemoryRows rows({40, false});
  std::vector<double> x(40);
  for (int i = 0; i < 200000; ++i) {
    x[0] = i;
    rows.append(x.data(), 1);
  }
  bayes::Control control;
  const auto minibatches = [&](int rows_of_each) {
    bayes::StochasticPlan plan;
    plan.batch_rows = rows_of_each;
    bayes::RowMinibatches(rows, plan, control);
  };
  control.row_memory = 1e6;  // 64 MB are always allowed
  BOOST_CHECK_NO_THROW(minibatches(190000));
  BOOST_CHECK_THROW(minibatches(199900), bayes::Error);
  BOOST_CHECK_NO_THROW(minibatches(200000));  // all rows, not copied
  control.row_memory = 1e8;
  BOOST_CHECK_NO_THROW(minibatches(199900));
}

BOOST_AUTO_TEST_SUITE_END()
