#include "families/product/product_parameters.hpp"

#include <cmath>
#include <string_view>

namespace bayes {

std::vector<Parameter> element_parameters(const ProductPoint &point, int k, int j) {
  std::vector<Parameter> out;
  const Column &column = point.columns->column(j);
  const double *const numbers = point.column(k, j);
  for (const char *const name : column.parameters) {
    const bool root = std::string_view(name) == "variance";
    for (int i = 0; i < column.numbers_per_name(); ++i) {
      const int number = int(out.size());
      Parameter next{.component = k, .element = j};
      next.likelihood = column.name;
      next.name = root ? "sd" : name;
      if (column.by_value) next.category = column.value(i);
      next.value = root ? std::sqrt(numbers[number]) : numbers[number];
      next.number = point.columns->offsets(j).point + number;
      next.root = root;
      out.push_back(next);
    }
  }
  return out;
}

std::vector<Parameter> known_parameters(const ProductPoint &point, int k, int j) {
  std::vector<Parameter> out;
  const Column &column = point.columns->column(j);
  const std::vector<double> &known = point.columns->specs()[std::size_t(j)].known;
  for (std::size_t i = 0; i < known.size(); ++i) {
    Parameter next{.component = k, .element = j};
    next.likelihood = column.name;
    next.name = column.known_parameters[i].key;
    next.value = known[i];
    out.push_back(next);
  }
  return out;
}

void add_marginals(const ProductPosterior &q, int k, int j, std::vector<Marginal> &out) {
  const Column &column = q.columns->column(j);
  const std::size_t before = out.size();
  out.resize(before + column.parameters.size() * std::size_t(column.numbers_per_name()));
  column.marginals(q.column(k, j), out.data() + before);
}

}  // namespace bayes
