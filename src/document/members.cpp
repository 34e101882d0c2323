#include "document/members.hpp"

#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"

namespace bayes {
namespace {

/// Appends a number, or an array of numbers however nested, to `out`; the path to the first number
/// determines the shape.
bool flatten(const Document &value, bool specials, std::size_t depth, Tensor &out) {
  const auto extent = [&](std::size_t size) {
    if (depth == out.shape.size() && out.values.empty())
      out.shape.push_back(static_cast<std::int64_t>(size));
    return depth < out.shape.size() && out.shape[depth++] == static_cast<std::int64_t>(size);
  };
  if (const auto *tensor = value.as<Tensor>()) {
    for (const std::int64_t size : tensor->shape)
      if (!extent(static_cast<std::size_t>(size))) return false;
    if (depth != out.shape.size() || (tensor->values.empty() && depth > 1)) return false;
    append_numbers(out.values, tensor->values);
    return true;
  }
  if (const auto *list = value.as<Document::List>()) {
    if (list->empty() && depth > 0) return false;
    if (!extent(list->size())) return false;
    return std::all_of(list->begin(), list->end(), [&](const Document &element) {
      return flatten(element, specials, depth, out);
    });
  }
  const std::optional<double> number = to_number(value, specials);
  if (depth == 0 || depth != out.shape.size() || !number) return false;
  out.values.push_back(*number);
  return true;
}

}  // namespace

void append_numbers(std::vector<double> &to, std::span<const double> from) {
  constexpr std::size_t between_polls = 1 << 18;
  if (const std::size_t size = to.size() + from.size(); size > to.capacity())
    to.reserve(std::max(size, 2 * to.capacity()));
  while (!from.empty()) {
    const auto part = from.first(std::min(from.size(), between_polls));
    to.insert(to.end(), part.begin(), part.end());
    from = from.subspan(part.size());
    poll_here();
  }
}

std::optional<double> to_number(const Document &value, bool specials) {
  if (const auto *number = value.as<double>()) return *number;
  if (const auto *integer = value.as<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto *text = value.as<std::string>(); text != nullptr && specials) {
    if (*text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (*text == "Infinity") return std::numeric_limits<double>::infinity();
    if (*text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (*text == "-0") return -0.0;
  }
  return std::nullopt;
}

std::optional<std::int64_t> to_integer(const Document &value) {
  if (const auto *integer = value.as<std::int64_t>()) return *integer;
  if (const auto *number = value.as<double>())
    if (*number == std::trunc(*number) && *number >= -0x1p63 && *number < 0x1p63)
      return static_cast<std::int64_t>(*number);
  return std::nullopt;
}

std::optional<Tensor> to_tensor(const Document &value, bool specials) {
  Tensor result;
  if (!flatten(value, specials, 0, result)) return std::nullopt;
  return result;
}

std::string describe_shape(const std::vector<std::int64_t> &shape) {
  if (shape == std::vector<std::int64_t>{0}) return "an empty array";
  std::string result = "an array of ";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) result += " x ";
    result += shape[i] < 0 ? std::string("d") : std::to_string(shape[i]);
  }
  if (shape.size() == 1 && shape[0] < 0) return "an array of numbers";
  return result + (shape.size() == 1 && shape[0] == 1 ? " number" : " numbers");
}

std::string describe(const Document &value) {
  if (const auto *tensor = value.as<Tensor>()) return describe_shape(tensor->shape);
  if (const auto *list = value.as<Document::List>())
    return list->empty() ? "an empty array" : "an array";
  if (value.as<Document::Object>()) return "an object";
  if (const auto *text = value.as<std::string>(); text != nullptr && text->size() > 60) {
    std::size_t cut = 57;
    // do not cut inside a UTF-8 sequence
    while ((static_cast<unsigned char>((*text)[cut]) & 0xc0) == 0x80) --cut;
    return Document(text->substr(0, cut) + "...").to_json();
  }
  return value.to_json();
}

std::string describe_number(double x) {
  return x == std::floor(x) && std::fabs(x) < 9e18 ? std::to_string(std::int64_t(x)) : describe(x);
}

MemberReader::MemberReader(const Document &document, std::string path)
    : document_(document),
      path_(std::move(path)) {
  if (document_.as<Document::Object>()) return;
  const std::string subject =
      path_.empty() ? "the document"
                    : message("member {}", describe(path_.substr(0, path_.size() - 1)));
  throw Error(Errc::invalid_text, message("invalid bayes_model: {} is {}, but must be an object",
                                          subject, describe(document_)));
}

void MemberReader::reject(std::string_view key, const std::string &what) const {
  throw Error(Errc::invalid_text, message("invalid bayes_model: member {} {}",
                                          describe(message("{}{}", path_, key)), what));
}

void MemberReader::must_be(std::string_view key, const Document &value,
                           const std::string &constraint) const {
  reject(key, message("is {}, but must be {}", describe(value), constraint));
}

bool MemberReader::has(std::string_view key) const {
  const Document *value = document_.find(key);
  return value != nullptr && !value->is_null();
}

const Document &MemberReader::value(std::string_view key) const {
  const Document *value = document_.find(key);
  if (value == nullptr) reject(key, "is missing");
  return *value;
}

std::int64_t MemberReader::integer(std::string_view key, std::int64_t low,
                                   std::int64_t high) const {
  const Document &found = value(key);
  const std::optional<std::int64_t> x = to_integer(found);
  if (!x || *x < low || *x > high)
    must_be(key, found, message("a whole number from {} to {}", low, high));
  return *x;
}

double MemberReader::number(std::string_view key, double low, double high, bool low_open) const {
  const Document &found = value(key);
  const std::optional<double> x = to_number(found, true);
  if (!x || !std::isfinite(*x) || *x < low || *x > high || (low_open && *x == low)) {
    std::string constraint = "a finite number";
    if (std::isfinite(low))
      constraint += (low_open ? " greater than " : " of at least ") + Document(low).to_json();
    if (std::isfinite(high))
      constraint +=
          (std::isfinite(low) ? " and at most " : " of at most ") + Document(high).to_json();
    must_be(key, found, constraint);
  }
  return *x;
}

double MemberReader::number_or_nan(std::string_view key) const {
  const Document &found = value(key);
  const std::optional<double> x = to_number(found, true);
  if (!x || std::isinf(*x)) must_be(key, found, "a finite number or NaN");
  return *x;
}

bool MemberReader::boolean(std::string_view key) const {
  const Document &found = value(key);
  const auto *x = found.as<bool>();
  if (x == nullptr) must_be(key, found, "true or false");
  return *x;
}

std::string MemberReader::text(std::string_view key) const {
  const Document &found = value(key);
  const auto *x = found.as<std::string>();
  if (x == nullptr || x->empty()) must_be(key, found, "a string that is not empty");
  return *x;
}

std::vector<std::string> MemberReader::texts(std::string_view key, const char *what) const {
  const Document &found = value(key);
  const auto *const list = found.as<Document::List>();
  if (!list || list->empty()) must_be(key, found, "an array of strings");
  std::vector<std::string> out;
  out.reserve(list->size());
  for (const Document &each : *list) {
    poll_in_loop(out.size());
    const auto *const text = each.as<std::string>();
    if (!text) reject(key, message("contains {}, which is not a valid {}", describe(each), what));
    out.push_back(*text);
  }
  return out;
}

std::vector<std::string> MemberReader::rising_texts(std::string_view key, const char *what) const {
  std::vector<std::string> out = texts(key, what);
  for (std::size_t i = 1; i < out.size(); ++i) {
    poll_in_loop(i);
    if (!(out[i - 1] < out[i]))
      reject(key, message("contains {} after {}, but must be in ascending order of bytes",
                          describe(out[i]), describe(out[i - 1])));
  }
  return out;
}

Tensor MemberReader::tensor(std::string_view key, const std::vector<std::int64_t> &shape) const {
  const Document &found = value(key);
  std::optional<Tensor> result = to_tensor(found, true);
  if (!result) must_be(key, found, describe_shape(shape));
  bool fits = result->shape.size() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i)
    fits = shape[i] < 0 || result->shape[i] == shape[i];
  if (!fits)
    reject(key,
           message("is {}, but must be {}", describe_shape(result->shape), describe_shape(shape)));
  WorkPoll poll;
  for (const double x : result->values) {
    poll(1);
    if (!std::isfinite(x))
      reject(key, message("contains {}, but its numbers must be finite", describe(x)));
  }
  return std::move(*result);
}

Document MemberReader::any_object(std::string_view key) const {
  object(key);
  Document out = value(key);
  try {
    std::string bytes;
    out.to_bytes(bytes);
  } catch (const Error &error) {
    reject(key, std::string("cannot be stored: ") + error.what());
  }
  return out;
}

MemberReader MemberReader::object(std::string_view key) const {
  return MemberReader(value(key), message("{}{}.", path_, key));
}

}  // namespace bayes
