// Every column family of the list under every method of every model of columns.
#include "data/sequences.hpp"
#include "markov/hmm.hpp"
#include "mixture/bmm.hpp"
#include "mixture/dpmm.hpp"
#include "product_support.hpp"

using namespace products;

namespace {

/// Two groups of rows of one column, from two draws of a weak prior.
template <class F> Numbers two_groups(const F &family, const ColumnSpec &spec, int n) {
  Random random(5);
  Numbers x;
  const Numbers q = prior_of(family, spec, 4);
  for (int group = 0; group < 2; ++group) {
    const Numbers more = samples(family, drawn(family, q, random), n / 2, random);
    x.insert(x.end(), more.begin(), more.end());
  }
  return x;
}

Document options_of(const char *key, const ColumnSpec &spec, const std::string &method) {
  Document out = Document::object();
  out.set(key, likelihood_document({spec}, true)).set("method", method).set("seed", 3);
  if (method == "gibbs" || method == "collapsed" || method == "slice")
    out.set("chains", 2).set("draws", 40).set("warmup", 20);
  else
    out.set("max_iter", 30).set("restarts", 2);
  return out;
}

/// Is the parameter known, not estimated?
bool is_known(const Column &family, const Parameter &parameter) {
  return std::any_of(
      family.known_parameters.begin(), family.known_parameters.end(),
      [&](const KnownParameter &each) { return each.key == std::string_view(parameter.name); });
}

/// Models round-trip, and rows have a finite density.
void check(const Model &model, const std::function<double(const Model &)> &log_density) {
  const std::string bytes = model.to_bytes();
  const auto copy = Model::from_bytes(bytes);
  BOOST_TEST(copy->to_bytes() == bytes);
  BOOST_TEST(std::isfinite(log_density(model)));
  BOOST_TEST(log_density(model) == log_density(*copy));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(product_models)

BOOST_AUTO_TEST_CASE(every_family_fits_mixtures_by_every_method) {
  Control control;
  for_each_family([&](const auto &family, const ColumnSpec &spec) {
    const Numbers x = two_groups(family, spec, 60);
    const Matrix rows_as_matrix = Eigen::Map<const Matrix>(x.data(), 60, 1);
    for (const char *method : {"em", "map", "vi", "svi", "mcem", "gibbs", "collapsed"}) {
      auto rows = support::rows_of(rows_as_matrix);
      const auto model =
          bmm_fit(rows, 2, options_of("likelihood", spec, method), nullptr, false, control);
      check(*model, [&](const Model &m) {
        return dynamic_cast<const BernoulliMixture &>(m).log_density({x.data(), 1});
      });
      int parameters = 0, known = 0;
      model->describe_parameters(0.9, [&](const Parameter &p) {
        ++parameters;
        if (p.element == 0)
          BOOST_TEST(p.likelihood == std::string_view(family.name));
        else
          BOOST_TEST(p.name == std::string_view("weight"));
        BOOST_TEST(std::isfinite(p.value));
        if (p.element == 0 && is_known(family, p)) {
          BOOST_TEST(p.value == spec.known[0]);
          BOOST_TEST((std::isnan(p.deviation) && std::isnan(p.lower) && std::isnan(p.upper)));
          ++known;
          return;
        }
        const bool posterior =
            method[0] != 'e' && method[0] != 'm' && p.known_by != Parameter::components_overlap;
        BOOST_TEST((posterior ? p.lower < p.upper : std::isnan(p.lower) && std::isnan(p.upper)));
      });
      BOOST_TEST(parameters >= 4);
      BOOST_TEST(known == 2 * std::ssize(spec.known));
    }
    for (const char *method : {"collapsed", "gibbs", "slice", "vi"}) {
      auto rows = support::rows_of(rows_as_matrix);
      const auto fit = dpmm_fit(rows, options_of("likelihood", spec, method), control);
      check(*fit.model, [&](const Model &m) {
        return dynamic_cast<const DirichletProcessMixture &>(m).log_density({x.data(), 1});
      });
    }
  });
}

BOOST_AUTO_TEST_CASE(every_family_fits_hidden_markov_models_by_every_method) {
  Control control;
  for_each_family([&](const auto &family, const ColumnSpec &spec) {
    const Numbers x = two_groups(family, spec, 60);
    for (const char *method : {"em", "map", "vi", "svi", "gibbs"}) {
      MemoryRows store({1, true});
      Sequences sequences{store, 1};
      SequenceWriter writer(sequences, store.shape(), [&store](const double *step, double weight) {
        store.append(step, weight);
      });
      for (int sequence = 0; sequence < 4; ++sequence) {
        writer.begin(15, 1);
        for (int step = 0; step < 15; ++step) writer.step(&x[std::size_t(15 * sequence + step)]);
      }
      Document options = options_of("emission", spec, method);
      const auto model = hmm_fit(sequences, {}, 2, options, SequenceElements::numbers, true,
                                 nullptr, false, control);
      const std::string bytes = model->to_bytes();
      BOOST_TEST(Model::from_bytes(bytes)->to_bytes() == bytes);
      BOOST_TEST(std::isfinite(model->info.log_likelihood));
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
