// Probabilistic factorizations that start from a fitted model: chains begin at its draws, in the
// units of the new table.
#include <cmath>

#include "base/linalg.hpp"
#include "factor/pmf_state.hpp"
#include "pmf_support.hpp"

using namespace bayes;
using ratings::Cell, ratings::Cells, ratings::Synthetic, ratings::Table;

namespace {

Document drawing(int draws, int warmup) {
  return Document::object().set("draws", draws).set("warmup", warmup).set("chains", 2);
}

double mean_of(const PmfModel &model, const char *quantity) {
  const Draws &draws = model.draws;
  const auto at = std::find(draws.quantities.begin(), draws.quantities.end(), quantity) -
                  draws.quantities.begin();
  double sum = 0, count = 0;
  for (std::size_t i = std::size_t(at); i < draws.values.size(); i += draws.quantities.size()) {
    sum += draws.values[i];
    ++count;
  }
  return sum / count;
}

std::unique_ptr<PmfModel> from(const Cells &cells, const Document &options, const PmfModel &start) {
  Table table(cells);
  Control control;
  return pmf_fit(table.table, 0, options, control, &start);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pmf_start)

BOOST_AUTO_TEST_CASE(chains_begin_at_draws_of_the_model) {
  const Synthetic data = ratings::synthetic(60, 40, 2, 0.4, 3);
  for (const bool hierarchical : {false, true}) BOOST_TEST_CONTEXT(hierarchical) {
      Document options = drawing(200, 100);
      options.set("prior", Document::object().set("hierarchical", hierarchical));
      const auto start = ratings::fit(data.fitted, 2, options);
      const auto again = from(data.fitted, drawing(4, 0), *start),
                 fresh = ratings::fit(data.fitted, 2, drawing(4, 0));
      BOOST_TEST(again->rank() == 2);
      BOOST_TEST(std::abs(mean_of(*again, "rmse") / mean_of(*start, "rmse") - 1) < 0.05);
      BOOST_TEST(mean_of(*fresh, "rmse") / mean_of(*start, "rmse") > 1.2);
    }
}

BOOST_AUTO_TEST_CASE(other_units_and_exchanged_sides) {
  const Synthetic data = ratings::synthetic(60, 40, 2, 0.4, 3);
  const auto start = ratings::fit(data.fitted, 2, drawing(200, 100));
  Cells other = data.fitted;
  for (Cell &cell : other.cells) cell.x = 50 - 7 * (3 - cell.x);
  const auto scaled = from(other, drawing(4, 0), *start);
  BOOST_TEST(std::abs(mean_of(*scaled, "rmse") / (7 * mean_of(*start, "rmse")) - 1) < 0.06);
  // Fewer rows: the columns are the lines now.
  Cells few = data.fitted;
  few.rows = 30;
  std::erase_if(few.cells, [](const Cell &cell) { return cell.row >= 30; });
  const auto half = from(few, drawing(4, 0), *start);
  BOOST_TEST(std::abs(mean_of(*half, "rmse") / mean_of(*start, "rmse") - 1) < 0.12);
}

BOOST_AUTO_TEST_CASE(new_keys_have_the_distribution_of_their_side) {
  const Synthetic data = ratings::synthetic(60, 40, 2, 0.4, 3);
  for (const bool hierarchical : {false, true}) BOOST_TEST_CONTEXT(hierarchical) {
      Document options = drawing(100, 50);
      options.set("prior", Document::object().set("hierarchical", hierarchical));
      const auto start = ratings::fit(data.fitted, 2, options);
      const PmfModel::State &state = *start->state;
      // 20,000 columns that the model does not know, and one that it knows.
      std::vector<std::string> names = Table::names(20000, 'x');
      names.push_back(Table::name('c', 7));
      const Keys keys(names);
      MemoryCorpus none(0), others(0);
      PmfPrior prior;
      prior.hierarchical = hierarchical;
      const PmfTask task{none, others, 2, {0, 1}, prior, 3};
      const PmfPlace place{state.center, state.scale / 4, Side::column, keys};
      const PmfState begun = pmf_state_of_model(*start, 1, 2, task, place);
      const std::size_t draw = 3 * state.noise.size() / 4;
      const PmfSideDraws &side = state.of(Side::column);
      BOOST_TEST(std::abs(begun.parameters.noise / (16 * state.noise[draw]) - 1) < 1e-12);
      for (std::size_t k = 0; k < 2; ++k)
        BOOST_TEST(std::abs(begun.second.vectors.row(20000)[k] -
                            2 * side.vectors[(draw * side.keys.size() + 7) * 2 + k]) < 1e-12);
      double sum = 0, squares = 0, means = 0, square_means = 0;
      for (std::int32_t j = 0; j < 20000; ++j) {
        sum += begun.second.vectors.row(j)[0] / 2;
        squares += begun.second.vectors.row(j)[0] * begun.second.vectors.row(j)[0] / 4;
        means += begun.second.means[std::size_t(j)] / 4;
        square_means += std::pow(begun.second.means[std::size_t(j)] / 4, 2);
      }
      const double center = hierarchical ? side.center[draw * 2] : 0,
                   variance = hierarchical ? side.covariance[draw * 4] : state.c[draw];
      // Five standard errors of the means, and of the variances, which are 1 % of them.
      BOOST_TEST(std::abs(sum / 20000 - center) < 5 * std::sqrt(variance / 20000));
      BOOST_TEST(std::abs((squares / 20000 - std::pow(sum / 20000, 2)) / variance - 1) < 0.05);
      BOOST_TEST(std::abs(means / 20000) < 5 * std::sqrt(side.spread[draw] / 20000));
      BOOST_TEST(std::abs(square_means / 20000 / side.spread[draw] - 1) < 0.05);
    }
}

BOOST_AUTO_TEST_SUITE_END()
