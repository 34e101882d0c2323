// Many texts in one message.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "document/document.hpp"

namespace bayes {

/// Texts one after another, and where each ends: such as the keys of millions of rows, of which a
/// string each would take 32 bytes and more, and a document each 64.
class BAYES_API PackedTexts {
 public:
  PackedTexts() = default;
  /// Throws Error(invalid_binary) for what message() has not made.
  explicit PackedTexts(const Document &message);
  static Document message(std::span<const std::string> texts);

  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  /// of memory
  double bytes() const { return double(bytes_.size()) + double(sizeof ends_[0]) * double(size()); }

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace bayes
