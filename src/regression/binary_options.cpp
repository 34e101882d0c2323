#include "regression/binary_options.hpp"

#include "document/members.hpp"
#include "regression/binary_regression.hpp"
#include "regression/terms.hpp"

namespace bayes {
namespace {

constexpr double min_prior_variance = 1e-12, max_prior_variance = 1e12;

/// A variance, given by key c of logistic regression as such, and by key lambda of probit
/// regression as a precision.
void spread_line(OptionTable &t, Link link, const OptionKey &c, const OptionKey &lambda,
                 std::optional<double> &variance, bool applies = true) {
  std::optional<double> given = variance;
  if (link == Link::probit && given) given = 1 / *given;
  t.number(link == Link::logit ? c : lambda, given, {min_prior_variance, max_prior_variance},
           applies);
  if (!t.reads() || !given) return;
  variance = link == Link::probit ? 1 / *given : *given;
}

void binary_prior_lines(OptionTable &t, BinaryOptions &o) {
  // When writing, write the values in force.
  std::optional<double> variance = o.variance, of_intercept;
  if (!t.reads()) {
    variance = o.prior_variance();
    of_intercept = o.intercept_variance;
  }
  const auto shown = [&o](double of) {
    return describe_number(o.link == Link::probit ? 1 / of : of);
  };
  const std::string standard = shown(o.prior_variance()),
                    of_intercept_standard = shown(o.intercept_variance);
  spread_line(t, o.link, {"c", "variance of the coefficients", {}, standard},
              {"lambda", "precision of the coefficients", {}, standard}, variance);
  spread_line(t, o.link, {"c_intercept", "variance of the intercept", {}, of_intercept_standard},
              {"lambda_intercept", "precision of the intercept", {}, of_intercept_standard},
              of_intercept, o.intercept);
  if (!t.reads()) return;
  o.variance = variance;
  if (of_intercept) o.intercept_variance = *of_intercept;
}

void binary_lines(OptionTable &t, BinaryOptions &o) {
  if (o.link == Link::logit)
    o.method_line(t, logreg_methods);
  else
    o.method_line(t, probit_methods);
  o.chains.lines(t, o.sampled());
  o.chains.stored_line(t, o.sampled());
  if (t.reads()) o.tolerance = o.method == Method::em ? 1e-8 : 1e-10;
  t.integer(max_iter_key, o.max_iterations, 1, 1000000, !o.sampled());
  t.number(tol_key, o.tolerance, {0, 1e6}, !o.sampled());
  o.common_lines(t, {"skip", "error"});
  t.boolean(intercept_key, o.intercept);
  t.other(
      reference_key,
      [&](const Document &given) {
        check_reference(given);
        o.reference = given;
      },
      [&] { return o.reference; });
  bool scaled = o.scaled();
  t.other(
      prior_key,
      [&](const Document &given) {
        OptionTable inner = OptionTable::reading(given, "prior.");
        binary_prior_lines(inner, o);
        inner.finish("a fit without an intercept");
        o.given_prior = given;
      },
      [&] {
        OptionTable inner = OptionTable::writing();
        binary_prior_lines(inner, o);
        return inner.document();
      });
  if (t.reads()) scaled = o.scaled();
  t.boolean(standardize_key, scaled);
  o.standardize = scaled;
}

}  // namespace

double BinaryOptions::prior_variance() const {
  return variance.value_or(link == Link::logit ? 6.25 : 2.5);
}

BinaryOptions read_binary_options(Link link, const Document &options) {
  require_object(options, R"({"prior": {"c": 1}})");
  BinaryOptions out(link);
  out.method = Method::laplace;
  out.restarts = 1;
  if (link == Link::probit) out.intercept_variance = 40;
  OptionTable t = OptionTable::reading(options);
  binary_lines(t, out);
  t.finish(out.setting());
  return out;
}

Document BinaryOptions::document() const {
  BinaryOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  binary_lines(t, in_force);
  return t.document();
}

}  // namespace bayes
