#include "pg/bind/questions.hpp"

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/message.hpp"
#include "base/unseen.hpp"
#include "document/members.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/input/row_reader.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"
#include "pg/values/json.hpp"
#include "pg/values/results.hpp"
#include "questions/answers.hpp"
#include "questions/box.hpp"
#include "questions/conditional_model.hpp"
#include "questions/dependence.hpp"
#include "questions/row_distribution.hpp"

namespace bayes::pg {
namespace {

// A row of SQL, a record, an array or a value, with some of its NULLs replaced.

class FilledRows {
 public:
  /// `type`: of the row that `reader` has read, of the model whose rows have this distribution. All
  /// must outlive this.
  FilledRows(Oid type, const RowReader &reader, const RowDistribution &rows, Datum row);

  /// Has the row a column or an element for this element of the model?
  bool has_place(int element) const;
  /// A copy of the row, in CurrentMemoryContext, with values[j] in the places of the elements j:
  /// numbers for columns of whole numbers rounded, labels as values of the type of their column.
  /// Throws Error for a number that its type cannot hold. Throws Pending for a value that a domain
  /// forbids, be it the type of the row, of a column or of an element.
  Datum row(std::span<const int> elements, std::span<const double> values) const;

 private:
  Datum record(std::span<const int> elements, std::span<const double> values) const;
  Datum array(std::span<const int> elements, std::span<const double> values) const;
  Datum value_of(int element, double x, Oid type, std::int32_t modifier) const;

  Oid type_;
  const RowReader &reader_;
  const RowDistribution &rows_;
  Datum row_;
  /// of an array
  int length_ = 0;
};

bool is_whole_type(Oid base) { return base == INT2OID || base == INT4OID || base == INT8OID; }

/// The largest number of a type of whole numbers.
double limit_of(Oid base) {
  return base == INT2OID ? 32767 : base == INT4OID ? 2147483647 : 9223372036854774784.0;
}

FilledRows::FilledRows(Oid type, const RowReader &reader, const RowDistribution &rows, Datum row)
    : type_(type),
      reader_(reader),
      rows_(rows),
      row_(row) {
  if (!reader.records() && is_array_type(type))
    length_ = guarded([row] {
      const ArrayType *const array = DatumGetArrayTypeP(row);
      return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    });
}

bool FilledRows::has_place(int element) const {
  return reader_.records() ? reader_.attribute_of(std::size_t(element)) >= 0 : element < length_;
}

Datum FilledRows::row(std::span<const int> elements, std::span<const double> values) const {
  const Datum out = reader_.records() ? record(elements, values) : array(elements, values);
  // PostgreSQL takes a value that a function returns as one of its type: nobody else checks it.
  guarded([this, out] {
    if (get_typtype(type_) == TYPTYPE_DOMAIN)
      domain_check(out, false, type_, nullptr, CurrentMemoryContext);
  });
  return out;
}

Datum FilledRows::record(std::span<const int> elements, std::span<const double> values) const {
  const TupleDesc description = reader_.description();
  const std::size_t size = std::size_t(description->natts);
  std::vector<Datum> fields(size);
  const auto nulls = std::make_unique<bool[]>(size);
  guarded([this, description, fields = fields.data(), nulls = nulls.get()] {
    const HeapTupleHeader header = DatumGetHeapTupleHeader(row_);
    HeapTupleData tuple = {};
    tuple.t_len = HeapTupleHeaderGetDatumLength(header);
    tuple.t_data = header;
    heap_deform_tuple(&tuple, description, fields, nulls);
  });
  for (const int element : elements) {
    const int at = reader_.attribute_of(std::size_t(element));
    const Form_pg_attribute attribute = TupleDescAttr(description, at);
    fields[std::size_t(at)] =
        value_of(element, values[std::size_t(element)], attribute->atttypid, attribute->atttypmod);
    nulls[std::size_t(at)] = false;
  }
  return guarded([description, fields = fields.data(), nulls = nulls.get()] {
    return HeapTupleGetDatum(heap_form_tuple(description, fields, nulls));
  });
}

Datum FilledRows::array(std::span<const int> elements, std::span<const double> values) const {
  struct Parts {
    Oid type;
    std::int16_t length;
    bool by_value;
    char align;
    ArrayType *array;
    Datum *fields;
    bool *nulls;
    int size;
  };
  const Parts parts = guarded([this] {
    Parts out = {};
    out.array = DatumGetArrayTypeP(row_);
    out.type = ARR_ELEMTYPE(out.array);
    get_typlenbyvalalign(out.type, &out.length, &out.by_value, &out.align);
    deconstruct_array(out.array, out.type, out.length, out.by_value, out.align, &out.fields,
                      &out.nulls, &out.size);
    return out;
  });
  // The reader looks at values only, and there may be none.
  const Oid base = guarded([&parts] { return getBaseType(parts.type); });
  if (!is_number_type(base) && base != BOOLOID) refuse_elements();
  for (const int element : elements) {
    parts.fields[element] = value_of(element, values[std::size_t(element)], parts.type, -1);
    parts.nulls[element] = false;
  }
  return guarded([&parts] {
    return PointerGetDatum(construct_md_array(
        parts.fields, parts.nulls, ARR_NDIM(parts.array), ARR_DIMS(parts.array),
        ARR_LBOUND(parts.array), parts.type, parts.length, parts.by_value, parts.align));
  });
}

Datum FilledRows::value_of(int element, double x, Oid type, std::int32_t modifier) const {
  if (type == FLOAT8OID) return guarded([x] { return Float8GetDatum(x); });
  const Oid base = guarded([type] { return getBaseType(type); });
  if (is_whole_type(base)) {
    x = std::rint(x);
    if (!(std::abs(x) <= limit_of(base)))
      throw Error(
          Errc::numeric, message("{} is out of the range of type {}", x, name_of_type(type)),
          message("It is a value of {}.",
                  rows_.columns().empty()
                      ? message("element {}", element + 1)
                      : message("column {}",
                                describe(Document(rows_.columns()[std::size_t(element)].name)))));
  }
  // Types in the order of their frequency. Other types are made from the text of the value, which
  // also checks domains and rounds to the scale of a numeric.
  const std::int64_t whole = is_whole_type(base) || base == BOOLOID ? std::int64_t(x) : 0;
  switch (type) {
    case INT2OID: return Int16GetDatum(std::int16_t(whole));
    case INT4OID: return Int32GetDatum(std::int32_t(whole));
    case INT8OID: return guarded([whole] { return Int64GetDatum(whole); });
    case BOOLOID: return BoolGetDatum(x >= 0.5);
    default: break;
  }
  const bool label = !is_number_type(base) && base != BOOLOID;
  const std::string text = label                 ? rows_.label(element, x)
                           : is_whole_type(base) ? message("{}", whole)
                           : base == BOOLOID     ? std::string(x >= 0.5 ? "true" : "false")
                                                 : message("{}", x);
  return guarded([type, modifier, data = text.c_str(), size = text.size()] {
    Oid input, parameter;
    getTypeInputInfo(type, &input, &parameter);
    char *const own = pstrdup(server_of_utf8(data, size));
    return OidInputFunctionCall(input, own, parameter, modifier);
  });
}

}  // namespace

Questions::Questions(MemoryContext context, FunctionCallInfo fcinfo, int first_row, int rows)
    : context_(context),
      readers_context_(guarded([context] {
        return AllocSetContextCreate(context, "pg_bayes rows of questions", ALLOCSET_SMALL_SIZES);
      })),
      first_row_(first_row),
      models_(nullptr) {
  for (int i = 0; i < rows; ++i) {
    const int at = first_row + i;
    types_.push_back(argument_type(fcinfo, at));
  }
}

RowDistribution &Questions::distribution(const std::shared_ptr<const Model> &model) {
  if (entry_ && entry_->model == model) return *entry_->distribution;
  entry_ = nullptr;
  auto found = entries_.find(model.get());
  if (found == entries_.end()) {
    if (entries_.size() >= max_entries) {
      entries_.clear();
      MemoryContextReset(readers_context_);
    }
    Entry entry{model, model->row_distribution(), nullptr, {}, {}};
    ModelInfo info;
    info.columns = entry.distribution->columns();
    info.dimension = entry.distribution->dimension();
    // Symbols of sequences have no column in the model.
    const bool one_label = model->info.columns.empty() && info.columns.size() == 1 &&
                           info.columns[0].kind == ValueKind::label;
    for (const Oid type : types_) {
      entry.readers.push_back(std::make_unique<RowReader>(readers_context_, type, one_label));
      RowReader &reader = *entry.readers.back();
      if (reader.records() || reader.labels()) reader.expect(info);
      reader.report_unknown();
      reader.allow_absent(std::size_t(info.dimension - model->info.dimension));
    }
    entry.rows.resize(types_.size());
    found = entries_.emplace(model.get(), std::move(entry)).first;
  }
  entry_ = &found->second;
  return *entry_->distribution;
}

std::span<const double> Questions::row(FunctionCallInfo fcinfo, int which, bool bounds) {
  RowReader &reader = *entry_->readers[std::size_t(which)];
  const Datum datum = PG_GETARG_DATUM(first_row_ + which);
  reader.open(datum);
  const auto x = reader.read(datum, 0, Missing::keep);
  std::vector<double> &row = entry_->rows[std::size_t(which)];
  row.assign(x->begin(), x->end());
  const std::size_t own = std::size_t(entry_->model->info.dimension),
                    whole = std::size_t(entry_->distribution->dimension());
  if (row.size() != own && row.size() != whole) wrong_length(row.size(), own, "the model", 0);
  row.resize(whole, std::nan(""));
  if (bounds) return row;
  const RowDistribution &rows = *entry_->distribution;
  const std::span<const double> checked = entry_->distribution->checked(row);
  for (std::size_t j = 0; j < row.size(); ++j)
    if (is_unseen(checked[j]) && !std::isnan(row[j]))
      report_unknown_label(message("element {}", j + 1), rows.label(int(j), row[j]), [&rows, j] {
        std::vector<std::string> out;
        for (const double each : rows.categories(int(j))) out.push_back(rows.label(int(j), each));
        return out;
      });
  row.assign(checked.begin(), checked.end());
  return row;
}

Anomalies &Questions::anomalies() {
  if (!entry_->anomalies) entry_->anomalies = std::make_unique<Anomalies>(*entry_->distribution);
  return *entry_->anomalies;
}

namespace {

/// The lines of one missing element.
void emit_conditional(ResultRows &result, RowDistribution &rows, int element, double level) {
  const Cell place(element + 1), name = rows.columns().empty()
                                            ? Cell()
                                            : Cell::text(rows.columns()[std::size_t(element)].name);
  const std::vector<double> &categories = rows.categories(element);
  if (categories.empty()) {
    const NumberGiven of = number_given(rows, element, level);
    result.row({place, name, Cell(), Cell::or_null(of.median), Cell::or_null(of.mean),
                Cell::or_null(of.sd), Cell::or_null(of.lower), Cell::or_null(of.upper), Cell()});
    return;
  }
  const std::vector<double> p = rows.probabilities(element);
  for (std::size_t v = 0; v < p.size(); ++v) {
    const std::string label = rows.label(element, categories[v]);
    result.row({place, name, Cell::text(label), Cell(), Cell(), Cell(), Cell(), Cell(), p[v]});
  }
}

/// (model, lower, upper [, given]); nullopt if one of the first three is NULL
std::optional<BoxProbability> box_of_arguments(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2)) return std::nullopt;
  // A NULL without a type has no rows to read.
  const bool given = !PG_ARGISNULL(3);
  auto &site = call_site<Questions>(fcinfo, fcinfo, 1,
                                    !given && argument_type(fcinfo, 3) == UNKNOWNOID ? 2 : 3);
  RowDistribution &rows = site.distribution(fcinfo);
  const std::span<const double> lower = site.row(fcinfo, 0, true),
                                upper = site.row(fcinfo, 1, true);
  const std::vector<double> nothing(lower.size(), std::nan(""));
  return box_probability(rows, lower, upper, given ? site.row(fcinfo, 2) : nothing);
}

/// A value for people to read: a label, or a number.
std::string shown(const RowDistribution &rows, int element, double x) {
  return rows.categories(element).empty() ? message("{}", x) : rows.label(element, x);
}

/// The elements that are asked for and have a place in the row.
std::vector<int> places_to_fill(const FilledRows &filled, std::span<const double> x) {
  std::vector<int> out;
  for (std::size_t j = 0; j < x.size(); ++j)
    if (asked_for(x[j]) && filled.has_place(int(j))) out.push_back(int(j));
  return out;
}

/// A row without values of a type of records, or of arrays, of which it has this length.
Datum row_of_nulls(Oid type, int length) {
  const Oid base = guarded([type] { return getBaseType(type); });
  const bool array = is_array_type(type);
  if (base == RECORDOID || !(array || guarded([base] { return type_is_rowtype(base); })))
    throw Error(Errc::wrong_family, message("rows cannot be made of type {}", name_of_type(type)),
                "It must be a table, another type with columns, or an array.",
                "NULL::t gives the rows the type of table t.");
  const std::size_t columns = array ? std::size_t(length) : std::size_t(0);
  std::vector<Datum> values(columns);
  const auto nulls = std::make_unique<bool[]>(columns);
  std::fill_n(nulls.get(), columns, true);
  return guarded([base, array, length, values = values.data(), nulls = nulls.get()] {
    if (!array) {
      const TupleDesc description = lookup_rowtype_tupdesc_copy(base, -1);
      const auto size = std::size_t(description->natts);
      bool *const all = static_cast<bool *>(palloc(size));
      std::memset(all, 1, size);
      return HeapTupleGetDatum(
          heap_form_tuple(description, static_cast<Datum *>(palloc0(size * sizeof(Datum))), all));
    }
    int sizes[] = {length}, first[] = {1};
    std::int16_t bytes;
    bool by_value;
    char align;
    const Oid element = get_base_element_type(base);
    get_typlenbyvalalign(element, &bytes, &by_value, &align);
    return PointerGetDatum(
        construct_md_array(values, nulls, 1, sizes, first, element, bytes, by_value, align));
  });
}

/// A row of a model whose columns have names.
Document record_of(const RowDistribution &rows, std::span<const double> x) {
  Document out = Document::object();
  for (std::size_t j = 0; j < x.size(); ++j) {
    const RowColumn &column = rows.columns()[j];
    out.set(column.name, column.kind == ValueKind::label     ? Document(rows.label(int(j), x[j]))
                         : column.kind == ValueKind::boolean ? Document(x[j] >= 0.5)
                                                             : Document(x[j]));
  }
  return out;
}

/// n copies of the row that is argument `at`, with draws in the place of its NULLs.
Datum filled_by_draws(FunctionCallInfo fcinfo, int at, int n, std::uint64_t seed) {
  auto &site = call_site<Questions>(fcinfo, fcinfo, at, 1);
  RowDistribution &rows = site.distribution(fcinfo);
  const Datum row = PG_GETARG_DATUM(at);
  const std::span<const double> x = site.row(fcinfo, 0);
  ResultRows result = site.reader(0).records() ? ResultRows(fcinfo, site.reader(0).description())
                                               : ResultRows(fcinfo);
  const FilledRows filled(site.type(0), site.reader(0), rows, row);
  const std::vector<int> places = places_to_fill(filled, x);
  if (!places.empty()) rows.condition(x);
  seed ^= rows.stream(x);
  const ScopedContext scratch(CurrentMemoryContext, "pg_bayes imputed rows");
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    poll_interrupts();
    MemoryContextReset(scratch);
    const CurrentContext here(scratch);
    values.assign(x.begin(), x.end());
    if (!places.empty()) {
      Random random(seed, std::uint64_t(i));
      rows.draw(random, values);
    }
    result.value(places.empty() ? row : filled.row(places, values));
  }
  return Datum(0);
}

}  // namespace

void emit_surprise(ResultRows &result, std::span<const Cell> before, RowDistribution &rows,
                   std::span<const double> x) {
  for (int j = 0; j < rows.dimension(); ++j) {
    const double value = x[std::size_t(j)];
    if (asked_for(value)) continue;
    poll_interrupts();
    const Surprise of = surprise(rows, x, j, default_level);
    const std::string own = is_unseen(value) ? std::string() : shown(rows, j, value),
                      expected = shown(rows, j, of.expected);
    std::vector<Cell> line(before.begin(), before.end());
    for (const Cell &cell :
         {Cell(j + 1),
          rows.columns().empty() ? Cell() : Cell::text(rows.columns()[std::size_t(j)].name),
          is_unseen(value) ? Cell() : Cell::text(own), Cell::text(expected),
          Cell::or_null(of.lower), Cell::or_null(of.upper), Cell(of.nats), Cell(of.tail)})
      line.push_back(cell);
    result.row(line);
  }
}

}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

/// bayes_condition(model, given) -> bayes_model
BAYES_FUNCTION(bayes_condition) {
  auto &site = call_site<Questions>(fcinfo, fcinfo, 1, 1);
  site.distribution(fcinfo);
  const std::span<const double> given = site.row(fcinfo, 0);
  return store_model(*condition(load_model(PG_GETARG_DATUM(0)), given));
}

/// bayes_conditional(model, row [, level])
BAYES_FUNCTION(bayes_conditional) {
  const double level = level_argument(fcinfo, 2);
  ResultRows result(fcinfo);
  auto &site = call_site<Questions>(fcinfo, fcinfo, 1, 1);
  RowDistribution &rows = site.distribution(fcinfo);
  const std::span<const double> x = site.row(fcinfo, 0);
  rows.condition(x);
  for (int j = 0; j < rows.dimension(); ++j)
    if (asked_for(x[std::size_t(j)])) {
      poll_interrupts();
      emit_conditional(result, rows, j, level);
    }
  return Datum(0);
}

/// bayes_impute(model, row)
BAYES_FUNCTION(bayes_impute) {
  auto &site = call_site<Questions>(fcinfo, fcinfo, 1, 1);
  RowDistribution &rows = site.distribution(fcinfo);
  const Datum row = PG_GETARG_DATUM(1);
  const std::span<const double> x = site.row(fcinfo, 0);
  const FilledRows filled(site.type(0), site.reader(0), rows, row);
  const std::vector<int> places = places_to_fill(filled, x);
  if (places.empty()) return row;
  rows.condition(x);
  std::vector<double> values(x.begin(), x.end());
  for (const int j : places) values[std::size_t(j)] = value_given(rows, j);
  return filled.row(places, values);
}

/// bayes_impute(model, row, n, seed)
BAYES_FUNCTION(bayes_impute_draws) {
  const int n = count_argument(fcinfo, 2);
  return filled_by_draws(fcinfo, 1, n, std::uint64_t(PG_GETARG_INT64(3)));
}

/// bayes_sample_rows(model, n, seed, row)
BAYES_FUNCTION(bayes_sample_rows) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2)) {
    // The columns of an anonymous record are not known here.
    reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo)->isDone = ExprEndResult;
    PG_RETURN_NULL();
  }
  const int n = count_argument(fcinfo, 1);
  if (PG_ARGISNULL(3)) {
    const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0));
    fcinfo->args[3].value =
        row_of_nulls(argument_type(fcinfo, 3), model->row_distribution()->dimension());
    fcinfo->args[3].isnull = false;
  }
  return filled_by_draws(fcinfo, 3, n, std::uint64_t(PG_GETARG_INT64(2)));
}

/// bayes_sample_rows(model, n, seed): component and row as jsonb
BAYES_FUNCTION(bayes_sample_records) {
  const int n = count_argument(fcinfo, 1);
  ResultRows result(fcinfo);
  const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0));
  const std::unique_ptr<RowDistribution> rows = model->row_distribution();
  if (rows->columns().empty())
    throw Error(Errc::wrong_family, "the rows of this model have no names of columns", {},
                "bayes_sample(model, n, seed) draws them as arrays.");
  const ScopedContext scratch(CurrentMemoryContext, "pg_bayes drawn rows");
  std::vector<double> x(std::size_t(rows->dimension()), std::nan(""));
  const std::uint64_t seed = std::uint64_t(PG_GETARG_INT64(2)) ^ rows->stream(x);
  for (int i = 0; i < n; ++i) {
    poll_interrupts();
    MemoryContextReset(scratch);
    const CurrentContext here(scratch);
    const int component = rows->sample(seed, i, x);
    const Document record = record_of(*rows, x);
    result.row({component < 0 ? Cell() : Cell(component + 1),
                Cell::datum(guarded([&record] { return jsonb_of(record); }), JSONBOID)});
  }
  return Datum(0);
}

/// bayes_similarity(model, row, row)
BAYES_FUNCTION(bayes_similarity) {
  auto &site = call_site<Questions>(fcinfo, fcinfo, 1, 2);
  RowDistribution &rows = site.distribution(fcinfo);
  const std::span<const double> one = site.row(fcinfo, 0), other = site.row(fcinfo, 1);
  PG_RETURN_FLOAT8(similarity(rows, one, other));
}

/// bayes_anomaly(model, row)
BAYES_FUNCTION(bayes_anomaly) {
  auto &site = call_site<Questions>(fcinfo, fcinfo, 1, 1);
  site.distribution(fcinfo);
  const std::span<const double> x = site.row(fcinfo, 0);
  PG_RETURN_FLOAT8(site.anomalies().probability(x));
}

/// bayes_surprise(model, row)
BAYES_FUNCTION(bayes_surprise) {
  ResultRows result(fcinfo);
  auto &site = call_site<Questions>(fcinfo, fcinfo, 1, 1);
  RowDistribution &rows = site.distribution(fcinfo);
  emit_surprise(result, {}, rows, site.row(fcinfo, 0));
  return Datum(0);
}

/// bayes_probability(model, lower, upper [, given])
BAYES_FUNCTION(bayes_probability) {
  const auto found = box_of_arguments(fcinfo);
  if (!found) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(found->value);
}
BAYES_FUNCTION(bayes_probability_mcse) {
  const auto found = box_of_arguments(fcinfo);
  if (!found) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(found->mcse);
}

/// bayes_mutual_information(model [, options])
BAYES_FUNCTION(bayes_mutual_information) {
  ResultRows result(fcinfo);
  const DependenceOptions options =
      PG_ARGISNULL(1) ? DependenceOptions()
                      : read_dependence_options(document_of_jsonb(PG_GETARG_DATUM(1)));
  if (PG_ARGISNULL(0)) return Datum(0);
  const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0));
  const std::unique_ptr<RowDistribution> rows = model->row_distribution();
  const auto name = [&](int element) {
    return rows->columns().empty() ? Cell()
                                   : Cell::text(rows->columns()[std::size_t(element)].name);
  };
  mutual_information(
      *rows,
      [&](const MutualInformation &of) {
        poll_interrupts();
        result.row({of.first + 1, name(of.first), of.second + 1, name(of.second),
                    Cell::or_null(of.nats), std::isnan(of.nats) ? Cell() : Cell(of.mcse),
                    Cell::or_null(of.dependence)});
      },
      options);
  return Datum(0);
}
