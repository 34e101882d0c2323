// Rows of a table of numbers that a session keeps: see kept_rows.hpp.
#include "pg/input/kept_collector.hpp"
#include "pg/input/triple_collector.hpp"

namespace bayes::pg {
namespace {

class KeptTable final : public KeptItems<TripleCollector, PartOfDocuments> {
 public:
  KeptTable(MemoryContext context, const KeptPart &which, const KeepRequest &how)
      : KeptItems(context, which, form_of_part(how)) {
    collector_.begin_part(PassReader(how.request));
  }

 private:
  static ItemForm form_of_part(const KeepRequest &how) {
    if (how.types.empty() || how.types.size() > 2) PassReader::refuse();
    const Oid last = how.types.back();
    const bool numbers = guarded([last] {
      const Oid element = get_element_type(getBaseType(last));
      return OidIsValid(element) && is_number_type(getBaseType(element));
    });
    if (!numbers) PassReader::refuse();
    return {.values = int(how.types.size()), .type = how.types[0], .second_type = last};
  }

  Document arranged(const Document &request, Control &control) override {
    Document out = collector_.arrange_part(PassReader(request), std::size_t(part()), control);
    part_.emplace(PartOfDocuments{collector_.table().documents, {}});
    if (collector_.holds_out()) part_->held_out = &collector_.held_out();
    return out;
  }
};

}  // namespace

KeptRows *make_kept_table(MemoryContext parent, const KeptPart &which, const KeepRequest &how) {
  return make_kept<KeptTable>(parent, which, how);
}

}  // namespace bayes::pg
