#include "topics/lda_start.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "topics/lda_state.hpp"
#include "topics/topic_chain.hpp"

namespace bayes {

LdaStart::LdaStart(Corpus &corpus, const std::vector<std::string> &terms, const LdaOptions &options,
                   const TopicModel *model, Control &control)
    : corpus_(corpus),
      terms_(terms),
      options_(options),
      model_(model),
      control_(control),
      k_(options.k),
      v_(std::int32_t(terms.size())) {
  // Learning begins with documents of many topics, and topics of few terms. If documents began with
  // few topics, terms that all topics have in common would stay in all of them.
  prior_.alpha = std::vector<double>(std::size_t(k_), std::min(0.5, 25.0 / k_));
  prior_.eta = 0.02;
  set_given_parameters(prior_);
  default_prior_ = {prior_.alpha, prior_.eta, {}};
  if (model_) {
    prior_.alpha = model_->alpha();
    if (model_->eta() > 0) prior_.eta = model_->eta();
  }
  set_given_parameters(prior_);
  if (options_.update)
    add_model_posterior();
  else if (const auto *const seeds = options_.terms.as<Document::List>())
    add_seeds(*seeds);
}

void LdaStart::set_given_parameters(LdaPrior &prior) const {
  if (options_.alpha)
    prior.alpha = options_.alpha->shape.empty()
                      ? std::vector<double>(std::size_t(k_), options_.alpha->values[0])
                      : options_.alpha->values;
  if (options_.eta) prior.eta = *options_.eta;
}

void LdaStart::add_model_posterior() {
  prior_.added = model_numbers();
  // Rounding must not leave less than 0.
  each_row(prior_.added, [&](std::int32_t w) {
    for (int k = 0; k < k_; ++k)
      prior_.added.row(w)[k] = std::max(0.0, prior_.added.row(w)[k] - prior_.eta);
  });
}

void LdaStart::add_seeds(const Document::List &seeds) {
  prior_.added = PaddedMatrix(v_, k_);
  for (int k = 0; k < k_; ++k)
    if (const auto *const topic = seeds[std::size_t(k)].as<Document::Object>())
      for (const auto &[term, count] : *topic) {
        const auto at = std::lower_bound(terms_.begin(), terms_.end(), term);
        if (at == terms_.end() || *at != term)
          throw Error(
              Errc::invalid_argument,
              message("option \"prior.terms\" names {}, which is not a term of the documents",
                      describe(term)),
              "Write terms as in the documents; those of a tsvector are lexemes, without endings.");
        prior_.added.row(std::int32_t(at - terms_.begin()))[k] += *to_number(count, false);
      }
}

PaddedMatrix LdaStart::model_numbers() const {
  PaddedMatrix out(v_, k_);
  each_row(out, [&](std::int32_t w) {
    if (const std::int32_t from = model_->code(terms_[std::size_t(w)]); from >= 0)
      std::copy_n(model_->state->fitted.numbers.row(from), k_, out.row(w));
  });
  return out;
}

TopicStart LdaStart::initial_topics(int number) const {
  if (is_from_model(number)) return topics_of_model();
  const int fresh = number - (model_ ? 1 : 0);
  TopicStart out = starting_topics(corpus_, {default_prior_.alpha, default_prior_.eta, {}},
                                   options_.drawn(), options_.seed, fresh, control_);
  if (prior_.added.rows()) initialise_seeded_topics(out, share_of_seeds(fresh));
  if (!options_.sampled() && options_.method != Method::cvb0) smooth(out);
  return out;
}

TopicStart LdaStart::topics_of_model() const {
  // In an update the posterior of the model is the prior, to which no documents were added yet.
  TopicStart out{options_.update ? PaddedMatrix(v_, k_) : model_numbers(), prior_.alpha,
                 prior_.eta};
  if (options_.update) return out;
  const bool from_points = model_->info.method == Method::em,
             to_points = options_.method == Method::em;
  const std::vector<double> &totals = model_->state->fitted.totals;
  for (int k = 0; k < k_; ++k) {
    poll_here();
    // New terms have the parameters of the prior, or as point estimates the average probability.
    const double scale = to_points     ? 1 / totals[std::size_t(k)]
                         : from_points ? corpus_.totals().tokens * model_->weights()[std::size_t(k)]
                                       : 1;
    double sum = 0;
    for (std::int32_t w = 0; w < v_; ++w) {
      double &x = out.counts.row(w)[k];
      const bool known = x > 0;
      x *= scale;
      if (to_points)
        sum += x = known ? x : 1.0 / v_;
      else
        x = known && !from_points ? x - prior_.eta : x;
    }
    for (std::int32_t w = 0; to_points && w < v_; ++w) out.counts.row(w)[k] /= sum;
  }
  return out;
}

/// The share of the seed words' tokens that the seeded topics get. All of them in the first restart
/// and in every chain: topics found without seeds would otherwise hardly move to their numbers. A
/// random share in the other restarts, which would otherwise begin alike wherever the seeds name
/// most terms.
double LdaStart::share_of_seeds(int number) const {
  if (options_.sampled() || number <= 1) return 1;
  return Random(options_.seed, std::uint64_t(number), 0, std::uint64_t(TopicStream::seeds))
      .uniform();
}

/// Each seeded topic starts from the discovered topic that has most of its seed words, and gets
/// this share of the tokens of those words.
void LdaStart::initialise_seeded_topics(TopicStart &start, double share_of_tokens) const {
  PaddedMatrix &counts = start.counts;
  std::vector<std::int32_t> seed_words;
  std::vector<bool> seeded(std::size_t(k_), false);
  each_row(prior_.added, [&](std::int32_t w) {
    const double *const added = prior_.added.row(w);
    if (std::any_of(added, added + k_, [](double x) { return x > 0; })) seed_words.push_back(w);
    for (int k = 0; k < k_; ++k) seeded[std::size_t(k)] = seeded[std::size_t(k)] || added[k] > 0;
  });
  std::vector<bool> placed(std::size_t(k_), false);
  std::vector<double> share(std::size_t(k_), 0.0);
  for (int k = 0; k < k_; ++k) {
    if (!seeded[std::size_t(k)]) continue;
    poll_here();
    std::fill(share.begin(), share.end(), 0.0);
    for (const std::int32_t w : seed_words) {
      const double *const row = counts.row(w);
      const double all = std::accumulate(row, row + k_, 0.0), weight = prior_.added.row(w)[k];
      for (int j = 0; all > 0 && j < k_; ++j) share[std::size_t(j)] += weight * row[j] / all;
    }
    int best = k;
    for (int j = 0; j < k_; ++j)
      if (!placed[std::size_t(j)] && share[std::size_t(j)] > share[std::size_t(best)]) best = j;
    placed[std::size_t(k)] = true;
    for (std::int32_t w = 0; best != k && w < v_; ++w)
      std::swap(counts.row(w)[k], counts.row(w)[best]);
    if (!options_.alpha) std::swap(start.alpha[std::size_t(k)], start.alpha[std::size_t(best)]);
  }
  for (const std::int32_t w : seed_words) {
    double *const row = counts.row(w);
    const double *const added = prior_.added.row(w);
    const double all = std::accumulate(row, row + k_, 0.0),
                 sum = std::accumulate(added, added + k_, 0.0);
    for (int k = 0; k < k_; ++k) row[k] += share_of_tokens * (all * added[k] / sum - row[k]);
  }
}

/// Mixes a little of the overall distribution of terms into every topic: a term that is absent from
/// a topic could otherwise hardly enter it, and with method em not at all.
void LdaStart::smooth(TopicStart &start) const {
  constexpr double share = 0.1;
  const std::size_t topics = std::size_t(k_);
  std::vector<double> totals(topics, 0.0);
  WorkPoll poll;
  for (std::int32_t w = 0; w < v_; ++w) {
    poll(2 * topics);
    for (std::size_t k = 0; k < topics; ++k) totals[k] += start.counts.row(w)[k] + start.eta;
  }
  const double all = std::accumulate(totals.begin(), totals.end(), 0.0);
  for (std::int32_t w = 0; w < v_; ++w) {
    poll(4 * topics);
    double *const row = start.counts.row(w);
    const double tokens = std::accumulate(row, row + k_, double(k_) * start.eta);
    for (std::size_t k = 0; k < topics; ++k)
      row[k] = (1 - share) * row[k] + share * tokens * totals[k] / all;
  }
}

}  // namespace bayes
