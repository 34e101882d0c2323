// Conjugate models of one column in SQL.
//
// Transition states are plain data of a few hundred bytes, changed in place.
#include "conjugate/conjugate.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/message.hpp"
#include "families/parameter.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/parameters.hpp"
#include "pg/values/array_elements.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/json.hpp"
#include "pg/values/varlena.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// A transition state.
struct ConjugateState {
  ConjugateSums sums;
  ConjugatePrior prior;
  /// a hash of the options of the first row, as Parameters are no plain data
  std::uint64_t options;
  ConjugateKind kind;
};
static_assert(std::is_trivially_copyable_v<ConjugateState>);

constexpr ConjugateKind beta_bernoulli = ConjugateKind::beta_bernoulli,
                        gamma_poisson = ConjugateKind::gamma_poisson,
                        normal_inverse_gamma = ConjugateKind::normal_inverse_gamma;

/// The options argument; 0 for none, or NULL.
Datum options_argument(FunctionCallInfo fcinfo) {
  return PG_NARGS() > 2 && !PG_ARGISNULL(2) ? PG_GETARG_DATUM(2) : Datum(0);
}

std::uint64_t hash_of_options(Datum options) {
  if (!options) return 0;
  const Detoasted plain(options);
  const auto *const bytes = reinterpret_cast<const unsigned char *>(VARDATA_ANY(plain.get()));
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < VARSIZE_ANY_EXHDR(plain.get()); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

/// The state, made at the first row.
ConjugateState &state_of_row(FunctionCallInfo fcinfo, ConjugateKind kind) {
  const MemoryContext context = aggregate_context(fcinfo);
  const Datum options = options_argument(fcinfo);
  if (PG_ARGISNULL(0)) {
    ConjugateState first = {};
    first.kind = kind;
    first.options = hash_of_options(options);
    first.prior = read_conjugate_prior(kind, options ? document_of_jsonb(options) : Document());
    auto *const state = static_cast<ConjugateState *>(
        guarded([context] { return MemoryContextAlloc(context, sizeof(ConjugateState)); }));
    *state = first;
    return *state;
  }
  auto &state = *reinterpret_cast<ConjugateState *>(PG_GETARG_POINTER(0));
  if (hash_of_options(options) != state.options) refuse_change(Role::options);
  return state;
}

/// A row's value and weight.
struct Observed {
  double x = 0, weight = 1;
};

/// The row in the arguments; false if it is to be left out.
bool read_row(FunctionCallInfo fcinfo, ConjugateKind kind, std::int64_t row, Observed &out) {
  const bool weighted = PG_NARGS() > 3;
  if (PG_ARGISNULL(1) || (weighted && PG_ARGISNULL(3))) return false;
  const bool exposure = kind == gamma_poisson;
  if (weighted) {
    out.weight = PG_GETARG_FLOAT8(3);
    if (!(out.weight >= 0 && out.weight <= largest_element))
      throw Error(
          Errc::invalid_argument,
          message("{} of row {} is {}", exposure ? "exposure" : "weight", row, shown(out.weight)),
          message("It must be a number from 0 to {}.", largest_element));
    if (out.weight == 0 && !exposure) return false;
  }
  switch (kind) {
    case beta_bernoulli: out.x = PG_GETARG_BOOL(1); break;
    case gamma_poisson: {
      const std::int64_t count = PG_GETARG_INT64(1);
      if (count < 0)
        throw Error(Errc::invalid_argument,
                    message("count of row {} is {}, but must be at least 0", row, count));
      out.x = double(count);
      break;
    }
    case normal_inverse_gamma:
      out.x = PG_GETARG_FLOAT8(1);
      if (!(std::fabs(out.x) <= largest_element))
        refuse_value(out.x, message("x of row {}", row), 0);
      break;
  }
  if (out.weight == 0 && out.x > 0)
    throw Error(Errc::invalid_argument,
                message("count of row {} is {} where the exposure is 0", row, shown(out.x)));
  return out.weight > 0;
}

Datum transition_row(FunctionCallInfo fcinfo, ConjugateKind kind) {
  ConjugateState &state = state_of_row(fcinfo, kind);
  Observed row;
  if (read_row(fcinfo, kind, state.sums.rows + state.sums.skipped + 1, row))
    state.sums.add(kind, row.x, row.weight, 1);
  else
    ++state.sums.skipped;
  PG_RETURN_POINTER(&state);
}

/// Takes the first row of a moving frame away; NULL has PostgreSQL add up the frame anew.
Datum inverse_row(FunctionCallInfo fcinfo, ConjugateKind kind) {
  ConjugateState &state = state_of_row(fcinfo, kind);
  Observed row;
  if (!read_row(fcinfo, kind, 1, row))
    --state.sums.skipped;
  else if (!state.sums.add(kind, row.x, row.weight, -1))
    PG_RETURN_NULL();
  PG_RETURN_POINTER(&state);
}

Datum final_model(FunctionCallInfo fcinfo) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto &state = *reinterpret_cast<const ConjugateState *>(PG_GETARG_POINTER(0));
  if (state.sums.rows == 0) PG_RETURN_NULL();
  ConjugateModel model(state.kind, state.prior, state.sums);
  return store_model(model);
}

/// A model of this kind in an argument.
const ConjugateModel &model_argument(FunctionCallInfo fcinfo, ConjugateKind kind, int at = 0) {
  struct CallSite {
    CallSite(MemoryContext, const char *family) : models{ModelCache(family), ModelCache(family)} {}
    ModelCache models[2];
  };
  auto &site = call_site<CallSite>(fcinfo, conjugate_family(kind));
  return static_cast<const ConjugateModel &>(site.models[at].get(PG_GETARG_DATUM(at)));
}

/// A float8, NULL for a NaN.
Datum number_or_null(FunctionCallInfo fcinfo, double x) {
  if (std::isnan(x)) PG_RETURN_NULL();
  return guarded([x] { return Float8GetDatum(x); });
}

Datum number_of_model(FunctionCallInfo fcinfo, ConjugateKind kind,
                      double (ConjugateModel::*number)() const) {
  return number_or_null(fcinfo, (model_argument(fcinfo, kind).*number)());
}

Datum interval(FunctionCallInfo fcinfo, ConjugateKind kind) {
  const double level = level_argument(fcinfo);
  ResultRows rows(fcinfo);
  const ConjugateModel &model = model_argument(fcinfo, kind);
  if (!model.proper()) {
    rows.row({Cell(), Cell()});
    return Datum(0);
  }
  const Marginal q = model.marginal();
  const double tail = (1 - level) / 2;
  rows.row({Cell::or_null(q.quantile(tail)), Cell::or_null(q.upper_quantile(tail))});
  return Datum(0);
}

/// Of two models.
Datum number_of_models(FunctionCallInfo fcinfo, ConjugateKind kind,
                       double (*number)(const ConjugateModel &, const ConjugateModel &)) {
  const ConjugateModel &a = model_argument(fcinfo, kind, 0), &b = model_argument(fcinfo, kind, 1);
  return number_or_null(fcinfo, number(a, b));
}

/// (a, b [, level]) -> mean, sd, lower, upper
Datum difference(FunctionCallInfo fcinfo, ConjugateKind kind) {
  const double level = level_argument(fcinfo, 2);
  ResultRows rows(fcinfo);
  const ParameterDifference d =
      parameter_difference(model_argument(fcinfo, kind, 0), model_argument(fcinfo, kind, 1), level);
  rows.row(
      {Cell::or_null(d.mean), Cell::or_null(d.sd), Cell::or_null(d.lower), Cell::or_null(d.upper)});
  return Datum(0);
}

/// (models bayes_model[]) -> float8[]
Datum best(FunctionCallInfo fcinfo, ConjugateKind kind) {
  const OpenArray array(PG_GETARG_DATUM(0));
  if (array.dimensions() > 1)
    throw Error(Errc::array_shape,
                message("models are an array of {} dimensions", array.dimensions()));
  const int n = array.empty() ? 0 : array.size(0);
  constexpr int most = 1000;
  if (n > most) throw Error(Errc::too_large, message("more than {} models", most));
  ElementType type(CurrentMemoryContext);
  type.use(array.element_type());
  ArrayWalk walk(array, type, nullptr);
  std::vector<std::unique_ptr<Model>> owners;
  std::vector<const ConjugateModel *> models;
  for (int i = 0; i < n; ++i) {
    const NullableDatum element = walk.next();
    if (element.isnull) throw Error(Errc::null_value, message("model {} is NULL", i + 1));
    owners.push_back(load_model(element.value, conjugate_family(kind)));
    models.push_back(static_cast<const ConjugateModel *>(owners.back().get()));
  }
  const std::vector<double> probabilities = probabilities_best(models);
  return guarded([&] { return Cell::vector_with_nulls(probabilities).to_datum(); });
}

Datum log_density(FunctionCallInfo fcinfo, ConjugateKind kind) {
  const ConjugateModel &model = model_argument(fcinfo, kind);
  double x = 0, exposure = 1;
  if (kind == beta_bernoulli) {
    x = PG_GETARG_BOOL(1);
  } else if (kind == gamma_poisson) {
    x = double(PG_GETARG_INT64(1));
    if (PG_NARGS() > 2) exposure = PG_GETARG_FLOAT8(2);
    if (!(exposure > 0 && exposure <= largest_element))
      throw Error(Errc::invalid_argument,
                  message("exposure is {}, but must be positive", shown(exposure)));
    if (x < 0) return guarded([] { return Float8GetDatum(-HUGE_VAL); });
  } else {
    x = PG_GETARG_FLOAT8(1);
    if (!(std::fabs(x) <= largest_element)) refuse_value(x, "x", 0);
  }
  return number_or_null(fcinfo, model.log_predictive(x, exposure));
}

}  // namespace

// ---- states of all families ----

/// (internal, internal) -> internal
BAYES_FUNCTION(conjugate_combine) {
  const MemoryContext context = aggregate_context(fcinfo);
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    PG_RETURN_POINTER(PG_GETARG_POINTER(0));
  }
  const auto &other = *reinterpret_cast<const ConjugateState *>(PG_GETARG_POINTER(1));
  if (PG_ARGISNULL(0)) {
    auto *const state = static_cast<ConjugateState *>(
        guarded([context] { return MemoryContextAlloc(context, sizeof(ConjugateState)); }));
    *state = other;
    PG_RETURN_POINTER(state);
  }
  auto &state = *reinterpret_cast<ConjugateState *>(PG_GETARG_POINTER(0));
  if (other.options != state.options) refuse_change(Role::options);
  state.sums.add(state.kind, other.sums);
  PG_RETURN_POINTER(&state);
}

/// (internal) -> bytea
BAYES_FUNCTION(conjugate_serialize) {
  aggregate_context(fcinfo);
  return new_varlena({static_cast<const char *>(PG_GETARG_POINTER(0)), sizeof(ConjugateState)});
}

/// (bytea, internal) -> internal
BAYES_FUNCTION(conjugate_deserialize) {
  aggregate_context(fcinfo);
  return guarded([fcinfo] {
    const bytea *const bytes = PG_GETARG_BYTEA_PP(0);
    if (VARSIZE_ANY_EXHDR(bytes) != sizeof(ConjugateState))
      elog(ERROR, "pg_bayes: a partial state has another size");
    void *const state = palloc(sizeof(ConjugateState));
    std::memcpy(state, VARDATA_ANY(bytes), sizeof(ConjugateState));
    return PointerGetDatum(state);
  });
}

/// (internal) -> bayes_model
BAYES_FUNCTION(conjugate_final) { return final_model(fcinfo); }

// ---- functions of each family ----

#define BAYES_CONJUGATE(name)                                                                    \
  BAYES_FUNCTION(name##_fit_transition) { return transition_row(fcinfo, name); }                 \
  BAYES_FUNCTION(name##_fit_inverse_transition) { return inverse_row(fcinfo, name); }            \
  BAYES_FUNCTION(name##_mean) {                                                                  \
    return number_of_model(fcinfo, name, &ConjugateModel::posterior_mean);                       \
  }                                                                                              \
  BAYES_FUNCTION(name##_map) {                                                                   \
    return number_of_model(fcinfo, name, &ConjugateModel::posterior_mode);                       \
  }                                                                                              \
  BAYES_FUNCTION(name##_ml) {                                                                    \
    return number_of_model(fcinfo, name, &ConjugateModel::maximum_likelihood);                   \
  }                                                                                              \
  BAYES_FUNCTION(name##_evidence) {                                                              \
    return number_of_model(fcinfo, name, &ConjugateModel::log_evidence);                         \
  }                                                                                              \
  BAYES_FUNCTION(name##_interval) { return interval(fcinfo, name); }                             \
  BAYES_FUNCTION(name##_log_density) { return log_density(fcinfo, name); }                       \
  BAYES_FUNCTION(name##_greater) { return number_of_models(fcinfo, name, probability_greater); } \
  BAYES_FUNCTION(name##_loss) { return number_of_models(fcinfo, name, expected_loss); }          \
  BAYES_FUNCTION(name##_difference) { return difference(fcinfo, name); }                         \
  BAYES_FUNCTION(name##_best) { return best(fcinfo, name); }                                     \
  BAYES_FUNCTION(name##_parameters) {                                                            \
    return parameter_rows<ConjugateModel>(fcinfo, conjugate_family(name));                       \
  }

BAYES_CONJUGATE(beta_bernoulli)
BAYES_CONJUGATE(gamma_poisson)
BAYES_CONJUGATE(normal_inverse_gamma)

BAYES_FUNCTION(beta_bernoulli_lift) {
  return number_of_models(fcinfo, beta_bernoulli, expected_lift);
}
BAYES_FUNCTION(gamma_poisson_lift) {
  return number_of_models(fcinfo, gamma_poisson, expected_lift);
}
