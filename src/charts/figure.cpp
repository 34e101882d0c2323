#include "charts/figure.hpp"

#include <algorithm>
#include <set>

#include "base/message.hpp"

namespace bayes {

const char *name_of(Mark mark) {
  switch (mark) {
    case Mark::point: return "point";
    case Mark::line: return "line";
    case Mark::area: return "area";
    case Mark::bar: return "bar";
    case Mark::interval: return "interval";
    case Mark::cell: return "cell";
    case Mark::name: return "name";
  }
  return "";
}

namespace {

/// Controls, and ends of lines and paragraphs of Unicode.
bool breaks(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x2028 || code == 0x2029;
}

/// Embeddings, overrides and isolates of either direction, and their ends.
bool turns(std::uint32_t code) {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

void each_shown(std::string_view text,
                const std::function<void(std::uint32_t code, std::string_view bytes)> &f) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t first = i;
    const auto lead = static_cast<unsigned char>(text[i++]);
    const int more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    std::uint32_t code = more == 0 ? lead : lead & (0x3fu >> more);
    for (int k = 0; k < more && i < text.size(); ++k)
      code = code << 6 | (static_cast<unsigned char>(text[i++]) & 0x3f);
    if (breaks(code))
      f(' ', " ");
    else if (turns(code))
      f(0xfffd, "\xef\xbf\xbd");
    else
      f(code, text.substr(first, i - first));
  }
}

std::string shortened(const std::string &text, std::size_t most) {
  std::string out;
  std::vector<std::size_t> begins;
  each_shown(text, [&](std::uint32_t, std::string_view bytes) {
    if (begins.size() > most) return;
    begins.push_back(out.size());
    out += bytes;
  });
  if (begins.size() <= most) return out;
  // The last characters make room for three dots, which every encoding has.
  out.resize(begins[std::max<std::size_t>(most, 3) - 3]);
  return out + "...";
}

std::vector<std::string> shortened(const std::vector<std::string> &texts, std::size_t most) {
  std::vector<std::string> out;
  std::set<std::string> used;
  for (const std::string &text : texts) {
    std::string name = shortened(text, most);
    for (int i = 2; !used.insert(name).second; ++i)
      name = shortened(text, most - 6) + message(" ({})", i);
    out.push_back(std::move(name));
  }
  return out;
}

}  // namespace bayes
