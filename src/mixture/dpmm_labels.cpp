#include "mixture/dpmm_labels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <variant>

#include "base/unseen.hpp"
#include "data/remote_rows.hpp"
#include "mixture/dpmm_state.hpp"

namespace bayes {
namespace {

/// Records every row's most probable component and its responsibility.
struct MostProbable {
  static constexpr bool scored = true;
  int *labels;
  double *probability;
  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const {
    // With weight 1 for every row, rows without observed elements, whose weight is 0, also get
    // responsibilities: the mixture weights.
    alignas(cache_line) double one[block_rows] = {};
    std::copy_n(weight, block_rows, one);
    std::fill_n(one, block.rows, 1.0);
    SoftAllocation().allocate(k, block, one, logits, counts, sums);
    for (int b = 0; b < block.rows; ++b) {
      int best = 0;
      for (int j = 1; j < k; ++j)
        if (logits[j * block_rows + b] > logits[best * block_rows + b]) best = j;
      labels[block.first + b] = best;
      if (probability) probability[block.first + b] = std::min(1.0, logits[best * block_rows + b]);
    }
  }
};

/// A recipe for labels below k, with their own numbers.
Document way_of(const char *by, int k) {
  std::vector<double> numbers(static_cast<std::size_t>(k));
  std::iota(numbers.begin(), numbers.end(), 0.0);
  Document out = Document::object();
  out.set("by", by).set("numbers", numbers_document(numbers));
  return out;
}

std::vector<int> labels_by_model(const DirichletProcessMixture &model, RowSource &rows,
                                 Control &control) {
  const auto *const product = std::get_if<DpmmFitted<ProductPosterior>>(&model.state->fitted);
  std::vector<double> block(rows.shape().block_doubles()), x(std::size_t(model.dimension()));
  std::vector<int> labels(std::size_t(rows.rows()));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::size_t inside = i % block_rows;
    if (inside == 0) {
      control.poll();
      rows.read_block(std::int64_t(i / block_rows), block.data());
    }
    for (std::size_t j = 0; j < x.size(); ++j) {
      x[j] = block[j * block_rows + inside];
      if (product && !std::isnan(x[j]) && !product->prior.columns->column(int(j)).allowed(x[j]))
        x[j] = unseen_category;
    }
    labels[i] = model.predict(x);
  }
  return labels;
}

}  // namespace

void RowLabels::renumber(const std::vector<int> &numbers) {
  for (int &label : here) label = numbers[std::size_t(label)];
  if (elsewhere.is_null()) return;
  std::vector<double> all = PassReader(elsewhere).numbers("numbers");
  // A component that labels no row may lack an entry in `numbers`, and keeps its number.
  for (double &number : all)
    if (number < double(numbers.size())) number = numbers[std::size_t(number)];
  elsewhere.set("numbers", numbers_document(all));
}

RowLabels label_rows(RowSource &rows, const BlockScorer &scorer,
                     const std::vector<double> &log_weights, LabelKind kind,
                     std::vector<double> *probability, Control &control) {
  RowLabels out;
  if (rows.remote()) {
    out.elsewhere = way_of("scorer", scorer.components());
    out.elsewhere.set("probable", kind == LabelKind::probable)
        .set("scorer", scorer.message())
        .set("log_weights", numbers_document(log_weights));
    return out;
  }
  out.here.resize(std::size_t(rows.rows()));
  if (kind == LabelKind::nearest) {
    const HardAllocation nearest{out.here.data()};
    local_sums(rows, control, scorer, log_weights, nearest);
    return out;
  }
  if (probability) probability->resize(out.here.size());
  const MostProbable probable{out.here.data(), probability ? probability->data() : nullptr};
  local_sums(rows, control, scorer, log_weights, probable);
  return out;
}

RowLabels label_equally(RowSource &rows) {
  RowLabels out;
  if (rows.remote())
    out.elsewhere = way_of("nothing", 1);
  else
    out.here.resize(std::size_t(rows.rows()));
  return out;
}

RowLabels label_by_model(const DirichletProcessMixture &model, RowSource &rows, Control &control) {
  RowLabels out;
  if (rows.remote()) {
    out.elsewhere = way_of("model", model.size() + 1);
    out.elsewhere.set("model", model.to_document());
  } else {
    out.here = labels_by_model(model, rows, control);
  }
  return out;
}

NumbersOfRows LabelCountsPass::here(RowSource &rows, Control &) const {
  Sums out = nothing(rows);
  for (const int label : labels->here) ++out.counts[std::size_t(label)];
  return out;
}

NumbersOfRows LabelOverlapPass::here(RowSource &rows, Control &) const {
  Sums out = nothing(rows);
  for (std::size_t i = 0; i < labels->here.size(); ++i)
    ++out.counts[std::size_t(labels->here[i]) * std::size_t(k_other) + std::size_t(other->here[i])];
  return out;
}

std::vector<std::int64_t> label_counts(RowSource &rows, const RowLabels &labels, int k,
                                       Control &control) {
  return run(rows, LabelCountsPass{k, &labels}, control).counts;
}

std::vector<std::int64_t> label_overlap(RowSource &rows, const RowLabels &one, int k_one,
                                        const RowLabels &other, int k_other, Control &control) {
  return run(rows, LabelOverlapPass{k_one, k_other, &one, &other}, control).counts;
}

}  // namespace bayes
