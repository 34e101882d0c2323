// bayes_drift(model, row): an aggregate that compares new rows with those of the model's fit, for
// all families that take rows.
#include "data/drift.hpp"

#include <optional>

#include "pg/bind/profile.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/bind/sums.hpp"

using namespace bayes;
using namespace bayes::pg;

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
