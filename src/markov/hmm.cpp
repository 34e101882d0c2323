// The accessors of a fitted hidden Markov model.
#include "markov/hmm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "document/members.hpp"
#include "families/normal/normal_draw.hpp"
#include "families/product/product_options.hpp"
#include "families/product/product_prior.hpp"
#include "markov/hmm_scorer.hpp"
#include "markov/hmm_state.hpp"
#include "markov/markov_paths.hpp"

namespace bayes {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Standard deviation of one entry of a Dirichlet.
double deviation(double alpha, double whole) {
  return std::sqrt(alpha / whole * ((whole - alpha) / whole) / (whole + 1));
}

}  // namespace

HiddenMarkovModel::HiddenMarkovModel() : state(std::make_unique<State>()) { info.family = "hmm"; }
HiddenMarkovModel::~HiddenMarkovModel() = default;

bool HiddenMarkovModel::vectors() const { return state->vectors; }
bool HiddenMarkovModel::symbols() const { return state->is_symbols(); }
bool HiddenMarkovModel::whole_steps() const { return state->whole_steps; }
std::vector<std::string> HiddenMarkovModel::emission() const {
  const auto *products = std::get_if<ProductHmm>(&state->fitted);
  return products ? names_of(*products->point.emissions.columns)
                  : std::vector<std::string>{std::string(normal_family)};
}
std::string HiddenMarkovModel::covariance() const {
  const auto *normals = std::get_if<NormalHmm>(&state->fitted);
  return normals ? normals->point.emissions.shape.name : "";
}
const std::vector<std::string> &HiddenMarkovModel::symbol_names() const { return state->symbols; }

int HiddenMarkovModel::code(std::string_view symbol) const {
  if (!codes_) {
    codes_ = std::make_unique<std::unordered_map<std::string_view, int>>();
    for (std::size_t v = 0; v < state->symbols.size(); ++v)
      codes_->emplace(state->symbols[v], int(v));
  }
  const auto at = codes_->find(symbol);
  return at == codes_->end() ? -1 : at->second;
}

bool HiddenMarkovModel::has_posterior() const {
  return std::visit([](const auto &fitted) { return fitted.posterior.has_value(); }, state->fitted);
}

HmmState HiddenMarkovModel::state_at(int index) const {
  return std::visit(
      [&](const auto &fitted) {
        const double leave = fitted.point.transition.row(index).head(index).sum() +
                             fitted.point.transition.row(index).tail(size() - 1 - index).sum();
        if (stationary_.empty())
          stationary_ = to_vector(markov::stationary(fitted.point.transition));
        HmmState out{fitted.point.initial(index), none,     none, stationary_[std::size_t(index)],
                     state->visits(index),        1 / leave};
        if (fitted.posterior) {
          out.initial_alpha = fitted.posterior->initial(index);
          out.initial_deviation = deviation(out.initial_alpha, fitted.posterior->initial.sum());
        } else if (fitted.deviations) {
          out.initial_deviation = fitted.deviations->initial(index);
        }
        return out;
      },
      state->fitted);
}

void HiddenMarkovModel::transitions(const std::function<void(const HmmTransition &)> &take) const {
  std::visit(
      [&](const auto &fitted) {
        for (int i = 0; i < size(); ++i)
          for (int j = 0; j < size(); ++j) {
            HmmTransition out{i,    j,    fitted.point.transition(i, j),
                              none, none, state->transitions(i, j)};
            if (fitted.posterior) {
              out.alpha = fitted.posterior->transition(i, j);
              out.deviation = deviation(out.alpha, fitted.posterior->transition.row(i).sum());
            } else if (fitted.deviations) {
              out.deviation = fitted.deviations->transition(i, j);
            }
            take(out);
          }
      },
      state->fitted);
}

void HiddenMarkovModel::emissions(const std::function<void(const HmmEmission &)> &take) const {
  std::visit(
      [&]<class Fitted>(const Fitted &fitted) {
        const auto &point = fitted.point.emissions;
        if constexpr (!std::is_same_v<Fitted, ProductHmm>) {
          const CovarianceShape &shape = fitted.point.emissions.shape;
          for (int k = 0; k < size(); ++k)
            take({k, -1, nullptr, none, none, to_vector(point.mean.col(k)),
                  row_major(dense_form(shape, point.covariance[std::size_t(shape.index(k))],
                                       dimension()))});
        } else {
          std::vector<double> deviations(std::size_t(point.columns->size().point), none);
          const std::string one = "1";
          for (int k = 0; k < size(); ++k)
            for (int j = 0; j < dimension(); ++j) {
              const Column &column = point.columns->column(j);
              const double *const at = point.column(k, j);
              std::fill(deviations.begin(), deviations.end(), none);
              if (fitted.posterior)
                column.deviations(fitted.posterior->emissions.column(k, j), deviations.data());
              else if (fitted.deviations)
                std::copy_n(
                    fitted.deviations->emissions.col(k).data() + point.columns->offsets(j).point,
                    column.size().point, deviations.data());
              if (column.probabilities && column.by_value) {
                for (int v = 0; v < column.numbers_of_name(); ++v) {
                  const std::string name = symbols()
                                               ? state->symbols[std::size_t(v)]
                                               : std::to_string(std::int64_t(column.value(v)));
                  take({k, j, &name, at[v], deviations[std::size_t(v)], {}, {}});
                }
              } else if (column.probabilities) {
                take({k, j, &one, at[0], deviations[0], {}, {}});
              } else {
                take({k, j, nullptr, none, none, {column.mean(at)}, {column.variance(at)}});
              }
            }
        }
      },
      state->fitted);
}

void HiddenMarkovModel::posterior(const std::function<void(const HmmPosterior &)> &take) const {
  std::visit(
      [&]<class Fitted>(const Fitted &fitted) {
        if (!fitted.posterior)
          throw Error(
              Errc::invalid_argument,
              "this model has no posterior: it was fitted by method " + info.method,
              fitted.deviations
                  ? "A sampled posterior is its draws."
                  : "Only variational methods estimate a posterior distribution of the parameters.",
              fitted.deviations ? "See bayes_draws(model)."
                                : "Fit with option method \"vi\" or \"svi\".");
        const auto &q = fitted.posterior->emissions;
        if constexpr (!std::is_same_v<Fitted, ProductHmm>) {
          const CovarianceShape &shape = fitted.point.emissions.shape;
          for (int k = 0; k < size(); ++k) {
            take({k, -1, nullptr, "m", to_vector(q.m.col(k)), false});
            take({k, -1, nullptr, "c", {q.c(k)}, false});
            take({k, -1, nullptr, "a", {q.a(shape.index(k))}, false});
            take({k, -1, nullptr, "B",
                  row_major(dense_form(shape, q.B[std::size_t(shape.index(k))], dimension())),
                  true});
          }
        } else {
          for (int k = 0; k < size(); ++k)
            for (int j = 0; j < dimension(); ++j) {
              const Column &column = q.columns->column(j);
              const double *at = q.column(k, j);
              for (const char *const key : column.prior_keys)
                for (int v = 0; v < column.numbers_of_name(); ++v, ++at) {
                  if (column.by_value) {
                    const std::string name = symbols()
                                                 ? state->symbols[std::size_t(v)]
                                                 : std::to_string(std::int64_t(column.value(v)));
                    take({k, j, &name, key, {*at}, false});
                  } else {
                    take({k, j, nullptr, key, {*at}, false});
                  }
                }
            }
        }
      },
      state->fitted);
}

void HiddenMarkovModel::check(std::span<const double> x, std::int64_t step) const {
  const auto *fitted = std::get_if<ProductHmm>(&state->fitted);
  if (!fitted || symbols()) return;
  fitted->point.emissions.columns->for_each([&](int j, const Column &column,
                                                const ColumnOffsets &) {
    const double value = x[std::size_t(j)];
    if (value == value && !column.allowed(value))
      throw Error(Errc::invalid_argument,
                  (dimension() > 1 ? "element " + std::to_string(j + 1) + " of " : std::string()) +
                      "step " + std::to_string(step) + " is " + describe(value) + ", but must be " +
                      column.requirement(),
                  std::string("Its emission is ") + column.name + ".");
  });
}

HmmScorer &HiddenMarkovModel::scorer() const {
  if (!scorer_) scorer_ = std::make_unique<HmmScorer>(*state, dimension());
  return *scorer_;
}

double HiddenMarkovModel::log_likelihood(Sequences &one, Control &control) const {
  return sequence_end(one, control, scorer().chain(), scorer().emissions()).log_likelihood;
}

HmmPath HiddenMarkovModel::decode(Sequences &one, Control &control) const {
  StatePath path = best_path(one, control, scorer().chain(), scorer().emissions());
  return {path.log_probability, std::move(path.states)};
}

std::vector<HmmPath> HiddenMarkovModel::decode_best(Sequences &one, int count,
                                                    Control &control) const {
  std::vector<HmmPath> out;
  for (StatePath &path : best_paths(one, count, control, scorer().chain(), scorer().emissions()))
    out.push_back({path.log_probability, std::move(path.states)});
  return out;
}

void HiddenMarkovModel::smooth(Sequences &one, Control &control,
                               const std::function<void(std::int64_t first, int steps,
                                                        const double *probabilities)> &take) const {
  smooth_sequence(one, control, scorer().chain(), scorer().emissions(), take);
}

HiddenMarkovModel::Prediction HiddenMarkovModel::predict_next(Sequences &one,
                                                              Control &control) const {
  const SequenceEnd end = sequence_end(one, control, scorer().chain(), scorer().emissions());
  if (end.states.empty())
    throw Error(Errc::numeric, "the sequence is impossible under the model",
                "No path of positive probability leads through it.");
  const int k = size(), d = dimension();
  return std::visit(
      [&]<class Fitted>(const Fitted &fitted) {
        const Vector last = Eigen::Map<const Vector>(end.states.data(), k),
                     next = one.steps == 0
                                ? last
                                : product(Matrix(fitted.point.transition.transpose()), last);
        Prediction out{to_vector(next),
                       std::vector<double>(std::size_t(d), 0.0),
                       std::vector<double>(std::size_t(d), 0.0),
                       {}};
        Matrix means(d, k), variances(d, k);
        if constexpr (!std::is_same_v<Fitted, ProductHmm>) {
          const CovarianceShape &shape = fitted.point.emissions.shape;
          means = fitted.point.emissions.mean;
          for (int i = 0; i < k; ++i) {
            const std::size_t s = std::size_t(shape.index(i));
            variances.col(i) =
                dense_form(shape, fitted.point.emissions.covariance[s], d).diagonal();
            if (!fitted.posterior) continue;
            // The covariance of the predictive Student t: B (c + 1) / (c (nu - 2)), nu = a + 1 - d
            // for dense shapes.
            const auto &q = fitted.posterior->emissions;
            const double a = q.a(Eigen::Index(s)), nu = shape.dense ? a + 1 - d : a;
            variances.col(i) *= nu > 2 ? a * (q.c(i) + 1) / (q.c(i) * (nu - 2))
                                       : std::numeric_limits<double>::infinity();
          }
        } else {
          fitted.point.emissions.columns->for_each([&](int j, const Column &column,
                                                       const ColumnOffsets &) {
            for (int i = 0; i < k; ++i) {
              means(j, i) = fitted.posterior
                                ? column.predictive_mean(fitted.posterior->emissions.column(i, j))
                                : column.mean(fitted.point.emissions.column(i, j));
              variances(j, i) =
                  fitted.posterior
                      ? column.predictive_variance(fitted.posterior->emissions.column(i, j))
                      : column.variance(fitted.point.emissions.column(i, j));
            }
          });
          if (symbols()) {
            const Vector p = product(fitted.point.emissions.values, next);
            out.symbols = to_vector(p);
          }
        }
        // A state of probability 0 does not count, even if its variance is infinite.
        for (int j = 0; j < d; ++j) {
          double mean = 0, variance = 0;
          for (int i = 0; i < k; ++i)
            if (next(i) > 0) mean += next(i) * means(j, i);
          for (int i = 0; i < k; ++i)
            if (next(i) > 0)
              variance += next(i) * (variances(j, i) + (means(j, i) - mean) * (means(j, i) - mean));
          out.mean[std::size_t(j)] = mean;
          out.variance[std::size_t(j)] = variance;
        }
        return out;
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
        // All steps use the same parameters, those of the point estimate.
        std::vector<Matrix> roots;
        if constexpr (!std::is_same_v<Fitted, ProductHmm>) {
          const CovarianceShape &shape = fitted.point.emissions.shape;
          for (int k = 0; k < size(); ++k) {
            Matrix lower;
            if (!cholesky(dense_form(shape,
                                     fitted.point.emissions.covariance[std::size_t(shape.index(k))],
                                     dimension()),
                          lower))
              not_positive_definite("covariance", k);
            roots.push_back(std::move(lower));
          }
        }
        int at = 0;
        for (std::int64_t t = 0; t < steps; ++t) {
          for (int k = 0; k < size(); ++k)
            row[std::size_t(k)] = t == 0 ? fitted.point.initial(k) : fitted.point.transition(at, k);
          at = random.categorical(row);
          if constexpr (std::is_same_v<Fitted, ProductHmm>) {
            bayes::sample(fitted.point.emissions, at, random, x.data());
          } else {
            Vector z(dimension());
            for (int j = 0; j < dimension(); ++j) z(j) = random.normal();
            Eigen::Map<Vector>(x.data(), dimension()) =
                fitted.point.emissions.mean.col(at) + product(roots[std::size_t(at)], z);
          }
          take(at, x);
        }
      },
      state->fitted);
}

// ---- the filter ----

struct HiddenMarkovModel::Filter::Workspace {
  Workspace(const MarkovChain &chain, const EmissionScorer &emissions, int dimension)
      : chain(chain),
        table(emissions.table()),
        worker(table ? nullptr : emissions.worker()),
        block(table ? 0 : std::size_t(dimension) * block_rows),
        scores(table ? 0 : std::size_t(chain.states()) * block_rows),
        emission(std::size_t(chain.padded()), minus_infinity),
        forward(2 * std::size_t(chain.padded())),
        out(std::size_t(chain.states())) {}

  /// Writes the observation's scores to emission.
  void score(std::span<const double> x) {
    const std::size_t k = out.size();
    if (table) {
      const std::size_t value = x[0] == x[0] ? std::size_t(x[0]) : std::size_t(table->values);
      std::copy_n(table->logarithms.data() + value * std::size_t(chain.padded()), k,
                  emission.data());
      return;
    }
    for (std::size_t j = 0; j < x.size(); ++j) block[j * block_rows] = x[j];
    worker->score(block.data(), 0, 1, scores.data());
    for (std::size_t i = 0; i < k; ++i) emission[i] = scores[i * block_rows];
  }

  const MarkovChain &chain;
  const EmissionTable *table;
  std::unique_ptr<EmissionWorker> worker;
  Buffer block, scores, emission, forward;
  std::vector<double> out;
  double scale[2] = {};  // of the previous step and of this one
  double log_predictive = 0;
  bool begins = true;
};

HiddenMarkovModel::Filter::Filter(const HiddenMarkovModel &model)
    : workspace_(std::make_unique<Workspace>(model.scorer().chain(), model.scorer().emissions(),
                                             model.dimension())) {}
HiddenMarkovModel::Filter::~Filter() = default;

std::span<const double> HiddenMarkovModel::Filter::next(std::span<const double> x) {
  Workspace &s = *workspace_;
  const std::size_t k = s.out.size(), padded = std::size_t(s.chain.padded());
  s.score(x);
  std::copy_n(s.forward.data() + padded, padded, s.forward.data());
  s.scale[0] = s.scale[1];
  const ChainSteps step{1,       s.emission.data(), nullptr, s.forward.data() + padded,
                        nullptr, s.scale + 1};
  // Prefer the scaled recursion: it takes K exponentials, not K x K.
  if (s.chain.safe()) {
    const auto end = s.emission.begin() + std::ptrdiff_t(k);
    const double largest = *std::max_element(s.emission.begin(), end);
    for (std::size_t i = 0; i < padded; ++i)
      s.emission[i] = i < k ? std::exp(s.emission[i] - largest) : 0;
    scaled_recursion::forward(s.chain, step, s.begins);
    s.log_predictive = std::log(s.scale[1]) + largest;
    for (std::size_t i = 0; i < k; ++i) s.out[i] = step.forward[i] / s.scale[1];
  } else {
    std::fill(s.emission.begin() + std::ptrdiff_t(k), s.emission.end(), minus_infinity);
    log_recursion::forward(s.chain, step, s.begins);
    s.log_predictive = s.scale[1];
    for (std::size_t i = 0; i < k; ++i) s.out[i] = std::exp(step.forward[i]);
  }
  if (!(std::abs(s.log_predictive) < std::numeric_limits<double>::max()))
    throw Error(Errc::numeric, "the observation is impossible after those before it",
                "No path of positive probability leads through it.");
  s.begins = false;
  return s.out;
}

double HiddenMarkovModel::Filter::log_predictive() const { return workspace_->log_predictive; }

}  // namespace bayes
