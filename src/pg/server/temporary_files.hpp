// PostgreSQL's temporary files: who owns them, files of bytes, and the external sort.
#pragma once

#include <cstdint>
#include <span>

#include "pg/server/boundary.hpp"

namespace bayes::pg {

// A resource owner for temporary files that live as long as a C++ object.

/// PostgreSQL closes files with their resource owner, as a rule that of the query that opened them.
/// Rows that are kept for a fit of another server outlive queries, and go with the subtransaction
/// that has read them. So the files of an object have an owner of their own, below that of the
/// transaction: they are closed with the object, after a failed write too, or, if it comes first,
/// at the end of the transaction.
class FileOwner {
 public:
  FileOwner();
  /// Closes what is still open, without writing buffers, which could fail again.
  ~FileOwner();
  FileOwner(const FileOwner &) = delete;
  FileOwner &operator=(const FileOwner &) = delete;

  /// false once the end of the transaction has closed the files
  bool alive() const { return owner_ != nullptr; }

  /// While this lives, files that PostgreSQL opens belong to the owner. Whatever user code opens
  /// then would not be released with its subtransaction, so none may run.
  class Scope {
   public:
    explicit Scope(const FileOwner &files) { CurrentResourceOwner = files.owner_; }
    ~Scope() { CurrentResourceOwner = before_; }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

   private:
    const ResourceOwner before_ = CurrentResourceOwner;
  };

 private:
  static void released(ResourceReleasePhase phase, bool is_commit, bool is_top_level, void *);

  ResourceOwner owner_;
  /// links in the list of all owners
  FileOwner *next_, **link_;
};

// A PostgreSQL temporary file: counted by temp_file_limit, placed in temp_tablespaces, removed
// after an error.

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

// PostgreSQL's external sort: in memory up to a limit, beyond it in temporary files.

/// One column of the rows that are sorted.
struct SortColumn {
  Oid type;
  /// operator < of the type; InvalidOid if the column is not a sort key
  Oid less = InvalidOid;
  Oid collation = InvalidOid;
};

/// Rows of a few columns, put in any order, then read once in ascending order.
///
/// PostgreSQL's sort must be ended before its memory is freed, or the end of the query warns about
/// files that are still open; but not after an error: then their resource owner closes the files,
/// and flushing buffers to a full disk could raise again.
class Sorter {
 public:
  /// The sort keys must be the first columns. Takes `kilobytes` of memory, below `context`.
  /// `files`: the owner of its files, if the sort may outlive the query, which owns them else; no
  /// user code may then compare keys.
  Sorter(MemoryContext context, std::span<const SortColumn> columns, int kilobytes,
         const FileOwner *files = nullptr);
  ~Sorter();
  Sorter(const Sorter &) = delete;
  Sorter &operator=(const Sorter &) = delete;

  void put(const Datum *values, const bool *nulls);
  /// After the last put().
  void sort();
  /// The next row, valid until the next call; nullptr after the last.
  TupleTableSlot *next();

 private:
  void end();
  template <class F> auto busy(F f);

  /// parent of all memory that PostgreSQL allocates for the sort
  MemoryContext memory_ = nullptr;
  Tuplesortstate *state_ = nullptr;
  TupleTableSlot *in_ = nullptr, *out_ = nullptr;
  const FileOwner *files_;
  /// a call into PostgreSQL is in progress or has raised an error
  bool interrupted_ = false;
};

}  // namespace bayes::pg
