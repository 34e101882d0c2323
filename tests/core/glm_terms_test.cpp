// Terms of generalized linear models that are products of columns: numbers, names, fits and stored
// models against columns made by hand, and what is refused.
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/message.hpp"
#include "binary_support.hpp"
#include "data/pass.hpp"
#include "regression/glm.hpp"
#include "regression/terms.hpp"
#include "support.hpp"

using namespace bayes;

namespace {

using Names = std::vector<std::string>;

/// The error of a call, and its message.
std::pair<Errc, std::string> error_of(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return {error.code(), error.what()};
  }
  BOOST_FAIL("accepted");
  return {};
}

/// y, a number, a boolean and two columns of labels.
const RowColumns mixed_columns = {{"age", ValueKind::number},
                                  {"old", ValueKind::boolean},
                                  {"type", ValueKind::label, {"bus", "car", "van"}},
                                  {"sex", ValueKind::label, {"f", "m"}}};

Matrix mixed_rows(int n, std::uint64_t seed) {
  Random random(seed);
  Matrix out(n, 5);
  for (Eigen::Index i = 0; i < n; ++i) {
    const double age = 5 + random.normal();
    const auto code = [&random](int labels) { return std::floor(labels * random.uniform()); };
    out.row(i) << 0, age, code(2), code(3), code(2);
    const double predictor = 0.3 * (age - 5) * (out(i, 3) == 2 ? 1 : -1) + 0.5 * out(i, 4);
    out(i, 0) = std::floor(std::exp(predictor) + random.uniform());
  }
  return out;
}

const Names mixed_entries = {"age", "type", "type:age", "sex:type", "age:age", "old:sex:age"};
const Names mixed_names = {"(intercept)",  "age",          "type=bus",       "type=van",
                           "type=bus:age", "type=van:age", "sex=m:type=bus", "sex=m:type=van",
                           "age:age",      "old:sex=m:age"};
const Document mixed_reference = Document::object().set("type", "car");

/// The terms of a row but the intercept, with car and f as references.
std::vector<double> mixed_terms(double age, double old, double type, double sex) {
  const double bus = type == 0, van = type == 2, m = sex == 1;
  return {age, bus, van, bus * age, van * age, m * bus, m * van, age * age, old * m * age};
}
std::vector<double> mixed_terms(const Matrix &x, Eigen::Index i) {
  return mixed_terms(x(i, 1), x(i, 2), x(i, 3), x(i, 4));
}

/// The rows with these terms as columns, made by hand.
Matrix rows_by_hand(const Matrix &x) {
  Matrix out(x.rows(), 10);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    out(i, 0) = x(i, 0);
    const std::vector<double> terms = mixed_terms(x, i);
    for (std::size_t j = 0; j < terms.size(); ++j) out(i, Eigen::Index(j) + 1) = terms[j];
  }
  return out;
}

Document::List entries_document(const Names &entries) { return {entries.begin(), entries.end()}; }

RegressionTerms terms_of(const RowColumns &columns, const Names &entries, int dimension = 4) {
  return RegressionTerms(columns, dimension, true, {}, {}, entries);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(glm_terms)

BOOST_AUTO_TEST_CASE(terms_are_products_of_columns) {
  const RegressionTerms terms(mixed_columns, 4, true, mixed_reference, {}, mixed_entries);
  BOOST_TEST(terms.names() == mixed_names, boost::test_tools::per_element());
  BOOST_TEST(
      terms.reference_products() == (Names{"type=car:age", "sex=f:type=bus", "sex=f:type=car",
                                           "sex=m:type=car", "sex=f:type=van", "old:sex=f:age"}),
      boost::test_tools::per_element());
  // As they come from another server, too.
  FieldWriter message;
  RegressionTerms(terms).fields(message, 5);
  const Document document = message.take();
  FieldReader reader(document);
  RegressionTerms heard;
  heard.fields(reader, 5);
  const Matrix x = mixed_rows(3 * block_rows, 4);
  for (const int rows : {1, 100, int(block_rows), 3 * int(block_rows) - 1}) {
    MemoryRows packed = support::rows_of(x.topRows(rows));
    std::vector<double> data(packed.shape().block_doubles());
    std::vector<double> block(std::size_t(terms.size()) * block_rows), again = block;
    for (int at = 0; at < rows; at += int(block_rows)) {
      const int here = std::min(rows - at, int(block_rows));
      packed.read_block(at / block_rows, data.data());
      terms.expand_block(data.data(), 1, here, block.data());
      heard.expand_block(data.data(), 1, here, again.data());
      BOOST_TEST((block == again));
      for (int b = 0; b < int(block_rows); ++b) {
        std::vector<double> expected(std::size_t(terms.size()), 0.0), found = expected;
        if (b < here) {
          expected = mixed_terms(x, at + b);
          expected.insert(expected.begin(), 1.0);
          BOOST_TEST(terms.expand(
              std::vector{x(at + b, 1), x(at + b, 2), x(at + b, 3), x(at + b, 4)}, found.data()));
          BOOST_TEST((found == expected));
        }
        for (std::size_t t = 0; t < expected.size(); ++t) found[t] = block[t * block_rows + b];
        BOOST_TEST((found == expected));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_fit_is_that_of_columns_made_by_hand) {
  const Matrix x = mixed_rows(3 * int(block_rows) + 7, 8);
  for (const char *const response : {"poisson", "gamma", "logreg", "gibbs"}) {
    const bool glm = response[0] != 'l' && response[1] != 'i';
    Matrix own = x;
    if (!glm) own.col(0) = own.col(0).cwiseMin(1.0);
    if (response[1] == 'a') own.col(0).array() += 0.5;
    Document options = Document::object();
    if (glm) options.set("response", response);
    if (response[1] == 'i') options.set("method", "gibbs").set("draws", 30).set("chains", 2);
    const GlmFamily family = glm ? GlmFamily::glm : GlmFamily::logreg;
    Control control;
    control.threads = 3;
    GlmWarnings warnings;
    MemoryRows by_hand = support::rows_of(rows_by_hand(own)), rows = support::rows_of(own);
    const auto expected = glm_fit(family, by_hand, {}, options, control, warnings);
    options.set("terms", entries_document(mixed_entries)).set("reference", mixed_reference);
    control.threads = 1;
    const auto found = glm_fit(family, rows, mixed_columns, options, control, warnings);
    BOOST_TEST(found->info.log_likelihood == expected->info.log_likelihood);
    const auto read = Model::from_bytes(found->to_bytes());
    BOOST_TEST(read->to_bytes() == found->to_bytes());
    for (const Glm *const model :
         std::array<const Glm *, 2>{found.get(), dynamic_cast<const Glm *>(read.get())}) {
      const auto a = ::binary::coefficients(*model), b = ::binary::coefficients(*expected);
      BOOST_REQUIRE(a.size() == b.size());
      for (std::size_t j = 0; j < a.size(); ++j) {
        BOOST_TEST(a[j].term == mixed_names[j]);
        BOOST_TEST((a[j].mean == b[j].mean && a[j].sd == b[j].sd));
      }
      const auto one = model->predict(std::vector{4.5, 1.0, 2.0, 1.0}, 0.9),
                 two = expected->predict(mixed_terms(4.5, 1, 2, 1), 0.9);
      BOOST_TEST((one->mean == two->mean && one->sd == two->sd && one->upper == two->upper));
      BOOST_TEST(!model->predict(std::vector{4.5, 1.0, std::nan(""), 1.0}, 0.9));
    }
    BOOST_TEST(found->info.dimension == 4);
    BOOST_TEST(found->free_parameters() == expected->free_parameters());
  }
}

BOOST_AUTO_TEST_CASE(warnings_name_products) {
  Matrix x = mixed_rows(300, 5);
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    if (x(i, 3) == 2) x(i, 4) = 0;  // no van has sex m
  MemoryRows rows = support::rows_of(x);
  Control control;
  GlmWarnings warnings;
  const Names entries = {"age", "type", "sex", "type:sex", "age:type", "age:type:sex"};
  glm_fit(GlmFamily::glm, rows, mixed_columns,
          Document::object().set("response", "poisson").set("terms", entries_document(entries)),
          control, warnings);
  BOOST_TEST(warnings.constant == (Names{"type=van:sex=m", "age:type=van:sex=m"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(contrasts_know_products_with_reference_labels) {
  const RegressionTerms terms(mixed_columns, 4, true, mixed_reference, {}, mixed_entries);
  const auto weights = [&terms](const Names &names) {
    Document given = Document::object();
    for (const std::string &name : names) given.set(name, 2);
    return contrast_weights(given, terms, std::vector<std::string>(1), {});
  };
  BOOST_TEST((weights({"age", "type=car:age"}) == weights({"age", "type=car"})));
  BOOST_TEST(weights({"age", "type=van:age"})[5] == 2);
  BOOST_TEST((weights({"sex=f:type=van"}) == std::vector<double>(10, 0.0)));
  for (const char *const name : {"age:type=car", "type=cab:age", "sex=f:type=cab"})
    BOOST_TEST((error_of([&] { weights({name}); }).first == Errc::invalid_argument));
}

BOOST_AUTO_TEST_CASE(entries_are_read_as_formulas) {
  const auto names = [](const RowColumns &columns, const Names &entries) {
    return terms_of(columns, entries).names();
  };
  const RowColumns plain = {{"a", ValueKind::number},
                            {"b", ValueKind::number},
                            {"c", ValueKind::number},
                            {"b:c", ValueKind::number},
                            {" d*", ValueKind::number}};
  const auto check = [&](const Names &entries, Names expected) {
    expected.insert(expected.begin(), "(intercept)");
    BOOST_TEST(names(plain, entries) == expected, boost::test_tools::per_element());
  };
  check({"a*b"}, {"a", "b", "a:b"});
  check({"a * c : b", "c"}, {"a", "c:b", "a:c:b", "c"});
  check({"a*b*c"}, {"a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"});
  check({"a*c", "a*b", "a"}, {"a", "c", "a:c", "b", "a:b"});
  check({"a*a"}, {"a", "a:a"});
  // The longest name wins.
  check({"b:c", "c:b", "a:b:c"}, {"b:c", "c:b", "a:b:c"});
  BOOST_TEST(terms_of(plain, {"a:b:c"})[1].size() == 2);
  check({" d*", "a: d*", " d**c"}, {" d*", "a: d*", "c", " d*:c"});
  // which must leave names apart
  BOOST_TEST((error_of([&] { names(plain, {"b:c", "b*c"}); }).first == Errc::invalid_argument));
  BOOST_TEST(names({}, {"x4", "x1:x1:x2"}) == (Names{"(intercept)", "x4", "x1:x1:x2"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(invalid_lists_are_refused) {
  const auto refused = [](const Names &entries, const std::string &what) {
    const auto [code, text] = error_of([&] { terms_of(mixed_columns, entries); });
    BOOST_TEST((code == Errc::invalid_argument));
    BOOST_TEST(text == what);
  };
  refused(
      {"age:sexx"},
      "entry \"age:sexx\" of option \"terms\" names column \"sexx\", which the rows do not have");
  for (const char *const entry : {"", ":age", "age:", "age::sex", "age**sex", "*", " "})
    refused({entry}, message("entry \"{}\" of option \"terms\" names column \"\", which the rows "
                             "do not have",
                             entry));
  refused({"age", "age"}, "entry \"age\" of option \"terms\" repeats the term \"age\"");
  refused({"age:sex", "sex : age"},
          "entry \"sex : age\" of option \"terms\" repeats the term \"sex:age\"");
  // Products of a '*' may be listed by themselves, as in R's formulas.
  BOOST_TEST(terms_of(mixed_columns, {"age*sex", "sex:age"}).size() ==
             terms_of(mixed_columns, {"age", "sex", "age:sex"}).size());
  refused({"sex:age:sex"}, "entry \"sex:age:sex\" of option \"terms\" has column \"sex\" twice");
  refused({"old:old"}, "entry \"old:old\" of option \"terms\" has column \"old\" twice");
  refused({"age:age:age:age:age:age:age:age:age"},
          "entry \"age:age:age:age:age:age:age:age:age\" of option \"terms\" has more than 8 "
          "factors");
  for (const Document &given :
       {Document("age"), Document(Document::List{}), Document(Document::List{1, "age"}),
        Document(Tensor{{1}, {1}}), Document::object()})
    BOOST_TEST((error_of([&] { listed_terms(given); }).first == Errc::invalid_argument));
  const auto [code, text] = error_of([] { listed_terms(Document::List(5001, "age")); });
  BOOST_TEST((code == Errc::too_large));
}

BOOST_AUTO_TEST_CASE(too_many_terms_are_refused_before_they_are_made) {
  RowColumns many(8);
  for (std::size_t j = 0; j < 8; ++j) {
    many[j] = {std::string(1, char('a' + j)), ValueKind::label};
    for (int label = 0; label < 3000; ++label)
      many[j].labels.push_back(std::to_string(10000 + label));
  }
  for (const char *const entry : {"a:b", "a:b:c:d:e:f:g:h", "a*b"})
    BOOST_TEST((error_of([&] { terms_of(many, {entry}); }).first == Errc::too_large));
  BOOST_TEST((error_of([&] { terms_of(many, {"a", "b"}); }).first == Errc::too_large));
  BOOST_TEST(terms_of(many, {"c"}).size() == 3000);
  // 127 products of seven columns, and 128 with each other one
  Names entries;
  for (int j = 8; j < 50; ++j) entries.push_back(message("x1*x2*x3*x4*x5*x6*x7*x{}", j));
  BOOST_TEST((error_of([&] { terms_of({}, entries, 50); }).first == Errc::too_large));
}

BOOST_AUTO_TEST_CASE(products_that_overflow_are_refused) {
  for (const bool intercept : {false, true})
    for (const double size : {1e-100, 1e100, 1e148}) {
      Matrix x = mixed_rows(50, 3).leftCols(3);
      x.col(1) *= size;
      x.col(2).array() += 1;
      x.col(0) = x.col(0).cwiseMin(1.0);
      MemoryRows rows = support::rows_of(x);
      GlmWarnings warnings;
      const auto fit = [&](const Names &entries) {
        Control control;
        return glm_fit(
            GlmFamily::logreg, rows, {},
            Document::object().set("intercept", intercept).set("terms", entries_document(entries)),
            control, warnings);
      };
      const auto model = fit({"x1", "x1:x2"});
      BOOST_TEST(Model::from_bytes(model->to_bytes())->to_bytes() == model->to_bytes());
      BOOST_TEST((error_of([&] { fit({"x1:x1"}); }).first == Errc::numeric));
      // which is infinite, or 0
      if (size > 1)
        BOOST_TEST((error_of([&] { fit({"x1:x1:x1:x1"}); }).first == Errc::numeric));
      else
        fit({"x1:x1:x1:x1", "x1"});
      BOOST_TEST(warnings.constant.size() == (size > 1 ? 0u : 1u));
    }
}

BOOST_AUTO_TEST_CASE(forged_messages_and_models_are_refused) {
  const auto heard = [](const std::vector<double> &columns, const std::vector<double> &labels,
                        const std::vector<double> &ends) {
    FieldWriter message;
    message.numbers("columns", columns);
    message.numbers("labels", labels);
    message.numbers("ends", ends);
    const Document document = message.take();
    FieldReader reader(document);
    RegressionTerms out;
    out.fields(reader, 5);
    return out.size();
  };
  BOOST_TEST(heard({3, 0, 0}, {-1, -1, 7}, {0, 1, 3}) == 3);
  const double nan = std::nan("");
  const std::vector<std::array<std::vector<double>, 3>> forged = {
      {{{}, {}, {}}},                                           // no term
      {{{1}, {-1}, {0}}},                                       // a factor of none
      {{{1}, {-1}, {2}}},                                       // more factors than there are
      {{{1, 1}, {-1, -1}, {1, 1, 2}}},                          // a second intercept
      {{{1, 1}, {-1, -1}, {2, 1}}},                             // descending
      {{{1}, {-1}, {0.5, 1}}},                                  // not whole
      {{{1}, {-1}, {nan}}},                                     //
      {{{1}, {-1}, {-1, 1}}},                                   //
      {{{4}, {-1}, {1}}},                                       // beyond the last column
      {{{-1}, {-1}, {1}}},                                      // before the first
      {{{nan}, {-1}, {1}}},                                     //
      {{{1}, {-2}, {1}}},                                       // no label
      {{{1}, {1e10}, {1}}},                                     //
      {{{1}, {-1, -1}, {1}}},                                   // more labels than columns
      {{std::vector<double>(9), std::vector<double>(9), {9}}},  // too many factors
  };
  for (const auto &[columns, labels, ends] : forged)
    BOOST_TEST((error_of([&] { heard(columns, labels, ends); }).first == Errc::invalid_binary));

  MemoryRows rows = support::rows_of(mixed_rows(50, 2));
  Control control;
  GlmWarnings warnings;
  const Document whole = glm_fit(GlmFamily::glm, rows, mixed_columns,
                                 Document::object()
                                     .set("response", "poisson")
                                     .set("terms", entries_document({"age", "age:sex"})),
                                 control, warnings)
                             ->to_document();
  for (const Document &terms :
       {Document("age"), Document(Document::List{}), Document(Document::List{"age", 1}),
        Document(Document::List{"age", "age:size"}), Document(Document::List{"age", "age"}),
        Document(Document::List{"age", "age:type"}), Document(Document::List{"age"})}) {
    Document changed = whole;
    Document options = *changed.find("options");
    changed.set("options", options.set("terms", terms));
    BOOST_TEST((error_of([&] { Model::from_document(changed); }).first == Errc::invalid_text));
  }
}

BOOST_AUTO_TEST_SUITE_END()
