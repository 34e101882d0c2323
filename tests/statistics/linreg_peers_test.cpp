// Linear regression against other software on the diabetes data: least squares with the intervals
// of R's lm, and scikit-learn's BayesianRidge. Their figures are in reference/linreg.csv, written
// by reference_linreg.py.
#include "../core/linreg_support.hpp"

using namespace linreg;
using support::distance;

namespace {

struct Figures {
  double mean, sd, lower, upper;
};

std::vector<std::vector<std::string>> csv(const std::string &path) {
  std::ifstream file(path);
  BOOST_REQUIRE(file);
  std::vector<std::vector<std::string>> out;
  for (std::string line; std::getline(file, line);) {
    out.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) out.back().push_back(cell);
  }
  return out;
}

std::map<std::string, Figures> reference(const std::string &method) {
  std::map<std::string, Figures> out;
  for (const auto &row : csv(BAYES_TEST_DATA "/../statistics/reference/linreg.csv"))
    if (row[0] == method)
      out[row[1]] = {std::stod(row[2]), std::stod(row[3]), std::stod(row[4]), std::stod(row[5])};
  return out;
}

struct Diabetes {
  Diabetes() {
    const auto table = csv(BAYES_TEST_DATA "/diabetes.csv");
    const std::size_t d = table[0].size() - 1;
    for (std::size_t j = 0; j < d; ++j) columns.push_back({table[0][j]});
    for (std::size_t i = 1; i < table.size(); ++i) {
      rows.x.emplace_back();
      for (std::size_t j = 0; j < d; ++j) rows.x.back().push_back(std::stod(table[i][j]));
      rows.y.push_back(std::stod(table[i][d]));
    }
    sums = sums_of(rows, columns);
  }
  RowColumns columns;
  Rows rows;
  LinregSums sums;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(linreg_peers)

BOOST_AUTO_TEST_CASE(lm) {
  const Diabetes data;
  const auto model = fit(data.sums, {{"prior", prior({{"c", 0}, {"a", 0}, {"b", 0}})}});
  const auto of_lm = reference("lm");
  const double freedom = double(data.rows.size()) - 11, wider = std::sqrt(freedom / (freedom - 2));
  int terms = 0;
  for (const Coefficient &c : coefficients(*model)) {
    const Figures &lm = of_lm.at(*c.term);
    BOOST_CHECK_SMALL(distance(c.mean, lm.mean), 1e-10);
    BOOST_CHECK_SMALL(distance(c.sd, lm.sd * wider), 1e-10);
    BOOST_CHECK_SMALL(distance(c.lower, lm.lower), 1e-10);
    BOOST_CHECK_SMALL(distance(c.upper, lm.upper), 1e-10);
    ++terms;
  }
  BOOST_CHECK_EQUAL(terms, 11);
  const auto p = *model->predict(data.rows.x[0], 0.95);
  const Figures &confidence = of_lm.at("confidence"), &prediction = of_lm.at("prediction");
  BOOST_CHECK_SMALL(distance(p.mean, confidence.mean), 1e-10);
  BOOST_CHECK_SMALL(distance(p.mean_lower, confidence.lower), 1e-10);
  BOOST_CHECK_SMALL(distance(p.mean_upper, confidence.upper), 1e-10);
  BOOST_CHECK_SMALL(distance(p.lower, prediction.lower), 1e-10);
  BOOST_CHECK_SMALL(distance(p.upper, prediction.upper), 1e-10);
}

// Under the precisions that it has estimated, its posterior is the exact one; and variational
// inference with its priors estimates about the same.
BOOST_AUTO_TEST_CASE(bayesian_ridge) {
  const Diabetes data;
  const auto ridge = reference("ridge");
  const Figures &precisions = ridge.at("precisions");  // alpha and lambda
  const auto exact = fit(data.sums, {{"noise_variance", 1 / precisions.mean},
                                     {"prior", prior({{"lambda", precisions.sd}})}});
  const auto vi =
      fit(data.sums, {{"method", "vi"},
                      {"standardize", false},
                      {"prior", prior({{"a", 1e-6}, {"b", 1e-6}, {"e", 1e-6}, {"f", 1e-6}})}});
  const auto by_vi = coefficients(*vi);
  std::size_t term = 0;
  for (const Coefficient &c : coefficients(*exact)) {
    const Figures &theirs = ridge.at(*c.term);
    BOOST_CHECK_SMALL(distance(c.mean, theirs.mean), 1e-8);
    if (*c.term == "(intercept)") {
      ++term;
      continue;
    }
    BOOST_CHECK_SMALL(distance(c.sd, theirs.sd), 1e-8);
    BOOST_CHECK_SMALL(distance(c.upper, theirs.upper), 1e-8);
    BOOST_CHECK_SMALL((by_vi[term].mean - theirs.mean) / theirs.sd, 0.2);
    BOOST_CHECK_SMALL(by_vi[term].sd / theirs.sd - 1, 0.1);
    ++term;
  }
  BOOST_CHECK_EQUAL(term, 11);
}

BOOST_AUTO_TEST_SUITE_END()
