// Topic models whose topics are numbered by a start model or by a prior, and updates.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "document/members.hpp"
#include "lda_support.hpp"
#include "topics/lda.hpp"

using namespace topics;

namespace {

/// The model with these of its topics in this order, each a tenth of itself and for the rest what
/// all have in common.
Fitted blurred(const TopicModel &model, const std::vector<std::size_t> &order) {
  const std::size_t k = order.size(), v = model.terms().size();
  Document document = model.to_document();
  const auto old = [&](const char *key) { return document.find(key)->as<Tensor>()->values; };
  const std::vector<double> topics = old("topics"), weights = old("weights");
  Tensor blurred{{std::int64_t(k), std::int64_t(v)}, {}}, reordered{{std::int64_t(k)}, {}};
  for (const std::size_t j : order) {
    reordered.values.push_back(weights[j]);
    for (std::size_t w = 0; w < v; ++w) {
      double sum = 0;
      for (std::size_t i = 0; i < k; ++i) sum += topics[i * v + w];
      blurred.values.push_back(0.1 * topics[j * v + w] + 0.9 * sum / double(k));
    }
  }
  document.set("topics", blurred).set("weights", reordered);
  document.set("alpha", Tensor{{std::int64_t(k)}, std::vector<double>(k, 0.3)});
  return Fitted(dynamic_cast<TopicModel *>(bayes::Model::from_document(document).release()));
}

/// The topic that is nearest.
int nearest(const std::vector<double> &topic, const TopicModel &model) {
  int best = 0;
  double least = HUGE_VAL;
  for (int k = 0; k < model.size(); ++k) {
    const std::vector<double> other = model.topic(k);
    double sum = 0;
    for (std::size_t w = 0; w < topic.size(); ++w) sum += std::abs(topic[w] - other[w]);
    if (sum < least) least = sum, best = k;
  }
  return best;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lda_start)

BOOST_AUTO_TEST_CASE(topics_descend_in_weight_unless_their_numbering_is_fixed) {
  const Fitted model = fitted(sixty, 30, 5, {});
  BOOST_TEST(std::is_sorted(model->weights().rbegin(), model->weights().rend()));
  Document::List seeds(5);
  seeds[4] = Document(Options{{"t00000", 50}, {"t00001", 50}});
  seeds[0] = Document(Options{{"t00020", 50}});
  const Fitted seeded = fitted(sixty, 30, 5, {{"prior", prior({{"terms", seeds}})}});
  const auto likes = [&](int term) {
    int best = 0;
    for (int k = 1; k < 5; ++k)
      if (seeded->topic(k)[at(term)] > seeded->topic(best)[at(term)]) best = k;
    return best;
  };
  BOOST_TEST(likes(0) == 4);
  BOOST_TEST(likes(1) == 4);
  BOOST_TEST(likes(20) == 0);
  BOOST_TEST(message_of([&] {
               seeds[1] = Document(Options{{"tx", 1}});
               fitted(sixty, 30, 5, {{"prior", prior({{"terms", seeds}})}});
             }) == "option \"prior.terms\" names \"tx\", which is not a term of the documents");
}

BOOST_AUTO_TEST_CASE(a_fit_can_start_from_a_model) {
  const Corpus documents = synthetic(300, 30, 3, 60, 6);
  for (const char *const method : {"vi", "em"}) {
    const Fitted first =
        fitted(documents, 30, 3, {{"method", method}, {"max_iter", 1000}, {"tol", 0}});
    const Fitted again = fitted(documents, 30, 0, {{"max_iter", 1000}, {"tol", 0}}, 1, first.get());
    BOOST_TEST(method_name(again->info.method) == method);
    BOOST_TEST(distance(first->info.objective, again->info.objective) < 1e-4);
    BOOST_TEST(distance(first->info.objective, again->trace[0][0]) < 1e-3);
    for (int k = 0; k < 3; ++k) BOOST_TEST(distance(first->topic(k), again->topic(k)) < 1e-2);
  }
}

// A start model so blurred that a few iterations from it are worse than from fresh topics.
BOOST_AUTO_TEST_CASE(restarts_keep_the_numbering_of_the_start_model) {
  const Corpus documents = synthetic(300, 30, 5, 40, 6);
  for (const char *const method : {"vi", "em", "svi", "cvb0"}) {
    Options few = {{"method", method}, {"max_iter", 2}, {"tol", 0}};
    const auto with = [&few](const char *key, Document value) {
      Options out = few;
      out.emplace_back(key, std::move(value));
      return out;
    };
    const Fitted first = fitted(documents, 30, 5, with("restarts", 2)),
                 start = blurred(*first, {3, 0, 4, 1, 2}),
                 alone = fitted(documents, 30, 0, few, 1, start.get()),
                 best = fitted(documents, 30, 0, with("restarts", 3), 1, start.get());
    BOOST_TEST(best->trace.size() == 3);
    BOOST_TEST(best->trace[0] == alone->trace[0]);
    BOOST_TEST(best->info.objective > alone->info.objective, method);
    // Fresh ones know nothing of the start. (Minibatches are named by the number of the restart.)
    if (std::strcmp(method, "svi") != 0) {
      BOOST_TEST(best->info.objective == first->info.objective, method);
      for (const int restart : {0, 1})
        BOOST_TEST(best->trace[at(restart) + 1] == first->trace[at(restart)], method);
    }
    std::vector<int> names;
    for (int k = 0; k < 5; ++k) names.push_back(nearest(best->topic(k), *start));
    BOOST_TEST((names == std::vector<int>{0, 1, 2, 3, 4}), method);
    // A prior names topics too: of its own number each has its own alpha.
    const Tensor alpha{{5}, {0.1, 0.2, 0.3, 0.4, 0.5}};
    const Options given = {
        {"method", method}, {"max_iter", 2}, {"restarts", 2}, {"prior", prior({{"alpha", alpha}})}};
    BOOST_TEST(fitted(documents, 30, 0, given, 1, start.get())->alpha() == alpha.values);
  }
  const Fitted first = fitted(sixty, 30, 4, {});
  BOOST_TEST((bits(*fitted(sixty, 30, 0, {{"restarts", 1}}, 1, first.get())) ==
              bits(*fitted(sixty, 30, 0, {}, 1, first.get()))));
  BOOST_TEST(message_of([&] {
               fitted(sixty, 30, 0, {{"restarts", 2}}, 1, first.get(), true);
             }) == "option \"restarts\" does not apply to an update by method vi");
}

// Documents one after the other are worth about as much as all at once.
BOOST_AUTO_TEST_CASE(updates_use_the_posterior_as_prior) {
  const Corpus documents = synthetic(400, 40, 4, 40, 11);
  const Corpus first(documents.begin(), documents.begin() + 200),
      second(documents.begin() + 200, documents.end());
  const Options options = {{"prior", prior({{"alpha", 0.3}, {"eta", 0.1}})}};
  const Fitted one = fitted(first, 40, 4, options), all = fitted(documents, 40, 4, options);
  const Fitted both = fitted(second, 40, 0, {}, 1, one.get(), true);
  BOOST_TEST(both->eta() == 0.1);
  BOOST_TEST(both->alpha() == std::vector<double>(4, 0.3));
  std::vector<std::vector<double>> topics;
  double mass = 0, whole = 0;
  for (int k = 0; k < 4; ++k) {
    topics.push_back(all->topic(k));
    for (const double x : both->topic_posterior(k)) mass += x;
    for (const double x : all->topic_posterior(k)) whole += x;
  }
  BOOST_TEST(distance(mass, whole) < 1e-9);
  BOOST_TEST(worst_match(topics, *both) < 0.05);
  const Fitted point = fitted(first, 40, 4, {{"method", "em"}});
  BOOST_TEST(message_of([&] { fitted(second, 40, 0, {}, 1, point.get(), true); }) ==
             "this model cannot be updated: it was fitted by method em");
}

// Topics share no terms, so that after a few passes from a start model nothing moves any more until
// priors are learned, from the sixth pass on. (An update keeps the priors.)
BOOST_AUTO_TEST_CASE(a_plateau_before_priors_are_learned_is_no_convergence) {
  const Corpus documents = documents_of_separate_topics(600);
  const Corpus few(documents.begin(), documents.begin() + 100);
  for (const char *const method : {"vi", "em"})
    for (const bool update : {false, true}) {
      if (update && std::strcmp(method, "em") == 0) continue;
      const Fitted start = fitted(few, 40, 4, {{"method", method}, {"max_iter", 2}});
      const auto with = [&](double tolerance, int restarts) {
        Options options = {{"tol", tolerance}};
        if (!update) options.emplace_back("restarts", restarts);
        return fitted(documents, 40, 0, options, 1, start.get(), update);
      };
      const double best = with(1e-12, 1)->info.objective;
      for (const double tolerance : {1e-4, 1e-9, 0.0})
        for (const int restarts : {1, 3}) BOOST_TEST_CONTEXT(method << ", " << tolerance) {
            if (update && restarts > 1) continue;
            const Fitted found = with(tolerance, restarts);
            BOOST_TEST(found->info.converged);
            BOOST_TEST(std::abs(found->info.objective - best) < std::max(18000 * tolerance, 1e-6));
            if (!update) BOOST_TEST(found->alpha() != start->alpha());
          }
    }
}

BOOST_AUTO_TEST_SUITE_END()
