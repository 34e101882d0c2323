// Window functions that fit a model to a partition and say of every row where it belongs.
#pragma once

#include <span>

#include "pg/bind/binding.hpp"

namespace bayes::pg {

/// F_cluster(row, roles...) OVER (...): the row's component, from 1. Frames do not matter, the
/// whole partition is fitted.
Datum cluster_window(FunctionCallInfo fcinfo, const Binding<RowCollector> &binding,
                     std::span<const Role> roles);

}  // namespace bayes::pg
