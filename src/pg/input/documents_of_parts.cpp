// Documents of one fit in several parts: DocumentCollector on the server of the fit and on others.
#include <algorithm>
#include <functional>
#include <utility>

#include "data/remote_rows.hpp"
#include "pg/input/document_collector.hpp"

namespace bayes::pg {

void DocumentCollector::begin_part(const char *family, bool whole_counts,
                                   const std::vector<std::string> &vocabulary, std::size_t part) {
  progress.begin(family);
  part_ = true;
  part_number_ = part;
  options_.whole_counts = whole_counts;
  for (const std::string &term : vocabulary) dictionary_.number(term);
  if (!vocabulary.empty()) dictionary_.close();
}

std::vector<std::string> DocumentCollector::terms_of_parts() const {
  std::vector<std::string> out;
  if (options_.vocabulary.empty()) return out;
  for (std::int32_t i = 0; i < dictionary_.size(); ++i) out.emplace_back(dictionary_.term(i));
  return out;
}

Document DocumentCollector::part_message() {
  Document::List terms;
  std::vector<double> documents;
  for (std::int32_t i = 0; i < dictionary_.size(); ++i) {
    poll_interrupts();
    if (dictionary_.documents(i) == 0) continue;
    terms.emplace_back(std::string(dictionary_.term(i)));
    documents.push_back(double(dictionary_.documents(i)));
  }
  Document out = Document::object();
  out.set("rows", documents_).set("skipped", skipped_).set("seen", seen_);
  out.set("truncated", truncated_).set("terms", std::move(terms));
  out.set("documents", numbers_document(documents));
  if (hold_out_) {
    hold_out_->count(std::exchange(hashes_, {}), part_number_);
    hold_out_->write(out);
  }
  return out;
}

void DocumentCollector::add_part(const PassReader &part) {
  seen_ += part.integer("seen", 0, most_rows_of_part);
  const std::int64_t here = part.integer("rows", 0, most_rows_of_part);
  documents_ += here;
  if (hold_out_) hold_out_->add(part, here);
  skipped_ += part.integer("skipped", 0, most_rows_of_part);
  truncated_ += part.integer("truncated", 0, most_rows_of_part);
  const Document::List &terms = part.list("terms");
  const std::vector<double> &documents = part.numbers("documents", terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    poll_interrupts();
    const auto *const term = terms[i].as<std::string>();
    if (!term || !(documents[i] >= 1 && documents[i] <= double(documents_))) PassReader::refuse();
    const std::int32_t number = dictionary_.number(*term);
    if (number < 0) PassReader::refuse();
    dictionary_.count_document(number, std::int64_t(documents[i]));
  }
}

void DocumentCollector::choose_for_parts() {
  choose_terms();
  if (hold_out_) hold_out_->choose();
}

void DocumentCollector::take_held_out(RemoteParts &parts, const CorpusTotals &totals,
                                      std::vector<char> in_fit) {
  remote_held_out_ = std::make_unique<RemoteCorpus>(parts, totals);
  in_fit_ = std::move(in_fit);
}

void DocumentCollector::arrange_part(std::vector<std::string> vocabulary) {
  if (!std::is_sorted(vocabulary.begin(), vocabulary.end(), std::less_equal<>()))
    PassReader::refuse();
  terms_ = std::move(vocabulary);
  std::vector<std::int32_t> codes;
  for (std::int32_t i = 0; i < dictionary_.size(); ++i) {
    poll_interrupts();
    const std::string_view term = dictionary_.term(i);
    const auto at = std::lower_bound(terms_.begin(), terms_.end(), term);
    codes.push_back(at != terms_.end() && *at == term ? std::int32_t(at - terms_.begin()) : -1);
  }
  write_documents(codes);
  arranged_ = true;
}

}  // namespace bayes::pg
