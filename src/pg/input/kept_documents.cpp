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
    collector_.begin_part(given.text("family").c_str(), given.flag("whole"), given.texts("terms"),
                          std::size_t(part()));
    if (how.request.find("hold_out")) collector_.hold_out(int(given.integer("hold_out", 2, 1000)));
  }

 private:
  static ItemForm form_of_part(const KeepRequest &how) {
    if (how.types.size() != 1 ||
        !is_document_type(guarded([&how] { return getBaseType(how.types[0]); })))
      PassReader::refuse();
    return {.type = how.types[0]};
  }

  Document arranged(const Document &request, Control &control) override {
    const PassReader given(request);
    std::optional<HoldOut> &apart = collector_.held_out_by();
    if (apart) apart->set_bound(int(given.integer("hold_out", 0, HoldOut::intervals)));
    collector_.arrange_part(given.texts("terms"));
    part_.emplace(PartOfDocuments{collector_.corpus(), collector_.order()});
    Document out = totals_message(collector_.corpus().totals());
    if (apart) {
      part_->held_out = &collector_.held_out();
      part_->terms = collector_.terms();
      const std::vector<char> &in_fit = collector_.in_fit();
      out.set("held_out", totals_message(collector_.held_out().totals()));
      out.set("in_fit", bytes_document({in_fit.data(), in_fit.size()}));
    }
    out.set("hash", std::bit_cast<std::int64_t>(collector_.hash(control)));
    return out;
  }
};

}  // namespace

KeptRows *make_kept_documents(MemoryContext parent, const KeptPart &which, const KeepRequest &how) {
  return make_kept<KeptDocuments>(parent, which, how);
}

}  // namespace bayes::pg
