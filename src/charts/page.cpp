#include <string_view>

#include "charts/vega_lite.hpp"

namespace bayes {
namespace {

/// As text or the value of an attribute of HTML.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  return out;
}

/// JSON inside a script: no text in it can end the script, or begin a comment of HTML; U+2028 and
/// U+2029 end lines of old scripts.
std::string in_script(std::string_view json) {
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9")) {
      out += rest[2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else if (json[i] == '<' || json[i] == '>' || json[i] == '&') {
      out += json[i] == '<' ? "\\u003c" : json[i] == '>' ? "\\u003e" : "\\u0026";
    } else {
      out += json[i];
    }
  }
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
                       const std::string &scripts) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
      escaped(title) +
      "</title>\n"
      "<style>body { font-family: sans-serif; margin: 2em; } .chart { margin: 1em 0 }</style>\n";
  for (const auto &[package, file] : scripts_of_page)
    out += "<script src=\"" +
           escaped(scripts.empty() ? std::string("https://cdn.jsdelivr.net/npm/") + package
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
