// Fitting a probabilistic matrix factorization: standard units, the chains, and the model.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "factor/pmf_chain.hpp"
#include "factor/pmf_options.hpp"
#include "factor/pmf_start.hpp"
#include "factor/pmf_state.hpp"
#include "fit/fit_run.hpp"
#include "mcmc/stored_draws.hpp"

namespace bayes {
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
  SampledPmf(const PmfTask &task, int number, std::optional<PmfState> start, double scale,
             Side document_side, PmfModel::State &state)
      : chain_(task, number, std::move(start)),
        hierarchical_(task.prior.hierarchical),
        scale_(scale),
        document_side_(document_side),
        state_(state),
        log_jacobian_(-double(task.table.totals().entries) * std::log(scale)) {}

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
void sample_pmf(const PmfTask &task, const ChainPlan &plan, double scale, Side document_side,
                PmfModel::State &state, FitRun &run, Control &control,
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
    return std::make_unique<SampledPmf>(task, chain, begin(chain), scale, document_side, state);
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
    run_.set_weight(double(totals.entries), totals.entries);
    find_units();
    const PmfTask task{table_.documents, *table_.transposed, options_.rank, {center_, 1 / scale_},
                       prior(),          options_.seed};
    PmfModel::State &state = *model_->state;
    state.center = center_;
    state.scale = scale_;
    const PmfPlace place{center_, scale_, other(table_.document_side), table_.term_keys};
    sample_pmf(task, options_.chains, scale_, table_.document_side, state, run_, control_,
               [&](int chain) -> std::optional<PmfState> {
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

  /// Sets center and scale to the mean and standard deviation of the numbers, or without means to 0
  /// and the root mean square. Sums are in units of the largest number, so that they do not
  /// overflow.
  void find_units() {
    double largest = 0;
    each_document_of(table_.documents, [&](std::int64_t document, const DocumentTerms &cells) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const double x = std::abs(cells.counts[i]);
        if (!(x <= max_number)) refuse(document, cells.terms[i], cells.counts[i]);
        largest = std::max(largest, x);
      }
    });
    if (largest < 1e-300) return;  // practically 0
    const double n = double(table_.documents.totals().entries);
    double sum = 0, squares = 0;
    if (options_.means) {
      each_document_of(table_.documents, [&](std::int64_t, const DocumentTerms &cells) {
        for (const double x : cells.counts) sum += x / largest;
      });
      center_ = sum / n * largest;
    }
    each_document_of(table_.documents, [&](std::int64_t, const DocumentTerms &cells) {
      for (const double x : cells.counts) {
        const double z = x / largest - center_ / largest;
        squares += z * z;
      }
    });
    // If all numbers are equal, their differences are rounding errors.
    const double share = std::sqrt(squares / n);
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

}  // namespace bayes
