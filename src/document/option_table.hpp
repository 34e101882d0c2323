// The options of a model as a table with a line for each.
//
//   void lines(OptionTable &t, ToyOptions &o) {
//     t.choice({"method", "how the model is fitted"}, o.method, {Method::em, Method::vi});
//     t.integer({"max_iter", "the most iterations"}, o.max_iterations, 1, 1000000);
//     t.number({"floor", "the least variance"}, o.floor, above(0, 1), o.method == Method::em);
//   }
//
// A line gives the key and what it means, the member, the valid values and, last, whether the key
// applies, which may depend on the options before it. The same lines read the options, write those
// in force, in this order, reject unknown or inapplicable keys, and make docs/options.md. A
// member's initial value is the default.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/method.hpp"
#include "document/document.hpp"

namespace bayes {

// Reads and checks options key by key: a key that no getter has read is an error.

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

/// The numbers from `low` to `high`; without `low` itself if `low_open`.
struct OptionRange {
  double low, high;
  bool low_open = false;
};
inline OptionRange above(double low, double high) { return {low, high, true}; }

/// The key of an option and what docs/options.md says of it.
struct OptionKey {
  std::string_view key;
  /// what the option sets, in a line
  std::string_view meaning = {};
  /// the valid values and the default where a line cannot tell them
  std::string_view values = {}, standard = {};

  constexpr OptionKey(const char *key) : key(key) {}
  constexpr OptionKey(std::string_view key, std::string_view meaning = {},
                      std::string_view values = {}, std::string_view standard = {})
      : key(key),
        meaning(meaning),
        values(values),
        standard(standard) {}
};

// Keys of several models.
inline constexpr OptionKey seed_key{"seed", "seed of all random numbers"},
    max_iter_key{"max_iter", "the most iterations of a run"},
    tol_key{"tol", "a run has converged when its objective changes by less"},
    restarts_key{"restarts", "runs from different starts, of which the best counts"},
    missing_key{"missing", "what happens to rows that miss an element"},
    on_error_key{"on_error", "whether a fit that fails is an error, or NULL with a WARNING"},
    likelihood_key{"likelihood", "the distribution of each column",
                   "a name, an object, or an array of them"},
    covariance_key{"covariance", "shape of the covariances"},
    minimum_key{"minimum", "least probability, mean of counts, or share of a variance"},
    covariance_floor_key{"covariance_floor",
                         "least variance in any direction, as a share of that of the columns"},
    prior_key{"prior", "parameters of the prior", "an object of the keys that follow", "none"},
    intercept_key{"intercept", "whether there is a term that is 1 in every row"},
    reference_key{"reference", "the label of each column that others are compared with",
                  "an object", "the first labels"},
    standardize_key{"standardize",
                    "whether the prior is about columns divided by their standard deviations"};

/// A line of a table: what it accepts, and the default as JSON.
struct OptionLine {
  /// with the path of the table
  std::string key;
  std::string meaning, values, standard;
};

/// While one exists, tables of this thread that read options list their lines that apply in it.
class BAYES_API OptionListing {
 public:
  OptionListing();
  ~OptionListing();
  OptionListing(const OptionListing &) = delete;
  OptionListing &operator=(const OptionListing &) = delete;
  std::vector<OptionLine> lines;
};

class BAYES_API OptionTable {
 public:
  /// Names to choose from.
  using Names = std::initializer_list<std::string_view>;

  /// A table whose lines read `options`, which must outlive it. They throw Error(invalid_argument)
  /// as OptionReader does, with the same `path`.
  static OptionTable reading(const Document &options, std::string path = {});
  /// A table whose lines write the options in force, after the members of `given`.
  static OptionTable writing(Document given = Document::object());

  bool reads() const { return reader_.has_value(); }
  /// The member of the options, nullptr if it is absent or null, or if the lines write.
  const Document *given(std::string_view key) const;

  /// One of the names.
  void choice(const OptionKey &key, std::string &member, Names names, bool applies = true);
  void choice(const OptionKey &key, Method &member, std::span<const Method> methods,
              bool applies = true);
  /// One of two names, of which the second is true.
  void either(const OptionKey &key, bool &member, std::string_view no, std::string_view yes,
              bool applies = true);
  /// true or false; written only if it is true.
  void flag(const OptionKey &key, bool &member, bool applies = true);
  /// true or false.
  void boolean(const OptionKey &key, bool &member, bool applies = true);
  /// One of the names; with `several` also an array of them.
  void choices(const OptionKey &key, std::vector<std::string> &member,
               std::span<const std::string_view> names, bool several, bool applies = true);
  void integer(const OptionKey &key, int &member, int low, int high, bool applies = true);
  void integer(const OptionKey &key, std::int64_t &member, std::int64_t low, std::int64_t high,
               bool applies = true);
  void seed(const OptionKey &key, std::uint64_t &member);
  /// An infinite member means that there is no limit, and is not written.
  void number(const OptionKey &key, double &member, OptionRange range, bool applies = true);
  void number(const OptionKey &key, std::optional<double> &member, OptionRange range,
              bool applies = true);
  /// Numbers of this shape, in which -1 stands for any extent.
  void tensor(const OptionKey &key, std::optional<Tensor> &member,
              const std::vector<std::int64_t> &shape, bool applies = true);
  /// A number (of shape {}), or an array of one or two dimensions.
  void number_or_tensor(const OptionKey &key, std::optional<Tensor> &member, bool applies = true);
  /// Any other value: `read` is called with the value that was given; `write`, if there is one,
  /// returns the value to write, or null to write none.
  void other(const OptionKey &key, const std::function<void(const Document &)> &read,
             const std::function<Document()> &write = {}, bool applies = true);

  /// After the last line: throws Error(invalid_argument) for a key that no line has, or that does
  /// not apply to `setting` (e.g. "method em").
  void finish(const std::string &setting = {}) const;
  /// The options that the lines wrote.
  const Document &document() const { return written_; }

 private:
  OptionTable() = default;
  /// Whether the line is skipped; records a key that does not apply. `values` and `standard`: of
  /// OptionLine, called for a listing.
  template <class V, class S> bool skips(const OptionKey &key, bool applies, V values, S standard);

  std::optional<OptionReader> reader_;
  std::string path_;
  std::vector<std::string_view> inapplicable_keys_;  // keys that do not apply
  Document written_;
};

}  // namespace bayes
