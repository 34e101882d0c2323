#include "pg/input/cell_store.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "pg/server/temporary_files.hpp"

namespace bayes::pg {
namespace {

/// in cells: small groups should take little memory, and files should be written in large parts
constexpr std::size_t min_chunk_cells = 256, max_chunk_cells = 65536;

}  // namespace

CellStore::CellStore(MemoryContext context, std::size_t bytes)
    : context_(context),
      max_cells_in_memory_(std::max(min_chunk_cells, bytes / sizeof(TableCell))) {}

void CellStore::next_chunk() {
  poll_interrupts();
  const std::size_t next =
      std::clamp(2 * chunk_size_, min_chunk_cells, std::min(max_chunk_cells, max_cells_in_memory_));
  if (file_ || in_memory_ + next > max_cells_in_memory_) {
    if (in_memory_ > 0) return spill();
  }
  chunks_.push_back(std::make_unique_for_overwrite<TableCell[]>(next));
  sizes_.push_back(next);
  in_memory_ += next;
  chunk_size_ = next;
  used_ = 0;
}

/// Appends the cells in memory to the file; the last chunk is reused.
void CellStore::spill() {
  if (!file_) file_ = std::make_unique<SpillFile>(context_);
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const std::size_t cells = i + 1 < chunks_.size() ? sizes_[i] : used_;
    if (cells > 0) file_->append(chunks_[i].get(), cells * sizeof(TableCell));
  }
  chunks_.erase(chunks_.begin(), chunks_.end() - 1);
  sizes_.erase(sizes_.begin(), sizes_.end() - 1);
  in_memory_ = chunk_size_;
  used_ = 0;
}

void CellStore::finish() {
  if (!file_) return;
  spill();
  chunks_.clear();
  sizes_.clear();
  in_memory_ = used_ = chunk_size_ = 0;
}

void CellStore::release() {
  chunks_.clear();
  sizes_.clear();
  in_memory_ = used_ = chunk_size_ = 0;
  file_.reset();
}

void CellStore::pass(const Take &take, const std::function<void(std::size_t chunk)> &after) const {
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    poll_interrupts();
    take({chunks_[i].get(), i + 1 < chunks_.size() ? sizes_[i] : used_});
    if (after) after(i);
  }
  if (!file_) return;
  const std::size_t most = std::min(max_chunk_cells, max_cells_in_memory_);
  const auto buffer = std::make_unique_for_overwrite<TableCell[]>(most);
  for (std::int64_t done = 0; done < size_;) {
    poll_interrupts();
    const std::size_t cells = std::size_t(std::min(std::int64_t(most), size_ - done));
    file_->read(done * std::int64_t(sizeof(TableCell)), buffer.get(), cells * sizeof(TableCell));
    take({buffer.get(), cells});
    done += std::int64_t(cells);
  }
}

namespace {

/// maximum number of files among which cells are distributed at one time
constexpr std::int64_t max_files = 64;
/// memory that ordering takes for each cell: its key and its number
constexpr std::size_t bytes_of_cell = sizeof(std::int32_t) + sizeof(double);

using Repeated = FactorTableOptions::Repeated;

template <class T> void sort_values(std::vector<T> &values) {
  WorkPoll poll;
  std::sort(values.begin(), values.end(), [&poll](T a, T b) {
    poll(8);
    return a < b;
  });
}

/// Combines the numbers of one cell, which are added from the smallest to the largest or, if the
/// last one is wanted (repeated = last), in order of arrival.
class CellNumbers {
 public:
  CellNumbers(const CellRules &rules, std::int32_t line, std::int32_t other)
      : rules_(rules),
        line_(line),
        other_(other) {}

  void add(double x) {
    if (count_ > 0 && rules_.repeated == Repeated::refuse) rules_.refuse(line_, other_, value_, x);
    value_ = count_ == 0 || rules_.repeated == Repeated::last ? x : value_ + x;
    ++count_;
  }
  double result() const {
    if (!std::isfinite(value_)) rules_.overflow(line_, other_);
    return rules_.repeated == Repeated::average ? value_ / double(count_) : value_;
  }

 private:
  const CellRules &rules_;
  std::int32_t line_, other_;
  std::int64_t count_ = 0;
  double value_ = 0;
};

}  // namespace

DocumentTerms WeightedLine::of(const DocumentTerms &line) {
  terms_.clear();
  numbers_.clear();
  weights_.clear();
  for (std::size_t e = 0; e + 1 < line.size(); e += 2) {
    terms_.push_back(line.terms[e] / 2);
    numbers_.push_back(line.counts[e]);
    weights_.push_back(line.counts[e + 1]);
  }
  return {terms_, numbers_, weights_};
}

void CellOrder::run(CellStore &cells, const CellMap &map, const Take &take) {
  take_ = &take;
  done_ = 0;
  order({cells, map, 0}, lines_);
  while (done_ < lines_) emit(done_);
}

/// Orders the cells of a part, whose lines are those before `end`.
void CellOrder::order(const Part &part, std::int32_t end) {
  guarded([] { check_stack_depth(); });
  CellStore &cells = part.cells;
  if (cells.size() == 0) return;
  std::vector<std::int64_t> counts(std::size_t(end - part.first), 0);
  cells.each([&](std::span<const TableCell> some) {
    for (const TableCell &cell : some) ++counts[std::size_t(part.map(cell).line - part.first)];
  });
  if (cells.in_memory() || std::size_t(cells.size()) <= bytes_ / bytes_of_cell)
    order_here(part, std::move(counts));
  else if (counts.size() == 1)
    sort_line(part);
  else
    distribute(part, std::move(counts));
}

void CellOrder::order_here(const Part &part, std::vector<std::int64_t> counts) {
  // The position of the next cell of each line; after the pass, the end of the line.
  std::int64_t before = 0;
  for (std::int64_t &count : counts) {
    const std::int64_t begin = before;
    before += count;
    count = begin;
  }
  const auto others = std::make_unique_for_overwrite<std::int32_t[]>(std::size_t(before));
  const auto numbers = std::make_unique_for_overwrite<double[]>(std::size_t(before));
  part.cells.consume([&](std::span<const TableCell> some) {
    for (const TableCell &raw : some) {
      const TableCell cell = part.map(raw);
      const std::int64_t at = counts[std::size_t(cell.line - part.first)]++;
      others[std::size_t(at)] = cell.other;
      numbers[std::size_t(at)] = cell.number;
    }
  });
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t size = std::size_t(counts[i] - begin);
    if (size > 0) {
      order_line(others.get() + begin, numbers.get() + begin, size);
      merge_line(part.first + std::int32_t(i), {others.get() + begin, size},
                 {numbers.get() + begin, size});
    }
    begin = counts[i];
  }
}

/// Distributes a part among ranges of lines, each in a file of its own, and orders these. A range
/// has at most `most` cells, fewer than the part, or is a single line: it neither begins nor ends
/// with empty lines. So the recursion ends.
void CellOrder::distribute(const Part &part, std::vector<std::int64_t> counts) {
  const std::int64_t most = std::max(std::int64_t(bytes_ / 2 / bytes_of_cell),
                                     (part.cells.size() + max_files - 1) / max_files);
  struct Range {
    std::int32_t first, end;
    std::unique_ptr<CellStore> cells;
  };
  std::vector<Range> ranges;
  std::vector<std::int32_t> range_of(counts.size());
  std::int64_t in_range = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    poll_in_loop(i);
    if (counts[i] == 0) continue;
    const std::int32_t line = part.first + std::int32_t(i);
    if (ranges.empty() || in_range + counts[i] > most) {
      ranges.push_back({line, line, nullptr});
      in_range = 0;
    }
    in_range += counts[i];
    ranges.back().end = line + 1;
    range_of[i] = std::int32_t(ranges.size()) - 1;
  }
  for (Range &range : ranges)
    range.cells = std::make_unique<CellStore>(context_, bytes_ / 2 / ranges.size());
  part.cells.consume([&](std::span<const TableCell> some) {
    for (const TableCell &raw : some) {
      const TableCell cell = part.map(raw);
      ranges[std::size_t(range_of[std::size_t(cell.line - part.first)])].cells->add(cell);
    }
  });
  for (const Range &range : ranges) range.cells->finish();
  counts = {};
  range_of = {};
  const CellMap as_they_are;
  for (Range &range : ranges) {
    order({*range.cells, as_they_are, range.first}, range.end);
    range.cells.reset();
  }
}

/// Orders one line with more cells than fit into memory, most of which must be repeated cells.
void CellOrder::sort_line(const Part &part) {
  const bool by_arrival = rules_.repeated == Repeated::last;
  const SortColumn arrivals[] = {
      {INT4OID, Int4LessOperator}, {INT8OID, Int8LessOperator}, {FLOAT8OID}};
  const SortColumn numbers[] = {
      {INT4OID, Int4LessOperator}, {FLOAT8OID, Float8LessOperator}, {INT8OID}};
  Sorter sorter(context_, by_arrival ? arrivals : numbers,
                int(std::max<std::size_t>(64, bytes_ / 1024)));
  const int number_at = by_arrival ? 2 : 1;
  std::int64_t arrival = 0;
  part.cells.consume([&](std::span<const TableCell> some) {
    for (const TableCell &raw : some) {
      const TableCell cell = part.map(raw);
      Datum values[3] = {Int32GetDatum(cell.other), Datum(0), Datum(0)};
      values[number_at] = Float8GetDatum(cell.number);
      values[3 - number_at] = Int64GetDatum(arrival++);
      const bool nulls[3] = {};
      sorter.put(values, nulls);
    }
  });
  sorter.sort();
  std::optional<CellNumbers> current;
  std::int32_t other = -1;
  while (TupleTableSlot *const row = sorter.next()) {
    const std::int32_t next = DatumGetInt32(row->tts_values[0]);
    if (next != other) {
      if (current) keep(other, current->result());
      current.emplace(rules_, part.first, next);
      other = next;
    }
    current->add(DatumGetFloat8(row->tts_values[number_at]));
  }
  if (current) keep(other, current->result());
  emit(part.first);
}

/// Sorts the cells of a line by the other key, those of the same key in order of arrival.
void CellOrder::order_line(std::int32_t *others, double *numbers, std::size_t size) {
  if (std::is_sorted(others, others + size)) return;
  places_.resize(size);
  for (std::size_t i = 0; i < size; ++i)
    places_[i] = std::uint64_t(std::uint32_t(others[i])) << 32 | i;
  sort_values(places_);
  moved_.assign(numbers, numbers + size);
  for (std::size_t i = 0; i < size; ++i) {
    others[i] = std::int32_t(places_[i] >> 32);
    numbers[i] = moved_[std::uint32_t(places_[i])];
  }
}

void CellOrder::merge_line(std::int32_t line, std::span<const std::int32_t> others,
                           std::span<const double> numbers) {
  for (std::size_t begin = 0, end; begin < others.size(); begin = end) {
    end = begin + 1;
    while (end < others.size() && others[end] == others[begin]) ++end;
    if (end == begin + 1) {
      keep(others[begin], numbers[begin]);
      continue;
    }
    moved_.assign(numbers.begin() + std::ptrdiff_t(begin), numbers.begin() + std::ptrdiff_t(end));
    if (rules_.repeated != Repeated::last) sort_values(moved_);
    CellNumbers cell(rules_, line, others[begin]);
    for (const double x : moved_) cell.add(x);
    keep(others[begin], cell.result());
  }
  emit(line);
}

void CellOrder::keep(std::int32_t other, double number) {
  if (number == 0 && !rules_.keep_zeros) return;
  others_.push_back(other);
  numbers_.push_back(number);
}

/// Passes on the line with the cells that are kept, after the empty lines before it.
void CellOrder::emit(std::int32_t line) {
  for (; done_ < line; ++done_) {
    poll_in_loop(std::size_t(done_));
    (*take_)({});
  }
  poll_in_loop(std::size_t(done_));
  (*take_)({others_, numbers_});
  ++done_;
  others_.clear();
  numbers_.clear();
}

}  // namespace bayes::pg
