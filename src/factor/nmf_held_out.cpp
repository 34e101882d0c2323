#include <algorithm>
#include <cmath>
#include <limits>

#include "base/special.hpp"
#include "counts/document_parts.hpp"
#include "counts/passes.hpp"
#include "counts/remote_corpus.hpp"
#include "factor/nmf_state.hpp"

namespace bayes {
namespace {

/// The observed half of the terms, and sums over both halves.
struct Halves {
  std::vector<char> observed;
  PaddedMatrix observed_points;
  std::vector<double> observed_sums, scored_sums;
  double scored = 0;

  explicit Halves(const NmfSide &side)
      : observed(side.keys.size()),
        observed_points(side.numbers.rows(), side.numbers.columns()),
        observed_sums(side.totals.size(), 0.0),
        scored_sums(observed_sums) {
    const std::vector<std::uint64_t> hashes = term_hashes(side.keys.all());
    WorkPoll poll;
    for (std::int32_t j = 0; j < side.numbers.rows(); ++j) {
      const bool here = hashes[std::size_t(j)] & 1;
      observed[std::size_t(j)] = here;
      scored += !here;
      for (std::size_t k = 0; k < observed_sums.size(); ++k) {
        const double mean = side.expected(j, int(k));
        (here ? observed_sums : scored_sums)[k] += mean;
        if (here) observed_points.row(j)[k] = mean;
      }
      poll(4 * observed_sums.size());
    }
  }
};

struct HeldOutSums : NmfHeldOut {
  double squares = 0;
  /// sum over documents of the squared contribution to log_likelihood, or to `squares`
  double document_squares = 0;
  void clear() { *this = {}; }
  void merge(HeldOutSums &other) {
    documents += other.documents;
    cells += other.cells;
    log_likelihood += other.log_likelihood;
    squares += other.squares;
    document_squares += other.document_squares;
  }
};

/// The sums of a part, of at most these totals.
HeldOutSums part_of_answer(const Document &answer, const CorpusTotals &most) {
  const PassReader given(answer);
  HeldOutSums out;
  out.documents = given.integer("documents", 0, most.documents);
  out.cells = given.number("cells");
  out.log_likelihood = given.number("log_likelihood");
  out.document_squares = given.number("document_squares");
  // A count in a cell whose mean is 0 has the probability 0.
  const bool impossible = out.log_likelihood == -std::numeric_limits<double>::infinity();
  if (!(out.cells >= 0 && out.cells <= double(out.documents) * most.vocabulary &&
        (impossible || (std::isfinite(out.log_likelihood) && out.document_squares >= 0 &&
                        std::isfinite(out.document_squares)))))
    PassReader::refuse();
  return out;
}

HeldOutSums held_out_there(const NmfModel &model, RemoteCorpus &documents, Side which) {
  if (which != Side::row) refuse_remote("what is held out of a table of more columns than rows");
  Document request = pass_request("held-out rows");
  request.set("model", column_factors_message(model));
  HeldOutSums out;
  for (const Document &answer : documents.ask(std::move(request))) {
    HeldOutSums part = part_of_answer(answer, documents.totals());
    out.merge(part);
  }
  if (out.documents != documents.totals().documents) PassReader::refuse();
  return out;
}

HeldOutSums held_out_here(const NmfModel &model, Corpus &documents, Side which, Control &control) {
  const NmfModel::State &state = *model.state;
  const NmfSide &terms = state.side(other(which));
  const bool squared = model.info.method == Method::squared;
  const Halves halves(terms);
  const int factors = model.size();
  Buffer none;
  const SweepPlan plan =
      plan_tasks(4000.0 * factors * double(documents.totals().entries), 64, control);
  return document_pass(
      documents, plan, HeldOutSums(), 0, none, control,
      [&](int, const DocumentTerms &cells, std::int64_t, double *, HeldOutSums &here) {
        const FilteredDocument known(
            cells, [&](std::int32_t key) { return bool(halves.observed[std::size_t(key)]); });
        const std::vector<double> weights =
            squared ? least_squares(known.terms(), halves.observed_points, halves.observed_points)
                    : state.infer(which, known.terms(), halves.observed_sums).value;
        ++here.documents;
        const double before = squared ? here.squares : here.log_likelihood;
        const auto note_document = [&] {
          const double document = (squared ? here.squares : here.log_likelihood) - before;
          here.document_squares += document * document;
        };
        // absent cells first, if they are zeros
        double mean_of_all = 0;
        if (!state.missing) {
          here.cells += halves.scored;
          for (std::size_t k = 0; k < weights.size(); ++k)
            mean_of_all += weights[k] * halves.scored_sums[k];
          here.log_likelihood -= mean_of_all;
        }
        WorkPoll poll;
        for (std::size_t e = 0; e < cells.size(); ++e) {
          const std::int32_t key = cells.terms[e];
          if (halves.observed[std::size_t(key)]) continue;
          const double x = cells.counts[e];
          double mean = 0;
          for (int k = 0; k < factors; ++k)
            mean += weights[std::size_t(k)] * terms.expected(key, k);
          if (state.missing) {
            ++here.cells;
            here.log_likelihood -= mean;
          }
          if (x > 0) here.log_likelihood += x * std::log(mean) - log_gamma(x + 1);
          here.squares += (x - mean) * (x - mean) - (state.missing ? 0 : mean * mean);
          poll(4 * std::size_t(factors));
        }
        if (!squared) return note_document();
        // (w'v)^2 for all scored terms
        for (std::int32_t j = 0; j < terms.numbers.rows(); ++j) {
          if (halves.observed[std::size_t(j)]) continue;
          double mean = 0;
          for (int k = 0; k < factors; ++k) mean += weights[std::size_t(k)] * terms.expected(j, k);
          here.squares += mean * mean;
          poll(4 * std::size_t(factors));
        }
        note_document();
      });
}

}  // namespace

NmfHeldOut nmf_held_out(const NmfModel &model, Corpus &documents, Side which, Control &control) {
  const PollScope scope(control);
  const bool squared = model.info.method == Method::squared;
  RemoteCorpus *const remote = documents.remote();
  HeldOutSums sums = remote ? held_out_there(model, *remote, which)
                            : held_out_here(model, documents, which, control);
  const double n = double(sums.documents), sum = squared ? sums.squares : sums.log_likelihood;
  sums.error = n > 1 ? std::sqrt(std::max(sums.document_squares - sum * sum / n, 0.0) * n / (n - 1))
                     : std::numeric_limits<double>::quiet_NaN();
  if (squared) {
    const double variance = model.state->error_variance();
    sums.log_likelihood =
        -0.5 * (sums.cells * std::log(6.283185307179586 * variance) + sums.squares / variance);
    sums.error /= 2 * variance;
  }
  return sums;
}

Document answer_held_out_rows(PartOfDocuments &part, const Document &request, Control &control) {
  if (!part.held_out) PassReader::refuse();
  const std::unique_ptr<NmfModel> model =
      model_of_column_factors(PassReader(request).member("model"));
  if (model->keys(Side::column).size() != std::size_t(part.held_out->totals().vocabulary))
    PassReader::refuse();
  const HeldOutSums found = held_out_here(*model, *part.held_out, Side::row, control);
  Document out = Document::object();
  out.set("documents", found.documents).set("cells", found.cells);
  out.set("log_likelihood", found.log_likelihood);
  return out.set("document_squares", found.document_squares);
}

}  // namespace bayes
