#include "questions/dependence.hpp"

#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "base/message.hpp"
#include "document/option_table.hpp"
#include "questions/label_and_number.hpp"

namespace bayes {
namespace {

/// the most numbers of the draws
constexpr double max_numbers = 2e7;

class Pairs {
 public:
  Pairs(RowDistribution &rows, const DependenceOptions &options)
      : rows_(rows),
        options_(options),
        d_(std::size_t(rows.dimension())),
        nothing_(d_, std::nan("")),
        row_(nothing_),
        single_(d_) {}

  MutualInformation of(int first, int second) {
    MutualInformation out{first, second, std::nan(""), 0, std::nan("")};
    const bool labels[] = {!rows_.categories(first).empty(), !rows_.categories(second).empty()};
    if (first == second) {
      if (labels[0]) out.nats = entropy(first);
      return out;
    }
    if (labels[0] && labels[1])
      out.nats = of_categories(first, second);
    else if (!labels[0] && !labels[1] && one_normal(first, second))
      out.nats = of_normals(first, second);
    else if (const auto exact = labels[0] != labels[1] ? information_of_label_and_number(
                                                             rows_, labels[0] ? first : second,
                                                             labels[0] ? second : first)
                                                       : std::nullopt)
      out.nats = *exact;
    else
      estimate(first, second, out);
    out.nats = std::max(0.0, out.nats);
    out.dependence = std::sqrt(-std::expm1(-2 * out.nats));
    return out;
  }

 private:
  double entropy(int element) {
    rows_.condition(nothing_);
    double out = 0;
    for (const double p : rows_.probabilities(element))
      if (p > 0) out -= p * std::log(p);
    return out;
  }

  /// sum p(u) p(v | u) log(p(v | u) / p(v))
  double of_categories(int first, int second) {
    rows_.condition(nothing_);
    const std::vector<double> p = rows_.probabilities(first), q = rows_.probabilities(second);
    double out = 0;
    for (std::size_t u = 0; u < p.size(); ++u) {
      if (!(p[u] > 0)) continue;
      row_[std::size_t(first)] = rows_.categories(first)[u];
      rows_.condition(row_);
      const std::vector<double> given = rows_.probabilities(second);
      for (std::size_t v = 0; v < q.size(); ++v)
        if (given[v] > 0) out += p[u] * given[v] * std::log(given[v] / q[v]);
    }
    row_[std::size_t(first)] = std::nan("");
    return out;
  }

  /// Has one component all the weight, and are both normal (of no degrees of freedom)?
  bool one_normal(int first, int second) {
    rows_.condition(nothing_);
    if (rows_.active().size() != 1) return false;
    for (const int element : {first, second}) {
      const Predicted of = rows_.predicted(element)[0];
      if (of.support != Predicted::Support::real || of.c != 0) return false;
    }
    return true;
  }

  /// -log(1 - rho^2) / 2, with the variance left once the other is known
  double of_normals(int first, int second) {
    rows_.condition(nothing_);
    const double whole = rows_.moments(second).second;
    row_[std::size_t(first)] = rows_.moments(first).first;
    rows_.condition(row_);
    const double left = rows_.moments(second).second;
    row_[std::size_t(first)] = std::nan("");
    return -0.5 * std::log(left / whole);
  }

  void estimate(int first, int second, MutualInformation &out) {
    draw();
    const std::vector<double> &one = alone(first), &other = alone(second);
    double sum = 0, squares = 0;
    for (int i = 0; i < options_.draws; ++i) {
      poll_here();
      row_[std::size_t(first)] = drawn(i, first);
      row_[std::size_t(second)] = drawn(i, second);
      const double each = rows_.log_density(row_) - one[std::size_t(i)] - other[std::size_t(i)];
      sum += each;
      squares += each * each;
    }
    row_[std::size_t(first)] = row_[std::size_t(second)] = std::nan("");
    const double n = options_.draws;
    out.nats = sum / n;
    out.mcse = std::sqrt(std::max(0.0, squares / n - out.nats * out.nats) / n);
  }

  void draw() {
    if (!drawn_.empty()) return;
    rows_.condition(nothing_);
    if (double(d_) * options_.draws > max_numbers)
      throw Error(Errc::too_large,
                  message("{} draws of {} columns are too many, the limit is {} numbers in all",
                          options_.draws, d_, std::int64_t(max_numbers)),
                  {}, "Give a smaller number in option draws.");
    // Memory is touched draw by draw: touching all of it at once could not be cancelled.
    drawn_.reserve(d_ * std::size_t(options_.draws));
    for (int i = 0; i < options_.draws; ++i) {
      poll_here();
      Random random(options_.seed, std::uint64_t(i));
      drawn_.resize(drawn_.size() + d_, std::nan(""));
      rows_.draw(random, std::span<double>(drawn_).subspan(std::size_t(i) * d_, d_));
    }
  }
  double drawn(int row, int element) const {
    return drawn_[std::size_t(row) * d_ + std::size_t(element)];
  }

  /// The log densities of an element of all drawn rows.
  const std::vector<double> &alone(int element) {
    std::vector<double> &out = single_[std::size_t(element)];
    if (!out.empty()) return out;
    out.reserve(std::size_t(options_.draws));
    for (int i = 0; i < options_.draws; ++i) {
      poll_here();
      row_[std::size_t(element)] = drawn(i, element);
      out.push_back(rows_.log_density(row_));
    }
    row_[std::size_t(element)] = std::nan("");
    return out;
  }

  RowDistribution &rows_;
  const DependenceOptions &options_;
  std::size_t d_;
  std::vector<double> nothing_, row_, drawn_;
  std::vector<std::vector<double>> single_;
};

}  // namespace

DependenceOptions read_dependence_options(const Document &options) {
  DependenceOptions out;
  OptionTable t = OptionTable::reading(options);
  t.integer({"draws", "random rows, where there is no closed form"}, out.draws, 2, 10000000);
  t.seed(seed_key, out.seed);
  t.finish();
  return out;
}

void mutual_information(RowDistribution &rows,
                        const std::function<void(const MutualInformation &)> &emit,
                        const DependenceOptions &options) {
  Pairs pairs(rows, options);
  for (int i = 0; i < rows.dimension(); ++i)
    for (int j = i; j < rows.dimension(); ++j) emit(pairs.of(i, j));
}

}  // namespace bayes
