// Topic models in SQL: fits, as aggregates and over the documents of a query.

#include "pg/models/lda.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/message.hpp"
#include "data/sweep.hpp"
#include "document/option_table.hpp"
#include "fit/fit_run.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/choice.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/bind/score.hpp"
#include "pg/input/collector.hpp"
#include "pg/input/document_collector.hpp"
#include "pg/parts/documents.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/server_control.hpp"
#include "topics/lda_evaluation.hpp"
#include "topics/topic_summaries.hpp"

namespace bayes::pg {
namespace {

// Topic models in SQL: the documents of a query, and how well a model predicts documents.

constexpr const char *form_hint =
    "Select a document for each row (SELECT to_tsvector('english', body) FROM ...), a name and a "
    "document, or document, term and count.";

constexpr const char *named_form_hint =
    "Select a name and a document for each row (SELECT id, to_tsvector('english', body) FROM ...), "
    "or document, term and count.";

/// The columns of the query: a document; a name and a document; or document, term and count.
class DocumentColumns {
 public:
  explicit DocumentColumns(TupleDesc columns) : first_(columns->natts == 2) {
    if (columns->natts < 1 || columns->natts > 3)
      throw Error(Errc::invalid_argument,
                  message("query returns {} columns, but must return one to three", columns->natts),
                  {}, form_hint);
    form.values = columns->natts == 3 ? 3 : 1;
    form.type = TupleDescAttr(columns, first_)->atttypid;
    form.collation = TupleDescAttr(columns, first_)->attcollation;
    if (form.values == 1) {
      require(columns, first_, is_document_type(base(columns, first_)),
              "A document is a tsvector, an array of text, or a jsonb object of counts.");
    } else {
      const Oid term = base(columns, 1);
      require(columns, 1, term == TEXTOID || term == VARCHAROID, "A term is a text.");
      count_ = base(columns, 2);
      require(columns, 2, is_number_type(count_), "A count is a number.");
    }
  }

  ItemForm form;

  /// the column of the document
  int first() const { return first_; }
  bool named() const { return form.values == 3 || first_ == 1; }
  /// The name of a document, in the column before it, as UTF-8; nullopt for NULL or without names.
  std::optional<std::string> name(TupleTableSlot *row) {
    if (first_ == 0) return std::nullopt;
    if (!output_)
      output_ = output_function_of(TupleDescAttr(row->tts_tupleDescriptor, 0)->atttypid);
    const NullableDatum text = text_of_column(row, 0, output_);
    if (text.isnull) return std::nullopt;
    auto *const value = reinterpret_cast<struct varlena *>(DatumGetPointer(text.value));
    std::string buffer;
    return std::string(
        utf8_view({VARDATA_ANY(value), std::size_t(VARSIZE_ANY_EXHDR(value))}, buffer));
  }

  /// Valid while the row is.
  bayes::pg::Item item(TupleTableSlot *row) {
    for (int i = 0; i < form.values; ++i)
      values_[i] = {row->tts_values[first_ + i], row->tts_isnull[first_ + i]};
    if (form.values == 3 && !values_[2].isnull)
      values_[2].value = Float8GetDatum(number_of(values_[2].value, count_));
    return {values_, nullptr};
  }

 private:
  static Oid base(TupleDesc columns, int index) {
    const Oid declared = TupleDescAttr(columns, index)->atttypid;
    return guarded([declared] { return getBaseType(declared); });
  }
  static void require(TupleDesc columns, int index, bool suits, const char *expected) {
    if (suits) return;
    const Form_pg_attribute column = TupleDescAttr(columns, index);
    const Oid type = column->atttypid;
    const char *const name = guarded([type] { return format_type_be(type); });
    throw Error(Errc::invalid_argument,
                message("column \"{}\" of the query is of type {}", NameStr(column->attname), name),
                expected, form_hint);
  }

  int first_;
  Oid count_ = InvalidOid, output_ = InvalidOid;
  NullableDatum values_[3] = {};
};

/// Reads the documents of a function F(query bayes_query, ...) into `data`, which is allocated
/// below `context`; `begin` is called before the query runs. `push`: for a function that has option
/// push_down; else null.
void collect_documents(FunctionCallInfo fcinfo, MemoryContext context,
                       std::optional<FitData<DocumentCollector>> &data,
                       const std::function<void(FitData<DocumentCollector> &documents)> &begin,
                       const PushedFit *push = nullptr) {
  std::optional<DocumentColumns> columns;
  const char *const sql = query_text(fcinfo, form_hint);
  if (push) {
    PushedDocuments documents(data, push->request, [&](TupleDesc description, std::string &reason) {
      const DocumentColumns found(description);
      if (found.form.values == 3) reason = "a document may have rows on several servers";
      data.emplace(context, found.form);
      begin(*data);
      return found.first();
    });
    if (push->push.collect(fcinfo, sql, push->request, push->methods, form_hint, documents)) return;
  }
  run_query(
      sql, form_hint,
      [&](TupleDesc description) {
        columns.emplace(description);
        data.emplace(context, columns->form);
        begin(*data);
      },
      [&](TupleTableSlot *row) { data->add(columns->item(row)); });
}

/// Reads the documents of such a function one by one and passes each to `take`, with its name
/// (UTF-8) and its terms numbered as in the model. The query must return names. Documents that have
/// been read but not yet passed on are kept in `context`.
void each_named_document(FunctionCallInfo fcinfo, MemoryContext context, const TopicModel &model,
                         const DocumentCollector::Take &take) {
  std::optional<DocumentColumns> columns;
  std::optional<DocumentCollector> data;
  run_query(
      query_text(fcinfo, named_form_hint), named_form_hint,
      [&](TupleDesc description) {
        columns.emplace(description);
        if (!columns->named())
          throw Error(Errc::invalid_argument, "query returns one column",
                      "Documents must have names.", named_form_hint);
        data.emplace(context, columns->form);
        data->begin(model, take);
      },
      [&](TupleTableSlot *row) { data->add(columns->item(row), columns->name(row)); });
  data->finish();
}

}  // namespace
}  // namespace bayes::pg

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

// The most typical documents of each topic, among those of a query.

namespace {

/// Collects documents until there are enough to keep all threads busy, then infers their topics.
class Batch {
 public:
  Batch(const TopicModel &model, std::size_t top)
      : model_(model),
        max_batch_documents_(std::size_t(std::clamp(1'000'000 / model.size(), 8, 512))),
        documents_(std::int32_t(model.terms().size())),
        typical_(model.size(), top) {}

  void add(const std::optional<std::string> &name, const DocumentTerms &document) {
    names_.push_back(name);
    documents_.append(document);
    if (names_.size() >= max_batch_documents_ || documents_.totals().entries >= most_entries)
      work();
  }

  const TypicalDocuments &typical() {
    work();
    return typical_;
  }

 private:
  static constexpr std::int64_t most_entries = 1 << 20;

  /// Infers the topics of the collected documents, ranks them, and empties the batch.
  void work() {
    std::vector<DocumentTerms> all;
    for (const CorpusPiece &piece : documents_.stretch(0))
      each_document(piece, [&all](std::int64_t, const DocumentTerms &document) {
        all.push_back(document);
        return true;
      });
    std::vector<LdaProportions> found(all.size());
    const double draws = double(std::max<std::int64_t>(1, model_.stored_draws()));
    const double operations = 100.0 * double(documents_.totals().entries) * model_.size() * draws;
    run_tasks(all.size(), plan_tasks(operations, 1, control_).threads, control_,
              [&](std::size_t i, const Stop &) { found[i] = model_.proportions(all[i]); });
    for (std::size_t i = 0; i < found.size(); ++i) typical_.add(names_[i], found[i]);
    names_.clear();
    documents_.clear();
  }

  const TopicModel &model_;
  /// smaller for many topics: the results of a batch are this many times K proportions
  const std::size_t max_batch_documents_;
  ServerControl control_;
  std::vector<std::optional<std::string>> names_;
  MemoryCorpus documents_;
  TypicalDocuments typical_;
};

}  // namespace

/// lda_typical_documents(query, model, top int)
BAYES_FUNCTION(lda_typical_documents) {
  ResultRows result(fcinfo);
  if (PG_ARGISNULL(1)) throw Error(Errc::null_value, "model must not be NULL");
  if (PG_ARGISNULL(2)) throw Error(Errc::null_value, "top must not be NULL");
  const std::size_t top = top_argument(PG_GETARG_INT32(2), "documents");
  const std::unique_ptr<Model> owner = load_model(PG_GETARG_DATUM(1), lda_family);
  const TopicModel &model = topics(*owner);
  constexpr std::size_t most = 1'000'000;
  if (top > most / std::size_t(model.size()))
    throw Error(Errc::invalid_argument,
                message("top is {}, but must be at most {} for {} topics", top,
                        most / std::size_t(model.size()), model.size()));
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  Batch batch(model, top);
  each_named_document(fcinfo, context, model,
                      [&batch](const std::optional<std::string> &name,
                               const DocumentTerms &document) { batch.add(name, document); });
  const TypicalDocuments &typical = batch.typical();
  for (int k = 0; k < model.size(); ++k) {
    int rank = 0;
    for (const TypicalDocuments::Entry &entry : typical.ranked(k))
      result.row({k + 1, ++rank, *entry.name ? Cell::text(**entry.name) : Cell(), entry.proportion,
                  entry.deviation});
  }
  return Datum(0);
}

// The quality of topics: perplexity of documents, and coherence.

namespace {

Evaluation read_evaluation(const Document &options) {
  Evaluation out;
  if (options.is_null()) return out;
  OptionTable t = OptionTable::reading(options);
  t.choice("method", out.method, {"completion", "left-to-right"});
  const bool particles = out.method == "left-to-right";
  t.integer("particles", out.plan.particles, 1, 10000, particles);
  t.seed("seed", out.plan.seed);
  t.finish("method " + out.method);
  return out;
}

constexpr Role of_evaluation[] = {Role::model, Role::options};

/// Scores documents one by one as lda_perplexity does, by document completion; the units are the
/// tokens of the scored half.
class DocumentScorer final : public RowScorer {
 public:
  DocumentScorer(MemoryContext context, const Oid *types) : reader_(context, types[0]) {}
  std::optional<Score> score(const std::shared_ptr<const Model> &shared,
                             const NullableDatum *row) override {
    const TopicModel &model = topics(*shared);
    if (shared != model_) {
      draws_ = model.scoring_draws(max_scoring_draws);
      model_ = shared;
    }
    read(model, row->value);
    const HeldOut found = score_completion(
        {numbers_, counts_}, term_hashes(terms_), draws_,
        [&model](const DocumentTerms &observed, const TopicDraw &draw) {
          return model.proportions(observed, draw);
        },
        codes_);
    if (found.tokens == 0) return std::nullopt;
    return Score{found.tokens, found.log_probability, 0};
  }

 private:
  /// Numbers the terms of a document in the order of their bytes.
  void read(const TopicModel &model, Datum document) {
    std::map<std::string, double> entries;
    reader_.read(document, 0, [&entries](std::string_view term, double count) {
      entries[std::string(term)] += count;
    });
    terms_.clear();
    numbers_.clear();
    codes_.clear();
    counts_.clear();
    for (const auto &[term, count] : entries) {
      numbers_.push_back(std::int32_t(terms_.size()));
      terms_.push_back(term);
      codes_.push_back(model.code(term));
      counts_.push_back(count);
    }
  }

  DocumentReader reader_;
  /// the model that the draws are of
  std::shared_ptr<const Model> model_;
  std::vector<TopicDraw> draws_;
  /// of the document: its terms, their numbers, their numbers in the model, their counts
  std::vector<std::string> terms_;
  std::vector<std::int32_t> numbers_, codes_;
  std::vector<double> counts_;
};

const ScoredFamily scored_topics(lda_family, "document", 1, ErrorMeasure::none, true,
                                 make_scorer<DocumentScorer>);

/// The state of an aggregate that evaluates a model.
struct EvaluationState {
  EvaluationState(MemoryContext context, ItemForm form) : data(context, form) {}
  Parameters parameters;
  FitRequest request;
  Evaluation how;
  DocumentCollector data;
};

}  // namespace

/// (internal, model, document, options) -> internal, or with arguments document, term and count
/// instead of the document
BAYES_FUNCTION(lda_perplexity_transition) {
  const int values = PG_NARGS() - 3;
  const NullableDatum given[] = {fcinfo->args[1], fcinfo->args[2 + values]};
  EvaluationState *state;
  if (PG_ARGISNULL(0)) {
    ItemForm form;
    form.values = values;
    form.type = argument_type(fcinfo, 2);
    form.collation = PG_GET_COLLATION();
    state = make_in<EvaluationState>(aggregate_context(fcinfo), "pg_bayes data", form);
    state->parameters.read(of_evaluation, given);
    state->request = state->parameters.request(lda_family);
    state->how = read_evaluation(state->request.options);
    state->data.begin(topics(*state->request.start), state->how.method == "left-to-right", true);
  } else {
    state = reinterpret_cast<EvaluationState *>(PG_GETARG_POINTER(0));
    state->parameters.check_same(given);
  }
  state->data.add({&fcinfo->args[2], nullptr});
  PG_RETURN_POINTER(state);
}

BAYES_FUNCTION(lda_perplexity_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  auto &state = *reinterpret_cast<EvaluationState *>(PG_GETARG_POINTER(0));
  if (state.data.empty()) PG_RETURN_NULL();
  ServerControl control;
  state.data.arrange(control);
  const auto perplexity = evaluate_topics(topics(*state.request.start), state.data.corpus(),
                                          state.data.terms(), state.how, {}, control)
                              .perplexity();
  if (!perplexity) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*perplexity);
}

/// lda_coherence(query, model, top int)
BAYES_FUNCTION(lda_coherence) {
  ResultRows result(fcinfo);
  if (PG_ARGISNULL(1)) throw Error(Errc::null_value, "model must not be NULL");
  if (PG_ARGISNULL(2)) throw Error(Errc::null_value, "top must not be NULL");
  const int top = PG_GETARG_INT32(2);
  constexpr int max_terms = 1000;
  if (top < 2 || top > max_terms)
    throw Error(Errc::invalid_argument,
                message("top is {}, the number of terms must be from 2 to {}", top, max_terms));
  const std::unique_ptr<Model> owner = load_model(PG_GETARG_DATUM(1), lda_family);
  const TopicModel &model = topics(*owner);
  std::vector<std::vector<std::int32_t>> terms;
  std::vector<std::int32_t> order;
  for (int k = 0; k < model.size(); ++k) {
    poll_interrupts();
    const auto chosen = largest(model.topic(k), std::size_t(top), order);
    terms.emplace_back(chosen.begin(), chosen.end());
  }
  TopicCoherence coherence(std::move(terms));
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  std::optional<FitData<DocumentCollector>> data;
  collect_documents(fcinfo, context, data, [&model](FitData<DocumentCollector> &documents) {
    documents->begin(model, false);
  });
  DocumentCollector &documents = **data;
  if (documents.empty()) return Datum(0);
  ServerControl control;
  documents.arrange(control);
  Corpus &corpus = documents.corpus();
  for (std::int64_t i = 0; i < corpus.stretches(); ++i)
    for (const CorpusPiece &piece : corpus.stretch(i))
      each_document(piece, [&coherence](std::int64_t, const DocumentTerms &document) {
        poll_interrupts();
        coherence.add(document);
        return true;
      });
  for (int k = 0; k < model.size(); ++k) {
    const auto umass = coherence.umass(k), npmi = coherence.npmi(k);
    result.row({k + 1, umass ? Cell(*umass) : Cell(), npmi ? Cell(*npmi) : Cell()});
  }
  return Datum(0);
}
