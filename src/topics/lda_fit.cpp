// Fitting a topic model: prior, start, learner or sampler, and the fitted model.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "topics/lda_options.hpp"
#include "topics/lda_sampling.hpp"
#include "topics/lda_state.hpp"
#include "topics/lda_variational.hpp"
#include "topics/topic_matching.hpp"
#include "topics/topic_starts.hpp"

namespace bayes {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// After so many passes the best of several runs can be told; those on which the gain to come is
/// judged together: documents are doubted in turns of as many (topics/lda_variational.cpp).
constexpr int brief_passes = 30, passes_of_window = 8;

/// The tolerance is for the objective of a token.
FitPlan plan_of(const LdaOptions &options, double tokens) {
  FitPlan out(options);
  out.tolerance *= tokens;
  out.brief_iterations = brief_passes;
  out.gain_window = passes_of_window;
  return out;
}

/// The work of a restart is mostly that of the short chain where it begins. Steps of svi are too
/// noisy to be left early.
LdaOptions settled(LdaOptions options, const Corpus &corpus) {
  constexpr int max_restarts = 10;
  const CorpusTotals &totals = corpus.totals();
  const double passes = double(totals.entries) * options.k * brief_passes;
  options.settle_restarts({passes + effort_of_start(totals, options.k), 1}, 1,
                          options.stochastic() ? 1 : max_restarts);
  return options;
}

/// f(w) for all terms, with polls for so many topics each.
template <class F> void each_term(const TermTopics &of, F f) {
  WorkPoll poll;
  for (std::int32_t w = 0; w < of.terms(); ++w) {
    f(w);
    poll(2 * std::size_t(of.topics()));
  }
}

TermTopics reordered(const TermTopics &from, const std::vector<int> &order) {
  TermTopics out(from.terms(), from.topics());
  each_term(from, [&](std::int32_t w) {
    for (std::size_t k = 0; k < order.size(); ++k) out.of(w)[k] = from.of(w)[order[k]];
  });
  return out;
}

std::vector<double> reordered(const std::vector<double> &from, const std::vector<int> &order) {
  std::vector<double> out(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) out[k] = from[std::size_t(order[k])];
  return out;
}

class TopicFit {
 public:
  TopicFit(Corpus &corpus, std::vector<std::string> terms, LdaOptions options,
           const TopicModel *start, Control &control)
      : corpus_(corpus),
        options_(settled(std::move(options), corpus)),
        start_(start),
        control_(control),
        k_(options_.k),
        v_(std::int32_t(terms.size())),
        run_(*model_, plan_of(options_, corpus.totals().tokens), control) {
    model_->state->terms = std::move(terms);
    check_size();
    find_prior();
  }

  std::unique_ptr<TopicModel> run() {
    options_.sampled() ? sample() : fit();
    order();
    const CorpusTotals &totals = corpus_.totals();
    run_.describe(totals.documents, totals.skipped, int(v_), k_, options_.document());
    return std::move(model_);
  }

 private:
  const std::vector<std::string> &terms() const { return model_->state->terms; }

  void check_size() const {
    const std::string what = message("{} topics of {} terms", k_, v_);
    require_model_size(what, double(k_) * v_,
                       "Use a smaller k, or fewer terms: options min_documents, max_terms.");
    if (options_.sampled()) return;
    const bool batch = !options_.stochastic(), collapsed = options_.method == "cvb0";
    require_memory(
        {.what = what,
         .bytes = 8 * topic_run_doubles(corpus_, options_, control_),
         .data = "documents",
         .detail = collapsed
                       ? message("Of them, 4 bytes for each of {} distinct terms of the documents, "
                                 "and each topic.",
                                 corpus_.totals().entries)
                   : batch ? "Of them, 8 bytes for each document and topic."
                           : "",
         .hint = message("or use {}a smaller k, or fewer terms: options min_documents, max_terms.",
                         collapsed ? "method vi, svi or collapsed, "
                         : batch   ? "method svi, "
                                   : "")},
        control_);
  }

  /// Given parameters of the prior hold in every run.
  void take_given(LdaPrior &prior) const {
    if (options_.alpha)
      prior.alpha = options_.alpha->shape.empty()
                        ? std::vector<double>(std::size_t(k_), options_.alpha->values[0])
                        : options_.alpha->values;
    if (options_.eta) prior.eta = *options_.eta;
  }

  void find_prior() {
    // Where they are learned, what learning begins with: documents of many topics, topics of few
    // terms. From documents of few topics, what topics have in common would be learned to stay.
    prior_.alpha = std::vector<double>(std::size_t(k_), std::min(0.5, 25.0 / k_));
    prior_.eta = 0.02;
    take_given(prior_);
    fresh_ = {prior_.alpha, prior_.eta, {}};
    if (start_) {
      prior_.alpha = start_->alpha();
      if (start_->eta() > 0) prior_.eta = start_->eta();
    }
    take_given(prior_);
    if (options_.update) {
      prior_.added = numbers_of_start();
      // at least 0, whatever was rounded
      each_term(prior_.added, [&](std::int32_t w) {
        for (int k = 0; k < k_; ++k)
          prior_.added.of(w)[k] = std::max(0.0, prior_.added.of(w)[k] - prior_.eta);
      });
    } else if (const auto *const seeds = options_.terms.as<Document::List>()) {
      prior_.added = TermTopics(v_, k_);
      for (int k = 0; k < k_; ++k)
        if (const auto *const topic = (*seeds)[std::size_t(k)].as<Document::Object>())
          for (const auto &[term, count] : *topic) {
            const auto at = std::lower_bound(terms().begin(), terms().end(), term);
            if (at == terms().end() || *at != term)
              throw Error(Errc::invalid_argument,
                          message("option \"prior.terms\" names {}, which is no term of the "
                                  "documents",
                                  describe(term)),
                          "Terms are as the documents have them, in a tsvector without endings.");
            prior_.added.of(std::int32_t(at - terms().begin()))[k] += *to_number(count, false);
          }
    }
  }

  /// What the start model stores of the terms; 0 for those that it does not know.
  TermTopics numbers_of_start() const {
    TermTopics out(v_, k_);
    each_term(out, [&](std::int32_t w) {
      if (const std::int32_t from = start_->code(terms()[std::size_t(w)]); from >= 0)
        std::copy_n(start_->state->fitted.numbers.of(from), k_, out.of(w));
    });
    return out;
  }

  /// Seeded topics begin where seeds would otherwise hardly bring them: as those of the topics
  /// found that have most of their seeds, and with all tokens of these terms.
  void plant_seeds(TopicStart &start) const {
    TermTopics &counts = start.counts;
    std::vector<std::int32_t> seeds;
    std::vector<bool> seeded(std::size_t(k_), false);
    each_term(prior_.added, [&](std::int32_t w) {
      const double *const added = prior_.added.of(w);
      if (std::any_of(added, added + k_, [](double x) { return x > 0; })) seeds.push_back(w);
      for (int k = 0; k < k_; ++k) seeded[std::size_t(k)] = seeded[std::size_t(k)] || added[k] > 0;
    });
    std::vector<bool> placed(std::size_t(k_), false);
    std::vector<double> share(std::size_t(k_), 0.0);
    for (int k = 0; k < k_; ++k) {
      if (!seeded[std::size_t(k)]) continue;
      poll_here();
      std::fill(share.begin(), share.end(), 0.0);
      for (const std::int32_t w : seeds) {
        const double *const row = counts.of(w);
        const double all = std::accumulate(row, row + k_, 0.0), weight = prior_.added.of(w)[k];
        for (int j = 0; all > 0 && j < k_; ++j) share[std::size_t(j)] += weight * row[j] / all;
      }
      int best = k;
      for (int j = 0; j < k_; ++j)
        if (!placed[std::size_t(j)] && share[std::size_t(j)] > share[std::size_t(best)]) best = j;
      placed[std::size_t(k)] = true;
      for (std::int32_t w = 0; best != k && w < v_; ++w)
        std::swap(counts.of(w)[k], counts.of(w)[best]);
      if (!options_.alpha) std::swap(start.alpha[std::size_t(k)], start.alpha[std::size_t(best)]);
    }
    for (const std::int32_t w : seeds) {
      double *const row = counts.of(w);
      const double *const added = prior_.added.of(w);
      const double all = std::accumulate(row, row + k_, 0.0),
                   sum = std::accumulate(added, added + k_, 0.0);
      for (int k = 0; k < k_; ++k) row[k] = all * added[k] / sum;
    }
  }

  /// Of restarts the first one does, of chains all.
  bool begins_at_model(int number) const { return start_ && (number == 1 || options_.sampled()); }

  /// Where a restart or a chain begins.
  TopicStart first_topics(int number) const {
    if (begins_at_model(number)) return topics_of_start();
    TopicStart out =
        starting_topics(corpus_, {fresh_.alpha, fresh_.eta, {}}, options_.drawn(), options_.seed,
                        number - (start_ ? 1 : 0), run_.schedule(), control_);
    if (prior_.added.terms()) plant_seeds(out);
    if (!options_.sampled() && options_.method != "cvb0") mix(out);
    return out;
  }

  /// A term that a topic has not begun with would hardly come into it, at all with method em: so
  /// topics begin with a little of all terms.
  void mix(TopicStart &start) const {
    constexpr double share = 0.1;
    const std::size_t topics = std::size_t(k_);
    std::vector<double> totals(topics, 0.0);
    WorkPoll poll;
    for (std::int32_t w = 0; w < v_; ++w) {
      poll(2 * topics);
      for (std::size_t k = 0; k < topics; ++k) totals[k] += start.counts.of(w)[k] + start.eta;
    }
    const double all = std::accumulate(totals.begin(), totals.end(), 0.0);
    for (std::int32_t w = 0; w < v_; ++w) {
      poll(4 * topics);
      double *const row = start.counts.of(w);
      const double tokens = std::accumulate(row, row + k_, double(k_) * start.eta);
      for (std::size_t k = 0; k < topics; ++k)
        row[k] = (1 - share) * row[k] + share * tokens * totals[k] / all;
    }
  }

  TopicStart topics_of_start() const {
    // In an update the posterior is the prior.
    TopicStart out{options_.update ? TermTopics(v_, k_) : numbers_of_start(), prior_.alpha,
                   prior_.eta};
    if (options_.update) return out;
    const bool from_point = start_->info.method == "em", to_point = options_.method == "em";
    const std::vector<double> &totals = start_->state->fitted.totals;
    for (int k = 0; k < k_; ++k) {
      poll_here();
      // Terms that are new have the prior; of point estimates the average of all.
      const double scale = to_point ? 1 / totals[std::size_t(k)]
                           : from_point
                               ? corpus_.totals().tokens * start_->weights()[std::size_t(k)]
                               : 1;
      double sum = 0;
      for (std::int32_t w = 0; w < v_; ++w) {
        double &x = out.counts.of(w)[k];
        const bool known = x > 0;
        x *= scale;
        if (to_point)
          sum += x = known ? x : 1.0 / v_;
        else
          x = known && !from_point ? x - prior_.eta : x;
      }
      for (std::int32_t w = 0; to_point && w < v_; ++w) out.counts.of(w)[k] /= sum;
    }
    return out;
  }

  void fit() {
    TopicRun best = run_.best_of_restarts(
        corpus_,
        [&](int restart) {
          TopicStart start = first_topics(restart);
          TopicState state;
          state.counts = std::move(start.counts);
          state.alpha = std::move(start.alpha);
          state.eta = start.eta;
          return state;
        },
        [&](TopicState state, Corpus &) {
          const TopicTask task{corpus_, options_, prior_.added,
                               begins_at_model(run_.schedule().restart)};
          return run_topics(task, std::move(state), run_.schedule(), control_);
        });
    TopicState &state = best.state;
    FittedTopics &fitted = model_->state->fitted;
    fitted.alpha = std::move(state.alpha);
    fitted.numbers = std::move(state.counts);
    if (options_.method != "em") {
      fitted.eta = state.eta;
      each_term(fitted.numbers, [&](std::int32_t w) {
        for (int k = 0; k < k_; ++k)
          fitted.numbers.of(w)[k] +=
              fitted.eta + (prior_.added.terms() ? prior_.added.of(w)[k] : 0.0);
      });
    }
    fitted.sum_up();
    set_weights(std::move(state.tokens));
    if (options_.method == "em") {
      model_->state->tokens = corpus_.totals().tokens;
      model_->info.log_likelihood = model_->info.objective;
    } else {
      set_log_likelihood(state.documents);
    }
  }

  void set_log_likelihood(const Buffer &documents) {
    const FittedTopics &fitted = model_->state->fitted;
    TermTopics means(v_, k_);
    each_term(means, [&](std::int32_t w) {
      const double *const from = fitted.numbers.of(w);
      for (int k = 0; k < k_; ++k) means.of(w)[k] = from[k] / fitted.totals[std::size_t(k)];
    });
    model_->info.log_likelihood =
        topics_log_likelihood(corpus_, means, fitted.alpha, documents, control_);
  }

  void sample() {
    SampledTopics found = sample_topics(
        corpus_, options_, prior_, [&](int chain) { return first_topics(chain); }, run_, control_);
    TopicModel::State &state = *model_->state;
    std::vector<double> tokens(std::size_t(k_), 0.0);
    each_term(found.counts, [&](std::int32_t w) {
      for (int k = 0; k < k_; ++k) tokens[std::size_t(k)] += found.counts.of(w)[k];
    });
    state.fitted = mean_of(std::move(found.probabilities), tokens, found.prior);
    set_weights(std::move(tokens));
    for (std::size_t s = 0; s < found.draws.size(); ++s)
      state.draws.push_back(fitted_of(std::move(found.draws[s]), found.draw_priors[s]));
    model_->info.log_likelihood = none;
  }

  /// The averages of p(term | topic) over all draws, as of a Dirichlet with so many tokens.
  static FittedTopics mean_of(TermTopics probabilities, const std::vector<double> &tokens,
                              const LdaPrior &prior) {
    FittedTopics out;
    std::vector<double> totals = tokens;
    for (std::size_t k = 0; k < totals.size(); ++k) totals[k] += prior.eta * probabilities.terms();
    if (prior.added.terms())
      each_term(prior.added, [&](std::int32_t w) {
        for (std::size_t k = 0; k < totals.size(); ++k) totals[k] += prior.added.of(w)[k];
      });
    out.numbers = std::move(probabilities);
    each_term(out.numbers, [&](std::int32_t w) {
      for (std::size_t k = 0; k < totals.size(); ++k) out.numbers.of(w)[k] *= totals[k];
    });
    out.alpha = prior.alpha;
    out.eta = prior.eta;
    out.sum_up();
    return out;
  }

  static FittedTopics fitted_of(TermTopics counts, const LdaPrior &prior) {
    FittedTopics out;
    out.numbers = std::move(counts);
    each_term(out.numbers, [&](std::int32_t w) {
      for (int k = 0; k < out.numbers.topics(); ++k)
        out.numbers.of(w)[k] += prior.eta + (prior.added.terms() ? prior.added.of(w)[k] : 0.0);
    });
    out.alpha = prior.alpha;
    out.eta = prior.eta;
    out.sum_up();
    return out;
  }

  void set_weights(std::vector<double> tokens) {
    double sum = 0;
    for (double &x : tokens) sum += x = std::max(x, 0.0);
    for (double &x : tokens) x = sum > 0 ? x / sum : 1.0 / k_;
    model_->state->weights = std::move(tokens);
  }

  /// The topics' shares of all tokens, term by term: `numbers` become that.
  TermTopics shares(TermTopics numbers, const std::vector<double> &totals,
                    const std::vector<double> &weights) const {
    std::vector<double> factors(std::size_t(k_), 0.0);
    for (std::size_t k = 0; k < factors.size(); ++k) factors[k] = weights[k] / totals[k];
    each_term(numbers, [&](std::int32_t w) {
      for (std::size_t k = 0; k < factors.size(); ++k) numbers.of(w)[k] *= factors[k];
    });
    return numbers;
  }

  /// Which topic has the place of each of the start model's: the one that shares its terms.
  std::vector<int> order_of_start() const {
    const TopicModel::State &found = *model_->state;
    return TopicReference(shares(found.fitted.numbers, found.fitted.totals, found.weights))
        .names_of(shares(numbers_of_start(), start_->state->fitted.totals, start_->weights()),
                  control_);
  }

  /// By descending weight, unless somebody has named the topics: a prior, or a start model, whose
  /// own run keeps its numbers.
  void order() {
    if (!options_.terms.is_null() || (options_.alpha && !options_.alpha->shape.empty())) return;
    if (start_ && run_.winner() == 1) return;
    TopicModel::State &state = *model_->state;
    std::vector<int> order(static_cast<std::size_t>(k_));
    std::iota(order.begin(), order.end(), 0);
    if (start_)
      order = order_of_start();
    else
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return state.weights[std::size_t(a)] > state.weights[std::size_t(b)];
      });
    state.weights = reordered(state.weights, order);
    const auto reorder = [&](FittedTopics &topics) {
      topics.numbers = reordered(topics.numbers, order);
      topics.totals = reordered(topics.totals, order);
      topics.alpha = reordered(topics.alpha, order);
    };
    reorder(state.fitted);
    for (FittedTopics &draw : state.draws) reorder(draw);
  }

  Corpus &corpus_;
  LdaOptions options_;
  const TopicModel *const start_;
  Control &control_;
  const int k_;
  const std::int32_t v_;
  LdaPrior prior_;
  /// what learning begins with in a run that does not begin at the start model
  LdaPrior fresh_;
  std::unique_ptr<TopicModel> model_ = std::make_unique<TopicModel>();
  FitRun run_;
};

}  // namespace

std::unique_ptr<TopicModel> lda_fit(Corpus &corpus, std::vector<std::string> terms, int k,
                                    const Document &options, const TopicModel *start, bool update,
                                    Control &control) {
  const PollScope scope(control);
  LdaOptions read = read_lda_options(start ? start->size() : k, options, start, update);
  const CorpusTotals &totals = corpus.totals();
  if (totals.documents == 0) throw Error(Errc::invalid_argument, "there are no documents to fit");
  if (terms.empty())
    throw Error(
        Errc::invalid_argument, "there are no terms to fit", "No document has any.",
        "If options min_documents, max_share or vocabulary leave out too many, change them.");
  if (terms.size() > std::size_t(lda_max_terms))
    throw Error(Errc::too_large,
                message("the documents have {} terms, but a topic model takes at most {}",
                        terms.size(), lda_max_terms),
                {}, "Leave out rare terms: options min_documents, max_terms.");
  if (terms.size() != std::size_t(totals.vocabulary))
    throw Error(Errc::internal, "terms are not those of the corpus");
  return TopicFit(corpus, std::move(terms), std::move(read), start, control).run();
}

}  // namespace bayes
