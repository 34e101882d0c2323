// The Dirichlet-categorical model in SQL.
#include <cmath>
#include <optional>

#include "base/message.hpp"
#include "conjugate/dirichlet_categorical.hpp"
#include "families/parameter.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/parameters.hpp"
#include "pg/values/array_elements.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/json.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

constexpr const char *label_family = "dirichlet_categorical";

/// The transition state.
struct LabelState {
  explicit LabelState(MemoryContext context) : type(context) {}
  Parameters parameters;
  DirichletPrior prior;
  LabelSums sums;
  ElementType type;

  void read_prior() { prior = DirichletPrior::read(parameters.request(label_family).options); }
};

LabelState &label_state(FunctionCallInfo fcinfo, const TransitionArguments &arguments) {
  const MemoryContext context = aggregate_context(fcinfo);
  LabelState *state;
  if (PG_ARGISNULL(0)) {
    state = make_in<LabelState>(context, "pg_bayes labels");
    state->parameters.read(arguments.roles, arguments.parameters);
    state->read_prior();
  } else {
    state = reinterpret_cast<LabelState *>(PG_GETARG_POINTER(0));
    state->parameters.check_same(arguments.parameters);
  }
  state->type.use(guarded([fcinfo] { return get_fn_expr_argtype(fcinfo->flinfo, 1); }));
  return *state;
}

/// The row's label, and its weight; nullopt if it is to be left out.
std::optional<std::string_view> read_label(const bayes::pg::Item &item, LabelState &state,
                                           double &weight) {
  if (item.values[0].isnull || (item.weight && item.weight->isnull)) return std::nullopt;
  weight = item.weight ? DatumGetFloat8(item.weight->value) : 1;
  if (!(weight >= 0 && weight <= largest_element))
    throw Error(
        Errc::invalid_argument,
        message("weight of row {} is {}", state.sums.rows + state.sums.skipped + 1, shown(weight)),
        message("It must be a number from 0 to {}.", largest_element));
  if (weight == 0) return std::nullopt;
  const auto label = state.type.text(item.values[0].value);
  if (!label)
    throw Error(Errc::invalid_argument,
                message("the label of row {} is NaN", state.sums.rows + state.sums.skipped + 1), {},
                null_of_nan);
  return label;
}

void write_text(std::string &out, std::string_view text) {
  const std::uint64_t size = text.size();
  out.append(reinterpret_cast<const char *>(&size), sizeof size);
  out.append(text);
}
std::string_view read_text(const char *&at) {
  std::uint64_t size;
  std::memcpy(&size, at, sizeof size);
  const std::string_view text(at + sizeof size, size);
  at += sizeof size + size;
  return text;
}

/// What of a state is numbers.
struct LabelCounts {
  std::int64_t rows, skipped;
  double total;
  std::uint64_t labels;
};

class LabelCallSite {
 public:
  LabelCallSite(MemoryContext context) : models_(label_family), type_(context) {}
  const DirichletCategorical &model(FunctionCallInfo fcinfo) {
    return static_cast<const DirichletCategorical &>(models_.get(PG_GETARG_DATUM(0)));
  }
  std::string_view label(FunctionCallInfo fcinfo) {
    type_.use(guarded([fcinfo] { return get_fn_expr_argtype(fcinfo->flinfo, 1); }));
    const auto label = type_.text(PG_GETARG_DATUM(1));
    if (!label) throw Error(Errc::invalid_argument, "the label is NaN", {}, null_of_nan);
    return *label;
  }

 private:
  ModelCache models_;
  ElementType type_;
};

}  // namespace

/// (internal, label "any" [, options jsonb [, weight float8]]) -> internal
BAYES_FUNCTION(dirichlet_categorical_fit_transition) {
  const TransitionArguments arguments(fcinfo, by_options_and_weight, 1);
  LabelState &state = label_state(fcinfo, arguments);
  double weight;
  if (const auto label = read_label(arguments.item, state, weight))
    state.sums.add(*label, weight, 1);
  else
    ++state.sums.skipped;
  PG_RETURN_POINTER(&state);
}

/// Takes the first row of a moving frame away; NULL has PostgreSQL add up the frame anew.
BAYES_FUNCTION(dirichlet_categorical_fit_inverse_transition) {
  const TransitionArguments arguments(fcinfo, by_options_and_weight, 1);
  LabelState &state = label_state(fcinfo, arguments);
  double weight;
  if (const auto label = read_label(arguments.item, state, weight)) {
    if (!state.sums.add(*label, weight, -1)) PG_RETURN_NULL();
  } else {
    --state.sums.skipped;
  }
  PG_RETURN_POINTER(&state);
}

/// (internal) -> bytea
BAYES_FUNCTION(dirichlet_categorical_fit_serialize) {
  aggregate_context(fcinfo);
  const auto &state = *reinterpret_cast<const LabelState *>(PG_GETARG_POINTER(0));
  const LabelCounts counts = {state.sums.rows, state.sums.skipped, state.sums.total,
                              state.sums.weights.size()};
  std::string bytes(reinterpret_cast<const char *>(&counts), sizeof counts);
  state.parameters.write(bytes);
  for (const auto &[label, weight] : state.sums.weights) {
    write_text(bytes, label);
    bytes.append(reinterpret_cast<const char *>(&weight), sizeof weight);
  }
  return partial_state(bytes, "labels", "combine rare labels into one.");
}

/// (bytea, internal) -> internal
BAYES_FUNCTION(dirichlet_categorical_fit_deserialize) {
  aggregate_context(fcinfo);
  const bytea *const bytes = guarded([fcinfo] { return PG_GETARG_BYTEA_PP(0); });
  auto &state = *make_in<LabelState>(CurrentMemoryContext, "pg_bayes labels");
  const char *at = VARDATA_ANY(bytes), *const end = at + VARSIZE_ANY_EXHDR(bytes);
  LabelCounts counts;
  std::memcpy(&counts, at, sizeof counts);
  at += sizeof counts;
  state.parameters = Parameters::from_bytes(at, end);
  state.sums.rows = counts.rows;
  state.sums.skipped = counts.skipped;
  state.sums.total = counts.total;
  for (std::uint64_t i = 0; i < counts.labels; ++i) {
    const std::string_view label = read_text(at);
    LabelWeight weight;
    std::memcpy(&weight, at, sizeof weight);
    at += sizeof weight;
    state.sums.weights.emplace(label, weight);
    state.sums.bytes += label.size();
  }
  PG_RETURN_POINTER(&state);
}

/// (internal, internal) -> internal
BAYES_FUNCTION(dirichlet_categorical_fit_combine) {
  const MemoryContext context = aggregate_context(fcinfo);
  auto *state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<LabelState *>(PG_GETARG_POINTER(0));
  if (PG_ARGISNULL(1)) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  const auto &other = *reinterpret_cast<const LabelState *>(PG_GETARG_POINTER(1));
  if (!state) {
    state = make_in<LabelState>(context, "pg_bayes labels");
    state->parameters = other.parameters;
    state->read_prior();
  } else {
    state->parameters.check_same(other.parameters);
  }
  state->sums.add(other.sums);
  PG_RETURN_POINTER(state);
}

/// (internal) -> bayes_model
BAYES_FUNCTION(dirichlet_categorical_fit_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto &state = *reinterpret_cast<const LabelState *>(PG_GETARG_POINTER(0));
  if (state.sums.rows == 0) PG_RETURN_NULL();
  if (!(state.sums.total <= 1e305))
    throw Error(Errc::numeric, "sums over the rows are beyond double precision");
  DirichletCategorical model(state.prior, state.sums);
  return store_model(model);
}

/// (model [, level float8]) -> label, count, mean, map, ml, lower, upper
BAYES_FUNCTION(dirichlet_categorical_probabilities) {
  const double level = level_argument(fcinfo);
  ResultRows rows(fcinfo);
  const auto loaded = load_model(PG_GETARG_DATUM(0), label_family);
  const auto &model = static_cast<const DirichletCategorical &>(*loaded);
  for (const DirichletCategorical::Label &label : model.labels()) {
    poll_interrupts();
    const Marginal q = model.marginal(label);
    rows.row({Cell::text(*label.name), label.count, q.mean(),
              Cell::or_null(model.posterior_mode(label)), model.maximum_likelihood(label),
              Cell::or_null(q.quantile((1 - level) / 2)),
              Cell::or_null(q.upper_quantile((1 - level) / 2))});
  }
  return Datum(0);
}

/// (model) -> float8
BAYES_FUNCTION(dirichlet_categorical_evidence) {
  const double evidence = call_site<LabelCallSite>(fcinfo).model(fcinfo).log_evidence();
  return guarded([evidence] { return Float8GetDatum(evidence); });
}

/// (model, label "any") -> float8
BAYES_FUNCTION(dirichlet_categorical_mean) {
  auto &site = call_site<LabelCallSite>(fcinfo);
  const DirichletCategorical &model = site.model(fcinfo);
  const double mean = std::exp(model.log_predictive(site.label(fcinfo)));
  return guarded([mean] { return Float8GetDatum(mean); });
}

/// (model, label "any") -> float8
BAYES_FUNCTION(dirichlet_categorical_log_density) {
  auto &site = call_site<LabelCallSite>(fcinfo);
  const DirichletCategorical &model = site.model(fcinfo);
  const double log_density = model.log_predictive(site.label(fcinfo));
  return guarded([log_density] { return Float8GetDatum(log_density); });
}

/// (model [, level float8])
BAYES_FUNCTION(dirichlet_categorical_parameters) {
  return parameter_rows<DirichletCategorical>(fcinfo, label_family);
}
