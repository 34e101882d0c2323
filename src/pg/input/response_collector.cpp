#include "pg/input/response_collector.hpp"

#include "base/message.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/unlikely_numbers.hpp"

namespace bayes::pg {

ResponseCollector::ResponseCollector(MemoryContext context, ItemForm form)
    : PackedCollector(context, form.weighted, form.second_type, 1) {
  const Oid type = form.type;
  // The type is unknown in a state that only combines those of other processes: it reads no rows.
  if (!OidIsValid(type)) return;
  arrays_ = is_array_type(form.second_type);
  base_ = guarded([type] { return getBaseType(type); });
  if (base_ != BOOLOID && base_ != UNKNOWNOID && !is_number_type(base_))
    throw SqlError(ERRCODE_DATATYPE_MISMATCH,
                   message("the response is of type {}", name_of_type(type)),
                   "It must be a boolean, or a number that is 0 or 1.",
                   "Compare it with the value that is to count as true: y = 'yes'.");
}

void ResponseCollector::begin(const FitRequest &request, Check check) {
  progress.begin(request.family);
  policy_ = check(request);
}

double ResponseCollector::response(const NullableDatum &y) const {
  const auto refuse = [this](const std::string &what, Errc code) {
    throw Error(code, message("the response of row {} is {}", seen_, what),
                "It must be true or false, or one of the numbers 1 and 0.",
                code == Errc::null_value
                    ? "Option missing = skip leaves out such rows."
                    : message("Compare it with the value that is to count as true: y = {}.",
                              base_ == UNKNOWNOID ? "'yes'" : what));
  };
  if (y.isnull) refuse("NULL", Errc::null_value);
  if (base_ == BOOLOID) return DatumGetBool(y.value) ? 1 : 0;
  if (base_ == UNKNOWNOID) refuse("a literal without a type", Errc::invalid_argument);
  const double value = number_of(y.value, base_);
  if (value != 0 && value != 1) refuse(format_number(value), Errc::invalid_argument);
  return value;
}

std::optional<std::span<const double>> ResponseCollector::predictors(Datum x) {
  if (arrays_ && is_empty_array(x)) return std::span<const double>();
  try {
    return reader_.read(x, seen_, policy_.skip_missing ? Missing::skip_null : Missing::error);
  } catch (const Error &error) {
    // The reader's hint does not apply: regressions have no option missing = marginalize.
    if (error.code() != Errc::null_value) throw;
    throw Error(error.code(), error.what(), error.detail(),
                "Option missing = skip leaves out such rows.");
  }
}

void ResponseCollector::set_length(std::size_t length) {
  if (rows.rows() > 0) wrong_length(length, std::size_t(dimension_), expected_by_, seen_);
  check_length(length, policy_.max_dimension);
  packed_.resize(length + 1);
}

std::vector<std::string> ResponseCollector::names_of_elements(int predictors) const {
  std::vector<std::string> names = quoted_names(columns());
  if (names.empty())
    for (int j = 1; j <= predictors; ++j) names.push_back(message("element {}", j));
  names.insert(names.begin(), "the response");
  return names;
}

void ResponseCollector::arrange(Control &control) {
  if (remote || arranged_ == rows.rows()) return;
  if (arranged_ == 0) {
    note_positions(columns());
    report_names_of_rows(columns());
  }
  rows.name_elements(names_of_elements(dimension_));
  sort_labels();
  rows.arrange(control);
  arranged_ = rows.rows();
}

}  // namespace bayes::pg
