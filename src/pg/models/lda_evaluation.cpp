// The quality of topics: perplexity of documents, and coherence.
#include <map>

#include "base/message.hpp"
#include "data/sweep.hpp"
#include "document/option_table.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/bind/score.hpp"
#include "pg/models/lda.hpp"
#include "pg/models/lda_documents.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/server_control.hpp"
#include "topics/topic_summaries.hpp"

using namespace bayes;
using namespace bayes::pg;

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
