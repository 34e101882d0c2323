#include "pg/parts/documents.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace bayes::pg {

// ---- the documents of a part ----

namespace {

const RegisterKind<DocumentsInParts> documents_in_parts;

}  // namespace

ItemForm DocumentsInParts::Part::form_of(std::span<const Oid> types) {
  if (types.size() != 1 || !is_document_type(guarded([types] { return getBaseType(types[0]); })))
    PassReader::refuse();
  return {.type = types[0]};
}

DocumentsInParts::Part::Part(MemoryContext context, const KeptPart &which, Keep keep,
                             std::span<const Oid> types)
    : collector_(context, form_of(types)) {
  collector_.progress.begin(keep.family.c_str());
  collector_.part_ = std::size_t(which.part);
  collector_.options_.whole_counts = keep.whole;
  for (const std::string &term : keep.terms) collector_.dictionary_.number(term);
  if (!keep.terms.empty()) collector_.dictionary_.close();
  if (keep.hold_out) collector_.hold_out(*keep.hold_out);
}

DocumentsInParts::Head DocumentsInParts::Part::head() {
  collector_.progress.end();
  const TermDictionary &dictionary = collector_.dictionary_;
  Head out = {collector_.documents_, collector_.skipped_, collector_.seen_, collector_.truncated_};
  for (std::int32_t i = 0; i < dictionary.size(); ++i) {
    poll_interrupts();
    if (dictionary.documents(i) == 0) continue;
    out.terms.emplace_back(dictionary.term(i));
    out.documents.push_back(double(dictionary.documents(i)));
  }
  if (std::optional<HoldOut> &apart = collector_.hold_out_) {
    apart->count(std::exchange(collector_.hashes_, {}), *collector_.part_);
    out.hashes = apart->counts();
  }
  return out;
}

DocumentsInParts::Facts DocumentsInParts::Part::arrange(Common common, Control &) {
  std::optional<HoldOut> &apart = collector_.hold_out_;
  if (apart.has_value() != common.hold_out.has_value() ||
      !std::is_sorted(common.terms.begin(), common.terms.end(), std::less_equal<>()))
    PassReader::refuse();
  if (apart) apart->set_bound(*common.hold_out);
  std::vector<std::string> &terms = collector_.terms_ = std::move(common.terms);
  std::vector<std::int32_t> codes;
  for (std::int32_t i = 0; i < collector_.dictionary_.size(); ++i) {
    poll_interrupts();
    const std::string_view term = collector_.dictionary_.term(i);
    const auto at = std::lower_bound(terms.begin(), terms.end(), term);
    codes.push_back(at != terms.end() && *at == term ? std::int32_t(at - terms.begin()) : -1);
  }
  collector_.write_documents(codes);
  collector_.arranged_ = true;
  part_.emplace(PartOfDocuments{collector_.corpus(), collector_.order_});
  Facts out = {collector_.corpus().totals(), {}};
  if (!apart) return out;
  part_->held_out = &collector_.held_out();
  part_->terms = terms;
  out.held_out = {collector_.held_out().totals(),
                  {collector_.in_fit_.begin(), collector_.in_fit_.end()}};
  return out;
}

// ---- the server of the fit ----

DocumentsInParts::Keep PushedDocuments::request_to_keep() {
  const DocumentCollector &documents = collector();
  DocumentsInParts::Keep out = {request_.family, documents.options_.whole_counts, {}, {}};
  if (!documents.options_.vocabulary.empty())
    for (std::int32_t i = 0; i < documents.dictionary_.size(); ++i)
      out.terms.emplace_back(documents.dictionary_.term(i));
  if (documents.hold_out_) out.hold_out = documents.hold_out_->every();
  return out;
}

void PushedDocuments::hear_head(DocumentsInParts::Head head, const std::string &) {
  DocumentCollector &to = collector();
  to.seen_ += head.seen;
  to.documents_ += head.rows;
  to.skipped_ += head.skipped;
  to.truncated_ += head.truncated;
  if (head.hashes.has_value() != to.hold_out_.has_value()) PassReader::refuse();
  if (to.hold_out_) to.hold_out_->add(*head.hashes, head.rows);
  for (std::size_t i = 0; i < head.terms.size(); ++i) {
    poll_interrupts();
    const double documents = head.documents[i];
    if (!(documents >= 1 && documents <= double(to.documents_))) PassReader::refuse();
    const std::int32_t number = to.dictionary_.number(head.terms[i]);
    if (number < 0) PassReader::refuse();
    to.dictionary_.count_document(number, std::int64_t(documents));
  }
  if (head.rows > 0) rows_.push_back(head.rows);
}

DocumentsInParts::Common PushedDocuments::common() {
  DocumentCollector &documents = collector();
  documents.choose_terms();
  DocumentsInParts::Common out = {documents.terms_, {}};
  totals_.vocabulary = held_out_.vocabulary = std::int32_t(out.terms.size());
  if (std::optional<HoldOut> &apart = documents.hold_out_) {
    apart->choose();
    out.hold_out = apart->bound();
    in_fit_.assign(out.terms.size(), 0);
  }
  return out;
}

void PushedDocuments::hear_facts(DocumentsInParts::Facts facts) {
  const std::int32_t vocabulary = totals_.vocabulary;
  if (facts.totals.vocabulary != vocabulary ||
      facts.held_out.has_value() != collector().hold_out_.has_value())
    PassReader::refuse();
  add_totals(totals_, facts.totals);
  std::int64_t documents = facts.totals.documents;
  if (facts.held_out) {
    const auto &[apart, in_fit] = *facts.held_out;
    if (apart.vocabulary != vocabulary || in_fit.size() != in_fit_.size()) PassReader::refuse();
    documents += apart.documents;
    add_totals(held_out_, apart);
    for (std::size_t i = 0; i < in_fit.size(); ++i) {
      poll_interrupts();
      if (in_fit[i] != 0 && in_fit[i] != 1) PassReader::refuse();
      in_fit_[i] |= in_fit[i];
    }
  }
  if (documents != rows_.at(settled_++)) PassReader::refuse();
}

void PushedDocuments::take(PushedRows &rows) {
  DocumentCollector &to = collector();
  totals_.skipped = rows.skipped();
  to.remote = std::make_unique<RemoteCorpus>(rows, totals_);
  if (!to.hold_out_) return;
  if (held_out_.documents != to.hold_out_->held_out()) PassReader::refuse();
  to.remote_held_out_ = std::make_unique<RemoteCorpus>(rows, held_out_);
  to.in_fit_ = std::move(in_fit_);
}

}  // namespace bayes::pg
