// Rows of numbers and labels that a session keeps: see kept_rows.hpp.
#include <bit>
#include <limits>
#include <memory>
#include <numeric>

#include "data/data_hash.hpp"
#include "data/remote_rows.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/kept_collector.hpp"
#include "pg/input/row_collector.hpp"

namespace bayes::pg {
namespace {

/// The form of rows whose columns, or one array, are followed by a weight if they are weighted.
ItemForm form_of_part(const KeepRequest &how) {
  const PassReader given(how.request);
  const Document::List &names = given.list("columns");
  ItemForm out;
  out.weighted = given.flag("weighted");
  if (how.types.size() != std::max<std::size_t>(1, names.size()) + std::size_t(out.weighted))
    PassReader::refuse();
  if (names.empty()) out.type = how.types[0];
  return out;
}

class KeptCollectedRows final : public KeptRows {
 public:
  KeptCollectedRows(MemoryContext context, const KeptPart &which, const KeepRequest &how)
      : KeptRows(context, which),
        collector_(context, form_of_part(how)),
        part_{collector_.rows, std::size_t(which.part)} {
    const PassReader given(how.request);
    const Document::List &names = given.list("columns");
    columns_ = std::max<std::size_t>(1, names.size());
    if (given.flag("weighted"))
      weight_type_ = guarded([&how] { return getBaseType(how.types.back()); });
    const CurrentContext current(context);
    collector_.begin_part(
        given.text("family").c_str(),
        {.missing = Missing(given.integer("missing", 0, int(Missing::keep))),
         .max_dimension = int(given.integer("max_dimension", 0, 1 << 30))},
        names.empty() ? nullptr : description_of(names, how.types.first(columns_)));
  }

 private:
  void read(const NullableDatum *values) override {
    const bool whole = !collector_.described();
    NullableDatum weight = {Datum(0), true};
    const bool weighted = OidIsValid(weight_type_);
    if (weighted && !values[columns_].isnull && !(whole && values[0].isnull))
      weight = {Float8GetDatum(number_of(values[columns_].value, weight_type_)), false};
    if (whole) return collector_.add({values, weighted ? &weight : nullptr});
    std::vector<Datum> fields;
    std::unique_ptr<bool[]> nulls(new bool[columns_]);
    for (std::size_t j = 0; j < columns_; ++j) {
      fields.push_back(values[j].value);
      nulls[j] = values[j].isnull;
    }
    collector_.add_fields(fields.data(), nulls.get(), weighted ? &weight : nullptr);
  }

  Document described() override { return rows_described(collector_, collector_.described()); }

  /// Labels get the codes that they have in all parts.
  Document arranged(const Document &request, Control &control) override {
    if (collector_.described())
      collector_.recode(columns_of_message(PassReader(request).member("columns")));
    RowStore &rows = collector_.rows;
    rows.arrange(control);
    rows.set_incomplete(count_incomplete(rows, control));
    DataHash hash;
    hash.add(rows, false, control);
    Document out = Document::object();
    out.set("hash", std::bit_cast<std::int64_t>(hash.value()));
    if (!collector_.described()) return out;
    const RowColumns columns = collector_.columns();
    std::vector<std::size_t> all(columns.size()), numbers;
    std::iota(all.begin(), all.end(), std::size_t(0));
    for (const std::size_t j : all)
      if (columns[j].kind == ValueKind::number) numbers.push_back(j);
    out.set("facts", column_facts(rows, all.size(), all).message());
    out.set("numbers", number_facts(rows, all.size(), numbers).message());
    return out;
  }

  Document passed(const Document &request, Control &control) override {
    return answer_pass(part_, request, control);
  }

  RowCollector collector_;
  PartOfRows part_;
  /// arguments that hold a row: its columns, or one array
  std::size_t columns_ = 0;
  /// base type of the argument after these, the weight; invalid: rows have none
  Oid weight_type_ = InvalidOid;
};

}  // namespace

KeptRows *make_kept_rows(MemoryContext parent, const KeptPart &which, const KeepRequest &how) {
  return make_kept<KeptCollectedRows>(parent, which, how);
}

}  // namespace bayes::pg
