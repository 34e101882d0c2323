#include "pg/input/column_checks.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>

#include "base/control.hpp"
#include "base/message.hpp"
#include "data/remote_rows.hpp"
#include "document/members.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {
namespace {

constexpr const char *leave_out_hint = "Leave it out: SELECT f(r) FROM (SELECT a, b FROM t) AS r.";

/// The treatment of a column of numbers without variance by default priors and lower bounds of
/// variances.
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

namespace {

std::string lower(std::string name) {
  for (char &c : name)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return name;
}

bool names_a_row(const std::string &name) {
  return name == "id" || (name.size() > 3 && name.ends_with("_id"));
}

bool names_a_frequency(const std::string &name) {
  for (const char *const each : {"count", "freq", "frequency", "weight", "n"})
    if (name == each) return true;
  return false;
}

/// Columns with more different values do not look like codes.
constexpr std::size_t max_of_few = 10;
/// With so few rows the check for identifiers proves nothing.
constexpr std::int64_t min_rows = 200;

constexpr const char *leave_out_name =
    "If so, leave it out: SELECT f(r) FROM (SELECT a, b FROM t) AS r; or, in a query, name it by "
    "option id.";

std::string as_number(const RowColumn &column) {
  return message("column {} is taken as a number", describe(Document(column.name)));
}

void report_name_of_row(const RowColumn &column) {
  report_once(NOTICE, as_number(column),
              "Its name suggests that it identifies the row, or something else.", leave_out_name);
}

}  // namespace

void report_name_taken(const std::string &column, const char *what, const char *advice) {
  if (names_a_row(lower(column))) return;
  report_once(NOTICE,
              message("column {} of the query is taken as the name of {}",
                      describe(Document(column)), what),
              "It is the first column, and not part of the fit.", advice);
}

void report_name_of_response(const char *given, bool is_class, const char *hint) {
  const std::string name = lower(given);
  if (is_class ? name == "id" : names_a_row(name))
    report_once(NOTICE,
                message("column {} is taken as the {}", describe(Document(std::string(given))),
                        is_class ? "class" : "response"),
                "It is the first one, and its name suggests that it identifies the row.", hint);
}

void report_names_of_rows(const RowColumns &columns) {
  for (const RowColumn &column : columns)
    if (column.kind == ValueKind::number && names_a_row(lower(column.name)))
      report_name_of_row(column);
}

NumberFacts number_facts(RowSource &rows, std::size_t columns,
                         const std::vector<std::size_t> &asked) {
  constexpr std::int64_t max_numbers = 1 << 22;
  NumberFacts out;
  out.columns.resize(columns);
  out.rows = rows.rows();
  out.examined = std::min(
      out.rows, std::clamp<std::int64_t>(max_numbers / std::max<std::int64_t>(1, std::ssize(asked)),
                                         4096, 16384));
  out.squares = double(out.examined) * double(out.examined);
  std::vector<std::vector<double>> values(asked.size());
  std::vector<double> block(rows.shape().block_doubles());
  for (std::int64_t first = 0; first < out.examined && !asked.empty(); first += block_rows) {
    rows.read_block(first / block_rows, block.data());
    const std::int64_t size = std::min<std::int64_t>(block_rows, out.examined - first);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const double *const x = block.data() + asked[i] * block_rows;
      values[i].insert(values[i].end(), x, x + size);
    }
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    std::vector<double> &x = values[i];
    NumberFacts::Column &column = out.columns[asked[i]];
    column.whole = std::ranges::all_of(x, [](double v) { return v == std::floor(v); });
    if (!column.whole || x.empty()) continue;
    std::sort(x.begin(), x.end());
    column.low = x.front();
    column.high = x.back();
    const auto end = std::unique(x.begin(), x.end());
    column.different = end == x.end();
    x.resize(std::min(std::size_t(end - x.begin()), max_of_few + 1));
    column.values = std::move(x);
  }
  return out;
}

void NumberFacts::add(const NumberFacts &other) {
  rows += other.rows;
  examined += other.examined;
  squares += other.squares;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    Column &own = columns[j];
    const Column &more = other.columns[j];
    own.whole &= more.whole;
    own.different &= more.different;
    own.low = std::min(own.low, more.low);
    own.high = std::max(own.high, more.high);
    std::vector<double> both;
    std::ranges::set_union(own.values, more.values, std::back_inserter(both));
    if (both.size() > max_of_few + 1) both.resize(max_of_few + 1);
    own.values = std::move(both);
  }
}

/// Measurements that are whole numbers repeat: n of them from a range R all differ with probability
/// exp(-n^2 / 2 R), below 5e-5 for R up to n^2 / 20. With several parts, only rows of the same part
/// are compared. If there are more rows than numbers in the range, they cannot all differ.
bool NumberFacts::identifies(std::size_t j) const {
  const Column &column = columns[j];
  const double range = column.high - column.low;
  return examined >= min_rows && column.whole && column.different &&
         range <= std::min(10 * double(rows), squares / 20) && 0.99 * double(rows) <= range + 1;
}

/// Columns with few values are hardly normal: each value becomes a component of variance nearly 0.
/// Few rows have few values of any column, so each value must come many times.
bool NumberFacts::has_few_values(std::size_t j) const {
  constexpr std::size_t min_repetitions = 10;
  const Column &column = columns[j];
  return column.whole && column.values.size() > 2 && column.values.size() <= max_of_few &&
         examined >= std::int64_t(min_repetitions * column.values.size());
}

void report_unlikely_numbers(const RowColumns &columns, const std::vector<std::size_t> &numbers,
                             const char *weights, const FindFacts &find) {
  std::vector<std::size_t> others;
  const auto say = [](const std::string &what, const char *detail, const std::string &hint) {
    report_once(NOTICE, what, detail, hint);
  };
  for (const std::size_t j : numbers) {
    const std::string name = lower(columns[j].name);
    if (names_a_row(name))
      report_name_of_row(columns[j]);
    else if (names_a_frequency(name))
      say(as_number(columns[j]),
          "Its name suggests that it is the number of times that the row counts.", weights);
    else
      others.push_back(j);
  }
  const NumberFacts found = find(others);
  for (const std::size_t j : others)
    if (found.identifies(j))
      say(as_number(columns[j]),
          "It has a different whole number in every row, as an identifier would.", leave_out_name);
  for (const std::size_t j : others)
    if (found.has_few_values(j))
      say(as_number(columns[j]),
          "It has few different values, all of them whole numbers. In a normal column each value "
          "may become a component of its own, and elbo and bic then prefer the largest k.",
          "Cast it to text (categories) or boolean, or use bmm with option likelihood, such as "
          "\"poisson\" or \"categorical\".");
}

}  // namespace bayes::pg
