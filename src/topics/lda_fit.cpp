// Fitting a topic model: the learner or sampler, and the fitted model.

#include "topics/lda_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "counts/column_matching.hpp"
#include "document/members.hpp"
#include "topics/lda_sampling.hpp"
#include "topics/lda_start.hpp"
#include "topics/lda_variational.hpp"

namespace bayes {
namespace {

constexpr double max_prior = 1e6;

[[noreturn]] void reject(const char *key, const Document &given, const std::string &must) {
  throw Error(Errc::invalid_argument,
              message("option \"prior.{}\" is {}, but must be {}", key, describe(given), must));
}

void read_alpha(const Document &given, LdaOptions &o) {
  const std::string must = message(
      "a number greater than 0, an array of {} of them, \"symmetric\" or \"asymmetric\"", o.k);
  o.alpha.reset();
  if (const auto *const name = given.as<std::string>()) {
    if (*name != "symmetric" && *name != "asymmetric") reject("alpha", given, must);
    o.learn_alpha = *name == "symmetric" ? Learned::symmetric : Learned::asymmetric;
    return;
  }
  if (const auto number = to_number(given, false))
    o.alpha = Tensor{{}, {*number}};
  else if (auto numbers = to_tensor(given, false))
    o.alpha = std::move(*numbers);
  if (!o.alpha || (!o.alpha->shape.empty() && o.alpha->shape != std::vector<std::int64_t>{o.k}))
    reject("alpha", given, must);
  for (const double a : o.alpha->values)
    if (!(a > 0 && a <= max_prior))
      throw Error(Errc::invalid_argument,
                  message("option \"prior.alpha\" contains {}, but must be greater than 0 and at "
                          "most {}",
                          describe(a), describe_number(max_prior)));
}

Document write_alpha(const LdaOptions &o) {
  if (!o.alpha) return o.learn_alpha == Learned::symmetric ? "symmetric" : "asymmetric";
  return o.alpha->shape.empty() ? Document(o.alpha->values[0]) : Document(*o.alpha);
}

void read_eta(const Document &given, LdaOptions &o) {
  o.eta.reset();
  if (const auto *const name = given.as<std::string>(); name && *name == "learned") return;
  const auto number = to_number(given, false);
  if (!number || !(*number > 0 && *number <= max_prior))
    reject("eta", given, "a number greater than 0, or \"learned\"");
  o.eta = *number;
}

/// Null, or as many objects {"term": pseudo-count, ...} as topics, some of them null.
void read_terms(const Document &given, LdaOptions &o) {
  const std::string must = message(
      "an array of {} objects {\"term\": pseudo-count, ...}, or null for a topic without", o.k);
  const auto *const list = given.as<Document::List>();
  if (!list || list->size() != std::size_t(o.k)) reject("terms", given, must);
  for (const Document &topic : *list) {
    if (topic.is_null()) continue;
    const auto *const object = topic.as<Document::Object>();
    if (!object) reject("terms", given, must);
    for (const auto &[term, value] : *object) {
      const auto count = to_number(value, false);
      if (!count || !(*count > 0 && *count <= 1e9))
        throw Error(Errc::invalid_argument,
                    message("option \"prior.terms\" has {} for term {} of topic {}, but "
                            "pseudo-counts must be greater than 0 and at most 1000000000",
                            describe(value), describe(term), 1 + (&topic - list->data())));
    }
  }
  o.terms = given;
}

void prior_lines(OptionTable &t, LdaOptions &o) {
  const bool topics = o.method != Method::em;  // topics of em have no prior
  t.other(
      {"alpha", "Dirichlet parameters of the proportions",
       "a number, k numbers, \"symmetric\" or \"asymmetric\""},
      [&](const Document &given) { read_alpha(given, o); }, [&] { return write_alpha(o); });
  t.other(
      {"eta", "Dirichlet parameter of the topics", "a number, or \"learned\""},
      [&](const Document &given) { read_eta(given, o); },
      [&] { return o.eta ? Document(*o.eta) : Document("learned"); }, topics);
  t.other(
      {"terms", "pseudo-counts of terms in topics", "an array of k objects"},
      [&](const Document &given) { read_terms(given, o); }, [&] { return o.terms; }, topics);
}

void read_prior(const Document &given, bool inherited, LdaOptions &o) {
  OptionTable t = OptionTable::reading(given, "prior.");
  prior_lines(t, o);
  if (!inherited) t.finish(o.setting());
}

Document write_prior(LdaOptions &o) {
  OptionTable t = OptionTable::writing();
  prior_lines(t, o);
  return t.document();
}

void read_vocabulary(const Document &given, LdaOptions &o) {
  const auto *const list = given.as<Document::List>();
  if (!list || list->empty() || list->size() > std::size_t(lda_max_terms))
    throw Error(Errc::invalid_argument,
                message("option \"vocabulary\" is {}, but must be an array of 1 to {} terms",
                        describe(given), lda_max_terms));
  for (const Document &each : *list) {
    const auto *const term = each.as<std::string>();
    if (!term)
      throw Error(
          Errc::invalid_argument,
          message("option \"vocabulary\" contains {}, but terms are strings", describe(each)));
    o.documents.vocabulary.push_back(*term);
  }
}

void lines(OptionTable &t, LdaOptions &o) {
  o.method_line(t, lda_methods);
  o.iteration_lines(t, 1000);
  o.chains.stored_line(t, o.sampled());
  o.restart_line(t, o.update || o.sampled());
  t.seed(seed_key, o.seed);
  time_lines(t, o);
  t.either(on_error_key, o.null_on_error, "error", "null");
  o.plan_lines(t);
  LdaRowOptions &rows = o.documents;
  t.integer({"min_documents", "terms in fewer documents are left out"}, rows.min_documents, 1,
            1000000000);
  t.number({"max_share", "terms in a larger share of the documents are left out"}, rows.max_share,
           above(0, 1));
  t.integer({"max_terms", "the most terms, the most frequent ones; 0: all"}, rows.max_terms, 0,
            lda_max_terms);
  t.other(
      {"vocabulary", "the terms; all others are left out", "an array of terms", "all terms"},
      [&](const Document &given) { read_vocabulary(given, o); },
      [&] {
        return rows.vocabulary.empty()
                   ? Document()
                   : Document(Document::List(rows.vocabulary.begin(), rows.vocabulary.end()));
      });
  o.prior_line(
      t, [&](const Document &given, bool inherited) { read_prior(given, inherited, o); },
      [&] { return write_prior(o); }, !o.update);
}

}  // namespace

LdaOptions read_lda_options(int k, const Document &options, const TopicModel *start, bool update) {
  require_components({&k, 1}, lda_max_topics);
  require_object(options, "{\"method\": \"svi\", \"seed\": 2}");
  LdaOptions out;
  out.k = k;
  if (start) out.inherit(start->info, update);
  out.restarts = 0;
  out.plan.batch_rows = 256;
  // Several chains tend to end in different modes; averaging over these would blur the topics.
  out.chains.chains = 1;
  out.chains.draws = 500;
  out.chains.warmup = 250;
  if (update && !is_variational(out.method))
    throw Error(Errc::invalid_argument,
                message("this model cannot be updated: it was fitted by method {}", out.method),
                "Only methods vi and svi leave a posterior that can be the prior of more "
                "documents.",
                "Fit with option method \"vi\" or \"svi\".");
  if (update) {
    // The prior is the posterior of the model, and is not learned.
    out.alpha = Tensor{{k}, start->alpha()};
    out.eta = start->eta();
  }
  OptionTable t = OptionTable::reading(options);
  lines(t, out);
  t.finish(out.setting());
  out.documents.whole_counts = out.sampled();
  return out;
}

Document LdaOptions::document() const {
  LdaOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  lines(t, in_force);
  return t.document();
}

DrawnPrior LdaOptions::drawn() const {
  return {!alpha && learn_alpha != Learned::no, learn_alpha == Learned::symmetric,
          !eta && learn_eta};
}

LdaRowOptions lda_check_options(int k, const Document &options, const TopicModel *start,
                                bool update) {
  return read_lda_options(start ? start->size() : k, options, start, update).documents;
}

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Passes after which the best of several runs can be chosen; and passes of a window in which the
/// remaining gain is predicted, since documents restart in cycles of this length
/// (topics/lda_variational.cpp).
constexpr int short_run_passes = 30, window_passes = 8;

/// The tolerance is for the objective per token.
FitPlan plan_of(const LdaOptions &options, double tokens) {
  FitPlan out(options);
  out.tolerance *= tokens;
  out.brief_iterations = short_run_passes;
  out.gain_window = window_passes;
  return out;
}

/// Sets the number of restarts. Most of the work of a restart is the short chain that finds its
/// initial topics. The objective of svi is too noisy to stop bad restarts early.
LdaOptions with_restarts(LdaOptions options, const Corpus &corpus) {
  constexpr int max_restarts = 10;
  const CorpusTotals &totals = corpus.totals();
  const double passes = double(totals.entries) * options.k * short_run_passes;
  options.settle_restarts({passes + effort_of_start(totals, options.k), 1}, 1,
                          options.stochastic() ? 1 : max_restarts);
  return options;
}

PaddedMatrix reordered(const PaddedMatrix &from, const std::vector<int> &order) {
  PaddedMatrix out(from.rows(), from.columns());
  each_row(from, [&](std::int32_t w) {
    for (std::size_t k = 0; k < order.size(); ++k) out.row(w)[k] = from.row(w)[order[k]];
  });
  return out;
}

std::vector<double> reordered(const std::vector<double> &from, const std::vector<int> &order) {
  std::vector<double> out(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) out[k] = from[std::size_t(order[k])];
  return out;
}

void require_room(const Corpus &corpus, const LdaOptions &options, std::int32_t terms,
                  const Control &control) {
  const std::string what = message("{} topics of {} terms", options.k, terms);
  require_model_size(what, double(options.k) * terms,
                     "Use a smaller k, or fewer terms: options min_documents, max_terms.");
  if (options.sampled()) return;
  const bool batch = !options.stochastic(), collapsed = options.method == Method::cvb0;
  require_memory(
      {.what = what,
       .bytes = 8 * topic_run_doubles(corpus, options, control),
       .data = "documents",
       .detail =
           collapsed
               ? message(
                     "The memory needed includes 4 bytes for each topic and each of {} pairs of a "
                     "document and a term of it.",
                     corpus.totals().entries)
           : batch ? "The memory needed includes 8 bytes for each document and topic."
                   : "",
       .hint = message("or use {}a smaller k, or fewer terms: options min_documents, max_terms.",
                       collapsed ? "method vi, svi or collapsed, "
                       : batch   ? "method svi, "
                                 : "")},
      control);
}

class TopicFit {
 public:
  TopicFit(Corpus &corpus, std::vector<std::string> terms, LdaOptions options,
           const TopicModel *start, Control &control)
      : corpus_(corpus),
        terms_(std::move(terms)),
        options_(std::move(options)),
        start_model_(start),
        control_(control),
        k_(options_.k),
        v_(std::int32_t(terms_.size())),
        start_(corpus, terms_, options_, start, control),
        run_(*model_, plan_of(options_, corpus.totals().tokens), control) {}

  std::unique_ptr<TopicModel> run() {
    options_.sampled() ? sample() : fit();
    order();
    const CorpusTotals &totals = corpus_.totals();
    run_.describe(totals.documents, totals.skipped, int(v_), k_, options_.document());
    model_->state->terms = std::move(terms_);
    return std::move(model_);
  }

 private:
  void fit() {
    TopicRun best = run_.best_of_restarts(
        corpus_,
        [&](int restart) {
          // The search for starting topics takes long.
          TopicStart start =
              run_.continues()
                  ? TopicStart{PaddedMatrix(v_, k_), std::vector<double>(std::size_t(k_), 1.0), 1}
                  : start_.initial_topics(restart);
          TopicState state;
          state.counts = std::move(start.counts);
          state.alpha = std::move(start.alpha);
          state.eta = start.eta;
          return state;
        },
        [&](TopicState state, Corpus &) {
          const TopicTask task{corpus_, options_, start_.prior().added,
                               start_.is_from_model(run_.schedule().restart)};
          return run_topics(task, std::move(state), run_.schedule(), control_);
        });
    TopicState &state = best.state;
    FittedTopics &fitted = model_->state->fitted;
    fitted.alpha = std::move(state.alpha);
    fitted.numbers = std::move(state.counts);
    if (options_.method != Method::em) {
      fitted.eta = state.eta;
      each_row(fitted.numbers, [&](std::int32_t w) {
        for (int k = 0; k < k_; ++k)
          fitted.numbers.row(w)[k] +=
              fitted.eta + (start_.prior().added.rows() ? start_.prior().added.row(w)[k] : 0.0);
      });
    }
    fitted.sum_up();
    set_weights(std::move(state.tokens));
    if (options_.method == Method::em) {
      model_->state->tokens = corpus_.totals().tokens;
      model_->info.log_likelihood = model_->info.objective;
    } else {
      set_log_likelihood(state.documents);
    }
  }

  void set_log_likelihood(const DocumentNumbers &documents) {
    const FittedTopics &fitted = model_->state->fitted;
    PaddedMatrix means(v_, k_);
    each_row(means, [&](std::int32_t w) {
      const double *const from = fitted.numbers.row(w);
      for (int k = 0; k < k_; ++k) means.row(w)[k] = from[k] / fitted.totals[std::size_t(k)];
    });
    model_->info.log_likelihood =
        topics_log_likelihood(corpus_, means, fitted.alpha, documents, control_);
  }

  void sample() {
    SampledTopics found = sample_topics(
        corpus_, options_, start_.prior(), [&](int chain) { return start_.initial_topics(chain); },
        run_, control_);
    TopicModel::State &state = *model_->state;
    std::vector<double> tokens(std::size_t(k_), 0.0);
    each_row(found.counts, [&](std::int32_t w) {
      for (int k = 0; k < k_; ++k) tokens[std::size_t(k)] += found.counts.row(w)[k];
    });
    state.fitted = posterior_mean(std::move(found.probabilities), tokens, found.prior);
    set_weights(std::move(tokens));
    for (std::size_t s = 0; s < found.draws.size(); ++s)
      state.draws.push_back(with_prior(std::move(found.draws[s]), found.draw_priors[s]));
    model_->info.log_likelihood = none;
  }

  /// The averages of p(term | topic) over all draws, scaled to a Dirichlet distribution with this
  /// number of tokens.
  static FittedTopics posterior_mean(PaddedMatrix probabilities, const std::vector<double> &tokens,
                                     const LdaPrior &prior) {
    FittedTopics out;
    std::vector<double> totals = tokens;
    for (std::size_t k = 0; k < totals.size(); ++k) totals[k] += prior.eta * probabilities.rows();
    if (prior.added.rows())
      each_row(prior.added, [&](std::int32_t w) {
        for (std::size_t k = 0; k < totals.size(); ++k) totals[k] += prior.added.row(w)[k];
      });
    out.numbers = std::move(probabilities);
    each_row(out.numbers, [&](std::int32_t w) {
      for (std::size_t k = 0; k < totals.size(); ++k) out.numbers.row(w)[k] *= totals[k];
    });
    out.alpha = prior.alpha;
    out.eta = prior.eta;
    out.sum_up();
    return out;
  }

  static FittedTopics with_prior(PaddedMatrix counts, const LdaPrior &prior) {
    FittedTopics out;
    out.numbers = std::move(counts);
    each_row(out.numbers, [&](std::int32_t w) {
      for (int k = 0; k < out.numbers.columns(); ++k)
        out.numbers.row(w)[k] += prior.eta + (prior.added.rows() ? prior.added.row(w)[k] : 0.0);
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

  /// Converts `numbers` to the proportion of all tokens that have each term and topic.
  PaddedMatrix joint_proportions(PaddedMatrix numbers, const std::vector<double> &totals,
                                 const std::vector<double> &weights) const {
    std::vector<double> factors(std::size_t(k_), 0.0);
    for (std::size_t k = 0; k < factors.size(); ++k) factors[k] = weights[k] / totals[k];
    each_row(numbers, [&](std::int32_t w) {
      for (std::size_t k = 0; k < factors.size(); ++k) numbers.row(w)[k] *= factors[k];
    });
    return numbers;
  }

  /// For each topic of the start model the fitted topic that matches it.
  std::vector<int> order_of_start_model() const {
    const TopicModel::State &found = *model_->state;
    return ColumnMatcher(
               joint_proportions(found.fitted.numbers, found.fitted.totals, found.weights))
        .match(joint_proportions(start_.model_numbers(), start_model_->state->fitted.totals,
                                 start_model_->weights()),
               control_);
  }

  /// Orders topics by descending weight, unless their numbering is fixed by a prior or a start
  /// model. The run that began at the start model already has its numbering.
  void order() {
    if (!options_.terms.is_null() || (options_.alpha && !options_.alpha->shape.empty())) return;
    if (start_model_ && run_.best_restart() == 1) return;
    TopicModel::State &state = *model_->state;
    std::vector<int> order(static_cast<std::size_t>(k_));
    std::iota(order.begin(), order.end(), 0);
    if (start_model_)
      order = order_of_start_model();
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
  std::vector<std::string> terms_;
  const LdaOptions options_;
  const TopicModel *const start_model_;
  Control &control_;
  const int k_;
  const std::int32_t v_;
  const LdaStart start_;
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
  LdaOptions resolved = with_restarts(std::move(read), corpus);
  require_room(corpus, resolved, std::int32_t(terms.size()), control);
  return TopicFit(corpus, std::move(terms), std::move(resolved), start, control).run();
}

// Serialisation of topic models; every number is checked on reading.

namespace {

constexpr double max_parameter = 1e15;
/// parameters of topics: several documents may have a count of 1e15
constexpr double max_topic_parameter = 1e18;

Tensor by_topic(const PaddedMatrix &numbers) {
  Tensor out{{numbers.columns(), numbers.rows()}, {}};
  out.values.reserve(std::size_t(numbers.columns()) * std::size_t(numbers.rows()));
  for (int k = 0; k < numbers.columns(); ++k) {
    poll_here();
    for (std::int32_t w = 0; w < numbers.rows(); ++w) out.values.push_back(numbers.row(w)[k]);
  }
  return out;
}

PaddedMatrix by_term(std::span<const double> values, std::int32_t terms, int topics) {
  PaddedMatrix out(terms, topics);
  for (int k = 0; k < topics; ++k) {
    poll_here();
    for (std::int32_t w = 0; w < terms; ++w)
      out.row(w)[k] = values[std::size_t(k) * std::size_t(terms) + std::size_t(w)];
  }
  return out;
}

void require_positive(const MemberReader &in, const char *key, std::span<const double> values,
                      double max = max_parameter) {
  for (const double x : values)
    if (!(x > 0 && x <= max))
      in.reject(key, message("contains {}, but its numbers must be greater than 0 and at most {}",
                             describe(x), describe_number(max)));
}

/// Requires probabilities: not negative, with a sum of 1 for each topic.
void require_probabilities(const MemberReader &in, const char *key, const FittedTopics &topics) {
  for (const double x : topics.numbers.values())
    if (!(x >= 0)) in.reject(key, "must not be negative");
  for (const double sum : topics.totals)
    if (!(std::abs(sum - 1) < 1e-9)) in.reject(key, "must have topics that sum to 1");
}

/// Terms, in the order of their bytes.
std::vector<std::string> read_terms(const MemberReader &in, int count) {
  std::vector<std::string> out = in.rising_texts("terms", "term");
  if (out.size() != std::size_t(count))
    in.reject("terms", message("must be an array of {} terms", count));
  return out;
}

void write_draws(Document &document, const std::vector<FittedTopics> &draws) {
  const std::int64_t count = std::int64_t(draws.size()), k = draws[0].numbers.columns(),
                     v = draws[0].numbers.rows();
  Tensor topics{{count, k, v}, {}}, alpha{{count, k}, {}}, eta{{count}, {}};
  for (const FittedTopics &draw : draws) {
    const Tensor numbers = by_topic(draw.numbers);
    topics.values.insert(topics.values.end(), numbers.values.begin(), numbers.values.end());
    alpha.values.insert(alpha.values.end(), draw.alpha.begin(), draw.alpha.end());
    eta.values.push_back(draw.eta);
  }
  document.set("draws_of_topics", Document::object()
                                      .set("topics", std::move(topics))
                                      .set("alpha", std::move(alpha))
                                      .set("eta", std::move(eta)));
}

std::vector<FittedTopics> read_topic_draws(const MemberReader &in, std::int32_t v, int k) {
  const Tensor eta = in.tensor("eta", {-1});
  const std::int64_t count = eta.shape[0];
  if (count == 0) in.reject("eta", "must not be empty");
  const Tensor topics = in.tensor("topics", {count, k, v}), alpha = in.tensor("alpha", {count, k});
  require_positive(in, "topics", topics.values, max_topic_parameter);
  require_positive(in, "alpha", alpha.values);
  require_positive(in, "eta", eta.values);
  std::vector<FittedTopics> out(static_cast<std::size_t>(count));
  const std::size_t each = std::size_t(k) * std::size_t(v);
  for (std::size_t s = 0; s < out.size(); ++s) {
    out[s].numbers = by_term({topics.values.data() + s * each, each}, v, k);
    out[s].sum_up();
    out[s].alpha.assign(alpha.values.begin() + std::ptrdiff_t(s) * k,
                        alpha.values.begin() + std::ptrdiff_t(s + 1) * k);
    out[s].eta = eta.values[s];
  }
  return out;
}

}  // namespace

void TopicModel::write(Document &document) const {
  const State &s = *state;
  const std::int64_t k = s.fitted.numbers.columns();
  document.set("terms", Document::List(s.terms.begin(), s.terms.end()))
      .set("weights", Tensor{{k}, s.weights})
      .set("alpha", Tensor{{k}, s.fitted.alpha})
      .set("topics", by_topic(s.fitted.numbers));
  if (info.method != Method::em)
    document.set("eta", s.fitted.eta);
  else if (s.tokens > 0)
    document.set("tokens", s.tokens);
  if (!s.draws.empty()) write_draws(document, s.draws);
}

std::unique_ptr<Model> read_topic_model(const Document &document) {
  auto model = std::make_unique<TopicModel>();
  const MemberReader in(document);
  const ModelInfo &info = model->info =
      read_model_info(document, lda_methods, lda_max_terms, lda_max_topics);
  const int k = info.components, v = info.dimension;
  TopicModel::State &state = *model->state;
  const bool point = info.method == Method::em, sampled = is_sampler(info.method);
  state.terms = read_terms(in, v);
  state.weights = in.tensor("weights", {k}).values;
  double sum = 0;
  for (const double w : state.weights) {
    if (!(w >= 0)) in.reject("weights", "must not be negative");
    sum += w;
  }
  if (!(std::abs(sum - 1) < 1e-9)) in.reject("weights", "must sum to 1");
  state.fitted.alpha = in.tensor("alpha", {k}).values;
  require_positive(in, "alpha", state.fitted.alpha);
  const Tensor topics = in.tensor("topics", {k, v});
  state.fitted.numbers = by_term(topics.values, v, k);
  state.fitted.sum_up();
  if (point) {
    require_probabilities(in, "topics", state.fitted);
    if (in.has("tokens")) state.tokens = in.number("tokens", 0, max_topic_parameter, true);
  } else {
    require_positive(in, "topics", topics.values, max_topic_parameter);
    state.fitted.eta = in.number("eta", 0, max_parameter, true);
  }
  if (sampled && in.has("draws_of_topics"))
    state.draws = read_topic_draws(in.object("draws_of_topics"), v, k);
  return model;
}

}  // namespace bayes
