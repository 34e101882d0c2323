#include "document/row_columns.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

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

namespace {

constexpr double unlimited = std::numeric_limits<double>::max();

Tensor tensor_of(const std::vector<double> &values) {
  return {{std::int64_t(values.size())}, values};
}

Document document_of(const BinnedColumn &column) {
  Document out = Document::object();
  out.set(column.categories ? "codes" : "bounds", tensor_of(column.points))
      .set("weights", tensor_of(column.weights))
      .set("nulls", column.nulls);
  if (!std::isnan(column.once)) out.set("once", column.once).set("twice", column.twice);
  return out;
}

BinnedColumn read_column(const MemberReader &in) {
  BinnedColumn out;
  out.categories = in.has("codes");
  const char *const points = out.categories ? "codes" : "bounds";
  out.points = in.tensor(points, {-1}).values;
  const bool rising = std::adjacent_find(out.points.begin(), out.points.end(),
                                         std::greater_equal<>()) == out.points.end();
  if (!rising) in.reject(points, "must be ascending");
  out.weights = in.tensor("weights", {std::int64_t(out.points.size()) + 1}).values;
  if (std::any_of(out.weights.begin(), out.weights.end(), [](double w) { return w < 0; }))
    in.reject("weights", "must not be negative");
  out.nulls = in.number("nulls", 0, unlimited);
  if (out.categories && in.has("once")) {
    out.once = in.number("once", 0, unlimited);
    out.twice = in.number("twice", 0, unlimited);
  }
  return out;
}

}  // namespace

Document document_of(const RowReference &reference) {
  Document out =
      Document::object().set("rows", reference.rows).set("incomplete", reference.incomplete);
  if (const auto &density = reference.density) {
    Document each = document_of(density->bins);
    each.set("mean", density->mean)
        .set("variance", density->variance)
        .set("skewness", density->skewness)
        .set("optimism", density->optimism);
    out.set("log_density", std::move(each));
  }
  Document::List columns;
  for (const BinnedColumn &column : reference.columns) columns.push_back(document_of(column));
  if (!columns.empty()) out.set("columns", std::move(columns));
  return out;
}

std::shared_ptr<const RowReference> read_reference(const Document &document, int dimension) {
  const MemberReader model(document);
  if (!model.has("row_reference")) return nullptr;
  const MemberReader in = model.object("row_reference");
  auto out = std::make_shared<RowReference>();
  out->rows = in.number("rows", 0, unlimited, true);
  out->incomplete = in.number("incomplete", 0, unlimited);
  if (in.has("log_density")) {
    const MemberReader given = in.object("log_density");
    DensityReference density;
    density.bins = read_column(given);
    if (density.bins.categories) given.reject("codes", "is not a member of log densities");
    density.mean = given.number("mean", -unlimited, unlimited);
    density.variance = given.number("variance", 0, unlimited);
    density.skewness = given.number("skewness", -unlimited, unlimited);
    density.optimism = given.number("optimism", 0, unlimited);
    out->density = std::move(density);
  }
  if (in.has("columns")) {
    const auto *const list = in.value("columns").as<Document::List>();
    if (!list || list->size() != std::size_t(dimension))
      in.reject("columns", message("must be an array of {} columns", dimension));
    for (const Document &each : *list) {
      if (!each.as<Document::Object>())
        in.reject("columns", message("contains {}, which is not a column", describe(each)));
      out->columns.push_back(read_column(MemberReader(each, "row_reference.columns.")));
    }
  }
  return out;
}

}  // namespace bayes
