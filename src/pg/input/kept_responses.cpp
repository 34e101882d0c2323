#include "pg/input/kept_responses.hpp"
#include "pg/input/kept_collector.hpp"

#include <algorithm>
#include <bit>

#include "data/data_hash.hpp"
#include "data/remote_rows.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/response_collector.hpp"

namespace bayes::pg {

ResponseArguments::ResponseArguments(MemoryContext context, const KeepRequest &how) {
  const CurrentContext current(context);
  const PassReader given(how.request);
  const Document::List &names = given.list("columns");
  form_.values = 2;
  form_.weighted = given.flag("weighted");
  columns_ = std::max<std::size_t>(1, names.size());
  if (how.types.size() != 1 + columns_ + std::size_t(form_.weighted)) PassReader::refuse();
  form_.type = how.types[0];
  form_.second_type = names.empty() ? how.types[1] : RECORDOID;
  guarded([this, &how] {
    response_ = getBaseType(form_.type);
    if (form_.weighted) weight_type_ = getBaseType(how.types.back());
  });
  if (!names.empty()) record_.emplace(description_of(names, how.types.subspan(1, columns_)));
}

Item ResponseArguments::item(const NullableDatum *values) {
  values_[0] = values[0];
  if (record_) fields_.assign(values + 1, values + 1 + columns_);
  values_[1] = record_ ? NullableDatum{record_->of(fields_), false} : values[1];
  if (!form_.weighted) return {values_, nullptr};
  weight_ = values[1 + columns_];
  if (!weight_.isnull) weight_.value = Float8GetDatum(number_of(weight_.value, weight_type_));
  return {values_, &weight_};
}

namespace {

/// Rows for regressions that make passes.
class KeptResponses final : public KeptRows {
 public:
  KeptResponses(MemoryContext context, const KeptPart &which, const KeepRequest &how)
      : KeptRows(context, which),
        arguments_(context, how),
        collector_(context, arguments_.form()),
        part_{collector_.rows, std::size_t(which.part)} {
    const PassReader given(how.request);
    const CurrentContext current(context);
    collector_.begin_part(given.text("family").c_str(),
                          {.skip_missing = given.flag("skip_missing"),
                           .max_dimension = int(given.integer("max_dimension", 0, 1 << 30))});
  }

 private:
  void read(const NullableDatum *values) override { collector_.add(arguments_.item(values)); }

  Document described() override { return rows_described(collector_, true); }

  Document arranged(const Document &request, Control &control) override {
    if (collector_.described())
      collector_.recode(columns_of_message(PassReader(request).member("columns")));
    RowStore &rows = collector_.rows;
    rows.arrange(control);
    DataHash hash;
    hash.add(rows, false, control);
    return Document::object()
        .set("hash", std::bit_cast<std::int64_t>(hash.value()))
        .set("facts", response_facts(rows).message());
  }

  Document passed(const Document &request, Control &control) override {
    return answer_pass(part_, request, control);
  }

  ResponseArguments arguments_;
  ResponseCollector collector_;
  PartOfRows part_;
};

}  // namespace

KeptRows *make_kept_responses(MemoryContext parent, const KeptPart &which, const KeepRequest &how) {
  return make_kept<KeptResponses>(parent, which, how);
}

}  // namespace bayes::pg
