// Least squares: ||X - W V'||^2 by the coordinates of one line after another (Cichocki and Phan
// 2009, HALS), which has the fixed points of the multiplicative updates of Lee and Seung (2001),
// and gets there faster.
#include <algorithm>
#include <cmath>

#include "factor/factor_products.hpp"
#include "factor/nmf_learners.hpp"
#include "fit/driver.hpp"
#include "topics/document_pass.hpp"
#include "topics/topic_side.hpp"

namespace bayes {
namespace {

/// Moves x >= 0 (padded numbers) towards the minimum of x'Gx / 2 - b'x. `slope`: of so many
/// numbers.
void descend(const Products &g, const double *b, int factors, double *x, Buffer &slope) {
  const int stride = g.stride;
  std::copy_n(b, stride, slope.begin());
  const auto move = [&](int k, double by) {
    const double *const row = g.row(k);
    each_vector(stride, [&](int at, int) {
      simd::store(slope.data() + at,
                  simd::madd(-by, simd::load(row + at), simd::load(slope.data() + at)));
    });
  };
  for (int k = 0; k < factors; ++k)
    if (x[k] != 0) move(k, x[k]);
  for (int k = 0; k < factors; ++k) {
    const double curve = g.row(k)[k];
    if (!(curve > 0)) continue;
    const double next = std::max(0.0, x[k] + slope[std::size_t(k)] / curve), by = next - x[k];
    if (by == 0) continue;
    x[k] = next;
    move(k, by);
  }
}

/// V'x of a line.
double project_cells(const DocumentTerms &cells, const TermTopics &points, double *b) {
  std::fill_n(b, points.stride(), 0.0);
  double squares = 0;
  WorkPoll poll;
  for (std::size_t e = 0; e < cells.size(); ++e) {
    const double x = cells.counts[e];
    const double *const v = points.of(cells.terms[e]);
    squares += x * x;
    each_vector(points.stride(), [&](int at, int) {
      simd::store(b + at, simd::madd(x, simd::load(v + at), simd::load(b + at)));
    });
    poll(std::size_t(points.stride()));
  }
  return squares;
}

/// What lines add up to: W'X by the keys of the other side, W'W, and the objective.
struct SquareSums {
  TopicStatistics cells;
  Products products;
  double squares = 0;

  SquareSums(std::int32_t others, int factors) : cells(others, factors), products(factors) {}
  void clear() {
    cells.clear();
    products.clear();
    squares = 0;
  }
  void merge(SquareSums &other) {
    cells.merge(other.cells);
    products.add(other.products);
    squares += other.squares;
  }
};

class SquaredFactors final : public detail::Iteration {
 public:
  SquaredFactors(const FactorTask &task, FactorState state)
      : task_(task),
        state_(std::move(state)),
        sums_(0, state_.others.topics()) {}

  RowSums expectation(int, Control &control) override {
    const int topics = state_.others.topics();
    const std::size_t stride = std::size_t(state_.others.stride());
    const Products products = products_of(state_.others, control);
    Corpus &lines = task_.table.lines;
    const bool fresh = state_.lines.empty();
    if (fresh) grow(state_.lines, std::size_t(lines.totals().documents) * stride);
    const SweepPlan plan = plan_documents(lines.totals(), topics, control);
    struct Memory {
      Buffer b, slope, none;
    };
    std::vector<Memory> memory(std::size_t(plan.threads),
                               {Buffer(stride), Buffer(stride), Buffer(stride, 0.0)});
    sums_ = document_pass(
        lines, plan, SquareSums(state_.others.terms(), topics), stride, state_.lines, control,
        [&](int worker, const DocumentTerms &cells, std::int64_t, double *w, SquareSums &here) {
          Memory &m = memory[std::size_t(worker)];
          if (fresh) std::fill_n(w, stride, 0.0);
          double squares = project_cells(cells, state_.others, m.b.data());
          descend(products, m.b.data(), topics, w, m.slope);
          // |x - V w|^2 = |x|^2 - w'b - w'(b - Gw)
          for (int k = 0; k < topics; ++k)
            squares -= w[k] * (m.b[std::size_t(k)] + m.slope[std::size_t(k)]);
          here.squares += squares;
          here.products.add(w);
          here.cells.add(cells, {cells.counts.data(), w, m.none.data()}, 0, w);
        });
    return {-sums_.squares, 0};
  }

  double objective() const override { return 0; }

  void update(int) override {
    const int topics = state_.others.topics();
    Buffer slope(std::size_t(state_.others.stride()));
    WorkPoll poll;
    // Keys without a cell have no product, and become 0.
    std::vector<bool> seen(std::size_t(state_.others.terms()), false);
    for (std::size_t i = 0; i < sums_.cells.terms().size(); ++i) {
      const std::int32_t j = sums_.cells.terms()[i];
      seen[std::size_t(j)] = true;
      descend(sums_.products, sums_.cells.of(i), topics, state_.others.of(j), slope);
      poll(4 * std::size_t(topics) * slope.size());
    }
    for (std::int32_t j = 0; j < state_.others.terms(); ++j)
      if (!seen[std::size_t(j)]) std::fill_n(state_.others.of(j), topics, 0.0);
  }

  FactorState take() && { return std::move(state_); }

 private:
  const FactorTask &task_;
  FactorState state_;
  SquareSums sums_;
};

}  // namespace

FactorRun run_squared(const FactorTask &task, FactorState state, const Schedule &schedule,
                      Control &control) {
  SquaredFactors iteration(task, std::move(state));
  Schedule of_squares = schedule;
  const CorpusTotals &totals = task.table.lines.totals();
  of_squares.squares = double(totals.documents) * totals.vocabulary;
  FactorRun run;
  static_cast<RunTrace &>(run) = detail::iterate(iteration, control, of_squares);
  run.state = std::move(iteration).take();
  return run;
}

std::vector<double> least_squares(const DocumentTerms &cells, const TermTopics &points,
                                  const TermTopics &all_points) {
  const int factors = points.topics();
  const std::size_t stride = std::size_t(points.stride());
  Products products(factors);
  WorkPoll poll;
  for (std::int32_t j = 0; j < all_points.terms(); ++j) {
    products.add(all_points.of(j));
    poll(products.values.size());
  }
  Buffer w(stride, 0.0), b(stride), slope(stride);
  project_cells(cells, points, b.data());
  for (int round = 0; round < 1000; ++round) {
    const Buffer before = w;
    descend(products, b.data(), factors, w.data(), slope);
    double moved = 0, size = 0;
    for (std::size_t k = 0; k < stride; ++k) {
      moved = std::max(moved, std::abs(w[k] - before[k]));
      size = std::max(size, w[k]);
    }
    if (moved <= 1e-13 * size) break;
    poll_here();
  }
  return {w.begin(), w.begin() + factors};
}

NmfError error_of(Corpus &lines, bool missing, const TermTopics &others,
                  const Buffer &points_of_lines, Control &control) {
  struct Sums {
    Products products;
    double cells = 0, logs = 0, total = 0, entropy = 0;
    void clear() {
      products.clear();
      cells = logs = total = entropy = 0;
    }
    void merge(Sums &other) {
      products.add(other.products);
      cells += other.cells;
      logs += other.logs;
      total += other.total;
      entropy += other.entropy;
    }
  };
  const CorpusTotals &totals = lines.totals();
  const int topics = others.topics();
  const Buffer sum_of_others = sums_of_terms(others, control);
  const Products of_others = products_of(others, control);
  Buffer none;
  const Sums sums = document_pass(
      lines, plan_documents(totals, topics, control), Sums{Products(topics)}, 0, none, control,
      [&](int, const DocumentTerms &cells, std::int64_t index, double *, Sums &here) {
        const double *const w =
            points_of_lines.data() + std::size_t(index) * std::size_t(others.stride());
        WorkPoll poll;
        for (std::size_t e = 0; e < cells.size(); ++e) {
          const double *const v = others.of(cells.terms[e]);
          LaneSum sum;
          each_vector(others.stride(), [&](int at, int g) {
            sum.partial[g] = simd::madd(simd::load(w + at), simd::load(v + at), sum.partial[g]);
          });
          const double x = cells.counts[e], mean = sum.total();
          here.cells += missing ? (x - mean) * (x - mean) : x * (x - 2 * mean);
          if (missing) here.total += mean;
          if (x > 0) {
            here.logs += x * std::log(mean);
            if (x != 1) here.entropy += x * std::log(x);
          }
          poll(std::size_t(others.stride()) + 20);
        }
        if (missing) return;
        for (int k = 0; k < topics; ++k) here.total += w[k] * sum_of_others[std::size_t(k)];
        here.products.add(w);
      });
  NmfError out{sums.cells, sums.entropy - sums.logs - totals.tokens + sums.total, 0};
  for (std::size_t i = 0; i < of_others.values.size(); ++i)
    out.squared += of_others.values[i] * sums.products.values[i];
  out.squared = std::max(0.0, out.squared);
  const double mean = totals.tokens / cells_of(totals, missing),
               whole = sums.entropy - totals.tokens * std::log(mean);
  // A cell whose mean is 0 may have a number, after least squares.
  if (!std::isfinite(out.divergence)) out.divergence = std::numeric_limits<double>::quiet_NaN();
  out.explained = whole > 0 ? 1 - out.divergence / whole : std::numeric_limits<double>::quiet_NaN();
  return out;
}

}  // namespace bayes
