// A topic model as relations.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/message.hpp"
#include "pg/models/lda.hpp"
#include "pg/server/boundary.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// The model argument of a function called once.
std::unique_ptr<Model> model_argument(FunctionCallInfo fcinfo) {
  return load_model(PG_GETARG_DATUM(0), lda_family);
}

/// The marginal probability of every term: the average of its probabilities in the topics, weighted
/// by the topics' shares of tokens.
std::vector<double> marginals(const TopicModel &model) {
  std::vector<double> out(model.terms().size(), 0.0);
  for (int k = 0; k < model.size(); ++k) {
    poll_interrupts();
    const std::vector<double> topic = model.topic(k);
    for (std::size_t w = 0; w < out.size(); ++w)
      out[w] += model.weights()[std::size_t(k)] * topic[w];
  }
  return out;
}

/// exp(entropy): the number of equally probable terms that have the same entropy.
double effective_terms(std::span<const double> topic) {
  double entropy = 0;
  for (const double p : topic)
    if (p > 0) entropy -= p * std::log(p);
  return std::exp(entropy);
}

}  // namespace

std::size_t bayes::pg::top_argument(int top, const char *what) {
  if (top < 1)
    throw Error(Errc::invalid_argument,
                message("top is {}, the number of {} must be at least 1", top, what));
  return std::size_t(top);
}

std::span<const std::int32_t> bayes::pg::largest(std::span<const double> values, std::size_t top,
                                                 std::vector<std::int32_t> &order) {
  order.resize(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::ptrdiff_t(std::min(top, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&values](auto a, auto b) {
    const double x = values[std::size_t(a)], y = values[std::size_t(b)];
    return x != y ? x > y : a < b;
  });
  return {order.begin(), end};
}

void bayes::pg::emit_topics(ResultRows &result, const TopicModel &model, std::size_t top) {
  std::vector<std::int32_t> order;
  for (int k = 0; k < model.size(); ++k) {
    poll_interrupts();
    const std::vector<double> topic = model.topic(k);
    int rank = 0;
    for (const std::int32_t w : largest(topic, top, order))
      result.row({k + 1, ++rank, Cell::text(model.terms()[std::size_t(w)]), topic[std::size_t(w)]});
  }
}

/// lda_topics(model [, top int])
BAYES_FUNCTION(lda_topics) {
  ResultRows result(fcinfo);
  const std::size_t top = top_argument(PG_GETARG_INT32(1), "terms");
  const auto model = model_argument(fcinfo);
  emit_topics(result, topics(*model), top);
  return Datum(0);
}

/// lda_relevance(model, lambda float8 [, top int])
BAYES_FUNCTION(lda_relevance) {
  ResultRows result(fcinfo);
  const double lambda = PG_GETARG_FLOAT8(1);
  if (!(lambda >= 0 && lambda <= 1))
    throw Error(Errc::invalid_argument, message("lambda is {}, but must be from 0 to 1", lambda),
                "1 orders terms by their probability in the topic, 0 by how much more probable "
                "they are there than in all documents.");
  const std::size_t top = top_argument(PG_GETARG_INT32(2), "terms");
  const auto owner = model_argument(fcinfo);
  const TopicModel &model = topics(*owner);
  const std::vector<double> marginal = marginals(model);
  std::vector<std::int32_t> order;
  std::vector<double> relevance(marginal.size());
  for (int k = 0; k < model.size(); ++k) {
    poll_interrupts();
    const std::vector<double> topic = model.topic(k);
    // log(p) - (1 - lambda) log(marginal); a term of probability 0 comes last
    for (std::size_t w = 0; w < relevance.size(); ++w)
      relevance[w] = topic[w] > 0 ? std::log(topic[w]) - (1 - lambda) * std::log(marginal[w])
                                  : -std::numeric_limits<double>::infinity();
    int rank = 0;
    for (const std::int32_t w : largest(relevance, top, order))
      result.row({k + 1, ++rank, Cell::text(model.terms()[std::size_t(w)]), topic[std::size_t(w)],
                  relevance[std::size_t(w)]});
  }
  return Datum(0);
}

/// lda_topic_weights(model)
BAYES_FUNCTION(lda_topic_weights) {
  ResultRows result(fcinfo);
  const auto owner = model_argument(fcinfo);
  const TopicModel &model = topics(*owner);
  for (int k = 0; k < model.size(); ++k) {
    poll_interrupts();
    result.row({k + 1, model.weights()[std::size_t(k)], model.alpha()[std::size_t(k)], model.eta(),
                effective_terms(model.topic(k))});
  }
  return Datum(0);
}

/// lda_posterior(model)
BAYES_FUNCTION(lda_posterior) {
  ResultRows result(fcinfo);
  const auto owner = model_argument(fcinfo);
  const TopicModel &model = topics(*owner);
  for (int k = 0; k < model.size(); ++k) {
    poll_interrupts();
    const std::vector<double> posterior = model.topic_posterior(k);
    if (posterior.empty())
      throw Error(Errc::invalid_argument,
                  message("model fitted by {} has no posterior in closed form", model.info.method),
                  "The posterior of topics is Dirichlet after methods vi and svi.",
                  "lda_topics(model, top) shows the topics' probabilities.");
    for (std::size_t w = 0; w < posterior.size(); ++w) {
      if (w % 4096 == 4095) poll_interrupts();
      result.row({k + 1, Cell::text(model.terms()[w]), posterior[w]});
    }
  }
  return Datum(0);
}
