// Fitting a generalized linear model: terms, prior, method, and the results that the model keeps.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "fit/fit_run.hpp"
#include "mcmc/draw_moments.hpp"
#include "mcmc/stored_draws.hpp"
#include "regression/glm_chains.hpp"
#include "regression/glm_learners.hpp"
#include "regression/glm_state.hpp"
#include "regression/responses.hpp"

namespace bayes {
namespace {

/// The index of a column that an option names; -1 without a name. Throws Error(invalid_argument)
/// for a column that is not there, or that has no numbers.
int named_column(const char *option, const std::string &name, const RowColumns &columns,
                 int dimension) {
  if (name.empty()) return -1;
  const std::vector<std::string> names = column_names(columns, dimension);
  const int at = int(std::find(names.begin(), names.end(), name) - names.begin());
  if (at == int(names.size()))
    throw Error(
        Errc::invalid_argument,
        message("option \"{}\" names column \"{}\", which the rows do not have", option, name),
        names.empty() ? "They have no columns." : "They have " + list_of_terms(names) + ".",
        columns.empty() ? "" : "Add it to the predictors: it is taken from there.");
  if (!columns.empty() && columns[std::size_t(at)].kind != ValueKind::number)
    throw Error(Errc::invalid_argument,
                message("option \"{}\" names column \"{}\", which has no numbers", option, name));
  return at;
}

/// The columns that options take apart. Throws Error(invalid_argument).
GlmColumns glm_columns(const GlmOptions &options, const RowColumns &columns, int dimension) {
  GlmColumns out;
  out.offset = named_column("offset", options.offset, columns, dimension);
  out.exposure = named_column("exposure", options.exposure, columns, dimension);
  out.trials = named_column("trials", options.trials, columns, dimension);
  out.every = options.trials_of_rows;
  out.degrees = options.degrees;
  if (options.response->labelled()) out.levels = int(options.levels.size());
  return out;
}

/// Throws Error for levels that make no regression.
void require_levels(const GlmOptions &options) {
  if (!options.response->labelled() || options.levels.size() > 1) return;
  throw Error(Errc::invalid_argument, "the response has one label in all rows",
              "A regression of labels needs two of them.",
              "Option levels lists labels that may be missing from the rows.");
}

/// Throws Error(too_large) for more coefficients than terms are allowed.
void require_predictors(int predictors, int terms) {
  if (std::int64_t(predictors) * terms <= max_terms) return;
  throw Error(Errc::too_large,
              message("{} terms for each of {} labels are more than {} coefficients", terms,
                      predictors, max_terms),
              {}, "Combine rare labels of the response into one, or leave out columns.");
}

/// The largest number of coefficients whose draws are recorded: a model has at most 64 quantities.
constexpr std::size_t max_recorded_draws = 60;
/// A term is a linear combination of others if all but this share of its squares is explained.
constexpr double max_explained = 1e-10;
/// A coefficient of a standardised term that has a larger standard deviation is hardly determined
/// by the rows: 1 would already be a change of the odds by e.
constexpr double max_determined = 10;
/// Of a log link: means are known up to a factor of e.
constexpr double max_log_determined = 1;

class GlmFit {
 public:
  GlmFit(RowSource &rows, const RowColumns &columns, GlmOptions options, Control &control,
         GlmWarnings &warnings)
      : rows_(rows),
        options_(std::move(options)),
        control_(control),
        warnings_(warnings),
        model_(std::make_unique<Glm>(options_.family, options_.response)),
        run_(*model_, options_, control) {
    const int dimension = rows.shape().dimension - 1;
    require_levels(options_);
    model_->info.columns = columns;
    state().levels = options_.levels;
    state().columns = glm_columns(options_, columns, dimension);
    const GlmColumns &apart = state().columns;
    state().terms =
        RegressionTerms(columns, dimension, options_.intercept, options_.reference,
                        std::array{apart.offset, apart.exposure, apart.trials}, options_.terms);
    if (state().terms.size() == 0)
      throw Error(Errc::invalid_argument, "the regression has no terms",
                  "Every column has the same label in all rows or is no predictor, and there is no "
                  "intercept.");
    require_predictors(options_.response->predictors(apart.levels), state().terms.size());
    options_.reference = state().terms.reference();
    if (options_.reference.as<Document::Object>()->empty()) options_.reference = {};
  }

  std::unique_ptr<Glm> run() {
    require_room();
    GlmRows data(rows_, state().terms, *options_.response, state().columns, control_);
    run_.set_weight(data.weight(), rows_.rows());
    state().scales = data.scales();
    state().observations = data.weight();
    state().columns.anchor = data.anchor();
    state().parameters = (state().terms.size() - int(data.constant().size())) * data.predictors();
    for (std::size_t k = 0; k < data.levels().size(); ++k)
      if (data.levels()[k] == 0) warnings_.empty_levels.push_back(state().levels[k]);
    for (const int term : data.constant()) warnings_.constant.push_back(state().terms.name(term));
    const GlmPrior prior = prior_of(data);
    const auto mode = run_.best_of_restarts(
        data, [&](int restart) { return first_unknowns(data, prior, restart); },
        [&](Vector start, GlmRows &all) {
          const Schedule &schedule = run_.schedule();
          return options_.method == Method::em
                     ? probit_em(all, prior, std::move(start), schedule, control_)
                     : newton(all, prior, std::move(start), schedule, control_);
        });
    state().mean = to_vector(mode.state);
    state().mean[0] += data.response_mean();
    model_->info.log_likelihood = mode.log_likelihood;
    find_undetermined(data, prior, mode);
    find_overdispersion(data, mode);
    find_zeros(data, mode);
    if (options_.response->dispersed()) require_dispersion(data, mode);
    // The dispersion at the mode of all unknowns is too small where coefficients follow the rows.
    if (options_.response->dispersed() && !options_.response->scales() &&
        data.weight() <= 2.0 * state().parameters)
      warnings_.few_rows = rows_.rows();
    if (options_.sampled())
      sample(data, prior, mode);
    else if (options_.method == Method::em)
      shift_objective(log_units());
    else
      approximate(options_.method == Method::vi ? augmented_precision(data, prior) : mode.factor,
                  mode.added);
    model_->take_degrees();
    run_.describe(rows_.rows(), rows_.skipped(), rows_.shape().dimension - 1, 1,
                  options_.document());
    return std::move(model_);
  }

 private:
  Glm::State &state() { return *model_->state; }

  /// Of Poisson counts the sum of squares is about chi-squared; of rare ones its tails are longer,
  /// which ten standard errors allow for.
  void find_overdispersion(const GlmRows &data, const GlmMode &mode) {
    const double degrees = data.weight() - double(state().parameters);
    if (options_.response != find_response("poisson") || !(degrees > 0)) return;
    const double factor = mode.squares / degrees;
    if (factor > 1.2 + 10 * std::sqrt(2 / degrees)) warnings_.overdispersion = factor;
  }

  /// The number of zeros varies at most as much as a Poisson variable. By Chernoff's bound fewer
  /// than one in a hundred thousand true models has so many, whatever their mean. An excess below a
  /// percent of the rows does not matter.
  void find_zeros(const GlmRows &data, const GlmMode &mode) {
    const double expected = mode.zeros_expected, excess = mode.zeros - expected;
    if (warnings_.overdispersion > 0 || !(excess > 0.01 * data.weight())) return;
    if (!(excess > 0.2 * expected + 4 * std::sqrt(expected) + 5)) return;
    warnings_.zeros = mode.zeros;
    warnings_.zeros_expected = expected;
  }

  /// Throws Error(numeric) where the dispersion falls as far as its prior lets it: its logarithm
  /// has no normal distribution then, and predictions would be those of no dispersion at all.
  void require_dispersion(const GlmRows &data, const GlmMode &mode) const {
    const Eigen::Index last = mode.state.size() - 1;
    const bool location = options_.response->link == Link::identity;
    const double log_dispersion = mode.state(last),
                 unit = location ? 2 * std::log(data.response_scale()) : 0;
    if (log_dispersion - unit > (location ? -250 : -45) && mode.factor(last, last) > 0.1 &&
        !rounds(data, mode.state))
      return;
    const bool counts = options_.response->whole();
    throw Error(Errc::numeric,
                counts ? "the responses vary no more than a Poisson distribution lets them"
                       : "the responses do not vary about their means",
                "The likelihood has no greatest value: it rises as the dispersion falls to 0.",
                counts
                    ? "Use response poisson, or leave prior.dispersion and prior.c_dispersion at "
                      "their defaults."
                    : "Leave out predictors, of which one may be the response in other units.");
  }

  /// Names the terms that the rows alone do not determine, from the curvature at the mode: that of
  /// the log-likelihood, and with that of the prior.
  void find_undetermined(GlmRows &data, const GlmPrior &prior, const GlmMode &mode) {
    const Eigen::Index p = mode.factor.rows(), terms = state().terms.size(),
                       coefficients = data.coefficients();
    const Vector &precision = prior.precision;
    // Of a log link a deviation of 1 is that of a mean of which one event was counted.
    const double most = options_.response->link == Link::log
                            ? max_log_determined
                            : max_determined * data.response_scale();
    Matrix left, factor = mode.factor;
    if (options_.method == Method::em) {  // whose factor is not that of the curvature
      left = data.likelihood(mode.state, true).curvature;
      if (!cholesky(Matrix(left + Matrix(precision.asDiagonal())), factor)) return;
    } else {
      left = product(factor, Matrix(factor.transpose()));
      left.diagonal() -= precision;
    }
    const Vector whole = left.diagonal();
    const Matrix root = inverse_lower(factor);
    const std::vector<int> &constant = data.constant();
    WorkPoll poll;
    for (Eigen::Index k = 0; k < coefficients; ++k) {
      poll(std::size_t(2 * (p - k) * (p - k)));
      if (std::find(constant.begin(), constant.end(), int(k % terms)) != constant.end()) continue;
      const std::string name = model_->prefix(int(k / terms)) + state().terms.name(int(k % terms));
      // Terms before k have been projected out of it, but for those that depend on others.
      if (!(left(k, k) > max_explained * whole(k) + 1e-13 * precision(k))) {
        if (whole(k) > 1e-6 * precision(k)) warnings_.dependent.push_back(name);
        continue;
      }
      const Vector column = left.col(k).tail(p - k - 1);
      left.bottomRightCorner(p - k - 1, p - k - 1).noalias() -=
          column * column.transpose() / left(k, k);
      if (root.col(k).tail(p - k).norm() > most) warnings_.undetermined.push_back(name);
    }
    // The intercept is that at the centre of the others, which determines means of a log link.
    if (options_.response->link != Link::log && warnings_.undetermined.size() > 1 &&
        data.intercept() && warnings_.undetermined[0] == state().terms.name(0))
      warnings_.undetermined.erase(warnings_.undetermined.begin());
  }

  void require_room() {
    const ResponseFamily &response = *options_.response;
    const int levels = state().columns.levels, predictors = response.predictors(levels);
    const double p = double(state().terms.size()) * predictors + response.extras(levels);
    const std::string what = response.classes()
                                 ? message("a regression of {} terms for {} labels",
                                           state().terms.size(), predictors + 1)
                                 : message("a regression of {} terms", state().terms.size());
    // Matrices, partial sums, and three copies of the model: itself, a document and its bytes.
    const double draws = options_.sampled() ? double(collected_draws(options_.chains, 1 << 20)) : 0;
    require_memory({what,
                    8 * p * p * (8 + control_.threads) + 24 * p * draws,
                    "rows",
                    {},
                    "or leave out columns."},
                   control_);
    // A number takes some 20 bytes in the model's text, which must fit into a value too.
    require_model_size(what, 20.0 / 8 * p * std::max(p / 2, draws), "Leave out columns.");
  }

  /// The prior of the unknowns, of responses on the whole line in units of their scale. The
  /// coefficient of a column itself is u / scale.
  GlmPrior prior_of(const GlmRows &data) const {
    const Glm::State &s = *model_->state;
    GlmPrior prior{Vector(data.size()), Vector::Zero(data.size())};
    Vector &out = prior.precision;
    const double variance = options_.prior_variance(), unit = data.response_scale();
    for (int k = 0; k < data.coefficients(); ++k) {
      const int j = k % s.terms.size();
      const double scale = unit * (options_.scaled() ? 1 : s.scales.scale[std::size_t(j)]);
      // Divided one by one, because the product of variance and squared scale may overflow.
      out(k) = s.terms.is_intercept(j) ? 1 / options_.intercept_variance / unit / unit
                                       : 1 / variance / scale / scale;
    }
    // Means have units, or are of other sizes than 1: their prior is about that of all rows.
    if (data.intercept() && options_.measured())
      prior.mean(0) = options_.intercept_mean ? *options_.intercept_mean - data.response_mean()
                                              : intercept_of_data(data);
    if (options_.response->dispersed()) {
      out(out.size() - 1) = 1 / options_.dispersion_variance;
      prior.mean(out.size() - 1) = std::log(options_.dispersion) + 2 * std::log(unit);
      if (options_.response->learns_degrees()) {
        out(out.size() - 2) = 1 / options_.degrees_variance;
        prior.mean(out.size() - 2) = std::log(options_.degrees_median);
      }
    } else {
      out.tail(data.extras()).setConstant(1 / options_.gap_variance);
      prior.mean.tail(data.extras()).setConstant(std::log(options_.gap));
    }
    return prior;
  }

  /// The log Jacobian that is added to the log density of the coefficients of z to give that of the
  /// coefficients of the columns themselves.
  double log_units() const {
    double out = 0;
    for (const double scale : model_->state->scales.scale) out += std::log(scale);
    return out * options_.response->predictors(model_->state->columns.levels);
  }

  void shift_objective(double by) {
    for (double &value : model_->trace.back()) value += by;
    model_->info.objective = model_->trace.back().back();
  }

  /// Stores the normal approximation about the mode whose precision A has this Cholesky factor, and
  /// completes the objective. The trace ends with the log joint density at the mode, plus `added`:
  /// by Laplace's method log p(y) is about log p(y, u) + p / 2 log(2 pi) - log |A| / 2. With the
  /// precision of q(u) that is exactly the variational bound (002 L6).
  void approximate(const Matrix &factor, double added) {
    const double p = double(factor.rows());
    double shift = p * half_log_two_pi - added;
    for (Eigen::Index j = 0; j < factor.rows(); ++j) shift -= std::log(factor(j, j));
    shift_objective(shift);
    const Matrix root = inverse_lower(factor);
    std::vector<double> &packed = state().root;
    packed.reserve(std::size_t(p * (p + 1) / 2));
    for (Eigen::Index i = 0; i < root.rows(); ++i)
      for (Eigen::Index j = 0; j <= i; ++j) packed.push_back(root(i, j));
  }

  void sample(GlmRows &data, const GlmPrior &prior, const GlmMode &mode) {
    model_->trace.clear();
    const std::size_t p = state().size();
    const bool recorded = p <= max_recorded_draws;
    const bool latent = options_.method == Method::gibbs && options_.response->link == Link::probit;
    const Matrix root = latent ? inverse_lower(augmented_precision(data, prior)) : Matrix();
    std::vector<double> draws;
    const DrawMoments none{Eigen::Index(p)};
    DrawMoments moments = none, of_chain = none;
    const GlmTask task{
        data,
        prior,
        log_units(),
        root,
        mode,
        options_.seed,
        draws,
        of_chain,
        [this, p](const Vector &u, int j) {
          return model_->of_column({u.data(), p}, std::size_t(j));
        },
        [this, recorded, p](const Vector &u) {
          return recorded ? model_->quantities_of({u.data(), p}) : std::vector<double>();
        }};
    ChainSettings settings;
    settings.method = options_.method == Method::gibbs ? "gibbs" : "slice";
    settings.plan = options_.chains;
    settings.quantities = {"log_likelihood"};
    const int coefficients = int(p) - (options_.response->ordered() ? 0 : data.extras());
    for (int j = 1; recorded && j <= coefficients; ++j)
      settings.quantities.push_back(message("w{}", j));
    if (recorded && options_.response->dispersed()) settings.quantities.push_back("dispersion");
    if (recorded && options_.response->learns_degrees()) settings.quantities.push_back("df");
    const auto held = std::int64_t(max_stored_numbers / double(p));
    settings.max_stored_draws = collected_draws(options_.chains, held);
    settings.max_held_draws = held_for_extension(double(p), held);
    settings.max_kept_draws = options_.chains.all_stored();
    settings.retain = [&draws, p](std::span<const int>, std::span<const int> stored) {
      retain(draws, stored, p);
    };
    settings.exchange = [&](StateNumbers &numbers, int, std::int64_t, std::int64_t stored) {
      const std::size_t count = std::size_t(stored) * p;
      numbers.require(count);
      if (numbers.reads()) draws.resize(draws.size() + count);
      numbers.numbers(std::span(draws).last(count));
      of_chain.exchange(numbers);
    };
    settings.end_chain = [&] {
      moments.merge(of_chain);
      of_chain = none;
    };
    ChainRun chains = run_chains(
        settings, control_, [&](int chain) { return glm_chain(options_.method, task, chain); });
    keep(chains, draws, moments, data);
    run_.take(std::move(chains));
    // The largest log-likelihood of the draws is no evidence.
    model_->info.objective = std::numeric_limits<double>::quiet_NaN();
  }

  /// Stores some of the collected draws in the model; means and deviations are those of all draws.
  void keep(const ChainRun &chains, const std::vector<double> &draws, const DrawMoments &moments,
            GlmRows &data) {
    const std::size_t p = state().size(), count = draws.size() / p;
    Vector mean = moments.mean();
    const int terms = state().terms.size();
    for (int j = 0; data.intercept() && j < data.coefficients(); j += terms) {
      // converts the intercept in units of the columns back to that of z
      const double own = mean(j);
      mean(j) = 0;
      mean(j) = own - model_->of_column({mean.data(), p}, std::size_t(j));
    }
    model_->info.log_likelihood = data.likelihood(mean, false).log_likelihood;
    state().mean = to_vector(mean);
    state().deviations = to_vector(moments.deviation());
    for (const int draw :
         draws_to_store(chains, std::int64_t(count), double(draws.size()), control_)) {
      const auto first = draws.begin() + std::ptrdiff_t(std::size_t(draw) * p);
      state().draws.insert(state().draws.end(), first, first + std::ptrdiff_t(p));
    }
    // Chains take responses on the whole line about their mean.
    state().mean[0] += data.response_mean();
    for (std::size_t at = 0; at < state().draws.size(); at += p)
      state().draws[at] += data.response_mean();
  }

  RowSource &rows_;
  GlmOptions options_;
  Control &control_;
  GlmWarnings &warnings_;
  std::unique_ptr<Glm> model_;
  FitRun run_;
};

}  // namespace

GlmCheck glm_check_options(GlmFamily family, const Document &options) {
  const GlmOptions read = read_glm_options(family, options);
  return {read.rows(), read.response, read.levels};
}

std::unique_ptr<Glm> glm_fit(GlmFamily family, RowSource &rows, const RowColumns &columns,
                             const Document &options, Control &control, GlmWarnings &warnings) {
  const PollScope scope(control);
  GlmOptions read = read_glm_options(family, options);
  if (rows.rows() == 0) throw Error(Errc::invalid_argument, "there are no rows to fit");
  if (read.method == Method::gibbs && rows.shape().weighted)
    throw Error(
        Errc::invalid_argument, "method gibbs takes no weights",
        "It draws a latent variable for every row, which has no meaning for a row that counts "
        "two and a half times.",
        "Use method laplace or slice, or repeat rows by FROM t, generate_series(1, t.count).");
  return GlmFit(rows, columns, std::move(read), control, warnings).run();
}

// A generalized linear model as a document, and back, with every number checked.

namespace {

/// largest magnitudes of centres and scales; of coefficients in the model's units
constexpr double max_of_column = 1e155, max_of_coefficient = 1e100;

/// p (p + 1) / 2
std::int64_t triangle(std::int64_t p) { return p * (p + 1) / 2; }

std::vector<double> read_numbers(const MemberReader &in, const char *key,
                                 const std::vector<std::int64_t> &shape, double most) {
  std::vector<double> out = in.tensor(key, shape).values;
  WorkPoll poll;
  for (const double x : out) {
    poll(1);
    if (!(std::fabs(x) <= most))
      in.reject(key, message("contains {}, but must hold numbers of magnitude up to {}",
                             describe(x), describe_number(most)));
  }
  return out;
}

/// The response of a stored model, and the columns that it takes apart.
const ResponseFamily &read_response(const MemberReader &in, GlmFamily family, GlmOptions &out) {
  if (family != GlmFamily::glm) {
    out.response = &bernoulli(family == GlmFamily::logreg ? Link::logit : Link::probit);
    return *out.response;
  }
  const MemberReader options = in.object("options");
  const std::string name = options.text("response");
  std::optional<Link> link;
  if (options.has("link")) link = options.text("link") == "probit" ? Link::probit : Link::logit;
  const ResponseFamily *const found = find_response(name, link);
  if (!found && find_response(name)) options.reject("link", "must be one of the response");
  if (!found) options.reject("response", "must be one of this version");
  out.response = found;
  for (const auto &[key, column] :
       {std::pair("exposure", &out.exposure), std::pair("offset", &out.offset)})
    if (options.has(key)) *column = options.text(key);
  if (found->labelled()) out.levels = listed_levels(options.value("levels"));
  if (found->has_degrees() && options.value("df").as<std::string>()) {
    out.response = &student_of_learned_degrees();
    return *out.response;
  }
  if (found->has_degrees()) out.degrees = options.number("df", 1, 1e6, false);
  if (!found->has_trials()) return *found;
  if (const Document trials = options.value("trials"); trials.as<std::string>())
    out.trials = *trials.as<std::string>();
  else
    out.trials_of_rows = double(options.integer("trials", 1, std::int64_t(1e15)));
  return *found;
}

std::unique_ptr<Model> read_model(GlmFamily family, const Document &document) {
  const MemberReader in(document);
  GlmOptions given;
  const ResponseFamily &response = read_response(in, family, given);
  auto model = std::make_unique<Glm>(family, &response);
  ModelInfo &info = model->info;
  info = read_model_info(document, methods_of(response), max_predictors, 1, 0);
  Glm::State &state = *model->state;
  const MemberReader options = in.object("options");
  std::vector<std::string> listed;
  if (options.has("terms")) listed = listed_terms(options.value("terms"));
  state.columns = glm_columns(given, info.columns, info.dimension);
  state.terms = RegressionTerms(
      info.columns, info.dimension, response.ordered() || options.boolean("intercept"),
      options.has("reference") ? options.value("reference") : Document(),
      std::array{state.columns.offset, state.columns.exposure, state.columns.trials}, listed);
  state.levels = given.levels;
  const int predictors = response.predictors(state.columns.levels),
            extras = response.extras(state.columns.levels);
  const std::int64_t terms = state.terms.size(), p = terms * predictors + extras;
  if (terms == 0) in.reject("row_columns", "must give at least one term");
  if (terms * predictors > max_terms) options.reject("levels", "must be fewer for these terms");
  state.observations = in.number("observations", 0, 1e300, true);
  state.parameters = int(in.integer("parameters", 0, terms * predictors));
  state.scales.centre = read_numbers(in, "centre", {terms}, max_of_column);
  state.scales.scale = read_numbers(in, "scale", {terms}, max_of_column);
  for (const double x : state.scales.scale)
    if (!(x >= 1 / max_of_column)) in.reject("scale", "must be positive");
  state.mean = read_numbers(in, "mean", {p}, max_of_coefficient);
  if (response.dispersed() &&
      !(std::fabs(state.mean.back()) < (response.link == Link::identity ? 800 : 60)))
    in.reject("mean", "must end with the logarithm of a dispersion");
  if (response.learns_degrees() && !(std::fabs(state.mean[std::size_t(p) - 2]) < 14))
    in.reject("mean", "must end with logarithms of degrees of freedom and a dispersion");
  model->take_degrees();
  if (response.ordered())
    state.columns.anchor = int(in.integer("anchor", 0, state.columns.levels - 2));
  for (std::int64_t i = p - extras; response.ordered() && i < p; ++i)
    if (!(std::fabs(state.mean[std::size_t(i)]) < 60))
      in.reject("mean", "must end with logarithms of gaps");
  if (is_sampler(info.method)) {
    const Tensor draws = in.tensor("coefficient_draws", {-1, p});
    if (draws.shape[0] == 0) in.reject("coefficient_draws", "must not be empty");
    state.draws = read_numbers(in, "coefficient_draws", draws.shape, max_of_coefficient);
    if (in.has("deviations")) {
      state.deviations = in.tensor("deviations", {p}).values;
      for (const double x : state.deviations)
        if (!(x >= 0)) in.reject("deviations", "must not be negative");
    }
  } else if (info.method != Method::em) {
    state.root = read_numbers(in, "root", {triangle(p)}, max_of_coefficient);
    for (std::int64_t j = 0; j < p; ++j)
      if (!(state.root[std::size_t(triangle(j) + j)] > 0))
        in.reject("root", "must have a positive diagonal");
    // No fit leaves a dispersion as uncertain.
    if (response.dispersed() && !(state.root.back() <= 10))
      in.reject("root", "must end with a deviation of at most 10");
  }
  return model;
}

}  // namespace

void Glm::write(Document &document) const {
  const State &s = *state;
  const auto p = std::int64_t(s.size());
  document.set("observations", s.observations);
  document.set("parameters", s.parameters);
  document.set("centre", Tensor{{std::int64_t(s.terms.size())}, s.scales.centre});
  document.set("scale", Tensor{{std::int64_t(s.terms.size())}, s.scales.scale});
  document.set("mean", Tensor{{p}, s.mean});
  if (response_->ordered()) document.set("anchor", s.columns.anchor);
  const auto set = [&document](const char *key, const std::vector<std::int64_t> &shape,
                               const std::vector<double> &values) {
    Tensor tensor{shape, {}};
    append_numbers(tensor.values, values);
    document.set(key, std::move(tensor));
  };
  if (!s.root.empty()) set("root", {triangle(p)}, s.root);
  if (!s.deviations.empty()) document.set("deviations", Tensor{{p}, s.deviations});
  if (!s.draws.empty()) set("coefficient_draws", {stored_draws(), p}, s.draws);
}

std::unique_ptr<Model> read_glm(const Document &document) {
  return read_model(GlmFamily::glm, document);
}
std::unique_ptr<Model> read_logistic_regression(const Document &document) {
  return read_model(GlmFamily::logreg, document);
}
std::unique_ptr<Model> read_probit_regression(const Document &document) {
  return read_model(GlmFamily::probit, document);
}

}  // namespace bayes
