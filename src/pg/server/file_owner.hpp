// A resource owner for temporary files that live as long as a C++ object.
#pragma once

#include "pg/server/boundary.hpp"

namespace bayes::pg {

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

}  // namespace bayes::pg
