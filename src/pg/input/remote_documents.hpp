// Documents that other servers keep (pg/input/kept_documents.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "pg/input/document_collector.hpp"
#include "pg/input/pushed_collector.hpp"

namespace bayes::pg {

/// Make returns the column of the documents.
class PushedDocuments final : public PushedCollector<DocumentCollector> {
 public:
  using PushedCollector::PushedCollector;
  std::vector<int> begin(TupleDesc columns, std::string &reason) override;
  Document keep() override;
  void hear(const PassReader &part, const std::string &) override;
  Document settle() override;
  void settled(const PassReader &part) override;
  void take(PushedRows &rows) override;

 private:
  CorpusTotals totals_, held_out_;
  /// for every term, whether a document that is fitted has it
  std::vector<char> in_fit_;
  /// documents of the parts that have some, and how many of these parts are settled
  std::vector<std::int64_t> rows_;
  std::size_t settled_ = 0;
};

}  // namespace bayes::pg
