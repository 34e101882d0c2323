#include "pg/bind/scalar.hpp"

#include "base/message.hpp"
#include "families/parameter.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/context.hpp"

namespace bayes::pg {
namespace {

/// State of a call site between its calls.
struct CallSite {
  /// `keep`: missing values are kept whatever the model's options, and nothing is predicted.
  CallSite(MemoryContext context, FunctionCallInfo fcinfo, const char *family, int row, bool keep)
      : context(context),
        models(family),
        rows(context, type_of(fcinfo, row),
             keep ? AbsentColumns::as_null : AbsentColumns::as_missing, !keep) {}
  static Oid type_of(FunctionCallInfo fcinfo, int argument) {
    return argument_type(fcinfo, argument);
  }
  MemoryContext context;
  ModelCache models;
  RowsOfModels rows;
  TupleDesc result = nullptr;
};

}  // namespace

std::optional<std::span<const double>> RowsOfModels::read(const std::shared_ptr<const Model> &model,
                                                          Datum row) {
  // A NaN or infinite predictor is an error, not a reason to skip the row.
  const Missing skip = model->words().response ? Missing::skip_null : Missing::skip;
  const std::string_view option = missing_option(model->info);
  return read(model, row,
              option == "marginalize" ? Missing::keep
              : option == "skip"      ? skip
                                      : Missing::error);
}

std::optional<std::span<const double>> RowsOfModels::read(const std::shared_ptr<const Model> &model,
                                                          Datum row, Missing missing) {
  // Models of other kinds may take arguments that are not rows, and their error must name the
  // model, not the type.
  model->require_rows();
  if (!readers_) readers_.emplace(context_, type_, nullptr, absent_, report_unknown_);
  if (model->info.dimension == 0 && arrays_ && is_empty_array(row))
    return std::span<const double>();
  RowReader &reader = readers_->of(model);
  // A model without columns reads nothing of a record.
  if (model->info.dimension == 0 && reader.records()) return std::span<const double>();
  reader.open(row);
  const auto x = reader.read(row, 0, missing);
  if (x && x->size() != std::size_t(model->info.dimension))
    wrong_length(x->size(), std::size_t(model->info.dimension), "the model", 0);
  return x;
}

std::optional<ModelAndRow> model_and_row(FunctionCallInfo fcinfo, const char *family) {
  auto &site = call_site<CallSite>(fcinfo, fcinfo, family, 1, false);
  const std::shared_ptr<const Model> &model = site.models.share(PG_GETARG_DATUM(0));
  const auto x = site.rows.read(model, PG_GETARG_DATUM(1));
  if (!x) return std::nullopt;
  return ModelAndRow{*model, *x};
}

double level_argument(FunctionCallInfo fcinfo, int at) {
  const double level = PG_GETARG_FLOAT8(at);
  require_level(level);
  return level;
}

int count_argument(FunctionCallInfo fcinfo, int at) {
  const int n = PG_GETARG_INT32(at);
  if (n < 0)
    throw Error(Errc::invalid_argument,
                message("n is {}, the number of draws cannot be negative", n));
  return n;
}

TupleDesc scalar_result_row(FunctionCallInfo fcinfo) {
  auto &site = *static_cast<CallSite *>(fcinfo->flinfo->fn_extra);
  if (!site.result) {
    const CurrentContext lasting(site.context);
    site.result = result_row(fcinfo);
  }
  return site.result;
}

ModelAndRow incomplete_row_of_model(FunctionCallInfo fcinfo, std::shared_ptr<const Model> &keep) {
  auto &site = call_site<CallSite>(fcinfo, fcinfo, nullptr, 2, true);
  keep = site.models.share(PG_GETARG_DATUM(1));
  return {*keep, *site.rows.read(keep, PG_GETARG_DATUM(2), Missing::keep)};
}

}  // namespace bayes::pg
