// bayes_model values: reading and writing them, and keeping parsed models over the calls of a function.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model.hpp"
#include "pg/boundary.hpp"

namespace bayes::pg {

/// Parses a stored value in any of its forms. Bytes that are no model are corrupted data here, not bad input: XX001.
/// `family`, if given, must be the model's: 42804.
std::unique_ptr<Model> load_model(Datum value, const char *family = nullptr);

/// A new value in CurrentMemoryContext.
Datum store_model(std::string_view bytes);

/// What tells a stored value apart without reading all of it: the toast pointer of one stored out of line, all bytes of a compressed one, the header
/// with its fingerprint of a plain one. Equal identities, equal models; the reverse does not hold.
struct ModelIdentity {
  char form;
  std::size_t size;
  std::string_view bytes;
  static ModelIdentity of(Datum value);  ///< a view into the datum
};

/// Parsed models of one call site, the few used last. Pointers alone say nothing: PL/pgSQL keeps a function's state while its
/// variables change, and memory is used again.
class ModelCache {
 public:
  explicit ModelCache(const char *family) : family_(family) {}
  const Model &get(Datum value);

 private:
  struct Entry {
    char form;
    std::size_t size;
    std::string bytes;        ///< identity of the value as it came
    std::string fingerprint;  ///< identity of the plain value
    std::shared_ptr<const Model> model;
  };
  const Model &keep(Entry entry);
  const char *family_;
  std::vector<Entry> entries_;  ///< the last used first
};

}  // namespace bayes::pg
