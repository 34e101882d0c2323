// The passes over rows that a server makes for another one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "counts/remote_corpus.hpp"
#include "data/hashed_rows.hpp"
#include "data/rows.hpp"
#include "data/sequences.hpp"
#include "document/document.hpp"

namespace bayes {

/// The rows of one part of a fit.
struct PartOfRows {
  RowSource &rows;
  /// its number among all parts, from 0
  std::size_t number = 0;
  /// The columns, as bytes, whose likelihoods allow every value of the rows: kernels of products
  /// trust their rows, so that is checked before the first pass with these columns.
  std::string checked = {};
  /// Labels that were made for this fit, with how (mixture/dpmm_labels.hpp) as bytes: the last ones
  /// first.
  struct Labels {
    std::string way;
    /// they are below this
    std::size_t count;
    std::vector<int> labels;
  };
  std::vector<Labels> labelled = {};
  /// for minibatches
  std::shared_ptr<const HashedRows> hashed = {};
};

/// The sequences of one part of a fit.
struct PartOfSequences {
  Sequences &sequences;
  /// its number among all parts, from 0
  std::size_t number = 0;
  /// as PartOfRows::checked, of their observations
  std::string checked = {};
};

/// Makes the pass that a request asks for (data/remote_rows.hpp). Throws Error: invalid_binary for
/// a request that no server of this version makes, else as the pass itself.
BAYES_API Document answer_pass(PartOfRows &part, const Document &request, Control &control);
BAYES_API Document answer_pass(PartOfSequences &part, const Document &request, Control &control);
BAYES_API Document answer_pass(PartOfDocuments &part, const Document &request, Control &control);

}  // namespace bayes
