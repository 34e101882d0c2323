// Aggregates that fit: transition and final functions for every kind of data.
//
// Arguments of a transition function: state, data, then roles (fit_request.hpp), of which shorter
// signatures omit trailing ones.
#pragma once

#include <optional>

#include "pg/bind/binding.hpp"
#include "pg/server/context.hpp"
#include "pg/values/model_value.hpp"

namespace bayes::pg {

/// The memory context of the calling aggregate; throws if the caller is not one.
MemoryContext aggregate_context(FunctionCallInfo fcinfo);

/// The state of one aggregate call: the parameters, and all data.
template <class C> struct FitState {
  FitState(MemoryContext context, ItemForm form) : data(context, form) {}
  Parameters parameters;
  C data;

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

/// The arguments of a transition function.
struct TransitionArguments {
  TransitionArguments(FunctionCallInfo fcinfo, std::span<const Role> all_roles, int values);
  Item item;
  ItemForm form;
  /// the roles of the parameters, and the parameters, without the weight
  std::span<const Role> roles;
  const NullableDatum *parameters;
};

/// The bytes of a parallel worker's state, for the leader. If they are too many, the message says
/// `what` they hold, and the hint `remedy` besides a serial plan.
Datum partial_state(std::string_view bytes, const char *what, const char *remedy);
/// Throws Error(too_large), with the same message, for a state of so many bytes.
[[noreturn]] void refuse_partial_state(std::size_t size, const char *what, const char *remedy);

/// A state received from another process: its bytes, not copied from the tuple until they are
/// combined.
struct ReceivedState {
  const char *data;
  std::size_t size;
};

/// The roles of this call, by the types of their arguments, which begin at `first`.
std::vector<Role> roles_by_type(FunctionCallInfo fcinfo, std::span<const Role> roles, int first);

/// One item: `values` arguments hold it.
template <class C>
Datum transition(FunctionCallInfo fcinfo, const char *family, typename C::Check check,
                 std::span<const Role> roles, int values) {
  const TransitionArguments arguments(fcinfo, roles, values);
  FitState<C> *state;
  if (PG_ARGISNULL(0)) {
    ItemForm form = arguments.form;
    form.type = guarded([fcinfo] { return get_fn_expr_argtype(fcinfo->flinfo, 1); });
    if (values > 1)
      form.second_type = guarded([fcinfo] { return get_fn_expr_argtype(fcinfo->flinfo, 2); });
    form.collation = PG_GET_COLLATION();
    state = make_in<FitState<C>>(aggregate_context(fcinfo), "pg_bayes data", form);
    state->parameters.read(roles_by_type(fcinfo, arguments.roles, 1 + values),
                           arguments.parameters);
    state->request(family, check);
  } else {
    state = reinterpret_cast<FitState<C> *>(PG_GETARG_POINTER(0));
    state->parameters.check_same(arguments.parameters);
  }
  state->data.add(arguments.item);
  PG_RETURN_POINTER(state);
}

template <class C>
Datum fit_transition(FunctionCallInfo fcinfo, const Binding<C> &binding,
                     std::span<const Role> roles, int values = 1) {
  return transition<C>(fcinfo, binding.family, binding.check, roles, values);
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
  if (!fit_model(binding, request, state->data,
                 [&bytes](Model &model) { bytes = bytes_of(model); }))
    PG_RETURN_NULL();
  return store_bytes(bytes);
}

}  // namespace bayes::pg
