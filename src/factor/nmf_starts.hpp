// Starting points of non-negative factorizations.
#pragma once

#include <cstdint>

#include "counts/padded_table.hpp"
#include "counts/remote_corpus.hpp"
#include "factor/factor_table.hpp"

namespace bayes {

/// Initial point estimates: terms x K; documents x K, padded, or empty.
struct FactorStart {
  PaddedMatrix terms;
  DocumentNumbers documents = {};
  /// the sums of each factor over the documents; empty if they are not known
  std::vector<double> sums = {};
};

/// Non-negative double singular value decomposition with zeros filled by the table's mean
/// (Boutsidis and Gallopoulos 2008, NNDSVDa), the singular vectors by subspace iteration (Halko,
/// Martinsson and Tropp 2011). Factors beyond the rank of the table are drawn at random. The
/// iteration ends when half of the time of the fit is over. Polls; on all threads, with the same
/// result for any number of them.
FactorStart nndsvd_start(Corpus &documents, int factors, std::uint64_t seed, Control &control);

/// Multiplies the numbers of documents by K numbers, wherever they are.
void scale_documents(Corpus &documents, DocumentNumbers &numbers, std::vector<double> by,
                     Control &control);

// The passes of nndsvd_start() and scale_documents().
extern const PassOver<PartOfDocuments> products_pass, projections_pass, first_weights_pass,
    scaling_pass;

/// Uniform random numbers for the terms; `seed` and `restart` select the random stream. Documents
/// are left empty.
FactorStart random_start(Corpus &documents, int factors, std::uint64_t seed, int restart);

}  // namespace bayes
