#include "factor/pmf_chain.hpp"

#include <algorithm>
#include <cmath>

namespace bayes {
namespace {

/// Random numbers are named by the seed, the chain, the sweep and one of these (or a side), those
/// of vectors also by the line.
enum PmfStream : int { stream_of_priors = 2, stream_of_start = 4 };

}  // namespace

PmfChain::PmfChain(const PmfTask &task, int number)
    : task_(task),
      number_(number),
      keys_{double(task.lines.totals().documents), double(task.transposed.totals().documents)},
      cells_(double(task.lines.totals().entries)),
      parameters_(first_parameters(task.prior, task.rank)) {
  for (std::size_t side = 0; side < 2; ++side) {
    const std::int64_t keys = corpus(side).totals().documents;
    sides_[side].vectors = TermTopics(std::int32_t(keys), task.rank);
    if (task.prior.means) grow(sides_[side].means, std::size_t(keys));
  }
  // The lines' vectors come first, and need those of the others alone.
  PmfSide &others = sides_[pmf_others];
  const double size = 0.1 / std::sqrt(double(task.rank));
  const RowRandom own(task.seed, std::uint64_t(number), 0, stream_of_start);
  WorkPoll poll;
  for (std::int32_t j = 0; j < others.vectors.terms(); ++j) {
    Random key(own.bits(j));
    for (int k = 0; k < task.rank; ++k) others.vectors.of(j)[k] = size * key.normal();
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
  if (side == pmf_lines) return;
  draw_common(task_.prior, sums_, keys_, cells_, task_.rank, own, parameters_);
  if (task_.prior.hierarchical) change_scale(draw_scale(sums_, task_.rank, own, parameters_));
}

void PmfChain::change_scale(double x) {
  WorkPoll poll;
  for (std::size_t side = 0; side < 2; ++side) {
    const double factor = side == pmf_lines ? x : 1 / x;
    TermTopics &vectors = sides_[side].vectors;
    for (std::int32_t i = 0; i < vectors.terms(); ++i) {
      for (int k = 0; k < vectors.stride(); ++k) vectors.of(i)[k] *= factor;
      poll(std::size_t(vectors.stride()));
    }
  }
}

void PmfChain::sweep(int index, Control &control) {
  draw_side(pmf_lines, index, control);
  draw_side(pmf_others, index, control);
}

double PmfChain::log_joint() const {
  return pmf_log_joint(task_.prior, sums_, keys_, cells_, task_.rank, parameters_);
}

double PmfChain::root_mean_square() const {
  return std::sqrt(sums_[pmf_others].squared_residuals / cells_);
}

double PmfChain::norm() const {
  // The trace of (sum u u') (sum v v').
  double out = 0;
  for (int p = 0; p < task_.rank; ++p)
    for (int q = p; q < task_.rank; ++q)
      out += (p == q ? 1 : 2) * (sums_[0].product(p, q) / keys_[0]) *
             (sums_[1].product(p, q) / keys_[1]);
  return std::sqrt(std::max(0.0, out));
}

}  // namespace bayes
