// Reads and checks options key by key: a key that no getter has read is an error.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.hpp"

namespace bayes {

/// Reads the members of an options object. Every getter returns the fallback where the key is
/// absent or null, and throws Error(invalid_argument) naming key, value and constraint where the
/// value has the wrong type or is out of range.
class BAYES_API OptionReader {
 public:
  /// `options` null or an object, and alive as long as the reader; `path` is put before key names
  /// in messages ("prior.").
  explicit OptionReader(const Document &options, std::string path = {});

  /// The member, nullptr if it is absent or null; does not count as reading it.
  const Document *given(std::string_view key) const;

  double number(std::string_view key, double fallback,
                double low = -std::numeric_limits<double>::infinity(),
                double high = std::numeric_limits<double>::infinity(), bool low_open = false);
  std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t low,
                       std::int64_t high);
  bool boolean(std::string_view key, bool fallback);
  /// One of `choices`; the error message lists them and suggests the nearest.
  std::string choice(std::string_view key, std::string_view fallback,
                     const std::vector<std::string_view> &choices);
  /// One of `choices` or an array of them without repetition, at least one.
  std::vector<std::string> choices(std::string_view key, std::string_view fallback,
                                   const std::vector<std::string_view> &choices);
  /// Numbers with exactly this shape, all finite; nullopt if absent. A dimension given as -1 may
  /// have any size >= 1.
  std::optional<Tensor> tensor(std::string_view key, const std::vector<std::int64_t> &shape);
  /// A finite number (a tensor of shape {}), or an array of them of one or two dimensions; nullopt
  /// if absent.
  std::optional<Tensor> number_or_tensor(std::string_view key);
  /// The member as it is, or nullptr; counts as reading it.
  const Document *raw(std::string_view key);

  /// Call last: throws for the first key that no getter has read. If the key is among `elsewhere`
  /// (keys that exist under other settings) the message says that it does not apply to `setting`
  /// (e.g. "method em"), else that it is unknown, and suggests the nearest key.
  void finish(std::string_view setting = {},
              const std::vector<std::string_view> &elsewhere = {}) const;

 private:
  const Document *find(std::string_view key);
  [[noreturn]] void reject(std::string_view key, const Document &value,
                           const std::string &constraint) const;
  /// option "path.key"
  std::string name_of(std::string_view key) const;
  const Document &options_;
  std::string path_;
  std::vector<std::string> asked_;
};

/// The candidate with the smallest edit distance to `word` if that is small enough for a typing
/// error, else empty.
BAYES_API std::string_view nearest(std::string_view word,
                                   const std::vector<std::string_view> &candidates);

}  // namespace bayes
