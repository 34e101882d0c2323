// Least squares: minimises ||X - W V'||^2 by coordinate descent in one document after another
// (Cichocki and Phan 2009, HALS), which has the same fixed points as the multiplicative updates of
// Lee and Seung (2001), and converges faster.
#include <algorithm>
#include <cmath>

#include "counts/passes.hpp"
#include "counts/row_lanes.hpp"
#include "data/pass.hpp"
#include "factor/nmf_learners.hpp"
#include "fit/driver.hpp"

namespace bayes {
namespace {

/// A K x K matrix of sums of products, padded.
struct Products {
  int stride = 0;
  Buffer values;

  explicit Products(int factors)
      : stride(padded_size(factors)),
        values(std::size_t(stride) * std::size_t(stride), 0.0) {}
  const double *row(int k) const { return values.data() + std::size_t(k) * std::size_t(stride); }

  /// Adds x x'.
  void add(const double *x) {
    for (int k = 0; k < stride; ++k) {
      if (x[k] == 0) continue;
      double *const to = values.data() + std::size_t(k) * std::size_t(stride);
      each_vector(stride, [&](int at, int) {
        simd::store(to + at, simd::madd(x[k], simd::load(x + at), simd::load(to + at)));
      });
    }
  }
  void add(const Products &other) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
  }
  void clear() { std::fill(values.begin(), values.end(), 0.0); }
};

/// The sum of v v' over the rows v of a table, on all threads.
Products products_of(const PaddedMatrix &keys, Control &control) {
  Products out(keys.columns());
  std::vector<Products> slots(std::size_t(max_slots(control)), out);
  each_row_chunk(
      keys.rows(), double(out.values.size()), control,
      [&](std::int32_t first, std::int32_t last, int slot) {
        Products &here = slots[std::size_t(slot)];
        here.clear();
        WorkPoll poll;
        for (std::int32_t j = first; j < last; ++j) {
          here.add(keys.row(j));
          poll(here.values.size());
        }
      },
      [&](int slot) { out.add(slots[std::size_t(slot)]); });
  return out;
}

/// Moves x >= 0 (padded) towards the minimum of x'Gx / 2 - b'x, one coordinate after another.
/// `slope`: workspace of the same size; b - Gx afterwards.
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

/// Computes b = V'x for a document x. Returns |x|^2.
double project_cells(const DocumentTerms &cells, const PaddedMatrix &points, double *b) {
  std::fill_n(b, points.stride(), 0.0);
  double squares = 0;
  WorkPoll poll;
  for (std::size_t e = 0; e < cells.size(); ++e) {
    const double x = cells.counts[e];
    const double *const v = points.row(cells.terms[e]);
    squares += x * x;
    each_vector(points.stride(), [&](int at, int) {
      simd::store(b + at, simd::madd(x, simd::load(v + at), simd::load(b + at)));
    });
    poll(std::size_t(points.stride()));
  }
  return squares;
}

/// Sums over documents: W'X by terms, W'W, and the objective.
struct SquareSums {
  AllocationSums cells;
  Products products;
  double squares = 0;

  SquareSums(std::int32_t terms, int factors) : cells(terms, factors), products(factors) {}
  void clear() {
    cells.clear();
    products.clear();
    squares = 0;
  }
  void add(SquareSums &other) {
    cells.add(other.cells);
    products.add(other.products);
    squares += other.squares;
  }
};

class SquaredFactors final : public detail::Iteration {
 public:
  SquaredFactors(const FactorTask &task, FactorState state)
      : task_(task),
        state_(std::move(state)),
        sums_(0, state_.terms.columns()) {}

  RowSums expectation(int, Control &control) override {
    const int factors = state_.terms.columns();
    const std::size_t stride = std::size_t(state_.terms.stride());
    const Products products = products_of(state_.terms, control);
    Corpus &documents = task_.table.documents;
    const bool fresh = state_.documents.empty();
    if (fresh) grow(state_.documents.here, std::size_t(documents.totals().documents) * stride);
    const SweepPlan plan = plan_document_pass(documents.totals(), factors, control);
    struct Memory {
      Buffer b, slope, none;
    };
    std::vector<Memory> memory(std::size_t(plan.threads),
                               {Buffer(stride), Buffer(stride), Buffer(stride, 0.0)});
    sums_ = document_pass(
        documents, plan, SquareSums(state_.terms.rows(), factors), stride, state_.documents.here,
        control,
        [&](int worker, const DocumentTerms &cells, std::int64_t, double *w, SquareSums &here) {
          Memory &m = memory[std::size_t(worker)];
          if (fresh) std::fill_n(w, stride, 0.0);
          double squares = project_cells(cells, state_.terms, m.b.data());
          descend(products, m.b.data(), factors, w, m.slope);
          // |x - V w|^2 = |x|^2 - w'b - w'(b - Gw)
          for (int k = 0; k < factors; ++k)
            squares -= w[k] * (m.b[std::size_t(k)] + m.slope[std::size_t(k)]);
          here.squares += squares;
          here.products.add(w);
          here.cells.add(cells, {cells.counts.data(), w, m.none.data()}, 0, w);
        });
    return {-sums_.squares, 0};
  }

  double objective() const override { return 0; }

  void update(int) override {
    const int factors = state_.terms.columns();
    Buffer slope(std::size_t(state_.terms.stride()));
    WorkPoll poll;
    // Terms without a cell become 0.
    std::vector<bool> seen(std::size_t(state_.terms.rows()), false);
    for (std::size_t i = 0; i < sums_.cells.terms().size(); ++i) {
      const std::int32_t j = sums_.cells.terms()[i];
      seen[std::size_t(j)] = true;
      descend(sums_.products, sums_.cells.row(i), factors, state_.terms.row(j), slope);
      poll(4 * std::size_t(factors) * slope.size());
    }
    for (std::int32_t j = 0; j < state_.terms.rows(); ++j)
      if (!seen[std::size_t(j)]) std::fill_n(state_.terms.row(j), factors, 0.0);
  }

  void exchange_state(StateNumbers &numbers) override {
    exchange(numbers, state_);
    numbers.optional_list(
        state_.documents.here,
        std::size_t(task_.table.documents.totals().documents) * std::size_t(state_.terms.stride()));
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
  const CorpusTotals &totals = task.table.documents.totals();
  of_squares.squares = double(totals.documents) * totals.vocabulary;
  FactorRun run;
  static_cast<RunTrace &>(run) = detail::iterate(iteration, control, of_squares);
  run.state = std::move(iteration).take();
  return run;
}

std::vector<double> least_squares(const DocumentTerms &cells, const PaddedMatrix &points,
                                  const PaddedMatrix &all_points) {
  const int factors = points.columns();
  const std::size_t stride = std::size_t(points.stride());
  Products products(factors);
  WorkPoll poll;
  for (std::int32_t j = 0; j < all_points.rows(); ++j) {
    products.add(all_points.row(j));
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

namespace {

/// Sums over documents that give the error.
struct ErrorSums {
  Products products;
  double cells = 0, logs = 0, total = 0, entropy = 0;
  void clear() {
    products.clear();
    cells = logs = total = entropy = 0;
  }
  void add(const ErrorSums &other) {
    products.add(other.products);
    cells += other.cells;
    logs += other.logs;
    total += other.total;
    entropy += other.entropy;
  }
};

ErrorSums error_sums(Corpus &documents, bool missing, const PaddedMatrix &terms,
                     const Buffer &document_points, Control &control) {
  const int factors = terms.columns();
  const Buffer sum_of_terms = column_sums(terms, control);
  Buffer none;
  return document_pass(
      documents, plan_document_pass(documents.totals(), factors, control),
      ErrorSums{Products(factors)}, 0, none, control,
      [&](int, const DocumentTerms &cells, std::int64_t index, double *, ErrorSums &here) {
        const double *const w =
            document_points.data() + std::size_t(index) * std::size_t(terms.stride());
        WorkPoll poll;
        for (std::size_t e = 0; e < cells.size(); ++e) {
          const double *const v = terms.row(cells.terms[e]);
          LaneSum sum;
          each_vector(terms.stride(), [&](int at, int g) {
            sum.partial[g] = simd::madd(simd::load(w + at), simd::load(v + at), sum.partial[g]);
          });
          const double x = cells.counts[e], mean = sum.total();
          here.cells += missing ? (x - mean) * (x - mean) : x * (x - 2 * mean);
          if (missing) here.total += mean;
          if (x > 0) {
            here.logs += x * std::log(mean);
            if (x != 1) here.entropy += x * std::log(x);
          }
          poll(std::size_t(terms.stride()) + 20);
        }
        if (missing) return;
        for (int k = 0; k < factors; ++k) here.total += w[k] * sum_of_terms[std::size_t(k)];
        here.products.add(w);
      });
}

NmfError error_of_sums(const ErrorSums &sums, const CorpusTotals &totals, bool missing,
                       const PaddedMatrix &terms, Control &control) {
  const Products of_terms = products_of(terms, control);
  NmfError out{sums.cells, sums.entropy - sums.logs - totals.tokens + sums.total, 0};
  for (std::size_t i = 0; i < of_terms.values.size(); ++i)
    out.squared += of_terms.values[i] * sums.products.values[i];
  out.squared = std::max(0.0, out.squared);
  const double mean = totals.tokens / fitted_cells(totals, missing),
               whole = sums.entropy - totals.tokens * std::log(mean);
  // After least squares, a cell with a positive number may have the mean 0.
  if (!std::isfinite(out.divergence)) out.divergence = std::numeric_limits<double>::quiet_NaN();
  out.explained = whole > 0 ? 1 - out.divergence / whole : std::numeric_limits<double>::quiet_NaN();
  return out;
}

}  // namespace

NmfError error_of(Corpus &documents, bool missing, const PaddedMatrix &terms,
                  const Buffer &document_points, Control &control) {
  return error_of_sums(error_sums(documents, missing, terms, document_points, control),
                       documents.totals(), missing, terms, control);
}

namespace {

/// Sends the numbers of all documents, and the error that follows from them.
struct FactorNumbersPass {
  static constexpr const char *name = "factor numbers";
  struct Sums {
    ErrorSums error;
    std::size_t factors, stride;
    /// whether the session has lost them; then all else is absent
    bool lost = false;
    /// those of a part, without padding, and where they go
    std::vector<double> numbers = {};
    Buffer *to = nullptr;
    std::size_t at = 0;

    template <class F> void fields(F &f) {
      f.flag("lost", lost);
      if (lost) return;
      f.numbers("numbers", numbers);
      f.require(numbers.size() % factors == 0);
      f.values("products", error.products.values);
      f.number("cells", error.cells);
      f.number("logs", error.logs);
      f.number("total", error.total);
      f.number("entropy", error.entropy);
    }
    void add(const Sums &part) {
      lost = lost || part.lost;
      error.add(part.error);
      for (std::size_t i = 0; i < part.numbers.size(); i += factors, at += stride) {
        if (at + stride > to->size()) PassReader::refuse();
        std::copy_n(part.numbers.data() + i, factors, to->data() + at);
      }
    }
  };
  PaddedMatrix terms;
  /// as numbers_from_elsewhere()
  std::vector<double> inverse;
  double shape = 0;
  bool own = false, missing = false;
  PassNumbers documents = {};
  /// where the numbers of all parts go
  Buffer *to = nullptr;

  template <class F> void fields(F &f, Corpus &corpus) {
    int columns = terms.columns();
    f.integer("factors", columns, 1, factor_max_factors);
    if constexpr (F::reading) {
      const std::int32_t rows = corpus.totals().vocabulary;
      const PassReader given(f.document());
      given.numbers("terms", std::size_t(rows) * std::size_t(columns));  // before memory is taken
      terms = PaddedMatrix(rows, columns);
      read_rows(given, "terms", terms);
    } else {
      f.document().set("terms", rows_document(terms));
      documents.name(*corpus.remote(), f.document());
    }
    f.numbers("inverse", inverse, std::size_t(columns));
    f.number("shape", shape);
    f.flag("own", own);
    f.flag("missing", missing);
  }
  void keep(PartOfDocuments &part, const PassReader &request, Control &control) {
    documents.keep(part, request, width(), control);
  }
  Sums nothing(Corpus &) const {
    Sums out{ErrorSums{Products(terms.columns())}, std::size_t(terms.columns()),
             std::size_t(terms.stride())};
    out.to = to;
    return out;
  }
  Sums here(Corpus &corpus, Control &control) const {
    Sums out = nothing(corpus);
    const PassNumbers::Here kept = documents.here(corpus, width());
    out.lost = kept.fresh;
    if (out.lost) return out;
    const Buffer &all = *kept.numbers;
    const std::size_t count = std::size_t(corpus.totals().documents);
    Buffer points;
    grow(points, count * out.stride);
    WorkPoll poll;
    for (std::size_t i = 0; i < all.size(); i += out.stride) {
      out.numbers.insert(out.numbers.end(), all.data() + i, all.data() + i + out.factors);
      poll(out.stride);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double *const counts = all.data() + i * width(), *const rates = counts + out.stride;
      for (std::size_t k = 0; k < out.factors; ++k)
        points[i * out.stride + k] = (shape + counts[k]) * (own ? rates[k] : inverse[k]);
      poll(out.stride);
    }
    out.error = error_sums(corpus, missing, terms, points, control);
    return out;
  }

 private:
  std::size_t width() const { return std::size_t(terms.stride()) * (own ? 2 : 1); }
};

}  // namespace

NmfError numbers_from_elsewhere(Corpus &documents, FactorState &state, const NmfOptions &options,
                                const PaddedMatrix &terms, const Buffer &inverse_rates,
                                Control &control) {
  const CorpusTotals &totals = documents.totals();
  Buffer &to = state.documents.here;
  FactorNumbersPass pass{terms,
                         {inverse_rates.begin(), inverse_rates.begin() + terms.columns()},
                         state.document_prior.shape,
                         options.own_rates(),
                         options.missing_cells,
                         &state.documents,
                         &to};
  grow(to,
       std::size_t(totals.documents) * std::size_t(terms.stride()) * (options.own_rates() ? 2 : 1));
  const FactorNumbersPass::Sums sums = run(documents, std::move(pass), control);
  if (sums.lost)
    throw Error(Errc::invalid_argument, "the weights of the rows of a server are lost",
                "Its session has lost them after the last pass of the fit.",
                "Repeat the statement.");
  if (sums.at != to.size()) PassReader::refuse();
  return error_of_sums(sums.error, totals, options.missing_cells, terms, control);
}

const PassOver<PartOfDocuments> factor_numbers_pass =
    pass_over<PartOfDocuments, FactorNumbersPass>();

}  // namespace bayes
