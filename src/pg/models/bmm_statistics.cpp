// How well a latent class model fits rows: an aggregate, and a function of a query.
#include "base/message.hpp"
#include "mixture/bmm_bootstrap.hpp"
#include "mixture/bmm_fit_statistics.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/bind/sums.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/server_control.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

constexpr const char *bmm_family = "bmm";
constexpr Role of_statistics[] = {Role::model};

/// Rows have the columns of the model. Missing values and unknown labels are allowed.
constexpr RowCheck check = {[](const FitRequest &) {
                              return RowPolicy{.missing = Missing::keep,
                                               .max_dimension = bmm_max_dimension};
                            },
                            ColumnUse::likelihoods, UnknownLabels::missing};

/// The transition state: the model (first argument) and the rows that are compared with it.
struct ModelledRows : FitState<RowCollector> {
  ModelledRows(MemoryContext context, FunctionCallInfo fcinfo)
      : FitState(context, form_of(fcinfo)) {
    parameters.read(of_statistics, &fcinfo->args[1]);
    request(bmm_family, check);
  }
  void check_same(FunctionCallInfo fcinfo) { parameters.check_same(&fcinfo->args[1]); }
  void add(FunctionCallInfo fcinfo) {
    data.add({&fcinfo->args[2], PG_NARGS() > 3 ? &fcinfo->args[3] : nullptr});
  }

 private:
  static ItemForm form_of(FunctionCallInfo fcinfo) {
    return {.weighted = PG_NARGS() > 3, .type = argument_type(fcinfo, 2)};
  }
};

/// The row of type bmm_statistics; sets `none`, for a NULL result, if there are no rows.
Datum statistics_of(const FitRequest &request, FitData<RowCollector> &data, TupleDesc description,
                    bool &none) {
  Datum row = Datum(0);
  none = !attempt_fit(data, [&](Control &control) {
    const BmmFitStatistics s = bmm_fit_statistics(
        static_cast<const BernoulliMixture &>(*request.start), data->rows, control);
    if (s.sparse)
      report_once(
          NOTICE,
          message("g2_p is NULL: the table has {} rows for {} possible patterns", s.complete,
                  s.possible),
          message("The distribution of g2 is close to chi-squared only with {} or more rows "
                  "per pattern, that of x2 with {} or more.",
                  min_expected_g2, min_expected_x2),
          "bmm_bootstrap simulates the distribution.");
    const Cell cells[] = {s.observations,
                          s.log_likelihood,
                          request.start->free_parameters(),
                          s.bic,
                          s.aic,
                          Cell::or_null(s.entropy),
                          Cell::or_null(s.complete),
                          s.patterns ? Cell(*s.patterns) : Cell(),
                          Cell::or_null(s.possible),
                          Cell::or_null(s.df),
                          Cell::or_null(s.g2),
                          Cell::or_null(s.g2_p),
                          Cell::or_null(s.x2),
                          Cell::or_null(s.x2_p)};
    row = composite(description, cells);
  });
  return row;
}

}  // namespace

/// (internal, model bayes_model, x "any" [, weight float8]) -> internal
BAYES_FUNCTION(bmm_fit_statistics_transition) { return add_row<ModelledRows>(fcinfo); }

BAYES_FUNCTION(bmm_fit_statistics_final) {
  FitState<RowCollector> *const state = final_state<RowCollector>(fcinfo);
  if (!state) PG_RETURN_NULL();
  bool none = false;
  const Datum row =
      statistics_of(state->request(bmm_family, check), state->data, result_row(fcinfo), none);
  if (none) PG_RETURN_NULL();
  return row;
}

/// (query, model [, options])
BAYES_FUNCTION(bmm_bootstrap_query) {
  constexpr Role of_bootstrap[] = {Role::model, Role::options};
  constexpr RowCheck check_bootstrap = {[](const FitRequest &request) {
                                          read_bmm_bootstrap_options(request.options);
                                          return check.policy(request);
                                        },
                                        ColumnUse::likelihoods, UnknownLabels::missing};
  QueryRows query(fcinfo, bmm_family, check_bootstrap, of_bootstrap);
  Datum row = Datum(0);
  const TupleDesc description = result_row(fcinfo);
  const bool done = attempt_fit(query.data(), [&](Control &control) {
    const BmmBootstrap found = bmm_bootstrap(
        static_cast<const BernoulliMixture &>(*query.request.start), query.data()->rows,
        read_bmm_bootstrap_options(query.request.options), control);
    const Cell cells[] = {found.draws, found.rows, found.g2, found.g2_p, found.x2, found.x2_p};
    row = composite(description, cells);
  });
  if (!done) PG_RETURN_NULL();
  return row;
}
