// Conjugate models of one column in SQL.

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "base/message.hpp"
#include "conjugate/conjugate.hpp"
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

constexpr ConjugateKind beta_bernoulli = ConjugateKind::beta_bernoulli,
                        gamma_poisson = ConjugateKind::gamma_poisson,
                        normal_inverse_gamma = ConjugateKind::normal_inverse_gamma;

std::uint64_t hash_of_options(Datum options) {
  if (!options) return 0;
  const Detoasted plain(options);
  const auto *const bytes = reinterpret_cast<const unsigned char *>(VARDATA_ANY(plain.get()));
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < VARSIZE_ANY_EXHDR(plain.get()); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

/// The type of the argument x determines the kind: boolean or integer, bigint, or double precision.
ConjugateKind kind_of_type(Oid type) {
  return type == BOOLOID || type == INT4OID ? beta_bernoulli
         : type == INT8OID                  ? gamma_poisson
                                            : normal_inverse_gamma;
}

/// NOTICE that counts vary more than gamma_poisson allows for. `squares`: the sum of count^2 /
/// exposure. Pearson's statistic has expectation n - 1 and a variance of n - 1 times 2 + 1 / mean;
/// a Poisson distribution is more than 6 deviations away once in millions of fits.
void note_dispersion(const ConjugateSums &sums, double squares) {
  const double n = double(sums.rows), counts = sums.sums[0].hi, exposure = sums.sums[1].hi;
  if (n < 10 || !(counts > 0)) return;
  const double ratio = (squares * exposure / counts - counts) / (n - 1),
               error = std::sqrt((2 + n / counts) / (n - 1));
  if (!(ratio > 1.5 && ratio > 1 + 6 * error)) return;
  report_once(
      NOTICE, "counts vary more than those of a Poisson distribution",
      message("Their variance is {} times what gamma_poisson expects: intervals of the rate "
              "should be {} times as wide.",
              format_number(std::round(100 * ratio) / 100),
              format_number(std::round(100 * std::sqrt(ratio)) / 100)),
      "Fit groups of one rate each, or add up the counts of rows that depend on each other; "
      "bmm_fit has likelihoods of counts with a variance of their own.");
}

/// The transition state: plain data of a few hundred bytes, changed in place.
class ConjugateRows final : public ModelSums {
 public:
  explicit ConjugateRows(MemoryContext) {}
  ConjugateRows(MemoryContext, FunctionCallInfo fcinfo) {
    const Datum options = options_argument(fcinfo);
    const Oid type = argument_type(fcinfo, 1);
    data_.kind = kind_of_type(type);
    data_.as_integers = type == INT4OID;
    data_.options = hash_of_options(options);
    const Document given = options ? document_of_jsonb(options) : Document();
    data_.prior = read_conjugate_prior(data_.kind, given);
    null_on_error_ = data_.null_on_error = pg::null_on_error(given);
  }
  void check_same(FunctionCallInfo fcinfo) const {
    if (hash_of_options(options_argument(fcinfo)) != data_.options) refuse_change(Role::options);
  }
  void add(FunctionCallInfo fcinfo) {
    Observed row;
    if (read(fcinfo, rows() + 1, row)) {
      data_.sums.add(data_.kind, row.x, row.weight, 1);
      data_.squares += DoubleDouble{row.x * row.x / row.weight};
    } else {
      ++data_.sums.skipped;
    }
  }
  bool remove(FunctionCallInfo fcinfo) {
    Observed row;
    if (read(fcinfo, 1, row)) {
      data_.squares = data_.squares - DoubleDouble{row.x * row.x / row.weight};
      return data_.sums.add(data_.kind, row.x, row.weight, -1);
    }
    --data_.sums.skipped;
    return true;
  }

  const SumsKind &kind() const override;
  void serialize(std::string &out) override { put_plain(out, data_); }
  void combine(const char *at, const char *end) override {
    const Data other = take_plain<Data>(at, end);
    if (rows() == 0) {
      data_ = other;
      null_on_error_ = other.null_on_error;
      return;
    }
    if (other.options != data_.options) refuse_change(Role::options);
    data_.sums.add(data_.kind, other.sums);
    data_.squares += other.squares;
  }
  std::string model_bytes() override {
    if (data_.sums.rows == 0) return {};
    if (data_.kind == gamma_poisson) note_dispersion(data_.sums, data_.squares.hi);
    ConjugateModel model(data_.kind, data_.prior, data_.sums);
    return bytes_of(model);
  }

 private:
  /// the serialized state
  struct Data {
    ConjugateSums sums;
    ConjugatePrior prior = {};
    /// a hash of the options of the first row: class Parameters is not trivially copyable
    std::uint64_t options = 0;
    ConjugateKind kind = {};
    /// successes are 1 and 0, not true and false
    bool as_integers = false;
    /// of gamma_poisson: the sum of count^2 / exposure
    DoubleDouble squares = {};
    bool null_on_error = false;
  };
  /// A row's value and weight.
  struct Observed {
    double x = 0, weight = 1;
  };
  /// The options argument; 0 for none, or NULL.
  static Datum options_argument(FunctionCallInfo fcinfo) {
    return PG_NARGS() > 2 && !PG_ARGISNULL(2) ? PG_GETARG_DATUM(2) : Datum(0);
  }
  /// rows so far, including those left out, and those refused
  std::int64_t rows() const { return data_.sums.rows + data_.sums.skipped + refusals.count(); }
  bool read(FunctionCallInfo fcinfo, std::int64_t row, Observed &out) const;

  Data data_;
};
static_assert(std::is_trivially_destructible_v<ConjugateRows>);

const SumsKind conjugate_sums('c', "sums", "", make_sums<ConjugateRows>);
const SumsKind &ConjugateRows::kind() const { return conjugate_sums; }

/// Reads the value and the weight of row number `row` from the arguments; false if the row is left
/// out.
bool ConjugateRows::read(FunctionCallInfo fcinfo, std::int64_t row, Observed &out) const {
  const bool weighted = PG_NARGS() > 3;
  if (PG_ARGISNULL(1) || (weighted && PG_ARGISNULL(3))) return false;
  const bool exposure = data_.kind == gamma_poisson;
  if (weighted) {
    out.weight = PG_GETARG_FLOAT8(3);
    if (!(out.weight >= 0 && out.weight <= max_abs_element))
      throw Error(Errc::invalid_argument,
                  message("{} of row {} is {}", exposure ? "exposure" : "weight", row,
                          format_number(out.weight)),
                  message("It must be a number from 0 to {}.", max_abs_element));
    if (out.weight == 0 && !exposure) return false;
  }
  switch (data_.kind) {
    case beta_bernoulli:
      out.x = data_.as_integers ? PG_GETARG_INT32(1) : PG_GETARG_BOOL(1);
      if (out.x != 0 && out.x != 1)
        throw Error(Errc::invalid_argument,
                    message("success of row {} is {}", row, format_number(out.x)),
                    "It must be true or false, or one of the numbers 1 and 0.",
                    "Compare it with what counts as a success: x > 0. Numbers of successes are "
                    "weights: beta_bernoulli_fit(true, NULL, n).");
      break;
    case gamma_poisson: {
      const std::int64_t count = PG_GETARG_INT64(1);
      if (count < 0)
        throw Error(Errc::invalid_argument,
                    message("count of row {} is {}, but must be at least 0", row, count));
      out.x = double(count);
      break;
    }
    case normal_inverse_gamma:
      out.x = PG_GETARG_FLOAT8(1);
      if (!(std::fabs(out.x) <= max_abs_element))
        refuse_value(out.x, message("x of row {}", row), 0);
      break;
  }
  if (out.weight == 0 && out.x > 0)
    throw Error(Errc::invalid_argument,
                message("count of row {} is {}, but its exposure is 0", row, format_number(out.x)));
  return out.weight > 0;
}

/// The models in the first arguments of a call, each of one of the three families.
struct ConjugateSite {
  explicit ConjugateSite(MemoryContext) : models{ModelCache(nullptr), ModelCache(nullptr)} {}
  ModelCache models[2];
};

/// Throws Error unless the model has one parameter, which the functions below are about.
const ConjugateModel &one_parameter(const Model &model) {
  if (const auto *const out = dynamic_cast<const ConjugateModel *>(&model)) return *out;
  throw Error(Errc::wrong_family,
              message("a model of family {} has no single parameter", model.info.family),
              "Models of beta_bernoulli, gamma_poisson and normal_inverse_gamma have.",
              "bayes_parameters(model) lists the parameters of any model.");
}

const ConjugateModel &model_argument(FunctionCallInfo fcinfo, int at = 0) {
  auto &site = call_site<ConjugateSite>(fcinfo);
  return one_parameter(site.models[at].get(PG_GETARG_DATUM(at)));
}

/// A float8, NULL for a NaN.
Datum number_or_null(FunctionCallInfo fcinfo, double x) {
  if (std::isnan(x)) PG_RETURN_NULL();
  return guarded([x] { return Float8GetDatum(x); });
}

Datum number_of_model(FunctionCallInfo fcinfo, double (ConjugateModel::*number)() const) {
  return number_or_null(fcinfo, (model_argument(fcinfo).*number)());
}

/// A number computed from two models (the first two arguments).
Datum number_of_models(FunctionCallInfo fcinfo,
                       double (*number)(const ConjugateModel &, const ConjugateModel &)) {
  const ConjugateModel &a = model_argument(fcinfo, 0), &b = model_argument(fcinfo, 1);
  return number_or_null(fcinfo, number(a, b));
}

/// Reads one more row of a model, and its exposure, as bayes_log_density is given them.
class ConjugateDensity final : public DensityReader {
 public:
  ConjugateDensity(MemoryContext, const Oid *types)
      : value_(guarded([types] { return getBaseType(types[0]); })),
        exposure_(guarded([types] { return getBaseType(types[1]); })) {}
  std::optional<double> log_density(const std::shared_ptr<const Model> &shared, Datum value,
                                    const Datum *exposure) override {
    const auto &model = static_cast<const ConjugateModel &>(*shared);
    if (exposure && model.kind() != gamma_poisson)
      throw Error(Errc::wrong_family, message("rows of {} are given nothing", model.info.family),
                  {}, "Call bayes_log_density(model, x).");
    const double x = number(value, value_, model.kind() == beta_bernoulli, "x");
    double e = 1;
    switch (model.kind()) {
      case beta_bernoulli:
        if (x != 0 && x != 1)
          throw Error(Errc::invalid_argument, message("x is {}", format_number(x)),
                      "It must be true or false, or one of the numbers 1 and 0.");
        break;
      case gamma_poisson:
        if (!exposure && exposure_ != UNKNOWNOID) return std::nullopt;
        if (exposure) e = number(*exposure, exposure_, false, "exposure");
        if (!(e > 0 && e <= max_abs_element))
          throw Error(Errc::invalid_argument,
                      message("exposure is {}, but must be positive", format_number(e)));
        if (x != std::floor(x))
          throw Error(Errc::invalid_argument,
                      message("x is {}, but must be a whole number", format_number(x)));
        if (x < 0) return -HUGE_VAL;
        break;
      case normal_inverse_gamma:
        if (!(std::fabs(x) <= max_abs_element)) refuse_value(x, "x", 0);
        break;
    }
    const double out = model.log_predictive(x, e);
    return std::isnan(out) ? std::nullopt : std::optional(out);
  }

 private:
  /// A literal has no type of its own.
  static double number(Datum value, Oid type, bool success, const char *name) {
    if (is_number_type(type) || type == BOOLOID)
      return guarded([&] { return number_of(value, type); });
    if (type != UNKNOWNOID)
      throw SqlError(
          ERRCODE_DATATYPE_MISMATCH, message("{} is of type {}", name, name_of_type(type)),
          success ? "It must be a boolean, or a number that is 0 or 1." : "It must be a number.");
    return guarded([&] {
      return success ? double(DatumGetBool(DirectFunctionCall1(boolin, value)))
                     : DatumGetFloat8(DirectFunctionCall1(float8in, value));
    });
  }
  /// base types
  Oid value_, exposure_;
};

constexpr auto make_conjugate_density = make_density<ConjugateDensity>;
const DensityFamily beta_densities(conjugate_family(beta_bernoulli), make_conjugate_density);
const DensityFamily gamma_densities(conjugate_family(gamma_poisson), make_conjugate_density);
const DensityFamily normal_densities(conjugate_family(normal_inverse_gamma),
                                     make_conjugate_density);

}  // namespace

/// (internal, x "any" [, options jsonb [, weight float8]]) -> internal
BAYES_FUNCTION(conjugate_transition) { return add_row<ConjugateRows>(fcinfo); }
BAYES_FUNCTION(conjugate_inverse_transition) { return remove_row<ConjugateRows>(fcinfo); }

// ---- functions of a model, and of two ----

BAYES_FUNCTION(bayes_mean) { return number_of_model(fcinfo, &ConjugateModel::posterior_mean); }
BAYES_FUNCTION(bayes_map) { return number_of_model(fcinfo, &ConjugateModel::posterior_mode); }
BAYES_FUNCTION(bayes_ml) { return number_of_model(fcinfo, &ConjugateModel::maximum_likelihood); }

/// (model [, level]) -> lower, upper
BAYES_FUNCTION(bayes_interval) {
  const double level = level_argument(fcinfo);
  ResultRows rows(fcinfo);
  const ConjugateModel &model = model_argument(fcinfo);
  if (!model.proper()) {
    rows.row({Cell(), Cell()});
    return Datum(0);
  }
  const Marginal q = model.marginal();
  const double tail = (1 - level) / 2;
  rows.row({Cell::or_null(q.quantile(tail)), Cell::or_null(q.upper_quantile(tail))});
  return Datum(0);
}

/// For one parameter, or for the probabilities of labels.
BAYES_FUNCTION(bayes_evidence) {
  const Model &model = call_site<ConjugateSite>(fcinfo).models[0].get(PG_GETARG_DATUM(0));
  if (const auto *const labels = dynamic_cast<const DirichletCategorical *>(&model))
    return number_or_null(fcinfo, labels->log_evidence());
  if (const auto *const one = dynamic_cast<const ConjugateModel *>(&model))
    return number_or_null(fcinfo, one->log_evidence());
  throw Error(Errc::wrong_family,
              message("a model of family {} has no evidence in closed form", model.info.family),
              "Conjugate models have: beta_bernoulli, gamma_poisson, normal_inverse_gamma and "
              "dirichlet_categorical.",
              "bayes_info(model) has the objective of the fit, and bic.");
}

BAYES_FUNCTION(bayes_greater) { return number_of_models(fcinfo, probability_greater); }
BAYES_FUNCTION(bayes_loss) { return number_of_models(fcinfo, expected_loss); }
BAYES_FUNCTION(bayes_lift) { return number_of_models(fcinfo, expected_lift); }

/// (a, b [, level]) -> mean, sd, lower, upper
BAYES_FUNCTION(bayes_difference) {
  const double level = level_argument(fcinfo, 2);
  ResultRows rows(fcinfo);
  const ParameterDifference d =
      parameter_difference(model_argument(fcinfo, 0), model_argument(fcinfo, 1), level);
  rows.row(
      {Cell::or_null(d.mean), Cell::or_null(d.sd), Cell::or_null(d.lower), Cell::or_null(d.upper)});
  return Datum(0);
}

namespace {

/// The models of an array.
struct Arms {
  explicit Arms(Datum argument) {
    const OpenArray array(argument);
    if (array.dimensions() > 1)
      throw Error(Errc::array_shape,
                  message("the array of models has {} dimensions", array.dimensions()),
                  "It must have one dimension.");
    const int n = array.empty() ? 0 : array.size(0);
    constexpr int most = 1000;
    if (n > most)
      throw Error(Errc::too_large,
                  message("the array has {} models, but the limit is {}", n, most));
    ElementType type(CurrentMemoryContext);
    type.use(array.element_type());
    ArrayWalk walk(array, type, nullptr);
    for (int i = 0; i < n; ++i) {
      const NullableDatum element = walk.next();
      if (element.isnull) throw Error(Errc::null_value, message("model {} is NULL", i + 1));
      owners.push_back(load_model(element.value));
      models.push_back(&one_parameter(*owners.back()));
    }
  }
  std::vector<std::unique_ptr<Model>> owners;
  std::vector<const ConjugateModel *> models;
};

}  // namespace

/// (models bayes_model[]) -> float8[]
BAYES_FUNCTION(bayes_best) {
  const Arms arms(PG_GETARG_DATUM(0));
  const std::vector<double> best = contest(arms.models).best;
  return guarded([&best] { return Cell::vector_with_nulls(best).to_datum(); });
}

/// (models bayes_model[] [, level]): a row for each model
BAYES_FUNCTION(bayes_arms) {
  const double level = level_argument(fcinfo, 1);
  ResultRows rows(fcinfo);
  const Arms arms(PG_GETARG_DATUM(0));
  const Contest found = contest(arms.models);
  for (std::size_t i = 0; i < arms.models.size(); ++i) {
    const ConjugateModel &arm = *arms.models[i];
    const bool proper = arm.proper();
    const Marginal of = proper ? arm.marginal() : Marginal();
    rows.row({int(i) + 1, Cell::or_null(arm.posterior_mean()),
              proper ? Cell::or_null(of.deviation()) : Cell(),
              proper ? Cell::or_null(of.quantile((1 - level) / 2)) : Cell(),
              proper ? Cell::or_null(of.upper_quantile((1 - level) / 2)) : Cell(),
              Cell::or_null(found.best[i]), Cell::or_null(found.loss[i])});
  }
  return Datum(0);
}

// The Dirichlet-categorical model in SQL.

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
