// Serialisation of non-negative factorizations; every number is checked on reading.
#include <cmath>

#include "base/control.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "factor/nmf_state.hpp"

namespace bayes {
namespace {

constexpr double max_weight = 1e200;

Tensor tensor_of(const PaddedMatrix &table) {
  Tensor out{{table.rows(), table.columns()}, {}};
  out.values.reserve(std::size_t(table.rows()) * std::size_t(table.columns()));
  WorkPoll poll;
  for (std::int32_t i = 0; i < table.rows(); ++i) {
    out.values.insert(out.values.end(), table.row(i), table.row(i) + table.columns());
    poll(4 * std::size_t(table.columns()));
  }
  return out;
}

PaddedMatrix table_of(const Tensor &tensor) {
  const std::int32_t keys = std::int32_t(tensor.shape[0]);
  const int factors = int(tensor.shape[1]);
  PaddedMatrix out(keys, factors);
  WorkPoll poll;
  for (std::int32_t i = 0; i < keys; ++i) {
    std::copy_n(tensor.values.data() + std::size_t(i) * std::size_t(factors), factors, out.row(i));
    poll(4 * std::size_t(factors));
  }
  return out;
}

Document write_prior(const WeightGamma &prior) {
  Document out = Document::object().set("shape", prior.shape).set("rate", prior.rate);
  if (prior.hierarchical()) out.set("scale_shape", prior.scale_shape);
  return out;
}

Document write_side(const NmfSide &side, bool gamma) {
  const std::int64_t factors = side.numbers.columns();
  Document out = Document::object();
  out.set("keys", write_keys(side.keys.all()));
  out.set(gamma ? "shape" : "value", tensor_of(side.numbers));
  if (!gamma) return out;
  if (side.own_rates.rows())
    out.set("rates", tensor_of(side.own_rates));
  else
    out.set("rate", Tensor{{factors}, side.rates});
  out.set("prior", write_prior(side.prior));
  return out;
}

/// Requires numbers up to max_weight that are greater than 0 if `positive`, else at least 0.
void require_weights(const MemberReader &in, const char *key, std::span<const double> values,
                     bool positive) {
  WorkPoll poll;
  for (const double x : values) {
    poll(1);
    if (!((positive ? x > 0 : x >= 0) && x <= max_weight))
      in.reject(key,
                message("contains {}, but its numbers must be {} and at most {}", describe(x),
                        positive ? "greater than 0" : "at least 0", describe_number(max_weight)));
  }
}

WeightGamma read_prior(const MemberReader &in) {
  WeightGamma out = {in.number("shape", 0, max_weight, true),
                     in.number("rate", 0, max_weight, true)};
  if (in.has("scale_shape")) out.scale_shape = in.number("scale_shape", 0, max_weight, true);
  return out;
}

NmfSide read_side(const MemberReader &in, int factors, bool gamma) {
  NmfSide out;
  out.keys = read_keys(in, false);
  const std::int64_t keys = std::int64_t(out.keys.size());
  const char *const name = gamma ? "shape" : "value";
  const Tensor numbers = in.tensor(name, {keys, factors});
  require_weights(in, name, numbers.values, gamma);
  out.numbers = table_of(numbers);
  out.rates.assign(std::size_t(factors), 1.0);
  if (gamma) {
    const bool own = in.has("rates");
    const Tensor rates = own ? in.tensor("rates", {keys, factors}) : in.tensor("rate", {factors});
    require_weights(in, own ? "rates" : "rate", rates.values, true);
    out.rates = own ? std::vector<double>() : rates.values;
    if (own) out.own_rates = table_of(rates);
    out.prior = read_prior(in.object("prior"));
  }
  out.sum_up();
  // Keys are looked up by name, so they must differ.
  WorkPoll poll;
  for (std::size_t i = 1; i < out.keys.size(); ++i) {
    const auto at = [&](std::size_t place) -> const std::string & {
      return out.keys[out.order.empty() ? place : std::size_t(out.order[place])];
    };
    if (at(i - 1) == at(i)) in.reject("keys", message("contains {} twice", describe(at(i))));
    poll(10);
  }
  return out;
}

}  // namespace

Document column_factors_message(const NmfModel &model) {
  const NmfModel::State &state = *model.state;
  Document out = Document::object();
  out.set("factors", model.size()).set("gamma", state.gamma).set("missing", state.missing);
  out.set("column", write_side(state.column, state.gamma));
  if (state.gamma) out.set("prior", write_prior(state.row.prior));
  return out;
}

std::unique_ptr<NmfModel> model_of_column_factors(const Document &message) {
  const MemberReader in(message);
  auto model = std::make_unique<NmfModel>();
  NmfModel::State &state = *model->state;
  state.gamma = in.boolean("gamma");
  state.missing = in.boolean("missing");
  model->info.method = state.gamma ? Method::vi : Method::em;
  model->info.components = int(in.integer("factors", 1, factor_max_factors));
  state.column = read_side(in.object("column"), model->info.components, state.gamma);
  if (state.gamma) state.row.prior = read_prior(in.object("prior"));
  return model;
}

void NmfModel::write(Document &document) const {
  const bool gamma = state->gamma;
  document.set("row", write_side(state->row, gamma))
      .set("column", write_side(state->column, gamma))
      .set("error", Document::object()
                        .set("squared", state->error.squared)
                        .set("divergence", state->error.divergence)
                        .set("explained", state->error.explained));
  if (state->missing) document.set("missing", true);
}

std::unique_ptr<Model> read_nmf_model(const Document &document) {
  auto model = std::make_unique<NmfModel>();
  const MemberReader in(document);
  const ModelInfo &info = model->info =
      read_model_info(document, nmf_methods, factor_max_keys, factor_max_factors);
  const bool gamma = is_variational(info.method);
  NmfModel::State &state = *model->state;
  state.row = read_side(in.object("row"), info.components, gamma);
  state.column = read_side(in.object("column"), info.components, gamma);
  if (state.column.keys.size() != std::size_t(info.dimension))
    in.reject("column", message("must have {} keys", info.dimension));
  const MemberReader error = in.object("error");
  state.error = {error.number("squared", 0, std::numeric_limits<double>::max()),
                 error.number_or_nan("divergence"), error.number_or_nan("explained")};
  state.gamma = gamma;
  state.missing = in.has("missing") && in.boolean("missing");
  state.sum_up();
  return model;
}

}  // namespace bayes
