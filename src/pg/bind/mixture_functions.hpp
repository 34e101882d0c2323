// SQL functions of a fitted mixture and a row, and draws from it: the same for every family M of
// mixtures, which has predict, probabilities, log_density, sample and size.
#pragma once

#include <cmath>
#include <vector>

#include "base/message.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/server/context.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

template <class M> Datum predict_row(FunctionCallInfo fcinfo, const char *family) {
  const auto row = model_and_row(fcinfo, family);
  if (!row) PG_RETURN_NULL();
  const auto &[model, x] = *row;
  PG_RETURN_INT32(static_cast<const M &>(model).predict(x) + 1);
}

/// One probability per component, followed by `more` others.
template <class M>
Datum row_probabilities(FunctionCallInfo fcinfo, const char *family, int more = 0) {
  const auto row = model_and_row(fcinfo, family);
  if (!row) PG_RETURN_NULL();
  const auto &[model, x] = *row;
  const M &mixture = static_cast<const M &>(model);
  const int k = mixture.size() + more;
  double *out;
  ArrayType *const array = guarded([k, &out] { return new_float8_array(1, &k, &out); });
  mixture.probabilities(x, std::span(out, std::size_t(k)));
  PG_RETURN_ARRAYTYPE_P(array);
}

template <class M> Datum row_log_density(FunctionCallInfo fcinfo, const char *family) {
  const auto row = model_and_row(fcinfo, family);
  if (!row) PG_RETURN_NULL();
  const auto &[model, x] = *row;
  PG_RETURN_FLOAT8(static_cast<const M &>(model).log_density(x));
}

/// The Monte Carlo standard error of that; NULL where it is undefined.
template <class M> Datum row_log_density_mcse(FunctionCallInfo fcinfo, const char *family) {
  const auto row = model_and_row(fcinfo, family);
  if (!row) PG_RETURN_NULL();
  const auto &[model, x] = *row;
  ServerControl control;
  const double error = static_cast<const M &>(model).mcse(x, control).log_density;
  if (std::isnan(error)) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(error);
}

/// Those of the probabilities.
template <class M> Datum row_probabilities_mcse(FunctionCallInfo fcinfo, const char *family) {
  const auto row = model_and_row(fcinfo, family);
  if (!row) PG_RETURN_NULL();
  const auto &[model, x] = *row;
  ServerControl control;
  const PredictiveErrors errors = static_cast<const M &>(model).mcse(x, control);
  const Cell cell = Cell::vector_with_nulls(errors.probabilities);
  return guarded([&cell] { return cell.to_datum(); });
}

/// Data that live from row to row of a set-returning function.
struct SampleGenerator {
  SampleGenerator(MemoryContext, Datum value, const char *family, std::int64_t seed)
      : model(load_model(value, family)),
        seed(std::uint64_t(seed)) {
    x.resize(std::size_t(model->info.dimension));
  }
  std::unique_ptr<Model> model;
  std::uint64_t seed;
  std::vector<double> x;
};

/// F_sample(model, n, seed): component and row. One row per call, so that memory does not grow with
/// n.
template <class M> Datum sample_rows(FunctionCallInfo fcinfo, const char *family) {
  if (SRF_IS_FIRSTCALL()) {
    const int n = PG_GETARG_INT32(1);
    if (n < 0)
      throw Error(Errc::invalid_argument,
                  message("n is {}, the number of draws cannot be negative", n));
    FuncCallContext *const context = SRF_FIRSTCALL_INIT();
    context->max_calls = std::uint64_t(n);
    context->user_fctx =
        make_in<SampleGenerator>(context->multi_call_memory_ctx, "pg_bayes sampler",
                                 PG_GETARG_DATUM(0), family, PG_GETARG_INT64(2));
    const MemoryContext before = MemoryContextSwitchTo(context->multi_call_memory_ctx);
    context->tuple_desc = result_row(fcinfo);
    MemoryContextSwitchTo(before);
  }
  FuncCallContext *const context = SRF_PERCALL_SETUP();
  if (context->call_cntr >= context->max_calls) SRF_RETURN_DONE(context);
  SampleGenerator &generator = *static_cast<SampleGenerator *>(context->user_fctx);
  const int component = static_cast<const M &>(*generator.model)
                            .sample(generator.seed, std::int64_t(context->call_cntr), generator.x);
  const Cell cells[] = {component + 1, Cell::vector(generator.x)};
  const Datum row = composite(context->tuple_desc, cells);
  SRF_RETURN_NEXT(context, row);
}

}  // namespace bayes::pg
