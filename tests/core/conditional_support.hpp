// Conditional models of the models of questions_support.hpp.
#pragma once

#include "questions/conditional_model.hpp"
#include "questions_support.hpp"

namespace questions {

using bayes::Model;

inline std::unique_ptr<Model> copy_of(const Model &model) {
  return Model::from_bytes(model.to_bytes());
}

inline std::unique_ptr<Model> given(const Asked &asked, const std::vector<double> &row) {
  const auto checked = asked.distribution->checked(row);
  return condition(copy_of(*asked.model), std::vector<double>(checked.begin(), checked.end()));
}

/// The elements of x that `pattern` has no bits for.
inline std::vector<double> remaining(const std::vector<double> &x, unsigned pattern) {
  std::vector<double> out;
  for (std::size_t j = 0; j < x.size(); ++j)
    if (!(pattern >> j & 1)) out.push_back(x[j]);
  return out;
}

/// Calls use(x, pattern) for a few rows and every pattern of given elements that leaves some.
template <class Use> void each_pattern(const Asked &asked, Use use) {
  const unsigned whole = (1u << asked.rows.cols()) - 1;
  for (Eigen::Index i = 0; i < 2; ++i)
    for (unsigned pattern = 1; pattern < whole; ++pattern)
      use(support::row(asked.rows, i), pattern);
}

}  // namespace questions
