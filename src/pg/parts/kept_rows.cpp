#include "pg/parts/kept_rows.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "data/remote_rows.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/versions.hpp"

namespace bayes::pg {
namespace {

struct Kind {
  std::string_view name;
  MakeKept make;
};
/// Kinds are added while the module is loaded.
std::vector<Kind> &kinds() {
  static std::vector<Kind> all;
  return all;
}

std::vector<KeptRows *> kept;
std::uint64_t last_serial = 0;

/// Before a commit, as files that are open then are reported as leaks. After an abort memory goes
/// with its contexts, and files with it.
void end_of_transaction(XactEvent event, void *) {
  if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE) return;
  while (!kept.empty()) MemoryContextDelete(kept.back()->context());
}

}  // namespace

/// While this lives the rows are in use. An error leaves them failed.
class KeptRows::Use {
 public:
  /// Throws Error(invalid_binary) unless the rows are at this stage.
  Use(KeptRows &rows, Stage stage) : rows_(rows) {
    rows.require_idle();
    if (rows.stage_ != stage) PassReader::refuse();
    rows.in_use_ = true;
    rows.stage_ = Stage::failed;
  }
  ~Use() { rows_.in_use_ = false; }
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;
  /// The call has succeeded.
  void end(Stage stage) { rows_.stage_ = stage; }

 private:
  KeptRows &rows_;
  /// keeps casts of the caller from writing
  const ReadOnly read_only_;
};

KeptRows::KeptRows(MemoryContext context, KeptPart which)
    : context_(context),
      which_(std::move(which)),
      serial_(++last_serial),
      memory_(context) {
  kept.push_back(this);
}

KeptRows::~KeptRows() { std::erase(kept, this); }

void KeptRows::require_idle() const {
  if (in_use_)
    throw Error(Errc::invalid_argument, "the rows of this part of a fit are in use",
                "A function that is called while they are read asked for them.");
}

void KeptRows::add(const NullableDatum *values) {
  Use use(*this, Stage::read);
  read(values);
  use.end(Stage::read);
}

Document KeptRows::end() {
  Use use(*this, stage_ == Stage::described ? stage_ : Stage::read);
  Document out = described();
  items_ = PassReader(out).integer("rows", 0, most_rows_of_part);
  use.end(Stage::described);
  return out;
}

Document KeptRows::settle(const Document &request, Control &control) {
  Use use(*this, Stage::described);
  if (items_ == 0) PassReader::refuse();
  Document out = arranged(request, control);
  use.end(Stage::settled);
  return out;
}

Document KeptRows::answer(const Document &request, Control &control) {
  Use use(*this, Stage::settled);
  Document out = passed(request, control);
  use.end(Stage::settled);
  return out;
}

void register_kept_rows(const char *kind, MakeKept make) { kinds().push_back({kind, make}); }

KeptRows &keep_rows(const KeptPart &which, const KeepRequest &how) {
  static bool registered = false;
  if (!registered) {
    guarded([] { RegisterXactCallback(end_of_transaction, nullptr); });
    registered = true;
  }
  if (KeptRows *const before = find_kept_rows(which)) {
    before->require_idle();
    MemoryContextDelete(before->context());
  }
  const std::string &name = PassReader(how.request).text("kind");
  for (const Kind &kind : kinds())
    if (kind.name == name) return *kind.make(CurTransactionContext, which, how);
  PassReader::refuse();
}

KeptRows *find_kept_rows(const KeptPart &which) {
  for (KeptRows *const each : kept)
    if (each->which_.part == which.part && each->which_.fit == which.fit) return each;
  return nullptr;
}

KeptRows &kept_rows_of(std::uint64_t serial) {
  for (KeptRows *const each : kept)
    if (each->serial_ == serial) return *each;
  throw Error(Errc::invalid_argument, "the rows of this part of a fit have been replaced",
              "A part of a fit is kept by one aggregate, without groups.");
}

void forget_kept_rows(const std::string &fit) {
  for (const KeptRows *const each : kept)
    if (each->which_.fit == fit) each->require_idle();
  for (std::size_t i = kept.size(); i-- > 0;)
    if (i < kept.size() && kept[i]->which_.fit == fit) MemoryContextDelete(kept[i]->context());
}

TupleDesc description_of(const std::vector<std::string> &names, std::span<const Oid> types) {
  if (names.size() != types.size()) PassReader::refuse();
  const TupleDesc out = guarded([&names] { return CreateTemplateTupleDesc(int(names.size())); });
  for (std::size_t j = 0; j < names.size(); ++j) {
    const char *const text = names[j].c_str();
    const std::size_t size = names[j].size();
    guarded([=] {
      TupleDescInitEntry(out, AttrNumber(j + 1), server_of_utf8(text, size), types[j], -1, 0);
    });
  }
  guarded([out] { TupleDescFinalize(out); });
  return out;
}

}  // namespace bayes::pg
