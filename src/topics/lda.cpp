// Accessors of a fitted topic model, and proportions of documents.
#include "topics/lda.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "base/special.hpp"
#include "counts/document_parts.hpp"
#include "families/parameter.hpp"
#include "mcmc/stored_draws.hpp"
#include "topics/document_step.hpp"
#include "topics/lda_evaluation.hpp"
#include "topics/lda_state.hpp"
#include "topics/lda_variational.hpp"

namespace bayes {
namespace {

/// The posterior of a document's proportions given topics: parameters of a Dirichlet distribution.
std::vector<double> proportions_under(const TopicDraw &topics, Method method,
                                      const DocumentTerms &whole) {
  const FilteredDocument possible(
      whole, [&topics](std::int32_t term) { return is_possible(term, topics.numbers); });
  const DocumentTerms document = possible.terms();
  const std::int32_t terms = std::int32_t(document.size());
  const int k = topics.numbers.columns();
  // Only rows of the document's terms are needed.
  PaddedMatrix rows(terms, k);
  std::vector<std::int32_t> places(document.size());
  TermFactors factors(terms, k);
  const bool expected = is_variational(method);
  for (std::int32_t i = 0; i < terms; ++i) {
    places[std::size_t(i)] = i;
    const double *const from = topics.numbers.row(document.terms[std::size_t(i)]);
    double *const to = rows.row(i);
    for (int j = 0; j < k; ++j)
      to[j] = expected ? from[j] : from[j] / topics.totals[std::size_t(j)];
  }
  if (expected) {
    Buffer digammas(std::size_t(rows.stride()), 0.0);
    for (int j = 0; j < k; ++j) digammas[std::size_t(j)] = digamma(topics.totals[std::size_t(j)]);
    for (std::int32_t i = 0; i < terms; ++i) factors.expect(i, {rows}, digammas.data());
  } else {
    for (std::int32_t i = 0; i < terms; ++i) factors.set_points(i, rows);
  }
  return infer_proportions({places, document.counts}, factors, topics.alpha);
}

TopicDraw view_of(const FittedTopics &topics) {
  return {topics.numbers, topics.totals, topics.alpha};
}

/// The same with probabilities of unknown terms, for scoring.
TopicDraw scoring_view_of(const FittedTopics &topics, const TopicModel::State &state) {
  TopicDraw out = view_of(topics);
  for (std::size_t k = 0; k < topics.totals.size(); ++k) {
    if (topics.eta > 0)
      out.unseen.push_back(topics.eta / (topics.totals[k] + topics.eta));
    else if (state.tokens > 0)
      out.unseen.push_back(1 / (state.tokens * state.weights[k] + double(state.terms.size()) + 1));
  }
  return out;
}

}  // namespace

void FittedTopics::sum_up() {
  totals.assign(std::size_t(numbers.columns()), 0.0);
  WorkPoll poll;
  for (std::int32_t w = 0; w < numbers.rows(); ++w) {
    for (std::size_t k = 0; k < totals.size(); ++k) totals[k] += numbers.row(w)[k];
    poll(totals.size());
  }
}

TopicModel::TopicModel() : state(std::make_unique<State>()) { info.family = "lda"; }
TopicModel::~TopicModel() = default;

const std::vector<std::string> &TopicModel::terms() const { return state->terms; }

std::int32_t TopicModel::code(std::string_view term) const {
  const auto &terms = state->terms;
  const auto at = std::lower_bound(terms.begin(), terms.end(), term);
  if (at == terms.end() || *at != term) return -1;
  const std::int32_t code = std::int32_t(at - terms.begin());
  return is_possible(code, state->fitted.numbers) ? code : -1;
}

double TopicModel::probability(int topic, std::int32_t term) const {
  const FittedTopics &fitted = state->fitted;
  return fitted.numbers.row(term)[topic] / fitted.totals[std::size_t(topic)];
}

std::vector<double> TopicModel::topic(int index) const {
  std::vector<double> out(state->terms.size());
  for (std::size_t w = 0; w < out.size(); ++w) out[w] = probability(index, std::int32_t(w));
  return out;
}

std::vector<double> TopicModel::topic_posterior(int index) const {
  if (!is_variational(info.method)) return {};
  std::vector<double> out(state->terms.size());
  for (std::size_t w = 0; w < out.size(); ++w)
    out[w] = state->fitted.numbers.row(std::int32_t(w))[index];
  return out;
}

const ModelWords &TopicModel::words() const {
  static constexpr ModelWords words = {
      .part = "topic",
      .parts = "topics",
      .unit = "token",
      .tolerance_per_unit = true,
      .takes = "documents",
      .functions = "lda_proportions, lda_predict and lda_perplexity take a model and a document."};
  return words;
}

void TopicModel::describe_parameters(std::optional<double> level, const TakeParameter &take) const {
  const ParameterTable table(level, take, Parameter::mean_field);
  for (int k = 0; k < size(); ++k) {
    Parameter weight;
    weight.component = k;
    weight.name = "weight";
    weight.value = weights()[std::size_t(k)];
    table.at_point(weight);
    const std::vector<double> alphas = topic_posterior(k);
    double sum = 0;
    for (const double a : alphas) sum += a;
    for (std::size_t w = 0; w < terms().size(); ++w) {
      Parameter p;
      p.component = k;
      p.name = "probability";
      p.label = &terms()[w];
      p.value = probability(k, std::int32_t(w));
      if (alphas.empty())
        table.at_point(p);
      else
        table.under(p, {Marginal::Kind::beta, alphas[w], sum - alphas[w]});
    }
  }
}

ParameterDraws TopicModel::draw_parameters(std::uint64_t seed) const {
  if (stored_draws() == 0) return Model::draw_parameters(seed);
  ParameterDraws out = undrawn_parameters();
  // The weight of a topic is its share of the tokens, not a parameter.
  std::erase_if(out.parameters,
                [](const Parameter &each) { return std::string_view(each.name) == "weight"; });
  out.stored = stored_draws();
  out.draw = [this, seed](std::uint64_t number) {
    const PaddedMatrix &numbers = state->draws[number].numbers;
    Random random(seed, number);
    std::vector<double> values, alpha(terms().size()), drawn(terms().size());
    for (int k = 0; k < size(); ++k) {
      poll_here();
      for (std::size_t w = 0; w < alpha.size(); ++w) alpha[w] = numbers.row(std::int32_t(w))[k];
      random.dirichlet(alpha, drawn);
      values.insert(values.end(), drawn.begin(), drawn.end());
    }
    return values;
  };
  return out;
}

std::optional<LabelProfiles> TopicModel::label_profiles() const {
  return LabelProfiles{
      terms(), weights(),
      // Not code(), which returns -1 for a term of probability 0.
      [&terms = terms()](std::string_view term) {
        const auto at = std::lower_bound(terms.begin(), terms.end(), term);
        return at == terms.end() || *at != term ? -1 : std::int32_t(at - terms.begin());
      },
      [this](std::int32_t term, int topic) { return probability(topic, term); }, "probability"};
}

const std::vector<double> &TopicModel::weights() const { return state->weights; }
const std::vector<double> &TopicModel::alpha() const { return state->fitted.alpha; }
double TopicModel::eta() const { return state->fitted.eta; }
std::int64_t TopicModel::stored_draws() const { return std::int64_t(state->draws.size()); }

LdaProportions TopicModel::proportions(const DocumentTerms &document) const {
  const std::size_t k = std::size_t(size());
  LdaProportions out{std::vector<double>(k, 0.0), std::vector<double>(k, 0.0)};
  std::vector<double> &mean = out.mean, &deviation = out.deviation;
  // Over draws: the mean of the means; the mean of the variances plus the variance of the means.
  std::vector<double> variance(k, 0.0);
  double draws = 0;
  const auto add = [&](const FittedTopics &topics) {
    const std::vector<double> gamma = proportions_under(view_of(topics), info.method, document);
    double sum = 0;
    for (const double g : gamma) sum += g;
    ++draws;
    for (std::size_t i = 0; i < k; ++i) {
      const double p = gamma[i] / sum, change = p - mean[i];
      mean[i] += change / draws;
      deviation[i] += change * (p - mean[i]);
      variance[i] += p * ((sum - gamma[i]) / sum) / (sum + 1);
    }
  };
  if (state->draws.empty()) add(state->fitted);
  for (const FittedTopics &draw : state->draws) add(draw);
  for (std::size_t i = 0; i < k; ++i)
    deviation[i] = std::sqrt((deviation[i] + variance[i]) / draws);
  return out;
}

std::vector<TopicDraw> TopicModel::scoring_draws(std::int64_t max_draws) const {
  const std::vector<FittedTopics> &draws = state->draws;
  if (draws.empty()) return {scoring_view_of(state->fitted, *state)};
  std::vector<TopicDraw> out;
  EvenlySpaced chosen(stored_draws(), std::min(max_draws, stored_draws()));
  for (std::size_t s = 0; s < draws.size(); ++s)
    if (chosen.takes(std::int64_t(s))) {
      out.push_back(scoring_view_of(draws[s], *state));
      out.back().sampled = true;
    }
  return out;
}

std::vector<double> TopicModel::proportions(const DocumentTerms &document,
                                            const TopicDraw &draw) const {
  std::vector<double> out = proportions_under(draw, info.method, document);
  double sum = 0;
  for (const double g : out) sum += g;
  for (double &p : out) p /= sum;
  return out;
}

}  // namespace bayes
