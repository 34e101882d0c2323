#include "conjugate/conjugate.hpp"
#include "base/random.hpp"

#include <cmath>
#include <limits>
#include <span>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "distributions/standard.hpp"
#include "document/members.hpp"
#include "document/option_table.hpp"
#include "families/parameter.hpp"

namespace bayes {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
double finite_or_none(double x) { return std::isfinite(x) ? x : none; }

struct PriorKey {
  const char *name;
  double value, low;
  bool low_open;
};

// Default priors: uniform for probabilities, Jeffreys' prior for rates, and for the normal the
// reference prior, constant in mu and log sigma, whose intervals are those of Student's t test.
constexpr PriorKey beta_prior[] = {{"a", 1, 0, true}, {"b", 1, 0, true}};
constexpr PriorKey gamma_prior[] = {{"a", 0.5, 0, true}, {"b", 0, 0, false}};
constexpr PriorKey normal_prior[] = {{"m", 0, -max_conjugate_number, false},
                                     {"c", 0, 0, false},
                                     {"a", -0.5, -0.5, false},
                                     {"b", 0, 0, false}};

std::span<const PriorKey> prior_of(ConjugateKind kind) {
  switch (kind) {
    case ConjugateKind::beta_bernoulli: return beta_prior;
    case ConjugateKind::gamma_poisson: return gamma_prior;
    case ConjugateKind::normal_inverse_gamma: break;
  }
  return normal_prior;
}

[[noreturn]] void throw_sums_overflow() {
  throw Error(Errc::numeric, "sums over the rows are beyond double precision");
}

}  // namespace

const char *conjugate_family(ConjugateKind kind) {
  switch (kind) {
    case ConjugateKind::beta_bernoulli: return "beta_bernoulli";
    case ConjugateKind::gamma_poisson: return "gamma_poisson";
    case ConjugateKind::normal_inverse_gamma: break;
  }
  return "normal_inverse_gamma";
}

ConjugatePrior read_conjugate_prior(ConjugateKind kind, const Document &options) {
  OptionReader reader(options);
  ConjugatePrior prior = {};
  const Document *const given = reader.raw("prior");
  const Document nothing;
  OptionReader numbers(given ? *given : nothing, "prior.");
  for (std::size_t i = 0; const PriorKey &key : prior_of(kind))
    prior[i++] = numbers.number(key.name, key.value, key.low, max_conjugate_number, key.low_open);
  numbers.finish();
  reader.choice("on_error", "error", {"error", "null"});
  reader.finish();
  return prior;
}

ConjugateModel::ConjugateModel(ConjugateKind kind, const ConjugatePrior &prior,
                               const ConjugateSums &sums, const std::optional<Statistics> &stored)
    : kind_(kind),
      prior_(prior),
      posterior_(prior),
      sums_(sums),
      stored_(stored) {
  info.family = conjugate_family(kind);
  info.method = Method::exact;
  info.rows = sums.rows;
  info.skipped = sums.skipped;
  info.dimension = info.components = 1;
  info.converged = true;
  Document given;
  for (std::size_t i = 0; const PriorKey &key : prior_of(kind)) given.set(key.name, prior[i++]);
  info.options = Document::object().set("prior", std::move(given));
  update();
}

DoubleDouble ConjugateModel::mean() const {
  return DoubleDouble{sums_.shift} + sums_.sums[1] / sums_.sums[0];
}

void ConjugateModel::update() {
  const auto &s = sums_.sums;
  for (const DoubleDouble &sum : s)
    if (!(std::fabs(sum.hi) <= max_conjugate_sum)) throw_sums_overflow();
  posterior_ = prior_;
  if (kind_ != ConjugateKind::normal_inverse_gamma) {
    posterior_[0] += s[0].hi;
    posterior_[1] += s[1].hi;
  } else {
    // 002 L10 eq. 20, whose printed factor s / (a s + 1) of the last term is c s / (c + s).
    const double c = prior_[1], n = s[0].hi;
    const DoubleDouble away = mean() - DoubleDouble{prior_[0]};
    posterior_[1] = c + n;
    posterior_[0] = (DoubleDouble{prior_[0]} + away * DoubleDouble{n / (c + n)}).hi;
    posterior_[2] += n / 2;
    posterior_[3] += sums_.squares().hi / 2 + c * (n / (c + n)) * away.hi * away.hi / 2;
    if (std::isinf(posterior_[3])) throw_sums_overflow();  // it is NaN without rows
  }
  info.objective = finite_or_none(log_evidence());
  info.log_likelihood = log_likelihood();
}

bool ConjugateModel::proper() const {
  if (kind_ != ConjugateKind::normal_inverse_gamma) return posterior_[0] > 0 && posterior_[1] > 0;
  return posterior_[1] > 0 && posterior_[2] > 0 && posterior_[3] > 0;
}

Marginal ConjugateModel::marginal() const {
  switch (kind_) {
    case ConjugateKind::beta_bernoulli: return {Marginal::Kind::beta, posterior_[0], posterior_[1]};
    case ConjugateKind::gamma_poisson: return {Marginal::Kind::gamma, posterior_[0], posterior_[1]};
    case ConjugateKind::normal_inverse_gamma: break;
  }
  const auto &[m, c, a, b] = posterior_;
  const double square = b / (a * c);
  // The root may be a normal number even where the square underflows or overflows.
  const double scale =
      std::isnormal(square) ? std::sqrt(square) : std::sqrt(b) / std::sqrt(a) / std::sqrt(c);
  return {Marginal::Kind::student, 2 * a, scale, m};
}

double ConjugateModel::posterior_mean() const {
  if (kind_ == ConjugateKind::normal_inverse_gamma)
    return proper() && posterior_[2] > 0.5 ? posterior_[0] : none;
  return proper() ? marginal().mean() : none;
}

double ConjugateModel::posterior_mode() const {
  const double a = posterior_[0], b = posterior_[1];
  switch (kind_) {
    case ConjugateKind::beta_bernoulli:
      if (a > 1 || b > 1) return a <= 1 ? 0 : b <= 1 ? 1 : (a - 1) / (a + b - 2);
      return a < 1 && b == 1 ? 0 : a == 1 && b < 1 ? 1 : none;  // else flat, or two modes
    case ConjugateKind::gamma_poisson: return b > 0 ? std::fmax(0, a - 1) / b : none;
    case ConjugateKind::normal_inverse_gamma: break;
  }
  return posterior_[0];
}

double ConjugateModel::maximum_likelihood() const {
  const auto &s = sums_.sums;
  switch (kind_) {
    case ConjugateKind::beta_bernoulli: return (s[0] / (s[0] + s[1])).hi;
    case ConjugateKind::gamma_poisson: return (s[0] / s[1]).hi;
    case ConjugateKind::normal_inverse_gamma: break;
  }
  return mean().hi;
}

double ConjugateModel::log_evidence() const {
  const auto &s = sums_.sums;
  const auto &[p0, p1, p2, p3] = prior_;
  switch (kind_) {
    case ConjugateKind::beta_bernoulli:
      return log_beta(posterior_[0], posterior_[1]) - log_beta(p0, p1);
    case ConjugateKind::gamma_poisson:
      if (!(p1 > 0)) return none;
      return s[2].hi + log_gamma(posterior_[0]) - log_gamma(p0) - p0 * std::log1p(s[1].hi / p1) -
             s[0].hi * std::log(posterior_[1]);
    case ConjugateKind::normal_inverse_gamma: break;
  }
  if (!(p1 > 0 && p2 > 0 && p3 > 0)) return none;
  const auto &[m, c, a, b] = posterior_;
  const double n = s[0].hi;
  return -n / 2 * log_two_pi + 0.5 * std::log(p1 / c) + log_gamma(a) - log_gamma(p2) -
         p2 * std::log(b / p3) - n / 2 * std::log(b);
}

double ConjugateModel::log_likelihood() const {
  const auto &s = sums_.sums;
  const double at = posterior_mean();
  // 0 log 0 = 0
  const auto times_log = [](double n, double x) { return n == 0 ? 0 : n * std::log(x); };
  switch (kind_) {
    case ConjugateKind::beta_bernoulli: {
      const auto &[a, b, unused_c, unused_d] = posterior_;
      return finite_or_none(times_log(s[0].hi, a / (a + b)) + times_log(s[1].hi, b / (a + b)));
    }
    case ConjugateKind::gamma_poisson:
      return finite_or_none(s[2].hi + times_log(s[0].hi, at) - s[1].hi * at);
    case ConjugateKind::normal_inverse_gamma: break;
  }
  const double n = s[0].hi, precision = posterior_[2] / posterior_[3],
               away = (mean() - DoubleDouble{at}).hi;
  const double out = n / 2 * (std::log(precision) - log_two_pi) -
                     precision / 2 * (sums_.squares().hi + n * away * away);
  return finite_or_none(out);
}

double ConjugateModel::log_predictive(double x, double exposure) const {
  if (!proper()) return none;
  const auto &[p0, p1, p2, p3] = posterior_;
  switch (kind_) {
    case ConjugateKind::beta_bernoulli: return std::log((x != 0 ? p0 : p1) / (p0 + p1));
    case ConjugateKind::gamma_poisson:
      // Negative binomial: Gamma(a + x) / (Gamma(a) x!) (b / (b + e))^a (e / (b + e))^x. This is
      // a / (a + x) times a binomial density of a among a + x: no cancellation, however large x is.
      if (x > 0) {
        const double p = p1 / (p1 + exposure), q = exposure / (p1 + exposure);
        return log_binomial(p0, x, p, q, binomial_difference(p0, x, p, q)) - std::log1p(x / p0);
      }
      return -p0 * std::log1p(exposure / p1);
    case ConjugateKind::normal_inverse_gamma: break;
  }
  return StudentDistribution(2 * p2, p0, std::sqrt(p3 / p2 * ((p1 + 1) / p1))).log_density(x);
}

const ModelWords &ConjugateModel::words() const {
  static constexpr ModelWords words = {
      .takes = "single values",
      .functions =
          "bayes_log_density(model, x) takes such a value; bayes_mean(model), bayes_interval "
          "and bayes_parameters say what is known of the parameter."};
  return words;
}

void ConjugateModel::describe_parameters(std::optional<double> level,
                                         const TakeParameter &take) const {
  const ParameterTable table(level, take);
  Parameter p;
  p.name = kind_ == ConjugateKind::beta_bernoulli  ? "probability"
           : kind_ == ConjugateKind::gamma_poisson ? "rate"
                                                   : "mean";
  p.value = posterior_mean();
  if (proper())
    table.under(p, marginal());
  else
    table.at_point(p);
  if (kind_ != ConjugateKind::normal_inverse_gamma) return;
  Parameter sd;
  sd.name = "sd";
  sd.root = true;
  // sigma^2 = b / (chi-square with 2 a degrees / 2)
  const Marginal root = {Marginal::Kind::root, 2 * posterior_[2], 2 * posterior_[3]};
  if (proper()) {
    sd.value = root.mean();
    table.under(sd, root);
  } else {
    table.at_point(sd);
  }
}

ParameterDraws ConjugateModel::draw_parameters(std::uint64_t seed) const {
  if (!proper())
    throw Error(Errc::invalid_argument, "the posterior is improper, so there are no draws", {},
                "Give a proper prior, or more rows.");
  ParameterDraws out = undrawn_parameters();
  out.draw = [this, seed](std::uint64_t number) -> std::vector<double> {
    Random random(seed, number);
    const auto &[p0, p1, p2, p3] = posterior_;
    if (kind_ == ConjugateKind::beta_bernoulli) return {random.beta(p0, p1)};
    if (kind_ == ConjugateKind::gamma_poisson) return {random.gamma(p0) / p1};
    const double sd = std::sqrt(p3 / random.gamma(p2));
    return {p0 + sd / std::sqrt(p1) * random.normal(), sd};
  };
  return out;
}

double ConjugateModel::free_parameters() const {
  return kind_ == ConjugateKind::normal_inverse_gamma ? 2 : 1;
}
double ConjugateModel::observations() const {
  return kind_ == ConjugateKind::beta_bernoulli  ? (sums_.sums[0] + sums_.sums[1]).hi
         : kind_ == ConjugateKind::gamma_poisson ? double(sums_.rows)
                                                 : sums_.sums[0].hi;
}

void ConjugateModel::merge(const Model &other) {
  merge_info(info, other.info);
  sums_.add(kind_, static_cast<const ConjugateModel &>(other).sums_);
  stored_.reset();
  update();
}

// Sums of conjugate models: rows are added and removed, and sums are merged.

namespace {

/// relative rounding error of a sum, which has some 105 bits
constexpr double unit = 0x1p-104;

}  // namespace

bool ConjugateSums::add(ConjugateKind kind, double x, double weight, int sign) {
  if (rows == 0 && sign > 0) *this = {.skipped = skipped, .shift = x, .settled = weight};
  if (kind == ConjugateKind::normal_inverse_gamma && sign > 0) settle(weight, x);
  rows += sign;
  const auto change = [&](std::size_t i, const DoubleDouble &by) {
    sums[i] = sign > 0 ? sums[i] + by : sums[i] - by;
    errors[i] += unit * (std::fabs(sums[i].hi) + std::fabs(by.hi));
  };
  // After a removal: is the error bound small relative to what is left?
  const auto lasts = [&](std::size_t i, double scale) { return errors[i] <= 1e-13 * scale; };
  switch (kind) {
    case ConjugateKind::beta_bernoulli: {
      const bool success = x != 0;
      change(success ? 0 : 1, {weight});
      if (success) successes += sign;
      if (sign > 0 || rows == 0) return true;
      if ((success ? successes : rows - successes) == 0) {
        sums[success ? 0 : 1] = {};
        errors[success ? 0 : 1] = 0;
      }
      return lasts(0, sums[0].hi) && lasts(1, sums[1].hi);
    }
    case ConjugateKind::gamma_poisson:
      // Counts are whole numbers, so their sum is exact.
      change(0, {x});
      change(1, {weight});
      change(2, DoubleDouble::product(x, std::log(weight)) - DoubleDouble{log_gamma(x + 1)});
      return sign > 0 || rows == 0 || lasts(1, sums[1].hi);
    case ConjugateKind::normal_inverse_gamma: break;
  }
  const DoubleDouble d = DoubleDouble::sum(x, -shift), weighted = DoubleDouble{weight} * d;
  change(0, {weight});
  change(1, weighted);
  change(2, weighted * d);
  if (sign > 0 || rows == 0) return true;
  const double about = squares().hi;
  return lasts(0, sums[0].hi) && lasts(1, std::sqrt(about) * std::sqrt(sums[0].hi)) &&
         lasts(2, about);
}

// If the shift were far from the mean, the squares of heavy rows would leave no digits for those of
// light ones. So whenever the weight has grown fourfold, the shift moves to the mean of the rows so
// far, or to the new rows if these outweigh them all. The digits lost by a move are of the size of
// the rounding of the result.
void ConjugateSums::settle(double weight, double x) {
  const double all = sums[0].hi + weight;
  if (!(all > 4 * settled)) return;
  settled = all;
  const double to = weight > sums[0].hi ? x : shift + (sums[1] / sums[0]).hi;
  if (!(sums[0].hi > 0) || to == shift) return;
  const DoubleDouble by = DoubleDouble::sum(shift, -to), moved = sums[0] * by;
  const DoubleDouble squares = sums[2] + by * (DoubleDouble{2} * sums[1] + moved);
  errors[2] += 2 * std::fabs(by.hi) * errors[1] + by.hi * by.hi * errors[0] +
               unit * (std::fabs(sums[2].hi) + std::fabs(by.hi * moved.hi));
  errors[1] += std::fabs(by.hi) * errors[0] + unit * std::fabs(moved.hi);
  sums[2] = squares;
  sums[1] += moved;
  shift = to;
}

void ConjugateSums::add(ConjugateKind kind, const ConjugateSums &other) {
  if (kind == ConjugateKind::normal_inverse_gamma) {
    if (rows == 0) {
      shift = other.shift;
      settled = other.settled;
    }
    settle(other.sums[0].hi, other.shift);
  }
  rows += other.rows;
  skipped += other.skipped;
  if (kind != ConjugateKind::normal_inverse_gamma) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
    return;
  }
  // The other sums about this shift: d becomes d + by.
  const DoubleDouble by = DoubleDouble::sum(other.shift, -shift), moved = other.sums[0] * by;
  sums[2] += other.sums[2] + by * (DoubleDouble{2} * other.sums[1] + moved);
  sums[1] += other.sums[1] + moved;
  sums[0] += other.sums[0];
}

DoubleDouble ConjugateSums::squares() const {
  // Divides first, since the square of sums[1] may overflow.
  const DoubleDouble out = sums[2] - sums[1] * (sums[1] / sums[0]);
  return out.hi > 0 ? out : DoubleDouble{};
}

// Writes and reads the documents of conjugate models.

namespace {

constexpr const char *sum_names[3][3] = {{"successes", "failures", nullptr},
                                         {"count", "exposure", "log_factor"},
                                         {"count", "mean", "squares"}};

}  // namespace

void ConjugateModel::write(Document &document) const {
  Statistics values = stored_.value_or(sums_.sums);
  if (kind_ == ConjugateKind::normal_inverse_gamma && !stored_) {
    values[1] = mean();
    values[2] = sums_.squares();
  }
  Document statistics;
  for (std::size_t i = 0; i < 3; ++i)
    if (const char *const name = sum_names[int(kind_)][i]) {
      // + 0.0 removes the sign of a zero, which depends on the order of the rows.
      const DoubleDouble kept = values[i].rounded();
      statistics.set(name, Tensor{{2}, {kept.hi + 0.0, kept.lo + 0.0}});
    }
  document.set("statistics", std::move(statistics));
}

namespace {

std::unique_ptr<Model> read_conjugate(ConjugateKind kind, const Document &document) {
  ModelInfo info = read_model_info(document, conjugate_methods, 1, 1);
  ConjugatePrior prior;
  try {
    prior = read_conjugate_prior(kind, info.options);
  } catch (const Error &error) {
    throw Error(Errc::invalid_text, error.what(), error.detail());
  }
  const MemberReader statistics = MemberReader(document).object("statistics");
  ConjugateSums sums;
  sums.rows = info.rows;
  sums.skipped = info.skipped;
  for (std::size_t i = 0; i < 3; ++i) {
    const char *const name = sum_names[int(kind)][i];
    if (!name) continue;
    const Tensor pair = statistics.tensor(name, {2});
    const double high = pair.values[0], low = pair.values[1];
    const bool any_sign = (kind == ConjugateKind::gamma_poisson && i == 2) ||
                          (kind == ConjugateKind::normal_inverse_gamma && i == 1);
    if ((!any_sign && high < 0) || high + low != high || std::fabs(high) > max_conjugate_sum ||
        DoubleDouble::rounded_to_24_bits(low) != low)
      statistics.reject(name, "is not a number and its rounding error");
    sums.sums[i] = {high, low};
  }
  const ConjugateModel::Statistics stored = sums.sums;
  if (kind == ConjugateKind::normal_inverse_gamma) {
    // The shift is the high part of the mean; its low part remains in the sums.
    const DoubleDouble count = sums.sums[0], mean = sums.sums[1], squares = sums.sums[2];
    if (!(count.hi > 0)) statistics.reject("count", "must be positive");
    sums.shift = mean.hi;
    sums.settled = count.hi;
    const DoubleDouble rest{mean.lo};
    sums.sums[1] = count * rest;
    sums.sums[2] = squares + count * rest * rest;
    if (std::fabs(mean.hi) > max_conjugate_number) statistics.reject("mean", "is too large");
  } else if (!((sums.sums[0] + sums.sums[1]).hi > 0) ||
             (kind == ConjugateKind::gamma_poisson && !(sums.sums[1].hi > 0))) {
    statistics.reject(sum_names[int(kind)][1], "must be positive");
  }
  auto model = std::make_unique<ConjugateModel>(kind, prior, sums, stored);
  info.options = model->info.options;
  model->info = std::move(info);
  return model;
}

}  // namespace

std::unique_ptr<Model> read_beta_bernoulli(const Document &document) {
  return read_conjugate(ConjugateKind::beta_bernoulli, document);
}
std::unique_ptr<Model> read_gamma_poisson(const Document &document) {
  return read_conjugate(ConjugateKind::gamma_poisson, document);
}
std::unique_ptr<Model> read_normal_inverse_gamma(const Document &document) {
  return read_conjugate(ConjugateKind::normal_inverse_gamma, document);
}

}  // namespace bayes
