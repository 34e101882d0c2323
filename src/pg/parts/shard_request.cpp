#include "pg/parts/shard_request.hpp"

namespace bayes::pg {
namespace {

Datum request_under_way = 0;

}  // namespace

Datum current_request() noexcept { return request_under_way; }

CurrentRequest::CurrentRequest(Datum request) noexcept : before_(request_under_way) {
  request_under_way = request;
}

CurrentRequest::~CurrentRequest() { request_under_way = before_; }

int begin_pushed_only() {
  const int level = NewGUCNestLevel();
  set_config_option("citus.coordinator_aggregation_strategy", "disabled", PGC_USERSET,
                    PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
  return level;
}

void end_pushed_only(int level) { AtEOXact_GUC(true, level); }

}  // namespace bayes::pg
