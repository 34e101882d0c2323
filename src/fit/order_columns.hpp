// Option order by the name of a column, without linear algebra.
#pragma once

#include "document/document.hpp"
#include "document/row_columns.hpp"

namespace bayes {

/// Replaces the name of a column in option order by its number, if there is such a column.
BAYES_API void number_order(Document &options, const RowColumns &columns);

}  // namespace bayes
