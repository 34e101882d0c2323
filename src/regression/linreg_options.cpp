#include "regression/linreg_options.hpp"

#include "base/error.hpp"
#include "document/members.hpp"
#include "regression/linreg.hpp"
#include "regression/terms.hpp"

namespace bayes {
namespace {

constexpr double largest_option = 1e300;

}  // namespace

LinregOptions::LinregOptions() {
  method = Method::exact;
  missing = "skip";
  restarts = 1;
}

void LinregOptions::prior_lines(OptionTable &t) {
  // 0 is a flat prior, which is improper: there is no evidence then.
  t.number({"lambda", "precision of the coefficients", "", "by the data"}, lambda,
           exact() ? OptionRange{0, largest_option} : above(0, largest_option));
  t.number({"c", "the same, divided by that of the noise, in the place of lambda"}, c,
           {0, largest_option}, exact() && !known_noise());
  if (t.reads() && lambda && c)
    throw Error(Errc::invalid_argument, "prior.lambda and prior.c are both given",
                "Each is a precision of the coefficients: c in units of the noise's precision.",
                "Leave one out.");
  const OptionRange noise = exact() ? OptionRange{0, largest_option} : above(0, largest_option);
  t.number({"a", "shape of the gamma prior of the precision of the noise", "", "by the data"}, a,
           noise, !known_noise());
  t.number({"b", "rate of the gamma prior of the precision of the noise", "", "by the data"}, b,
           noise, !known_noise());
  const std::string of_e = describe_number(default_e);
  t.number({"e", "shape of the gamma prior of lambda", {}, of_e}, e, above(0, largest_option),
           learns_lambda());
  t.number({"f", "rate of the gamma prior of lambda", "", "by the data"}, f,
           above(0, largest_option), learns_lambda());
}

void LinregOptions::lines(OptionTable &t) {
  method_line(t, linreg_methods);
  t.number({"noise_variance", "variance of the noise, if it is known", "", "learned"},
           noise_variance, above(0, largest_option), exact());
  t.boolean(intercept_key, intercept);
  t.other(
      reference_key,
      [&](const Document &given) {
        check_reference(given);
        reference = given;
      },
      [&] {
        const auto *const members = reference.as<Document::Object>();
        return members && !members->empty() ? reference : Document();
      });
  t.flag({"ard", "whether each coefficient has a precision of its own"}, ard, !exact());
  if (exact()) {
    chains.lines(t, false);
    t.integer(max_iter_key, max_iterations, 1, 1, false);
    t.number(tol_key, tolerance, {0, 1}, false);
  } else {
    iteration_lines(t);
  }
  chains.stored_line(t, sampled());
  common_lines(t, {"skip", "error"}, false);
  prior_line(
      t,
      [&](const Document &given, bool) {
        OptionTable inner = OptionTable::reading(given, "prior.");
        prior_lines(inner);
        inner.finish(known_noise() ? "known noise" : setting());
      },
      [&] {
        OptionTable inner = OptionTable::writing();
        prior_lines(inner);
        return inner.document();
      },
      true);
  // A given prior precision refers to the coefficients in the units of the columns.
  if (t.reads()) standardize = !lambda && !c;
  t.boolean(standardize_key, standardize);
}

LinregOptions LinregOptions::read(const Document &options) {
  require_object(options, R"({"method": "vi"})");
  LinregOptions out;
  OptionTable t = OptionTable::reading(options);
  out.lines(t);
  t.finish(out.setting());
  return out;
}

Document LinregOptions::document() const {
  LinregOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  in_force.lines(t);
  return t.document();
}

}  // namespace bayes
