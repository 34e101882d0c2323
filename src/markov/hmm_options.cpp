#include "markov/hmm_options.hpp"

#include <algorithm>
#include <cmath>

#include "document/members.hpp"
#include "document/options.hpp"
#include "families/product/product_prior.hpp"
#include "markov/hmm_state.hpp"

namespace bayes {
namespace {

const std::vector<std::string_view> all_keys = {"minimum",    "covariance_floor",
                                                "prior",      "batch_size",
                                                "kappa",      "t0",
                                                "restarts",   "max_iter",
                                                "tol",        "max_seconds",
                                                "chains",     "draws",
                                                "warmup",     "thin",
                                                "init",       "topology",
                                                "covariance", "categories",
                                                "emission"};

/// Normalises given probabilities whose sum is near 1. Sums that differ from 1 only by rounding are
/// left alone, so that equal probabilities stay equal.
void normalise(Eigen::Ref<Vector> row, const std::string &key) {
  for (Eigen::Index i = 0; i < row.size(); ++i)
    if (!(row(i) >= 0))
      throw Error(Errc::invalid_argument, "option \"" + key + "\" contains " + describe(row(i)) +
                                              ", but must hold probabilities");
  double sum = 0;
  for (Eigen::Index i = 0; i < row.size(); ++i) sum += row(i);
  if (!(std::abs(sum - 1) < 1e-6))
    throw Error(Errc::invalid_argument,
                "option \"" + key + "\" has numbers that sum to " + describe(sum) +
                    ", but probabilities sum to 1",
                {}, "Divide them by their sum.");
  if (std::abs(sum - 1) > exact_sum) row /= sum;
}

void read_init(const Document &init, HmmOptions &out) {
  OptionReader in(init, "init.");
  const std::int64_t k = out.k;
  if (const auto given = in.tensor("initial", {k})) {
    Vector row = Eigen::Map<const Vector>(given->values.data(), k);
    normalise(row, "init.initial");
    out.initial = row;
  }
  if (const auto given = in.tensor("transitions", {k, k})) {
    // a column for each row of the user's
    Matrix rows = Eigen::Map<const Matrix>(given->values.data(), k, k);
    for (Eigen::Index i = 0; i < k; ++i) normalise(rows.col(i), "init.transitions");
    out.transitions = rows.transpose();
  }
  if (out.symbols) {
    if (const Document *given = in.raw("probabilities"); given && !given->is_null()) {
      const auto *list = given->as<Document::List>();
      if (!list || std::int64_t(list->size()) != k)
        throw Error(Errc::invalid_argument,
                    "option \"init.probabilities\" is " + describe(*given) +
                        ", but must be an array of " + std::to_string(k) +
                        " objects: the probabilities of symbols in every state");
      for (const Document &state : *list) {
        const auto *object = state.as<Document::Object>();
        double sum = 0;
        for (std::size_t i = 0; object && i < object->size(); ++i) {
          const auto p = to_number((*object)[i].second, false);
          if (!p || !(*p >= 0 && *p <= 1))
            throw Error(Errc::invalid_argument, "option \"init.probabilities\" contains " +
                                                    describe((*object)[i].second) +
                                                    ", but must hold probabilities");
          sum += *p;
        }
        if (!object || sum > 1 + 1e-6)
          throw Error(
              Errc::invalid_argument,
              "option \"init.probabilities\" has " +
                  (object ? "probabilities that sum to " + describe(sum) : describe(state)) +
                  " for state " + std::to_string(1 + (&state - list->data())) +
                  ", but must hold objects {\"symbol\": probability, ...} whose probabilities sum "
                  "to 1 at most",
              "Symbols that are not named share what is left.");
      }
      out.probabilities = *given;
    }
  } else if (const Document *given = in.raw("means"); given && !given->is_null()) {
    std::optional<Tensor> means = in.number_or_tensor("means");
    if (means->shape.size() == 1 && means->shape[0] == k) means->shape.push_back(1);
    if (means->shape.size() != 2 || means->shape[0] != k)
      throw Error(
          Errc::invalid_argument,
          "option \"init.means\" is " +
              (means->shape.empty() ? describe(means->values[0]) : describe_shape(means->shape)) +
              ", but must be an array of " + std::to_string(k) +
              " x d numbers: an observation for every state");
    out.means = std::move(means);
  }
  in.finish(out.symbols ? "observations that are symbols" : "observations that are numbers",
            {"probabilities", "means"});
}

/// A Dirichlet's parameters: a number, or one for each of these entries.
void read_dirichlet(OptionReader &in, const char *key, const std::vector<std::int64_t> &shape,
                    bool mode, DirichletOption &out) {
  const auto given = in.number_or_tensor(key);
  if (!given) return;
  const std::string name = std::string("option \"prior.") + key + "\"";
  if (!given->shape.empty() && given->shape != shape)
    throw Error(Errc::invalid_argument, name + " is " + describe_shape(given->shape) +
                                            ", but must be a number or " + describe_shape(shape));
  for (const double a : given->values) {
    if (!(a > 0))
      throw Error(Errc::invalid_argument,
                  name + " contains " + describe(a) + ", but must be greater than 0", {},
                  "What cannot be is said by zeros in option init.transitions or init.initial, or "
                  "by option topology.");
    if (mode && a < 1)
      throw Error(Errc::invalid_argument,
                  name + " contains " + describe(a) +
                      ", but method map needs Dirichlet parameters of at least 1",
                  "Below 1 the density has no mode inside.", "Use method vi.");
  }
  out.given = *given;
}

void read_prior(const Document &prior, HmmOptions &out) {
  OptionReader in(prior, "prior.");
  const bool map = out.method == "map";
  read_dirichlet(in, "initial", {out.k}, map, out.initial_prior);
  read_dirichlet(in, "transition", {out.k, out.k}, map, out.transition_prior);
  if (out.products)
    check_product_prior(out.emission, prior, {"initial", "transition"});
  else {
    out.normal_prior.read(in);
    in.finish();
  }
  out.prior = prior;
}

/// The default emission families.
std::vector<std::string> default_emission(SequenceElements elements, bool vectors) {
  switch (elements) {
    case SequenceElements::symbols: return {"categorical"};
    case SequenceElements::booleans: return {"bernoulli"};
    case SequenceElements::integers: return {vectors ? "normal" : "categorical"};
    case SequenceElements::numbers: break;
  }
  return {"normal"};
}

}  // namespace

HmmOptions read_hmm_options(int k, const Document &options, SequenceElements elements, bool vectors,
                            const HiddenMarkovModel *start, bool update) {
  require_components(k, hmm_max_states);
  require_object(options, "{\"method\": \"em\", \"restarts\": 10}");
  // throws, saying why
  if (update && !start->has_posterior()) start->posterior([](const HmmPosterior &) {});

  HmmOptions out;
  out.k = k;
  OptionReader in(options);
  out.method = in.choice("method", start ? start->info.method : out.method,
                         update ? std::vector<std::string_view>{"vi", "svi"}
                                : std::vector<std::string_view>{"em", "map", "vi", "svi", "gibbs"});
  if (start) {
    std::visit(
        [&]<class Fitted>(const Fitted &fitted) {
          out.products = std::is_same_v<Fitted, ProductHmm>;
          if constexpr (std::is_same_v<Fitted, ProductHmm>) {
            for (const ColumnSpec &spec : fitted.point.emissions.columns->specs())
              out.emission.emplace_back(spec.name());
          } else {
            out.emission = {"normal"};
            out.covariance = fitted.point.emissions.shape.name;
          }
        },
        start->state->fitted);
    out.symbols = start->symbols();
  } else {
    const Document *emission = in.raw("emission");
    out.emission = read_likelihood(in, default_emission(elements, vectors), "emission");
    out.products = (emission && emission->as<Document::List>()) || out.emission[0] != "normal";
    out.symbols = !vectors && out.emission.size() == 1 && out.emission[0] == "categorical";
    if (elements == SequenceElements::symbols && !out.symbols)
      throw Error(Errc::invalid_argument,
                  "option \"emission\" is \"" + out.emission[0] +
                      "\", but the elements of the sequences are no numbers",
                  {}, "Leave it out, or cast the elements.");
    if (!vectors) check_likelihood_count(out.emission, 1, "emission");
    if (!out.products)
      out.covariance = in.choice("covariance", out.covariance,
                                 {full_covariance.name, diagonal_covariance.name,
                                  spherical_covariance.name, tied_covariance.name});
    if (!out.symbols) out.categories = read_categories(in, out.emission, "emission");
    out.topology = in.choice("topology", out.topology, {"ergodic", "left-to-right"});
  }
  out.batch_given = in.given("batch_size");
  out.plan.batch_rows = 16;
  out.read_common(in, 1000, {"marginalize", "error"},
                  0);  // no iteration: the model is the initialization
  if (!out.bayesian()) {
    if (out.products)
      out.minimum = in.number("minimum", out.minimum, 1e-12, 0.5);
    else
      out.covariance_floor = in.number("covariance_floor", out.covariance_floor, 0, 1, true);
  }
  out.restarts = 1;
  out.started = start != nullptr;
  if (!start) {
    if (const Document *init = in.raw("init"); init && !init->is_null()) {
      if (!init->as<Document::Object>())
        throw Error(Errc::invalid_argument,
                    "option \"init\" is " + describe(*init) +
                        ", but must be an object with initial, transitions, and " +
                        (out.symbols ? "probabilities" : "means"));
      read_init(*init, out);
    }
    if (!out.sampled())
      out.restarts = int(in.integer(
          "restarts", out.given_start() && (out.means || !out.probabilities.is_null()) ? 1 : 10, 1,
          1000));
  }
  out.read_plan(in);
  if (out.bayesian() && !update)
    if (const Document *prior = in.raw("prior"); prior && !prior->is_null()) {
      if (!prior->as<Document::Object>())
        throw Error(Errc::invalid_argument,
                    "option \"prior\" is " + describe(*prior) + ", but must be an object");
      read_prior(*prior, out);
    }
  in.finish(out.setting(update) + (out.symbols    ? " with symbols"
                                   : out.products ? " with these emissions"
                                                  : " with multivariate normals"),
            all_keys);
  return out;
}

HmmRowOptions HmmOptions::rows() const {
  return {symbols, !products, missing == "error", null_on_error};
}

Document HmmOptions::document() const {
  Document out = Document::object();
  out.set("method", method);
  if (emission.size() == 1 && !(products && emission[0] == "normal")) {
    out.set("emission", emission[0]);
  } else {
    Document::List names(emission.begin(), emission.end());
    out.set("emission", std::move(names));
  }
  if (!products) out.set("covariance", covariance);
  if (!categories.is_null()) out.set("categories", categories);
  if (!started) out.set("topology", topology);
  write_iterations(out);
  if (!started && !sampled()) out.set("restarts", restarts);
  if (given_start()) {
    Document init = Document::object();
    const auto by_rows = [](const Matrix &m) {
      const Matrix rows = m.transpose();
      return Tensor{{m.rows(), m.cols()}, {rows.data(), rows.data() + rows.size()}};
    };
    if (initial) init.set("initial", Tensor{{initial->size()}, to_vector(*initial)});
    if (transitions) init.set("transitions", by_rows(*transitions));
    if (means) init.set("means", *means);
    if (!probabilities.is_null()) init.set("probabilities", probabilities);
    out.set("init", std::move(init));
  }
  write_common(out);
  if (method == "em")
    products ? out.set("minimum", minimum) : out.set("covariance_floor", covariance_floor);
  write_plan(out);
  return out;
}

HmmRowOptions hmm_check_options(int k, const Document &options, SequenceElements elements,
                                bool vectors, const HiddenMarkovModel *start, bool update) {
  return read_hmm_options(start ? start->size() : k, options, elements, vectors, start, update)
      .rows();
}

}  // namespace bayes
