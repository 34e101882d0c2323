// The documents of one fit in the server: in memory up to a budget, beyond it in a temporary file.
#pragma once

#include <memory>
#include <vector>

#include "data/corpus.hpp"
#include "pg/input/read_buffers.hpp"
#include "pg/server/temporary_files.hpp"

namespace bayes::pg {

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
