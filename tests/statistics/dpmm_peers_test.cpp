// The posterior of a Dirichlet process mixture against R's bayesm (rDPGibbs), on real data: one
// prior, two programs.
//
// bayesm's figures are in reference/dpmm_bayesm.csv, written by reference_bayesm.R: the share of
// 50,000 draws with each number of clusters.
#include <map>

#include "../core/support.hpp"
#include "mixture/dpmm.hpp"

using namespace support;

BOOST_AUTO_TEST_SUITE(dpmm_peers)

BOOST_AUTO_TEST_CASE(number_of_clusters_as_bayesm) {
  std::ifstream file(BAYES_TEST_DATA "/../statistics/reference/dpmm_bayesm.csv");
  BOOST_REQUIRE(file);
  std::map<std::string, std::map<int, double>> theirs;
  std::map<std::string, double> concentration;
  std::string line, cell;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    for (std::istringstream in(line); std::getline(in, cell, ',');) cells.push_back(cell);
    const std::string name = cells[0].substr(1, cells[0].size() - 2);
    concentration[name] = std::stod(cells[1]);
    theirs[name][std::stoi(cells[2])] = std::stod(cells[3]);
  }
  BOOST_REQUIRE_EQUAL(theirs.size(), 2u);
  for (const auto &[name, shares] : theirs) {
    Matrix x = data_set(name);
    if (name == "galaxies") x = x.rightCols(1).eval();
    const Eigen::Index n = x.rows(), d = x.cols();
    for (Eigen::Index j = 0; j < d; ++j) {
      x.col(j).array() -= x.col(j).mean();
      x.col(j) /= std::sqrt(x.col(j).squaredNorm() / double(n - 1));
    }
    bayes::MemoryRows rows({int(d), false});
    for (Eigen::Index i = 0; i < n; ++i) {
      const Vector row = x.row(i);
      rows.append(row.data());
    }
    struct : bayes::Control {
    } control;
    for (const char *method : {"collapsed", "slice"}) {
      const Options prior = {{"m", Tensor{{d}, std::vector<double>(std::size_t(d), 0.0)}},
                             {"c", 0.1},
                             {"a", 5},
                             {"B", 0.5}};
      const Options options = {{"method", method},
                               {"draws", 12000},
                               {"warmup", 2000},
                               {"chains", 2},
                               {"concentration", concentration[name]},
                               {"prior", prior}};
      const auto fit = bayes::dpmm_fit(rows, options, control);
      const auto &draws = fit.model->draws;
      std::map<int, double> ours;
      for (std::size_t i = 1; i < draws.values.size(); i += draws.quantities.size())
        ours[int(draws.values[i])] += 1.0 / (double(draws.chains) * draws.draws);
      // Both have effective sample sizes of a few hundred to a few thousand: a difference of 0.05
      // is more than 4 standard errors.
      for (const auto &[clusters, share] : shares) {
        BOOST_TEST_MESSAGE(name << ' ' << method << ' ' << clusters << ": bayesm " << share
                                << ", ours " << ours[clusters]);
        BOOST_TEST(std::abs(ours[clusters] - share) < 0.05, name << ' ' << method << ' ' << clusters
                                                                 << " clusters: bayesm " << share
                                                                 << ", ours " << ours[clusters]);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
