// Fits of topic models that are refused or stopped, and their options, from outside.
#include "document/members.hpp"
#include "lda_support.hpp"
#include "topics/lda.hpp"

using namespace topics;

namespace {

const Corpus few = synthetic(60, 30, 4, 25, 5);

}  // namespace

BOOST_AUTO_TEST_SUITE(lda_options)
BOOST_AUTO_TEST_CASE(a_fit_can_be_cancelled) {
  struct Impatient final : Control {
    int polls = 0;
    bool pending() const noexcept override { return polls > 0; }
    void poll() override {
      if (++polls > 3) throw Error(bayes::Errc::internal, "cancelled");
    }
  };
  MemoryCorpus corpus = corpus_of(few, 30);
  for (const char *const method : {"vi", "em", "svi", "cvb0"}) {
    Impatient control;
    control.threads = 2;
    const Document options(Options{{"method", method}, {"tol", 0}});
    BOOST_TEST(message_of([&] {
                 bayes::lda_fit(corpus, names(30), 4, options, nullptr, false, control);
               }) == "cancelled");
  }
}

BOOST_AUTO_TEST_CASE(fits_that_need_too_much_memory_are_refused_before_they_begin) {
  MemoryCorpus corpus = corpus_of(few, 30);
  Control control;
  control.memory = 100000;
  const auto fit = [&](const char *method, int k) {
    return message_of([&] {
      bayes::lda_fit(corpus, names(30), k, Document(Options{{"method", method}}), nullptr, false,
                     control);
    });
  };
  BOOST_TEST(fit("vi", 2000).find("fitting 2000 topics of 30 terms takes about") == 0,
             fit("vi", 2000));
  BOOST_TEST(fit("vi", 4) == "no error");
}

BOOST_AUTO_TEST_CASE(options_are_checked) {
  const auto refused = [](Options options) {
    return message_of([&] { fitted(few, 30, 3, std::move(options)); });
  };
  const auto with = [&](const char *key, Document value) {
    return refused({{"prior", prior({{key, std::move(value)}})}});
  };
  BOOST_TEST(with("alpha", 0) ==
             "option \"prior.alpha\" contains 0.0, but must be greater than 0 and at most 1000000");
  const std::string alpha =
      ", but must be a number greater than 0, an array of 3 of them, "
      "\"symmetric\" or \"asymmetric\"";
  BOOST_TEST(with("alpha", "flat") == "option \"prior.alpha\" is \"flat\"" + alpha);
  BOOST_TEST(with("alpha", Tensor{{2}, {1, 1}}) ==
             "option \"prior.alpha\" is an array of 2 numbers" + alpha);
  BOOST_TEST(with("eta", -1) ==
             "option \"prior.eta\" is -1, but must be a number greater than 0, "
             "or \"learned\"");
  BOOST_TEST(with("beta", 1).find("unknown option \"prior.beta\"") == 0);
  BOOST_TEST(
      with("terms", Document::List(2)).find("option \"prior.terms\" is an array, but must") == 0);
  BOOST_TEST(refused({{"method", "em"}, {"prior", prior({{"eta", 1}})}})
                 .find("option \"prior.eta\" does not apply to method em") == 0);
  BOOST_TEST(refused({{"batch_size", 5}}).find("option \"batch_size\" does not apply") == 0);
  BOOST_TEST(refused({{"max_share", 1.5}}) != "no error");
  BOOST_TEST(refused({{"vocabulary", 3}}).find("option \"vocabulary\" is 3") == 0);
  BOOST_TEST(message_of([] { fitted(few, 30, 0, {}); }) ==
             "k is 0, but must be a whole number from 1 to 10000");
  const bayes::LdaRowOptions rows =
      bayes::lda_check_options(2,
                               Document(Options{{"method", "gibbs"},
                                                {"min_documents", 3},
                                                {"max_share", 0.5},
                                                {"max_terms", 7},
                                                {"on_error", "null"},
                                                {"vocabulary", Document::List{"a", "b"}}}),
                               nullptr, false);
  BOOST_TEST((rows.min_documents == 3 && rows.max_terms == 7));
  BOOST_TEST(rows.max_share == 0.5);
  BOOST_TEST(rows.whole_counts);
  BOOST_TEST((rows.vocabulary == std::vector<std::string>{"a", "b"}));
}

BOOST_AUTO_TEST_CASE(options_of_a_model_can_be_used_for_a_fit) {
  for (const char *const method : {"vi", "em", "svi", "cvb0"}) {
    const Fitted a = fitted(few, 30, 3, {{"method", method}, {"max_iter", 20}});
    const Fitted b = fitted(few, 30, 3, *a->info.options.as<Document::Object>());
    b->info.given_prior = {};  // nothing was given to the other
    BOOST_TEST((bits(*a) == bits(*b)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
