#include "base/method.hpp"

#include <iterator>

namespace bayes {
namespace {

/// In the order of Method.
constexpr MethodTraits methods[] = {
    {"exact", MethodResult::posterior},  {"laplace", MethodResult::posterior},
    {"em", MethodResult::point},         {"map", MethodResult::point},
    {"mcem", MethodResult::point, true}, {"kmeans", MethodResult::point},
    {"squared", MethodResult::point},    {"cvb0", MethodResult::posterior},
    {"vi", MethodResult::variational},   {"svi", MethodResult::variational, true},
    {"gibbs", MethodResult::draws},      {"collapsed", MethodResult::draws},
    {"slice", MethodResult::draws},
};
static_assert(std::size(methods) == std::size_t(Method::slice) + 1);

}  // namespace

const MethodTraits &traits(Method method) { return methods[std::size_t(method)]; }

std::optional<Method> method_of(std::string_view name) {
  for (std::size_t i = 0; i < std::size(methods); ++i)
    if (methods[i].name == name) return Method(i);
  return std::nullopt;
}

}  // namespace bayes
