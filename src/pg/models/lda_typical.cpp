// The most typical documents of each topic, among those of a query.
#include <algorithm>

#include "base/message.hpp"
#include "data/sweep.hpp"
#include "pg/models/lda.hpp"
#include "pg/models/lda_documents.hpp"
#include "pg/server/context.hpp"
#include "pg/server/server_control.hpp"
#include "topics/topic_summaries.hpp"

using namespace bayes;
using namespace bayes::pg;

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
