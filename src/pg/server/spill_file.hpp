// A PostgreSQL temporary file: counted by temp_file_limit, placed in temp_tablespaces, removed
// after an error.
#pragma once

#include <cstdint>

#include "pg/server/file_owner.hpp"

namespace bayes::pg {

/// Bytes written sequentially, and read at any position, any number of times.
///
/// The file is closed with this object, when the memory context that owns the rows is deleted, or
/// by the end of the transaction if that comes first (FileOwner).
class SpillFile {
 public:
  /// `context`: for PostgreSQL's buffer and bookkeeping of the file
  explicit SpillFile(MemoryContext context);
  ~SpillFile();
  SpillFile(const SpillFile &) = delete;
  SpillFile &operator=(const SpillFile &) = delete;

  std::int64_t size() const { return size_; }
  void append(const void *data, std::size_t bytes);
  void read(std::int64_t offset, void *to, std::size_t bytes);

 private:
  void require_open() const;  // raises

  FileOwner owner_;
  BufFile *file_;
  /// false after a failed write: BufFileClose would write the buffer again, and a destructor must
  /// not fail
  bool flushed_ = true;
  std::int64_t size_ = 0;
};

}  // namespace bayes::pg
