#include "markov/markov_learners.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/special.hpp"
#include "families/dirichlet.hpp"

namespace bayes {
namespace {

using markov::possible;

double divergence_of(const Vector &q, const Vector &prior) {
  return dirichlet_divergence(possible(q, prior), possible(prior, prior));
}
double log_density_of(const Vector &p, const Vector &prior) {
  return dirichlet_log_density(possible(p, prior), possible(prior, prior));
}

/// f(row of a, row of b) summed over the initial distribution and all rows of the transition
/// matrix.
double over_rows(const MarkovWeights &a, const MarkovWeights &b,
                 double (*f)(const Vector &, const Vector &)) {
  double total = f(a.initial, b.initial);
  for (Eigen::Index i = 0; i < a.transition.rows(); ++i)
    total += f(a.transition.row(i), b.transition.row(i));
  return total;
}

/// Shares of counts. Without counts (a sum of at most `none`), equal shares of the possible
/// entries.
Vector shares(const Vector &counts, const Vector &before, double none) {
  const double sum = counts.sum();
  if (sum > none) return counts / sum;
  const Vector possible = (before.array() > 0).cast<double>();
  return possible / possible.sum();
}

Vector mode(const Vector &counts, const Vector &alpha, const Vector &before, double none) {
  return shares(counts + alpha.unaryExpr([](double a) { return a > 0 ? a - 1 : 0; }), before, none);
}

Vector expected_logs(const Vector &alpha) {
  const double whole = digamma(alpha.sum());
  return alpha.unaryExpr([whole](double a) { return a > 0 ? digamma(a) - whole : minus_infinity; });
}

/// A scalar logarithm: Eigen's vectorised one may give equal probabilities logarithms that differ
/// in the last bit, and equally probable paths would not tie.
double log_of(double p) { return std::log(p); }

}  // namespace

void MarkovCounts::scale(double factor) {
  initial *= factor;
  transitions *= factor;
  count *= factor;
}

namespace markov {

Vector possible(const Vector &of, const Vector &alpha) {
  Vector out(of.size());
  Eigen::Index n = 0;
  for (Eigen::Index i = 0; i < of.size(); ++i)
    if (alpha(i) > 0) out(n++) = of(i);
  return out.head(n);
}

double negligible_count(const MarkovCounts &counts) { return 1e-9 * counts.count.sum(); }

MarkovWeights maximum_likelihood(const MarkovCounts &counts, const MarkovWeights &before) {
  const double none = negligible_count(counts);
  MarkovWeights out{shares(counts.initial, before.initial, 0), before.transition};
  for (Eigen::Index i = 0; i < out.transition.rows(); ++i)
    out.transition.row(i) = shares(counts.transitions.row(i), before.transition.row(i), none);
  return out;
}

MarkovWeights maximum_posterior(const MarkovCounts &counts, const MarkovWeights &prior,
                                const MarkovWeights &before) {
  const double none = negligible_count(counts);
  MarkovWeights out{mode(counts.initial, prior.initial, before.initial, 0), before.transition};
  for (Eigen::Index i = 0; i < out.transition.rows(); ++i)
    out.transition.row(i) =
        mode(counts.transitions.row(i), prior.transition.row(i), before.transition.row(i), none);
  return out;
}

MarkovWeights posterior(const MarkovCounts &counts, const MarkovWeights &prior) {
  return {(prior.initial.array() > 0).select(prior.initial + counts.initial, 0.0),
          (prior.transition.array() > 0).select(prior.transition + counts.transitions, 0.0)};
}

MarkovWeights natural_gradient_step(const MarkovWeights &from, const MarkovWeights &to,
                                    double rho) {
  return {(1 - rho) * from.initial + rho * to.initial,
          (1 - rho) * from.transition + rho * to.transition};
}

double log_density(const MarkovWeights &point, const MarkovWeights &prior) {
  return over_rows(point, prior, log_density_of);
}

double divergence(const MarkovWeights &q, const MarkovWeights &prior) {
  return over_rows(q, prior, divergence_of);
}

MarkovWeights mean(const MarkovWeights &q) {
  return {q.initial / q.initial.sum(),
          q.transition.array().colwise() / q.transition.rowwise().sum().array()};
}

Matrix reordered(const Matrix &transition, const std::vector<int> &order) {
  Matrix out(transition.rows(), transition.cols());
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = 0; j < order.size(); ++j)
      out(Eigen::Index(i), Eigen::Index(j)) = transition(order[i], order[j]);
  return out;
}

MarkovCounts reordered(const MarkovCounts &of, const std::vector<int> &order) {
  return {pick_entries(of.initial, order), reordered(of.transitions, order),
          pick_entries(of.count, order)};
}

MarkovWeights reordered(const MarkovWeights &of, const std::vector<int> &order) {
  return {pick_entries(of.initial, order), reordered(of.transition, order)};
}

MarkovChain log_chain(const MarkovWeights &point) {
  return {point.initial.unaryExpr(&log_of), point.transition.unaryExpr(&log_of)};
}

MarkovChain expected_log_chain(const MarkovWeights &q) {
  Matrix transition(q.transition.rows(), q.transition.cols());
  for (Eigen::Index i = 0; i < transition.rows(); ++i)
    transition.row(i) = expected_logs(q.transition.row(i));
  return {expected_logs(q.initial), transition};
}

MarkovChain average_log_chain(std::span<const MarkovWeights *const> points) {
  const auto average = [points](auto entries) {
    auto sum = entries(*points[0]).eval(), possible = sum;
    sum.setZero();
    possible.setZero();
    for (const MarkovWeights *const point : points) {
      poll_here();
      sum += entries(*point).cwiseMax(std::numeric_limits<double>::min()).unaryExpr(&log_of);
      possible += entries(*point);
    }
    for (Eigen::Index i = 0; i < sum.size(); ++i)
      sum(i) = possible(i) > 0 ? sum(i) / double(points.size()) : minus_infinity;
    return sum;
  };
  return {average([](const MarkovWeights &point) -> const Vector & { return point.initial; }),
          average([](const MarkovWeights &point) -> const Matrix & { return point.transition; })};
}

MarkovCounts counts_of(const MarkovSums &sums) {
  const Eigen::Index k = Eigen::Index(sums.initial.size());
  return {Eigen::Map<const Vector>(sums.initial.data(), k),
          Eigen::Map<const Matrix>(sums.transitions.data(), k, k).transpose(),
          Eigen::Map<const Vector>(sums.visits.data(), k)};
}

}  // namespace markov

SequenceMinibatches::SequenceMinibatches(const Sequences &from, std::int64_t batch,
                                         const Control &control)
    : from_(from),
      control_(control),
      size_(batch),
      shape_(from.rows.shape()),
      rows_(shape_) {
  if (whole()) return;
  require_minibatch_memory(bytes(double(size_) / double(from.count) * double(from.rows.rows())),
                           control);
  Buffer block(shape_.block_doubles());
  for (std::int64_t row = 0; row < from.rows.rows(); ++row) {
    poll_in_loop(std::size_t(row));
    if (row % block_rows == 0) from_.rows.read_block(row / block_rows, block.data());
    const double weight =
        block[std::size_t(shape_.dimension) * block_rows + std::size_t(row % block_rows)];
    if (weight < 0) starts_.push_back(row);
  }
}

const Sequences &SequenceMinibatches::draw(Random random) {
  rows_.clear();
  batch_.emplace(Sequences{rows_, from_.dimension, from_.labelled});
  batch_->values = from_.values;
  SequenceWriter writer(*batch_, shape_,
                        [this](const double *x, double weight) { rows_.append(x, weight); });
  Buffer block(shape_.block_doubles());
  std::vector<double> x(std::size_t(shape_.dimension)), all;
  WorkPoll poll;
  for (std::int64_t i = 0; i < size_; ++i) {
    const std::int64_t start = starts_[std::size_t(random.below(std::uint64_t(starts_.size())))];
    // The length is not stored: read up to the beginning of the next sequence.
    all.clear();
    double weight = 0;
    for (std::int64_t row = start; row < from_.rows.rows(); ++row) {
      if (row == start || row % block_rows == 0) {
        poll(block.size());
        from_.rows.read_block(row / block_rows, block.data());
      }
      const double *const at = block.data() + row % block_rows;
      const double w = at[std::size_t(shape_.dimension) * block_rows];
      if (row > start && !(w > 0)) break;
      weight = std::abs(w);
      for (std::size_t j = 0; j < x.size(); ++j) all.push_back(at[j * block_rows]);
    }
    require_minibatch_memory(bytes(double(rows_.rows()) + double(all.size() / x.size())) / 2,
                             control_);
    writer.begin(std::int64_t(all.size() / x.size()), weight);
    for (std::size_t at = 0; at < all.size(); at += x.size()) writer.step(all.data() + at);
  }
  return *batch_;
}

}  // namespace bayes

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
