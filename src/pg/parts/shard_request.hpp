// Statements over the shards of a table that Citus distributes. The request of a pass is not their
// parameter, which would be a literal in the query of every shard, but what a function of this
// session returns: Citus calls it once, and sends the value to every worker once.
#pragma once

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// The request that the statement under way is for; 0 if there is none.
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

}  // namespace bayes::pg
