// Hidden Markov models as window functions: a partition is one sequence, in the order of the
// window, regardless of the frame.
//
// hmm_decode and hmm_probabilities read the whole partition at its first row; hmm_filter and
// hmm_surprise read it row by row, in constant memory.
#include <algorithm>
#include <optional>

#include "pg/bind/window.hpp"
#include "pg/input/observation.hpp"
#include "pg/models/hmm.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/server_control.hpp"
#include "pg/server/temporary_files.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

constexpr int model_argument = 0, observation_argument = 1;

/// State kept between partitions.
struct WindowSite {
  WindowSite(MemoryContext context, FunctionCallInfo fcinfo)
      : constant_model(
            guarded([fcinfo] { return get_fn_expr_arg_stable(fcinfo->flinfo, model_argument); })),
        models(hmm_family),
        observations(context, type_of_observations(fcinfo)) {}
  /// The model argument is the same in all rows, so it need not be compared in each.
  const bool constant_model;
  ModelCache models;
  ObservationReader observations;
  ServerControl control;

 private:
  static Oid type_of_observations(FunctionCallInfo fcinfo) {
    const Oid type = argument_type(fcinfo, observation_argument);
    if (!OidIsValid(type)) throw Error(Errc::internal, "type of the observation is not known");
    return type;
  }
};

WindowSite &site_of(FunctionCallInfo fcinfo) { return call_site<WindowSite>(fcinfo, fcinfo); }

/// The model of a partition, which must be the same in all its rows.
class PartitionModel {
 public:
  void first(WindowSite &site, const NullableDatum &value) {
    model_ = nullptr;
    if (value.isnull) return;
    const std::shared_ptr<const Model> &model = site.models.share(value.value);
    model_ = &hidden(*model);
    site.observations.begin(model);
  }
  void check_same(WindowSite &site, const NullableDatum &value) const {
    // The cache returns the same object for models of equal contents, and keeps the last one used.
    if (value.isnull ? model_ != nullptr : model_ != &site.models.get(value.value))
      throw Error(Errc::invalid_argument, "model must be the same for all rows of a partition",
                  "It differs from the value in the first row.",
                  "To use one model for each value, PARTITION BY it.");
  }
  explicit operator bool() const { return model_; }
  const HiddenMarkovModel &operator*() const { return *model_; }

 private:
  const HiddenMarkovModel *model_ = nullptr;
};

/// An argument of a row that must exist.
NullableDatum argument_at(PartitionReader &reader, std::int64_t row, int argument) {
  NullableDatum value;
  if (!reader.get(row, argument, value))
    throw Error(Errc::internal, "partition has fewer rows than PostgreSQL counted");
  return value;
}

/// Reads a whole partition and, unless the model is NULL, calls use(model, sequence, steps).
template <class F>
void with_partition(WindowObject window, WindowSite &site, MemoryContext context, F use) {
  const std::int64_t rows = guarded([window] { return WinGetPartitionRowCount(window); });
  check_rows(rows);
  // The rows read have their own contexts, which are deleted before the first result is returned.
  const ScopedContext memory(context, "pg_bayes sequence");
  PartitionReader reader(window, context);
  PartitionModel model;
  std::optional<ModelSequence> sequence;
  for (std::int64_t row = 0; row < rows; ++row) {
    const CurrentContext scratch(reader.scratch());
    if (row == 0)
      model.first(site, argument_at(reader, row, model_argument));
    else if (!site.constant_model)
      model.check_same(site, argument_at(reader, row, model_argument));
    if (model) {
      if (row == 0) {
        sequence.emplace(memory, *model);
        sequence->begin(rows);
      }
      sequence->step(
          site.observations.read(*model, argument_at(reader, row, observation_argument), row + 1));
    } else if (site.constant_model) {
      return;
    }
    reader.next_row();
    site.control.poll();
  }
  if (!model) return;
  site.observations.end(*model);
  use(*model, sequence->sequences, rows);
}

struct DecodedPartition {
  explicit DecodedPartition(MemoryContext) {}
  /// empty if the model is NULL
  std::vector<int> states;
};

/// The smoothed probabilities, K numbers for every row of a partition: in memory, or in a file if
/// they do not fit into work_mem.
class SmoothedPartition {
 public:
  explicit SmoothedPartition(MemoryContext context) : context_(context) {}

  void fill(const HiddenMarkovModel &model, Sequences &sequence, std::int64_t rows,
            Control &control) {
    const std::size_t k = std::size_t(model.size());
    if (double(rows) * double(k) * sizeof(double) > work_mem * 1024.0)
      file_ = std::make_unique<SpillFile>(context_);
    else
      numbers_.resize(std::size_t(rows) * k);
    model.smooth(sequence, control,
                 [this, k](std::int64_t first, int steps, const double *probabilities) {
                   const std::size_t count = std::size_t(steps) * k;
                   if (!file_)
                     std::copy_n(probabilities, count,
                                 numbers_.begin() + std::ptrdiff_t(std::size_t(first) * k));
                   else
                     write(probabilities, count);
                 });
    if (file_) {
      flush();
      rows_at_once_ = std::max<std::int64_t>(1, std::int64_t(buffer_bytes / (k * sizeof(double))));
    }
    rows_ = rows;
    states_ = k;
  }
  /// 0: the model is NULL
  int states() const { return int(states_); }

  const double *row(std::int64_t row) {
    if (!file_) return numbers_.data() + std::size_t(row) * states_;
    if (row < first_ || row >= first_ + held_) {
      first_ = row;
      held_ = std::min(rows_at_once_, rows_ - row);
      numbers_.resize(std::size_t(held_) * states_);
      file_->read(row * std::int64_t(states_ * sizeof(double)), numbers_.data(),
                  numbers_.size() * sizeof(double));
    }
    return numbers_.data() + std::size_t(row - first_) * states_;
  }

 private:
  static constexpr std::size_t buffer_bytes = 256 * 1024;
  /// Called in order of time.
  void write(const double *from, std::size_t count) {
    numbers_.insert(numbers_.end(), from, from + count);
    if (numbers_.size() * sizeof(double) >= buffer_bytes) flush();
  }
  void flush() {
    if (!numbers_.empty()) file_->append(numbers_.data(), numbers_.size() * sizeof(double));
    numbers_.clear();
  }

  MemoryContext context_;
  /// all numbers, or a buffer for the file
  std::vector<double> numbers_;
  std::unique_ptr<SpillFile> file_;
  std::size_t states_ = 0;
  std::int64_t rows_ = 0, rows_at_once_ = 0, first_ = 0, held_ = 0;
};

/// The filter of a partition, in constant memory.
struct FilteredPartition {
  explicit FilteredPartition(MemoryContext) {}
  PartitionModel model;
  /// empty if the model is NULL
  std::optional<HiddenMarkovModel::Filter> filter;
  std::int64_t row = 0;
};

/// Reads the current row of a partition that is read row by row, and, unless the model is NULL,
/// returns use(filter, observation), else NULL.
template <class F> Datum with_filter(FunctionCallInfo fcinfo, F use) {
  const WindowObject window = window_of(fcinfo);
  WindowSite &site = site_of(fcinfo);
  FilteredPartition &partition =
      partition_of<FilteredPartition>(window, [&](FilteredPartition &made, MemoryContext) {
        made.model.first(site, current_argument(window, model_argument));
        if (made.model) made.filter.emplace(*made.model);
      });
  if (partition.row > 0 && !site.constant_model)
    partition.model.check_same(site, current_argument(window, model_argument));
  ++partition.row;
  // Earlier rows are not needed again: PostgreSQL may drop them.
  guarded([window] { WinSetMarkPosition(window, WinGetCurrentPosition(window)); });
  if (!partition.filter) PG_RETURN_NULL();
  const NullableDatum observation = current_argument(window, observation_argument);
  return use(*partition.filter,
             site.observations.read(*partition.model, observation, partition.row));
}

Datum array_of(const double *probabilities, int k) {
  const Cell cell = Cell::vector({probabilities, std::size_t(k)});
  return guarded([&cell] { return cell.to_datum(); });
}

}  // namespace

/// (model, observation) -> int
BAYES_FUNCTION(hmm_decode_window) {
  const WindowObject window = window_of(fcinfo);
  const DecodedPartition &partition =
      partition_of<DecodedPartition>(window, [&](DecodedPartition &made, MemoryContext context) {
        WindowSite &site = site_of(fcinfo);
        with_partition(window, site, context,
                       [&](const HiddenMarkovModel &model, Sequences &sequence, std::int64_t) {
                         made.states = model.decode(sequence, site.control).states;
                       });
      });
  if (partition.states.empty()) PG_RETURN_NULL();
  PG_RETURN_INT32(partition.states.at(std::size_t(WinGetCurrentPosition(window))) + 1);
}

/// (model, observation) -> float8[]
BAYES_FUNCTION(hmm_probabilities_window) {
  const WindowObject window = window_of(fcinfo);
  SmoothedPartition &partition =
      partition_of<SmoothedPartition>(window, [&](SmoothedPartition &made, MemoryContext context) {
        WindowSite &site = site_of(fcinfo);
        with_partition(window, site, context,
                       [&](const HiddenMarkovModel &model, Sequences &sequence, std::int64_t rows) {
                         made.fill(model, sequence, rows, site.control);
                       });
      });
  if (partition.states() == 0) PG_RETURN_NULL();
  return array_of(partition.row(WinGetCurrentPosition(window)), partition.states());
}

/// (model, observation) -> float8[]
BAYES_FUNCTION(hmm_filter_window) {
  return with_filter(fcinfo, [](HiddenMarkovModel::Filter &filter, std::span<const double> x) {
    const std::span<const double> probabilities = filter.next(x);
    return array_of(probabilities.data(), int(probabilities.size()));
  });
}

/// (model, observation) -> float8
BAYES_FUNCTION(hmm_surprise_window) {
  return with_filter(fcinfo,
                     [fcinfo](HiddenMarkovModel::Filter &filter, std::span<const double> x) {
                       const double log_predictive = filter.pass(x);
                       if (!observed(x)) PG_RETURN_NULL();
                       PG_RETURN_FLOAT8(0 - log_predictive);  // not -0
                     });
}
