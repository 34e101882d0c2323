// Documents that other servers keep (pg/input/kept_documents.cpp).
#pragma once

#include "pg/input/document_collector.hpp"
#include "pg/input/pushed_collector.hpp"

namespace bayes::pg {

/// Make returns the column of the documents.
class PushedDocuments final : public PushedCollector<DocumentCollector> {
 public:
  using PushedCollector::PushedCollector;
  std::vector<int> begin(TupleDesc columns, std::string &reason) override;
  Document keep() override;
  void hear(const PassReader &part, const std::string &) override { collector().add_part(part); }
  Document settle() override;
  void settled(const PassReader &part) override;
  void take(PushedRows &rows) override;

 private:
  CorpusTotals totals_;
};

}  // namespace bayes::pg
