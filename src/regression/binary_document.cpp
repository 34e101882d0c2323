// A logistic or probit regression as a document, and back, with every number checked.
#include <cmath>

#include "base/message.hpp"
#include "document/members.hpp"
#include "regression/binary_state.hpp"

namespace bayes {
namespace {

/// largest magnitudes of centres and scales; of coefficients in the model's units
constexpr double max_of_column = 1e155, max_of_coefficient = 1e100;

/// p (p + 1) / 2
std::int64_t triangle(std::int64_t p) { return p * (p + 1) / 2; }

std::vector<double> read_numbers(const MemberReader &in, const char *key,
                                 const std::vector<std::int64_t> &shape, double most) {
  std::vector<double> out = in.tensor(key, shape).values;
  WorkPoll poll;
  for (const double x : out) {
    poll(1);
    if (!(std::fabs(x) <= most))
      in.reject(key, message("contains {}, but must hold numbers of magnitude up to {}",
                             describe(x), describe_number(most)));
  }
  return out;
}

std::span<const Method> methods_of(Link link) {
  if (link == Link::logit) return logreg_methods;
  return probit_methods;
}

std::unique_ptr<Model> read_binary(Link link, const Document &document) {
  auto model = std::make_unique<BinaryRegression>(link);
  const MemberReader in(document);
  ModelInfo &info = model->info;
  info = read_model_info(document, methods_of(link), max_predictors, 1, 0);
  BinaryRegression::State &state = *model->state;
  const MemberReader options = in.object("options");
  state.terms = RegressionTerms(info.columns, info.dimension, options.boolean("intercept"),
                                options.has("reference") ? options.value("reference") : Document());
  const std::int64_t p = state.terms.size();
  if (p == 0) in.reject("row_columns", "must give at least one term");
  state.observations = in.number("observations", 0, 1e300, true);
  state.parameters = int(in.integer("parameters", 0, p));
  state.scales.centre = read_numbers(in, "centre", {p}, max_of_column);
  state.scales.scale = read_numbers(in, "scale", {p}, max_of_column);
  for (const double x : state.scales.scale)
    if (!(x >= 1 / max_of_column)) in.reject("scale", "must be positive");
  state.mean = read_numbers(in, "mean", {p}, max_of_coefficient);
  if (info.method == Method::gibbs) {
    const Tensor draws = in.tensor("coefficient_draws", {-1, p});
    if (draws.shape[0] == 0) in.reject("coefficient_draws", "must not be empty");
    state.draws = read_numbers(in, "coefficient_draws", draws.shape, max_of_coefficient);
    if (in.has("deviations")) {
      state.deviations = in.tensor("deviations", {p}).values;
      for (const double x : state.deviations)
        if (!(x >= 0)) in.reject("deviations", "must not be negative");
    }
  } else if (info.method != Method::em) {
    state.root = read_numbers(in, "root", {triangle(p)}, max_of_coefficient);
    for (std::int64_t j = 0; j < p; ++j)
      if (!(state.root[std::size_t(triangle(j) + j)] > 0))
        in.reject("root", "must have a positive diagonal");
  }
  return model;
}

}  // namespace

void BinaryRegression::write(Document &document) const {
  const State &s = *state;
  const auto p = std::int64_t(s.size());
  document.set("observations", s.observations);
  document.set("parameters", s.parameters);
  document.set("centre", Tensor{{p}, s.scales.centre});
  document.set("scale", Tensor{{p}, s.scales.scale});
  document.set("mean", Tensor{{p}, s.mean});
  const auto set = [&document](const char *key, const std::vector<std::int64_t> &shape,
                               const std::vector<double> &values) {
    Tensor tensor{shape, {}};
    append_numbers(tensor.values, values);
    document.set(key, std::move(tensor));
  };
  if (!s.root.empty()) set("root", {triangle(p)}, s.root);
  if (!s.deviations.empty()) document.set("deviations", Tensor{{p}, s.deviations});
  if (!s.draws.empty()) set("coefficient_draws", {stored_draws(), p}, s.draws);
}

std::unique_ptr<Model> read_logistic_regression(const Document &document) {
  return read_binary(Link::logit, document);
}
std::unique_ptr<Model> read_probit_regression(const Document &document) {
  return read_binary(Link::probit, document);
}

}  // namespace bayes
