// Requests for passes over rows that no fit sends, as anybody may who can call the function.
#include <cmath>
#include <limits>

#include "base/control.hpp"
#include "base/error.hpp"
#include "counts/document_parts.hpp"
#include "counts/remote_corpus.hpp"
#include "data/remote_rows.hpp"
#include "models/passes.hpp"
#include "regression/responses.hpp"
#include "support.hpp"

using namespace bayes;

BOOST_AUTO_TEST_SUITE(remote_requests)

BOOST_AUTO_TEST_CASE(damaged_requests_are_refused) {
  MemoryRows rows({2, false});
  const double x[] = {1, 2};
  rows.append(x);
  PartOfRows part{rows};
  Control control;
  const auto refused = [&](const Document &request) {
    BOOST_CHECK_THROW(answer_pass(part, request, control), Error);
  };
  refused(Document());
  refused(Document::object());
  for (const char *const kind :
       {"nothing", "local step", "sketch", "observed sums", "constant", "rows", "weighted rows",
        "categories", "product survey", "label counts", "label overlap", "glm", "glm ranges",
        "glm squares"})
    refused(pass_request(kind));
  Document scorer = Document::object();
  scorer.set("family", "normal").set("shape", "full").set("densities", true);
  scorer.set("dimension", 3).set("components", 1);
  const auto zeros = [](std::size_t n) { return numbers_document(std::vector<double>(n)); };
  scorer.set("mean", zeros(3)).set("whiten", zeros(6)).set("constant", zeros(1));
  Document request = pass_request("local step");
  request.set("scorer", scorer).set("log_weights", zeros(1)).set("allocation", "soft");
  refused(request);  // the rows have two elements
  scorer.set("dimension", 2);
  request.set("scorer", scorer);
  refused(request);  // the numbers are those of three
  scorer.set("mean", zeros(2)).set("whiten", zeros(3));
  request.set("scorer", scorer);
  answer_pass(part, request, control);
  request.set("log_weights", zeros(2));
  refused(request);
  // Values that the likelihoods of a request do not allow would be indices out of range.
  Document product = Document::object();
  product.set("family", "product").set("dimension", 2).set("components", 1);
  product.set("columns", Document::List{"categorical", "poisson"});
  product.set("categories", Tensor{{1}, {2}}).set("category_values", Tensor{{2}, {0, 1}});
  product.set("constants", zeros(2));
  for (const std::size_t terms : {2, 3, 4}) {
    product.set("terms", zeros(terms));
    request.set("scorer", product).set("log_weights", zeros(1));
    if (terms != 3) refused(request);
  }
  product.set("terms", zeros(3));
  request.set("scorer", product);
  answer_pass(part, request, control);
  product.set("categories", Tensor{{1}, {1}}).set("category_values", Tensor{{1}, {0}});
  product.set("terms", zeros(2));
  request.set("scorer", product);
  refused(request);
  // As many labels as their numbers say, also of those that have been made before.
  Document labels = pass_request("label counts");
  labels.set("k", 1);
  const auto equally = [&](std::vector<double> of) {
    labels.set("labels",
               Document::object().set("by", "nothing").set("numbers", numbers_document(of)));
  };
  for (const bool made : {false, true}) {
    equally({});
    refused(labels);
    equally({0, 0});
    refused(labels);
    equally({0});
    if (!made) answer_pass(part, labels, control);
  }
  Document numbers = pass_request("rows");
  numbers.set("before", 0);
  for (const double number : {-1.0, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    numbers.set("parts", Document::List{Document::object().set(
                             "numbers", numbers_document(std::vector<double>{number}))});
    refused(numbers);
  }
  numbers.set("parts", Document::List());  // none for this part
  refused(numbers);
  Document binary = pass_request("glm");
  binary.set("columns", numbers_document(std::vector<double>{0}));
  binary.set("labels", numbers_document(std::vector<double>{-1}));
  binary.set("ends", numbers_document(std::vector<double>{1}));
  for (const char *const key : {"centre", "scale", "u"})
    binary.set(key, numbers_document(std::vector<double>{1}));
  binary.set("curvature", false)
      .set("gradient", true)
      .set("every", 1.0)
      .set("degrees", 4.0)
      .set("levels", 4)
      .set("anchor", 1)
      .set("learned", false)
      .set("response_mean", 0.5);
  for (const char *const key : {"offset", "exposure", "trials"}) binary.set(key, -1);
  for (const ResponseFamily *const of : all_responses()) {
    // Rows that are no responses of the kind are computed with, whatever comes out.
    Document each = binary;
    each.set("response", of->name).set("link", int(of->link));
    each.set("u", numbers_document(
                      std::vector<double>(std::size_t(of->predictors(4) + of->extras(4)), 0.5)));
    BOOST_CHECK_NO_THROW(answer_pass(part, each, control));
  }
  binary.set("response", "bernoulli").set("link", 0);
  refused(Document(binary).set("response", "cauchy"));
  refused(Document(binary).set("link", 9));
  refused(Document(binary).set("offset", 7));
  refused(Document(binary).set("degrees", 0.0));
  refused(Document(binary).set("levels", 1));
  refused(Document(binary).set("anchor", 3));
  refused(Document(binary).set("learned", true));
  BOOST_CHECK_NO_THROW(
      answer_pass(part,
                  Document(binary)
                      .set("response", "student_t")
                      .set("link", int(Link::identity))
                      .set("learned", true)
                      .set("u", numbers_document(std::vector<double>{1, 0.5, 0.5})),
                  control));
  refused(Document(binary).set("response", "categorical"));
  refused(Document(binary).set("labels", numbers_document(std::vector<double>{-2})));
  refused(Document(binary).set("columns", numbers_document(std::vector<double>{1})));
  refused(Document(binary).set("ends", numbers_document(std::vector<double>{2})));
  refused(Document(binary).set("u", numbers_document(std::vector<double>{1, 2})));
}

BOOST_AUTO_TEST_CASE(texts_travel_together) {
  std::vector<std::string> texts = {"", "a", "\xC3\xA4\xC3\xB6", std::string(3000000, 'x'), ""};
  for (int i = 0; i < 200000; ++i) texts.push_back("key " + std::to_string(i));
  const Document message = PackedTexts::message(texts);
  const PackedTexts read(message);
  BOOST_TEST_REQUIRE(read.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (read[i] != texts[i]) BOOST_ERROR("text " << i);
  BOOST_TEST(PackedTexts(PackedTexts::message({})).size() == 0);
  BOOST_TEST(read.bytes() < 3e6 + 200000 * (4 + 11));
  const auto refused = [](const std::string &together, std::vector<double> sizes) {
    Document block = Document::object();
    block.set("texts", together).set("sizes", numbers_document(sizes));
    BOOST_CHECK_THROW(PackedTexts(Document(Document::List{block})), Error);
  };
  BOOST_CHECK_THROW(PackedTexts(Document::object()), Error);
  refused("abc", {1, 1});
  refused("abc", {1, 3});
  refused("abc", {-1, 4});
  refused("abc", {std::nan(""), 3});
  refused("abc", {1e300, 3});
  refused("\xC3\xA4", {1, 1});
  refused("", {1});
}

/// What has millions of parts is not written or read in one go.
BOOST_AUTO_TEST_CASE(messages_are_polled) {
  using support::polls_of;
  const std::vector<std::string> many(100000, "a key of a row"),
      large(300, std::string(10000, 'x'));
  Document texts = Document::object(), packed;
  BOOST_TEST(polls_of([&] { texts.set("texts", texts_document(many)); }) >= 20);
  BOOST_TEST(polls_of([&] { PassReader(texts).texts("texts"); }) >= 20);
  BOOST_TEST(polls_of([&] { packed = PackedTexts::message(large); }) >= 3);
  BOOST_TEST(polls_of([&] { PackedTexts{packed}; }) >= 3);
  BOOST_TEST(polls_of([&] { term_hashes(large); }) >= 3);
  Document bytes;
  BOOST_TEST(polls_of([&] { bytes = bytes_document(std::string(1 << 20, 'x')); }) >= 20);
  BOOST_TEST(polls_of([&] { bytes_of_document(bytes); }) >= 20);
}

BOOST_AUTO_TEST_SUITE_END()
