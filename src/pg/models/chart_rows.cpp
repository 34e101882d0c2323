#include "pg/models/chart_rows.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "base/random.hpp"
#include "classification/nb.hpp"
#include "factor/pmf.hpp"
#include "markov/hmm.hpp"
#include "pg/input/observation.hpp"
#include "pg/input/query.hpp"
#include "pg/input/response_query.hpp"
#include "pg/models/chart_groups.hpp"
#include "pg/models/factor.hpp"
#include "pg/models/lda.hpp"
#include "pg/models/response_score.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/server_control.hpp"

namespace bayes::pg {
namespace {

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
  /// Where the next row goes; most_: nowhere.
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

/// Rows of a query as values: of one column itself, of several a record of them.
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
  /// That of rows of a fit, but without weights, of which a chart would show nothing.
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
  const bool binary = model->info.family != "linreg";
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
        // What is predicted of a cell of which nothing is known tells nothing of the model.
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

}  // namespace

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

}  // namespace bayes::pg
