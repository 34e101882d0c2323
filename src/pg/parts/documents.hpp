// Documents of one fit in several parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pg/input/document_collector.hpp"
#include "pg/parts/kind.hpp"

namespace bayes::pg {

struct DocumentsInParts {
  static constexpr const char *name = "documents";

  struct Keep {
    std::string family;
    /// Counts must be whole numbers.
    bool whole = false;
    /// the terms that are to be read; empty: all
    std::vector<std::string> terms;
    /// About one document in this many is held out.
    std::optional<int> hold_out;
    template <class F> void fields(F &f) {
      f.text("family", family);
      f.flag("whole", whole);
      f.texts("terms", terms);
      every_field(f, hold_out);
    }
  };

  struct Head {
    /// numbers of documents
    std::int64_t rows = 0, skipped = 0, seen = 0, truncated = 0;
    /// the terms, and the number of documents with each
    std::vector<std::string> terms = {};
    std::vector<double> documents = {};
    /// the counts of HoldOut
    std::optional<std::vector<double>> hashes = {};
    template <class F> void fields(F &f) {
      f.integer("rows", rows, 0, most_rows_of_part);
      f.integer("skipped", skipped, 0, most_rows_of_part);
      f.integer("seen", seen, 0, most_rows_of_part);
      f.integer("truncated", truncated, 0, most_rows_of_part);
      f.texts("terms", terms);
      f.numbers("documents", documents, terms.size());
      counts_field(f, hashes);
    }
  };

  struct Common {
    /// the vocabulary, in the order of the bytes of its terms
    std::vector<std::string> terms;
    /// HoldOut::bound()
    std::optional<int> hold_out;
    template <class F> void fields(F &f) {
      f.texts("terms", terms);
      f.optional("hold_out", hold_out, [&](int &bound) { bound_field(f, bound); });
    }
  };

  struct Facts {
    CorpusTotals totals;
    struct HeldOut {
      CorpusTotals totals;
      /// for every term, whether a document that is fitted has it
      std::string in_fit;
    };
    std::optional<HeldOut> held_out;
    template <class F> void fields(F &f) {
      totals_fields(f, totals);
      f.optional("held_out", held_out, [&](HeldOut &apart) {
        f.object("held_out", [&](auto &inner) { totals_fields(inner, apart.totals); });
        f.bytes("in_fit", apart.in_fit);
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
    DocumentCollector collector_;
    std::optional<PartOfDocuments> part_;
  };
};

class PushedDocuments final : public PushedItems<DocumentsInParts, DocumentCollector> {
 public:
  using PushedItems::PushedItems;
  void take(PushedRows &rows) override;

 private:
  DocumentsInParts::Keep request_to_keep() override;
  void hear_head(DocumentsInParts::Head head, const std::string &place) override;
  DocumentsInParts::Common common() override;
  void hear_facts(DocumentsInParts::Facts facts) override;

  CorpusTotals totals_, held_out_;
  /// for every term, whether a document that is fitted has it
  std::vector<char> in_fit_;
  /// number of documents in each part that has some, and number of these parts that are settled
  std::vector<std::int64_t> rows_;
  std::size_t settled_ = 0;
};

}  // namespace bayes::pg
