// What a user asks of a fit, beside the rows: the arguments after the row, the same for every row.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "document/model.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// What an argument means. The order of a function's arguments is a list of roles; trailing ones
/// may be left out.
enum class Role : char { k, ks, options, start, prior, weight };

/// The arguments, read.
struct FitRequest {
  /// that of `start` if there is one
  int k = 0;
  std::vector<int> ks;
  Document options;
  std::unique_ptr<Model> start;
  /// start's posterior is also the prior
  bool update = false;
};

/// The arguments as they stood in the first row, as bytes: compared with those of every further row
/// and of other processes, and sent between processes.
class Parameters {
 public:
  void read(std::span<const Role> roles, const NullableDatum *arguments);
  /// Throws Error naming the argument that is not as in the first row. Cheap.
  void check_same(const NullableDatum *arguments) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!looks_same(values_[i], arguments[i])) check_contents(values_[i], arguments[i]);
  }
  void check_same(const Parameters &other) const;

  /// `family` is what a start model must be.
  FitRequest request(const char *family) const;

  void write(std::string &out) const;
  static Parameters from_bytes(const char *&at, const char *end);

 private:
  struct Value {
    Role role;
    bool null;
    /// an int's 4 bytes, or a whole plain varlena
    std::string contents;
    /// what identified it when it was seen last
    std::string seen;
    char form = 0;
    std::size_t size = 0;
  };
  static bool by_value(Role role) { return role == Role::k; }
  static std::string contents_of(Role role, Datum value);
  static void note(Value &value, Datum seen);
  static bool looks_same(const Value &value, const NullableDatum &argument);
  static void check_contents(Value &value, const NullableDatum &argument);
  std::vector<Value> values_;
};

}  // namespace bayes::pg
