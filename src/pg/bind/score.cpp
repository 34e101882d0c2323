#include "pg/bind/score.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/bind/sums.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/context.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {
namespace {

/// Scores rows by their log density.
class DensityScorer final : public RowScorer {
 public:
  DensityScorer(MemoryContext context, const Oid *types)
      : rows_(context, types[0], AbsentColumns::as_missing, false) {}
  std::optional<Score> score(const std::shared_ptr<const Model> &model,
                             const NullableDatum *row) override {
    const auto x = rows_.read(model, row->value);
    if (!x) return std::nullopt;
    return Score{1, model->log_density(*x), 0};
  }

 private:
  RowsOfModels rows_;
};

const ScoredFamily models_of_rows("", "row", 1, ErrorMeasure::none, false,
                                  make_scorer<DensityScorer>);

constexpr int max_models = 2;

/// One of the models of a call site.
class ScoredModel {
 public:
  /// `types`: of the arguments of a row
  ScoredModel(MemoryContext context, const std::vector<Oid> &types)
      : models_(nullptr),
        scorers_(context, types) {}

  /// Takes the model of this call.
  void use(Datum value) {
    const std::shared_ptr<const Model> &model = models_.share(value);
    if (model == model_) return;
    model_ = model;
    family_ = &ScoredFamily::of(model->info.family);
    // A model that cannot be scored is refused by its own family, whatever the arguments.
    if (family_ == &models_of_rows) model->require_rows();
  }
  const Model &model() const { return *model_; }
  const ScoredFamily &family() const { return *family_; }

  std::optional<Score> score(const NullableDatum *row) {
    return scorers_.of(*family_).score(model_, row);
  }

 private:
  ModelCache models_;
  std::shared_ptr<const Model> model_;
  const ScoredFamily *family_ = nullptr;
  FamilyReaders<RowScorer> scorers_;
};

/// The types of the arguments of a row, which follow `models` models. Throws Error if one of them
/// is a second model.
std::vector<Oid> types_of_row(FunctionCallInfo fcinfo, int models) {
  if (models == 1 && argument_type(fcinfo, 2) == argument_type(fcinfo, 1))
    throw Error(Errc::wrong_family, "bayes_score takes one model, and a row", {},
                "Two models are compared by bayes_score_difference(a, b, row).");
  std::vector<Oid> out;
  for (int i = 1 + models; i < PG_NARGS(); ++i) out.push_back(argument_type(fcinfo, i));
  return out;
}

/// State of a call site between its calls.
struct ScoreSite {
  /// `models`: how many come before the row.
  ScoreSite(MemoryContext context, FunctionCallInfo fcinfo, int models)
      : ScoreSite(context, types_of_row(fcinfo, models), models) {}
  /// the arguments of the row
  const NullableDatum *row(FunctionCallInfo fcinfo) const { return &fcinfo->args[1 + count]; }

  ScoredModel models[max_models];
  int count, values;
  std::array<Score, max_models> scores;

 private:
  ScoreSite(MemoryContext context, const std::vector<Oid> &types, int models)
      : models{{context, types}, {context, types}},
        count(models),
        values(int(types.size())) {}
};

/// The meaning of the scores, the same for all rows of an aggregate.
struct Meaning {
  /// 0: there was no row with models
  std::int32_t models = 0;
  ErrorMeasure error = {};
  bool perplexity = false;
  std::array<char, 8> unit = {};
  bool operator==(const Meaning &) const = default;
};

/// "bayes_score(model, row)"
std::string call_of(int models, const ScoredFamily &family) {
  return message("{}{})", models == 2 ? "bayes_score_difference(a, b, " : "bayes_score(model, ",
                 family.arguments);
}

Meaning meaning_of(const ScoreSite &site) {
  const auto models = std::span(site.models).first(std::size_t(site.count));
  for (const ScoredModel &of : models)
    if (of.family().values != site.values)
      throw Error(
          Errc::wrong_family,
          message("a row given by {} {} cannot be scored by a model of family {}", site.values,
                  site.values == 1 ? "argument" : "arguments", describe(of.model().info.family)),
          {}, message("Call {}.", call_of(site.count, of.family())));
  const ScoredFamily &first = models.front().family(), &last = models.back().family();
  const char *const unit = models.front().model().words().unit,
                    *const other = models.back().model().words().unit;
  if (std::strcmp(unit, other) != 0)
    throw Error(Errc::wrong_family,
                message("models of families {} and {} cannot be compared",
                        describe(models.front().model().info.family),
                        describe(models.back().model().info.family)),
                message("One has a log density for each {}, the other for each {}.", unit, other));
  Meaning out{site.count, first.error == last.error ? first.error : ErrorMeasure::none,
              first.perplexity && last.perplexity};
  std::copy_n(unit, std::min(std::strlen(unit), out.unit.size() - 1), out.unit.begin());
  return out;
}

/// The transition state: plain data of less than a kilobyte, changed in place.
class ScoreState : public Sums {
 public:
  void add(FunctionCallInfo fcinfo, int models) {
    if (const auto scores = read(fcinfo, models))
      data_.sums.add(*scores);
    else
      ++data_.skipped;
  }
  bool remove(FunctionCallInfo fcinfo, int models) {
    const auto scores = read(fcinfo, models);
    if (!scores)
      --data_.skipped;
    else if (!data_.sums.remove(*scores))
      return false;
    if (data_.sums.rows() + data_.skipped == 0) data_ = {};
    return true;
  }
  /// No argument has to be the same in all rows.
  void check_same(FunctionCallInfo) const {}

  void serialize(std::string &out) override { put_plain(out, data_); }
  void combine(const char *at, const char *end) override;
  Datum result(TupleDesc description) const;

 protected:
  ~ScoreState() = default;

 private:
  /// The scores of the row in the arguments, valid until the next call; nullopt if it is left out.
  std::optional<std::span<const Score>> read(FunctionCallInfo fcinfo, int models);
  void require(const Meaning &meaning);

  /// the serialized state
  struct Data {
    Meaning meaning;
    ScoreSums sums;
    std::int64_t skipped = 0;
  } data_;
};

/// The scores of one model, or the differences of two.
template <int models> class ScoredRows final : public ScoreState {
 public:
  explicit ScoredRows(MemoryContext) {}
  ScoredRows(MemoryContext, FunctionCallInfo) {}
  void add(FunctionCallInfo fcinfo) { ScoreState::add(fcinfo, models); }
  bool remove(FunctionCallInfo fcinfo) { return ScoreState::remove(fcinfo, models); }
  const SumsKind &kind() const override;
};
static_assert(std::is_trivially_destructible_v<ScoredRows<1>>);

const SumsKind scores('s', "sums", "", make_sums<ScoredRows<1>>),
    differences('p', "sums", "", make_sums<ScoredRows<2>>);
template <int models> const SumsKind &ScoredRows<models>::kind() const {
  return models == 1 ? scores : differences;
}

void ScoreState::require(const Meaning &meaning) {
  if (meaning == data_.meaning) return;
  if (data_.meaning.models > 0)
    throw Error(Errc::wrong_family, "the rows of a score have models that are scored differently",
                {}, "Group the rows by the model: GROUP BY model.");
  data_.meaning = meaning;
  data_.sums = ScoreSums(meaning.models);
}

std::optional<std::span<const Score>> ScoreState::read(FunctionCallInfo fcinfo, int models) {
  auto &site = call_site<ScoreSite>(fcinfo, fcinfo, models);
  for (int m = 0; m < site.count; ++m)
    if (PG_ARGISNULL(1 + m)) return std::nullopt;
  for (int m = 0; m < site.count; ++m) site.models[m].use(PG_GETARG_DATUM(1 + m));
  require(meaning_of(site));
  const NullableDatum *const row = site.row(fcinfo);
  if (std::any_of(row, row + site.values, [](const NullableDatum &value) { return value.isnull; }))
    return std::nullopt;
  for (int m = 0; m < site.count; ++m) {
    const auto score = site.models[m].score(row);
    if (!score || std::isnan(score->log_density)) return std::nullopt;
    site.scores[std::size_t(m)] = *score;
  }
  return std::span(site.scores).first(std::size_t(site.count));
}

void ScoreState::combine(const char *at, const char *end) {
  const Data other = take_plain<Data>(at, end);
  data_.skipped += other.skipped;
  if (other.meaning.models == 0) return;
  require(other.meaning);
  data_.sums.merge(other.sums);
}

Datum ScoreState::result(TupleDesc description) const {
  const Meaning &of = data_.meaning;
  const ScoreEstimate density = data_.sums.log_density(), error = data_.sums.error(of.error),
                      perplexity = of.perplexity ? data_.sums.perplexity() : ScoreEstimate();
  const Cell cells[] = {data_.sums.rows(),
                        data_.skipped,
                        of.models > 0 ? Cell::text(of.unit.data()) : Cell(),
                        Cell::or_null(density.value),
                        Cell::or_null(density.standard_error),
                        Cell::or_null(error.value),
                        Cell::or_null(error.standard_error),
                        Cell::or_null(perplexity.value),
                        Cell::or_null(perplexity.standard_error)};
  return composite(description, cells);
}

}  // namespace

const ScoredFamily &ScoredFamily::of(const std::string &family) {
  const FamilyReader *const entry = FamilyReader::of(family);
  return entry ? static_cast<const ScoredFamily &>(*entry) : models_of_rows;
}

}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

/// (internal, model, row...) -> internal
BAYES_FUNCTION(bayes_score_transition) { return add_row<ScoredRows<1>>(fcinfo); }
BAYES_FUNCTION(bayes_score_inverse_transition) { return remove_row<ScoredRows<1>>(fcinfo); }
/// (internal, model, other model, row...) -> internal
BAYES_FUNCTION(bayes_score_difference_transition) { return add_row<ScoredRows<2>>(fcinfo); }
BAYES_FUNCTION(bayes_score_difference_inverse_transition) {
  return remove_row<ScoredRows<2>>(fcinfo);
}

/// (internal) -> bayes_scores
BAYES_FUNCTION(bayes_score_final) {
  struct Result {
    Result(MemoryContext context, FunctionCallInfo fcinfo) {
      const CurrentContext lasting(context);
      description = result_row(fcinfo);
    }
    TupleDesc description;
  };
  aggregate_context(fcinfo);
  const ScoreState *const state = state_argument<ScoreState>(fcinfo);
  if (!state) PG_RETURN_NULL();
  return state->result(call_site<Result>(fcinfo, fcinfo).description);
}
