// Rows of one table of numbers in several parts, each an array.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/remote_rows.hpp"
#include "pg/input/triple_collector.hpp"
#include "pg/parts/rows.hpp"

namespace bayes::pg {

struct TableInParts {
  static constexpr const char *name = "table";

  struct Keep {
    std::string family;
    /// how numbers are read
    FactorTableOptions options;
    /// About one row in this many is held out.
    std::optional<int> hold_out;
    template <class F> void fields(F &f) {
      f.text("family", family);
      f.integer("repeated", options.repeated, 0, int(FactorTableOptions::Repeated::last));
      f.flag("non_negative", options.non_negative);
      f.flag("missing", options.missing);
      f.number("bytes_of_key", options.bytes_of_key);
      every_field(f, hold_out);
    }
  };

  struct Head {
    std::int64_t rows = 0, columns = 0, skipped = 0, seen = 0;
    /// the counts of HoldOut, of rows with keys
    std::optional<std::vector<double>> hashes;
    template <class F> void fields(F &f) {
      f.integer("rows", rows, 0, factor_max_keys);
      f.integer("columns", columns, 0, factor_max_keys);
      f.integer("skipped", skipped, 0, most_rows_of_part);
      f.integer("seen", seen, 0, most_rows_of_part);
      counts_field(f, hashes);
    }
  };

  struct Common {
    std::int32_t columns = 1;
    /// if rows are held out
    struct HoldOutOfAll {
      /// HoldOut::bound()
      int bound = 0;
      /// for every part the number of rows in the parts before it, by which rows without keys are
      /// numbered
      std::vector<double> before;
    };
    std::optional<HoldOutOfAll> hold_out;
    template <class F> void fields(F &f) {
      f.integer("columns", columns, 1, factor_max_keys);
      f.optional("hold_out", hold_out, [&](HoldOutOfAll &of_all) {
        bound_field(f, of_all.bound);
        f.numbers("before", of_all.before);
      });
    }
  };

  /// The rows that are fitted, or those that are held out.
  struct SomeRows {
    CorpusTotals totals;
    /// PackedTexts of the keys; no texts if rows have no keys
    Document keys;
  };
  struct Facts {
    SomeRows fitted;
    std::optional<SomeRows> held_out;
    template <class F> void fields(F &f) {
      totals_fields(f, fitted.totals);
      f.document("keys", fitted.keys);
      f.optional("held_out", held_out, [&](SomeRows &apart) {
        f.object("held_out", [&](auto &inner) { totals_fields(inner, apart.totals); });
        f.document("held_out_keys", apart.keys);
      });
    }
  };

  class Part {
   public:
    Part(MemoryContext context, const KeptPart &which, Keep keep, std::span<const Oid> types);
    void take(const NullableDatum *values) { collector_.add({values, nullptr}); }
    Head head();
    Facts arrange(Common common, Control &control);
    std::uint64_t hash(Control &control) { return collector_.hash(control); }
    PartOfDocuments &data() { return *part_; }

   private:
    static ItemForm form_of(std::span<const Oid> types);
    const std::size_t number_;
    TripleCollector collector_;
    std::optional<PartOfDocuments> part_;
  };
};

class PushedTable final : public PushedItems<TableInParts, TripleCollector> {
 public:
  /// `make` returns the number of columns of the query.
  using PushedItems::PushedItems;
  std::vector<int> begin(TupleDesc columns, std::string &reason) override;
  void rows_of_parts(const std::vector<std::int64_t> &rows) override { rows_ = rows; }
  void take(PushedRows &rows) override;

 private:
  /// A part that has rows.
  struct PartOfTable {
    /// its name for messages
    std::string place;
    std::int64_t rows;
    CorpusTotals totals = {}, held_out = {};
    PackedTexts keys = {}, held_out_keys = {};
  };
  /// The key of a row.
  struct KeyOfPart {
    std::string_view text;
    std::uint32_t part;
    std::int32_t document;
  };
  /// The keys of all rows that are fitted, in the order of their documents, with their numbers.
  struct Keys {
    std::vector<std::string> of_rows;
    std::vector<std::int32_t> of_document;
  };

  TableInParts::Keep request_to_keep() override;
  void hear_head(TableInParts::Head head, const std::string &place) override;
  TableInParts::Common common() override;
  void hear_facts(TableInParts::Facts facts) override;

  /// Throws Error(too_large) if keys, the model and the fit take more memory than there is.
  void check_keys(std::int64_t rows);
  Keys numbered_keys() const;
  Keys named_keys(std::int64_t documents) const;
  bool named() const { return collector().rows_.named(); }
  /// number of columns of the table that the parts make
  std::int32_t columns() const { return std::int32_t(std::max<std::int64_t>(1, length_.value())); }

  CommonLength length_;
  /// of all parts
  std::vector<std::int64_t> rows_;
  /// those with rows
  std::vector<PartOfTable> parts_;
  std::size_t settled_ = 0;
  double key_bytes_ = 0;
};

}  // namespace bayes::pg
