#include "pg/input/record_fields.hpp"

#include <utility>

namespace bayes::pg {

/// Has the record at header_ the row type of the one before? False if that must be asked.
bool RecordFields::known(bool settled) const {
  if (identifier_ == 0 || HeapTupleHeaderGetTypeId(header_) != type_ ||
      HeapTupleHeaderGetTypMod(header_) != modifier_)
    return false;
  // A table may be altered while a call site of PL/pgSQL lives: its type keeps its number then.
  // Types without a name stay what they are.
  return settled || type_ == RECORDOID;
}

bool RecordFields::open(Datum record, bool settled) {
  copy_ = nullptr;  // after an error its memory has gone
  plain_ = nullptr;
  header_ = reinterpret_cast<HeapTupleHeader>(DatumGetPointer(record));
  if (VARATT_IS_EXTENDED(header_)) {
    guarded([this, record] { header_ = DatumGetHeapTupleHeader(record); });
    if (PointerGetDatum(header_) != record) copy_ = header_;
  }
  bool other = false;
  if (!known(settled)) {
    const uint64 before = std::exchange(identifier_, 0);  // until it is known
    uint64 identifier = 0;
    guarded([this, before, &identifier, &other] {
      type_ = HeapTupleHeaderGetTypeId(header_);
      modifier_ = HeapTupleHeaderGetTypMod(header_);
      identifier = assign_record_type_identifier(type_, modifier_);
      other = identifier != before;
      if (!other) return;
      const MemoryContext caller = MemoryContextSwitchTo(context_);
      if (description_) FreeTupleDesc(description_);
      description_ = nullptr;
      description_ = lookup_rowtype_tupdesc_copy(type_, modifier_);
      MemoryContextSwitchTo(caller);
    });
    if (other) {
      values_.resize(std::size_t(description_->natts));
      nulls_ = std::make_unique<bool[]>(std::size_t(description_->natts));
      const std::vector<int> offsets = fixed_offsets(description_);
      fixed_ =
          offsets.empty() ||
          (offsets.back() >= 0 && TupleDescAttr(description_, description_->natts - 1)->attlen > 0);
    }
    identifier_ = identifier;
  }
  if (fixed_ && !(header_->t_infomask & HEAP_HASNULL) &&
      int(HeapTupleHeaderGetNatts(header_)) == description_->natts)
    plain_ = reinterpret_cast<const char *>(header_) + header_->t_hoff;
  else
    deform();
  return other;
}

void RecordFields::deform() {
  plain_ = nullptr;
  guarded([this] {
    HeapTupleData tuple = {};
    tuple.t_len = HeapTupleHeaderGetDatumLength(header_);
    ItemPointerSetInvalid(&tuple.t_self);
    tuple.t_data = header_;
    heap_deform_tuple(&tuple, description_, values_.data(), nulls_.get());
  });
}

std::vector<int> fixed_offsets(TupleDesc description) {
  std::vector<int> out;
  int offset = 0;
  for (int i = 0; i < description->natts; ++i) {
    const Form_pg_attribute attribute = TupleDescAttr(description, i);
    const bool fixed = offset >= 0 && attribute->attlen > 0;
    if (fixed) offset = int(att_align_nominal(offset, attribute->attalign));
    out.push_back(fixed ? offset : -1);
    offset = fixed ? offset + attribute->attlen : -1;
  }
  return out;
}

bool is_record_type(Oid type) {
  return OidIsValid(type) && guarded([type] { return type_is_rowtype(getBaseType(type)); });
}

std::string name_of_type(Oid type) {
  return guarded([type] { return format_type_be(type); });
}

}  // namespace bayes::pg
