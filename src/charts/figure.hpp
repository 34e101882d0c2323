// What a chart shows, in terms of the data: panels with axes and layers of marks. Who draws it
// (vega_lite.cpp, text_plot.cpp) knows nothing of models, and who makes it nothing of drawing; its
// items are also what bayes_chart_data returns.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "document/document.hpp"

namespace bayes {

enum class Mark : char {
  point,
  /// through the items of a series and a path, in their order
  line,
  /// between low and high, over x
  area,
  /// from 0 to the number on the axis that has no categories
  bar,
  /// from low to high: beside a category on the other axis along that of numbers, else upwards at x
  interval,
  /// around x and y, coloured by value
  cell,
  /// the name of the series
  name
};
/// "point", "line", ...
BAYES_API const char *name_of(Mark mark);

/// NaN is absent.
struct ChartItem {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  /// on axes with categories the index of one
  double x = none, y = none;
  double low = none, high = none;
  double value = none;
  /// an index into the names of the figure's series; -1: of none
  int series = -1;
  /// tells lines of one series apart
  int path = 0;
};

struct Layer {
  Mark mark = Mark::point;
  std::vector<ChartItem> items = {};
  /// what low and high are, for those who point at an item
  std::string interval = {};
  /// Items of one place lie on each other, with an edge: y is how much, low and high are where.
  bool stacked = false;
  /// A line that shows where items should be.
  bool guide = false;
};

struct Axis {
  std::string title;
  /// names in the order in which the axis shows them; none: the axis has numbers
  std::vector<std::string> categories = {};
  /// the axis begins at 0
  bool zero = false;
  /// a number that the axis has, marked by a line across the panel
  double reference = ChartItem::none;
  /// equal ratios have equal distances; all numbers are positive
  bool logarithmic = false;
  /// when the categories are, in milliseconds since 1970, ascending: they have distances; else none
  std::vector<double> times = {};
};

struct Panel {
  std::string title = {};
  Axis x, y;
  /// what the values of cells, or of points, are
  std::string value = {};
  /// the extent of a cell on an axis of numbers
  double width = 0, height = 0;
  /// the bounds of what the values of cells can be; absent: those that there are
  double least = ChartItem::none, most = ChartItem::none;
  /// Distances mean the same along both axes.
  bool equal = false;
  std::vector<Layer> layers = {};
};

/// Texts are UTF-8, of any length and content: they come from columns and rows.
struct Figure {
  std::string title, subtitle = {};
  /// the model that it is of, and its data: "gmm of 2 components, em, 272 rows"
  std::string source = {};
  /// the extent of a panel that has numbers across, in pixels; 0: by its kind
  int width = 0;
  /// what a series is: component, topic
  std::string series_are = {};
  std::vector<std::string> series = {};
  /// which of them stands for all that are not shown; -1: none
  int others = -1;
  std::vector<Panel> panels = {};
  /// Panels are over time: wide, one below the other.
  bool wide = false;
  /// what makes the chart smaller, for the HINT of one that is too large; empty: nothing
  std::string smaller = {};
};

/// "topic 3", or the name of a series that has one.
std::string title_of_series(const Figure &figure, int series);

/// The code point of the character of UTF-8 at `at`, which moves behind it.
std::uint32_t next_code(std::string_view text, std::size_t &at);
/// The character that stands for one of a name or a title, as these could else reverse or break
/// what stands beside them: a space for controls and ends of lines, U+FFFD for characters that
/// change the direction of writing. Others stand for themselves.
std::uint32_t shown(std::uint32_t code);

/// A text on one line, as it is shown, of at most `most` characters: what is left out is shown by
/// three dots.
std::string shortened(const std::string &text, std::size_t most);
/// The same for names that have to remain different.
std::vector<std::string> shortened(const std::vector<std::string> &texts, std::size_t most);

// Charts as Vega-Lite specifications, version 6 (https://vega.github.io/vega-lite), and pages that
// show them.

/// A specification with its data inline, numbers with six significant digits. Fields of the data
/// have names of our own, and names of columns and labels are only ever text, so that none can be
/// taken for an expression. Throws Error(too_large) if it has more than 200,000 bytes.
BAYES_API Document vega_lite(const Figure &figure);

/// A table of a page: its columns, and rows of as many texts.
struct PageTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows = {};
  /// what stands below it; empty: nothing
  std::string note = {};
};

/// One HTML page.
struct ChartPage {
  std::string title, subtitle = {};
  /// where the page finds vega.min.js, vega-lite.min.js and vega-embed.min.js, a directory or an
  /// address; empty: their public address
  std::string scripts = {};
  /// when it was made
  std::string date = {};
  std::vector<PageTable> tables_before = {}, tables_after = {};
};

/// The page with so many charts, specifications of Vega-Lite, side by side where there is room:
/// chart(i) returns the JSON of one, whose description stands below it. All texts are escaped.
/// Throws Error(too_large) if the page has more than 1000 MB.
BAYES_API std::string chart_page(const ChartPage &page, std::size_t charts,
                                 const std::function<std::string(std::size_t)> &chart);

// Charts for terminals: braille dots, blocks and lines of Unicode.

/// The smallest and the largest width of a plot.
inline constexpr int min_plot_width = 30, max_plot_width = 1000;

/// The width if none is given: that of a terminal of 80 columns, within the frame of psql.
inline constexpr int plot_width = 72;

/// The panels one below the other, each line of at most `width` characters. A plot of one panel
/// has, at the default width, at most 20 lines, so that psql shows all of it on 24.
BAYES_API std::string text_plot(const Figure &figure, int width);

}  // namespace bayes
