// Documents that other servers keep (pg/input/kept_documents.cpp).
#pragma once

#include <functional>
#include <optional>

#include "pg/input/document_collector.hpp"
#include "pg/input/fit_data.hpp"
#include "pg/input/pushed_rows.hpp"

namespace bayes::pg {

class PushedDocuments final : public PushedData {
 public:
  /// `make(columns, reason)` makes the collector in `data` and checks the request; it returns the
  /// column of the documents, or why they cannot be pushed down.
  using Make = std::function<int(TupleDesc columns, std::string &reason)>;
  PushedDocuments(std::optional<FitData<DocumentCollector>> &data, const char *family, Make make)
      : data_(data),
        family_(family),
        make_(std::move(make)) {}

  std::vector<int> begin(TupleDesc columns, std::string &reason) override;
  void undo() override { data_.reset(); }
  Document keep() override;
  void hear(const PassReader &part, const std::string &) override { (*data_)->add_part(part); }
  Document settle() override;
  void settled(const PassReader &part) override;
  void take(PushedRows &rows) override;

 private:
  std::optional<FitData<DocumentCollector>> &data_;
  const char *const family_;
  const Make make_;
  CorpusTotals totals_;
};

}  // namespace bayes::pg
