#include "pg/input/remote_table.hpp"

#include <numeric>

namespace bayes::pg {

std::vector<int> PushedTable::begin(TupleDesc columns, std::string &reason) {
  std::vector<int> out(std::size_t(make_(columns, reason)));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

Document PushedTable::keep() {
  Document out = pass_request("keep");
  out.set("kind", "table").set("family", request_.family);
  collector().write_policy(out);
  return out;
}

void PushedTable::hear(const PassReader &part, const std::string &place) {
  const std::int64_t rows = part.integer("rows", 0, factor_max_keys),
                     length = part.integer("columns", 0, factor_max_keys);
  if (rows > 0) parts_.push_back({.place = place, .rows = rows});
  collector().hear_part(part, rows);
  if (length > 0) length_.hear(length, place);
}

Document PushedTable::settle() {
  Document out = pass_request("settle").set("columns", columns());
  collector().choose_for_parts(out, rows_);
  return out;
}

void PushedTable::settled(const PassReader &answer) {
  TripleCollector::Part &part = parts_.at(settled_++);
  part.take(answer, columns(), collector().holds_out());
  collector().hear_keys(part);
}

void PushedTable::take(PushedRows &rows) { collector().take_parts(rows, parts_, rows.skipped()); }

}  // namespace bayes::pg
