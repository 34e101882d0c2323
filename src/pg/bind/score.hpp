// bayes_score(model, row...) and bayes_score_difference(a, b, row...): aggregates over new rows
// that tell how well models predict them. How the arguments of a row are scored is registered by
// each family; families whose models have a log density of rows need not register.
#pragma once

#include <memory>
#include <optional>

#include "data/scores.hpp"
#include "document/model.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Scores the rows of a call site under models of one family.
class RowScorer {
 public:
  virtual ~RowScorer() = default;
  /// The score of a row; `row`: its arguments, none of which is NULL. nullopt if the model cannot
  /// score it, as a value is missing.
  virtual std::optional<Score> score(const std::shared_ptr<const Model> &model,
                                     const NullableDatum *row) = 0;
};

/// How the models of a family are scored; a static object, which registers itself.
struct ScoredFamily {
  /// Makes a scorer for rows whose arguments have these types; PostgreSQL's allocations go below
  /// the context, which outlives it.
  using Make = std::unique_ptr<RowScorer> (*)(MemoryContext, const Oid *types);
  ScoredFamily(const char *family, const char *arguments, int values, ErrorMeasure error,
               bool perplexity, Make make);
  /// The entry of a family; that of models of rows if it has none.
  static const ScoredFamily &of(const std::string &family);

  const char *family;
  /// the arguments of a row, for messages, and their number
  const char *arguments;
  int values;
  ErrorMeasure error;
  /// models have a perplexity
  bool perplexity;
  Make make;
  /// the entry that registered before
  const ScoredFamily *next;
};

template <class S> std::unique_ptr<RowScorer> make_scorer(MemoryContext context, const Oid *types) {
  return std::make_unique<S>(context, types);
}

}  // namespace bayes::pg
