#include "markov/hmm_start.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "markov/hmm_observations.hpp"

namespace bayes {
namespace {

constexpr double pseudo_count = 0.5;
/// Divisions that gain less than this, in nats, are not made.
constexpr double min_gain = 1;

/// The states of all steps, in order.
class Path {
 public:
  Path(const Sequences &sequences, const std::vector<std::uint16_t> &labels, int k,
       Control &control)
      : k_(k),
        emissions_(std::size_t(k)) {
    std::iota(emissions_.begin(), emissions_.end(), 0);
    for_each_step_row(
        sequences, control,
        [&](const double *, std::int64_t row, std::int64_t, std::int64_t step, double weight) {
          steps_.push_back({labels[std::size_t(row)], step == 1, weight});
        });
  }

  std::size_t size() const { return steps_.size(); }

  /// K: weight of the steps of every state
  std::vector<double> visits() const {
    std::vector<double> out(std::size_t(k_), 0.0);
    for (const Step &step : steps_) out[std::size_t(step.state)] += step.weight;
    return out;
  }

  /// Gives all steps of a state to another one.
  void merge(int state, int into) {
    for (Step &step : steps_)
      if (step.state == state) step.state = into;
  }

  /// Gives state `to`, which has no steps, some of another state; false if no division gains
  /// anything.
  bool divide(int to, Random &random) {
    std::vector<Division> all;
    for (const Context context : {Context::next, Context::second, Context::run})
      add_divisions(context, all);
    std::vector<double> weights;
    for (const Division &each : all)
      weights.push_back(std::pow(std::max(0.0, each.gain - min_gain), 2));
    if (std::all_of(weights.begin(), weights.end(), [](double x) { return x == 0; })) return false;
    const Division chosen = all[std::size_t(random.categorical(weights))];
    emissions_[std::size_t(to)] = emissions_[std::size_t(chosen.state)];
    int before = k_, last = k_;
    for (Step &step : steps_) {
      if (step.begins)
        before = k_;
      else if (chosen.context != Context::run || step.state != last)
        before = last;
      last = step.state;
      if (step.state == chosen.state && before == chosen.before) step.state = to;
    }
    return true;
  }

  /// The counts of the path, and the emissions that its states had before they were divided.
  PathStart start() && {
    MarkovCounts counts{Vector::Constant(k_, pseudo_count), Matrix::Constant(k_, k_, pseudo_count),
                        Vector::Zero(k_)};
    for (std::size_t t = 0; t < steps_.size(); ++t) {
      const auto [state, begins, weight] = steps_[t];
      counts.count(state) += weight;
      (begins ? counts.initial(state) : counts.transitions(steps_[t - 1].state, state)) += weight;
    }
    return {std::move(counts), std::move(emissions_)};
  }

 private:
  struct Step {
    int state;
    bool begins;  // a sequence
    double weight;
  };
  /// How a step is told from others in its state: by the state before it, which may predict the
  /// state after it or the second one after it, or by the state before its run of equal states,
  /// which may predict the one after the run.
  enum class Context { next, second, run };
  /// The steps of a state in a certain context, and how much more probable what follows is, in
  /// nats, if they have a state of their own.
  struct Division {
    Context context;
    int state, before;
    double gain;
  };

  /// Is it the last step of its sequence?
  bool ends(std::size_t t) const { return t + 1 == steps_.size() || steps_[t + 1].begins; }
  /// The state that follows in the context of a step, or K at the end of a sequence.
  int after(std::size_t t, Context context) const {
    if (context == Context::second && !ends(t)) ++t;
    while (context == Context::run && !ends(t) && steps_[t + 1].state == steps_[t].state) ++t;
    return ends(t) ? k_ : steps_[t + 1].state;
  }

  /// Appends the divisions of all states in a context.
  void add_divisions(Context context, std::vector<Division> &to) const {
    struct Triple {
      int state, before, after;
      double weight;
    };
    std::vector<Triple> triples;
    for (std::size_t t = 0; t < steps_.size(); ++t) {
      const int state = steps_[t].state, before = steps_[t].begins ? k_ : steps_[t - 1].state;
      // of a run its first step
      if (context == Context::run && before == state) continue;
      triples.push_back({state, before, after(t, context), steps_[t].weight});
    }
    std::sort(triples.begin(), triples.end(), [](const Triple &a, const Triple &b) {
      return std::tie(a.state, a.before) < std::tie(b.state, b.before);
    });
    std::vector<double> all(std::size_t(k_) + 1), some(std::size_t(k_) + 1);
    const auto log_term = [](double n) { return n > 0 ? n * std::log(n) : 0; };
    for (auto t = triples.begin(); t != triples.end();) {
      const int state = t->state;
      std::fill(all.begin(), all.end(), 0.0);
      double total = 0;
      for (auto u = t; u != triples.end() && u->state == state; ++u)
        all[std::size_t(u->after)] += u->weight, total += u->weight;
      while (t != triples.end() && t->state == state) {
        poll_here();
        const int before = t->before;
        std::fill(some.begin(), some.end(), 0.0);
        double part = 0;
        for (; t != triples.end() && t->state == state && t->before == before; ++t)
          some[std::size_t(t->after)] += t->weight, part += t->weight;
        double gain = log_term(total) - log_term(part) - log_term(total - part);
        for (std::size_t i = 0; i < all.size(); ++i)
          gain += log_term(some[i]) + log_term(all[i] - some[i]) - log_term(all[i]);
        to.push_back({context, state, before, gain});
      }
    }
  }

  const int k_;
  std::vector<Step> steps_;
  std::vector<int> emissions_;
};

/// Draws a state that is merged into another one. `confusion`: K x K, steps by their states in two
/// independent draws of the path; states with no steps are merged already.
std::pair<int, int> draw_merger(const std::vector<double> &confusion,
                                const std::vector<double> &visits, Random &random) {
  const std::size_t k = visits.size();
  std::vector<std::pair<int, int>> pairs;
  std::vector<double> weights;
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < k; ++j) {
      if (i == j || !(visits[i] > 0) || visits[i] > visits[j] || (visits[i] == visits[j] && i < j))
        continue;
      pairs.emplace_back(int(i), int(j));
      weights.push_back((confusion[i * k + j] + confusion[j * k + i] + 1) / (2 * visits[i] + 1));
    }
  return pairs[std::size_t(random.categorical(weights))];
}

}  // namespace

PathStart start_on_path(const Sequences &sequences, Control &control, const MarkovChain &chain,
                        const EmissionScorer &scorer, int keep, std::uint64_t seed, int number) {
  const PollScope scope(control);
  const auto run = std::uint64_t(number);
  const auto k = std::size_t(chain.states());
  std::vector<std::uint16_t> labels(std::size_t(sequences.rows.rows()), 0);
  const PathDraws first{RowRandom(seed, run, 0, 11), labels.data()},
      second{RowRandom(seed, run, 0, 12), nullptr, labels.data()};
  markov_step(sequences, control, chain, scorer, &first);
  std::vector<double> confusion = markov_step(sequences, control, chain, scorer, &second).confusion;
  Path path(sequences, labels, int(k), control);
  Random random(seed, run, 0, 13);
  std::vector<double> visits = path.visits();
  const auto used = [&] {
    return std::count_if(visits.begin(), visits.end(), [](double x) { return x > 0; });
  };
  WorkPoll poll;
  while (used() > std::max(1, keep)) {
    poll(10 * k * k + path.size());
    const auto [state, into] = draw_merger(confusion, visits, random);
    path.merge(state, into);
    const auto i = std::size_t(state), j = std::size_t(into);
    for (std::size_t l = 0; l < k; ++l) {
      confusion[j * k + l] += confusion[i * k + l];
      confusion[l * k + j] += confusion[l * k + i];
    }
    visits[j] += std::exchange(visits[i], 0);
  }
  for (std::size_t i = 0; i < k; ++i)
    if (!(visits[i] > 0) && !path.divide(int(i), random)) break;
  return std::move(path).start();
}

Trial::Trial(const Sequences &from, std::uint64_t seed, Control &control)
    : rows_(from.rows.shape()),
      sequences_{rows_, from.dimension, from.labelled} {
  sequences_.values = from.values;
  SequenceWriter writer(sequences_, rows_.shape(),
                        [this](const double *x, double weight) { rows_.append(x, weight); });
  const double share = 0.5 * double(max_trial_steps) / double(from.steps);
  const std::size_t d = std::size_t(rows_.shape().dimension);
  std::vector<double> steps;
  double weight = 0;
  const auto put = [&] {
    if (steps.empty()) return;
    writer.begin(std::int64_t(steps.size() / d), weight);
    for (std::size_t at = 0; at < steps.size(); at += d) writer.step(steps.data() + at);
    steps.clear();
  };
  bool chosen = false;
  for_each_step(
      from, control, [&](const double *x, std::int64_t sequence, std::int64_t step, double w) {
        if (step == 1) {
          put();
          chosen = sequence == 1 || Random(seed, std::uint64_t(sequence), 9).uniform() < share;
          weight = w;
        }
        if (!chosen || step > max_trial_steps / 2) return;
        for (std::size_t j = 0; j < d; ++j) steps.push_back(x[j * block_rows]);
      });
  put();
}

}  // namespace bayes
