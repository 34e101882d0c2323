#include "pg/models/linreg_data.hpp"
#include "pg/server/argument_type.hpp"

#include <cmath>

#include "base/message.hpp"
#include "regression/terms.hpp"

namespace bayes::pg {

LinregRowReader::LinregRowReader(MemoryContext context, Oid type)
    : reader(context, type),
      arrays(is_array_type(type)) {}

LinregData::LinregData(MemoryContext context)
    : SumsWithParameters(2),
      memory_(context),
      accumulator_(&memory_),
      sample_(&memory_) {
  progress.begin(linreg_family);
}

LinregData::LinregData(MemoryContext context, FunctionCallInfo fcinfo) : LinregData(context) {
  if (read_parameters(fcinfo))
    policy_ = linreg_check_options(parameters_.request(linreg_family).options);
}

LinregData::LinregData(MemoryContext context, const Document &options, Oid type)
    : LinregData(context) {
  policy_ = linreg_check_options(options);
  null_on_error_ = pg::null_on_error(options);
  without_parameters();
  own_ = std::make_unique<LinregRowReader>(context, type);
  rows_ = own_.get();
}

std::string LinregData::row_name() const { return message("row {}", seen_); }

bool LinregData::usable(const NullableDatum &value, const char *what, bool weight) {
  const double x = value.isnull ? 0 : DatumGetFloat8(value.value);
  const bool left_out = value.isnull || (weight && x == 0);
  if (left_out && (weight || !policy_.missing_is_error)) return false;
  if (weight && !(x >= 0 && x <= max_abs_element))
    throw Error(
        Errc::invalid_argument, message("{} of {} is {}", what, row_name(), format_number(x)),
        "A weight must be finite and not negative: it is the number of times that the row counts.");
  if (value.isnull || !(std::fabs(x) <= max_abs_element))
    refuse_value(value.isnull ? std::optional<double>() : x,
                 message("the {} of {}", what, row_name()), seen_);
  return true;
}

void LinregData::check_dimension(std::size_t given) const {
  if (accumulator_.begun() && given != std::size_t(accumulator_.dimension()))
    wrong_length(given, std::size_t(accumulator_.dimension()), "the first row", seen_);
}

void LinregData::open(FunctionCallInfo fcinfo) {
  const Oid type = argument_type(fcinfo, 2);
  LinregRowReader &of_call = call_site<LinregRowReader>(fcinfo, type);
  // Records of other groups may have other columns and labels, so this group needs its own reader.
  if (of_call.reader.records()) own_ = std::make_unique<LinregRowReader>(memory_.context(), type);
  rows_ = own_ ? own_.get() : &of_call;
}

void LinregData::add(FunctionCallInfo fcinfo) {
  if (!rows_) open(fcinfo);
  take(row(fcinfo), true);
}

bool LinregData::remove(FunctionCallInfo fcinfo) { return take(row(fcinfo), false); }

bool LinregData::take(const Item &item, bool add) {
  if (too_many_terms_) return true;
  LinregRowReader &rows = *rows_;
  if (add && seen_++ % items_between_shown == 0) progress.read(seen_);
  const int direction = add ? 1 : -1;
  const NullableDatum &y = item.values[0], &x = item.values[1];
  const auto leave_out = [&] {
    skipped_ += direction;
    return true;
  };
  if (x.isnull || (item.weight && !usable(*item.weight, "weight", true)) ||
      !usable(y, "response", false))
    return leave_out();
  std::span<const double> elements;
  if (!rows.arrays || !is_empty_array(x.value)) {
    rows.reader.open(x.value);
    const auto read = rows.reader.read(
        x.value, seen_, policy_.missing_is_error ? Missing::error : Missing::skip_null);
    if (!read) return leave_out();
    elements = *read;
  }
  if (!accumulator_.begun()) {
    accumulator_.begin(rows.reader.columns(),
                       int(std::min<std::size_t>(elements.size(), std::size_t(max_terms) + 1)),
                       item.weight != nullptr);
  }
  check_dimension(elements.size());
  const double response = DatumGetFloat8(y.value), weight = weight_of(item);
  if (!add) {
    sample_.close();
    return accumulator_.remove(response, elements, weight);
  }
  accumulator_.add(response, elements, weight);
  sample_.add(elements, weight);
  too_many_terms_ = accumulator_.terms() > max_terms;
  if (too_many_terms_) require_terms(accumulator_.terms(), rows.reader.columns());
  return true;
}

void LinregData::clear() {
  accumulator_ = LinregAccumulator(&memory_);
  merged_.reset();
  own_.reset();
  rows_ = nullptr;
  sample_.close();
  sample_of_others_.close();
}

bool LinregData::empty() const {
  return !merged_ && (!accumulator_.begun() || accumulator_.rows() == 0);
}

std::optional<LinregSums> LinregData::sums() {
  if (empty()) return std::nullopt;
  LinregSums out = merged_ ? *merged_ : accumulator_.sums(rows_->reader.columns());
  out.skipped = skipped_;
  return out;
}

RowSample LinregData::sample() const {
  RowSample out = sample_;
  if (rows_) out.set_columns(rows_->reader.columns());
  out.merge(sample_of_others_);
  return out;
}

void LinregData::serialize(std::string &out) {
  parameters_.write(out);
  put_plain(out, policy_.missing_is_error);
  put_plain(out, skipped_);
  put_bytes(out, sample().to_bytes());
  if (const auto all = sums()) out += all->to_bytes();
}

void LinregData::combine(const char *at, const char *end) {
  combine_parameters(at, end);
  policy_.missing_is_error = take_plain<bool>(at, end);
  const std::int64_t skipped = skipped_ + take_plain<std::int64_t>(at, end);
  sample_of_others_.merge(RowSample::from_bytes(take_bytes(at, end)));
  if (at != end) add_sums(LinregSums::from_bytes({at, std::size_t(end - at)}));
  skipped_ = skipped;
}

void LinregData::add(const LinregSums &more) {
  sample_.close();
  add_sums(more);
}

void LinregData::add_sums(const LinregSums &more) {
  if (!merged_) merged_ = sums();
  if (merged_)
    merged_->add(more);
  else
    merged_ = more;
  skipped_ += more.skipped;
}

}  // namespace bayes::pg
