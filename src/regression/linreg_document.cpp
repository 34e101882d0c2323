// A fitted linear regression as a document.
#include <algorithm>
#include <cmath>
#include <limits>

#include "document/members.hpp"
#include "regression/linreg_options.hpp"
#include "regression/linreg_state.hpp"

namespace bayes {
namespace {

/// The results of a fit are written unchecked, so every finite number is accepted.
constexpr double largest_member = std::numeric_limits<double>::max();

Document vector_of(const std::vector<double> &values) {
  return Tensor{{std::int64_t(values.size())}, values};
}

Document write_gamma(const GammaPosterior &q) {
  return Document::object().set("shape", q.shape).set("rate", q.rate);
}

GammaPosterior read_gamma(const MemberReader &in, bool positive_rate) {
  return {in.number("shape", 0, largest_member, true),
          in.number("rate", 0, largest_member, positive_rate)};
}

std::vector<double> read_positive(const MemberReader &in, std::string_view key, std::int64_t size) {
  std::vector<double> out = in.tensor(key, {size}).values;
  // The inverse of each, a variance, must exist as well.
  if (std::any_of(out.begin(), out.end(),
                  [](double x) { return !(x > 0 && 1 / x > 0 && 1 / x <= largest_member); }))
    in.reject(key, "must be positive numbers whose inverses are positive and finite");
  return out;
}

}  // namespace

void LinregModel::write(Document &document) const {
  const State &s = *state;
  document.set("intercept", s.intercept);
  document.set("reference", s.terms.reference());
  document.set("weight", s.weight);
  document.set("center", vector_of(s.center)).set("response_center", s.response_center);
  std::vector<double> coefficients = s.coefficients, left_out;
  for (std::size_t j = 0; j < coefficients.size(); ++j)
    if (std::isnan(coefficients[j])) {
      coefficients[j] = 0;
      left_out.push_back(double(j + 1));
    }
  document.set("coefficients", vector_of(coefficients)).set("intercept_mean", s.intercept_mean);
  if (!left_out.empty()) document.set("left_out", vector_of(left_out));
  if (!s.factor.empty()) {
    document.set("factor", vector_of(s.factor)).set("noise_scaled", s.noise_scaled);
    document.set("intercept_spread", s.intercept_spread);
  }
  if (s.known_variance)
    document.set("noise_variance", *s.known_variance);
  else if (s.draws() == 0)
    document.set("noise", write_gamma(s.noise));
  if (!s.lambda.empty()) {
    std::vector<double> shapes, rates;
    for (const GammaPosterior &q : s.lambda) {
      shapes.push_back(q.shape);
      rates.push_back(q.rate);
    }
    document.set("lambda",
                 Document::object().set("shape", vector_of(shapes)).set("rate", vector_of(rates)));
  }
  if (s.draws() > 0) {
    if (s.size() > 0)
      document.set("draws_of_coefficients",
                   Tensor{{stored_draws(), std::int64_t(s.size())}, s.drawn});
    document.set("draws_of_alpha", vector_of(s.drawn_alpha));
    if (s.noise_mean > 0)
      document.set("all_draws", Document::object()
                                    .set("deviations", vector_of(s.deviations))
                                    .set("intercept_deviation", s.intercept_deviation)
                                    .set("noise_mean", s.noise_mean)
                                    .set("noise_deviation", s.noise_deviation));
  }
}

namespace {

/// The posterior of a model with draws.
void read_draws(const MemberReader &in, std::int64_t size, LinregModel::State &s) {
  if (s.known_variance || !s.factor.empty())
    in.reject("draws_of_alpha", "must not be combined with another posterior");
  s.drawn_alpha = read_positive(in, "draws_of_alpha", -1);
  if (s.drawn_alpha.empty()) in.reject("draws_of_alpha", "must not be empty");
  if (size > 0)
    s.drawn = in.tensor("draws_of_coefficients", {std::int64_t(s.drawn_alpha.size()), size}).values;
  if (in.has("all_draws")) {
    const MemberReader all = in.object("all_draws");
    s.deviations = all.tensor("deviations", {size}).values;
    if (std::any_of(s.deviations.begin(), s.deviations.end(), [](double x) { return !(x >= 0); }))
      all.reject("deviations", "must not be negative");
    s.intercept_deviation = all.number("intercept_deviation", 0, largest_member);
    s.noise_mean = all.number("noise_mean", 0, largest_member, true);
    s.noise_deviation = all.number("noise_deviation", 0, largest_member);
  }
}

}  // namespace

std::unique_ptr<Model> read_linreg_model(const Document &document) {
  auto model = std::make_unique<LinregModel>();
  const MemberReader in(document);
  model->info = read_model_info(document, linreg_methods, max_predictors, max_terms + 1, 0);
  LinregModel::State &s = *model->state;
  s.intercept = in.boolean("intercept");
  in.object("reference");
  s.terms = RegressionTerms(model->info.columns, model->info.dimension, s.intercept,
                            in.value("reference"));
  if (model->info.components != std::max(1, s.terms.size()))
    in.reject("components", "is not the number of terms");
  const std::int64_t size = s.terms.size() - (s.intercept ? 1 : 0);
  s.weight = in.number("weight", 0, largest_member, true);
  s.center = in.tensor("center", {size}).values;
  s.response_center = in.number("response_center", -largest_member, largest_member);
  s.coefficients = in.tensor("coefficients", {size}).values;
  s.intercept_mean = in.number("intercept_mean", -largest_member, largest_member);
  if (in.has("left_out")) {
    double before = 0;
    for (const double j : in.tensor("left_out", {-1}).values) {
      if (!(j > before && j <= double(size)) || j != std::floor(j))
        in.reject("left_out", "must be ascending numbers of terms");
      s.coefficients[std::size_t(j) - 1] = std::nan("");
      before = j;
    }
    if (before == 0) in.reject("left_out", "must not be empty");
  }
  if (in.has("factor")) {
    s.factor = in.tensor("factor", {size * (size + 1) / 2}).values;
    if (s.factor.empty()) in.reject("factor", "must not be empty");
    s.noise_scaled = in.boolean("noise_scaled");
    s.intercept_spread = in.number("intercept_spread", 0, largest_member);
  }
  const bool draws = in.has("draws_of_alpha");
  if (in.has("noise_variance"))
    s.known_variance = in.number("noise_variance", 0, largest_member, true);
  else if (!draws)
    s.noise = read_gamma(in.object("noise"), false);
  if (in.has("lambda")) {
    const MemberReader lambda = in.object("lambda");
    const std::vector<double> shapes = read_positive(lambda, "shape", -1);
    const std::vector<double> rates = read_positive(lambda, "rate", std::int64_t(shapes.size()));
    if (shapes.size() != 1 && shapes.size() != std::size_t(size))
      in.reject("lambda", "must have one entry, or one for each coefficient");
    for (std::size_t j = 0; j < shapes.size(); ++j) s.lambda.push_back({shapes[j], rates[j]});
  }
  if (draws) read_draws(in, size, s);
  return model;
}

}  // namespace bayes
