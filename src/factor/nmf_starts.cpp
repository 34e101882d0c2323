#include "factor/nmf_starts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/linalg.hpp"
#include "base/random.hpp"
#include "counts/allocation.hpp"
#include "counts/passes.hpp"
#include "counts/row_lanes.hpp"
#include "data/pass.hpp"

namespace bayes {
namespace {

/// Subspace iteration: additional vectors; maximal number of multiplications by X'X, and the
/// relative change of the squared singular values at which they end.
constexpr int extra_vectors = 10, max_iterations = 40;
constexpr double change_tolerance = 1e-6;
/// The share of the time of a fit after which the iteration ends.
constexpr double max_time_share = 0.5;
/// A vector is linearly dependent if orthogonalisation leaves at most this share of its length.
constexpr double dependence_tolerance = 1e-10;

constexpr std::uint64_t start_stream = 11;

PaddedMatrix random_points(std::int32_t keys, int factors, std::uint64_t seed, int restart) {
  PaddedMatrix out(keys, factors);
  WorkPoll poll;
  for (std::int32_t j = 0; j < keys; ++j) {
    Random random(seed, std::uint64_t(restart), std::uint64_t(j), start_stream);
    for (int k = 0; k < factors; ++k) out.row(j)[k] = 0.1 + random.uniform();
    poll(10 * std::size_t(factors));
  }
  return out;
}

/// Makes columns orthonormal by Gram-Schmidt, twice; linearly dependent columns become 0. Returns
/// the residual norms.
std::vector<double> orthonormalise(PaddedMatrix &q) {
  const int columns = q.columns();
  const std::int32_t rows = q.rows();
  WorkPoll poll;
  std::vector<double> shares(static_cast<std::size_t>(columns)), lengths = shares;
  const auto length = [&](int k) {
    double sum = 0;
    for (std::int32_t j = 0; j < rows; ++j) sum += q.row(j)[k] * q.row(j)[k];
    return std::sqrt(sum);
  };
  for (int k = 0; k < columns; ++k) {
    const double before = length(k);
    for (int twice = 0; twice < 2; ++twice) {
      std::fill(shares.begin(), shares.end(), 0.0);
      for (std::int32_t j = 0; j < rows; ++j) {
        const double *const row = q.row(j);
        for (int l = 0; l < k; ++l) shares[std::size_t(l)] += row[l] * row[k];
        poll(std::size_t(2 * k));
      }
      for (std::int32_t j = 0; j < rows; ++j) {
        double *const row = q.row(j);
        for (int l = 0; l < k; ++l) row[k] -= shares[std::size_t(l)] * row[l];
        poll(std::size_t(2 * k));
      }
    }
    const double after = length(k), scale = after > dependence_tolerance * before ? 1 / after : 0;
    for (std::int32_t j = 0; j < rows; ++j) q.row(j)[k] *= scale;
    lengths[std::size_t(k)] = scale > 0 ? after : 0;
  }
  return lengths;
}

/// Computes y = X_i Q for a document i.
template <int Eights>
void project_short(const DocumentTerms &cells, const PaddedMatrix &q, double *y) {
  constexpr int vectors = Eights * simd::registers;
  simd::Vector sums[vectors] = {};
  for (std::size_t e = 0; e < cells.size(); ++e) {
    const double *const row = q.row(cells.terms[e]);
    const simd::Vector x = simd::all(cells.counts[e]);
    for (int v = 0; v < vectors; ++v)
      sums[v] = simd::madd(x, simd::load(row + v * simd::lanes), sums[v]);
  }
  for (int v = 0; v < vectors; ++v) simd::store(y + v * simd::lanes, sums[v]);
}

void project(const DocumentTerms &cells, const PaddedMatrix &q, double *y, WorkPoll &poll) {
  with_short_rows(q.stride(), [&](auto eights) {
    if constexpr (eights > 0) {
      project_short<eights>(cells, q, y);
      poll(cells.size() * std::size_t(q.stride()));
    } else {
      std::fill_n(y, q.stride(), 0.0);
      for (std::size_t e = 0; e < cells.size(); ++e) {
        const double *const row = q.row(cells.terms[e]);
        const double x = cells.counts[e];
        each_vector(q.stride(), [&](int at, int) {
          simd::store(y + at, simd::madd(x, simd::load(row + at), simd::load(y + at)));
        });
        poll(std::size_t(q.stride()));
      }
    }
  });
}

/// A table of all terms among the arguments of a pass.
template <class F> void table_field(F &f, const Corpus &documents, PaddedMatrix &q) {
  if constexpr (F::reading) {
    const PassReader given(f.document());
    const std::int32_t terms = documents.totals().vocabulary;
    const int columns = int(given.integer("columns", 1, 1 << 12));
    given.numbers("rows", std::size_t(terms) * std::size_t(columns));  // before memory is taken
    q = PaddedMatrix(terms, columns);
    read_rows(given, "rows", q);
  } else {
    f.document().set("columns", q.columns()).set("rows", rows_document(q));
  }
}

/// Computes X'XQ, as sums over the documents.
struct ProductsPass {
  static constexpr const char *name = "products";
  using Sums = AllocationSums;
  PaddedMatrix q;

  template <class F> void fields(F &f, Corpus &documents) { table_field(f, documents, q); }
  Sums nothing(Corpus &) const { return Sums(q.rows(), q.columns()); }
  Sums here(Corpus &documents, Control &control) const {
    const std::size_t stride = std::size_t(q.stride());
    const SweepPlan plan = plan_document_pass(documents.totals(), q.columns(), control);
    std::vector<Buffer> memory(std::size_t(plan.threads), Buffer(stride));
    const Buffer none(stride, 0.0);
    Buffer kept;
    return document_pass(
        documents, plan, Sums(q.rows(), q.columns(), sums_for_all_terms(documents.totals())),
        stride, kept, control,
        [&](int worker, const DocumentTerms &cells, std::int64_t, double *, Sums &to) {
          double *const y = memory[std::size_t(worker)].data();
          WorkPoll poll;
          project(cells, q, y, poll);
          to.add(cells, {cells.counts.data(), y, none.data()}, 0, y);
        });
  }
};

PaddedMatrix multiplied(Corpus &documents, PaddedMatrix q, Control &control) {
  const std::size_t stride = std::size_t(q.stride());
  PaddedMatrix out(q.rows(), q.columns());
  const AllocationSums sums = run(documents, ProductsPass{std::move(q)}, control);
  for (std::size_t i = 0; i < sums.terms().size(); ++i)
    std::copy_n(sums.row(i), stride, out.row(sums.terms()[i]));
  return out;
}

/// Sums over documents of y y', or of the squares of the positive and of the negative elements of
/// y.
struct ProjectionSums {
  std::vector<double> products, positive, negative;

  explicit ProjectionSums(int n)
      : products(std::size_t(n) * std::size_t(n), 0.0),
        positive(std::size_t(n), 0.0),
        negative(std::size_t(n), 0.0) {}
  void clear() {
    for (auto *const each : {&products, &positive, &negative})
      std::fill(each->begin(), each->end(), 0.0);
  }
  template <class F> void fields(F &f) {
    f.numbers("products", products, products.size());
    f.numbers("positive", positive, positive.size());
    f.numbers("negative", negative, negative.size());
  }
  void add(const ProjectionSums &other) {
    for (std::size_t i = 0; i < products.size(); ++i) products[i] += other.products[i];
    for (std::size_t i = 0; i < positive.size(); ++i) {
      positive[i] += other.positive[i];
      negative[i] += other.negative[i];
    }
  }
};

/// Calls f(y, numbers of the document, sums) for every document, with y = X_i Q.
template <class F>
ProjectionSums each_projection(Corpus &documents, const PaddedMatrix &q, Buffer &kept,
                               std::size_t each, Control &control, F f) {
  const SweepPlan plan = plan_document_pass(documents.totals(), q.columns(), control);
  std::vector<Buffer> memory(std::size_t(plan.threads), Buffer(std::size_t(q.stride())));
  return document_pass(documents, plan, ProjectionSums(q.columns()), each, kept, control,
                       [&](int worker, const DocumentTerms &cells, std::int64_t, double *numbers,
                           ProjectionSums &here) {
                         double *const y = memory[std::size_t(worker)].data();
                         WorkPoll poll;
                         project(cells, q, y, poll);
                         f(y, numbers, here);
                       });
}

/// Sums of the projections on the columns of q of all documents.
struct ProjectionsPass {
  static constexpr const char *name = "projections";
  using Sums = ProjectionSums;
  PaddedMatrix q;

  template <class F> void fields(F &f, Corpus &documents) { table_field(f, documents, q); }
  Sums nothing(Corpus &) const { return Sums(q.columns()); }
  Sums here(Corpus &documents, Control &control) const {
    const std::size_t n = std::size_t(q.columns());
    Buffer none;
    return each_projection(documents, q, none, 0, control,
                           [n](const double *y, double *, ProjectionSums &to) {
                             for (std::size_t a = 0; a < n; ++a) {
                               for (std::size_t b = 0; b < n; ++b)
                                 to.products[a * n + b] += y[a] * y[b];
                               (y[a] > 0 ? to.positive : to.negative)[a] += y[a] * y[a];
                             }
                           });
  }
};

/// The first weights of all documents, from their projections on singular vectors.
struct FirstWeightsPass {
  static constexpr const char *name = "first weights";
  /// of the weights of each factor
  using Sums = NumberSums;
  PaddedMatrix vectors;
  /// of each vector
  std::vector<double> sign, scale;
  double mean = 0, level = 0;
  int factors = 0;
  PassNumbers documents = {};

  template <class F> void fields(F &f, Corpus &corpus) {
    table_field(f, corpus, vectors);
    if constexpr (!F::reading) documents.name(*corpus.remote(), f.document());
    const std::size_t found = std::size_t(vectors.columns());
    f.numbers("sign", sign, found);
    f.numbers("scale", scale, found);
    f.number("mean", mean);
    f.number("level", level);
    f.integer("factors", factors, 1, factor_max_factors);
  }
  void keep(PartOfDocuments &part, const PassReader &request, Control &control) {
    documents.keep(part, request, stride(), control);
  }
  Sums nothing(Corpus &) const { return {std::vector<double>(std::size_t(factors), 0.0)}; }
  Sums here(Corpus &corpus, Control &control) const {
    const PassNumbers::Here weights = documents.here(corpus, stride());
    if (!weights.numbers) PassReader::refuse();
    Buffer &numbers = *weights.numbers;
    each_projection(corpus, vectors, numbers, stride(), control,
                    [this](const double *y, double *to, ProjectionSums &) { set(y, to); });
    Sums out = nothing(corpus);
    WorkPoll poll;
    for (std::size_t i = 0; i < numbers.size(); i += stride()) {
      for (std::size_t k = 0; k < out.numbers.size(); ++k) out.numbers[k] += numbers[i + k];
      poll(4 * stride());
    }
    return out;
  }

 private:
  std::size_t stride() const { return std::size_t(padded_size(factors)); }
  void set(const double *y, double *to) const {
    for (std::size_t k = 0; k < std::size_t(factors); ++k) {
      const bool within = k < sign.size() && sign[k] != 0;
      const double x = within ? sign[k] * y[k] * scale[k] : level;
      to[k] = x > 0 ? x : mean;
    }
  }
};

/// Multiplies the numbers of all documents by a number for each factor.
struct ScalingPass {
  static constexpr const char *name = "scaling";
  struct Sums {
    template <class F> void fields(F &) {}
    void add(const Sums &) {}
  };
  std::vector<double> by;
  PassNumbers documents = {};

  template <class F> void fields(F &f, Corpus &corpus) {
    f.numbers("by", by);
    f.require(by.size() <= factor_max_factors);
    if constexpr (!F::reading) documents.name(*corpus.remote(), f.document());
  }
  void keep(PartOfDocuments &part, const PassReader &request, Control &control) {
    documents.keep(part, request, stride(), control);
    documents.drop_lost(part, request);  // the first pass finds such weights
  }
  Sums nothing(Corpus &) const { return {}; }
  Sums here(Corpus &corpus, Control &) const {
    Buffer *const numbers = documents.here(corpus, stride()).numbers;
    WorkPoll poll;
    for (std::size_t i = 0; numbers && i < numbers->size(); ++i) {
      (*numbers)[i] *= i % stride() < by.size() ? by[i % stride()] : 0;
      poll(4);
    }
    return {};
  }

 private:
  std::size_t stride() const { return std::size_t(padded_size(int(by.size()))); }
};

struct RightVectors {
  /// terms x K right singular vectors; the singular values, descending
  PaddedMatrix vectors;
  std::vector<double> values;
};

RightVectors singular_vectors(Corpus &documents, int count, std::uint64_t seed, Control &control) {
  const BudgetScope half(control, control.budget.share(0.5));
  const std::int32_t keys = documents.totals().vocabulary;
  const int width =
      int(std::min<std::int64_t>({count + extra_vectors, keys, documents.totals().documents}));
  PaddedMatrix q(keys, width);
  WorkPoll poll;
  for (std::int32_t j = 0; j < keys; ++j) {
    Random random(seed, 0, std::uint64_t(j), start_stream + 1);
    for (int k = 0; k < width; ++k) q.row(j)[k] = random.normal();
    poll(40 * std::size_t(width));
  }
  std::vector<double> before(std::size_t(width), 0.0);
  for (int i = 0; i < max_iterations; ++i) {
    q = multiplied(documents, std::move(q), control);
    std::vector<double> lengths = orthonormalise(q);
    double change = 0;
    for (std::size_t k = 0; k < std::size_t(std::min(count, width)); ++k)
      change = std::max(change, std::abs(lengths[k] - before[k]));
    before = std::move(lengths);
    if (change <= change_tolerance * before[0]) break;
    if (i + 1 < max_iterations && control.out_of_time()) break;
  }
  const ProjectionSums sums = run(documents, ProjectionsPass{q}, control);
  Matrix products(width, width);
  for (int a = 0; a < width; ++a)
    for (int b = 0; b < width; ++b) products(a, b) = sums.products[std::size_t(a * width + b)];
  const SymmetricEigen eigen = symmetric_eigen(products);
  const int found = std::min(count, width);
  RightVectors out{PaddedMatrix(keys, found), {}};
  for (int k = 0; k < found; ++k)
    out.values.push_back(std::sqrt(std::max(0.0, eigen.values(width - 1 - k))));
  for (std::int32_t j = 0; j < keys; ++j) {
    poll(std::size_t(width * found));
    for (int k = 0; k < found; ++k) {
      double sum = 0;
      for (int a = 0; a < width; ++a) sum += q.row(j)[a] * eigen.vectors(a, width - 1 - k);
      out.vectors.row(j)[k] = sum;
    }
  }
  return out;
}

}  // namespace

FactorStart random_start(Corpus &documents, int factors, std::uint64_t seed, int restart) {
  return {random_points(documents.totals().vocabulary, factors, seed, restart)};
}

FactorStart nndsvd_start(Corpus &documents, int factors, std::uint64_t seed, Control &control) {
  const CorpusTotals &totals = documents.totals();
  RightVectors right = singular_vectors(documents, factors, seed, control);
  const int found = right.vectors.columns();
  // Of each pair of singular vectors either the positive or the negative parts are used.
  std::vector<double> positive(std::size_t(found), 0.0), negative = positive;
  for (std::int32_t j = 0; j < totals.vocabulary; ++j)
    for (int k = 0; k < found; ++k) {
      const double v = right.vectors.row(j)[k];
      (v > 0 ? positive : negative)[std::size_t(k)] += v * v;
    }
  const ProjectionSums sums = run(documents, ProjectionsPass{right.vectors}, control);
  const double mean =
      totals.tokens / std::max(1.0, double(totals.documents)) / std::max(1, totals.vocabulary);
  std::vector<double> sign(std::size_t(found), 0.0), of_documents = sign, of_terms = sign;
  for (std::size_t k = 0; k < sign.size(); ++k) {
    const double plus = std::sqrt(sums.positive[k] * positive[k]),
                 minus = std::sqrt(sums.negative[k] * negative[k]);
    if (!(std::max(plus, minus) > 1e-10 * right.values[0])) continue;  // beyond the rank
    sign[k] = plus >= minus ? 1 : -1;
    // the parts of the documents' vectors are those of y divided by the singular value
    const double y = std::sqrt(plus >= minus ? sums.positive[k] : sums.negative[k]),
                 v = std::sqrt(plus >= minus ? positive[k] : negative[k]);
    const double scale = std::sqrt(std::max(plus, minus));
    of_documents[k] = scale / y;
    of_terms[k] = scale / v;
  }
  FactorStart out{random_points(totals.vocabulary, factors, seed, 0)};
  const std::size_t stride = std::size_t(out.terms.stride());
  const double level = std::sqrt(mean / factors);
  const auto filled = [mean](double x) { return x > 0 ? x : mean; };
  for (std::int32_t j = 0; j < totals.vocabulary; ++j)
    for (int k = 0; k < factors; ++k) {
      double &to = out.terms.row(j)[k];
      const bool within = k < found && sign[std::size_t(k)] != 0;
      to = within
               ? filled(sign[std::size_t(k)] * right.vectors.row(j)[k] * of_terms[std::size_t(k)])
               : level * to;
    }
  FirstWeightsPass pass{std::move(right.vectors),
                        std::move(sign),
                        std::move(of_documents),
                        mean,
                        level,
                        factors,
                        &out.documents};
  out.sums = run(documents, std::move(pass), control).numbers;
  out.sums.resize(stride, 0.0);
  return out;
}

void scale_documents(Corpus &documents, DocumentNumbers &numbers, std::vector<double> by,
                     Control &control) {
  run(documents, ScalingPass{std::move(by), &numbers}, control);
}

const PassOver<PartOfDocuments> products_pass = pass_over<PartOfDocuments, ProductsPass>(),
                                projections_pass = pass_over<PartOfDocuments, ProjectionsPass>(),
                                first_weights_pass = pass_over<PartOfDocuments, FirstWeightsPass>(),
                                scaling_pass = pass_over<PartOfDocuments, ScalingPass>();

}  // namespace bayes
