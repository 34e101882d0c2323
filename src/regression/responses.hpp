// The responses of generalized linear models: how y is distributed, given its linear predictor and
// perhaps the dispersion of the response (McCullagh and Nelder 1989).
//
// A response is a class and a line of a list: of responses.cpp if it is a number, of
// level_responses.cpp if it is one of several levels.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/api.hpp"
#include "base/random.hpp"
#include "regression/link_moments.hpp"

namespace bayes {

class ResponseStep;

/// The circumstances of a response, given its row: the linear predictor, and for a binomial one the
/// number of trials.
struct ResponsePoint {
  double predictor = 0, trials = 1;
  /// the logarithm of the dispersion, of responses that have one
  double log_dispersion = 0;
  /// the degrees of freedom of a student_t response
  double degrees = 0;
};

/// Of the log density of y, by the linear predictor: its slope and minus its second derivative.
struct ResponseSlope {
  double first, curvature;
};

/// P(Y <= y) falls from 1 to 0 as the predictor rises: where minus its derivative is greatest, and
/// the deviation that belongs to the curvature of that derivative's logarithm there.
struct ResponseFall {
  double peak, deviation;
};

/// The variance of y where its mean is m: linear m + quadratic m^2 + constant, the last two times
/// the dispersion if y has one; NaN if it has none.
struct VarianceTerms {
  double linear, quadratic, constant = 0;
};

/// What a step computes with besides the linear predictors.
struct StepUnknowns {
  double log_dispersion = 0, degrees = 0;
  /// the number of levels, the cut at 0, and the logarithms of the gaps between cuts
  int levels = 0, anchor = 0;
  std::span<const double> log_gaps = {};
};

/// How y is distributed.
class BAYES_API ResponseFamily {
 public:
  /// `requirement`: the values of y in words
  constexpr ResponseFamily(const char *name, Link link, const char *requirement)
      : name(name),
        link(link),
        requirement(requirement) {}
  virtual ~ResponseFamily() = default;

  /// of option response
  const char *const name;
  const Link link;
  const char *const requirement;

  /// Does y have a dispersion, which is learned? The variance of a count with mean m is that of a
  /// Poisson variable plus m^2 times the dispersion; that of a gamma response is the second term
  /// alone. Of a response on the whole line the dispersion is the squared scale.
  virtual bool dispersed() const { return false; }
  /// y is one of several levels, which have names; it is the number of one, from 0.
  virtual bool labelled() const { return false; }
  /// The levels have an order.
  virtual bool ordered() const { return false; }
  /// They have none, and a linear predictor each but the first.
  bool classes() const { return labelled() && !ordered(); }
  /// the number of linear predictors, each with coefficients of its own, and of unknowns besides
  int predictors(int levels) const { return classes() ? levels - 1 : 1; }
  int extras(int levels) const {
    return ordered() ? levels - 2 : int(dispersed()) + int(learns_degrees());
  }
  /// The rows tell of coefficients in proportion to 1 / dispersion.
  virtual bool scales() const { return false; }
  /// y counts successes of several trials.
  virtual bool has_trials() const { return false; }
  /// y has degrees of freedom, which are given or learned: then their logarithm is an unknown
  /// before that of the dispersion.
  virtual bool has_degrees() const { return false; }
  virtual bool learns_degrees() const { return false; }
  /// y is one of 0 and 1.
  virtual bool binary() const { return false; }
  /// y is a whole number.
  virtual bool whole() const { return true; }
  virtual bool allows(double y) const = 0;

  /// The pass of Newton's method: log densities of blocks of rows and their derivatives.
  virtual std::unique_ptr<ResponseStep> step(const StepUnknowns &at) const = 0;
};

/// A distribution of y with mean trials * inverse link(predictor).
class BAYES_API NumberResponse : public ResponseFamily {
 public:
  using ResponseFamily::ResponseFamily;

  /// log p(y), of a y that is allowed and no larger than the trials
  virtual double log_density(double y, const ResponsePoint &at) const = 0;
  virtual ResponseSlope slope(double y, const ResponsePoint &at) const = 0;
  virtual VarianceTerms variance_terms(double trials, double degrees) const = 0;
  /// of y where its mean is m; NaN if it has none
  double variance(double m, const ResponsePoint &at) const {
    const VarianceTerms terms = variance_terms(at.trials, at.degrees);
    // Failures vary as successes do; those that are rarer lose no digits.
    if (link == Link::logit || link == Link::probit)
      m = at.trials * mean_at(link, -std::fabs(at.predictor));
    const double more = terms.quadratic * m * m + terms.constant;
    return terms.linear * m + (dispersed() ? std::exp(at.log_dispersion) : 1) * more;
  }
  /// P(Y <= y), of counts and amounts for y >= 0
  virtual double below(double y, const ResponsePoint &at) const = 0;
  /// The logarithm of minus its derivative by the predictor, y below the number of trials.
  virtual double log_fall(double y, const ResponsePoint &at) const;
  /// of log_fall(), given trials and dispersion
  virtual ResponseFall fall(double y, const ResponsePoint &at) const;
  /// A draw of y; a count is at most the largest one that is allowed.
  virtual double sample(const ResponsePoint &at, Random &random) const = 0;
};

/// All responses, and those that are numbers.
BAYES_API std::span<const ResponseFamily *const> all_responses();
BAYES_API std::span<const NumberResponse *const> number_responses();
/// The response of this name and, if it has several, this link; nullptr if there is none.
BAYES_API const ResponseFamily *find_response(std::string_view name, std::optional<Link> link = {});
/// Student t responses whose degrees of freedom are learned; not among all_responses().
BAYES_API const NumberResponse &student_of_learned_degrees();
/// The same among numbers.
BAYES_API const NumberResponse *find_number_response(std::string_view name,
                                                     std::optional<Link> link = {});
/// The bernoulli response with this link.
BAYES_API const NumberResponse &bernoulli(Link link);

/// The response of what travels (data/pass.hpp), by its name and link.
template <class F> void response_fields(F &f, const ResponseFamily *&response) {
  std::string name = F::reading ? "" : response->name;
  int link = F::reading ? 0 : int(response->link);
  f.text("response", name);
  bool learned = !F::reading && response->learns_degrees();
  f.integer("link", link, 0, int(Link::identity));
  f.flag("learned", learned);
  if constexpr (F::reading) {
    response = find_response(name, Link(link));
    f.require(response != nullptr && (!learned || response->has_degrees()));
    if (learned) response = &student_of_learned_degrees();
  }
}

}  // namespace bayes
