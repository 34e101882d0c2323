// The log probability of documents that were held out of a fit, here or where they are.
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "counts/remote_corpus.hpp"
#include "data/pass.hpp"
#include "data/sweep.hpp"
#include "topics/lda_evaluation.hpp"

namespace bayes {
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
