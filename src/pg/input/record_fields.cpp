#include "pg/input/record_fields.hpp"

namespace bayes::pg {

bool RecordFields::open(Datum record) {
  copy_ = nullptr;  // after an error its memory has gone
  HeapTupleHeader header = nullptr;
  uint64 identifier = 0;
  bool other = false;
  const auto deform = [this, &header] {
    HeapTupleData tuple = {};
    tuple.t_len = HeapTupleHeaderGetDatumLength(header);
    ItemPointerSetInvalid(&tuple.t_self);
    tuple.t_data = header;
    heap_deform_tuple(&tuple, description_, values_.data(), nulls_.get());
  };
  guarded([this, record, &header, &identifier, &other, &deform] {
    header = DatumGetHeapTupleHeader(record);
    if (PointerGetDatum(header) != record) copy_ = header;
    const Oid type = HeapTupleHeaderGetTypeId(header);
    const std::int32_t modifier = HeapTupleHeaderGetTypMod(header);
    // A table may be altered while a call site of PL/pgSQL lives: its type keeps its number then.
    identifier = assign_record_type_identifier(type, modifier);
    other = !description_ || identifier != identifier_;
    if (!other) {
      deform();
      return;
    }
    identifier_ = 0;
    const MemoryContext before = MemoryContextSwitchTo(context_);
    if (description_) FreeTupleDesc(description_);
    description_ = nullptr;
    description_ = lookup_rowtype_tupdesc_copy(type, modifier);
    MemoryContextSwitchTo(before);
  });
  if (!other) return false;
  values_.resize(std::size_t(description_->natts));
  nulls_ = std::make_unique<bool[]>(std::size_t(description_->natts));
  identifier_ = identifier;
  guarded(deform);
  return true;
}

bool is_record_type(Oid type) {
  return OidIsValid(type) && guarded([type] { return type_is_rowtype(getBaseType(type)); });
}

std::string name_of_type(Oid type) {
  return guarded([type] { return format_type_be(type); });
}

}  // namespace bayes::pg
