// The rows of a fit on several servers: this server sends requests for passes through postgres_fdw,
// and gets sums.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/remote_rows.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/pushable_query.hpp"

namespace bayes::pg {

/// Option push_down of a function of a query.
enum class PushDown : char { no, yes, if_possible };
/// Removes the option, and returns it. Throws Error for anything but true, false and "auto".
PushDown push_down_of(Document &options);

class PushedRows final : public RemoteRows {
 public:
  /// `schema`: that of the extension, on all servers. Nothing is sent yet.
  PushedRows(PushableQuery query, Oid schema);
  ~PushedRows() override;

  /// Why the query's expressions cannot be sent to the servers; empty if they can. `attributes`:
  /// the columns of the query that a row consists of, in the order in which they are to be read;
  /// empty if it is one array.
  std::string plan(const std::vector<int> &attributes);
  /// Every server collects its rows. Adds their numbers and labels to `to`, whose requests have
  /// been checked; orders labels over all servers.
  void collect(RowCollector &to, const char *family);
  /// The servers forget the rows; if the fit fails, they do so when the transaction is aborted.
  void forget();

  std::vector<Document> ask(const Document &request) override;
  const std::vector<std::int64_t> &rows_of_parts() const override { return rows_of_parts_; }
  std::string name_of_element(int element) const override;
  /// What is known of the columns, if rows have columns; after collect().
  const std::optional<ColumnFacts> &facts() const { return facts_; }
  /// "2 servers" or "2 servers and this one"
  std::string servers() const;
  /// server "one" or server "two"
  std::string names_of_servers(const char *between) const;

 private:
  /// A prepared statement with parameter $1, a request, and $2, NULL.
  class Statement;
  std::string text_of(std::size_t part, bool keep) const;
  Statement prepared(const std::vector<std::size_t> &parts, bool keep);
  /// The answers of these parts, NULL documents for those that have none.
  std::vector<Document> answers(Statement &statement, const std::vector<std::size_t> &parts,
                                const Document &request);
  void keep_again(const std::vector<std::size_t> &parts);
  void settle(Statement &pass, const std::vector<std::size_t> &parts);

  const PushableQuery query_;
  const Oid schema_;
  const std::string fit_;
  /// arguments of the aggregate that keeps rows
  std::string arguments_;
  Document keep_request_, columns_;
  std::vector<std::int64_t> rows_of_parts_, hashes_;
  /// those with rows
  std::vector<std::size_t> parts_;
  std::vector<std::string> names_;
  std::optional<ColumnFacts> facts_;
  std::unique_ptr<Statement> keep_, pass_;
};

}  // namespace bayes::pg
