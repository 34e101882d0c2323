#include "questions/label_and_number.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/control.hpp"
#include "base/root.hpp"
#include "questions/answers.hpp"

namespace bayes {
namespace {

using Support = Predicted::Support;
/// probability of the number that is left out, on both sides
constexpr double tail_left_out = 1e-12;
/// A piece is the sum of its halves if both differ by less; the error of that sum is far smaller.
constexpr double agreement = 1e-11;
/// how many component densities the integral may take
constexpr double most_densities = 2e9;
/// Pieces are made for this many components, whole draws of them: those of other draws are alike.
constexpr std::size_t components_cut = 512;

/// An end of a piece, and how far from it others should be.
struct Cut {
  double at, room;
};

class LabelAndNumber {
 public:
  LabelAndNumber(RowDistribution &rows, int label, int number)
      : rows_(rows),
        label_(std::size_t(label)),
        number_(std::size_t(number)),
        row_(std::size_t(rows.dimension()), std::nan("")) {
    rows_.condition(row_);
    p_ = rows_.probabilities(label);
    for (std::size_t u = 0; u < p_.size(); ++u) {
      // q[c] = p(u | c)
      std::vector<double> q(rows_.components().size());
      if (p_[u] > 0) {
        row_[label_] = rows_.categories(label)[u];
        rows_.condition(row_);
        for (std::size_t i = 0; i < rows_.active().size(); ++i) {
          const std::size_t c = std::size_t(rows_.active()[i]);
          q[c] = p_[u] * rows_.weights()[i] / rows_.components()[c].weight;
        }
      }
      shares_.push_back(std::move(q));
    }
    row_[label_] = std::nan("");
  }

  std::optional<double> nats() {
    rows_.condition(row_);
    const double low = quantile_given(rows_, int(number_), tail_left_out),
                 high = quantile_given(rows_, int(number_), 1 - tail_left_out);
    const std::span<const Predicted> parts = rows_.predicted(int(number_));
    if (!std::isfinite(low) || !std::isfinite(high) || parts.empty()) return std::nullopt;
    double out = 0;
    if (parts[0].support == Support::whole) {
      for (double y = low; y <= high && left_ > 0; ++y) out += at(y);
    } else if (parts[0].support == Support::real) {
      out = integral(pieces(cuts_of_locations(parts, low, high), low, high),
                     [this](double y) { return at(y); });
    } else {
      // Over the logarithm, so that a density may be infinite at 0.
      const double from = std::log(std::max(low, 1e-300)), to = std::log(high);
      out = integral(pieces(cuts_of_quantiles(parts), from, to),
                     [this](double t) { return at(std::exp(t)) * std::exp(t); });
    }
    if (!(left_ > 0) || !std::isfinite(out)) return std::nullopt;
    return out;
  }

 private:
  /// The integrand.
  double at(double y) {
    poll_here();
    left_ -= double(rows_.components().size());
    row_[number_] = y;
    const std::span<const double> joint = rows_.log_joint(row_);
    row_[number_] = std::nan("");
    const double largest = *std::max_element(joint.begin(), joint.end());
    if (!(largest > -std::numeric_limits<double>::infinity())) return 0;
    weights_.clear();
    double total = 0;
    for (const double each : joint) {
      weights_.push_back(std::exp(each - largest));
      total += weights_.back();
    }
    double divergence = 0;
    for (std::size_t u = 0; u < p_.size(); ++u) {
      double given = 0;
      for (std::size_t c = 0; c < weights_.size(); ++c) given += weights_[c] * shares_[u][c];
      given /= total;
      if (given > 0) divergence += given * std::log(given / p_[u]);
    }
    return std::exp(largest) * total * divergence;
  }

  /// The parts to make pieces for.
  std::size_t parts_cut() const {
    const std::span<const int> active = rows_.active();
    std::size_t out = std::min(components_cut, active.size());
    while (out < active.size() && rows_.components()[std::size_t(active[out])].draw ==
                                      rows_.components()[std::size_t(active[out - 1])].draw)
      ++out;
    return out;
  }

  /// At the location of each part, and at distances that double: a Student t has long tails.
  std::vector<Cut> cuts_of_locations(std::span<const Predicted> parts, double low,
                                     double high) const {
    std::vector<Cut> out;
    for (const Predicted &part : parts.first(parts_cut())) {
      out.push_back({part.a, part.b / 2});
      const double most = part.c == 0 ? 8 * part.b : high - low;
      for (double away = part.b; away <= most; away *= 2) {
        out.push_back({part.a - away, away});
        out.push_back({part.a + away, away});
      }
    }
    return out;
  }

  /// At quantiles of each part.
  std::vector<Cut> cuts_of_quantiles(std::span<const Predicted> parts) const {
    constexpr double levels[] = {1e-6, 1e-3, 0.02, 0.16, 0.5, 0.84, 0.98, 0.999, 1 - 1e-6};
    std::vector<Cut> out;
    const double one[] = {1};
    for (std::size_t i = 0; i < parts_cut(); ++i) {
      std::vector<double> places;
      for (const double level : levels)
        places.push_back(std::log(quantile_of_mixture(parts.subspan(i, 1), one, level)));
      for (std::size_t l = 0; l < places.size(); ++l)
        out.push_back({places[l], (places[l ? l : 1] - places[l ? l - 1 : 0])});
    }
    return out;
  }

  /// The ends of the pieces from `low` to `high`, without those that are close to another.
  static std::vector<double> pieces(std::vector<Cut> cuts, double low, double high) {
    constexpr double closest = 0.2;
    std::sort(cuts.begin(), cuts.end(), [](const Cut &a, const Cut &b) { return a.at < b.at; });
    std::vector<double> out = {low};
    for (const Cut &cut : cuts)
      if (cut.at < high && cut.at - out.back() > closest * cut.room) out.push_back(cut.at);
    out.push_back(high);
    return out;
  }

  template <class F> double integral(const std::vector<double> &ends, F f) {
    struct Piece {
      double from, to, value;
    };
    std::vector<Piece> open;
    const auto add = [&](double from, double to) {
      open.push_back({from, to, gauss_legendre_15.integral(from, to, f)});
      return open.back().value;
    };
    for (std::size_t i = 1; i < ends.size(); ++i)
      if (ends[i] > ends[i - 1]) add(ends[i - 1], ends[i]);
    double out = 0;
    while (!open.empty() && left_ > 0) {
      const Piece piece = open.back();
      open.pop_back();
      const double middle = piece.from + (piece.to - piece.from) / 2;
      if (!(piece.from < middle && middle < piece.to)) return std::nan("");
      const double halves = add(piece.from, middle) + add(middle, piece.to);
      if (!std::isfinite(halves)) return std::nan("");
      if (std::abs(halves - piece.value) >= agreement) continue;
      open.resize(open.size() - 2);
      out += halves;
    }
    return out;
  }

  RowDistribution &rows_;
  std::size_t label_, number_;
  std::vector<double> row_;
  /// the probabilities of the labels, and [label][component] given the component
  std::vector<double> p_;
  std::vector<std::vector<double>> shares_;
  std::vector<double> weights_;
  double left_ = most_densities;
};

}  // namespace

std::optional<double> information_of_label_and_number(RowDistribution &rows, int label,
                                                      int number) {
  return LabelAndNumber(rows, label, number).nats();
}

}  // namespace bayes
