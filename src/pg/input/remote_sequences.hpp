// Sequences that other servers keep (pg/input/kept_sequences.cpp).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pg/input/fit_data.hpp"
#include "pg/input/pushed_rows.hpp"
#include "pg/input/sequence_collector.hpp"

namespace bayes::pg {

/// Is this type, or that below the domain, an array of records?
bool is_array_of_records(Oid type);

class PushedSequences final : public PushedData {
 public:
  /// `make(columns, reason)` makes the collector in `data`; it returns the column of the sequences,
  /// or why they cannot be pushed down.
  using Make = std::function<int(TupleDesc columns, std::string &reason)>;
  PushedSequences(std::optional<FitData<SequenceCollector>> &data, const FitRequest &request,
                  Make make)
      : data_(data),
        request_(request),
        make_(std::move(make)) {}

  std::vector<int> begin(TupleDesc columns, std::string &reason) override {
    return {make_(columns, reason)};
  }
  void undo() override { data_.reset(); }
  Document keep() override;
  void hear(const PassReader &part, const std::string &place) override {
    (*data_)->add_part(part, place);
  }
  Document settle() override;
  void take(PushedRows &rows) override;

 private:
  std::optional<FitData<SequenceCollector>> &data_;
  const FitRequest &request_;
  const Make make_;
};

}  // namespace bayes::pg
