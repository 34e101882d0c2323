#include "pg/bind/scalar.hpp"

#include "pg/server/context.hpp"

namespace bayes::pg {
namespace {

/// Data that live from call to call.
struct CallSite {
  CallSite(MemoryContext, const char *family) : models(family) {}
  ModelCache models;
  ArrayReader reader;
};

}  // namespace

ModelAndRow model_and_row(FunctionCallInfo fcinfo, const char *family,
                          bool (*takes_missing)(const Model &)) {
  auto &site = call_site<CallSite>(fcinfo, family);
  const Model &model = site.models.get(PG_GETARG_DATUM(0));
  const Missing missing = takes_missing && takes_missing(model) ? Missing::keep : Missing::error;
  const std::span<const double> x = *site.reader.read(PG_GETARG_DATUM(1), 0, missing);
  if (x.size() != std::size_t(model.info.dimension))
    wrong_length(x.size(), std::size_t(model.info.dimension), "the model", 0);
  return {model, x};
}

}  // namespace bayes::pg
