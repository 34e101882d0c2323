#include "fit/component_order.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "families/normal/covariance.hpp"
#include "fit/order_columns.hpp"

namespace bayes {
namespace {

constexpr std::string_view words[] = {"weight", "mean", "variance"};

}  // namespace

void ComponentOrder::read(const Document &given) {
  element_ = 0;
  if (const auto *const word = given.as<std::string>()) {
    const auto found = std::find(std::begin(words), std::end(words), *word);
    if (found != std::end(words)) {
      rule_ = Rule(1 + (found - std::begin(words)));
      return;
    }
  }
  const std::optional<double> number = to_number(given, false);
  if (!number || !(*number >= 1 && *number <= 1e6 && *number == std::floor(*number)))
    throw Error(Errc::invalid_argument,
                message("option \"order\" is {}, but must be \"weight\", \"mean\", \"variance\", "
                        "the name of a column, or the number of an element",
                        describe(given)));
  rule_ = Rule::mean;
  element_ = int(*number) - 1;
}

Document ComponentOrder::write() const {
  if (rule_ == Rule::none) return Document();
  if (rule_ == Rule::mean && element_ > 0) return Document(std::int64_t(element_) + 1);
  return Document(std::string(words[std::size_t(rule_) - 1]));
}

void ComponentOrder::inherit(const ModelInfo &start) {
  if (const Document *const order = start.options.find("order")) read(*order);
}

void ComponentOrder::line(OptionTable &t) {
  t.other(
      {"order", "by what components are numbered", "\"weight\", \"mean\", \"variance\" or a column",
       "\"weight\", or as the start model"},
      [this](const Document &given) { read(given); }, [this] { return write(); }, true);
}

void ComponentOrder::check(int dimension, const Columns *columns) const {
  if (!by_moment()) return;
  if (element_ >= dimension)
    throw Error(Errc::invalid_argument,
                message("option \"order\" is {}, but the number of elements is {}", element_ + 1,
                        dimension));
  if (columns && columns->column(element_).by_value)
    throw Error(Errc::invalid_argument,
                message("option \"order\" asks for the mean of element {}, whose values are "
                        "categories",
                        element_ + 1),
                "Categories have no mean.", "Name a column of numbers or booleans.");
}

double ComponentOrder::moment(const NormalPoint &point, int component) const {
  if (rule_ == Rule::mean) return point.mean(element_, component);
  const Matrix &covariance = point.covariance[std::size_t(point.shape.index(component))];
  return dense_form(point.shape, covariance, point.dimension())(element_, element_);
}

double ComponentOrder::moment(const ProductPoint &point, int component) const {
  const Column &column = point.columns->column(element_);
  const double *const at = point.column(component, element_);
  return rule_ == Rule::mean ? column.mean(at) : column.variance(at);
}

std::vector<int> ComponentOrder::ascending(std::vector<int> order, const Vector &moments) {
  std::stable_sort(order.begin(), order.end(),
                   [&moments](int a, int b) { return moments(a) < moments(b); });
  return order;
}

void number_order(Document &options, const RowColumns &columns) {
  const Document *const given = options.as<Document::Object>() ? options.find("order") : nullptr;
  const auto *const name = given ? given->as<std::string>() : nullptr;
  if (!name || std::find(std::begin(words), std::end(words), *name) != std::end(words)) return;
  const int column = find_column(columns, *name);
  if (column >= 0) options.set("order", std::int64_t(column) + 1);
}

}  // namespace bayes
