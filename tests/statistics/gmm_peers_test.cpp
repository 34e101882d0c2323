// Against scikit-learn and R's mclust, on real data: optima at least as good, and the same iterates
// from the same starts.
//
// Their figures are in reference/*.csv, written by reference_sklearn.py and reference_mclust.R. Run
// with --log_level=message for a table.
#include <map>

#include "../core/support.hpp"

using namespace support;

namespace {

/// The lines of a reference file, cell by cell, without the header.
std::vector<std::vector<std::string>> reference(const std::string &name) {
  std::ifstream file(BAYES_TEST_DATA "/../statistics/reference/" + name);
  BOOST_REQUIRE_MESSAGE(file, "no reference file " + name);
  std::vector<std::vector<std::string>> out;
  std::string line, cell;
  std::getline(file, line);
  while (std::getline(file, line)) {
    out.emplace_back();
    for (std::istringstream cells(line); std::getline(cells, cell, ',');)
      out.back().push_back(cell);
  }
  BOOST_REQUIRE(!out.empty());
  return out;
}

std::vector<double> numbers(const std::string &text) {
  std::istringstream in(text);
  std::vector<double> out;
  for (double x; in >> x;) out.push_back(x);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gmm_peers)

// Two standards. "usual": the optimum that a peer finds by default (mclust from its hierarchical
// start, scikit-learn from ten k-means starts) must be found by one of five seeds with default
// options. "best": the best that a peer found in all (31 and 60) runs must be found with 40
// restarts by 280 of 300 fits, five seeds for each case, and in each case by one of at most twenty
// seeds: of wine with five full covariances, 524 parameters for 178 rows, by 4 of twenty. The table
// has the five seeds.
BOOST_AUTO_TEST_CASE(optima_are_at_least_as_good) {
  std::map<std::string, std::vector<double>> ours;
  std::map<std::string, int> met, asked;
  for (const char *file : {"optima_mclust.csv", "optima_sklearn.csv"})
    for (const auto &line : reference(file)) {
      const std::string &data = line[0], &covariance = line[2],
                        name = data + ' ' + line[1] + ' ' + covariance,
                        standard = line[3] + ' ' + line[5];
      auto &found = ours[name + line[5]];
      const auto objective = [&](int seed) {
        Options options = {{"method", "em"}, {"covariance", covariance}, {"seed", seed}};
        if (line[5] == "best") options.push_back({"restarts", 40});
        return fit(data_set(data), std::stoi(line[1]), options)->info.objective;
      };
      for (int seed = int(found.size()) + 1; seed <= 5; ++seed) found.push_back(objective(seed));
      const double theirs = std::stod(line[6]), enough = theirs - 1e-5 * std::abs(theirs);
      const auto good =
          std::count_if(found.begin(), found.end(), [&](double v) { return v >= enough; });
      asked[standard] += 5;
      met[standard] += int(good);
      std::ostringstream differences;
      for (const double v : found) differences << ' ' << v - theirs;
      BOOST_TEST_MESSAGE(name << ", " << standard << ": " << theirs << ", ours minus theirs"
                              << differences.str());
      bool once = good >= 1;
      for (int seed = 6; !once && line[5] == "best" && seed <= 20; ++seed)
        once = objective(seed) >= enough;
      BOOST_TEST(once, name << ", " << standard << ": " << theirs << ", ours minus theirs"
                            << differences.str());
    }
  for (const auto &[standard, n] : asked) {
    BOOST_TEST_MESSAGE(standard << ": met by " << met[standard] << " of " << n << " fits");
    BOOST_TEST(met[standard] >= n - 20, standard);
  }
}

BOOST_AUTO_TEST_CASE(equal_starts_give_equal_iterates) {
  double most = 0;
  for (const auto &line : reference("paths_sklearn.csv")) {
    const std::string &data = line[0], &covariance = line[2];
    const int k = std::stoi(line[1]), iterations = std::stoi(line[5]);
    const Matrix x = data_set(data);
    const auto n = x.rows(), d = x.cols();
    // The start of reference_sklearn.py: evenly spaced rows, weights 1 : 2 : .., each component
    // with the covariance of all rows.
    const Matrix centred = x.rowwise() - x.colwise().mean();
    Matrix spread = centred.transpose() * centred / double(n);
    spread = (spread + spread.transpose()).eval() / 2;
    if (covariance == "diagonal") spread = Matrix(spread.diagonal().asDiagonal());
    if (covariance == "spherical") spread = spread.diagonal().mean() * Matrix::Identity(d, d);
    std::vector<bayes::GmmComponent> start;
    for (int j = 0; j < k; ++j)
      start.push_back({2.0 * (j + 1) / (k * (k + 1)),
                       0,
                       row(x, j * n / k),
                       {spread.data(), spread.data() + spread.size()}});
    const auto begin = point_model(covariance, start);
    const auto model =
        fit(x, k, {{"method", "em"}, {"max_iter", iterations}, {"tol", 0.0}}, {}, begin.get());
    // Ours come sorted by weight.
    const std::vector<double> values = numbers(line[7]);
    const std::size_t each = values.size() / std::size_t(k);
    double away = 0;
    for (int i = 0; i < k; ++i) {
      const auto c = model->component(i);
      const std::vector<double> mine = line[6] == "weights" ? std::vector<double>{c.weight}
                                       : line[6] == "means" ? c.mean
                                                            : c.covariance;
      double nearest = std::numeric_limits<double>::infinity();
      for (int j = 0; j < k; ++j)
        nearest = std::min(
            nearest, distance(mine, {values.begin() + std::ptrdiff_t(std::size_t(j) * each),
                                     values.begin() + std::ptrdiff_t(std::size_t(j + 1) * each)}));
      away = larger(away, nearest);
    }
    most = larger(most, away);
    BOOST_TEST_CONTEXT(data << ' ' << covariance << ' ' << iterations << " iterations, " << line[6])
    BOOST_TEST(away < 1e-6);
  }
  BOOST_TEST_MESSAGE("largest relative distance of a parameter " << most);
}

BOOST_AUTO_TEST_SUITE_END()
