#include "topics/document_step.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/simd_gamma.hpp"
#include "base/special.hpp"
#include "topics/topic_lanes.hpp"

namespace bayes {
namespace {

/// Two of them multiplied are a normal number.
constexpr double least_factor = 1e-148;
const double log_least_factor = std::log(least_factor);

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
    : division_(factors),
      prior_(prior),
      stride_(factors.values().stride()),
      weights_(std::size_t(stride_)),
      logs_(std::size_t(stride_)) {}

double DocumentStep::infer(const DocumentTerms &document, LocalLimits limits, bool fresh,
                           double *tokens) {
  division_.take(document);
  const double all_tokens = document.tokens(), sum = prior_.sum + all_tokens;
  const double digamma_of_sum = digamma(sum), inverse = 1 / simd::exp_digamma(simd::all(sum))[0];
  double *const sums = division_.sums();
  if (fresh) {
    std::fill(weights_.begin(), weights_.end(), 1.0);
    division_.divide(weights_.data());
    std::copy_n(sums, stride_, tokens);
  }
  // The padding of the sums is that of the rows, 0, but of a row of ones that is not there.
  for (int update = 0;; ++update) {
    each_vector(stride_, [&](int at, int) {
      const simd::Vector gamma = simd::load(prior_.alpha.data() + at) + simd::load(tokens + at);
      simd::store(weights_.data() + at,
                  simd::max(simd::exp_digamma(gamma) * inverse, simd::all(least_factor)));
    });
    division_.divide(weights_.data());
    LaneSum moved;
    each_vector(stride_, [&](int at, int g) {
      const simd::Vector next = simd::load(weights_.data() + at) * simd::load(sums + at);
      const simd::Vector change = next - simd::load(tokens + at);
      moved.partial[g] += simd::max(change, -change);
      simd::store(sums + at, next);
    });
    if (update >= limits.updates || moved.total() <= limits.moved * all_tokens) break;
    std::copy_n(sums, stride_, tokens);
  }
  LaneSum bound;
  each_vector(stride_, [&](int at, int g) {
    const simd::Vector n = simd::load(tokens + at);
    const simd::GammaPair pair =
        simd::digamma_and_log_gamma(simd::load(prior_.alpha.data() + at) + n);
    const simd::Vector logs = pair.digamma - digamma_of_sum;
    simd::store(logs_.data() + at, logs);
    bound.partial[g] += pair.log_gamma - n * logs;
  });
  std::copy_n(sums, stride_, tokens);
  return division_.log_norms(document) + bound.total() - log_gamma(sum) - prior_.log_normaliser;
}

TopicStatistics::TopicStatistics(std::int32_t terms, int topics, bool all_terms)
    : stride_(padded_topics(topics)),
      all_terms_(all_terms),
      tokens_(std::size_t(stride_), 0.0),
      logs_(std::size_t(stride_), 0.0) {
  if (all_terms) {
    terms_.resize(std::size_t(terms));
    std::iota(terms_.begin(), terms_.end(), 0);
    grow(rows_, std::size_t(terms) * std::size_t(stride_));
  } else {
    index_.assign(std::size_t(terms), -1);
  }
}

std::int32_t TopicStatistics::new_row(std::int32_t term) {
  const std::size_t begin = terms_.size() * std::size_t(stride_),
                    end = begin + std::size_t(stride_);
  index_[std::size_t(term)] = std::int32_t(terms_.size());
  terms_.push_back(term);
  if (rows_.size() < end) rows_.resize(std::max(end, 2 * rows_.size()));
  std::fill(rows_.begin() + std::ptrdiff_t(begin), rows_.begin() + std::ptrdiff_t(end), 0.0);
  return index_[std::size_t(term)];
}

// They lie all over the memory, so long ones are asked for before the first is needed.
void TopicStatistics::find_rows(std::span<const std::int32_t> terms) {
  const std::size_t stride = std::size_t(stride_);
  places_.resize(terms.size());
  if (all_terms_) {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      places_[i] = std::size_t(terms[i]) * stride;
      fetch_long_row(rows_.data() + places_[i], stride_);
    }
    return;
  }
  const std::size_t most = std::min(terms_.size() + terms.size(), index_.size());
  if (most * stride > 2 * rows_.size()) grow(rows_, most * stride);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::int32_t known = index_[std::size_t(terms[i])];
    places_[i] = std::size_t(known < 0 ? new_row(terms[i]) : known) * stride;
    if (known >= 0) fetch_long_row(rows_.data() + places_[i], stride_);
  }
}

template <int Eights>
void TopicStatistics::add_rows(std::size_t begin, std::size_t end, const DividedTokens &divided) {
  constexpr int vectors = std::max(1, Eights) * simd::registers;
  simd::Vector weights[vectors];
  for (int v = 0; v < vectors; ++v) weights[v] = simd::load(divided.weights + v * simd::lanes);
  for (std::size_t i = begin; i < end; ++i) {
    const simd::Vector ratio = simd::all(divided.ratios[i]);
    double *const to = rows_.data() + places_[i];
    const auto add = [&](int at, simd::Vector weight) {
      simd::store(to + at, simd::madd(ratio, weight, simd::load(to + at)));
    };
    if constexpr (Eights > 0)
      for (int v = 0; v < vectors; ++v) add(v * simd::lanes, weights[v]);
    else
      each_vector(stride_, [&](int at, int) { add(at, simd::load(divided.weights + at)); });
  }
}

void TopicStatistics::add(const DocumentTerms &document, const DividedTokens &divided, double bound,
                          const double *tokens) {
  find_rows(document.terms);
  constexpr std::size_t between_polls = 64;
  for (std::size_t begin = 0; begin < document.size(); begin += between_polls) {
    const std::size_t end = std::min(begin + between_polls, document.size());
    poll_((end - begin) * std::size_t(stride_));
    with_short_rows(stride_, [&](auto eights) { add_rows<eights>(begin, end, divided); });
  }
  each_vector(stride_, [&](int at, int) {
    simd::store(logs_.data() + at, simd::load(logs_.data() + at) + simd::load(divided.logs + at));
  });
  count(bound, tokens);
}

void TopicStatistics::add(const DocumentTerms &document, const float *shares, double bound,
                          const double *tokens) {
  find_rows(document.terms);
  for (std::size_t i = 0; i < document.size(); ++i, shares += stride_) {
    const double c = document.counts[i];
    double *const to = rows_.data() + places_[i];
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

void TopicStatistics::merge_rows(const TopicStatistics &other) {
  find_rows(other.terms_);
  for (std::size_t i = 0; i < other.terms_.size(); ++i) {
    const double *const from = other.of(i);
    double *const to = rows_.data() + places_[i];
    each_vector(stride_, [&](int at, int) {
      simd::store(to + at, simd::load(to + at) + simd::load(from + at));
    });
  }
}

void TopicStatistics::merge(TopicStatistics &other) {
  if (documents_ == 0) return std::swap(*this, other);
  if (all_terms_)
    for (std::size_t i = 0; i < rows_.size(); i += simd::lanes)
      simd::store(rows_.data() + i,
                  simd::load(rows_.data() + i) + simd::load(other.rows_.data() + i));
  else
    merge_rows(other);
  for (int k = 0; k < stride_; ++k) {
    tokens_[std::size_t(k)] += other.tokens_[std::size_t(k)];
    logs_[std::size_t(k)] += other.logs_[std::size_t(k)];
  }
  bound_ += other.bound_;
  documents_ += other.documents_;
}

void TopicStatistics::clear() {
  if (all_terms_) {
    std::fill(rows_.begin(), rows_.end(), 0.0);
  } else {
    for (const std::int32_t term : terms_) index_[std::size_t(term)] = -1;
    terms_.clear();
  }
  std::fill(tokens_.begin(), tokens_.end(), 0.0);
  std::fill(logs_.begin(), logs_.end(), 0.0);
  bound_ = 0;
  documents_ = 0;
}

}  // namespace bayes
