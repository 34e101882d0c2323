// A support function that tells the planner when not to aggregate in parallel.
//
// A parallel aggregate sends all rows of each worker to the leader as one value, whose size is
// limited and which must fit in memory; a serial one needs no more than maintenance_work_mem. The
// parallel form pays for small inputs from an expensive plan; for large ones it would exceed the
// memory limit. The planner asks this function for the cost of deserialising.
#include "pg/server/boundary.hpp"
#include "pg/server/versions.hpp"

using namespace bayes::pg;

namespace {

/// equal to the planner's own disable_cost
constexpr double disabling_cost = 1e10;
/// bytes that are charged one parallel_tuple_cost: sending rows in bulk is assumed to cost as much
/// as sending tuples of this size
constexpr double tuple_bytes = 100;

/// Bytes of all rows of the query's join, or -1 if unknown.
double input_bytes(PlannerInfo *root) {
  const Relids relations = joined_relations(root);
  int relid;
  RelOptInfo *input = nullptr;
  if (bms_get_singleton_member(relations, &relid)) {
    if (relid < root->simple_rel_array_size) input = root->simple_rel_array[relid];
  } else if (!bms_is_empty(relations)) {
    input = find_join_rel(root, relations);
  }
  return input && input->reltarget ? input->rows * input->reltarget->width : -1;
}

}  // namespace

/// (internal) -> internal
BAYES_FUNCTION(bayes_rows_support) {
  auto *const node = reinterpret_cast<Node *>(PG_GETARG_POINTER(0));
  if (!IsA(node, SupportRequestCost)) return Datum(0);
  auto *const request = reinterpret_cast<SupportRequestCost *>(node);
  if (!request->root) return Datum(0);
  const double bytes = input_bytes(request->root);
  if (bytes < 0) return Datum(0);
  request->startup = bytes > maintenance_work_mem * 1024.0
                         ? disabling_cost
                         : bytes / tuple_bytes * parallel_tuple_cost;
  request->per_tuple = cpu_operator_cost;
  PG_RETURN_POINTER(request);
}
