#include "pg/input/row_store.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "base/control.hpp"
#include "base/message.hpp"

namespace bayes::pg {
namespace {

std::vector<MemoryContext> held_contexts;

}  // namespace

HeldMemory::HeldMemory(MemoryContext context) : context_(context) {
  held_contexts.push_back(context);
}

HeldMemory::~HeldMemory() { std::erase(held_contexts, context_); }

std::size_t memory_for_rows() {
  constexpr std::size_t least_share = 32;
  const std::size_t all = std::size_t(maintenance_work_mem) * 1024;
  std::size_t held = 0;
  for (const MemoryContext each : held_contexts) held += MemoryContextMemAllocated(each, true);
  return std::max(all - std::min(held, all), all / least_share);
}

namespace {

/// bytes read back at once: larger reads are not faster
constexpr std::size_t max_buffer_bytes = 4 << 20;
/// in bytes; also the size of the widest vector register
constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = 2 << 20;
constexpr std::size_t max_slab_bytes = 32 << 20;

/// Replaces codes in consecutive blocks.
void recode_blocks(double *doubles, std::size_t blocks, const RowShape &shape,
                   const std::vector<std::vector<double>> &codes) {
  for (std::size_t b = 0; b < blocks; ++b, doubles += shape.block_doubles())
    for (std::size_t j = 0; j < codes.size(); ++j) {
      if (codes[j].empty()) continue;
      double *const x = doubles + j * block_rows;
      for (std::size_t i = 0; i < std::size_t(block_rows); ++i)
        if (!std::isnan(x[i])) x[i] = codes[j][std::size_t(x[i])];
    }
}

}  // namespace

RowStore::RowStore(MemoryContext context, bool weighted) : context_(context) {
  shape_.weighted = weighted;
}

void RowStore::set_shape(int dimension) {
  shape_.dimension = dimension;
  const std::size_t budget = memory_for_rows(), piece = shape_.piece_doubles() * sizeof(double);
  pieces_in_buffer_ = std::max<std::size_t>(1, std::min(max_buffer_bytes, budget / 8) / piece);
  const std::size_t all = budget / piece, apart = 2 * pieces_in_buffer_ + 1;
  pieces_in_memory_ = all > apart ? all - apart : 1;
}

RowStore::Memory RowStore::allocate(std::size_t bytes, std::size_t alignment) {
  Memory memory;
  memory.raw =
      MemoryContextAllocExtended(context_, bytes + alignment, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
  if (!memory.raw) throw std::bad_alloc();
  const auto address = reinterpret_cast<std::uintptr_t>(memory.raw);
  memory.doubles = reinterpret_cast<double *>((address + alignment - 1) / alignment * alignment);
  return memory;
}

/// Makes the C library return memory to the system after the rows are freed; otherwise an idle
/// backend would hold up to a hundred megabytes. A context's callbacks run after its children are
/// deleted, so this one is registered with the parent.
void RowStore::trim_afterwards() {
#ifdef __GLIBC__
  auto *const callback = static_cast<MemoryContextCallback *>(guarded([this] {
    return MemoryContextAllocZero(MemoryContextGetParent(context_), sizeof(MemoryContextCallback));
  }));
  callback->func = [](void *) { malloc_trim(0); };
  MemoryContextRegisterResetCallback(MemoryContextGetParent(context_), callback);
#endif
}

/// Memory for another full piece. For many rows it comes in slabs of huge pages: otherwise the
/// first touch of memory costs as much as filling it; and sweeps have fewer TLB misses.
double *RowStore::next_piece() {
  const std::size_t piece = shape_.piece_doubles() * sizeof(double), used = full_pieces_ * piece;
  if (slab_left_ == 0) {
    const std::size_t wanted = std::min(used, max_slab_bytes) / huge_page * huge_page / piece;
    slab_left_ = std::min(std::max<std::size_t>(1, wanted), pieces_in_memory_ - full_pieces_);
    const bool huge = slab_left_ * piece >= huge_page;
    slab_ = allocate(slab_left_ * piece, huge ? huge_page : cache_line).doubles;
    if (huge && !trimmed_) {
      trim_afterwards();
      trimmed_ = true;
    }
    // advice, which may be ignored
    if (huge) madvise(slab_, slab_left_ * piece / huge_page * huge_page, MADV_HUGEPAGE);
  }
  double *const next = slab_;
  slab_ += shape_.piece_doubles();
  --slab_left_;
  return next;
}

void RowStore::release(Memory &memory) {
  if (memory.raw) pfree(memory.raw);
  memory = {};
}

/// Called if the unfinished piece is full, or there is none yet.
void RowStore::extend_tail(int dimension) {
  if (shape_.dimension == 0) set_shape(dimension);
  const std::int64_t full = shape_.piece_rows();

  // the first piece grows by doubling, so that a group of ten rows does not take a quarter of a
  // megabyte
  if (tail_capacity_ < full) {
    const std::int64_t capacity = std::max<std::int64_t>(block_rows, 2 * tail_capacity_);
    const auto doubles = [this](std::int64_t rows) {
      return std::size_t(rows / block_rows) * shape_.block_doubles();
    };
    const Memory grown = allocate(doubles(capacity) * sizeof(double), cache_line);
    if (tail_.rows) std::memcpy(grown.doubles, tail_memory_, doubles(tail_.rows) * sizeof(double));
    release(tail_owner_);
    tail_owner_ = grown;
    tail_memory_ = grown.doubles;
    tail_capacity_ = capacity;
  } else if (full_pieces_ < pieces_in_memory_) {
    // the full piece stays where it is until the context is deleted
    double *const next = next_piece();
    pieces_.resize(full_pieces_);
    pieces_.push_back(tail_);
    ++full_pieces_;
    tail_owner_ = {};
    tail_memory_ = next;
    tail_.rows = 0;
  } else {
    if (!file_) file_ = std::make_unique<SpillFile>(context_);
    file_->append(tail_memory_, shape_.piece_doubles() * sizeof(double));
    tail_.rows = 0;
    buffers_.forget();  // the last stretch is outdated
  }
  tail_.blocks = tail_memory_;
}

/// A block's unused rows must be zero, and touching it as a whole brings it into the cache.
void RowStore::clear_block() {
  std::memset(tail_memory_ + std::size_t(tail_.rows / block_rows) * shape_.block_doubles(), 0,
              shape_.block_doubles() * sizeof(double));
}

std::size_t RowStore::file_pieces() const {
  return file_ ? std::size_t(file_->size()) / (shape_.piece_doubles() * sizeof(double)) : 0;
}

std::string RowStore::name_of_element(int element) const {
  return names_.empty() ? RowSource::name_of_element(element)
                        : message("column {}", names_[std::size_t(element)]);
}

void RowStore::recode(const std::vector<std::vector<double>> &codes) {
  if (rows_ == 0) return;
  const std::size_t in_piece = std::size_t(shape_.piece_rows() / block_rows);
  for (std::size_t i = 0; i < full_pieces_; ++i) {
    poll_here();
    recode_blocks(const_cast<double *>(pieces_[i].blocks), in_piece, shape_, codes);
  }
  recode_tail(codes);
  if (!file_) return;
  for (Recoded &before : recoded_)
    for (std::size_t j = 0; j < codes.size(); ++j) {
      if (codes[j].empty()) continue;
      if (before.codes[j].empty())
        before.codes[j] = codes[j];
      else
        for (double &code : before.codes[j]) code = codes[j][std::size_t(code)];
    }
  recoded_.push_back({file_pieces(), codes});
  buffers_.forget();
}

/// Unused rows of the last block must stay zero.
void RowStore::recode_tail(const std::vector<std::vector<double>> &codes) {
  for (std::int64_t first = 0; first < tail_.rows; first += block_rows) {
    double *const block = tail_memory_ + std::size_t(first / block_rows) * shape_.block_doubles();
    recode_blocks(block, 1, shape_, codes);
    for (std::size_t j = 0; j < codes.size(); ++j)
      for (std::int64_t i = tail_.rows - first; i < std::int64_t(block_rows); ++i)
        block[j * block_rows + std::size_t(i)] = 0;
  }
}

const std::vector<std::vector<double>> *RowStore::codes_of(std::size_t piece) const {
  for (const Recoded &each : recoded_)
    if (piece < each.end) return &each.codes;
  return nullptr;
}

void RowStore::arrange(Control &control) {
  if (rows_ == 0 || file_ || rows_ > max_arranged_rows) return;
  RowNumbers order = arrange_rows(*this, control);
  if (order.empty()) return;
  // order_ maps rows that an earlier call arranged to their order of arrival: compose both
  // permutations.
  for (std::uint32_t &number : order)
    if (number < order_.size()) number = order_[number];
  order_ = std::move(order);
}

std::int64_t RowStore::stretches() const {
  if (rows_ == 0) return 0;
  return 1 + std::int64_t((file_pieces() + pieces_in_buffer_ - 1) / pieces_in_buffer_);
}

std::span<const Piece> RowStore::stretch(std::int64_t index) {
  const bool last = index == stretches() - 1;
  if (index == 0) {
    pieces_.resize(full_pieces_);
    if (last && tail_.rows) pieces_.push_back(tail_);
    return pieces_;
  }

  const auto read = [&](Buffers::Buffer &buffer) {
    const std::size_t piece = shape_.piece_doubles(),
                      first = std::size_t(index - 1) * pieces_in_buffer_;
    const std::size_t count = std::min(pieces_in_buffer_, file_pieces() - first);
    if (!buffer.memory.raw)
      buffer.memory = allocate(pieces_in_buffer_ * piece * sizeof(double), cache_line);
    file_->read(std::int64_t(first * piece * sizeof(double)), buffer.memory.doubles,
                count * piece * sizeof(double));
    buffer.pieces.clear();
    for (std::size_t i = 0; i < count; ++i) {
      double *const blocks = buffer.memory.doubles + i * piece;
      if (const auto *const codes = codes_of(first + i))
        recode_blocks(blocks, std::size_t(shape_.piece_rows() / block_rows), shape_, *codes);
      buffer.pieces.push_back({blocks, shape_.piece_rows()});
    }
    buffer.pieces.push_back({nullptr, 0});  // for the tail
  };
  Buffers::Buffer &buffer = buffers_.with(index, read);
  buffer.pieces.back() = tail_;
  return std::span<const Piece>(buffer.pieces)
      .first(buffer.pieces.size() - (last && tail_.rows ? 0 : 1));
}

void RowStore::read_block(std::int64_t index, double *out) {
  const std::size_t blocks_in_piece = std::size_t(shape_.piece_rows() / block_rows),
                    doubles = shape_.block_doubles();
  const std::size_t piece = std::size_t(index) / blocks_in_piece,
                    block = std::size_t(index) % blocks_in_piece;
  const std::size_t spilled = file_pieces();
  if (piece >= full_pieces_ && piece < full_pieces_ + spilled) {
    const std::size_t before = (piece - full_pieces_) * blocks_in_piece + block;
    file_->read(std::int64_t(before * doubles * sizeof(double)), out, doubles * sizeof(double));
    if (const auto *const codes = codes_of(piece - full_pieces_))
      recode_blocks(out, 1, shape_, *codes);
  } else {
    const double *const memory = piece < full_pieces_ ? pieces_[piece].blocks : tail_memory_;
    std::memcpy(out, memory + block * doubles, doubles * sizeof(double));
  }
}

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
  const std::size_t doubles = packed_doubles(document);
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
