#include "pg/models/lda_documents.hpp"

#include "base/message.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/parts/documents.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"

namespace bayes::pg {
namespace {

constexpr const char *form_hint =
    "Select a document for each row (SELECT to_tsvector('english', body) FROM ...), a name and a "
    "document, or document, term and count.";

constexpr const char *named_form_hint =
    "Select a name and a document for each row (SELECT id, to_tsvector('english', body) FROM ...), "
    "or document, term and count.";

/// The columns of the query: a document; a name and a document; or document, term and count.
class DocumentColumns {
 public:
  explicit DocumentColumns(TupleDesc columns) : first_(columns->natts == 2) {
    if (columns->natts < 1 || columns->natts > 3)
      throw Error(Errc::invalid_argument,
                  message("query returns {} columns, but must return one to three", columns->natts),
                  {}, form_hint);
    form.values = columns->natts == 3 ? 3 : 1;
    form.type = TupleDescAttr(columns, first_)->atttypid;
    form.collation = TupleDescAttr(columns, first_)->attcollation;
    if (form.values == 1) {
      require(columns, first_, is_document_type(base(columns, first_)),
              "A document is a tsvector, an array of text, or a jsonb object of counts.");
    } else {
      const Oid term = base(columns, 1);
      require(columns, 1, term == TEXTOID || term == VARCHAROID, "A term is a text.");
      count_ = base(columns, 2);
      require(columns, 2, is_number_type(count_), "A count is a number.");
    }
  }

  ItemForm form;

  /// the column of the document
  int first() const { return first_; }
  bool named() const { return form.values == 3 || first_ == 1; }
  /// The name of a document, in the column before it, as UTF-8; nullopt for NULL or without names.
  std::optional<std::string> name(TupleTableSlot *row) {
    if (first_ == 0) return std::nullopt;
    if (!output_)
      output_ = output_function_of(TupleDescAttr(row->tts_tupleDescriptor, 0)->atttypid);
    const NullableDatum text = text_of_column(row, 0, output_);
    if (text.isnull) return std::nullopt;
    auto *const value = reinterpret_cast<struct varlena *>(DatumGetPointer(text.value));
    std::string buffer;
    return std::string(
        utf8_view({VARDATA_ANY(value), std::size_t(VARSIZE_ANY_EXHDR(value))}, buffer));
  }

  /// Valid while the row is.
  bayes::pg::Item item(TupleTableSlot *row) {
    for (int i = 0; i < form.values; ++i)
      values_[i] = {row->tts_values[first_ + i], row->tts_isnull[first_ + i]};
    if (form.values == 3 && !values_[2].isnull)
      values_[2].value = Float8GetDatum(number_of(values_[2].value, count_));
    return {values_, nullptr};
  }

 private:
  static Oid base(TupleDesc columns, int index) {
    const Oid declared = TupleDescAttr(columns, index)->atttypid;
    return guarded([declared] { return getBaseType(declared); });
  }
  static void require(TupleDesc columns, int index, bool suits, const char *expected) {
    if (suits) return;
    const Form_pg_attribute column = TupleDescAttr(columns, index);
    const Oid type = column->atttypid;
    const char *const name = guarded([type] { return format_type_be(type); });
    throw Error(Errc::invalid_argument,
                message("column \"{}\" of the query is of type {}", NameStr(column->attname), name),
                expected, form_hint);
  }

  int first_;
  Oid count_ = InvalidOid, output_ = InvalidOid;
  NullableDatum values_[3] = {};
};

}  // namespace

void collect_documents(FunctionCallInfo fcinfo, MemoryContext context,
                       std::optional<FitData<DocumentCollector>> &data,
                       const std::function<void(FitData<DocumentCollector> &documents)> &begin,
                       const PushedFit *push) {
  std::optional<DocumentColumns> columns;
  const char *const sql = query_text(fcinfo, form_hint);
  if (push) {
    PushedDocuments documents(data, push->request, [&](TupleDesc description, std::string &reason) {
      const DocumentColumns found(description);
      if (found.form.values == 3) reason = "a document may have rows on several servers";
      data.emplace(context, found.form);
      begin(*data);
      return found.first();
    });
    if (push->push.collect(fcinfo, sql, push->request, push->methods, form_hint, documents)) return;
  }
  run_query(
      sql, form_hint,
      [&](TupleDesc description) {
        columns.emplace(description);
        data.emplace(context, columns->form);
        begin(*data);
      },
      [&](TupleTableSlot *row) { data->add(columns->item(row)); });
}

void each_named_document(FunctionCallInfo fcinfo, MemoryContext context, const TopicModel &model,
                         const DocumentCollector::Take &take) {
  std::optional<DocumentColumns> columns;
  std::optional<DocumentCollector> data;
  run_query(
      query_text(fcinfo, named_form_hint), named_form_hint,
      [&](TupleDesc description) {
        columns.emplace(description);
        if (!columns->named())
          throw Error(Errc::invalid_argument, "query returns one column",
                      "Documents must have names.", named_form_hint);
        data.emplace(context, columns->form);
        data->begin(model, take);
      },
      [&](TupleTableSlot *row) { data->add(columns->item(row), columns->name(row)); });
  data->finish();
}

}  // namespace bayes::pg
