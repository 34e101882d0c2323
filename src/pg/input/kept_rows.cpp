#include "pg/input/kept_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace bayes::pg {
namespace {

std::vector<KeptRows *> kept;
std::uint64_t last_serial = 0;

/// Before a commit, as files that are open then are reported as leaks. After an abort memory goes
/// with its contexts, and files with the resource owner.
void end_of_transaction(XactEvent event, void *) {
  if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE) return;
  while (!kept.empty()) MemoryContextDelete(kept.back()->context());
}

}  // namespace

KeptRows::KeptRows(MemoryContext context, std::string fit, int part, const ItemForm &form)
    : rows(context, form),
      as_part{rows.rows, std::size_t(part)},
      fit_(std::move(fit)),
      part_(part),
      serial_(++last_serial) {
  kept.push_back(this);
}

KeptRows::~KeptRows() { std::erase(kept, this); }

KeptRows &keep_rows(const std::string &fit, int part, const ItemForm &form) {
  static bool registered = false;
  if (!registered) {
    guarded([] { RegisterXactCallback(end_of_transaction, nullptr); });
    registered = true;
  }
  if (KeptRows *const before = find_kept_rows(fit, part)) MemoryContextDelete(before->context());
  return *make_in<KeptRows>(CurTransactionContext, "pg_bayes kept rows", fit, part, form);
}

KeptRows *find_kept_rows(const std::string &fit, int part) {
  for (KeptRows *const each : kept)
    if (each->part_ == part && each->fit_ == fit) return each;
  return nullptr;
}

KeptRows &kept_rows_of(std::uint64_t serial) {
  for (KeptRows *const each : kept)
    if (each->serial_ == serial) return *each;
  throw Error(Errc::invalid_argument, "the rows of this part of a fit have been replaced",
              "A part of a fit is kept by one aggregate, without groups.");
}

void forget_kept_rows(const std::string &fit) {
  for (std::size_t i = kept.size(); i-- > 0;)
    if (i < kept.size() && kept[i]->fit_ == fit) MemoryContextDelete(kept[i]->context());
}

}  // namespace bayes::pg
