// Dirichlet process mixtures that start from a fitted model: numbers of clusters, the objective,
// and what is handed on.
#include "dpmm_support.hpp"

using namespace dpmm;

namespace {

/// `sizes[k]` rows about (10 k, -10 k).
Matrix groups(const std::vector<int> &sizes) {
  Matrix out(2, 0);
  bayes::Random random(5);
  for (std::size_t k = 0; k < sizes.size(); ++k)
    for (int i = 0; i < sizes[k]; ++i) {
      out.conservativeResize(2, out.cols() + 1);
      const double at = 10 * double(k);
      out.col(out.cols() - 1) << at + random.normal(), random.normal() - at;
    }
  return out.transpose();
}

DpmmFit from(const Matrix &x, const Options &options, const DirichletProcessMixture &start) {
  auto rows = support::rows_of(x);
  Control control;
  return dpmm_fit(rows, Document(options), control, &start);
}

/// The group of every cluster, by its mean.
std::vector<int> groups_of(const DirichletProcessMixture &model) {
  std::vector<int> out;
  for (int k = 0; k < model.size(); ++k)
    out.push_back(int(std::lround(model.cluster(k).mean[0] / 10)));
  return out;
}

Options options_of(const std::string &method) {
  return method == "vi" ? Options{{"method", "vi"}} : sampled(method, 200, 100);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dpmm_start)

BOOST_AUTO_TEST_CASE(clusters_keep_their_numbers) {
  for (const std::string &method : methods) BOOST_TEST_CONTEXT(method) {
      const DpmmFit start = fit(groups({10, 40, 20, 30}), options_of(method));
      BOOST_TEST((groups_of(*start.model) == std::vector<int>{1, 3, 2, 0}));
      // Others are the largest now; one is gone, and one is new.
      const DpmmFit next = from(groups({50, 10, 20, 0, 60}), options_of(method), *start.model);
      BOOST_TEST((groups_of(*next.model) == std::vector<int>{1, 2, 0, 4}));
      // Chains of method slice are too short here to have the small group by itself all the time.
      const int counts[] = {10, 20, 50, 60}, allowed = method == "slice" ? 10 : 0;
      for (int k = 0; k < std::min(4, next.model->size()); ++k)
        BOOST_TEST(std::abs(next.model->cluster(k).count - counts[k]) <= allowed);
      for (std::size_t i = 0; i < 50; ++i) BOOST_TEST(next.labels[i] == 2);
    }
}

BOOST_AUTO_TEST_CASE(a_refit_stays_where_it_is) {
  const Matrix x = doubtful_rows(80, 2, 3);
  const DpmmFit start = fit(x, {{"method", "vi"}, {"tol", 1e-9}}),
                again = from(x, {{"tol", 1e-9}}, *start.model);
  BOOST_TEST(std::abs(again.model->info.objective - start.model->info.objective) < 1e-4);
  BOOST_TEST(again.model->info.iterations < start.model->info.iterations);
  BOOST_TEST((again.labels == start.labels));
  // The first objective is nearly that of the start.
  const std::vector<double> &trace = again.model->trace.at(0);
  BOOST_TEST(std::abs(trace.at(1) - start.model->info.objective) < 0.5);
}

BOOST_AUTO_TEST_CASE(chains_begin_with_the_clusters_of_the_start) {
  const Matrix x = groups({20, 20, 20, 20});
  const DpmmFit start = fit(x, {{"method", "vi"}}),
                next = from(x, {{"method", "slice"}, {"draws", 2}, {"warmup", 0}}, *start.model);
  const auto &draws = next.model->draws;
  const auto at = std::find(draws.quantities.begin(), draws.quantities.end(), "clusters") -
                  draws.quantities.begin();
  for (std::size_t i = std::size_t(at); i < draws.values.size(); i += draws.quantities.size())
    BOOST_TEST(draws.values[i] <= 6);
}

BOOST_AUTO_TEST_CASE(missing_values_and_more_sticks) {
  Matrix x = groups({20, 30});
  x(3, 0) = x(30, 1) = std::nan("");
  const DpmmFit start = fit(x, {{"method", "vi"}, {"truncation", 5}});
  for (const int sticks : {2, 5, 9}) {
    DpmmFit next = from(x, {{"truncation", sticks}}, *start.model);
    BOOST_TEST(next.model->size() == 2);
    BOOST_TEST((next.labels == start.labels));
  }
}

BOOST_AUTO_TEST_CASE(what_the_start_says_of_options) {
  const Matrix x = groups({20, 30});
  const DpmmFit start = fit(x, {{"method", "vi"},
                                {"covariance", "diagonal"},
                                {"concentration", 2},
                                {"truncation", 7},
                                {"prior", Options{{"a", 9}}}});
  const DpmmFit next = from(x, {}, *start.model);
  const Document &options = next.model->info.options;
  for (const char *const key : {"method", "covariance", "concentration", "truncation"})
    BOOST_TEST(options.find(key)->to_json() == start.model->info.options.find(key)->to_json());
  BOOST_TEST(options.find("prior")->find("a")->to_json() ==
             start.model->info.options.find("prior")->find("a")->to_json());
  const auto refused = [&](const Options &given, const char *word) {
    try {
      from(x, given, *start.model);
      BOOST_ERROR(word);
    } catch (const Error &error) {
      BOOST_TEST(std::string(error.what()).find(word) != std::string::npos, error.what());
    }
  };
  refused({{"covariance", "full"}}, "covariance");
  refused({{"likelihood", "poisson"}}, "likelihood");
  refused({{"truncation", 1}}, "truncation");
  BOOST_CHECK_THROW(from(Matrix(x.leftCols(1)), {}, *start.model), Error);
}

BOOST_AUTO_TEST_SUITE_END()
