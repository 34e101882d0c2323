// Rows of columns of several kinds, and a model that takes them as they are.
#pragma once

#include <map>

#include "base/random.hpp"
#include "base/unseen.hpp"
#include "data/drift.hpp"
#include "data/row_reference.hpp"
#include "support.hpp"

namespace drifting {

using namespace bayes;

inline const double hole = std::numeric_limits<double>::quiet_NaN();

/// A model of rows that takes them as they are.
class Plain final : public bayes::Model {
 public:
  explicit Plain(RowColumns columns, const char *missing = "marginalize") {
    info.family = "plain";
    info.columns = std::move(columns);
    info.dimension = int(info.columns.size());
    info.options = Document::object().set("missing", missing);
  }
  double log_density(std::span<const double> x) const override {
    return std::isnan(x[0]) ? 0 : -x[0] * x[0] / 2;
  }
  double free_parameters() const override { return 0; }
  void describe_parameters(std::optional<double>, const TakeParameter &) const override {}
  double observations() const override { return 1; }

 private:
  void write(Document &) const override {}
};

inline MemoryRows rows_of(const std::vector<std::vector<double>> &x) {
  MemoryRows out({int(x[0].size()), false});
  for (const std::vector<double> &row : x) out.append(row.data());
  return out;
}

/// A model with the reference of these rows.
inline std::shared_ptr<Plain> model_of(RowColumns columns,
                                       const std::vector<std::vector<double>> &x,
                                       const char *missing = "marginalize") {
  auto out = std::make_shared<Plain>(std::move(columns), missing);
  MemoryRows rows = rows_of(x);
  Control control;
  out->info.reference = reference_of(*out, rows, 0, control);
  return out;
}

inline std::vector<DriftEntry> drift_of(std::shared_ptr<const bayes::Model> model,
                                        const std::vector<std::vector<double>> &x) {
  Drift drift(std::move(model));
  for (const std::vector<double> &row : x) drift.add(row);
  return drift.entries();
}

/// Columns of several kinds: normal, exponential with NULLs, small counts, a rare boolean, a label
/// of five, and one of many, most of them rare.
struct Source {
  Random random;
  double shift = 0;

  std::vector<double> row() {
    const double tail = std::floor(3 * std::pow(random.uniform(), -1.0));
    const bool null = random.uniform() < 0.06;
    return {random.normal() + shift,
            null ? hole : random.exponential(),
            std::floor(2 * random.exponential()),
            random.uniform() < 0.2 ? 1.0 : 0.0,
            double(std::min(random.below(7), random.below(5))),
            std::min(tail, 1e6)};
  }
  std::vector<std::vector<double>> rows(int n) {
    std::vector<std::vector<double>> out;
    for (int i = 0; i < n; ++i) out.push_back(row());
    return out;
  }
};

/// Turns labels into codes, those that the rows of the fit do not have into unknown ones.
inline void recode(std::vector<std::vector<double>> &fit, std::vector<std::vector<double>> &now,
                   std::size_t column, std::vector<std::string> &labels) {
  std::map<double, double> codes;
  for (const std::vector<double> &row : fit) codes.emplace(row[column], 0);
  double next = 0;
  for (auto &[label, code] : codes) {
    code = next++;
    labels.push_back(std::to_string(1000000 + std::int64_t(label)));
  }
  for (auto *rows : {&fit, &now})
    for (std::vector<double> &row : *rows) {
      const auto found = codes.find(row[column]);
      row[column] = found == codes.end() ? unseen_category : found->second;
    }
}

/// What is found of whole rows and columns in one simulation.
inline std::vector<DriftEntry> simulate(Source &source, int fitted, int compared,
                                        double shift = 0) {
  source.shift = 0;
  auto fit = source.rows(fitted);
  source.shift = shift;
  auto now = source.rows(compared);
  RowColumns columns = {{"normal"}, {"exponential"}, {"count"}, {"rare"}, {"label"}, {"many"}};
  for (const std::size_t j : {std::size_t(4), std::size_t(5)}) {
    columns[j].kind = ValueKind::label;
    recode(fit, now, j, columns[j].labels);
  }
  columns[3].kind = ValueKind::boolean;
  return drift_of(model_of(columns, fit), now);
}

}  // namespace drifting
