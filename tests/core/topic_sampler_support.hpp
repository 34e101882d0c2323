// Helpers for the tests of topic models: small corpora, and all assignments of their tokens.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/special.hpp"
#include "support.hpp"
#include "topics/lda_sampling.hpp"
#include "topics/topic_chain.hpp"

namespace topics {

using namespace bayes;

/// The terms of a document's tokens, ascending.
using Tokens = std::vector<std::int32_t>;

inline void append(MemoryCorpus &corpus, const Tokens &tokens, double each = 1) {
  std::map<std::int32_t, double> counts;
  for (const std::int32_t w : tokens) counts[w] += each;
  std::vector<std::int32_t> terms;
  std::vector<double> numbers;
  for (const auto &[w, n] : counts) {
    terms.push_back(w);
    numbers.push_back(n);
  }
  corpus.append({terms, numbers});
}
inline MemoryCorpus corpus_of(const std::vector<Tokens> &documents, std::int32_t vocabulary) {
  MemoryCorpus out(vocabulary);
  for (const Tokens &tokens : documents) append(out, tokens);
  return out;
}

/// A model of no kind, for what a FitRun says.
class NoModel final : public Model {
 protected:
  void write(Document &) const override {}
};

/// What a prior adds to eta: all zeros but these.
inline PaddedMatrix added(std::int32_t terms, int k,
                          const std::vector<std::tuple<int, int, double>> &entries) {
  PaddedMatrix out(terms, k);
  for (const auto &[w, topic, more] : entries) out.row(w)[topic] = more;
  return out;
}

/// log p(z | alpha), from the definition. z: of all tokens, document after document.
inline double slow_log_assignment(const std::vector<Tokens> &documents,
                                  const std::vector<double> &alpha, const std::vector<int> &z) {
  double out = 0;
  std::size_t i = 0;
  for (const Tokens &tokens : documents) {
    std::vector<double> parameters = alpha;
    for (std::size_t n = 0; n < tokens.size(); ++n) parameters[std::size_t(z[i++])] += 1;
    out += log_dirichlet_normaliser(parameters) - log_dirichlet_normaliser(alpha);
  }
  return out;
}
/// log p(w | z, eta)
inline double slow_log_likelihood(const std::vector<Tokens> &documents, std::int32_t terms,
                                  const LdaPrior &prior, const std::vector<int> &z) {
  double out = 0;
  for (std::size_t k = 0; k < prior.alpha.size(); ++k) {
    std::vector<double> parameters(std::size_t(terms), prior.eta);
    if (prior.added.rows() > 0)
      for (std::int32_t w = 0; w < terms; ++w) parameters[std::size_t(w)] += prior.added.row(w)[k];
    out -= log_dirichlet_normaliser(parameters);
    std::size_t i = 0;
    for (const Tokens &tokens : documents)
      for (const std::int32_t w : tokens)
        if (std::size_t(z[i++]) == k) parameters[std::size_t(w)] += 1;
    out += log_dirichlet_normaliser(parameters);
  }
  return out;
}

/// f(z) for all assignments of n tokens to k topics.
inline void each_assignment(int n, int k, const std::function<void(const std::vector<int> &)> &f) {
  std::vector<int> z(std::size_t(n), 0);
  for (;;) {
    f(z);
    int i = 0;
    while (i < n && ++z[std::size_t(i)] == k) z[std::size_t(i++)] = 0;
    if (i == n) return;
  }
}

/// Batch means of a run against exact means, in standard errors: see sampler_support.hpp for what
/// the line at 6.5 with 100 batches means. A check raises a false alarm once in 4e8.
inline constexpr int batches = 100;
inline constexpr double largest_z = 6.5;
inline int effort(int iterations) {
  return std::max(batches, support::effort(iterations) / batches * batches);
}
class BatchMeans {
 public:
  explicit BatchMeans(int iterations) : length_(iterations / batches) {}
  void add(const std::vector<double> &values) {
    if (draws_ % length_ == 0) means_.emplace_back(values.size(), 0.0);
    for (std::size_t q = 0; q < values.size(); ++q) means_.back()[q] += values[q] / length_;
    ++draws_;
  }
  double z_score(std::size_t q, double expected) const {
    double mean = 0, squares = 0;
    for (const auto &batch : means_) mean += batch[q] / double(means_.size());
    for (const auto &batch : means_) squares += (batch[q] - mean) * (batch[q] - mean);
    const double error =
        std::sqrt(squares / double(means_.size()) / double(means_.size() - 1)) + 1e-12;
    return std::abs(mean - expected) / error;
  }
  std::size_t quantities() const { return means_[0].size(); }
  /// of this run and another, which are independent
  double z_score(std::size_t q, const BatchMeans &other) const {
    BatchMeans difference(*this);
    for (std::size_t b = 0; b < means_.size(); ++b) difference.means_[b][q] -= other.means_[b][q];
    return difference.z_score(q, 0);
  }

 private:
  int length_, draws_ = 0;
  std::vector<std::vector<double>> means_;
};

}  // namespace topics
