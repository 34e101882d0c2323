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

std::string title_of_series(const Figure &figure, int series) {
  const std::string &name = figure.series[std::size_t(series)];
  return name == std::to_string(series + 1) ? figure.series_are + " " + name : name;
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

std::uint32_t next_code(std::string_view text, std::size_t &at) {
  const auto byte = [&text, &at] { return static_cast<unsigned char>(text[at++]); };
  const unsigned lead = byte();
  const int more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  std::uint32_t code = more == 0 ? lead : lead & (0x3fu >> more);
  for (int k = 0; k < more && at < text.size(); ++k) code = code << 6 | (byte() & 0x3f);
  return code;
}

std::uint32_t shown(std::uint32_t code) { return breaks(code) ? ' ' : turns(code) ? 0xfffd : code; }

std::string shortened(const std::string &text, std::size_t most) {
  std::string out;
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < text.size() && begins.size() <= most;) {
    const std::size_t first = i;
    const std::uint32_t code = next_code(text, i), instead = shown(code);
    begins.push_back(out.size());
    out += instead == code  ? std::string_view(text).substr(first, i - first)
           : instead == ' ' ? std::string_view(" ")
                            : std::string_view("\xef\xbf\xbd");
  }
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
