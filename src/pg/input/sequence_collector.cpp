#include "pg/input/sequence_collector.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/message.hpp"
#include "data/hashed_rows.hpp"
#include "families/product/product_options.hpp"
#include "fit/order_columns.hpp"
#include "pg/input/column_checks.hpp"

namespace bayes::pg {
namespace {

constexpr std::size_t max_symbols = 10000;
/// in bytes, limited because models hold every name
constexpr std::size_t max_symbol_bytes = 10000;

std::string describe(const StepPosition &position, std::size_t element) {
  std::string text = message("step {}", position.step);
  if (position.vectors) text = message("element {} of {}", element + 1, text);
  if (position.sequence) text = message("{} of sequence {}", text, position.sequence);
  return text;
}

[[noreturn]] void missing_step(const StepPosition &position, std::size_t element) {
  throw Error(Errc::null_value, message("{} is missing", describe(position, element)),
              "NULL is a missing observation, which option missing = error refuses.",
              "Without this option missing observations are summed out.");
}

std::int64_t width_of(const OpenArray &array) {
  return array.dimensions() == 2 ? array.size(1) : 1;
}

std::string values(std::int64_t n) { return message("{} {}", n, n == 1 ? "element" : "elements"); }

}  // namespace

void refuse_nan(const StepPosition &position, std::size_t element) {
  throw Error(Errc::invalid_argument, message("{} is NaN", describe(position, element)), {},
              nan_hint);
}

void check_unusable_step(std::span<const double> x, const StepPosition &position,
                         bool refuse_missing) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i];
    if (std::isnan(v)) {
      if (refuse_missing) missing_step(position, i);
    } else if (std::isinf(v)) {
      throw Error(Errc::invalid_argument,
                  message("{} is {}", describe(position, i), format_number(v)),
                  "An observation is a finite number; a NULL is a missing one.");
    } else if (std::fabs(v) > max_abs_element) {
      throw Error(
          Errc::numeric,
          message("{} is {}, too large to compute with", describe(position, i), format_number(v)),
          "The largest absolute value that an observation may have is 1e150.",
          "Choose another unit of measurement.");
    }
  }
}

std::string observations(bool vectors, std::int64_t dimension) {
  return vectors ? message("vectors of {}", values(dimension)) : "single values";
}

void too_many_dimensions(const std::string &what, int dimensions) {
  throw Error(Errc::array_shape, message("{} is an array of {} dimensions", what, dimensions),
              "A sequence is a one-dimensional array of observations, or a two-dimensional one: "
              "first the steps, then the elements of each.");
}

void vectors_of_symbols(const std::string &what) {
  throw Error(Errc::array_shape, message("{} is a two-dimensional array of names", what),
              "Vectors must be numbers; observations that are names stand in a one-dimensional "
              "array, one for each step.",
              "To observe several names at once, make one of them: a || '/' || b.");
}

void arrays_of_records(const std::string &what) {
  throw Error(Errc::array_shape, message("{} is a two-dimensional array of records", what),
              "A sequence is a one-dimensional array of records, one for each step.");
}

double SymbolDictionary::code(std::string_view name) {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  if (names_.size() >= max_symbols)
    throw Error(Errc::too_large,
                message("sequences have more than {} distinct symbols", max_symbols), {},
                "If observations are measurements, not names, give option emission; else combine "
                "rare symbols into one.");
  if (name.size() > max_symbol_bytes)
    throw Error(
        Errc::too_large,
        message("a symbol is {} bytes long, but the limit is {}", name.size(), max_symbol_bytes),
        {}, "A symbol is the name of an observation. Use a shorter one, such as md5(symbol).");
  names_.emplace_back(name);
  return numbers_.emplace(names_.back(), int(names_.size()) - 1).first->second;
}

SequenceCollector::SequenceCollector(MemoryContext context, ItemForm form)
    : WeightedCollector(context, true, "sequence"),
      sequences_{rows},
      type_(context),
      state_type_(context) {
  sequences_.labelled = form.values == 2;
}

void SequenceCollector::begin(FitRequest &request, Check check) {
  progress.begin(request.family);
  request_ = &request;
  check_ = check;
  if (reader_) prepare_records();
}

std::string SequenceCollector::name() const { return message("sequence {}", seen_); }

/// Determines the kind of all sequences from the first one, as far as a start model does not.
void SequenceCollector::prepare(const OpenArray &array) {
  element_type_ = array.element_type();
  type_.use(element_type_);
  if (is_record_type(element_type_)) {
    if (array.dimensions() > 2) too_many_dimensions(name(), array.dimensions());
    open_columns(array);
    return prepare_records();
  }
  elements_ = type_.kind();
  vectors_ = array.dimensions() > 1 && elements_ != SequenceElements::symbols;
  check_options();
  if (array.dimensions() > 2) too_many_dimensions(name(), array.dimensions());
  if (array.dimensions() == 2 && (!vectors_ || options_.symbols)) vectors_of_symbols(name());
  if (elements_ == SequenceElements::symbols && !options_.symbols)
    throw Error(Errc::invalid_argument,
                message("observations are of type {}, but must be numbers", type_.name()), {},
                "Leave out option emission: observations that are not numbers are names.");

  sequences_.dimension = int(width_of(array));
  prepare_store();
}

void SequenceCollector::check_options() {
  about_statement([this] {
    if (reader_) choose_emission();
    options_ = check_(*request_, elements_, vectors_);
  });
}

/// Prepares the store for observations of sequences_.dimension elements.
void SequenceCollector::prepare_store() {
  if (request_->start)
    check_start(static_cast<const HiddenMarkovModel &>(*request_->start));
  else
    first_ = seen_;
  if (sequences_.dimension > hmm_max_dimension)
    throw Error(Errc::too_large, message("observations of {} have {}, but the limit is {}", name(),
                                         values(sequences_.dimension), hmm_max_dimension));

  const int stored = sequences_.dimension + (sequences_.labelled ? 1 : 0);
  const RowShape shape = {stored, true};
  writer_.emplace(sequences_, shape, Append{&rows, stored});
  max_buffered_steps_ = shape.piece_rows();
  row_.resize(std::size_t(stored));
  prepared_ = true;
}

/// Called once the columns of records are known.
void SequenceCollector::prepare_records() {
  elements_ = SequenceElements::numbers;
  vectors_ = true;
  check_options();
  sequences_.dimension = int(reader_->columns().size());
  prepare_store();
}

/// Determines the columns of records from the first one that is not NULL, as far as a start model
/// does not.
void SequenceCollector::open_columns(const OpenArray &array) {
  const auto *const start = static_cast<const HiddenMarkovModel *>(request_->start.get());
  if (array.dimensions() == 2) arrays_of_records(name());
  if (start && !start->vectors())
    throw Error(Errc::array_shape, message("{} is of records, but the model of {}", name(),
                                           observations(false, start->dimension())));
  reader_.emplace(context_, element_type_);
  reader_->name_rows([this](std::int64_t step) { return message("step {} of {}", step, name()); });
  if (request_->start) reader_->expect(request_->start->info, UnknownLabels::added);
  ArrayWalk walk(array, type_, nullptr);
  for (int i = 0; i < array.size(0); ++i) {
    const NullableDatum record = walk.next();
    if (!record.isnull) return reader_->open(record.value);
  }
  throw Error(Errc::invalid_argument, message("all records of {} are NULL", name()),
              "The first record determines the columns.",
              "Leave such sequences out, or place them after others: hmm_fit(s, k ORDER BY ...).");
}

void SequenceCollector::describe(TupleDesc description, int first) {
  reader_.emplace(context_, RECORDOID);
  reader_->name_rows([this](std::int64_t step) { return message("step {} of {}", step, name()); });
  reader_->describe(description, first);
}

void SequenceCollector::begin_sequence() {
  count();
  steps_ = 0;
  buffer_.clear();
}

void SequenceCollector::add_fields(const Datum *values, const bool *nulls) {
  ++steps_;
  const std::span<const double> x = *reader_->read_fields(
      values, nulls, steps_, options_.refuse_missing ? Missing::error : Missing::keep);
  if (steps_ > max_buffered_steps_) return writer_->extend(x.data());
  buffer_.insert(buffer_.end(), x.begin(), x.end());
  if (steps_ == max_buffered_steps_) write_buffered_steps();
}

void SequenceCollector::end_sequence() {
  if (0 < steps_ && steps_ < max_buffered_steps_) write_buffered_steps();
}

void SequenceCollector::write_buffered_steps() {
  writer_->begin(steps_, 1);
  for (std::size_t at = 0; at < buffer_.size(); at += std::size_t(sequences_.dimension))
    writer_->step(buffer_.data() + at);
}

/// Resolves option emission, whose meaning depends on the columns.
void SequenceCollector::choose_emission() {
  number_order(request_->options, reader_->columns());
  // Options that are not an object are refused below.
  if (request_->start || !(request_->options.is_null() || request_->options.as<Document::Object>()))
    return;
  const RowColumns columns = reader_->columns();
  const Document *given = request_->options.find("emission");
  if (given && given->is_null()) given = nullptr;
  Document emission = likelihood_of_columns(given, columns, "emission");
  const bool several = emission.as<Document::List>();
  for (std::size_t j = 0; j < columns.size() && !given && several; ++j)
    if (columns[j].kind == ValueKind::number) normal_by_default_.push_back(j);
  request_->options.set("emission", std::move(emission));
}

std::uint64_t SequenceCollector::hash(Control &control) {
  DataHash out;
  out.add(columns());
  out.add(std::span<const std::string>(symbols()));
  out.add(sequences_.rows, true, control);
  return out.value();
}

void SequenceCollector::arrange(Control &) {
  if (!reader_ || arranged_ == rows.rows()) return;
  const std::vector<std::vector<double>> codes = reader_->sort_labels();
  if (!codes.empty()) rows.recode(codes);
  const RowColumns columns = reader_->columns();
  rows.name_elements(quoted_names(columns));
  // The columns of a start model were reported when that model was fitted.
  if (arranged_ == 0 && !request_->start) {
    note_positions(columns);
    check_columns(rows, sequences_.steps, columns, normal_by_default_, "emission");
  }
  arranged_ = rows.rows();
}

RowColumns SequenceCollector::columns() const {
  if (reader_) return reader_->columns();
  return request_->start ? request_->start->info.columns : RowColumns();
}

void SequenceCollector::check_start(const HiddenMarkovModel &start) {
  if (start.vectors() != vectors_ || start.dimension() != sequences_.dimension)
    throw Error(Errc::array_shape, message("{} is of {}, but the model of {}", name(),
                                           observations(vectors_, sequences_.dimension),
                                           observations(start.vectors(), start.dimension())));
  if (options_.symbols)  // its names retain their codes; new ones follow
    for (const std::string &symbol : start.symbol_names()) symbols_.code(symbol);
}

void SequenceCollector::check_shape(const OpenArray &array) const {
  if (array.dimensions() > 2) too_many_dimensions(name(), array.dimensions());
  if (reader_ && array.dimensions() == 2) arrays_of_records(name());
  if (!reader_ &&
      ((array.dimensions() == 2) != vectors_ || width_of(array) != sequences_.dimension))
    throw Error(Errc::array_shape,
                message("{} is of {}, but {} of {}", name(),
                        observations(array.dimensions() == 2, width_of(array)),
                        first_ ? message("sequence {}", first_) : "the model",
                        observations(vectors_, sequences_.dimension)),
                "The observations of all sequences of one model have the same elements.");
  // Only columns of type anyarray, as in pg_stats, can hold arrays of several types.
  if (array.element_type() != element_type_)
    throw SqlError(ERRCODE_DATATYPE_MISMATCH,
                   message("{} is an array of another type than those before", name()),
                   "The sequences of one fit are arrays of one type.");
}

void SequenceCollector::check_states(const OpenArray &array, const OpenArray &states) const {
  if (states.dimensions() > 1)
    throw Error(Errc::array_shape,
                message("states of {} are an array of {} dimensions", name(), states.dimensions()),
                "Known states are a one-dimensional array: one for each step.");
  const std::int64_t given = states.empty() ? 0 : states.size(0);
  if (given != array.size(0))
    throw Error(Errc::array_shape,
                message("{} has {} steps, but {} known states", name(), array.size(0), given),
                "There is one for each step, NULL where it is not known.");
}

/// A known state as it is stored: 0 if it is unknown.
double SequenceCollector::known_state(double state, std::int64_t step) const {
  if (std::isnan(state)) return 0;
  if (state >= 0 && state <= request_->k) return state;
  throw Error(Errc::invalid_argument,
              message("state of step {} of {} is {}, but there are {} states", step, name(),
                      std::int64_t(state), request_->k),
              "Known states are numbered from 1 to k; NULL and 0 are states that are not known.");
}

void SequenceCollector::add(const Item &item) {
  count();
  if (item.values[0].isnull) return rows.skip();
  if (item.weight && item.weight->isnull && prepared_) return rows.skip();
  const OpenArray array(item.values[0].value);
  if (array.empty()) return rows.skip();
  if (!prepared_) prepare(array);
  if (!admit(item.weight)) return;
  check_shape(array);
  if (!sequences_.labelled || item.values[1].isnull) return store(array, nullptr, weight_of(item));
  const OpenArray known(item.values[1].value);
  check_states(array, known);
  store(array, &known, weight_of(item));
}

/// For a step that is not a record: codes must be those of labels in columns where the start model
/// has labels.
void SequenceCollector::require_labels(std::span<const double> x, std::int64_t step) const {
  if (!request_->start) return;
  const RowColumns &columns = request_->start->info.columns;
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j].kind == ValueKind::label)
      require_label(x[j], std::int64_t(columns[j].labels.size()), columns[j].name,
                    message("step {} of {}", step, name()));
}

/// Reads the next `count` records into the buffer.
void SequenceCollector::read_records(ArrayWalk &walk, std::size_t count, std::int64_t step) {
  const Missing missing = options_.refuse_missing ? Missing::error : Missing::keep;
  double *out = buffer_.data();
  for (std::size_t i = 0; i < count; ++i, ++step, out += sequences_.dimension) {
    const NullableDatum record = walk.next();
    if (record.isnull) {
      if (options_.refuse_missing) missing_step({seen_, step, false}, 0);
      std::fill_n(out, sequences_.dimension, missing_value);
      continue;
    }
    reader_->open(record.value);
    const std::span<const double> x = *reader_->read(record.value, step, missing);
    std::copy(x.begin(), x.end(), out);
  }
}

void SequenceCollector::store(const OpenArray &array, const OpenArray *states, double weight) {
  const std::int64_t steps = array.size(0), width = sequences_.dimension,
                     at_once = std::max<std::int64_t>(1, elements_at_once / width);
  const std::size_t d = std::size_t(width);
  ArrayWalk walk(array, type_, options_.symbols ? &symbols_ : nullptr);
  std::optional<ArrayWalk> known;
  if (states) {
    state_type_.use(states->element_type());
    known.emplace(*states, state_type_, nullptr);
  }
  buffer_.resize(std::size_t(std::min(at_once, steps)) * d);

  writer_->begin(steps, weight);
  StepPosition position = {seen_, 1, vectors_};
  for (std::int64_t done = 0; done < steps;) {
    const std::size_t count = std::size_t(std::min(at_once, steps - done));
    if (reader_)
      read_records(walk, count, position.step);
    else if (const auto nan = walk.next(std::span(buffer_).first(count * d)))
      refuse_nan({seen_, std::int64_t(*nan / d) + 1, vectors_}, *nan % d);
    if (sequences_.labelled) {
      states_.assign(count, 0.0);
      if (known) known->next(states_);
    }
    for (std::size_t i = 0; i < count; ++i, ++position.step) {
      const std::span<double> x = std::span(buffer_).subspan(i * d, d);
      if (!reader_) {
        check_step(x, position, options_.refuse_missing);
        require_labels(x, position.step);
      }
      if (!sequences_.labelled) {
        writer_->step(x.data());
        continue;
      }
      std::copy(x.begin(), x.end(), row_.begin());
      row_[d] = known ? known_state(states_[i], position.step) : 0.0;
      writer_->step(row_.data());
    }
    done += std::int64_t(count);
    poll_interrupts();
  }
}

}  // namespace bayes::pg
