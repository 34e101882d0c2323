// Readers of rows for the models of one call site: columns are matched by the names in each model.
#pragma once

#include <memory>
#include <unordered_map>

#include "pg/input/row_reader.hpp"

namespace bayes::pg {

/// Treatment of columns that records lack.
enum class AbsentColumns : char {
  /// an error
  refused,
  /// as NULL, if the model takes NULL as a missing value (option missing of its fit)
  as_missing,
  /// as NULL
  as_null
};

/// Records need a reader for each model; arrays and single values share one.
class ModelReaders {
 public:
  /// `type`: of the rows. PostgreSQL's allocations go below `context`, which must outlive this.
  ModelReaders(MemoryContext context, Oid type,
               std::function<std::string(std::int64_t number)> name_row = {},
               AbsentColumns absent = AbsentColumns::refused, bool report_unknown = false)
      : context_(context),
        type_(type),
        absent_(absent),
        report_unknown_(report_unknown),
        name_row_(std::move(name_row)),
        plain_(context, type) {}

  /// Valid until the next call.
  RowReader &of(const std::shared_ptr<const Model> &model) {
    if (!plain_.records()) return plain_;
    if (last_ && model == last_->model) return *last_->reader;
    auto found = readers_.find(model.get());
    if (found == readers_.end()) {
      if (readers_.size() >= max_readers) forget();
      if (!readers_context_)
        readers_context_ = guarded([this] {
          return AllocSetContextCreate(context_, "pg_bayes rows of models", ALLOCSET_SMALL_SIZES);
        });
      auto reader = std::make_unique<RowReader>(readers_context_, type_);
      reader->expect(model->info);
      reader->name_rows(name_row_);
      if (absent_ == AbsentColumns::as_null ||
          (absent_ == AbsentColumns::as_missing && missing_option(model->info) == "marginalize"))
        reader->allow_absent(0);
      if (report_unknown_) reader->report_unknown();
      found = readers_.emplace(model.get(), Entry{model, std::move(reader)}).first;
    }
    last_ = &found->second;
    return *last_->reader;
  }

 private:
  static constexpr std::size_t max_readers = 64;
  struct Entry {
    /// keeps the model alive, so that no other model gets its address
    std::shared_ptr<const Model> model;
    std::unique_ptr<RowReader> reader;
  };
  void forget() {
    readers_.clear();
    last_ = nullptr;
    MemoryContextReset(readers_context_);
  }

  MemoryContext context_, readers_context_ = nullptr;
  Oid type_;
  AbsentColumns absent_;
  bool report_unknown_;
  const std::function<std::string(std::int64_t number)> name_row_;
  RowReader plain_;
  std::unordered_map<const Model *, Entry> readers_;
  const Entry *last_ = nullptr;
};

}  // namespace bayes::pg
