// How well a generalized linear model fits the rows of a query.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "base/message.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/input/query.hpp"
#include "pg/input/response_query.hpp"
#include "pg/input/row_store.hpp"
#include "pg/models/regression.hpp"
#include "pg/server/server_control.hpp"
#include "pg/server/temporary_files.hpp"
#include "regression/glm.hpp"
#include "regression/glm_fit_statistics.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// The log odds of all rows with a yes or no: sorted, for their ranks, and as rows of a regression.
/// Both are bounded in memory.
class OddsStore {
 public:
  explicit OddsStore(MemoryContext context)
      : sorter_(context, columns, work_mem, &owner_),
        rows_(context, false) {}

  void add(double log_odds, bool yes) {
    const Datum values[] = {Float8GetDatum(log_odds), BoolGetDatum(yes)};
    const bool nulls[] = {false, false};
    sorter_.put(values, nulls);
    const double row[] = {double(yes), std::clamp(log_odds, -max_log_odds, max_log_odds)};
    rows_.append(row, 2, 1);
  }

  RowSource &rows() { return rows_; }

  /// To be called once.
  RankedOdds ranked() {
    sorter_.sort();
    RankedOdds out;
    while (TupleTableSlot *const slot = sorter_.next()) {
      poll_interrupts();
      out.add(DatumGetFloat8(slot->tts_values[0]), DatumGetBool(slot->tts_values[1]));
    }
    return out;
  }

 private:
  static constexpr SortColumn columns[] = {{FLOAT8OID, Float8LessOperator}, {BOOLOID}};

  FileOwner owner_;
  Sorter sorter_;
  RowStore rows_;
};

constexpr const char *hint_of_fitted =
    "SELECT y, a, b FROM t: the response, and the columns of the fit by their names.";

/// Adds the rows of a query, which runs as the caller.
void add_rows(const char *query, const std::shared_ptr<const Glm> &model, MemoryContext context,
              GlmFitStatistics &to) {
  const bool binary = model->response().binary(), labelled = model->labelled();
  Oid base = InvalidOid;
  ElementType label(context);
  std::optional<RowsOfModels> rows;
  read_responses(
      query, hint_of_fitted, {}, false,
      [&](const ItemForm &form) {
        base = guarded([&form] { return getBaseType(form.type); });
        if (labelled) require_label_type(form.type);
        if (labelled)
          label.use(form.type);
        else
          require_response_type(base, form.type, binary);
        rows.emplace(context, form.second_type, AbsentColumns::refused, true);
      },
      [&](const bayes::pg::Item &item) {
        const NullableDatum &response = item.values[0], &row = item.values[1];
        if (response.isnull || row.isnull) return to.leave_out();
        const auto x = rows->read(model, row.value, Missing::skip_null);
        if (!x) return to.leave_out();
        const double y = labelled ? level_of(model->levels(), label, response.value)
                                  : response_of(response.value, base, binary);
        labelled &&y < 0 ? to.leave_out() : to.add(*x, y);
      });
}

std::shared_ptr<const Glm> glm_argument(Datum value) {
  std::shared_ptr<const Model> model = load_model(value);
  if (auto out = std::dynamic_pointer_cast<const Glm>(model)) return out;
  throw Error(Errc::wrong_family,
              message("a model of family {} has no such statistics", model->info.family),
              "Generalized linear models have: glm, logreg and probit.",
              "bayes_score() says how well other models predict rows.");
}

}  // namespace

/// (query, model, level, draws): a row for each statistic
BAYES_FUNCTION(glm_fit_statistics) {
  ResultRows result(fcinfo);
  if (PG_ARGISNULL(1)) throw Error(Errc::null_value, "model must not be NULL");
  for (const auto &[at, name] : {std::pair(2, "level"), std::pair(3, "draws")})
    if (PG_ARGISNULL(at)) throw Error(Errc::null_value, message("{} must not be NULL", name));
  const double level = level_argument(fcinfo, 2);
  const std::shared_ptr<const Glm> model = glm_argument(PG_GETARG_DATUM(1));
  const char *const query = query_text(fcinfo, hint_of_fitted);
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  ServerControl control;
  std::optional<OddsStore> odds;
  if (model->response().binary()) odds.emplace(context);
  GlmFitStatistics statistics(*model, level, PG_GETARG_INT32(3), control,
                              [&odds](double log_odds, bool yes) { odds->add(log_odds, yes); });
  add_rows(query, model, context, statistics);
  std::vector<FitStatistic> all = statistics.finish();
  if (odds) {
    RankedOdds ranked = odds->ranked();
    if (const FitStatistic area = ranked.area(level); !std::isnan(area.value)) all.push_back(area);
    const auto calibration = calibration_statistics(odds->rows(), ranked, level, control);
    all.insert(all.end(), calibration.begin(), calibration.end());
  }
  for (const FitStatistic &each : all)
    result.row({Cell::text(each.name), each.value, Cell::or_null(each.lower),
                Cell::or_null(each.upper), Cell::or_null(each.expected), Cell::or_null(each.p),
                Cell::text(each.meaning)});
  return Datum(0);
}
