// Charts as Vega-Lite specifications, version 6 (https://vega.github.io/vega-lite), and pages that
// show them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/api.hpp"
#include "charts/figure.hpp"
#include "document/document.hpp"

namespace bayes {

/// A specification with its data inline, numbers with six significant digits. Fields of the data
/// have names of our own, and names of columns and labels are only ever text, so that none can be
/// taken for an expression. Throws Error(too_large) if it has more than 200,000 bytes.
BAYES_API Document vega_lite(const Figure &figure);

/// One HTML page that shows so many charts, specifications of Vega-Lite, below each other: chart(i)
/// returns the JSON of one. `scripts`: where the page finds vega.min.js, vega-lite.min.js and
/// vega-embed.min.js, a directory or an address; empty: their public address. All texts are
/// escaped. Throws Error(too_large) if the page has more than 1000 MB.
BAYES_API std::string chart_page(std::string_view title, std::size_t charts,
                                 const std::function<std::string(std::size_t)> &chart,
                                 std::string scripts);

}  // namespace bayes
