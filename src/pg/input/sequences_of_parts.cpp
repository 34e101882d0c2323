// Sequences of one fit in several parts: SequenceCollector on the server of the fit and on others.
#include <algorithm>
#include <bit>
#include <utility>

#include "base/message.hpp"
#include "pg/input/sequence_collector.hpp"

namespace bayes::pg {
namespace {

/// What the elements of sequences are, for messages.
const char *kind_of(SequenceElements elements) {
  switch (elements) {
    case SequenceElements::symbols: return "texts";
    case SequenceElements::integers: return "whole numbers";
    case SequenceElements::numbers: return "numbers";
    case SequenceElements::booleans: return "booleans";
  }
  PassReader::refuse();
}

}  // namespace

Document SequenceCollector::part_message() const {
  Document out = Document::object();
  out.set("rows", sequences_.count).set("skipped", rows.skipped()).set("seen", seen_);
  if (sequences_.count == 0) return out;
  Document::List names;
  for (const std::string &name : symbols()) names.emplace_back(name);
  out.set("elements", int(elements_)).set("vectors", vectors_);
  out.set("dimension", sequences_.dimension).set("steps", sequences_.steps);
  out.set("longest", sequences_.longest).set("unobserved", sequences_.unobserved);
  out.set("unseen", sequences_.unseen).set("symbols", std::move(names));
  return out;
}

void SequenceCollector::add_part(const PassReader &part, const std::string &place) {
  seen_ += part.integer("seen", 0, most_rows_of_part);
  const std::int64_t count = part.integer("rows", 0, most_rows_of_part);
  if (count == 0) return;
  const bool vectors = part.flag("vectors");
  const auto elements =
      SequenceElements(part.integer("elements", 0, int(SequenceElements::booleans)));
  const int dimension = int(part.integer("dimension", 1, hmm_max_dimension));
  if (sequences_.count > 0 && (vectors != vectors_ || dimension != sequences_.dimension))
    throw Error(Errc::array_shape,
                message("sequences are of {} and of {}", observations(vectors, dimension),
                        observations(vectors_, sequences_.dimension)),
                message("The first of these are those of {}.", place),
                "The observations of all sequences of one model have the same elements.");
  if (sequences_.count > 0 && elements != elements_)
    throw Error(Errc::invalid_argument,
                message("sequences are of {} and of {}", kind_of(elements), kind_of(elements_)),
                message("The first of these are those of {}.", place),
                "Cast them to one type on all servers.");
  vectors_ = vectors;
  elements_ = elements;
  sequences_.dimension = dimension;
  sequences_.count += count;
  sequences_.steps += part.integer("steps", count, most_rows_of_part);
  sequences_.longest = std::max(sequences_.longest, part.integer("longest", 1, most_rows_of_part));
  sequences_.unobserved += part.number("unobserved");
  sequences_.unseen |= part.flag("unseen");
  for (std::string &name : part.texts("symbols")) symbols_of_parts_.insert(std::move(name));
}

const std::vector<std::string> &SequenceCollector::number_symbols() {
  if (request_->start && !symbols_of_parts_.empty())  // its names retain their codes
    for (const std::string &name :
         static_cast<const HiddenMarkovModel &>(*request_->start).symbol_names())
      symbols_.code(name);
  for (const std::string &name : symbols_of_parts_) {
    poll_interrupts();
    symbols_.code(name);
  }
  return symbols();
}

Document SequenceCollector::arrange_part(const std::vector<std::string> &names, Control &control) {
  // Numbers would be taken for codes of symbols, which index tables.
  if (!options_.symbols && !names.empty()) PassReader::refuse();
  SymbolDictionary common;
  for (const std::string &name : names) common.code(name);
  if (common.names().size() != names.size()) PassReader::refuse();
  std::vector<double> codes;
  for (const std::string &name : symbols()) codes.push_back(common.code(name));
  if (common.names().size() != names.size()) PassReader::refuse();
  if (!codes.empty()) rows.recode({codes});
  symbols_ = std::move(common);
  sequences_.values = int(names.size());
  return Document::object().set("hash", std::bit_cast<std::int64_t>(hash(control)));
}

void SequenceCollector::take_parts(std::unique_ptr<RemoteRows> parts) {
  remote_ = std::move(parts);
  // Weights are 1, as functions of a query have none.
  elsewhere_.emplace(Sequences{.rows = *remote_,
                               .dimension = sequences_.dimension,
                               .count = sequences_.count,
                               .steps = sequences_.steps,
                               .weight = double(sequences_.steps),
                               .weights = double(sequences_.count),
                               .longest = sequences_.longest,
                               .unobserved = sequences_.unobserved,
                               .unseen = sequences_.unseen});
}

}  // namespace bayes::pg
