#include "pg/server/spill_file.hpp"

namespace bayes::pg {
namespace {

SpillFile *open_files = nullptr;
bool registered = false;

}  // namespace

SpillFile::SpillFile(MemoryContext context) : owner_(CurrentResourceOwner) {
  guarded([this, context] {
    if (!registered) {
      RegisterResourceReleaseCallback(owner_released, nullptr);
      registered = true;
    }
    const MemoryContext before = MemoryContextSwitchTo(context);
    file_ = BufFileCreateTemp(false);
    MemoryContextSwitchTo(before);
  });
  next_ = open_files;
  link_ = &open_files;
  if (next_) next_->link_ = &next_;
  open_files = this;
}

SpillFile::~SpillFile() {
  *link_ = next_;
  if (next_) next_->link_ = link_;
  if (file_ && flushed_) BufFileClose(file_);
  // Not flushed: a write failed, the query is being aborted, and its resource owner closes the
  // file.
}

void SpillFile::owner_released(ResourceReleasePhase phase, bool, bool, void *) {
  if (phase != RESOURCE_RELEASE_AFTER_LOCKS) return;
  for (SpillFile *file = open_files; file; file = file->next_)
    if (file->owner_ == CurrentResourceOwner) file->file_ = nullptr;
}

void SpillFile::append(const void *data, std::size_t bytes) {
  flushed_ = false;
  guarded([this, data, bytes] {
    if (!file_) elog(ERROR, "pg_bayes: temporary file is already closed");
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
    if (!file_) elog(ERROR, "pg_bayes: temporary file is already closed");
    if (BufFileSeek(file_, 0, offset, SEEK_SET) != 0)
      ereport(ERROR,
              (errcode_for_file_access(), errmsg("could not seek in temporary file of pg_bayes")));
    if (BufFileRead(file_, to, bytes) != bytes)
      ereport(ERROR,
              (errcode_for_file_access(),
               errmsg("could not read temporary file of pg_bayes: fewer bytes than were written")));
  });
}

}  // namespace bayes::pg
