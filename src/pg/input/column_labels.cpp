#include "pg/input/column_labels.hpp"

#include <cmath>

#include "base/message.hpp"
#include "base/unseen.hpp"
#include "document/members.hpp"
#include "families/product/product_options.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {

ColumnLabels::ColumnLabels(std::string column, const std::vector<std::string> &known, bool closed)
    : labels_(std::size_t(max_categories),
              [column](TermDictionary::Excess excess, std::string_view label) {
                if (excess == TermDictionary::Excess::length)
                  throw Error(Errc::too_large,
                              message("a label of column {} is {} bytes long, but the limit is {}",
                                      describe(column), label.size(), max_term_bytes),
                              {}, "Use a shorter label, such as md5(label).");
                throw Error(Errc::too_large,
                            message("column {} has more than {} different labels", describe(column),
                                    max_categories),
                            "A column of labels should have few different values.",
                            "Leave out columns that identify the row, such as an id; combine rare "
                            "labels into one.");
              }),
      closed_(false) {
  for (const std::string &label : known) code(label);
  closed_ = closed;
  if (closed) labels_.close();
}

double ColumnLabels::code(std::string_view label) {
  if (closed_ && label.size() > max_term_bytes) {
    unknown_ = abbreviated(label);
    return unseen_category;
  }
  const std::int32_t number = labels_.number(label);
  if (number >= 0) return number;
  unknown_ = abbreviated(label);
  return unseen_category;
}

std::vector<std::string> ColumnLabels::all() const {
  std::vector<std::string> out;
  for (std::int32_t i = 0; i < labels_.size(); ++i) out.emplace_back(labels_.term(i));
  return out;
}

void require_label(double code, std::int64_t labels, const std::string &column,
                   const std::string &where) {
  if (std::isnan(code) || (code >= 0 && code < double(labels) && code == std::floor(code))) return;
  throw Error(Errc::invalid_argument,
              message("{} has code {} in column {}, which is not the code of a label", where,
                      format_number(code), describe(column)),
              message("The column has {} labels, whose codes in arrays are 0 to {} "
                      "(bayes_columns(model)).",
                      labels, labels - 1),
              "Give labels, not codes, in a record: SELECT f(r, model) FROM (SELECT a, b FROM t) "
              "AS r. New labels are then added.");
}

}  // namespace bayes::pg
