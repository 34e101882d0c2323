// Sequences of one fit in several parts.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pg/input/sequence_collector.hpp"
#include "pg/parts/kind.hpp"

namespace bayes::pg {

/// Is this type, or the base type of this domain, an array of records?
bool is_array_of_records(Oid type);

struct SequencesInParts {
  static constexpr const char *name = "sequences";

  /// The request of the fit: options are checked once the first sequence shows of what kind
  /// sequences are.
  struct Keep {
    std::string family;
    int k = 0;
    std::vector<int> ks;
    Document options;
    std::optional<Document> start;
    template <class F> void fields(F &f) {
      constexpr int any = std::numeric_limits<int>::max();
      f.text("family", family);
      f.integer("k", k, 0, any);
      f.integers("ks", ks, 0, any);
      f.document("options", options);
      f.optional("start", start, [&](Document &model) { f.document("start", model); });
    }
  };

  struct Head {
    /// numbers of sequences
    std::int64_t rows = 0, skipped = 0, seen = 0;
    // if there are any:
    SequenceElements elements = {};
    bool vectors = false;
    int dimension = 0;
    std::int64_t steps = 0, longest = 0;
    double unobserved = 0;
    std::vector<std::string> symbols = {};
    template <class F> void fields(F &f) {
      f.integer("rows", rows, 0, most_rows_of_part);
      f.integer("skipped", skipped, 0, most_rows_of_part);
      f.integer("seen", seen, 0, most_rows_of_part);
      if (rows == 0) return;
      f.integer("elements", elements, 0, int(SequenceElements::booleans));
      f.flag("vectors", vectors);
      f.integer("dimension", dimension, 1, hmm_max_dimension);
      f.integer("steps", steps, rows, most_rows_of_part);
      f.integer("longest", longest, 1, most_rows_of_part);
      f.number("unobserved", unobserved);
      f.texts("symbols", symbols);
    }
  };

  struct Common {
    /// in the order of their codes
    std::vector<std::string> symbols;
    template <class F> void fields(F &f) { f.texts("symbols", symbols); }
  };

  struct Facts {
    template <class F> void fields(F &) {}
  };

  class Part {
   public:
    Part(MemoryContext context, const KeptPart &which, Keep keep, std::span<const Oid> types);
    void take(const NullableDatum *values) { collector_.add({values, nullptr}); }
    Head head();
    /// Gives symbols the codes that they have in all parts.
    Facts arrange(Common common, Control &control);
    std::uint64_t hash(Control &control) { return collector_.hash(control); }
    PartOfSequences &data() { return part_; }

   private:
    static ItemForm form_of(std::span<const Oid> types);
    FitRequest request_;
    SequenceCollector collector_;
    PartOfSequences part_;
  };
};

class PushedSequences final : public PushedItems<SequencesInParts, SequenceCollector> {
 public:
  using PushedItems::PushedItems;
  void take(PushedRows &rows) override;

 private:
  SequencesInParts::Keep request_to_keep() override;
  void hear_head(SequencesInParts::Head head, const std::string &place) override;
  SequencesInParts::Common common() override;

  /// of all parts
  std::set<std::string> symbols_;
};

}  // namespace bayes::pg
