// bayes_model values: reading, writing, and caching parsed models between calls of a function.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "document/model.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Parses a stored value, toasted or not. Throws XX001 (data corrupted, not invalid input) if its
/// bytes are not a model, and 42804 if the model is not of `family` (nullptr: any).
std::unique_ptr<Model> load_model(Datum value, const char *family = nullptr);
/// The elements of an array, such as models. They point into it, or into its detoasted copy in the
/// current memory context.
std::vector<NullableDatum> elements_of(Datum array);

/// The header that identifies the content of a stored model, toasted or not; little more than the
/// header is read of a large model. Models with equal headers differ at most in `seconds`, the
/// duration of the fit.
std::string content_header_of(Datum value);

/// The model's byte form, with options in jsonb's order, so that the bytes do not depend on whether
/// the options came from jsonb. The bytes are parsed before they are returned: throws
/// Error(numeric) for a model that could not be read back, because a number is out of range.
std::string bytes_of(Model &model);

/// A new bayes_model value in CurrentMemoryContext, from its byte form.
Datum store_bytes(std::string_view bytes);
inline Datum store_model(Model &model) { return store_bytes(bytes_of(model)); }

/// Identifies a stored value without reading all of it: by the toast pointer if it is stored out of
/// line, by all bytes if it is compressed, by the header with its fingerprint if it is plain. Equal
/// identities imply models that differ at most in `seconds`; the reverse does not hold.
struct ModelIdentity {
  char form;
  std::size_t size;
  std::string_view bytes;
  /// `bytes` is a view into the datum
  static ModelIdentity of(Datum value);
};

/// The most recently used parsed models of one call site: at most 256, and no more than fit into 32
/// MB (or work_mem, if that is more), but always two. Addresses of values do not identify models:
/// PL/pgSQL keeps a function's state while its variables change, and memory is reused.
class ModelCache {
 public:
  explicit ModelCache(const char *family) : family_(family) {}
  const Model &get(Datum value) { return *share(value); }
  /// The same as a shared pointer, which keeps the model alive after it has been evicted.
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
