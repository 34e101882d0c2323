// The request of a fit: the arguments that follow the row, which are the same for every row.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/control.hpp"
#include "document/saved_fit.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Appends the bytes of a value, for another process that runs the same module.
template <class T> void put_plain(std::string &out, const T &value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}
/// Reads such a value and advances `at`. Throws Error if too few bytes are left.
template <class T> T take_plain(const char *&at, const char *end) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  if (std::size_t(end - at) < sizeof value)
    throw Error(Errc::internal, "partial state of an aggregate is cut short");
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}
/// Other bytes than these two are no bool.
template <> inline bool take_plain(const char *&at, const char *end) {
  const auto value = take_plain<unsigned char>(at, end);
  if (value > 1) throw Error(Errc::internal, "partial state of an aggregate has an unknown format");
  return value == 1;
}
/// Appends the texts of an Error, and reads them. (The class of an SqlError is lost.)
void put_error(std::string &out, const Error &error);
Error take_error(const char *&at, const char *end);

/// Appends bytes and, before them, their number.
inline void put_bytes(std::string &out, std::string_view bytes) {
  put_plain(out, bytes.size());
  out += bytes;
}
/// Reads such bytes, as a view, and advances `at`. Throws Error if too few are left.
inline std::string_view take_bytes(const char *&at, const char *end) {
  const std::size_t size = take_plain<std::size_t>(at, end);
  if (size > std::size_t(end - at))
    throw Error(Errc::internal, "partial state of an aggregate is cut short");
  at += size;
  return {at - size, size};
}

/// The role of an argument. A function's signature is a list of roles, of which trailing ones may
/// be omitted.
enum class Role : char { k, rank, ks, options, start, prior, model, weight };

/// The parsed arguments.
struct FitRequest {
  /// of the model; as in ModelInfo::family
  const char *family = "";
  /// number of components, or the rank; taken from `start` if that is given
  int k = 0;
  std::vector<int> ks = {};
  Document options = {};
  /// the model that the fit starts from, or the model that is evaluated
  std::unique_ptr<Model> start = {};
  /// the posterior of `start` is also the prior of the fit
  bool update = false;
  /// for functions that try several k: results include the models (option models)
  bool models = false;
  /// The fit that is resumed (option resume), or null. The other members then come from its
  /// request.
  std::shared_ptr<const SavedFit> resumed = {};
  /// option on_error = null
  bool null_on_error = false;
};

/// Option on_error = null. The option is checked with all others, where a model family reads them.
bool null_on_error(const Document &options);

/// An Error about the arguments that are the same for all rows, to which option on_error does not
/// apply.
class StatementError final : public Error {
 public:
  explicit StatementError(const Error &error) : Error(error) {}
};
/// Calls f(), whose Errors are about such arguments.
template <class F> auto about_statement(F f) {
  try {
    return f();
  } catch (const Error &error) {
    throw StatementError(error);
  }
}

/// Throws StatementError: this argument is not what it was in the first row.
[[noreturn]] void refuse_change(Role role);

/// Removes member `key` from the options and returns it; nullopt if it is absent or null. For
/// options of an SQL function, which are not those of a fit.
std::optional<Document> take_option(Document &options, std::string_view key);

/// The arguments of the first row, as bytes: compared with those of every further row and of other
/// processes, and sent between processes.
class Parameters {
 public:
  void read(std::span<const Role> roles, const NullableDatum *arguments);
  /// Throws Error naming an argument that differs from the first row's. Cheap.
  void check_same(const NullableDatum *arguments) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!looks_same(values_[i], arguments[i])) check_contents(values_[i], arguments[i]);
  }
  void check_same(const Parameters &other) const;

  /// `family`: the model family that a start model must have.
  FitRequest request(const char *family) const;
  /// Option on_error = null.
  bool null_on_error() const;

  void write(std::string &out) const;
  static Parameters from_bytes(const char *&at, const char *end);

 private:
  struct Value {
    Role role;
    bool null;
    /// an int's 4 bytes, or a whole plain varlena
    std::string contents;
    /// identity (ModelIdentity) of the argument's varlena when it was last read
    std::string seen;
    char form = 0;
    std::size_t size = 0;
  };
  static bool by_value(Role role) { return role == Role::k || role == Role::rank; }
  static std::string contents_of(Role role, Datum value);
  static void remember(Value &value, Datum seen);
  static bool looks_same(const Value &value, const NullableDatum &argument);
  static void check_contents(Value &value, const NullableDatum &argument);
  std::vector<Value> values_;
};

// Fits that are resumed (option resume), or can be (option resumable).

/// If the options say so, replaces the request, a start model and options, by that of the fit
/// which the start model is to continue. Throws Error(invalid_argument) if the model keeps nothing
/// to resume from, or if options are given that the fit must not change.
void apply_resume(FitRequest &request);

/// The record of one fit that can be resumed; nothing for others.
class ResumableFit {
 public:
  /// `hash`: identifies the data. Throws Error(invalid_argument) if the data are not those of the
  /// fit that is resumed.
  ResumableFit(const FitRequest &request, const std::function<std::uint64_t()> &hash,
               Control &control);
  /// Stores the record in the model.
  void save(Model &model);

 private:
  std::shared_ptr<SavedFit> saved_;
};

/// Removes what the model keeps to be resumed from.
void compact(Model &model);

}  // namespace bayes::pg
