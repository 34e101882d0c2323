// Samplers of mixtures of normals against the exact posterior of a few rows.
#include "sampler_exact.hpp"

using namespace samplers;

BOOST_AUTO_TEST_SUITE(sampler_normal)

BOOST_AUTO_TEST_CASE(full_conditionals_are_ratios_of_joints) {
  check_conditionals(normal_prior(full_covariance, 2), doubtful_rows(5, 2, 1));
  check_conditionals(normal_prior(diagonal_covariance, 2), doubtful_rows(5, 2, 2));
  check_conditionals(normal_prior(spherical_covariance, 3), doubtful_rows(5, 3, 3));
}

BOOST_AUTO_TEST_CASE(normal_full) {
  check_samplers(normal_prior(full_covariance, 2), doubtful_rows(6, 2, 21), "full");
}
BOOST_AUTO_TEST_CASE(normal_diagonal) {
  check_samplers(normal_prior(diagonal_covariance, 2), doubtful_rows(6, 2, 22), "diagonal");
}
BOOST_AUTO_TEST_CASE(normal_spherical) {
  check_samplers(normal_prior(spherical_covariance, 3), doubtful_rows(6, 3, 23), "spherical");
}
BOOST_AUTO_TEST_CASE(normal_tied) {
  check_samplers(normal_prior(tied_covariance, 2), doubtful_rows(6, 2, 24), "tied");
}

BOOST_AUTO_TEST_CASE(without_moves_of_whole_clusters) {
  check_without_moves(normal_prior(full_covariance, 2), doubtful_rows(6, 2, 21), "full");
}

BOOST_AUTO_TEST_SUITE_END()
