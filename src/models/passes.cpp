#include "models/passes.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "data/hashed_rows.hpp"
#include "data/pass.hpp"
#include "data/remote_rows.hpp"
#include "data/row_reference.hpp"
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
#include "markov/hmm_start.hpp"
#include "markov/markov_step.hpp"
#include "mixture/dpmm_labels.hpp"
#include "regression/glm_rows.hpp"
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

/// The scorer of a message, which suits the rows.
std::unique_ptr<const BlockScorer> scorer_of(Part part, const Document &message, Control &control) {
  std::unique_ptr<const BlockScorer> out;
  const std::string &family = PassReader(message).text("family");
  if (family == "normal") {
    out.reset(new NormalScorer(NormalScorer::from_message(message)));
  } else {
    if (family != "product") PassReader::refuse();
    require_checked(part, message, control);
    out.reset(new ProductScorer(ProductScorer::from_message(message)));
  }
  if (out->dimension() != part.rows.shape().dimension) PassReader::refuse();
  return out;
}

/// Labels that are made as a request says, with their own numbers.
std::vector<int> make_labels(Part part, const Document &way, std::size_t count, Control &control) {
  const PassReader given(way);
  const std::string &by = given.text("by");
  if (by == "nothing") {
    if (count != 1) PassReader::refuse();
    return label_equally(part.rows).here;
  }
  if (by == "scorer") {
    const auto scorer = scorer_of(part, given.member("scorer"), control);
    if (std::size_t(scorer->components()) != count) PassReader::refuse();
    return label_rows(part.rows, *scorer, given.numbers("log_weights", count),
                      given.flag("probable") ? LabelKind::probable : LabelKind::nearest, nullptr,
                      control)
        .here;
  }
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

// The passes whose requests are about scorers, labels or minibatches, with those of the part.

struct LocalStepOfPart : LocalStepPass {
  std::unique_ptr<const BlockScorer> own_scorer;
  std::unique_ptr<const detail::AnyAllocation> own_allocation;
  std::vector<int> labels;
  std::optional<MemoryRows> minibatch;

  void keep(Part part, const PassReader &request, Control &control) {
    own_scorer = scorer_of(part, request.member("scorer"), control);
    scorer = own_scorer.get();
    if (std::ssize(log_weights) != scorer->components()) PassReader::refuse();
    const Document *const choice = request.document().find("minibatch"), *const given =
                                                                             request.document()
                                                                                 .find("labels");
    if (choice && given) PassReader::refuse();
    if (choice) minibatch.emplace(chosen_rows(part, *choice, control));
    if (given) labels = labels_of(part, *given, scorer->components(), control);
    own_allocation = allocation_named(way, given ? labels.data() : nullptr);
    allocation = own_allocation.get();
  }
  Sums here(RowSource &rows, Control &control) {
    return LocalStepPass::here(minibatch ? *minibatch : rows, control);
  }
};

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
template <class F> auto with_observations(PartOfSequences &part, bool zeros, bool incomplete, F f) {
  Observations rows(part.sequences, zeros);
  rows.set_incomplete(incomplete);
  // Zeros in the place of missing elements are other values than those that were checked.
  PartOfRows as_rows{rows, part.number, zeros ? std::string() : part.checked};
  auto out = f(as_rows);
  if (!zeros) part.checked = std::move(as_rows.checked);
  return out;
}

struct MarkovStepOfPart : MarkovPass {
  std::unique_ptr<const BlockScorer> of_steps;
  std::unique_ptr<const EmissionScorer> own_scorer;
  std::optional<MarkovChain> own_chain;

  void keep(PartOfSequences &part, const PassReader &request, Control &control) {
    const Document &message = request.member("scorer");
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
    of_steps = with_observations(part, false, false,
                                 [&](Part rows) { return scorer_of(rows, message, control); });
    own_scorer = emissions_of(*of_steps, !product, values);
    scorer = own_scorer.get();
    const int k = scorer->states();
    const std::size_t states = std::size_t(k);
    if (k < 1 || k > max_states || initial.size() != states || transition.size() != states * states)
      PassReader::refuse();
    own_chain.emplace(
        Eigen::Map<const Vector>(initial.data(), k),
        Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
            transition.data(), k, k));
    chain = &*own_chain;
  }
};

// The passes over each kind of part.

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
    pass_over<PartOfRows, LocalStepOfPart>(),
    pass_over<PartOfRows, CountsOfPart>(),
    pass_over<PartOfRows, OverlapOfPart>(),
    glm_sums_pass,
    glm_ranges_pass,
    glm_squares_pass,
    rows_pass,
    weighted_rows_pass,
};

/// besides the passes over the observations of sequences
const SequencePass sequence_passes[] = {
    observed_elements_pass,
    check_emissions_pass,
    symbol_below_pass,
    pass_over<PartOfSequences, MarkovStepOfPart>(),
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
