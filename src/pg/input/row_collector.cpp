#include "pg/input/row_collector.hpp"

#include <algorithm>

#include "base/control.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "families/product/product_options.hpp"
#include "pg/input/column_checks.hpp"

namespace bayes::pg {
namespace {

/// Option likelihood by column in a fit that starts from a model: throws Error unless it equals
/// that of the model.
void check_likelihood_of_start(const Document &given, const RowColumns &columns,
                               const ModelInfo &start) {
  const Document *const known = start.options.find("likelihood");
  const auto *const list = known ? known->as<Document::List>() : nullptr;
  const Document names = likelihood_of_columns(&given, columns);
  const auto &all = *names.as<Document::List>();
  for (const auto &[key, value] : *given.as<Document::Object>()) {
    const std::size_t j = std::size_t(find_column(columns, key));
    const Document *const of_start = list && j < list->size() ? &(*list)[j] : known;
    if (of_start && of_start->to_json() != all[j].to_json())
      throw Error(Errc::invalid_argument,
                  message("option \"likelihood\" has {} for column {}, but the start model has {}",
                          all[j].to_json(), bayes::describe(Document(key)), of_start->to_json()),
                  {}, "Leave it out.");
  }
}

/// The first column that does not contain numbers; nullptr if all do.
const RowColumn *other_than_number(const RowColumns &columns) {
  for (const RowColumn &column : columns)
    if (column.kind != ValueKind::number) return &column;
  return nullptr;
}

}  // namespace

void RowCollector::begin(FitRequest &request, const Check &check, TupleDesc columns) {
  progress.begin(request.family);
  request_ = &request;
  check_ = check;
  if (request.start) {
    dimension_ = request.start->info.dimension;
    expected_by_ = "the model";
    if (!reader_.described()) reader_.expect(request.start->info, check.unknown);
  }
  if (columns) reader_.describe(columns);
  if (!columns && reader_.records() && (!reader_.described() || request.start)) return;
  decide();
  require_numbers();
}

void RowCollector::begin_part(const char *family, const RowPolicy &policy, TupleDesc columns) {
  progress.begin(family);
  policy_ = policy;
  decided_ = true;
  if (columns) reader_.describe(columns);
}

std::vector<int> RowCollector::attributes() const {
  std::vector<int> out;
  for (std::size_t j = 0; j < reader_.columns().size(); ++j) out.push_back(reader_.attribute_of(j));
  return out;
}

/// Called once the columns are known: checks the options, whose meaning depends on the columns.
void RowCollector::decide() {
  decided_ = true;
  // Options that are not an object are refused below.
  const bool usable = request_->options.is_null() || request_->options.as<Document::Object>();
  const Document *const given = usable ? request_->options.find("likelihood") : nullptr;
  const bool by_column =
      given && given->as<Document::Object>() &&
      !is_one_likelihood(*given,
                         reader_.described() && find_column(reader_.columns(), "family") >= 0);
  if (check_.use != ColumnUse::numbers && request_->start && reader_.described() && by_column) {
    check_likelihood_of_start(*given, reader_.columns(), request_->start->info);
    request_->options.set("likelihood", Document());
  } else if (reader_.described() && !request_->start && usable) {
    const RowColumns columns = reader_.columns();
    const bool normal = check_.use == ColumnUse::normal_or_likelihoods &&
                        !other_than_number(columns) && (!given || given->as<std::string>());
    if (check_.use != ColumnUse::numbers && !normal) {
      for (std::size_t j = 0; j < columns.size(); ++j)
        if (columns[j].kind == ValueKind::number) {
          if (!given) normal_by_default_.push_back(j);
          if (!given || (by_column && !given->find(columns[j].name))) numbers_.push_back(j);
        }
      request_->options.set("likelihood", likelihood_of_columns(given, columns));
    } else {
      for (std::size_t j = 0; j < columns.size(); ++j) numbers_.push_back(j);
    }
  }
  policy_ = check_.policy(*request_);
}

void RowCollector::open_first(Datum row) {
  reader_.open(row);
  if (decided_) return;
  about_statement([this] { decide(); });
  require_numbers();
}

void RowCollector::require_numbers() const {
  if (check_.use != ColumnUse::numbers || request_->start) return;
  const RowColumns columns = reader_.columns();
  if (const RowColumn *const other = other_than_number(columns))
    throw Error(Errc::invalid_argument,
                message("column {} contains {}s, but must contain numbers",
                        bayes::describe(Document(other->name)), name_of(other->kind)),
                {},
                "Leave it out: SELECT f(r) FROM (SELECT a, b FROM t) AS r. Mixtures of columns "
                "of every kind are fitted by bmm_fit and dpmm_fit.");
}

void RowCollector::report_numbers(const FindFacts &find) const {
  report_unlikely_numbers(
      reader_.columns(), numbers_,
      check_.use == ColumnUse::normal_or_likelihoods
          ? "If so, repeat rows that many times: FROM t, generate_series(1, t.count)."
          : "If so, make it the weight of rows: in a query by option weight, in an aggregate by "
            "the last argument.",
      find);
}

void RowCollector::check_remote(const ColumnFacts &facts, const NumberFacts &numbers,
                                std::int64_t count) const {
  if (request_->start) return;  // as in arrange()
  const RowColumns columns = reader_.columns();
  note_positions(columns);
  ColumnFacts own = facts;
  std::erase_if(own.whole, [this](std::size_t j) {
    return std::find(normal_by_default_.begin(), normal_by_default_.end(), j) ==
           normal_by_default_.end();
  });
  check_columns(own, count, columns, "likelihood");
  report_numbers([&numbers](const std::vector<std::size_t> &) { return numbers; });
}

void RowCollector::arrange(Control &control) {
  if (remote) return;
  if (arranged_ == rows.rows()) return;
  rows.name_elements(quoted_names(reader_.columns()));
  sort_labels();
  // The columns of a start model were reported when that model was fitted.
  if (arranged_ == 0 && !request_->start) {
    note_positions(reader_.columns());
    check_columns(rows, rows.rows(), reader_.columns(), normal_by_default_, "likelihood");
    report_numbers([this](const std::vector<std::size_t> &asked) {
      return number_facts(rows, reader_.columns().size(), asked);
    });
  }
  rows.arrange(control);
  arranged_ = rows.rows();
}

}  // namespace bayes::pg
