// Standard distributions in SQL: densities, probabilities, quantiles, and seeded draws.
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "distributions/standard.hpp"
#include "distributions/vector_draws.hpp"
#include "pg/values/results.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

double number_argument(FunctionCallInfo fcinfo, int at) {
  return guarded([fcinfo, at] { return PG_GETARG_FLOAT8(at); });
}
template <class T> T argument_as(FunctionCallInfo fcinfo, int at) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return guarded([fcinfo, at] { return std::int64_t(PG_GETARG_INT64(at)); });
  else
    return number_argument(fcinfo, at);
}

/// The distribution whose `count` parameters are the arguments from `first` on.
template <class D> D distribution_at(FunctionCallInfo fcinfo, int first, int count) {
  const auto given = [&](int i) { return number_argument(fcinfo, first + i); };
  if constexpr (std::is_same_v<D, BinomialDistribution>) {
    return D(argument_as<std::int64_t>(fcinfo, first), given(1));
  } else {
    if constexpr (std::is_constructible_v<D, double, double, double>)
      if (count == 3) return D(given(0), given(1), given(2));
    if constexpr (std::is_constructible_v<D, double, double>)
      if (count == 2) return D(given(0), given(1));
    if constexpr (std::is_constructible_v<D, double>)
      if (count == 1) return D(given(0));
    if constexpr (std::is_default_constructible_v<D>)
      if (count == 0) return D();
    throw Error(Errc::internal, "distribution called with a wrong number of parameters");
  }
}

template <class D> D distribution_of(FunctionCallInfo fcinfo) {
  return distribution_at<D>(fcinfo, 1, PG_NARGS() - 1);
}
template <class D> auto value_of(FunctionCallInfo fcinfo) {
  return argument_as<typename D::Value>(fcinfo, 0);
}

Datum datum_of(double x) { return Float8GetDatum(x); }
Datum datum_of(std::int64_t x) { return Int64GetDatum(x); }
template <class T> Datum new_datum(T x) {
  return guarded([x] { return datum_of(x); });
}

/// The log density, or with `exponential` the density; infinite only where the density is.
template <class D> Datum log_density(FunctionCallInfo fcinfo, bool exponential) {
  const double log_density = distribution_of<D>(fcinfo).log_density(value_of<D>(fcinfo));
  return new_datum(exponential ? std::exp(log_density) : log_density);
}

template <class D> Datum below(FunctionCallInfo fcinfo) {
  return new_datum(distribution_of<D>(fcinfo).below(value_of<D>(fcinfo)));
}

template <class D> Datum quantile(FunctionCallInfo fcinfo) {
  const D distribution = distribution_of<D>(fcinfo);
  const double p = number_argument(fcinfo, 0);
  if constexpr (std::is_same_v<typename D::Value, double>)
    if (std::isnan(p)) return new_datum(p);
  return new_datum(distribution.quantile(p));
}

constexpr int max_draws = 10'000'000;

/// For functions (n int, ..., seed bigint) that draw: the number of draws, and the source of random
/// numbers.
struct Drawing {
  Drawing(FunctionCallInfo fcinfo, std::string_view name)
      : n(PG_GETARG_INT32(0)),
        random(std::uint64_t(argument_as<std::int64_t>(fcinfo, PG_NARGS() - 1)), number_of(name)) {
    if (n < 0) throw Error(Errc::invalid_argument, message("n is {}, but must be at least 0", n));
    if (n > max_draws)
      throw Error(Errc::too_large, message("n is {}, but may be {} at most", n, max_draws));
  }
  /// A hash of the name (FNV-1a) that selects the random stream: with the same seed, two
  /// distributions have different random numbers.
  static std::uint64_t number_of(std::string_view name) {
    std::uint64_t number = 0xcbf29ce484222325;
    for (const char c : name) number = (number ^ std::uint64_t(c)) * 0x100000001b3;
    return number;
  }
  int n;
  Random random;
};

template <class F> Datum rows_of(FunctionCallInfo fcinfo, Drawing &drawing, F one) {
  ResultRows rows(fcinfo);
  for (int i = 0; i < drawing.n; ++i) {
    poll_interrupts();
    rows.row({one(drawing.random)});
  }
  return Datum(0);
}

template <class D> Datum draws(FunctionCallInfo fcinfo, const char *name) {
  Drawing drawing(fcinfo, name);
  const D distribution = distribution_at<D>(fcinfo, 1, PG_NARGS() - 2);
  return rows_of(fcinfo, drawing, [&](Random &random) { return Cell(distribution.draw(random)); });
}

/// The elements of a float8[] in row-major order. Throws Error unless it has `dimensions`
/// dimensions, is square if there are two, and has no NULL.
std::vector<double> numbers_of_array(FunctionCallInfo fcinfo, int at, const char *name,
                                     int dimensions) {
  const ArrayType *const array = guarded([fcinfo, at] { return PG_GETARG_ARRAYTYPE_P(at); });
  if (ARR_NDIM(array) != dimensions ||
      (dimensions == 2 && ARR_DIMS(array)[0] != ARR_DIMS(array)[1]))
    throw Error(Errc::array_shape,
                message(dimensions == 1 ? MessageFormat<1>("{} is not an array of one dimension")
                                        : MessageFormat<1>("{} is not a square matrix"),
                        name));
  if (guarded([array] { return array_contains_nulls(const_cast<ArrayType *>(array)); }))
    throw Error(Errc::null_value, message("an element of {} is NULL", name));
  const auto *const values = reinterpret_cast<const double *>(ARR_DATA_PTR(array));
  return {values, values + ArrayGetNItems(dimensions, ARR_DIMS(array))};
}

}  // namespace

#define BAYES_DISTRIBUTION(name, D)                                        \
  BAYES_FUNCTION(name##_pdf) { return log_density<D>(fcinfo, true); }      \
  BAYES_FUNCTION(name##_log_pdf) { return log_density<D>(fcinfo, false); } \
  BAYES_FUNCTION(name##_cdf) { return below<D>(fcinfo); }                  \
  BAYES_FUNCTION(name##_quantile) { return quantile<D>(fcinfo); }          \
  BAYES_FUNCTION(name##_draws) { return draws<D>(fcinfo, #name); }

BAYES_DISTRIBUTION(normal, NormalDistribution)
BAYES_DISTRIBUTION(student, StudentDistribution)
BAYES_DISTRIBUTION(beta, BetaDistribution)
BAYES_DISTRIBUTION(gamma, GammaDistribution)
BAYES_DISTRIBUTION(inverse_gamma, InverseGammaDistribution)
BAYES_DISTRIBUTION(binomial, BinomialDistribution)
BAYES_DISTRIBUTION(poisson, PoissonDistribution)

/// (n int, low float8, high float8, seed bigint)
BAYES_FUNCTION(uniform_draws) { return draws<UniformDistribution>(fcinfo, "uniform"); }

/// (n int, weights float8[], seed bigint) -> setof int, from 1
BAYES_FUNCTION(categorical_draws) {
  Drawing drawing(fcinfo, "categorical");
  const CategoricalDistribution distribution(numbers_of_array(fcinfo, 1, "weights", 1));
  return rows_of(fcinfo, drawing,
                 [&](Random &random) { return Cell(distribution.draw(random) + 1); });
}

/// (n int, alpha float8[], seed bigint) -> setof float8[]
BAYES_FUNCTION(dirichlet_draws) {
  Drawing drawing(fcinfo, "dirichlet");
  const DirichletDistribution distribution(numbers_of_array(fcinfo, 1, "alpha", 1));
  std::vector<double> out(distribution.size());
  return rows_of(fcinfo, drawing, [&](Random &random) {
    distribution.draw(random, out);
    return Cell::vector(out);
  });
}

/// (n int, mean float8[], covariance float8[], seed bigint) -> setof float8[]
BAYES_FUNCTION(multivariate_normal_draws) {
  Drawing drawing(fcinfo, "multivariate normal");
  const MultivariateNormalDistribution distribution(numbers_of_array(fcinfo, 1, "mean", 1),
                                                    numbers_of_array(fcinfo, 2, "covariance", 2));
  std::vector<double> out(distribution.size());
  return rows_of(fcinfo, drawing, [&](Random &random) {
    distribution.draw(random, out);
    return Cell::vector(out);
  });
}

/// (n int, a float8, b float8[], seed bigint) -> setof float8[], d x d
BAYES_FUNCTION(wishart_draws) {
  Drawing drawing(fcinfo, "wishart");
  const WishartDistribution distribution(number_argument(fcinfo, 1),
                                         numbers_of_array(fcinfo, 2, "b", 2));
  std::vector<double> out(distribution.size() * distribution.size());
  return rows_of(fcinfo, drawing, [&](Random &random) {
    distribution.draw(random, out);
    return Cell::matrix(out, distribution.size());
  });
}
