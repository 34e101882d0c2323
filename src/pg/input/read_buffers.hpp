// Buffers for stretches of a file, for stores of rows and documents.
#pragma once

#include <cstdint>
#include <vector>

namespace bayes::pg {

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

}  // namespace bayes::pg
