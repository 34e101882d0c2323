#include "markov/forward_backward.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/control.hpp"
#include "base/simd.hpp"

namespace bayes {
namespace {

// Polls in loops over the steps of a sequence.

/// operations that take as long as an exponential
constexpr std::size_t of_exponential = 16;

/// Counts `operations` for every pair of states in each step, and polls when it is due: with many
/// states a window of steps takes more than a second.
class StepPoll {
 public:
  explicit StepPoll(const MarkovChain &chain, std::size_t operations = 1)
      : operations_(operations * std::size_t(chain.states()) * std::size_t(chain.padded())) {}
  void operator()() { work_(operations_); }

 private:
  std::size_t operations_;
  WorkPoll work_;
};

// Sums over the states of a step, which lie in the lanes.

using Lanes = simd::Vector;

/// The sum over the lanes, in every lane.
template <int Step = simd::lanes / 2> Lanes in_every_lane(Lanes v) {
  if constexpr (Step == 0)
    return v;
  else
    return in_every_lane<Step / 2>(v + [&]<std::size_t... I>(std::index_sequence<I...>) {
      return __builtin_shufflevector(v, v, int((I + Step) % simd::lanes)...);
    }(std::make_index_sequence<simd::lanes>{}));
}

/// State j is added to partial sum j % sum_lanes. There are as many partial sums for every
/// instruction set (simd.hpp); padding states are 0 and change nothing.
struct StateSums {
  Lanes partial[simd::registers] = {};
  /// Adds SIMD vector number `vector` of a step.
  void add(int vector, Lanes v) { partial[vector % simd::registers] += v; }
  /// The sum, in every lane.
  Lanes everywhere() const {
    Lanes half[simd::registers];
    std::copy_n(partial, simd::registers, half);
    for (int n = simd::registers / 2; n > 0; n /= 2)
      for (int i = 0; i < n; ++i) half[i] += half[i + n];
    return in_every_lane(half[0]);
  }
};

/// The sum of a step's variables, in every lane.
Lanes step_sum(int padded, const double *at) {
  StateSums sum;
  for (int j = 0; j < padded; j += simd::lanes) sum.add(j / simd::lanes, simd::load(at + j));
  return sum.everywhere();
}

}  // namespace

int padded_states(int k) { return (k + simd::lanes - 1) / simd::lanes * simd::lanes; }

namespace {

using simd::lanes;
using simd::load;
using simd::madd;
using simd::registers;
using simd::store;

/// Scaled variables below this may underflow.
constexpr double least = 1e-200;
/// Probabilities below this are too small for scaled recursions.
constexpr double min_probability = 1e-150;
/// SIMD vectors of a step held in registers at once.
constexpr int max_held = 4;

/// sum_i v[i] m[i][.], vectors `first` and following of the rows. Two accumulators, to shorten the
/// dependency chain.
template <int NV>
inline void product(int k, int padded, const double *v, const double *m, Lanes *out) {
  Lanes even[NV] = {}, odd[NV] = {};
  int i = 0;
  for (; i + 2 <= k; i += 2, m += 2 * padded) {
    const Lanes a = simd::all(v[i]), b = simd::all(v[i + 1]);
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) {
      even[j] = madd(a, load(m + j * lanes), even[j]);
      odd[j] = madd(b, load(m + padded + j * lanes), odd[j]);
    }
  }
  if (i < k)
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) even[j] = madd(v[i], load(m + j * lanes), even[j]);
#pragma GCC unroll 4
  for (int j = 0; j < NV; ++j) out[j] = even[j] + odd[j];
}

/// f(index of the first vector, integral_constant of the number of vectors) for tiles of a step's
/// SIMD vectors.
template <class F> inline void each_tile(int vectors, F f) {
  int first = 0;
  for (; first + max_held <= vectors; first += max_held)
    f(first, std::integral_constant<int, max_held>{});
  switch (vectors - first) {
    case 1: return f(first, std::integral_constant<int, 1>{});
    case 2: return f(first, std::integral_constant<int, 2>{});
    case 3: return f(first, std::integral_constant<int, 3>{});
  }
}

/// One step forward: to = (from . transition) x emission x factor; returns the sum in every lane.
/// `lost`: a reachable state has underflowed.
template <bool Checked>
inline Lanes step_forward(const MarkovChain &chain, const double *from, const double *emission,
                          Lanes factor, double *to, Lanes &lost) {
  const int k = chain.states(), padded = chain.padded();
  StateSums sum;
  each_tile(padded / lanes, [&](int first, auto size) {
    Lanes p[size];
    product<size>(k, padded, from, chain.transition() + first * lanes, p);
    for (int j = 0; j < size; ++j) {
      const Lanes value = p[j] * load(emission + (first + j) * lanes) * factor;
      if constexpr (Checked) lost = p[j] > 0.0 ? (value >= least ? lost : simd::all(1.0)) : lost;
      store(to + (first + j) * lanes, value);
      sum.add(j, value);
    }
  });
  return sum.everywhere();
}

/// One step backward: to = transition . (later x emission) x factor; returns the sum in every lane.
/// `weighted`: workspace for the product.
inline Lanes step_backward(const MarkovChain &chain, const double *later, const double *emission,
                           Lanes factor, double *weighted, double *to) {
  const int k = chain.states(), padded = chain.padded();
  for (int j = 0; j < padded; j += lanes)
    store(weighted + j, load(later + j) * load(emission + j) * factor);
  StateSums sum;
  each_tile(padded / lanes, [&](int first, auto size) {
    Lanes p[size];
    product<size>(k, padded, weighted, chain.transition_transposed() + first * lanes, p);
    for (int j = 0; j < size; ++j) {
      store(to + (first + j) * lanes, p[j]);
      sum.add(j, p[j]);
    }
  });
  return sum.everywhere();
}

/// The first step of a sequence.
template <bool Checked>
inline Lanes begin_forward(const MarkovChain &chain, const double *emission, double *to,
                           Lanes &lost) {
  StateSums sum;
  for (int j = 0; j < chain.padded(); j += lanes) {
    const Lanes p = load(chain.initial() + j), value = p * load(emission + j);
    if constexpr (Checked) lost = p > 0.0 ? (value >= least ? lost : simd::all(1.0)) : lost;
    store(to + j, value);
    sum.add(j / lanes, value);
  }
  return sum.everywhere();
}

/// Workspace for a step of any number of states.
struct Step {
  alignas(cache_line) double at[max_states];
};

template <bool Checked, bool Backward>
bool recursions(const MarkovChain &chain, const ChainSteps &s, bool begins, double *last) {
  const int padded = chain.padded();
  Step weighted;
  StepPoll poll(chain, Backward ? 2 : 1);
  Lanes lost = {}, sum = begins ? Lanes{} : simd::all(s.scale[-1]), later = {};
  if constexpr (Backward) {
    double *const end = s.backward + (s.n - 1) * padded;
    std::copy_n(last, padded, end);
    later = step_sum(padded, end);
  }
  for (std::int64_t t = 0; t < s.n; ++t) {
    poll();
    if (t == 0 && begins)
      sum = begin_forward<Checked>(chain, s.emission, s.forward, lost);
    else
      sum = step_forward<Checked>(chain, s.forward + (t - 1) * padded, s.emission + t * padded,
                                  1.0 / sum, s.forward + t * padded, lost);
    s.scale[t] = sum[0];
    if (Checked && !(sum[0] > 0)) return false;
    if constexpr (Backward) {
      const std::int64_t at = s.n - 1 - t;
      later = step_backward(chain, s.backward + at * padded, s.emission + at * padded, 1.0 / later,
                            weighted.at, at > 0 ? s.backward + (at - 1) * padded : last);
    }
  }
  return !Checked || in_every_lane(lost)[0] == 0;
}

/// sums[rows i of `Rows`][tile] += sum_t forward[t - 1][i] factor[t][tile], all of it held in
/// registers.
template <int Rows, int NV>
void add_outer(int padded, std::int64_t first, std::int64_t n, const double *forward,
               const double *factor, double *sums) {
  Lanes total[Rows][NV];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) total[i][j] = load(sums + i * padded + j * lanes);
  for (std::int64_t t = first; t < n; ++t) {
    const double *const a = forward + (t - 1) * padded, *const u = factor + t * padded;
    Lanes v[NV];
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) v[j] = load(u + j * lanes);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j) total[i][j] = madd(a[i], v[j], total[i][j]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) store(sums + i * padded + j * lanes, total[i][j]);
}

/// Stores the lowest 16 bits of every lane.
inline void store_low_bits(Lanes v, std::uint16_t *to) {
  using All = std::uint16_t __attribute__((vector_size(lanes * 8)));
  using Low = std::uint16_t __attribute__((vector_size(lanes * 2), aligned(2), may_alias));
  const All all = std::bit_cast<All>(v);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    constexpr int first = std::endian::native == std::endian::little ? 0 : 3;
    *reinterpret_cast<Low *>(to) = __builtin_shufflevector(all, all, int(4 * I + first)...);
  }
  (std::make_index_sequence<lanes>{});
}

/// log of the sum over i of exp(term(i)), lane by lane; -infinity where all terms are -infinity.
template <class Term> inline Lanes log_sum(int k, Term term) {
  Lanes largest = simd::all(-std::numeric_limits<double>::max());
  for (int i = 0; i < k; ++i) largest = simd::max(term(i), largest);
  Lanes total = {};
  for (int i = 0; i < k; ++i)
    total +=
        simd::exp(simd::max(term(i), simd::all(-std::numeric_limits<double>::max())) - largest);
  const Lanes none = simd::all(minus_infinity);
  return largest > -std::numeric_limits<double>::max() ? largest + simd::log(total) : none;
}

/// log of the sum of exp(x) over K numbers.
double log_total(int k, const double *x) {
  double largest = minus_infinity, total = 0;
  for (int i = 0; i < k; ++i) largest = std::max(largest, x[i]);
  if (!(largest > minus_infinity)) return minus_infinity;
  for (int i = 0; i < k; ++i) total += std::exp(x[i] - largest);
  return largest + std::log(total);
}

}  // namespace

MarkovChain::MarkovChain(const Vector &log_initial, const Matrix &log_transition)
    : k_(int(log_initial.size())),
      padded_(padded_states(k_)),
      safe_(true) {
  const std::size_t row = std::size_t(padded_), all = row * std::size_t(k_);
  for (Buffer *buffer : {&initial_, &log_initial_})
    buffer->assign(row, buffer == &initial_ ? 0 : minus_infinity);
  for (Buffer *buffer : {&transition_, &transition_transposed_}) buffer->assign(all, 0);
  for (Buffer *buffer : {&log_transition_, &log_transition_transposed_})
    buffer->assign(all, minus_infinity);
  for (int i = 0; i < k_; ++i) {
    log_initial_[std::size_t(i)] = log_initial(i);
    initial_[std::size_t(i)] = std::exp(log_initial(i));
    safe_ &= initial_[std::size_t(i)] >= min_probability;
    for (int j = 0; j < k_; ++j) {
      const std::size_t ij = std::size_t(i) * row + std::size_t(j),
                        ji = std::size_t(j) * row + std::size_t(i);
      log_transition_[ij] = log_transition_transposed_[ji] = log_transition(i, j);
      transition_[ij] = transition_transposed_[ji] = std::exp(log_transition(i, j));
      safe_ &= transition_[ij] >= min_probability;
    }
  }
}

namespace scaled_recursion {

bool forward(const MarkovChain &chain, const ChainSteps &s, bool begins) {
  return chain.safe() ? recursions<false, false>(chain, s, begins, nullptr)
                      : recursions<true, false>(chain, s, begins, nullptr);
}

bool forward_backward(const MarkovChain &chain, const ChainSteps &s, bool begins, double *last) {
  return chain.safe() ? recursions<false, true>(chain, s, begins, last)
                      : recursions<true, true>(chain, s, begins, last);
}

double log_likelihood(const ChainSteps &s) {
  double total = 0;
  std::int64_t t = 0;
  StateSums sum;
  for (; t + simd::sum_lanes <= s.n; t += simd::sum_lanes)
    for (int i = 0; i < registers; ++i)
      sum.add(i, simd::log(load(s.scale + t + i * lanes)) + load(s.shift + t + i * lanes));
  for (; t < s.n; ++t) total += std::log(s.scale[t]) + s.shift[t];
  return total + sum.everywhere()[0];
}

void backward(const MarkovChain &chain, const ChainSteps &s, double *last) {
  const int padded = chain.padded();
  Step weighted;
  double *const end = s.backward + (s.n - 1) * padded;
  std::copy_n(last, padded, end);
  Lanes later = step_sum(padded, end);
  StepPoll poll(chain);
  for (std::int64_t t = s.n - 1; t >= 0; --t) {
    poll();
    later = step_backward(chain, s.backward + t * padded, s.emission + t * padded, 1.0 / later,
                          weighted.at, t > 0 ? s.backward + (t - 1) * padded : last);
  }
}

bool posterior(const MarkovChain &chain, const ChainSteps &s, bool begins, double weight) {
  const int padded = chain.padded();
  bool good = true;
  for (std::int64_t t = 0; t < s.n; ++t) {
    const double *const a = s.forward + t * padded;
    double *const b = s.backward + t * padded, *const e = s.emission + t * padded;
    StateSums products;
    for (int j = 0; j < padded; j += lanes) products.add(j / lanes, load(a + j) * load(b + j));
    const Lanes sum = products.everywhere();
    good &= sum[0] >= least * s.scale[t];
    const Lanes share = weight / sum;
    // The pairwise posterior is this times the transition probability times the normalised forward
    // variable of the previous step.
    const Lanes pair = t == 0 && begins ? Lanes{} : share / s.scale[t - 1];
    for (int j = 0; j < padded; j += lanes) {
      const Lanes later = load(b + j);
      store(e + j, load(e + j) * later * pair);
      store(b + j, load(a + j) * later * share);
    }
  }
  return good;
}

void add_transitions(int k, int padded, const ChainSteps &s, bool begins, double *sums) {
  each_tile(padded / lanes, [&](int tile, auto size) {
    constexpr int rows = size > 2 ? 4 : 8;
    const double *const factor = s.emission + tile * lanes;
    int i = 0;
    for (; i + rows <= k; i += rows)
      add_outer<rows, size>(padded, begins, s.n, s.forward + i, factor,
                            sums + i * padded + tile * lanes);
    for (; i + 2 <= k; i += 2)
      add_outer<2, size>(padded, begins, s.n, s.forward + i, factor,
                         sums + i * padded + tile * lanes);
    if (i < k)
      add_outer<1, size>(padded, begins, s.n, s.forward + i, factor,
                         sums + i * padded + tile * lanes);
  });
}

}  // namespace scaled_recursion

namespace log_recursion {

void forward(const MarkovChain &chain, const ChainSteps &s, bool begins) {
  const int k = chain.states(), padded = chain.padded();
  StepPoll poll(chain, of_exponential);
  for (std::int64_t t = 0; t < s.n; ++t) {
    poll();
    double *const to = s.forward + t * padded;
    const double *const e = s.emission + t * padded, *const from = to - padded;
    for (int j = 0; j < padded; j += lanes) {
      const Lanes entering =
          t == 0 && begins ? load(chain.log_initial() + j) : log_sum(k, [&](int i) {
            return simd::all(from[i]) + load(chain.log_transition() + i * padded + j);
          });
      store(to + j, entering + load(e + j));
    }
    s.scale[t] = log_total(k, to);
    if (!(s.scale[t] > minus_infinity)) {
      for (; t < s.n; ++t) s.scale[t] = minus_infinity;
      return;
    }
    for (int j = 0; j < padded; j += lanes) store(to + j, load(to + j) - s.scale[t]);
  }
}

double log_likelihood(const ChainSteps &s) {
  double total = 0;
  for (std::int64_t t = 0; t < s.n; ++t) total += s.scale[t];
  return total;
}

void backward(const MarkovChain &chain, const ChainSteps &s, double *last) {
  const int k = chain.states(), padded = chain.padded();
  Step weighted;
  StepPoll poll(chain, of_exponential);
  std::copy_n(last, padded, s.backward + (s.n - 1) * padded);
  for (std::int64_t t = s.n - 1; t >= 0; --t) {
    poll();
    const double *const e = s.emission + t * padded, *const later = s.backward + t * padded;
    double *const to = t > 0 ? s.backward + (t - 1) * padded : last;
    for (int j = 0; j < k; ++j) weighted.at[j] = later[j] + e[j];
    for (int i = 0; i < padded; i += lanes)
      store(to + i, log_sum(k, [&](int j) {
              return simd::all(weighted.at[j]) +
                     load(chain.log_transition_transposed() + j * padded + i);
            }));
    const double largest = *std::max_element(to, to + k);
    if (largest > minus_infinity)
      for (int i = 0; i < padded; i += lanes) store(to + i, load(to + i) - largest);
  }
}

void posterior(const MarkovChain &chain, const ChainSteps &s, bool begins, double weight,
               double *sums) {
  const int k = chain.states(), padded = chain.padded();
  Step both, next;
  StepPoll poll(chain, of_exponential);
  for (std::int64_t t = 0; t < s.n; ++t) {
    poll();
    const double *const a = s.forward + t * padded;
    double *const b = s.backward + t * padded, *const e = s.emission + t * padded;
    for (int j = 0; j < k; ++j) {
      both.at[j] = a[j] + b[j];
      next.at[j] = e[j] + b[j];
    }
    const double whole = log_total(k, both.at);
    if (!(t == 0 && begins)) {
      for (int j = k; j < padded; ++j) next.at[j] = minus_infinity;
      for (int i = 0; i < k; ++i) {
        const Lanes before = simd::all(a[i - padded] - whole - s.scale[t]);
        for (int j = 0; j < padded; j += lanes)
          store(sums + i * padded + j,
                load(sums + i * padded + j) +
                    weight * simd::exp(before + load(chain.log_transition() + i * padded + j) +
                                       load(next.at + j)));
      }
    }
    for (int j = 0; j < k; ++j) b[j] = weight * std::exp(both.at[j] - whole);
    for (int j = k; j < padded; ++j) b[j] = 0;
  }
  std::fill_n(s.emission, s.n * padded, 0.0);
}

}  // namespace log_recursion

void viterbi(const MarkovChain &chain, std::int64_t n, const double *emission, bool begins,
             double *best, std::uint16_t *from) {
  const int k = chain.states(), padded = chain.padded();
  Step workspace;
  StepPoll poll(chain);
  double *before = best, *after = workspace.at;
  for (std::int64_t t = 0; t < n; ++t) {
    poll();
    const double *const e = emission + t * padded;
    std::uint16_t *const chosen = from ? from + t * padded : nullptr;
    if (t == 0 && begins) {
      for (int j = 0; j < padded; j += lanes)
        store(after + j, load(chain.log_initial() + j) + load(e + j));
      if (chosen) std::fill_n(chosen, padded, std::uint16_t(0));
    } else {
      each_tile(padded / lanes, [&](int first, auto size) {
        // Two accumulators for the maximum; the arg max is found afterwards, in parallel with the
        // next step.
        Lanes even[size], odd[size];
        const double *const rows = chain.log_transition() + first * lanes;
        for (int j = 0; j < size; ++j)
          even[j] = odd[j] = simd::all(before[0]) + load(rows + j * lanes);
        const double *row = rows + padded;
        int i = 1;
        for (; i + 1 < k; i += 2, row += 2 * padded) {
          const Lanes a = simd::all(before[i]), b = simd::all(before[i + 1]);
          for (int j = 0; j < size; ++j) {
            even[j] = simd::max(a + load(row + j * lanes), even[j]);
            odd[j] = simd::max(b + load(row + padded + j * lanes), odd[j]);
          }
        }
        if (i < k)
          for (int j = 0; j < size; ++j)
            even[j] = simd::max(simd::all(before[i]) + load(row + j * lanes), even[j]);
        for (int j = 0; j < size; ++j) {
          even[j] = simd::max(odd[j], even[j]);
          store(after + (first + j) * lanes, even[j] + load(e + (first + j) * lanes));
        }
        if (!chosen) return;
        // An integer added to 2^52 appears in the lowest bits.
        Lanes state[size] = {}, number = simd::all(4503599627370496.0 + k);
        row = rows + k * padded;
        for (int i = k; i-- > 0;) {
          row -= padded;
          number -= 1.0;
          const Lanes a = simd::all(before[i]);
          for (int j = 0; j < size; ++j)
            state[j] = a + load(row + j * lanes) == even[j] ? number : state[j];
        }
        for (int j = 0; j < size; ++j) store_low_bits(state[j], chosen + (first + j) * lanes);
      });
    }
    std::swap(before, after);
  }
  if (before != best) std::copy_n(before, padded, best);
}

}  // namespace bayes
