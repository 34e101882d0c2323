#include "data/remote_rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"

namespace bayes {

void refuse_remote(const char *what) {
  throw Error(Errc::invalid_argument,
              message("{} cannot be computed where the rows are, on several servers", what),
              "Only what adds up over the rows can.",
              "Leave option push_down out: the rows are then collected on this server.");
}

std::int64_t RemoteRows::stretches() const { refuse_remote("what needs rows one at a time"); }
std::span<const Piece> RemoteRows::stretch(std::int64_t) {
  refuse_remote("what needs rows one at a time");
}
void RemoteRows::read_block(std::int64_t, double *) {
  refuse_remote("what needs rows one at a time");
}

Document pass_request(const char *kind) {
  Document out = Document::object();
  out.set("pass", kind);
  return out;
}

Document numbers_document(std::span<const double> numbers) {
  return Tensor{{std::int64_t(numbers.size())}, {numbers.begin(), numbers.end()}};
}

Document texts_document(std::span<const std::string> texts) {
  Document::List out;
  for (const std::string &text : texts) {
    poll_in_loop(out.size());
    out.emplace_back(text);
  }
  return out;
}

namespace {

/// A double holds so many bytes as a whole number.
constexpr std::size_t bytes_of_number = 6;

}  // namespace

Document bytes_document(std::string_view bytes) {
  std::vector<double> numbers = {double(bytes.size())};
  for (std::size_t at = 0; at < bytes.size(); at += bytes_of_number) {
    poll_in_loop(numbers.size());
    std::uint64_t number = 0;
    for (const char each : bytes.substr(at, bytes_of_number))
      number = number << 8 | static_cast<unsigned char>(each);
    numbers.push_back(double(number));
  }
  return numbers_document(numbers);
}

std::string bytes_of_document(const Document &document) {
  const auto *const tensor = document.as<Tensor>();
  if (!tensor || tensor->values.empty()) PassReader::refuse();
  const std::vector<double> &numbers = tensor->values;
  constexpr double most = 281474976710655;
  for (const double each : numbers)
    if (!(each >= 0 && each <= most && each == std::floor(each))) PassReader::refuse();
  const double size = numbers[0];
  const auto count = std::size_t(numbers.size() - 1);
  if (std::ceil(size / double(bytes_of_number)) != double(count)) PassReader::refuse();
  std::string out;
  for (std::size_t i = 1; i <= count; ++i) {
    poll_in_loop(i);
    const std::size_t here = std::min(bytes_of_number, std::size_t(size) - out.size());
    const auto number = std::uint64_t(numbers[i]);
    for (std::size_t b = here; b-- > 0;) out.push_back(char(number >> (8 * b) & 255));
  }
  return out;
}

Document columns_message(const RowColumns &columns) {
  Document::List out;
  for (const RowColumn &column : columns) {
    Document::List labels;
    for (const std::string &label : column.labels) labels.emplace_back(label);
    Document one = Document::object();
    one.set("name", column.name).set("kind", int(column.kind)).set("labels", std::move(labels));
    out.push_back(std::move(one));
  }
  return out;
}

RowColumns columns_of_message(const Document &message) {
  const auto *const list = message.as<Document::List>();
  if (!list) PassReader::refuse();
  RowColumns out;
  for (const Document &each : *list) {
    const PassReader given(each);
    RowColumn &column = out.emplace_back();
    column.name = given.text("name");
    column.kind = ValueKind(given.integer("kind", 0, int(ValueKind::label)));
    column.labels = given.texts("labels");
  }
  return out;
}

void PassReader::refuse() {
  throw Error(Errc::invalid_binary, "the message of another server is damaged",
              "Servers that work on one fit send each other requests and sums.",
              "Such messages are made by pg_bayes itself, for one fit.");
}

const Document &PassReader::member(std::string_view key) const {
  const Document *const found = document_.find(key);
  if (!found) refuse();
  return *found;
}

std::int64_t PassReader::integer(std::string_view key, std::int64_t low, std::int64_t high) const {
  const auto *const value = member(key).as<std::int64_t>();
  if (!value || *value < low || *value > high) refuse();
  return *value;
}

double PassReader::number(std::string_view key) const {
  const auto *const value = member(key).as<double>();
  if (!value) refuse();
  return *value;
}

bool PassReader::flag(std::string_view key) const {
  const auto *const value = member(key).as<bool>();
  if (!value) refuse();
  return *value;
}

const std::string &PassReader::text(std::string_view key) const {
  const auto *const value = member(key).as<std::string>();
  if (!value) refuse();
  return *value;
}

const std::vector<double> &PassReader::numbers(std::string_view key) const {
  const auto *const value = member(key).as<Tensor>();
  if (!value) refuse();
  return value->values;
}

const std::vector<double> &PassReader::numbers(std::string_view key, std::size_t size) const {
  const std::vector<double> &out = numbers(key);
  if (out.size() != size) refuse();
  return out;
}

std::vector<std::string> PassReader::texts(std::string_view key) const {
  std::vector<std::string> out;
  for (const Document &each : list(key)) {
    poll_in_loop(out.size());
    const auto *const text = each.as<std::string>();
    if (!text) refuse();
    out.push_back(*text);
  }
  return out;
}

const Document::List &PassReader::list(std::string_view key) const {
  const auto *const value = member(key).as<Document::List>();
  if (!value) refuse();
  return *value;
}

}  // namespace bayes
