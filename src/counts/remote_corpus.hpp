// Documents that stay where they are, on other servers (data/remote_rows.hpp), and the numbers that
// are kept beside every document from one pass to the next.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/corpus.hpp"
#include "data/remote_rows.hpp"

namespace bayes {

/// Numbers of every document from the last pass, beside the documents: here, padded, or, under this
/// name, on other servers. Copies of a name stand for the same numbers.
struct DocumentNumbers {
  Buffer here = {};
  std::shared_ptr<const std::int64_t> elsewhere = {};
  /// There was no pass yet.
  bool empty() const { return here.empty() && !elsewhere; }
};

/// Documents in several parts. What reads documents one at a time is refused.
class BAYES_API RemoteCorpus : public Corpus {
 public:
  /// `parts` must outlive this.
  RemoteCorpus(RemoteParts &parts, const CorpusTotals &totals) : parts_(parts) { totals_ = totals; }
  RemoteCorpus *remote() final { return this; }
  /// As RemoteParts::ask(). Parts keep the numbers that have a name, and forget all others.
  std::vector<Document> ask(Document request);
  /// The pass reads numbers of this name and replaces them; a new name if it has none. Adds that to
  /// the request.
  void name(Document &request, DocumentNumbers &numbers);

  /// The first documents up to a size, which are the same in every fit of these documents.
  std::map<double, MemoryCorpus> samples;

  // Each throws Error(invalid_argument): documents are needed one at a time.
  std::int64_t stretches() const final;
  std::span<const CorpusPiece> stretch(std::int64_t) final;
  std::int64_t stretch_of(std::int64_t) final;

 private:
  RemoteParts &parts_;
  std::vector<std::weak_ptr<const std::int64_t>> names_;
  std::int64_t last_ = 0;
};

struct PartOfDocuments;

/// The numbers of every document that a pass reads and replaces: an argument of the pass. Those of
/// a fit, or those that a part keeps for it.
class PassNumbers {
 public:
  PassNumbers() = default;
  PassNumbers(DocumentNumbers *of_fit) : of_fit_(of_fit) {}

  /// Names them in a request to other servers.
  void name(RemoteCorpus &documents, Document &request) const {
    if (of_fit_) documents.name(request, *of_fit_);
  }
  /// On the server of a part, if the request names numbers: finds them, or makes room for them,
  /// `width` for each document. Throws Error(too_large) if there is no memory for them.
  void keep(PartOfDocuments &part, const PassReader &request, std::size_t width, Control &control);
  /// Forgets those that were lost.
  void drop_lost(PartOfDocuments &part, const PassReader &request);

  struct Here {
    /// null if no numbers are kept
    Buffer *numbers = nullptr;
    /// they are yet to be computed
    bool fresh = true;
  };
  /// Those on this server; makes room for those of a fit that has none yet.
  Here here(const Corpus &documents, std::size_t width) const;
  /// The session that had them has lost them.
  bool lost() const { return lost_; }

 private:
  DocumentNumbers *of_fit_ = nullptr;
  Here kept_ = {};
  bool lost_ = false;
};

/// The documents of one part of a fit.
struct PartOfDocuments {
  Corpus &documents;
  /// For every document a number that depends on its contents alone: ascending, and so in the order
  /// that the documents of all parts have in one corpus.
  std::span<const std::int64_t> order;
  std::map<std::int64_t, Buffer> numbers = {};
  /// Documents over the same vocabulary that are not fitted, if some are held out.
  Corpus *held_out = nullptr;
  /// the terms of a vocabulary of texts
  std::span<const std::string> terms = {};

  Corpus &data() { return documents; }
  /// Forgets the numbers that the request does not name.
  void forget(const PassReader &request);
  /// The documents that are held out. Throws Error(invalid_binary) if none are.
  Corpus &held_out_documents() const;
};

/// The totals that parts have, as fields (data/pass.hpp).
template <class F> void totals_fields(F &f, CorpusTotals &totals) {
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  f.integer("documents", totals.documents, 0, most_rows_of_part);
  f.integer("skipped", totals.skipped, 0, most_rows_of_part);
  f.integer("vocabulary", totals.vocabulary, 0, std::numeric_limits<std::int32_t>::max());
  f.integer("entries", totals.entries, 0, most_rows_of_part);
  f.number("tokens", totals.tokens);
  f.integer("most_entries", totals.most_entries, 0, any);
  f.number("most_tokens", totals.most_tokens);
  f.flag("whole", totals.whole);
}
BAYES_API void add_totals(CorpusTotals &to, const CorpusTotals &part);

/// Documents as a message: the numbers of their terms, the terms and the counts.
class DocumentsMessage {
 public:
  void add(const DocumentTerms &document);
  Document take();

 private:
  std::vector<double> sizes_, terms_, counts_;
};
/// Calls f(document) for each. Throws Error(invalid_binary) unless DocumentsMessage has made it,
/// with terms below `vocabulary`.
void each_document(const Document &message, std::int32_t vocabulary,
                   const std::function<void(const DocumentTerms &document)> &f);

}  // namespace bayes
