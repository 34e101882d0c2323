#include "pg/bind/scalar.hpp"

#include "pg/input/model_readers.hpp"
#include "pg/server/context.hpp"

namespace bayes::pg {
namespace {

/// Data that live from call to call.
struct CallSite {
  CallSite(MemoryContext context, FunctionCallInfo fcinfo, const char *family)
      : models(family),
        readers(context, guarded([fcinfo] { return get_fn_expr_argtype(fcinfo->flinfo, 1); })) {}
  ModelCache models;
  ModelReaders readers;
};

}  // namespace

std::optional<ModelAndRow> model_and_row(FunctionCallInfo fcinfo, const char *family) {
  auto &site = call_site<CallSite>(fcinfo, fcinfo, family);
  const std::shared_ptr<const Model> &model = site.models.share(PG_GETARG_DATUM(0));
  const std::string_view option = missing_option(model->info);
  const Missing missing = option == "marginalize" ? Missing::keep
                          : option == "skip"      ? Missing::skip
                                                  : Missing::error;
  RowReader &reader = site.readers.of(model);
  const Datum row = PG_GETARG_DATUM(1);
  reader.open(row);
  const auto x = reader.read(row, 0, missing);
  if (!x) return std::nullopt;
  if (x->size() != std::size_t(model->info.dimension))
    wrong_length(x->size(), std::size_t(model->info.dimension), "the model", 0);
  return ModelAndRow{*model, *x};
}

}  // namespace bayes::pg
