// Topic models in SQL: fits, as aggregates and over the documents of a query.
#include "pg/bind/lda.hpp"

#include "base/message.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/input/document_collector.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

const TopicModel *start_of(const FitRequest &request) {
  return static_cast<const TopicModel *>(request.start.get());
}

constexpr Binding<DocumentCollector> lda = {
    .family = lda_family,
    .check =
        [](const FitRequest &request) {
          return lda_check_options(request.k, request.options, start_of(request), request.update);
        },
    .fit = [](const FitRequest &request, DocumentCollector &data,
              Control &control) -> std::unique_ptr<Model> {
      return lda_fit(data.corpus(), data.terms(), request.k, request.options, start_of(request),
                     request.update, control);
    },
};

// ---- the documents of a query ----

constexpr const char *form_hint =
    "Select a document for each row (SELECT to_tsvector('english', body) FROM ...), a name and a "
    "document, or document, term and count.";

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
  Oid count_ = InvalidOid;
  NullableDatum values_[3] = {};
};

}  // namespace

// ---- aggregates ----

/// (internal, document, k int [, options jsonb]) -> internal
BAYES_FUNCTION(lda_fit_transition) { return fit_transition(fcinfo, lda, by_k); }
BAYES_FUNCTION(lda_start_transition) { return fit_transition(fcinfo, lda, by_start); }
BAYES_FUNCTION(lda_update_transition) { return fit_transition(fcinfo, lda, by_prior); }

/// (internal, document anyelement, term text, count float8, k int [, options jsonb]) -> internal
BAYES_FUNCTION(lda_rows_transition) {
  return fit_transition(fcinfo, lda, std::span(by_k).first(2), 3);
}
BAYES_FUNCTION(lda_rows_start_transition) {
  return fit_transition(fcinfo, lda, std::span(by_start).first(2), 3);
}
BAYES_FUNCTION(lda_rows_update_transition) {
  return fit_transition(fcinfo, lda, std::span(by_prior).first(2), 3);
}

BAYES_FUNCTION(lda_fit_final) { return fit_final(fcinfo, lda); }

// ---- a relation: fits the documents of a query, and shows the topics ----

BAYES_FUNCTION(lda_topics_query) {
  ResultRows result(fcinfo);
  const char *const sql = query_text(fcinfo, form_hint);
  const FitRequest request = query_request(fcinfo, lda.family, by_k);
  // Rows of the query arrive in another memory context: what must outlive them is allocated below
  // this one.
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  std::optional<DocumentColumns> columns;
  std::optional<DocumentCollector> data;
  run_query(
      sql, form_hint,
      [&](TupleDesc description) {
        columns.emplace(description);
        data.emplace(context, columns->form);
        data->begin(request, lda.check);
      },
      [&](TupleTableSlot *row) { data->add(columns->item(row)); });
  const std::unique_ptr<Model> model = fit_model(lda, request, *data);
  if (model) show_topics(result, topics(*model), shown_terms);
  return Datum(0);
}
