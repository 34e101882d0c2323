#include "counts/passes.hpp"

#include <algorithm>

namespace bayes {
namespace {

/// Number of entries of a piece of a minibatch.
constexpr std::int64_t entries_per_piece = 1024;

}  // namespace

Minibatches::Minibatches(Corpus &corpus, std::int64_t size, Random random)
    : corpus_(corpus),
      size_(size),
      random_(random),
      stamps_(std::size_t(corpus.totals().vocabulary), 0) {}

void Minibatches::open_stretch(std::int64_t stretch) {
  stretch_ = stretch;
  pieces_ = corpus_.stretch(stretch);
  piece_ = 0;
  in_piece_ = 0;
  at_ = nullptr;
}

void Minibatches::begin_pass() {
  left_ = corpus_.totals().documents;
  const std::int64_t first = std::int64_t(random_.below(std::uint64_t(left_)));
  open_stretch(corpus_.stretch_of(first));
  while (first >= pieces_[piece_].first + pieces_[piece_].documents) ++piece_;
  for (std::int64_t i = pieces_[piece_].first; i < first; ++i) next_document();
}

const double *Minibatches::next_document() {
  for (;;) {
    if (piece_ == pieces_.size()) {
      open_stretch((stretch_ + 1) % corpus_.stretches());
      continue;
    }
    if (in_piece_ < pieces_[piece_].documents) break;
    ++piece_;
    in_piece_ = 0;
    at_ = nullptr;
  }
  if (!at_) at_ = pieces_[piece_].data;
  const double *const out = at_;
  at_ += packed_doubles(std::size_t(out[0]));
  ++in_piece_;
  return out;
}

const double *Minibatches::draw() {
  if (left_ == 0) begin_pass();
  --left_;
  ++drawn_;
  return next_document();
}

void Minibatches::exchange(StateNumbers &numbers) {
  std::int64_t drawn = drawn_;
  numbers.whole(drawn, drawn_, std::int64_t(1) << 50);
  WorkPoll poll;
  while (drawn_ < drawn) {
    draw();
    poll(8);
  }
}

const Minibatch &Minibatches::next() {
  batch_.pieces.clear();
  batch_.documents.clear();
  batch_.terms.clear();
  batch_.entries = 0;
  if (++stamp_ == std::numeric_limits<std::int32_t>::max()) {
    std::fill(stamps_.begin(), stamps_.end(), 0);
    stamp_ = 1;
  }
  struct Part {
    std::size_t begin;
    std::int64_t documents, first, entries;
  };
  std::vector<Part> parts;
  std::size_t used = 0;
  WorkPoll poll;
  for (std::int64_t i = 0; i < size_; ++i) {
    const double *const from = draw();
    batch_.documents.push_back(pieces_[piece_].first + in_piece_ - 1);
    const std::size_t n = std::size_t(from[0]), doubles = packed_doubles(n);
    if (used + doubles > data_.size()) data_.resize(std::max(used + doubles, 2 * data_.size()));
    std::copy_n(from, doubles, data_.data() + used);
    if (parts.empty() || parts.back().entries >= entries_per_piece)
      parts.push_back({used, 0, i, 0});
    ++parts.back().documents;
    parts.back().entries += std::int64_t(n);
    batch_.entries += std::int64_t(n);
    used += doubles;
    poll(4 * doubles);
  }
  for (const Part &part : parts) {
    batch_.pieces.push_back({data_.data() + part.begin, part.documents, part.first});
    each_document(batch_.pieces.back(), [&](std::int64_t, const DocumentTerms &document) {
      for (const std::int32_t term : document.terms)
        if (stamps_[std::size_t(term)] != stamp_) {
          stamps_[std::size_t(term)] = stamp_;
          batch_.terms.push_back(term);
        }
      return true;
    });
  }
  return batch_;
}

}  // namespace bayes
