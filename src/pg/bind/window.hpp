// Window functions that fit a model to a partition and return every row's component.
#pragma once

#include <span>

#include "pg/bind/binding.hpp"

namespace bayes::pg {

/// F_cluster(row, roles...) OVER (...): the row's component, from 1. The whole partition is fitted,
/// whatever the frame.
Datum cluster_window(FunctionCallInfo fcinfo, const Binding<RowCollector> &binding,
                     std::span<const Role> roles);

}  // namespace bayes::pg
