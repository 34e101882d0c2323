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
  Buffer documents;
  /// documents on other servers, and the sums of each factor over them
  DocumentNumbers elsewhere = {};
  std::vector<double> sums = {};
};

/// Non-negative double singular value decomposition with zeros filled by the table's mean
/// (Boutsidis and Gallopoulos 2008, NNDSVDa), the singular vectors by subspace iteration (Halko,
/// Martinsson and Tropp 2011). Factors beyond the rank of the table are drawn at random. The
/// iteration ends when half of the time of the fit is over. Polls; on all threads, with the same
/// result for any number of them.
FactorStart nndsvd_start(Corpus &documents, int factors, std::uint64_t seed, Control &control);

/// Multiplies the numbers of documents on other servers by K numbers.
void scale_elsewhere(RemoteCorpus &documents, DocumentNumbers &numbers,
                     const std::vector<double> &by);

// The parts of another server in nndsvd_start() and scale_elsewhere().
Document answer_products(PartOfDocuments &part, const Document &request, Control &control);
extern const PassOver<PartOfDocuments> projections_pass;
Document answer_first_weights(PartOfDocuments &part, const Document &request, Control &control);
Document answer_scaling(PartOfDocuments &part, const Document &request, Control &control);

/// Uniform random numbers for the terms; `seed` and `restart` select the random stream. Documents
/// are left empty.
FactorStart random_start(Corpus &documents, int factors, std::uint64_t seed, int restart);

}  // namespace bayes
