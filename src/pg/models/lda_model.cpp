// A topic model as relations.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/message.hpp"
#include "pg/models/lda.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/context.hpp"
#include "topics/topic_summaries.hpp"

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

// Functions of a fitted topic model and a document.

namespace {

/// State kept between calls.
struct CallSite {
  CallSite(MemoryContext context, Oid type) : models(lda_family), document(context, type) {}
  ModelCache models;
  ModelDocument document;
  /// reads a second document, which may have another type
  std::optional<ModelDocument> other;
};

Oid type_of_argument(FunctionCallInfo fcinfo, int at) { return argument_type(fcinfo, at); }

/// The arguments (model, document) of a strict function.
struct ModelAndDocument {
  explicit ModelAndDocument(FunctionCallInfo fcinfo) : ModelAndDocument(fcinfo, site_of(fcinfo)) {}
  ModelAndDocument(FunctionCallInfo fcinfo, CallSite &site)
      : model(topics(site.models.get(PG_GETARG_DATUM(0)))),
        document(site.document.read(model, PG_GETARG_DATUM(1))) {}

  static CallSite &site_of(FunctionCallInfo fcinfo) {
    return call_site<CallSite>(fcinfo, type_of_argument(fcinfo, 1));
  }

  const TopicModel &model;
  DocumentTerms document;
};

Datum array_of(const std::vector<double> &values) {
  return guarded([&values] { return Cell::vector(values).to_datum(); });
}

}  // namespace

DocumentTerms ModelDocument::read(const TopicModel &model, Datum document) {
  entries_.clear();
  std::string unknown;
  bool any = false;
  reader_.read(document, 0, [&](std::string_view term, double count) {
    const std::int32_t code = model.code(term);
    if (code >= 0)
      entries_.emplace_back(code, count);
    else if (!any && !warned_)
      unknown = term;
    any = any || code < 0;
  });
  if (entries_.empty() && any && !warned_) {
    warned_ = true;
    const auto known = std::find_if(model.terms().begin(), model.terms().end(),
                                    [&model](const auto &term) { return model.code(term) >= 0; });
    report(
        WARNING, "the model knows none of the document's terms",
        message(
            "The first unknown term is \"{}\"; one term of the model is \"{}\". Unknown terms are "
            "ignored.",
            unknown, known == model.terms().end() ? "" : *known),
        "Prepare documents as for the fit, for instance with the same text search configuration.");
  }
  std::sort(entries_.begin(), entries_.end());
  terms_.clear();
  counts_.clear();
  for (const auto &[term, count] : entries_) {
    if (terms_.empty() || terms_.back() != term) {
      terms_.push_back(term);
      counts_.push_back(0);
    }
    counts_.back() += count;
  }
  return {terms_, counts_};
}

/// lda_proportions(model, document) -> float8[]
BAYES_FUNCTION(lda_proportions) {
  const ModelAndDocument given(fcinfo);
  return array_of(given.model.proportions(given.document).mean);
}

/// lda_predict(model, document) -> int: the topic with the largest expected proportion, from 1.
BAYES_FUNCTION(lda_predict) {
  const ModelAndDocument given(fcinfo);
  const std::vector<double> mean = given.model.proportions(given.document).mean;
  PG_RETURN_INT32(int(std::max_element(mean.begin(), mean.end()) - mean.begin()) + 1);
}

/// lda_top_topics(model, document, top)
BAYES_FUNCTION(lda_top_topics) {
  ResultRows result(fcinfo);
  const std::size_t top = top_argument(PG_GETARG_INT32(2), "topics");
  const ModelAndDocument given(fcinfo);
  const LdaProportions found = given.model.proportions(given.document);
  std::vector<std::int32_t> order;
  int rank = 0;
  for (const std::int32_t k : largest(found.mean, top, order))
    result.row({int(k) + 1, ++rank, found.mean[std::size_t(k)], found.deviation[std::size_t(k)]});
  return Datum(0);
}

/// lda_similarity(model, document, other) -> float8: 1 - Hellinger distance.
BAYES_FUNCTION(lda_similarity) {
  CallSite &site = ModelAndDocument::site_of(fcinfo);
  if (!site.other) site.other.emplace(fcinfo->flinfo->fn_mcxt, type_of_argument(fcinfo, 2));
  const ModelAndDocument given(fcinfo, site);
  const std::vector<double>
      p = given.model.proportions(given.document).mean,
      q = given.model.proportions(site.other->read(given.model, PG_GETARG_DATUM(2))).mean;
  PG_RETURN_FLOAT8(1 - hellinger_distance(p, q));
}
