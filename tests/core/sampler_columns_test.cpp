// Samplers of mixtures of products of columns against the exact posterior of a few rows.
#include "sampler_exact.hpp"

using namespace samplers;

BOOST_AUTO_TEST_SUITE(sampler_columns)

BOOST_AUTO_TEST_CASE(full_conditionals_are_ratios_of_joints) {
  const auto prior = products::some_prior(products::mixed);
  check_conditionals(prior, products::some_rows(prior, 5, 4, true));
}

BOOST_AUTO_TEST_CASE(product_columns) {
  const auto check = [](std::vector<ColumnSpec> specs, int n, bool holes, const std::string &name) {
    const auto prior = products::some_prior(std::move(specs));
    check_samplers(prior, products::some_rows(prior, n, 31, holes), name);
  };
  check({{ColumnSpec::bernoulli}, {ColumnSpec::bernoulli}, {ColumnSpec::bernoulli}}, 6, false,
        "bernoulli");
  check({{ColumnSpec::poisson}, {ColumnSpec::poisson}}, 6, false, "poisson");
  check({{ColumnSpec::exponential}, {ColumnSpec::exponential}}, 6, false, "exponential");
  check({{ColumnSpec::categorical, 3}, {ColumnSpec::categorical, 4}}, 5, false, "categorical");
  check({{ColumnSpec::normal}, {ColumnSpec::normal}}, 5, false, "univariate normal");
  check({{ColumnSpec::poisson},
         {ColumnSpec::bernoulli},
         {ColumnSpec::normal},
         {ColumnSpec::categorical, 3}},
        7, true, "mixed with holes");
}

BOOST_AUTO_TEST_CASE(without_moves_of_whole_clusters) {
  const auto columns = products::some_prior({{ColumnSpec::poisson},
                                             {ColumnSpec::bernoulli},
                                             {ColumnSpec::normal},
                                             {ColumnSpec::categorical, 3}});
  check_without_moves(columns, products::some_rows(columns, 6, 31, true), "columns");
}

BOOST_AUTO_TEST_SUITE_END()
