// Draws in SQL: the posterior draws of models as relations, aggregates that diagnose chains, and
// mh_sample, Metropolis sampling of a density that is an SQL function.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "conjugate/conjugate.hpp"
#include "conjugate/dirichlet_categorical.hpp"
#include "mcmc/diagnostics.hpp"
#include "mcmc/metropolis.hpp"
#include "mcmc/stored_draws.hpp"
#include "pg/bind/draws.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/bind/sums.hpp"
#include "pg/server/context.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/json.hpp"
#include "pg/values/results.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// The transition state: all draws so far, by chain, in order of arrival.
class CollectedDraws {
 public:
  CollectedDraws(MemoryContext, FunctionCallInfo) {}

  /// NULLs are refused: skipping one would shift all later draws of its chain.
  void add(FunctionCallInfo fcinfo) {
    if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
      throw Error(Errc::null_value,
                  message("{} of draw {} is NULL", PG_ARGISNULL(1) ? "value" : "chain", count_ + 1),
                  "Draws of a chain are a sequence, from which none can be left out.",
                  "To leave it out nevertheless, use FILTER (WHERE ... IS NOT NULL).");
    add(PG_GETARG_INT32(2), PG_GETARG_FLOAT8(1));
  }
  std::vector<Chain> chains() const {
    std::vector<Chain> views;
    for (const auto &[number, draws] : chains_) views.push_back({number, draws});
    return views;
  }

 private:
  void add(std::int32_t chain, double value) {
    if (count_ == max_diagnosed_draws)
      throw Error(Errc::too_large, message("more than {} draws", max_diagnosed_draws), {},
                  "Thin them, for instance by FILTER (WHERE draw % 10 = 0).");
    if (!last_ || last_->first != chain) {
      last_ = &*chains_.try_emplace(chain).first;
      if (chains_.size() > max_diagnosed_chains)
        throw Error(Errc::too_large, message("more than {} chains", max_diagnosed_chains), {},
                    "The second argument is the number of the chain, not of the draw.");
    }
    last_->second.push_back(value);
    ++count_;
  }
  std::map<std::int32_t, std::vector<double>> chains_;
  std::pair<const std::int32_t, std::vector<double>> *last_ = nullptr;
  std::size_t count_ = 0;
};

/// (internal) -> float8. Several aggregates may share the state, and rows may be added afterwards.
Datum diagnose(FunctionCallInfo fcinfo,
               std::optional<double> (*diagnostic)(std::span<const Chain>, Control &)) {
  const CollectedDraws *const state = state_argument<CollectedDraws>(fcinfo);
  if (!state) PG_RETURN_NULL();
  ServerControl control;
  const std::optional<double> value = diagnostic(state->chains(), control);
  if (!value) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*value);
}

}  // namespace

namespace {

/// The cells of bayes_draws() that name a parameter.
struct DrawnName {
  DrawnName(const Model &model, const Parameter &p) : parameter(p) {
    const ModelInfo &info = model.info;
    if (p.element >= 0)
      column = info.columns.empty() ? std::to_string(p.element + 1)
                                    : info.columns[std::size_t(p.element)].name;
    if (p.label)
      label = *p.label;
    else if (!std::isnan(p.category)) {
      const std::string *const own =
          p.element >= 0 && !info.columns.empty()
              ? label_of(info.columns[std::size_t(p.element)], p.category)
              : nullptr;
      label = own ? *own : std::to_string(std::int64_t(p.category));
    }
    Parameter named = p;
    // Those of a conjugate model are of its only component.
    if (dynamic_cast<const ConjugateModel *>(&model) ||
        dynamic_cast<const DirichletCategorical *>(&model))
      named.component = -1;
    quantity = quantity_name(named, column, label);
  }
  const Parameter &parameter;
  std::string quantity, column, label;
};

}  // namespace

std::vector<std::string> bayes::pg::names_of_quantities(const Model &model) {
  std::vector<std::string> out = model.draws.quantities;
  if (std::none_of(out.begin(), out.end(), [](const auto &each) { return each[0] == 'w'; }))
    return out;
  std::vector<std::string> coefficients;
  model.describe_parameters({}, [&coefficients](const Parameter &each) {
    if (each.label) coefficients.push_back(quantity_name(each, {}, *each.label));
  });
  // linreg does not record its intercept, which comes first.
  const Document *const intercept = model.info.options.find("intercept");
  const bool unrecorded =
      model.info.family == "linreg" && intercept && intercept->as<bool>() && *intercept->as<bool>();
  for (std::string &each : out) {
    std::size_t number = 0;
    if (each[0] != 'w' || std::sscanf(each.c_str(), "w%zu", &number) != 1) continue;
    const std::size_t at = number - (unrecorded ? 0 : 1);
    if (at < coefficients.size()) each = coefficients[at];
  }
  return out;
}

/// bayes_draws(model, draws, seed)
BAYES_FUNCTION(bayes_draws_on_request) {
  ResultRows rows(fcinfo);
  // All rows are made before the first one is read.
  constexpr int most = 1'000'000;
  const int draws = count_argument(fcinfo, 1);
  if (draws > most)
    throw Error(Errc::invalid_argument,
                message("{} draws are asked for, but one call makes at most {}", draws, most), {},
                "Call it several times, with other seeds.");
  ServerControl control;
  const PollScope scope(control);
  const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0));
  const ParameterDraws found = model->draw_parameters(std::uint64_t(PG_GETARG_INT64(2)));
  // Either each chain has stored the same number of draws, or some have one and the others none.
  const std::int64_t all = std::max(model->draws.chains, 1),
                     chains = found.stored == 0         ? 1
                              : found.stored % all == 0 ? all
                                                        : found.stored,
                     stored = found.stored / chains;
  if (found.stored > 0 && draws > stored)
    throw Error(
        Errc::invalid_argument,
        message("{} draws of each chain are asked for, but the model stores {}", draws, stored), {},
        "Ask for fewer, or fit with a larger option stored_draws.");
  const EvenlySpaced spaced(stored, draws);
  std::vector<DrawnName> names;
  for (const Parameter &each : found.parameters) names.emplace_back(*model, each);
  const auto text = [](const std::string &own) { return own.empty() ? Cell() : Cell::text(own); };
  for (int chain = 1; chain <= chains; ++chain)
    for (std::int64_t at = 0, draw = 0; draw < draws; ++at) {
      if (found.stored > 0 && !spaced.takes(at)) continue;
      control.poll();
      const std::vector<double> values = found.draw(std::uint64_t((chain - 1) * stored + at));
      ++draw;
      for (std::size_t q = 0; q < values.size(); ++q) {
        const DrawnName &name = names[q];
        const int component = name.parameter.component;
        rows.row({chain, int(draw), Cell::text(name.quantity), Cell::or_null(values[q]),
                  Cell::text(name.parameter.name), component < 0 ? Cell() : Cell(component + 1),
                  text(name.column), text(name.label)});
      }
    }
  return Datum(0);
}

BAYES_FUNCTION(bayes_draws) {
  ResultRows rows(fcinfo);
  const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0));
  const Draws &draws = model->draws;
  require_posterior_draws(*model);
  ServerControl control;
  const std::vector<std::string> names = names_of_quantities(*model);
  const double *value = draws.values.data();
  for (int chain = 1; chain <= draws.chains; ++chain)
    for (int draw = 1; draw <= draws.draws; ++draw) {
      control.poll();
      for (const std::string &quantity : names)
        rows.row({chain, draw, Cell::text(quantity), *value++});
    }
  return Datum(0);
}

/// (internal, value float8 [, chain int]) -> internal
BAYES_FUNCTION(bayes_draws_transition) { return add_row<CollectedDraws>(fcinfo); }

BAYES_FUNCTION(rhat_final) { return diagnose(fcinfo, rhat); }

BAYES_FUNCTION(ess_bulk_final) { return diagnose(fcinfo, ess_bulk); }

BAYES_FUNCTION(ess_tail_final) { return diagnose(fcinfo, ess_tail); }

BAYES_FUNCTION(mcse_final) { return diagnose(fcinfo, mcse_mean); }

// mh_sample: Metropolis sampling of a density that is an SQL function.

namespace {

constexpr int max_start_dimension = 1000;

/// Why a function cannot be a log density, as the predicate of an error message; nullptr if it can.
/// Raises.
const char *unsuitable_function(Oid function) {
  const HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) return "does not exist";
  const auto *const form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
  const char *const wrong = form->prokind != PROKIND_FUNCTION ? "is not a plain function"
                            : form->proretset                 ? "returns a set"
                            : form->pronargs != 1 || form->proargtypes.values[0] != FLOAT8ARRAYOID
                                ? "does not take one argument of type double precision[]"
                            : form->prorettype != FLOAT8OID ? "does not return double precision"
                                                            : nullptr;
  ReleaseSysCache(tuple);
  return wrong;
}

/// The point at which the density is evaluated, for the context of an error.
struct Point {
  const double *x;
  int size;
};

void add_point_context(void *argument) {
  const auto *const point = static_cast<const Point *>(argument);
  StringInfoData text;
  initStringInfo(&text);
  for (int i = 0; i < point->size && i < 20; ++i)
    appendStringInfo(&text, "%s%.17g", i > 0 ? "," : "", point->x[i]);
  errcontext("log density of mh_sample at {%s%s}", text.data, point->size > 20 ? ",..." : "");
}

/// Evaluates the SQL function at a point.
class DensityFunction {
 public:
  explicit DensityFunction(Oid function)
      : lasting_(CurrentMemoryContext, "pg_bayes density"),
        scratch_(lasting_, "pg_bayes density call") {
    guarded([this, function] { fmgr_info_cxt(function, &info_, lasting_); });
  }

  double operator()(std::span<const double> x) {
    Point point = {x.data(), int(x.size())};
    bool null = false;
    const ReadOnly read_only;
    const double value = guarded([this, &point, &null] { return call(point, null); });
    if (null)
      throw Error(Errc::null_value, message("the log density is NULL at {}", point_text(x)),
                  "It must be finite, or -Infinity outside of the support.");
    return value;
  }

 private:
  /// Raises.
  double call(Point &point, bool &null) {
    ErrorContextCallback context;
    context.callback = add_point_context;
    context.arg = &point;
    context.previous = error_context_stack;
    error_context_stack = &context;
    const MemoryContext before = MemoryContextSwitchTo(scratch_);
    double *elements;
    ArrayType *const array = new_float8_array(1, &point.size, &elements);
    std::memcpy(elements, point.x, sizeof(double) * std::size_t(point.size));
    LOCAL_FCINFO(fcinfo, 1);
    InitFunctionCallInfoData(*fcinfo, &info_, 1, InvalidOid, nullptr, nullptr);
    fcinfo->args[0].value = PointerGetDatum(array);
    fcinfo->args[0].isnull = false;
    const Datum result = FunctionCallInvoke(fcinfo);
    null = fcinfo->isnull;
    const double value = null ? 0 : DatumGetFloat8(result);
    MemoryContextSwitchTo(before);
    MemoryContextReset(scratch_);
    error_context_stack = context.previous;
    return value;
  }

  ScopedContext lasting_, scratch_;
  FmgrInfo info_ = {};
};

struct Starts {
  std::vector<double> values;
  /// number of starting points; 1: all chains share the point
  int chains = 1;
  std::size_t dimension = 0;
};

Starts starts_of(Datum datum) {
  const ArrayType *const array = guarded([datum] { return DatumGetArrayTypeP(datum); });
  const int dimensions = ARR_NDIM(array);
  if (dimensions < 1 || dimensions > 2)
    throw Error(Errc::array_shape, "start is not an array of one or two dimensions",
                "It must be one point, or an array of points, one for each chain.");
  if (guarded([array] { return array_contains_nulls(const_cast<ArrayType *>(array)); }))
    throw Error(Errc::null_value, "an element of start is NULL");
  Starts out;
  out.chains = dimensions == 2 ? ARR_DIMS(array)[0] : 1;
  out.dimension = std::size_t(ARR_DIMS(array)[dimensions - 1]);
  if (out.dimension > max_start_dimension)
    throw Error(Errc::too_large, message("start has {} elements, but may have {} at most",
                                         out.dimension, max_start_dimension));
  const auto *const values = reinterpret_cast<const double *>(ARR_DATA_PTR(array));
  out.values.assign(values, values + std::size_t(out.chains) * out.dimension);
  for (const double x : out.values)
    if (!std::isfinite(x))
      throw Error(Errc::invalid_argument,
                  message("an element of start is {}, but must be finite", x));
  return out;
}

/// rounded to three significant digits, for messages
std::string rounded(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

void report_run(const MetropolisRun &run, const MetropolisOptions &options) {
  if (run.draws < options.plan.stored() || run.short_warmup)
    report_once(
        WARNING,
        message("mh_sample is unfinished: max_seconds ended it after {} of {} draws of each "
                "chain",
                run.draws, options.plan.stored()),
        run.short_warmup ? "A warmup was cut short, too: proposals are those that it had "
                           "come to."
                         : "",
        "Raise max_seconds, or ask for fewer draws.");
  const auto [low, high] = std::minmax_element(run.acceptance.begin(), run.acceptance.end());
  const bool few = *low < 0.05;
  if (few || *high > 0.9) {
    const auto chain = (few ? low : high) - run.acceptance.begin() + 1;
    report_once(
        WARNING, message("a chain of mh_sample accepted too {} proposals", few ? "few" : "many"),
        message("After its warmup, chain {} of {} accepted {} % of its proposals. Such chains move "
                "slowly.",
                chain, run.acceptance.size(), rounded(100 * (few ? *low : *high))),
        options.adapt
            ? "Raise options warmup and draws, or set option scale to the standard deviations of "
              "the distribution."
            : message("{} option scale, or leave out option adapt.", few ? "Reduce" : "Raise"));
  }
  if (run.rhat > 1.1)
    report_once(WARNING, "the chains of mh_sample disagree",
                message("R-hat of {} is {}. The chains have not converged, or not all of them have "
                        "explored the whole distribution.",
                        run.worst == 0 ? "the log density" : message("x[{}]", run.worst),
                        rounded(run.rhat)),
                "Raise options warmup and draws, or set option scale to the standard deviations of "
                "the distribution; bayes_rhat over the draws shows R-hat of every element of x.");
}

}  // namespace

/// mh_sample(target regprocedure, start float8[] [, options jsonb])
BAYES_FUNCTION(mh_sample) {
  guarded([] { check_stack_depth(); });
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
    throw Error(Errc::null_value, PG_ARGISNULL(0) ? "target is NULL" : "start is NULL");
  const Oid function = PG_GETARG_OID(0);
  if (const char *const wrong = guarded([function] { return unsuitable_function(function); })) {
    const char *const name = guarded([function] { return format_procedure(function); });
    throw Error(Errc::invalid_argument, message("target {} {}", name, wrong),
                "It must be a function f(double precision[]) that returns double precision, the "
                "logarithm of a density.");
  }
  guarded([function] { require_execute(function); });
  const Starts starts = starts_of(PG_GETARG_DATUM(1));
  const bool has_options = !PG_ARGISNULL(2);
  const Document given = has_options ? document_of_jsonb(PG_GETARG_DATUM(2)) : Document();
  const MetropolisOptions options = MetropolisOptions::read(given, starts.dimension);
  if (starts.chains > 1 && starts.chains != options.plan.chains)
    throw Error(Errc::array_shape, message("start has {} points, but there are {} chains",
                                           starts.chains, options.plan.chains));
  ResultRows rows(fcinfo);
  DensityFunction density(function);
  ServerControl control;
  const MetropolisRun run = metropolis(
      [&](std::span<const double> x) { return density(x); }, starts.values, starts.dimension,
      options, control,
      [&](const MetropolisDraw &draw) {
        rows.row({draw.chain, draw.draw, Cell::vector(draw.x), draw.log_density, draw.accepted});
      });
  report_run(run, options);
  return Datum(0);
}
