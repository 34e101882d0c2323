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

/// The columns, among these, whose values are different whole numbers from a range not much larger
/// than the number of rows. Measurements that are whole numbers repeat: of n from a range of 10 n
/// all differ with a probability below exp(-n / 20). The first rows tell.
std::vector<std::size_t> numbered_rows(RowSource &rows, std::vector<std::size_t> columns) {
  constexpr std::int64_t fewest = 200, most = 4096;
  const std::int64_t n = std::min(rows.rows(), most);
  if (n < fewest) return {};
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
  const double range = 10 * double(rows.rows());
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::vector<double> &x = values[i];
    if (!std::all_of(x.begin(), x.end(), [](double v) { return v == std::floor(v); })) continue;
    std::sort(x.begin(), x.end());
    if (x.back() - x.front() <= range && std::adjacent_find(x.begin(), x.end()) == x.end())
      out.push_back(columns[i]);
  }
  return out;
}

}  // namespace

void report_unlikely_numbers(RowSource &rows, const RowColumns &columns,
                             const std::vector<std::size_t> &numbers, const char *weights) {
  std::vector<std::size_t> others;
  const auto say = [](const std::string &what, const char *detail, const std::string &hint) {
    report_once(NOTICE, what, detail, hint);
  };
  const auto as_number = [&columns](std::size_t j) {
    return message("column {} is taken as a number", describe(Document(columns[j].name)));
  };
  constexpr const char *leave_out =
      "If so, leave it out: SELECT f(r) FROM (SELECT a, b FROM t) AS r; or, in a query, name it by "
      "option id.";
  for (const std::size_t j : numbers) {
    const std::string name = lower(columns[j].name);
    if (names_a_row(name))
      say(as_number(j), "By its name it may tell rows from each other, or name something else.",
          leave_out);
    else if (names_a_frequency(name))
      say(as_number(j), "By its name it may say how often a row counts.", weights);
    else
      others.push_back(j);
  }
  for (const std::size_t j : numbered_rows(rows, others))
    say(as_number(j), "It has another whole number in every row, as a row's name would have.",
        leave_out);
}

}  // namespace bayes::pg
