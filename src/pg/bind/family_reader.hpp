// What the families whose models take no rows of columns, or predict a response, register: how
// functions over all models read the arguments of theirs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "document/model.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// How class R, an interface, reads the arguments of one family; a static object, which registers
/// itself.
template <class R> struct FamilyReader {
  /// Makes a reader of arguments of these types; PostgreSQL's allocations go below the context,
  /// which outlives it.
  using Make = std::unique_ptr<R> (*)(MemoryContext, const Oid *types);
  FamilyReader(const char *family, Make make) : family(family), make(make), next(last) {
    last = this;
  }
  /// nullptr for a family that has none
  static const FamilyReader *of(const std::string &family) {
    const FamilyReader *entry = last;
    while (entry && family != entry->family) entry = entry->next;
    return entry;
  }

  const char *family;
  Make make;
  /// the entry that registered before
  const FamilyReader *next;
  /// zero before the entries, which are initialized when the module is loaded
  inline static const FamilyReader *last = nullptr;
};

template <class R, class T>
std::unique_ptr<R> make_reader(MemoryContext context, const Oid *types) {
  return std::make_unique<T>(context, types);
}

/// The readers of a call site: one for each family that has come.
template <class R> class FamilyReaders {
 public:
  FamilyReaders(MemoryContext context, std::vector<Oid> types)
      : context_(context),
        types_(std::move(types)) {}
  /// The reader of this family, valid as long as this object; nullptr if it has none.
  R *of(const std::string &family) {
    const FamilyReader<R> *const entry = FamilyReader<R>::of(family);
    return entry ? &of(*entry) : nullptr;
  }
  R &of(const FamilyReader<R> &entry) {
    for (const auto &[known, reader] : made_)
      if (known == &entry) return *reader;
    return *made_.emplace_back(&entry, entry.make(context_, types_.data())).second;
  }

 private:
  MemoryContext context_;
  std::vector<Oid> types_;
  std::vector<std::pair<const FamilyReader<R> *, std::unique_ptr<R>>> made_;
};

}  // namespace bayes::pg
