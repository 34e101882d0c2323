// Charts as Vega-Lite specifications, version 6 (https://vega.github.io/vega-lite), and pages that
// show them.
#pragma once

#include <span>
#include <string>

#include "base/api.hpp"
#include "charts/figure.hpp"
#include "document/document.hpp"

namespace bayes {

/// A specification with its data inline, numbers with six significant digits. Fields of the data
/// have names of our own, and names of columns and labels are only ever text, so that none can be
/// taken for an expression. Throws Error(too_large) if it has more than 200,000 bytes.
BAYES_API Document vega_lite(const Figure &figure);

/// One HTML page that shows charts, specifications of Vega-Lite, below each other. `scripts`: where
/// the page finds vega.min.js, vega-lite.min.js and vega-embed.min.js, a directory or an address;
/// empty: their public address. All texts are escaped.
BAYES_API std::string chart_page(const std::string &title, std::span<const std::string> charts,
                                 std::string scripts);

}  // namespace bayes
