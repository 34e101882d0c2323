// Rows of one table in several parts: TripleCollector on the server of the fit and on others.
#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>
#include <utility>

#include "base/message.hpp"
#include "counts/document_parts.hpp"
#include "pg/input/triple_collector.hpp"
#include "pg/server/server_control.hpp"

namespace bayes::pg {
namespace {

/// The key of a row that another server keeps.
struct KeyOfPart {
  std::string_view text;
  std::uint32_t part;
  std::int32_t document;
};

}  // namespace

void TripleCollector::write_policy(Document &request) const {
  request.set("repeated", int(options_.repeated)).set("non_negative", options_.non_negative);
  request.set("missing", options_.missing).set("bytes_of_key", options_.bytes_of_key);
  if (hold_out_) request.set("hold_out", hold_out_->every());
}

void TripleCollector::begin_part(const PassReader &request) {
  progress.begin(request.text("family").c_str());
  part_ = true;
  options_.repeated = FactorTableOptions::Repeated(
      request.integer("repeated", 0, int(FactorTableOptions::Repeated::last)));
  options_.non_negative = request.flag("non_negative");
  options_.missing = request.flag("missing");
  options_.bytes_of_key = request.number("bytes_of_key");
  if (request.document().find("hold_out")) hold_out(int(request.integer("hold_out", 2, 1000)));
  begin_cells();
}

Document TripleCollector::part_message() {
  Document out = Document::object();
  out.set("rows", std::int64_t(rows_.size())).set("columns", std::int64_t(length_));
  out.set("skipped", skipped_).set("seen", seen_);
  if (!hold_out_ || !rows_.named()) return out;
  HoldOut counts(hold_out_->every());
  WorkPoll poll;
  rows_.each([&](std::string_view key) {
    poll(4 * key.size());
    counts.count(term_hash(key));
  });
  counts.write(out);
  return out;
}

void TripleCollector::hear_part(const PassReader &part, std::int64_t rows) {
  if (hold_out_ && rows_.named()) hold_out_->add(part, rows);
}

void TripleCollector::choose_for_parts(Document &request, const std::vector<std::int64_t> &rows) {
  columns_.count_to(std::int32_t(PassReader(request).integer("columns", 1, factor_max_keys)));
  std::vector<double> before;
  std::int64_t &number = rows_elsewhere_;
  for (const std::int64_t of_part : rows) {
    before.push_back(double(number));
    number += of_part;
    check_keys();
  }
  if (!hold_out_) return;
  WorkPoll poll;
  for (std::int64_t i = 1; i <= number && !rows_.named(); ++i) {
    poll(10);
    hold_out_->count(term_hash(std::to_string(i)));
  }
  hold_out_->choose();
  request.set("hold_out", hold_out_->bound()).set("before", numbers_document(before));
}

Document TripleCollector::arrange_part(const PassReader &request, std::size_t part,
                                       Control &control) {
  const auto columns = std::int32_t(request.integer("columns", 1, factor_max_keys));
  if (hold_out_) {
    hold_out_->set_bound(int(request.integer("hold_out", 0, HoldOut::intervals)));
    const std::vector<double> &before = request.numbers("before");
    if (part >= before.size() || !(before[part] >= 0 && before[part] <= factor_max_keys))
      PassReader::refuse();
    rows_before_ = std::int64_t(before[part]);
  }
  if (length_ != 0 && length_ != columns) PassReader::refuse();
  columns_.count_to(columns);
  check_keys();
  arrange(control);
  Document out = totals_message(table_->documents.totals());
  const bool named = form_.values == 2;
  out.set("keys", PackedTexts::message(named ? table_->document_keys.all()
                                             : std::span<const std::string>()));
  if (hold_out_) {
    out.set("held_out", totals_message(held_out_->totals()));
    out.set("held_out_keys", PackedTexts::message(held_out_keys_));
  }
  out.set("hash", std::bit_cast<std::int64_t>(hash(control)));
  return out;
}

void TripleCollector::Part::take(const PassReader &answer, std::int64_t columns, bool holds_out) {
  totals = totals_of_message(answer.document());
  keys = PackedTexts(answer.member("keys"));
  held_out.vocabulary = std::int32_t(columns);
  if (holds_out) {
    held_out = totals_of_message(answer.member("held_out"));
    held_out_keys = PackedTexts(answer.member("held_out_keys"));
  }
  if (totals.vocabulary != columns || held_out.vocabulary != columns ||
      totals.documents + held_out.documents != rows)
    PassReader::refuse();
}

void TripleCollector::hear_keys(const Part &part) {
  key_bytes_ += part.keys.bytes() + part.held_out_keys.bytes();
  check_keys();
}

/// Keys of other servers are in memory as they were sent, in order, and as those of the model.
double TripleCollector::bytes_elsewhere() const {
  constexpr double of_key = sizeof(KeyOfPart) + sizeof(std::string) + sizeof(std::int32_t);
  return of_key * double(rows_elsewhere_) + 2 * key_bytes_;
}

void TripleCollector::take_parts(RemoteParts &rows, const std::vector<Part> &parts,
                                 std::int64_t skipped) {
  CorpusTotals totals, held_out;
  /// of one that is held out
  constexpr std::int32_t no_document = -1;
  std::vector<KeyOfPart> keys;
  std::vector<std::string> row_keys;
  std::vector<std::int32_t> key_of_document;
  std::int64_t numbers = 0;
  WorkPoll poll;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part &part = parts[i];
    if (rows_.named() && (std::int64_t(part.keys.size()) != part.totals.documents ||
                          std::int64_t(part.held_out_keys.size()) != part.held_out.documents))
      PassReader::refuse();
    if (!rows_.named() && part.keys.size() + part.held_out_keys.size() > 0) PassReader::refuse();
    auto document = std::int32_t(totals.documents);
    totals.vocabulary = held_out.vocabulary = part.totals.vocabulary;
    add_totals(totals, part.totals);
    add_totals(held_out, part.held_out);
    const auto number = std::uint32_t(i);
    for (std::size_t k = 0; k < part.keys.size(); ++k) {
      poll(10);
      keys.push_back({part.keys[k], number, document++});
    }
    for (std::size_t k = 0; k < part.held_out_keys.size(); ++k) {
      poll(10);
      keys.push_back({part.held_out_keys[k], number, no_document});
    }
    for (std::int64_t row = 0; row < part.rows && !rows_.named(); ++row) {
      poll(10);
      std::string key = std::to_string(++numbers);
      if (hold_out_ && hold_out_->takes(term_hash(key))) continue;
      key_of_document.push_back(document++);
      row_keys.push_back(std::move(key));
    }
    if (document != totals.documents) PassReader::refuse();
  }
  totals.skipped = skipped;
  remote_ = std::make_unique<RemoteCorpus>(rows, totals);
  if (hold_out_) {
    if (held_out.documents != hold_out_->held_out()) PassReader::refuse();
    remote_held_out_ = std::make_unique<RemoteCorpus>(rows, held_out);
  }
  const std::int64_t all = totals.documents + held_out.documents;
  if (all == 0) return;
  if (all <= totals.vocabulary)
    throw Error(Errc::invalid_argument,
                message("the table has {} rows and {} columns", all, totals.vocabulary),
                "A fit where the rows are needs more rows than columns.",
                "Leave option push_down out: the rows are then collected on this server.");
  std::sort(keys.begin(), keys.end(), [&poll](const KeyOfPart &a, const KeyOfPart &b) {
    poll(8);
    return a.text != b.text ? a.text < b.text : a.document < b.document;
  });
  std::vector<std::string> column_keys;
  if (rows_.named()) key_of_document.resize(std::size_t(totals.documents));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    poll(10);
    if (i > 0 && keys[i].text == keys[i - 1].text)
      throw Error(
          Errc::invalid_argument,
          message("row \"{}\" is on two servers", abbreviated(keys[i].text)),
          message("They are {} and {}.", parts[keys[i - 1].part].place, parts[keys[i].part].place),
          "A row that is in several places has to have a key for each.");
    if (keys[i].document == no_document) continue;
    key_of_document[std::size_t(keys[i].document)] = std::int32_t(row_keys.size());
    row_keys.emplace_back(keys[i].text);
  }
  for (std::int32_t j = 0; j < totals.vocabulary; ++j) {
    poll(10);
    column_keys.push_back(std::to_string(j + 1));
  }
  table_.emplace(FactorTable{*remote_, nullptr, Side::row, std::move(row_keys),
                             std::move(column_keys), skipped, std::move(key_of_document)});
}

}  // namespace bayes::pg
