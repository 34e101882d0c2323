// How good topics are: perplexity of documents, and coherence.
#include "base/message.hpp"
#include "data/ordered_tasks.hpp"
#include "document/option_table.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/lda.hpp"
#include "pg/bind/lda_documents.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/server/server_control.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// Thrown by what a thread is told to abandon.
struct Abandoned {};

/// The Control of a document on a thread of a sweep.
class StoppedByOthers final : public Control {
 public:
  explicit StoppedByOthers(const Stop &stop) : stop_(stop) {}
  bool pending() const noexcept override { return stop_(); }
  void poll() override {
    if (stop_()) throw Abandoned{};
  }

 private:
  const Stop &stop_;
};

/// The probabilities of all terms, topics side by side.
TermTopics probabilities_of(const TopicModel &model) {
  TermTopics out(std::int32_t(model.terms().size()), model.size());
  for (int k = 0; k < model.size(); ++k) {
    poll_interrupts();
    const std::vector<double> topic = model.topic(k);
    for (std::size_t w = 0; w < topic.size(); ++w) out.of(std::int32_t(w))[k] = topic[w];
  }
  return out;
}

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

/// The state of an aggregate that evaluates a model.
struct EvaluationState {
  EvaluationState(MemoryContext context, ItemForm form) : data(context, form) {}
  Parameters parameters;
  FitRequest request;
  Evaluation how;
  DocumentCollector data;
};

}  // namespace

HeldOut bayes::pg::evaluate(const TopicModel &model, Corpus &corpus, const Evaluation &how,
                            Control &control) {
  const TermTopics probabilities = probabilities_of(model);
  const std::vector<std::uint64_t> hashes = term_hashes(model.terms());
  const auto proportions = [&model](const DocumentTerms &observed) {
    return model.proportions(observed).mean;
  };
  const SweepPlan plan =
      plan_tasks(100.0 * double(corpus.totals().entries) * model.size(), 0, control);
  std::vector<HeldOut> slots(std::size_t(plan.slots));
  HeldOut total;
  sweep_corpus(
      corpus, plan, control,
      [&](int, int slot, const CorpusPiece &piece, const Stop &stop) {
        HeldOut &sum = slots[std::size_t(slot)];
        sum = {};
        StoppedByOthers stopped(stop);
        try {
          each_document(piece, [&](std::int64_t, const DocumentTerms &document) {
            sum.add(how.method == "completion"
                        ? score_completion(document, hashes, probabilities, proportions)
                        : score_left_to_right(document, hashes, probabilities, model.alpha(),
                                              how.plan, stopped));
            return !stop();
          });
        } catch (const Abandoned &) {
        }
      },
      [&](int slot) { total.add(slots[std::size_t(slot)]); });
  return total;
}

/// (internal, model, document [, options jsonb]) -> internal
BAYES_FUNCTION(lda_perplexity_transition) {
  const bool with_options = PG_NARGS() == 4;
  const NullableDatum given[] = {fcinfo->args[1],
                                 with_options ? fcinfo->args[3] : NullableDatum{Datum(0), true}};
  EvaluationState *state;
  if (PG_ARGISNULL(0)) {
    ItemForm form;
    form.type = guarded([fcinfo] { return get_fn_expr_argtype(fcinfo->flinfo, 2); });
    state = make_in<EvaluationState>(aggregate_context(fcinfo), "pg_bayes data", form);
    state->parameters.read(of_evaluation, given);
    state->request = state->parameters.request(lda_family);
    state->how = read_evaluation(state->request.options);
    state->data.begin(topics(*state->request.start), state->how.method == "left-to-right");
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
  const auto perplexity =
      evaluate(topics(*state.request.start), state.data.corpus(), state.how, control).perplexity();
  if (!perplexity) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*perplexity);
}

/// lda_coherence(query, model [, top int])
BAYES_FUNCTION(lda_coherence) {
  ResultRows result(fcinfo);
  if (PG_ARGISNULL(1)) throw Error(Errc::null_value, "model must not be NULL");
  int top = shown_terms;
  if (PG_NARGS() > 2) {
    if (PG_ARGISNULL(2)) throw Error(Errc::null_value, "top must not be NULL");
    top = PG_GETARG_INT32(2);
    constexpr int most = 1000;
    if (top < 2 || top > most)
      throw Error(Errc::invalid_argument,
                  message("top is {}, the number of terms must be from 2 to {}", top, most));
  }
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
  std::optional<DocumentCollector> data;
  collect_documents(fcinfo, context, data,
                    [&model](DocumentCollector &documents) { documents.begin(model, false); });
  if (data->empty()) return Datum(0);
  ServerControl control;
  data->arrange(control);
  Corpus &corpus = data->corpus();
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
