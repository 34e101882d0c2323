// Rows as sets of named features: jsonb objects, and tsvectors, whose lexemes are counted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "document/row_columns.hpp"
#include "pg/input/document_reader.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// A feature that a row names; texts are UTF-8, valid during the call.
struct NamedFeature {
  /// at least one byte
  std::string_view name;
  /// none: it is null
  std::optional<ValueKind> kind;
  /// of a number, or a boolean
  double number = 0;
  /// of a label
  std::string_view label = {};
};

/// Reads rows of one type.
class FeatureReader {
 public:
  using Take = std::function<void(const NamedFeature &)>;

  /// Has this type named features? Domains: ask for the base type.
  static bool reads(Oid base) { return base == JSONBOID || base == TSVECTOROID; }

  /// Throws for a type that could be meant to have them, but does not: an array of texts.
  static void require_type(Oid base);

  explicit FeatureReader(Oid type);

  /// The features of a row that is not NULL, each once. Throws Error(invalid_argument), naming row
  /// (from 1; 0: the only one) and key, for a row that is no object, and for values that are
  /// objects or arrays, or numbers beyond 1e150.
  void read(Datum row, std::int64_t number, const Take &take);

 private:
  void read_object(Datum row, std::int64_t number, const Take &take);
  bool object_;
  std::optional<DocumentReader> lexemes_;
  std::string key_, label_;
};

/// "feature "x" of row 3"
std::string name_of_feature(std::string_view name, std::int64_t row);

}  // namespace bayes::pg
