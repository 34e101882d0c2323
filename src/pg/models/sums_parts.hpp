// Rows of a response and predictors whose model is made of sums: other servers make the sums of
// their rows, which are not kept.
#pragma once

#include <functional>
#include <utility>

#include "pg/bind/sums.hpp"
#include "pg/models/linreg_data.hpp"
#include "pg/models/nb_rows.hpp"
#include "pg/parts/responses.hpp"

namespace bayes::pg {

/// A kind of data whose parts answer with sums; T makes the sums.
template <class T> struct SumsInParts {
  static constexpr const char *name = T::name;

  struct Keep {
    ResponseColumns columns;
    Document options;
    template <class F> void fields(F &f) {
      columns.fields(f);
      f.document("options", options);
    }
  };
  struct Head {
    std::int64_t rows = 0, skipped = 0;
    std::string sums;
    template <class F> void fields(F &f) {
      f.integer("rows", rows, 0, most_rows_of_part);
      f.integer("skipped", skipped, 0, most_rows_of_part);
      f.bytes("sums", sums);
    }
  };
  struct Common {
    template <class F> void fields(F &) {}
  };
  using Facts = Common;

  class Part {
   public:
    Part(MemoryContext context, const KeptPart &, Keep keep, std::span<const Oid> types)
        : arguments_(keep.columns, types),
          of_(context, arguments_, std::move(keep.options)) {}
    void take(const NullableDatum *values) {
      ++rows_;
      of_.take(arguments_.item(values));
    }
    Head head() {
      Head out = {rows_, 0, {}};
      of_.sums.serialize(out.sums);
      return out;
    }
    /// There are no rows to be put in order.
    Facts arrange(Common, Control &) { return {}; }
    std::uint64_t hash(Control &) { return 1; }

   private:
    ResponseArguments arguments_;
    T of_;
    std::int64_t rows_ = 0;
  };
};

/// The side of the server of the fit.
template <class T> class PushedSums final : public PushedKind<SumsInParts<T>> {
  using Kind = SumsInParts<T>;

 public:
  /// `begin` makes the sums, without rows, to which those of other servers are added, and returns
  /// them.
  PushedSums(const Document &options, const QueryColumns &given, bool objects, const char *hint,
             std::function<Sums *(const ItemForm &form)> begin)
      : query_(given, objects, hint),
        options_(options),
        begin_(std::move(begin)) {}

  void records(std::span<const RecordColumn> records) override { query_.records(records); }
  std::vector<int> begin(TupleDesc columns, std::string &reason) override {
    std::vector<int> out = query_.begin(columns, reason);
    if (!out.empty()) sums_ = begin_(query_.form);
    return out;
  }
  void undo() override {}
  void take(PushedRows &) override {}

 private:
  typename Kind::Keep request_to_keep() override { return {query_.columns, options_}; }
  void hear_head(typename Kind::Head head, const std::string &) override {
    try {
      sums_->combine(head.sums.data(), head.sums.data() + head.sums.size());
    } catch (const Error &error) {
      // A bug in a parallel aggregate; here the other server has sent invalid sums.
      if (error.code() != Errc::internal && error.code() != Errc::invalid_text) throw;
      PassReader::refuse();
    }
  }
  typename Kind::Common common() override { return {}; }

  PushedResponse query_;
  const Document &options_;
  const std::function<Sums *(const ItemForm &form)> begin_;
  Sums *sums_ = nullptr;
};

/// The sums of linreg.
struct LinregSumsPart {
  static constexpr const char *name = linreg_family;
  LinregSumsPart(MemoryContext context, const ResponseArguments &arguments, Document options)
      : sums(context, options, arguments.form().second_type),
        response(arguments.response()) {
    if (!is_number_type(response)) PassReader::refuse();
  }
  void take(const Item &item) {
    NullableDatum values[] = {item.values[0], item.values[1]};
    if (!values[0].isnull) values[0].value = Float8GetDatum(number_of(values[0].value, response));
    sums.take({values, item.weight}, true);
  }
  LinregData sums;
  const Oid response;
};

/// The sums of nb.
struct NbSumsPart {
  static constexpr const char *name = nb_family;
  NbSumsPart(MemoryContext context, const ResponseArguments &arguments, Document options)
      : sums(context, arguments.form().type, arguments.form().second_type,
             FitRequest{.family = nb_family, .options = std::move(options)}) {}
  void take(const Item &item) { sums.take(item); }
  NbRows sums;
};

}  // namespace bayes::pg
