// The log probability of documents that were held out of a fit, here or where they are.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/control.hpp"
#include "counts/remote_corpus.hpp"
#include "data/ordered_tasks.hpp"
#include "topics/lda_evaluation.hpp"

namespace bayes {
namespace {

constexpr double rounding = 1e-9;

/// Appends the scores of the documents of a part, of at most these totals.
void add_part(const Document &answer, const CorpusTotals &most, std::vector<Score> &to) {
  const PassReader given(answer);
  const std::vector<double> &tokens = given.numbers("tokens"),
                            &logs = given.numbers("log_probability", tokens.size());
  if (std::int64_t(tokens.size()) > most.documents - std::int64_t(to.size())) PassReader::refuse();
  double sum = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    sum += tokens[i];
    if (!(tokens[i] >= 0 && std::isfinite(logs[i]))) PassReader::refuse();
    to.push_back({tokens[i], logs[i], 0});
  }
  if (!(sum <= most.tokens * (1 + rounding))) PassReader::refuse();
}

/// The same over documents on other servers. The model travels, and which of its terms are known.
HeldOut evaluate_there(const TopicModel &model, RemoteCorpus &corpus, std::size_t terms,
                       const Evaluation &how, std::span<const char> known,
                       std::vector<Score> *scores) {
  if (how.method != "completion") refuse_remote("the left-to-right estimator");
  const std::string all(terms, 1);
  Document request = pass_request("held-out documents");
  request.set("model", model.to_document());
  request.set("known",
              bytes_document(known.empty() ? all : std::string_view{known.data(), known.size()}));
  std::vector<Score> found;
  for (const Document &answer : corpus.ask(std::move(request)))
    add_part(answer, corpus.totals(), found);
  HeldOut out;
  for (const Score &score : found) out.add({1, score.units, score.log_density});
  if (out.documents != corpus.totals().documents || !std::isfinite(out.log_probability))
    PassReader::refuse();
  if (scores) *scores = std::move(found);
  return out;
}

}  // namespace

HeldOut evaluate_topics(const TopicModel &model, Corpus &corpus, std::span<const std::string> terms,
                        const Evaluation &how, std::span<const char> known, Control &control,
                        std::vector<Score> *scores) {
  if (RemoteCorpus *const remote = corpus.remote())
    return evaluate_there(model, *remote, terms.size(), how, known, scores);
  const std::vector<std::uint64_t> hashes = term_hashes(terms);
  // Merges the two lists of terms: both are in the order of their bytes.
  std::vector<std::int32_t> codes;
  WorkPoll poll;
  for (std::size_t i = 0, at = 0; i < terms.size(); ++i) {
    poll(10);
    while (at < model.terms().size() && model.terms()[at] < terms[i]) ++at;
    const bool own = at < model.terms().size() && model.terms()[at] == terms[i];
    codes.push_back(own && (known.empty() || known[i]) ? std::int32_t(at) : -1);
  }
  const std::vector<TopicDraw> draws = model.scoring_draws(max_scoring_draws);
  const auto proportions = [&model](const DocumentTerms &observed, const TopicDraw &draw) {
    return model.proportions(observed, draw);
  };
  const double operations =
      100.0 * double(corpus.totals().entries) * model.size() * double(draws.size());
  const SweepPlan plan = plan_tasks(operations, 0, control);
  LeftToRight particles = how.plan;
  particles.memory = control.memory / control.threads;
  struct Slot {
    HeldOut sum;
    std::vector<Score> scores;
  };
  std::vector<Slot> slots(std::size_t(plan.slots));
  HeldOut total;
  if (scores) scores->clear();
  sweep_corpus(
      corpus, plan, control,
      [&](int, int slot, const CorpusPiece &piece, const Stop &stop) {
        Slot &slot_of_piece = slots[std::size_t(slot)];
        slot_of_piece = {};
        each_document(piece, [&](std::int64_t, const DocumentTerms &document) {
          const HeldOut found =
              how.method == "completion"
                  ? score_completion(document, hashes, draws, proportions, codes)
                  : score_left_to_right(document, hashes, draws, particles, codes);
          slot_of_piece.sum.add(found);
          if (scores) slot_of_piece.scores.push_back({found.tokens, found.log_probability, 0});
          return !stop();
        });
      },
      [&](int slot) {
        const Slot &done = slots[std::size_t(slot)];
        total.add(done.sum);
        if (scores) scores->insert(scores->end(), done.scores.begin(), done.scores.end());
      });
  return total;
}

Document answer_held_out_documents(PartOfDocuments &part, const Document &request,
                                   Control &control) {
  if (!part.held_out) PassReader::refuse();
  const PassReader given(request);
  const std::unique_ptr<Model> owner = Model::from_document(given.member("model"));
  const auto *const model = dynamic_cast<const TopicModel *>(owner.get());
  const std::string known = bytes_of_document(given.member("known"));
  if (!model ||
      !std::equal(part.terms.begin(), part.terms.end(), model->terms().begin(),
                  model->terms().end()) ||
      known.size() != part.terms.size() ||
      std::any_of(known.begin(), known.end(), [](char each) { return each != 0 && each != 1; }))
    PassReader::refuse();
  std::vector<Score> scores;
  evaluate_topics(*model, *part.held_out, part.terms, {}, known, control, &scores);
  std::vector<double> tokens, logs;
  for (const Score &score : scores) {
    tokens.push_back(score.units);
    logs.push_back(score.log_density);
  }
  Document out = Document::object();
  out.set("tokens", numbers_document(tokens));
  return out.set("log_probability", numbers_document(logs));
}

}  // namespace bayes
