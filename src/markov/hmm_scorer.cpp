#include "markov/hmm_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "base/message.hpp"

namespace bayes {
namespace {

[[noreturn]] void impossible() {
  throw Error(Errc::numeric, "the sequence is impossible under the model",
              "Every path through the states has probability 0.",
              "hmm_log_likelihood(model, sequence) is -Infinity for such sequences.");
}

/// Loads a sequence window by window.
class Windows {
 public:
  Windows(const Sequences &one, Control &control, const ScoredChain &point,
          MarkovWindow::Workspace workspace)
      : control_(control),
        n_(one.steps),
        padded_(point.chain->padded()),
        each_(std::min<std::int64_t>(window_blocks(padded_) * block_rows,
                                     std::max<std::int64_t>(n_, 1))),
        cache_(one.rows, window_blocks(padded_) + 1),
        reader_([this](std::int64_t index) { return cache_(index); }),
        window_(*point.chain, *point.emissions, one, each_, workspace) {}

  /// Switches to the emissions of another point with the same number of states.
  void use(const EmissionScorer &emissions) { window_.use(emissions); }

  std::int64_t count() const { return (n_ + each_ - 1) / each_; }
  std::int64_t first(std::int64_t w) const { return w * each_; }
  std::int64_t size(std::int64_t w) const { return std::min(each_, n_ - w * each_); }

  ChainSteps load(std::int64_t w, bool logarithms) {
    control_.poll();
    if (logarithms)
      window_.load_logarithms(reader_, first(w), size(w));
    else
      window_.load(reader_, first(w), size(w));
    return window_.steps(0, size(w));
  }

 private:
  Control &control_;
  std::int64_t n_;
  int padded_;
  std::int64_t each_;
  BlockCache cache_;
  BlockReader reader_;
  MarkovWindow window_;
};

/// The forward variables at the ends of all windows, from which the next windows continue.
class Checkpoints {
 public:
  void save(const MarkovChain &chain, const ChainSteps &steps, std::int64_t w) {
    const int padded = chain.padded();
    const std::size_t width = std::size_t(padded + 1);
    if (numbers_.size() < std::size_t(w + 1) * width) numbers_.resize(std::size_t(w + 1) * width);
    std::copy_n(steps.forward + (steps.n - 1) * padded, padded,
                numbers_.data() + std::size_t(w) * width);
    numbers_[std::size_t(w + 1) * width - 1] = steps.scale[steps.n - 1];
  }
  /// Copies the forward variables of the previous window in front of this one.
  void restore(const MarkovChain &chain, const ChainSteps &steps, std::int64_t w) const {
    if (w == 0) return;
    const int padded = chain.padded();
    const double *const from = numbers_.data() + std::size_t(w - 1) * std::size_t(padded + 1);
    std::copy_n(from, padded, steps.forward - padded);
    steps.scale[-1] = from[padded];
  }

 private:
  std::vector<double> numbers_;
};

/// Runs the forward recursion through all windows, with f(window, its steps) after each. False if
/// the scaled recursion lost a state.
template <class F>
bool forward_pass(Windows &windows, const MarkovChain &chain, bool logarithms,
                  Checkpoints &checkpoints, F f) {
  for (std::int64_t w = 0; w < windows.count(); ++w) {
    const ChainSteps steps = windows.load(w, logarithms);
    checkpoints.restore(chain, steps, w);
    if (logarithms)
      log_recursion::forward(chain, steps, w == 0);
    else if (!scaled_recursion::forward(chain, steps, w == 0))
      return false;
    checkpoints.save(chain, steps, w);
    f(w, steps);
  }
  return true;
}

/// Smoothing under one point: holds forward and backward variables at the ends of windows, from
/// which each window is recomputed.
class Smoother {
 public:
  explicit Smoother(const ScoredChain &point) : point_(point) {}

  /// False if the sequence is impossible.
  bool prepare(Windows &windows) {
    // Results once passed on cannot be revoked. A single window can be recomputed if scaling fails;
    // several windows use logarithms from the start unless scaling is safe.
    logarithms_ = !point_.chain->safe() && windows.count() > 1;
    return pass(windows) || (!std::exchange(logarithms_, true) && pass(windows));
  }

  /// Adds share x the probabilities of a window's steps to out, [step][state].
  void add(Windows &windows, std::int64_t w, double share, double *out) {
    ChainSteps steps = posterior(windows, w);
    if (steps.n == 0) {
      logarithms_ = true;
      pass(windows);
      steps = posterior(windows, w);
    }
    const int k = point_.chain->states(), padded = point_.chain->padded();
    for (std::int64_t t = 0; t < steps.n; ++t)
      for (int i = 0; i < k; ++i) out[t * k + i] += share * steps.backward[t * padded + i];
  }

 private:
  /// Forward and backward; false if scaling lost a state, or the sequence is impossible.
  bool pass(Windows &windows) {
    const MarkovChain &chain = *point_.chain;
    windows.use(*point_.emissions);
    bool possible = true;
    if (!forward_pass(windows, chain, logarithms_, forward_,
                      [&](std::int64_t, const ChainSteps &steps) {
                        // in the log recursion the scale of a step is its log density
                        const double *const logs = logarithms_ ? steps.scale : steps.shift;
                        for (std::int64_t t = 0; t < steps.n; ++t)
                          possible &= logs[t] > minus_infinity;
                      }))
      return false;
    if (!possible) return false;
    const std::size_t count = std::size_t(windows.count()), width = std::size_t(chain.padded());
    backward_.assign(count * width, 0.0);
    Buffer at(width);
    std::fill_n(backward_.end() - std::ptrdiff_t(width), chain.states(), logarithms_ ? 0.0 : 1.0);
    for (std::size_t w = count; w-- > 1;) {
      const ChainSteps steps = windows.load(std::int64_t(w), logarithms_);
      std::copy_n(backward_.data() + w * width, width, at.data());
      if (logarithms_)
        log_recursion::backward(chain, steps, at.data());
      else
        scaled_recursion::backward(chain, steps, at.data());
      std::copy_n(at.data(), width, backward_.data() + (w - 1) * width);
    }
    return true;
  }

  /// The steps of a window with their posterior; none (n = 0) if scaling lost the posterior.
  ChainSteps posterior(Windows &windows, std::int64_t w) {
    const MarkovChain &chain = *point_.chain;
    const std::size_t width = std::size_t(chain.padded());
    windows.use(*point_.emissions);
    const ChainSteps steps = windows.load(w, logarithms_);
    forward_.restore(chain, steps, w);
    Buffer at(backward_.begin() + std::ptrdiff_t(std::size_t(w) * width),
              backward_.begin() + std::ptrdiff_t(std::size_t(w + 1) * width));
    if (logarithms_) {
      std::vector<double> pairs(std::size_t(chain.states()) * width);
      log_recursion::forward(chain, steps, w == 0);
      log_recursion::backward(chain, steps, at.data());
      log_recursion::posterior(chain, steps, w == 0, 1, pairs.data());
    } else {
      scaled_recursion::forward_backward(chain, steps, w == 0, at.data());
      if (!scaled_recursion::posterior(chain, steps, w == 0, 1)) return {};
    }
    return steps;
  }

  ScoredChain point_;
  bool logarithms_ = false;
  Checkpoints forward_;
  Buffer backward_;  // at the end of every window
};

}  // namespace

SequenceEnd sequence_end(const Sequences &one, Control &control, const ScoredChain &point) {
  const MarkovChain &chain = *point.chain;
  const int k = chain.states();
  if (one.steps == 0) return {0, {chain.initial(), chain.initial() + k}};
  Windows windows(one, control, point, MarkovWindow::Workspace::forward);
  SequenceEnd out;
  for (const bool logarithms : {false, true}) {
    out = {0, {}};
    Checkpoints checkpoints;
    const bool done = forward_pass(
        windows, chain, logarithms, checkpoints, [&](std::int64_t w, const ChainSteps &steps) {
          out.log_likelihood += logarithms ? log_recursion::log_likelihood(steps)
                                           : scaled_recursion::log_likelihood(steps);
          if (w + 1 < windows.count()) return;
          const double *const last = steps.forward + (steps.n - 1) * chain.padded();
          for (int i = 0; i < k; ++i)
            out.states.push_back(logarithms ? std::exp(last[i])
                                            : last[i] / steps.scale[steps.n - 1]);
        });
    if (done) break;
  }
  if (!(out.log_likelihood > minus_infinity)) return {minus_infinity, {}};
  return out;
}

void smooth_sequence(
    const Sequences &one, Control &control, std::span<const ScoredChain> points,
    const std::function<void(std::int64_t first, int steps, const double *probabilities)> &take) {
  if (one.steps == 0) return;
  Windows windows(one, control, points[0], MarkovWindow::Workspace::backward);
  const double each = double(windows.count()) * (2 * points[0].chain->padded() + 1) * 8;
  if (points.size() > 1 && double(points.size()) * each > control.memory)
    throw Error(Errc::too_large,
                "smoothing " + std::to_string(one.steps) + " steps under " +
                    std::to_string(points.size()) + " draws needs too much memory",
                "The limit is maintenance_work_mem, or 1 GB if that is more.",
                "Shorten the sequence, or store fewer draws (option stored_draws).");
  std::vector<Smoother> possible;
  for (const ScoredChain &point : points) {
    Smoother smoother(point);
    if (smoother.prepare(windows)) possible.push_back(std::move(smoother));
  }
  if (possible.empty()) impossible();
  std::vector<double> out;
  for (std::int64_t w = 0; w < windows.count(); ++w) {
    out.assign(std::size_t(windows.size(w)) * std::size_t(points[0].chain->states()), 0.0);
    for (Smoother &smoother : possible)
      smoother.add(windows, w, 1.0 / double(possible.size()), out.data());
    take(windows.first(w), int(windows.size(w)), out.data());
  }
}

StatePath best_path(const Sequences &one, Control &control, const ScoredChain &point) {
  if (one.steps == 0) return {0, {}};
  const MarkovChain &chain = *point.chain;
  const int k = chain.states(), padded = chain.padded();
  Windows windows(one, control, point, MarkovWindow::Workspace::scores);
  // Back pointers of one window at a time: recomputing them is cheaper than storing all.
  const auto from =
      std::make_unique_for_overwrite<std::uint16_t[]>(std::size_t(windows.size(0) * padded));
  const bool one_window = windows.count() == 1;
  Buffer best(std::size_t(padded), minus_infinity), checkpoints;
  for (std::int64_t w = 0; w < windows.count(); ++w) {
    const ChainSteps steps = windows.load(w, true);
    checkpoints.insert(checkpoints.end(), best.begin(), best.end());
    viterbi(chain, steps.n, steps.emission, w == 0, best.data(), one_window ? from.get() : nullptr);
  }
  StatePath out{minus_infinity, std::vector<int>(std::size_t(one.steps))};
  int state = 0;
  for (int i = 0; i < k; ++i)
    if (best[std::size_t(i)] > out.log_probability)
      out.log_probability = best[std::size_t(state = i)];
  if (!(out.log_probability > minus_infinity)) impossible();
  for (std::int64_t w = windows.count(); w-- > 0;) {
    if (!one_window) {
      const ChainSteps steps = windows.load(w, true);
      std::copy_n(checkpoints.data() + w * padded, padded, best.data());
      viterbi(chain, steps.n, steps.emission, w == 0, best.data(), from.get());
    }
    for (std::int64_t t = windows.size(w); t-- > 0;) {
      out.states[std::size_t(windows.first(w) + t)] = state;
      state = from[std::size_t(t * padded + state)];
    }
  }
  return out;
}

namespace {

/// The best paths to every state, step by step, with pointers back to the paths that they continue.
class PathHeap {
 public:
  /// `count` paths to each state are kept.
  PathHeap(const MarkovChain &chain, int count, std::int64_t steps)
      : chain_(chain),
        k_(std::size_t(chain.states())),
        n_(std::size_t(count)),
        // not zero-filled: for gigabytes that would take a second without a poll
        from_(std::make_unique_for_overwrite<Pointer[]>(k_ * n_ * std::size_t(steps))),
        before_(k_ * n_, minus_infinity),
        after_(k_ * n_, minus_infinity) {}

  /// Continues all paths by step t; `emission`: its scores.
  void step(std::int64_t t, const double *emission) {
    Pointer *const pointers = from_.get() + std::size_t(t) * k_ * n_;
    for (std::size_t j = 0; j < k_; ++j) {
      std::fill_n(after_.begin() + std::ptrdiff_t(j * n_), n_, minus_infinity);
      if (t == 0)
        after_[j * n_] = chain_.log_initial()[j] + emission[j];
      else
        enter(j, emission[j], pointers + j * n_);
    }
    std::swap(before_, after_);
  }

  /// The best paths to any state, after the last of so many steps; none if all are impossible.
  std::vector<StatePath> paths(std::int64_t steps, Control &control) {
    candidates_.clear();
    for (std::size_t i = 0; i < k_; ++i)
      for (std::size_t r = 0; r < n_; ++r)
        if (before_[i * n_ + r] > minus_infinity)
          candidates_.push_back({before_[i * n_ + r], std::uint16_t(i), std::uint16_t(r)});
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate &a, const Candidate &b) { return worse(b, a); });
    candidates_.resize(std::min(candidates_.size(), n_));
    std::vector<StatePath> out;
    for (const Candidate &candidate : candidates_) {
      StatePath path{candidate.value, std::vector<int>(std::size_t(steps))};
      Pointer at{candidate.state, candidate.rank};
      for (std::size_t t = path.states.size(); t-- > 0;) {
        if (t % 4096 == 0) control.poll();
        path.states[t] = at.state;
        at = from_[t * k_ * n_ + at.state * n_ + at.rank];
      }
      out.push_back(std::move(path));
    }
    return out;
  }

 private:
  struct Pointer {
    std::uint16_t state, rank;
  };
  struct Candidate {
    double value;
    std::uint16_t state, rank;  // the previous state, and the rank among its paths
  };

  /// Orders the heap: the best candidate is on top.
  static bool worse(const Candidate &a, const Candidate &b) {
    return a.value != b.value   ? a.value < b.value
           : a.state != b.state ? a.state > b.state
                                : a.rank > b.rank;
  }

  /// The best paths into state j.
  void enter(std::size_t j, double emission, Pointer *pointers) {
    candidates_.clear();
    const double *const into =
        chain_.log_transition_transposed() + j * std::size_t(chain_.padded());
    for (std::size_t i = 0; i < k_; ++i)
      if (before_[i * n_] + into[i] > minus_infinity)
        candidates_.push_back({before_[i * n_] + into[i], std::uint16_t(i), 0});
    std::make_heap(candidates_.begin(), candidates_.end(), worse);
    for (std::size_t r = 0; r < n_ && !candidates_.empty(); ++r) {
      std::pop_heap(candidates_.begin(), candidates_.end(), worse);
      Candidate &candidate = candidates_.back();
      after_[j * n_ + r] = candidate.value + emission;
      pointers[r] = {candidate.state, candidate.rank};
      const std::size_t next = candidate.rank + std::size_t(1);
      if (next < n_ && before_[candidate.state * n_ + next] > minus_infinity) {
        candidate = {before_[candidate.state * n_ + next] + into[candidate.state], candidate.state,
                     std::uint16_t(next)};
        std::push_heap(candidates_.begin(), candidates_.end(), worse);
      } else {
        candidates_.pop_back();
      }
    }
  }

  const MarkovChain &chain_;
  const std::size_t k_, n_;
  const std::unique_ptr<Pointer[]> from_;
  /// log probabilities of the paths to each state, the best first
  std::vector<double> before_, after_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<StatePath> best_paths(const Sequences &one, int count, Control &control,
                                  const ScoredChain &point) {
  if (one.steps == 0) return {{0, {}}};
  const MarkovChain &chain = *point.chain;
  if (double(chain.states()) * count * double(one.steps) * 4 > std::min(control.memory, 2e9))
    throw Error(Errc::too_large,
                message("the {} best paths of {} steps through {} states need too much memory",
                        count, one.steps, chain.states()),
                "The limit is maintenance_work_mem, or 1 GB if that is more.",
                "Ask for fewer paths, or shorten the sequence.");
  Windows windows(one, control, point, MarkovWindow::Workspace::scores);
  PathHeap heap(chain, count, one.steps);
  for (std::int64_t w = 0; w < windows.count(); ++w) {
    const ChainSteps steps = windows.load(w, true);
    for (std::int64_t t = 0; t < steps.n; ++t) {
      if (t % 64 == 0) control.poll();
      heap.step(windows.first(w) + t, steps.emission + t * chain.padded());
    }
  }
  std::vector<StatePath> out = heap.paths(one.steps, control);
  if (out.empty()) impossible();
  return out;
}

}  // namespace bayes
