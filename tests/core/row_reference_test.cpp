// References of rows, against counts: bins, samples of tables and of streams, documents.
#include <set>

#include "base/error.hpp"
#include "drift_support.hpp"

using namespace bayes;
using namespace drifting;

BOOST_AUTO_TEST_SUITE(row_reference)

BOOST_AUTO_TEST_CASE(bins_have_about_equal_weights) {
  std::vector<WeightedValue> values;
  for (int i = 0; i < 1600; ++i) values.push_back({double(i * 7 % 1600), 1});
  values.push_back({hole, 3});
  const BinnedColumn even = bin_numbers(values);
  BOOST_TEST(even.nulls == 3);
  BOOST_TEST(even.weights == std::vector<double>(16, 100), boost::test_tools::per_element());
  BOOST_TEST(even.points[0] == 99.5);
  // A value that many have is alone in its bin.
  for (int i = 0; i < 1000; ++i) values.push_back({700.25, 1});
  const BinnedColumn atom = bin_numbers(values);
  const auto at = std::lower_bound(atom.points.begin(), atom.points.end(), 700.25);
  BOOST_TEST(atom.weights[std::size_t(at - atom.points.begin())] == 1000);
  // Of few rows there are fewer bins, of one value three.
  std::vector<WeightedValue> few;
  for (int i = 0; i < 23; ++i) few.push_back({double(i), 1});
  const BinnedColumn quarters = bin_numbers(few);
  BOOST_TEST(quarters.weights.size() == 4);
  for (const double weight : quarters.weights) BOOST_TEST(weight >= 5);
  std::vector<WeightedValue> digits;
  for (int i = 0; i < 100; ++i) digits.push_back({double(i % 10 * (i % 3)), 1});
  BOOST_TEST(bin_numbers(digits).weights.size() == 15);
  std::vector<WeightedValue> constant = {{-0.0, 4}, {0, 3}};
  const BinnedColumn three = bin_numbers(constant);
  BOOST_TEST(three.weights == (std::vector<double>{0, 7, 0}), boost::test_tools::per_element());
  BOOST_TEST(three.points[1] == 0);
  std::vector<WeightedValue> none = {{hole, 2}};
  BOOST_TEST(bin_numbers(none).weights == std::vector<double>{0}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(rare_categories_are_counted_together) {
  // All of them if none is rare.
  std::vector<WeightedValue> values;
  for (int code = 0; code < 3; ++code)
    for (int i = 0; i < 20 + code; ++i) values.push_back({double(2 - code), 1});
  const BinnedColumn common = count_categories(values);
  BOOST_TEST(common.points == (std::vector<double>{0, 1, 2}), boost::test_tools::per_element());
  BOOST_TEST(common.weights == (std::vector<double>{22, 21, 20, 0}),
             boost::test_tools::per_element());
  // Else those that a quarter of the rows shows to be frequent, counted in the others.
  values.clear();
  for (int code = 0; code < 400; ++code)
    for (int i = 0; i < (code < 3 ? 200 : 1); ++i) values.push_back({double(code), 1});
  const BinnedColumn column = count_categories(values);
  BOOST_TEST(column.points == (std::vector<double>{0, 1, 2}), boost::test_tools::per_element());
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(std::abs(column.weights[i] - 150) < 30);
  BOOST_TEST(std::abs(column.weights[3] - 0.75 * 397) < 40);
  // No more than so many are counted one by one.
  values.clear();
  for (int code = 0; code < 100; ++code) values.push_back({double(code), 2000.0 + code});
  const BinnedColumn many = count_categories(values);
  BOOST_TEST(many.points.size() == std::size_t(max_reference_categories));
  BOOST_TEST(many.points[0] == 36);
  BOOST_TEST(std::abs(many.weights.back() - 0.75 * (36 * 2000 + 36 * 35 / 2)) < 1e-6);
}

BOOST_AUTO_TEST_CASE(a_reference_is_of_a_sample) {
  BOOST_TEST(reference_sample(20, 2) == 20);
  BOOST_TEST(reference_sample(100000, 2) == 2048);
  BOOST_TEST(reference_sample(300000, 2) == 4687);
  BOOST_TEST(reference_sample(1000000000, 2) == 10000);
  BOOST_TEST(reference_sample(1000000000, 256) == 512);
  BOOST_TEST(reference_sample(1000000000, 10000) == 256);
  std::vector<std::vector<double>> x;
  for (int i = 0; i < 30000; ++i) x.push_back({double(i), double(i % 2)});
  const auto model = model_of({{"a"}, {"b"}}, x);
  const RowReference &reference = *model->info.reference;
  BOOST_TEST(reference.rows == 2048);
  double sum = 0;
  for (const double weight : reference.columns[0].weights) sum += weight;
  BOOST_TEST(sum == 2048);
  // Quantiles of the rows; the standard error of the median is 332.
  BOOST_TEST(std::abs(reference.columns[0].points[7] - 15000) < 1300);
  BOOST_TEST(std::abs(reference.columns[1].weights[0] - 1024) < 90);
  BOOST_TEST(model_of({{"a"}, {"b"}}, x)->to_bytes() == model->to_bytes());
  // Rows with more columns are compared as a whole.
  RowColumns wide;
  for (int j = 0; j < 257; ++j) wide.push_back({"c" + std::to_string(j)});
  const std::vector<std::vector<double>> wide_rows(50, std::vector<double>(257, 0.5));
  const auto whole = model_of(wide, wide_rows);
  BOOST_TEST(whole->info.reference->columns.empty());
  BOOST_TEST(drift_of(whole, wide_rows).size() == 1);
}

BOOST_AUTO_TEST_CASE(a_weight_is_a_number_of_rows) {
  Random random(37);
  MemoryRows weighted({1, true}), repeated({1, false});
  for (int i = 0; i < 300; ++i) {
    const double x = random.normal(), w = double(1 + random.below(3));
    weighted.append(&x, w);
    for (int r = 0; r < int(w); ++r) repeated.append(&x);
  }
  Control control;
  Plain model({{"a"}});
  const std::string a = document_of(*reference_of(model, weighted, 0, control)).to_json(),
                    b = document_of(*reference_of(model, repeated, 0, control)).to_json();
  BOOST_TEST(a == b);
  // Of many, some are drawn by their weights: here those above 0 have nine tenths of all.
  MemoryRows many({1, true});
  for (int i = 0; i < 20000; ++i) {
    const double x = i % 2 ? random.uniform() : -random.uniform();
    many.append(&x, x > 0 ? 9 : 1);
  }
  const auto reference = reference_of(model, many, 0, control);
  BOOST_TEST(std::abs(reference->rows - 2048) < 50);
  double below = 0;
  for (std::size_t i = 0; i < reference->columns[0].points.size(); ++i)
    if (reference->columns[0].points[i] < 0) below += reference->columns[0].weights[i];
  BOOST_TEST(std::abs(below / reference->rows - 0.1) < 0.07);
}

// The log density of a model with parameters that few rows have is higher by less.
BOOST_AUTO_TEST_CASE(optimism_is_of_parameters_that_rows_have) {
  const Matrix x = support::normal_rows(400, 2, 47, 1);
  MemoryRows rows = support::rows_of(x);
  Control control;
  const auto one = support::fit(rows, 1, {{"method", "em"}}),
             many = support::fit(rows, 6, {{"method", "vi"}});
  BOOST_TEST(std::abs(reference_of(*one, rows, 0, control)->density->optimism - 5.0 / 400) < 1e-12);
  double expected = 0;
  for (int k = 0; k < 6; ++k) {
    const double weight = many->component(k).weight;
    expected += std::min(weight * 400, many->free_parameters() / 6) / 400;
  }
  BOOST_TEST(std::abs(reference_of(*many, rows, 0, control)->density->optimism - expected) < 1e-12);
  BOOST_TEST(expected < 0.9 * many->free_parameters() / 400);
}

BOOST_AUTO_TEST_CASE(samples_of_streams) {
  // Few rows are all in it, whatever parts they come in, and labels keep their meaning.
  const RowColumns ab = {{"n"}, {"l", ValueKind::label, {"a", "b"}}},
                   ba = {{"n"}, {"l", ValueKind::label, {"b", "c", "a"}}},
                   abc = {{"n"}, {"l", ValueKind::label, {"a", "b", "c"}}};
  RowSample one, two;
  for (int i = 0; i < 10; ++i) one.add(std::vector<double>{double(i), double(i % 2)}, 1);
  for (int i = 10; i < 20; ++i) two.add(std::vector<double>{double(i), double(i % 3)}, 2);
  one.set_columns(ab);
  two.set_columns(ba);
  RowSample both;
  both.merge(RowSample::from_bytes(one.to_bytes()));
  both.merge(RowSample::from_bytes(two.to_bytes()));
  both.recode(abc);
  BOOST_REQUIRE(both.weights().size() == 20);
  for (int i = 0; i < 20; ++i) {
    const double label = i < 10 ? i % 2 : std::vector<double>{1, 2, 0}[std::size_t(i % 3)];
    BOOST_TEST(both.elements()[std::size_t(2 * i)] == i);
    BOOST_TEST(both.elements()[std::size_t(2 * i + 1)] == label);
    BOOST_TEST(both.weights()[std::size_t(i)] == (i < 10 ? 1 : 2));
  }
  // Of many each has the same chance; of parts, too.
  RowSample all, parts[2];
  constexpr int n = 100000, first = 30000;
  for (int i = 0; i < n; ++i) {
    all.add(std::vector<double>{double(i)}, 1);
    parts[i < first ? 0 : 1].add(std::vector<double>{double(i)}, 1);
  }
  parts[0].merge(parts[1]);
  for (const RowSample *sample : {&all, &parts[0]}) {
    BOOST_REQUIRE(sample->weights().size() == std::size_t(min_sample_rows));
    std::set<double> different(sample->elements().begin(), sample->elements().end());
    BOOST_TEST(different.size() == std::size_t(min_sample_rows));
    const auto below = [&](double bound) {
      return double(std::distance(different.begin(), different.lower_bound(bound)));
    };
    // within four standard errors
    for (const double share : {0.02, 0.3, 0.6})
      BOOST_TEST(std::abs(below(share * n) - share * min_sample_rows) <
                 4 * std::sqrt(share * (1 - share) * min_sample_rows));
  }
  // Rows of different weights are not drawn.
  RowSample weighted;
  for (int i = 0; i < 3000; ++i) weighted.add(std::vector<double>{1}, i == 5 ? 2 : 1);
  BOOST_TEST(weighted.closed());
  all.merge(weighted);
  BOOST_TEST(all.closed());
}

BOOST_AUTO_TEST_CASE(damaged_samples_are_refused) {
  RowSample sample;
  for (int i = 0; i < 10; ++i) sample.add(std::vector<double>{double(i), double(i % 2)}, 1);
  sample.set_columns({{"n"}, {"l", ValueKind::label, {"a", "b"}}});
  const Document right = Document::from_bytes(sample.to_bytes());
  const auto read = [&right](const char *key, Document value) {
    Document damaged = right;
    damaged.set(key, std::move(value));
    std::string bytes;
    damaged.to_bytes(bytes);
    RowSample::from_bytes(bytes);
  };
  const auto numbers = [](std::size_t count, double value) {
    return Document(Tensor{{std::int64_t(count)}, std::vector<double>(count, value)});
  };
  const auto labels = [](Document list) {
    return Document::List{Document::object().set("name", "n"),
                          Document::object().set("name", "l").set("labels", std::move(list))};
  };
  read("closed", false);
  read("elements", numbers(20, 1));
  const std::pair<const char *, Document> cases[] = {{"rows", -1},
                                                     {"rows", 11},
                                                     {"rows", std::int64_t(1) << 62},
                                                     {"closed", true},
                                                     {"closed", 1},
                                                     {"capacity", 256},
                                                     {"dimension", 1},
                                                     {"dimension", 0},
                                                     {"elements", numbers(19, 1)},
                                                     {"elements", numbers(20, 2)},
                                                     {"elements", numbers(20, -1)},
                                                     {"elements", numbers(20, 0.5)},
                                                     {"elements", Document()},
                                                     {"weights", numbers(9, 1)},
                                                     {"weights", numbers(10, 2)},
                                                     {"weights", numbers(10, -1)},
                                                     {"columns", Document()},
                                                     {"columns", Document::List{1, 2}},
                                                     {"columns", labels(7)},
                                                     {"columns", labels(Document::List{7, "b"})},
                                                     {"columns", labels(Document::List{"a"})}};
  for (const auto &[key, value] : cases) BOOST_TEST_CONTEXT(key << ' ' << value.to_json())
  BOOST_CHECK_EXCEPTION(read(key, value), Error,
                        [](const Error &error) { return error.code() == Errc::invalid_binary; });
}

BOOST_AUTO_TEST_CASE(a_reference_is_read_as_it_was_written) {
  Source source{Random(43)};
  auto fit = source.rows(300), now = source.rows(1);
  RowColumns columns = {
      {"a"}, {"b"}, {"c"}, {"d"}, {"e", ValueKind::label}, {"f", ValueKind::label}};
  for (const std::size_t j : {4, 5}) recode(fit, now, j, columns[j].labels);
  const auto model = model_of(columns, fit);
  const Document written =
      Document::object().set("row_reference", document_of(*model->info.reference));
  std::string bytes;
  written.to_bytes(bytes);
  const auto read = read_reference(Document::from_bytes(bytes), 6);
  BOOST_TEST(document_of(*read).to_json() == written.find("row_reference")->to_json());
  BOOST_TEST(!read_reference(Document::object(), 6));
  const auto refused = [&](const char *member, Document value, const char *column = nullptr) {
    Document reference = *written.find("row_reference");
    if (!column) {
      reference.set(member, std::move(value));
    } else {
      Document inner = *reference.find(column);
      inner.set(member, std::move(value));
      reference.set(column, std::move(inner));
    }
    BOOST_CHECK_THROW(read_reference(Document::object().set("row_reference", reference), 6), Error);
  };
  refused("rows", 0.0);
  refused("incomplete", -1.0);
  refused("columns", Document::List{});
  refused("columns", Document::List(6, Document(1.0)));
  refused("variance", -1.0, "log_density");
  refused("bounds", Tensor{{2}, {1, 1}}, "log_density");
  refused("weights", Tensor{{1}, {-1}}, "log_density");
  refused("nulls", "none", "log_density");
}

BOOST_AUTO_TEST_SUITE_END()
