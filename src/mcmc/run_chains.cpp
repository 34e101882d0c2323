#include "mcmc/run_chains.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/option_table.hpp"
#include "mcmc/stored_draws.hpp"

namespace bayes {
namespace {

// Which draws of chains are kept and stored while the chains run (mcmc/run_chains.hpp).

/// Of chains that make equally many draws: kept draws are evenly spaced among all, stored ones
/// among the kept. A draw is given by its chain and its place there, both from 0.
struct DrawSelection {
  /// of each chain
  int draws = 0;
  EvenlySpaced keeps{0, 0}, stores{0, 0};
  /// how many of the stored draws the model has in the end
  std::int64_t remain = 0;

  DrawSelection() = default;
  DrawSelection(int chains, int of_each, std::int64_t kept, std::int64_t stored,
                std::int64_t remaining)
      : draws(of_each),
        keeps(std::int64_t(chains) * of_each, kept),
        stores(kept, stored),
        remain(remaining) {}

  bool keeps_draw(int chain, int draw) const { return keeps.takes(index(chain, draw)); }
  bool stores_draw(int chain, int draw) const {
    return keeps_draw(chain, draw) && stores.takes(keeps.before(index(chain, draw)));
  }
  /// Of the first draws of a chain that are kept: is each stored?
  std::vector<bool> of_chain(int chain, int made) const {
    std::vector<bool> out;
    for (int draw = 0; draw < made; ++draw)
      if (keeps_draw(chain, draw)) out.push_back(stores_draw(chain, draw));
    return out;
  }
  /// Can a chain that made its draws under the selection of a shorter fit go on under this one: has
  /// it kept the same draws, and stored those that this one stores?
  bool extends(const DrawSelection &shorter, int chain) const {
    for (int draw = 0; draw < shorter.draws; ++draw)
      if (keeps_draw(chain, draw) != shorter.keeps_draw(chain, draw) ||
          (stores_draw(chain, draw) && !shorter.stores_draw(chain, draw)))
        return false;
    return true;
  }
  bool operator==(const DrawSelection &other) const {
    return draws == other.draws && keeps.count() == other.keeps.count() &&
           stores.count() == other.stores.count() && remain == other.remain;
  }

  /// among the draws of all chains
  std::int64_t index(int chain, int draw) const { return std::int64_t(chain) * draws + draw; }
};

void check(const ChainPlan &plan) {
  if (plan.warmup >= plan.draws)
    throw Error(Errc::invalid_argument,
                message("option \"warmup\" is {}, but must be below option \"draws\", which is {}",
                        plan.warmup, plan.draws),
                "Option draws is the length of a chain, the warmup included, which is discarded.");
  if (plan.stored() < 1)
    throw Error(Errc::invalid_argument,
                message("option \"thin\" is {}, but only {} draws follow the warmup", plan.thin,
                        plan.draws - plan.warmup),
                "Every thin-th of them is kept, which leaves none.", "Lower thin.");
  if (plan.all_stored() > 4000000)
    throw Error(Errc::too_large,
                message("{} chains of {} draws are too many", plan.chains, plan.stored()),
                "The limit is 4 million draws.", "Ask for fewer chains or draws, or raise thin.");
}

}  // namespace

void ChainPlan::lines(OptionTable &t, bool applies) {
  t.integer({"chains", "number of chains"}, chains, 1, 1000, applies);
  t.integer({"draws", "steps of a chain, the warmup included"}, draws, 1, 100000000, applies);
  if (t.reads()) warmup = draws / 2;
  t.integer({"warmup", "first steps of a chain, which are discarded", "", "half of draws"}, warmup,
            0, 100000000, applies);
  t.integer({"thin", "every thin-th step after the warmup is a draw"}, thin, 1, 100000000, applies);
  if (t.reads()) check(*this);
}

void ChainPlan::stored_line(OptionTable &t, bool applies) {
  // Written only if it was given, since the default depends on the draws.
  if (t.reads() || stored_draws > 0)
    t.integer({"stored_draws", "draws that the model keeps"}, stored_draws, 1, 1000000, applies);
}

namespace {

bool chains_agree(const Draws &draws, Control &control) {
  constexpr double largest_rhat = 1.1;
  for (std::size_t q = 0; q < draws.quantities.size(); ++q) {
    const ChainSeries series(draws, q);
    if (const auto r = rhat(series.chains(), control); r && !(*r < largest_rhat)) return false;
  }
  return true;
}

class Chains {
 public:
  Chains(const ChainSettings &settings, Control &control)
      : settings_(settings),
        plan_(settings.plan),
        control_(control),
        all_(control.budget),
        began_(all_.seconds()) {
    out_.quantities.quantities = {"log_joint"};
    out_.quantities.quantities.insert(out_.quantities.quantities.end(), settings.quantities.begin(),
                                      settings.quantities.end());
    out_.quantities.chains = plan_.chains;
    out_.best = -std::numeric_limits<double>::infinity();
    most_ = plan_.stored();
    selection_ = selection_of(plan_.stored(), records());
    set_of_each();
    resumes_ = records() && !control_.checkpoint->chains.empty();
    if (resumes_) take_selection();
  }

  void run(int number, const std::function<std::unique_ptr<ChainSampler>(int chain)> &make) {
    const double each = all_.limited() && !control_.checkpoint
                            ? std::max(0.0, all_.limit() - began_) / plan_.chains
                            : all_.limit();
    const Budget share = control_.checkpoint ? all_ : all_.until(began_ + each * (number + 1));
    std::optional<BudgetScope> time(std::in_place, control_,
                                    control_.checkpoint ? all_ : share.share(0.5));
    OneChain chain;
    chain.number = number;
    const bool has_begun = !recorded(number).empty();
    StateNumbers numbers = StateNumbers::reading(recorded(number));
    if (has_begun) {
      read(numbers, chain);
      if (chain.sweeps == plan_.draws) return end(std::move(chain));
    }
    const std::unique_ptr<ChainSampler> sampler = make(number);
    if (has_begun) {
      sampler->exchange_state(numbers);
      numbers.end();
    }
    bool short_warmup = false;
    double fastest = std::numeric_limits<double>::infinity(), before = all_.seconds();
    int since = std::max(0, chain.sweeps - plan_.warmup);  // sweeps after the warmup
    bool warm = since > 0;
    for (bool done = false; !done;) {
      if (time_ends_record(chain, *sampler)) break;
      if (!warm && (chain.sweeps == plan_.warmup || (!records() && control_.out_of_time()))) {
        warm = true;
        short_warmup = chain.sweeps < plan_.warmup;
        time.reset();
        time.emplace(control_, share);
        sampler->end_warmup();
      }
      control_.poll();
      const double log_joint = sweep(*sampler, chain);
      if (control_.checkpoint) control_.checkpoint->go_further();
      const double now = all_.seconds();
      fastest = std::min(fastest, now - before);
      before = now;
      if (!warm) continue;
      bool draws = ++since % plan_.thin == 0;
      const int count = chain.draws + int(draws);
      const bool all_made = count == most_;
      done = all_made && (short_warmup || most_ < plan_.stored() || chain.sweeps == plan_.draws);
      // Sweeps that follow the last draw need no time. A chain that is recorded is stopped above.
      if (!done && !records() && (all_made ? control_.budget.over() : control_.out_of_time())) {
        done = true;
        draws |= !all_made && (chain.draws == 0 || must_store(chain));
      }
      if (!draws) continue;
      if (number == 0 && chain.draws == 0 && !control_.checkpoint)
        foresee(share, fastest, chain.sweeps);
      take(*sampler, chain, log_joint, done && chain.draws + 1 < plan_.stored());
    }
    out_.cut |= short_warmup || chain.draws < plan_.stored();
    chain.dropped = stopped_ && complete_ones_serve();
    if (!stopped_) record(chain, *sampler);
    end(std::move(chain));
  }
  /// Has the time ended before all chains were complete, in a fit that can be resumed?
  bool stopped() const { return stopped_; }

  ChainRun result() {
    out_.made = plan_;
    out_.sweeps = plan_.draws;
    if (stopped_) {
      out_.made.chains = int(chains_.size()) - int(chains_.back().dropped);
      out_.quantities.chains = out_.made.chains;
    }
    if (out_.cut) {
      for (const OneChain &chain : chains_)
        if (!chain.dropped) out_.sweeps = std::min(out_.sweeps, chain.sweeps);
      out_.made.draws = plan_.warmup + most_ * plan_.thin;
      make_equal();
    }
    leave_stored();
    out_.quantities.draws = most_;
    out_.agree = !out_.cut && chains_agree(out_.quantities, control_);
    return std::move(out_);
  }

 private:
  struct OneChain {
    int number = 0, sweeps = 0, draws = 0;
    /// of the kept draws: is it stored?
    std::vector<bool> kept;
    int stored = 0;
    double log_joint = std::numeric_limits<double>::quiet_NaN();
    /// incomplete, where others are complete
    bool dropped = false;

    void exchange(StateNumbers &numbers, const ChainPlan &plan) {
      numbers.whole(sweeps, 0, plan.draws);
      numbers.whole(draws, 0, plan.stored());
      std::int64_t count = std::int64_t(kept.size());
      numbers.whole(count, 0, draws);
      kept.resize(std::size_t(count));
      stored = 0;
      for (std::size_t i = 0; i < kept.size(); ++i) {
        bool each = kept[i];
        numbers.flag(each);
        kept[i] = each;
        stored += int(each);
      }
      numbers.number(log_joint);
    }
  };

  /// Has the time of a fit that can be resumed ended, with draws that serve? The start, which may
  /// take long, may have ended the record.
  bool time_ends_record(OneChain &chain, ChainSampler &sampler) {
    if (!control_.checkpoint || stopped_ || !control_.time_is_over()) return false;
    record(chain, sampler);
    control_.cut_short();
    stopped_ = true;
    return complete_ones_serve() || (chain.draws > 0 && !chain.kept.empty() && !must_store(chain));
  }

  /// Do the chains that are complete have a stored draw? Then the draws of one that is stopped are
  /// left out.
  bool complete_ones_serve() const {
    return std::any_of(chains_.begin(), chains_.end(),
                       [](const OneChain &chain) { return chain.stored > 0; });
  }

  bool records() const { return control_.checkpoint && !control_.checkpoint->frozen(); }

  /// Decides which draws are kept and stored if each chain makes this many. Fits that can be
  /// resumed store all draws until they end, if that takes little memory, so that they can be
  /// extended.
  DrawSelection selection_of(int draws, bool recorded) const {
    const std::int64_t all = std::int64_t(plan_.chains) * draws,
                       stored =
                           std::max<std::int64_t>(1, std::min(settings_.max_stored_draws, all)),
                       kept = std::clamp(settings_.max_kept_draws, stored, all);
    return {plan_.chains, draws, kept, recorded && settings_.max_held_draws >= kept ? kept : stored,
            stored};
  }
  void set_of_each() {
    of_each_kept_ = selection_.keeps.count() >= plan_.chains;
    of_each_stored_ = selection_.stores.count() >= plan_.chains;
  }

  /// The record of a chain that has begun; empty for others.
  std::span<const double> recorded(int chain) const {
    const auto i = std::size_t(chain);
    return resumes_ && i < control_.checkpoint->chains.size() ? control_.checkpoint->chains[i]
                                                              : std::span<const double>();
  }
  /// Of the first chain's record. How many draws are kept depends on memory, which may have
  /// changed.
  void take_selection() {
    if (control_.checkpoint->chains.size() > std::size_t(plan_.chains)) refuse_checkpoint();
    StateNumbers first = StateNumbers::reading(recorded(0));
    ChainPlan plan = plan_;
    const DrawSelection before = read_selection(first, plan);
    if (plan.draws < plan_.draws) return;
    const std::int64_t kept = before.keeps.count(), most_kept = selection_.keeps.count(),
                       stored = before.stores.count(),
                       most_stored = std::max(selection_.remain, settings_.max_held_draws);
    if (kept > most_kept || stored > most_stored)
      throw Error(Errc::too_large, "the draws of the fit that is to be resumed do not fit",
                  message("It keeps {} draws and stores {} of them, but maintenance_work_mem is "
                          "enough for {} and {}.",
                          kept, stored, most_kept, most_stored),
                  "Raise maintenance_work_mem to what it was when the fit began.");
    selection_ = before;
    set_of_each();
  }
  /// Reads the beginning of a chain's record: how many sweeps it was to make, which becomes that of
  /// the plan, and its selection.
  DrawSelection read_selection(StateNumbers &numbers, ChainPlan &plan) const {
    numbers.whole(plan.draws, plan_.warmup + plan_.thin, plan_.draws);
    std::int64_t kept = 0, stored = 0, remain = 0;
    numbers.whole(kept, 1, plan.all_stored());
    numbers.whole(stored, 1, kept);
    numbers.whole(remain, 1, stored);
    if (settings_.max_kept_draws <= settings_.max_stored_draws && kept != stored)
      refuse_checkpoint();
    return {plan_.chains, plan.stored(), kept, stored, remain};
  }
  /// Leaves out the stored draws of the chain read last that the longer fit does not store.
  void leave_planned(OneChain &chain) {
    const std::vector<bool> stay = selection_.of_chain(chain.number, chain.draws);
    std::vector<int> stored(std::size_t(stored_ - chain.stored));
    std::iota(stored.begin(), stored.end(), 0);
    int next = int(stored.size());
    for (std::size_t i = 0; i < chain.kept.size(); next += int(chain.kept[i++]))
      if (stay[i]) stored.push_back(next);
    leave(stored);
    chain.kept = stay;
    chain.stored = int(std::count(stay.begin(), stay.end(), true));
  }
  /// Leaves these of the stored draws, and all kept ones.
  void leave(const std::vector<int> &stored) {
    if (std::int64_t(stored.size()) == stored_) return;
    std::vector<int> kept(static_cast<std::size_t>(kept_));
    std::iota(kept.begin(), kept.end(), 0);
    settings_.retain(kept, stored);
    stored_ = std::int64_t(stored.size());
  }

  /// Writes or reads a chain and what it has collected, but not the state of its sampler.
  void exchange(StateNumbers &numbers, OneChain &chain, const ChainPlan &plan) {
    chain.exchange(numbers, plan);
    std::vector<double> &values = out_.quantities.values;
    const std::size_t count = std::size_t(chain.draws) * out_.quantities.quantities.size();
    if (numbers.reads()) {
      numbers.require(count);
      values.resize(values.size() + count);
    }
    numbers.numbers(std::span(values).last(count));
    settings_.exchange(numbers, chain.number, std::int64_t(chain.kept.size()), chain.stored);
  }

  /// Records a chain: the number of sweeps that it is to make, the selection of its draws, what it
  /// has collected, and the state of its sampler.
  void record(OneChain &chain, ChainSampler &sampler) {
    if (!records()) return;
    std::vector<std::vector<double>> &all = control_.checkpoint->chains;
    all.resize(std::max(all.size(), std::size_t(chain.number) + 1));
    std::vector<double> &to = all[std::size_t(chain.number)];
    to = {double(plan_.draws), double(selection_.keeps.count()), double(selection_.stores.count()),
          double(selection_.remain)};
    StateNumbers numbers = StateNumbers::writing(to);
    exchange(numbers, chain, plan_);
    sampler.exchange_state(numbers);
  }

  /// Takes over the draws of a recorded chain.
  void read(StateNumbers &numbers, OneChain &chain) {
    ChainPlan plan = plan_;
    const DrawSelection before = read_selection(numbers, plan);
    const bool extends = plan.draws < plan_.draws;
    if (!extends && before != selection_) refuse_checkpoint();
    if (extends && !selection_.extends(before, chain.number))
      throw Error(
          Errc::invalid_argument,
          message("the fit cannot be extended from {} to {} draws", plan.draws, plan_.draws),
          "A fit of so many draws stores some that this one has left out, as all of them "
          "are too large for the model.",
          "Fit it anew, or try another number: three times the draws after the warmup "
          "often are possible.");
    exchange(numbers, chain, plan);
    if (chain.draws != std::max(0, chain.sweeps - plan_.warmup) / plan_.thin ||
        chain.kept != before.of_chain(chain.number, chain.draws))
      refuse_checkpoint();
    kept_ += std::int64_t(chain.kept.size());
    stored_ += chain.stored;
    const std::size_t width = out_.quantities.quantities.size();
    for (std::size_t i = out_.quantities.values.size() - std::size_t(chain.draws) * width;
         i < out_.quantities.values.size(); i += width)
      out_.best = std::max(out_.best, out_.quantities.values[i]);
    if (extends) leave_planned(chain);
  }

  /// Takes a chain that makes no more draws.
  void end(OneChain chain) {
    if (!chain.dropped) most_ = std::min(most_, chain.draws);
    if (settings_.end_chain && !chain.dropped) settings_.end_chain();
    chains_.push_back(std::move(chain));
  }

  double sweep(ChainSampler &sampler, OneChain &chain) {
    const double log_joint = without_rounding_errors(sampler.sweep(chain.sweeps, control_));
    ++chain.sweeps;
    if (!std::isfinite(log_joint))
      throw Error(Errc::numeric,
                  std::string("the density of a draw of method ") + settings_.method +
                      " overflowed in sweep " + std::to_string(chain.sweeps),
                  "Values are too large for double precision.",
                  std::string("Rescale the ") + settings_.data + ".");
    const double seconds = all_.seconds() - began_,
                 done = double(chain.number) * plan_.draws + chain.sweeps,
                 left = seconds / done * (double(plan_.chains) * plan_.draws - done);
    control_.progress({settings_.method, chain.number + 1, plan_.chains, chain.sweeps, plan_.draws,
                       log_joint, log_joint - chain.log_joint, seconds,
                       std::clamp(left, 0.0, all_.left()), true});
    chain.log_joint = log_joint;
    return log_joint;
  }

  /// Where the first chain will certainly not make all its draws, those that are kept and stored
  /// are chosen among fewer, so that they are not too few. `fastest`: the time of its fastest
  /// sweep.
  void foresee(const Budget &share, double fastest, int sweeps) {
    constexpr int min_sweeps = 10;  // before which nothing is certain
    constexpr double margin = 4;
    if (!all_.limited() || sweeps < min_sweeps) return;
    const double most = margin * share.left() / (fastest * plan_.thin) + min_sweeps;
    if (!(most < plan_.stored())) return;
    control_.cut_short();
    most_ = int(most);
    selection_ = selection_of(most_, false);
  }

  /// Does a chain that ends now still lack a stored draw?
  bool must_store(const OneChain &chain) const {
    return chain.stored == 0 && (of_each_stored_ || stored_ == 0);
  }

  void take(ChainSampler &sampler, OneChain &chain, double log_joint, bool ends_early) {
    out_.quantities.values.push_back(log_joint);
    sampler.record(out_.quantities.values);
    out_.best = std::max(out_.best, log_joint);
    const int draw = chain.draws++;
    const bool planned =
                   kept_ < selection_.keeps.count() && selection_.keeps_draw(chain.number, draw),
               lacks = ends_early && must_store(chain);
    if (!planned && !lacks && !(ends_early && of_each_kept_ && chain.kept.empty())) return;
    sampler.keep(log_joint);
    ++kept_;
    const bool stored = lacks || (planned && stored_ < selection_.stores.count() &&
                                  selection_.stores_draw(chain.number, draw));
    chain.kept.push_back(stored);
    if (!stored) return;
    ++chain.stored;
    ++stored_;
    sampler.store(log_joint);
  }

  /// Leaves as many draws of each chain as the shortest one has, the first ones.
  void make_equal() {
    const std::size_t width = out_.quantities.quantities.size();
    std::vector<int> draws, kept, stored;
    int first = 0, first_kept = 0, first_stored = 0;
    std::size_t fewest_kept = std::numeric_limits<std::size_t>::max();
    int fewest_stored = std::numeric_limits<int>::max();
    for (const OneChain &chain : chains_) {
      if (chain.dropped) continue;
      fewest_kept = std::min(fewest_kept, chain.kept.size());
      fewest_stored = std::min(fewest_stored, chain.stored);
    }
    for (const OneChain &chain : chains_) {
      for (int i = 0; i < most_ && !chain.dropped; ++i) draws.push_back(first + i);
      first += chain.draws;
      const std::size_t count = chain.dropped ? 0 : of_each_kept_ ? fewest_kept : chain.kept.size();
      const int count_stored = chain.dropped ? 0 : of_each_stored_ ? fewest_stored : chain.stored;
      // What remains stored remains kept.
      std::size_t others = count - std::min(count, std::size_t(count_stored));
      int of_chain = 0;
      for (std::size_t i = 0; i < chain.kept.size(); ++i) {
        const bool stays = chain.kept[i] && of_chain < count_stored;
        if (stays) stored.push_back(first_stored + of_chain);
        of_chain += int(chain.kept[i]);
        if (!stays && others > 0)
          --others;
        else if (!stays)
          continue;
        kept.push_back(first_kept + int(i));
      }
      first_kept += int(chain.kept.size());
      first_stored += chain.stored;
    }
    if (int(draws.size()) < first) retain(out_.quantities.values, draws, width);
    const bool fewer = int(kept.size()) < first_kept || int(stored.size()) < first_stored;
    if (fewer && settings_.retain) settings_.retain(kept, stored);
    kept_ = std::int64_t(kept.size());
    stored_ = std::int64_t(stored.size());
  }

  /// Leaves, of the draws that are stored while the chains run, those that a fit which cannot be
  /// resumed would have stored.
  void leave_stored() {
    if (stored_ <= selection_.remain) return;
    const bool all = stored_ == selection_.stores.count();
    const EvenlySpaced spaced(
        stored_, all ? selection_.remain : equal_draws(out_.made, double(selection_.remain)));
    std::vector<int> stored;
    for (int i = 0; i < stored_; ++i)
      if (spaced.takes(i)) stored.push_back(i);
    leave(stored);
  }

  const ChainSettings &settings_;
  const ChainPlan &plan_;
  Control &control_;
  const Budget all_;
  const double began_;
  ChainRun out_;
  DrawSelection selection_;
  /// Is at least one draw of each chain kept, and stored?
  bool of_each_kept_ = false, of_each_stored_ = false;
  /// draws that a chain may make
  int most_ = 0;
  /// of all chains
  std::int64_t kept_ = 0, stored_ = 0;
  std::vector<OneChain> chains_;
  bool stopped_ = false;
  /// Does the fit go on from a record?
  bool resumes_ = false;
};

}  // namespace

double without_rounding_errors(double x) {
  int exponent;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 34)), exponent - 34);
}

ChainRun run_chains(const ChainSettings &settings, Control &control,
                    const std::function<std::unique_ptr<ChainSampler>(int chain)> &make) {
  Chains chains(settings, control);
  for (int number = 0; number < settings.plan.chains && !chains.stopped(); ++number)
    chains.run(number, make);
  return chains.result();
}

}  // namespace bayes
