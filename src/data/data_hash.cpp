#include "data/data_hash.hpp"

#include <bit>
#include <cstring>

#include "base/random.hpp"
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

}  // namespace bayes
