// How RowReader finds the columns that it expects in records: by name, or by position where columns
// have no names.
#include <algorithm>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/input/row_reader.hpp"
#include "pg/input/unknown_names.hpp"

namespace bayes::pg {
namespace {

std::string quoted_name(const std::string &name) { return describe(Document(name)); }

}  // namespace

bool names_repeat(const RowColumns &columns) {
  std::vector<std::string> names;
  for (const RowColumn &column : columns) names.push_back(column.name);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

/// Throws Error: `given`: the record has no names of columns, but the expected columns do; if
/// false, the reverse.
void RowReader::refuse_positions(bool given) const {
  std::string names;
  const std::size_t most = 3;
  for (std::size_t j = 0; j < std::min(most, columns_.size()); ++j)
    names += (j ? ", " : "") + quoted_name(columns_[j].name);
  if (columns_.size() > most) names += ", ...";
  const char *const place = from_model_ ? "the model" : "the rows before";
  throw SqlError(
      ERRCODE_DATATYPE_MISMATCH,
      given ? message("columns of a record have no names, but those of {} are {}", place, names)
            : message("columns of a record have names, but those of {} have none", place),
      "Columns f1, f2, ... come from ROW(a, b); their order need not be that of named columns.",
      given && from_model_
          ? "Give a row of a table or a subquery, SELECT f(model, r) FROM (SELECT a, b "
            "FROM t) AS r; or ROW(a, b)::type; or, to match by position, an array."
          : "Give rows of a table or a subquery, SELECT f(r) FROM (SELECT a, b FROM t) "
            "AS r; or ROW(a, b)::type.");
}

/// The index in `given` of every column; `absent` if it may be and is.
std::vector<std::size_t> RowReader::find_columns(const RowColumns &given) const {
  std::vector<std::size_t> out;
  const auto is_given = [&](const RowColumn &column) {
    return find_column(given, column.name) >= 0;
  };
  const bool found = absent_allowed_ ? std::any_of(columns_.begin(), columns_.end(), is_given)
                                     : std::all_of(columns_.begin(), columns_.end(), is_given);
  const bool nameless = by_position(given), positions = by_position(columns_);
  // A model of arrays, or of records without names, takes rows with any names. In all other cases
  // the order of columns may differ, for example if the planner has turned a row of a table into
  // ROW(...).
  if (!found && nameless != positions && !given.empty() &&
      (nameless || !(from_model_ || names_repeat(given))))
    refuse_positions(nameless);
  if (positions && (nameless || !found)) {
    if (given.size() > columns_.size() || given.size() + trailing_ < columns_.size())
      throw Error(
          Errc::array_shape,
          message("a row has {} columns, but {} are expected", given.size(), columns_.size()),
          "Columns without names, such as those of ROW(a, b), are matched by position.");
    for (std::size_t j = 0; j < columns_.size(); ++j) out.push_back(j < given.size() ? j : absent);
    return out;
  }
  for (const RowColumn &column : columns_) {
    const std::string &name = column.name;
    const int at = find_column(given, name);
    if (std::count_if(given.begin(), given.end(),
                      [&name](const RowColumn &other) { return other.name == name; }) > 1)
      throw Error(Errc::invalid_argument, message("rows have two columns {}", quoted_name(name)),
                  {}, "Give one of them another name: SELECT a AS b.");
    if (at < 0 && absent_allowed_ && found) {
      out.push_back(absent);
      continue;
    }
    if (at < 0)
      throw Error(Errc::invalid_argument, message("rows have no column {}", quoted_name(name)),
                  from_model_
                      ? message("It is one of the {} columns that the model was fitted to.",
                                columns_.size())
                      : message("It is one of the {} columns of the rows before.", columns_.size()),
                  "Columns are matched by name; additional columns are ignored.");
    out.push_back(std::size_t(at));
  }
  report_misspelt(given);
  return out;
}

/// NOTICE of a column that rows lack, if it seems to be there by another name.
void RowReader::report_misspelt(const RowColumns &given) const {
  if (!absent_allowed_) return;
  std::vector<std::string> others;
  for (const RowColumn &each : given)
    if (find_column(columns_, each.name) < 0) others.push_back(each.name);
  for (const RowColumn &each : columns_)
    if (find_column(given, each.name) < 0) report_misspelt_column(each.name, others);
}

}  // namespace bayes::pg
