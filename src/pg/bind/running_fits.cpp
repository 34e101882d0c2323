// bayes_progress: the fits that run on the server.
#include <array>
#include <optional>
#include <string_view>

#include "pg/server/server_control.hpp"
#include "pg/server/versions.hpp"
#include "pg/values/results.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// Whether pg_stat_activity would show what this role does to the current one. Raises.
bool may_see(Oid role) {
  return reads_all_statistics(GetUserId()) || has_privs_of_role(GetUserId(), role);
}

Cell oid_cell(Oid oid) { return Cell::datum(ObjectIdGetDatum(oid), OIDOID); }

/// NULL for 0.
Cell time_cell(TimestampTz time) {
  return time == 0 ? Cell() : Cell::datum(TimestampTzGetDatum(time), TIMESTAMPTZOID);
}

/// NULL for an empty name. The name must outlive the cell.
Cell name_cell(const RunningFit::Name &name) {
  const std::string_view text(name.data());
  return text.empty() ? Cell() : Cell::text(text);
}

const char *name_of(Phase phase) {
  switch (phase) {
    case Phase::reading: return "reading";
    case Phase::starting_points: return "starting points";
    case Phase::fitting: return "fitting";
    case Phase::writing: return "writing";
  }
  return "";
}

}  // namespace

/// _bayes_progress(): a row for each fit; only the process id for fits that the role may not see.
BAYES_FUNCTION(bayes_progress) {
  ResultRows result(fcinfo);
  const int backends = guarded([] { return pgstat_fetch_stat_numbackends(); });
  for (int i = 1; i <= backends; ++i) {
    const PgBackendStatus &slot = *guarded([i] { return &backend_number(i); });
    const std::optional<RunningFit> fit = running_fit(slot);
    if (!fit) continue;
    if (!guarded([&slot] { return may_see(slot.st_userid); })) {
      std::array<Cell, 20> hidden = {slot.st_procpid};
      result.row(hidden);
      continue;
    }
    // Samplers have chains and draws, other methods restarts and iterations.
    const auto count_of = [&fit](bool draws, std::int32_t count) {
      return fit->runs > 0 && draws == (fit->draws != 0) ? Cell(count) : Cell();
    };
    const auto restarts = [&](std::int32_t count) { return count_of(false, count); };
    const auto chains = [&](std::int32_t count) { return count_of(true, count); };
    result.row({slot.st_procpid,
                oid_cell(slot.st_databaseid),
                oid_cell(slot.st_userid),
                name_cell(fit->family),
                name_cell(fit->method),
                Cell::text(name_of(fit->phase)),
                fit->items,
                fit->fits_ended,
                restarts(fit->run),
                restarts(fit->runs),
                restarts(fit->step),
                restarts(fit->steps),
                chains(fit->run),
                chains(fit->runs),
                chains(fit->step),
                chains(fit->steps),
                Cell::or_null(fit->objective),
                Cell::or_null(fit->change),
                time_cell(fit->began),
                time_cell(fit->deadline)});
  }
  return Datum(0);
}
