#include "pg/bind/window.hpp"

#include "pg/server/argument_type.hpp"
#include "pg/server/server_control.hpp"

namespace bayes::pg {
namespace {

constexpr int max_roles = 4;

/// A partition after its fit.
struct Partition {
  Partition(MemoryContext context, Oid type) : reader(context, type) {}
  /// null if there are no rows, or if the fit failed under on_error = null
  std::unique_ptr<Model> model;
  /// for model families with fit_labels: the label of every row, from 1; 0 for a skipped row
  std::optional<std::vector<int>> labels;
  Missing missing = Missing::error;
  RowReader reader;
  std::int64_t row = 0;
};

Oid type_of_rows(FunctionCallInfo fcinfo) { return argument_type(fcinfo, 0); }

/// Expands the labels of the fitted rows to all rows of the partition. Arguments are not evaluated
/// again, as volatile ones may differ.
void expand_labels(std::vector<int> &labels, const std::vector<bool> &fitted) {
  std::size_t left = labels.size();
  labels.resize(fitted.size());
  for (std::size_t row = fitted.size(); row-- > 0;)
    labels[row] = fitted[row] ? labels[--left] + 1 : 0;
}

/// Reads all rows, up to one that is refused. `fitted`: for every row, is it part of the fit?
void collect(FunctionCallInfo fcinfo, WindowObject window, MemoryContext context,
             const Binding<RowCollector> &binding, std::span<const Role> roles, FitRequest &request,
             FitData<RowCollector> &data, std::vector<bool> &fitted) {
  PartitionReader reader(window, context);
  ServerControl control;
  Parameters parameters;
  // Stable arguments need not be checked at every row.
  bool constant = true;
  for (std::size_t i = 0; i < roles.size(); ++i)
    constant &= guarded([=] { return get_fn_expr_arg_stable(fcinfo->flinfo, int(i) + 1); });

  for (std::int64_t row = 0; data; ++row) {
    check_rows(row);
    NullableDatum x, arguments[max_roles];
    if (!reader.get(row, 0, x)) break;
    if (row == 0 || !constant) {
      const bool null = x.isnull;
      // Reading other arguments may move the slot that x points into: read x last.
      for (std::size_t i = 0; i < roles.size(); ++i) reader.get(row, int(i) + 1, arguments[i]);
      if (roles.size() > 0 && !null) reader.get(row, 0, x);
      if (row == 0) {
        parameters.read(roles, arguments);
        request = parameters.request(binding.family);
        data.begin(request, binding.check);
      } else {
        parameters.check_same(arguments);
      }
    }
    const std::int64_t before = data->rows.rows();
    data.add({&x, nullptr});
    if (binding.fit_labels) fitted.push_back(data && data->rows.rows() > before);
    reader.next_row();
    control.poll();
  }
}

void fit_partition(FunctionCallInfo fcinfo, WindowObject window, MemoryContext context,
                   Partition &partition, const Binding<RowCollector> &binding,
                   std::span<const Role> roles) {
  // The rows have their own context, deleted after the fit, before the first row is labelled.
  const ScopedContext scratch(context, "pg_bayes partition rows");
  FitRequest request;
  std::vector<bool> fitted;
  FitData<RowCollector> data(scratch, ItemForm{.type = type_of_rows(fcinfo)});
  collect(fcinfo, window, scratch, binding, roles, request, data, fitted);
  if (data) partition.missing = data->policy().missing;
  if (!binding.fit_labels) {
    partition.model = fit_model(binding, request, data);
    if (partition.model) partition.reader.expect(partition.model->info);
    return;
  }
  attempt_fit(data, [&](Control &control) {
    partition.labels = binding.fit_labels(request, *data, control);
  });
  if (partition.labels) expand_labels(*partition.labels, fitted);
}

}  // namespace

Datum cluster_window(FunctionCallInfo fcinfo, const Binding<RowCollector> &binding,
                     std::span<const Role> roles) {
  const WindowObject window = window_of(fcinfo);
  const auto fit = [&](Partition &made, MemoryContext context) {
    fit_partition(fcinfo, window, context, made, binding, roles.first(std::size_t(PG_NARGS() - 1)));
  };
  Partition &partition = partition_of<Partition>(window, fit, type_of_rows(fcinfo));
  ++partition.row;
  if (partition.labels) {
    const int label = (*partition.labels)[std::size_t(WinGetCurrentPosition(window))];
    if (label == 0) PG_RETURN_NULL();
    PG_RETURN_INT32(label);
  }
  if (!partition.model) PG_RETURN_NULL();

  const NullableDatum value = current_argument(window, 0);
  if (value.isnull) PG_RETURN_NULL();
  partition.reader.open(value.value);
  const auto x = partition.reader.read(value.value, partition.row, partition.missing);
  if (!x) PG_RETURN_NULL();
  const std::size_t dimension = std::size_t(partition.model->info.dimension);
  if (x->size() != dimension) wrong_length(x->size(), dimension, "the model", partition.row);
  PG_RETURN_INT32(partition.model->predict(*x) + 1);
}

}  // namespace bayes::pg
