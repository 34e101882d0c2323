#include "counts/remote_corpus.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/message.hpp"
#include "counts/padded_table.hpp"

namespace bayes {
namespace {

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
constexpr const char *one_at_a_time = "what needs documents one at a time";

}  // namespace

std::int64_t RemoteCorpus::stretches() const { refuse_remote(one_at_a_time); }
std::span<const CorpusPiece> RemoteCorpus::stretch(std::int64_t) { refuse_remote(one_at_a_time); }
std::int64_t RemoteCorpus::stretch_of(std::int64_t) { refuse_remote(one_at_a_time); }

std::vector<Document> RemoteCorpus::ask(Document request) {
  Document::List names;
  std::erase_if(names_, [](const auto &name) { return name.expired(); });
  for (const auto &name : names_)
    if (const auto alive = name.lock()) names.emplace_back(*alive);
  request.set("kept", std::move(names));
  return parts_.ask(request);
}

void RemoteCorpus::name(Document &request, DocumentNumbers &numbers) {
  request.set("fresh", !numbers.elsewhere);
  if (!numbers.elsewhere) {
    numbers.elsewhere = std::make_shared<const std::int64_t>(++last_);
    names_.push_back(numbers.elsewhere);
  }
  request.set("numbers", *numbers.elsewhere);
}

void PartOfDocuments::forget(const PassReader &request) {
  std::map<std::int64_t, Buffer> kept;
  for (const Document &name : request.list("kept")) {
    const auto *const number = name.as<std::int64_t>();
    if (!number) PassReader::refuse();
    if (const auto at = numbers.find(*number); at != numbers.end())
      kept.insert(numbers.extract(at));
  }
  numbers = std::move(kept);
}

Corpus &PartOfDocuments::held_out_documents() const {
  if (!held_out) PassReader::refuse();
  return *held_out;
}

void PassNumbers::keep(PartOfDocuments &part, const PassReader &request, std::size_t width,
                       Control &control) {
  if (!request.document().find("numbers")) return;
  const std::int64_t name = request.integer("numbers", 1, any);
  const std::int64_t documents = part.documents.totals().documents;
  const std::size_t size = std::size_t(documents) * width, others = part.numbers.size();
  const auto found = part.numbers.find(name);
  const bool known = found != part.numbers.end(), fresh = request.flag("fresh");
  if (known && !fresh) {
    if (found->second.size() != size) PassReader::refuse();
    kept_ = {&found->second, false};
    return;
  }
  if (8 * double(size) * double(others + 1) > control.memory)
    throw Error(Errc::too_large,
                message("{} numbers of each of {} documents, for {} fits at once, do not fit into "
                        "memory",
                        width, documents, others + 1),
                "They are kept beside the documents from one pass to the next.",
                "Raise maintenance_work_mem on this server, use a smaller k, or more servers.");
  Buffer &out = part.numbers[name];
  out.clear();
  grow(out, size);
  kept_ = {&out, true};
  lost_ = !fresh;
}

void PassNumbers::drop_lost(PartOfDocuments &part, const PassReader &request) {
  if (!lost_) return;
  part.numbers.erase(request.integer("numbers", 1, any));
  kept_ = {};
}

PassNumbers::Here PassNumbers::here(const Corpus &documents, std::size_t width) const {
  if (!of_fit_) return kept_;
  Buffer &numbers = of_fit_->here;
  const bool fresh = numbers.empty();
  if (fresh) grow(numbers, std::size_t(documents.totals().documents) * width);
  return {&numbers, fresh};
}

void add_totals(CorpusTotals &to, const CorpusTotals &part) {
  to.documents += part.documents;
  to.skipped += part.skipped;
  to.entries += part.entries;
  to.tokens += part.tokens;
  to.most_entries = std::max(to.most_entries, part.most_entries);
  to.most_tokens = std::max(to.most_tokens, part.most_tokens);
  to.whole = to.whole && part.whole;
}

void DocumentsMessage::add(const DocumentTerms &document) {
  sizes_.push_back(double(document.size()));
  terms_.insert(terms_.end(), document.terms.begin(), document.terms.end());
  counts_.insert(counts_.end(), document.counts.begin(), document.counts.end());
}

Document DocumentsMessage::take() {
  Document out = Document::object();
  out.set("sizes", numbers_document(sizes_)).set("terms", numbers_document(terms_));
  out.set("counts", numbers_document(counts_));
  return out;
}

void each_document(const Document &message, std::int32_t vocabulary,
                   const std::function<void(const DocumentTerms &document)> &f) {
  const PassReader given(message);
  const std::vector<double> &sizes = given.numbers("sizes"), &terms = given.numbers("terms"),
                            &counts = given.numbers("counts", terms.size());
  std::vector<std::int32_t> own;
  std::size_t at = 0;
  for (const double size : sizes) {
    if (!(size >= 0 && size <= double(terms.size() - at) && size == std::floor(size)))
      PassReader::refuse();
    own.clear();
    for (std::size_t i = at; i < at + std::size_t(size); ++i) {
      const double term = terms[i], least = own.empty() ? 0 : double(own.back()) + 1;
      if (!(term >= least && term < vocabulary && term == std::floor(term) && counts[i] > 0))
        PassReader::refuse();
      own.push_back(std::int32_t(term));
    }
    f({own, std::span(counts).subspan(at, own.size())});
    at += own.size();
  }
  if (at != terms.size()) PassReader::refuse();
}

}  // namespace bayes
