#include "markov/hmm_start.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/random.hpp"
#include "data/local_step.hpp"
#include "data/pass.hpp"
#include "data/sketch.hpp"
#include "document/members.hpp"
#include "families/normal/normal_scorer.hpp"
#include "families/product/product_options.hpp"
#include "fit/seeding.hpp"
#include "markov/hmm_observations.hpp"

namespace bayes {
namespace {

struct ObservedElementsPass {
  static constexpr const char *name = "observed elements";
  struct Sums : ObservedElements {
    template <class F> void fields(F &f) {
      f.flag("any", any);
      f.flag("incomplete", incomplete);
    }
    void add(const Sums &other) {
      any |= other.any;
      incomplete |= other.incomplete;
    }
  };

  template <class F> void fields(F &, const Sequences &) {}
  Sums nothing(const Sequences &) const { return {}; }
  Sums here(const Sequences &sequences, Control &control) const {
    Sums out;
    for_each_step(sequences, control, [&](const double *x, std::int64_t, std::int64_t, double) {
      int missing = 0;
      for (int j = 0; j < sequences.dimension; ++j)
        missing += x[j * block_rows] != x[j * block_rows];
      out.any |= missing < sequences.dimension;
      out.incomplete |= missing > 0 && missing < sequences.dimension;
    });
    return out;
  }
};

/// Throws what check_emissions() does. Numbers of sequences are those in the part.
struct CheckEmissionsPass {
  static constexpr const char *name = "check emissions";
  struct Sums {
    template <class F> void fields(F &) {}
    void add(const Sums &) {}
  };
  std::vector<ColumnSpec> emissions = {};
  bool started = false;

  template <class F> void fields(F &f, const Sequences &sequences) {
    likelihood_fields(f, "emissions", emissions, std::size_t(sequences.dimension));
    f.flag("started", started);
  }
  Sums nothing(const Sequences &) const { return {}; }
  Sums here(const Sequences &sequences, Control &control) const {
    const Columns any(emissions);
    const bool named = sequences.rows.name_of_element(0) != "element 1";
    for_each_step(
        sequences, control, [&](const double *x, std::int64_t sequence, std::int64_t step, double) {
          any.for_each([&](int j, const Column &column, const ColumnOffsets &) {
            const double value = x[std::size_t(j) * block_rows];
            if (value == value && !column.allowed(value))
              throw Error(
                  Errc::invalid_argument,
                  (sequences.dimension > 1 || named ? sequences.rows.name_of_element(j) + " of "
                                                    : std::string()) +
                      "step " + std::to_string(step) + " of sequence " + std::to_string(sequence) +
                      " is " + describe(value) + ", but must be " + column.requirement(),
                  std::string("Its emission is ") + column.name + "." + numbering(sequences),
                  started ? "" : "Option \"emission\" sets the distribution of the observations.");
          });
        });
    return {};
  }
};

struct SymbolBelowPass {
  static constexpr const char *name = "symbol below";
  struct Sums {
    bool any = false;
    template <class F> void fields(F &f) { f.flag("any", any); }
    void add(const Sums &other) { any |= other.any; }
  };
  std::int64_t known = 0;

  template <class F> void fields(F &f, const Sequences &) {
    f.integer("known", known, 0, std::numeric_limits<std::int32_t>::max());
  }
  Sums nothing(const Sequences &) const { return {}; }
  Sums here(const Sequences &sequences, Control &control) const {
    Sums out;
    for_each_step(sequences, control, [&](const double *code, std::int64_t, std::int64_t, double) {
      out.any |= *code < double(known);
    });
    return out;
  }
};

}  // namespace

const PassOver<PartOfSequences> observed_elements_pass =
                                    pass_over<PartOfSequences, ObservedElementsPass>(),
                                check_emissions_pass =
                                    pass_over<PartOfSequences, CheckEmissionsPass>(),
                                symbol_below_pass = pass_over<PartOfSequences, SymbolBelowPass>();

ObservedElements observed_elements(const Sequences &sequences, Control &control) {
  return run(sequences, ObservedElementsPass{}, control);
}

void check_emissions(const Sequences &sequences, const std::vector<ColumnSpec> &emissions,
                     bool started, Control &control) {
  run(sequences, CheckEmissionsPass{emissions, started}, control);
}

bool has_symbol_below(const Sequences &sequences, std::int64_t known, Control &control) {
  return run(sequences, SymbolBelowPass{known}, control).any;
}

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

/// k numbers: 0, ..., n - 1, and then 0, as a group that repeats another one gets no rows.
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
    // Other servers may send rows without a symbol, as rows of other models may miss a number.
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

namespace {

constexpr double pseudo_count = 0.5;
/// Divisions that gain less than this, in nats, are not made.
constexpr double min_gain = 1;

/// The states of all steps, in order.
class Path {
 public:
  Path(const Sequences &sequences, const std::vector<std::uint16_t> &labels, int k,
       Control &control)
      : k_(k),
        emissions_(std::size_t(k)) {
    std::iota(emissions_.begin(), emissions_.end(), 0);
    for_each_step_row(
        sequences, control,
        [&](const double *, std::int64_t row, std::int64_t, std::int64_t step, double weight) {
          steps_.push_back({labels[std::size_t(row)], step == 1, weight});
        });
  }

  std::size_t size() const { return steps_.size(); }

  /// K: weight of the steps of every state
  std::vector<double> visits() const {
    std::vector<double> out(std::size_t(k_), 0.0);
    for (const Step &step : steps_) out[std::size_t(step.state)] += step.weight;
    return out;
  }

  /// Gives all steps of a state to another one.
  void merge(int state, int into) {
    for (Step &step : steps_)
      if (step.state == state) step.state = into;
  }

  /// Gives state `to`, which has no steps, some of another state; false if no division gains
  /// anything.
  bool divide(int to, Random &random) {
    std::vector<Division> all;
    for (const Context context : {Context::next, Context::second, Context::run})
      add_divisions(context, all);
    std::vector<double> weights;
    for (const Division &each : all)
      weights.push_back(std::pow(std::max(0.0, each.gain - min_gain), 2));
    if (std::all_of(weights.begin(), weights.end(), [](double x) { return x == 0; })) return false;
    const Division chosen = all[std::size_t(random.categorical(weights))];
    emissions_[std::size_t(to)] = emissions_[std::size_t(chosen.state)];
    int before = k_, last = k_;
    for (Step &step : steps_) {
      if (step.begins)
        before = k_;
      else if (chosen.context != Context::run || step.state != last)
        before = last;
      last = step.state;
      if (step.state == chosen.state && before == chosen.before) step.state = to;
    }
    return true;
  }

  /// The counts of the path, and the emissions that its states had before they were divided.
  PathStart start() && {
    MarkovCounts counts{Vector::Constant(k_, pseudo_count), Matrix::Constant(k_, k_, pseudo_count),
                        Vector::Zero(k_)};
    for (std::size_t t = 0; t < steps_.size(); ++t) {
      const auto [state, begins, weight] = steps_[t];
      counts.count(state) += weight;
      (begins ? counts.initial(state) : counts.transitions(steps_[t - 1].state, state)) += weight;
    }
    return {std::move(counts), std::move(emissions_)};
  }

 private:
  struct Step {
    int state;
    bool begins;  // a sequence
    double weight;
  };
  /// How a step is told from others in its state: by the state before it, which may predict the
  /// state after it or the second one after it, or by the state before its run of equal states,
  /// which may predict the one after the run.
  enum class Context { next, second, run };
  /// The steps of a state in a certain context, and the gain in nats of the log probability of the
  /// states that follow them, if they have a state of their own.
  struct Division {
    Context context;
    int state, before;
    double gain;
  };

  /// Is it the last step of its sequence?
  bool ends(std::size_t t) const { return t + 1 == steps_.size() || steps_[t + 1].begins; }
  /// The state that follows in the context of a step, or K at the end of a sequence.
  int after(std::size_t t, Context context) const {
    if (context == Context::second && !ends(t)) ++t;
    while (context == Context::run && !ends(t) && steps_[t + 1].state == steps_[t].state) ++t;
    return ends(t) ? k_ : steps_[t + 1].state;
  }

  /// Appends the divisions of all states in a context.
  void add_divisions(Context context, std::vector<Division> &to) const {
    struct Triple {
      int state, before, after;
      double weight;
    };
    std::vector<Triple> triples;
    for (std::size_t t = 0; t < steps_.size(); ++t) {
      const int state = steps_[t].state, before = steps_[t].begins ? k_ : steps_[t - 1].state;
      // of a run its first step
      if (context == Context::run && before == state) continue;
      triples.push_back({state, before, after(t, context), steps_[t].weight});
    }
    std::sort(triples.begin(), triples.end(), [](const Triple &a, const Triple &b) {
      return std::tie(a.state, a.before) < std::tie(b.state, b.before);
    });
    std::vector<double> all(std::size_t(k_) + 1), some(std::size_t(k_) + 1);
    const auto log_term = [](double n) { return n > 0 ? n * std::log(n) : 0; };
    for (auto t = triples.begin(); t != triples.end();) {
      const int state = t->state;
      std::fill(all.begin(), all.end(), 0.0);
      double total = 0;
      for (auto u = t; u != triples.end() && u->state == state; ++u)
        all[std::size_t(u->after)] += u->weight, total += u->weight;
      while (t != triples.end() && t->state == state) {
        poll_here();
        const int before = t->before;
        std::fill(some.begin(), some.end(), 0.0);
        double part = 0;
        for (; t != triples.end() && t->state == state && t->before == before; ++t)
          some[std::size_t(t->after)] += t->weight, part += t->weight;
        double gain = log_term(total) - log_term(part) - log_term(total - part);
        for (std::size_t i = 0; i < all.size(); ++i)
          gain += log_term(some[i]) + log_term(all[i] - some[i]) - log_term(all[i]);
        to.push_back({context, state, before, gain});
      }
    }
  }

  const int k_;
  std::vector<Step> steps_;
  std::vector<int> emissions_;
};

/// Draws a state that is merged into another one. `confusion`: K x K, steps by their states in two
/// independent draws of the path; states with no steps are merged already.
std::pair<int, int> draw_merger(const std::vector<double> &confusion,
                                const std::vector<double> &visits, Random &random) {
  const std::size_t k = visits.size();
  std::vector<std::pair<int, int>> pairs;
  std::vector<double> weights;
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < k; ++j) {
      if (i == j || !(visits[i] > 0) || visits[i] > visits[j] || (visits[i] == visits[j] && i < j))
        continue;
      pairs.emplace_back(int(i), int(j));
      weights.push_back((confusion[i * k + j] + confusion[j * k + i] + 1) / (2 * visits[i] + 1));
    }
  return pairs[std::size_t(random.categorical(weights))];
}

}  // namespace

PathStart start_on_path(const Sequences &sequences, Control &control, const MarkovChain &chain,
                        const EmissionScorer &scorer, int keep, std::uint64_t seed, int number) {
  const PollScope scope(control);
  const auto run = std::uint64_t(number);
  const auto k = std::size_t(chain.states());
  std::vector<std::uint16_t> labels(std::size_t(sequences.rows.rows()), 0);
  const PathDraws first{RowRandom(seed, run, 0, 11), labels.data()},
      second{RowRandom(seed, run, 0, 12), nullptr, labels.data()};
  markov_step(sequences, control, chain, scorer, &first);
  std::vector<double> confusion = markov_step(sequences, control, chain, scorer, &second).confusion;
  Path path(sequences, labels, int(k), control);
  Random random(seed, run, 0, 13);
  std::vector<double> visits = path.visits();
  const auto used = [&] {
    return std::count_if(visits.begin(), visits.end(), [](double x) { return x > 0; });
  };
  WorkPoll poll;
  while (used() > std::max(1, keep)) {
    poll(10 * k * k + path.size());
    const auto [state, into] = draw_merger(confusion, visits, random);
    path.merge(state, into);
    const auto i = std::size_t(state), j = std::size_t(into);
    for (std::size_t l = 0; l < k; ++l) {
      confusion[j * k + l] += confusion[i * k + l];
      confusion[l * k + j] += confusion[l * k + i];
    }
    visits[j] += std::exchange(visits[i], 0);
  }
  for (std::size_t i = 0; i < k; ++i)
    if (!(visits[i] > 0) && !path.divide(int(i), random)) break;
  return std::move(path).start();
}

Trial::Trial(const Sequences &from, std::uint64_t seed, Control &control)
    : rows_(from.rows.shape()),
      sequences_{rows_, from.dimension, from.labelled} {
  sequences_.values = from.values;
  SequenceWriter writer(sequences_, rows_.shape(),
                        [this](const double *x, double weight) { rows_.append(x, weight); });
  const double share = 0.5 * double(max_trial_steps) / double(from.steps);
  const std::size_t d = std::size_t(rows_.shape().dimension);
  std::vector<double> steps;
  double weight = 0;
  const auto put = [&] {
    if (steps.empty()) return;
    writer.begin(std::int64_t(steps.size() / d), weight);
    for (std::size_t at = 0; at < steps.size(); at += d) writer.step(steps.data() + at);
    steps.clear();
  };
  bool chosen = false;
  for_each_step(
      from, control, [&](const double *x, std::int64_t sequence, std::int64_t step, double w) {
        if (step == 1) {
          put();
          chosen = sequence == 1 || Random(seed, std::uint64_t(sequence), 9).uniform() < share;
          weight = w;
        }
        if (!chosen || step > max_trial_steps / 2) return;
        for (std::size_t j = 0; j < d; ++j) steps.push_back(x[j * block_rows]);
      });
  put();
}

}  // namespace bayes
