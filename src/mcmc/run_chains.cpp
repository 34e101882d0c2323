#include "mcmc/run_chains.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/message.hpp"
#include "mcmc/stored_draws.hpp"

namespace bayes {
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
        began_(all_.seconds()),
        keeps_(0, 0),
        stores_(0, 0) {
    out_.quantities.quantities = {"log_joint"};
    out_.quantities.quantities.insert(out_.quantities.quantities.end(), settings.quantities.begin(),
                                      settings.quantities.end());
    out_.quantities.chains = plan_.chains;
    out_.best = -std::numeric_limits<double>::infinity();
    select(plan_.stored());
    of_each_kept_ = keeps_.count() >= plan_.chains;
    of_each_stored_ = stores_.count() >= plan_.chains;
  }

  /// The number of chains that are complete by the record, whose draws are taken over.
  int resume() {
    if (!records() || control_.checkpoint->chains.empty()) return 0;
    recorded_.emplace(StateNumbers::reading(control_.checkpoint->chains));
    exchange(*recorded_);
    if (int(chains_.size()) == plan_.chains) recorded_->end();
    if (recorded_->at_end()) require_draws(nullptr);
    return int(chains_.size());
  }

  void run(int number, const std::function<std::unique_ptr<ChainSampler>(int chain)> &make) {
    const double each = all_.limited() && !control_.checkpoint
                            ? std::max(0.0, all_.limit() - began_) / plan_.chains
                            : all_.limit();
    const Budget share = control_.checkpoint ? all_ : all_.until(began_ + each * (number + 1));
    std::optional<BudgetScope> time(std::in_place, control_,
                                    control_.checkpoint ? all_ : share.share(0.5));
    const std::unique_ptr<ChainSampler> sampler = make(number);
    OneChain chain;
    chain.number = number;
    bool warm = false, short_warmup = false;
    double fastest = std::numeric_limits<double>::infinity(), before = all_.seconds();
    int since = 0;  // sweeps after the warmup
    if (recorded_ && !recorded_->at_end()) {
      exchange(*recorded_, *sampler, chain);
      recorded_->end();
      since = std::max(0, chain.sweeps - plan_.warmup);
      warm = since > 0;
    }
    recorded_.reset();
    for (bool done = false; !done;) {
      // The start, which may take long, may have ended the record.
      if (control_.checkpoint && !stopped_ && control_.time_is_over()) {
        save([&](StateNumbers &numbers) {
          exchange(numbers);
          exchange(numbers, *sampler, chain);
        });
        control_.cut_short();
        stopped_ = true;
        if (complete_ones_serve() || (chain.draws > 0 && !chain.kept.empty() && !must_store(chain)))
          break;
      }
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
    if (!chain.dropped) most_ = std::min(most_, chain.draws);
    chains_.push_back(std::move(chain));
    if (!stopped_) save([this](StateNumbers &numbers) { exchange(numbers); });
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

  /// Do the chains that are complete have a stored draw? Then the draws of one that is stopped are
  /// left out.
  bool complete_ones_serve() const {
    return std::any_of(chains_.begin(), chains_.end(),
                       [](const OneChain &chain) { return chain.stored > 0; });
  }

  bool records() const { return control_.checkpoint && !control_.checkpoint->frozen(); }

  template <class F> void save(F exchange) {
    if (!records()) return;
    std::vector<double> &to = control_.checkpoint->chains;
    to.clear();
    StateNumbers numbers = StateNumbers::writing(to);
    exchange(numbers);
  }

  /// The chains that are complete, and what all have collected.
  void exchange(StateNumbers &numbers) {
    // How many draws are kept depends on memory, which may have changed.
    const std::int64_t all = std::int64_t(plan_.chains) * plan_.stored();
    std::int64_t kept = keeps_.count(), stored = stores_.count();
    const std::int64_t most_kept = kept, most_stored = stored;
    numbers.whole(kept, 1, all);
    numbers.whole(stored, 1, kept);
    if (settings_.max_kept_draws <= settings_.max_stored_draws && kept != stored)
      refuse_checkpoint();
    if (kept > most_kept || stored > most_stored)
      throw Error(Errc::too_large, "the draws of the fit that is to be resumed do not fit",
                  message("It keeps {} draws and stores {} of them, but maintenance_work_mem is "
                          "enough for {} and {}.",
                          kept, stored, most_kept, most_stored),
                  "Raise maintenance_work_mem to what it was when the fit began.");
    keeps_ = EvenlySpaced(all, kept);
    stores_ = EvenlySpaced(kept, stored);
    of_each_kept_ = kept >= plan_.chains;
    of_each_stored_ = stored >= plan_.chains;
    std::int64_t complete = std::int64_t(chains_.size());
    numbers.whole(complete, 0, plan_.chains);
    chains_.resize(std::size_t(complete));
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      chains_[i].number = int(i);
      chains_[i].exchange(numbers, plan_);
    }
    numbers.whole(kept_, 0, kept);
    numbers.whole(stored_, 0, kept_);
    numbers.number(out_.best);
    numbers.list(out_.quantities.values, std::size_t(all) * out_.quantities.quantities.size());
    settings_.exchange(numbers, kept_, stored_);
  }

  /// The chain at hand.
  void exchange(StateNumbers &numbers, ChainSampler &sampler, OneChain &chain) {
    chain.exchange(numbers, plan_);
    sampler.exchange_state(numbers);
    if (!numbers.reads()) return;
    if (chain.sweeps == plan_.draws ||
        chain.draws != std::max(0, chain.sweeps - plan_.warmup) / plan_.thin)
      refuse_checkpoint();
    require_draws(&chain);
  }

  /// Refuses a record unless it has the draws of the chains that are complete, and of the `next`
  /// one if it has begun: as many values, and those of them kept and stored that are to be.
  void require_draws(const OneChain *next) const {
    std::int64_t draws = 0, kept = 0, stored = 0;
    const auto count = [&](const OneChain &chain) {
      draws += chain.draws;
      kept += std::int64_t(chain.kept.size());
      stored += chain.stored;
    };
    for (const OneChain &chain : chains_) {
      if (chain.draws != plan_.stored() || chain.sweeps != plan_.draws) refuse_checkpoint();
      count(chain);
    }
    if (next) count(*next);
    const std::int64_t planned = keeps_.before(draws);
    if (std::int64_t(out_.quantities.values.size()) !=
            draws * std::int64_t(out_.quantities.quantities.size()) ||
        kept_ != planned || stored_ != stores_.before(planned) || kept != kept_ ||
        stored != stored_)
      refuse_checkpoint();
  }

  /// Decides which draws are kept and stored if each chain makes this many.
  void select(int most) {
    most_ = most;
    of_chain_ = most;
    const std::int64_t all = std::int64_t(plan_.chains) * most,
                       stored =
                           std::max<std::int64_t>(1, std::min(settings_.max_stored_draws, all)),
                       kept = std::clamp(settings_.max_kept_draws, stored, all);
    keeps_ = EvenlySpaced(all, kept);
    stores_ = EvenlySpaced(kept, stored);
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
    select(int(most));
  }

  /// Does a chain that ends now still lack a stored draw?
  bool must_store(const OneChain &chain) const {
    return chain.stored == 0 && (of_each_stored_ || stored_ == 0);
  }

  void take(ChainSampler &sampler, OneChain &chain, double log_joint, bool ends_early) {
    out_.quantities.values.push_back(log_joint);
    sampler.record(out_.quantities.values);
    out_.best = std::max(out_.best, log_joint);
    const std::int64_t index = std::int64_t(chain.number) * of_chain_ + chain.draws++;
    const bool planned = kept_ < keeps_.count() && keeps_.takes(index),
               lacks = ends_early && must_store(chain);
    if (!planned && !lacks && !(ends_early && of_each_kept_ && chain.kept.empty())) return;
    sampler.keep(log_joint);
    ++kept_;
    const bool stored =
        lacks || (planned && stored_ < stores_.count() && stores_.takes(keeps_.before(index)));
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
  }

  const ChainSettings &settings_;
  const ChainPlan &plan_;
  Control &control_;
  const Budget all_;
  const double began_;
  ChainRun out_;
  EvenlySpaced keeps_, stores_;
  /// Is at least one draw of each chain kept, and stored?
  bool of_each_kept_ = false, of_each_stored_ = false;
  /// draws that a chain may make, and among how many of each chain keeps_ chooses
  int most_ = 0, of_chain_ = 0;
  /// of all chains
  std::int64_t kept_ = 0, stored_ = 0;
  std::vector<OneChain> chains_;
  bool stopped_ = false;
  /// the record, until it has been read
  std::optional<StateNumbers> recorded_;
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
  for (int number = chains.resume(); number < settings.plan.chains && !chains.stopped(); ++number)
    chains.run(number, make);
  return chains.result();
}

}  // namespace bayes
