#include "data/sweep.hpp"

namespace bayes {

SweepPlan Sweep::plan(double operations_per_row, std::size_t part_bytes) const {
  return plan_tasks(double(rows_.rows()) * operations_per_row, part_bytes, control_);
}

void Sweep::run(SweepPlan plan, const Process &process, const Merge &merge) {
  if (rows_.stretches() == 0) return;
  std::span<const Piece> pieces = rows_.stretch(0), following;
  std::int64_t first = 0;
  for (std::int64_t index = 0; index < rows_.stretches(); ++index) {
    const bool more = index + 1 < rows_.stretches();
    run_stretch(pieces, first, plan, process, merge, [&] {
      if (more) following = rows_.stretch(index + 1);
    });
    for (const Piece &piece : pieces) first += piece.rows;
    pieces = following;
  }
}

void Sweep::run_stretch(std::span<const Piece> pieces, std::int64_t first, SweepPlan plan,
                        const Process &process, const Merge &merge,
                        const std::function<void()> &meanwhile) {
  // A piece is a segment: its size, and hence the order of all sums, depends on the shape of a row
  // alone. All pieces except the very last are full.
  const std::int64_t rows_each = pieces.empty() ? 0 : pieces[0].rows;
  run_in_order(
      pieces.size(), plan, control_,
      [&](int worker, int slot, std::size_t index, const Stop &stop) {
        process(worker, slot,
                {pieces[index].blocks, pieces[index].rows, first + std::int64_t(index) * rows_each},
                stop);
      },
      merge, meanwhile);
}

}  // namespace bayes
