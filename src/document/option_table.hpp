// The options of a model as a table with a line for each.
//
//   void lines(OptionTable &t, ToyOptions &o) {
//     t.choice("method", o.method, {Method::em, Method::vi});
//     t.integer("max_iter", o.max_iterations, 1, 1000000);
//     t.number("floor", o.floor, above(0, 1), o.method == Method::em);
//   }
//
// A line gives the key, the member, the valid values and, last, whether the key applies, which may
// depend on the options before it. The same lines read the options, write those in force, in this
// order, and reject unknown or inapplicable keys. A member's initial value is the default.
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
#include "document/options.hpp"

namespace bayes {

/// The numbers from `low` to `high`; without `low` itself if `low_open`.
struct OptionRange {
  double low, high;
  bool low_open = false;
};
inline OptionRange above(double low, double high) { return {low, high, true}; }

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
  void choice(std::string_view key, std::string &member, Names names, bool applies = true);
  void choice(std::string_view key, Method &member, std::span<const Method> methods,
              bool applies = true);
  /// One of two names, of which the second is true.
  void either(std::string_view key, bool &member, std::string_view no, std::string_view yes,
              bool applies = true);
  /// true or false; written only if it is true.
  void flag(std::string_view key, bool &member, bool applies = true);
  /// true or false.
  void boolean(std::string_view key, bool &member, bool applies = true);
  /// One of the names; with `several` also an array of them.
  void choices(std::string_view key, std::vector<std::string> &member,
               std::span<const std::string_view> names, bool several, bool applies = true);
  void integer(std::string_view key, int &member, int low, int high, bool applies = true);
  void integer(std::string_view key, std::int64_t &member, std::int64_t low, std::int64_t high,
               bool applies = true);
  void seed(std::string_view key, std::uint64_t &member);
  /// An infinite member means that there is no limit, and is not written.
  void number(std::string_view key, double &member, OptionRange range, bool applies = true);
  void number(std::string_view key, std::optional<double> &member, OptionRange range,
              bool applies = true);
  /// Numbers of this shape, in which -1 stands for any extent.
  void tensor(std::string_view key, std::optional<Tensor> &member,
              const std::vector<std::int64_t> &shape, bool applies = true);
  /// A number (of shape {}), or an array of one or two dimensions.
  void number_or_tensor(std::string_view key, std::optional<Tensor> &member, bool applies = true);
  /// Any other value: `read` is called with the value that was given; `write`, if there is one,
  /// returns the value to write, or null to write none.
  void other(std::string_view key, const std::function<void(const Document &)> &read,
             const std::function<Document()> &write = {}, bool applies = true);

  /// After the last line: throws Error(invalid_argument) for a key that no line has, or that does
  /// not apply to `setting` (e.g. "method em").
  void finish(const std::string &setting = {}) const;
  /// The options that the lines wrote.
  const Document &document() const { return written_; }

 private:
  OptionTable() = default;
  /// Whether the line is skipped; records a key that does not apply.
  bool skips(std::string_view key, bool applies);

  std::optional<OptionReader> reader_;
  std::vector<std::string_view> inapplicable_keys_;  // keys that do not apply
  Document written_;
};

}  // namespace bayes
