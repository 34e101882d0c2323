#include "markov/markov_step.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "base/simd.hpp"
#include "data/remote_rows.hpp"
#include "data/sweep.hpp"

namespace bayes {
namespace {

/// A sequence, rows [begin, end) of a source, in windows of `each` steps. Keeps forward variables
/// at the beginnings of spans of windows, and at the beginnings of the windows of one span.
class LongWindows {
 public:
  LongWindows(MarkovWindow &window, const MarkovChain &chain, const BlockReader &block,
              std::int64_t begin, std::int64_t end, std::int64_t each, std::int64_t max_doubles)
      : window_(window),
        chain_(chain),
        block_(block),
        begin_(begin),
        end_(end),
        each_(each),
        aligned_(begin / block_rows * block_rows),
        windows_((end - aligned_ + each - 1) / each),
        width_(chain.padded() + 1),
        span_(windows_ * width_ <= max_doubles
                  ? windows_
                  : std::int64_t(std::ceil(std::sqrt(double(windows_))))),
        outer_(std::size_t(spans() * width_)),
        inner_(std::size_t(span_ * width_)) {}

  std::int64_t windows() const { return windows_; }
  std::int64_t spans() const { return (windows_ + span_ - 1) / span_; }
  /// the windows of span s
  std::int64_t first_window(std::int64_t s) const { return s * span_; }
  std::int64_t end_of_span(std::int64_t s) const {
    return std::min(windows_, first_window(s) + span_);
  }
  /// the first row of window w
  std::int64_t first_of(std::int64_t w) const { return std::max(begin_, aligned_ + w * each_); }
  /// Unless scaling is safe, logarithms are used from the start: sums already added could not be
  /// undone.
  bool logarithms() const { return !chain_.safe(); }

  /// Loads window w, with the forward variables of the step before it.
  ChainSteps load(std::int64_t w) {
    const std::int64_t size = std::min(end_, aligned_ + (w + 1) * each_) - first_of(w);
    if (logarithms())
      window_.load_logarithms(block_, first_of(w), size);
    else
      window_.load(block_, first_of(w), size);
    const ChainSteps steps = window_.steps(0, size);
    if (w > 0) {
      const double *const checkpoint = before(w);
      std::copy_n(checkpoint, width_ - 1, steps.forward - (width_ - 1));
      steps.scale[-1] = checkpoint[width_ - 1];
    }
    return steps;
  }
  void forward(std::int64_t w, const ChainSteps &steps) const {
    if (logarithms())
      log_recursion::forward(chain_, steps, w == 0);
    else
      scaled_recursion::forward(chain_, steps, w == 0);
  }
  /// Keeps the forward variables of the last step of window w.
  void save(std::int64_t w, const ChainSteps &steps) {
    double *const checkpoint = before(w + 1);
    std::copy_n(steps.forward + (steps.n - 1) * (width_ - 1), width_ - 1, checkpoint);
    checkpoint[width_ - 1] = steps.scale[steps.n - 1];
  }

 private:
  double *before(std::int64_t w) {
    return w % span_ == 0 ? outer_.data() + w / span_ * width_ : inner_.data() + w % span_ * width_;
  }

  MarkovWindow &window_;
  const MarkovChain &chain_;
  const BlockReader &block_;
  const std::int64_t begin_, end_, each_, aligned_, windows_, width_, span_;
  std::vector<double> outer_, inner_;
};

/// One thread's part of a pass.
class Worker {
 public:
  Worker(const Sequences &sequences, const MarkovChain &chain, const EmissionScorer &scorer,
         const PathDraws *draws, std::int64_t checkpoint_doubles)
      : shape_(sequences.rows.shape()),
        chain_(chain),
        k_(chain.states()),
        padded_(chain.padded()),
        draws_(draws),
        checkpoint_doubles_(checkpoint_doubles),
        steps_(std::min<std::int64_t>(window_blocks(padded_) * block_rows,
                                      std::max<std::int64_t>(sequences.steps, 1))),
        window_(chain, scorer, sequences, steps_) {
    clear();
  }

  void clear() {
    const std::size_t padded = std::size_t(padded_), all = std::size_t(k_) * padded;
    pairs_.assign(all, 0.0);
    transitions_.assign(all, 0.0);
    initial_.assign(padded, 0.0);
    visits_.assign(padded, 0.0);
    confusion_.assign(draws_ && draws_->reference ? std::size_t(k_) * std::size_t(k_) : 0, 0.0);
    objective_ = 0;
    impossible_ = -1;
    window_.emissions().clear();
  }

  /// Adds all sequences that lie entirely in a piece. False if the pass is stopped.
  bool piece(const Segment &segment, const Stop &stop) {
    set_first(segment.first);
    const BlockReader block = [&](std::int64_t index) {
      return segment.blocks + std::size_t(index) * shape_.block_doubles();
    };
    const double *const weights = segment.blocks + std::size_t(shape_.dimension) * block_rows;
    const std::size_t doubles = shape_.block_doubles();
    const auto weight = [=](std::int64_t row) {
      return weights[std::size_t(row / block_rows) * doubles + std::size_t(row % block_rows)];
    };
    const auto end_of = [&](std::int64_t row) {
      do ++row;
      while (row < segment.rows && weight(row) > 0);
      return row;
    };
    std::int64_t row = 0;
    // Skip the steps of a long sequence, which begins at a piece boundary.
    if (weight(0) > 0 || end_of(0) == shape_.piece_rows()) row = end_of(0);
    while (row < segment.rows && weight(row) < 0) {
      const std::int64_t begin = row;
      std::int64_t end = row;
      while (row < segment.rows && weight(row) < 0) {
        row = end_of(end);
        if (end > begin && row - begin > steps_) break;
        end = row;
      }
      row = end;
      if (end - begin <= steps_)
        group(block, begin, end);
      else if (!checkpointed(block, begin, end, [&] { return stop(); }))
        return false;
      if (stop()) return false;
    }
    return true;
  }

  /// Adds one sequence, rows [begin, end) of the source, window by window. `stop`: checked between
  /// windows; false if stopped.
  template <class ShouldStop>
  bool checkpointed(const BlockReader &block, std::int64_t begin, std::int64_t end,
                    ShouldStop stop) {
    LongWindows all(window_, chain_, block, begin, end, steps_each(), checkpoint_doubles_);
    double total = 0, weight = 0;
    for (std::int64_t w = 0; w < all.windows(); ++w) {
      if (stop()) return false;
      const ChainSteps steps = all.load(w);
      if (w == 0) weight = -window_.weight(0);
      all.forward(w, steps);
      total += all.logarithms() ? log_recursion::log_likelihood(steps)
                                : scaled_recursion::log_likelihood(steps);
      if (!std::isfinite(total)) return impossible(begin);
      if (w + 1 < all.windows()) all.save(w, steps);
    }
    objective_ += weight * total;

    Buffer last(std::size_t(padded_), 0.0);
    if (!all.logarithms()) std::fill_n(last.begin(), k_, 1.0);
    int next = -1;
    for (std::int64_t s = all.spans(); s-- > 0;) {
      const std::int64_t from = all.first_window(s), to = all.end_of_span(s);
      for (std::int64_t w = from; w + 1 < to && all.spans() > 1; ++w) {
        if (stop()) return false;
        const ChainSteps steps = all.load(w);
        all.forward(w, steps);
        all.save(w, steps);
      }
      for (std::int64_t w = to; w-- > from;) {
        if (stop()) return false;
        backward(all, w, weight, last.data(), next);
      }
    }
    return true;
  }

  void set_first(std::int64_t first) {
    first_ = first;
    window_.set_origin(first);
  }

  /// Adds the sums since clear() to `out`.
  void reduce(MarkovSums &out) {
    const std::size_t k = std::size_t(k_), padded = std::size_t(padded_);
    for (std::size_t i = 0; i < k; ++i) {
      out.initial[i] += initial_[i];
      out.visits[i] += visits_[i];
      for (std::size_t j = 0; j < k; ++j)
        out.transitions[i * k + j] += pairs_[i * padded + j] * chain_.transition()[i * padded + j] +
                                      transitions_[i * padded + j];
    }
    for (std::size_t i = 0; i < confusion_.size(); ++i) out.confusion[i] += confusion_[i];
    out.objective += objective_;
    if (out.impossible < 0) out.impossible = impossible_;
    window_.emissions().reduce(out.counts.data(), out.raw.data());
  }

 private:
  std::int64_t steps_each() const {
    return std::max<std::int64_t>(block_rows, steps_ / block_rows * block_rows);
  }

  /// Adds window w of a sequence; windows come from the last one to the first. `last`, `next`: the
  /// backward variables, or the state of the drawn path, at the beginning of the following window.
  void backward(LongWindows &all, std::int64_t w, double weight, double *last, int &next) {
    const bool logarithms = all.logarithms();
    const ChainSteps steps = all.load(w);
    if (draws_ || logarithms) all.forward(w, steps);
    if (draws_) {
      draw(steps, all.first_of(w), w == 0, logarithms, next);
    } else {
      if (logarithms)
        log_recursion::backward(chain_, steps, last);
      else
        scaled_recursion::forward_backward(chain_, steps, w == 0, last);
      finish(steps, w == 0, logarithms, weight);
    }
    window_.accumulate();
  }

  bool impossible(std::int64_t row) {
    if (impossible_ < 0) impossible_ = first_ + row;
    return true;
  }

  /// Whole sequences in one window.
  void group(const BlockReader &block, std::int64_t first, std::int64_t last) {
    const std::int64_t n = last - first;
    window_.load(block, first, n);
    for (std::int64_t begin = 0; begin < n;) {
      std::int64_t end = begin + 1;
      while (end < n && window_.weight(end) > 0) ++end;
      sequence(first, begin, end);
      begin = end;
    }
    window_.accumulate();
  }

  /// Steps [begin, end) of the window, a whole sequence.
  void sequence(std::int64_t first, std::int64_t begin, std::int64_t end) {
    const ChainSteps steps = window_.steps(begin, end);
    const double weight = -window_.weight(begin);
    Workspace workspace;
    std::fill_n(workspace.last, padded_, 0.0);
    std::fill_n(workspace.last, k_, 1.0);
    int next = -1;
    if (draws_ ? scaled_recursion::forward(chain_, steps, true)
               : scaled_recursion::forward_backward(chain_, steps, true, workspace.last)) {
      const double log_likelihood = scaled_recursion::log_likelihood(steps);
      if (draws_ && std::isfinite(log_likelihood)) {
        objective_ += log_likelihood;
        return draw(steps, first + begin, true, false, next);
      }
      if (std::isfinite(log_likelihood) && finish(steps, true, false, weight)) {
        objective_ += weight * log_likelihood;
        return;
      }
    }
    window_.load_logarithms(begin, end);
    log_recursion::forward(chain_, steps, true);
    const double log_likelihood = log_recursion::log_likelihood(steps);
    if (!std::isfinite(log_likelihood)) {
      impossible(first + begin);
      std::fill_n(steps.backward, steps.n * padded_, 0.0);
      std::fill_n(steps.emission, steps.n * padded_, 0.0);
      return;
    }
    objective_ += weight * log_likelihood;
    if (draws_) return draw(steps, first + begin, true, true, next);
    std::fill_n(workspace.last, padded_, 0.0);
    log_recursion::backward(chain_, steps, workspace.last);
    finish(steps, true, true, weight);
  }

  /// Adds the posterior of consecutive steps to the sums, and leaves it in the backward variables.
  /// False if logarithms are needed; then nothing was added.
  bool finish(const ChainSteps &steps, bool begins, bool logarithms, double weight) {
    if (logarithms)
      log_recursion::posterior(chain_, steps, begins, weight, transitions_.data());
    else if (!scaled_recursion::posterior(chain_, steps, begins, weight))
      return false;
    else
      scaled_recursion::add_transitions(k_, padded_, steps, begins, pairs_.data());
    add_visits(steps, begins);
    return true;
  }

  void add_visits(const ChainSteps &steps, bool begins) {
    for (int j = 0; j < padded_; j += simd::lanes) {
      simd::Vector sum = simd::load(visits_.data() + j);
      for (std::int64_t t = 0; t < steps.n; ++t)
        sum += simd::load(steps.backward + t * padded_ + j);
      simd::store(visits_.data() + j, sum);
    }
    for (int j = 0; begins && j < k_; ++j) initial_[std::size_t(j)] += steps.backward[j];
  }

  /// Draws the states of consecutive steps, the last first; `next`: on entry the state of the
  /// following step, -1 for none, on return that of the first. row: of the first step, in the
  /// source.
  void draw(const ChainSteps &steps, std::int64_t row, bool begins, bool logarithms, int &next) {
    Workspace workspace;
    for (std::int64_t t = steps.n; t-- > 0;) {
      const double *const forward = steps.forward + t * padded_;
      double total = 0, largest = minus_infinity;
      if (logarithms) {
        for (int i = 0; i < k_; ++i)
          workspace.last[i] =
              forward[i] + (next < 0 ? 0 : chain_.log_transition_transposed()[next * padded_ + i]);
        for (int i = 0; i < k_; ++i) largest = std::max(largest, workspace.last[i]);
        for (int i = 0; i < k_; ++i)
          workspace.last[i] = total += std::exp(workspace.last[i] - largest);
      } else {
        for (int i = 0; i < k_; ++i)
          workspace.last[i] = total +=
              forward[i] * (next < 0 ? 1 : chain_.transition_transposed()[next * padded_ + i]);
      }
      const double target = draws_->random.uniforms(first_ + row + t)[0] * total;
      int state = 0;
      while (state + 1 < k_ && !(workspace.last[state] > target)) ++state;
      if (next >= 0)
        transitions_[std::size_t(state) * std::size_t(padded_) + std::size_t(next)] += 1;
      double *const out = steps.backward + t * padded_;
      std::fill_n(out, padded_, 0.0);
      out[state] = 1;
      if (draws_->labels) draws_->labels[first_ + row + t] = std::uint16_t(state);
      if (draws_->reference)
        confusion_[std::size_t(state) * std::size_t(k_) + draws_->reference[first_ + row + t]] += 1;
      next = state;
    }
    add_visits(steps, begins);
    if (logarithms) std::fill_n(steps.emission, steps.n * padded_, 0.0);
  }

  struct Workspace {
    alignas(cache_line) double last[max_states];
  };

  const RowShape shape_;
  const MarkovChain &chain_;
  int k_, padded_;
  const PathDraws *draws_;
  std::int64_t checkpoint_doubles_, steps_, first_ = 0;
  MarkovWindow window_;
  Buffer pairs_, transitions_, initial_, visits_;
  std::vector<double> confusion_;
  double objective_ = 0;
  std::int64_t impossible_ = -1;
};

/// The number, from 1, of the sequence that begins in a row.
std::int64_t number_of(const Sequences &sequences, std::int64_t row) {
  const RowShape shape = sequences.rows.shape();
  Buffer block(shape.block_doubles());
  std::int64_t number = 0;
  for (std::int64_t i = 0; i <= row; ++i) {
    if (i % block_rows == 0) sequences.rows.read_block(i / block_rows, block.data());
    number += block[std::size_t(shape.dimension) * block_rows + std::size_t(i % block_rows)] < 0;
  }
  return number;
}

}  // namespace

void MarkovSums::add(const MarkovSums &part) {
  const auto each = [](std::vector<double> &sum, const std::vector<double> &term) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += term[i];
  };
  objective += part.objective;
  each(initial, part.initial);
  each(transitions, part.transitions);
  each(visits, part.visits);
  each(counts, part.counts);
  each(raw, part.raw);
  each(confusion, part.confusion);
  if (impossible < 0) impossible = part.impossible;
}

void MarkovPass::describe(Document &request) {
  if (draws) refuse_remote("paths of sequences");
  const std::size_t k = std::size_t(chain->states()), padded = std::size_t(chain->padded());
  initial.assign(chain->log_initial(), chain->log_initial() + k);
  for (std::size_t i = 0; i < k; ++i) {
    const double *const row = chain->log_transition() + i * padded;
    transition.insert(transition.end(), row, row + k);
  }
  request.set("scorer", scorer->message());
}

MarkovSums MarkovPass::nothing(const Sequences &) const {
  const std::size_t k = std::size_t(scorer->states());
  MarkovSums out;
  out.initial.assign(k, 0.0);
  out.visits.assign(k, 0.0);
  out.counts.assign(k, 0.0);
  out.transitions.assign(k * k, 0.0);
  out.confusion.assign(draws && draws->reference ? k * k : 0, 0.0);
  out.raw.assign(scorer->raw_size(), 0.0);
  return out;
}

MarkovSums markov_step(const Sequences &sequences, Control &control, const MarkovChain &chain,
                       const EmissionScorer &scorer, const PathDraws *draws,
                       std::int64_t checkpoint_doubles) {
  return run(sequences, MarkovPass{&chain, &scorer, draws, checkpoint_doubles}, control);
}

MarkovSums MarkovPass::here(const Sequences &sequences, Control &control) const {
  Sweep sweep(sequences.rows, control);
  const double k = chain->states();
  const SweepPlan plan = sweep.plan(scorer->operations() + 6 * k * k + 100 * k,
                                    8 * (scorer->raw_size() + std::size_t(k * k)));
  std::vector<std::unique_ptr<Worker>> workers;
  for (int t = 0; t < plan.threads; ++t)
    workers.push_back(
        std::make_unique<Worker>(sequences, *chain, *scorer, draws, checkpoint_doubles));
  MarkovSums total = nothing(sequences);
  std::vector<MarkovSums> parts(std::size_t(plan.slots), total);
  sweep.run(
      plan,
      [&](int worker, int slot, const Segment &segment, const Stop &stop) {
        Worker &own = *workers[std::size_t(worker)];
        own.clear();
        if (!own.piece(segment, stop)) return;
        parts[std::size_t(slot)] = nothing(sequences);
        own.reduce(parts[std::size_t(slot)]);
      },
      [&](int slot) { total.add(parts[std::size_t(slot)]); });

  Worker &own = *workers[0];
  own.set_first(0);
  for (const LongSequence &sequence : sequences.long_sequences) {
    BlockCache cache(sequences.rows, window_blocks(chain->padded()) + 1);
    own.clear();
    own.checkpointed([&cache](std::int64_t index) { return cache(index); }, sequence.first,
                     sequence.first + sequence.steps,
                     [&] {
                       control.poll();
                       return false;
                     });
    own.reduce(total);
  }
  if (total.impossible >= 0)
    throw Error(
        Errc::invalid_argument,
        "sequence " + std::to_string(number_of(sequences, total.impossible)) +
            " is impossible under the model",
        "Every path through the states has probability 0.",
        "Check structural zeros and known states. Sequences that were left out are not counted.");
  return total;
}

}  // namespace bayes
