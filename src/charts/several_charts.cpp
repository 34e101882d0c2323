// Charts that compare: several models side by side, by their number of components or by their
// posteriors, and rows, by how probable it is that they belong together.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/random.hpp"
#include "charts/chart_kinds.hpp"
#include "conjugate/conjugate.hpp"
#include "document/members.hpp"
#include "questions/answers.hpp"
#include "questions/row_distribution.hpp"

namespace bayes {
namespace {

using Models = std::span<const std::unique_ptr<Model>>;

/// The form of a model's covariances and its method, by which selections differ apart from k.
std::string variant_of(const Model &model) {
  const Document *const covariance = model.info.options.find("covariance");
  const std::string *const form = covariance ? covariance->as<std::string>() : nullptr;
  return (form ? *form + ", " : std::string()) + std::string(method_name(model.info.method));
}

/// "3 components, full, em"; `variant` may be empty.
std::string of_components(const Model &model, const std::string &variant) {
  const int k = model.info.components;
  return message("{} {}", k, k == 1 ? model.words().part : model.words().parts) +
         (variant.empty() ? "" : ", " + variant);
}

void criteria_chart(Models models, const ChartOptions &options, Figure &to) {
  to.title = message("{} models of {}", models.size(), models[0]->info.family);
  to.series_are = "fit";
  to.subtitle = "dashed: the best by each criterion";
  to.source = message("{}, {}", models[0]->info.family, counted_data(*models[0]));
  std::map<std::string, std::vector<const Model *>> variants;
  for (const auto &model : models) variants[variant_of(*model)].push_back(model.get());
  struct Criterion {
    const char *name, *axis;
    bool smaller;
    double (*of)(const Model &model);
  };
  constexpr Criterion criteria[] = {{"least BIC", "BIC (smaller is better)", true,
                                     [](const Model &model) { return model.bic(); }},
                                    {"greatest objective", "objective (larger is better)", false,
                                     [](const Model &model) { return model.info.objective; }}};
  for (const auto &[name, of] : variants) to.series.push_back(name);
  options.name(to.series, "kinds of fits");
  for (const Criterion &criterion : criteria) {
    Panel panel{{}, {models[0]->words().parts}, {criterion.axis}};
    Layer lines{Mark::line}, points{Mark::point};
    int series = 0;
    const double sign = criterion.smaller ? 1 : -1;
    double best = std::numeric_limits<double>::infinity();
    for (auto &[name, of] : variants) {
      std::stable_sort(of.begin(), of.end(), [](const Model *a, const Model *b) {
        return a->info.components < b->info.components;
      });
      for (const Model *const model : of) {
        ChartItem item;
        item.x = model->info.components;
        item.y = criterion.of(*model);
        item.series = series;
        if (!std::isfinite(item.y)) continue;
        lines.items.push_back(item);
        points.items.push_back(item);
        if (sign * item.y >= best) continue;
        best = sign * item.y;
        panel.x.reference = item.x;
        panel.title = message("{}: {}", criterion.name,
                              of_components(*model, variants.size() > 1 ? name : std::string()));
      }
      ++series;
    }
    panel.layers = {std::move(lines), std::move(points)};
    if (!panel.layers[0].items.empty()) to.panels.push_back(std::move(panel));
  }
}

void posteriors_chart(Models models, const ChartOptions &options, Control &control, Figure &to) {
  to.title = message("Posteriors of {} models of {}", models.size(), models[0]->info.family);
  to.series_are = "model";
  for (std::size_t i = 0; i < models.size(); ++i)
    to.series.push_back(i < 26 ? std::string(1, char('A' + i)) : std::to_string(i + 1));
  options.name(to.series, "models");
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < models.size(); ++i) {
    Figure own;
    posterior_chart({*models[i], options, own, control, nullptr});
    // Panels of one parameter belong together; not all models have all labels.
    for (const Panel &panel : own.panels) {
      const auto [place, added] = places.emplace(panel.x.title, to.panels.size());
      if (added) {
        to.panels.push_back(panel);
        to.panels.back().layers = {{Mark::line}};
      }
      // The curves alone, as areas would hide each other.
      for (ChartItem item : panel.layers.back().items) {
        item.series = int(i);
        to.panels[place->second].layers[0].items.push_back(item);
      }
    }
  }
  if (to.panels.size() > max_panels) to.panels.resize(max_panels);
  const auto *const a = dynamic_cast<const ConjugateModel *>(models[0].get());
  if (models.size() != 2 || !a) return;
  const double greater = probability_greater(*a, static_cast<const ConjugateModel &>(*models[1]));
  if (!std::isfinite(greater)) return;
  to.subtitle = message("P({} > {}) = {}", to.series[0], to.series[1],
                        describe_number(std::round(greater * 1e4) / 1e4));
}

}  // namespace

Figure chart(Models models, std::string_view kind, const Document &options, Control &control) {
  const PollScope scope(control);
  if (models.empty()) throw Error(Errc::invalid_argument, "there are no models to compare");
  for (const auto &model : models)
    if (model->info.family != models[0]->info.family)
      throw Error(
          Errc::wrong_family,
          message("the models are of {} and of {}", models[0]->info.family, model->info.family), {},
          "A chart compares models of one family.");
  const bool posteriors = is_posterior(*models[0]);
  const std::string_view own = posteriors ? "posterior" : "criteria";
  if (!kind.empty() && kind != own)
    throw Error(
        Errc::wrong_family,
        message("there is no chart \"{}\" of several models of {}", kind, models[0]->info.family),
        {}, message("Their chart is \"{}\".", own));
  const ChartOptions read = read_chart_options(options, message("chart \"{}\"", own), "");
  Figure out;
  if (posteriors)
    posteriors_chart(models, read, control, out);
  else
    criteria_chart(models, read, out);
  if (out.panels.empty())
    throw Error(posteriors ? Errc::numeric : Errc::wrong_family,
                posteriors
                    ? "the posteriors are improper: they have no density"
                    : message("models of {} have no criteria to compare", models[0]->info.family),
                {}, posteriors ? "Rows or a prior make them proper." : "");
  read.complete(out);
  return out;
}

// The chart of how probable it is that rows belong together.

namespace {

/// Rows in an order in which those that are alike are neighbours: that of the leaves of the tree
/// that joins the two most similar clusters of rows again and again, by the average similarity of
/// their rows. Larger clusters come first. `similar`: n x n, symmetric.
std::vector<std::size_t> order_of_blocks(std::vector<double> similar, std::size_t n) {
  std::vector<std::vector<std::size_t>> clusters(n);
  for (std::size_t i = 0; i < n; ++i) clusters[i] = {i};
  for (std::size_t joined = 1; joined < n; ++joined) {
    poll_here();
    std::size_t a = n, b = n;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n && !clusters[i].empty(); ++j)
        if (!clusters[j].empty() && (a == n || similar[i * n + j] > similar[a * n + b])) {
          a = i;
          b = j;
        }
    const double in_a = double(clusters[a].size()), in_b = double(clusters[b].size());
    for (std::size_t i = 0; i < n; ++i)
      similar[i * n + a] = similar[a * n + i] =
          (in_a * similar[a * n + i] + in_b * similar[b * n + i]) / (in_a + in_b);
    if (in_b > in_a) clusters[a].swap(clusters[b]);
    clusters[a].insert(clusters[a].end(), clusters[b].begin(), clusters[b].end());
    clusters[b].clear();
  }
  return n > 0 ? clusters[0] : std::vector<std::size_t>();
}

}  // namespace

bool has_similarity(const Model &model) {
  // Steps of a sequence depend on each other, and the rows of a classifier have their labels.
  if (model.info.family == "hmm" || model.info.family == "nb") return false;
  if (model.info.components <= 1 && model.stored_draws() == 0) return false;
  return numbers_of_rows(model) >= 0;
}

ChartRows rows_of_plot(const ChartRows &rows, int width, std::uint64_t seed) {
  ChartRows out = rows;
  // Beside the cells stand the numbers of the rows, as the plot writes them.
  std::int64_t largest = 0;
  for (const std::int64_t number : rows.numbers) largest = std::max(largest, number);
  const std::size_t digits = std::min(std::to_string(largest).size(), std::size_t(width / 3));
  const std::size_t columns = std::size_t(width) - digits - 2;
  Random random(seed, 1);
  while (out.rows.size() > columns) {
    const auto which = std::ptrdiff_t(random.below(out.rows.size()));
    out.rows.erase(out.rows.begin() + which);
    out.numbers.erase(out.numbers.begin() + which);
  }
  return out;
}

void similarity_chart(const ChartRequest &request) {
  const std::unique_ptr<RowDistribution> distribution = request.model.row_distribution();
  SimilarRows rows(*distribution);
  // A sample has lost the order of the query.
  const std::vector<std::int64_t> &numbers = request.rows->numbers;
  const std::size_t n = request.rows->rows.size();
  std::vector<std::size_t> sorted(n);
  std::iota(sorted.begin(), sorted.end(), std::size_t(0));
  std::sort(sorted.begin(), sorted.end(),
            [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
  for (const std::size_t i : sorted) {
    poll_here();
    std::vector<double> x = request.rows->rows[i];
    x.resize(std::size_t(distribution->dimension()), std::nan(""));
    rows.add(distribution->checked(x));
  }
  std::vector<double> similar(n * n, 1.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      poll_here();
      similar[i * n + j] = similar[j * n + i] = rows.similarity(i, j);
    }
  const char *const part = request.model.words().part;
  request.figure.subtitle =
      message("probability that two rows are in one {}; like rows are neighbours", part);
  Panel panel{{}, {"row"}, {"row"}, "probability"};
  // Shades mean the same in all charts.
  panel.least = 0;
  panel.most = 1;
  Layer cells{Mark::cell};
  const std::vector<std::size_t> order = order_of_blocks(similar, n);
  for (const std::size_t i : order)
    panel.x.categories.push_back(std::to_string(numbers[sorted[i]]));
  panel.y.categories = panel.x.categories;
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t x = 0; x < n; ++x) {
      ChartItem item;
      item.x = double(x);
      item.y = double(y);
      item.value = similar[order[y] * n + order[x]];
      cells.items.push_back(item);
    }
  panel.layers.push_back(std::move(cells));
  request.figure.panels.push_back(std::move(panel));
}

}  // namespace bayes
