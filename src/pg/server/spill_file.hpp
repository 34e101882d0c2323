// A temporary file of PostgreSQL's: counted against temp_file_limit, placed in temp_tablespaces,
// gone after an error.
#pragma once

#include <cstdint>

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Bytes written one after another, read from anywhere, as often as wanted.
///
/// Two parties may close the file: we, when the memory context that owns the rows goes in the
/// normal course of a query, and the resource owner that PostgreSQL registered it with, after an
/// error. Either may come first, so we listen to the resource owner and forget the file when it is
/// released.
class SpillFile {
 public:
  /// the file's small bookkeeping lives in `context`
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
  /// BufFileClose writes what is buffered and may fail at that, which a destructor may not
  bool flushed_ = true;
  std::int64_t size_ = 0;
  /// in the list of all open files
  SpillFile *next_, **link_;
};

}  // namespace bayes::pg
