// What a server does for a fit that runs on another one: it keeps its rows, and makes passes over
// them. The other server calls these aggregates through postgres_fdw (pg/input/pushed_rows.*).
#include <bit>
#include <numeric>
#include <optional>

#include "base/message.hpp"
#include "data/data_hash.hpp"
#include "data/remote_rows.hpp"
#include "models/passes.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/kept_rows.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/pass_value.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// The request of a call, after its number of the part.
class Request {
 public:
  Request(FunctionCallInfo fcinfo, int first) {
    if (PG_ARGISNULL(first) || PG_ARGISNULL(first + 1)) PassReader::refuse();
    part = PG_GETARG_INT32(first);
    if (part < 0) PassReader::refuse();
    message_ = document_of_pass(PG_GETARG_DATUM(first + 1));
    const PassReader given(message_);
    if (const std::string &version = given.text("version"); version != library_version)
      throw Error(Errc::invalid_argument,
                  message("this server has pg_bayes {}, but the server of the fit has {}",
                          library_version, version),
                  "Servers that work on one fit must have the same version.",
                  "Install the same version on all of them.");
    fit = given.text("fit");
  }
  const Document &body() const { return PassReader(message_).member("request"); }

  int part;
  std::string fit;

 private:
  Document message_;
};

/// An answer, for the part that gives it.
Datum answer_value(int part, Document body) {
  Document out = Document::object();
  out.set("part", part).set("answer", std::move(body));
  return pass_value(out);
}

/// The description of a row whose columns are arguments from `first` on.
TupleDesc description_of(FunctionCallInfo fcinfo, int first, const Document::List &names) {
  const TupleDesc out = guarded([&names] { return CreateTemplateTupleDesc(int(names.size())); });
  for (std::size_t j = 0; j < names.size(); ++j) {
    const auto *const name = names[j].as<std::string>();
    if (!name) PassReader::refuse();
    const char *const text = name->c_str();
    const std::size_t size = name->size();
    guarded([=] {
      TupleDescInitEntry(out, AttrNumber(j + 1), server_of_utf8(text, size),
                         get_fn_expr_argtype(fcinfo->flinfo, first + int(j)), -1, 0);
    });
  }
  return out;
}

constexpr int first_value = 3;

/// The state of the aggregate that keeps rows: a number, since the rows may be replaced or
/// forgotten by other calls.
struct KeepState {
  std::uint64_t serial;
};

KeptRows &begin_rows(FunctionCallInfo fcinfo) {
  const Request request(fcinfo, 1);
  const PassReader given(request.body());
  const Document::List &names = given.list("columns");
  ItemForm form;
  form.weighted = given.flag("weighted");
  const int columns = names.empty() ? 1 : int(names.size());
  if (PG_NARGS() != first_value + columns + int(form.weighted)) PassReader::refuse();
  if (names.empty())
    form.type = guarded([fcinfo] { return get_fn_expr_argtype(fcinfo->flinfo, first_value); });
  KeptRows &out = keep_rows(request.fit, request.part, form);
  out.columns = columns;
  if (form.weighted)
    out.weight_type = guarded(
        [fcinfo] { return getBaseType(get_fn_expr_argtype(fcinfo->flinfo, PG_NARGS() - 1)); });
  const CurrentContext context(out.context());
  out.rows.begin_part(given.text("family").c_str(),
                      {.missing = Missing(given.integer("missing", 0, int(Missing::keep))),
                       .max_dimension = int(given.integer("max_dimension", 0, 1 << 30))},
                      names.empty() ? nullptr : description_of(fcinfo, first_value, names));
  return out;
}

void read_row(FunctionCallInfo fcinfo, KeptRows &to) {
  const FilesOfTransaction files;
  const NullableDatum *const values = &fcinfo->args[first_value];
  const bool whole = !to.rows.described();
  NullableDatum weight = {Datum(0), true};
  const bool weighted = OidIsValid(to.weight_type);
  if (weighted && !values[to.columns].isnull && !(whole && values[0].isnull))
    weight = {Float8GetDatum(bayes::pg::number_of(values[to.columns].value, to.weight_type)),
              false};
  if (whole) return to.rows.add({values, weighted ? &weight : nullptr});
  std::vector<Datum> fields;
  std::unique_ptr<bool[]> nulls(new bool[std::size_t(to.columns)]);
  for (int j = 0; j < to.columns; ++j) {
    fields.push_back(values[j].value);
    nulls[std::size_t(j)] = values[j].isnull;
  }
  to.rows.add_fields(fields.data(), nulls.get(), weighted ? &weight : nullptr);
}

/// Gives labels the codes that they have in all parts, and orders the rows; once.
Document settle(KeptRows &rows, const Document &request, Control &control) {
  if (rows.settled) PassReader::refuse();
  rows.settled = true;
  if (rows.rows.described())
    rows.rows.recode(columns_of_message(PassReader(request).member("columns")));
  rows.rows.rows.arrange(control);
  rows.rows.rows.set_incomplete(count_incomplete(rows.rows.rows, control));
  DataHash hash;
  hash.add(rows.rows.rows, false, control);
  Document out = Document::object();
  out.set("hash", std::bit_cast<std::int64_t>(hash.value()));
  if (!rows.rows.described()) return out;
  std::vector<std::size_t> all(rows.rows.columns().size());
  std::iota(all.begin(), all.end(), std::size_t(0));
  out.set("facts", column_facts(rows.rows.rows, all.size(), all).message());
  return out;
}

}  // namespace

/// (internal, int, bayes_pass, values...) -> internal
BAYES_FUNCTION(bayes_keep_rows_transition) {
  const MemoryContext context = aggregate_context(fcinfo);
  auto *state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<KeepState *>(PG_GETARG_POINTER(0));
  if (!state) {
    const std::uint64_t serial = begin_rows(fcinfo).serial();
    state = static_cast<KeepState *>(
        guarded([context] { return MemoryContextAlloc(context, sizeof(KeepState)); }));
    state->serial = serial;
  }
  read_row(fcinfo, kept_rows_of(state->serial));
  PG_RETURN_POINTER(state);
}

/// (internal) -> bayes_pass: NULL if there were no rows at all
BAYES_FUNCTION(bayes_keep_rows_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  KeptRows &kept = kept_rows_of(reinterpret_cast<KeepState *>(PG_GETARG_POINTER(0))->serial);
  RowCollector &rows = kept.rows;
  rows.sort_labels();
  rows.progress.end();
  Document out = Document::object();
  out.set("rows", rows.rows.rows()).set("skipped", rows.rows.skipped()).set("seen", rows.seen());
  out.set("zero_weights", rows.zero_weights()).set("dimension", rows.dimension());
  if (rows.rows.rows() > 0 && rows.described()) out.set("columns", columns_message(rows.columns()));
  return answer_value(kept.part(), std::move(out));
}

/// (internal, boolean) -> internal: there are no rows, and if there are, they do not matter
BAYES_FUNCTION(bayes_make_pass_transition) {
  aggregate_context(fcinfo);
  PG_RETURN_NULL();
}

/// (internal, int, bayes_pass) -> bayes_pass
BAYES_FUNCTION(bayes_make_pass_final) {
  aggregate_context(fcinfo);
  const Request request(fcinfo, 1);
  const PassReader given(request.body());
  if (given.text("pass") == "forget") {
    forget_kept_rows(request.fit);
    return answer_value(request.part, Document::object());
  }
  KeptRows *const kept = find_kept_rows(request.fit, request.part);
  if (!kept) return answer_value(request.part, {});
  ServerControl control;
  return answer_value(request.part, given.text("pass") == "settle"
                                        ? settle(*kept, request.body(), control)
                                        : answer_pass(kept->as_part, request.body(), control));
}
