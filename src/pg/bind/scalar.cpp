#include "pg/bind/scalar.hpp"

#include <unordered_map>

#include "pg/input/row_reader.hpp"
#include "pg/server/context.hpp"

namespace bayes::pg {
namespace {

/// Readers of rows for the models of one call site. Arrays and single values need one for all.
class ReadersOfModels {
 public:
  ReadersOfModels(MemoryContext context, Oid type)
      : context_(context),
        type_(type),
        plain_(context, type) {}

  RowReader &of(const std::shared_ptr<const Model> &model) {
    if (!plain_.records()) return plain_;
    if (last_ && model == last_->model) return *last_->reader;
    auto found = readers_.find(model.get());
    if (found == readers_.end()) {
      if (readers_.size() >= most_readers) forget();
      if (!of_readers_)
        of_readers_ = guarded([this] {
          return AllocSetContextCreate(context_, "pg_bayes rows of models", ALLOCSET_SMALL_SIZES);
        });
      auto reader = std::make_unique<RowReader>(of_readers_, type_);
      reader->expect(model->info);
      found = readers_.emplace(model.get(), Entry{model, std::move(reader)}).first;
    }
    last_ = &found->second;
    return *last_->reader;
  }

 private:
  static constexpr std::size_t most_readers = 64;
  struct Entry {
    /// alive, so that its address is no other's
    std::shared_ptr<const Model> model;
    std::unique_ptr<RowReader> reader;
  };
  void forget() {
    readers_.clear();
    last_ = nullptr;
    MemoryContextReset(of_readers_);
  }

  MemoryContext context_, of_readers_ = nullptr;
  Oid type_;
  RowReader plain_;
  std::unordered_map<const Model *, Entry> readers_;
  const Entry *last_ = nullptr;
};

/// Data that live from call to call.
struct CallSite {
  CallSite(MemoryContext context, FunctionCallInfo fcinfo, const char *family, int row)
      : models(family),
        readers(context,
                guarded([fcinfo, row] { return get_fn_expr_argtype(fcinfo->flinfo, row); })) {}
  ModelCache models;
  ReadersOfModels readers;
};

/// The numbers of a row; nullopt if it is to be left out.
std::optional<std::span<const double>> numbers_of(CallSite &site,
                                                  const std::shared_ptr<const Model> &model,
                                                  Datum row, Missing missing) {
  RowReader &reader = site.readers.of(model);
  reader.open(row);
  const auto x = reader.read(row, 0, missing);
  if (x && x->size() != std::size_t(model->info.dimension))
    wrong_length(x->size(), std::size_t(model->info.dimension), "the model", 0);
  return x;
}

}  // namespace

std::optional<ModelAndRow> model_and_row(FunctionCallInfo fcinfo, const char *family) {
  auto &site = call_site<CallSite>(fcinfo, fcinfo, family, 1);
  const std::shared_ptr<const Model> &model = site.models.share(PG_GETARG_DATUM(0));
  const std::string_view option = missing_option(model->info);
  const Missing missing = option == "marginalize" ? Missing::keep
                          : option == "skip"      ? Missing::skip
                                                  : Missing::error;
  const auto x = numbers_of(site, model, PG_GETARG_DATUM(1), missing);
  if (!x) return std::nullopt;
  return ModelAndRow{*model, *x};
}

ModelAndRow incomplete_row_of_model(FunctionCallInfo fcinfo, const char *family,
                                    std::shared_ptr<const Model> &keep) {
  auto &site = call_site<CallSite>(fcinfo, fcinfo, family, 2);
  keep = site.models.share(PG_GETARG_DATUM(1));
  return {*keep, *numbers_of(site, keep, PG_GETARG_DATUM(2), Missing::keep)};
}

}  // namespace bayes::pg
