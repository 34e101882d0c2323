#include "base/checkpoint.hpp"

#include <algorithm>
#include <cmath>

namespace bayes {

void refuse_checkpoint() {
  throw Error(Errc::invalid_argument, "the state that the model keeps does not fit its own options",
              "The model was changed after it was fitted.", "Fit it again without option resume.");
}

void StateNumbers::require(std::size_t count) const {
  if (reads() && from_.size() < count) refuse_checkpoint();
}

void StateNumbers::numbers(std::span<double> x) {
  if (!reads()) {
    to_->insert(to_->end(), x.begin(), x.end());
    return;
  }
  require(x.size());
  std::copy_n(from_.begin(), x.size(), x.begin());
  from_ = from_.subspan(x.size());
}

void StateNumbers::numbers(std::span<float> x) {
  if (reads()) require(x.size());
  for (float &each : x) {
    double number = each;
    numbers(std::span(&number, 1));
    each = float(number);
  }
}

void StateNumbers::flag(bool &x) {
  std::int64_t number = x;
  whole(number, 0, 1);
  x = number != 0;
}

void StateNumbers::whole(std::int64_t &x, std::int64_t low, std::int64_t high) {
  double number = double(x);
  numbers(std::span(&number, 1));
  if (!reads()) return;
  if (!(number >= double(low) && number <= double(high)) || number != std::floor(number))
    refuse_checkpoint();
  x = std::int64_t(number);
}

void StateNumbers::end() const {
  if (reads() && !from_.empty()) refuse_checkpoint();
}

void Checkpoint::rewind() {
  frozen_ = false;
  // Also if nothing is recorded: a search for starting points may have ended the record.
  repeats_ = true;
  run_ = loop_ = 0;
}

RunRecord *Checkpoint::begin_run(std::size_t index) {
  if (frozen_) return nullptr;
  if (index >= runs.size()) runs.resize(index + 1);
  run_ = index;
  loop_ = 0;
  return &runs[index];
}

void Checkpoint::limit_run() {
  if (!frozen_ && run_ < runs.size()) runs[run_].limited = true;
}

LoopRecord *Checkpoint::next_loop() {
  if (frozen_) return nullptr;
  if (run_ >= runs.size()) begin_run(run_);
  std::vector<LoopRecord> &loops = runs[run_].loops;
  if (loop_ >= loops.size()) loops.resize(loop_ + 1);
  return &loops[loop_++];
}

}  // namespace bayes
