// The distribution of an element of a row to come.
#pragma once

#include "families/predicted.hpp"
#include "families/product/columns.hpp"

namespace bayes {

/// At a column's point, and with its parameters integrated out under a posterior.
Predicted predicted_at(const Columns &columns, int column, const double *point);
Predicted predicted_under(const Columns &columns, int column, const double *q);

}  // namespace bayes
