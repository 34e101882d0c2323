#include "questions/several_anomalies.hpp"

#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "base/message.hpp"
#include "base/unseen.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

/// Most rows have all elements, and what is drawn for them is drawn once; there may be many
/// patterns of missing elements.
constexpr int whole_draws = 10000, whole_tail = 100, partial_draws = 1000, partial_tail = 50;
/// the largest number of numbers in a sample
constexpr double max_drawn_numbers = 1.6e7;
constexpr std::uint64_t several_seed = 1;

/// Do rows of both have the same elements?
void require_same_columns(const RowDistribution &first, const RowDistribution &other,
                          std::size_t number) {
  const auto refuse = [&](std::string_view detail) {
    throw Error(Errc::invalid_argument, "models of different columns", detail,
                "Fit all models to the same columns, of the same rows.");
  };
  if (first.dimension() != other.dimension())
    refuse(message("Model 1 has {} columns, and model {} has {}.", first.dimension(), number,
                   other.dimension()));
  for (int j = 0; j < first.dimension(); ++j) {
    const std::size_t at = std::size_t(j);
    const bool named = !first.columns().empty();
    if (named != !other.columns().empty())
      refuse(message("The columns of model 1 or those of model {} have no names.", number));
    if (named && first.columns()[at].name != other.columns()[at].name)
      refuse(message("Column {} of model 1 is {}, that of model {} is {}.", j + 1,
                     describe(Document(first.columns()[at].name)), number,
                     describe(Document(other.columns()[at].name))));
    if ((named && first.columns()[at] != other.columns()[at]) ||
        first.categories(j) != other.categories(j))
      refuse(message("Column {} has other values, or labels, in model {} than in model 1.", j + 1,
                     number));
  }
}

}  // namespace

DrawnTail::DrawnTail(std::vector<float> draws, std::size_t tail)
    : draws_(std::move(draws)),
      tail_(tail) {
  std::sort(draws_.begin(), draws_.end());
  for (std::size_t i = 0; i < tail; ++i)
    mean_distance_ += (double(draws_[tail]) - double(draws_[i])) / double(tail);
  if (!std::isfinite(mean_distance_)) mean_distance_ = 0;
}

double DrawnTail::log_probability(double x) const {
  const double n = double(draws_.size());
  const auto below = std::upper_bound(draws_.begin(), draws_.end(), float(x)) - draws_.begin();
  const double out = std::log((1 + double(below)) / (n + 1));
  if (below > 0) return out;
  if (x == -HUGE_VAL) return x;
  if (mean_distance_ == 0) return out;
  return std::min(out, std::log(double(tail_) / n) + (x - double(draws_[tail_])) / mean_distance_);
}

SeveralAnomalies::SeveralAnomalies(Models models)
    : models_(std::move(models)),
      whole_{whole_draws, whole_tail},
      partial_{partial_draws, partial_tail},
      scores_(models_.size()),
      of_models_(models_.size()) {
  if (models_.empty()) throw Error(Errc::invalid_argument, "no models");
  for (std::size_t i = 1; i < models_.size(); ++i)
    require_same_columns(*models_[0], *models_[i], i + 1);
  for (const auto &model : models_) model->leave_out_rare();
  for (Sample *const each : {&whole_, &partial_})
    each->draws = std::max(each->tail + 1,
                           std::min(each->draws, int(max_drawn_numbers / models_[0]->dimension())));
}

double SeveralAnomalies::probability(std::span<const double> x) {
  const std::size_t d = x.size();
  pattern_.assign(d, 0);
  unseen_.assign(d, std::nan(""));
  of_models_.assign(models_.size(), 1);
  std::size_t missing = 0;
  bool any_unseen = false;
  row_.assign(x.begin(), x.end());
  for (std::size_t i = 0; i < models_.size(); ++i) {
    const std::span<const double> own = models_[i]->checked(row_);
    if (i == 0)
      for (std::size_t j = 0; j < d; ++j) {
        if (is_unseen(own[j])) {
          unseen_[j] = own[j];
          any_unseen = true;
        } else if (std::isnan(own[j])) {
          pattern_[j] = own[j];
          ++missing;
        }
      }
    scores_[i] = models_[i]->log_density(own);
  }
  if (missing == d) return 1;
  Sample &sample = missing == 0 ? whole_ : partial_;
  if (sample.rows.empty()) draw(sample);
  const Tails &tails =
      sample.tails.of(pattern_, double(sample.draws) * double(models_.size() + 1) / 2,
                      [&](std::span<const int> of) { return tails_of(sample, of); });
  // No draw has a label that is not known.
  const double unknown = any_unseen ? std::exp(models_[0]->log_density(unseen_)) : 0;
  double least = 0;
  for (std::size_t i = 0; i < models_.size(); ++i) {
    const double found = tails.models[i].log_probability(scores_[i]);
    least = std::min(least, found);
    of_models_[i] = std::min(1.0, std::exp(found) + unknown);
  }
  // Beyond the draws, too, it lies between its least and greatest possible value.
  const double any = std::clamp(tails.least.log_probability(least), least,
                                least + std::log(double(models_.size())));
  return std::min(1.0, std::exp(any) + unknown);
}

void SeveralAnomalies::draw(Sample &sample) {
  RowDistribution &first = *models_[0];
  const std::size_t d = std::size_t(first.dimension());
  std::vector<double> rows(std::size_t(sample.draws) * d, std::nan(""));
  first.condition(std::span<const double>(rows).first(d));
  for (int i = 0; i < sample.draws; ++i) {
    poll_here();
    Random random(several_seed, std::uint64_t(i));
    const std::span<double> row = std::span<double>(rows).subspan(std::size_t(i) * d, d);
    first.draw(random, row);
    for (std::size_t k = 1; k < models_.size(); ++k) try {
        models_[k]->checked(row);
      } catch (const Error &error) {
        throw Error(Errc::invalid_argument,
                    message("rows of model 1 cannot be rows of model {}", k + 1),
                    message("Of a row drawn from model 1: {}.", error.what()),
                    "The first model is the one that says what rows are like: let it be one whose "
                    "columns have the values that all models expect.");
      }
  }
  sample.rows = std::move(rows);
}

std::unique_ptr<SeveralAnomalies::Tails> SeveralAnomalies::tails_of(const Sample &sample,
                                                                    std::span<const int> elements) {
  const std::size_t d = std::size_t(models_[0]->dimension());
  auto out = std::make_unique<Tails>();
  std::vector<std::vector<float>> all(models_.size());
  row_.assign(d, std::nan(""));
  for (int i = 0; i < sample.draws; ++i) {
    poll_here();
    for (const int j : elements)
      row_[std::size_t(j)] = sample.rows[std::size_t(i) * d + std::size_t(j)];
    for (std::size_t k = 0; k < models_.size(); ++k)
      all[k].push_back(float(models_[k]->log_density(row_)));
  }
  for (const std::vector<float> &of : all) out->models.emplace_back(of, std::size_t(sample.tail));
  std::vector<float> least(std::size_t(sample.draws), 0);
  for (std::size_t k = 0; k < models_.size(); ++k)
    for (std::size_t i = 0; i < least.size(); ++i)
      least[i] = std::min(least[i], float(out->models[k].log_probability(all[k][i])));
  out->least = DrawnTail(std::move(least), std::size_t(sample.tail));
  return out;
}

}  // namespace bayes
