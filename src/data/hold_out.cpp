#include "data/hold_out.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/control.hpp"
#include "base/random.hpp"
#include "data/hashed_rows.hpp"
#include "data/remote_rows.hpp"

namespace bayes {

/// Hashes also order items, so another function of them is used.
int HoldOut::interval(std::uint64_t hash) {
  return int(split_mix(hash + 0x9e3779b97f4a7c15u) >> 52);
}

void HoldOut::count(std::vector<std::uint64_t> hashes, std::size_t part) {
  WorkPoll poll;
  std::sort(hashes.begin(), hashes.end(), [&poll](std::uint64_t a, std::uint64_t b) {
    poll(1);
    return a < b;
  });
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    poll(1);
    before = i > 0 && hashes[i] == hashes[i - 1] ? before + 1 : 0;
    count(hash_of_copy(hashes[i], before, part));
  }
}

void HoldOut::add(std::span<const double> counts, std::int64_t items) {
  if (counts.size() != counts_.size()) PassReader::refuse();
  double all = 0;
  for (const double count : counts) {
    if (!(count >= 0 && count <= double(items) && count == std::floor(count))) PassReader::refuse();
    all += count;
  }
  if (all != double(items)) PassReader::refuse();
  for (std::size_t i = 0; i < counts.size(); ++i) counts_[i] += counts[i];
}

void HoldOut::choose() {
  const double enough =
      std::floor(std::accumulate(counts_.begin(), counts_.end(), 0.0) / double(every_));
  double taken = 0;
  for (bound_ = 0; taken < enough; ++bound_) taken += counts_[std::size_t(bound_)];
}

std::int64_t HoldOut::held_out() const {
  return std::int64_t(std::accumulate(counts_.begin(), counts_.begin() + bound_, 0.0));
}

}  // namespace bayes
