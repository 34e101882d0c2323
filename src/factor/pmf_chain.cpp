#include "factor/pmf_chain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bayes {
namespace {

/// Random streams are selected by the seed, the chain, the sweep and one of these numbers, or, for
/// vectors, the side; each vector has numbers of its own.
enum PmfStream : int { stream_of_priors = 2, stream_of_start = 4 };

}  // namespace

PmfChain::PmfChain(const PmfTask &task, int number, std::optional<PmfState> start)
    : task_(task),
      number_(number),
      keys_{double(task.table.totals().documents), double(task.transposed.totals().documents)},
      cells_(double(task.table.totals().entries)),
      parameters_(first_parameters(task.prior, task.rank)) {
  for (std::size_t side = 0; side < 2; ++side) {
    const std::int64_t keys = corpus(side).totals().documents;
    sides_[side].vectors = PaddedMatrix(std::int32_t(keys), task.rank);
    if (task.prior.means) grow(sides_[side].means, std::size_t(keys));
  }
  if (start) {
    sides_[pmf_second] = std::move(start->second);
    parameters_ = std::move(start->parameters);
    return;
  }
  // The first side is drawn first, given only the vectors of the second.
  PmfSide &second = sides_[pmf_second];
  const double size = 0.1 / std::sqrt(double(task.rank));
  const RowRandom own(task.seed, std::uint64_t(number), 0, stream_of_start);
  WorkPoll poll;
  for (std::int32_t j = 0; j < second.vectors.rows(); ++j) {
    Random key(own.bits(j));
    for (int k = 0; k < task.rank; ++k) second.vectors.row(j)[k] = size * key.normal();
    poll(20 * std::size_t(task.rank));
  }
}

void PmfChain::draw_side(std::size_t side, int index, Control &control) {
  const RowRandom names(task_.seed, std::uint64_t(number_), std::uint64_t(index),
                        std::uint64_t(side));
  sums_[side] = draw_vectors(corpus(side), task_.units, sides_[1 - side], parameters_.sides[side],
                             parameters_.noise, names, sides_[side], control);
  Random own = random(index, stream_of_priors + int(side));
  draw_side_prior(task_.prior, sums_[side], keys_[side], side, own, parameters_);
  if (side == pmf_first) return;
  draw_common(task_.prior, sums_, keys_, cells_, task_.rank, own, parameters_);
  if (task_.prior.hierarchical) rescale_vectors(draw_scale(sums_, task_.rank, own, parameters_));
}

void PmfChain::rescale_vectors(double x) {
  WorkPoll poll;
  for (std::size_t side = 0; side < 2; ++side) {
    const double factor = side == pmf_first ? x : 1 / x;
    PaddedMatrix &vectors = sides_[side].vectors;
    for (std::int32_t i = 0; i < vectors.rows(); ++i) {
      for (int k = 0; k < vectors.stride(); ++k) vectors.row(i)[k] *= factor;
      poll(std::size_t(vectors.stride()));
    }
  }
}

void PmfChain::sweep(int index, Control &control) {
  draw_side(pmf_first, index, control);
  draw_side(pmf_second, index, control);
}

void PmfChain::exchange(StateNumbers &numbers) {
  for (PmfSide &side : sides_) {
    numbers.numbers(side.vectors.values());
    numbers.numbers(side.means);
  }
  numbers.number(parameters_.noise);
  numbers.number(parameters_.c);
  for (PmfSidePrior &side : parameters_.sides) {
    numbers.numbers(side.center);
    numbers.numbers(side.precision);
    numbers.number(side.level);
    numbers.number(side.spread);
  }
  for (PmfCovariance &covariance : parameters_.covariances) {
    const std::size_t whole = std::size_t(task_.rank) * std::size_t(task_.rank);
    numbers.optional_list(covariance.values, whole);
    numbers.number(covariance.log_determinant_of_inverse);
  }
}

double PmfChain::log_joint() const {
  return pmf_log_joint(task_.prior, sums_, keys_, cells_, task_.rank, parameters_);
}

double PmfChain::root_mean_square() const {
  return std::sqrt(sums_[pmf_second].squared_residuals / cells_);
}

double PmfChain::norm() const {
  // The trace of (sum u u') (sum v v') is computed.
  double out = 0;
  for (int p = 0; p < task_.rank; ++p)
    for (int q = p; q < task_.rank; ++q)
      out += (p == q ? 1 : 2) * (sums_[0].product(p, q) / keys_[0]) *
             (sums_[1].product(p, q) / keys_[1]);
  return std::sqrt(std::max(0.0, out));
}

}  // namespace bayes
