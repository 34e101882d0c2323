// The Dirichlet-categorical model in SQL.
#include <optional>

#include "base/message.hpp"
#include "conjugate/dirichlet_categorical.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/bind/score.hpp"
#include "pg/bind/sums.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/values/array_elements.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/json.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

constexpr const char *label_family = "dirichlet_categorical";

/// The transition state: the weights of the labels.
class LabelRows final : public SumsWithParameters {
 public:
  explicit LabelRows(MemoryContext context) : SumsWithParameters(1), type_(context) {}
  LabelRows(MemoryContext context, FunctionCallInfo fcinfo) : LabelRows(context) {
    read_parameters(fcinfo);
    read_prior();
  }
  void add(FunctionCallInfo fcinfo) {
    double weight;
    if (const auto label = read(fcinfo, weight))
      sums_.add(*label, weight, 1);
    else
      ++sums_.skipped;
  }
  bool remove(FunctionCallInfo fcinfo) {
    double weight;
    if (const auto label = read(fcinfo, weight)) return sums_.add(*label, weight, -1);
    --sums_.skipped;
    return true;
  }

  void clear() override { sums_ = {}; }
  const SumsKind &kind() const override;
  void serialize(std::string &out) override;
  void combine(const char *at, const char *end) override;
  std::string model_bytes() override;

 private:
  void read_prior() { prior_ = DirichletPrior::read(parameters_.request(label_family).options); }
  std::optional<std::string_view> read(FunctionCallInfo fcinfo, double &weight);

  DirichletPrior prior_;
  LabelSums sums_;
  ElementType type_;
};

const SumsKind label_sums('d', "labels", "combine rare labels into one.", make_sums<LabelRows>);
const SumsKind &LabelRows::kind() const { return label_sums; }

/// Reads the label and the weight of a row; nullopt if the row is left out.
std::optional<std::string_view> LabelRows::read(FunctionCallInfo fcinfo, double &weight) {
  const bayes::pg::Item item = row(fcinfo);
  if (item.values[0].isnull || (item.weight && item.weight->isnull)) return std::nullopt;
  weight = weight_of(item);
  const std::int64_t number = sums_.rows + sums_.skipped + refusals.count() + 1;
  if (!(weight >= 0 && weight <= max_abs_element))
    throw Error(Errc::invalid_argument,
                message("weight of row {} is {}", number, format_number(weight)),
                message("It must be a number from 0 to {}.", max_abs_element));
  if (weight == 0) return std::nullopt;
  type_.use(argument_type(fcinfo, 1));
  const auto label = type_.text(item.values[0].value);
  if (!label)
    throw Error(Errc::invalid_argument, message("the label of row {} is NaN", number), {},
                nan_hint);
  return label;
}

void LabelRows::serialize(std::string &out) {
  parameters_.write(out);
  put_plain(out, sums_.rows);
  put_plain(out, sums_.skipped);
  put_plain(out, sums_.total);
  for (const auto &[label, weight] : sums_.weights) {
    put_bytes(out, label);
    put_plain(out, weight);
  }
}

void LabelRows::combine(const char *at, const char *end) {
  if (combine_parameters(at, end)) read_prior();
  LabelSums other;
  other.rows = take_plain<std::int64_t>(at, end);
  other.skipped = take_plain<std::int64_t>(at, end);
  other.total = take_plain<double>(at, end);
  while (at != end) {
    const std::string_view label = take_bytes(at, end);
    other.weights.emplace(label, take_plain<LabelWeight>(at, end));
    other.bytes += label.size();
  }
  sums_.add(other);
}

std::string LabelRows::model_bytes() {
  if (sums_.rows == 0) return {};
  if (!(sums_.total <= 1e305))
    throw Error(Errc::numeric, "sums over the rows are beyond double precision");
  DirichletCategorical model(prior_, sums_);
  return bytes_of(model);
}

/// bayes_log_density(model, label)
class LabelDensity final : public DensityReader {
 public:
  LabelDensity(MemoryContext context, const Oid *types) : type_(context) { type_.use(types[0]); }
  std::optional<double> log_density(const std::shared_ptr<const Model> &model, Datum label,
                                    const Datum *given) override {
    if (given)
      throw Error(Errc::wrong_family, message("labels of {} are given nothing", label_family), {},
                  "Call bayes_log_density(model, label).");
    const auto text = type_.text(label);
    if (!text) throw Error(Errc::invalid_argument, "the label is NaN", {}, nan_hint);
    return static_cast<const DirichletCategorical &>(*model).log_predictive(*text);
  }

 private:
  ElementType type_;
};

const DensityFamily label_densities(label_family, make_density<LabelDensity>);

}  // namespace

/// (internal, label "any" [, options jsonb [, weight float8]]) -> internal
BAYES_FUNCTION(dirichlet_categorical_transition) { return add_row<LabelRows>(fcinfo); }
BAYES_FUNCTION(dirichlet_categorical_inverse_transition) { return remove_row<LabelRows>(fcinfo); }

/// (model [, level float8]) -> label, count, mean, map, ml, lower, upper
BAYES_FUNCTION(dirichlet_categorical_probabilities) {
  const double level = level_argument(fcinfo);
  ResultRows rows(fcinfo);
  const auto loaded = load_model(PG_GETARG_DATUM(0), label_family);
  const auto &model = static_cast<const DirichletCategorical &>(*loaded);
  for (const DirichletCategorical::Label &label : model.labels()) {
    poll_interrupts();
    const Marginal q = model.marginal(label);
    rows.row({Cell::text(*label.name), label.count, q.mean(),
              Cell::or_null(model.posterior_mode(label)), model.maximum_likelihood(label),
              Cell::or_null(q.quantile((1 - level) / 2)),
              Cell::or_null(q.upper_quantile((1 - level) / 2))});
  }
  return Datum(0);
}
