// bayes_model values: reading and writing them, and keeping parsed models over the calls of a
// function.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "document/model.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Parses a stored value in any of its forms. Bytes that are no model are corrupted data here, not
/// bad input: XX001. `family`, if given, must be the model's: 42804.
std::unique_ptr<Model> load_model(Datum value, const char *family = nullptr);

/// The model's byte form, its options in the order of jsonb: the same whether they came from there
/// or not.
std::string bytes_of(Model &model);

/// A new value in CurrentMemoryContext.
Datum store_bytes(std::string_view bytes);
inline Datum store_model(Model &model) { return store_bytes(bytes_of(model)); }

/// What tells a stored value apart without reading all of it: the toast pointer of one stored out
/// of line, all bytes of a compressed one, the header with its fingerprint of a plain one. Equal
/// identities, equal models; the reverse does not hold.
struct ModelIdentity {
  char form;
  std::size_t size;
  std::string_view bytes;
  /// a view into the datum
  static ModelIdentity of(Datum value);
};

/// Parsed models of one call site, those used last: as many as work_mem allows, but always a few.
/// Pointers alone say nothing: PL/pgSQL keeps a function's state while its variables change, and
/// memory is used again.
class ModelCache {
 public:
  explicit ModelCache(const char *family) : family_(family) {}
  const Model &get(Datum value);

 private:
  struct Entry {
    char form;
    std::size_t size;
    /// identity of the value as it came; the key
    std::string bytes;
    /// identity of the plain value
    std::string fingerprint;
    std::size_t memory;
    std::shared_ptr<const Model> model;
    bool is(const ModelIdentity &identity) const {
      return form == identity.form && size == identity.size && bytes == identity.bytes;
    }
  };
  const Model &parse_and_cache(Datum value, const ModelIdentity &identity);
  const char *family_;
  /// the last used first
  std::list<Entry> entries_;
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_bytes_;
  std::size_t memory_ = 0;
};

}  // namespace bayes::pg
