// bayes_score(model, row...) and bayes_score_difference(a, b, row...): aggregates over new rows
// that tell how well models predict them. How the arguments of a row are scored is registered by
// each family; families whose models have a log density of rows need not register.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/scores.hpp"
#include "document/model.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

// Families whose models take no rows of columns, or predict a response, register how functions over
// all models read their arguments.

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

/// The readers of a call site: one for each family seen so far.
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

// bayes_log_density(model, x [, given]) of models that take no rows of columns, or that predict a
// response.

/// Log densities of the data of one family, at one call site.
class DensityReader {
 public:
  virtual ~DensityReader() = default;
  /// The log density of x; `given`: nullptr if it is NULL. nullopt if the density does not exist,
  /// or if a value is missing.
  virtual std::optional<double> log_density(const std::shared_ptr<const Model> &model, Datum x,
                                            const Datum *given) = 0;
};

/// How bayes_log_density reads the arguments x and given, whose types are those of `make`.
using DensityFamily = FamilyReader<DensityReader>;

template <class T> constexpr auto make_density = make_reader<DensityReader, T>;

/// Scores the rows of a call site under models of one family.
class RowScorer {
 public:
  virtual ~RowScorer() = default;
  /// The score of a row; `row`: its arguments, none of which is NULL. nullopt if the model cannot
  /// score it, as a value is missing.
  virtual std::optional<Score> score(const std::shared_ptr<const Model> &model,
                                     const NullableDatum *row) = 0;
};

/// How the models of a family are scored.
struct ScoredFamily : FamilyReader<RowScorer> {
  ScoredFamily(const char *family, const char *arguments, int values, ErrorMeasure error,
               bool perplexity, Make make)
      : FamilyReader(family, make),
        arguments(arguments),
        values(values),
        error(error),
        perplexity(perplexity) {}
  /// The entry of a family; if it has none, the entry of models of rows.
  static const ScoredFamily &of(const std::string &family);

  /// the arguments of a row, for messages, and their number
  const char *arguments;
  int values;
  ErrorMeasure error;
  /// models have a perplexity
  bool perplexity;
};

template <class S> constexpr auto make_scorer = make_reader<RowScorer, S>;

}  // namespace bayes::pg
