#include "pg/parts/table.hpp"

#include <memory>
#include <numeric>
#include <utility>

#include "base/message.hpp"
#include "counts/document_parts.hpp"
#include "pg/server/server_control.hpp"

namespace bayes::pg {

// ---- the rows of a part ----

namespace {

const RegisterKind<TableInParts> table_in_parts;

}  // namespace

ItemForm TableInParts::Part::form_of(std::span<const Oid> types) {
  if (types.empty() || types.size() > 2) PassReader::refuse();
  const Oid last = types.back();
  if (!is_row_of_numbers(last)) PassReader::refuse();
  return {.values = int(types.size()), .type = types[0], .second_type = last};
}

TableInParts::Part::Part(MemoryContext context, const KeptPart &which, Keep keep,
                         std::span<const Oid> types)
    : number_(std::size_t(which.part)),
      collector_(context, form_of(types)) {
  collector_.progress.begin(keep.family.c_str());
  collector_.part_ = true;
  collector_.options_ = keep.options;
  if (keep.hold_out) collector_.hold_out(*keep.hold_out);
  collector_.begin_cells();
}

TableInParts::Head TableInParts::Part::head() {
  collector_.progress.end();
  const TableKeys &rows = collector_.rows_;
  Head out = {rows.size(), collector_.length_, collector_.skipped_, collector_.seen_, {}};
  if (!collector_.hold_out_ || !rows.named()) return out;
  HoldOut counts(collector_.hold_out_->every());
  WorkPoll poll;
  rows.each([&](std::string_view key) {
    poll(4 * key.size());
    counts.count(term_hash(key));
  });
  out.hashes = counts.counts();
  return out;
}

TableInParts::Facts TableInParts::Part::arrange(Common common, Control &control) {
  std::optional<HoldOut> &apart = collector_.hold_out_;
  if (apart.has_value() != common.hold_out.has_value()) PassReader::refuse();
  if (apart) {
    apart->set_bound(common.hold_out->bound);
    const std::vector<double> &before = common.hold_out->before;
    if (number_ >= before.size() || !(before[number_] >= 0 && before[number_] <= factor_max_keys))
      PassReader::refuse();
    collector_.rows_before_ = std::int64_t(before[number_]);
  }
  if (collector_.length_ != 0 && collector_.length_ != common.columns) PassReader::refuse();
  collector_.columns_.count_to(common.columns);
  collector_.check_keys();
  collector_.arrange(control);
  const FactorTable &table = collector_.table();
  part_.emplace(PartOfDocuments{table.documents, {}});
  const bool named = collector_.form_.values == 2;
  Facts out = {
      {table.documents.totals(),
       PackedTexts::message(named ? table.document_keys.all() : std::span<const std::string>())},
      {}};
  if (!apart) return out;
  part_->held_out = &collector_.held_out();
  out.held_out = {collector_.held_out().totals(), PackedTexts::message(collector_.held_out_keys_)};
  return out;
}

// ---- the server of the fit ----

std::vector<int> PushedTable::begin(TupleDesc columns, std::string &reason) {
  std::vector<int> out(std::size_t(make_(columns, reason)));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

TableInParts::Keep PushedTable::request_to_keep() {
  TableInParts::Keep out = {request_.family, collector().options_, {}};
  if (collector().hold_out_) out.hold_out = collector().hold_out_->every();
  return out;
}

void PushedTable::hear_head(TableInParts::Head head, const std::string &place) {
  std::optional<HoldOut> &apart = collector().hold_out_;
  if (head.rows > 0) parts_.push_back({.place = place, .rows = head.rows});
  if (head.hashes.has_value() != (apart && named())) PassReader::refuse();
  if (head.hashes) apart->add(*head.hashes, head.rows);
  if (head.columns > 0) length_.hear(head.columns, place);
}

/// Keys of other servers take memory as sent, in the order, and in the model; their texts twice.
void PushedTable::check_keys(std::int64_t rows) {
  constexpr double of_key = sizeof(KeyOfPart) + sizeof(std::string) + sizeof(std::int32_t);
  TripleCollector &table = collector();
  table.rows_elsewhere_ = rows;
  table.bytes_elsewhere_ = of_key * double(rows) + 2 * key_bytes_;
  table.check_keys();
}

TableInParts::Common PushedTable::common() {
  TripleCollector &table = collector();
  TableInParts::Common out = {columns(), {}};
  table.columns_.count_to(columns());
  std::vector<double> before;
  std::int64_t rows = 0;
  for (const std::int64_t of_part : rows_) {
    before.push_back(double(rows));
    rows += of_part;
    check_keys(rows);
  }
  if (!table.hold_out_) return out;
  WorkPoll poll;
  for (std::int64_t i = 1; i <= rows && !named(); ++i) {
    poll(10);
    table.hold_out_->count(term_hash(std::to_string(i)));
  }
  table.hold_out_->choose();
  out.hold_out = {table.hold_out_->bound(), std::move(before)};
  return out;
}

void PushedTable::hear_facts(TableInParts::Facts facts) {
  PartOfTable &part = parts_.at(settled_++);
  part.totals = facts.fitted.totals;
  part.keys = PackedTexts(facts.fitted.keys);
  part.held_out.vocabulary = columns();
  if (facts.held_out.has_value() != collector().hold_out_.has_value()) PassReader::refuse();
  if (facts.held_out) {
    part.held_out = facts.held_out->totals;
    part.held_out_keys = PackedTexts(facts.held_out->keys);
  }
  const std::size_t keys = part.keys.size(), apart = part.held_out_keys.size();
  if (part.totals.vocabulary != columns() || part.held_out.vocabulary != columns() ||
      part.totals.documents + part.held_out.documents != part.rows ||
      keys != std::size_t(named() ? part.totals.documents : 0) ||
      apart != std::size_t(named() ? part.held_out.documents : 0))
    PassReader::refuse();
  key_bytes_ += part.keys.bytes() + part.held_out_keys.bytes();
  check_keys(collector().rows_elsewhere_);
}

/// Rows without keys are numbered over all parts.
PushedTable::Keys PushedTable::numbered_keys() const {
  const std::optional<HoldOut> &apart = collector().hold_out_;
  Keys out;
  std::int64_t number = 0, documents = 0;
  WorkPoll poll;
  for (const PartOfTable &part : parts_) {
    documents += part.totals.documents;
    for (std::int64_t row = 0; row < part.rows; ++row) {
      poll(10);
      std::string key = std::to_string(++number);
      if (apart && apart->takes(term_hash(key))) continue;
      out.of_document.push_back(std::int32_t(out.of_rows.size()));
      out.of_rows.push_back(std::move(key));
    }
    if (std::ssize(out.of_rows) != documents) PassReader::refuse();
  }
  return out;
}

PushedTable::Keys PushedTable::named_keys(std::int64_t documents) const {
  /// of a row that is held out
  constexpr std::int32_t none = -1;
  std::vector<KeyOfPart> keys;
  std::int32_t document = 0;
  WorkPoll poll;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto add = [&](const PackedTexts &texts, bool fitted) {
      for (std::size_t k = 0; k < texts.size(); ++k) {
        poll(10);
        keys.push_back({texts[k], std::uint32_t(i), fitted ? document++ : none});
      }
    };
    add(parts_[i].keys, true);
    add(parts_[i].held_out_keys, false);
  }
  std::sort(keys.begin(), keys.end(), [&poll](const KeyOfPart &a, const KeyOfPart &b) {
    poll(8);
    return a.text != b.text ? a.text < b.text : a.document < b.document;
  });
  Keys out;
  out.of_document.resize(std::size_t(documents));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    poll(10);
    if (i > 0 && keys[i].text == keys[i - 1].text)
      throw Error(Errc::invalid_argument,
                  message("row \"{}\" is on two servers", abbreviated(keys[i].text)),
                  message("They are {} and {}.", parts_[keys[i - 1].part].place,
                          parts_[keys[i].part].place),
                  "A row that is in several places has to have a key for each.");
    if (keys[i].document == none) continue;
    out.of_document[std::size_t(keys[i].document)] = std::int32_t(out.of_rows.size());
    out.of_rows.emplace_back(keys[i].text);
  }
  return out;
}

void PushedTable::take(PushedRows &rows) {
  TripleCollector &table = collector();
  CorpusTotals totals, held_out;
  for (const PartOfTable &part : parts_) {
    totals.vocabulary = held_out.vocabulary = columns();
    add_totals(totals, part.totals);
    add_totals(held_out, part.held_out);
  }
  totals.skipped = rows.skipped();
  table.remote_ = std::make_unique<RemoteCorpus>(rows, totals);
  if (table.hold_out_) {
    if (held_out.documents != table.hold_out_->held_out()) PassReader::refuse();
    table.remote_held_out_ = std::make_unique<RemoteCorpus>(rows, held_out);
  }
  const std::int64_t all = totals.documents + held_out.documents;
  if (all == 0) return;
  if (all <= totals.vocabulary)
    throw Error(Errc::invalid_argument,
                message("the table has {} rows and {} columns", all, totals.vocabulary),
                "A fit where the rows are needs more rows than columns.",
                "Leave option push_down out: the rows are then collected on this server.");
  Keys keys = named() ? named_keys(totals.documents) : numbered_keys();
  std::vector<std::string> column_keys;
  WorkPoll poll;
  for (std::int32_t j = 0; j < totals.vocabulary; ++j) {
    poll(10);
    column_keys.push_back(std::to_string(j + 1));
  }
  table.table_.emplace(FactorTable{*table.remote_, nullptr, Side::row, std::move(keys.of_rows),
                                   std::move(column_keys), rows.skipped(),
                                   std::move(keys.of_document)});
}

}  // namespace bayes::pg
