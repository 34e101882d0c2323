#include "markov/markov_response.hpp"

namespace bayes::markov {
namespace {

/// f(entry of `of`) for the entries that are not structural zeros of q.
template <class Of, class F> void for_each_possible(const MarkovWeights &q, Of &of, F f) {
  for (Eigen::Index i = 0; i < q.initial.size(); ++i)
    if (q.initial(i) > 0) f(of.initial(i));
  for (Eigen::Index i = 0; i < q.transition.rows(); ++i)
    for (Eigen::Index j = 0; j < q.transition.cols(); ++j)
      if (q.transition(i, j) > 0) f(of.transition(i, j));
}

}  // namespace

Vector natural_parameters(const MarkovWeights &q) {
  std::vector<double> out;
  for_each_possible(q, q, [&out](double alpha) { out.push_back(alpha); });
  return Eigen::Map<const Vector>(out.data(), Eigen::Index(out.size()));
}

MarkovWeights from_natural_parameters(const Vector &natural, const MarkovWeights &about) {
  MarkovWeights out = about;
  const double *next = natural.data();
  for_each_possible(about, out, [&next](double &alpha) { alpha = *next++; });
  return out;
}

std::vector<PosteriorFactor> posterior_factors(const MarkovWeights &q) {
  std::vector<PosteriorFactor> out = {dirichlet_factor(possible(q.initial, q.initial))};
  for (Eigen::Index i = 0; i < q.transition.rows(); ++i)
    out.push_back(dirichlet_factor(possible(q.transition.row(i), q.transition.row(i))));
  return out;
}

MarkovWeights deviations(const Vector &found, const MarkovWeights &q, Vector &rest) {
  MarkovWeights out{Vector::Zero(q.initial.size()),
                    Matrix::Zero(q.transition.rows(), q.transition.cols())};
  const double *next = found.data();
  for_each_possible(q, out, [&next](double &deviation) { deviation = *next++; });
  rest = found.tail(found.size() - (next - found.data()));
  return out;
}

}  // namespace bayes::markov
