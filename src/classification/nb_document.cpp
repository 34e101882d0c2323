// Writes a Bayes classifier to a document and reads it; reading checks every number.
#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "base/message.hpp"
#include "classification/nb.hpp"
#include "classification/nb_state.hpp"
#include "families/normal/normal_document.hpp"
#include "families/product/product_document.hpp"

namespace bayes {
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
