// One event has one probability: densities, strangeness, surprise and boxes of the same event agree
// for every family, and for models at the corners: one component, one column, a component with all
// the weight, after conditioning, rows far out, labels that no row had.
//
// Draws have fixed seeds; each comparison with them has a false-alarm rate of about 1e-5.
#include "base/unseen.hpp"
#include "conditional_support.hpp"
#include "hmm_support.hpp"
#include "product_support.hpp"
#include "questions/anomaly.hpp"
#include "questions/box.hpp"

using namespace bayes;
using namespace questions;

namespace {

const std::vector<Options> &methods() {
  static const Options sampled = {{"chains", 2}, {"draws", 20}, {"warmup", 10}};
  static const std::vector<Options> out = {{{"method", "em"}},
                                           {{"method", "map"}},
                                           {{"method", "vi"}},
                                           with(sampled, {{"method", "gibbs"}}),
                                           with(sampled, {{"method", "collapsed"}})};
  return out;
}

std::string method_of(const Options &options) {
  return *Document(options).find("method")->as<std::string>();
}

/// One state, or two.
std::unique_ptr<Model> steps_of(const Matrix &x, int k, Options options) {
  hidden_markov::Sequence steps;
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index j = 0; j < x.cols(); ++j) steps.push_back(x(i, j));
  hidden_markov::Data data(int(x.cols()), {steps});
  return hidden_markov::fitted(data, k, std::move(options));
}

/// Models at the corners, of gmm, bmm, hmm and dpmm.
std::vector<Asked> corner_models() {
  std::vector<Asked> out;
  const auto add = [&](const std::string &name, std::unique_ptr<Model> model, const Matrix &rows) {
    out.push_back({name, std::move(model), rows});
  };
  const Matrix x = support::normal_rows(60, 3, 5, 1), one = x.leftCols(1),
               mixed = latent::mixed_rows(60, 4), labels = mixed.rightCols(1);
  for (const Options &each : methods()) {
    const std::string method = method_of(each);
    for (const std::string &shape : support::shapes) {
      if (shape == "tied" && method == "collapsed") continue;
      const Options options = with(each, {{"covariance", shape}});
      add("gmm 1 " + shape + " " + method, support::fit(x, 1, options), x);
      add("gmm 1 column " + shape + " " + method, support::fit(one, 2, options), one);
    }
    add("bmm 1 " + method, latent::fitted(mixed, 1, with(each, latent::mixed)), mixed);
    const Options categorical = with(each, {{"likelihood", "categorical"}});
    add("bmm 1 label " + method, latent::fitted(labels, 1, categorical), labels);
    add("bmm 2 label " + method, latent::fitted(labels, 2, categorical), labels);
    if (method == "collapsed") continue;
    add("hmm 1 " + method, steps_of(x, 1, with(each, {{"covariance", "diagonal"}})), x);
    add("hmm 2 " + method, steps_of(x, 2, each), x);
  }
  // A start with a component that no row is of, which keeps next to no weight.
  add("gmm 2 of 1", support::fit(x, 2, {{"method", "vi"}, {"covariance", "diagonal"}}), x);
  for (Asked &each : out) each.distribution = each.model->row_distribution();
  return out;
}

std::vector<Asked> &corners() {
  static std::vector<Asked> all = corner_models();
  return all;
}

/// f(asked) for the models of the other tests and those at the corners.
template <class F> void each_model(F f) {
  for (Asked &asked : all_models()) f(asked);
  for (Asked &asked : corners()) f(asked);
}

/// The share of n rows of the model, drawn anew, that are at most as probable as x.
double share_below(RowDistribution &rows, const std::vector<double> &x, int n) {
  const std::vector<double> nothing(x.size(), hole);
  const double density = rows.log_density(x);
  int below = 0;
  for (int i = 0; i < n; ++i) {
    Random random(4711, std::uint64_t(i));
    std::vector<double> drawn = nothing;
    rows.condition(nothing);
    rows.draw(random, drawn);
    for (std::size_t j = 0; j < x.size(); ++j)
      if (std::isnan(x[j])) drawn[j] = hole;
    below += rows.log_density(drawn) <= density + 1e-6;
  }
  return double(below) / n;
}

/// 4.5 standard errors of both shares of draws.
double allowance(double p, int n) {
  return 4.5 * std::sqrt((p * (1 - p) + 1e-3) * (1.0 / n + 1.0 / 1000)) + 0.003;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(events)

BOOST_AUTO_TEST_CASE(strangeness_is_the_share_of_rows_that_are_as_improbable) {
  constexpr int n = 1000;
  each_model([](Asked &asked) {
    RowDistribution &rows = *asked.distribution;
    Anomalies anomalies(rows);
    for (const unsigned pattern : {0u, 1u})
      for (const Eigen::Index i : {0, 7, 20}) {
        const auto x = with_holes(support::row(asked.rows, i), rows.dimension() > 1 ? pattern : 0);
        const double p = anomalies.probability(x), share = share_below(rows, x, n);
        BOOST_TEST(std::abs(p - share) < allowance(share, n),
                   asked.name << " row " << i << ": " << p << " " << share);
      }
  });
}

BOOST_AUTO_TEST_CASE(so_it_is_given_some_columns) {
  constexpr int n = 1000;
  each_model([](Asked &asked) {
    if (asked.rows.cols() < 2) return;
    const auto x = support::row(asked.rows, 3);
    for (const unsigned pattern : {1u, 1u << (asked.rows.cols() - 1)}) {
      const auto model = given(asked, with_holes(x, ~pattern));
      const auto rows = model->row_distribution();
      Anomalies anomalies(*rows);
      const auto rest = remaining(x, pattern);
      const double p = anomalies.probability(rest), share = share_below(*rows, rest, n);
      BOOST_TEST(std::abs(p - share) < allowance(share, n),
                 asked.name << " given " << pattern << ": " << p << " " << share);
    }
  });
}

// Less and less probable rows are never less strange, and far out none is as strange as one in a
// million, whatever the components are made of.
BOOST_AUTO_TEST_CASE(strangeness_falls_with_the_density) {
  each_model([](Asked &asked) {
    RowDistribution &rows = *asked.distribution;
    bool numbers = false;
    for (int j = 0; j < rows.dimension(); ++j) numbers |= rows.categories(j).empty();
    if (!numbers) return;
    Anomalies anomalies(rows);
    std::vector<std::pair<double, double>> found;
    for (double far = 0; far < 1e7; far = far * 1.4 + 0.3) {
      auto x = support::row(asked.rows, 0);
      for (int j = 0; j < rows.dimension(); ++j)
        if (rows.categories(j).empty()) x[std::size_t(j)] = std::floor(x[std::size_t(j)] + far);
      found.push_back({rows.log_density(x), anomalies.probability(x)});
    }
    std::sort(found.begin(), found.end());
    for (std::size_t i = 1; i < found.size(); ++i)
      BOOST_TEST(found[i - 1].second <= found[i].second * (1 + 1e-9),
                 asked.name << ' ' << found[i - 1].second << ' ' << found[i].second);
    // Student t of few degrees, and their mixtures, have rows that far out.
    if (asked.name.find("em") != std::string::npos)
      BOOST_TEST(found[0].second < 1e-6, asked.name << ' ' << found[0].second);
  });
}

// Where draws can tell, the bound holds, and is not far off.
BOOST_AUTO_TEST_CASE(bounds_hold) {
  each_model([](Asked &asked) {
    RowDistribution &rows = *asked.distribution;
    constexpr int n = 4000;
    std::vector<std::pair<double, std::vector<double>>> drawn;
    for (int i = 0; i < n; ++i) {
      std::vector<double> x = drawn_row(rows, 5, i);
      drawn.push_back({rows.log_density(x), x});
    }
    std::sort(drawn.begin(), drawn.end());
    for (const int rank : {4, 40, 400}) {
      rows.log_density(drawn[std::size_t(rank)].second);
      const double bound = rows.tail_bound(drawn[std::size_t(rank)].first),
                   share = rank / double(n);
      BOOST_TEST(bound > share - 4.5 * std::sqrt(share / n), asked.name << ' ' << bound);
      // Labels have no densities between those of their values.
      bool numbers = true;
      for (int j = 0; j < rows.dimension(); ++j) numbers &= rows.categories(j).empty();
      if (numbers && asked.model->info.components == 1 && !is_sampler(asked.model->info.method))
        BOOST_TEST(bound < 100 * share + 0.02, asked.name << ' ' << bound);
    }
  });
}

BOOST_AUTO_TEST_CASE(every_family_of_columns_has_bounds) {
  Control control;
  products::for_each_family([&](const auto &family, const ColumnSpec &spec) {
    Random random(3);
    const auto q = products::prior_of(family, spec, 4);
    const auto x = products::samples(family, products::drawn(family, q, random), 80, random);
    const Matrix two = Eigen::Map<const Matrix>(x.data(), 40, 2);
    for (const char *method : {"em", "vi"}) {
      BOOST_TEST_CONTEXT(family.name << ' ' << method) {
        auto in = support::rows_of(two);
        const auto model = bmm_fit(in, 1,
                                   Document::object()
                                       .set("likelihood", likelihood_document({spec, spec}, true))
                                       .set("method", method),
                                   nullptr, false, control);
        const auto rows = model->row_distribution();
        // P(p(X) <= l) by the distribution of one column, where that is known to be exact: E[p^-s].
        Asked asked{std::string(family.name) + ' ' + method, nullptr, two};
        Anomalies anomalies(*rows);
        for (const Eigen::Index i : {0, 5, 11}) {
          const auto row = support::row(two, i);
          const double p = anomalies.probability(row), share = share_below(*rows, row, 2000);
          BOOST_TEST(std::abs(p - share) < allowance(share, 2000), asked.name << ' ' << p << share);
          rows->log_density(row);
          const double bound = rows->tail_bound(rows->log_density(row));
          BOOST_TEST(bound > share - allowance(share, 2000), asked.name << ' ' << bound);
        }
        if (!rows->categories(0).empty()) continue;
        auto far = support::row(two, 0);
        far[0] = far[1] = 20 * two.maxCoeff() + 40;
        if (spec.name() == std::string_view("binomial")) continue;
        rows->log_density(far);
        if (method == std::string("em"))
          BOOST_TEST(anomalies.probability(far) < 1e-6,
                     asked.name << ' ' << anomalies.probability(far));
      }
    }
  });
}

// One column of labels: the density, the box, the surprise and the strangeness of a label that the
// model has, and of one that it has not.
BOOST_AUTO_TEST_CASE(a_label_has_one_probability) {
  int labels = 0;
  each_model([&](Asked &asked) {
    RowDistribution &rows = *asked.distribution;
    Anomalies anomalies(rows);
    const auto x = support::row(asked.rows, 5);
    const std::size_t d = x.size();
    for (std::size_t j = 0; j < d; ++j) {
      if (rows.categories(int(j)).empty()) continue;
      std::vector<double> values = rows.categories(int(j));
      values.push_back(77);
      for (const double value : values) {
        if (value == 77 && !rows.unknown(int(j), value)) continue;
        ++labels;
        std::vector<double> alone(d, hole), others = x, nothing = alone, whole = x;
        alone[j] = whole[j] = value;
        others[j] = hole;
        const auto one = rows.checked(alone);
        const std::vector<double> label(one.begin(), one.end());
        const std::string where = asked.name + " element " + std::to_string(j + 1) + " value " +
                                  std::to_string(int(value));
        const double p = std::exp(rows.log_density(label));
        BOOST_TEST(std::abs(box_probability(rows, alone, alone, nothing).value - p) < 1e-12, where);
        BOOST_TEST(std::abs(box_probability(rows, alone, alone, others).value -
                            std::exp(rows.log_density(label, others))) < 1e-10,
                   where);
        const double tail = surprise(rows, label, int(j), 0.9).tail;
        BOOST_TEST((tail >= p * (1 - 1e-9) && tail <= 1), where);
        BOOST_TEST(std::abs(anomalies.probability(label) - tail) < 1e-9,
                   where << ' ' << anomalies.probability(label) << ' ' << tail);
        // as a part of a row
        whole[j] = label[j];
        const double strange = anomalies.probability(whole);
        BOOST_TEST((strange >= 0 && strange <= 1), where);
      }
    }
  });
  BOOST_TEST(labels > 120);
}

// Two columns, one of which has an unseen label: by integration over both classes of rows.
BOOST_AUTO_TEST_CASE(rows_with_an_unseen_label_are_as_strange_as_they_are_improbable) {
  for (const char *method : {"em", "vi", "gibbs"}) {
    const Matrix x = latent::mixed_rows(60, 4).rightCols(2);
    Options options = {{"method", method}, {"likelihood", Document::List{"normal", "categorical"}}};
    if (method == std::string("gibbs"))
      options = with(options, {{"chains", 2}, {"draws", 20}, {"warmup", 10}});
    const auto model = latent::fitted(x, 2, options);
    const auto rows = model->row_distribution();
    Anomalies anomalies(*rows);
    for (const double z : {0.0, 3.0, 5.0}) {
      const std::vector<double> row = {z, unseen_category};
      const double density = rows->log_density(row);
      std::vector<double> labels = rows->categories(1);
      labels.push_back(unseen_category);
      double p = 0;
      constexpr double step = 0.001;
      for (const double label : labels)
        for (double t = -60; t < 60; t += step) {
          const double own = rows->log_density(std::vector<double>{t, label});
          if (own <= density) p += step * std::exp(own);
        }
      p = std::min(1.0, p);
      BOOST_TEST(std::abs(anomalies.probability(row) - p) < allowance(p, 10000),
                 method << ' ' << z << ' ' << anomalies.probability(row) << ' ' << p);
    }
    const double far = anomalies.probability(std::vector<double>{1e6, unseen_category});
    BOOST_TEST(far < (method == std::string("em") ? 1e-6 : 1e-4), method << ' ' << far);
  }
}

// No class is unknown to a classifier but those of probability 0.
BOOST_AUTO_TEST_CASE(an_unknown_class_has_the_probability_0) {
  for (Asked &asked : all_models()) {
    if (!has_class(asked)) continue;
    RowDistribution &rows = *asked.distribution;
    auto x = support::row(asked.rows, 5);
    x.back() = unseen_category;
    BOOST_TEST(rows.log_density(x) == -HUGE_VAL);
    BOOST_TEST(Anomalies(rows).probability(x) == 0);
    const Surprise of = surprise(rows, x, rows.dimension() - 1, 0.9);
    BOOST_TEST((of.nats == HUGE_VAL && of.tail == 0));
    const std::vector<double> nothing(x.size(), hole);
    std::vector<double> label = nothing;
    label.back() = 77;
    BOOST_TEST(box_probability(rows, label, label, nothing).value == 0);
  }
}

// Boxes whose bounds are equal are labels; one column's box agrees with its distribution function,
// and all boxes of a partition sum to 1.
BOOST_AUTO_TEST_CASE(boxes_of_a_partition_sum_to_1) {
  each_model([](Asked &asked) {
    RowDistribution &rows = *asked.distribution;
    const auto x = support::row(asked.rows, 2);
    for (std::size_t j = 0; j < x.size(); ++j) {
      std::vector<double> nothing(x.size(), hole), lower = nothing, upper = nothing, others = x;
      others[j] = hole;
      double sum = 0;
      if (rows.categories(int(j)).empty()) {
        const bool whole = asked.rows.col(Eigen::Index(j)) ==
                           asked.rows.col(Eigen::Index(j)).array().floor().matrix();
        upper[j] = x[j];
        sum += box_probability(rows, lower, upper, others).value;
        lower[j] = whole ? x[j] + 1 : x[j];
        upper[j] = hole;
        sum += box_probability(rows, lower, upper, others).value;
      } else {
        for (const double value : rows.categories(int(j))) {
          lower[j] = upper[j] = value;
          sum += box_probability(rows, lower, upper, others).value;
        }
      }
      BOOST_TEST(std::abs(sum - 1) < 1e-9, asked.name << ' ' << sum);
    }
  });
}

// Intervals contain the median, and have a width if the posterior has a variance.
BOOST_AUTO_TEST_CASE(intervals_contain_the_point) {
  each_model([](Asked &asked) {
    // Their point is of one partition, the intervals are of all.
    if (asked.model->info.family == "dpmm" && is_sampler(asked.model->info.method)) return;
    int described = 0;
    asked.model->describe_parameters(0.9, [&](const Parameter &p) {
      ++described;
      if (std::isnan(p.lower)) return;
      BOOST_TEST((p.lower <= p.value && p.value <= p.upper),
                 asked.name << ' ' << p.name << ' ' << p.lower << ' ' << p.value << ' ' << p.upper);
      if (p.deviation > 0) BOOST_TEST(p.lower < p.upper, asked.name << ' ' << p.name);
    });
    BOOST_TEST(described > 0, asked.name);
  });
}

BOOST_AUTO_TEST_SUITE_END()
