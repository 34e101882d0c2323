#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/message.hpp"
#include "charts/figure.hpp"
#include "charts/vega_lite.hpp"

namespace bayes {
namespace {

/// As text or the value of an attribute of HTML. What is not ASCII becomes a reference, so that a
/// page is the same in every encoding.
std::string escaped(std::string_view text) {
  std::string out;
  each_shown(text, [&out](std::uint32_t code, std::string_view) {
    if (code >= 0x80 || code == '&' || code == '<' || code == '>' || code == '"' || code == '\'')
      out += message("&#{};", code);
    else
      out += char(code);
  });
  return out;
}

/// JSON inside a script: no text in it can end the script, or begin a comment of HTML, and it is
/// ASCII.
std::string in_script(std::string_view json) {
  std::string out;
  const auto unit = [&out](std::uint32_t code) {
    char text[16];
    std::snprintf(text, sizeof text, "\\u%04x", unsigned(code));
    out += text;
  };
  each_shown(json, [&](std::uint32_t code, std::string_view) {
    if (code >= 0x10000) {
      unit(0xd800 + ((code - 0x10000) >> 10));
      unit(0xdc00 + ((code - 0x10000) & 0x3ff));
    } else if (code >= 0x80 || code == '<' || code == '>' || code == '&') {
      unit(code);
    } else {
      out += char(code);
    }
  });
  return out;
}

struct Script {
  const char *package, *file;
};
/// The versions that read specifications of version 6.
constexpr Script scripts_of_page[] = {{"vega@6", "vega.min.js"},
                                      {"vega-lite@6", "vega-lite.min.js"},
                                      {"vega-embed@7", "vega-embed.min.js"}};

}  // namespace

std::string chart_page(const std::string &title, std::span<const std::string> charts,
                       std::string scripts) {
  const bool own = !scripts.empty();
  while (!scripts.empty() && scripts.back() == '/') scripts.pop_back();
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
      escaped(title) +
      "</title>\n"
      "<style>body { font-family: sans-serif; margin: 2em; } .chart { margin: 1em 0 }</style>\n";
  for (const auto &[package, file] : scripts_of_page)
    out += "<script src=\"" +
           escaped(!own ? std::string("https://cdn.jsdelivr.net/npm/") + package
                        : scripts + "/" + file) +
           "\"></script>\n";
  out += "</head>\n<body>\n<h1>" + escaped(title) + "</h1>\n";
  for (std::size_t i = 0; i < charts.size(); ++i)
    out += "<div class=\"chart\" id=\"chart" + std::to_string(i + 1) + "\"></div>\n";
  out += "<script>\n";
  for (std::size_t i = 0; i < charts.size(); ++i)
    out += "vegaEmbed(\"#chart" + std::to_string(i + 1) + "\", " + in_script(charts[i]) +
           ").catch(console.error);\n";
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace bayes
