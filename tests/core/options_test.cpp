// Options: values read, and the texts of errors.
#include "document/option_table.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>

#include "base/error.hpp"

using bayes::Document;
using bayes::OptionReader;
using bayes::Tensor;

namespace {

/// The message, and the hint behind " | ", of the error that the function gives; "accepted" if
/// none.
std::string refusal(const std::function<void()> &function) {
  try {
    function();
  } catch (const bayes::Error &error) {
    BOOST_TEST((error.code() == bayes::Errc::invalid_argument));
    return error.what() + (error.hint().empty() ? std::string() : " | " + error.hint());
  }
  return "accepted";
}

Document with(const char *key, Document value) {
  return Document::object().set(key, std::move(value));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(absent_and_null_members_give_the_fallback) {
  for (const Document &options : {Document(), Document::object(), with("k", {})}) {
    OptionReader reader(options);
    BOOST_TEST(reader.number("k", 1.5) == 1.5);
    BOOST_TEST(reader.integer("k", 7, 1, 3) == 7);
    BOOST_TEST(reader.choice("k", "c", {"a"}) == "c");
    BOOST_TEST((reader.choices("k", "c", {"a"}) == std::vector<std::string>{"c"}));
    BOOST_TEST(!reader.tensor("k", {1}).has_value());
    BOOST_TEST(reader.raw("k") == nullptr);
    reader.finish();
  }
}

BOOST_AUTO_TEST_CASE(numbers_are_read_and_checked) {
  const auto read = [](Document value, double low, double high, bool low_open = false) {
    return OptionReader(with("tol", std::move(value))).number("tol", 0, low, high, low_open);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST(read(0.5, 0, 1) == 0.5);
  BOOST_TEST(read(1, 0, 1, true) == 1);
  const auto refused = [&](Document value, double low, double high, bool low_open = false) {
    return refusal([&] { read(std::move(value), low, high, low_open); });
  };
  BOOST_TEST(refused("x", -infinity, infinity) == R"(option "tol" is "x", but must be a number)");
  BOOST_TEST(refused(infinity, -infinity, infinity) ==
             R"(option "tol" is "Infinity", but must be a number)");
  BOOST_TEST(refused(std::nan(""), 0, 1) ==
             R"(option "tol" is "NaN", but must be a number from 0 to 1)");
  BOOST_TEST(refused(0.0, 0, infinity, true) ==
             R"(option "tol" is 0.0, but must be a number greater than 0)");
  BOOST_TEST(refused(0, 0, 0.5, true) ==
             R"(option "tol" is 0, but must be a number greater than 0 and at most 0.5)");
  BOOST_TEST(refused(-1, 0, infinity) ==
             R"(option "tol" is -1, but must be a number of at least 0)");
  BOOST_TEST(refused(2, -infinity, 1) == R"(option "tol" is 2, but must be a number of at most 1)");
  BOOST_TEST(refused(true, 0, 1) == R"(option "tol" is true, but must be a number from 0 to 1)");
  BOOST_TEST(refused(Document::List{}, 0, 1) ==
             R"(option "tol" is an empty array, but must be a number from 0 to 1)");
  BOOST_TEST(refused(Document::object(), 0, 1) ==
             R"(option "tol" is an object, but must be a number from 0 to 1)");
  BOOST_TEST(refused(Tensor{{2, 3}, std::vector<double>(6)}, 0, 1) ==
             R"(option "tol" is an array of 2 x 3 numbers, but must be a number from 0 to 1)");
}

BOOST_AUTO_TEST_CASE(whole_numbers_are_read_and_checked) {
  const auto read = [](Document value, std::int64_t low, std::int64_t high) {
    return OptionReader(with("restarts", std::move(value))).integer("restarts", 0, low, high);
  };
  const std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                     most = std::numeric_limits<std::int64_t>::max();
  BOOST_TEST(read(3, 1, 1000) == 3);
  BOOST_TEST(read(3.0, 1, 1000) == 3);
  BOOST_TEST(read(-0x1p63, least, most) == least);
  BOOST_TEST(read(Document(most), least, most) == most);
  const auto refused = [&](Document value, std::int64_t low, std::int64_t high) {
    return refusal([&] { read(std::move(value), low, high); });
  };
  BOOST_TEST(refused(-1, 1, 1000) ==
             R"(option "restarts" is -1, but must be a whole number from 1 to 1000)");
  BOOST_TEST(refused(1001, 1, 1000) ==
             R"(option "restarts" is 1001, but must be a whole number from 1 to 1000)");
  BOOST_TEST(refused(2.5, 1, 1000) ==
             R"(option "restarts" is 2.5, but must be a whole number from 1 to 1000)");
  BOOST_TEST(refused("3", 1, most) ==
             R"(option "restarts" is "3", but must be a whole number of at least 1)");
  BOOST_TEST(refused(0x1p63, least, most) ==
             R"(option "restarts" is 9223372036854775808.0, but must be a whole number)");
  BOOST_TEST(refused(std::nan(""), least, 5) ==
             R"(option "restarts" is "NaN", but must be a whole number of at most 5)");
}

BOOST_AUTO_TEST_CASE(long_values_are_cut_between_characters) {
  std::string word(56, 'x');
  for (int i = 0; i < 10; ++i) word += "\xc3\xa4";
  BOOST_TEST(refusal([&] { OptionReader(with("a", word)).number("a", 0); }) ==
             "option \"a\" is \"" + std::string(56, 'x') + "...\", but must be a number");
}

BOOST_AUTO_TEST_CASE(choice_of_one) {
  const auto read = [](Document value) {
    return OptionReader(with("covariance", std::move(value)), "prior.")
        .choice("covariance", "full", {"full", "diagonal", "tied"});
  };
  BOOST_TEST(read("tied") == "tied");
  BOOST_TEST(refusal([&] { read("diagnoal"); }) ==
             R"(option "prior.covariance" is "diagnoal", but must be one of )"
             R"(full, diagonal, tied | Did you mean "diagonal"?)");
  BOOST_TEST(refusal([&] { read("banana"); }) ==
             R"(option "prior.covariance" is "banana", but must be one of full, diagonal, tied)");
  BOOST_TEST(refusal([&] { read(1); }) ==
             R"(option "prior.covariance" is 1, but must be one of full, diagonal, tied)");
}

BOOST_AUTO_TEST_CASE(choice_of_several) {
  const auto read = [](Document value) {
    return OptionReader(with("c", std::move(value)))
        .choices("c", "full", {"full", "diagonal", "tied"});
  };
  BOOST_TEST((read("tied") == std::vector<std::string>{"tied"}));
  BOOST_TEST((read(Document::List{"tied", "full"}) == std::vector<std::string>{"tied", "full"}));
  BOOST_TEST(
      refusal([&] { read("ful"); }) ==
      R"(option "c" is "ful", but must be one of full, diagonal, tied | Did you mean "full"?)");
  BOOST_TEST(refusal([&] { read(1); }) ==
             R"(option "c" is 1, but must be one of full, diagonal, tied, or an array of them)");
  BOOST_TEST(refusal([&] {
               read(Document::List{"full", "teid"});
             }) == R"(option "c" contains "teid", but its elements must be among )"
                   R"(full, diagonal, tied | Did you mean "tied"?)");
  BOOST_TEST(refusal([&] { read(Document::List{2}); }) ==
             R"(option "c" contains 2, but its elements must be among full, diagonal, tied)");
  BOOST_TEST(refusal([&] {
               read(Document::List{"full", "full"});
             }) == R"(option "c" contains "full" twice)");
  for (const Document &empty : {Document(Document::List{}), Document(Tensor{{0}, {}})})
    BOOST_TEST(refusal([&] { read(empty); }) ==
               R"(option "c" is an empty array, but must be one of full, )"
               R"(diagonal, tied, or an array of them)");
}

BOOST_AUTO_TEST_CASE(tensors_are_read_and_checked) {
  const auto read = [](Document value, std::vector<std::int64_t> shape) {
    return *OptionReader(with("m", std::move(value))).tensor("m", shape);
  };
  const Tensor square{{2, 2}, {1, 2, 3, 4}};
  BOOST_TEST((read(square, {2, 2}) == square));
  BOOST_TEST((read(square, {-1, 2}) == square));
  BOOST_TEST((read(Document::List{Document::List{1, 2.0}, Tensor{{2}, {3, 4}}}, {2, 2}) == square));
  const auto refused = [&](Document value, std::vector<std::int64_t> shape) {
    return refusal([&] { read(std::move(value), shape); });
  };
  BOOST_TEST(refused(square, {4}) ==
             R"(option "m" is an array of 2 x 2 numbers, but must be an array of 4 numbers)");
  BOOST_TEST(refused(square, {1}) ==
             R"(option "m" is an array of 2 x 2 numbers, but must be an array of 1 number)");
  BOOST_TEST(refused(square, {-1, 3}) ==
             R"(option "m" is an array of 2 x 2 numbers, but must be an array of d x 3 numbers)");
  BOOST_TEST(refused(5, {2}) == R"(option "m" is 5, but must be an array of 2 numbers)");
  BOOST_TEST(refused(Document::List{1, "x"}, {2}) ==
             R"(option "m" is an array, but must be an array of 2 numbers)");
  BOOST_TEST(refused(Document::List{1, Document::List{2}}, {2}) ==
             R"(option "m" is an array, but must be an array of 2 numbers)");
  BOOST_TEST(refused(Document::List{Document::List{1}, 2}, {2}) ==
             R"(option "m" is an array, but must be an array of 2 numbers)");
  BOOST_TEST(refused(Document::List{}, {-1}) ==
             R"(option "m" is an empty array, but must be an array of numbers)");
  BOOST_TEST(refused(Tensor{{2}, {1, std::nan("")}}, {2}) ==
             R"(option "m" contains "NaN", but its numbers must be finite)");
}

BOOST_AUTO_TEST_CASE(unknown_keys_are_errors) {
  const auto finish = [](const char *key, const std::string &path = {}) {
    const Document options = with(key, 1);
    OptionReader reader(options, path);
    reader.integer("max_iter", 1, 1, 10);
    reader.number("tol", 1);
    reader.finish("method em", {"kappa", "batch_size"});
  };
  finish("tol");
  BOOST_TEST(refusal([&] { finish("max_itr"); }) ==
             R"(unknown option "max_itr" | Did you mean "max_iter"?)");
  BOOST_TEST(refusal([&] { finish("max_itr", "prior."); }) ==
             R"(unknown option "prior.max_itr" | Did you mean "prior.max_iter"?)");
  BOOST_TEST(refusal([&] { finish("banana"); }) ==
             R"(unknown option "banana" | The options are max_iter, tol.)");
  BOOST_TEST(refusal([&] { finish("kapa"); }) ==
             R"(unknown option "kapa" | Did you mean "kappa"?)");
  BOOST_TEST(refusal([&] { finish("kappa"); }) ==
             R"(option "kappa" does not apply to method em | The options are max_iter, tol.)");
  BOOST_TEST(refusal([] { OptionReader(with("\"q", 1)).finish(); }) ==
             R"(unknown option "\"q" | No options are valid here.)");
}

BOOST_AUTO_TEST_CASE(options_must_be_an_object) {
  BOOST_TEST(refusal([] { OptionReader(Document(3)); }) ==
             "the options are 3, but must be an object");
  BOOST_TEST(refusal([] { OptionReader(Document(3), "prior."); }) ==
             R"(option "prior" is 3, but must be an object)");
}

BOOST_AUTO_TEST_CASE(misspelt_keys_get_the_nearest_suggestion) {
  const std::vector<std::string_view> words = {"max_iter", "method", "seed", "a", "B"};
  BOOST_TEST(bayes::nearest("max_itr", words) == "max_iter");
  BOOST_TEST(bayes::nearest("maxiter", words) == "max_iter");
  BOOST_TEST(bayes::nearest("mehtod", words) == "method");
  BOOST_TEST(bayes::nearest("sed", words) == "seed");
  BOOST_TEST(bayes::nearest("Seed", words) == "seed");
  BOOST_TEST(bayes::nearest("needle", words) == "");
  BOOST_TEST(bayes::nearest("b", words) == "B");
  BOOST_TEST(bayes::nearest("x", words) == "");
  BOOST_TEST(bayes::nearest("", words) == "");
  BOOST_TEST(bayes::nearest(std::string(100000, 'x'), words) == "");
  BOOST_TEST(bayes::nearest("x", {}) == "");
}

/// A table with a line of every kind; what applies depends on the first.
struct Toy {
  std::string method = "em";
  bool skip = false;
  std::vector<std::string> shapes = {"round"};
  int steps = 10;
  std::uint64_t seed = 1;
  double limit = std::numeric_limits<double>::infinity(), floor = 0.5;
  std::optional<double> scale;
  std::optional<Tensor> centre, spread;
  Document extra;

  void lines(bayes::OptionTable &t) {
    const std::string_view known[] = {"round", "flat"};
    t.choice("method", method, {"em", "vi"});
    t.either("missing", skip, "error", "skip");
    t.choices("shape", shapes, known, true);
    t.integer("steps", steps, 1, 100);
    t.seed("seed", seed);
    t.number("limit", limit, bayes::above(0, 1e9));
    t.number("floor", floor, {0, 1}, method == "em");
    t.number("scale", scale, bayes::above(0, 1), method == "vi");
    t.tensor("centre", centre, {2});
    t.number_or_tensor("spread", spread);
    t.other(
        "extra", [this](const Document &given) { extra = given; }, [this] { return extra; });
  }
  Document written() {
    auto t = bayes::OptionTable::writing();
    lines(t);
    return t.document();
  }
};

BOOST_AUTO_TEST_CASE(a_table_reads_and_writes_what_applies) {
  const auto read = [](const Document &options) {
    Toy toy;
    auto t = bayes::OptionTable::reading(options);
    toy.lines(t);
    t.finish("method " + toy.method);
    return toy;
  };
  BOOST_TEST(read({}).written().to_json() ==
             R"({"method": "em", "missing": "error", "shape": "round", "steps": 10, "seed": 1, )"
             R"("floor": 0.5})");
  const Document all = Document::object()
                           .set("extra", true)
                           .set("spread", 2)
                           .set("centre", Tensor{{2}, {1, 2}})
                           .set("scale", 0.25)
                           .set("limit", 7)
                           .set("seed", 3)
                           .set("steps", 4)
                           .set("shape", Document::List{"flat", "round"})
                           .set("missing", "skip")
                           .set("method", "vi");
  const Document written = read(all).written();
  BOOST_TEST(written.to_json() ==
             R"({"method": "vi", "missing": "skip", "shape": ["flat", "round"], "steps": 4, )"
             R"("seed": 3, "limit": 7.0, "scale": 0.25, "centre": [1.0, 2.0], "spread": 2.0, )"
             R"("extra": true})");
  BOOST_TEST(read(written).written().to_json() == written.to_json());
  BOOST_TEST(
      refusal([&] { read(with("scale", 0.25)); }) ==
      R"(option "scale" does not apply to method em | The options are centre, extra, floor, )"
      R"(limit, method, missing, seed, shape, spread, steps.)");
  BOOST_TEST(refusal([&] { read(with("flor", 1)); }) ==
             R"(unknown option "flor" | Did you mean "floor"?)");
  BOOST_TEST(refusal([&] { read(with("floor", 2)); }) ==
             R"(option "floor" is 2, but must be a number from 0 to 1)");
}

BOOST_AUTO_TEST_SUITE_END()
