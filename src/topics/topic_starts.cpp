#include "topics/lda_start.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "base/assignment.hpp"
#include "data/pass.hpp"
#include "topics/topic_chain.hpp"

namespace bayes {
namespace {

/// Size of the sample in which topics are found: grows with the number of topics, within limits.
/// The result is refined in a sample of max_sample_tokens.
constexpr double min_sample_tokens = 2.5e5, sample_tokens_per_topic = 5e3, max_sample_tokens = 1e6;
constexpr double max_document_tokens = 1e4;
/// Corpora with fewer tokens run up to 12 times more sweeps: these cost little, and topics may be
/// slow to separate.
constexpr double long_run_below_tokens = 1e6;

/// Topics are moved for the first time when they have begun to differ, and then, with sweeps in
/// between, until two successive calls move none.
constexpr int sweeps_before_moves = 15, sweeps_between_moves = 10, max_moves = 10;
/// Sweeps of the refinement before those that are averaged.
constexpr int refining_sweeps = 10, averaged_sweeps = 10;

/// Number of tokens in which topics are found.
double sample_tokens(int topics) {
  return std::clamp(sample_tokens_per_topic * topics, min_sample_tokens, max_sample_tokens);
}

/// Factor by which the number of sweeps is multiplied.
int sweep_factor(double tokens) {
  return int(std::clamp(long_run_below_tokens / std::max(1.0, tokens), 1.0, 12.0));
}

/// Counts that are small weights are scaled up to one per entry on average.
double usual_scale(const CorpusTotals &totals) {
  return totals.whole || !(totals.tokens > 0)
             ? 1
             : std::max(1.0, double(totals.entries) / totals.tokens);
}

/// Passes on the first documents, with whole counts and their tokens, until take() returns false.
/// The order of documents depends only on their contents, so they are as good as a random sample.
void each_whole_document(Corpus &corpus, double usual, Control &control,
                         const std::function<bool(std::int64_t index, const DocumentTerms &document,
                                                  double tokens)> &take) {
  std::vector<std::int32_t> terms;
  std::vector<double> counts;
  WorkPoll poll;
  bool more = true;
  for (std::int64_t s = 0; s < corpus.stretches() && more; ++s)
    for (const CorpusPiece &piece : corpus.stretch(s)) {
      control.poll();
      each_document(piece, [&](std::int64_t index, const DocumentTerms &document) {
        const double scale =
            std::min(usual, max_document_tokens / std::max(1e-300, document.tokens()));
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
        return more = take(index, {terms, counts}, taken);
      });
      if (!more) break;
    }
}

/// Refuses a document of another server that each_whole_document() does not make: chains have a
/// place for each of its tokens.
void require_whole(const DocumentTerms &document) {
  for (const double count : document.counts)
    if (count != std::floor(count)) PassReader::refuse();
  if (!(document.tokens() <= max_document_tokens + 1)) PassReader::refuse();
}

/// The first documents of a part.
struct FirstDocuments {
  MemoryCorpus documents;
  /// as PartOfDocuments::order
  std::vector<std::int64_t> order = {};
  /// whether the part has more
  bool more = false;
};

/// The first documents of each part, with whole counts.
struct FirstDocumentsPass {
  static constexpr const char *name = "first documents";
  struct Sums {
    std::int32_t vocabulary;
    std::vector<FirstDocuments> parts = {};

    /// one part
    template <class F> void fields(F &f) {
      if constexpr (F::reading) {
        FirstDocuments &part = parts.emplace_back(FirstDocuments{MemoryCorpus(vocabulary)});
        each_document(PassReader(f.document()).member("documents"), vocabulary,
                      [&part](const DocumentTerms &document) {
                        require_whole(document);
                        part.documents.append(document);
                      });
      } else {
        DocumentsMessage message;
        for (const CorpusPiece &piece : parts[0].documents.stretch(0))
          each_document(piece, [&](std::int64_t, const DocumentTerms &document) {
            message.add(document);
            return true;
          });
        f.document().set("documents", message.take());
      }
      FirstDocuments &part = parts.back();
      f.list(
          "order", part.order, std::size_t(part.documents.totals().documents),
          [](std::int64_t number) { return Document(number); },
          [](const Document &each) {
            const auto *const number = each.as<std::int64_t>();
            if (!number) PassReader::refuse();
            return *number;
          });
      f.flag("more", part.more);
    }
    void add(Sums &other) {
      std::move(other.parts.begin(), other.parts.end(), std::back_inserter(parts));
    }
  };
  /// usual_scale() of all parts
  double usual = 1;
  /// The tokens that are wanted of all parts together; a part sends this share of them for each of
  /// its documents.
  double tokens = 0, share = 0;
  /// of the part
  std::span<const std::int64_t> order = {};

  template <class F> void fields(F &f, Corpus &) {
    f.number("usual", usual);
    f.number("tokens", tokens);
    f.number("share", share);
    f.require(usual >= 1 && usual <= 1e300 && tokens >= 0 && share >= 0);
  }
  void keep(PartOfDocuments &part, const PassReader &, Control &) {
    order = part.order;
    if (order.size() != std::size_t(part.documents.totals().documents)) PassReader::refuse();
  }
  Sums nothing(Corpus &corpus) const { return {corpus.totals().vocabulary}; }
  Sums here(Corpus &corpus, Control &control) const {
    // As few as these would not tell how many there are to come.
    constexpr std::size_t fewest_documents = 100;
    const std::int64_t documents = corpus.totals().documents;
    const double limit = std::min(tokens, share * double(documents) * tokens);
    FirstDocuments out{MemoryCorpus(corpus.totals().vocabulary)};
    double sum = 0;
    each_whole_document(corpus, usual, control,
                        [&](std::int64_t index, const DocumentTerms &document, double taken) {
                          out.documents.append(document);
                          out.order.push_back(order[std::size_t(index)]);
                          sum += taken;
                          return sum < tokens &&
                                 (sum < limit || out.order.size() < fewest_documents);
                        });
    out.more = std::int64_t(out.order.size()) < documents && sum < tokens;
    return {corpus.totals().vocabulary, {std::move(out)}};
  }
};

/// The same sample of documents on other servers, in the order of their contents over all parts. A
/// part sends somewhat more than its share; if that turns out to be too few, more is asked for.
MemoryCorpus remote_sample(Corpus &corpus, double max_tokens, Control &control) {
  const CorpusTotals &totals = corpus.totals();
  for (double share = 2;; share *= 4) {
    const FirstDocumentsPass pass{usual_scale(totals), max_tokens,
                                  share / std::max(1.0, double(totals.documents))};
    std::vector<FirstDocuments> parts = run(corpus, pass, control).parts;
    struct Place {
      std::int64_t order;
      std::size_t part;
      DocumentTerms document;
    };
    std::vector<Place> all;
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (const CorpusPiece &piece : parts[i].documents.stretch(0))
        each_document(piece, [&](std::int64_t index, const DocumentTerms &document) {
          all.push_back({parts[i].order[std::size_t(index)], i, document});
          return true;
        });
    std::stable_sort(all.begin(), all.end(),
                     [](const Place &a, const Place &b) { return a.order < b.order; });
    MemoryCorpus out(totals.vocabulary);
    double tokens = 0;
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const Place &place : all) {
      if (tokens >= max_tokens) break;
      out.append(place.document);
      tokens += place.document.tokens();
      last = place.order;
    }
    const bool complete = std::all_of(parts.begin(), parts.end(), [&](const FirstDocuments &part) {
      return !part.more ||
             (tokens >= max_tokens && !part.order.empty() && part.order.back() >= last);
    });
    if (complete) return out;
    // By then each part has sent as much as is wanted of all.
    if (share >= 4 * double(totals.documents)) PassReader::refuse();
  }
}

MemoryCorpus sample_of(Corpus &corpus, double max_tokens, Control &control) {
  if (RemoteCorpus *const remote = corpus.remote()) {
    const auto found = remote->samples.find(max_tokens);
    if (found != remote->samples.end()) return found->second;
    return remote->samples.emplace(max_tokens, remote_sample(*remote, max_tokens, control))
        .first->second;
  }
  MemoryCorpus out(corpus.totals().vocabulary);
  double tokens = 0;
  each_whole_document(corpus, usual_scale(corpus.totals()), control,
                      [&](std::int64_t, const DocumentTerms &document, double taken) {
                        out.append(document);
                        return (tokens += taken) < max_tokens;
                      });
  return out;
}

/// Permutes the topics so that the documents are most probable under a given asymmetric alpha,
/// which no sweep would achieve. `chain.histogram` is up to date.
void permute_to_best_alphas(TopicChain &chain, Control &control) {
  const auto k = std::size_t(chain.topics());
  // The log probability is a sum over topics, so an assignment problem has the best permutation.
  std::vector<double> gain(k * k, 0.0);
  const PollScope scope(control);
  WorkPoll poll;
  chain.histogram.each([&](int topic, std::int32_t n, std::int64_t documents) {
    poll(40 * k);
    for (std::size_t j = 0; j < k; ++j)
      gain[std::size_t(topic) * k + j] += double(documents) * log_rising(chain.prior.alpha[j], n);
  });
  const std::vector<int> new_topics = best_assignment(gain, int(k));
  for (std::uint16_t &z : chain.assigned) z = std::uint16_t(new_topics[z]);
  std::vector<std::int32_t> row(k);
  std::vector<std::int64_t> totals(k);
  for (std::int32_t w = 0; w < chain.terms(); ++w) {
    poll(2 * k);
    std::int32_t *const counts = chain.counts.row(w);
    for (std::size_t i = 0; i < k; ++i) row[std::size_t(new_topics[i])] = counts[i];
    std::copy(row.begin(), row.end(), counts);
  }
  for (std::size_t i = 0; i < k; ++i) totals[std::size_t(new_topics[i])] = chain.totals[i];
  chain.totals = std::move(totals);
}

/// A short chain of the collapsed sampler, whose last sweeps are averaged.
class InitialChain {
 public:
  InitialChain(Corpus &sample, const LdaPrior &prior, const DrawnPrior &drawn, std::uint64_t seed,
               int number, const PaddedMatrix *start, Control &control)
      : index_(sample, control),
        chain_(sample, index_, prior, seed, number),
        sampler_(collapsed_topics(chain_)),
        drawn_(drawn),
        control_(control) {
    begin_topics(chain_, start, control);
  }

  /// Makes this many sweeps, or fewer if the time is over.
  void sweep(int times) {
    for (; times > 0 && !control_.out_of_time(); --times) {
      sampler_->sweep(sweeps_, control_);
      Random random(chain_.seed, std::uint64_t(chain_.number), std::uint64_t(sweeps_),
                    std::uint64_t(TopicStream::prior));
      draw_prior(chain_, drawn_, random);
      ++sweeps_;
    }
  }

  void move() {
    const int factor = sweep_factor(double(index_.tokens()));
    sweep(factor * sweeps_before_moves);
    for (int calls = 0, idle = 0; calls < max_moves && idle < 2 && !control_.out_of_time();
         ++calls) {
      const bool own_alphas = drawn_.alpha && !drawn_.symmetric;
      idle = move_topics(chain_, own_alphas, calls, control_) > 0 ? 0 : idle + 1;
      if (idle < 2) sweep((factor + 1) / 2 * sweeps_between_moves);
    }
    const std::vector<double> &alpha = chain_.prior.alpha;
    if (!drawn_.alpha &&
        std::adjacent_find(alpha.begin(), alpha.end(), std::not_equal_to<>()) != alpha.end())
      permute_to_best_alphas(chain_, control_);
  }

  TopicStart average() {
    TopicStart out{PaddedMatrix(chain_.terms(), chain_.topics()),
                   std::vector<double>(std::size_t(chain_.topics()), 0.0), 0};
    const int times = control_.out_of_time() ? 1 : averaged_sweeps;
    const double share = 1.0 / times;
    WorkPoll poll;
    for (int i = 0; i < times; ++i) {
      sweep(1);
      for (std::int32_t w = 0; w < chain_.terms(); ++w) {
        poll(2 * std::size_t(chain_.topics()));
        const std::int32_t *const n = chain_.counts.row(w);
        for (int k = 0; k < chain_.topics(); ++k) out.counts.row(w)[k] += share * double(n[k]);
      }
      for (std::size_t k = 0; k < out.alpha.size(); ++k)
        out.alpha[k] += share * chain_.prior.alpha[k];
      out.eta += share * chain_.prior.eta;
    }
    return out;
  }

 private:
  const TokenIndex index_;
  TopicChain chain_;
  const std::unique_ptr<TopicSampler> sampler_;
  const DrawnPrior &drawn_;
  Control &control_;
  int sweeps_ = 0;
};

}  // namespace

const PassOver<PartOfDocuments> first_documents_pass =
    pass_over<PartOfDocuments, FirstDocumentsPass>();

double effort_of_start(const CorpusTotals &totals, int topics) {
  // Drawing a token takes about 15 ns, whatever the number of topics.
  constexpr double effort_per_token = 1.5;
  const double all = std::min(totals.whole ? totals.tokens : double(totals.entries),
                              max_document_tokens * double(totals.documents)),
               few = sample_tokens(topics), found = std::min(all, few);
  const int factor = sweep_factor(found);
  double draws = found * (factor * sweeps_before_moves + averaged_sweeps +
                          (factor + 1) / 2 * sweeps_between_moves * (max_moves / 2));
  if (few < max_sample_tokens && all > few)
    draws += std::min(all, max_sample_tokens) * (refining_sweeps + averaged_sweeps);
  return draws * effort_per_token;
}

TopicStart starting_topics(Corpus &corpus, const LdaPrior &prior, const DrawnPrior &drawn,
                           std::uint64_t seed, int number, Control &control) {
  const BudgetScope half(control, control.budget.share(0.5));
  // Negative, so that the chain that continues from here has other random numbers.
  const int chain_number = -2 * (number + 1);
  const double few = sample_tokens(int(prior.alpha.size()));
  TopicStart out;
  {
    MemoryCorpus sample = sample_of(corpus, few, control);
    InitialChain chain(sample, prior, drawn, seed, chain_number, nullptr, control);
    chain.move();
    out = chain.average();
  }
  if (few < max_sample_tokens && corpus.totals().tokens > few) {
    MemoryCorpus sample = sample_of(corpus, max_sample_tokens, control);
    InitialChain chain(sample, {out.alpha, out.eta, {}}, drawn, seed, chain_number - 1, &out.counts,
                       control);
    chain.sweep(refining_sweeps);
    out = chain.average();
  }
  // Given parameters are restored, since their averages have rounding errors.
  if (!drawn.alpha) out.alpha = prior.alpha;
  if (!drawn.eta) out.eta = prior.eta;
  double sum = 0;
  for (const double x : out.counts.values()) sum += x;
  for (double &x : out.counts.values()) x *= sum > 0 ? corpus.totals().tokens / sum : 0;
  return out;
}

}  // namespace bayes
