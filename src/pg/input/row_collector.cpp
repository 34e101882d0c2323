#include "pg/input/row_collector.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "base/control.hpp"
#include "base/message.hpp"
#include "data/hashed_rows.hpp"
#include "data/remote_rows.hpp"
#include "document/members.hpp"
#include "families/product/product_options.hpp"
#include "fit/order_columns.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/server/encoding.hpp"
#include "regression/level_responses.hpp"
#include "regression/terms.hpp"

namespace bayes::pg {

namespace {

/// The labels of an enum type in their order, UTF-8; of other types none.
std::vector<std::string> labels_of_enum(Oid type) {
  struct Label {
    float4 order;
    NameData name;
  };
  Label *labels = nullptr;
  int count = 0;
  guarded([type, &labels, &count] {
    if (!type_is_enum(type)) return;
    CatCList *const list = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
    labels = palloc_array(Label, list->n_members);
    for (; count < list->n_members; ++count) {
      const auto *const entry =
          reinterpret_cast<Form_pg_enum>(GETSTRUCT(&list->members[count]->tuple));
      labels[count] = {entry->enumsortorder, entry->enumlabel};
    }
    ReleaseSysCacheList(list);
  });
  std::sort(labels, labels + count,
            [](const Label &a, const Label &b) { return a.order < b.order; });
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back(utf8_of_server(NameStr(labels[i].name)));
  return out;
}

/// What a column that holds the response of rows is called.
RowColumns column_of_response(std::vector<std::string> labels) {
  return {{"response", ValueKind::label, std::move(labels)}};
}

/// The codes in `all` of some labels. Throws Error(invalid_binary) for one that it lacks.
std::vector<double> codes_among(const std::vector<std::string> &labels,
                                const std::vector<std::string> &all) {
  std::unordered_map<std::string_view, double> codes;
  for (const std::string &label : all) codes.emplace(label, double(codes.size()));
  std::vector<double> out;
  for (const std::string &label : labels) {
    const auto at = codes.find(label);
    if (at == codes.end()) PassReader::refuse();
    out.push_back(at->second);
  }
  return out;
}

}  // namespace

void PackedCollector::sort_labels() {
  std::vector<std::vector<double>> codes = reader_.sort_labels(), of_response;
  if (response_ && !ordered_) of_response = response_->sort_labels(level_before);
  if (codes.empty() && of_response.empty()) return;
  codes.resize(reader_.columns().size());
  codes.insert(codes.begin(), std::size_t(before_), {});
  if (!of_response.empty()) codes[0] = std::move(of_response[0]);
  rows.recode(codes);
}

void PackedCollector::recode(const std::optional<RowColumns> &all,
                             const std::vector<std::string> &levels) {
  const RowColumns own = columns();
  if (own.empty() && !response_) return;
  if (!own.empty() && (!all || own.size() != all->size())) PassReader::refuse();
  std::vector<std::vector<double>> codes(std::size_t(before_) + own.size());
  for (std::size_t j = 0; j < own.size(); ++j)
    codes[std::size_t(before_) + j] = codes_among(own[j].labels, (*all)[j].labels);
  if (response_) codes[0] = codes_among(this->levels(), levels);
  rows.recode(codes);
}

void PackedCollector::check_length(std::size_t length, int limit) {
  if (dimension_) wrong_length(length, std::size_t(dimension_), expected_by_, seen_);
  if (limit && length > std::size_t(limit))
    throw Error(Errc::too_large,
                message("row {} has {} elements, but the limit is {}", seen_, length, limit));
  dimension_ = int(length);
}

std::size_t PackedCollector::bytes() const {
  return std::size_t((rows.rows() + block_rows - 1) / block_rows) * rows.shape().block_doubles() *
         sizeof(double);
}

std::uint64_t PackedCollector::hash(Control &control) {
  DataHash out;
  out.add(columns());
  if (response_) out.add(response_->columns());
  out.add(rows, false, control);
  return out.value();
}

PackedHead PackedCollector::head() {
  sort_labels();
  PackedHead out;
  out.rows = rows.rows();
  out.skipped = rows.skipped();
  out.seen = seen_;
  out.zero_weights = zero_weights_;
  out.dimension = dimension_;
  if (out.rows > 0 && reader_.described()) out.columns = reader_.columns();
  if (out.rows > 0 && response_) out.levels = levels();
  out.ordered = ordered_;
  return out;
}

void PackedCollector::hear(const PackedHead &head, bool described) {
  count_elsewhere(head);
  if (head.rows > 0 && response_) {
    if (!head.levels) PassReader::refuse();
    response_->merge(column_of_response(*head.levels));
  }
  if (head.rows == 0 || !described) return;
  const RowColumns known = columns();
  const auto same = [](const RowColumn &a, const RowColumn &b) { return a.name == b.name; };
  if (!head.columns || (!known.empty() && !std::ranges::equal(*head.columns, known, same)))
    PassReader::refuse();
  reader_.merge(*head.columns);
}

void PackedCollector::write_blocks(char *to) {
  for (std::int64_t i = 0; i < rows.stretches(); ++i)
    for (const Piece &piece : rows.stretch(i)) {
      const std::size_t size = std::size_t((piece.rows + block_rows - 1) / block_rows) *
                               rows.shape().block_doubles() * sizeof(double);
      std::memcpy(to, piece.blocks, size);
      to += size;
    }
}

void PackedCollector::absorb(const PackedHead &head, std::string_view blocks) {
  RowReader::Merged merged;
  if (head.columns) merged = reader_.merge(*head.columns);
  std::vector<double> levels;
  if (head.levels) {
    // A state that only combines those of other processes has read nothing that says so.
    if (!response_) open_labels(context(), InvalidOid, {}, head.ordered);
    levels = response_->merge(column_of_response(*head.levels)).codes[0];
  }
  rows.skip(head.skipped);
  count_elsewhere(head);
  if (head.rows == 0) return;

  RowShape shape = rows.shape();
  shape.dimension = before_ + int(head.dimension);
  // Elements of rows that are arrays keep their places.
  if (!head.columns)
    for (std::size_t j = 0; j < std::size_t(head.dimension); ++j) merged.places.push_back(j);
  const int dimension = int(merged.places.size());
  if ((dimension_ || rows.rows() > 0) && dimension_ != dimension)
    throw Error(Errc::array_shape,
                message("rows have different lengths: {} and {} elements", dimension_, dimension),
                "All rows of one model have the same length.");
  dimension_ = dimension;

  const std::size_t block_bytes = shape.block_doubles() * sizeof(double);
  if (blocks.size() != std::size_t((head.rows + block_rows - 1) / block_rows) * block_bytes)
    throw Error(Errc::internal, "partial state of an aggregate has a wrong size");
  const char *at = blocks.data();
  const std::size_t first = std::size_t(before_);
  std::vector<double> block(shape.block_doubles()), x(first + merged.places.size());
  for (std::int64_t row = 0; row < head.rows; ++row) {
    const std::size_t inside = std::size_t(row % block_rows);
    if (inside == 0) {
      std::memcpy(block.data(), at, block_bytes);
      at += block_bytes;
    }
    const auto element = [&](std::size_t j) { return block[j * block_rows + inside]; };
    for (std::size_t j = 0; j < first; ++j) x[j] = element(j);
    if (head.levels) x[0] = levels[std::size_t(x[0])];
    for (std::size_t j = 0; j < merged.places.size(); ++j)
      x[first + j] = element(first + merged.places[j]);
    for (std::size_t j = 0; j < merged.codes.size(); ++j) {
      double &own = x[first + j];
      if (const std::vector<double> &codes = merged.codes[j]; !codes.empty() && !std::isnan(own))
        own = codes[std::size_t(own)];
    }
    rows.append(x.data(), int(x.size()),
                shape.weighted ? element(std::size_t(shape.dimension)) : 1);
  }
}

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
  if (usable && reader_.described()) number_order(request_->options, reader_.columns());
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

ResponseCollector::ResponseCollector(MemoryContext context, ItemForm form)
    : PackedCollector(context, form.weighted, form.second_type, 1),
      type_(form.type) {
  // The type is unknown in a state that only combines those of other processes: it reads no rows.
  if (!OidIsValid(type_)) return;
  arrays_ = is_array_type(form.second_type);
  base_ = guarded([this] { return getBaseType(type_); });
}

void ResponseCollector::begin(const FitRequest &request, Check check) {
  progress.begin(request.family);
  policy_ = check(request);
  open_response();
}

void PackedCollector::open_labels(MemoryContext context, Oid type,
                                  const std::vector<std::string> &labels, bool ordered) {
  ordered_ = ordered;
  response_ = std::make_unique<RowReader>(context, type, true);
  ModelInfo of_response;
  of_response.columns = column_of_response(labels);
  response_->expect(of_response, labels.empty() ? UnknownLabels::added : UnknownLabels::missing);
}

void ResponseCollector::open_response() {
  const bool labelled = policy_.response->labelled();
  if (!OidIsValid(type_) || response_) return;
  const bool number = base_ == BOOLOID || is_number_type(base_);
  if (!labelled) {
    if (number || base_ == UNKNOWNOID) return;
    throw SqlError(ERRCODE_DATATYPE_MISMATCH,
                   message("the response is of type {}", name_of_type(type_)),
                   "It must be a boolean or a number.",
                   "Cast it to a number, or compare it with the value that is to count as true: "
                   "y = 'yes'. Responses categorical and ordinal of glm_fit take labels.");
  }
  if (policy_.response->ordered() && policy_.levels.empty() && !number) {
    policy_.levels = labels_of_enum(base_);
    if (policy_.levels.empty())
      throw Error(Errc::invalid_argument, "the labels of the response have no order",
                  message("They are of type {}; numbers have an order, and the labels of an enum.",
                          name_of_type(type_)),
                  R"(Give it by an option: {"levels": ["low", "medium", "high"]}.)");
  }
  require_label_type(type_);
  open_labels(context(), type_, policy_.levels, !policy_.levels.empty());
}

double ResponseCollector::response(const NullableDatum &y) const {
  const bool binary = policy_.response->binary();
  const auto refuse = [this, binary](const std::string &what, Errc code) {
    throw Error(
        code, message("the response of row {} is {}", seen_, what),
        binary ? std::string("It must be true or false, or one of the numbers 1 and 0.")
               : message("A response of distribution {} must be {}.", policy_.response->name,
                         policy_.response->requirement),
        code == Errc::null_value ? "Option missing = skip leaves out such rows."
        : binary ? message("Compare it with the value that is to count as true: y = {}.",
                           base_ == UNKNOWNOID ? "'yes'" : what)
                 : std::string("Choose another distribution by option response, or leave out such "
                               "rows."));
  };
  if (y.isnull) refuse("NULL", Errc::null_value);
  if (response_) {
    if ((base_ == FLOAT8OID || base_ == FLOAT4OID || base_ == NUMERICOID) &&
        std::isinf(number_of(y.value, base_)))
      refuse("infinite", Errc::invalid_argument);
    const double code = (*response_->read(y.value, seen_, Missing::error))[0];
    if (!std::isnan(code)) return code;
    throw Error(Errc::invalid_argument,
                message("the response of row {} is {}, which is none of its levels", seen_,
                        bayes::describe(Document(response_->unknown_label(0)))),
                policy_.levels.empty() ? std::string()
                                       : message("They are {}.", list_of_terms(policy_.levels)),
                "Add it to option levels, or leave out such rows.");
  }
  if (base_ == BOOLOID) return DatumGetBool(y.value) ? 1 : 0;
  if (base_ == UNKNOWNOID) refuse("a literal without a type", Errc::invalid_argument);
  const double value = number_of(y.value, base_);
  if (!policy_.response->allows(value)) refuse(format_number(value), Errc::invalid_argument);
  if (!(std::fabs(value) <= max_abs_element))
    refuse_value(value, message("the response of row {}", seen_), seen_);
  return value;
}

std::optional<std::span<const double>> ResponseCollector::predictors(Datum x) {
  if (arrays_ && is_empty_array(x)) return std::span<const double>();
  try {
    return reader_.read(x, seen_, policy_.skip_missing ? Missing::skip_null : Missing::error);
  } catch (const Error &error) {
    // The reader's hint does not apply: regressions have no option missing = marginalize.
    if (error.code() != Errc::null_value) throw;
    throw Error(error.code(), error.what(), error.detail(),
                "Option missing = skip leaves out such rows.");
  }
}

void ResponseCollector::set_length(std::size_t length) {
  if (rows.rows() > 0) wrong_length(length, std::size_t(dimension_), expected_by_, seen_);
  check_length(length, policy_.max_dimension);
  packed_.resize(length + 1);
}

std::vector<std::string> ResponseCollector::names_of_elements(int predictors) const {
  std::vector<std::string> names = quoted_names(columns());
  if (names.empty())
    for (int j = 1; j <= predictors; ++j) names.push_back(message("element {}", j));
  names.insert(names.begin(), "the response");
  return names;
}

void ResponseCollector::arrange(Control &control) {
  if (remote || arranged_ == rows.rows()) return;
  if (arranged_ == 0) {
    note_positions(columns());
    report_names_of_rows(columns());
  }
  rows.name_elements(names_of_elements(dimension_));
  sort_labels();
  rows.arrange(control);
  arranged_ = rows.rows();
}

}  // namespace bayes::pg
