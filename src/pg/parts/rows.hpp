// Rows of numbers and labels of one fit in several parts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pg/input/query.hpp"
#include "pg/input/row_collector.hpp"
#include "pg/parts/kind.hpp"

namespace bayes::pg {

/// The number of elements that rows of all parts have.
class CommonLength {
 public:
  /// Throws Error(array_shape) if the rows of this part, which `place` names, differ in length from
  /// the rows of earlier parts.
  void hear(std::int64_t length, const std::string &place);
  /// 0 before any part with rows
  std::int64_t value() const { return length_.value_or(0); }
  bool known() const { return length_.has_value(); }

 private:
  std::optional<std::int64_t> length_;
};

/// The columns that the rows of all parts have in common, with the labels of all parts in the order
/// of their codes.
struct CommonColumns {
  std::optional<RowColumns> columns;
  /// the labels of a response that has some
  std::optional<std::vector<std::string>> levels = {};
  template <class F> void fields(F &f) {
    f.optional("columns", columns, [&](RowColumns &all) { f.columns("columns", all); });
    f.optional("levels", levels, [&](std::vector<std::string> &all) { f.texts("levels", all); });
  }
};

/// Rows of several parts, as the rows of a collector.
class RowsOfParts final : public RemoteRows {
 public:
  /// `names`: of the columns, quoted; empty if rows are arrays
  RowsOfParts(PushedRows &rows, RowShape shape, std::vector<std::string> names)
      : pushed_(rows),
        names_(std::move(names)) {
    shape_ = shape;
    rows_ = rows.rows();
    skipped_ = rows.skipped();
  }
  std::vector<Document> ask(const Document &request) override { return pushed_.ask(request); }
  const std::vector<std::int64_t> &rows_of_parts() const override {
    return pushed_.rows_of_parts();
  }
  std::string name_of_element(int element) const override;

 private:
  PushedRows &pushed_;
  const std::vector<std::string> names_;
};

struct RowsInParts {
  static constexpr const char *name = "rows";

  struct Keep {
    std::string family;
    /// their names; empty if a row is one array or number
    std::vector<std::string> columns;
    /// The last argument is the weight.
    bool weighted = false;
    RowPolicy policy = {};
    template <class F> void fields(F &f) {
      f.text("family", family);
      f.texts("columns", columns);
      f.flag("weighted", weighted);
      f.integer("missing", policy.missing, 0, int(Missing::keep));
      f.integer("max_dimension", policy.max_dimension, 0, 1 << 30);
    }
  };

  using Head = PackedHead;
  using Common = CommonColumns;

  /// For rows with columns.
  struct Facts {
    std::optional<ColumnFacts> columns;
    std::optional<NumberFacts> numbers;
    template <class F> void fields(F &f) {
      if (columns) f.object("facts", *columns);
      if (numbers) f.object("numbers", *numbers);
    }
  };

  class Part {
   public:
    Part(MemoryContext context, const KeptPart &which, Keep keep, std::span<const Oid> types);
    void take(const NullableDatum *values);
    Head head();
    /// Labels get the codes that they have in all parts.
    Facts arrange(Common common, Control &control);
    std::uint64_t hash(Control &control);
    PartOfRows &data() { return part_; }

   private:
    static ItemForm form_of(const Keep &keep, std::span<const Oid> types);
    RowCollector collector_;
    PartOfRows part_;
    /// arguments that hold a row: its columns, or one array
    std::size_t columns_;
    /// base type of the weight, the argument after these; invalid: rows have no weights
    Oid weight_type_ = InvalidOid;
  };
};

class PushedCollectedRows final : public PushedCollector<RowsInParts, RowCollector> {
 public:
  /// `data` is made below `context`. Both, and the request, must outlive this.
  PushedCollectedRows(MemoryContext context, std::optional<FitData<RowCollector>> &data,
                      FitRequest &request, const QueryColumns &given,
                      const RowCollector::Check &check)
      : PushedCollector(data),
        context_(context),
        request_(request),
        given_(given),
        check_(check) {}

  void records(std::span<const RecordColumn> records) override;
  std::vector<int> begin(TupleDesc columns, std::string &reason) override;
  void undo() override;
  void take(PushedRows &rows) override;

 private:
  RowsInParts::Keep request_to_keep() override;
  void hear_head(PackedHead head, const std::string &place) override;
  CommonColumns common() override;
  RowsInParts::Facts no_facts() const override;
  void hear_facts(RowsInParts::Facts facts) override;
  /// Has stochastic methods draw minibatches by content on other servers. Returns the reason if
  /// they cannot.
  std::string choose_minibatches();

  const MemoryContext context_;
  FitRequest &request_;
  const QueryColumns &given_;
  const RowCollector::Check &check_;
  /// the options as they were given, before begin() adapted them to the columns
  Document options_;
  std::vector<RecordColumn> records_;
  /// a row is one array or number
  bool whole_ = false;
  RowShape shape_;
  CommonLength length_;
  std::vector<std::string> names_;
  RowsInParts::Facts facts_;
};

}  // namespace bayes::pg
