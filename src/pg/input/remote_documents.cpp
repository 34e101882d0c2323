#include "pg/input/remote_documents.hpp"

#include <memory>
#include <utility>

namespace bayes::pg {
namespace {

Document texts_document(const std::vector<std::string> &texts) {
  Document::List out;
  for (const std::string &text : texts) out.emplace_back(text);
  return out;
}

}  // namespace

std::vector<int> PushedDocuments::begin(TupleDesc columns, std::string &reason) {
  return {make_(columns, reason)};
}

Document PushedDocuments::keep() {
  const DocumentCollector &documents = collector();
  Document out = pass_request("keep");
  out.set("kind", "documents")
      .set("family", request_.family)
      .set("whole", documents.whole_counts());
  out.set("terms", texts_document(documents.terms_of_parts()));
  return out;
}

Document PushedDocuments::settle() {
  DocumentCollector &documents = collector();
  documents.choose_vocabulary();
  totals_.vocabulary = std::int32_t(documents.terms().size());
  Document out = pass_request("settle");
  out.set("terms", texts_document(documents.terms()));
  return out;
}

void PushedDocuments::settled(const PassReader &part) {
  const CorpusTotals totals = totals_of_message(part.document());
  if (totals.vocabulary != totals_.vocabulary) PassReader::refuse();
  add_totals(totals_, totals);
}

void PushedDocuments::take(PushedRows &rows) {
  totals_.skipped = rows.skipped();
  collector().remote = std::make_unique<RemoteCorpus>(rows, totals_);
}

}  // namespace bayes::pg
