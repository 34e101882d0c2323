// A non-negative factorization as a document, and back, with every number checked.
#include <cmath>

#include "base/control.hpp"
#include "base/message.hpp"
#include "factor/factor_document.hpp"
#include "factor/nmf_state.hpp"

namespace bayes {
namespace {

constexpr double largest_weight = 1e200;

Tensor tensor_of(const TermTopics &table) {
  Tensor out{{table.terms(), table.topics()}, {}};
  out.values.reserve(std::size_t(table.terms()) * std::size_t(table.topics()));
  WorkPoll poll;
  for (std::int32_t i = 0; i < table.terms(); ++i) {
    out.values.insert(out.values.end(), table.of(i), table.of(i) + table.topics());
    poll(4 * std::size_t(table.topics()));
  }
  return out;
}

TermTopics table_of(const Tensor &tensor) {
  const std::int32_t keys = std::int32_t(tensor.shape[0]);
  const int factors = int(tensor.shape[1]);
  TermTopics out(keys, factors);
  WorkPoll poll;
  for (std::int32_t i = 0; i < keys; ++i) {
    std::copy_n(tensor.values.data() + std::size_t(i) * std::size_t(factors), factors, out.of(i));
    poll(4 * std::size_t(factors));
  }
  return out;
}

Document written(const NmfSide &side, bool gamma) {
  const std::int64_t factors = side.numbers.topics();
  Document out = Document::object();
  out.set("keys", written_keys(side.keys.all()));
  out.set(gamma ? "shape" : "value", tensor_of(side.numbers));
  if (!gamma) return out;
  if (side.own_rates.terms())
    out.set("rates", tensor_of(side.own_rates));
  else
    out.set("rate", Tensor{{factors}, side.rates});
  Document prior = Document::object().set("shape", side.prior.shape).set("rate", side.prior.rate);
  if (side.prior.hierarchical()) prior.set("scale_shape", side.prior.scale_shape);
  out.set("prior", std::move(prior));
  return out;
}

/// Numbers from `least`, which they may be themselves if it is 0.
void require_weights(const MemberReader &in, const char *key, std::span<const double> values,
                     bool positive) {
  WorkPoll poll;
  for (const double x : values) {
    poll(1);
    if (!((positive ? x > 0 : x >= 0) && x <= largest_weight))
      in.reject(key, message("contains {}, but its numbers must be {} and at most {}", describe(x),
                             positive ? "greater than 0" : "at least 0",
                             describe_number(largest_weight)));
  }
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
    const MemberReader prior = in.object("prior");
    out.prior = {prior.number("shape", 0, largest_weight, true),
                 prior.number("rate", 0, largest_weight, true)};
    if (prior.has("scale_shape"))
      out.prior.scale_shape = prior.number("scale_shape", 0, largest_weight, true);
  }
  out.sum_up();
  // Looked up by name, keys must differ.
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

void NmfModel::write(Document &document) const {
  const bool gamma = state->gamma;
  document.set("row", written(state->row, gamma))
      .set("column", written(state->column, gamma))
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
      read_model_info(document, factor_max_keys, factor_max_factors);
  const bool gamma = info.method == "vi" || info.method == "svi";
  if (!gamma && info.method != "em" && info.method != "squared")
    in.reject("method", "is not one of factorizations");
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
