#include "topics/lda_sampling.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "base/message.hpp"
#include "counts/column_matching.hpp"
#include "document/members.hpp"
#include "mcmc/stored_draws.hpp"
#include "topics/topic_chain.hpp"

namespace bayes {
namespace {

double numbers_of_draw(const Corpus &corpus, int k) {
  return double(k) * (double(corpus.totals().vocabulary) + 1);
}

/// Number of draws to hold in memory while the chains run: by default no more than are stored.
std::int64_t held_topic_draws(const ChainPlan &plan, double numbers, const Control &control) {
  const double held = std::clamp(control.memory / 4 / (8 * numbers), 1.0, 1e9);
  return plan.stored_draws > 0 ? collected_draws(plan, std::int64_t(held))
                               : equal_draws(plan, std::min({held, 500.0, 2e6 / numbers}));
}

void require_tokens(const Corpus &corpus, const LdaOptions &options, double numbers,
                    const Control &control) {
  const CorpusTotals &totals = corpus.totals();
  if (!totals.whole)
    throw Error(Errc::invalid_argument,
                "method " + std::string(method_name(options.method)) +
                    " takes whole counts only, but some are fractions",
                "It draws a topic for every token.", "Use method vi, em, svi or cvb0.");
  constexpr double max_tokens = 0x1p31 - 1;
  if (totals.tokens > max_tokens)
    throw Error(
        Errc::too_large,
        message("the documents have {} tokens, but method {} takes at most {}",
                describe_number(totals.tokens), options.method, describe_number(max_tokens)),
        "It keeps the topic of every token.", "Use method svi or vi.");
  // Two bytes for each token, and the index of documents.
  const double bytes = 2 * totals.tokens + 9 * double(totals.documents) + 16 * totals.most_tokens;
  if (bytes > std::max(control.row_memory, 64e6))
    throw Error(Errc::too_large,
                message("method {} keeps the topic of every token, which for {} tokens do not fit "
                        "into maintenance_work_mem",
                        options.method, std::int64_t(totals.tokens)),
                {}, "Raise maintenance_work_mem, or use method svi or vi.");
  const double held = double(held_topic_draws(options.chains, numbers, control));
  // Counts, variates or lists, two means of a chain and of all, two references, the draws; and the
  // overlaps of topics.
  require_memory({message("{} topics of {} terms", options.k, totals.vocabulary),
                  (4 + 8 + (options.chains.chains > 1 ? 32 : 16) + 16 + 8 * held) * numbers +
                      16.0 * options.k * options.k,
                  "documents"},
                 control);
}

/// Groups of topics that have the same prior. Unless `alpha_given`, all alpha count as equal, as
/// they are learned.
ExchangeableGroups exchangeable_topics(const LdaPrior &prior, bool alpha_given) {
  const int k = int(prior.alpha.size());
  std::vector<std::int32_t> seeds;
  WorkPoll poll;
  for (std::int32_t w = 0; w < prior.added.rows(); ++w) {
    poll(std::size_t(k));
    const double *const row = prior.added.row(w);
    if (std::any_of(row, row + k, [](double x) { return x > 0; })) seeds.push_back(w);
  }
  return exchangeable_groups(k, [&](int i, int j) {
    if (alpha_given && prior.alpha[std::size_t(i)] != prior.alpha[std::size_t(j)]) return false;
    return std::all_of(seeds.begin(), seeds.end(), [&](std::int32_t w) {
      return prior.added.row(w)[i] == prior.added.row(w)[j];
    });
  });
}

/// Sums over draws, of one chain or of all.
struct TopicSums {
  std::int64_t draws = 0;
  /// of n_kw, and of the expected p(w | k) given the draw
  PaddedMatrix counts, probabilities;
  std::vector<double> alpha;
  double eta = 0;

  void begin(const PaddedMatrix &none) {
    counts = probabilities = none;
    alpha.assign(std::size_t(none.columns()), 0.0);
    eta = 0;
  }
  void add(TopicSums other) {
    if (other.draws == 0) return;
    if (draws == 0) {
      *this = std::move(other);
      return;
    }
    const auto sum = [](auto &to, const auto &from) {
      std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>());
    };
    sum(counts.values(), other.counts.values());
    sum(probabilities.values(), other.probabilities.values());
    sum(alpha, other.alpha);
    eta += other.eta;
    draws += other.draws;
  }
};

class SampledLda {
 public:
  SampledLda(Corpus &corpus, const LdaOptions &options, const LdaPrior &prior,
             const std::function<TopicStart(int)> &start, Control &control)
      : corpus_(corpus),
        options_(options),
        prior_(prior),
        start_(start),
        control_(control),
        index_(corpus, control),
        groups_(exchangeable_topics(prior_, options.alpha || options.learn_alpha == Learned::no)),
        numbers_(numbers_of_draw(corpus, options.k)),
        held_(held_topic_draws(options.chains, numbers_, control)),
        none_(corpus.totals().vocabulary, options.k),
        drawn_(options.drawn()) {}

  class Chain;

  /// Number of draws that are averaged. Matching and adding a draw costs much less than a sweep,
  /// unless there are few tokens compared with terms times topics.
  std::int64_t max_averaged() const {
    const auto all = options_.chains.all_stored();
    const double sweeps = 10 * std::max(1.0, corpus_.totals().tokens) / numbers_;
    return std::min(all, std::int64_t(std::max(500.0, std::min(1.0, sweeps) * double(all))));
  }

  /// Number of draws that are held complete.
  std::int64_t max_held() const { return held_; }

  void retain(std::span<const int> held) {
    bayes::retain(draws_, held);
    bayes::retain(draw_priors_, held);
  }

  void exchange(StateNumbers &numbers, int chain, std::int64_t kept, std::int64_t held) {
    if (kept > 0) {
      if (numbers.reads()) {
        numbers.require(2 * none_.values().size());
        of_chain_.begin(none_);
        of_chain_.draws = kept;
      }
      numbers.numbers(of_chain_.counts.values());
      numbers.numbers(of_chain_.probabilities.values());
      numbers.numbers(of_chain_.alpha);
      numbers.number(of_chain_.eta);
    }
    const std::size_t before = draws_.size() - (numbers.reads() ? 0 : std::size_t(held));
    for (std::size_t s = before; s < before + std::size_t(held); ++s) {
      if (numbers.reads()) {
        numbers.require(none_.values().size());
        draws_.push_back(none_);
        draw_priors_.push_back({std::vector<double>(std::size_t(options_.k)), 0, {}});
      }
      numbers.numbers(draws_[s].values());
      numbers.numbers(draw_priors_[s].alpha);
      numbers.number(draw_priors_[s].eta);
    }
    if (chain == 0) exchange(numbers, reference_);
  }
  void end_chain() { sums_.add(std::exchange(of_chain_, {})); }
  void exchange(StateNumbers &numbers, std::optional<ColumnMatcher> &matcher) const {
    bool is_set = matcher.has_value();
    numbers.flag(is_set);
    if (!is_set) return;
    if (numbers.reads()) matcher.emplace(none_);
    matcher->exchange(numbers);
  }

  SampledTopics result(const ChainRun &chains) {
    SampledTopics out;
    const double share = 1 / double(sums_.draws);
    for (double &x : sums_.counts.values()) x *= share;
    for (double &x : sums_.probabilities.values()) x *= share;
    for (double &a : sums_.alpha) a *= share;
    out.prior.alpha = std::move(sums_.alpha);
    out.prior.eta = sums_.eta * share;
    out.prior.added = prior_.added;
    out.counts = std::move(sums_.counts);
    out.probabilities = std::move(sums_.probabilities);
    const auto held = std::int64_t(draws_.size());
    for (const int s : draws_to_store(chains, held, numbers_ * double(held), control_)) {
      out.draws.push_back(std::move(draws_[std::size_t(s)]));
      out.draw_priors.push_back(std::move(draw_priors_[std::size_t(s)]));
    }
    return out;
  }

 private:
  /// Adds a draw of a chain. `order`: the number of each of its topics in the result.
  void add(const TopicChain &chain, const std::vector<int> &order) {
    const auto k = std::size_t(options_.k);
    if (of_chain_.draws++ == 0) of_chain_.begin(none_);
    std::vector<double> parts(k);
    for (std::size_t i = 0; i < k; ++i)
      parts[i] = 1 / (double(chain.totals[i]) + chain.prior_total(int(i)));
    WorkPoll poll;
    for (std::int32_t w = 0; w < chain.terms(); ++w) {
      poll(4 * k);
      const std::int32_t *const n = chain.counts.row(w);
      double *const to = of_chain_.counts.row(w), *const mean = of_chain_.probabilities.row(w);
      const double *const added = chain.added(w);
      for (std::size_t i = 0; i < k; ++i) {
        to[order[i]] += double(n[i]);
        mean[order[i]] += (double(n[i]) + chain.prior.eta + (added ? added[i] : 0)) * parts[i];
      }
    }
    const LdaPrior prior = in_order(chain.prior, order);
    for (std::size_t i = 0; i < k; ++i) of_chain_.alpha[i] += prior.alpha[i];
    of_chain_.eta += prior.eta;
  }

  /// Alpha and eta, with the topics in the order of the result.
  static LdaPrior in_order(const LdaPrior &prior, const std::vector<int> &order) {
    LdaPrior out{std::vector<double>(order.size()), prior.eta, {}};
    for (std::size_t i = 0; i < order.size(); ++i)
      out.alpha[std::size_t(order[i])] = prior.alpha[i];
    return out;
  }

  /// Holds the draw that was added last.
  void hold(const TopicChain &chain, const std::vector<int> &order) {
    PaddedMatrix draw(chain.terms(), options_.k);
    LdaPrior prior = in_order(chain.prior, order);
    WorkPoll poll;
    for (std::int32_t w = 0; w < chain.terms(); ++w) {
      poll(2 * order.size());
      const std::int32_t *const n = chain.counts.row(w);
      for (std::size_t i = 0; i < order.size(); ++i) draw.row(w)[order[i]] = double(n[i]);
    }
    draws_.push_back(std::move(draw));
    draw_priors_.push_back(std::move(prior));
  }

  Corpus &corpus_;
  const LdaOptions &options_;
  const LdaPrior &prior_;
  const std::function<TopicStart(int)> &start_;
  Control &control_;
  const TokenIndex index_;
  const ExchangeableGroups groups_;
  const double numbers_;
  const std::int64_t held_;
  const PaddedMatrix none_;  // zeros
  TopicSums of_chain_, sums_;
  const DrawnPrior drawn_;
  std::vector<PaddedMatrix> draws_;
  std::vector<LdaPrior> draw_priors_;
  /// the first draw after warmup
  std::optional<ColumnMatcher> reference_;
};

class SampledLda::Chain final : public ChainSampler {
 public:
  Chain(SampledLda &all, int number)
      : all_(all),
        chain_(all.corpus_, all.index_, all.prior_, all.options_.seed, number),
        sampler_(all.options_.method == Method::gibbs ? gibbs_topics(chain_)
                                                      : collapsed_topics(chain_)) {}

  double sweep(int index, Control &control) override {
    if (!std::exchange(begun_, true)) begin(control);
    sampler_->sweep(index, control);
    Random random(chain_.seed, std::uint64_t(chain_.number), std::uint64_t(index),
                  std::uint64_t(TopicStream::prior));
    draw_prior(chain_, all_.drawn_, random);
    chain_.score();
    return chain_.log_joint() + all_.drawn_.log_density(chain_.prior);
  }

  void begin(Control &control) {
    const TopicStart start = all_.start_(chain_.number);
    if (all_.drawn_.alpha) chain_.prior.alpha = start.alpha;
    if (all_.drawn_.eta) chain_.prior.eta = start.eta;
    begin_topics(chain_, &start.counts, control);
  }

  void record(std::vector<double> &values) const override {
    values.push_back(without_rounding_errors(chain_.log_likelihood()));
    values.push_back(without_rounding_errors(chain_.entropy()));
    values.push_back(std::accumulate(chain_.prior.alpha.begin(), chain_.prior.alpha.end(), 0.0));
    values.push_back(chain_.prior.eta);
  }

  void keep(double) override {
    order_ = no_exchange(chain_.topics());
    if (all_.groups_ != order_) {
      // The draws of a chain are matched with its own first draw, which they resemble most, and the
      // first draw with that of the first chain.
      QuietControl control(all_.control_);
      if (!own_) {
        own_.emplace(chain_.counts);
        own_order_ = order_;
        if (all_.reference_)
          own_order_ = all_.reference_->match(chain_.counts, all_.groups_, control);
        else
          all_.reference_ = own_;
      }
      order_ = own_->match(chain_.counts, all_.groups_, control);
      for (int &topic : order_) topic = own_order_[std::size_t(topic)];
    }
    all_.add(chain_, order_);
  }

  void store(double) override { all_.hold(chain_, order_); }

  void exchange_state(StateNumbers &numbers) override {
    const int k = chain_.topics();
    numbers.flag(begun_);
    if (!begun_) return;
    numbers.numbers(chain_.prior.alpha);
    numbers.number(chain_.prior.eta);
    const auto is_sound = [](double x) { return x > 0 && x < 1e100; };
    if (numbers.reads() &&
        !(is_sound(chain_.prior.eta) &&
          std::all_of(chain_.prior.alpha.begin(), chain_.prior.alpha.end(), is_sound)))
      refuse_checkpoint();
    numbers.labels(chain_.assigned, k - 1);
    if (numbers.reads()) count_topics(chain_);
    all_.exchange(numbers, own_);
    if (!own_) return;
    own_order_.resize(std::size_t(k));
    numbers.labels(own_order_, k - 1);
    std::vector<int> sorted = own_order_;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != no_exchange(k)) refuse_checkpoint();
  }

 private:
  SampledLda &all_;
  TopicChain chain_;
  const std::unique_ptr<TopicSampler> sampler_;
  bool begun_ = false;
  /// the chain's first draw after warmup, and the numbers of its topics in the result
  std::optional<ColumnMatcher> own_;
  std::vector<int> own_order_;
  /// of the last kept draw: the number of each topic in the result
  std::vector<int> order_;
};

}  // namespace

SampledTopics sample_topics(Corpus &corpus, const LdaOptions &options, const LdaPrior &prior,
                            const std::function<TopicStart(int)> &start, FitRun &run,
                            Control &control) {
  const double numbers = numbers_of_draw(corpus, options.k);
  require_tokens(corpus, options, numbers, control);
  run.set_weight(corpus.totals().tokens, corpus.totals().documents);
  SampledLda all(corpus, options, prior, start, control);
  ChainSettings settings{method_name(options.method).data(),
                         options.chains,
                         {"log_likelihood", "entropy", "alpha", "eta"},
                         all.max_held(),
                         "counts",
                         all.max_averaged()};
  settings.retain = [&all](std::span<const int>, std::span<const int> held) { all.retain(held); };
  settings.exchange = [&all](StateNumbers &numbers, int chain, std::int64_t kept,
                             std::int64_t held) { all.exchange(numbers, chain, kept, held); };
  settings.end_chain = [&all] { all.end_chain(); };
  settings.max_held_draws =
      held_for_extension(numbers, std::int64_t(control.memory / 4 / (8 * numbers)));
  ChainRun chains = run_chains(settings, control, [&](int chain) {
    return std::make_unique<SampledLda::Chain>(all, chain);
  });
  SampledTopics out = all.result(chains);
  run.take(std::move(chains));
  return out;
}

}  // namespace bayes
