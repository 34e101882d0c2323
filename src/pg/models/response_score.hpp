// Scores and log densities of responses, the same for every regression.
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
  /// `report_unknown`: a NOTICE tells of labels that the model does not know.
  ResponseScorer(MemoryContext context, const Oid *types, bool report_unknown = false)
      : base_(guarded([types] { return getBaseType(types[0]); })),
        rows_(context, types[1], AbsentColumns::as_missing, report_unknown) {
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

/// bayes_log_density(model, response, row): its score is its log density.
template <class M, bool binary> class ResponseDensity final : public DensityReader {
 public:
  ResponseDensity(MemoryContext context, const Oid *types)
      : context_(context),
        literal_(types[0] == UNKNOWNOID),
        types_{literal_ ? binary ? BOOLOID : FLOAT8OID : types[0], types[1]} {}
  std::optional<double> log_density(const std::shared_ptr<const Model> &model, Datum response,
                                    const Datum *row) override {
    if (!row && types_[1] != UNKNOWNOID) return std::nullopt;
    if (!row) return model->log_density({});  // there is none of rows
    if (!scorer_) scorer_.emplace(context_, types_, true);
    if (literal_)
      response =
          guarded([response] { return DirectFunctionCall1(binary ? boolin : float8in, response); });
    const NullableDatum arguments[] = {{response, false}, {*row, false}};
    const auto found = scorer_->score(model, arguments);
    return found ? std::optional(found->log_density) : std::nullopt;
  }

 private:
  MemoryContext context_;
  /// The response is a literal, which has no type of its own.
  bool literal_;
  Oid types_[2];
  std::optional<ResponseScorer<M, binary>> scorer_;
};

}  // namespace bayes::pg
