#include "markov/markov_parameters.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace bayes::markov {

Vector stationary(const Matrix &transition) {
  const Eigen::Index k = transition.rows();
  // Reachability of states from each other, as bits (Warshall).
  const std::size_t words = std::size_t(k + 63) / 64;
  std::vector<std::vector<std::uint64_t>> reach(std::size_t(k),
                                                std::vector<std::uint64_t>(words, 0));
  const auto reaches = [&](Eigen::Index i, Eigen::Index j) {
    return reach[std::size_t(i)][std::size_t(j) / 64] >> (j % 64) & 1;
  };
  for (Eigen::Index i = 0; i < k; ++i)
    for (Eigen::Index j = 0; j < k; ++j)
      if (i == j || transition(i, j) > 0)
        reach[std::size_t(i)][std::size_t(j) / 64] |= std::uint64_t(1) << (j % 64);
  for (Eigen::Index via = 0; via < k; ++via)
    for (Eigen::Index i = 0; i < k; ++i)
      if (reaches(i, via))
        for (std::size_t w = 0; w < words; ++w)
          reach[std::size_t(i)][w] |= reach[std::size_t(via)][w];
  // A state belongs to a closed class if every state that it reaches can reach it.
  std::vector<Eigen::Index> recurrent;
  for (Eigen::Index i = 0; i < k; ++i) {
    bool closed = true;
    for (Eigen::Index j = 0; j < k; ++j) closed &= !reaches(i, j) || reaches(j, i);
    if (!closed) continue;
    if (!recurrent.empty() && !reaches(recurrent[0], i))
      return Vector::Constant(k, std::numeric_limits<double>::quiet_NaN());
    recurrent.push_back(i);
  }
  const Eigen::Index n = Eigen::Index(recurrent.size());
  Matrix a(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      a(i, j) = transition(recurrent[std::size_t(i)], recurrent[std::size_t(j)]);
  for (Eigen::Index m = n; m-- > 1;) {
    a.col(m).head(m) /= a.row(m).head(m).sum();
    a.topLeftCorner(m, m) += a.col(m).head(m) * a.row(m).head(m);
  }
  Vector p = Vector::Ones(n), out = Vector::Zero(k);
  for (Eigen::Index m = 1; m < n; ++m) p(m) = p.head(m).dot(a.col(m).head(m));
  p /= p.sum();
  for (Eigen::Index i = 0; i < n; ++i) out(recurrent[std::size_t(i)]) = p(i);
  return out;
}

}  // namespace bayes::markov
