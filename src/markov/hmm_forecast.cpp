// Forecasts of a sequence: the predictive distributions of the next steps, and draws of them.
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "data/row_order.hpp"
#include "families/normal/normal_draw.hpp"
#include "families/predicted.hpp"
#include "markov/hmm_observations.hpp"
#include "markov/hmm_scorer.hpp"

namespace bayes {
namespace {

/// The emission distributions: means and variances (d x K), and each element's distributions under
/// the K states.
struct Emitted {
  Emitted(Matrix means, int d, int k)
      : mean(std::move(means)),
        variance(d, k),
        elements(std::size_t(d), std::vector<Predicted>(std::size_t(k))) {}
  Matrix mean, variance;
  std::vector<std::vector<Predicted>> elements;
  Predicted &of(int element, int state) {
    return elements[std::size_t(element)][std::size_t(state)];
  }
};

Emitted emitted(const NormalPoint &point, const NormalWishart *q) {
  const CovarianceShape &shape = point.shape;
  const int d = point.dimension();
  Emitted out(point.mean, d, point.components());
  for (int i = 0; i < point.components(); ++i) {
    const std::size_t s = std::size_t(shape.index(i));
    const Vector variance = dense_form(shape, point.covariance[s], d).diagonal();
    if (!q) {
      out.variance.col(i) = variance;
      for (int j = 0; j < d; ++j)
        out.of(j, i) = Predicted::normal(point.mean(j, i), std::sqrt(variance(j)));
      continue;
    }
    // The predictive is a Student t, its squared scale B (c + 1) / (c nu), nu = a + 1 - d for dense
    // shapes.
    const double a = q->a(Eigen::Index(s)), nu = shape.dense ? a + 1 - d : a,
                 wider = a * (q->c(i) + 1) / (q->c(i) * nu);
    out.variance.col(i) =
        variance * (nu > 2 ? wider * nu / (nu - 2) : std::numeric_limits<double>::infinity());
    for (int j = 0; j < d; ++j)
      out.of(j, i) = Predicted::student(point.mean(j, i), std::sqrt(variance(j) * wider), nu);
  }
  return out;
}

Emitted emitted(const ProductPoint &point, const ProductPosterior *q) {
  const int d = point.dimension(), k = point.components();
  Emitted out(Matrix(d, k), d, k);
  point.columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
    for (int i = 0; i < point.components(); ++i) {
      out.mean(j, i) =
          q ? column.predictive_mean(q->column(i, j)) : column.mean(point.column(i, j));
      out.variance(j, i) =
          q ? column.predictive_variance(q->column(i, j)) : column.variance(point.column(i, j));
      out.of(j, i) = q ? column.predictive(q->column(i, j)) : column.predicted(point.column(i, j));
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

/// Probabilities of the categories of all categorical elements, one element after the other, given
/// the probabilities of the states.
std::vector<double> shares(const ProductPoint &point, const Vector &states) {
  std::vector<double> out;
  point.columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
    for (int v = 0; column.by_value && v < column.numbers_per_name(); ++v) {
      double p = 0;
      for (int i = 0; i < point.components(); ++i) p += states(i) * point.column(i, j)[v];
      out.push_back(p);
    }
  });
  return out;
}
std::vector<double> shares(const NormalPoint &, const Vector &) { return {}; }

/// The prediction of an observation given the probabilities of the states.
template <class P>
HiddenMarkovModel::Prediction prediction(const P &point, const Vector &states, const Emitted &of) {
  HiddenMarkovModel::Prediction out{to_vector(states), {}, {}, shares(point, states), {}, {}};
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

/// A point under which a sequence is possible, and the probabilities of its last state; for an
/// empty sequence those of the first state.
template <class Point> struct PossiblePoint {
  const Point *point;
  Vector states;

  /// advances `states` by one step
  void move() { states = bayes::product(Matrix(point->transition.transpose()), states); }
};

template <class Fitted>
auto possible_points(const Fitted &fitted, const HmmScorer &scorer, const Sequences &one,
                     Control &control) {
  std::vector<PossiblePoint<decltype(fitted.point)>> out;
  std::size_t at = 0;
  fitted.for_each_point([&](const auto &point) {
    const SequenceEnd end = sequence_end(one, control, scorer.points()[at++]);
    if (end.states.empty()) return;
    out.push_back({&point, Eigen::Map<const Vector>(end.states.data(), point.initial.size())});
  });
  if (out.empty()) throw_impossible("the sequence is impossible under the model");
  return out;
}

/// Predictive intervals of the elements, marginal over the states.
class Intervals {
 public:
  /// `level`: null for no intervals
  Intervals(int dimension, std::optional<double> level)
      : level_(level),
        elements_(std::size_t(level ? dimension : 0)) {}

  void add(const Emitted &emitted) {
    for (std::size_t j = 0; j < elements_.size(); ++j)
      elements_[j].insert(elements_[j].end(), emitted.elements[j].begin(),
                          emitted.elements[j].end());
  }
  /// `weights`: of all states under all points
  void write(const std::vector<double> &weights, HiddenMarkovModel::Prediction &out) const {
    for (const std::vector<Predicted> &element : elements_) {
      const double outside = (1 - *level_) / 2;
      out.lower.push_back(quantile_of_mixture(element, weights, outside));
      out.upper.push_back(quantile_of_mixture(element, weights, 1 - outside));
    }
  }

 private:
  const std::optional<double> level_;
  std::vector<std::vector<Predicted>> elements_;
};

}  // namespace

HiddenMarkovModel::Prediction HiddenMarkovModel::predict_next(Sequences &one, Control &control,
                                                              std::optional<double> level) const {
  Prediction out;
  predict(
      one, 1, control, [&out](const Prediction &next) { out = next; }, level);
  return out;
}

void HiddenMarkovModel::predict(Sequences &one, int steps, Control &control,
                                const std::function<void(const Prediction &)> &take,
                                std::optional<double> level) const {
  const PollScope scope(control);
  std::visit(
      [&]<class Fitted>(const Fitted &fitted) {
        auto points = possible_points(fitted, scorer(), one, control);
        std::vector<Emitted> emissions;
        Intervals intervals(dimension(), level);
        for (const auto &possible : points) {
          emissions.push_back(emitted(possible.point->emissions,
                                      fitted.posterior ? &fitted.posterior->emissions : nullptr));
          intervals.add(emissions.back());
        }
        std::vector<Prediction> each(points.size());
        std::vector<double> weights;
        for (int step = 0; step < steps; ++step) {
          weights.clear();
          for (std::size_t i = 0; i < points.size(); ++i) {
            if (control.pending()) control.poll();
            // After an empty sequence the next step is the first, which no transition precedes.
            if (step > 0 || one.steps > 0) points[i].move();
            each[i] = prediction(points[i].point->emissions, points[i].states, emissions[i]);
            weights.insert(weights.end(), each[i].states.begin(), each[i].states.end());
          }
          Prediction next = each.size() == 1 ? each[0] : average(each);
          intervals.write(weights, next);
          take(next);
        }
      },
      state->fitted);
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

void HiddenMarkovModel::sample_after(
    Sequences &one, int steps, int draws, std::uint64_t seed, Control &control,
    const std::function<void(int draw, int step, int state, std::span<const double> x)> &take)
    const {
  const PollScope scope(control);
  // Draws of different sequences with one seed are independent.
  std::uint64_t stream = 0;
  std::vector<double> given(static_cast<std::size_t>(dimension()));
  for_each_step(one, control, [&](const double *x, auto...) {
    for (std::size_t j = 0; j < given.size(); ++j) given[j] = x[j * block_rows];
    stream = hash_row(given, stream);
  });
  std::visit(
      [&]<class Fitted>(const Fitted &fitted) {
        auto points = possible_points(fitted, scorer(), one, control);
        std::vector<RowSampler> observations;
        for (auto &possible : points) {
          if (one.steps > 0) possible.move();
          if (!fitted.posterior) observations.emplace_back(possible.point->emissions);
        }
        std::vector<double> x(static_cast<std::size_t>(dimension())),
            row(static_cast<std::size_t>(size()));
        for (int d = 0; d < draws; ++d) {
          poll_here();
          Random random(seed, std::uint64_t(d), 11, stream);
          const std::size_t which = points.size() > 1 ? random.below(points.size()) : 0;
          const auto &at = points[which];
          // Observations in the same state are dependent: under a posterior all steps of a draw
          // have the same parameters.
          std::optional<typename Fitted::Point> drawn;
          if (fitted.posterior) drawn = draw(fitted.posterior->emissions, random);
          const RowSampler own = drawn ? RowSampler(*drawn) : observations[which];
          int now = 0;
          for (int t = 0; t < steps; ++t) {
            for (int k = 0; k < size(); ++k)
              row[std::size_t(k)] = t == 0 ? at.states(k) : at.point->transition(now, k);
            now = random.categorical(row);
            own(now, random, x.data());
            take(d, t, now, x);
          }
        }
      },
      state->fitted);
}

}  // namespace bayes
