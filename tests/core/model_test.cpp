// Common to all models: document, bytes, and errors. The model family here has one member of its
// own.
#include "document/model.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.hpp"
#include "document/members.hpp"

using bayes::Document;
using bayes::Errc;
using bayes::Model;
using bayes::Tensor;

namespace {

constexpr bayes::Method bare_methods[] = {bayes::Method::em};

class Sample final : public Model {
 public:
  double own = 0.25;

 protected:
  void write(Document &document) const override {
    document.set("own", Document::object().set("number", own));
  }
};

std::unique_ptr<Model> read_sample(const Document &document) {
  auto model = std::make_unique<Sample>();
  model->info = bayes::read_model_info(document, bare_methods, 1600, 10000);
  model->own = bayes::MemberReader(document).object("own").number("number", 0, 1);
  if (model->own == 0.125)
    throw bayes::Error(Errc::numeric, "the family refuses", "detail", "hint");
  if (model->own == 0.0625) throw bayes::Error(Errc::internal, "a bug");
  return model;
}

bayes::ModelReader find_sample(std::string_view family) {
  return family == "sample" ? read_sample : nullptr;
}

Sample sample() {
  Sample model;
  model.info.family = "sample";
  model.info.method = bayes::Method::em;
  model.info.rows = 10;
  model.info.skipped = 1;
  model.info.dimension = 2;
  model.info.components = 3;
  model.info.iterations = 4;
  model.info.converged = true;
  model.info.objective = -12.5;
  model.info.log_likelihood = std::numeric_limits<double>::quiet_NaN();
  model.info.seed = -7;
  model.info.seconds = 0.5;
  model.info.options =
      Document::object().set("k", 3).set("prior", Document::object().set("alpha", 0.1));
  model.trace = {{-14, -13.5, std::numeric_limits<double>::quiet_NaN()}, {}, {-12.5}};
  return model;
}

/// The sample with draws: two chains of three draws of two quantities, one not a number.
Sample sampled() {
  Sample model = sample();
  model.draws = {
      {"clusters", "log_joint"},
      2,
      3,
      {1, -2.5, 2, -3, 3, -0.0, 1, std::numeric_limits<double>::quiet_NaN(), 2, -1e300, 3, 4}};
  return model;
}

/// The error's message, and the hint behind " | "; "accepted" if none.
std::string refusal(Errc code, const std::function<void()> &function) {
  try {
    function();
  } catch (const bayes::Error &error) {
    BOOST_TEST((error.code() == code));
    return error.what() + (error.detail().empty() ? std::string() : " / " + error.detail()) +
           (error.hint().empty() ? std::string() : " | " + error.hint());
  }
  return "accepted";
}

std::string refused(const Document &document) {
  return refusal(Errc::invalid_text, [&] { Model::from_document(document, find_sample); });
}

std::string refused_bytes(const std::string &bytes) {
  return refusal(Errc::invalid_binary, [&] { Model::from_bytes(bytes, find_sample); });
}

Document without(const Document &document, const std::string &key) {
  Document::Object rest;
  for (const auto &member : *document.as<Document::Object>())
    if (member.first != key) rest.push_back(member);
  return rest;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model)

BOOST_AUTO_TEST_CASE(documents_have_all_members) {
  BOOST_TEST(sample().to_document().to_json() ==
             "{\"pg_bayes\": {\"format\": 1, \"version\": \"" +
                 std::string(bayes::library_version) +
                 "\"}, \"family\": \"sample\", \"method\": \"em\", \"rows\": 10, \"skipped\": 1, "
                 "\"dimension\": 2, \"components\": 3, "
                 "\"iterations\": 4, \"converged\": true, \"objective\": -12.5, "
                 "\"log_likelihood\": \"NaN\", \"seed\": -7, \"seconds\": 0.5, "
                 "\"options\": {\"k\": 3, \"prior\": {\"alpha\": 0.1}}, \"trace\": [[-14.0, -13.5, "
                 "\"NaN\"], [], [-12.5]], "
                 "\"own\": {\"number\": 0.25}}");
  Sample plain = sample();
  plain.info.options = {};
  BOOST_TEST(plain.to_document().find("options")->to_json() == "{}");
}

BOOST_AUTO_TEST_CASE(documents_and_bytes_round_trip) {
  const Sample model = sample();
  const std::string json = model.to_document().to_json(), bytes = model.to_bytes();
  const auto back = Model::from_document(model.to_document(), find_sample);
  BOOST_TEST(back->to_document().to_json() == json);
  BOOST_TEST((back->to_bytes() == bytes));
  const auto again = Model::from_bytes(bytes, find_sample);
  BOOST_TEST(again->to_document().to_json() == json);
  BOOST_TEST((again->to_bytes() == bytes));
  BOOST_TEST(again->info.seed == -7);
  BOOST_TEST(again->info.version == bayes::library_version);
  BOOST_TEST(again->trace.size() == 3);
}

BOOST_AUTO_TEST_CASE(documents_read_from_json_give_the_same_model) {
  const Sample model = sample();
  Document document = model.to_document();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  document.set("log_likelihood", "NaN").set("rows", 10.0);
  document.set("trace", Document::List{Document::List{-14, -13.5, "NaN"}, Document::List{},
                                       Document::List{-12.5}});
  BOOST_TEST((Model::from_document(document, find_sample)->to_bytes() == model.to_bytes()));
  document.set("trace", Tensor{{2, 3}, {1, 2, 3, 4, 5, nan}});
  const auto equal_runs = Model::from_document(document, find_sample);
  BOOST_TEST(equal_runs->trace.size() == 2);
  BOOST_TEST((equal_runs->trace[0] == std::vector<double>{1, 2, 3}));
  document.set("trace", Tensor{{2, 0}, {}});
  BOOST_TEST(
      (Model::from_document(document, find_sample)->trace == std::vector<std::vector<double>>(2)));
  document.set("trace", Tensor{{0}, {}});
  BOOST_TEST(Model::from_document(document, find_sample)->trace.empty());
}

BOOST_AUTO_TEST_CASE(every_member_is_required) {
  const Document document = sample().to_document();
  for (const auto &member : *document.as<Document::Object>())
    BOOST_TEST(refused(without(document, member.first)) ==
               "invalid bayes_model: member \"" + member.first + "\" is missing");
}

BOOST_AUTO_TEST_CASE(impossible_members_are_named) {
  const Document document = sample().to_document();
  const auto with = [&](const char *key, Document value) {
    Document changed = document;
    return refused(changed.set(key, std::move(value)));
  };
  const std::string start = "invalid bayes_model: member ";
  const double infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST(with("family", 1) ==
             start + R"("family" is 1, but must be a string that is not empty)");
  BOOST_TEST(with("family", "sampel") == R"(invalid bayes_model: unknown family "sampel")");
  BOOST_TEST(with("method", "") ==
             start + R"("method" is "", but must be a string that is not empty)");
  BOOST_TEST(with("rows", 0) ==
             start + R"("rows" is 0, but must be a whole number from 1 to 9223372036854775807)");
  BOOST_TEST(with("skipped", -1) ==
             start +
                 R"("skipped" is -1, but must be a whole number from 0 to 9223372036854775807)");
  BOOST_TEST(with("dimension", 1601) ==
             start + R"("dimension" is 1601, but must be a whole number from 1 to 1600)");
  BOOST_TEST(with("dimension", 1.5) ==
             start + R"("dimension" is 1.5, but must be a whole number from 1 to 1600)");
  BOOST_TEST(with("components", 0) ==
             start + R"("components" is 0, but must be a whole number from 1 to 10000)");
  BOOST_TEST(with("iterations", "4") ==
             start + R"("iterations" is "4", but must be a whole number from 0 to 2147483647)");
  BOOST_TEST(with("converged", 1) == start + R"("converged" is 1, but must be true or false)");
  BOOST_TEST(with("objective", infinity) ==
             start + R"("objective" is "Infinity", but must be a finite number or NaN)");
  BOOST_TEST(with("log_likelihood", "Infinity") ==
             start + R"("log_likelihood" is "Infinity", but must be a finite number or NaN)");
  BOOST_TEST(with("log_likelihood", "nan") ==
             start + R"("log_likelihood" is "nan", but must be a finite number or NaN)");
  BOOST_TEST(with("seed", 0.5).find("\"seed\" is 0.5, but must be a whole number") !=
             std::string::npos);
  BOOST_TEST(with("seconds", -1.0) ==
             start + R"("seconds" is -1.0, but must be a finite number of at least 0.0)");
  BOOST_TEST(with("seconds", infinity) ==
             start + R"("seconds" is "Infinity", but must be a finite number of at least 0.0)");
  BOOST_TEST(with("options", {}) == start + R"("options" is null, but must be an object)");
  BOOST_TEST(with("options", Document::object().set("k", Tensor{{2, 0}, {}})) ==
             start + R"("options" cannot be stored: a tensor has a number of values )"
                     R"(that does not match its shape)");
  BOOST_TEST(with("pg_bayes", 1) == start + R"("pg_bayes" is 1, but must be an object)");
  BOOST_TEST(with("pg_bayes", Document::object()) == start + R"("pg_bayes.format" is missing)");
  BOOST_TEST(with("pg_bayes", Document::object().set("format", 1).set("version", "")) ==
             start + R"("pg_bayes.version" is "", but must be a string that is not empty)");
  BOOST_TEST(
      with("own", Document::object().set("number", 2)) ==
      start + R"("own.number" is 2, but must be a finite number of at least 0.0 and at most 1.0)");
  const std::string trace = start + R"("trace" is not an array of arrays of finite numbers or NaN)";
  for (const Document &bad : {Document(1), Document(Document::List{1}), Document(Tensor{{1}, {1}}),
                              Document(Tensor{{1, 1}, {infinity}}), Document(Document::List{"x"}),
                              Document(Document::List{Tensor{{1, 1}, {1}}}),
                              Document(Document::List{Tensor{{1}, {-infinity}}}),
                              Document(Document::List(10001, Tensor{{1}, {1}}))})
    BOOST_TEST(with("trace", bad) == trace);
  BOOST_TEST(refused(Document(5)) ==
             "invalid bayes_model: the document is 5, but must be an object");
}

BOOST_AUTO_TEST_CASE(unknown_members_are_refused_at_any_depth) {
  Document document = sample().to_document();
  BOOST_TEST(refused(Document(document).set("extra", 1)) ==
             R"(invalid bayes_model: unknown member "extra")");
  const Document deep = Document::object().set("number", 0.5).set("extra", 1);
  BOOST_TEST(refused(Document(document).set("own", deep)) ==
             R"(invalid bayes_model: unknown member "own.extra")");
}

BOOST_AUTO_TEST_CASE(degenerate_components_are_a_member_if_there_are_any) {
  Sample model = sample();
  BOOST_TEST(!model.to_document().find("degenerate"));
  model.info.components = 4;
  model.info.degenerate = {0, 3};
  Document document = model.to_document();
  BOOST_TEST(document.find("degenerate")->to_json() == "[1.0, 4.0]");
  BOOST_TEST((Model::from_document(document, find_sample)->info.degenerate == std::vector{0, 3}));
  BOOST_TEST((Model::from_bytes(model.to_bytes(), find_sample)->to_bytes() == model.to_bytes()));
  for (const std::vector<double> &bad : {std::vector<double>{0}, {5}, {1.5}, {2, 1}, {2, 2}, {}})
    BOOST_TEST(refused(document.set("degenerate", Tensor{{std::int64_t(bad.size())}, bad}))
                   .find("invalid bayes_model: member \"degenerate\" must") == 0);
}

BOOST_AUTO_TEST_CASE(draws_are_a_member_if_there_are_any) {
  const Sample model = sampled();
  const Document document = model.to_document();
  BOOST_TEST(document.find("draws")->to_json() ==
             "{\"quantities\": [\"clusters\", \"log_joint\"], \"chains\": 2, \"draws\": 3, "
             "\"values\": [[[1.0, -2.5], [2.0, -3.0], [3.0, \"-0\"]], [[1.0, \"NaN\"], [2.0, "
             "-1e+300], [3.0, 4.0]]]}");
  for (const auto &back : {Model::from_document(document, find_sample),
                           Model::from_bytes(model.to_bytes(), find_sample)}) {
    BOOST_TEST((back->to_bytes() == model.to_bytes()));
    BOOST_TEST((back->draws.quantities == model.draws.quantities));
    BOOST_TEST(back->draws.chains == 2);
    BOOST_TEST(back->draws.draws == 3);
    BOOST_TEST(back->draws.values.size() == 12);
    BOOST_TEST(back->draws.values[9] == -1e300);
  }
  // As text makes it: numbers that JSON lacks are strings in lists of lists.
  Sample one = sample();
  one.draws = {{"clusters"}, 1, 2, {std::numeric_limits<double>::quiet_NaN(), 2}};
  Document from_text = one.to_document();
  const Document::List values = {
      Document(Document::List{Document(Document::List{"NaN"}), Document(Document::List{2})})};
  from_text.set("draws", Document::object()
                             .set("values", values)
                             .set("draws", 2.0)
                             .set("chains", 1)
                             .set("quantities", Document::List{"clusters"}));
  BOOST_TEST((Model::from_document(from_text, find_sample)->to_bytes() == one.to_bytes()));
  // Models that were stored before there were draws.
  BOOST_TEST(sample().to_document().find("draws") == nullptr);
  BOOST_TEST(Model::from_document(sample().to_document(), find_sample)->draws.quantities.empty());
}

BOOST_AUTO_TEST_CASE(impossible_draws_are_named) {
  const Document document = sampled().to_document();
  const auto with = [&](const char *key, Document value) {
    Document changed = document, draws = *document.find("draws");
    return refused(changed.set("draws", draws.set(key, std::move(value))));
  };
  const std::string start = "invalid bayes_model: member \"draws.";
  for (const char *key : {"quantities", "chains", "draws", "values"})
    BOOST_TEST(refused(Document(document).set("draws", without(*document.find("draws"), key))) ==
               start + key + "\" is missing");
  BOOST_TEST(refused(Document(document).set("draws", {})) ==
             R"(invalid bayes_model: member "draws" is null, but must be an object)");
  BOOST_TEST(
      refused(Document(document).set("draws", Tensor{{1}, {1}})) ==
      R"(invalid bayes_model: member "draws" is an array of 1 number, but must be an object)");
  BOOST_TEST(with("extra", 1) == R"(invalid bayes_model: unknown member "draws.extra")");

  const std::string names = start + "quantities\" is not an array of 1 to 64 names";
  for (const Document &bad :
       {Document(1), Document("clusters"), Document(), Document(Document::List{}),
        Document(Tensor{{2}, {1, 2}}), Document(Document::List(65, "a"))})
    BOOST_TEST(with("quantities", bad) == names);
  const std::string name =
      ", but names must be strings of at most 63 bytes that begin with a letter from a to z";
  BOOST_TEST(with("quantities", Document::List{"a", 1}) ==
             start + "quantities\" contains 1" + name);
  BOOST_TEST(with("quantities", Document::List{"", "a"}) ==
             start + "quantities\" contains \"\"" + name);
  BOOST_TEST(with("quantities", Document::List{"NaN", "a"}) ==
             start + "quantities\" contains \"NaN\"" + name);
  BOOST_TEST(with("quantities", Document::List{"a", std::string(64, 'b')}).find(name) !=
             std::string::npos);
  BOOST_TEST(with("quantities", Document::List{"a", "a"}) ==
             start + "quantities\" contains \"a\" twice");
  BOOST_TEST(
      with("quantities", Document::List{"a"}) ==
      start +
          "values\" is an array of 2 x 3 x 2 numbers, but must be an array of 2 x 3 x 1 numbers");

  BOOST_TEST(with("chains", 0) ==
             start + "chains\" is 0, but must be a whole number from 1 to 10000");
  BOOST_TEST(with("chains", 10001) ==
             start + "chains\" is 10001, but must be a whole number from 1 to 10000");
  BOOST_TEST(with("draws", 0) ==
             start + "draws\" is 0, but must be a whole number from 1 to 10000000");
  BOOST_TEST(
      with("draws", 4) ==
      start +
          "values\" is an array of 2 x 3 x 2 numbers, but must be an array of 2 x 4 x 2 numbers");
  BOOST_TEST(with("values", "x") ==
             start + "values\" is \"x\", but must be an array of 2 x 3 x 2 numbers");
  BOOST_TEST(with("values", Tensor{{12}, std::vector<double>(12)}) ==
             start +
                 "values\" is an array of 12 numbers, but must be an array of 2 x 3 x 2 numbers");
  BOOST_TEST(
      with("values",
           Tensor{{2, 3, 2}, std::vector<double>(12, -std::numeric_limits<double>::infinity())}) ==
      start + "values\" contains \"-Infinity\", but its numbers must be finite or NaN");
}

BOOST_AUTO_TEST_CASE(newer_formats_are_refused_by_name) {
  Document document = sample().to_document();
  document.set("pg_bayes", Document::object().set("format", 2).set("version", "9.0.0"));
  const std::string says =
      "unsupported bayes_model: its format is 2, but this version of pg_bayes reads formats up to "
      "1 | "
      "It was made by a newer version of pg_bayes: upgrade this one to read it.";
  BOOST_TEST(refused(document) == says);
  std::string bytes = sample().to_bytes();
  bytes[4] = 2;
  BOOST_TEST(refused_bytes(bytes) == says);
}

BOOST_AUTO_TEST_CASE(errors_of_a_reader_become_invalid_input) {
  Sample model = sample();
  model.own = 0.125;
  const std::string says = "the family refuses / detail | hint";
  BOOST_TEST(refused(model.to_document()) == says);
  BOOST_TEST(refused_bytes(model.to_bytes()) == says);
  model.own = 0.0625;
  BOOST_TEST(refusal(Errc::internal, [&] { Model::from_bytes(model.to_bytes(), find_sample); }) ==
             "a bug");
}

BOOST_AUTO_TEST_CASE(changed_bytes_are_refused) {
  const std::string bytes = sampled().to_bytes();
  // Seconds are at the end, outside of the fingerprint.
  for (std::size_t i = 0; i + sizeof(double) < bytes.size(); ++i)
    for (const int bit : {0, 3, 7}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      if (refused_bytes(changed) == "accepted")
        BOOST_ERROR("accepted with bit " << bit << " of byte " << i << " changed");
    }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    if (refused_bytes(bytes.substr(0, size)) == "accepted")
      BOOST_ERROR("accepted the first " << size << " bytes");
  BOOST_TEST(refused_bytes("") == "invalid bayes_model bytes / They end too early.");
  BOOST_TEST(refused_bytes(bytes + '\0') ==
             "invalid bayes_model bytes / The fingerprint does not match the content: some of it "
             "was changed or lost.");
}

BOOST_AUTO_TEST_CASE(bytes_with_a_valid_fingerprint_are_checked_too) {
  std::string bytes = sample().to_bytes() + '\0';
  bayes::seal_model(bytes);
  BOOST_TEST(refused_bytes(bytes) == "invalid document bytes / There are bytes after the end.");
  Document document = sample().to_document();
  document.set("rows", 0);
  std::string impossible(bayes::model_header_bytes, '\0');
  document.to_bytes(impossible);
  bayes::seal_model(impossible, false);
  BOOST_TEST(refused_bytes(impossible) ==
             R"(invalid bayes_model: member "rows" is 0, but must be a )"
             R"(whole number from 1 to 9223372036854775807)");
}

BOOST_AUTO_TEST_CASE(seconds_do_not_identify_a_model) {
  Sample one = sample(), other = sample();
  other.info.seconds = 7.25;
  const std::string bytes = one.to_bytes(), longer = other.to_bytes();
  BOOST_TEST((bytes != longer));
  BOOST_TEST(one.same_content(other));
  BOOST_TEST((bayes::content_header(bytes) == bayes::content_header(longer)));
  BOOST_TEST((bayes::content_header(bytes) == bytes.substr(0, bayes::model_header_bytes)));
  BOOST_TEST(bayes::identifies_content(bytes));
  BOOST_TEST(Model::from_bytes(bytes, find_sample)->info.seconds == 0.5);
  BOOST_TEST(Model::from_bytes(longer, find_sample)->info.seconds == 7.25);
  BOOST_TEST(Model::from_document(other.to_document(), find_sample)->info.seconds == 7.25);
  other.info.seconds = 0.5;
  other.info.objective = -12.25;
  BOOST_TEST(!one.same_content(other));
  BOOST_TEST((bayes::content_header(bytes) != bayes::content_header(other.to_bytes())));
}

BOOST_AUTO_TEST_CASE(early_bytes_with_seconds_in_the_document_are_the_same_models) {
  const Sample model = sample();
  std::string early(bayes::model_header_bytes, '\0');
  model.to_document().to_bytes(early);
  bayes::seal_model(early, false);
  BOOST_TEST(!bayes::identifies_content(early));
  const auto read = Model::from_bytes(early, find_sample);
  BOOST_TEST(read->info.seconds == 0.5);
  BOOST_TEST((read->to_bytes() == model.to_bytes()));
  BOOST_TEST((bayes::content_header(early) == bayes::content_header(model.to_bytes())));
  early.back() = static_cast<char>(early.back() ^ 1);
  BOOST_TEST(refusal(Errc::invalid_binary, [&] { bayes::content_header(early); }) != "accepted");
}

BOOST_AUTO_TEST_CASE(seconds_at_the_end_are_checked) {
  const std::string bytes = sample().to_bytes(), start = bytes.substr(0, bytes.size() - 8);
  const std::string says = R"(invalid bayes_model: member "seconds" is )";
  BOOST_TEST(refused_bytes(start + std::string(6, '\0') + "\xf8\x7f") ==
             says + R"("NaN", but must be a finite number of at least 0.0)");
  BOOST_TEST(refused_bytes(start + std::string(6, '\0') + "\xf0\xbf") ==
             says + "-1.0, but must be a finite number of at least 0.0");
  std::string twice(bayes::model_header_bytes, '\0');
  sample().to_document().to_bytes(twice);
  twice += std::string(8, '\0');
  bayes::seal_model(twice);
  BOOST_TEST(refused_bytes(twice) == "invalid bayes_model: member \"seconds\" occurs twice");
  std::string no_object(bayes::model_header_bytes, '\0');
  Document(1.5).to_bytes(no_object);
  no_object += std::string(8, '\0');
  bayes::seal_model(no_object);
  BOOST_TEST(refused_bytes(no_object) != "accepted");
}

BOOST_AUTO_TEST_CASE(a_family_says_by_name_what_it_does_not_know) {
  const Sample model = sample();
  const std::vector<double> x(2);
  std::vector<double> out(3);
  const auto says = [](const std::function<void()> &ask) {
    return refusal(Errc::wrong_family, ask);
  };
  const std::string start = "a model of family sample has no ";
  const bayes::TakeParameter ignore = [](const bayes::Parameter &) {};
  BOOST_TEST(says([&] { model.predict(x); }) == start + "components to assign rows to");
  BOOST_TEST(says([&] { model.predict_row(x, 0.5); }) == start + "components to assign rows to");
  BOOST_TEST(says([&] { model.probabilities(x, out); }) == start + "components to assign rows to");
  BOOST_TEST(says([&] { model.log_density(x); }) == start + "log density of rows");
  BOOST_TEST(says([&] { model.describe_parameters(0.5, ignore); }) == start + "parameters to list");
  BOOST_TEST(says([&] { model.overlaps(model); }) == start + "components to match");
  BOOST_TEST(says([&] { model.require_rows(); }) == "accepted");
  BOOST_TEST(model.outcomes() == 3);
  BOOST_TEST(model.categories(0).empty());
  BOOST_TEST(!model.label_profiles());
}

BOOST_AUTO_TEST_CASE(fingerprints_differ) {
  // Zeros of every length, and each with one byte changed: no two headers may agree, in neither
  // half.
  std::vector<std::string> headers;
  for (std::size_t length = 0; length < 100; ++length)
    for (std::size_t changed = 0; changed <= length; ++changed) {
      std::string bytes(bayes::model_header_bytes + length, '\0');
      if (changed < length) bytes[bayes::model_header_bytes + changed] = 1;
      bayes::seal_model(bytes, false);
      headers.push_back(bytes.substr(8, 16));
    }
  for (const std::size_t half : {0, 8}) {
    std::vector<std::string> halves;
    for (const std::string &header : headers) halves.push_back(header.substr(half, 8));
    std::sort(halves.begin(), halves.end());
    BOOST_TEST((std::adjacent_find(halves.begin(), halves.end()) == halves.end()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
