#include "data/remote_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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

/// Bytes that fit exactly into a double's 53 bits.
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

namespace {

/// Texts come in blocks of about this many bytes, between which messages are polled.
constexpr std::size_t block_bytes = 1 << 20;

/// Can a text of UTF-8 begin here?
bool begins_character(std::string_view text, std::size_t at) {
  return at == text.size() || (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
}

}  // namespace

Document PackedTexts::message(std::span<const std::string> texts) {
  Document::List blocks;
  std::string together;
  std::vector<double> sizes;
  const auto close = [&] {
    Document block = Document::object();
    block.set("sizes", numbers_document(sizes)).set("texts", std::exchange(together, {}));
    blocks.push_back(std::move(block));
    sizes.clear();
    poll_here();
  };
  for (const std::string &text : texts) {
    together += text;
    sizes.push_back(double(text.size()));
    if (together.size() + sizeof(double) * sizes.size() >= block_bytes) close();
  }
  if (!sizes.empty()) close();
  return blocks;
}

PackedTexts::PackedTexts(const Document &message) {
  const auto *const blocks = message.as<Document::List>();
  if (!blocks) PassReader::refuse();
  for (const Document &block : *blocks) {
    poll_here();
    const PassReader given(block);
    const std::string &texts = given.text("texts");
    std::size_t at = 0;
    if (texts.size() > std::numeric_limits<std::uint32_t>::max() - bytes_.size())
      PassReader::refuse();
    for (const double size : given.numbers("sizes")) {
      if (!(size >= 0 && size <= double(texts.size() - at))) PassReader::refuse();
      at += std::size_t(size);
      if (!begins_character(texts, at)) PassReader::refuse();
      ends_.push_back(std::uint32_t(bytes_.size() + at));
    }
    if (at != texts.size()) PassReader::refuse();
    bytes_ += texts;
  }
}

}  // namespace bayes
