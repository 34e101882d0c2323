// bayes_log_density(model, x [, given]) of models that take no rows of columns, or that predict a
// response.
#pragma once

#include <memory>
#include <optional>

#include "pg/bind/family_reader.hpp"

namespace bayes::pg {

/// Log densities of what models of one family take, at one call site.
class DensityReader {
 public:
  virtual ~DensityReader() = default;
  /// The log density of x; `given`: nullptr if it is NULL. nullopt if the density does not exist,
  /// or if a value is missing.
  virtual std::optional<double> log_density(const std::shared_ptr<const Model> &model, Datum x,
                                            const Datum *given) = 0;
};

/// How bayes_log_density reads the arguments x and given, whose types are those of `make`.
using DensityFamily = FamilyReader<DensityReader>;

template <class T> constexpr auto make_density = make_reader<DensityReader, T>;

}  // namespace bayes::pg
