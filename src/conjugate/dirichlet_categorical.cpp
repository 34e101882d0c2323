#include "conjugate/dirichlet_categorical.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "base/random.hpp"
#include "base/special.hpp"
#include "document/members.hpp"
#include "document/option_table.hpp"
#include "families/parameter.hpp"

namespace bayes {
namespace {

constexpr double max_prior_alpha = 1e150;

void check_alpha(std::string_view label, double alpha) {
  if (!(alpha > 0 && alpha <= max_prior_alpha))
    throw Error(Errc::invalid_argument,
                message("option \"prior.alpha\" has {} for \"{}\", but must be above 0 and at most "
                        "{}",
                        alpha, label, max_prior_alpha));
}

}  // namespace

double DirichletPrior::of(std::string_view label) const {
  const auto found = by_label.find(label);
  return found == by_label.end() ? alpha : found->second;
}

DirichletPrior DirichletPrior::read(const Document &options) {
  OptionReader reader(options);
  const Document *const given = reader.raw("prior");
  const Document nothing;
  OptionReader prior(given ? *given : nothing, "prior.");
  DirichletPrior out;
  const Document *const alpha = prior.given("alpha");
  if (const auto *const labels = alpha ? alpha->as<Document::Object>() : nullptr) {
    prior.raw("alpha");
    for (const auto &[label, value] : *labels) {
      const std::optional<double> number = to_number(value, false);
      if (!number)
        throw Error(Errc::invalid_argument,
                    message("option \"prior.alpha\" has {} for \"{}\", but must have numbers",
                            describe(value), label));
      check_alpha(label, *number);
      out.by_label.emplace(label, *number);
    }
  } else {
    out.alpha = prior.number("alpha", 1, 0, max_prior_alpha, true);
  }
  prior.finish();
  reader.choice("on_error", "error", {"error", "null"});
  reader.finish();
  return out;
}

Document DirichletPrior::document() const {
  Document out;
  if (by_label.empty()) {
    out.set("alpha", alpha);
  } else {
    Document labels = Document::object();
    for (const auto &[label, value] : by_label) labels.set(label, value);
    out.set("alpha", std::move(labels));
  }
  return out;
}

// ---- sums ----

LabelWeight &LabelSums::weight_of(std::string_view label) {
  const auto found = weights.find(label);
  if (found != weights.end()) return found->second;
  if (label.size() > DirichletCategorical::max_label_bytes)
    throw Error(Errc::too_large, message("a label is {} bytes long, but the limit is {}",
                                         label.size(), DirichletCategorical::max_label_bytes));
  if (weights.size() == std::size_t(DirichletCategorical::max_labels))
    throw Error(Errc::too_large,
                message("there are more than {} labels", DirichletCategorical::max_labels));
  if (bytes + label.size() > DirichletCategorical::max_label_bytes_total)
    throw Error(Errc::too_large, message("distinct labels take more than {} MB",
                                         DirichletCategorical::max_label_bytes_total >> 20));
  bytes += label.size();
  return weights.emplace(label, LabelWeight{}).first->second;
}

bool LabelSums::add(std::string_view label, double weight, int sign) {
  LabelWeight &own = weight_of(label);
  rows += sign;
  total += sign * weight;
  own.rows += sign;
  own.sum += DoubleDouble{sign * weight};
  own.error += 0x1p-104 * (std::fabs(own.sum.hi) + weight);
  if (sign > 0) return true;
  if (own.rows == 0) {
    bytes -= label.size();
    weights.erase(weights.find(label));
    return true;
  }
  return own.error <= 1e-13 * own.sum.hi;
}

void LabelSums::add(const LabelSums &other) {
  rows += other.rows;
  skipped += other.skipped;
  total += other.total;
  for (std::size_t i = 0; const auto &[label, weight] : other.weights) {
    poll_in_loop(i++);
    LabelWeight &own = weight_of(label);
    own.sum += weight.sum;
    own.rows += weight.rows;
    own.error += weight.error;
  }
}

// ---- the model ----

DirichletCategorical::DirichletCategorical(DirichletPrior prior, LabelSums sums)
    : prior_(std::move(prior)),
      sums_(std::move(sums)) {
  info.family = "dirichlet_categorical";
  info.method = Method::exact;
  info.rows = sums_.rows;
  info.skipped = sums_.skipped;
  info.dimension = info.components = 1;
  info.converged = true;
  info.options = Document::object().set("prior", prior_.document());
  update();
}

std::vector<DirichletCategorical::Label> DirichletCategorical::labels() const {
  std::vector<Label> out;
  auto given = prior_.by_label.begin();
  for (const auto &[name, weight] : sums_.weights) {
    for (; given != prior_.by_label.end() && given->first < name; ++given)
      out.push_back({&given->first, 0, given->second});
    double alpha = prior_.alpha;
    if (given != prior_.by_label.end() && given->first == name) alpha = given++->second;
    out.push_back({&name, weight.sum.hi, alpha});
  }
  for (; given != prior_.by_label.end(); ++given) out.push_back({&given->first, 0, given->second});
  return out;
}

void DirichletCategorical::update() {
  DoubleDouble total, alphas;
  bool above = true, any = false;
  const std::vector<Label> all = labels();
  for (const Label &label : all) {
    total += DoubleDouble{label.count};
    alphas += DoubleDouble::sum(label.count, label.alpha);
    above = above && label.count + label.alpha >= 1;
    any = any || label.count + label.alpha > 1;
  }
  known_ = double(all.size());
  total_ = total.hi;
  alphas_ = alphas.hi;
  has_mode_ = above && any;
  info.objective = log_evidence();
  double log_likelihood = 0;
  for (std::size_t i = 0; const Label &label : all) {
    poll_in_loop(i++);
    if (label.count > 0)
      log_likelihood += label.count * std::log((label.count + label.alpha) / alphas_);
  }
  info.log_likelihood = log_likelihood;
}

Marginal DirichletCategorical::marginal(const Label &label) const {
  const double own = label.count + label.alpha;
  return {Marginal::Kind::beta, own, std::max(0.0, alphas_ - own)};
}

std::optional<Marginal> DirichletCategorical::marginal(std::string_view name) const {
  const auto found = sums_.weights.find(name);
  if (found == sums_.weights.end() && !prior_.by_label.contains(name)) return std::nullopt;
  return marginal(
      {nullptr, found == sums_.weights.end() ? 0 : found->second.sum.hi, prior_.of(name)});
}

double DirichletCategorical::posterior_mode(const Label &label) const {
  return has_mode_ ? (label.count + label.alpha - 1) / (alphas_ - known_)
                   : std::numeric_limits<double>::quiet_NaN();
}

double DirichletCategorical::log_evidence() const {
  // log B(alpha + counts) - log B(alpha)
  std::vector<double> before, after;
  for (const Label &label : labels()) {
    before.push_back(label.alpha);
    after.push_back(label.alpha + label.count);
  }
  return log_dirichlet_normaliser(after) - log_dirichlet_normaliser(before);
}

double DirichletCategorical::log_predictive(std::string_view label) const {
  const std::optional<Marginal> q = marginal(label);
  return q ? std::log(q->a / alphas_) : -std::log1p(alphas_ / prior_.alpha);
}

const ModelWords &DirichletCategorical::words() const {
  static constexpr ModelWords words = {
      .takes = "single values",
      .functions =
          "Use dirichlet_categorical_probabilities(model) for all labels, "
          "bayes_log_density(model, label) for one of them."};
  return words;
}

void DirichletCategorical::describe_parameters(std::optional<double> level,
                                               const TakeParameter &take) const {
  const ParameterTable table(level, take);
  for (const Label &label : labels()) {
    Parameter p;
    p.name = "probability";
    p.label = label.name;
    const Marginal q = marginal(label);
    p.value = q.mean();
    table.under(p, q);
  }
}

ParameterDraws DirichletCategorical::draw_parameters(std::uint64_t seed) const {
  ParameterDraws out = undrawn_parameters();
  std::vector<double> alpha;
  for (const Label &label : labels()) alpha.push_back(marginal(label).a);
  out.draw = [seed, alpha = std::move(alpha)](std::uint64_t number) {
    Random random(seed, number);
    std::vector<double> drawn(alpha.size());
    random.dirichlet(alpha, drawn);
    return drawn;
  };
  return out;
}

double DirichletCategorical::free_parameters() const { return known_ - 1; }

void DirichletCategorical::merge(const Model &other) {
  merge_info(info, other.info);
  sums_.add(static_cast<const DirichletCategorical &>(other).sums_);
  update();
}

void DirichletCategorical::write(Document &document) const {
  Document::Object members;
  for (const auto &[label, weight] : sums_.weights) {
    const DoubleDouble kept = weight.sum.rounded();
    members.emplace_back(label, Tensor{{2}, {kept.hi, kept.lo}});
  }
  document.set("counts", std::move(members));
}

std::unique_ptr<Model> read_dirichlet_categorical(const Document &document) {
  static constexpr Method exact[] = {Method::exact};
  ModelInfo info = read_model_info(document, exact, 1, 1);
  DirichletPrior prior = DirichletPrior::read(info.options);
  const MemberReader reader(document);
  const auto *const counts = reader.value("counts").as<Document::Object>();
  if (counts == nullptr || counts->empty() ||
      counts->size() > std::size_t(DirichletCategorical::max_labels))
    reader.reject("counts", "is not an object with a count for each label");
  LabelSums sums;
  sums.rows = info.rows;
  sums.skipped = info.skipped;
  for (std::size_t i = 0; const auto &[label, value] : *counts) {
    poll_in_loop(i++);
    const std::optional<Tensor> pair = to_tensor(value, true);
    const bool two = pair && pair->values.size() == 2 && pair->shape.size() == 1;
    const double high = two ? pair->values[0] : 0, low = two ? pair->values[1] : 0;
    if (!(high > 0 && high <= 1e305) || high + low != high ||
        DoubleDouble::rounded_to_24_bits(low) != low)
      reader.reject("counts", message("has no count for \"{}\"", label));
    sums.weights.emplace(label, LabelWeight{{high, low}});
    sums.total += high;
    sums.bytes += label.size();
  }
  auto model = std::make_unique<DirichletCategorical>(std::move(prior), std::move(sums));
  info.options = model->info.options;
  model->info = std::move(info);
  return model;
}

}  // namespace bayes
