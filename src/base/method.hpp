// The methods that fit models, and the kinds of their results.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/api.hpp"

namespace bayes {

/// How a model is fitted. The options of a family list its methods.
enum class Method : std::uint8_t {
  exact,
  laplace,
  em,
  map,
  mcem,
  kmeans,
  squared,
  cvb0,
  vi,
  svi,
  gibbs,
  collapsed,
  slice,
};

/// The kind of result of a method.
enum class MethodResult : std::uint8_t {
  /// one value of each parameter
  point,
  /// a posterior in closed form, by one computation
  posterior,
  /// an approximate posterior in closed form, by variational inference
  variational,
  /// draws from the posterior
  draws,
};

struct MethodTraits {
  /// as in option method; a literal, so it ends with '\0'
  std::string_view name;
  MethodResult result;
  /// Is the objective known by noisy estimates only?
  bool noisy = false;
};

BAYES_API const MethodTraits &traits(Method method);
/// The method of this name, if there is one.
BAYES_API std::optional<Method> method_of(std::string_view name);

inline std::string_view method_name(Method method) { return traits(method).name; }
inline bool is_sampler(Method method) { return traits(method).result == MethodResult::draws; }
inline bool is_variational(Method method) {
  return traits(method).result == MethodResult::variational;
}
inline bool is_one_of(Method method, std::span<const Method> methods) {
  for (const Method each : methods)
    if (each == method) return true;
  return false;
}

}  // namespace bayes
