#include "pg/input/observation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/input/sequence_collector.hpp"

namespace bayes::pg {
namespace {

[[noreturn]] void not_numbers(const ElementType &type) {
  throw Error(
      Errc::invalid_argument,
      message("observations are of type {}, but those of the model are numbers", type.name()));
}

/// WARNING, unless `warned`, that the model knows no symbol of a sequence. `first`: the first
/// unknown symbol; empty if all observations are missing.
void warn_of_unknown(const HiddenMarkovModel &model, const std::string &first, bool &warned) {
  if (first.empty() || std::exchange(warned, true)) return;
  report(WARNING, "the model knows none of the symbols of a sequence",
         message("The first unknown symbol is {}; one symbol of the model is {}. Unknown symbols "
                 "carry no information about states; in log-likelihoods each has the probability "
                 "of one additional symbol.",
                 describe(first), describe(model.symbol_names().at(0))),
         "Give symbols in the form that they had in the fit: the symbol of a value is its text.");
}

/// NOTICE, once in a statement, of a symbol that the model does not know, unless `first` is empty.
void report_unknown_symbol(const HiddenMarkovModel &model, const std::string &first) {
  if (first.empty()) return;
  report_unknown_label("a step", first, [&model] { return model.symbol_names(); });
}

std::string name_of_step(std::int64_t step) { return message("step {}", step); }

constexpr const char *vector_hint =
    "Give a vector as a record: ROW(a, b), or ROW(x) where x is an array of numbers.";

}  // namespace

std::int64_t SequenceReader::steps(const std::shared_ptr<const Model> &of, const OpenArray &array) {
  model_ = of;
  reader_ = nullptr;
  if (array.empty()) return 0;
  const auto &model = static_cast<const HiddenMarkovModel &>(*of);
  const Oid element = array.element_type();
  const bool records = is_record_type(element);
  const int dimensions = array.dimensions(), width = dimensions == 2 ? array.size(1) : 1;
  if (dimensions > 2) too_many_dimensions("the sequence", dimensions);
  if (records && dimensions == 2) arrays_of_records("the sequence");
  if (records ? !model.vectors()
              : (dimensions == 2) != model.vectors() || width != model.dimension())
    throw Error(
        Errc::array_shape,
        message("the sequence is of {}, but the model of {}",
                records ? "records" : observations(dimensions == 2, width),
                model.symbols() ? "symbols" : observations(model.vectors(), model.dimension())),
        "Each element of a one-dimensional array is an observation, which may be a record; a "
        "two-dimensional array holds vectors: first the steps, then the elements of each.");
  type_.use(element);
  if (!records) {
    if (!model.symbols() && type_.kind() == SequenceElements::symbols) not_numbers(type_);
    return array.size(0);
  }
  if (record_type_ != element) {
    readers_.emplace(context_, element, name_of_step, AbsentColumns::refused, true);
    record_type_ = element;
  }
  reader_ = &readers_->of(of);
  return array.size(0);
}

void SequenceReader::each(const OpenArray &array,
                          const std::function<void(std::span<const double> x)> &take) {
  const auto &model = static_cast<const HiddenMarkovModel &>(*model_);
  const std::int64_t steps = array.size(0), width = model.dimension(),
                     at_once = std::max<std::int64_t>(1, elements_at_once / width);
  const std::size_t d = std::size_t(width);
  const bool symbols = model.symbols();
  ModelSymbols codes(model);
  type_.forget();  // codes of another model
  ArrayWalk walk(array, type_, symbols ? &codes : nullptr);
  std::vector<double> buffer(std::size_t(std::min(at_once, steps)) * d);
  StepPosition position = {0, 1, model.vectors()};
  bool known = false;
  for (std::int64_t done = 0; done < steps;) {
    const std::size_t count = std::size_t(std::min(at_once, steps - done));
    const std::span<double> read = std::span(buffer).first(count * d);
    if (reader_)
      read_records(walk, read, position.step);
    else if (const auto nan = walk.next(read))
      refuse_nan({0, std::int64_t(*nan / d) + 1, position.vectors}, *nan % d);
    for (std::size_t i = 0; i < count; ++i, ++position.step) {
      const std::span<double> x = read.subspan(i * d, d);
      if (!reader_) check_step(x, position, false);
      if (!symbols) model.check(x, position.step);
      known |= x[0] == x[0];
      take(x);
    }
    done += std::int64_t(count);
    poll_interrupts();
  }
  if (!known)
    warn_of_unknown(model, codes.unknown(), warned_);
  else
    report_unknown_symbol(model, codes.unknown());
}

/// Reads as many records as `out` has room for. `step`: the number of the first one.
void SequenceReader::read_records(ArrayWalk &walk, std::span<double> out, std::int64_t step) {
  const std::size_t d = std::size_t(model_->info.dimension);
  for (std::size_t at = 0; at < out.size(); at += d, ++step) {
    const NullableDatum record = walk.next();
    if (record.isnull) {
      std::fill_n(out.begin() + std::ptrdiff_t(at), d, missing_value);
      continue;
    }
    reader_->open(record.value);
    const std::span<const double> x = *reader_->read(record.value, step, Missing::keep);
    std::copy(x.begin(), x.end(), out.begin() + std::ptrdiff_t(at));
  }
}

ObservationReader::ObservationReader(MemoryContext context, Oid type)
    : type_(context),
      record_(is_record_type(type)),
      readers_(context, record_ ? type : InvalidOid, name_of_step, AbsentColumns::refused, true),
      records_(context) {
  type_.use(type);
}

void ObservationReader::begin(const std::shared_ptr<const Model> &of) {
  const auto &model = static_cast<const HiddenMarkovModel &>(*of);
  symbols_ = model.symbols();
  vectors_ = model.vectors();
  x_.resize(std::size_t(model.dimension()));
  type_.forget();  // codes of another model
  known_ = false;
  unknown_.clear();
  reader_ = nullptr;
  if (symbols_ && !record_) return;
  if (record_ != vectors_)
    throw Error(Errc::array_shape,
                message("observations are {}, but the model is of {}",
                        record_ ? "records" : "single values",
                        symbols_ ? "symbols" : observations(vectors_, model.dimension())),
                {}, vectors_ ? vector_hint : "Give the value itself, not a record.");
  if (!record_ && type_.kind() == SequenceElements::symbols) not_numbers(type_);
  if (record_ && !model.info.columns.empty()) reader_ = &readers_.of(of);
}

std::span<const double> ObservationReader::read(const HiddenMarkovModel &model,
                                                const NullableDatum &value, std::int64_t step) {
  if (value.isnull) {
    std::fill(x_.begin(), x_.end(), missing_value);
    return x_;
  }
  if (symbols_) {
    ModelSymbols codes(model);
    x_[0] = type_.symbol(value.value, codes);
    if (x_[0] == code_of_nan) refuse_nan({0, step, false}, 0);
    known_ |= x_[0] == x_[0];
    if (unknown_.empty()) unknown_ = codes.unknown();
    report_unknown_symbol(model, codes.unknown());
    return x_;
  }
  if (reader_) {
    reader_->open(value.value);
    const std::span<const double> x = *reader_->read(value.value, step, Missing::keep);
    std::copy(x.begin(), x.end(), x_.begin());
  } else if (record_) {
    read_record(value.value, step);
    records_.close();
  } else {
    x_[0] = number_of(value.value, type_.base());
    if (std::isnan(x_[0])) refuse_nan({0, step, false}, 0);
  }
  if (!reader_) check_step(x_, {0, step, vectors_}, false);
  model.check(x_, step);
  return x_;
}

void ObservationReader::end(const HiddenMarkovModel &model) {
  if (!known_) warn_of_unknown(model, unknown_, warned_);
}

/// Determines the columns of the record: numbers and booleans, or one array.
void ObservationReader::inspect_fields() {
  std::vector<Field> fields;
  const TupleDesc description = records_.description();
  for (int i = 0; i < description->natts; ++i) {
    const Form_pg_attribute attribute = TupleDescAttr(description, i);
    if (attribute->attisdropped) continue;
    const Oid declared = attribute->atttypid;
    Field field = {i, InvalidOid, false};
    guarded([declared, &field] {
      field.base = getBaseType(declared);
      field.array = OidIsValid(get_element_type(field.base));
    });
    if (!field.array && !is_number_type(field.base) && field.base != BOOLOID)
      throw Error(Errc::invalid_argument,
                  message("element {} of an observation is of type {}, but elements of vectors are "
                          "numbers",
                          fields.size() + 1, name_of_type(declared)),
                  {}, vector_hint);
    fields.push_back(field);
  }
  if (fields.size() > 1 &&
      std::any_of(fields.begin(), fields.end(), [](const Field &field) { return field.array; }))
    throw Error(Errc::array_shape, "an observation is a record of an array and other columns", {},
                vector_hint);
  fields_ = std::move(fields);
}

void ObservationReader::read_record(Datum value, std::int64_t step) {
  if (records_.open(value)) inspect_fields();
  const auto check_width = [this, step](std::size_t width) {
    if (width != x_.size())
      throw Error(Errc::array_shape, message("step {} is of {}, but the model of {}", step,
                                             observations(true, std::int64_t(width)),
                                             observations(true, std::int64_t(x_.size()))));
  };
  if (fields_.size() == 1 && fields_[0].array) {
    const std::size_t at = std::size_t(fields_[0].index);
    if (records_.null(at)) return std::fill(x_.begin(), x_.end(), missing_value);
    const std::span<const double> x = *array_.read(records_.value(at), step, Missing::keep);
    check_width(x.size());
    std::copy(x.begin(), x.end(), x_.begin());
    return;
  }
  check_width(fields_.size());
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::size_t at = std::size_t(fields_[i].index);
    x_[i] = missing_value;
    if (records_.null(at)) continue;
    x_[i] = number_of(records_.value(at), fields_[i].base);
    if (std::isnan(x_[i])) refuse_nan({0, step, true}, i);
  }
}

}  // namespace bayes::pg
