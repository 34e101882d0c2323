// Rows of a query that have a response (or class label) and predictors.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/model.hpp"
#include "document/row_columns.hpp"
#include "pg/input/document_reader.hpp"
#include "pg/input/query.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

// Rows as sets of named features: jsonb objects, and tsvectors, whose lexemes are counted.

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

/// Which columns of such a query are the response, the predictors and the weight.
struct ResponseLayout {
  /// `objects`: whether a feature object or a tsvector counts as a row. Throws Error for columns
  /// that rows cannot have; `hint`: what the query should look like.
  ResponseLayout(TupleDesc columns, const QueryColumns &given, bool objects, const char *hint);

  /// of two arguments, the response and the row; RECORDOID stands for several columns
  ItemForm form;
  /// the response, and the columns or the row that follow, from 0
  std::vector<int> columns;
  /// the predictors are one row
  bool whole = false;
  int weight = -1;
  Oid weight_type = InvalidOid;
};

/// Makes a record of the columns of predictors, one row at a time.
class PredictorRecord {
 public:
  /// `made`: of the predictors; kept.
  explicit PredictorRecord(TupleDesc made);
  /// Valid until the memory context is reset.
  Datum of(const std::vector<NullableDatum> &fields);

 private:
  const TupleDesc description_;
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
};

/// Runs `text` as run_query does. Apart from the columns that `given` names, the first column is
/// the response; the others are one array or record, or (if `objects`) one jsonb or tsvector, or
/// several columns, which become a record. `begin` receives the form of the items before the query
/// runs; `take` receives every item (response, row), with the weight that option weight names.
/// `hint` says what the query should look like.
void read_responses(const char *text, const char *hint, const QueryColumns &given, bool objects,
                    const std::function<void(const ItemForm &form)> &begin,
                    const std::function<void(const Item &item)> &take);

/// NOTICE if rows of the query were left out of the fit.
void note_rows_left_out(const Model &model);

}  // namespace bayes::pg
