#include "topics/topic_chain.hpp"

#include <algorithm>
#include <cmath>

namespace bayes {
namespace {

/// A binomial variate, by geometric numbers of failures between successes.
std::int64_t draw_binomial(std::int64_t trials, double p, Random &random) {
  if (p > 0.5) return trials - draw_binomial(trials, 1 - p, random);
  if (!(p > 0)) return 0;
  const double scale = 1 / std::log1p(-p);
  std::int64_t successes = 0;
  for (double at = std::floor(std::log(random.uniform()) * scale); at < double(trials);
       at += 1 + std::floor(std::log(random.uniform()) * scale))
    ++successes;
  return successes;
}

/// Cost of a random number, in operations.
constexpr std::size_t operations_of_draw = 50;

/// exceeding[j]: the number of counts above j.
using Exceedances = std::vector<std::int64_t>;
void add_count(Exceedances &exceeding, std::int64_t n, std::int64_t times) {
  if (std::int64_t(exceeding.size()) < n) exceeding.resize(std::size_t(n), 0);
  exceeding[std::size_t(n - 1)] += times;
}
void sum_up(Exceedances &exceeding) {
  for (std::size_t j = exceeding.size(); j-- > 1;) exceeding[j - 1] += exceeding[j];
}
/// The product of alpha (alpha + 1) ... (alpha + n - 1) over all counts n is a polynomial in alpha.
/// Draws one of its terms with probability proportional to its value, and returns the exponent of
/// alpha.
double draw_exponent(const Exceedances &exceeding, double alpha, Random &random) {
  double out = 0;
  WorkPoll poll;
  for (std::size_t j = 0; j < exceeding.size(); ++j) {
    poll(operations_of_draw);
    out += j == 0 ? double(exceeding[0])
                  : double(draw_binomial(exceeding[j], alpha / (alpha + double(j)), random));
  }
  return out;
}

/// -log of a beta variate, a, b > 0
double draw_minus_log_beta(double a, double b, Random &random) {
  const double x = random.log_gamma_variate(a), y = random.log_gamma_variate(b);
  return log1p_exp(y - x);
}

}  // namespace

TokenIndex::TokenIndex(Corpus &corpus, Control &control) : begin{0} {
  begin.reserve(std::size_t(corpus.totals().documents) + 1);
  longer.assign(std::size_t(corpus.totals().most_tokens), 0);
  for (std::int64_t s = 0; s < corpus.stretches(); ++s)
    for (const CorpusPiece &piece : corpus.stretch(s)) {
      control.poll();
      each_document(piece, [&](std::int64_t, const DocumentTerms &document) {
        const auto length = std::int64_t(document.tokens());
        begin.push_back(begin.back() + length);
        if (length > 0) ++longer[std::size_t(length - 1)];
        return true;
      });
    }
  for (std::size_t j = longer.size(); j-- > 1;) longer[j - 1] += longer[j];
}

DocumentHistogram::DocumentHistogram(int topics, std::int64_t longest)
    : topics_(topics),
      limit_(std::int32_t(std::min<std::int64_t>(
          longest + 1, std::clamp<std::int64_t>((1 << 20) / topics, 64, 4096)))),
      small_(std::size_t(topics) * std::size_t(limit_), 0) {}

void DocumentHistogram::add(const DocumentHistogram &other) {
  for (std::size_t i = 0; i < small_.size(); ++i) small_[i] += other.small_[i];
  large_.insert(large_.end(), other.large_.begin(), other.large_.end());
}

void DocumentHistogram::clear() {
  std::fill(small_.begin(), small_.end(), 0);
  large_.clear();
}

TopicChain::TopicChain(Corpus &all, const TokenIndex &index, LdaPrior given, std::uint64_t name,
                       int chain)
    : corpus(all),
      tokens(index),
      prior(std::move(given)),
      seed(name),
      number(chain),
      assigned(std::size_t(index.tokens()), 0),
      counts(all.totals().vocabulary, int(prior.alpha.size())),
      totals(prior.alpha.size(), 0),
      histogram(int(prior.alpha.size()), index.longest()) {
  if (prior.added.rows() == 0) return;
  seeded.assign(std::size_t(terms()), 0);
  added_totals.assign(prior.alpha.size(), 0);
  for (std::int32_t w = 0; w < terms(); ++w)
    for (int k = 0; k < topics(); ++k)
      if (const double more = prior.added.row(w)[k]; more > 0) {
        seeded[std::size_t(w)] = 1;
        added_totals[std::size_t(k)] += more;
      }
}

void TopicChain::score() {
  log_documents = 0;
  double whole = 0;
  for (const double a : prior.alpha) whole += a;
  LogRising rising(whole);
  for (std::size_t j = 0; j < tokens.longer.size(); ++j) {
    const std::int64_t next = j + 1 < tokens.longer.size() ? tokens.longer[j + 1] : 0;
    if (tokens.longer[j] > next)
      log_documents -= double(tokens.longer[j] - next) * rising(std::int64_t(j) + 1);
  }
  int topic = -1;
  histogram.each([&](int k, std::int32_t n, std::int64_t documents) {
    if (k != topic) rising = LogRising(prior.alpha[std::size_t(k)]);
    topic = k;
    log_documents += double(documents) * rising(n);
  });

  log_terms = 0;
  for (int k = 0; k < topics(); ++k)
    log_terms -= log_rising(prior_total(k), double(totals[std::size_t(k)]));
  std::vector<std::int64_t> entries(1024, 0);  // [n]: the number of entries n_kw = n
  WorkPoll poll;
  for (std::int32_t w = 0; w < terms(); ++w) {
    poll(2 * std::size_t(topics()));
    const std::int32_t *const n = counts.row(w);
    const double *const more = added(w);
    for (int k = 0; k < topics(); ++k) {
      if (n[k] == 0) continue;
      if (!more && n[k] < std::int32_t(entries.size()))
        ++entries[std::size_t(n[k])];
      else
        log_terms += log_rising(prior.eta + (more ? more[k] : 0), double(n[k]));
    }
  }
  rising = LogRising(prior.eta);
  for (std::size_t n = 1; n < entries.size(); ++n)
    if (entries[n] > 0) log_terms += double(entries[n]) * rising(std::int64_t(n));
}

double TopicChain::entropy() const {
  double out = 0;
  for (const std::int64_t n : totals)
    if (n > 0) {
      const double share = double(n) / double(tokens.tokens());
      out -= share * std::log(share);
    }
  return out;
}

double DrawnPrior::log_density(const LdaPrior &prior) const {
  const auto log_gamma_density = [](double x) {
    return lda_hyper_shape * std::log(lda_hyper_rate) - log_gamma(lda_hyper_shape) +
           (lda_hyper_shape - 1) * std::log(x) - lda_hyper_rate * x;
  };
  double out = eta ? log_gamma_density(prior.eta) : 0;
  if (alpha && symmetric) out += log_gamma_density(prior.alpha[0]);
  if (alpha && !symmetric)
    for (const double a : prior.alpha) out += log_gamma_density(a);
  return out;
}

void draw_prior(TopicChain &chain, const DrawnPrior &drawn, Random &random) {
  // Smaller parameters have no effect in double precision.
  constexpr double min_parameter = 1e-30;
  LdaPrior &prior = chain.prior;
  if (drawn.alpha) {
    // Gamma(A) / Gamma(A + n) is proportional to the integral of u^(A - 1) (1 - u)^(n - 1), and
    // -log u of a document is a sum of exponential variates with rates A, A + 1, ..., A + n - 1.
    double whole = 0, rate = lda_hyper_rate;
    for (const double a : prior.alpha) whole += a;
    WorkPoll poll;
    for (std::size_t j = 0; j < chain.tokens.longer.size(); ++j) {
      poll(operations_of_draw);
      rate += (drawn.symmetric ? double(chain.topics()) : 1) *
              random.gamma(double(chain.tokens.longer[j])) / (whole + double(j));
    }
    std::vector<Exceedances> more(prior.alpha.size());
    chain.histogram.each([&](int k, std::int32_t n, std::int64_t documents) {
      add_count(more[std::size_t(k)], n, documents);
    });
    double all = 0;
    for (std::size_t k = 0; k < more.size(); ++k) {
      sum_up(more[k]);
      const double exponent = draw_exponent(more[k], prior.alpha[k], random);
      all += exponent;
      if (!drawn.symmetric)
        prior.alpha[k] = std::max(min_parameter, random.gamma(lda_hyper_shape + exponent) / rate);
    }
    if (drawn.symmetric)
      std::fill(prior.alpha.begin(), prior.alpha.end(),
                std::max(min_parameter, random.gamma(lda_hyper_shape + all) / rate));
  }
  if (drawn.eta) {
    double rate = lda_hyper_rate, exponent = 0;
    for (int k = 0; k < chain.topics(); ++k)
      if (const std::int64_t n = chain.totals[std::size_t(k)]; n > 0)
        rate +=
            double(chain.terms()) * draw_minus_log_beta(chain.prior_total(k), double(n), random);
    Exceedances more;
    WorkPoll poll;
    for (std::int32_t w = 0; w < chain.terms(); ++w) {
      poll(2 * std::size_t(chain.topics()));
      const std::int32_t *const n = chain.counts.row(w);
      const double *const added = chain.added(w);
      for (int k = 0; k < chain.topics(); ++k) {
        if (n[k] > 0 && !(added && added[k] > 0)) add_count(more, n[k], 1);
        if (added && added[k] > 0)
          for (std::int32_t j = 0; j < n[k]; ++j)
            exponent += random.uniform() * (prior.eta + added[k] + j) < prior.eta;
      }
    }
    sum_up(more);
    exponent += draw_exponent(more, prior.eta, random);
    prior.eta = std::max(min_parameter, random.gamma(lda_hyper_shape + exponent) / rate);
  }
}

void begin_topics(TopicChain &chain, const PaddedMatrix *start, Control &control) {
  TokenUniforms uniforms(topic_stream(chain, 0, TopicStream::beginning));
  const auto k = std::size_t(chain.topics());
  std::vector<double> running(k);
  const PollScope scope(control);
  WorkPoll poll;
  for (std::int64_t s = 0; s < chain.corpus.stretches(); ++s)
    for (const CorpusPiece &piece : chain.corpus.stretch(s)) {
      each_document(piece, [&](std::int64_t d, const DocumentTerms &document) {
        std::int64_t at = chain.tokens.begin[std::size_t(d)];
        for (std::size_t e = 0; e < document.size(); ++e) {
          const std::int32_t w = document.terms[e];
          const double *const counts = start ? start->row(w) : nullptr;
          const double *const added = chain.added(w);
          double sum = 0;
          poll(4 * k);
          for (std::size_t j = 0; j < k; ++j)
            running[j] = sum +=
                chain.prior.eta + (counts ? counts[j] : 0.0) + (added ? added[j] : 0.0);
          for (auto left = std::int64_t(document.counts[e]); left > 0; --left, ++at) {
            poll(operations_of_draw);
            uniforms.seek(at);
            const std::size_t z = std::size_t(
                std::upper_bound(running.begin(), running.end() - 1, uniforms.next() * sum) -
                running.begin());
            chain.assigned[std::size_t(at)] = std::uint16_t(z);
            ++chain.counts.row(w)[z];
            ++chain.totals[z];
          }
        }
        return true;
      });
    }
}

void count_topics(TopicChain &chain) {
  std::fill(chain.counts.values().begin(), chain.counts.values().end(), 0);
  std::fill(chain.totals.begin(), chain.totals.end(), 0);
  WorkPoll poll;
  for (std::int64_t s = 0; s < chain.corpus.stretches(); ++s)
    for (const CorpusPiece &piece : chain.corpus.stretch(s))
      each_document(piece, [&](std::int64_t d, const DocumentTerms &document) {
        std::int64_t at = chain.tokens.begin[std::size_t(d)];
        for (std::size_t e = 0; e < document.size(); ++e)
          for (auto left = std::int64_t(document.counts[e]); left > 0; --left, ++at) {
            poll(8);
            const std::size_t z = chain.assigned[std::size_t(at)];
            ++chain.counts.row(document.terms[e])[z];
            ++chain.totals[z];
          }
        return true;
      });
}

}  // namespace bayes
