#include "pg/input/triple_collector.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/message.hpp"
#include "base/random.hpp"
#include "counts/document_parts.hpp"
#include "data/hashed_rows.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/input/row_store.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {
namespace {

/// Integers below this, or this plus a multiple of the number of keys, are looked up in an array,
/// without their text.
constexpr std::int64_t small_key_limit = 16384;

/// The first 8 bytes of a text as a number: where these numbers differ, they have the order of the
/// texts.
std::uint64_t beginning(std::string_view text) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < sizeof out; ++i)
    out = out << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0u);
  return out;
}

void refuse_key(const char *side, TermDictionary::Excess excess, std::string_view key,
                const std::string &place) {
  constexpr const char *shorter_hint =
      "A key is the name of a row or column. Use a shorter one, such as md5(key).";
  switch (excess) {
    case TermDictionary::Excess::length:
      throw Error(Errc::too_large,
                  message("a {} key is {} bytes long, but the limit is {}", side, key.size(),
                          max_term_bytes),
                  message("It begins with \"{}\"{}", abbreviated(key), place), shorter_hint);
    case TermDictionary::Excess::number:
      throw Error(Errc::too_large, message("table has more than {} {} keys", factor_max_keys, side),
                  "A model holds numbers for every key.");
    case TermDictionary::Excess::bytes:
      throw Error(Errc::too_large,
                  message("distinct {} keys take more than {} MB", side, max_read_bytes >> 20),
                  "A model holds every key.", shorter_hint);
  }
}

}  // namespace

TableKeys::TableKeys(MemoryContext context, Side side)
    : side_(side),
      type_(context),
      dictionary_(factor_max_keys, [this](TermDictionary::Excess excess, std::string_view key) {
        refuse_key(this->side(), excess, key, place_());
      }) {}

std::int32_t TableKeys::number(Datum key) {
  switch (type_.base()) {
    case INT2OID: return small_number(DatumGetInt16(key));
    case INT4OID: return small_number(DatumGetInt32(key));
    case INT8OID: return small_number(DatumGetInt64(key));
    default: break;
  }
  const auto text = type_.text(key);
  if (!text) return -1;
  // Consecutive cells often belong to the same row.
  if (last_ < 0 || dictionary_.term(last_) != *text) last_ = dictionary_.number(*text);
  return last_;
}

std::int32_t TableKeys::small_number(std::int64_t key) {
  const bool small = key >= 0 && key < small_key_limit + 8 * std::int64_t(dictionary_.size());
  const std::size_t at = std::size_t(key);
  if (small && at < small_.size() && small_[at] >= 0) return small_[at];
  const std::int32_t number = dictionary_.number(type_.text_of_integer(key));
  if (small) {
    if (at >= small_.size()) small_.resize(std::max(at + 1, 2 * small_.size()), -1);
    small_[at] = number;
  }
  return number;
}

double TableKeys::bytes() const {
  constexpr double of_key = sizeof(std::string);
  return named() ? of_key * dictionary_.size() + 2 * dictionary_.bytes() : of_key * counted_;
}

std::string TableKeys::name(std::int32_t number) const {
  return named() ? message("{} \"{}\"", side(), abbreviated(dictionary_.term(number)))
                 : message("{} {}", side(), number + 1);
}

void TableKeys::each(const std::function<void(std::string_view key)> &f) const {
  for (std::int32_t i = 0; i < dictionary_.size(); ++i) {
    poll_in_loop(std::size_t(i));
    f(dictionary_.term(i));
  }
}

std::vector<std::string> TableKeys::arrange(std::vector<std::int32_t> &places) {
  const std::size_t n = std::size_t(size());
  places.resize(n);
  std::vector<std::string> keys;
  keys.reserve(n);
  if (!named()) {
    for (std::size_t i = 0; i < n; ++i) {
      poll_in_loop(i);
      places[i] = std::int32_t(i);
      keys.push_back(std::to_string(i + 1));
    }
    return keys;
  }
  struct Key {
    std::uint64_t beginning;
    std::int32_t number;
  };
  std::vector<Key> order;
  order.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    order.push_back({beginning(dictionary_.term(std::int32_t(i))), std::int32_t(i)});
  WorkPoll poll;
  std::sort(order.begin(), order.end(), [this, &poll](const Key &a, const Key &b) {
    poll(8);
    return a.beginning != b.beginning ? a.beginning < b.beginning
                                      : dictionary_.term(a.number) < dictionary_.term(b.number);
  });
  for (std::size_t i = 0; i < n; ++i) {
    poll_in_loop(i);
    places[std::size_t(order[i].number)] = std::int32_t(i);
    keys.emplace_back(dictionary_.term(order[i].number));
  }
  counted_ = std::int32_t(n);
  named_ = InvalidOid;
  last_ = -1;
  dictionary_ = TermDictionary(0, {});
  small_.clear();
  return keys;
}

namespace {

/// "row \"a\" and column \"b\"", whichever side the lines are on.
std::string name_of_cell(const FactorTable &table, std::int32_t line, std::int32_t other) {
  const bool by_row = table.document_side == Side::row;
  const std::string &of_line = table.document_keys[table.key_of(std::size_t(line))],
                    &of_other = table.term_keys[std::size_t(other)];
  return message("row \"{}\" and column \"{}\"", abbreviated(by_row ? of_line : of_other),
                 abbreviated(by_row ? of_other : of_line));
}

std::uint64_t hash_of_cell(std::int32_t line, std::int32_t other, double number) {
  return split_mix(split_mix(std::uint64_t(line) << 32 | std::uint32_t(other)) ^
                   std::bit_cast<std::uint64_t>(number));
}

/// The indices of keys in the order of a hash.
std::vector<std::int32_t> order_by_hash(const Keys &keys) {
  const std::vector<std::uint64_t> hashes = term_hashes(keys.all());
  std::vector<std::int32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  WorkPoll poll;
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    poll(8);
    const std::uint64_t of_a = hashes[std::size_t(a)], of_b = hashes[std::size_t(b)];
    return of_a != of_b ? of_a < of_b : a < b;
  });
  return order;
}

/// Replaces places in the order of the keys by places in `order`.
void move_places(const std::vector<std::int32_t> &order, std::vector<std::int32_t> &places) {
  std::vector<std::int32_t> to(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) to[std::size_t(order[i])] = std::int32_t(i);
  for (std::int32_t &place : places) place = to[std::size_t(place)];
}

/// Removes the keys of held-out lines from the table.
void leave_out(const std::vector<char> &apart, FactorTable &table) {
  std::vector<std::int32_t> numbers(apart.size());
  std::int32_t kept = 0;
  for (std::size_t i = 0; i < apart.size(); ++i) {
    numbers[i] = kept;
    if (!apart[i]) ++kept;
  }
  table.document_keys.remove(apart);
  std::vector<std::int32_t> &keys = table.key_of_document;
  std::erase_if(keys, [&](std::int32_t key) { return bool(apart[std::size_t(key)]); });
  for (std::int32_t &key : keys) key = numbers[std::size_t(key)];
}

std::string elements(std::int32_t n) {
  return message("{} {}", n, n == 1 ? "element" : "elements");
}

}  // namespace

TripleCollector::TripleCollector(MemoryContext context, ItemForm form)
    : Collector(context, form.values == 3 ? "cell" : "row"),
      form_(form),
      budget_(memory_for_rows()),
      rows_(context, Side::row),
      columns_(context, Side::column),
      elements_(context) {
  if (form.values > 1) rows_.use(form.type);
  if (form.values == 3) columns_.use(form.second_type);
  const Oid type = form.values == 2 ? form.second_type : form.type;
  if (form.values < 3 && OidIsValid(type)) open_rows(type);
  columns_.set_location([this] { return row_ < 0 ? "" : ", in " + rows_.name(row_); });
}

/// Throws Error for a type that rows of numbers cannot have.
void TripleCollector::open_rows(Oid type) {
  const Oid base = guarded([type] { return getBaseType(type); });
  if (base != UNKNOWNOID && !is_row_of_numbers(base))
    throw SqlError(ERRCODE_DATATYPE_MISMATCH, message("a row is of type {}", name_of_type(type)),
                   "A row of a table is an array of numbers.");
  sparse_ = is_sparse_vector(base);
  if (!sparse_ && !is_array_type(base)) make_array_.open(context(), base);
}

void TripleCollector::begin(const FitRequest &request, Check check) {
  progress.begin(request.family);
  options_ = check(request);
  begin_cells();
}

void TripleCollector::begin_cells() {
  drop_zeros_ = !options_.missing &&
                (form_.values == 1 || options_.repeated == FactorTableOptions::Repeated::add);
  key_memory_ = ServerControl().memory;
  // A cell takes 16 bytes, 12 more while cells are put in order, and 12 in the table; the second
  // table is made from the first.
  cells_ = std::make_unique<CellStore>(context_,
                                       options_.transposed ? budget_ / 5 * 2 : budget_ / 7 * 4);
}

void TripleCollector::add(const Item &item) {
  if (lines_) throw Error(Errc::internal, "cell added after the end");
  count();
  if (!has_weight(item.weight))
    ++skipped_;
  else if (form_.values == 3)
    add_cell(item);
  else
    add_row(item);
}

void TripleCollector::add_cell(const Item &item) {
  const NullableDatum *const values = item.values;
  const std::int32_t row = row_ = values[0].isnull ? -1 : rows_.number(values[0].value);
  const std::int32_t column = values[1].isnull ? -1 : columns_.number(values[1].value);
  check_keys();
  if (row < 0 || column < 0 || values[2].isnull) {
    ++skipped_;
    null_numbers_ += row >= 0 && column >= 0;
    return;
  }
  add_number(row, column, DatumGetFloat8(values[2].value), weight_of(item));
}

void TripleCollector::add_row(const Item &item) {
  const NullableDatum &numbers = item.values[form_.values - 1];
  const bool known = form_.values == 1 || !item.values[0].isnull;
  std::int32_t row = rows_.size();
  if (form_.values == 2 && known) row = rows_.number(item.values[0].value);
  if (!known || row < 0 || numbers.isnull) {
    ++skipped_;
    return check_keys();
  }
  rows_.count_to(row + 1);
  if (sparse_) return add_sparse(row, SparseVector(numbers.value));
  const OpenArray array(make_array_.opened()
                            ? guarded([&] { return make_array_.array_of(numbers.value); })
                            : numbers.value);
  if (array.dimensions() > 1)
    throw Error(Errc::array_shape,
                message("{} is an array of {} dimensions", rows_.name(row), array.dimensions()),
                "A row of numbers is a one-dimensional array.");
  if (array.empty())
    throw Error(Errc::array_shape, message("{} is an empty array", rows_.name(row)),
                "A row of numbers has at least one element.");
  const std::int32_t length = array.size(0);
  check_length(row, length);
  elements_.use(array.element_type());
  numbers_.resize(std::size_t(length));
  ArrayWalk(array, elements_, nullptr).next(numbers_);
  const uint8 *const nulls = array.null_bitmap();
  for (std::int32_t i = 0; i < length; ++i) {
    if (nulls && !(nulls[i / 8] & (1 << (i % 8)))) {
      ++skipped_;
      ++null_numbers_;
    } else {
      add_number(row, i, numbers_[std::size_t(i)]);
    }
  }
}

void TripleCollector::add_sparse(std::int32_t row, const SparseVector &vector) {
  check_length(row, vector.dimension());
  const std::size_t count = vector.indices().size();
  if (!drop_zeros_) vector.expand(numbers_);
  for (std::size_t i = 0; i < (drop_zeros_ ? count : numbers_.size()); ++i) {
    if (i % 4096 == 4095) poll_interrupts();
    if (drop_zeros_)
      add_number(row, vector.indices()[i], vector.numbers()[i]);
    else
      add_number(row, std::int32_t(i), numbers_[i]);
  }
}

void TripleCollector::check_length(std::int32_t row, std::int32_t length) {
  if (length_ == 0) {
    length_ = length;
    first_row_ = row;
    columns_.count_to(length);
  } else if (length != length_) {
    throw Error(Errc::array_shape,
                message("{} has {}, but {} has {}", rows_.name(row), elements(length),
                        rows_.name(first_row_), elements(length_)),
                "All rows of one model have the same length.");
  }
  check_keys();
}

void TripleCollector::add_number(std::int32_t row, std::int32_t column, double number,
                                 double weight) {
  if (!std::isfinite(number) || (options_.non_negative && number < 0))
    refuse_number(row, column, number);
  if (number == 0) {
    if (drop_zeros_) return;
    number = 0;  // not -0
  }
  cells_->add({row, column, number});
  if (form_.weighted) cells_->add({row, column | weight_mark, weight});
}

void TripleCollector::refuse_number(std::int32_t row, std::int32_t column, double number) const {
  throw Error(
      Errc::invalid_argument,
      message("number of {} and {} is {}", rows_.name(row), columns_.name(column),
              format_number(number)),
      options_.non_negative ? "Numbers are finite and not negative." : "Numbers are finite.",
      "Leave such cells out with WHERE or FILTER, or give NULL.");
}

void TripleCollector::check_keys() const {
  const std::int64_t keys = rows_elsewhere_ + rows_.size() + columns_.size();
  if (keys > factor_max_keys)
    throw Error(Errc::too_large,
                message("table has more than {} rows and columns together", factor_max_keys),
                "A model holds numbers for every key.");
  if (double(keys) * options_.bytes_of_key + rows_.bytes() + columns_.bytes() + bytes_elsewhere_ <=
      key_memory_)
    return;
  throw Error(Errc::too_large,
              message("fitting a table of more than {} rows and columns together takes more than "
                      "{} MB in addition to the table",
                      keys - 1, std::int64_t(key_memory_ / 1048576)),
              "The limit is maintenance_work_mem, or 1 GB if that is more.",
              "Raise maintenance_work_mem, or use a smaller k.");
}

/// Chooses the side of the lines: the side with more keys; if both have equally many, the side with
/// the smaller list of keys; if the lists are equal, the side by which a hash of all cells is
/// smaller. If the hashes are equal too, the table is symmetric.
Side TripleCollector::choose_lines(const std::vector<std::string> &row_keys,
                                   const std::vector<std::string> &column_keys,
                                   const std::vector<std::int32_t> &row_places,
                                   const std::vector<std::int32_t> &column_places) const {
  if (part_) return Side::row;
  if (row_keys.size() != column_keys.size())
    return row_keys.size() > column_keys.size() ? Side::row : Side::column;
  if (row_keys != column_keys) return row_keys < column_keys ? Side::row : Side::column;
  std::uint64_t by_row = 0, by_column = 0;
  cells_->each([&](std::span<const TableCell> some) {
    for (const TableCell &cell : some) {
      const std::int32_t key = cell.other & ~weight_mark, row = row_places[std::size_t(cell.line)],
                         column = column_places[std::size_t(key)];
      if (key != cell.other && cell.number == 1) continue;  // as if there were no weights
      by_row += hash_of_cell(row, column, cell.number);
      by_column += hash_of_cell(column, row, cell.number);
    }
  });
  return by_row <= by_column ? Side::row : Side::column;
}

std::uint64_t TripleCollector::hash(Control &control) {
  DataHash out;
  for (const Keys *const keys : {&table_->document_keys, &table_->term_keys})
    out.add(std::span<const std::string>(keys->all()));
  out.add(table_->documents, control);
  if (held_out_) out.add(*held_out_, control);
  return out.value();
}

/// How the cells of this table are put together.
CellRules TripleCollector::rules_of(const FactorTable &table) const {
  return {options_.repeated, options_.missing,
          [&table, keys = form_.weighted ? 2 : 1](std::int32_t line, std::int32_t other,
                                                  double first, double second) {
            throw Error(Errc::invalid_argument,
                        message("there is more than one number of {}: {} and {}",
                                name_of_cell(table, line, other / keys), format_number(first),
                                format_number(second)),
                        "A cell of the table has one number.",
                        "GROUP BY row and column first, or set option repeated, which combines "
                        "such numbers.");
          },
          [&table, keys = form_.weighted ? 2 : 1](std::int32_t line, std::int32_t other) {
            throw Error(Errc::numeric, message("the sum of the numbers of {} overflows",
                                               name_of_cell(table, line, other / keys)));
          }};
}

void TripleCollector::arrange(Control &) {
  if (table_) return;
  if (lines_) throw Error(Errc::internal, "table was not put in order");
  // In all other families a NULL is a number that is not known.
  if (options_.non_negative && !options_.missing && null_numbers_ > 0)
    report_once(NOTICE,
                message("numbers of {} of the table are NULL, and count as 0",
                        null_numbers_ == 1 ? "1 cell" : std::to_string(null_numbers_) + " cells"),
                "A cell of which no number is given is 0 in this fit.",
                "If nothing is known of these cells, use option \"absent\": \"missing\".");
  cells_->finish();
  std::vector<std::int32_t> row_places, column_places;
  std::vector<std::string> row_keys = rows_.arrange(row_places),
                           column_keys = columns_.arrange(column_places);
  const Side of_lines = choose_lines(row_keys, column_keys, row_places, column_places);
  const bool by_row = of_lines == Side::row;
  std::vector<std::string> &line_keys = by_row ? row_keys : column_keys,
                           &other_keys = by_row ? column_keys : row_keys;
  // If the cells fit in memory, so do the tables.
  const std::size_t of_stores = cells_->in_memory()   ? budget_
                                : options_.transposed ? budget_ / 8 * 3
                                                      : budget_ / 4 * 3;
  lines_ = std::make_unique<DocumentStore>(context_, std::int32_t(other_keys.size()), skipped_,
                                           of_stores);
  FactorTable table = {*lines_, nullptr, of_lines, std::move(line_keys), std::move(other_keys),
                       skipped_};
  const CellRules rules = rules_of(table);
  const bool in_memory = cells_->in_memory();
  std::vector<std::int32_t> by_hash;
  if (options_.shuffled) by_hash = order_by_hash(table.document_keys);
  const std::vector<char> apart = choose_held_out(table.document_keys);
  if (options_.shuffled) {
    move_places(by_hash, by_row ? row_places : column_places);
    table.key_of_document = std::move(by_hash);
  }
  if (!apart.empty())
    held_out_ = std::make_unique<DocumentStore>(context_, std::int32_t(table.term_keys.size()), 0,
                                                budget_ / std::size_t(hold_out_->every()));
  write_lines({row_places, column_places, !by_row, form_.weighted}, rules, table, apart);
  if (!apart.empty()) leave_out(apart, table);
  if (options_.transposed) {
    transposed_ = std::make_unique<DocumentStore>(
        context_, std::int32_t(table.document_keys.size()), skipped_, of_stores);
    write_transposed(rules, in_memory ? budget_ : budget_ / 8);
    table.transposed = transposed_.get();
  }
  cells_.reset();
  table_.emplace(std::move(table));
}

/// For every key of a line, whether the line is held out; empty if none is.
std::vector<char> TripleCollector::choose_held_out(const Keys &keys) {
  if (!hold_out_) return {};
  std::vector<std::uint64_t> hashes;
  WorkPoll poll;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    poll(10 + 4 * keys[i].size());
    // Rows without a key are numbered over all parts.
    hashes.push_back(part_ && form_.values == 1
                         ? term_hash(std::to_string(rows_before_ + std::int64_t(i) + 1))
                         : term_hash(keys[i]));
    if (!part_) hold_out_->count(hashes.back());
  }
  if (!part_) hold_out_->choose();
  std::vector<char> apart(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    poll(1);
    apart[i] = hold_out_->takes(hashes[i]);
    if (apart[i] && part_ && form_.values > 1) held_out_keys_.push_back(keys[i]);
  }
  return apart;
}

/// `apart`: for every key of a line, whether the line is held out; or empty.
void TripleCollector::write_lines(const CellMap &map, const CellRules &rules,
                                  const FactorTable &table, const std::vector<char> &apart) {
  const auto lines = std::int32_t((map.transposed ? map.others : map.lines).size());
  CellOrder order(context_, lines, budget_ / 4, rules);
  std::size_t number = 0;
  WeightedLine whole;
  order.run(*cells_, map, [&](const DocumentTerms &line) {
    (!apart.empty() && apart[table.key_of(number)] ? held_out_ : lines_)
        ->append(map.weighted ? whole.of(line) : line);
    ++number;
  });
  lines_->finish();
  if (held_out_) held_out_->finish();
}

/// `bytes`: memory for the cells.
void TripleCollector::write_transposed(const CellRules &rules, std::size_t bytes) {
  CellStore cells(context_, bytes);
  for (std::int64_t i = 0; i < lines_->stretches(); ++i)
    for (const CorpusPiece &piece : lines_->stretch(i))
      each_document(piece, [&cells](std::int64_t index, const DocumentTerms &line) {
        for (std::size_t e = 0; e < line.size(); ++e) {
          cells.add({line.terms[e], std::int32_t(index), line.counts[e]});
          if (!line.weights.empty())
            cells.add({line.terms[e], std::int32_t(index) | weight_mark, line.weights[e]});
        }
        return true;
      });
  cells.finish();
  CellOrder order(context_, lines_->totals().vocabulary, budget_ / 4, rules);
  CellMap map;
  map.weighted = form_.weighted;
  WeightedLine whole;
  order.run(cells, map, [&](const DocumentTerms &line) {
    transposed_->append(map.weighted ? whole.of(line) : line);
  });
  transposed_->finish();
}

}  // namespace bayes::pg
