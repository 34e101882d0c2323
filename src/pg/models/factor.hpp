// Factorizations of tables in SQL: what nmf and pmf have in common.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus.hpp"
#include "pg/bind/binding.hpp"
#include "pg/input/triple_collector.hpp"
#include "pg/values/model_value.hpp"

namespace bayes::pg {

/// Reads the table of a function F(query bayes_query, ...) into `data`, which is made below
/// `context`; `begin` is called before the query runs.
void collect_table(FunctionCallInfo fcinfo, MemoryContext context,
                   std::optional<TripleCollector> &data,
                   const std::function<void(TripleCollector &table)> &begin);

/// Fits the table of a function F(query bayes_query, roles...), as fit_model does.
std::unique_ptr<Model> fit_table(FunctionCallInfo fcinfo, const Binding<TripleCollector> &binding,
                                 std::span<const Role> roles, std::string *bytes);

/// The side that an argument names, "row" or "column".
Side side_argument(FunctionCallInfo fcinfo, int argument);

/// What the cells of a line that was not fitted may be.
struct CellReading {
  /// of the keys of its cells
  Side keys;
  bool non_negative;
  /// A zero is a number, and not an absent cell.
  bool keep_zeros;
};

/// Data that live from call to call of a function of a model and keys or cells.
class FactorCallSite {
 public:
  FactorCallSite(MemoryContext context, const char *family)
      : models(family),
        types_{ElementType(context), ElementType(context)} {}
  ModelCache models;

  /// The key in an argument, UTF-8, valid until the next call with this argument; `index` 0 or 1
  /// tells keys of different types apart. None for a NaN.
  std::optional<std::string_view> key(FunctionCallInfo fcinfo, int argument, int index);

  /// Cells of a line that was not fitted: the keys of the other side, and numbers. `argument`:
  /// jsonb, an object of such keys and numbers, or a float8[], whose elements have the keys '1',
  /// '2', ... NULLs are left out. Keys that the model does not know are no evidence; a WARNING,
  /// once, for cells none of whose keys it knows. Throws Error naming the key of a number that
  /// cannot be.
  DocumentTerms cells(FunctionCallInfo fcinfo, int argument, const CellReading &how,
                      const std::vector<std::string> &keys,
                      const std::function<std::int32_t(std::string_view key)> &code);

 private:
  void read_object(Datum cells, const CellReading &how,
                   const std::function<std::int32_t(std::string_view key)> &code);
  void read_array(Datum cells, const CellReading &how, std::size_t keys,
                  const std::function<std::int32_t(std::string_view key)> &code);

  ElementType types_[2];
  bool warned_ = false;
  /// code and number
  std::vector<std::pair<std::int32_t, double>> entries_;
  /// the first key that the model does not know; it knows one of them
  std::string unknown_;
  bool any_unknown_ = false, any_known_ = false;
  std::vector<std::int32_t> codes_;
  std::vector<double> numbers_;
};

}  // namespace bayes::pg
