// Hidden Markov models after method gibbs: averages over draws of the parameters, each computed
// here by itself from its definition.
#include <map>

#include "hmm_support.hpp"
#include "questions/row_distribution.hpp"

using namespace hidden_markov;

namespace {

/// What stands for draw s of `count` in a member of all of them, one after the other.
Document draw_of(const Document &all, int s, int count) {
  Document out = Document::object();
  for (const auto &[key, value] : *all.as<Document::Object>()) {
    if (value.as<Document::Object>()) {
      out.set(key, draw_of(value, s, count));
    } else if (const Tensor *const tensor = value.as<Tensor>()) {
      const std::size_t each = tensor->values.size() / at(count);
      Tensor part{tensor->shape, {}};
      part.values.assign(tensor->values.begin() + std::ptrdiff_t(at(s) * each),
                         tensor->values.begin() + std::ptrdiff_t(at(s + 1) * each));
      part.shape[0] /= count;
      // the one initial distribution, and the one tied covariance
      if (part.shape[0] == 1) part.shape.erase(part.shape.begin());
      out.set(key, std::move(part));
    }
  }
  return out;
}

/// The stored draws of a model, each as a model of its own.
std::vector<Fitted> draws_of(const HiddenMarkovModel &model) {
  std::vector<Fitted> out;
  const Document document = model.to_document();
  const int count = int(model.stored_draws());
  for (int s = 0; s < count; ++s) {
    Document one = Document::object();
    for (const auto &[key, value] : *document.as<Document::Object>())
      if (key == "point")
        one.set(key, draw_of(*document.find("draws_of_parameters"), s, count));
      else if (key != "draws_of_parameters")
        one.set(key, value);
    out.emplace_back(static_cast<HiddenMarkovModel *>(bayes::Model::from_document(one).release()));
  }
  return out;
}

/// A model of two states and two draws, with other emissions in these.
std::unique_ptr<bayes::Model> with_emissions(const HiddenMarkovModel &model,
                                             const Document &emissions) {
  Document document = model.to_document(), draws = *document.find("draws_of_parameters");
  draws.set_all(emissions);
  document.set("draws_of_parameters", std::move(draws));
  return bayes::Model::from_document(document);
}

const Options two_draws = {{"method", "gibbs"}, {"draws", 3}, {"warmup", 1}, {"chains", 1}};

}  // namespace

BOOST_AUTO_TEST_SUITE(hmm_draws)

// Everything about a sequence is the average over the stored draws of the parameters.
BOOST_AUTO_TEST_CASE(gibbs_averages_over_its_draws) {
  const auto check = [](const HiddenMarkovModel &model, const std::vector<std::string> &kinds,
                        const Sequence &x) {
    const std::vector<Fitted> draws = draws_of(model);
    const std::size_t n = draws.size(), k = at(model.size()), d = at(model.dimension()),
                      steps = x.size() / d;
    BOOST_REQUIRE(n == at(model.stored_draws()));
    std::vector<Real> likelihoods;
    Table pasts(steps);  // log p(steps up to this one), under each draw
    Table rows(steps, std::vector<Real>(1, 0));
    Table smooth(steps, std::vector<Real>(k, 0)), filter = smooth;
    std::vector<Real> states(k, 0), after(k, 0), mean(d, 0), square(d, 0);
    std::map<Path, Real> paths;
    for (const Fitted &draw : draws) {
      const Known known(*draw, kinds);
      const Enumeration all = enumerate(known.chain(x));
      likelihoods.push_back(all.log_likelihood);
      for (const auto &[p, z] : all.paths) paths[z] += p / Real(n);
      for (std::size_t t = 0; t < steps; ++t) {
        const Enumeration past =
            enumerate(known.chain(Sequence(x.begin(), x.begin() + std::ptrdiff_t((t + 1) * d))));
        pasts[t].push_back(past.log_likelihood);
        const std::vector<Real> densities = known.score(x.data() + t * d);
        for (std::size_t i = 0; i < k; ++i) {
          smooth[t][i] += all.smooth[t][i] / Real(n);
          filter[t][i] += past.smooth[t][i] / Real(n);
          rows[t][0] += std::exp(densities[i]) * Real(model.state_at(int(i)).visits) / Real(n);
        }
      }
      for (std::size_t j = 0; j < k; ++j) {
        Real next = 0;
        for (std::size_t i = 0; i < k; ++i) next += all.smooth[steps - 1][i] * known.a[i][j];
        states[j] += next / Real(n);
        for (std::size_t i = 0; i < k; ++i) after[i] += next * known.a[j][i] / Real(n);
        for (std::size_t e = 0; e < d; ++e) {
          const auto [m, v] = known.moments(int(j), int(e));
          mean[e] += next * m / Real(n);
          square[e] += next * (v + m * m) / Real(n);
        }
      }
    }
    bayes::Control control;
    Data one(int(d), {x});
    if (model.symbols()) one.named(model.symbol_names()), one.all.values = int(one.names.size());
    BOOST_TEST(std::abs(model.log_likelihood(one.all, control) -
                        double(log_sum(likelihoods) - std::log(Real(n)))) < 1e-11);
    const std::vector<double> smoothed_here = smoothed(model, one);
    HiddenMarkovModel::Filter along(model), passing(model);
    Real before = std::log(Real(n)), visits = 0;
    for (std::size_t i = 0; i < k; ++i) visits += model.state_at(int(i)).visits;
    const auto distribution = model.row_distribution();
    for (std::size_t t = 0; t < steps; ++t) {
      // p(past and this) / p(past), each an average over the draws
      const double expected = double(log_sum(pasts[t]) - before);
      before = log_sum(pasts[t]);
      BOOST_TEST(std::abs(passing.pass({x.data() + t * d, d}) - expected) < 1e-11);
      BOOST_TEST(std::abs(distribution->log_density({x.data() + t * d, d}) -
                          double(std::log(rows[t][0] / visits))) < 1e-11);
      const auto filtered = along.next({x.data() + t * d, d});
      for (std::size_t i = 0; i < k; ++i) {
        BOOST_TEST(std::abs(smoothed_here[t * k + i] - double(smooth[t][i])) < 1e-12);
        BOOST_TEST(std::abs(filtered[i] - double(filter[t][i])) < 1e-12);
      }
    }
    const auto next = model.predict_next(one.all, control);
    for (std::size_t i = 0; i < k; ++i)
      BOOST_TEST(std::abs(next.states[i] - double(states[i])) < 1e-12);
    for (std::size_t e = 0; e < d && kinds[0] != "categorical"; ++e) {
      BOOST_TEST(distance(next.mean[e], double(mean[e])) < 1e-11);
      BOOST_TEST(distance(next.variance[e], double(square[e] - mean[e] * mean[e])) < 1e-9);
    }
    // Two steps ahead: under each draw by itself, and then averaged.
    std::vector<double> second;
    model.predict(one.all, 2, control, [&second](const auto &p) { second = p.states; });
    for (std::size_t i = 0; i < k; ++i) BOOST_TEST(std::abs(second[i] - double(after[i])) < 1e-12);
    // A path is judged by its average log joint density.
    std::vector<std::pair<Real, Path>> best;
    for (const auto &[z, p] : paths) best.emplace_back(p, z);
    std::sort(best.begin(), best.end(),
              [](const auto &p, const auto &q) { return p.first > q.first; });
    const auto found = model.decode_best(one.all, 4, control);
    BOOST_REQUIRE(found.size() == std::min<std::size_t>(4, best.size()));
    for (std::size_t i = 0; i < found.size(); ++i)
      BOOST_TEST(distance(found[i].log_probability, double(best[i].first)) < 1e-11);
    const auto decoded = model.decode(one.all, control);
    BOOST_TEST(decoded.states == best[0].second);
    BOOST_TEST(decoded.log_probability < model.log_likelihood(one.all, control));
  };
  const Options options = {{"method", "gibbs"}, {"draws", 60}, {"warmup", 20}, {"chains", 2}};
  bayes::Control control;

  const std::vector<Sequence> x = {{0, 0, 2, 1, 1}, {2, hole, 1, 0}, {0, 1, 2}};
  const Fitted names = fitted_symbols(x, 3, 2, options);
  BOOST_TEST(names->stored_draws() == 80);
  for (const Sequence &each : x) check(*names, {"categorical"}, each);

  Data numbers(1, {{0.1, 3.2, 2.9, hole, -0.4, 0.3, 3.3}});
  const Fitted normals = fitted(numbers, 2, with(options, {{"emission", "normal"}}));
  check(*normals, {"normal"}, {0.2, 3, hole, 1.4});
  BOOST_TEST(std::abs(normals->info.log_likelihood -
                      normals->log_likelihood(numbers.all, control)) < 1e-11);

  Data vectors(2, {{0.1, 3.2, 2.9, -1, -0.4, 0.3, 3.3, 2, 0.5, 0.7, 3, 1}});
  for (const char *const covariance : {"full", "tied", "diagonal"})
    check(*fitted(vectors, 2, with(options, {{"covariance", covariance}})), {"multivariate"},
          {0.2, 3, hole, hole, 1.4, 1});
  for (const int at_most : {1, 7}) {  // fewer draws than would be stored
    const Fitted few = fitted_symbols(
        x, 3, 2, {{"method", "gibbs"}, {"draws", at_most + 1}, {"warmup", 1}, {"chains", 1}});
    BOOST_TEST(few->stored_draws() == at_most);
    check(*few, {"categorical"}, x[0]);
  }
  const Fitted asked = fitted_symbols(x, 3, 2, with(options, {{"stored_draws", 11}}));
  BOOST_TEST(asked->stored_draws() == 10);  // as many of both chains
  // and more
  BOOST_TEST(fitted_symbols(x, 3, 2, {{"method", "gibbs"}, {"draws", 1001}, {"warmup", 1}})
                 ->stored_draws() == 500);
  BOOST_TEST(
      fitted_symbols(x, 3, 2,
                     {{"method", "gibbs"}, {"draws", 1001}, {"warmup", 1}, {"stored_draws", 900}})
          ->stored_draws() == 900);
}

// A draw under which a sequence is impossible says nothing about its states.
BOOST_AUTO_TEST_CASE(draws_that_exclude_a_sequence_count_in_its_likelihood_only) {
  Data numbers(1, {{0.1, 3.2, 2.9, 0.4}});
  const Fitted model = fitted(numbers, 2, with(two_draws, {{"emission", "normal"}}));
  const auto normals = [](double first, double second) {
    return Document::object()
        .set("means", Tensor{{4, 1}, {0, 1, 0, 1}})
        .set("covariances", Tensor{{4, 1, 1}, {first, first, second, second}});
  };
  const auto none = with_emissions(*model, normals(1, 1)),
             both = with_emissions(*model, normals(1, 1e290));
  const auto &two = static_cast<const HiddenMarkovModel &>(*both);
  const Fitted one = std::move(draws_of(two)[1]);
  bayes::Control control;
  Data data(1, {{0, 1, 1e158, 0}});
  BOOST_TEST(std::abs(two.log_likelihood(data.all, control) -
                      (one->log_likelihood(data.all, control) - std::log(2.0))) < 1e-9);
  BOOST_TEST(smoothed(two, data) == smoothed(*one, data));
  BOOST_TEST(two.predict_next(data.all, control).states ==
             one->predict_next(data.all, control).states);
  BOOST_TEST(std::isfinite(two.decode(data.all, control).log_probability));
  HiddenMarkovModel::Filter first(*one), second(two);
  for (const double v : {0.0, 1.0, 1e158, 0.0}) {
    const auto a = first.next({&v, 1}), b = second.next({&v, 1});
    if (v > 1)
      BOOST_TEST(
          (std::vector<double>(a.begin(), a.end()) == std::vector<double>(b.begin(), b.end())));
  }
  HiddenMarkovModel::Filter passing(two);
  double sum = 0;
  for (const double v : {0.0, 1.0, 1e158, 0.0}) sum += passing.pass({&v, 1});
  BOOST_TEST(distance(sum, two.log_likelihood(data.all, control)) < 1e-12);
  const auto &impossible = static_cast<const HiddenMarkovModel &>(*none);
  BOOST_TEST(impossible.log_likelihood(data.all, control) ==
             -std::numeric_limits<double>::infinity());
  for (const auto &f : std::vector<std::function<void()>>{
           [&] { smoothed(impossible, data); }, [&] { impossible.predict_next(data.all, control); },
           [&] { impossible.decode(data.all, control); },
           [&] {
             HiddenMarkovModel::Filter filter(impossible);
             const double v = 1e158;
             filter.next({&v, 1});
           }})
    BOOST_TEST(message_of(f).find("impossible") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_sequence_is_drawn_from_one_of_the_draws) {
  const Fitted model = fitted_symbols({{0, 0, 2, 1, 1}, {2, 1, 0}}, 3, 2, two_draws);
  // only the first symbol, or only the second
  Tensor p{{4, 3}, std::vector<double>(12, 1e-300)};
  p.values[0] = p.values[3] = p.values[7] = p.values[10] = 1;
  const auto either = with_emissions(
      *model, Document::object().set("categorical", Document::object().set("probability", p)));
  int ones = 0;
  for (int seed = 0; seed < 60; ++seed) {
    Sequence drawn;
    static_cast<const HiddenMarkovModel &>(*either).sample(
        std::uint64_t(seed), 0, 8, [&](int, std::span<const double> v) { drawn.push_back(v[0]); });
    BOOST_TEST(drawn == Sequence(8, drawn[0]));
    ones += drawn[0] == 1;
  }
  BOOST_TEST((ones > 10 && ones < 50));  // false alarm 1e-7
}

// Chains begin anywhere, but the states of all stored draws have the numbers of the model's.
BOOST_AUTO_TEST_CASE(draws_are_numbered_like_the_model) {
  Sequence x;
  for (int t = 0; t < 60; ++t) x.push_back((t / 4 % 3 == 0 ? 10 : 0) + 0.3 * std::sin(5.0 * t));
  Data data(1, {x});
  const Fitted model = fitted(data, 2, {{"method", "gibbs"}, {"draws", 60}, {"chains", 8}});
  const Known known(*model, {"multivariate"});
  BOOST_TEST(model->stored_draws() == 240);
  for (const Fitted &draw : draws_of(*model)) {
    const Known one(*draw, {"multivariate"});
    for (int i = 0; i < 2; ++i) BOOST_TEST(std::abs(one.mean(i)[0] - known.mean(i)[0]) < 3);
  }
}

// Sequences of several windows: what is known at their ends is kept for every draw.
BOOST_AUTO_TEST_CASE(long_sequences_are_averaged_alike) {
  const auto check = [](const HiddenMarkovModel &model, Data &data) {
    const std::vector<Fitted> draws = draws_of(model);
    bayes::Control control;
    const std::vector<double> together = smoothed(model, data);
    std::vector<double> sum(together.size(), 0), logs;
    for (const Fitted &draw : draws) {
      const std::vector<double> one = smoothed(*draw, data);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i] / double(draws.size());
      logs.push_back(draw->log_likelihood(data.all, control));
    }
    double worst = 0;
    for (std::size_t i = 0; i < sum.size(); ++i)
      worst = std::max(worst, std::abs(sum[i] - together[i]));
    BOOST_TEST(worst < 1e-12);
    const double largest = *std::max_element(logs.begin(), logs.end());
    double likelihood = 0;
    for (const double l : logs) likelihood += std::exp(l - largest) / double(logs.size());
    BOOST_TEST(distance(model.log_likelihood(data.all, control), largest + std::log(likelihood)) <
               1e-12);
    const auto path = model.decode(data.all, control);
    double joint = 0;
    for (const Fitted &draw : draws) joint += draw->decode(data.all, control).log_probability;
    BOOST_TEST(path.log_probability <= joint / double(draws.size()));
  };
  const std::int64_t steps = 40000;
  const Options some = {{"method", "gibbs"}, {"draws", 4}, {"warmup", 1}, {"chains", 1}};
  const Table a = {{0.99, 0.01}, {0.02, 0.98}};
  Data names(1, {drawn({0.5, 0.5}, a, steps, 1, letters_of({{0.6, 0.3, 0.1}, {0.1, 0.3, 0.6}}))});
  names.named(first_letters(3));
  names.all.values = 3;
  check(*fitted(names, 2, some), names);
  Data numbers(1, {drawn({0.5, 0.5}, a, steps, 2, [](int z, bayes::Random &random, Sequence &out) {
                 out.push_back(2 * z + random.normal());
               })});
  check(*fitted(numbers, 2, some), numbers);
  // Logarithms from the start: states that cannot be entered again.
  check(*fitted(numbers, 3, with(some, {{"topology", "left-to-right"}})), numbers);

  bayes::Control little;
  little.memory = 1000;
  const Fitted model = fitted(numbers, 2, some);
  bayes::Errc code{};
  message_of([&] { smoothed(*model, numbers, little); }, &code);
  BOOST_TEST((code == bayes::Errc::too_large));
}

// Priors so weak that drawn probabilities and rates underflow.
BOOST_AUTO_TEST_CASE(draws_at_the_edge_are_stored) {
  const Options weak = {{"method", "gibbs"}, {"draws", 40}, {"chains", 1}};
  const auto check = [](const HiddenMarkovModel &model, Data &data) {
    bayes::Control control;
    BOOST_TEST(model.stored_draws() == 20);
    BOOST_TEST(std::isfinite(model.log_likelihood(data.all, control)));
    BOOST_TEST(std::isfinite(model.decode(data.all, control).log_probability));
  };
  Data names(1, {{0, 0, 0, 1, 1, 2, 2, 2, 3, 4}});
  names.named(first_letters(5));
  check(*fitted(names, 3, with(weak, {{"prior", Options{{"category_alpha", 1e-4}}}})), names);
  Data counts(1, {{0, 0, 0, 9, 8, 9, 0, 0}});
  check(*fitted(counts, 2,
                with(weak, {{"emission", "poisson"},
                            {"prior", Options{{"shape", 1e-4}, {"rate", 1e-4}}}})),
        counts);
  Data bits(1, {{0, 0, 0, 1, 1, 1, 0, 0}});
  check(*fitted(
            bits, 2,
            with(weak, {{"emission", "bernoulli"}, {"prior", Options{{"a", 1e-4}, {"b", 1e-4}}}})),
        bits);
}

BOOST_AUTO_TEST_SUITE_END()
