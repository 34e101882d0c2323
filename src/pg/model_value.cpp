#include "pg/model_value.hpp"

#include <algorithm>

namespace bayes::pg {
namespace {

constexpr std::size_t cached_models = 8;

/// A value detoasted, and freed again if that took a copy.
class Plain {
 public:
  explicit Plain(Datum value) : original_(DatumGetPointer(value)) {
    varlena_ = guarded([value] { return pg_detoast_datum_packed(reinterpret_cast<struct varlena *>(DatumGetPointer(value))); });
  }
  ~Plain() {
    if (reinterpret_cast<Pointer>(varlena_) != original_) pfree(varlena_);
  }
  Plain(const Plain &) = delete;
  Plain &operator=(const Plain &) = delete;
  Datum datum() const { return PointerGetDatum(varlena_); }
  std::string_view bytes() const { return {VARDATA_ANY(varlena_), std::size_t(VARSIZE_ANY_EXHDR(varlena_))}; }

 private:
  Pointer original_;
  struct varlena *varlena_;
};

std::unique_ptr<Model> parse(std::string_view bytes, const char *family) {
  std::unique_ptr<Model> model;
  try {
    model = Model::from_bytes(bytes);
  } catch (const Error &error) {
    if (error.code() != Errc::invalid_binary) throw;
    throw SqlError(ERRCODE_DATA_CORRUPTED, std::string("stored bayes_model is corrupted: ") + error.what(), error.detail(),
                   "Fit the model again, or restore it from a backup.");
  }
  if (family && model->info.family != family)
    throw Error(Errc::wrong_family, "model is of family " + model->info.family + ", expected " + family,
                "bayes_info(model) tells what a model is.");
  return model;
}

}  // namespace

std::unique_ptr<Model> load_model(Datum value, const char *family) { return parse(Plain(value).bytes(), family); }

Datum store_model(std::string_view bytes) {
  if (bytes.size() > MaxAllocSize - VARHDRSZ)
    throw Error(Errc::too_large, "model of " + std::to_string(bytes.size()) + " bytes is larger than a PostgreSQL value can be",
                "The limit is 1 GB.", "Use fewer components or a diagonal covariance.");
  return guarded([bytes] {
    auto *const value = static_cast<struct varlena *>(palloc(bytes.size() + VARHDRSZ));
    SET_VARSIZE(value, bytes.size() + VARHDRSZ);
    std::memcpy(VARDATA(value), bytes.data(), bytes.size());
    return PointerGetDatum(value);
  });
}

ModelIdentity ModelIdentity::of(Datum value) {
  const char *const datum = DatumGetPointer(value);
  if (VARATT_IS_EXTERNAL_ONDISK(datum)) return {'e', VARSIZE_EXTERNAL(datum), {datum, std::size_t(VARSIZE_EXTERNAL(datum))}};
  if (VARATT_IS_EXTERNAL(datum)) return {'x', 0, {}};  // expanded or indirect: only its contents tell
  if (VARATT_IS_4B_C(datum)) return {'c', VARSIZE_4B(datum), {datum, std::size_t(VARSIZE_4B(datum))}};
  const std::size_t size = std::size_t(VARSIZE_ANY_EXHDR(datum));
  return {'p', size, {VARDATA_ANY(datum), std::min<std::size_t>(size, model_header_bytes)}};
}

const Model &ModelCache::keep(Entry entry) {
  if (entries_.size() == cached_models) entries_.pop_back();
  entries_.insert(entries_.begin(), std::move(entry));
  return *entries_.front().model;
}

const Model &ModelCache::get(Datum value) {
  const ModelIdentity identity = ModelIdentity::of(value);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry &entry = entries_[i];
    if (entry.form == identity.form && entry.size == identity.size && entry.bytes == identity.bytes && identity.form != 'x') {
      if (i > 0) std::rotate(entries_.begin(), entries_.begin() + std::ptrdiff_t(i), entries_.begin() + std::ptrdiff_t(i) + 1);
      return *entries_.front().model;
    }
  }

  const Plain plain(value);
  const ModelIdentity contents = ModelIdentity::of(plain.datum());
  std::string fingerprint = std::to_string(contents.size) + ':' + std::string(contents.bytes);
  Entry entry{identity.form, identity.size, std::string(identity.bytes), fingerprint, nullptr};
  for (const Entry &other : entries_)  // the same model by another road
    if (other.fingerprint == fingerprint) entry.model = other.model;
  if (!entry.model) {
    entry.model = parse(plain.bytes(), family_);
    guarded([] { elog(DEBUG1, "pg_bayes: model parsed"); });
  }
  return keep(std::move(entry));
}

}  // namespace bayes::pg
