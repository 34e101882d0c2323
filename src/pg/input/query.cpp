#include "pg/input/query.hpp"

#include <algorithm>
#include <vector>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/server_control.hpp"
#include "pg/server/versions.hpp"

namespace bayes::pg {
namespace {

constexpr const char *form_hint =
    "Select columns (SELECT a, b, c FROM ...), or one array of numbers for each row (SELECT x FROM "
    "...), or an array and a weight (SELECT x, w FROM ...).";

constexpr const char *named_form_hint =
    "Select a name for the row and then the row: columns (SELECT id, a, b, c FROM ...), or one "
    "array of numbers (SELECT id, x FROM ...).";

}  // namespace

const char *query_hint(bool named) { return named ? named_form_hint : form_hint; }

namespace {

/// Receives rows from the executor instead of a client. C code calls the callback receive(), which
/// raises errors as ERRORs.
struct Receiver {
  DestReceiver pub;
  const std::function<void(TupleTableSlot *)> *take;
  /// for memory allocated when reading values; reset for every row
  MemoryContext scratch;
};

void take_row(FitData<RowCollector> &data, NamedValues *names, const QueryLayout &layout,
              TupleTableSlot *slot) {
  const std::int64_t before = data ? data->rows.rows() : 0;
  const NullableDatum row =
      layout.whole ? NullableDatum{slot->tts_values[layout.row], slot->tts_isnull[layout.row]}
                   : NullableDatum{Datum(0), false};
  const int w = layout.weight;
  NullableDatum weight = {Datum(0), true};
  if (w >= 0 && !row.isnull && !slot->tts_isnull[w])
    weight = {Float8GetDatum(number_of(slot->tts_values[w], layout.weight_type)), false};
  data.read([&](RowCollector &rows) {
    if (layout.whole)
      rows.add({&row, w >= 0 ? &weight : nullptr});
    else
      rows.add_fields(slot->tts_values, slot->tts_isnull, w >= 0 ? &weight : nullptr);
  });
  if (names)
    names->add(text_of_column(slot, layout.name, layout.name_output),
               {BoolGetDatum(data && data->rows.rows() > before), false});
}

bool receive(TupleTableSlot *slot, DestReceiver *self) {
  auto *const receiver = reinterpret_cast<Receiver *>(self);
  slot_getallattrs(slot);
  const MemoryContext before = MemoryContextSwitchTo(receiver->scratch);
  raising([receiver, slot] { (*receiver->take)(slot); });
  MemoryContextSwitchTo(before);
  MemoryContextReset(receiver->scratch);
  return true;
}

[[noreturn]] void unsuitable(const char *why, const char *detail, const char *hint) {
  throw Error(Errc::invalid_argument, message("query {}", why), detail, hint);
}

}  // namespace

CachedPlanSource *only_select(SPIPlanPtr plan, const char *hint) {
  List *const sources = SPI_plan_get_plan_sources(plan);
  if (list_length(sources) != 1)
    unsuitable(sources == NIL ? "is empty" : "has several statements", "It must be one SELECT.",
               hint);
  auto *const source = static_cast<CachedPlanSource *>(linitial(sources));
  const bool one = list_length(source->query_list) == 1;
  const Query *const query = one ? linitial_node(Query, source->query_list) : nullptr;
  if (!query || query->commandType != CMD_SELECT || !source->resultDesc)
    unsuitable("is not a SELECT", "It must be one SELECT that returns rows.", hint);
  if (query->hasModifyingCTE)
    unsuitable("changes data", "A query that gives rows to a fit is run read-only.", hint);
  if (query->rowMarks != NIL)
    unsuitable(
        "locks rows",
        "A query that gives rows to a fit is run read-only, without FOR UPDATE or FOR SHARE.",
        hint);
  return source;
}

namespace {

/// After an array at most one column may follow, the weight.
void require_one_more(bool named, bool weighted, std::size_t more, const char *hint) {
  if (named) unsuitable("returns a column after the array", "There can be no weights.", hint);
  if (weighted)
    unsuitable("returns a column after the array", "Option weight names the weight.", hint);
  if (more > 1)
    throw Error(Errc::invalid_argument, message("query returns an array and {} more columns", more),
                "After the array at most one column may follow, the weight.", hint);
}

}  // namespace

QueryLayout layout_of(TupleDesc columns, const QueryColumns &given, bool named, bool booleans) {
  const auto is_number = [booleans](Oid type) {
    return is_number_type(type) || (booleans && type == BOOLOID);
  };
  QueryLayout layout;
  layout.hint = query_hint(named);
  if (columns->natts == 0)
    unsuitable("returns no columns", "There is nothing to fit.", layout.hint);
  if (given.id)
    layout.others.push_back(layout.name = column_named(columns, *given.id, "id", layout.hint));
  else if (named)
    layout.others.push_back(layout.name = 0);
  if (named && columns->natts == 1)
    unsuitable("returns one column",
               given.id ? "It is the name of the row; the row itself must follow."
                        : "The first column is the name of the row; the row itself must follow.",
               layout.hint);
  if (named) layout.name_output = output_function_of(TupleDescAttr(columns, layout.name)->atttypid);
  const auto weigh = [&](int column, const char *expected) {
    const Oid type = TupleDescAttr(columns, column)->atttypid;
    layout.weight_type = guarded([type] { return getBaseType(type); });
    if (!is_number_type(layout.weight_type)) wrong_column(columns, column, expected, layout.hint);
    layout.weight = column;
  };
  if (given.weight) {
    if (named)
      throw Error(Errc::invalid_argument, "option weight does not apply to named rows",
                  "Named rows are fitted without weights.");
    weigh(column_named(columns, *given.weight, "weight", layout.hint),
          "A weight must be a number.");
    layout.others.push_back(layout.weight);
  }
  std::vector<int> rest;
  for (int i = 0; i < columns->natts; ++i)
    if (std::find(layout.others.begin(), layout.others.end(), i) == layout.others.end())
      rest.push_back(i);
  if (rest.empty()) unsuitable("returns no other columns", "There is nothing to fit.", layout.hint);
  const Oid declared = TupleDescAttr(columns, rest[0])->atttypid;
  const Oid type = guarded([declared] { return getBaseType(declared); });
  const Oid element = guarded([type] {
    return OidIsValid(get_element_type(type)) ? getBaseType(get_element_type(type)) : InvalidOid;
  });
  const std::size_t more = rest.size() - 1;
  const bool cast = !OidIsValid(element) && !is_number(type) && !is_record_type(type) &&
                    OidIsValid(cast_to_array(type));
  const bool array = OidIsValid(element) || cast;
  if (!array && (more > 0 || !is_record_type(type))) return layout;
  layout.whole = true;
  layout.row = rest[0];
  layout.type = declared;
  if (array && !cast && !is_number(element))
    wrong_column(columns, layout.row, "The elements of the array must be numbers.", layout.hint);
  if (more == 0) return layout;
  require_one_more(named, given.weight.has_value(), more, layout.hint);
  weigh(rest[1], "The column after an array is its weight, which must be a number.");
  return layout;
}

QueryForm form_of(const QueryLayout &layout, TupleDesc columns) {
  QueryForm form;
  form.item.weighted = layout.weight >= 0;
  form.item.type = layout.type;
  if (!layout.whole) {
    form.columns = guarded([columns] { return CreateTupleDescCopy(columns); });
    for (const int i : layout.others) TupleDescAttr(form.columns, i)->attisdropped = true;
  }
  return form;
}

void wrong_column(TupleDesc columns, int index, const char *expected, const char *hint) {
  const Form_pg_attribute column = TupleDescAttr(columns, index);
  const Oid type = column->atttypid;
  const char *const name = guarded([type] { return format_type_be(type); });
  throw Error(Errc::invalid_argument,
              message("column \"{}\" of the query is of type {}", NameStr(column->attname), name),
              expected, hint);
}

int column_named(TupleDesc columns, const std::string &name, const char *option, const char *hint) {
  int found = -1;
  for (int i = 0; i < columns->natts; ++i) {
    if (utf8_of_server(NameStr(TupleDescAttr(columns, i)->attname)) != name) continue;
    if (found >= 0)
      throw Error(Errc::invalid_argument,
                  message("query returns two columns {}", bayes::describe(Document(name))),
                  message("Option {} must name a single column.", option),
                  "Give them different names.");
    found = i;
  }
  if (found < 0)
    throw Error(Errc::invalid_argument,
                message("query returns no column {}", bayes::describe(Document(name))),
                message("Option {} names this column.", option), hint);
  return found;
}

NamedValues::NamedValues(Oid type) {
  guarded([this, type] {
    store_ = tuplestore_begin_heap(false, false, work_mem);
    description_ = CreateTemplateTupleDesc(2);
    TupleDescInitEntry(description_, 1, "name", TEXTOID, -1, 0);
    TupleDescInitEntry(description_, 2, "value", type, -1, 0);
    TupleDescFinalize(description_);
  });
}

void NamedValues::add(const NullableDatum &name, const NullableDatum &value) {
  guarded([&, this] {
    Datum values[] = {name.value, value.value};
    bool nulls[] = {name.isnull, value.isnull};
    tuplestore_putvalues(store_, description_, values, nulls);
  });
}

void NamedValues::each(const std::function<void(Cell name, const NullableDatum &value)> &f) {
  TupleTableSlot *const slot =
      guarded([this] { return MakeSingleTupleTableSlot(description_, &TTSOpsMinimalTuple); });
  const auto next = [this, slot] {
    CHECK_FOR_INTERRUPTS();
    const bool more = tuplestore_gettupleslot(store_, true, false, slot);
    if (more) slot_getallattrs(slot);
    return more;
  };
  while (guarded(next))
    f(slot->tts_isnull[0] ? Cell() : Cell::datum(slot->tts_values[0], TEXTOID),
      {slot->tts_values[1], slot->tts_isnull[1]});
  guarded([slot] { ExecDropSingleTupleTableSlot(slot); });
  close();
}

void NamedValues::close() {
  if (store_) guarded([this] { tuplestore_end(store_); });
  store_ = nullptr;
}

Oid output_function_of(Oid type) {
  return guarded([type] {
    Oid function;
    bool varlena;
    getTypeOutputInfo(type, &function, &varlena);
    return function;
  });
}

NullableDatum text_of_column(TupleTableSlot *row, int column, Oid output_function) {
  if (row->tts_isnull[column]) return {Datum(0), true};
  const Datum value = row->tts_values[column];
  return {guarded([value, output_function] {
            return PointerGetDatum(cstring_to_text(OidOutputFunctionCall(output_function, value)));
          }),
          false};
}

SPIPlanPtr prepare_query(const char *text, const char *hint, const QueryArguments &arguments) {
  std::vector<Oid> types(arguments.values.size(), arguments.type);
  return guarded([text, hint, types = types.data(), n = int(types.size())] {
    if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
    const SPIPlanPtr prepared = SPI_prepare(text, n, types);
    if (!prepared)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("query cannot be prepared: %s", SPI_result_code_string(SPI_result)),
                      errdetail("It must be one SELECT."), errhint("%s", hint)));
    return prepared;
  });
}

namespace {

/// Raises.
ParamListInfo parameters_of(const QueryArguments &arguments) {
  const int n = int(arguments.values.size());
  if (n == 0) return nullptr;
  const ParamListInfo out = makeParamList(n);
  for (int i = 0; i < n; ++i)
    out->params[i] = {arguments.values[std::size_t(i)], false, PARAM_FLAG_CONST, arguments.type};
  return out;
}

}  // namespace

void run_query(const char *text, const char *hint, const std::function<void(TupleDesc)> &check,
               const std::function<void(TupleTableSlot *)> &take, const QueryArguments &arguments) {
  const ReadOnly read_only;
  const SPIPlanPtr plan = prepare_query(text, hint, arguments);
  // An error from here on aborts the transaction (or subtransaction), which cleans up SPI.
  check(only_select(plan, hint)->resultDesc);

  Receiver receiver = {};
  receiver.pub.receiveSlot = receive;
  receiver.pub.rStartup = [](DestReceiver *, int, TupleDesc) {};
  receiver.pub.rShutdown = [](DestReceiver *) {};
  receiver.pub.rDestroy = [](DestReceiver *) {};
  // any but DestNone and DestSPI, which SPI handles specially
  receiver.pub.mydest = DestTuplestore;
  receiver.take = &take;
  receiver.scratch = guarded([] {
    return AllocSetContextCreate(CurrentMemoryContext, "pg_bayes query row",
                                 ALLOCSET_DEFAULT_SIZES);
  });

  const QueryOfFit level;
  guarded([plan, &receiver, &arguments] {
    SPIExecuteOptions options = {};
    options.params = parameters_of(arguments);
    options.read_only = true;
    options.must_return_tuples = true;
    options.dest = &receiver.pub;
    const int result = SPI_execute_plan_extended(plan, &options);
    if (result != SPI_OK_SELECT) elog(ERROR, "query failed: %s", SPI_result_code_string(result));
    if (SPI_finish() != SPI_OK_FINISH) elog(ERROR, "SPI_finish failed");
  });
}

SelectInText select_in(const char *text, const char *hint) {
  const ReadOnly read_only;
  const MemoryContext context = CurrentMemoryContext;
  CachedPlanSource *const source = only_select(prepare_query(text, hint), hint);
  SelectInText out;
  const auto *const query = linitial_node(Query, source->query_list);
  const char *const from = text + query->stmt_location;
  out.text = query->stmt_len > 0 ? std::string(from, std::size_t(query->stmt_len)) : from;
  out.columns = guarded([context, source] {
    const MemoryContext before = MemoryContextSwitchTo(context);
    const TupleDesc columns = CreateTupleDescCopy(source->resultDesc);
    MemoryContextSwitchTo(before);
    if (SPI_finish() != SPI_OK_FINISH) elog(ERROR, "SPI_finish failed");
    return columns;
  });
  return out;
}

QueryColumns QueryColumns::of(Document &options) {
  QueryColumns out;
  const auto take = [&options](const char *key) -> std::optional<std::string> {
    const std::optional<Document> given = take_option(options, key);
    if (!given) return std::nullopt;
    if (const std::string *const name = given->as<std::string>()) return *name;
    throw Error(Errc::invalid_argument,
                message("option {} is {}, but must be the name of a column of the query",
                        bayes::describe(Document(key)), bayes::describe(*given)));
  };
  out.id = take("id");
  out.weight = take("weight");
  return out;
}

void read_query(const char *text, const QueryColumns &given,
                const std::function<FitData<RowCollector> &(const QueryForm &)> &make,
                NamedValues *names, bool booleans) {
  QueryLayout layout;
  FitData<RowCollector> *data = nullptr;
  run_query(
      text, query_hint(names),
      [&](TupleDesc columns) {
        layout = layout_of(columns, given, names != nullptr, booleans);
        if (names && !given.id)
          report_name_taken(utf8_of_server(NameStr(TupleDescAttr(columns, layout.name)->attname)),
                            "the row",
                            "If it belongs to the row, select a name before it, or name the column "
                            "that is one by option id.");
        data = &make(form_of(layout, columns));
      },
      [&](TupleTableSlot *row) { take_row(*data, names, layout, row); });
}

}  // namespace bayes::pg
