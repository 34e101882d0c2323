// Fitted probabilistic matrix factorizations: predictions and their intervals against the truth of
// synthetic ratings, and against alternating least squares; tables at the edges.
#include <numeric>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/linalg.hpp"
#include "base/special.hpp"
#include "factor/pmf_chain.hpp"
#include "pmf_support.hpp"
#include "support.hpp"

using namespace bayes;
using ratings::Cell, ratings::Cells, ratings::Synthetic, ratings::Table;

namespace {

Document chains_of(int chains, int draws) {
  return Document::object().set("chains", chains).set("draws", draws);
}

double root_of_mean_square(const std::vector<double> &errors) {
  double squares = 0;
  for (const double e : errors) squares += e * e;
  return std::sqrt(squares / double(errors.size()));
}

/// Of cells held out.
double rmse_of(const PmfModel &model, const Cells &held_out) {
  std::vector<double> errors;
  for (const Cell &cell : held_out.cells)
    errors.push_back(model.predict(cell.row, cell.column).mean - cell.x);
  return root_of_mean_square(errors);
}

/// Alternating least squares: a mean, effects of rows and columns that are shrunk, and vectors with
/// weight lambda for each cell of a line.
double als_rmse(const Synthetic &data, int rank, double lambda) {
  const Cells &table = data.fitted;
  const std::int32_t counts[2] = {table.rows, table.columns};
  const auto key = [](const Cell &cell, int side) { return side == 0 ? cell.row : cell.column; };
  double mean = 0;
  for (const Cell &cell : table.cells) mean += cell.x / double(table.cells.size());
  // The last coordinate is the key's own effect, and that of the other side enters as an offset.
  Matrix w[2];
  Random random(3);
  for (int side = 0; side < 2; ++side) {
    w[side] = Matrix::Zero(rank + 1, counts[side]);
    for (Eigen::Index i = 0; i < counts[side]; ++i)
      for (int k = 0; k < rank; ++k) w[side](k, i) = 0.1 * random.normal();
  }
  for (int iteration = 0; iteration < 30; ++iteration)
    for (int side = 0; side < 2; ++side) {
      std::vector<Matrix> a(std::size_t(counts[side]), Matrix::Zero(rank + 1, rank + 1));
      Matrix right = Matrix::Zero(rank + 1, counts[side]);
      for (const Cell &cell : table.cells) {
        Vector v = w[1 - side].col(key(cell, 1 - side));
        const double r = cell.x - mean - v(rank);
        v(rank) = 1;
        const auto own = std::size_t(key(cell, side));
        a[own] += v * v.transpose() + lambda * Matrix::Identity(rank + 1, rank + 1) / 10;
        right.col(Eigen::Index(own)) += r * v;
      }
      for (std::size_t i = 0; i < a.size(); ++i) {
        Matrix lower;
        a[i] += lambda * Matrix::Identity(rank + 1, rank + 1);
        BOOST_REQUIRE(cholesky(a[i], lower));
        const Matrix inverse = inverse_lower(lower);
        w[side].col(Eigen::Index(i)) = inverse.transpose() * (inverse * right.col(Eigen::Index(i)));
      }
    }
  std::vector<double> errors;
  for (const Cell &cell : data.held_out.cells)
    errors.push_back(mean + w[0](rank, cell.row) + w[1](rank, cell.column) +
                     w[0].col(cell.row).head(rank).dot(w[1].col(cell.column).head(rank)) - cell.x);
  return root_of_mean_square(errors);
}

const Synthetic &usual_data() {
  static const Synthetic data = ratings::synthetic(400, 250, 4, 0.15, 1);
  return data;
}
const PmfModel &usual_model() {
  static const auto model = ratings::fit(usual_data().fitted, 4, Document());
  return *model;
}

bool finite(const PmfPrediction &p) { return std::isfinite(p.mean) && std::isfinite(p.sd); }

/// Everything that a model predicts is a number.
void check_finite(const PmfModel &model) {
  for (std::int32_t i = -1; i < std::int32_t(model.keys(Side::row).size()); ++i)
    for (std::int32_t j = -1; j < std::int32_t(model.keys(Side::column).size()); ++j)
      BOOST_TEST(finite(model.predict(i, j)));
  BOOST_TEST(finite(model.predict(-1, -1)));
}

std::string error_of(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pmf_model)

BOOST_AUTO_TEST_CASE(predictions_are_near_the_truth_and_better_than_least_squares) {
  BOOST_TEST(usual_model().info.converged);
  // No prediction can be better than the truth's but by chance.
  std::vector<double> errors;
  for (std::size_t i = 0; i < usual_data().truth.size(); ++i)
    errors.push_back(usual_data().truth[i] - usual_data().held_out.cells[i].x);
  BOOST_TEST(rmse_of(usual_model(), usual_data().held_out) < 1.15 * root_of_mean_square(errors));

  const Synthetic sparse = ratings::synthetic(400, 250, 5, 0.1, 1);
  const double rmse = rmse_of(*ratings::fit(sparse.fitted, 8, Document()), sparse.held_out);
  for (const double lambda : {0.3, 1.0, 3.0, 10.0})
    BOOST_TEST(rmse < 0.95 * als_rmse(sparse, 8, lambda));
}

BOOST_AUTO_TEST_CASE(intervals_have_their_nominal_coverage) {
  for (const bool hierarchical : {false, true}) {
    const Synthetic &data = usual_data();
    const auto model =
        hierarchical ? ratings::fit(data.fitted, 4,
                                    Document::object().set(
                                        "prior", Document::object().set("hierarchical", true)))
                     : nullptr;
    double within[2] = {};
    for (const Cell &cell : data.held_out.cells) {
      const PmfPrediction p = (model ? *model : usual_model()).predict(cell.row, cell.column);
      const double z = std::abs(cell.x - p.mean) / p.sd;
      within[0] += z < normal_quantile(0.75);
      within[1] += z < normal_quantile(0.95);
    }
    BOOST_TEST_CONTEXT("hierarchical " << hierarchical) {
      BOOST_TEST(std::abs(within[0] / double(data.held_out.cells.size()) - 0.5) < 0.02);
      BOOST_TEST(std::abs(within[1] / double(data.held_out.cells.size()) - 0.9) < 0.02);
    }
  }
}

BOOST_AUTO_TEST_CASE(noise_and_c_are_learned) {
  const Synthetic &data = usual_data();
  const PmfModel &learned = usual_model();
  // c of the truth is 1 / sqrt(4).
  const Document prior = Document::object().set("noise_variance", 0.25).set("c", 0.5);
  const auto given = ratings::fit(data.fitted, 4, chains_of(2, 120).set("prior", prior));
  const double one = rmse_of(learned, data.held_out), two = rmse_of(*given, data.held_out);
  BOOST_TEST(std::abs(one - two) < 0.01 * two);
  const auto mean_of = [](const PmfModel &model, const std::string &name) {
    const auto &names = model.draws.quantities;
    const std::size_t at = std::size_t(std::find(names.begin(), names.end(), name) - names.begin());
    double sum = 0, count = 0;
    for (std::size_t i = at; i < model.draws.values.size(); i += names.size(), ++count)
      sum += model.draws.values[i];
    return sum / count;
  };
  BOOST_TEST(mean_of(learned, "noise_sd") == 0.5, boost::test_tools::tolerance(0.03));
  BOOST_TEST(mean_of(learned, "c") == 0.5, boost::test_tools::tolerance(0.15));
  BOOST_TEST(mean_of(*given, "noise_sd") == 0.5, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(mean_of(*given, "c") == 0.5, boost::test_tools::tolerance(1e-12));
}

/// A key that is not in the table has the distribution of those that are.
BOOST_AUTO_TEST_CASE(unknown_keys_have_the_prior_predictive) {
  const PmfModel &model = usual_model();
  const auto rows = std::int32_t(model.keys(Side::row).size()),
             columns = std::int32_t(model.keys(Side::column).size());
  BOOST_TEST(model.code(Side::row, "r100007") == 7);
  BOOST_TEST(model.code(Side::row, "c100007") == -1);
  double sum = 0, squares = 0, n = 0;
  for (const Cell &cell : usual_data().held_out.cells) {
    sum += cell.x;
    squares += cell.x * cell.x;
    ++n;
  }
  const double mean = sum / n, sd = std::sqrt(squares / n - mean * mean);
  const PmfPrediction both = model.predict(-1, -1);
  BOOST_TEST(std::abs(both.mean - mean) < 0.1);
  BOOST_TEST(both.sd == sd, boost::test_tools::tolerance(0.1));
  // Of a known column the mean over all rows, and less spread than of none.
  double difference = 0;
  for (std::int32_t j = 0; j < columns; ++j) {
    double over_rows = 0;
    for (std::int32_t i = 0; i < rows; ++i) over_rows += model.predict(i, j).mean / rows;
    const PmfPrediction p = model.predict(-1, j);
    difference += std::abs(p.mean - over_rows) / columns;
    BOOST_TEST(p.sd > model.predict(3, j).sd);
  }
  BOOST_TEST(difference < 0.1);
}

/// Columns become rows; lines are the larger side either way.
BOOST_AUTO_TEST_CASE(transposed_tables_have_transposed_results) {
  for (const bool means : {false, true}) {
    const Synthetic data = ratings::synthetic(60, 40, 2, 0.3, 5);
    const Document options = chains_of(2, 40).set("means", means);
    const auto model = ratings::fit(data.fitted, 2, options),
               other = ratings::fit(ratings::transposed(data.fitted), 2, options);
    for (std::int32_t i = -1; i < 60; ++i)
      for (std::int32_t j = -1; j < 40; ++j) {
        const PmfPrediction a = model->predict(i, j), b = other->predict(j, i);
        BOOST_REQUIRE_CLOSE(a.mean, b.mean, 1e-9);
        BOOST_REQUIRE_CLOSE(a.sd, b.sd, 1e-9);
      }
  }
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_threads) {
  const auto bytes = [](int threads) {
    auto model = ratings::fit(usual_data().fitted, 4, chains_of(2, 20), threads);
    model->info.seconds = 0;
    return model->to_bytes();
  };
  const std::string one = bytes(1);
  BOOST_TEST((one == bytes(2)));
  BOOST_TEST((one == bytes(3)));
}

BOOST_AUTO_TEST_CASE(weights_are_shares_of_the_noise) {
  const Cells table = ratings::synthetic(120, 40, 2, 0.3, 5).fitted;
  const auto fit = [](const Cells &cells, double noise) {
    Document prior = Document::object();
    if (noise > 0) prior.set("noise_variance", noise).set("c", 0.7);
    Document options = chains_of(2, 12);
    auto out = ratings::fit(cells, 2, options.set("rated", false).set("prior", std::move(prior)));
    out->info.seconds = 0;
    return out;
  };
  const auto one = [](std::size_t) { return 1.0; };
  const auto some = [](std::size_t i) { return double(1 + i % 4); };
  const auto four = [](std::size_t) { return 4.0; };
  BOOST_TEST((fit(table, 0)->to_bytes() == fit(ratings::weighted(table, one), 0)->to_bytes()));
  const auto usual = fit(table, 0.2), less = fit(ratings::weighted(table, four), 0.8),
             weights = fit(ratings::weighted(table, some), 0.2),
             copies = fit(ratings::weighted(table, some, true), 0.2);
  BOOST_TEST(weights->info.rows == std::int64_t(table.cells.size()));
  for (std::int32_t i = 0; i < 40; ++i) {
    BOOST_TEST(std::abs(weights->predict(i, i).mean - copies->predict(i, i).mean) < 1e-7);
    BOOST_TEST(std::abs(usual->predict(i, i).mean - less->predict(i, i).mean) < 1e-7);
  }
  // noise_sd, rmse and norm of every draw, and log_joint
  const std::vector<double> &a = usual->draws.values, &b = less->draws.values;
  const std::vector<std::string> &names = usual->draws.quantities;
  BOOST_REQUIRE((a.size() == b.size() && a.size() % names.size() == 0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double factor = names[i % names.size()] == "noise_sd" ? 2 : 1;
    BOOST_TEST(std::abs(b[i] - factor * a[i]) < 1e-6 * (1 + std::abs(a[i])),
               names[i % names.size()]);
  }
}

BOOST_AUTO_TEST_CASE(recommendations_leave_out_rated_columns) {
  const PmfModel &model = usual_model();
  std::vector<bool> rated(250);
  for (const Cell &cell : usual_data().fitted.cells)
    if (cell.row == 17) rated[std::size_t(cell.column)] = true;
  const auto unrated = std::size_t(std::count(rated.begin(), rated.end(), false));
  const auto all = model.recommend(17, 1000, false);
  BOOST_TEST(all.size() == unrated);
  for (std::size_t i = 0; i < all.size(); ++i) {
    BOOST_TEST(!rated[std::size_t(all[i].column)]);
    const PmfPrediction p = model.predict(17, all[i].column);
    BOOST_TEST(p.mean == all[i].prediction.mean);
    BOOST_TEST(p.sd == all[i].prediction.sd);
    if (i) BOOST_TEST(all[i - 1].prediction.mean >= p.mean);
  }
  BOOST_TEST(model.recommend(17, 3, false).size() == 3U);
  BOOST_TEST(model.recommend(17, 3, false)[2].column == all[2].column);
  BOOST_TEST(model.recommend(17, 1000, true).size() == 250U);
  BOOST_TEST(model.recommend(-1, 1000, false).size() == 250U);
  const auto forgetful = ratings::fit(usual_data().fitted, 2, chains_of(1, 4).set("rated", false));
  BOOST_TEST(error_of([&] { forgetful->recommend(0, 3, false); }) ==
             "the model does not store which cells had numbers");
  BOOST_TEST(forgetful->recommend(0, 300, true).size() == 250U);
}

/// Columns 0 and 1 are the same but for noise; 2 is their opposite.
BOOST_AUTO_TEST_CASE(similar_columns) {
  for (const bool hierarchical : {false, true}) {
    Random random(12);
    Cells table{200, 20, {}};
    for (std::int32_t i = 0; i < 200; ++i) {
      const double taste = random.normal(), second = random.normal();
      for (std::int32_t j = 0; j < 20; ++j)
        table.cells.push_back({i, j,
                               (j < 2    ? taste
                                : j == 2 ? -taste
                                         : second * (j % 5)) +
                                   0.3 * random.normal()});
    }
    const auto model =
        ratings::fit(table, 3,
                     chains_of(2, 100)
                         .set("means", false)
                         .set("prior", Document::object().set("hierarchical", hierarchical)));
    const auto similar = model->similar(Side::column, 0, 100);
    BOOST_TEST(similar.size() == 19U);
    BOOST_TEST(similar[0].key == 1);
    BOOST_TEST(similar[0].similarity > 0.9);
    BOOST_TEST(similar.back().key == 2);
    BOOST_TEST(similar.back().similarity < -0.9);
    BOOST_TEST(similar[5].sd < 0.3);
    BOOST_TEST(model->similar(Side::row, 5, 7).size() == 7U);
  }
}

BOOST_AUTO_TEST_CASE(edge_cases) {
  const auto sizes = {std::pair(1, 1), std::pair(1, 6), std::pair(5, 1), std::pair(3, 4)};
  for (const auto &[rows, columns] : sizes)
    for (const bool hierarchical : {false, true})
      for (const double unit : {1.0, 1e300, 1e-300, 0.0}) {
        Cells table{rows, columns, {}};
        Random random(3);
        for (std::int32_t i = 0; i < rows; ++i)
          for (std::int32_t j = 0; j < columns; ++j)
            if (i + j != 3) table.cells.push_back({i, j, unit * (random.uniform() - 0.5)});
        BOOST_TEST_CONTEXT(rows << " x " << columns << ", unit " << unit) {
          // rank > keys
          const auto model = ratings::fit(
              table, 9,
              chains_of(2, 40).set("prior", Document::object().set("hierarchical", hierarchical)));
          check_finite(*model);
          for (const double x : model->draws.values) BOOST_TEST(std::isfinite(x));
          const std::string bytes = model->to_bytes();
          BOOST_TEST((Model::from_bytes(bytes)->to_bytes() == bytes));
        }
      }
  // The same in other units.
  Cells one = ratings::synthetic(20, 10, 2, 0.4, 6).fitted, large = one;
  for (Cell &cell : large.cells) cell.x *= 0x1p990;
  const auto small_model = ratings::fit(one, 2, chains_of(1, 30)),
             large_model = ratings::fit(large, 2, chains_of(1, 30));
  BOOST_TEST(large_model->predict(3, 4).mean == 0x1p990 * small_model->predict(3, 4).mean,
             boost::test_tools::tolerance(1e-6));
  const Cells beyond{2, 2, {{0, 1, 1}, {1, 0, 1.1e300}}};
  BOOST_TEST(error_of([&] { ratings::fit(beyond, 1, Document()); }) ==
             "the number of row \"r100001\", column \"c100000\" is 1.1e+300, but numbers must be "
             "within 1e300 of 0");
  BOOST_TEST(error_of([&] {
               ratings::fit({2, 2, {}}, 1, Document());
             }) == "there are no numbers to fit");
}

BOOST_AUTO_TEST_CASE(invalid_options_are_refused) {
  const Cells table = ratings::synthetic(10, 8, 1, 0.5, 2).fitted;
  const auto message_of = [&](int rank, const Document &options) {
    return error_of([&] { ratings::fit(table, rank, options); });
  };
  const auto prior = [](const char *key, Document value) {
    return Document::object().set("prior", Document::object().set(key, std::move(value)));
  };
  BOOST_TEST(message_of(0, {}) == "the rank is 0, but must be from 1 to 1000");
  BOOST_TEST(message_of(2, prior("c", 0)) ==
             "option \"prior.c\" is 0, but must be a number greater than 0, or an object with "
             "shape and rate of the gamma distribution of its inverse");
  BOOST_TEST(message_of(2, prior("noise_variance", 1e-30)) ==
             "option \"prior.noise_variance\" is 1e-30, which is out of proportion to the numbers");
  BOOST_TEST(message_of(2, prior("c", Document::object().set("shape", -1))) ==
             "option \"prior.c.shape\" is -1, but must be a number greater than 0 and at "
             "most 1000000000");
  Document both = prior("c", 1);
  both.set("prior", Document::object().set("hierarchical", true).set("c", 1));
  BOOST_TEST(message_of(2, both) == "option \"prior.c\" does not apply to a hierarchical prior");
  BOOST_TEST(message_of(2, Document::object().set("repeated", "sum")).substr(0, 27) ==
             "option \"repeated\" is \"sum\",");
  const FactorTableOptions read = pmf_check_options(3, Document::object().set("repeated", "last"));
  BOOST_TEST((read.repeated == FactorTableOptions::Repeated::last));
  BOOST_TEST(read.missing);
  BOOST_TEST(read.transposed);
  BOOST_TEST(!read.non_negative);
}

BOOST_AUTO_TEST_CASE(documents_are_read_back_and_checked) {
  const Cells table = ratings::synthetic(40, 70, 2, 0.2, 4).fitted;
  for (const bool hierarchical : {false, true})
    for (const bool means : {false, true}) {
      const auto model =
          ratings::fit(table, 2,
                       chains_of(2, 12)
                           .set("means", means)
                           .set("prior", Document::object().set("hierarchical", hierarchical)));
      const Document document = model->to_document();
      const auto back = Model::from_document(document);
      BOOST_TEST(back->to_document().to_json() == document.to_json());
      BOOST_TEST((back->to_bytes() == model->to_bytes()));
      const auto &read = dynamic_cast<const PmfModel &>(*back);
      BOOST_TEST(read.predict(3, 5).mean == model->predict(3, 5).mean);
      BOOST_TEST(read.recommend(3, 50, false).size() == model->recommend(3, 50, false).size());

      const auto refusal = [&](const char *key, Document value) {
        Document wrong = document;
        wrong.set(key, std::move(value));
        return error_of([&] { Model::from_document(wrong); });
      };
      const auto side_with = [&](const char *side, const char *key, Document value) {
        Document out = *document.find(side);
        out.set(key, std::move(value));
        return refusal(side, std::move(out));
      };
      const std::int64_t draws = model->stored_draws();
      const Tensor zeros{{draws}, std::vector<double>(std::size_t(draws))};
      const auto refused = [](const std::string &error, const std::string &about) {
        return error.find(about) != std::string::npos;
      };
      BOOST_TEST(refused(refusal("scale", 0.0), "scale"));
      BOOST_TEST(refused(refusal("center", "x"), "center"));
      BOOST_TEST(refused(refusal("noise", zeros), "noise"));
      BOOST_TEST(refused(refusal("noise", Tensor{{0}, {}}), "noise"));
      BOOST_TEST(refused(refusal("method", "vi"), "method"));
      BOOST_TEST(refused(refusal("dimension", 3), "dimension"));
      BOOST_TEST(refused(refusal("components", 3), "vectors"));
      BOOST_TEST(refused(refusal("row_draws", Document()), "row_draws"));
      BOOST_TEST(refused(side_with("row_draws", "keys", Document::List{}), "keys"));
      BOOST_TEST(refused(side_with("column_draws", "vectors", zeros), "vectors"));
      if (means) {
        BOOST_TEST(refused(side_with("column_draws", "spread", zeros), "spread"));
        BOOST_TEST(refused(side_with("row_draws", "means", Document()), "means"));
      }
      if (hierarchical)
        BOOST_TEST(
            refused(side_with("row_draws", "covariance",
                              Tensor{{draws, 2, 2}, std::vector<double>(std::size_t(4 * draws))}),
                    "covariance"));
      else
        BOOST_TEST(refused(refusal("c", zeros), "\"c\""));
      // 40 rows, each ended by a period; the first has these columns.
      const auto rated_with = [&](const std::string &first) {
        const std::string all = *document.find("rated")->as<std::string>();
        return refusal("rated", first + all.substr(all.find('.')));
      };
      BOOST_TEST(rated_with("") == "no error");
      BOOST_TEST(rated_with("gC") == "no error");  // column 64
      for (const char *const wrong : {"!", "g", "99999999B", "gA", "gD", ".", "A."})
        BOOST_TEST(refused(rated_with(wrong), "rated"), wrong);
      BOOST_TEST(refused(refusal("rated", "A."), "rated"));
      BOOST_TEST(refused(refusal("rated", Document::List{}), "rated"));
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(models_of_many_keys_can_be_cancelled) {
  Cells cells{1, 150000, {}};
  for (std::int32_t j = 0; j < cells.columns; ++j) cells.cells.push_back({0, j, double(j % 7)});
  Table table(cells);
  using support::polls_of;
  Control control;
  const auto model = pmf_fit(table.table, 1, chains_of(1, 4), control);
  std::size_t found = 0;
  // in the order of so many, too
  BOOST_TEST(polls_of([&] { found = model->recommend(0, cells.columns, true).size(); }) > 8);
  BOOST_TEST(found == std::size_t(cells.columns));
  BOOST_TEST(polls_of([&] { found = model->similar(Side::column, 0, cells.columns).size(); }) > 8);
  BOOST_TEST(found == std::size_t(cells.columns) - 1);
  Document document;
  BOOST_TEST(polls_of([&] { document = model->to_document(); }) > cells.columns / 4096);
  BOOST_TEST(polls_of([&] { read_pmf_model(document); }) > 2 * cells.columns / 4096);
}
