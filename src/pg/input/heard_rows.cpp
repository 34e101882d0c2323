#include "pg/input/heard_rows.hpp"

#include <algorithm>

#include "base/message.hpp"

namespace bayes::pg {

void CommonLength::hear(std::int64_t length, const std::string &place) {
  if (length_ && *length_ != length)
    throw Error(Errc::array_shape,
                message("rows have different lengths: {} and {} elements", *length_, length),
                message("Those of {} differ from the others.", place));
  length_ = length;
}

void hear_rows(PackedCollector &to, const PassReader &part, const std::string &place,
               bool described, int most, CommonLength &length) {
  to.count_elsewhere(part.integer("seen", 0, most_rows_of_part),
                     part.integer("zero_weights", 0, most_rows_of_part));
  if (part.integer("rows", 0, most_rows_of_part) == 0) return;
  const std::int64_t d = part.integer("dimension", 0, most);
  length.hear(d, place);
  if (!described) return;
  const RowColumns columns = columns_of_message(part.member("columns")), known = to.columns();
  if (std::ssize(columns) != d) PassReader::refuse();
  const auto same = [](const RowColumn &a, const RowColumn &b) { return a.name == b.name; };
  if (!known.empty() && !std::ranges::equal(columns, known, same)) PassReader::refuse();
  to.add_columns(columns);
}

}  // namespace bayes::pg
