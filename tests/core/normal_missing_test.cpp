// Gaussian mixtures of rows that miss elements: likelihoods, bounds and fixed points against their
// definitions in long double, scores against integrals, and what must be the same to the last bit.
#include "base/error.hpp"
#include "families/normal/normal_wishart.hpp"
#include "missing_support.hpp"

using namespace support;
using missing::none;
using missing::with_holes;
using slow::Real;

namespace {

const Options marginalize = {{"missing", "marginalize"}};

struct Case {
  std::string name, method, shape;
  Options options;
};
/// `independent`: also vi with that prior. `brief`: options of a short run of those methods that
/// are no samplers.
std::vector<Case> cases(const std::vector<std::string> &methods, bool independent = true,
                        const Options &brief = {}) {
  std::vector<Case> out;
  for (const auto &shape : shapes)
    for (const auto &method : methods) {
      if (method == "kmeans" && shape != "spherical") continue;
      Options options = with(marginalize, {{"method", method}});
      if (method != "kmeans") options.push_back({"covariance", shape});
      out.push_back({method + ' ' + shape, method, shape,
                     method == "gibbs"
                         ? with(options, {{"chains", 1}, {"draws", 40}, {"warmup", 20}})
                         : with(options, brief)});
    }
  if (independent)
    out.push_back(
        {"vi independent", "vi", "full",
         with(with(marginalize, {{"method", "vi"}, {"prior", Options{{"type", "independent"}}}}),
              brief)});
  return out;
}

/// A table of several blocks and patterns, with rows that miss everything and a column that is
/// complete.
Matrix table(int n = 300, int d = 6, double share = 0.15) {
  Matrix x = normal_rows(n, d, 5, 2);
  const Vector complete = x.col(1);
  x = with_holes(x, share, 7);
  x.col(1) = complete;
  x.row(9).setConstant(none);
  x.row(200 % n).setConstant(none);
  return x;
}

void check_rises(const GaussianMixture &model) {
  for (const auto &trace : model.trace)
    for (std::size_t i = 1; i < trace.size(); ++i)
      BOOST_TEST(trace[i] >= trace[i - 1] - 1e-9 * std::abs(trace[i]));
}

/// One step of EM in long double and full matrices.
std::vector<bayes::GmmComponent> em_step(const std::string &shape, const Matrix &x,
                                         const std::vector<bayes::GmmComponent> &from) {
  const int d = int(x.cols());
  const std::size_t k = from.size();
  struct Sums {
    Real count = 0;
    std::vector<Real> mean, square;
  };
  std::vector<Sums> sums(
      k, {0, std::vector<Real>(std::size_t(d)), std::vector<Real>(std::size_t(d * d))});
  Real rows = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const std::vector<double> row = support::row(x, i);
    const auto o = missing::observed(row), h = missing::holes(row);
    if (o.empty()) continue;
    ++rows;
    std::vector<Real> share;
    for (const auto &c : from) {
      bayes::GmmComponent alone = c;
      share.push_back(missing::log_density(row, {alone}));
    }
    const Real whole = slow::log_sum_exp(share);
    for (std::size_t c = 0; c < k; ++c) {
      const Real r = std::exp(share[c] - whole);
      const slow::Square covariance{d, from[c].covariance},
          inverse = slow::inverse(missing::block(covariance, o));
      std::vector<Real> y(std::size_t(d), 0), extra(std::size_t(d * d), 0);
      for (const int j : o)
        y[std::size_t(j)] = row[std::size_t(j)] - Real(from[c].mean[std::size_t(j)]);
      for (const int a : h)
        for (std::size_t p = 0; p < o.size(); ++p)
          for (std::size_t q = 0; q < o.size(); ++q) {
            const Real part = covariance(a, o[p]) * inverse(int(p), int(q));
            y[std::size_t(a)] += part * y[std::size_t(o[q])];
            for (const int b : h) extra[std::size_t(a * d + b)] -= part * covariance(o[q], b);
          }
      for (const int a : h)
        for (const int b : h) extra[std::size_t(a * d + b)] += covariance(a, b);
      sums[c].count += r;
      for (int a = 0; a < d; ++a) {
        sums[c].mean[std::size_t(a)] += r * y[std::size_t(a)];
        for (int b = 0; b < d; ++b)
          sums[c].square[std::size_t(a * d + b)] +=
              r * (y[std::size_t(a)] * y[std::size_t(b)] + extra[std::size_t(a * d + b)]);
      }
    }
  }
  std::vector<bayes::GmmComponent> to = from;
  slow::Square shared(d);
  for (std::size_t c = 0; c < k; ++c) {
    slow::Square own(d);
    for (int a = 0; a < d; ++a)
      for (int b = 0; b < d; ++b) {
        own(a, b) = sums[c].square[std::size_t(a * d + b)] / sums[c].count -
                    sums[c].mean[std::size_t(a)] * sums[c].mean[std::size_t(b)] /
                        (sums[c].count * sums[c].count);
        shared(a, b) += own(a, b) * sums[c].count / rows;
      }
    Real trace = 0;
    for (int a = 0; a < d; ++a) trace += own(a, a);
    to[c].weight = double(sums[c].count / rows);
    to[c].count = double(sums[c].count);
    for (int a = 0; a < d; ++a)
      to[c].mean[std::size_t(a)] += double(sums[c].mean[std::size_t(a)] / sums[c].count);
    for (int a = 0; a < d; ++a)
      for (int b = 0; b < d; ++b)
        to[c].covariance[std::size_t(a * d + b)] =
            double(shape == "spherical"            ? (a == b ? trace / d : 0)
                   : shape == "diagonal" && a != b ? 0
                                                   : own(a, b));
  }
  if (shape == "tied")
    for (auto &c : to)
      for (std::size_t i = 0; i < c.covariance.size(); ++i) c.covariance[i] = double(shared.v[i]);
  return to;
}

double largest_difference(const std::vector<bayes::GmmComponent> &a,
                          const std::vector<bayes::GmmComponent> &b) {
  double most = 0;
  for (std::size_t c = 0; c < a.size(); ++c)
    most = std::max({most, std::abs(a[c].weight - b[c].weight), distance(a[c].mean, b[c].mean),
                     distance(a[c].covariance, b[c].covariance)});
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(normal_missing)

BOOST_AUTO_TEST_CASE(em_has_the_likelihood_of_what_is_observed_and_its_fixed_point) {
  for (const Matrix &x : {table(), table(150, 3, 0.4), table(150, 9, 0.4)})
    for (const auto &c : cases({"em", "mcem"}, false)) BOOST_TEST_CONTEXT(c.name) {
        const auto model =
            fit(x, 2, with(c.options, {{"restarts", 3}, {"tol", 1e-10}, {"max_iter", 3000}}));
        const auto found = components(*model);
        BOOST_TEST(distance(model->info.log_likelihood, double(missing::log_likelihood(x, found))) <
                   1e-10);
        if (model->info.method == bayes::Method::mcem) continue;
        check_rises(*model);
        BOOST_TEST(largest_difference(em_step(c.shape, x, found), found) < 1e-5);
      }
}

BOOST_AUTO_TEST_CASE(each_step_of_em_is_that_of_its_definition) {
  const Matrix x = table();
  for (const auto &shape : shapes) BOOST_TEST_CONTEXT(shape) {
      const Options options =
          with(marginalize, {{"method", "em"}, {"covariance", shape}, {"restarts", 1}, {"tol", 0}});
      // After i + 1 iterations the model is one step from where it is after i.
      for (const int i : {1, 2, 5}) {
        const auto before = fit(x, 2, with(options, {{"max_iter", i}})),
                   after = fit(x, 2, with(options, {{"max_iter", i + 1}}));
        const auto expected = em_step(shape, x, components(*before));
        std::vector<bayes::GmmComponent> turned = {expected[1], expected[0]};
        const auto found = components(*after);
        BOOST_TEST(std::min(largest_difference(expected, found),
                            largest_difference(turned, found)) < 1e-9);
      }
    }
}

BOOST_AUTO_TEST_CASE(map_is_the_mode) {
  const Matrix x = table();
  for (const auto &c : cases({"map"}, false)) BOOST_TEST_CONTEXT(c.name) {
      const auto model = fit(x, 2, with(c.options, {{"restarts", 2}, {"tol", 1e-10}}));
      check_rises(*model);
      const auto prior = slow::prior_of(*model);
      const auto objective = [&](const std::vector<bayes::GmmComponent> &at) {
        return double(missing::log_likelihood(x, at) + slow::log_prior(c.shape, prior, at));
      };
      auto at = components(*model);
      const double best = model->info.objective;
      BOOST_TEST(distance(best, objective(at)) < 1e-10);
      for (std::size_t j = 0; j < at[0].mean.size(); ++j)
        for (const double step : {-1e-3, 1e-3}) {
          at[0].mean[j] += step;
          BOOST_TEST(objective(at) < best);
          at[0].mean[j] -= step;
        }
    }
}

BOOST_AUTO_TEST_CASE(variational_bounds_are_those_of_their_definition) {
  for (const Matrix &x : {table(), table(150, 3, 0.4)})
    for (const auto &c : cases({"vi", "svi"})) BOOST_TEST_CONTEXT(c.name) {
        const auto model = fit(x, 2, with(c.options, {{"restarts", 2}, {"max_iter", 300}}));
        if (model->info.method == bayes::Method::vi) check_rises(*model);
        BOOST_TEST(
            distance(model->info.objective, double(missing::elbo(c.shape, x, slow::prior_of(*model),
                                                                 posteriors(*model)))) < 1e-10);
        BOOST_TEST(distance(model->info.log_likelihood,
                            double(missing::log_likelihood(x, components(*model)))) < 1e-10);
      }
}

/// At the optimum no number of q can be changed to raise the bound.
BOOST_AUTO_TEST_CASE(variational_fits_end_at_a_maximum) {
  const Matrix x = table(60, 3, 0.3);
  for (const auto &c : cases({"vi"})) BOOST_TEST_CONTEXT(c.name) {
      const auto model = fit(x, 2, with(c.options, {{"restarts", 2}, {"tol", 1e-11}}));
      const auto prior = slow::prior_of(*model);
      const auto best = posteriors(*model);
      const auto rises = [&](auto change) {
        auto q = best;
        change(q);
        return double(missing::elbo(c.shape, x, prior, q)) - model->info.objective;
      };
      for (const double step : {-0.01, 0.01}) {
        BOOST_TEST(rises([&](auto &q) { q[0].alpha *= 1 + step; }) < 0);
        BOOST_TEST(rises([&](auto &q) { q[0].m[1] += step; }) < 0);
        BOOST_TEST(rises([&](auto &q) {
                     for (auto &one : q) one.a *= 1 + step;
                   }) < 0);
        BOOST_TEST(rises([&](auto &q) {
                     for (auto &one : q)
                       for (double &b : one.B) b *= 1 + step;
                   }) < 0);
        if (c.name != "vi independent") BOOST_TEST(rises([&](auto &q) { q[0].c *= 1 + step; }) < 0);
      }
    }
}

/// Of four rows, two of which miss an element: the evidence by enumeration of all assignments and
/// quadrature.
BOOST_AUTO_TEST_CASE(bounds_are_below_the_evidence) {
  Matrix x = doubtful_rows(4, 2, 3);
  x(1, 0) = x(2, 1) = none;
  for (const auto &c : cases({"vi"}, false)) BOOST_TEST_CONTEXT(c.name) {
      const auto model =
          fit(x, 2, with(c.options, {{"prior", Options{{"a", 4}, {"c", 0.5}, {"B", 1.5}}}}));
      const auto prior = slow::prior_of(*model);
      std::vector<double> flat;
      for (Eigen::Index i = 0; i < x.rows(); ++i)
        for (const double v : row(x, i)) flat.push_back(v);
      std::vector<double> terms;
      slow::for_each_assignment(4, 2, [&](const std::vector<int> &z) {
        terms.push_back(double(slow::log_assignment(z, prior)) +
                        missing::log_quadrature(
                            flat, std::vector<double>(8, 0.0), 1,
                            [&](const std::vector<double> &all) {
                              Matrix whole(4, 2);
                              for (int i = 0; i < 8; ++i) whole(i / 2, i % 2) = all[std::size_t(i)];
                              return double(slow::log_marginal(c.shape, whole, z, prior));
                            },
                            0.4, 6));
      });
      const double evidence = bayes::log_sum_exp(terms);
      BOOST_TEST(model->info.objective < evidence);
      BOOST_TEST(model->info.objective > evidence - 6);
    }
}

BOOST_AUTO_TEST_CASE(complete_rows_are_fitted_as_without_the_option) {
  const Matrix x = normal_rows(300, 5, 11, 2);
  for (auto c : cases({"em", "map", "vi", "svi", "mcem", "gibbs", "kmeans"}))
    BOOST_TEST_CONTEXT(c.name) {
      auto a = fit(x, 2, c.options);
      auto without = c.options;
      without[0] = {"missing", "error"};
      auto b = fit(x, 2, without);
      BOOST_TEST(a->info.objective == b->info.objective);
      BOOST_TEST(distance(*a, *b) == 0);
      BOOST_TEST(bool(a->trace == b->trace));
    }
}

BOOST_AUTO_TEST_CASE(rows_that_miss_everything_are_no_evidence) {
  Matrix x = normal_rows(260, 5, 13, 2), gaps(x.rows() + 3, x.cols());
  x(4, 2) = x(6, 0) = x(7, 0) = none;
  gaps.topRows(100) = x.topRows(100);
  gaps.middleRows(100, 3).setConstant(none);
  gaps.bottomRows(160) = x.bottomRows(160);
  for (const auto &c : cases({"em", "map", "vi"})) BOOST_TEST_CONTEXT(c.name) {
      const auto a = fit(x, 2, c.options), b = fit(gaps, 2, c.options);
      BOOST_TEST(a->info.objective == b->info.objective);
      BOOST_TEST(distance(*a, *b) == 0);
      BOOST_TEST((*a->info.incomplete == 3 && *b->info.incomplete == 6));
      std::vector<double> p(2);
      const std::vector<double> nothing(5, none);
      b->probabilities(nothing, p);
      BOOST_TEST(std::abs(p[0] - b->component(0).weight) < 1e-14);
      BOOST_TEST(b->predict(nothing) == 0);
      BOOST_TEST(std::abs(b->log_density(nothing)) < 1e-14);
      BOOST_TEST(b->info.rows == gaps.rows());
    }
}

/// Too many distinct rows for the sample: the fit reads the table itself.
BOOST_AUTO_TEST_CASE(threads_and_files_change_nothing) {
  const Matrix x = table(21000, 3, 0.2);
  for (const auto &c : cases({"em", "vi"})) BOOST_TEST_CONTEXT(c.name) {
      const Options options = with(c.options, {{"restarts", 1}, {"max_iter", 5}});
      auto memory = rows_of(x);
      StretchedRows file(x, {}, 2);
      const auto a = fit(memory, 2, options), b = fit(memory, 2, options, nullptr, false, 3),
                 f = fit(file, 2, options, nullptr, false, 2);
      BOOST_TEST(bits(*a) == bits(*b));
      BOOST_TEST(bits(*a) == bits(*f));
      double counts = 0;
      for (const auto &component : components(*a)) counts += component.count;
      BOOST_TEST(distance(counts, double(x.rows() - 2)) < 1e-9);  // two rows miss everything
      if (c.name.substr(0, 2) == "em")
        BOOST_TEST(distance(a->info.log_likelihood,
                            double(missing::log_likelihood(x, components(*a)))) < 1e-10);
    }
}

/// The density of what is observed is the integral of the density over what is not, and so are the
/// components' parts of it.
BOOST_AUTO_TEST_CASE(scores_are_integrals_over_what_is_missing) {
  const Matrix x = with_holes(normal_rows(40, 3, 80, 2), 0.1, 3);
  for (const auto &c : cases({"em", "map", "vi", "gibbs", "kmeans"})) BOOST_TEST_CONTEXT(c.name) {
      const auto model = fit(x, 2, c.options);
      BOOST_TEST(bayes::missing_option(model->info) == "marginalize");
      const std::vector<double> centre = model->component(0).mean;
      for (std::vector<double> at : {std::vector<double>{1, none, 0.5}, {none, -2, none}}) {
        const double scale = 1, step = 0.05, end = 8;
        const auto part = [&](int k) {
          return missing::log_quadrature(
              at, centre, scale,
              [&](const std::vector<double> &whole) {
                std::vector<double> p(2);
                model->probabilities(whole, p);
                return model->log_density(whole) + std::log(std::max(p[std::size_t(k)], 1e-300));
              },
              step, end);
        };
        const double parts[] = {part(0), part(1)}, whole = bayes::log_sum_exp(parts);
        BOOST_TEST(std::abs(model->log_density(at) - whole) < 1e-4);
        std::vector<double> p(2);
        model->probabilities(at, p);
        BOOST_TEST(std::abs(p[0] - std::exp(parts[0] - whole)) < 1e-4);
        BOOST_TEST(model->predict(at) == (p[1] > p[0]));
        if (c.method == "gibbs") {
          bayes::Control control;
          const auto errors = model->mcse(at, control);
          BOOST_TEST((errors.log_density > 0 && errors.log_density < 1));
        }
      }
    }
}

BOOST_AUTO_TEST_CASE(kmeans_measures_what_is_observed) {
  const Matrix x = table(200, 4, 0.2);
  const auto model = fit(x, 3, with(marginalize, {{"method", "kmeans"}, {"tol", 1e-12}}));
  std::vector<std::vector<double>> sum(3, std::vector<double>(4)), count = sum;
  double squares = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (missing::observed(row(x, i)).empty()) continue;
    int best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 3; ++k) {
      double far = 0;
      for (const int j : missing::observed(row(x, i)))
        far += std::pow(x(i, j) - model->component(k).mean[std::size_t(j)], 2);
      if (far < least) least = far, best = k;
    }
    squares += least;
    BOOST_TEST(model->predict(row(x, i)) == best);
    for (const int j : missing::observed(row(x, i))) {
      sum[std::size_t(best)][std::size_t(j)] += x(i, j);
      count[std::size_t(best)][std::size_t(j)] += 1;
    }
  }
  BOOST_TEST(distance(model->info.objective, -squares) < 1e-10);
  for (int k = 0; k < 3; ++k)
    for (std::size_t j = 0; j < 4; ++j)
      BOOST_TEST(std::abs(model->component(k).mean[j] -
                          sum[std::size_t(k)][j] / count[std::size_t(k)][j]) < 1e-3);
}

BOOST_AUTO_TEST_CASE(an_element_that_is_missing_everywhere_is_named) {
  Matrix x = normal_rows(50, 3, 1);
  x.col(2).setConstant(none);
  for (const auto &shape : shapes)
    BOOST_CHECK_EXCEPTION(
        fit(x, 2, with(marginalize, {{"covariance", shape}})), bayes::Error,
        [](const bayes::Error &error) {
          return std::string(error.what()).find("element 3 is missing in every") !=
                 std::string::npos;
        });
}

/// An element that one component never has, constant elements, a row for each pattern.
BOOST_AUTO_TEST_CASE(hard_tables_are_fitted) {
  Matrix apart = normal_rows(80, 3, 2, 2);
  apart.topRows(40).array() += 20;
  for (int i = 0; i < 40; ++i) apart(i, 2) = none;
  Matrix constant = table(120, 4, 0.2);
  for (Eigen::Index i = 0; i < constant.rows(); ++i)
    if (constant(i, 2) == constant(i, 2)) constant(i, 2) = 4;
  Matrix single = Matrix::Constant(12, 4, none);
  for (Eigen::Index i = 0; i < single.rows(); ++i) single(i, i % 4) = double(i * i % 7);
  Matrix wide = with_holes(normal_rows(60, 40, 4, 2), 0.5, 9), far = table(100, 3, 0.2);
  far.col(0) *= 1e140;
  far.col(2) *= 1e-130;
  for (const Matrix &x : {apart, constant, single, wide, far})
    for (const auto &c : cases({"em", "map", "vi", "svi", "gibbs", "mcem"}, true,
                               {{"restarts", 2}, {"max_iter", 30}}))
      BOOST_TEST_CONTEXT(c.name << " of " << x.cols()) {
        const auto model = fit(x, 2, c.options);
        BOOST_TEST(std::isfinite(model->info.objective));
        for (const auto &one : components(*model)) {
          for (const double v : one.mean) BOOST_TEST(std::isfinite(v));
          for (const double v : one.covariance) BOOST_TEST(std::isfinite(v));
        }
        BOOST_TEST(std::isfinite(model->log_density(row(x, 0))));
      }
}

BOOST_AUTO_TEST_SUITE_END()
