// Fitting a probabilistic matrix factorization: the table's units, the chains, and the model.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "factor/pmf_options.hpp"
#include "factor/pmf_sampling.hpp"

namespace bayes {
namespace {

/// Numbers beyond it may overflow when their mean is taken off.
constexpr double most_number = 1e300;

/// A variance that is given has to be within these shares of that of the numbers.
constexpr double least_share = 1e-10, most_share = 1e10;

FactorTableOptions::Repeated repeated_of(const std::string &name) {
  using Repeated = FactorTableOptions::Repeated;
  return name == "error" ? Repeated::refuse : name == "last" ? Repeated::last : Repeated::average;
}

class PmfFit {
 public:
  PmfFit(const FactorTable &table, PmfOptions options, Control &control)
      : table_(table),
        options_(std::move(options)),
        control_(control),
        plan_(plan_of(options_)),
        run_(*model_, plan_, control),
        rows_(table.of_lines == Side::row ? table.line_keys : table.other_keys),
        columns_(table.of_lines == Side::row ? table.other_keys : table.line_keys) {}

  std::unique_ptr<PmfModel> run() {
    const CorpusTotals &totals = table_.lines.totals();
    require_room();
    run_.set_weight(double(totals.entries), totals.entries);
    find_units();
    const PmfTask task{table_.lines, *table_.transposed, options_.rank, {center_, 1 / scale_},
                       prior(),      options_.seed};
    PmfModel::State &state = *model_->state;
    state.center = center_;
    state.scale = scale_;
    sample_pmf(task, options_.chains, scale_, table_.of_lines, state, run_, control_);
    if (options_.rated) note_rated();
    state.of(Side::row).keys = rows_;
    state.of(Side::column).keys = columns_;
    model_->info.log_likelihood = std::numeric_limits<double>::quiet_NaN();
    run_.describe(totals.entries, table_.skipped, int(state.of(Side::column).keys.size()),
                  options_.rank, options_.document());
    return std::move(model_);
  }

 private:
  static FitPlan plan_of(const PmfOptions &options) {
    FitPlan out;
    out.method = "gibbs";
    out.seed = options.seed;
    return out;
  }

  void require_room() const {
    const double keys = double(rows_.size()) + double(columns_.size());
    const double numbers =
        pmf_numbers_of_draw(keys, options_.rank, options_.means, options_.hierarchical);
    const double draws = double(pmf_stored_draws(options_.chains, numbers, control_));
    const double cells = options_.rated ? 4.0 * double(table_.lines.totals().entries) : 0;
    const double rank = padded_topics(options_.rank);
    const std::string what = message("vectors of {} numbers for {} keys", options_.rank,
                                     std::int64_t(rows_.size() + columns_.size()));
    // The model is there as draws, as a document and as bytes before it is a value.
    require_memory(
        {what,
         8 * (keys * (rank + 1) + 8.0 * control_.threads * rank * rank) + 24 * numbers * draws +
             cells + Keys::copies * (rows_.bytes() + columns_.bytes()),
         "numbers",
         {},
         "use a smaller rank, or lower option stored_draws."},
        control_);
    // A number takes some 20 bytes in the model's text, which must fit into a value too.
    require_model_size(what, 20.0 / 8 * numbers * draws + cells / 8,
                       "Use a smaller rank, or lower option stored_draws.");
  }

  /// f(line, cells) for all lines
  template <class F> void each_line(Corpus &corpus, F f) const {
    WorkPoll poll;
    for (std::int64_t index = 0; index < corpus.stretches(); ++index)
      for (const CorpusPiece &piece : corpus.stretch(index))
        each_document(piece, [&](std::int64_t line, const DocumentTerms &cells) {
          f(line, cells);
          poll(4 * cells.size());
          return true;
        });
  }

  [[noreturn]] void refuse(std::int64_t line, std::int32_t key, double x) const {
    const auto one = std::size_t(line), two = std::size_t(key);
    const bool by_row = table_.of_lines == Side::row;
    throw Error(
        Errc::numeric,
        message("the number of row {}, column {} is {}, but numbers must be within 1e300 "
                "of 0",
                describe(rows_[by_row ? one : two]), describe(columns_[by_row ? two : one]), x),
        {}, "Rescale the numbers.");
  }

  /// With means, the numbers' mean and standard deviation; else 0 and the root of their mean
  /// square. Neither overflows, as sums are in units of the largest number.
  void find_units() {
    double largest = 0;
    each_line(table_.lines, [&](std::int64_t line, const DocumentTerms &cells) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const double x = std::abs(cells.counts[i]);
        if (!(x <= most_number)) refuse(line, cells.terms[i], cells.counts[i]);
        largest = std::max(largest, x);
      }
    });
    if (largest < 1e-300) return;  // as good as 0
    const double n = double(table_.lines.totals().entries);
    double sum = 0, squares = 0;
    if (options_.means) {
      each_line(table_.lines, [&](std::int64_t, const DocumentTerms &cells) {
        for (const double x : cells.counts) sum += x / largest;
      });
      center_ = sum / n * largest;
    }
    each_line(table_.lines, [&](std::int64_t, const DocumentTerms &cells) {
      for (const double x : cells.counts) {
        const double z = x / largest - center_ / largest;
        squares += z * z;
      }
    });
    // If all are the same, what they differ by is rounding errors.
    const double share = std::sqrt(squares / n);
    scale_ = share > 1e-12 ? share * largest : largest;
    scale_ = std::max(scale_, 1e-300);
  }

  /// A variance in units of the table: of the numbers, whose units are squared in it, or of
  /// vectors, whose products are numbers.
  double in_units(double variance, bool squared) const {
    return squared ? variance / scale_ / scale_ : variance / scale_;
  }
  std::optional<double> given(const char *key, std::optional<double> variance, bool squared) const {
    if (!variance) return {};
    const double out = in_units(*variance, squared);
    if (!(out >= least_share && out <= most_share))
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

  void note_rated() {
    PmfModel::State &state = *model_->state;
    state.knows_rated = true;
    state.begin.push_back(0);
    state.rated.reserve(std::size_t(table_.lines.totals().entries));
    each_line(table_.of_lines == Side::row ? table_.lines : *table_.transposed,
              [&](std::int64_t, const DocumentTerms &cells) {
                state.rated.insert(state.rated.end(), cells.terms.begin(), cells.terms.end());
                state.begin.push_back(std::int64_t(state.rated.size()));
              });
  }

  const FactorTable &table_;
  const PmfOptions options_;
  Control &control_;
  const FitPlan plan_;
  std::unique_ptr<PmfModel> model_ = std::make_unique<PmfModel>();
  FitRun run_;
  const Keys rows_, columns_;
  double center_ = 0, scale_ = 1;
};

}  // namespace

FactorTableOptions pmf_check_options(int rank, const Document &options) {
  const PmfOptions read = read_pmf_options(rank, options);
  FactorTableOptions out;
  out.repeated = repeated_of(read.repeated);
  out.missing = true;
  out.transposed = true;
  out.null_on_error = read.null_on_error;
  // The vector that is drawn, and at least one draw: as such, as a document and as bytes.
  out.bytes_of_key = 8 * (padded_topics(rank) + 1) + 24 * (rank + 1);
  return out;
}

std::unique_ptr<PmfModel> pmf_fit(const FactorTable &table, int rank, const Document &options,
                                  Control &control) {
  const PollScope scope(control);
  PmfOptions read = read_pmf_options(rank, options);
  if (!table.transposed) throw Error(Errc::internal, "the table is there by one side only");
  if (table.lines.totals().entries == 0)
    throw Error(Errc::invalid_argument, "there are no numbers to fit");
  return PmfFit(table, std::move(read), control).run();
}

}  // namespace bayes
