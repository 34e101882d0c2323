#include "topics/topic_starts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "topics/topic_matching.hpp"
#include "topics/topic_moves.hpp"
#include "topics/topic_samplers.hpp"

namespace bayes {
namespace {

/// Topics are found in this many tokens, more with many topics, and settle in more.
constexpr double few_tokens = 2.5e5, tokens_of_topic = 5e3, many_tokens = 1e6;
constexpr double most_tokens_of_document = 1e4;
/// With fewer tokens than these chains are longer, up to 12 times: sweeps cost little, and what
/// looks like two topics in one may only be slow to come apart.
constexpr double patient_tokens = 1e6;

/// Topics are moved for the first time when they have begun to differ, and then until nothing
/// moves twice, with sweeps between in which tokens settle.
constexpr int sweeps_before_moves = 15, sweeps_between_moves = 10, most_moves = 10;
/// Sweeps in which tokens settle before the last ones, which are averaged.
constexpr int settling_sweeps = 10, averaged_sweeps = 10;

/// The tokens in which topics are found.
double tokens_of_sample(int topics) {
  return std::clamp(tokens_of_topic * topics, few_tokens, many_tokens);
}

/// How much longer the chain of so many tokens is than one of many.
int patience_with(double tokens) {
  return int(std::clamp(patient_tokens / std::max(1.0, tokens), 1.0, 12.0));
}

/// The first documents, with whole counts. Their order does not depend on anything but what is in
/// them, so that they are as good as drawn at random.
MemoryCorpus sample_of(Corpus &corpus, double most_tokens, Control &control) {
  const CorpusTotals &totals = corpus.totals();
  MemoryCorpus out(totals.vocabulary);
  // Weights may be small numbers.
  const double usual = totals.whole || !(totals.tokens > 0)
                           ? 1
                           : std::max(1.0, double(totals.entries) / totals.tokens);
  std::vector<std::int32_t> terms;
  std::vector<double> counts;
  double tokens = 0;
  WorkPoll poll;
  for (std::int64_t s = 0; s < corpus.stretches() && tokens < most_tokens; ++s)
    for (const CorpusPiece &piece : corpus.stretch(s)) {
      control.poll();
      each_document(piece, [&](std::int64_t, const DocumentTerms &document) {
        const double scale =
            std::min(usual, most_tokens_of_document / std::max(1e-300, document.tokens()));
        terms.clear();
        counts.clear();
        double sum = 0, taken = 0;
        poll(4 * document.size());
        for (std::size_t e = 0; e < document.size(); ++e) {
          sum += scale * document.counts[e];
          const double count = std::floor(sum + 0.5) - taken;
          if (!(count > 0)) continue;
          taken += count;
          terms.push_back(document.terms[e]);
          counts.push_back(count);
        }
        out.append({terms, counts});
        return (tokens += taken) < most_tokens;
      });
      if (tokens >= most_tokens) break;
    }
  return out;
}

/// A short chain of a sampler, whose last sweeps are averaged.
class ShortChain {
 public:
  ShortChain(Corpus &sample, const LdaPrior &prior, const DrawnPrior &drawn, std::uint64_t seed,
             int name, const TermTopics *start, const Schedule &schedule, Control &control)
      : index_(sample, control),
        chain_(sample, index_, prior, seed, name),
        sampler_(collapsed_topics(chain_)),
        drawn_(drawn),
        schedule_(schedule),
        control_(control) {
    begin_topics(chain_, start, control);
  }

  /// As often, while there is time.
  void sweep(int times) {
    for (; times > 0 && !late(); --times) {
      sampler_->sweep(sweeps_, control_);
      Random random(chain_.seed, std::uint64_t(chain_.number), std::uint64_t(sweeps_),
                    std::uint64_t(TopicStream::prior));
      draw_prior(chain_, drawn_, random);
      ++sweeps_;
    }
  }

  void move() {
    const int patience = patience_with(double(index_.tokens()));
    sweep(patience * sweeps_before_moves);
    for (int calls = 0, idle = 0; calls < most_moves && idle < 2 && !late(); ++calls) {
      const bool own_alphas = drawn_.alpha && !drawn_.symmetric;
      idle = move_topics(chain_, own_alphas, calls, control_) > 0 ? 0 : idle + 1;
      if (idle < 2) sweep((patience + 1) / 2 * sweeps_between_moves);
    }
    // No sweep would bring topics to the places that a given prior of proportions has for them.
    const std::vector<double> &alpha = chain_.prior.alpha;
    if (!drawn_.alpha &&
        std::adjacent_find(alpha.begin(), alpha.end(), std::not_equal_to<>()) != alpha.end())
      take_best_alphas(chain_, control_);
  }

  TopicStart average() {
    TopicStart out{TermTopics(chain_.terms(), chain_.topics()),
                   std::vector<double>(std::size_t(chain_.topics()), 0.0), 0};
    const int times = late() ? 1 : averaged_sweeps;
    const double share = 1.0 / times;
    WorkPoll poll;
    for (int i = 0; i < times; ++i) {
      sweep(1);
      for (std::int32_t w = 0; w < chain_.terms(); ++w) {
        poll(2 * std::size_t(chain_.topics()));
        const std::int32_t *const n = chain_.counts.of(w);
        for (int k = 0; k < chain_.topics(); ++k) out.counts.of(w)[k] += share * double(n[k]);
      }
      for (std::size_t k = 0; k < out.alpha.size(); ++k)
        out.alpha[k] += share * chain_.prior.alpha[k];
      out.eta += share * chain_.prior.eta;
    }
    return out;
  }

 private:
  bool late() const { return schedule_.seconds() >= schedule_.max_seconds; }

  const TokenIndex index_;
  TopicChain chain_;
  const std::unique_ptr<TopicSampler> sampler_;
  const DrawnPrior &drawn_;
  const Schedule &schedule_;
  Control &control_;
  int sweeps_ = 0;
};

}  // namespace

double effort_of_start(const CorpusTotals &totals, int topics) {
  // A token is drawn in some 15 ns, whatever the number of topics.
  constexpr double numbers_of_draw = 1.5;
  const double all = std::min(totals.whole ? totals.tokens : double(totals.entries),
                              most_tokens_of_document * double(totals.documents)),
               few = tokens_of_sample(topics), found = std::min(all, few);
  const int patience = patience_with(found);
  double draws = found * (patience * sweeps_before_moves + averaged_sweeps +
                          (patience + 1) / 2 * sweeps_between_moves * (most_moves / 2));
  if (few < many_tokens && all > few)
    draws += std::min(all, many_tokens) * (settling_sweeps + averaged_sweeps);
  return draws * numbers_of_draw;
}

TopicStart starting_topics(Corpus &corpus, const LdaPrior &prior, const DrawnPrior &drawn,
                           std::uint64_t seed, int number, const Schedule &schedule,
                           Control &control) {
  // Not the name of a chain that goes on from here, which would have the same random numbers.
  const int name = -2 * (number + 1);
  const double few = tokens_of_sample(int(prior.alpha.size()));
  TopicStart out;
  {
    MemoryCorpus sample = sample_of(corpus, few, control);
    ShortChain chain(sample, prior, drawn, seed, name, nullptr, schedule, control);
    chain.move();
    out = chain.average();
  }
  if (few < many_tokens && corpus.totals().tokens > few) {
    MemoryCorpus sample = sample_of(corpus, many_tokens, control);
    ShortChain chain(sample, {out.alpha, out.eta, {}}, drawn, seed, name - 1, &out.counts, schedule,
                     control);
    chain.sweep(settling_sweeps);
    out = chain.average();
  }
  // Averages of what was given have rounding errors.
  if (!drawn.alpha) out.alpha = prior.alpha;
  if (!drawn.eta) out.eta = prior.eta;
  double sum = 0;
  for (const double x : out.counts.values()) sum += x;
  for (double &x : out.counts.values()) x *= sum > 0 ? corpus.totals().tokens / sum : 0;
  return out;
}

}  // namespace bayes
