// Charts of several models side by side: which number of components is best, and how two posteriors
// compare.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/message.hpp"
#include "charts/chart_kinds.hpp"
#include "conjugate/conjugate.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

using Models = std::span<const std::unique_ptr<Model>>;

/// The form of a model's covariances and its method, by which selections differ apart from k.
std::string variant_of(const Model &model) {
  const Document *const covariance = model.info.options.find("covariance");
  const std::string *const form = covariance ? covariance->as<std::string>() : nullptr;
  return (form ? *form + ", " : std::string()) + std::string(method_name(model.info.method));
}

void criteria_chart(Models models, Figure &to) {
  to.title = message("{} models of {}", models.size(), models[0]->info.family);
  to.series_are = "fit";
  std::map<std::string, std::vector<const Model *>> variants;
  for (const auto &model : models) variants[variant_of(*model)].push_back(model.get());
  struct Criterion {
    const char *name;
    double (*of)(const Model &model);
  };
  constexpr Criterion criteria[] = {
      {"BIC (smaller is better)", [](const Model &model) { return model.bic(); }},
      {"objective (larger is better)", [](const Model &model) { return model.info.objective; }}};
  for (const auto &[name, of] : variants) to.series.push_back(name);
  for (const Criterion &criterion : criteria) {
    Panel panel{{}, {models[0]->words().parts}, {criterion.name}};
    Layer lines{Mark::line}, points{Mark::point};
    int series = 0;
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
      }
      ++series;
    }
    panel.layers = {std::move(lines), std::move(points)};
    if (!panel.layers[0].items.empty()) to.panels.push_back(std::move(panel));
  }
}

void posteriors_chart(Models models, const ChartOptions &options, Control &control, Figure &to) {
  to.title = models[0]->info.family;
  to.series_are = "model";
  if (options.names.size() > models.size())
    throw Error(Errc::invalid_argument, message("option \"names\" has {} names for {} models",
                                                options.names.size(), models.size()));
  to.series = options.names;
  for (std::size_t i = to.series.size(); i < models.size(); ++i)
    to.series.push_back(i < 26 ? std::string(1, char('A' + i)) : std::to_string(i + 1));
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
      for (const Layer &layer : panel.layers)
        for (ChartItem item : layer.items) {
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
  const ChartOptions read =
      read_chart_options(options, message("chart \"{}\"", own), posteriors ? "names" : "");
  Figure out;
  if (posteriors)
    posteriors_chart(models, read, control, out);
  else
    criteria_chart(models, out);
  if (out.panels.empty())
    throw Error(posteriors ? Errc::numeric : Errc::wrong_family,
                posteriors
                    ? "the posteriors are improper: they have no density"
                    : message("models of {} have no criteria to compare", models[0]->info.family),
                {}, posteriors ? "Rows or a prior make them proper." : "");
  return out;
}

}  // namespace bayes
