#include "base/root.hpp"

#include "base/boost_settings.hpp"
// after the settings
#include <boost/math/policies/policy.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"

namespace bayes {

void boost_assertion_failed(const char *condition) {
  throw Error(Errc::internal, message("Boost assertion failed: {}", condition));
}

double root_between(const std::function<double(double)> &f, double low, double high, double at_low,
                    double at_high, int bits) {
  const auto polled = [&](double x) {
    poll_here();
    const double y = f(x);
    if (std::isnan(y))
      throw Error(Errc::numeric, message("root search failed: the function is NaN at {}", x));
    return y;
  };
  std::uintmax_t most = 200;
  try {
    const auto [from, to] = boost::math::tools::toms748_solve(
        polled, low, high, at_low, at_high, boost::math::tools::eps_tolerance<double>(bits), most);
    return from + (to - from) / 2;
  } catch (const std::runtime_error &) {  // boost::math::evaluation_error
    throw Error(Errc::numeric, message("no root found between {} and {}", low, high));
  } catch (const std::domain_error &) {
    throw Error(Errc::numeric, message("no root found between {} and {}", low, high));
  }
}

namespace {

// Boost's headers take the compiler two seconds, so no other file includes them.
template <unsigned n> GaussLegendre rule() {
  using Rule = boost::math::quadrature::gauss<double, n>;
  return {Rule::abscissa(), Rule::weights()};
}

}  // namespace

const GaussLegendre gauss_legendre_10 = rule<10>(), gauss_legendre_15 = rule<15>();

}  // namespace bayes
