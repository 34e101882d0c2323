#include "data/packed_texts.hpp"

#include <limits>
#include <utility>

#include "base/control.hpp"
#include "data/remote_rows.hpp"

namespace bayes {
namespace {

/// Texts come in blocks of about this many bytes, between which messages are polled.
constexpr std::size_t block_bytes = 1 << 20;

/// Can a text of UTF-8 begin here?
bool begins_character(std::string_view text, std::size_t at) {
  return at == text.size() || (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
}

}  // namespace

Document PackedTexts::message(std::span<const std::string> texts) {
  Document::List blocks;
  std::string together;
  std::vector<double> sizes;
  const auto close = [&] {
    Document block = Document::object();
    block.set("sizes", numbers_document(sizes)).set("texts", std::exchange(together, {}));
    blocks.push_back(std::move(block));
    sizes.clear();
    poll_here();
  };
  for (const std::string &text : texts) {
    together += text;
    sizes.push_back(double(text.size()));
    if (together.size() + sizeof(double) * sizes.size() >= block_bytes) close();
  }
  if (!sizes.empty()) close();
  return blocks;
}

PackedTexts::PackedTexts(const Document &message) {
  const auto *const blocks = message.as<Document::List>();
  if (!blocks) PassReader::refuse();
  for (const Document &block : *blocks) {
    poll_here();
    const PassReader given(block);
    const std::string &texts = given.text("texts");
    std::size_t at = 0;
    if (texts.size() > std::numeric_limits<std::uint32_t>::max() - bytes_.size())
      PassReader::refuse();
    for (const double size : given.numbers("sizes")) {
      if (!(size >= 0 && size <= double(texts.size() - at))) PassReader::refuse();
      at += std::size_t(size);
      if (!begins_character(texts, at)) PassReader::refuse();
      ends_.push_back(std::uint32_t(bytes_.size() + at));
    }
    if (at != texts.size()) PassReader::refuse();
    bytes_ += texts;
  }
}

}  // namespace bayes
