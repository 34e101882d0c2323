// Aggregates that fit: transition and final functions for every kind of data.
//
// Arguments of a transition function: state, data, parameters, weight. SQL declares them as "any";
// their types determine their roles.
#pragma once

#include <optional>

#include "pg/bind/binding.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/context.hpp"
#include "pg/values/model_value.hpp"

namespace bayes::pg {

/// The memory context of the calling aggregate; throws if the caller is not one.
MemoryContext aggregate_context(FunctionCallInfo fcinfo);

/// The state of one aggregate call: the parameters, and all data.
template <class C> struct FitState {
  FitState(MemoryContext context, ItemForm form) : data(context, form), weighted(form.weighted) {}
  Parameters parameters;
  FitData<C> data;
  /// items have weights
  bool weighted;

  /// The checked request of the parameters. Called at the first item, before it is read; for a
  /// state combined from other processes' states, at the end.
  const FitRequest &request(const char *family, typename C::Check check) {
    if (!request_) {
      request_ = parameters.request(family);
      data.begin(*request_, check);
    }
    return *request_;
  }

 private:
  std::optional<FitRequest> request_;
};

/// The roles of argument types that do not determine a role by themselves.
struct RolesOfTypes {
  Role integer = Role::k, model = Role::start;
};
/// The roles of the arguments of a call from `first` on, by their types: an integer, an array of
/// integers (ks), jsonb (options), a model, double precision (the weight, which comes last).
std::vector<Role> roles_by_type(FunctionCallInfo fcinfo, int first, RolesOfTypes types);
/// Removes the last role if it is a weight; returns whether it was.
bool take_weight(std::vector<Role> &roles);

/// The bytes of a parallel worker's state as a value for the leader. If it is too large, the error
/// message begins with its contents, `what`, and the hint offers a serial plan or `remedy`.
Datum partial_state(std::string_view bytes, const char *what, const char *remedy);
/// Throws Error(too_large) with this message for a state of `size` bytes.
[[noreturn]] void refuse_partial_state(std::size_t size, const char *what, const char *remedy);

/// A state received from another process: its bytes, not copied from the tuple until they are
/// combined.
struct ReceivedState {
  const char *data;
  std::size_t size;
};

/// Adds one item. `values`: the number of arguments that hold it; parameters follow, and last the
/// weight, if any.
template <class C>
Datum transition(FunctionCallInfo fcinfo, const char *family, typename C::Check check,
                 int values = 1, RolesOfTypes types = {}) {
  const NullableDatum *const parameters = &fcinfo->args[1 + values];
  FitState<C> *state;
  if (PG_ARGISNULL(0)) {
    std::vector<Role> roles = roles_by_type(fcinfo, 1 + values, types);
    ItemForm form;
    form.values = values;
    form.weighted = take_weight(roles);
    form.type = argument_type(fcinfo, 1);
    if (values > 1) form.second_type = argument_type(fcinfo, 2);
    form.collation = PG_GET_COLLATION();
    state = make_in<FitState<C>>(aggregate_context(fcinfo), "pg_bayes data", form);
    state->parameters.read(roles, parameters);
    state->request(family, check);
  } else {
    state = reinterpret_cast<FitState<C> *>(PG_GETARG_POINTER(0));
    state->parameters.check_same(parameters);
  }
  state->data.add({&fcinfo->args[1], state->weighted ? &fcinfo->args[PG_NARGS() - 1] : nullptr});
  PG_RETURN_POINTER(state);
}

template <class C>
Datum fit_transition(FunctionCallInfo fcinfo, const Binding<C> &binding, int values = 1,
                     RolesOfTypes types = {}) {
  return transition<C>(fcinfo, binding.family, binding.check, values, types);
}

/// A final function's state; nullptr if there was no row. Final functions may run several times on
/// one state and do not modify it.
template <class C> FitState<C> *final_state(FunctionCallInfo fcinfo) {
  aggregate_context(fcinfo);
  return PG_ARGISNULL(0) ? nullptr : reinterpret_cast<FitState<C> *>(PG_GETARG_POINTER(0));
}

template <class C> Datum fit_final(FunctionCallInfo fcinfo, const Binding<C> &binding) {
  FitState<C> *const state = final_state<C>(fcinfo);
  if (!state) PG_RETURN_NULL();
  const FitRequest &request = state->request(binding.family, binding.check);
  std::string bytes;
  if (!fit_model(binding, request, state->data, &bytes)) PG_RETURN_NULL();
  return store_bytes(bytes);
}

}  // namespace bayes::pg
