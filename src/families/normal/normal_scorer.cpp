#include "families/normal/normal_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/remote_rows.hpp"
#include "families/normal/normal_block.hpp"
#include "families/normal/normal_missing.hpp"

namespace bayes {
namespace {

/// The largest numbers in a message that a server accepts; fits have smaller limits of their own.
constexpr int max_message_dimension = 1 << 16, max_message_components = 1 << 24;

}  // namespace

void NormalStatistics::scale(double factor) {
  count *= factor;
  for (auto &s : scatter) s *= factor;
}

NormalScorer::NormalScorer(const CovarianceShape &shape, Matrix mean,
                           const std::vector<FactoredScale> &scales, Vector constant,
                           bool densities)
    : shape_(shape),
      densities_(densities),
      d_(int(mean.rows())),
      k_(int(mean.cols())),
      mean_(std::move(mean)),
      constant_(std::move(constant)) {
  using namespace normal_block;
  if (shape_.dense) {
    packed_.resize(packed_triangle_size(d_) * scales.size());
    for (std::size_t s = 0; s < scales.size(); ++s)
      pack_triangle(
          d_, [&](int i, int j) { return scales[s].whiten(i, j); },
          packed_.data() + s * packed_triangle_size(d_));
  }
  if (shape_.shared) {
    // One W for all components: rows are whitened once, about a common centre, and whitened means
    // subtracted.
    centre_ = mean_.rowwise().mean();
    whitened_ = lower_times(scales[0].whiten, Matrix(mean_.colwise() - centre_));
  }
  if (!shape_.dense) {
    whitened_.resize(d_, k_);
    for (int k = 0; k < k_; ++k) whitened_.col(k) = scales[std::size_t(k)].whiten.col(0);
  }
}

double NormalScorer::operations() const {
  return double(k_) * (shape_.dense ? 2.0 * d_ * (d_ + 1) + 8.0 * d_ : 8.0 * d_);
}

std::size_t NormalScorer::raw_scatter() const {
  return shape_.dense ? std::size_t(d_) * std::size_t(d_ + 1) / 2 : std::size_t(d_);
}

Matrix NormalScorer::whiten(int s) const {
  Matrix out = Matrix::Zero(d_, d_);
  const double *at = packed_.data() + std::size_t(s) * normal_block::packed_triangle_size(d_);
  normal_block::unpack_triangle(d_, at, [&](int i, int j) -> double & { return out(i, j); });
  return out;
}

std::size_t NormalScorer::raw_size() const {
  return std::size_t(k_) * std::size_t(d_) + raw_scatter() * std::size_t(shape_.count(k_));
}

class NormalScorer::Worker final : public BlockWorker {
 public:
  explicit Worker(const NormalScorer &scorer)
      : scorer_(scorer),
        scatter_doubles_(scorer.shape_.dense ? normal_block::scatter_size(scorer.d_)
                                             : std::size_t(scorer.d_) * normal_block::sum_lanes) {
    using namespace normal_block;
    const std::size_t block = std::size_t(padded(scorer.d_)) * block_rows;
    if (scorer.shape_.dense) {
      y_.resize(block);
      ry_.resize(block);
    }
    mean_sums_.resize(std::size_t(padded(scorer.d_)) * sum_lanes * std::size_t(scorer.k_));
    scatter_.resize(scatter_doubles_ * std::size_t(scorer.shape_.count(scorer.k_)));
    if (scorer.shape_.shared) ones_.setOnes(scorer.d_);
  }

  void prepare(const double *block) override {
    if (incomplete) find_missing(block);
    if (!scorer_.shape_.shared) return;
    normal_block::centre(scorer_.d_, block, scorer_.centre_.data(), y_.data());
    normal_block::transform(scorer_.d_, scorer_.packed_.data(), y_.data(), ry_.data());
  }

  void weigh(double *weight) const override {
    for (const int b : empty()) weight[b] = 0;
  }

  void score(const double *block, int k, double *out) override {
    const NormalScorer &s = scorer_;
    if (!s.shape_.dense) return score_columns(block, k, out);
    const bool holes = missing_ && missing_->any();
    if (s.shape_.shared) {
      normal_block::diagonal_quadratic(s.d_, ry_.data(), s.whitened_.col(k).data(), ones_.data(),
                                       s.constant_(k), out);
    } else {
      normal_block::centre(s.d_, block, s.mean_.col(k).data(), y_.data());
      if (holes) fill(k);
      normal_block::quadratic(
          s.d_, s.packed_.data() + std::size_t(k) * normal_block::packed_triangle_size(s.d_),
          y_.data(), s.constant_(k), out);
    }
    if (holes) correct(k, out);
  }

  void accumulate(const double *block, int k, const double *r) override {
    const NormalScorer &s = scorer_;
    double *const sums = mean_sums_.data() + std::size_t(k) *
                                                 std::size_t(normal_block::padded(s.d_)) *
                                                 normal_block::sum_lanes;
    double *const scatter = scatter_.data() + std::size_t(s.shape_.index(k)) * scatter_doubles_;
    if (!s.shape_.dense) {
      const bool holes = columns_ && columns_->any();
      normal_block::diagonal_accumulate(
          s.d_, block, s.mean_.col(k).data(), r, sums, scatter, holes ? columns_->holes() : nullptr,
          holes ? missing_sums_.data() + std::size_t(k) * scatter_doubles_ : nullptr);
      return;
    }
    const bool holes = missing_ && missing_->any();
    normal_block::centre(s.d_, block, s.mean_.col(k).data(), y_.data());
    if (holes) fill(k);
    normal_block::accumulate(s.d_, y_.data(), r, ry_.data(), sums, scatter);
    if (holes) add_covariances(k, r);
  }

  void clear() override {
    std::fill(mean_sums_.begin(), mean_sums_.end(), 0.0);
    std::fill(scatter_.begin(), scatter_.end(), 0.0);
    std::fill(covariances_.begin(), covariances_.end(), 0.0);
    std::fill(missing_sums_.begin(), missing_sums_.end(), 0.0);
  }

  void reduce(double *raw) const override {
    const NormalScorer &s = scorer_;
    const std::size_t stride = std::size_t(normal_block::padded(s.d_)) * normal_block::sum_lanes;
    for (int k = 0; k < s.k_; ++k)
      normal_block::reduce_sums(s.d_, mean_sums_.data() + std::size_t(k) * stride,
                                raw + std::size_t(k) * std::size_t(s.d_));
    raw += std::size_t(s.k_) * std::size_t(s.d_);
    for (int c = 0; c < s.shape_.count(s.k_); ++c, raw += s.raw_scatter()) {
      const double *from = scatter_.data() + std::size_t(c) * scatter_doubles_;
      if (s.shape_.dense)
        normal_block::reduce_scatter(s.d_, from, raw);
      else
        normal_block::reduce_sums(s.d_, from, raw);
      if (missing_)
        for (std::size_t i = 0; i < s.raw_scatter(); ++i)
          raw[i] += covariances_[std::size_t(c) * s.raw_scatter() + i];
      if (columns_) add_variances(c, raw);
    }
  }

 private:
  std::span<const int> empty() const {
    return columns_ ? columns_->empty() : missing_ ? missing_->empty() : std::span<const int>();
  }

  void find_missing(const double *block) {
    const NormalScorer &s = scorer_;
    if (!s.shape_.dense) {
      if (!columns_) {
        columns_ = std::make_unique<MissingColumns>(s.d_);
        missing_sums_.resize(scatter_.size());
        std::fill(missing_sums_.begin(), missing_sums_.end(), 0.0);
        gains_ = Matrix::Zero(s.d_, s.k_);
        if (s.densities_) gains_ = 0.5 * std::log(2 * std::numbers::pi) - s.whitened_.array().log();
      }
      return columns_->find(block);
    }
    if (!missing_) {
      const int scales = s.shape_.count(s.k_);
      missing_ = std::make_unique<MissingElements>(s.d_, s.k_, scales);
      covariances_.assign(s.raw_scatter() * std::size_t(scales), 0.0);
    }
    missing_->find(block);
  }

  /// score() for scales that are not dense.
  void score_columns(const double *block, int k, double *out) const {
    const NormalScorer &s = scorer_;
    const double *const mean = s.mean_.col(k).data(), *const scale = s.whitened_.col(k).data();
    if (!columns_ || !columns_->any())
      return normal_block::diagonal_quadratic(s.d_, block, mean, scale, s.constant_(k), out);
    normal_block::diagonal_quadratic<true>(s.d_, block, mean, scale, s.constant_(k), out,
                                           columns_->holes(), gains_.col(k).data());
    for (const int b : columns_->empty()) out[b] = 0;
  }

  /// Adds the variances of missing elements to component k's sums of squares.
  void add_variances(int k, double *raw) const {
    for (int j = 0; j < scorer_.d_; ++j) {
      const double scale = scorer_.whitened_(j, k);
      raw[j] += simd::sum(missing_sums_.data() + std::size_t(k) * scatter_doubles_ +
                          std::size_t(j) * simd::sum_lanes) /
                (scale * scale);
    }
  }

  /// The index of component k's scale; makes its precision known to missing_.
  int scale_of(int k) {
    const int s = scorer_.shape_.index(k);
    if (!missing_->known(s)) missing_->learn(s, scorer_.whiten(s));
    return s;
  }

  /// Fills in the missing elements of the block in y_, which is centred for component k.
  void fill(int k) { missing_->fill(k, scale_of(k), scorer_.mean_.col(k).data(), y_.data()); }

  /// Corrects the scores of incomplete rows, which were computed as if the elements that were
  /// filled in were observed.
  void correct(int k, double *out) {
    const NormalScorer &s = scorer_;
    if (s.shape_.shared && missing_->rows() > 0) {
      // A row's conditional means depend on the component, so it is whitened for each.
      alignas(cache_line) double scores[block_rows];
      normal_block::quadratic(s.d_, s.packed_.data(),
                              missing_->filled_rows(k, scale_of(k), s.mean_.col(k).data()),
                              s.constant_(k), scores, missing_->rows());
      const double *from = scores;
      for (int g = 0; g < missing_->groups(); ++g)
        for (const int b : missing_->group(g).places) out[b] = *from++;
    }
    for (int g = 0; s.densities_ && g < missing_->groups(); ++g) {
      const MissingElements::Group group = missing_->group(g);
      const double gain = missing_->constant(scale_of(k), g);
      for (const int b : group.places) out[b] += gain;
    }
    for (const int b : missing_->empty()) out[b] = 0;
  }

  /// Adds the conditional covariances of incomplete rows, which the scatter needs in addition to
  /// the squares of their conditional means.
  void add_covariances(int k, const double *r) {
    const NormalScorer &s = scorer_;
    double *const to = covariances_.data() + std::size_t(s.shape_.index(k)) * s.raw_scatter();
    for (int g = 0; g < missing_->groups(); ++g) {
      const MissingElements::Group group = missing_->group(g);
      double weight = 0;
      for (const int b : group.places) weight += r[b];
      if (weight > 0) missing_->add_covariance(scale_of(k), g, weight, to);
    }
  }

  const NormalScorer &scorer_;
  const std::size_t scatter_doubles_;
  /// for dense scales
  std::unique_ptr<MissingElements> missing_;
  std::vector<double> covariances_;
  /// for other scales
  std::unique_ptr<MissingColumns> columns_;
  /// d x K: added to a score where an element is missing
  Matrix gains_;
  /// sums of responsibilities for missing elements, laid out like the sums of squares
  Buffer missing_sums_;
  Buffer y_, ry_, mean_sums_, scatter_;
  Vector ones_;
};

double NormalScorer::sums_per_number(const CovarianceShape &shape, int dimension) {
  return shape.dense && dimension <= normal_block::lane_sums_limit ? 0.5 * simd::sum_lanes + 0.5
                                                                   : 1;
}

std::unique_ptr<BlockWorker> NormalScorer::worker() const {
  return std::make_unique<Worker>(*this);
}

Document NormalScorer::message() const {
  const int scales = shape_.count(k_);
  std::vector<double> whiten;
  for (int s = 0; s < scales; ++s) {
    if (!shape_.dense) {
      const Vector column = whitened_.col(s);
      whiten.insert(whiten.end(), column.data(), column.data() + d_);
      continue;
    }
    const Matrix lower = this->whiten(s);
    for (int i = 0; i < d_; ++i)
      for (int j = 0; j <= i; ++j) whiten.push_back(lower(i, j));
  }
  Document out = Document::object();
  out.set("family", "normal").set("shape", shape_.name).set("densities", densities_);
  out.set("dimension", d_).set("components", k_);
  out.set("mean", numbers_document({mean_.data(), std::size_t(mean_.size())}));
  out.set("whiten", numbers_document(whiten));
  out.set("constant", numbers_document({constant_.data(), std::size_t(k_)}));
  return out;
}

NormalScorer NormalScorer::from_message(const Document &message) {
  const PassReader given(message);
  const CovarianceShape *const shape = covariance_named(given.text("shape"));
  if (!shape) PassReader::refuse();
  const int d = int(given.integer("dimension", 1, max_message_dimension)),
            k = int(given.integer("components", 1, max_message_components)),
            scales = shape->count(k);
  const std::size_t each = shape->dense ? std::size_t(d) * std::size_t(d + 1) / 2 : std::size_t(d);
  const double *from = given.numbers("whiten", each * std::size_t(scales)).data();
  std::vector<FactoredScale> factored(static_cast<std::size_t>(scales));
  for (FactoredScale &scale : factored) {
    scale.whiten = Matrix::Zero(d, shape->dense ? d : 1);
    for (int i = 0; i < d; ++i)
      for (int j = 0; j <= (shape->dense ? i : 0); ++j) scale.whiten(i, j) = *from++;
  }
  const Matrix mean =
      Eigen::Map<const Matrix>(given.numbers("mean", std::size_t(d) * std::size_t(k)).data(), d, k);
  const Vector constant =
      Eigen::Map<const Vector>(given.numbers("constant", std::size_t(k)).data(), k);
  return {*shape, mean, factored, constant, given.flag("densities")};
}

NormalStatistics NormalScorer::statistics(const std::vector<double> &counts,
                                          const std::vector<double> &raw) const {
  Statistics out;
  out.shape = shape_;
  out.count = Eigen::Map<const Vector>(counts.data(), k_);
  out.mean = mean_;
  const Matrix sums = Eigen::Map<const Matrix>(raw.data(), d_, k_);
  const double *at = raw.data() + sums.size();
  for (int c = 0; c < shape_.count(k_); ++c, at += raw_scatter()) {
    if (shape_.dense) {
      Matrix scatter(d_, d_);
      for (int i = 0; i < d_; ++i)
        for (int j = 0; j <= i; ++j) scatter(i, j) = scatter(j, i) = at[i * (i + 1) / 2 + j];
      out.scatter.push_back(std::move(scatter));
    } else if (shape_.isotropic) {
      // A loop, as the order of Eigen's sum, and so its last bits, depends on the alignment of the
      // memory.
      double sum = 0;
      for (int j = 0; j < d_; ++j) sum += at[j];
      out.scatter.push_back(Matrix::Constant(1, 1, sum));
    } else {
      out.scatter.push_back(Eigen::Map<const Vector>(at, d_));
    }
  }
  // Shift from the scorer's means to the groups' own: sum (x - mean)^2 = sum (x - m)^2 - n (mean -
  // m)^2.
  for (int k = 0; k < k_; ++k)
    if (out.count(k) > 0) {
      const Vector shift = sums.col(k) / out.count(k);
      out.mean.col(k) += shift;
      out.scatter[std::size_t(shape_.index(k))] -= out.count(k) * outer(shape_, shift);
    }
  return out;
}

}  // namespace bayes
