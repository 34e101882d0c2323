#include "charts/figure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/message.hpp"

namespace bayes {
namespace {

/// A range of numbers that an axis shows.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double x) {
    if (!std::isfinite(x)) return;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  /// Where x is, from 0 to 1.
  double share(double x) const { return high > low ? (x - low) / (high - low) : 0.5; }
};

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

std::string utf8(unsigned code) {
  std::string out;
  out += char(0xe0 | (code >> 12));
  out += char(0x80 | ((code >> 6) & 0x3f));
  return out += char(0x80 | (code & 0x3f));
}

std::size_t characters(const std::string &text) {
  return std::size_t(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string padded(const std::string &text, std::size_t width, bool right = false) {
  const std::size_t size = characters(text);
  const std::string space(width > size ? width - size : 0, ' ');
  return right ? space + text : text + space;
}

std::string trimmed(std::string line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

/// Dots of braille: two across and four down in each character, and letters over them.
class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width),
        height_(height),
        dots_(std::size_t(width * height), 0),
        letters_(dots_.size()) {}

  /// x and y from 0 to 1, from the left and from below
  void dot(double x, double y) {
    if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) return;
    const int column = int(std::lround(x * (2 * width_ - 1))),
              row = int(std::lround((1 - y) * (4 * height_ - 1)));
    // the bits of U+2800, by row and column
    constexpr unsigned char bits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    dots_[std::size_t(row / 4 * width_ + column / 2)] |= bits[row % 4][column % 2];
  }
  void line(double x0, double y0, double x1, double y1) {
    if (!std::isfinite(x0 + y0 + x1 + y1)) return;
    const double steps =
        std::ceil(std::max(std::fabs(x1 - x0) * 2 * width_, std::fabs(y1 - y0) * 4 * height_)) + 1;
    for (double i = 0; i <= steps; ++i) dot(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps);
  }
  void text(double x, double y, const std::string &letter) {
    if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) return;
    const int column = int(std::lround(x * (width_ - 1))),
              row = int(std::lround((1 - y) * (height_ - 1)));
    letters_[std::size_t(row * width_ + column)] = letter;
  }
  std::string row(int r) const {
    std::string out;
    for (int c = 0; c < width_; ++c) {
      const std::size_t i = std::size_t(r * width_ + c);
      out += !letters_[i].empty() ? letters_[i] : dots_[i] ? utf8(0x2800u + dots_[i]) : " ";
    }
    return out;
  }

 private:
  int width_, height_;
  std::vector<unsigned char> dots_;
  std::vector<std::string> letters_;
};

/// One character for a series: a digit or a letter.
std::string letter_of(int series) {
  constexpr std::string_view letters =
      "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return series < 0 ? "*" : std::string(1, letters[std::size_t(series) % letters.size()]);
}

class PanelPlot {
 public:
  PanelPlot(const Figure &figure, const Panel &panel, int width)
      : figure_(figure),
        panel_(panel),
        width_(width) {
    for (const Layer &layer : panel.layers)
      for (const ChartItem &item : layer.items) {
        x_.add(item.x);
        y_.add(item.y);
        value_.add(item.value);
        const bool across = panel.x.categories.empty() && !panel.y.categories.empty();
        Range &numbers = across ? x_ : y_;
        numbers.add(item.low);
        numbers.add(item.high);
        if (layer.mark == Mark::bar) (numbers.add(0), void());
      }
    if (panel.x.zero) x_.add(0);
    if (panel.y.zero) y_.add(0);
    x_.add(panel.x.reference);
    y_.add(panel.y.reference);
    value_.add(panel.least);
    value_.add(panel.most);
  }

  std::string draw() {
    std::string out;
    if (!panel_.title.empty()) out += line(shortened(panel_.title, std::size_t(width_)));
    const bool rows = !panel_.y.categories.empty(), columns = !panel_.x.categories.empty();
    bool cells = false;
    for (const Layer &layer : panel_.layers) cells |= layer.mark == Mark::cell;
    if (cells) return out + draw_cells(rows, columns);
    if (rows) return out + draw_rows();
    if (columns) return out + draw_columns();
    return out + draw_canvas();
  }

 private:
  std::string line(const std::string &text) const {
    return trimmed(shortened(text, std::size_t(width_))) + "\n";
  }

  /// Numbers on both axes.
  std::string draw_canvas() const {
    const std::string high = number(y_.high), low = number(y_.low);
    const std::size_t margin = std::max(high.size(), low.size());
    const int across = std::max(10, width_ - int(margin) - 1), down = lines_of_canvas();
    Canvas canvas(across, down);
    draw_references(canvas);
    const auto place = [this](const ChartItem &item) {
      return std::pair(x_.share(item.x), y_.share(item.y));
    };
    for (const Layer &layer : panel_.layers) {
      const ChartItem *before = nullptr;
      for (const ChartItem &item : layer.items) {
        const auto [x, y] = place(item);
        switch (layer.mark) {
          case Mark::line:
            if (before && before->series == item.series && before->path == item.path) {
              const auto [x0, y0] = place(*before);
              canvas.line(x0, y0, x, y);
            }
            break;
          case Mark::area:
          case Mark::interval:
            canvas.dot(x, y_.share(item.low));
            canvas.dot(x, y_.share(item.high));
            break;
          case Mark::bar: canvas.line(x, y_.share(0), x, y); break;
          case Mark::name: canvas.text(x, y, letter_of(item.series)); break;
          default: canvas.dot(x, y);
        }
        before = &item;
      }
    }
    letter_peaks(canvas);
    std::string out;
    if (!panel_.y.title.empty()) out += line(shortened(panel_.y.title, std::size_t(width_)));
    for (int r = 0; r < down; ++r)
      out += line(padded(r == 0          ? high
                         : r == down - 1 ? low
                                         : std::string(),
                         margin, true) +
                  " " + canvas.row(r));
    return out + scale(margin + 1, across);
  }

  /// So many that the plot fits a terminal, if its panels are few: a wider one is higher.
  int lines_of_canvas() const {
    const int panels = int(figure_.panels.size()), lines = 19 * width_ / plot_width - 1;
    return std::clamp(lines / panels - 4, 5, width_ / 4);
  }

  /// Dotted lines at the numbers that axes mark.
  void draw_references(Canvas &canvas) const {
    constexpr int dots = 40;
    for (int i = 0; i <= dots; ++i) {
      canvas.dot(x_.share(panel_.x.reference), double(i) / dots);
      canvas.dot(double(i) / dots, y_.share(panel_.y.reference));
    }
  }

  /// Where series are lines without names, their highest points tell which is which.
  void letter_peaks(Canvas &canvas) const {
    std::map<int, const ChartItem *> peaks;
    for (const Layer &layer : panel_.layers) {
      if (layer.mark == Mark::name) return;
      if (layer.mark != Mark::line) continue;
      for (const ChartItem &item : layer.items) {
        if (item.series < 0 || std::isnan(item.y)) continue;
        const ChartItem *&peak = peaks[item.series];
        if (!peak || item.y > peak->y) peak = &item;
      }
    }
    if (peaks.size() < 2) return;
    for (const auto &[series, item] : peaks)
      canvas.text(x_.share(item->x), y_.share(item->y), letter_of(series));
  }

  /// The numbers of the axis below, with its title between.
  std::string scale(std::size_t margin, int across) const {
    const std::string low = number(x_.low), high = number(x_.high);
    const std::size_t room =
        std::size_t(across) - std::min(std::size_t(across), low.size() + high.size());
    std::string title = room > 4 ? shortened(panel_.x.title, room - 2) : std::string();
    const std::size_t left = (room - std::min(room, characters(title))) / 2;
    return line(std::string(margin, ' ') + low + padded(std::string(left, ' ') + title, room) +
                high);
  }

  /// Categories down, numbers across: bars, or intervals.
  std::string draw_rows() const {
    const std::vector<std::string> names = shortened(panel_.y.categories, std::size_t(width_ / 3));
    std::size_t margin = 0;
    for (const std::string &name : names) margin = std::max(margin, characters(name));
    const int across = std::max(10, width_ - int(margin) - 2);
    struct Row {
      double bar = std::nan(""), low = bar, high = bar;
      std::vector<double> points = {};
    };
    std::vector<Row> rows(names.size());
    for (const Layer &layer : panel_.layers)
      for (const ChartItem &item : layer.items) {
        Row &row = rows[std::size_t(item.y)];
        if (layer.mark == Mark::bar) row.bar = item.x;
        if (layer.mark == Mark::interval) (row.low = item.low, row.high = item.high);
        if (layer.mark == Mark::point) row.points.push_back(item.x);
      }
    std::string out;
    const auto column = [&](double x) {
      return std::clamp(int(std::lround(x_.share(x) * (across - 1))), 0, across - 1);
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row &row = rows[i];
      std::vector<std::string> cells(std::size_t(across), " ");
      const auto fill = [&](double from, double to, const char *with) {
        if (std::isnan(from + to)) return;
        for (int c = column(std::min(from, to)); c <= column(std::max(from, to)); ++c)
          cells[std::size_t(c)] = with;
      };
      const double mark = std::isnan(panel_.x.reference) ? 0 : panel_.x.reference;
      if (x_.low < mark && x_.high > mark) cells[std::size_t(column(mark))] = "\xe2\x94\x82";
      fill(0, row.bar, "\xe2\x96\x88");
      fill(row.low, row.high, "\xe2\x94\x80");
      for (const double point : row.points) cells[std::size_t(column(point))] = "\xe2\x97\x8f";
      std::string text = padded(names[i], margin, true) + "  ";
      for (const std::string &cell : cells) text += cell;
      out += line(text);
    }
    return out + scale(margin + 2, across);
  }

  /// Categories across, numbers up: a line of blocks for every series.
  std::string draw_columns() const {
    std::string out;
    const std::size_t n = panel_.x.categories.size();
    std::map<int, std::vector<double>> series;
    for (const Layer &layer : panel_.layers)
      for (const ChartItem &item : layer.items) {
        auto &values = series[item.series];
        values.resize(n, std::nan(""));
        values[std::size_t(item.x)] = item.y;
      }
    const std::size_t most = std::size_t(std::min(20, width_ / 3));
    const std::vector<std::string> names = shortened(panel_.x.categories, most);
    // A bar, and its number after it.
    const int room = width_ - int(most) - 2 - 11;
    for (const auto &[which, values] : series) {
      if (which >= 0) out += line(title_of_series(figure_, which));
      for (std::size_t v = 0; v < n; ++v) {
        if (std::isnan(values[v])) continue;
        const int full = int(std::lround(y_.share(values[v]) * room));
        std::string text = padded(names[v], most, true) + "  ";
        for (int c = 0; c < full; ++c) text += "\xe2\x96\x88";
        out += line(text + " " + number(values[v]));
      }
    }
    return out;
  }

  /// Cells as shades, a line for each row of them.
  std::string draw_cells(bool rows, bool columns) const {
    std::map<double, std::map<double, double>> grid;
    std::map<double, int> across;
    for (const Layer &layer : panel_.layers)
      for (const ChartItem &item : layer.items) {
        grid[item.y][item.x] = item.value;
        across.emplace(item.x, 0);
      }
    const std::vector<std::string> names =
        rows ? shortened(panel_.y.categories, std::size_t(width_ / 3)) : std::vector<std::string>();
    std::size_t margin = 0;
    for (const std::string &name : names) margin = std::max(margin, characters(name));
    if (!rows)
      for (const auto &[y, row] : grid) margin = std::max(margin, number(y).size());
    const std::size_t each = std::max<std::size_t>(
        1, std::min<std::size_t>(
               4, (std::size_t(width_) - std::min(std::size_t(width_ / 2), margin + 2)) /
                      std::max<std::size_t>(1, across.size())));
    std::string out;
    const auto write = [&](double y, const std::map<double, double> &row) {
      std::string text = padded(rows ? names[std::size_t(y)] : number(y), margin, true) + "  ";
      std::size_t used = margin + 2;
      for (const auto &[x, unused] : across) {
        if (used + each > std::size_t(width_)) break;
        const auto found = row.find(x);
        // ░▒▓█
        const double value = found == row.end() ? std::nan("") : found->second;
        const bool empty = std::isnan(value) || (value == 0 && value_.low == value_.high);
        const int shade = empty ? 0 : int(std::lround(4 * value_.share(value)));
        const std::string cell = shade == 0   ? " "
                                 : shade == 4 ? "\xe2\x96\x88"
                                              : utf8(0x2590u + unsigned(shade));
        for (std::size_t i = 0; i < each; ++i) text += cell;
        used += each;
      }
      out += line(text);
    };
    if (rows)
      for (const auto &[y, row] : grid) write(y, row);
    else
      for (auto at = grid.rbegin(); at != grid.rend(); ++at) write(at->first, at->second);
    if (!columns && !across.empty())
      out += line(std::string(margin + 2, ' ') + number(across.begin()->first) + " to " +
                  number(across.rbegin()->first) + ": " +
                  shortened(panel_.x.title, std::size_t(width_ / 2)));
    const std::size_t room =
        (std::size_t(width_) - std::min(std::size_t(width_), margin + 2)) / each;
    if (across.size() > room)
      out += line(message("the first {} of {} columns", room, across.size()));
    return out + line(std::string(margin + 2, ' ') + panel_.value + ": " + number(value_.low) +
                      " to " + number(value_.high));
  }

  const Figure &figure_;
  const Panel &panel_;
  const int width_;
  Range x_, y_, value_;
};

/// What a chart leaves out stands at the end of its subtitle, so that is not cut: lines of words.
std::string wrapped(const std::string &text, std::size_t width) {
  std::string out, line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = shortened(text.substr(at, end - at), width);
    if (!line.empty() && characters(line) + 1 + characters(word) > width) {
      out += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return line.empty() ? out : out + line + "\n";
}

/// Which letter stands for which series, where names are not their numbers.
std::string letters_of_names(const Figure &figure) {
  std::set<int> used;
  for (const Panel &panel : figure.panels) {
    if (!panel.x.categories.empty() || !panel.y.categories.empty()) continue;
    for (const Layer &layer : panel.layers)
      for (const ChartItem &item : layer.items)
        if (layer.mark == Mark::line || layer.mark == Mark::name) used.insert(item.series);
  }
  used.erase(-1);
  std::string out;
  bool named = false;
  for (const int series : used) {
    const std::string &name = figure.series[std::size_t(series)];
    named |= name != letter_of(series);
    out += (out.empty() ? "" : ", ") + letter_of(series) + " " + shortened(name, 40);
  }
  return named ? out : std::string();
}

}  // namespace

std::string text_plot(const Figure &figure, int width) {
  std::string out = shortened(figure.title, std::size_t(width)) + "\n";
  out += wrapped(figure.subtitle, std::size_t(width));
  out += wrapped(letters_of_names(figure), std::size_t(width));
  for (const Panel &panel : figure.panels) out += "\n" + PanelPlot(figure, panel, width).draw();
  return out;
}

}  // namespace bayes
