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
  for (const ColumnSpec &spec : products::every_family())
    check({spec, spec}, spec.categories ? 5 : 6, false, spec.name());
  check(products::every_family(), 7, true, "all families, with holes");
}

BOOST_AUTO_TEST_CASE(without_moves_of_whole_clusters) {
  const auto columns = products::some_prior(products::every_family());
  check_without_moves(columns, products::some_rows(columns, 6, 31, true), "columns");
}

BOOST_AUTO_TEST_SUITE_END()
