// Gibbs sampling of hidden Markov models: paths given parameters by forward filtering, backward
// sampling (Chib 1996), parameters given paths from their conjugate posteriors. Paths are drawn
// anew in every sweep and forgotten, so that memory does not grow with the sequences but for the
// reference path by which states are named.
#pragma once

#include <chrono>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/assignment.hpp"
#include "markov/hmm_state.hpp"
#include "markov/markov_learners.hpp"
#include "partition/chains.hpp"

namespace bayes {

/// The states in this order.
inline Vector reordered(const Vector &v, const std::vector<int> &order) {
  Vector out(v.size());
  for (std::size_t i = 0; i < order.size(); ++i) out(Eigen::Index(i)) = v(order[i]);
  return out;
}
inline Matrix reordered(const Matrix &m, const std::vector<int> &order) {
  Matrix out(m.rows(), m.cols());
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = 0; j < order.size(); ++j)
      out(Eigen::Index(i), Eigen::Index(j)) = m(order[i], order[j]);
  return out;
}
template <template <class> class M, class T>
requires(requires(M<T> m) { m.emissions; }) M<T> reordered(const M<T> &of,
                                                           const std::vector<int> &order) {
  return {reordered(of.initial, order), reordered(of.transition, order), pick(of.emissions, order)};
}

/// A draw of the parameters.
template <class P, class Q>
MarkovPoint<P> draw_parameters(const MarkovPosterior<Q> &q, Random &random) {
  const auto row = [&](const Vector &alpha) {
    Vector out = Vector::Zero(alpha.size());
    std::vector<double> possible, drawn;
    for (const double a : alpha)
      if (a > 0) possible.push_back(a);
    drawn.resize(possible.size());
    random.dirichlet(possible, drawn);
    auto at = drawn.begin();
    for (Eigen::Index i = 0; i < alpha.size(); ++i)
      if (alpha(i) > 0) out(i) = *at++;
    return out;
  };
  MarkovPoint<P> out{row(q.initial), q.transition, draw(q.emissions, random)};
  for (Eigen::Index i = 0; i < q.transition.rows(); ++i)
    out.transition.row(i) = row(q.transition.row(i));
  return out;
}

/// What the draws have in common: averages over them, each given its path, so that few tell much.
template <class P, class Q> class HmmDraws {
 public:
  HmmDraws(const Sequences &sequences, const MarkovPosterior<Q> &prior, bool whole_steps,
           bool named, const ChainPlan &plan, std::uint64_t seed, Control &control)
      : sequences_(sequences),
        prior_(prior),
        k_(int(prior.initial.size())),
        whole_steps_(whole_steps),
        named_(named),
        plan_(plan),
        seed_(seed),
        control_(control) {}

  MarkovPoint<P> point;
  HmmDeviations deviations;
  Vector visits;
  Matrix transitions;
  Draws quantities;
  double best = -std::numeric_limits<double>::infinity();

  /// `begin(chain)`: a point to begin at. Throws Error(too_large) if the reference path does not
  /// fit into memory.
  template <class Begin> void run(Begin begin) {
    quantities = {{"log_joint", "log_likelihood", "states"}, plan_.chains, plan_.kept(), {}};
    if (!named_) {
      if (2.0 * double(sequences_.rows.rows()) > std::max(control_.row_memory, 64e6))
        throw Error(Errc::too_large,
                    "method gibbs keeps the states of one path, which for " +
                        std::to_string(sequences_.steps) +
                        " steps do not fit into maintenance_work_mem",
                    {}, "Raise maintenance_work_mem, or use method vi or svi.");
      reference_.assign(std::size_t(sequences_.rows.rows()), 0);
    }
    const auto began = std::chrono::steady_clock::now();
    for (int chain = 0; chain < plan_.chains; ++chain) {
      MarkovPoint<P> parameters = begin(chain);
      for (int sweep = 0; sweep < plan_.draws; ++sweep) {
        control_.poll();
        // The path at the end of the first warmup names the states of all draws to come.
        const bool naming = !named_ && chain == 0 && sweep == plan_.warmup,
                   compare = !named_ && !naming && (chain > 0 || sweep > plan_.warmup);
        const auto scorer = make_scorer(parameters.emissions);
        const PathDraws draws{RowRandom(seed_, std::uint64_t(chain), std::uint64_t(sweep), 7),
                              naming ? reference_.data() : nullptr,
                              compare ? reference_.data() : nullptr};
        const MarkovSums sums =
            markov_step(sequences_, control_, markov::chain_of(parameters),
                        *emissions_of(scorer, whole_steps_, sequences_.values), &draws);
        const double log_joint = steady(sums.objective + density(parameters));
        if (!std::isfinite(log_joint))
          throw Error(Errc::numeric,
                      "the density of a draw of method gibbs overflowed in sweep " +
                          std::to_string(sweep + 1),
                      "Values are too large for double precision.", "Rescale the observations.");
        const double seconds =
                         std::chrono::duration<double>(std::chrono::steady_clock::now() - began)
                             .count(),
                     done = double(chain) * plan_.draws + sweep + 1;
        control_.progress({"gibbs", chain + 1, plan_.chains, sweep + 1, plan_.draws, log_joint,
                           std::numeric_limits<double>::quiet_NaN(), seconds,
                           seconds / done * (double(plan_.chains) * plan_.draws - done)});
        const auto statistics = markov::statistics_of(sums, scorer);
        MarkovPosterior<Q> q =
            MarkovVariational<Q>(prior_, whole_steps_).update(statistics, prior_);
        if (sweep >= plan_.warmup && (sweep - plan_.warmup + 1) % plan_.thin == 0) {
          best = std::max(best, log_joint);
          const double values[] = {log_joint, steady(sums.objective),
                                   double((statistics.count.array() > 0).count())};
          quantities.values.insert(quantities.values.end(), std::begin(values), std::end(values));
          std::vector<int> order(std::size_t(k_), 0);
          for (int i = 0; i < k_; ++i) order[std::size_t(i)] = i;
          if (compare) {
            const std::vector<int> name = best_assignment(sums.confusion, k_);
            for (int i = 0; i < k_; ++i) order[std::size_t(name[std::size_t(i)])] = i;
          }
          note(reordered(q, order), reordered(statistics.count, order),
               reordered(statistics.transitions, order));
        }
        Random random(seed_, std::uint64_t(chain), std::uint64_t(sweep), 8);
        parameters = draw_parameters<P>(q, random);
      }
    }
    finish();
  }

 private:
  /// log prior density, where it is finite: a parameter drawn as 0 under a Dirichlet below 1 has an
  /// infinite one.
  double density(const MarkovPoint<P> &point) const {
    const auto tamed = [](const Vector &p, const Vector &alpha) {
      return markov::log_density(p.cwiseMax(std::numeric_limits<double>::min()), alpha);
    };
    return markov::over_rows(point, prior_, tamed) + log_prior(point.emissions, prior_.emissions);
  }

  /// Variances of the entries of a Dirichlet.
  static Vector spread(const Vector &alpha) {
    const double whole = alpha.sum();
    return (alpha.array() / whole * ((whole - alpha.array()) / whole) / (whole + 1)).matrix();
  }

  void note(const MarkovPosterior<Q> &q, const Vector &count, const Matrix &moves) {
    const MarkovPoint<P> mean = mean_parameters(q);
    Matrix within(k_, k_), emissions;
    for (int i = 0; i < k_; ++i) within.row(i) = spread(q.transition.row(i));
    if constexpr (std::is_same_v<P, ProductPoint>) {
      // Of probabilities only: other parameters may have no variance, and nobody is told of it.
      emissions = Matrix::Zero(mean.emissions.values.rows(), k_);
      q.emissions.columns->for_each([&]<class F>(int j, const F &family, const ColumnPlaces &at) {
        if constexpr (F::probabilities)
          for (int i = 0; i < k_; ++i) {
            auto own = emissions.col(i).segment(at.point, family.numbers_of_name());
            family.deviations(q.emissions.column(i, j), own.data());
            own = own.array().square() + mean.emissions.values.col(i)
                                             .segment(at.point, family.numbers_of_name())
                                             .array()
                                             .square();
          }
      });
    }
    const Vector first = spread(q.initial).array() + mean.initial.array().square();
    within.array() += mean.transition.array().square();
    if (noted_++ == 0) {
      point = mean;
      squares_ = {first, within, emissions};
      visits = count;
      transitions = moves;
      return;
    }
    point.initial += mean.initial;
    point.transition += mean.transition;
    accumulate(point.emissions, mean.emissions, 1);
    squares_.initial += first;
    squares_.transition += within;
    if (emissions.size()) squares_.emissions += emissions;
    visits += count;
    transitions += moves;
  }

  void finish() {
    const double share = 1.0 / noted_;
    point.initial *= share;
    point.transition *= share;
    point.initial /= point.initial.sum();
    point.transition.array().colwise() /= point.transition.rowwise().sum().eval().array();
    accumulate(point.emissions, P(point.emissions), share - 1);
    visits *= share;
    transitions *= share;
    const auto root = [&](const Matrix &squares, const Matrix &means) {
      return Matrix((squares * share - means.cwiseProduct(means)).cwiseMax(0).cwiseSqrt());
    };
    deviations = {
        root(squares_.initial, point.initial), root(squares_.transition, point.transition), {}};
    if constexpr (std::is_same_v<P, ProductPoint>)
      deviations.emissions = root(squares_.emissions, point.emissions.values);
  }

  const Sequences &sequences_;
  const MarkovPosterior<Q> &prior_;
  int k_;
  bool whole_steps_, named_;
  ChainPlan plan_;
  std::uint64_t seed_;
  Control &control_;
  std::vector<std::uint16_t> reference_;
  HmmDeviations squares_;
  int noted_ = 0;
};

}  // namespace bayes
