#include "families/product/product_prediction.hpp"

#include <variant>

#include "families/product/column_families.hpp"

namespace bayes {

Predicted predicted_at(const Columns &columns, int column, const double *point) {
  return std::visit([point](const auto &family) { return family.predicted(point); },
                    family_of(columns.specs()[std::size_t(column)]));
}

Predicted predicted_under(const Columns &columns, int column, const double *q) {
  return std::visit([q](const auto &family) { return family.predictive(q); },
                    family_of(columns.specs()[std::size_t(column)]));
}

}  // namespace bayes
