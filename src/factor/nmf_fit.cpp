// Fitting a non-negative factorization: prior, start, learner, and the fitted model.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "factor/nmf_starts.hpp"
#include "factor/nmf_state.hpp"
#include "fit/fit_run.hpp"
#include "topics/topic_matching.hpp"

namespace bayes {
namespace {

/// Of weights: most of a line's are near 0.
constexpr double default_shape = 0.3;
/// What minibatches need to begin with.
constexpr std::int64_t cells_of_start = 250'000;
/// Beyond these, sums lose digits or overflow.
constexpr double most_counts = 1e15, most_to_square = 1e100;

/// The tolerance is for the objective of a unit of the table's sum.
FitPlan plan_of_table(const NmfOptions &options, const CorpusTotals &totals) {
  FitPlan out(options);
  // Weights near 0 converge much more slowly than large ones.
  out.span = 0.25;
  out.brief_iterations = nmf_short_iterations;
  out.tolerance *=
      options.squared() ? double(totals.entries) : std::min(totals.tokens, double(totals.entries));
  return out;
}

class NmfFit {
 public:
  NmfFit(const FactorTable &table, NmfOptions options, const NmfModel *start, Control &control)
      : table_(table),
        totals_(table.lines.totals()),
        options_(std::move(options)),
        start_(start),
        control_(control),
        k_(options_.k),
        run_(*model_, plan_of_table(options_, totals_), control) {
    check_size();
    if (options_.gamma()) find_priors();
  }

  std::unique_ptr<NmfModel> run() {
    const FactorTask task = this->task();
    FactorRun best = run_.best_of_restarts(
        table_.lines, [&](int restart) { return first_state(restart); },
        [&](FactorState state, Corpus &) {
          return run_factors(task, std::move(state), run_.schedule(), control_);
        });
    take(best.state);
    describe();
    return std::move(model_);
  }

 private:
  bool by_rows() const { return table_.of_lines == Side::row; }
  WeightPrior &of_lines() { return by_rows() ? options_.row : options_.column; }
  WeightPrior &of_others() { return by_rows() ? options_.column : options_.row; }
  std::size_t stride() const { return std::size_t(padded_topics(k_)); }

  void check_size() const {
    const double largest = options_.squared() ? most_to_square : most_counts;
    if (!(totals_.most_tokens <= largest))
      throw Error(Errc::numeric,
                  message("the numbers of a {} add up to {}, but to at most {} with method {}",
                          by_rows() ? "row" : "column", totals_.most_tokens,
                          describe_number(largest), options_.method),
                  {}, "Divide all numbers by a constant.");
    const std::string what = message("{} factors of {} rows and columns", k_,
                                     table_.line_keys.size() + table_.other_keys.size());
    require_model_size(
        what, (double(k_) + 2) * double(table_.line_keys.size() + table_.other_keys.size()),
        "Use a smaller k, or fewer rows or columns.");
    require_memory({.what = what,
                    .bytes = 8 * factor_run_doubles(table_, options_, control_) +
                             Keys::copies * (table_.line_keys.bytes() + table_.other_keys.bytes()),
                    .data = "cells",
                    .hint = message("or use a smaller k{}, or fewer rows or columns.",
                                    options_.stochastic() ? " or batch_size" : "")},
                   control_);
  }

  /// Both sides have the same mean, of which k products make up that of a cell.
  void find_priors() {
    const double mean = totals_.tokens / cells_of(totals_, options_.missing_cells),
                 of_weight = std::sqrt(mean / k_);
    const auto find = [of_weight](WeightPrior &side) {
      const double shape = side.shape.value_or(default_shape);
      side.shape = shape;
      side.rate = side.rate.value_or(shape / of_weight);
    };
    find(options_.row);
    find(options_.column);
  }

  FactorTask task() {
    const WeightPrior &lines = of_lines(), &others = of_others();
    return {table_,           options_,           lines.learn_shape,
            lines.learn_rate, others.learn_shape, others.learn_rate};
  }

  /// Where a restart begins: the first at the start model, if there is one.
  FactorState first_state(int restart) {
    const int fresh = restart - (start_ ? 1 : 0);
    const bool by_vectors = options_.init == "nndsvd" && fresh == 1;
    FactorStart start = fresh == 0   ? from_model()
                        : by_vectors ? from_vectors()
                                     : random_start(table_.lines, k_, options_.seed, fresh);
    FactorState out;
    out.others = std::move(start.others);
    out.lines = std::move(start.lines);
    const double scale_shape = options_.hierarchical ? options_.scale_shape : 0;
    if (options_.gamma()) {
      out.line_prior = {*of_lines().shape, *of_lines().rate, scale_shape};
      out.other_prior = {*of_others().shape, *of_others().rate, scale_shape};
    }
    if (options_.gamma() || (options_.method == "em" && !options_.missing_cells)) make_parts(out);
    // Lines with rates of their own are found, and where the start is from some of them.
    if (options_.own_rates() || out.lines.size() < std::size_t(totals_.documents) * stride())
      out.lines = Buffer();
    return out;
  }

  /// Minibatches begin with singular vectors of some lines, which are as good as random ones: those
  /// of all would take longer than the minibatches.
  FactorStart from_vectors() const {
    if (!options_.stochastic() || totals_.entries <= cells_of_start)
      return nndsvd_start(table_.lines, k_, options_.seed, run_.schedule(), control_);
    MemoryCorpus some(totals_.vocabulary);
    some.append_first(table_.lines, cells_of_start, control_);
    FactorStart out = nndsvd_start(some, k_, options_.seed, run_.schedule(), control_);
    const double share = double(totals_.documents) / double(some.totals().documents);
    for (double &x : out.lines) x *= share;
    return out;
  }

  /// Points become the parts that they explain.
  void make_parts(FactorState &state) const {
    const std::size_t width = stride();
    std::vector<double> others(width, 0.0), lines(width, 0.0);
    WorkPoll poll;
    for (std::int32_t j = 0; j < totals_.vocabulary; ++j) {
      for (std::size_t k = 0; k < width; ++k) others[k] += state.others.of(j)[k];
      poll(width);
    }
    for (std::size_t i = 0; i < state.lines.size(); ++i) {
      lines[i % width] += state.lines[i];
      state.lines[i] *= others[i % width];
      poll(4);
    }
    for (std::int32_t j = 0; j < totals_.vocabulary; ++j) {
      for (std::size_t k = 0; k < std::size_t(k_); ++k)
        state.others.of(j)[k] *= state.lines.empty() ? totals_.tokens / (k_ * others[k]) : lines[k];
      poll(width);
    }
  }

  /// Its weights; of keys that it does not know the mean of the others.
  FactorStart from_model() const {
    const auto weights = [this](Side which, const Keys &keys, auto to) {
      const NmfSide &side = start_->state->side(which);
      const bool lines = which == table_.of_lines;
      WorkPoll poll;
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::int32_t from = start_->code(which, keys[lines ? table_.key_of(i) : i]);
        for (int k = 0; k < k_; ++k)
          to(i)[k] = from < 0 ? side.totals[std::size_t(k)] / double(side.keys.size())
                              : side.expected(from, k);
        poll(40 + std::size_t(k_));
      }
    };
    FactorStart out{TermTopics(totals_.vocabulary, k_), {}};
    grow(out.lines, table_.line_keys.size() * stride());
    weights(table_.of_lines, table_.line_keys,
            [&](std::size_t i) { return out.lines.data() + i * stride(); });
    weights(other(table_.of_lines), table_.other_keys,
            [&](std::size_t j) { return out.others.of(std::int32_t(j)); });
    return out;
  }

  /// The model's numbers, from the state of the best run.
  void take(FactorState &state) {
    NmfSide &lines = model_->state->side(table_.of_lines),
            &others = model_->state->side(other(table_.of_lines));
    lines.keys = table_.line_keys;
    others.keys = table_.other_keys;
    lines.numbers = TermTopics(std::int32_t(totals_.documents), k_);
    others.numbers = std::move(state.others);
    lines.prior = state.line_prior;
    others.prior = state.other_prior;
    lines.rates = others.rates = std::vector<double>(std::size_t(k_), 1.0);
    const bool gamma = options_.gamma(), own = options_.own_rates();
    model_->state->missing = options_.missing_cells;
    model_->state->gamma = gamma;
    if (gamma && own) {
      lines.rates.clear();
      others.rates.clear();
      lines.own_rates = TermTopics(lines.numbers.terms(), k_);
      others.own_rates = std::move(state.own_other_rates);
    } else if (gamma) {
      lines.rates = state.line_rates;
      others.rates = state.other_rates;
    }
    WorkPoll poll;
    for (std::int32_t i = 0; i < lines.numbers.terms(); ++i) {
      const std::int32_t key = std::int32_t(table_.key_of(std::size_t(i)));
      const double *const parts = state.lines.data() + std::size_t(i) * stride() * (own ? 2 : 1),
                          *const inverse = parts + stride();
      for (int k = 0; k < k_; ++k) {
        double &to = lines.numbers.of(key)[k];
        to = lines.prior.shape + parts[k];
        if (own && gamma)
          lines.own_rates.of(key)[k] = 1 / inverse[k];
        else if (own)
          to *= inverse[k];
      }
      poll(stride());
    }
    for (std::int32_t j = 0; gamma && j < others.numbers.terms(); ++j) {
      for (int k = 0; k < k_; ++k) others.numbers.of(j)[k] += others.prior.shape;
      poll(stride());
    }
    model_->state->sum_up();
    if (!gamma) scale();
    order();
    measure(state.lines);
  }

  /// A factor's points of the columns add up to 1.
  void scale() {
    NmfSide &row = model_->state->row, &column = model_->state->column;
    WorkPoll poll;
    const auto multiply = [&](NmfSide &side, int k, double by) {
      for (std::int32_t i = 0; i < side.numbers.terms(); ++i) {
        side.numbers.of(i)[k] *= by;
        poll(1);
      }
    };
    for (int k = 0; k < k_; ++k) {
      const double sum = column.totals[std::size_t(k)];
      if (!(sum > 0)) continue;
      multiply(row, k, sum);
      multiply(column, k, 1 / sum);
    }
    model_->state->sum_up();
  }

  /// Of the keys that both know, those of the rows before those of the columns, each factor's
  /// shares of all cells: of the start model, or of what was found.
  TermTopics shares(bool of_start) const {
    struct Key {
      Side side;
      std::int32_t in_start, found;
    };
    std::vector<Key> keys;
    WorkPoll poll;
    for (const Side which : {Side::row, Side::column}) {
      const Keys &names = model_->state->side(which).keys;
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (const std::int32_t from = start_->code(which, names[i]); from >= 0)
          keys.push_back({which, from, std::int32_t(i)});
        poll(40);
      }
    }
    const NmfModel::State &state = of_start ? *start_->state : *model_->state;
    TermTopics out(std::int32_t(keys.size()), k_);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const NmfSide &side = state.side(keys[i].side);
      for (int k = 0; k < k_; ++k) {
        const double total = side.totals[std::size_t(k)];
        if (total > 0)
          out.of(std::int32_t(i))[k] =
              state.shares[std::size_t(k)] / total *
              side.expected(of_start ? keys[i].in_start : keys[i].found, k);
      }
      poll(4 * stride());
    }
    return out;
  }

  /// By descending share, or by the numbers of the start model, which its own run keeps.
  void order() {
    if (start_ && run_.winner() == 1) return;
    std::vector<int> order(static_cast<std::size_t>(k_));
    std::iota(order.begin(), order.end(), 0);
    const std::vector<double> &of_all = model_->state->shares;
    if (start_)
      order = TopicReference(shares(false)).names_of(shares(true), control_);
    else
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return of_all[std::size_t(a)] > of_all[std::size_t(b)];
      });
    for (NmfSide *const side : {&model_->state->row, &model_->state->column}) {
      std::vector<double> before(static_cast<std::size_t>(k_));
      WorkPoll poll;
      for (TermTopics *const numbers : {&side->numbers, &side->own_rates})
        for (std::int32_t i = 0; i < numbers->terms(); ++i) {
          std::copy_n(numbers->of(i), k_, before.begin());
          for (int k = 0; k < k_; ++k)
            numbers->of(i)[k] = before[std::size_t(order[std::size_t(k)])];
          poll(stride());
        }
      if (side->rates.empty()) continue;
      before = side->rates;
      for (int k = 0; k < k_; ++k)
        side->rates[std::size_t(k)] = before[std::size_t(order[std::size_t(k)])];
    }
    model_->state->sum_up();
  }

  /// `memory`: of the lines, which is used again.
  void measure(Buffer &memory) {
    const NmfSide &lines = model_->state->side(table_.of_lines),
                  &others = model_->state->side(other(table_.of_lines));
    TermTopics means(others.numbers.terms(), k_);
    WorkPoll poll;
    for (std::int32_t j = 0; j < means.terms(); ++j) {
      for (int k = 0; k < k_; ++k) means.of(j)[k] = others.expected(j, k);
      poll(stride());
    }
    for (std::size_t i = 0; i < std::size_t(lines.numbers.terms()); ++i) {
      const std::int32_t key = std::int32_t(table_.key_of(i));
      for (int k = 0; k < k_; ++k) memory[i * stride() + std::size_t(k)] = lines.expected(key, k);
      poll(stride());
    }
    model_->state->error = error_of(table_.lines, options_.missing_cells, means, memory, control_);
  }

  void describe() {
    ModelInfo &info = model_->info;
    info.log_likelihood =
        options_.method == "em" ? info.objective : std::numeric_limits<double>::quiet_NaN();
    NmfOptions in_force = options_;
    run_.describe(totals_.entries, table_.skipped, int(model_->state->column.keys.size()), k_,
                  in_force.document());
  }

  const FactorTable &table_;
  const CorpusTotals totals_;
  NmfOptions options_;
  const NmfModel *const start_;
  Control &control_;
  const int k_;
  std::unique_ptr<NmfModel> model_ = std::make_unique<NmfModel>();
  FitRun run_;
};

}  // namespace

std::unique_ptr<NmfModel> nmf_fit(const FactorTable &table, int k, const Document &options,
                                  const NmfModel *start, Control &control) {
  const PollScope scope(control);
  NmfOptions read = read_nmf_options(start ? start->size() : k, options, start);
  const CorpusTotals &totals = table.lines.totals();
  if (std::size_t(totals.documents) != table.line_keys.size() ||
      std::size_t(totals.vocabulary) != table.other_keys.size())
    throw Error(Errc::internal, "keys are not those of the table");
  if (totals.documents == 0 || totals.vocabulary == 0)
    throw Error(Errc::invalid_argument, "there are no cells to fit");
  if (!(totals.tokens > 0))
    throw Error(Errc::invalid_argument, "every cell of the table is 0",
                "A factorization describes where a table is not 0.");
  read.settle(double(totals.entries));
  return NmfFit(table, std::move(read), start, control).run();
}

}  // namespace bayes
