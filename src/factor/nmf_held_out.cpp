#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/special.hpp"
#include "counts/document_parts.hpp"
#include "counts/passes.hpp"
#include "counts/remote_corpus.hpp"
#include "data/pass.hpp"
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

/// Predicts the cells of documents that are held out.
struct HeldOutRowsPass {
  static constexpr const char *name = "held-out rows";
  /// For each document the number of its predicted cells, and their log-likelihood or, of method
  /// squared, the sum of their squared errors.
  struct Sums {
    std::vector<double> cells, fit;
    /// the most that a document has
    double most_cells = 0;

    template <class F> void fields(F &f) {
      f.numbers("cells", cells);
      f.numbers("fit", fit, cells.size());
      for (std::size_t i = 0; i < cells.size(); ++i) {
        // A count in a cell whose mean is 0 has the probability 0.
        const bool impossible = fit[i] == -std::numeric_limits<double>::infinity();
        f.require(cells[i] >= 0 && cells[i] <= most_cells && (impossible || std::isfinite(fit[i])));
      }
    }
    void clear() {
      cells.clear();
      fit.clear();
    }
    void add(const Sums &other) {
      cells.insert(cells.end(), other.cells.begin(), other.cells.end());
      fit.insert(fit.end(), other.fit.begin(), other.fit.end());
    }
  };
  const NmfModel *model = nullptr;
  Side which = Side::row;
  /// the model of a request
  std::unique_ptr<NmfModel> asked = {};

  static Corpus &data_of(PartOfDocuments &part) { return part.held_out_documents(); }
  template <class F> void fields(F &f, Corpus &documents) {
    if constexpr (F::reading) {
      asked = model_of_column_factors(PassReader(f.document()).member("model"));
      model = asked.get();
    } else {
      if (which != Side::row)
        refuse_remote("what is held out of a table of more columns than rows");
      f.document().set("model", column_factors_message(*model));
    }
    f.require(model->keys(Side::column).size() == std::size_t(documents.totals().vocabulary));
  }
  Sums nothing(Corpus &documents) const { return {{}, {}, double(documents.totals().vocabulary)}; }
  Sums here(Corpus &documents, Control &control) const;
};

HeldOutRowsPass::Sums HeldOutRowsPass::here(Corpus &documents, Control &control) const {
  const NmfModel::State &state = *model->state;
  const NmfSide &terms = state.side(other(which));
  const bool squared = model->info.method == Method::squared;
  const Halves halves(terms);
  const int factors = model->size();
  Buffer none;
  const SweepPlan plan =
      plan_tasks(4000.0 * factors * double(documents.totals().entries), 64, control);
  return document_pass(
      documents, plan, nothing(documents), 0, none, control,
      [&](int, const DocumentTerms &cells, std::int64_t, double *, Sums &to) {
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
        to.cells.push_back(predicted);
        to.fit.push_back(squared ? squares : log_likelihood);
      });
}

}  // namespace

NmfHeldOut nmf_held_out(const NmfModel &model, Corpus &documents, Side which, Control &control) {
  const PollScope scope(control);
  const bool squared = model.info.method == Method::squared;
  const HeldOutRowsPass::Sums lines = run(documents, HeldOutRowsPass{&model, which}, control);
  if (std::int64_t(lines.cells.size()) != documents.totals().documents) PassReader::refuse();
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

const PassOver<PartOfDocuments> held_out_rows_pass = pass_over<PartOfDocuments, HeldOutRowsPass>();

}  // namespace bayes
