#include "pg/input/unlikely_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {
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

/// Columns of whole numbers: those whose values all differ and have a range not much larger than
/// the number of rows, and those with few different values.
struct WholeNumbers {
  std::vector<std::size_t> all_different, few;
};

/// Measurements that are whole numbers repeat: n of them from a range R all differ with probability
/// exp(-n^2 / 2 R), below 5e-5 for R up to n^2 / 20. Columns with few values are hardly normal:
/// each value becomes a component of variance nearly 0. Only the first n rows are examined.
WholeNumbers whole_numbers(RowSource &rows, const std::vector<std::size_t> &columns) {
  constexpr std::int64_t min_rows = 200, max_of_few = 10, max_numbers = 1 << 22;
  const std::int64_t n = std::min(
      rows.rows(),
      std::clamp<std::int64_t>(
          max_numbers / std::max<std::int64_t>(1, std::int64_t(columns.size())), 4096, 16384));
  if (n < min_rows) return {};
  std::vector<std::vector<double>> values(columns.size());
  std::vector<double> block(rows.shape().block_doubles());
  for (std::int64_t first = 0; first < n && !columns.empty(); first += block_rows) {
    rows.read_block(first / block_rows, block.data());
    const std::int64_t size = std::min<std::int64_t>(block_rows, n - first);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const double *const x = block.data() + columns[i] * block_rows;
      values[i].insert(values[i].end(), x, x + size);
    }
  }
  const double range = std::min(10 * double(rows.rows()), double(n) * double(n) / 20);
  WholeNumbers out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::vector<double> &x = values[i];
    if (!std::all_of(x.begin(), x.end(), [](double v) { return v == std::floor(v); })) continue;
    std::sort(x.begin(), x.end());
    const bool close = x.back() - x.front() <= range;
    const auto end = std::unique(x.begin(), x.end());
    if (close && end == x.end()) out.all_different.push_back(columns[i]);
    if (const auto values_of = end - x.begin(); values_of > 2 && values_of <= max_of_few)
      out.few.push_back(columns[i]);
  }
  return out;
}

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

void report_names_of_rows(const RowColumns &columns) {
  for (const RowColumn &column : columns)
    if (column.kind == ValueKind::number && names_a_row(lower(column.name)))
      report_name_of_row(column);
}

void report_unlikely_numbers(RowSource &rows, const RowColumns &columns,
                             const std::vector<std::size_t> &numbers, const char *weights) {
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
  const WholeNumbers whole = whole_numbers(rows, others);
  for (const std::size_t j : whole.all_different)
    say(as_number(columns[j]),
        "It has a different whole number in every row, as an identifier would.", leave_out_name);
  for (const std::size_t j : whole.few)
    say(as_number(columns[j]),
        "It has few different values, all of them whole numbers. In a normal column each value may "
        "become a component of its own, and elbo and bic then prefer the largest k.",
        "Cast it to text (categories) or boolean, or use bmm with option likelihood, such as "
        "\"poisson\" or \"categorical\".");
}

}  // namespace bayes::pg
