#include "topics/document_step.hpp"

#include <algorithm>
#include <cmath>

#include "base/simd_gamma.hpp"
#include "base/special.hpp"
#include "topics/topic_lanes.hpp"

namespace bayes {
namespace {

using simd::lanes;

/// Two of them multiplied are a normal number.
constexpr double least_factor = 1e-148;
const double log_least_factor = std::log(least_factor);

/// Terms that are worked on together.
constexpr int group = 8;

}  // namespace

TopicFactors::TopicFactors(std::int32_t terms, int topics)
    : factors_(terms, topics),
      logs_(std::size_t(terms)),
      live_(std::size_t(padded_topics(topics)), 0.0) {
  std::fill_n(live_.begin(), topics, 1.0);
}

TopicSums TopicFactors::expect(std::int32_t term, const TopicParameters &parameters,
                               const double *digammas) {
  const double *const counts = parameters.counts.of(term);
  const double *const added = parameters.added ? parameters.added->of(term) : nullptr;
  double *const out = factors_.of(term);
  const int topics = factors_.topics(), stride = factors_.stride();
  LaneSum log_gamma, logs, counted;
  double largest = -1e300;
  // The padding has parameters of 1, and counts for nothing.
  each_vector(stride, [&](int at, int g) {
    const simd::Vector live = simd::load(live_.data() + at);
    const simd::Vector n = parameters.scale * simd::load(counts + at);
    simd::Vector p = n + simd::madd(parameters.eta, live, 1.0 - live);
    if (added) p += simd::load(added + at);
    const simd::GammaPair pair = simd::digamma_and_log_gamma(p);
    const simd::Vector expected = (pair.digamma - simd::load(digammas + at)) * live;
    log_gamma.partial[g] += pair.log_gamma * live;
    logs.partial[g] += expected;
    counted.partial[g] = simd::madd(n, expected, counted.partial[g]);
    simd::store(out + at, expected);
  });
  for (int k = 0; k < topics; ++k) largest = std::max(largest, out[k]);
  each_vector(stride, [&](int at, int) {
    const simd::Vector x = simd::max(simd::load(out + at) - largest, simd::all(log_least_factor));
    simd::store(out + at, simd::exp(x) * simd::load(live_.data() + at));
  });
  logs_[std::size_t(term)] = largest;
  return {log_gamma.total(), logs.total(), counted.total()};
}

void TopicFactors::take(std::int32_t term, const TermTopics &probabilities) {
  const double *const from = probabilities.of(term);
  double *const out = factors_.of(term);
  const double largest = std::max(*std::max_element(from, from + factors_.topics()), 1e-300);
  for (int k = 0; k < factors_.topics(); ++k) out[k] = std::max(from[k] / largest, least_factor);
  logs_[std::size_t(term)] = std::log(largest);
}

ProportionPrior::ProportionPrior(const std::vector<double> &given)
    : alpha(std::size_t(padded_topics(int(given.size()))), 1.0) {
  std::copy(given.begin(), given.end(), alpha.begin());
  for (const double a : given) {
    sum += a;
    log_normaliser += log_gamma(a);
  }
  log_normaliser -= log_gamma(sum);
}

DocumentStep::DocumentStep(const TopicFactors &factors, const ProportionPrior &prior)
    : factors_(factors),
      prior_(prior),
      stride_(factors.values().stride()),
      ones_(std::size_t(stride_), 1.0),
      weights_(std::size_t(stride_)),
      sums_(std::size_t(stride_)),
      logs_(std::size_t(stride_)) {}

void DocumentStep::take(const DocumentTerms &document) {
  blocks_ = (document.size() + group - 1) / group;
  const std::size_t padded = blocks_ * group;
  if (counts_.size() < padded) {
    for (Buffer *const each : {&counts_, &norms_, &ratios_}) each->resize(padded);
    rows_.resize(padded);
  }
  for (std::size_t i = 0; i < document.size(); ++i) {
    rows_[i] = factors_.of(document.terms[i]);
    counts_[i] = document.counts[i];
  }
  for (std::size_t i = document.size(); i < padded; ++i) rows_[i] = ones_.data(), counts_[i] = 0;
  const double sum = prior_.sum + document.tokens();
  digamma_of_sum_ = digamma(sum);
  inverse_ = 1 / simd::exp_digamma(simd::all(sum))[0];
}

void DocumentStep::weigh(const double *tokens) {
  each_vector(stride_, [&](int at, int) {
    const simd::Vector gamma = simd::load(prior_.alpha.data() + at) + simd::load(tokens + at);
    simd::store(weights_.data() + at,
                simd::max(simd::exp_digamma(gamma) * inverse_, simd::all(least_factor)));
  });
}

void DocumentStep::divide() {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  alignas(cache_line) double partial[group * simd::sum_lanes];
  const double *const weights = weights_.data();
  for (std::size_t block = 0; block < blocks_; ++block) {
    poll_(2 * group * std::size_t(stride_));
    const double *const *const rows = rows_.data() + block * group;
    for (int half = 0; half < group; half += 4) {
      simd::Vector p[4][simd::registers] = {};
      for (int k = 0; k < stride_; k += simd::sum_lanes)
        for (int g = 0; g < simd::registers; ++g) {
          const simd::Vector t = simd::load(weights + k + g * lanes);
          for (int i = 0; i < 4; ++i)
            p[i][g] = simd::madd(simd::load(rows[half + i] + k + g * lanes), t, p[i][g]);
        }
      for (int i = 0; i < 4; ++i)
        for (int g = 0; g < simd::registers; ++g)
          simd::store(partial + (half + i) * simd::sum_lanes + g * lanes, p[i][g]);
    }
    double *const ratios = ratios_.data() + block * group;
    for (int i = 0; i < group; i += lanes) {
      const simd::Vector norm = simd::sums(partial + i * simd::sum_lanes);
      simd::store(norms_.data() + block * group + std::size_t(i), norm);
      simd::store(ratios + i, simd::load(counts_.data() + block * group + std::size_t(i)) / norm);
    }
    simd::Vector ratio[group];
    for (int i = 0; i < group; ++i) ratio[i] = simd::all(ratios[i]);
    each_vector(stride_, [&](int at, int) {
      simd::Vector even = simd::load(sums_.data() + at), odd = {};
      for (int i = 0; i < group; i += 2) {
        even = simd::madd(ratio[i], simd::load(rows[i] + at), even);
        odd = simd::madd(ratio[i + 1], simd::load(rows[i + 1] + at), odd);
      }
      simd::store(sums_.data() + at, even + odd);
    });
  }
}

double DocumentStep::infer(const DocumentTerms &document, LocalLimits limits, bool fresh,
                           double *tokens) {
  take(document);
  const double all_tokens = document.tokens();
  if (fresh) {
    std::fill(weights_.begin(), weights_.end(), 1.0);
    divide();
    std::copy(sums_.begin(), sums_.end(), tokens);
  }
  // The padding of the sums is that of the rows, 0, but of a row of ones that is not there.
  for (int update = 0;; ++update) {
    weigh(tokens);
    divide();
    LaneSum moved;
    each_vector(stride_, [&](int at, int g) {
      const simd::Vector next = simd::load(weights_.data() + at) * simd::load(sums_.data() + at);
      const simd::Vector change = next - simd::load(tokens + at);
      moved.partial[g] += simd::max(change, -change);
      simd::store(sums_.data() + at, next);
    });
    if (update >= limits.updates || moved.total() <= limits.moved * all_tokens) break;
    std::copy(sums_.begin(), sums_.end(), tokens);
  }
  LaneSum log_norms, bound;
  for (std::size_t i = 0; i < blocks_ * group; i += simd::sum_lanes)
    for (int g = 0; g < simd::registers; ++g) {
      const std::size_t at = i + std::size_t(g * lanes);
      log_norms.partial[g] =
          simd::madd(simd::load(counts_.data() + at), simd::log(simd::load(norms_.data() + at)),
                     log_norms.partial[g]);
    }
  double of_terms = log_norms.total();
  for (std::size_t i = 0; i < document.size(); ++i)
    of_terms += document.counts[i] * factors_.log_scale(document.terms[i]);
  each_vector(stride_, [&](int at, int g) {
    const simd::Vector n = simd::load(tokens + at);
    const simd::GammaPair pair =
        simd::digamma_and_log_gamma(simd::load(prior_.alpha.data() + at) + n);
    const simd::Vector logs = pair.digamma - digamma_of_sum_;
    simd::store(logs_.data() + at, logs);
    bound.partial[g] += pair.log_gamma - n * logs;
  });
  std::copy(sums_.begin(), sums_.end(), tokens);
  return of_terms + bound.total() - log_gamma(prior_.sum + all_tokens) - prior_.log_normaliser;
}

TopicStatistics::TopicStatistics(std::int32_t terms, int topics)
    : stride_(padded_topics(topics)),
      index_(std::size_t(terms), -1),
      tokens_(std::size_t(stride_), 0.0),
      logs_(std::size_t(stride_), 0.0) {}

double *TopicStatistics::row(std::int32_t term, bool &added) {
  std::int32_t &index = index_[std::size_t(term)];
  added = index < 0;
  if (added) {
    index = std::int32_t(terms_.size());
    terms_.push_back(term);
    const std::size_t needed = terms_.size() * std::size_t(stride_);
    if (rows_.size() < needed) rows_.resize(std::max(needed, 2 * rows_.size()));
  }
  return rows_.data() + std::size_t(index) * std::size_t(stride_);
}

void TopicStatistics::add(const DocumentTerms &document, const DocumentStep &step, double bound,
                          const double *tokens) {
  const double *const weights = step.weights();
  const std::size_t most = std::min(terms_.size() + document.size(), index_.size());
  if (most * std::size_t(stride_) > 2 * rows_.size()) grow(rows_, most * std::size_t(stride_));
  for (std::size_t i = 0; i < document.size(); ++i) {
    poll_(std::size_t(stride_));
    const double ratio = step.ratios()[i];
    bool added;
    double *const to = row(document.terms[i], added);
    if (added)
      each_vector(stride_,
                  [&](int at, int) { simd::store(to + at, ratio * simd::load(weights + at)); });
    else
      each_vector(stride_, [&](int at, int) {
        simd::store(to + at, simd::madd(ratio, simd::load(weights + at), simd::load(to + at)));
      });
  }
  each_vector(stride_, [&](int at, int) {
    simd::store(logs_.data() + at,
                simd::load(logs_.data() + at) + simd::load(step.expected_logs() + at));
  });
  count(bound, tokens);
}

void TopicStatistics::add(const DocumentTerms &document, const float *shares, double bound,
                          const double *tokens) {
  for (std::size_t i = 0; i < document.size(); ++i, shares += stride_) {
    const double c = document.counts[i];
    bool added;
    double *const to = row(document.terms[i], added);
    if (added)
      each_vector(stride_,
                  [&](int at, int) { simd::store(to + at, c * load_floats(shares + at)); });
    else
      each_vector(stride_, [&](int at, int) {
        simd::store(to + at, simd::madd(c, load_floats(shares + at), simd::load(to + at)));
      });
  }
  count(bound, tokens);
}

void TopicStatistics::count(double bound, const double *tokens) {
  each_vector(stride_, [&](int at, int) {
    simd::store(tokens_.data() + at, simd::load(tokens_.data() + at) + simd::load(tokens + at));
  });
  bound_ += bound;
  ++documents_;
}

void TopicStatistics::merge(TopicStatistics &other) {
  if (documents_ == 0 && terms_.empty()) return std::swap(*this, other);
  for (std::size_t i = 0; i < other.terms_.size(); ++i) {
    const double *const from = other.of(i);
    bool added;
    double *const to = row(other.terms_[i], added);
    if (added)
      std::copy_n(from, stride_, to);
    else
      each_vector(stride_, [&](int at, int) {
        simd::store(to + at, simd::load(to + at) + simd::load(from + at));
      });
  }
  for (int k = 0; k < stride_; ++k) {
    tokens_[std::size_t(k)] += other.tokens_[std::size_t(k)];
    logs_[std::size_t(k)] += other.logs_[std::size_t(k)];
  }
  bound_ += other.bound_;
  documents_ += other.documents_;
}

void TopicStatistics::clear() {
  for (const std::int32_t term : terms_) index_[std::size_t(term)] = -1;
  terms_.clear();
  std::fill(tokens_.begin(), tokens_.end(), 0.0);
  std::fill(logs_.begin(), logs_.end(), 0.0);
  bound_ = 0;
  documents_ = 0;
}

}  // namespace bayes
