#include "topics/lda_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "base/random.hpp"
#include "base/special.hpp"
#include "counts/remote_corpus.hpp"
#include "data/pass.hpp"
#include "data/sweep.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

/// Maps a term of a document to its index in the model; -1 if it is unknown, or has the probability
/// 0 in every draw.
class TermCodes {
 public:
  TermCodes(std::span<const std::int32_t> codes, std::span<const TopicDraw> draws)
      : codes_(codes),
        draws_(draws) {}
  std::int32_t operator()(std::int32_t term) const {
    const std::int32_t code = codes_.empty() ? term : codes_[std::size_t(term)];
    const bool possible =
        code >= 0 && std::any_of(draws_.begin(), draws_.end(), [code](const TopicDraw &draw) {
          return is_possible(code, draw.numbers);
        });
    return possible ? code : -1;
  }
  /// Selects the terms that are scored.
  std::function<bool(std::int32_t)> is_scored() const {
    return [this](std::int32_t term) { return !draws_[0].unseen.empty() || (*this)(term) >= 0; };
  }

 private:
  std::span<const std::int32_t> codes_;
  std::span<const TopicDraw> draws_;
};

/// Topics of the tokens so far: one sample of their posterior.
struct Particle {
  /// topic of each token; -1 while it is redrawn
  std::vector<std::int32_t> topics;
  /// alpha_k plus the number of tokens of each topic
  std::vector<double> numbers;
  /// for terms with more tokens than topics, if TopicDraw::sampled: K counts by topic
  std::vector<std::int32_t> of_terms;
};

class ParticleFilter {
 public:
  ParticleFilter(const TopicDraw &topics, const LeftToRight &options, Random random)
      : topics_(topics),
        total_(std::accumulate(topics.alpha.begin(), topics.alpha.end(), 0.0)),
        particles_(std::size_t(options.particles), Particle{{}, topics.alpha, {}}),
        weights_(particles_.size(), 1.0 / options.particles),
        inverse_(topics.alpha.size()),
        own_(topics.alpha.size(), 0.0),
        running_(topics.alpha.size()),
        random_(random) {
    for (std::size_t k = 0; k < inverse_.size(); ++k) inverse_[k] = 1 / topics.totals[k];
  }

  /// log p of the next `count` tokens, of a term that has not occurred, given the tokens before
  /// them
  double add(std::int32_t term, std::int64_t count) {
    Place place{term, place_of_.size(), none};
    if (topics_.sampled && count > std::int64_t(running_.size())) {
      place.of_terms = particles_[0].of_terms.size();
      for (Particle &particle : particles_)
        particle.of_terms.resize(place.of_terms + running_.size(), 0);
    }
    places_.push_back(place);
    double out = 0;
    for (; count > 0; --count) out += add_token();
    return out;
  }

  /// log p of an unknown term as the next token, which does not change the particles.
  double log_unseen() {
    double sum = 0;
    for (std::size_t r = 0; r < particles_.size(); ++r)
      for (std::size_t k = 0; k < inverse_.size(); ++k)
        sum += weights_[r] * particles_[r].numbers[k] * topics_.unseen[k];
    poll_(particles_.size() * inverse_.size());
    return std::log(sum / (total_ + double(place_of_.size())));
  }

 private:
  static constexpr std::size_t none = std::size_t(-1);

  /// The consecutive tokens of a term.
  struct Place {
    std::int32_t term;
    std::size_t first;
    /// offset of its counts in Particle::of_terms; none: they are few, and counted when needed
    std::size_t of_terms;
  };

  double add_token() {
    const Place &place = places_.back();
    std::vector<double> p(particles_.size());
    double sum = 0;
    for (std::size_t r = 0; r < p.size(); ++r) {
      p[r] = weigh(particles_[r], place) / (total_ + double(place_of_.size()));
      sum += weights_[r] * p[r];
    }
    if (!(sum > 0)) return -std::numeric_limits<double>::infinity();
    double squares = 0;
    for (std::size_t r = 0; r < p.size(); ++r) {
      weights_[r] *= p[r] / sum;
      squares += weights_[r] * weights_[r];
    }
    if (squares * double(p.size()) > 2) resample();
    place_of_.push_back(std::uint32_t(places_.size() - 1));
    for (Particle &particle : particles_) {
      particle.topics.push_back(-1);
      draw(particle, place_of_.size() - 1);
      redraw(particle);
    }
    return std::log(sum);
  }

  /// Cumulative weights of the topics for a token, into running_. Returns their sum.
  double weigh(const Particle &particle, const Place &place) {
    poll_(running_.size());
    const double *const of_term = topics_.numbers.row(place.term);
    double sum = 0;
    if (!topics_.sampled) {
      for (std::size_t k = 0; k < running_.size(); ++k)
        running_[k] = sum += particle.numbers[k] * (of_term[k] * inverse_[k]);
      return sum;
    }
    count(particle, place, 1);
    for (std::size_t k = 0; k < running_.size(); ++k) {
      const double tokens = particle.numbers[k] - topics_.alpha[k];
      running_[k] = sum +=
          particle.numbers[k] * (of_term[k] + own_[k]) / (topics_.totals[k] + tokens);
    }
    count(particle, place, 0);
    return sum;
  }
  /// Sets own_ to `each` times the tokens of the term in each topic; 0 clears it.
  void count(const Particle &particle, const Place &place, double each) {
    if (place.of_terms != none) {
      const std::int32_t *const from = particle.of_terms.data() + place.of_terms;
      for (std::size_t k = 0; k < own_.size(); ++k) own_[k] = each * double(from[k]);
      return;
    }
    for (std::size_t i = place.first;
         i < particle.topics.size() && place_of_[i] == place_of_[place.first]; ++i)
      if (const std::int32_t k = particle.topics[i]; k >= 0)
        own_[std::size_t(k)] = each == 0 ? 0 : own_[std::size_t(k)] + each;
  }
  /// Draws the topic of a token given all others.
  void draw(Particle &particle, std::size_t token) {
    const Place &place = places_[place_of_[token]];
    const double sum = weigh(particle, place);
    // If all weights are 0, so is the weight of the particle, whatever the topic.
    const auto at = std::upper_bound(running_.begin(), running_.end() - 1, random_.uniform() * sum);
    particle.topics[token] = std::int32_t(at - running_.begin());
    add_to_counts(particle, token, 1);
  }
  /// Adds a token to the counts of the particle `times` times (1 or -1).
  void add_to_counts(Particle &particle, std::size_t token, std::int32_t times) {
    const Place &place = places_[place_of_[token]];
    const auto k = std::size_t(particle.topics[token]);
    particle.numbers[k] += times;
    if (place.of_terms != none) particle.of_terms[place.of_terms + k] += times;
  }
  /// Redraws the topics of at most 16 tokens, each given all others.
  void redraw(Particle &particle) {
    constexpr std::size_t max_tokens = 16;
    const std::size_t n = place_of_.size();
    for (std::size_t i = 0; i < std::min(n, max_tokens); ++i) {
      const std::size_t token = n <= max_tokens ? i : std::size_t(random_.below(n));
      add_to_counts(particle, token, -1);
      particle.topics[token] = -1;
      draw(particle, token);
    }
  }
  /// Systematic resampling; weights are equal afterwards.
  void resample() {
    const double each = 1 / double(particles_.size());
    std::vector<Particle> chosen;
    double at = random_.uniform() * each, sum = 0;
    for (std::size_t r = 0; r < particles_.size(); ++r) {
      sum += weights_[r];
      for (; chosen.size() < particles_.size() && at < sum; at += each)
        chosen.push_back(particles_[r]);
    }
    // Rounding may lose the last one.
    while (chosen.size() < particles_.size()) chosen.push_back(chosen.back());
    particles_ = std::move(chosen);
    std::fill(weights_.begin(), weights_.end(), each);
  }

  const TopicDraw &topics_;
  const double total_;
  std::vector<Place> places_;
  /// index in places_ of each token's term
  std::vector<std::uint32_t> place_of_;
  std::vector<Particle> particles_;
  std::vector<double> weights_;
  /// 1 / totals of the topics
  std::vector<double> inverse_;
  /// tokens of the current term by topic; zeros between calls
  std::vector<double> own_;
  std::vector<double> running_;
  Random random_;
  WorkPoll poll_;
};

}  // namespace

std::optional<double> HeldOut::perplexity() const {
  if (!(tokens > 0)) return std::nullopt;
  return std::exp(-log_probability / tokens);
}

bool is_possible(std::int32_t term, const PaddedMatrix &topics) {
  const double *const row = topics.row(term);
  return std::any_of(row, row + topics.columns(), [](double x) { return x > 0; });
}

HeldOut score_completion(
    const DocumentTerms &whole, std::span<const std::uint64_t> hashes,
    std::span<const TopicDraw> draws,
    const std::function<std::vector<double>(const DocumentTerms &observed, const TopicDraw &draw)>
        &proportions,
    std::span<const std::int32_t> codes) {
  const TermCodes code(codes, draws);
  const FilteredDocument counted(whole, code.is_scored());
  const DocumentHalves halves = split_document(counted.terms(), hashes);
  HeldOut out{1, halves.scored().tokens(), 0};
  if (out.tokens == 0) return out;
  std::vector<std::int32_t> known, scored;
  std::vector<double> known_counts;
  for (std::size_t i = 0; i < halves.observed_terms.size(); ++i)
    if (const std::int32_t at = code(halves.observed_terms[i]); at >= 0) {
      known.push_back(at);
      known_counts.push_back(halves.observed_counts[i]);
    }
  for (const std::int32_t term : halves.scored_terms) scored.push_back(code(term));
  // The probability of each token is averaged over the draws.
  std::vector<double> sums(halves.scored_terms.size(), 0.0);
  WorkPoll poll;
  for (const TopicDraw &draw : draws) {
    const std::vector<double> theta = proportions({known, known_counts}, draw);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double *const numbers = scored[i] < 0 ? nullptr : draw.numbers.row(scored[i]);
      double p = 0;
      for (std::size_t k = 0; k < theta.size(); ++k)
        p += theta[k] * (numbers ? numbers[k] / draw.totals[k] : draw.unseen[k]);
      sums[i] += p;
      poll(4 * theta.size());
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    out.log_probability += halves.scored_counts[i] * std::log(sums[i] / double(draws.size()));
  return out;
}

HeldOut score_left_to_right(const DocumentTerms &whole, std::span<const std::uint64_t> hashes,
                            std::span<const TopicDraw> draws, const LeftToRight &options,
                            std::span<const std::int32_t> codes) {
  const TermCodes code(codes, draws);
  const FilteredDocument counted(whole, code.is_scored());
  const DocumentTerms document = counted.terms();
  for (std::size_t i = 0; i < document.size(); ++i)
    if (document.counts[i] != std::floor(document.counts[i]))
      throw Error(Errc::invalid_argument,
                  message("the left-to-right estimator takes whole counts only, not {}",
                          document.counts[i]),
                  "It draws a topic for every token.", "Use document completion.");
  HeldOut out{1, document.tokens(), 0};
  // Particles are copied by resampling, and grow by doubling.
  const double bytes =
      3.0 * options.particles *
      ((draws[0].sampled ? 8 : 4) * out.tokens + 8 * double(draws[0].alpha.size()));
  if (bytes > options.memory)
    throw Error(
        Errc::too_large,
        message("a document has {} tokens, too many for the left-to-right estimator",
                describe_number(out.tokens)),
        message("{} particles hold a topic for every token, about {} MB, but the limit is "
                "{} MB: maintenance_work_mem, or 1 GB if that is more, divided by the number "
                "of threads.",
                options.particles, describe_number(std::floor(bytes / 1048576)),
                describe_number(std::floor(options.memory / 1048576))),
        "Use document completion, or fewer particles.");
  // Random numbers depend on the contents of the document.
  std::uint64_t name = 0;
  for (std::size_t i = 0; i < document.size(); ++i)
    name = (name ^ hashes[std::size_t(document.terms[i])] ^ std::uint64_t(document.counts[i])) *
           0x100000001b3;
  const std::vector<std::size_t> order = hash_order(document, hashes);
  std::vector<double> logs(draws.size(), 0.0);
  for (std::size_t s = 0; s < draws.size(); ++s) {
    ParticleFilter filter(draws[s], options, Random(options.seed, name, 40, s));
    for (const std::size_t i : order) {
      const std::int32_t term = code(document.terms[i]);
      const double count = document.counts[i];
      logs[s] += term < 0 ? count * filter.log_unseen() : filter.add(term, std::int64_t(count));
    }
  }
  out.log_probability =
      draws.size() == 1 ? logs[0] : log_sum_exp(logs) - std::log(double(draws.size()));
  return out;
}

// The log probability of documents that were held out of a fit, here or where they are.

namespace {

constexpr double rounding = 1e-9;

/// The log probability of documents that are held out.
struct HeldOutDocumentsPass {
  static constexpr const char *name = "held-out documents";
  struct Sums {
    HeldOut total;
    std::vector<Score> scores;

    template <class F> void fields(F &f) {
      std::vector<double> tokens, logs;
      if constexpr (!F::reading)
        for (const Score &score : scores) {
          tokens.push_back(score.units);
          logs.push_back(score.log_density);
        }
      f.numbers("tokens", tokens);
      f.numbers("log_probability", logs, tokens.size());
      for (std::size_t i = 0; F::reading && i < tokens.size(); ++i) {
        f.require(tokens[i] >= 0 && std::isfinite(logs[i]));
        scores.push_back({tokens[i], logs[i], 0});
      }
    }
    void add(const Sums &part) {
      for (const Score &score : part.scores) total.add({1, score.units, score.log_density});
      scores.insert(scores.end(), part.scores.begin(), part.scores.end());
    }
  };
  const TopicModel *model = nullptr;
  std::span<const std::string> terms = {};
  Evaluation how = {};
  /// as in evaluate_topics()
  std::span<const char> known = {};
  /// those of a request
  std::unique_ptr<Model> asked = {};
  std::string asked_known = {};

  static Corpus &data_of(PartOfDocuments &part) { return part.held_out_documents(); }
  template <class F> void fields(F &f, Corpus &) {
    if constexpr (F::reading) {
      const PassReader given(f.document());
      asked = Model::from_document(given.member("model"));
      model = dynamic_cast<const TopicModel *>(asked.get());
      known = asked_known = bytes_of_document(given.member("known"));
      f.require(model && std::all_of(known.begin(), known.end(),
                                     [](char each) { return each == 0 || each == 1; }));
    } else {
      if (how.method != "completion") refuse_remote("the left-to-right estimator");
      const std::string all(terms.size(), 1);
      f.document().set("model", model->to_document());
      f.document().set(
          "known", bytes_document(known.empty() ? std::string_view(all)
                                                : std::string_view{known.data(), known.size()}));
    }
  }
  void keep(PartOfDocuments &part, const PassReader &, Control &) {
    terms = part.terms;
    if (known.size() != terms.size() ||
        !std::equal(terms.begin(), terms.end(), model->terms().begin(), model->terms().end()))
      PassReader::refuse();
  }
  Sums nothing(Corpus &) const { return {}; }
  Sums here(Corpus &corpus, Control &control) const;
};

HeldOutDocumentsPass::Sums HeldOutDocumentsPass::here(Corpus &corpus, Control &control) const {
  const std::vector<std::uint64_t> hashes = term_hashes(terms);
  // Merges the two lists of terms: both are in the order of their bytes.
  std::vector<std::int32_t> codes;
  WorkPoll poll;
  for (std::size_t i = 0, at = 0; i < terms.size(); ++i) {
    poll(10);
    while (at < model->terms().size() && model->terms()[at] < terms[i]) ++at;
    const bool own = at < model->terms().size() && model->terms()[at] == terms[i];
    codes.push_back(own && (known.empty() || known[i]) ? std::int32_t(at) : -1);
  }
  const std::vector<TopicDraw> draws = model->scoring_draws(max_scoring_draws);
  const auto proportions = [this](const DocumentTerms &observed, const TopicDraw &draw) {
    return model->proportions(observed, draw);
  };
  const double operations =
      100.0 * double(corpus.totals().entries) * model->size() * double(draws.size());
  const SweepPlan plan = plan_tasks(operations, 0, control);
  LeftToRight particles = how.plan;
  particles.memory = control.memory / control.threads;
  std::vector<Sums> slots(std::size_t(plan.slots));
  Sums out;
  sweep_corpus(
      corpus, plan, control,
      [&](int, int slot, const CorpusPiece &piece, const Stop &stop) {
        Sums &slot_of_piece = slots[std::size_t(slot)];
        slot_of_piece = {};
        each_document(piece, [&](std::int64_t, const DocumentTerms &document) {
          const HeldOut found =
              how.method == "completion"
                  ? score_completion(document, hashes, draws, proportions, codes)
                  : score_left_to_right(document, hashes, draws, particles, codes);
          slot_of_piece.total.add(found);
          slot_of_piece.scores.push_back({found.tokens, found.log_probability, 0});
          return !stop();
        });
      },
      [&](int slot) {
        const Sums &done = slots[std::size_t(slot)];
        out.total.add(done.total);
        out.scores.insert(out.scores.end(), done.scores.begin(), done.scores.end());
      });
  return out;
}

}  // namespace

HeldOut evaluate_topics(const TopicModel &model, Corpus &corpus, std::span<const std::string> terms,
                        const Evaluation &how, std::span<const char> known, Control &control,
                        std::vector<Score> *scores) {
  HeldOutDocumentsPass::Sums found =
      run(corpus, HeldOutDocumentsPass{&model, terms, how, known}, control);
  if (corpus.is_remote() && (found.total.documents != corpus.totals().documents ||
                             !(found.total.tokens <= corpus.totals().tokens * (1 + rounding)) ||
                             !std::isfinite(found.total.log_probability)))
    PassReader::refuse();
  if (scores) *scores = std::move(found.scores);
  return found.total;
}

const PassOver<PartOfDocuments> held_out_documents_pass =
    pass_over<PartOfDocuments, HeldOutDocumentsPass>();

}  // namespace bayes
