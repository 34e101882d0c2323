// Which columns of a query are the response, the predictors and the weight.
#pragma once

#include <memory>
#include <vector>

#include "pg/input/query.hpp"

namespace bayes::pg {

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

}  // namespace bayes::pg
