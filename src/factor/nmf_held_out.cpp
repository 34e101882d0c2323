#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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

/// For each document the number of its predicted cells, and their log-likelihood or, of method
/// squared, the sum of their squared errors.
struct HeldOutLines {
  std::vector<double> cells, fit;
  void clear() {
    cells.clear();
    fit.clear();
  }
  void merge(const HeldOutLines &other) {
    cells.insert(cells.end(), other.cells.begin(), other.cells.end());
    fit.insert(fit.end(), other.fit.begin(), other.fit.end());
  }
};

/// Appends the documents of a part, of at most these totals.
void add_part(const Document &answer, const CorpusTotals &most, HeldOutLines &to) {
  const PassReader given(answer);
  const std::vector<double> &cells = given.numbers("cells"),
                            &fit = given.numbers("fit", cells.size());
  if (std::int64_t(cells.size()) > most.documents - std::int64_t(to.cells.size()))
    PassReader::refuse();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    // A count in a cell whose mean is 0 has the probability 0.
    const bool impossible = fit[i] == -std::numeric_limits<double>::infinity();
    if (!(cells[i] >= 0 && cells[i] <= most.vocabulary && (impossible || std::isfinite(fit[i]))))
      PassReader::refuse();
  }
  to.merge({cells, fit});
}

HeldOutLines held_out_there(const NmfModel &model, RemoteCorpus &documents, Side which) {
  if (which != Side::row) refuse_remote("what is held out of a table of more columns than rows");
  Document request = pass_request("held-out rows");
  request.set("model", column_factors_message(model));
  HeldOutLines out;
  for (const Document &answer : documents.ask(std::move(request)))
    add_part(answer, documents.totals(), out);
  if (std::int64_t(out.cells.size()) != documents.totals().documents) PassReader::refuse();
  return out;
}

HeldOutLines held_out_here(const NmfModel &model, Corpus &documents, Side which, Control &control) {
  const NmfModel::State &state = *model.state;
  const NmfSide &terms = state.side(other(which));
  const bool squared = model.info.method == Method::squared;
  const Halves halves(terms);
  const int factors = model.size();
  Buffer none;
  const SweepPlan plan =
      plan_tasks(4000.0 * factors * double(documents.totals().entries), 64, control);
  return document_pass(
      documents, plan, HeldOutLines(), 0, none, control,
      [&](int, const DocumentTerms &cells, std::int64_t, double *, HeldOutLines &here) {
        const FilteredDocument known(
            cells, [&](std::int32_t key) { return bool(halves.observed[std::size_t(key)]); });
        const std::vector<double> weights =
            squared ? least_squares(known.terms(), halves.observed_points, halves.observed_points)
                    : state.infer(which, known.terms(), halves.observed_sums).value;
        double predicted = 0, log_likelihood = 0, squares = 0;
        // absent cells first, if they are zeros
        double mean_of_all = 0;
        if (!state.missing) {
          predicted += halves.scored;
          for (std::size_t k = 0; k < weights.size(); ++k)
            mean_of_all += weights[k] * halves.scored_sums[k];
          log_likelihood -= mean_of_all;
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
            ++predicted;
            log_likelihood -= mean;
          }
          if (x > 0) log_likelihood += x * std::log(mean) - log_gamma(x + 1);
          squares += (x - mean) * (x - mean) - (state.missing ? 0 : mean * mean);
          poll(4 * std::size_t(factors));
        }
        // (w'v)^2 for all scored terms
        for (std::int32_t j = 0; squared && j < terms.numbers.rows(); ++j) {
          if (halves.observed[std::size_t(j)]) continue;
          double mean = 0;
          for (int k = 0; k < factors; ++k) mean += weights[std::size_t(k)] * terms.expected(j, k);
          squares += mean * mean;
          poll(4 * std::size_t(factors));
        }
        here.cells.push_back(predicted);
        here.fit.push_back(squared ? squares : log_likelihood);
      });
}

}  // namespace

NmfHeldOut nmf_held_out(const NmfModel &model, Corpus &documents, Side which, Control &control) {
  const PollScope scope(control);
  const bool squared = model.info.method == Method::squared;
  RemoteCorpus *const remote = documents.remote();
  const HeldOutLines lines = remote ? held_out_there(model, *remote, which)
                                    : held_out_here(model, documents, which, control);
  NmfHeldOut out;
  out.documents = std::int64_t(lines.cells.size());
  const double variance = squared ? model.state->error_variance() : 0;
  for (std::size_t i = 0; i < lines.cells.size(); ++i) {
    const double fit = squared ? -0.5 * (lines.cells[i] * std::log(6.283185307179586 * variance) +
                                         lines.fit[i] / variance)
                               : lines.fit[i];
    out.cells += lines.cells[i];
    out.log_likelihood += fit;
    out.scores.push_back({1, fit, 0});
  }
  out.error = double(out.documents) * sum_scores(out.scores).log_density().standard_error;
  return out;
}

Document answer_held_out_rows(PartOfDocuments &part, const Document &request, Control &control) {
  if (!part.held_out) PassReader::refuse();
  const std::unique_ptr<NmfModel> model =
      model_of_column_factors(PassReader(request).member("model"));
  if (model->keys(Side::column).size() != std::size_t(part.held_out->totals().vocabulary))
    PassReader::refuse();
  const HeldOutLines found = held_out_here(*model, *part.held_out, Side::row, control);
  Document out = Document::object();
  return out.set("cells", numbers_document(found.cells)).set("fit", numbers_document(found.fit));
}

}  // namespace bayes
