// Sums that a session makes of its rows for the fit of another server (pg/input/kept_rows.hpp): the
// rows themselves are not kept, as the model is made of sums that add up.
#include "data/remote_rows.hpp"
#include "pg/input/kept_responses.hpp"
#include "pg/models/linreg_data.hpp"
#include "pg/models/nb_rows.hpp"
#include "pg/models/pushed_sums.hpp"

namespace bayes::pg {
namespace {

FitRequest request_of_part(const KeepRequest &how, const char *family) {
  FitRequest out;
  out.family = family;
  out.options = PassReader(how.request).member("options");
  return out;
}

struct LinregPart {
  LinregPart(MemoryContext context, const ResponseArguments &arguments, const KeepRequest &how)
      : sums(context, request_of_part(how, linreg_family).options, arguments.form().second_type),
        response(arguments.response()) {
    if (!is_number_type(response)) PassReader::refuse();
  }
  void take(const Item &item) {
    NullableDatum values[] = {item.values[0], item.values[1]};
    if (!values[0].isnull) values[0].value = Float8GetDatum(number_of(values[0].value, response));
    sums.take({values, item.weight}, true);
  }
  LinregData sums;
  Oid response;
};

struct NbPartOfRows {
  NbPartOfRows(MemoryContext context, const ResponseArguments &arguments, const KeepRequest &how)
      : sums(context, arguments.form().type, arguments.form().second_type,
             request_of_part(how, nb_family)) {}
  void take(const Item &item) { sums.take(item); }
  NbRows sums;
};

template <class Part> class KeptSums final : public KeptRows {
 public:
  KeptSums(MemoryContext context, const KeptPart &which, const KeepRequest &how)
      : KeptRows(context, which),
        arguments_(context, how),
        part_(made(context, arguments_, how)) {}

 private:
  /// What a part allocates when it is made lives as long as it does.
  static Part made(MemoryContext context, const ResponseArguments &arguments,
                   const KeepRequest &how) {
    const CurrentContext current(context);
    return Part(context, arguments, how);
  }
  void read(const NullableDatum *values) override {
    ++rows_;
    part_.take(arguments_.item(values));
  }
  Document described() override {
    std::string bytes;
    part_.sums.serialize(bytes);
    return Document::object()
        .set("rows", rows_)
        .set("skipped", 0)
        .set("sums", bytes_document(bytes));
  }
  /// There are no rows to be put in order.
  Document arranged(const Document &, Control &) override {
    return Document::object().set("hash", 1);
  }
  Document passed(const Document &, Control &) override { PassReader::refuse(); }

  ResponseArguments arguments_;
  Part part_;
  std::int64_t rows_ = 0;
};

}  // namespace

KeptRows *make_kept_linreg(MemoryContext parent, const KeptPart &which, const KeepRequest &how) {
  return make_kept<KeptSums<LinregPart>>(parent, which, how);
}
KeptRows *make_kept_nb(MemoryContext parent, const KeptPart &which, const KeepRequest &how) {
  return make_kept<KeptSums<NbPartOfRows>>(parent, which, how);
}

}  // namespace bayes::pg
