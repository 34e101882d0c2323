// C++ objects for what PostgreSQL keeps: memory contexts and objects that live exactly as long,
// detoasted values, transactions that must not write.
#pragma once

#include <memory_resource>
#include <utility>

#include "pg/server/boundary.hpp"
#include "pg/server/postgres.hpp"

namespace bayes::pg {

/// A memory context that lasts as long as a C++ scope.
class ScopedContext {
 public:
  ScopedContext(MemoryContext parent, const char *name)
      : context_(guarded([parent, name] {
          return AllocSetContextCreateInternal(parent, name, ALLOCSET_DEFAULT_SIZES);
        })) {}
  ~ScopedContext() { MemoryContextDelete(context_); }
  ScopedContext(const ScopedContext &) = delete;
  ScopedContext &operator=(const ScopedContext &) = delete;
  operator MemoryContext() const { return context_; }

 private:
  MemoryContext context_;
};

/// Makes a memory context the current one for as long as a C++ scope.
class CurrentContext {
 public:
  explicit CurrentContext(MemoryContext context) : before_(MemoryContextSwitchTo(context)) {}
  ~CurrentContext() { MemoryContextSwitchTo(before_); }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

 private:
  MemoryContext before_;
};

/// Makes a T(context, args...) in a context of its own below `parent`. The T is destroyed with that
/// context, also after an error or cancel, so nothing can leak.
template <class T, class... A> T *make_in(MemoryContext parent, const char *name, A &&...args) {
  struct Owner {
    MemoryContextCallback callback;
    T *object;
  };
  Owner *const owner = guarded([parent, name] {
    const MemoryContext context = AllocSetContextCreateInternal(parent, name, ALLOCSET_SMALL_SIZES);
    return static_cast<Owner *>(MemoryContextAllocZero(context, sizeof(Owner)));
  });
  owner->callback.func = [](void *arg) { delete static_cast<Owner *>(arg)->object; };
  owner->callback.arg = owner;
  const MemoryContext context = GetMemoryChunkContext(owner);
  MemoryContextRegisterResetCallback(context, &owner->callback);
  owner->object = new T(context, std::forward<A>(args)...);
  return owner->object;
}

/// Lets containers of the standard library allocate in a memory context, so that PostgreSQL
/// accounts for their memory.
class ContextMemory final : public std::pmr::memory_resource {
 public:
  explicit ContextMemory(MemoryContext context) : context_(context) {}
  MemoryContext context() const { return context_; }

 private:
  void *do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (alignment > MAXIMUM_ALIGNOF)
      throw Error(Errc::internal, "memory with an alignment wider than MAXALIGN");
    return guarded([this, bytes] { return MemoryContextAllocHuge(context_, bytes); });
  }
  void do_deallocate(void *memory, std::size_t, std::size_t) override { pfree(memory); }
  bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override {
    return this == &other;
  }
  MemoryContext context_;
};

/// The T of a call site (one function call in a query plan): made at the first call, and kept for
/// all later calls.
template <class T, class... A> T &call_site(FunctionCallInfo fcinfo, A &&...args) {
  FmgrInfo &function = *fcinfo->flinfo;
  if (!function.fn_extra)
    function.fn_extra =
        make_in<T>(function.fn_mcxt, "pg_bayes call site", std::forward<A>(args)...);
  return *static_cast<T *>(function.fn_extra);
}

// Detoasted varlena values: decompressed, and fetched if they are stored out of line.

/// A detoasted value, freed on destruction if it is a copy.
class Detoasted {
 public:
  explicit Detoasted(Datum value) : original_(DatumGetPointer(value)) {
    plain_ = guarded([value] { return PG_DETOAST_DATUM(value); });
  }
  ~Detoasted() {
    if (plain_ != original_) pfree(plain_);
  }
  Detoasted(const Detoasted &) = delete;
  Detoasted &operator=(const Detoasted &) = delete;
  struct varlena *get() const {
    return plain_;
  }

 private:
  const void *original_;
  struct varlena *plain_;
};

// Code of users that must not write.

/// While this lives the transaction is read-only: functions that a statement calls can change
/// nothing but temporary tables.
class ReadOnly {
 public:
  ReadOnly() { XactReadOnly = true; }
  ~ReadOnly() { XactReadOnly = before_; }
  ReadOnly(const ReadOnly &) = delete;
  ReadOnly &operator=(const ReadOnly &) = delete;

 private:
  const bool before_ = XactReadOnly;
};

}  // namespace bayes::pg
