// Fitting a non-negative factorization: prior, start, learner, and the fitted model.

#include "factor/nmf_learners.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "counts/column_matching.hpp"
#include "document/members.hpp"
#include "factor/nmf_starts.hpp"
#include "factor/nmf_state.hpp"
#include "fit/fit_run.hpp"

namespace bayes {
namespace {

constexpr double max_hyperparameter = 1e12;

void hyperparameter(OptionTable &t, const char *key, const char *meaning, std::string_view standard,
                    std::optional<double> &member, bool &learn, double min_value) {
  t.other(
      {key, meaning, "a number, or \"learned\"", standard},
      [&member, &learn, key, min_value](const Document &given) {
        member.reset();
        const auto *const name = given.as<std::string>();
        learn = name && *name == "learned";
        if (learn) return;
        const auto number = to_number(given, false);
        if (!number || !(*number >= min_value && *number <= max_hyperparameter))
          throw Error(Errc::invalid_argument,
                      message("option \"prior.{}\" is {}, but must be a number from {} to {}, or "
                              "\"learned\"",
                              key, describe(given), describe_number(min_value),
                              describe_number(max_hyperparameter)));
        member = *number;
      },
      [&member, &learn] {
        return learn ? Document("learned") : member ? Document(*member) : Document();
      });
}

/// Parameters are named as in 002 L12.
void nmf_prior_lines(OptionTable &t, NmfOptions &o) {
  constexpr double min_shape = 0.002, min_rate = 1e-12;
  const std::string shape = describe_number(nmf_default_shape);
  hyperparameter(t, "a", "shape of the gamma prior of the weights of rows", shape, o.row.shape,
                 o.row.learn_shape, min_shape);
  hyperparameter(t, "b", "rate of the gamma prior of the weights of rows", "by the data",
                 o.row.rate, o.row.learn_rate, min_rate);
  hyperparameter(t, "c", "shape of the gamma prior of the weights of columns", shape,
                 o.column.shape, o.column.learn_shape, min_shape);
  hyperparameter(t, "d", "rate of the gamma prior of the weights of columns", "by the data",
                 o.column.rate, o.column.learn_rate, min_rate);
  t.number({"h", "shape of the gamma prior of the scale of a key"}, o.scale_shape, {0.01, 1e6},
           o.hierarchical);
}

void lines(OptionTable &t, NmfOptions &o) {
  o.method_line(t, nmf_methods);
  o.iteration_lines(t);
  o.restart_line(t, false);
  const bool missing_applies = !o.squared() && !o.stochastic(),
             hierarchical_applies = o.method == Method::vi;
  if (t.reads()) {  // drop inherited options that do not apply
    o.missing_cells &= missing_applies;
    o.hierarchical &= hierarchical_applies;
  }
  t.either({"absent", "what absent cells are"}, o.missing_cells, "zero", "missing",
           missing_applies);
  t.flag({"hierarchical", "whether each key has a scale of its own"}, o.hierarchical,
         hierarchical_applies);
  // Singular vectors are computed with absent cells as zeros.
  if (t.reads()) o.init = o.missing_cells ? "random" : "nndsvd";
  t.choice({"init", "the first weights: from singular vectors, or random ones"}, o.init,
           {"nndsvd", "random"}, !o.started || o.restarts > 1);
  t.seed(seed_key, o.seed);
  time_lines(t, o);
  t.either(on_error_key, o.null_on_error, "error", "null");
  o.plan_lines(t);
  o.prior_line(
      t,
      [&](const Document &given, bool inherited) {
        OptionTable prior = OptionTable::reading(given, "prior.");
        nmf_prior_lines(prior, o);
        if (!inherited) prior.finish(o.setting());
      },
      [&] {
        OptionTable prior = OptionTable::writing();
        nmf_prior_lines(prior, o);
        return prior.document();
      },
      o.gamma());
}

}  // namespace

NmfOptions read_nmf_options(int k, const Document &options, const NmfModel *start) {
  require_components({&k, 1}, factor_max_factors);
  require_object(options, "{\"method\": \"em\", \"seed\": 2}");
  NmfOptions out;
  out.k = k;
  out.plan.batch_rows = 2048;
  // Allocated counts change slowly, as with EM, so minibatches add little noise.
  out.plan.kappa = 0.6;
  if (start) {
    out.inherit(start->info, false);
    const ModelInfo &info = start->info;
    const Document *const absent = info.options.find("absent"), *const scaled = info.options.find(
                                                                    "hierarchical");
    out.missing_cells =
        absent && absent->as<std::string>() && *absent->as<std::string>() == "missing";
    out.hierarchical = scaled && scaled->as<bool>() && *scaled->as<bool>();
  }
  OptionTable t = OptionTable::reading(options);
  lines(t, out);
  t.finish(out.setting());
  if (out.own_rates() && (out.row.learns() || out.column.learns()))
    throw Error(Errc::invalid_argument,
                message("parameters of the prior cannot be learned with option {}",
                        out.hierarchical ? "hierarchical" : "\"absent\": \"missing\""),
                {}, "Options prior.a, prior.b, prior.c and prior.d must then be numbers.");
  return out;
}

void NmfOptions::settle(double cells) {
  // A cell takes a few nanoseconds for each factor. With minibatches, for large tables, one run
  // takes long.
  settle_restarts({cells * k / 4, double(nmf_short_iterations)}, 1, stochastic() ? 1 : 20);
}

Document NmfOptions::document() const {
  NmfOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  lines(t, in_force);
  return t.document();
}

FactorTableOptions nmf_check_options(int k, const Document &options, const NmfModel *start) {
  const NmfOptions read = read_nmf_options(start ? start->size() : k, options, start);
  FactorTableOptions out;
  out.non_negative = true;
  out.missing = read.missing_cells;
  out.shuffled = read.stochastic();
  // numbers for each key in the run and in the model
  out.bytes_of_key = 8.0 * (read.own_rates() ? 7 : read.gamma() ? 5 : 4) * read.k;
  return out;
}

namespace {

/// Cells from which minibatches compute a starting point.
constexpr std::int64_t start_cells = 250'000;
/// Larger sums would lose precision or overflow.
constexpr double max_sum = 1e15, max_squared_sum = 1e100;

/// The tolerance is for the objective per unit of the table's sum.
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
        totals_(table.documents.totals()),
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
        table_.documents, [&](int restart) { return first_state(restart); },
        [&](FactorState state, Corpus &) {
          return run_factors(task, std::move(state), run_.schedule(), control_);
        });
    take(best.state);
    describe();
    return std::move(model_);
  }

 private:
  bool by_rows() const { return table_.document_side == Side::row; }
  WeightPrior &of_documents() { return by_rows() ? options_.row : options_.column; }
  WeightPrior &of_terms() { return by_rows() ? options_.column : options_.row; }
  std::size_t stride() const { return std::size_t(padded_size(k_)); }

  void check_size() const {
    const double largest = options_.squared() ? max_squared_sum : max_sum;
    if (!(totals_.most_tokens <= largest))
      throw Error(Errc::numeric,
                  message("the numbers of a {} add up to {}, but the limit is {} with method {}",
                          by_rows() ? "row" : "column", totals_.most_tokens,
                          describe_number(largest), options_.method),
                  {}, "Divide all numbers by a constant.");
    const std::string what = message("{} factors of {} rows and columns", k_,
                                     table_.document_keys.size() + table_.term_keys.size());
    require_model_size(
        what, (double(k_) + 2) * double(table_.document_keys.size() + table_.term_keys.size()),
        "Use a smaller k, or fewer rows or columns.");
    require_memory(
        {.what = what,
         .bytes = 8 * factor_run_doubles(table_, options_, control_) +
                  Keys::max_copies * (table_.document_keys.bytes() + table_.term_keys.bytes()),
         .data = "cells",
         .hint = message("or use a smaller k{}, or fewer rows or columns.",
                         options_.stochastic() ? " or batch_size" : "")},
        control_);
  }

  /// Both sides get the same mean weight m, where k m^2 is the mean of the cells.
  void find_priors() {
    const double mean = totals_.tokens / fitted_cells(totals_, options_.missing_cells),
                 of_weight = std::sqrt(mean / k_);
    const auto find = [of_weight](WeightPrior &side) {
      const double shape = side.shape.value_or(nmf_default_shape);
      side.shape = shape;
      side.rate = side.rate.value_or(shape / of_weight);
    };
    find(options_.row);
    find(options_.column);
  }

  FactorTask task() {
    const WeightPrior &documents = of_documents(), &terms = of_terms();
    return {
        table_,          options_, documents.learn_shape, documents.learn_rate, terms.learn_shape,
        terms.learn_rate};
  }

  /// The initial state of a restart; the first one begins at the start model, if there is one.
  FactorState first_state(int restart) {
    const int fresh = restart - (start_ ? 1 : 0);
    // The search for singular vectors takes long.
    const bool by_vectors = options_.init == "nndsvd" && fresh == 1 && !run_.continues();
    FactorStart start = fresh == 0   ? from_model()
                        : by_vectors ? from_vectors()
                                     : random_start(table_.documents, k_, options_.seed, fresh);
    FactorState out;
    out.terms = std::move(start.terms);
    out.documents = std::move(start.documents);
    const double scale_shape = options_.hierarchical ? options_.scale_shape : 0;
    if (options_.gamma()) {
      out.document_prior = {*of_documents().shape, *of_documents().rate, scale_shape};
      out.term_prior = {*of_terms().shape, *of_terms().rate, scale_shape};
    }
    if (options_.gamma() || (options_.method == Method::em && !options_.missing_cells))
      points_to_counts(out, std::move(start.sums));
    // Documents are computed in the first pass if they have own rates, or if the start is from a
    // part of them.
    if (options_.own_rates()) out.documents = {};
    if (out.documents.here.size() < std::size_t(totals_.documents) * stride())
      out.documents.here = Buffer();
    return out;
  }

  /// Minibatches begin with singular vectors of the first documents, which are as good as random
  /// ones: those of all documents would take longer than the minibatches.
  FactorStart from_vectors() const {
    if (!options_.stochastic() || totals_.entries <= start_cells)
      return nndsvd_start(table_.documents, k_, options_.seed, control_);
    MemoryCorpus some(totals_.vocabulary);
    some.append_first(table_.documents, start_cells, control_);
    FactorStart out = nndsvd_start(some, k_, options_.seed, control_);
    const double share = double(totals_.documents) / double(some.totals().documents);
    for (double &x : out.documents.here) x *= share;
    out.sums.clear();
    return out;
  }

  /// Converts point estimates to the counts that they would be allocated. `documents`: the sums
  /// over the documents, or empty.
  void points_to_counts(FactorState &state, std::vector<double> documents) const {
    const std::size_t width = stride();
    std::vector<double> terms(width, 0.0);
    const bool add = documents.empty();
    documents.resize(width, 0.0);
    WorkPoll poll;
    for (std::int32_t j = 0; j < totals_.vocabulary; ++j) {
      for (std::size_t k = 0; k < width; ++k) terms[k] += state.terms.row(j)[k];
      poll(width);
    }
    for (std::size_t i = 0; add && i < state.documents.here.size(); ++i) {
      documents[i % width] += state.documents.here[i];
      poll(4);
    }
    for (std::int32_t j = 0; j < totals_.vocabulary; ++j) {
      for (std::size_t k = 0; k < std::size_t(k_); ++k)
        state.terms.row(j)[k] *=
            state.documents.empty() ? totals_.tokens / (k_ * terms[k]) : documents[k];
      poll(width);
    }
    terms.resize(std::size_t(k_));
    if (!state.documents.empty())
      scale_documents(table_.documents, state.documents, std::move(terms), control_);
  }

  /// The weights of the start model; unknown keys get the mean of the known ones.
  FactorStart from_model() const {
    const auto weights = [this](Side which, const Keys &keys, auto to) {
      const NmfSide &side = start_->state->side(which);
      const bool documents = which == table_.document_side;
      WorkPoll poll;
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::int32_t from = start_->code(which, keys[documents ? table_.key_of(i) : i]);
        for (int k = 0; k < k_; ++k)
          to(i)[k] = from < 0 ? side.totals[std::size_t(k)] / double(side.keys.size())
                              : side.expected(from, k);
        poll(40 + std::size_t(k_));
      }
    };
    FactorStart out{PaddedMatrix(totals_.vocabulary, k_)};
    grow(out.documents.here, table_.document_keys.size() * stride());
    weights(table_.document_side, table_.document_keys,
            [&](std::size_t i) { return out.documents.here.data() + i * stride(); });
    weights(other(table_.document_side), table_.term_keys,
            [&](std::size_t j) { return out.terms.row(std::int32_t(j)); });
    return out;
  }

  /// Has the numbers of documents on other servers sent; returns the error, as measure() does.
  NmfError fetch(FactorState &state) const {
    Buffer inverse(stride(), 1.0);
    const bool gamma = options_.gamma(), own = options_.own_rates();
    for (std::size_t k = 0; k < std::size_t(k_) && gamma && !own; ++k)
      inverse[k] = 1 / state.document_rates[k];
    PaddedMatrix means = state.terms;
    WorkPoll poll;
    for (std::int32_t j = 0; j < means.rows() && gamma; ++j) {
      for (int k = 0; k < k_; ++k)
        means.row(j)[k] = (state.term_prior.shape + means.row(j)[k]) /
                          (own ? state.own_term_rates.row(j)[k] : state.term_rates[std::size_t(k)]);
      poll(stride());
    }
    return numbers_from_elsewhere(table_.documents, state, options_, means, inverse, control_);
  }

  /// Copies the state of the best run into the model.
  void take(FactorState &state) {
    const bool remote = table_.documents.is_remote();
    if (remote) model_->state->error = fetch(state);
    NmfSide &documents = model_->state->side(table_.document_side),
            &terms = model_->state->side(other(table_.document_side));
    documents.keys = table_.document_keys;
    terms.keys = table_.term_keys;
    documents.numbers = PaddedMatrix(std::int32_t(totals_.documents), k_);
    terms.numbers = std::move(state.terms);
    documents.prior = state.document_prior;
    terms.prior = state.term_prior;
    documents.rates = terms.rates = std::vector<double>(std::size_t(k_), 1.0);
    const bool gamma = options_.gamma(), own = options_.own_rates();
    model_->state->missing = options_.missing_cells;
    model_->state->gamma = gamma;
    if (gamma && own) {
      documents.rates.clear();
      terms.rates.clear();
      documents.own_rates = PaddedMatrix(documents.numbers.rows(), k_);
      terms.own_rates = std::move(state.own_term_rates);
    } else if (gamma) {
      documents.rates = state.document_rates;
      terms.rates = state.term_rates;
    }
    WorkPoll poll;
    for (std::int32_t i = 0; i < documents.numbers.rows(); ++i) {
      const std::int32_t key = std::int32_t(table_.key_of(std::size_t(i)));
      const double *const counts = state.documents.here.data() +
                                   std::size_t(i) * stride() * (own ? 2 : 1),
                          *const inverse = counts + stride();
      for (int k = 0; k < k_; ++k) {
        double &to = documents.numbers.row(key)[k];
        to = documents.prior.shape + counts[k];
        if (own && gamma)
          documents.own_rates.row(key)[k] = 1 / inverse[k];
        else if (own)
          to *= inverse[k];
      }
      poll(stride());
    }
    for (std::int32_t j = 0; gamma && j < terms.numbers.rows(); ++j) {
      for (int k = 0; k < k_; ++k) terms.numbers.row(j)[k] += terms.prior.shape;
      poll(stride());
    }
    model_->state->sum_up();
    if (!gamma) scale();
    order();
    if (!remote) measure(state.documents.here);
  }

  /// Scales the point estimates so that those of the columns sum to 1 for each factor.
  void scale() {
    NmfSide &row = model_->state->row, &column = model_->state->column;
    WorkPoll poll;
    const auto multiply = [&](NmfSide &side, int k, double by) {
      for (std::int32_t i = 0; i < side.numbers.rows(); ++i) {
        side.numbers.row(i)[k] *= by;
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

  /// Each factor's shares of the sum of all cells, by the keys that both models know (rows, then
  /// columns): for the start model, or for the fitted one.
  PaddedMatrix shares(bool of_start) const {
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
    PaddedMatrix out(std::int32_t(keys.size()), k_);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const NmfSide &side = state.side(keys[i].side);
      for (int k = 0; k < k_; ++k) {
        const double total = side.totals[std::size_t(k)];
        if (total > 0)
          out.row(std::int32_t(i))[k] =
              state.shares[std::size_t(k)] / total *
              side.expected(of_start ? keys[i].in_start : keys[i].found, k);
      }
      poll(4 * stride());
    }
    return out;
  }

  /// Orders factors by descending share, or as in the start model; the run that began at it already
  /// has its order.
  void order() {
    if (start_ && run_.best_restart() == 1) return;
    std::vector<int> order(static_cast<std::size_t>(k_));
    std::iota(order.begin(), order.end(), 0);
    const std::vector<double> &of_all = model_->state->shares;
    if (start_)
      order = ColumnMatcher(shares(false)).match(shares(true), control_);
    else
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return of_all[std::size_t(a)] > of_all[std::size_t(b)];
      });
    for (NmfSide *const side : {&model_->state->row, &model_->state->column}) {
      std::vector<double> before(static_cast<std::size_t>(k_));
      WorkPoll poll;
      for (PaddedMatrix *const numbers : {&side->numbers, &side->own_rates})
        for (std::int32_t i = 0; i < numbers->rows(); ++i) {
          std::copy_n(numbers->row(i), k_, before.begin());
          for (int k = 0; k < k_; ++k)
            numbers->row(i)[k] = before[std::size_t(order[std::size_t(k)])];
          poll(stride());
        }
      if (side->rates.empty()) continue;
      before = side->rates;
      for (int k = 0; k < k_; ++k)
        side->rates[std::size_t(k)] = before[std::size_t(order[std::size_t(k)])];
    }
    model_->state->sum_up();
  }

  /// Computes the error. `memory`: the documents of the state, which are overwritten.
  void measure(Buffer &memory) {
    const NmfSide &documents = model_->state->side(table_.document_side),
                  &terms = model_->state->side(other(table_.document_side));
    PaddedMatrix means(terms.numbers.rows(), k_);
    WorkPoll poll;
    for (std::int32_t j = 0; j < means.rows(); ++j) {
      for (int k = 0; k < k_; ++k) means.row(j)[k] = terms.expected(j, k);
      poll(stride());
    }
    for (std::size_t i = 0; i < std::size_t(documents.numbers.rows()); ++i) {
      const std::int32_t key = std::int32_t(table_.key_of(i));
      for (int k = 0; k < k_; ++k)
        memory[i * stride() + std::size_t(k)] = documents.expected(key, k);
      poll(stride());
    }
    model_->state->error =
        error_of(table_.documents, options_.missing_cells, means, memory, control_);
  }

  void describe() {
    ModelInfo &info = model_->info;
    info.log_likelihood =
        options_.method == Method::em ? info.objective : std::numeric_limits<double>::quiet_NaN();
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
  const CorpusTotals &totals = table.documents.totals();
  if (std::size_t(totals.documents) != table.document_keys.size() ||
      std::size_t(totals.vocabulary) != table.term_keys.size())
    throw Error(Errc::internal, "keys are not those of the table");
  if (totals.documents == 0 || totals.vocabulary == 0)
    throw Error(Errc::invalid_argument, "there are no cells to fit");
  if (!(totals.tokens > 0))
    throw Error(Errc::invalid_argument, "every cell of the table is 0",
                "A factorization needs cells that are greater than 0.");
  read.settle(double(totals.entries));
  return NmfFit(table, std::move(read), start, control).run();
}

// Serialisation of non-negative factorizations; every number is checked on reading.

namespace {

constexpr double max_weight = 1e200;

Tensor tensor_of(const PaddedMatrix &table) {
  Tensor out{{table.rows(), table.columns()}, {}};
  out.values.reserve(std::size_t(table.rows()) * std::size_t(table.columns()));
  WorkPoll poll;
  for (std::int32_t i = 0; i < table.rows(); ++i) {
    out.values.insert(out.values.end(), table.row(i), table.row(i) + table.columns());
    poll(4 * std::size_t(table.columns()));
  }
  return out;
}

PaddedMatrix table_of(const Tensor &tensor) {
  const std::int32_t keys = std::int32_t(tensor.shape[0]);
  const int factors = int(tensor.shape[1]);
  PaddedMatrix out(keys, factors);
  WorkPoll poll;
  for (std::int32_t i = 0; i < keys; ++i) {
    std::copy_n(tensor.values.data() + std::size_t(i) * std::size_t(factors), factors, out.row(i));
    poll(4 * std::size_t(factors));
  }
  return out;
}

Document write_prior(const WeightGamma &prior) {
  Document out = Document::object().set("shape", prior.shape).set("rate", prior.rate);
  if (prior.hierarchical()) out.set("scale_shape", prior.scale_shape);
  return out;
}

Document write_side(const NmfSide &side, bool gamma) {
  const std::int64_t factors = side.numbers.columns();
  Document out = Document::object();
  out.set("keys", write_keys(side.keys.all()));
  out.set(gamma ? "shape" : "value", tensor_of(side.numbers));
  if (!gamma) return out;
  if (side.own_rates.rows())
    out.set("rates", tensor_of(side.own_rates));
  else
    out.set("rate", Tensor{{factors}, side.rates});
  out.set("prior", write_prior(side.prior));
  return out;
}

/// Requires numbers up to max_weight that are greater than 0 if `positive`, else at least 0.
void require_weights(const MemberReader &in, const char *key, std::span<const double> values,
                     bool positive) {
  WorkPoll poll;
  for (const double x : values) {
    poll(1);
    if (!((positive ? x > 0 : x >= 0) && x <= max_weight))
      in.reject(key,
                message("contains {}, but its numbers must be {} and at most {}", describe(x),
                        positive ? "greater than 0" : "at least 0", describe_number(max_weight)));
  }
}

WeightGamma read_prior(const MemberReader &in) {
  WeightGamma out = {in.number("shape", 0, max_weight, true),
                     in.number("rate", 0, max_weight, true)};
  if (in.has("scale_shape")) out.scale_shape = in.number("scale_shape", 0, max_weight, true);
  return out;
}

NmfSide read_side(const MemberReader &in, int factors, bool gamma) {
  NmfSide out;
  out.keys = read_keys(in, false);
  const std::int64_t keys = std::int64_t(out.keys.size());
  const char *const name = gamma ? "shape" : "value";
  const Tensor numbers = in.tensor(name, {keys, factors});
  require_weights(in, name, numbers.values, gamma);
  out.numbers = table_of(numbers);
  out.rates.assign(std::size_t(factors), 1.0);
  if (gamma) {
    const bool own = in.has("rates");
    const Tensor rates = own ? in.tensor("rates", {keys, factors}) : in.tensor("rate", {factors});
    require_weights(in, own ? "rates" : "rate", rates.values, true);
    out.rates = own ? std::vector<double>() : rates.values;
    if (own) out.own_rates = table_of(rates);
    out.prior = read_prior(in.object("prior"));
  }
  out.sum_up();
  // Keys are looked up by name, so they must differ.
  WorkPoll poll;
  for (std::size_t i = 1; i < out.keys.size(); ++i) {
    const auto at = [&](std::size_t place) -> const std::string & {
      return out.keys[out.order.empty() ? place : std::size_t(out.order[place])];
    };
    if (at(i - 1) == at(i)) in.reject("keys", message("contains {} twice", describe(at(i))));
    poll(10);
  }
  return out;
}

}  // namespace

Document column_factors_message(const NmfModel &model) {
  const NmfModel::State &state = *model.state;
  Document out = Document::object();
  out.set("factors", model.size()).set("gamma", state.gamma).set("missing", state.missing);
  out.set("column", write_side(state.column, state.gamma));
  if (state.gamma) out.set("prior", write_prior(state.row.prior));
  return out;
}

std::unique_ptr<NmfModel> model_of_column_factors(const Document &message) {
  const MemberReader in(message);
  auto model = std::make_unique<NmfModel>();
  NmfModel::State &state = *model->state;
  state.gamma = in.boolean("gamma");
  state.missing = in.boolean("missing");
  model->info.method = state.gamma ? Method::vi : Method::em;
  model->info.components = int(in.integer("factors", 1, factor_max_factors));
  state.column = read_side(in.object("column"), model->info.components, state.gamma);
  if (state.gamma) state.row.prior = read_prior(in.object("prior"));
  return model;
}

void NmfModel::write(Document &document) const {
  const bool gamma = state->gamma;
  document.set("row", write_side(state->row, gamma))
      .set("column", write_side(state->column, gamma))
      .set("error", Document::object()
                        .set("squared", state->error.squared)
                        .set("divergence", state->error.divergence)
                        .set("explained", state->error.explained));
  if (state->missing) document.set("missing", true);
}

std::unique_ptr<Model> read_nmf_model(const Document &document) {
  auto model = std::make_unique<NmfModel>();
  const MemberReader in(document);
  const ModelInfo &info = model->info =
      read_model_info(document, nmf_methods, factor_max_keys, factor_max_factors);
  const bool gamma = is_variational(info.method);
  NmfModel::State &state = *model->state;
  state.row = read_side(in.object("row"), info.components, gamma);
  state.column = read_side(in.object("column"), info.components, gamma);
  if (state.column.keys.size() != std::size_t(info.dimension))
    in.reject("column", message("must have {} keys", info.dimension));
  const MemberReader error = in.object("error");
  state.error = {error.number("squared", 0, std::numeric_limits<double>::max()),
                 error.number_or_nan("divergence"), error.number_or_nan("explained")};
  state.gamma = gamma;
  state.missing = in.has("missing") && in.boolean("missing");
  state.sum_up();
  return model;
}

}  // namespace bayes
