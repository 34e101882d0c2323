// A Bayes classifier from the totals of its rows.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "base/control.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "classification/nb.hpp"
#include "classification/nb_state.hpp"
#include "families/normal/normal_document.hpp"
#include "families/normal/normal_prior.hpp"
#include "families/product/product_document.hpp"
#include "families/product/product_prior.hpp"

namespace bayes {
namespace {

/// Stands for several likelihoods: the prior option then has an object for each family.
const std::vector<ColumnSpec> several_families(2);

/// The data that default priors of the naive features are computed from: the moments of all rows
/// regardless of class, from the statistics of the classes.
ProductSurvey survey_of(const NbTotals &totals) {
  const Columns &columns = *totals.product.columns;
  const int d = columns.count();
  ProductSurvey out{.columns = totals.product.columns,
                    .weight = totals.total(),
                    .mean = Vector::Zero(d),
                    .variance = Vector::Ones(d),
                    .constant = std::vector<bool>(std::size_t(d), false)};
  std::vector<double> pooled, point;
  columns.for_each([&](int j, const Column &column, const ColumnOffsets &at) {
    poll_in_loop(std::size_t(j));
    if (column.by_value) return;
    pooled.assign(std::size_t(column.size().statistics), 0.0);
    point.assign(std::size_t(column.size().point), 0.0);
    for (int k = 0; k < totals.size(); ++k)
      column.merge(totals.product.values.col(k).data() + at.statistics, pooled.data());
    if (std::all_of(pooled.begin(), pooled.end(), [](double v) { return v == 0; })) return;
    column.maximum_likelihood(pooled.data(), point.data(), {1e-300, 1, 0}, point.data());
    const double mean = column.element_mean(point.data());
    if (std::isfinite(mean)) out.mean(j) = mean;
    if (!column.needs_variance) return;
    const double variance = column.element_variance(point.data());
    if (!std::isfinite(variance))
      throw Error(Errc::numeric, "the variance of the rows overflows",
                  "Values or weights are too large for double precision.",
                  "Rescale the columns or the weights.");
    out.constant[std::size_t(j)] = !(variance > min_variance);
    if (variance > min_variance) out.variance(j) = variance;
  });
  return out;
}

/// The same for the joint features.
Survey normal_survey_of(const NbTotals &totals) {
  const NormalStatistics &all = totals.normal;
  const Eigen::Index d = all.dimension();
  Vector mean = all.mean.col(0);
  Matrix scatter = all.scatter[0];
  double weight = all.count(0);
  for (int k = 1; k < all.components(); ++k) {
    const double n = all.count(k), whole = weight + n;
    if (!(n > 0)) continue;
    const Vector away = all.mean.col(k) - mean;
    scatter += all.scatter[std::size_t(k)] + weight * (n / whole) * outer(full_covariance, away);
    mean += n / whole * away;
    weight = whole;
  }
  const Matrix covariance = scatter / weight;
  if (!covariance.allFinite() || !mean.allFinite())
    throw Error(Errc::numeric, "the variance of the rows overflows",
                "Values or weights are too large for double precision.",
                "Rescale the columns or the weights.");
  return {full_covariance, weight, mean, covariance.diagonal(), covariance, weight * double(d)};
}

/// Throws Error(numeric) unless all priors and posteriors are within the range of doubles.
void require_posteriors(const NbTotals &totals, const BayesClassifier::State &s) {
  for (const auto *const each : {&s.prior, &s.posterior})
    for (int c = 0; *each && c < (*each)->components(); ++c)
      (*each)->columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
        if (column.valid_posterior((*each)->column(c, j))) return;
        const int feature = totals.naive[std::size_t(j)];
        throw Error(Errc::numeric,
                    message("the posterior of {} is beyond double precision",
                            totals.names.empty()
                                ? message("element {}", feature + 1)
                                : describe(Document(totals.names[std::size_t(feature)].name))),
                    message("Its likelihood is {}.", column.name),
                    "Rescale the column, or give another prior.");
      });
}

/// log p(labels, features): the evidence, which is exact since the labels are observed.
double log_evidence(const BayesClassifier::State &s) {
  const NbTotals &totals = s.totals;
  double out = 0;
  std::vector<double> before(std::size_t(totals.size()), s.options.alpha), after = before;
  for (int k = 0; k < totals.size(); ++k) after[std::size_t(k)] += totals.weight(k);
  out += log_dirichlet_normaliser(after) - log_dirichlet_normaliser(before);
  if (s.prior) out += log_marginal_likelihood(totals.product, replicate(*s.prior, totals.size()));
  if (s.normal_prior)
    out += log_marginal_likelihood(totals.normal, replicate(*s.normal_prior, totals.size()));
  return out;
}

/// log p(labels, features) at the point estimate.
double log_likelihood_of(const BayesClassifier &model) {
  const BayesClassifier::State &s = *model.state;
  const NbTotals &totals = s.totals;
  double out = 0;
  for (int k = 0; k < totals.size(); ++k)
    out += totals.weight(k) * std::log(model.class_of(k).mean);
  if (s.posterior) {
    const ProductPoint point = point_estimate(*s.posterior);
    for (int k = 0; k < totals.size(); ++k) {
      out += totals.product.carrier(k);
      point.columns->for_each([&](int j, const Column &column, const ColumnOffsets &at) {
        out += column.log_likelihood(point.column(k, j),
                                     totals.product.values.col(k).data() + at.statistics);
      });
    }
  }
  if (s.normal_posterior) {
    const NormalPoint point = point_estimate(*s.normal_posterior);
    const int d = point.dimension();
    const auto factored = factor_all(full_covariance, point.covariance, d, "covariance");
    for (int k = 0; k < totals.size(); ++k) {
      const FactoredScale &sigma = factored[std::size_t(k)];
      const double n = totals.normal.count(k);
      out -= 0.5 * (n * (d * std::log(2 * std::numbers::pi) + sigma.log_determinant +
                         sigma.quadratic(totals.normal.mean.col(k) - point.mean.col(k))) +
                    trace_solve(full_covariance, totals.normal.scatter[std::size_t(k)], sigma));
    }
  }
  return out;
}

/// Option likelihood as reported by the model.
Document likelihood_in_force(const NbTotals &totals, const Document &given) {
  if (totals.sparse) return given;
  return all_equal(totals.specs) ? likelihood_document(totals.specs[0])
                                 : likelihood_document(totals.specs);
}

Document prior_in_force(const BayesClassifier::State &s) {
  Document out = Document::object().set("alpha", s.options.alpha);
  if (s.totals.sparse) {  // the default priors differ from word to word
    if (!s.options.given_prior.is_null()) out.set_all(s.options.given_prior);
    return out;
  }
  if (s.prior) out.set_all(product_prior_options(*s.prior, several_families));
  if (s.normal_prior) {
    Document keys = Document::object();
    write_normal_prior(keys, *s.normal_prior);
    out.set(normal_family, std::move(keys));
  }
  return out;
}

}  // namespace

void finish_classifier(BayesClassifier &model) {
  BayesClassifier::State &s = *model.state;
  NbTotals &totals = s.totals;
  const int k = totals.size();
  if (totals.features() == 0)
    throw Error(Errc::invalid_argument, "rows have no features",
                "Classes cannot be distinguished without features.");
  s.prior.reset();
  s.normal_prior.reset();
  if (!totals.naive.empty())
    s.prior = make_product_prior(survey_of(totals), several_families, s.options.product, k);
  if (!totals.joint.empty())
    s.normal_prior =
        make_normal_prior(s.options.normal, normal_survey_of(totals), k, "prior.normal.");
  s.learn();
  require_posteriors(totals, s);
  s.prepare();

  ModelInfo &info = model.info;
  info.method = Method::exact;
  info.rows = 0;
  for (const std::int64_t rows : totals.rows) info.rows += rows;
  info.skipped = totals.skipped;
  info.dimension = totals.features();
  info.components = k;
  info.converged = true;
  info.objective = log_evidence(s);
  info.log_likelihood = log_likelihood_of(model);
  info.columns = totals.names;
  info.given_prior = s.options.given_prior;
  info.options = s.options.document();
  if (Document likelihood = likelihood_in_force(totals, s.options.likelihood);
      !likelihood.is_null())
    info.options.set("likelihood", std::move(likelihood));
  info.options.set("prior", prior_in_force(s));
  model.trace = {{info.objective}};
}

std::string nb_begin(NbAccumulator &rows, const Document &options, const BayesClassifier *update) {
  const NbOptions read =
      update ? read_nb_update(options, update->state->options) : read_nb_options(options);
  rows.begin(read, update ? &update->state->totals : nullptr);
  return read.missing;
}

std::unique_ptr<BayesClassifier> nb_fit(const NbPart &rows, const Document &options,
                                        const BayesClassifier *update) {
  auto model = std::make_unique<BayesClassifier>();
  BayesClassifier::State &s = *model->state;
  s.options = update ? read_nb_update(options, update->state->options) : read_nb_options(options);
  s.totals = update ? merged(update->state->totals, rows.totals->of) : rows.totals->of;
  finish_classifier(*model);
  return model;
}

void BayesClassifier::merge(const Model &other) {
  const State &its = *static_cast<const BayesClassifier &>(other).state;
  const NbOptions &mine = state->options, &theirs = its.options;
  const std::string my_prior = mine.given_prior.to_json(),
                    their_prior = theirs.given_prior.to_json();
  const bool both_sparse = state->totals.sparse && its.totals.sparse;
  const std::string detail =
      my_prior != their_prior ? message("One has prior {}, the other {}.", my_prior, their_prior)
      : mine.full_covariance != theirs.full_covariance ? "They differ in option covariance."
      : mine.absent_is_zero != theirs.absent_is_zero   ? "They differ in option absent."
      : both_sparse && mine.likelihood.to_json() != theirs.likelihood.to_json()
          ? "They differ in option likelihood."
          : "";
  if (!detail.empty())
    throw Error(Errc::invalid_argument, "models with different options or priors cannot be merged",
                detail, "Merge models that were fitted with the same options.");
  state->totals = merged(state->totals, its.totals);
  info.seconds += other.info.seconds;
  info.reference = nullptr;
  finish_classifier(*this);
}

namespace {

/// The label of a class as a number, 1 and 0 for booleans; NaN if it is no number.
double number_of_label(const std::string &label) {
  if (label == "t" || label == "f") return label == "t" ? 1 : 0;
  double out = 0;
  const char *const end = label.data() + label.size();
  const auto read = std::from_chars(label.data(), end, out);
  return read.ec == std::errc() && read.ptr == end ? out : std::numeric_limits<double>::quiet_NaN();
}

/// Whether a naive feature equals the label in all rows of class `k`.
bool copies_class(const NbTotals &totals, int feature, int k) {
  const Column &column = totals.product.columns->column(feature);
  const std::string &label = totals.classes[std::size_t(k)];
  const std::size_t j = std::size_t(totals.naive[std::size_t(feature)]);
  double value = number_of_label(label);
  if (!totals.names.empty() && totals.names[j].kind == ValueKind::label) {
    const std::vector<std::string> &labels = totals.names[j].labels;
    const auto at = std::lower_bound(labels.begin(), labels.end(), label);
    if (at == labels.end() || *at != label) return false;
    value = double(at - labels.begin());
  }
  if (std::isnan(value) || !column.allowed(value)) return false;
  std::vector<double> all(std::size_t(column.size().statistics)),
      point(std::size_t(column.size().point));
  column.add(column.element(value), totals.weight(k), all.data());
  if (!std::equal(all.begin(), all.end(),
                  totals.product.values.col(k).data() +
                      totals.product.columns->offsets(feature).statistics))
    return false;
  if (column.by_value) return true;
  // Equal sums do not imply equal values, as for counts, unless the variance is 0.
  constexpr double none = 1e-300;
  column.maximum_likelihood(all.data(), point.data(), {none, 1, 0}, point.data());
  return column.variance(point.data()) <= none;
}

}  // namespace

std::vector<int> BayesClassifier::copies_of_label() const {
  const NbTotals &totals = state->totals;
  std::vector<int> out;
  if (totals.size() < 2) return out;
  const auto in_all_classes = [&totals](auto copies) {
    for (int k = 0; k < totals.size(); ++k)
      if (!copies(k)) return false;
    return true;
  };
  for (std::size_t i = 0; i < totals.naive.size(); ++i) {
    poll_in_loop(i);
    if (in_all_classes([&](int k) { return copies_class(totals, int(i), k); }))
      out.push_back(totals.naive[i]);
  }
  const NormalStatistics &joint = totals.normal;
  for (Eigen::Index i = 0; i < std::ssize(totals.joint); ++i)
    if (in_all_classes([&](int k) {
          return joint.scatter[std::size_t(k)](i, i) == 0 &&
                 joint.mean(i, k) == number_of_label(totals.classes[std::size_t(k)]);
        }))
      out.push_back(totals.joint[std::size_t(i)]);
  return out;
}

std::vector<int> BayesClassifier::constant_features() const {
  const NbTotals &totals = state->totals;
  std::vector<int> out;
  if (!totals.naive.empty()) {
    const std::vector<bool> constant = survey_of(totals).constant;
    for (std::size_t i = 0; i < totals.naive.size(); ++i)
      if (constant[i]) out.push_back(totals.naive[i]);
  }
  if (!totals.joint.empty()) {
    const Vector variance = normal_survey_of(totals).variance;
    for (std::size_t i = 0; i < totals.joint.size(); ++i)
      if (!(variance(Eigen::Index(i)) > 0)) out.push_back(totals.joint[i]);
  }
  return out;
}

NbPart::NbPart() : totals(std::make_unique<Totals>()) {}
NbPart::~NbPart() = default;
NbPart::NbPart(NbPart &&) noexcept = default;
NbPart &NbPart::operator=(NbPart &&) noexcept = default;
NbPart::NbPart(const NbAccumulator &rows, const std::vector<std::string> &classes,
               const RowColumns &names)
    : totals(std::make_unique<Totals>()) {
  totals->of = rows.totals(classes, names);
}
void NbPart::merge(const NbPart &other) { totals->of = merged(totals->of, other.totals->of); }
bool NbPart::empty() const { return totals->of.classes.empty(); }

std::string NbPart::to_bytes() const {
  Document document = Document::object();
  const NbTotals &of = totals->of;
  document.set("skipped", of.skipped).set("features", of.features());
  if (!of.names.empty()) document.set("row_columns", document_of_columns(of.names));
  if (!of.classes.empty()) write_totals(document, of);
  std::string out;
  document.to_bytes(out);
  return out;
}

NbPart NbPart::from_bytes(std::string_view bytes) {
  const Document document = Document::from_bytes(bytes);
  const MemberReader in(document);
  NbPart out;
  const int features = int(in.integer("features", 0, nb_max_words));
  if (in.has("classes"))
    out.totals->of = read_totals(in, read_columns(document, features), features);
  out.totals->of.skipped = in.integer("skipped", 0, std::numeric_limits<std::int64_t>::max());
  return out;
}

// Writes a Bayes classifier to a document and reads it; reading checks every number.

namespace {

/// Bound of stored weights and statistics; posteriors are then within the range of doubles.
constexpr double max_statistic = 1e300;

/// The statistics of all naive features: an object with a member for each family, a matrix with a
/// row for each class.
Document write_statistics(const ProductStatistics &statistics) {
  const Columns &columns = *statistics.columns;
  Document out = Document::object();
  for (const std::vector<int> &group : columns.by_family()) {
    Tensor t{{statistics.values.cols(), 0}, {}};
    for (Eigen::Index k = 0; k < statistics.values.cols(); ++k)
      for (const int j : group) {
        poll_in_loop(std::size_t(j));
        const double *const from = statistics.values.col(k).data() + columns.offsets(j).statistics;
        t.values.insert(t.values.end(), from, from + columns.column(j).size().statistics);
      }
    t.shape[1] = std::int64_t(t.values.size()) / statistics.values.cols();
    out.set(columns.column(group[0]).name, std::move(t));
  }
  return out;
}

/// Whether these statistics can be those of rows, and are within the bound.
bool is_valid_statistics(const Column &column, const double *statistics) {
  return column.valid_statistics(statistics) &&
         std::all_of(statistics, statistics + column.size().statistics,
                     [](double s) { return std::abs(s) <= max_statistic; });
}

void read_statistics(const MemberReader &in, NbTotals &totals) {
  const MemberReader own = in.object("statistics");
  const Columns &columns = *totals.product.columns;
  for (const std::vector<int> &group : columns.by_family()) {
    const char *const name = columns.column(group[0]).name;
    std::int64_t width = 0;
    for (const int j : group) width += columns.column(j).size().statistics;
    const Tensor t = own.tensor(name, {totals.size(), width});
    const double *from = t.values.data();
    for (int k = 0; k < totals.size(); ++k)
      for (const int j : group) {
        poll_in_loop(std::size_t(j));
        if (!is_valid_statistics(columns.column(j), from))
          own.reject(name, message("has invalid numbers for class {}, feature {}", k + 1,
                                   totals.naive[std::size_t(j)] + 1));
        const int size = columns.column(j).size().statistics;
        std::copy_n(from, size,
                    totals.product.values.col(k).data() + columns.offsets(j).statistics);
        from += size;
      }
  }
}

/// The scatter matrices: one row for each class, its lower triangle row by row.
Document write_scatter(const NormalStatistics &normal) {
  const Eigen::Index d = normal.dimension();
  Tensor t{{normal.components(), d * (d + 1) / 2}, {}};
  for (const Matrix &scatter : normal.scatter)
    for (Eigen::Index i = 0; i < d; ++i)
      for (Eigen::Index j = 0; j <= i; ++j) t.values.push_back(scatter(i, j));
  return t;
}

void read_normal(const MemberReader &in, NbTotals &totals) {
  NormalStatistics &normal = totals.normal;
  const Eigen::Index d = normal.dimension();
  normal.count = totals.weight;
  normal.mean = read_columns(in, "means", d, totals.size());
  const Tensor t = in.tensor("scatter", {totals.size(), d * (d + 1) / 2});
  const double *from = t.values.data();
  for (Matrix &scatter : normal.scatter)
    for (Eigen::Index i = 0; i < d; ++i)
      for (Eigen::Index j = 0; j <= i; ++j, ++from) scatter(i, j) = scatter(j, i) = *from;
  for (const Matrix &scatter : normal.scatter)
    if (!(scatter.diagonal().minCoeff() >= 0))
      in.reject("scatter", "must have non-negative diagonals");
}

/// The likelihoods of the features: a single one if all are equal. A partial state whose sparse
/// rows name nothing has no features.
Document write_likelihoods(const std::vector<ColumnSpec> &specs) {
  if (!specs.empty() && all_equal(specs)) return likelihood_document(specs[0]);
  return likelihood_document(specs, true);
}

std::vector<ColumnSpec> read_likelihoods(const MemberReader &in, int dimension) {
  const Document &given = in.value("likelihoods");
  const auto *const list = given.as<Document::List>();
  if (list && list->size() != std::size_t(dimension))
    in.reject("likelihoods",
              message("must be a likelihood, or an array of {} likelihoods", dimension));
  std::vector<ColumnSpec> out;
  for (int j = 0; j < dimension; ++j) {
    const Document &each = list ? (*list)[std::size_t(j)] : given;
    const auto likelihood = stored_likelihood(each);
    if (!likelihood)
      in.reject("likelihoods", message("contains {}, which is not a likelihood", describe(each)));
    out.push_back(*likelihood);
  }
  return out;
}

/// The categories of categorical features without labels: their number for each feature, and their
/// values.
void write_categories(Document &document, const NbTotals &totals) {
  Tensor counts{{0}, {}}, values{{0}, {}};
  for (std::size_t j = 0; j < totals.specs.size(); ++j) {
    const ColumnSpec &spec = totals.specs[j];
    if (!is_categorical(spec) ||
        (!totals.names.empty() && totals.names[j].kind == ValueKind::label))
      continue;
    counts.values.push_back(spec.categories);
    for (int v = 0; v < spec.categories; ++v)
      values.values.push_back(spec.values.empty() ? v : spec.values[std::size_t(v)]);
  }
  if (counts.values.empty()) return;
  counts.shape = {std::int64_t(counts.values.size())};
  values.shape = {std::int64_t(values.values.size())};
  document.set("categories", std::move(counts)).set("category_values", std::move(values));
}

void read_categories(const MemberReader &in, NbTotals &totals) {
  std::vector<std::size_t> open;
  for (std::size_t j = 0; j < totals.specs.size(); ++j) {
    const bool labelled = !totals.names.empty() && totals.names[j].kind == ValueKind::label;
    if (labelled != is_categorical(totals.specs[j]) && labelled)
      in.reject("likelihoods",
                message("are not categorical for feature {}, which has labels", j + 1));
    if (!is_categorical(totals.specs[j])) continue;
    if (!labelled) {
      open.push_back(j);
      continue;
    }
    const std::size_t n = totals.names[j].labels.size();
    if (n > std::size_t(max_categories))
      in.reject("row_columns", message("has a column of more than {} labels", max_categories));
    totals.specs[j].categories = int(n);
  }
  if (open.empty()) return;
  const Tensor counts = in.tensor("categories", {std::int64_t(open.size())});
  double all = 0;
  for (const double n : counts.values) {
    if (!(n >= 1 && n <= max_categories && n == std::floor(n)))
      in.reject("categories", message("must be whole numbers from 1 to {}", max_categories));
    all += n;
  }
  const Tensor values = in.tensor("category_values", {std::int64_t(all)});
  auto at = values.values.begin();
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto end = at + std::ptrdiff_t(counts.values[i]);
    for (auto v = at; v != end; ++v)
      if (*v != std::floor(*v) || (v != at && !(v[-1] < *v)) || !(std::abs(*v) <= 1e15) ||
          *v - *at > 1e6)
        in.reject("category_values", "must be increasing whole numbers for each feature");
    totals.specs[open[i]].set_categories({at, end});
    at = end;
  }
}

}  // namespace

void write_totals(Document &document, const NbTotals &totals) {
  const std::int64_t k = totals.size();
  document.set("features_are", totals.sparse ? "named" : "columns");
  if (totals.sparse) document.set("absent", totals.absent_is_zero ? "zero" : "missing");
  document.set("classes", Document::List(totals.classes.begin(), totals.classes.end()));
  Tensor rows{{k}, {}};
  for (const std::int64_t n : totals.rows) rows.values.push_back(double(n));
  document.set("class_rows", std::move(rows)).set("class_weights", tensor(totals.weight));
  document.set("likelihoods", write_likelihoods(totals.specs));
  write_categories(document, totals);
  if (!totals.naive.empty())
    document.set("statistics", write_statistics(totals.product))
        .set("log_carriers", tensor(totals.product.carrier));
  if (!totals.nulls.empty()) {
    Document::List names;
    Tensor weights{{std::int64_t(totals.nulls.size()), k}, {}};
    for (const auto &[name, weight] : totals.nulls) {
      names.emplace_back(name);
      weights.values.insert(weights.values.end(), weight.data(), weight.data() + k);
    }
    document.set("null_features", std::move(names)).set("null_weights", std::move(weights));
  }
  if (!totals.joint.empty())
    document.set("means", columns(totals.normal.mean)).set("scatter", write_scatter(totals.normal));
}

NbTotals read_totals(const MemberReader &in, RowColumns names, int dimension) {
  NbTotals out;
  const std::string are = in.text("features_are");
  if (are != "named" && are != "columns") in.reject("features_are", "must be named or columns");
  out.sparse = are == "named";
  if (out.sparse) {
    const std::string absent = in.text("absent");
    if (absent != "zero" && absent != "missing") in.reject("absent", "must be zero or missing");
    out.absent_is_zero = absent == "zero";
    for (std::size_t j = 0; j + 1 < names.size(); ++j)
      if (!(names[j].name < names[j + 1].name)) in.reject("row_columns", "must be sorted by name");
    if (names.empty() && dimension > 0)
      in.reject("row_columns", "must have the names of the features");
  }
  // A label may be the empty string.
  const auto *const list = in.value("classes").as<Document::List>();
  if (!list || list->empty() || list->size() > std::size_t(nb_max_classes))
    in.reject("classes", message("must be an array of 1 to {} labels", nb_max_classes));
  for (const Document &each : *list) {
    const auto *const label = each.as<std::string>();
    if (!label || (!out.classes.empty() && !(out.classes.back() < *label)))
      in.reject("classes", "must be increasing strings");
    out.classes.push_back(*label);
  }
  const std::int64_t k = out.size();
  out.names = std::move(names);
  out.specs = read_likelihoods(in, dimension);
  read_categories(in, out);
  out.lay_out(in.has("means"));
  if (out.joint.empty() && in.has("means"))
    in.reject("means", "are given, but no feature is normal");
  if (!out.joint.empty() && out.sparse) in.reject("means", "are given, but features are named");
  const Tensor rows = in.tensor("class_rows", {k});
  for (std::int64_t c = 0; c < k; ++c) {
    const double n = rows.values[std::size_t(c)];
    if (!(n >= 1 && n <= 9007199254740992.0 && n == std::floor(n)))
      in.reject("class_rows", "must be whole numbers, at least 1");
    out.rows[std::size_t(c)] = std::int64_t(n);
  }
  out.weight = read_above(in, "class_weights", k, 0);
  if (!(out.weight.maxCoeff() <= max_statistic))
    in.reject("class_weights", message("must be at most {}", describe_number(max_statistic)));
  if (!out.naive.empty()) {
    out.product.count = out.weight;
    out.product.carrier = read_vector(in, "log_carriers", k);
    read_statistics(in, out);
  }
  if (!out.joint.empty()) read_normal(in, out);
  if (in.has("null_features")) {
    const std::vector<std::string> names = in.rising_texts("null_features", "feature");
    const Tensor weights = in.tensor("null_weights", {std::int64_t(names.size()), k});
    for (const double w : weights.values)
      if (!(w >= 0)) in.reject("null_weights", "must not be negative");
    for (std::size_t i = 0; i < names.size(); ++i)
      out.nulls.emplace_back(
          names[i], Eigen::Map<const Vector>(weights.values.data() + std::ptrdiff_t(i) * k, k));
  }
  return out;
}

void BayesClassifier::write(Document &document) const {
  const State &s = *state;
  document.set("alpha", s.options.alpha);
  write_totals(document, s.totals);
  Document prior = Document::object();
  if (s.prior) write_posterior(prior, *s.prior);
  if (s.normal_prior) {
    Document normal = Document::object();
    write_posterior(normal, *s.normal_prior);
    prior.set("joint_normal", std::move(normal));
  }
  document.set("class_prior", std::move(prior));
}

std::unique_ptr<Model> read_bayes_classifier(const Document &document) {
  auto model = std::make_unique<BayesClassifier>();
  const MemberReader in(document);
  model->info = read_model_info(document, nb_methods, nb_max_words, nb_max_classes);
  BayesClassifier::State &s = *model->state;
  s.totals = read_totals(in, model->info.columns, model->info.dimension);
  s.totals.skipped = model->info.skipped;
  if (s.totals.size() != model->info.components)
    in.reject("components", "is not the number of classes");
  s.options = stored_nb_options(model->info.options, model->info.given_prior);
  if (const Document *const likelihood = model->info.options.find("likelihood"))
    s.options.likelihood = *likelihood;
  s.options.alpha = in.number("alpha", 0, 1e9, true);
  s.options.full_covariance = !s.totals.joint.empty();
  s.options.absent_is_zero = s.totals.absent_is_zero;
  const MemberReader prior = in.object("class_prior");
  if (!s.totals.naive.empty()) s.prior = read_posterior(prior, s.totals.product.columns, 1);
  if (!s.totals.joint.empty())
    s.normal_prior = read_posterior(full_covariance, prior.object("joint_normal"),
                                    int(s.totals.joint.size()), 1);
  s.learn();
  if (s.posterior)
    for (int k = 0; k < s.totals.size(); ++k)
      s.posterior->columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
        if (!column.valid_posterior(s.posterior->column(k, j)))
          in.reject("statistics", message("lead to an invalid posterior of feature {}",
                                          s.totals.naive[std::size_t(j)] + 1));
      });
  s.prepare();
  return model;
}

}  // namespace bayes
