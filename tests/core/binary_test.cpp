// Fitted logistic and probit regressions: the mode, its normal approximation, evidence and bound
// against the definition; predictions; priors and units; documents.
#include <sstream>

#include "base/control.hpp"
#include "base/error.hpp"
#include "binary_support.hpp"

using namespace bayes;
using binary::coefficients;
using binary::fit;
using binary::Fitted;
using binary::Real;

namespace {

/// Of the model's coefficients, those of columns less their means.
Vector centred(const Glm &model, const Vector &means) {
  const std::vector<binary::Row> rows = coefficients(model);
  Vector w(Eigen::Index(rows.size()));
  for (std::size_t j = 0; j < rows.size(); ++j) w(Eigen::Index(j)) = rows[j].mean;
  for (Eigen::Index j = 0; j < means.size(); ++j) w(0) += w(j + 1) * means(j);
  return w;
}

struct SlowPosterior {
  const binary::Rows &rows;
  Link link;
  Vector centre, variance;
  Real operator()(const Vector &w) const {
    return binary::log_joint(rows, link, true, centre, variance, w);
  }
  /// minus the Hessian by central differences
  Matrix hessian(const Vector &w) const {
    const Real h = 1e-4L;
    const Eigen::Index p = w.size();
    Matrix out(p, p);
    for (Eigen::Index i = 0; i < p; ++i)
      for (Eigen::Index j = 0; j <= i; ++j) {
        const auto at = [&](int a, int b) {
          Vector v = w;
          v(i) += a * double(h);
          v(j) += b * double(h);
          return (*this)(v);
        };
        out(i, j) = out(j, i) =
            -double((at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * h * h));
      }
    return out;
  }
};

SlowPosterior posterior_of(const binary::Rows &rows, Link link, double variance) {
  return {rows, link, binary::means(rows), Vector::Constant(rows.x.cols() + 1, variance)};
}

Document given(Link link, double variance, const char *method = "laplace") {
  return binary::options("prior", binary::prior(link, variance)).set("method", method);
}

double log_determinant_of(const Matrix &a) {
  Matrix lower;
  BOOST_REQUIRE(cholesky(a, lower));
  return 2 * lower.diagonal().array().log().sum();
}

/// The same answers, to the last bit?
void check_same_answers(const Glm &a, const Glm &b, const std::vector<double> &row) {
  const auto one = coefficients(a), two = coefficients(b);
  BOOST_REQUIRE(one.size() == two.size());
  for (std::size_t j = 0; j < one.size(); ++j) {
    BOOST_TEST(one[j].term == two[j].term);
    BOOST_TEST(one[j].mean == two[j].mean);
    if (!std::isnan(one[j].sd)) BOOST_TEST(one[j].sd == two[j].sd);
  }
  BOOST_TEST(a.predict(row, 0.9)->mean == b.predict(row, 0.9)->mean);
}

Errc code_of(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &error) {
    return error.code();
  }
  return Errc::internal;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(binary)

BOOST_AUTO_TEST_CASE(the_mode_is_where_the_density_is_flat_and_the_factor_its_hessian) {
  for (const Link link : {Link::logit, Link::probit})
    for (const bool weighted : {false, true}) {
      const auto rows = ::binary::synthetic(90, 3, 21, weighted, 2);
      const Fitted model = fit(link, rows, given(link, 2.5));
      const SlowPosterior slow = posterior_of(rows, link, 2.5);
      const Vector w = centred(*model, slow.centre);
      const Matrix hessian = slow.hessian(w);
      const double h = 1e-4;
      for (Eigen::Index j = 0; j < w.size(); ++j) {
        Vector up = w, down = w;
        up(j) += h;
        down(j) -= h;
        const double slope = double((slow(up) - slow(down)) / (2 * h));
        // in posterior standard deviations; the difference itself is off by h^2
        BOOST_TEST(std::fabs(slope) <= 1e-6 * hessian(j, j));
      }
      const Matrix covariance = ::binary::inverse(hessian);
      const auto table = coefficients(*model);
      for (Eigen::Index j = 1; j < w.size(); ++j) {
        const auto &row = table[std::size_t(j)];
        BOOST_TEST(row.sd == std::sqrt(covariance(j, j)), boost::test_tools::tolerance(1e-6));
        BOOST_TEST(row.upper - row.mean == 1.959963984540054 * row.sd,
                   boost::test_tools::tolerance(1e-9));
        BOOST_TEST(row.mean - row.lower == row.upper - row.mean,
                   boost::test_tools::tolerance(1e-9));
      }
      // the intercept, where the columns are 0
      Vector a(w.size());
      a << 1, -slow.centre;
      BOOST_TEST(table[0].sd == std::sqrt(::binary::form(covariance, a)),
                 boost::test_tools::tolerance(1e-6));
      const double evidence = double(slow(w)) +
                              0.5 * double(w.size()) * std::log(2 * 3.14159265358979323846) -
                              0.5 * log_determinant_of(hessian);
      BOOST_TEST(model->info.objective == evidence, boost::test_tools::tolerance(1e-7));
      BOOST_TEST(model->info.converged);
      for (std::size_t i = 1; i < model->trace[0].size(); ++i)
        BOOST_TEST(model->trace[0][i] >= model->trace[0][i - 1] - 1e-9);
      BOOST_TEST(model->trace[0].back() == model->info.objective);
    }
}

BOOST_AUTO_TEST_CASE(laplace_comes_close_to_the_evidence_and_the_predictive_probability) {
  for (const Link link : {Link::logit, Link::probit}) {
    const auto rows = ::binary::synthetic(150, 1, 5);
    const Fitted model = fit(link, rows, given(link, 4));
    const SlowPosterior slow = posterior_of(rows, link, 4);
    const Vector w = centred(*model, slow.centre);
    const Vector sd = ::binary::inverse(slow.hessian(w)).diagonal().cwiseSqrt();
    const Real at = slow(w);
    const Real evidence = at + std::log(::binary::integral(
                                   w, sd, [&](const Vector &v) { return std::exp(slow(v) - at); }));
    // Laplace's error is of order 1 / n.
    BOOST_TEST(std::fabs(model->info.objective - double(evidence)) < 0.02);
    for (const double x : {-2.0, 0.3, 3.0}) {
      const Real mean = ::binary::integral(w, sd, [&](const Vector &v) {
        return std::exp(slow(v) - evidence +
                        ::binary::log_link(link, v(0) + v(1) * (x - slow.centre(0))));
      });
      BOOST_TEST(std::fabs(model->predict(std::vector{x}, 0.9)->mean - double(mean)) < 0.005);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_prediction_is_that_of_its_normal_predictor) {
  const auto rows = ::binary::synthetic(60, 2, 8);
  for (const Link link : {Link::logit, Link::probit}) {
    const Fitted model = fit(link, rows, given(link, 1));
    const SlowPosterior slow = posterior_of(rows, link, 1);
    const Vector w = centred(*model, slow.centre);
    const Matrix covariance = ::binary::inverse(slow.hessian(w));
    const std::vector<double> x = {1.5, -0.7};
    Vector a(3);
    a << 1, x[0] - slow.centre(0), x[1] - slow.centre(1);
    const double mean = a.dot(w), sd = std::sqrt(::binary::form(covariance, a));
    const auto found = model->predict(x, 0.8);
    const LinkMoments moments = link_moments(link, mean, sd * sd);
    BOOST_TEST(found->mean == moments.mean, boost::test_tools::tolerance(1e-7));
    BOOST_TEST(found->sd == moments.sd, boost::test_tools::tolerance(1e-6));
    const double z = 1.2815515655446004;
    BOOST_TEST(found->lower == probability_at(link, mean - z * sd),
               boost::test_tools::tolerance(1e-6));
    BOOST_TEST(found->upper == probability_at(link, mean + z * sd),
               boost::test_tools::tolerance(1e-6));
    BOOST_TEST(*model->probability(x) == found->mean);
    const Score yes = *model->score(x, 1), no = *model->score(x, 0);
    BOOST_TEST(yes.log_density == std::log(found->mean), boost::test_tools::tolerance(1e-12));
    BOOST_TEST(std::exp(no.log_density) == 1 - found->mean, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(yes.error == double(found->mean <= 0.5));
    BOOST_TEST(no.error == double(found->mean > 0.5));
    BOOST_TEST(!model->score(std::vector{1.0, std::nan("")}, 1));
    BOOST_TEST(!model->predict(std::vector{1.0, std::nan("")}, 0.8));
  }
}

BOOST_AUTO_TEST_CASE(improbable_responses_have_scores) {
  const auto rows = ::binary::synthetic(60, 2, 8);
  const Fitted model = fit(Link::probit, rows, given(Link::probit, 1, "em"));
  const Vector means = ::binary::means(rows), w = centred(*model, means);
  // a row whose linear predictor is +-12: 1 less such a probability is 1
  for (const double sign : {-1.0, 1.0}) {
    std::vector<double> x;
    for (Eigen::Index j = 0; j < 2; ++j)
      x.push_back(means(j) + (12 * sign - w(0)) * w(j + 1) / w.tail(2).squaredNorm());
    BOOST_TEST(
        model->score(x, sign < 0)->log_density == std::log(probability_at(Link::probit, -12)),
        boost::test_tools::tolerance(1e-9));
    BOOST_TEST(model->score(x, sign > 0)->error == 0);
    BOOST_TEST(model->score(x, sign < 0)->error == 1);
  }
}

BOOST_AUTO_TEST_CASE(em_and_vi_of_the_probit_end_at_the_same_mode) {
  for (const bool weighted : {false, true}) {
    const auto rows = ::binary::synthetic(200, 3, 31, weighted);
    const Fitted mode = fit(Link::probit, rows, given(Link::probit, 2)),
                 em = fit(Link::probit, rows, given(Link::probit, 2, "em")),
                 vi = fit(Link::probit, rows, given(Link::probit, 2, "vi"));
    const auto expected = coefficients(*mode), by_em = coefficients(*em), by_vi = coefficients(*vi);
    for (std::size_t j = 0; j < expected.size(); ++j) {
      BOOST_TEST(std::fabs(by_em[j].mean - expected[j].mean) <= 1e-3 * expected[j].sd);
      BOOST_TEST(by_vi[j].mean == expected[j].mean);
      BOOST_TEST(std::isnan(by_em[j].sd));
      BOOST_TEST(by_vi[j].sd < expected[j].sd);
    }
    for (std::size_t i = 1; i < em->trace[0].size(); ++i)
      BOOST_TEST(em->trace[0][i] >= em->trace[0][i - 1] - 1e-9);
    const SlowPosterior slow = posterior_of(rows, Link::probit, 2);
    BOOST_TEST(em->info.objective == double(slow(centred(*em, slow.centre))),
               boost::test_tools::tolerance(1e-10));
    BOOST_TEST(vi->info.objective < mode->info.objective);
  }
}

BOOST_AUTO_TEST_CASE(the_bound_of_vi_is_what_its_definition_says) {
  // One coefficient, so that E_q is a sum: E_q log p(y, y*, w) - E_q log q(w) q(y*), where q(y*) is
  // a normal with unit variance about the mean of z w on the side of y, truncated.
  const auto rows = ::binary::synthetic(12, 1, 3);
  const Document asked = given(Link::probit, 1.7, "vi")
                             .set("intercept", false)
                             .set("prior", Document::object().set("lambda", 1 / 1.7));
  const Fitted model = fit(Link::probit, rows, asked);
  const auto w = coefficients(*model)[0];
  const Real variance = Real(w.sd) * w.sd, two_pi = 2 * 3.14159265358979323846L;
  // E log p(w) - E log q(w)
  Real bound = -0.5L * (std::log(two_pi * 1.7L) + (Real(w.mean) * w.mean + variance) / 1.7L) +
               0.5L * (std::log(two_pi * variance) + 1);
  Real precision = 1 / 1.7L;
  for (Eigen::Index i = 0; i < 12; ++i) {
    const Real x = rows.x(i, 0), mean = x * w.mean;
    const int sign = rows.y[std::size_t(i)] ? 1 : -1;
    const Real mass = std::exp(::binary::log_link(Link::probit, sign * mean));
    precision += x * x;
    // over y*: E log N(y* | x w, 1) - log q(y*), by a sum
    for (Real t = 0.0005L; t < 14; t += 0.001L) {
      const Real latent = sign * t, d = latent - mean;
      const Real q = std::exp(-0.5L * d * d) / std::sqrt(two_pi) / mass;
      const Real log_p = -0.5L * (std::log(two_pi) + d * d + x * x * variance);
      if (q > 1e-300L) bound += 0.001L * q * (log_p - std::log(q));
    }
  }
  BOOST_TEST(model->info.objective == double(bound), boost::test_tools::tolerance(1e-6));
  BOOST_TEST(w.sd == double(1 / std::sqrt(precision)), boost::test_tools::tolerance(1e-10));
  // It is below the evidence.
  const Vector at = Vector::Constant(1, w.mean), sd = Vector::Constant(1, 2 * w.sd);
  const Real evidence = std::log(::binary::integral(at, sd, [&](const Vector &v) {
    return std::exp(
        ::binary::log_joint(rows, Link::probit, false, {}, Vector::Constant(1, 1.7), v));
  }));
  BOOST_TEST(model->info.objective < double(evidence));
  BOOST_TEST(model->info.objective > double(evidence) - 1);
}

BOOST_AUTO_TEST_CASE(units_and_origins_of_columns_do_not_matter_to_the_default_prior) {
  auto rows = ::binary::synthetic(150, 2, 12);
  const Fitted before = fit(Link::logit, rows);
  rows.x.col(0) = rows.x.col(0) * 1e6;
  rows.x.col(1) = rows.x.col(1).array() * 0.25 + 1000;
  const Fitted after = fit(Link::logit, rows);
  const auto a = coefficients(*before), b = coefficients(*after);
  BOOST_TEST(b[1].mean == a[1].mean / 1e6, boost::test_tools::tolerance(1e-7));
  BOOST_TEST(b[2].mean == a[2].mean / 0.25, boost::test_tools::tolerance(1e-7));
  BOOST_TEST(b[2].sd == a[2].sd / 0.25, boost::test_tools::tolerance(1e-7));
  BOOST_TEST(b[0].mean + 1000 * b[2].mean == a[0].mean, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(before->info.objective == after->info.objective, boost::test_tools::tolerance(1e-9));
  // a weight of 2 is a row twice; a default prior does not depend on how often rows come
  auto twice = rows;
  twice.weight = Vector::Constant(150, 2);
  auto doubled = rows;
  doubled.x.conservativeResize(300, 2);
  doubled.x.bottomRows(150) = rows.x;
  doubled.y.insert(doubled.y.end(), rows.y.begin(), rows.y.end());
  const Fitted one = fit(Link::logit, twice), two = fit(Link::logit, doubled);
  BOOST_TEST(coefficients(*one)[1].mean == coefficients(*two)[1].mean,
             boost::test_tools::tolerance(1e-8));
  BOOST_TEST(one->info.objective == two->info.objective, boost::test_tools::tolerance(1e-10));
}

BOOST_AUTO_TEST_CASE(labels_are_compared_with_their_reference) {
  Random random(2);
  binary::Rows rows{{}, Matrix(120, 2), {}};
  for (Eigen::Index i = 0; i < 120; ++i) {
    rows.x(i, 0) = double(i % 3);
    rows.x(i, 1) = random.normal();
    rows.y.push_back(random.uniform() < (i % 3 == 1 ? 0.8 : 0.3));
  }
  const RowColumns columns = {{"colour", ValueKind::label, {"blue", "green", "red"}},
                              {"size", ValueKind::number, {}}};
  const Fitted model = fit(Link::logit, rows, {}, columns);
  const auto table = coefficients(*model);
  BOOST_REQUIRE(table.size() == 4);
  BOOST_TEST(table[1].term == "colour=green");
  BOOST_TEST(table[3].term == "size");
  // the same as with columns of zeros and ones
  binary::Rows by_hand{rows.y, Matrix(120, 3), {}};
  for (Eigen::Index i = 0; i < 120; ++i)
    by_hand.x.row(i) << double(i % 3 == 1), double(i % 3 == 2), rows.x(i, 1);
  const auto expected = coefficients(*fit(Link::logit, by_hand));
  for (std::size_t j = 0; j < 4; ++j)
    BOOST_TEST(table[j].mean == expected[j].mean, boost::test_tools::tolerance(1e-10));
  const Document other = ::binary::options("reference", Document::object().set("colour", "green"));
  const Fitted second = fit(Link::logit, rows, other, columns);
  BOOST_TEST(coefficients(*second)[1].term == "colour=blue");
  check_same_answers(*second, static_cast<const Glm &>(*Model::from_bytes(second->to_bytes())),
                     {2, 0.1});
}

BOOST_AUTO_TEST_CASE(documents_come_back_whole_and_nonsense_is_refused) {
  const auto rows = ::binary::synthetic(50, 2, 4);
  for (const char *const method : {"laplace", "em", "vi", "gibbs"}) {
    Document asked = ::binary::options("method", method);
    if (std::string(method) == "gibbs") asked.set("draws", 20).set("chains", 2);
    const Fitted model = fit(Link::probit, rows, asked);
    const auto back = Model::from_bytes(model->to_bytes());
    check_same_answers(*model, static_cast<const Glm &>(*back), {0.3, -1});
    BOOST_TEST(back->to_bytes() == model->to_bytes());
    const Document whole = model->to_document();
    const auto refused = [&](const char *key, Document value) {
      Document changed = whole;
      changed.set(key, std::move(value));
      BOOST_TEST((code_of([&] { Model::from_document(changed); }) == Errc::invalid_text));
    };
    refused("scale", Tensor{{3}, {1, 0, 1}});
    refused("centre", Tensor{{2}, {0, 0}});
    refused("mean", Tensor{{3}, {1, 1e200, 1}});
    refused("observations", 0);
    refused("method", "newton");
    refused("family", "gmm");
    if (std::string(method) == "laplace" || std::string(method) == "vi")
      refused("root", Tensor{{6}, {1, 0, -1, 0, 0, 1}});
    if (std::string(method) == "gibbs") refused("coefficient_draws", Tensor{{0, 3}, {}});
  }
}

BOOST_AUTO_TEST_SUITE_END()
