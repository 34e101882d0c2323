// What the fuzzer asks of models that were accepted.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "classification/nb.hpp"
#include "conjugate/conjugate.hpp"
#include "conjugate/dirichlet_categorical.hpp"
#include "data/rows.hpp"
#include "data/sequences.hpp"
#include "factor/nmf.hpp"
#include "factor/pmf.hpp"
#include "markov/hmm.hpp"
#include "mixture/bmm.hpp"
#include "mixture/dpmm.hpp"
#include "mixture/gmm.hpp"
#include "questions/answers.hpp"
#include "questions/conditional_model.hpp"
#include "regression/glm.hpp"
#include "regression/linreg.hpp"
#include "topics/lda.hpp"

namespace model_uses {

using bayes::Error;

[[noreturn]] inline void fail(const char *what) {
  std::fprintf(stderr, "model_fuzz: %s\n", what);
  std::abort();
}

/// Whatever numbers an accepted model holds, its functions return or throw Error.
template <class Ask> void attempt(Ask ask) {
  try {
    ask();
  } catch (const Error &error) {
    if (error.code() == bayes::Errc::internal) fail("an accepted model has an internal error");
  }
}

inline void use_binary(const bayes::Glm &model) {
  attempt([&] {
    model.coefficients(0.9, [](const bayes::Coefficient &c) {
      if (c.term->empty()) fail("a coefficient without a name");
    });
  });
  for (const double value : {0.0, 1.5, -1e150}) {
    const std::vector<double> row(std::size_t(model.info.dimension), value);
    attempt([&] { model.probability(row); });
    attempt([&] { model.predict(row, 0.9); });
    attempt([&] { model.predict_response(row, 0.9); });
    attempt([&] { model.predict_levels(row, 0.9); });
    attempt([&] { model.score(row, 1); });
  }
}

template <class Mixture> void use_rows(const Mixture &model, double value) {
  // one more for a new cluster
  std::vector<double> x(std::size_t(model.dimension()), value),
      probabilities(std::size_t(model.size()) + 1);
  attempt([&] { model.predict(x); });
  attempt([&] {
    model.probabilities(x, std::span(probabilities)
                               .first(probabilities.size() -
                                      !std::is_same_v<Mixture, bayes::DirichletProcessMixture>));
  });
  attempt([&] { model.log_density(x); });
  attempt([&] {
    bayes::Control control;
    model.mcse(x, control);
  });
}

inline void use_conditional(const bayes::ConditionalModel &model) {
  std::unique_ptr<bayes::RowDistribution> rows;
  attempt([&] { rows = model.row_distribution(); });
  if (!rows) return;
  const std::vector<double> missing(std::size_t(rows->dimension()),
                                    std::numeric_limits<double>::quiet_NaN());
  attempt([&] { rows->condition(missing); });
  for (int j = 0; j < rows->dimension(); ++j) attempt([&] { bayes::value_given(*rows, j); });
  attempt([&] {
    std::vector<double> given = missing;
    given[0] = 1;
    bayes::condition(bayes::Model::from_bytes(model.to_bytes()), given);
  });
}

template <class M> void use_parameters(const M &model) {
  attempt([&] { model.describe_parameters(0.9, [](const bayes::Parameter &) {}); });
}

template <class Mixture> void use_mixture(const Mixture &model) {
  use_parameters(model);
  use_rows(model, 1);  // allowed in a column of any family
  attempt([&] { model.component(0); });
  attempt([&] { model.posterior(model.size() - 1); });
  attempt([&] { model.icl(); });
}

inline void use_chain(const bayes::HiddenMarkovModel &model) {
  use_parameters(model);
  const int d = model.dimension();
  const std::vector<double> missing(std::size_t(d), std::numeric_limits<double>::quiet_NaN());
  std::vector<double> x(std::size_t(d), model.symbols() ? 0.0 : 1.0);
  bool known = false;
  attempt([&] {
    model.check(x, 1);
    known = true;
  });
  if (!known) x = missing;
  bayes::MemoryRows rows({d, true});
  bayes::Sequences one{rows, d};
  bayes::SequenceWriter writer(
      one, rows.shape(), [&rows](const double *step, double weight) { rows.append(step, weight); });
  writer.begin(3, 1);
  for (const std::vector<double> *step : {&std::as_const(x), &missing, &std::as_const(x)})
    writer.step(step->data());
  bayes::Control control;
  attempt([&] { model.log_likelihood(one, control); });
  attempt([&] { model.decode(one, control); });
  attempt([&] { model.decode_best(one, 3, control); });
  attempt([&] { model.smooth(one, control, [](std::int64_t, int, const double *) {}); });
  attempt([&] { model.predict(one, 3, control, [](const auto &) {}); });
  attempt([&] {
    bayes::HiddenMarkovModel::Filter filter(model);
    filter.next(x);
    filter.next(missing);
  });
  attempt([&] { model.state_at(model.size() - 1); });
  attempt([&] { model.transitions([](const bayes::HmmTransition &) {}); });
  attempt([&] { model.emissions([](const bayes::HmmEmission &) {}); });
  attempt([&] { model.posterior([](const bayes::HmmPosterior &) {}); });
  attempt([&] { model.sample(1, 2, 3, [](int, std::span<const double>) {}); });
}

inline void use_topics(const bayes::TopicModel &model) {
  const int last = model.size() - 1;
  attempt([&] { model.topic(last); });
  attempt([&] { model.topic_posterior(last); });
  attempt([&] { model.code(model.terms().back()); });
  const std::int32_t term = std::int32_t(model.terms().size()) - 1;
  const double count = 2;
  attempt([&] { model.proportions({}); });
  attempt([&] { model.proportions({{&term, 1}, {&count, 1}}); });
}

inline void use_ratings(const bayes::PmfModel &model) {
  const auto last = [&](bayes::Side side) { return std::int32_t(model.keys(side).size()) - 1; };
  for (const std::int32_t row : {-1, last(bayes::Side::row)})
    for (const std::int32_t column : {-1, last(bayes::Side::column)})
      attempt([&] {
        const bayes::PmfPrediction p = model.predict(row, column);
        if (std::isnan(p.mean) || std::isnan(p.sd)) fail("a predicted rating is not a number");
      });
  for (const bayes::Side side : {bayes::Side::row, bayes::Side::column}) {
    attempt([&] { model.code(side, model.keys(side).back()); });
    attempt([&] { model.similar(side, last(side), 2); });
  }
  attempt([&] { model.recommend(last(bayes::Side::row), 2, false); });
  attempt([&] { model.recommend(-1, 2, true); });
}

inline void use_classes(const bayes::BayesClassifier &model) {
  attempt([&] { model.describe_parameters(0.9, [](const bayes::Parameter &) {}); });
  for (int k = 0; k < model.classes(); ++k) attempt([&] { model.class_of(k); });
  const double missing = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {1.0, 0.5, missing}) {
    if (model.sparse()) {
      const bayes::NbWord words[] = {{0, value}, {model.info.dimension - 1, missing}};
      attempt([&] { model.log_joint(std::span<const bayes::NbWord>(words)); });
    } else {
      const std::vector<double> x(std::size_t(model.info.dimension), value);
      attempt([&] { model.log_joint(x); });
    }
  }
  attempt([&] {
    const auto other = bayes::Model::from_bytes(model.to_bytes());
    other->merge(model);
  });
}

inline void use_regression(const bayes::LinregModel &model) {
  attempt([&] { model.coefficients(0.9, [](const bayes::Coefficient &) {}); });
  attempt([&] { model.noise_variance(0.5); });
  const std::vector<double> row(std::size_t(model.info.dimension), 0.0);
  attempt([&] { model.predict(row, 0.9); });
}

inline void use_factors(const bayes::NmfModel &model) {
  const auto last = [&](bayes::Side side) { return std::int32_t(model.keys(side).size()) - 1; };
  for (const std::int32_t row : {-1, last(bayes::Side::row)})
    for (const std::int32_t column : {-1, last(bayes::Side::column)})
      attempt([&] {
        if (std::isnan(model.predict(row, column).mean)) fail("a predicted cell is not a number");
      });
  const double number = 2;
  for (const bayes::Side side : {bayes::Side::row, bayes::Side::column}) {
    attempt([&] { model.code(side, model.keys(side).back()); });
    attempt([&] { model.weights(side, last(side)); });
    const std::int32_t of_other = last(bayes::other(side));
    attempt([&] { model.transform(side, {}); });
    attempt([&] { model.transform(side, {{&of_other, 1}, {&number, 1}}); });
  }
}

inline void use_conjugate(const bayes::ConjugateModel &model) {
  attempt([&] { model.describe_parameters(0.9, [](const bayes::Parameter &) {}); });
  attempt([&] { model.posterior_mode(); });
  attempt([&] { model.log_predictive(1, 2); });
  attempt([&] {
    const double p = bayes::probability_greater(model, model);
    if (p < 0 || p > 1) fail("a probability is none");
  });
  attempt([&] { bayes::expected_loss(model, model); });
  if (model.kind() != bayes::ConjugateKind::normal_inverse_gamma)
    attempt([&] { bayes::expected_lift(model, model); });
  const std::unique_ptr<bayes::Model> copy = bayes::Model::from_bytes(model.to_bytes());
  attempt([&] { copy->merge(model); });
}

inline void use_labels(const bayes::DirichletCategorical &model) {
  attempt([&] { model.describe_parameters(0.9, [](const bayes::Parameter &) {}); });
  for (const auto &label : model.labels()) attempt([&] { model.posterior_mode(label); });
  attempt([&] { model.log_predictive("a"); });
  const std::unique_ptr<bayes::Model> copy = bayes::Model::from_bytes(model.to_bytes());
  attempt([&] { copy->merge(model); });
}

}  // namespace model_uses
