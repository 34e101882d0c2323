// Fitted non-negative factorizations: cells and lines that they predict, starting points, learned
// priors, documents, and tables that are hard.
#include <cmath>

#include "base/special.hpp"
#include "counts/document_parts.hpp"
#include "factor/nmf_learners.hpp"
#include "factor/nmf_starts.hpp"
#include "nmf_support.hpp"

using namespace factors;

BOOST_AUTO_TEST_SUITE(nmf_model)

namespace {

/// The model with its factors in this order, each a tenth of itself and for the rest what all have
/// in common; one column has another key, and so have all rows if they are `others`.
Model blurred(const NmfModel &model, const std::vector<std::size_t> &order, bool others) {
  const std::size_t k = order.size();
  const bool gamma = is_variational(model.info.method);
  Document document = model.to_document();
  for (const char *const side : {"row", "column"}) {
    Document of = *document.find(side);
    const char *const key = gamma ? "shape" : "value";
    const bayes::Tensor old = *of.find(key)->as<bayes::Tensor>();
    bayes::Tensor now{old.shape, {}};
    for (std::size_t i = 0; i < old.values.size(); i += k) {
      double sum = 0;
      for (std::size_t j = 0; j < k; ++j) sum += old.values[i + j];
      for (const std::size_t j : order)
        now.values.push_back(0.1 * old.values[i + j] + 0.9 * sum / double(k));
    }
    of.set(key, now);
    if (gamma) of.set("rate", bayes::Tensor{{std::int64_t(k)}, std::vector<double>(k, 1.0)});
    Document::List keys = *of.find("keys")->as<Document::List>();
    const bool rows = side[0] == 'r';
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (rows ? others : i == 0) keys[i] = Document("other" + std::to_string(i));
    of.set("keys", std::move(keys));
    document.set(side, std::move(of));
  }
  return Model(dynamic_cast<NmfModel *>(bayes::Model::from_document(document).release()));
}

std::string message_of_fit(const Cells &x, int k, Options options) {
  return topics::message_of([&] { fitted(x, k, std::move(options)); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(cells_have_the_moments_of_the_posterior) {
  const Cells x = counts(8, 5, 2, 10, 1);
  const double a = 0.4, b = 0.5, c = 0.6, d = 0.9;
  const Model model = fitted(x, 2, {{"prior", Options{{"a", a}, {"b", b}, {"c", c}, {"d", d}}}});
  bayes::Random random(4);
  for (const auto &[row, column] : {std::pair{3, 2}, {-1, 2}, {3, -1}, {-1, -1}}) {
    double mean = 0, square = 0;
    const int draws = 400000;
    const auto draw = [&](Side side, int key, double shape, double rate, std::size_t k) {
      if (key < 0) return random.gamma(shape) / rate;
      const NmfWeights of = model->weights(side, key);
      return random.gamma(of.shape[k]) / of.rate[k];
    };
    for (int i = 0; i < draws; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < 2; ++k)
        sum += draw(Side::row, row, a, b, k) * draw(Side::column, column, c, d, k);
      mean += sum / draws;
      square += sum * sum / draws;
    }
    const auto found = model->predict(row, column);
    const double variance = square - mean * mean;
    BOOST_TEST(std::abs(found.mean - mean) < 6 * std::sqrt(variance / draws));
    BOOST_TEST(std::abs(found.variance - mean - variance) < 0.1 * variance);
  }
  const Model points = fitted(x, 2, {{"method", "em"}});
  BOOST_TEST(points->predict(1, 1).variance == points->predict(1, 1).mean);
  double average = 0;
  for (int i = 0; i < 8; ++i) average += points->predict(i, 3).mean / 8;
  BOOST_TEST(distance(points->predict(-1, 3).mean, average) < 1e-12);
  BOOST_TEST(std::isnan(fitted(x, 2, {{"method", "squared"}})->predict(1, 1).variance));
}

// A line of the fit is found again.
BOOST_AUTO_TEST_CASE(fitted_rows_are_transformed_to_their_weights,
                     *boost::unit_test::label("long")) {
  const Cells x = counts(12, 7, 2, 25, 12);
  for (const char *const method : {"vi", "em", "squared"}) {
    const Model model = fitted(x, 2, {{"method", method}, {"max_iter", 20000}, {"tol", 1e-13}});
    for (const Side side : {Side::row, Side::column}) {
      const Cells cells = side == Side::row ? x : transposed(x);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        topics::Counts line;
        for (std::size_t j = 0; j < cells[i].size(); ++j)
          if (cells[i][j] > 0) line[std::int32_t(j)] = cells[i][j];
        const NmfWeights found = model->transform(side, topics::Packed(line)),
                         fit = model->weights(side, std::int32_t(i));
        for (std::size_t k = 0; k < 2; ++k)
          BOOST_TEST(std::abs(found.value[k] - fit.value[k]) < 2e-4 * (0.01 + fit.value[k]),
                     method << " " << i << " " << found.value[k] << " " << fit.value[k]);
        BOOST_TEST(found.shape.size() == fit.shape.size());
      }
    }
    // nothing is known of a line without cells
    const NmfWeights empty = model->transform(Side::row, topics::Packed(topics::Counts()));
    for (const double value : empty.value) BOOST_TEST((method[0] == 'v' ? value > 0 : value == 0));
  }
}

// Each line's weights from one half of the keys, and its cells of the other half.
BOOST_AUTO_TEST_CASE(held_out_cells_are_predicted_from_observed_ones,
                     *boost::unit_test::label("long")) {
  const Cells x = counts(12, 10, 2, 25, 12), unseen = counts(5, 10, 2, 25, 12);
  for (const char *const method : {"vi", "em", "squared"}) {
    const Model model = fitted(x, 2, {{"method", method}, {"max_iter", 3000}});
    MemoryCorpus lines = lines_of(unseen);
    Control control;
    const bayes::NmfHeldOut found = bayes::nmf_held_out(*model, lines, Side::row, control);
    const auto hashes = bayes::term_hashes(model->keys(Side::column));
    const Cells v = values(*model, Side::column);
    double cells = 0, log_likelihood = 0;
    for (const auto &line : unseen) {
      topics::Counts known;
      for (std::size_t j = 0; j < line.size(); ++j)
        if ((hashes[j] & 1) && line[j] > 0) known[std::int32_t(j)] = line[j];
      const NmfWeights all = model->transform(Side::row, topics::Packed(known));
      std::vector<double> w = all.value;
      if (method[0] != 's') {
        // by the definition: parts and rates of the observed keys
        for (int round = 0; round < 20000; ++round) {
          std::vector<double> parts(2, 0.0), rates(2, 0.0), next(2);
          for (std::size_t j = 0; j < line.size(); ++j) {
            if (!(hashes[j] & 1)) continue;
            double t[2], sum = 0;
            for (std::size_t k = 0; k < 2; ++k) {
              rates[k] += v[j][k];
              if (method[0] == 'v') {
                const NmfWeights q = model->weights(Side::column, std::int32_t(j));
                t[k] = std::exp(bayes::digamma(q.shape[k])) / q.rate[k];
              } else {
                t[k] = v[j][k];
              }
              t[k] *= round == 0 ? 1 : w[k];
              sum += t[k];
            }
            for (std::size_t k = 0; k < 2; ++k)
              if (line[j] > 0) parts[k] += line[j] * t[k] / sum;
          }
          const double a = method[0] == 'v' ? 0.3 : 0, of_prior = [&] {
            if (method[0] != 'v') return 0.0;
            double sum = 0;
            for (const auto &each : x) sum += std::accumulate(each.begin(), each.end(), 0.0);
            return 0.3 / std::sqrt(sum / 120 / 2);
          }();
          for (std::size_t k = 0; k < 2; ++k) {
            const double rate = of_prior + rates[k];
            next[k] =
                method[0] == 'v' ? std::exp(bayes::digamma(a + parts[k])) / rate : parts[k] / rate;
            if (round == 19999) next[k] = (a + parts[k]) / rate;
          }
          w = next;
        }
      } else {
        // coordinates, one after the other
        std::fill(w.begin(), w.end(), 0.0);
        for (int round = 0; round < 5000; ++round)
          for (std::size_t k = 0; k < 2; ++k) {
            double slope = 0, curve = 0;
            for (std::size_t j = 0; j < line.size(); ++j)
              if (hashes[j] & 1) {
                slope += v[j][k] * (line[j] - w[0] * v[j][0] - w[1] * v[j][1]);
                curve += v[j][k] * v[j][k];
              }
            w[k] = std::max(0.0, w[k] + slope / curve);
          }
      }
      for (std::size_t j = 0; j < line.size(); ++j) {
        if (hashes[j] & 1) continue;
        ++cells;
        const double mean = w[0] * v[j][0] + w[1] * v[j][1];
        if (method[0] == 's') {
          const double variance = model->error().squared / 120;
          log_likelihood -= 0.5 * (std::log(2 * M_PI * variance) +
                                   (line[j] - mean) * (line[j] - mean) / variance);
        } else {
          log_likelihood += double(log_poisson(line[j], mean));
        }
      }
    }
    BOOST_TEST(found.documents == 5);
    BOOST_TEST(found.cells == cells);
    BOOST_TEST(distance(found.log_likelihood, log_likelihood) < 1e-6, method);
  }
}

BOOST_AUTO_TEST_CASE(a_table_of_low_rank_is_found_by_its_singular_vectors) {
  // Blocks: singular vectors are not negative.
  Cells x(9, std::vector<double>(6, 0.0));
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      if (i / 3 == j / 2) x[i][j] = double((1 + i) * (1 + j % 2));
  MemoryCorpus lines = lines_of(x);
  Control control;
  const bayes::FactorStart start = bayes::nndsvd_start(lines, 3, 1, control);
  double mean = 0;
  for (const auto &line : x) mean += std::accumulate(line.begin(), line.end(), 0.0) / 54;
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < 6; ++j) {
      double sum = 0, filled = 0;
      for (int k = 0; k < 3; ++k) {
        const double w = start.documents.here[i * 8 + std::size_t(k)],
                     v = start.terms.row(int(j))[k];
        // zeros are filled by the mean of the table
        (w == mean || v == mean ? filled : sum) += w * v;
      }
      BOOST_TEST(std::abs(sum - x[i][j]) < 1e-9);
      BOOST_TEST((filled > 0));
    }
  for (std::size_t k = 0; k < 3; ++k) {
    double sum = 0;
    for (std::size_t i = 0; i < 9; ++i) sum += start.documents.here[i * 8 + k];
    BOOST_TEST(std::abs(start.sums[k] - sum) < 1e-12 * sum);
  }
  // A factor beyond the rank begins at random.
  const bayes::FactorStart more = bayes::nndsvd_start(lines, 5, 1, control);
  for (int j = 0; j < 6; ++j) BOOST_TEST(more.terms.row(j)[4] > 0);
  BOOST_TEST(more.terms.row(0)[4] != more.terms.row(1)[4]);
}

BOOST_AUTO_TEST_CASE(singular_vectors_respect_the_time_limit) {
  MemoryCorpus lines = lines_of(counts(60, 40, 5, 3, 4));
  Control control;
  const auto start = [&] { return bayes::nndsvd_start(lines, 4, 1, control); };
  const bayes::FactorStart whole = start();
  BOOST_TEST(!control.is_cut_short);
  control.budget = bayes::Budget(0);
  const bayes::FactorStart hasty = start();
  BOOST_TEST((hasty.terms.values() != whole.terms.values()));
  BOOST_TEST((hasty.terms.values() == start().terms.values()));
  BOOST_TEST(control.is_cut_short);
}

BOOST_AUTO_TEST_CASE(learned_priors_maximise_the_bound, *boost::unit_test::label("long")) {
  for (const double shape : {0.01, 0.3, 2.0, 50.0}) {
    const double mean = 1.7, mean_log = bayes::digamma(shape) - std::log(shape / mean);
    BOOST_TEST(distance(bayes::learn_gamma_shape(mean, mean_log), shape) < 1e-9);
  }
  const Cells x = counts(60, 30, 3, 40, 21);
  const auto learned = [&](Options prior) {
    return fitted(x, 3, {{"prior", std::move(prior)}, {"max_iter", 20000}, {"tol", 1e-10}});
  };
  const Options all = {{"a", "learned"}, {"b", "learned"}, {"c", "learned"}, {"d", "learned"}};
  const double best = learned(all)->info.objective;
  for (const char *const left_out : {"a", "b", "c", "d"}) {
    Options some;
    for (const auto &[key, value] : all)
      if (key != left_out) some.emplace_back(key, value);
    const Model model = learned(some);
    for (const auto &trace : model->trace)
      for (std::size_t i = 1; i < trace.size(); ++i)
        BOOST_TEST(trace[i] >= trace[i - 1] - 1e-9 * std::abs(trace[i]));
    BOOST_TEST(model->info.objective < best + 1e-4, left_out);
    BOOST_TEST(model->info.objective > learned({})->info.objective - 1e-4);
  }
}

BOOST_AUTO_TEST_CASE(a_fit_keeps_the_numbering_of_the_start_model) {
  const Cells x = counts(20, 8, 3, 30, 13);
  for (const char *const method : {"vi", "em", "squared"}) {
    const Model first = fitted(x, 3, {{"method", method}, {"max_iter", 3000}, {"tol", 1e-9}}),
                again = fitted(x, 7, {}, Control(), first.get());
    BOOST_TEST(again->size() == 3);
    BOOST_TEST(method_name(again->info.method) == method);
    BOOST_TEST(again->info.iterations < first->info.iterations);
    BOOST_TEST(again->info.objective > first->info.objective - 0.02);
    // fewer rows, whose factors stand in the order of the first model
    const Model fewer = fitted(Cells(x.begin() + 10, x.end()), 3, {}, Control(), first.get());
    const Cells a = values(*first, Side::column), b = values(*fewer, Side::column);
    for (std::size_t k = 0; k < 3; ++k) {
      double same = 0, squares_a = 0, squares_b = 0;
      for (std::size_t j = 0; j < a.size(); ++j) {
        same += a[j][k] * b[j][k];
        squares_a += a[j][k] * a[j][k];
        squares_b += b[j][k] * b[j][k];
      }
      BOOST_TEST(same > 0.7 * std::sqrt(squares_a * squares_b));
    }
  }
}

// A start model so blurred that a few iterations from it are worse than from fresh weights. Its
// columns come in part, and one that it does not know.
BOOST_AUTO_TEST_CASE(restarts_keep_the_numbering_of_the_start_model) {
  const Cells x = counts(40, 12, 3, 60, 13);
  for (const char *const method : {"vi", "em", "squared", "svi"})
    for (const bool other_rows : {false, true}) {
      Options few = {{"method", method}, {"max_iter", 5}, {"tol", 0}};
      const auto with = [&few](const char *key, Document value) {
        Options out = few;
        out.emplace_back(key, std::move(value));
        return out;
      };
      const Model first = fitted(x, 3, with("restarts", 2)),
                  start = blurred(*first, {2, 0, 1}, other_rows),
                  alone = fitted(x, 0, few, Control(), start.get()),
                  best = fitted(x, 0, with("restarts", 3), Control(), start.get());
      BOOST_TEST(best->trace.size() == 3);
      BOOST_TEST(best->trace[0] == alone->trace[0]);
      BOOST_TEST(best->trace[1] == first->trace[0]);
      BOOST_TEST(best->trace[2] == first->trace[1]);
      BOOST_TEST(best->info.objective > alone->info.objective);
      BOOST_TEST(best->info.objective == first->info.objective);
      // The same weights, by the numbers of the start.
      const Cells a = values(*first, Side::column), b = values(*best, Side::column);
      for (std::size_t j = 0; j < a.size(); ++j)
        BOOST_TEST((b[j] == std::vector<double>{a[j][2], a[j][0], a[j][1]}), method);
      BOOST_TEST(best->predict(3, 4).mean == first->predict(3, 4).mean,
                 boost::test_tools::tolerance(1e-12));
    }
  BOOST_TEST((message_of_fit(x, 3, {{"init", "random"}}) == "no error"));
  const Model first = fitted(x, 3, {});
  BOOST_TEST(topics::message_of([&] {
               fitted(x, 0, {{"init", "random"}}, Control(), first.get());
             }) == "option \"init\" does not apply to a fit that starts from a model by method vi");
}

BOOST_AUTO_TEST_CASE(edge_cases) {
  for (const char *const method : {"vi", "em", "squared"}) {
    const auto check = [&](const Cells &x, int k) {
      const Model model = fitted(x, k, {{"method", method}, {"restarts", 2}});
      check_sound(*model);
      return model->predict(0, 0).mean;
    };
    check({{3}}, 1);
    check({{3}}, 4);
    check({{1, 2, 0, 4}}, 6);
    check({{0, 0, 0}, {0, 5, 1}, {0, 0, 0}}, 2);
    // a column without a number is nothing's part
    const Model empty = fitted({{0, 0, 0}, {0, 5, 1}, {0, 0, 0}}, 2, {{"method", method}});
    BOOST_TEST(empty->predict(1, 0).mean < (method[0] == 'v' ? 1 : 1e-100));
    check({{0.5, 1e-300}, {1e-300, 0}}, 2);
    check({{7, 7}, {7, 7}}, 3);
    BOOST_TEST(std::abs(check({{1e14, 0}, {0, 1}}, 2) / 1e14 - 1) < 0.01);
    BOOST_TEST((message_of_fit({{1e300, 1}, {1, 1}}, 1, {{"method", method}}).find("add up to") !=
                std::string::npos));
    BOOST_TEST(
        (message_of_fit({{0, 0}}, 1, {{"method", method}}) == "every cell of the table is 0"));
  }
}

// Long keys count as memory of the fit: three times, as a model's document and bytes have them too.
BOOST_AUTO_TEST_CASE(keys_are_shared_and_their_memory_is_counted) {
  const Cells x = counts(300, 4, 2, 12, 3);
  MemoryCorpus lines = lines_of(x);
  const Document options(Options{{"max_iter", 2}});
  const auto fit = [&](std::size_t length, double memory) {
    std::vector<std::string> names = keys("r", 300);
    for (std::string &name : names) name += std::string(length, 'x');
    const FactorTable table{lines, nullptr, Side::row, std::move(names), keys("c", 4), 0};
    Control control;
    control.memory = memory;
    const Model model = bayes::nmf_fit(table, 2, options, nullptr, control);
    BOOST_TEST(&model->keys(Side::row) == &table.document_keys.all());
    BOOST_TEST(&model->keys(Side::column) == &table.term_keys.all());
  };
  fit(0, 8e6);
  fit(8000, 8e6);
  BOOST_TEST(topics::message_of([&] { fit(9990, 8e6); }).find("but the limit is 7 MB") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(invalid_options_are_refused) {
  const Cells x = {{1, 2}, {2, 1}};
  const auto has = [&](Options options, const char *text) {
    const std::string message = message_of_fit(x, 1, std::move(options));
    BOOST_TEST((message.find(text) != std::string::npos), message);
  };
  has({{"method", "gibbs"}}, "method");
  has({{"init", "start"}}, "init");
  has({{"method", "em"}, {"prior", Options{}}}, "prior");
  has({{"prior", Options{{"a", 0}}}}, "prior.a");
  has({{"prior", Options{{"b", "large"}}}}, "prior.b");
  has({{"prior", Options{{"e", 1}}}}, "prior.e");
  BOOST_TEST((message_of_fit(x, 0, {}).find("k is 0") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(invalid_documents_are_refused) {
  const Model model = fitted(counts(4, 3, 1, 10, 2), 2, {});
  const auto message = [&](const char *side, const char *key, Document value) {
    Document document = model->to_document();
    Document changed = *document.find(side);
    changed.set(key, std::move(value));
    document.set(side, std::move(changed));
    return topics::message_of([&] { bayes::Model::from_document(document); });
  };
  for (const auto &[key, value] : {std::pair<const char *, Document>{"shape", 1},
                                   {"rate", Document::List{}},
                                   {"keys", Document::List{}},
                                   {"keys", Document::List{"a", "b", "a", "c"}},
                                   {"keys", Document::List{1, 2, 3, 4}},
                                   {"prior", 3}})
    BOOST_TEST((message("row", key, value).find(key) != std::string::npos),
               message("row", key, value));
}

BOOST_AUTO_TEST_SUITE_END()
