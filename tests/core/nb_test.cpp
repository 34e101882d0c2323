// Bayes classifiers: predictive probabilities against long double and against quadrature, the
// evidence by the chain rule, statistics in any order and in parts, sparse rows against dense ones.
#include <numeric>

#include "base/error.hpp"
#include "classification/nb_state.hpp"
#include "nb_support.hpp"
#include "product_support.hpp"

using namespace bayes;
using namespace classes;

namespace {

/// A column of each family; elements of class c of n, some missing.
Rows mixed_rows(int n, double missing, std::uint64_t seed = 7) {
  Random random(seed);
  Rows out;
  for (int i = 0; i < n; ++i) {
    const int c = int(random.below(3));
    Row row{std::string(1, char('a' + c)), {}};
    row.x = {3 * random.normal() + 2 * c,
             std::floor(random.exponential() * (1 + c)),
             random.uniform() < 0.3 + 0.2 * c ? 1.0 : 0.0,
             double((random.below(4) + random.below(std::uint64_t(1 + c))) % 4 + 5),
             random.exponential() * (2 - c / 2.0),
             std::floor(4 * random.exponential() / (1 + c))};
    for (double &x : row.x)
      if (random.uniform() < missing) x = NAN;
    out.push_back(row);
  }
  return out;
}

Document mixed_options() {
  const auto keys = [](std::initializer_list<Document::Member> members) {
    return Document(Document::Object(members));
  };
  return Document::object()
      .set("likelihood", Document::List{"normal", "poisson", "bernoulli", "categorical",
                                        "exponential", "geometric"})
      .set("prior", Document::object()
                        .set("alpha", 1.5)
                        .set("normal", keys({{"m", 0.5}, {"c", 0.2}, {"a", 2.5}, {"B", 3.0}}))
                        .set("poisson", keys({{"shape", 1.25}, {"rate", 0.75}}))
                        .set("bernoulli", keys({{"a", 0.5}, {"b", 2.0}}))
                        .set("categorical", keys({{"category_alpha", 0.75}}))
                        .set("exponential", keys({{"shape", 2.0}, {"rate", 1.5}}))
                        .set("geometric", keys({{"a", 1.5}, {"b", 2.5}})));
}

std::vector<double> seen_of(const Rows &rows, const std::string &label, std::size_t j) {
  std::vector<double> out;
  for (const Row &row : rows)
    if (row.label == label && !std::isnan(row.x[j])) out.push_back(row.x[j]);
  return out;
}

Real log_mixed(const Rows &rows, const std::string &label, const std::vector<double> &x) {
  Real n = 0;
  for (const Row &row : rows) n += row.label == label;
  Real out = std::log((1.5L + n) / (4.5L + Real(rows.size())));
  const auto seen = [&](std::size_t j) { return seen_of(rows, label, j); };
  if (!std::isnan(x[0])) out += log_univariate(seen(0), x[0], 0.5L, 0.2L, 2.5L, 3);
  if (!std::isnan(x[1])) out += log_poisson(seen(1), x[1], 1.25L, 0.75L);
  if (!std::isnan(x[2])) out += log_bernoulli(seen(2), x[2], 0.5L, 2);
  if (!std::isnan(x[3])) out += log_categorical(seen(3), x[3], 0.75L, 4);
  if (!std::isnan(x[4])) out += log_exponential(seen(4), x[4], 2, 1.5L);
  if (!std::isnan(x[5])) out += log_geometric(seen(5), x[5], 1.5L, 2.5L);
  return out;
}

std::vector<double> copy(std::span<const double> x) { return {x.begin(), x.end()}; }

Rows shuffled(Rows rows, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = rows.size(); i > 1; --i)
    std::swap(rows[i - 1], rows[std::size_t(random.below(i))]);
  return rows;
}

/// The largest difference of what two models say of rows.
double disagreement(const BayesClassifier &one, const BayesClassifier &other, const Rows &rows) {
  BOOST_REQUIRE(one.labels() == other.labels());
  double most = support::distance(one.info.objective, other.info.objective);
  for (const Row &row : rows)
    most = support::larger(
        most, support::distance(copy(one.log_joint(row.x)), copy(other.log_joint(row.x))));
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nb)

BOOST_AUTO_TEST_CASE(predictive_of_every_family) {
  for (const double missing : {0.0, 0.3}) {
    const Rows rows = mixed_rows(60, missing), fresh = mixed_rows(20, missing, 8);
    const auto model = fit(rows, mixed_options());
    double most = 0;
    for (const Row &row : fresh) {
      const auto scores = copy(model->log_joint(row.x));
      for (int k = 0; k < 3; ++k)
        most = support::larger(
            most,
            support::distance(scores[std::size_t(k)],
                              double(log_mixed(rows, model->labels()[std::size_t(k)], row.x))));
    }
    BOOST_TEST(most < 1e-13);
  }
}

// With the parameters known a row has the density that every text names; the posterior density of
// the parameters is prior times likelihood of the rows, both written out and summed over a grid.
BOOST_AUTO_TEST_CASE(probabilities_by_quadrature) {
  const Rows rows = {{"ham", {0}}, {"ham", {1}}, {"spam", {3}}, {"spam", {5}}, {"spam", {2}}};
  const auto model =
      fit(rows,
          Document::object()
              .set("likelihood", "poisson")
              .set("prior", Document::object().set(
                                "poisson", Document::object().set("shape", 2.0).set("rate", 0.5))));
  for (const double x : {0.0, 2.0, 6.0}) {
    Real joint[2];
    for (int k = 0; k < 2; ++k) {
      Real above = 0, below = 0, n = 0;
      const std::string label = k ? "spam" : "ham";
      for (const Row &row : rows) n += row.label == label;
      for (Real rate = 0.0005L; rate < 60; rate += 0.001L) {
        const auto poisson = [rate](Real count) {
          return std::exp(count * std::log(rate) - rate - lgammal(count + 1));
        };
        Real density = rate * std::exp(-0.5L * rate);
        for (const Row &row : rows)
          if (row.label == label) density *= poisson(row.x[0]);
        below += density;
        above += density * poisson(x);
      }
      joint[k] = (1 + n) / 7 * above / below;
    }
    const double p[] = {x};
    const auto probability = probabilities(model->log_joint(p));
    BOOST_TEST(std::abs(probability[1] - double(joint[1] / (joint[0] + joint[1]))) < 1e-10);
  }
}

// p(all labels and rows) is the product of the predictive of every row given those before.
BOOST_AUTO_TEST_CASE(evidence_by_the_chain_rule) {
  const Rows rows = mixed_rows(25, 0.1);
  Document options = mixed_options();
  Real chain = 0;
  // The model of the rows before is known only once all classes and categories are: so the
  // definition in long double predicts.
  for (std::size_t i = 0; i < rows.size(); ++i)
    chain +=
        log_mixed(Rows(rows.begin(), rows.begin() + std::ptrdiff_t(i)), rows[i].label, rows[i].x);
  BOOST_TEST(support::distance(fit(rows, options)->info.objective, double(chain)) < 1e-13);
}

BOOST_AUTO_TEST_CASE(order_parts_and_updates_make_no_difference) {
  for (const bool defaults : {false, true}) {
    Document options = mixed_options();
    if (defaults) options.set("prior", Document::object());
    const Rows rows = mixed_rows(200, 0.2), fresh = mixed_rows(20, 0.2, 9);
    const auto whole = fit(rows, options);
    BOOST_TEST(disagreement(*whole, *fit(shuffled(rows, 3), options), fresh) < 1e-12);
    const Rows first(rows.begin(), rows.begin() + 70), second(rows.begin() + 70, rows.end());
    auto merged = fit(first, options);
    merged->merge(*fit(second, options));
    BOOST_TEST(disagreement(*whole, *merged, fresh) < 1e-12);
    BOOST_TEST(merged->info.rows == 200);
    const auto start = fit(second, options);
    BOOST_TEST(disagreement(*whole, *fit(first, Document(), {}, start.get()), fresh) < 1e-12);
    NbPart part = read(second, options);
    part.merge(NbPart::from_bytes(read(first, options).to_bytes()));
    BOOST_TEST(disagreement(*whole, *nb_fit(part, options, nullptr), fresh) < 1e-12);
    const auto stored = Model::from_bytes(whole->to_bytes());
    BOOST_TEST(disagreement(*whole, static_cast<const BayesClassifier &>(*stored), fresh) == 0);
  }
}

BOOST_AUTO_TEST_CASE(weights_are_repetitions) {
  Rows weighted = mixed_rows(40, 0.2), repeated;
  for (std::size_t i = 0; i < weighted.size(); ++i) {
    weighted[i].weight = 1 + double(i % 3);
    for (std::size_t n = 0; n <= i % 3; ++n) repeated.push_back({weighted[i].label, weighted[i].x});
  }
  BOOST_TEST(disagreement(*fit(weighted, mixed_options()), *fit(repeated, mixed_options()),
                          mixed_rows(20, 0.1, 4)) < 1e-12);
}

BOOST_AUTO_TEST_CASE(full_covariance_is_a_student_t) {
  Random random(5);
  Rows rows;
  for (int i = 0; i < 40; ++i) {
    const double z = random.normal(), y = random.normal();
    rows.push_back(
        {i % 3 ? "x" : "y", {1e3 + z, z + 0.5 * y, 2 - y + (i % 3 ? 1 : 0), random.normal()}});
  }
  const auto prior = Document::object()
                         .set("m", Tensor{{4}, {1, 1, 1, 1}})
                         .set("c", 0.3)
                         .set("a", 5.5)
                         .set("B", 1.75);
  const Document options =
      Document::object()
          .set("covariance", "full")
          .set("prior", Document::object().set("alpha", 2.0).set("normal", prior));
  const auto model = fit(rows, options);
  double most = 0;
  Real chain = 0;
  std::map<std::string, std::vector<std::vector<double>>> seen;
  const auto log_joint = [&](const std::string &label, std::vector<double> x, double total) {
    std::vector<int> of;
    for (int j = 0; j < 4; ++j)
      if (!std::isnan(x[std::size_t(j)])) of.push_back(j);
    for (double &value : x)
      if (std::isnan(value)) value = 0;
    return log_normal(seen[label], x, of, 1, 0.3L, 5.5L, 1.75L) +
           std::log((2 + Real(seen[label].size())) / (4 + Real(total)));
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    chain += log_joint(rows[i].label, rows[i].x, double(i));
    seen[rows[i].label].push_back(rows[i].x);
  }
  BOOST_TEST(support::distance(model->info.objective, double(chain)) < 1e-12);
  for (std::vector<double> x : {std::vector<double>{1000.5, 0.2, 1, -1},
                                {999, NAN, 2, 0},
                                {NAN, NAN, 2.5, NAN},
                                {1001, 1, NAN, 3}}) {
    const auto scores = copy(model->log_joint(x));
    for (std::size_t k = 0; k < 2; ++k)
      most = support::larger(
          most, support::distance(scores[k], double(log_joint(model->labels()[k], x, 40))));
  }
  BOOST_TEST(most < 1e-11);
  const double nothing[] = {NAN, NAN, NAN, NAN};
  const auto p = probabilities(model->log_joint(nothing));
  BOOST_TEST(std::abs(p[0] - (2 + 26) / 44.0) < 1e-14);

  // In parts, in another order; rows that miss an element are left out.
  Rows other = shuffled(rows, 2);
  other.push_back({"x", {1, NAN, 1, 1}});
  BOOST_TEST(disagreement(*model, *fit(other, options), rows) < 1e-11);
  auto merged = fit(Rows(other.begin(), other.begin() + 13), options);
  merged->merge(*fit(Rows(other.begin() + 13, other.end()), options));
  BOOST_TEST(disagreement(*model, *merged, rows) < 1e-11);
  BOOST_TEST(merged->info.skipped == 1);
  const auto stored = Model::from_bytes(merged->to_bytes());
  BOOST_TEST(disagreement(*merged, static_cast<const BayesClassifier &>(*stored), rows) == 0);
}

BOOST_AUTO_TEST_CASE(normal_columns_together_beside_others) {
  // The others are independent of them: log densities add up.
  Random random(6);
  Rows both, normals, counts;
  for (int i = 0; i < 30; ++i) {
    const std::string label = i % 2 ? "b" : "a";
    const std::vector<double> n = {random.normal() + i % 2, random.normal()},
                              c = {std::floor(3 * random.uniform())};
    both.push_back({label, {n[0], c[0], n[1]}});
    normals.push_back({label, n});
    counts.push_back({label, c});
  }
  const auto full = Document::object().set("covariance", "full");
  auto mixed = full;
  mixed.set("likelihood", Document::List{"normal", "poisson", "normal"});
  const auto all = fit(both, mixed), together = fit(normals, full),
             alone = fit(counts, Document::object().set("likelihood", "poisson"));
  for (std::size_t i = 0; i < both.size(); ++i) {
    const auto a = copy(all->log_joint(both[i].x)), t = copy(together->log_joint(normals[i].x)),
               c = copy(alone->log_joint(counts[i].x));
    for (std::size_t k = 0; k < 2; ++k)
      BOOST_TEST(std::abs(a[k] - (t[k] + c[k] - std::log(0.5))) < 1e-12);
  }
}

// Of a class what a row adds to the evidence of its rows, under the prior of the classifier.
BOOST_AUTO_TEST_CASE(every_family_of_the_list_has_its_predictive_density) {
  products::for_each_family([&](const auto &family, const ColumnSpec &spec) {
    Random random(9);
    const products::Numbers q = products::prior_of(family, spec, 4);
    Rows rows;
    for (const char *label : {"a", "b"})
      for (const double x :
           products::samples(family, products::drawn(family, q, random), 30, random))
        rows.push_back({label, {x}});
    const auto model =
        fit(rows, Document::object().set("likelihood", likelihood_document({spec}, true)));
    const ProductPosterior &prior = *model->state->prior;
    std::vector<ProductClusters> clusters(2, ProductClusters(prior));
    for (ProductClusters &each : clusters) each.open();
    for (const Row &row : rows) clusters[row.label == "b"].add(0, row.x.data());
    for (std::size_t i = 0; i < rows.size(); i += 7) {
      const auto scores = copy(model->log_joint(rows[i].x));
      for (std::size_t k = 0; k < 2; ++k)
        BOOST_TEST(support::distance(scores[k], std::log(0.5) + clusters[k].log_predictive(
                                                                    0, rows[i].x.data())) < 1e-12);
    }
    // What a model stores is what it has read, and merging adds rows.
    const auto copied = Model::from_bytes(model->to_bytes());
    BOOST_TEST(copied->to_bytes() == model->to_bytes());
    const Rows first(rows.begin(), rows.begin() + 40), rest(rows.begin() + 40, rows.end());
    const Document options =
        Document::object().set("likelihood", likelihood_document({spec}, true));
    const auto merged = fit(first, options);
    merged->merge(*fit(rest, options));
    BOOST_TEST(merged->info.rows == 60);
  });
}

BOOST_AUTO_TEST_CASE(sparse_rows_are_rows_with_zeros) {
  const std::vector<std::string> vocabulary = {"a", "b", "c", "d", "e"};
  Random random(11);
  for (const ColumnSpec &spec : products::every_family()) {
    if (!spec.counts()) continue;
    const Columns column({spec});
    std::vector<SparseRow> sparse;
    Rows dense;
    for (int i = 0; i < 60; ++i) {
      SparseRow row{i % 3 ? "ham" : "spam", {}};
      Row full{row.label, std::vector<double>(vocabulary.size(), 0)};
      for (std::size_t j = 0; j < vocabulary.size(); ++j) {
        double x = std::floor(random.exponential() * (i % 3 ? 1 : 1.5));
        while (!column.column(0).allowed(x)) --x;
        if (i > 2 && random.uniform() < 0.1) x = NAN;  // null is not zero
        full.x[j] = x;
        if (x != 0 || random.uniform() < 0.2) row.words[vocabulary[j]] = x;
      }
      sparse.push_back(row);
      dense.push_back(full);
    }
    const Document options =
        Document::object().set("likelihood", likelihood_document({spec}, false));
    const auto of_words = nb_fit(read(sparse, options), options, nullptr),
               of_columns = fit(dense, options);
    // In parts which do not know all words; one of them knows "a" as null alone.
    std::vector<SparseRow> some, others;
    for (const SparseRow &row : sparse) {
      const auto a = row.words.find("a");
      (a != row.words.end() && !std::isnan(a->second) ? some : others).push_back(row);
    }
    auto merged = nb_fit(read(some, options), options, nullptr);
    const auto rest =
        nb_fit(NbPart::from_bytes(read(others, options).to_bytes()), options, nullptr);
    merged->merge(*Model::from_bytes(rest->to_bytes()));
    double most = 0;
    for (std::size_t i = 0; i < sparse.size(); ++i) {
      const auto expected = copy(of_columns->log_joint(dense[i].x));
      for (const BayesClassifier *const model : {of_words.get(), merged.get()}) {
        const auto words = words_of(*model, sparse[i].words);
        most = support::larger(
            most,
            support::distance(copy(model->log_joint(std::span<const NbWord>(words))), expected));
      }
    }
    BOOST_TEST(most < 1e-12);
    BOOST_TEST(support::distance(of_words->info.objective, of_columns->info.objective) < 1e-12);
    BOOST_TEST(support::distance(merged->info.objective, of_columns->info.objective) < 1e-12);

    // A part of rows that name nothing has no features, nor has one whose names are all null.
    const auto part_of = [&](const std::vector<SparseRow> &rows) {
      return NbPart::from_bytes(read(rows, options).to_bytes());
    };
    NbPart part = part_of({{"ham", {}}, {"new", {}}});
    part.merge(part_of({{"spam", {{"a", NAN}}}}));
    part = NbPart::from_bytes(part.to_bytes());
    part.merge(part_of(sparse));
    std::vector<double> zeros(vocabulary.size(), 0), unknown = zeros;
    unknown[0] = NAN;
    dense.insert(dense.end(), {{"ham", zeros}, {"new", zeros}, {"spam", unknown}});
    const auto in_parts = nb_fit(part, options, nullptr), with_columns = fit(dense, options);
    BOOST_TEST(support::distance(in_parts->info.objective, with_columns->info.objective) < 1e-12);
    const auto words = words_of(*in_parts, sparse[0].words);
    BOOST_TEST(support::distance(copy(in_parts->log_joint(std::span<const NbWord>(words))),
                                 copy(with_columns->log_joint(dense[0].x))) < 1e-12);
  }
}

// Labels have codes in the order in which they come, other ones in other parts; a column that is
// missing in all rows of a part has none there.
BOOST_AUTO_TEST_CASE(labels_are_the_same_whatever_their_codes) {
  const auto rows_with = [](const std::vector<std::string> &order, int from, int to) {
    Rows out;
    for (int i = from; i < to; ++i) {
      const std::string label = std::string(1, char('p' + i * i % 5));
      const double code = double(std::find(order.begin(), order.end(), label) - order.begin());
      out.push_back({i % 2 ? "a" : "b", {i < 10 ? NAN : code, double(i % 3)}});
    }
    return out;
  };
  const auto names_with = [](const std::vector<std::string> &order) {
    return RowColumns{{"kind", ValueKind::label, order}, {"n", ValueKind::number}};
  };
  const std::vector<std::string> one = {"p", "q", "t"}, other = {"t", "p", "q"};
  const auto whole = fit(rows_with(one, 0, 40), {}, names_with(one)),
             again = fit(rows_with(other, 0, 40), {}, names_with(other));
  BOOST_TEST(again->to_document().set("seconds", 0).to_json() ==
             whole->to_document().set("seconds", 0).to_json());
  BOOST_TEST((whole->info.columns[0].labels == one));
  auto merged = fit(rows_with({}, 0, 10), {}, names_with({}));
  merged->merge(*fit(rows_with(other, 10, 40), {}, names_with(other)));
  BOOST_TEST((merged->info.columns[0].labels == one));
  Rows fresh;
  for (const double kind : {0.0, 1.0, 2.0, 3.0, double(NAN)}) fresh.push_back({"a", {kind, 1}});
  BOOST_TEST(disagreement(*whole, *merged, fresh) < 1e-13);
  // of 40 rows 30 have a label; one more is on no side
  const auto unknown = copy(whole->log_joint(fresh[3].x)),
             missing = copy(whole->log_joint(fresh[4].x));
  BOOST_TEST(unknown == missing);
}

BOOST_AUTO_TEST_CASE(absent_may_be_unknown) {
  const Document options = Document::object().set("absent", "missing");
  const std::vector<SparseRow> rows = {
      {"x", {{"a", 2}, {"b", 1}}}, {"x", {{"a", 3}}}, {"y", {{"b", 4}}}, {"y", {{"a", 0}}}};
  const auto model = nb_fit(read(rows, options), options, nullptr);
  const auto known = words_of(*model, {{"a", 1}, {"other", 5}});
  const auto scores = copy(model->log_joint(std::span<const NbWord>(known)));
  // prior Gamma(1, 1 / mean), of those who have the word
  const Real rate = 3 / 5.0L;
  BOOST_TEST(std::abs(scores[0] - double(std::log(0.5L) + log_poisson({2, 3}, 1, 1, rate))) <
             1e-14);
  BOOST_TEST(std::abs(scores[1] - double(std::log(0.5L) + log_poisson({0}, 1, 1, rate))) < 1e-14);
}

BOOST_AUTO_TEST_CASE(default_priors_are_those_of_all_rows) {
  const Rows rows = {{"a", {1, 2}}, {"a", {3, 0}}, {"b", {5, 1}}, {"b", {7, 3}}, {"b", {9, 0}}};
  const Document options =
      Document::object().set("likelihood", Document::List{"normal", "poisson"});
  const auto model = fit(rows, options);
  const std::vector<double> x = {4, 1};
  // mean 5, variance 8; k^(-2/D) = 1/4 for two classes and one normal column; mean count 1.2
  const Real a = log_univariate({1, 3}, 4, 5, 0.01L, 3, 2) + log_poisson({2, 0}, 1, 1, 1 / 1.2L) +
                 std::log(3 / 7.0L),
             b = log_univariate({5, 7, 9}, 4, 5, 0.01L, 3, 2) +
                 log_poisson({1, 3, 0}, 1, 1, 1 / 1.2L) + std::log(4 / 7.0L);
  BOOST_TEST(support::distance(copy(model->log_joint(x)), {double(a), double(b)}) < 1e-13);
  // at the posterior means: of the mean, of the precision, of the rate, of the classes
  Real at_point = 0;
  for (const Row &row : rows) {
    const bool is_b = row.label == "b";
    const Real n = is_b ? 3 : 2, mean = is_b ? 7 : 2, scatter = is_b ? 8 : 2,
               m = (0.05L + n * mean) / (0.01L + n),
               v = (2 + scatter + 0.01L * n / (0.01L + n) * (mean - 5) * (mean - 5)) / (3 + n),
               rate = (1 + (is_b ? 4 : 2)) / (1 / 1.2L + n), x0 = row.x[0], x1 = row.x[1];
    at_point += std::log((1 + n) / 7) - std::log(2 * std::acos(Real(-1)) * v) / 2 -
                (x0 - m) * (x0 - m) / (2 * v) + x1 * std::log(rate) - rate - log_gamma_of(x1 + 1);
  }
  BOOST_TEST(support::distance(model->info.log_likelihood, double(at_point)) < 1e-13);
  BOOST_TEST(model->free_parameters() == 7);
  BOOST_TEST(model->find_label("b") == 1);
  BOOST_TEST(model->find_label("c") == -1);
  const NbClass of_b = model->class_of(1);
  BOOST_TEST(of_b.rows == 3);
  BOOST_TEST(of_b.mean == 4 / 7.0);
  BOOST_TEST(std::abs(of_b.sd - std::sqrt(12.0 / 49 / 8)) < 1e-15);
}

// Columns: the label as number, as count, as category, as its text; another number in each class,
// the label but for one row, the label where it is known.
BOOST_AUTO_TEST_CASE(features_that_are_the_label_are_known) {
  const RowColumns columns = {
      {"number"}, {"count"},  {"category"}, {"text", ValueKind::label, {"1", "2", "4"}},
      {"other"},  {"almost"}, {"partly"}};
  Rows rows;
  for (const double label : {1, 2, 4})
    for (int i = 0; i < 5; ++i)
      rows.push_back({std::to_string(int(label)),
                      {label, label, label, label == 4 ? 2 : label - 1, 2 * label,
                       i == 4 && label == 2 ? 2.5 : label, i == 4 ? NAN : label},
                      0.1 * (i + 1)});
  const auto with = [](const char *covariance, const char *count) {
    return Document::object()
        .set("covariance", covariance)
        .set("likelihood",
             Document(Document::Object{{"count", count}, {"category", "categorical"}}));
  };
  const std::vector<int> diagonal = {0, 2, 3}, full = {2, 3, 0};
  BOOST_TEST(fit(rows, with("diagonal", "poisson"), columns)->copies_of_label() == diagonal);
  // Counts of which only sums are known may have another spread.
  BOOST_TEST(fit(rows, with("diagonal", "normal"), columns)->copies_of_label() ==
             (std::vector<int>{0, 1, 2, 3}));
  for (Row &row : rows) row.x[6] = 0;  // with a common covariance none may be missing
  BOOST_TEST(fit(rows, with("full", "poisson"), columns)->copies_of_label() == full);
  // Merged of parts, one of which lacks a class.
  const auto part = [&rows](std::size_t first, std::size_t end) {
    return Rows(rows.begin() + std::ptrdiff_t(first), rows.begin() + std::ptrdiff_t(end));
  };
  const auto merged = fit(part(0, 7), with("diagonal", "poisson"), columns);
  merged->merge(*fit(part(7, 15), with("diagonal", "poisson"), columns));
  BOOST_TEST(merged->copies_of_label() == diagonal);
  for (Row &row : rows) row.label = "1";
  BOOST_TEST(fit(rows, with("diagonal", "poisson"), columns)->copies_of_label().empty());
}

BOOST_AUTO_TEST_SUITE_END()
