// A request of a fit that runs on another server, or in another session, as the functions that make
// its passes get it.
#pragma once

#include <cstdint>
#include <string>

#include "document/document.hpp"
#include "pg/parts/kept_rows.hpp"

namespace bayes::pg {

class PassCall {
 public:
  /// Throws Error: 22P03 if it is no request, 22023 for one of another version of pg_bayes.
  explicit PassCall(Datum request);
  const std::string &fit() const { return fit_; }
  /// The number of the part that is this shard; -1 if the request is not for it.
  int part_of_shard(std::int64_t shard) const;
  /// What the rows that this session keeps for a part answer; null if it keeps none.
  Document answer(int part) const;
  const Document &body() const;
  /// An answer with the number of the part that gives it.
  static Document answered(int part, Document answer);

 private:
  Document message_;
  std::string fit_;
};

/// Begins a collection of rows for a part; a row is in the arguments from `first` on.
KeptRows &begin_kept_rows(const PassCall &call, int part, FunctionCallInfo fcinfo, int first);

}  // namespace bayes::pg
