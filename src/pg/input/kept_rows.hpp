// Rows that this session keeps for the fit of another server, from the first pass of the fit to the
// last. They are gone with the transaction, or with the part of it (savepoint) that has read them:
// after a commit, an error, a cancel, or a lost connection nothing is left.
//
// That a session still has its rows makes a pass fast, not right: one that has lost them says so,
// and they are read again.
#pragma once

#include <cstdint>
#include <string>

#include "models/passes.hpp"
#include "pg/input/row_collector.hpp"

namespace bayes::pg {

class KeptRows {
 public:
  /// Made by keep_rows().
  KeptRows(MemoryContext context, std::string fit, int part, const ItemForm &form);
  ~KeptRows();
  KeptRows(const KeptRows &) = delete;
  KeptRows &operator=(const KeptRows &) = delete;

  MemoryContext context() const { return rows.context(); }
  int part() const { return part_; }
  /// Names this collection; no other one of this session has or had it.
  std::uint64_t serial() const { return serial_; }

  RowCollector rows;
  /// for passes over them
  PartOfRows as_part;
  /// labels have the codes that they have in all parts
  bool settled = false;
  /// arguments that hold a row: its columns, or one array
  int columns = 0;
  /// base type of the argument after these, the weight; invalid: rows have none
  Oid weight_type = InvalidOid;

 private:
  friend KeptRows *find_kept_rows(const std::string &fit, int part);
  friend void forget_kept_rows(const std::string &fit);
  friend KeptRows &kept_rows_of(std::uint64_t serial);
  const std::string fit_;
  const int part_;
  const std::uint64_t serial_;
};

/// An empty collection for this part of this fit, in the place of one that there may be. It belongs
/// to the current transaction.
KeptRows &keep_rows(const std::string &fit, int part, const ItemForm &form);
/// nullptr if this session has none.
KeptRows *find_kept_rows(const std::string &fit, int part);
/// Those of this serial number; throws Error(invalid_argument) if they have been forgotten.
KeptRows &kept_rows_of(std::uint64_t serial);
/// Forgets all parts of a fit.
void forget_kept_rows(const std::string &fit);

/// While this lives, files that are made belong to the transaction, not to the query that reads the
/// rows, at whose end they would be closed.
class FilesOfTransaction {
 public:
  FilesOfTransaction() { CurrentResourceOwner = TopTransactionResourceOwner; }
  ~FilesOfTransaction() { CurrentResourceOwner = before_; }
  FilesOfTransaction(const FilesOfTransaction &) = delete;
  FilesOfTransaction &operator=(const FilesOfTransaction &) = delete;

 private:
  const ResourceOwner before_ = CurrentResourceOwner;
};

}  // namespace bayes::pg
