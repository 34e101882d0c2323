#include "charts/figure.hpp"

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

std::string shortened(const std::string &text, std::size_t most) {
  std::string out;
  std::size_t characters = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // Bytes that continue a character belong to the one before.
    if ((byte & 0xc0) != 0x80 && characters++ == most) {
      // The last characters make room for three dots, which every encoding has.
      for (int i = 0; i < 3; ++i) {
        while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80)
          out.pop_back();
        if (!out.empty()) out.pop_back();
      }
      return out + "...";
    }
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return out;
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
