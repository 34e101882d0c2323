#include "questions/conditional_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/message.hpp"
#include "base/unseen.hpp"
#include "document/members.hpp"
#include "families/parameter.hpp"

namespace bayes {
namespace {

constexpr const char *conditional_family = "conditional";

bool remains(double given) { return std::isnan(given) && !is_unseen(given); }

/// The weights of the members of a component, which sum to 1 over all draws: each draw has the
/// weight that the evidence gives it (`of_draws`), and its members share that.
std::vector<double> shares(const RowDistribution &rows, std::span<const int> members,
                           std::span<const double> of_draws) {
  std::vector<double> in_draw(of_draws.size()), out;
  std::vector<int> count(of_draws.size());
  const std::vector<FlatComponent> &components = rows.components();
  for (const int c : members) {
    const FlatComponent &each = components[std::size_t(c)];
    in_draw[std::size_t(each.draw)] += each.weight;
    ++count[std::size_t(each.draw)];
  }
  for (const int c : members) {
    const FlatComponent &each = components[std::size_t(c)];
    const std::size_t draw = std::size_t(each.draw);
    out.push_back(of_draws[draw] *
                  (in_draw[draw] > 0 ? each.weight / in_draw[draw] : 1.0 / count[draw]));
  }
  return out;
}

/// The parameters of one element under the members of one component.
void describe_element(RowDistribution &rows, std::span<const int> members,
                      std::span<const double> shares, int element, bool drawn,
                      const ParameterTable &out, int component) {
  std::vector<Parameter> parameters;
  std::vector<Marginal> posteriors;
  std::vector<double> values;
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::vector<Parameter> own;
    rows.parameters(members[i], element, own, posteriors);
    if (i == 0) parameters = own;
    values.resize(own.size());
    // Standard deviations are averaged as variances. Values without weight may not be finite.
    for (std::size_t p = 0; p < own.size() && shares[i] > 0; ++p)
      values[p] += shares[i] * (own[p].root ? own[p].value * own[p].value : own[p].value);
  }
  const std::size_t with_posterior = posteriors.size() / members.size();
  std::vector<Marginal> marginals;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    Parameter &each = parameters[p];
    each.component = component;
    each.element = element;
    if (members.size() > 1) each.value = each.root ? std::sqrt(values[p]) : values[p];
    if (p >= with_posterior) {
      out.at_point(each);
      continue;
    }
    if (!drawn) {
      out.under(each, posteriors[p]);
      continue;
    }
    marginals.clear();
    for (std::size_t i = p; i < posteriors.size(); i += with_posterior)
      marginals.push_back(posteriors[i]);
    out.over(each, marginals, shares);
  }
}

}  // namespace

ConditionalModel::ConditionalModel(std::unique_ptr<Model> base, std::span<const double> given,
                                   std::unique_ptr<RowDistribution> rows)
    : base_(std::move(base)) {
  if (!rows) rows = base_->row_distribution();
  const std::span<const double> checked = rows->checked(given);
  given_.assign(checked.begin(), checked.end());
  if (std::none_of(given_.begin(), given_.end(), remains))
    throw Error(Errc::invalid_argument, "nothing remains: every column of the model is given",
                "A conditional model is one of the columns that are NULL.",
                "bayes_log_density(model, row) is the log density of a whole row.");
  const int own = base_->info.dimension, whole = rows->dimension();
  // An element beyond those of the base's rows is the name of the component.
  if (whole > own)
    for (const double each : rows->categories(own)) labels_.push_back(rows->label(own, each));
  rows->fix(given_);
  info = base_->info;
  info.family = conditional_family;
  info.columns = rows->columns();
  info.dimension = rows->dimension();
  if (whole > own && remains(given_.back())) {
    --info.dimension;
    if (!info.columns.empty()) info.columns.pop_back();
  }
  words_ = base_->words();
  words_.response = false;
  words_.takes = nullptr;
  words_.functions = "";
  set_rows(std::move(rows));
}

ConditionalModel::~ConditionalModel() = default;

std::unique_ptr<Model> condition(std::unique_ptr<Model> model, std::span<const double> given) {
  if (std::all_of(given.begin(), given.end(), remains)) return model;
  std::vector<double> row(given.begin(), given.end());
  // The description of the fit belongs to the conditional model; the base keeps its draws, which
  // its functions need.
  auto trace = std::move(model->trace);
  auto draws = model->draws;
  const double seconds = model->info.seconds;
  if (auto *const before = dynamic_cast<ConditionalModel *>(model.get())) {
    row = before->base_row(given);
    model = std::move(before->base_);
  }
  model->trace.clear();
  model->saved = nullptr;
  model->info.seconds = 0;
  model->info.reference = nullptr;
  auto out = std::make_unique<ConditionalModel>(std::move(model), row);
  out->trace = std::move(trace);
  out->draws = std::move(draws);
  out->info.seconds = seconds;
  return out;
}

std::vector<double> ConditionalModel::base_row(std::span<const double> x) const {
  std::vector<double> out = given_;
  std::size_t next = 0;
  for (double &each : out)
    if (remains(each) && next < x.size()) each = x[next++];
  return out;
}

std::span<const double> ConditionalModel::checked(std::span<const double> x) const {
  std::vector<double> whole(x.begin(), x.end());
  whole.resize(std::size_t(rows().dimension()), std::nan(""));
  return rows().checked(whole);
}

void ConditionalModel::describe_parameters(std::optional<double> level,
                                           const TakeParameter &take) const {
  const ParameterTable out(
      level, take,
      is_variational(info.method) ? source_of_variational(info, false) : Parameter::exact);
  RowDistribution &rows = this->rows();
  const std::vector<double> nothing(std::size_t(rows.dimension()), std::nan(""));
  std::vector<double> weights(std::size_t(outcomes()), 0.0);
  probabilities({nothing.data(), std::size_t(info.dimension)}, weights);
  rows.condition(nothing);
  std::vector<double> of_draws;
  for (const FlatComponent &each : rows.components()) {
    of_draws.resize(std::max(of_draws.size(), std::size_t(each.draw) + 1));
    of_draws[std::size_t(each.draw)] += each.weight;
  }
  for (int k = 0; k < info.components; ++k) {
    const std::vector<int> members = rows.members(k);
    out.at_point({.component = k, .name = "weight", .value = weights[std::size_t(k)]});
    const std::vector<double> shared = shares(rows, members, of_draws);
    for (int j = 0; j < info.dimension; ++j)
      describe_element(rows, members, shared, j, is_sampler(info.method), out, k);
  }
}

ParameterDraws ConditionalModel::draw_parameters(std::uint64_t) const {
  throw Error(Errc::invalid_argument, "a conditional model has no draws of its parameters", {},
              "Draw from the model that it was made of.");
}

std::vector<double> ConditionalModel::categories(int element) const {
  for (std::size_t j = 0; j < given_.size(); ++j)
    if (remains(given_[j]) && element-- == 0) return base_->categories(int(j));
  return {};
}

int ConditionalModel::outcomes() const {
  return rows().components()[0].number < 0 ? base_->outcomes() : info.components;
}

void ConditionalModel::probabilities(std::span<const double> x, std::span<double> out) const {
  RowMixture::probabilities(x, out);
  if (std::isnan(out[0])) rows().refuse_impossible();
}

int ConditionalModel::predict(std::span<const double> x) const {
  std::vector<double> p(std::size_t(outcomes()), 0.0);
  probabilities(x, p);
  return int(std::max_element(p.begin(), p.end()) - p.begin());
}

std::optional<RowPrediction> ConditionalModel::predict_row(std::span<const double> x,
                                                           double) const {
  RowPrediction out;
  out.component = predict(x);
  if (!labels_.empty()) out.label = &labels_[std::size_t(out.component)];
  return out;
}

std::unique_ptr<RowDistribution> ConditionalModel::row_distribution() const {
  std::unique_ptr<RowDistribution> out = base_->row_distribution();
  out->fix(given_);
  return out;
}

// The given row: its elements, from 1, and their values; and those whose labels are unknown.

void ConditionalModel::write(Document &document) const {
  Tensor elements, values, unknown;
  for (std::size_t j = 0; j < given_.size(); ++j) {
    if (remains(given_[j])) continue;
    (is_unseen(given_[j]) ? unknown : elements).values.push_back(double(j) + 1);
    if (!is_unseen(given_[j])) values.values.push_back(given_[j]);
  }
  Document given = Document::object();
  const auto set = [&given](const char *key, Tensor &numbers) {
    numbers.shape = {std::int64_t(numbers.values.size())};
    if (!numbers.values.empty()) given.set(key, std::move(numbers));
  };
  set("elements", elements);
  set("values", values);
  set("unknown", unknown);
  document.set("given", std::move(given));
  document.set("base", base_->to_document());
}

namespace {

/// Ascending element numbers from 1 to `most`, from 0; none if there is no such member.
std::vector<int> read_elements(const MemberReader &in, const char *key, int most) {
  std::vector<int> out;
  if (!in.has(key)) return out;
  for (const double number : in.tensor(key, {-1}).values) {
    if (!(number >= 1 && number <= most) || number != std::floor(number) ||
        (!out.empty() && number <= out.back() + 1))
      in.reject(key, message("must be ascending whole numbers from 1 to {}", most));
    out.push_back(int(number) - 1);
  }
  return out;
}

}  // namespace

std::unique_ptr<Model> read_conditional_model(const Document &document) {
  const MemberReader in(document);
  // A base without a base of its own: so reading nests no deeper than this.
  if (in.object("base").text("family") == conditional_family)
    in.reject("base", "must not be a conditional model itself");
  std::unique_ptr<Model> base = Model::from_document(in.value("base"));
  if (!base->trace.empty() || base->saved || base->info.reference || base->info.seconds != 0)
    in.reject("base", "must have no trace, checkpoint, reference rows or seconds of its own");
  for (const char *const other : {"checkpoint", "row_reference"})
    if (in.has(other)) in.reject(other, "cannot be a member of a conditional model");
  std::unique_ptr<RowDistribution> rows = base->row_distribution();
  const int whole = rows->dimension();

  const MemberReader read = in.object("given");
  std::vector<double> given(std::size_t(whole), std::nan(""));
  const std::vector<int> elements = read_elements(read, "elements", whole);
  const std::int64_t n = std::int64_t(elements.size());
  if (n > 0) {
    const Tensor values = read.tensor("values", {n});
    for (std::size_t i = 0; i < elements.size(); ++i)
      given[std::size_t(elements[i])] = values.values[i];
  }
  for (const int j : read_elements(read, "unknown", whole)) {
    if (!remains(given[std::size_t(j)])) read.reject("unknown", "has an element that has a value");
    if (rows->categories(j).empty()) read.reject("unknown", "has an element without labels");
    given[std::size_t(j)] = unseen_category;
  }
  if (std::all_of(given.begin(), given.end(), remains)) in.reject("given", "must not be empty");
  const std::span<const double> checked = rows->checked(given);
  for (const int j : elements)
    if (is_unseen(checked[std::size_t(j)]))
      read.reject("values", message("has a value that element {} cannot have", j + 1));

  const Method methods[] = {base->info.method};
  const int dimension = base->info.dimension, components = base->info.components;
  auto model = std::make_unique<ConditionalModel>(std::move(base), given, std::move(rows));
  ModelInfo info = read_model_info(document, methods, dimension, components, 0);
  if (info.dimension != model->info.dimension)
    in.reject("dimension", message("must be {}", model->info.dimension));
  if (info.columns != model->info.columns)
    in.reject("row_columns", "must be those of the base that are not given");
  if (info.components != components) in.reject("components", message("must be {}", components));
  model->info = std::move(info);
  return model;
}

}  // namespace bayes
