// The unit tests of the kernel library: one file per subject, one Boost.Test suite per file, this
// file the runner.
#define BOOST_TEST_MODULE pg_bayes
#include <boost/test/included/unit_test.hpp>
