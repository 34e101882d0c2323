// Documents that a session keeps: see kept_rows.hpp.
#include <bit>

#include "counts/remote_corpus.hpp"
#include "pg/input/document_collector.hpp"
#include "pg/input/kept_collector.hpp"

namespace bayes::pg {
namespace {

class KeptDocuments final : public KeptItems<DocumentCollector, PartOfDocuments> {
 public:
  KeptDocuments(MemoryContext context, const KeptPart &which, const KeepRequest &how)
      : KeptItems(context, which, form_of_part(how)) {
    const PassReader given(how.request);
    collector_.begin_part(given.text("family").c_str(), given.flag("whole"), given.texts("terms"));
  }

 private:
  static ItemForm form_of_part(const KeepRequest &how) {
    if (how.types.size() != 1 ||
        !is_document_type(guarded([&how] { return getBaseType(how.types[0]); })))
      PassReader::refuse();
    return {.type = how.types[0]};
  }

  Document arranged(const Document &request, Control &control) override {
    collector_.arrange_part(PassReader(request).texts("terms"));
    part_.emplace(PartOfDocuments{collector_.corpus(), collector_.order()});
    Document out = totals_message(collector_.corpus().totals());
    out.set("hash", std::bit_cast<std::int64_t>(collector_.hash(control)));
    return out;
  }
};

}  // namespace

KeptRows *make_kept_documents(MemoryContext parent, const KeptPart &which, const KeepRequest &how) {
  return make_kept<KeptDocuments>(parent, which, how);
}

}  // namespace bayes::pg
