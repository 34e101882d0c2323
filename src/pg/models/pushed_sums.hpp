// Models that are made of sums of rows of a response and predictors: other servers make the sums.
#pragma once

#include <functional>

#include "pg/bind/sums.hpp"
#include "pg/input/remote_responses.hpp"

namespace bayes::pg {

class PushedSums final : public PushedResponses {
 public:
  /// `kind`: as in kept_rows.cpp; `begin` makes the sums, without rows, to which those of other
  /// servers are added, and returns them.
  PushedSums(const char *kind, const Document &options, const QueryColumns &given, bool objects,
             const char *hint, std::function<Sums *(const ItemForm &form)> begin)
      : PushedResponses(given, objects, hint),
        kind_(kind),
        options_(options),
        begin_(std::move(begin)) {}

  void undo() override {}
  Document keep() override { return keep_of(kind_).set("options", options_); }
  void hear(const PassReader &part, const std::string &) override {
    const std::string bytes = bytes_of_document(part.member("sums"));
    try {
      sums_->combine(bytes.data(), bytes.data() + bytes.size());
    } catch (const Error &error) {
      // What would be a bug in a parallel aggregate.
      if (error.code() != Errc::internal && error.code() != Errc::invalid_text) throw;
      PassReader::refuse();
    }
  }
  Document settle() override { return pass_request("settle"); }
  void take(PushedRows &) override {}

 private:
  void begin_data(const ItemForm &form) override { sums_ = begin_(form); }

  const char *const kind_;
  const Document &options_;
  const std::function<Sums *(const ItemForm &form)> begin_;
  Sums *sums_ = nullptr;
};

}  // namespace bayes::pg
