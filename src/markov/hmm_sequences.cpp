// One sequence under a fitted hidden Markov model: likelihood, states, paths, predictions; and
// sequences drawn from it.
//
// After method gibbs everything is computed under each stored draw of the parameters, and averaged.
// The draws are not weighted by the sequence: it is asked about, not learned from.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "base/special.hpp"
#include "families/product/product_options.hpp"
#include "markov/hmm_scorer.hpp"

namespace bayes {
namespace {

/// Means and variances (d x K) of what the states emit.
struct Moments {
  Matrix mean, variance;
};

Moments moments(const NormalPoint &point, const NormalWishart *q) {
  const CovarianceShape &shape = point.shape;
  const int d = point.dimension();
  Moments out{point.mean, Matrix(d, point.components())};
  for (int i = 0; i < point.components(); ++i) {
    const std::size_t s = std::size_t(shape.index(i));
    out.variance.col(i) = dense_form(shape, point.covariance[s], d).diagonal();
    if (!q) continue;
    // The covariance of the predictive Student t: B (c + 1) / (c (nu - 2)), nu = a + 1 - d for
    // dense shapes.
    const double a = q->a(Eigen::Index(s)), nu = shape.dense ? a + 1 - d : a;
    out.variance.col(i) *=
        nu > 2 ? a * (q->c(i) + 1) / (q->c(i) * (nu - 2)) : std::numeric_limits<double>::infinity();
  }
  return out;
}

Moments moments(const ProductPoint &point, const ProductPosterior *q) {
  Moments out{Matrix(point.dimension(), point.components()),
              Matrix(point.dimension(), point.components())};
  point.columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
    for (int i = 0; i < point.components(); ++i) {
      out.mean(j, i) =
          q ? column.predictive_mean(q->column(i, j)) : column.mean(point.column(i, j));
      out.variance(j, i) =
          q ? column.predictive_variance(q->column(i, j)) : column.variance(point.column(i, j));
    }
  });
  return out;
}

/// Mean and variance of a mixture. A component of weight 0 does not count, even if its variance is
/// infinite.
std::pair<double, double> mixed(const Vector &weight, const auto &mean, const auto &variance) {
  double m = 0, v = 0;
  for (Eigen::Index i = 0; i < weight.size(); ++i)
    if (weight(i) > 0) m += weight(i) * mean(i);
  for (Eigen::Index i = 0; i < weight.size(); ++i)
    if (weight(i) > 0) v += weight(i) * (variance(i) + (mean(i) - m) * (mean(i) - m));
  return {m, v};
}

/// Probabilities of the categories of all categorical elements, one element after the other, if
/// those of the states are these.
std::vector<double> shares(const ProductPoint &point, const Vector &states) {
  std::vector<double> out;
  point.columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
    for (int v = 0; column.by_value && v < column.numbers_of_name(); ++v) {
      double p = 0;
      for (int i = 0; i < point.components(); ++i) p += states(i) * point.column(i, j)[v];
      out.push_back(p);
    }
  });
  return out;
}
std::vector<double> shares(const NormalPoint &, const Vector &) { return {}; }

/// What is emitted if the probabilities of the states are these.
template <class P>
HiddenMarkovModel::Prediction prediction(const P &point, const Vector &states, const Moments &of) {
  HiddenMarkovModel::Prediction out{to_vector(states), {}, {}, shares(point, states)};
  for (Eigen::Index j = 0; j < of.mean.rows(); ++j) {
    const auto [mean, variance] = mixed(states, of.mean.row(j), of.variance.row(j));
    out.mean.push_back(mean);
    out.variance.push_back(variance);
  }
  return out;
}

/// The prediction of a mixture of points with equal weights.
HiddenMarkovModel::Prediction average(const std::vector<HiddenMarkovModel::Prediction> &each) {
  using Prediction = HiddenMarkovModel::Prediction;
  const Vector share = Vector::Constant(Eigen::Index(each.size()), 1.0 / double(each.size()));
  Prediction out = each[0];
  const auto average = [&](std::vector<double> Prediction::*member) {
    std::fill((out.*member).begin(), (out.*member).end(), 0.0);
    for (const Prediction &one : each)
      for (std::size_t i = 0; i < (one.*member).size(); ++i)
        (out.*member)[i] += (one.*member)[i] / double(each.size());
  };
  average(&Prediction::states);
  average(&Prediction::categories);
  Vector mean(share.size()), variance(share.size());
  for (std::size_t j = 0; j < out.mean.size(); ++j) {
    for (std::size_t s = 0; s < each.size(); ++s) {
      mean(Eigen::Index(s)) = each[s].mean[j];
      variance(Eigen::Index(s)) = each[s].variance[j];
    }
    std::tie(out.mean[j], out.variance[j]) = mixed(share, mean, variance);
  }
  return out;
}

[[noreturn]] void impossible(const char *what) {
  throw Error(Errc::numeric, what, "No path of positive probability leads through it.",
              "hmm_log_likelihood(model, sequence) is -Infinity for such sequences.");
}

/// Draws observations at a point.
class RowSampler {
 public:
  explicit RowSampler(const ProductPoint &point)
      : draw_([&point](int state, Random &random, double *x) {
          bayes::sample(point, state, random, x);
        }) {}
  explicit RowSampler(const NormalPoint &point) {
    const int d = point.dimension();
    std::vector<Matrix> roots(std::size_t(point.components()));
    for (int k = 0; k < point.components(); ++k)
      if (!cholesky(dense_form(point.shape, point.covariance[std::size_t(point.shape.index(k))], d),
                    roots[std::size_t(k)]))
        not_positive_definite("covariance", k);
    draw_ = [&point, d, roots = std::move(roots)](int state, Random &random, double *x) {
      Vector z(d);
      for (int j = 0; j < d; ++j) z(j) = random.normal();
      Eigen::Map<Vector>(x, d) =
          point.mean.col(state) + bayes::product(roots[std::size_t(state)], z);
    };
  }
  void operator()(int state, Random &random, double *x) const { draw_(state, random, x); }

 private:
  std::function<void(int state, Random &random, double *x)> draw_;
};

}  // namespace

HmmScorer &HiddenMarkovModel::scorer() const {
  if (!scorer_) scorer_ = std::make_unique<HmmScorer>(*state, dimension());
  return *scorer_;
}

double HiddenMarkovModel::log_likelihood(Sequences &one, Control &control) const {
  std::vector<double> logs;
  for (const ScoredChain &point : scorer().points())
    logs.push_back(sequence_end(one, control, point).log_likelihood);
  return logs.size() == 1 ? logs[0] : log_sum_exp(logs) - std::log(double(logs.size()));
}

HmmPath HiddenMarkovModel::decode(Sequences &one, Control &control) const {
  StatePath path = best_path(one, control, scorer().path_point());
  return {path.log_probability, std::move(path.states)};
}

std::vector<HmmPath> HiddenMarkovModel::decode_best(Sequences &one, int count,
                                                    Control &control) const {
  std::vector<HmmPath> out;
  for (StatePath &path : best_paths(one, count, control, scorer().path_point()))
    out.push_back({path.log_probability, std::move(path.states)});
  return out;
}

void HiddenMarkovModel::smooth(Sequences &one, Control &control,
                               const std::function<void(std::int64_t first, int steps,
                                                        const double *probabilities)> &take) const {
  smooth_sequence(one, control, scorer().points(), take);
}

HiddenMarkovModel::Prediction HiddenMarkovModel::predict_next(Sequences &one,
                                                              Control &control) const {
  Prediction out;
  predict(one, 1, control, [&out](const Prediction &next) { out = next; });
  return out;
}

void HiddenMarkovModel::predict(Sequences &one, int steps, Control &control,
                                const std::function<void(const Prediction &)> &take) const {
  const int k = size();
  std::visit(
      [&]<class Fitted>(const Fitted &fitted) {
        // The points under which the sequence is possible, and what they know of its states.
        struct Part {
          const decltype(fitted.point) *point;
          Vector states;
          Moments moments;
        };
        std::vector<Part> parts;
        std::size_t at = 0;
        fitted.for_each_point([&](const auto &point) {
          const SequenceEnd end = sequence_end(one, control, scorer().points()[at++]);
          if (end.states.empty()) return;
          parts.push_back({&point, Eigen::Map<const Vector>(end.states.data(), k),
                           moments(point.emissions,
                                   fitted.posterior ? &fitted.posterior->emissions : nullptr)});
        });
        if (parts.empty()) impossible("the sequence is impossible under the model");
        std::vector<Prediction> each(parts.size());
        for (int step = 0; step < steps; ++step) {
          for (std::size_t i = 0; i < parts.size(); ++i) {
            if (control.pending()) control.poll();
            Part &part = parts[i];
            // Of an empty sequence the first step comes next, which no transition leads to.
            if (step > 0 || one.steps > 0)
              part.states = product(Matrix(part.point->transition.transpose()), part.states);
            each[i] = prediction(part.point->emissions, part.states, part.moments);
          }
          take(each.size() == 1 ? each[0] : average(each));
        }
      },
      state->fitted);
}

std::vector<HiddenMarkovModel::Category> HiddenMarkovModel::categories() const {
  std::vector<Category> out;
  if (const auto *const fitted = std::get_if<ProductHmm>(&state->fitted))
    fitted->point.emissions.columns->for_each(
        [&](int j, const Column &column, const ColumnOffsets &) {
          for (int v = 0; column.by_value && v < column.numbers_of_name(); ++v)
            out.push_back({j, name_of_category(j, v, column.value(v))});
        });
  return out;
}

std::vector<double> HiddenMarkovModel::categories(int element) const {
  const auto *const fitted = std::get_if<ProductHmm>(&state->fitted);
  return fitted ? categories_of(fitted->point.emissions.columns->column(element))
                : std::vector<double>();
}

void HiddenMarkovModel::sample(
    std::uint64_t seed, std::int64_t index, std::int64_t steps,
    const std::function<void(int state, std::span<const double> x)> &take) const {
  Random random(seed, std::uint64_t(index));
  std::visit(
      [&]<class Fitted>(const Fitted &fitted) {
        std::vector<double> x(static_cast<std::size_t>(dimension())),
            row(static_cast<std::size_t>(size()));
        // All steps use the same parameters: a draw of them, or the point estimate.
        const auto &point =
            fitted.draws.empty() ? fitted.point : fitted.draws[random.below(fitted.draws.size())];
        const RowSampler observation(point.emissions);
        int at = 0;
        for (std::int64_t t = 0; t < steps; ++t) {
          for (int k = 0; k < size(); ++k)
            row[std::size_t(k)] = t == 0 ? point.initial(k) : point.transition(at, k);
          at = random.categorical(row);
          observation(at, random, x.data());
          take(at, x);
        }
      },
      state->fitted);
}

// ---- the filter ----

/// The recursion under one point.
class HiddenMarkovModel::Filter::Part {
 public:
  explicit Part(const ScoredChain &point)
      : chain_(point.chain),
        table_(point.emissions->table()),
        worker_(table_ ? nullptr : point.emissions->worker()),
        emission_(std::size_t(chain_->padded()), minus_infinity),
        forward_(2 * std::size_t(chain_->padded())) {}

  /// Adds the probabilities of the states after the next observation, in the first row of `block`;
  /// `scores` is workspace, K x block_rows. Returns its log predictive density; -infinity if it is
  /// impossible, after which this must not be called again.
  double add(std::span<const double> x, const double *block, double *scores,
             std::vector<double> &out) {
    const std::size_t k = out.size(), padded = std::size_t(chain_->padded());
    if (table_) {
      const std::size_t value = x[0] == x[0] ? std::size_t(x[0]) : std::size_t(table_->values);
      std::copy_n(table_->logarithms.data() + value * padded, k, emission_.data());
    } else {
      worker_->score(block, 0, 1, scores);
      for (std::size_t i = 0; i < k; ++i) emission_[i] = scores[i * block_rows];
    }
    std::copy_n(forward_.data() + padded, padded, forward_.data());
    scale_[0] = scale_[1];
    const ChainSteps step{1,       emission_.data(), nullptr, forward_.data() + padded,
                          nullptr, scale_ + 1};
    const bool begins = std::exchange(begins_, false);
    double log_predictive;
    // Prefer the scaled recursion: it takes K exponentials, not K x K.
    if (chain_->safe()) {
      const double largest =
          *std::max_element(emission_.begin(), emission_.begin() + std::ptrdiff_t(k));
      for (std::size_t i = 0; i < padded; ++i)
        emission_[i] = i < k ? std::exp(emission_[i] - largest) : 0;
      scaled_recursion::forward(*chain_, step, begins);
      log_predictive = std::log(scale_[1]) + largest;
    } else {
      std::fill(emission_.begin() + std::ptrdiff_t(k), emission_.end(), minus_infinity);
      log_recursion::forward(*chain_, step, begins);
      log_predictive = scale_[1];
    }
    if (!(std::abs(log_predictive) < std::numeric_limits<double>::max())) return minus_infinity;
    for (std::size_t i = 0; i < k; ++i)
      out[i] += chain_->safe() ? step.forward[i] / scale_[1] : std::exp(step.forward[i]);
    return log_predictive;
  }

 private:
  const MarkovChain *chain_;
  const EmissionTable *table_;
  std::unique_ptr<EmissionWorker> worker_;
  Buffer emission_, forward_;
  double scale_[2] = {};  // of the previous step and of this one
  bool begins_ = true;
};

HiddenMarkovModel::Filter::Filter(const HiddenMarkovModel &model)
    : block_(std::size_t(model.dimension()) * block_rows),
      scores_(std::size_t(model.size()) * block_rows),
      out_(std::size_t(model.size())) {
  for (const ScoredChain &point : model.scorer().points()) parts_.emplace_back(point);
}
HiddenMarkovModel::Filter::~Filter() = default;

std::span<const double> HiddenMarkovModel::Filter::next(std::span<const double> x) {
  for (std::size_t j = 0; j < x.size(); ++j) block_[j * block_rows] = x[j];
  std::fill(out_.begin(), out_.end(), 0.0);
  std::vector<double> logs;
  std::size_t left = 0;
  for (Part &part : parts_) {
    if (logs.size() % 16 == 15) poll_here();
    logs.push_back(part.add(x, block_.data(), scores_.data(), out_));
    if (!(logs.back() > minus_infinity)) continue;
    if (&part != &parts_[left]) parts_[left] = std::move(part);
    ++left;
  }
  parts_.erase(parts_.begin() + std::ptrdiff_t(left), parts_.end());
  if (parts_.empty()) impossible("the observation is impossible after those before it");
  if (parts_.size() > 1)
    for (double &p : out_) p /= double(parts_.size());
  log_predictive_ = logs.size() == 1 ? logs[0] : log_sum_exp(logs) - std::log(double(logs.size()));
  return out_;
}

double HiddenMarkovModel::Filter::log_predictive() const { return log_predictive_; }

}  // namespace bayes
