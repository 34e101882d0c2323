// A hash of the data of a fit, by which a fit that is resumed recognises its rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/control.hpp"
#include "data/corpus.hpp"
#include "data/rows.hpp"
#include "document/row_columns.hpp"

namespace bayes {

class BAYES_API DataHash {
 public:
  /// Elements and weights; the order of the rows does not count unless `ordered`.
  void add(RowSource &rows, bool ordered, Control &control);
  /// Terms and counts; the order of the documents does not count.
  void add(Corpus &corpus, Control &control);
  /// Names, kinds and labels.
  void add(const RowColumns &columns);
  void add(std::span<const std::string> texts);
  void add(std::string_view text);

  std::uint64_t value() const { return value_; }

 private:
  void mix(std::uint64_t word);
  std::uint64_t value_ = 0;
};

}  // namespace bayes
