#include "factor/pmf_start.hpp"

#include <algorithm>
#include <cmath>

#include "base/linalg.hpp"

namespace bayes {
namespace {

/// The stream of random numbers of new keys, beside those of pmf_chain.cpp.
constexpr int stream_of_new_keys = 5;

/// Draws vectors of one side in one draw of a model, in its units.
class NewVectors {
 public:
  NewVectors(const PmfModel::State &state, const PmfSideDraws &side, std::size_t draw, int rank)
      : rank_(rank) {
    if (state.hierarchical()) {
      const std::size_t r = std::size_t(rank);
      center_ = side.center.data() + draw * r;
      const Matrix covariance =
          Eigen::Map<const Matrix>(side.covariance.data() + draw * r * r, rank, rank);
      if (!cholesky(covariance, lower_)) lower_ = Matrix::Zero(rank, rank);
    } else {
      deviation_ = std::sqrt(state.c[draw]);
    }
  }
  void draw(Random &random, double factor, double *to) const {
    Vector z(rank_);
    for (int k = 0; k < rank_; ++k) z(k) = random.normal();
    for (int k = 0; k < rank_; ++k) {
      double u = center_ ? center_[k] : deviation_ * z(k);
      for (int l = 0; center_ && l <= k; ++l) u += lower_(k, l) * z(l);
      to[k] = factor * u;
    }
  }

 private:
  int rank_;
  const double *center_ = nullptr;
  Matrix lower_;
  double deviation_ = 0;
};

}  // namespace

PmfState pmf_state_of_model(const PmfModel &start, int chain, int chains, const PmfTask &task,
                            const PmfPlace &place) {
  const PmfModel::State &from = *start.state;
  const PmfSideDraws &second = from.of(place.second), &first = from.of(other(place.second));
  const std::size_t draws = from.noise.size(),
                    draw = (2 * std::size_t(chain) + 1) * draws / (2 * std::size_t(chains)),
                    known = second.keys.size();
  // A number z of the model is z ratio + shift in the fit; beyond these bounds the model is no
  // beginning for it.
  constexpr double far = 1e6;
  const double ratio = std::clamp(from.scale / place.scale, 1 / far, far),
               shift = std::clamp((from.center - place.center) / place.scale, -far, far);

  PmfPrior prior = task.prior;
  if (!prior.noise) prior.noise = from.noise[draw] * ratio * ratio;
  if (!prior.hierarchical && !prior.c && !from.hierarchical()) prior.c = from.c[draw] * ratio;
  PmfState out{{}, first_parameters(prior, task.rank)};
  const bool means = prior.means && from.has_means();
  double level = 0;
  if (means) {
    level = second.level[draw] * ratio;
    out.parameters.sides[pmf_first].level = first.level[draw] * ratio + level + shift;
    out.parameters.sides[pmf_first].spread = first.spread[draw] * ratio * ratio;
    out.parameters.sides[pmf_second].spread = second.spread[draw] * ratio * ratio;
  }

  const std::size_t rank = std::size_t(task.rank);
  const NewVectors fresh(from, second, draw, task.rank);
  const RowRandom own(task.seed, std::uint64_t(chain), 0, stream_of_new_keys);
  out.second.vectors = PaddedMatrix(std::int32_t(place.keys.size()), task.rank);
  if (prior.means) grow(out.second.means, place.keys.size());
  WorkPoll poll;
  for (std::size_t j = 0; j < place.keys.size(); ++j) {
    poll(40 + 2 * rank);
    double *const to = out.second.vectors.row(std::int32_t(j));
    const std::int32_t index = start.code(place.second, place.keys[j]);
    if (index >= 0) {
      const std::size_t at = draw * known + std::size_t(index);
      for (std::size_t k = 0; k < rank; ++k)
        to[k] = std::sqrt(ratio) * second.vectors[at * rank + k];
      if (means) out.second.means[j] = second.means[at] * ratio - level;
      continue;
    }
    Random random(own.bits(std::int32_t(j)));
    fresh.draw(random, std::sqrt(ratio), to);
    if (means) out.second.means[j] = std::sqrt(second.spread[draw]) * ratio * random.normal();
  }
  return out;
}

}  // namespace bayes
