#include "markov/hmm_emissions.hpp"

#include <algorithm>
#include <numeric>

#include "base/message.hpp"
#include "data/local_step.hpp"
#include "data/sketch.hpp"
#include "document/members.hpp"
#include "families/normal/normal_scorer.hpp"
#include "fit/seeding.hpp"
#include "markov/hmm_observations.hpp"
#include "markov/sequence_checks.hpp"

namespace bayes {
namespace {

/// A sample of the observations for initialization: evenly spaced blocks, and of these at most
/// 10,000 distinct observations.
MemoryRows starting_sample(const Sequences &sequences, bool zeros, std::uint64_t seed,
                           Control &control) {
  constexpr std::int64_t max_blocks = 500;
  const std::int64_t blocks = (sequences.rows.rows() + block_rows - 1) / block_rows;
  Observations some(sequences, zeros, std::max<std::int64_t>(1, blocks / max_blocks));
  MemoryRows all = Sketch::of(some, control, seed, 10000).sorted(), out(all.shape());
  out.set_incomplete(all.incomplete());
  Buffer block(all.shape().block_doubles());
  std::vector<double> x(std::size_t(all.shape().dimension));
  for (std::int64_t row = 0; row < all.rows(); ++row) {  // a missing step has no weight
    if (row % block_rows == 0) all.read_block(row / block_rows, block.data());
    const double *const at = block.data() + row % block_rows;
    if (!(at[x.size() * block_rows] > 0)) continue;
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = at[j * block_rows];
    out.append(x.data(), at[x.size() * block_rows]);
  }
  return out;
}

/// 0, ..., n - 1, and 0 up to k numbers: a group that repeats another one gets no rows.
std::vector<int> first_repeated(int n, int k) {
  std::vector<int> out(std::size_t(k), 0);
  std::iota(out.begin(), out.begin() + n, 0);
  return out;
}

/// Option init.means, a column for each state. Throws Error(invalid_argument) unless observations
/// have d numbers.
Matrix given_means(const HmmOptions &options, int d) {
  const Tensor &means = *options.means;
  if (means.shape[1] != d)
    throw Error(
        Errc::invalid_argument,
        message("option \"init.means\" has {} numbers for a state, but an observation has {}",
                means.shape[1], d));
  return Eigen::Map<const Matrix>(means.values.data(), d, options.k);
}

}  // namespace

NormalEmissions::NormalEmissions(const Sequences &sequences, const HmmOptions &options,
                                 const Fitted *, const std::vector<std::string> &, Control &control)
    : options_(options),
      k_(options.k),
      control_(control),
      survey_(look(*covariance_named(options.covariance), sequences, control)),
      sample_(starting_sample(sequences, true, options.seed, control)),
      floor_(survey_.variance, options.covariance_floor, survey_.covariance),
      prior_(make_normal_prior(options.normal_prior, survey_, k_)),
      neutral_(make_normal_prior({}, survey_, k_)) {
  const CovarianceShape &shape = survey_.shape;
  const double a = prior_.a(0),
               divisor = mode_divisor(shape, a, shape.shared ? k_ : 1, dimension());
  if (options.method == Method::map && !(divisor > 0))
    throw Error(
        Errc::invalid_argument,
        "option \"prior.a\" is " + describe(a) + ", but method map needs a prior with a mode",
        "A state without observations would have no most probable covariance.",
        "Raise prior.a above " + describe(a - divisor) + ".");
  if (!sample_.incomplete()) return;
  completion_.emplace(sample_, control);
  completion_->set_point(point_of(survey_));
  completion_->complete_by_means(0, control);
}

double NormalEmissions::numbers(int d, int k) const {
  const CovarianceShape &shape = survey_.shape;
  return shape.count(k) * double(shape.rows(d)) * shape.columns(d) + 2.0 * k * d;
}

NormalEmissions::Statistics NormalEmissions::starting_statistics(int restart, bool grouped) {
  Random random(options_.seed, std::uint64_t(restart));
  const KMeans kmeans(floor_.deviation());
  if (options_.means) {
    const Matrix centres = given_means(options_, dimension());
    Statistics out = allocated_to_nearest(kmeans, centres);
    out.mean = centres;
    return out;
  }
  if (sample_.rows() < k_ && !grouped) {
    const Matrix centres = survey_.mean.replicate(1, k_);
    return local_step<ScatteredAllocation>(sample_, control_,
                                           kmeans.nearest(survey_.shape, centres),
                                           std::vector<double>(std::size_t(k_), 0.0),
                                           {RowRandom(options_.seed, std::uint64_t(restart), 0, 5)})
        .statistics;
  }
  // Missing elements of a centre are replaced by their expectation given the observed ones.
  MemoryRows &from = completion_ ? completion_->rows : sample_;
  const int n = int(std::min<std::int64_t>(k_, sample_.rows()));
  Matrix centres = restart % 3 == 0
                       ? random_rows(from, n, random)
                       : kmeans_plus_plus(from, n, floor_.deviation(), random, control_);
  if (n < k_) centres = pick_columns(centres, first_repeated(n, k_));
  if (restart % 3 == 1)
    centres = settled_centres(kmeans, std::move(centres), sample_, survey_.weight, control_);
  return allocated_to_nearest(kmeans, centres);
}

NormalEmissions::Point NormalEmissions::first_point(const Statistics &statistics) const {
  Point point = maximum_posterior(statistics, replicate(neutral_, k_));
  if (options_.means) point.mean = statistics.mean;
  return point;
}

Survey NormalEmissions::look(const CovarianceShape &shape, const Sequences &sequences,
                             Control &control) {
  const ObservedElements found = observed_elements(sequences, control);
  Observations all(sequences, !found.incomplete);
  all.set_incomplete(found.incomplete);
  if (!found.any)
    throw Error(Errc::invalid_argument, "all observations are missing", {},
                "Add sequences with observed values.");
  return survey(shape, all, control);
}

NormalEmissions::Statistics NormalEmissions::allocated_to_nearest(const KMeans &kmeans,
                                                                  const Matrix &centres) {
  return local_step<HardAllocation>(sample_, control_, kmeans.nearest(survey_.shape, centres),
                                    std::vector<double>(std::size_t(k_), 0.0))
      .statistics;
}

ProductEmissions::ProductEmissions(const Sequences &sequences, const HmmOptions &options,
                                   const Fitted *start, const std::vector<std::string> &symbols,
                                   Control &control)
    : options_(options),
      k_(options.k),
      control_(control),
      survey_(look(sequences, options, start, symbols, control)),
      sample_(starting_sample(sequences, false, options.seed, control)),
      floor_{options.minimum, survey_.variance, survey_.constant},
      prior_(make_product_prior(survey_, options.emission, options.prior, k_)),
      neutral_(make_product_prior(survey_, options.emission, {}, k_)) {
  if (sequences.rows.remote()) require_allowed_sample(sample_, columns(), control);
  if (options.symbols) sort_sample(symbols);
  if (options.method == Method::map) require_mode(prior_);
}

void ProductEmissions::write_prior(Document &out) const {
  out.set_all(product_prior_options(prior_, options_.emission));
}

ProductEmissions::Statistics ProductEmissions::starting_statistics(int restart, bool grouped) {
  Random random(options_.seed, std::uint64_t(restart));
  bool ordered = false;
  columns().for_each(
      [&](int, const Column &column, const ColumnOffsets &) { ordered |= column.ordered; });
  std::optional<Matrix> first_rows;
  if (options_.means) {
    first_rows = given_means(options_, dimension());
    check_means();
  } else if (grouped || (ordered && sample_.rows() >= k_)) {
    if (!starts_) starts_.emplace(sample_, columns(), survey_.variance);
    const int n = int(std::min<std::int64_t>(k_, sample_.rows()));
    first_rows = starts_->rows(restart % 2 == 0 ? starts_->anywhere(n, random)
                                                : starts_->spread(n, random, control_));
    if (n < k_) first_rows = pick_columns(*first_rows, first_repeated(n, k_));
  }
  const std::vector<double> even(std::size_t(k_), 0.0);
  if (first_rows)
    return local_step<HardAllocation>(sample_, control_,
                                      make_scorer(one_row_posteriors(*first_rows, neutral_)), even)
        .statistics;
  // Categories have no order or distances to derive starting points from: draw random
  // responsibilities.
  return local_step<ScatteredAllocation>(sample_, control_, make_scorer(replicate(neutral_, k_)),
                                         even,
                                         {RowRandom(options_.seed, std::uint64_t(restart), 0, 5)})
      .statistics;
}

ProductEmissions::Point ProductEmissions::given_probabilities(
    const std::vector<std::string> &symbols) const {
  Point out{shared_columns(), Matrix::Zero(Eigen::Index(symbols.size()), k_)};
  const auto &states = *options_.probabilities.as<Document::List>();
  for (int i = 0; i < k_; ++i) {
    double left = 1;
    std::vector<bool> given(symbols.size(), false);
    for (const auto &[symbol, p] : *states[std::size_t(i)].as<Document::Object>()) {
      const auto at = std::find(symbols.begin(), symbols.end(), symbol);
      if (at == symbols.end())
        throw Error(Errc::invalid_argument, "option \"init.probabilities\" names symbol \"" +
                                                symbol + "\", which occurs in no sequence");
      given[std::size_t(at - symbols.begin())] = true;
      left -= out.values(at - symbols.begin(), i) = *to_number(p, false);
    }
    const auto others = std::count(given.begin(), given.end(), false);
    if (others == 0 && left > 1e-6)
      throw Error(Errc::invalid_argument,
                  "option \"init.probabilities\" names all symbols for state " +
                      std::to_string(i + 1) + ", but their probabilities do not sum to 1",
                  "The remaining probability is " + describe(left) + ".");
    for (std::size_t v = 0; v < given.size(); ++v)
      if (!given[v]) out.values(Eigen::Index(v), i) = std::max(0.0, left) / double(others);
    out.values.col(i) = out.values.col(i).cwiseMax(1e-12);
    double sum = 0;  // sequentially: Eigen's order of summation depends on memory alignment
    for (Eigen::Index v = 0; v < out.values.rows(); ++v) sum += out.values(v, i);
    if (std::abs(sum - 1) > exact_sum) out.values.col(i) /= sum;
  }
  return out;
}

ProductEmissions::Point ProductEmissions::first_point(const Statistics &statistics) const {
  Point point = point_estimate(posterior(statistics, replicate(neutral_, k_)));
  if (options_.means) set_given_means(point);
  return point;
}

ProductSurvey ProductEmissions::look(const Sequences &sequences, const HmmOptions &options,
                                     const Fitted *start, const std::vector<std::string> &symbols,
                                     Control &control) {
  const int d = sequences.dimension;
  check_likelihood_count(options.emission, d, "emission");
  SharedColumns columns = start ? start->point.emissions.columns : nullptr;
  if (options.symbols &&
      (!columns || columns->column(0).numbers_per_name() < std::ssize(symbols))) {
    ColumnSpec spec{*likelihood_named("categorical"),
                    int(std::max<std::size_t>(1, symbols.size()))};
    columns = std::make_shared<const Columns>(std::vector<ColumnSpec>{spec});
  }
  check_values(sequences, options, start != nullptr, control);
  Observations all(sequences, false);
  if (columns && !options.symbols) columns = with_categories_of(all, columns, control);
  return columns ? survey_product(all, columns, control)
                 : survey_product(all, options.emission, options.categories, control);
}

void ProductEmissions::sort_sample(const std::vector<std::string> &symbols) {
  std::vector<std::pair<double, double>> rows;  // value, weight
  Buffer block(sample_.shape().block_doubles());
  for (std::int64_t row = 0; row < sample_.rows(); ++row) {
    if (row % block_rows == 0) sample_.read_block(row / block_rows, block.data());
    const double code = block[std::size_t(row % block_rows)];
    // Other servers may send rows without a symbol, as those of other models may miss a number.
    if (!(code >= 0 && code < double(symbols.size()))) PassReader::refuse();
    rows.emplace_back(code, block[std::size_t(block_rows + row % block_rows)]);
  }
  std::sort(rows.begin(), rows.end(), [&symbols](const auto &a, const auto &b) {
    return symbols[std::size_t(a.first)] < symbols[std::size_t(b.first)];
  });
  sample_.clear();
  for (const auto &[value, weight] : rows) sample_.append(&value, weight);
}

void ProductEmissions::check_means() const {
  columns().for_each([&](int j, const Column &column, const ColumnOffsets &) {
    for (int i = 0; i < k_; ++i) {
      const double mean =
          options_.means->values[std::size_t(i) * std::size_t(dimension()) + std::size_t(j)];
      if (!column.allowed_mean(mean))
        throw Error(Errc::invalid_argument,
                    "option \"init.means\" contains " + describe(mean) + " for state " +
                        std::to_string(i + 1) + ", which cannot be the mean of element " +
                        std::to_string(j + 1),
                    std::string("Its emission is ") + column.name + ".");
    }
  });
}

void ProductEmissions::set_given_means(Point &point) const {
  for (int i = 0; i < k_; ++i)
    columns().for_each([&](int j, const Column &column, const ColumnOffsets &at) {
      const double mean =
          options_.means->values[std::size_t(i) * std::size_t(dimension()) + std::size_t(j)];
      column.set_mean(mean, survey_.variance(j), point.values.col(i).data() + at.point);
    });
}

void ProductEmissions::check_values(const Sequences &sequences, const HmmOptions &options,
                                    bool started, Control &control) {
  if (options.symbols) return;
  std::vector<ColumnSpec> specs;
  for (int j = 0; j < sequences.dimension; ++j)
    specs.push_back(options.emission[options.emission.size() == 1 ? 0 : std::size_t(j)]);
  check_emissions(sequences, specs, started, control);
}

}  // namespace bayes
