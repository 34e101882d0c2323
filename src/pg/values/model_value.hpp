// bayes_model values: reading, writing, and caching parsed models between calls of a function.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "document/model.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Parses a stored value in any of its forms. Bytes that are not a model are corrupted data here,
/// not invalid input: XX001. `family`, if given, must be the model family: 42804.
std::unique_ptr<Model> load_model(Datum value, const char *family = nullptr);

/// The header that identifies the content of a stored model, however it is stored; of a large one
/// little more is read. Equal ones are of models that differ in nothing but their seconds.
std::string content_header_of(Datum value);

/// The model's byte form, with options in jsonb's order, so that it does not depend on whether they
/// came from jsonb. They are read once before they are returned: throws Error(numeric) for a model
/// that a later reader would refuse, as it has numbers out of range.
std::string bytes_of(Model &model);

/// A new model in CurrentMemoryContext, of its byte form.
Datum store_bytes(std::string_view bytes);
inline Datum store_model(Model &model) { return store_bytes(bytes_of(model)); }

/// Identifies a stored value without reading all of it: by the toast pointer if it is stored out of
/// line, by all bytes if it is compressed, by the header with its fingerprint if it is plain. Equal
/// identities imply models that are equal but for their seconds, but not the reverse.
struct ModelIdentity {
  char form;
  std::size_t size;
  std::string_view bytes;
  /// a view into the datum
  static ModelIdentity of(Datum value);
};

/// The most recently used parsed models of one call site: 256 at most, and no more than fit into 32
/// MB, or into work_mem if that is more, but always two. Addresses identify nothing: PL/pgSQL keeps
/// a function's state while its variables change, and memory is reused.
class ModelCache {
 public:
  explicit ModelCache(const char *family) : family_(family) {}
  const Model &get(Datum value) { return *share(value); }
  /// The same, kept alive by its holder when it has gone from the cache.
  const std::shared_ptr<const Model> &share(Datum value);

 private:
  struct Entry {
    char form;
    std::size_t size;
    /// identity of the value as it was passed; the key
    std::string bytes;
    /// identity of the plain value
    std::string fingerprint;
    std::size_t memory;
    std::shared_ptr<const Model> model;
    bool is(const ModelIdentity &identity) const {
      return form == identity.form && size == identity.size && bytes == identity.bytes;
    }
  };
  const std::shared_ptr<const Model> &parse_and_cache(Datum value, const ModelIdentity &identity);
  const char *family_;
  /// most recently used first
  std::list<Entry> entries_;
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_bytes_;
  std::size_t memory_ = 0;
};

}  // namespace bayes::pg
