// Sequences that other servers keep (pg/input/kept_sequences.cpp).
#pragma once

#include <string>
#include <vector>

#include "pg/input/pushed_collector.hpp"
#include "pg/input/sequence_collector.hpp"

namespace bayes::pg {

/// Is this type, or that below the domain, an array of records?
bool is_array_of_records(Oid type);

/// Make returns the column of the sequences.
class PushedSequences final : public PushedCollector<SequenceCollector> {
 public:
  using PushedCollector::PushedCollector;
  std::vector<int> begin(TupleDesc columns, std::string &reason) override {
    return {make_(columns, reason)};
  }
  Document keep() override;
  void hear(const PassReader &part, const std::string &place) override {
    collector().add_part(part, place);
  }
  Document settle() override;
  void take(PushedRows &rows) override;
};

}  // namespace bayes::pg
