// Charts of any model: bayes_chart, bayes_chart_data, bayes_plot, bayes_page; bound to
// charts/charts.hpp.

#include "charts/charts.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "base/random.hpp"
#include "charts/figure.hpp"
#include "classification/nb.hpp"
#include "document/model.hpp"
#include "document/option_table.hpp"
#include "factor/pmf.hpp"
#include "markov/hmm.hpp"
#include "pg/bind/draws.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/input/observation.hpp"
#include "pg/input/query.hpp"
#include "pg/input/response_query.hpp"
#include "pg/models/factor.hpp"
#include "pg/models/lda.hpp"
#include "pg/models/regression.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/json.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {
namespace {

// The rows of a query that a chart shows under a model.

// Groups of documents, as a chart of their topics shows them.

constexpr const char *hint_of_groups =
    "SELECT date_trunc('month', t), document FROM t: a time or another group, and a document.";

/// Groups of documents, in the order of the type of the grouping values: values that are equal in
/// it are one group, under the least of their texts. Types without an order are ordered by text.
class Groups {
 public:
  /// Values of groups are copied into CurrentMemoryContext.
  explicit Groups(TupleDesc columns) : context_(CurrentMemoryContext) {
    const Form_pg_attribute column = TupleDescAttr(columns, 0);
    collation_ = OidIsValid(column->attcollation) ? column->attcollation : DEFAULT_COLLATION_OID;
    output_ = output_function_of(column->atttypid);
    guarded([this, column] {
      type_ = lookup_type_cache(column->atttypid, TYPECACHE_CMP_PROC_FINFO);
      base_ = getBaseType(column->atttypid);
    });
  }

  /// Adds the proportions of a document to the group with this value; nullopt if they are not
  /// known.
  void add(Datum value, std::optional<std::span<const double>> proportions) {
    const std::string text =
        utf8_of_server(guarded([&] { return OidOutputFunctionCall(output_, value); }));
    const auto [at, found] = place(value, text);
    if (!found) {
      if (!proportions && unknown_ == max_groups) return;
      const CurrentContext here(context_);
      const Datum own = guarded([this, value] {
        return type_->typlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value))
                                   : datumCopy(value, type_->typbyval, type_->typlen);
      });
      groups_.insert(groups_.begin() + std::ptrdiff_t(at), {own, {.name = text, .shares = {}}});
      ++unknown_;
    }
    ChartRows::Group &to = groups_[at].second;
    to.name = std::min(to.name, text);
    if (!proportions) return;
    if (to.documents == 0) {
      if (std::ssize(groups_) - unknown_ == max_groups) refuse(text);
      --unknown_;
      to.shares.assign(proportions->size(), 0.0);
    }
    ++to.documents;
    for (std::size_t k = 0; k < to.shares.size(); ++k)
      to.shares[k] += ((*proportions)[k] - to.shares[k]) / double(to.documents);
  }

  void end(ChartRows &to) {
    to.unknown_groups = unknown_;
    std::erase_if(groups_, [](const auto &group) { return group.second.documents == 0; });
    set_times();
    to.over_time = !groups_.empty();
    for (std::size_t g = 0; g < groups_.size(); ++g)
      to.over_time &= std::isfinite(groups_[g].second.time) &&
                      (g == 0 || groups_[g].second.time >= groups_[g - 1].second.time + 1);
    if (timestamps()) cut_midnight();
    for (auto &[value, group] : groups_) to.groups.push_back(std::move(group));
  }

 private:
  bool timestamps() const { return base_ == TIMESTAMPOID || base_ == TIMESTAMPTZOID; }

  /// The position of the group with this value, or where to insert it; and whether it exists.
  std::pair<std::size_t, bool> place(Datum value, const std::string &text) {
    std::size_t low = 0, high = groups_.size();
    bool found = false;
    guarded([&] {
      while (low < high && !found) {
        const std::size_t middle = (low + high) / 2;
        const auto &[own, group] = groups_[middle];
        const int order =
            OidIsValid(type_->cmp_proc_finfo.fn_oid)
                ? DatumGetInt32(FunctionCall2Coll(&type_->cmp_proc_finfo, collation_, own, value))
                : group.name.compare(text);
        found = order == 0;
        (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
      }
    });
    return {high * found + low * !found, found};
  }

  [[noreturn]] void refuse(const std::string &text) const {
    throw Error(Errc::too_large, message("there are more than {} groups", max_groups),
                message("Another one is \"{}\".", abbreviated(text)),
                timestamps() || base_ == DATEOID
                    ? "Group by longer times: date_trunc('month', t) or date_trunc('year', t)."
                : is_number_type(base_)
                    ? "Group by ranges of the number: width_bucket(), round() or trunc()."
                    : "Group by fewer values: CASE WHEN g IN (...) THEN g ELSE 'other' END.");
  }

  /// Gives dates and times distances, unless one is infinite or beyond the range of charts.
  void set_times() {
    constexpr double day = 86400000, most = 8.64e15;
    const double since_1970 = double(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * day;
    // One time zone for all groups keeps distances when clocks change.
    std::optional<double> west;
    for (auto &[value, group] : groups_) {
      if (base_ == DATEOID) {
        // Infinite dates are out of range as well.
        group.time = since_1970 + double(DatumGetInt32(value)) * day;
      } else if (timestamps()) {
        const Timestamp time = DatumGetTimestamp(value);
        if (TIMESTAMP_NOT_FINITE(time)) continue;
        if (!west) west = base_ == TIMESTAMPOID ? 0 : milliseconds_west(time);
        group.time = since_1970 + std::floor(double(time) / 1000) - *west;
      }
      if (std::fabs(group.time) > most) group.time = ChartItem::none;
    }
  }
  /// West of Greenwich, in the time zone of the session at that time.
  static double milliseconds_west(TimestampTz time) {
    return guarded([time] {
      int zone = 0;
      pg_tm parts;
      fsec_t fraction;
      const char *name;
      timestamp2tm(time, &zone, &parts, &fraction, &name, nullptr);
      return zone * 1000.0;
    });
  }

  /// Shortens dates: that they begin at midnight, and in which time zone, goes without saying.
  void cut_midnight() {
    constexpr std::string_view midnight = " 00:00:00";
    std::set<std::string> days;
    for (const auto &[value, group] : groups_) {
      const std::size_t at = group.name.find(midnight), end = at + midnight.size();
      if (at == std::string::npos) return;
      if (end < group.name.size() && group.name[end] != '+' && group.name[end] != '-') return;
      days.insert(group.name.substr(0, at));
    }
    if (days.size() < groups_.size()) return;
    for (auto &[value, group] : groups_) group.name.resize(group.name.find(midnight));
  }

  const MemoryContext context_;
  Oid collation_ = InvalidOid, output_ = InvalidOid, base_ = InvalidOid;
  TypeCacheEntry *type_ = nullptr;
  /// in the order of the type, with the value of each group
  std::vector<std::pair<Datum, ChartRows::Group>> groups_;
  /// groups without a document that the model knows, at most max_groups
  std::int64_t unknown_ = 0;
};

/// Throws Error unless the query has this many columns.
void require_columns(TupleDesc columns, int count, const char *detail, const char *hint) {
  if (columns->natts != count)
    throw Error(Errc::invalid_argument,
                message("query returns {} column{}, but must return {}", columns->natts,
                        columns->natts == 1 ? "" : "s", count),
                detail, hint);
}

/// Runs the query as the caller: groups and documents, which get their topics from the model, one
/// of lda. Throws Error: invalid_argument for columns of other types; too_large for more than
/// max_groups groups.
void read_groups(const std::shared_ptr<const Model> &shared, const char *query, ChartRows &to) {
  const TopicModel &model = topics(*shared);
  const MemoryContext context = CurrentMemoryContext;
  std::optional<Groups> groups;
  std::optional<ModelDocument> reader;
  run_query(
      query, hint_of_groups,
      [&](TupleDesc columns) {
        const CurrentContext here(context);
        require_columns(columns, 2, "The first one groups documents, the second one has them.",
                        hint_of_groups);
        const Oid type = TupleDescAttr(columns, 1)->atttypid;
        if (!is_document_type(guarded([type] { return getBaseType(type); })))
          wrong_column(columns, 1, "The second column is a document: tsvector, text[] or jsonb.",
                       hint_of_groups);
        const char *const name = NameStr(TupleDescAttr(columns, 0)->attname);
        // An expression has no name of its own.
        to.grouped_by = name == std::string_view("?column?") ? "group" : utf8_of_server(name);
        groups.emplace(columns);
        reader.emplace(context, type);
      },
      [&](TupleTableSlot *slot) {
        ++to.read;
        if (slot->tts_isnull[0] || slot->tts_isnull[1]) {
          ++(slot->tts_isnull[0] ? to.ungrouped_documents : to.null_documents);
          return;
        }
        const DocumentTerms document = reader->read(model, slot->tts_values[1]);
        const bool known = !document.terms.empty();
        to.unknown_documents += !known;
        const std::vector<double> mean =
            known ? model.proportions(document).mean : std::vector<double>();
        groups->add(slot->tts_values[0], known ? std::optional(std::span(mean)) : std::nullopt);
      });
  groups->end(to);
}

enum class Keep : char { sample, first, last };

/// Keeps rows: the first or the last ones, or (Vitter's algorithm R) a sample of all.
class Kept {
 public:
  Kept(const ChartSample &sample, Keep keep)
      : most_(std::size_t(sample.rows)),
        keep_(keep),
        random_(sample.seed, 0) {}
  /// `number`: of the row in the query, from 1
  void add(std::int64_t number, std::span<const double> row, std::optional<double> response = {}) {
    const std::size_t at = place();
    if (at == most_) return;
    if (at == rows.rows.size()) {
      rows.rows.emplace_back();
      rows.numbers.push_back(0);
      if (response) rows.responses.push_back(0);
    }
    rows.rows[at].assign(row.begin(), row.end());
    rows.numbers[at] = number;
    if (response) rows.responses[at] = *response;
  }
  /// The last rows begin where the next one would go.
  void end() {
    if (keep_ != Keep::last || rows.seen <= std::ssize(rows.rows)) return;
    const auto first = std::ptrdiff_t(std::size_t(rows.seen) % most_);
    std::rotate(rows.rows.begin(), rows.rows.begin() + first, rows.rows.end());
  }
  ChartRows rows;

 private:
  /// The index for the next row; most_: the row is not kept.
  std::size_t place() {
    const auto before = std::size_t(rows.seen++);
    if (before < most_) return before;
    if (keep_ == Keep::first) return most_;
    if (keep_ == Keep::last) return before % most_;
    const auto drawn = std::size_t(random_.below(before + 1));
    return std::min(drawn, most_);
  }
  const std::size_t most_;
  const Keep keep_;
  Random random_;
};

constexpr const char *hint_of_rows = "SELECT x FROM t, or SELECT a, b FROM t: the columns of rows.";

/// The rows of a query as values: a single column itself, several columns as a record.
class RowValues {
 public:
  RowValues(TupleDesc columns, const Model &model) {
    if (model.info.family == "hmm") {
      // A step is a value, or a record of numbers or of an array of them.
      whole_ = columns->natts == 1 && model.info.columns.empty() && model.info.dimension == 1;
    } else {
      const QueryLayout layout = unweighted_layout(columns);
      whole_ = layout.whole || (columns->natts == 1 && model.info.columns.empty());
      column_ = std::max(layout.row, 0);
    }
    type = whole_ ? TupleDescAttr(columns, column_)->atttypid : RECORDOID;
    if (!whole_)
      description_ = guarded([columns] { return BlessTupleDesc(CreateTupleDescCopy(columns)); });
  }
  /// nullopt for a NULL. Valid while the row in the slot is.
  std::optional<Datum> of(TupleTableSlot *slot) const {
    if (whole_)
      return slot->tts_isnull[column_] ? std::nullopt : std::optional(slot->tts_values[column_]);
    return guarded([this, slot] {
      return HeapTupleGetDatum(heap_form_tuple(description_, slot->tts_values, slot->tts_isnull));
    });
  }
  Oid type = InvalidOid;

 private:
  /// The layout of rows of a fit, but without weights, which a chart would not show.
  static QueryLayout unweighted_layout(TupleDesc columns) {
    const Oid first = columns->natts > 1 ? TupleDescAttr(columns, 0)->atttypid : InvalidOid;
    const bool array = OidIsValid(first) && guarded([first] {
                         return OidIsValid(get_element_type(getBaseType(first)));
                       });
    QueryLayout out;
    try {
      if (!array) out = layout_of(columns, {}, false, true);
    } catch (const Error &error) {
      throw Error(error.code(), error.what(), error.detail(), hint_of_rows);
    }
    if (array || out.weight >= 0)
      throw Error(Errc::invalid_argument, "query returns an array and another column",
                  "The array is the whole row; rows of a chart have no weights.", hint_of_rows);
    return out;
  }

  bool whole_ = false;
  int column_ = 0;
  TupleDesc description_ = nullptr;
};

constexpr const char *hint_of_responses =
    "SELECT y, a, b FROM t: the response or the label, and the columns of rows.";

void read_rows(const std::shared_ptr<const Model> &model, const char *query, Kept &to) {
  const MemoryContext context = CurrentMemoryContext;
  std::optional<RowValues> values;
  std::optional<RowReader> reader;
  std::int64_t number = 0;
  run_query(
      query, hint_of_rows,
      [&](TupleDesc columns) {
        const CurrentContext here(context);
        values.emplace(columns, *model);
        reader.emplace(context, values->type);
        reader->expect(model->info);
      },
      [&](TupleTableSlot *slot) {
        ++number;
        const std::optional<Datum> value = values->of(slot);
        if (!value) return;
        reader->open(*value);
        const auto x = reader->read(*value, number, Missing::keep);
        if (x->size() != std::size_t(model->info.dimension))
          wrong_length(x->size(), std::size_t(model->info.dimension), "the model", number);
        to.add(number, *x);
      });
  to.rows.read = number;
}

void read_labelled_rows(const std::shared_ptr<const Model> &model, const char *query, Kept &to) {
  const MemoryContext context = CurrentMemoryContext;
  const auto *const classifier = dynamic_cast<const BayesClassifier *>(model.get());
  std::optional<RowReader> reader;
  Oid base = InvalidOid, output = InvalidOid;
  std::int64_t number = 0;
  const auto *const regression = dynamic_cast<const RegressionModel *>(model.get());
  const bool binary = regression && regression->binary();
  read_responses(
      query, hint_of_responses, {}, false,
      [&](const ItemForm &form) {
        const CurrentContext here(context);
        base = guarded([&form] { return getBaseType(form.type); });
        if (!classifier) require_response_type(base, form.type, binary);
        output = output_function_of(form.type);
        reader.emplace(context, form.second_type);
        reader->expect(model->info);
      },
      [&](const Item &item) {
        ++number;
        const NullableDatum &label = item.values[0], &row = item.values[1];
        if (label.isnull || row.isnull) return;
        double response;
        if (classifier) {
          const std::string text =
              utf8_of_server(guarded([&] { return OidOutputFunctionCall(output, label.value); }));
          response = classifier->find_label(text);
        } else {
          response = response_of(label.value, base, binary);
        }
        reader->open(row.value);
        const auto x = reader->read(row.value, number, Missing::keep);
        if (x->size() != std::size_t(model->info.dimension))
          wrong_length(x->size(), std::size_t(model->info.dimension), "the model", number);
        to.add(number, *x, response);
      });
  to.rows.read = number;
}

constexpr const char *hint_of_cells =
    "SELECT person, film, rating FROM t: the keys of row and column, and the number.";

void read_cells(const std::shared_ptr<const Model> &model, const char *query, Kept &to) {
  const auto &factors = static_cast<const PmfModel &>(*model);
  ElementType keys[] = {ElementType(CurrentMemoryContext), ElementType(CurrentMemoryContext)};
  Oid type = InvalidOid;
  std::int64_t number = 0;
  run_query(
      query, hint_of_cells,
      [&](TupleDesc columns) {
        require_columns(columns, 3, "A row of it is a cell of the table.", hint_of_cells);
        for (int i = 0; i < 2; ++i) keys[i].use(TupleDescAttr(columns, i)->atttypid);
        const Oid declared = TupleDescAttr(columns, 2)->atttypid;
        type = guarded([declared] { return getBaseType(declared); });
        if (!is_number_type(type))
          wrong_column(columns, 2, "The third column is the number in a cell.", hint_of_cells);
      },
      [&](TupleTableSlot *slot) {
        ++number;
        if (slot->tts_isnull[0] || slot->tts_isnull[1] || slot->tts_isnull[2]) return;
        const double value = number_of(slot->tts_values[2], type);
        if (!std::isfinite(value)) refuse_number(value, false);
        double codes[2];
        for (const Side side : {Side::row, Side::column}) {
          const int i = side == Side::row ? 0 : 1;
          const auto key = keys[i].text(slot->tts_values[i]);
          codes[i] = key ? factors.code(side, *key) : -1;
        }
        // The prediction for a cell with two unknown keys says nothing about the model.
        if (codes[0] < 0 && codes[1] < 0) {
          ++to.rows.unknown_cells;
          return;
        }
        to.rows.new_cells += codes[0] < 0 || codes[1] < 0;
        to.add(number, codes, value);
      });
  to.rows.read = number;
}

void read_steps(const std::shared_ptr<const Model> &model, const char *query, Kept &to,
                const ChartSample &sample, bool forecast) {
  const auto &hidden = static_cast<const HiddenMarkovModel &>(*model);
  const MemoryContext context = CurrentMemoryContext;
  std::optional<RowValues> values;
  std::optional<ObservationReader> reader;
  run_query(
      query, hint_of_rows,
      [&](TupleDesc columns) {
        const CurrentContext here(context);
        values.emplace(columns, *model);
        reader.emplace(context, values->type);
        reader->begin(model);
      },
      [&](TupleTableSlot *slot) {
        const std::optional<Datum> value = values->of(slot);
        const std::int64_t number = to.rows.seen + 1;
        to.add(number, reader->read(hidden, {value.value_or(Datum(0)), !value}, number));
      });
  to.end();
  to.rows.read = to.rows.seen;
  const std::vector<std::vector<double>> &steps = to.rows.rows;
  if (steps.empty()) return;
  reader->end(hidden);
  ServerControl control;
  const ScopedContext memory(context, "pg_bayes sequence");
  ModelSequence sequence(memory, hidden);
  sequence.begin(std::ssize(steps));
  for (const std::vector<double> &step : steps) sequence.step(step);
  if (forecast)
    return hidden.predict(
        sequence.sequences, sample.steps, control,
        [&to](const HiddenMarkovModel::Prediction &of) {
          to.rows.forecast.push_back({of.mean, of.lower, of.upper});
        },
        sample.level);
  const std::size_t k = std::size_t(hidden.size());
  to.rows.states.resize(steps.size() * k);
  hidden.smooth(sequence.sequences, control,
                [&](std::int64_t first, int count, const double *probabilities) {
                  std::copy_n(probabilities, std::size_t(count) * k,
                              to.rows.states.begin() + std::ptrdiff_t(std::size_t(first) * k));
                });
}

/// Runs the query as the caller. For regressions and classifiers the first column is the response
/// or the label. For hmm rows are the steps of one sequence, in order; the first ones are read, or
/// the last ones before a forecast. For pmf rows are cells: two keys and a number. For lda rows are
/// all documents, each after the group that it belongs to. For other models a sample is read.
ChartRows read_chart_rows(const std::shared_ptr<const Model> &model, const char *query,
                          const ChartSample &sample, bool forecast) {
  const bool steps = model->info.family == "hmm";
  Kept kept(sample, forecast ? Keep::last : steps ? Keep::first : Keep::sample);
  if (steps)
    read_steps(model, query, kept, sample, forecast);
  else if (model->info.family == lda_family)
    read_groups(model, query, kept.rows);
  else if (model->info.family == "pmf")
    read_cells(model, query, kept);
  else if (model->words().response || model->info.family == "nb")
    read_labelled_rows(model, query, kept);
  else
    read_rows(model, query, kept);
  return std::move(kept.rows);
}

}  // namespace
}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

namespace {

std::string text_argument(FunctionCallInfo fcinfo, int at) {
  if (PG_ARGISNULL(at)) return {};
  return utf8_of_server(guarded([fcinfo, at] { return TextDatumGetCString(PG_GETARG_DATUM(at)); }));
}

/// The kind of the first arguments.
enum class ChartOf : char { model, models, rows };
int arguments_of(ChartOf of) { return of == ChartOf::rows ? 2 : 1; }

/// A model whose draws have names for people.
std::unique_ptr<Model> chart_model(Datum datum) {
  std::unique_ptr<Model> out = load_model(datum);
  out->draws.quantities = names_of_quantities(*out);
  return out;
}

/// The models of an array, without NULLs.
std::vector<std::unique_ptr<Model>> models_of(Datum array) {
  std::vector<std::unique_ptr<Model>> out;
  for (const NullableDatum &each : elements_of(array))
    if (!each.isnull) out.push_back(chart_model(each.value));
  return out;
}

/// The chart of the arguments (model or models, or query and model, ..., kind, options), of which
/// the last two begin at `first`; nullopt if the model is NULL. `width`: of a plot, else 0.
std::optional<Figure> chart_of_arguments(FunctionCallInfo fcinfo, int first, ChartOf of,
                                         int width = 0) {
  const int at = arguments_of(of) - 1;
  if (PG_ARGISNULL(at)) return std::nullopt;
  const Document options =
      PG_ARGISNULL(first + 1) ? Document() : document_of_jsonb(PG_GETARG_DATUM(first + 1));
  const std::string kind = text_argument(fcinfo, first);
  ServerControl control;
  if (of == ChartOf::models) {
    const auto models = models_of(PG_GETARG_DATUM(at));
    return models.empty() ? std::nullopt : std::optional(chart(models, kind, options, control));
  }
  const std::shared_ptr<const Model> model = chart_model(PG_GETARG_DATUM(at));
  if (of == ChartOf::model) return chart(*model, kind, options, control);
  const ChartSample sample = chart_sample(*model, kind, options);
  const ChartRows rows =
      read_chart_rows(model, query_text(fcinfo, "The query gives the rows: SELECT x FROM t."),
                      sample, kind == "forecast");
  return chart(*model, kind, options, control, &rows, width);
}

/// The date in the session's time zone, which stays the same during a transaction.
std::string date_of_transaction() {
  return guarded([] {
    return std::string(text_to_cstring(DatumGetTextPP(DirectFunctionCall2(
        timestamptz_to_char, TimestampTzGetDatum(GetCurrentTransactionStartTimestamp()),
        CStringGetTextDatum("YYYY-MM-DD")))));
  });
}

Datum text_of(const std::string &utf8) {
  return guarded([text = utf8.c_str(), size = utf8.size()] {
    return CStringGetTextDatum(server_of_utf8(text, size));
  });
}

/// A position on an axis: a number, or the name of a category.
struct Place {
  Cell number, name, time;
  Place(const Axis &axis, double x) {
    if (std::isnan(x)) return;
    if (axis.categories.empty())
      number = x;
    else
      name = Cell::text(axis.categories[std::size_t(x)]);
    if (axis.times.empty()) return;
    constexpr double day = 86400000;
    const double since_2000 =
        axis.times[std::size_t(x)] - double(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * day;
    time = Cell::datum(TimestampGetDatum(Timestamp(since_2000 * 1000)), TIMESTAMPOID);
  }
};

Datum show_chart(FunctionCallInfo fcinfo, ChartOf of) {
  const std::optional<Figure> figure = chart_of_arguments(fcinfo, arguments_of(of), of);
  if (!figure) PG_RETURN_NULL();
  return jsonb_of(vega_lite(*figure));
}

Datum show_chart_data(FunctionCallInfo fcinfo, ChartOf of) {
  ResultRows result(fcinfo);
  const std::optional<Figure> figure = chart_of_arguments(fcinfo, arguments_of(of), of);
  if (!figure) return Datum(0);
  int number = 0;
  for (const Panel &panel : figure->panels) {
    ++number;
    for (const Layer &layer : panel.layers)
      for (const ChartItem &item : layer.items) {
        poll_interrupts();
        const Place x(panel.x, item.x), y(panel.y, item.y);
        result.row({number, panel.title.empty() ? Cell() : Cell::text(panel.title),
                    Cell::text(name_of(layer.mark)),
                    item.series < 0 ? Cell() : Cell::text(figure->series[std::size_t(item.series)]),
                    item.path, x.number, x.name, y.number, y.name, Cell::or_null(item.low),
                    Cell::or_null(item.high), Cell::or_null(item.value), x.time});
      }
  }
  return Datum(0);
}

[[noreturn]] void refuse_encoding() {
  guarded([] {
    ereport(ERROR, errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
            errmsg("a plot cannot be written in encoding %s", GetDatabaseEncodingName()),
            errdetail("Its blocks and dots are characters of Unicode."),
            errhint("bayes_chart() and bayes_chart_data() work in every encoding."));
  });
  pg_unreachable();
}

Datum show_plot(FunctionCallInfo fcinfo, ChartOf of) {
  // after the model, the kind and the options
  const int at = arguments_of(of), last = at + 2;
  const int width = PG_ARGISNULL(last) ? plot_width : PG_GETARG_INT32(last);
  if (width < min_plot_width || width > max_plot_width)
    throw Error(Errc::invalid_argument, message("width is {}, but must be from {} to {}", width,
                                                min_plot_width, max_plot_width));
  if (PG_ARGISNULL(at - 1)) PG_RETURN_NULL();
  // SQL_ASCII has no conversion: the text gets the bytes of UTF-8.
  if (!server_is_utf8() && GetDatabaseEncoding() != PG_SQL_ASCII) refuse_encoding();
  const std::optional<Figure> figure = chart_of_arguments(fcinfo, at, of, width);
  if (!figure) PG_RETURN_NULL();
  return text_of(text_plot(*figure, width));
}

Datum page_of_charts(FunctionCallInfo fcinfo, const std::vector<Datum> &charts) {
  const Document options = PG_ARGISNULL(2) ? Document() : document_of_jsonb(PG_GETARG_DATUM(2));
  if (options.find("$schema"))
    throw Error(Errc::invalid_argument, "the third argument is a chart, but must be options", {},
                "Give several charts as an array: bayes_page(title, ARRAY[chart, chart]).");
  OptionReader reader(options);
  const ChartPage page{text_argument(fcinfo, 0), {}, scripts_option(reader), date_of_transaction()};
  reader.finish();
  const auto json = [&charts](std::size_t i) {
    const JsonbObject chart(charts[i]);
    if (!chart.is_object())
      throw Error(Errc::invalid_argument,
                  message("chart {} is {}, but must be an object", i + 1, chart.form()), {},
                  "Charts are what bayes_chart() returns.");
    return chart.json();
  };
  return text_of(chart_page(page, charts.size(), json));
}

}  // namespace

/// bayes_chart(model [, kind [, options]]) -> jsonb
BAYES_FUNCTION(bayes_chart) { return show_chart(fcinfo, ChartOf::model); }
/// bayes_chart(models [, ...])
BAYES_FUNCTION(bayes_chart_models) { return show_chart(fcinfo, ChartOf::models); }
/// bayes_chart(query, model [, kind [, options]]) -> jsonb
BAYES_FUNCTION(bayes_chart_rows) { return show_chart(fcinfo, ChartOf::rows); }

/// bayes_chart_data(model [, kind [, options]]): the items of a chart
BAYES_FUNCTION(bayes_chart_data) { return show_chart_data(fcinfo, ChartOf::model); }
/// bayes_chart_data(models [, ...])
BAYES_FUNCTION(bayes_chart_data_models) { return show_chart_data(fcinfo, ChartOf::models); }
/// bayes_chart_data(query, model [, kind [, options]])
BAYES_FUNCTION(bayes_chart_data_rows) { return show_chart_data(fcinfo, ChartOf::rows); }

/// bayes_plot(model [, kind [, options [, width]]]) -> text
BAYES_FUNCTION(bayes_plot) { return show_plot(fcinfo, ChartOf::model); }
/// bayes_plot(models [, ...])
BAYES_FUNCTION(bayes_plot_models) { return show_plot(fcinfo, ChartOf::models); }
/// bayes_plot(query, model [, kind [, options [, width]]]) -> text
BAYES_FUNCTION(bayes_plot_rows) { return show_plot(fcinfo, ChartOf::rows); }

/// bayes_page(model [, options]) -> text
BAYES_FUNCTION(bayes_page_model) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const Document options = PG_ARGISNULL(1) ? Document() : document_of_jsonb(PG_GETARG_DATUM(1));
  ServerControl control;
  return text_of(
      model_page(*load_model(PG_GETARG_DATUM(0)), options, date_of_transaction(), control));
}

/// bayes_page(title, chart [, options]) -> text
BAYES_FUNCTION(bayes_page) {
  if (PG_ARGISNULL(1)) PG_RETURN_NULL();
  return page_of_charts(fcinfo, {PG_GETARG_DATUM(1)});
}
/// bayes_page(title, charts [, options]) -> text
BAYES_FUNCTION(bayes_page_charts) {
  if (PG_ARGISNULL(1)) PG_RETURN_NULL();
  std::vector<Datum> charts;
  for (const NullableDatum &each : elements_of(PG_GETARG_DATUM(1)))
    if (!each.isnull) charts.push_back(each.value);
  return page_of_charts(fcinfo, charts);
}
