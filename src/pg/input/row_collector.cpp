#include "pg/input/row_collector.hpp"

#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "families/product/product_options.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/unlikely_numbers.hpp"

namespace bayes::pg {
namespace {

struct Counts {
  std::int64_t dimension, rows, skipped, seen, zero_weights;
  /// of the columns' bytes, a document
  std::int64_t columns;
};

/// Option likelihood by column in a fit from a model: says what the model has, or is an error.
void check_likelihood_of_start(const Document &given, const RowColumns &columns,
                               const ModelInfo &start) {
  const Document *const known = start.options.find("likelihood");
  const auto *const list = known ? known->as<Document::List>() : nullptr;
  const Document names = likelihood_of_columns(&given, columns);
  const auto &all = *names.as<Document::List>();
  for (const auto &[key, value] : *given.as<Document::Object>()) {
    const std::size_t j = std::size_t(find_column(columns, key));
    const Document *const of_start = list && j < list->size() ? &(*list)[j] : known;
    if (of_start && bayes::describe(*of_start) != bayes::describe(all[j]))
      throw Error(Errc::invalid_argument,
                  message("option \"likelihood\" has {} for column {}, but the model which the fit "
                          "starts from has {}",
                          bayes::describe(all[j]), bayes::describe(Document(key)),
                          bayes::describe(*of_start)),
                  {}, "Leave it out.");
  }
}

}  // namespace

void RowCollector::begin(FitRequest &request, const Check &check, TupleDesc columns) {
  request_ = &request;
  check_ = check;
  if (request.start) {
    dimension_ = request.start->info.dimension;
    expected_by_ = "the model";
    if (!reader_.described()) reader_.expect(request.start->info, check.unknown);
  }
  if (columns) reader_.describe(columns);
  if (columns || !reader_.records() || (reader_.described() && !request.start)) decide();
}

/// What the columns are is known: so is how the options are to be understood.
void RowCollector::decide() {
  decided_ = true;
  // Options that are no object are refused below.
  const bool usable = request_->options.is_null() || request_->options.as<Document::Object>();
  const Document *const given = usable ? request_->options.find("likelihood") : nullptr;
  if (check_.use != ColumnUse::numbers && request_->start && reader_.described() && given &&
      given->as<Document::Object>()) {
    check_likelihood_of_start(*given, reader_.columns(), request_->start->info);
    request_->options.set("likelihood", Document());
  } else if (reader_.described() && !request_->start && usable) {
    const RowColumns columns = reader_.columns();
    const auto other = std::find_if(columns.begin(), columns.end(), [](const RowColumn &column) {
      return column.kind != ValueKind::number;
    });
    if (check_.use == ColumnUse::numbers && other != columns.end())
      throw Error(Errc::invalid_argument,
                  message("column {} is of {}s, but must be of numbers",
                          bayes::describe(Document(other->name)), name_of(other->kind)),
                  {},
                  "Leave it out: SELECT f(r) FROM (SELECT a, b FROM t) AS r. Mixtures of columns "
                  "of every kind are fitted by bmm_fit and dpmm_fit.");
    const bool normal = check_.use == ColumnUse::normal_or_likelihoods && other == columns.end() &&
                        (!given || given->as<std::string>());
    if (check_.use != ColumnUse::numbers && !normal) {
      for (std::size_t j = 0; j < columns.size(); ++j)
        if (columns[j].kind == ValueKind::number) {
          if (!given) normal_unasked_.push_back(j);
          if (!given || (given->as<Document::Object>() && !given->find(columns[j].name)))
            numbers_.push_back(j);
        }
      request_->options.set("likelihood", likelihood_of_columns(given, columns));
    } else {
      for (std::size_t j = 0; j < columns.size(); ++j) numbers_.push_back(j);
    }
  }
  policy_ = check_.policy(*request_);
  null_on_error_ = policy_.null_on_error;
}

void RowCollector::arrange(Control &control) {
  if (arranged_ == rows.rows()) return;
  rows.name_elements(quoted_names(reader_.columns()));
  sort_labels();
  // A model that the fit starts from has said what there is to say of its columns.
  if (arranged_ == 0 && !request_->start) {
    check_columns(rows, rows.rows(), reader_.columns(), normal_unasked_, "likelihood");
    report_unlikely_numbers(
        rows, reader_.columns(), numbers_,
        check_.use == ColumnUse::normal_or_likelihoods
            ? "If so, let rows count as often: FROM t, generate_series(1, t.count)."
            : "If so, weigh rows by it: in a query by option weight, in an aggregate by its last "
              "argument.");
  }
  rows.arrange(control);
  arranged_ = rows.rows();
}

void RowCollector::sort_labels() {
  const std::vector<std::vector<double>> codes = reader_.sort_labels();
  if (!codes.empty()) rows.recode(codes);
}

void RowCollector::check_length(std::size_t length) {
  if (dimension_) wrong_length(length, std::size_t(dimension_), expected_by_, seen_);
  const int limit = policy_.max_dimension;
  if (limit && length > std::size_t(limit))
    throw Error(Errc::too_large,
                message("row {} has {} elements, but the limit is {}", seen_, length, limit));
  dimension_ = int(length);
}

std::size_t RowCollector::bytes() const {
  return std::size_t((rows.rows() + block_rows - 1) / block_rows) * rows.shape().block_doubles() *
         sizeof(double);
}

void RowCollector::write_counts(std::string &out) {
  sort_labels();
  std::string columns;
  if (rows.rows() > 0 && reader_.described())
    Document::object().set("row_columns", document_of_columns(reader_.columns())).to_bytes(columns);
  const Counts counts = {dimension_, rows.rows(),   rows.skipped(),
                         seen_,      zero_weights_, std::int64_t(columns.size())};
  out.append(reinterpret_cast<const char *>(&counts), sizeof counts);
  out += columns;
}

void RowCollector::write_blocks(char *to) {
  for (std::int64_t i = 0; i < rows.stretches(); ++i)
    for (const Piece &piece : rows.stretch(i)) {
      const std::size_t size = std::size_t((piece.rows + block_rows - 1) / block_rows) *
                               rows.shape().block_doubles() * sizeof(double);
      std::memcpy(to, piece.blocks, size);
      to += size;
    }
}

void RowCollector::absorb(const char *at, const char *end) {
  Counts counts;
  if (std::size_t(end - at) < sizeof counts)
    throw Error(Errc::internal, "partial state of an aggregate is cut short");
  std::memcpy(&counts, at, sizeof counts);
  at += sizeof counts;
  if (end - at < counts.columns)
    throw Error(Errc::internal, "partial state of an aggregate is cut short");
  RowReader::Merged merged;
  if (counts.columns > 0) {
    const Document columns = Document::from_bytes({at, std::size_t(counts.columns)});
    merged = reader_.merge(read_columns(columns, int(counts.dimension)));
  }
  at += counts.columns;
  rows.skip(counts.skipped);
  seen_ += counts.seen;
  zero_weights_ += counts.zero_weights;
  if (counts.rows == 0) return;

  RowShape shape = rows.shape();
  shape.dimension = int(counts.dimension);
  // Rows of arrays are as they are.
  if (counts.columns == 0)
    for (int j = 0; j < shape.dimension; ++j) merged.places.push_back(std::size_t(j));
  const int dimension = int(merged.places.size());
  if (dimension_ && dimension_ != dimension)
    throw Error(Errc::array_shape,
                message("rows have different lengths: {} and {} elements", dimension_, dimension),
                "All rows of one model have the same length.");
  dimension_ = dimension;

  const std::size_t block_bytes = shape.block_doubles() * sizeof(double);
  if (std::size_t(end - at) !=
      std::size_t((counts.rows + block_rows - 1) / block_rows) * block_bytes)
    throw Error(Errc::internal, "partial state of an aggregate has a wrong size");
  std::vector<double> block(shape.block_doubles()), x(merged.places.size());
  for (std::int64_t row = 0; row < counts.rows; ++row) {
    const std::size_t inside = std::size_t(row % block_rows);
    if (inside == 0) {
      std::memcpy(block.data(), at, block_bytes);
      at += block_bytes;
    }
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = block[merged.places[j] * block_rows + inside];
    for (std::size_t j = 0; j < merged.codes.size(); ++j)
      if (const std::vector<double> &codes = merged.codes[j]; !codes.empty() && !std::isnan(x[j]))
        x[j] = codes[std::size_t(x[j])];
    rows.append(x.data(), dimension,
                shape.weighted ? block[std::size_t(shape.dimension) * block_rows + inside] : 1);
  }
}

}  // namespace bayes::pg
