// Topic models as documents: every member is checked.
#include <functional>

#include "document/members.hpp"
#include "lda_support.hpp"

using namespace topics;

namespace {

const Corpus documents = synthetic(30, 6, 2, 12, 5);

Fitted model_of(const char *method) {
  return fitted(documents, 6, 2, {{"method", method}, {"max_iter", 20}});
}

/// What reading says of it, or "read".
std::string refused(const Document &document) {
  try {
    bayes::Model::from_document(document);
  } catch (const Error &error) {
    BOOST_TEST((error.code() == bayes::Errc::invalid_text), error.what());
    return error.what();
  }
  return "read";
}

/// A sampled model, as no sampler is needed to read one.
Document sampled_document() {
  Document document = model_of("vi")->to_document();
  document.set("method", "gibbs");
  Tensor topics{{3, 2, 6}, {}};
  for (int i = 0; i < 36; ++i) topics.values.push_back(1 + i % 7);
  document.set("draws_of_topics", Document::object()
                                      .set("topics", std::move(topics))
                                      .set("alpha", Tensor{{3, 2}, {1, 2, 1, 2, 0.5, 0.5}})
                                      .set("eta", Tensor{{3}, {0.1, 0.2, 0.1}}));
  return document;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lda_model)

BOOST_AUTO_TEST_CASE(round_trips_through_documents_and_bytes) {
  for (const char *const method : {"vi", "em", "svi"}) {
    const Fitted model = model_of(method);
    const auto again = bayes::Model::from_bytes(model->to_bytes());
    BOOST_TEST((again->to_bytes() == model->to_bytes()));
    const auto &read = dynamic_cast<const TopicModel &>(*again);
    BOOST_TEST(read.topic(1) == model->topic(1));
    BOOST_TEST(read.alpha() == model->alpha());
    BOOST_TEST(read.eta() == model->eta());
    BOOST_TEST(read.code("t00003") == 3);
    BOOST_TEST(read.code("t") == -1);
    BOOST_TEST(read.code("") == -1);
    BOOST_TEST(read.stored_draws() == 0);
    BOOST_TEST(read.topic_posterior(0).size() == (std::string(method) == "em" ? 0U : 6U));
    const LdaProportions a = read.proportions(Packed(documents[0])),
                         b = model->proportions(Packed(documents[0]));
    BOOST_TEST(a.mean == b.mean);
  }
}

BOOST_AUTO_TEST_CASE(terms_of_probability_0_are_unknown) {
  // Term 6 is in no document.
  const Fitted em = fitted(documents, 7, 2, {{"method", "em"}, {"max_iter", 20}}),
               vi = fitted(documents, 7, 2, {{"max_iter", 20}});
  BOOST_TEST(em->topic(0)[6] == 0);
  BOOST_TEST(em->terms()[6] == "t00006");
  BOOST_TEST(em->code("t00006") == -1);
  BOOST_TEST(em->code("t00005") == 5);
  BOOST_TEST(vi->code("t00006") == 6);
  const Counts document = {{0, 2}, {3, 1}}, more = {{0, 2}, {3, 1}, {6, 5}}, only = {{6, 4}};
  BOOST_TEST(em->proportions(Packed(document)).mean == em->proportions(Packed(more)).mean);
  BOOST_TEST(em->proportions(Packed(document)).deviation ==
             em->proportions(Packed(more)).deviation);
  BOOST_TEST(em->proportions(Packed(Counts{})).mean == em->proportions(Packed(only)).mean);
  BOOST_TEST(vi->proportions(Packed(document)).deviation !=
             vi->proportions(Packed(more)).deviation);
}

BOOST_AUTO_TEST_CASE(stored_draws_are_averaged) {
  const Document document = sampled_document();
  BOOST_TEST(refused(document) == "read");
  const auto read = bayes::Model::from_document(document);
  const auto &model = dynamic_cast<const TopicModel &>(*read);
  BOOST_TEST((read->to_document().to_json() == document.to_json()));
  BOOST_TEST(model.stored_draws() == 3);
  // Of a document without terms, the priors': means 1/3, 1/3, 1/2, variances p (1 - p) / (sum + 1).
  const LdaProportions none = model.proportions(Packed(Counts{}));
  const double mean = (1.0 / 3 + 1.0 / 3 + 0.5) / 3;
  const double within = (2.0 / 9 / 4 + 2.0 / 9 / 4 + 0.25 / 2) / 3;
  const double between = (2 * std::pow(1.0 / 3 - mean, 2) + std::pow(0.5 - mean, 2)) / 3;
  BOOST_TEST(distance(none.mean[0], mean) < 1e-14);
  BOOST_TEST(distance(none.deviation[0], std::sqrt(within + between)) < 1e-14);
}

BOOST_AUTO_TEST_CASE(every_member_is_required) {
  for (const char *const method : {"vi", "em"}) {
    const Document document = model_of(method)->to_document();
    for (const auto &[key, value] : *document.as<Document::Object>()) {
      Document::Object rest;
      for (const auto &member : *document.as<Document::Object>())
        if (member.first != key) rest.push_back(member);
      // Models of earlier versions do not say how many tokens they were fitted to.
      if (key == "tokens")
        BOOST_TEST(refused(rest) == "read");
      else
        BOOST_TEST(refused(rest) == "invalid bayes_model: member \"" + key + "\" is missing");
      for (const Document &other :
           {Document("x"), Document(), Document(Tensor{{1}, {-1}}), Document(true)}) {
        if (key == "options" || (key == "converged" && other.as<bool>())) continue;
        Document changed = document;
        changed.set(key, other);
        const std::string said = refused(changed);
        BOOST_TEST((said != "read" || key == "trace"), key << " " << other.to_json());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(errors_name_invalid_members) {
  const Document vi = model_of("vi")->to_document(), em = model_of("em")->to_document();
  const auto with = [](const Document &document, const char *key, Document value) {
    Document changed = document;
    changed.set(key, std::move(value));
    const std::string said = refused(changed), start = "invalid bayes_model: member ";
    return said.find(start) == 0 ? said.substr(start.size()) : said;
  };
  Tensor topics = *vi.find("topics")->as<Tensor>();
  topics.values[3] = 0;
  BOOST_TEST(with(vi, "topics", topics) ==
             "\"topics\" contains 0.0, but its numbers must be greater than 0 and at most "
             "1000000000000000000");
  topics.shape = {6, 2};
  BOOST_TEST(with(vi, "topics", topics) ==
             "\"topics\" is an array of 6 x 2 numbers, but must be an array of 2 x 6 numbers");
  Tensor points = *em.find("topics")->as<Tensor>();
  points.values[0] += 0.01;
  BOOST_TEST(with(em, "topics", points) == "\"topics\" must have topics that sum to 1");
  points.values[0] = -0.01;
  BOOST_TEST(with(em, "topics", points) == "\"topics\" must not be negative");
  BOOST_TEST(with(vi, "weights", Tensor{{2}, {0.4, 0.5}}) == "\"weights\" must sum to 1");
  BOOST_TEST(with(vi, "weights", Tensor{{2}, {1.5, -0.5}}) == "\"weights\" must not be negative");
  BOOST_TEST(with(vi, "alpha", Tensor{{2}, {0.5, 0}}).find("\"alpha\" contains 0.0") == 0);
  BOOST_TEST(with(vi, "eta", 0) ==
             "\"eta\" is 0, but must be a finite number greater than 0.0 and "
             "at most 1000000000000000.0");
  BOOST_TEST(with(vi, "method", "map") == R"("method" is "map", which is not a method of lda)");
  BOOST_TEST(with(em, "eta", 1).find("invalid bayes_model: unknown member") == 0);
  BOOST_TEST(with(vi, "dimension", 7) == "\"terms\" must be an array of 7 terms");
  const Document::List same = {"a", "b", "b", "c", "d", "e"}, wrong = {"a", 1, "c", "d", "e", "f"};
  BOOST_TEST(with(vi, "terms", same) ==
             "\"terms\" contains \"b\" after \"b\", but must be in ascending order of bytes");
  BOOST_TEST(with(vi, "terms", wrong) == "\"terms\" contains 1, which is not a valid term");

  const auto draws = [&](const char *key, Document value) {
    Document changed = sampled_document(), inner = *changed.find("draws_of_topics");
    inner.set(key, std::move(value));
    return refused(changed.set("draws_of_topics", inner));
  };
  const std::string start = "invalid bayes_model: member \"draws_of_topics.";
  BOOST_TEST(draws("eta", Tensor{{0}, {}}) == start + "eta\" must not be empty");
  BOOST_TEST(draws("eta", Tensor{{2}, {1, 1}}).find(start + "topics\" is an array of 3 x 2 x 6") ==
             0);
  BOOST_TEST(draws("alpha", Tensor{{3, 2}, {1, 2, 1, 2, 0.5, -1}}).find(start + "alpha\"") == 0);
  BOOST_TEST(draws("more", 1).find("invalid bayes_model: unknown member") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
