#include <charconv>
#include <cstdint>
#include <string_view>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "charts/figure.hpp"
#include "document/model.hpp"

namespace bayes {
namespace {

/// limit of a page's bytes, as a text of PostgreSQL has at most 1 GB
constexpr std::size_t max_page = 1'000'000'000;

/// The text of a page, of limited length.
class PageWriter {
 public:
  PageWriter &operator<<(std::string_view text) {
    if (text.size() > max_page - out_.size()) refuse();
    out_ += text;
    return *this;
  }
  /// Names the part that follows, for the message about a page that is too large.
  void begin(std::string part, const char *hint) {
    part_ = std::move(part);
    hint_ = hint;
  }
  /// Writes a text of UTF-8 as it is shown, whatever its length, in pieces between polls.
  /// Characters that are ASCII and not `special` are copied, the others are written by unit(code
  /// point).
  template <class F> void escape(std::string_view text, std::string_view special, F unit) {
    bool plain[256];
    for (unsigned c = 0; c < 256; ++c)
      plain[c] = c < 0x80 && shown(c) == c && special.find(char(c)) == special.npos;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0, first = 0; i < text.size(); first = i) {
      while (i < text.size() && i - first < between_polls && plain[byte(i)]) ++i;
      *this << text.substr(first, i - first);
      work_(i - first + operations_of_unit);
      if (i == text.size() || plain[byte(i)]) continue;
      const std::uint32_t code = shown(next_code(text, i));
      if (code < 0x80 && plain[code])
        *this << std::string_view(" ");  // shown() makes it of controls
      else
        unit(code);
    }
  }
  std::string take() { return std::move(out_); }

 private:
  [[noreturn]] void refuse() const {
    throw Error(Errc::too_large,
                message("the page has more than {} MB with {}", max_page / 1'000'000, part_), {},
                hint_);
  }

  static constexpr std::size_t between_polls = 1 << 20, operations_of_unit = 32;
  std::string out_, part_;
  const char *hint_ = "";
  WorkPoll work_;
};

/// As text or the value of an attribute of HTML. What is not ASCII becomes a reference, so that a
/// page is the same in every encoding.
void write_escaped(PageWriter &page, std::string_view text) {
  page.escape(text, "&<>\"'", [&page](std::uint32_t code) {
    char digits[16];
    const char *const end = std::to_chars(digits, digits + sizeof digits, code).ptr;
    page << "&#" << std::string_view(digits, std::size_t(end - digits)) << ";";
  });
}

/// JSON inside a script: no text in it can end the script, or begin a comment of HTML, and it is
/// ASCII.
void write_in_script(PageWriter &page, std::string_view json) {
  const auto unit = [&page](std::uint32_t code) {
    constexpr const char *hex = "0123456789abcdef";
    const char text[] = {
        '\\', 'u', hex[code >> 12 & 15], hex[code >> 8 & 15], hex[code >> 4 & 15], hex[code & 15]};
    page << std::string_view(text, sizeof text);
  };
  page.escape(json, "&<>", [&unit](std::uint32_t code) {
    if (code >= 0x10000) {
      unit(0xd800 + ((code - 0x10000) >> 10));
      unit(0xdc00 + ((code - 0x10000) & 0x3ff));
    } else {
      unit(code);
    }
  });
}

/// A program that draws, a package of npm that has it as build/<name>.min.js.
struct Script {
  const char *name, *version, *integrity;
};
/// They read specifications of version 6. tests/charts installs these versions and compares the
/// hashes with their files.
constexpr Script scripts_of_page[] = {
    {"vega", "6.4.0", "sha384-VKdcJr3ZaBIJMbVcopTAI/JEuUkSY6qnwVu9iLuw0DnQ9gQ1JjsfZJhXFQAgNi43"},
    {"vega-lite", "6.4.3",
     "sha384-9/70gNCfOu6G7xXvkdreMfuqAEsoaGJVXV2BN/JLRXkSmcGvnMqtsRx8HZtUWAvI"},
    {"vega-embed", "7.3.0",
     "sha384-Muy1QRxYFeNrA1zShc1KtN4OfipkR/61gt+HWqN57c1Zxu3Oe16TsilsruVVjfKL"}};
constexpr std::string_view address = "https://cdn.jsdelivr.net/npm/";

/// One column on a phone, a grid on a wider window; a chart is never wider than its place, and is
/// not cut by the end of a printed page.
constexpr std::string_view head =
    "<style>\n"
    "body { font-family: sans-serif; color: #222; margin: 2em auto; max-width: 110em; "
    "padding: 0 1em; line-height: 1.4 }\n"
    "h1 { font-size: 1.6em; margin-bottom: 0.2em } h2 { font-size: 1.1em }\n"
    ".subtitle, footer, figcaption { color: #666 } figcaption { font-size: 0.8em }\n"
    ".charts { display: grid; gap: 2em; align-items: start; grid-auto-flow: dense; "
    "grid-template-columns: repeat(auto-fit, minmax(min(100%, 26em), 1fr)) }\n"
    "@media (min-width: 58em) { .wide { grid-column: span 2 } }\n"
    "figure { margin: 0; min-width: 0; break-inside: avoid }\n"
    ".chart, .chart svg { max-width: 100% } .chart svg { height: auto }\n"
    "table { border-collapse: collapse; font-size: 0.9em }\n"
    "th, td { text-align: left; padding: 0.2em 1em 0.2em 0; border-bottom: 1px solid #ddd; "
    "vertical-align: top }\n"
    "td { font-variant-numeric: tabular-nums }\n"
    ".table { overflow-x: auto; margin-bottom: 2em } td:first-child { white-space: nowrap }\n"
    ".note { max-width: 45em; border-left: 4px solid #e69f00; padding-left: 1em }\n"
    "footer { margin-top: 2em; font-size: 0.8em }\n"
    "@media print { body { margin: 0 } .chart details { display: none } "
    ".charts { display: block } figure { margin-bottom: 2em } }\n"
    "</style>\n";

/// A reader sees the note while the scripts load, and for good if they do not come.
void write_note(PageWriter &page, std::string_view scripts) {
  page << "<div class=\"note\" id=\"note\">\n<p>The charts of this page appear as soon as the "
          "browser has loaded the programs that draw them, ";
  for (std::size_t i = 0; i < std::size(scripts_of_page); ++i)
    page << (i == 0 ? "" : ", ") << scripts_of_page[i].name << ".min.js";
  page << ", from ";
  if (scripts.empty())
    page << "https://cdn.jsdelivr.net";
  else
    write_escaped(page, scripts);
  page << ".</p>\n<p>If no chart appears, they could not be loaded: ";
  if (scripts.empty())
    page << "there may be no way from here to that address, or what it sends is not what the page "
            "expects. Without the internet, put the three files into a directory beside the page, "
            "say js, and make the page with <code>bayes_page(title, charts, "
            "'{\"scripts\": \"js\"}')</code>.";
  else
    page << "the three files must be there, and scripts must not be switched off. Put them there, "
            "or make the page with another option <code>scripts</code>.";
  page << " They come with <code>npm install";
  for (const Script &script : scripts_of_page) page << " " << script.name << "@" << script.version;
  page << "</code>, as <code>node_modules/*/build/*.min.js</code>. Or give what "
          "<code>bayes_chart</code> returns to any other program that draws Vega-Lite, such as a "
          "notebook.</p>\n</div>\n";
}

/// A chart's specification may be anybody's. JSON.parse makes a member __proto__ an ordinary one,
/// and without usermeta there are no options for vega-embed, which would load what they name.
constexpr std::string_view draw =
    "<script>\n"
    "if (window.vega && window.vegaLite && window.vegaEmbed) {\n"
    "  document.getElementById(\"note\").remove();\n"
    "  for (const chart of document.querySelectorAll(\".chart\")) {\n"
    "    const specification = JSON.parse(chart.textContent);\n"
    "    delete specification.usermeta;\n"
    "    if (specification.concat || specification.width > 500) chart.parentElement.className = "
    "\"wide\";\n"
    "    if (specification.concat && window.innerWidth < 700) specification.columns = 1;\n"
    "    if (typeof specification.description === \"string\")\n"
    "      chart.nextElementSibling.textContent = specification.description;\n"
    "    vegaEmbed(chart, specification, {renderer: \"svg\"}).catch(error => {\n"
    "      chart.textContent = \"This chart could not be drawn: \" + error;\n"
    "      console.error(error);\n"
    "    });\n"
    "  }\n"
    "}\n"
    "</script>\n</body>\n</html>\n";

void write_tables(PageWriter &page, const std::vector<PageTable> &tables) {
  for (const PageTable &table : tables) {
    page.begin("table \"" + table.title + "\"", "Make a page of a smaller model.");
    page << "<h2>";
    write_escaped(page, table.title);
    page << "</h2>\n<div class=\"table\"><table>\n";
    const auto write_row = [&page](const std::vector<std::string> &texts, std::string_view cell) {
      page << "<tr>";
      for (const std::string &text : texts) {
        page << "<" << cell << ">";
        write_escaped(page, text);
        page << "</" << cell << ">";
      }
      page << "</tr>\n";
    };
    if (!table.columns.empty()) write_row(table.columns, "th");
    for (const std::vector<std::string> &row : table.rows) write_row(row, "td");
    page << "</table></div>\n";
    if (table.note.empty()) continue;
    page << "<p class=\"subtitle\">";
    write_escaped(page, table.note);
    page << "</p>\n";
  }
}

}  // namespace

std::string chart_page(const ChartPage &of, std::size_t charts,
                       const std::function<std::string(std::size_t)> &chart) {
  const std::string_view title = of.title;
  std::string scripts = of.scripts;
  while (!scripts.empty() && scripts.back() == '/') scripts.pop_back();
  PageWriter page;
  page.begin("its title", "Give a shorter title.");
  page << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>";
  write_escaped(page, title);
  page << "</title>\n" << head << "</head>\n<body>\n<h1>";
  write_escaped(page, title);
  page << "</h1>\n";
  if (!of.subtitle.empty()) {
    page << "<p class=\"subtitle\">";
    write_escaped(page, of.subtitle);
    page << "</p>\n";
  }
  write_tables(page, of.tables_before);
  page.begin("option \"scripts\"", "It is the directory or the address of three files.");
  write_note(page, scripts);
  page << "<div class=\"charts\">\n";
  for (std::size_t i = 0; i < charts; ++i) {
    const std::string number = std::to_string(i + 1);
    page.begin("chart " + number, "Make several pages, each of fewer or smaller charts.");
    page << "<figure><div class=\"chart\" id=\"chart" << number
         << "\"><script type=\"application/json\">";
    write_in_script(page, chart(i));
    page << "</script></div><figcaption></figcaption></figure>\n";
  }
  page << "</div>\n";
  write_tables(page, of.tables_after);
  page.begin("its date", "");
  page << "<footer>pg_bayes " << library_version << ", ";
  write_escaped(page, of.date);
  page << "</footer>\n";
  for (const auto &[name, version, integrity] : scripts_of_page) {
    page << "<script src=\"";
    if (scripts.empty()) {
      page << address << name << "@" << version << "/build/" << name << ".min.js\" integrity=\""
           << integrity << "\" crossorigin=\"anonymous";
    } else {
      write_escaped(page, scripts);
      page << "/" << name << ".min.js";
    }
    page << "\"></script>\n";
  }
  page << draw;
  return page.take();
}

}  // namespace bayes
