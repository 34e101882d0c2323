// Documents: their text, their bytes, and what is refused.
#include "document/document.hpp"

#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "document/members.hpp"
#include "support.hpp"

using bayes::Document;
using bayes::Tensor;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string bytes_of(const Document &document) {
  std::string bytes;
  document.to_bytes(bytes);
  return bytes;
}

std::string word(std::uint64_t x) {
  std::string result(8, '\0');
  for (int i = 0; i < 8; ++i) result[std::size_t(i)] = static_cast<char>(x >> (8 * i));
  return result;
}

std::string head(int tag, std::uint64_t count) { return word(std::uint64_t(tag) | count << 8); }

/// The detail of the error that reading the bytes gives, "accepted" if none.
std::string refusal(const std::string &bytes) {
  try {
    Document::from_bytes(bytes);
  } catch (const bayes::Error &error) {
    BOOST_TEST((error.code() == bayes::Errc::invalid_binary));
    return error.detail();
  }
  return "accepted";
}

Document sample() {
  Document document;
  document.set("nothing", {}).set("yes", true).set("no", false);
  document.set("integer", std::numeric_limits<std::int64_t>::min()).set("number", -0.0);
  document.set("text", "na\xc3\xafve \xf0\x9f\x98\x80").set("", "");
  document.set("tensor",
               Tensor{{2, 1, 3},
                      {1, -2, 0.1, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}});
  document.set("empty", Tensor{{0}, {}});
  document.set("list", Document::List{1, 2.0, "three", Document::List{}, Document::object()});
  return document;
}

Document nested(int depth) {
  Document document = 1;
  for (int i = 0; i < depth; ++i)
    document =
        i % 2 == 0 ? Document(Document::List{document}) : Document::object().set("a", document);
  return document;
}

constexpr int null = 0, boolean = 1, integer = 2, number = 3, string = 4, tensor = 5, list = 6,
              object = 7;

}  // namespace

BOOST_AUTO_TEST_SUITE(document)

BOOST_AUTO_TEST_CASE(every_kind_is_written_as_json) {
  BOOST_TEST(
      sample().to_json() ==
      "{\"nothing\": null, \"yes\": true, \"no\": false, \"integer\": -9223372036854775808, "
      "\"number\": \"-0\", "
      "\"text\": \"na\xc3\xafve \xf0\x9f\x98\x80\", \"\": \"\", "
      "\"tensor\": [[[1.0, -2.0, 0.1]], [[\"Infinity\", \"-Infinity\", \"NaN\"]]], \"empty\": [], "
      "\"list\": [1, 2.0, \"three\", [], {}]}");
  BOOST_TEST(Document("\"\\\b\f\n\r\t\x01\x1f\x7f/").to_json() ==
             "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7f/\"");
}

BOOST_AUTO_TEST_CASE(doubles_survive_json_bit_for_bit) {
  BOOST_TEST(Document(3.0).to_json() == "3.0");
  BOOST_TEST(Document(0.0).to_json() == "0.0");
  BOOST_TEST(Document(0.1).to_json() == "0.1");
  BOOST_TEST(Document(100000.0).to_json() == "100000.0");
  BOOST_TEST(Document(-1e18).to_json() == "-1000000000000000000.0");
  BOOST_TEST(Document(0x1p63).to_json() == "9223372036854775808.0");
  BOOST_TEST(Document(1e300).to_json() == "1e+300");
  BOOST_TEST(Document(5e-324).to_json() == "5e-324");
  bayes::Random random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto x = std::bit_cast<double>(random.bits());
    if (!std::isfinite(x) || x == 0) continue;
    const std::string json = Document(x).to_json();
    if (std::strtod(json.c_str(), nullptr) != x) BOOST_ERROR(json << " has lost bits");
  }
}

BOOST_AUTO_TEST_CASE(size_of_json_in_a_file_of_copy) {
  const auto expected = [](const std::string &json) {
    return json.size() + std::size_t(std::count(json.begin(), json.end(), '\\'));
  };
  // Long ones are counted part by part.
  Document::List names(3000, Document("a \"name\"\\ \n\x01"));
  Tensor tensor{{2, 3000}, {}};
  for (int i = 0; i < 6000; ++i) tensor.values.push_back(i % 7 ? 1.0 / i : -infinity);
  for (const Document &document :
       {Document(), sample(), Document(std::move(names)), Document(std::move(tensor))})
    BOOST_TEST(document.copied_json_size() == expected(document.to_json()));
}

BOOST_AUTO_TEST_CASE(members_are_found_set_and_replaced_in_place) {
  Document document;
  BOOST_TEST(document.find("a") == nullptr);
  document.set("a", 1).set("b", 2).set("a", "new");
  BOOST_TEST(document.to_json() == "{\"a\": \"new\", \"b\": 2}");
  BOOST_TEST(*document.find("a")->as<std::string>() == "new");
  BOOST_TEST(document.find("c") == nullptr);
  BOOST_TEST(Document(1).find("a") == nullptr);
  Document one = 1;
  BOOST_CHECK_THROW(one.set("a", 1), bayes::Error);
}

BOOST_AUTO_TEST_CASE(kinds_have_names) {
  const Document::List all = {
      Document(), true, 1, 1.5, "", Tensor{{1}, {1}}, Document::List{}, Document::object()};
  std::string names;
  for (const Document &each : all) names += std::string(each.kind()) + ",";
  BOOST_TEST(names == "null,boolean,integer,number,string,array of numbers,array,object,");
}

BOOST_AUTO_TEST_CASE(bytes_round_trip) {
  for (const Document &each : {sample(), Document(), Document(true), Document(-1),
                               Document(infinity), Document(""), nested(32)}) {
    const std::string bytes = bytes_of(each);
    const Document back = Document::from_bytes(bytes);
    BOOST_TEST(back.to_json() == each.to_json());
    BOOST_TEST((bytes_of(back) == bytes));
  }
  std::string appended = "before";
  Document(1).to_bytes(appended);
  BOOST_TEST((appended == "before" + bytes_of(1)));
}

BOOST_AUTO_TEST_CASE(reading_and_writing_are_polled) {
  using support::polls_of;
  const std::int64_t n = 100000;
  const Document numbers = Tensor{{n}, std::vector<double>(n, 0.5)};
  Document::Object members;
  for (std::int64_t i = 0; i < 1000; ++i) members.emplace_back(std::to_string(i), i);
  const Document object = members;
  const Document text = std::string(4 << 20, 'x');
  BOOST_TEST(polls_of([&] { text.to_json(); }) > 3);
  for (const Document &each : {numbers, object}) {
    const std::string bytes = bytes_of(each);
    BOOST_TEST(polls_of([&] { bytes_of(each); }) > 20);
    BOOST_TEST(polls_of([&] { Document::from_bytes(bytes); }) > 20);
    BOOST_TEST(polls_of([&] { each.to_json(); }) > 20);
  }
}

BOOST_AUTO_TEST_CASE(nans_are_canonical) {
  const auto other = std::bit_cast<double>(0xfff8000000000001);
  BOOST_TEST((bytes_of(other) == head(number, 0) + word(0x7ff8000000000000)));
  BOOST_TEST((bytes_of(Tensor{{1}, {other}}) ==
              bytes_of(Tensor{{1}, {std::numeric_limits<double>::quiet_NaN()}})));
}

BOOST_AUTO_TEST_CASE(truncated_and_extended_bytes_are_refused) {
  const std::string bytes = bytes_of(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    if (refusal(bytes.substr(0, size)) == "accepted")
      BOOST_ERROR("accepted the first " << size << " bytes");
  BOOST_TEST(refusal(bytes + '\0') == "There are bytes after the end.");
}

BOOST_AUTO_TEST_CASE(what_to_bytes_cannot_write_is_refused) {
  BOOST_TEST(refusal(head(8, 0)) == "A value has an unknown tag.");
  BOOST_TEST(refusal(head(255, 0)) == "A value has an unknown tag.");
  const char *const size = "A value of fixed size claims another size.";
  BOOST_TEST(refusal(head(null, 1)) == size);
  BOOST_TEST(refusal(head(boolean, 2)) == size);
  BOOST_TEST(refusal(head(integer, 1) + word(5)) == size);
  BOOST_TEST(refusal(head(number, 1) + word(5)) == size);
  const char *const not_a_number = "A NaN is not in canonical form.";
  BOOST_TEST(refusal(head(number, 0) + word(0x7ff8000000000001)) == not_a_number);
  BOOST_TEST(refusal(head(tensor, 1) + word(1) + word(0xfff8000000000000)) == not_a_number);
  const char *const twice = "An object has the same key twice.";
  BOOST_TEST(refusal(head(object, 2) + word(1) + "a" + head(null, 0) + word(1) + "a" +
                     head(null, 0)) == twice);
  BOOST_TEST(refusal(head(object, 2) + word(1) + "a" + head(null, 0) + word(1) + "b" +
                     head(null, 0)) == "accepted");
}

BOOST_AUTO_TEST_CASE(strings_must_be_valid_utf_8) {
  for (const std::string &good : std::vector<std::string>{
           "", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xbf\xbf",
           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    BOOST_TEST(refusal(head(string, good.size()) + good) == "accepted");
  for (const std::string &bad :
       {std::string("\x80"), std::string("\xc1\xbf"), std::string("\xc3"), std::string("\xc3("),
        std::string("\xe0\x9f\xbf"), std::string("\xed\xa0\x80"), std::string("\xf0\x8f\xbf\xbf"),
        std::string("\xf4\x90\x80\x80"), std::string("\xf5\x80\x80\x80"), std::string("\xe2\x82"),
        std::string("a\0b", 3), std::string("\xff")}) {
    const char *const why = "A string is not valid UTF-8 or contains a zero byte.";
    BOOST_TEST(refusal(head(string, bad.size()) + bad) == why);
    BOOST_TEST(refusal(head(object, 1) + word(bad.size()) + bad + head(null, 0)) == why);
    BOOST_CHECK_THROW(bytes_of(bad), bayes::Error);
    BOOST_CHECK_THROW(bytes_of(Document::object().set(bad, 1)), bayes::Error);
  }
}

BOOST_AUTO_TEST_CASE(shapes_must_be_valid_and_match_the_values) {
  const char *const shape = "A tensor has an impossible shape or ends too early.";
  const std::string values = word(0) + word(0) + word(0) + word(0);
  BOOST_TEST(refusal(head(tensor, 2) + word(2) + word(2) + values) == "accepted");
  BOOST_TEST(refusal(head(tensor, 1) + word(0)) == "accepted");
  BOOST_TEST(refusal(head(tensor, 0)) == shape);
  BOOST_TEST(refusal(head(tensor, 0) + word(0)) == shape);
  BOOST_TEST(refusal(head(tensor, 2) + word(0) + word(1)) == shape);
  BOOST_TEST(refusal(head(tensor, 2) + word(std::uint64_t(1) << 40) + word(0)) == shape);
  BOOST_TEST(refusal(head(tensor, 1) + word(5) + values) == shape);
  BOOST_TEST(refusal(head(tensor, 1) + word(~std::uint64_t(0)) + values) == shape);
  BOOST_TEST(refusal(head(tensor, 2) + word(std::uint64_t(1) << 32) + word(std::uint64_t(1) << 32) +
                     values) == shape);
  BOOST_TEST(refusal(head(tensor, 3) + word(std::uint64_t(1) << 63) + word(2) + word(1) + values) ==
             shape);
  for (const Tensor &bad :
       {Tensor{{}, {1}}, Tensor{{2}, {1}}, Tensor{{0, 2}, {}}, Tensor{{-1, -1}, {1}}}) {
    BOOST_CHECK_THROW(bytes_of(bad), bayes::Error);
    BOOST_CHECK_THROW(Document(bad).to_json(), bayes::Error);
  }
}

BOOST_AUTO_TEST_CASE(nesting_is_limited) {
  BOOST_CHECK_THROW(bytes_of(nested(33)), bayes::Error);
  std::string deep;
  for (int i = 0; i < 32; ++i) deep += head(list, 1);
  const char *const why = "They are nested too deeply.";
  BOOST_TEST(refusal(deep + head(null, 0)) == "accepted");
  BOOST_TEST(refusal(deep + head(list, 0)) == why);
  BOOST_TEST(refusal(deep + head(object, 0)) == why);
  BOOST_TEST(refusal(deep + head(tensor, 1) + word(1) + word(0)) == why);
  BOOST_TEST(refusal(deep.substr(8) + head(tensor, 1) + word(1) + word(0)) == "accepted");
  BOOST_CHECK_THROW(bytes_of(Tensor{std::vector<std::int64_t>(33, 1), {1}}), bayes::Error);
  BOOST_TEST(refusal(head(tensor, 1000000) + std::string(100, '\0')) == why);
  for (int i = 0; i < 100000; ++i) deep += head(list, 1);
  BOOST_TEST(refusal(deep) == why);
}

BOOST_AUTO_TEST_CASE(numbers_that_json_lacks_are_read_from_their_names) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {-0.0, infinity, -infinity, std::nan("")}) {
    const std::string json = Document(x).to_json(), name = json.substr(1, json.size() - 2);
    const auto read = bayes::to_number(Document(name), true);
    BOOST_TEST_REQUIRE(read.has_value());
    BOOST_TEST(std::bit_cast<std::uint64_t>(*read) == std::bit_cast<std::uint64_t>(x));
    BOOST_TEST(!bayes::to_number(Document(name), false).has_value());
  }
}

BOOST_AUTO_TEST_CASE(claimed_sizes_allocate_nothing) {
  const std::uint64_t huge = (std::uint64_t(1) << 56) - 1;
  const char *const early = "They end too early.";
  for (const int tag : {string, list, object}) BOOST_TEST(refusal(head(tag, huge)) == early);
  BOOST_TEST(refusal(head(object, huge) + word(~std::uint64_t(0))) == early);
  std::string each_claims_all;
  for (int i = 0; i < 31; ++i) each_claims_all += head(list, huge);
  BOOST_TEST(refusal(each_claims_all) == early);
  // Many keys with long common beginnings: the search for repeated ones must not be quadratic.
  Document::Object many;
  for (int i = 0; i < 100000; ++i) many.emplace_back("key" + std::to_string(i), Document());
  BOOST_TEST(refusal(bytes_of(many)) == "accepted");
}

BOOST_AUTO_TEST_CASE(lists_are_joined_as_bytes) {
  const auto list = [](std::vector<int> numbers) {
    Document::List out;
    for (const int number : numbers) out.push_back(Document::object().set("n", number));
    return Document(std::move(out));
  };
  const auto joined_bytes = [](const std::string &first, const std::string &second) {
    const bayes::ListHead head = bayes::joined_list_head(first, second);
    return std::string(head.data(), head.size()) + first.substr(head.size()) +
           second.substr(head.size());
  };
  const auto joined = [&](const std::vector<int> &first, const std::vector<int> &second) {
    return Document::from_bytes(joined_bytes(bytes_of(list(first)), bytes_of(list(second))));
  };
  BOOST_TEST(joined({1, 2, 3}, {4, 5}).to_json() == list({1, 2, 3, 4, 5}).to_json());
  BOOST_TEST(joined({}, {4}).to_json() == list({4}).to_json());
  BOOST_TEST(joined({4}, {}).to_json() == list({4}).to_json());
  for (const Document &other : {Document(), Document(1), Document::object(), Document("text")}) {
    BOOST_CHECK_THROW(joined_bytes(bytes_of(list({1})), bytes_of(other)), bayes::Error);
    BOOST_CHECK_THROW(joined_bytes(bytes_of(other), bytes_of(list({1}))), bayes::Error);
  }
  BOOST_CHECK_THROW(joined_bytes("", bytes_of(list({1}))), bayes::Error);
}

BOOST_AUTO_TEST_SUITE_END()
