// The cluster of every row, for variational inference of Dirichlet process mixtures. If the rows
// are on other servers, so are the labels: this server keeps the recipe by which another one makes
// the labels of its rows, and sends it in every request about them, so that a session that has lost
// its labels makes them again.
#pragma once

#include <cstdint>
#include <vector>

#include "data/local_step.hpp"
#include "data/pass.hpp"
#include "mixture/dpmm.hpp"

namespace bayes {

/// Labels from 0.
struct RowLabels {
  /// of rows of this server
  std::vector<int> here;
  /// the recipe of the labels of rows elsewhere; null if there are none
  Document elsewhere;

  /// label i becomes numbers[i]; there is one for every label that a row has
  void renumber(const std::vector<int> &numbers);
  /// for allocations with given labels
  const Document *given_elsewhere() const { return elsewhere.is_null() ? nullptr : &elsewhere; }
};

/// How a scorer labels rows.
enum class LabelKind : char {
  /// by the largest logit
  nearest,
  /// by the largest responsibility; rows without observed elements are labelled by the weights
  probable
};

/// The labels of rows by a scorer, one for each component. `probability`, unless null, receives the
/// responsibility of every row's label (LabelKind::probable, rows of this server).
RowLabels label_rows(RowSource &rows, const BlockScorer &scorer,
                     const std::vector<double> &log_weights, LabelKind kind,
                     std::vector<double> *probability, Control &control);
/// All rows have label 0.
RowLabels label_equally(RowSource &rows);
/// The cluster that the model predicts; model.size() for a new cluster. The rows have been
/// surveyed: they have allowed values, and categories that the model need not know.
RowLabels label_by_model(const DirichletProcessMixture &model, RowSource &rows, Control &control);

/// The number of rows with each of k labels.
std::vector<std::int64_t> label_counts(RowSource &rows, const RowLabels &labels, int k,
                                       Control &control);
/// The number of rows with each pair of labels, [one][other].
std::vector<std::int64_t> label_overlap(RowSource &rows, const RowLabels &one, int k_one,
                                        const RowLabels &other, int k_other, Control &control);

/// Numbers of rows, as sums of a pass.
struct NumbersOfRows {
  std::vector<std::int64_t> counts;
  template <class F> void fields(F &f) {
    std::vector<double> numbers(counts.begin(), counts.end());
    f.values("counts", numbers);
    for (std::size_t i = 0; F::reading && i < numbers.size(); ++i) {
      f.require(numbers[i] >= 0 && numbers[i] <= 9e15);
      counts[i] = std::int64_t(numbers[i]);
    }
  }
  void add(const NumbersOfRows &part) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += part.counts[i];
  }
};

/// The largest number of labels, one of which is that of a new cluster.
inline constexpr int most_labels = dpmm_max_clusters + 1;

/// The pass of label_counts(). The server of a part makes its labels anew, or has kept them
/// (models/passes.cpp).
struct LabelCountsPass {
  static constexpr const char *name = "label counts";
  using Sums = NumbersOfRows;
  int k = 0;
  const RowLabels *labels = nullptr;

  template <class F> void fields(F &f, RowSource &) {
    f.integer("k", k, 1, most_labels);
    if constexpr (!F::reading) f.document().set("labels", labels->elsewhere);
  }
  Sums nothing(RowSource &) const { return {std::vector<std::int64_t>(std::size_t(k))}; }
  Sums here(RowSource &rows, Control &control) const;
};

/// The pass of label_overlap().
struct LabelOverlapPass {
  static constexpr const char *name = "label overlap";
  using Sums = NumbersOfRows;
  int k = 0, k_other = 0;
  const RowLabels *labels = nullptr, *other = nullptr;

  template <class F> void fields(F &f, RowSource &) {
    f.integer("k", k, 1, most_labels);
    f.integer("k_other", k_other, 1, most_labels);
    if constexpr (!F::reading)
      f.document().set("labels", labels->elsewhere).set("other", other->elsewhere);
  }
  Sums nothing(RowSource &) const {
    return {std::vector<std::int64_t>(std::size_t(k) * std::size_t(k_other))};
  }
  Sums here(RowSource &rows, Control &control) const;
};

}  // namespace bayes
