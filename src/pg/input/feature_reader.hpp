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

/// A named feature of a row; texts are UTF-8, valid during the call.
struct NamedFeature {
  /// at least one byte
  std::string_view name;
  /// nullopt: the value is null
  std::optional<ValueKind> kind;
  /// value of a number or boolean
  double number = 0;
  /// text of a label
  std::string_view label = {};
};

/// Reads rows of one type.
class FeatureReader {
 public:
  using Take = std::function<void(const NamedFeature &)>;

  /// Is this a type of rows with named features? For a domain, pass its base type.
  static bool reads(Oid base) { return base == JSONBOID || base == TSVECTOROID; }

  /// Throws Error for an array of texts, which users may take for named features.
  static void require_type(Oid base);

  explicit FeatureReader(Oid type);

  /// The features of a row that is not NULL, each once. Throws Error(invalid_argument), naming row
  /// (from 1; 0: the only one) and key, for a row that is not an object, and for values that are
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
