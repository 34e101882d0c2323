#include "pg/models/hmm_query.hpp"

#include <limits>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/models/hmm.hpp"
#include "pg/parts/sequences.hpp"
#include "pg/server/encoding.hpp"

namespace bayes::pg {
namespace {

constexpr const char *form_hint =
    "Select a name for the sequence and then the sequence, an array: SELECT id, array_agg(x "
    "ORDER BY t) FROM ... GROUP BY id. Or a row for each step, a name and the step's columns: "
    "SELECT id, a, b FROM ... ORDER BY id, t.";

/// The type of the second column if it is an array: rows of the query are sequences. InvalidOid
/// otherwise: rows are steps.
Oid array_of(TupleDesc columns) {
  if (columns->natts < 2)
    throw Error(
        Errc::invalid_argument,
        message("query returns {} {}, but must return two or more", columns->natts,
                columns->natts == 1 ? "column" : "columns"),
        "The first column is the name of the sequence; the second is the sequence, an array, "
        "or the other columns are one step of it.",
        form_hint);
  const Oid declared = TupleDescAttr(columns, 1)->atttypid;
  const Oid array = guarded([declared] {
    const Oid base = getBaseType(declared);
    return OidIsValid(get_element_type(base)) ? base : InvalidOid;
  });
  if (OidIsValid(array) && columns->natts > 2)
    throw Error(
        Errc::invalid_argument,
        message("query returns {} columns, the second of which is an array", columns->natts),
        "An array is a whole sequence, so no column may follow it.", form_hint);
  return array;
}

[[noreturn]] void refuse_name(TermDictionary::Excess, std::string_view) {
  throw Error(Errc::too_large, "the names of the sequences are too long or too many",
              "The limit is 10000 bytes for one name and 256 MB for all names.",
              "Select arrays, a sequence in each row: SELECT id, array_agg(x ORDER BY t) FROM ... "
              "GROUP BY id.");
}

std::string bytes_of_text(Datum text) {
  return {VARDATA_ANY(DatumGetPointer(text)),
          std::size_t(VARSIZE_ANY_EXHDR(DatumGetPointer(text)))};
}

/// Iterates over the steps in a row store; skips the padding between sequences.
class StepCursor {
 public:
  explicit StepCursor(const Sequences &from)
      : rows_(from.rows),
        shape_(from.rows.shape()),
        block_(shape_.block_doubles()),
        x_(std::size_t(from.dimension)) {}

  std::span<const double> next() {
    for (;; ++row_) {
      if (row_ % block_rows == 0) {
        poll_interrupts();
        rows_.read_block(row_ / block_rows, block_.data());
      }
      const double *const at = block_.data() + row_ % block_rows;
      if (at[std::size_t(shape_.dimension) * block_rows] == 0) continue;
      for (std::size_t j = 0; j < x_.size(); ++j) x_[j] = at[j * block_rows];
      ++row_;
      return x_;
    }
  }

 private:
  RowSource &rows_;
  const RowShape shape_;
  std::vector<double> block_, x_;
  std::int64_t row_ = 0;
};

}  // namespace

SequenceQuery::SequenceQuery(FunctionCallInfo fcinfo, const char *family,
                             SequenceCollector::Check check, std::span<const Role> roles,
                             const PushedMethods &pushed)
    : here_(CurrentMemoryContext) {
  const char *const sql = query_text(fcinfo, form_hint);
  request = query_request(fcinfo, family, roles);
  // The callbacks below run in the memory context of a row of the query: data that must outlive the
  // row are allocated below here_.
  context_.emplace(here_, "pg_bayes query");
  if (!pushed.methods.empty()) {
    PushedSequences sequences(data_, request, [&](TupleDesc columns, std::string &reason) {
      const Oid array = array_of(columns);
      if (!OidIsValid(array))
        reason = "its rows are steps, and the steps of a sequence may be on several servers";
      else if (is_array_of_records(array))
        reason = "the steps of its sequences are records";
      data_.emplace(*context_, ItemForm{});
      data_->begin(request, check);
      return 1;
    });
    if (push_.collect(fcinfo, sql, request, pushed, form_hint, sequences)) return;
  }
  data_.emplace(*context_, ItemForm{});
  run_query(
      sql, form_hint,
      [&](TupleDesc columns) {
        array_ = array_of(columns);
        name_output_ = output_function_of(TupleDescAttr(columns, 0)->atttypid);
        const CurrentContext current(here_);
        sequences_.emplace(OidIsValid(array_) ? array_ : INT8OID);
        if (!OidIsValid(array_)) {
          report_name_taken(utf8_of_server(NameStr(TupleDescAttr(columns, 0)->attname)),
                            "the sequence",
                            "If it belongs to the steps, select a name of the sequence before it.");
          (*data_)->describe(columns, 1);
          names_.emplace(std::size_t(std::numeric_limits<std::int32_t>::max()), refuse_name);
        }
        data_->begin(request, check);
      },
      [this](TupleTableSlot *row) { OidIsValid(array_) ? take_array(row) : take_step(row); });
  if (!any_) return;
  end_sequence();
  if (!*data_) return;
  const Sequences &all = (*data_)->sequences();
  if (all.count > 1 && all.longest == 1)
    report(WARNING, message("all {} sequences have one step", all.count),
           "Rows with the same name form a sequence, but every row has a different name.",
           "Select the name of the series first: SELECT series, a, b FROM ... ORDER BY series, t.");
}

void SequenceQuery::take_array(TupleTableSlot *row) {
  const NullableDatum sequence = {row->tts_values[1], row->tts_isnull[1]};
  data_->add({&sequence, nullptr});
  if (!sequence.isnull) sequences_->add(text_of_column(row, 0, name_output_), sequence);
}

void SequenceQuery::take_step(TupleTableSlot *row) {
  const NullableDatum text = text_of_column(row, 0, name_output_);
  std::optional<std::string> name;
  if (!text.isnull) name = bytes_of_text(text.value);
  if (!any_ || name != name_) {
    if (any_) end_sequence();
    const std::int32_t before = names_->size();
    const bool known = name ? names_->number(*name) < before : any_null_;
    if (known)
      throw Error(Errc::invalid_argument,
                  name ? message("the rows of sequence {} are not contiguous",
                                 bayes::describe(Document(abbreviated(utf8_of_server(*name)))))
                       : "the rows of the sequence without a name are not contiguous",
                  "There are rows of other sequences between them.",
                  "Order the query: SELECT id, a, b FROM ... ORDER BY id, t.");
    any_ = true;
    any_null_ |= !name;
    name_ = std::move(name);
    steps_ = 0;
    data_->read([](SequenceCollector &data) { data.begin_sequence(); });
  }
  ++steps_;
  data_->read(
      [row](SequenceCollector &data) { data.add_fields(row->tts_values, row->tts_isnull); });
}

void SequenceQuery::end_sequence() {
  data_->read([](SequenceCollector &data) { data.end_sequence(); });
  const CurrentContext current(here_);
  NullableDatum name = {Datum(0), true};
  if (name_)
    name = {guarded([this] {
              return PointerGetDatum(cstring_to_text_with_len(name_->data(), int(name_->size())));
            }),
            false};
  sequences_->add(name, {Int64GetDatum(steps_), false});
  if (!name.isnull) pfree(DatumGetPointer(name.value));
}

void SequenceQuery::each(const std::shared_ptr<const Model> &model, const TakeSequence &f) {
  OidIsValid(array_) ? each_array(model, f) : each_stored(model, f);
}

void SequenceQuery::each_array(const std::shared_ptr<const Model> &model, const TakeSequence &f) {
  data_.reset();  // sequences are read again, one at a time
  context_.reset();
  const ScopedContext reading(here_, "pg_bayes sequences");
  SequenceReader reader(reading);
  sequences_->each([&](Cell name, const NullableDatum &value) {
    const OpenArray array(value.value);
    if (!model) return f(name, array.empty() ? 0 : array.size(0), nullptr);
    const std::int64_t steps = reader.steps(model, array);
    if (steps == 0) return f(name, 0, nullptr);
    const ScopedContext context(CurrentMemoryContext, "pg_bayes sequence");
    ModelSequence one(context, hidden(*model));
    one.begin(steps);
    reader.each(array, [&one](std::span<const double> x) { one.step(x); });
    f(name, steps, &one.sequences);
  });
}

void SequenceQuery::each_stored(const std::shared_ptr<const Model> &model, const TakeSequence &f) {
  std::optional<StepCursor> cursor;
  if (model) cursor.emplace((*data_)->sequences());
  sequences_->each([&](Cell name, const NullableDatum &value) {
    const std::int64_t steps = DatumGetInt64(value.value);
    if (!model) return f(name, steps, nullptr);
    const ScopedContext context(CurrentMemoryContext, "pg_bayes sequence");
    ModelSequence one(context, hidden(*model));
    one.begin(steps);
    for (std::int64_t t = 0; t < steps; ++t) one.step(cursor->next());
    f(name, steps, &one.sequences);
  });
}

}  // namespace bayes::pg
