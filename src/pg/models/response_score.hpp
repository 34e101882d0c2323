// Scores of responses, the same for every regression.
#pragma once

#include <memory>
#include <optional>

#include "base/message.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/bind/score.hpp"

namespace bayes::pg {

/// Throws Error for a type that the response of a regression cannot have.
void require_response_type(Oid base, Oid type, bool binary);
/// The number of a response. Throws Error for one that is not allowed: binary ones are 0 or 1.
double response_of(Datum value, Oid base, bool binary);

/// Scores the responses of rows under models of a class with score(row, response). `binary`: the
/// response is true or false, or 1 or 0.
template <class M, bool binary> class ResponseScorer final : public RowScorer {
 public:
  ResponseScorer(MemoryContext context, const Oid *types)
      : base_(guarded([types] { return getBaseType(types[0]); })),
        rows_(context, types[1], AbsentColumns::as_missing, false) {
    require_response_type(base_, types[0], binary);
  }
  std::optional<Score> score(const std::shared_ptr<const Model> &model,
                             const NullableDatum *row) override {
    const double response = response_of(row[0].value, base_, binary);
    const auto x = rows_.read(model, row[1].value);
    if (!x) return std::nullopt;
    return static_cast<const M &>(*model).score(*x, response);
  }

 private:
  /// base type of the response
  Oid base_;
  RowsOfModels rows_;
};

}  // namespace bayes::pg
