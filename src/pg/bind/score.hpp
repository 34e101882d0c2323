// bayes_score(model, row...) and bayes_score_difference(a, b, row...): aggregates over new rows
// that tell how well models predict them. How the arguments of a row are scored is registered by
// each family; families whose models have a log density of rows need not register.
#pragma once

#include <memory>
#include <optional>

#include "data/scores.hpp"
#include "pg/bind/family_reader.hpp"

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

/// How the models of a family are scored.
struct ScoredFamily : FamilyReader<RowScorer> {
  ScoredFamily(const char *family, const char *arguments, int values, ErrorMeasure error,
               bool perplexity, Make make)
      : FamilyReader(family, make),
        arguments(arguments),
        values(values),
        error(error),
        perplexity(perplexity) {}
  /// The entry of a family; that of models of rows if it has none.
  static const ScoredFamily &of(const std::string &family);

  /// the arguments of a row, for messages, and their number
  const char *arguments;
  int values;
  ErrorMeasure error;
  /// models have a perplexity
  bool perplexity;
};

template <class S> constexpr auto make_scorer = make_reader<RowScorer, S>;

}  // namespace bayes::pg
