// The rows of a fit on several servers: this server sends requests for passes through postgres_fdw
// or Citus, and gets sums. The files of each kind of data have the messages about it
// (pg/parts/kind.hpp).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/remote_rows.hpp"
#include "pg/parts/pushable_query.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

// Statements over the shards of a table that Citus distributes. The request of a pass is the result
// of a function of this session: Citus calls it once, and sends the value to every worker once. A
// parameter would be a literal in the query of every shard.

/// The request of the running statement; 0 if there is none.
Datum current_request() noexcept;

/// While this lives, current_request() is `request`.
class CurrentRequest {
 public:
  explicit CurrentRequest(Datum request) noexcept;
  ~CurrentRequest();
  CurrentRequest(const CurrentRequest &) = delete;
  CurrentRequest &operator=(const CurrentRequest &) = delete;

 private:
  const Datum before_;
};

/// From here to end_pushed_only(), Citus does not collect the rows of an aggregate, but raises an
/// ERROR; an ERROR ends that too. Both raise.
int begin_pushed_only();
void end_pushed_only(int level);

class PushedRows;

/// The data of one fit, of one kind, that other servers keep: the messages to them, and their
/// answers. Members are called in this order.
class PushedData {
 public:
  virtual ~PushedData() = default;
  /// The columns of the query that are records whose fields are known.
  virtual void records(std::span<const RecordColumn>) {}
  /// Makes the collector and checks the request, as if the rows of this query were read here.
  /// Returns the columns (from 0), or the numbers of fields of records, that a row consists of, in
  /// the order in which they are read. Throws Error for columns that rows cannot have. `reason`:
  /// receives why they cannot be pushed down, if so.
  virtual std::vector<int> begin(TupleDesc columns, std::string &reason) = 0;
  /// Undoes begin(): rows are to be collected on this server after all.
  virtual void undo() = 0;
  /// How rows are to be read: a pass_request("keep") with the kind.
  virtual Document keep() = 0;
  /// Takes a part's description of its rows once they are read; `place` names the part.
  virtual void hear(const Document &part, const std::string &place) = 0;
  /// Takes the number of rows of every part, after the last hear(), if any part has rows.
  virtual void rows_of_parts(const std::vector<std::int64_t> &) {}
  /// Called next: a pass_request("settle") with what the parts have in common.
  virtual Document settle() = 0;
  /// Takes a part's answer to settle(), once.
  virtual void settled(const Document &part) = 0;
  /// Called last, with or without rows: `rows`, which outlive the collector, become its data.
  virtual void take(PushedRows &rows) = 0;
};

class PushedRows final : public RemoteParts {
 public:
  /// `schema`: the schema of the extension, on all servers. Nothing is sent yet.
  PushedRows(PushableQuery query, Oid schema);
  ~PushedRows() override;

  /// Why the query's expressions cannot be sent to the servers; empty if they can. `columns`: as
  /// PushedData::begin() has returned them.
  std::string plan(const std::vector<int> &columns);
  /// Every server collects its rows.
  void collect(PushedData &data);
  /// The servers forget the rows; if the fit fails, they do so when the transaction is aborted.
  void forget();

  std::vector<Document> ask(const Document &request) override;
  const std::vector<std::int64_t> &rows_of_parts() const override { return rows_of_parts_; }
  /// of all parts
  std::int64_t rows() const { return rows_; }
  std::int64_t skipped() const { return skipped_; }
  /// "2 servers" or "2 servers and this one"
  std::string servers() const;
  /// server "one" or server "two"
  std::string names_of_servers(const char *between) const;

 private:
  /// A prepared statement for one request after the other.
  class Statement;
  std::string text_of(std::size_t part, bool keep) const;
  /// The same for all shards of a distributed table.
  std::string text_of_shards(bool keep) const;
  Statement prepared(const std::vector<std::size_t> &parts, bool keep);
  /// Has these parts read their rows. Returns each part's description, a NULL document for a part
  /// without any rows, even skipped ones.
  std::vector<Document> kept(Statement &keep, const std::vector<std::size_t> &parts);
  /// The answers of these parts, NULL documents for those that have none.
  std::vector<Document> answers(Statement &statement, const std::vector<std::size_t> &parts,
                                const Document &request);
  void keep_again(const std::vector<std::size_t> &parts);
  void settle(Statement &pass, const std::vector<std::size_t> &parts, PushedData *data);
  [[noreturn]] void refuse_changed(std::size_t part, const char *detail) const;

  const PushableQuery query_;
  const Oid schema_;
  const std::string fit_;
  /// arguments of the aggregate that keeps rows
  std::string arguments_;
  Document keep_request_, settle_request_;
  std::vector<std::int64_t> rows_of_parts_;
  std::vector<std::optional<std::int64_t>> hashes_;
  std::int64_t rows_ = 0, skipped_ = 0;
  /// those with rows
  std::vector<std::size_t> parts_;
  std::unique_ptr<Statement> keep_, pass_;
};

}  // namespace bayes::pg
