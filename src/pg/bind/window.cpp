#include "pg/bind/window.hpp"

#include "pg/server/context.hpp"
#include "pg/server/server_control.hpp"

namespace bayes::pg {
namespace {

constexpr int most_roles = 4;

/// What a partition remembers after its fit.
struct Partition {
  explicit Partition(MemoryContext) {}
  FitPolicy policy;
  /// none: no rows, or a fit that failed under on_error = null
  std::unique_ptr<Model> model;
  /// for families that say so at once: of every row, from 1; 0 for a row left out
  std::optional<std::vector<int>> labels;
  ArrayReader reader;
  std::int64_t row = 0;
};

/// Row by row over a partition's arguments. Evaluating them allocates in CurrentMemoryContext, so
/// that is one of ours, emptied for every row.
class PartitionRows {
 public:
  PartitionRows(WindowObject window, MemoryContext parent)
      : window_(window),
        scratch_(parent, "pg_bayes window row") {}

  /// Argument `argument` of row `row` (from 0); false: there is no such row.
  bool get(std::int64_t row, int argument, Parameters::Argument &out) {
    bool outside = false;
    guarded([this, row, argument, &out, &outside] {
      const MemoryContext before = MemoryContextSwitchTo(scratch_);
      out.value = WinGetFuncArgInPartition(window_, argument, int(row), WINDOW_SEEK_HEAD, false,
                                           &out.null, &outside);
      MemoryContextSwitchTo(before);
    });
    return !outside;
  }
  void next() { MemoryContextReset(scratch_); }

 private:
  WindowObject window_;
  ScopedContext scratch_;
};

/// Labels of the rows that were fitted, spread over all rows of the partition: arguments are not
/// looked at again, as volatile ones may differ.
void spread(std::vector<int> &labels, const std::vector<bool> &taken) {
  std::size_t left = labels.size();
  labels.resize(taken.size());
  for (std::size_t row = taken.size(); row-- > 0;)
    labels[row] = taken[row] ? labels[--left] + 1 : 0;
}

void fit_partition(FunctionCallInfo fcinfo, WindowObject window, MemoryContext context,
                   Partition &partition, const Family &family, std::span<const Role> roles) {
  // The rows have a context of their own: once the model is there they can go, before the first row
  // is labelled.
  const ScopedContext scratch(context, "pg_bayes partition");
  RowIntake &intake = *make_in<RowIntake>(scratch, "pg_bayes rows", false);
  PartitionRows rows(window, scratch);
  ServerControl control;

  Parameters parameters;
  FitRequest request;
  std::vector<bool> taken;
  // Constants need no look at every row.
  bool constant = true;
  for (std::size_t i = 0; i < roles.size(); ++i)
    constant &= guarded([=] { return get_fn_expr_arg_stable(fcinfo->flinfo, int(i) + 1); });

  for (std::int64_t row = 0;; ++row) {
    if (row > INT_MAX) throw Error(Errc::too_large, "a partition has more than 2147483647 rows");
    Parameters::Argument x, arguments[most_roles];
    if (!rows.get(row, 0, x)) break;
    if (row == 0 || !constant) {
      const bool null = x.null;
      // Reading other arguments may move the slot that x points into: read x last.
      for (std::size_t i = 0; i < roles.size(); ++i) rows.get(row, int(i) + 1, arguments[i]);
      if (roles.size() > 0 && !null) rows.get(row, 0, x);
      if (row == 0) {
        parameters.read(roles, arguments);
        request = parameters.request(family.name);
        partition.policy = family.check(request);
        prepare(intake, request, partition.policy, family.max_dimension);
      } else {
        parameters.check_same(arguments);
      }
    }
    const std::int64_t before = intake.rows.rows();
    if (x.null)
      intake.add_null();
    else
      intake.add(x.value);
    if (family.fit_labels) taken.push_back(intake.rows.rows() > before);
    rows.next();
    control.poll();
  }
  if (family.fit_labels) {
    partition.labels = fit_labels(family, request, partition.policy, intake);
    if (partition.labels) spread(*partition.labels, taken);
  } else {
    partition.model = fit_rows(family, request, partition.policy, intake);
  }
}

}  // namespace

Datum cluster_window(FunctionCallInfo fcinfo, const Family &family, std::span<const Role> roles) {
  const WindowObject window = PG_WINDOW_OBJECT();
  if (!WindowObjectIsValid(window))
    throw Error(Errc::internal, "window function called without a window");
  auto **const local =
      static_cast<Partition **>(WinGetPartitionLocalMemory(window, sizeof(Partition *)));
  if (!*local) {
    const MemoryContext context = GetMemoryChunkContext(local);
    Partition *const partition = make_in<Partition>(context, "pg_bayes partition model");
    fit_partition(fcinfo, window, context, *partition, family,
                  roles.first(std::size_t(PG_NARGS() - 1)));
    *local = partition;
  }
  Partition &partition = **local;
  ++partition.row;
  if (partition.labels) {
    const int label = (*partition.labels)[std::size_t(WinGetCurrentPosition(window))];
    if (label == 0) PG_RETURN_NULL();
    PG_RETURN_INT32(label);
  }
  if (!partition.model) PG_RETURN_NULL();

  bool null = false;
  const Datum value = guarded([window, &null] { return WinGetFuncArgCurrent(window, 0, &null); });
  if (null) PG_RETURN_NULL();
  const auto x = partition.reader.read(value, partition.row, partition.policy.missing);
  if (!x) PG_RETURN_NULL();
  const std::size_t dimension = std::size_t(partition.model->info.dimension);
  if (x->size() != dimension) wrong_length(x->size(), dimension, "the model", partition.row);
  PG_RETURN_INT32(family.label(*partition.model, *x) + 1);
}

}  // namespace bayes::pg
