// Rows of a response and predictors that a session keeps, or whose sums it makes: how they arrive.
#pragma once

#include <optional>
#include <vector>

#include "pg/input/kept_rows.hpp"
#include "pg/input/response_layout.hpp"

namespace bayes::pg {

/// The arguments that hold a row: the response, the predictors (columns, or one row), and the
/// weight, if the request says that there are weights.
class ResponseArguments {
 public:
  /// Lives in `context`. Throws Error(invalid_binary) for a request that does not fit the
  /// arguments.
  ResponseArguments(MemoryContext context, const KeepRequest &how);
  /// of two arguments
  const ItemForm &form() const { return form_; }
  /// base type of the response
  Oid response() const { return response_; }
  /// Valid until the memory context is reset.
  Item item(const NullableDatum *values);

 private:
  ItemForm form_;
  Oid response_ = InvalidOid, weight_type_ = InvalidOid;
  /// number of arguments of the predictors
  std::size_t columns_ = 0;
  std::optional<PredictorRecord> record_;
  std::vector<NullableDatum> fields_;
  NullableDatum values_[2] = {}, weight_ = {};
};

}  // namespace bayes::pg
