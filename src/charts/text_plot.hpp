// Charts for terminals: braille dots, blocks and lines of Unicode.
#pragma once

#include <string>

#include "base/api.hpp"
#include "charts/figure.hpp"

namespace bayes {

/// The smallest and the largest width of a plot.
inline constexpr int min_plot_width = 30, max_plot_width = 1000;

/// The panels one below the other, each line of at most `width` characters.
BAYES_API std::string text_plot(const Figure &figure, int width);

}  // namespace bayes
