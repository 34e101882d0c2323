#include "pg/input/row_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/message.hpp"
#include "base/unseen.hpp"
#include "document/members.hpp"
#include "families/product/product_options.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/server/encoding.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {

ColumnLabels::ColumnLabels(std::string column, const std::vector<std::string> &known, bool closed)
    : labels_(std::size_t(max_categories),
              [column](TermDictionary::Excess excess, std::string_view label) {
                if (excess == TermDictionary::Excess::length)
                  throw Error(Errc::too_large,
                              message("a label of column {} is {} bytes long, but the limit is {}",
                                      describe(column), label.size(), max_term_bytes),
                              {}, "Use a shorter label, such as md5(label).");
                throw Error(Errc::too_large,
                            message("column {} has more than {} different labels", describe(column),
                                    max_categories),
                            "A column of labels should have few different values.",
                            "Leave out columns that identify the row, such as an id; combine rare "
                            "labels into one.");
              }),
      closed_(false) {
  for (const std::string &label : known) code(label);
  closed_ = closed;
  if (closed) labels_.close();
}

double ColumnLabels::code(std::string_view label) {
  if (closed_ && label.size() > max_term_bytes) {
    unknown_ = abbreviated(label);
    return unseen_category;
  }
  const std::int32_t number = labels_.number(label);
  if (number >= 0) return number;
  unknown_ = abbreviated(label);
  return unseen_category;
}

std::vector<std::string> ColumnLabels::all() const {
  std::vector<std::string> out;
  for (std::int32_t i = 0; i < labels_.size(); ++i) out.emplace_back(labels_.term(i));
  return out;
}

void require_label(double code, std::int64_t labels, const std::string &column,
                   const std::string &where) {
  if (std::isnan(code) || (code >= 0 && code < double(labels) && code == std::floor(code))) return;
  throw Error(Errc::invalid_argument,
              message("{} has code {} in column {}, which is not the code of a label", where,
                      format_number(code), describe(column)),
              message("The column has {} labels, whose codes in arrays are 0 to {} "
                      "(bayes_columns(model)).",
                      labels, labels - 1),
              "Give labels, not codes, in a record: SELECT f(r, model) FROM (SELECT a, b FROM t) "
              "AS r. New labels are then added.");
}

namespace {

/// For a type whose cast must be written: the type's owner chooses the function of a cast.
constexpr const char *cast_hint = "Cast it to an array of numbers: f(column::real[]).";

std::string quoted(std::string_view name) { return describe(Document(std::string(name))); }

/// The kind of a column of type `declared`, whose base type is `base`. Throws Error for types that
/// columns cannot have.
ValueKind kind_of_column(Oid declared, Oid base, const std::string &name) {
  if (is_number_type(base)) return ValueKind::number;
  if (base == BOOLOID) return ValueKind::boolean;
  char category = 0;
  bool preferred;
  guarded(
      [base, &category, &preferred] { get_type_category_preferred(base, &category, &preferred); });
  switch (category) {
    case TYPCATEGORY_STRING:
    case TYPCATEGORY_ENUM:
    case TYPCATEGORY_NETWORK: return ValueKind::label;
    default: break;
  }
  // The type of a literal within ROW(...) is unknown.
  if (base == UUIDOID || base == UNKNOWNOID) return ValueKind::label;
  const bool time = category == TYPCATEGORY_DATETIME || category == TYPCATEGORY_TIMESPAN,
             array = category == TYPCATEGORY_ARRAY;
  const bool cast = has_array_cast(base);
  throw Error(Errc::invalid_argument,
              message("column {} is of type {}", quoted(name), name_of_type(declared)),
              "A column of a row must be a number, a boolean or a label (a text or an enum).",
              time ? "Convert it to a number, as by extract(epoch FROM column), or to a label, as "
                     "by to_char(column, 'YYYY-MM')."
              : array ? "An array is a row by itself: f(column). Or give its elements as columns."
              : cast  ? cast_hint
                     : "Cast it to a number, or to text if its values are labels; or leave it out: "
                       "SELECT f(r) FROM (SELECT a, b FROM t) AS r.");
}

std::vector<int> attributes_of(TupleDesc description, int first) {
  std::vector<int> out;
  for (int i = first; i < description->natts; ++i)
    if (!TupleDescAttr(description, i)->attisdropped) out.push_back(i);
  return out;
}

std::string name_of_attribute(TupleDesc description, int index) {
  return utf8_of_server(NameStr(TupleDescAttr(description, index)->attname));
}

Oid base_of_attribute(TupleDesc description, int index) {
  const Oid declared = TupleDescAttr(description, index)->atttypid;
  return guarded([declared] { return getBaseType(declared); });
}

template <class T> double load(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return double(value);
}

/// The fields of an open record.
class RecordSource {
 public:
  explicit RecordSource(const RecordFields &record) : record_(record) {}
  bool null(std::size_t at) const { return record_.null(at); }
  Datum value(std::size_t at) const { return record_.value(at); }
  double number(std::size_t at, Oid base) const {
    const char *const place = record_.place(at);
    switch (base) {
      case FLOAT8OID: return load<double>(place);
      case FLOAT4OID: return load<float>(place);
      case INT2OID: return load<std::int16_t>(place);
      case INT4OID: return load<std::int32_t>(place);
      case INT8OID: return load<std::int64_t>(place);
      case BOOLOID: return load<std::int8_t>(place);
      default: return number_of(record_.value(at), base);
    }
  }

 private:
  const RecordFields &record_;
};

/// Fields of a record that are given as Datums.
class DatumSource {
 public:
  DatumSource(const Datum *values, const bool *nulls) : values_(values), nulls_(nulls) {}
  bool null(std::size_t at) const { return nulls_[at]; }
  Datum value(std::size_t at) const { return values_[at]; }
  double number(std::size_t at, Oid base) const { return number_of(values_[at], base); }

 private:
  const Datum *values_;
  const bool *nulls_;
};

}  // namespace

// ---- columns ----

void require_label_type(Oid type) {
  const Oid base = guarded([type] { return getBaseType(type); });
  if (!is_record_type(base) && !guarded([base] { return OidIsValid(get_element_type(base)); }))
    return;
  throw SqlError(ERRCODE_DATATYPE_MISMATCH,
                 message("the response is of type {}", name_of_type(type)),
                 "A label is a value of any type but an array or a record.");
}

RowReader::RowReader(MemoryContext context, Oid type, bool one_label)
    : context_(context),
      form_(Form::array),
      record_(context) {
  if (!OidIsValid(type)) return;
  base_ = guarded([type] { return getBaseType(type); });
  const Oid base = base_;
  if (is_record_type(base))
    form_ = Form::record;
  else if (one_label && !guarded([base] { return OidIsValid(get_element_type(base)); }))
    form_ = Form::label;
  else if (is_number_type(base) || base == BOOLOID)
    form_ = Form::value;
  else if (!guarded([base] { return OidIsValid(get_element_type(base)); }))
    find_cast(type);
}

void RowReader::find_cast(Oid type) {
  form_ = Form::cast;
  if (make_array_.open(context_, base_)) return;
  const bool text = guarded([this] { return TypeCategory(base_) == TYPCATEGORY_STRING; });
  const bool cast = has_array_cast(base_);
  throw SqlError(ERRCODE_DATATYPE_MISMATCH, message("a row is of type {}", name_of_type(type)),
                 "A row is a record, an array of numbers, a number or a boolean.",
                 text ? "If the text is a query, cast it to bayes_query. Give columns as a record: "
                        "SELECT f(r) FROM (SELECT a, b FROM t) AS r."
                 : cast ? cast_hint
                        : "Give columns as a record: SELECT f(r) FROM (SELECT a, b FROM t) AS r.");
}

void RowReader::add_column(RowColumn column, const std::vector<std::string> &labels, bool closed) {
  const bool has_labels = column.kind == ValueKind::label;
  labels_.push_back(has_labels ? std::make_unique<ColumnLabels>(column.name, labels, closed)
                               : nullptr);
  if (has_labels) label_columns_.push_back(columns_.size());
  columns_.push_back(std::move(column));
  fields_.emplace_back();
  x_.push_back(0);
}

void RowReader::expect(const ModelInfo &info, UnknownLabels unknown) {
  from_model_ = true;
  only_labels_ = unknown == UnknownLabels::added;
  for (const RowColumn &column : info.columns)
    add_column({column.name, column.kind}, column.labels, unknown == UnknownLabels::missing);
  if (form_ == Form::label) {
    fields_[0].type = std::make_unique<ElementType>(context_);
    fields_[0].type->use(base_);
  }
  // Rows of a model without names are matched by position.
  if (info.columns.empty() && records())
    for (int j = 1; j <= info.dimension; ++j) add_column({message("f{}", j)}, {}, true);
}

std::vector<std::vector<double>> RowReader::sort_labels(Before before) {
  std::vector<std::vector<double>> out(columns_.size());
  bool any = false;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (!labels_[j]) continue;
    std::vector<std::string> labels = labels_[j]->all();
    if (std::is_sorted(labels.begin(), labels.end(), before)) continue;
    std::vector<std::size_t> order(labels.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::sort(order.begin(), order.end(), [&labels, before](std::size_t a, std::size_t b) {
      return before(labels[a], labels[b]);
    });
    std::vector<std::string> sorted;
    out[j].resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      out[j][order[i]] = double(i);
      sorted.push_back(std::move(labels[order[i]]));
    }
    labels_[j] = std::make_unique<ColumnLabels>(columns_[j].name, sorted, false);
    if (fields_[j].type) fields_[j].type->forget();
    any = true;
  }
  return any ? out : std::vector<std::vector<double>>();
}

RowReader::Merged RowReader::merge(const RowColumns &columns) {
  if (columns_.empty())
    for (const RowColumn &column : columns) add_column({column.name, column.kind}, {}, false);
  Merged out{find_columns(columns), std::vector<std::vector<double>>(columns_.size())};
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const RowColumn &there = columns[out.places[j]];
    if ((there.kind == ValueKind::label) != (labels_[j] != nullptr))
      throw Error(Errc::invalid_argument,
                  message("column {} is a {}, but was a {} in the rows before",
                          quoted(columns_[j].name), name_of(there.kind), name_of(columns_[j].kind)),
                  {}, "Cast it to one type in all rows.");
    if (!labels_[j]) continue;
    for (const std::string &label : there.labels) out.codes[j].push_back(labels_[j]->code(label));
  }
  return out;
}

RowColumns RowReader::columns() const {
  RowColumns out = columns_;
  for (std::size_t j = 0; j < out.size(); ++j)
    if (labels_[j]) out[j].labels = labels_[j]->all();
  return out;
}

void RowReader::describe(TupleDesc description, int first) {
  form_ = Form::record;
  if (columns_.empty())
    define(description, first);
  else
    match(description, first);
}

void RowReader::define(TupleDesc description, int first) {
  const std::vector<int> attributes = attributes_of(description, first);
  if (attributes.empty())
    throw Error(Errc::invalid_argument, "rows have no columns", {},
                "A row must have at least one column.");
  RowColumns given;
  for (const int index : attributes) given.push_back({name_of_attribute(description, index)});
  // If two columns have the same name, columns cannot be found by name: all are then matched by
  // position.
  const bool positions = names_repeat(given);
  for (std::size_t j = 0; j < given.size(); ++j) {
    const std::string name = positions ? message("f{}", j + 1) : given[j].name;
    const int index = attributes[j];
    const ValueKind kind = kind_of_column(TupleDescAttr(description, index)->atttypid,
                                          base_of_attribute(description, index), name);
    add_column({name, kind}, {}, false);
    place(columns_.size() - 1, description, index);
  }
}

void RowReader::match(TupleDesc description, int first) {
  const std::vector<int> attributes = attributes_of(description, first);
  RowColumns given;
  for (const int index : attributes) given.push_back({name_of_attribute(description, index)});
  const std::vector<std::size_t> places = find_columns(given);
  for (std::size_t j = 0; j < columns_.size(); ++j)
    if (places[j] == absent)
      fields_[j].index = absent;
    else
      place(j, description, attributes[places[j]]);
}

/// Reads column `column` from attribute `index` of records from now on.
void RowReader::place(std::size_t column, TupleDesc description, int index) {
  Field &field = fields_[column];
  const Oid declared = TupleDescAttr(description, index)->atttypid;
  field.index = std::size_t(index);
  field.base = base_of_attribute(description, index);
  const ValueKind kind = columns_[column].kind;
  const bool number = is_number_type(field.base) || field.base == BOOLOID;
  if (labels_[column] ? kind_of_column(declared, field.base, columns_[column].name) != kind
                      : !number && field.base != UNKNOWNOID)
    throw Error(Errc::invalid_argument,
                message("column {} is of type {}, but was a {} {}", quoted(columns_[column].name),
                        name_of_type(declared), name_of(kind),
                        from_model_ ? "when the model was fitted" : "in the rows before"),
                {},
                labels_[column] ? "Cast it to text if its values are such labels."
                                : "Cast it to the type that it had.");
  if (!labels_[column]) return;
  field.type = std::make_unique<ElementType>(context_);
  field.type->use(declared);
}

// ---- rows ----

void RowReader::open(Datum row) {
  if (!records() || !record_.open(row)) return;
  // If the description is refused, the next row of its type must be, too.
  const std::uint64_t identifier = record_.forget();
  describe(record_.description());
  record_.remember(identifier);
}

std::optional<std::span<const double>> RowReader::read(Datum row, std::int64_t number,
                                                       Missing missing) {
  switch (form_) {
    case Form::array: return read_array(row, number, missing);
    case Form::cast:
      return read_array(guarded([this, row] { return make_array_.array_of(row); }), number,
                        missing);
    case Form::record: {
      const auto x = read_from(RecordSource(record_), number, missing);
      record_.close();
      return x;
    }
    case Form::label:
      x_[0] = fields_[0].type->symbol(row, *labels_[0]);
      if (x_[0] == code_of_nan) {
        x_[0] = std::nan("");
        refuse(0, false, number);
      }
      if (reports_unknown_ && std::isnan(x_[0])) report_unknown_label_of(0, row);
      return x_;
    case Form::value: break;
  }
  x_.assign(1, number_of(row, base_));
  return checked([](std::size_t) { return false; }, number, missing);
}

std::optional<std::span<const double>> RowReader::read_array(Datum array, std::int64_t number,
                                                             Missing missing) {
  const auto x = array_.read(array, number, missing);
  // The caller checks the length of the row.
  if (x && only_labels_ && x->size() == columns_.size())
    for (const std::size_t j : label_columns_)
      require_label((*x)[j], labels_[j]->size(), columns_[j].name, message("row {}", number));
  return x;
}

std::optional<std::span<const double>> RowReader::read_fields(const Datum *values,
                                                              const bool *nulls,
                                                              std::int64_t number,
                                                              Missing missing) {
  return read_from(DatumSource(values, nulls), number, missing);
}

template <class Source>
std::optional<std::span<const double>> RowReader::read_from(const Source &source,
                                                            std::int64_t number, Missing missing) {
  const auto is_null = [this, &source](std::size_t j) {
    return fields_[j].index == absent || source.null(fields_[j].index);
  };
  for (std::size_t j = 0; j < fields_.size(); ++j) {
    const Field &field = fields_[j];
    if (is_null(j))
      x_[j] = missing_value;
    else if (!field.type)
      x_[j] = source.number(field.index, field.base);
    else
      x_[j] = 0;  // set below, once the row is known to be used
  }
  const auto x = checked(is_null, number, missing);
  if (!x) return x;
  for (const std::size_t j : label_columns_) {
    const Field &field = fields_[j];
    if (is_null(j)) continue;
    x_[j] = field.type->symbol(source.value(field.index), *labels_[j]);
    if (!std::isnan(x_[j])) continue;
    if (reports_unknown_) report_unknown_label_of(j, source.value(field.index));
    if (missing == Missing::keep) continue;
    if (missing == Missing::skip || missing == Missing::skip_null) return std::nullopt;
    throw Error(Errc::invalid_argument,
                message("{} has label {}, which the model does not know", place_of(j, number),
                        quoted(labels_[j]->unknown())),
                message("It was fitted to {} different labels.", labels_[j]->size()),
                "A model that is fitted without option missing = error treats such a label as "
                "missing; a regression gives NULL for it.");
  }
  return x_;
}

template <class IsNull>
std::optional<std::span<const double>> RowReader::checked(IsNull is_null, std::int64_t number,
                                                          Missing missing) {
  if (all_usable(x_)) return x_;
  for (std::size_t j = 0; j < x_.size(); ++j) {
    const bool null = is_null(j);
    if (missing == Missing::skip && !std::isfinite(x_[j])) return std::nullopt;
    if (missing == Missing::skip_null && null) return std::nullopt;
    if (null && missing == Missing::keep) continue;
    if (!(std::fabs(x_[j]) <= max_abs_element)) refuse(j, null, number);
  }
  return x_;
}

/// Finds the label from its value, as the reader caches codes of values, also of unknown labels.
void RowReader::report_unknown_label_of(std::size_t column, Datum value) {
  const auto label = fields_[column].type->text(value);
  if (label)
    report_unknown_label(place_of(column, 0), *label,
                         [this, column] { return labels_[column]->all(); });
}

std::string RowReader::place_of(std::size_t column, std::int64_t number) const {
  const std::string text = message("column {}", quoted(columns_[column].name));
  if (number == 0) return text;
  return message("{} of {}", text, name_row_ ? name_row_(number) : message("row {}", number));
}

void RowReader::refuse(std::size_t column, bool null, std::int64_t number) const {
  const std::string where = !columns_.empty() ? place_of(column, number)
                            : number > 0      ? message("row {}", number)
                                              : std::string("x");
  refuse_value(null ? std::optional<double>() : x_[column], where, number);
}

// How RowReader finds the columns that it expects in records: by name, or by position where columns
// have no names.

namespace {

std::string quoted_name(const std::string &name) { return describe(Document(name)); }

}  // namespace

bool names_repeat(const RowColumns &columns) {
  std::vector<std::string> names;
  for (const RowColumn &column : columns) names.push_back(column.name);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

/// Throws Error. `given`: the record has no names of columns, but the expected columns do; if
/// false, the reverse.
void RowReader::refuse_positions(bool given) const {
  std::string names;
  const std::size_t most = 3;
  for (std::size_t j = 0; j < std::min(most, columns_.size()); ++j)
    names += (j ? ", " : "") + quoted_name(columns_[j].name);
  if (columns_.size() > most) names += ", ...";
  const char *const place = from_model_ ? "the model" : "the rows before";
  throw SqlError(
      ERRCODE_DATATYPE_MISMATCH,
      given ? message("columns of a record have no names, but those of {} are {}", place, names)
            : message("columns of a record have names, but those of {} have none", place),
      "Columns f1, f2, ... come from ROW(a, b); their order need not be that of named columns.",
      given && from_model_
          ? "Give a row of a table or a subquery, SELECT f(model, r) FROM (SELECT a, b "
            "FROM t) AS r; or ROW(a, b)::type; or, to match by position, an array."
          : "Give rows of a table or a subquery, SELECT f(r) FROM (SELECT a, b FROM t) "
            "AS r; or ROW(a, b)::type.");
}

/// The index in `given` of every column; `absent` for a column that is absent and may be.
std::vector<std::size_t> RowReader::find_columns(const RowColumns &given) const {
  std::vector<std::size_t> out;
  const auto is_given = [&](const RowColumn &column) {
    return find_column(given, column.name) >= 0;
  };
  const bool found = absent_allowed_ ? std::any_of(columns_.begin(), columns_.end(), is_given)
                                     : std::all_of(columns_.begin(), columns_.end(), is_given);
  const bool nameless = by_position(given), positions = by_position(columns_);
  // A model of arrays, or of records without names, takes rows with any names. In all other cases
  // the order of columns may differ, for example if the planner has turned a row of a table into
  // ROW(...).
  if (!found && nameless != positions && !given.empty() &&
      (nameless || !(from_model_ || names_repeat(given))))
    refuse_positions(nameless);
  if (positions && (nameless || !found)) {
    if (given.size() > columns_.size() || given.size() + trailing_ < columns_.size())
      throw Error(
          Errc::array_shape,
          message("a row has {} columns, but {} are expected", given.size(), columns_.size()),
          "Columns without names, such as those of ROW(a, b), are matched by position.");
    for (std::size_t j = 0; j < columns_.size(); ++j) out.push_back(j < given.size() ? j : absent);
    return out;
  }
  for (const RowColumn &column : columns_) {
    const std::string &name = column.name;
    const int at = find_column(given, name);
    if (std::count_if(given.begin(), given.end(),
                      [&name](const RowColumn &other) { return other.name == name; }) > 1)
      throw Error(Errc::invalid_argument, message("rows have two columns {}", quoted_name(name)),
                  {}, "Give one of them another name: SELECT a AS b.");
    if (at < 0 && absent_allowed_ && found) {
      out.push_back(absent);
      continue;
    }
    if (at < 0)
      throw Error(Errc::invalid_argument, message("rows have no column {}", quoted_name(name)),
                  from_model_
                      ? message("It is one of the {} columns that the model was fitted to.",
                                columns_.size())
                      : message("It is one of the {} columns of the rows before.", columns_.size()),
                  "Columns are matched by name; additional columns are ignored.");
    out.push_back(std::size_t(at));
  }
  report_misspelt(given);
  return out;
}

/// NOTICE of a column that rows lack, if it seems to be there by another name.
void RowReader::report_misspelt(const RowColumns &given) const {
  if (!absent_allowed_) return;
  std::vector<std::string> others;
  for (const RowColumn &each : given)
    if (find_column(columns_, each.name) < 0) others.push_back(each.name);
  for (const RowColumn &each : columns_)
    if (find_column(given, each.name) < 0) report_misspelt_column(each.name, others);
}

}  // namespace bayes::pg
