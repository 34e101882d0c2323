#include "base/gauss_legendre.hpp"

#include "base/boost_settings.hpp"
// after the settings
#include <boost/math/quadrature/gauss.hpp>

namespace bayes {
namespace {

// Boost's headers take the compiler two seconds, so no other file includes them.
template <unsigned n> GaussLegendre rule() {
  using Rule = boost::math::quadrature::gauss<double, n>;
  return {Rule::abscissa(), Rule::weights()};
}

}  // namespace

const GaussLegendre gauss_legendre_10 = rule<10>(), gauss_legendre_15 = rule<15>();

}  // namespace bayes
