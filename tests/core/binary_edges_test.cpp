// Logistic and probit regression at the edges, against other software, and cancelled.
#include <numeric>

#include "base/control.hpp"
#include "base/error.hpp"
#include "binary_support.hpp"
#include "data/remote_rows.hpp"
#include "document/saved_fit.hpp"
#include "models/passes.hpp"

using namespace bayes;
using binary::coefficients;
using binary::fit;

namespace {

#include "references/regression.inc"

Errc refused(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &error) {
    return error.code();
  }
  return Errc::internal;
}

Document flat(Link link) { return ::binary::options("prior", binary::prior(link, 1e8)); }

/// Throws when it is polled for the n-th time.
struct Impatient final : Control {
  int left;
  explicit Impatient(int polls) : left(polls) {}
  void poll() override {
    if (--left < 0) throw Error(Errc::invalid_argument, "cancelled");
  }
};

/// Rows of another server, which turns the sign of slopes.
class Turned final : public RemoteRows {
 public:
  explicit Turned(RowShape shape) : own_(shape), rows_of_parts_(1) { shape_ = shape; }
  void append(const std::vector<double> &x) {
    own_.append(x.data(), 1);
    rows_of_parts_[0] = ++rows_;
  }
  std::vector<Document> ask(const Document &request) override {
    Control control;
    PartOfRows part{own_, 0};
    Document out = answer_pass(part, request, control);
    if (const Document *const gradient = out.find("gradient")) {
      Tensor turned = *gradient->as<Tensor>();
      for (double &x : turned.values) x = -x;
      out.set("gradient", std::move(turned));
    }
    return {out};
  }
  const std::vector<std::int64_t> &rows_of_parts() const override { return rows_of_parts_; }

 private:
  MemoryRows own_;
  std::vector<std::int64_t> rows_of_parts_;
};

/// Are all coefficients and predictions finite, and deviations positive?
void check_sane(const Glm &model, const std::vector<double> &row) {
  for (const auto &c : coefficients(model)) {
    BOOST_TEST(std::isfinite(c.mean));
    BOOST_TEST((std::isfinite(c.sd) && c.sd > 0));
    BOOST_TEST((c.lower < c.mean && c.mean < c.upper));
  }
  const auto p = model.predict(row, 0.9);
  BOOST_TEST((p->mean >= 0 && p->mean <= 1 && p->lower <= p->upper && p->sd >= 0));
  BOOST_TEST(model.info.converged);
  BOOST_TEST(std::isfinite(model.info.objective));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(binary_edges)

BOOST_AUTO_TEST_CASE(steps_that_overshoot_are_shortened) {
  // One success among a million failures, a thousand standard deviations away: where Newton's
  // method begins, the likelihood is so flat that its step leads to where the prior alone counts,
  // and the step from there back again.
  binary::Rows rows{{0, 1}, Matrix(2, 1), Vector(2)};
  rows.x << 0, 1;
  rows.weight << 1e6, 1;
  const auto fitted =
      fit(Link::logit, rows, ::binary::options("prior", binary::prior(Link::logit, 1e6)));
  BOOST_TEST(fitted->info.converged);
  BOOST_TEST(fitted->info.iterations < 100);
}

BOOST_AUTO_TEST_CASE(weights_of_all_sizes) {
  // What a row counts is 1e15 times the logarithm of nearly 1, which must keep its digits.
  for (const Link link : {Link::logit, Link::probit})
    for (int heavy = 1; heavy < 12; ++heavy)
      for (const double light : {1.0, 1e-300}) {
        binary::Rows rows{{}, Matrix(12, 1), Vector(12)};
        for (int i = 0; i < 12; ++i) {
          rows.y.push_back(i * heavy % 5 > 1);
          rows.x(i, 0) = std::sin(i + heavy);
          rows.weight(i) = i <= heavy ? 1e15 : light;
        }
        BOOST_TEST_CONTEXT(heavy << ' ' << light << ' ' << (link == Link::logit)) {
          const auto fitted = fit(link, rows);
          BOOST_TEST(fitted->info.converged);
          BOOST_TEST(fitted->info.iterations < 1000);
        }
      }
  // Separated by what weighs nearly all: the mode is where the slope of the likelihood is that of
  // the prior, at a likelihood that sums of 1 and exp(-margin) do not tell from 1.
  binary::Rows rows{{0, 1}, Matrix(2, 1), Vector(2)};
  rows.x << -1, 1;
  rows.weight << 1e15, 1e15;
  const auto fitted =
      fit(Link::logit, rows, ::binary::options("prior", binary::prior(Link::logit, 1)));
  const double slope = coefficients(*fitted)[1].mean;
  BOOST_TEST(fitted->info.converged);
  BOOST_TEST(std::abs(2e15 * std::exp(-slope) / slope - 1) < 1e-6);
  BOOST_TEST(std::abs(fitted->info.log_likelihood / (-2e15 * std::exp(-slope)) - 1) < 1e-6);
  // One row has nearly all weight: refused before the first iteration.
  rows.weight << 1e15, 1e-300;
  struct Watched final : Control {
    int iterations = 0;
    void progress(const Progress &) override { ++iterations; }
  } control;
  MemoryRows packed = rows.packed();
  GlmWarnings warnings;
  BOOST_CHECK_EXCEPTION(glm_fit(GlmFamily::logreg, packed, {}, {}, control, warnings), Error,
                        [](const Error &e) { return e.code() == Errc::numeric; });
  BOOST_TEST(control.iterations == 0);
}

BOOST_AUTO_TEST_CASE(coefficients_are_those_of_other_software) {
  // birthwt: low, age, lwt, race, smoke, ptl, ht, ui, ftv, bwt
  const Matrix births = support::data_set("birthwt");
  binary::Rows rows{{}, births.middleCols(1, 8), {}};
  for (Eigen::Index i = 0; i < births.rows(); ++i) {
    rows.y.push_back(births(i, 0) == 1);
    rows.x(i, 2) -= 1;
  }
  RowColumns columns;
  for (const char *const name : {"age", "lwt", "race", "smoke", "ptl", "ht", "ui", "ftv"})
    columns.push_back({name, ValueKind::number, {}});
  columns[2] = {"race", ValueKind::label, {"1", "2", "3"}};
  const auto logit = coefficients(*fit(Link::logit, rows, flat(Link::logit), columns)),
             probit = coefficients(*fit(Link::probit, rows, flat(Link::probit), columns));
  BOOST_REQUIRE(logit.size() == std::size(births_logit));
  for (std::size_t j = 0; j < logit.size(); ++j) {
    BOOST_TEST(logit[j].mean == births_logit[j], boost::test_tools::tolerance(1e-5));
    BOOST_TEST(logit[j].sd == births_logit_sd[j], boost::test_tools::tolerance(1e-5));
    BOOST_TEST(probit[j].mean == births_probit[j], boost::test_tools::tolerance(1e-5));
    // By the Hessian of the likelihood; R's glm inverts Fisher's information, which for this link
    // is another.
    BOOST_TEST(probit[j].sd == births_probit_sd[j], boost::test_tools::tolerance(1e-5));
  }
  const Matrix cancer = support::data_set("breast_cancer");
  binary::Rows tumours{{}, cancer.rightCols(30), {}};
  for (Eigen::Index i = 0; i < cancer.rows(); ++i) tumours.y.push_back(cancer(i, 0) == 1);
  const Document asked =
      binary::options("prior", Document::object().set("c", 1).set("c_intercept", 1e12))
          .set("standardize", true);
  const auto ridge = coefficients(*fit(Link::logit, tumours, asked));
  for (Eigen::Index j = 0; j < 30; ++j) {
    const Vector column = tumours.x.col(j);
    const double mean = column.mean(), sd = std::sqrt((column.array() - mean).square().mean());
    BOOST_TEST(ridge[std::size_t(j) + 1].mean * sd == cancer_ridge[j + 1],
               boost::test_tools::tolerance(1e-5));
  }
  BOOST_TEST(ridge[0].mean == cancer_ridge[0], boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(the_prior_holds_what_data_do_not) {
  for (const Link link : {Link::logit, Link::probit}) {
    // perfect separation, of which all is known but how steep
    binary::Rows rows{{}, Matrix(40, 1), {}};
    for (int i = 0; i < 40; ++i) {
      rows.x(i, 0) = i;
      rows.y.push_back(i >= 20);
    }
    auto model = fit(link, rows);
    check_sane(*model, {20});
    BOOST_TEST(*model->probability(std::vector{39.0}) > 0.95);
    check_sane(*fit(link, rows, flat(link)), {20});
    // all alike
    for (const int y : {0, 1}) {
      rows.y.assign(40, y);
      model = fit(link, rows);
      check_sane(*model, {20});
      BOOST_TEST((y == 1) == (*model->probability(std::vector{20.0}) > 0.9));
      BOOST_TEST(std::fabs(coefficients(*model)[1].mean) < 1e-6);
    }
    // one row
    binary::Rows one{{1}, Matrix::Constant(1, 3, 2.5), {}};
    check_sane(*fit(link, one), {1, 2, 3});
    // constant columns keep the prior; collinear ones share what there is
    auto two = binary::synthetic(60, 3, 5);
    two.x.col(1).setConstant(4);
    two.x.col(2) = -3 * two.x.col(0);
    model = fit(link, two);
    check_sane(*model, {1, 4, -3});
    const auto table = coefficients(*model);
    BOOST_TEST(std::fabs(table[2].mean) < 1e-9);
    const double c = link == Link::logit ? 6.25 : 2.5;
    BOOST_TEST(table[2].sd == std::sqrt(c), boost::test_tools::tolerance(1e-9));
    BOOST_TEST(table[1].mean == -3 * table[3].mean, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(model->free_parameters() == 3);
    // more columns than rows
    check_sane(*fit(link, binary::synthetic(20, 90, 6)), std::vector<double>(90, 0.1));
  }
}

BOOST_AUTO_TEST_CASE(terms_that_the_rows_do_not_determine_are_named) {
  for (const Link link : {Link::logit, Link::probit})
    for (const char *const method : {"laplace", "gibbs", "em", "vi"}) {
      if (link == Link::logit && (method == std::string("em") || method == std::string("vi")))
        continue;
      Document few = binary::options("method", method);
      if (method == std::string("gibbs"))
        few.set("draws", 60).set("warmup", 20).set("chains", 1).set("stored_draws", 20);
      const auto said = [&](const binary::Rows &rows, double c) {
        GlmWarnings out;
        MemoryRows packed = rows.packed();
        Document options = few;
        if (c > 0) options.set("prior", binary::prior(link, c));
        const auto model = fit(link, packed, options, {}, &out);
        BOOST_TEST(std::isnan(model->info.objective) == (method == std::string("gibbs")));
        return out;
      };
      BOOST_TEST_CONTEXT("link " << int(link) << " " << method) {
        auto rows = binary::synthetic(60, 3, 5);
        BOOST_TEST(said(rows, 1e5).undetermined.empty());
        BOOST_TEST(said(rows, 0).dependent.empty());
        rows.x.col(1) = 1e3 * rows.x.col(2) + rows.x.col(1);
        BOOST_TEST(said(rows, 0).dependent.empty());
        rows.x.col(2) = 4 - 3 * rows.x.col(0).array() + 1e-3 * rows.x.col(1).array();
        for (const double c : {0.0, 1e5}) {
          const GlmWarnings found = said(rows, c);
          BOOST_TEST(found.dependent == std::vector<std::string>{"x3"},
                     boost::test_tools::per_element());
        }
        // separated by the first predictor, or in one of two groups
        auto separated = binary::synthetic(60, 2, 6);
        for (Eigen::Index i = 0; i < 60; ++i) separated.y[std::size_t(i)] = separated.x(i, 0) > 0;
        BOOST_TEST(!said(separated, 1e6).undetermined.empty());
        BOOST_TEST(said(separated, 0).undetermined.empty());
        auto quasi = binary::synthetic(60, 2, 7);
        for (Eigen::Index i = 0; i < 60; ++i) {
          quasi.x(i, 1) = i % 3 == 0;
          if (i % 3 == 0) quasi.y[std::size_t(i)] = 1;
        }
        BOOST_TEST(said(quasi, 1e6).undetermined == std::vector<std::string>{"x2"},
                   boost::test_tools::per_element());
      }
    }
}

BOOST_AUTO_TEST_CASE(numbers_of_any_size_do_not_matter) {
  auto rows = binary::synthetic(80, 2, 15);
  const auto expected = coefficients(*fit(Link::logit, rows));
  for (const double scale : {1e150, 1e-130, 1e9}) {
    auto other = rows;
    other.x.col(0) *= scale / 10;
    const auto found = coefficients(*fit(Link::logit, other));
    BOOST_TEST(found[1].mean * (scale / 10) == expected[1].mean,
               boost::test_tools::tolerance(1e-9));
    BOOST_TEST(found[1].sd * (scale / 10) == expected[1].sd, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(found[2].mean == expected[2].mean, boost::test_tools::tolerance(1e-9));
  }
  auto tiny = rows;
  tiny.x.col(1) *= 1e-160;
  BOOST_TEST((refused([&] { fit(Link::logit, tiny); }) == Errc::numeric));
  // collinear, and a prior so flat in these units that double precision loses it
  auto same = rows;
  same.x.col(0) *= 1e140;
  same.x.col(1) = same.x.col(0);
  BOOST_TEST((refused([&] { fit(Link::logit, same, flat(Link::logit)); }) == Errc::numeric));
  // a prior of which the variance in units of the columns overflows
  auto huge = rows;
  huge.x *= 1e149;
  const auto wide = ::binary::options("prior", Document::object().set("c", 1e12));
  BOOST_TEST(fit(Link::logit, huge, wide)->info.objective ==
                 fit(Link::logit, rows, wide)->info.objective + 2 * std::log(1e-149),
             boost::test_tools::tolerance(1e-9));
  const auto model = fit(Link::logit, rows);
  BOOST_TEST((refused([&] { model->predict(std::vector{1e300, 1e300}, 0.9); }) == Errc::numeric));
}

BOOST_AUTO_TEST_CASE(a_thousand_predictors) {
  const auto model = fit(Link::logit, binary::synthetic(400, 1000, 3, false, 3));
  BOOST_TEST(model->info.converged);
  BOOST_TEST(coefficients(*model).size() == 1001);
  BOOST_TEST(Model::from_bytes(model->to_bytes())->to_bytes() == model->to_bytes());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused) {
  const auto rows = binary::synthetic(30, 1, 1), weighted = binary::synthetic(30, 1, 1, true);
  const auto with = [&](const char *key, Document value) {
    return refused([&] { fit(Link::probit, rows, binary::options(key, std::move(value))); });
  };
  BOOST_TEST((with("method", "newton") == Errc::invalid_argument));
  BOOST_TEST((with("prior", Document::object().set("c", 1)) == Errc::invalid_argument));
  BOOST_TEST((with("prior", Document::object().set("lambda", 0)) == Errc::invalid_argument));
  BOOST_TEST((with("reference", Document::object().set("x", "a")) == Errc::invalid_argument));
  BOOST_TEST((with("missing", "marginalize") == Errc::invalid_argument));
  BOOST_TEST((with("draws", 10) == Errc::invalid_argument));
  BOOST_TEST((refused([&] {
                fit(Link::probit, rows,
                    binary::options("intercept", false)
                        .set("prior", Document::object().set("lambda_intercept", 1)));
              }) == Errc::invalid_argument));
  BOOST_TEST((refused([&] { fit(Link::probit, weighted, binary::options("method", "gibbs")); }) ==
              Errc::invalid_argument));
  MemoryRows none({2, false});
  BOOST_TEST((refused([&] { fit(Link::logit, none, {}); }) == Errc::invalid_argument));
  const RowColumns one = {{"c", ValueKind::label, {"only"}}};
  binary::Rows same{{0, 1}, Matrix::Zero(2, 1), {}};
  BOOST_TEST((refused([&] { fit(Link::logit, same, binary::options("intercept", false), one); }) ==
              Errc::invalid_argument));
  BOOST_TEST(coefficients(*fit(Link::logit, same, {}, one)).size() == 1);
}

BOOST_AUTO_TEST_CASE(limits_of_time_and_iterations_and_cancelling) {
  const auto rows = binary::synthetic(300, 2, 8);
  const auto short_fit = fit(Link::logit, rows, binary::options("max_iter", 1));
  BOOST_TEST(!short_fit->info.converged);
  BOOST_TEST(short_fit->info.iterations == 1);
  const auto quick =
      fit(Link::probit, rows, binary::options("method", "em").set("max_seconds", 1e-9));
  BOOST_TEST(!quick->info.converged);
  MemoryRows packed = rows.packed();
  for (const char *const method : {"laplace", "em", "vi", "gibbs"})
    for (const int polls : {0, 2, 4}) {
      Impatient control(polls);
      GlmWarnings warnings;
      BOOST_CHECK_THROW(glm_fit(GlmFamily::probit, packed, {}, binary::options("method", method),
                                control, warnings),
                        Error);
    }
}

// Slopes of the wrong sign: no length of a step gains anything, so that the first is the last, also
// of a fit that was stopped after it.
BOOST_AUTO_TEST_CASE(a_regression_whose_steps_gain_nothing_can_be_resumed) {
  Turned rows({2, false});
  Random random(9);
  for (int i = 0; i < 60; ++i) rows.append({double(i % 3 == 0), random.normal() + i % 2});
  for (const Link link : {Link::logit, Link::probit}) {
    const auto fit = [&](Checkpoint &course, int most) {
      Control control;
      control.checkpoint = &course;
      course.rewind();
      GlmWarnings warnings;
      const Document options = Document::object().set("max_iter", most).set("resumable", true);
      auto out = glm_fit(link == Link::logit ? GlmFamily::logreg : GlmFamily::probit, rows, {},
                         options, control, warnings);
      out->saved = std::make_shared<SavedFit>(SavedFit{0, options, nullptr, false, 0, course});
      return out;
    };
    Checkpoint whole, slices;
    const auto at_once = fit(whole, 9);
    BOOST_TEST(at_once->info.iterations == 1);
    BOOST_TEST(!at_once->info.converged);
    BOOST_TEST(Model::from_bytes(at_once->to_bytes())->to_bytes() == at_once->to_bytes());
    fit(slices, 1);
    const auto resumed = fit(slices, 9);
    BOOST_TEST(resumed->info.iterations == 1);
    BOOST_TEST((resumed->trace == at_once->trace));
    BOOST_TEST((slices.runs[0].loops[0].state == whole.runs[0].loops[0].state));
  }
}

BOOST_AUTO_TEST_SUITE_END()
