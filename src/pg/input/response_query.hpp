// Rows of a query that have a response (or class label) and predictors.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "document/model.hpp"
#include "pg/input/query.hpp"

namespace bayes::pg {

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
