// What other servers keep for a collector of items that the function of the query makes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "pg/input/fit_data.hpp"
#include "pg/input/pushed_rows.hpp"

namespace bayes::pg {

template <class Collector> class PushedCollector : public PushedData {
 public:
  /// `make(columns, reason)` makes the collector in `data` and checks the request; it returns a
  /// number of the query's columns, as the kind says, or why they cannot be pushed down.
  using Make = std::function<int(TupleDesc columns, std::string &reason)>;
  PushedCollector(std::optional<FitData<Collector>> &data, const FitRequest &request, Make make)
      : request_(request),
        make_(std::move(make)),
        data_(data) {}
  void undo() final { data_.reset(); }

 protected:
  Collector &collector() const { return **data_; }
  const FitRequest &request_;
  const Make make_;

 private:
  std::optional<FitData<Collector>> &data_;
};

}  // namespace bayes::pg
