// The makers of charts, one for each kind (charts.cpp lists them).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/control.hpp"
#include "charts/charts.hpp"
#include "charts/figure.hpp"
#include "document/model.hpp"
#include "document/option_table.hpp"

namespace bayes {

/// The options of a chart, read.
struct ChartOptions {
  /// names, or numbers from 1
  std::vector<std::string> columns = {};
  double level = 0.95;
  int terms = 10;
  /// of components, or of models that are compared; the first ones, in their order
  std::vector<std::string> names = {};
  /// of the chart and its axes, instead of its own
  std::optional<std::string> title = {}, subtitle = {}, x = {}, y = {};
  /// of a panel in pixels; 0: by the kind of chart
  int width = 0;
  ChartSample sample = {};

  /// Names series that have others; throws Error(invalid_argument) if there are not as many.
  void name(std::vector<std::string> &series, std::string_view what) const;
  /// Sets what the chart has its own of.
  void complete(Figure &figure) const;
};

/// `chart`: for messages; `valid`: the options that apply to it, separated by spaces; `most_rows`:
/// option rows, if it is not given; `max_rows`: its maximum. Options title, subtitle, names, x, y
/// and width apply to all. Throws Error(invalid_argument), also for options that do not apply.
ChartOptions read_chart_options(const Document &options, std::string_view chart,
                                std::string_view valid, int most_rows = ChartSample().rows,
                                int max_rows = 5000);

/// Options that charts and pages share; absent if the option is. Throw Error(invalid_argument).
std::optional<std::string> text_option(OptionReader &reader, std::string_view key,
                                       const char *hint = "");
std::vector<std::string> names_option(OptionReader &reader);
double level_option(OptionReader &reader);
/// Does this kind of charts of a model have the option?
bool takes_option(std::string_view kind, std::string_view option);

/// What a maker gets to know, and fills in. The title and the names of series are set.
struct ChartRequest {
  const Model &model;
  const ChartOptions &options;
  Figure &figure;
  Control &control;
  /// nullptr if the chart is of the model alone
  const ChartRows *rows;
  /// characters of the plot that is made of it; 0: none
  int width = 0;
};

/// The largest number of panels in one chart, and of components, rows and columns in a panel.
inline constexpr int max_panels = 16, max_shown = 24;

/// "1 row", "2 rows"; `things`: in the plural, which ends in s.
std::string counted(std::int64_t number, std::string_view things);
/// How much data a model was fitted to: "272 rows", "1 sequence".
std::string counted_data(const Model &model);
/// "gmm of 2 components", "linreg".
std::string name_of_model(const Model &model);
/// The name of a parameter's category, as its column names it; empty if it has none.
std::string name_of_category(const Model &model, const Parameter &p);
/// The numbers of the components from 1, or the names that the model gives them.
std::vector<std::string> names_of_components(const Model &model);
/// The name of a column, or x[1] for elements of arrays.
std::string name_of_column(const RowColumns &columns, int dimension, int element);

// Of models that are distributions over rows (row_charts.cpp, row_charts.cpp).
void ellipses_chart(const ChartRequest &request);
void density_chart(const ChartRequest &request);
void columns_chart(const ChartRequest &request);
void band_chart(const ChartRequest &request);
/// The number of columns that are numbers; -1 for a model that is no distribution over rows.
int numbers_of_rows(const Model &model);

// Of the partition of rows (several_charts.cpp).
/// Can rows of the model be alike?
bool has_similarity(const Model &model);
/// As many of the rows as a plot of so many characters has columns for, a random sample.
ChartRows rows_of_plot(const ChartRows &rows, int width, std::uint64_t seed);
void similarity_chart(const ChartRequest &request);

// Of parameters (parameter_charts.cpp).
/// The name of the first parameter; empty if the model lists none.
std::string first_parameter(const Model &model);
void parameters_chart(const ChartRequest &request);
void coefficients_chart(const ChartRequest &request);
/// Coefficients as ratios: what a unit of a term multiplies the mean, or the odds, by.
void ratios_chart(const ChartRequest &request);
void weights_chart(const ChartRequest &request);
void transitions_chart(const ChartRequest &request);
/// Is it the posterior of the parameters of one column, as of conjugate models?
bool is_posterior(const Model &model);
void posterior_chart(const ChartRequest &request);

// Of distributions over labels (label_charts.cpp).
void terms_chart(const ChartRequest &request);
void map_chart(const ChartRequest &request);
void parts_chart(const ChartRequest &request);
/// Of documents by group.
void shares_chart(const ChartRequest &request);
/// Which documents are not in it, and why; empty: none.
std::string documents_left_out(const ChartRows &rows);

// Of rows under a model (sample_charts.cpp).
void states_chart(const ChartRequest &request);
void forecast_chart(const ChartRequest &request);
void predictions_chart(const ChartRequest &request);
void residuals_chart(const ChartRequest &request);
void calibration_chart(const ChartRequest &request);
void rootogram_chart(const ChartRequest &request);
/// Are responses of the model counts, of events or successes?
bool has_counts(const Model &model);
void confusion_chart(const ChartRequest &request);

// Of the course of a fit (parameter_charts.cpp).
void trace_chart(const ChartRequest &request);
void ranks_chart(const ChartRequest &request);
void ess_chart(const ChartRequest &request);
void clusters_chart(const ChartRequest &request);

}  // namespace bayes
