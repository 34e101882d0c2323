#include "pg/server/temporary_files.hpp"

#include <exception>
#include <optional>

#include "pg/server/versions.hpp"

namespace bayes::pg {
namespace {

FileOwner *all_owners = nullptr;
bool registered = false;

}  // namespace

FileOwner::FileOwner()
    : owner_(guarded([] {
        if (!registered) RegisterResourceReleaseCallback(released, nullptr);
        registered = true;
        return ResourceOwnerCreate(TopTransactionResourceOwner, "pg_bayes files");
      })) {
  next_ = all_owners;
  link_ = &all_owners;
  if (next_) next_->link_ = &next_;
  all_owners = this;
}

FileOwner::~FileOwner() {
  *link_ = next_;
  if (next_) next_->link_ = link_;
  if (!owner_) return;
  // as after an error: files are closed without a word
  for (const ResourceReleasePhase phase :
       {RESOURCE_RELEASE_BEFORE_LOCKS, RESOURCE_RELEASE_LOCKS, RESOURCE_RELEASE_AFTER_LOCKS})
    ResourceOwnerRelease(owner_, phase, false, false);
  ResourceOwnerDelete(owner_);
}

/// The owner of the transaction releases those below it first, and takes them with it.
void FileOwner::released(ResourceReleasePhase phase, bool, bool, void *) {
  if (phase != RESOURCE_RELEASE_AFTER_LOCKS || CurrentResourceOwner != TopTransactionResourceOwner)
    return;
  for (FileOwner *each = all_owners; each; each = each->next_) each->owner_ = nullptr;
}

SpillFile::SpillFile(MemoryContext context) {
  const FileOwner::Scope files(owner_);
  file_ = guarded([context] {
    const MemoryContext before = MemoryContextSwitchTo(context);
    BufFile *const out = BufFileCreateTemp(false);
    MemoryContextSwitchTo(before);
    return out;
  });
}

SpillFile::~SpillFile() {
  if (owner_.alive() && flushed_) BufFileClose(file_);
  // Not flushed: a write failed, and the owner closes the file.
}

void SpillFile::require_open() const {
  if (!owner_.alive()) elog(ERROR, "pg_bayes: temporary file is already closed");
}

void SpillFile::append(const void *data, std::size_t bytes) {
  flushed_ = false;
  guarded([this, data, bytes] {
    require_open();
    if (BufFileSeek(file_, 0, size_, SEEK_SET) != 0)
      ereport(ERROR,
              (errcode_for_file_access(), errmsg("could not seek in temporary file of pg_bayes")));
    BufFileWrite(file_, const_cast<void *>(data), bytes);
    // Seeking makes BufFile write out its buffer.
    if (BufFileSeek(file_, 0, 0, SEEK_SET) != 0)
      ereport(ERROR,
              (errcode_for_file_access(), errmsg("could not seek in temporary file of pg_bayes")));
  });
  size_ += std::int64_t(bytes);
  flushed_ = true;
}

void SpillFile::read(std::int64_t offset, void *to, std::size_t bytes) {
  guarded([this, offset, to, bytes] {
    require_open();
    if (BufFileSeek(file_, 0, offset, SEEK_SET) != 0)
      ereport(ERROR,
              (errcode_for_file_access(), errmsg("could not seek in temporary file of pg_bayes")));
    if (BufFileRead(file_, to, bytes) != bytes)
      ereport(ERROR,
              (errcode_for_file_access(),
               errmsg("could not read temporary file of pg_bayes: fewer bytes than were written")));
  });
}

namespace {

constexpr std::size_t max_columns = 8;
/// the sorted rows are read once, from first to last: no flag of tuplesort.h, until version 14
/// false
constexpr int access_once = 0;

}  // namespace

/// Calls f() through guarded(), with the sort's memory as the current context.
template <class F> auto Sorter::busy(F f) {
  interrupted_ = true;
  const MemoryContext memory = memory_;
  struct Done {
    bool &interrupted;
    const int before = std::uncaught_exceptions();
    ~Done() { interrupted = std::uncaught_exceptions() > before; }
  } done{interrupted_};
  std::optional<FileOwner::Scope> files;
  if (files_) files.emplace(*files_);
  return guarded([&f, memory] {
    const MemoryContext before = MemoryContextSwitchTo(memory);
    auto result = f();
    MemoryContextSwitchTo(before);
    return result;
  });
}

Sorter::Sorter(MemoryContext context, std::span<const SortColumn> columns, int kilobytes,
               const FileOwner *files)
    : files_(files) {
  memory_ = guarded(
      [context] { return AllocSetContextCreate(context, "pg_bayes sort", ALLOCSET_SMALL_SIZES); });
  busy([this, columns, kilobytes] {
    const TupleDesc description = CreateTemplateTupleDesc(int(columns.size()));
    AttrNumber numbers[max_columns];
    Oid less[max_columns], collations[max_columns];
    bool nulls_first[max_columns];
    int keys = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      TupleDescInitEntry(description, AttrNumber(i + 1), "", columns[i].type, -1, 0);
      if (!OidIsValid(columns[i].less)) continue;
      numbers[keys] = AttrNumber(i + 1);
      less[keys] = columns[i].less;
      collations[keys] = columns[i].collation;
      nulls_first[keys++] = false;
    }
    TupleDescFinalize(description);
    state_ = tuplesort_begin_heap(description, keys, numbers, less, collations, nulls_first,
                                  kilobytes, nullptr, access_once);
    in_ = MakeSingleTupleTableSlot(description, &TTSOpsVirtual);
    out_ = MakeSingleTupleTableSlot(description, &TTSOpsMinimalTuple);
    // Children of a context are deleted in the reverse order of their creation: this last one is
    // deleted first, and its callback ends the sort before the sort's own memory is freed.
    const MemoryContext last =
        AllocSetContextCreate(CurrentMemoryContext, "pg_bayes sort end", ALLOCSET_SMALL_SIZES);
    auto *const callback = static_cast<MemoryContextCallback *>(
        MemoryContextAllocZero(last, sizeof(MemoryContextCallback)));
    callback->func = [](void *sorter) { static_cast<Sorter *>(sorter)->end(); };
    callback->arg = this;
    MemoryContextRegisterResetCallback(last, callback);
    return true;
  });
}

Sorter::~Sorter() {
  if (memory_) MemoryContextDelete(memory_);
}

void Sorter::end() {
  memory_ = nullptr;
  Tuplesortstate *const state = state_;
  state_ = nullptr;
  if (state && !interrupted_ && IsTransactionState() && std::uncaught_exceptions() == 0 &&
      (!files_ || files_->alive()))
    tuplesort_end(state);
}

void Sorter::put(const Datum *values, const bool *nulls) {
  busy([this, values, nulls] {
    ExecClearTuple(in_);
    const std::size_t columns = std::size_t(in_->tts_tupleDescriptor->natts);
    std::memcpy(in_->tts_values, values, columns * sizeof(Datum));
    std::memcpy(in_->tts_isnull, nulls, columns * sizeof(bool));
    ExecStoreVirtualTuple(in_);
    tuplesort_puttupleslot(state_, in_);
    return true;
  });
}

void Sorter::sort() {
  busy([this] {
    tuplesort_performsort(state_);
    return true;
  });
}

TupleTableSlot *Sorter::next() {
  const bool more = busy([this] {
    CHECK_FOR_INTERRUPTS();
    const bool found = tuplesort_gettupleslot(state_, true, false, out_, nullptr);
    if (found) slot_getallattrs(out_);
    return found;
  });
  return more ? out_ : nullptr;
}

}  // namespace bayes::pg
