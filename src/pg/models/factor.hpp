// Factorizations of tables in SQL: code shared by nmf and pmf.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus.hpp"
#include "pg/bind/binding.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/bind/score.hpp"
#include "pg/input/triple_collector.hpp"
#include "pg/values/model_value.hpp"

namespace bayes::pg {

/// Reads the table of a function F(query bayes_query, ...) into `data`, which is allocated below
/// `context`; `begin` is called before the query runs. `push`: for a function that has option
/// push_down; else null. `weights`: cells may have weights.
void collect_table(FunctionCallInfo fcinfo, MemoryContext context,
                   std::optional<FitData<TripleCollector>> &data,
                   const std::function<void(FitData<TripleCollector> &table)> &begin,
                   const PushedFit *push = nullptr, bool weights = false);

/// Fits the table of a function F(query bayes_query, roles...), as fit_model does. `pushed`:
/// methods that can be computed where the rows are; if there are none, the function has no option
/// push_down, and cells may have weights.
std::unique_ptr<Model> fit_table(FunctionCallInfo fcinfo, const Binding<TripleCollector> &binding,
                                 std::span<const Role> roles, std::string *bytes,
                                 const PushedMethods &pushed = {});

/// The side that an argument names, "row" or "column".
Side side_argument(FunctionCallInfo fcinfo, int argument);

/// How to read the cells of a new row or column (a line), one that was not part of the fit.
struct CellReading {
  /// the side of the keys that the cells are given by: columns for a new row
  Side keys;
  bool non_negative;
  /// A zero is an observed number; otherwise it is dropped like an absent cell.
  bool keep_zeros;
};

/// State kept between calls of a function of a model and keys or cells.
class FactorCallSite {
 public:
  FactorCallSite(MemoryContext context, const char *family)
      : models(family),
        context_(context),
        types_{ElementType(context), ElementType(context)} {}
  ModelCache models;

  /// The key in an argument, UTF-8, valid until the next call with this argument. `index`, 0 or 1,
  /// selects the converter: two keys of a call may have different types. nullopt for a NaN.
  std::optional<std::string_view> key(FunctionCallInfo fcinfo, int argument, int index);

  /// The cells of a new line: codes of the keys of the other side, increasing, and numbers; valid
  /// until the next call. `argument` is a jsonb object of keys and numbers, or an array of numbers,
  /// whose elements have the keys '1', '2', ... NULLs are left out. `keys`: those of the model;
  /// code(key) returns -1 for a key that the model does not know. Unknown keys are ignored, with a
  /// WARNING, once, if no key of the cells is known. Throws Error for a number that is not allowed,
  /// and names its key.
  DocumentTerms cells(FunctionCallInfo fcinfo, int argument, const CellReading &how,
                      const std::vector<std::string> &keys,
                      const std::function<std::int32_t(std::string_view key)> &code);

 private:
  void read_object(Datum cells, const CellReading &how,
                   const std::function<std::int32_t(std::string_view key)> &code);
  void read_row(Datum cells, Oid type, const CellReading &how, std::size_t keys,
                const std::function<std::int32_t(std::string_view key)> &code);
  static void check_length(std::size_t length, std::size_t keys, const CellReading &how);
  void add_numbers(const std::uint8_t *nulls, const CellReading &how,
                   const std::function<std::int32_t(std::string_view key)> &code);

  MemoryContext context_;
  /// the type of the last row that was no object, and how its values are read
  Oid row_type_ = InvalidOid;
  bool sparse_ = false;
  ArrayCast make_array_;
  ElementType types_[2];
  bool warned_ = false;
  /// code and number
  std::vector<std::pair<std::int32_t, double>> entries_;
  /// the first key that the model does not know
  std::string unknown_;
  /// whether any of the keys is unknown, and whether any is known
  bool any_unknown_ = false, any_known_ = false;
  std::vector<std::int32_t> codes_;
  std::vector<double> numbers_;
};

/// Throws Error: a cell cannot have this number.
[[noreturn]] void refuse_number(double number, bool non_negative);

/// Scores the numbers of cells, given by the keys of row and column, under models of a class with
/// codes of keys and score(row, column, number). Throws Error for a number that is not finite, or,
/// if `non_negative`, negative.
template <class M, bool non_negative> class CellScorer final : public RowScorer {
 public:
  CellScorer(MemoryContext context, const Oid *types) : rows_(context), columns_(context) {
    rows_.use(types[0]);
    columns_.use(types[1]);
  }
  std::optional<Score> score(const std::shared_ptr<const Model> &shared,
                             const NullableDatum *row) override {
    const auto &model = static_cast<const M &>(*shared);
    const double number = DatumGetFloat8(row[2].value);
    if (!std::isfinite(number) || (non_negative && number < 0)) refuse_number(number, non_negative);
    const auto code = [&model](Side side, ElementType &type, Datum value) {
      const auto key = type.text(value);
      return key ? model.code(side, *key) : std::int32_t(-1);
    };
    return model.score(code(Side::row, rows_, row[0].value),
                       code(Side::column, columns_, row[1].value), number);
  }

 private:
  ElementType rows_, columns_;
};

}  // namespace bayes::pg
