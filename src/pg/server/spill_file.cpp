#include "pg/server/spill_file.hpp"

namespace bayes::pg {
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

}  // namespace bayes::pg
