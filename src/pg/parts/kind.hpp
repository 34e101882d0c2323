// A kind of data whose rows are in several parts: what its servers tell each other, described once
// for both sides.
//
// A kind is a struct K of messages with fields() (data/pass.hpp) and of the part that answers:
//
//   static constexpr const char *name   in requests
//   struct Keep                         how rows are to be read
//   struct Head                         a part's description of its rows once it has read them; has
//                                       members rows, the number of items, and skipped
//   struct Common                       what rows of all parts have in common
//   struct Facts                        a part's answer once its rows have Common and are in order
//   class Part                          the rows of one part:
//     Part(MemoryContext context, const KeptPart &which, Keep keep, std::span<const Oid> types)
//                                       `types`: of the arguments that hold a row. Throws
//                                       Error(invalid_binary) for types that no fit sends
//     void take(const NullableDatum *values)
//     Head head()                       called after the last row, and perhaps again
//     Facts arrange(Common common, Control &control)
//     std::uint64_t hash(Control &control)   identifies the rows; called after arrange()
//     auto &data()                      the data of passes; a kind without passes has none
//
// RegisterKind<K> lets this server keep rows of the kind; a class derived from PushedKind<K> is the
// side of the server of the fit.
#pragma once

#include <bit>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/pass.hpp"
#include "models/passes.hpp"
#include "pg/input/collector.hpp"
#include "pg/parts/kept_rows.hpp"
#include "pg/parts/pushed_rows.hpp"

namespace bayes::pg {

/// The rows of one part, kept for the fit of another server.
template <class K> class KeptKind final : public KeptRows {
 public:
  KeptKind(MemoryContext context, const KeptPart &which, const KeepRequest &how)
      : KeptRows(context, which),
        part_(begun(context, which, how)) {}

 private:
  using Part = typename K::Part;

  static Part begun(MemoryContext context, const KeptPart &which, const KeepRequest &how) {
    const CurrentContext current(context);
    return Part(context, which, read_message<typename K::Keep>(how.request), how.types);
  }
  void read(const NullableDatum *values) override { part_.take(values); }
  Document described() override { return message_of(part_.head()); }
  Document arranged(const Document &request, Control &control) override {
    Document out = message_of(part_.arrange(read_message<typename K::Common>(request), control));
    return out.set("hash", std::bit_cast<std::int64_t>(part_.hash(control)));
  }
  Document passed(const Document &request, Control &control) override {
    if constexpr (requires(Part & part) { part.data(); })
      return answer_pass(part_.data(), request, control);
    else
      PassReader::refuse();
  }

  Part part_;
};

/// Lets this server keep rows of kind K; an object of static storage duration.
template <class K> struct RegisterKind {
  RegisterKind() {
    register_kept_rows(
        K::name,
        [](MemoryContext parent, const KeptPart &which, const KeepRequest &how) -> KeptRows * {
          return make_in<KeptKind<K>>(parent, "pg_bayes kept rows", which, how);
        });
  }
};

/// The rows of a fit of kind K on other servers, on the server of the fit.
template <class K> class PushedKind : public PushedData {
 public:
  Document keep() final {
    return message_of(request_to_keep(), pass_request("keep").set("kind", K::name));
  }
  void hear(const Document &part, const std::string &place) final {
    hear_head(read_message<typename K::Head>(part), place);
  }
  Document settle() final { return message_of(common(), pass_request("settle")); }
  void settled(const Document &part) final { hear_facts(read_message(part, no_facts())); }

 private:
  // Called in this order.

  virtual typename K::Keep request_to_keep() = 0;
  /// `place` names the part. Throws Error for rows that do not suit those of other parts.
  virtual void hear_head(typename K::Head head, const std::string &place) = 0;
  virtual typename K::Common common() = 0;
  /// Facts to read an answer into, with the sizes that fields() has to know.
  virtual typename K::Facts no_facts() const { return {}; }
  virtual void hear_facts(typename K::Facts) {}
};

/// The same, for a collector that the function of the query makes in `data`.
template <class K, class Collector> class PushedCollector : public PushedKind<K> {
 public:
  explicit PushedCollector(std::optional<FitData<Collector>> &data) : data_(data) {}
  void undo() override { data_.reset(); }

 protected:
  Collector &collector() const { return **data_; }
  std::optional<FitData<Collector>> &data_;
};

/// Makes the collector of items that are whole columns, and checks the request; returns a number of
/// the query's columns, as the kind says. `reason`: receives why they cannot be pushed down, if so.
using MakeCollector = std::function<int(TupleDesc columns, std::string &reason)>;

/// The same, of items that are whole columns.
template <class K, class Collector> class PushedItems : public PushedCollector<K, Collector> {
 public:
  PushedItems(std::optional<FitData<Collector>> &data, const FitRequest &request,
              MakeCollector make)
      : PushedCollector<K, Collector>(data),
        request_(request),
        make_(std::move(make)) {}
  /// `make` returns the column of the items.
  std::vector<int> begin(TupleDesc columns, std::string &reason) override {
    return {make_(columns, reason)};
  }

 protected:
  const FitRequest &request_;
  const MakeCollector make_;
};

}  // namespace bayes::pg
