// Serialisation of topic models; every number is checked on reading.
#include <cmath>

#include "base/control.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "topics/lda_state.hpp"

namespace bayes {
namespace {

constexpr double max_parameter = 1e15;
/// parameters of topics: several documents may have a count of 1e15
constexpr double max_topic_parameter = 1e18;

Tensor by_topic(const PaddedMatrix &numbers) {
  Tensor out{{numbers.columns(), numbers.rows()}, {}};
  out.values.reserve(std::size_t(numbers.columns()) * std::size_t(numbers.rows()));
  for (int k = 0; k < numbers.columns(); ++k) {
    poll_here();
    for (std::int32_t w = 0; w < numbers.rows(); ++w) out.values.push_back(numbers.row(w)[k]);
  }
  return out;
}

PaddedMatrix by_term(std::span<const double> values, std::int32_t terms, int topics) {
  PaddedMatrix out(terms, topics);
  for (int k = 0; k < topics; ++k) {
    poll_here();
    for (std::int32_t w = 0; w < terms; ++w)
      out.row(w)[k] = values[std::size_t(k) * std::size_t(terms) + std::size_t(w)];
  }
  return out;
}

void require_positive(const MemberReader &in, const char *key, std::span<const double> values,
                      double max = max_parameter) {
  for (const double x : values)
    if (!(x > 0 && x <= max))
      in.reject(key, message("contains {}, but its numbers must be greater than 0 and at most {}",
                             describe(x), describe_number(max)));
}

/// Requires probabilities: not negative, with a sum of 1 for each topic.
void require_probabilities(const MemberReader &in, const char *key, const FittedTopics &topics) {
  for (const double x : topics.numbers.values())
    if (!(x >= 0)) in.reject(key, "must not be negative");
  for (const double sum : topics.totals)
    if (!(std::abs(sum - 1) < 1e-9)) in.reject(key, "must have topics that sum to 1");
}

/// Terms, in the order of their bytes.
std::vector<std::string> read_terms(const MemberReader &in, int count) {
  std::vector<std::string> out = in.rising_texts("terms", "term");
  if (out.size() != std::size_t(count))
    in.reject("terms", message("must be an array of {} terms", count));
  return out;
}

void write_draws(Document &document, const std::vector<FittedTopics> &draws) {
  const std::int64_t count = std::int64_t(draws.size()), k = draws[0].numbers.columns(),
                     v = draws[0].numbers.rows();
  Tensor topics{{count, k, v}, {}}, alpha{{count, k}, {}}, eta{{count}, {}};
  for (const FittedTopics &draw : draws) {
    const Tensor numbers = by_topic(draw.numbers);
    topics.values.insert(topics.values.end(), numbers.values.begin(), numbers.values.end());
    alpha.values.insert(alpha.values.end(), draw.alpha.begin(), draw.alpha.end());
    eta.values.push_back(draw.eta);
  }
  document.set("draws_of_topics", Document::object()
                                      .set("topics", std::move(topics))
                                      .set("alpha", std::move(alpha))
                                      .set("eta", std::move(eta)));
}

std::vector<FittedTopics> read_topic_draws(const MemberReader &in, std::int32_t v, int k) {
  const Tensor eta = in.tensor("eta", {-1});
  const std::int64_t count = eta.shape[0];
  if (count == 0) in.reject("eta", "must not be empty");
  const Tensor topics = in.tensor("topics", {count, k, v}), alpha = in.tensor("alpha", {count, k});
  require_positive(in, "topics", topics.values, max_topic_parameter);
  require_positive(in, "alpha", alpha.values);
  require_positive(in, "eta", eta.values);
  std::vector<FittedTopics> out(static_cast<std::size_t>(count));
  const std::size_t each = std::size_t(k) * std::size_t(v);
  for (std::size_t s = 0; s < out.size(); ++s) {
    out[s].numbers = by_term({topics.values.data() + s * each, each}, v, k);
    out[s].sum_up();
    out[s].alpha.assign(alpha.values.begin() + std::ptrdiff_t(s) * k,
                        alpha.values.begin() + std::ptrdiff_t(s + 1) * k);
    out[s].eta = eta.values[s];
  }
  return out;
}

}  // namespace

void TopicModel::write(Document &document) const {
  const State &s = *state;
  const std::int64_t k = s.fitted.numbers.columns();
  document.set("terms", Document::List(s.terms.begin(), s.terms.end()))
      .set("weights", Tensor{{k}, s.weights})
      .set("alpha", Tensor{{k}, s.fitted.alpha})
      .set("topics", by_topic(s.fitted.numbers));
  if (info.method != Method::em)
    document.set("eta", s.fitted.eta);
  else if (s.tokens > 0)
    document.set("tokens", s.tokens);
  if (!s.draws.empty()) write_draws(document, s.draws);
}

std::unique_ptr<Model> read_topic_model(const Document &document) {
  auto model = std::make_unique<TopicModel>();
  const MemberReader in(document);
  const ModelInfo &info = model->info =
      read_model_info(document, lda_methods, lda_max_terms, lda_max_topics);
  const int k = info.components, v = info.dimension;
  TopicModel::State &state = *model->state;
  const bool point = info.method == Method::em, sampled = is_sampler(info.method);
  state.terms = read_terms(in, v);
  state.weights = in.tensor("weights", {k}).values;
  double sum = 0;
  for (const double w : state.weights) {
    if (!(w >= 0)) in.reject("weights", "must not be negative");
    sum += w;
  }
  if (!(std::abs(sum - 1) < 1e-9)) in.reject("weights", "must sum to 1");
  state.fitted.alpha = in.tensor("alpha", {k}).values;
  require_positive(in, "alpha", state.fitted.alpha);
  const Tensor topics = in.tensor("topics", {k, v});
  state.fitted.numbers = by_term(topics.values, v, k);
  state.fitted.sum_up();
  if (point) {
    require_probabilities(in, "topics", state.fitted);
    if (in.has("tokens")) state.tokens = in.number("tokens", 0, max_topic_parameter, true);
  } else {
    require_positive(in, "topics", topics.values, max_topic_parameter);
    state.fitted.eta = in.number("eta", 0, max_parameter, true);
  }
  if (sampled && in.has("draws_of_topics"))
    state.draws = read_topic_draws(in.object("draws_of_topics"), v, k);
  return model;
}

}  // namespace bayes
