#include "pg/input/column_checks.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "base/control.hpp"
#include "base/message.hpp"
#include "data/remote_rows.hpp"
#include "document/members.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {
namespace {

constexpr const char *leave_out_hint = "Leave it out: SELECT f(r) FROM (SELECT a, b FROM t) AS r.";

/// What default priors and lower bounds of variances do about a column of numbers without a
/// variance.
constexpr const char *unit_scale =
    "Where it is modelled as normal, its scale is taken to be 1, whatever its unit.";

}  // namespace

void note_scale(const std::string &name) {
  report_once(NOTICE, message("column {} has the same value in every row", name), unit_scale,
              "Leave it out, or give a prior of its variance, in the unit of the column.");
}

ColumnFacts column_facts(RowSource &rows, std::size_t columns, std::vector<std::size_t> asked) {
  ColumnFacts out;
  out.unseen.resize(columns);
  std::iota(out.unseen.begin(), out.unseen.end(), std::size_t(0));
  out.constant = out.unseen;
  out.whole = std::move(asked);
  out.value.assign(columns, std::numeric_limits<double>::quiet_NaN());
  const RowShape shape = rows.shape();
  std::vector<double> block(shape.block_doubles());
  for (std::int64_t first = 0;
       first < rows.rows() && !(out.unseen.empty() && out.whole.empty() && out.constant.empty());
       first += block_rows) {
    poll_here();
    rows.read_block(first / block_rows, block.data());
    const std::size_t size = std::size_t(std::min<std::int64_t>(block_rows, rows.rows() - first));
    const double *const weight =
        shape.weighted ? block.data() + std::size_t(shape.dimension) * block_rows : nullptr;
    const auto all = [&](std::size_t j, auto holds) {
      const double *const x = block.data() + j * block_rows;
      for (std::size_t i = 0; i < size; ++i)
        if (!(weight && weight[i] == 0) && !holds(x[i])) return false;
      return true;
    };
    std::erase_if(out.unseen,
                  [&](std::size_t j) { return !all(j, [](double v) { return std::isnan(v); }); });
    std::erase_if(out.constant, [&](std::size_t j) {
      return !all(j, [&of = out.value[j]](double v) {
        if (std::isnan(of)) of = v;
        return v == of || std::isnan(v);
      });
    });
    std::erase_if(out.whole, [&](std::size_t j) {
      return !all(j, [](double v) { return v == 0 || v == 1 || std::isnan(v); });
    });
  }
  return out;
}

void ColumnFacts::add(const ColumnFacts &other) {
  const auto keep_common = [](std::vector<std::size_t> &own,
                              const std::vector<std::size_t> &others) {
    std::erase_if(own, [&others](std::size_t j) {
      return !std::binary_search(others.begin(), others.end(), j);
    });
  };
  keep_common(unseen, other.unseen);
  keep_common(constant, other.constant);
  keep_common(whole, other.whole);
  std::erase_if(constant, [&](std::size_t j) {
    return !std::isnan(value[j]) && !std::isnan(other.value[j]) && value[j] != other.value[j];
  });
  for (std::size_t j = 0; j < value.size(); ++j)
    if (std::isnan(value[j])) value[j] = other.value[j];
}

void check_columns(RowSource &rows, std::int64_t count, const RowColumns &columns,
                   const std::vector<std::size_t> &normal_by_default, const char *option) {
  ColumnFacts facts = column_facts(rows, columns.size(), normal_by_default);
  if (rows.rows() == 0) facts.unseen.clear();
  check_columns(facts, count, columns, option);
}

void check_columns(const ColumnFacts &facts, std::int64_t count, const RowColumns &columns,
                   const char *option) {
  const std::vector<std::string> names = quoted_names(columns);
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j].kind == ValueKind::label && !too_few_to_warn(count) &&
        std::ssize(columns[j].labels) == count)
      report_once(WARNING, message("column {} has a different label in every row", names[j]),
                  "It probably identifies the row, and has nothing in common with other rows.",
                  leave_out_hint);
  if (!facts.unseen.empty())
    throw Error(Errc::invalid_argument,
                message("column {} is NULL in every row", names[facts.unseen[0]]),
                "A column of NULLs cannot be fitted.", leave_out_hint);
  for (const std::size_t j : facts.constant) {
    const bool number = columns[j].kind == ValueKind::number;
    if (!too_few_to_warn(count))
      report_once(WARNING, message("column {} has the same value in every row", names[j]),
                  message("A constant column carries no information about clusters.{}{}",
                          number ? " " : "", number ? unit_scale : ""),
                  leave_out_hint);
    else if (number)
      note_scale(names[j]);
  }
  if (too_few_to_warn(count)) return;
  for (const std::size_t j : facts.whole) {
    if (std::binary_search(facts.constant.begin(), facts.constant.end(), j)) continue;
    report_once(NOTICE,
                message("column {} contains only 0 and 1, but is modelled as normal", names[j]), {},
                message("Cast it to boolean, or set option {}: {\"{}\": \"bernoulli\"} applies to "
                        "all columns of numbers.",
                        option, option));
  }
}

void note_positions(const RowColumns &columns) {
  if (columns.size() > 1 && by_position(columns))
    report_once(
        NOTICE, "columns of records have no names and are matched by position: f1, f2, ...",
        "Names are missing in ROW(a, b), if two columns have the same name, and where the planner "
        "has rewritten records. The model will match the columns of new rows by position.",
        "Give columns names: SELECT f(r) FROM (SELECT a, b FROM t) AS r.");
}

ResponseFacts response_facts(RowSource &rows) {
  const RowShape shape = rows.shape();
  ResponseFacts out;
  out.predictors = std::size_t(shape.dimension) - 1;
  out.equal.resize(out.predictors);
  std::iota(out.equal.begin(), out.equal.end(), std::size_t(0));
  std::vector<double> block(shape.block_doubles());
  for (std::int64_t first = 0; first < rows.rows() && !out.equal.empty(); first += block_rows) {
    poll_here();
    rows.read_block(first / block_rows, block.data());
    const auto size = std::min<std::int64_t>(block_rows, rows.rows() - first);
    const double *const y = block.data(), *const end = y + size;
    out.any_true |= std::find(y, end, 1.0) != end;
    out.any_false |= std::find(y, end, 0.0) != end;
    std::erase_if(out.equal, [&](std::size_t j) {
      return !std::equal(y, end, block.data() + (j + 1) * block_rows);
    });
  }
  return out;
}

void ResponseFacts::add(const ResponseFacts &other) {
  std::vector<std::size_t> both;
  std::set_intersection(equal.begin(), equal.end(), other.equal.begin(), other.equal.end(),
                        std::back_inserter(both));
  equal = std::move(both);
  any_true |= other.any_true;
  any_false |= other.any_false;
}

void check_predictors(const ResponseFacts &facts, std::int64_t rows, const RowColumns &columns) {
  if (too_few_to_warn(rows) || !facts.any_true || !facts.any_false) return;
  for (const std::size_t j : facts.equal) warn_of_response(columns, j, "response");
}

void warn_of_response(const RowColumns &columns, std::size_t j, const char *response) {
  report_once(WARNING,
              message("{} equals the {} in every row",
                      columns.empty() ? message("element {}", j + 1)
                                      : message("column {}", describe(Document(columns[j].name))),
                      response),
              message("The {} was included among the predictors.", response), leave_out_hint);
}

std::vector<std::string> quoted_names(const RowColumns &columns) {
  std::vector<std::string> out;
  for (const RowColumn &column : columns) out.push_back(describe(Document(column.name)));
  return out;
}

}  // namespace bayes::pg
