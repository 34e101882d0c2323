// Columns of rows: as a document and back, and the likelihoods that their kinds and options give.
#include "document/row_columns.hpp"

#include <boost/test/unit_test.hpp>

#include "base/error.hpp"
#include "families/product/product_options.hpp"

using bayes::Document;
using bayes::RowColumns;
using bayes::ValueKind;

namespace {

RowColumns some_columns() {
  return {{"age", ValueKind::number},
          {"member", ValueKind::boolean},
          {"city", ValueKind::label, {"", "Oslo", "\xc3\x85rhus"}}};
}

Document with_columns(Document columns) {
  return Document::object().set("row_columns", std::move(columns));
}

std::string refusal(const Document &document, int dimension) {
  try {
    bayes::read_columns(document, dimension);
  } catch (const bayes::Error &error) {
    return error.what();
  }
  return "none";
}

std::string likelihood(const Document &given, const RowColumns &columns = some_columns()) {
  try {
    return bayes::likelihood_of_columns(given.is_null() ? nullptr : &given, columns).to_json();
  } catch (const bayes::Error &error) {
    return error.what();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(row_columns)

BOOST_AUTO_TEST_CASE(survive_being_written_and_read) {
  const RowColumns columns = some_columns();
  BOOST_TEST(
      (bayes::read_columns(with_columns(bayes::document_of_columns(columns)), 3) == columns));
  BOOST_TEST(bayes::read_columns(Document::object(), 3).empty());
}

BOOST_AUTO_TEST_CASE(are_refused_unless_they_can_be) {
  const auto changed = [](std::size_t column, const char *member, Document value) {
    Document::List list = *bayes::document_of_columns(some_columns()).as<Document::List>();
    list[column].set(member, std::move(value));
    return refusal(with_columns(list), 3);
  };
  const std::string invalid = "invalid bayes_model: member ";
  BOOST_TEST(changed(0, "name", "age") == "none");
  BOOST_TEST(changed(0, "name", "city") ==
             invalid + "\"row_columns\" has two columns named \"city\"");
  BOOST_TEST(changed(0, "kind", "text") ==
             invalid + "\"row_columns.kind\" must be number, boolean or label");
  BOOST_TEST(changed(2, "labels", Document::List{"b", "a"}) ==
             invalid +
                 "\"row_columns.labels\" contains \"a\" after \"b\", but must be in ascending "
                 "order of bytes");
  BOOST_TEST(changed(2, "labels", Document::List{"a", "a"}) != "none");
  BOOST_TEST(changed(2, "labels", Document::List{"a", 1}) != "none");
  BOOST_TEST(changed(2, "labels", Document::List{}) != "none");
  BOOST_TEST(refusal(with_columns(bayes::document_of_columns(some_columns())), 2) ==
             invalid + "\"row_columns\" must be an array of 2 columns");
  BOOST_TEST(refusal(with_columns(Document::List{1, 2}), 2) != "none");
  BOOST_TEST(refusal(with_columns("x"), 1) != "none");
}

BOOST_AUTO_TEST_CASE(are_found_by_name_or_known_by_position) {
  BOOST_TEST(bayes::find_column(some_columns(), "city") == 2);
  BOOST_TEST(bayes::find_column(some_columns(), "City") == -1);
  BOOST_TEST(!bayes::by_position(some_columns()));
  BOOST_TEST(bayes::by_position({{"f1"}, {"f2"}}));
  BOOST_TEST(!bayes::by_position({{"f2"}, {"f1"}}));
}

BOOST_AUTO_TEST_CASE(have_likelihoods_by_their_kinds_unless_options_say_otherwise) {
  const RowColumns numbers = {{"a", ValueKind::number}, {"b", ValueKind::number}};
  BOOST_TEST(likelihood({}) == R"(["normal", "bernoulli", "categorical"])");
  BOOST_TEST(likelihood({}, numbers) == R"("normal")");
  BOOST_TEST(likelihood({}, {{"a", ValueKind::boolean}}) == R"("bernoulli")");
  BOOST_TEST(likelihood("poisson") == R"(["poisson", "bernoulli", "categorical"])");
  BOOST_TEST(likelihood("poisson", numbers) == R"("poisson")");
  BOOST_TEST(likelihood(Document::List{"poisson", "normal", "categorical"}) ==
             R"(["poisson", "normal", "categorical"])");
  BOOST_TEST(likelihood(Document::List{"normal", "normal"}, numbers) == R"(["normal", "normal"])");
  BOOST_TEST(likelihood(Document::object().set("age", "exponential")) ==
             R"(["exponential", "bernoulli", "categorical"])");
  BOOST_TEST(likelihood(Document::object().set("b", "normal"), numbers) ==
             R"(["normal", "normal"])");
}

BOOST_AUTO_TEST_CASE(have_likelihoods_with_known_parameters) {
  const RowColumns numbers = {{"a", ValueKind::number}, {"b", ValueKind::number}};
  const Document gamma = Document::object().set("family", "gamma").set("shape", 2.5),
                 poisson = Document::object().set("family", "poisson");
  const std::string written = R"({"family": "gamma", "shape": 2.5})";
  BOOST_TEST(likelihood(gamma, numbers) == written);
  BOOST_TEST(likelihood(gamma) == "[" + written + R"(, "bernoulli", "categorical"])");
  BOOST_TEST(likelihood(Document::object().set("b", gamma), numbers) ==
             R"(["normal", )" + written + "]");
  // What is merged, compared and shared is equal in what is known, too.
  const bayes::ColumnSpec two{.kind = *bayes::likelihood_named("gamma"), .known = {2}},
      three{.kind = two.kind, .known = {3}};
  BOOST_TEST(two.same_likelihood(two));
  BOOST_TEST(!two.same_likelihood(three));
  // A column may be called family.
  const RowColumns family = {{"family", ValueKind::number}};
  BOOST_TEST(likelihood(poisson, family) == R"(["poisson"])");
  BOOST_TEST(likelihood(gamma, family) == written);
  BOOST_TEST(likelihood(poisson, numbers) == R"("poisson")");
}

// No family of the list refuses a method, but one may.
BOOST_AUTO_TEST_CASE(have_no_method_that_does_not_apply_to_their_family) {
  const bayes::Method refused[] = {bayes::Method::map};
  const bayes::ColumnTraits traits{.name = "zero_inflated", .unsupported_methods = refused};
  BOOST_CHECK_NO_THROW(bayes::check_method(bayes::Method::em, traits));
  try {
    bayes::check_method(bayes::Method::map, traits, "emission");
    BOOST_TEST(false);
  } catch (const bayes::Error &error) {
    BOOST_TEST(error.what() ==
               std::string("method map does not apply to emission \"zero_inflated\""));
  }
}

BOOST_AUTO_TEST_CASE(have_no_likelihood_that_cannot_be) {
  BOOST_TEST(likelihood(Document::object().set("Age", "normal")) ==
             "option \"likelihood\" names a column \"Age\", which the rows do not have");
  BOOST_TEST(likelihood(Document::object().set("city", "normal")) ==
             "option \"likelihood\" is \"normal\" for column \"city\", which has labels");
  BOOST_TEST(likelihood(Document::List{"normal", "normal"}) ==
             "option \"likelihood\" has 2 entries, but the rows have 3 elements");
  BOOST_TEST(likelihood("norml").find("must be one of") != std::string::npos);
  BOOST_TEST(likelihood(1).find("must be one of") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
