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

/// Whether a term has a probability above 0 under some draw.
std::function<bool(std::int32_t)> possible_under(std::span<const TopicDraw> draws) {
  return [draws](std::int32_t term) {
    return std::any_of(draws.begin(), draws.end(),
                       [term](const TopicDraw &draw) { return is_possible(term, draw.numbers); });
  };
}

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
  /// of each token
  std::vector<std::int32_t> topics;
  /// alpha_k and the tokens of each topic
  std::vector<double> numbers;
};

class ParticleFilter {
 public:
  ParticleFilter(const TopicDraw &topics, const LeftToRight &options, Random random)
      : topics_(topics),
        total_(std::accumulate(topics.alpha.begin(), topics.alpha.end(), 0.0)),
        particles_(std::size_t(options.particles), Particle{{}, topics.alpha}),
        weights_(particles_.size(), 1.0 / options.particles),
        inverse_(topics.alpha.size()),
        running_(topics.alpha.size()),
        random_(random) {
    for (std::size_t k = 0; k < inverse_.size(); ++k) inverse_[k] = 1 / topics.totals[k];
  }

  /// log p of the next token given those before it
  double add(std::int32_t term) {
    std::vector<double> p(particles_.size());
    double sum = 0;
    for (std::size_t r = 0; r < p.size(); ++r) {
      p[r] = weigh(particles_[r], term) / (total_ + double(terms_.size()));
      sum += weights_[r] * p[r];
    }
    if (!(sum > 0)) return -std::numeric_limits<double>::infinity();
    double squares = 0;
    for (std::size_t r = 0; r < p.size(); ++r) {
      weights_[r] *= p[r] / sum;
      squares += weights_[r] * weights_[r];
    }
    if (squares * double(p.size()) > 2) resample();
    terms_.push_back(term);
    for (Particle &particle : particles_) {
      particle.topics.push_back(draw(particle, term));
      renew(particle);
    }
    return std::log(sum);
  }

 private:
  /// Running sums of the weights of all topics for a token.
  double weigh(const Particle &particle, std::int32_t term) {
    poll_(running_.size());
    const double *const of_term = topics_.numbers.of(term);
    double sum = 0;
    for (std::size_t k = 0; k < running_.size(); ++k)
      running_[k] = sum += particle.numbers[k] * (of_term[k] * inverse_[k]);
    return sum;
  }
  std::int32_t draw(Particle &particle, std::int32_t term) {
    const double sum = weigh(particle, term);
    // If all is 0, the particle has no weight, whatever the topic.
    const auto at = std::upper_bound(running_.begin(), running_.end() - 1, random_.uniform() * sum);
    particle.numbers[std::size_t(at - running_.begin())] += 1;
    return std::int32_t(at - running_.begin());
  }
  /// Topics of some tokens, drawn from their distribution given all others.
  void renew(Particle &particle) {
    constexpr std::size_t most = 16;
    const std::size_t n = terms_.size();
    for (std::size_t i = 0; i < std::min(n, most); ++i) {
      const std::size_t at = n <= most ? i : std::size_t(random_.below(n));
      particle.numbers[std::size_t(particle.topics[at])] -= 1;
      particle.topics[at] = draw(particle, terms_[at]);
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
  std::vector<std::int32_t> terms_;
  std::vector<Particle> particles_;
  std::vector<double> weights_;
  /// one divided by the topics' totals
  std::vector<double> inverse_;
  std::vector<double> running_;
  Random random_;
  WorkPoll poll_;
};

}  // namespace

std::optional<double> HeldOut::perplexity() const {
  if (!(tokens > 0)) return std::nullopt;
  return std::exp(-log_probability / tokens);
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
        &proportions) {
  const PartOfDocument possible(whole, possible_under(draws));
  const DocumentHalves halves = split_document(possible.terms(), hashes);
  HeldOut out{1, halves.scored().tokens(), 0};
  if (out.tokens == 0) return out;
  // Each token is predicted by the average over the draws.
  std::vector<double> sums(halves.scored_terms.size(), 0.0);
  WorkPoll poll;
  for (const TopicDraw &draw : draws) {
    const std::vector<double> theta = proportions(halves.observed(), draw);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double *const numbers = draw.numbers.of(halves.scored_terms[i]);
      double p = 0;
      for (std::size_t k = 0; k < theta.size(); ++k) p += theta[k] * (numbers[k] / draw.totals[k]);
      sums[i] += p;
      poll(4 * theta.size());
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    out.log_probability += halves.scored_counts[i] * std::log(sums[i] / double(draws.size()));
  return out;
}

HeldOut score_left_to_right(const DocumentTerms &whole, std::span<const std::uint64_t> hashes,
                            std::span<const TopicDraw> draws, const LeftToRight &options) {
  const PartOfDocument possible(whole, possible_under(draws));
  const DocumentTerms document = possible.terms();
  for (std::size_t i = 0; i < document.size(); ++i)
    if (document.counts[i] != std::floor(document.counts[i]))
      throw Error(Errc::invalid_argument,
                  message("the left-to-right estimator takes whole counts only, not {}",
                          document.counts[i]),
                  "It draws a topic for every token.", "Use document completion.");
  HeldOut out{1, document.tokens(), 0};
  // Particles are copied when they are chosen anew, and grow by doubling.
  const double bytes =
      3.0 * options.particles * (4 * out.tokens + 8 * double(draws[0].alpha.size()));
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
    for (const std::size_t i : order)
      for (double left = document.counts[i]; left > 0; --left)
        logs[s] += filter.add(document.terms[i]);
  }
  out.log_probability =
      draws.size() == 1 ? logs[0] : log_sum_exp(logs) - std::log(double(draws.size()));
  return out;
}

TopicCoherence::TopicCoherence(std::vector<std::vector<std::int32_t>> top) : top_(std::move(top)) {
  present_.resize(top_.size());
  for (std::size_t k = 0; k < top_.size(); ++k) {
    counts_.emplace_back(top_[k].size() * top_[k].size(), 0);
    for (std::size_t i = 0; i < top_[k].size(); ++i)
      places_[top_[k][i]].emplace_back(std::int32_t(k), std::int32_t(i));
  }
}

std::int64_t &TopicCoherence::together(int topic, std::size_t a, std::size_t b) {
  const auto k = std::size_t(topic);
  return counts_[k][std::min(a, b) * top_[k].size() + std::max(a, b)];
}

void TopicCoherence::add(const DocumentTerms &document) {
  ++documents_;
  for (const std::int32_t w : document.terms) {
    const auto found = places_.find(w);
    if (found == places_.end()) continue;
    for (const auto &[k, i] : found->second) {
      auto &present = present_[std::size_t(k)];
      if (present.empty()) touched_.push_back(k);
      present.push_back(i);
      for (const std::int32_t j : present) ++together(k, std::size_t(i), std::size_t(j));
    }
  }
  for (const std::int32_t k : touched_) present_[std::size_t(k)].clear();
  touched_.clear();
}

void TopicCoherence::add(const TopicCoherence &other) {
  if (other.top_ != top_)
    throw Error(Errc::internal, "coherences of different terms were to be added");
  documents_ += other.documents_;
  for (std::size_t k = 0; k < counts_.size(); ++k)
    for (std::size_t i = 0; i < counts_[k].size(); ++i) counts_[k][i] += other.counts_[k][i];
}

std::optional<double> TopicCoherence::umass(int topic) const {
  const std::size_t n = top_[std::size_t(topic)].size();
  double sum = 0;
  bool any = false;
  for (std::size_t m = 1; m < n; ++m)
    for (std::size_t l = 0; l < m; ++l) {
      const std::int64_t upper = together(topic, l, l);
      if (upper == 0) continue;
      any = true;
      sum += std::log(double(together(topic, l, m) + 1) / double(upper));
    }
  return any ? std::optional(sum) : std::nullopt;
}

std::optional<double> TopicCoherence::npmi(int topic) const {
  const std::size_t n = top_[std::size_t(topic)].size();
  if (n < 2 || documents_ == 0) return std::nullopt;
  double sum = 0;
  for (std::size_t m = 1; m < n; ++m)
    for (std::size_t l = 0; l < m; ++l) {
      const auto share = [&](std::size_t a, std::size_t b) {
        return double(together(topic, a, b)) / double(documents_);
      };
      const double both = share(l, m);
      if (both == 0)
        sum -= 1;
      else if (both == 1)
        sum += 1;  // the limit
      else
        sum += std::log(both / (share(l, l) * share(m, m))) / -std::log(both);
    }
  return sum / (double(n) * double(n - 1) / 2);
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
