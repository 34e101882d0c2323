#include "data/hashed_rows.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "data/row_order.hpp"

namespace bayes {
namespace {

/// One number that depends on all bits of both (Steele and others 2014: SplitMix).
std::uint64_t mixed(std::uint64_t hash, std::uint64_t key) {
  std::uint64_t z = hash ^ key;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t whole_number(const PassReader &given, const char *key) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return std::bit_cast<std::uint64_t>(given.integer(key, -most - 1, most));
}

}  // namespace

Document HashChoice::message() const {
  return Document::object()
      .set("key", std::bit_cast<std::int64_t>(key))
      .set("threshold", std::bit_cast<std::int64_t>(threshold));
}

HashChoice HashChoice::from_message(const Document &message) {
  const PassReader given(message);
  return {whole_number(given, "key"), whole_number(given, "threshold")};
}

HashedRows::HashedRows(RowSource &rows, Control &control)
    : rows_(rows),
      hashes_(std::size_t((rows.rows() + block_rows - 1) / block_rows) * block_rows) {
  const RowShape shape = rows.shape();
  std::uint64_t *out = hashes_.data();
  for (std::int64_t s = 0; s < rows.stretches(); ++s)
    for (const Piece &piece : rows.stretch(s)) {
      control.poll();
      const double *block = piece.blocks;
      for (std::int64_t first = 0; first < piece.rows; first += block_rows) {
        hash_block(shape.dimension, 0, block, out);
        block += shape.block_doubles();
        out += block_rows;
      }
    }
}

void HashedRows::choose(const HashChoice &choice, MemoryRows &to) const {
  to.clear();
  const RowShape shape = rows_.shape();
  std::vector<double> block(shape.block_doubles()), x(std::size_t(shape.dimension));
  WorkPoll poll;
  for (std::int64_t first = 0; first < rows_.rows(); first += block_rows) {
    const int size = int(std::min<std::int64_t>(block_rows, rows_.rows() - first));
    const std::uint64_t *const hashes = hashes_.data() + first;
    bool read = false;
    poll(std::size_t(size));
    for (int b = 0; b < size; ++b) {
      if (mixed(hashes[b], choice.key) > choice.threshold) continue;
      if (!read) rows_.read_block(first / block_rows, block.data());
      read = true;
      const double *const at = block.data() + b;
      for (std::size_t j = 0; j < x.size(); ++j) x[j] = at[j * block_rows];
      to.append(x.data(), shape.weighted ? at[x.size() * block_rows] : 1);
    }
  }
}

std::vector<Document> RemoteBatch::ask(const Document &request) {
  Document of_batch = request;
  of_batch.set("minibatch", choice_.message());
  return all_.ask(of_batch);
}

}  // namespace bayes
