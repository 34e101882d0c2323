#include "pg/input/record_fields.hpp"

#include <algorithm>
#include <cstring>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/catalog_changes.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {
namespace {

/// The version of its row type with which a record was formed, where PostgreSQL stores it (15.20
/// and minor releases of the same time): after ALTER TYPE there may be records of the type with
/// different layouts.
std::uint64_t version_of([[maybe_unused]] HeapTupleHeader record) {
#ifdef HEAP_IS_DATUM
  if (HeapTupleHeaderIsVersionedDatum(record)) return HeapTupleHeaderGetVersion(record);
#endif
  return 0;
}

}  // namespace

bool RecordFields::open(Datum record) {
  copy_ = nullptr;  // after an error its memory has already been freed
  const auto *const datum = static_cast<const char *>(DatumGetPointer(record));
  if (VARATT_IS_4B_U(datum)) {
    header_ = reinterpret_cast<HeapTupleHeader>(DatumGetPointer(record));
  } else if (VARATT_IS_1B(datum) && !VARATT_IS_1B_E(datum)) {
    const std::size_t size = VARSIZE_SHORT(datum) - VARHDRSZ_SHORT;
    std::memcpy(VARDATA(aligned_), VARDATA_SHORT(datum), size);
    SET_VARSIZE(aligned_, size + VARHDRSZ);
    header_ = reinterpret_cast<HeapTupleHeader>(aligned_);
  } else {
    copy_ = guarded([record] { return PG_DETOAST_DATUM(record); });
    header_ = static_cast<HeapTupleHeader>(copy_);
  }
  const bool other = !known() && look_up();
  locate();
  return other;
}

/// Is the record at header_ known to have the layout of the previous one? If not, the row type must
/// be looked up: a table may be altered while a call site of PL/pgSQL lives, and its type keeps its
/// OID.
bool RecordFields::known() const {
  return identifier_ != 0 && changes_ == relation_changes &&
         HeapTupleHeaderGetTypeId(header_) == type_ &&
         HeapTupleHeaderGetTypMod(header_) == modifier_ && version_of(header_) == version_;
}

/// Looks up the row type of the record at header_. True if it differs from the previous one.
bool RecordFields::look_up() {
  const uint64 before = std::exchange(identifier_, 0);  // until the lookup is complete
  changes_ = relation_changes;
  uint64 identifier = 0;
  guarded([this, before, &identifier] {
    type_ = HeapTupleHeaderGetTypeId(header_);
    modifier_ = HeapTupleHeaderGetTypMod(header_);
    identifier = assign_record_type_identifier(type_, modifier_);
    if (identifier == before) return;
    const MemoryContext caller = MemoryContextSwitchTo(context_);
    if (description_) FreeTupleDesc(description_);
    description_ = nullptr;
    description_ = lookup_rowtype_tupdesc_copy(type_, modifier_);
    MemoryContextSwitchTo(caller);
  });
  if (identifier != before) lay_out();
  deform();  // raises if the row type has been altered since the record was formed
  version_ = version_of(header_);
  identifier_ = identifier;
  return identifier != before;
}

void RecordFields::lay_out() {
  layout_.clear();
  fixed_ = 0;
  std::size_t offset = 0;
  for (int i = 0; i < description_->natts; ++i) {
    const Form_pg_attribute attribute = TupleDescAttr(description_, i);
    Attribute a = {attribute->attlen, attribute->attbyval, attribute->attalign, 0};
    if (fixed_ == std::size_t(i) && a.length > 0) {
      a.offset = att_align_nominal(offset, a.align);
      offset = a.offset + std::size_t(a.length);
      ++fixed_;
    }
    layout_.push_back(a);
  }
  fixed_end_ = offset;
  places_.resize(layout_.size());
}

void RecordFields::locate() {
  if (std::size_t(HeapTupleHeaderGetNatts(header_)) < layout_.size()) return locate_added();
  const char *const data = reinterpret_cast<const char *>(header_) + header_->t_hoff;
  const uint8 *const nulls = header_->t_infomask & HEAP_HASNULL ? header_->t_bits : nullptr;
  std::size_t i = 0, offset = 0;
  if (!nulls) {
    for (; i < fixed_; ++i) places_[i] = data + layout_[i].offset;
    offset = fixed_end_;
  }
  for (; i < layout_.size(); ++i) {
    const Attribute &a = layout_[i];
    places_[i] = nullptr;
    if (nulls && att_isnull(int(i), nulls)) continue;
    offset = att_align_pointer(offset, a.align, a.length, data + offset);
    places_[i] = data + offset;
    offset = att_addlength_pointer(offset, a.length, data + offset);
  }
}

/// Extracts the values of the record by PostgreSQL's own function.
void RecordFields::deform() {
  values_.resize(layout_.size());
  nulls_ = std::make_unique<bool[]>(layout_.size());
  guarded([this] {
    HeapTupleData tuple = {};
    tuple.t_data = DatumGetHeapTupleHeader(PointerGetDatum(header_));
    tuple.t_len = HeapTupleHeaderGetDatumLength(tuple.t_data);
    ItemPointerSetInvalid(&tuple.t_self);
    heap_deform_tuple(&tuple, description_, values_.data(), nulls_.get());
  });
}

/// locate() for a record that is older than the last columns of its table.
void RecordFields::locate_added() {
  deform();
  for (std::size_t i = 0; i < layout_.size(); ++i) {
    auto *place = static_cast<char *>(DatumGetPointer(values_[i]));
    if (layout_[i].by_value) {
      place = reinterpret_cast<char *>(&values_[i]);
      store_att_byval(place, values_[i], layout_[i].length);
    }
    places_[i] = nulls_[i] ? nullptr : place;
  }
}

bool is_record_type(Oid type) {
  return OidIsValid(type) && guarded([type] { return type_is_rowtype(getBaseType(type)); });
}

std::string name_of_type(Oid type) {
  return guarded([type] { return format_type_be(type); });
}

namespace {

/// what varstr_levenshtein takes
constexpr std::size_t max_bytes = 255;
/// A misspelt column differs by at most this many edits, and by less than half of its length.
constexpr int max_misspelling = 2;

/// The text in the database's encoding, cut where a character ends. Raises.
std::string_view comparable(std::string_view text) {
  const char *const out = server_of_utf8(text.data(), text.size());
  const std::size_t size = out == text.data() ? text.size() : std::strlen(out);
  return {out, std::size_t(pg_mbcliplen(out, int(size), int(max_bytes)))};
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known,
                                        int farthest) {
  std::size_t best = known.size();
  const ScopedContext scratch(CurrentMemoryContext, "pg_bayes names");
  const CurrentContext here(scratch);
  guarded([&] {
    const std::string_view from = comparable(name);
    int nearest = farthest;
    for (std::size_t i = 0; i < known.size(); ++i) {
      CHECK_FOR_INTERRUPTS();
      const std::string_view to = comparable(known[i]);
      const int distance = varstr_levenshtein_less_equal(from.data(), int(from.size()), to.data(),
                                                         int(to.size()), 1, 1, 1, nearest, false);
      if (distance > nearest || (best < known.size() && distance == nearest)) continue;
      nearest = distance;
      best = i;
    }
  });
  return best < known.size() ? std::optional(known[best]) : std::nullopt;
}

void report_unknown_label(const std::string &place, std::string_view label,
                          const std::function<std::vector<std::string>()> &known) {
  if (!first_in_statement("unknown label of " + place)) return;
  const std::vector<std::string> names = known();
  const auto nearest = nearest_name(label, names, int(max_bytes));
  report(NOTICE,
         message("{} has the label {}, which the model does not know", place,
                 describe(Document(abbreviated(label)))),
         "It is no evidence; densities and probabilities of the label itself are those of one more "
         "label without rows.",
         nearest ? message("The nearest of the {} labels that the model knows is {}.", names.size(),
                           describe(Document(abbreviated(*nearest))))
                 : std::string());
}

void report_misspelt_column(const std::string &column, std::span<const std::string> others) {
  const int farthest = std::min(max_misspelling, (int(column.size()) - 1) / 2);
  const auto nearest = nearest_name(column, others, farthest);
  if (!nearest || !first_in_statement("misspelt column " + column)) return;
  report(NOTICE,
         message("rows have no column {}, which counts as NULL", describe(Document(column))),
         message("They have a column {}, which the model does not know.",
                 describe(Document(*nearest))),
         "Columns are matched by name; additional columns are ignored.");
}

}  // namespace bayes::pg
