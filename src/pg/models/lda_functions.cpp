// Functions of a fitted topic model and a document.
#include <algorithm>
#include <optional>

#include "base/message.hpp"
#include "pg/models/lda.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/context.hpp"
#include "topics/topic_summaries.hpp"

using namespace bayes;
using namespace bayes::pg;

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
