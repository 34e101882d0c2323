// Gaussian mixtures in limits that must coincide: closed forms, weights, order, units, threads,
// storage, batches, updates.
#include <Eigen/LU>
#include <numeric>

#include "slow_mixture.hpp"

using namespace support;

namespace {

Vector column_means(const Matrix &x) { return x.colwise().mean().transpose(); }
Matrix covariance_of(const Matrix &x) {
  const Matrix centred = x.rowwise() - x.colwise().mean();
  return centred.transpose() * centred / double(x.rows());
}
std::vector<double> flat(const Matrix &m) { return {m.data(), m.data() + m.size()}; }

/// A d x d matrix restricted to the shape.
Matrix seen_as(const std::string &shape, const Matrix &m) {
  if (shape == "diagonal") return Matrix(m.diagonal().asDiagonal());
  if (shape == "spherical") return m.diagonal().mean() * Matrix::Identity(m.rows(), m.cols());
  return m;
}

/// Of a 3 x 3 matrix.
double determinant(const Matrix &m) { return Eigen::Matrix3d(m).determinant(); }

/// A rotation: two reflections.
Matrix rotation_by(const Vector &a, const Vector &b) {
  const auto reflected = [](const Matrix &m, const Vector &v) {
    return Matrix(m - 2 / v.squaredNorm() * v * (v.transpose() * m));
  };
  return reflected(reflected(Matrix::Identity(a.size(), a.size()), a), b);
}

Matrix shuffled(const Matrix &x, std::uint64_t seed, Vector *weights = nullptr) {
  bayes::Random random(seed);
  Matrix out = x;
  for (Eigen::Index i = x.rows() - 1; i > 0; --i) {
    const auto j = Eigen::Index(random.below(std::uint64_t(i + 1)));
    out.row(i).swap(out.row(j));
    if (weights) std::swap((*weights)(i), (*weights)(j));
  }
  return out;
}

/// A start for k components on the data: evenly spaced rows, each component with the covariance of
/// all rows.
Model start_on(const Matrix &x, const std::string &shape, int k) {
  std::vector<bayes::GmmComponent> start;
  Matrix spread = seen_as(shape, covariance_of(x));
  spread = (spread + spread.transpose()).eval() / 2;
  for (int j = 0; j < k; ++j) start.push_back({1.0 / k, 0, row(x, j * x.rows() / k), flat(spread)});
  return point_model(shape, start);
}

const std::vector<std::string> methods = {"em", "map", "vi", "svi", "kmeans"};
Options for_method(const std::string &method, const std::string &shape) {
  if (method == "kmeans") return {{"method", method}};
  return {{"method", method}, {"covariance", shape}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gmm)

BOOST_AUTO_TEST_CASE(one_component_has_a_closed_form) {
  const Matrix x = normal_rows(70, 3, 61);
  const double n = 70, d = 3;
  for (const auto &shape : shapes) BOOST_TEST_CONTEXT(shape) {
      const Matrix s = seen_as(shape, covariance_of(x));
      const auto em = fit(x, 1, {{"method", "em"}, {"covariance", shape}});
      BOOST_TEST(distance(em->component(0).mean, flat(column_means(x))) < 1e-13);
      BOOST_TEST(distance(em->component(0).covariance, flat(s)) < 1e-13);
      BOOST_TEST(em->component(0).weight == 1);
      BOOST_TEST(distance(em->info.objective,
                          -n / 2 * (d * std::log(2 * M_PI) + std::log(determinant(s)) + d)) <
                 1e-12);
      BOOST_TEST(em->info.converged);

      const double c = 0.3, a = 5;
      const Vector m = Vector::LinSpaced(3, -1, 1);
      const Document B = shape == "diagonal" ? Document(Tensor{{3}, {2, 2, 2}}) : Document(2.0);
      const Options prior = {{"m", Tensor{{3}, flat(m)}}, {"c", c}, {"a", a}, {"B", B}};
      const Vector away = column_means(x) - m;
      const double size = shape == "spherical" ? d : 1;
      const Matrix after =
          2 * Matrix::Identity(3, 3) +
          size * seen_as(shape, n * covariance_of(x) + c * n / (c + n) * away * away.transpose());
      const auto vi = fit(x, 1, {{"method", "vi"}, {"covariance", shape}, {"prior", prior}});
      const auto q = vi->posterior(0);
      BOOST_TEST(distance(q.alpha, 1 + n) < 1e-14);
      BOOST_TEST(distance(q.c, c + n) < 1e-14);
      BOOST_TEST(distance(q.a, a + size * n) < 1e-14);
      BOOST_TEST(distance(q.m, flat((c * m + n * column_means(x)) / (c + n))) < 1e-13);
      BOOST_TEST(distance(q.B, flat(after)) < 1e-13);
      // The mode: the precision's exponent in the joint density is (a + n - p - 1 + 1) / 2, and d /
      // 2 for the mean of a spherical one.
      const double divisor = shape == "spherical"  ? a + d * n - 2 + d
                             : shape == "diagonal" ? a + n - 1
                                                   : a + n - d;
      const auto map = fit(x, 1, {{"method", "map"}, {"covariance", shape}, {"prior", prior}});
      BOOST_TEST(distance(map->component(0).mean, q.m) < 1e-13);
      BOOST_TEST(distance(map->component(0).covariance, flat(after / divisor)) < 1e-13);
    }
  const auto means = fit(x, 1, {{"method", "kmeans"}});
  BOOST_TEST(distance(means->component(0).mean, flat(column_means(x))) < 1e-13);
  BOOST_TEST(distance(means->info.objective, -n * covariance_of(x).trace()) < 1e-12);
}

BOOST_AUTO_TEST_CASE(scaled_kmeans_is_that_of_columns_of_deviation_one) {
  Matrix x = normal_rows(90, 3, 63);
  x.col(0) *= 1000;
  x.col(2) *= 0.01;
  const Vector mean = x.colwise().mean(),
               unit = (x.rowwise() - mean.transpose()).array().square().colwise().mean().sqrt();
  const Matrix standard =
      (x.rowwise() - mean.transpose()).array().rowwise() / unit.transpose().array();
  const Options init = {{"method", "kmeans"}, {"init", "kmeans++"}, {"restarts", 40}};
  Options scaled = init;
  scaled.emplace_back("scale", true);
  const auto a = fit(x, 3, scaled), b = fit(standard, 3, init);
  BOOST_TEST(distance(a->info.objective, b->info.objective) < 1e-10);
  BOOST_TEST(a->covariance() == "diagonal");
  BOOST_TEST(a->free_parameters() == b->free_parameters());
  BOOST_TEST(distance(a->info.log_likelihood,
                      b->info.log_likelihood - 90 * unit.array().log().sum()) < 1e-10);
  for (int k = 0; k < 3; ++k)
    for (std::size_t j = 0; j < 3; ++j) {
      const double s = unit(Eigen::Index(j)), m = mean(Eigen::Index(j));
      BOOST_TEST(distance(a->component(k).mean[j], b->component(k).mean[j] * s + m) < 1e-9);
      BOOST_TEST(distance(a->component(k).covariance[4 * j],
                          b->component(k).covariance[4 * j] * s * s) < 1e-9);
    }
}

BOOST_AUTO_TEST_CASE(a_weight_is_a_number_of_repetitions) {
  const Matrix x = normal_rows(60, 2, 62);
  Vector w(60);
  for (int i = 0; i < 60; ++i) w(i) = 1 + i % 3;
  Matrix repeated(Eigen::Index(w.sum()), 2);
  Eigen::Index at = 0;
  for (int i = 0; i < 60; ++i)
    for (int j = 0; j < w(i); ++j) repeated.row(at++) = x.row(i);
  for (const auto &method : methods)
    for (const auto &shape : shapes) BOOST_TEST_CONTEXT(method << ' ' << shape) {
        if (method == "svi") continue;  // samples rows, not weights
        const auto a = fit(x, 3, for_method(method, shape), w),
                   b = fit(repeated, 3, for_method(method, shape));
        BOOST_TEST(distance(*a, *b) < 1e-8);
        BOOST_TEST(distance(a->info.objective, b->info.objective) < 1e-12);
        BOOST_TEST(distance(a->bic(), b->bic()) < 1e-12);
        BOOST_TEST(distance(a->icl(), b->icl()) < 1e-10);
      }
}

BOOST_AUTO_TEST_CASE(the_order_of_rows_does_not_matter) {
  const Matrix x = normal_rows(150, 3, 63);
  for (const auto &method : methods)
    for (const auto &shape : shapes) BOOST_TEST_CONTEXT(method << ' ' << shape) {
        if (method == "svi") continue;
        Vector w = random_weights(150, 64), v = w;
        const Matrix y = shuffled(x, 65, &v);
        const auto a = fit(x, 3, for_method(method, shape), w),
                   b = fit(y, 3, for_method(method, shape), v);
        BOOST_TEST(distance(*a, *b) < 1e-8);
        BOOST_TEST(distance(a->info.objective, b->info.objective) < 1e-12);
      }
}

// y = A x + b: log-likelihood and ELBO change by -n log |det A|, parameters map.
BOOST_AUTO_TEST_CASE(units_do_not_matter, *boost::unit_test::label("long")) {
  const int n = 120, d = 3, k = 3;
  const Matrix x = normal_rows(n, d, 66);
  const Vector shift = Vector::LinSpaced(d, -300, 500);
  const Matrix rotation =
      rotation_by(normal_rows(1, d, 67).transpose(), normal_rows(1, d, 69).transpose());
  for (const bool independent : {false, true})
    for (const auto &shape : shapes) {
      if (independent && shape != "full") continue;
      Matrix A = normal_rows(d, d, 68) + 3 * Matrix::Identity(d, d);
      if (shape == "spherical") A = 7 * rotation;
      if (shape == "diagonal") A = Matrix(Vector::LinSpaced(d, 0.01, 100).asDiagonal());
      const Matrix y = (x * A.transpose()).rowwise() + shift.transpose();
      const double change = -n * std::log(std::abs(determinant(A)));
      const auto start = start_on(x, shape, k);
      std::vector<bayes::GmmComponent> moved = components(*start);
      for (auto &c : moved) {
        c.mean = flat(A * Eigen::Map<Vector>(c.mean.data(), d) + shift);
        Matrix s = A * Eigen::Map<Matrix>(c.covariance.data(), d, d) * A.transpose();
        s = seen_as(shape, (s + s.transpose()).eval() / 2);
        c.covariance = flat(s);
      }
      const auto moved_start = point_model(shape, moved);
      const auto prior = [&](bool mapped) {
        const Matrix m = mapped ? A : Matrix(Matrix::Identity(d, d));
        Matrix B = m * m.transpose();
        B = (B + B.transpose()).eval() / 2;
        const Vector mean = m * Vector::Ones(d) + (mapped ? shift : Vector::Zero(d).eval());
        Options out = {{"m", Tensor{{d}, flat(mean)}}, {"a", 4.0}, {"alpha", 1.5}};
        if (shape == "spherical")
          out.push_back({"B", B(0, 0)});
        else if (shape == "diagonal")
          out.push_back({"B", Tensor{{d}, flat(B.diagonal())}});
        else
          out.push_back({"B", Tensor{{d, d}, flat(B)}});
        if (independent) {
          out.push_back({"type", "independent"});
          out.push_back({"C", Tensor{{d, d}, flat(20 * B)}});
        } else {
          out.push_back({"c", 0.1});
        }
        return out;
      };
      for (const char *method : {"em", "map", "vi"})
        BOOST_TEST_CONTEXT(method << ' ' << shape << (independent ? " independent" : "")) {
          if (independent && method != std::string("vi")) continue;
          Options options = {{"method", method}, {"max_iter", 30}, {"tol", 0.0}}, mapped = options;
          if (method != std::string("em")) {
            options.push_back({"prior", prior(false)});
            mapped.push_back({"prior", prior(true)});
          }
          const auto a = fit(x, k, options, {}, start.get()),
                     b = fit(y, k, mapped, {}, moved_start.get());
          // The density of a precision changes with the units too.
          const double per_component =
              method != std::string("map")
                  ? 0
                  : double(slow::log_prior(shape, slow::prior_of(*b), components(*b)) -
                           slow::log_prior(shape, slow::prior_of(*a), components(*a)));
          BOOST_TEST(distance(a->info.objective + change + per_component, b->info.objective) <
                     1e-9);
          BOOST_TEST(distance(a->info.log_likelihood + change, b->info.log_likelihood) < 1e-9);
          for (int j = 0; j < k; ++j) {
            const auto p = a->component(j), q = b->component(j);
            const Vector mean = A * Eigen::Map<const Vector>(p.mean.data(), d) + shift;
            const Matrix s =
                A * Eigen::Map<const Matrix>(p.covariance.data(), d, d) * A.transpose();
            BOOST_TEST(std::abs(p.weight - q.weight) < 1e-9);
            BOOST_TEST(distance(flat(mean), q.mean) < 1e-9);
            BOOST_TEST(distance(flat(s), q.covariance) < 1e-8);
          }
        }
    }
}

BOOST_AUTO_TEST_CASE(results_are_bit_identical_for_any_threads_and_storage) {
  const Matrix x = normal_rows(40000, 4, 69);
  for (const bool weighted : {false, true})
    for (const auto &method : methods)
      for (const std::string shape : {"full", "diagonal", "tied"}) {
        if (weighted != (shape == "tied") || (method == "kmeans" && shape == "full")) continue;
        const Vector w = weighted ? random_weights(40000, 70) : Vector();
        const Options options = with(for_method(method, shape), {{"restarts", 1}, {"max_iter", 3}});
        auto memory = rows_of(x, w);
        BOOST_REQUIRE(memory.stretch(0).size() >= 4);
        const std::string expected = bits(*fit(memory, 5, options));
        BOOST_TEST_CONTEXT(method << ' ' << shape) {
          for (const int threads : {2, 3, 7})
            BOOST_TEST(bool(bits(*fit(memory, 5, options, nullptr, false, threads)) == expected));
          for (const std::size_t pieces : {1u, 2u, 3u}) {
            StretchedRows stretched(x, w, pieces);
            BOOST_TEST(
                bool(bits(*fit(stretched, 5, options, nullptr, false, int(pieces))) == expected));
          }
        }
      }
}

BOOST_AUTO_TEST_CASE(stochastic_steps_of_size_one_on_all_rows_are_those_of_vi) {
  const Matrix x = normal_rows(100, 2, 71);
  for (const auto &shape : shapes)
    for (const bool independent : {false, true})
      BOOST_TEST_CONTEXT(shape << (independent ? " independent" : "")) {
        if (independent && shape != "full") continue;
        const Options common = {
            {"covariance", shape},
            {"max_iter", 12},
            {"restarts", 1},
            {"tol", 0.0},
            {"prior", Options{{"type", independent ? "independent" : "linked"}}}};
        const auto vi = fit(x, 3, with(common, {{"method", "vi"}})),
                   svi =
                       fit(x, 3,
                           with(common, {{"method", "svi"}, {"batch_size", 100}, {"kappa", 0.0}}));
        BOOST_TEST(distance(*vi, *svi) < 1e-7);  // rounding, enlarged by twelve iterations
        // vi ends where the objective does not change at all; svi takes all its steps, and
        // evaluates once more.
        auto steps = svi->trace[0];
        BOOST_REQUIRE(vi->trace[0].size() <= steps.size());
        steps.resize(vi->trace[0].size());
        BOOST_TEST(distance(vi->trace[0], steps) < 1e-12);
      }
}

BOOST_AUTO_TEST_CASE(stochastic_steps_on_minibatches_get_near_the_optimum,
                     *boost::unit_test::label("long")) {
  const Matrix x = normal_rows(6000, 2, 72);
  const auto vi = fit(x, 3, {{"method", "vi"}});
  const auto svi =
      fit(x, 3, {{"method", "svi"}, {"batch_size", 500}, {"max_iter", 400}, {"tol", 0.0}}, {},
          vi.get());
  BOOST_TEST(svi->info.objective <= vi->info.objective + 0.01);
  BOOST_TEST(svi->info.objective > vi->info.objective - 20);
  BOOST_TEST(distance(*vi, *svi) < 0.1);
}

BOOST_AUTO_TEST_CASE(shapes_coincide_where_they_must) {
  const Matrix x = normal_rows(80, 3, 73), line = normal_rows(80, 1, 74);
  for (const std::string method : {"em", "map", "vi"}) BOOST_TEST_CONTEXT(method) {
      BOOST_TEST(distance(*fit(x, 1, {{"method", method}, {"covariance", "tied"}}),
                          *fit(x, 1, {{"method", method}, {"covariance", "full"}})) < 1e-12);
      const auto full = fit(line, 3, {{"method", method}});
      for (const char *shape : {"diagonal", "spherical"}) {
        const auto other = fit(line, 3, {{"method", method}, {"covariance", shape}});
        BOOST_TEST(distance(*full, *other) < 1e-10);
        BOOST_TEST(distance(full->info.objective, other->info.objective) < 1e-12);
        BOOST_TEST(full->free_parameters() == other->free_parameters());
      }
    }
}

BOOST_AUTO_TEST_CASE(an_update_continues_from_the_first_fit) {
  const Matrix x = normal_rows(90, 2, 75), first = x.topRows(35), second = x.bottomRows(55);
  for (const bool independent : {false, true})
    for (const auto &shape : shapes)
      BOOST_TEST_CONTEXT(shape << (independent ? " independent" : "")) {
        if (independent && shape != "full") continue;
        const Options options = {{"method", "vi"},
                                 {"covariance", shape},
                                 {"tol", 0.0},
                                 {"prior", Options{{"type", independent ? "independent" : "linked"},
                                                   {"m", Tensor{{2}, {0.5, -1}}},
                                                   {"a", 3.0},
                                                   {"B", 2.0}}}};
        const auto begin = fit(first, 1, options),
                   both = fit(second, 1, {{"tol", 0.0}}, {}, begin.get(), true),
                   all = fit(x, 1, options);
        const auto p = both->posterior(0), q = all->posterior(0);
        BOOST_TEST(distance(p.alpha, q.alpha) < 1e-14);
        BOOST_TEST(distance(p.a, q.a) < 1e-14);
        // the mean-field approximation is not additive; only alpha and a are
        if (independent) continue;
        BOOST_TEST(distance(p.c, q.c) < 1e-14);
        BOOST_TEST(distance(p.m, q.m) < 1e-12);
        BOOST_TEST(distance(p.B, q.B) < 1e-12);
        BOOST_TEST(distance(begin->info.objective + both->info.objective, all->info.objective) <
                   1e-10);
        // One row at a time: the sum of the log predictive densities is the log evidence.
        Model running = fit(first, 1, options);
        double chain = 0;
        for (Eigen::Index i = 0; i < second.rows(); ++i) {
          chain += running->log_density(row(second, i));
          running = fit(second.row(i), 1, {}, {}, running.get(), true);
        }
        BOOST_TEST(distance(chain, both->info.objective) < 1e-10);
        BOOST_TEST(distance(running->posterior(0).m, q.m) < 1e-12);
        BOOST_TEST(distance(running->posterior(0).B, q.B) < 1e-11);
      }
}

BOOST_AUTO_TEST_CASE(the_best_restart_wins_and_all_are_in_the_trace) {
  const Matrix x = data_set("iris");
  for (const auto &method : methods) {
    Options options = with(for_method(method, "full"), {{"restarts", 7}, {"max_iter", 60}});
    if (method == "em") options.push_back({"degenerate", "allow"});
    const auto model = fit(x, 4, options);
    BOOST_TEST(model->trace.size() == 7u);
    double most = -std::numeric_limits<double>::infinity();
    for (const auto &trace : model->trace) {
      BOOST_TEST(std::isfinite(trace.back()));
      most = std::max(most, trace.back());
    }
    BOOST_TEST(model->info.objective == most);
    for (int j = 1; j < 4; ++j)
      BOOST_TEST((method == "kmeans"
                      ? model->component(j).count <= model->component(j - 1).count
                      : model->component(j).weight <= model->component(j - 1).weight));
  }
}

BOOST_AUTO_TEST_CASE(bic_and_icl_agree_with_their_definitions) {
  const Matrix x = data_set("faithful");
  const std::map<std::string, double> free = {
      {"full", 3 * 3.0}, {"diagonal", 3 * 2.0}, {"spherical", 3.0}, {"tied", 3.0}};
  for (const auto &shape : shapes) {
    const auto model = fit(x, 3, {{"method", "em"}, {"covariance", shape}});
    BOOST_TEST(model->free_parameters() == 2 + 6 + free.at(shape));
    BOOST_TEST(distance(model->bic(), -2 * model->info.log_likelihood +
                                          model->free_parameters() * std::log(272.0)) < 1e-14);
    double entropy = 0;
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      std::vector<double> p(3);
      model->probabilities(row(x, i), p);
      for (const double v : p) entropy -= v > 0 ? v * std::log(v) : 0;
    }
    BOOST_TEST(distance(model->icl(), model->bic() + 2 * entropy) < 1e-9);
  }
  std::vector<std::string> seen;
  auto rows = rows_of(x);
  bayes::Control control;
  const int ks[] = {2, 3};
  bayes::gmm_select(
      rows, ks, Document(Options{{"method", "em"}, {"covariance", Document::List{"full", "tied"}}}),
      control,
      [&](Model model) {
        seen.push_back(model->covariance() + std::to_string(model->size()));
        BOOST_TEST(model->info.objective ==
                   fit(x, model->size(), {{"method", "em"}, {"covariance", model->covariance()}})
                       ->info.objective);
      },
      [](int, const bayes::Error &error) { throw error; });
  BOOST_TEST((seen == std::vector<std::string>{"full2", "full3", "tied2", "tied3"}));
}

BOOST_AUTO_TEST_SUITE_END()
