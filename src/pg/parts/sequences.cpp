#include "pg/parts/sequences.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/message.hpp"
#include "pg/parts/rows.hpp"

namespace bayes::pg {

bool is_array_of_records(Oid type) {
  const Oid element = guarded([type] { return get_element_type(getBaseType(type)); });
  return is_record_type(element);
}

// ---- the sequences of a part ----

namespace {

const RegisterKind<SequencesInParts> sequences_in_parts;

constexpr SequenceCollector::Check check_of_part = [](const FitRequest &request,
                                                      SequenceElements elements, bool vectors) {
  if (!request.ks.empty())
    return hmm_check_select_options(request.ks, request.options, elements, vectors);
  return hmm_check_options(request.k, request.options, elements, vectors,
                           static_cast<const HiddenMarkovModel *>(request.start.get()));
};

FitRequest request_of_part(SequencesInParts::Keep keep) {
  if (keep.family != "hmm") PassReader::refuse();
  FitRequest out;
  out.family = "hmm";
  out.k = keep.k;
  out.ks = std::move(keep.ks);
  out.options = std::move(keep.options);
  if (keep.start) {
    out.start = Model::from_document(*keep.start);
    if (!dynamic_cast<const HiddenMarkovModel *>(out.start.get())) PassReader::refuse();
  }
  return out;
}

}  // namespace

ItemForm SequencesInParts::Part::form_of(std::span<const Oid> types) {
  if (types.size() != 1 || is_array_of_records(types[0])) PassReader::refuse();
  const Oid type = guarded([types] { return getBaseType(types[0]); });
  if (!is_array_type(type)) PassReader::refuse();
  return {.type = type};
}

SequencesInParts::Part::Part(MemoryContext context, const KeptPart &which, Keep keep,
                             std::span<const Oid> types)
    : request_(request_of_part(std::move(keep))),
      collector_(context, form_of(types)),
      part_{collector_.sequences(), std::size_t(which.part)} {
  collector_.begin(request_, check_of_part);
}

SequencesInParts::Head SequencesInParts::Part::head() {
  collector_.progress.end();
  const Sequences &own = collector_.sequences();
  Head out = {.rows = own.count, .skipped = collector_.rows.skipped(), .seen = collector_.seen()};
  if (own.count == 0) return out;
  out.elements = collector_.elements();
  out.vectors = collector_.vectors();
  out.dimension = own.dimension;
  out.steps = own.steps;
  out.longest = own.longest;
  out.unobserved = own.unobserved;
  out.symbols = collector_.symbols();
  return out;
}

SequencesInParts::Facts SequencesInParts::Part::arrange(Common common, Control &) {
  const std::vector<std::string> &names = common.symbols;
  // Numbers would be taken for codes of symbols, which index tables.
  if (!collector_.options_.symbols && !names.empty()) PassReader::refuse();
  SymbolDictionary numbered;
  for (const std::string &name : names) numbered.code(name);
  std::vector<double> codes;
  for (const std::string &name : collector_.symbols()) codes.push_back(numbered.code(name));
  // A name that comes twice, or that the message lacks.
  if (numbered.names() != names) PassReader::refuse();
  if (!codes.empty()) collector_.rows.recode({codes});
  collector_.symbols_ = std::move(numbered);
  collector_.sequences().values = int(names.size());
  return {};
}

// ---- the server of the fit ----

namespace {

/// The kind of the elements of sequences, for messages.
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

SequencesInParts::Keep PushedSequences::request_to_keep() {
  SequencesInParts::Keep out = {request_.family, request_.k, request_.ks, request_.options, {}};
  if (request_.start) out.start = request_.start->to_document();
  return out;
}

void PushedSequences::hear_head(SequencesInParts::Head head, const std::string &place) {
  SequenceCollector &to = collector();
  to.seen_ += head.seen;
  if (head.rows == 0) return;
  Sequences &all = to.sequences_;
  if (all.count > 0 && (head.vectors != to.vectors_ || head.dimension != all.dimension))
    throw Error(Errc::array_shape,
                message("sequences are of {} and of {}", observations(head.vectors, head.dimension),
                        observations(to.vectors_, all.dimension)),
                message("The first of these are those of {}.", place),
                "The observations of all sequences of one model have the same elements.");
  if (all.count > 0 && head.elements != to.elements_)
    throw Error(
        Errc::invalid_argument,
        message("sequences are of {} and of {}", kind_of(head.elements), kind_of(to.elements_)),
        message("The first of these are those of {}.", place),
        "Cast them to one type on all servers.");
  to.vectors_ = head.vectors;
  to.elements_ = head.elements;
  all.dimension = head.dimension;
  all.count += head.rows;
  all.steps += head.steps;
  all.longest = std::max(all.longest, head.longest);
  all.unobserved += head.unobserved;
  for (std::string &name : head.symbols) symbols_.insert(std::move(name));
}

/// Symbols of the start model retain their codes; others follow in the order of their bytes.
SequencesInParts::Common PushedSequences::common() {
  SymbolDictionary &codes = collector().symbols_;
  if (request_.start && !symbols_.empty())
    for (const std::string &name :
         static_cast<const HiddenMarkovModel &>(*request_.start).symbol_names())
      codes.code(name);
  for (const std::string &name : symbols_) {
    poll_interrupts();
    codes.code(name);
  }
  return {codes.names()};
}

void PushedSequences::take(PushedRows &rows) {
  SequenceCollector &to = collector();
  const Sequences &sums = to.sequences_;
  to.remote_ = std::make_unique<RowsOfParts>(rows, RowShape{sums.dimension, true},
                                             std::vector<std::string>());
  // Weights are 1, as functions of a query have none.
  to.elsewhere_.emplace(Sequences{.rows = *to.remote_,
                                  .dimension = sums.dimension,
                                  .count = sums.count,
                                  .steps = sums.steps,
                                  .weight = double(sums.steps),
                                  .weights = double(sums.count),
                                  .longest = sums.longest,
                                  .unobserved = sums.unobserved});
}

}  // namespace bayes::pg
