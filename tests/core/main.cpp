// The runner of the unit tests: one file per subject, one Boost.Test suite per file.
#define BOOST_TEST_MODULE pg_bayes
#include <boost/test/included/unit_test.hpp>
#include <cstdlib>
#include <iostream>

namespace {

/// A test case without any check, for instance because its loops are empty, makes the run fail.
class NothingChecked : public boost::unit_test::test_observer {
 public:
  void test_unit_start(boost::unit_test::test_unit const &) override { checked_ = false; }
  void assertion_result(boost::unit_test::assertion_result) override { checked_ = true; }
  void test_unit_finish(boost::unit_test::test_unit const &unit, unsigned long) override {
    if (unit.p_type != boost::unit_test::TUT_CASE || checked_) return;
    std::cerr << "error: test case " << unit.full_name() << " checked nothing" << std::endl;
    failed_ = true;
  }
  // Boost.Test has no way to make a finished case fail.
  void test_finish() override {
    if (!failed_) return;
    boost::unit_test::results_reporter::make_report();
    std::_Exit(1);
  }

 private:
  bool checked_ = false, failed_ = false;
} nothing_checked;

struct Registration {
  Registration() { boost::unit_test::framework::register_observer(nothing_checked); }
};
BOOST_TEST_GLOBAL_FIXTURE(Registration);

}  // namespace
