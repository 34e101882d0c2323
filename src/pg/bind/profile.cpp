#include "pg/bind/profile.hpp"

#include <cmath>
#include <optional>

#include "base/message.hpp"
#include "data/drift.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/bind/sums.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

void require_same_model(const Model &first, const Model &model) {
  // A model that has left the cache is parsed anew, so its address may differ.
  if (!first.same_content(model))
    throw Error(Errc::invalid_argument, "the rows have different models", {},
                "Group the rows by the model: GROUP BY model.");
}

namespace {

/// the categories of every element; empty if it is not categorical
std::vector<std::vector<double>> categories_of(const Model &model) {
  std::vector<std::vector<double>> out(std::size_t(model.info.dimension));
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = model.categories(int(j));
  return out;
}

/// The state of the aggregate's earlier calls, or nullptr.
ProfileState *profile_state(FunctionCallInfo fcinfo) {
  return PG_ARGISNULL(0) ? nullptr : reinterpret_cast<ProfileState *>(PG_GETARG_POINTER(0));
}

/// State of a call site between its calls.
struct ProfileSite {
  ProfileSite(MemoryContext context, Oid type)
      : models(nullptr),
        rows(context, type, AbsentColumns::as_null, false),
        readers(context, {type}) {}
  ModelCache models;
  RowsOfModels rows;
  FamilyReaders<ProfileReader> readers;
};

}  // namespace
}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

/// (internal, model, row) -> internal; rows that are NULL are skipped.
BAYES_FUNCTION(bayes_profile_transition) {
  const MemoryContext context = aggregate_context(fcinfo);
  ProfileState *state = profile_state(fcinfo);
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  const Oid type = argument_type(fcinfo, 2);
  auto &site = call_site<ProfileSite>(fcinfo, type);
  const std::shared_ptr<const Model> &model = site.models.share(PG_GETARG_DATUM(1));
  ProfileReader *const reader =
      model->words().takes ? site.readers.of(model->info.family) : nullptr;
  if (model->words().response)
    throw Error(Errc::wrong_family,
                message("a model of family {} has no components to describe", model->info.family),
                {}, "bayes_coefficients(model) says how its response depends on the predictors.");
  if (!reader) model->require_rows();
  if (!state)
    state = make_in<ProfileState>(context, "pg_bayes profile", model, categories_of(*model),
                                  std::size_t(model->outcomes()));
  else
    require_same_model(*state->model, *model);
  if (reader) {
    reader->add(model, PG_GETARG_DATUM(2), *state);
  } else {
    // Missing values are kept whatever the model's options.
    const auto x = *site.rows.read(model, PG_GETARG_DATUM(2), Missing::keep);
    model->probabilities(x, state->probabilities);
    state->profile.add(x, state->probabilities);
  }
  PG_RETURN_POINTER(state);
}

/// (internal) -> bayes_profile[]
BAYES_FUNCTION(bayes_profile_final) {
  const ProfileState *const state = profile_state(fcinfo);
  if (!state) PG_RETURN_NULL();
  const RowColumns &columns = state->model->info.columns;
  const std::vector<std::string> *const symbols = state->symbols;
  CompositeArray result(fcinfo);
  for (const ProfileEntry &e : state->profile.entries()) {
    poll_interrupts();
    const RowColumn *const column = columns.empty() ? nullptr : &columns[std::size_t(e.element)];
    const bool category = !std::isnan(e.category);
    const std::string *const label = !category ? nullptr
                                     : symbols ? &(*symbols)[std::size_t(e.category)]
                                     : column  ? label_of(*column, e.category)
                                               : nullptr;
    const Cell cells[] = {e.component + 1,
                          e.element + 1,
                          column ? Cell::text(column->name) : Cell(),
                          category && !symbols ? Cell(std::int64_t(e.category)) : Cell(),
                          label ? Cell::text(*label) : Cell(),
                          e.rows,
                          Cell::or_null(e.value),
                          Cell::or_null(e.others),
                          Cell::or_null(e.difference),
                          Cell::or_null(e.effect),
                          Cell::or_null(e.missing),
                          e.rank > 0 ? Cell(e.rank) : Cell()};
    result.add(cells);
  }
  return result.finish();
}

// bayes_drift(model, row): an aggregate that compares new rows with those of the model's fit, for
// all families that take rows.

namespace {

/// The transition state: the model of all rows, and counts of these.
class DriftRows final : public Sums {
 public:
  explicit DriftRows(MemoryContext, FunctionCallInfo = nullptr) {}

  void add(FunctionCallInfo fcinfo) {
    if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) return;
    std::shared_ptr<const Model> keep;
    const auto [model, x] = incomplete_row_of_model(fcinfo, keep);
    if (!drift_)
      drift_.emplace(keep);
    else
      require_same_model(drift_->model(), model);
    drift_->add(x);
  }

  const SumsKind &kind() const override;
  void serialize(std::string &out) override {
    if (!drift_) return;
    put_bytes(out, drift_->model().to_bytes());
    out += drift_->to_bytes();
  }
  void combine(const char *at, const char *end) override {
    if (at == end) return;
    std::unique_ptr<const Model> model = Model::from_bytes(take_bytes(at, end));
    if (!drift_)
      drift_.emplace(std::move(model));
    else
      require_same_model(drift_->model(), *model);
    drift_->add_bytes({at, std::size_t(end - at)});
  }
  std::vector<DriftEntry> entries() const {
    return drift_ ? drift_->entries() : std::vector<DriftEntry>();
  }
  const RowColumns &columns() const { return drift_->model().info.columns; }

 private:
  std::optional<Drift> drift_;
};

const SumsKind drift_rows('f', "a model and counts", "compare fewer columns.",
                          make_sums<DriftRows>);
const SumsKind &DriftRows::kind() const { return drift_rows; }

}  // namespace

/// (internal, model, row) -> internal; rows that are NULL are skipped.
BAYES_FUNCTION(bayes_drift_transition) { return add_row<DriftRows>(fcinfo); }

/// (internal) -> bayes_drift[]
BAYES_FUNCTION(bayes_drift_final) {
  aggregate_context(fcinfo);
  const DriftRows *const state = state_argument<DriftRows>(fcinfo);
  const std::vector<DriftEntry> entries = state ? state->entries() : std::vector<DriftEntry>();
  if (entries.empty()) PG_RETURN_NULL();
  CompositeArray result(fcinfo);
  for (const DriftEntry &e : entries) {
    poll_interrupts();
    const bool named = e.element >= 0 && !state->columns().empty();
    const Cell cells[] = {
        e.element < 0 ? Cell() : Cell(e.element + 1),
        named ? Cell::text(state->columns()[std::size_t(e.element)].name) : Cell(),
        e.rows,
        Cell::or_null(e.distance),
        Cell::or_null(e.log_density),
        Cell::or_null(e.log_density_fit),
        Cell::or_null(e.z),
        Cell::or_null(e.p),
        Cell::or_null(e.nulls),
        Cell::or_null(e.nulls_fit),
        Cell::or_null(e.unknown),
        Cell::or_null(e.unknown_p)};
    result.add(cells);
  }
  return result.finish();
}
