#include "pg/input/remote_documents.hpp"

#include <memory>
#include <utility>

namespace bayes::pg {
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
  if (const std::optional<HoldOut> &apart = collector().held_out_by())
    out.set("hold_out", apart->every());
  return out;
}

void PushedDocuments::hear(const PassReader &part, const std::string &) {
  collector().add_part(part);
  if (const std::int64_t rows = part.integer("rows", 0, most_rows_of_part); rows > 0)
    rows_.push_back(rows);
}

Document PushedDocuments::settle() {
  DocumentCollector &documents = collector();
  documents.choose_for_parts();
  totals_.vocabulary = held_out_.vocabulary = std::int32_t(documents.terms().size());
  Document out = pass_request("settle");
  out.set("terms", texts_document(documents.terms()));
  if (const std::optional<HoldOut> &apart = documents.held_out_by()) {
    out.set("hold_out", apart->bound());
    in_fit_.assign(documents.terms().size(), 0);
  }
  return out;
}

void PushedDocuments::settled(const PassReader &part) {
  const CorpusTotals totals = totals_of_message(part.document());
  if (totals.vocabulary != totals_.vocabulary) PassReader::refuse();
  add_totals(totals_, totals);
  const std::int64_t rows = rows_.at(settled_++);
  if (!collector().held_out_by()) {
    if (totals.documents != rows) PassReader::refuse();
    return;
  }
  const CorpusTotals apart = totals_of_message(part.member("held_out"));
  const std::string in_fit = bytes_of_document(part.member("in_fit"));
  if (apart.vocabulary != totals_.vocabulary || totals.documents + apart.documents != rows ||
      in_fit.size() != in_fit_.size())
    PassReader::refuse();
  add_totals(held_out_, apart);
  for (std::size_t i = 0; i < in_fit.size(); ++i) {
    poll_interrupts();
    if (in_fit[i] != 0 && in_fit[i] != 1) PassReader::refuse();
    in_fit_[i] |= in_fit[i];
  }
}

void PushedDocuments::take(PushedRows &rows) {
  totals_.skipped = rows.skipped();
  collector().remote = std::make_unique<RemoteCorpus>(rows, totals_);
  const std::optional<HoldOut> &apart = collector().held_out_by();
  if (!apart) return;
  if (held_out_.documents != apart->held_out()) PassReader::refuse();
  collector().take_held_out(rows, held_out_, std::move(in_fit_));
}

}  // namespace bayes::pg
