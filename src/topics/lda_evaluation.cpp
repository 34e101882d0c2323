#include "topics/lda_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/random.hpp"
#include "base/special.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

/// How much of the line from 0 to x is in intervals [0, 1), [2, 3), ...
double in_even_units(double x) {
  const double pairs = std::floor(x / 2);
  return pairs + std::min(x - 2 * pairs, 1.0);
}

/// The number in the model of a document's term, -1 if the model does not know it or gives it the
/// probability 0 under every draw.
class ModelCodes {
 public:
  ModelCodes(std::span<const std::int32_t> codes, std::span<const TopicDraw> draws)
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
  /// Of the terms that count those that do.
  std::function<bool(std::int32_t)> counts() const {
    return [this](std::int32_t term) { return !draws_[0].unseen.empty() || (*this)(term) >= 0; };
  }

 private:
  std::span<const std::int32_t> codes_;
  std::span<const TopicDraw> draws_;
};

std::vector<std::size_t> order_of(const DocumentTerms &document,
                                  std::span<const std::uint64_t> hashes) {
  std::vector<std::size_t> order(document.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::int32_t v = document.terms[a], w = document.terms[b];
    return std::pair(hashes[std::size_t(v)], v) < std::pair(hashes[std::size_t(w)], w);
  });
  return order;
}

/// One guess of the topics of the tokens so far.
struct Particle {
  /// of each token; -1 while it is drawn
  std::vector<std::int32_t> topics;
  /// alpha_k and the tokens of each topic
  std::vector<double> numbers;
  /// K tokens by topic of every term of more tokens than topics, where topics are sampled
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

  /// log p of the next tokens, `count` of a term that has had none, given those before them
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

  /// log p of a term that the model does not know, as the next token: it leaves all as it is.
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

  /// The tokens of a term, which follow each other.
  struct Place {
    std::int32_t term;
    std::size_t first;
    /// where its counts begin in Particle::of_terms; none: they are few, and counted
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
      renew(particle);
    }
    return std::log(sum);
  }

  /// Running sums of the weights of all topics for a token.
  double weigh(const Particle &particle, const Place &place) {
    poll_(running_.size());
    const double *const of_term = topics_.numbers.of(place.term);
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
  /// Tokens of the term in each topic, times `each`: 0 clears.
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
  /// The topic of a token, given all others.
  void draw(Particle &particle, std::size_t token) {
    const Place &place = places_[place_of_[token]];
    const double sum = weigh(particle, place);
    // If all is 0, the particle has no weight, whatever the topic.
    const auto at = std::upper_bound(running_.begin(), running_.end() - 1, random_.uniform() * sum);
    particle.topics[token] = std::int32_t(at - running_.begin());
    take(particle, token, 1);
  }
  void take(Particle &particle, std::size_t token, std::int32_t times) {
    const Place &place = places_[place_of_[token]];
    const auto k = std::size_t(particle.topics[token]);
    particle.numbers[k] += times;
    if (place.of_terms != none) particle.of_terms[place.of_terms + k] += times;
  }
  /// Topics of some tokens, drawn from their distribution given all others.
  void renew(Particle &particle) {
    constexpr std::size_t most = 16;
    const std::size_t n = place_of_.size();
    for (std::size_t i = 0; i < std::min(n, most); ++i) {
      const std::size_t token = n <= most ? i : std::size_t(random_.below(n));
      take(particle, token, -1);
      particle.topics[token] = -1;
      draw(particle, token);
    }
  }
  /// Systematic resampling, then equal weights.
  void resample() {
    const double each = 1 / double(particles_.size());
    std::vector<Particle> chosen;
    double at = random_.uniform() * each, sum = 0;
    for (std::size_t r = 0; r < particles_.size(); ++r) {
      sum += weights_[r];
      for (; chosen.size() < particles_.size() && at < sum; at += each)
        chosen.push_back(particles_[r]);
    }
    // Rounding may leave one too few.
    while (chosen.size() < particles_.size()) chosen.push_back(chosen.back());
    particles_ = std::move(chosen);
    std::fill(weights_.begin(), weights_.end(), each);
  }

  const TopicDraw &topics_;
  const double total_;
  std::vector<Place> places_;
  /// of each token, its term's number among places_
  std::vector<std::uint32_t> place_of_;
  std::vector<Particle> particles_;
  std::vector<double> weights_;
  /// one divided by the topics' totals
  std::vector<double> inverse_;
  /// of the term of a token, by topic; zeros between
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

double HeldOut::perplexity_error() const {
  if (documents < 2 || !(tokens > 0)) return std::numeric_limits<double>::quiet_NaN();
  const double n = double(documents), each = log_probability / tokens,
               residual =
                   probabilities_squared - 2 * each * products + each * each * tokens_squared;
  return std::exp(-each) * std::sqrt(n / (n - 1) * std::max(residual, 0.0)) / tokens;
}

bool is_possible(std::int32_t term, const TermTopics &topics) {
  const double *const row = topics.of(term);
  return std::any_of(row, row + topics.topics(), [](double x) { return x > 0; });
}

PartOfDocument::PartOfDocument(const DocumentTerms &document,
                               const std::function<bool(std::int32_t term)> &counts)
    : part_(document) {
  if (std::all_of(document.terms.begin(), document.terms.end(), counts)) return;
  for (std::size_t i = 0; i < document.size(); ++i) {
    if (!counts(document.terms[i])) continue;
    terms_.push_back(document.terms[i]);
    counts_.push_back(document.counts[i]);
  }
  part_ = {terms_, counts_};
}

std::vector<std::uint64_t> term_hashes(std::span<const std::string> terms) {
  std::vector<std::uint64_t> out;
  out.reserve(terms.size());
  for (const std::string &term : terms) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : term) hash = (hash ^ std::uint8_t(c)) * 0x100000001b3;
    // Its upper bits, which order the terms, depend little on the last bytes.
    const auto mixed = philox({std::uint32_t(hash), std::uint32_t(hash >> 32), 0, 0}, {0, 0});
    out.push_back(std::uint64_t(mixed[1]) << 32 | mixed[0]);
  }
  return out;
}

DocumentHalves split_document(const DocumentTerms &document,
                              std::span<const std::uint64_t> hashes) {
  std::vector<double> observed(document.size());
  double at = 0;
  for (const std::size_t i : order_of(document, hashes)) {
    const double end = at + document.counts[i];
    // A count beyond the precision of sums counts for half.
    observed[i] = std::clamp(in_even_units(end) - in_even_units(at), 0.0, document.counts[i]);
    at = end;
  }
  DocumentHalves out;
  for (std::size_t i = 0; i < document.size(); ++i) {
    if (observed[i] > 0) {
      out.observed_terms.push_back(document.terms[i]);
      out.observed_counts.push_back(observed[i]);
    }
    if (const double scored = document.counts[i] - observed[i]; scored > 0) {
      out.scored_terms.push_back(document.terms[i]);
      out.scored_counts.push_back(scored);
    }
  }
  return out;
}

HeldOut score_completion(
    const DocumentTerms &whole, std::span<const std::uint64_t> hashes,
    std::span<const TopicDraw> draws,
    const std::function<std::vector<double>(const DocumentTerms &observed, const TopicDraw &draw)>
        &proportions,
    std::span<const std::int32_t> codes) {
  const ModelCodes code(codes, draws);
  const PartOfDocument counted(whole, code.counts());
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
  // Each token is predicted by the average over the draws.
  std::vector<double> sums(halves.scored_terms.size(), 0.0);
  WorkPoll poll;
  for (const TopicDraw &draw : draws) {
    const std::vector<double> theta = proportions({known, known_counts}, draw);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double *const numbers = scored[i] < 0 ? nullptr : draw.numbers.of(scored[i]);
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
  const ModelCodes code(codes, draws);
  const PartOfDocument counted(whole, code.counts());
  const DocumentTerms document = counted.terms();
  for (std::size_t i = 0; i < document.size(); ++i)
    if (document.counts[i] != std::floor(document.counts[i]))
      throw Error(Errc::invalid_argument,
                  message("the left-to-right estimator takes whole counts only, not {}",
                          document.counts[i]),
                  "It draws a topic for every token.", "Use document completion.");
  HeldOut out{1, document.tokens(), 0};
  // Particles are copied when they are chosen anew, and grow by doubling.
  const double bytes =
      3.0 * options.particles *
      ((draws[0].sampled ? 8 : 4) * out.tokens + 8 * double(draws[0].alpha.size()));
  if (bytes > options.memory)
    throw Error(Errc::too_large,
                message("a document has {} tokens, too many for the left-to-right estimator",
                        describe_number(out.tokens)),
                message("{} particles hold a topic for every token, about {} MB, but the limit is "
                        "{} MB: maintenance_work_mem, or 1 GB if that is more, for each thread its "
                        "part.",
                        options.particles, describe_number(std::floor(bytes / 1048576)),
                        describe_number(std::floor(options.memory / 1048576))),
                "Use document completion, or fewer particles.");
  // Other documents, other random numbers.
  std::uint64_t name = 0;
  for (std::size_t i = 0; i < document.size(); ++i)
    name = (name ^ hashes[std::size_t(document.terms[i])] ^ std::uint64_t(document.counts[i])) *
           0x100000001b3;
  const std::vector<std::size_t> order = order_of(document, hashes);
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

double hellinger_distance(std::span<const double> p, std::span<const double> q) {
  if (p.size() != q.size())
    throw Error(Errc::array_shape,
                message("distributions have {} and {} elements", p.size(), q.size()));
  double sum = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    const double difference = std::sqrt(p[k]) - std::sqrt(q[k]);
    sum += difference * difference;
  }
  return std::min(1.0, std::sqrt(sum / 2));
}

}  // namespace bayes
