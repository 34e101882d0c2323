// Bayes classifiers against scikit-learn, where they coincide: with probabilities that have uniform
// priors always, as the predictive probability of one value is the estimate with one added; of
// normals and of words, which scikit-learn plugs estimates into, if every row counts so often that
// nothing is left to integrate out.
//
// Its figures are in reference/nb_sklearn.csv, written by reference_nb.py.
#include <map>
#include <numeric>

#include "../core/nb_support.hpp"

using namespace classes;

namespace {

std::vector<std::vector<std::string>> cells_of(const std::string &name) {
  std::ifstream file(BAYES_TEST_DATA "/" + name + ".csv");
  BOOST_REQUIRE_MESSAGE(file, "no file " + name);
  std::vector<std::vector<std::string>> out;
  for (std::string line, cell; std::getline(file, line);) {
    out.emplace_back();
    for (std::istringstream cells(line); std::getline(cells, cell, ',');)
      out.back().push_back(cell);
  }
  return out;
}

const std::map<std::string, std::string> label_columns = {
    {"iris", "species"}, {"wine", "class"}, {"breast_cancer", "benign"}, {"digits", "label"}};

Rows rows_of_data(const std::string &name, double weight) {
  const auto cells = cells_of(name);
  const auto at = std::size_t(std::find(cells[0].begin(), cells[0].end(), label_columns.at(name)) -
                              cells[0].begin());
  BOOST_REQUIRE(at < cells[0].size());
  Rows out;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    Row row{cells[i][at], {}, weight};
    for (std::size_t j = 0; j < cells[i].size(); ++j)
      if (j != at) row.x.push_back(std::stod(cells[i][j]));
    out.push_back(row);
  }
  return out;
}

struct Method {
  Document options;
  double weight, tolerance;
};

Method method_of(const std::string &name) {
  const double often = 1e9;
  const auto likelihood = [](const char *of) { return Document::object().set("likelihood", of); };
  // The classes' probabilities are the shares of the rows.
  const auto prior = Document::object().set("alpha", 1e-12);
  if (name == "gaussian") return {likelihood("normal").set("prior", prior), often, 1e-6};
  if (name == "multinomial") {
    // One is added to the count of every word, which here counts so often.
    auto words = prior;
    words.set("poisson", Document::object().set("shape", often).set("rate", 1e-9));
    return {likelihood("poisson").set("prior", words), often, 1e-5};
  }
  return {likelihood(name.c_str()).set("prior", prior), 1, 1e-9};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nb_peers)

BOOST_AUTO_TEST_CASE(log_joint_densities_are_those_of_scikit_learn) {
  std::map<std::string, std::pair<Rows, std::unique_ptr<BayesClassifier>>> fits;
  std::map<std::string, int> compared;
  const auto lines = cells_of("../statistics/reference/nb_sklearn");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string &name = lines[i][1], &data = lines[i][2];
    const Method method = method_of(name);
    auto &[rows, model] = fits[name + ' ' + data];
    if (!model) {
      rows = rows_of_data(data, method.weight);
      for (Row &row : rows)
        for (double &x : row.x)
          x = name == "bernoulli" ? double(x > 7.5) : name == "categorical" ? std::floor(x) : x;
      model = fit(rows, method.options);
    }
    const std::vector<double> &x = rows[std::stoul(lines[i][3])].x;
    double ours = model->log_joint(x)[std::size_t(model->find_label(lines[i][4]))];
    if (name == "multinomial") {
      // p(words) = p(how many) p(words | how many), of which scikit-learn has the second, without
      // the multinomial coefficient.
      const std::string &label = lines[i][4];
      double rate = 0, count = 0;
      for (std::size_t j = 0; j < x.size(); ++j) {
        double sum = 1, n = 0;
        for (const Row &row : rows)
          if (row.label == label) {
            sum += row.x[j];
            ++n;
          }
        rate += sum / n;
        count += x[j];
        ours += std::lgamma(x[j] + 1);
      }
      ours += rate - count * std::log(rate);
    }
    BOOST_TEST(
        std::abs(ours - std::stod(lines[i][5])) < method.tolerance * std::max(1.0, std::abs(ours)),
        name << ", " << data << ", row " << lines[i][3] << ": " << ours << ", but " << lines[i][5]);
    ++compared[name];
  }
  BOOST_TEST(compared.size() == 4);
}

// Predictive densities are no worse than estimates plugged in: the mean log probability of the
// right class, of every fifth row by the others.
BOOST_AUTO_TEST_CASE(predictions_of_rows_kept_back) {
  for (const auto &[data, covariance, least] : {std::tuple{"iris", "full", -0.08},
                                                {"wine", "diagonal", -0.12},
                                                {"breast_cancer", "diagonal", -0.6},
                                                {"breast_cancer", "full", -0.25}}) {
    const Rows rows = rows_of_data(data, 1);
    Rows kept, others;
    for (std::size_t i = 0; i < rows.size(); ++i) (i % 5 ? others : kept).push_back(rows[i]);
    const auto model = fit(others, Document::object().set("covariance", covariance));
    double sum = 0;
    int right = 0;
    for (const Row &row : kept) {
      const auto p = probabilities(model->log_joint(row.x));
      sum += std::log(p[std::size_t(model->find_label(row.label))]);
      right += model->labels()[std::size_t(std::max_element(p.begin(), p.end()) - p.begin())] ==
               row.label;
    }
    BOOST_TEST_MESSAGE(data << ", " << covariance << ": " << right << " of " << kept.size()
                            << ", mean log probability " << sum / double(kept.size()));
    BOOST_TEST(sum / double(kept.size()) > least);
  }
}

BOOST_AUTO_TEST_SUITE_END()
