#include "data/remote_rows.hpp"

#include <utility>

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
    for (const Document &label : given.list("labels")) {
      const auto *const text = label.as<std::string>();
      if (!text) PassReader::refuse();
      column.labels.push_back(*text);
    }
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

const Document::List &PassReader::list(std::string_view key) const {
  const auto *const value = member(key).as<Document::List>();
  if (!value) refuse();
  return *value;
}

}  // namespace bayes
