// Fits of rows in several parts, which get requests and give sums as bytes, as other servers do,
// against fits of the same rows in one piece.
#include "data/remote_rows.hpp"

#include <cmath>
#include <functional>
#include <set>

#include "base/error.hpp"
#include "data/row_reference.hpp"
#include "data/sketch.hpp"
#include "lying_support.hpp"
#include "mixture/bmm.hpp"
#include "mixture/dpmm.hpp"
#include "models/passes.hpp"
#include "regression/glm.hpp"
#include "support.hpp"

using namespace bayes;
using support::data_set;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Parts of the rows, one of them empty. Messages pass through bytes.
class Parts final : public RemoteRows {
 public:
  explicit Parts(RowShape shape) {
    shape_ = shape;
    for (std::size_t i = 0; i < 4; ++i) {
      parts_.push_back(std::make_unique<MemoryRows>(shape));
      named_.push_back({*parts_.back(), i});
    }
    rows_of_parts_.resize(parts_.size());
  }
  void append(const double *x, double weight) {
    // Unequal parts, the second empty.
    const std::size_t part = std::size_t(rows_ % 7 < 4 ? 0 : rows_ % 7 < 6 ? 2 : 3);
    parts_[part]->append(x, weight);
    ++rows_of_parts_[part];
    ++rows_;
  }
  std::vector<Document> ask(const Document &request) override {
    std::vector<Document> out;
    std::string sent;
    request.to_bytes(sent);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (rows_of_parts_[i] == 0) continue;
      Control control;
      std::string answer;
      if (forget) named_[i].labelled.clear();
      answer_pass(named_[i], Document::from_bytes(sent), control).to_bytes(answer);
      out.push_back(Document::from_bytes(answer));
      if (damage) damage(*request.find("pass")->as<std::string>(), out.back());
      bytes += std::int64_t(sent.size() + answer.size());
    }
    ++passes;
    return out;
  }
  const std::vector<std::int64_t> &rows_of_parts() const override { return rows_of_parts_; }

  std::int64_t bytes = 0;
  int passes = 0;
  /// whether sessions lose what they keep beside the rows, before each pass
  bool forget = false;
  /// what is done to the answers to a pass
  std::function<void(const std::string &pass, Document &answer)> damage;

 private:
  std::vector<std::unique_ptr<MemoryRows>> parts_;
  std::vector<PartOfRows> named_;
  std::vector<std::int64_t> rows_of_parts_;
};

/// The same rows in one piece and in parts.
struct Both {
  MemoryRows one;
  Parts parts;
  explicit Both(RowShape shape) : one(shape), parts(shape) {}
  void append(const std::vector<double> &x, double weight) {
    one.append(x.data(), weight);
    parts.append(x.data(), weight);
  }
};

/// Rows of three clusters, more than a sketch holds; with missing values, some rows have none.
void fill(Both &to, int rows, bool holes) {
  Random random(7);
  const RowShape shape = to.one.shape();
  for (int i = 0; i < rows; ++i) {
    std::vector<double> x;
    for (int j = 0; j < shape.dimension; ++j) {
      x.push_back(1e3 + 3.0 * (i % 3) * (j + 1) + (1 + j) * random.normal());
      if (holes && (random.uniform() < 0.1 || i % 1000 == 3)) x.back() = none;
    }
    to.append(x, shape.weighted ? 0.5 + random.uniform() : 1);
  }
}

/// The parameters of a model, with their deviations.
std::vector<double> numbers_of(const Model &model) {
  std::vector<double> out;
  model.describe_parameters(0.9, [&out](const Parameter &p) {
    for (const double x : {p.value, p.deviation, p.lower, p.upper})
      if (std::isfinite(x)) out.push_back(x);
  });
  return out;
}

void compare(const Model &a, const Model &b, double tolerance = 1e-9) {
  BOOST_TEST(support::distance(numbers_of(a), numbers_of(b)) < tolerance);
  BOOST_TEST(support::distance(a.info.objective, b.info.objective) < 1e-9);
  BOOST_TEST(support::distance(a.info.log_likelihood, b.info.log_likelihood) < 1e-9);
  BOOST_TEST(a.info.rows == b.info.rows);
  BOOST_TEST((a.info.incomplete == b.info.incomplete));
  BOOST_TEST(a.trace.size() == b.trace.size());
}

Document options_of(const std::string &method, const char *shape = nullptr) {
  Document out = Document::object();
  out.set("method", method).set("max_iter", 6).set("tol", 0.0).set("restarts", 2);
  if (shape) out.set("covariance", shape);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(remote_rows)

BOOST_AUTO_TEST_CASE(gaussian_mixtures_are_those_of_one_table) {
  for (const bool holes : {false, true}) {
    const bool weighted = holes;
    Both rows({2, weighted});
    fill(rows, 11000, holes);
    for (const char *const method : {"em", "map", "vi"})
      for (const std::string &shape : support::shapes) {
        if (std::string(method) != "em" && shape != "full") continue;
        BOOST_TEST_CONTEXT(method << ' ' << shape << ' ' << holes << weighted) {
          Control control;
          const Document options = options_of(method, shape.c_str());
          const auto one = gmm_fit(rows.one, 3, options, nullptr, false, control);
          const int before = rows.parts.passes;
          const auto parts = gmm_fit(rows.parts, 3, options, nullptr, false, control);
          compare(*one, *parts);
          BOOST_TEST(rows.parts.passes - before > 6);
        }
      }
    Document kmeans = options_of("kmeans");
    Control control;
    compare(*gmm_fit(rows.one, 3, kmeans, nullptr, false, control),
            *gmm_fit(rows.parts, 3, kmeans, nullptr, false, control));
  }
}

BOOST_AUTO_TEST_CASE(minibatches_by_hash_are_those_of_one_table) {
  for (const bool weighted : {false, true}) {
    Both rows({2, weighted});
    fill(rows, 12000, weighted);
    Document options = Document::object();
    options.set("method", "svi").set("restarts", 1).set("minibatch", "hash");
    options.set("batch_size", 300).set("max_iter", 40).set("tol", 0.0);
    Control control;
    compare(*gmm_fit(rows.one, 3, options, nullptr, false, control),
            *gmm_fit(rows.parts, 3, options, nullptr, false, control));
    options.set("likelihood", Document::List{"normal", "normal"});
    compare(*bmm_fit(rows.one, 3, options, nullptr, false, control),
            *bmm_fit(rows.parts, 3, options, nullptr, false, control));
  }
}

BOOST_AUTO_TEST_CASE(few_distinct_rows_travel_once) {
  Both rows({2, false});
  for (int i = 0; i < 3000; ++i) rows.append({double(i % 50), double(i % 7)}, 1);
  Control control;
  const auto one = gmm_fit(rows.one, 2, options_of("vi"), nullptr, false, control);
  const auto parts = gmm_fit(rows.parts, 2, options_of("vi"), nullptr, false, control);
  compare(*one, *parts);
  BOOST_TEST(rows.parts.passes == 1);  // the sketch
}

BOOST_AUTO_TEST_CASE(bytes_do_not_depend_on_the_number_of_rows) {
  std::vector<std::int64_t> bytes;
  for (const int n : {12000, 24000}) {
    Both rows({3, false});
    fill(rows, n, false);
    Control control;
    Sketch::of(rows.parts, control, 1, 500);
    rows.parts.bytes = 0;
    Document options = options_of("em");
    options.set("restarts", 1);
    gmm_fit(rows.parts, 3, options, nullptr, false, control);
    bytes.push_back(rows.parts.bytes);
  }
  // Parts below the capacity of the sketch send fewer rows for it.
  BOOST_TEST(bytes[0] <= bytes[1]);
  BOOST_TEST(bytes[1] < bytes[0] + 24 * 30000);
}

BOOST_AUTO_TEST_CASE(sketches_merge_to_that_of_one_table) {
  Both rows({2, true});
  fill(rows, 5000, true);
  Control control;
  for (const std::size_t capacity : {100, 1200, 2857, 4000, 6000}) {
    const Sketch one = Sketch::of(rows.one, control, 3, capacity),
                 parts = Sketch::of(rows.parts, control, 3, capacity);
    BOOST_TEST(one.size() == parts.size());
    BOOST_TEST(one.complete() == parts.complete());
    BOOST_TEST(one.incomplete() == parts.incomplete());
    MemoryRows a = one.sorted(), b = parts.sorted();
    BOOST_REQUIRE(a.rows() == b.rows());
    std::vector<double> x(a.shape().block_doubles()), y = x;
    for (std::int64_t i = 0; i * block_rows < a.rows(); ++i) {
      a.read_block(i, x.data());
      b.read_block(i, y.data());
      for (std::size_t j = 0; j < x.size(); ++j)
        BOOST_REQUIRE((x[j] == y[j] || (std::isnan(x[j]) && std::isnan(y[j])) ||
                       support::distance(x[j], y[j]) < 1e-12));
    }
  }
}

/// Every part has every row and drops the same ones, so that what is merged is exactly what a
/// sketch holds, and nothing is dropped when it is.
BOOST_AUTO_TEST_CASE(a_merged_sketch_knows_that_rows_were_dropped) {
  Both rows({1, false});
  for (int i = 0; i < 7 * 150; ++i) rows.append({double(i / 7)}, 1);
  Control control;
  const Sketch one = Sketch::of(rows.one, control, 3, 100),
               parts = Sketch::of(rows.parts, control, 3, 100);
  BOOST_TEST(parts.size() == 100u);
  BOOST_TEST(!one.complete());
  BOOST_TEST(!parts.complete());
}

BOOST_AUTO_TEST_CASE(products_are_those_of_one_table) {
  Random random(11);
  for (const bool weighted : {false, true}) {
    Both rows({4, weighted});
    for (int i = 0; i < 11000; ++i) {
      const int c = i % 3;
      std::vector<double> x = {double(random.uniform() < 0.2 + 0.3 * c),
                               double(std::int64_t(random.uniform() * (2 + c))),
                               2.0 * c + random.normal(), double(i % (c + 5))};
      if (i % 35 == 15) x[1] = 5;  // of the first part alone
      // Not the third, which keeps rows from being as probable in two components to the last bit.
      if (i % 11 == 0) x[std::size_t(i % 3 == 2 ? 3 : i % 3)] = none;
      rows.append(x, weighted ? 0.5 + random.uniform() : 1);
    }
    for (const char *const method : {"em", "map", "vi"}) BOOST_TEST_CONTEXT(method << weighted) {
        Document options = options_of(method);
        options.set("likelihood", Document::List{"bernoulli", "categorical", "normal", "poisson"});
        if (std::string(method) == "map")
          options.set("prior", Document::object().set(
                                   "categorical", Document::object().set("category_alpha", 1.5)));
        Control control;
        compare(*bmm_fit(rows.one, 3, options, nullptr, false, control),
                *bmm_fit(rows.parts, 3, options, nullptr, false, control));
      }
  }
}

BOOST_AUTO_TEST_CASE(process_mixtures_are_those_of_one_table) {
  Random random(3);
  for (const bool product : {false, true}) {
    Both rows({2, false});
    for (int i = 0; i < 6000; ++i) {
      std::vector<double> x = {5.0 * (i % 3) + random.normal(),
                               product ? double(i % 7 / 3 + i % 2) : (i % 3) + random.normal()};
      if (i % 9 == 0) x[1] = none;
      if (i % 500 == 1) x[0] = x[1] = none;
      rows.append(x, 1);
    }
    Document options = Document::object();
    options.set("method", "vi").set("max_iter", 5).set("tol", 0.0).set("restarts", 3);
    options.set("truncation", 6).set("linear_response", false);
    if (product) options.set("likelihood", Document::List{"normal", "poisson"});
    Control control;
    const DpmmFit one = dpmm_fit(rows.one, options, control),
                  parts = dpmm_fit(rows.parts, options, control);
    // Intervals of clusters of few rows magnify rounding.
    compare(*one.model, *parts.model, 1e-8);
    BOOST_TEST(parts.labels.empty());
    rows.parts.forget = true;
    compare(*one.model, *dpmm_fit(rows.parts, options, control).model, 1e-8);
    rows.parts.forget = false;
    // From a model of rows of two of the clusters, by vi and by a sampler.
    MemoryRows some({2, false});
    for (int i = 0; i < 300; ++i) {
      const double x[] = {5.0 * (i % 2) + random.normal(), double(i % 3)};
      some.append(x);
    }
    for (const char *const method : {"vi", "collapsed"}) {
      Document before = Document::object();
      before.set("method", method);
      if (product) before.set("likelihood", Document::List{"normal", "poisson"});
      if (std::string(method) == "collapsed") before.set("draws", 20).set("chains", 1);
      const DpmmFit start = dpmm_fit(some, before, control);
      Document again = options;
      if (product) again.set("likelihood", Document());
      again.set("truncation", 30);
      compare(*dpmm_fit(rows.one, again, control, start.model.get()).model,
              *dpmm_fit(rows.parts, again, control, start.model.get()).model, 1e-8);
    }
  }
}

BOOST_AUTO_TEST_CASE(binary_regressions_are_those_of_one_table) {
  Random random(9);
  for (const bool weighted : {false, true}) {
    Both rows({4, weighted});
    for (int i = 0; i < 3000; ++i) {
      const double x = 1e3 + random.normal();
      rows.append({double(random.uniform() < 1 / (1 + std::exp(1e3 - x))), x, double(i % 2),
                   double(i % 7 + (i % 7 == 6 ? 100 : 0))},
                  weighted ? 0.5 + random.uniform() : 1);
    }
    for (const char *const method : {"laplace", "em", "vi"})
      for (const Link link : {Link::logit, Link::probit}) {
        if (link == Link::logit && std::string(method) != "laplace") continue;
        Document options = Document::object();
        options.set("method", method).set("max_iter", 6).set("tol", 0.0);
        if (weighted) options.set("terms", Document::List{"x1", "x2:x3", "x3:x3", "x2"});
        Control control;
        GlmWarnings warnings;
        const auto fit = [&](RowSource &source) {
          return glm_fit(link == Link::logit ? GlmFamily::logreg : GlmFamily::probit, source, {},
                         options, control, warnings);
        };
        const auto one = fit(rows.one), parts = fit(rows.parts);
        compare(*one, *parts);
      }
  }
}

BOOST_AUTO_TEST_CASE(bytes_travel_whole) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    BOOST_TEST((bytes_of_document(bytes_document(bytes)) == bytes));
    bytes.push_back(char(i * 37));
  }
  for (const std::vector<double> &bad : {std::vector<double>{}, {3}, {7, 1}, {1, -1}, {1, 0.5}})
    BOOST_CHECK_THROW(bytes_of_document(numbers_document(bad)), Error);
}

BOOST_AUTO_TEST_CASE(rows_of_a_reference) {
  for (const bool weighted : {false, true})
    for (const int n : {500, 9000}) {
      Both rows({2, weighted});
      fill(rows, n, false);
      Control control;
      const ReferenceRows one = reference_rows(rows.one, 0, 5, control),
                          parts = reference_rows(rows.parts, 0, 5, control);
      BOOST_TEST(one.weights.size() == parts.weights.size());
      BOOST_TEST(one.elements.size() == parts.elements.size());
      BOOST_TEST(support::distance(one.size, parts.size) < 1e-12);
      if (!weighted) {
        std::set<double> different;
        for (std::size_t i = 0; i < parts.elements.size(); i += 2)
          different.insert(parts.elements[i]);
        BOOST_TEST(different.size() == parts.weights.size());
      }
      // All are rows of the table, in equal shares of the parts.
      double sum[2] = {}, total[2] = {};
      for (int s = 0; s < 2; ++s) {
        const ReferenceRows &rows_of = s ? parts : one;
        for (std::size_t i = 0; i < rows_of.weights.size(); ++i) {
          sum[s] += rows_of.weights[i] * (rows_of.elements[2 * i] - 1e3);
          total[s] += rows_of.weights[i];
        }
      }
      BOOST_TEST(std::abs(sum[0] / total[0] - sum[1] / total[1]) < (n == 500 ? 1e-9 : 0.5));
    }
}

BOOST_AUTO_TEST_CASE(what_needs_single_rows_is_refused) {
  Both rows({2, false});
  fill(rows, 11000, false);
  Control control;
  for (const char *const method : {"gibbs", "mcem", "collapsed"})
    BOOST_CHECK_THROW(
        gmm_fit(rows.parts, 2, Document::object().set("method", method), nullptr, false, control),
        Error);
}

BOOST_AUTO_TEST_CASE(constant_columns_and_tiny_differences) {
  for (const double step : {0.0, 1e-150}) {
    Both rows({2, false});
    for (int i = 0; i < 11000; ++i) rows.append({double(i), i % 7 == 6 ? step : 0.0}, 1);
    Control control;
    const auto fit = [&](RowSource &source) {
      gmm_fit(source, 1, options_of("vi"), nullptr, false, control);
    };
    if (step == 0) {
      fit(rows.one);
      fit(rows.parts);
    } else {
      BOOST_CHECK_THROW(fit(rows.one), Error);
      BOOST_CHECK_THROW(fit(rows.parts), Error);
    }
  }
}

/// Kernels would use values of samples as indices, and weights as numbers of rows.
BOOST_AUTO_TEST_CASE(damaged_answers_are_refused) {
  Both rows({2, false});
  Random random(5);
  for (int i = 0; i < 11000; ++i) rows.append({double(i % 3), random.normal()}, 1);
  Document options = options_of("em");
  options.set("likelihood", Document::List{"categorical", "normal"});
  Control control;
  const auto fit = [&] { bmm_fit(rows.parts, 2, options, nullptr, false, control); };
  fit();
  const auto refused = [&](const char *pass, const char *key,
                           const std::function<void(std::vector<double> &)> &change) {
    bool changed = false;
    rows.parts.damage = [&](const std::string &of, Document &answer) {
      if (of != pass) return;
      std::vector<double> numbers;
      if (of == "categories") {
        Document::List list = PassReader(answer).list("values");
        numbers = PassReader(list[0]).numbers(key);
        change(numbers);
        list[0].set(key, numbers_document(numbers));
        answer.set("values", std::move(list));
      } else {
        numbers = PassReader(answer).numbers(key);
        change(numbers);
        answer.set(key, numbers_document(numbers));
      }
      changed = true;
    };
    BOOST_TEST_CONTEXT(pass << ' ' << key)
    BOOST_CHECK_EXCEPTION(fit(), Error,
                          [](const Error &error) { return error.code() == Errc::invalid_binary; });
    BOOST_TEST(changed);
  };
  refused("sketch", "elements", [](std::vector<double> &x) { x[0] = 1e9; });
  refused("sketch", "elements", [](std::vector<double> &x) { x[0] = 0.5; });
  refused("sketch", "elements", [](std::vector<double> &x) { x.pop_back(); });
  refused("product survey", "mean", [](std::vector<double> &x) { x.push_back(0); });
  refused("sketch", "weights", [](std::vector<double> &x) { x[0] = none; });
  refused("sketch", "weights", [](std::vector<double> &x) { x[0] = -1; });
  refused("categories", "values", [](std::vector<double> &x) { std::swap(x[0], x[1]); });
  refused("categories", "values", [](std::vector<double> &x) { x[0] = none; });
}

BOOST_AUTO_TEST_CASE(numbers_of_answers_are_no_fault_of_ours) {
  Random random(3);
  Control control;
  GlmWarnings warnings;
  lying::Endings mixtures, regressions;
  for (int run = 0; run < support::effort(1200); ++run) {
    const bool weighted = run % 2 == 0, holes = run % 5 == 0;
    const std::vector<std::function<void(Parts &)>> fits = {
        [&](Parts &rows) { gmm_fit(rows, 2, options_of("em"), nullptr, false, control); },
        [&](Parts &rows) { gmm_fit(rows, 2, options_of("vi", "tied"), nullptr, false, control); },
        [&](Parts &rows) { gmm_fit(rows, 2, options_of("map"), nullptr, false, control); },
        [&](Parts &rows) {
          gmm_fit(rows, 2, options_of("vi", "diagonal"), nullptr, false, control);
        },
        [&](Parts &rows) {
          Document options = options_of("vi");
          options.set("likelihood", Document::List{"normal", "gamma", "poisson"});
          bmm_fit(rows, 2, options, nullptr, false, control);
        },
        [&](Parts &rows) {
          dpmm_fit(rows, Document::object().set("method", "vi").set("max_iter", 6), control);
        }};
    Both rows({3, weighted});
    fill(rows, 60, holes);
    rows.parts.damage = [&](const std::string &, Document &answer) {
      answer = lying::falsified(answer, random, 60);
    };
    BOOST_TEST_CONTEXT("run " << run)
    mixtures.check([&] { fits[std::size_t(run) % fits.size()](rows.parts); });
    Both responses({3, weighted});
    for (int i = 0; i < 60; ++i)
      responses.append({double(random.below(2)), random.normal(), double(i % 2)}, 1);
    const auto damage = rows.parts.damage;
    responses.parts.damage = damage;
    const std::string method =
        std::vector<std::string>{"laplace", "em", "vi"}[std::size_t(run) % 3];
    const Link link = method == "laplace" && run % 2 ? Link::logit : Link::probit;
    BOOST_TEST_CONTEXT("regression " << run << ' ' << method)
    regressions.check([&] {
      glm_fit(link == Link::logit ? GlmFamily::logreg : GlmFamily::probit, responses.parts, {},
              Document::object().set("method", method), control, warnings);
    });
  }
  mixtures.check_both();
  regressions.check_both();
}

BOOST_AUTO_TEST_SUITE_END()
