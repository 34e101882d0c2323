// Pictures of a fitted model: which kinds there are, for which models, and what they show.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "base/control.hpp"
#include "charts/figure.hpp"
#include "document/model.hpp"
#include "document/option_table.hpp"

namespace bayes {

/// Rows that are shown under a model.
struct ChartRows {
  /// values checked, NaN is missing
  std::vector<std::vector<double>> rows = {};
  /// for regressions, NaN is missing; for classifiers the class from 0, -1 if the model does not
  /// know it; for pmf, of which a row is a cell, by the numbers of its keys (-1: unknown), the
  /// number in it; else empty
  std::vector<double> responses = {};
  /// which rows of the query they are, from 1; not of sequences
  std::vector<std::int64_t> numbers = {};
  /// for hmm, of whose sequences the rows are steps: K probabilities of the states of every step
  std::vector<double> states = {};
  /// rows that there were, of which these are a sample, or the first, or, before a forecast, the
  /// last
  std::int64_t seen = 0;
  /// of the query, of which some are left out
  std::int64_t read = 0;
  /// of pmf, cells that are left out, as the model knows neither of their keys; and those of one
  /// new key
  std::int64_t unknown_cells = 0, new_cells = 0;
  /// of the steps that follow them
  struct Forecast {
    std::vector<double> mean, lower, upper;
  };
  std::vector<Forecast> forecast = {};
  /// Documents that belong together, as those of a month.
  struct Group {
    std::string name;
    /// milliseconds since 1970, of groups that are times
    double time = ChartItem::none;
    std::int64_t documents = 0;
    /// K means over the documents of their proportions
    std::vector<double> shares;
  };
  /// for lda, instead of rows: in the order of the axis
  std::vector<Group> groups = {};
  /// the name of the column that says which group a document belongs to
  std::string grouped_by = {};
  /// Groups are times, all of them finite.
  bool over_time = false;
  /// documents that are left out: the model knows none of their terms, they are of no group, or
  /// NULL; and groups that have none but the first ones, at most max_groups of them
  std::int64_t unknown_documents = 0, ungrouped_documents = 0, null_documents = 0,
               unknown_groups = 0;
};

/// The largest number of groups of documents.
inline constexpr int max_groups = 48;

/// The kinds of charts that the model has, the default one first. `rows`: of rows under the model.
BAYES_API std::vector<std::string_view> chart_kinds(const Model &model, bool rows = false);

/// Options rows, the largest number of them that are shown (1 to 5,000; 1,000), and seed, of the
/// sample; steps, how far a forecast goes (1 to 1,000; 20), and the level of its intervals.
struct ChartSample {
  int rows = 1000;
  std::uint64_t seed = 1;
  int steps = 20;
  double level = 0.95;
};
/// Those of a chart of rows. Throws Error as chart().
BAYES_API ChartSample chart_sample(const Model &model, std::string_view kind,
                                   const Document &options);

/// A chart of the model, or of rows under it; `kind` empty: the default one. `width`: characters of
/// the plot that will be made of it, for which a kind may take fewer rows; 0: none. Options:
/// columns, the names of columns or their numbers from 1, by default those in which components
/// differ most; level, of intervals and bands (0.95); terms, the number of terms of a topic (10);
/// of every chart title, subtitle, x and y (titles of axes), names (of components) and width (of a
/// panel, 100 to 2,000 pixels).
/// Throws Error: invalid_argument for an option or a column that there is not; wrong_family for a
/// kind that the model does not have, with those that it has.
BAYES_API Figure chart(const Model &model, std::string_view kind, const Document &options,
                       Control &control, const ChartRows *rows = nullptr, int width = 0);

/// A chart of several models of one family, at least one: of conjugate models their posteriors,
/// with names from option names (A, B, ...) and, of two, the probability that the first parameter
/// is the greater; of others criteria, the BIC and the objective by the number of components, a
/// line for each method and form of covariances. Throws Error as above.
BAYES_API Figure chart(std::span<const std::unique_ptr<Model>> models, std::string_view kind,
                       const Document &options, Control &control);

/// Option scripts of a page (ChartPage::scripts). Throws Error(invalid_argument).
BAYES_API std::string scripts_option(OptionReader &reader);

/// A page about the model: what it is of, how its fit went, charts, and its parameters. Options:
/// title, names, level as of charts; scripts, as of chart_page. `date`: when the page is made.
/// Throws Error(invalid_argument) for an option that there is not.
BAYES_API std::string model_page(const Model &model, const Document &options, std::string date,
                                 Control &control);

}  // namespace bayes
