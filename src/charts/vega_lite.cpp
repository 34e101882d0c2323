#include "charts/figure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>
#include <span>

#include "base/error.hpp"
#include "base/message.hpp"

namespace bayes {
namespace {

constexpr std::size_t title_characters = 80, name_characters = 40, largest = 200000;

/// Okabe and Ito's colours, which people with any kind of colour blindness can tell apart; the
/// pale yellow comes last.
constexpr const char *others_colour = "#bbbbbb", *interval_colour = "#999999";
constexpr const char *palette[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                   "#56b4e9", "#d55e00", "#000000", "#f0e442"};

Document object(std::initializer_list<Document::Member> members) {
  Document out = Document::object();
  for (const auto &[key, value] : members) out.set(key, value);
  return out;
}

/// Numbers of one axis or scale, as they are written: to a millionth of their range, as a chart has
/// fewer pixels. Six digits of each number would not do: of times since 1970 all of an hour are
/// one.
class Written {
 public:
  void add(double x) {
    if (!std::isfinite(x)) return;
    whole_ &= x == std::floor(x);
    low_ = std::min(low_, x);
    high_ = std::max(high_, x);
  }
  /// Of a colour the eye cannot tell as many.
  void coarse() { digits_ = 4; }
  /// Are all of them whole numbers?
  bool whole() const { return whole_; }
  /// On a logarithmic axis every number has digits of its own.
  void logarithmic() { own_digits_ = true; }
  double low() const { return low_; }
  double high() const { return high_; }
  Document operator()(double x) const {
    const double range = own_digits_    ? std::fabs(x)
                         : high_ > low_ ? high_ - low_
                                        : std::fabs(high_);
    const double unit = range > 0 ? std::pow(10, std::floor(std::log10(range)) - digits_) : 1;
    // The digits of a multiple of the unit, without those that it gets by rounding.
    char text[32];
    std::snprintf(text, sizeof text, "%.15g", std::round(x / unit) * unit);
    const double value = std::isfinite(x / unit) ? std::strtod(text, nullptr) : x;
    // Whole numbers without a point take less space.
    if (value == std::floor(value) && std::fabs(value) < 1e15) return std::int64_t(value);
    return value;
  }

 private:
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
  int digits_ = 6;
  bool own_digits_ = false, whole_ = true;
};

/// Numbers within these bounds that a logarithmic axis shows, at most 8: of each power of ten those
/// that leave the distances alike. Within narrow bounds there may be fewer than two.
Document::List ticks_of_ratios(double low, double high) {
  constexpr double tens[] = {1}, few[] = {1, 2, 5}, many[] = {1, 1.2, 1.5, 2, 3, 4, 5, 7},
                   most[] = {1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9};
  Document::List out;
  for (const std::span<const double> of :
       {std::span<const double>(most), std::span<const double>(many), std::span<const double>(few),
        std::span<const double>(tens)}) {
    out.clear();
    for (double power = std::floor(std::log10(low)); power <= std::log10(high); ++power)
      for (const double digit : of) {
        // 0.7, and not 0.7000000000000001
        const double tick = std::strtod(message("{}e{}", digit, int(power)).c_str(), nullptr);
        if (tick >= low && tick <= high) out.emplace_back(tick);
      }
    if (out.size() <= 8) return out;
  }
  const std::size_t each = (out.size() + 7) / 8;
  Document::List fewer;
  for (std::size_t i = 0; i < out.size(); i += each) fewer.push_back(out[i]);
  return fewer;
}

Document texts(const std::vector<std::string> &from) {
  Document::List out;
  for (const std::string &each : from) out.emplace_back(each);
  return out;
}

Document domain(const std::vector<std::string> &names) {
  return object({{"domain", texts(names)}});
}

/// The channels of one panel, from names that are short enough.
class PanelWriter {
 public:
  PanelWriter(const Figure &figure, const Panel &panel)
      : panel_(panel),
        wide_(figure.wide),
        given_width_(figure.width),
        titled_(figure.panels.size() > 1 || figure.title.empty()),
        series_are_(shortened(figure.series_are, name_characters)),
        series_(shortened(figure.series, name_characters)) {
    for (const Panel &each : figure.panels)
      for (const Layer &layer : each.layers)
        for (const ChartItem &item : layer.items)
          if (item.series >= 0) used_.insert(item.series);
    const bool across = panel.x.categories.empty() && !panel.y.categories.empty();
    for (const Layer &layer : panel.layers)
      for (const ChartItem &item : layer.items) {
        written_[0].add(item.x);
        written_[1].add(item.y);
        written_[across ? 0 : 1].add(item.low);
        written_[across ? 0 : 1].add(item.high);
        values_.add(item.value);
      }
    for (const int which : {0, 1}) {
      written_[which].add(axis(which).reference);
      if (axis(which).logarithmic) written_[which].logarithmic();
    }
    if (std::isfinite(panel.most)) {
      values_.add(panel.least);
      values_.add(panel.most);
      values_.coarse();
    }
    others_ = figure.others;
    if (panel.equal) {
      const double low = std::min(written_[0].low(), written_[1].low()),
                   high = std::max(written_[0].high(), written_[1].high());
      for (Written &each : written_) {
        each.add(low);
        each.add(high);
      }
    }
    bounds_ = across ? 0 : 1;
    names_[0] = shortened(panel.x.categories, name_characters);
    names_[1] = shortened(panel.y.categories, name_characters);
    titles_[0] = shortened(panel.x.title, title_characters);
    titles_[1] = shortened(panel.y.title, title_characters);
  }

  Document write() const {
    Document::List layers;
    for (const int axis : {0, 1})
      if (std::isfinite(this->axis(axis).reference)) layers.push_back(reference(axis));
    for (const Layer &layer : panel_.layers) {
      if (layer.items.empty()) continue;
      layers.push_back(write(layer));
      if (written_out(layer)) layers.push_back(numbers_of(layer));
      if (layer.mark == Mark::area && layer.stacked) layers.push_back(pointed_at(layer));
    }
    Document out = object({{"width", width()}, {"height", height()}});
    if (!panel_.title.empty() && titled_)
      out.set("title", shortened(panel_.title, title_characters));
    out.set("layer", std::move(layers));
    return out;
  }

 private:
  int extent(int axis) const {
    const std::size_t n = names_[axis].size();
    if (n == 0) return axis == 0 && given_width_ > 0 ? given_width_ : wide_ ? 680 : 320;
    const bool spacious = !panel_.layers.empty() && written_out(panel_.layers[0]);
    return int(std::clamp<std::size_t>((spacious ? 48
                                        : n <= 8 ? 30
                                                 : 18) *
                                           n,
                                       over_time(axis) ? 320 : 60, 720));
  }
  int width() const { return extent(0); }
  int height() const {
    if (!names_[1].empty()) return extent(1);
    if (panel_.equal) return extent(0);
    return wide_ ? 120 : std::clamp(extent(0) * 11 / 16, 120, 400);
  }
  const Axis &axis(int which) const { return which ? panel_.y : panel_.x; }

  static bool has_series(const Layer &layer) {
    return std::any_of(layer.items.begin(), layer.items.end(),
                       [](const ChartItem &item) { return item.series >= 0; });
  }
  bool cells() const { return panel_.layers[0].mark == Mark::cell; }
  bool has(Mark mark) const {
    return std::any_of(panel_.layers.begin(), panel_.layers.end(),
                       [mark](const Layer &layer) { return layer.mark == mark; });
  }
  const std::vector<double> &times(int axis) const { return this->axis(axis).times; }
  /// The names of its categories are times, which have distances.
  bool over_time(int axis) const { return !times(axis).empty(); }
  bool discrete(int axis) const { return !names_[axis].empty(); }

  /// A value of an axis, as it stands in the data.
  Document value(int axis, double x) const {
    if (over_time(axis)) return std::int64_t(times(axis)[std::size_t(x)]);
    return discrete(axis) ? Document(names_[axis][std::size_t(x)]) : written_[axis](x);
  }

  /// The factor by which a logarithmic axis goes beyond its numbers.
  double room(int axis) const {
    return std::max(1.001, std::pow(written_[axis].high() / written_[axis].low(), 0.05));
  }
  /// Vega's own ticks lack labels below 1, but serve where ours would be too few.
  void set_ticks_of_ratios(int axis, Document &out) const {
    Document::List ticks =
        ticks_of_ratios(written_[axis].low() / room(axis), written_[axis].high() * room(axis));
    if (ticks.size() > 2) out.set("axis", object({{"values", std::move(ticks)}}));
  }

  Document position(int axis, const char *field) const {
    Document out = object({{"field", field}});
    if (over_time(axis)) {
      // The times are local ones, as if they were those of Greenwich.
      out.set("type", "temporal").set("scale", object({{"type", "utc"}, {"nice", false}}));
    } else if (discrete(axis)) {
      out.set("type", "nominal").set("scale", domain(names_[axis])).set("sort", Document());
    } else {
      out.set("type", "quantitative");
      // Panels over time have the same axis, whatever their marks.
      const bool zero = this->axis(axis).zero, close = cells() || (wide_ && axis == 0);
      const bool logarithmic = this->axis(axis).logarithmic;
      Document scale = object({{"nice", !close && !logarithmic}});
      const Written &written = written_[axis];
      const auto between = [&](double low, double high) {
        scale.set("domain", Document::List{written(low), written(high)});
      };
      if (logarithmic) {
        // A scale of ratios has no room at its ends by itself.
        between(written.low() / room(axis), written.high() * room(axis));
        scale.set("type", "log");
      } else {
        if (panel_.equal && written.low() < written.high()) between(written.low(), written.high());
        if (!zero && !close) scale.set("padding", 8);
        scale.set("zero", zero);
      }
      out.set("scale", std::move(scale));
    }
    const auto longest = [](const std::vector<std::string> &names) {
      std::size_t size = 0;
      for (const std::string &name : names) size = std::max(size, name.size());
      return size;
    };
    if (axis == 0 && discrete(axis) && !over_time(axis) && names_[0].size() <= 24 &&
        longest(names_[0]) <= (names_[0].size() <= 8 ? 4 : 2))
      out.set("axis", object({{"grid", false}, {"labelAngle", 0}}));
    else if (cells())
      out.set("axis", object({{"grid", false}}));
    else if (this->axis(axis).logarithmic)
      set_ticks_of_ratios(axis, out);
    else if (!discrete(axis) && !over_time(axis) && written_[axis].whole())
      out.set("axis", object({{"tickMinStep", 1}}));
    return out.set("title", titles_[axis]);
  }

  Document tooltip(const Layer &layer) const {
    Document::List out;
    const auto add = [&out](const char *field, const char *type, const std::string &title) {
      out.push_back(object({{"field", field}, {"type", type}, {"title", title}}));
    };
    const ChartItem &first = layer.items.front();
    if (has_series(layer)) add("s", "nominal", series_are_);
    const auto axis = [&](int which, const char *field) {
      if (over_time(which)) return add("t", "nominal", titles_[which]);
      add(field, discrete(which) ? "nominal" : "quantitative",
          titles_[which].empty() ? field : titles_[which]);
    };
    if (layer.mark == Mark::cell && !discrete(0)) {
      axis(0, "x0");
    } else if (!std::isnan(first.x)) {
      axis(0, "x");
    }
    if (layer.mark == Mark::cell && !discrete(1)) {
      axis(1, "y0");
    } else if (!std::isnan(first.y)) {
      axis(1, "y");
    }
    const std::string interval =
        layer.interval.empty() ? std::string() : " (" + layer.interval + ")";
    if (!std::isnan(first.low) && !layer.stacked) {
      add("l", "quantitative", "lower" + interval);
      add("h", "quantitative", "upper" + interval);
    }
    if (!std::isnan(first.value)) add("v", "quantitative", panel_.value);
    return out;
  }

  Document shades() const {
    Document out = object({{"scheme", "viridis"}});
    if (std::isfinite(panel_.most))
      out.set("domain", Document::List{Document(panel_.least), Document(panel_.most)});
    return out;
  }

  /// Series that are nowhere in the chart have no place in its legend.
  Document colour() const {
    Document::List names, colours;
    for (const int series : used_) {
      colours.emplace_back(series == others_ ? others_colour
                                             : palette[names.size() % std::size(palette)]);
      names.emplace_back(series_[std::size_t(series)]);
    }
    return object(
        {{"field", "s"},
         {"type", "nominal"},
         {"title", series_are_},
         {"sort", Document()},
         {"scale", object({{"domain", std::move(names)}, {"range", std::move(colours)}})}});
  }

  Document data(const Layer &layer) const {
    Document::List values;
    for (const ChartItem &item : layer.items) {
      Document out = Document::object();
      const auto place = [&](int axis, double x) {
        if (!std::isfinite(x)) return;
        const bool middle = layer.mark == Mark::cell && !discrete(axis);
        out.set(middle ? (axis ? "y0" : "x0") : axis ? "y" : "x", value(axis, x));
      };
      place(0, item.x);
      place(1, item.y);
      if (std::isfinite(item.low)) out.set("l", written_[bounds_](item.low));
      if (std::isfinite(item.high)) out.set("h", written_[bounds_](item.high));
      if (std::isfinite(item.value)) out.set("v", values_(item.value));
      if (item.series >= 0) out.set("s", series_[std::size_t(item.series)]);
      if (over_time(0)) out.set("t", names_[0][std::size_t(item.x)]);
      // The order of the items is that of the line, which need not go from left to right.
      if (layer.mark == Mark::line) out.set("p", item.path).set("i", std::int64_t(values.size()));
      values.push_back(std::move(out));
    }
    return object({{"values", std::move(values)}});
  }

  /// A line across the panel at a number of the axis.
  Document reference(int which) const {
    const char *const field = which ? "y" : "x";
    const Document at = object({{field, written_[which](axis(which).reference)}});
    return object({{"data", object({{"values", Document::List{at}}})},
                   {"mark", object({{"type", "rule"},
                                    {"color", interval_colour},
                                    {"strokeDash", Document::List{Document(4), Document(3)}}})},
                   {"encoding", object({{field, position(which, field)}})}});
  }

  /// What an area tells of who points at it need not be the item that is there: each has a rule,
  /// which nobody sees.
  Document pointed_at(const Layer &layer) const {
    const double between = double(width()) / double(std::max<std::size_t>(1, names_[0].size()));
    Document encoding = object({{"x", position(0, "x")}, {"y", position(1, "l")}});
    encoding.set("y2", object({{"field", "h"}})).set("tooltip", tooltip(layer));
    return object(
        {{"data", data(layer)},
         {"mark",
          object({{"type", "rule"}, {"strokeWidth", std::max(2, int(between))}, {"opacity", 0}})},
         {"encoding", std::move(encoding)}});
  }

  /// Cells that are few have their numbers in them.
  bool written_out(const Layer &layer) const {
    constexpr std::size_t most = 8;
    return layer.mark == Mark::cell && discrete(0) && discrete(1) && names_[0].size() <= most &&
           names_[1].size() <= most;
  }
  Document numbers_of(const Layer &layer) const {
    double least = panel_.least, most = panel_.most;
    for (const ChartItem &item : layer.items) {
      least = std::fmin(least, item.value);
      most = std::fmax(most, item.value);
    }
    // The shades of large numbers are bright.
    const Document colour = object(
        {{"condition",
          object({{"test", message("datum.v > {}", (least + most) / 2)}, {"value", "black"}})},
         {"value", "white"}});
    return object(
        {{"data", data(layer)},
         {"mark", object({{"type", "text"}})},
         {"encoding", object({{"x", position(0, "x")},
                              {"y", position(1, "y")},
                              {"text", object({{"field", "v"},
                                               {"type", "quantitative"},
                                               {"format", values_.whole() ? ".3~g" : ".2~g"}})},
                              {"color", colour}})}});
  }

  /// The edges of cells, computed from their middles: two numbers less for each.
  Document::List edges_of(const Layer &layer) const {
    Document::List edges;
    const auto edge = [&edges](const char *middle, const char *from, const char *to, double half) {
      const std::string of = std::string("datum.") + middle;
      edges.push_back(object({{"calculate", message("{} - {}", of, half)}, {"as", from}}));
      edges.push_back(object({{"calculate", message("{} + {}", of, half)}, {"as", to}}));
    };
    if (layer.mark == Mark::cell && !discrete(0)) edge("x0", "x", "x2", panel_.width / 2);
    if (layer.mark == Mark::cell && !discrete(1)) edge("y0", "y", "y2", panel_.height / 2);
    return edges;
  }

  void set_point(Document &mark) const {
    // Estimates lie on their intervals or bars, rows on each other.
    const bool alone = has(Mark::interval) || has(Mark::bar);
    mark.set("type", "point").set("filled", true).set("size", alone ? 70 : 30);
    if (alone) mark.set("opacity", 1);
    // White with an edge, which is seen on every shade.
    if (cells()) mark.set("color", "white").set("stroke", "black").set("strokeWidth", 0.7);
  }

  Document write(const Layer &layer) const {
    Document mark = Document::object(), encoding = Document::object();
    const bool coloured = has_series(layer);
    encoding.set("x", position(0, "x")).set("y", position(1, "y"));
    const auto plain = [](const char *field) { return object({{"field", field}}); };
    switch (layer.mark) {
      case Mark::point: set_point(mark); break;
      case Mark::line:
        mark.set("type", "line");
        if (layer.guide)
          mark.set("color", interval_colour)
              .set("strokeWidth", 1)
              .set("strokeDash", Document::List{Document(4), Document(3)});
        encoding.set("detail", object({{"field", "p"}, {"type", "nominal"}}));
        encoding.set("order", object({{"field", "i"}, {"type", "quantitative"}}));
        break;
      case Mark::area:
        // One behind lines shows them; those of series lie on each other.
        mark.set("type", "area").set("opacity", coloured ? 0.85 : 0.3);
        // What is of no series has the colour of none.
        if (!coloured && !used_.empty()) mark.set("color", others_colour).set("opacity", 0.7);
        encoding.set("y", position(1, "l")).set("y2", plain("h"));
        break;
      case Mark::bar:
        mark.set("type", "bar");
        // Bars that are not parts of one whole stand beside each other.
        if (coloured && !layer.stacked && discrete(0))
          encoding.set("xOffset", object({{"field", "s"}, {"sort", Document()}}));
        break;
      case Mark::interval: {
        mark.set("type", "rule").set("size", 4).set("color", interval_colour);
        const int numbers = bounds_;
        const char *const at[] = {"x", "y"}, *const to[] = {"x2", "y2"};
        encoding.set(at[numbers], position(numbers, "l")).set(to[numbers], plain("h"));
        break;
      }
      case Mark::cell:
        mark.set("type", "rect");
        if (!discrete(0)) encoding.set("x2", plain("x2"));
        if (!discrete(1)) encoding.set("y2", plain("y2"));
        encoding.set("color", object({{"field", "v"},
                                      {"type", "quantitative"},
                                      {"title", panel_.value},
                                      {"scale", shades()}}));
        break;
      case Mark::name:
        mark.set("type", "text").set("fontWeight", "bold");
        encoding.set("text", object({{"field", "s"}, {"type", "nominal"}}));
        break;
    }
    if (coloured && layer.mark != Mark::name) encoding.set("color", colour());
    if (layer.stacked) mark.set("stroke", "white").set("strokeWidth", 1);
    if (layer.mark != Mark::area || !layer.stacked) encoding.set("tooltip", tooltip(layer));
    Document out = object(
        {{"data", data(layer)}, {"mark", std::move(mark)}, {"encoding", std::move(encoding)}});
    if (Document::List edges = edges_of(layer); !edges.empty())
      out.set("transform", std::move(edges));
    return out;
  }

  const Panel &panel_;
  const bool wide_;
  const int given_width_;
  /// The panel has a title of its own beside that of the figure.
  const bool titled_;
  const std::string series_are_;
  const std::vector<std::string> series_;
  std::set<int> used_;
  /// of the axes, and of the values of cells; bounds are along axis bounds_
  Written written_[2], values_;
  int bounds_, others_;
  std::vector<std::string> names_[2];
  std::string titles_[2];
};

}  // namespace

Document vega_lite(const Figure &figure) {
  Document out = object({{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"}});
  if (!figure.source.empty()) out.set("description", shortened(figure.source, name_characters * 4));
  Document title =
      object({{"text", shortened(figure.title, title_characters)}, {"anchor", "start"}});
  if (!figure.subtitle.empty())
    title.set("subtitle", shortened(figure.subtitle, 2 * title_characters));
  if (!figure.title.empty() || !figure.subtitle.empty()) out.set("title", std::move(title));
  if (figure.panels.size() == 1) {
    out.set_all(PanelWriter(figure, figure.panels[0]).write());
  } else {
    Document::List panels;
    for (const Panel &panel : figure.panels) panels.push_back(PanelWriter(figure, panel).write());
    const double columns = std::ceil(std::sqrt(double(figure.panels.size())));
    out.set("columns", figure.wide ? 1 : int(std::min(columns, 4.0)))
        .set("concat", std::move(panels));
    // Every panel has its own axes, but series have one colour in all of them.
    out.set("resolve", object({{"scale", object({{"color", "shared"}})}}));
  }
  // Below the panels, as a chart beside another has no room.
  // Labels stand at their ticks, also at the ends, where they would else meet others.
  out.set("config", object({{"legend", object({{"orient", "bottom"}, {"columns", 8}})},
                            {"axis", object({{"labelFlush", false}, {"labelSeparation", 4}})}}));
  if (const std::size_t size = out.to_json().size(); size > largest)
    throw Error(Errc::too_large,
                message("the chart has {} bytes, but may have at most {}", size, largest), {},
                figure.smaller);
  return out;
}

}  // namespace bayes
