#include "counts/padded_table.hpp"

#include <utility>

#include "data/remote_rows.hpp"

namespace bayes {

Document rows_document(const PaddedMatrix &table) {
  Tensor out;
  const std::size_t columns = std::size_t(table.columns());
  out.shape = {std::int64_t(table.rows()) * table.columns()};
  out.values.reserve(std::size_t(table.rows()) * columns);
  each_row(table, [&](std::int32_t i) {
    out.values.insert(out.values.end(), table.row(i), table.row(i) + columns);
  });
  return out;
}

void read_rows(const PassReader &from, const char *key, PaddedMatrix &to) {
  const std::size_t columns = std::size_t(to.columns());
  const std::vector<double> &numbers = from.numbers(key, std::size_t(to.rows()) * columns);
  each_row(to, [&](std::int32_t i) {
    std::copy_n(numbers.data() + std::size_t(i) * columns, columns, to.row(i));
  });
}

}  // namespace bayes
