// Rows that this session keeps for the fit of another server, from the first pass of the fit to the
// last. They end with the transaction, or with the subtransaction (savepoint) that read them: after
// a commit, an error, a cancel, or a lost connection nothing is left.
//
// Rows of all parts together take maintenance_work_mem, and temporary files beyond.
//
// Kept rows make passes fast; results do not depend on them: a session that has lost its rows says
// so, and they are read again.
//
// Anybody may call the functions that lead here, in any order and with any message. So the order of
// calls is checked here, for all kinds of data, and the contents of messages by each kind.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "document/document.hpp"
#include "pg/input/row_store.hpp"
#include "pg/server/context.hpp"

namespace bayes::pg {

/// Identifies the rows.
struct KeptPart {
  std::string fit;
  int part;
};

/// The rows of one part, of one kind of data.
class KeptRows {
 public:
  /// Memory is taken below `context`, which belongs to the current transaction.
  KeptRows(MemoryContext context, KeptPart which);
  virtual ~KeptRows();
  KeptRows(const KeptRows &) = delete;
  KeptRows &operator=(const KeptRows &) = delete;

  MemoryContext context() const { return context_; }
  int part() const { return which_.part; }
  /// Names this collection; no other one of this session has or had it.
  std::uint64_t serial() const { return serial_; }

  // These are called in this order, settle() once. Another order is refused with
  // Error(invalid_binary). An error that ends one of them may leave the rows half changed, so that
  // all later calls are refused: a savepoint does not bring the rows back.

  /// Reads a row: the arguments after the request, as many as begin() was given types.
  void add(const NullableDatum *values);
  /// The part's description of its rows once all are read; members "rows", the number of items, and
  /// "skipped" are common to all kinds.
  Document end();
  /// Gives rows what all parts have in common (codes, a vocabulary) and puts them in order. Member
  /// "hash" of the answer identifies the data. A part without items is refused: it has no shape.
  Document settle(const Document &request, Control &control);
  /// Makes a pass.
  Document answer(const Document &request, Control &control);

  /// Throws Error(invalid_argument) while one of these runs: what it calls, such as a cast of the
  /// caller's, may ask to forget or to replace the rows that are being read.
  void require_idle() const;

 private:
  /// How far the calls have come.
  enum class Stage { read, described, settled, failed };
  class Use;
  virtual void read(const NullableDatum *values) = 0;
  virtual Document described() = 0;
  virtual Document arranged(const Document &request, Control &control) = 0;
  virtual Document passed(const Document &request, Control &control) = 0;

  friend KeptRows *find_kept_rows(const KeptPart &which);
  friend void forget_kept_rows(const std::string &fit);
  friend KeptRows &kept_rows_of(std::uint64_t serial);
  const MemoryContext context_;
  const KeptPart which_;
  const std::uint64_t serial_;
  const HeldMemory memory_;
  Stage stage_ = Stage::read;
  std::int64_t items_ = 0;
  bool in_use_ = false;
};

/// The request that begins a collection, which says how rows are to be read. `types`: of the
/// arguments that hold a row.
struct KeepRequest {
  const Document &request;
  std::span<const Oid> types;
};

/// Makes an empty collection of the kind that the request names, for this part of this fit, and
/// replaces an earlier one. It belongs to the current transaction. Throws Error(invalid_binary) for
/// a request that no fit has made.
KeptRows &keep_rows(const KeptPart &which, const KeepRequest &how);
/// nullptr if this session has none.
KeptRows *find_kept_rows(const KeptPart &which);
/// The rows with this serial number; throws Error(invalid_argument) if they have been forgotten.
KeptRows &kept_rows_of(std::uint64_t serial);
/// Forgets all parts of a fit. Throws Error(invalid_argument) if one of them is in use.
void forget_kept_rows(const std::string &fit);

/// Begins a collection of one kind, in a context of its own below `parent`.
using MakeKept = KeptRows *(*)(MemoryContext parent, const KeptPart &which, const KeepRequest &how);
/// Adds a kind of rows that requests may name (RegisterKind, pg/parts/kind.hpp).
void register_kept_rows(const char *kind, MakeKept make);

/// The description of a row whose columns have these names and types.
TupleDesc description_of(const std::vector<std::string> &names, std::span<const Oid> types);

}  // namespace bayes::pg
