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

/// Sums over the documents of a part, of at most these totals.
HeldOut part_of_answer(const Document &answer, const CorpusTotals &most) {
  const PassReader given(answer);
  HeldOut out{given.integer("documents", 0, most.documents), given.number("tokens"),
              given.number("log_probability")};
  out.probabilities_squared = given.number("probabilities_squared");
  out.products = given.number("products");
  out.tokens_squared = given.number("tokens_squared");
  if (!(out.tokens >= 0 && out.tokens <= most.tokens * (1 + rounding) &&
        std::isfinite(out.log_probability) && out.probabilities_squared >= 0 &&
        std::isfinite(out.probabilities_squared) && std::isfinite(out.products) &&
        out.tokens_squared >= 0 && out.tokens_squared <= out.tokens * out.tokens * (1 + rounding)))
    PassReader::refuse();
  return out;
}

/// The same over documents on other servers. The model travels, and which of its terms are known.
HeldOut evaluate_there(const TopicModel &model, RemoteCorpus &corpus, std::size_t terms,
                       const Evaluation &how, std::span<const char> known) {
  if (how.method != "completion") refuse_remote("the left-to-right estimator");
  const std::string all(terms, 1);
  Document request = pass_request("held-out documents");
  request.set("model", model.to_document());
  request.set("known",
              bytes_document(known.empty() ? all : std::string_view{known.data(), known.size()}));
  HeldOut out;
  for (const Document &answer : corpus.ask(std::move(request)))
    out.add(part_of_answer(answer, corpus.totals()));
  if (out.documents != corpus.totals().documents) PassReader::refuse();
  return out;
}

}  // namespace

HeldOut evaluate_topics(const TopicModel &model, Corpus &corpus, std::span<const std::string> terms,
                        const Evaluation &how, std::span<const char> known, Control &control) {
  if (RemoteCorpus *const remote = corpus.remote())
    return evaluate_there(model, *remote, terms.size(), how, known);
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
  std::vector<HeldOut> slots(std::size_t(plan.slots));
  HeldOut total;
  sweep_corpus(
      corpus, plan, control,
      [&](int, int slot, const CorpusPiece &piece, const Stop &stop) {
        HeldOut &sum = slots[std::size_t(slot)];
        sum = {};
        each_document(piece, [&](std::int64_t, const DocumentTerms &document) {
          sum.add(how.method == "completion"
                      ? score_completion(document, hashes, draws, proportions, codes)
                      : score_left_to_right(document, hashes, draws, particles, codes));
          return !stop();
        });
      },
      [&](int slot) { total.add(slots[std::size_t(slot)]); });
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
  const HeldOut found = evaluate_topics(*model, *part.held_out, part.terms, {}, known, control);
  Document out = Document::object();
  out.set("documents", found.documents).set("tokens", found.tokens);
  out.set("log_probability", found.log_probability);
  out.set("probabilities_squared", found.probabilities_squared);
  return out.set("products", found.products).set("tokens_squared", found.tokens_squared);
}

}  // namespace bayes
