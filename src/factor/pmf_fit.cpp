// Fitting a probabilistic matrix factorization: standard units, the chains, and the model.

#include "factor/pmf_state.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/linalg.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "factor/pmf_chain.hpp"
#include "fit/fit_run.hpp"
#include "mcmc/stored_draws.hpp"

namespace bayes {
namespace {

/// A variance: a number, or {"shape": ..., "rate": ...} for the gamma prior of its inverse.
void variance_option(OptionTable &t, const char *key, const char *meaning,
                     std::optional<double> &given, std::optional<PrecisionPrior> &prior,
                     bool applies = true) {
  const auto read = [&](const Document &value) {
    if (value.as<Document::Object>()) {
      const std::string path = message("prior.{}.", key);
      OptionTable inner = OptionTable::reading(value, path);
      prior.emplace();
      inner.number({"shape", "shape of the gamma prior"}, prior->shape, above(0, 1e9));
      inner.number({"rate", "rate of the gamma prior"}, prior->rate, above(0, 1e300));
      inner.finish();
      return;
    }
    const auto number = to_number(value, false);
    if (!number || !(*number > 0 && *number <= 1e300))
      throw Error(Errc::invalid_argument,
                  message("option \"prior.{}\" is {}, but must be a number greater than 0, or "
                          "an object with shape and rate of the gamma distribution of its inverse",
                          key, describe(value)));
    given = *number;
  };
  const auto write = [&] {
    if (given) return Document(*given);
    if (!prior) return Document();
    return Document::object().set("shape", prior->shape).set("rate", prior->rate);
  };
  t.other({key, meaning, "a number, or an object with shape and rate", "learned"}, read, write,
          applies);
}

void pmf_prior_options(OptionTable &t, PmfOptions &o) {
  t.boolean({"hierarchical", "whether vectors have a mean and a covariance that are learned"},
            o.hierarchical);
  variance_option(t, "noise_variance", "variance of the noise, or the gamma prior of its inverse",
                  o.noise_variance, o.noise_prior);
  variance_option(t, "c", "variance of the numbers of vectors, or the gamma prior of its inverse",
                  o.c, o.c_prior, !o.hierarchical);
}

void read_prior(const Document &given, PmfOptions &o) {
  o.hierarchical = false;
  o.noise_variance = o.c = std::nullopt;
  o.noise_prior = o.c_prior = std::nullopt;
  OptionTable inner = OptionTable::reading(given, "prior.");
  pmf_prior_options(inner, o);
  inner.finish("a hierarchical prior");
}

/// What a start model hands on, besides FitOptions::inherit.
void inherit_model(const ModelInfo &start, PmfOptions &o) {
  const auto flag = [&start](const char *key, bool &member) {
    const Document *const found = start.options.find(key);
    if (found && found->as<bool>()) member = *found->as<bool>();
  };
  o.rank = start.components;
  flag("means", o.means);
  flag("rated", o.rated);
  const Document *const repeated = start.options.find("repeated");
  if (repeated && repeated->as<std::string>()) o.repeated = *repeated->as<std::string>();
  if (const Document *const prior = start.options.find("prior")) read_prior(*prior, o);
}

void pmf_option_table(OptionTable &t, PmfOptions &o) {
  o.method_line(t, pmf_methods);
  o.chains.lines(t, true);
  o.chains.stored_line(t, true);
  t.seed(seed_key, o.seed);
  time_lines(t, o);
  t.either(on_error_key, o.null_on_error, "error", "null");
  t.choice({"repeated", "which number of a cell that occurs more than once counts"}, o.repeated,
           {"error", "average", "last"});
  t.boolean({"means", "whether rows and columns have means"}, o.means);
  t.boolean({"rated", "whether the model knows which cells had numbers"}, o.rated);
  t.other(
      prior_key, [&](const Document &given) { read_prior(given, o); },
      [&] {
        OptionTable inner = OptionTable::writing();
        pmf_prior_options(inner, o);
        return inner.document();
      });
}

}  // namespace

PmfOptions read_pmf_options(int rank, const Document &options, const PmfModel *start) {
  if (start) rank = start->rank();
  if (rank < 1 || rank > factor_max_factors)
    throw Error(Errc::invalid_argument,
                message("the rank is {}, but must be from 1 to {}", rank, factor_max_factors));
  require_object(options, "{\"draws\": 400, \"seed\": 2}");
  PmfOptions out;
  out.rank = rank;
  if (start) {
    out.inherit(start->info, false);
    inherit_model(start->info, out);
  }
  OptionTable t = OptionTable::reading(options);
  pmf_option_table(t, out);
  t.finish();
  return out;
}

Document PmfOptions::document() const {
  PmfOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  pmf_option_table(t, in_force);
  return t.document();
}

namespace {

/// Larger numbers may overflow when their mean is subtracted.
constexpr double max_number = 1e300;

/// Limits of given variances, relative to the variance of the numbers.
constexpr double min_relative_variance = 1e-10, max_relative_variance = 1e10;

FactorTableOptions::Repeated repeated_of(const std::string &name) {
  using Repeated = FactorTableOptions::Repeated;
  return name == "error" ? Repeated::refuse : name == "last" ? Repeated::last : Repeated::average;
}

class SampledPmf final : public ChainSampler {
 public:
  /// `log_jacobian`: of the numbers in standard units, and of the weights
  SampledPmf(const PmfTask &task, int number, std::optional<PmfState> start, double scale,
             double log_jacobian, Side document_side, PmfModel::State &state)
      : chain_(task, number, std::move(start)),
        hierarchical_(task.prior.hierarchical),
        scale_(scale),
        document_side_(document_side),
        state_(state),
        log_jacobian_(log_jacobian) {}

  double sweep(int index, Control &control) override {
    chain_.sweep(index, control);
    return chain_.log_joint() + log_jacobian_;
  }

  void record(std::vector<double> &values) const override {
    values.push_back(scale_ * std::sqrt(chain_.parameters().noise));
    values.push_back(scale_ * without_rounding_errors(chain_.root_mean_square()));
    values.push_back(scale_ * without_rounding_errors(chain_.norm()));
    if (!hierarchical_) values.push_back(scale_ * chain_.parameters().c);
  }

  void exchange_state(StateNumbers &numbers) override { chain_.exchange(numbers); }

  void store(double) override {
    const PmfParameters &drawn = chain_.parameters();
    state_.noise.push_back(drawn.noise);
    if (!hierarchical_) state_.c.push_back(drawn.c);
    for (std::size_t side = 0; side < 2; ++side)
      store_side(chain_.side(side), drawn.sides[side], drawn.covariances[side],
                 state_.of(side == pmf_first ? document_side_ : other(document_side_)));
  }

 private:
  void store_side(const PmfSide &from, const PmfSidePrior &prior, const PmfCovariance &covariance,
                  PmfSideDraws &to) const {
    WorkPoll poll;
    for (std::int32_t i = 0; i < from.vectors.rows(); ++i) {
      const double *const u = from.vectors.row(i);
      to.vectors.insert(to.vectors.end(), u, u + from.vectors.columns());
      poll(std::size_t(from.vectors.columns()));
    }
    to.means.insert(to.means.end(), from.means.begin(), from.means.end());
    if (!from.means.empty()) {
      to.level.push_back(prior.level);
      to.spread.push_back(prior.spread);
    }
    const auto append = [](const std::vector<double> &values, std::vector<double> &all) {
      all.insert(all.end(), values.begin(), values.end());
    };
    if (!hierarchical_) return;
    append(prior.center, to.center);
    append(covariance.values, to.covariance);
  }

  PmfChain chain_;
  const bool hierarchical_;
  const double scale_;
  const Side document_side_;
  PmfModel::State &state_;
  const double log_jacobian_;
};

/// Size of a stored draw, in numbers.
double pmf_numbers_of_draw(double keys, int rank, bool means, bool hierarchical) {
  return keys * (rank + (means ? 1 : 0)) + (hierarchical ? 2.0 * rank * (rank + 1) : 0) + 6;
}

/// Number of draws that a model stores: option stored_draws, by default all draws up to 500 and 8
/// million numbers (64 MB), or up to 10 if these are more numbers; within 40 million numbers (320
/// MB) and the available memory, and at least one.
double pmf_room(double numbers, const Control &control) {
  return std::min(control.memory / 4 / 8, max_stored_numbers) / numbers;
}
std::int64_t pmf_stored_draws(const ChainPlan &plan, double numbers, const Control &control) {
  const double usual = std::clamp(8e6 / numbers, 10.0, 500.0);
  return equal_draws(plan, std::min(pmf_room(numbers, control),
                                    plan.stored_draws > 0 ? plan.stored_draws : usual));
}

/// Runs the chains. Traces and diagnostics go into `run`, stored draws into `state` (but not keys,
/// units and rated cells). The quantities of a draw are noise_sd, rmse (of the fitted numbers),
/// norm (the root mean square of u_i'v_j over all pairs of keys) and, unless the prior is
/// hierarchical, c: in the units of the numbers, and invariant under rotations of the vectors.
/// begin(chain): the state in which a chain begins, if it is given.
void sample_pmf(const PmfTask &task, const ChainPlan &plan, double scale, double log_jacobian,
                Side document_side, PmfModel::State &state, FitRun &run, Control &control,
                const std::function<std::optional<PmfState>(int chain)> &begin) {
  const double keys =
      double(task.table.totals().documents) + double(task.transposed.totals().documents);
  const double numbers =
      pmf_numbers_of_draw(keys, task.rank, task.prior.means, task.prior.hierarchical);
  ChainSettings settings{"gibbs",
                         plan,
                         {"noise_sd", "rmse", "norm"},
                         pmf_stored_draws(plan, numbers, control),
                         "numbers"};
  if (!task.prior.hierarchical) settings.quantities.push_back("c");
  settings.retain = [&state](std::span<const int>, std::span<const int> stored) {
    state.retain_draws(stored);
  };
  settings.max_kept_draws = plan.all_stored();
  settings.max_held_draws = held_for_extension(numbers, pmf_room(numbers, control));
  settings.exchange = [&](StateNumbers &of_record, int, std::int64_t, std::int64_t stored) {
    std::vector<std::size_t> each;
    const std::size_t rank = std::size_t(task.rank), means = task.prior.means,
                      hierarchical = task.prior.hierarchical;
    for (const Side side : {Side::row, Side::column}) {
      const Corpus &corpus = side == document_side ? task.table : task.transposed;
      const std::size_t own = std::size_t(corpus.totals().documents);
      for (const std::size_t size :
           {own * rank, own * means, rank * hierarchical, rank * rank * hierarchical, means, means})
        each.push_back(size);
    }
    each.push_back(1 - hierarchical);
    each.push_back(1);
    state.exchange(of_record, std::size_t(stored), each);
  };
  ChainRun chains = run_chains(settings, control, [&](int chain) {
    return std::make_unique<SampledPmf>(task, chain, begin(chain), scale, log_jacobian,
                                        document_side, state);
  });
  run.take(std::move(chains));
}

class PmfFit {
 public:
  PmfFit(const FactorTable &table, PmfOptions options, const PmfModel *start, Control &control)
      : table_(table),
        options_(std::move(options)),
        start_(start),
        control_(control),
        run_(*model_, options_, control),
        rows_(table.document_side == Side::row ? table.document_keys : table.term_keys),
        columns_(table.document_side == Side::row ? table.term_keys : table.document_keys) {}

  std::unique_ptr<PmfModel> run() {
    const CorpusTotals &totals = table_.documents.totals();
    require_room();
    find_units();
    run_.set_weight(weight_, totals.entries);
    const PmfTask task{table_.documents, *table_.transposed, options_.rank, {center_, 1 / scale_},
                       prior(),          options_.seed,      weight_};
    PmfModel::State &state = *model_->state;
    state.center = center_;
    state.scale = scale_;
    const PmfPlace place{center_, scale_, other(table_.document_side), table_.term_keys};
    sample_pmf(task, options_.chains, scale_,
               log_weights_ / 2 - double(totals.entries) * std::log(scale_), table_.document_side,
               state, run_, control_, [&](int chain) -> std::optional<PmfState> {
                 if (!start_) return std::nullopt;
                 return pmf_state_of_model(*start_, chain, options_.chains.chains, task, place);
               });
    if (options_.rated) store_rated_cells();
    state.of(Side::row).keys = rows_;
    state.of(Side::column).keys = columns_;
    model_->info.log_likelihood = std::numeric_limits<double>::quiet_NaN();
    run_.describe(totals.entries, table_.skipped, int(state.of(Side::column).keys.size()),
                  options_.rank, options_.document());
    return std::move(model_);
  }

 private:
  void require_room() const {
    const double keys = double(rows_.size()) + double(columns_.size());
    const double numbers =
        pmf_numbers_of_draw(keys, options_.rank, options_.means, options_.hierarchical);
    const double draws = double(pmf_stored_draws(options_.chains, numbers, control_));
    const double cells = options_.rated ? 4.0 * double(table_.documents.totals().entries) : 0;
    const double rank = padded_size(options_.rank);
    const std::string what = message("vectors of {} numbers for {} keys", options_.rank,
                                     std::int64_t(rows_.size() + columns_.size()));
    // A model exists three times: as draws, as a document, and as the bytes of the value.
    require_memory(
        {what,
         8 * (keys * (rank + 1) + 8.0 * control_.threads * rank * rank) + 24 * numbers * draws +
             cells + Keys::max_copies * (rows_.bytes() + columns_.bytes()),
         "numbers",
         {},
         "use a smaller rank, or lower option stored_draws."},
        control_);
    // In the text form of the model, which must fit into a value too, a number takes about 20
    // bytes.
    require_model_size(what, 20.0 / 8 * numbers * draws + cells / 8,
                       "Use a smaller rank, or lower option stored_draws.");
  }

  /// Calls f(document, cells) for all documents.
  template <class F> void each_document_of(Corpus &corpus, F f) const {
    WorkPoll poll;
    for (std::int64_t index = 0; index < corpus.stretches(); ++index)
      for (const CorpusPiece &piece : corpus.stretch(index))
        each_document(piece, [&](std::int64_t document, const DocumentTerms &cells) {
          f(document, cells);
          poll(4 * cells.size());
          return true;
        });
  }

  [[noreturn]] void refuse(std::int64_t document, std::int32_t key, double x) const {
    const auto one = std::size_t(document), two = std::size_t(key);
    const bool by_row = table_.document_side == Side::row;
    throw Error(
        Errc::numeric,
        message("the number of row {}, column {} is {}, but numbers must be within 1e300 "
                "of 0",
                describe(rows_[by_row ? one : two]), describe(columns_[by_row ? two : one]), x),
        {}, "Rescale the numbers.");
  }

  /// Sets center and scale to the mean and standard deviation of the numbers, by their weights, or
  /// without means to 0 and the root mean square; and sums of the weights. Sums of numbers are in
  /// units of the largest one, so that they do not overflow.
  void find_units() {
    double largest = 0;
    weight_ = double(table_.documents.totals().entries);
    bool weighted = false;
    each_document_of(table_.documents, [&](std::int64_t document, const DocumentTerms &cells) {
      if (!cells.weights.empty() && !std::exchange(weighted, true)) weight_ = 0;
      for (const double w : cells.weights) {
        weight_ += w;
        log_weights_ += std::log(w);
      }
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const double x = std::abs(cells.counts[i]);
        if (!(x <= max_number)) refuse(document, cells.terms[i], cells.counts[i]);
        largest = std::max(largest, x);
      }
    });
    if (largest < 1e-300) return;  // practically 0
    const auto weight = [](const DocumentTerms &cells, std::size_t i) {
      return cells.weights.empty() ? 1 : cells.weights[i];
    };
    double sum = 0, squares = 0;
    if (options_.means) {
      each_document_of(table_.documents, [&](std::int64_t, const DocumentTerms &cells) {
        for (std::size_t i = 0; i < cells.size(); ++i)
          sum += weight(cells, i) * (cells.counts[i] / largest);
      });
      center_ = sum / weight_ * largest;
    }
    each_document_of(table_.documents, [&](std::int64_t, const DocumentTerms &cells) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const double z = cells.counts[i] / largest - center_ / largest;
        squares += weight(cells, i) * (z * z);
      }
    });
    // If all numbers are equal, their differences are rounding errors.
    const double share = std::sqrt(squares / weight_);
    scale_ = share > 1e-12 ? share * largest : largest;
    scale_ = std::max(scale_, 1e-300);
  }

  /// Converts a variance to standard units. `squared`: a variance of numbers; else one of vectors,
  /// whose products are numbers.
  double in_units(double variance, bool squared) const {
    return squared ? variance / scale_ / scale_ : variance / scale_;
  }
  std::optional<double> given(const char *key, std::optional<double> variance, bool squared) const {
    if (!variance) return {};
    const double out = in_units(*variance, squared);
    if (!(out >= min_relative_variance && out <= max_relative_variance))
      throw Error(
          Errc::invalid_argument,
          message("option \"prior.{}\" is {}, which is out of proportion to the numbers", key,
                  *variance),
          message("Their standard deviation is {}. {}", scale_,
                  squared ? "The noise variance must be within 1e-10 and 1e10 times its square."
                          : "c must be within 1e-10 and 1e10 times that."),
          message("Rescale the numbers, or leave out \"prior.{}\", which is learned then.", key));
    return out;
  }
  PrecisionPrior learned(const std::optional<PrecisionPrior> &asked, PrecisionPrior usual,
                         bool squared) const {
    if (!asked) return usual;
    return {asked->shape, std::clamp(in_units(asked->rate, squared), 1e-100, 1e100)};
  }

  PmfPrior prior() const {
    PmfPrior out;
    out.means = options_.means;
    out.hierarchical = options_.hierarchical;
    out.noise = given("noise_variance", options_.noise_variance, true);
    out.c = given("c", options_.c, false);
    out.noise_prior = learned(options_.noise_prior, {1, 0.5}, true);
    out.c_prior = learned(options_.c_prior, {1, 0.5 / std::sqrt(double(options_.rank))}, false);
    out.spread_prior = {1, 0.1};
    return out;
  }

  void store_rated_cells() {
    PmfModel::State &state = *model_->state;
    state.knows_rated = true;
    state.begin.push_back(0);
    state.rated.reserve(std::size_t(table_.documents.totals().entries));
    each_document_of(table_.document_side == Side::row ? table_.documents : *table_.transposed,
                     [&](std::int64_t, const DocumentTerms &cells) {
                       state.rated.insert(state.rated.end(), cells.terms.begin(),
                                          cells.terms.end());
                       state.begin.push_back(std::int64_t(state.rated.size()));
                     });
  }

  const FactorTable &table_;
  const PmfOptions options_;
  const PmfModel *const start_;
  Control &control_;
  std::unique_ptr<PmfModel> model_ = std::make_unique<PmfModel>();
  FitRun run_;
  const Keys rows_, columns_;
  double center_ = 0, scale_ = 1;
  /// the sum of the weights, which are 1 without weights, and that of their logarithms
  double weight_ = 0, log_weights_ = 0;
};

}  // namespace

FactorTableOptions pmf_check_options(int rank, const Document &options, const PmfModel *start) {
  const PmfOptions read = read_pmf_options(rank, options, start);
  FactorTableOptions out;
  out.repeated = repeated_of(read.repeated);
  out.missing = true;
  out.transposed = true;
  // The current vector, and at least one stored draw: in the model, in its document and in its
  // bytes.
  out.bytes_of_key = 8 * (padded_size(read.rank) + 1) + 24 * (read.rank + 1);
  return out;
}

std::unique_ptr<PmfModel> pmf_fit(const FactorTable &table, int rank, const Document &options,
                                  Control &control, const PmfModel *start) {
  const PollScope scope(control);
  PmfOptions read = read_pmf_options(rank, options, start);
  if (!table.transposed) throw Error(Errc::internal, "the table has no transposed copy");
  if (table.documents.totals().entries == 0)
    throw Error(Errc::invalid_argument, "there are no numbers to fit");
  return PmfFit(table, std::move(read), start, control).run();
}

namespace {

/// The stream of random numbers of new keys, beside those of pmf_chain.cpp.
constexpr int stream_of_new_keys = 5;

/// Draws vectors of one side in one draw of a model, in its units.
class NewVectors {
 public:
  NewVectors(const PmfModel::State &state, const PmfSideDraws &side, std::size_t draw, int rank)
      : rank_(rank) {
    if (state.hierarchical()) {
      const std::size_t r = std::size_t(rank);
      center_ = side.center.data() + draw * r;
      const Matrix covariance =
          Eigen::Map<const Matrix>(side.covariance.data() + draw * r * r, rank, rank);
      if (!cholesky(covariance, lower_)) lower_ = Matrix::Zero(rank, rank);
    } else {
      deviation_ = std::sqrt(state.c[draw]);
    }
  }
  void draw(Random &random, double factor, double *to) const {
    Vector z(rank_);
    for (int k = 0; k < rank_; ++k) z(k) = random.normal();
    for (int k = 0; k < rank_; ++k) {
      double u = center_ ? center_[k] : deviation_ * z(k);
      for (int l = 0; center_ && l <= k; ++l) u += lower_(k, l) * z(l);
      to[k] = factor * u;
    }
  }

 private:
  int rank_;
  const double *center_ = nullptr;
  Matrix lower_;
  double deviation_ = 0;
};

}  // namespace

PmfState pmf_state_of_model(const PmfModel &start, int chain, int chains, const PmfTask &task,
                            const PmfPlace &place) {
  const PmfModel::State &from = *start.state;
  const PmfSideDraws &second = from.of(place.second), &first = from.of(other(place.second));
  const std::size_t draws = from.noise.size(),
                    draw = (2 * std::size_t(chain) + 1) * draws / (2 * std::size_t(chains)),
                    known = second.keys.size();
  // A number z of the model is z ratio + shift in the fit; beyond these bounds the model is no
  // beginning for it.
  constexpr double far = 1e6;
  const double ratio = std::clamp(from.scale / place.scale, 1 / far, far),
               shift = std::clamp((from.center - place.center) / place.scale, -far, far);

  PmfPrior prior = task.prior;
  if (!prior.noise) prior.noise = from.noise[draw] * ratio * ratio;
  if (!prior.hierarchical && !prior.c && !from.hierarchical()) prior.c = from.c[draw] * ratio;
  PmfState out{{}, first_parameters(prior, task.rank)};
  const bool means = prior.means && from.has_means();
  double level = 0;
  if (means) {
    level = second.level[draw] * ratio;
    out.parameters.sides[pmf_first].level = first.level[draw] * ratio + level + shift;
    out.parameters.sides[pmf_first].spread = first.spread[draw] * ratio * ratio;
    out.parameters.sides[pmf_second].spread = second.spread[draw] * ratio * ratio;
  }

  const std::size_t rank = std::size_t(task.rank);
  const NewVectors fresh(from, second, draw, task.rank);
  const RowRandom own(task.seed, std::uint64_t(chain), 0, stream_of_new_keys);
  out.second.vectors = PaddedMatrix(std::int32_t(place.keys.size()), task.rank);
  if (prior.means) grow(out.second.means, place.keys.size());
  WorkPoll poll;
  for (std::size_t j = 0; j < place.keys.size(); ++j) {
    poll(40 + 2 * rank);
    double *const to = out.second.vectors.row(std::int32_t(j));
    const std::int32_t index = start.code(place.second, place.keys[j]);
    if (index >= 0) {
      const std::size_t at = draw * known + std::size_t(index);
      for (std::size_t k = 0; k < rank; ++k)
        to[k] = std::sqrt(ratio) * second.vectors[at * rank + k];
      if (means) out.second.means[j] = second.means[at] * ratio - level;
      continue;
    }
    Random random(own.bits(std::int32_t(j)));
    fresh.draw(random, std::sqrt(ratio), to);
    if (means) out.second.means[j] = std::sqrt(second.spread[draw]) * ratio * random.normal();
  }
  return out;
}

// Serialisation of probabilistic matrix factorizations; every number is checked on reading.

namespace {

/// limit of vectors and means, whose products and squares must not overflow
constexpr double max_vector_element = 1e60;
constexpr double max_variance = 1e100;

// ---- the cells that had numbers ----
//
// One text, in which every row ends with a period. The ascending columns of a row are stored as
// their differences minus 1, beginning at -1. Each difference is written in digits of 5 bits, the
// lowest first; 32 is added to all digits but the last.
constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";

void append_gaps(std::span<const std::int32_t> columns, std::string &out) {
  std::int32_t before = -1;
  for (const std::int32_t column : columns) {
    std::uint32_t gap = std::uint32_t(column - before - 1);
    for (; gap >= 32; gap >>= 5) out += digits[32 + (gap & 31)];
    out += digits[gap];
    before = column;
  }
  out += '.';
}

struct DigitValues {
  signed char of[256];
  DigitValues() {
    std::fill(std::begin(of), std::end(of), static_cast<signed char>(-1));
    for (int i = 0; i < 64; ++i)
      of[static_cast<unsigned char>(digits[i])] = static_cast<signed char>(i);
  }
};

/// Returns false if the text was not written by append_gaps for this number of rows.
bool read_gaps(const std::string &text, std::size_t rows, std::int64_t columns,
               PmfModel::State &state) {
  static const DigitValues values;
  std::int64_t before = -1, gap = 0;
  int shift = 0;
  state.begin.assign(1, 0);
  WorkPoll poll;
  for (const char c : text) {
    poll(4);
    if (c == '.') {
      if (shift > 0 || state.begin.size() > rows) return false;
      state.begin.push_back(std::int64_t(state.rated.size()));
      before = -1;
      continue;
    }
    const int digit = values.of[static_cast<unsigned char>(c)];
    if (digit < 0 || shift > 25) return false;
    gap += std::int64_t(digit & 31) << shift;
    shift += 5;
    if (digit >= 32) continue;
    if (digit == 0 && shift > 5) return false;
    before += gap + 1;
    if (before >= columns) return false;
    state.rated.push_back(std::int32_t(before));
    gap = shift = 0;
  }
  return shift == 0 && state.begin.size() == rows + 1;
}

void read_rated(const MemberReader &in, PmfModel::State &state) {
  const auto *const text = in.value("rated").as<std::string>();
  if (!text || !read_gaps(*text, state.of(Side::row).keys.size(),
                          std::int64_t(state.of(Side::column).keys.size()), state))
    in.reject("rated", "does not have the columns of every row");
  state.knows_rated = true;
}

// ---- sides ----

Document write_side(const PmfSideDraws &side, std::int64_t draws, std::int64_t rank) {
  const auto keys = std::int64_t(side.keys.size());
  Document out = Document::object();
  out.set("keys", write_keys(side.keys.all()));
  Tensor vectors{{draws, keys, rank}, {}};
  append_numbers(vectors.values, side.vectors);
  out.set("vectors", std::move(vectors));
  if (!side.level.empty())
    out.set("means", Tensor{{draws, keys}, side.means})
        .set("level", Tensor{{draws}, side.level})
        .set("spread", Tensor{{draws}, side.spread});
  if (!side.covariance.empty())
    out.set("center", Tensor{{draws, rank}, side.center})
        .set("covariance", Tensor{{draws, rank, rank}, side.covariance});
  return out;
}

std::vector<double> read_within(const MemberReader &in, const char *key,
                                const std::vector<std::int64_t> &shape, double max) {
  std::vector<double> out = in.tensor(key, shape).values;
  WorkPoll poll;
  for (const double x : out) {
    poll(1);
    if (!(std::abs(x) <= max))
      in.reject(key, message("contains {}, but its numbers must be within {} of 0", describe(x),
                             describe_number(max)));
  }
  return out;
}

std::vector<double> read_variances(const MemberReader &in, const char *key, std::int64_t draws) {
  std::vector<double> out = in.tensor(key, {draws}).values;
  for (const double x : out)
    if (!(x > 0 && x <= max_variance))
      in.reject(key, message("contains {}, but variances must be greater than 0 and at most {}",
                             describe(x), describe_number(max_variance)));
  return out;
}

/// Whether a matrix is symmetric, with positive variances and correlations from -1 to 1. A Cholesky
/// factorization would prove nothing, as draws may be nearly singular.
bool is_covariance(std::span<const double> values, std::size_t rank) {
  for (std::size_t p = 0; p < rank; ++p) {
    if (!(values[p * rank + p] > 0)) return false;
    for (std::size_t q = 0; q < p; ++q) {
      const double x = values[p * rank + q],
                   bound = std::sqrt(values[p * rank + p]) * std::sqrt(values[q * rank + q]);
      if (x != values[q * rank + p] || !(std::abs(x) <= bound * (1 + 1e-6))) return false;
    }
  }
  return true;
}

PmfSideDraws read_side(const MemberReader &in, std::int64_t draws, std::int64_t rank, bool means,
                       bool hierarchical) {
  PmfSideDraws out;
  out.keys = read_keys(in, true);
  const auto keys = std::int64_t(out.keys.size());
  out.vectors = read_within(in, "vectors", {draws, keys, rank}, max_vector_element);
  if (means) {
    out.means = read_within(in, "means", {draws, keys}, max_vector_element);
    out.level = read_within(in, "level", {draws}, max_vector_element);
    out.spread = read_variances(in, "spread", draws);
  }
  if (!hierarchical) return out;
  out.center = read_within(in, "center", {draws, rank}, max_vector_element);
  out.covariance = read_within(in, "covariance", {draws, rank, rank}, max_variance);
  const auto size = static_cast<std::size_t>(rank);
  for (std::size_t at = 0; at < out.covariance.size(); at += size * size)
    if (!is_covariance({out.covariance.data() + at, size * size}, size))
      in.reject("covariance", "must have covariance matrices");
  return out;
}

}  // namespace

void PmfModel::write(Document &document) const {
  const State &s = *state;
  const std::int64_t draws = stored_draws();
  document.set("center", s.center).set("scale", s.scale);
  document.set("noise", Tensor{{draws}, s.noise});
  if (!s.hierarchical()) document.set("c", Tensor{{draws}, s.c});
  document.set("row_draws", write_side(s.of(Side::row), draws, rank()));
  document.set("column_draws", write_side(s.of(Side::column), draws, rank()));
  if (!s.knows_rated) return;
  std::string rated;
  for (std::size_t i = 0; i + 1 < s.begin.size(); ++i) {
    poll_in_loop(i);
    append_gaps(s.rated_of(std::int32_t(i)), rated);
  }
  document.set("rated", std::move(rated));
}

std::unique_ptr<Model> read_pmf_model(const Document &document) {
  auto model = std::make_unique<PmfModel>();
  const MemberReader in(document);
  model->info = read_model_info(document, pmf_methods, factor_max_keys, factor_max_factors);
  PmfModel::State &state = *model->state;
  state.center = in.number("center", -1e300, 1e300);
  state.scale = in.number("scale", 0, 1e301, true);
  const std::int64_t draws = in.tensor("noise", {-1}).shape[0];
  if (draws == 0) in.reject("noise", "must not be empty");
  state.noise = read_variances(in, "noise", draws);
  const bool hierarchical = !in.has("c");
  if (!hierarchical) state.c = read_variances(in, "c", draws);
  const bool means = in.object("row_draws").has("means");
  for (const Side side : {Side::row, Side::column})
    state.of(side) = read_side(in.object(side == Side::row ? "row_draws" : "column_draws"), draws,
                               model->rank(), means, hierarchical);
  if (state.of(Side::column).keys.size() != std::size_t(model->info.dimension))
    in.reject("dimension", "is not the number of columns");
  if (in.has("rated")) read_rated(in, state);
  return model;
}

}  // namespace bayes
