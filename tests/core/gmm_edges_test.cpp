// Gaussian mixtures at the edges: whatever the rows, a fit gives a sound model that survives
// storage, or a clear Error.
#include "base/error.hpp"
#include "questions/row_distribution.hpp"
#include "slow_mixture.hpp"

using namespace support;

namespace {

struct Case {
  std::string name;
  Options options;
};
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const auto &shape : shapes)
    for (const char *method : {"em", "map", "vi", "svi"})
      out.push_back(
          {std::string(method) + ' ' + shape, {{"method", method}, {"covariance", shape}}});
  out.push_back(
      {"vi independent", {{"method", "vi"}, {"prior", Options{{"type", "independent"}}}}});
  out.push_back({"kmeans", {{"method", "kmeans"}}});
  for (auto &c : out) c.options = with(c.options, {{"restarts", 2}, {"max_iter", 40}});
  for (const char *init : {"kmeans++", "random"})
    out.push_back(
        {std::string("em full ") + init, {{"method", "em"}, {"init", init}, {"restarts", 3}}});
  return out;
}

bool finite(const std::vector<double> &v) {
  return std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); });
}

/// All results of a model are finite and consistent, and both of its forms round-trip.
void check_sound(GaussianMixture &model, const Matrix &x) {
  BOOST_TEST(std::isfinite(model.info.objective));
  BOOST_TEST(std::isfinite(model.info.log_likelihood));
  BOOST_TEST(std::isfinite(model.bic()));
  BOOST_TEST(std::isfinite(model.icl()));
  for (const auto &trace : model.trace) BOOST_TEST(finite(trace));
  double weight = 0, count = 0;
  for (const auto &c : components(model)) {
    BOOST_TEST(finite(c.mean));
    BOOST_TEST(finite(c.covariance));
    BOOST_TEST((c.weight >= 0 && c.count >= 0));
    weight += c.weight;
    count += c.count;
  }
  BOOST_TEST(distance(weight, 1) < 1e-12);
  BOOST_TEST(distance(count, double(x.rows())) < 1e-9);
  std::vector<double> p(std::size_t(model.size())), y(std::size_t(model.dimension()));
  for (const Eigen::Index i : {Eigen::Index(0), x.rows() - 1}) {
    BOOST_TEST(std::isfinite(model.log_density(row(x, i))));
    model.probabilities(row(x, i), p);
    double total = 0;
    for (const double v : p) total += v;
    BOOST_TEST(std::abs(total - 1) < 1e-12);
  }
  const auto rows = model.row_distribution();
  for (int i = 0; i < 5; ++i) {
    BOOST_TEST(rows->sample(1, i, y) < model.size());
    BOOST_TEST(finite(y));
  }
  const std::string bytes = model.to_bytes();
  BOOST_TEST(bool(bayes::Model::from_bytes(bytes)->to_bytes() == bytes));
  BOOST_TEST(bool(bayes::Model::from_document(model.to_document())->to_bytes() == bytes));
  const auto again = bayes::Model::from_bytes(bytes);
  const auto &copy = dynamic_cast<const GaussianMixture &>(*again);
  BOOST_TEST(copy.log_density(row(x, 0)) == model.log_density(row(x, 0)));
  BOOST_TEST(copy.row_distribution()->sample(2, 3, y) == rows->sample(2, 3, y));
}

/// Fits by every method. Errors are allowed only if `may_fail`, and then must be of a kind caused
/// by the data.
void check_all(const std::string &name, const Matrix &x, int k, bool may_fail = false) {
  for (const auto &c : cases()) BOOST_TEST_CONTEXT(name << " k " << k << ' ' << c.name) {
      try {
        check_sound(*fit(x, k, c.options), x);
      } catch (const bayes::Error &error) {
        BOOST_TEST(may_fail, error.what());
        BOOST_TEST(
            (error.code() == bayes::Errc::numeric || error.code() == bayes::Errc::invalid_argument),
            error.what());
        BOOST_TEST(!error.hint().empty());
      }
    }
}

std::string refusal(const Matrix &x, int k, const Options &options = {}) {
  try {
    fit(x, k, options);
  } catch (const bayes::Error &error) {
    BOOST_TEST((error.code() == bayes::Errc::invalid_argument));
    return error.what();
  }
  return "accepted";
}

Matrix scaled(const Matrix &x, double factor) { return factor * x; }

}  // namespace

BOOST_AUTO_TEST_SUITE(gmm_edges)

BOOST_AUTO_TEST_CASE(few_and_repeated_rows) {
  const Matrix x = normal_rows(12, 3, 91);
  check_all("one row", x.topRows(1), 1);
  check_all("two rows", x.topRows(2), 2);
  check_all("as many components as rows", x.topRows(6), 6);
  check_all("one row, many times", x.topRows(1).replicate(50, 1), 1);
  check_all("two rows, many times", x.topRows(2).replicate(40, 1), 2);
  check_all("four rows, many times", x.topRows(4).replicate(40, 1), 4);
  Matrix lonely = x.topRows(1).replicate(300, 1);
  lonely.row(77) = x.row(1);
  check_all("one row apart", lonely, 2);
  check_all("more columns than rows", normal_rows(5, 20, 92), 2);
  check_all("one column", x.leftCols(1), 3);
}

BOOST_AUTO_TEST_CASE(more_components_than_distinct_rows) {
  const Matrix x = normal_rows(4, 2, 93).replicate(10, 1);
  for (const auto &c : cases())
    BOOST_TEST(refusal(x, 5, c.options) == "k is 5, but there are only 4 distinct rows");
  BOOST_TEST(refusal(Matrix::Zero(30, 2), 2) == "k is 2, but there is only 1 distinct row");
  Matrix zeros = Matrix::Zero(2, 1);
  zeros(1, 0) = -0.0;
  BOOST_TEST(refusal(zeros, 2) == "k is 2, but there is only 1 distinct row");
  bayes::MemoryRows none({2, false});
  BOOST_CHECK_THROW(fit(none, 1, {}), bayes::Error);
  for (const int k : {0, -1, 10001}) BOOST_TEST(refusal(x, k).substr(0, 5) == "k is ");
}

BOOST_AUTO_TEST_CASE(constant_columns) {
  Matrix x = normal_rows(41, 3, 94);
  x.col(1).setConstant(7);
  check_all("constant column", x, 3);
  x.col(1).setConstant(1e200);
  check_all("huge constant column", x, 3);
  x.col(1) = x.col(0);
  check_all("equal columns", x, 3);
  x.col(1) = 1e8 + 1e-6 * x.col(1).array();
  check_all("hardly any spread far away", x, 3);
  x.col(2).setZero();
  x.col(1).setZero();
  x.col(0).setConstant(-1e-300);
  x(3, 0) = 1e-300;
  check_all("nothing but 1e-300", x, 2, true);
}

// Squares of tiny differences would be 0, as those of a constant column are.
BOOST_AUTO_TEST_CASE(differences_whose_squares_underflow_are_refused) {
  const auto complaint = [](const auto &fit) -> std::string {
    try {
      fit();
    } catch (const bayes::Error &error) {
      BOOST_TEST((error.code() == bayes::Errc::numeric));
      return error.what();
    }
    return "accepted";
  };
  const std::string refused =
      "the values of element 2 differ by so little that their squares underflow";
  Matrix x = normal_rows(40, 2, 101);
  const Vector column = x.col(1);
  for (const double factor : {1e-320, 1e-200, 1e-150})
    for (const double weight : {0.0, 1.0}) {
      x.col(1) = factor * column;
      const Vector weights = weight > 0 ? Vector(Vector::Constant(40, weight)) : Vector();
      for (const char *method : {"em", "vi", "gibbs"})
        if (weight == 0 || method != std::string("gibbs"))
          BOOST_TEST(complaint([&] { fit(x, 2, {{"method", method}}, weights); }) == refused);
    }
  x.col(1) = 1e-135 * column;
  BOOST_TEST(complaint([&] { fit(x, 2, {{"method", "em"}}); }) == "accepted");
  const auto drawn = fit(x, 2, {{"method", "gibbs"}, {"draws", 100}, {"chains", 1}});
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    BOOST_TEST(std::isfinite(drawn->log_density(row(x, i))));
}

BOOST_AUTO_TEST_CASE(extreme_scales) {
  const Matrix x = normal_rows(60, 3, 95);
  for (const double factor : {1e-140, 1e-100, 1e-20, 1e20, 1e100, 1e140})
    check_all("scale " + std::to_string(std::log10(factor)), scaled(x, factor), 3);
  for (const double factor : {1e-320, 1e-200, 1e-160, 1e153, 1e160, 1e250, 1e305})
    check_all("scale " + std::to_string(std::log10(factor)), scaled(x, factor), 3, true);
  Matrix mixed = x;
  mixed.col(0) *= 1e-100;
  mixed.col(2) *= 1e100;
  check_all("columns of different scales", mixed, 3);
  Matrix outlier = x;
  outlier.row(5).setConstant(1e9);
  check_all("an outlier", outlier, 3);
  outlier.row(5).setConstant(1e150);
  check_all("a huge outlier", outlier, 3, true);
}

// Data far from the origin lose digits only in the data themselves.
BOOST_AUTO_TEST_CASE(rows_far_from_the_origin) {
  // so that adding 2^26 is exact
  const Matrix grid = (normal_rows(100, 2, 96) * 1024).array().round() / 1024;
  const Matrix far = grid.array() + 67108864.0;
  for (const auto &c : cases()) BOOST_TEST_CONTEXT(c.name) {
      // Starting points depend on the rows' bits, so fits start from a model that is shifted too.
      if (c.name == "kmeans") continue;
      const auto begin = fit(grid, 3, {{"method", "em"}, {"max_iter", 2}});
      std::vector<bayes::GmmComponent> moved = components(*begin);
      for (auto &m : moved)
        for (double &v : m.mean) v = std::round(v * 1024) / 1024;
      const auto near_start = point_model("full", moved);
      for (auto &m : moved)
        for (double &v : m.mean) v += 67108864.0;
      const auto far_start = point_model("full", moved);
      Options options;
      for (const auto &o : c.options)
        if (o.first != "restarts" && o.first != "init") options.push_back(o);
      const auto a = fit(grid, 3, options, {}, near_start.get()),
                 b = fit(far, 3, options, {}, far_start.get());
      BOOST_TEST(distance(a->info.log_likelihood, b->info.log_likelihood) < 1e-7);
      for (int i = 0; i < 3; ++i)
        BOOST_TEST(distance(a->component(i).covariance, b->component(i).covariance) < 5e-5);
    }
  check_all("1e8 away", far, 3);
  check_all("1e12 away", grid.array() + 1e12, 3);
}

// Components that lose all rows: weight 0 or the prior's, never a NaN.
BOOST_AUTO_TEST_CASE(components_without_rows_stay_finite) {
  const Matrix x = normal_rows(50, 2, 97, 1);
  std::vector<bayes::GmmComponent> start(3, {1.0 / 3, 0, {0, 0}, {1, 0, 0, 1}});
  start[1].mean = {1e6, 1e6};
  start[1].covariance = {1e-6, 0, 0, 1e-6};
  start[2] = start[1];  // and two equal ones
  for (const auto &shape : shapes) {
    const auto begin = point_model(shape, start);
    for (const char *method : {"em", "map", "vi", "svi", "kmeans"})
      BOOST_TEST_CONTEXT(method << ' ' << shape) {
        const auto model = fit(x, 3, {{"method", method}, {"max_iter", 30}}, {}, begin.get());
        check_sound(*model, x);
        for (const auto &trace : model->trace)
          for (std::size_t i = 1; i < trace.size() && method != std::string("svi"); ++i)
            BOOST_TEST(trace[i] >= trace[i - 1] - 1e-9 * std::abs(trace[i - 1]));
      }
  }
  // Means given far away from all rows.
  for (const char *method : {"em", "map", "vi", "kmeans"})
    for (const double away : {1e3, 1e8, 1e12})
      BOOST_TEST_CONTEXT(method << " means " << away << " away")
  check_sound(
      *fit(x, 3, {{"method", method}, {"init", Tensor{{3, 2}, {0, 0, away, away, -away, away}}}}),
      x);
}

BOOST_AUTO_TEST_CASE(extreme_weights) {
  const Matrix x = normal_rows(40, 2, 98);
  for (const double factor : {1e-30, 1e-8, 1e8, 1e30}) {
    const Vector w = factor * random_weights(40, 99);
    for (const char *method : {"em", "map", "vi"})
      BOOST_TEST_CONTEXT(method << " weights " << factor) {
        const auto model = fit(x, 2, {{"method", method}}, w);
        BOOST_TEST(std::isfinite(model->info.objective));
        const std::string bytes = model->to_bytes();
        BOOST_TEST(bool(bayes::Model::from_bytes(bytes)->to_bytes() == bytes));
        for (const auto &trace : model->trace)
          for (std::size_t i = 1; i < trace.size(); ++i)
            BOOST_TEST(trace[i] >= trace[i - 1] - 1e-9 * std::abs(trace[i - 1]));
      }
  }
}

BOOST_AUTO_TEST_SUITE_END()
