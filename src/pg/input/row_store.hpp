// The rows of one fit in the server: in memory up to a budget, beyond it in a temporary file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/corpus.hpp"
#include "data/row_order.hpp"
#include "data/rows.hpp"
#include "pg/server/temporary_files.hpp"

namespace bayes::pg {

// Buffers for stretches of a file, for stores of rows and documents.

/// Two buffers, used alternately: while threads work on one stretch the next one is read.
template <class Memory, class Piece> class ReadBuffers {
 public:
  struct Buffer {
    Memory memory;
    std::vector<Piece> pieces;
  };

  /// The buffer that holds a stretch, numbered from 1. If neither holds it, read(buffer) reads it
  /// into the buffer that was not returned last.
  template <class Read> Buffer &with(std::int64_t stretch, Read read) {
    const int chosen = held_[last_] == stretch ? last_ : 1 - last_;
    if (held_[chosen] != stretch) {
      held_[chosen] = 0;
      read(buffers_[chosen]);
      held_[chosen] = stretch;
    }
    return buffers_[last_ = chosen];
  }
  /// Empties both buffers, as the file has changed.
  void forget() { held_[0] = held_[1] = 0; }

 private:
  Buffer buffers_[2];
  /// the stretch that each holds, 0 for none
  std::int64_t held_[2] = {};
  int last_ = 0;
};

/// Counts the memory below a context as held from one statement to the next, while this lives.
class HeldMemory {
 public:
  explicit HeldMemory(MemoryContext context);
  ~HeldMemory();
  HeldMemory(const HeldMemory &) = delete;
  HeldMemory &operator=(const HeldMemory &) = delete;

 private:
  const MemoryContext context_;
};

/// The memory that a collection that begins now may take, in bytes: maintenance_work_mem, less what
/// this session holds already, since it may keep many parts of a fit; but at least a thirty-second
/// of it.
std::size_t memory_for_rows();

/// Packed rows of one shape, in the order of arrival until they are arranged.
///
/// Memory is bounded by maintenance_work_mem (at the time of the first row; less what the session
/// keeps for fits of other servers, kept_rows.hpp), and allocated in PostgreSQL's memory contexts,
/// so that hash aggregation and memory reports count it. The first pieces stay in memory; once they
/// fill the budget, every further piece goes to a file as soon as it is full. The last, unfinished
/// piece is always in memory, and comes at the end of the last stretch: pieces are in the same
/// order whether they were spilled or not, so results are bit-identical.
class RowStore final : public RowSource {
 public:
  /// The first row determines the dimension.
  RowStore(MemoryContext context, bool weighted);

  void append(const double *x, int dimension, double weight) {
    if (tail_.rows == tail_capacity_) extend_tail(dimension);
    if (tail_.rows % block_rows == 0) clear_block();
    pack_row(shape_, tail_memory_, tail_.rows, x, weight);
    ++tail_.rows;
    ++rows_;
  }
  void skip(std::int64_t count = 1) { skipped_ += count; }

  /// Replaces codes: the value v of element j of every row becomes codes[j][v]. An empty codes[j]
  /// leaves the element as it is; NaN stays.
  void recode(const std::vector<std::vector<double>> &codes);
  /// Sets the names of elements in messages.
  void name_elements(std::vector<std::string> names) { names_ = std::move(names); }
  std::string name_of_element(int element) const override;
  /// Puts the rows in an order that depends on nothing but their contents, if all are in memory
  /// (data/row_order.hpp). Rows may be appended afterwards.
  void arrange(Control &control);
  /// The index of every row in the order of arrival; empty if the rows are still in that order.
  std::span<const std::uint32_t> order() const { return order_; }
  std::int64_t number_of(std::int64_t row) const override {
    return std::size_t(row) < order_.size() ? order_[std::size_t(row)] : row;
  }

  std::int64_t stretches() const override;
  std::span<const Piece> stretch(std::int64_t index) override;
  void read_block(std::int64_t index, double *out) override;

 private:
  RowNumbers order_;
  struct Memory {
    void *raw = nullptr;
    /// aligned
    double *doubles = nullptr;
  };
  Memory allocate(std::size_t bytes, std::size_t alignment);
  static void release(Memory &memory);
  double *next_piece();
  void trim_afterwards();
  void set_shape(int dimension);
  void extend_tail(int dimension);
  void clear_block();
  std::size_t file_pieces() const;
  void recode_tail(const std::vector<std::vector<double>> &codes);
  /// the codes to be replaced in a piece of the file when it is read, or nullptr
  const std::vector<std::vector<double>> *codes_of(std::size_t piece) const;

  MemoryContext context_;
  /// full pieces that the budget allows in memory, besides the unfinished one and the read buffers
  std::size_t pieces_in_memory_ = 0;
  std::size_t pieces_in_buffer_ = 0;

  /// memory of the unfinished piece while it grows
  Memory tail_owner_;
  double *tail_memory_ = nullptr;
  Piece tail_ = {};
  std::int64_t tail_capacity_ = 0;

  /// Memory for many pieces, of which `slab_left_` are unused.
  double *slab_ = nullptr;
  std::size_t slab_left_ = 0;
  /// trim_afterwards() has been called
  bool trimmed_ = false;

  /// full pieces in memory; while stretch 0 is handed out possibly followed by the tail
  std::vector<Piece> pieces_;
  std::size_t full_pieces_ = 0;

  std::unique_ptr<SpillFile> file_;
  /// Codes to be replaced in pieces of the file when they are read: in the pieces before `end` that
  /// no earlier element of recoded_ covers.
  struct Recoded {
    std::size_t end;
    std::vector<std::vector<double>> codes;
  };
  std::vector<Recoded> recoded_;
  std::vector<std::string> names_;
  using Buffers = ReadBuffers<Memory, Piece>;
  Buffers buffers_;
};

// The documents of one fit in the server: in memory up to a budget, beyond it in a temporary file.

/// Packed documents in the order in which they are appended; all pieces of stretch 0 are in memory,
/// those of the others in the file.
class DocumentStore final : public Corpus {
 public:
  /// Memory is taken below `context`, `budget` bytes for all pieces and buffers. `skipped`:
  /// documents that were left out.
  DocumentStore(MemoryContext context, std::int32_t vocabulary, std::int64_t skipped,
                std::size_t budget);

  void append(const DocumentTerms &document);
  /// After the last document.
  void finish();

  std::int64_t stretches() const override { return 1 + std::int64_t(stretches_.size()); }
  std::span<const CorpusPiece> stretch(std::int64_t index) override;
  std::int64_t stretch_of(std::int64_t document) override;

 private:
  /// A piece in the file: where it begins in its stretch, in doubles.
  struct Extent {
    std::size_t begin;
    std::int64_t documents, first;
  };
  struct Stretch {
    std::int64_t offset;
    std::size_t doubles = 0;
    std::vector<Extent> pieces;
  };
  void close_piece();

  MemoryContext context_;
  /// capacity for pieces in memory, and of each of the two buffers, in doubles
  std::size_t in_memory_, in_buffer_;
  std::size_t used_ = 0;
  std::vector<CorpusPiece> pieces_;

  /// the unfinished piece
  Buffer tail_;
  std::size_t tail_doubles_ = 0;
  std::int64_t tail_documents_ = 0, tail_entries_ = 0;

  std::unique_ptr<SpillFile> file_;
  std::vector<Stretch> stretches_;
  using Buffers = ReadBuffers<Buffer, CorpusPiece>;
  Buffers buffers_;
};

}  // namespace bayes::pg
