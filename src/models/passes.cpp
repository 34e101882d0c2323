#include "models/passes.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "data/hashed_rows.hpp"
#include "data/pass.hpp"
#include "data/reference_rows.hpp"
#include "data/remote_rows.hpp"
#include "data/sketch.hpp"
#include "factor/nmf_learners.hpp"
#include "factor/nmf_starts.hpp"
#include "factor/nmf_statistics.hpp"
#include "families/normal/normal_prior.hpp"
#include "families/normal/normal_scorer.hpp"
#include "families/product/product_document.hpp"
#include "families/product/product_prior.hpp"
#include "families/product/product_scorer.hpp"
#include "fit/driver.hpp"
#include "fit/fit_run.hpp"
#include "markov/hmm_observations.hpp"
#include "markov/markov_step.hpp"
#include "markov/sequence_checks.hpp"
#include "mixture/dpmm_labels.hpp"
#include "regression/binary_rows.hpp"
#include "topics/lda_evaluation.hpp"
#include "topics/lda_start.hpp"
#include "topics/lda_variational.hpp"

namespace bayes {
namespace {

using Part = PartOfRows &;
using Request = const Document &;

void require_checked(Part part, const Document &scorer, Control &control) {
  Document columns = Document::object();
  for (const char *const key : {"columns", "categories", "category_values"})
    if (const Document *const member = scorer.find(key)) columns.set(key, *member);
  std::string bytes;
  columns.to_bytes(bytes);
  if (bytes == part.checked) return;
  require_allowed_values(part.rows, columns, control);
  part.checked = std::move(bytes);
}

/// Calls f with the scorer of a message, which suits the rows.
template <class F> auto with_scorer(Part part, const Document &message, Control &control, F f) {
  const auto call = [&](const BlockScorer &scorer) {
    if (scorer.dimension() != part.rows.shape().dimension) PassReader::refuse();
    return f(scorer);
  };
  const std::string &family = PassReader(message).text("family");
  if (family == "normal") return call(NormalScorer::from_message(message));
  if (family != "product") PassReader::refuse();
  require_checked(part, message, control);
  return call(ProductScorer::from_message(message));
}

/// Labels that are made as a request says, with their own numbers.
std::vector<int> make_labels(Part part, const Document &way, std::size_t count, Control &control) {
  const PassReader given(way);
  const std::string &by = given.text("by");
  if (by == "nothing") {
    if (count != 1) PassReader::refuse();
    return label_equally(part.rows).here;
  }
  if (by == "scorer")
    return with_scorer(part, given.member("scorer"), control, [&](const BlockScorer &scorer) {
      if (std::size_t(scorer.components()) != count) PassReader::refuse();
      return label_rows(part.rows, scorer, given.numbers("log_weights", count),
                        given.flag("probable") ? LabelKind::probable : LabelKind::nearest, nullptr,
                        control)
          .here;
    });
  if (by != "model") PassReader::refuse();
  const std::unique_ptr<Model> model = Model::from_document(given.member("model"));
  const auto *const process = dynamic_cast<const DirichletProcessMixture *>(model.get());
  if (!process || std::size_t(process->size()) + 1 != count ||
      process->dimension() != part.rows.shape().dimension)
    PassReader::refuse();
  return label_by_model(*process, part.rows, control).here;
}

/// The labels below k that a member of a request describes. They are kept, as the next requests are
/// likely to be about the same ones, or others beside these.
std::vector<int> labels_of(Part part, const Document &way, int k, Control &control) {
  const std::vector<double> &numbers = PassReader(way).numbers("numbers");
  for (const double number : numbers)
    if (!(number >= 0 && number < most_labels && number == std::floor(number)))
      PassReader::refuse();
  Document making = way;
  making.set("numbers", Document());
  std::string bytes;
  making.to_bytes(bytes);
  auto &all = part.labelled;
  auto found = std::find_if(all.begin(), all.end(),
                            [&bytes](const PartOfRows::Labels &each) { return each.way == bytes; });
  if (found == all.end()) {
    std::vector<int> made = make_labels(part, way, numbers.size(), control);
    if (all.size() > 1) all.pop_back();
    found = all.insert(all.begin(), {std::move(bytes), numbers.size(), std::move(made)});
  }
  if (found->count != numbers.size()) PassReader::refuse();
  std::rotate(all.begin(), found, found + 1);
  std::vector<int> out = all.front().labels;
  for (int &label : out) {
    label = int(numbers[std::size_t(label)]);
    if (label >= k) PassReader::refuse();
  }
  return out;
}

/// The rows of a minibatch.
MemoryRows chosen_rows(Part part, const Document &choice, Control &control) {
  if (!part.hashed)
    part.hashed = std::make_shared<const HashedRows>(hash_rows(part.rows, part.number, control));
  MemoryRows out({part.rows.shape().dimension, true});
  out.set_incomplete(part.rows.incomplete());
  choose_minibatch(*part.hashed, HashChoice::from_message(choice), out, control);
  return out;
}

Document local_step_pass(Part part, Request request, Control &control) {
  const auto answer = [&](const BlockScorer &scorer) {
    if (const Document *const choice = request.find("minibatch")) {
      MemoryRows rows = chosen_rows(part, *choice, control);
      return answer_local_step(rows, request, scorer, nullptr, control);
    }
    std::vector<int> labels;
    const Document *const way = request.find("labels");
    if (way) labels = labels_of(part, *way, scorer.components(), control);
    return answer_local_step(part.rows, request, scorer, way ? labels.data() : nullptr, control);
  };
  return with_scorer(part, PassReader(request).member("scorer"), control, answer);
}

// The passes about labels, with those of the part.

struct CountsOfPart : LabelCountsPass {
  RowLabels own;
  void keep(Part part, const PassReader &request, Control &control) {
    own.here = labels_of(part, request.member("labels"), k, control);
    labels = &own;
  }
};

struct OverlapOfPart : LabelOverlapPass {
  RowLabels one, two;
  void keep(Part part, const PassReader &request, Control &control) {
    require_memory({.what = "the numbers of rows that two partitions share",
                    .bytes = 8 * double(k) * k_other,
                    .hint = "or use fewer clusters."},
                   control);
    one.here = labels_of(part, request.member("labels"), k, control);
    two.here = labels_of(part, request.member("other"), k_other, control);
    labels = &one;
    other = &two;
  }
};

/// Calls f(rows) with the observations of sequences as rows.
template <class F>
Document with_observations(PartOfSequences &part, bool zeros, bool incomplete, F f) {
  Observations rows(part.sequences, zeros);
  rows.set_incomplete(incomplete);
  // Zeros in the place of missing elements are other values than those that were checked.
  PartOfRows as_rows{rows, part.number, zeros ? std::string() : part.checked};
  Document out = f(as_rows);
  if (!zeros) part.checked = std::move(as_rows.checked);
  return out;
}

Document markov_pass(PartOfSequences &part, Request request, Control &control) {
  const Document &message = PassReader(request).member("scorer");
  const bool product = PassReader(message).text("family") == "product";
  const int values = part.sequences.values;
  if (product && values > 0) {  // scores of all symbols are tabulated, also of those not here
    std::vector<double> all(static_cast<std::size_t>(values));
    for (int i = 0; i < values; ++i) all[std::size_t(i)] = i;
    read_product_columns(MemberReader(message), part.sequences.dimension)
        ->for_each([&](int, const Column &column, const ColumnOffsets &) {
          if (column.first_disallowed(all.data(), values) < values) PassReader::refuse();
        });
  }
  return with_observations(part, false, false, [&](Part rows) {
    return with_scorer(rows, message, control, [&](const BlockScorer &scorer) {
      return answer_markov_step(part.sequences, request, *emissions_of(scorer, !product, values),
                                control);
    });
  });
}

// The passes over each kind of part. Those whose requests are about labels, minibatches, numbers or
// rows that the part keeps are made by functions of their own.

using RowPass = PassOver<PartOfRows>;
using SequencePass = PassOver<PartOfSequences>;
using DocumentPass = PassOver<PartOfDocuments>;

const RowPass row_passes[] = {
    constant_pass,
    incomplete_pass,
    total_weight_pass,
    Sketch::pass,
    first_values_pass,
    observed_sums_pass,
    categories_pass,
    product_survey_pass,
    {"local step", local_step_pass},
    pass_over<PartOfRows, CountsOfPart>(),
    pass_over<PartOfRows, OverlapOfPart>(),
    binary_sums_pass,
    binary_ranges_pass,
    binary_squares_pass,
    rows_pass,
    weighted_rows_pass,
};

/// besides the passes over the observations of sequences
const SequencePass sequence_passes[] = {
    observed_elements_pass,
    check_emissions_pass,
    symbol_below_pass,
    {"markov", markov_pass},
};

const DocumentPass document_passes[] = {
    log_factorials_pass, projections_pass,        first_documents_pass, topic_pass,
    products_pass,       first_weights_pass,      scaling_pass,         factor_pass,
    factor_numbers_pass, held_out_documents_pass, held_out_rows_pass,
};

template <class P>
Document answer(std::span<const PassOver<P>> passes, P &part, Request request, Control &control) {
  const PollScope scope(control);
  const std::string &kind = PassReader(request).text("pass");
  for (const PassOver<P> &pass : passes)
    if (pass.name == kind) return pass.answer(part, request, control);
  PassReader::refuse();
}

}  // namespace

Document answer_pass(PartOfRows &part, const Document &request, Control &control) {
  return answer<PartOfRows>(row_passes, part, request, control);
}

Document answer_pass(PartOfSequences &part, const Document &request, Control &control) {
  const Document *const way = request.find("observations");
  if (!way) return answer<PartOfSequences>(sequence_passes, part, request, control);
  const PassReader given(*way);
  return with_observations(part, given.flag("zeros"), given.flag("incomplete"),
                           [&](Part rows) { return answer_pass(rows, request, control); });
}

Document answer_pass(PartOfDocuments &part, const Document &request, Control &control) {
  part.forget(PassReader(request));
  return answer<PartOfDocuments>(document_passes, part, request, control);
}

}  // namespace bayes
