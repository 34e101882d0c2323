#include "data/hashed_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>

#include "base/control.hpp"
#include "base/random.hpp"
#include "data/remote_rows.hpp"
#include "data/row_order.hpp"

namespace bayes {
namespace {

constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;

}  // namespace

void DataHash::mix(std::uint64_t word) { value_ = split_mix(value_ * factor + word); }

void DataHash::add(RowSource &rows, bool ordered, Control &control) {
  constexpr std::uint64_t seed = 17;
  const RowShape shape = rows.shape();
  const int numbers = shape.dimension + int(shape.weighted);
  Buffer block(shape.block_doubles());
  std::uint64_t hashes[block_rows];
  std::uint64_t sum = 0;
  const std::int64_t n = rows.rows();
  for (std::int64_t first = 0; first < n; first += block_rows) {
    control.poll();
    rows.read_block(first / block_rows, block.data());
    hash_block(numbers, seed, block.data(), hashes);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(block_rows, n - first); ++i)
      sum = ordered ? split_mix(sum * factor + hashes[i]) : sum + split_mix(hashes[i]);
  }
  mix(std::uint64_t(n));
  mix(sum);
}

void DataHash::add(Corpus &corpus, Control &control) {
  std::uint64_t sum = 0;
  for (std::int64_t s = 0; s < corpus.stretches(); ++s)
    for (const CorpusPiece &piece : corpus.stretch(s)) {
      control.poll();
      each_document(piece, [&](std::int64_t, const DocumentTerms &document) {
        std::uint64_t one = document.size();
        for (std::size_t e = 0; e < document.size(); ++e) {
          one = split_mix(one * factor + std::uint64_t(document.terms[e]));
          one = split_mix(one * factor + std::bit_cast<std::uint64_t>(document.counts[e]));
        }
        for (const double weight : document.weights)
          one = split_mix(one * factor + std::bit_cast<std::uint64_t>(weight));
        sum += one;
        return true;
      });
    }
  mix(std::uint64_t(corpus.totals().documents));
  mix(sum);
}

void DataHash::add(std::string_view text) {
  mix(text.size());
  for (std::size_t at = 0; at < text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min<std::size_t>(8, text.size() - at));
    mix(word);
  }
}

void DataHash::add(std::span<const std::string> texts) {
  mix(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    poll_in_loop(i);
    add(std::string_view(texts[i]));
  }
}

void DataHash::add(const RowColumns &columns) {
  mix(columns.size());
  for (const RowColumn &column : columns) {
    add(std::string_view(column.name));
    mix(std::uint64_t(column.kind));
    add(std::span<const std::string>(column.labels));
  }
}

namespace {

/// One number that depends on all bits of both.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t key) { return split_mix(hash ^ key); }

std::uint64_t whole_number(const PassReader &given, const char *key) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return std::bit_cast<std::uint64_t>(given.integer(key, -most - 1, most));
}

}  // namespace

std::uint64_t hash_of_copy(std::uint64_t hash, std::uint64_t before, std::size_t part) {
  return before == 0 ? hash : mixed(mixed(hash, before), part + 1);
}

Document HashChoice::message() const {
  return Document::object()
      .set("key", std::bit_cast<std::int64_t>(key))
      .set("threshold", std::bit_cast<std::int64_t>(threshold));
}

HashChoice HashChoice::from_message(const Document &message) {
  const PassReader given(message);
  return {whole_number(given, "key"), whole_number(given, "threshold")};
}

HashedRows::HashedRows(RowSource &rows, std::size_t part, Control &control)
    : rows_(rows),
      hashes_(std::size_t((rows.rows() + block_rows - 1) / block_rows) * block_rows) {
  const RowShape shape = rows.shape();
  std::uint64_t *out = hashes_.data();
  for (std::int64_t s = 0; s < rows.stretches(); ++s)
    for (const Piece &piece : rows.stretch(s)) {
      control.poll();
      const double *block = piece.blocks;
      for (std::int64_t first = 0; first < piece.rows; first += block_rows) {
        hash_block(shape.dimension + shape.weighted, 0, block, out);
        block += shape.block_doubles();
        out += block_rows;
      }
    }
  tell_apart(part);
}

/// Gives equal rows different hashes. Rows in memory are in the order of their hashes; for other
/// rows the copies of each are counted, in several passes, so that the counts take little memory.
void HashedRows::tell_apart(std::size_t part) {
  constexpr std::size_t rows_of_pass = 1 << 20;
  constexpr int max_bits = 5;
  const std::span<std::uint64_t> hashes(hashes_.data(), std::size_t(rows_.rows()));
  WorkPoll poll;
  if (std::is_sorted(hashes.begin(), hashes.end())) {
    std::uint64_t last = 0, before = 0;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      poll(1);
      before = i > 0 && hashes[i] == last ? before + 1 : 0;
      last = hashes[i];
      hashes[i] = hash_of_copy(last, before, part);
    }
    return;
  }
  const int bits = std::min(int(std::bit_width(hashes.size() / rows_of_pass)), max_bits);
  std::unordered_map<std::uint64_t, std::uint64_t> copies;
  for (std::uint64_t pass = 0; pass < std::uint64_t(1) << bits; ++pass) {
    copies.clear();
    for (std::uint64_t &hash : hashes) {
      if (bits > 0 && hash >> (64 - bits) != pass) {
        poll(1);
        continue;
      }
      poll(32);
      hash = hash_of_copy(hash, copies[hash]++, part);
    }
  }
}

std::int64_t HashedRows::count(const HashChoice &choice) const {
  std::int64_t out = 0;
  WorkPoll poll;
  for (std::size_t i = 0; i < std::size_t(rows_.rows()); ++i) {
    poll(1);
    out += mixed(hashes_[i], choice.key) <= choice.threshold;
  }
  return out;
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

/// Uses another function of the hash, because hashes also order the items.
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
