// Data that stay where they are, on other servers: a pass over them is a request that goes to every
// part of the data and answers that come back, whose size does not depend on the number of rows.
//
// A pass (data/pass.hpp) asks a RowSource whether it is remote, sends its arguments if so, and adds
// up the answers in the order of the parts. So learners, restarts and drivers do not know where the
// rows are. Requests and answers are documents: exact, and checked when they are read, since a
// server reads what another one sends.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "data/rows.hpp"
#include "document/document.hpp"
#include "document/row_columns.hpp"

namespace bayes {

class HashedRows;

/// The largest number of rows that a part of a fit may claim, so that sums over parts do not
/// overflow.
inline constexpr std::int64_t most_rows_of_part = std::int64_t(1) << 40;

/// The data of a fit in several parts, of any kind.
class BAYES_API RemoteParts {
 public:
  virtual ~RemoteParts() = default;
  /// Makes a pass over every part; returns the answers of those that have rows, in the order of the
  /// parts. Main thread only; may throw. A member "parts" of the request, a list, has a document
  /// for each part, with or without rows.
  virtual std::vector<Document> ask(const Document &request) = 0;
  /// the number of rows in every part
  virtual const std::vector<std::int64_t> &rows_of_parts() const = 0;
};

/// Rows in several parts. Functions that read rows one at a time refuse.
class BAYES_API RemoteRows : public RowSource, public RemoteParts {
 public:
  RemoteRows *remote() final { return this; }

  // Each throws Error(invalid_argument): rows are needed one at a time.
  std::int64_t stretches() const final;
  std::span<const Piece> stretch(std::int64_t) final;
  void read_block(std::int64_t, double *) final;
};

/// The rows of one part of a fit.
struct PartOfRows {
  RowSource &rows;
  /// its number among all parts, from 0
  std::size_t number = 0;
  /// The columns, as bytes, whose likelihoods allow every value of the rows. Kernels of products
  /// trust their rows, so a part checks this before the first pass with other columns.
  std::string checked = {};
  /// Labels that were made for this fit, the last ones first, each with its recipe
  /// (mixture/dpmm_labels.hpp) as bytes.
  struct Labels {
    std::string way;
    /// they are below this
    std::size_t count;
    std::vector<int> labels;
  };
  std::vector<Labels> labelled = {};
  /// for minibatches
  std::shared_ptr<const HashedRows> hashed = {};

  RowSource &data() { return rows; }
};

/// A request for a pass of this kind (src/models/passes.cpp).
BAYES_API Document pass_request(const char *kind);

/// Reads a request or an answer. Each getter throws Error(invalid_binary) where the member is
/// absent, of another type or size.
class BAYES_API PassReader {
 public:
  explicit PassReader(const Document &document) : document_(document) {}
  const Document &document() const { return document_; }
  const Document &member(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high) const;
  /// any double
  double number(std::string_view key) const;
  bool flag(std::string_view key) const;
  const std::string &text(std::string_view key) const;
  /// any doubles, `size` of them
  const std::vector<double> &numbers(std::string_view key, std::size_t size) const;
  /// the same, any number of them
  const std::vector<double> &numbers(std::string_view key) const;
  const Document::List &list(std::string_view key) const;
  /// a list of texts
  std::vector<std::string> texts(std::string_view key) const;
  [[noreturn]] static void refuse();

 private:
  const Document &document_;
};

/// Numbers as a member of a request or an answer.
BAYES_API Document numbers_document(std::span<const double> numbers);

/// Texts as a member of a request or an answer.
BAYES_API Document texts_document(std::span<const std::string> texts);

/// Bytes as a member of a request or an answer, whose texts must be UTF-8; and back. Throws
/// Error(invalid_binary) for a member that holds no bytes.
BAYES_API Document bytes_document(std::string_view bytes);
BAYES_API std::string bytes_of_document(const Document &document);

/// The columns of rows with their labels; one part of the rows need not have all labels.
BAYES_API Document columns_message(const RowColumns &columns);
/// Throws Error(invalid_binary) unless columns_message() has made it.
BAYES_API RowColumns columns_of_message(const Document &message);

/// Throws Error(invalid_argument): this computation cannot be made where the rows are.
[[noreturn]] BAYES_API void refuse_remote(const char *what);

// Many texts in one message.

/// Texts one after another, and where each ends, for example the keys of millions of rows: a string
/// for each would take 32 bytes or more, a document 64.
class BAYES_API PackedTexts {
 public:
  PackedTexts() = default;
  /// Throws Error(invalid_binary) for a document that message() has not made.
  explicit PackedTexts(const Document &message);
  static Document message(std::span<const std::string> texts);

  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  /// memory in bytes
  double bytes() const { return double(bytes_.size()) + double(sizeof ends_[0]) * double(size()); }

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace bayes
