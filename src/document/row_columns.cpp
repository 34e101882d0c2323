#include "document/row_columns.hpp"

#include <algorithm>
#include <iterator>

#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

constexpr const char *kinds[] = {"number", "boolean", "label"};

}  // namespace

const char *name_of(ValueKind kind) { return kinds[std::size_t(kind)]; }

Document document_of_columns(const RowColumns &columns) {
  Document::List out;
  for (const RowColumn &column : columns) {
    Document each = Document::object().set("name", column.name).set("kind", name_of(column.kind));
    if (column.kind == ValueKind::label)
      each.set("labels", Document::List(column.labels.begin(), column.labels.end()));
    out.push_back(std::move(each));
  }
  return out;
}

RowColumns read_columns(const Document &document, int dimension) {
  const MemberReader in(document);
  if (!in.has("row_columns")) return {};
  const auto *const list = in.value("row_columns").as<Document::List>();
  if (!list || list->size() != std::size_t(dimension))
    in.reject("row_columns", message("must be an array of {} columns", dimension));
  RowColumns out;
  for (const Document &each : *list) {
    if (!each.as<Document::Object>())
      in.reject("row_columns", message("contains {}, which is not a column", describe(each)));
    const MemberReader column(each, "row_columns.");
    RowColumn read = {column.text("name")};
    const std::string kind = column.text("kind");
    const auto *const known = std::find(std::begin(kinds), std::end(kinds), kind);
    if (known == std::end(kinds)) column.reject("kind", "must be number, boolean or label");
    read.kind = ValueKind(known - std::begin(kinds));
    if (read.kind == ValueKind::label) read.labels = column.rising_texts("labels", "label");
    out.push_back(std::move(read));
  }
  std::vector<std::string> names;
  for (const RowColumn &column : out) names.push_back(column.name);
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    in.reject("row_columns", message("has two columns named {}", describe(*twice)));
  return out;
}

const std::string *label_of(const RowColumn &column, double code) {
  const bool labelled = code >= 0 && code < double(column.labels.size());
  return labelled ? &column.labels[std::size_t(code)] : nullptr;
}

int find_column(const RowColumns &columns, std::string_view name) {
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j].name == name) return int(j);
  return -1;
}

bool by_position(const RowColumns &columns) {
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j].name != message("f{}", j + 1)) return false;
  return true;
}

}  // namespace bayes
