#include "pg/input/document_store.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace bayes::pg {
namespace {

/// bytes read back at once: larger reads are not faster
constexpr std::size_t max_stretch_bytes = 4 << 20;

}  // namespace

DocumentStore::DocumentStore(MemoryContext context, std::int32_t vocabulary, std::int64_t skipped,
                             std::size_t budget)
    : context_(context) {
  totals_.vocabulary = vocabulary;
  totals_.skipped = skipped;
  const std::size_t buffer = std::min(max_stretch_bytes, budget / 8);
  in_buffer_ = buffer / sizeof(double);
  in_memory_ = (budget - 2 * buffer) / sizeof(double);
}

void DocumentStore::append(const DocumentTerms &document) {
  if (tail_entries_ >= piece_entries(totals_.vocabulary)) close_piece();
  const std::size_t doubles = packed_doubles(document.size());
  if (tail_doubles_ + doubles > tail_.size())
    tail_.resize(std::max(tail_doubles_ + doubles, tail_.size() + tail_.size() / 2));
  pack_document(document, tail_.data() + tail_doubles_);
  tail_doubles_ += doubles;
  ++tail_documents_;
  tail_entries_ += std::int64_t(document.size());
  totals_.add(document);
}

void DocumentStore::close_piece() {
  const std::int64_t first = totals_.documents - tail_documents_;
  const std::size_t bytes = tail_doubles_ * sizeof(double);
  if (!file_ && used_ + tail_doubles_ <= in_memory_) {
    void *const memory =
        MemoryContextAllocExtended(context_, bytes, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
    if (!memory) throw std::bad_alloc();
    std::memcpy(memory, tail_.data(), bytes);
    pieces_.push_back({static_cast<double *>(memory), tail_documents_, first});
    used_ += tail_doubles_;
  } else {
    if (!file_) file_ = std::make_unique<SpillFile>(context_);
    if (stretches_.empty() || stretches_.back().doubles + tail_doubles_ > in_buffer_)
      stretches_.push_back({file_->size(), 0, {}});
    Stretch &stretch = stretches_.back();
    stretch.pieces.push_back({stretch.doubles, tail_documents_, first});
    stretch.doubles += tail_doubles_;
    file_->append(tail_.data(), bytes);
  }
  tail_doubles_ = 0;
  tail_documents_ = tail_entries_ = 0;
}

void DocumentStore::finish() {
  if (tail_documents_ > 0) close_piece();
  Buffer().swap(tail_);
}

std::span<const CorpusPiece> DocumentStore::stretch(std::int64_t index) {
  if (index == 0) return pieces_;
  const auto read = [&](Buffers::Buffer &buffer) {
    const Stretch &stretch = stretches_[std::size_t(index - 1)];
    if (buffer.memory.size() < stretch.doubles) buffer.memory.resize(stretch.doubles);
    file_->read(stretch.offset, buffer.memory.data(), stretch.doubles * sizeof(double));
    buffer.pieces.clear();
    for (const Extent &piece : stretch.pieces)
      buffer.pieces.push_back({buffer.memory.data() + piece.begin, piece.documents, piece.first});
  };
  return buffers_.with(index, read).pieces;
}

std::int64_t DocumentStore::stretch_of(std::int64_t document) {
  const auto next = std::upper_bound(
      stretches_.begin(), stretches_.end(), document,
      [](std::int64_t number, const Stretch &s) { return number < s.pieces.front().first; });
  return next - stretches_.begin();
}

}  // namespace bayes::pg
