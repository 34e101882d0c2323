// Topic models in SQL: fits, as aggregates and over the documents of a query.
#include "pg/models/lda.hpp"

#include <cmath>

#include "base/message.hpp"
#include "fit/fit_run.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/choice.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/models/lda_documents.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

const TopicModel *start_of(const FitRequest &request) {
  return static_cast<const TopicModel *>(request.start.get());
}

constexpr Binding<DocumentCollector> lda = {
    .family = lda_family,
    .check =
        [](const FitRequest &request) {
          return lda_check_options(request.k, request.options, start_of(request), request.update);
        },
    .fit = [](const FitRequest &request, DocumentCollector &data,
              Control &control) -> std::unique_ptr<Model> {
      return lda_fit(data.corpus(), data.terms(), request.k, request.options, start_of(request),
                     request.update, control);
    },
};

constexpr Method pushed_methods[] = {Method::vi, Method::em};

std::unique_ptr<Model> fit_query_rows(FunctionCallInfo fcinfo, std::string *bytes) {
  FitRequest request = query_request(fcinfo, lda.family, by_k);
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  PushDown push;
  std::optional<FitData<DocumentCollector>> data;
  const PushedFit pushed{push, request, pushed_methods};
  const auto begin = [&request](FitData<DocumentCollector> &documents) {
    documents.begin(request, lda.check);
  };
  collect_documents(fcinfo, context, data, begin, &pushed);
  auto model = fit_model(lda, request, *data, bytes);
  push.end();
  return model;
}

/// Adds a document (one argument), or a row of document, term and count (three).
Datum add_documents(FunctionCallInfo fcinfo, Role model) {
  return fit_transition(fcinfo, lda, PG_NARGS() > 4 ? 3 : 1, {.model = model});
}

}  // namespace

// ---- aggregates ----

/// (internal, document, k or model [, options]) -> internal, or with arguments document, term and
/// count instead of the document
BAYES_FUNCTION(lda_fit_transition) { return add_documents(fcinfo, Role::start); }
BAYES_FUNCTION(lda_update_transition) { return add_documents(fcinfo, Role::prior); }

BAYES_FUNCTION(lda_fit_final) { return fit_final(fcinfo, lda); }

// ---- functions of a query: fit its documents, return the topics ----

/// lda_fit(query, k int [, options]), lda_topics(query, k int [, options])
BAYES_FUNCTION(lda_topics_query) {
  return show_query_fit(fcinfo, fit_query_rows, [](ResultRows &result, const Model &model) {
    emit_topics(result, topics(model), default_top_terms);
  });
}
BAYES_FUNCTION(lda_model_query) { return query_model(fcinfo, fit_query_rows); }

/// lda_select(query, ks int[] [, options]): for every k a model fitted to nine tenths of the
/// documents, and its perplexity on the held-out tenth.
BAYES_FUNCTION(lda_select) {
  ResultRows result(fcinfo);
  FitRequest request = query_request(fcinfo, lda.family, by_ks);
  if (request.ks.empty())
    throw Error(Errc::invalid_argument, "there is no k to try: the array of ks is empty");
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  PushDown push;
  std::optional<FitData<DocumentCollector>> data;
  const PushedFit pushed{push, request, pushed_methods};
  const auto begin = [&request](FitData<DocumentCollector> &documents) {
    documents.begin(request, [](const FitRequest &given) {
      LdaRowOptions options;
      for (const int k : given.ks) options = lda_check_options(k, given.options, nullptr, false);
      return options;
    });
    documents->hold_out(10);
  };
  collect_documents(fcinfo, context, data, begin, &pushed);
  attempt_fit(*data, [&](Control &control) {
    DocumentCollector &documents = **data;
    if (documents.held_out().totals().documents == 0)
      throw Error(Errc::invalid_argument,
                  message("there are {} documents, too few to choose k",
                          documents.corpus().totals().documents),
                  "Every tenth document is held out, to measure how well a model predicts it.");
    const TakeCells take = [&result](Cells cells) { result.row(cells); };
    Choice choice(request, take);
    SharedTime time(request.options, request.ks.size(), control);
    choice.run([&] {
      for (const int k : request.ks)
        time.select(
            k,
            [&] {
              return lda_fit(documents.corpus(), documents.terms(), k, request.options, nullptr,
                             false, control);
            },
            [&](const std::unique_ptr<TopicModel> model) {
              warn_of(*model);
              std::vector<Score> scores;
              const HeldOut found = evaluate_topics(*model, documents.held_out(), documents.terms(),
                                                    {}, documents.in_fit(), control, &scores);
              const auto perplexity = found.perplexity();
              const ModelInfo &info = model->info;
              const double error = sum_scores(scores).perplexity().standard_error;
              choice.add(k,
                         {"perplexity", perplexity ? -*perplexity : std::nan(""), 1,
                          "one standard error of the difference", std::move(scores)},
                         {k, perplexity ? Cell(*perplexity) : Cell(), found.tokens,
                          Cell::or_null(info.objective), info.iterations, info.converged,
                          choice.model(*model), Cell::or_null(error)});
            },
            choice.failed());
    });
  });
  push.end();
  return Datum(0);
}
