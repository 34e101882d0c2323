// The exact posterior of linear regression.
#include <tuple>

#include "linreg_support.hpp"

using namespace linreg;
using support::distance;

namespace {

struct NistSet {
  Rows rows;
  int degree = 0;
  std::vector<double> estimate, sd;
  double residual_sd = 0;
};

/// Data sets and certified values of tests/data/nist_*.csv.
std::map<std::string, NistSet> nist_sets() {
  std::map<std::string, NistSet> out;
  std::ifstream certified(BAYES_TEST_DATA "/nist_certified.csv"),
      data(BAYES_TEST_DATA "/nist_linear.csv");
  BOOST_REQUIRE(certified && data);
  const auto cells_of = [](const std::string &line) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    return cells;
  };
  std::string line;
  std::getline(certified, line);
  while (std::getline(certified, line)) {
    const auto cells = cells_of(line);
    NistSet &set = out[cells[0]];
    set.degree = std::stoi(cells[1]);
    if (cells[2] == "(residual sd)") {
      set.residual_sd = std::stod(cells[3]);
      continue;
    }
    set.estimate.push_back(std::stod(cells[3]));
    set.sd.push_back(std::stod(cells[4]));
  }
  std::getline(data, line);
  while (std::getline(data, line)) {
    const auto cells = cells_of(line);
    NistSet &set = out[cells[0]];
    set.rows.y.push_back(std::stod(cells[1]));
    std::vector<double> x;
    for (std::size_t j = 2; j < cells.size(); ++j)
      if (!cells[j].empty()) x.push_back(std::stod(cells[j]));
    for (int power = 2; power <= set.degree; ++power) x.push_back(std::pow(x[0], power));
    set.rows.x.push_back(x);
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(linreg_exact)

// The certified values of all eleven linear regressions of the NIST's reference data sets, with a
// flat prior, from sums of two parts. The powers of Filip's x are rounded to doubles, and exact
// arithmetic from those has 7.6 digits.
BOOST_AUTO_TEST_CASE(nist_reference_data_sets) {
  int sets = 0;
  for (const auto &[name, set] : nist_sets()) {
    LinregSums sums = sums_of(set.rows.part(0, set.rows.size() / 2));
    sums.add(sums_of(set.rows.part(set.rows.size() / 2, set.rows.size())));
    LinregWarnings warnings;
    const auto model = fit(
        sums, {{"intercept", set.degree != 0}, {"prior", prior({{"c", 0}, {"a", 0}, {"b", 0}})}},
        &warnings);
    BOOST_CHECK(warnings.dependent.empty() && warnings.constant.empty());
    const auto found = coefficients(*model);
    BOOST_REQUIRE_EQUAL(found.size(), set.estimate.size());
    const double digits = name == "filip" ? 5e-8 : 1e-13;
    const double freedom = double(set.rows.size() - found.size());
    for (std::size_t j = 0; j < found.size(); ++j) {
      BOOST_TEST_CONTEXT(name << " " << *found[j].term) {
        BOOST_CHECK_SMALL(found[j].mean / set.estimate[j] - 1, digits);
        // The posterior is Student's t, whose standard deviation is larger than its scale.
        const double scale = found[j].sd * std::sqrt(freedom > 2 ? (freedom - 2) / freedom : 1);
        if (set.residual_sd > 0 && freedom > 2)
          BOOST_CHECK_SMALL(scale / set.sd[j] - 1, 10 * digits);
        if (set.residual_sd == 0) BOOST_CHECK_SMALL(scale, 1e-9);
      }
    }
    ++sets;
  }
  BOOST_CHECK_EQUAL(sets, 11);
}

// log p(y) by the covariance of y, integrated over alpha.
BOOST_AUTO_TEST_CASE(evidence_by_quadrature) {
  const Rows rows = random_rows(7, 2, 21);
  const auto known = fit(
      rows, {{"intercept", false}, {"noise_variance", 0.7}, {"prior", prior({{"lambda", 0.3}})}});
  BOOST_CHECK_SMALL(
      distance(known->info.objective, double(log_evidence_given(rows, 1 / 0.7L, 0.3L))), 1e-12);
  const auto unknown =
      fit(rows, {{"intercept", false}, {"prior", prior({{"c", 0.3}, {"a", 2}, {"b", 1.5}})}});
  const Real slow = log_integral([&](Real alpha) {
    return log_evidence_given(rows, alpha, 0.3L * alpha) + log_gamma_density(2, 1.5L, alpha);
  });
  BOOST_CHECK_SMALL(distance(unknown->info.objective, double(slow)), 1e-10);
}

// With a flat prior of density 1 the intercept is a predictor of 1 whose coefficient has a normal
// prior of ever larger variance, times the square root of 2 pi times it.
BOOST_AUTO_TEST_CASE(evidence_with_an_intercept) {
  const Rows rows = random_rows(6, 1, 22);
  Rows with_one = rows;
  const Real precision = 1e-10L;  // of that normal
  const auto model = fit(rows, {{"noise_variance", 0.7}, {"prior", prior({{"lambda", 0.3}})}});
  for (auto &x : with_one.x) x.push_back(std::sqrt(0.3 / 1e-10));
  const Real slow = log_evidence_given(with_one, 1 / 0.7L, 0.3L) +
                    std::log(2 * 3.14159265358979323846L / precision) / 2;
  BOOST_CHECK_SMALL(distance(model->info.objective, double(slow)), 1e-7);
}

// log p(y1, ..., yn) is the sum of the log predictive densities of each row given those before it,
// a Student t by mean and variance of the prediction.
BOOST_AUTO_TEST_CASE(sequential_is_batch) {
  const Rows rows = random_rows(12, 2, 23);
  const double a = 2;
  const Options options = {{"intercept", false},
                           {"prior", prior({{"c", 0.4}, {"a", a}, {"b", 1.2}})}};
  double sum = fit(rows.part(0, 1), options)->info.objective;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto model = fit(rows.part(0, i), options);
    const auto p = *model->predict(rows.x[i], 0.9);
    const double df = 2 * a + double(i), scale = p.sd * std::sqrt((df - 2) / df),
                 t = (rows.y[i] - p.mean) / scale;
    const double density = std::lgamma((df + 1) / 2) - std::lgamma(df / 2) -
                           std::log(df * M_PI) / 2 - std::log(scale) -
                           (df + 1) / 2 * std::log1p(t * t / df);
    BOOST_CHECK_SMALL(distance(*model->log_density(rows.x[i], rows.y[i]), density), 1e-10);
    sum += density;
  }
  BOOST_CHECK_SMALL(distance(sum, fit(rows, options)->info.objective), 1e-10);
}

// A predictor moved and scaled, and a sum of two, are other coefficients of the same regression.
// Caught: an intercept without the centres of the terms, or without the uncertainty of its own.
BOOST_AUTO_TEST_CASE(contrasts_are_coefficients_of_other_predictors) {
  const Rows rows = random_rows(30, 2, 24, 3);
  Rows other = rows;  // x1 - 5, x1 + x2: w2' = w2, w1' = w1 - w2, intercept' = intercept + 5 w1'
  for (auto &x : other.x) x = {x[0] - 5, x[0] + x[1]};
  for (const Options &options :
       {Options{{"prior", prior({{"c", 0}})}},
        Options{{"prior", prior({{"lambda", 0}})}, {"noise_variance", 0.8}}}) {
    const auto one = fit(rows, options), turned = fit(other, options);
    const auto found = coefficients(*turned, 0.8);
    const std::vector<std::vector<double>> weights = {{1, 5, -5}, {0, 1, -1}, {0, 0, 1}};
    for (std::size_t i = 0; i < 3; ++i) {
      const Coefficient contrast = one->contrast(weights[i], 0.8);
      BOOST_CHECK_SMALL(distance(contrast.mean, found[i].mean), 1e-9);
      BOOST_CHECK_SMALL(distance(contrast.sd, found[i].sd), 1e-9);
      BOOST_CHECK_SMALL(distance(contrast.lower, found[i].lower), 1e-9);
      BOOST_CHECK_SMALL(distance(contrast.upper, found[i].upper), 1e-9);
    }
  }
}

// Weights are repetitions, and shifts and scales of columns change what they should.
BOOST_AUTO_TEST_CASE(weights_and_units) {
  Rows rows = random_rows(15, 2, 24), repeated;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows.weight.push_back(double(1 + i % 3));
    for (std::size_t k = 0; k <= i % 3; ++k) {
      repeated.y.push_back(rows.y[i]);
      repeated.x.push_back(rows.x[i]);
    }
  }
  const auto a = fit(rows), b = fit(repeated);
  BOOST_CHECK_SMALL(distance(a->info.objective, b->info.objective), 1e-12);
  Rows moved = repeated;
  for (auto &x : moved.x) x[1] = 1000 + 64 * x[1];
  const auto c = fit(moved);
  const auto of_a = coefficients(*a), of_b = coefficients(*b), of_c = coefficients(*c);
  for (std::size_t j = 0; j < 3; ++j) {
    BOOST_CHECK_SMALL(distance(of_a[j].mean, of_b[j].mean), 1e-12);
    BOOST_CHECK_SMALL(distance(of_a[j].upper, of_b[j].upper), 1e-12);
  }
  BOOST_CHECK_SMALL(distance(of_b[2].mean, 64 * of_c[2].mean), 1e-12);
  BOOST_CHECK_SMALL(distance(of_b[2].sd, 64 * of_c[2].sd), 1e-12);
  BOOST_CHECK_SMALL(distance(b->info.objective, c->info.objective), 1e-11);
}

BOOST_AUTO_TEST_CASE(predictions_of_known_noise) {
  const Rows rows = random_rows(20, 2, 25);
  const auto model = fit(
      rows, {{"intercept", false}, {"noise_variance", 2.0}, {"prior", prior({{"lambda", 0.5}})}});
  std::vector<std::vector<Real>> precision(2, std::vector<Real>(2, 0));
  std::vector<Real> moment(2, 0);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < 2; ++i) {
      moment[i] += rows.x[r][i] * rows.y[r] / 2;
      for (std::size_t j = 0; j < 2; ++j) precision[i][j] += rows.x[r][i] * rows.x[r][j] / 2;
    }
  precision[0][0] += 0.5;
  precision[1][1] += 0.5;
  const auto s = inverse(precision);
  const std::vector<double> x = {0.3, -2};
  Real mean = 0, variance = 0;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      mean += x[i] * s[i][j] * moment[j];
      variance += x[i] * s[i][j] * x[j];
    }
  const auto p = *model->predict(x, 0.95);
  BOOST_CHECK_SMALL(distance(p.mean, double(mean)), 1e-13);
  BOOST_CHECK_SMALL(distance(p.mean_sd, double(std::sqrt(variance))), 1e-13);
  BOOST_CHECK_SMALL(distance(p.sd, double(std::sqrt(variance + 2))), 1e-13);
  BOOST_CHECK_SMALL(distance(p.upper, p.mean + 1.959963984540054 * p.sd), 1e-12);
  BOOST_CHECK_SMALL(distance(p.mean_lower, p.mean - 1.959963984540054 * p.mean_sd), 1e-12);
  BOOST_CHECK(!model->predict(std::vector<double>{0.3, std::nan("")}, 0.95));
  const Score score = *model->score(x, 1.7);
  BOOST_CHECK_EQUAL(score.log_density, *model->log_density(x, 1.7));
  BOOST_CHECK_SMALL(distance(score.error, (1.7 - p.mean) * (1.7 - p.mean)), 1e-13);
  BOOST_CHECK(!model->score(std::vector<double>{0.3, std::nan("")}, 1.7));
}

BOOST_AUTO_TEST_CASE(collinear_constant_and_few_rows) {
  Rows rows = random_rows(30, 2, 26);
  for (auto &x : rows.x) {
    x.push_back(x[0] + 0.1 * x[1]);
    x.push_back(0.1);
  }
  const LinregSums sums = sums_of(rows);
  for (const double c : {0.0, 0.1}) {
    LinregWarnings warnings;
    const auto model = fit(sums, {{"prior", prior({{"c", c}})}}, &warnings);
    BOOST_CHECK(warnings.dependent == std::vector<std::string>({"x3"}));
    BOOST_CHECK(warnings.constant == std::vector<std::string>({"x4"}));
    BOOST_CHECK_EQUAL(warnings.constant_left_out, c == 0);
    BOOST_CHECK_EQUAL(warnings.dependent_left_out, c == 0);
    const auto found = coefficients(*model);
    BOOST_CHECK_EQUAL(std::isnan(found[3].mean), c == 0);
    BOOST_CHECK(std::isfinite(model->predict(rows.x[0], 0.9)->sd));
  }
  // more columns than rows
  {
    const Rows few = random_rows(4, 6, 27);
    for (const char *const method : {"exact", "em", "laplace", "vi"}) {
      const auto model = fit(few, {{"method", method}});
      BOOST_CHECK(std::isfinite(model->predict(few.x[0], 0.9)->mean));
      BOOST_CHECK(std::isfinite(model->predict(few.x[0], 0.9)->upper));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_model_is_read_back) {
  const Rows rows = random_rows(30, 3, 28);
  for (const char *const method : {"exact", "em", "laplace", "vi", "gibbs"}) {
    const auto model = fit(rows, {{"method", method}});
    const auto read = Model::from_bytes(model->to_bytes());
    const auto &again = static_cast<const LinregModel &>(*read);
    BOOST_CHECK_EQUAL(again.to_document().to_json(), model->to_document().to_json());
    BOOST_CHECK_EQUAL(again.predict(rows.x[3], 0.5)->mean, model->predict(rows.x[3], 0.5)->mean);
    const auto a = coefficients(*model), b = coefficients(again);
    for (std::size_t j = 0; j < a.size(); ++j) BOOST_CHECK_EQUAL(*a[j].term, *b[j].term);
  }
}

BOOST_AUTO_TEST_CASE(weights_and_magnitudes_that_tell_nothing) {
  Rows shares = random_rows(10, 1, 51);
  shares.weight.assign(10, 0.1);
  BOOST_CHECK_THROW(fit(shares), Error);
  BOOST_CHECK_THROW(fit(shares, {{"method", "vi"}}), Error);
  const Rows rows = random_rows(20, 2, 52);
  const auto reference = coefficients(*fit(rows));
  for (const auto &[of_y, of_x, fits] :
       {std::tuple(1e-100, 1.0, true), std::tuple(1e-140, 1.0, false),
        std::tuple(1e-160, 1.0, false), std::tuple(1e-200, 1.0, false),
        std::tuple(1.0, 1e-140, false), std::tuple(1.0, 1e-200, false),
        std::tuple(1e148, 1e-100, false), std::tuple(1e-90, 1e140, false),
        std::tuple(1e60, 1e-50, true), std::tuple(1e148, 1e148, true)}) {
    Rows scaled = rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      scaled.y[i] *= of_y;
      for (double &x : scaled.x[i]) x *= of_x;
    }
    BOOST_TEST_CONTEXT(of_y << " " << of_x) {
      if (!fits) {
        BOOST_CHECK_THROW(fit(scaled), Error);
        continue;
      }
      const auto found = coefficients(*fit(scaled));
      BOOST_CHECK_SMALL(distance(found[1].mean / of_y * of_x, reference[1].mean), 1e-12);
      BOOST_CHECK_SMALL(distance(found[1].sd / of_y * of_x, reference[1].sd), 1e-12);
      BOOST_CHECK_SMALL(distance(found[2].upper / of_y * of_x, reference[2].upper), 1e-12);
    }
  }
}

BOOST_AUTO_TEST_CASE(levels_next_to_one) {
  const Rows rows = random_rows(20, 2, 53);
  for (const char *const method : {"exact", "laplace"}) {
    const auto model = fit(rows, {{"method", method}});
    const auto wide = coefficients(*model, 0.9999999999999999);
    const auto narrow = coefficients(*model, 0.99999);
    BOOST_CHECK(std::isfinite(wide[1].upper) && wide[1].upper > narrow[1].upper);
    BOOST_CHECK(std::isfinite(model->noise_variance(0.9999999999999999).lower));
  }
  const auto known = fit(rows, {{"noise_variance", 1}});
  BOOST_CHECK(std::isfinite(coefficients(*known, 0.9999999999999999)[1].upper));
}

// A prior that contradicts the rows decides how large the noise is, and so how strong the prior is.
// Caught: a prior in units of the noise of least squares, which gave slopes of 0.2 and 2.
BOOST_AUTO_TEST_CASE(strong_priors_of_coefficients_hold) {
  Rows rows;
  for (int i = 1; i <= 20; ++i) {
    rows.x.push_back({double(i)});
    rows.y.push_back(2 * i + 0.1 * std::sin(78.233 * i));
  }
  const auto slope = [&](const char *method, const Document &of) {
    return coefficients(*fit(rows, {{"method", method}, {"prior", of}}), 0.95)[1];
  };
  for (const Document &of : {prior({{"lambda", 1e6}}), prior({{"lambda", 1e4}}),
                             prior({{"a", 1000}, {"b", 1e5}, {"lambda", 10}})}) {
    const Coefficient exact = slope("exact", of), drawn = slope("gibbs", of);
    BOOST_CHECK_SMALL(exact.mean - drawn.mean, 0.1 * drawn.sd);
    BOOST_CHECK_SMALL(exact.sd / drawn.sd - 1, 0.1);
  }
  // of a constant response least squares leaves no noise
  rows.y.assign(20, 3);
  const Document of = prior({{"a", 1}, {"b", 1}, {"lambda", 100}});
  BOOST_CHECK_SMALL(slope("exact", of).sd / slope("gibbs", of).sd - 1, 0.1);
}

// A constant response, or one row, has no scale that a default prior could be made of: then nothing
// may depend on an absolute one. Caught: a scale of 1 in its place.
BOOST_AUTO_TEST_CASE(nothing_has_a_scale_of_its_own) {
  const auto response_of = [](int n, double y) {
    Rows rows = random_rows(n, 2, 54);
    rows.y.assign(std::size_t(n), y);
    return sums_of(rows);
  };
  for (const double unit : {1e-9, 1.0, 1e9}) {
    LinregWarnings warnings;
    const auto exact = fit(response_of(10, 3 * unit), {}, &warnings);
    BOOST_CHECK(warnings.no_noise);
    const auto p = *exact->predict(std::vector<double>{1, 2}, 0.95);
    BOOST_CHECK_EQUAL(p.lower, 3 * unit);
    BOOST_CHECK_EQUAL(p.upper, 3 * unit);
    BOOST_CHECK_EQUAL(exact->noise_variance(0.95).upper, 0);
    const auto again = fit(response_of(10, 3 * unit), *exact->info.options.as<Options>());
    BOOST_CHECK_EQUAL(again->noise_variance(0.95).upper, 0);
    fit(response_of(10, unit), {{"prior", prior({{"a", 1}, {"b", 0}})}}, &warnings);
    BOOST_CHECK(warnings.no_noise);
    for (const char *const method : {"exact", "em", "laplace", "vi", "gibbs"}) {
      BOOST_CHECK(!fit(response_of(1, unit), {{"method", method}}));
      if (std::string(method) != "exact")
        BOOST_CHECK(!fit(response_of(10, unit), {{"method", method}}));
      // what is known of the noise is the scale
      const double of_noise = unit * unit;
      const Options given = {{"method", method}, {"prior", prior({{"a", 2}, {"b", of_noise}})}};
      const auto model = fit(response_of(10, 3 * unit), given, &warnings);
      const auto reference =
          fit(response_of(10, 3), {{"method", method}, {"prior", prior({{"a", 2}, {"b", 1}})}});
      BOOST_CHECK(!warnings.no_noise);
      BOOST_CHECK_SMALL(distance(model->noise_variance(0.9).upper / of_noise,
                                 reference->noise_variance(0.9).upper),
                        1e-6);
    }
    const auto known = fit(response_of(1, 3 * unit), {{"noise_variance", unit * unit}});
    BOOST_CHECK_SMALL(known->predict(std::vector<double>{1, 2}, 0.95)->sd / unit -
                          fit(response_of(1, 3), {{"noise_variance", 1}})
                              ->predict(std::vector<double>{1, 2}, 0.95)
                              ->sd,
                      1e-9);
  }
}

BOOST_AUTO_TEST_SUITE_END()
