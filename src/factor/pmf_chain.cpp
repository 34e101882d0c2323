#include "factor/pmf_chain.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "base/simd.hpp"

namespace bayes {

namespace pmf_step {
namespace {

using simd::lanes, simd::load, simd::madd, simd::registers, simd::store;
using Lanes = simd::Vector;

constexpr int tile = simd::sum_lanes;
static_assert(tile == row_lanes);

/// Number of cells that are added at a time: their vectors stay in the first-level cache while all
/// tiles of the matrix use them.
constexpr int cells_at_once = 64;

/// Lower limit of a pivot, relative to its diagonal element: rounding errors may make it smaller,
/// or negative.
constexpr double min_relative_pivot = 0x1p-50;

/// Workspace of a thread.
struct Workspace {
  explicit Workspace(int stride)
      : precision(std::size_t(stride) * std::size_t(stride)),
        linear(std::size_t(stride)),
        total(std::size_t(stride)),
        right(std::size_t(stride)),
        solved(std::size_t(stride)),
        inverse(std::size_t(stride)),
        min_pivot(std::size_t(stride)),
        vector(std::size_t(stride)) {}
  /// Upper triangle, row by row, each from the tile of its diagonal element: the sum of v v', then
  /// the factor R of the posterior precision R'R.
  Buffer precision;
  /// the sums of r v and v, r = x - b
  Buffer linear, total;
  /// vectors of cells times the roots of their weights; empty unless there are weights
  Buffer weighed;
  /// the right-hand side, and R'^-1 times it
  Buffer right, solved;
  /// 1 / R_kk; lower limits of the pivots
  Buffer inverse, min_pivot;
  Buffer vector;
  /// the sums of the weights, r and r^2
  double weight = 0, sum = 0, squares = 0;
  const double *vectors[cells_at_once];
  double numbers[cells_at_once], roots[cells_at_once];
  WorkPoll poll;
};

/// Adds v_p v_q, summed over cells, to `lanes` rows from p and `Tiles` times eight columns from q.
template <int Tiles>
void add_products(const double *const *vectors, int cells, int p, int q, double *sums, int stride) {
  constexpr int width = Tiles * registers;
  Lanes a[lanes][width];
  for (int i = 0; i < lanes; ++i)
    for (int g = 0; g < width; ++g) a[i][g] = load(sums + i * stride + g * lanes);
  for (int c = 0; c < cells; ++c) {
    const double *const left = vectors[c] + p, *const right = vectors[c] + q;
    Lanes x[width];
    for (int g = 0; g < width; ++g) x[g] = load(right + g * lanes);
    for (int i = 0; i < lanes; ++i)
      for (int g = 0; g < width; ++g) a[i][g] = madd(left[i], x[g], a[i][g]);
  }
  for (int i = 0; i < lanes; ++i)
    for (int g = 0; g < width; ++g) store(sums + i * stride + g * lanes, a[i][g]);
}

/// As many tiles as leave registers for their inputs.
constexpr int tiles_at_once = lanes == tile ? 2 : 1;

/// Adds the products for all tiles on and above the diagonal.
void add_all_products(const double *const *vectors, int cells, double *sums, int stride) {
  for (int p = 0; p < stride; p += lanes) {
    int q = p / tile * tile;
    for (; q + tiles_at_once * tile <= stride; q += tiles_at_once * tile)
      add_products<tiles_at_once>(vectors, cells, p, q, sums + p * stride + q, stride);
    if (q < stride) add_products<1>(vectors, cells, p, q, sums + p * stride + q, stride);
  }
}

/// Adds r v and v, summed over cells, of which all numbers are multiplied by the roots of weights.
void add_vectors(const double *const *vectors, const double *numbers, const double *roots,
                 int cells, double *linear, double *total, int stride) {
  for (int q = 0; q < stride; q += lanes) {
    Lanes h = load(linear + q), s = load(total + q);
    for (int c = 0; c < cells; ++c) {
      const Lanes v = load(vectors[c] + q);
      h = madd(numbers[c], v, h);
      s = madd(roots[c], v, s);
    }
    store(linear + q, h);
    store(total + q, s);
  }
}

/// to += factor * from, starting at the tile of index `first`.
void add_multiple(double factor, const double *from, double *to, int first, int stride) {
  for (int q = first / tile * tile; q < stride; q += lanes)
    store(to + q, madd(factor, load(from + q), load(to + q)));
}

/// to *= factor, starting at the tile of index `first`.
void scale(double factor, double *to, int first, int stride) {
  for (int q = first / tile * tile; q < stride; q += lanes) store(to + q, factor * load(to + q));
}

/// The dot product of a and b, starting at the tile of index `first`.
double dot(const double *a, const double *b, int first, int stride) {
  Lanes sums[registers] = {};
  for (int q = first / tile * tile; q < stride; q += tile)
    for (int g = 0; g < registers; ++g)
      sums[g] = madd(load(a + q + g * lanes), load(b + q + g * lanes), sums[g]);
  return simd::sum(sums);
}

/// Draws the vectors of one side.
class VectorDraw {
 public:
  VectorDraw(PmfUnits units, const PmfSide &given, const PmfSidePrior &prior, double noise,
             const RowRandom &random, PmfSide &drawn)
      : units_(units),
        given_(given),
        prior_(prior),
        share_(1 / noise),
        random_(random),
        drawn_(drawn),
        rank_(drawn.vectors.columns()),
        stride_(drawn.vectors.stride()),
        has_means_(!drawn.means.empty()),
        precision_(std::size_t(stride_) * std::size_t(stride_)),
        right_(std::size_t(stride_)) {
    for (int p = 0; p < rank_; ++p)
      for (int q = 0; q < rank_; ++q) {
        const double x = prior.precision[std::size_t(p) * std::size_t(rank_) + std::size_t(q)];
        precision_[std::size_t(p) * std::size_t(stride_) + std::size_t(q)] = x;
        right_[std::size_t(p)] += x * prior.center[std::size_t(q)];
      }
  }

  Workspace workspace() const { return Workspace(stride_); }

  /// The contribution of the prior to the sum of (u, a)' M (u, a) over the keys, where M is the
  /// posterior precision.
  double prior_part(const PmfSums &sums) const {
    double out = has_means_ ? sums.squared_means / prior_.spread : 0;
    for (int p = 0; p < rank_; ++p)
      for (int q = p; q < rank_; ++q)
        out += (p == q ? 1 : 2) * sums.product(p, q) *
               prior_.precision[std::size_t(p) * std::size_t(rank_) + std::size_t(q)];
    return out;
  }

  void draw(std::int64_t index, const DocumentTerms &cells, Workspace &own, PmfSums &sums) const {
    add_cells(cells, own);
    // (u, a) is normal; its precision is that of the prior plus a sum over the cells. The
    // factorization begins with a, whose row of the precision, `total`, is stored apart from the
    // tiles.
    double first = 0, inverse = 0;
    if (has_means_) {
      inverse = 1 / std::sqrt(own.weight * share_ + 1 / prior_.spread);
      first = (own.sum * share_ + prior_.level / prior_.spread) * inverse;
      scale(share_ * inverse, own.total.data(), 0, stride_);
    }
    add_prior(first, own);
    factorize(own);
    Random random(random_.bits(index));
    const double q = solve(random, own);
    double *const u = drawn_.vectors.row(std::int32_t(index));
    std::copy_n(own.vector.data(), stride_, u);
    double explained = dot(u, own.linear.data(), 0, stride_), quadratic = q;
    if (has_means_) {
      const double target = first + random.normal();
      const double a = (target - dot(own.total.data(), u, 0, stride_)) * inverse;
      drawn_.means[std::size_t(index)] = a;
      sums.means += a;
      sums.squared_means += a * a;
      quadratic += target * target;
      explained += a * own.sum;
    }
    // The sum of (r - w'v)^2 is the sum of r^2, minus 2 w' sum r v, plus w' (sum v v') w.
    sums.squared_residuals += own.squares - 2 * explained + quadratic / share_;
    for (int k = 0; k < rank_; ++k) sums.vectors[std::size_t(k)] += u[k];
    const double *const vector = u;
    add_all_products(&vector, 1, sums.products.data(), stride_);
  }

 private:
  void add_cells(const DocumentTerms &cells, Workspace &own) const {
    std::fill(own.precision.begin(), own.precision.end(), 0.0);
    std::fill(own.linear.begin(), own.linear.end(), 0.0);
    std::fill(own.total.begin(), own.total.end(), 0.0);
    own.sum = own.squares = own.weight = 0;
    for (std::size_t from = 0; from < cells.size(); from += cells_at_once) {
      const int count = int(std::min<std::size_t>(cells_at_once, cells.size() - from));
      for (int c = 0; c < count; ++c) {
        const std::int32_t key = cells.terms[from + std::size_t(c)];
        const double *const v = own.vectors[c] = given_.vectors.row(key);
        for (int k = 0; k < stride_; k += tile) __builtin_prefetch(v + k);
        double r = (cells.counts[from + std::size_t(c)] - units_.center) * units_.inverse;
        if (has_means_) r -= given_.means[std::size_t(key)];
        own.numbers[c] = r;
      }
      weigh(cells.weights.empty() ? nullptr : cells.weights.data() + from, count, own);
      for (int c = 0; c < count; ++c) {
        own.sum += own.roots[c] * own.numbers[c];
        own.squares += own.numbers[c] * own.numbers[c];
      }
      add_all_products(own.vectors, count, own.precision.data(), stride_);
      add_vectors(own.vectors, own.numbers, own.roots, count, own.linear.data(), own.total.data(),
                  stride_);
      own.poll(std::size_t(count) * std::size_t(stride_) * std::size_t(stride_ / 2));
    }
  }

  /// Multiplies the numbers and vectors of cells by the roots of their weights, nullptr: 1, which
  /// multiplies the precisions of the cells by the weights.
  void weigh(const double *weights, int cells, Workspace &own) const {
    std::fill_n(own.roots, cells, 1.0);
    own.weight += weights ? 0 : cells;
    if (!weights) return;
    own.weighed.resize(std::size_t(cells_at_once) * std::size_t(stride_));
    for (int c = 0; c < cells; ++c) {
      const double root = own.roots[c] = std::sqrt(weights[c]);
      own.weight += weights[c];
      own.numbers[c] *= root;
      double *const to = own.weighed.data() + std::size_t(c) * std::size_t(stride_);
      for (int q = 0; q < stride_; q += lanes) store(to + q, root * load(own.vectors[c] + q));
      own.vectors[c] = to;
    }
  }

  /// Converts the sums to the precision of u and its right-hand side, after elimination of a.
  /// `first`: the right-hand side of a's row of the triangular system.
  void add_prior(double first, Workspace &own) const {
    const double *const row = own.total.data();
    for (int p = 0; p < rank_; ++p) {
      const std::size_t at = std::size_t(p) * std::size_t(stride_);
      double *const to = own.precision.data() + at;
      const double *const prior = precision_.data() + at;
      own.min_pivot[std::size_t(p)] = min_relative_pivot * (share_ * to[p] + prior[p]);
      for (int q = p / tile * tile; q < stride_; q += lanes) {
        Lanes x = madd(share_, load(to + q), load(prior + q));
        if (has_means_) x = madd(-row[p], load(row + q), x);
        store(to + q, x);
      }
    }
    for (int q = 0; q < stride_; q += lanes) {
      Lanes x = madd(share_, load(own.linear.data() + q), load(right_.data() + q));
      if (has_means_) x = madd(-first, load(row + q), x);
      store(own.right.data() + q, x);
    }
  }

  /// Cholesky factorization, row by row, with forward substitution at the same time.
  void factorize(Workspace &own) const {
    for (int k = 0; k < rank_; ++k) {
      double *const row = own.precision.data() + std::size_t(k) * std::size_t(stride_);
      const double inverse = 1 / std::sqrt(std::max(row[k], own.min_pivot[std::size_t(k)]));
      own.inverse[std::size_t(k)] = inverse;
      scale(inverse, row, k, stride_);
      for (int p = k + 1; p < rank_; ++p)
        add_multiple(-row[p], row, own.precision.data() + std::size_t(p) * std::size_t(stride_), p,
                     stride_);
      const double y = own.right[std::size_t(k)] * inverse;
      own.solved[std::size_t(k)] = y;
      add_multiple(-y, row, own.right.data(), k, stride_);
      own.poll(std::size_t(rank_ - k) * std::size_t(rank_ - k));
    }
  }

  /// Solves R u = R'^-1 b + z for standard normal z; returns the squared norm of the right-hand
  /// side.
  double solve(Random &random, Workspace &own) const {
    double out = 0;
    std::fill(own.vector.begin(), own.vector.end(), 0.0);
    for (int k = rank_ - 1; k >= 0; --k) {
      const double *const row = own.precision.data() + std::size_t(k) * std::size_t(stride_);
      const double target = own.solved[std::size_t(k)] + random.normal();
      out += target * target;
      own.vector[std::size_t(k)] =
          (target - dot(row, own.vector.data(), k, stride_)) * own.inverse[std::size_t(k)];
    }
    return out;
  }

  const PmfUnits units_;
  const PmfSide &given_;
  const PmfSidePrior &prior_;
  const double share_;
  const RowRandom &random_;
  PmfSide &drawn_;
  const int rank_, stride_;
  const bool has_means_;
  /// precision of the prior, padded; precision times center
  Buffer precision_, right_;
};

}  // namespace
}  // namespace pmf_step

PmfSums::PmfSums(int rank)
    : vectors(std::size_t(padded_size(rank)), 0.0),
      products(vectors.size() * vectors.size(), 0.0) {}

void PmfSums::add(const PmfSums &other) {
  for (std::size_t i = 0; i < vectors.size(); ++i) vectors[i] += other.vectors[i];
  for (std::size_t i = 0; i < products.size(); ++i) products[i] += other.products[i];
  means += other.means;
  squared_means += other.squared_means;
  squared_residuals += other.squared_residuals;
}

PmfSums draw_vectors(Corpus &table, PmfUnits units, const PmfSide &given, const PmfSidePrior &prior,
                     double noise, const RowRandom &random, PmfSide &drawn, Control &control) {
  const pmf_step::VectorDraw pass(units, given, prior, noise, random, drawn);
  const int rank = drawn.vectors.columns();
  const double stride = drawn.vectors.stride();
  const CorpusTotals &totals = table.totals();
  PmfSums all(rank);
  const double operations =
      (double(totals.entries) + double(totals.documents) * stride) * stride * stride / simd::lanes;
  const SweepPlan plan = plan_tasks(operations, all.products.size() * sizeof(double), control);
  std::vector<PmfSums> parts(std::size_t(plan.slots), all);
  std::vector<std::optional<pmf_step::Workspace>> workers(std::size_t(plan.threads));
  sweep_corpus(
      table, plan, control,
      [&](int worker, int slot, const CorpusPiece &piece, const Stop &stop) {
        auto &own = workers[std::size_t(worker)];
        if (!own) own.emplace(pass.workspace());
        PmfSums &sums = parts[std::size_t(slot)] = PmfSums(rank);
        each_document(piece, [&](std::int64_t index, const DocumentTerms &cells) {
          if (stop()) return false;
          pass.draw(index, cells, *own, sums);
          return true;
        });
      },
      [&](int slot) { all.add(parts[std::size_t(slot)]); });
  all.squared_residuals = std::max(0.0, all.squared_residuals - noise * pass.prior_part(all));
  return all;
}

namespace {

/// Random streams are selected by the seed, the chain, the sweep and one of these numbers, or, for
/// vectors, the side; each vector has numbers of its own.
enum PmfStream : int { stream_of_priors = 2, stream_of_start = 4 };

}  // namespace

PmfChain::PmfChain(const PmfTask &task, int number, std::optional<PmfState> start)
    : task_(task),
      number_(number),
      keys_{double(task.table.totals().documents), double(task.transposed.totals().documents)},
      cells_(double(task.table.totals().entries)),
      parameters_(first_parameters(task.prior, task.rank)) {
  for (std::size_t side = 0; side < 2; ++side) {
    const std::int64_t keys = corpus(side).totals().documents;
    sides_[side].vectors = PaddedMatrix(std::int32_t(keys), task.rank);
    if (task.prior.means) grow(sides_[side].means, std::size_t(keys));
  }
  if (start) {
    sides_[pmf_second] = std::move(start->second);
    parameters_ = std::move(start->parameters);
    return;
  }
  // The first side is drawn first, given only the vectors of the second.
  PmfSide &second = sides_[pmf_second];
  const double size = 0.1 / std::sqrt(double(task.rank));
  const RowRandom own(task.seed, std::uint64_t(number), 0, stream_of_start);
  WorkPoll poll;
  for (std::int32_t j = 0; j < second.vectors.rows(); ++j) {
    Random key(own.bits(j));
    for (int k = 0; k < task.rank; ++k) second.vectors.row(j)[k] = size * key.normal();
    poll(20 * std::size_t(task.rank));
  }
}

void PmfChain::draw_side(std::size_t side, int index, Control &control) {
  const RowRandom names(task_.seed, std::uint64_t(number_), std::uint64_t(index),
                        std::uint64_t(side));
  sums_[side] = draw_vectors(corpus(side), task_.units, sides_[1 - side], parameters_.sides[side],
                             parameters_.noise, names, sides_[side], control);
  Random own = random(index, stream_of_priors + int(side));
  draw_side_prior(task_.prior, sums_[side], keys_[side], side, own, parameters_);
  if (side == pmf_first) return;
  draw_common(task_.prior, sums_, keys_, cells_, task_.rank, own, parameters_);
  if (task_.prior.hierarchical) rescale_vectors(draw_scale(sums_, task_.rank, own, parameters_));
}

void PmfChain::rescale_vectors(double x) {
  WorkPoll poll;
  for (std::size_t side = 0; side < 2; ++side) {
    const double factor = side == pmf_first ? x : 1 / x;
    PaddedMatrix &vectors = sides_[side].vectors;
    for (std::int32_t i = 0; i < vectors.rows(); ++i) {
      for (int k = 0; k < vectors.stride(); ++k) vectors.row(i)[k] *= factor;
      poll(std::size_t(vectors.stride()));
    }
  }
}

void PmfChain::sweep(int index, Control &control) {
  draw_side(pmf_first, index, control);
  draw_side(pmf_second, index, control);
}

void PmfChain::exchange(StateNumbers &numbers) {
  for (PmfSide &side : sides_) {
    numbers.numbers(side.vectors.values());
    numbers.numbers(side.means);
  }
  numbers.number(parameters_.noise);
  numbers.number(parameters_.c);
  for (PmfSidePrior &side : parameters_.sides) {
    numbers.numbers(side.center);
    numbers.numbers(side.precision);
    numbers.number(side.level);
    numbers.number(side.spread);
  }
  for (PmfCovariance &covariance : parameters_.covariances) {
    const std::size_t whole = std::size_t(task_.rank) * std::size_t(task_.rank);
    numbers.optional_list(covariance.values, whole);
    numbers.number(covariance.log_determinant_of_inverse);
  }
}

double PmfChain::log_joint() const {
  return pmf_log_joint(task_.prior, sums_, keys_, cells_, task_.rank, parameters_);
}

double PmfChain::root_mean_square() const {
  return std::sqrt(sums_[pmf_second].squared_residuals /
                   (task_.weight > 0 ? task_.weight : cells_));
}

double PmfChain::norm() const {
  // The trace of (sum u u') (sum v v') is computed.
  double out = 0;
  for (int p = 0; p < task_.rank; ++p)
    for (int q = p; q < task_.rank; ++q)
      out += (p == q ? 1 : 2) * (sums_[0].product(p, q) / keys_[0]) *
             (sums_[1].product(p, q) / keys_[1]);
  return std::sqrt(std::max(0.0, out));
}

}  // namespace bayes
