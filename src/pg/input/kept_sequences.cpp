// Sequences that a session keeps: see kept_rows.hpp.
#include <limits>
#include <memory>
#include <optional>

#include "pg/input/kept_collector.hpp"
#include "pg/input/remote_sequences.hpp"
#include "pg/input/sequence_collector.hpp"

namespace bayes::pg {
namespace {

/// Options are checked once the first sequence shows of what kind sequences are.
constexpr SequenceCollector::Check check_of_part = [](const FitRequest &request,
                                                      SequenceElements elements, bool vectors) {
  if (!request.ks.empty())
    return hmm_check_select_options(request.ks, request.options, elements, vectors);
  return hmm_check_options(request.k, request.options, elements, vectors,
                           static_cast<const HiddenMarkovModel *>(request.start.get()));
};

class KeptSequences final : public KeptItems<SequenceCollector, PartOfSequences> {
 public:
  KeptSequences(MemoryContext context, const KeptPart &which, const KeepRequest &how)
      : KeptItems(context, which, form_of_part(how)) {
    const PassReader given(how.request);
    if (given.text("family") != "hmm") PassReader::refuse();
    request_.family = "hmm";
    request_.k = int(given.integer("k", 0, std::numeric_limits<int>::max()));
    for (const Document &k : given.list("ks")) request_.ks.push_back(k_of(k));
    request_.options = given.member("options");
    if (const Document *const start = how.request.find("start")) {
      request_.start = Model::from_document(*start);
      if (!dynamic_cast<const HiddenMarkovModel *>(request_.start.get())) PassReader::refuse();
    }
    const CurrentContext current(context);
    collector_.begin(request_, check_of_part);
    part_.emplace(PartOfSequences{collector_.sequences(), std::size_t(part())});
  }

 private:
  static int k_of(const Document &given) {
    const std::int64_t *const k = given.as<std::int64_t>();
    if (!k || *k < 0 || *k > std::numeric_limits<int>::max()) PassReader::refuse();
    return int(*k);
  }

  static ItemForm form_of_part(const KeepRequest &how) {
    if (how.types.size() != 1 || is_array_of_records(how.types[0])) PassReader::refuse();
    const Oid type = guarded([&how] { return getBaseType(how.types[0]); });
    if (!is_array_type(type)) PassReader::refuse();
    return {.type = type};
  }

  Document arranged(const Document &request, Control &control) override {
    return collector_.arrange_part(PassReader(request).texts("symbols"), control);
  }

  FitRequest request_;
};

}  // namespace

KeptRows *make_kept_sequences(MemoryContext parent, const KeptPart &which, const KeepRequest &how) {
  return make_kept<KeptSequences>(parent, which, how);
}

}  // namespace bayes::pg
