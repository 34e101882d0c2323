// A PostgreSQL temporary file: counted by temp_file_limit, placed in temp_tablespaces, removed
// after an error.
#pragma once

#include <cstdint>

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Bytes written sequentially, and read at any position, any number of times.
///
/// The file may be closed by us, when the memory context that owns the rows is deleted in the
/// normal course of a query, or by the resource owner with which PostgreSQL registered it, after an
/// error. Either may come first, so a callback at the release of the resource owner resets file_.
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
  static void owner_released(ResourceReleasePhase phase, bool is_commit, bool is_top_level, void *);

  BufFile *file_ = nullptr;
  ResourceOwner owner_;
  /// false after a failed write: BufFileClose would write the buffer again, and a destructor must
  /// not fail
  bool flushed_ = true;
  std::int64_t size_ = 0;
  /// links in the list of all open files
  SpillFile *next_, **link_;
};

}  // namespace bayes::pg
