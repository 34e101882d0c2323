// Rows of one table in several parts: TripleCollector on the server of the fit and on others.
#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "base/message.hpp"
#include "pg/input/triple_collector.hpp"
#include "pg/server/server_control.hpp"

namespace bayes::pg {

void TripleCollector::write_policy(Document &request) const {
  request.set("repeated", int(options_.repeated)).set("non_negative", options_.non_negative);
  request.set("missing", options_.missing).set("bytes_of_key", options_.bytes_of_key);
}

void TripleCollector::begin_part(const PassReader &request) {
  progress.begin(request.text("family").c_str());
  part_ = true;
  options_.repeated = FactorTableOptions::Repeated(
      request.integer("repeated", 0, int(FactorTableOptions::Repeated::last)));
  options_.non_negative = request.flag("non_negative");
  options_.missing = request.flag("missing");
  options_.bytes_of_key = request.number("bytes_of_key");
  begin_cells();
}

Document TripleCollector::part_message() const {
  Document out = Document::object();
  out.set("rows", std::int64_t(rows_.size())).set("columns", std::int64_t(length_));
  out.set("skipped", skipped_).set("seen", seen_);
  return out;
}

Document TripleCollector::arrange_part(std::int32_t columns, Control &control) {
  if (length_ != 0 && length_ != columns) PassReader::refuse();
  columns_.count_to(columns);
  check_keys();
  arrange(control);
  Document::List keys;
  for (const std::string &key : table_->document_keys.all()) keys.emplace_back(key);
  Document out = totals_message(table_->documents.totals());
  out.set("keys", form_.values == 2 ? std::move(keys) : Document::List());
  out.set("hash", std::bit_cast<std::int64_t>(hash(control)));
  return out;
}

void TripleCollector::take_parts(RemoteParts &rows, const std::vector<Part> &parts,
                                 std::int64_t skipped) {
  CorpusTotals totals;
  struct Key {
    std::string text;
    std::size_t part;
    std::int32_t document;
  };
  std::vector<Key> keys;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part &part = parts[i];
    if ((i > 0 && part.totals.vocabulary != totals.vocabulary) ||
        (rows_.named() && std::int64_t(part.keys.size()) != part.totals.documents))
      PassReader::refuse();
    totals.vocabulary = part.totals.vocabulary;
    add_totals(totals, part.totals);
    for (std::int64_t d = 0; d < part.totals.documents; ++d)
      keys.push_back({rows_.named() ? part.keys[std::size_t(d)] : std::to_string(keys.size() + 1),
                      i, std::int32_t(keys.size())});
    if (std::int64_t(keys.size()) + totals.vocabulary > factor_max_keys)
      throw Error(Errc::too_large,
                  message("table has more than {} rows and columns together", factor_max_keys),
                  "A model holds numbers for every key.");
  }
  totals.skipped = skipped;
  remote_ = std::make_unique<RemoteCorpus>(rows, totals);
  if (totals.documents == 0) return;
  if (totals.documents <= totals.vocabulary)
    throw Error(
        Errc::invalid_argument,
        message("the table has {} rows and {} columns", totals.documents, totals.vocabulary),
        "A fit where the rows are needs more rows than columns.",
        "Leave option push_down out: the rows are then collected on this server.");
  WorkPoll poll;
  if (rows_.named())
    std::sort(keys.begin(), keys.end(), [&poll](const Key &a, const Key &b) {
      poll(8);
      return a.text != b.text ? a.text < b.text : a.document < b.document;
    });
  std::vector<std::string> row_keys, column_keys;
  std::vector<std::int32_t> key_of_document(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i > 0 && keys[i].text == keys[i - 1].text)
      throw Error(
          Errc::invalid_argument,
          message("row \"{}\" is on two servers", abbreviated(keys[i].text)),
          message("They are {} and {}.", parts[keys[i - 1].part].place, parts[keys[i].part].place),
          "A row that is in several places has to have a key for each.");
    key_of_document[std::size_t(keys[i].document)] = std::int32_t(i);
    row_keys.push_back(keys[i].text);
  }
  for (std::int32_t j = 0; j < totals.vocabulary; ++j) column_keys.push_back(std::to_string(j + 1));
  table_.emplace(FactorTable{*remote_, nullptr, Side::row, std::move(row_keys),
                             std::move(column_keys), skipped, std::move(key_of_document)});
}

}  // namespace bayes::pg
